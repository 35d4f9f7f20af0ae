/* look.c - queries of a tape: steps, bytes, states, events, cost of a sweep, and which solvers may use it. */
#include <stddef.h>
#include <string.h>
#include "tape/tape.h"

static size_t rows(const costate_tape *t) { return (size_t)(t->problem.n + t->problem.nq + t->problem.nm); }

int costate_tape_steps(const costate_tape *t) { return t ? t->count : 0; }

size_t costate_tape_bytes(const costate_tape *t) { return t ? tape_held(t) : 0; }

int costate_tape_get(const costate_tape *tape, int k, double *t, double *h, double *y)
{
    if (!tape) return COSTATE_BAD_ARGUMENT;
    if (k < 0 || k >= tape->count) return COSTATE_OUT_OF_RANGE;
    const record *r = &tape->list[k];
    if (t) *t = r->t;
    if (h) *h = r->h;
    if (y && (!r->y || tape->kept->remakes)) return COSTATE_BAD_TAPE;
    if (y) memcpy(y, r->y, rows(tape) * sizeof *y);
    return COSTATE_OK;
}

int costate_tape_forecast(const costate_tape *t, costate_forecast *f)
{
    if (!t || !f) return COSTATE_BAD_ARGUMENT;
    *f = (costate_forecast){.steps = t->count, .bytes = tape_held(t)};
    if (!t->usable) return COSTATE_BAD_TAPE;
    const remaking *again = t->kept->remakes;
    if (!again) {
        for (int k = 0; k < t->count; k++) f->remade_back += !tape_has_stages(t, k);
        f->remade_forward = f->remade_back;
        return COSTATE_OK;
    }
    size_t most = tape_base(t) + tape_most(t);
    if (t->limit && most > t->limit) most = t->limit;
    if (f->bytes < most) f->bytes = most;
    TRY(again->forecast(t, 0, &f->remade_forward));
    return again->forecast(t, 1, &f->remade_back);
}

int costate_tape_events(const costate_tape *t) { return t ? t->maps.events : 0; }

int costate_tape_event(const costate_tape *tape, int k, double *t, int *event, double *before, double *after)
{
    if (!tape) return COSTATE_BAD_ARGUMENT;
    if (k < 0 || k >= tape->maps.events) return COSTATE_OUT_OF_RANGE;
    const mapped *list = tape->maps.list;
    const mapped *e = list + count_up_to(k, list, offsetof(mapped, number), sizeof *list, tape->maps.count) - 1;
    if (t) *t = e->t;
    if (event) *event = e->event;
    if (before) memcpy(before, e->y, rows(tape) * sizeof *before);
    if (after) memcpy(after, e->y1, rows(tape) * sizeof *after);
    return COSTATE_OK;
}

/* ---- for sweeps ---- */

long tape_source(const costate_tape *t, int k)
{
    long of = t->list[k].jacobian;
    return of == k + 1 ? 0 : of;
}

decisions tape_decisions(const costate_tape *t, int k)
{
    const record *r = &t->list[k];
    long source = tape_source(t, k);
    return (decisions){r->jacobian, source ? &t->list[source - 1] : NULL, r->iterations, !t->matfree, r->degree,
                       r->held};
}

int count_up_to(int k, const void *list, size_t at, size_t size, int count)
{
    int low = 0, high = count;
    while (low < high) {
        int mid = low + (high - low) / 2;
        int number;
        memcpy(&number, (const char *)list + (size_t)mid * size + at, sizeof number);
        if (number <= k) low = mid + 1;
        else high = mid;
    }
    return low;
}

int tape_first_map(const costate_tape *t, int k)
{
    return count_up_to(k - 1, t->maps.list, offsetof(mapped, before), sizeof(mapped), t->maps.count);
}

const mapped *tape_last_event(const costate_tape *t)
{
    if (t->maps.count == 0) return NULL;
    for (const mapped *e = t->maps.list + t->maps.count; e-- > t->maps.list && e->before == t->count;)
        if (is_event(e)) return e;
    return NULL;
}

unsigned tape_members(const costate_tape *t)
{
    unsigned all = 0;
    for (int k = 0; k < t->count; k++) all |= 1u << t->list[k].member;
    return all;
}

int tape_direction(const costate_tape *tape) { return tape->from.t1 >= tape->from.t0 ? 1 : -1; }

/* Stages alone, each from the state of the run, come out the same to rounding: with any factorisation, and with any
   linear solver where Newton's iteration goes to round-off. */
static int to_rounding(const costate_tape *t, const solved_by *own)
{
    return !t->kept->remakes && ((!t->by.iterative && !own->iterative) || (t->by.exact && own->exact));
}

int tape_serves(const stepper *c, const costate_problem *P, const costate_tape *t, int sweeps)
{
    TRY(tape_fits(c, P, t));
    if (!t->kept->remakes && !(sweeps && t->kept->stages)) return 0;
    solved_by own = solved_by_of(c);
    if (strcmp(own.solver, t->by.solver) != 0 && !to_rounding(t, &own))
        return fail(c->v, COSTATE_BAD_TAPE, "This tape has its steps made again, and its run solved linear systems "
                    "with %s: with %s, as this solver does, they would be other steps. Sweep it with the linear solver "
                    "of the run, or keep the run with COSTATE_ALL_STAGES.", t->by.solver, own.solver);
    if (own.options == t->by.options || (to_rounding(t, &own) && (t->by.iterative || own.iterative))) return 0;
    const char *which = "jac and autonomous must be the same, and tolerances where the Jacobian comes from differences";
    if (t->by.iterative)
        which = "with COSTATE_LS_GMRES tolerances, newton_tol, krylov_tol, derivative_mode and preconditioners must be "
                "the same";
    return fail(c->v, COSTATE_BAD_TAPE, "This tape has its steps made again, and with the options of this solver they "
                "would be other steps than those of the run: %s.", which);
}

int tape_fits(const stepper *c, const costate_problem *b, const costate_tape *t)
{
    if (!t) return fail(c->v, COSTATE_BAD_ARGUMENT, "tape is NULL.");
    const costate_problem *a = &t->problem;
    if (!t->usable)
        return fail(c->v, COSTATE_BAD_TAPE, "The tape holds no step: the forward run failed before its first, or never "
                    "was%s.", t->frames ? ", or its file was not read (costate_tape_read)" : "");
    if (t->method != c->method)
        return fail(c->v, COSTATE_BAD_TAPE, "The tape is of method %s, this solver of %s.", t->method->name,
                    c->method->name);
    if (a->n != b->n || a->np != b->np || a->nq != b->nq || a->ctx != b->ctx || a->rhs.value != b->rhs.value ||
        a->residual.value != b->residual.value || a->index != b->index || a->cost.value != b->cost.value ||
        a->mass != b->mass || a->start.value != b->start.value || a->nm != b->nm || a->nevents != b->nevents ||
        a->event != b->event || a->nstops != b->nstops || a->stops != b->stops ||
        a->nrelations != b->nrelations || a->relation != b->relation ||
        a->after_step.map.value != b->after_step.map.value ||
        a->after_step.acts != b->after_step.acts || a->after_step.ctx != b->after_step.ctx ||
        a->after_step.start.value != b->after_step.start.value ||
        a->after_step.invariant.value != b->after_step.invariant.value)
        return fail(c->v, COSTATE_BAD_TAPE, "The tape is of another problem (its sizes, callbacks or ctx differ).");
    return COSTATE_OK;
}
