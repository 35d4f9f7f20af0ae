/* matrix.c (lanes) - E = sigma I - J of all lanes, its factors, and solutions with them.

   Densely: the operations of linsol/few.c in their order, with pivots of each lane; rows are exchanged as whole vectors
   where all lanes agree.  Or by the functions of the maps.  Where they, or the check of pivots (linsol/dense.c), are in
   doubt about the matrix of one lane, the backend of a run alone factors it by itself. */
#include <float.h>
#include <math.h>
#include "lanes/code.h"

/* ---- pivots ---- */

INLINE void exchange_lanes(vec *x, int64_t k, int64_t p)
{
    vec swap = x[k];
    x[k] = x[p];
    x[p] = swap;
}

INLINE void exchange_numbers(double *x, int64_t k, int64_t p, int l)
{
    double swap = x[k * LANES + l];
    x[k * LANES + l] = x[p * LANES + l];
    x[p * LANES + l] = swap;
}

/* rows k and pivot[l] of one column */
INLINE void exchange(vec *x, int k, const int64_t *pivot, int same)
{
    if (same) { if (pivot[0] != k) exchange_lanes(x, k, pivot[0]); }
    else for (int l = 0; l < LANES; l++) if (pivot[l] != k) exchange_numbers((double *)(void *)x, k, pivot[l], l);
}

INLINE int all_alike(const int64_t *pivot)
{
    int64_t other = 0;
    for (int l = 1; l < LANES; l++) other |= pivot[l] ^ pivot[0];
    return other == 0;
}

/* the first row of the largest modulus in column a, from row k on */
INLINE void find_pivots(int n, int k, const vec *a, int64_t *pivot)
{
    vec most = modulus(a[k]);
    vecbits at = (vecbits){0} + k;
    for (int i = k + 1; i < n; i++) {
        vec size = modulus(a[i]);
        vecbits larger = size > most;
        most = pick(larger, size, most);
        at = (larger & ((vecbits){0} + i)) | (~larger & at);
    }
    *(vecbits *)(void *)pivot = at;
}

/* ---- dense factors ---- */

/* x <- L^-1 x by the first columns of L, four at a time: each number is read and written less often */
INLINE void forward(int n, int count, const vec *restrict A, vec *restrict x)
{
    int k = 0;
    for (; k + 4 <= count; k += 4) {
        const vec *a = A + (size_t)k * (size_t)n, *b = a + n, *c = b + n, *d = c + n;
        vec u = x[k];
        x[k + 1] -= a[k + 1] * u;
        x[k + 2] -= a[k + 2] * u;
        x[k + 3] -= a[k + 3] * u;
        vec v = x[k + 1];
        x[k + 2] -= b[k + 2] * v;
        x[k + 3] -= b[k + 3] * v;
        vec w = x[k + 2];
        x[k + 3] -= c[k + 3] * w;
        vec z = x[k + 3];
        for (int i = k + 4; i < n; i++) x[i] = (((x[i] - a[i] * u) - b[i] * v) - c[i] * w) - d[i] * z;
    }
    for (; k < count; k++) {
        const vec *a = A + (size_t)k * (size_t)n;
        vec u = x[k];
        for (int i = k + 1; i < n; i++) x[i] -= a[i] * u;
    }
}

INLINE void backward(int n, const vec *restrict A, vec *restrict x)
{
    for (int k = n - 1; k >= 0; k--) {
        const vec *a = A + (size_t)k * (size_t)n;
        vec u = x[k] *= a[k];
        for (int i = 0; i < k; i++) x[i] -= a[i] * u;
    }
}

/* diagonal: the pivots, before they are inverted */
static void factor(int n, vec *A, int64_t *pivot, vec *diagonal)
{
    for (int k = 0; k < n; k++) {
        vec *a = A + (size_t)k * (size_t)n;
        int64_t *of_k = pivot + k * LANES;
        for (int j = 0; j < k; j++) exchange(a, j, pivot + j * LANES, all_alike(pivot + j * LANES));
        forward(n, k, A, a);
        find_pivots(n, k, a, of_k);
        int same = all_alike(of_k);
        for (int j = 0; j <= k; j++) exchange(A + (size_t)j * (size_t)n, k, of_k, same);
        vec u = diagonal[k] = a[k];
        a[k] = splat(1) / u;
        for (int i = k + 1; i < n; i++) a[i] /= u;
    }
}

static void lanes_matrix_solve(int n, const vec *A, const int64_t *pivot, vec *x)
{
    for (int k = 0; k < n; k++) exchange(x, k, pivot + k * LANES, all_alike(pivot + k * LANES));
    forward(n, n, A, x);
    backward(n, A, x);
}

static void solve_transposed(int n, const vec *restrict A, const int64_t *pivot, vec *restrict x)
{
    for (int k = 0; k < n; k++) {
        const vec *a = A + (size_t)k * (size_t)n;
        vec sum = x[k];
        for (int i = 0; i < k; i++) sum -= a[i] * x[i];
        x[k] = sum * a[k];
    }
    for (int k = n - 2; k >= 0; k--) {
        const vec *a = A + (size_t)k * (size_t)n;
        vec sum = x[k];
        for (int i = k + 1; i < n; i++) sum -= a[i] * x[i];
        x[k] = sum;
    }
    for (int k = n - 1; k >= 0; k--) exchange(x, k, pivot + k * LANES, all_alike(pivot + k * LANES));
}

/* ---- is every pivot above round-off?  convincing of linsol/dense.c ---- */

/* sum of the moduli of count numbers, in the order of sum_moduli */
INLINE vec moduli(size_t count, const vec *x)
{
    enum { AT_ONCE = 8 };
    vec rest = {0}, s[AT_ONCE] = {{0}};
    size_t whole = count / AT_ONCE * AT_ONCE;
    for (size_t i = whole; i < count; i++) rest += modulus(x[i]);
    if (!whole) return rest;
    for (size_t i = 0; i < whole; i += AT_ONCE)
        for (size_t j = 0; j < AT_ONCE; j++) s[j] += modulus(x[i + j]);
    return (((s[0] + s[1]) + (s[2] + s[3])) + ((s[4] + s[5]) + (s[6] + s[7]))) + rest;
}

/* bits of lanes in doubt */
static int doubtful(int n, const vec *A, const vec *diagonal)
{
    const double LIMIT = 2 * DBL_EPSILON;
    vec least = splat(HUGE_VAL), sum = moduli((size_t)n * (size_t)n, A);
    for (int k = 0; k < n; k++) {
        vec pivot = modulus(diagonal[k]);
        least = pick(pivot < least, pivot, least);
        sum += pivot;
    }
    vecbits sure = least > LIMIT * sum;
    if (bits_of_mask(sure) == (1 << LANES) - 1) return 0;
    vecbits all = (vecbits){0} - 1;
    for (int k = 0; k < n; k++) {
        vec pivot = modulus(diagonal[k]);
        all &= pivot > LIMIT * (pivot + moduli((size_t)k, A + (size_t)k * (size_t)n));
    }
    return bits_of_mask(~(sure | all)) & ((1 << LANES) - 1);
}

/* ---- of a step ---- */

static void form(const lane_matrix *E, int n, vec *restrict A)
{
    const vec *J = CVEC(E->J), sigma = *CVEC(E->sigma);
    if (E->at) clear_lanes(E->size, A);
    if (E->at) for (int k = 0; k < E->entries; k++) A[E->at[k]] = (vec){0} - J[k];
    else for (int k = 0; k < E->entries; k++) A[k] = (vec){0} - J[k];
    for (int j = 0; j < n; j++) A[E->diagonal[j]] += sigma;
}

/* The backend factors the matrices of these lanes; returns the bits of those that it calls singular. */
static int factor_apart(const lane_matrix *E, int n)
{
    int failed = 0;
    form(E, n, VEC(E->A));
    for (int l = 0; l < LANES; l++) {
        if (!(E->apart >> l & 1)) continue;
        for (size_t k = 0; k < E->size; k++) E->one[k] = CVEC(E->A)[k][l];
        if (E->backend->factor(E->self[l], E->one) != COSTATE_LS_OK) failed |= 1 << l;
    }
    return failed;
}

int LANED(matrix_factor)(batch *b, lane_matrix *E, const vec *h, int lanes)
{
    *VEC(E->sigma) = (1 / b->m->gamma) / *h;
    form(E, b->n, VEC(E->printed ? E->A : E->LU));
    if (E->printed) E->apart = b->maps->factor(E->A, E->LU);
    else {
        vec diagonal[FEW];
        factor(b->n, VEC(E->LU), E->pivot, diagonal);
        E->apart = doubtful(b->n, CVEC(E->LU), diagonal);
    }
    E->apart &= lanes;
    return E->apart ? factor_apart(E, b->n) : 0;
}

int LANED(matrix_of_step)(batch *b, const lane_record *r, vecbits new_J, vecbits new_E)
{
    costate_lane_point x = lane_point(b, r->t, r->y);
    counted(new_J, b->counts.jac);
    counted(new_E, b->counts.decompositions);
    int trouble = b->maps->jac(&x, b->E.J, b->ctx);
    if (trouble < 0) return trouble;
    return trouble | LANED(matrix_factor)(b, &b->E, CVEC(r->h), b->active & ~trouble);
}

static void solve_all(batch *b, const lane_matrix *E, int transpose, vec *x)
{
    if (E->printed) b->maps->solve(E->LU, transpose, (double *)(void *)x);
    else if (transpose) solve_transposed(b->n, CVEC(E->LU), E->pivot, x);
    else lanes_matrix_solve(b->n, CVEC(E->LU), E->pivot, x);
}

void LANED(matrix_solve)(batch *b, lane_matrix *E, int transpose, vec *x)
{
    double *own = E->one;               /* n numbers of each lane */
    for (int l = 0; E->apart && l < LANES; l++)
        for (int i = 0; (E->apart >> l & 1) && i < b->n; i++) own[l * b->n + i] = x[i][l];
    solve_all(b, E, transpose, x);
    for (int l = 0; E->apart && l < LANES; l++) {
        if (!(E->apart >> l & 1)) continue;
        int failed = E->backend->solve(E->self[l], transpose, 1, own + l * b->n) != COSTATE_LS_OK;
        for (int i = 0; i < b->n; i++) x[i][l] = failed ? NAN : own[l * b->n + i];
    }
}
