/* 30_sensitivity_map.c - where and when would a small wave have changed the water level at one point and time?

       h_t + q_x = nu h_xx,   q_t + (q^2/h + g h^2/2)_x = nu q_xx          shallow water in a ring of 10 m

   The functional is the level h in the middle at t = 2 s, where a hump has started two waves.  Its adjoint lambda(t) is
   the gradient with respect to the state at every earlier time: two lines of influence, which run back from the middle
   at the speed of waves.  options.on_back sees it at each step of the sweep.

       30_sensitivity_map [file.pgm]       draws lambda_h over x (to the right) and t (upwards); grey: none.  The bar on
                                           the right: the part of each step in the error of the level; black: most

   Checked: along a tangent V(t), the product lambda(t)^T V(t) is the same at every step; the parts of the steps, which
   costate_accuracy estimates, add up to the error. */
#include <costate/accuracy.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CELLS = 200, N = 2 * CELLS, STEPS_MOST = 1000 };
static const double ring = 10, gravity = 9.81, nu = 0.01, t_end = 2;

/* ---- the problem ---- */

static int left_of(int i) { return (i + CELLS - 1) % CELLS; }
static int right_of(int i) { return (i + 1) % CELLS; }

/* out_i = -(F_i+1 - F_i-1)/(2 dx) + nu (u_i+1 - 2 u_i + u_i-1)/dx^2 */
static void transport(const double *F, const double *u, double *out)
{
    const double dx = ring / CELLS;
    for (int i = 0; i < CELLS; i++) {
        int l = left_of(i), r = right_of(i);
        out[i] = (F[l] - F[r]) / (2 * dx) + nu * (u[r] - 2 * u[i] + u[l]) / (dx * dx);
    }
}

static int rhs(const costate_point *x, double *f, void *ctx)
{
    const double *h = x->y, *q = x->y + CELLS;
    double F[CELLS];
    for (int i = 0; i < CELLS; i++) F[i] = q[i] * q[i] / h[i] + gravity * h[i] * h[i] / 2;
    transport(q, h, f);
    transport(F, q, f + CELLS);
    return (void)ctx, 0;
}

static int rhs_tangent(const costate_point *x, const costate_point *dx, double *out, void *ctx)
{
    const double *h = x->y, *q = x->y + CELLS;
    double F[CELLS];
    memset(out, 0, N * sizeof *out);
    if (!dx->y) return (void)ctx, 0;
    for (int i = 0; i < CELLS; i++) {
        double u = q[i] / h[i];
        F[i] = 2 * u * dx->y[CELLS + i] + (gravity * h[i] - u * u) * dx->y[i];
    }
    transport(dx->y + CELLS, dx->y, out);
    transport(F, dx->y + CELLS, out + CELLS);
    return 0;
}

static int rhs_adjoint(const costate_point *x, const double *w, const costate_gradient *g, void *ctx)
{
    const double *h = x->y, *q = x->y + CELLS;
    double none[CELLS] = {0}, flux[N], spread[N];
    if (!g->y) return (void)ctx, 0;
    for (int k = 0; k < 2; k++) {
        transport(w + k * CELLS, none, flux + k * CELLS);       /* its transpose is its negative */
        transport(none, w + k * CELLS, spread + k * CELLS);     /* symmetric */
    }
    for (int i = 0; i < CELLS; i++) {
        double u = q[i] / h[i];
        g->y[i] += spread[i] - (gravity * h[i] - u * u) * flux[CELLS + i];
        g->y[CELLS + i] += spread[CELLS + i] - flux[i] - 2 * u * flux[CELLS + i];
    }
    return 0;
}

/* ---- what the sweep shows ---- */

typedef struct {
    int steps;
    double t[STEPS_MOST], by_h[STEPS_MOST][CELLS];
    double product[STEPS_MOST];             /* lambda(t)^T V(t) */
    double (*V)[N];                         /* at the start of each step */
} map;

static int keep(int step, double t, double h, const double *y, int m, const double *lambda, const double *mu, void *ctx)
{
    map *a = ctx;
    (void)h, (void)y, (void)m, (void)mu;
    a->t[step] = t;
    memcpy(a->by_h[step], lambda, sizeof a->by_h[step]);
    a->product[step] = 0;
    for (int i = 0; i < N; i++) a->product[step] += lambda[i] * a->V[step][i];
    return 0;
}

/* The tangent at the start of each step: over the tape, seen at these times. */
typedef struct { double (*V)[N]; } seen;
static int see(int k, double t, const double *y, int m, const double *V, void *ctx)
{
    const seen *s = ctx;
    (void)t, (void)y, (void)m;
    memcpy(s->V[k], V, N * sizeof *V);
    return 0;
}

enum { BAR = 12 };

static int draw(const map *a, const double *part, const char *path)
{
    FILE *out = fopen(path, "wb");
    double most = 0, most_part = 0;
    if (!out) { perror(path); return 1; }
    for (int k = 0; k < a->steps; k++) {
        for (int i = 0; i < CELLS; i++) most = fmax(most, fabs(a->by_h[k][i]));
        most_part = fmax(most_part, fabs(part[k]));
    }
    fprintf(out, "P5 %d %d 255\n", CELLS + BAR, a->steps);
    for (int k = a->steps - 1; k >= 0; k--) {
        for (int i = 0; i < CELLS; i++) {
            double x = a->by_h[k][i] / most;
            fputc((int)(127.5 - 127 * copysign(sqrt(fabs(x)), x)), out);
        }
        for (int i = 0; i < BAR; i++) fputc((int)(255 * (1 - fabs(part[k]) / most_part)), out);
    }
    return fclose(out);
}

/* ---- the steps that dominate the error ---- */

static int level(double t1, const double *y, const double *p, int m, double *value, double *lambda, double *mu,
                 double *end,
                 void *ctx)
{
    (void)t1, (void)p, (void)m, (void)mu, (void)end, (void)ctx;
    value[0] = y[CELLS / 2];
    lambda[CELLS / 2] = 1;
    return 0;
}

/* prints the error, and the step that has the largest part in it; 0, or 1 */
static int errors(costate *c, const costate_tape *tape, const map *a, double *part)
{
    const costate_functional F = {.m = 1, .at_end = level};
    double error, of_gradient, sum = 0, size = 0;
    costate_estimate e = {.error = {.value = &error}, .y0_error = &of_gradient, .steps = part};
    int worst = 0;
    if (costate_accuracy(c, tape, &F, &e)) { printf("%s\n", costate_message(c)); return 1; }
    for (int k = 0; k < a->steps; k++) {
        sum += part[k];
        size += fabs(part[k]);
        if (fabs(part[k]) > fabs(part[worst])) worst = k;
    }
    printf("estimated error of the level %.1e, of the gradient %.1e of its size; the step at t = %.2f has the "
           "largest part, "
           "%.1e\n", error, of_gradient, a->t[worst], part[worst]);
    return !(fabs(sum - error) < 1e-3 * size);
}

int main(int argc, char **argv)
{
    static map a;
    static double kept[STEPS_MOST][N], times[STEPS_MOST], part[STEPS_MOST];
    costate_problem problem = {.n = N, .rhs = {.value = rhs, .tangent = rhs_tangent, .adjoint = rhs_adjoint}};
    costate_options options = {.rtol = 1e-6, .atol = 1e-6, .autonomous = 1, .gradient_control = 1, .on_back = keep,
                               .on_back_ctx = &a};
    double y[N], V[N], lambda[N] = {0};
    seen s = {kept};
    for (int i = 0; i < CELLS; i++) {
        double x = ring * (i + 0.5) / CELLS;
        y[i] = 1 + 0.2 * exp(-4 * (x - 3) * (x - 3));
        y[CELLS + i] = 0;
        V[i] = sin(3 * x);
        V[CELLS + i] = cos(x);
    }
    costate *c = costate_new(costate_method_find("dopri5"), &problem, &options);
    costate_tape *tape = costate_tape_new();
    int status = costate_integrate(c, 0, t_end, y, NULL, tape);
    a.steps = costate_tape_steps(tape);
    a.V = kept;
    if (status == COSTATE_OK && a.steps > STEPS_MOST) status = COSTATE_MAX_STEPS;
    for (int k = 0; status == COSTATE_OK && k < a.steps; k++) costate_tape_get(tape, k, &times[k], NULL, NULL);
    costate_observations at = {.count = a.steps, .t = times, .value = see, .ctx = &s};
    if (status == COSTATE_OK) status = costate_tangent(c, tape, 1, V, NULL, NULL, &at);
    lambda[CELLS / 2] = 1;
    if (status == COSTATE_OK) status = costate_adjoint(c, tape, 1, lambda, NULL, NULL, NULL);
    if (status != COSTATE_OK) printf("%s\n", costate_message(c));
    double worst = 0;
    for (int k = 0; status == COSTATE_OK && k < a.steps; k++)
        worst = fmax(worst, fabs(a.product[k] - V[CELLS / 2]) / fabs(V[CELLS / 2]));
    printf("%d steps; the level changes by %.6g along the tangent, and by lambda(t)^T V(t) at every step, to %.1e\n",
           a.steps, V[CELLS / 2], worst);
    int failed = status != COSTATE_OK || !(worst < 1e-10);
    if (!failed) failed = errors(c, tape, &a, part);
    if (!failed && argc > 1) failed = draw(&a, part, argv[1]);
    costate_tape_free(tape);
    costate_free(c);
    return failed;
}
