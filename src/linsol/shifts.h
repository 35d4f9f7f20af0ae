/* shifts.h - systems with sigma M - J for a table of sigma h: factored by a backend, or iterated without a matrix.

   Only these functions form and factor matrices, and count it.  A set of factorisations is shared by reference, because
   a tape may keep it. */
#ifndef COSTATE_LINSOL_SHIFTS_H
#define COSTATE_LINSOL_SHIFTS_H

#include "linsol/guess.h"
#include "linsol/ls.h"
#include "maps/maps.h"

typedef struct {                        /* left.c: of a sweep whose systems are solved inexactly */
    int columns;                        /* 0: the error is not followed */
    double *r, *e;                      /* n*columns: residuals of the step, weighed; errors of the sweep */
    double *b, *x, *w, *pair, *krylov;  /* work: n, 3 n, n, 2 n, GMRES */
} left_over;

typedef struct {
    maps *maps;
    verdict *v;
    const costate_options *o;
    const costate_backend *backend;     /* NULL: nothing to solve with */
    int later;                          /* it stands for the one that shifts_choose chooses */
    int banded;                         /* the factors are a band, which coupled stages widen */
    int n, nreal, npair;
    const double *sigma;                /* nreal real values of sigma h, then (re, im > 0) of each pair */
    double single;                      /* room for one */
    int matfree;
    int fixed;                          /* matrix-free, and the preconditioner is the matrix: nothing is iterated */
    int held;                           /* the matrix is the user's, held in derivatives: fixed, or W */
    LS *mass;                           /* M alone */
    int singular;                       /* M is, or may be: a residual's */
    LS *ilu;                            /* matrix-free: the incomplete factorisation, if options.ilu */
    double *ilu_J;                      /* its matrix: entries */
    double *krylov, *weights, *pair, *answer, *scaled;     /* matrix-free: work space */
    left_over left;
} shifts;

/* How accurately an iteration solves.  loose: the caller corrects the remaining error.  left: the weight of a residual
   that remains in a sweep (left.h).  from: source of initial guesses for real systems; NULL: the guess is 0.  first:
   the number of the first column in the sweep.  sweep: the system is one of a tangent or an adjoint */
typedef struct { double tol; int loose; double left; guesses *from; int first, sweep; } accuracy;

/* sigma M - J or its transpose, where J is represented by products at a point */
typedef struct { shifts *s; costate_point at; double re, im; int transpose; } shifted;

typedef struct factors {
    int refs;
    double h;                           /* 0: none yet */
    long serial;                        /* of its linearisation */
    double t, *y, *yp;                  /* matrix-free: where J is evaluated; n each, yp of a residual */
    int nreal, npair;
    LS *lu[];
} factors;

int shifts_init(shifts *);              /* maps, v, o are set; chooses backend or matfree */
void shifts_choose(shifts *);           /* the backend, if that was left for later; shifts_prepare does so */
const char *shifts_name(const shifts *);                            /* of the linear solver */
int shifts_prepare(shifts *, int nreal, int npair, const double *sigma);
void shifts_layout(shifts *, cursor *);
void shifts_free(shifts *);
double shifts_sigma(const shifts *, int k, double *im);             /* sigma h of lu[k] */
int shifts_failure(shifts *, const costate_backend *, int code);    /* code < 0 as a status with its message */
int shifts_code(shifts *, const costate_backend *, int code, enum cause why);     /* code > 0: RETRY; the same on all
   processes */
static inline int shifts_solve(shifts *s, LS *lu, int transpose, int m, double *X)
{
    int code = LS_Solve(lu, transpose, m, X);
    return code || s->maps->space.sum ? shifts_code(s, s->backend, code, WHY_NOT_FINITE) : 0;
}
int mass_divide(shifts *, int transpose, int m, double *X);
/* M X = X, counted */
static inline int mass_solve(shifts *s, int transpose, int m, double *X)
{
    return s->mass ? mass_divide(s, transpose, m, X) : 0;
}
/* Factors sigma M - J in place of M, whose factorisation is of no use if M is singular; x <- (sigma M - J)^-1 x.  RETRY
   if sigma M - J is singular; the verdict is not changed, because the caller can do without the solution. */
int mass_shift(shifts *, double sigma, const linearisation *);
int mass_shift_solve(shifts *, double *x);

factors *factors_new(shifts *, const factors *like);                /* NULL: see the verdict */
void factors_release(factors *);                                    /* NULL is fine */
size_t factors_bytes(const factors *);
int factors_fit(const factors *, const linearisation *, double h);
void factors_forget(factors *);                                     /* its contents belong to another run */
void factors_reset(factors *);                                      /* also resets h; both accept NULL */
/* *f <- factorisations for J and h; a set that is shared is replaced, not overwritten */
int shifts_factor(shifts *, const linearisation *, double h, factors **f);
/* X <- (sigma_k M - J)^-1 X, or transposed; complex: pairs */
int factors_iterate(shifts *, const factors *f, int k, int transpose, int nrhs, const accuracy *, double *X);
static inline int factors_solve(shifts *s, const factors *f, int k, int transpose, int nrhs, const accuracy *to,
                                double *X)
{
    if (s->matfree) return factors_iterate(s, f, k, transpose, nrhs, to, X);
    return shifts_solve(s, f->lu[k], transpose, nrhs, X);
}
/* factors_solve of one column, not transposed; known, parts: as of LS_solve_one */
INLINE int factors_solve_one(int known, int parts, shifts *s, const factors *f, int k, const accuracy *to, double *x)
{
    if (s->matfree) return factors_iterate(s, f, k, 0, 1, to, x);
    int code = LS_solve_one(known, parts, f->lu[k], x);
    return code || s->maps->space.sum ? shifts_code(s, s->backend, code, WHY_NOT_FINITE) : 0;
}

/* matfree.c */
int shifted_apply(void *, int m, const double *x, double *out);     /* m is 1; complex: real parts first */
int matfree_prepare(shifts *);                                      /* the incomplete factorisation, if requested */
int matfree_setup(shifts *, factors *, double h);
int matfree_solve(shifts *, const factors *, int k, int transpose, int nrhs, const accuracy *, double *X);
int matfree_apply(shifts *, int transpose, int nrhs, double *X);    /* the user's preconditioner, which is the matrix */
int matfree_precondition(shifts *, int transpose, double *x);       /* the user's or the ILU, if any */
/* x <- (sigma M - J)^-1 x with J at this point and an error of at most tol in the norm of w; amplified: see loose.h */
int matfree_correct(shifts *, const costate_point *, double sigma, const double *w, double tol, double *amplified,
                    double *x);
int matfree_precondition_or_scale(void *, double *x);               /* of a `shifted`; none: division by sigma */
int matfree_preconditioned(const shifts *);
int matfree_limit(void);
/* COSTATE_STAGNATED, with its sentence; what_to_do NULL: about the preconditioner */
int matfree_unsolved(const shifted *, const char *what_to_do);

/* relaxed.c */
int matfree_relaxes(const shifts *);                                /* krylov_tol is larger than round-off */
/* b <- x, to an error of krylov_tol; iterations: of all cycles.  *good 0: b is as before, because the residual of x is
   so large that the preconditioner does not estimate errors */
int matfree_relaxed(shifted *, const accuracy *, int column, double *b, int *iterations, int *good);

#endif
