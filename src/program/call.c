/* call.c - one product of a map: constants and inputs into registers, the operations, results out of registers.

   Several threads may call the maps of one program at the same time: registers are on the stack, or, where there are
   many, in a list of blocks from which each call takes one.  A block is allocated when more calls run at the same time
   than ever before. */
#include <stdlib.h>
#include <string.h>
#include "program/program.h"

enum { ON_STACK = 1024 };                   /* registers, 8 kB: threads have stacks of 128 kB or more */

/* ---- registers ---- */

static void lock(struct costate_program *q) { while (atomic_flag_test_and_set(&q->busy)) {} }
static void unlock(struct costate_program *q) { atomic_flag_clear(&q->busy); }

static idle *take_registers(struct costate_program *q)
{
    lock(q);
    idle *taken = q->idle;
    if (taken) q->idle = taken->next;
    unlock(q);
    return taken ? taken : malloc(sizeof *taken + (size_t)q->most * sizeof *taken->registers);
}

static void give_back(struct costate_program *q, idle *taken)
{
    lock(q);
    taken->next = q->idle;
    q->idle = taken;
    unlock(q);
}

void call_free(struct costate_program *q)
{
    while (q->idle) {
        idle *next = q->idle->next;
        free(q->idle);
        q->idle = next;
    }
}

/* ---- inputs and results ---- */

/* an array of a point or direction; NULL: zeros */
static const double *component(const costate_point *q, int space)
{
    switch (space) {
    case LOAD_T: return &q->t;
    case LOAD_Y: return q->y;
    case LOAD_YP: return q->yp;
    case LOAD_P: return q->p;
    default: return q->m;
    }
}

static const double *source(const call *c, int space, int column)
{
    if (space == LOAD_W) return c->w + (size_t)column * (size_t)c->values;
    if (space >= LOAD_ET) return component(c->ex + column, space - LOAD_ET);
    return space >= LOAD_DT ? component(c->dx + column, space - LOAD_DT) : component(c->x, space);
}

static void load(const call *c, int space, int first, int count, int column, double *r)
{
    if (space == LOAD_MODE) {
        *r = c->x->mode;
    } else if (space == LOAD_RELATION) {
        for (int i = 0; i < count; i++) r[i] = c->x->relation ? c->x->relation[first + i] : 0;
    } else {
        const double *from = source(c, space, column);
        if (from) for (int i = 0; i < count; i++) r[i] = from[first + i];
        else for (int i = 0; i < count; i++) r[i] = 0;
    }
}

static double *load_all(const loads *all, const call *c, int column, double *r)
{
    const int32_t *const end = all->of + 3 * all->count;
    for (const int32_t *at = all->of; at < end; r += at[2], at += 3) load(c, at[0], at[1], at[2], column, r);
    return r;
}

static double *gradient(const costate_gradient *g, int guard)
{
    switch (guard) {
    case OF_T: return g->t;
    case OF_Y: return g->y;
    case OF_YP: return g->yp;
    case OF_P: return g->p;
    default: return g->m;
    }
}

static void compute_part(const part *p, const call *c, int column, double *r)
{
    double *const to = p->guard ? gradient(c->g + column, p->guard) : NULL;
    if (p->guard && !to) return;
    compute(p->code, p->words, r);
    if (p->guard) {
        for (int k = 0; k < 2 * p->results; k += 2) to[p->result[k]] += r[p->result[k + 1]];
        for (int k = 0; k < p->products; k++) array_add_outer(p->product + k * OUTER_RESULT, r, to);
    } else if (p->results) {
        double *out = c->out + (size_t)column * (size_t)c->values;
        for (int k = 0; k < p->results; k++) out[k] = r[p->result[k]];
    }
}

static void compute_all(const routine *f, const call *c, double *r)
{
    if (f->constants) memcpy(r, f->constant, (size_t)f->constants * sizeof *r);
    double *const columns = load_all(&f->point, c, 0, r + f->constants);
    compute(f->code, f->words, r);
    for (int column = 0; column < c->count; column++) {
        load_all(&f->column, c, column, columns);
        for (int k = 0; k < f->parts; k++) compute_part(f->part + k, c, column, r);
    }
}

int call_routine(const routine *f, struct costate_program *q, const call *c)
{
    if (f->registers <= ON_STACK) {
        double r[ON_STACK];
        compute_all(f, c, r);
        return 0;
    }
    idle *taken = take_registers(q);
    if (!taken) return COSTATE_NO_MEMORY;
    compute_all(f, c, taken->registers);
    give_back(q, taken);
    return 0;
}
