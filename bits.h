/* bits.h - the problems whose solutions bits.c hashes. */
#ifndef COSTATE_BITS_H
#define COSTATE_BITS_H

#include <costate/costate.h>

enum { KINETICS, DAE, DIFFUSION, MODELS };
enum { CELLS = 20, N_MOST = 2 * CELLS, NP = 2 };

typedef struct { const char *name; int n; double t1; } model;
extern const model models[MODELS];

/* With n, np = NP, nq = 1 and all derivatives; the pattern is the diffusion's.  The problem points to *which. */
costate_problem bits_problem(const int *which, const costate_pattern *);
void bits_start(int which, double *y);                  /* n */

/* bits_diffusion.c */
void diffusion(const costate_point *, double *f);
void diffusion_tangent(const costate_point *, const costate_point *dx, double *out);
void diffusion_adjoint(const costate_point *, const double *w, const costate_gradient *);
void diffusion_tangent2(const costate_point *, const costate_point *a, const costate_point *b, double *out);
void diffusion_adjoint_tangent(const costate_point *, const costate_point *dx, const double *w,
                               const costate_gradient *);

typedef struct { int col[N_MOST + 1], row[6 * N_MOST]; } diffusion_entries;
costate_pattern diffusion_pattern(diffusion_entries *);

#endif
