/* 25_checkpoints.c - the gradient of a long run in little memory: thousands of steps, the states of a hundred.

   Fermi, Pasta and Ulam's chain (Los Alamos report LA-1940, 1955): 64 masses between two walls, springs that are not
   quite linear,

       q_i'' = F_(i+1) - F_i,   F_i = d + alpha d^2,   d = q_i - q_(i-1),   q_(-1) = q_64 = 0

   All energy begins in the first mode, and wanders to others and nearly back.  Wanted is the gradient of the energy of
   that mode at the end by all initial positions and velocities and by alpha.

   A sweep back needs each step's stages.  With COSTATE_CHECKPOINTS the tape keeps some states, and the sweep makes the
   steps between them again; costate_tape_forecast says beforehand how many that are.  What comes out are the bits that
   a tape gives which keeps everything of the same steps. */
#include <costate/costate.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { MASSES = 64, N = 2 * MASSES, STATES = 100 };
static const double end = 2000, pi = 3.14159265358979323846;

static double stretch(const double *q, int i) { return (i < MASSES ? q[i] : 0) - (i > 0 ? q[i - 1] : 0); }

static int f(const costate_point *x, double *out, void *ctx)
{
    const double *q = x->y, alpha = x->p[0];
    memcpy(out, q + MASSES, MASSES * sizeof *out);
    memset(out + MASSES, 0, MASSES * sizeof *out);
    for (int i = 0; i <= MASSES; i++) {
        double d = stretch(q, i), force = d + alpha * d * d;
        if (i < MASSES) out[MASSES + i] -= force;
        if (i > 0) out[MASSES + i - 1] += force;
    }
    return (void)ctx, 0;
}
static int f_adjoint(const costate_point *x, const double *w, const costate_gradient *g, void *ctx)
{
    const double *q = x->y, alpha = x->p[0];
    for (int i = 0; g->y && i < MASSES; i++) g->y[MASSES + i] += w[i];
    for (int i = 0; i <= MASSES; i++) {
        double d = stretch(q, i), by_force = (i > 0 ? w[MASSES + i - 1] : 0) - (i < MASSES ? w[MASSES + i] : 0);
        double by_d = (1 + 2 * alpha * d) * by_force;
        if (g->y && i < MASSES) g->y[i] += by_d;
        if (g->y && i > 0) g->y[i - 1] -= by_d;
        if (g->p) g->p[0] += d * d * by_force;
    }
    return (void)ctx, 0;
}

static double shape(int i) { return sqrt(2.0 / (MASSES + 1)) * sin(pi * (i + 1) / (MASSES + 1)); }

/* (a'^2 + omega^2 a^2)/2, a = the sum of shape_i q_i; and its gradient by y */
static double energy(const double *y, double *by_y)
{
    double omega = 2 * sin(pi / (2 * (MASSES + 1))), a = 0, speed = 0;
    for (int i = 0; i < MASSES; i++) {
        a += shape(i) * y[i];
        speed += shape(i) * y[MASSES + i];
    }
    for (int i = 0; i < MASSES; i++) {
        by_y[i] = omega * omega * a * shape(i);
        by_y[MASSES + i] = speed * shape(i);
    }
    return (speed * speed + omega * omega * a * a) / 2;
}

/* over a tape: lambda is the gradient w.r.t. y at 0, mu that w.r.t. alpha */
static int gradient(costate *c, const costate_tape *tape, const double *y1, double *lambda, double *mu)
{
    energy(y1, lambda);
    *mu = 0;
    return costate_adjoint(c, tape, 1, lambda, mu, NULL, NULL);
}

static double apart(const double *a, const double *b, int count)
{
    double most = 0, size = 0;
    for (int i = 0; i < count; i++) {
        most = fmax(most, fabs(a[i] - b[i]));
        size = fmax(size, fabs(b[i]));
    }
    return most / size;
}

int main(void)
{
    double y0[N] = {0}, y[N], again[N], by_y[N], expected[N], mu, expected_mu, alpha = 0.25;
    for (int i = 0; i < MASSES; i++) y0[i] = 8 * shape(i);
    costate_problem problem = {.n = N, .np = 1, .rhs = {.value = f, .adjoint = f_adjoint}};
    costate_options few = {.rtol = 1e-8, .atol = 1e-8, .storage = COSTATE_CHECKPOINTS, .checkpoints = STATES};
    costate_options all = {.rtol = 1e-8, .atol = 1e-8};
    costate *c = costate_new(costate_method_find("dopri5"), &problem, &few);
    costate *other = costate_new(costate_method_find("dopri5"), &problem, &all);
    costate_tape *tape = costate_tape_new(), *whole = costate_tape_new();
    costate_forecast cost = {0};

    memcpy(y, y0, sizeof y);
    int status = costate_integrate(c, 0, end, y, &alpha, tape);
    if (status == COSTATE_OK) status = costate_tape_forecast(tape, &cost);
    printf("%d steps; energy of the first mode: %.6f, then %.6f\n", cost.steps, energy(y0, by_y), energy(y, by_y));
    printf("forecast of its gradient: %.1f kB, %.2f forward runs\n", cost.bytes / 1e3,
           (double)cost.remade_back / cost.steps);
    if (status == COSTATE_OK) status = gradient(c, tape, y, by_y, &mu);
    long remade = costate_get_stats(c)->remade;
    if (status != COSTATE_OK) puts(costate_message(c));

    memcpy(again, y0, sizeof again);
    if (status == COSTATE_OK) status = costate_replay_onto(other, tape, again, &alpha, whole);
    if (status == COSTATE_OK) status = gradient(other, whole, again, expected, &expected_mu);
    if (status != COSTATE_OK) puts(costate_message(other));
    else printf("by alpha %.9f; all stages in %.1f kB: %.9f\n", mu, costate_tape_bytes(whole) / 1e3, expected_mu);
    double gap = status == COSTATE_OK ? fmax(apart(by_y, expected, N), apart(&mu, &expected_mu, 1)) : NAN;
    printf("largest relative difference of the two gradients: %g\n", gap);

    costate_tape_free(whole);
    costate_tape_free(tape);
    costate_free(other);
    costate_free(c);
    return !(gap == 0 && remade == cost.remade_back);
}
