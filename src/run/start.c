/* start.c - consistent values at the start and end of a run, and as a call of its own. */
#include <math.h>
#include <string.h>
#include "run/relations.h"
#include "run/start.h"
#include "solver/arguments.h"
#include "solver/workspace.h"

/* requires c->start.mine.before and .k */
static int find(costate *c, double t, int only_values)
{
    size_t n = (size_t)c->st.n;
    double *whole = c->work.z;
    memset(whole, 0, (size_t)c->st.N * sizeof *whole);
    memcpy(whole, c->start.mine.before, n * sizeof *whole);
    weights(&c->st, whole, c->st.w);
    return start_find(&c->start, t, only_values, &c->start.mine);
}

int make_consistent(costate *c, double t, int only_values)
{
    (only_values ? maps_bind_end : maps_bind_start)(&c->maps, t);
    size_t n = (size_t)c->st.n;
    TRY(starter_ready(c));
    start_values *f = &c->start.mine;
    memcpy(f->before, c->work.y, n * sizeof *f->before);
    if (c->work.yp) memcpy(f->k, c->work.yp, n * sizeof *f->k);
    else memset(f->k, 0, n * sizeof *f->k);
    TRY(find(c, t, only_values));
    memcpy(c->work.y, f->y, n * sizeof *f->y);
    if (c->work.yp) memcpy(c->work.yp, f->k, n * sizeof *f->k);
    return 0;
}

int map_run(costate *c, run *x, int at_end)
{
    TRY(make_consistent(c, x->t, at_end));
    if (x->tape) TRY(tape_map(&c->st, x->tape, &c->start.mine, c->work.y));
    if (!x->d) return 0;
    int status = start_tangent(&c->start, &c->start.mine, x->d->m, c->d.dt, x->Va, (size_t)c->st.N, x->d->Vp);
    return decided(&c->v, status, "the derivative of consistent values");
}

int refuse_algebraic(costate *c, double t)
{
    if (c->st.sh->matfree || !c->maps.residual || c->st.m->is & COSTATE_DAE) return COSTATE_OK;
    costate_point at = equation_point(&c->maps, t, c->work.y, c->work.yp);
    weights(&c->st, c->work.y, c->st.w);
    int status = linearise(&c->maps, 0, &at, c->st.w, &c->st.lin);
    if (status) return status == RETRY ? COSTATE_OK : status;       /* the first step will give a better message */
    c->count.decompositions++;
    int code = LS_Decomp(c->st.sh->mass, 1, 0, NULL, c->st.lin.M);
    if (code < 0) return shifts_failure(c->st.sh, c->st.sh->backend, code);
    if (code == COSTATE_LS_OK) return COSTATE_OK;
    return fail(&c->v, COSTATE_BAD_ARGUMENT, "dF/dy' is singular at t = %.10g: method %s does not keep algebraic "
                "constraints; choose one with the property COSTATE_DAE.", t, c->st.m->name);
}

int solver_consistent(costate *c, double t, double *y, double *yp, const double *p)
{
    TRY(begin(c));
    size_t n = (size_t)c->st.n;
    if (!(fabs(t) < HUGE_VAL)) return fail(&c->v, COSTATE_BAD_ARGUMENT, "t is not finite.");
    TRY(check_vector(c, "y", y, c->st.nm > 0 ? (size_t)c->st.N : n));
    if (yp) TRY(check_vector(c, "yp", yp, n));
    TRY(check_vector(c, "p", p, (size_t)c->st.np));
    TRY(starter_ready(c));
    maps_bind(&c->maps, p);
    TRY(relations_begin(c, NULL, t, y, c->o.mode));
    c->maps.bound.dir = 1;
    maps_bind_start(&c->maps, t);
    verdict_at(&c->v, t);
    start_values *f = &c->start.mine;
    memcpy(f->before, y, n * sizeof *y);
    if (yp) memcpy(f->k, yp, n * sizeof *yp);
    else memset(f->k, 0, n * sizeof *f->k);
    TRY(find(c, t, 0));
    if (yp && f->given) TRY(decided(&c->v, start_slopes(&c->start, f), "y' of consistent values"));
    memcpy(y, f->y, n * sizeof *y);
    if (yp) memcpy(yp, f->k, n * sizeof *yp);
    return COSTATE_OK;
}
