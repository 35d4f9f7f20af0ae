/* members.c - van der Pol's oscillator, mu = 1000: auto takes steps of both kinds, and members that options.members
   forbids take none. */
#include <costate/costate.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

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
@ automatic-choice     costate *c = costate_new(NULL, &problem, &options);                 /* takes auto */
    puts("");
    *out = *s;
    costate_free(c);
    return status;
}

/* accepted steps by this member of auto */
static long steps(const costate_stats *s, const char *name)
{
    costate_method_info info;
    const costate_method *member;
    for (int k = 0; (member = costate_method_member(costate_method_find("auto"), k)) != NULL; k++)
        if (costate_method_describe(member, &info) == COSTATE_OK && !strcmp(info.name, name)) return s->member_steps[k];
    return -1;
}

int main(void)
{
@ automatic-choice     const costate_options stiff = {.rtol = 1e-6, .atol = 1e-6, .members = "-bs54 -verner76 -rock4"};
@ observations     const costate_options o = {.rtol = 1e-8, .atol = 1e-8, .accurate_inside = 1};
    double y[2], by_stiff[2], by_pair[2], inside[2];
    costate_stats all, some, two, accurate;
    const costate_options options = {.rtol = 1e-6, .atol = 1e-6};
    int status = by_auto(options, y, &all) || by_auto(stiff, by_stiff, &some) || by_auto(pair, by_pair, &two) ||
                 by_auto(o, inside, &accurate);
    int both = all.switches > 0 && steps(&all, "bs54") > 0 && all.accepted > steps(&all, "bs54");
    int obeyed = steps(&some, "bs54") == 0 && steps(&some, "verner76") == 0 && some.accepted > 0 &&
                 two.accepted == steps(&two, "bs54") + steps(&two, "radau2a5") &&
                 steps(&accurate, "bs54") > 0 && steps(&accurate, "verner76") == 0;
    double apart = fmax(fabs(y[0] - by_stiff[0]), fabs(y[0] - by_pair[0]));
    return status || !both || !obeyed || !(apart < 1e-4);
}
