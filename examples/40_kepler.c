/* 40_kepler.c - ten thousand revolutions of a planet, with energy and angular momentum kept by projection.

       x' = v,   v' = -p x / |x|^3,   energy |v|^2/2 - p/|x|,   angular momentum x_0 v_1 - x_1 v_0

   A Runge-Kutta method loses energy in each revolution, so that the period changes and the phase error grows with the
   square of the time. With costate_projection_after_step both invariants keep their initial values to round-off, the
   phase error grows linearly, and the solution after 10^4 periods is still right. The gradient of the final position
   with respect to the strength p of attraction is exact for the steps taken, with the projections; it is compared with
   the one that Kepler's third law gives.

       40_kepler [FILE]       writes period, error of the position and of the energy, without and with projection */
#include <costate/pieces.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { N = 4, KEPT = 2, PERIODS = 10000 };
static const double PI = 3.14159265358979323846, ECCENTRICITY = 0.3;

/* ---- the problem ---- */

static double cubed(const double *y) { double r2 = y[0] * y[0] + y[1] * y[1]; return r2 * sqrt(r2); }

static int planet(const costate_point *x, double *out, void *ctx)
{
    const double *y = x->y, by = -x->p[0] / cubed(y);
    out[0] = y[2];
    out[1] = y[3];
    out[2] = by * y[0];
    out[3] = by * y[1];
    return (void)ctx, 0;
}

/* g += (f_y, f_p)^T w */
static int planet_adjoint(const costate_point *x, const double *w, const costate_gradient *g, void *ctx)
{
    const double *y = x->y, p = x->p[0], r3 = cubed(y), r2 = y[0] * y[0] + y[1] * y[1];
    double along = w[2] * y[0] + w[3] * y[1];
    for (int i = 0; g->y && i < 2; i++) {
        g->y[i] += p / r3 * (3 * along * y[i] / r2 - w[2 + i]);
        g->y[2 + i] += w[i];
    }
    if (g->p) g->p[0] -= along / r3;
    return (void)ctx, 0;
}

static int invariants(const costate_point *x, double *g, void *ctx)
{
    const double *y = x->y;
    g[0] = (y[2] * y[2] + y[3] * y[3]) / 2 - x->p[0] / sqrt(y[0] * y[0] + y[1] * y[1]);
    g[1] = y[0] * y[3] - y[1] * y[2];
    return (void)ctx, 0;
}

static int invariants_tangent(const costate_point *x, const costate_point *dx, double *out, void *ctx)
{
    static const double none[N];
    const double *y = x->y, *d = dx->y ? dx->y : none, by = x->p[0] / cubed(y);
    double dp = dx->p ? dx->p[0] : 0;
    out[0] = y[2] * d[2] + y[3] * d[3] + by * (y[0] * d[0] + y[1] * d[1]) - dp / sqrt(y[0] * y[0] + y[1] * y[1]);
    out[1] = d[0] * y[3] + y[0] * d[3] - d[1] * y[2] - y[1] * d[2];
    return (void)ctx, 0;
}

static int invariants_adjoint(const costate_point *x, const double *w, const costate_gradient *g, void *ctx)
{
    const double *y = x->y, by = x->p[0] / cubed(y);
    if (g->y) {
        g->y[0] += by * y[0] * w[0] + y[3] * w[1];
        g->y[1] += by * y[1] * w[0] - y[2] * w[1];
        g->y[2] += y[2] * w[0] - y[1] * w[1];
        g->y[3] += y[3] * w[0] + y[0] * w[1];
    }
    if (g->p) g->p[0] -= w[0] / sqrt(y[0] * y[0] + y[1] * y[1]);
    return (void)ctx, 0;
}

/* g += ((g_y^T w)_y dx + ..., ...): gradients move the state, so they need this curvature, too */
static int invariants_adjoint_tangent(const costate_point *x, const costate_point *dx, const double *w,
                                      const costate_gradient *g, void *ctx)
{
    static const double none[N];
    const double *y = x->y, *d = dx->y ? dx->y : none, p = x->p[0], r3 = cubed(y), r2 = y[0] * y[0] + y[1] * y[1];
    double dp = dx->p ? dx->p[0] : 0, along = y[0] * d[0] + y[1] * d[1];
    for (int i = 0; g->y && i < 2; i++) {
        g->y[i] += w[0] * (p * d[i] / r3 - 3 * p * along * y[i] / (r2 * r3) + dp * y[i] / r3);
        g->y[2 + i] += w[0] * d[2 + i];
    }
    if (g->y) {
        g->y[0] += w[1] * d[3];
        g->y[1] -= w[1] * d[2];
        g->y[2] -= w[1] * d[1];
        g->y[3] += w[1] * d[0];
    }
    if (g->p) g->p[0] += w[0] * along / r3;
    return (void)ctx, 0;
}

/* ---- runs ---- */

static const double P[] = {1};

/* the perihelion; period 2 pi */
static void start(double *y)
{
    memset(y, 0, (N + KEPT) * sizeof *y);
    y[0] = 1 - ECCENTRICITY;
    y[3] = sqrt((1 + ECCENTRICITY) / (1 - ECCENTRICITY));
}

typedef struct { double position, energy; } errors;

/* relative to the start, where the planet is again after whole periods */
static errors errors_of(const double *y)
{
    double at[N + KEPT], g[KEPT], before[KEPT];
    costate_point x = {.y = y, .p = P}, first = {.y = at, .p = P};
    start(at);
    invariants(&x, g, NULL);
    invariants(&first, before, NULL);
    return (errors){hypot(y[0] - at[0], y[1] - at[1]), fabs(g[0] / before[0] - 1)};
}

static costate_problem problem_of(int projected, costate_projection **projection)
{
    costate_problem problem = {.n = N, .np = 1, .rhs = {.value = planet, .adjoint = planet_adjoint}};
    const costate_invariants kept = {
        .count = KEPT, .keep = 1,
        .g = {.value = invariants, .tangent = invariants_tangent, .adjoint = invariants_adjoint,
              .adjoint_tangent = invariants_adjoint_tangent}};
    *projection = NULL;
    if (!projected) return problem;
    problem.nm = KEPT;
    costate_projection_after_step(&kept, &problem, projection, NULL);
    return problem;
}

/* PERIODS revolutions, ten times as many in each part; *steps: how many were taken */
static errors revolve(int projected, FILE *out, long *steps)
{
    costate_projection *projection;
    costate_problem problem = problem_of(projected, &projection);
    costate_options options = {.rtol = 1e-8, .atol = 1e-8, .max_steps = 100000000, .warm = 1};
    costate *c = costate_new(costate_method_find("dopri853"), &problem, &options);
    double y[N + KEPT];
    errors e = {0};
    start(y);
    for (int done = 0, part = 1; done < PERIODS; done += part) {
        part = done < 10 ? 1 : done < 100 ? 10 : done < 1000 ? 100 : 1000;
        if (costate_integrate(c, 2 * PI * done, 2 * PI * (done + part), y, P, NULL) != COSTATE_OK) {
            puts(costate_message(c));
            e.position = NAN;
            break;
        }
        e = errors_of(y);
        if (out) fprintf(out, "%d %d %.3e %.3e\n", projected, done + part, e.position, e.energy);
    }
    *steps = costate_get_stats(c)->accepted;
    costate_free(c);
    costate_projection_free(projection);
    return e;
}

/* d x_1(T)/dp after some revolutions: the phase is proportional to sqrt(p (2/r - v^2/p)^3), r and v at the start */
static double gradient(int periods, double *law)
{
    costate_projection *projection;
    costate_problem problem = problem_of(1, &projection);
    costate_options options = {.rtol = 1e-10, .atol = 1e-10, .max_steps = 100000000};
    costate *c = costate_new(costate_method_find("dopri853"), &problem, &options);
    costate_tape *tape = costate_tape_new();
    double y[N + KEPT], lambda[N + KEPT] = {0, 1}, mu[] = {0}, T = 2 * PI * periods;
    start(y);
    double r = y[0], v = y[3], a = 2 / r - v * v;                   /* 1/a of the orbit: 2/r - v^2/p */
    int status = costate_integrate(c, 0, T, y, P, tape);
    if (status == COSTATE_OK) status = costate_adjoint(c, tape, 1, lambda, mu, NULL, NULL);
    if (status != COSTATE_OK) puts(costate_message(c));
    *law = v * T * (1 + 3 * v * v / a) / 2;                         /* velocity times T d ln(frequency)/dp */
    costate_tape_free(tape);
    costate_free(c);
    costate_projection_free(projection);
    return status == COSTATE_OK ? mu[0] : NAN;
}

int main(int argc, char **argv)
{
    FILE *out = argc > 1 ? fopen(argv[1], "w") : NULL;
    errors e[2];
    if (argc > 1 && !out) return perror(argv[1]), 1;
    printf("%d periods, rtol = 1e-8        steps  error of x  of energy\n", PERIODS);
    for (int projected = 0; projected < 2; projected++) {
        long steps;
        e[projected] = revolve(projected, out, &steps);
        printf("%-27s %9ld %11.1e %10.1e\n", projected ? "dopri853 with projection" : "dopri853", steps,
               e[projected].position, e[projected].energy);
    }
    double law, by_sweep = gradient(100, &law);
    printf("d x_1/dp after 100 periods: %.6f, by Kepler's third law %.6f\n", by_sweep, law);
    if (out) fclose(out);
    return !(e[1].energy < 1e-14 && e[1].position < e[0].position / 100 && fabs(by_sweep / law - 1) < 1e-5);
}
