/* bvp_cases.h - boundary value problems of the race: callbacks, parameters, and what is known of their solutions. */
#ifndef PROBLEMS_BVP_CASES_H
#define PROBLEMS_BVP_CASES_H

#include <costate/bvp.h>

enum { BVP_NP = 15, BVP_BREAKS = 7 };

/* States (y, y'), one integral, separated conditions: y(a), y(b) are parameters. */
typedef struct {
    costate_problem P;
    costate_conditions g;
    int start, end;                         /* which parameters y(a) and y(b) are */
    double a, b, p[BVP_NP], breaks[BVP_BREAKS];
    int nbreaks, line;                      /* line: guesses are the straight line between y(a) and y(b), else zero */
    int points;                             /* times where the solution is looked at */
    double (*time)(const double *p, int k);
    int (*known)(const double *p, double t, double *y);     /* how many of y, y' are known at t */
} bvp_case;

/* "arm": a torque of nine nodes, fifteen parameters; "layer_a", "layer_b", "layer_c" of width eps.  g's context is the
   case itself, which must not move.  0, or -1: no such name. */
int bvp_case_new(bvp_case *, const char *name, double eps);
/* Guess of 2 by 2 values, at a and b. */
void bvp_case_guess(const bvp_case *, double *guess);
/* |y - known|/max(1, |known|) of the worst of y, y' that are known at t; 0 where none is */
double bvp_case_error_at(const bvp_case *, double t, const double *y);
/* the largest at all times; y(t, Y, ctx): N values, 0 if all is well */
double bvp_case_error(const bvp_case *, int (*y)(double t, double *Y, void *ctx), void *ctx);

#endif
