/* solver.c (steady) - creates and frees a solver of steady states: checks arguments, sets up its maps and its memory.
   */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/grown.h"
#include "base/pattern.h"
#include "linsol/backends.h"
#include "maps/callbacks.h"
#include "steady/steady.h"

int steady_begin(steady *s)
{
    if (!s) return COSTATE_BAD_ARGUMENT;
    if (!s->block) return s->v.status;          /* costate_steady_new failed: keep its message */
    verdict_clear(&s->v);
    verdict_at(&s->v, s->o.t0);
    return COSTATE_OK;
}

/* ---- arguments ---- */

static int refuse_problem(steady *s, const costate_problem *P)
{
    TRY(problem_sound(&s->v, P));
    if (P->nstops > 0)
        return fail(&s->v, COSTATE_BAD_ARGUMENT, "problem.nstops = %d: f changes at given times, so that no state is "
                    "steady.", P->nstops);
    for (int k = 0; k < P->nevents; k++)
        if (P->event[k].ntimes > 0)
            return fail(&s->v, COSTATE_BAD_ARGUMENT, "event[%d] occurs at given times, so that no state is steady.", k);
    if (has_after_step(P))
        return fail(&s->v, COSTATE_BAD_ARGUMENT, "problem.after_step: a steady state is one of f alone.");
    if (P->jac_is_w) return fail(&s->v, COSTATE_BAD_ARGUMENT, "problem.jac_is_w = 1: steady states need df/dy.");
    return 0;
}

static int refuse_options(steady *s)
{
    const costate_steady_options *o = &s->o;
    if (!(fabs(o->t0) < HUGE_VAL)) return fail(&s->v, COSTATE_BAD_ARGUMENT, "options.t0 is not finite.");
    if (!(o->longest >= 0)) return fail(&s->v, COSTATE_BAD_ARGUMENT, "options.longest = %g is negative.", o->longest);
    if (s->flow.o.sum) return fail(&s->v, COSTATE_BAD_ARGUMENT, "run.sum: states of several processes are not served.");
    if (s->flow.o.on_event)
        return fail(&s->v, COSTATE_BAD_ARGUMENT, "run.on_event is set: no event may occur on the way.");
    if (steady_given(s) ? o->invariants < 1 || o->invariants > s->n : o->invariants < -1 || o->invariants > 0)
        return fail(&s->v, COSTATE_BAD_ARGUMENT, "options.invariants = %d: with a map it is the number of its values, "
                    "1 to n; without one 0, or -1 for none.", o->invariants);
    for (size_t i = 0; i < o->nfixed; i++) {
        if (!o->fixed || !o->values)
            return fail(&s->v, COSTATE_BAD_ARGUMENT, "options.fixed or options.values is NULL.");
        if (o->fixed[i] < 0 || o->fixed[i] >= s->np || !(fabs(o->values[i]) < HUGE_VAL))
            return fail(&s->v, COSTATE_BAD_ARGUMENT, "options.fixed[%zu] = %d, with the value %g: parameters are 0 to "
                        "%d, and values finite.", i, o->fixed[i], o->values[i], s->np - 1);
    }
    if (steady_given(s) && !has_tangent(&o->invariant) && !has_adjoint(&o->invariant))
        return fail(&s->v, COSTATE_MISSING, "options.invariant needs tangent or adjoint.");
    return 0;
}

/* ---- set up ---- */

/* the problem of the runs: without costs */
static int without_costs(steady *s)
{
    costate_problem *P = &s->flow.P;
    *P = s->P;
    P->cost = (costate_map){0};
    P->nq = 0;
    if (P->nevents == 0) return 0;
    size_t bytes = (size_t)P->nevents * sizeof *s->flow.event;
    if (!(s->flow.event = malloc(bytes))) return fail(&s->v, COSTATE_NO_MEMORY, "No memory for the events.");
    memcpy(s->flow.event, P->event, bytes);
    for (int k = 0; k < P->nevents; k++) s->flow.event[k].cost = (costate_map){0};
    P->event = s->flow.event;
    return 0;
}

static int furnish(steady *s)
{
    TRY(without_costs(s));
    s->maps = maps_of(&s->flow.P);
    s->own.maps = (maps){.n = s->n, .np = s->np, .nm = s->nm, .user.ctx = s->o.ctx ? s->o.ctx : s->P.ctx};
    s->maps.method = s->own.maps.method = "of steady states";
    s->maps.differences = s->own.maps.differences = s->flow.o.differences;
    s->maps.count = s->own.maps.count = &s->count.calls;
    s->maps.v = s->maps.space.v = s->own.maps.v = s->own.maps.space.v = &s->v;
    s->own.map = map_new(&s->own.maps, &s->o.invariant, "options.invariant", s->o.invariants, 0,
                         s->own.maps.user.ctx);
    return maps_init(&s->maps, 1, pattern_entries(s->P.pattern, s->n));
}

static void limit_layout(const steady *s, limit *x, cursor *at)
{
    size_t n = (size_t)s->n;
    TAKE(at, n, &x->y0, &x->y, &x->z);
    x->p = take(at, (size_t)s->np + 1);
    x->m = take(at, (size_t)s->nm + 1);
    TAKE(at, n * n, &x->w, &x->W);
}

static void layout(steady *s, cursor *at)
{
    size_t n = (size_t)s->n;
    maps_layout(&s->maps, at);
    maps_layout_columns(&s->maps, at, 1);
    if (steady_given(s)) {
        maps_layout(&s->own.maps, at);
        maps_layout_columns(&s->own.maps, at, 1);
    }
    for (int k = 0; k < KEPT; k++) limit_layout(s, &s->limits[k], at);
    limit_layout(s, &s->candidate, at);
    TAKE(at, (size_t)s->np, &s->own_p, &s->by_p[0], &s->by_p[1], &s->g);
    s->unit = take(at, (size_t)(s->np + s->nm) + 1);
    s->flow.y = take(at, n + (size_t)s->nm);
    s->J = take(at, 2 * s->maps.entries);
    TAKE(at, n * n, &s->D, &s->A, &s->L, &s->sample[0], &s->sample[1]);
    s->M = s->maps.M || s->maps.residual ? take(at, n * n) : NULL;
    TAKE(at, n, &s->flow.extreme, &s->flow.size, &s->seen, &s->own.at_start, &s->row_scale);
    TAKE(at, n, &s->r, &s->w, &s->d, &s->z, &s->e, &s->re, &s->im, &s->to, &s->to2, &s->back, &s->weights,
         &s->turn.w, &s->turn.z);
}

static int *take_whole(int **at, size_t count)
{
    int *here = *at;
    *at += count;
    return here;
}

static int whole_numbers(steady *s)
{
    size_t n = (size_t)s->n, relations = (size_t)s->P.nrelations;
    int *at = s->whole = calloc(6 * n + KEPT * n + (KEPT + 2) * relations + 1, sizeof *s->whole);
    if (!at) return fail(&s->v, COSTATE_NO_MEMORY, "No memory for the solver.");
    s->flow.turns = take_whole(&at, n);
    s->flow.way = take_whole(&at, n);
    s->pivot = take_whole(&at, 2 * n);
    s->column = take_whole(&at, n);
    s->relation = take_whole(&at, relations);
    for (int k = 0; k <= KEPT; k++) {
        limit *x = k < KEPT ? &s->limits[k] : &s->candidate;
        x->row = take_whole(&at, n);
        x->relation = take_whole(&at, relations);
    }
    return 0;
}

static int set_up(steady *s, const costate_method *m, const costate_problem *P)
{
    int status;
    TRY(refuse_problem(s, P));
    s->P = *P;
    s->n = P->n;
    s->np = P->np;
    s->nm = P->nm;
    s->method = m;
    TRY(refuse_options(s));
    TRY(furnish(s));
    TRY(steady_flow_init(s));
    TRY(whole_numbers(s));
    s->ls = LS_Init(costate_backend_find("dense"), s->n, NULL, 0, NULL, &s->count.calls, &status);
    if (!s->ls || LS_Balance(s->ls)) return fail(&s->v, COSTATE_NO_MEMORY, "No memory for %d rows.", s->n);
    s->current = s->last = -1;
    cursor at = {0};
    layout(s, &at);
    if (!(s->block = calloc(at.used + 1, sizeof *s->block)))
        return fail(&s->v, COSTATE_NO_MEMORY, "No memory for the solver.");
    at = (cursor){.base = s->block};
    layout(s, &at);
    return COSTATE_OK;
}

costate_steady *costate_steady_new_sized(size_t run_size, size_t size, const costate_method *m,
                                         const costate_problem *P, const costate_options *run,
                                         const costate_steady_options *o)
{
    steady *s = calloc(1, sizeof *s);
    if (!s) return NULL;
    verdict_clear(&s->v);           /* after a failure the verdict stays: see steady_begin */
    int status = grown_read(&s->v, "costate_options", run, run_size, &s->flow.o, sizeof s->flow.o);
    if (status == 0) status = grown_read(&s->v, "costate_steady_options", o, size, &s->o, sizeof s->o);
    if (status == 0) set_up(s, m, P);
    return s;
}

costate_steady *costate_steady_new(const costate_method *m, const costate_problem *P, const costate_options *run,
                                   const costate_steady_options *o)
{
    return costate_steady_new_sized(sizeof *run, sizeof *o, m, P, run, o);
}

void steady_free(steady *s)
{
    costate_free(s->flow.solver);
    free(s->flow.event);
    LS_Free(s->ls);
    maps_free(&s->maps);
    free(s->whole);
    free(s->block);
    free(s);
}

const char *costate_steady_message(const costate_steady *s) { return s ? s->v.text : "The solver is NULL."; }
const costate_steady_stats *costate_steady_get_stats(const costate_steady *s) { return s ? &s->count : NULL; }
