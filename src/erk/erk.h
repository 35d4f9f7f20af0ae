/* erk.h - what the three steps of explicit Runge-Kutta methods share. */
#ifndef COSTATE_ERK_H
#define COSTATE_ERK_H

#include "base/vec.h"
#include "step/columns.h"

typedef struct {
    double *Y, *v;              /* a stage's state; N: a second estimate */
    double *r;                  /* nq: rates of the integrals */
    double *At;                 /* s*s: A by columns, for adjoints */
    unsigned char used[STAGES_MOST];            /* stage i enters y+ or a later stage */
    column_work columns;        /* y: Y'_i, or h w_i of a stage, solved with M^T */
    double *Yd;                 /* of jets: n*m: Y'_i */
} erk_work;

static inline erk_work *work(const stepper *c) { return c->own; }

enum { LIMIT_DECADES = 8 };
int erk_longest(stepper *, const record *, trial *, double *h);
void erk_remark(const stepper *, int failed, char *text, size_t room);
int erk_forward(stepper *, record *, trial *);
int erk_tangent(stepper *, const record *, const directions *);
int erk_adjoint(stepper *, const record *, const functionals *);
/* x_i along all directions; Y: n*m, work, Y'_i but of the first stage */
const costate_point *erk_directions(const stepper *, const directions *, int i, double *Y);
/* Y_i = y + h sum_{j<i} a_ij K_j: out, or y itself for the first stage */
const double *erk_stage(const stepper *, const record *, int i, double *out);
/* t + c_i h; at the end of the step the time at which the next begins, whose first slope may be this one (FSAL) */
static inline double erk_time(const stepper *c, const record *r, int i)
{
    return c->m->c[i] == 1 ? r->end : r->t + c->m->c[i] * r->h;
}

#endif
