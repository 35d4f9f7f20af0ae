/* start.h - consistent initial values: y and y' that satisfy the constraints, computed from a guess, and their
   derivatives with respect to it.

   For a differential component (D) y is kept and y' = k is unknown; for an algebraic one (A: index 1 or 2) y is
   unknown.  In the notation of equation.c, E(t, y, k, p) = f - M k or -F:

       index 1     E(t, y_D, y_A, k_D, p) = 0                            n equations for (k_D, y_A)

   With index 2 (Hessenberg: y' = f(t, y, z), 0 = c(t, y), and possibly unknowns of index 1) there are rows C,
   constraints on kept components only.  They are satisfied by moving y_D along f_z, evaluated at the guess g, and z
   follows from their derivative (mathematics, eq. 11.1 to 11.3):

       position    E'(g) (y: d_A, y': d_D) = 0 but in rows C,  E_C(t, y_D + d_D, p) = 0            d = (d_D, d_A)
       values      E(t, y, k_D, p) = 0 but in rows C,  d/dt E_C = E_C,t + E_C,y k_D = 0            (k_D, y_A)

   All three have the same Newton matrix: columns D of M and columns A of -J, except in rows C columns D of -J.  It is
   regular if problem.index is right.  Derivatives are those of these equations and need one linear solve each. */
#ifndef COSTATE_START_H
#define COSTATE_START_H

#include "linsol/shifts.h"

typedef struct {                        /* computed values, and all that their derivatives need */
    double t;
    int given;                          /* by problem.start */
    int only_values;                    /* y_D was kept, even if it violates constraints of index 2 */
    int placed, moved;                  /* y_D was projected onto these constraints; by more than round-off */
    double *before, *y, *k, *along;     /* n each: the guess; y, y' found; d of `position` */
    unsigned char *unknown, *hidden;    /* n each: of a component: y is, not y'; of a row: it is of C */
} start_values;

typedef struct {                        /* equations for y+ that the user or another room gave: see given.c */
    const costate_map *map;             /* problem.start, or another room's map, or NULL */
    const char *coded;                  /* name of another room's map, whose callbacks take ctx and return statuses */
    void *ctx;
    LS *lu;
    double *both, *N;                   /* 4 n; n*n */
} given_equations;

typedef struct {                        /* work space of derivatives */
    int columns;                        /* of V */
    double *V, *extra;                  /* n*columns each: right-hand sides, solutions */
    int seconds;
    double *second;                     /* 3 n*seconds + 6 n: second.c, given.c */
} derived_columns;

typedef struct {
    maps *maps;
    shifts *sh;                         /* they own the linear solver */
    const int *index;                   /* of the problem, or NULL */
    const double *w;                    /* n: 1/(atol + rtol |y|) at the guess; written by the caller */
    LS *lu, *factored;                  /* factored: lu or given.lu, whichever was factored last */
    int ready;                          /* all memory is allocated */
    int held;                           /* Newton's matrix of `values` is there, if derivatives are requested */
    double *block, *J, *M, *J0, *M0;    /* entries: the Jacobians here and, of index 2, at the guess */
    double *Ja, *Ma;                    /* entries: those of Newton's matrix */
    double *r, *dx, *unit, *guess, *work, *zero;   /* n; zero: all zeros */
    double rough;                       /* round-off of y', in the units of y and of time (values.c) */
    double *kept, *slope, *algebraic;   /* n: of derivatives, directions */
    double *from;                       /* 3 n: where a step of Newton began: y, k, along */
    given_equations given;
    derived_columns derived;
    start_values mine;                  /* for callers without their own */
} starter;

/* allocates; once.  0, or a status */
int starter_init(starter *, shifts *, maps *, const costate_problem *);
int starter_columns(starter *, int m);
int starter_seconds(starter *, int m);          /* derived.second of m directions */
void starter_free(starter *);
size_t start_values_bytes(int n);
void start_values_layout(start_values *, int n, void *memory);
void start_values_copy(start_values *to, int n, const start_values *from, void *memory);

/* f->before, and f->k as a guess of y', are set: f->y, f->k and the rest.  only_values: y_D stays, whether the
   constraints of index 2 are met or not. */
int start_find(starter *, double t, int only_values, start_values *f);
/* f->k <- y' for the y of f, which problem.start does not provide */
int start_slopes(starter *, start_values *f);

/* kinds.c: the unknown of each component, from J and M at the guess */
int start_kinds(starter *, start_values *);
/* which rows constrain only differential components: no entry in M, nor in an algebraic column of J */
void start_rows(const starter *, const start_values *, const double *M, unsigned char *constraint);
/* newton.c: the state is y, k, along of f; 0, or a status */
typedef struct phase {
    int (*value)(starter *, const start_values *, double *r);
    int (*matrix)(starter *, const start_values *);
    void (*move)(const starter *, start_values *, double a, const double *dx);    /* from s->from */
    double (*unit)(const starter *, const start_values *, const double *dx, int j, double rate);    /* of j; 0: none */
    const char *name;
} phase;
int start_newton(starter *, const phase *, start_values *);
/* values.c */
int nothing_unknown(const start_values *, int n);
costate_point start_point(const starter *, const start_values *);
/* forms and factors Newton's matrix there: 0, RETRY (no Jacobian is available), or a status */
int start_matrix_of_position(starter *, const start_values *);
int start_matrix_of_values(starter *, const start_values *);
/* values.c: is problem.index right at x?  COSTATE_BAD_ARGUMENT, COSTATE_SINGULAR: no */
int start_index(starter *, const costate_point *x);
/* singular.c: Newton's matrix is singular; says which unknowns are not determined */
int start_singular(const starter *, const start_values *);

/* second.c: lambda, mu, t of 1 + m columns, a functional and its derivatives along m directions, V before it */
typedef struct { const double *dt, *V, *Vp; } start_along;

/* given.c */
int given_init(starter *);
void given_free(starter *);
int given_find(starter *, start_values *);
int given_tangent(starter *, const start_values *, int m, const double *dt, double *V, size_t ld, const double *Vp);
int given_adjoint(starter *, const start_values *, int m, double *lambda, size_t ld, double *mu, double *t);

int given_second(starter *, const start_values *, int m, const start_along *, double *lambda, size_t ld, double *mu,
                 double *t);

/* derive.c: V (m columns, ld apart) and lambda in and out, n rows; dt, t: m; Vp, mu: np*m or NULL; t NULL: not
   requested */
int start_tangent(starter *, const start_values *, int m, const double *dt, double *V, size_t ld, const double *Vp);
int start_adjoint(starter *, const start_values *, int m, double *lambda, size_t ld, double *mu, double *t);

int start_second(starter *, const start_values *, int m, const start_along *, double *lambda, size_t ld, double *mu,
                 double *t);

/* The same of one direction or functional through values found with y_D as it was (only_values), and through the slopes
   k_D, those of algebraic components being 0.  K: n, out; slopes: n, those of k_D, NULL: zero; of second: n of the
   functional, n of its derivative, behind each other as those of lambda are.  The first two also of y' = f. */
int start_slope_tangent(starter *, const start_values *, double dt, double *V, const double *Vp, double *K);
int start_slope_adjoint(starter *, const start_values *, double *lambda, const double *slopes, double *mu, double *t);
int start_slope_second(starter *, const start_values *, const start_along *, double *lambda, const double *slopes,
                       double *mu, double *t);
/* check_index.c: costate_check_problem, but RETRY where a callback is not defined near x; cost is not NULL */
int check_problem(const costate_problem *, const costate_point *x, costate_report *rhs, costate_report *cost);

#endif
