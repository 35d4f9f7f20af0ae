/* decay.h - y' = -p y, what the blocks integrate where they do not say what. */
#include <costate/costate.h>
#include <math.h>
#include <stdio.h>

static int f(const costate_point *x, double *out, void *ctx) { return (void)ctx, out[0] = -x->p[0] * x->y[0], 0; }
static int f_adjoint(const costate_point *x, const double *w, const costate_gradient *g, void *ctx)
{
    if (g->y) g->y[0] -= x->p[0] * w[0];
    if (g->p) g->p[0] -= x->y[0] * w[0];
    return (void)ctx, 0;
}
static costate *solver(void)
{
    static const costate_problem problem = {.n = 1, .np = 1, .rhs = {.value = f, .adjoint = f_adjoint}};
    static const costate_options options = {.rtol = 1e-9, .atol = 1e-9};
    return costate_new(costate_method_find("dopri5"), &problem, &options);
}
static int near(double x, double y) { return fabs(x - y) <= 1e-6 * fabs(y); }
