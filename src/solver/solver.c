/* solver.c - creates and frees a solver: checks arguments, fills in defaults, sets up the rooms below. */
#include <stdlib.h>
#include "base/grown.h"
#include "base/pattern.h"
#include "maps/callbacks.h"
#include "solver/families.h"
#include "solver/members.h"
#include "solver/options.h"
#include "solver/status.h"
#include "solver/workspace.h"

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

void fresh(costate *c, long source)
{
    if (!source) linearisation_outdate(&c->st.lin);
    if (!source) factors_reset(c->st.fac);
    if (c->st.F->restart) c->st.F->restart(&c->st);
}

/* ---- the rooms below ---- */

/* Passes problem and options to the rooms below. */
static void furnish(costate *c)
{
    c->maps = maps_of(&c->P);
    c->random.count = c->o.gradient_control;
    c->maps.autonomous = c->o.autonomous;
    c->maps.relations.slides = c->o.sliding;
    c->maps.differences = c->o.differences;
    c->maps.user.radius = c->o.spectral_radius;
    c->maps.user.bound = c->o.step_bound;
    c->maps.method = c->st.method->name;
    c->maps.count = &c->count;
    c->maps.v = &c->v;
    c->maps.space = (space){c->o.sum, c->o.sum_ctx, &c->v};
    c->st.maps = &c->maps;
    c->st.v = &c->v;
}

/* The right-hand side of sliding has a dense Jacobian, which only its products know.  It depends on t if a guard does.
   */
static int sliding_possible(costate *c)
{
    if (c->P.nrelations == 0) c->o.sliding = 0;
    if (!c->o.sliding) return 0;
    if (c->P.residual.value || c->P.mass || c->P.jac_is_w)
        return fail(&c->v, COSTATE_BAD_ARGUMENT, "options.sliding is for right-hand sides without a mass matrix and "
                    "with their own Jacobian.");
    for (int k = 0; k < c->P.nrelations; k++)
        if (!has_tangent(&c->P.relation[k].guard))
            return fail(&c->v, COSTATE_MISSING, "problem.relation[%d].guard.tangent is missing: options.sliding needs "
                        "it.", k);
    c->P.jac = NULL;
    c->P.pattern = NULL;
    c->o.autonomous = 0;
    return 0;
}

/* Is J formed, by any member?  Those of a composite method that are not ready may be later. */
static int forms_jacobian(const costate *c)
{
    int does = 0;
    for (int k = 0; k < members_count(&c->st); k++)
        does |= c->works[k].usable && (c->st.members[k].F->is & IMPLICIT) && !c->works[k].sh.matfree;
    return does;
}

/* the maps, with M */
static int equation(costate *c)
{
    const costate_problem *P = &c->P;
    TRY(maps_init(&c->maps, forms_jacobian(c) || P->mass || c->maps.residual, pattern_entries(P->pattern, P->n)));
    return c->st.F->is & DIAGONAL_MASS ? mass_diagonal(&c->maps, NULL) : 0;
}

/* May a step begin with algebraic unknowns that its end depends on?  Stages of Runge-Kutta methods solve the
   constraints themselves; those of Rosenbrock methods start from what is there. */
static int keeps_start(const costate *c)
{
    for (int k = 0; k < members_count(&c->st); k++) {
        unsigned is = c->st.members[k].F->is;
        if (c->works[k].usable && (is & IMPLICIT) && !(is & RUNGE_KUTTA_INVERSE)) return 1;
    }
    return 0;
}

/* Is it known which unknowns are algebraic: by problem.index, or as the zeros of a diagonal M? */
static int algebraic_known(const costate *c)
{
    return c->maps.index || mass_is_diagonal(&c->maps);
}

/* Where M is singular, a run of a Rosenbrock method starts consistently by default: its gradients would otherwise be
   those of fixed algebraic unknowns at t0, whose part in y(t1) vanishes as slowly as the length of the first step.
   With unknowns of index 2 a run ends consistently by default: otherwise their derivatives with respect to times would
   have a lower order, or none, because times change the length of the last step.  Without second products this
   operation could not be differentiated. */
static void consistent_by_default(costate *c)
{
    const costate_map *f = c->P.residual.value ? &c->P.residual : &c->P.rhs;
    int second = c->o.differences || (f->tangent2 && f->adjoint_tangent);
    int unasked = c->o.consistent == 0 && !c->st.sh->matfree, open = unasked && c->maps.index;
    c->ends.checks_start = unasked && c->st.sh->singular && !c->maps.residual && !c->o.sum && !c->P.start.value &&
                      keeps_start(c) && algebraic_known(c);
    if (c->ends.checks_start) c->o.consistent = COSTATE_CONSISTENT_START;
    if (open && second) c->o.consistent |= COSTATE_CONSISTENT_END;
    c->ends.open = open && !second;
    if (c->o.consistent == COSTATE_CONSISTENT_NONE) c->o.consistent = 0;
}

/* ---- the solver ---- */

static int set_up(costate *c, const costate_method *m, const costate_problem *P, const costate_options *o,
                  size_t size)
{
    TRY(grown_read(&c->v, "costate_options", o, size, &c->o, sizeof c->o));
    if (!m && !(m = costate_method_find("auto")))
        return fail(&c->v, COSTATE_BAD_ARGUMENT, "method is NULL: this library was built without the method auto, "
                    "which would be taken.");
    if (!m->of && !family_of(m))
        return fail(&c->v, COSTATE_BAD_ARGUMENT, "Method %s is for boundary value problems: see costate/bvp.h, "
                    "costate_bvp_new.", m->name);
    TRY(problem_sound(&c->v, P));
    TRY(members_new(c, m));
    c->P = *P;
    c->st.n = P->n;
    c->st.np = P->np;
    c->st.nq = P->nq;
    c->st.nm = P->nm;
    c->st.N = P->n + P->nq + P->nm;
    if (!(c->self = identity_new())) return fail(&c->v, COSTATE_NO_MEMORY, "No memory for the solver.");
    TRY(options_fill(c));
    TRY(sliding_possible(c));
    furnish(c);
    TRY(members_choose(c));
    TRY(equation(c));
    c->given = c->o;
    TRY(workspace_prepare(c));
    TRY(members_begin(c));
    consistent_by_default(c);
    if (c->o.consistent) TRY(starter_ready(c));
    TRY(watch_prepare(c));
    TRY(event_slopes_new(&c->slopes, &c->st, stiff_member(&c->st)->sh, &c->P));
    return COSTATE_OK;
}

costate *costate_new_sized(size_t size, const costate_method *m, const costate_problem *P, const costate_options *o)
{
    costate *c = calloc(1, sizeof *c);
    if (!c) return NULL;
    verdict_clear(&c->v);
    c->whole = set_up(c, m, P, o, size) == COSTATE_OK;
    return c;
}

costate *costate_new(const costate_method *m, const costate_problem *P, const costate_options *o)
{
    return costate_new_sized(sizeof *o, m, P, o);
}

void solver_free(costate *c)
{
    if (!c) return;
    if (c->self) atomic_store(&c->self->at_work, 0);
    members_free(c);
    starter_free(&c->start);
    event_slopes_free(c->slopes);
    costate_tape_free(c->own);
    identity_release(c->self);
    free(c->st.lin.J);
    maps_free(&c->maps);
    free(c->d.block);
    free(c->second.block);
    free(c->random.block);
    free(c->watch.guard);
    situations_clear(&c->situations);
    free(c->work.block);
    free(c);
}

double costate_time(const costate *c) { return c ? c->v.t : 0; }
const costate_stats *costate_get_stats(const costate *c) { return c ? &c->count : NULL; }
void costate_reset_stats(costate *c) { if (c) c->count = (costate_stats){0}; }

const char *costate_solver_name(const costate *c)
{
    const shifts *sh = c && c->st.members ? stiff_member(&c->st)->sh : NULL;
    return sh && sh->backend ? shifts_name(sh) : "none";
}
