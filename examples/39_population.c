/* 39_population.c - the likelihood of a population: 10000 subjects with doses, and its gradient with respect to theta.

   models/population.eq is a drug in gut, blood and tissue whose elimination saturates.  Subject i has constants of its
   own, p_ik = theta_k exp(omega_k eta_ik), with given random effects eta.  200 mg are swallowed every 12 hours.
   Concentrations o_ij are measured with errors that are normal in the logarithm, of standard deviation sigma, so that

       L = sum over subjects i and measurements j of  (log o_ij - log c_ij)^2/(2 sigma^2) + log sigma

   is the negative logarithm of the likelihood given the effects, up to a constant: M. Davidian, D. M. Giltinan,
   Nonlinear Models for Repeated Measurement Data, Chapman & Hall 1995, chapter 4.  Wanted: dL/d log theta_k, and
   dL/d log sigma.

   Members in lanes have no events.  So each interval between two times, of doses or measurements, is an ensemble of all
   subjects.  At its end c is compared, then a dose is added to gut.  Back through the intervals, lambda passes a dose
   unchanged, a measurement adds the gradient of its term, and the gradient of the ensemble takes lambda to the
   beginning of the interval.  mu adds up to dL/dp_ik, and p_ik mu_ik is its part of dL/d log theta_k.

       39_population [directory [subjects]]       writes files for pictures there; 2000 */
#include <costate/ensemble.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "population.h"

enum { N = population_states, K = population_parameters, TIMES = 14, SHOWN = 4, BANDS = 5, SAMPLES = 168 };
/* The times in h, and what happens then: the concentration is measured, before a dose is swallowed. */
static const double t[TIMES] = {0, 1, 3, 8, 12, 24, 25, 28, 36, 48, 60, 61, 64, 72};
static const int measured[TIMES] = {0, 1, 1, 1, 1, 1, 0, 1, 0, 1, 1, 1, 1, 1};
static const int dosed[TIMES] = {1, 0, 0, 0, 1, 1, 0, 0, 1, 1, 1, 0, 0, 0};
static const double dose = 200, every = 12, last_dose = 60;                                 /* mg, h, h */
static const double omega[K] = {0.4, 0.25, 0.3, 0.2, 0.3, 0.2}, true_sigma = 0.15;

typedef struct {
    int count;
    size_t states;                              /* of all subjects */
    double *eta, *p, *y, *lambda, *mu;          /* of one subject after the other */
    double *kept;                               /* the states at the beginning of each interval, after the dose */
    double *ends;                               /* those at its end, before the dose */
    double *observed;                           /* log o, TIMES for each subject */
    const costate_lane_maps *lanes;
    double seconds;                             /* of all cores together */
    long steps;
} population;

typedef struct { double theta[K], sigma; } fixed;
typedef struct { double value, theta[K], sigma; } likelihood;   /* L, and its derivatives along the logarithms */

/* ---- one interval ---- */

/* of all subjects from t0 to t1, with gradients if m is 1 */
static int interval(population *z, double t0, double t1, int m)
{
    const costate_options options = {.rtol = 1e-9, .atol = 1e-9};
    const costate_members all = {.count = z->count, .t0 = t0, .t1 = t1, .y = z->y, .p = z->p, .m = m,
                                 .lambda = z->lambda, .mu = z->mu, .lanes = z->lanes};
    costate_ensemble_report report;
    clock_t start = clock();
    int status = costate_ensemble(costate_method_find("dopri5"), population_problem(), &options, &all, &report);
    z->seconds += (double)(clock() - start) / CLOCKS_PER_SEC;
    z->steps += report.stats.accepted;
    if (status != COSTATE_OK) fprintf(stderr, "%s\n", report.text);
    return status;
}

static void swallow(population *z)
{
    for (int i = 0; i < z->count; i++) z->y[N * i + population_gut] += dose;
}

static void constants(population *z, const fixed *x)
{
    for (int i = 0; i < z->count * K; i++) z->p[i] = x->theta[i % K] * exp(omega[i % K] * z->eta[i]);
}

/* ---- L and its gradient ---- */

/* log c of subject i, from its state at time j */
static double log_c(const population *z, int i, int j)
{
    return log(z->ends[(size_t)j * z->states + N * i + population_blood] / z->p[K * i + population_V]);
}

static int forward(population *z, const fixed *x)
{
    constants(z, x);
    memset(z->y, 0, z->states * sizeof *z->y);
    for (int j = 0; j + 1 < TIMES; j++) {
        if (dosed[j]) swallow(z);
        memcpy(z->kept + (size_t)j * z->states, z->y, z->states * sizeof *z->y);
        if (interval(z, t[j], t[j + 1], 0) != COSTATE_OK) return 1;
        memcpy(z->ends + (size_t)(j + 1) * z->states, z->y, z->states * sizeof *z->y);
    }
    return 0;
}

/* L and dL/d log sigma */
static void compare(const population *z, const fixed *x, likelihood *out)
{
    for (int j = 0; j < TIMES; j++) for (int i = 0; i < z->count && measured[j]; i++) {
        double r = (z->observed[TIMES * i + j] - log_c(z, i, j)) / x->sigma;
        out->value += r * r / 2 + log(x->sigma);
        out->sigma += 1 - r * r;
    }
}

/* lambda += d/dy of the terms of time j, mu += d/dp: log c = log blood - log V */
static void add_terms(population *z, const fixed *x, int j)
{
    for (int i = 0; i < z->count && measured[j]; i++) {
        double weight = (z->observed[TIMES * i + j] - log_c(z, i, j)) / (x->sigma * x->sigma);
        z->lambda[N * i + population_blood] -= weight / z->ends[(size_t)j * z->states + N * i + population_blood];
        z->mu[K * i + population_V] += weight / z->p[K * i + population_V];
    }
}

/* after forward */
static int back(population *z, const fixed *x, likelihood *out)
{
    memset(z->lambda, 0, z->states * sizeof *z->lambda);
    memset(z->mu, 0, (size_t)z->count * K * sizeof *z->mu);
    for (int j = TIMES - 2; j >= 0; j--) {
        add_terms(z, x, j + 1);
        memcpy(z->y, z->kept + (size_t)j * z->states, z->states * sizeof *z->y);
        if (interval(z, t[j], t[j + 1], 1) != COSTATE_OK) return 1;
    }
    for (int i = 0; i < z->count * K; i++) out->theta[i % K] += z->mu[i] * z->p[i];
    return 0;
}

static likelihood evaluate(population *z, const fixed *x, int with_gradient)
{
    likelihood out = {0};
    if (forward(z, x)) return (likelihood){.value = NAN};
    compare(z, x, &out);
    if (with_gradient && back(z, x, &out)) out.value = NAN;
    return out;
}

/* with lanes or without; times go to stderr */
static likelihood timed(population *z, const fixed *x, const costate_lane_maps *lanes)
{
    z->lanes = lanes;
    z->seconds = 0;
    z->steps = 0;
    evaluate(z, x, 0);
    double first = z->seconds;
    likelihood out = evaluate(z, x, 1);
    fprintf(stderr, "lanes: %d; per subject, us of a core: L %.1f, L and its gradient %.1f; %.1f steps forward\n",
            lanes ? costate_lanes() : 1, 1e6 * first / z->count, 1e6 * (z->seconds - first) / z->count,
            (double)z->steps / 3 / z->count);
    return out;
}

/* dL/d log of unknown k; K: sigma */
static double difference(population *z, const fixed *x, int k)
{
    const double e = 1e-4;
    fixed up = *x, down = *x;
    double *high = k < K ? &up.theta[k] : &up.sigma, *low = k < K ? &down.theta[k] : &down.sigma;
    *high *= exp(e);
    *low *= exp(-e);
    return (evaluate(z, &up, 0).value - evaluate(z, &down, 0).value) / (2 * e);
}

/* ---- synthetic data ---- */

static double uniform(void)
{
    static uint64_t state = 39;
    state = state * 6364136223846793005u + 1442695040888963407u;
    return ((double)(state >> 11) + 0.5) / 9007199254740992.0;
}

/* Box and Muller */
static double normal(void)
{
    double r = sqrt(-2 * log(uniform()));
    return r * cos(6.283185307179586 * uniform());
}

static int population_new(population *z, int count)
{
    size_t n = (size_t)count;
    *z = (population){.count = count, .states = n * N, .lanes = population_lanes()};
    double *memory = calloc(n * (3 * K + 2 * N + 2 * TIMES * N + TIMES), sizeof *memory);
    if (!memory) return 1;
    z->eta = memory, z->p = z->eta + n * K, z->mu = z->p + n * K, z->y = z->mu + n * K, z->lambda = z->y + z->states;
    z->kept = z->lambda + z->states, z->ends = z->kept + TIMES * z->states, z->observed = z->ends + TIMES * z->states;
    for (int i = 0; i < count * K; i++) z->eta[i] = normal();
    return 0;
}

static int measure(population *z, const fixed *truth)
{
    if (forward(z, truth)) return 1;
    for (int i = 0; i < z->count; i++) for (int j = 0; j < TIMES; j++)
        if (measured[j]) z->observed[TIMES * i + j] = log_c(z, i, j) + truth->sigma * normal();
    return 0;
}

/* ---- files for pictures ---- */

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* a row of time t: percentiles 5, 25, 50, 75, 95 of c over subjects, then c of the first subjects */
static void write_row(const population *z, double at, double *c, FILE *out)
{
    const double percent[BANDS] = {5, 25, 50, 75, 95};
    double shown[SHOWN];
    for (int i = 0; i < z->count; i++) c[i] = z->y[N * i + population_blood] / z->p[K * i + population_V];
    memcpy(shown, c, sizeof shown);
    qsort(c, (size_t)z->count, sizeof *c, ascending);
    fprintf(out, "%g", at);
    for (int k = 0; k < BANDS; k++) fprintf(out, " %.5g", c[(int)(percent[k] / 100 * (z->count - 1))]);
    for (int k = 0; k < SHOWN; k++) fprintf(out, " %.5g", shown[k]);
    fprintf(out, "\n");
}

static FILE *file_in(const char *directory, const char *name)
{
    char path[1024];
    snprintf(path, sizeof path, "%s/%s", directory, name);
    FILE *out = fopen(path, "w");
    if (!out) perror(path);
    return out;
}

/* every half hour, with the constants of the truth */
static int write_files(population *z, const fixed *truth, const char *directory)
{
    double *c = malloc((size_t)z->count * sizeof *c);
    FILE *out = file_in(directory, "39_bands.dat"), *data = file_in(directory, "39_data.dat");
    int failed = !c || !out || !data;
    constants(z, truth);
    memset(z->y, 0, z->states * sizeof *z->y);
    for (int k = 0; k <= SAMPLES && !failed; k++) {
        double at = 0.5 * k;
        write_row(z, at, c, out);
        if (fmod(at, every) == 0 && at <= last_dose) swallow(z);
        failed = interval(z, at, at + 0.5, 0) != COSTATE_OK;
    }
    for (int j = 0; j < TIMES && !failed; j++) {
        if (!measured[j]) continue;
        fprintf(data, "%g", t[j]);
        for (int i = 0; i < SHOWN; i++) fprintf(data, " %.5g", exp(z->observed[TIMES * i + j]));
        fprintf(data, "\n");
    }
    if (out) fclose(out);
    if (data) fclose(data);
    return free(c), failed;
}

int main(int argc, char **argv)
{
    int count = argc > 2 ? atoi(argv[2]) : 2000, failed = 0;
    double most = 0;
    population z;
    if (count < SHOWN || count > 1000000) return puts("subjects: 4 to 1000000"), 1;
    if (population_new(&z, count)) return puts("no memory"), 1;
    fixed truth = {.sigma = true_sigma}, x = {.sigma = true_sigma};
    memcpy(truth.theta, population_defaults, sizeof truth.theta);
    for (int k = 0; k < K; k++) x.theta[k] = truth.theta[k] * (k % 2 ? 0.95 : 1.1);         /* where L is evaluated */
    if (measure(&z, &truth)) return 1;
    if (argc > 1) failed = write_files(&z, &truth, argv[1]);

    likelihood beside = timed(&z, &x, population_lanes()), alone = timed(&z, &x, NULL);
    z.lanes = population_lanes();
    int same = memcmp(&beside, &alone, sizeof alone) == 0;
    printf("%d subjects, L = %.2f\n", count, beside.value);
    puts("dL/d log     adjoint     difference");
    for (int k = 0; k <= K; k++) {
        double ours = k < K ? beside.theta[k] : beside.sigma, theirs = difference(&z, &x, k);
        printf("%-6s %13.3f  %13.3f\n", k < K ? population_parameter_names[k] : "sigma", ours, theirs);
        most = fmax(most, fabs(theirs / ours - 1));
    }
    printf("with lanes and without: %s bits\nlargest relative gap: %.1e\n", same ? "the same" : "other", most);
    free(z.eta);
    return failed || !same || !(most < 1e-5);
}
