/* 24_ensemble.c - how uncertain rate constants spread, by 1000 runs over all cores, with their gradients.

   Robertson's problem:  A -> B  k[0],   B + B -> B + C  k[1],   B + C -> A + C  k[2].  The logarithms of the constants
   are known to sigma = 0.3:  k_i = K_i exp(sigma x_i)  with 1000 samples x of normal numbers.  What is left of A at
   t = 1e4 has a mean and a spread over the samples, and the mean depends on sigma:

       d mean/d sigma = mean of  sum_i  dA/dk_i k_i x_i,

   which takes the gradients of all runs by their own constants, one adjoint each.  A difference of two more ensembles,
   without gradients, says the same to the accuracy of differences.  Results do not depend on the number of threads. */
#include <costate/ensemble.h>
#include <math.h>
#include <stdio.h>

enum { SAMPLES = 1000 };
static const double K[3] = {0.04, 3e7, 1e4}, t_end = 1e4, sigma = 0.3;

/* ---- the problem ---- */

static int f(const costate_point *x, double *out, void *ctx)
{
    const double *y = x->y, *k = x->p, a = k[0] * y[0], b = k[1] * y[1] * y[1], c = k[2] * y[1] * y[2];
    (void)ctx;
    out[0] = c - a;
    out[1] = a - b - c;
    out[2] = b;
    return 0;
}

static int jac(const costate_point *x, double *J, void *ctx)
{
    const double *y = x->y, *k = x->p, b = 2 * k[1] * y[1], c1 = k[2] * y[2], c2 = k[2] * y[1];
    (void)ctx;
    J[0] = -k[0]; J[3] = c1;      J[6] = c2;
    J[1] = k[0];  J[4] = -b - c1; J[7] = -c2;
    J[2] = 0;     J[5] = b;       J[8] = 0;
    return 0;
}

static int f_adjoint(const costate_point *x, const double *w, const costate_gradient *g, void *ctx)
{
    const double *y = x->y, *k = x->p, wa = w[1] - w[0], wb = w[2] - w[1], wc = w[0] - w[1];
    (void)ctx;
    if (g->y) {
        g->y[0] += k[0] * wa;
        g->y[1] += 2 * k[1] * y[1] * wb + k[2] * y[2] * wc;
        g->y[2] += k[2] * y[1] * wc;
    }
    if (g->p) {
        g->p[0] += y[0] * wa;
        g->p[1] += y[1] * y[1] * wb;
        g->p[2] += y[1] * y[2] * wc;
    }
    return 0;
}

static const costate_problem problem = {.n = 3, .np = 3, .rhs = {.value = f, .adjoint = f_adjoint}, .jac = jac};

/* ---- samples: normal numbers of uniform ones (Box and Muller) ---- */

static double x[3 * SAMPLES];

static double uniform(void)
{
    static unsigned state = 24;
    state = state * 1664525u + 1013904223u;
    return ((state >> 8) + 0.5) / 16777216.0;
}

static void draw(void)
{
    for (int i = 0; i < 3 * SAMPLES; i += 2) {
        double r = sqrt(-2 * log(uniform())), angle = 6.283185307179586 * uniform();
        x[i] = r * cos(angle);
        x[i + 1] = r * sin(angle);
    }
}

/* ---- the ensemble ---- */

typedef struct { double mean, spread, slope; } moments;

/* of A at t_end; slope: of the mean by sigma, where it is wanted */
static int ensemble(double by_sigma, int with_gradients, moments *out)
{
    static double y[3 * SAMPLES], k[3 * SAMPLES], lambda[3 * SAMPLES], mu[3 * SAMPLES];
    costate_options options = {.rtol = 1e-8, .atol = 1e-12};
    costate_members all = {.count = SAMPLES, .t1 = t_end, .y = y, .p = k};
    costate_ensemble_report report;
    for (int i = 0; i < 3 * SAMPLES; i++) {
        k[i] = K[i % 3] * exp(by_sigma * x[i]);
        y[i] = lambda[i] = i % 3 == 0;                 /* y(0) = (1, 0, 0); the gradient of A by y(t_end) */
        mu[i] = 0;
    }
    if (with_gradients) {
        all.m = 1;
        all.lambda = lambda;
        all.mu = mu;
    }
    int status = costate_ensemble(NULL, &problem, &options, &all, &report);
    if (status != COSTATE_OK) fprintf(stderr, "%s\n", report.text);
    *out = (moments){0};
    for (int i = 0; i < SAMPLES; i++) out->mean += y[3 * i] / SAMPLES;
    for (int i = 0; i < SAMPLES; i++) out->spread += pow(y[3 * i] - out->mean, 2) / (SAMPLES - 1);
    for (int i = 0; i < 3 * SAMPLES; i++) out->slope += mu[i] * k[i] * x[i] / SAMPLES;
    out->spread = sqrt(out->spread);
    if (with_gradients) printf("%d runs and gradients by %d threads, %ld steps\n", report.done, report.threads,
                               report.stats.accepted);
    return status;
}

int main(void)
{
    const double d = 1e-3;
    moments at, up, down;
    draw();
    if (ensemble(sigma, 1, &at) || ensemble(sigma + d, 0, &up) || ensemble(sigma - d, 0, &down)) return 1;
    double difference = (up.mean - down.mean) / (2 * d);
    printf("what is left of A: %.6f +- %.6f\n", at.mean, at.spread);
    printf("d mean/d sigma = %.6e, by differences %.6e\n", at.slope, difference);
    return fabs(at.slope / difference - 1) > 1e-4;
}
