/* 21_orbit.c - the limit cycle of a chemical oscillator, the Brusselator: its period, which is not known, and the
   period's gradient by both concentrations that feed it.

       x' = A + x^2 y - (B + 1) x,  y' = B x - x^2 y

   Time is scaled by the period, s = t/T in [0, 1], and T is a state: T' = 0.  Three conditions: x and y are the same at
   both ends, and, as an orbit may begin anywhere, the phase x(0) = A, where every orbit passes.  The conditions couple
   both ends: no shooting and no separation is needed for that.

   A second truth: the equations run for a long time from anywhere, until the cycle has drawn them in, and events note
   the times when x passes A upwards.  The period is the time between two of them, its gradient the difference of those
   of two times, by sweeps back through all that was before. */
#include <costate/bvp.h>
#include <math.h>
#include <stdio.h>

enum { A, B, NP };
enum { X, Y, T, N };
static const double feed[NP] = {1, 3};

/* ---- the reaction: its rates, and g += their transposed derivatives times w ---- */

static void rates(const double *y, const double *p, double *out)
{
    out[X] = p[A] + y[X] * y[X] * y[Y] - (p[B] + 1) * y[X];
    out[Y] = p[B] * y[X] - y[X] * y[X] * y[Y];
}
static void by_state(const double *y, const double *p, double J[2][2])
{
    J[X][X] = 2 * y[X] * y[Y] - (p[B] + 1);
    J[X][Y] = y[X] * y[X];
    J[Y][X] = p[B] - 2 * y[X] * y[Y];
    J[Y][Y] = -y[X] * y[X];
}
static void add_adjoint(const double *y, const double *p, double scale, const double *w, const costate_gradient *g)
{
    double J[2][2];
    by_state(y, p, J);
    for (int j = 0; g->y && j < 2; j++) g->y[j] += scale * (J[X][j] * w[X] + J[Y][j] * w[Y]);
    if (!g->p) return;
    g->p[A] += scale * w[X];
    g->p[B] += scale * y[X] * (w[Y] - w[X]);
}

/* ---- as a boundary value problem: (x, y, T) over s ---- */

static int scaled(const costate_point *at, double *out, void *ctx)
{
    rates(at->y, at->p, out);
    out[X] *= at->y[T];
    out[Y] *= at->y[T];
    out[T] = 0;
    return (void)ctx, 0;
}
static int scaled_jac(const costate_point *at, double *by_y, void *ctx)
{
    double J[2][2], r[2];
    by_state(at->y, at->p, J);
    rates(at->y, at->p, r);
    for (int i = 0; i < 2; i++) {
        for (int j = 0; j < 2; j++) by_y[i + N * j] = at->y[T] * J[i][j];
        by_y[i + N * T] = r[i];
    }
    for (int j = 0; j < N; j++) by_y[T + N * j] = 0;
    return (void)ctx, 0;
}
static int scaled_adjoint(const costate_point *at, const double *w, const costate_gradient *g, void *ctx)
{
    double r[2];
    rates(at->y, at->p, r);
    add_adjoint(at->y, at->p, at->y[T], w, g);
    if (g->y) g->y[T] += r[X] * w[X] + r[Y] * w[Y];
    return (void)ctx, 0;
}

/* at->y: the state at s = 0, then that at s = 1 */
static int closed(const costate_point *at, double *out, void *ctx)
{
    const double *start = at->y, *end = at->y + N;
    out[0] = end[X] - start[X];
    out[1] = end[Y] - start[Y];
    out[2] = start[X] - at->p[A];
    return (void)ctx, 0;
}
static int closed_adjoint(const costate_point *at, const double *w, const costate_gradient *g, void *ctx)
{
    if (g->y) {
        g->y[X] += w[2] - w[0];
        g->y[Y] -= w[1];
        g->y[N + X] += w[0];
        g->y[N + Y] += w[1];
    }
    if (g->p) g->p[A] -= w[2];
    return (void)at, (void)ctx, 0;
}

/* ---- as an initial value problem, with an event where x passes A upwards ---- */

static int f(const costate_point *at, double *out, void *ctx) { return (void)ctx, rates(at->y, at->p, out), 0; }
static int f_adjoint(const costate_point *at, const double *w, const costate_gradient *g, void *ctx)
{
    return (void)ctx, add_adjoint(at->y, at->p, 1, w, g), 0;
}
static int phase(const costate_point *at, double *out, void *ctx)
{
    return (void)ctx, out[0] = at->y[X] - at->p[A], 0;
}
static int phase_adjoint(const costate_point *at, const double *w, const costate_gradient *g, void *ctx)
{
    if (g->y) g->y[X] += w[0];
    if (g->p) g->p[A] -= w[0];
    return (void)at, (void)ctx, 0;
}

typedef struct { costate *solver; costate_tape *tape; double y[2], t[2], by_p[2][NP]; } run;

/* on to passage k: its time, and the derivatives of this time, beside those of the passage before */
static int passage(run *z, int k)
{
    double lambda[2] = {0, 0}, one = 1, long_after = 1e3, *by_p = z->by_p[k % 2];
    costate_times times = {.end = &one};
    int status = k ? costate_continue(z->solver, z->tape, long_after, z->y)
                   : costate_integrate(z->solver, 0, long_after, z->y, feed, z->tape);
    by_p[A] = by_p[B] = 0;
    z->t[k % 2] = costate_time(z->solver);
    if (status == COSTATE_OK) status = costate_adjoint(z->solver, z->tape, 1, lambda, by_p, &times, NULL);
    if (status != COSTATE_OK) puts(costate_message(z->solver));
    return status;
}

/* after count passages: the time between the last two, and its gradient.  run_free in the end */
static int by_long_run(run *z, double tol, int count, double *period, double *by_p)
{
    static const costate_event upwards = {.guard = {.value = phase, .adjoint = phase_adjoint}, .direction = 1,
                                          .terminal = 1};
    static const costate_problem problem = {.n = 2, .np = NP, .rhs = {.value = f, .adjoint = f_adjoint}, .nevents = 1,
                                            .event = &upwards};
    costate_options options = {.rtol = tol, .atol = tol, .autonomous = 1};
    *z = (run){.solver = costate_new(costate_method_find("dopri853"), &problem, &options),
               .tape = costate_tape_new(), .y = {2, 2}};
    int status = COSTATE_OK, last = (count - 1) % 2;
    for (int k = 0; k < count && status == COSTATE_OK; k++) status = passage(z, k);
    *period = z->t[last] - z->t[1 - last];
    for (int i = 0; i < NP; i++) by_p[i] = z->by_p[last][i] - z->by_p[1 - last][i];
    return status;
}
static void run_free(run *z)
{
    costate_tape_free(z->tape);
    costate_free(z->solver);
}

/* ---- the orbit ---- */

enum { GUESSED = 21 };

/* (x, y, T) at equidistant points of the last turn of a rough run */
static int rough(double guess[GUESSED][N])
{
    run z;
    double period, by_p[NP];
    int status = by_long_run(&z, 1e-2, 4, &period, by_p);
    for (int k = 0; k < GUESSED && status == COSTATE_OK; k++) {
        double back = (GUESSED - 1 - k) * period / (GUESSED - 1);
        status = costate_tape_eval(z.solver, z.tape, z.t[1] - back, guess[k]);
        guess[k][T] = period;
    }
    run_free(&z);
    return status;
}

static int by_bvp(double *period, double *by_p)
{
    static double guess[GUESSED][N];
    costate_problem problem = {.n = N, .np = NP, .rhs = {.value = scaled, .adjoint = scaled_adjoint},
                               .jac = scaled_jac};
    costate_conditions conditions = {.map = {.value = closed, .adjoint = closed_adjoint}, .count = N};
    costate_bvp_options options = {.rtol = 1e-10, .atol = 1e-10};
    costate_bvp *b = costate_bvp_new(costate_method_find("gauss4"), &problem, &conditions, &options);
    double start = 0, state[N] = {0}, lambda[N] = {[T] = 1};
    costate_bvp_adjoints back = {.m = 1, .points = 1, .t = &start, .lambda = lambda, .mu = by_p};
    int status = rough(guess);
    if (status == COSTATE_OK) status = costate_bvp_guess(b, GUESSED, NULL, guess[0]);
    if (status == COSTATE_OK) status = costate_bvp_solve(b, 0, 1, feed);
    if (status == COSTATE_OK) status = costate_bvp_eval(b, start, state);
    if (status == COSTATE_OK) status = costate_bvp_adjoint(b, &back);
    if (status != COSTATE_OK) puts(costate_bvp_message(b));
    *period = state[T];
    printf("a guess of %d points with T = %.2f; gauss4: %d intervals, %d iterations\n", GUESSED, guess[0][T],
           costate_bvp_intervals(b), costate_bvp_get_stats(b)->iterations);
    costate_bvp_free(b);
    return status;
}

int main(void)
{
    run z;
    double period, by_p[NP] = {0}, other, other_by_p[NP];
    if (by_bvp(&period, by_p) != COSTATE_OK) return 1;
    int status = by_long_run(&z, 1e-12, 12, &other, other_by_p), steps = costate_tape_steps(z.tape);
    run_free(&z);
    if (status != COSTATE_OK) return 1;
    printf("%-32s period %.10f, by A %.9f, by B %.9f\n", "boundary value problem:", period, by_p[A], by_p[B]);
    printf("12 turns in %4d steps, events:   period %.10f, by A %.9f, by B %.9f\n", steps, other, other_by_p[A],
           other_by_p[B]);
    double error = fabs(period / other - 1);
    for (int i = 0; i < NP; i++) error = fmax(error, fabs(by_p[i] / other_by_p[i] - 1));
    printf("largest relative difference: %.1e\n", error);
    return !(error < 1e-8);
}
