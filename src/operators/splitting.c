/* splitting.c - costate_splitting: its memory, and when its matrices are read and factored. */
#include <stdlib.h>
#include <string.h>
#include "base/pattern.h"
#include "operators/mass.h"
#include "operators/splitting.h"

static int no_memory(costate_splitting *s)
{
    return fail(&s->v, COSTATE_NO_MEMORY, "No memory for the parts of the splitting (n = %d, %d parts).", s->n,
                s->count);
}

static int make_matrix(costate_splitting *s, int j)
{
    summand *a = &s->parts[j];
    int r, n = s->n;
    const costate_pattern *in = a->given.pattern;
    a->ls = LS_Init(LS_Choose(a->given.solver, n, in), n, in, 0, NULL, NULL, &r);
    if (!a->ls && r != COSTATE_LS_NO_MEMORY)
        return fail(&s->v, COSTATE_BACKEND, "The linear solver of parts[%d] failed (code %d).", j, r);
    if (!a->ls) return no_memory(s);
    a->A = calloc(pattern_entries(in, n) + 1, sizeof *a->A);
    a->scaled = calloc(pattern_entries(in, n) + 1, sizeof *a->scaled);
    return a->A && a->scaled ? 0 : no_memory(s);
}

static int make_lines(costate_splitting *s, int j)
{
    summand *a = &s->parts[j];
    const costate_part *g = &a->given;
    return lines_new(&a->along, (size_t)s->n, (size_t)g->points, (size_t)g->stride, g->periodic, s->mass != NULL)
           ? 0 : no_memory(s);
}

/* room for the lines of any part: no more keys than lines, at most n; each point has its words in one key */
static int make_room(costate_splitting *s)
{
    size_t n = (size_t)s->n, bundles = 0, most = 0;
    lines_room *r = &s->room;
    for (int j = 0; j < s->count; j++) {
        if (s->parts[j].ls) continue;
        if (s->parts[j].along.lines > most) most = s->parts[j].along.lines;
        if (s->parts[j].along.bundles > bundles) bundles = s->parts[j].along.bundles;
    }
    if (!most) return 0;
    r->raw = malloc(3 * n * sizeof *r->raw);
    r->line.keys = malloc((s->mass ? 4 : 3) * n * sizeof(double));
    r->line.place = malloc(intern_places(most) * sizeof *r->line.place);
    r->bundle.keys = malloc(bundles * (LANES + 1) * sizeof(double));
    r->bundle.place = malloc(intern_places(bundles) * sizeof *r->bundle.place);
    return r->raw && r->line.keys && r->line.place && r->bundle.keys && r->bundle.place ? 0 : no_memory(s);
}

static int setup(double sigma, const costate_point *x, void *ctx)
{
    costate_splitting *s = ctx;
    size_t bytes = (size_t)s->np * sizeof *s->p;
    if (s->broken) return s->v.status;
    verdict_clear(&s->v);
    if (!s->was_read || (bytes && memcmp(s->p, x->p, bytes))) {
        s->was_read = s->factored = 0;
        TRY(splitting_read(s, x));
        if (bytes) memcpy(s->p, x->p, bytes);
        s->was_read = 1;
    }
    if (s->factored && sigma == s->sigma) return 0;
    s->factored = 0;
    TRY(splitting_factor(s, sigma));
    s->factored = 1;
    return 0;
}

static int solves(int transpose, int count, double *X, void *ctx)
{
    costate_splitting *s = ctx;
    if (s->broken) return s->v.status;
    verdict_clear(&s->v);
    if (!s->factored)
        return fail(&s->v, COSTATE_BAD_ARGUMENT, "The operator of a splitting is applied without a setup that "
                    "succeeded.");
    return splitting_solve(s, transpose, count, X);
}

static int operators_splitting_solve(int transpose, double *x, void *ctx) { return solves(transpose, 1, x, ctx); }

static int splitting_make(costate_splitting *s, const costate_problem *P, int count, const costate_part *parts)
{
    TRY(splitting_given(s, P, count, parts));
    s->n = P->n;
    s->np = P->np;
    TRY(mass_read_diagonal(&s->v, P, &s->mass));
    s->p = calloc((size_t)s->np + 1, sizeof *s->p);
    s->parts = calloc((size_t)count, sizeof *s->parts);
    if (!s->p || !s->parts) return no_memory(s);
    for (s->count = 0; s->count < count;) {
        int j = s->count++;
        s->parts[j].given = parts[j];
        if (!parts[j].ctx) s->parts[j].given.ctx = P->ctx;
        TRY(parts[j].lines ? make_lines(s, j) : make_matrix(s, j));
    }
    return make_room(s);
}

costate_splitting *costate_splitting_new(const costate_problem *P, int count, const costate_part *parts)
{
    costate_splitting *s = calloc(1, sizeof *s);
    if (!s) return NULL;
    verdict_clear(&s->v);
    s->operator = (costate_preconditioner){.setup = setup, .solve = operators_splitting_solve, .ctx = s,
                                           .solves = solves, .splits = 1};
    s->broken = splitting_make(s, P, count, parts) != 0;
    return s;
}

void costate_splitting_free(costate_splitting *s)
{
    if (!s) return;
    for (int j = 0; j < s->count; j++) {
        summand *a = &s->parts[j];
        LS_Free(a->ls);
        free(a->A);
        free(a->scaled);
        lines_free(&a->along);
    }
    free(s->parts);
    free(s->mass);
    free(s->p);
    free(s->room.raw);
    free(s->room.line.keys);
    free(s->room.line.place);
    free(s->room.bundle.keys);
    free(s->room.bundle.place);
    free(s);
}

const costate_preconditioner *costate_splitting_preconditioner(costate_splitting *s) { return s ? &s->operator : NULL; }

int costate_splitting_status(const costate_splitting *s) { return s ? s->v.status : COSTATE_NO_MEMORY; }

const char *costate_splitting_message(const costate_splitting *s)
{
    return s ? s->v.text : "No memory for the splitting.";
}
