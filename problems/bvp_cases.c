/* bvp_cases.c - boundary value problems of the race: an arm driven by a torque, and three with layers.

   arm      theta'' = (u(t) - m g l cos theta)/(J + m l^2), u linear between nine nodes, which are parameters; its
            energy as integral; known to 30 digits, computed otherwise
   layer_a  eps y'' + b y' + c y = s: a layer at 0
   layer_b  eps y'' + y y' = 0: a layer at 0, y = c tanh(c (t - t0)/(2 eps))
   layer_c  eps^2 y'' = y - f cos(kappa t): layers at both ends, modes that grow and decay by e^(1/eps)

   The layers have closed solutions, and y^2 as integrand. */
#include "bvp_cases.h"

#include <math.h>
#include <string.h>

/* ---- conditions of all: y(a) and y(b) are parameters ---- */

static int ends(const costate_point *x, double *out, void *ctx)
{
    const bvp_case *z = ctx;
    out[0] = x->y[0] - x->p[z->start];
    out[1] = x->y[2] - x->p[z->end];
    return 0;
}
static int ends_adjoint(const costate_point *x, const double *w, const costate_gradient *g, void *ctx)
{
    const bvp_case *z = ctx;
    if (g->y) {
        g->y[0] += w[0];
        g->y[2] += w[1];
    }
    if (g->p) {
        g->p[z->start] -= w[0];
        g->p[z->end] -= w[1];
    }
    return (void)x, 0;
}

/* ---- arm ---- */

enum { PIECES = 8, START = PIECES + 1, END, M, L, J, G };

static double inertia(const double *p) { return p[J] + p[M] * p[L] * p[L]; }
static double inside(const costate_point *x) { return PIECES * x->t - x->mode; }
static double acceleration(const costate_point *x)
{
    const double *p = x->p, s = inside(x), u = (1 - s) * p[x->mode] + s * p[x->mode + 1];
    return (u - p[M] * p[G] * p[L] * cos(x->y[0])) / inertia(p);
}
static int arm(const costate_point *x, double *out, void *ctx)
{
    out[0] = x->y[1];
    out[1] = acceleration(x);
    return (void)ctx, 0;
}
static int arm_jac(const costate_point *x, double *by_y, void *ctx)
{
    const double *p = x->p;
    by_y[0] = by_y[3] = 0;
    by_y[1] = p[M] * p[G] * p[L] * sin(x->y[0]) / inertia(p);
    by_y[2] = 1;
    return (void)ctx, 0;
}
static int arm_adjoint(const costate_point *x, const double *w, const costate_gradient *g, void *ctx)
{
    const double *p = x->p, s = inside(x), c = cos(x->y[0]), v = w[1] / inertia(p), by_I = -v * acceleration(x);
    if (g->y) {
        g->y[0] += v * p[M] * p[G] * p[L] * sin(x->y[0]);
        g->y[1] += w[0];
    }
    if (g->t) *g->t += v * PIECES * (p[x->mode + 1] - p[x->mode]);
    if (!g->p) return 0;
    g->p[x->mode] += v * (1 - s);
    g->p[x->mode + 1] += v * s;
    g->p[M] += by_I * p[L] * p[L] - v * p[G] * p[L] * c;
    g->p[L] += by_I * 2 * p[M] * p[L] - v * p[M] * p[G] * c;
    g->p[J] += by_I;
    g->p[G] -= v * p[M] * p[L] * c;
    return (void)ctx, 0;
}
static int energy(const costate_point *x, double *out, void *ctx)
{
    const double *p = x->p, *y = x->y;
    out[0] = inertia(p) / 2 * y[1] * y[1] + p[M] * p[G] * p[L] * sin(y[0]);
    return (void)ctx, 0;
}
static int energy_adjoint(const costate_point *x, const double *w, const costate_gradient *g, void *ctx)
{
    const double *p = x->p, *y = x->y, half = w[0] * y[1] * y[1] / 2, s = w[0] * sin(y[0]);
    if (g->y) {
        g->y[0] += w[0] * p[M] * p[G] * p[L] * cos(y[0]);
        g->y[1] += w[0] * inertia(p) * y[1];
    }
    if (!g->p) return 0;
    g->p[M] += half * p[L] * p[L] + s * p[G] * p[L];
    g->p[L] += half * 2 * p[M] * p[L] + s * p[M] * p[G];
    g->p[J] += half;
    g->p[G] += s * p[M] * p[L];
    return (void)ctx, 0;
}
static const double arm_states[][3] = {
    {0, 0, 0.08282322120549214}, {0.125, 0.009701891627932141, 0.082824195167925774},
    {0.25, 0.022659457425876543, 0.1297073245708098}, {0.3, 0.029686685165635843, 0.14971588405666506},
    {0.375, 0.041478672844363726, 0.16098974571225128}, {0.5, 0.059653802666936456, 0.1141970596191435},
    {0.625, 0.066774810513401825, -0.010672769889378524}, {0.75, 0.05633433029757929, -0.15117340817921568},
    {0.875, 0.031257490780447789, -0.2370468426807899}, {1, 0, -0.25266148465696775}};
enum { ARM_STATES = sizeof arm_states / sizeof *arm_states };

static double arm_time(const double *p, int k) { return (void)p, arm_states[k][0]; }
static int arm_known(const double *p, double t, double *y)
{
    int k = 0;
    while (k < ARM_STATES && arm_states[k][0] != t) k++;
    if (k < ARM_STATES) memcpy(y, arm_states[k] + 1, 2 * sizeof *y);
    return (void)p, k < ARM_STATES ? 2 : 0;
}

/* ---- layers: p[0] is eps, and two conditions of y(0), y(1) ---- */

static int square(const costate_point *x, double *out, void *ctx)
{
    return (void)ctx, out[0] = x->y[0] * x->y[0], 0;
}
static int square_adjoint(const costate_point *x, const double *w, const costate_gradient *g, void *ctx)
{
    if (g->y) g->y[0] += 2 * w[0] * x->y[0];
    return (void)ctx, 0;
}

/* y'', its derivatives by y and y', by p, and by t */
typedef struct { double value, by_y[2], by_p[6], by_t; } curvature;

static curvature curvature_a(const costate_point *x)
{
    const double *p = x->p, *y = x->y, v = (p[3] - p[1] * y[1] - p[2] * y[0]) / p[0];
    return (curvature){v, {-p[2] / p[0], -p[1] / p[0]}, {-v / p[0], -y[1] / p[0], -y[0] / p[0], 1 / p[0], 0, 0}, 0};
}
static curvature curvature_b(const costate_point *x)
{
    const double *p = x->p, *y = x->y, v = -y[0] * y[1] / p[0];
    return (curvature){v, {-y[1] / p[0], -y[0] / p[0]}, {-v / p[0]}, 0};
}
static curvature curvature_c(const costate_point *x)
{
    const double *p = x->p, e2 = p[0] * p[0], c = cos(p[2] * x->t), s = p[1] * sin(p[2] * x->t) / e2;
    const double v = (x->y[0] - p[1] * c) / e2;
    return (curvature){v, {1 / e2, 0}, {-2 * v / p[0], -c / e2, x->t * s}, p[2] * s};
}

static int layer(curvature c, const costate_point *x, double *out) { return out[0] = x->y[1], out[1] = c.value, 0; }
static int layer_jac(curvature c, double *by_y)
{
    by_y[0] = 0;
    by_y[1] = c.by_y[0];
    by_y[2] = 1;
    by_y[3] = c.by_y[1];
    return 0;
}
static int layer_adjoint(curvature c, int np, const double *w, const costate_gradient *g)
{
    if (g->y) {
        g->y[0] += w[1] * c.by_y[0];
        g->y[1] += w[0] + w[1] * c.by_y[1];
    }
    for (int i = 0; g->p && i < np; i++) g->p[i] += w[1] * c.by_p[i];
    if (g->t) *g->t += w[1] * c.by_t;
    return 0;
}
#define LAYER(name, np)                                                                                                \
    static int f_##name(const costate_point *x, double *out, void *ctx)                                                \
    {                                                                                                                  \
        return (void)ctx, layer(curvature_##name(x), x, out);                                                          \
    }                                                                                                                  \
    static int jac_##name(const costate_point *x, double *by_y, void *ctx)                                             \
    {                                                                                                                  \
        return (void)ctx, layer_jac(curvature_##name(x), by_y);                                                        \
    }                                                                                                                  \
    static int adjoint_##name(const costate_point *x, const double *w, const costate_gradient *g, void *ctx)           \
    {                                                                                                                  \
        return (void)ctx, layer_adjoint(curvature_##name(x), np, w, g);                                                \
    }
LAYER(a, 6)
LAYER(b, 3)
LAYER(c, 5)

/* a thousand points in [0, 1], a hundred in the layer at either end */
enum { EVEN = 1001, IN_LAYER = 100, LAYER_TIMES = EVEN + 2 * IN_LAYER };
static double layer_time(const double *p, int k)
{
    if (k < EVEN) return k / (EVEN - 1.0);
    double s = fmin(1, 20 * p[0] * ((k - EVEN) % IN_LAYER) / IN_LAYER);
    return k < EVEN + IN_LAYER ? s : 1 - s;
}

static int known_a(const double *p, double t, double *y)
{
    double root = sqrt(p[1] * p[1] - 4 * p[0] * p[2]), slow = -2 * p[2] / (p[1] + root);
    double fast = -(p[1] + root) / 2 / p[0];
    double left = p[4] - p[3] / p[2], right = p[5] - p[3] / p[2], det = exp(fast - slow) - 1;
    double c1 = (left * exp(fast) - right) / det, c2 = (right * exp(-slow) - left) / det;
    return *y = p[3] / p[2] + c1 * exp(slow * (t - 1)) + c2 * exp(fast * t), 1;
}
static int known_b(const double *p, double t, double *y)
{
    double c = p[2];
    for (int i = 0; i < 50; i++) c = p[2] / tanh(c / (2 * p[0]) + atanh(p[1] / c));
    return *y = c * tanh(c * t / (2 * p[0]) + atanh(p[1] / c)), 1;
}
static int known_c(const double *p, double t, double *y)
{
    double scale = p[1] / (1 + p[0] * p[0] * p[2] * p[2]), e = exp(-1 / p[0]);
    double left = p[3] - scale, right = p[4] - scale * cos(p[2]);
    return *y = scale * cos(p[2] * t) + ((left - right * e) * exp(-t / p[0])
                                          + (right - left * e) * exp((t - 1) / p[0])) / (1 - e * e), 1;
}

/* ---- all of them ---- */

typedef struct {
    const char *name;
    int np, start, end, line;
    costate_map rhs, cost;
    int (*jac)(const costate_point *, double *, void *);
    int points;
    double (*time)(const double *, int);
    int (*known)(const double *, double, double *);
    double p[BVP_NP];
} row;

#define SQUARE {.value = square, .adjoint = square_adjoint}
static const row rows[] = {
    {"arm", 15, START, END, 0, {.value = arm, .adjoint = arm_adjoint}, {.value = energy, .adjoint = energy_adjoint},
     arm_jac, ARM_STATES, arm_time, arm_known, {0.5, 1.5, 2, 1, -0.5, -1.5, -1, 0.25, 1.25, 0, 0, 1, 1, 1, 1}},
    {"layer_a", 6, 4, 5, 0, {.value = f_a, .adjoint = adjoint_a}, SQUARE, jac_a, LAYER_TIMES, layer_time, known_a,
     {0.1, 1, 0.5, 0.25, 2, 1}},
    {"layer_b", 3, 1, 2, 1, {.value = f_b, .adjoint = adjoint_b}, SQUARE, jac_b, LAYER_TIMES, layer_time, known_b,
     {0.1, 0.25, 1}},
    {"layer_c", 5, 3, 4, 0, {.value = f_c, .adjoint = adjoint_c}, SQUARE, jac_c, LAYER_TIMES, layer_time, known_c,
     {0.1, 1, 3, 2, -1}}};

int bvp_case_new(bvp_case *z, const char *name, double eps)
{
    const row *r = rows, *last = rows + sizeof rows / sizeof *rows;
    while (r < last && strcmp(r->name, name) != 0) r++;
    if (r == last) return -1;
    *z = (bvp_case){.P = {.n = 2, .np = r->np, .nq = 1, .rhs = r->rhs, .cost = r->cost, .jac = r->jac},
                    .g = {.map = {.value = ends, .adjoint = ends_adjoint}, .count = 2, .ctx = z},
                    .start = r->start, .end = r->end, .b = 1, .line = r->line, .points = r->points, .time = r->time,
                    .known = r->known};
    memcpy(z->p, r->p, sizeof z->p);
    if (r->known != arm_known) z->p[0] = eps;
    else for (int k = 1; k < PIECES; k++) z->breaks[z->nbreaks++] = (double)k / PIECES;
    return 0;
}

void bvp_case_guess(const bvp_case *z, double *guess)
{
    double left = z->p[z->start], right = z->p[z->end];
    memset(guess, 0, 4 * sizeof *guess);
    if (!z->line) return;
    guess[0] = left;
    guess[2] = right;
    guess[1] = guess[3] = (right - left) / (z->b - z->a);
}

double bvp_case_error_at(const bvp_case *z, double t, const double *y)
{
    double worst = 0, known[2];
    int count = z->known(z->p, t, known);
    for (int i = 0; i < count; i++) worst = fmax(worst, fabs(y[i] - known[i]) / fmax(1, fabs(known[i])));
    return worst;
}

double bvp_case_error(const bvp_case *z, int (*y)(double t, double *Y, void *ctx), void *ctx)
{
    double worst = 0, Y[3];
    for (int k = 0; k < z->points; k++) {
        double t = z->time(z->p, k);
        if (y(t, Y, ctx) != 0) return NAN;
        worst = fmax(worst, bvp_case_error_at(z, t, Y));
    }
    return worst;
}
