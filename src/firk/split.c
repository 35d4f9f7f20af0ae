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

/* Systems of n unknowns for the eigenvalues of k stages, a real one and one or two pairs; n, k: known where inlined.
   The rows of a pair are transformed as the pairs (re, im) that they are solved as.  The sums are those of mix. */
typedef struct { double real[KNOWN], pair[2][2 * KNOWN]; } eigensystems;

INLINE double *row_of(eigensystems *x, size_t i, size_t l)
{
    return i == 0 ? x->real + l : x->pair[(i - 1) / 2] + 2 * l + (i - 1) % 2;
}

/* x <- A Z */
INLINE void apart(size_t n, size_t k, const double *restrict A, const double *restrict Z, eigensystems *restrict x)
{
    for (size_t i = 0; i < k; i++, A += k)
        for (size_t l = 0; l < n; l++) {
            double sum = 0;
            for (size_t j = 0; j < k; j++) sum += A[j] * Z[j * n + l];
            *row_of(x, i, l) = sum;
        }
}

/* Z <- A x */
INLINE void together(size_t n, size_t k, const double *restrict A, eigensystems *restrict x, double *restrict Z)
{
    for (size_t i = 0; i < k; i++, A += k)
        for (size_t l = 0; l < n; l++) {
            double sum = 0;
            for (size_t j = 0; j < k; j++) sum += A[j] * *row_of(x, j, l);
            *Z++ = sum;
        }
}

/* firk_solve of one column */
INLINE int solve_known(size_t n, size_t k, stepper *c, const factors *f, const accuracy *to, double *Z)
{
    eigensystems x;
    apart(n, k, c->m->Ti, Z, &x);
    TRY(factors_solve_one((int)n, 1, c->sh, f, 0, to, x.real));
    for (int i = 1; i <= (int)k / 2; i++) TRY(factors_solve_one((int)n, 2, c->sh, f, i, to, x.pair[i - 1]));
    together(n, k, c->m->T, &x, Z);
    return 0;
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

/* All arguments are those of firk_solve, which then need not move them. */
typedef int solution(stepper *c, const factors *f, int transpose, int m, const accuracy *to, double *Z);

#define SOLVE(name, n, k)                                                                                       \
    static int name(stepper *c, const factors *f, int transpose, int m, const accuracy *to, double *Z)          \
    {                                                                                                           \
        (void)transpose, (void)m;                                                                               \
        return solve_known(n, k, c, f, to, Z);                                                                  \
    }
SOLVE(solve_three_1, 1, 3) SINGLY SOLVE(solve_three_2, 2, 3) SINGLY SOLVE(solve_three_3, 3, 3)
SOLVE(solve_three_4, 4, 3) SOLVE(solve_three_5, 5, 3) SOLVE(solve_three_6, 6, 3) SOLVE(solve_three_7, 7, 3)
SOLVE(solve_three_8, 8, 3)
SOLVE(solve_five_1, 1, 5) SOLVE(solve_five_2, 2, 5) SOLVE(solve_five_3, 3, 5) SOLVE(solve_five_4, 4, 5)

int firk_solve(stepper *c, const factors *f, int transpose, int m, const accuracy *to, double *Z)
{
    static solution *const three[KNOWN + 1] = {solve_any, solve_three_1, solve_three_2, solve_three_3, solve_three_4,
                                               solve_three_5, solve_three_6, solve_three_7, solve_three_8};
    static solution *const five[KNOWN + 1] = {solve_any, solve_five_1, solve_five_2, solve_five_3, solve_five_4,
                                              solve_any, solve_any, solve_any, solve_any};
    int k = c->m->block;
    int few = c->n <= KNOWN && (k == 3 || k == 5) && f->nreal == 1 && m == 1 && !transpose;
    return (k == 5 ? five : three)[few ? c->n : 0](c, f, transpose, m, to, Z);
}
