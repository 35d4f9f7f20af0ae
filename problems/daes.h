/* daes.h - fully implicit test problems F(t, y, y', p) = 0 of index 0 to 2, with starts and references. */
#ifndef PROBLEMS_DAES_H
#define PROBLEMS_DAES_H

#include <costate/costate.h>
#include "num.h"

enum { DAE_N = 6, DAE_P = 6 };

typedef struct {
    const char *name;
    int n, np, index;                    /* index: of the problem */
    const int *of;                       /* n: index of each unknown */
    double T;                            /* from 0 to T */
    const double *p;
    void (*F)(num t, const num *y, const num *yp, const num *p, num *out);
    void (*start)(const num *p, num *y);                    /* consistent y(0) */
    void (*g)(num t, const num *y, const num *p, num *out); /* the functional of y(T), and the integrand of G */
    double reference, G;                 /* g at T; integral of g */
    const double *dg, *dG;               /* np: whole derivatives by p, the start's included */
    const double *y, *dy;                /* n: y(T); n by np by rows: by p; NULL: not known */
} dae;

const dae *dae_at(int k);                /* NULL past the end */
const dae *dae_find(const char *name);
/* nq = 1: G; ctx is the dae; with_jacobians: jac and jac_yp are given */
costate_problem dae_problem(const dae *, int with_jacobians);
/* by methods that keep its constraints at the ends of steps and, of index 2, do not lose most of their order by it, as
   sdirk */
int dae_takes(const costate_method *, const dae *);
void dae_start(const dae *, const double *p, double *y, double *dy_dp);     /* n; n by np by columns, or NULL */
double dae_g(const dae *, double t, const double *y, const double *p, double *dy, double *dp);

#endif
