/* test_second_timed.c - Hessian products where all events are at given times: those of runs that are quadratic in y0.

   y' = A y, and at a given time y <- y0 y1 (c1, c2), m <- m + y0 y1, q <- q + y0 y1.  Whatever a method makes of the
   linear equations, the functional is a multiple of u0 u1, where u, linear in y(0), is y before the jump.  A is
   diagonal, so that this is K y0(0) y1(0).  Its gradient is K (y1, y0), its Hessian K [0 1; 1 0]: one follows from the
   other. */
#include "common.h"

enum { N = 2 };

static const double rate[N] = {-1, -0.5}, factor[N] = {0.7, -1.3};

static int f(const costate_point *x, double *out, void *ctx)
{
    for (int i = 0; i < N; i++) out[i] = rate[i] * x->y[i];
    return (void)ctx, 0;
}
static int f_tangent(const costate_point *x, const costate_point *dx, double *out, void *ctx)
{
    for (int i = 0; i < N; i++) out[i] = dx->y ? rate[i] * dx->y[i] : 0;
    return (void)x, (void)ctx, 0;
}
static int f_adjoint(const costate_point *x, const double *w, const costate_gradient *g, void *ctx)
{
    for (int i = 0; g->y && i < N; i++) g->y[i] += rate[i] * w[i];
    return (void)x, (void)ctx, 0;
}
static int f_tangent2(const costate_point *x, const costate_point *a, const costate_point *b, double *out, void *ctx)
{
    out[0] = out[1] = 0;
    return (void)x, (void)a, (void)b, (void)ctx, 0;
}
static int f_adjoint_tangent(const costate_point *x, const costate_point *dx, const double *w,
                             const costate_gradient *g, void *ctx)
{
    return (void)x, (void)dx, (void)w, (void)g, (void)ctx, 0;
}
static int f_adjoint_tangent2(const costate_point *x, const costate_point *a, const costate_point *b, const double *w,
                              const costate_gradient *g, void *ctx)
{
    return (void)x, (void)a, (void)b, (void)w, (void)g, (void)ctx, 0;
}
static int f_jac(const costate_point *x, double *J, void *ctx)
{
    J[0] = rate[0];
    J[3] = rate[1];
    J[1] = J[2] = 0;
    return (void)x, (void)ctx, 0;
}

/* what a jump, or a cost, adds up for its row i: its factor times y0 y1; ctx: how many rows of memory there are */
static double of_row(int i) { return i < N ? factor[i] : 0.4; }

static int jump(const costate_point *x, double *out, void *ctx)
{
    int nm = *(const int *)ctx;
    for (int i = 0; i < N + nm; i++) out[i] = of_row(i) * x->y[0] * x->y[1] + (i >= N ? x->m[i - N] : 0);
    return 0;
}
static int jump_tangent(const costate_point *x, const costate_point *dx, double *out, void *ctx)
{
    int nm = *(const int *)ctx;
    double d = dx->y ? x->y[0] * dx->y[1] + x->y[1] * dx->y[0] : 0;
    for (int i = 0; i < N + nm; i++) out[i] = of_row(i) * d + (i >= N && dx->m ? dx->m[i - N] : 0);
    return 0;
}
static double weighed(const double *w, int rows)
{
    double sum = 0;
    for (int i = 0; i < rows; i++) sum += of_row(i) * w[i];
    return sum;
}
static int jump_adjoint(const costate_point *x, const double *w, const costate_gradient *g, void *ctx)
{
    int nm = *(const int *)ctx;
    for (int i = 0; g->y && i < N; i++) g->y[i] += weighed(w, N + nm) * x->y[1 - i];
    for (int i = 0; g->m && i < nm; i++) g->m[i] += w[N + i];
    return 0;
}
static int jump_adjoint_tangent(const costate_point *x, const costate_point *dx, const double *w,
                                const costate_gradient *g, void *ctx)
{
    int nm = *(const int *)ctx;
    for (int i = 0; g->y && dx->y && i < N; i++) g->y[i] += weighed(w, N + nm) * dx->y[1 - i];
    return (void)x, 0;
}
static int cost(const costate_point *x, double *out, void *ctx) { return (void)ctx, out[0] = x->y[0] * x->y[1], 0; }
static int cost_tangent(const costate_point *x, const costate_point *dx, double *out, void *ctx)
{
    return (void)ctx, out[0] = dx->y ? x->y[0] * dx->y[1] + x->y[1] * dx->y[0] : 0, 0;
}
static int cost_adjoint(const costate_point *x, const double *w, const costate_gradient *g, void *ctx)
{
    for (int i = 0; g->y && i < N; i++) g->y[i] += w[0] * x->y[1 - i];
    return (void)ctx, 0;
}
static int cost_adjoint_tangent(const costate_point *x, const costate_point *dx, const double *w,
                                const costate_gradient *g, void *ctx)
{
    for (int i = 0; g->y && dx->y && i < N; i++) g->y[i] += w[0] * dx->y[1 - i];
    return (void)x, (void)ctx, 0;
}
static int far_guard(const costate_point *x, double *out, void *ctx) { return (void)ctx, out[0] = x->y[0] - 1e3, 0; }
static int far_tangent(const costate_point *x, const costate_point *dx, double *out, void *ctx)
{
    return (void)x, (void)ctx, out[0] = dx->y ? dx->y[0] : 0, 0;
}
static int far_adjoint(const costate_point *x, const double *w, const costate_gradient *g, void *ctx)
{
    if (g->y) g->y[0] += w[0];
    return (void)x, (void)ctx, 0;
}

static int seed(double t1, const double *y, const double *p, int m, const double *V, const double *Vp, double *lambda,
                double *mu, double *lambda2, double *mu2, void *ctx)
{
    int rows = *(const int *)ctx;
    for (int i = 0; i < rows; i++) lambda[i] = 1 + 0.25 * i;
    return (void)t1, (void)y, (void)p, (void)m, (void)V, (void)Vp, (void)mu, (void)lambda2, (void)mu2, 0;
}

/* nm: rows of memory; with_cost: an integral, with a cost at the event; guarded: an event that does not happen; m:
   directions */
typedef struct { int nm, with_cost, guarded, m; } variant;

static void run(const costate_method *method, const variant *v)
{
    int nq = v->with_cost, rows = N + nq + v->nm, nm = v->nm;
    double when = 0.5, y0[2] = {2, -3}, y[5] = {2, -3}, V[3 * 5] = {0}, lambda[5], lambda2[3 * 5];
    const costate_map f_map = {.value = f, .tangent = f_tangent, .adjoint = f_adjoint, .tangent2 = f_tangent2,
                               .adjoint_tangent = f_adjoint_tangent, .adjoint_tangent2 = f_adjoint_tangent2};
    const costate_map jump_map = {.value = jump, .tangent = jump_tangent, .adjoint = jump_adjoint,
                                  .adjoint_tangent = jump_adjoint_tangent};
    const costate_map cost_map = {.value = cost, .tangent = cost_tangent, .adjoint = cost_adjoint,
                                  .adjoint_tangent = cost_adjoint_tangent};
    const costate_map far = {.value = far_guard, .tangent = far_tangent, .adjoint = far_adjoint,
                             .adjoint_tangent = f_adjoint_tangent};
    const costate_map absent = {0};
    costate_event events[2] = {
        {.ntimes = 1, .times = &when, .from = COSTATE_ANY_MODE, .to = COSTATE_SAME_MODE,
         .jump = jump_map, .cost = v->with_cost ? cost_map : absent, .ctx = &nm},
        {.guard = far, .from = COSTATE_ANY_MODE, .to = COSTATE_SAME_MODE}};
    costate_problem P = {.n = N, .nq = nq, .nm = nm, .rhs = f_map, .jac = f_jac,
                         .nevents = 1 + v->guarded, .event = events};
    costate_options o = {.rtol = 1e-4, .atol = 1e-4};
    for (int j = 0; j < v->m; j++) { V[j * rows] = 1 - j; V[j * rows + 1] = 0.3 * j; }
    costate *c = new_for_test(method, &P, &o);
    costate_tape *tape = costate_tape_new();
    CHECK_OK(c, costate_integrate(c, 0, 1, y, NULL, tape));
    CHECK_OK(c, costate_hessian(c, tape, &(costate_second){.m = v->m, .V = V, .seed = seed, .lambda = lambda,
                                                           .lambda2 = lambda2, .ctx = &rows}));
    double K = lambda[0] / y0[1];
    assert_true(fabs(K) > 1e-3);
    assert_true(fabs(lambda[1] / y0[0] - K) <= 1e-12 * fabs(K));
    for (int j = 0; j < v->m; j++)
        for (int i = 0; i < N; i++) {
            double found = lambda2[j * rows + i], exact = K * V[j * rows + 1 - i];
            if (!(fabs(found - exact) <= 1e-12 * fabs(K)))
                fail_msg("%s, nm %d, cost %d, guard %d, m %d: product %d, component %d: %.15g, not %.15g",
                         method_name(method), nm, v->with_cost, v->guarded, v->m, j, i, found, exact);
        }
    costate_tape_free(tape);
    costate_free(c);
}

static void products(void **state)
{
    const variant variants[] = {{0, 0, 0, 1}, {1, 0, 0, 1}, {2, 1, 0, 3}, {0, 1, 0, 2}, {1, 1, 1, 2}, {0, 0, 1, 3},
                                {2, 0, 0, 2}};
    if (method_info(*state).family == COSTATE_COLLOCATION) skip();
    for (size_t k = 0; k < sizeof variants / sizeof *variants; k++) run(*state, &variants[k]);
}

int main(void) { return run_by_kind("Hessian products through events at given times", products); }
