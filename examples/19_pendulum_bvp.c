/* 19_pendulum_bvp.c - an arm that a torque takes from rest angle to rest angle: its energy, and the gradient by fifteen
   numbers, from one solution of a boundary value problem.

       theta' = omega,  omega' = (u(t) - m g l cos theta)/(J + m l^2),   theta(0) = theta_0, theta(1) = theta_1;
       u linear between its values at the times k/8, k = 0 .. 8;
       energy = int_0^1 (J + m l^2)/2 omega^2 + m g l sin theta dt

   u has kinks at k/8: they are breaks, mesh points that stay, and x->mode counts the pieces.  The conditions depend on
   two of the parameters, the equation on the others.  No adjoint equation and no boundary conditions for it are
   written: the gradient is that of the solution on its mesh, by one transposed solution.  It is compared with numbers
   that were computed otherwise, to 30 digits. */
#include <costate/bvp.h>
#include <math.h>
#include <stdio.h>

enum { PIECES = 8, START = PIECES + 1, END, M, L, J, G, NP };

static const double nominal[NP] = {0.5, 1.5, 2, 1, -0.5, -1.5, -1, 0.25, 1.25, 0, 0, 1, 1, 1, 1};
static const double energy_known = 0.0586085122176075608;
static const double gradient_known[NP] = {
    -0.000811314731864808579, -0.00457092066850013399, -0.00865012013701256747, -0.0123817731398391233,
    -0.0150207131026822153, -0.0153503921381009401, -0.0126256037649678012, -0.00716056983323893674,
    -0.00126693838566625017, 0.498067270567107101, 0.497367074334774360, 0.0849534447027878420, 0.0557648309170866522,
    -0.0291886137857011899, 0.114142058488489032};

/* ---- f = (omega, (u - m g l cos theta)/I), I = J + m l^2 ---- */

static double inertia(const double *p) { return p[J] + p[M] * p[L] * p[L]; }

/* u = (1 - s) p[k] + s p[k + 1] in piece k: returns s */
static double inside(const costate_point *x) { return PIECES * x->t - x->mode; }

static double acceleration(const costate_point *x)
{
    const double *p = x->p, s = inside(x), u = (1 - s) * p[x->mode] + s * p[x->mode + 1];
    return (u - p[M] * p[G] * p[L] * cos(x->y[0])) / inertia(p);
}

static int f(const costate_point *x, double *out, void *ctx)
{
    out[0] = x->y[1];
    out[1] = acceleration(x);
    return (void)ctx, 0;
}
static int jac(const costate_point *x, double *by_y, void *ctx)
{
    const double *p = x->p;
    by_y[0] = 0;
    by_y[1] = p[M] * p[G] * p[L] * sin(x->y[0]) / inertia(p);
    by_y[2] = 1;
    by_y[3] = 0;
    return (void)ctx, 0;
}
static int f_adjoint(const costate_point *x, const double *w, const costate_gradient *g, void *ctx)
{
    const double *p = x->p, I = inertia(p), s = inside(x), c = cos(x->y[0]), v = w[1] / I, by_I = -v * acceleration(x);
    if (g->y) {
        g->y[0] += v * p[M] * p[G] * p[L] * sin(x->y[0]);
        g->y[1] += w[0];
    }
    if (g->p) {
        g->p[x->mode] += v * (1 - s);
        g->p[x->mode + 1] += v * s;
        g->p[M] += by_I * p[L] * p[L] - v * p[G] * p[L] * c;
        g->p[L] += by_I * 2 * p[M] * p[L] - v * p[M] * p[G] * c;
        g->p[J] += by_I;
        g->p[G] -= v * p[M] * p[L] * c;
    }
    if (g->t) *g->t += v * PIECES * (p[x->mode + 1] - p[x->mode]);      /* gradients w.r.t. ends, breaks */
    return (void)ctx, 0;
}

/* ---- the integrand ---- */

static int r(const costate_point *x, double *out, void *ctx)
{
    const double *p = x->p, *y = x->y;
    out[0] = inertia(p) / 2 * y[1] * y[1] + p[M] * p[G] * p[L] * sin(y[0]);
    return (void)ctx, 0;
}
static int r_adjoint(const costate_point *x, const double *w, const costate_gradient *g, void *ctx)
{
    const double *p = x->p, *y = x->y, half = w[0] * y[1] * y[1] / 2, s = w[0] * sin(y[0]);
    if (g->y) {
        g->y[0] += w[0] * p[M] * p[G] * p[L] * cos(y[0]);
        g->y[1] += w[0] * inertia(p) * y[1];
    }
    if (g->p) {
        g->p[M] += half * p[L] * p[L] + s * p[G] * p[L];
        g->p[L] += half * 2 * p[M] * p[L] + s * p[M] * p[G];
        g->p[J] += half;
        g->p[G] += s * p[M] * p[L];
    }
    return (void)ctx, 0;
}

/* ---- the conditions: y(a) is x->y[0], x->y[1]; y(b) is x->y[2], x->y[3] ---- */

static int ends(const costate_point *x, double *out, void *ctx)
{
    out[0] = x->y[0] - x->p[START];
    out[1] = x->y[2] - x->p[END];
    return (void)ctx, 0;
}
static int ends_adjoint(const costate_point *x, const double *w, const costate_gradient *g, void *ctx)
{
    if (g->y) {
        g->y[0] += w[0];
        g->y[2] += w[1];
    }
    if (g->p) {
        g->p[START] -= w[0];
        g->p[END] -= w[1];
    }
    return (void)x, (void)ctx, 0;
}

/* ---- the energy and its gradient ---- */

static int energy(double *value, double *gradient)
{
    static const char *const names[] = {"u(0)", "u(1/8)", "u(2/8)", "u(3/8)", "u(4/8)", "u(5/8)", "u(6/8)", "u(7/8)",
                                        "u(1)", "theta_0", "theta_1", "m", "l", "J", "g"};
    double breaks[PIECES - 1], end = 1, state[3], lambda[3] = {0, 0, 1};        /* the energy is q(1) */
    for (int k = 1; k < PIECES; k++) breaks[k - 1] = (double)k / PIECES;
    costate_problem problem = {.n = 2, .np = NP, .nq = 1, .rhs = {.value = f, .adjoint = f_adjoint}, .jac = jac,
                               .cost = {.value = r, .adjoint = r_adjoint}};
    costate_conditions conditions = {.map = {.value = ends, .adjoint = ends_adjoint}, .count = 2};
    costate_bvp_options options = {.rtol = 1e-10, .atol = 1e-10, .nbreaks = PIECES - 1, .breaks = breaks};
    costate_bvp *b = costate_bvp_new(costate_method_find("gauss4"), &problem, &conditions, &options);
    costate_bvp_adjoints back = {.m = 1, .points = 1, .t = &end, .lambda = lambda, .mu = gradient};
    int status = costate_bvp_solve(b, 0, 1, nominal);
    if (status == COSTATE_OK) status = costate_bvp_eval(b, end, state);
    if (status == COSTATE_OK) status = costate_bvp_adjoint(b, &back);
    if (status != COSTATE_OK) puts(costate_bvp_message(b));
    *value = state[2];
    printf("gauss4, %d intervals, %d iterations: energy %.15f\n\n%8s %22s %22s\n", costate_bvp_intervals(b),
           costate_bvp_get_stats(b)->iterations, *value, "by", "gradient", "known");
    for (int i = 0; i < NP; i++) printf("%8s %22.15f %22.15f\n", names[i], gradient[i], gradient_known[i]);
    costate_bvp_free(b);
    return status;
}

int main(void)
{
    double value, gradient[NP] = {0}, largest = 0, error = 0;
    if (energy(&value, gradient) != COSTATE_OK) return 1;
    for (int i = 0; i < NP; i++) {
        error = fmax(error, fabs(gradient[i] - gradient_known[i]));
        largest = fmax(largest, fabs(gradient_known[i]));
    }
    error = fmax(error / largest, fabs(value / energy_known - 1));
    printf("\nlargest relative error of the energy and of its gradient: %.1e\n", error);
    return !(error < 1e-9);
}
