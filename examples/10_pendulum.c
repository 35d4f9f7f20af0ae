/* 10_pendulum.c - a pendulum in Cartesian coordinates, index 2: the tension of its rod, and its gradient by the length.

       x' = u,  y' = v,  u' = -x z,  v' = -y z - g,   0 = x u + y v

   z, the tension over mass and length, is the multiplier of the constraint on velocities, which holds differential
   unknowns alone: index 2, said by problem.index. Nobody has to know z at the start, nor how it depends on L: the run
   begins by solving for it, and ends so, for the order of y in z; both are differentiated with it. By hand its
   derivative by the length L would ask for the pendulum in another form; here it is the derivative of the steps. It
   is compared with just that other form, the angle w'' = -(g/L) sin w by an explicit method, where z = w'^2 + (g/L)
   cos w. */
#include <costate/costate.h>
#include <math.h>
#include <stdio.h>

enum { X, Y, U, V, Z, N };
static const double G = 9.81, ANGLE = 0.8, T = 2;

/* ---- F(t, y, y') = 0 ---- */

static int residual(const costate_point *at, double *F, void *ctx)
{
    const double *y = at->y, *dy = at->yp;
    F[0] = dy[X] - y[U];
    F[1] = dy[Y] - y[V];
    F[2] = dy[U] + y[X] * y[Z];
    F[3] = dy[V] + y[Y] * y[Z] + G;
    F[4] = y[X] * y[U] + y[Y] * y[V];
    return (void)ctx, 0;
}

static int tangent(const costate_point *at, const costate_point *d, double *out, void *ctx)
{
    static const double none[N];
    const double *y = at->y, *e = d->y ? d->y : none, *de = d->yp ? d->yp : none;
    out[0] = de[X] - e[U];
    out[1] = de[Y] - e[V];
    out[2] = de[U] + e[X] * y[Z] + y[X] * e[Z];
    out[3] = de[V] + e[Y] * y[Z] + y[Y] * e[Z];
    out[4] = e[X] * y[U] + y[X] * e[U] + e[Y] * y[V] + y[Y] * e[V];
    return (void)ctx, 0;
}

static int adjoint(const costate_point *at, const double *w, const costate_gradient *g, void *ctx)
{
    const double *y = at->y;
    for (int i = 0; g->yp && i < 4; i++) g->yp[i] += w[i];
    if (!g->y) return 0;
    g->y[X] += y[Z] * w[2] + y[U] * w[4];
    g->y[Y] += y[Z] * w[3] + y[V] * w[4];
    g->y[U] += y[X] * w[4] - w[0];
    g->y[V] += y[Y] * w[4] - w[1];
    g->y[Z] += y[X] * w[2] + y[Y] * w[3];
    return (void)ctx, 0;
}

/* of second order, and so for z from the derivative of its constraint: g += (F''[d, .])^T w; F is of products of two */
static int adjoint_tangent(const costate_point *at, const costate_point *d, const double *w, const costate_gradient *g,
                           void *ctx)
{
    static const double none[N];
    const double *e = d->y ? d->y : none;
    if (!g->y) return 0;
    g->y[X] += e[Z] * w[2] + e[U] * w[4];
    g->y[Y] += e[Z] * w[3] + e[V] * w[4];
    g->y[U] += e[X] * w[4];
    g->y[V] += e[Y] * w[4];
    g->y[Z] += e[X] * w[2] + e[Y] * w[3];
    return (void)at, (void)ctx, 0;
}

/* at rest, at the angle, of a rod of length L, z to be found; and its derivative by L */
static void start(double L, double *y, double *dy)
{
    double s = sin(ANGLE), c = cos(ANGLE);
    const double at[N] = {L * s, -L * c, 0, 0, 0}, by_L[N] = {s, -c, 0, 0, 0};
    for (int i = 0; i < N; i++) { y[i] = at[i]; dy[i] = by_L[i]; }
}

static int tension(double L, double *z, double *dz)
{
    static const int index[N] = {0, 0, 0, 0, 2};
    costate_problem problem = {.n = N, .index = index,
                               .residual = {.value = residual, .tangent = tangent, .adjoint = adjoint,
                                            .adjoint_tangent = adjoint_tangent}};
    costate_options options = {.rtol = 1e-10, .atol = 1e-10, .autonomous = 1,
                               .consistent = COSTATE_CONSISTENT_START + COSTATE_CONSISTENT_END};
    double y[N], dy[N], lambda[N] = {[Z] = 1};
    costate *c = costate_new(costate_method_find("radau2a5"), &problem, &options);
    costate_tape *tape = costate_tape_new();
    start(L, y, dy);
    int status = costate_integrate(c, 0, T, y, NULL, tape);
    if (status == COSTATE_OK) status = costate_adjoint(c, tape, 1, lambda, NULL, NULL, NULL);
    if (status != COSTATE_OK) puts(costate_message(c));
    *z = y[Z];
    *dz = 0;
    for (int i = 0; i < N; i++) *dz += lambda[i] * dy[i];
    printf("radau2a5, %d steps: x u + y v = %.1e, length - L = %.1e, energy drift %.1e\n", costate_tape_steps(tape),
           y[X] * y[U] + y[Y] * y[V], hypot(y[X], y[Y]) - L,
           (y[U] * y[U] + y[V] * y[V]) / 2 + G * y[Y] + G * L * cos(ANGLE));
    costate_tape_free(tape);
    costate_free(c);
    return status;
}

/* ---- the angle and its speed, p = L ---- */

static int f(const costate_point *at, double *out, void *ctx)
{
    out[0] = at->y[1];
    out[1] = -G / at->p[0] * sin(at->y[0]);
    return (void)ctx, 0;
}

static int f_adjoint(const costate_point *at, const double *w, const costate_gradient *g, void *ctx)
{
    double s = sin(at->y[0]), c = cos(at->y[0]), L = at->p[0];
    if (g->y) { g->y[0] -= G / L * c * w[1]; g->y[1] += w[0]; }
    if (g->p) g->p[0] += G / (L * L) * s * w[1];
    return (void)ctx, 0;
}

static int by_angle(double L, double *z, double *dz)
{
    costate_problem problem = {.n = 2, .np = 1, .rhs = {.value = f, .adjoint = f_adjoint}};
    costate_options options = {.rtol = 1e-12, .atol = 1e-12};
    double y[2] = {ANGLE, 0};
    costate *c = costate_new(costate_method_find("dopri853"), &problem, &options);
    costate_tape *tape = costate_tape_new();
    int status = costate_integrate(c, 0, T, y, &L, tape);
    *z = y[1] * y[1] + G / L * cos(y[0]);
    *dz = -G / (L * L) * cos(y[0]);
    double lambda[2] = {-G / L * sin(y[0]), 2 * y[1]};
    if (status == COSTATE_OK) status = costate_adjoint(c, tape, 1, lambda, dz, NULL, NULL);
    costate_tape_free(tape);
    costate_free(c);
    return status;
}

int main(void)
{
    double z, dz, other, dother, L = 1.2;
    if (tension(L, &z, &dz) != COSTATE_OK || by_angle(L, &other, &dother) != COSTATE_OK) return 1;
    printf("index 2:      z = %.10f, dz/dL = %.9f\n", z, dz);
    printf("by the angle: z = %.10f, dz/dL = %.9f\n", other, dother);
    return !(fabs(z - other) < 1e-9 && fabs(dz - dother) < 1e-9);
}
