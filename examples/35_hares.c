/* 35_hares.c - a fit with bounds by NLopt, with gradients by the adjoint: hares and lynxes in Canada, 1900 to 1920.

   models/hares.eq is the model.  The unknowns x are its four constants and both initial values.  One adjoint sweep
   returns the gradient with respect to all of them: mu for constants, lambda for initial values.  NLopt works with
   u = x/guess, and the bounds 1/2 and 2 keep it where the solution has the right number of cycles: elsewhere the misfit
   has other minima.

   Pelts in thousands: P. Howard, Modeling Basics, Texas A&M University (2009).  The errors of their logarithms, and
   estimates from the same data with weak priors: B. Carpenter, Predator-Prey Population Dynamics: the Lotka-Volterra
   model in Stan (2018). */
#include <costate/pieces.h>
#include <math.h>
#include <nlopt.h>
#include <stdio.h>
#include "hares.h"

enum { N = hares_states, K = hares_parameters, ALL = K + N, YEARS = 21 };
static const double pelts[YEARS][N] = {{30.0, 4.0}, {47.2, 6.1}, {70.2, 9.8}, {77.4, 35.2}, {36.3, 59.4}, {20.6, 41.7},
    {18.1, 19.0}, {21.4, 13.0}, {22.0, 8.3}, {25.4, 9.1}, {27.1, 7.4}, {40.3, 8.0}, {57.0, 12.3}, {76.6, 19.5},
    {52.3, 45.7}, {19.5, 51.1}, {11.2, 29.7}, {7.6, 15.8}, {14.6, 9.7}, {16.2, 10.1}, {24.7, 8.6}};
static const double sigma[N] = {0.25, 0.25}, carpenter[ALL] = {0.55, 0.028, 0.80, 0.024, 33.96, 5.95};

typedef struct { costate *solver; costate_tape *tape; costate_misfit *misfit; double guess[ALL]; } fit;

static double misfit(unsigned n, const double *u, double *gradient, void *ctx)
{
    fit *z = ctx;
    double x[ALL], y[N], g[ALL] = {0};                                  /* g: K of mu, N of lambda */
    for (unsigned i = 0; i < n; i++) x[i] = u[i] * z->guess[i];
    for (int i = 0; i < N; i++) y[i] = x[K + i];
    if (costate_integrate(z->solver, 0, YEARS - 1, y, x, z->tape) != COSTATE_OK ||
        costate_misfit_gradient(z->misfit, z->solver, z->tape, x, g + K, g) != COSTATE_OK)
        return puts(costate_message(z->solver)), INFINITY;
    for (unsigned i = 0; gradient && i < n; i++) gradient[i] = g[i] * z->guess[i];
    return costate_misfit_sum(z->misfit);
}

int main(void)
{
    double t[YEARS], values[YEARS * N], u[ALL], J, apart = 0;
    const costate_measurements data = {.times = YEARS, .outputs = N, .t = t, .value = values, .sigma = sigma,
                                       .output = *hares_output_map()};
    const costate_options options = {.rtol = 1e-9, .atol = 1e-9};
    fit z = {.solver = costate_new(NULL, hares_problem(), &options), .tape = costate_tape_new(),
             .misfit = costate_misfit_new(hares_problem(), &data)};
    for (int k = 0; k < YEARS * N; k++) t[k / N] = k / N, values[k] = log(pelts[k / N][k % N]);
    for (int i = 0; i < ALL; i++) u[i] = 1, z.guess[i] = i < K ? hares_defaults[i] : pelts[0][i - K];
    nlopt_opt how = nlopt_create(NLOPT_LD_SLSQP, ALL);
    nlopt_set_min_objective(how, misfit, &z);
    nlopt_set_lower_bounds1(how, 0.5);
    nlopt_set_upper_bounds1(how, 2);
    nlopt_set_xtol_rel(how, 1e-8);
    int status = nlopt_optimize(how, u, &J), runs = nlopt_get_numevals(how);
    for (int i = 0; i < ALL; i++) {
        const char *name = i < K ? hares_parameter_names[i] : hares_state_names[i - K];
        printf("%-7s %8.4f   published %6.3f\n", name, u[i] * z.guess[i], carpenter[i]);
        apart = fmax(apart, fabs(u[i] * z.guess[i] / carpenter[i] - 1));
    }
    printf("misfit %.4f after %d runs forward and back; NLopt: %d\n", J, runs, status);
    printf("largest relative difference from the published estimates: %.3f\n", apart);
    nlopt_destroy(how), costate_misfit_free(z.misfit), costate_tape_free(z.tape), costate_free(z.solver);
    return !(status > 0 && apart < 0.04);
}
