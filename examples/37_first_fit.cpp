// 37_first_fit.cpp - the fit of example 33 in C++: residuals and their exact Jacobian from tangents at the times of the
// measurements, with costate.hpp; the model is models/drug.eq, the optimiser lmder1 of cminpack.
#include <cminpack.h>
#include <costate/costate.hpp>
#include <cstdio>
#include "drug.h"

enum { N = drug_states, K = drug_parameters, TIMES = 18, SIGMA = 10 };                  // of the values, ug/L
static const std::vector<double> t = {0.5, 1, 2, 3, 5, 8, 11, 13, 15, 19, 25, 27, 31, 37, 39, 42, 45, 48},     // h
    value = {75, 146, 180, 188, 155, 110, 41, 167, 214, 130, 178, 212, 128, 424, 362, 226, 164, 118};
static costate::solver solver(*drug_problem()); static costate::tape tape;

// The unknowns are x = log(p/default), so that dp/dx = p.  The output is c = 1000 blood/V, and r = (c - value)/SIGMA.
static int residuals(void *, int m, int n, const double *x, double *r, double *J, int, int flag) try {
    std::vector<double> y(N), p(K), V(N * K), Vp(K * K);
    for (int i = 0; i < n; i++) Vp[i * K + i] = p[i] = drug_defaults[i] * std::exp(x[i]);
    drug_start(0, p.data(), y.data()), solver.integrate(0, 48, y, p, tape);
    costate::observations at;
    at.t = t, at.value = [&](int k, double, costate::values blood, int, costate::values by) {
        const double c = 1000 * blood[drug_blood] / p[drug_V];
        if (flag == 1) r[k] = (c - value[k]) / SIGMA;
        for (int j = 0; j < n && flag == 2; j++)
            J[j * m + k] = (1000 * by[j * N + drug_blood] / p[drug_V] - (j == drug_V ? c : 0)) / SIGMA;
    };
    return solver.tangent(tape, V, Vp, nullptr, &at), 0;
} catch (const costate::error &e) { return std::puts(e.what()), -1; }

int main() {
    double x[K] = {}, r[TIMES], J[TIMES * K], work[5 * K + TIMES];
    int pivot[K], info = lmder1(residuals, nullptr, TIMES, K, x, r, J, TIMES, 1e-8, pivot, work, 5 * K + TIMES);
    covar(K, J, TIMES, pivot, 1e-14, work);                                             // J becomes the covariance
    for (int i = 0; i < K; i++)
        std::printf("%-4s %8.4g, 95 %% interval: times or over %.3g\n", drug_parameter_names[i],
                    drug_defaults[i] * std::exp(x[i]), std::exp(1.96 * std::sqrt(J[i * TIMES + i])));
    return !(info > 0 && std::fabs(std::pow(enorm(TIMES, r), 2) - 18.7) < 0.05);        // as in example 33
}
