/* pace.h - the formulas of step sizes: h_new/h by the controllers, the next proposal, the step that is taken of it, and
   its end (mathematics, eq. 13.13 to 13.16).

   Without calls and branches, hence & for &&: loops over members that run side by side use them, too, with the same
   bits. */
#ifndef COSTATE_PACE_H
#define COSTATE_PACE_H

#include <float.h>
#include <math.h>
#include "base/power.h"
#include <costate/costate.h>

/* of numbers, not NaN: unlike fmax and fmin, these need no call */
static inline double more(double a, double b) { return a > b ? a : b; }
static inline double less(double a, double b) { return a < b ? a : b; }

typedef struct {                    /* a controller of a method */
    int controller;                 /* COSTATE_ELEMENTARY, COSTATE_PI or COSTATE_GUSTAFSSON */
    double elementary;              /* exponent of err in the elementary controller */
    double err, err_old;            /* exponents of err and err_old in those of PI and Gustafsson */
    double safety, least, most;     /* options.safety, fac_min, fac_max */
    double again;                   /* options.fac_reject */
} law;

/* Below 1e-10 all errors are one.  The logarithm of an error is at most 0 exactly where the error is at most 1. */
static inline double log_of_error(double err)
{
    const double LEAST = 1e-10;
    return log2_of(err > LEAST ? err : LEAST);
}

/* of an accepted step, as the next one uses it: err is 1/100 at least */
static inline double log_kept(double log_err)
{
    const double LEAST = -6.6438561897747244;       /* log2(1/100) */
    return log_err > LEAST ? log_err : LEAST;
}

/* log_err: log_of_error of this step; log_old, h_old: that of the last accepted step and its length; h_old = 0: there
   is none.  rejected: this step was, before. */
static inline double factor_of(const law *by, int rejected, double log_err, double log_old, double h, double h_old)
{
    int known = (h_old > 0) & (log_err <= 0);
    double power = by->elementary * log_err, with_old = 0;
    if (by->controller != COSTATE_ELEMENTARY) with_old = by->err * log_err + by->err_old * (known ? log_old : 0);
    if (by->controller == COSTATE_PI) power = (known & !rejected) ? with_old : power;
    double factor = exp2_of(power);
    if (by->controller == COSTATE_GUSTAFSSON) {
        double g = h / (known ? h_old : 1) * exp2_of(with_old);
        factor = (known & (g < factor)) ? g : factor;
    }
    return more(by->least, less((rejected | (log_err > 0)) ? 1 : by->most, factor * by->safety));
}

/* The factor of h after a step was rejected; cautious: the first step, or one that was rejected before. */
static inline double factor_again(const law *by, int cautious, double factor)
{
    return cautious ? less(factor, more(by->again, factor / 2)) : factor;
}

/* |h| of the next step after one of length h, proposed as h_free.  One that was only shortened to meet a time does not
   reduce the proposal before it. */
static inline double proposal(double h, double h_free, int rejected, double factor)
{
    int cut = (h < h_free) & !rejected;
    return (cut & (factor >= 1)) ? more(h * factor, h_free) : h * factor;
}

static inline double round_off_of(double t) { return 4 * DBL_EPSILON * fabs(t); }

/* The error of a step, with the estimate `again` by the matrix at its end: another matrix may make an estimate somewhat
   larger that is as good as the first (where it was always the larger one that counted, runs took 3 to 8 % more work).
   */
static inline double confirmed_norm(double err, double again)
{
    const double MUCH = 2;
    return again <= MUCH ? err : again;
}

/* Is this step the last one, with `left` to go?  It is lengthened by the round-off of h or of t rather than leave a
   tiny step; after a rejection not by that of t. */
static inline int reaches(double left, double h_free, double t, int rejected)
{
    double h = fabs(h_free), round_off = round_off_of(t);
    return fabs(left) <= h + more(1e-8 * h, rejected ? 0 : round_off);
}

/* Of the last two steps each takes half of what is left, if that is at least hmin. */
static inline double halved(double left, double h, double hmin)
{
    return ((fabs(left) < 2 * fabs(h)) & (fabs(left) / 2 >= hmin)) ? left / 2 : h;
}

static inline double least_step(double hmin, double t) { return more(hmin * (1 - 1e-10), round_off_of(t)); }

/* a + b = the result + *rest exactly (Knuth) */
static inline double two_sum(double a, double b, double *rest)
{
    double sum = a + b, added = sum - a;
    *rest = (a - (sum - added)) + (b - added);
    return sum;
}

/* (t + low) + h = the result + *end_low */
static inline double end_of(double t, double low, double h, double *end_low)
{
    double rest, sum = two_sum(t, h, &rest);
    return two_sum(sum, low + rest, end_low);
}

#endif
