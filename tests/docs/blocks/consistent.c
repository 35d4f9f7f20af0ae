/* consistent.c - y1' = -y1, 0 = y2 - 2 y1: a run whose start and end are made consistent. */
#include <costate/costate.h>
#include <math.h>

static int f(const costate_point *x, double *out, void *ctx)
{
    out[0] = -x->y[0];
    out[1] = x->y[1] - 2 * x->y[0];
    return (void)ctx, 0;
}
static int jac(const costate_point *x, double *J, void *ctx)
{
    J[0] = -1, J[1] = -2, J[2] = 0, J[3] = 1;
    return (void)x, (void)ctx, 0;
}
static int mass(double *M, void *ctx) { return (void)ctx, M[0] = 1, M[1] = M[2] = M[3] = 0, 0; }

int main(void)
{
    double y[2] = {1, 7};
    costate_problem problem = {.n = 2, .rhs = {.value = f}, .jac = jac, .mass = mass};
    costate_options options = {.rtol = 1e-8, .atol = 1e-8};
    @ consistent-values options.consistent =
    costate *c = costate_new(costate_method_find("radau2a"), &problem, &options);
    int status = costate_integrate(c, 0, 1, y, NULL, NULL);
    costate_free(c);
    return status || fabs(y[0] - exp(-1)) > 1e-6 || fabs(y[1] - 2 * y[0]) > 1e-14;
}
