/* work_precision.c - error against work: all methods over tolerances on problems whose solutions are known, as JSON.

       work_precision [METHOD...]        all methods that costate_new takes, or these

   A line is a run: what costate_stats counted of it; the processor time of the fastest of REPEATS, of one where it is
   LONG; and the error, max_i |y_i - z_i| / (|z_i| + 1e-6 max_j |z_j|) of the reference z, of heat the relative one of
   g1 = sum of y(t1)^2.  A run that fails has no line.  Problems and references are those of the tests.

   Methods without an error estimate take fixed steps, (t1 - t0) 10^-1.5, 10^-1.75, .. of the interval, where the
   problem is not stiff, with Newton's tolerance of rtol = 1e-10. */
#include <string.h>

#include <costate/costate.h>

#include "problems.h"
#include "json.h"
#include "measure.h"

enum { REPEATS = 3, LEVELS = 17 };               /* rtol = 10^-2, 10^-2.5, .. 10^-10 */
#define LONG 0.02                                /* seconds: a run of this length is not repeated */

#define BIT(family) (1u << (family))
enum {
    EXPLICIT = BIT(COSTATE_ERK) | BIT(COSTATE_RKC),
    IMPLICIT = BIT(COSTATE_SDIRK) | BIT(COSTATE_FIRK) | BIT(COSTATE_ROS),
    OTHER = BIT(COSTATE_COLLOCATION) | BIT(COSTATE_COMPOSITE)     /* boundary value problems; members have rows */
};

typedef struct {
    const char *name, *title;
    int stiff;
    unsigned except;               /* families that it is not for */
    double atol;                   /* this times rtol */
} task;

/* atol: of the size that the components have while they matter; the second of Robertson's is below 4e-5 */
static const task tasks[] = {
    {"lv", "Lotka-Volterra", 0, OTHER, 1},
    {"rober_4e7", "Robertson, to t = 4e7", 1, EXPLICIT | OTHER, 1e-6},
    {"heat", "heat on a square, 1764 unknowns", 1, IMPLICIT | BIT(COSTATE_ERK) | OTHER, 1},
};

static double error_of(const problem *b, const double *y)
{
    double worst = 0, largest = 0, g1 = 0;
    if (b->reference == NULL) {
        double z = problem_heat_reference()->g1;
        for (int i = 0; i < b->P.n; i++) g1 += y[i] * y[i];
        return fabs(g1 - z) / z;
    }
    const double *z = b->reference->y;
    for (int i = 0; i < b->P.n; i++) largest = fmax(largest, fabs(z[i]));
    for (int i = 0; i < b->P.n; i++) worst = fmax(worst, fabs(y[i] - z[i]) / (fabs(z[i]) + 1e-6 * largest));
    return worst;
}

/* One run; its time, or -1 where it failed. */
static double run(costate *c, const problem *b, double *y)
{
    memset(y, 0, sizeof *y * (size_t)(b->P.n + b->P.nq));
    memcpy(y, b->y0, sizeof *y * (size_t)b->P.n);
    costate_reset_stats(c);
    double began = clock_now();
    int status = costate_integrate(c, b->t0, b->t1, y, b->p0, NULL);
    return status == COSTATE_OK ? clock_now() - began : -1;
}

static void report(const task *k, const costate_method_info *method, double rtol, double error, double time,
                   const costate_stats *s)
{
    json j = {.file = stdout};
    json_text(&j, "problem", k->name);
    json_text(&j, "title", k->title);
    json_count(&j, "stiff", k->stiff);
    json_text(&j, "method", method->name);
    json_number(&j, "rtol", rtol);
    json_number(&j, "error", error);
    json_count(&j, "steps", s->accepted);
    json_count(&j, "rejected", s->rejected);
    json_count(&j, "f", s->f);
    json_count(&j, "jac", s->jac);
    json_count(&j, "decompositions", s->decompositions + s->complex_decompositions);
    json_number(&j, "time", time);
    json_end(&j);
}

static void point(const task *k, const problem *b, const costate_method *m, const costate_method_info *about,
                  int level, double *y)
{
    costate_problem P = b->P;
    double rtol = about->embedded > 0 ? pow(10, -2 - 0.5 * level) : 1e-10;
    costate_options options = {.rtol = rtol, .atol = k->atol * rtol, .autonomous = b->autonomous};
    if (about->embedded == 0) {
        options.controller = COSTATE_FIXED;
        options.h0 = (b->t1 - b->t0) * pow(10, -1.5 - 0.25 * level);
    }
    P.nq = 0;
    costate *c = costate_new(m, &P, &options);
    double best = run(c, b, y);
    for (int repeat = 1; repeat < REPEATS && best >= 0 && best < LONG; repeat++) best = fmin(best, run(c, b, y));
    if (best >= 0) report(k, about, rtol, error_of(b, y), best, costate_get_stats(c));
    costate_free(c);
}

static int wanted(const char *name, int count, char **names)
{
    for (int i = 0; i < count; i++)
        if (strcmp(names[i], name) == 0) return 1;
    return count == 0;
}

static void all_methods(const task *k, const problem *b, double *y, int count, char **names)
{
    for (int i = 0; i < costate_method_count(); i++) {
        const costate_method *m = costate_method_at(i);
        costate_method_info about;
        if (costate_method_describe(m, &about) != COSTATE_OK || !wanted(about.name, count, names)) continue;
        if (k->except & BIT(about.family)) continue;
        if (about.embedded == 0 && k->stiff) continue;
        for (int level = 0; level < LEVELS; level++) point(k, b, m, &about, level, y);
        fflush(stdout);
    }
}

int main(int argc, char **argv)
{
    problem *heat = problem_heat(40);
    int status = 0;
    for (size_t i = 0; i < sizeof tasks / sizeof *tasks && status == 0; i++) {
        const problem *b = strcmp(tasks[i].name, "heat") == 0 ? heat : problem_find(tasks[i].name);
        double *y = b ? malloc(sizeof *y * (size_t)(b->P.n + b->P.nq)) : NULL;
        status = y == NULL;
        if (y) all_methods(&tasks[i], b, y, argc - 1, argv + 1);
        else fputs("work_precision: no memory\n", stderr);
        free(y);
    }
    problem_free(heat);
    return status;
}
