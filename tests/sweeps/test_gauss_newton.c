/* test_gauss_newton.c - costate_gauss_newton gives J^T W J v, J the Jacobian of what is observed inside steps and at
   the end: formed from tangents by hand, and equal to the Hessian product where what is observed is linear in y(t0). */
#include "common.h"
#include "seconds.h"

enum { NS = 3, N = 5, NP = 2, M = 3, COUNT = 4, ROWS = 2, TIMES = 2, UNIT = NS + NP + TIMES };

/* ---- observed: (y0^2/2, y1 y2) inside, the states at the end; W: a weight each ---- */

static double weight(int k, int r) { return 1 + 0.5 * sin(k + 2.3 * r); }

static void observed_along(const double *y, const double *v, double *z)
{
    z[0] = y[0] * v[0];
    z[1] = y[1] * v[2] + y[2] * v[1];
}
static void observed_back(const double *y, const double *z, double *w)
{
    w[0] = y[0] * z[0];
    w[1] = y[2] * z[1];
    w[2] = y[1] * z[1];
}

/* J itself, from tangents along UNIT unit directions */
typedef struct { double J[COUNT + 1][NS][UNIT]; } jacobian;

static int value(int k, double t, const double *y, int m, const double *V, void *ctx)
{
    jacobian *s = ctx;
    (void)t;
    for (int j = 0; j < m; j++) {
        double z[ROWS];
        observed_along(y, V + j * NS, z);
        for (int r = 0; r < ROWS; r++) s->J[k][r][j] = z[r];
    }
    return 0;
}

static int inside(int k, double t, const double *y, int m, const double *V, double *w, double *w2, void *ctx)
{
    (void)t, (void)ctx;
    assert_null(w);
    for (int j = 0; j < m; j++) {
        double z[ROWS];
        observed_along(y, V + j * NS, z);
        for (int r = 0; r < ROWS; r++) z[r] *= weight(k, r);
        observed_back(y, z, w2 + j * NS);
    }
    return 0;
}

static int at_end(double t1, const double *y, const double *p, int m, const double *V, const double *Vp, double *lambda,
                  double *mu, double *lambda2, double *mu2, void *ctx)
{
    const int *rows = ctx;                               /* N */
    (void)t1, (void)y, (void)p, (void)Vp, (void)mu2;
    assert_true(!lambda && !mu);
    for (int j = 0; j < m; j++)
        for (int i = 0; i < NS; i++) lambda2[j * *rows + i] = weight(COUNT, i) * V[j * *rows + i];
    return 0;
}

/* ---- both ways ---- */

typedef struct { double lambda2[M * N], mu2[M * NP], t0[M], t1[M]; } products;

static void unit_tangents(costate *c, const costate_tape *tape, int n, const double *t, jacobian *s)
{
    double V[UNIT * N] = {0}, Vp[UNIT * NP] = {0}, t0[UNIT] = {0}, t1[UNIT] = {0};
    for (int i = 0; i < NS; i++) V[i * n + i] = 1;
    for (int i = 0; i < NP; i++) Vp[(NS + i) * NP + i] = 1;
    t0[NS + NP] = t1[NS + NP + 1] = 1;
    CHECK_OK(c, costate_tangent(c, tape, UNIT, V, Vp, &(costate_times){.t0 = t0, .t1 = t1},
                                &(costate_observations){.count = COUNT, .t = t, .value = value, .ctx = s}));
    for (int j = 0; j < UNIT; j++)
        for (int i = 0; i < NS; i++) s->J[COUNT][i][j] = V[j * n + i];
}

/* J^T W J along one direction of (y, p, t0, t1) */
static void by_hand(const jacobian *s, const double *v, double *out)
{
    memset(out, 0, UNIT * sizeof *out);
    for (int k = 0; k <= COUNT; k++)
        for (int r = 0; r < (k < COUNT ? ROWS : NS); r++) {
            double z = 0;
            for (int j = 0; j < UNIT; j++) z += s->J[k][r][j] * v[j];
            for (int j = 0; j < UNIT; j++) out[j] += weight(k, r) * z * s->J[k][r][j];
        }
}

static void one(const costate_method *m, const problem *b, int storage)
{
    const costate_options o = {.rtol = 1e-4, .atol = 1e-4, .storage = storage};
    const double t[COUNT] = {b->t0, b->t0 + 0.21, b->t0 + 0.2101, b->t1 - 0.1};
    int n = NS + b->P.nq;
    double y[N] = {0}, V[M * N], Vp[M * NP], dt[2 * M], v[UNIT], truth[UNIT], got[UNIT];
    products x = {.mu2 = {1, 1, 1, 1, 1, 1}};
    jacobian s;
    costate *c = new_for_test(m, &b->P, &o);
    costate_tape *tape = costate_tape_new();
    unsigned state = 5;
    memcpy(y, b->y0, NS * sizeof *y);
    random_fill(&state, M * N, V);
    random_fill(&state, M * NP, Vp);
    random_fill(&state, 2 * M, dt);
    CHECK_OK(c, costate_integrate(c, b->t0, b->t1, y, b->p0, tape));
    unit_tangents(c, tape, n, t, &s);
    CHECK_OK(c, costate_gauss_newton(c, tape, &(costate_second){
        .m = M, .V = V, .Vp = Vp, .along = &(costate_times){.t0 = dt, .t1 = dt + M}, .seed = at_end, .ctx = &n,
        .observations = &(costate_observations){.count = COUNT, .t = t, .seed2 = inside},
        .lambda2 = x.lambda2, .mu2 = x.mu2, .times2 = &(costate_times){.t0 = x.t0, .t1 = x.t1}}));
    for (int j = 0; j < M; j++) {
        for (int i = 0; i < NS; i++) v[i] = V[j * n + i], got[i] = x.lambda2[j * n + i];
        for (int i = 0; i < NP; i++) v[NS + i] = Vp[j * NP + i], got[NS + i] = x.mu2[j * NP + i] - 1;
        v[NS + NP] = dt[j], got[NS + NP] = x.t0[j];
        v[NS + NP + 1] = dt[M + j], got[NS + NP + 1] = x.t1[j];
        by_hand(&s, v, truth);
        double gap = relative_gap(UNIT, got, truth);
        if (!(gap <= 1e-12)) fail_msg("%s, storage %d: gap %.2e in direction %d", method_name(m), storage, gap, j);
    }
    costate_tape_free(tape);
    costate_free(c);
}

static void by_tangents(void **state)
{
    static const int masses[] = {MASS_IDENTITY, MASS_REGULAR, MASS_SINGULAR};
    for (int k = 0; k < 3; k++)
        for (int nq = 0; nq <= 2; nq += 2)
            for (int storage = COSTATE_ALL_STAGES; storage <= COSTATE_STATES_ONLY; storage++)
                if (method_takes(*state, masses[k])) one(*state, problem_synthetic(masses[k], 0, 2, nq, 0), storage);
}

/* ---- a linear problem: y' = A y + b(t), observed are states ---- */

static void linear_problem(second *s)
{
    second_declare(s, "linear", NS, 0, 0, 2, 0, 0);
    graph *g = &s->rhs;
    int a = graph_y(g, 0), b = graph_y(g, 1), zero = graph_number(g, 0);
    int decay = graph_plus(g, graph_plus(g, zero, -2, a), -3, b);
    graph_row(g, graph_plus(g, graph_plus(g, zero, -1, a), 2, b));
    graph_row(g, graph_plus(g, decay, 1, graph_sin(g, graph_t(g))));
    graph_row(g, graph_plus(g, a, -0.5, graph_y(g, 2)));
}

/* 1/2 sum of weights (y - 0.3)^2: w2 alone where w is NULL */
static void quadratic(int k, int n, const double *y, int m, const double *V, double *w, double *w2)
{
    for (int i = 0; w && i < n; i++) w[i] = weight(k, i) * (y[i] - 0.3);
    for (int i = 0; i < n * m; i++) w2[i] = weight(k, i % n) * V[i];
}
static int linear_inside(int k, double t, const double *y, int m, const double *V, double *w, double *w2, void *ctx)
{
    (void)t, (void)ctx;
    return quadratic(k, NS, y, m, V, w, w2), 0;
}
static int linear_end(double t1, const double *y, const double *p, int m, const double *V, const double *Vp,
                      double *lambda, double *mu, double *lambda2, double *mu2, void *ctx)
{
    (void)t1, (void)p, (void)Vp, (void)mu, (void)mu2, (void)ctx;
    return quadratic(COUNT, NS, y, m, V, lambda, lambda2), 0;
}

static void linear(void **state)
{
    static second A;
    const costate_options o = {.rtol = 1e-5, .atol = 1e-5};
    const double t[COUNT] = {0, 0.3, 0.31, 1.9};
    double y[NS] = {1, 0.5, -1}, V[M * NS], lambda[NS], exact[M * NS], product[M * NS];
    costate_observations at = {.count = COUNT, .t = t, .seed2 = linear_inside};
    costate_second s = {.m = M, .V = V, .seed = linear_end, .observations = &at, .lambda = lambda, .lambda2 = exact};
    linear_problem(&A);
    costate *c = new_for_test(*state, &A.P, &o);
    costate_tape *tape = costate_tape_new();
    unsigned seed = 8;
    random_fill(&seed, M * NS, V);
    CHECK_OK(c, costate_integrate(c, 0, 2, y, NULL, tape));
    CHECK_OK(c, costate_hessian(c, tape, &s));
    s.lambda2 = product;
    CHECK_OK(c, costate_gauss_newton(c, tape, &s));
    for (int j = 0; j < M; j++) {
        double gap = relative_gap(NS, product + j * NS, exact + j * NS);
        if (!(gap <= 1e-12)) fail_msg("%s: gap %.2e to the Hessian product", method_name(*state), gap);
    }
    costate_tape_free(tape);
    costate_free(c);
}

int main(void) { return run_by_method("J^T W J v", by_tangents) + run_by_method("a linear problem", linear); }
