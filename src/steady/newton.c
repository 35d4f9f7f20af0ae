/* newton.c (steady) - Newton's iteration for a steady state, to round-off.

   It serves a point near the steady state: corrections are to decrease, until G is round-off beside the terms of A y.
   Where f_y vanishes at the zero of f, as that of y^q, each is 1 - 1/q of the one before it, and they never end. */
#include <float.h>
#include <math.h>
#include <string.h>
#include "base/vec.h"
#include "steady/steady.h"

enum { MOST = 40 };
static const double ROUND_OFF = 64 * DBL_EPSILON, DECREASE = 0.9;

/* d <- -A^-1 G at x.y, with A from D there */
static int correction(steady *s, const limit *x)
{
    TRY(steady_residual(s, x, x->y, s->work.r));
    TRY(steady_factor(s, x, s->dense.D));
    add_scaled((size_t)s->n, s->work.d, NULL, -1, s->work.r);
    return steady_solve(s, 0, 1, s->work.d);
}

/* A component that has been 0 all the way is 0 at its end, and no round-off of other components. */
static void hold_zeros(const steady *s)
{
    for (int i = 0; s->flow.accepted > 0 && i < s->n; i++) if (s->flow.size[i] == 0) s->work.d[i] = 0;
}

/* the largest correction of a component */
static double size_of(const steady *s, const limit *x)
{
    double most = 0;
    for (int i = 0; i < s->n; i++) most = fmax(most, steady_relative(s, i, x->y[i], x->y[i] + s->work.d[i]));
    return most;
}

/* is G no more than round-off of its terms? */
static int is_round_off(const steady *s, const limit *x)
{
    size_t n = (size_t)s->n;
    for (size_t i = 0; i < n; i++) {
        double terms = 0;
        for (size_t j = 0; j < n; j++) terms += fabs(s->dense.A[j * n + i] * x->y[j]);
        if (!(fabs(s->work.r[i]) <= ROUND_OFF * terms)) return 0;
    }
    return 1;
}

int steady_newton(steady *s, limit *x, int *halves)
{
    double last = HUGE_VAL;
    *halves = 0;
    for (int k = 0; k < MOST; k++) {
        TRY(correction(s, x));
        hold_zeros(s);
        s->count.iterations++;
        double size = size_of(s, x);
        if (!(size <= DECREASE * last)) return is_round_off(s, x) ? 0 : retry(&s->v, WHY_NEWTON);
        axpy((size_t)s->n, 1, s->work.d, x->y);
        if (size == 0) return 0;
        last = size;
        TRY(steady_jacobian(s, x->y, s->dense.D));
    }
    *halves = 1;
    return retry(&s->v, WHY_NEWTON);
}
