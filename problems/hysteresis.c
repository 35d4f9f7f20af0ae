/* hysteresis.c - an oscillator on a spring with hysteresis, which remembers where it last turned.

       u' = v,  mass v' = -A z + F0 t sin(2 pi t),  z = sigma(u, u*, z*, xi),  xi = the sign of v: mode 0: 1, mode 1: -1
       sigma = c(u) + xi B - (c(u*) + xi B - z*) exp(-alpha xi (u - u*)),  B = (ka - kb + 1e-20)/(2 alpha),
       c(u) = -2 beta u + 2 sinh(beta u) + kb u;   where v = 0:  (u*, z*) := (u, z), the other mode;   q' = u^2

   m = (u*, z*), p = (ka, kb, alpha, beta, mass, A, F0), from rest to t = 10.  The gradient is that of q(10).  Second
   derivatives, for ros, are left out.  (The exponential model of N. Vaiana, S. Sessa, F. Marmo, L. Rosati, Nonlinear
   Dynamics 93 (2018) 1647.) */
#include <math.h>

#include "ivp.h"

enum { KA, KB, ALPHA, BETA, MASS, A, F0, PARAMETERS };

static const double start[] = {0, 0, 0, 0, 0};
static const double parameters[PARAMETERS] = {
    315.8273408348594758027037, 9.869604401089358618834491, 205, 0, 1, 1, 0.5};
static const double turn = 6.28318530717958647693;

/* sigma and its derivatives by u, u*, z*, ka, kb, alpha, beta */
typedef struct { double z, u, us, zs, p[4]; } spring;

static double half_width(const double *p) { return (p[KA] - p[KB] + 1e-20) / (2 * p[ALPHA]); }

static double elastic(double u, const double *p)
{
    return -2 * p[BETA] * u + 2 * sinh(p[BETA] * u) + p[KB] * u;
}

static double stiffness(double u, const double *p) { return -2 * p[BETA] + 2 * p[BETA] * cosh(p[BETA] * u) + p[KB]; }

static double force(const costate_point *x)
{
    const double *p = x->p, xi = x->mode ? -1 : 1, u = x->y[0], us = x->m[0], B = xi * half_width(p);
    return elastic(u, p) + B - (elastic(us, p) + B - x->m[1]) * exp(-p[ALPHA] * xi * (u - us));
}

static spring linearised(const costate_point *x)
{
    const double *p = x->p, xi = x->mode ? -1 : 1, u = x->y[0], us = x->m[0], B = half_width(p);
    double e = exp(-p[ALPHA] * xi * (u - us)), s = elastic(us, p) + xi * B - x->m[1];
    double by_B = xi * (1 - e), each = 1 / (2 * p[ALPHA]);
    return (spring){
        .z = elastic(u, p) + xi * B - s * e,
        .u = stiffness(u, p) + s * p[ALPHA] * xi * e,
        .us = -stiffness(us, p) * e - s * p[ALPHA] * xi * e,
        .zs = e,
        .p = {[KA] = by_B * each,
              [KB] = -by_B * each + u - us * e,
              [ALPHA] = -by_B * B / p[ALPHA] + s * e * xi * (u - us),
              [BETA] = -2 * u + 2 * u * cosh(p[BETA] * u) - (-2 * us + 2 * us * cosh(p[BETA] * us)) * e}};
}

static double along(const spring *s, const costate_point *dx)
{
    double sum = 0;
    if (dx->y) sum += s->u * dx->y[0];
    if (dx->m) sum += s->us * dx->m[0] + s->zs * dx->m[1];
    for (int k = 0; dx->p && k <= BETA; k++) sum += s->p[k] * dx->p[k];
    return sum;
}

static void back(const spring *s, double w, const costate_gradient *g)
{
    if (g->y) g->y[0] += w * s->u;
    if (g->m) g->m[0] += w * s->us;
    if (g->m) g->m[1] += w * s->zs;
    for (int k = 0; g->p && k <= BETA; k++) g->p[k] += w * s->p[k];
}

/* ---- motion ------------------------------------------------------------------------------------------------------ */

static int value(const costate_point *x, double *out, void *ctx)
{
    const double *p = x->p;
    (void)ctx;
    out[0] = x->y[1];
    out[1] = (-p[A] * force(x) + p[F0] * x->t * sin(turn * x->t)) / p[MASS];
    return 0;
}

static int tangent(const costate_point *x, const costate_point *dx, double *out, void *ctx)
{
    const double *p = x->p, t = x->t, *dp = dx->p;
    spring s = linearised(x);
    double load = t * sin(turn * t), load_t = sin(turn * t) + turn * t * cos(turn * t), sum;
    (void)ctx;
    sum = -p[A] * along(&s, dx) + p[F0] * load_t * dx->t;
    if (dp) sum += -dp[A] * s.z + dp[F0] * load - dp[MASS] * (-p[A] * s.z + p[F0] * load) / p[MASS];
    out[0] = dx->y ? dx->y[1] : 0;
    out[1] = sum / p[MASS];
    return 0;
}

static int adjoint(const costate_point *x, const double *w, const costate_gradient *g, void *ctx)
{
    const double *p = x->p, t = x->t, v = w[1] / p[MASS];
    spring s = linearised(x);
    double load = t * sin(turn * t);
    (void)ctx;
    back(&s, -p[A] * v, g);
    if (g->y) g->y[1] += w[0];
    if (g->t) *g->t += p[F0] * (sin(turn * t) + turn * t * cos(turn * t)) * v;
    if (!g->p) return 0;
    g->p[A] -= s.z * v;
    g->p[F0] += load * v;
    g->p[MASS] -= (-p[A] * s.z + p[F0] * load) / p[MASS] * v;
    return 0;
}

static int jacobian(const costate_point *x, double *J, void *ctx)
{
    (void)ctx;
    J[0] = J[3] = 0;
    J[1] = -x->p[A] * linearised(x).u / x->p[MASS];
    J[2] = 1;
    return 0;
}

static int cost_value(const costate_point *x, double *out, void *ctx)
{
    (void)ctx;
    return *out = x->y[0] * x->y[0], 0;
}

static int cost_tangent(const costate_point *x, const costate_point *dx, double *out, void *ctx)
{
    (void)ctx;
    return *out = dx->y ? 2 * x->y[0] * dx->y[0] : 0, 0;
}

static int cost_adjoint(const costate_point *x, const double *w, const costate_gradient *g, void *ctx)
{
    (void)ctx;
    if (g->y) g->y[0] += 2 * x->y[0] * *w;
    return 0;
}

/* ---- where it turns ---------------------------------------------------------------------------------------------- */

static int guard_value(const costate_point *x, double *out, void *ctx)
{
    (void)ctx;
    return *out = x->y[1], 0;
}

static int guard_tangent(const costate_point *x, const costate_point *dx, double *out, void *ctx)
{
    (void)x, (void)ctx;
    return *out = dx->y ? dx->y[1] : 0, 0;
}

static int guard_adjoint(const costate_point *x, const double *w, const costate_gradient *g, void *ctx)
{
    (void)x, (void)ctx;
    if (g->y) g->y[1] += *w;
    return 0;
}

/* out: u, v, u*, z* */
static int jump_value(const costate_point *x, double *out, void *ctx)
{
    (void)ctx;
    out[0] = out[2] = x->y[0];
    out[1] = x->y[1];
    out[3] = force(x);
    return 0;
}

static int jump_tangent(const costate_point *x, const costate_point *dx, double *out, void *ctx)
{
    spring s = linearised(x);
    (void)ctx;
    out[0] = out[2] = dx->y ? dx->y[0] : 0;
    out[1] = dx->y ? dx->y[1] : 0;
    out[3] = along(&s, dx);
    return 0;
}

static int jump_adjoint(const costate_point *x, const double *w, const costate_gradient *g, void *ctx)
{
    spring s = linearised(x);
    (void)ctx;
    if (g->y) g->y[0] += w[0] + w[2];
    if (g->y) g->y[1] += w[1];
    back(&s, w[3], g);
    return 0;
}

#define TURNS .guard = {.value = guard_value, .tangent = guard_tangent, .adjoint = guard_adjoint}, \
              .jump = {.value = jump_value, .tangent = jump_tangent, .adjoint = jump_adjoint}

int ivp_hysteresis(ivp *b, int unused)
{
    static const costate_event event[] = {{TURNS, .direction = -1, .from = 0, .to = 1},
                                          {TURNS, .direction = 1, .from = 1, .to = 0}};
    (void)unused;
    *b = (ivp){.P = {.n = 2, .np = PARAMETERS, .nq = 1, .nm = 2, .jac = jacobian,
                     .rhs = {.value = value, .tangent = tangent, .adjoint = adjoint},
                     .cost = {.value = cost_value, .tangent = cost_tangent, .adjoint = cost_adjoint},
                     .nevents = 2, .event = event},
               .y0 = start, .p = parameters, .t1 = 10, .atol = 1e-2, .functional = 2, .by_p = 1, .timed = 1};
    return COSTATE_OK;
}
