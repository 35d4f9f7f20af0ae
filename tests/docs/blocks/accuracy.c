/* accuracy.c - estimated errors, and a gradient to a tolerance: of (y(1) - 1)^2/2 for y' = -p y, y = exp(-p). */
#include <costate/accuracy.h>
#include "decay.h"

@ estimated-errors static int misfit(double t1, const double *y, const double *p, int m, double *value, double *lambda,

int main(void)
{
    double y[1] = {1}, p[1] = {0.7}, t0 = 0, t1 = 1, exact = 0.5 * (exp(-0.7) - 1) * (exp(-0.7) - 1);
    costate *c = solver();
    costate_tape *tape = costate_tape_new();
    int status = costate_integrate(c, t0, t1, y, p, tape), failed = 0;
    @ estimated-errors     const costate_functional F = {.m = 1, .at_end = misfit};
    failed |= status || !near(value + value_error, exact) || by_p_error[0] == 0;
    y[0] = 1;
    @ estimated-errors     costate_goal goal = {.tol = 1e-5, .estimate = {.run = {.value = &value, .p = by_p}}};
    failed |= status || !(fabs(value - exact) < 1e-5 * exact);
    failed |= !(fabs(by_p[0] - (1 - exp(-0.7)) * exp(-0.7)) < 1e-5 * by_p[0]);
    costate_tape_free(tape);
    costate_free(c);
    return failed;
}
