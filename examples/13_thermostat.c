/* 13_thermostat.c - a heater between two thresholds: the energy of some days, and its gradient by both, through 100
   switchings.

       T' = k (outside - T) + (on) power,   energy' = (on) power;   on -> off at T = high,  off -> on at T = low

   Two modes and no jumps: an event only changes the mode.  T is what it was, and yet the gradient jumps at each event,
   as a threshold moves all the times of switching after it.  Between two of them T is an exponential, so that all is
   known: each cycle is off for log((high - outside)/(low - outside))/k. */
#include <costate/costate.h>
#include <math.h>
#include <stdio.h>

enum { OFF, ON };
enum { LOW, HIGH };                                     /* parameters */
static const double k = 0.2, outside = 5, power = 4;    /* 1/h; degrees; degrees/h */

static int f(const costate_point *x, double *out, void *ctx)
{
    out[0] = k * (outside - x->y[0]) + (x->mode == ON ? power : 0);
    return (void)ctx, 0;
}
static int f_adjoint(const costate_point *x, const double *w, const costate_gradient *g, void *ctx)
{
    if (g->y) g->y[0] -= k * w[0];
    return (void)x, (void)ctx, 0;
}

static int heating(const costate_point *x, double *out, void *ctx)
{
    return (void)ctx, out[0] = x->mode == ON ? power : 0, 0;
}
static int heating_adjoint(const costate_point *x, const double *w, const costate_gradient *g, void *ctx)
{
    return (void)x, (void)w, (void)g, (void)ctx, 0;     /* depends only on the mode */
}

/* T - low or T - high, whichever the mode waits for */
static int threshold(const costate_point *x) { return x->mode == ON ? HIGH : LOW; }
static int distance(const costate_point *x, double *out, void *ctx)
{
    return (void)ctx, out[0] = x->y[0] - x->p[threshold(x)], 0;
}
static int distance_adjoint(const costate_point *x, const double *w, const costate_gradient *g, void *ctx)
{
    if (g->y) g->y[0] += w[0];
    if (g->p) g->p[threshold(x)] -= w[0];
    return (void)ctx, 0;
}

#define SWITCH(a, b, way) {.guard = {.value = distance, .adjoint = distance_adjoint}, .direction = way, .from = a, \
                           .to = b}
static const costate_event switches[] = {SWITCH(ON, OFF, 1), SWITCH(OFF, ON, -1)};

int main(void)
{
    double p[2] = {19, 21}, y[2] = {18, 0}, lambda[2] = {0, 1}, mu[2] = {0};
    double off = log((p[HIGH] - outside) / (p[LOW] - outside)) / k;
    double on = log((power / k + outside - p[LOW]) / (power / k + outside - p[HIGH])) / k;
    double hours = 50.5 * (on + off);                   /* 100 switchings, and then the heater is on */
    double d[2] = {50 * power / (k * (p[LOW] - outside)), -50 * power / (k * (p[HIGH] - outside))};
    costate_problem problem = {.n = 1, .np = 2, .nq = 1, .rhs = {.value = f, .adjoint = f_adjoint},
                               .cost = {.value = heating, .adjoint = heating_adjoint}, .nevents = 2, .event = switches};
    costate_options options = {.rtol = 1e-10, .atol = 1e-10, .autonomous = 1, .mode = ON};
    costate *c = costate_new(NULL, &problem, &options);
    costate_tape *tape = costate_tape_new();
    int status = costate_integrate(c, 0, hours, y, p, tape);
    if (status == COSTATE_OK) status = costate_adjoint(c, tape, 1, lambda, mu, NULL, NULL);
    if (status != COSTATE_OK) puts(costate_message(c));
    int events = costate_tape_events(tape);
    double exact = power * (hours - 50 * off), error = fmax(fabs(mu[0] / d[0] - 1), fabs(mu[1] / d[1] - 1));
    printf("%.1f hours, %d switchings, %d steps: energy %.7f, exactly %.7f\n", hours, events, costate_tape_steps(tape),
           y[1], exact);
    printf("gradient by the lower threshold  %.6f, exactly %.6f\n", mu[LOW], d[LOW]);
    printf("            by the upper         %.6f, exactly %.6f\n", mu[HIGH], d[HIGH]);
    printf("largest relative error of the gradient: %.1e\n", error);
    costate_tape_free(tape);
    costate_free(c);
    return status != COSTATE_OK || events != 100 || !(error < 1e-7 && fabs(y[1] / exact - 1) < 1e-8);
}
