/* split.c (firk) - all stages at once: the coupled system split by the eigenvalues of A^-1 into n by n ones. */
#include <string.h>
#include "firk/firk.h"
#include "base/inline.h"

/* pair <- re + i sign im, and back */
static void join(size_t n, const double *restrict re, const double *restrict im, double sign, double *restrict pair)
{
    for (size_t l = 0; l < n; l++) { pair[2 * l] = re[l]; pair[2 * l + 1] = sign * im[l]; }
}

static void part(size_t n, const double *restrict pair, double sign, double *restrict re, double *restrict im)
{
    for (size_t l = 0; l < n; l++) { re[l] = pair[2 * l]; im[l] = sign * pair[2 * l + 1]; }
}

static void transform_transposed(size_t n, int k, const double *A, const double *X, double *out)
{
    double turned[STAGES_MOST * STAGES_MOST];
    for (int i = 0; i < k; i++) for (int j = 0; j < k; j++) turned[i * k + j] = A[j * k + i];
    mix(n, out, 0, 1, k, turned, X);
}

/* out_i = sum_j A_ij X_j, transposed A_ji */
static void transform(size_t n, int k, const double *A, int transpose, const double *X, double *out)
{
    if (transpose) transform_transposed(n, k, A, X, out);
    else mix(n, out, 0, 1, k, A, X);
}

/* The rows of the k-th eigenvalue of f, R in the first of m transformed columns: one call solves them for all. */
static int solve_part(stepper *c, const factors *f, int k, int transpose, int m, const accuracy *to, double *R)
{
    size_t n = (size_t)c->n, len = (size_t)c->m->block * n;
    int real = k < f->nreal;
    double sign = transpose ? -1 : 1, *row = work(c)->systems.pairs;
    for (size_t j = 0; j < (size_t)m; j++) {
        if (real) memcpy(row + j * n, R + j * len, n * sizeof *row);
        else join(n, R + j * len, R + j * len + n, sign, row + 2 * j * n);
    }
    TRY(factors_solve(c->sh, f, k, transpose, m, to, row));
    for (size_t j = 0; j < (size_t)m; j++) {
        if (real) memcpy(R + j * len, row + j * n, n * sizeof *row);
        else part(n, row + 2 * j * n, sign, R + j * len, R + j * len + n);
    }
    return 0;
}

/* of one column */
static int solve_one(stepper *c, const factors *f, int k, int transpose, const accuracy *to, double *R)
{
    size_t n = (size_t)c->n;
    double sign = transpose ? -1 : 1, *pair = work(c)->pair;
    if (k < f->nreal) return factors_solve(c->sh, f, k, transpose, 1, to, R);
    join(n, R, R + n, sign, pair);
    TRY(factors_solve(c->sh, f, k, transpose, 1, to, pair));
    part(n, pair, sign, R, R + n);
    return 0;
}

/* firk_solve of one column for three stages with a real eigenvalue and a pair.  n is known where this is inlined: the
   rows of the pair are transformed as the pairs (re, im) that they are solved as.  The sums are those of mix. */
INLINE int solve_three(size_t n, stepper *c, const factors *f, const accuracy *to, double *restrict Z)
{
    double real[KNOWN], pair[2 * KNOWN];
    const double *A = c->m->Ti;
    for (size_t l = 0; l < n; l++) {
        double x = Z[l], y = Z[n + l], z = Z[2 * n + l];
        real[l] = 0 + A[0] * x + A[1] * y + A[2] * z;
        pair[2 * l] = 0 + A[3] * x + A[4] * y + A[5] * z;
        pair[2 * l + 1] = 0 + A[6] * x + A[7] * y + A[8] * z;
    }
    TRY(factors_solve(c->sh, f, 0, 0, 1, to, real));
    TRY(factors_solve(c->sh, f, 1, 0, 1, to, pair));
    A = c->m->T;
    for (int i = 0; i < 3; i++, A += 3)
        for (size_t l = 0; l < n; l++)
            *Z++ = 0 + A[0] * real[l] + A[1] * pair[2 * l] + A[2] * pair[2 * l + 1];
    return 0;
}

#define SOLVE_THREE(n)                                                                                          \
    static int solve_three_##n(stepper *c, const factors *f, const accuracy *to, double *Z)                     \
    {                                                                                                           \
        return solve_three(n, c, f, to, Z);                                                                     \
    }
SOLVE_THREE(1) SOLVE_THREE(2) SOLVE_THREE(3) SOLVE_THREE(4) SOLVE_THREE(5) SOLVE_THREE(6) SOLVE_THREE(7)
SOLVE_THREE(8)

static int solve_few(stepper *c, const factors *f, const accuracy *to, double *Z)
{
    static int (*const by_size[KNOWN])(stepper *, const factors *, const accuracy *, double *) = {
        solve_three_1, solve_three_2, solve_three_3, solve_three_4, solve_three_5, solve_three_6, solve_three_7,
        solve_three_8};
    return by_size[c->n - 1](c, f, to, Z);
}

/* X = T diag-solve(Ti Z), transposed X = Ti^T diag-solve(T^T Z) with plain transposed
   solves; a pair's real and imaginary parts are two rows, transposed its conjugate (mathematics, eq. 5.8 to 5.9). */
static int solve_any(stepper *c, const factors *f, int transpose, int m, const accuracy *to, double *Z)
{
    size_t n = (size_t)c->n, len = (size_t)c->m->block * n, columns = (size_t)m;
    int k = c->m->block;
    double *R = m == 1 ? work(c)->R + len : work(c)->systems.split, *row = R;
    for (size_t j = 0; j < columns; j++)
        transform(n, k, transpose ? c->m->T : c->m->Ti, transpose, Z + j * len, R + j * len);
    for (int i = 0; i < f->nreal + f->npair; i++) {
        TRY(m == 1 ? solve_one(c, f, i, transpose, to, row) : solve_part(c, f, i, transpose, m, to, row));
        row += i < f->nreal ? n : 2 * n;
    }
    for (size_t j = 0; j < columns; j++)
        transform(n, k, transpose ? c->m->Ti : c->m->T, transpose, R + j * len, Z + j * len);
    return 0;
}

int firk_solve(stepper *c, const factors *f, int transpose, int m, const accuracy *to, double *Z)
{
    int few = c->n <= KNOWN && c->m->block == 3 && f->nreal == 1 && m == 1 && !transpose;
    return few ? solve_few(c, f, to, Z) : solve_any(c, f, transpose, m, to, Z);
}
