/* 05_fast_components.c - the gradient with respect to a component that reacts within the first step.

   How much ozone does a ppm of OH more make after 60 minutes, in the air pollution model of pollu.c?  OH reacts in 1e-3
   minutes, and what becomes of it is settled soon after.  The state hardly shows it: OH never exceeds 6e-7 ppm, which
   atol = 1e-6 does not see, and after some minutes it is in equilibrium with the rest and moves no more by itself.  So
   steps get longer than OH lives - and the gradient, which is exact for these steps, follows the steps, not the
   tolerance.  docs/explanation/fast-components.md says why.

   OH added at t = 0, where it comes from nothing, and at t = 10, in equilibrium: against a reference by another method
   at a tight tolerance, loose runs and remedies. */
#include <costate/costate.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "pollu.h"

enum { SPECIES = POLLU_SPECIES, REACTIONS = POLLU_REACTIONS, O3 = POLLU_O3, OH = POLLU_OH };

typedef struct {
    const char *text, *method;
    costate_options options;
    double from;            /* when OH is added */
    double fine;            /* > 0: for so long with steps of at most fine/100 */
    double least, most;     /* its error is to lie between */
} experiment;

#define REFERENCE "radau2a5", {.rtol = 1e-12, .atol = 1e-24, .h0 = 1e-12}
static const experiment references[] = {{"", REFERENCE, 0, 0, 0, 0}, {"", REFERENCE, 10, 0, 0, 0}};

static const experiment experiments[] = {
    {"rtol = atol = 1e-4", "rodas4", {.rtol = 1e-4, .atol = 1e-4}, 0, 0, 0.3, 10},
    {"rtol = atol = 1e-6", "rodas4", {.rtol = 1e-6, .atol = 1e-6}, 0, 0, 0.01, 0.1},
    {"1e-4, hmax = 0.01", "rodas4", {.rtol = 1e-4, .atol = 1e-4, .hmax = 0.01}, 0, 0, 0, 0.01},
    {"1e-4, hmax = 0.01 to t = 1", "rodas4", {.rtol = 1e-4, .atol = 1e-4}, 0, 1, 0, 0.01},
    {"1e-4, tangent_error", "rodas4", {.rtol = 1e-4, .atol = 1e-4, .tangent_error = 1}, 0, 0, 0, 1e-3},
    {"1e-4, atol = 1e-10", "rodas4", {.rtol = 1e-4, .atol = 1e-10}, 0, 0, 0, 1e-3},
    {"1e-4, atol = 1e-10", "rodas4", {.rtol = 1e-4, .atol = 1e-10}, 10, 0, 0.3, 10},
    {"1e-6, atol = 1e-12", "rodas4", {.rtol = 1e-6, .atol = 1e-12}, 10, 0, 0.03, 1},
    {"1e-4, hmax = 0.01", "rodas4", {.rtol = 1e-4, .atol = 1e-10, .hmax = 0.01}, 10, 0, 0, 0.01},
    {"1e-4, h0 = 0.001", "rodas4", {.rtol = 1e-4, .atol = 1e-10, .h0 = 0.001}, 10, 0, 0, 0.03},
    {"1e-4, tangent_error", "rodas4", {.rtol = 1e-4, .atol = 1e-10, .tangent_error = 1}, 10, 0, 0, 1e-3},
    {"1e-4", "radau2a", {.rtol = 1e-4, .atol = 1e-10}, 10, 0, 0, 1e-3}};
enum { EXPERIMENTS = sizeof experiments / sizeof *experiments };

typedef struct { double gradient, ozone; int steps; } outcome;

static int report(costate *c, int status)
{
    if (status != COSTATE_OK) fprintf(stderr, "%s\n", costate_message(c));
    return status;
}

/* With tangent_error one tangent runs along: 1 in every component, so that every fast one is seen. */
static int forward(costate *c, const costate_options *o, double t0, double t1, double *y, const double *k,
                   costate_tape *tape)
{
    double V[SPECIES];
    for (int i = 0; i < SPECIES; i++) V[i] = 1;
    if (!o->tangent_error) return costate_integrate(c, t0, t1, y, k, tape);
    return costate_integrate_tlm(c, t0, t1, y, k, 1, V, NULL, NULL, tape);
}

/* Two segments, forward over both and back over both; the first is empty where nothing is to be fine. */
static int run(const experiment *e, double *y, const double *k, double *lambda, int *steps)
{
    costate_options o[2] = {e->options, e->options};
    double t[3] = {e->from, e->from + e->fine, 60};
    costate *c[2];
    costate_tape *tape[2];
    int status = COSTATE_OK;
    o[0].hmax = e->fine / 100;
    for (int i = 0; i < 2; i++) {
        o[i].autonomous = 1;
        c[i] = costate_new(costate_method_find(e->method), &pollu_problem, &o[i]);
        tape[i] = costate_tape_new();
    }
    for (int i = 0; i < 2 && status == COSTATE_OK; i++)
        status = report(c[i], forward(c[i], &o[i], t[i], t[i + 1], y, k, tape[i]));
    for (int i = 1; i >= 0 && status == COSTATE_OK; i--)
        status = report(c[i], costate_adjoint(c[i], tape[i], 1, lambda, NULL, NULL, NULL));
    *steps = costate_tape_steps(tape[0]) + costate_tape_steps(tape[1]);
    for (int i = 0; i < 2; i++) {
        costate_tape_free(tape[i]);
        costate_free(c[i]);
    }
    return status;
}

/* The state from which an experiment starts. */
static int state_at(double t, double *y, const double *k)
{
    const experiment *e = &references[0];
    costate *c = costate_new(costate_method_find(e->method), &pollu_problem, &e->options);
    memcpy(y, pollu_start, sizeof pollu_start);
    int status = report(c, costate_integrate(c, 0, t, y, k, NULL));
    costate_free(c);
    return status;
}

static int ozone_by_OH(const experiment *e, outcome *out)
{
    double y[SPECIES], k[REACTIONS], lambda[SPECIES] = {[O3] = 1};
    pollu_constants(k);
    int status = state_at(e->from, y, k);
    if (status == COSTATE_OK) status = run(e, y, k, lambda, &out->steps);
    out->gradient = lambda[OH];
    out->ozone = y[O3];
    return status;
}

int main(void)
{
    outcome exact[2], got;
    int wrong = 0;
    for (int i = 0; i < 2; i++)
        if (ozone_by_OH(&references[i], &exact[i]) != COSTATE_OK) return 1;
    printf("d O3(60) / d OH(0) = %.6f, d O3(60) / d OH(10) = %.6f\n\n", exact[0].gradient, exact[1].gradient);
    printf("added at  by                                    steps  error of O3  of d O3/d OH\n");
    for (int i = 0; i < EXPERIMENTS; i++) {
        const experiment *e = &experiments[i];
        if (ozone_by_OH(e, &got) != COSTATE_OK) return 1;
        double of_ozone = fabs(got.ozone / pollu_reference[O3] - 1);
        double error = fabs(got.gradient / exact[e->from > 0].gradient - 1);
        int right = error >= e->least && error <= e->most;
        printf("t = %-4g  %-7s %-27s %8d %12.1e %13.1e%s\n", e->from, e->method, e->text, got.steps, of_ozone, error,
               right ? "" : "  unlike the table");
        wrong += !right;
    }
    printf("\nerrors that are outside the bounds of the table: %d\n", wrong);
    return wrong != 0;
}
