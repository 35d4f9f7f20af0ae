/* solver.c - creates and frees a solver: checks arguments, fills in defaults, sets up the rooms below. */
#include <stdlib.h>
#include "base/pattern.h"
#include "maps/callbacks.h"
#include "run/families.h"
#include "run/run.h"

int begin(costate *c)
{
    if (!c) return COSTATE_BAD_ARGUMENT;
    if (!c->whole) return c->v.status;             /* keep the message of costate_new */
    no_error(c);
    event_slopes_forget(c->slopes);
    c->st.random = (random_columns){0, NULL};       /* after a call that was left */
    return COSTATE_OK;
}

void claim(costate *c) { c->stamp++; }

void forget(costate *c)
{
    linearisation_outdate(&c->st.lin);
    factors_forget(c->st.fac);
    claim(c);
}

/* ---- the rooms below ---- */

/* Passes problem and options to the rooms below. */
static void furnish(costate *c)
{
    c->maps = maps_of(&c->P);
    c->random.count = c->o.gradient_control;
    c->maps.autonomous = c->o.autonomous;
    c->maps.differences = c->o.differences;
    c->maps.user.radius = c->o.spectral_radius;
    c->maps.method = c->st.m->name;
    c->maps.count = &c->count;
    c->maps.v = &c->v;
    c->maps.space = (space){c->o.sum, c->o.sum_ctx, &c->v};
    c->sh = (shifts){.maps = &c->maps, .v = &c->v, .o = &c->o};
    c->st.maps = &c->maps;
    c->st.sh = &c->sh;
    c->st.v = &c->v;
    c->st.o = &c->o;
}

/* Allocates the maps with M, and J of a step. */
static int matrices(costate *c)
{
    if (c->o.sum && (c->st.F->is & IMPLICIT) && !c->sh.matfree)
        return fail(&c->v, COSTATE_BAD_ARGUMENT, "options.sum: a factorisation knows one process alone; implicit "
                    "methods take options.solver = COSTATE_LS_GMRES there.");
    const costate_problem *P = &c->P;
    size_t entries = pattern_entries(P->pattern, P->n);
    int formed = (c->st.F->is & IMPLICIT) && !c->sh.matfree;
    TRY(maps_init(&c->maps, formed || P->mass || c->maps.residual, entries));
    if (c->st.F->is & DIAGONAL_MASS) TRY(mass_diagonal(&c->maps, NULL));
    if (!formed) return COSTATE_OK;
    size_t both = (c->maps.residual ? 2 : 1) * entries;
    if (!(c->st.lin.J = calloc(both + 1, sizeof *c->st.lin.J)))
        return fail(&c->v, COSTATE_NO_MEMORY, "No memory for the Jacobian (%zu entries).", entries);
    c->st.lin.M = c->maps.residual ? c->st.lin.J + entries : c->maps.M;
    return COSTATE_OK;
}

/* F(t, y, y', p) = 0 is for methods whose stages are all implicit */
static int refuse_residual(costate *c)
{
    const costate_method *m = c->st.m;
    if (!c->P.residual.value) return COSTATE_OK;
    if (!(c->st.F->is & RUNGE_KUTTA_INVERSE))
        return fail(&c->v, COSTATE_BAD_ARGUMENT, "Method %s solves M y' = f, not problem.residual: take one of the "
                    "families sdirk or firk, as radau2a.", m->name);
    if (m->is & COSTATE_EXPLICIT_FIRST)
        return fail(&c->v, COSTATE_BAD_ARGUMENT, "Method %s has an explicit first stage, which needs y' = f: for "
                    "problem.residual take a method without one, as sdirk4a or radau2a.", m->name);
    for (int i = 0; c->P.index && i < c->P.n; i++)
        if (c->P.index[i] > 0 && !(m->is & COSTATE_DAE))
            return fail(&c->v, COSTATE_BAD_ARGUMENT, "problem.index calls y[%d] algebraic: method %s does not keep "
                        "algebraic constraints; choose one with the property COSTATE_DAE.", i, m->name);
    if (c->o.estimator == COSTATE_EST_SDIRK)
        return fail(&c->v, COSTATE_BAD_ARGUMENT, "options.estimator = COSTATE_EST_SDIRK needs f(t, y): "
                    "problem.residual takes COSTATE_EST_CLASSICAL.");
    return COSTATE_OK;
}

/* A matrix of the user's, the preconditioner or W, as the matrix of the stages: another table of the family. */
static int with_matrix(costate *c)
{
    const costate_method *m = c->st.m;
    const costate_preconditioner *p = c->o.preconditioner;
    int own = c->o.solver == COSTATE_LS_PRECONDITIONER && !c->o.backend;
    const char *what = own ? "options.solver = COSTATE_LS_PRECONDITIONER" : "problem.jac_is_w = 1";
    if (!own && !c->P.jac_is_w) return 0;
    if (!c->st.F->fixed || !(m->is & COSTATE_W_METHOD))
        return fail(&c->v, COSTATE_BAD_ARGUMENT, "%s: method %s does not keep its order with another matrix than f_y; "
                    "take a W-method, as w6s4os or ros34pw2.", what, m->name);
    if (own && (!p || !has_solve(p)))
        return fail(&c->v, COSTATE_MISSING, "%s needs options.preconditioner with its solve or solves.", what);
    if (own && c->o.ilu)
        return fail(&c->v, COSTATE_BAD_ARGUMENT, "options.ilu is for COSTATE_LS_GMRES: it is not the matrix of a "
                    "W-method.");
    if (!own && !c->P.jac)
        return fail(&c->v, COSTATE_MISSING, "%s: problem.jac, which returns W, is missing.", what);
    if (!own && c->o.solver == COSTATE_LS_GMRES && !c->o.backend)
        return fail(&c->v, COSTATE_BAD_ARGUMENT, "%s: COSTATE_LS_GMRES solves with products of f_y, not with W; take "
                    "a direct solver, or COSTATE_LS_PRECONDITIONER.", what);
    c->st.F = c->st.F->fixed;
    return 0;
}

static int refuse_index(costate *c)
{
    const costate_method *m = c->st.m;
    if (!c->maps.index || (c->st.F->is & RUNGE_KUTTA_INVERSE)) return COSTATE_OK;
    return fail(&c->v, COSTATE_BAD_ARGUMENT, "problem.index names unknowns of index 2: method %s is for index 1 at "
                "most; take radau2a, radau2a5 or lobatto3c.", m->name);
}

static int refuse_singular(costate *c)
{
    if (!c->sh.singular || c->maps.residual) return COSTATE_OK;
    if (c->sh.held)
        return fail(&c->v, COSTATE_BAD_ARGUMENT, "The mass matrix is singular: W-methods with a matrix other than f_y "
                    "need a regular one.");
    if (c->st.F->is & REGULAR_MASS)
        return fail(&c->v, COSTATE_BAD_ARGUMENT, "The mass matrix is singular: the explicit method %s needs a regular "
                    "one.", c->st.m->name);
    if (!(c->st.m->is & COSTATE_DAE))
        return fail(&c->v, COSTATE_BAD_ARGUMENT, "The mass matrix is singular: method %s does not keep algebraic "
                    "constraints; choose one with the property COSTATE_DAE.", c->st.m->name);
    return COSTATE_OK;
}

/* With unknowns of index 2 a run ends consistently by default: otherwise their derivatives with respect to times would
   have a lower order, or none, because times change the length of the last step.  Without second products this
   operation could not be differentiated. */
static void consistent_by_default(costate *c)
{
    const costate_map *f = c->P.residual.value ? &c->P.residual : &c->P.rhs;
    int second = c->o.differences || (f->tangent2 && f->adjoint_tangent);
    int open = c->o.consistent == 0 && c->maps.index && !c->sh.matfree;
    if (open && second) c->o.consistent = COSTATE_CONSISTENT_END;
    c->open_end = open && !second;
    if (c->o.consistent == COSTATE_CONSISTENT_NONE) c->o.consistent = 0;
}

/* ---- the solver ---- */

static int set_up(costate *c, const costate_method *m, const costate_problem *P, const costate_options *o)
{
    if (!m) return fail(&c->v, COSTATE_BAD_ARGUMENT, "method is NULL: costate_method_find knows no method of the "
                        "name that it was given; costate_method_near finds those with names like it.");
    if (!(c->st.F = family_of(m)))
        return fail(&c->v, COSTATE_BAD_ARGUMENT, "Method %s is for boundary value problems: see costate/bvp.h, "
                    "costate_bvp_new.", m->name);
    TRY(problem_sound(&c->v, P));
    c->st.m = m;
    c->P = *P;
    if (o) c->o = *o;
    c->st.n = P->n;
    c->st.np = P->np;
    c->st.nq = P->nq;
    c->st.nm = P->nm;
    c->st.N = P->n + P->nq + P->nm;
    c->st.s = m->s;
    if (!(c->self = identity_new())) return fail(&c->v, COSTATE_NO_MEMORY, "No memory for the solver.");
    TRY(options_fill(c));
    TRY(with_matrix(c));
    TRY(refuse_residual(c));
    furnish(c);
    TRY(refuse_index(c));
    if ((c->st.F->is & IMPLICIT) || P->mass) TRY(shifts_init(&c->sh));
    TRY(matrices(c));
    TRY(c->st.F->prepare(&c->st));
    c->given = c->o;
    options_newton(c);                  /* depends on whether M is regular */
    TRY(refuse_singular(c));
    TRY(workspace_prepare(c));
    if (c->st.F->ready) c->st.F->ready(&c->st);
    consistent_by_default(c);
    if (c->o.consistent) TRY(starter_ready(c));
    TRY(watch_prepare(c));
    TRY(event_slopes_new(&c->slopes, &c->st, &c->sh, &c->P));
    return COSTATE_OK;
}

costate *costate_new(const costate_method *m, const costate_problem *P, const costate_options *o)
{
    costate *c = calloc(1, sizeof *c);
    if (!c) return NULL;
    verdict_clear(&c->v);
    c->whole = set_up(c, m, P, o) == COSTATE_OK;
    return c;
}

void solver_free(costate *c)
{
    if (!c) return;
    if (c->self) atomic_store(&c->self->at_work, 0);
    if (c->st.F) c->st.F->free(c->st.own);
    factors_release(c->st.fac);
    starter_free(&c->start);
    event_slopes_free(c->slopes);
    shifts_free(&c->sh);
    costate_tape_free(c->own);
    identity_release(c->self);
    free(c->st.lin.J);
    maps_free(&c->maps);
    free(c->d.block);
    free(c->second.block);
    free(c->random.block);
    free(c->watch.guard);
    free(c->work.block);
    free(c);
}

double costate_time(const costate *c) { return c ? c->v.t : 0; }
const costate_stats *costate_get_stats(const costate *c) { return c ? &c->count : NULL; }
void costate_reset_stats(costate *c) { if (c) c->count = (costate_stats){0}; }

const char *costate_solver_name(const costate *c)
{
    if (!c || !c->sh.backend) return "none";
    return shifts_name(&c->sh);
}
