/* members.c - van der Pol's oscillator, mu = 1000: auto takes steps of both kinds, and what options.members forbids takes
   none. */
#include <costate/costate.h>
#include <math.h>
#include <stdio.h>

static int f(const costate_point *x, double *out, void *ctx)
{
    out[0] = x->y[1];
    out[1] = x->p[0] * (1 - x->y[0] * x->y[0]) * x->y[1] - x->y[0];
    return (void)ctx, 0;
}
static int f_jac(const costate_point *x, double *out, void *ctx)
{
    out[0] = 0;
    out[1] = -2 * x->p[0] * x->y[0] * x->y[1] - 1;
    out[2] = 1;
    out[3] = x->p[0] * (1 - x->y[0] * x->y[0]);
    return (void)ctx, 0;
}
static const costate_problem problem = {.n = 2, .np = 1, .rhs = {.value = f}, .jac = f_jac};
static const double t0 = 0, t1 = 2000, p[] = {1000};

static int by_auto(const costate_options options, double *y, costate_stats *out)
{
    y[0] = 2;
    y[1] = 0;
@ manual     costate *c = costate_new(NULL, &problem, &options);                 /* takes auto */
    puts("");
    *out = *s;
    costate_free(c);
    return status;
}

int main(void)
{
@ manual     const costate_options stiff = {.rtol = 1e-6, .atol = 1e-6, .members = "-bs54 -verner76"};
    double y[2], by_stiff[2], by_pair[2];
    costate_stats all, some, two;
    const costate_options options = {.rtol = 1e-6, .atol = 1e-6};
    int status = by_auto(options, y, &all) || by_auto(stiff, by_stiff, &some) || by_auto(pair, by_pair, &two);
    int both = all.switches > 0 && all.member_steps[0] > 0 && all.member_steps[3] > 0;
    int obeyed = !some.member_steps[0] && two.member_steps[0] > 0 && !two.member_steps[3] && two.member_steps[4] > 0;
    double apart = fmax(fabs(y[0] - by_stiff[0]), fabs(y[0] - by_pair[0]));
    return status || !both || !obeyed || !(apart < 1e-4);
}
