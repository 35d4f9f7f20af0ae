/* ball.h - a ball that falls through a medium of density rising with height, with all products of its right-hand side:
   y = (height, velocity),  y1' = -p0 + m0 - p1 y0 y1. */
#ifndef TESTS_PIECES_BALL_H
#define TESTS_PIECES_BALL_H

#include <costate/costate.h>

enum { BALL_N = 2, BALL_NP = 4 };

static int ball_f(const costate_point *x, double *out, void *ctx)
{
    out[0] = x->y[1];
    out[1] = -x->p[0] + x->m[0] - x->p[1] * x->y[0] * x->y[1];
    return (void)ctx, 0;
}

static double ball_at(const double *v, int i) { return v ? v[i] : 0; }

static int ball_tangent(const costate_point *x, const costate_point *dx, double *out, void *ctx)
{
    const double *y = x->y, *p = x->p, d0 = ball_at(dx->y, 0), d1 = ball_at(dx->y, 1);
    out[0] = d1;
    out[1] = ball_at(dx->m, 0) - ball_at(dx->p, 0) - ball_at(dx->p, 1) * y[0] * y[1] - p[1] * (d0 * y[1] + y[0] * d1);
    return (void)ctx, 0;
}

static int ball_adjoint(const costate_point *x, const double *w, const costate_gradient *g, void *ctx)
{
    const double *y = x->y, *p = x->p;
    if (g->y) g->y[0] -= p[1] * y[1] * w[1];
    if (g->y) g->y[1] += w[0] - p[1] * y[0] * w[1];
    if (g->p) g->p[0] -= w[1];
    if (g->p) g->p[1] -= y[0] * y[1] * w[1];
    if (g->m) g->m[0] += w[1];
    return (void)ctx, 0;
}

static int ball_tangent2(const costate_point *x, const costate_point *a, const costate_point *b, double *out, void *ctx)
{
    const double *y = x->y, a0 = ball_at(a->y, 0), a1 = ball_at(a->y, 1), b0 = ball_at(b->y, 0), b1 = ball_at(b->y, 1);
    out[0] = 0;
    out[1] = -ball_at(a->p, 1) * (b0 * y[1] + y[0] * b1) - ball_at(b->p, 1) * (a0 * y[1] + y[0] * a1) -
             x->p[1] * (a0 * b1 + b0 * a1);
    return (void)ctx, 0;
}

static int ball_adjoint_tangent(const costate_point *x, const costate_point *dx, const double *w,
                                const costate_gradient *g, void *ctx)
{
    const double *y = x->y, d0 = ball_at(dx->y, 0), d1 = ball_at(dx->y, 1), e = ball_at(dx->p, 1), p1 = x->p[1];
    if (g->y) g->y[0] -= w[1] * (e * y[1] + p1 * d1);
    if (g->y) g->y[1] -= w[1] * (e * y[0] + p1 * d0);
    if (g->p) g->p[1] -= w[1] * (d0 * y[1] + y[0] * d1);
    return (void)ctx, 0;
}

static int ball_adjoint_tangent2(const costate_point *x, const costate_point *a, const costate_point *b,
                                 const double *w, const costate_gradient *g, void *ctx)
{
    const double a0 = ball_at(a->y, 0), a1 = ball_at(a->y, 1), b0 = ball_at(b->y, 0), b1 = ball_at(b->y, 1);
    const double ap = ball_at(a->p, 1), bp = ball_at(b->p, 1);
    if (g->y) g->y[0] -= w[1] * (ap * b1 + bp * a1);
    if (g->y) g->y[1] -= w[1] * (ap * b0 + bp * a0);
    if (g->p) g->p[1] -= w[1] * (a0 * b1 + b0 * a1);
    return (void)x, (void)ctx, 0;
}

static const costate_map ball_rhs = {.value = ball_f, .tangent = ball_tangent, .adjoint = ball_adjoint,
                                     .tangent2 = ball_tangent2, .adjoint_tangent = ball_adjoint_tangent,
                                     .adjoint_tangent2 = ball_adjoint_tangent2};

#endif
