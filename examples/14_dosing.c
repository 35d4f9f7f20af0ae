/* 14_dosing.c - five constants of a drug in the body, from 24 measurements during doses and infusions, by L-BFGS.

   models/dosing.eq is the model: swallowed doses go into the gut, from there into the blood, which exchanges with
   tissue.  A dose is a jump at a given time.  An infusion is a rate that is switched on and off: a memory variable,
   which is constant between jumps.  Steps end exactly at these times, so that no step extends over a kink, and the
   gradient is that of the sum of squares as computed.

   What is measured, the concentration, is an output of the model, which depends on a parameter.  The unknowns are
   logarithms.  The measurements come from another method with much tighter tolerances. */
#include <costate/pieces.h>
#include <lbfgs.h>
#include <math.h>
#include <stdio.h>
#include "dosing.h"

enum { ROWS = dosing_states + dosing_memory, UNKNOWNS = dosing_parameters, TIMES = 24 };
static const double guess[UNKNOWNS] = {0.5, 10, 20, 1, 0.1}, hours = 36;

typedef struct {
    costate *solver;
    costate_tape *tape;
    costate_misfit *squares;
    int runs;
} fit;

static lbfgsfloatval_t misfit(void *ctx, const lbfgsfloatval_t *x, lbfgsfloatval_t *gradient, int n,
                              lbfgsfloatval_t step)
{
    fit *z = ctx;
    double y[ROWS], p[UNKNOWNS], lambda[ROWS] = {0}, mu[UNKNOWNS] = {0};
    for (int i = 0; i < n; i++) p[i] = exp(x[i]);
    dosing_start(0, p, y);
    z->runs++;
    int status = costate_integrate(z->solver, 0, hours, y, p, z->tape);
    if (status != COSTATE_OK) return fprintf(stderr, "%s\n", costate_message(z->solver)), NAN;
    status = costate_misfit_gradient(z->squares, z->solver, z->tape, p, lambda, mu);
    if (status != COSTATE_OK) return fprintf(stderr, "%s\n", costate_misfit_message(z->squares)), NAN;
    for (int i = 0; i < n; i++) gradient[i] = mu[i] * p[i];             /* with respect to log p */
    return (void)step, costate_misfit_sum(z->squares);
}

/* the concentrations of a run with the parameters in the model, which are the truth */
static int measure(costate_tape *tape, double *t, double *measured)
{
    const double *truth = dosing_defaults;
    const costate_options tight = {.rtol = 1e-12, .atol = 1e-12, .autonomous = 1};
    costate *solver = costate_new(costate_method_find("dopri853"), dosing_problem(), &tight);
    double y[ROWS];
    dosing_start(0, truth, y);
    int status = costate_integrate(solver, 0, hours, y, truth, tape);
    for (int i = 0; i < TIMES; i++) {
        t[i] = 0.5 + 1.5 * i;
        if (status == COSTATE_OK) status = costate_tape_eval(solver, tape, t[i], y);
        dosing_output_map()->value(&(costate_point){.t = t[i], .y = y, .p = truth}, &measured[i], NULL);
    }
    if (status != COSTATE_OK) fprintf(stderr, "%s\n", costate_message(solver));
    costate_free(solver);
    return status;
}

int main(void)
{
    const costate_options options = {.rtol = 1e-8, .atol = 1e-8, .autonomous = 1};
    const double sigma = 1;
    double x[UNKNOWNS], t[TIMES], measured[TIMES], error = 0;
    const costate_measurements data = {.times = TIMES, .outputs = 1, .t = t, .value = measured, .sigma = &sigma,
                                       .output = *dosing_output_map()};
    fit z = {.solver = costate_new(costate_method_find("dopri5"), dosing_problem(), &options),
             .tape = costate_tape_new(), .squares = costate_misfit_new(dosing_problem(), &data)};
    if (!z.tape || measure(z.tape, t, measured) != COSTATE_OK) return 1;
    lbfgs_parameter_t how;
    lbfgs_parameter_init(&how);
    how.epsilon = 1e-9;
    how.m = UNKNOWNS;
    for (int i = 0; i < UNKNOWNS; i++) x[i] = log(guess[i]);
    int status = lbfgs(UNKNOWNS, x, NULL, misfit, NULL, &z, &how);
    for (int i = 0; i < UNKNOWNS; i++) {
        printf("%-3s  guess %6.3f  found %10.6f  truth %6.3f\n", dosing_parameter_names[i], guess[i], exp(x[i]),
               dosing_defaults[i]);
        error = fmax(error, fabs(exp(x[i]) / dosing_defaults[i] - 1));
    }
    printf("%d doses and switchings, %d runs forward and back; liblbfgs: %d\n", costate_tape_events(z.tape), z.runs,
           status);
    printf("largest relative error of the constants: %.1e\n", error);
    costate_misfit_free(z.squares);
    costate_tape_free(z.tape);
    costate_free(z.solver);
    return !(error < 1e-4);
}
