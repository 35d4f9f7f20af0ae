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
    costate_measurements given;     /* its ctx is that of output */
    costate_observations observations;
    double *r;                      /* outputs by times: residuals */
    double *u, *weight;             /* outputs: scratch */
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

/* observed.c: the callbacks of misfit.observations; their ctx is the misfit */
int observed_value(int k, double t, const double *y, int m, const double *V, void *ctx);
int observed_seed(int k, double t, const double *y, int m, double *w, void *ctx);
int observed_seed2(int k, double t, const double *y, int m, const double *V, double *w, double *w2, void *ctx);
costate_map observed_components(void);          /* the outputs that are components of y; ctx: the measurements */

#endif
