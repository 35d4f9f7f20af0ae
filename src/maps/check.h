/* check.h - the checks of derivatives.  Whatever is checked is an operator: a map of the user, the solution of a run or
   of a boundary value problem, a linear solve.  A second derivative is the first one of an operator whose values are
   first derivatives.  One comparer takes differences and judges: entry by entry where values cost little
   (check_compare.c), or along random directions (check_solution.c). */
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
#define CHECK_TRANSPOSED 1e-10  /* largest relative gap of products that differ only by round-off */
#define CHECK_GUARD -1.2345678e-300 /* no callback writes it */
int check_right(const costate_report *);
int check_result(int code, costate_report *);         /* the status of a check whose callbacks returned code; RETRY: one
                                                         of them is not defined near the point */
static inline int check_status(int status) { return status == RETRY ? COSTATE_CALLBACK : status; }      /* for users */

/* ---- operators ---- */

/* F at a point x that ctx knows: `in` inputs, `rows` values.  The functions return 0 or a code or status.  NULL: it has
   no such product */
typedef struct {
    void *ctx;
    size_t in, rows;
    const double *unit;                                         /* in: the size of each input; entry by entry */
    int (*value)(void *ctx, const double *dx, double *out);     /* F(x + dx) */
    int (*tangent)(void *ctx, const double *v, double *out);    /* F'(x) v */
    int (*adjoint)(void *ctx, const double *w, double *g);      /* F'(x)^T w */
    const space *space;                                         /* of inputs and values; along directions, as is: */
    const double *weight;                                       /* rows: 1 over the size of each value */
    int (*back)(void *ctx);                                     /* NULL, or called after differences were taken */
} check_operator;

#define CHECK_STEP 2e-3         /* relative: its 8th power is below round-off, and round-off over it is 1e-13 */
/* d (rows) <- F'(x) v by differences of 8th order with steps e v; work: rows + in, which begins with the last value */
int check_differentiate(const check_operator *, const double *v, double e, double *d, double *work);
/* out_i <- what a change of v_i is measured by; nothing: the size of all of v where it is zero */
void check_sizes(size_t count, const double *v, double nothing, double *out);

/* ---- entry by entry (check_compare.c) ---- */

typedef struct { double error, scale, given, expected; int row, input; } worst;
void check_compare(worst *, int input, double weight, size_t count, const double *given, const double *expected);
double check_relative(const worst *);
/* d (rows) <- column i of the derivative: its tangent or, if it has none, differences of its value */
int check_column(const check_operator *, size_t i, worst *, double *d, double *work);
/* The columns of the first one's tangent against those of F */
int check_tangent(const check_operator *, const check_operator *F, worst *, double *work);
/* g (in) against the products of w with the columns of F */
int check_adjoint(const check_operator *F, const double *w, const double *g, worst *, double *work);
/* numbers of work */
static inline size_t check_work(const check_operator *F) { return 6 * (F->rows > F->in ? F->rows : F->in); }

/* ---- along random directions (check_solution.c) ---- */

/* gap <- |w . F' v - v . F'^T w| relative to the sum of the moduli of all terms, and at least to `least`, of which this
   process has a part */
int check_transposes(const check_operator *, const double *v, const double *w, double least, double *gap);
/* With random a, w of a linear operator S: linear <- |S(a + w/2) - S a - S w/2| / |S(a + w/2)|; gap <- as above.  work:
   five arrays of n; afterwards a, w and S a are the first three.  S may be called with out = v */
int check_linear(const check_operator *, double *const *work, double *linear, double *gap);
/* |u - v| / |v| in the Euclidean norm; u is spoiled */
int check_distance(const space *, size_t n, double *u, const double *v, double *out);

/* Steps to try, each `shorter` times the one before: one too long leaves the solution's neighbourhood, one too short
   is lost in the noise of an iteration.  Searching ends at an error of `enough`. */
typedef struct { double first, shorter, enough; int count; } check_steps;

/* The error of a derivative along v relative to differences, of several steps the best; blur: by how much the best two
   of these disagree. */
typedef struct { double error, blur; } agreement;
int check_along(const check_operator *, const double *v, const check_steps *, agreement *);
/* Of the gradient of a functional: tangent and adjoint are both H v.  Where H is nearly zero, its products are the
   round-off of their terms: of the gradient times the directions, `part` of which is the least scale of the gap */
int check_hessian(const check_operator *, const double *const v[2], const check_steps *, double part, double *gap,
                  agreement *);
int check_agrees(const agreement *);                    /* is it right, as far as differences tell? */
void check_says_blur(costate_report *, const agreement *);      /* if that is why a large error agrees */

/* ---- maps of the user (probe.c) ---- */

enum { PART_T, PART_Y, PART_YP, PART_P, PART_M, PARTS };
enum { CHECK_COLUMNS = 3 };                 /* that are checked together */
/* A map at a point, its inputs t, y, y', p, m behind one another. */
typedef struct {
    const costate_map *map;
    void *ctx;
    const costate_point *x;
    int rows, sides;                        /* sides: 2: of the states before and after an event, both of them x's */
    size_t start[PARTS + 1];                /* where each part of the inputs begins; all of them */
    double *base, *unit;                    /* in: x; the size of each input */
    double *a, *c, *w;                      /* directions of second and third derivatives; rows: weights of adjoints */
    double *moved, *e, *work;               /* in, in, check_work and more: work */
} probe;
probe probe_with(const costate_map *, int rows, const costate_point *, const size_t counts[PARTS]);
/* slopes: it sees y' */
probe probe_of(const costate_problem *, const costate_map *, int rows, const costate_point *, int sides, int slopes);
/* makes what the probe owns.  COSTATE_NO_MEMORY goes to the report */
int check_begin(probe *, costate_report *);
void check_end(probe *);
costate_point check_point(const probe *, const double *inputs);
costate_point check_direction(const probe *, const double *v);              /* NULL where it is zero */
/* without: bits of parts that are NULL */
costate_gradient check_gradient(const probe *, double *g, unsigned without);

/* the products of a map: of order k are CALL_VALUE + k and CALL_ADJOINT + k */
enum { CALL_VALUE, CALL_TANGENT, CALL_TANGENT2, CALL_ADJOINT, CALL_ADJOINT_TANGENT, CALL_ADJOINT_TANGENT2, CALLS };
typedef struct { const double *x, *a, *c, *w; unsigned without; } product_arguments;
/* sets out, to NaN before; or adds to it, of an adjoint */
int check_product(const probe *, int call, const product_arguments *, double *out);

/* The derivative of `order` along a and c as a function of `count` inputs from `first` on. */
typedef struct { const probe *q; int order; size_t first, count; } derivative;
check_operator check_derivative(derivative *, int with_tangent);

/* check_map.c: reports the worst entry; NaN in *error is no error yet, else the larger of both stays */
void check_judge(const probe *, const char *name, const worst *, double *error, costate_report *);
/* value and products of a map; the report was cleared */
int check_map(probe *, costate_report *);
/* check_columns.c: tangents, adjoints and prepare against tangent and adjoint */
int check_columns(const probe *, costate_report *);

/* check_problem.c: all maps of a problem, and its matrices; a failure ends it, what is wrong is said and sets *wrong */
int check_problem_maps(const costate_problem *, const costate_point *x, costate_report *rhs, costate_report *cost,
                       int *wrong);
/* the same of event k: its guard, jump, cost and transition, in its mode `from` where it has one */
int check_event(const costate_problem *, int k, const costate_point *x, costate_report *, int *wrong);
/* check_pattern.c: does the pattern hold the derivative of the map with respect to y? */
int check_pattern(probe *, const costate_pattern *, costate_report *);

#endif
