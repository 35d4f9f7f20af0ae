/* lines_factor.c - factorisations of tridiagonal matrices, of several lines at once.

   A line T of N points is factored as T = L D U without pivots (mathematics, eq. 6.30).  With rows a_k, b_k, c_k:

       d_0 = b_0,   l_k = a_{k+1}/d_k,   u_k = c_k/d_k,   d_{k+1} = b_{k+1} - l_k c_k

   and, if the line is periodic, a last row m of L and a last column g of U, which fill in.  What is stored are l, u, m,
   g and the inverses of the pivots d.  T^T = U^T D L^T: the transposed solve exchanges l with u and m with g. */
#include <float.h>
#include <math.h>
#include <string.h>
#include "operators/lines.h"

/* Elimination without pivots is as accurate as the entries that it makes are small compared to those that were there:
   it may lose three digits. */
static const double GROWTH = 1e3;
static const double SINGULAR = 16 * DBL_EPSILON;        /* a pivot of this size is nothing but round-off of its row */

static size_t size_of(const tridiagonals *f, const line_set *s) { return f->points * (size_t)s->lanes; }

line_factors lines_factors(const tridiagonals *f, const line_set *s)
{
    size_t size = size_of(f, s);
    double *x = f->factor + (size_t)f->factors * s->at;
    return (line_factors){.l = x, .d = x + size, .u = x + 2 * size, .m = f->periodic ? x + 3 * size : NULL,
                          .g = f->periodic ? x + 4 * size : NULL};
}

/* l, d, u <- the rows of unit - by A */
static void form(const tridiagonals *f, const line_set *s, double sigma, int first, line_factors to)
{
    size_t size = size_of(f, s);
    const double *row = f->row + (size_t)f->rows * s->at, *mass = f->rows > 3 ? row + 3 * size : NULL;
    for (size_t i = 0; i < size; i++) {
        double sigma_m = mass ? sigma * mass[i] : sigma, unit = first ? sigma_m : 1, by = first ? 1 : 1 / sigma_m;
        to.l[i] = -(by * row[i]);
        to.d[i] = unit - by * row[size + i];
        to.u[i] = -(by * row[2 * size + i]);
    }
}

/* Is this pivot to be divided by, after `fill` was subtracted from a row with entries of this size?  Not if NaN. */
static int sound(double pivot, double fill, double size)
{
    return fabs(fill) <= GROWTH * size && fabs(pivot) > SINGULAR * size;
}

/* step k of the chain: the pivot becomes its inverse, l and u those of the link from k to k + 1 */
static int eliminate(line_factors f, size_t lanes, size_t k)
{
    double *l = f.l + k * lanes, *d = f.d + k * lanes, *u = f.u + k * lanes;
    size_t good = 0;
    for (size_t i = 0; i < lanes; i++) {
        size_t next = i + lanes;
        double size = fabs(l[next]) + fabs(d[next]) + fabs(u[next]), fill;
        d[i] = 1 / d[i];
        l[i] = l[next] * d[i];
        fill = l[i] * u[i];
        u[i] *= d[i];
        d[next] -= fill;
        good += (size_t)sound(d[next], fill, size);
    }
    return good == lanes;
}

static int factor_chain(line_factors f, size_t lanes, size_t chain)
{
    int good = 1;
    for (size_t i = 0; i < lanes; i++) good &= sound(f.d[i], 0, fabs(f.d[i]) + fabs(f.u[i]));
    for (size_t k = 0; k + 1 < chain && good; k++) good = eliminate(f, lanes, k);
    for (size_t i = (chain - 1) * lanes; i < chain * lanes; i++) f.d[i] = 1 / f.d[i];
    return good;
}

/* The last point of a periodic line is eliminated last.  Its row and column of the matrix, to m and g, as far as they
   couple it to the chain of the others: with the first and the last of them, which may be the same. */
static void take_border(line_factors f, size_t lanes, size_t chain)
{
    memset(f.m, 0, chain * lanes * sizeof *f.m);
    memset(f.g, 0, chain * lanes * sizeof *f.g);
    for (size_t i = 0; i < lanes; i++) {
        size_t before = (chain - 1) * lanes + i, last = chain * lanes + i;
        f.m[i] = f.u[last];
        f.m[before] += f.l[last];
        f.g[i] = f.l[i];
        f.g[before] += f.u[before];
    }
}

/* The border decays from point to point.  Numbers below the normal ones would slow down every solve. */
static double normal(double x) { return fabs(x) < DBL_MIN ? 0 : x; }

/* m <- the last row of L, g <- the last column of U, and the last pivot */
static int factor_border(line_factors f, size_t lanes, size_t chain)
{
    size_t end = chain * lanes, good = 0;
    double fill[LANES] = {0};
    for (size_t k = lanes; k < end; k++) {
        f.m[k] = normal(f.m[k] - f.u[k - lanes] * f.m[k - lanes]);
        f.g[k] = normal(f.g[k] - f.l[k - lanes] * f.g[k - lanes]);
    }
    for (size_t k = 0; k < end; k++) {
        fill[k % lanes] += f.m[k] * f.d[k] * f.g[k];
        f.m[k] *= f.d[k];
        f.g[k] *= f.d[k];
    }
    for (size_t i = 0; i < lanes; i++) {
        double pivot = f.d[end + i] - fill[i];
        good += (size_t)sound(pivot, fill[i], fabs(f.d[end + i]));
        f.d[end + i] = 1 / pivot;
    }
    return good == lanes;
}

static int factor_set(const tridiagonals *f, const line_set *s, double sigma, int first)
{
    line_factors at = lines_factors(f, s);
    size_t lanes = (size_t)s->lanes, chain = f->periodic ? f->points - 1 : f->points;
    form(f, s, sigma, first, at);
    if (f->periodic) take_border(at, lanes, chain);
    return factor_chain(at, lanes, chain) && (!f->periodic || factor_border(at, lanes, chain));
}

int lines_factor(tridiagonals *f, double sigma, int first)
{
    int good = 1;
    for (size_t k = 0; k < f->sets && good; k++) good = factor_set(f, &f->set[k], sigma, first);
    return good;
}
