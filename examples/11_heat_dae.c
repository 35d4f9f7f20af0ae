/* 11_heat_dae.c - heat in a square whose edge is held at a temperature, 1764 unknowns, 164 of them by constraints.

       inside: u' - a u_xx - b u_yy = 0,   on the edge: u - e = 0       on 42 x 42 points, u(0) given

   as F(t, u, u', p) = 0 with p = (a, b, e), index 1.  How much of the pattern s = sin(pi x) sin(3 pi y) is there at
   t = T, g = sum of s u(T), and its gradient by all 1764 initial values and the 3 parameters by one sweep back.

   No Jacobian is written: costate_pattern_detect finds where dF/du and dF/du' have entries, and both are formed from
   the tangent, columns that share no row together.  The answers are compared with the closed form: s is an eigenvector
   of the differences, with eigenvalue -r, so u - e keeps exp(-r T) of its share of s. */
#include <costate/costate.h>
#include <math.h>
#include <stdio.h>

enum { SIDE = 42, N = SIDE * SIDE, MIDDLE = SIDE / 2 * (SIDE + 1), A = 0, B, EDGE, NP };
static const double PI = 3.14159265358979323846, T = 0.02;

static double place(int j) { return j / (SIDE - 1.0); }
static double weight(int i) { return sin(PI * place(i % SIDE)) * sin(3 * PI * place(i / SIDE)); }
static int inside(int i)
{
    int j = i % SIDE, k = i / SIDE;
    return j > 0 && j < SIDE - 1 && k > 0 && k < SIDE - 1;
}

/* the second difference at point i, of its neighbours at i - off and i + off: off = 1 along x, SIDE along y */
static double second(const double *u, int i, int off)
{
    return (u[i - off] - 2 * u[i] + u[i + off]) * (SIDE - 1) * (SIDE - 1);
}

/* g += w times the derivatives of that by u */
static void second_back(double w, int i, int off, double *g)
{
    w *= (SIDE - 1) * (SIDE - 1);
    g[i - off] += w;
    g[i] -= 2 * w;
    g[i + off] += w;
}

/* ---- F and its products ---- */

static int residual(const costate_point *x, double *F, void *ctx)
{
    const double *u = x->y, *p = x->p;
    for (int i = 0; i < N; i++)
        F[i] = inside(i) ? x->yp[i] - p[A] * second(u, i, 1) - p[B] * second(u, i, SIDE) : u[i] - p[EDGE];
    return (void)ctx, 0;
}

static int tangent(const costate_point *x, const costate_point *dx, double *out, void *ctx)
{
    static const double none[N];
    const double *u = x->y, *p = x->p, *v = dx->y ? dx->y : none, *dv = dx->yp ? dx->yp : none,
                 *dp = dx->p ? dx->p : none;
    for (int i = 0; i < N; i++)
        out[i] = inside(i) ? dv[i] - p[A] * second(v, i, 1) - p[B] * second(v, i, SIDE) -
                             dp[A] * second(u, i, 1) - dp[B] * second(u, i, SIDE)
                           : v[i] - dp[EDGE];
    return (void)ctx, 0;
}

static int adjoint(const costate_point *x, const double *w, const costate_gradient *g, void *ctx)
{
    for (int i = 0; i < N; i++) {
        if (!inside(i)) {
            if (g->y) g->y[i] += w[i];
            if (g->p) g->p[EDGE] -= w[i];
            continue;
        }
        if (g->yp) g->yp[i] += w[i];
        if (g->y) { second_back(-w[i] * x->p[A], i, 1, g->y); second_back(-w[i] * x->p[B], i, SIDE, g->y); }
        if (g->p) { g->p[A] -= w[i] * second(x->y, i, 1); g->p[B] -= w[i] * second(x->y, i, SIDE); }
    }
    return (void)ctx, 0;
}

/* ---- the run, and what it should give ---- */

static void start(const double *p, double *u)
{
    for (int i = 0; i < N; i++) {
        double x = place(i % SIDE), y = place(i / SIDE);
        u[i] = p[EDGE] + 16 * x * (1 - x) * y * (1 - y);
    }
}

/* g from u in u[], lambda and mu: its gradients by u(0) and p */
static int run(const double *p, double *u, double *lambda, double *mu, double *g)
{
    static const double still[N];
    costate_problem problem = {.n = N, .np = NP, .residual = {.value = residual, .tangent = tangent,
                                                              .adjoint = adjoint}};
    costate_options options = {.rtol = 1e-9, .atol = 1e-9, .autonomous = 1};
    costate_pattern *pattern = NULL;
    costate_report report;
    int status = costate_pattern_detect(&problem, &(costate_point){.y = u, .p = p, .yp = still}, &pattern, &report);
    if (status != COSTATE_OK) return puts(report.text), status;
    problem.pattern = pattern;
    costate *c = costate_new(costate_method_find("radau2a"), &problem, &options);
    costate_tape *tape = costate_tape_new();
    status = costate_integrate(c, 0, T, u, p, tape);
    *g = 0;
    for (int i = 0; i < N; i++) { lambda[i] = weight(i); *g += weight(i) * u[i]; }
    if (status == COSTATE_OK) status = costate_adjoint(c, tape, 1, lambda, mu, NULL, NULL);
    if (status != COSTATE_OK) puts(costate_message(c));
    printf("%d steps of radau2a by %s, %d entries, %ld Jacobians of %ld products\n", costate_tape_steps(tape),
           costate_solver_name(c), pattern->col[N], costate_get_stats(c)->jac, costate_get_stats(c)->jac_products);
    costate_tape_free(tape);
    costate_free(c);
    costate_pattern_free(pattern);
    return status;
}

/* -(second difference of sin(k pi x)) / sin(k pi x) */
static double eigenvalue(int k) { return pow(2 * (SIDE - 1) * sin(k * PI / 2 / (SIDE - 1)), 2); }

int main(void)
{
    static double u[N], lambda[N];
    const double p[NP] = {1, 0.5, 0.25};
    double mu[NP] = {0}, g, sum = 0, of_start = 0, worst = 0, on_edge = 0;
    double share = exp(-T * (p[A] * eigenvalue(1) + p[B] * eigenvalue(3)));
    start(p, u);
    for (int i = 0; i < N; i++) { sum += weight(i); of_start += weight(i) * (u[i] - p[EDGE]); }
    if (run(p, u, lambda, mu, &g) != COSTATE_OK) return 1;

    const double exact = share * of_start + p[EDGE] * sum, by_p[NP] = {
        -T * eigenvalue(1) * share * of_start, -T * eigenvalue(3) * share * of_start, (1 - share) * sum};
    printf("g = %.10f, by a: %.9f, by b: %.9f\n", g, mu[A], mu[B]);
    printf("by u(0) in the middle: %.9f; exp(-r T) s: %.9f\n", lambda[MIDDLE], share * weight(MIDDLE));
    worst = fabs(g / exact - 1);
    for (int k = 0; k < NP; k++) worst = fmax(worst, fabs(mu[k] / by_p[k] - 1));
    for (int i = 0; i < N; i++) {
        if (inside(i)) worst = fmax(worst, fabs(lambda[i] - share * weight(i)) / share);
        else on_edge = fmax(on_edge, fabs(lambda[i]));
    }
    /* u(0) on the edge is what the constraint says: nothing depends on what was given for it.  What does something is
       the temperature in the constraint; whoever wants the gradient by it makes it a parameter. */
    printf("by u(0) on the edge: %g, all of them; by the temperature of the edge: %.8f\n", on_edge, mu[EDGE]);
    printf("largest relative error %.1e\n", worst);
    return !(worst < 1e-7 && on_edge == 0);
}
