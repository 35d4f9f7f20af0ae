/* equilibrium.c - what steady-states.md shows: a run that starts from the steady state of y' = 1 - y stays there. */
#include <costate/steady.h>
#include <math.h>

static int f(const costate_point *x, double *out, void *ctx) { return (void)ctx, out[0] = 1 - x->y[0], 0; }

int main(void)
{
    costate_problem problem = {.n = 1, .rhs = {.value = f}};
    const costate_options run = {.differences = 1};
    costate_steady *s = costate_steady_new(NULL, &problem, &run, NULL);
    @ steady-states const double start[1] = {0};
    double y = 7;
    problem.nevents = 1;
    problem.event = &equilibrium;
    costate *c = costate_new(NULL, &problem, NULL);
    int status = costate_integrate(c, 0, 2, &y, NULL, NULL);
    costate_free(c);
    costate_steady_free(s);
    return status != COSTATE_OK || fabs(y - 1) > 1e-12;
}
