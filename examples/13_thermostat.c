/* 13_thermostat.c - a heater between two thresholds: the energy of some days, and its gradient with respect to all
   parameters, through 100 switchings.

   models/thermostat.eq is the model:

       T' = k (outside - T) + (on) power,   energy' = (on) power;   on -> off at T = high,  off -> on at T = low

   Two modes and no jumps: an event only changes the mode.  T is continuous, and yet the gradient jumps at each event,
   as a threshold moves all the times of switching after it.  Between two of them T is an exponential, so that all is
   known: each cycle is off for log((high - outside)/(low - outside))/k. */
#include <math.h>
#include <stdio.h>
#include "thermostat.h"

enum { K = thermostat_parameters, ENERGY = thermostat_states + thermostat_energy };

/* The energy during *hours, in which the heater is off 50 times, and its derivatives, with *hours held. */
static double by_hand(const double *p, double *hours, double *d)
{
    double k = p[thermostat_k], power = p[thermostat_power];
    double low = p[thermostat_low] - p[thermostat_outside], high = p[thermostat_high] - p[thermostat_outside];
    double off = log(high / low) / k, on = log((power / k - low) / (power / k - high)) / k;
    *hours = 50.5 * (on + off);
    d[thermostat_low] = 50 * power / (k * low);
    d[thermostat_high] = -50 * power / (k * high);
    d[thermostat_k] = 50 * power * off / k;
    d[thermostat_outside] = -d[thermostat_low] - d[thermostat_high];
    d[thermostat_power] = *hours - 50 * off;
    return power * d[thermostat_power];
}

int main(void)
{
    const double *p = thermostat_defaults;
    double y[thermostat_states + thermostat_costs], lambda[] = {[ENERGY] = 1}, mu[K] = {0}, d[K], hours, error = 0;
    double exact = by_hand(p, &hours, d);
    const costate_options options = {.rtol = 1e-10, .atol = 1e-10, .autonomous = 1, .mode = thermostat_on};
    costate *c = costate_new(NULL, thermostat_problem(), &options);
    costate_tape *tape = costate_tape_new();
    thermostat_start(0, p, y);
    int status = costate_integrate(c, 0, hours, y, p, tape);
    if (status == COSTATE_OK) status = costate_adjoint(c, tape, 1, lambda, mu, NULL, NULL);
    if (status != COSTATE_OK) puts(costate_message(c));
    int events = costate_tape_events(tape);
    printf("%.1f hours, %d switchings, %d steps: energy %.7f, exactly %.7f\n", hours, events, costate_tape_steps(tape),
           y[ENERGY], exact);
    for (int i = 0; i < K; i++) {
        printf("d energy / d %-8s %12.7f, exactly %12.7f\n", thermostat_parameter_names[i], mu[i], d[i]);
        error = fmax(error, fabs(mu[i] / d[i] - 1));
    }
    printf("largest relative error of the gradient: %.1e\n", error);
    costate_tape_free(tape);
    costate_free(c);
    return status != COSTATE_OK || events != 100 || !(error < 1e-7 && fabs(y[ENERGY] / exact - 1) < 1e-8);
}
