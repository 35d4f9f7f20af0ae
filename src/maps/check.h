/* check.h - the checks of derivatives.  A map of the user is checked entry by entry (check_map.c).  The solution of a
   run or of a boundary value problem is a map, too, but an expensive one: it is checked along random directions
   (check_solution.c).  Both take differences along a line and write their verdict into a report. */
#ifndef COSTATE_CHECK_H
#define COSTATE_CHECK_H

#include "base/space.h"

/* ---- the report, and what is checked before any callback is called (check_given.c) ---- */

void check_clear(costate_report *);                                       /* NaN everywhere, no text */
int check_says(costate_report *, int status, const char *format, ...);    /* sets the sentence; returns status */
void check_adds(costate_report *, const char *format, ...);               /* appends to the sentence */
int check_no_memory(costate_report *);
/* COSTATE_OK, or a status with its sentence in the report. */
int check_given(int n, int np, int k, const costate_point *x, costate_report *);        /* of a map without memory */
int check_given_problem(const costate_problem *, const costate_point *x, costate_report *);

#define CHECK_RIGHT 1e-6        /* relative errors up to this are right; differences are good to 1e-11 */
#define CHECK_DIFFERENCED 1e-5  /* a derivative counts as at least this much of what is differenced: round-off */
#define CHECK_GUARD -1.2345678e-300 /* no callback writes it */

/* ---- differences along a line (check_compare.c) ---- */

/* at writes `count` numbers, those at the distance a from the point that is checked; it returns 0 or a code */
typedef struct { int (*at)(void *ctx, double a, double *out); void *ctx; size_t count; } line;
#define CHECK_STEP 2e-3         /* relative: its 8th power is below round-off, and round-off over it is 1e-13 */
/* d <- the derivative at a = 0, by differences of 8th order with steps of e; out: count, the last value */
int check_differentiate(const line *, double e, double *out, double *d);
/* what a change of v_i is measured by */
double check_size_among(int count, const double *v, int i);

/* ---- a map of the user at a point ---- */

enum { CHECK_COLUMNS = 3 };                  /* that are checked together */
typedef struct {
    const costate_map *map;
    int k;                                   /* values */
    const costate_point *x;
    void *ctx;
    int n, np, nm;
    int sides;                               /* 2: a map of the states before and after an event, both of them x's */
    int slopes;                              /* it sees y' */
    double *memory;                          /* of all that follows: */
    costate_point at;                        /* x with `sides` copies of y and y', in `base` */
    int ny, nyp, in;                         /* inputs: y, y', p, m behind one another; all of them, without t */
    double *base, *moved, *e, *a, *c, *g;    /* in: x; moved inputs; a unit vector; two directions; a gradient */
    double *w, *d, *b, *r;                   /* k; and, the larger of k and in, differences, work, and work of two */
    double *columns;                         /* CHECK_COLUMNS of the larger of k and in + 1, three times */
} probe;
/* sides: 1 or 2; makes what the probe owns.  COSTATE_NO_MEMORY goes to the report */
int check_begin(probe *, costate_report *);
void check_end(probe *);
static inline probe probe_of(const costate_problem *P, const costate_map *f, int k, const costate_point *x)
{
    return (probe){.map = f, .n = P->n, .np = P->np, .nm = P->nm, .k = k, .x = x, .ctx = P->ctx, .sides = 1};
}

enum check_of { OF_VALUE, OF_TANGENT, OF_ADJOINT, OF_SECOND };
typedef struct { double error, scale, given, expected; int row, input; } worst;
double check_size(const probe *, int i);                    /* of input i; -1: t */
costate_point check_point(const probe *, const double *v);                  /* x with the inputs v */
costate_gradient check_gradient(const probe *, double *t, double *g);
costate_point check_unit(const probe *, int i);
costate_point check_direction(const probe *);               /* a: of second derivatives; */
costate_point check_second_direction(const probe *);        /* c: second direction, of third derivatives */
/* derivative of what `of` names with respect to input i, by differences, into d; size: of d */
int check_difference(const probe *, int of, int i, int size, double *d, double *work);
/* derivative of the value along the direction v of y, whose entries have the sizes of y's */
int check_difference_along(const probe *, const double *v, double *d, double *work);
void check_compare(worst *, int input, double weight, int size, const double *given, const double *expected);
void check_allow(worst *, int size, const double *differenced);
double check_relative(const worst *);
/* reports the worst entry; NaN in *error is no error yet, else the larger of both stays */
void check_judge(const probe *, const char *name, const worst *, double *error, costate_report *);
int check_right(const costate_report *);
int check_result(int code, costate_report *);         /* the status of a check whose callbacks returned code */

/* check_map.c: value and products of a probe that check_begin made.  The report was cleared */
int check_map(probe *, costate_report *);
/* check_columns.c: tangents, adjoints and prepare against tangent and adjoint */
int check_columns(const probe *, costate_report *);

/* check_problem.c: all maps of a problem, and its matrices; a failure ends it, what is wrong is said and sets *wrong */
int check_problem_maps(const costate_problem *, const costate_point *x, costate_report *rhs, costate_report *cost,
                       int *wrong);
/* check_further.c: the other maps: start, and guards, jumps and costs of events */
int check_further_maps(const costate_problem *, const costate_point *x, costate_report *, int *wrong);
/* check_pattern.c: the problem has no jac: does its pattern hold f_y? */
int check_pattern(const costate_problem *, const costate_point *x, costate_report *);

/* ---- a solve (check_operator.c) ---- */

/* With random a, w: linear <- |S(a + w/2) - S a - S w/2| / |S(a + w/2)|; gap <- w . S a against a . S^T w, as by
   check_gap.  solve: x <- S x or S^T x.  Afterwards a, w and Sa are what their names say; Sw and other are spoiled */
typedef struct {
    const space *space;
    size_t n;
    int (*solve)(void *ctx, int transpose, double *x);
    void *ctx;
    double *a, *w, *Sa, *Sw, *other;         /* n each */
} operator_check;
int check_operator(const operator_check *, double *linear, double *gap);
/* |u - v| / |v| in the Euclidean norm; u is spoiled */
int check_distance(const space *, size_t n, double *u, const double *v, double *out);

/* ---- a solution along random directions (check_solution.c) ---- */

#define CHECK_TRANSPOSED 1e-10  /* largest relative gap of products that differ only by round-off */

/* Steps to try, each `shorter` times the one before: one too long leaves the solution's neighbourhood, one too short
   is lost in the noise of an iteration.  Searching ends at an error of `enough`. */
typedef struct { double first, shorter, enough; int count; } check_steps;

/* |a.b - c.d|, relative to sum |a b|, and at least to `least` */
int check_gap(const space *, size_t na, const double *a, const double *b, size_t nc, const double *c, const double *d,
              double least, double *gap);
/* The symmetry of a Hessian: w.Hv against v.Hw.  v and Hv hold two directions behind one another; where H is nearly
   zero, products are the round-off of their terms: least: of |g|.(|v| + |w|) */
int check_symmetry(const space *, size_t in, const double *v, const double *Hv, const double *g, double least,
                   double *gap);
/* A derivative against differences along a line, by the best of several steps: *error <- |given - d| / |d|, each entry
   in its unit.  of: what is differenced; a thousandth of it is added to |d|, so that a derivative of zero may be
   round-off.  `back`, if it is not NULL, is called after each step. */
typedef struct {
    line line;
    const check_steps *steps;
    const double *given, *of, *unit;
    double *d, *other, *out;                /* line.count each, work */
    int (*back)(void *ctx);
} check_derivative;
int check_along(const space *, const check_derivative *, double *error, double *blur);
/* Is the derivative right, as far as differences tell, the best two of which disagree by blur? */
int check_agrees(double error, double blur);
/* adds it, where it is why a large error agrees */
void check_says_blur(costate_report *, double error, double blur);

#endif
