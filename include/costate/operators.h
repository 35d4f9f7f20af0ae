/* operators.h - ready-made matrices for COSTATE_LS_PRECONDITIONER: splittings (ADI) and Chebyshev polynomials.

   A W-method takes one linear operator P^-1 per stage, where P approximates sigma M - f_y (see costate_preconditioner).
   This header provides two:

       costate_splitting   one solve for each direction of a grid, or for each process: approximate matrix factorisation
       costate_chebyshev   a fixed number of Chebyshev iterations around a preconditioner of your own, such as multigrid

   Both are linear with exact transposes, so that tangents and adjoints are transposes of each other to round-off.  Like
   a solver, an operator must not be used by two threads at the same time: give each solver its own.  The Fortran module
   is costate_operators. */
#ifndef COSTATE_OPERATORS_H
#define COSTATE_OPERATORS_H

#include <costate/costate.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- splittings ---------------------------------------------------------------------------------------------- */

/** One of the matrices A_1 .. A_d, whose sum approximates f_y.  It is either a matrix in a pattern or a set of lines.
   Set one of `matrix` and `lines`; what belongs to the other is ignored.

   Lines are tridiagonal matrices along one dimension of a tensor grid.  Neighbours in a line are `stride` unknowns
   apart: unknown i is point (i / stride) % points of its line, and stride * points must divide n.  Row i couples
   unknowns i - stride, i and i + stride.  With m interleaved components on a grid of nx by ny points, y[m*(i + nx*j) +
   c], lines along x have points = nx and stride = m; lines along y have points = ny and stride = m*nx.  Lines with the
   same entries share one factorisation.

   The callbacks are called when p has changed, and return what the callbacks of a map return.  The matrices must not
   depend on x->t or x->y, because an operator must be the same for a given sigma and p. */
typedef struct {
    int (*matrix)(const costate_point *x, double *A, void *ctx);       /**< values in the pattern; zero on entry */
    const costate_pattern *pattern;     /**< kept, not copied */
    int solver;                         /**< enum costate_solver of its factorisation: a direct one; 0: chosen by n and
                                             the pattern */
    int (*lines)(const costate_point *x, double *lower, double *diagonal, double *upper, void *ctx);   /**< n values
                                                                                                            each, zero
                                                                                                            on entry.
                                                                                                            lower[i]
                                                                                                            multiplies
                                                                                                            unknown i -
                                                                                                            stride,
                                                                                                            upper[i]
                                                                                                            unknown i +
                                                                                                            stride.  At
                                                                                                            the ends of
                                                                                                            a line, the
                                                                                                            values that
                                                                                                            would leave
                                                                                                            it are
                                                                                                            ignored, or
                                                                                                            wrap around
                                                                                                            if the lines
                                                                                                            are
                                                                                                            periodic */
    int points, stride;                 /**< >= 1 */
    int periodic;                       /**< 1: the ends of each line are neighbours */
    void *ctx;                          /**< NULL: that of the problem */
} costate_part;

typedef struct costate_splitting costate_splitting;

/** Creates the operator

       P = sigma M (I - M^-1 A_1/sigma) ... (I - M^-1 A_d/sigma),     d = count >= 1,

   for a problem, of which n, np, mass, pattern and ctx are used.  M must be diagonal and regular.  The array of parts
   is copied, what it points to is not.  P differs from sigma M - A_1 - ... - A_d by terms of the size of A_i A_j/sigma.

   Lines are eliminated without pivots.  This is safe if their matrices are diagonally dominant, as those of diffusion
   and upwind differences are.  If a pivot is too small, the run tries a smaller step, which makes it larger.

   NULL: no memory for the object itself.  All other failures are reported by costate_splitting_status and by the first
   setup, which ends the run. */
costate_splitting *costate_splitting_new(const costate_problem *, int count, const costate_part *parts);
void costate_splitting_free(costate_splitting *);       /**< after the solvers that use it; accepts NULL */
const costate_preconditioner *costate_splitting_preconditioner(costate_splitting *);   /**< for options.preconditioner;
                                                                                            lives as long as the
                                                                                            splitting */
int costate_splitting_status(const costate_splitting *);       /**< of the constructor or of the last setup or solve; >
                                                                    0: a smaller step is requested */
const char *costate_splitting_message(const costate_splitting *);      /**< a sentence about it; never NULL */

/* ---- Chebyshev polynomials ----------------------------------------------------------------------------------- */

/** All zero, except what is set. */
typedef struct {
    const costate_preconditioner *inner;        /**< B, an approximation of (sigma M - f_y)^-1: kept, not copied */
    int (*apply)(int transpose, const double *x, double *out, void *ctx);      /**< out = L x or L^T x, where the
                                                                                    constant matrix L approximates f_y:
                                                                                    the stiff linear part of f.  Returns
                                                                                    what the callbacks of a map
                                                                                    return */
    void *ctx;                          /**< of apply; NULL: that of the problem */
    int terms;                          /**< k >= 1: applications of B, each after the first with one of L */
    double lo, hi;                      /**< 0 < lo <= hi: the interval of the eigenvalues of B (sigma M - L) */
    int columns;                        /**< most columns that B receives at once; 0: 1.  Memory: 3 n numbers each */
} costate_polynomial;

typedef struct costate_chebyshev costate_chebyshev;

/** Creates the operator P^-1 = p(B K) B with K = sigma M - L, where p is the polynomial of degree k - 1 for which
   1 - lambda p(lambda) is smallest on [lo, hi]: k terms of Chebyshev's iteration from x = 0, without inner products, so
   that it is linear.  For lambda in [lo, hi] it is at most 1/T_k((hi + lo)/(hi - lo)); k = 1 is 2/(lo + hi) B.  n,
   mass, pattern and ctx of the problem are used.  B must be linear with an exact transpose, like any matrix of a
   W-method.

   NULL: no memory for the object itself.  All other failures are reported by costate_chebyshev_status and by the first
   setup, which ends the run. */
costate_chebyshev *costate_chebyshev_new(const costate_problem *, const costate_polynomial *);
void costate_chebyshev_free(costate_chebyshev *);       /**< after the solvers that use it; accepts NULL */
const costate_preconditioner *costate_chebyshev_preconditioner(costate_chebyshev *);   /**< lives as long as that */
int costate_chebyshev_status(const costate_chebyshev *);        /**< like costate_splitting_status */
const char *costate_chebyshev_message(const costate_chebyshev *);      /**< never NULL */

#ifdef __cplusplus
}
#endif
#endif
