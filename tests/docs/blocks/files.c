/* files.c - a tape in a file, by one process and by another. */
#include "decay.h"

static int one(costate *c, double *y, const double *p)
{
    const double t0 = 0, t1 = 1;
    @ tape-files costate_tape *tape = costate_tape_open("run.tape");
    costate_tape_free(tape);
    return status;
}

static int other(costate *c, double *y, double *lambda, double *mu)
{
    costate_tape *tape = costate_tape_open("run.tape");
    @ tape-files if (costate_resume(c, tape, y) == COSTATE_OK)
    costate_tape_free(tape);
    return costate_status(c);
}

int main(void)
{
    double y[1] = {2}, p[1] = {3}, lambda[1] = {1}, mu[1] = {0};
    costate *c = solver();
    int status = one(c, y, p);
    y[0] = 0;
    if (status == COSTATE_OK) status = other(c, y, lambda, mu);
    costate_free(c);
    remove("run.tape");
    return status || !near(y[0], 2 * exp(-3)) || !near(mu[0], -2 * exp(-3));
}
