/* 32_three_factors.c - a tumour that grows in three dimensions: three factors, and how its size depends on its seed.

       u' = D Laplacian u + r u (1 - u),     nothing passes the walls of the unit cube             (Fisher's equation)

   u is the density of cells.  The functional is their total at t = 1; wanted is its gradient with respect to D, r and
   the whole initial field of 40 x 40 x 40 values.

   The matrix of the W-method w6s4os is sigma (I - A1/sigma)(I - A2/sigma)(I - A3/sigma), one tridiagonal matrix for
   diffusion along each dimension, so that a stage takes one pass over the lines of each.  The reaction is left out: it
   is not stiff.  P may be too soft for a W-method with three factors or more; the run measures that with f_tangent, and
   its message says so.

   Checked: rock4, an explicit method that knows nothing of this, finds the same gradient. */
#include <costate/operators.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SIDE = 40, N = SIDE * SIDE * SIDE };
static const double per_dx2 = SIDE * SIDE;

/* out += D Laplacian u, which is symmetric */
static void diffuse(double D, const double *u, double *out)
{
    for (int stride = 1; stride < N; stride *= SIDE)
        for (int i = 0; i < N; i++) {
            if (i / stride % SIDE == SIDE - 1) continue;
            double flux = D * per_dx2 * (u[i + stride] - u[i]);
            out[i] += flux;
            out[i + stride] -= flux;
        }
}

static int f(const costate_point *x, double *out, void *ctx)
{
    for (int i = 0; i < N; i++) out[i] = x->p[1] * x->y[i] * (1 - x->y[i]);
    diffuse(x->p[0], x->y, out);
    return (void)ctx, 0;
}

static int f_tangent(const costate_point *x, const costate_point *dx, double *out, void *ctx)
{
    memset(out, 0, N * sizeof *out);
    for (int i = 0; dx->y && i < N; i++) out[i] = x->p[1] * (1 - 2 * x->y[i]) * dx->y[i];
    for (int i = 0; dx->p && i < N; i++) out[i] += dx->p[1] * x->y[i] * (1 - x->y[i]);
    if (dx->y) diffuse(x->p[0], dx->y, out);
    if (dx->p) diffuse(dx->p[0], x->y, out);
    return (void)ctx, 0;
}

static int f_adjoint(const costate_point *x, const double *w, const costate_gradient *g, void *ctx)
{
    double *space = ctx;
    if (g->y) diffuse(x->p[0], w, g->y);
    for (int i = 0; g->y && i < N; i++) g->y[i] += x->p[1] * (1 - 2 * x->y[i]) * w[i];
    if (!g->p) return 0;
    memset(space, 0, N * sizeof *space);
    diffuse(1, x->y, space);
    for (int i = 0; i < N; i++) {
        g->p[0] += w[i] * space[i];
        g->p[1] += w[i] * x->y[i] * (1 - x->y[i]);
    }
    return 0;
}

/* diffusion along one dimension: neighbours are *ctx unknowns apart */
static int lines(const costate_point *x, double *lower, double *diagonal, double *upper, void *ctx)
{
    const int stride = *(const int *)ctx;
    for (int i = 0; i < N; i++) {
        int k = i / stride % SIDE;
        lower[i] = k > 0 ? x->p[0] * per_dx2 : 0;
        upper[i] = k < SIDE - 1 ? x->p[0] * per_dx2 : 0;
        diagonal[i] = -lower[i] - upper[i];
    }
    return 0;
}

/* the total at t = 1, its gradient with respect to the initial field (lambda) and to D and r (mu); NaN: it failed */
static double grow(const char *method, const costate_problem *problem, const costate_options *options, double *y,
                   double *lambda, double *mu)
{
    const double p[] = {0.1, 4};
    double total = 0;
    costate *c = costate_new(costate_method_find(method), problem, options);
    costate_tape *tape = costate_tape_new();
    for (int i = 0; i < N; i++) {
        double r2 = pow((i % SIDE + 0.5) / SIDE - 0.4, 2) + pow((i / SIDE % SIDE + 0.5) / SIDE - 0.5, 2) +
                    pow((i / (SIDE * SIDE) + 0.5) / SIDE - 0.6, 2);
        y[i] = 0.2 * exp(-40 * r2);
        lambda[i] = 1.0 / N;
    }
    mu[0] = mu[1] = 0;
    int status = costate_integrate(c, 0, 1, y, p, tape);
    if (status == COSTATE_OK) status = costate_adjoint(c, tape, 1, lambda, mu, NULL, NULL);
    for (int i = 0; i < N; i++) total += y[i] / N;
    const costate_stats *s = costate_get_stats(c);
    printf("%s: %ld steps, %ld f, %ld products, %ld solves\n%s\n", method, s->steps, s->f, s->adjoints, s->solves,
           costate_message(c));
    printf("    total %.6f, by D %.5f, by r %.5f\n", total, mu[0], mu[1]);
    costate_tape_free(tape);
    costate_free(c);
    return status == COSTATE_OK ? total : NAN;
}

int main(void)
{
    double *memory = calloc(4 * (size_t)N, sizeof *memory), mu[2], expected[2], gap = 0, size = 0;
    if (!memory) return 1;
    double *y = memory, *lambda = y + N, *other = y + 2 * N, *space = y + 3 * N;
    int stride[] = {1, SIDE, SIDE * SIDE};
    costate_part parts[3];
    for (int j = 0; j < 3; j++)
        parts[j] = (costate_part){.lines = lines, .points = SIDE, .stride = stride[j], .ctx = &stride[j]};
    const costate_problem problem = {.n = N, .np = 2, .ctx = space,
                                     .rhs = {.value = f, .tangent = f_tangent, .adjoint = f_adjoint}};
    costate_splitting *splitting = costate_splitting_new(&problem, 3, parts);
    const costate_options adi = {.rtol = 1e-6, .atol = 1e-6, .autonomous = 1, .solver = COSTATE_LS_PRECONDITIONER,
                                 .preconditioner = costate_splitting_preconditioner(splitting)};
    const costate_options explicit_steps = {.rtol = 1e-7, .atol = 1e-7};

    double total = grow("w6s4os", &problem, &adi, y, lambda, mu);
    double true_total = grow("rock4", &problem, &explicit_steps, y, other, expected);
    for (int i = 0; i < N; i++) {
        gap += pow(lambda[i] - other[i], 2);
        size += pow(other[i], 2);
    }
    double worst = fmax(sqrt(gap / size), fabs(total / true_total - 1));
    for (int j = 0; j < 2; j++) worst = fmax(worst, fabs(mu[j] / expected[j] - 1));
    printf("largest relative difference of the totals and the gradients: %.1e\n", worst);
    costate_splitting_free(splitting);
    free(memory);
    return !(worst < 2e-4);
}
