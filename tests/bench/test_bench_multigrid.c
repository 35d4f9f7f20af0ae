/* test_bench_multigrid.c - the benchmark's multigrid is symmetric, and its cycles approach the solution from below. */
#include "common.h"
#include "ivp.h"
#include "multigrid.h"

enum { MOST = 1000 };

/* out = (sigma I - diffusion - diag(reaction)) x */
static void matrix(const ivp_grid *g, double sigma, const double *reaction, const double *x, double *out)
{
    int n = g->components, stride = g->components, N = g->side;
    for (int k = 0; k < g->dimensions; k++) n *= N;
    for (int i = 0; i < n; i++) out[i] = (sigma + 2 * g->dimensions * g->d - (reaction ? reaction[i] : 0)) * x[i];
    for (int k = 0; k < g->dimensions; k++, stride *= N)
        for (int i = 0; i < n; i++) {
            int at = i / stride % N, wrap = (N - 1) * stride;
            if (at > 0 || g->periodic) out[i] -= g->d * x[at > 0 ? i - stride : i + wrap];
            if (at < N - 1 || g->periodic) out[i] -= g->d * x[at < N - 1 ? i + stride : i - wrap];
        }
}

static double dot(int n, const double *x, const double *y)
{
    double s = 0;
    for (int i = 0; i < n; i++) s += x[i] * y[i];
    return s;
}

static const struct { ivp_grid g; int n; } grids[] = {
    {{2, 16, 1, 0, 300}, 256}, {{2, 15, 2, 0, 300}, 450}, {{2, 16, 2, 1, 200}, 512}, {{2, 6, 2, 1, 40}, 72},
    {{3, 8, 1, 0, 80}, 512}, {{3, 7, 1, 1, 50}, 343}, {{2, 13, 3, 0, 150}, 507}};
enum { GRIDS = sizeof grids / sizeof *grids };

/* y . B x = x . B y, whatever the sweeps and cycles, with a reaction and without */
static void symmetric(void **state)
{
    double x[MOST], y[MOST], Bx[MOST], By[MOST], reaction[MOST];
    unsigned seed = 1;
    (void)state;
    for (int k = 0; k < GRIDS; k++)
        for (int cycles = 1; cycles <= 2; cycles++)
            for (int with = 0; with < 2; with++) {
                size_t n = (size_t)grids[k].n;
                multigrid *q = multigrid_new(&grids[k].g, cycles, 1 + k % 2);
                assert_non_null(q);
                random_fill(&seed, n, x);
                random_fill(&seed, n, y);
                random_fill(&seed, n, reaction);
                memcpy(Bx, x, n * sizeof *x);
                memcpy(By, y, n * sizeof *y);
                multigrid_setup(q, 10, with ? reaction : NULL);
                multigrid_solve(q, Bx);
                multigrid_solve(q, By);
                assert_true(fabs(dot((int)n, y, Bx) - dot((int)n, x, By)) < 1e-13 * sqrt(dot((int)n, x, x)));
                multigrid_free(q);
            }
}

/* B A has eigenvalues in (0.4, 1]: each cycle leaves less than 0.6 of the error, by Rayleigh's quotient in the A-norm,
   and never overshoots, as a W-method needs it */
static void approaches(void **state)
{
    double x[MOST], Ax[MOST], BAx[MOST], ABAx[MOST], reaction[MOST];
    unsigned seed = 2;
    (void)state;
    for (int k = 0; k < GRIDS; k++) {
        int n = grids[k].n;
        multigrid *q = multigrid_new(&grids[k].g, 1, 1);
        assert_non_null(q);
        for (int i = 0; i < n; i++) reaction[i] = -5 * (1 + random_in(&seed));
        multigrid_setup(q, 10, reaction);
        random_fill(&seed, (size_t)n, x);
        for (int turn = 0; turn < 20; turn++) {                        /* of the power method with I - B A */
            matrix(&grids[k].g, 10, reaction, x, Ax);
            memcpy(BAx, Ax, sizeof Ax);
            multigrid_solve(q, BAx);
            matrix(&grids[k].g, 10, reaction, BAx, ABAx);
            double quotient = dot(n, x, ABAx) / dot(n, x, Ax), size = 0;
            if (quotient < 0.4 || quotient > 1.0001) fail_msg("grid %d: %g", k, quotient);
            for (int i = 0; i < n; i++) size = fmax(size, fabs(x[i] -= BAx[i]));
            for (int i = 0; i < n; i++) x[i] /= size;
        }
        multigrid_free(q);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(symmetric), cmocka_unit_test(approaches)};
    return cmocka_run_group_tests_name("multigrid of the benchmark", tests, NULL, NULL);
}
