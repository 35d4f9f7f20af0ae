/* 14_dosing.c - five constants of a drug in the body, from 24 measurements during doses and infusions, by L-BFGS.

   Swallowed doses go into the gut (A), from there into the blood (B), which exchanges with tissue (C):

       A' = -ka A,   B' = ka A - (cl/V) B - k12 B + k21 C + rate,   C' = k12 B - k21 C,   measured: B/V

   A dose is a jump of A at a given time, an infusion a rate into B that is switched on and off: memory, which is
   constant between jumps.  Steps end exactly at these times, so that no step goes across a kink, whatever its error
   estimate thinks of it; nothing is smoothed, and the gradient is that of the sum of squares as computed.  The unknowns
   are logarithms.  The measurements come from another method, much tighter. */
#include <costate/costate.h>
#include <lbfgs.h>
#include <math.h>
#include <stdio.h>

enum { GUT, BLOOD, TISSUE, RATE, ROWS };            /* of y: states, memory */
enum { KA, CL, V, K12, K21, UNKNOWNS };
enum { TIMES = 24 };
static const double truth[UNKNOWNS] = {1.1, 5, 30, 0.4, 0.25}, guess[UNKNOWNS] = {0.5, 10, 20, 1, 0.1};
static const double hours = 36, dose = 100, rate = 25;      /* mg, mg/h */
static const double swallowed[] = {0, 8, 24}, on[] = {12, 27}, off[] = {14.5, 28};

/* ---- the problem ---- */

static int f(const costate_point *x, double *out, void *ctx)
{
    const double *y = x->y, *p = x->p, absorbed = p[KA] * y[GUT], stored = p[K12] * y[BLOOD] - p[K21] * y[TISSUE];
    out[GUT] = -absorbed;
    out[BLOOD] = absorbed - p[CL] / p[V] * y[BLOOD] - stored + x->m[0];
    out[TISSUE] = stored;
    return (void)ctx, 0;
}
static int f_adjoint(const costate_point *x, const double *w, const costate_gradient *g, void *ctx)
{
    const double *y = x->y, *p = x->p, ab = w[BLOOD] - w[GUT], st = w[TISSUE] - w[BLOOD];
    if (g->y) {
        g->y[GUT] += p[KA] * ab;
        g->y[BLOOD] += p[K12] * st - p[CL] / p[V] * w[BLOOD];
        g->y[TISSUE] -= p[K21] * st;
    }
    if (g->p) {
        g->p[KA] += y[GUT] * ab;
        g->p[CL] -= y[BLOOD] / p[V] * w[BLOOD];
        g->p[V] += p[CL] / (p[V] * p[V]) * y[BLOOD] * w[BLOOD];
        g->p[K12] += y[BLOOD] * st;
        g->p[K21] -= y[TISSUE] * st;
    }
    if (g->m) g->m[0] += w[BLOOD];
    return (void)ctx, 0;
}

/* (y, m) after an event: as it was, but for what is swallowed, or for the rate */
static int unchanged(const costate_point *x, double *out)
{
    for (int i = 0; i < RATE; i++) out[i] = x->y[i];
    return out[RATE] = x->m[0], 0;
}
static int swallow(const costate_point *x, double *out, void *ctx)
{
    unchanged(x, out);
    return (void)ctx, out[GUT] += dose, 0;
}
static int swallow_adjoint(const costate_point *x, const double *w, const costate_gradient *g, void *ctx)
{
    for (int i = 0; g->y && i < RATE; i++) g->y[i] += w[i];
    if (g->m) g->m[0] += w[RATE];
    return (void)x, (void)ctx, 0;
}
static int start(const costate_point *x, double *out, void *ctx)
{
    unchanged(x, out);
    return (void)ctx, out[RATE] = rate, 0;
}
static int stop(const costate_point *x, double *out, void *ctx)
{
    unchanged(x, out);
    return (void)ctx, out[RATE] = 0, 0;
}
static int set_adjoint(const costate_point *x, const double *w, const costate_gradient *g, void *ctx)
{
    for (int i = 0; g->y && i < RATE; i++) g->y[i] += w[i];
    return (void)x, (void)ctx, 0;
}

#define AT(list, map, its_adjoint) {.ntimes = sizeof list / sizeof *list, .times = list, \
                                    .jump = {.value = map, .adjoint = its_adjoint}, .to = COSTATE_SAME_MODE}
static const costate_event doses[] = {AT(swallowed, swallow, swallow_adjoint), AT(on, start, set_adjoint),
                                      AT(off, stop, set_adjoint)};
static const costate_problem problem = {.n = 3, .np = UNKNOWNS, .nm = 1, .rhs = {.value = f, .adjoint = f_adjoint},
                                        .nevents = 3, .event = doses};

/* ---- the misfit ---- */

typedef struct {
    costate *solver;
    costate_tape *tape;
    double t[TIMES], measured[TIMES], V, sum, by_V;
    int runs;
} fit;

/* The gradient w.r.t. y(t_k) of the term of time k; its value, and its derivative by V, on the way. */
static int residual(int i, double t, const double *y, int m, double *w, void *ctx)
{
    fit *z = ctx;
    double r = y[BLOOD] / z->V - z->measured[i];
    z->sum += r * r / 2;
    z->by_V -= r * y[BLOOD] / (z->V * z->V);
    w[BLOOD] = r / z->V;
    return (void)t, (void)m, 0;
}

static lbfgsfloatval_t misfit(void *ctx, const lbfgsfloatval_t *x, lbfgsfloatval_t *gradient, int n,
                              lbfgsfloatval_t step)
{
    fit *z = ctx;
    double y[ROWS] = {0}, p[UNKNOWNS], lambda[ROWS] = {0}, mu[UNKNOWNS] = {0};
    costate_observations all = {.count = TIMES, .t = z->t, .seed = residual, .ctx = z};
    for (int i = 0; i < n; i++) p[i] = exp(x[i]);
    z->V = p[V];
    z->sum = z->by_V = 0;
    z->runs++;
    int status = costate_integrate(z->solver, 0, hours, y, p, z->tape);
    if (status == COSTATE_OK) status = costate_adjoint(z->solver, z->tape, 1, lambda, mu, NULL, &all);
    mu[V] += z->by_V;
    for (int i = 0; i < n; i++) gradient[i] = mu[i] * p[i];        /* by log p */
    if (status == COSTATE_OK) return (void)step, z->sum;
    fprintf(stderr, "%s\n", costate_message(z->solver));
    return NAN;
}

static int measure(fit *z)
{
    costate *solver = costate_new(costate_method_find("dopri853"), &problem,
                                  &(costate_options){.rtol = 1e-12, .atol = 1e-12, .autonomous = 1});
    double y[ROWS] = {0};
    int status = costate_integrate(solver, 0, hours, y, truth, z->tape);
    for (int i = 0; i < TIMES; i++) {
        z->t[i] = 0.5 + 1.5 * i;
        if (status == COSTATE_OK) status = costate_tape_eval(solver, z->tape, z->t[i], y);
        z->measured[i] = y[BLOOD] / truth[V];
    }
    if (status != COSTATE_OK) fprintf(stderr, "%s\n", costate_message(solver));
    costate_free(solver);
    return status;
}

int main(void)
{
    const costate_options options = {.rtol = 1e-8, .atol = 1e-8, .autonomous = 1};
    fit z = {.solver = costate_new(costate_method_find("dopri5"), &problem, &options), .tape = costate_tape_new()};
    double x[UNKNOWNS], error = 0;
    lbfgs_parameter_t how;
    lbfgs_parameter_init(&how);
    how.epsilon = 1e-9;
    how.m = UNKNOWNS;
    for (int i = 0; i < UNKNOWNS; i++) x[i] = log(guess[i]);
    if (!z.tape || measure(&z) != COSTATE_OK) return 1;
    int status = lbfgs(UNKNOWNS, x, NULL, misfit, NULL, &z, &how);
    const char *const name[] = {"ka", "cl", "V", "k12", "k21"};
    for (int i = 0; i < UNKNOWNS; i++) {
        printf("%-3s  guess %6.3f  found %10.6f  truth %6.3f\n", name[i], guess[i], exp(x[i]), truth[i]);
        error = fmax(error, fabs(exp(x[i]) / truth[i] - 1));
    }
    printf("%d doses and switchings, %d runs forward and back; liblbfgs: %d\n", costate_tape_events(z.tape), z.runs,
           status);
    printf("largest relative error of the constants: %.1e\n", error);
    costate_tape_free(z.tape);
    costate_free(z.solver);
    return !(error < 1e-4);
}
