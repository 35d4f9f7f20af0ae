/* stability.c (steady) - how fast disturbances of a steady state decay that leave the invariants as they are
   (mathematics, eq. 17.9).

   With J v = z M v in the rows R and I_y v = 0 for the others, eigenvectors satisfy A^-1 C v = v/z, C = [M_R; 0].
   Eigenvalues 1/z that are round-off belong to the invariants, to algebraic equations, or to disturbances that decay
   so fast beside the slowest ones that the run would have shown their growth. */
#include <math.h>
#include <string.h>
#include "base/modulus.h"
#include "linsol/eigenvalues.h"
#include "steady/steady.h"

static const double NONE = 1e-12,       /* of the largest 1/z */
                    NEUTRAL = 1e-10;    /* of |z|: a real part that is round-off */

/* L <- C, with the mass matrix, or that of a residual beside the last Jacobian */
static void masses(const steady *s, const limit *x)
{
    size_t n = (size_t)s->n;
    if (s->M) steady_spread(s, s->maps.residual ? s->J + s->maps.entries : s->maps.M, s->M);
    memset(s->L, 0, n * n * sizeof *s->L);
    for (int i = 0; i < s->n - x->k; i++) {
        size_t from = (size_t)x->row[i];
        for (size_t j = 0; j < n; j++) s->L[j * n + (size_t)i] = s->M ? s->M[j * n + from] : (double)(from == j);
    }
}

int steady_stability(steady *s, limit *x)
{
    masses(s, x);
    TRY(steady_solve(s, 0, s->n, s->L));
    if (eigenvalues(s->n, s->L, s->re, s->im)) return retry(&s->v, WHY_NOT_FINITE);
    double most = 0;
    x->slowest = -HUGE_VAL;
    for (int i = 0; i < s->n; i++) most = fmax(most, modulus(s->re[i], s->im[i]));
    for (int i = 0; i < s->n; i++) {
        double size = modulus(s->re[i], s->im[i]);
        double part = fabs(s->re[i]) > NEUTRAL * size ? s->re[i] / size / size : 0;
        if (size > NONE * most) x->slowest = fmax(x->slowest, part);
    }
    return 0;
}
