/* memory.c - the memory of a starter: its matrices, their factorisation and vectors; the layout of start values. */
#include <stdlib.h>
#include <string.h>
#include "start/start.h"

size_t start_values_bytes(int n) { return (4 * (size_t)n) * sizeof(double) + 2 * (size_t)n; }

void start_values_layout(start_values *f, int n, void *memory)
{
    double *x = memory;
    size_t k = (size_t)n;
    *f = (start_values){.before = x, .y = x + k, .k = x + 2 * k, .along = x + 3 * k};
    f->unknown = (unsigned char *)(x + 4 * k);
    f->hidden = f->unknown + k;
}

void start_values_copy(start_values *to, int n, const start_values *from, void *memory)
{
    start_values_layout(to, n, memory);
    memcpy(to->before, from->before, start_values_bytes(n));
    to->t = from->t;
    to->given = from->given;
    to->only_values = from->only_values;
    to->placed = from->placed;
    to->moved = from->moved;
}

static void memory_layout(starter *s, cursor *at)
{
    size_t n = (size_t)s->maps->n, entries = equation_plain(s->maps) ? 0 : s->maps->entries;
    int residual = s->maps->residual, high = s->maps->index != NULL;
    TAKE(at, entries, &s->J, &s->Ja, &s->Ma);
    s->M = residual ? take(at, entries) : NULL;
    s->J0 = high ? take(at, entries) : NULL;
    s->M0 = high && residual ? take(at, entries) : NULL;
    TAKE(at, n, &s->r, &s->dx, &s->unit, &s->guess, &s->work, &s->zero, &s->kept, &s->slope, &s->algebraic);
    s->from = take(at, 3 * n);
    double *mine = take(at, start_values_bytes(s->maps->n) / sizeof *mine + 1);
    if (at->base) start_values_layout(&s->mine, s->maps->n, mine);
}

static int factors_init(starter *s)
{
    int code = 0;
    shifts_choose(s->sh);
    s->lu = LS_Init(s->sh->backend, s->maps->n, s->maps->pattern, 0, NULL, NULL, &code);
    if (s->lu) code = LS_Balance(s->lu);
    return code;
}

static int allocate(starter *s)
{
    cursor at = {0};
    memory_layout(s, &at);
    s->block = calloc(at.used + 8, sizeof *s->block);
    if (!s->block)
        return fail(s->maps->v, COSTATE_NO_MEMORY, "No memory for consistent values (%zu doubles).", at.used);
    at = (cursor){s->block, 0};
    memory_layout(s, &at);
    int code = equation_plain(s->maps) ? 0 : factors_init(s);
    if (code) return shifts_failure(s->sh, s->sh->backend, code);
    return s->given.map ? given_init(s) : 0;
}

int starter_init(starter *s, shifts *sh, maps *a, const costate_problem *P)
{
    if (s->ready) return 0;
    starter_free(s);
    *s = (starter){.maps = a, .sh = sh, .w = s->w, .index = P->index, .given.map = P->start.value ? &P->start : NULL};
    TRY(allocate(s));
    s->ready = 1;
    return 0;
}

int starter_columns(starter *s, int m)
{
    if (m <= s->derived.columns) return 0;
    size_t n = (size_t)s->maps->n;
    free(s->derived.V);
    s->derived.columns = 0;
    if (!(s->derived.V = calloc(2 * n * (size_t)m, sizeof *s->derived.V)))
        return fail(s->maps->v, COSTATE_NO_MEMORY, "No memory for %d directions of consistent values.", m);
    s->derived.extra = s->derived.V + n * (size_t)m;
    s->derived.columns = m;
    return 0;
}

int starter_seconds(starter *s, int m)
{
    size_t n = (size_t)s->maps->n;
    if (m <= s->derived.seconds) return 0;
    free(s->derived.second);
    s->derived.seconds = 0;
    if (!(s->derived.second = calloc(n * (3 * (size_t)m + 6), sizeof *s->derived.second)))
        return fail(s->maps->v, COSTATE_NO_MEMORY, "No memory for %d directions of consistent values.", m);
    s->derived.seconds = m;
    return 0;
}

void starter_free(starter *s)
{
    free(s->derived.second);
    LS_Free(s->lu);
    given_free(s);
    free(s->block);
    free(s->derived.V);
}
