/* relaxed.h - a swing driven from outside with its energy balance, an invariant that depends on t, y and p, kept by
   relaxation: without events and with one at given times, in both directions of time.

       a = y_1 + 0.2 sin(t) m_1 p_1,   b = -p_0 sin(y_0) - 0.1 p_1 y_1
       y_0' = a,   y_1' = b,   e' = -(1 + 0.2 p_0)(y_0 a + y_1 b) - 0.1 p_1 cos t
       g = (1 + 0.2 p_0)(y_0^2 + y_1^2)/2 + e + 0.1 p_1 sin t = m_0 */
#ifndef TESTS_RELAXED_H
#define TESTS_RELAXED_H

#include <costate/pieces.h>
#include "hybrid_sweeps.h"

static inline num swing_size(const num_point *x) { return plus(times(0.2, x->p[0]), 1); }

static inline void swing_f(const void *of, const num_point *x, num *f)
{
    num y0 = x->y[0], y1 = x->y[1];
    (void)of;
    f[0] = add(y1, times(0.2, mul3(sine(x->t), x->m[1], x->p[1])));
    f[1] = sub(times(-0.1, mul(x->p[1], y1)), mul(x->p[0], sine(y0)));
    num power = mul(swing_size(x), add(mul(y0, f[0]), mul(y1, f[1])));
    f[2] = times(-1, add(power, times(0.1, mul(x->p[1], cosine(x->t)))));
}

static inline void swing_g(const void *of, const num_point *x, num *g)
{
    num energy = times(0.5, mul(swing_size(x), add(square(x->y[0]), square(x->y[1]))));
    (void)of;
    g[0] = add(add(energy, x->y[2]), times(0.1, mul(x->p[1], sine(x->t))));
}

static inline void swing_r(const void *of, const num_point *x, num *r)
{
    (void)of;
    r[0] = add(mul(square(x->y[0]), x->p[1]), mul(x->m[1], sine(x->t)));
}

static inline void swing_start(const num *p, num *y, num *m)
{
    y[0] = number(1);
    y[1] = times(0.3, p[1]);
    y[2] = number(0.2);
    m[0] = number(7);
    m[1] = plus(times(0.1, p[0]), 0.5);
}

/* m_0 is what g is behind it */
static inline void swing_jump(const void *of, const num_point *x, num *out)
{
    num_point at = *x;
    out[0] = sub(x->y[0], times(0.1, x->m[1]));
    out[1] = times(0.95, x->y[1]);
    out[2] = add(x->y[2], times(0.05, sine(x->t)));
    out[4] = add(times(0.8, x->m[1]), times(0.1, mul(x->y[0], x->p[1])));
    memcpy(at.y, out, 3 * sizeof *out);
    swing_g(of, &at, out + 3);
}

#define SWING_CALLBACKS(name, rows) \
    static inline num_map name##_of(const costate_point *x, void *ctx) \
    { return (num_map){3, 2, x->m ? 2 : 0, rows, name, ctx}; } \
    static inline int name##_value(const costate_point *x, double *out, void *ctx) \
    { num_map F = name##_of(x, ctx); return num_value(&F, x, out), 0; } \
    static inline int name##_tangent(const costate_point *x, const costate_point *dx, double *out, void *ctx) \
    { num_map F = name##_of(x, ctx); return num_tangent(&F, x, dx, NULL, out), 0; } \
    static inline int name##_adjoint(const costate_point *x, const double *w, const costate_gradient *g, void *ctx) \
    { num_map F = name##_of(x, ctx); return num_adjoint(&F, x, NULL, w, g), 0; } \
    static inline int name##_adjoint_tangent(const costate_point *x, const costate_point *dx, const double *w, \
                                             const costate_gradient *g, void *ctx) \
    { num_map F = name##_of(x, ctx); return num_adjoint(&F, x, dx, w, g), 0; }
SWING_CALLBACKS(swing_g, 1)
SWING_CALLBACKS(swing_jump, 5)
#define SWING_MAP(name) {.value = name##_value, .tangent = name##_tangent, .adjoint = name##_adjoint, \
                         .adjoint_tangent = name##_adjoint_tangent}

static const double SWING_P[] = {1.3, 0.7}, SWING_TIMES[] = {0.5, 1.2};
static const costate_event SWING_TIMED = {.ntimes = 2, .times = SWING_TIMES, .jump = SWING_MAP(swing_jump),
                                          .from = COSTATE_ANY_MODE, .to = COSTATE_SAME_MODE};

#define SWING(name, t0, t1, event) \
    {name, HYBRID_ODE, 3, 2, 1, 2, (event) != NULL, 0, t0, t1, SWING_P, NULL, NULL, swing_start, {swing_f, swing_r}, \
     event, NULL}
static const hybrid SWINGS[] = {
    SWING("swing", 0.1, 5.1, NULL), SWING("swing, at times", 0.1, 5.1, &SWING_TIMED),
    SWING("swing backwards", 5.1, 0.1, NULL), SWING("swing backwards, at times", 5.1, 0.1, &SWING_TIMED)};
enum { SWINGS_COUNT = sizeof SWINGS / sizeof *SWINGS };

static inline costate_projection *relax(costate_problem *P, int keep)
{
    costate_projection *q;
    costate_report report;
    costate_invariants of = {.count = 1, .g = SWING_MAP(swing_g), .keep = keep};
    if (costate_relaxation_after_step(&of, P, &q, &report)) fail_msg("%s", report.text);
    return q;
}

#endif
