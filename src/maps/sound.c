/* sound.c - is a problem fit to be solved?  Its sizes, callbacks and pattern, before anything is made or called: asked
   by solvers and by the public checks. */
#include "base/pattern.h"
#include "maps/maps.h"

enum { MOST = 1 << 30 };        /* sums of two sizes are still an int */

int sizes_sound(verdict *v, const char *of, int n, int np, const char *name, int k, int least)
{
    if (n <= 0) return fail(v, COSTATE_BAD_ARGUMENT, "%sn = %d: at least one state is needed.", of, n);
    if (np < 0) return fail(v, COSTATE_BAD_ARGUMENT, "%snp = %d is negative.", of, np);
    if (k < least) return fail(v, COSTATE_BAD_ARGUMENT, "%s%s = %d: at least %d is needed.", of, name, k, least);
    if (n > MOST || np > MOST - n || k > MOST - n)
        return fail(v, COSTATE_BAD_ARGUMENT, "%sn = %d, np = %d, %s = %d: n + np or n + %s is larger than 2^30.", of, n,
                    np, name, k, name);
    return COSTATE_OK;
}

int problem_sound(verdict *v, const costate_problem *P)
{
    if (!P) return fail(v, COSTATE_BAD_ARGUMENT, "problem is NULL.");
    TRY(sizes_sound(v, "problem.", P->n, P->np, "nq", P->nq, 0));
    if (!P->rhs.value && !P->residual.value)
        return fail(v, COSTATE_MISSING, "problem.rhs.value is missing (or problem.residual.value).");
    if (P->residual.value && P->rhs.value)
        return fail(v, COSTATE_BAD_ARGUMENT, "problem.rhs and problem.residual are both given: one of them is the "
                    "equation.");
    if (P->residual.value && P->mass)
        return fail(v, COSTATE_BAD_ARGUMENT, "problem.mass belongs to problem.rhs: a residual has y' in it.");
    if (!P->residual.value && P->jac_yp)
        return fail(v, COSTATE_BAD_ARGUMENT, "problem.jac_yp belongs to problem.residual, which is missing.");
    if (P->nq > 0 && !P->cost.value)
        return fail(v, COSTATE_MISSING, "problem.cost.value is missing, but nq = %d.", P->nq);
    for (int i = 0; P->index && i < P->n; i++)
        if (P->index[i] < 0 || P->index[i] > 2)
            return fail(v, COSTATE_BAD_ARGUMENT, "problem.index[%d] = %d: it is 0, 1 or 2.", i, P->index[i]);
    const char *fault = P->pattern ? pattern_fault(P->pattern, P->n) : NULL;
    return fault ? fail(v, COSTATE_BAD_ARGUMENT, "problem.pattern: %s.", fault) : COSTATE_OK;
}
