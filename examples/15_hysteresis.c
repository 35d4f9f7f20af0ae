/* 15_hysteresis.c - a spring that remembers: an integral over an oscillation, and its gradient by all that is given.

       u' = v,   m v' = -z - c v,   z = z* + (v > 0 ? kp : km) (u - u*)

   (u*, z*) is where v last was zero: memory, which is constant but where a jump writes to it.  In every callback it is
   x->m; in y, and in gradients, it has rows of its own behind the states and integrals.  At a reversal everything else
   stays as it is: the jump stores (u, z), the event changes the mode, in which the spring has another stiffness.

   At the start (u*, z*) = (u0, z0) and u = u0, so that the gradient by u0 is a sum over two rows.  Each branch is a
   damped oscillation: the reference is made of their closed forms, with 30 digits. */
#include <costate/costate.h>
#include <math.h>
#include <stdio.h>

enum { KP, KM, M, C, U0, V0, Z0, PARAMETERS };     /* KP: mode 0, v > 0; KM: mode 1 */
enum { U, V, G, US, ZS, ROWS };                    /* of y: states, the integral of u^2 + z^2/10, memory */

static double spring(const costate_point *x) { return x->m[1] + x->p[x->mode] * (x->y[U] - x->m[0]); }

/* adds w dz to a gradient */
static void spring_adjoint(const costate_point *x, double w, const costate_gradient *g)
{
    double k = x->p[x->mode];
    if (g->y) g->y[U] += k * w;
    if (g->m) { g->m[0] -= k * w; g->m[1] += w; }
    if (g->p) g->p[x->mode] += (x->y[U] - x->m[0]) * w;
}

static int f(const costate_point *x, double *out, void *ctx)
{
    out[U] = x->y[V];
    out[V] = -(spring(x) + x->p[C] * x->y[V]) / x->p[M];
    return (void)ctx, 0;
}
static int f_adjoint(const costate_point *x, const double *w, const costate_gradient *g, void *ctx)
{
    double a = w[V] / x->p[M], v = x->y[V];
    spring_adjoint(x, -a, g);
    if (g->y) g->y[V] += w[U] - x->p[C] * a;
    if (g->p) { g->p[C] -= v * a; g->p[M] += (spring(x) + x->p[C] * v) / x->p[M] * a; }
    return (void)ctx, 0;
}

static int cost(const costate_point *x, double *out, void *ctx)
{
    double z = spring(x);
    return (void)ctx, out[0] = x->y[U] * x->y[U] + z * z / 10, 0;
}
static int cost_adjoint(const costate_point *x, const double *w, const costate_gradient *g, void *ctx)
{
    if (g->y) g->y[U] += 2 * x->y[U] * w[0];
    spring_adjoint(x, spring(x) / 5 * w[0], g);
    return (void)ctx, 0;
}

static int speed(const costate_point *x, double *out, void *ctx) { return (void)ctx, out[0] = x->y[V], 0; }
static int speed_adjoint(const costate_point *x, const double *w, const costate_gradient *g, void *ctx)
{
    if (g->y) g->y[V] += w[0];
    return (void)x, (void)ctx, 0;
}

/* (y, m) after a reversal: (u, v, u, z) */
static int remember(const costate_point *x, double *out, void *ctx)
{
    out[0] = out[2] = x->y[U];
    out[1] = x->y[V];
    out[3] = spring(x);
    return (void)ctx, 0;
}
static int remember_adjoint(const costate_point *x, const double *w, const costate_gradient *g, void *ctx)
{
    if (g->y) { g->y[U] += w[0] + w[2]; g->y[V] += w[1]; }
    spring_adjoint(x, w[3], g);
    return (void)ctx, 0;
}

#define REVERSAL(a, b, way) {.guard = {.value = speed, .adjoint = speed_adjoint}, .direction = way, .from = a, \
                             .to = b, .jump = {.value = remember, .adjoint = remember_adjoint}}
static const costate_event reversals[] = {REVERSAL(0, 1, -1), REVERSAL(1, 0, 1)};

static const double value = 1.719406085742760341613, gradient[PARAMETERS] = {
    1.324879228774689774096, -2.463572312225092642234, 3.880051272879586619572, -6.710220081755177736218,
    -4.039741064945798908225, 3.409737970180613701677, 1.732193231197947489485};

int main(void)
{
    const double p[PARAMETERS] = {4, 2.5, 0.5, 0.125, 0.1, 1, 0.25};
    double y[ROWS] = {p[U0], p[V0], 0, p[U0], p[Z0]}, lambda[ROWS] = {[G] = 1}, mu[PARAMETERS] = {0}, error = 0;
    costate_problem problem = {.n = 2, .np = PARAMETERS, .nq = 1, .rhs = {.value = f, .adjoint = f_adjoint},
                               .cost = {.value = cost, .adjoint = cost_adjoint}, .nm = 2, .nevents = 2,
                               .event = reversals};
    costate_options options = {.rtol = 1e-10, .atol = 1e-12, .autonomous = 1};
    costate *c = costate_new(costate_method_find("dopri853"), &problem, &options);
    costate_tape *tape = costate_tape_new();
    int status = costate_integrate(c, 0, 6, y, p, tape);
    if (status == COSTATE_OK) status = costate_adjoint(c, tape, 1, lambda, mu, NULL, NULL);
    if (status != COSTATE_OK) puts(costate_message(c));
    mu[U0] += lambda[U] + lambda[US];                   /* the start depends on parameters */
    mu[V0] += lambda[V];
    mu[Z0] += lambda[ZS];
    const char *const name[] = {"kp", "km", "m", "c", "u0", "v0", "z0"};
    printf("%d reversals, G = %.10f\n", costate_tape_events(tape), y[G]);
    for (int i = 0; i < PARAMETERS; i++) {
        printf("dG/d%-2s = %13.10f, reference %13.10f\n", name[i], mu[i], gradient[i]);
        error = fmax(error, fabs(mu[i] - gradient[i]));
    }
    printf("largest error of the gradient: %.1e\n", error);
    costate_tape_free(tape);
    costate_free(c);
    return status != COSTATE_OK || !(error < 1e-8 && fabs(y[G] - value) < 1e-9);
}
