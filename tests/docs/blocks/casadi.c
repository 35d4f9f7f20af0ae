/* casadi.c - the functions that costate calls over those that CasADi generates: here by hand, Van der Pol's oscillator
   in the form of generated functions.  All products agree with differences, and the gradient with tangents. */
#include <costate/costate.h>
#include <stddef.h>

typedef long long int casadi_int;

static double entry(const double *values, int k)
{
    return values ? values[k] : 0;
}

static int model(const double **arg, double **res, casadi_int *iw, double *w, int mem)
{
    const double *y = arg[1], *p = arg[2];
    (void)iw, (void)w, (void)mem;
    if (res[0]) {
        res[0][0] = y[1];
        res[0][1] = p[0] * (1 - y[0] * y[0]) * y[1] - y[0];
    }
    return 0;
}

static int model_tangent(const double **arg, double **res, casadi_int *iw, double *w, int mem)
{
    const double *y = arg[1], *p = arg[2];
    double d0 = entry(arg[4], 0), d1 = entry(arg[4], 1), dp = entry(arg[5], 0);
    (void)iw, (void)w, (void)mem;
    if (res[0]) {
        res[0][0] = d1;
        res[0][1] = dp * (1 - y[0] * y[0]) * y[1] - (2 * p[0] * y[0] * y[1] + 1) * d0 + p[0] * (1 - y[0] * y[0]) * d1;
    }
    return 0;
}

static int model_adjoint(const double **arg, double **res, casadi_int *iw, double *w, int mem)
{
    const double *y = arg[1], *p = arg[2], *v = arg[3];
    (void)iw, (void)w, (void)mem;
    if (res[0]) res[0][0] = 0;
    if (res[1]) {
        res[1][0] = -(2 * p[0] * y[0] * y[1] + 1) * v[1];
        res[1][1] = v[0] + p[0] * (1 - y[0] * y[0]) * v[1];
    }
    if (res[2]) res[2][0] = (1 - y[0] * y[0]) * y[1] * v[1];
    return 0;
}

@ casadi typedef struct {                        /* one for each thread; `model_work` and its like tell the lengths */

int main(void)
{
    double y[2] = {2, 0.5}, p[1] = {3};
    casadi_memory memory = {0};
    costate_problem problem = {.n = 2, .np = 1, .ctx = &memory,
                               .rhs = {.value = f, .tangent = f_tangent, .adjoint = f_adjoint}};
    costate_point x = {.t = 0.5, .y = y, .p = p};
    costate_report report;
    if (costate_check_problem(&problem, &x, &report, NULL) != COSTATE_OK) return 1;
    costate *c = costate_new(costate_method_find("radau2a"), &problem, NULL);
    int status = costate_check_adjoint(c, 0, 2, y, p, &report);
    costate_free(c);
    return status != COSTATE_OK;
}
