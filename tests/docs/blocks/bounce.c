/* bounce.c - a ball that bounces: its height after one impact, and its gradient by the restitution, as the formula has
   them. */
#include <costate/costate.h>
#include <math.h>
#include <stddef.h>

static int f(const costate_point *x, double *out, void *ctx)
{
    out[0] = x->y[1];
    out[1] = -x->p[0];
    return (void)ctx, 0;
}
static int f_adjoint(const costate_point *x, const double *w, const costate_gradient *g, void *ctx)
{
    if (g->y) g->y[1] += w[0];
    if (g->p) g->p[0] -= w[1];
    return (void)x, (void)ctx, 0;
}

@ events static int height(const costate_point *x, double *e, void *ctx)

int main(void)
{
    double y[2] = {1, 0}, p[2] = {9.81, 0.8}, lambda[2] = {1, 0}, mu[2] = {0};
    costate_problem problem = {.n = 2, .np = 2, .rhs = {.value = f, .adjoint = f_adjoint}};
    problem.nevents = 1, problem.event = &impact;
    costate_options options = {.rtol = 1e-10, .atol = 1e-10};
    costate *c = costate_new(costate_method_find("dopri5"), &problem, &options);
    costate_tape *tape = costate_tape_new();
    int status = costate_integrate(c, 0, 0.6, y, p, tape);
    if (status == COSTATE_OK) status = costate_adjoint(c, tape, 1, lambda, mu, NULL, NULL);
    double fall = sqrt(2 / p[0]), up = 0.6 - fall, speed = p[0] * fall;
    costate_tape_free(tape);
    costate_free(c);
    return status || fabs(y[0] - (p[1] * speed * up - p[0] * up * up / 2)) > 1e-8 || fabs(mu[1] - speed * up) > 1e-8;
}
