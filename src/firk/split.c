/* split.c (firk) - all stages at once: the coupled system split by the eigenvalues of A^-1 into n by n ones. */
#include "firk/firk.h"

/* pair <- re + i sign im, and back */
static void join(size_t n, const double *restrict re, const double *restrict im, double sign, double *restrict pair)
{
    for (size_t l = 0; l < n; l++) { pair[2 * l] = re[l]; pair[2 * l + 1] = sign * im[l]; }
}

static void part(size_t n, const double *restrict pair, double sign, double *restrict re, double *restrict im)
{
    for (size_t l = 0; l < n; l++) { re[l] = pair[2 * l]; im[l] = sign * pair[2 * l + 1]; }
}

/* out_i = sum_j A_ij X_j, transposed A_ji */
static void transform(size_t n, int k, const double *A, int transpose, const double *X, double *out)
{
    double turned[STAGES_MOST * STAGES_MOST];
    for (int i = 0; transpose && i < k; i++) for (int j = 0; j < k; j++) turned[i * k + j] = A[j * k + i];
    mix(n, out, 0, 1, k, transpose ? turned : A, X);
}

/* X = T diag-solve(Ti Z), transposed X = Ti^T diag-solve(T^T Z) with plain transposed
   solves; a pair's real and imaginary parts are two rows, transposed its conjugate (step-maps 3.1). */
static int solve_coupled(stepper *c, const factors *f, int transpose, const accuracy *to, double *Z)
{
    size_t n = (size_t)c->n;
    int k = c->m->block;
    double *R = work(c)->R + (size_t)k * n, *pair = work(c)->pair;
    transform(n, k, transpose ? c->m->T : c->m->Ti, transpose, Z, R);
    for (int i = 0; i < f->nreal; i++) TRY(factors_solve(c->sh, f, i, transpose, 1, to, R + (size_t)i * n));
    for (int i = 0; i < f->npair; i++) {
        double *re = R + (size_t)(f->nreal + 2 * i) * n, *im = re + n, sign = transpose ? -1 : 1;
        join(n, re, im, sign, pair);
        TRY(factors_solve(c->sh, f, f->nreal + i, transpose, 1, to, pair));
        part(n, pair, sign, re, im);
    }
    transform(n, k, transpose ? c->m->Ti : c->m->T, transpose, R, Z);
    return 0;
}

int firk_solve(stepper *c, const factors *f, int transpose, int m, const accuracy *to, double *Z)
{
    size_t len = (size_t)c->m->block * (size_t)c->n;
    for (int j = 0; j < m; j++) TRY(solve_coupled(c, f, transpose, to, Z + (size_t)j * len));
    return 0;
}
