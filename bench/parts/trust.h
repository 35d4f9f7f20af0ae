/* trust.h - what the parts of trust.c share. */
#ifndef BENCH_TRUST_H
#define BENCH_TRUST_H

#include <math.h>
#include <string.h>

#include <costate/costate.h>

#include "json.h"
#include "problems.h"

/* three times the default of max_steps, which goal has: methods of order 1 and 2 at small rtol take more */
enum { TRUST_STEPS = 300000 };

/* What the command line restricts a measurement to: NULL, "all" or 0 is everything. */
typedef struct { const char *task, *method; double rtol; } choice;

static inline int chosen(const char *restriction, const char *name)
{
    return restriction == NULL || strcmp(restriction, "all") == 0 || strcmp(restriction, name) == 0;
}

static inline int chosen_rtol(const choice *k, double rtol)
{
    return k->rtol <= 0 || fabs(rtol / k->rtol - 1) < 1e-6;
}

/* Rows of gradients with three kinds of steps, on problems that explicit methods are used for.  0, or 1: no memory. */
int trust_steps(const choice *);
/* Rows of costate_gradient_within on problems that are hard for it.  0, or 1: a reference failed. */
int trust_cases(const choice *);
/* Rows of Hessian products: estimates of their errors, or products to a tolerance. */
void trust_products(const choice *, int to_goal);

/* atol in proportion to what a component is at t1: the second of Robertson's is far below the others */
static inline void trust_atol(const problem *b, double rtol, double *atol)
{
    for (int i = 0; i < b->P.n; i++) atol[i] = rtol * fmax(1e-3 * fabs(b->reference->y[i]), 1e-10);
}

static inline int trust_fits(const costate_method_info *about, const problem *b)
{
    int mild = strcmp(b->name, "hires") == 0 || strcmp(b->name, "vdpol_mild") == 0;
    if (about->embedded == 0 || about->family == COSTATE_COLLOCATION) return 0;
    return !b->stiff || (about->family == COSTATE_RKC ? mild : about->family != COSTATE_ERK);
}

static inline double norm(int n, const double *x)
{
    double sum = 0;
    for (int i = 0; i < n; i++) sum += x[i] * x[i];
    return sqrt(sum);
}

static inline double distance(int n, const double *x, const double *z)
{
    double sum = 0;
    for (int i = 0; i < n; i++) sum += (x[i] - z[i]) * (x[i] - z[i]);
    return sqrt(sum);
}

/* The columns that all rows of runs begin with. */
static inline void row_of(json *j, const char *set, const char *name, const costate_method_info *about, double rtol,
                          const costate *c, int status)
{
    static const char *const families[] = {
        [COSTATE_ERK] = "erk", [COSTATE_SDIRK] = "sdirk", [COSTATE_FIRK] = "firk", [COSTATE_ROS] = "ros",
        [COSTATE_RKC] = "rkc", [COSTATE_COLLOCATION] = "collocation", [COSTATE_COMPOSITE] = "composite"};
    json_text(j, "set", set);
    json_text(j, "problem", name);
    json_text(j, "method", about->name);
    json_text(j, "family", families[about->family]);
    json_number(j, "asked", rtol);
    json_count(j, "status", status);
    if (status != COSTATE_OK) json_text(j, "message", costate_message(c));
}

#endif
