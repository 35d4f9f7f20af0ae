/* 03_4dvar.c - 4D-Var: the initial height of the shallow-water equations from sparse, noisy observations in time.

   A hill of water collapses on a 40 x 40 grid; one cell in sixteen measures the height, at 40 times, with errors of
   standard deviation R = 0.1.  The first guess knows nothing of the hill: the mean height everywhere.  Wanted is the h
   at t = 0 (1600 unknowns) that minimises

       J(h) = |S (h - guess)|^2 / (2 B^2) + sum over times and stations of (height - observed)^2 / (2 R^2)

   by L-BFGS.  The gradient is one run back over the tape, with all observations inside the steps.

   Why a background term: waves of few cells between the stations reach them late and weak.  Without it the misfit goes
   on falling while the error of h grows again: the noise is fitted.  S = 1 - L^2 Laplacian says that such waves are
   unlikely: h - guess of size B, smooth over L = 4 cells (1/B^2 S^T S is the inverse of a covariance).

   Why hmax: on the flat first guess nothing happens, and the error control would go to t_end in very few steps.  The
   gradient would be that of these steps, exactly - of steps that are unstable for any hill.  Derivatives are those of
   the steps taken: they must be steps that suit the perturbed problem, too.

       03_4dvar [directory [side of the grid]]      writes 4dvar.dat and 4dvar.gp there; gnuplot draws 4dvar.png */
#include <costate/costate.h>
#include <lbfgs.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "swe.h"

enum { TIMES = 40, APART = 4, ITERATIONS = 50 };
static const double t_end = 0.1, noise = 0.1, background = 10, cells_smooth = 4, momentum = 2;

typedef struct {
    swe *model;
    costate *solver;
    costate_tape *tape;
    int side, cells, unknowns, stations;
    double t[TIMES];
    double *observed;                       /* stations by TIMES */
    double *truth, *guess, *h;              /* cells each: initial heights */
    double *y, *lambda;                     /* 3 cells each: heights and momenta */
    double misfit;
} assimilation;

/* ---- observations ---- */

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

static int station_cell(const assimilation *z, int station)
{
    int row = (z->side + APART - 1) / APART;
    return (station / row * z->side + station % row) * APART;
}

static void set_state(const assimilation *z, const double *h)
{
    for (int i = 0; i < z->cells; i++) {
        z->y[i] = h[i];
        z->y[i + z->cells] = z->y[i + 2 * z->cells] = momentum;
    }
}

static int observe(assimilation *z)
{
    uint64_t state = 4;
    double *y = z->lambda;
    set_state(z, z->truth);
    int status = costate_integrate(z->solver, 0, t_end, z->y, NULL, z->tape);
    for (int k = 0; status == COSTATE_OK && k < TIMES; k++) {
        status = costate_tape_eval(z->solver, z->tape, z->t[k], y);
        for (int s = 0; s < z->stations; s++)
            z->observed[k * z->stations + s] = y[station_cell(z, s)] + noise * normal(&state);
    }
    return status;
}

/* ---- the function to minimise ---- */

/* The gradient of the terms of time k by the state at that time. */
static int departure(int k, double t, const double *y, int m, double *w, void *ctx)
{
    assimilation *z = ctx;
    (void)t;
    (void)m;
    for (int s = 0; s < z->stations; s++) {
        int i = station_cell(z, s);
        double d = y[i] - z->observed[k * z->stations + s];
        z->misfit += d * d / (2 * noise * noise);
        w[i] = d / (noise * noise);
    }
    return 0;
}

/* out = S d, on the periodic grid */
static void smoothness(const assimilation *z, const double *d, double *out)
{
    int m = z->side;
    for (int i = 0; i < m; i++)
        for (int j = 0; j < m; j++) {
            double laplace = d[(i + 1) % m * m + j] + d[(i + m - 1) % m * m + j] + d[i * m + (j + 1) % m] +
                             d[i * m + (j + m - 1) % m] - 4 * d[i * m + j];
            out[i * m + j] = d[i * m + j] - cells_smooth * cells_smooth * laplace;
        }
}

/* |S (h - guess)|^2 / (2 B^2), and its gradient S^T S (h - guess) / B^2 into g; S is symmetric */
static double background_term(const assimilation *z, const double *h, double *g)
{
    double *d = z->y, *r = d + z->cells, sum = 0;
    for (int i = 0; i < z->cells; i++) d[i] = h[i] - z->guess[i];
    smoothness(z, d, r);
    smoothness(z, r, g);
    for (int i = 0; i < z->cells; i++) {
        sum += r[i] * r[i] / (2 * background * background);
        g[i] /= background * background;
    }
    return sum;
}

static lbfgsfloatval_t value_and_gradient(void *ctx, const lbfgsfloatval_t *h, lbfgsfloatval_t *gradient, int n,
                                          lbfgsfloatval_t step)
{
    assimilation *z = ctx;
    costate_observations all = {.count = TIMES, .t = z->t, .seed = departure, .ctx = z};
    (void)step;
    set_state(z, h);
    memset(z->lambda, 0, (size_t)z->unknowns * sizeof *z->lambda);
    z->misfit = 0;
    int status = costate_integrate(z->solver, 0, t_end, z->y, NULL, z->tape);
    if (status == COSTATE_OK) status = costate_adjoint(z->solver, z->tape, 1, z->lambda, NULL, NULL, &all);
    if (status != COSTATE_OK) {
        fprintf(stderr, "%s\n", costate_message(z->solver));
        return NAN;
    }
    z->misfit += background_term(z, h, gradient);
    for (int i = 0; i < n; i++) gradient[i] += z->lambda[i];
    return z->misfit;
}

static double error(const assimilation *z, const double *h)
{
    double sum = 0;
    for (int i = 0; i < z->cells; i++) sum += (h[i] - z->truth[i]) * (h[i] - z->truth[i]);
    return sqrt(sum / z->cells);
}

static int progress(void *ctx, const lbfgsfloatval_t *h, const lbfgsfloatval_t *gradient, const lbfgsfloatval_t value,
                    const lbfgsfloatval_t norm, const lbfgsfloatval_t gnorm, const lbfgsfloatval_t step, int n, int k,
                    int ls)
{
    (void)gradient, (void)norm, (void)step, (void)n, (void)ls;
    printf("%9d  %12.4e  %10.2e  %16.4f\n", k, value, gnorm, error(ctx, h));
    fflush(stdout);
    return 0;
}

/* ---- pictures ---- */

static const char *const script =
    "set terminal pngcairo size 1500,480 enhanced font 'sans,12'\n"
    "set output '%s/4dvar.png'\n"
    "set multiplot layout 1,3 title 'Initial height h(0): one observed cell in sixteen (dots), forty times'\n"
    "set xrange [-0.5:%d.5]\nset yrange [-0.5:%d.5]\nset size ratio -1\nset cbrange [98:132]\n"
    "set xtics 10\nset ytics 10\n"
    "set palette defined (0 '#08306b', 1 '#2171b5', 2 '#6baed6', 3 '#c6dbef', 4 '#ffffff')\n"
    "do for [k=3:5] {\n"
    "    set title word('before after truth', k - 2)\n"
    "    plot '%s/4dvar.dat' using 1:2:k with image notitle, "
    "'' using 1:($6 > 0 ? $2 : NaN) with points pointtype 7 pointsize 0.3 linecolor rgb '#e31a1c' notitle\n"
    "}\n";

static FILE *open_file(const char *directory, const char *file, char *path, size_t size)
{
    snprintf(path, size, "%s/%s", directory, file);
    FILE *out = fopen(path, "w");
    if (!out) perror(path);
    return out;
}

static void draw(const assimilation *z, const char *directory)
{
    char path[512], command[600];
    FILE *out = open_file(directory, "4dvar.dat", path, sizeof path);
    if (!out) return;
    fprintf(out, "# i j before after truth station\n");
    for (int i = 0; i < z->cells; i++)
        fprintf(out, "%d %d %.6g %.6g %.6g %d\n", i / z->side, i % z->side, z->guess[i], z->h[i], z->truth[i],
                i / z->side % APART == 0 && i % z->side % APART == 0);
    fclose(out);
    if (!(out = open_file(directory, "4dvar.gp", path, sizeof path))) return;
    fprintf(out, script, directory, z->side - 1, z->side - 1, directory);
    fclose(out);
    snprintf(command, sizeof command, "gnuplot '%s' >/dev/null 2>&1", path);
    if (system(command) == 0) printf("picture: %s/4dvar.png\n", directory);
    else printf("for a picture: gnuplot %s\n", path);
}

/* ---- all of it ---- */

static int prepare(assimilation *z, int side)
{
    costate_options options = {.rtol = 1e-5, .atol = 1e-5, .hmax = t_end / TIMES};
    z->model = swe_new(side, side);
    if (!z->model) return 0;
    z->solver = costate_new(costate_method_find("dopri5"), swe_problem(z->model), &options);
    z->tape = costate_tape_new();
    z->side = side;
    z->cells = side * side;
    z->unknowns = 3 * z->cells;
    z->stations = ((side + APART - 1) / APART) * ((side + APART - 1) / APART);
    size_t cells = (size_t)z->cells;
    double *memory = calloc(9 * cells + (size_t)z->stations * TIMES, sizeof *memory);
    if (!memory || !z->tape || costate_status(z->solver) != COSTATE_OK) return free(memory), 0;
    z->truth = memory;
    z->guess = z->truth + cells;
    z->h = z->guess + cells;
    z->y = z->h + cells;
    z->lambda = z->y + 3 * cells;
    z->observed = z->lambda + 3 * cells;
    swe_initial(z->model, z->y);
    double mean = 0;
    for (int i = 0; i < z->cells; i++) mean += (z->truth[i] = z->y[i]) / z->cells;
    for (int i = 0; i < z->cells; i++) z->h[i] = z->guess[i] = mean;
    for (int k = 0; k < TIMES; k++) z->t[k] = t_end * (k + 1) / TIMES;
    return 1;
}

static int minimise(assimilation *z, const char *directory)
{
    lbfgs_parameter_t how;
    double before = error(z, z->h);
    lbfgs_parameter_init(&how);
    how.max_iterations = ITERATIONS;
    how.epsilon = 1e-4;
    printf("%d unknowns, %d observations, mean height %.1f\n", z->cells, z->stations * TIMES, z->guess[0]);
    printf("iteration             J    gradient   error of h (rms)\n");
    printf("%9d  %12s  %10s  %16.4f\n", 0, "", "", before);
    int status = lbfgs(z->cells, z->h, NULL, value_and_gradient, progress, z, &how);
    printf("liblbfgs: %d\n", status);
    draw(z, directory);
    double ratio = error(z, z->h) / before;
    printf("error of the initial height, final over first: %.4f\n", ratio);
    return !(ratio < 0.05);
}

int main(int argc, char **argv)
{
    assimilation z = {0};
    int wrong = 1, side = argc > 2 ? atoi(argv[2]) : 40;
    if (!prepare(&z, side)) fprintf(stderr, "no memory, or not a side of a grid (5 or more): %d\n", side);
    else if (observe(&z) != COSTATE_OK) fprintf(stderr, "%s\n", costate_message(z.solver));
    else wrong = minimise(&z, argc > 1 ? argv[1] : ".");
    free(z.truth);
    costate_tape_free(z.tape);
    costate_free(z.solver);
    swe_free(z.model);
    return wrong;
}
