/* queue.c - a run that a queue may end: begun, and then gone on with. */
#define _POSIX_C_SOURCE 200809L
#include <unistd.h>
#include "decay.h"

static int job(costate *c, double *y, const double *p)
{
    const double t0 = 0, t1 = 1;
    @ tape-files int there = access("run.tape", F_OK) == 0;
    costate_tape_free(tape);
    return status;
}

int main(void)
{
    double y[1] = {2}, p[1] = {3};
    costate *c = solver();
    int first = job(c, y, p), second = job(c, y, p);
    costate_free(c);
    remove("run.tape");
    return first || second || !near(y[0], 2 * exp(-3));
}
