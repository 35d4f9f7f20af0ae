/* given.c (operators) - checks of the arguments of operators. */
#include <math.h>
#include "maps/callbacks.h"
#include "maps/maps.h"
#include "operators/chebyshev.h"
#include "operators/splitting.h"

/* is this a problem that an operator can be for? */
static int operator_given(verdict *v, const costate_problem *P)
{
    TRY(problem_sound(v, P));
    if (!P->residual.value) return 0;
    return fail(v, COSTATE_BAD_ARGUMENT, "Operators are for problems M y' = f(t, y, p), not for residuals.");
}

static int lines_given(verdict *v, int n, int j, const costate_part *a)
{
    if (a->points < 1 || a->stride < 1)
        return fail(v, COSTATE_BAD_ARGUMENT, "parts[%d] has points = %d and stride = %d: both are 1 or more.", j,
                    a->points, a->stride);
    if ((long long)n % ((long long)a->points * a->stride))
        return fail(v, COSTATE_BAD_ARGUMENT, "parts[%d]: stride * points = %d * %d does not divide n = %d.", j,
                    a->stride, a->points, n);
    if (a->periodic != 0 && a->periodic != 1)
        return fail(v, COSTATE_BAD_ARGUMENT, "parts[%d].periodic = %d: it is 0 or 1.", j, a->periodic);
    return 0;
}

static int matrix_given(verdict *v, int n, int j, const costate_part *a)
{
    const char *fault = a->pattern ? pattern_fault(a->pattern, n) : NULL;
    if (fault) return fail(v, COSTATE_BAD_ARGUMENT, "parts[%d].pattern: %s.", j, fault);
    int direct = (a->solver >= COSTATE_LS_AUTO && a->solver <= COSTATE_LS_KLU) || a->solver == COSTATE_LS_SPARSE;
    if (!direct)
        return fail(v, COSTATE_BAD_ARGUMENT, "parts[%d].solver = %d is not a direct solver of enum costate_solver.", j,
                    a->solver);
    if (!LS_Choose(a->solver, n, a->pattern))
        return fail(v, COSTATE_BACKEND, "parts[%d].solver = %d: this linear solver is not built in.", j, a->solver);
    return 0;
}

int splitting_given(costate_splitting *s, const costate_problem *P, int count, const costate_part *parts)
{
    verdict *v = &s->v;
    TRY(operator_given(v, P));
    if (count < 1 || !parts)
        return fail(v, COSTATE_BAD_ARGUMENT, "A splitting needs parts: count = %d, and parts is %s.", count,
                    parts ? "given" : "NULL");
    for (int j = 0; j < count; j++) {
        if (!parts[j].matrix == !parts[j].lines)
            return fail(v, COSTATE_BAD_ARGUMENT, "parts[%d] has %s: set one of matrix and lines.", j,
                        parts[j].matrix ? "both callbacks" : "no callback");
        TRY(parts[j].lines ? lines_given(v, P->n, j, &parts[j]) : matrix_given(v, P->n, j, &parts[j]));
    }
    return 0;
}

int chebyshev_given(costate_chebyshev *c, const costate_problem *P, const costate_polynomial *g)
{
    verdict *v = &c->v;
    TRY(operator_given(v, P));
    if (!g) return fail(v, COSTATE_BAD_ARGUMENT, "polynomial is NULL.");
    if (!g->inner || !has_solve(g->inner))
        return fail(v, COSTATE_MISSING, "polynomial.inner is missing, or has no solve.");
    if (g->terms < 1) return fail(v, COSTATE_BAD_ARGUMENT, "polynomial.terms = %d: at least 1 is needed.", g->terms);
    if (g->terms > 1 && !g->apply) return fail(v, COSTATE_MISSING, "polynomial.apply is missing.");
    if (!(g->lo > 0 && g->hi >= g->lo && g->hi < HUGE_VAL))
        return fail(v, COSTATE_BAD_ARGUMENT, "polynomial.lo = %g, hi = %g: 0 < lo <= hi is needed.", g->lo, g->hi);
    if (g->columns < 0)
        return fail(v, COSTATE_BAD_ARGUMENT, "polynomial.columns = %d is negative.", g->columns);
    return 0;
}
