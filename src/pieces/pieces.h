/* pieces.h - what the files of this room share: checks of formulas and measurements, and the state of a misfit. */
#ifndef COSTATE_PIECES_PIECES_H
#define COSTATE_PIECES_PIECES_H

#include <costate/pieces.h>
#include "base/verdict.h"

struct costate_misfit {
    verdict v;
    int broken;                     /* the constructor failed; v is kept */
    int seen;                       /* the residuals are those of a sweep */
    int n, np;
    size_t rows;                    /* residuals */
    costate_measurements given;     /* its ctx is that of output */
    costate_observations observations;
    double *r, *out;                /* outputs by times, or values of the list: residuals, and what was computed */
    double *u, *weight;             /* outputs: scratch */
    double *du, *weight2;           /* likewise, for the list */
    double *place, *place2, *of_p;  /* np: parameters, a direction and a gradient with replaced parameters */
    double *J;                      /* times: terms of J, of the list */
    int *start;                     /* times + 1: where those of a time begin in the list */
    /* of the sweep */
    const double *p;                /* np, or NULL */
    int m;
    const double *Vp;               /* np by m, or NULL */
    double *R;                      /* outputs * times by m, or NULL */
    double *direct, *direct2;       /* np; np by m: what depends on p directly; NULL: not requested */
};

/* given.c */
int pieces_said(const verdict *, costate_report *);         /* the verdict's status, and its sentence to the report */
int bounds_given(verdict *, const costate_bounds *, const costate_problem *);
int invariants_given(verdict *, const costate_invariants *, const costate_problem *);
int invariant_given(verdict *, const costate_invariants *, const costate_problem *);     /* of relaxation */
int formulas_given(verdict *, const costate_formulas *, const costate_problem *, int only_cost);
int measurements_given(verdict *, const costate_problem *, const costate_measurements *);

/* likelihood.c: -log(likelihood) L of one measured value, its derivatives with respect to output f and sigma s, the
   residual r and its first derivatives, and expectations of second derivatives (the mixed one has expectation 0) */
typedef struct { double L, f, s, ff, fs, ss, expected_ff, expected_ss, r, r_f, r_s; } likelihood;
void likelihood_of(const costate_measured *, double f, double sigma, likelihood *);
/* censored.c: these of a value of which only a bound is known, without a residual.  s, at: the scale of the
   measurement and its first two derivatives, at the output and at the bound. */
void censored_of(const costate_measured *, const double *s, const double *at, double sigma, likelihood *);

/* listed.c: the same three callbacks as those of observed.c, for a list */
int listed_value(int k, double t, const double *y, int m, const double *V, void *ctx);
int listed_seed(int k, double t, const double *y, int m, double *w, void *ctx);
int listed_seed2(int k, double t, const double *y, int m, const double *V, double *w, double *w2, void *ctx);

/* observed.c: the callbacks of misfit.observations; their ctx is the misfit */
int observed_checked(costate_misfit *, int code, const char *name, double t);   /* returns the code of a callback */
int observed_there(costate_misfit *, int given, const char *name, double t);    /* is the product of output there? */
int observed_value(int k, double t, const double *y, int m, const double *V, void *ctx);
int observed_seed(int k, double t, const double *y, int m, double *w, void *ctx);
int observed_seed2(int k, double t, const double *y, int m, const double *V, double *w, double *w2, void *ctx);
costate_map observed_components(void);          /* the outputs that are components of y; ctx: the measurements */

#endif
