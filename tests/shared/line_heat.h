/* line_heat.h - u_t = u_xx on (0, 1), u = 0 at both ends, `points` inside, with the exact gradient of u_0(t1); and the
   tangent of a right-hand side that is linear in y. */
#ifndef TESTS_LINE_HEAT_H
#define TESTS_LINE_HEAT_H

#include "common.h"

/* out <- f(dx->y): n values */
static inline int linear_tangent(int (*f)(const costate_point *, double *, void *), int n, const costate_point *dx,
                                 double *out, void *ctx)
{
    const costate_point at = {.y = dx->y};
    memset(out, 0, (size_t)n * sizeof *out);
    return dx->y ? f(&at, out, ctx) : 0;
}

/* ctx of all: const int *points */
static inline int line_heat(const costate_point *x, double *f, void *ctx)
{
    const int points = *(const int *)ctx;
    const double *u = x->y, s = (points + 1) * (points + 1);
    for (int i = 0; i < points; i++)
        f[i] = s * ((i > 0 ? u[i - 1] : 0) - 2 * u[i] + (i < points - 1 ? u[i + 1] : 0));
    return 0;
}
static inline int line_heat_tangent(const costate_point *x, const costate_point *dx, double *out, void *ctx)
{
    return (void)x, linear_tangent(line_heat, *(const int *)ctx, dx, out, ctx);
}
static inline int line_heat_adjoint(const costate_point *x, const double *w, const costate_gradient *g, void *ctx)
{
    const int points = *(const int *)ctx;
    const double s = (points + 1) * (points + 1);
    for (int i = 0; g->y && i < points; i++)
        g->y[i] += s * ((i > 0 ? w[i - 1] : 0) - 2 * w[i] + (i < points - 1 ? w[i + 1] : 0));
    return (void)x, 0;
}
static inline int line_heat_jac(const costate_point *x, double *J, void *ctx)
{
    const int points = *(const int *)ctx;
    const double s = (points + 1) * (points + 1);
    memset(J, 0, (size_t)(points * points) * sizeof *J);
    for (int i = 0; i < points; i++) {
        J[i * points + i] = -2 * s;
        if (i > 0) J[i * points + i - 1] = s;
        if (i < points - 1) J[i * points + i + 1] = s;
    }
    return (void)x, 0;
}

/* sin(pi x): the slowest mode alone */
static inline void line_heat_start(int points, double *y)
{
    for (int i = 0; i < points; i++) y[i] = sin(acos(-1.0) * (i + 1) / (points + 1));
}

/* the gradient of u_0(t1) with respect to u(0), from its modes */
static inline void line_heat_exact(int points, double t1, double *by_y0)
{
    const double d = acos(-1.0) / (points + 1);
    memset(by_y0, 0, (size_t)points * sizeof *by_y0);
    for (int k = 1; k <= points; k++) {
        double rate = 2 * (points + 1) * sin(k * d / 2);
        for (int i = 0; i < points; i++)
            by_y0[i] += 2.0 / (points + 1) * sin(k * d) * sin(k * d * (i + 1)) * exp(-rate * rate * t1);
    }
}

#endif
