/* derive.h - the parts of derivatives of consistent values that derive.c and second.c share. */
#ifndef COSTATE_START_DERIVE_H
#define COSTATE_START_DERIVE_H

#include "start/start.h"

typedef struct {
    starter *s;
    const start_values *f;
    costate_point x, g;                 /* found, and the guess; y' zero there */
    costate_point along, slope;         /* directions: d, and (1, k_D) */
} derivative;

typedef struct { int m; const double *dt; double *V; size_t ld; const double *Vp; } directed;
/* slopes: n per column, of k_D, or NULL: zero */
typedef struct { int m; double *lambda; size_t ld; double *mu, *t; const double *slopes; } adjoined;

int derive_begin(derivative *, starter *, const start_values *);
/* s->derived.V <- Newton's matrix^-1 times it, or transposed; m columns */
int derive_solve(const derivative *, int transpose, int m);
/* to <- the entries of from for which `which` is `is`, 0 elsewhere */
void derive_part(int n, const unsigned char *which, int is, const double *from, double *to);
/* tangents through each phase, in V; derived.V: tangents of d, then of (k_D, y_A) */
int derive_position(derivative *, const directed *);
int derive_values(derivative *, const directed *);
/* adds to column j: E'(x)^T times the part of u in rows where hidden is `first`; E''(at)[a, .]^T times the part where
   hidden is `second`, unless that is zero; all: also for algebraic components */
int derive_first(derivative *, const adjoined *, int j, int first, const double *u);
int derive_second(derivative *, const adjoined *, int j, int second, const costate_point *at, const costate_point *a,
                  int all, const double *u);

#endif
