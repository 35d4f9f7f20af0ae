/* 45_equilibrium.c - a cell at rest is stimulated: how its response depends on rate constants that also determine the
   state of rest.

   signalling.eq is the model, which says `start steady with ligand = 0`: before the stimulus there is no ligand, and
   the cell has come to rest.  R is at synthesis/decay, and the kinase, of which the sum K + A never changes, is partly
   active.  This steady state is the jump of an event at the start of the run.  The gradient of the exposure over one
   hour, the integral of A, passes through both.  With respect to the decay of the receptor it is nearly twice that of
   the response alone. */
#include <costate/steady.h>
#include <math.h>
#include <stdio.h>
#include "signalling.h"

enum { N = signalling_states, NP = signalling_parameters, DOSE = N };
static const double minutes = 60;
static const char *const names[NP] = {"ligand", "synthesis", "decay", "on", "off", "basal", "active", "inactive"};

/* the exposure; mu, if it is not NULL: its gradient */
static int exposure(costate *c, costate_tape *tape, const double *p, double *value, double *mu)
{
    double y[N + 1] = {0}, lambda[N + 1] = {0};
    signalling_start(0, p, y);
    int status = costate_integrate(c, 0, minutes, y, p, tape);
    *value = y[DOSE];
    lambda[DOSE] = 1;
    for (int i = 0; mu && i < NP; i++) mu[i] = 0;
    if (status == COSTATE_OK && mu) status = costate_adjoint(c, tape, 1, lambda, mu, NULL, NULL);
    if (status != COSTATE_OK) fprintf(stderr, "%s\n", costate_message(c));
    return status;
}

int main(void)
{
    const double start = 0, *p = signalling_defaults;
    const costate_options options = {.rtol = 1e-9, .atol = 1e-12};
    costate_problem problem = *signalling_problem();
    costate_steady *rest = costate_steady_new(NULL, signalling_start_problem(), &options, signalling_start_steady());
    const costate_event stimulus = {.ntimes = 1, .times = &start, .jump = costate_steady_map(rest), .ctx = rest,
                                    .from = COSTATE_ANY_MODE, .to = COSTATE_SAME_MODE};
    costate *plain = costate_new(NULL, &problem, &options);
    problem.nevents = 1;
    problem.event = &stimulus;
    costate *c = costate_new(NULL, &problem, &options);
    costate_tape *tape = costate_tape_new();
    double y[N + 1], value, mu[NP], q, direct[NP], moved[NP], high, low, worst = 0;
    signalling_start(0, p, y);
    if (!tape || costate_steady_solve(rest, y, p) != COSTATE_OK) return fputs(costate_steady_message(rest), stderr), 1;
    const costate_steady_stats *found = costate_steady_get_stats(rest);
    printf("at rest: R = %.4f, C = %.4f, K = %.4f, A = %.4f, %d invariant; slowest decay %.3f per minute\n", y[0], y[1],
           y[2], y[3], found->invariants, found->slowest);
    if (exposure(c, tape, p, &value, mu) || exposure(plain, tape, p, &q, direct)) return 1;
    printf("exposure in an hour: %.6f; from the states in the model: %.6f\n\n", value, q);
    printf("%-10s %14s %14s\n", "d/d log of", "with rest", "without");
    for (int i = 0; i < NP; i++) {
        for (int k = 0; k < NP; k++) moved[k] = p[k];
        moved[i] = p[i] * (1 + 1e-4);
        if (exposure(c, tape, moved, &high, NULL)) return 1;
        moved[i] = p[i] * (1 - 1e-4);
        if (exposure(c, tape, moved, &low, NULL)) return 1;
        worst = fmax(worst, fabs((high - low) / 2e-4 - mu[i] * p[i]));
        printf("%-10s %14.6f %14.6f\n", names[i], mu[i] * p[i], direct[i] * p[i]);
    }
    printf("\ndifferences of whole runs differ from the gradient by at most %.0e\n", worst);
    costate_tape_free(tape);
    costate_free(c);
    costate_free(plain);
    costate_steady_free(rest);
    return !(worst < 1e-5);
}
