/* test_fekete.c - twenty points that repel each other on a sphere: 160 unknowns, index 2, and a gradient.

       p_i' = q_i + 2 mu_i p_i,   q_i' = sum_{j != i} u/|u|^2 - q_i/2 + 2 lambda_i p_i,  u = p_i - p_j,
       0 = |p_i|^2 - 1,   0 = 2 p_i.q_i                    (IVP test set; stabilised index 2: mu, lambda)

   at rest at t = 0 on circles given by eight numbers a; log V = sum_{i<j} log|p_i - p_j| at t = 1, and its gradient by
   a.  The references were made elsewhere, by two routes. */
#include "common.h"

enum { POINTS = 20, P = 0, Q = 60, MU = 120, LAMBDA = 140, N = 160, NA = 8 };

static const double PI = 3.14159265358979323846;

/* T(u) = u/r, r = |u|^2, or T'(u) d = d/r - 2 u (u.d)/r^2, which is symmetric */
static void pair(const double *u, const double *d, double *out)
{
    double r = 0, ud = 0;
    for (int k = 0; k < 3; k++) { r += u[k] * u[k]; ud += d ? u[k] * d[k] : 0; }
    for (int k = 0; k < 3; k++) out[k] = d ? d[k] / r - 2 * u[k] * ud / (r * r) : u[k] / r;
}

/* minus sum_{j != i} of T(u), or of T'(u) (d_i - d_j), added to out; also its transpose, as it is symmetric */
static void repel(const double *p, const double *d, double *out)
{
    for (int i = 0; i < POINTS; i++)
        for (int j = 0; j < i; j++) {
            double u[3], e[3], f[3];
            for (int k = 0; k < 3; k++) {
                u[k] = p[3 * i + k] - p[3 * j + k];
                e[k] = d ? d[3 * i + k] - d[3 * j + k] : 0;
            }
            pair(u, d ? e : NULL, f);
            for (int k = 0; k < 3; k++) { out[3 * i + k] -= f[k]; out[3 * j + k] += f[k]; }
        }
}

static int value(const costate_point *x, double *F, void *ctx)
{
    const double *y = x->y, *k = x->yp;
    (void)ctx;
    for (int i = 0; i < 60; i++) {
        double mu = y[MU + i / 3], lambda = y[LAMBDA + i / 3];
        F[P + i] = k[P + i] - y[Q + i] - 2 * mu * y[P + i];
        F[Q + i] = k[Q + i] + y[Q + i] / 2 - 2 * lambda * y[P + i];
    }
    repel(y + P, NULL, F + Q);
    for (int i = 0; i < POINTS; i++) {
        const double *p = y + P + 3 * i, *q = y + Q + 3 * i;
        F[MU + i] = p[0] * p[0] + p[1] * p[1] + p[2] * p[2] - 1;
        F[LAMBDA + i] = 2 * (p[0] * q[0] + p[1] * q[1] + p[2] * q[2]);
    }
    return 0;
}

static int tangent(const costate_point *x, const costate_point *dx, double *out, void *ctx)
{
    static const double zeros[N];
    const double *y = x->y, *d = dx->y ? dx->y : zeros, *dk = dx->yp ? dx->yp : zeros;
    (void)ctx;
    for (int i = 0; i < 60; i++) {
        int m = MU + i / 3, l = LAMBDA + i / 3;
        out[P + i] = dk[P + i] - d[Q + i] - 2 * (d[m] * y[P + i] + y[m] * d[P + i]);
        out[Q + i] = dk[Q + i] + d[Q + i] / 2 - 2 * (d[l] * y[P + i] + y[l] * d[P + i]);
    }
    repel(y + P, d + P, out + Q);
    for (int i = 0; i < POINTS; i++) {
        const double *p = y + P + 3 * i, *q = y + Q + 3 * i, *dp = d + P + 3 * i, *dq = d + Q + 3 * i;
        out[MU + i] = out[LAMBDA + i] = 0;
        for (int k = 0; k < 3; k++) {
            out[MU + i] += 2 * p[k] * dp[k];
            out[LAMBDA + i] += 2 * (dp[k] * q[k] + p[k] * dq[k]);
        }
    }
    return 0;
}

static int adjoint(const costate_point *x, const double *w, const costate_gradient *g, void *ctx)
{
    const double *y = x->y;
    (void)ctx;
    for (int i = 0; g->yp && i < 120; i++) g->yp[i] += w[i];
    if (!g->y) return 0;
    for (int i = 0; i < 60; i++) {
        int m = MU + i / 3, l = LAMBDA + i / 3;
        g->y[Q + i] += w[Q + i] / 2 - w[P + i] + 2 * y[P + i] * w[l];
        g->y[P + i] += 2 * (y[P + i] * w[m] + y[Q + i] * w[l] - y[m] * w[P + i] - y[l] * w[Q + i]);
        g->y[m] -= 2 * y[P + i] * w[P + i];
        g->y[l] -= 2 * y[P + i] * w[Q + i];
    }
    repel(y + P, w + Q, g->y + P);
    return 0;
}

/* p(0) on circles of 3, 7, 6 and 4 points, and its derivative by a */
static void start(const double *a, double *y, double *dy)
{
    static const int first[] = {0, 3, 10, 16, 20};
    memset(y, 0, N * sizeof *y);
    memset(dy, 0, N * NA * sizeof *dy);
    for (int c = 0; c < 4; c++)
        for (int j = first[c]; j < first[c + 1]; j++) {
            double b = a[2 * c] * PI, w = 2.0 * (j + 1 - first[c]) / (first[c + 1] - first[c]) * PI + a[2 * c + 1] * PI;
            const double p[3] = {cos(w) * cos(b), sin(w) * cos(b), sin(b)};
            const double by_b[3] = {-cos(w) * sin(b), -sin(w) * sin(b), cos(b)}, by_w[3] = {-p[1], p[0], 0};
            for (int k = 0; k < 3; k++) {
                y[P + 3 * j + k] = p[k];
                dy[2 * c * N + P + 3 * j + k] = PI * by_b[k];
                dy[(2 * c + 1) * N + P + 3 * j + k] = PI * by_w[k];
            }
        }
}

static double log_V(const double *p, double *dp)
{
    double sum = 0;
    memset(dp, 0, N * sizeof *dp);
    for (int i = 0; i < POINTS; i++)
        for (int j = 0; j < i; j++) {
            double u[3], f[3], r = 0;
            for (int k = 0; k < 3; k++) { u[k] = p[3 * i + k] - p[3 * j + k]; r += u[k] * u[k]; }
            pair(u, NULL, f);
            sum += log(r) / 2;
            for (int k = 0; k < 3; k++) { dp[3 * i + k] += f[k]; dp[3 * j + k] -= f[k]; }
        }
    return sum;
}

static void fekete(void **state)
{
    static const double a[NA] = {3.0 / 8, 1.0 / 13, 1.0 / 8, 1.0 / 29, -2.0 / 15, 1.0 / 7, -3.0 / 10, 1.0 / 17};
    static const double expected = 5.36581032791699800e+01, gradient[NA] = {
        -3.73669921741740425e+00, -3.38401585297040042e-02, -1.69288931494110344e+00, 2.16462597112006384e-01,
        9.89434215180579209e+00, -1.86876360224924199e-01, -3.51351462031008955e+00, 4.25392164262181830e-03};
    static const double p1[] = {-3.49978279373252528e-01, 3.68855763471987322e-01, 8.61081081966405152e-01};
    static const double lambda1 = -4.75142218549995548e+00;
    static double y[N], dy[N * NA], lambda[N];
    static int index[N];
    for (int i = 0; i < N; i++) index[i] = i < MU ? 0 : 2;
    costate_problem sphere = {.n = N, .residual = {.value = value, .tangent = tangent, .adjoint = adjoint},
                              .index = index};
    costate_options o = {.rtol = 1e-9, .atol = 1e-9, .autonomous = 1};
    costate *c = costate_new(costate_method_find(*state), &sphere, &o);
    costate_tape *tape = costate_tape_new();
    double by_a[NA] = {0};
    start(a, y, dy);
    CHECK_OK(c, costate_integrate(c, 0, 1, y, NULL, tape));
    double V = log_V(y + P, lambda);
    CHECK_OK(c, costate_adjoint(c, tape, 1, lambda, NULL, NULL, NULL));
    for (int j = 0; j < NA; j++) for (int i = 0; i < N; i++) by_a[j] += lambda[i] * dy[j * N + i];
    double of_gradient = relative_gap(NA, by_a, gradient), of_p = relative_gap(3, y, p1);
    print_message("           %s: %d steps; log V %.1e, p1 %.1e, lambda1 %.1e, gradient %.1e\n", (const char *)*state,
                  costate_tape_steps(tape), fabs(V / expected - 1), of_p, fabs(y[LAMBDA] / lambda1 - 1), of_gradient);
    assert_true(fabs(V / expected - 1) <= 1e-8);
    assert_true(of_p <= 1e-8);
    assert_true(fabs(y[LAMBDA] / lambda1 - 1) <= 1e-5);
    assert_true(of_gradient <= 1e-7);
    costate_tape_free(tape);
    costate_free(c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        {"radau2a", fekete, NULL, NULL, "radau2a"}, {"radau2a5", fekete, NULL, NULL, "radau2a5"}};
    return cmocka_run_group_tests_name("Fekete's points", tests, NULL, NULL);
}
