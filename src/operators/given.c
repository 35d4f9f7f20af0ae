/* given.c (operators) - checks of the arguments of a splitting. */
#include "maps/maps.h"
#include "operators/splitting.h"

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
    if (a->solver < COSTATE_LS_AUTO || a->solver > COSTATE_LS_KLU)
        return fail(v, COSTATE_BAD_ARGUMENT, "parts[%d].solver = %d is not a direct solver of enum costate_solver.", j,
                    a->solver);
    if (!LS_Choose(a->solver, n, a->pattern))
        return fail(v, COSTATE_BACKEND, "parts[%d].solver = %d: this linear solver is not built in.", j, a->solver);
    return 0;
}

int splitting_given(costate_splitting *s, const costate_problem *P, int count, const costate_part *parts)
{
    verdict *v = &s->v;
    TRY(problem_sound(v, P));
    if (P->residual.value)
        return fail(v, COSTATE_BAD_ARGUMENT, "A splitting is for problems M y' = f(t, y, p), not for residuals.");
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
