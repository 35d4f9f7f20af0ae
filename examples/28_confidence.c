/* 28_confidence.c - five rate constants of a stiff mechanism, their confidence regions, how often these hold the truth.

   An enzyme with a slow inhibitor (enzyme.h).  C and P are measured at 30 times from 0.1 ms to 30 s with normal errors
   of known size.  x = log k is found by maximum likelihood, that is as the minimum of

       J(x) = sum of (y_j(t_i) - measured_ij)^2/(2 sigma_j^2),

   by Newton's iteration with the Hessian H, exact and not that of Gauss and Newton: five directions at once, from one
   tape, by costate_hessian.  The covariance C is the inverse of H at the minimum.  A 95 % interval is x_i +- 1.96
   standard deviations, a 95 % ellipse of a pair where d^T C^-1 d < 5.991.  That is theory for little noise.  So the
   experiment is made again and again, with other errors, all fits by one ensemble, and it is counted what holds the
   truth.

       28_confidence [directory [experiments]]          writes files for pictures there */
#include <costate/ensemble.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "enzyme.h"

enum { TIMES = 30, PASSES = 15, POINTS = 33, CURVE = 200 };       /* POINTS: of a profile */
static const double rate[K] = {100, 400, 10, 0.2, 0.05}, guess[K] = {80, 300, 13, 0.15, 0.08}, t_end = 30;
static const double sigma[N] = {0.03, 0, 0.2};          /* of the measurements of C, -, P, in micromoles a litre */
static const double normal_95 = 1.959964, chi1_95 = 3.841459, chi2_95 = 5.991465, chi5_95 = 11.070498;
static const double CLOSE = 1e-6;                       /* to the minimum, in standard deviations squared */

static const costate_options options = {.rtol = 1e-6, .atol = 1e-8, .autonomous = 1};

/* C = A^-1, K by K and symmetric, by Gauss and Jordan; 0: A is not positive definite */
static int invert(const double *A, double *C)
{
    memcpy(C, A, K * K * sizeof *C);
    for (int k = 0; k < K; k++) {
        double pivot = C[k * K + k];
        if (!(pivot > 0)) return 0;
        C[k * K + k] = 1;
        for (int i = 0; i < K; i++) C[i * K + k] /= pivot;
        for (int j = 0; j < K; j++) {
            double factor = C[k * K + j];
            if (j == k) continue;
            C[k * K + j] = 0;
            for (int i = 0; i < K; i++) C[i * K + j] -= factor * C[i * K + k];
        }
    }
    return 1;
}

/* ---- fits: many at once, a member of an ensemble each ---- */

typedef struct {
    int count, held;                        /* held: no log k, or that of which a profile is taken */
    const double *t, *measured;             /* TIMES; N by TIMES of each experiment; held: all fits are of the first */
    double *k, *J, *decrement, *H, *GN;     /* K, 1, 1, K*K, K*K a fit */
} fits;
typedef struct { const double *measured; double sum; } misfit;

/* costate_gauss_newton has no w; what is measured is y, so that C^T W C V is the same as w2 */
static int residual(int i, double t, const double *y, int m, const double *V, double *w, double *w2, void *ctx)
{
    misfit *o = ctx;
    for (int j = 0; j < N; j += 2) {
        double r = (y[j] - o->measured[i * N + j]) / sigma[j];
        if (w) {
            w[j] = r / sigma[j];
            o->sum += r * r / 2;
        }
        for (int k = 0; k < m; k++) w2[k * N + j] = V[k * N + j] / (sigma[j] * sigma[j]);
    }
    return (void)t, 0;
}

/* Over a tape: J, gradient g and Hessian H by x = log k, exact or (g NULL) after Gauss and Newton.
   J_x = k J_k,  J_xx = k J_kk k + k J_k; the directions are the columns of diag(k) = dk/dx. */
static int derivatives(costate *c, const costate_tape *tape, const double *t, const double *k, misfit *o, double *g,
                       double *H)
{
    double Vp[K * K] = {0}, lambda[N], mu[K] = {0}, lambda2[N * K], mu2[K * K] = {0};
    costate_observations all = {.count = TIMES, .t = t, .seed2 = residual, .ctx = o};
    costate_second s = {.m = K, .Vp = Vp, .observations = &all, .lambda = lambda, .mu = mu, .lambda2 = lambda2,
                        .mu2 = mu2};
    for (int i = 0; i < K; i++) Vp[i * K + i] = k[i];
    int status = g ? costate_hessian(c, tape, &s) : costate_gauss_newton(c, tape, &s);
    for (int i = 0; i < K * K; i++) H[i] = k[i % K] * mu2[i];
    for (int i = 0; g && i < K; i++) H[i * K + i] += g[i] = k[i] * mu[i];
    return status;
}

static void hold(int held, double *g, double *A)
{
    if (held < 0) return;
    g[held] = 0;
    for (int i = 0; i < K; i++) A[held * K + i] = A[i * K + held] = i == held;
}

/* After a run with its k: J and both Hessians there, and k moved by Newton's step, at most 0.7 in a logarithm; from
   afar, where the Hessian is not positive definite, by Gauss-Newton's.  g^T H^-1 g is the distance to the minimum, in
   standard deviations squared: nothing is done where it has been small. */
static int improve(int member, int thread, costate *c, costate_tape *tape, void *ctx)
{
    fits *z = ctx;
    misfit o = {z->measured + (z->held < 0 ? member : 0) * TIMES * N, 0};
    double *k = z->k + member * K, *H = z->H + member * K * K, *GN = z->GN + member * K * K;
    double g[K], d[K] = {0}, A[K * K], C[K * K], most = 0;
    (void)thread;
    if (z->decrement[member] < CLOSE) return COSTATE_OK;
    int status = derivatives(c, tape, z->t, k, &o, g, H);
    hold(z->held, g, memcpy(A, H, sizeof A));
    if (!invert(A, C)) {
        status = derivatives(c, tape, z->t, k, &o, NULL, GN);
        hold(z->held, g, memcpy(A, GN, sizeof A));
        if (!invert(A, C)) return COSTATE_CHECK_FAILED;
    }
    for (int i = 0; i < K * K; i++) d[i % K] += C[i] * g[i / K];
    z->J[member] = o.sum;
    z->decrement[member] = 0;
    for (int i = 0; i < K; i++) z->decrement[member] += g[i] * d[i], most = fmax(most, fabs(d[i]));
    if (z->decrement[member] < CLOSE && status == COSTATE_OK) status = derivatives(c, tape, z->t, k, &o, NULL, GN);
    for (int i = 0; i < K; i++) k[i] *= exp(-d[i] * fmin(1, 0.7 / most));
    return status;
}

/* Returns the number of fits that have not converged, or -1. */
static int fit(fits *z)
{
    double *y = malloc((size_t)z->count * N * sizeof *y);
    costate_ensemble_report report;
    costate_members all = {.count = z->count, .t1 = t_end, .y = y, .p = z->k, .ctx = z, .on_member = improve,
                           .tape = 1};
    int open = y ? z->count : -1;
    for (int k = 0; k < z->count; k++) z->decrement[k] = INFINITY;
    for (int pass = 0; open > 0 && pass < PASSES; pass++) {
        memset(y, 0, (size_t)z->count * N * sizeof *y);
        int status = costate_ensemble(costate_method_find("radau2a"), &enzyme, &options, &all, &report);
        open = 0;
        for (int k = 0; k < z->count; k++) open += !(z->decrement[k] < CLOSE);
        if (status != COSTATE_OK) open = -1, fprintf(stderr, "%s\n", report.text);
    }
    free(y);
    return open;
}

static int allocate(fits *z, const double *k)
{
    size_t count = (size_t)z->count;
    z->k = malloc(count * (K + 2 + 2 * K * K) * sizeof *z->k);
    if (!z->k) return 0;
    z->J = z->k + count * K;
    z->decrement = z->J + count;
    z->H = z->decrement + count;
    z->GN = z->H + count * K * K;
    for (size_t i = 0; i < count * K; i++) z->k[i] = k[i % K];
    return 1;
}

/* ---- experiments ---- */

/* Normally distributed, the same on every machine. */
static double normal(uint64_t *state)
{
    double u[2];
    for (int i = 0; i < 2; i++) {
        *state = *state * 6364136223846793005u + 1442695040888963407u;
        u[i] = ((double)(*state >> 11) + 0.5) / 9007199254740992.0;
    }
    return sqrt(-2 * log(u[0])) * cos(6.283185307179586 * u[1]);
}

/* The truth at the times: another method, much tighter; with errors; twice_J: 2 J(truth) of each experiment. */
static int measure(int count, double *t, double *measured, double *twice_J)
{
    costate_options tight = {.rtol = 1e-12, .atol = 1e-14, .autonomous = 1};
    costate *c = costate_new(costate_method_find("radau2a5"), &enzyme, &tight);
    costate_tape *tape = costate_tape_new();
    double y[N] = {0}, exact[TIMES * N];
    uint64_t state = 28;
    int status = costate_integrate(c, 0, t_end, y, rate, tape);
    for (int i = 0; status == COSTATE_OK && i < TIMES; i++) {
        t[i] = fmin(t_end, 1e-4 * pow(t_end / 1e-4, i / (TIMES - 1.0)));
        status = costate_tape_eval(c, tape, t[i], exact + i * N);
    }
    for (int k = 0; status == COSTATE_OK && k < count; k++) {
        twice_J[k] = 0;
        for (int i = 0; i < TIMES * N; i++) {
            double e = i % N == 1 ? 0 : normal(&state);
            measured[k * TIMES * N + i] = exact[i] + sigma[i % N] * e;
            twice_J[k] += e * e;
        }
    }
    if (status != COSTATE_OK) fprintf(stderr, "%s\n", costate_message(c));
    costate_tape_free(tape);
    costate_free(c);
    return status;
}

/* ---- what the intervals hold ---- */

typedef struct { double by_H, by_GN, mean, spread, held_H, held_GN; } known;
typedef struct { double pairs, all, ratio; } together;

/* d^T C^-1 d of the pair (i, j) */
static double of_pair(const double *C, const double *d, int i, int j)
{
    double a = C[i * K + i], b = C[j * K + i], c = C[j * K + j];
    return (c * d[i] * d[i] - 2 * b * d[i] * d[j] + a * d[j] * d[j]) / (a * c - b * b);
}

/* parts of all experiments where regions hold the truth; by_H, by_GN: standard deviations, of the first experiment */
static together hold_truth(const fits *z, const double *twice_J, known *out)
{
    double d[K], C[K * K], C_GN[K * K], part = 1.0 / z->count;
    together all = {0};
    memset(out, 0, K * sizeof *out);
    for (int k = 0; k < z->count; k++) {
        const double *H = z->H + k * K * K;
        double square = 0;
        invert(H, C);
        invert(z->GN + k * K * K, C_GN);
        for (int i = 0; i < K; i++) d[i] = log(z->k[k * K + i] / rate[i]);
        for (int i = 0; i < K; i++) {
            double s = sqrt(C[i * K + i]), s_GN = sqrt(C_GN[i * K + i]);
            if (k == 0) out[i].by_H = s, out[i].by_GN = s_GN;
            out[i].mean += part * d[i];
            out[i].spread += part * d[i] * d[i];
            out[i].held_H += part * (fabs(d[i]) < normal_95 * s);
            out[i].held_GN += part * (fabs(d[i]) < normal_95 * s_GN);
            for (int j = 0; j < K; j++) square += d[i] * H[j * K + i] * d[j];
            for (int j = 0; j < i; j++) all.pairs += part * (of_pair(C, d, j, i) < chi2_95) / (K * (K - 1) / 2);
        }
        all.all += part * (square < chi5_95);
        all.ratio += part * (twice_J[k] - 2 * z->J[k] < chi5_95);
    }
    for (int i = 0; i < K; i++) out[i].spread = sqrt(out[i].spread - out[i].mean * out[i].mean);
    return all;
}

static FILE *open_file(const char *directory, const char *file)
{
    char path[512];
    if (!directory) return NULL;
    snprintf(path, sizeof path, "%s/%s", directory, file);
    FILE *out = fopen(path, "w");
    if (!out) perror(path);
    return out;
}

/* 2 (J - its minimum), of the first experiment, where log k_held is held at -3 .. 3 standard deviations from its
   estimate: where it is 3.841 an interval ends that no change of variables moves.  Returns the fits still open. */
static int profile(const fits *z, int held, double deviation, const char *directory, double *end)
{
    fits line = {.count = POINTS, .held = held, .t = z->t, .measured = z->measured};
    double before = INFINITY;
    if (!allocate(&line, z->k)) return -1;
    for (int i = 0; i < POINTS; i++) line.k[i * K + held] *= exp(deviation * (6.0 * i / (POINTS - 1) - 3));
    int open = fit(&line);
    FILE *out = open_file(directory, "28_profile.dat");
    for (int i = 0; i < POINTS; i++) {
        double at = 6.0 * i / (POINTS - 1) - 3, root = sqrt(fmax(0, 2 * (line.J[i] - z->J[0]))), r = sqrt(chi1_95);
        if ((before - r) * (root - r) < 0)
            end[at > 0] = z->k[held] * exp(deviation * (at - 6.0 / (POINTS - 1) * (r - root) / (before - root)));
        if (out) fprintf(out, "%.9g %.9g %.9g\n", deviation * at, root * root, at * at);
        before = root;
    }
    if (out) fclose(out);
    free(line.k);
    return open;
}

static void write_rows(const char *directory, const char *file, const double *a, int rows, int columns)
{
    FILE *out = open_file(directory, file);
    for (int i = 0; out && i < rows * columns; i++) fprintf(out, "%.9g%c", a[i], (i + 1) % columns ? ' ' : '\n');
    if (out) fclose(out);
}

/* the first experiment: (t, C, D, P) measured and fitted, its covariance; all estimates, as log k minus the truth's */
static void write_files(const fits *z, const char *directory)
{
    double C[K * K], y[N] = {0}, data[TIMES][N + 1], curve[CURVE][N + 1];
    costate *c = costate_new(costate_method_find("radau2a"), &enzyme, &options);
    costate_tape *tape = costate_tape_new();
    int status = costate_integrate(c, 0, t_end, y, z->k, tape);
    for (int i = 0; status == COSTATE_OK && i < CURVE; i++) {
        curve[i][0] = fmin(t_end, 1e-4 * pow(t_end / 1e-4, i / (CURVE - 1.0)));
        status = costate_tape_eval(c, tape, curve[i][0], curve[i] + 1);
    }
    for (int i = 0; i < TIMES; i++) {
        data[i][0] = z->t[i];
        memcpy(data[i] + 1, z->measured + i * N, N * sizeof *data[i]);
    }
    for (int i = 0; i < z->count * K; i++) z->k[i] = log(z->k[i] / rate[i % K]);
    invert(z->H, C);
    write_rows(directory, "28_data.dat", data[0], TIMES, N + 1);
    if (status == COSTATE_OK) write_rows(directory, "28_curve.dat", curve[0], CURVE, N + 1);
    write_rows(directory, "28_covariance.dat", C, K, K);
    write_rows(directory, "28_estimates.dat", z->k, z->count, K);
    costate_tape_free(tape);
    costate_free(c);
}

static int report(const fits *z, const double *twice_J, const char *directory)
{
    known k[K];
    together all = hold_truth(z, twice_J, k);
    double end[2] = {0, INFINITY}, worst = 0, sampling = sqrt(0.95 * 0.05 / z->count);
    int open = profile(z, K - 1, k[K - 1].by_H, directory, end);
    printf("first experiment: 2 J = %.2f of %d measurements and %d constants\n", 2 * z->J[0], 2 * TIMES, K);
    printf("                                               deviation of log k    %4d experiments:\n", z->count);
    printf("                                                 by H  Gauss-Newton   spread  the truth is inside\n");
    printf("       truth  estimate   95 %% interval                                             H  Gauss-Newton\n");
    for (int i = 0; i < K; i++) {
        double e = z->k[i], w = exp(normal_95 * k[i].by_H);
        printf("k%d  %8g  %8.4g  %8.4g .. %-8.4g  %7.4f  %12.4f  %7.4f  %7.3f  %12.3f\n", i + 1, rate[i], e, e / w,
               e * w, k[i].by_H, k[i].by_GN, k[i].spread, k[i].held_H, k[i].held_GN);
        worst = fmax(worst, fabs(k[i].held_H - 0.95));
    }
    printf("k%d by its profile: %.4g .. %.4g\n", K, end[0], end[1]);
    printf("ellipses of pairs hold the truth in %.3f, of all five in %.3f, likelihood ratios in %.3f\n", all.pairs,
           all.all, all.ratio);
    printf("a part of 0.95, counted in %d, has a standard deviation of %.3f\n", z->count, sampling);
    write_files(z, directory);
    worst = fmax(worst, fmax(fabs(all.all - 0.95), fabs(all.ratio - 0.95)));
    return open != 0 || !(worst < 4 * sampling);
}

int main(int argc, char **argv)
{
    int M = argc > 2 ? atoi(argv[2]) : 300, wrong = 1;
    size_t count = M > 0 ? (size_t)M : 1;
    double t[TIMES], *twice_J = malloc(count * sizeof *twice_J);
    double *measured = malloc(count * TIMES * N * sizeof *measured);
    fits z = {.count = (int)count, .held = -1, .t = t, .measured = measured};
    if (twice_J && measured && allocate(&z, guess) && measure(z.count, t, measured, twice_J) == COSTATE_OK) {
        int open = fit(&z);
        wrong = report(&z, twice_J, argc > 1 ? argv[1] : NULL) || open;
        if (open) printf("%d fits have not converged\n", open);
    }
    free(z.k);
    free(measured);
    free(twice_J);
    return wrong;
}
