/* bodies.c - the states and stages of steps: in the tape's memory, or on its medium, where they are read one by one. */
#include <stdlib.h>
#include <string.h>
#include "tape/journal.h"

/* Every EVERY-th step of a tape on a medium is fresh: a run that is killed loses at most so many steps. */
enum { EVERY = 20 };

/* ---- in memory: forward writes stages directly to their final place ---- */

/* A rejected step keeps its slot: the caller uses the same record for the next try. */
static int memory_slot(const stepper *c, costate_tape *t, const double *y, const place *spare, record *r, place *to)
{
    size_t n = (size_t)c->n, s = (size_t)c->s, N = (size_t)c->N, slope = c->maps->residual ? n : 0;
    size_t state = N + slope, doubles = state + (spare ? 0 : s * n);
    double *memory = tape_memory(c, t, doubles * sizeof *memory + words(s));
    if (!memory) return c->v->status;
    *to = (place){spare ? spare->X : memory + state, (unsigned char *)(memory + doubles)};
    memcpy(memory, y, N * sizeof *y);
    if (slope) memcpy(memory + N, r->yp, n * sizeof *y);
    *r = (record){.fresh = r->fresh, .y = memory, .yp = slope ? memory + N : NULL, .X = to->X,
                  .iterations = to->iterations};
    return 0;
}

/* ---- on a medium ---- */

typedef struct {
    owned owned;
    size_t N, slope, stages;    /* doubles of y; of y' of a residual, else 0; of stages */
    size_t counts;              /* bytes */
    double *memory, *slot[2];
    int turn, step;             /* step: whose body was read last; -1: none */
    const double *body;         /* of it */
    double *yp;                 /* where a run of a residual begins, in the tape's memory */
    uint64_t *at;               /* of each step on the medium */
    int room;
} bodies;

static size_t doubles_of(const costate_tape *t, const bodies *x, int k)
{
    return x->N + x->slope + (tape_has_stages(t, k) ? x->stages : 0);
}

size_t body_doubles(const costate_tape *t) { return t->kept->remakes ? 0 : doubles_of(t, t->own, t->count); }

static int no_memory(const stepper *c) { return fail(c->v, COSTATE_NO_MEMORY, "No memory for the tape's file."); }

static void mend(const costate_tape *t) { ((bodies *)t->own)->step = -1; }

static void clear(const costate_tape *t)
{
    bodies *x = t->own;
    free(x->memory);
    free(x->at);
}

int bodies_begin(const stepper *c, costate_tape *t)
{
    if (t->kept->remakes) return t->kept->remakes->begin(c, t);
    if (!t->frames) return 0;
    bodies *x = tape_own(t, sizeof *x, mend, clear);
    if (!x) return no_memory(c);
    if (t->fresh.every == 0) t->fresh.every = EVERY;
    x->N = (size_t)c->N;
    x->slope = c->maps->residual ? (size_t)c->n : 0;
    x->stages = (size_t)c->s * (size_t)c->n;
    x->counts = counts_bytes(c);
    x->step = -1;
    size_t body = x->N + x->slope + x->stages, bytes = body * sizeof *x->memory;
    if (!(x->memory = malloc(2 * bytes))) return no_memory(c);
    for (int k = 0; k < 2; k++) x->slot[k] = x->memory + (size_t)k * body;
    x->owned.bytes += 2 * bytes;
    return frames_reserve(t->frames, c->v, sizeof(journal_step) + x->counts + bytes);
}

int body_slope(const stepper *c, costate_tape *t, const double *yp)
{
    bodies *x = t->own;
    x->yp = NULL;
    if (!t->fresh.begins || !x->slope) return 0;
    if (!(x->yp = tape_memory(c, t, x->slope * sizeof *yp))) return c->v->status;
    memcpy(x->yp, yp, x->slope * sizeof *yp);
    return 0;
}

/* Two places are used in turn, because the step before is still needed.  Iteration counts, and y' where a run begins,
   stay in memory. */
static int medium_slot(const stepper *c, costate_tape *t, const double *y, const place *spare, record *r, place *to)
{
    bodies *x = t->own;
    double *at = x->slot[x->turn];
    *to = (place){at + x->N + x->slope, spare->iterations};
    if (x->counts && !(to->iterations = tape_memory(c, t, x->counts))) return c->v->status;
    memcpy(at, y, x->N * sizeof *y);
    if (x->slope) memcpy(at + x->N, r->yp, x->slope * sizeof *y);
    TRY(body_slope(c, t, r->yp));
    *r = (record){.fresh = r->fresh, .y = at, .yp = x->slope ? at + x->N : NULL, .X = to->X,
                  .iterations = to->iterations};
    return 0;
}

int body_slot(const stepper *c, costate_tape *t, const double *y, const place *spare, record *r, place *to)
{
    if (t->kept->remakes) return t->kept->remakes->slot(c, t, y, spare, r, to);
    if (t->frames) return medium_slot(c, t, y, spare, r, to);
    return memory_slot(c, t, y, tape_has_stages(t, t->count) ? NULL : spare, r, to);
}

int body_listed(const stepper *c, costate_tape *t, record *r, uint64_t at)
{
    bodies *x = t->own;
    if (t->kept->remakes || !t->frames) return 0;
    if (t->count == x->room) {
        int room = x->room ? 2 * x->room : 64;
        uint64_t *more = realloc(x->at, (size_t)room * sizeof *more);
        if (!more) return no_memory(c);
        x->owned.bytes += (size_t)(room - x->room) * sizeof *more;
        x->at = more;
        x->room = room;
    }
    x->at[t->count] = at;
    x->turn = !x->turn;
    r->y = r->X = NULL;
    r->yp = x->yp;
    x->yp = NULL;
    return 0;
}

static int medium_get(const costate_tape *t, int k, const reader *who, record *r)
{
    bodies *x = t->own;
    if (x->step != k) {
        size_t before = sizeof(journal_step) + x->counts, bytes = before + doubles_of(t, x, k) * sizeof(double);
        const void *data = NULL;
        x->step = -1;
        int status = frames_read(t->frames, who->st->v, x->at[k], bytes, who->back, &data);
        TRY(space_agree(&who->st->maps->space, status));
        x->body = (const double *)(const void *)((const char *)data + before);
        x->step = k;
    }
    *r = t->list[k];
    r->y = x->body;
    r->yp = x->slope ? r->y + x->N : NULL;
    r->X = tape_has_stages(t, k) ? r->y + x->N + x->slope : NULL;
    return 0;
}

int body_get(const costate_tape *t, int k, const reader *who, record *r)
{
    if (t->kept->remakes) return t->kept->remakes->get(t, k, who, r);
    if (t->frames) return medium_get(t, k, who, r);
    *r = t->list[k];
    return 0;
}
