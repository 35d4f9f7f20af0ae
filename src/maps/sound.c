/* sound.c - validates a problem: its sizes, callbacks, events and pattern, before anything is allocated or called.
   Used by solvers and by the public checks. */
#include <math.h>
#include "base/pattern.h"
#include "maps/maps.h"

enum { MOST = 1 << 30 };        /* sums of two sizes are still an int */

int sizes_sound(verdict *v, const char *of, int n, int np, const char *name, int k, int least)
{
    if (n <= 0) return fail(v, COSTATE_BAD_ARGUMENT, "%sn = %d: at least one state is needed.", of, n);
    if (np < 0) return fail(v, COSTATE_BAD_ARGUMENT, "%snp = %d is negative.", of, np);
    if (k < least) return fail(v, COSTATE_BAD_ARGUMENT, "%s%s = %d: at least %d is needed.", of, name, k, least);
    if (n > MOST || np > MOST - n || k > MOST - n)
        return fail(v, COSTATE_BAD_ARGUMENT, "%sn = %d, np = %d, %s = %d: n + np or n + %s is larger than 2^30.", of, n,
                    np, name, k, name);
    return COSTATE_OK;
}

/* the first of these times that is not finite, or less than the one before; count: none is */
static int first_unsound(int count, const double *times)
{
    int i = 0;
    while (i < count && fabs(times[i]) < HUGE_VAL && (i == 0 || times[i] >= times[i - 1])) i++;
    return i;
}

static int stops_sound(verdict *v, const costate_problem *P)
{
    if (P->nstops < 0 || (P->nstops > 0) != (P->stops != NULL))
        return fail(v, COSTATE_BAD_ARGUMENT, "problem.nstops = %d, but problem.stops is %sNULL.", P->nstops,
                    P->stops ? "not " : "");
    int i = first_unsound(P->nstops, P->stops);
    return i == P->nstops ? COSTATE_OK
         : fail(v, COSTATE_BAD_ARGUMENT, "problem.stops[%d] = %g is not finite, or less than the one before: sort the "
                "times.", i, P->stops[i]);
}

static int relations_sound(verdict *v, const costate_problem *P)
{
    if (P->nrelations < 0 || (P->nrelations > 0) != (P->relation != NULL))
        return fail(v, COSTATE_BAD_ARGUMENT, "problem.nrelations = %d, but problem.relation is %sNULL.", P->nrelations,
                    P->relation ? "not " : "");
    for (int k = 0; k < P->nrelations; k++) {
        if (!P->relation[k].guard.value)
            return fail(v, COSTATE_MISSING, "problem.relation[%d].guard.value is missing.", k);
        const costate_relation *r = &P->relation[k];
        if (r->whole != 0 && r->whole != 1)
            return fail(v, COSTATE_BAD_ARGUMENT, "problem.relation[%d].whole = %d: it is 0 or 1.", k, r->whole);
        if (r->sign != 0 && r->sign != 1)
            return fail(v, COSTATE_BAD_ARGUMENT, "problem.relation[%d].sign = %d: it is 0 or 1.", k, r->sign);
        if (r->sign && r->whole)
            return fail(v, COSTATE_BAD_ARGUMENT, "problem.relation[%d] has whole = 1 and sign = 1: its value is one of "
                        "them.", k);
    }
    return COSTATE_OK;
}

static int times_sound(verdict *v, int k, const costate_event *e)
{
    if (e->ntimes < 0) return fail(v, COSTATE_BAD_ARGUMENT, "problem.event[%d].ntimes = %d is negative.", k, e->ntimes);
    if ((e->ntimes > 0) != (e->times != NULL))
        return fail(v, COSTATE_BAD_ARGUMENT, "problem.event[%d]: ntimes = %d, but times is %sNULL.", k, e->ntimes,
                    e->times ? "not " : "");
    int i = first_unsound(e->ntimes, e->times);
    return i == e->ntimes ? COSTATE_OK
         : fail(v, COSTATE_BAD_ARGUMENT, "problem.event[%d].times[%d] = %g is not finite, or less than the one "
                "before.", k, i, e->times[i]);
}

static int event_sound(verdict *v, const costate_problem *P, int k)
{
    const costate_event *e = &P->event[k];
    TRY(times_sound(v, k, e));
    if (!e->guard.value && e->ntimes == 0)
        return fail(v, COSTATE_MISSING, "problem.event[%d] has neither guard.value nor times, which say when it "
                    "happens.", k);
    if (e->guard.value && e->ntimes > 0)
        return fail(v, COSTATE_BAD_ARGUMENT, "problem.event[%d] has a guard and times: one of them says when it "
                    "happens.", k);
    if (e->direction < -1 || e->direction > 1)
        return fail(v, COSTATE_BAD_ARGUMENT, "problem.event[%d].direction = %d: it is -1, 0 or 1.", k, e->direction);
    if (e->at_start < COSTATE_START_DEFAULT || e->at_start > COSTATE_ZERO_TRUE)
        return fail(v, COSTATE_BAD_ARGUMENT, "problem.event[%d].at_start = %d: see enum costate_at_start.", k,
                    e->at_start);
    if (e->at_start >= COSTATE_ZERO_FALSE && e->direction == 0)
        return fail(v, COSTATE_BAD_ARGUMENT, "problem.event[%d] is a condition (at_start), which becomes true in one "
                    "direction of its guard: direction is 1 or -1.", k);
    if (e->from < 0 && e->from != COSTATE_ANY_MODE)
        return fail(v, COSTATE_BAD_ARGUMENT, "problem.event[%d].from = %d: modes are 0 or more, or "
                    "COSTATE_ANY_MODE.", k, e->from);
    if (e->slopes != 0 && e->slopes != 1)
        return fail(v, COSTATE_BAD_ARGUMENT, "problem.event[%d].slopes = %d: it is 0 or 1.", k, e->slopes);
    if (e->transition.value && !P->residual.value)
        return fail(v, COSTATE_BAD_ARGUMENT, "problem.event[%d].transition is available for residuals only.", k);
    if (e->transition.value && e->jump.value)
        return fail(v, COSTATE_BAD_ARGUMENT, "problem.event[%d] has a jump and a transition: one of them says what it "
                    "leaves.", k);
    if (e->slopes && !P->residual.value)
        return fail(v, COSTATE_BAD_ARGUMENT, "problem.event[%d].slopes: x->yp is of residuals; y' of a right-hand side "
                    "is f itself.", k);
    if (e->to < 0 && e->to != COSTATE_SAME_MODE)
        return fail(v, COSTATE_BAD_ARGUMENT, "problem.event[%d].to = %d: modes are 0 or more, or COSTATE_SAME_MODE.", k,
                    e->to);
    return COSTATE_OK;
}

static int events_sound(verdict *v, const costate_problem *P)
{
    if (P->nm < 0) return fail(v, COSTATE_BAD_ARGUMENT, "problem.nm = %d is negative.", P->nm);
    if (P->nm > MOST - P->n - P->nq || P->nm > MOST - P->np)
        return fail(v, COSTATE_BAD_ARGUMENT, "problem.nm = %d: n + nq + nm or np + nm is larger than 2^30.", P->nm);
    if (P->nevents < 0 || (P->nevents > 0 && !P->event))
        return fail(v, COSTATE_BAD_ARGUMENT, "problem.nevents = %d, but problem.event is %s.", P->nevents,
                    P->event ? "given" : "NULL");
    for (int k = 0; k < P->nevents; k++) TRY(event_sound(v, P, k));
    return COSTATE_OK;
}

static int some_event_costs(const costate_problem *P)
{
    for (int k = 0; k < P->nevents; k++) if (P->event[k].cost.value) return 1;
    return 0;
}

static int after_step_sound(verdict *v, const costate_after_step *a)
{
    if (a->map.value && a->invariant.value)
        return fail(v, COSTATE_BAD_ARGUMENT, "problem.after_step.map and .invariant are both given: one of them "
                    "follows a step.");
    if (!a->map.value && (a->acts || (a->start.value && !a->invariant.value)))
        return fail(v, COSTATE_MISSING, "problem.after_step.map.value is missing, but %s is given.",
                    a->acts ? "acts" : "start.value");
    return COSTATE_OK;
}

int problem_sound(verdict *v, const costate_problem *P)
{
    if (!P) return fail(v, COSTATE_BAD_ARGUMENT, "problem is NULL.");
    TRY(sizes_sound(v, "problem.", P->n, P->np, "nq", P->nq, 0));
    if (!P->rhs.value && !P->residual.value)
        return fail(v, COSTATE_MISSING, "problem.rhs.value is missing (or problem.residual.value).");
    if (P->residual.value && P->rhs.value)
        return fail(v, COSTATE_BAD_ARGUMENT, "problem.rhs and problem.residual are both given: one of them is the "
                    "equation.");
    if (P->residual.value && P->mass)
        return fail(v, COSTATE_BAD_ARGUMENT, "problem.mass belongs to problem.rhs: a residual has y' in it.");
    if (!P->residual.value && P->jac_yp)
        return fail(v, COSTATE_BAD_ARGUMENT, "problem.jac_yp belongs to problem.residual, which is missing.");
    if (P->jac_is_w != 0 && P->jac_is_w != 1)
        return fail(v, COSTATE_BAD_ARGUMENT, "problem.jac_is_w = %d: it is 0 or 1.", P->jac_is_w);
    if (P->jac_is_w && P->residual.value)
        return fail(v, COSTATE_BAD_ARGUMENT, "problem.jac_is_w = 1: methods for problem.residual need dF/dy.");
    TRY(events_sound(v, P));
    TRY(after_step_sound(v, &P->after_step));
    TRY(stops_sound(v, P));
    TRY(relations_sound(v, P));
    if (P->nq > 0 && !P->cost.value && !some_event_costs(P))
        return fail(v, COSTATE_MISSING, "problem.cost.value is missing, but nq = %d.", P->nq);
    for (int i = 0; P->index && i < P->n; i++)
        if (P->index[i] < 0 || P->index[i] > 2)
            return fail(v, COSTATE_BAD_ARGUMENT, "problem.index[%d] = %d: it is 0, 1 or 2.", i, P->index[i]);
    const char *fault = P->pattern ? pattern_fault(P->pattern, P->n) : NULL;
    return fault ? fail(v, COSTATE_BAD_ARGUMENT, "problem.pattern: %s.", fault) : COSTATE_OK;
}
