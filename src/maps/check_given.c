/* check_given.c - what is given to the public checks, checked itself before any callback is called: the sizes, the
   point, the problem's callbacks and pattern.  There is no solver to hold the sentence: it goes into the report. */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include "base/pattern.h"
#include "base/vec.h"
#include "maps/maps.h"
#include "maps/check.h"

enum { MOST = 1 << 30 };        /* as for costate_new: sums of two sizes are still an int */

int check_says(costate_report *r, int status, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(r->text, sizeof r->text, format, args);
    va_end(args);
    return status;
}

void check_clear(costate_report *r)
{
    *r = (costate_report){NAN, NAN, NAN, NAN, NAN, NAN, NAN, ""};
}

static int array(const char *name, const double *v, int count, costate_report *r)
{
    if (count > 0 && !v)
        return check_says(r, COSTATE_BAD_ARGUMENT, "%s is NULL, but %d values are expected.", name, count);
    for (int i = 0; i < count; i++)
        if (!isfinite(v[i])) return check_says(r, COSTATE_BAD_ARGUMENT, "%s[%d] is %g, not finite.", name, i, v[i]);
    return COSTATE_OK;
}

/* Sizes first: they say how much of the point may be read. */
int check_given(int n, int np, const char *name, int k, int least, const costate_point *x, costate_report *r)
{
    if (n <= 0) return check_says(r, COSTATE_BAD_ARGUMENT, "n = %d: at least one state is needed.", n);
    if (np < 0) return check_says(r, COSTATE_BAD_ARGUMENT, "np = %d is negative.", np);
    if (k < least) return check_says(r, COSTATE_BAD_ARGUMENT, "%s = %d: at least %d is needed.", name, k, least);
    if (n > MOST || np > MOST - n || k > MOST - n)
        return check_says(r, COSTATE_BAD_ARGUMENT, "n = %d, np = %d, %s = %d: n + np or n + %s is larger than 2^30.",
                          n, np, name, k, name);
    if (!x) return check_says(r, COSTATE_BAD_ARGUMENT, "x is NULL.");
    if (!isfinite(x->t)) return check_says(r, COSTATE_BAD_ARGUMENT, "x.t is %g, not finite.", x->t);
    TRY(array("x.y", x->y, n, r));
    return array("x.p", x->p, np, r);
}

int check_given_problem(const costate_problem *P, const costate_point *x, costate_report *r)
{
    if (!P) return check_says(r, COSTATE_BAD_ARGUMENT, "problem is NULL.");
    TRY(check_given(P->n, P->np, "nq", P->nq, 0, x, r));
    if (!P->rhs.value) return check_says(r, COSTATE_MISSING, "problem.rhs.value is missing.");
    if (P->nq > 0 && !P->cost.value)
        return check_says(r, COSTATE_MISSING, "problem.cost.value is missing, but nq = %d.", P->nq);
    const char *fault = P->pattern ? pattern_fault(P->pattern, P->n) : NULL;
    return fault ? check_says(r, COSTATE_BAD_ARGUMENT, "problem.pattern: %s.", fault) : COSTATE_OK;
}
