/* lines.c - what solves with the lines of a splitting take, beside a plain loop over each line.

       scale_lines      diffusion on grids, in each dimension; nanoseconds per unknown, least of 20 repetitions

   Columns: components and points; for each dimension its stride, a solve, a transposed solve, the plain loop, factoring
   for another sigma.  Lines are equal or all different, their ends open or periodic (the plain loop has open ends). */
#include <costate/operators.h>
#include <string.h>
#include "measure.h"

enum { REPEAT = 20 };
typedef struct { int n, m, points, stride, different, periodic; } dimension;

static int no_rhs(const costate_point *x, double *out, void *ctx) { return (void)x, (void)out, (void)ctx, 0; }

static int diffusion(const costate_point *x, double *lower, double *diagonal, double *upper, void *ctx)
{
    const dimension *d = ctx;
    (void)x;
    for (int i = 0; i < d->n; i++) {
        int k = i / d->stride % d->points;
        double w = 100 * (1 + i % d->m) * (d->different ? 1 + 0.5 * sin(i) : 1);
        lower[i] = k > 0 || d->periodic ? w : 0;
        upper[i] = k < d->points - 1 || d->periodic ? w : 0;
        diagonal[i] = -lower[i] - upper[i];
    }
    return 0;
}

/* each line on its own, with coefficients stored for every unknown */
static void plain(const dimension *d, const double *l, const double *r, const double *u, double *x)
{
    size_t s = (size_t)d->stride, last = (size_t)(d->points - 1) * s;
    for (size_t b = 0; b < (size_t)d->n; b += last + s)
        for (size_t at = b; at < b + s; at++) {
            for (size_t i = at + s; i <= at + last; i += s) x[i] -= l[i] * x[i - s];
            x[at + last] *= r[at + last];
            for (size_t i = at + last; i > at; i -= s) x[i - s] = r[i - s] * x[i - s] - u[i - s] * x[i];
        }
}

static double least(const dimension *d, const costate_preconditioner *B, int transpose, const double *c, double *x)
{
    double best = HUGE_VAL;
    const size_t n = (size_t)d->n;
    const int loops = d->n < 100000 ? 10 : 1;
    for (int k = 0; k < REPEAT; k++) {
        for (size_t i = 0; i < n; i++) x[i] = 1 + (double)(i % 3);
        double start = clock_now();
        for (int j = 0; j < loops; j++) {
            if (B) B->solve(transpose, x, B->ctx);
            else plain(d, c, c + n, c + 2 * n, x);
        }
        best = fmin(best, (clock_now() - start) / loops);
    }
    return 1e9 * best / d->n;
}

static void time_of(dimension d, double *x, double *c)
{
    const costate_problem P = {.n = d.n, .rhs = {.value = no_rhs}};
    const costate_part part = {.lines = diffusion, .points = d.points, .stride = d.stride, .periodic = d.periodic,
                               .ctx = &d};
    const costate_point at = {0};
    costate_splitting *s = costate_splitting_new(&P, 1, &part);
    const costate_preconditioner *B = costate_splitting_preconditioner(s);
    double again = HUGE_VAL;
    for (int k = 0; k < REPEAT; k++) {
        double start = clock_now();
        if (B->setup(200 + k, &at, B->ctx)) exit(1);
        if (k > 0) again = fmin(again, clock_now() - start);
    }
    for (int i = 0; i < d.n; i++) c[i] = c[2 * d.n + i] = -0.3, c[d.n + i] = 0.7;
    printf(" | %6d %5.2f %5.2f %6.2f %5.2f", d.stride, least(&d, B, 0, NULL, x), least(&d, B, 1, NULL, x),
           least(&d, NULL, 0, c, x), 1e9 * again / d.n);
    costate_splitting_free(s);
}

int main(void)
{
    static const int grids[][4] = {{2, 64, 64, 1}, {2, 256, 256, 1}, {1, 64, 64, 64}, {1, 1000, 1000, 1}};
    for (int kind = 0; kind < 4; kind++)
        for (int g = 0; g < 4; g++) {
            const int *size = grids[g];
            int n = size[0] * size[1] * size[2] * size[3], stride = size[0];
            double *x = malloc(4 * (size_t)n * sizeof *x);
            if (!x) return 1;
            printf("%s, %s, %d x %d x %d x %d", kind < 2 ? "equal" : "different", kind % 2 ? "periodic" : "open",
                   size[0], size[1], size[2], size[3]);
            for (int j = 1; j <= (size[3] > 1 ? 3 : 2); stride *= size[j++])
                time_of((dimension){n, size[0], size[j], stride, kind / 2, kind % 2}, x, x + n);
            printf("\n");
            fflush(stdout);
            free(x);
        }
    return 0;
}
