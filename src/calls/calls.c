/* calls.c - the public calls of a solver: only one at a time, and recovery after an exception or longjmp ended a call.
   */
#include "checks/check.h"
#include "estimates/accuracy.h"
#include "run/integrate.h"
#include "run/resume.h"
#include "run/start.h"
#include "solver/status.h"
#include "sweeps/output.h"
#include "sweeps/replay.h"
#include "sweeps/second.h"
#include "sweeps/sweep.h"

static int enter(costate *c, uintptr_t frame)
{
    if (!c || !c->whole) return 1;                  /* begin reports it */
    if (entry_begin(&c->entry, frame) == REFUSED) return entry_refuse(&c->v);
    atomic_store(&c->self->at_work, c->entry.calls);
    return 1;
}

static int leave(costate *c, long call, int status)
{
    if (!c || !c->whole) return status;
    if (!entry_end(&c->entry, &c->v, call)) return COSTATE_BAD_ARGUMENT;
    atomic_store(&c->self->at_work, 0);
    if (c->entry.refused && status == COSTATE_OK) no_error(c);
    if (c->entry.freed) solver_free(c);
    return status;
}

int costate_integrate(costate *c, double t0, double t1, double *y, const double *p, costate_tape *tape)
{
    GATE(c, solver_integrate(c, t0, t1, y, p, tape));
}

int costate_integrate_tlm(costate *c, double t0, double t1, double *y, const double *p, int m, double *V,
                          const double *Vp, const costate_times *times, costate_tape *tape)
{
    GATE(c, solver_integrate_tlm(c, t0, t1, y, p, m, V, Vp, times, tape));
}

int costate_continue(costate *c, costate_tape *tape, double t1, double *y)
{
    GATE(c, solver_continue(c, tape, t1, y));
}

int costate_tangent(costate *c, const costate_tape *tape, int m, double *V, const double *Vp,
                    const costate_times *times, const costate_observations *o)
{
    GATE(c, solver_tangent(c, tape, m, V, Vp, times, o));
}

int costate_adjoint(costate *c, const costate_tape *tape, int m, double *lambda, double *mu,
                    const costate_times *times, const costate_observations *o)
{
    GATE(c, solver_adjoint(c, tape, m, lambda, mu, times, o));
}

int costate_integrate_adj(costate *c, double t0, double t1, double *y, const double *p, int m, double *lambda,
                          double *mu, const costate_times *times, costate_seed seed, void *ctx)
{
    GATE(c, solver_integrate_adj(c, t0, t1, y, p, m, lambda, mu, times, seed, ctx));
}

int costate_hessian(costate *c, const costate_tape *tape, const costate_second *s)
{
    GATE(c, solver_hessian(c, tape, s));
}

int costate_gauss_newton(costate *c, const costate_tape *tape, const costate_second *s)
{
    GATE(c, solver_gauss_newton(c, tape, s));
}

int costate_replay(costate *c, const costate_tape *tape, double *y, const double *p)
{
    GATE(c, solver_replay(c, tape, y, p));
}

int costate_replay_onto(costate *c, const costate_tape *tape, double *y, const double *p, costate_tape *onto)
{
    GATE(c, solver_replay_onto(c, tape, y, p, onto));
}

int costate_tape_read(costate *c, costate_tape *tape)
{
    GATE(c, solver_tape_read(c, tape));
}

int costate_resume(costate *c, costate_tape *tape, double *y)
{
    GATE(c, solver_resume(c, tape, y));
}

int costate_tape_eval(costate *c, const costate_tape *tape, double t, double *y)
{
    GATE(c, solver_tape_eval(c, tape, t, y));
}

int costate_consistent(costate *c, double t, double *y, double *yp, const double *p)
{
    GATE(c, solver_consistent(c, t, y, yp, p));
}

int costate_check_adjoint(costate *c, double t0, double t1, const double *y, const double *p, costate_report *r)
{
    GATE(c, solver_check_adjoint(c, t0, t1, y, p, r));
}

int costate_check_matrix(costate *c, double t, double h, const double *y, const double *p, costate_report *r)
{
    GATE(c, solver_check_matrix(c, t, h, y, p, r));
}

int costate_check_run(costate *c, double t0, double t1, const double *y, const double *p, costate_review *r)
{
    GATE(c, solver_check_run(c, t0, t1, y, p, r));
}

int costate_check_hessian(costate *c, double t0, double t1, const double *y, const double *p, costate_seed2 seed,
                          void *ctx, costate_report *r)
{
    GATE(c, solver_check_hessian(c, t0, t1, y, p, seed, ctx, r));
}

void costate_abandon(costate *c)
{
    if (!c || !c->whole) return;
    c->entry.left = c->entry.busy;
    atomic_store(&c->self->at_work, 0);
}

void costate_free(costate *c)
{
    if (c && c->whole && entry_begin(&c->entry, FRAME) == REFUSED) c->entry.freed = 1;
    else solver_free(c);
}

int (costate_accuracy)(costate *c, const costate_tape *tape, const costate_functional *F, costate_estimate *e)
{
    GATE(c, solver_accuracy(c, tape, F, e));
}

int (costate_gradient_within)(costate *c, double t0, double t1, double *y, const double *p, const costate_functional *F,
                              costate_goal *g, costate_tape *tape)
{
    GATE(c, solver_gradient_within(c, t0, t1, y, p, F, g, tape));
}
