/* bvp.h - two-point boundary value problems by collocation, with exact derivatives of the discrete solution.

       M y' = f(t, y, p)   or   F(t, y, y', p) = 0,   M and F_y' regular;      q' = r(t, y, p), q(a) = 0;
       g(y(a), y(b), p) = 0,   n boundary conditions, which may couple both ends.

   On a mesh a = t_0, t_1, .. t_N = b, one step of a Runge-Kutta method spans each interval.  The stages of all
   intervals, y at all mesh points and the boundary conditions form one nonlinear system, which is solved by a damped
   Newton iteration: no initial value problem is integrated.  The mesh is adapted until the estimated error of y and q
   is within the tolerance everywhere in [a, b].

   Tangents, adjoints of several functionals at once and Hessian-vector products differentiate the solution of this
   system on its final mesh.  They are exact to round-off and share one factorisation.  Mesh points keep their relative
   positions between a, the breaks and b, so that derivatives with respect to a, the breaks and b are also available.

   Conventions as in costate.h.  N = n + nq: a state vector is y[0..n), q[0..nq).  b may be less than a.  Arrays of
   several columns are stored by columns. */
#ifndef COSTATE_BVP_H
#define COSTATE_BVP_H

#include <costate/costate.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct costate_bvp costate_bvp;

/* ---- methods: Gauss, Radau IIA, Lobatto IIIA, sdirk ---------------------------------------------------------- */

/** The methods that costate_bvp_new accepts: the families firk, sdirk and collocation.  NULL: no such number.  Values
   at mesh points have the order of the method; values between them have the order of its dense output, or one more. */
int costate_bvp_method_count(void);
const costate_method *costate_bvp_method_at(int k);

/* ---- conditions and options ------------------------------------------------------------------------------------ */

typedef struct {
    costate_map map;      /**< g: count values, 0 where the conditions are satisfied.  x->y holds y(a) followed by y(b),
                               2n; x->t is 0, so times that the conditions depend on must be parameters.  Gradients with
                               respect to y also have 2n entries.  Solving needs the value; its Jacobian is formed from
                               tangent, else from adjoint, else by differences */
    int count;            /**< must be n */
    const costate_pattern *pattern;     /**< of the Jacobian with respect to y(a), y(b): n rows, pattern->n = 2n
                                             columns; NULL: dense.  Only used by sparse solvers */
    void *ctx;            /**< NULL: that of the problem */
} costate_conditions;

/** what on_iteration receives */
typedef struct {
    int mesh, iteration;  /**< numbers of this mesh and of the iteration on it, from 0 */
    int intervals;
    double size;          /**< root mean square of the correction, in units of the tolerance */
    double damping;       /**< the fraction of the correction that was added */
    double error;         /**< estimated on the previous mesh, in units of the tolerance; NaN: there was none */
} costate_bvp_iteration;

/** All zero is the default. */
typedef struct {
    double rtol, atol;              /**< 1e-6, 1e-6: errors of y_i and q_i up to atol + rtol |y_i|, |q_i| at every t */
    const double *atol_vector;      /**< n + nq values instead of atol, or NULL */
    int nbreaks;
    const double *breaks;           /**< times inside (a, b), ordered from a to b, at which f may jump.  They are always
                                         mesh points; x->mode is the number of the piece between them, 0 at a */
    int intervals;                  /**< of the first mesh if none is given: 8, but at least one per piece.  A guess
                                         with more intervals becomes the first mesh, unless `fixed` is set */
    int max_mesh;                   /**< most intervals of a mesh: 10000 */
    int fixed;                      /**< 1: the given mesh is kept; errors are estimated, but not controlled */
    int newton_max;                 /**< iterations per mesh: 50 */
    int solver;                     /**< enum costate_solver.  COSTATE_LS_DENSE: blocks of n*n are eliminated interval
                                         by interval, in N n^3 operations.  A sparse solver factors the whole system in
                                         the pattern of the problem.  COSTATE_LS_AUTO: sparse if n > 60 and there is a
                                         pattern, else dense */
    const struct costate_backend *backend;  /**< a linear solver of your own for the whole system, instead of
                                                 `solver` */
    int differences;                /**< 1: missing derivatives are replaced by finite differences (inexact) */
    int (*on_iteration)(const costate_bvp_iteration *, void *ctx);    /**< != 0 stops with COSTATE_STOPPED */
    void *on_iteration_ctx;
} costate_bvp_options;

typedef struct {
    int meshes, iterations;         /**< of the last solve: meshes used, Newton iterations */
    int damped;                     /**< iterations in which less than the full correction was added */
    long decompositions, solves;    /**< of the whole system, summed over all calls; solves: right-hand sides */
    double error;                   /**< of the last solve, in units of the tolerance: estimated for each interval, and
                                         enlarged where the problem is ill-conditioned */
    double rcond;                   /**< reciprocal condition number: how well the conditions determine y(a), y(b), from
                                         the last factorisation; 0: no solution, or many.  NaN: unknown (sparse
                                         solvers) */
    costate_stats calls;            /**< of the callbacks */
} costate_bvp_stats;

/* ---- solving --------------------------------------------------------------------------------------------------- */

/** Creates a solver.  NULL is returned only if malloc fails.  If an argument is wrong, every call returns the same
   status and the message explains it.  What the structs point to is not copied and must outlive the solver. */
costate_bvp *costate_bvp_new(const costate_method *, const costate_problem *, const costate_conditions *,
                             const costate_bvp_options *);
void costate_bvp_free(costate_bvp *);
/** Like costate_abandon in costate.h: a callback must not call its own solver (COSTATE_BAD_ARGUMENT); after an
   exception or longjmp left a callback, the solver is in the state of one that has not solved anything yet. */
void costate_bvp_abandon(costate_bvp *);
const char *costate_bvp_message(const costate_bvp *);
const costate_bvp_stats *costate_bvp_get_stats(const costate_bvp *);

/** Initial guess for the next solve only: y at some times (n by points, ordered from a to b), interpolated linearly and
   constant beyond; t NULL: the points are equidistant in [a, b].  The values are copied.  Without a guess, a solve
   starts from the last solution and its mesh, stretched to [a, b] (continuation), or from y = 0 if there is none. */
int costate_bvp_guess(costate_bvp *, int points, const double *t, const double *y);
/** Initial mesh for the next solve only: `points` times from a to b, both included.  Breaks that are not among them are
   added. */
int costate_bvp_mesh(costate_bvp *, int points, const double *t);

/** Solves the problem.  COSTATE_OK: the system on the final mesh is solved to round-off.  After a failure,
   costate_bvp_get and costate_bvp_eval return the last iterate, and the next solve starts from the last solution:
       COSTATE_NEWTON       the iteration stalled, also on finer initial meshes: the message says where, and which
                            component is the worst
       COSTATE_MESH_LIMIT   the tolerance is not met with max_mesh intervals
       COSTATE_SINGULAR     the conditions do not determine the solution, or M is singular */
int costate_bvp_solve(costate_bvp *, double a, double b, const double *p);

int costate_bvp_intervals(const costate_bvp *);                          /**< 0: no solution or iterate yet */
int costate_bvp_get(const costate_bvp *, int k, double *t, double *Y);   /**< mesh point k, 0 .. intervals; Y: N */
int costate_bvp_eval(costate_bvp *, double t, double *Y);                /**< (y, q)(t), a <= t <= b, N values */

/* ---- derivatives ------------------------------------------------------------------------------------------------ */

/** Derivatives are those of X_k = (y, q)(t_k), N values each, at any number of points t_k in [a, b], in any order.
   They are available with respect to
       p        np parameters
       ends     a, the breaks and b: nbreaks + 2 values
       times    the t_k, with a and b fixed
       c        n values, for boundary conditions g = c
   A point that equals a, a break or b to the bit moves with it; the derivative with respect to its own time is zero.
   Directions that are NULL are zero; results that are NULL are not requested. */
typedef struct {
    int m, points;                  /**< directions; points */
    const double *t;                /**< points */
    const double *Vp;               /**< np by m */
    const double *Vends;            /**< nbreaks + 2 by m */
    const double *Vtimes;           /**< points by m */
    const double *Vc;               /**< n by m */
    double *V;                      /**< N*points by m, out: derivatives of (X_0, X_1, ..) */
} costate_bvp_tangents;

typedef struct {
    int m, points;                  /**< functionals; points */
    const double *t;
    const double *lambda;           /**< N*points by m: gradients of the functionals with respect to (X_0, X_1, ..) */
    double *mu;                     /**< np by m: gradients with respect to p, added to what it holds */
    double *ends;                   /**< nbreaks + 2 by m, out: with respect to a, the breaks, b */
    double *times;                  /**< points by m, out: with respect to the times of the points */
    double *c;                      /**< n by m, out: with respect to c */
} costate_bvp_adjoints;

/** Sets lambda (N*points) to the gradient of the functional with respect to (X_0, X_1, ..), and lambda2 (N*points by m)
   to its derivatives along the directions; both are zero on entry.  V holds the derivatives of X along the directions.
   May add direct derivatives with respect to p to mu (np) and mu2 (np by m); both are NULL if not requested.  Returns 0
   for success. */
typedef int (*costate_bvp_seed)(int points, const double *t, const double *X, const double *p, int m, const double *V,
                                const double *Vp, double *lambda, double *mu, double *lambda2, double *mu2, void *ctx);

typedef struct {
    int m, points;                  /**< directions; points */
    const double *t;
    const double *Vp, *Vends, *Vtimes, *Vc;
    costate_bvp_seed seed;
    void *ctx;
    double *mu, *ends, *times, *c;          /**< out: the gradient of the functional, as above */
    double *mu2, *ends2, *times2, *c2;      /**< out, m columns each: its derivatives along the directions */
} costate_bvp_second;

int costate_bvp_tangent(costate_bvp *, const costate_bvp_tangents *);
int costate_bvp_adjoint(costate_bvp *, const costate_bvp_adjoints *);
int costate_bvp_hessian(costate_bvp *, const costate_bvp_second *);

/** Checks a solver.  The products of the boundary conditions are checked at the solution, as by costate_check_map.  The
   problem is solved with p, and on the final mesh the check compares adjoint and tangent as transposes, the tangent
   with 8th-order differences of solutions on the frozen mesh (taylor: relative error) and, if second derivatives are
   available, Hessian products in the same way (symmetry, hessian).  The solution is restored at the end.
   COSTATE_CHECK_FAILED: a product or a difference is wrong by more than 1e-6, or transposes differ by more than 1e-10.
   */
int costate_check_bvp(costate_bvp *, double a, double b, const double *p, costate_report *);

/* ---- a program and its library: see costate.h ------------------------------------------------------------------ */

costate_bvp *costate_bvp_new_sized(size_t options_size, const costate_method *, const costate_problem *,
                                   const costate_conditions *, const costate_bvp_options *);

#ifndef COSTATE_NO_HANDSHAKE
#define costate_bvp_new(...) costate_bvp_new_sized(sizeof(costate_bvp_options), __VA_ARGS__)
#endif

#ifdef __cplusplus
}
#endif
#endif
