/* 17_newton_cg.c - optimal control of van der Pol's oscillator with 100 unknowns: truncated Newton by Hessian products,
   beside L-BFGS.

       y0' = (1 - y1^2) y0 - y1 + u(t),  y1' = y0,  y(0) = (0, 1);   minimise the integral of y0^2 + y1^2 + u^2/10
       over 0 <= t <= 10,  u linear between its values at 100 equidistant nodes

   Newton's step is found by conjugate gradients, each of which takes one product of the Hessian with a direction:
   exact, from the tape of the run, whatever the number of unknowns.  CG ends early, far from the optimum, and at the
   edge of a trust region or where the curvature is negative (Steihaug).  Steps end at the nodes, where u has a kink,
   and are the same in all runs; so both methods minimise one smooth function. */
#include <costate/costate.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

enum { NP = 100, KEEP = 10 };                       /* unknowns; pairs of L-BFGS */
static const double t_end = 10, price = 0.1;

/* ---- the problem: value, tangent, adjoint, and the derivative of the adjoint, of f and of the integrand ---- */

/* u = (1 - s) p[k] + s p[k + 1] */
static double at_node(double t, int *k)
{
    double x = t / t_end * (NP - 1);
    *k = x < NP - 2 ? (int)x : NP - 2;
    return x - *k;
}
static double control(double t, const double *p)
{
    int k;
    double s = at_node(t, &k);
    return p ? (1 - s) * p[k] + s * p[k + 1] : 0;
}
static void control_adjoint(double t, double w, double *p)
{
    int k;
    double s = at_node(t, &k);
    if (!p) return;
    p[k] += (1 - s) * w;
    p[k + 1] += s * w;
}

static int f(const costate_point *x, double *out, void *ctx)
{
    const double *y = x->y;
    out[0] = (1 - y[1] * y[1]) * y[0] - y[1] + control(x->t, x->p);
    out[1] = y[0];
    return (void)ctx, 0;
}
static int f_tangent(const costate_point *x, const costate_point *dx, double *out, void *ctx)
{
    const double *y = x->y, none[2] = {0}, *v = dx->y ? dx->y : none;
    out[0] = (1 - y[1] * y[1]) * v[0] - (2 * y[0] * y[1] + 1) * v[1] + control(x->t, dx->p);
    out[1] = v[0];
    return (void)ctx, 0;
}
static int f_adjoint(const costate_point *x, const double *w, const costate_gradient *g, void *ctx)
{
    const double *y = x->y;
    if (g->y) {
        g->y[0] += (1 - y[1] * y[1]) * w[0] + w[1];
        g->y[1] -= (2 * y[0] * y[1] + 1) * w[0];
    }
    control_adjoint(x->t, w[0], g->p);
    return (void)ctx, 0;
}
static int f_adjoint_tangent(const costate_point *x, const costate_point *dx, const double *w,
                             const costate_gradient *g, void *ctx)
{
    const double *y = x->y, *v = dx->y;
    if (g->y && v) {
        g->y[0] -= 2 * y[1] * v[1] * w[0];
        g->y[1] -= 2 * (y[1] * v[0] + y[0] * v[1]) * w[0];
    }
    return (void)ctx, 0;
}

static int r(const costate_point *x, double *out, void *ctx)
{
    double u = control(x->t, x->p);
    out[0] = x->y[0] * x->y[0] + x->y[1] * x->y[1] + price * u * u;
    return (void)ctx, 0;
}
static int r_tangent(const costate_point *x, const costate_point *dx, double *out, void *ctx)
{
    const double none[2] = {0}, *v = dx->y ? dx->y : none;
    out[0] = 2 * (x->y[0] * v[0] + x->y[1] * v[1] + price * control(x->t, x->p) * control(x->t, dx->p));
    return (void)ctx, 0;
}
static int r_adjoint(const costate_point *x, const double *w, const costate_gradient *g, void *ctx)
{
    for (int i = 0; g->y && i < 2; i++) g->y[i] += 2 * w[0] * x->y[i];
    control_adjoint(x->t, 2 * w[0] * price * control(x->t, x->p), g->p);
    return (void)ctx, 0;
}
static int r_adjoint_tangent(const costate_point *x, const costate_point *dx, const double *w,
                             const costate_gradient *g, void *ctx)
{
    for (int i = 0; g->y && dx->y && i < 2; i++) g->y[i] += 2 * w[0] * dx->y[i];
    control_adjoint(x->t, 2 * w[0] * price * control(x->t, dx->p), g->p);
    return (void)ctx, 0;
}

/* Products by t are left out: steps and times do not change here. */
static const costate_problem problem = {
    .n = 2, .np = NP, .nq = 1,
    .rhs = {.value = f, .tangent = f_tangent, .adjoint = f_adjoint, .adjoint_tangent = f_adjoint_tangent},
    .cost = {.value = r, .tangent = r_tangent, .adjoint = r_adjoint, .adjoint_tangent = r_adjoint_tangent}};

/* ---- cost, gradient, Hessian products ---- */

typedef struct {
    costate *solver;
    costate_tape *tape;                             /* of the last cost() */
    int runs, gradients, products, failed;
} control_problem;

static double cost(control_problem *z, const double *u)
{
    double y[3] = {0, 1, 0};
    z->runs++;
    if (costate_integrate(z->solver, 0, t_end, y, u, z->tape) == COSTATE_OK) return y[2];
    fprintf(stderr, "%s\n", costate_message(z->solver));
    return z->failed = 1, NAN;
}

static void gradient(control_problem *z, double *g)
{
    double lambda[3] = {0, 0, 1};
    z->gradients++;
    memset(g, 0, NP * sizeof *g);
    if (costate_adjoint(z->solver, z->tape, 1, lambda, g, NULL, NULL) != COSTATE_OK) z->failed = 1;
}

/* the functional is only q: its gradient by (y, q) is constant */
static int seed(double t1, const double *y, const double *p, int m, const double *V, const double *Vp, double *lambda,
                double *mu, double *lambda2, double *mu2, void *ctx)
{
    (void)t1, (void)y, (void)p, (void)m, (void)V, (void)Vp, (void)mu, (void)lambda2, (void)mu2, (void)ctx;
    lambda[2] = 1;
    return 0;
}
static void product(control_problem *z, const double *d, double *Hd)
{
    double lambda[3], lambda2[3];
    z->products++;
    memset(Hd, 0, NP * sizeof *Hd);
    costate_second s = {.m = 1, .Vp = d, .seed = seed, .lambda = lambda, .lambda2 = lambda2, .mu2 = Hd};
    if (costate_hessian(z->solver, z->tape, &s) == COSTATE_OK) return;
    fprintf(stderr, "%s\n", costate_message(z->solver));
    z->failed = 1;
}

/* ---- vectors of NP ---- */

static double dot(const double *a, const double *b)
{
    double s = 0;
    for (int i = 0; i < NP; i++) s += a[i] * b[i];
    return s;
}
static double norm(const double *a) { return sqrt(dot(a, a)); }
static void axpy(double s, const double *a, double *b) { for (int i = 0; i < NP; i++) b[i] += s * a[i]; }
static void copy(const double *a, double *b) { memcpy(b, a, NP * sizeof *b); }

/* ---- truncated Newton in a trust region ---- */

/* the point of d + s e, s >= 0, at the edge */
static void to_edge(double radius, const double *e, double *d)
{
    double a = dot(e, e), b = dot(d, e), c = dot(d, d) - radius * radius;
    axpy((-b + sqrt(b * b - a * c)) / a, e, d);
}

/* d: about -H^-1 g, |d| <= radius; Hd = H d.  Returns the number of products.  (T. Steihaug, SIAM J. Numer. Anal. 20
   (1983) 626-637.) */
static int steihaug(control_problem *z, const double *g, double radius, double *d, double *Hd)
{
    double res[NP], e[NP], He[NP], old[NP], size = norm(g), tol = size * fmin(0.5, sqrt(size));
    memset(d, 0, NP * sizeof *d);
    memset(Hd, 0, NP * sizeof *Hd);
    copy(g, res);
    memset(e, 0, sizeof e);
    axpy(-1, g, e);
    for (int k = 1;; k++) {
        product(z, e, He);
        double curvature = dot(e, He), before = dot(res, res), alpha = before / curvature;
        copy(d, old);
        if (curvature > 0) axpy(alpha, e, d);
        if (curvature <= 0 || norm(d) >= radius) {
            copy(old, d);
            to_edge(radius, e, d);
            axpy(-1, d, old);                       /* old - d, a multiple of e */
            axpy(-dot(old, e) / dot(e, e), He, Hd);
            return k;
        }
        axpy(alpha, He, Hd);
        axpy(alpha, He, res);
        if (norm(res) <= tol || k == NP) return k;
        for (int i = 0; i < NP; i++) e[i] = dot(res, res) / before * e[i] - res[i];
    }
}

static double newton(control_problem *z, double *u, double *g)
{
    double d[NP], Hd[NP], next[NP], radius = 1, value = cost(z, u);
    gradient(z, g);
    printf("truncated Newton      cost    gradient  products   radius\n");
    for (int k = 1; k < 100 && norm(g) > 1e-10 && !z->failed; k++) {
        int products = steihaug(z, g, radius, d, Hd);
        double predicted = -dot(g, d) - dot(d, Hd) / 2, found, ratio;
        copy(u, next);
        axpy(1, d, next);
        found = cost(z, next);
        /* near the optimum the difference is round-off */
        ratio = predicted < 1e-13 * value ? 1 : (value - found) / predicted;
        if (ratio > 0.1) copy(next, u), value = found;
        else cost(z, u);                            /* the tape of u again */
        radius = ratio < 0.25 ? norm(d) / 4 : ratio > 0.75 && norm(d) > 0.99 * radius ? 2 * radius : radius;
        gradient(z, g);
        printf("%8d  %16.12f  %10.2e  %8d  %7.2f\n", k, value, norm(g), products, radius);
    }
    return value;
}

/* ---- L-BFGS ---- */

typedef struct { double s[KEEP][NP], y[KEEP][NP]; int count; } pairs;

/* d = -(approximate H^-1) g, by two loops over the pairs  (J. Nocedal, Math. Comp. 35 (1980) 773-782) */
static void two_loops(const pairs *P, const double *g, double *d)
{
    int first = P->count > KEEP ? P->count - KEEP : 0;
    double a[KEEP];
    for (int i = 0; i < NP; i++) d[i] = -g[i];
    for (int k = P->count - 1; k >= first; k--) {
        const double *s = P->s[k % KEEP], *y = P->y[k % KEEP];
        axpy(-(a[k % KEEP] = dot(s, d) / dot(s, y)), y, d);
    }
    if (P->count) {
        const double *s = P->s[(P->count - 1) % KEEP], *y = P->y[(P->count - 1) % KEEP];
        for (int i = 0; i < NP; i++) d[i] *= dot(s, y) / dot(y, y);
    }
    for (int k = first; k < P->count; k++) {
        const double *s = P->s[k % KEEP], *y = P->y[k % KEEP];
        axpy(a[k % KEEP] - dot(y, d) / dot(s, y), s, d);
    }
}

/* along d until Wolfe's conditions hold, by bisection; u, g: out there.  Returns the cost, or NAN */
static double search(control_problem *z, double value, double step, const double *d, double *u, double *g)
{
    double low = 0, high = INFINITY, slope = dot(g, d), x[NP];
    for (int k = 0; k < 50 && !z->failed; k++) {
        copy(u, x);
        axpy(step, d, x);
        double found = cost(z, x);
        gradient(z, g);
        if (found > value + 1e-4 * step * slope + 1e-15 * fabs(value)) high = step;
        else if (dot(g, d) < 0.9 * slope) low = step;
        else return copy(x, u), found;
        step = high < INFINITY ? (low + high) / 2 : 2 * low;
    }
    return NAN;
}

static double lbfgs(control_problem *z, double *u, double *g)
{
    pairs P = {.count = 0};
    double d[NP], before[NP], g_before[NP], value = cost(z, u);
    gradient(z, g);
    printf("L-BFGS                cost    gradient      runs\n");
    for (int k = 1; k < 2000 && norm(g) > 1e-7 && !z->failed; k++) {
        two_loops(&P, g, d);
        copy(u, before);
        copy(g, g_before);
        double found = search(z, value, P.count ? 1 : 1 / norm(g), d, u, g);
        if (!(found == found)) break;               /* round-off */
        value = found;
        double *s = P.s[P.count % KEEP], *y = P.y[P.count % KEEP];
        for (int i = 0; i < NP; i++) s[i] = u[i] - before[i], y[i] = g[i] - g_before[i];
        P.count += dot(s, y) > 0;
        if (k % 100 == 0 || norm(g) <= 1e-7) printf("%8d  %16.12f  %10.2e  %8d\n", k, value, norm(g), z->runs);
    }
    return value;
}

/* ---- both, and what they must have in common ---- */

/* a product against central differences of gradients: relative gap */
static double against_differences(control_problem *z, const double *u)
{
    double d[NP], Hd[NP], x[NP], g[2][NP], e = 1e-5;
    for (int i = 0; i < NP; i++) d[i] = sin(i + 1);
    cost(z, u);
    product(z, d, Hd);
    for (int k = 0; k < 2; k++) {
        copy(u, x);
        axpy(k ? e : -e, d, x);
        cost(z, x);
        gradient(z, g[k]);
    }
    for (int i = 0; i < NP; i++) x[i] = (g[1][i] - g[0][i]) / (2 * e) - Hd[i];
    return norm(x) / norm(Hd);
}

int main(void)
{
    const costate_options options = {.controller = COSTATE_FIXED, .h0 = t_end / (NP - 1) / 2};
    control_problem z = {.solver = costate_new(costate_method_find("dopri5"), &problem, &options),
                         .tape = costate_tape_new()};
    double u[2][NP] = {{0}}, g[NP], value[2], seconds[2], size;
    if (!z.solver || !z.tape) return 1;
    for (int by = 0; by < 2; by++) {
        clock_t start = clock();
        z.runs = z.gradients = z.products = 0;
        value[by] = (by ? lbfgs : newton)(&z, u[by], g);
        seconds[by] = (double)(clock() - start) / CLOCKS_PER_SEC;
        printf("%d runs, %d gradients, %d products of the Hessian, %.0f ms\n\n", z.runs, z.gradients, z.products,
               1e3 * seconds[by]);
        if (by == 0) size = norm(g);
    }
    double same = fabs(value[1] / value[0] - 1), gap = against_differences(&z, u[0]);
    printf("optima equal to %.1e; a product and differences of gradients to %.1e\n", same, gap);
    printf("gradient at Newton's optimum: %.1e\n", size);
    costate_tape_free(z.tape);
    costate_free(z.solver);
    return z.failed || !(same < 1e-10 && gap < 1e-7 && size < 1e-10);
}
