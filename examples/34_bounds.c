/* 34_bounds.c - a fit with bounds by IPOPT, with the exact Hessian: a drug that is absorbed completely.

   The model of 33_first_fit.c and another patient.  The unknowns are the parameters p themselves: none may be negative,
   and the absorbed part F of a dose is at most 1.  The values would be described better by F > 1, so that the solution
   lies at this bound.  Its multiplier is minus the derivative of the misfit with respect to F; the others are zero.
   costate_misfit_hessian returns the gradient of the misfit and all columns of its Hessian from one tape. */
#include <IpStdCInterface.h>
#include <costate/pieces.h>
#include <stdio.h>
#include <string.h>
#include "drug.h"

enum { N = drug_states, K = drug_parameters, TIMES = 18 };
static const double t[] = {0.5, 1, 2, 3, 5, 8, 11, 13, 15, 19, 25, 27, 31, 37, 39, 42, 45, 48};                 /* h */
static const double value[] = {150, 246, 287, 261, 198, 81, 26, 265, 282, 138, 278, 288, 131, 383, 273, 140, 64, 30};
static const double sigma = 10, truth[] = {1.2, 1, 250, 20, 200};               /* sigma and values: ug/L */

typedef struct { costate *solver; costate_tape *tape; costate_misfit *misfit; double gradient[K], H[K * K]; } fit;

/* the run from p with the derivatives of the misfit, unless p is that of the last run */
static Bool run(fit *z, const double *p, Bool new_p)
{
    double y[N], Vp[K * K], lambda[N] = {0}, lambda2[N * K];
    const costate_second s = {.m = K, .Vp = Vp, .lambda = lambda, .mu = z->gradient, .lambda2 = lambda2, .mu2 = z->H};
    if (!new_p) return TRUE;
    for (int i = 0; i < K * K; i++) Vp[i] = i / K == i % K, z->gradient[i % K] = z->H[i] = 0;
    drug_start(0, p, y);
    return costate_integrate(z->solver, 0, 48, y, p, z->tape) == COSTATE_OK &&
           costate_misfit_hessian(z->misfit, z->solver, z->tape, p, &s) == COSTATE_OK;
}

/* Callbacks of IPOPT, which passes more than is needed here.  There are no constraints except bounds. */
#pragma GCC diagnostic ignored "-Wunused-parameter"
static Bool misfit(Index n, Number *p, Bool new_p, Number *J, void *z)
{
    return run(z, p, new_p) && (*J = costate_misfit_sum(((fit *)z)->misfit), TRUE);
}
static Bool gradient(Index n, Number *p, Bool new_p, Number *g, void *z)
{
    return run(z, p, new_p) && memcpy(g, ((fit *)z)->gradient, K * sizeof *g);
}
static Bool hessian(Index n, Number *p, Bool new_p, Number factor, Index m, Number *multipliers, Bool new_multipliers,
                    Index count, Index *row, Index *column, Number *H, void *z)
{
    if (p && !run(z, p, new_p)) return FALSE;
    for (int k = 0, i = 0, j = 0; k < count; k++, j < i ? j++ : (i++, j = 0))           /* the lower triangle */
        if (H) H[k] = factor * ((fit *)z)->H[j * K + i];
        else row[k] = i, column[k] = j;
    return TRUE;
}
static Bool none(Index n, Number *p, Bool new_p, Index m, Number *g, void *z) { return TRUE; }
static Bool no_jacobian(Index n, Number *p, Bool new_p, Index m, Index count, Index *row, Index *column, Number *G,
                        void *z) { return TRUE; }

int main(void)
{
    const costate_measurements data = {.times = TIMES, .outputs = 1, .t = t, .value = value, .sigma = &sigma,
                                       .output = *drug_output_map()};
    fit z = {.solver = costate_new(NULL, drug_problem(), NULL), .tape = costate_tape_new(),
             .misfit = costate_misfit_new(drug_problem(), &data)};
    double low[K] = {0}, high[K] = {10, 1, 1e3, 1e3, 1e3}, p[K] = {2, 0.5, 150, 5, 300}, multiplier[K], J;
    IpoptProblem ipopt = CreateIpoptProblem(K, low, high, 0, NULL, NULL, 0, K * (K + 1) / 2, 0, misfit, none, gradient,
                                            no_jacobian, hessian);
    AddIpoptIntOption(ipopt, "print_level", 0);
    AddIpoptStrOption(ipopt, "sb", "yes");                                              /* no banner */
    int status = IpoptSolve(ipopt, p, NULL, &J, NULL, NULL, multiplier, &z);
    for (int i = 0; i < K; i++)
        printf("%-4s %8.3f   truth %5.1f   multiplier %6.2f\n", drug_parameter_names[i], p[i], truth[i], multiplier[i]);
    printf("misfit %.4f; IPOPT: %d; costate: %s\n", J, status, costate_message(z.solver));
    FreeIpoptProblem(ipopt), costate_misfit_free(z.misfit), costate_tape_free(z.tape), costate_free(z.solver);
    return !(status == Solve_Succeeded && p[drug_F] > 1 - 1e-6 && multiplier[drug_F] > 1);
}
