/* shifts.h - systems with sigma M - J for a table of sigma h: factored by a backend, or iterated without a matrix.

   The one place that forms, factors and counts.  A set of factorisations is shared by reference: a tape may keep it. */
#ifndef COSTATE_LINSOL_SHIFTS_H
#define COSTATE_LINSOL_SHIFTS_H

#include "linsol/guess.h"
#include "linsol/ls.h"
#include "maps/maps.h"

typedef struct {                        /* left.c: of a sweep whose systems are solved loosely */
    int columns;                        /* 0: none, they are not */
    double *r, *e;                      /* n*columns: residuals of the step, weighed; errors of the sweep */
    double *b, *x, *w, *pair, *krylov;  /* work: n, 3 n, n, 2 n, GMRES */
} left_over;

typedef struct {
    maps *maps;
    verdict *v;
    const costate_options *o;
    const costate_backend *backend;     /* NULL: nothing to solve with */
    int banded;                         /* its factors are a band, whose width grows with coupled stages */
    int n, nreal, npair;
    const double *sigma;                /* nreal real values of sigma h, then (re, im > 0) of each pair */
    double single;                      /* room for one */
    int matfree;
    LS *mass;                           /* M alone */
    int singular;                       /* M is, or may be: a residual's */
    LS *ilu;                            /* matrix-free: the incomplete factorisation, if options.ilu */
    double *ilu_J;                      /* its matrix: entries */
    double *krylov, *weights, *pair, *answer, *scaled;     /* matrix-free: work space */
    left_over left;
} shifts;

/* What an iteration is to reach.  loose: the caller corrects what is left.  left: what a residual counts that stays in
   a sweep (left.h).  from: where its first guesses come from, of real systems; NULL: 0.  first: which column of the
   sweep the first one is */
typedef struct { double tol; int loose; double left; guesses *from; int first; } accuracy;

/* sigma M - J or its transpose, J known by products at a point */
typedef struct { shifts *s; costate_point at; double re, im; int transpose; } shifted;

typedef struct factors {
    int refs;
    double h;                           /* 0: none yet */
    long serial;                        /* of the linearisation in it */
    double t, *y, *yp;                  /* matrix-free: where J is taken; n each, yp of a residual */
    int nreal, npair;
    LS *lu[];
} factors;

int shifts_init(shifts *);              /* maps, v, o are set; chooses backend or matfree */
int shifts_prepare(shifts *, int nreal, int npair, const double *sigma);
void shifts_layout(shifts *, cursor *);
void shifts_free(shifts *);
double shifts_sigma(const shifts *, int k, double *im);             /* sigma h of lu[k] */
int shifts_failure(shifts *, const costate_backend *, int code);    /* code < 0 as a status and a sentence */
int shifts_code(shifts *, const costate_backend *, int code, enum cause why);     /* and code > 0 a RETRY; agreed on */
int mass_solve(shifts *, int transpose, int m, double *X);          /* M X = X, counted */
/* sigma M - J in the place of M's factorisation, which is of no use where M is singular; x <- (sigma M - J)^-1 x.
   RETRY where that is singular: the verdict stays, as who asks can do without. */
int mass_shift(shifts *, double sigma, const linearisation *);
int mass_shift_solve(shifts *, double *x);

factors *factors_new(shifts *, const factors *like);                /* NULL: the verdict says why */
void factors_release(factors *);                                    /* NULL is fine */
size_t factors_bytes(const factors *);
int factors_fit(const factors *, const linearisation *, double h);
void factors_forget(factors *);                                     /* what is in it belongs to another run */
void factors_reset(factors *);                                      /* nor is its h of any use; both take NULL */
/* *f <- factorisations for J and h; a set that is shared is replaced, not overwritten */
int shifts_factor(shifts *, const linearisation *, double h, factors **f);
/* X <- (sigma_k M - J)^-1 X, or transposed; complex: pairs */
int factors_solve(shifts *, const factors *f, int k, int transpose, int nrhs, const accuracy *, double *X);

/* matfree.c */
int shifted_apply(void *, int m, const double *x, double *out);     /* m is 1; complex: real parts first */
int matfree_prepare(shifts *);                                      /* the incomplete factorisation, if asked for */
int matfree_setup(shifts *, factors *, double h);
int matfree_solve(shifts *, const factors *, int k, int transpose, int nrhs, const accuracy *, double *X);
int matfree_precondition(shifts *, int transpose, double *x);       /* the user's or the ILU, if any */
/* x <- (sigma M - J)^-1 x, J at this point, with an error of tol in the norm of w; amplified: see loose.h */
int matfree_correct(shifts *, const costate_point *, double sigma, const double *w, double tol, double *amplified,
                    double *x);
int matfree_preconditioned(const shifts *);
int matfree_limit(void);

#endif
