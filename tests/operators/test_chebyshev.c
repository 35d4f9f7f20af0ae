/* test_chebyshev.c - costate_chebyshev: the polynomial is Chebyshev's, its transpose is exact, and errors are reduced
   as the formula says. */
#include <costate/operators.h>
#include "common.h"

enum { N = 40, MOST_COLUMNS = 5 };

/* K = sigma M - L with a full L, and B = (sigma M - diagonal of L)^-1 plus couplings that are not symmetric */
typedef struct {
    double sigma, L[N][N], C[N][N], eigenvalue[N];
    int diagonal;                       /* 1: L = -diag(eigenvalue), B = the identity */
    int setups, applied, solved, most, at, code;        /* most columns at once; apply or solve returns code at `at` */
} model;

static double mass_entry(int i, int j) { return i == j ? 2 + sin(i) : j == i + 1 ? 0.3 : 0; }
static int mass(double *M, void *ctx)
{
    (void)ctx;
    for (int j = 0; j < N; j++) for (int i = 0; i < N; i++) M[j * N + i] = mass_entry(i, j);
    return 0;
}

static int no_rhs(const costate_point *x, double *out, void *ctx) { return (void)x, (void)out, (void)ctx, 0; }

static int apply(int transpose, const double *x, double *out, void *ctx)
{
    model *a = ctx;
    for (int i = 0; i < N; i++) {
        out[i] = a->diagonal ? -a->eigenvalue[i] * x[i] : 0;
        for (int j = 0; j < N && !a->diagonal; j++) out[i] += (transpose ? a->L[j][i] : a->L[i][j]) * x[j];
    }
    return ++a->applied == a->at ? a->code : 0;
}

static int setup(double sigma, const costate_point *x, void *ctx)
{
    model *a = ctx;
    a->sigma = sigma;
    a->setups++;
    return x->p && x->p[0] > 1 ? 1 : 0;
}

static int solves(int transpose, int count, double *X, void *ctx)
{
    model *a = ctx;
    double out[N];
    if (count > a->most) a->most = count;
    for (int c = 0; c < count && !a->diagonal; c++, X += N) {
        for (int i = 0; i < N; i++) {
            out[i] = 0;
            for (int j = 0; j < N; j++) out[i] += (transpose ? a->C[j][i] : a->C[i][j]) * X[j] / a->sigma;
        }
        memcpy(X, out, sizeof out);
    }
    return ++a->solved == -a->at ? a->code : 0;
}
static int solve(int transpose, double *x, void *ctx) { return solves(transpose, 1, x, ctx); }

static void random_model(model *a)
{
    unsigned seed = 3;
    *a = (model){.most = 0};
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) {
            a->L[i][j] = i == j ? -1 - 0.3 * random_in(&seed) : 0.01 * random_in(&seed);
            a->C[i][j] = i == j ? 0.4 : 0.01 * random_in(&seed);
        }
}

static const costate_problem plain = {.n = N, .rhs = {.value = no_rhs}}, weighted = {.n = N, .rhs = {.value = no_rhs},
                                                                                     .mass = mass};

/* out = K x, K = sigma M - L */
static void times_K(const model *a, int with_mass, const double *x, double *out)
{
    for (int i = 0; i < N; i++) {
        out[i] = 0;
        for (int j = 0; j < N; j++)
            out[i] += (a->sigma * (with_mass ? mass_entry(i, j) : i == j) - a->L[i][j]) * x[j];
    }
}

/* The textbook's iteration for B K x = B b from x_0 = 0 (Saad, algorithm 12.1), with residuals formed anew from x */
static void textbook(model *a, int with_mass, int terms, double lo, double hi, const double *b, double *x)
{
    double theta = (hi + lo) / 2, delta = (hi - lo) / 2, sigma_1 = theta / delta, rho = 1 / sigma_1, d[N], r[N];
    memcpy(r, b, sizeof r);
    solves(0, 1, r, a);
    for (int i = 0; i < N; i++) d[i] = r[i] / theta, x[i] = d[i];
    for (int k = 1; k < terms; k++) {
        double next = 1 / (2 * sigma_1 - rho), Kx[N];
        times_K(a, with_mass, x, Kx);
        for (int i = 0; i < N; i++) r[i] = b[i] - Kx[i];
        solves(0, 1, r, a);
        for (int i = 0; i < N; i++) {
            d[i] = next * rho * d[i] + 2 * next / delta * r[i];
            x[i] += d[i];
        }
        rho = next;
    }
}

static costate_chebyshev *made(const costate_problem *P, const costate_polynomial *g)
{
    costate_chebyshev *c = costate_chebyshev_new(P, g);
    assert_string_equal(costate_chebyshev_message(c), "No error.");
    assert_int_equal(costate_chebyshev_status(c), COSTATE_OK);
    return c;
}

static void transposes(void **state)
{
    (void)state;
    static const double lo[] = {0.6, 0.8}, hi[] = {1.4, 0.8};
    for (int terms = 1; terms <= 7; terms++)
        for (int k = 0; k < 8; k++) {
            model a;
            double v[N], w[N], Pv[N], Pw[N], expected[N], vw = 0, wv = 0, size = 0;
            unsigned seed = 8;
            random_model(&a);
            const costate_preconditioner B = {.setup = setup, .solve = k & 4 ? NULL : solve, .solves = solves,
                                              .ctx = &a};
            costate_chebyshev *c = made(k & 1 ? &weighted : &plain, &(costate_polynomial){
                .inner = &B, .apply = apply, .ctx = &a, .terms = terms, .lo = lo[k / 2 % 2], .hi = hi[k / 2 % 2]});
            const costate_preconditioner *P = costate_chebyshev_preconditioner(c);
            assert_int_equal(P->setup(1.7, &(costate_point){0}, P->ctx), 0);
            assert_true(a.setups == 1 && a.sigma == 1.7);
            random_fill(&seed, N, v);
            random_fill(&seed, N, w);
            memcpy(Pv, v, sizeof v);
            memcpy(Pw, w, sizeof w);
            assert_int_equal(P->solve(0, Pv, P->ctx), 0);
            assert_int_equal(P->solve(1, Pw, P->ctx), 0);
            assert_true(a.solved == 2 * terms && a.applied == 2 * (terms - 1));
            for (int i = 0; i < N; i++) {
                vw += w[i] * Pv[i];
                wv += v[i] * Pw[i];
                size += fabs(w[i] * Pv[i]) + fabs(v[i] * Pw[i]);
            }
            assert_true(fabs(vw - wv) < 1e-15 * size);
            if (lo[k / 2 % 2] < hi[k / 2 % 2]) {
                textbook(&a, k & 1, terms, lo[k / 2 % 2], hi[k / 2 % 2], v, expected);
                assert_true(relative_gap(N, Pv, expected) < 1e-14);
            }
            costate_chebyshev_free(c);
        }
}

/* lo = hi is Richardson's iteration; one term is B 2/(lo + hi) */
static void simplest(void **state)
{
    (void)state;
    model a;
    double x[N], y[N], r[N], b[N];
    unsigned seed = 4;
    random_model(&a);
    random_fill(&seed, N, b);
    const costate_preconditioner B = {.setup = setup, .solve = solve, .ctx = &a};
    for (int terms = 1; terms <= 4; terms++) {
        costate_chebyshev *c = made(&plain, &(costate_polynomial){.inner = &B, .apply = terms > 1 ? apply : NULL,
                                    .ctx = &a, .terms = terms, .lo = 1.25, .hi = 1.25});
        const costate_preconditioner *P = costate_chebyshev_preconditioner(c);
        P->setup(2, &(costate_point){0}, P->ctx);
        memcpy(x, b, sizeof x);
        assert_int_equal(P->solve(0, x, P->ctx), 0);
        memset(y, 0, sizeof y);
        for (int k = 0; k < terms; k++) {
            times_K(&a, 0, y, r);
            for (int i = 0; i < N; i++) r[i] = b[i] - r[i];
            solve(0, r, &a);
            for (int i = 0; i < N; i++) y[i] += r[i] / 1.25;
        }
        assert_true(relative_gap(N, x, y) < 1e-14);
        costate_chebyshev_free(c);
    }
    costate_chebyshev *c = made(&plain, &(costate_polynomial){.inner = &B, .terms = 1, .lo = 0.5, .hi = 1.5});
    const costate_preconditioner *P = costate_chebyshev_preconditioner(c);
    P->setup(2, &(costate_point){0}, P->ctx);
    memcpy(x, b, sizeof x);
    memcpy(y, b, sizeof y);
    assert_int_equal(P->solve(0, x, P->ctx), 0);
    solve(0, y, &a);
    assert_memory_equal(x, y, sizeof x);
    costate_chebyshev_free(c);
}

static double T(int k, double x) { return fabs(x) <= 1 ? cos(k * acos(x)) : cosh(k * acosh(x)); }

/* B K = diag(lambda): the error of component i is T_k((theta - lambda)/delta)/T_k(theta/delta) */
static void errors(void **state)
{
    (void)state;
    const double lo = 0.1, hi = 2.1, sigma = 0.05;
    for (int k = 1; k <= 12; k++) {
        model a = {.diagonal = 1};
        double x[N], most = 0;
        const costate_preconditioner B = {.solve = solve, .ctx = &a};
        for (int i = 0; i < N; i++) a.eigenvalue[i] = lo + (hi - lo) * i / (N - 1) - sigma;
        costate_chebyshev *c = made(&plain, &(costate_polynomial){.inner = &B, .apply = apply, .ctx = &a, .terms = k,
                                    .lo = lo, .hi = hi});
        const costate_preconditioner *P = costate_chebyshev_preconditioner(c);
        assert_int_equal(P->setup(sigma, &(costate_point){0}, P->ctx), 0);
        for (int i = 0; i < N; i++) x[i] = sigma + a.eigenvalue[i];
        assert_int_equal(P->solve(0, x, P->ctx), 0);
        for (int i = 0; i < N; i++) {
            double lambda = sigma + a.eigenvalue[i], theta = (hi + lo) / 2, delta = (hi - lo) / 2;
            double predicted = T(k, (theta - lambda) / delta) / T(k, theta / delta);
            assert_true(fabs(1 - x[i] - predicted) < 1e-13);
            most = fmax(most, fabs(1 - x[i]));
        }
        assert_true(fabs(most * T(k, 1.1) - 1) < 1e-12);
        costate_chebyshev_free(c);
    }
}

/* columns change no bit, and B gets as many as are allowed */
static void columns(void **state)
{
    (void)state;
    double X[2][MOST_COLUMNS * N], start[MOST_COLUMNS * N];
    unsigned seed = 6;
    random_fill(&seed, MOST_COLUMNS * N, start);
    for (int columns = 0; columns <= 6; columns += 2) {
        model a;
        random_model(&a);
        const costate_preconditioner B = {.setup = setup, .solve = solve, .solves = solves, .ctx = &a};
        costate_chebyshev *c = made(&weighted, &(costate_polynomial){.inner = &B, .apply = apply, .ctx = &a, .terms = 3,
                                    .lo = 0.5, .hi = 1.5, .columns = columns});
        const costate_preconditioner *P = costate_chebyshev_preconditioner(c);
        P->setup(2, &(costate_point){0}, P->ctx);
        double *x = X[columns > 0];
        memcpy(x, start, sizeof start);
        assert_int_equal(P->solves(1, MOST_COLUMNS, x, P->ctx), 0);
        assert_int_equal(a.most, columns > MOST_COLUMNS ? MOST_COLUMNS : columns > 0 ? columns : 1);
        assert_memory_equal(X[columns > 0], X[0], sizeof start);
        costate_chebyshev_free(c);
    }
}

static void codes(void **state)
{
    (void)state;
    static const struct { int at, code, expected; const char *words; } known[] = {
        {2, 1, 1, "polynomial.apply returned 1."}, {1, -7, COSTATE_CALLBACK, "polynomial.apply returned -7."},
        {-3, 2, 1, "polynomial.inner->solve returned 2."},
        {-1, -1, COSTATE_CALLBACK, "polynomial.inner->solve returned -1."}};
    for (int k = 0; k < 4; k++) {
        model a;
        double x[N] = {1}, p = 2;
        random_model(&a);
        a.at = known[k].at;
        a.code = known[k].code;
        const costate_preconditioner B = {.setup = setup, .solve = solve, .ctx = &a};
        costate_chebyshev *c = made(&plain, &(costate_polynomial){.inner = &B, .apply = apply, .ctx = &a, .terms = 3,
                                    .lo = 0.5, .hi = 1.5});
        const costate_preconditioner *P = costate_chebyshev_preconditioner(c);
        assert_int_equal(P->solve(0, x, P->ctx), COSTATE_BAD_ARGUMENT);
        assert_non_null(strstr(costate_chebyshev_message(c), "without a setup"));
        assert_int_equal(P->setup(1, &(costate_point){.p = &p}, P->ctx), 1);
        assert_string_equal(costate_chebyshev_message(c), "polynomial.inner->setup returned 1.");
        assert_int_equal(P->solve(0, x, P->ctx), COSTATE_BAD_ARGUMENT);
        assert_int_equal(P->setup(1, &(costate_point){0}, P->ctx), 0);
        assert_int_equal(P->solve(0, x, P->ctx), known[k].expected);
        assert_int_equal(costate_chebyshev_status(c), known[k].expected);
        assert_string_equal(costate_chebyshev_message(c), known[k].words);
        assert_int_equal(P->solve(0, x, P->ctx), 0);
        assert_string_equal(costate_chebyshev_message(c), "No error.");
        assert_int_equal(P->setup(1, &(costate_point){.p = &p}, P->ctx), 1);
        assert_int_equal(P->solve(0, x, P->ctx), COSTATE_BAD_ARGUMENT);
        costate_chebyshev_free(c);
    }
}

static void refused(const costate_problem *P, const costate_polynomial *g, int expected, const char *words)
{
    costate_chebyshev *c = costate_chebyshev_new(P, g);
    double x[N] = {0};
    if (costate_chebyshev_status(c) != expected || !strstr(costate_chebyshev_message(c), words))
        fail_msg("%s: %s", words, costate_chebyshev_message(c));
    const costate_preconditioner *B = costate_chebyshev_preconditioner(c);
    assert_int_equal(B->setup(1, &(costate_point){0}, B->ctx), expected);
    assert_int_equal(B->solve(0, x, B->ctx), expected);
    assert_non_null(strstr(costate_chebyshev_message(c), words));
    costate_chebyshev_free(c);
}

static void refusals(void **state)
{
    (void)state;
    const costate_preconditioner B = {.solve = solve}, none = {0};
    const costate_problem odd = {.n = N, .residual = {.value = no_rhs}};
    costate_polynomial g = {.inner = &B, .apply = apply, .terms = 2, .lo = 0.5, .hi = 1};
    refused(NULL, &g, COSTATE_BAD_ARGUMENT, "problem is NULL");
    refused(&odd, &g, COSTATE_BAD_ARGUMENT, "not for residuals");
    refused(&plain, NULL, COSTATE_BAD_ARGUMENT, "polynomial is NULL");
    g.terms = 0;
    refused(&plain, &g, COSTATE_BAD_ARGUMENT, "polynomial.terms = 0: at least 1");
    g.terms = 2;
    g.apply = NULL;
    refused(&plain, &g, COSTATE_MISSING, "polynomial.apply is missing");
    g.apply = apply;
    static const double lo[] = {0, 1, -1, NAN, 1}, hi[] = {1, 0.5, 1, 1, INFINITY};
    for (int k = 0; k < 5; k++) {
        g.lo = lo[k];
        g.hi = hi[k];
        refused(&plain, &g, COSTATE_BAD_ARGUMENT, "0 < lo <= hi is needed");
    }
    g.lo = g.hi = 1;
    g.columns = -1;
    refused(&plain, &g, COSTATE_BAD_ARGUMENT, "polynomial.columns = -1 is negative");
    g.columns = 0;
    g.inner = &none;
    refused(&plain, &g, COSTATE_MISSING, "polynomial.inner is missing, or has no solve");
    g.inner = NULL;
    refused(&plain, &g, COSTATE_MISSING, "polynomial.inner is missing, or has no solve");
    assert_null(costate_chebyshev_preconditioner(NULL));
    assert_int_equal(costate_chebyshev_status(NULL), COSTATE_NO_MEMORY);
    assert_non_null(strstr(costate_chebyshev_message(NULL), "No memory"));
    costate_chebyshev_free(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(transposes), cmocka_unit_test(simplest),
                                       cmocka_unit_test(errors), cmocka_unit_test(columns), cmocka_unit_test(codes),
                                       cmocka_unit_test(refusals)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
