/* 27_twin_experiment.c - 4D-Var tried on a truth that is known: the errors of an analysis and of its forecasts.

   Shallow water on a 40 x 40 grid, all of its 4800 numbers unknown.  The truth is the state of a run; the background,
   all that is known before, is the truth with smooth errors of covariance B; stations in one half of the basin measure
   the height (never the momenta), 8 times in a window, with errors of standard deviation R.  The analysis is the state
   x at the start of the window that minimises

       J(v) = |v|^2/2 + sum over times and stations of (height - observed)^2/(2 R^2),   x = background + U v,

   where U U^T = B: U = deviation times a smoothing, so that v has independent components of variance 1 before anything
   is observed, and L-BFGS a Hessian that is 1 plus what the observations tell.  The gradient is v + U^T lambda, lambda
   from one run back over the tape, which takes in the departures of all observations on its way.  Steps are of one
   length, so that J is one smooth function.  Where B and R are the true ones, 2 J at its minimum has the mean and twice
   the variance of the number of observations.

       27_twin_experiment [directory [side of the grid]]        writes files for pictures there */
#include <costate/costate.h>
#include <lbfgs.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "swe.h"

enum { TIMES = 8, APART = 3, SMOOTHINGS = 20, ITERATIONS = 100, FORECAST = 3, CURVE = 60 };
static const double window = 0.1, noise = 0.5, deviation[3] = {3, 60, 60};      /* of height, momenta */

typedef struct {
    swe *model;
    costate *solver;
    costate_tape *tape;
    FILE *iterations;
    int side, cells, n, stations, runs;
    double t[TIMES], unit;                      /* unit: makes smoothed noise one of variance 1 */
    int *station;                               /* its cell */
    double *observed;                           /* stations by TIMES */
    double *truth, *background, *analysis;      /* n each: states at the start of the window */
    double *y, *lambda, *v, *g, *scratch;       /* n each */
    double misfit;
} twin;

/* ---- B = U U^T ---- */

/* field <- (1 + Laplacian/8)^SMOOTHINGS field, on the periodic grid: symmetric, and close to a Gaussian */
static void smooth(const twin *z, double *field)
{
    int m = z->side;
    for (int k = 0; k < SMOOTHINGS; k++) {
        memcpy(z->scratch, field, (size_t)z->cells * sizeof *field);
        for (int i = 0; i < m; i++) {
            const double *f = z->scratch + i * m, *above = i ? f - m : f + (m - 1) * m;
            const double *below = i < m - 1 ? f + m : z->scratch;
            for (int j = 0; j < m; j++) {
                double left = f[j ? j - 1 : m - 1], right = f[j < m - 1 ? j + 1 : 0];
                field[i * m + j] = f[j] / 2 + (above[j] + below[j] + left + right) / 8;
            }
        }
    }
}

/* out = U in; U is symmetric */
static void correlate(const twin *z, const double *in, double *out)
{
    for (int i = 0; i < z->n; i++) out[i] = z->unit * deviation[i / z->cells] * in[i];
    for (int k = 0; k < 3; k++) smooth(z, out + k * z->cells);
}

/* ---- cost and gradient ---- */

/* The gradient of the terms of time k by the state at that time. */
static int departure(int k, double t, const double *y, int m, double *w, void *ctx)
{
    twin *z = ctx;
    (void)t, (void)m;
    for (int s = 0; s < z->stations; s++) {
        double d = y[z->station[s]] - z->observed[k * z->stations + s];
        z->misfit += d * d / (2 * noise * noise);
        w[z->station[s]] = d / (noise * noise);
    }
    return 0;
}

static lbfgsfloatval_t cost(void *ctx, const lbfgsfloatval_t *v, lbfgsfloatval_t *g, int n, lbfgsfloatval_t step)
{
    twin *z = ctx;
    costate_observations all = {.count = TIMES, .t = z->t, .seed = departure, .ctx = z};
    double before = 0;
    (void)step;
    correlate(z, v, z->y);
    for (int i = 0; i < n; i++) z->y[i] += z->background[i];
    memset(z->lambda, 0, (size_t)n * sizeof *z->lambda);
    z->misfit = 0;
    z->runs++;
    int status = costate_integrate(z->solver, 0, window, z->y, NULL, z->tape);
    if (status == COSTATE_OK) status = costate_adjoint(z->solver, z->tape, 1, z->lambda, NULL, NULL, &all);
    if (status != COSTATE_OK) {
        fprintf(stderr, "%s\n", costate_message(z->solver));
        return NAN;
    }
    correlate(z, z->lambda, g);
    for (int i = 0; i < n; i++) {
        before += v[i] * v[i] / 2;
        g[i] += v[i];
    }
    return before + z->misfit;
}

static int progress(void *ctx, const lbfgsfloatval_t *v, const lbfgsfloatval_t *g, const lbfgsfloatval_t value,
                    const lbfgsfloatval_t norm, const lbfgsfloatval_t gnorm, const lbfgsfloatval_t step, int n, int k,
                    int ls)
{
    twin *z = ctx;
    (void)v, (void)g, (void)norm, (void)step, (void)n, (void)ls;
    if (k <= 1 || k % 10 == 0) printf("%9d  %12.4f  %12.4f  %9.2e\n", k, value, z->misfit, gnorm);
    if (z->iterations) fprintf(z->iterations, "%d %.9g %.9g %.9g\n", k, value, z->misfit, gnorm);
    return 0;
}

/* the gradient at the background against a difference of J along a direction: relative gap */
static double against_differences(twin *z, const double *direction)
{
    double e = 1e-4, sum = 0, f[2];
    for (int k = 0; k < 2; k++) {
        for (int i = 0; i < z->n; i++) z->analysis[i] = (k ? e : -e) * direction[i];
        f[k] = cost(z, z->analysis, z->g, z->n, 0);
    }
    memset(z->analysis, 0, (size_t)z->n * sizeof *z->analysis);
    cost(z, z->analysis, z->g, z->n, 0);
    for (int i = 0; i < z->n; i++) sum += z->g[i] * direction[i];
    return fabs((f[1] - f[0]) / (2 * e) / sum - 1);
}

/* ---- the experiment ---- */

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

static int prepare(twin *z, int side)
{
    costate_options options = {.controller = COSTATE_FIXED, .h0 = window / side};
    int row = (side + APART - 1) / APART, half = (side / 2 + APART - 1) / APART;
    z->model = swe_new(side, side);
    if (!z->model) return 0;
    z->solver = costate_new(costate_method_find("dopri5"), swe_problem(z->model), &options);
    z->tape = costate_tape_new();
    z->side = side;
    z->cells = side * side;
    z->n = 3 * z->cells;
    z->stations = half * row;
    size_t n = (size_t)z->n;
    double *memory = calloc(8 * n + (size_t)z->stations * TIMES, sizeof *memory);
    z->station = calloc((size_t)z->stations, sizeof *z->station);
    z->truth = memory;
    if (!memory || !z->station || !z->tape || costate_status(z->solver) != COSTATE_OK) return 0;
    double **part[] = {&z->background, &z->analysis, &z->y, &z->lambda, &z->v, &z->g, &z->scratch, &z->observed};
    for (size_t k = 0; k < 8; k++) *part[k] = memory + (k + 1) * n;
    for (int s = 0; s < z->stations; s++) z->station[s] = (s / row * side + s % row) * APART;
    for (int k = 0; k < TIMES; k++) z->t[k] = window * (k + 1) / TIMES;
    double sum = 0;
    z->y[0] = 1;
    smooth(z, z->y);
    for (int i = 0; i < z->cells; i++) sum += z->y[i] * z->y[i];
    z->unit = 1 / sqrt(sum);
    return 1;
}

/* truth: a hill of water, half a window after it was let go; background = truth + U (noise); observations */
static int set_up(twin *z, uint64_t *state)
{
    swe_initial(z->model, z->truth);
    int status = costate_integrate(z->solver, 0, window / 2, z->truth, NULL, NULL);
    for (int i = 0; i < z->n; i++) z->v[i] = normal(state);
    correlate(z, z->v, z->background);
    for (int i = 0; i < z->n; i++) z->background[i] += z->y[i] = z->truth[i];
    if (status == COSTATE_OK) status = costate_integrate(z->solver, 0, window, z->y, NULL, z->tape);
    for (int k = 0; status == COSTATE_OK && k < TIMES; k++) {
        status = costate_tape_eval(z->solver, z->tape, z->t[k], z->y);
        for (int s = 0; s < z->stations; s++)
            z->observed[k * z->stations + s] = z->y[z->station[s]] + noise * normal(state);
    }
    return status;
}

/* root mean square of a - b over rows [first, last) of the grid, of fields [from, to) */
static double distance(const twin *z, const double *a, const double *b, int first, int last, int from, int to)
{
    double sum = 0;
    for (int k = from; k < to; k++)
        for (int i = first * z->side; i < last * z->side; i++)
            sum += pow(a[k * z->cells + i] - b[k * z->cells + i], 2);
    return sqrt(sum / ((to - from) * (last - first) * z->side));
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

/* all three go on from the start of the window: errors of the height; returns how much smaller the last is */
static double forecast(twin *z, const char *directory)
{
    double *y[3] = {z->y, z->lambda, z->g}, *from[3] = {z->truth, z->background, z->analysis}, error[2] = {0};
    FILE *out = open_file(directory, "27_forecast.dat");
    for (int r = 0; r < 3; r++) memcpy(y[r], from[r], (size_t)z->n * sizeof **y);
    for (int k = 0; k <= CURVE; k++) {
        double t = FORECAST * window * k / CURVE, before = FORECAST * window * (k - 1) / CURVE;
        for (int r = 0; r < 3; r++)
            if (k > 0 && costate_integrate(z->solver, before, t, y[r], NULL, NULL) != COSTATE_OK) return NAN;
        for (int r = 0; r < 2; r++) error[r] = distance(z, y[0], y[r + 1], 0, z->side, 0, 1);
        if (out) fprintf(out, "%.9g %.9g %.9g\n", t, error[0], error[1]);
        if (k * FORECAST % CURVE == 0)
            printf("height at t = %.1f           %10.3f  %10.3f\n", t, error[0], error[1]);
    }
    if (out) fclose(out);
    return error[1] / error[0];
}

static void show(const twin *z, const char *directory)
{
    static const struct { const char *name; int from, to, first, last; } row[] = {
        {"height, t = 0, observed half", 0, 1, 0, 1}, {"        the other half", 0, 1, 1, 2},
        {"momenta, observed half", 1, 3, 0, 1}, {"        the other half", 1, 3, 1, 2}};
    printf("errors (root mean square)    background    analysis\n");
    for (int r = 0; r < 4; r++) {
        int a = row[r].first * z->side / 2, b = row[r].last * z->side / 2, f = row[r].from, t = row[r].to;
        printf("%-28s%11.3f  %10.3f\n", row[r].name, distance(z, z->truth, z->background, a, b, f, t),
               distance(z, z->truth, z->analysis, a, b, f, t));
    }
    FILE *out = open_file(directory, "27_fields.dat");
    for (int i = 0; out && i < z->cells; i++)
        fprintf(out, "%d %d %.6g %.6g %.6g %d\n", i / z->side, i % z->side, z->truth[i], z->background[i],
                z->analysis[i], i / z->side < z->side / 2 && i / z->side % APART == 0 && i % z->side % APART == 0);
    if (out) fclose(out);
}

static int assimilate(twin *z, const char *directory)
{
    uint64_t state = 27;
    lbfgs_parameter_t how;
    if (set_up(z, &state) != COSTATE_OK) return 1;
    for (int i = 0; i < z->n; i++) z->v[i] = normal(&state);
    double gap = against_differences(z, z->v), value = cost(z, z->analysis, z->g, z->n, 0), size = 0;
    for (int i = 0; i < z->n; i++) size += z->g[i] * z->g[i];
    lbfgs_parameter_init(&how);
    how.max_iterations = ITERATIONS;
    how.epsilon = 5e-2;                         /* of |gradient|/|v| */
    printf("%d unknowns, %d observations in %d steps\n", z->n, z->stations * TIMES, costate_tape_steps(z->tape));
    printf("iteration             J        misfit   gradient\n");
    z->iterations = open_file(directory, "27_iterations.dat");
    progress(z, NULL, NULL, value, 0, sqrt(size), 0, z->n, 0, 0);
    memset(z->v, 0, (size_t)z->n * sizeof *z->v);
    z->runs = 0;
    int status = lbfgs(z->n, z->v, &value, cost, progress, z, &how);
    if (z->iterations) fclose(z->iterations);
    correlate(z, z->v, z->analysis);
    for (int i = 0; i < z->n; i++) z->analysis[i] += z->background[i];
    double chi = 2 * value / (z->stations * TIMES);
    printf("liblbfgs: %d, %d gradients; 2 J over the number of observations: %.3f\n\n", status, z->runs, chi);
    show(z, directory);
    double better = forecast(z, directory), sigmas = (chi - 1) / sqrt(2.0 / (z->stations * TIMES));
    printf("\nerror of the last forecast, analysis over background: %.3f\n", better);
    printf("gradient and differences: relative gap %.1e\n", gap);
    return !(status >= 0 && gap < 1e-6 && better < 0.5 && fabs(sigmas) < 4);
}

int main(int argc, char **argv)
{
    twin z = {0};
    int wrong = 1, side = argc > 2 ? atoi(argv[2]) : 40;
    if (!prepare(&z, side)) fprintf(stderr, "no memory, or not a side of a grid (5 or more): %d\n", side);
    else wrong = assimilate(&z, argc > 1 ? argv[1] : NULL);
    if (wrong && z.solver) fprintf(stderr, "%s\n", costate_message(z.solver));
    free(z.truth);
    free(z.station);
    costate_tape_free(z.tape);
    costate_free(z.solver);
    swe_free(z.model);
    return wrong;
}
