/* 18_laplace.c - how well measurements determine the three rate constants of Robertson's reaction: Laplace's
   approximation, by Hessian products.

   As in 02_robertson_fit.c, but all three constants are unknown, and the measurements have errors of 5 % of the size of
   each species.  The posterior of x = log k, with a flat prior, is about normal: its mean is the optimum of the misfit

       J(x) = 1/2 sum of ((y_j(t_i) - measured_ij)/(0.05 size_j))^2,

   its covariance the inverse of the Hessian of J.  That is three columns, along three directions at once, from one tape
   by costate_hessian; its part without second derivatives of the run by costate_gauss_newton.  Where the errors are
   independent of the model the rest of it is small, and Gauss-Newton's covariance about as good. */
#include <costate/costate.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { TIMES = 40, K = 3 };
static const double truth[K] = {0.04, 3e7, 1e4}, guess[K] = {0.05, 2e7, 1.5e4}, t_end = 1e4;
static const double sigma[3] = {0.05, 0.05 * 4e-5, 0.05};      /* of the measurements: 5 % of the species' sizes */

/* ---- the problem: value, Jacobian by columns, tangent, adjoint, adjoint_tangent ---- */

static int f(const costate_point *x, double *out, void *ctx)
{
    const double *y = x->y, *k = x->p;
    double a = k[0] * y[0], b = k[1] * y[1] * y[1], c = k[2] * y[1] * y[2];
    out[0] = c - a;
    out[1] = a - b - c;
    out[2] = b;
    return (void)ctx, 0;
}

static int jac(const costate_point *x, double *J, void *ctx)
{
    const double *y = x->y, *k = x->p;
    double b = 2 * k[1] * y[1], c1 = k[2] * y[2], c2 = k[2] * y[1];
    J[0] = -k[0]; J[3] = c1;      J[6] = c2;
    J[1] = k[0];  J[4] = -b - c1; J[7] = -c2;
    J[2] = 0;     J[5] = b;       J[8] = 0;
    return (void)ctx, 0;
}

static const double zero[3];

static int f_tangent(const costate_point *x, const costate_point *dx, double *out, void *ctx)
{
    const double *y = x->y, *k = x->p, *v = dx->y ? dx->y : zero, *d = dx->p ? dx->p : zero;
    double a = d[0] * y[0] + k[0] * v[0], b = d[1] * y[1] * y[1] + 2 * k[1] * y[1] * v[1];
    double c = d[2] * y[1] * y[2] + k[2] * (v[1] * y[2] + y[1] * v[2]);
    out[0] = c - a;
    out[1] = a - b - c;
    out[2] = b;
    return (void)ctx, 0;
}

static int f_adjoint(const costate_point *x, const double *w, const costate_gradient *g, void *ctx)
{
    const double *y = x->y, *k = x->p;
    double wa = w[1] - w[0], wb = w[2] - w[1], wc = w[0] - w[1];    /* weights of the rates a, b, c */
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
    return (void)ctx, 0;
}

/* f_adjoint differentiated along dx, w as it is */
static int f_adjoint_tangent(const costate_point *x, const costate_point *dx, const double *w,
                             const costate_gradient *g, void *ctx)
{
    const double *y = x->y, *k = x->p, *v = dx->y ? dx->y : zero, *d = dx->p ? dx->p : zero;
    double wa = w[1] - w[0], wb = w[2] - w[1], wc = w[0] - w[1];
    if (g->y) {
        g->y[0] += d[0] * wa;
        g->y[1] += 2 * (d[1] * y[1] + k[1] * v[1]) * wb + (d[2] * y[2] + k[2] * v[2]) * wc;
        g->y[2] += (d[2] * y[1] + k[2] * v[1]) * wc;
    }
    if (g->p) {
        g->p[0] += v[0] * wa;
        g->p[1] += 2 * y[1] * v[1] * wb;
        g->p[2] += (v[1] * y[2] + y[1] * v[2]) * wc;
    }
    return (void)ctx, 0;
}

static const costate_problem problem = {
    .n = 3, .np = K, .jac = jac,
    .rhs = {.value = f, .tangent = f_tangent, .adjoint = f_adjoint, .adjoint_tangent = f_adjoint_tangent}};

/* ---- the misfit, its gradient and its Hessian by x = log k ---- */

typedef struct {
    costate *solver;
    costate_tape *tape, *frozen;
    double t[TIMES], measured[TIMES][3], sum;
    int status;
} fit;

/* The gradient w.r.t. y(t_i) of term i, and its derivatives along the tangents V.  costate_gauss_newton has no
   w: the Jacobian of what is measured, y, is 1, so that C^T W C V is the same. */
static int residual(int i, double t, const double *y, int m, const double *V, double *w, double *w2, void *ctx)
{
    fit *z = ctx;
    for (int j = 0; w && j < 3; j++) {
        double r = (y[j] - z->measured[i][j]) / sigma[j];
        z->sum += r * r / 2;
        w[j] = r / sigma[j];
    }
    for (int j = 0; j < 3 * m; j++) w2[j] = V[j] / (sigma[j % 3] * sigma[j % 3]);
    return (void)t, 0;
}
static int residual_alone(int i, double t, const double *y, int m, double *w, void *ctx)
{
    return (void)m, residual(i, t, y, 0, NULL, w, NULL, ctx);
}

static void said(fit *z, int status)
{
    if (status != COSTATE_OK && z->status == COSTATE_OK) fprintf(stderr, "%s\n", costate_message(z->solver));
    if (status != COSTATE_OK) z->status = status;
}

static void rates(const double *x, double *k) { for (int i = 0; i < K; i++) k[i] = exp(x[i]); }

static void run(fit *z, const double *x)
{
    double y[3] = {1, 0, 0}, k[K];
    rates(x, k);
    said(z, costate_integrate(z->solver, 0, t_end, y, k, z->tape));
}

/* Over the tape: gradient g and Hessian H (K by K) of J by x, the latter exact or after Gauss and Newton.
   With x = log k:  J_x = k J_k,  J_xx = k J_kk k + k J_k; the directions are the columns of diag(k) = dk/dx. */
static void hessian(fit *z, const double *x, int exact, double *g, double *H)
{
    double k[K], Vp[K * K] = {0}, lambda[3], mu[K] = {0}, lambda2[3 * K], mu2[K * K] = {0};
    costate_observations all = {.count = TIMES, .t = z->t, .seed2 = residual, .ctx = z};
    costate_second s = {.m = K, .Vp = Vp, .observations = &all, .lambda = lambda, .mu = mu, .lambda2 = lambda2,
                        .mu2 = mu2};
    rates(x, k);
    for (int i = 0; i < K; i++) Vp[i * K + i] = k[i];
    if (exact) z->sum = 0;
    said(z, (exact ? costate_hessian : costate_gauss_newton)(z->solver, z->tape, &s));
    for (int i = 0; i < K; i++) {
        if (exact) g[i] = k[i] * mu[i];
        for (int j = 0; j < K; j++) H[j * K + i] = k[i] * mu2[j * K + i] + (exact && i == j ? k[i] * mu[i] : 0);
    }
}

/* the gradient at another x, by the steps on the tape */
static void frozen_gradient(fit *z, const double *x, double *g)
{
    double y[3] = {1, 0, 0}, k[K], lambda[3] = {0}, mu[K] = {0};
    costate_observations all = {.count = TIMES, .t = z->t, .seed = residual_alone, .ctx = z};
    rates(x, k);
    said(z, costate_replay_onto(z->solver, z->tape, y, k, z->frozen));
    said(z, costate_adjoint(z->solver, z->frozen, 1, lambda, mu, NULL, &all));
    for (int i = 0; i < K; i++) g[i] = k[i] * mu[i];
}

/* ---- 3 by 3 ---- */

static void invert(const double *A, double *B)
{
    double det = 0;
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) {
            int a = (i + 1) % 3, b = (i + 2) % 3, c = (j + 1) % 3, d = (j + 2) % 3;
            B[i * 3 + j] = A[c * 3 + a] * A[d * 3 + b] - A[c * 3 + b] * A[d * 3 + a];
        }
    for (int i = 0; i < 3; i++) det += A[i] * B[i * 3];
    for (int i = 0; i < 9; i++) B[i] /= det;
}

/* x -= A^-1 g; returns the largest change */
static double move(const double *A, const double *g, double *x)
{
    double inverse[K * K], most = 0;
    invert(A, inverse);
    for (int i = 0; i < K; i++) {
        double d = 0;
        for (int j = 0; j < K; j++) d -= inverse[j * K + i] * g[j];
        x[i] += d;
        most = fmax(most, fabs(d));
    }
    return most;
}

/* ---- the measurements: another method, much tighter; with errors that look random ---- */

static double error(unsigned *state)                /* about normal, of variance 1: a sum of 12 uniform numbers */
{
    double sum = -6;
    for (int i = 0; i < 12; i++) {
        *state = *state * 1664525u + 1013904223u;
        sum += (*state >> 8) / 16777216.0;
    }
    return sum;
}

static int measure(fit *z)
{
    costate_options tight = {.rtol = 1e-12, .atol = 1e-16};
    costate *solver = costate_new(costate_method_find("radau2a5"), &problem, &tight);
    double y[3] = {1, 0, 0};
    unsigned state = 1;
    int status = costate_integrate(solver, 0, t_end, y, truth, z->tape);
    for (int i = 0; i < TIMES; i++) {
        z->t[i] = fmin(t_end, pow(10, -5 + 9.0 * i / (TIMES - 1)));
        if (status == COSTATE_OK) status = costate_tape_eval(solver, z->tape, z->t[i], z->measured[i]);
        for (int j = 0; j < 3; j++) z->measured[i][j] += sigma[j] * error(&state);
    }
    if (status != COSTATE_OK) fprintf(stderr, "%s\n", costate_message(solver));
    costate_free(solver);
    return status;
}

/* ---- the posterior ---- */

/* H against central differences of gradients: relative to its largest entry */
static double against_differences(fit *z, const double *x, const double *H)
{
    double gap = 0, size = 0, e = 1e-4, at[K], g[2][K];
    for (int j = 0; j < K; j++) {
        for (int k = 0; k < 2; k++) {
            memcpy(at, x, sizeof at);
            at[j] += k ? e : -e;
            frozen_gradient(z, at, g[k]);
        }
        for (int i = 0; i < K; i++) {
            gap = fmax(gap, fabs((g[1][i] - g[0][i]) / (2 * e) - H[j * K + i]));
            size = fmax(size, fabs(H[j * K + i]));
        }
    }
    return gap / size;
}

static void print_posterior(const char *by, const double *x, const double *C)
{
    printf("%s\n    constant      estimate  standard deviation   correlations\n", by);
    for (int i = 0; i < K; i++) {
        printf("        k[%d]  %12.5e  %16.2f %%  ", i, exp(x[i]), 100 * sqrt(C[i * K + i]));
        for (int j = 0; j < K; j++) printf("  %6.3f", C[j * K + i] / sqrt(C[i * K + i] * C[j * K + j]));
        printf("\n");
    }
}

int main(void)
{
    const costate_options options = {.rtol = 1e-8, .atol = 1e-12, .derivative_mode = 1};
    fit z = {.solver = costate_new(costate_method_find("radau2a"), &problem, &options), .tape = costate_tape_new(),
             .frozen = costate_tape_new()};
    double x[K], g[K], H[K * K], GN[K * K], C[K * K], C_GN[K * K], change = 1, ratio = 0, off = 0;
    int runs = 0;
    if (!z.tape || !z.frozen || measure(&z) != COSTATE_OK) return 1;
    for (int i = 0; i < K; i++) x[i] = log(guess[i]);
    for (; runs < 20 && change > 1e-8 && z.status == COSTATE_OK; runs++) {
        run(&z, x);
        hessian(&z, x, 1, g, H);
        hessian(&z, x, 0, g, GN);
        printf("run %2d: misfit %.10f, gradient %.1e\n", runs + 1, z.sum, fabs(g[0]) + fabs(g[1]) + fabs(g[2]));
        change = move(change > 1e-2 ? GN : H, g, x);        /* from afar H may be indefinite */
    }
    invert(H, C);
    invert(GN, C_GN);
    print_posterior("Laplace, by Hessian products", x, C);
    print_posterior("Gauss-Newton", x, C_GN);
    for (int i = 0; i < K; i++) {
        ratio = fmax(ratio, fabs(C_GN[i * K + i] / C[i * K + i] - 1));
        off = fmax(off, fabs(x[i] - log(truth[i])) / sqrt(C[i * K + i]));
    }
    double gap = against_differences(&z, x, H);
    printf("the truth is %.1f standard deviations away; variances by Gauss-Newton differ by %.0f %%\n", off,
           100 * ratio);
    printf("Hessian and differences of frozen gradients: relative gap %.1e\n", gap);
    costate_tape_free(z.frozen);
    costate_tape_free(z.tape);
    costate_free(z.solver);
    return z.status != COSTATE_OK || !(gap < 1e-7 && change <= 1e-8 && off < 4 && ratio < 0.5);
}
