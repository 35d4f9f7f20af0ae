/* serves.c (lanes) - what lanes serve: problems, options, methods and callbacks, each with its reason if not. */
#include <string.h>
#include "lanes/setup.h"
#include "linsol/backends.h"
#include "linsol/few.h"
#include "solver/arguments.h"
#include "solver/status.h"
#include "step/option_table.h"

static const char *of_problem(const costate_problem *P, const lane_task *t)
{
    if (P->residual.value) return "the problem is a residual";
    if (P->mass) return "the problem has a mass matrix";
    if (P->nm > 0) return "the problem has memory variables";
    if (P->nevents > 0) return "the problem has events";
    if (P->nstops > 0) return "the problem has stops";
    if (P->nrelations > 0) return "the problem has relations";
    if (has_after_step(P)) return "the problem has a map after each step";
    if (P->index) return "the problem has algebraic unknowns";
    if (P->nq > 0 && (!P->cost.value || !t->maps->cost.value)) return "the lanes lack cost.value";
    return t->maps->rhs.value ? NULL : "the lanes lack rhs.value";
}

static const char *of_options(const costate_options *o, const lane_task *t)
{
    unsigned alone = OPTION_ALONE;
    if (t->d > 0) alone |= OPTION_ALONE_TANGENTS;
    if (t->k > 0) alone |= OPTION_ALONE_ADJOINTS;
    for (const option *x = option_table; x->name; x++)
        if (x->is & alone && option_value(o, x) > x->most_in_lanes) return x->alone;
    return NULL;
}

typedef struct { int tangent, tangent2, adjoint, adjoint_tangent, adjoint_tangent2; } wanted;

static const char *lacks(const costate_lane_map *f, int cost, wanted w)
{
    if (w.tangent && !f->tangent) return cost ? "the lanes lack cost.tangent" : "the lanes lack rhs.tangent";
    if (w.tangent2 && !f->tangent2) return cost ? "the lanes lack cost.tangent2" : "the lanes lack rhs.tangent2";
    if (w.adjoint && !f->adjoint) return cost ? "the lanes lack cost.adjoint" : "the lanes lack rhs.adjoint";
    if (w.adjoint_tangent && !f->adjoint_tangent)
        return cost ? "the lanes lack cost.adjoint_tangent" : "the lanes lack rhs.adjoint_tangent";
    if (w.adjoint_tangent2 && !f->adjoint_tangent2)
        return cost ? "the lanes lack cost.adjoint_tangent2" : "the lanes lack rhs.adjoint_tangent2";
    return NULL;
}

static const char *of_products(const costate *c, const lane_task *t)
{
    int ros = c->st.F->is & IMPLICIT, d = t->d > 0, k = t->k > 0;
    const costate_lane_maps *a = t->maps;
    const char *why = ros && !a->jac ? "the lanes lack jac" : NULL;
    wanted rhs = {d || (ros && !c->o.autonomous), ros && d, k, (ros && k) || t->second, ros && t->second}, cost = rhs;
    cost.tangent = d || ros;
    if (!why) why = lacks(&a->rhs, 0, rhs);
    if (!why && t->P->nq > 0) why = lacks(&a->cost, 1, cost);
    return why;
}

/* the linear solver of the runs alone: the same bits are had densely, or by the functions of the maps */
static const char *of_solver(const costate *c, const lane_task *t)
{
    const shifts *s = c->st.sh;
    if (!(c->st.F->is & IMPLICIT)) return NULL;
    if (s->held || s->matfree || !c->P.jac || c->P.jac_is_w) return "the linear solver needs no exact Jacobian";
    if (t->maps->factor && t->maps->solve && s->backend == t->maps->backend) return NULL;
    if (s->backend != &LS_dense) return "the linear solver is neither dense nor that of the lanes";
    return c->st.n > LS_FEW ? "there are more than 32 states" : NULL;
}

/* steps are chosen by errors here (of_options), so that the method has an estimate */
static const char *of_method(const costate *c)
{
    if (c->st.method->of) return "the method is composite";
    return c->st.F->lanes == NO_LANES ? "the method is neither explicit nor Rosenbrock" : NULL;
}

const char *lanes_refuse_task(const lane_task *t)
{
    const char *why = of_problem(t->P, t);
    return why || !t->o ? why : of_options(t->o, t);
}

const char *lanes_refuse(costate *c, const lane_task *t)
{
    if (costate_status(c)) return "the solver is refused";
    const char *why = of_method(c);
    if (!why) why = of_solver(c, t);
    if (!why) why = of_products(c, t);
    if (!why && maps_available(c, NULL, FORWARD, 0, 0)) why = "a callback is missing";
    if (!why && t->d && maps_available(c, NULL, TANGENT, t->with_Vp, 0)) why = "a product is missing";
    if (!why && t->k && maps_available(c, NULL, ADJOINT, t->with_mu, 0)) why = "a product is missing";
    if (!why && t->second && maps_available(c, NULL, SECOND, t->with_mu || t->with_mu2 || t->with_Vp, 0))
        why = "a product is missing";
    if (costate_status(c)) no_error(c);
    return why;
}
