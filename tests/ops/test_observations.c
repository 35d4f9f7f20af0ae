/* test_observations.c - terms of a functional inside the steps: exact transposes of the tangents there, and the
   derivatives of the frozen run's dense output. */
#include "common.h"

enum { N = 5, NS = 3, M = 2, COUNT = 9 };       /* NS states, and two integrals */

/* the term of functional j at observation k is <w_kj, y(t_k)> */
static double weight(int k, int i, int j) { return sin(1 + 0.7 * k + 1.3 * i + 2.1 * j); }

typedef struct { int next, step, fail_at; double y[COUNT][NS], V[COUNT][M * NS]; } log_of;

static int seed(int k, double t, const double *y, int m, double *w, void *ctx)
{
    log_of *s = ctx;
    (void)t;
    assert_int_equal(k, s->next);
    s->next += s->step;
    memcpy(s->y[k], y, sizeof s->y[k]);
    for (int i = 0; i < NS * m; i++) { assert_true(w[i] == 0); w[i] = weight(k, i % NS, i / NS); }
    return k == s->fail_at ? -1 : 0;
}

static int value(int k, double t, const double *y, int m, const double *V, void *ctx)
{
    log_of *s = ctx;
    (void)t;
    assert_int_equal(k, s->next);
    s->next += s->step;
    memcpy(s->y[k], y, sizeof s->y[k]);
    memcpy(s->V[k], V, (size_t)(m * NS) * sizeof *V);
    return k == s->fail_at ? 1 : 0;
}

static void start(const problem *b, double *y)
{
    memset(y, 0, N * sizeof *y);
    memcpy(y, b->y0, NS * sizeof *y);
}

/* the ends, ends of steps, several in one step */
static void choose_times(const costate_tape *tape, double t0, double t1, double *t)
{
    double a, h;
    costate_tape_get(tape, 1, &a, &h, NULL);
    const double chosen[COUNT] = {t0, t0 + 0.3 * (a - t0), a, a + 0.1 * h, a + 0.1 * h, a + 0.8 * h, a + h,
                                  a + h + 0.5 * (t1 - a - h), t1};
    memcpy(t, chosen, sizeof chosen);
}

static void one_transpose(const costate_method *m, const problem *b, const costate_options *o, double t0, double t1)
{
    int n = NS + b->P.nq, np = b->P.np;
    double y[N], x[2 * M * N], V[M * N], lambda[M * N], Vp[M * 2], mu[M * 2] = {0};
    double d[4 * M], t[COUNT], dt[COUNT * M], at[COUNT][NS];
    costate_times given = {.t0 = d, .t1 = d + M}, asked = {.t0 = d + 2 * M, .t1 = d + 3 * M};
    log_of to = {.step = 1, .fail_at = -1}, back = {.next = COUNT - 1, .step = -1, .fail_at = -1};
    costate_observations forward = {.count = COUNT, .t = t, .value = value, .ctx = &to};
    costate_observations backward = {.count = COUNT, .t = t, .seed = seed, .dt = dt, .ctx = &back};
    costate *c = new_for_test(m, &b->P, o);
    costate_tape *tape = costate_tape_new();
    unsigned state = 21;
    start(b, y);
    random_fill(&state, 2 * M * N, x);
    random_fill(&state, M * 2, Vp);
    random_fill(&state, 2 * M, d);
    memcpy(V, x, sizeof V);
    memcpy(lambda, x + M * N, sizeof lambda);
    CHECK_OK(c, costate_integrate(c, t0, t1, y, b->p0, tape));
    assert_true(costate_tape_steps(tape) > 2);
    choose_times(tape, t0, t1, t);
    for (int k = 0; k < COUNT; k++) CHECK_OK(c, costate_tape_eval(c, tape, t[k], at[k]));
    CHECK_OK(c, costate_tangent(c, tape, M, V, np ? Vp : NULL, &given, &forward));
    CHECK_OK(c, costate_adjoint(c, tape, M, lambda, np ? mu : NULL, &asked, &backward));
    assert_true(to.next == COUNT && back.next == -1);
    for (int i = 0; i < M; i++)
        for (int j = 0; j < M; j++) {
            double left = 0, right = d[2 * M + i] * d[j] + d[3 * M + i] * d[M + j], size = fabs(right);
            for (int k = 0; k < n; k++) {
                left += x[M * N + i * n + k] * V[j * n + k];
                right += lambda[i * n + k] * x[j * n + k];
                size += fabs(lambda[i * n + k] * x[j * n + k]);
            }
            for (int k = 0; k < COUNT; k++) for (int l = 0; l < NS; l++) left += weight(k, l, i) * to.V[k][j * NS + l];
            for (int k = 0; k < np; k++) {
                right += mu[i * np + k] * Vp[j * np + k];
                size += fabs(mu[i * np + k] * Vp[j * np + k]);
            }
            if (!(fabs(left - right) <= 1e-12 * size))
                fail_msg("%s, %s, storage %d: gap %.1e", method_name(m), b->name, o->storage,
                         fabs(left - right) / size);
        }
    for (int k = 0; k < COUNT; k++)
        for (int l = 0; l < NS; l++)
            if (!(fabs(to.y[k][l] - back.y[k][l]) <= 1e-14 && fabs(to.y[k][l] - at[k][l]) <= 1e-13))
                fail_msg("%s, %s: y at observation %d: %.16g, %.16g, %.16g", method_name(m), b->name, k, to.y[k][l],
                         back.y[k][l], at[k][l]);
    costate_free(c);
    costate_tape_free(tape);
}

static void transpose(void **state)
{
    const costate_method *m = *state;
    int irk = is_newton(m);
    for (int k = 0; k < PROBLEM_SYNTHETICS; k++) {
        const problem *b = problem_synthetic_at(k);
        if (!method_takes(m, b->mass)) continue;
        costate_options o = {.rtol = 1e-3, .atol = 1e-3, .hmax = 0.2, .autonomous = b->autonomous, .storage = k & 1,
                             .keep_factors = k & 2 ? 1 : -1};
        if (irk) o.stage_solve = k & 4 ? COSTATE_STAGE_DIRECT : COSTATE_STAGE_ITERATIVE;
        one_transpose(m, b, &o, b->t0, b->t1);
        if (k % 3 == 0) { o.hmax = 0.05; one_transpose(m, b, &o, b->t0, b->t0 - 0.2); }
    }
}

/* ---- against 8th-order differences of the frozen run ------------------------------------------------------------- */

enum { SEEN = 5 };

static double functional(costate *c, costate_tape *tape, const problem *b, const double *y0, const double *p, double t0,
                         double t1, const double *t)
{
    double y[N], sum = 0, at[NS];
    memcpy(y, y0, sizeof y);
    CHECK_OK(c, costate_integrate(c, t0, t1, y, b->P.np ? p : NULL, tape));
    for (int k = 0; k < SEEN; k++) {
        CHECK_OK(c, costate_tape_eval(c, tape, t[k], at));
        for (int i = 0; i < NS; i++) sum += weight(k, i, 0) * at[i];
    }
    return sum + y[0];
}

static void differences(void **state)
{
    static const double w8[] = {4.0 / 5, -1.0 / 5, 4.0 / 105, -1.0 / 280};
    const costate_method *m = *state;
    double largest = 0;
    for (int s = 0; s < PROBLEM_SYNTHETICS; s += 2) {
        const problem *b = problem_synthetic_at(s);
        if (!method_takes(m, b->mass)) continue;
        double span = b->t1 - b->t0, h = span / 3.7, e = 0.01, total = 0, expected, sum = 0;
        double y[N], z[N], p[2], Vp[2], V[N], V1[SEEN + 2];
        costate_options o = {.controller = COSTATE_FIXED, .h0 = h, .derivative_mode = 1, .autonomous = b->autonomous,
                             .rtol = 1e-4, .atol = 1e-4};
        double t[SEEN] = {b->t0 + 0.4 * h, b->t0 + 1.3 * h, b->t0 + 1.7 * h, b->t0 + 2.5 * h, b->t0 + 3.4 * h},
               dt[SEEN];
        costate *c = costate_new(m, &b->P, &o);
        costate_tape *tape = costate_tape_new();
        unsigned random = 31;
        start(b, y);
        random_fill(&random, N, V);
        random_fill(&random, 2, Vp);
        random_fill(&random, SEEN + 2, V1);                          /* of t0, t1, and the times of observation */
        for (int i = 0; i < N; i++) V[i] *= 0.3;
        for (int k = -4; k <= 4; k++) {
            if (k == 0) continue;
            double tk[SEEN];
            for (int i = 0; i < N; i++) z[i] = y[i] + k * e * V[i];
            for (int i = 0; i < 2; i++) p[i] = b->P.np ? b->p0[i] + k * e * Vp[i] : 0;
            for (int i = 0; i < SEEN; i++) tk[i] = t[i] + k * e * 0.2 * V1[2 + i];
            double t0 = b->t0 + k * e * 0.3 * V1[0], t1 = b->t1 + k * e * 0.3 * V1[1];
            total += (k > 0 ? 1 : -1) * w8[abs(k) - 1] / e * functional(c, tape, b, z, p, t0, t1, tk);
        }
        functional(c, tape, b, y, b->p0, b->t0, b->t1, t);
        log_of back = {.next = SEEN - 1, .step = -1, .fail_at = -1};
        costate_observations seen = {.count = SEEN, .t = t, .seed = seed, .dt = dt, .ctx = &back};
        double lambda[N] = {1}, mu[2] = {0}, g[2];
        costate_times times = {.t0 = g, .t1 = g + 1};
        CHECK_OK(c, costate_adjoint(c, tape, 1, lambda, b->P.np ? mu : NULL, &times, &seen));
        expected = 0.3 * (g[0] * V1[0] + g[1] * V1[1]);
        for (int i = 0; i < NS + b->P.nq; i++) { expected += lambda[i] * V[i]; sum += fabs(lambda[i] * V[i]); }
        for (int i = 0; i < b->P.np; i++) expected += mu[i] * Vp[i];
        for (int i = 0; i < SEEN; i++) expected += 0.2 * dt[i] * V1[2 + i];
        largest = larger_of(largest, fabs(expected - total) / sum);
        if (!(fabs(expected - total) <= 1e-9 * sum))
            fail_msg("%s, %s: %.12g by differences, %.12g by the adjoint", method_name(m), b->name, total, expected);
        costate_free(c);
        costate_tape_free(tape);
    }
    print_message("           largest error %.1e\n", largest);
}

/* ---- segments ---------------------------------------------------------------------------------------------------- */

/* Two tapes, the term added between them: the same as one tape with an observation there. */
static void segments(void **state)
{
    const costate_method *m = *state;
    for (int mass = MASS_IDENTITY; mass <= MASS_SINGULAR; mass++) {
        const problem *b = problem_synthetic(mass, 0, 2, 2, 0);
        if (!method_takes(m, mass)) continue;
        costate_options o = {.controller = COSTATE_FIXED, .h0 = 0.13, .derivative_mode = 1, .rtol = 1e-4, .atol = 1e-4};
        costate *c = costate_new(m, &b->P, &o);
        costate_tape *whole = costate_tape_new(), *first = costate_tape_new(), *second = costate_tape_new();
        double y[N], z[N], between, one[N] = {1, 0, 0, 0.5}, two[N] = {1, 0, 0, 0.5}, mu[2] = {0}, nu[2] = {0};
        start(b, y);
        start(b, z);
        CHECK_OK(c, costate_integrate(c, b->t0, b->t1, y, b->p0, whole));
        costate_tape_get(whole, 3, &between, NULL, NULL);
        CHECK_OK(c, costate_integrate(c, b->t0, between, z, b->p0, first));
        CHECK_OK(c, costate_integrate(c, between, b->t1, z, b->p0, second));
        log_of back = {.step = -1, .fail_at = -1};
        costate_observations seen = {.count = 1, .t = &between, .seed = seed, .ctx = &back};
        CHECK_OK(c, costate_adjoint(c, whole, 1, one, mu, NULL, &seen));
        CHECK_OK(c, costate_adjoint(c, second, 1, two, nu, NULL, NULL));
        for (int i = 0; i < NS; i++) two[i] += weight(0, i, 0);
        CHECK_OK(c, costate_adjoint(c, first, 1, two, nu, NULL, NULL));
        for (int i = 0; i < N; i++) if (!(fabs(one[i] - two[i]) <= 1e-12 && fabs(mu[i % 2] - nu[i % 2]) <= 1e-12))
            fail_msg("%s, %s: %.15g and %.15g, by p %.15g and %.15g", method_name(m), b->name, one[i], two[i],
                     mu[i % 2], nu[i % 2]);
        costate_free(c);
        costate_tape_free(whole);
        costate_tape_free(first);
        costate_tape_free(second);
    }
}

static void refused(void **state)
{
    const problem *b = problem_synthetic(MASS_IDENTITY, 0, 2, 2, 0);
    double y[N], x[N] = {1}, t[3] = {0.4, 0.9, 0.8};
    log_of s = {.step = 1, .fail_at = -1};
    costate *c = new_for_test(*state, &b->P, &(costate_options){.rtol = 1e-3, .atol = 1e-3});
    costate_tape *tape = costate_tape_new(), *empty = costate_tape_new();
    costate_observations o = {.count = 3, .t = t, .value = value, .seed = seed, .ctx = &s};
    start(b, y);
    CHECK_OK(c, costate_integrate(c, b->t0, b->t0, y, b->p0, empty));
    CHECK_OK(c, costate_integrate(c, b->t0, b->t1, y, b->p0, tape));
    const double bad[] = {0.8, 1.31, 0.29, NAN};
    for (int k = 0; k < 4; k++) {
        t[2] = bad[k];
        assert_int_equal(costate_adjoint(c, tape, 1, x, NULL, NULL, &o), COSTATE_OUT_OF_RANGE);
        assert_non_null(strstr(costate_message(c), "t[2]"));
        assert_int_equal(costate_tangent(c, tape, 1, x, NULL, NULL, &o), COSTATE_OUT_OF_RANGE);
    }
    t[2] = 1;
    assert_int_equal(costate_adjoint(c, empty, 1, x, NULL, NULL, &o), COSTATE_OUT_OF_RANGE);
    assert_non_null(strstr(costate_message(c), "functional of the end"));
    o.count = -1;
    assert_int_equal(costate_adjoint(c, tape, 1, x, NULL, NULL, &o), COSTATE_BAD_ARGUMENT);
    o = (costate_observations){.count = 3, .value = value, .seed = seed, .ctx = &s};
    assert_int_equal(costate_adjoint(c, tape, 1, x, NULL, NULL, &o), COSTATE_BAD_ARGUMENT);
    o = (costate_observations){.count = 3, .t = t, .ctx = &s};
    assert_int_equal(costate_adjoint(c, tape, 1, x, NULL, NULL, &o), COSTATE_MISSING);
    assert_int_equal(costate_tangent(c, tape, 1, x, NULL, NULL, &o), COSTATE_MISSING);
    assert_true(x[0] == 1 && x[1] == 0);
    o = (costate_observations){.count = 3, .t = t, .value = value, .seed = seed, .ctx = &s};
    s = (log_of){.next = 2, .step = -1, .fail_at = 1};
    assert_int_equal(costate_adjoint(c, tape, 1, x, NULL, NULL, &o), COSTATE_CALLBACK);
    s = (log_of){.step = 1, .fail_at = 1};
    assert_int_equal(costate_tangent(c, tape, 1, y, NULL, NULL, &o), COSTATE_CALLBACK);
    costate_free(c);
    costate_tape_free(tape);
    costate_tape_free(empty);
}

int main(void)
{
    return run_by_method("observations: transpose", transpose) +
           run_by_method("observations: derivatives", differences) + run_by_method("observations: segments", segments) +
           run_by_method("observations refused", refused);
}
