/* solver.c - a solver made and freed: arguments checked, defaults filled in, work space laid out in one block. */
#include <stdlib.h>
#include <string.h>
#include "run/run.h"

int begin(costate *c)
{
    if (!c) return COSTATE_BAD_ARGUMENT;
    if (!c->arena) return c->v.status;        /* costate_new failed: its sentence stays */
    c->v.status = COSTATE_OK;
    no_error(c);
    return COSTATE_OK;
}

void forget(costate *c)
{
    c->st.lin.serial = 0;
    factors_forget(c->st.fac);
    c->stamp++;
}

/* ---- arguments ---- */

static int check_problem(costate *c)
{
    const costate_problem *P = &c->P;
    if (P->n <= 0) return fail(&c->v, COSTATE_BAD_ARGUMENT, "problem.n = %d: at least one state is needed.", P->n);
    if (P->np < 0) return fail(&c->v, COSTATE_BAD_ARGUMENT, "problem.np = %d is negative.", P->np);
    if (P->nq < 0) return fail(&c->v, COSTATE_BAD_ARGUMENT, "problem.nq = %d is negative.", P->nq);
    if (P->n > (1 << 30) || P->np > (1 << 30) || P->nq > (1 << 30) - P->n)
        return fail(&c->v, COSTATE_BAD_ARGUMENT, "problem.n, np or n + nq is larger than 2^30.");
    if (!P->rhs.value) return fail(&c->v, COSTATE_MISSING, "problem.rhs.value is missing.");
    if (P->nq > 0 && !P->cost.value)
        return fail(&c->v, COSTATE_MISSING, "problem.cost.value is missing, but nq = %d.", P->nq);
    const char *fault = P->pattern ? pattern_fault(P->pattern, P->n) : NULL;
    return fault ? fail(&c->v, COSTATE_BAD_ARGUMENT, "problem.pattern: %s", fault) : COSTATE_OK;
}

/* ---- memory ---- */

static void layout(costate *c, cursor *at)
{
    stepper *st = &c->st;
    size_t n = (size_t)st->n, N = (size_t)st->N, s = (size_t)st->s;
    c->y = take(at, N);
    c->y1 = take(at, N);
    c->err = take(at, N);
    c->f = take(at, N);
    c->z = take(at, N);
    c->ended.y = take(at, N);
    c->ended.p = take(at, (size_t)st->np);
    c->clock = take(at, 4);
    for (int k = 0; k < 2; k++) {
        c->scratch[k].X = take(at, s * n);
        c->scratch[k].iterations = (unsigned char *)take(at, s);
    }
    st->w = take(at, N);
    if (st->F->is & IMPLICIT) st->lin.y = take(at, n);
    maps_layout(&c->maps, at);
    shifts_layout(&c->sh, at);
    st->F->layout(st, at);
}

/* What the rooms below are told of the problem and the options. */
static void furnish(costate *c)
{
    const costate_problem *P = &c->P;
    c->maps = (maps){.n = P->n, .np = P->np, .nq = P->nq, .ctx = P->ctx, .user_rhs = P->rhs, .user_cost = P->cost,
                     .jac = P->jac, .pattern = P->pattern, .autonomous = c->o.autonomous,
                     .differences = c->o.differences, .method = c->st.m->name, .count = &c->count, .v = &c->v};
    c->sh = (shifts){.maps = &c->maps, .v = &c->v, .o = &c->o};
    c->st.maps = &c->maps;
    c->st.sh = &c->sh;
    c->st.v = &c->v;
    c->st.o = &c->o;
}

/* The maps with M; J of the step. */
static int matrices(costate *c)
{
    const costate_problem *P = &c->P;
    size_t entries = P->pattern ? (size_t)P->pattern->col[c->st.n] : (size_t)c->st.n * (size_t)c->st.n;
    int formed = (c->st.F->is & IMPLICIT) && !c->sh.matfree;
    if (c->sh.matfree && !P->pattern && !P->mass && !P->jac) entries = 0;
    TRY(maps_init(&c->maps, P, formed, entries));
    if (!formed) return COSTATE_OK;
    if (!(c->st.lin.J = calloc(entries + 1, sizeof *c->st.lin.J)))
        return fail(&c->v, COSTATE_NO_MEMORY, "No memory for the Jacobian (%zu entries).", entries);
    return COSTATE_OK;
}

static int refuse_singular(costate *c)
{
    if (!c->sh.singular) return COSTATE_OK;
    if (c->st.F->is & REGULAR_MASS)
        return fail(&c->v, COSTATE_BAD_ARGUMENT, "The mass matrix is singular: the explicit method %s needs a regular "
                    "one.", c->st.m->name);
    if (!(c->st.m->is & COSTATE_DAE))
        return fail(&c->v, COSTATE_BAD_ARGUMENT, "The mass matrix is singular: method %s does not keep algebraic "
                    "constraints; choose one with the property COSTATE_DAE.", c->st.m->name);
    return COSTATE_OK;
}

/* One block for all forward arrays: laid out twice, first to count. */
static int arena(costate *c)
{
    cursor at = {0};
    layout(c, &at);
    double *block = calloc(at.used + 8, sizeof *block);
    if (!block) return fail(&c->v, COSTATE_NO_MEMORY, "No memory for the work space (%zu doubles).", at.used);
    at = (cursor){block, 0};
    layout(c, &at);
    c->maps.w = c->st.w;
    c->arena = block;
    return COSTATE_OK;
}

int columns_prepare(costate *c, int m)
{
    if (m <= c->d.columns) return COSTATE_OK;
    size_t n = (size_t)c->st.n, N = (size_t)c->st.N, s = (size_t)c->st.s, k = (size_t)m;
    double *block = NULL;
    for (;;) {
        cursor at = {block, 0};
        c->d.dt = take(&at, k);
        c->d.dh = take(&at, k);
        c->d.t = take(&at, k);
        c->d.h = take(&at, k);
        c->d.V = take(&at, N * k);
        c->d.X = take(&at, s * n * k);
        c->d.U = take(&at, s * n * k);
        c->d.seed = take(&at, s * n * k);
        c->d.w = take(&at, n * k);
        c->d.sum = take(&at, n * k);
        c->d.tau = take(&at, 3 * k);
        c->st.F->layout_derivatives(&c->st, &at, m);
        if (block) break;
        free(c->d.block);
        c->d.block = NULL;
        c->d.columns = 0;
        if (!(block = calloc(at.used + 8, sizeof *block)))
            return fail(&c->v, COSTATE_NO_MEMORY, "No memory for %d directions (%zu doubles).", m, at.used);
    }
    c->d.block = block;
    c->d.columns = m;
    return COSTATE_OK;
}

/* ---- the solver ---- */

/* in the order of enum costate_family */
static const family *const families[] = {&erk_family, &sdirk_family, &firk_family, &ros_family};

static int set_up(costate *c, const costate_method *m, const costate_problem *P, const costate_options *o)
{
    if (!m) return fail(&c->v, COSTATE_BAD_ARGUMENT, "method is NULL (costate_method_find knows no such name?).");
    if (!P) return fail(&c->v, COSTATE_BAD_ARGUMENT, "problem is NULL.");
    c->st.m = m;
    c->st.F = families[m->family];
    c->P = *P;
    if (o) c->o = *o;
    c->st.n = P->n;
    c->st.np = P->np;
    c->st.nq = P->nq;
    c->st.s = m->s;
    if (!(c->self = identity_new())) return fail(&c->v, COSTATE_NO_MEMORY, "No memory for the solver.");
    TRY(check_problem(c));
    c->st.N = P->n + P->nq;
    TRY(options_fill(c));
    furnish(c);
    if ((c->st.F->is & IMPLICIT) || P->mass) TRY(shifts_init(&c->sh));
    TRY(matrices(c));
    options_newton(c);
    TRY(c->st.F->prepare(&c->st));
    TRY(refuse_singular(c));
    TRY(arena(c));
    if (c->st.F->ready) c->st.F->ready(&c->st);
    return COSTATE_OK;
}

costate *costate_new(const costate_method *m, const costate_problem *P, const costate_options *o)
{
    costate *c = calloc(1, sizeof *c);
    if (!c) return NULL;
    strcpy(c->v.text, "No error.");
    set_up(c, m, P, o);          /* where it fails, the verdict stays: see begin */
    return c;
}

void costate_free(costate *c)
{
    if (!c) return;
    if (c->st.F) c->st.F->free(c->st.own);
    factors_release(c->st.fac);
    shifts_free(&c->sh);
    costate_tape_free(c->own);
    identity_release(c->self);
    free(c->st.lin.J);
    maps_free(&c->maps);
    free(c->d.block);
    free(c->arena);
    free(c);
}

double costate_time(const costate *c) { return c ? c->v.t : 0; }
const costate_stats *costate_get_stats(const costate *c) { return c ? &c->count : NULL; }
void costate_reset_stats(costate *c) { if (c) c->count = (costate_stats){0}; }

const char *costate_solver_name(const costate *c)
{
    if (!c || !c->sh.backend) return "none";
    return c->sh.matfree ? "gmres" : c->sh.backend->name;
}
