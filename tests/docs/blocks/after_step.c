/* after_step.c - maps after each step: bounds of three concentrations, two invariants of a planet, an oscillator with
   relaxation, and a CFL bound. */
#include <costate/pieces.h>
#include <math.h>
#include <stddef.h>

typedef struct { int cells; double dx; } channel;

@ ssp static int cfl(const costate_point *x, double *h, void *ctx)

/* A -> B -> C with a source that would take C below 0 */
static int reactions(const costate_point *x, double *out, void *ctx)
{
    double a = x->y[0], b = 100 * x->y[1];
    out[0] = -a;
    out[1] = a - b;
    out[2] = b - 2;
    return (void)ctx, 0;
}

static int with_bounds(void)
{
    costate_problem problem = {.n = 3, .rhs.value = reactions};
    costate_report report;
    double y[] = {1, 0, 0};
    @ after-step static const double low[] = {0, 0, 0};                      /* all concentrations are at least 0 */
    costate *c = costate_new(costate_method_find("dopri5"), &problem, NULL);
    int status = costate_integrate(c, 0, 1, y, NULL, NULL);
    int right = status == COSTATE_OK && y[2] == 0 && costate_get_stats(c)->corrections > 0;
    costate_free(c);
    return !right;
}

static int planet(const costate_point *x, double *out, void *ctx)
{
    const double *y = x->y, r = sqrt(y[0] * y[0] + y[1] * y[1]);
    out[0] = y[2];
    out[1] = y[3];
    out[2] = -y[0] / (r * r * r);
    out[3] = -y[1] / (r * r * r);
    return (void)ctx, 0;
}

static int g_value(const costate_point *x, double *g, void *ctx)
{
    const double *y = x->y;
    g[0] = (y[2] * y[2] + y[3] * y[3]) / 2 - 1 / sqrt(y[0] * y[0] + y[1] * y[1]);
    g[1] = y[0] * y[3] - y[1] * y[2];
    return (void)ctx, 0;
}

static void rows(const double *y, double G[2][4])
{
    double r = sqrt(y[0] * y[0] + y[1] * y[1]), by = 1 / (r * r * r);
    double energy[] = {y[0] * by, y[1] * by, y[2], y[3]}, momentum[] = {y[3], -y[2], -y[1], y[0]};
    for (int i = 0; i < 4; i++) G[0][i] = energy[i], G[1][i] = momentum[i];
}

static int g_tangent(const costate_point *x, const costate_point *dx, double *out, void *ctx)
{
    double G[2][4];
    rows(x->y, G);
    for (int k = 0; k < 2; k++) {
        out[k] = 0;
        for (int i = 0; dx->y && i < 4; i++) out[k] += G[k][i] * dx->y[i];
    }
    return (void)ctx, 0;
}

static int g_adjoint(const costate_point *x, const double *w, const costate_gradient *g, void *ctx)
{
    double G[2][4];
    rows(x->y, G);
    for (int i = 0; g->y && i < 4; i++) g->y[i] += G[0][i] * w[0] + G[1][i] * w[1];
    return (void)ctx, 0;
}

static int with_invariants(void)
{
    const costate_map energy_and_momentum = {.value = g_value, .tangent = g_tangent, .adjoint = g_adjoint};
    costate_problem problem = {.n = 4, .rhs.value = planet};
    costate_report report;
    double y[6] = {0.5, 0, 0, sqrt(3)}, before[2], after[2];
    costate_point x = {.y = y};
    @ after-step costate_invariants invariants = {.count = 2, .g = energy_and_momentum, .keep = 1};
    channel c = {4, 1};
    costate_options o = {.step_bound = cfl};
    problem.ctx = &c;
    costate *s = costate_new(costate_method_find("ssp54"), &problem, &o);
    g_value(&x, before, NULL);
    int status = costate_integrate(s, 0, 50, y, NULL, NULL);
    g_value(&x, after, NULL);
    costate_free(s);
    costate_projection_free(projection);
    return status != COSTATE_OK || fabs(after[0] - before[0]) > 1e-14 || fabs(after[1] - before[1]) > 1e-14;
}

/* a turn whose speed depends on its amplitude */
static int turn(const costate_point *x, double *out, void *ctx)
{
    double r2 = x->y[0] * x->y[0] + x->y[1] * x->y[1];
    out[0] = -x->y[1] / r2;
    out[1] = x->y[0] / r2;
    return (void)ctx, 0;
}

static int square_value(const costate_point *x, double *g, void *ctx)
{
    g[0] = (x->y[0] * x->y[0] + x->y[1] * x->y[1]) / 2;
    return (void)ctx, 0;
}

static int square_tangent(const costate_point *x, const costate_point *dx, double *out, void *ctx)
{
    out[0] = dx->y ? x->y[0] * dx->y[0] + x->y[1] * dx->y[1] : 0;
    return (void)ctx, 0;
}

static int square_adjoint(const costate_point *x, const double *w, const costate_gradient *g, void *ctx)
{
    for (int i = 0; g->y && i < 2; i++) g->y[i] += w[0] * x->y[i];
    return (void)ctx, 0;
}

static int with_relaxation(void)
{
    const costate_map half_square = {.value = square_value, .tangent = square_tangent, .adjoint = square_adjoint};
    costate_problem oscillator = {.n = 2, .rhs.value = turn};
    costate_report report;
    double y[3] = {1, 0};
    @ after-step costate_invariants energy = {.count = 1, .g = half_square, .keep = 1};
    costate_options o = {.controller = COSTATE_FIXED, .h0 = 0.1};
    costate *s = costate_new(costate_method_find("rk4"), &oscillator, &o);
    int status = costate_integrate(s, 0, 10, y, NULL, NULL);
    int right = status == COSTATE_OK && costate_get_stats(s)->corrections > 90 && fabs(y[0] - cos(10)) < 1e-4;
    costate_free(s);
    costate_projection_free(relaxation);
    return !right;
}

int main(void) { return with_bounds() || with_invariants() || with_relaxation(); }
