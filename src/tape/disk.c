/* disk.c - the store that keeps everything in a file: steps are written as they are accepted, and read one by one. */
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include "tape/journal.h"

typedef struct {
    lease busy;
    size_t N, slope, doubles;   /* doubles of y; of y' of a residual, else 0; of a step */
    size_t counts, frame;       /* bytes */
    unsigned char *memory, *read;   /* read: the frame of `step`, -1: of none */
    double *slot[2];
    int turn, step, last_fresh, begins;
    int before, source;         /* the fresh step before that one; whose linearisation went on; -1: none */
    double *yp;                 /* where a run of a residual begins, in the tape's memory */
    uint64_t *at;               /* of each step in the file */
    int room;
    size_t bytes;
} disk;

/* Every LENGTH-th step is fresh: a run that is killed loses at most so many steps. */
enum { LENGTH = 20 };

static int no_memory(const stepper *c) { return fail(c->v, COSTATE_NO_MEMORY, "No memory for the tape's file."); }

static int begin(const stepper *c, costate_tape *t)
{
    disk *x = calloc(1, sizeof *x);
    if (!x) return no_memory(c);
    t->own = x;
    atomic_flag_clear(&x->busy.guard);
    if (t->length == 0) t->length = LENGTH;
    x->N = (size_t)c->N;
    x->slope = c->maps->residual ? (size_t)c->n : 0;
    x->doubles = x->N + x->slope + (size_t)c->s * (size_t)c->n;
    x->counts = counts_bytes(c);
    x->frame = sizeof(frame) + sizeof(journal_step) + x->counts + x->doubles * sizeof(double);
    x->step = x->source = x->before = -1;
    size_t slot = x->doubles * sizeof(double), all = 2 * slot + x->frame;
    if (!(x->memory = malloc(all))) return no_memory(c);
    for (int k = 0; k < 2; k++) x->slot[k] = (double *)(void *)(x->memory + (size_t)k * slot);
    x->read = x->memory + 2 * slot;
    x->bytes = sizeof *x + all;
    return 0;
}

static int is_fresh(const costate_tape *t, int begins)
{
    disk *x = t->own;
    int due = begins || t->count == 0 || t->count - x->last_fresh >= t->length;
    if (due) { x->before = x->last_fresh; x->last_fresh = t->count; }
    x->begins = begins;
    return due;
}

/* The state at which it was computed is in the file. */
static int source(const stepper *c, costate_tape *t, int j, const double *y, int told, int *goes_on)
{
    disk *x = t->own;
    (void)c; (void)y; (void)told;
    *goes_on = j == x->before || j == x->source;
    if (*goes_on) x->source = j;
    return 0;
}

/* Two places are used in turn, because the step before is still needed.  Iteration counts, and y' where a run begins,
   stay in memory. */
static int slot(const stepper *c, costate_tape *t, const double *y, const place *spare, record *r, place *to)
{
    disk *x = t->own;
    double *at = x->slot[x->turn], *yp = NULL;
    *to = (place){at + x->N + x->slope, spare->iterations};
    if (x->counts && !(to->iterations = tape_memory(c, t, x->counts))) return c->v->status;
    if (x->slope && x->begins && !(yp = tape_memory(c, t, x->slope * sizeof *yp))) return c->v->status;
    x->yp = yp;
    memcpy(at, y, x->N * sizeof *y);
    if (x->slope) memcpy(at + x->N, r->yp, x->slope * sizeof *y);
    if (yp) memcpy(yp, r->yp, x->slope * sizeof *yp);
    *r = (record){.fresh = r->fresh, .y = at, .yp = x->slope ? at + x->N : NULL, .X = to->X,
                  .iterations = to->iterations};
    return 0;
}

/* step count of the tape, whose frame is in the file: into the lists */
static int keep(const stepper *c, costate_tape *t, const record *r, uint64_t at)
{
    disk *x = t->own;
    if (t->count == x->room) {
        int room = x->room ? 2 * x->room : 64;
        uint64_t *more = realloc(x->at, (size_t)room * sizeof *more);
        if (!more) return no_memory(c);
        x->bytes += (size_t)(room - x->room) * sizeof *more;
        x->at = more;
        x->room = room;
    }
    x->at[t->count] = at;
    t->list[t->count] = *r;
    t->list[t->count].y = t->list[t->count].X = NULL;
    t->list[t->count].yp = x->yp;
    x->yp = NULL;
    if (!x->counts) t->list[t->count].iterations = NULL;
    if (r->fresh) x->last_fresh = t->count;
    return 0;
}

static int read_fresh(const stepper *c, costate_tape *t, int begins, const double *y, const double *yp)
{
    disk *x = t->own;
    (void)y;
    if (!begins || !x->slope) return 0;
    if (!(x->yp = tape_memory(c, t, x->slope * sizeof *yp))) return c->v->status;
    memcpy(x->yp, yp, x->slope * sizeof *yp);
    return 0;
}

static int put(const stepper *c, costate_tape *t, const record *r)
{
    disk *x = t->own;
    uint64_t at;
    TRY(journal_step_taken(c, t, r, &at));
    x->turn = !x->turn;
    return keep(c, t, r, at);
}

static int get(const costate_tape *t, int k, const reader *who, int stages, record *r)
{
    disk *x = t->own;
    (void)stages;
    if (x->step != k) {
        x->step = -1;
        int status = file_read(t->file, who->st->v, x->at[k], x->frame - sizeof(frame), x->read, who->back);
        TRY(space_agree(&who->st->maps->space, status));
        x->step = k;
    }
    const unsigned char *counts = x->read + sizeof(frame) + sizeof(journal_step);
    const double *y = (const double *)(const void *)(counts + x->counts);
    *r = t->list[k];
    r->y = y;
    r->yp = x->slope ? y + x->N : NULL;
    r->X = y + x->N + x->slope;
    return 0;
}

static size_t bytes(const costate_tape *t) { return t->own ? ((const disk *)t->own)->bytes : 0; }
static lease *one(const costate_tape *t) { return &((disk *)t->own)->busy; }
static void mend(const costate_tape *t) { ((disk *)t->own)->step = -1; }

static void clear(costate_tape *t)
{
    disk *x = t->own;
    if (!x) return;
    lease_end(&x->busy);
    free(x->memory);
    free(x->at);
    free(x);
    t->own = NULL;
}

const store disk_store = {
    .writes = 1, .begin = begin, .slot = slot, .put = put, .get = get, .clear = clear, .is_fresh = is_fresh,
    .source = source, .read_step = keep, .read_fresh = read_fresh,
    .bytes = bytes, .one = one, .mend = mend
};
