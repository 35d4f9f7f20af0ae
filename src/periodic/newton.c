/* newton.c (periodic) - finds an orbit: damped Newton iteration with steps that the error estimate chooses, then to
   round-off with frozen steps (mathematics, section 16.2).

   The damping is that of Deuflhard's natural monotonicity test: a part a of the correction dx is taken if the next
   correction with the same matrix is at most (1 - a/4) |dx|. */
#include <float.h>
#include <math.h>
#include <string.h>
#include "periodic/periodic.h"

/* new steps change the map by about its tolerance: a correction of so many of these changes is left to frozen steps */
static const double NEAR = 10;
/* the smallest part of a correction that is tried; the largest change of T in one iteration */
static const double LEAST_PART = 1e-3, MOST_OF_T = 0.5;
/* T may change by this factor, from the guess */
static const double FAR = 1e3;
/* The errors of Phi and its derivatives are at most so many tolerances for each step: up to 10 were found on orbits of
   Lotka and Volterra.  Where they may move an orbit by its own size, it is not determined; and one that is no larger is
   a steady state. */
static const double ERRORS = 20;
/* round-off of a period is at most that many units */
static const double ROUND_OFF = 1e5;
/* the factor of errors is at most this over the extent of an orbit if it is large only because the orbit is small */
static const double SLOW = 20;

static double largest(int d, const double *x)
{
    double most = 0;
    for (int i = 0; i < d; i++) most = x[i] == x[i] ? fmax(most, fabs(x[i])) : HUGE_VAL;
    return most;
}

/* ---- what may be wrong with an iterate ---- */

static int rests(periodic *o)
{
    return fail(&o->v, COSTATE_SINGULAR, "The iteration came to rest after %d corrections, with T = %g: from this "
                "guess it leads to a steady state, not to an orbit. Start on the orbit, for example with "
                "options.settle.",
                o->orbit.iterations, o->now.T);
}

static double errors(const periodic *o) { return ERRORS * o->rtol * o->now.tape->count; }

static int undetermined(periodic *o)
{
    double extent = o->free_T ? period_extent(o, &o->now) : HUGE_VAL;
    if (extent <= errors(o) || o->at.gain * extent < SLOW) return rests(o);
    return fail(&o->v, COSTATE_SINGULAR, "The equations do not determine an orbit: errors of a run, about %.2g, are "
                "multiplied by %.2g. Either orbits are not isolated (a conserved quantity: if it is linear, give it in "
                "options.invariants), or an orbit is at its birth, or rtol = %g is too large for one that attracts "
                "slowly.", errors(o), o->at.gain, o->rtol);
}

/* Is the orbit determined, where it is closed to within the errors of a run?  Elsewhere the iteration goes on, as long
   as the matrix is regular to more than the round-off of a period. */
static int determined(periodic *o)
{
    if (o->at.gain * ROUND_OFF * DBL_EPSILON >= 1) return undetermined(o);
    period_residual(o, &o->now, o->x);
    return o->at.gain * errors(o) < 1 || largest(o->d, o->x) > errors(o) ? 0 : undetermined(o);
}

static int in_reach(periodic *o, double guess)
{
    double r = o->now.T / guess;
    if (!o->free_T || (r < FAR && r > 1 / FAR)) return 0;
    return fail(&o->v, COSTATE_NEWTON, "The period went from the guess %g to %g: there is no orbit nearby. Give a "
                "better guess, for example with options.settle.", guess, o->now.T);
}

/* ---- corrections ---- */

/* dx <- the correction at `x` with the matrix at hand */
static int correct(periodic *o, const period *x, double *dx, double *size)
{
    period_residual(o, x, dx);
    for (int i = 0; i < o->d; i++) dx[i] = -dx[i];
    TRY(period_solve(o, 0, 1, dx));
    *size = largest(o->d, dx);
    return 0;
}

static void exchange(periodic *o)
{
    period swap = o->now;
    o->now = o->next;
    o->next = swap;
}

static void move(periodic *o, double part)
{
    for (int i = 0; i < o->n; i++) o->next.y[i] = o->now.y[i] + part * o->dx[i] * o->at.size[i];
    o->next.T = o->free_T ? o->now.T * (1 + part * o->dx[o->n]) : o->now.T;
}

/* these do not depend on how far a correction goes */
static int is_final(int status)
{
    return status == COSTATE_NO_MEMORY || status == COSTATE_CALLBACK || status == COSTATE_MISSING ||
           status == COSTATE_TAPE_LIMIT;
}

/* *taken <- was a part of the correction taken? */
static int damped(periodic *o, double size, int *taken)
{
    double part = 1, then;
    if (o->free_T) part = fmin(1, MOST_OF_T / fabs(o->dx[o->n]));
    for (*taken = 0; part >= LEAST_PART; part /= 2) {
        move(o, part);
        int status = period_run(o, &o->next);
        if (is_final(status)) return status;
        if (status) continue;
        TRY(correct(o, &o->next, o->x, &then));
        if (!(then <= (1 - part / 4) * size)) continue;
        exchange(o);
        *taken = 1;
        return 0;
    }
    verdict_clear(&o->v);
    return 0;
}

static int stalled(periodic *o, double size)
{
    if (o->at.gain * errors(o) >= 1) return undetermined(o);
    return fail(&o->v, COSTATE_NEWTON, "Newton's iteration for a periodic orbit stalled after %d corrections: one of "
                "%.2g in units of y(t0) and T is left, at T = %.10g. Give a better guess, for example with "
                "options.settle.", o->orbit.iterations, size, o->now.T);
}

/* with steps chosen anew; dx is the correction that is left to frozen steps */
static int with_new_steps(periodic *o)
{
    double size, guess = o->now.T;
    int taken;
    TRY(period_run(o, &o->now));
    for (;; o->orbit.iterations++) {
        TRY(in_reach(o, guess));
        TRY(period_linearise(o));
        TRY(determined(o));
        TRY(correct(o, &o->now, o->dx, &size));
        if (size <= NEAR * o->rtol * o->at.gain) return 0;
        if (o->orbit.iterations == o->o.newton_max) return stalled(o, size);
        TRY(damped(o, size, &taken));
        if (!taken) return stalled(o, size);
    }
}

static int with_frozen_steps(periodic *o)
{
    double size = HUGE_VAL, last;
    do {
        move(o, 1);
        TRY(period_again(o, &o->now, &o->next));
        exchange(o);
        TRY(period_linearise(o));
        TRY(determined(o));
        last = size;
        TRY(correct(o, &o->now, o->dx, &size));
        o->orbit.frozen++;
    } while (size < last / 2 && size > 0);
    if (size > ROUND_OFF * DBL_EPSILON * o->at.gain) return stalled(o, size);
    return 0;
}

/* ---- the call ---- */

static int sound(periodic *o, const double *y, const double *T, const double *p)
{
    for (int i = 0; i < o->n; i++)
        if (!y || !isfinite(y[i]))
            return fail(&o->v, COSTATE_BAD_ARGUMENT, y ? "y[%d] is not finite." : "y is NULL.", i);
    for (int i = 0; i < o->np; i++)
        if (!p || !isfinite(p[i]))
            return fail(&o->v, COSTATE_BAD_ARGUMENT, p ? "p[%d] is not finite." : "p is NULL.", i);
    if (!o->free_T) return 0;
    if (!T) return fail(&o->v, COSTATE_BAD_ARGUMENT, "T is NULL: it holds a guess of the period, unless "
                        "options.period is given.");
    if (!(*T > 0 && *T < HUGE_VAL)) return fail(&o->v, COSTATE_BAD_ARGUMENT, "T = %g: the guess of the period is "
                                                "positive and finite.", *T);
    return 0;
}

/* follows the flow: over parts of a period only where no phase is given */
static int settle(periodic *o)
{
    for (double left = o->o.settle; left > 0; left--)
        TRY(period_follow(o, &o->now, o->free_T ? fmin(left, 1) * o->now.T : o->now.T));
    return 0;
}

static void describe(periodic *o)
{
    period_residual(o, &o->now, o->x);
    o->orbit.residual = largest(o->n, o->x);
    o->orbit.period = o->now.T;
    o->orbit.sensitivity = o->at.gain;
    o->orbit.steps = o->now.tape->count;
}

int call_periodic_solve(periodic *o, double *y, double *T, const double *p)
{
    TRY(periodic_begin(o));
    TRY(sound(o, y, T, p));
    o->found = 0;
    o->orbit = (costate_orbit){0};
    memcpy(o->now.y, y, (size_t)o->n * sizeof *y);
    if (o->np > 0) memcpy(o->p, p, (size_t)o->np * sizeof *p);
    o->now.T = o->free_T ? *T : o->o.period;
    TRY(settle(o));
    TRY(with_new_steps(o));
    TRY(with_frozen_steps(o));
    describe(o);
    TRY(multipliers_judge(o));
    o->found = 1;
    memcpy(y, o->now.y, (size_t)o->n * sizeof *y);
    if (T) *T = o->now.T;
    return 0;
}
