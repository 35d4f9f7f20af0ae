/* calls.c (periodic) - the public calls of a solver of periodic orbits: only one at a time, and recovery after an
   exception or longjmp ended a call. */
#include <math.h>
#include <string.h>
#include "periodic/periodic.h"
#include "sweeps/output.h"

/* It is not known what the interrupted call had done. */
static void mend(periodic *o)
{
    o->found = 0;
    costate_abandon(o->c);
}

static int enter(periodic *o, uintptr_t frame)
{
    int left = 0;
    if (!o) return 1;                               /* periodic_begin reports it */
    int goes_on = entry_enter(&o->entry, &o->v, frame, &left);
    if (left) mend(o);
    return goes_on;
}

static int leave(periodic *o, long call, int status)
{
    if (o && entry_leave(&o->entry, &o->v, call, &status)) periodic_free(o);
    return status;
}

/* ---- what is known of the orbit ---- */

static int call_orbit(periodic *o, costate_orbit *out)
{
    TRY(periodic_needs_orbit(o));
    if (!out) return fail(&o->v, COSTATE_BAD_ARGUMENT, "The costate_orbit is NULL.");
    *out = o->orbit;
    return 0;
}

static int call_get(periodic *o, double *X)
{
    TRY(periodic_needs_orbit(o));
    if (!X) return fail(&o->v, COSTATE_BAD_ARGUMENT, "X is NULL.");
    memcpy(X, o->now.y, (size_t)o->n * sizeof *X);
    X[o->n] = o->now.T;
    if (o->nq > 0) memcpy(X + o->n + 1, o->now.end + o->n, (size_t)o->nq * sizeof *X);
    return 0;
}

static int call_eval(periodic *o, double t, double *y)
{
    TRY(periodic_needs_orbit(o));
    if (!isfinite(t) || !y)
        return fail(&o->v, COSTATE_BAD_ARGUMENT, y ? "t = %g is not finite." : "y is NULL.", t);
    double s = fmod(t - o->o.t0, o->now.T);
    s = o->o.t0 + (s < 0 ? s + o->now.T : s);
    int status = solver_tape_eval(o->c, o->now.tape, fmin(s, o->o.t0 + o->now.T), y);
    return status ? run_failed(o, status, "The orbit could not be evaluated") : 0;
}

/* ---- the gate ---- */

int costate_periodic_solve(costate_periodic *o, double *y, double *T, const double *p)
{
    GATE(o, call_periodic_solve(o, y, T, p));
}

int costate_periodic_orbit(costate_periodic *o, costate_orbit *out)
{
    GATE(o, call_orbit(o, out));
}

int costate_periodic_get(costate_periodic *o, double *X)
{
    GATE(o, call_get(o, X));
}

int costate_periodic_eval(costate_periodic *o, double t, double *y)
{
    GATE(o, call_eval(o, t, y));
}

int costate_periodic_multipliers(costate_periodic *o, double *re, double *im)
{
    GATE(o, call_periodic_multipliers(o, re, im));
}

int costate_periodic_multiplier_gradient(costate_periodic *o, int k, double *re, double *im)
{
    GATE(o, call_periodic_multiplier_gradient(o, k, re, im));
}

int costate_periodic_tangent(costate_periodic *o, int m, const double *Vp, double *V)
{
    GATE(o, call_periodic_tangent(o, m, Vp, V));
}

int costate_periodic_adjoint(costate_periodic *o, int m, const double *lambda, double *mu)
{
    GATE(o, call_periodic_adjoint(o, m, lambda, mu));
}

int costate_periodic_hessian(costate_periodic *o, int m, const double *Vp, costate_periodic_seed seed, void *ctx,
                             double *mu, double *mu2)
{
    GATE(o, call_periodic_hessian(o, m, Vp, seed, ctx, mu, mu2));
}

void costate_periodic_abandon(costate_periodic *o)
{
    if (o && o->entry.busy) o->entry.left = 1;
}

void costate_periodic_free(costate_periodic *o)
{
    if (!o) return;
    if (entry_begin(&o->entry, FRAME) == REFUSED) o->entry.freed = 1;
    else periodic_free(o);
}
