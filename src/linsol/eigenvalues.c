/* eigenvalues.c - all eigenvalues of a real matrix: balancing, Hessenberg form, QR iteration.

   Balancing (Parlett, Reinsch, Numer. Math. 13 (1969) 293): A <- D^-1 A D, where D contains powers of 2, until the sums
   of moduli of each row and column, without the diagonal, are alike.  Hessenberg form: Householder reflections
   (Golub, Van Loan, Matrix Computations, 4th ed., algorithm 7.4.2).  Eigenvalues: implicit double shifts (Francis,
   Computer J. 4 (1961) 265, 332; Golub, Van Loan, algorithms 7.5.1 and 7.5.2), with the first column in the form of
   hqr (Martin, Peters, Wilkinson, Numer. Math. 14 (1970) 219), which does not form products of small numbers.

   A is divided by a power of 2 first, so that no square overflows or underflows. */
#include <float.h>
#include <math.h>
#include <stddef.h>
#include "linsol/eigenvalues.h"

/* hqr: sweeps for one eigenvalue; every tenth of them has other shifts */
enum { MOST_SWEEPS = 30, EXCEPTIONAL = 10 };
/* hqr: the sum of these shifts, and their product, in units of the last subdiagonal entries */
static const double SHIFT_SUM = 1.5, SHIFT_PRODUCT = 1.0;
/* Parlett, Reinsch: a row and a column are scaled if this makes the sum of their moduli smaller by 5 % */
static const double WORTH = 0.95;

typedef struct { int n; double *a; } matrix;

static inline double *at(const matrix *A, int i, int j) { return A->a + (size_t)j * (size_t)A->n + i; }

/* *scale <- e, A <- A / 2^e, whose largest entry is between 1/2 and 1.  1: an entry is not finite */
static int normalise(const matrix *A, int *scale)
{
    double most = 0;
    size_t count = (size_t)A->n * (size_t)A->n;
    *scale = 0;
    for (size_t k = 0; k < count; k++) {
        if (!isfinite(A->a[k])) return 1;
        most = fmax(most, fabs(A->a[k]));
    }
    (void)frexp(most, scale);
    for (size_t k = 0; k < count; k++) A->a[k] = ldexp(A->a[k], -*scale);
    return 0;
}

/* f: the power of 2 by which column i is to be multiplied, and row i divided; 1: nothing to gain */
static double balance(const matrix *A, int i)
{
    double column = 0, row = 0, f = 1;
    for (int j = 0; j < A->n; j++) {
        if (j == i) continue;
        column += fabs(*at(A, j, i));
        row += fabs(*at(A, i, j));
    }
    if (column == 0 || row == 0) return 1;
    double before = column + row;
    for (; column < row / 2; column *= 4) f *= 2;
    for (; column >= row * 2; column /= 4) f /= 2;
    return (column + row) / f < WORTH * before ? f : 1;
}

static void balance_all(const matrix *A)
{
    for (int changed = 1; changed;) {
        changed = 0;
        for (int i = 0; i < A->n; i++) {
            double f = balance(A, i);
            if (f == 1) continue;
            changed = 1;
            for (int j = 0; j < A->n; j++) {
                *at(A, j, i) *= f;
                *at(A, i, j) /= f;
            }
        }
    }
}

/* The reflection I - beta v v^T that maps x, `count` numbers, to a multiple of the first unit vector: v replaces x, and
   first is that multiple.  Returns beta, 0 if all but x_0 are 0. */
static double reflection(int count, double *x, double *first)
{
    double size = 0, sum = 0, rest = 0;
    for (int i = 0; i < count; i++) size = fmax(size, fabs(x[i]));
    for (int i = 1; i < count; i++) rest = fmax(rest, fabs(x[i]));
    *first = x[0];
    if (rest == 0) return 0;
    for (int i = 0; i < count; i++) {
        x[i] /= size;
        sum += x[i] * x[i];
    }
    double length = x[0] > 0 ? -sqrt(sum) : sqrt(sum);
    x[0] -= length;
    *first = length * size;
    return -1 / (length * x[0]);
}

/* rows i, .. i + count - 1 of columns from .. to - 1: A <- (I - beta v v^T) A */
static void reflect_rows(const matrix *A, int i, int count, const double *v, double beta, int from, int to)
{
    for (int j = from; j < to; j++) {
        double sum = 0, *a = at(A, i, j);
        for (int k = 0; k < count; k++) sum += v[k] * a[k];
        for (int k = 0; k < count; k++) a[k] -= beta * sum * v[k];
    }
}

/* columns j, .. j + count - 1 of rows from .. to - 1: A <- A (I - beta v v^T) */
static void reflect_columns(const matrix *A, int j, int count, const double *v, double beta, int from, int to)
{
    for (int i = from; i < to; i++) {
        double sum = 0;
        for (int k = 0; k < count; k++) sum += v[k] * *at(A, i, j + k);
        for (int k = 0; k < count; k++) *at(A, i, j + k) -= beta * sum * v[k];
    }
}

/* A <- Q^T A Q with zeros below the subdiagonal; v: n numbers of work */
static void hessenberg(const matrix *A, double *v)
{
    for (int j = 0; j + 2 < A->n; j++) {
        int count = A->n - j - 1;
        double first;
        for (int k = 0; k < count; k++) v[k] = *at(A, j + 1 + k, j);
        double beta = reflection(count, v, &first);
        reflect_rows(A, j + 1, count, v, beta, j + 1, A->n);
        reflect_columns(A, j + 1, count, v, beta, 0, A->n);
        *at(A, j + 1, j) = first;
        for (int k = 1; k < count; k++) *at(A, j + 1 + k, j) = 0;
    }
}

/* The first row of the last block that is not divided by a zero below the diagonal: an entry that is zero to the
   round-off of its neighbours on the diagonal, or too small to divide by. */
static int block_begins(const matrix *H, int last)
{
    int k = last;
    for (; k > 0; k--) {
        double scale = fabs(*at(H, k - 1, k - 1)) + fabs(*at(H, k, k));
        if (fabs(*at(H, k, k - 1)) <= DBL_EPSILON * scale + DBL_MIN) break;
    }
    return k;
}

/* x, 3 numbers: a multiple of the first column of (H - a I)(H - b I), where a and b are the eigenvalues of the last two
   rows and columns of the block, or other numbers if these did not help. */
static void first_column(const matrix *H, int from, int last, int exceptional, double *x)
{
    double h = *at(H, from, from), below = *at(H, from + 1, from);
    double a = *at(H, last, last), b = *at(H, last - 1, last - 1), w = *at(H, last, last - 1) * *at(H, last - 1, last);
    double sum = a + b, product = a * b - w;
    double r = a - h, s = b - h, constant = r * s - w;                       /* h^2 - h sum + product */
    if (exceptional) {
        double size = fabs(*at(H, last, last - 1)) + fabs(*at(H, last - 1, last - 2));
        sum = SHIFT_SUM * size;
        product = SHIFT_PRODUCT * size * size;
        constant = h * h - h * sum + product;
    }
    x[0] = constant / below + *at(H, from, from + 1);
    x[1] = h + *at(H, from + 1, from + 1) - sum;
    x[2] = *at(H, from + 2, from + 1);
}

/* One sweep over the block of at least three rows: the bulge of 3 by 3 entries moves down the diagonal. */
static void sweep(const matrix *H, int from, int last, int exceptional)
{
    double x[3], first;
    first_column(H, from, last, exceptional, x);
    for (int k = from; k < last; k++) {
        int count = last - k < 2 ? 2 : 3, end = k + 3 < last ? k + 3 : last;
        for (int i = 0; k > from && i < count; i++) x[i] = *at(H, k + i, k - 1);
        double beta = reflection(count, x, &first);
        if (k > from) {
            *at(H, k, k - 1) = first;
            for (int i = 1; i < count; i++) *at(H, k + i, k - 1) = 0;
        }
        reflect_rows(H, k, count, x, beta, k, last + 1);
        reflect_columns(H, k, count, x, beta, from, end + 1);
    }
}

/* the eigenvalues of two rows, of real ones as in hqr, where no difference of close roots is formed */
static void two(double a, double b, double c, double d, double *re, double *im)
{
    double p = (a - d) / 2, q = p * p + b * c, root = sqrt(fabs(q));
    re[0] = re[1] = d + p;
    im[0] = root;
    im[1] = -root;
    if (q < 0) return;
    double z = p < 0 ? p - root : p + root;
    re[0] = d + z;
    re[1] = z == 0 ? d : d - b * c / z;
    im[0] = im[1] = 0;
}

static int iterate(const matrix *H, double *re, double *im)
{
    for (int last = H->n - 1, sweeps = 0; last >= 0;) {
        int from = block_begins(H, last);
        if (last - from > 1) {
            if (++sweeps > MOST_SWEEPS) return 1;
            sweep(H, from, last, sweeps % EXCEPTIONAL == 0);
            continue;
        }
        if (last == from) {
            re[last] = *at(H, last, last);
            im[last] = 0;
        } else {
            two(*at(H, from, from), *at(H, from, last), *at(H, last, from), *at(H, last, last), re + from, im + from);
        }
        last = from - 1;
        sweeps = 0;
    }
    return 0;
}

int eigenvalues(int n, double *A, double *re, double *im)
{
    const matrix M = {n, A};
    int scale;
    if (normalise(&M, &scale)) return 1;
    balance_all(&M);
    hessenberg(&M, re);
    if (iterate(&M, re, im)) return 1;
    for (int k = 0; k < n; k++) {
        re[k] = ldexp(re[k], scale);
        im[k] = ldexp(im[k], scale);
    }
    return 0;
}
