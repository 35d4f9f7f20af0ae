/* bits_problems.c - two problems of three states with time in them, every derivative by hand, and what all problems of
   bits.c share: the callbacks, the integral, the start. */
#include "bits.h"
#include <math.h>
#include <string.h>

const model models[MODELS] = {{"kinetics", 3, 2}, {"dae", 3, 1}, {"diffusion", N_MOST, 0.5}};

/* ---- kinetics and dae --------------------------------------------------------------------------------------- */

/* f = (-p0 y0 + y1 y2 + sin t, p0 y0 - y1 y2 - p1 y1^2, .), the last row
   p1 y1^2 - y2 + cos t (kinetics) or y0 + y1 + y2 - 1 - y0 y1 (dae, the row without y') */
static void small(int which, const costate_point *x, double *f)
{
    const double *y = x->y, *p = x->p;
    f[0] = -p[0] * y[0] + y[1] * y[2] + sin(x->t);
    f[1] = p[0] * y[0] - y[1] * y[2] - p[1] * y[1] * y[1];
    f[2] = which == DAE ? y[0] + y[1] + y[2] - 1 - y[0] * y[1] : p[1] * y[1] * y[1] - y[2] + cos(x->t);
}

enum { BY_P = 3, BY_T = 5, BY_ALL = 6 };        /* columns: y (3), p (2), t */

static void derivative(int which, const costate_point *x, double A[3][BY_ALL])
{
    const double *y = x->y, *p = x->p;
    double a[3][BY_ALL] = {{-p[0], y[2], y[1], -y[0], 0, cos(x->t)},
                           {p[0], -y[2] - 2 * p[1] * y[1], -y[1], y[0], -y[1] * y[1], 0},
                           {0, 2 * p[1] * y[1], -1, 0, y[1] * y[1], -sin(x->t)}};
    double constraint[BY_ALL] = {1 - y[1], 1 - y[0], 1, 0, 0, 0};
    if (which == DAE) memcpy(a[2], constraint, sizeof constraint);
    memcpy(A, a, sizeof a);
}

/* of these, along d */
static void derivative_along(int which, const costate_point *x, const double *d, double A[3][BY_ALL])
{
    const double *y = x->y, *p = x->p;
    double a[3][BY_ALL] = {{-d[3], d[2], d[1], -d[0], 0, -sin(x->t) * d[5]},
                           {d[3], -d[2] - 2 * (d[4] * y[1] + p[1] * d[1]), -d[1], d[0], -2 * y[1] * d[1], 0},
                           {0, 2 * (d[4] * y[1] + p[1] * d[1]), 0, 0, 2 * y[1] * d[1], -cos(x->t) * d[5]}};
    double constraint[BY_ALL] = {-d[1], -d[0], 0, 0, 0, 0};
    if (which == DAE) memcpy(a[2], constraint, sizeof constraint);
    memcpy(A, a, sizeof a);
}

static void flat(const costate_point *dx, double *d)
{
    for (int i = 0; i < BY_P; i++) d[i] = dx->y ? dx->y[i] : 0;
    for (int i = 0; i < NP; i++) d[BY_P + i] = dx->p ? dx->p[i] : 0;
    d[BY_T] = dx->t;
}

static void times(double A[3][BY_ALL], const double *d, double *out)
{
    for (int i = 0; i < 3; i++) {
        out[i] = 0;
        for (int j = 0; j < BY_ALL; j++) out[i] += A[i][j] * d[j];
    }
}

static void times_transpose(double A[3][BY_ALL], const double *w, const costate_gradient *g)
{
    for (int i = 0; i < 3; i++) {
        for (int j = 0; g->y && j < BY_P; j++) g->y[j] += A[i][j] * w[i];
        for (int j = 0; g->p && j < NP; j++) g->p[j] += A[i][BY_P + j] * w[i];
        if (g->t) *g->t += A[i][BY_T] * w[i];
    }
}

static int singular(double *mass, void *ctx)
{
    static const double A[9] = {1, 0.2, 0, 0.3, 1, 0, 0, 0, 0};      /* last row and column 0 */
    (void)ctx;
    memcpy(mass, A, sizeof A);
    return 0;
}

/* ---- f of each problem ------------------------------------------------------------------------------------ */

static int value(const costate_point *x, double *out, void *ctx)
{
    int which = *(const int *)ctx;
    if (which == DIFFUSION) diffusion(x, out);
    else small(which, x, out);
    return 0;
}

static int tangent(const costate_point *x, const costate_point *dx, double *out, void *ctx)
{
    int which = *(const int *)ctx;
    double A[3][BY_ALL], d[BY_ALL];
    if (which == DIFFUSION) return diffusion_tangent(x, dx, out), 0;
    derivative(which, x, A);
    flat(dx, d);
    times(A, d, out);
    return 0;
}

static int adjoint(const costate_point *x, const double *w, const costate_gradient *g, void *ctx)
{
    int which = *(const int *)ctx;
    double A[3][BY_ALL];
    if (which == DIFFUSION) return diffusion_adjoint(x, w, g), 0;
    derivative(which, x, A);
    times_transpose(A, w, g);
    return 0;
}

static int tangent2(const costate_point *x, const costate_point *a, const costate_point *b, double *out, void *ctx)
{
    int which = *(const int *)ctx;
    double A[3][BY_ALL], d[BY_ALL], e[BY_ALL];
    if (which == DIFFUSION) return diffusion_tangent2(x, a, b, out), 0;
    flat(a, d);
    flat(b, e);
    derivative_along(which, x, d, A);
    times(A, e, out);
    return 0;
}

static int adjoint_tangent(const costate_point *x, const costate_point *dx, const double *w, const costate_gradient *g,
                           void *ctx)
{
    int which = *(const int *)ctx;
    double A[3][BY_ALL], d[BY_ALL];
    if (which == DIFFUSION) return diffusion_adjoint_tangent(x, dx, w, g), 0;
    flat(dx, d);
    derivative_along(which, x, d, A);
    times_transpose(A, w, g);
    return 0;
}

/* ---- the integral of p0 y0^2 + y1 ------------------------------------------------------------------------- */

static int cost(const costate_point *x, double *out, void *ctx)
{
    (void)ctx;
    out[0] = x->p[0] * x->y[0] * x->y[0] + x->y[1];
    return 0;
}

static int cost_tangent(const costate_point *x, const costate_point *dx, double *out, void *ctx)
{
    (void)ctx;
    out[0] = (dx->y ? 2 * x->p[0] * x->y[0] * dx->y[0] + dx->y[1] : 0) + (dx->p ? dx->p[0] * x->y[0] * x->y[0] : 0);
    return 0;
}

static int cost_adjoint(const costate_point *x, const double *w, const costate_gradient *g, void *ctx)
{
    (void)ctx;
    if (g->y) { g->y[0] += 2 * x->p[0] * x->y[0] * w[0]; g->y[1] += w[0]; }
    if (g->p) g->p[0] += x->y[0] * x->y[0] * w[0];
    return 0;
}

static int cost_tangent2(const costate_point *x, const costate_point *a, const costate_point *b, double *out, void *ctx)
{
    double ay = a->y ? a->y[0] : 0, by = b->y ? b->y[0] : 0, ap = a->p ? a->p[0] : 0, bp = b->p ? b->p[0] : 0;
    (void)ctx;
    out[0] = 2 * x->p[0] * ay * by + 2 * x->y[0] * (ap * by + bp * ay);
    return 0;
}

static int cost_adjoint_tangent(const costate_point *x, const costate_point *dx, const double *w,
                                const costate_gradient *g, void *ctx)
{
    double dy = dx->y ? dx->y[0] : 0, dp = dx->p ? dx->p[0] : 0;
    (void)ctx;
    if (g->y) g->y[0] += 2 * (x->p[0] * dy + dp * x->y[0]) * w[0];
    if (g->p) g->p[0] += 2 * x->y[0] * dy * w[0];
    return 0;
}

/* ---- the problems ------------------------------------------------------------------------------------------- */

costate_problem bits_problem(const int *which, const costate_pattern *pattern)
{
    costate_problem P = {.n = models[*which].n, .np = NP, .nq = 1, .ctx = (void *)which};
    P.rhs = (costate_map){.value = value, .tangent = tangent, .adjoint = adjoint, .tangent2 = tangent2,
                          .adjoint_tangent = adjoint_tangent};
    P.cost = (costate_map){.value = cost, .tangent = cost_tangent, .adjoint = cost_adjoint,
                           .tangent2 = cost_tangent2, .adjoint_tangent = cost_adjoint_tangent};
    if (*which == DAE) P.mass = singular;
    if (*which == DIFFUSION) P.pattern = pattern;
    return P;
}

void bits_start(int which, double *y)
{
    static const double small_y[3] = {1, 0.1, 0.05};
    if (which == DIFFUSION) {
        for (int k = 0; k < N_MOST; k++) y[k] = k % 2 ? 3 : 1 + 0.3 * sin(k * 0.3);
        return;
    }
    memcpy(y, small_y, sizeof small_y);
    if (which == DAE) y[2] = (1 - y[0] - y[1] + y[0] * y[1]);
}
