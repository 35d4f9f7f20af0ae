/* 22_optimal_control.c - optimal control of van der Pol's oscillator by the Hamiltonian boundary value problem: the
   least cost, and its gradient, which the envelope theorem knows, too.

       minimise  int_0^5 x^2 + v^2 + price u^2 dt,   v' = (1 - x^2) v - x + u,  x' = v,  from v(0), x(0)

   With costates l (of v), k (of x) a minimum has u = -l/(2 price), and

       l' = -2 v - (1 - x^2) l - k,   k' = -2 x + (2 x v + 1) l,   l(5) = k(5) = 0.

   Its least cost C has dC/dprice = int u^2 dt and dC/d(v(0), x(0)) = (l(0), k(0)), as the change of u does not count
   where C is least.  The gradient of the boundary value problem's solution knows nothing of that: that both are equal
   is the first check.  The second forgets the costates: u(t) drives the oscillator as an initial value problem, where C
   must come out again, and have no slope along anything that is added to u. */
#include <costate/bvp.h>
#include <math.h>
#include <stdio.h>

enum { V, X, L, K, N };                             /* the states */
enum { PRICE, V0, X0, NP };                         /* the parameters */
enum { WAVES = 8 };
static const double t_end = 5, pi = 3.14159265358979323846;

/* ---- the boundary value problem ---- */

static int f(const costate_point *at, double *out, void *ctx)
{
    const double *y = at->y;
    out[V] = (1 - y[X] * y[X]) * y[V] - y[X] - y[L] / (2 * at->p[PRICE]);
    out[X] = y[V];
    out[L] = -2 * y[V] - (1 - y[X] * y[X]) * y[L] - y[K];
    out[K] = -2 * y[X] + (2 * y[X] * y[V] + 1) * y[L];
    return (void)ctx, 0;
}
static int jac(const costate_point *at, double *by_y, void *ctx)
{
    const double *y = at->y, damping = 1 - y[X] * y[X], twist = 2 * y[X] * y[V] + 1;
    const double rows[N][N] = {{damping, -twist, -1 / (2 * at->p[PRICE]), 0},
                               {1, 0, 0, 0},
                               {-2, 2 * y[X] * y[L], -damping, -1},
                               {2 * y[X] * y[L], 2 * y[V] * y[L] - 2, twist, 0}};
    for (int i = 0; i < N; i++) for (int j = 0; j < N; j++) by_y[i + N * j] = rows[i][j];
    return (void)ctx, 0;
}
static int f_adjoint(const costate_point *at, const double *w, const costate_gradient *g, void *ctx)
{
    double by_y[N * N], price = at->p[PRICE];
    jac(at, by_y, ctx);
    for (int j = 0; g->y && j < N; j++) for (int i = 0; i < N; i++) g->y[j] += by_y[i + N * j] * w[i];
    if (g->p) g->p[PRICE] += w[V] * at->y[L] / (2 * price * price);
    return 0;
}

/* the cost, and int u^2 */
static int r(const costate_point *at, double *out, void *ctx)
{
    const double *y = at->y, u = -y[L] / (2 * at->p[PRICE]);
    out[0] = y[X] * y[X] + y[V] * y[V] + at->p[PRICE] * u * u;
    out[1] = u * u;
    return (void)ctx, 0;
}
static int r_adjoint(const costate_point *at, const double *w, const costate_gradient *g, void *ctx)
{
    const double *y = at->y, price = at->p[PRICE], u = -y[L] / (2 * price);
    if (g->y) {
        g->y[V] += 2 * y[V] * w[0];
        g->y[X] += 2 * y[X] * w[0];
        g->y[L] -= u * w[0] + u / price * w[1];
    }
    if (g->p) g->p[PRICE] -= u * u * w[0] + 2 * u * u / price * w[1];
    return (void)ctx, 0;
}

static int ends(const costate_point *at, double *out, void *ctx)
{
    const double *start = at->y, *end = at->y + N;
    out[0] = start[V] - at->p[V0];
    out[1] = start[X] - at->p[X0];
    out[2] = end[L];
    out[3] = end[K];
    return (void)ctx, 0;
}
static int ends_adjoint(const costate_point *at, const double *w, const costate_gradient *g, void *ctx)
{
    if (g->y) {
        g->y[V] += w[0];
        g->y[X] += w[1];
        g->y[N + L] += w[2];
        g->y[N + K] += w[3];
    }
    if (g->p) {
        g->p[V0] -= w[0];
        g->p[X0] -= w[1];
    }
    return (void)at, (void)ctx, 0;
}

/* ---- the oscillator with u(t) = -l(t)/(2 price) + sum of p_k cos(k pi t/5), and its cost ---- */

typedef struct { costate_bvp *solution; double price; } drive;

static int forced_control(const costate_point *at, drive *z, double *u)
{
    double Y[N + 2];
    int status = costate_bvp_eval(z->solution, at->t, Y);
    *u = -Y[L] / (2 * z->price);
    for (int k = 0; k < WAVES; k++) *u += at->p[k] * cos(k * pi * at->t / t_end);
    return status;
}
static int forced(const costate_point *at, double *out, void *ctx)
{
    const double *y = at->y;
    double u;
    if (forced_control(at, ctx, &u) != COSTATE_OK) return -1;
    out[V] = (1 - y[X] * y[X]) * y[V] - y[X] + u;
    out[X] = y[V];
    return 0;
}
static int forced_adjoint(const costate_point *at, const double *w, const costate_gradient *g, void *ctx)
{
    const double *y = at->y;
    if (g->y) {
        g->y[V] += (1 - y[X] * y[X]) * w[V] + w[X];
        g->y[X] -= (2 * y[X] * y[V] + 1) * w[V];
    }
    for (int k = 0; g->p && k < WAVES; k++) g->p[k] += cos(k * pi * at->t / t_end) * w[V];
    return (void)ctx, 0;
}
static int forced_cost(const costate_point *at, double *out, void *ctx)
{
    const drive *z = ctx;
    double u;
    if (forced_control(at, ctx, &u) != COSTATE_OK) return -1;
    out[0] = at->y[X] * at->y[X] + at->y[V] * at->y[V] + z->price * u * u;
    return 0;
}
static int forced_cost_adjoint(const costate_point *at, const double *w, const costate_gradient *g, void *ctx)
{
    const drive *z = ctx;
    double u;
    if (forced_control(at, ctx, &u) != COSTATE_OK) return -1;
    for (int i = 0; g->y && i < 2; i++) g->y[i] += 2 * at->y[i] * w[0];
    for (int k = 0; g->p && k < WAVES; k++) g->p[k] += 2 * z->price * u * cos(k * pi * at->t / t_end) * w[0];
    return 0;
}

/* the cost of u(t), and how steep it is along all waves */
static int drive_it(costate_bvp *solution, const double *p, double *cost, double *slope)
{
    drive z = {.solution = solution, .price = p[PRICE]};
    costate_problem problem = {.n = 2, .np = WAVES, .nq = 1, .ctx = &z,
                               .rhs = {.value = forced, .adjoint = forced_adjoint},
                               .cost = {.value = forced_cost, .adjoint = forced_cost_adjoint}};
    costate_options options = {.rtol = 1e-12, .atol = 1e-12, .cost_error = 1};
    costate *c = costate_new(costate_method_find("dopri5"), &problem, &options);
    costate_tape *tape = costate_tape_new();
    double y[3] = {p[V0], p[X0], 0}, waves[WAVES] = {0}, lambda[3] = {0, 0, 1}, mu[WAVES] = {0};
    int status = costate_integrate(c, 0, t_end, y, waves, tape);
    if (status == COSTATE_OK) status = costate_adjoint(c, tape, 1, lambda, mu, NULL, NULL);
    if (status != COSTATE_OK) puts(costate_message(c));
    *cost = y[2];
    *slope = 0;
    for (int k = 0; k < WAVES; k++) *slope = fmax(*slope, fabs(mu[k]));
    costate_tape_free(tape);
    costate_free(c);
    return status;
}

int main(void)
{
    const double p[NP] = {0.1, 0, 1};
    double start[N + 2] = {0}, end[N + 2] = {0}, lambda[N + 2] = {[N] = 1}, mu[NP] = {0}, cost, slope, error = INFINITY;
    costate_problem problem = {.n = N, .np = NP, .nq = 2, .rhs = {.value = f, .adjoint = f_adjoint}, .jac = jac,
                               .cost = {.value = r, .adjoint = r_adjoint}};
    costate_conditions conditions = {.map = {.value = ends, .adjoint = ends_adjoint}, .count = N};
    costate_bvp_options options = {.rtol = 1e-10, .atol = 1e-10};
    costate_bvp *b = costate_bvp_new(costate_method_find("gauss4"), &problem, &conditions, &options);
    costate_bvp_adjoints back = {.m = 1, .points = 1, .t = &t_end, .lambda = lambda, .mu = mu};
    int status = costate_bvp_solve(b, 0, t_end, p);
    if (status == COSTATE_OK) status = costate_bvp_eval(b, 0, start);
    if (status == COSTATE_OK) status = costate_bvp_eval(b, t_end, end);
    if (status == COSTATE_OK) status = costate_bvp_adjoint(b, &back);
    if (status != COSTATE_OK) puts(costate_bvp_message(b));
    if (status == COSTATE_OK) status = drive_it(b, p, &cost, &slope);
    if (status == COSTATE_OK) {
        const double envelope[NP] = {end[N + 1], start[L], start[K]};
        printf("%d intervals, %d iterations: least cost %.11f; by the run with u(t): %.11f\n",
               costate_bvp_intervals(b), costate_bvp_get_stats(b)->iterations, end[N], cost);
        printf("its gradient by price, v(0), x(0): %.10f %.10f %.10f\n", mu[PRICE], mu[V0], mu[X0]);
        printf("int u^2, and the costates at 0:    %.10f %.10f %.10f\n", envelope[0], envelope[1], envelope[2]);
        printf("slope of the run's cost along %d waves added to u: at most %.1e\n", WAVES, slope);
        error = fmax(fabs(end[N] - cost), slope);
        for (int i = 0; i < NP; i++) error = fmax(error, fabs(mu[i] - envelope[i]));
    }
    printf("largest difference: %.1e\n", error);
    costate_bvp_free(b);
    return !(error < 1e-8);
}
