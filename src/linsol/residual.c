/* residual.c - the accuracy of a solution x of A x = b, from its residual r = b - A x (mathematics, eq. 8.6 to 8.8).

   With size = |A||x| + |b|, max |r_i| / size_i is the componentwise backward error: x solves a system whose entries
   differ from those of A and b by no more than that, relatively (Oettli, Prager, Numer. Math. 6 (1964) 405).  It
   depends neither on scales nor on the condition of A, and it bounds the contribution of x to the gap between a tangent
   v and its adjoint: |r^T v| <= error |x|^T |A| |v|. */
#include <math.h>
#include "base/larger.h"
#include "base/vec.h"
#include "linsol/residual.h"

/* The residual of a tangent is measured in the norm of errors, that of an adjoint in the dual norm.  Because only
   ratios matter, the largest weight is set to 1, so that products with tiny or huge numbers do not overflow. */
int residual_weights(const maps *a, int transpose, int len, double *w)
{
    const double RANGE = 1e-150;        /* its square is still a number */
    double most = 0;
    for (int i = 0; i < a->n; i++) most = fmax(most, transpose ? 1 / a->bound.w[i] : a->bound.w[i]);
    TRY(space_greatest(&a->space, &most));
    for (int i = 0; i < len; i++)
        w[i] = i < a->n ? fmax(RANGE, (transpose ? 1 / a->bound.w[i] : a->bound.w[i]) / most) : w[i - a->n];
    return 0;
}

/* STANDSTILL: a cycle that leaves more than this part is the last one.  A half lies between the digits that a
   successful cycle gains and the few per cent by which round-off changes a residual.
   CYCLES: this many more cycles at most, if each gains what the last one did.  A system then takes no more than some 25
   cycles: if d digits are left, each has to gain d/CYCLES of them, so that d shrinks by a tenth at least, until a half
   is required. */
int another_cycle(double gained, double needed)
{
    const double STANDSTILL = 0.5, CYCLES = 10;
    return gained < STANDSTILL && pow(gained, CYCLES) <= needed;
}

/* Measured: with 8 eps shallow water takes a seventh more iterations, and gaps are no smaller. */
int at_round_off(double error) { return error <= LEAST_BACKWARD_ERROR; }

/* 500 eps, 1e-13: above the round-off of products and solves of large systems, far below what a wrong jac leaves.
   Products by central differences have lost a third of the digits, nested ones half of them. */
double backward_stable(const maps *a) { return a->differences ? 1e-8 : 500 * DBL_EPSILON; }

/* Stagnation within two digits of tol is accepted: the requested tolerance is then near round-off. */
int solved(const maps *a, const gmres_result *g, double tol)
{
    return g->residual <= 100 * tol || g->norm <= backward_stable(a);
}

void moduli(size_t n, const double *b, double *size)
{
    for (size_t i = 0; i < n; i++) size[i] = fabs(b[i]);
}

/* A x = b - r is T x - J x, which determines J x; cancellation inside J x is not detected. */
void moduli_of_terms(size_t n, const double *b, const double *r, double *size)
{
    for (size_t i = 0; i < n; i++) size[i] = fabs(b[i]) + fabs(size[i]) + fabs(size[i] - (b[i] - r[i]));
}

int backward_error(const space *s, size_t n, const double *w, const double *size, const double *r, double slack,
                   gmres_result *out)
{
    double most = 0;
    for (size_t i = 0; slack > 0 && i < n; i++) most = larger(most, w[i] * size[i]);
    if (slack > 0) TRY(space_greatest(s, &most));
    out->error = 0;
    for (size_t i = 0; i < n; i++)
        if (r[i] != 0) out->error = larger(out->error, fabs(r[i]) / (size[i] + slack * most / w[i]));
    TRY(space_greatest(s, &out->error));
    out->norm = out->error;
    if (at_round_off(out->error)) return 0;
    const double *both[] = {r, size};
    double norms[2];
    TRY(space_norms(s, n, 2, w, both, norms));
    out->norm = norms[0] / norms[1];
    return 0;
}
