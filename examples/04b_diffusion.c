/* 04b_diffusion.c - where does a substance come from?  A source of 16384 unknowns, by rkc2 and L-BFGS.

   On the unit square with walls a substance is let out at unknown places, spreads, and decays by meeting itself:

       y' = D Laplacian y - k y^2 + p(x),     y(0) = 0.

   On 128 x 128 cells the spectral radius is 8 D/dx^2 = 6554.  That is stiff, but all rates are real:
   stabilised explicit steps do it, which need f and nothing else, no Jacobian, no preconditioner, no solver.  A run by
   rkc2 takes 30 steps and about 500 f, with a tape of 20 MB; one by dopri5 1973 steps and 11859 f, with a tape of 2 GB.
   The gradient by all cells of p needs products f'^T w, and is exact for these steps.

   One cell in sixteen is measured, at 10 times, with errors of standard deviation R.  Wanted is the p that minimises

       J(p) = |S p|^2 / (2 B^2) + sum over times and stations of (y - measured)^2 / (2 R^2),   S = 1 - L^2 Laplacian:

   without the first term p would follow the errors. */
#include <costate/costate.h>
#include <lbfgs.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SIDE = 128, CELLS = SIDE * SIDE, APART = 4, STATIONS = CELLS / (APART * APART), TIMES = 10, ITERATIONS = 40,
       EXPECTED = TIMES * STATIONS / 2 };
static const double D = 0.05, k = 1, t_end = 1, R = 0.01, B = 20, L = 6;    /* L in cells */

/* ---- the problem ---- */

/* out = a Laplacian u + b w u, lengths in cells, nothing passes the walls; w NULL: 1.  Its matrix is symmetric. */
static void diffuse(double a, const double *u, double b, const double *w, double *out)
{
    for (int i = 0; i < SIDE; i++) {
        const double *row = u + i * SIDE, *below = i > 0 ? row - SIDE : row, *above = i < SIDE - 1 ? row + SIDE : row;
        for (int j = 0; j < SIDE; j++) {
            double sides = row[j > 0 ? j - 1 : j] + row[j < SIDE - 1 ? j + 1 : j];
            out[i * SIDE + j] = a * (sides + below[j] + above[j] - 4 * row[j]) + b * (w ? w[i * SIDE + j] : 1) * row[j];
        }
    }
}

static int f(const costate_point *x, double *out, void *ctx)
{
    (void)ctx;
    diffuse(D * CELLS, x->y, -k, x->y, out);
    for (int i = 0; i < CELLS; i++) out[i] += x->p[i];
    return 0;
}

static int f_adjoint(const costate_point *x, const double *w, const costate_gradient *g, void *ctx)
{
    double *out = ctx;
    diffuse(D * CELLS, w, -2 * k, x->y, out);
    for (int i = 0; g->y && i < CELLS; i++) g->y[i] += out[i];
    for (int i = 0; g->p && i < CELLS; i++) g->p[i] += w[i];
    return 0;
}

/* ---- the function to minimise ---- */

typedef struct {
    costate *solver;
    costate_tape *tape;
    double t[TIMES], measured[TIMES][STATIONS], misfit;
    double truth[CELLS], p[CELLS], y[CELLS], lambda[CELLS], space[CELLS];
} fit;

static int station(int s) { return (s / (SIDE / APART) * SIDE + s % (SIDE / APART)) * APART + APART / 2 * (SIDE + 1); }

static int departure(int time, double t, const double *y, int m, double *w, void *ctx)
{
    fit *z = ctx;
    (void)t, (void)m;
    for (int s = 0; s < STATIONS; s++) {
        double d = y[station(s)] - z->measured[time][s];
        z->misfit += d * d / (2 * R * R);
        w[station(s)] = d / (R * R);
    }
    return 0;
}

static lbfgsfloatval_t value(void *ctx, const lbfgsfloatval_t *p, lbfgsfloatval_t *g, int n, lbfgsfloatval_t step)
{
    fit *z = ctx;
    costate_observations all = {.count = TIMES, .t = z->t, .seed = departure, .ctx = z};
    double smooth = 0;
    (void)step;
    memset(z->y, 0, sizeof z->y);
    memset(z->lambda, 0, sizeof z->lambda);
    z->misfit = 0;
    diffuse(-L * L, p, 1, NULL, z->space);                  /* S p, S^T S p */
    diffuse(-L * L, z->space, 1, NULL, g);
    for (int i = 0; i < n; i++) {
        smooth += z->space[i] * z->space[i] / (2 * B * B);
        g[i] /= B * B;                                      /* to which the sweep adds */
    }
    int status = costate_integrate(z->solver, 0, t_end, z->y, p, z->tape);
    if (status == COSTATE_OK) status = costate_adjoint(z->solver, z->tape, 1, z->lambda, g, NULL, &all);
    if (status == COSTATE_OK) return z->misfit + smooth;
    fprintf(stderr, "%s\n", costate_message(z->solver));
    return NAN;
}

static double error(const fit *z, const double *p)
{
    double sum = 0, size = 0;
    for (int i = 0; i < CELLS; i++) { sum += pow(p[i] - z->truth[i], 2); size += pow(z->truth[i], 2); }
    return sqrt(sum / size);
}

static int progress(void *ctx, const lbfgsfloatval_t *p, const lbfgsfloatval_t *g, const lbfgsfloatval_t J,
                    const lbfgsfloatval_t norm, const lbfgsfloatval_t gnorm, const lbfgsfloatval_t step, int n,
                    int iteration, int runs)
{
    const fit *z = ctx;
    (void)g, (void)norm, (void)step, (void)n, (void)runs;
    printf("%9d  %10.4e  %17.4f  %8.1e  %19.4f\n", iteration, J, z->misfit / EXPECTED, gnorm, error(z, p));
    return 0;
}

/* ---- all of it ---- */

/* Of mean 0 and standard deviation 1, the same on every machine. */
static double random_error(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return sqrt(12) * ((double)(*state >> 11) / 9007199254740992.0 - 0.5);
}

static costate *solver(const char *method, double tolerance, fit *z)
{
    costate_problem problem = {.n = CELLS, .np = CELLS, .ctx = z->space, .rhs = {.value = f, .adjoint = f_adjoint}};
    costate_options options = {.rtol = tolerance, .atol = tolerance, .spectral_bound = 1.01 * 8 * D * CELLS};
    return costate_new(costate_method_find(method), &problem, &options);
}

/* By another method, tighter: the fit cannot be right by the same errors. */
static int measure(fit *z)
{
    uint64_t state = 4;
    costate *tight = solver("rkl2", 1e-7, z);
    costate_tape *tape = costate_tape_new();
    for (int i = 0; i < CELLS; i++) {
        double x = (i / SIDE + 0.5) / SIDE, y = (i % SIDE + 0.5) / SIDE;
        z->truth[i] = 20 * exp(-80 * (pow(x - 0.3, 2) + pow(y - 0.7, 2))) +
                      10 * exp(-80 * (pow(x - 0.7, 2) + pow(y - 0.25, 2)));
    }
    int status = tape ? costate_integrate(tight, 0, t_end, z->y, z->truth, tape) : COSTATE_NO_MEMORY;
    for (int time = 0; time < TIMES; time++) {
        z->t[time] = t_end * (time + 1) / TIMES;
        if (status == COSTATE_OK) status = costate_tape_eval(tight, tape, z->t[time], z->y);
        for (int s = 0; s < STATIONS; s++) z->measured[time][s] = z->y[station(s)] + R * random_error(&state);
    }
    if (status != COSTATE_OK) fprintf(stderr, "%s\n", costate_message(tight));
    costate_tape_free(tape);
    costate_free(tight);
    return status;
}

int main(void)
{
    fit *z = calloc(1, sizeof *z);
    if (!z) return 1;
    z->solver = solver("rkc2", 1e-4, z);
    z->tape = costate_tape_new();
    if (!z->tape || measure(z) != COSTATE_OK) return 1;
    for (int i = 0; i < CELLS; i++) z->p[i] = 1;            /* the first guess */
    lbfgs_parameter_t how;
    lbfgs_parameter_init(&how);
    how.max_iterations = ITERATIONS;
    printf("iteration           J  misfit / expected  gradient  relative error of p\n");
    lbfgs(CELLS, z->p, NULL, value, progress, z, &how);
    printf("the last run: %d steps, a tape of %.1f MB\n", costate_tape_steps(z->tape),
           (double)costate_tape_bytes(z->tape) / 1e6);
    double left = error(z, z->p), fits = z->misfit / EXPECTED;
    printf("relative error of the source: %.4f\n", left);
    costate_tape_free(z->tape);
    costate_free(z->solver);
    free(z);
    return !(left < 0.05 && fits < 1.1);
}
