/* 12_bouncing_ball.c - when does a ball hit the ground for the third time?  That time, and its gradient by height,
   speed, gravity and restitution.

       y' = v,  v' = -g;   where y = 0 and v < 0:  v := -e v

   An event is where a guard passes through zero: here y, falling.  The step that ends there is solved again until the
   guard is zero to round-off, and then the jump is applied.  The mode counts the impacts, which is all that the events
   differ in; the third ends the run.  When that is follows from the run: its gradient is requested with times.end, the
   weight of the time where the run ended. */
#include <costate/costate.h>
#include <math.h>
#include <stdio.h>

static int f(const costate_point *x, double *out, void *ctx)
{
    out[0] = x->y[1];
    out[1] = -x->p[0];
    return (void)ctx, 0;
}
static int f_adjoint(const costate_point *x, const double *w, const costate_gradient *g, void *ctx)
{
    if (g->y) g->y[1] += w[0];
    if (g->p) g->p[0] -= w[1];
    return (void)x, (void)ctx, 0;
}

static int height(const costate_point *x, double *out, void *ctx) { return (void)ctx, out[0] = x->y[0], 0; }
static int height_adjoint(const costate_point *x, const double *w, const costate_gradient *g, void *ctx)
{
    if (g->y) g->y[0] += w[0];
    return (void)x, (void)ctx, 0;
}

static int bounce(const costate_point *x, double *out, void *ctx)
{
    out[0] = x->y[0];
    out[1] = -x->p[1] * x->y[1];
    return (void)ctx, 0;
}
static int bounce_adjoint(const costate_point *x, const double *w, const costate_gradient *g, void *ctx)
{
    if (g->y) { g->y[0] += w[0]; g->y[1] -= x->p[1] * w[1]; }
    if (g->p) g->p[1] -= x->y[1] * w[1];
    return (void)ctx, 0;
}

#define IMPACT(k, ends) {.guard = {.value = height, .adjoint = height_adjoint}, .direction = -1, .terminal = ends, \
                         .jump = {.value = bounce, .adjoint = bounce_adjoint}, .from = k, .to = k + 1}
static const costate_event impacts[] = {IMPACT(0, 0), IMPACT(1, 0), IMPACT(2, 1)};

/* t3 = (v + w + 2 (e + e^2) w) / g,  w = sqrt(v^2 + 2 g h) the speed of the first impact */
static double by_hand(double h, double v, double g, double e, double gradient[4])
{
    double w = sqrt(v * v + 2 * g * h), k = 1 + 2 * (e + e * e), t = (v + k * w) / g;
    gradient[0] = k / w;
    gradient[1] = (1 + k * v / w) / g;
    gradient[2] = k * h / (w * g) - t / g;
    gradient[3] = (2 + 4 * e) * w / g;
    return t;
}

int main(void)
{
    double y[2] = {1, 0.5}, p[2] = {9.81, 0.8}, end = 1, d[4] = {0}, exact[4], error = 0;
    double t3 = by_hand(y[0], y[1], p[0], p[1], exact);
    costate_problem problem = {.n = 2, .np = 2, .rhs = {.value = f, .adjoint = f_adjoint}, .nevents = 3,
                               .event = impacts};
    costate_options options = {.rtol = 1e-9, .atol = 1e-9, .autonomous = 1};
    costate *c = costate_new(NULL, &problem, &options);
    costate_tape *tape = costate_tape_new();
    int status = costate_integrate(c, 0, 10, y, p, tape);
    double t = costate_time(c);
    if (status == COSTATE_OK) status = costate_adjoint(c, tape, 1, d, d + 2, &(costate_times){.end = &end}, NULL);
    if (status != COSTATE_OK) puts(costate_message(c));
    for (int k = 0; k < costate_tape_events(tape); k++) {
        double at, before[2], after[2];
        costate_tape_event(tape, k, &at, NULL, before, after);
        printf("impact %d: t = %.12f, v = %8.5f, then %.5f\n", k + 1, at, before[1], after[1]);
    }
    const char *const name[] = {"height", "speed", "g", "restitution"};
    for (int i = 0; i < 4; i++) {
        printf("dt3/d %-11s = %13.10f, by hand %13.10f\n", name[i], d[i], exact[i]);
        error = fmax(error, fabs(d[i] - exact[i]));
    }
    printf("largest error: of the gradient %.1e, of t3 %.1e\n", error, fabs(t - t3));
    costate_tape_free(tape);
    costate_free(c);
    return status != COSTATE_OK || !(error < 1e-12 && fabs(t - t3) < 1e-13);
}
