/* 41_positive.c - concentrations that must not become negative, at loose tolerances.

   Robertson's kinetics to t = 1e11. Where an error of the size of the tolerance makes the first concentration negative,
   the exact solution through this point goes to minus infinity: the run returns -5e7 with an error test that was met
   at every step. With costate_bounds_after_step the same run, with the same steps up to there, stays with the truth.
   costate_stats says how often a bound acted and by how much of the tolerance; the gradient is exact for these steps,
   with a derivative of 0 where a component was outside. */
#include <costate/pieces.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { N = 3, NP = 3 };
static const double K[NP] = {0.04, 3e7, 1e4}, T = 1e11;

static int kinetics(const costate_point *x, double *out, void *ctx)
{
    const double *y = x->y, *k = x->p, a = k[0] * y[0], b = k[2] * y[1] * y[2], c = k[1] * y[1] * y[1];
    out[0] = b - a;
    out[1] = a - b - c;
    out[2] = c;
    return (void)ctx, 0;
}

static int kinetics_tangent(const costate_point *x, const costate_point *dx, double *out, void *ctx)
{
    static const double none[N];
    const double *y = x->y, *k = x->p, *d = dx->y ? dx->y : none, *e = dx->p ? dx->p : none;
    double a = k[0] * d[0] + e[0] * y[0];
    double b = k[2] * (d[1] * y[2] + y[1] * d[2]) + e[2] * y[1] * y[2], c = 2 * k[1] * y[1] * d[1] + e[1] * y[1] * y[1];
    out[0] = b - a;
    out[1] = a - b - c;
    out[2] = c;
    return (void)ctx, 0;
}

static int kinetics_adjoint(const costate_point *x, const double *w, const costate_gradient *g, void *ctx)
{
    const double *y = x->y, *k = x->p, a = w[1] - w[0], b = w[0] - w[1], c = w[2] - w[1];
    if (g->y) {
        g->y[0] += a * k[0];
        g->y[1] += b * k[2] * y[2] + 2 * c * k[1] * y[1];
        g->y[2] += b * k[2] * y[1];
    }
    if (g->p) {
        g->p[0] += a * y[0];
        g->p[1] += c * y[1] * y[1];
        g->p[2] += b * y[1] * y[2];
    }
    return (void)ctx, 0;
}

static int jacobian(const costate_point *x, double *J, void *ctx)
{
    const double *y = x->y, *k = x->p;
    const double of[N * N] = {-k[0], k[0], 0,
                              k[2] * y[2], -k[2] * y[2] - 2 * k[1] * y[1], 2 * k[1] * y[1],
                              k[2] * y[1], -k[2] * y[1], 0};
    memcpy(J, of, sizeof of);
    return (void)ctx, 0;
}

typedef struct { double y[N], gap; long corrections; double size; } result;

/* a run, and how far its gradient is from the transpose of its tangents */
static result run(const char *method, double rtol, int bounded)
{
    static const double low[N] = {0, 0, 0}, start[N] = {1, 0, 0};
    costate_bounds bounds = {.low = low};
    costate_problem problem = {.n = N, .np = NP, .jac = jacobian,
                               .rhs = {.value = kinetics, .tangent = kinetics_tangent, .adjoint = kinetics_adjoint}};
    if (bounded) costate_bounds_after_step(&bounds, &problem, NULL);
    costate_options options = {.rtol = rtol, .atol = 1e-2 * rtol};
    costate *c = costate_new(costate_method_find(method), &problem, &options);
    costate_tape *tape = costate_tape_new();
    double lambda[N] = {1, -2, 3}, mu[NP] = {0}, V[N] = {0.3, 0.1, -0.4}, Vp[NP] = {0.01, -2e6, 3e3};
    result r = {.gap = NAN};
    memcpy(r.y, start, sizeof start);
    int status = costate_integrate(c, 0, T, r.y, K, tape);
    double right = 0, size = 0, left = 0;
    if (status == COSTATE_OK) status = costate_adjoint(c, tape, 1, lambda, mu, NULL, NULL);
    for (int i = 0; i < N; i++) {
        right += lambda[i] * V[i] + mu[i] * Vp[i];
        size += fabs(lambda[i] * V[i]) + fabs(mu[i] * Vp[i]);
    }
    if (status == COSTATE_OK) status = costate_tangent(c, tape, 1, V, Vp, NULL, NULL);
    if (status != COSTATE_OK) puts(costate_message(c));
    else left = V[0] - 2 * V[1] + 3 * V[2];
    r.gap = fabs(left - right) / size;
    r.corrections = costate_get_stats(c)->corrections;
    r.size = costate_get_stats(c)->correction;
    costate_tape_free(tape);
    costate_free(c);
    return r;
}

int main(void)
{
    static const char *const methods[] = {"radau2a", "kvaerno54", "sdirk4a"};
    double worst = 0, gap = 0;
    puts("t = 1e11           rtol     y_0 free   y_0 bounded  y_2 bounded  bound acted  by (tolerances)");
    for (int k = 0; k < 3; k++)
        for (double rtol = 1e-2; rtol > 5e-5; rtol /= 10) {
            result is_free = run(methods[k], rtol, 0), r = run(methods[k], rtol, 1);
            printf("%-12s %10.0e %12.3g %13.3g %12.6f %12ld %12.2g\n", methods[k], rtol, is_free.y[0], r.y[0], r.y[2],
                   r.corrections, r.size);
            worst = fmax(worst, fmax(fabs(r.y[2] - 1), fabs(r.y[0])));
            gap = fmax(gap, r.gap);
        }
    printf("largest error with bounds %.1e, gap between gradient and tangent %.0e\n", worst, gap);
    return !(worst < 1e-3 && gap < 1e-12);
}
