/* check_further.c - the public check of a problem's other maps: start, after_step, and the guards, jumps,
   transitions and costs of events. */
#include <math.h>
#include <stdio.h>
#include "maps/maps.h"
#include "maps/check.h"

/* NaN of one of them: not given */
static void join_errors(costate_report *r, const costate_report *own)
{
    r->tangent = fmax(r->tangent, own->tangent);
    r->adjoint = fmax(r->adjoint, own->adjoint);
    r->tangent2 = fmax(r->tangent2, own->tangent2);
    r->adjoint_tangent = fmax(r->adjoint_tangent, own->adjoint_tangent);
    r->adjoint_tangent2 = fmax(r->adjoint_tangent2, own->adjoint_tangent2);
}

/* Errors are appended to the report of the problem, after the name of the map; the report keeps the largest errors. */
static int check_further(probe *q, const char *name, costate_report *r, int *wrong)
{
    costate_report own;
    check_clear(&own);
    int status = check_map(q, &own);
    join_errors(r, &own);
    if (status != COSTATE_OK) check_adds(r, "%s: %s", name, own.text);
    if (status != COSTATE_CHECK_FAILED) return status;
    *wrong = 1;
    return COSTATE_OK;
}

/* in a mode where the event is active: that of x, if it is active in all */
static int check_event(const costate_problem *P, int k, const costate_point *x, costate_report *r, int *wrong)
{
    const costate_event *e = &P->event[k];
    /* sides: a transition sees the states before and after the event, and their slopes */
    const struct { const costate_map *of; const char *name; int rows, sides; } parts[] = {
        {&e->guard, "guard", 1, 1}, {&e->jump, "jump", P->n + P->nm, 1}, {&e->cost, "cost", P->nq, 1},
        {&e->transition, "transition", P->n, 2}};
    costate_point at = *x;
    if (e->from >= 0) at.mode = e->from;
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        char name[32];
        if (!parts[i].of->value || parts[i].rows == 0) continue;
        snprintf(name, sizeof name, "event[%d].%s", k, parts[i].name);
        probe q = probe_of(P, parts[i].of, parts[i].rows, &at);
        if (e->ctx) q.ctx = e->ctx;
        q.sides = parts[i].sides;
        q.slopes = e->slopes || q.sides == 2;
        at.yp = q.slopes ? x->yp : NULL;
        TRY(check_further(&q, name, r, wrong));
    }
    return COSTATE_OK;
}

int check_further_maps(const costate_problem *P, const costate_point *x, costate_report *r, int *wrong)
{
    probe start = probe_of(P, &P->start, P->n, x);
    start.sides = 2;                            /* a map of (y+, y), checked at (y, y) */
    if (P->start.value) TRY(check_further(&start, "start", r, wrong));
    for (int k = 0; k < P->nevents; k++) TRY(check_event(P, k, x, r, wrong));
    const struct { const costate_map *of; const char *name; } after[] = {
        {&P->after_step.map, "after_step.map"}, {&P->after_step.start, "after_step.start"},
        {&P->after_step.invariant, "after_step.invariant"}};
    for (int i = 0; i < 3; i++) {
        probe q = probe_of(P, after[i].of, i < 2 ? P->n + P->nm : 1, x);
        if (P->after_step.ctx) q.ctx = P->after_step.ctx;
        if (after[i].of->value) TRY(check_further(&q, after[i].name, r, wrong));
    }
    return COSTATE_OK;
}
