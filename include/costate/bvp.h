/* bvp.h - two-point boundary value problems by collocation, and exact derivatives of what was solved.

       M y' = f(t, y, p)   or   F(t, y, y', p) = 0,   M and F_y' regular;      q' = r(t, y, p), q(a) = 0;
       g(y(a), y(b), p) = 0,   n conditions, which may couple both ends.

   On a mesh a = t_0, t_1, .. t_N = b one step of a Runge-Kutta method spans each interval.  The stages of all
   intervals, y at all mesh points and the conditions are one system, solved by a damped Newton iteration: no initial
   value problem is ever integrated.  The mesh adapts until the estimated error of y and q, everywhere in [a, b], is
   within the tolerance.

   Derivatives are those of the solution of this system on its final mesh: tangents, adjoints of several functionals at
   once and Hessian products are exact to round-off for it, with one factorisation for all of them.  Mesh points keep
   their places between a, the breaks and b, which may themselves be differentiated by.

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

/* All that costate_bvp_new takes: the families firk, sdirk and collocation.  NULL: no such number.  Values at mesh
   points have the order of the method, those between them that of its dense output, up to one more. */
int costate_bvp_method_count(void);
const costate_method *costate_bvp_method_at(int k);

/* ---- conditions and options ------------------------------------------------------------------------------------ */

typedef struct {
    costate_map map;      /* count values, 0 where the conditions are met.  x->y: y(a), then y(b), 2n; x->p; x->t is 0:
                             times that they depend on are parameters.  Gradients by y have 2n entries as well.  Solving
                             needs the value, and takes tangent, else adjoint, else differences for its Jacobian */
    int count;            /* n of them */
    const costate_pattern *pattern;     /* of the Jacobian by y(a), y(b): n rows, pattern->n = 2n columns; NULL: dense.
                                           Of use to sparse solvers alone */
    void *ctx;            /* NULL: the problem's */
} costate_conditions;

typedef struct {          /* in on_iteration */
    int mesh, iteration;  /* how many meshes before this one, iterations on it before this one */
    int intervals;
    double size;          /* of the correction, in units of the tolerance: root mean square; */
    double damping;       /* of it this part was added */
    double error;         /* estimated on the mesh before, in units of the tolerance; NaN: none */
} costate_bvp_iteration;

/* All zero is the default. */
typedef struct {
    double rtol, atol;              /* 1e-6 both: errors of y_i, q_i up to atol + rtol |y_i|, |q_i|, at every t */
    const double *atol_vector;      /* n + nq values instead of atol, or NULL */
    int nbreaks;
    const double *breaks;           /* times inside (a, b), from a to b: they stay mesh points, and x->mode counts the
                                       pieces, 0 at a: f may jump there */
    int intervals;                  /* of the first mesh, where none is given: 8, or one a piece; a guess with more
                                       intervals is the first mesh itself, unless fixed; */
    int max_mesh;                   /* at most so many: 10000 */
    int fixed;                      /* 1: the mesh stays as it is given; errors are estimated, not controlled */
    int newton_max;                 /* iterations on a mesh: 50 */
    int solver;                     /* enum costate_solver: COSTATE_LS_AUTO, or _DENSE: blocks of n*n are eliminated
                                       interval by interval, N n^3 operations; a sparse one: it factors the whole system
                                       in the problem's pattern.  AUTO: that where n > 60 and there is a pattern */
    const struct costate_backend *backend;  /* a user's own, instead of solver: for the whole system */
    int differences;                /* 1: missing derivatives are replaced by differences (inexact) */
    int (*on_iteration)(const costate_bvp_iteration *, void *ctx);    /* != 0 stops: COSTATE_STOPPED */
    void *on_iteration_ctx;
} costate_bvp_options;

typedef struct {
    int meshes, iterations;         /* of the last solve: meshes solved on, Newton's iterations */
    int damped;                     /* iterations that took less than the whole correction */
    long decompositions, solves;    /* of the whole system, of all calls; solves: columns */
    double error;                   /* of the last solve, in units of the tolerance: estimated interval by interval, and
                                       larger where the problem is ill-conditioned */
    double rcond;                   /* how well the conditions determine y(a), y(b) in the last factorisation; 0: no
                                       solution, or many.  NaN: not known (sparse solvers) */
    costate_stats calls;            /* of the callbacks */
} costate_bvp_stats;

/* ---- solving --------------------------------------------------------------------------------------------------- */

/* Never NULL but without memory: where something is wrong, every call returns why, and the message says it.  What the
   structs point to is kept and must outlive the solver. */
costate_bvp *costate_bvp_new(const costate_method *, const costate_problem *, const costate_conditions *,
                             const costate_bvp_options *);
void costate_bvp_free(costate_bvp *);
/* As costate_abandon, in costate.h: a callback must not call its own solver (COSTATE_BAD_ARGUMENT), and after an
   exception or longjmp left one, the solver is as one that has not solved yet. */
void costate_bvp_abandon(costate_bvp *);
const char *costate_bvp_message(const costate_bvp *);
const costate_bvp_stats *costate_bvp_get_stats(const costate_bvp *);

/* What the next solve begins with, once: y at some times (n by points, from a to b), joined by straight lines, constant
   beyond; t NULL: points are equidistant in [a, b].  Copied.  Without it a solve begins with the last solution and its
   mesh, stretched to [a, b] - continuation - or with y = 0 where there is none. */
int costate_bvp_guess(costate_bvp *, int points, const double *t, const double *y);
/* The mesh of the next solve, once: points times from a to b, both included; breaks that are not among them are
   added. */
int costate_bvp_mesh(costate_bvp *, int points, const double *t);

/* COSTATE_OK: solved on the final mesh, to round-off.  Else the last iterate can be looked at by costate_bvp_get and
   _eval, and the next solve begins with the last solution that there was:
       COSTATE_NEWTON       the iteration stalled, on finer first meshes as well: the message says where and which
                            component is the worst
       COSTATE_MESH_LIMIT   the tolerance is not met with max_mesh intervals
       COSTATE_SINGULAR     the conditions do not determine the solution, or M is singular */
int costate_bvp_solve(costate_bvp *, double a, double b, const double *p);

int costate_bvp_intervals(const costate_bvp *);                          /* 0: nothing there yet */
int costate_bvp_get(const costate_bvp *, int k, double *t, double *Y);   /* mesh point k, 0 .. intervals; Y: N */
int costate_bvp_eval(costate_bvp *, double t, double *Y);                /* (y, q)(t), a <= t <= b, N values */

/* ---- derivatives ------------------------------------------------------------------------------------------------ */

/* They are asked for at points t_k of [a, b], any number in any order: X_k = (y, q)(t_k), N values each.  A point that
   is a, a break or b, to the bit, moves with it, and its own time has no derivative (zero).
   One may differentiate by p; by ends: a, the breaks, b, nbreaks + 2 of them; by the times t_k, in [a, b] fixed; and by
   c, n of them, where the conditions are g = c.
   Directions that are NULL are zero, results that are NULL are not wanted. */
typedef struct {
    int m, points;                  /* directions; points */
    const double *t;                /* points */
    const double *Vp;               /* np by m */
    const double *Vends;            /* nbreaks + 2 by m */
    const double *Vtimes;           /* points by m */
    const double *Vc;               /* n by m */
    double *V;                      /* N*points by m, out: derivatives of (X_0, X_1, ..) */
} costate_bvp_tangents;

typedef struct {
    int m, points;                  /* functionals; points */
    const double *t;
    const double *lambda;           /* N*points by m: gradients of the functionals by (X_0, X_1, ..) */
    double *mu;                     /* np by m: gradients by p, added to what it holds; */
    double *ends;                   /* nbreaks + 2 by m, out: by a, the breaks, b; */
    double *times;                  /* points by m, out */
    double *c;                      /* n by m, out */
} costate_bvp_adjoints;

/* The functional's gradient lambda (N*points) by (X_0, X_1, ..), and lambda2 (N*points by m), its derivatives along
   the directions, X's derivatives along which are V; all zero on entry.  May add to mu (np) and mu2 (np by m; both NULL
   where not wanted) what is direct by p.  0: ok. */
typedef int (*costate_bvp_seed)(int points, const double *t, const double *X, const double *p, int m, const double *V,
                                const double *Vp, double *lambda, double *mu, double *lambda2, double *mu2, void *ctx);

typedef struct {
    int m, points;                  /* directions; points */
    const double *t;
    const double *Vp, *Vends, *Vtimes, *Vc;
    costate_bvp_seed seed;
    void *ctx;
    double *mu, *ends, *times, *c;          /* the gradient of the one functional, as above; */
    double *mu2, *ends2, *times2, *c2;      /* m each: its derivatives along the directions */
} costate_bvp_second;

int costate_bvp_tangent(costate_bvp *, const costate_bvp_tangents *);
int costate_bvp_adjoint(costate_bvp *, const costate_bvp_adjoints *);
int costate_bvp_hessian(costate_bvp *, const costate_bvp_second *);

/* The conditions' products at the solution, as by costate_check_map; then, solved with p and differentiated on the mesh
   that this has: adjoint and tangent as transposes, the tangent against 8th-order differences of solutions on the
   frozen mesh (taylor: relative error), and where second derivatives are there Hessian products alike (symmetry,
   hessian).  The solution is there again in the end.  COSTATE_CHECK_FAILED: a product or a difference wrong by more
   than 1e-6, transposes by 1e-10. */
int costate_check_bvp(costate_bvp *, double a, double b, const double *p, costate_report *);

/* ---- a program and its library: see costate.h ------------------------------------------------------------------ */

static inline const costate_size *costate_bvp_sizes(void)
{
    static const costate_size sizes[] = {
        {COSTATE_VERSION, 0},
        {"costate_point", sizeof(costate_point)},
        {"costate_gradient", sizeof(costate_gradient)},
        {"costate_map", sizeof(costate_map)},
        {"costate_pattern", sizeof(costate_pattern)},
        {"costate_event", sizeof(costate_event)},
        {"costate_problem", sizeof(costate_problem)},
        {"costate_stats", sizeof(costate_stats)},
        {"costate_report", sizeof(costate_report)},
        {"costate_conditions", sizeof(costate_conditions)},
        {"costate_bvp_iteration", sizeof(costate_bvp_iteration)},
        {"costate_bvp_options", sizeof(costate_bvp_options)},
        {"costate_bvp_stats", sizeof(costate_bvp_stats)},
        {"costate_bvp_tangents", sizeof(costate_bvp_tangents)},
        {"costate_bvp_adjoints", sizeof(costate_bvp_adjoints)},
        {"costate_bvp_second", sizeof(costate_bvp_second)},
        {NULL, 0}
    };
    return sizes;
}

costate_bvp *costate_bvp_new_sized(const costate_size *, const costate_method *, const costate_problem *,
                                   const costate_conditions *, const costate_bvp_options *);
int costate_check_bvp_sized(const costate_size *, costate_bvp *, double a, double b, const double *p, costate_report *);

#ifndef COSTATE_NO_HANDSHAKE
#define costate_bvp_new(...) costate_bvp_new_sized(costate_bvp_sizes(), __VA_ARGS__)
#define costate_check_bvp(...) costate_check_bvp_sized(costate_bvp_sizes(), __VA_ARGS__)
#endif

#ifdef __cplusplus
}
#endif
#endif
