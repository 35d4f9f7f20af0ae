/* refuse.c - which methods this problem and these options allow. */
#include "maps/callbacks.h"
#include "solver/members.h"
#include "solver/workspace.h"

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

/* A member of a composite method that takes the preconditioner as its matrix, where that is one. */
static int with_splitting(costate *c)
{
    const costate_preconditioner *p = c->o.preconditioner;
    int any = c->o.solver == COSTATE_LS_AUTO || c->o.solver == COSTATE_LS_PRECONDITIONER;
    if (c->o.solver == COSTATE_LS_PRECONDITIONER && (!p || !has_solve(p)))
        return fail(&c->v, COSTATE_MISSING, "options.solver = COSTATE_LS_PRECONDITIONER needs options.preconditioner "
                    "with its solve or solves.");
    if (!p || !p->splits || !has_solve(p) || !any || c->o.backend || c->o.ilu || c->P.jac_is_w)
        return fail(&c->v, COSTATE_MISSING, "The member %s of %s takes a preconditioner as its matrix if it is linear "
                    "with an exact transpose, which preconditioner.splits = 1 says; other methods with that solver are "
                    "w6s4os and ros34pw2.", c->st.m->name, c->st.method->name);
    c->st.F = c->st.F->fixed;
    return 0;
}

/* A matrix of the user's, the preconditioner or W, as the matrix of the stages: another table of the family. */
static int with_matrix(costate *c)
{
    const costate_method *m = c->st.m;
    const costate_preconditioner *p = c->o.preconditioner;
    int own = c->o.solver == COSTATE_LS_PRECONDITIONER && !c->o.backend;
    const char *what = own ? "options.solver = COSTATE_LS_PRECONDITIONER" : "problem.jac_is_w = 1";
    if (c->st.method->of && c->st.method->of->member[c->st.at].splits) return with_splitting(c);
    if (!own && !c->P.jac_is_w) return 0;
    if (own && c->st.method->of && p && p->splits && has_solve(p) && !(c->st.F->is & IMPLICIT)) return 0;
    if (c->st.method->of)
        return fail(&c->v, COSTATE_BAD_ARGUMENT, "%s: the composite method %s solves with f_y; take a W-method, as "
                    "w6s4os or ros34pw2.", what, c->st.method->name);
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

/* Between the ends of a step constraints do not hold. */
static int refuse_relaxation(costate *c)
{
    if (!relaxes(&c->maps)) return COSTATE_OK;
    if (c->st.m->order < 2 && !c->st.method->of)
        return fail(&c->v, COSTATE_BAD_ARGUMENT, "problem.after_step.invariant: method %s is of order 1; relaxation "
                    "needs order 2.", c->st.m->name);
    if (guards(c) > 0)
        return fail(&c->v, COSTATE_BAD_ARGUMENT, "problem.after_step.invariant: relaxation changes where steps end, "
                    "and this problem has guards, which are located in steps; project onto the invariant instead "
                    "(costate_projection_after_step).");
    if (!c->maps.residual && !c->st.sh->singular) return COSTATE_OK;
    return fail(&c->v, COSTATE_BAD_ARGUMENT, "problem.after_step.invariant: relaxation takes a part of each step, "
                "where %s does not hold; project onto the invariant instead (costate_projection_after_step).",
                c->maps.residual ? "problem.residual" : "a constraint (M is singular)");
}

int refuse_singular(costate *c)
{
    TRY(refuse_relaxation(c));
    if (!c->st.sh->singular || c->maps.residual) return COSTATE_OK;
    if (c->st.sh->held)
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

static int refuse_spread(costate *c)
{
    int matfree = (c->o.solver == COSTATE_LS_GMRES || c->o.solver == COSTATE_LS_PRECONDITIONER) && !c->o.backend;
    if (!c->o.sum || !(c->st.F->is & IMPLICIT) || matfree) return COSTATE_OK;
    return fail(&c->v, COSTATE_BAD_ARGUMENT, "options.sum: a factorisation knows one process alone; implicit methods "
                "take options.solver = COSTATE_LS_GMRES there.");
}

/* Each stage of a step must lie in the step, as behind a stop f is another one. */
static int refuse_stops(costate *c, const costate_method *m)
{
    for (int i = 0; c->P.nstops > 0 && m->c && i < m->s; i++)
        if (!(m->c[i] >= -1e-12 && m->c[i] <= 1 + 1e-12))
            return fail(&c->v, COSTATE_BAD_ARGUMENT, "problem.stops: method %s evaluates f outside of its steps (c = "
                        "%.3g), beyond a stop; take another one.", m->name, m->c[i]);
    return COSTATE_OK;
}

int refuse_method(costate *c)
{
    TRY(refuse_stops(c, c->st.m));
    TRY(with_matrix(c));
    TRY(refuse_residual(c));
    TRY(refuse_index(c));
    return refuse_spread(c);
}
