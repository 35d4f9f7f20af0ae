/* load.c - reads a tape from its medium, frame by frame, in the order in which they were written.

   If a run was killed, the tape is read up to its last fresh step, where the medium has the state and everything that
   the run knew.  The run can be resumed there, or sweeps treat it as a run that ended there. */
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "tape/journal.h"

typedef struct {
    const stepper *c;
    costate_tape *t;
    buffer data, last;          /* of the last frame, and of the last of type FRESH */
    int fresh, maps;            /* steps and maps before the last of type FRESH; -1: there is none */
    journal_end end;
    int ended;                  /* 1: the last frame is of type ENDED */
} loader;

static int wrong(const loader *x, const char *what)
{
    return fail(x->c->v, COSTATE_BAD_TAPE, "The tape's file %s %s.", frames_name(x->t->frames), what);
}

/* ---- the head ---- */

static int same_problem(loader *x, const journal_head *h, const costate_problem *P)
{
    const stepper *c = x->c;
    if (memcmp(h->version, COSTATE_VERSION, sizeof COSTATE_VERSION) != 0 || h->words != (int)sizeof(journal_step))
        return wrong(x, "is of another version of the library");
    if (strncmp(h->method, c->method->name, sizeof h->method - 1) != 0 || h->s != c->most)
        return fail(c->v, COSTATE_BAD_TAPE, "The tape's file %s is of method %.63s, this solver of %s.",
                    frames_name(x->t->frames), h->method, c->method->name);
    if (h->length < 1 || h->checkpoints < 0) return wrong(x, "does not begin as a tape does");
    if (h->corrects != corrects(c->maps) + relaxes(c->maps))
        return wrong(x, corrects(c->maps) ? "is of a problem without this after_step" : "is of a problem with "
                     "after_step");
    if (h->n != P->n || h->np != P->np || h->nq != P->nq || h->nm != P->nm || h->nevents != P->nevents ||
        h->nrelations != P->nrelations)
        return wrong(x, "is of another problem (its sizes differ)");
    return 0;
}

/* Prepares the tape as its run did.  If it is only read, no solver is its writer. */
static int load_begin(loader *x, const journal_head *h, const costate_problem *P, identity *who)
{
    const retention *kept = retention_of_number(x->t, h->storage);
    if (!kept) return wrong(x, "keeps steps in a way that this library does not know");
    identity *writer = who ? who : identity_new();
    if (!writer) return fail(x->c->v, COSTATE_NO_MEMORY, "No memory for the tape.");
    origin from = {.writer = writer, .stamp = -1, .predict = h->predict, .t0 = h->t0, .t1 = h->t0};
    int status = tape_begin_read(x->c, x->t, kept, P, &from, (const char *)x->data.at + sizeof *h);
    if (!who) identity_release(writer);
    if (status) return status;
    x->t->matfree = h->matfree;
    x->t->by = h->by;
    x->t->by.solver[sizeof h->by.solver - 1] = '\0';
    x->t->most_states = h->checkpoints;
    x->t->fresh.every = h->length;
    return steps_begin(x->c, x->t);
}

static int head(loader *x, const frame *f, const costate_problem *P, int to_write, journal_head *found)
{
    const stepper *c = x->c;
    journal_head h;
    if (f->type != HEAD || f->bytes < sizeof h) return wrong(x, "does not begin as a tape does");
    memcpy(&h, x->data.at, sizeof h);
    TRY(same_problem(x, &h, P));
    if (f->bytes != sizeof h + (size_t)c->np * sizeof(double)) return wrong(x, "does not begin as a tape does");
    if (to_write && strncmp(h.by.solver, solved_by_of(c).solver, sizeof h.by.solver) != 0)
        return fail(c->v, COSTATE_BAD_TAPE, "The run in %s solved linear systems with %.31s, this solver takes %s: it "
                    "could not go on to the same bits.", frames_name(x->t->frames), h.by.solver,
                    solved_by_of(c).solver);
    if (to_write && h.options != journal_options(c))
        return wrong(x, "was written with other options: with these the run could not go on to the same bits");
    *found = h;
    return 0;
}

/* ---- the frames ---- */

static int read_step(loader *x, const frame *f, uint64_t at)
{
    const stepper *c = x->c;
    costate_tape *t = x->t;
    journal_step h;
    unsigned char *kept = NULL;
    if (f->bytes < sizeof h) return wrong(x, "holds a step of another size or order");
    memcpy(&h, x->data.at, sizeof h);
    if (h.member < 0 || h.member >= members_count(c))
        return wrong(x, "holds a step of a member that its method does not have");
    size_t counts = counts_bytes(c, h.member), body = step_doubles(t, h.member);
    if (f->bytes != sizeof h + counts + body * sizeof(double) || f->number != (uint32_t)t->count)
        return wrong(x, "holds a step of another size or order");
    if (h.fresh != (x->fresh == t->count) || x->fresh < 0 || (h.fresh == 0 && t->count - x->fresh >= t->fresh.every))
        return wrong(x, "holds a step that begins anew elsewhere than its run did");
    if (!(isfinite(h.t) && isfinite(h.h) && isfinite(h.end) && isfinite(h.held)) || h.h == 0)
        return wrong(x, "holds a step from nowhere, or of no length");
    if (h.corrected < 0 || h.corrected > corrects(c->maps))
        return wrong(x, "holds a step that a map corrected which the problem does not have");
    int relaxed = h.corrected && relaxes(c->maps);
    if (relaxed ? !part_allowed(h.part) : h.part != 0)
        return wrong(x, "holds a step of which relaxation kept no part that it may");
    if (h.jacobian > t->count + 1 || h.jacobian < 0) return wrong(x, "holds a step that names another's Jacobian");
    if (counts && !(kept = tape_memory(c, t, counts))) return c->v->status;
    if (kept) memcpy(kept, (const char *)x->data.at + sizeof h, counts);
    record r = {.t = h.t, .h = h.h, .end = h.end, .part = h.part, .held = h.held,
                .degree = h.degree & 0x7fffff, .member = (unsigned)h.member & 0xff,
                .mode = (unsigned)h.mode & 0x1fffffffu,
                .exact = h.exact & 1, .fresh = h.fresh & 1, .corrected = h.corrected & 1,
                .jacobian = (long)h.jacobian, .iterations = kept};
    TRY(tape_grow(c, t));
    TRY(tape_list(c, t, &r, at));
    t->count++;
    return 0;
}

/* the situation after a map, whose number is `to` */
static int read_situation(loader *x, const void *at, int from, int to)
{
    situations *s = &x->t->situations;
    s->relations = x->c->maps->nrelations;
    if (s->relations == 0) return 0;
    const situation *read = at;
    int number = situation_number(s, read->mode, read->values);
    if (number < 0) return fail(x->c->v, COSTATE_NO_MEMORY, "No memory for the values of %d relations.", s->relations);
    return number == to && from >= 0 && from < s->count ? 0 : wrong(x, "holds relations in another order");
}

static int read_map(loader *x, const frame *f)
{
    const stepper *c = x->c;
    costate_tape *t = x->t;
    journal_map h;
    if (f->bytes < sizeof h) return wrong(x, "holds an event of another size");
    memcpy(&h, x->data.at, sizeof h);
    size_t N = (size_t)c->N, state = N * sizeof(double);
    size_t bytes = words(h.event == CONSISTENT ? state + start_values_bytes(c->n) : tape_event_bytes(c));
    if (f->bytes != sizeof h + bytes + situation_bytes(c) || f->number != (uint32_t)t->maps.count ||
        h.before != t->count || h.number != t->maps.events || h.event < RELATED || h.event == CORRECTED ||
        h.event >= c->maps->nevents + c->maps->nrelations)
        return wrong(x, "holds an event of another size or order");
    if (h.event >= 0 && !h.timed && !c->maps->event[h.event].guard.value)
        return wrong(x, "holds an event where the guard of one without a guard is zero");
    void *memory;
    mapped *e = tape_next_map(c, t, bytes, &memory);
    if (!e) return c->v->status;
    memcpy(memory, (const char *)x->data.at + sizeof h, bytes);
    TRY(read_situation(x, (const char *)x->data.at + sizeof h + bytes, h.from, h.to));
    *e = (mapped){.before = h.before, .event = h.event, .timed = h.timed, .number = h.number, .from = h.from,
                  .to = h.to, .t = h.t, .slope = h.slope, .miss = h.miss, .h = h.h, .level = h.level, .y = memory};
    if (h.event == CONSISTENT) {
        e->y1 = e->y;
        start_values_layout(&e->f, c->n, e->y1 + N);
        e->f.t = h.start;
        e->f.given = h.given;
        e->f.only_values = h.only_values;
        e->f.placed = h.placed;
        e->f.moved = h.moved;
        e->y = NULL;
    } else {
        tape_event_layout(c, e, memory);
        t->maps.events += is_event(e);
    }
    t->maps.count++;
    return 0;
}

/* The state at which the linearisation was computed is that of the last fresh step, or was kept before. */
static int goes_on(loader *x, int64_t source)
{
    int does = 0;
    if (source == 0) return 0;
    const char *last = x->last.at;
    const double *y = last ? (const double *)(const void *)(last + sizeof(journal_fresh)) : NULL;
    if (y && source <= x->t->count) TRY(tape_goes_on(x->c, x->t, (long)source, y, 1, &does));
    return does ? 0 : wrong(x, "holds a state that goes on with a Jacobian of none before it");
}

static int read_fresh(loader *x, const frame *f, uint64_t at)
{
    const stepper *c = x->c;
    costate_tape *t = x->t;
    size_t N = (size_t)c->N, slope = c->maps->residual ? (size_t)c->n : 0;
    journal_fresh h;
    if (f->bytes < sizeof h) return wrong(x, "holds a state of another size");
    memcpy(&h, x->data.at, sizeof h);
    if (h.known > INT_MAX || f->bytes != sizeof h + (N + slope) * sizeof(double) + h.known || h.step != t->count ||
        h.maps != t->maps.count)
        return wrong(x, "holds a state of another size or order");
    const double *y = (const double *)(const void *)((const char *)x->data.at + sizeof h);
    t->fresh.begins = h.begins;
    TRY(goes_on(x, h.source));
    t->fresh.at = at;
    t->fresh.bytes = sizeof *f + f->bytes;
    TRY(t->kept->remakes ? t->kept->remakes->read_fresh(c, t, y, y + N) : tape_keep_slope(c, t, y + N));
    x->fresh = t->count;
    x->maps = t->maps.count;
    buffer spare = x->last;                 /* this frame's data are kept; the next takes the memory of the last one */
    x->last = x->data;
    x->data = spare;
    return 0;
}

static int read_end(loader *x, const frame *f)
{
    if (f->bytes != sizeof x->end + (size_t)x->c->N * sizeof(double)) return wrong(x, "holds an end of another size");
    memcpy(&x->end, x->data.at, sizeof x->end);
    if (x->end.step != x->t->count || x->end.maps != x->t->maps.count)
        return wrong(x, "ends with other steps than it has");
    memcpy(x->t->end, (const char *)x->data.at + sizeof x->end, (size_t)x->c->N * sizeof(double));
    return 0;
}

static int read_frame(loader *x, const frame *f, uint64_t at)
{
    x->ended = f->type == ENDED;
    switch (f->type) {
    case TAKEN: return read_step(x, f, at);
    case MAPPED: return read_map(x, f);
    case FRESH: return read_fresh(x, f, at);
    case ENDED: return read_end(x, f);
    default: return wrong(x, "holds what this library does not know");
    }
}

/* ---- the whole ---- */

static fresh_run fresh_of(const loader *x)
{
    journal_fresh h;
    size_t N = (size_t)x->c->N, slope = x->c->maps->residual ? (size_t)x->c->n : 0;
    memcpy(&h, x->last.at, sizeof h);
    const double *y = (const double *)(const void *)((const char *)x->last.at + sizeof h);
    return (fresh_run){.t = h.t, .t0 = h.t0, .t1 = h.t1, .mode = h.mode, .begins = h.begins, .y = y,
                       .yp = slope ? y + N : NULL, .source = (long)h.source, .known = y + N + slope,
                       .bytes = (size_t)h.known};
}

/* shortens the tape to the steps before the last fresh state */
static void cut(costate_tape *t, const loader *x, const fresh_run *fresh)
{
    t->count = x->fresh;
    t->maps.count = x->maps;
    t->maps.events = 0;
    for (int k = 0; k < t->maps.count; k++) t->maps.events += is_event(&t->maps.list[k]);
    t->from.t1 = fresh->t;
    t->mode = fresh->mode;
    memcpy(t->end, fresh->y, (size_t)x->c->N * sizeof *t->end);
    t->usable = t->count > 0;
}

static int first(loader *x, const costate_problem *P, int to_write, journal_head *h)
{
    frame f;
    int there;
    TRY(frames_open(x->t->frames, x->c->v, to_write));
    TRY(frames_next(x->t->frames, x->c->v, &f, &x->data, &there));
    if (!there) return wrong(x, "holds no tape: its run ended before it began");
    return head(x, &f, P, to_write, h);
}

static int read_frames(loader *x, const costate_problem *P, identity *who)
{
    costate_tape *t = x->t;
    frame f;
    int there;
    journal_head h = {.n = 0};
    int status = first(x, P, who != NULL, &h);
    TRY(space_agree(&x->c->maps->space, status));
    TRY(load_begin(x, &h, P, who));
    for (;;) {
        uint64_t at = t->frames->end;
        TRY(frames_next(t->frames, x->c->v, &f, &x->data, &there));
        if (!there) return 0;
        TRY(read_frame(x, &f, at));
    }
}

/* *whole: the run has ended; otherwise the tape reaches up to its last fresh state */
static int usable(loader *x, int to_write, fresh_run *fresh, int *whole)
{
    costate_tape *t = x->t;
    if (x->fresh >= 0) *fresh = fresh_of(x);
    *whole = x->ended && (!to_write || x->end.complete);
    if (*whole) {
        t->from.t1 = x->end.t;
        t->mode = x->end.mode;
        t->usable = 1;
        return 0;
    }
    if (x->fresh < 0) return wrong(x, "holds no step: its run ended before its first");
    if (to_write && fresh->bytes == 0) return wrong(x, "is of a replay: no run can go on from it");
    cut(t, x, fresh);
    return 0;
}

int tape_load(const stepper *c, costate_tape *t, const costate_problem *P, identity *who, fresh_run *fresh,
              void **memory, int *whole)
{
    loader x = {.c = c, .t = t, .fresh = -1};
    tape_clear(t);
    situations_clear(&t->situations);
    int status = read_frames(&x, P, who);
    if (!status) status = usable(&x, who != NULL, fresh, whole);
    if (!status && !tape_is_valid(t)) status = wrong(&x, "holds steps whose times do not agree");
    free(x.data.at);
    *memory = x.last.at;
    if (status) tape_clear(t);
    return status;
}
