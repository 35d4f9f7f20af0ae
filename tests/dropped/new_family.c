/* new_family.c - two methods with the same coefficients, of two families, give the same run and derivatives up to
   round-off: by the functions of costate.h alone.  new_family builds it:

       new_family ERK-METHOD METHOD-OF-THE-NEW-FAMILY */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "problems.h"

enum { M = 2, N = 8, STORES = 3 };
static const int stores[STORES] = {COSTATE_ALL_STAGES, COSTATE_STATES_ONLY, COSTATE_CHECKPOINTS};

/* ---- a problem of problems.h with its second parameter as a memory variable ---- */

static costate_point with_both(const costate_point *x, double *p)
{
    costate_point both = *x;
    p[0] = x->p ? x->p[0] : 0;
    p[1] = x->m ? x->m[0] : 0;
    both.p = p;
    return both;
}

static int value(const costate_map *f, const costate_point *x, double *out, void *ctx)
{
    double p[2];
    costate_point both = with_both(x, p);
    return f->value(&both, out, ctx);
}

static int tangent(const costate_map *f, const costate_point *x, const costate_point *dx, double *out, void *ctx)
{
    double p[2], dp[2];
    costate_point both = with_both(x, p), along = with_both(dx, dp);
    return f->tangent(&both, &along, out, ctx);
}

/* dx NULL: the adjoint */
static int adjoint(const costate_map *f, const costate_point *x, const costate_point *dx, const double *w,
                   const costate_gradient *g, void *ctx)
{
    double p[2], dp[2], pb[2] = {0};
    costate_point both = with_both(x, p), along = with_both(dx ? dx : x, dp);
    costate_gradient to = {.t = g->t, .y = g->y, .p = pb};
    int status = dx ? f->adjoint_tangent(&both, &along, w, &to, ctx) : f->adjoint(&both, w, &to, ctx);
    if (g->p) g->p[0] += pb[0];
    if (g->m) g->m[0] += pb[1];
    return status;
}

static const problem *of;

#define MAP(name) \
static int name##_value(const costate_point *x, double *out, void *ctx) { return value(&of->P.name, x, out, ctx); } \
static int name##_tangent(const costate_point *x, const costate_point *dx, double *out, void *ctx) \
{ \
    return tangent(&of->P.name, x, dx, out, ctx); \
} \
static int name##_adjoint(const costate_point *x, const double *w, const costate_gradient *g, void *ctx) \
{ \
    return adjoint(&of->P.name, x, NULL, w, g, ctx); \
} \
static int name##_adjoint_tangent(const costate_point *x, const costate_point *dx, const double *w, \
                                  const costate_gradient *g, void *ctx) \
{ \
    return adjoint(&of->P.name, x, dx, w, g, ctx); \
} \
static const costate_map name##_map = {.value = name##_value, .tangent = name##_tangent, .adjoint = name##_adjoint, \
                                       .adjoint_tangent = name##_adjoint_tangent};
MAP(rhs)
MAP(cost)

/* at a given time: y stays, m is doubled */
static int jump(int n, const double *y, const double *m, double *out)
{
    for (int k = 0; k < n; k++) out[k] = y ? y[k] : 0;
    out[n] = m ? 2 * m[0] : 0;
    return 0;
}

static int jump_value(const costate_point *x, double *out, void *ctx)
{
    (void)ctx;
    return jump(of->P.n, x->y, x->m, out);
}

static int jump_tangent(const costate_point *x, const costate_point *dx, double *out, void *ctx)
{
    (void)x; (void)ctx;
    return jump(of->P.n, dx->y, dx->m, out);
}

static int jump_adjoint(const costate_point *x, const double *w, const costate_gradient *g, void *ctx)
{
    (void)x; (void)ctx;
    for (int k = 0; g->y && k < of->P.n; k++) g->y[k] += w[k];
    if (g->m) g->m[0] += 2 * w[of->P.n];
    return 0;
}

static int jump_adjoint_tangent(const costate_point *x, const costate_point *dx, const double *w,
                                const costate_gradient *g, void *ctx)
{
    (void)x; (void)dx; (void)w; (void)g; (void)ctx;
    return 0;
}

static const costate_map jump_map = {.value = jump_value, .tangent = jump_tangent, .adjoint = jump_adjoint,
                                     .adjoint_tangent = jump_adjoint_tangent};

/* ---- a run and its derivatives ---- */

/* (y, q) at the end, in between; tangents; a gradient with respect to y, p, t0, t1; Hessian products */
typedef struct { double y[N], seen[N], V[N * M], lambda[N], mu[N], t[2], lambda2[N * M], mu2[N * M]; } numbers;

/* of sum_k (u_k + u_k^2/2), u = (y, q) at the end; N: rows of V, from ctx */
static int seed2(double t1, const double *y, const double *p, int m, const double *V, const double *Vp, double *lambda,
                 double *mu, double *lambda2, double *mu2, void *ctx)
{
    int rows = *(const int *)ctx;
    (void)t1; (void)p; (void)Vp; (void)mu; (void)mu2;
    for (int k = 0; k < rows; k++) lambda[k] = 1 + y[k];
    for (int k = 0; k < rows * m; k++) lambda2[k] = V[k];
    return 0;
}

static int run(const char *name, const problem *b, int storage, numbers *x, int *steps)
{
    costate_problem P = b->P;
    P.np = P.nm = 1;
    P.rhs = rhs_map;
    P.cost = cost_map;
    double middle = 0.5 * (b->t0 + b->t1);
    costate_event doubled = {.ntimes = 1, .times = &middle, .jump = jump_map, .from = COSTATE_ANY_MODE,
                             .to = COSTATE_SAME_MODE};
    P.nevents = 1;
    P.event = &doubled;
    of = b;
    costate_options o = {.rtol = 1e-6, .atol = 1e-8, .storage = storage, .checkpoints = 10};
    costate *c = costate_new(costate_method_find(name), &P, &o);
    costate_tape *tape = costate_tape_new();
    int rows = P.n + P.nq + P.nm, status;
    double V[N * M] = {0}, Vp[N * M] = {0};
    for (int k = 0; k < rows * M; k++) V[k] = k % rows < P.n || k % rows == rows - 1 ? 1.0 / (k + 1) : 0;
    for (int k = 0; k < P.np * M; k++) Vp[k] = 0.5 - k;
    memcpy(x->y, b->y0, (size_t)P.n * sizeof *x->y);
    x->y[rows - 1] = b->p0[1];
    memcpy(x->V, V, sizeof V);
    status = costate_integrate(c, b->t0, b->t1, x->y, b->p0, tape);
    if (status == COSTATE_OK) status = costate_tape_eval(c, tape, 0.3 * b->t0 + 0.7 * b->t1, x->seen);
    if (status == COSTATE_OK) status = costate_tangent(c, tape, M, x->V, Vp, NULL, NULL);
    costate_times times = {.t0 = &x->t[0], .t1 = &x->t[1]};
    costate_second second = {.m = M, .V = V, .Vp = Vp, .seed = seed2, .ctx = &rows, .lambda = x->lambda, .mu = x->mu,
                             .times = &times, .lambda2 = x->lambda2, .mu2 = x->mu2};
    if (status == COSTATE_OK) status = costate_hessian(c, tape, &second);
    double lambda[N], mu[N] = {0};
    for (int k = 0; k < rows; k++) lambda[k] = 1 + x->y[k];
    if (status == COSTATE_OK) status = costate_adjoint(c, tape, 1, lambda, mu, NULL, NULL);
    for (int k = 0; k < rows && status == COSTATE_OK; k++)        /* two ways to the gradient */
        if (!(fabs(lambda[k] - x->lambda[k]) <= 1e-12 * (1 + fabs(lambda[k])))) status = -1;
    if (status != COSTATE_OK) printf("%s: %s\n", name, status == -1 ? "two gradients" : costate_message(c));
    *steps = costate_tape_steps(tape);
    costate_tape_free(tape);
    costate_free(c);
    return status;
}

/* relative to the largest number */
static double gap(const numbers *x, const numbers *z)
{
    const double *a = (const double *)x, *b = (const double *)z;
    double most = 0, size = 0;
    for (size_t k = 0; k < sizeof *x / sizeof *a; k++) {
        double d = fabs(a[k] - b[k]);
        most = d > most || d != d ? d : most;
        size = fmax(size, fabs(b[k]));
    }
    return most / size;
}

int main(int count, char **names)
{
    const problem *b = problem_synthetic(MASS_IDENTITY, 0, 2, 2, 0);
    if (count != 3 || b->P.n + b->P.nq + 1 > N || b->P.np != 2) return 2;
    for (int k = 0; k < STORES; k++) {
        static numbers x, z;
        int steps, same_steps;
        memset(&x, 0, sizeof x);
        memset(&z, 0, sizeof z);
        if (run(names[1], b, stores[k], &x, &steps) != COSTATE_OK) return 1;
        if (run(names[2], b, stores[k], &z, &same_steps) != COSTATE_OK) return 1;
        double apart = gap(&x, &z);
        printf("storage %d: %d and %d steps, they differ by %.1e\n", stores[k], steps, same_steps, apart);
        if (steps != same_steps || steps < 10 || !(apart <= 1e-12)) return 1;
    }
    return 0;
}
