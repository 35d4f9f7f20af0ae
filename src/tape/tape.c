/* tape.c - the record of a run: for each step t, h, state, stages (or not), Newton's counts, kept factorisations. */
#include <stdlib.h>
#include <string.h>
#include "base/invariant.h"
#include "base/machine.h"
#include "tape/journal.h"

/* By default factorisations may take one SHARE_KEPTth of the memory of the machine: other programs need memory, and two
   solvers still fit.  LEAST_KEPT is used if that is unknown or less.  KEEP_FROM: n, see most_kept. */
enum { LEAST_KEPT = 1 << 28, SHARE_KEPT = 4, KEEP_FROM = 200 };

void tape_clear(costate_tape *t)
{
    owned *own = t->own;
    if (own) {
        lease_end(&own->busy);
        own->is->empty(t);
    }
    if (t->frames) frames_close(t->frames);
    for (int k = 0; k < t->count; k++) { factors_release(t->list[k].kept); t->list[k].kept = NULL; }
    for (struct block *b = t->first; b; b = b->next) b->used = 0;
    t->last = t->first;
    t->count = t->maps.count = t->maps.events = t->usable = t->factors.sets = 0;
    t->factors.bytes = 0;
    memset(&t->fresh, 0, sizeof t->fresh);
    t->fresh.source = -1;
    t->p = t->end = NULL;
    identity_release(t->from.writer);
    t->from.writer = NULL;
}

void costate_tape_free(costate_tape *t)
{
    if (!t) return;
    tape_clear(t);
    tape_disown(t);
    free(t->ends.at);
    for (struct block *b = t->first, *next; b; b = next) { next = b->next; free(b); }
    free(t->list);
    free(t->maps.list);
    situations_clear(&t->situations);
    frames_free(t->frames);
    free(t);
}

/* A small factorisation is computed again in less time than an object for it is allocated. */
static size_t most_kept(const stepper *c, costate_tape *t)
{
    if (t->kept->remakes || t->frames) return 0;       /* recomputed steps and steps on a medium are factored again */
    if (t->matfree || t->keep < 0 || (t->keep == 0 && c->n < KEEP_FROM)) return 0;
    if (t->keep > 0) return (size_t)-1;
    if (!t->factors.machine) t->factors.machine = memory_of_machine();
    size_t share = t->factors.machine / SHARE_KEPT;
    return share > LEAST_KEPT ? share : LEAST_KEPT;
}

/* memory for p and the end of the run, zeros */
static int ends(const stepper *c, costate_tape *t)
{
    size_t need = (size_t)(c->np + c->N);
    if (need > t->ends.room) {
        free(t->ends.at);
        t->ends.at = malloc(need * sizeof *t->ends.at);
        t->ends.room = t->ends.at ? need : 0;
        if (!t->ends.at) return fail(c->v, COSTATE_NO_MEMORY, "No memory for the tape.");
    }
    memset(t->ends.at, 0, need * sizeof *t->ends.at);
    t->p = t->ends.at;
    t->end = t->p + c->np;
    return COSTATE_OK;
}

int tape_begin_read(const stepper *c, costate_tape *t, const retention *kept, const costate_problem *P,
                    const origin *from, const void *p)
{
    t->method = c->method;
    t->problem = *P;
    t->kept = kept;
    t->keep = c->options->keep_factors;
    t->matfree = stiff_member(c)->sh->matfree;
    t->by = solved_by_of(c);
    t->from = *from;
    identity_hold(from->writer);
    t->limit = c->options->tape_limit;
    t->factors.most = most_kept(c, t);
    t->factors.on = t->factors.most > 0;
    TRY(ends(c, t));
    if (c->np) memcpy(t->p, p, (size_t)c->np * sizeof *t->p);
    return COSTATE_OK;
}

int tape_start(const stepper *c, costate_tape *t, const retention *kept, const costate_problem *P, const origin *from)
{
    tape_clear(t);
    t->most_states = c->options->checkpoints;
    TRY(tape_begin_read(c, t, kept, P, from, c->maps->bound.p));
    TRY(steps_begin(c, t));
    return journal_begin(c, t);
}

size_t tape_most(const costate_tape *t) { return t->kept && t->kept->remakes ? t->kept->remakes->most(t) : 0; }

int tape_map(const stepper *c, costate_tape *t, const start_values *f, const double *y1)
{
    size_t state = (size_t)c->N * sizeof *y1;
    void *memory;
    mapped *to = tape_next_map(c, t, state + start_values_bytes(c->n), &memory);
    if (!to) return c->v->status;
    *to = (mapped){.before = t->count, .event = CONSISTENT, .number = t->maps.events, .from = c->maps->bound.situation,
                   .to = c->maps->bound.situation, .t = f->t, .y1 = memory};
    memcpy(to->y1, y1, state);
    start_values_copy(&to->f, c->n, f, to->y1 + c->N);
    TRY(journal_mapped(c, t, to, memory, state + start_values_bytes(c->n)));
    t->maps.count++;
    return COSTATE_OK;
}

size_t tape_event_bytes(const stepper *c)
{
    return (2 * (size_t)c->N + (c->maps->residual ? (size_t)c->n : 0)) * sizeof(double);
}

void tape_event_layout(const stepper *c, mapped *e, void *memory)
{
    e->y = memory;
    e->y1 = e->y + c->N;
    e->k = c->maps->residual ? e->y1 + c->N : NULL;
}

int tape_event(const stepper *c, costate_tape *t, const mapped *e)
{
    size_t N = (size_t)c->N, n = (size_t)c->n, bytes = tape_event_bytes(c);
    void *memory;
    mapped *to = tape_next_map(c, t, bytes, &memory);
    if (!to) return c->v->status;
    *to = *e;
    to->before = t->count;
    to->number = t->maps.events;
    tape_event_layout(c, to, memory);
    memcpy(to->y, e->y, N * sizeof *to->y);
    memcpy(to->y1, e->y1, N * sizeof *to->y1);
    if (to->k && e->k) memcpy(to->k, e->k, n * sizeof *to->k);
    else if (to->k) memset(to->k, 0, n * sizeof *to->k);
    TRY(journal_mapped(c, t, to, memory, bytes));
    t->maps.count++;
    t->maps.events += is_event(to);
    return COSTATE_OK;
}

int tape_take(const stepper *c, identity *who, const costate_tape *t)
{
    owned *own = t->own;
    int abandoned;
    if (!own) return 0;
    if (!lease_take(&own->busy, who, &abandoned))
        return fail(c->v, COSTATE_BAD_TAPE, "Another sweep is at work on this tape: with COSTATE_CHECKPOINTS, or in a "
                    "file, it is for one at a time. (If an exception or longjmp left it, costate_abandon ends it.)");
    if (abandoned && t->kept->remakes) t->kept->remakes->mend(t);
    return 0;
}

void tape_leave(const costate_tape *t) { if (t->own) lease_end(&((owned *)t->own)->busy); }

/* A run that stopped or failed ends where its last step did.  Steps that could not be written are lost. */
int tape_end(const stepper *c, costate_tape *t, int complete, double at, const double *y, int mode)
{
    int lost = t->frames && c->v->status == COSTATE_IO;
    if (lost) t->count = t->maps.count = t->maps.events = 0;
    t->usable = t->end && (complete || t->count > 0) && !lost;
    if (!t->usable) return 0;
    t->from.t1 = at;
    t->mode = mode;
    memcpy(t->end, y, (size_t)c->N * sizeof *t->end);
    verdict before = *c->v;
    INVARIANT(tape_is_valid(t));
    int status = journal_ended(c, t, complete);
    if (before.status) *c->v = before;          /* the first failure counts */
    return status;
}
