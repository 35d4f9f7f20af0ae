/* lanes.c - maps of several members side by side, written by hand for y' = -p y in place of a generated file. */
#include <costate/ensemble.h>
#include <math.h>
#include <stdlib.h>

#if defined __GNUC__
#define INLINE static inline __attribute__((always_inline))
#else
#define INLINE static inline
#endif

INLINE int decay(const int L, const costate_lane_point *x, double *out)
{
    for (int l = 0; l < L; l++) out[l] = -x->p[l] * x->y[l];
    return 0;
}
INLINE int decay_adjoint(const int L, const costate_lane_point *x, const double *w, const costate_lane_gradient *g)
{
    for (int l = 0; g->y && l < L; l++) g->y[l] -= x->p[l] * w[l];
    for (int l = 0; g->p && l < L; l++) g->p[l] -= x->y[l] * w[l];
    return 0;
}
#define WIDTH(L)                                                                                                     \
    COSTATE_LANES_##L static int decay_##L(const costate_lane_point *x, double *out, void *ctx)                      \
    { return (void)ctx, decay(L, x, out); }                                                                          \
    COSTATE_LANES_##L static int decay_adjoint_##L(const costate_lane_point *x, const double *w,                     \
                                                   const costate_lane_gradient *g, void *ctx)                        \
    { return (void)ctx, decay_adjoint(L, x, w, g); }
WIDTH(2) WIDTH(4) WIDTH(8)

static const costate_lane_maps *pollution_lanes(void)
{
    static const costate_lane_maps maps[] = {{.lanes = 2, .rhs = {.value = decay_2, .adjoint = decay_adjoint_2}},
                                             {.lanes = 4, .rhs = {.value = decay_4, .adjoint = decay_adjoint_4}},
                                             {.lanes = 8, .rhs = {.value = decay_8, .adjoint = decay_adjoint_8}},
                                             {.lanes = 0}};
    return maps;
}

static int f(const costate_point *x, double *out, void *ctx)
{
    costate_lane_point one = {&x->t, x->y, x->p};
    return (void)ctx, decay(1, &one, out);
}
static int f_adjoint(const costate_point *x, const double *w, const costate_gradient *g, void *ctx)
{
    costate_lane_point one = {&x->t, x->y, x->p};
    costate_lane_gradient to = {g->t, g->y, g->p};
    return (void)ctx, decay_adjoint(1, &one, w, &to);
}

static int run(const costate_problem *problem, double *y, const double *p, double *lambda, double *mu)
{
    costate_ensemble_report report;
    @ lanes costate_members all = {.count = 100000, .t1 = 60
    int status = costate_ensemble(costate_method_find("tsit5"), problem, NULL, &all, &report);
    return status != COSTATE_OK || (costate_lanes() > 1 && report.in_lanes != all.count);
}

int main(void)
{
    enum { MEMBERS = 100000 };
    const costate_problem problem = {.n = 1, .np = 1, .rhs = {.value = f, .adjoint = f_adjoint}};
    double *y = malloc(4 * MEMBERS * sizeof *y), *p = y + MEMBERS, *lambda = p + MEMBERS, *mu = lambda + MEMBERS;
    for (int k = 0; k < MEMBERS; k++) y[k] = 1, p[k] = 1e-3 * (1 + k % 7), lambda[k] = 1, mu[k] = 0;
    costate_report report;
    int bad = costate_check_lanes(&problem, pollution_lanes(), &(costate_point){.y = y, .p = p}, &report);
    bad |= run(&problem, y, p, lambda, mu);
    for (int k = 0; k < MEMBERS; k++) bad |= !(fabs(y[k] - exp(-60 * p[k])) < 1e-4 && fabs(mu[k] + 60 * y[k]) < 1e-2);
    free(y);
    return bad;
}
