/* wmatrix.c - a W-method whose W is a part of f_y: waves and a source, y0' = 30 y1 - y0^3, y1' = -30 y0. */
#include <costate/costate.h>
#include <math.h>

static int f(const costate_point *x, double *out, void *ctx)
{
    (void)ctx;
    out[0] = 30 * x->y[1] - x->y[0] * x->y[0] * x->y[0];
    out[1] = -30 * x->y[0];
    return 0;
}
static int gravity_waves(const costate_point *x, double *W, void *ctx)
{
    (void)x, (void)ctx;
    W[0] = W[3] = 0;
    W[1] = -30;
    W[2] = 30;
    return 0;
}

int main(void)
{
    costate_problem problem = {.n = 2, .rhs = {.value = f}};
    const costate_options options = {.rtol = 1e-7, .atol = 1e-7};
    @ w-methods     problem.jac = gravity_waves;          /* W in problem.pattern; it may depend on p, not on t or y */
    double y[2] = {1, 0}, z[2] = {1, 0};
    int status = costate_integrate(c, 0, 1, y, NULL, NULL);
    costate_free(c);
    problem.jac = NULL;
    problem.jac_is_w = 0;
    c = costate_new(costate_method_find("verner98"), &problem, &options);
    status |= costate_integrate(c, 0, 1, z, NULL, NULL);
    costate_free(c);
    return status || !(fabs(y[0] - z[0]) + fabs(y[1] - z[1]) < 1e-5);
}
