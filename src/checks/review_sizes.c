/* review_sizes.c - tolerances of a reviewed run against the sizes of its components, and components whose error at the
   end is far above their tolerance. */
#include <float.h>
#include <math.h>
#include <stdio.h>
#include "checks/review.h"

static const double FAR = 1000;                 /* errors of a whole run, in units of the tolerance of a step */
static const double ROUND_OFF = 4 * DBL_EPSILON;

static double rtol_of(const costate_options *o, int i) { return o->rtol_vector ? o->rtol_vector[i] : o->rtol; }
static double atol_of(const costate_options *o, int i) { return o->atol_vector ? o->atol_vector[i] : o->atol; }

/* ---- sizes ---- */

/* Is it below atol throughout? A component that is always 0 tells nothing. */
static int is_hidden(const run_review *x, int i)
{
    return x->largest[i] > 0 && x->largest[i] < atol_of(&x->o, i);
}

/* Is its tolerance below round-off? */
static int is_beyond(const run_review *x, int i)
{
    return atol_of(&x->o, i) + rtol_of(&x->o, i) * x->largest[i] < ROUND_OFF * x->largest[i];
}

/* the first component of this kind; *more: how many others */
static int first_of(const run_review *x, int (*is)(const run_review *, int i), int *more)
{
    int first = -1;
    *more = 0;
    for (int i = 0; i < x->c->st.n; i++) {
        if (!is(x, i)) continue;
        if (first < 0) first = i;
        else ++*more;
    }
    return first;
}

static const char *others(int more, char *text, size_t room)
{
    text[0] = 0;
    if (more) snprintf(text, room, " (and %d other%s)", more, more == 1 ? "" : "s");
    return text;
}

static int say_hidden(run_review *x)
{
    char text[40];
    int more, i = first_of(x, is_hidden, &more);
    if (i < 0) return 0;
    return review_add(x->r, (review_about){COSTATE_REMARK, i, "tolerances", NAN, x->largest[i]}, "atol is %.3g for "
                      "y[%d]%s, whose largest value is %.3g: its error is not controlled, nor that of what depends on "
                      "it.  Give it a smaller atol (options.atol_vector), unless it does not matter.",
                      atol_of(&x->o, i), i, others(more, text, sizeof text), x->largest[i]);
}

static int say_beyond(run_review *x)
{
    char text[40];
    int more, i = first_of(x, is_beyond, &more);
    if (i < 0) return 0;
    return review_add(x->r, (review_about){COSTATE_REMARK, i, "tolerances", NAN, x->largest[i]}, "The tolerance of "
                      "y[%d]%s, rtol |y| + atol = %.3g where y is %.3g, is below round-off and cannot be met: set rtol "
                      "to 1e-13 or more.", i, others(more, text, sizeof text),
                      atol_of(&x->o, i) + rtol_of(&x->o, i) * x->largest[i], x->largest[i]);
}

int review_sizes(run_review *x)
{
    int before = x->r->count;
    TRY(say_hidden(x));
    TRY(say_beyond(x));
    if (x->r->count > before || x->o.controller == COSTATE_FIXED) return 0;
    return review_add(x->r, about(COSTATE_RIGHT, "tolerances"), "atol fits the size of each component.");
}

/* ---- errors ---- */

int review_errors(run_review *x, const double *end, const double *finer)
{
    double worst = 0, tol = 1, error = 0;
    int at = -1;
    for (int i = 0; i < x->c->st.n && x->o.controller != COSTATE_FIXED; i++) {
        double own = atol_of(&x->o, i) + rtol_of(&x->o, i) * fabs(end[i]), e = fabs(finer[i] - end[i]);
        if (!(e > worst * own)) continue;
        worst = e / own;
        tol = own;
        error = e;
        at = i;
    }
    if (worst <= FAR) return 0;
    return review_add(x->r, (review_about){COSTATE_REMARK, at, "accuracy", x->ended, error}, "y[%d] is %.6g at t = "
                      "%.8g and off by about %.2g, %.0f times its tolerance rtol |y| + atol = %.2g: errors of steps "
                      "have grown.  Set smaller tolerances, if it matters.", at, end[at], x->ended, error, worst, tol);
}
