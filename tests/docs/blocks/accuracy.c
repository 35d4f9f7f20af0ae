/* accuracy.c - estimated errors, also of Hessian products, and a gradient to a tolerance: of (y(1) - 1)^2/2 for
   y' = -p y, y = exp(-p). */
#include <costate/accuracy.h>
#include "decay.h"

enum { N = 1 };

@ estimated-errors static int misfit(double t1, const double *y, const double *p, int m, double *value, double *lambda,
@ estimated-errors static int misfit2(double t1, const double *y, const double *p, int m, const double *V,

static int f_tangent(const costate_point *x, const costate_point *dx, double *out, void *ctx)
{
    out[0] = -(dx->y ? x->p[0] * dx->y[0] : 0) - (dx->p ? dx->p[0] * x->y[0] : 0);
    return (void)ctx, 0;
}
static int f_adjoint_tangent(const costate_point *x, const costate_point *dx, const double *w,
                             const costate_gradient *g, void *ctx)
{
    if (g->y && dx->p) g->y[0] -= dx->p[0] * w[0];
    if (g->p && dx->y) g->p[0] -= dx->y[0] * w[0];
    return (void)x, (void)ctx, 0;
}

/* J'' = exp(-2p) + (exp(-p) - 1) exp(-p), by the run, and by its estimated error */
static int products(void)
{
    const costate_problem problem = {.n = N, .np = 1, .rhs = {.value = f, .tangent = f_tangent, .adjoint = f_adjoint,
                                                              .adjoint_tangent = f_adjoint_tangent}};
    costate *c = costate_new(costate_method_find("dopri5"), &problem, &(costate_options){.rtol = 1e-4, .atol = 1e-4});
    costate_tape *tape = costate_tape_new();
    double y[N] = {1}, p[1] = {0.7}, direction[] = {1}, e1 = exp(-0.7), exact = e1 * e1 + (e1 - 1) * e1;
    int status = costate_integrate(c, 0, 1, y, p, tape), failed;
    @ estimated-errors     const costate_second along = {.m = 1, .Vp = direction, .seed = misfit2};
    failed = status || !(fabs(Hv[0] + Hv_error[0] - exact) < 0.3 * fabs(Hv[0] - exact)) || !(relative > 0);
    costate_tape_free(tape);
    costate_free(c);
    return failed;
}

int main(void)
{
    double y[1] = {1}, p[1] = {0.7}, t0 = 0, t1 = 1, exact = 0.5 * (exp(-0.7) - 1) * (exp(-0.7) - 1);
    costate *c = solver();
    costate_tape *tape = costate_tape_new();
    int status = costate_integrate(c, t0, t1, y, p, tape), failed = 0;
    @ estimated-errors     const costate_functional F = {.m = 1, .at_end = misfit};
    failed |= status || !near(value + value_error, exact) || by_p_error[0] == 0;
    y[0] = 1;
    @ estimated-errors     costate_goal goal = {.tol = 1e-5, .estimate = {.run = {.value = &value, .p = by_p}}};
    failed |= status || !(fabs(value - exact) < 1e-5 * exact);
    failed |= !(fabs(by_p[0] - (1 - exp(-0.7)) * exp(-0.7)) < 1e-5 * by_p[0]);
    failed |= products();
    costate_tape_free(tape);
    costate_free(c);
    return failed;
}
