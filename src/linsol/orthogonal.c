/* orthogonal.c - Gram-Schmidt orthogonalisation of one vector.

   On one process: modified Gram-Schmidt in blocks of four, with four inner products in one pass and four subtractions
   in another.  This takes half the memory traffic of single vectors.  It is done only once, because a solution is
   judged by its true residual, and the cycle of GMRES does not need a better basis (Paige, Rozloznik, Strakos, SIMAX 28
   (2006) 264, for single vectors).  It needs k/4 sums over processes; so on several processes it is classical
   Gram-Schmidt, with all inner products in one sum, done twice (Giraud, Langou, Rozloznik, van den Eshof, Numer. Math.
   101 (2005) 87). */
#include "linsol/orthogonal.h"

enum { LANES = 8 };

/* h: inner products of v with q, q + n, q + 2 n, q + 3 n */
static void dot_four(size_t n, const double *restrict q, const double *restrict v, double *h)
{
    const double *a = q, *b = q + n, *c = q + 2 * n, *d = q + 3 * n;
    double s[4][LANES] = {{0}};
    size_t i = 0;
    for (; i + LANES <= n; i += LANES)
        for (size_t l = 0; l < LANES; l++) {
            double x = v[i + l];
            s[0][l] += a[i + l] * x;
            s[1][l] += b[i + l] * x;
            s[2][l] += c[i + l] * x;
            s[3][l] += d[i + l] * x;
        }
    for (int k = 0; k < 4; k++) {
        const double *p = s[k];
        h[k] = ((p[0] + p[1]) + (p[2] + p[3])) + ((p[4] + p[5]) + (p[6] + p[7]));
    }
    for (; i < n; i++) {
        h[0] += a[i] * v[i];
        h[1] += b[i] * v[i];
        h[2] += c[i] * v[i];
        h[3] += d[i] * v[i];
    }
}

static void by_fours(size_t n, int k, const double *Q, double *v, double *h)
{
    int j = 0;
    for (; j + 4 <= k; j += 4) {
        dot_four(n, Q + (size_t)j * n, v, h + j);
        combine(n, v, v, -1, 4, h + j, Q + (size_t)j * n, n);
    }
    for (; j < k; j++) {
        h[j] = dot(n, Q + (size_t)j * n, v);
        axpy(n, -h[j], Q + (size_t)j * n, v);
    }
}

int orthogonalise(const space *s, size_t n, int k, const double *Q, double *v, double *h, double *again)
{
    if (!s->sum) by_fours(n, k, Q, v, h);
    for (int pass = 0; s->sum && pass < 2; pass++) {
        double *part = pass ? again : h;
        TRY(space_dots(s, n, k, Q, n, v, part));
        combine_many(n, v, -1, k, part, Q);
        for (int j = 0; pass && j < k; j++) h[j] += again[j];
    }
    TRY(space_dots(s, n, 1, v, n, v, &h[k]));
    h[k] = sqrt(h[k]);
    return 0;
}
