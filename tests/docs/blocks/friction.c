/* friction.c - a block on a spring with dry friction, after half of its first swing: x = -(1 - 2 mu/k), at rest. */
#include <costate/costate.h>
#include <math.h>
#include <stddef.h>

@ events static int speed(const costate_point *x, double *g, void *ctx) { return (void)ctx, g[0] = x->y[1], 0; }

int main(void)
{
    double y[2] = {1, 0}, p[2] = {4, 0.5};
    const costate_problem problem = {.n = 2, .np = 2, .rhs.value = block, .nrelations = 1, .relation = &moves_up};
    costate_options options = {.rtol = 1e-10, .atol = 1e-10};
    costate *c = costate_new(costate_method_find("dopri5"), &problem, &options);
    int status = costate_integrate(c, 0, acos(-1) / 2, y, p, NULL);
    costate_free(c);
    return status || fabs(y[0] + 0.75) > 1e-8 || fabs(y[1]) > 1e-8;
}
