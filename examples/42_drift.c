/* 42_drift.c - a pendulum whose index was reduced by hand, and the constraints that it would leave.

       index 2:  x' = u,  y' = v,  u' = -x z,  v' = -y z - g,   0 = x u + y v
       index 1:  the same, with   0 = u^2 + v^2 - (x^2 + y^2) z - g y,   the derivative of this constraint

   The length of the rod and the direction of the velocity are invariants of the index-1 form. In the steps of a method
   errors of both grow; with costate_projection_after_step they are zero after each step. The algebraic equation is a
   third row of the projection, because z must satisfy it at the new position; z alone moves for it, as its rows of the
   others are zero. The gradient of the final position with respect to g is compared with that of the angle's equation
   w'' = -g sin w. */
#include <costate/pieces.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { X, Y, U, V, Z, N };
static const double G[] = {9.81}, ANGLE = 1.2, T = 50;

/* ---- M y' = f, and g ---- */

static int index_1(const costate_point *at, double *f, void *ctx)
{
    const double *y = at->y, g = at->p[0];
    f[X] = y[U];
    f[Y] = y[V];
    f[U] = -y[X] * y[Z];
    f[V] = -y[Y] * y[Z] - g;
    f[Z] = y[U] * y[U] + y[V] * y[V] - (y[X] * y[X] + y[Y] * y[Y]) * y[Z] - g * y[Y];
    return (void)ctx, 0;
}

static int index_1_tangent(const costate_point *at, const costate_point *dx, double *out, void *ctx)
{
    static const double none[N];
    const double *y = at->y, g = at->p[0], *d = dx->y ? dx->y : none, dg = dx->p ? dx->p[0] : 0;
    out[X] = d[U];
    out[Y] = d[V];
    out[U] = -d[X] * y[Z] - y[X] * d[Z];
    out[V] = -d[Y] * y[Z] - y[Y] * d[Z] - dg;
    out[Z] = 2 * (y[U] * d[U] + y[V] * d[V] - (y[X] * d[X] + y[Y] * d[Y]) * y[Z]) -
             (y[X] * y[X] + y[Y] * y[Y]) * d[Z] - g * d[Y] - dg * y[Y];
    return (void)ctx, 0;
}

static int index_1_adjoint(const costate_point *at, const double *w, const costate_gradient *g, void *ctx)
{
    const double *y = at->y;
    if (g->y) {
        g->y[X] -= y[Z] * w[U] + 2 * y[X] * y[Z] * w[Z];
        g->y[Y] -= y[Z] * w[V] + (2 * y[Y] * y[Z] + at->p[0]) * w[Z];
        g->y[U] += w[X] + 2 * y[U] * w[Z];
        g->y[V] += w[Y] + 2 * y[V] * w[Z];
        g->y[Z] -= y[X] * w[U] + y[Y] * w[V] + (y[X] * y[X] + y[Y] * y[Y]) * w[Z];
    }
    if (g->p) g->p[0] -= w[V] + y[Y] * w[Z];
    return (void)ctx, 0;
}

/* of w . f'' d, where only the products in f count */
static int index_1_adjoint_tangent(const costate_point *at, const costate_point *dx, const double *w,
                                   const costate_gradient *g, void *ctx)
{
    static const double none[N];
    const double *y = at->y, *d = dx->y ? dx->y : none, dg = dx->p ? dx->p[0] : 0;
    if (g->y) {
        g->y[X] -= d[Z] * w[U] + 2 * (d[X] * y[Z] + y[X] * d[Z]) * w[Z];
        g->y[Y] -= d[Z] * w[V] + (2 * (d[Y] * y[Z] + y[Y] * d[Z]) + dg) * w[Z];
        g->y[U] += 2 * d[U] * w[Z];
        g->y[V] += 2 * d[V] * w[Z];
        g->y[Z] -= d[X] * w[U] + d[Y] * w[V] + 2 * (y[X] * d[X] + y[Y] * d[Y]) * w[Z];
    }
    if (g->p) g->p[0] -= d[Y] * w[Z];
    return (void)ctx, 0;
}

/* y_Z of the last equation becomes x u + y v: index 2 */
static int index_2(const costate_point *at, double *f, void *ctx)
{
    const double *y = at->y;
    index_1(at, f, ctx);
    f[Z] = y[X] * y[U] + y[Y] * y[V];
    return 0;
}

static int index_2_tangent(const costate_point *at, const costate_point *dx, double *out, void *ctx)
{
    static const double none[N];
    const double *y = at->y, *d = dx->y ? dx->y : none;
    index_1_tangent(at, dx, out, ctx);
    out[Z] = d[X] * y[U] + y[X] * d[U] + d[Y] * y[V] + y[Y] * d[V];
    return 0;
}

static int mass(double *M, void *ctx)
{
    for (int k = 0; k < N * N; k++) M[k] = k % (N + 1) == 0 && k < N * Z;
    return (void)ctx, 0;
}

/* rows: (x^2 + y^2 - 1)/2, x u + y v, the algebraic equation */
static int constraints(const costate_point *at, double *g, void *ctx)
{
    const double *y = at->y;
    double f[N];
    index_1(at, f, ctx);
    g[0] = (y[X] * y[X] + y[Y] * y[Y] - 1) / 2;
    g[1] = y[X] * y[U] + y[Y] * y[V];
    g[2] = f[Z];
    return 0;
}

static int constraints_tangent(const costate_point *at, const costate_point *dx, double *out, void *ctx)
{
    static const double none[N];
    const double *y = at->y, *d = dx->y ? dx->y : none;
    double f[N];
    index_1_tangent(at, dx, f, ctx);
    out[0] = y[X] * d[X] + y[Y] * d[Y];
    out[1] = d[X] * y[U] + y[X] * d[U] + d[Y] * y[V] + y[Y] * d[V];
    out[2] = f[Z];
    return 0;
}

static int constraints_adjoint(const costate_point *at, const double *w, const costate_gradient *g, void *ctx)
{
    const double *y = at->y, of_f[N] = {[Z] = w[2]};
    if (g->y) {
        g->y[X] += y[X] * w[0] + y[U] * w[1];
        g->y[Y] += y[Y] * w[0] + y[V] * w[1];
        g->y[U] += y[X] * w[1];
        g->y[V] += y[Y] * w[1];
    }
    return index_1_adjoint(at, of_f, g, ctx);
}

static int constraints_adjoint_tangent(const costate_point *at, const costate_point *dx, const double *w,
                                       const costate_gradient *g, void *ctx)
{
    static const double none[N];
    const double *d = dx->y ? dx->y : none, of_f[N] = {[Z] = w[2]};
    if (g->y) {
        g->y[X] += d[X] * w[0] + d[U] * w[1];
        g->y[Y] += d[Y] * w[0] + d[V] * w[1];
        g->y[U] += d[X] * w[1];
        g->y[V] += d[Y] * w[1];
    }
    return index_1_adjoint_tangent(at, dx, of_f, g, ctx);
}

/* ---- runs ---- */

typedef struct { const char *name, *method; int index, projected; } form;
typedef struct { double y[N], length, velocity, by_g; long steps; } result;

/* at rest; z of the rod */
static void start(double *y)
{
    const double at[N] = {sin(ANGLE), -cos(ANGLE), 0, 0, G[0] * cos(ANGLE)};
    memcpy(y, at, sizeof at);
}

static result run(const form *of)
{
    static const int unknowns[N] = {0, 0, 0, 0, 2};
    const costate_map f1 = {.value = index_1, .tangent = index_1_tangent, .adjoint = index_1_adjoint,
                            .adjoint_tangent = index_1_adjoint_tangent};
    const costate_map f2 = {.value = index_2, .tangent = index_2_tangent};
    const costate_invariants rows = {
        .count = 3, .g = {.value = constraints, .tangent = constraints_tangent, .adjoint = constraints_adjoint,
                          .adjoint_tangent = constraints_adjoint_tangent}};
    costate_problem problem = {.n = N, .np = 1, .mass = mass, .rhs = of->index == 2 ? f2 : f1,
                               .index = of->index == 2 ? unknowns : NULL};
    costate_projection *projection = NULL;
    if (of->projected) costate_projection_after_step(&rows, &problem, &projection, NULL);
    costate_options options = {.rtol = 1e-6, .atol = 1e-6, .autonomous = 1,
                               .consistent = COSTATE_CONSISTENT_NONE};
    costate *c = costate_new(costate_method_find(of->method), &problem, &options);
    costate_tape *tape = costate_tape_new();
    result r = {.by_g = 0};
    double lambda[N] = {1};
    start(r.y);
    int status = costate_integrate(c, 0, T, r.y, G, tape);
    r.steps = costate_get_stats(c)->accepted;
    if (status == COSTATE_OK && of->index == 1) status = costate_adjoint(c, tape, 1, lambda, &r.by_g, NULL, NULL);
    if (status != COSTATE_OK) printf("%s\n", costate_message(c));
    r.length = fabs(hypot(r.y[X], r.y[Y]) - 1);
    r.velocity = fabs(r.y[X] * r.y[U] + r.y[Y] * r.y[V]);
    costate_tape_free(tape);
    costate_free(c);
    costate_projection_free(projection);
    return r;
}

/* ---- the angle: w' = s, s' = -g sin w, and its derivative with respect to g ---- */

static int angle(const costate_point *x, double *out, void *ctx)
{
    const double *y = x->y, g = x->p[0];
    out[0] = y[1];
    out[1] = -g * sin(y[0]);
    out[2] = y[3];
    out[3] = -g * cos(y[0]) * y[2] - sin(y[0]);
    return (void)ctx, 0;
}

int main(void)
{
    static const form forms[] = {{"index 2", "radau2a", 2, 0}, {"index 1", "radau2a", 1, 0},
                                 {"index 1, projected", "radau2a", 1, 1}, {"index 1", "rodas4", 1, 0},
                                 {"index 1, projected", "rodas4", 1, 1}};
    costate_problem of_angle = {.n = 4, .rhs.value = angle, .np = 1};
    costate_options precise = {.rtol = 1e-12, .atol = 1e-12};
    costate *c = costate_new(costate_method_find("dopri853"), &of_angle, &precise);
    double w[4] = {ANGLE, 0, 0, 0}, worst = 0, error[5];
    if (costate_integrate(c, 0, T, w, G, NULL) != COSTATE_OK) return puts(costate_message(c)), 1;
    costate_free(c);
    puts("t = 50                        steps   length  velocity  error of x  error of dx/dg");
    for (int k = 0; k < 5; k++) {
        result r = run(&forms[k]);
        double by_g = cos(w[0]) * w[2];
        error[k] = fabs(r.y[X] - sin(w[0]));
        printf("%-8s %-18s %7ld %8.0e %9.0e %11.1e", forms[k].method, forms[k].name, r.steps, r.length, r.velocity,
               error[k]);
        printf(forms[k].index == 1 ? " %12.1e\n" : "\n", fabs(r.by_g / by_g - 1));
        if (forms[k].projected) worst = fmax(worst, fmax(r.length, r.velocity));
    }
    return !(worst < 1e-14 && error[2] < error[1] && error[4] < error[3]);
}
