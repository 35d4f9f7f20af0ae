/* 02_robertson_fit.c - two rate constants of a stiff reaction from measurements, by L-BFGS on adjoint gradients.

   Robertson's problem, models/robertson_ode.eq:  A -> B  k1,   B + C -> A + C  k2,   B + B -> B + C  k3.  The constants
   of the two fast reactions are unknown, and the first guess is wrong by factors of 10.  All species are measured at 40
   times between 1e-5 and 1e4, equidistant in log t: inside the steps, by the dense output, so that the measurements
   cost no steps and the gradient is still that of the sum of squares as computed.  The unknowns are log k: they are
   positive, and of one size.  A misfit or gradient is one run forward and one back, whatever the number of constants
   and measurements.
   (H. H. Robertson, in: Numerical Analysis, ed. J. Walsh, Academic Press 1966, 178-182.) */
#include <costate/pieces.h>
#include <lbfgs.h>
#include <math.h>
#include <stdio.h>
#include "robertson_ode.h"

enum { N = robertson_ode_states, ROWS = N + robertson_ode_costs, K = robertson_ode_parameters, TIMES = 40 };
static const double t_end = 1e4;
static const double size[N] = {1, 4e-5, 1};            /* of the species: the misfit is relative to it */

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
    double y[ROWS], k[K] = {robertson_ode_defaults[0], exp(x[0]), exp(x[1])}, lambda[ROWS] = {0}, mu[K] = {0};
    robertson_ode_start(0, k, y);
    z->runs++;
    int status = costate_integrate(z->solver, 0, t_end, y, k, z->tape);
    if (status != COSTATE_OK) return fprintf(stderr, "%s\n", costate_message(z->solver)), NAN;
    status = costate_misfit_gradient(z->squares, z->solver, z->tape, k, lambda, mu);
    if (status != COSTATE_OK) return fprintf(stderr, "%s\n", costate_misfit_message(z->squares)), NAN;
    for (int i = 0; i < n; i++) gradient[i] = mu[1 + i] * k[1 + i];     /* with respect to log k */
    return (void)step, costate_misfit_sum(z->squares);
}

static int progress(void *ctx, const lbfgsfloatval_t *x, const lbfgsfloatval_t *gradient, const lbfgsfloatval_t value,
                    const lbfgsfloatval_t norm, const lbfgsfloatval_t gnorm, const lbfgsfloatval_t step, int n, int k,
                    int ls)
{
    (void)ctx, (void)gradient, (void)norm, (void)step, (void)n, (void)ls;
    printf("%9d  %10.3e  %10.3e  %12.6e  %12.6e\n", k, value, gnorm, exp(x[0]), exp(x[1]));
    return 0;
}

/* The measurements: another method, much tighter.  Its own steps, so the fit cannot be right by the same errors. */
static int measure(costate_tape *tape, double *t, double *measured)
{
    const costate_options tight = {.rtol = 1e-12, .atol = 1e-16};
    costate *solver = costate_new(costate_method_find("radau2a5"), robertson_ode_problem(), &tight);
    double y[ROWS];
    robertson_ode_start(0, robertson_ode_defaults, y);
    int status = costate_integrate(solver, 0, t_end, y, robertson_ode_defaults, tape);
    for (int i = 0; i < TIMES; i++) {
        t[i] = fmin(t_end, pow(10, -5 + 9.0 * i / (TIMES - 1)));
        if (status == COSTATE_OK) status = costate_tape_eval(solver, tape, t[i], measured + i * N);
    }
    if (status != COSTATE_OK) fprintf(stderr, "%s\n", costate_message(solver));
    costate_free(solver);
    return status;
}

int main(void)
{
    const costate_options options = {.rtol = 1e-8, .atol = 1e-12};
    const double *truth = robertson_ode_defaults;
    const int all[N] = {0, 1, 2};
    double x[2] = {log(truth[1] * 10), log(truth[2] / 10)}, t[TIMES], measured[TIMES * N];
    const costate_measurements data = {.times = TIMES, .outputs = N, .t = t, .component = all, .value = measured,
                                       .sigma = size};
    fit z = {.solver = costate_new(NULL, robertson_ode_problem(), &options), .tape = costate_tape_new(),
             .squares = costate_misfit_new(robertson_ode_problem(), &data)};
    lbfgs_parameter_t how;
    if (!z.tape || measure(z.tape, t, measured) != COSTATE_OK) return 1;
    lbfgs_parameter_init(&how);
    how.epsilon = 1e-9;
    printf("iteration      misfit    gradient            k2            k3\n");
    int status = lbfgs(2, x, NULL, misfit, progress, &z, &how);
    double error = fmax(fabs(exp(x[0]) / truth[1] - 1), fabs(exp(x[1]) / truth[2] - 1));
    printf("%d runs forward and back; liblbfgs: %d\n", z.runs, status);
    printf("largest relative error of the constants: %.1e\n", error);
    costate_misfit_free(z.squares);
    costate_tape_free(z.tape);
    costate_free(z.solver);
    return !(error < 1e-4);
}
