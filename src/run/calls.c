/* calls.c - the public calls of a solver: only one at a time, and recovery after an exception or longjmp ended a call.
   */
#include "run/run.h"

/* 0: refused.  Only the message changes; the status remains that of the active call. */
static int enter(costate *c, uintptr_t frame)
{
    if (!c || !c->whole) return 1;                  /* begin reports it */
    if (entry_begin(&c->entry, frame) != REFUSED) {
        atomic_store(&c->self->at_work, c->entry.calls);
        return 1;
    }
    int status = c->v.status;
    fail(&c->v, COSTATE_BAD_ARGUMENT, "%s", entry_sentence);
    c->v.status = status;
    return 0;
}

static int leave(costate *c, long call, int status)
{
    if (!c || !c->whole) return status;
    if (!entry_end(&c->entry, call)) return fail(&c->v, COSTATE_BAD_ARGUMENT, "%s", entry_disturbed);
    atomic_store(&c->self->at_work, 0);
    if (c->entry.refused && status == COSTATE_OK) no_error(c);
    c->entry.refused = 0;
    if (c->entry.freed) solver_free(c);
    return status;
}

/* The unused array separates the stack frame of this call from those of its callbacks. */
#define ENTER(c)                                            \
    HOLD_MOAT();                                            \
    if (!enter(c, FRAME)) return COSTATE_BAD_ARGUMENT;      \
    long call = (c) ? (c)->entry.calls : 0

int costate_integrate(costate *c, double t0, double t1, double *y, const double *p, costate_tape *tape)
{
    ENTER(c);
    return leave(c, call, solver_integrate(c, t0, t1, y, p, tape));
}

int costate_integrate_tlm(costate *c, double t0, double t1, double *y, const double *p, int m, double *V,
                          const double *Vp, const costate_times *times, costate_tape *tape)
{
    ENTER(c);
    return leave(c, call, solver_integrate_tlm(c, t0, t1, y, p, m, V, Vp, times, tape));
}

int costate_continue(costate *c, costate_tape *tape, double t1, double *y)
{
    ENTER(c);
    return leave(c, call, solver_continue(c, tape, t1, y));
}

int costate_tangent(costate *c, const costate_tape *tape, int m, double *V, const double *Vp,
                    const costate_times *times, const costate_observations *o)
{
    ENTER(c);
    return leave(c, call, solver_tangent(c, tape, m, V, Vp, times, o));
}

int costate_adjoint(costate *c, const costate_tape *tape, int m, double *lambda, double *mu,
                    const costate_times *times, const costate_observations *o)
{
    ENTER(c);
    return leave(c, call, solver_adjoint(c, tape, m, lambda, mu, times, o));
}

int costate_integrate_adj(costate *c, double t0, double t1, double *y, const double *p, int m, double *lambda,
                          double *mu, const costate_times *times, costate_seed seed, void *ctx)
{
    ENTER(c);
    return leave(c, call, solver_integrate_adj(c, t0, t1, y, p, m, lambda, mu, times, seed, ctx));
}

int costate_hessian(costate *c, const costate_tape *tape, const costate_second *s)
{
    ENTER(c);
    return leave(c, call, solver_hessian(c, tape, s));
}

int costate_gauss_newton(costate *c, const costate_tape *tape, const costate_second *s)
{
    ENTER(c);
    return leave(c, call, solver_gauss_newton(c, tape, s));
}

int costate_replay(costate *c, const costate_tape *tape, double *y, const double *p)
{
    ENTER(c);
    return leave(c, call, solver_replay(c, tape, y, p));
}

int costate_replay_onto(costate *c, const costate_tape *tape, double *y, const double *p, costate_tape *onto)
{
    ENTER(c);
    return leave(c, call, solver_replay_onto(c, tape, y, p, onto));
}

int costate_tape_read(costate *c, costate_tape *tape)
{
    ENTER(c);
    return leave(c, call, solver_tape_read(c, tape));
}

int costate_resume(costate *c, costate_tape *tape, double *y)
{
    ENTER(c);
    return leave(c, call, solver_resume(c, tape, y));
}

int costate_tape_eval(costate *c, const costate_tape *tape, double t, double *y)
{
    ENTER(c);
    return leave(c, call, solver_tape_eval(c, tape, t, y));
}

int costate_consistent(costate *c, double t, double *y, double *yp, const double *p)
{
    ENTER(c);
    return leave(c, call, solver_consistent(c, t, y, yp, p));
}

int costate_check_adjoint(costate *c, double t0, double t1, const double *y, const double *p, costate_report *r)
{
    ENTER(c);
    return leave(c, call, solver_check_adjoint(c, t0, t1, y, p, r));
}

int costate_check_hessian(costate *c, double t0, double t1, const double *y, const double *p, costate_seed2 seed,
                          void *ctx, costate_report *r)
{
    ENTER(c);
    return leave(c, call, solver_check_hessian(c, t0, t1, y, p, seed, ctx, r));
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
