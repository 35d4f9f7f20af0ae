/* one_step.c - a stepper set up by hand: maps, work space in one block, and a record of the step taken last. */
#include <stdlib.h>
#include <string.h>
#include "family_trial.h"

static void layout(one_step *a, cursor *at, int m)
{
    stepper *c = &a->st;
    a->y = take(at, (size_t)c->N);
    a->y1 = take(at, (size_t)c->N);
    a->err = take(at, (size_t)c->N);
    a->X = take(at, (size_t)c->s * (size_t)c->n);
    maps_layout(&a->maps, at);
    c->F->layout(c, at);
    c->F->layout_derivatives(c, at, m);
    if (c->F->layout_second) c->F->layout_second(c, at, m - 1);
}

int one_step_new(one_step *a, const family *F, const costate_method *method, const costate_problem *P, int m,
                 shifts *sh)
{
    a->maps = maps_of(P);
    a->maps.method = method->name;
    a->maps.count = &a->count;
    a->maps.v = a->maps.space.v = &a->v;
    if (sh) *sh = (shifts){.maps = &a->maps, .v = &a->v, .o = &a->o, .n = P->n};
    a->st = (stepper){.m = method, .method = method, .F = F, .o = &a->o, .maps = &a->maps, .sh = sh, .v = &a->v,
                      .n = P->n, .np = P->np, .nq = P->nq, .N = P->n + P->nq, .s = method->s};
    TRY(maps_init(&a->maps, 0, (size_t)P->n * (size_t)P->n));
    TRY(F->prepare(&a->st));
    cursor at = {0};
    layout(a, &at, m);
    if (!(a->work = calloc(at.used, sizeof *a->work))) return fail(&a->v, COSTATE_NO_MEMORY, "No memory.");
    at = (cursor){a->work, 0};
    layout(a, &at, m);
    if (F->ready) F->ready(&a->st);
    return 0;
}

void one_step_begin(one_step *a, double t, const double *y, const double *p)
{
    memset(a->y, 0, (size_t)a->st.N * sizeof *a->y);
    memcpy(a->y, y, (size_t)a->st.n * sizeof *a->y);
    maps_bind(&a->maps, p);
    a->r.end = t;
}

int one_step_take(one_step *a, double h)
{
    trial by = {.cautious = 1, .estimate = 1, .to = {.X = a->X}, .y1 = a->y1, .err = a->err};
    a->r = (record){.t = a->r.end, .h = h, .end = a->r.end + h, .y = a->y, .X = a->X};
    return a->st.F->forward(&a->st, &a->r, &by);
}

void one_step_go_on(one_step *a) { memcpy(a->y, a->y1, (size_t)a->st.N * sizeof *a->y); }

void one_step_free(one_step *a)
{
    if (a->st.F) a->st.F->free(a->st.own);
    maps_free(&a->maps);
    free(a->work);
}
