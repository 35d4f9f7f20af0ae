/* enzyme.c - a stiff mechanism, with all products that Hessian products of implicit methods take: see enzyme.h. */
#include "enzyme.h"
#include <string.h>

/* rate j is k_j (a_0 + a.y) (b_0 + b.y), and changes y by net times it */
#define E_FREE {1, -1, -1, 0}
#define S_FREE {20, -1, 0, -1}
#define I_FREE {5, 0, -1, 0}
static const struct { double a[N + 1], b[N + 1], net[N]; } reaction[K] = {
    {E_FREE, S_FREE, {1, 0, 0}},
    {{0, 1, 0, 0}, {1}, {-1, 0, 0}},
    {{0, 1, 0, 0}, {1}, {-1, 0, 1}},
    {E_FREE, I_FREE, {0, 1, 0}},
    {{0, 0, 1, 0}, {1}, {0, -1, 0}}};

static double change(const double *a, const double *v) { return v ? a[1] * v[0] + a[2] * v[1] + a[3] * v[2] : 0; }
static double amount(const double *a, const double *y) { return a[0] + change(a, y); }

static int f(const costate_point *x, double *out, void *ctx)
{
    memset(out, 0, N * sizeof *out);
    for (int j = 0; j < K; j++) {
        double r = x->p[j] * amount(reaction[j].a, x->y) * amount(reaction[j].b, x->y);
        for (int i = 0; i < N; i++) out[i] += reaction[j].net[i] * r;
    }
    return (void)ctx, 0;
}

static double rate_tangent(const costate_point *x, const costate_point *dx, int j)
{
    const double *a = reaction[j].a, *b = reaction[j].b, A = amount(a, x->y), B = amount(b, x->y);
    return (dx->p ? dx->p[j] : 0) * A * B + x->p[j] * (change(a, dx->y) * B + A * change(b, dx->y));
}
static int f_tangent(const costate_point *x, const costate_point *dx, double *out, void *ctx)
{
    memset(out, 0, N * sizeof *out);
    for (int j = 0; j < K; j++) {
        double r = rate_tangent(x, dx, j);
        for (int i = 0; i < N; i++) out[i] += reaction[j].net[i] * r;
    }
    return (void)ctx, 0;
}

static double weight(const double *w, int j)
{
    return reaction[j].net[0] * w[0] + reaction[j].net[1] * w[1] + reaction[j].net[2] * w[2];
}
static int f_adjoint(const costate_point *x, const double *w, const costate_gradient *g, void *ctx)
{
    for (int j = 0; j < K; j++) {
        const double *a = reaction[j].a, *b = reaction[j].b, A = amount(a, x->y), B = amount(b, x->y);
        double wr = weight(w, j);
        for (int i = 0; g->y && i < N; i++) g->y[i] += wr * x->p[j] * (a[i + 1] * B + A * b[i + 1]);
        if (g->p) g->p[j] += wr * A * B;
    }
    return (void)ctx, 0;
}

/* f_adjoint differentiated along dx, w as it is */
static int f_adjoint_tangent(const costate_point *x, const costate_point *dx, const double *w,
                             const costate_gradient *g, void *ctx)
{
    for (int j = 0; j < K; j++) {
        const double *a = reaction[j].a, *b = reaction[j].b, A = amount(a, x->y), B = amount(b, x->y);
        double wr = weight(w, j), k = x->p[j], d = dx->p ? dx->p[j] : 0, Ad = change(a, dx->y), Bd = change(b, dx->y);
        for (int i = 0; g->y && i < N; i++)
            g->y[i] += wr * (a[i + 1] * (d * B + k * Bd) + (d * A + k * Ad) * b[i + 1]);
        if (g->p) g->p[j] += wr * (Ad * B + A * Bd);
    }
    return (void)ctx, 0;
}

const costate_problem enzyme = {
    .n = N, .np = K,
    .rhs = {.value = f, .tangent = f_tangent, .adjoint = f_adjoint, .adjoint_tangent = f_adjoint_tangent}};
