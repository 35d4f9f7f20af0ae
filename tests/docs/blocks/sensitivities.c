/* sensitivities.c - y' = 1e6 p1 - 1e-8 p0 y: tangents of sizes 1e-8 and 1e6, each as accurate as its tolerances. */
#include <costate/costate.h>
#include <math.h>
#include <stddef.h>

static int f(const costate_point *x, double *out, void *ctx)
{
    out[0] = 1e6 * x->p[1] - 1e-8 * x->p[0] * x->y[0];
    return (void)ctx, 0;
}
static int f_tangent(const costate_point *x, const costate_point *dx, double *out, void *ctx)
{
    out[0] = dx->y ? -1e-8 * x->p[0] * dx->y[0] : 0;
    if (dx->p) out[0] += 1e6 * dx->p[1] - 1e-8 * dx->p[0] * x->y[0];
    return (void)ctx, 0;
}

int main(void)
{
    double y[1] = {1}, p[2] = {1e8, 0}, V[2] = {0}, Vp[4] = {1, 0, 0, 1};
    costate_problem problem = {.n = 1, .np = 2, .rhs = {.value = f, .tangent = f_tangent}};
    @ forward-sensitivities double rtol[] = {1e-4, 1e-6}, atol[] = {1e-12, 1};
    double by_p0 = -1e-8 * exp(-1), by_p1 = 1e6 * (1 - exp(-1));
    costate_free(c);
    return status || !(fabs(V[0] - by_p0) <= 1e-11) || !(fabs(V[1] - by_p1) <= 10);
}
