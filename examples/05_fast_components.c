/* 05_fast_components.c - the gradient by a component that reacts within the first step.

   How much ozone does a ppm of OH at t = 0 make after 60 minutes, in the air pollution model of pollu.c?  OH reacts in
   1e-3 minutes, and what becomes of it is settled in the first 0.1 minutes, in which NO2 builds up from zero.  The state
   hardly shows it: OH never exceeds 6e-7 ppm, which atol = 1e-6 does not see.  So the steps soon get longer than that -
   and the gradient, which is exact for these steps, follows the steps, not the tolerance.  The manual says why.

   Against a reference by another method at a tight tolerance: two loose runs; one with short steps; with short steps at
   the start only; with an atol that sees OH; and with a tangent in the error control. */
#include <costate/costate.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "pollu.h"

enum { SPECIES = POLLU_SPECIES, REACTIONS = POLLU_REACTIONS, O3 = POLLU_O3, OH = POLLU_OH };

typedef struct {
    const char *text, *method;
    costate_options options;
    double fine;            /* > 0: up to this time with steps of at most fine/100 */
} experiment;

static const experiment reference = {"reference", "radau2a5", {.rtol = 1e-12, .atol = 1e-24, .h0 = 1e-12}, 0};
static const experiment experiments[] = {
    {"rtol = atol = 1e-4", "rodas4", {.rtol = 1e-4, .atol = 1e-4}, 0},
    {"rtol = atol = 1e-6", "rodas4", {.rtol = 1e-6, .atol = 1e-6}, 0},
    {"1e-4, hmax = 0.01", "rodas4", {.rtol = 1e-4, .atol = 1e-4, .hmax = 0.01}, 0},
    {"1e-4, hmax = 0.01 to t = 1", "rodas4", {.rtol = 1e-4, .atol = 1e-4}, 1},
    {"1e-4, atol = 1e-10", "rodas4", {.rtol = 1e-4, .atol = 1e-10}, 0},
    {"1e-4, tangent_error", "rodas4", {.rtol = 1e-4, .atol = 1e-4, .tangent_error = 1}, 0}};
enum { LOOSE, TIGHTER, SHORT, SHORT_START, SMALL_ATOL, WITH_TANGENT, EXPERIMENTS };

typedef struct { double gradient, state; int steps; } outcome;

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
static int run(const experiment *e, double *y, const double *k, double *lambda, outcome *out)
{
    costate_options o[2] = {e->options, e->options};
    double t[3] = {0, e->fine, 60};
    costate *c[2] = {NULL, NULL};
    costate_tape *tape[2] = {NULL, NULL};
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
    out->steps = costate_tape_steps(tape[0]) + costate_tape_steps(tape[1]);
    for (int i = 0; i < 2; i++) {
        costate_tape_free(tape[i]);
        costate_free(c[i]);
    }
    return status;
}

static int ozone_by_OH(const experiment *e, outcome *out)
{
    double y[SPECIES], k[REACTIONS], lambda[SPECIES] = {[O3] = 1};
    memcpy(y, pollu_start, sizeof y);
    pollu_constants(k);
    int status = run(e, y, k, lambda, out);
    out->gradient = lambda[OH];
    out->state = y[O3];
    return status;
}

int main(void)
{
    outcome exact, got;
    double error[EXPERIMENTS];
    if (ozone_by_OH(&reference, &exact) != COSTATE_OK) return 1;
    printf("d O3(60) / d OH(0) = %.6f\n\n", exact.gradient);
    printf("                            steps   error of O3   of d O3/d OH\n");
    for (int i = 0; i < EXPERIMENTS; i++) {
        if (ozone_by_OH(&experiments[i], &got) != COSTATE_OK) return 1;
        error[i] = fabs(got.gradient / exact.gradient - 1);
        double of_state = fabs(got.state / pollu_reference[O3] - 1);
        printf("%-26s %6d %13.1e %14.1e\n", experiments[i].text, got.steps, of_state, error[i]);
    }
    double worst = 0;
    for (int i = SHORT; i < EXPERIMENTS; i++) worst = fmax(worst, error[i]);
    printf("\nthe largest error of the four remedies: %.1e\n", worst);
    return !(error[LOOSE] > 0.3 && error[TIGHTER] > 0.01 && worst < 0.01);
}
