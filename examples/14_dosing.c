/* 14_dosing.c - five constants of a drug in the body, from 24 measurements during doses and infusions, by L-BFGS.

   Swallowed doses go into the gut (A), from there into the blood (B), which exchanges with tissue (C):

       A' = -ka A,   B' = ka A - (cl/V) B - k12 B + k21 C + rate,   C' = k12 B - k21 C,   measured: B/V

   A dose is a jump of A at a given time. An infusion is a rate into B that is switched on and off: a memory variable,
   which is constant between jumps.  Steps end exactly at these times, so that no step extends over a kink, and the
   gradient is that of the sum of squares as computed.  The jumps and the sum of squares are ready-made (pieces.h).  The
   unknowns are logarithms.  The measurements come from another method with much tighter tolerances. */
#include <costate/pieces.h>
#include <lbfgs.h>
#include <math.h>
#include <stdio.h>

enum { GUT, BLOOD, TISSUE, RATE, ROWS };            /* of y: states, memory */
enum { KA, CL, V, K12, K21, UNKNOWNS };
enum { TIMES = 24 };
static const double truth[UNKNOWNS] = {1.1, 5, 30, 0.4, 0.25}, guess[UNKNOWNS] = {0.5, 10, 20, 1, 0.1};
static const double hours = 36;
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

/* Jumps of (y, m): a dose is 100 mg more in the gut; an infusion sets the rate to 25 mg/h, its end to 0. */
static const costate_term swallow = {.row = GUT, .factor = 100}, start = {.row = RATE, .factor = 25, .set = 1},
                          stop = {.row = RATE, .factor = 0, .set = 1};
static costate_formulas jumps[] = {{.jump = {1, &swallow}}, {.jump = {1, &start}}, {.jump = {1, &stop}}};

#define AT(list) {.ntimes = sizeof list / sizeof *list, .times = list, .to = COSTATE_SAME_MODE}
static costate_event doses[] = {AT(swallowed), AT(on), AT(off)};
static const costate_problem problem = {.n = 3, .np = UNKNOWNS, .nm = 1, .rhs = {.value = f, .adjoint = f_adjoint},
                                        .nevents = 3, .event = doses};

/* ---- the misfit ---- */

/* what is measured: the concentration B/V */
static int concentration(const costate_point *x, double *out, void *ctx)
{
    return (void)ctx, out[0] = x->y[BLOOD] / x->p[V], 0;
}
static int concentration_adjoint(const costate_point *x, const double *w, const costate_gradient *g, void *ctx)
{
    if (g->y) g->y[BLOOD] += w[0] / x->p[V];
    if (g->p) g->p[V] -= w[0] * x->y[BLOOD] / (x->p[V] * x->p[V]);
    return (void)ctx, 0;
}

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
    double y[ROWS] = {0}, p[UNKNOWNS], lambda[ROWS] = {0}, mu[UNKNOWNS] = {0};
    for (int i = 0; i < n; i++) p[i] = exp(x[i]);
    z->runs++;
    int status = costate_integrate(z->solver, 0, hours, y, p, z->tape);
    if (status != COSTATE_OK) return fprintf(stderr, "%s\n", costate_message(z->solver)), NAN;
    status = costate_misfit_gradient(z->squares, z->solver, z->tape, p, lambda, mu);
    if (status != COSTATE_OK) return fprintf(stderr, "%s\n", costate_misfit_message(z->squares)), NAN;
    for (int i = 0; i < n; i++) gradient[i] = mu[i] * p[i];        /* by log p */
    return (void)step, costate_misfit_sum(z->squares);
}

static int measure(costate_tape *tape, double *t, double *measured)
{
    costate *solver = costate_new(costate_method_find("dopri853"), &problem,
                                  &(costate_options){.rtol = 1e-12, .atol = 1e-12, .autonomous = 1});
    double y[ROWS] = {0};
    int status = costate_integrate(solver, 0, hours, y, truth, tape);
    for (int i = 0; i < TIMES; i++) {
        t[i] = 0.5 + 1.5 * i;
        if (status == COSTATE_OK) status = costate_tape_eval(solver, tape, t[i], y);
        measured[i] = y[BLOOD] / truth[V];
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
                                       .output = {.value = concentration, .adjoint = concentration_adjoint}};
    costate_report report;
    for (int k = 0; k < problem.nevents; k++)
        if (costate_formulas_event(&jumps[k], &problem, &doses[k], &report) != COSTATE_OK) return puts(report.text), 1;
    fit z = {.solver = costate_new(costate_method_find("dopri5"), &problem, &options), .tape = costate_tape_new()};
    if (!z.tape || measure(z.tape, t, measured) != COSTATE_OK) return 1;
    z.squares = costate_misfit_new(&problem, &data);
    lbfgs_parameter_t how;
    lbfgs_parameter_init(&how);
    how.epsilon = 1e-9;
    how.m = UNKNOWNS;
    for (int i = 0; i < UNKNOWNS; i++) x[i] = log(guess[i]);
    int status = lbfgs(UNKNOWNS, x, NULL, misfit, NULL, &z, &how);
    const char *const name[] = {"ka", "cl", "V", "k12", "k21"};
    for (int i = 0; i < UNKNOWNS; i++) {
        printf("%-3s  guess %6.3f  found %10.6f  truth %6.3f\n", name[i], guess[i], exp(x[i]), truth[i]);
        error = fmax(error, fabs(exp(x[i]) / truth[i] - 1));
    }
    printf("%d doses and switchings, %d runs forward and back; liblbfgs: %d\n", costate_tape_events(z.tape), z.runs,
           status);
    printf("largest relative error of the constants: %.1e\n", error);
    costate_misfit_free(z.squares);
    costate_tape_free(z.tape);
    costate_free(z.solver);
    return !(error < 1e-4);
}
