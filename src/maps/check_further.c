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

/* a map of an event that sees y' */
static int check_with_slopes(const costate_problem *P, const char *name, const probe *of, costate_report *r, int *wrong)
{
    size_t n = (size_t)P->n;
    slope_map ctx = {of->map, of->ctx, P->n};
    costate_map f = check_slope_map(of->map);
    costate_point z;
    double *both = calloc(2 * n, sizeof *both);
    if (!both) return check_says(r, COSTATE_NO_MEMORY, "No memory for the check.");
    check_join(P, of->x, both, &z);
    probe q = *of;
    q.map = &f;
    q.n = 2 * P->n;
    q.states = P->n;
    q.x = &z;
    q.ctx = &ctx;
    int status = check_further(&q, name, r, wrong);
    free(both);
    return status;
}

/* in a mode that the event is looked at in: that of x, if in any */
static int check_event(const costate_problem *P, int k, const costate_point *x, costate_report *r, int *wrong)
{
    const costate_event *e = &P->event[k];
    const struct { const costate_map *of; const char *name; int rows; } parts[] = {
        {&e->guard, "guard", 1}, {&e->jump, "jump", P->n + P->nm}, {&e->cost, "cost", P->nq}};
    costate_point at = *x;
    if (!e->slopes) at.yp = NULL;
    if (e->from >= 0) at.mode = e->from;
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        char name[32];
        if (!parts[i].of->value || parts[i].rows == 0) continue;
        snprintf(name, sizeof name, "event[%d].%s", k, parts[i].name);
        probe q = probe_of(P, parts[i].of, parts[i].rows, &at);
        if (e->ctx) q.ctx = e->ctx;
        TRY(e->slopes ? check_with_slopes(P, name, &q, r, wrong) : check_further(&q, name, r, wrong));
    }
    return COSTATE_OK;
}

int check_further_maps(const costate_problem *P, const costate_point *x, costate_report *r, int *wrong)
{
    if (P->start.value) TRY(check_start(P, x, r, wrong));
    for (int k = 0; k < P->nevents; k++) TRY(check_event(P, k, x, r, wrong));
    return COSTATE_OK;
}
