/* 33_first_fit.c - a first fit: five constants of a drug from 18 measurements, with 95 % confidence intervals.

   models/drug.eq is the model.  lmder1 of cminpack (Levenberg-Marquardt) minimises the sum of squares of the residuals
   r = (output - value)/sigma and receives their exact Jacobian J.  The unknowns are x = log(p/guess), so that p stays
   positive.  At the minimum covar computes the covariance of x, (J^T J)^-1.  An interval of x is x +- 1.96 standard
   deviations, so that one of p is p divided and multiplied by a factor.  The values are those of `truth` with normal
   errors of standard deviation sigma. */
#include <cminpack.h>
#include <costate/pieces.h>
#include <math.h>
#include <stdio.h>
#include "drug.h"

enum { N = drug_states, K = drug_parameters, TIMES = 18 };
static const double t[] = {0.5, 1, 2, 3, 5, 8, 11, 13, 15, 19, 25, 27, 31, 37, 39, 42, 45, 48};                 /* h */
static const double value[] = {75, 146, 180, 188, 155, 110, 41, 167, 214, 130, 178, 212, 128, 424, 362, 226, 164, 118};
static const double sigma = 10, truth[] = {0.8, 0.7, 250, 12, 150};             /* sigma and values: ug/L */

typedef struct { costate *solver; costate_tape *tape; costate_misfit *misfit; } fit;

/* lmder1 calls it with flag 1 for the residuals r at x, with flag 2 for their Jacobian J */
static int residuals(void *ctx, int m, int n, const double *x, double *r, double *J, int ldJ, int flag)
{
    fit *z = ctx;
    double y[N], p[K], V[N * K] = {0}, Vp[K * K] = {0}, unused[TIMES * K];
    for (int i = 0; i < n; i++) Vp[i * n + i] = p[i] = drug_defaults[i] * exp(x[i]);            /* Vp = dp/dx */
    drug_start(0, p, y);
    if (costate_integrate(z->solver, 0, 48, y, p, z->tape) != COSTATE_OK) return puts(costate_message(z->solver)), -1;
    if (costate_misfit_jacobian(z->misfit, z->solver, z->tape, p, n, V, Vp, flag == 2 ? J : unused) != COSTATE_OK)
        return puts(costate_misfit_message(z->misfit)), -1;
    for (int i = 0; i < m && flag == 1; i++) r[i] = costate_misfit_residuals(z->misfit)[i];
    return (void)ldJ, 0;
}

int main(void)
{
    const costate_measurements data = {.times = TIMES, .outputs = 1, .t = t, .value = value, .sigma = &sigma,
                                       .output = *drug_output_map()};
    fit z = {costate_new(NULL, drug_problem(), NULL), costate_tape_new(), costate_misfit_new(drug_problem(), &data)};
    double x[K] = {0}, r[TIMES], J[TIMES * K], work[5 * K + TIMES];
    int pivot[K], inside = 0, info = lmder1(residuals, &z, TIMES, K, x, r, J, TIMES, 1e-8, pivot, work, 5 * K + TIMES);
    covar(K, J, TIMES, pivot, 1e-14, work);                                     /* J becomes the covariance */
    puts("     estimate     95 % interval     truth");
    for (int i = 0; i < K; i++) {
        double p = drug_defaults[i] * exp(x[i]), factor = exp(1.96 * sqrt(J[i * TIMES + i]));
        printf("%-4s %8.4g %8.4g .. %6.4g %8.4g\n", drug_parameter_names[i], p, p / factor, p * factor, truth[i]);
        inside += p / factor < truth[i] && truth[i] < p * factor;
    }
    printf("sum of squares %.1f; %d intervals contain the truth; lmder1: %d\n", pow(enorm(TIMES, r), 2), inside, info);
    costate_misfit_free(z.misfit), costate_tape_free(z.tape), costate_free(z.solver);
    return !(info > 0 && inside == K);
}
