/* layer.c - continuation of  eps y'' + y y' = 0, y(0) = 0, y(1) = 1  in eps:  y = c tanh(c t/(2 eps)). */
#include <costate/bvp.h>
#include <math.h>

enum { EPS, NP };

static int f(const costate_point *x, double *out, void *ctx)
{
    out[0] = x->y[1];
    out[1] = -x->y[0] * x->y[1] / x->p[EPS];
    return (void)ctx, 0;
}
static int jac(const costate_point *x, double *J, void *ctx)
{
    J[0] = 0, J[1] = -x->y[1] / x->p[EPS], J[2] = 1, J[3] = -x->y[0] / x->p[EPS];
    return (void)ctx, 0;
}
static int ends(const costate_point *x, double *out, void *ctx)
{
    out[0] = x->y[0];
    out[1] = x->y[2] - 1;
    return (void)ctx, 0;
}

int main(void)
{
    double p[NP], y[2];
    costate_problem problem = {.n = 2, .np = NP, .rhs.value = f, .jac = jac};
    costate_conditions conditions = {.map.value = ends, .count = 2};
    costate_bvp_options options = {.rtol = 1e-6, .atol = 1e-6, .differences = 1};
    costate_bvp *b = costate_bvp_new(costate_method_find("gauss3"), &problem, &conditions, &options);
    int status = COSTATE_OK;
    @ boundary-value-problems for (p[EPS] = 0.1;
    if (status == COSTATE_OK) status = costate_bvp_eval(b, 0.5, y);
    costate_bvp_free(b);
    return status || !(p[EPS] < 1.1e-5) || fabs(y[0] - 1) > 1e-4;
}
