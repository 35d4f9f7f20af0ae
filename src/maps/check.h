/* check.h - what the public checks share: a report emptied, its sentence, the checks of their own arguments, and how
   derivatives are compared. */
#ifndef COSTATE_CHECK_H
#define COSTATE_CHECK_H

#include "base/verdict.h"

void check_clear(costate_report *);                                       /* NaN everywhere, no text */
int check_says(costate_report *, int status, const char *format, ...);    /* the sentence; returns status */
void check_adds(costate_report *, const char *format, ...);                /* behind what it says */
/* COSTATE_OK, or a status with its sentence in the report. */
int check_given(int n, int np, int k, const costate_point *x, costate_report *);        /* of a map without memory */
int check_given_problem(const costate_problem *, const costate_point *x, costate_report *);

/* check_compare.c */
#define CHECK_RIGHT 1e-6        /* relative errors up to this are right; differences are good to 1e-11 */
#define CHECK_DIFFERENCED 1e-5  /* scale of a difference beside what is differenced: its round-off is right */
#define CHECK_GUARD -1.2345678e-300 /* no callback writes it */
typedef struct {                             /* a map at x, k values; its inputs: t, then y, p, m behind one another */
    const costate_map *map;
    int n, np, nm, k;
    const costate_point *x;
    void *ctx;
    int states;                              /* of a residual: y has y' behind so many; else 0 */
    double *y, *p, *m;                       /* n, np, nm: moved ones */
    double *e, *w, *a, *b, *d, *g;           /* inputs, k, inputs, the larger, k, inputs */
    double *c, *r;                           /* inputs; twice the larger */
} probe;
static inline probe probe_of(const costate_problem *P, const costate_map *f, int k, const costate_point *x)
{
    return (probe){.map = f, .n = P->n, .np = P->np, .nm = P->nm, .k = k, .x = x, .ctx = P->ctx};
}
static inline int check_inputs(const probe *q) { return q->n + q->np + q->nm; }          /* without t */
enum check_of { OF_VALUE, OF_TANGENT, OF_ADJOINT, OF_SECOND };
typedef struct { double error, scale, given, expected; int row, input; } worst;
double check_size(const probe *, int i);                    /* of input i: -1 t, then y, p, m */
/* y, p, m from v in x's mode; where gradients are added; NULL where there are none of them */
costate_point check_point(const probe *, double t, const double *v);
costate_gradient check_gradient(const probe *, double *t, double *g);
costate_point check_unit(const probe *, int i);
costate_point check_direction(const probe *);               /* a: of second derivatives; */
costate_point check_second_direction(const probe *);        /* c: of third ones, beside it */
/* derivative of what `of` names by input i, by differences, into d; size: of d */
int check_difference(const probe *, int of, int i, int size, double *d, double *work);
/* derivative of value along the direction v of y, whose entries have the sizes of y's */
int check_difference_along(const probe *, const double *v, double *d, double *work);
void check_compare(worst *, int input, double weight, int size, const double *given, const double *expected);
void check_allow(worst *, int size, const double *differenced);
double check_relative(const worst *);
void check_describe(const probe *, const char *name, const worst *, costate_report *);
int check_right(const costate_report *);

/* check_residual.c: a map of (t, y, y', p) as one of (y, y'), for ctx; z: the point in it, both: 2n */
enum { CHECK_COLUMNS = 3 };                                 /* that are checked together */
typedef struct { const costate_map *map; void *ctx; int n; } slope_map;
costate_map check_slope_map(const costate_map *);
void check_join(int n, const costate_point *x, double *both, costate_point *z);
/* check_map.c: value and products; of the probe map, sizes, x and ctx are given.  The report was cleared */
int check_map(const probe *, costate_report *);

/* check_problem.c: all that is a map, and its matrices; a failure ends it, what is wrong is said and sets *wrong */
int check_problem_maps(const costate_problem *, const costate_point *x, costate_report *rhs, costate_report *cost,
                       int *wrong);

/* check_further.c: the maps beside the equation and running costs: start, and of events guards, jumps, costs */
int check_further_maps(const costate_problem *, const costate_point *x, costate_report *, int *wrong);

/* check_columns.c: tangents, adjoints and prepare against tangent and adjoint */
size_t check_columns_work(const probe *);
int check_columns(const probe *, double *work, costate_report *);

/* check_pattern.c: the problem has no jac: does its pattern hold f_y? */
int check_pattern(const costate_problem *, const costate_point *x, costate_report *);

#endif
