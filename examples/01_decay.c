/* 01_decay.c - y' = -p y, y(0) = 2: y(1), and its gradient with respect to y(0) and p by one adjoint. */
#include <costate/costate.h>
#include <math.h>
#include <stdio.h>

static int f(const costate_point *x, double *out, void *ctx)
{
    (void)ctx;
    out[0] = -x->p[0] * x->y[0];
    return 0;
}

static int f_adjoint(const costate_point *x, const double *w, const costate_gradient *g, void *ctx)
{
    (void)ctx;
    if (g->y) g->y[0] -= x->p[0] * w[0];       /* g += f'(x)^T w, if requested */
    if (g->p) g->p[0] -= x->y[0] * w[0];
    return 0;
}

int main(void)
{
    double y = 2, p = 3, lambda = 1, mu = 0;   /* lambda: gradient of y(1) w.r.t. y(1) */
    costate_problem problem = {.n = 1, .np = 1, .rhs = {.value = f, .adjoint = f_adjoint}};
    costate_options options = {.rtol = 1e-9, .atol = 1e-9};
    costate *c = costate_new(NULL, &problem, &options);         /* NULL: the method is chosen at each step */
    costate_tape *tape = costate_tape_new();
    int status = costate_integrate(c, 0, 1, &y, &p, tape);
    if (status == COSTATE_OK) status = costate_adjoint(c, tape, 1, &lambda, &mu, NULL, NULL);
    if (status != COSTATE_OK) puts(costate_message(c));
    printf("y(1) = %.7f, dy(1)/dy(0) = %.7f, dy(1)/dp = %.7f\n", y, lambda, mu);
    costate_tape_free(tape);
    costate_free(c);
    return status != COSTATE_OK || fabs(mu + 2 * exp(-3)) > 1e-7;
}
