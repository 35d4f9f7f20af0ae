/* given.c (ensemble) - checks of the arguments of an ensemble, before any run starts. */
#include <stdint.h>
#include "ensemble/ensemble.h"
#include "maps/maps.h"

static int range(ensemble *e, const char *name, int value, int least, int most)
{
    if (value >= least && value <= most) return 0;
    return fail(&e->v, COSTATE_BAD_ARGUMENT, "members.%s = %d lies outside [%d, %d].", name, value, least, most);
}

/* checks an array of rows by columns by count numbers, if it is used */
static int array(ensemble *e, const char *name, const double *x, size_t rows, int columns)
{
    size_t column = rows * (size_t)columns;                 /* rows are at most 2^31 */
    if (e->all->count == 0 || column == 0) return 0;
    if (!x)
        return fail(&e->v, COSTATE_BAD_ARGUMENT, "members.%s is NULL, but %zu values a member are expected.", name,
                    column);
    if (column > SIZE_MAX / sizeof *x / (size_t)e->all->count / 8)
        return fail(&e->v, COSTATE_BAD_ARGUMENT, "members.%s: %zu values a member are more than memory has places.",
                    name, column);
    return 0;
}

static int no_events(ensemble *e, const char *name, const costate_times *times)
{
    if (!times || !times->events) return 0;
    return fail(&e->v, COSTATE_BAD_ARGUMENT, "members.%s->events: how many there are is known after a run: ask for "
                "them in on_member, over its tape.", name);
}

static int observations(ensemble *e)
{
    const costate_members *a = e->all;
    if (a->observations == 0) return 0;
    if (a->m == 0)
        return fail(&e->v, COSTATE_BAD_ARGUMENT, "members.observations are terms of functionals, but members.m is 0.");
    if (!a->observed) return fail(&e->v, COSTATE_BAD_ARGUMENT, "members.observed is NULL, but %d times are expected.",
                                  a->observations);
    if (a->same & COSTATE_OWN_OBSERVED) TRY(array(e, "observed", a->observed, (size_t)a->observations, 1));
    if (a->lambda2) return a->observe2 ? 0 : fail(&e->v, COSTATE_MISSING, "members.observe2 is missing.");
    return a->observe ? 0 : fail(&e->v, COSTATE_MISSING, "members.observe is missing.");
}

static int second_order(ensemble *e)
{
    const costate_members *a = e->all;
    if (!a->lambda2) return 0;
    if (a->directions == 0 || a->m != 1)
        return fail(&e->v, COSTATE_BAD_ARGUMENT, "members.lambda2, for Hessian products, needs directions and m = 1; "
                    "they are %d and %d.", a->directions, a->m);
    if (a->along || a->times)
        return fail(&e->v, COSTATE_BAD_ARGUMENT, "members.lambda2: Hessian products of ensembles have no derivatives "
                    "with respect to times (along, times).");
    if (!a->seed2 && a->observations == 0)
        return fail(&e->v, COSTATE_MISSING, "members.seed2 is missing, and there are no observations: what is to be "
                    "differentiated?");
    TRY(array(e, "lambda2", a->lambda2, e->N, a->directions));
    return a->mu2 ? array(e, "mu2", a->mu2, e->np, a->directions) : 0;
}

static int arrays(ensemble *e)
{
    const costate_members *a = e->all;
    TRY(array(e, "y", a->y, e->N, 1));
    TRY(array(e, "p", a->p, e->np, 1));
    TRY(array(e, "V", a->V, e->N, a->directions));
    TRY(array(e, "lambda", a->lambda, e->N, a->m));
    TRY(a->mu ? array(e, "mu", a->mu, e->np, a->m) : 0);
    TRY(no_events(e, "along", a->directions ? a->along : NULL));
    return no_events(e, "times", a->m ? a->times : NULL);
}

int given_sound(ensemble *e)
{
    const costate_members *a = e->all;
    if (!a) return fail(&e->v, COSTATE_BAD_ARGUMENT, "members is NULL.");
    const struct { const char *name; int value, least, most; } all[] = {
        {"count", a->count, 0, INT32_MAX}, {"threads", a->threads, 0, INT32_MAX}, {"pin", a->pin, 0, 1},
        {"same", a->same, 0, COSTATE_SAME_P + COSTATE_SAME_VP + COSTATE_OWN_OBSERVED},
        {"directions", a->directions, 0, INT32_MAX},
        {"m", a->m, 0, INT32_MAX}, {"tape", a->tape, 0, 1},
        {"observations", a->observations, 0, INT32_MAX}};
    for (size_t k = 0; k < sizeof all / sizeof *all; k++)
        TRY(range(e, all[k].name, all[k].value, all[k].least, all[k].most));
    TRY(problem_sound(&e->v, e->P));
    e->N = (size_t)e->P->n + (size_t)e->P->nq + (size_t)e->P->nm;
    e->np = (size_t)e->P->np;
    TRY(observations(e));
    TRY(second_order(e));
    return arrays(e);
}
