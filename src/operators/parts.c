/* parts.c - the matrices of a splitting: read by the callbacks, factored for sigma, solved with one after the other.

   P = sigma M (I - M^-1 A_1/sigma) .. (I - M^-1 A_d/sigma)  (mathematics, eq. 6.27).  sigma M is put into the first
   factor, sigma M - A_1, so that it needs no pass of its own.  Only of a matrix in a pattern M is divided out, sigma -
   M^-1 A_1, because its pattern need not hold the diagonal. */
#include <string.h>
#include "base/pattern.h"
#include "base/vec.h"
#include "operators/splitting.h"

/* What a callback returned.  > 0: a smaller step */
static int code(costate_splitting *s, int j, int r, const char *name)
{
    if (!r) return 0;
    fail(&s->v, r > 0 ? RETRY : COSTATE_CALLBACK, "The callback %s of parts[%d] returned %d.", name, j, r);
    return s->v.status;
}

static int not_finite(costate_splitting *s, int j, const char *name)
{
    return fail(&s->v, RETRY, "The callback %s of parts[%d] left a NaN or Inf.", name, j);
}

static int read_matrix(costate_splitting *s, int j, const costate_point *x)
{
    summand *a = &s->parts[j];
    size_t entries = pattern_entries(a->given.pattern, s->n);
    memset(a->A, 0, entries * sizeof *a->A);
    TRY(code(s, j, a->given.matrix(x, a->A, a->given.ctx), "matrix"));
    return all_finite(entries, a->A) ? 0 : not_finite(s, j, "matrix");
}

static int read_lines(costate_splitting *s, int j, const costate_point *x)
{
    summand *a = &s->parts[j];
    size_t n = (size_t)s->n;
    double *lower = s->room.raw, *diagonal = lower + n, *upper = lower + 2 * n;
    memset(lower, 0, 3 * n * sizeof *lower);
    TRY(code(s, j, a->given.lines(x, lower, diagonal, upper, a->given.ctx), "lines"));
    if (!all_finite(3 * n, lower)) return not_finite(s, j, "lines");
    lines_read(&a->along, &s->room, s->mass);
    return 0;
}

int splitting_read(costate_splitting *s, const costate_point *x)
{
    for (int j = 0; j < s->count; j++) TRY(s->parts[j].ls ? read_matrix(s, j, x) : read_lines(s, j, x));
    return 0;
}

/* the values that are factored: by M^-1 A */
static void scale_rows(const costate_splitting *s, const summand *a, double by)
{
    const costate_pattern *in = a->given.pattern;
    size_t n = (size_t)s->n;
    for (size_t j = 0; j < n; j++)
        for (size_t k = in ? (size_t)in->col[j] : j * n; k < (in ? (size_t)in->col[j + 1] : (j + 1) * n); k++)
            a->scaled[k] = s->mass ? by * a->A[k] / s->mass[in ? (size_t)in->row[k] : k - j * n] : by * a->A[k];
}

static int matrix_code(costate_splitting *s, int j, int r)
{
    if (!r) return 0;
    if (r > 0) return fail(&s->v, RETRY, "parts[%d]: its matrix is singular for sigma = %.10g.", j, s->sigma);
    if (r == COSTATE_LS_NO_MEMORY) return fail(&s->v, COSTATE_NO_MEMORY, "No memory for the factors of parts[%d].", j);
    return fail(&s->v, COSTATE_BACKEND, "The linear solver of parts[%d] failed (code %d).", j, r);
}

static int factor_one(costate_splitting *s, int j)
{
    summand *a = &s->parts[j];
    if (!a->ls) {
        if (lines_factor(&a->along, s->sigma, j == 0)) return 0;
        return fail(&s->v, RETRY, "parts[%d]: a line has a pivot that is too small for sigma = %.10g: its matrix is "
                    "not dominated by its diagonal.", j, s->sigma);
    }
    scale_rows(s, a, j == 0 ? 1 : 1 / s->sigma);
    return matrix_code(s, j, LS_Decomp(a->ls, j == 0 ? s->sigma : 1, 0, a->scaled, NULL));
}

int splitting_factor(costate_splitting *s, double sigma)
{
    s->sigma = sigma;
    for (int j = 0; j < s->count; j++) TRY(factor_one(s, j));
    return 0;
}

static int solve_one(costate_splitting *s, int j, int transpose, int count, double *X)
{
    summand *a = &s->parts[j];
    if (a->ls) return matrix_code(s, j, LS_Solve(a->ls, transpose, count, X));
    lines_solve(&a->along, transpose, count, X);
    return 0;
}

static void divide_by_mass(const costate_splitting *s, int count, double *X)
{
    size_t n = (size_t)s->n;
    if (!s->mass || !s->parts[0].ls) return;
    for (int j = 0; j < count; j++, X += n)
        for (size_t i = 0; i < n; i++) X[i] /= s->mass[i];
}

int splitting_solve(costate_splitting *s, int transpose, int count, double *X)
{
    if (!transpose) divide_by_mass(s, count, X);
    for (int j = 0; j < s->count; j++) TRY(solve_one(s, transpose ? s->count - 1 - j : j, transpose, count, X));
    if (transpose) divide_by_mass(s, count, X);
    return 0;
}
