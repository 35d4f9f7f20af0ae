/* singular.c - explains a singular Newton matrix for consistent values: a vector of its null space shows the unknowns
   that the constraints do not determine.

   LAPACK's Gauss elimination with complete pivoting, applied to the matrix with scaled columns, replaces small pivots
   by small numbers.  Solutions of such a system lie in the null space, up to round-off. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/random.h"
#include "linsol/lapack.h"
#include "start/start.h"

enum { LARGEST = 1000, NAMED = 4 };             /* n, for which this is done: 8 MB; how many are named */

static double entry(const starter *s, size_t k) { return s->Ma[k] - s->Ja[k]; }

/* A by columns, each scaled to a largest entry of 1 */
static void spread(const starter *s, double *A)
{
    const costate_pattern *a = s->maps->pattern;
    size_t n = (size_t)s->maps->n;
    for (size_t j = 0; j < n; j++, A += n) {
        size_t from = a ? (size_t)a->col[j] : j * n, to = a ? (size_t)a->col[j + 1] : from + n;
        double most = 0;
        for (size_t k = from; k < to; k++) most = fmax(most, fabs(entry(s, k)));
        for (size_t k = from; k < to; k++) A[a ? (size_t)a->row[k] : k - from] = most > 0 ? entry(s, k) / most : 0;
    }
}

static int kernel(const starter *s, double *x)
{
    int n = s->maps->n, info;
    size_t k = (size_t)n;
    double *A = calloc(k * k, sizeof *A), scale;
    int *pivot = calloc(2 * k, sizeof *pivot);
    unsigned state = 3;
    int there = A && pivot;
    if (there) {
        spread(s, A);
        for (int i = 0; i < n; i++) x[i] = random_number(&state);
        dgetc2_(&n, A, &n, pivot, pivot + n, &info);
        dgesc2_(&n, A, &n, x, pivot, pivot + n, &scale);
    }
    free(A);
    free(pivot);
    return there;
}

/* "y[3], y'[5]", the largest of x first that are worth a word */
static void name_them(const starter *s, const start_values *f, double *x, char *text, size_t room)
{
    size_t used = 0;
    double first = 0;
    for (int k = 0; k < NAMED; k++) {
        int at = 0;
        for (int j = 1; j < s->maps->n; j++) if (fabs(x[j]) > fabs(x[at])) at = j;
        if (k == 0) first = fabs(x[at]);
        if (!(fabs(x[at]) > 0.1 * first)) return;
        used += (size_t)snprintf(text + used, room - used, "%sy%s[%d]", k ? ", " : "", f->unknown[at] ? "" : "'", at);
        x[at] = 0;
    }
}

int start_singular(const starter *s, const start_values *f)
{
    char which[80] = "some unknowns";
    if (s->maps->n <= LARGEST && kernel(s, s->work)) name_them(s, f, s->work, which, sizeof which);
    return fail(s->maps->v, COSTATE_SINGULAR, "Consistent values at t = %.10g: the equations do not determine %s "
                "(their Jacobian by the algebraic unknowns and by y' of the others is singular): %s, or this is a "
                "singular point.", f->t, which, s->index ? "the index is higher than problem.index says" :
                "problem.index is to say which unknowns are algebraic");
}
