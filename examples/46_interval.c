/* 46_interval.c - a drug that is taken once a day, after many days: how the lowest concentration of a day and the
   exposure depend on the constants.

   interval.eq is the model; `start periodic 24` says that its days are alike.  The solver finds such a day directly, as
   a periodic orbit with an event inside, which takes some Newton iterations of a day each; from empty compartments the
   slow exchange with the tissue would take two weeks.  The exposure of a day is dose/CL exactly, whatever the others
   are, which the program checks for value and gradient.  Its other check is the day that follows weeks of doses. */
#include <costate/periodic.h>
#include <math.h>
#include <stdio.h>
#include "interval.h"

enum { N = interval_states, NP = interval_parameters, L = N + interval_costs, DAYS = 60 };

/* the concentration in the blood at the start of the day that follows so many days of doses */
static int later(const double *p, const costate_options *options, int days, double *concentration)
{
    costate *c = costate_new(NULL, interval_problem(), options);
    double y[L];
    int status = COSTATE_OK;
    interval_start(0, p, y);
    for (int day = 0; day < days && status == COSTATE_OK; day++)
        status = costate_integrate(c, 0, interval_start_period, y, p, NULL);
    if (status != COSTATE_OK) fprintf(stderr, "%s\n", costate_message(c));
    *concentration = y[interval_blood] / p[interval_V];
    costate_free(c);
    return status;
}

int main(void)
{
    const costate_options options = {.rtol = 1e-11, .atol = 1e-11};
    const double *p = interval_defaults;
    costate_periodic *day = costate_periodic_new(NULL, interval_problem(), &options, interval_start_periodic());
    double y[L], X[N + 1 + interval_costs], lambda[2][N + 1 + interval_costs] = {{0}}, mu[2][NP] = {{0}}, after;
    costate_orbit orbit;
    interval_start(0, p, y);
    if (costate_periodic_solve(day, y, NULL, p) != COSTATE_OK || costate_periodic_orbit(day, &orbit) != COSTATE_OK ||
        costate_periodic_get(day, X) != COSTATE_OK) {
        fprintf(stderr, "%s\n", costate_periodic_message(day));
        return 1;
    }
    const double lowest = y[interval_blood] / p[interval_V], exposure = X[N + 1];
    lambda[0][interval_blood] = 1 / p[interval_V];
    lambda[1][N + 1] = 1;
    if (costate_periodic_adjoint(day, 2, lambda[0], mu[0]) != COSTATE_OK) return 1;
    mu[0][interval_V] -= lowest / p[interval_V];       /* the concentration is blood/V */
    printf("before a dose: %.6f mg/L; exposure of a day: %.6f mg h/L\n", lowest, exposure);
    printf("%d iterations of a day; what is left of a disturbance after a day: %.3f\n\n", orbit.iterations,
           orbit.multiplier);
    printf("%-6s %22s %22s\n", "", "lowest concentration", "exposure");
    for (int i = 0; i < NP; i++)
        printf("%-6s %22.8f %22.8f\n", interval_parameter_names[i], mu[0][i], mu[1][i]);
    if (later(p, &options, DAYS, &after)) return 1;
    double worst = fabs(exposure - p[interval_dose] / p[interval_CL]);
    for (int i = 0; i < NP; i++) {
        double exact = i == interval_CL ? -exposure / p[interval_CL] : i == interval_dose ? 1 / p[interval_CL] : 0;
        worst = fmax(worst, fabs(mu[1][i] - exact));
    }
    printf("\nexposure and its gradient are those of dose/CL within 1e-6: %s; after %d days of doses: %.6f mg/L\n",
           worst < 1e-6 ? "yes" : "no", DAYS, after);
    costate_periodic_free(day);
    return !(worst < 1e-6 && fabs(after - lowest) < 1e-6);
}
