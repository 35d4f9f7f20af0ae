/* check_further.c - the public check of a problem: its maps beside the equation and the running costs, that is start,
   and of events guards, jumps and costs. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
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

/* What is wrong is said behind the map's name, in the report of all, which has the worst errors. */
static int check_further(const probe *q, const char *name, costate_report *r, int *wrong)
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

/* problem.start, a map of (y+, y): at (y, y) */
static int check_start(const costate_problem *P, const costate_point *x, costate_report *r, int *wrong)
{
    size_t n = (size_t)P->n;
    double *both = calloc(2 * n, sizeof *both);
    if (!both) return check_says(r, COSTATE_NO_MEMORY, "No memory for the check.");
    memcpy(both, x->y, n * sizeof *both);
    memcpy(both + n, x->y, n * sizeof *both);
    costate_point z = *x;
    z.y = both;
    z.yp = NULL;
    probe q = probe_of(P, &P->start, P->n, &z);
    q.n = 2 * P->n;
    int status = check_further(&q, "start", r, wrong);
    free(both);
    return status;
}

/* a map of an event that sees y', of n states */
static int check_with_slopes(const char *name, int n, const probe *of, costate_report *r, int *wrong)
{
    slope_map ctx = {of->map, of->ctx, n};
    costate_map f = check_slope_map(of->map);
    costate_point z;
    double *both = calloc(2 * (size_t)n, sizeof *both);
    if (!both) return check_says(r, COSTATE_NO_MEMORY, "No memory for the check.");
    check_join(n, of->x, both, &z);
    probe q = *of;
    q.map = &f;
    q.n = 2 * n;
    q.states = n;
    q.x = &z;
    q.ctx = &ctx;
    int status = check_further(&q, name, r, wrong);
    free(both);
    return status;
}

/* a transition, a map of both sides: at the same y, y' on both */
static int check_transition(const char *name, int n, const probe *of, costate_report *r, int *wrong)
{
    costate_point both = *of->x;
    double *memory = calloc(4 * (size_t)n, sizeof *memory), *from[] = {memory, memory + 2 * n};
    if (!memory) return check_says(r, COSTATE_NO_MEMORY, "No memory for the check.");
    for (int side = 0; side < 2; side++) {
        memcpy(from[0] + side * n, of->x->y, (size_t)n * sizeof *memory);
        memcpy(from[1] + side * n, of->x->yp, (size_t)n * sizeof *memory);
    }
    both.y = from[0];
    both.yp = from[1];
    probe q = *of;
    q.x = &both;
    int status = check_with_slopes(name, 2 * n, &q, r, wrong);
    free(memory);
    return status;
}

/* in a mode that the event is looked at in: that of x, if in any */
static int check_event(const costate_problem *P, int k, const costate_point *x, costate_report *r, int *wrong)
{
    const costate_event *e = &P->event[k];
    const struct { const costate_map *of; const char *name; int rows; } parts[] = {
        {&e->guard, "guard", 1}, {&e->jump, "jump", P->n + P->nm}, {&e->cost, "cost", P->nq},
        {&e->transition, "transition", P->n}};
    costate_point at = *x;
    if (e->from >= 0) at.mode = e->from;
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        char name[32];
        if (!parts[i].of->value || parts[i].rows == 0) continue;
        snprintf(name, sizeof name, "event[%d].%s", k, parts[i].name);
        probe q = probe_of(P, parts[i].of, parts[i].rows, &at);
        if (e->ctx) q.ctx = e->ctx;
        at.yp = e->slopes || parts[i].of == &e->transition ? x->yp : NULL;
        if (parts[i].of == &e->transition) TRY(check_transition(name, P->n, &q, r, wrong));
        else TRY(e->slopes ? check_with_slopes(name, P->n, &q, r, wrong) : check_further(&q, name, r, wrong));
    }
    return COSTATE_OK;
}

int check_further_maps(const costate_problem *P, const costate_point *x, costate_report *r, int *wrong)
{
    if (P->start.value) TRY(check_start(P, x, r, wrong));
    for (int k = 0; k < P->nevents; k++) TRY(check_event(P, k, x, r, wrong));
    return COSTATE_OK;
}
