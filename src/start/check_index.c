/* check_index.c - the public check of a problem: its maps, and whether problem.index is its index.

   If it is, the Newton matrix for consistent values (start.h) is regular at x, structurally and numerically. */
#include <math.h>
#include <stdlib.h>
#include "base/pattern.h"
#include "maps/check.h"
#include "start/start.h"

/* what a starter needs of a solver */
typedef struct {
    verdict v;
    costate_stats count;
    costate_options o;
    maps maps;
    shifts sh;
    starter start;
    double *block, *w;
} bare;

static int lay_out(bare *b)
{
    for (int pass = 0; pass < 2; pass++) {
        cursor at = {b->block, 0};
        b->w = take(&at, (size_t)(b->maps.n + b->maps.nq));
        maps_layout(&b->maps, &at);
        maps_layout_columns(&b->maps, &at, 1);
        if (!pass && !(b->block = calloc(at.used + 8, sizeof *b->block)))
            return fail(&b->v, COSTATE_NO_MEMORY, "No memory for the check.");
    }
    return COSTATE_OK;
}

static int check_index_make(bare *b, const costate_problem *P, const costate_point *x)
{
    size_t n = (size_t)P->n, entries = pattern_entries(P->pattern, P->n);
    verdict_clear(&b->v);
    b->maps = maps_of(P);
    b->maps.method = "";
    b->maps.count = &b->count;
    b->maps.v = b->maps.space.v = &b->v;
    TRY(maps_init(&b->maps, 1, entries));
    TRY(lay_out(b));
    b->maps.bound.w = b->w;
    for (size_t i = 0; i < n; i++) b->w[i] = 1 / (1e-6 + 1e-6 * fabs(x->y[i]));
    maps_bind(&b->maps, x->p);
    maps_bind_step(&b->maps, x->m, P->nrelations > 0 ? -1 : x->mode);
    b->maps.bound.mode = x->mode;
    b->maps.bound.relation = x->relation;
    b->sh = (shifts){.maps = &b->maps, .v = &b->v, .o = &b->o};
    TRY(shifts_init(&b->sh));
    b->start.w = b->w;
    return starter_init(&b->start, &b->sh, &b->maps, P);
}

static void discard(bare *b)
{
    starter_free(&b->start);
    shifts_free(&b->sh);
    maps_free(&b->maps);
    free(b->block);
}

static int check_index(const costate_problem *P, const costate_point *x, costate_report *r, int *wrong)
{
    bare b = {.o = {.solver = COSTATE_LS_AUTO}};
    int status = check_index_make(&b, P, x);
    if (status == COSTATE_OK) status = start_index(&b.start, x);
    discard(&b);
    if (status == COSTATE_OK) return COSTATE_OK;
    check_adds(r, "index WRONG: %s", status == RETRY ? cause_text(b.v.why) : b.v.text);
    if (status == RETRY) return cause_status(b.v.why);
    if (status != COSTATE_BAD_ARGUMENT && status != COSTATE_SINGULAR) return status;
    *wrong = 1;
    return COSTATE_OK;
}

static int check_all(const costate_problem *P, const costate_point *x, costate_report *rhs, costate_report *cost)
{
    int wrong = 0;
    TRY(check_problem_maps(P, x, rhs, cost, &wrong));
    if (P->index && !wrong) TRY(check_index(P, x, rhs, &wrong));
    return wrong ? COSTATE_CHECK_FAILED : COSTATE_OK;
}

int check_problem(const costate_problem *P, const costate_point *x, costate_report *rhs, costate_report *cost)
{
    check_clear(cost);
    check_clear(rhs);
    TRY(check_given_problem(P, x, rhs));
    if (P->nrelations == 0 || x->relation) return check_all(P, x, rhs, cost);
    int *values = calloc((size_t)P->nrelations, sizeof *values);
    if (!values) return check_no_memory(rhs);
    costate_point at = *x;
    int code = relations_at(P, &at, values);
    int status = code == 0 ? check_all(P, &at, rhs, cost)
                           : check_says(rhs, code > 0 ? RETRY : COSTATE_CALLBACK,
                                        "A guard of problem.relation returned %d.", code);
    free(values);
    return status;
}

int costate_check_problem(const costate_problem *P, const costate_point *x, costate_report *rhs, costate_report *cost)
{
    costate_report unused;
    if (!cost) cost = &unused;
    check_clear(cost);
    return rhs ? check_status(check_problem(P, x, rhs, cost)) : COSTATE_BAD_ARGUMENT;
}
