/* steps.c - the steps of a tape: in its memory, or on its medium, from which they are read one by one. */
#include <stdlib.h>
#include <string.h>
#include "tape/journal.h"

/* Every EVERY-th step of a tape on a medium is fresh: a run that is killed loses at most so many steps. */
enum { EVERY = 20 };

int tape_has_stages(const costate_tape *t, int k)
{
    return !t->kept->remakes && (!t->kept->stages || t->kept->stages(t, k));
}

void step_place(size_t N, size_t slope, double *at, record *r, place *to)
{
    memcpy(at, r->y, N * sizeof *at);
    if (slope) memcpy(at + N, r->yp, slope * sizeof *at);
    r->y = at;
    r->yp = slope ? at + N : NULL;
    r->X = to->X = at + N + slope;
}

/* ---- in memory: forward writes stages directly to their final place ---- */

/* A rejected step keeps its slot: the caller uses the same record for the next try. */
static int memory_slot(const stepper *c, costate_tape *t, const place *spare, record *r, place *to)
{
    size_t s = (size_t)c->s, N = (size_t)c->N, slope = c->maps->residual ? (size_t)c->n : 0;
    size_t doubles = N + slope + (spare ? 0 : stage_doubles(c, c->s));
    double *memory = tape_memory(c, t, doubles * sizeof *memory + words(s));
    if (!memory) return c->v->status;
    to->iterations = (unsigned char *)(memory + doubles);
    step_place(N, slope, memory, r, to);
    if (spare) r->X = to->X = spare->X;
    return 0;
}

/* ---- on a medium ---- */

typedef struct {
    owned owned;
    size_t N, slope;            /* doubles of y; of y' of a residual, else 0 */
    size_t behind;              /* doubles behind the stages */
    size_t most;                /* the most doubles of a step */
    double *memory;             /* of two steps */
    int turn, step;             /* step: whose body was read last; -1: none */
    const double *body;         /* of it */
    uint64_t *at;               /* of each step on the medium */
    int room;
} bodies;

/* of step k, by this member of the tape's method */
static size_t doubles_of(const costate_tape *t, const bodies *x, int k, int member)
{
    size_t stages = (size_t)method_member(t->method, member)->s * (size_t)t->problem.n + x->behind;
    return x->N + x->slope + (tape_has_stages(t, k) ? stages : 0);
}

size_t step_doubles(const costate_tape *t, int member)
{
    return t->kept->remakes ? 0 : doubles_of(t, t->own, t->count, member);
}

static int no_memory(const stepper *c) { return fail(c->v, COSTATE_NO_MEMORY, "No memory for the tape's file."); }

static void empty(const costate_tape *t) { (void)t; }

static void clear(const costate_tape *t)
{
    bodies *x = t->own;
    free(x->memory);
    free(x->at);
}

static const owning bodies_owned = {sizeof(bodies), empty, clear};

/* memory of two steps */
static int two_steps(bodies *x, size_t most)
{
    if (x->memory && x->most == most) return 1;
    free(x->memory);
    x->owned.bytes -= x->memory ? 2 * x->most * sizeof *x->memory : 0;
    x->memory = malloc(2 * most * sizeof *x->memory);
    x->owned.bytes += x->memory ? 2 * most * sizeof *x->memory : 0;
    x->most = most;
    return x->memory != NULL;
}

int steps_begin(const stepper *c, costate_tape *t)
{
    if (t->kept->remakes) return t->kept->remakes->begin(c, t);
    if (!t->frames) return tape_disown(t), 0;
    bodies *x = tape_own(t, &bodies_owned);
    if (!x) return no_memory(c);
    if (t->fresh.every == 0) t->fresh.every = EVERY;
    x->N = (size_t)c->N;
    x->slope = c->maps->residual ? (size_t)c->n : 0;
    x->behind = stage_doubles(c, 0);
    x->turn = 0;
    x->step = -1;
    if (!two_steps(x, x->N + x->slope + stage_doubles(c, c->most))) return no_memory(c);
    size_t bytes = x->most * sizeof *x->memory;
    return frames_reserve(t->frames, c->v, sizeof(journal_step) + words((size_t)c->most) + bytes);
}

int step_counts(const stepper *c, costate_tape *t, place *to)
{
    size_t bytes = counts_bytes(c, c->at);
    if (bytes == 0) return 0;
    if (!(to->iterations = tape_memory(c, t, bytes))) return c->v->status;
    memset(to->iterations, 0, bytes);
    return 0;
}

int tape_keep_slope(const stepper *c, costate_tape *t, const double *yp)
{
    size_t bytes = (size_t)c->n * sizeof *yp;
    t->fresh.yp = NULL;
    if (!t->fresh.begins || !c->maps->residual) return 0;
    if (!(t->fresh.yp = tape_memory(c, t, bytes))) return c->v->status;
    memcpy(t->fresh.yp, yp, bytes);
    return 0;
}

/* Two places are used in turn, because the step before is still needed.  Iteration counts, and y' where a run begins,
   stay in memory. */
static int medium_slot(const stepper *c, costate_tape *t, record *r, place *to)
{
    const bodies *x = t->own;
    TRY(step_counts(c, t, to));
    TRY(tape_keep_slope(c, t, r->yp));
    step_place(x->N, x->slope, x->memory + (size_t)x->turn * x->most, r, to);
    return 0;
}

/* an accepted step whose frame begins at `at`: only what stays in memory */
static int list_medium(const stepper *c, costate_tape *t, record *r, uint64_t at)
{
    bodies *x = t->own;
    void *list = x->at;
    TRY(tape_longer(c, t, &list, t->count, &x->room, 64, sizeof *x->at, &x->owned.bytes));
    x->at = list;
    x->at[t->count] = at;
    x->turn = !x->turn;
    r->y = r->X = NULL;
    r->yp = t->fresh.yp;
    t->fresh.yp = NULL;
    return 0;
}

static int medium_get(const costate_tape *t, int k, const reader *who, record *r)
{
    bodies *x = t->own;
    if (x->step != k) {
        int member = (int)t->list[k].member;
        size_t before = sizeof(journal_step) + counts_bytes(who->st, member);
        size_t bytes = before + doubles_of(t, x, k, member) * sizeof(double);
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

/* ---- either ---- */

int tape_slot(const stepper *c, costate_tape *t, const double *y, const place *spare, record *r, place *to)
{
    TRY(tape_grow(c, t));
    if (t->kept->remakes) return t->kept->remakes->slot(c, t, y, spare, r, to);
    *to = *spare;
    *r = (record){.fresh = r->fresh, .y = y, .yp = r->yp};
    TRY(t->frames ? medium_slot(c, t, r, to) : memory_slot(c, t, tape_has_stages(t, t->count) ? NULL : spare, r, to));
    r->iterations = to->iterations;
    return 0;
}

/* the h for which the matrix of the step was made */
static double matrix_h(const record *r) { return r->held ? r->held : r->h; }

/* does the step before use the same factorisations, so that they were counted there? */
static int again(const costate_tape *t, const record *to)
{
    if (t->count == 0) return 0;
    const record *before = to - 1;
    int same = to->held || before->jacobian == to->jacobian;
    return same && matrix_h(before) == matrix_h(to);
}

static void keep_factors(const stepper *c, costate_tape *t, record *to)
{
    if (!c->fac || c->sh->matfree || c->fac->h != matrix_h(to) || !t->factors.on) return;
    int first = c->fac->refs == 1;
    size_t more = first ? factors_bytes(c->fac) : 0;
    if (!tape_has_room(t, more) || more > t->factors.most - t->factors.bytes) {
        c->maps->count->factors_not_kept += !again(t, to);
        return;
    }
    to->kept = c->fac;
    c->fac->refs++;
    t->factors.bytes += more;
    t->factors.sets += first;
    c->maps->count->factors_kept += first;
}

int tape_list(const stepper *c, costate_tape *t, const record *r, uint64_t at)
{
    record *to = &t->list[t->count];
    *to = *r;
    to->kept = NULL;
    if (t->frames && !t->kept->remakes) TRY(list_medium(c, t, to, at));
    if (r->fresh) t->fresh.last = t->count;
    return 0;
}

int tape_commit(const stepper *c, costate_tape *t, const record *r)
{
    record now = *r;
    uint64_t at = 0;
    if (t->kept->remakes) now.y = now.yp = NULL;
    if (!tape_has_stages(t, t->count)) now.X = NULL;
    if (!counts_bytes(c, (int)r->member)) now.iterations = NULL;
    TRY(journal_step_taken(c, t, &now, &at));
    TRY(tape_list(c, t, &now, at));
    keep_factors(c, t, &t->list[t->count]);
    t->count++;
    return 0;
}

int tape_get(const costate_tape *t, int k, const reader *who, int stages, record *r)
{
    if (t->kept->remakes) TRY(t->kept->remakes->get(t, k, who, r));
    else if (t->frames) TRY(medium_get(t, k, who, r));
    else *r = t->list[k];
    TRY(stepper_take(who->st, (int)t->list[k].member));
    if (t->from.writer != who->self) r->kept = NULL;
    return r->X || !stages ? 0 : who->one(who, t, k, r);
}

const double *tape_slope(const costate_tape *t, int k)
{
    return t->kept->remakes ? t->kept->remakes->slope(t, k) : t->list[k].yp;
}

/* ---- fresh steps ---- */

int tape_is_fresh(costate_tape *t, int begins)
{
    t->fresh.begins = begins;
    return t->fresh.every && (begins || t->count == 0 || t->count - t->fresh.last >= t->fresh.every);
}

/* Only that of the last fresh step, or one that was allowed before: early ones must leave memory to later ones. */
int tape_goes_on(const stepper *c, costate_tape *t, long serial, const double *y, int told, int *does)
{
    int j = (int)serial - 1;
    *does = 0;
    if (serial < 1 || serial > t->count || !t->fresh.every) return 0;
    *does = j == t->fresh.source || j == t->fresh.last;
    if (*does && j != t->fresh.source && t->kept->remakes)
        TRY(t->kept->remakes->keep_source(c, t, j, y, told, does));
    if (*does) t->fresh.source = j;
    return 0;
}
