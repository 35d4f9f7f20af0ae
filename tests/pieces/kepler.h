/* kepler.h - a planet, y = (x_0, x_1, v_0, v_1), with the strength of attraction p_0 and two invariants: energy and
   angular momentum, all of them with every derivative. */
#ifndef TESTS_KEPLER_H
#define TESTS_KEPLER_H

#include <costate/pieces.h>
#include "nums.h"

enum { KEPLER_N = 4, KEPLER_P = 2 };

/* v' = -p_0 x / |x|^3 */
static inline void kepler_f(const void *of, const num_point *x, num *f)
{
    num r2 = add(square(x->y[0]), square(x->y[1])), by = exponential(times(-1.5, logarithm(r2)));
    (void)of;
    f[0] = x->y[2];
    f[1] = x->y[3];
    f[2] = times(-1, mul3(x->p[0], x->y[0], by));
    f[3] = times(-1, mul3(x->p[0], x->y[1], by));
}

/* |v|^2/2 - p_0/|x|,  x_0 v_1 - x_1 v_0 */
static inline void kepler_g(const void *of, const num_point *x, num *g)
{
    num r2 = add(square(x->y[0]), square(x->y[1]));
    (void)of;
    g[0] = sub(times(0.5, add(square(x->y[2]), square(x->y[3]))),
               mul(x->p[0], exponential(times(-0.5, logarithm(r2)))));
    g[1] = sub(mul(x->y[0], x->y[3]), mul(x->y[1], x->y[2]));
}

/* the same with t and p_1: for derivatives alone */
static inline void moving_g(const void *of, const num_point *x, num *g)
{
    kepler_g(of, x, g);
    g[0] = add(g[0], mul(x->p[1], mul(sine(x->t), x->y[0])));
    g[1] = add(g[1], mul(times(0.3, x->t), add(square(x->y[2]), x->p[1])));
}

#define KEPLER_CALLBACKS(name, of, k) \
    static inline num_map name##_map(void) { return (num_map){KEPLER_N, KEPLER_P, 0, k, of, NULL}; } \
    static inline int name##_value(const costate_point *x, double *out, void *ctx) \
    { num_map F = name##_map(); (void)ctx; return num_value(&F, x, out), 0; } \
    static inline int name##_tangent(const costate_point *x, const costate_point *dx, double *out, void *ctx) \
    { num_map F = name##_map(); (void)ctx; return num_tangent(&F, x, dx, NULL, out), 0; } \
    static inline int name##_adjoint(const costate_point *x, const double *w, const costate_gradient *g, void *ctx) \
    { num_map F = name##_map(); (void)ctx; return num_adjoint(&F, x, NULL, w, g), 0; } \
    static inline int name##_tangent2(const costate_point *x, const costate_point *a, const costate_point *b, \
                                      double *out, void *ctx) \
    { num_map F = name##_map(); (void)ctx; return num_tangent(&F, x, a, b, out), 0; } \
    static inline int name##_adjoint_tangent(const costate_point *x, const costate_point *dx, const double *w, \
                                             const costate_gradient *g, void *ctx) \
    { num_map F = name##_map(); (void)ctx; return num_adjoint(&F, x, dx, w, g), 0; } \
    static inline int name##_adjoint_tangent2(const costate_point *x, const costate_point *a, const costate_point *b, \
                                              const double *w, const costate_gradient *g, void *ctx) \
    { num_map F = name##_map(); (void)ctx; return num_adjoint2(&F, x, a, b, w, g), 0; }

KEPLER_CALLBACKS(planet, kepler_f, KEPLER_N)
KEPLER_CALLBACKS(invariant, kepler_g, 2)
KEPLER_CALLBACKS(moving, moving_g, 2)

#define KEPLER_MAP(name) \
    (costate_map){.value = name##_value, .tangent = name##_tangent, .adjoint = name##_adjoint, \
                  .tangent2 = name##_tangent2, .adjoint_tangent = name##_adjoint_tangent, \
                  .adjoint_tangent2 = name##_adjoint_tangent2}

static const double KEPLER_PARAMETERS[] = {1, 0.4};

static inline costate_problem kepler(int nm)
{
    return (costate_problem){.n = KEPLER_N, .np = KEPLER_P, .nm = nm, .rhs = KEPLER_MAP(planet)};
}

/* the perihelion of an ellipse with this eccentricity */
static inline void kepler_start(double eccentricity, double *y)
{
    y[0] = 1 - eccentricity;
    y[1] = y[2] = 0;
    y[3] = sqrt((1 + eccentricity) / (1 - eccentricity));
}

#endif
