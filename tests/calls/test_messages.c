/* test_messages.c - sentences say what helps: counts are those of the call, a missing rhs.tangent has another way out,
   a large dense Jacobian that is mostly zeros is worth a hint, a Jacobian that is NaN is named, and so is the check of
   one that may be wrong. */
#include "common.h"

/* y' = -y, until t = 1: not defined beyond */
static int until_1(const costate_point *x, double *out, void *ctx)
{
    (void)ctx;
    out[0] = -x->y[0];
    return x->t > 1;
}
static int decay_jac(const costate_point *x, double *J, void *ctx) { (void)x, (void)ctx; J[0] = -1; return 0; }

static void counts(void **state)
{
    const costate_method *m = *state;
    costate_problem P = {.n = 1, .rhs = {.value = until_1}, .jac = decay_jac};
    costate *c = new_for_test(m, &P, &(costate_options){.hmax = 0.05, .autonomous = 1});
    costate_stats before, after;
    char words[80];
    double y = 1;
    for (int k = 0; k < 3; k++) CHECK_OK(c, costate_integrate(c, 0, 0.9, &y, NULL, NULL));
    for (int k = 0; k < 2; k++) {
        before = *costate_get_stats(c);
        assert_int_equal(costate_integrate(c, 0, 2, &y, NULL, NULL), COSTATE_CALLBACK);
        after = *costate_get_stats(c);
        snprintf(words, sizeof words, "after %ld accepted and %ld rejected steps", after.accepted - before.accepted,
                 after.rejected - before.rejected);
        if (!strstr(costate_message(c), words))
            fail_msg("%s: no \"%s\": %s", method_name(m), words, costate_message(c));
    }
    costate_free(c);
}

static void missing_tangent(void **state)
{
    const costate_method *m = *state;
    costate_problem P = {.n = 1, .rhs = {.value = until_1}, .jac = decay_jac};
    double y = 1;
    if (method_info(m).family != COSTATE_ROS) return;
    costate *c = new_for_test(m, &P, NULL);
    assert_int_equal(costate_integrate(c, 0, 0.5, &y, NULL, NULL), COSTATE_MISSING);
    assert_non_null(strstr(costate_message(c), "rhs.tangent"));
    assert_non_null(strstr(costate_message(c), "autonomous = 1"));
    costate_free(c);
}

/* a chain: y_i' = y_(i-1) - 2 y_i, the first `full` columns full */
typedef struct { int n, full; } cascade;

static int chained(const costate_point *x, double *out, void *ctx)
{
    const cascade *s = ctx;
    double sum = 0;
    for (int j = 0; j < s->full; j++) sum += x->y[j];
    for (int i = 0; i < s->n; i++) out[i] = (i ? x->y[i - 1] : 0) - 2 * x->y[i] + 1e-6 * sum;
    return 0;
}
static int chain_jac(const costate_point *x, double *J, void *ctx)
{
    const cascade *s = ctx;
    (void)x;
    memset(J, 0, (size_t)s->n * (size_t)s->n * sizeof *J);
    for (int j = 0; j < s->n; j++)
        for (int i = 0; i < s->n; i++)
            J[(size_t)j * (size_t)s->n + (size_t)i] = (i == j + 1) - 2 * (i == j) + (j < s->full ? 1e-6 : 0);
    return 0;
}

static const char *said(int n, int full)
{
    static char text[400];
    cascade s = {n, full};
    costate_problem P = {.n = n, .ctx = &s, .rhs = {.value = chained}, .jac = chain_jac};
    double *y = calloc((size_t)n, sizeof *y);
    costate *c = costate_new(costate_method_find("radau2a1"), &P, &(costate_options){.h0 = 0.1,
        .controller = COSTATE_FIXED});
    for (int k = 0; k < 2; k++) CHECK_OK(c, costate_integrate(c, 0, 0.1, y, NULL, NULL));
    snprintf(text, sizeof text, "%s", costate_message(c));
    costate_free(c);
    free(y);
    return text;
}

static void hint(void **state)
{
    (void)state;
    const char *text = said(1000, 20);
    if (strncmp(text, "No error. ", 10) != 0 || !strstr(text, "problem.pattern") || !strstr(text, "2.2 %"))
        fail_msg("%s", text);
    assert_string_equal(said(999, 0), "No error.");
    assert_string_equal(said(1000, 150), "No error.");
}

/* ---- a Jacobian that is not finite ---- */

/* y_i' = -(i + 1) 100 (y_i - cos(t - t0)) + y_(i-1); from t0 + from on J has a wrong entry, `calls` times */
typedef struct { int n, row, column, calls, dense; double t0, from, value; } broken;

static int relax(const costate_point *x, double *out, void *ctx)
{
    const broken *s = ctx;
    for (int i = 0; i < s->n; i++)
        out[i] = -100.0 * (i + 1) * (x->y[i] - cos(x->t - s->t0)) + (i ? x->y[i - 1] : 0);
    return 0;
}
static int wrong_now(broken *s, double t) { return t - s->t0 >= s->from && s->calls-- > 0; }
/* at position 2 j the diagonal, at 2 j + 1 what is below it */
static int broken_jac(const costate_point *x, double *J, void *ctx)
{
    broken *s = ctx;
    int n = s->n, wrong = wrong_now(s, x->t);
    if (s->dense) memset(J, 0, (size_t)n * (size_t)n * sizeof *J);
    for (int j = 0; j < n; j++) {
        J[s->dense ? j * n + j : 2 * j] = -100.0 * (j + 1);
        if (j + 1 < n) J[s->dense ? j * n + j + 1 : 2 * j + 1] = 1;
    }
    if (wrong) J[s->dense ? s->column * n + s->row : 2 * s->column + (s->row > s->column)] = s->value;
    return 0;
}
static int broken_tangent(const costate_point *x, const costate_point *dx, double *out, void *ctx)
{
    broken *s = ctx;
    int wrong = wrong_now(s, x->t);
    for (int i = 0; i < s->n; i++) {
        out[i] = 100.0 * (i + 1) * -sin(x->t - s->t0) * dx->t;
        if (dx->y) out[i] += -100.0 * (i + 1) * dx->y[i] + (i ? dx->y[i - 1] : 0);
    }
    if (wrong && dx->y) out[s->row] = s->value;
    return 0;
}

/* words: of the message, or NULL for a run that succeeds */
static void run_broken(const costate_method *m, broken s, int products, const char *words, const char *place)
{
    enum { MOST = 40 };
    int col[MOST + 1], row[2 * MOST];
    double y[MOST];
    for (int j = 0; j <= s.n; j++) col[j] = j < s.n ? 2 * j : 2 * s.n - 1;
    for (int j = 0; j < s.n; j++) y[j] = 1, row[2 * j] = j, row[2 * j + 1] = j + 1;
    costate_pattern pattern = {s.n, col, row};
    costate_problem P = {.n = s.n, .ctx = &s, .rhs = {.value = relax}, .jac = broken_jac,
                         .pattern = s.dense ? NULL : &pattern};
    if (products) P.jac = NULL, P.rhs.tangent = broken_tangent;
    costate *c = costate_new(m, &P, &(costate_options){.rtol = 1e-4, .atol = 1e-4, .autonomous = !products});
    if (costate_status(c) == COSTATE_MISSING) skip();
    int status = costate_integrate(c, s.t0, s.t0 + 1, y, NULL, NULL);
    const char *said = costate_message(c);
    if (!words) { CHECK_OK(c, status); costate_free(c); return; }
    int at_once = s.from > 0 || strstr(said, "after 0 accepted and 2 rejected");
    int kept = s.from > 0 && status == COSTATE_OK;          /* J of the start served for all steps */
    if (!kept && (status != COSTATE_NOT_FINITE || !strstr(said, words) || !strstr(said, place) || !at_once))
        fail_msg("%s, n = %d, t0 = %g: %d: %s", method_name(m), s.n, s.t0, status, said);
    assert_true(costate_time(c) >= s.t0 + s.from);
    for (int i = 0; i < s.n; i++) assert_true(isfinite(y[i]));
    costate_free(c);
}

static void not_finite(void **state)
{
    const costate_method *m = *state;
    costate_method_info info = method_info(m);
    if (info.family != COSTATE_SDIRK && info.family != COSTATE_FIRK && info.family != COSTATE_ROS) return;
    if (info.embedded == 0) return;                     /* fixed steps end at the first try */
    for (int k = 0; k < 4; k++) {
        broken s = {.n = k < 2 ? 2 : 40, .row = 1, .calls = 1 << 30, .dense = k % 2, .t0 = k == 1 ? 1.7e3 : -k,
                    .value = k % 2 ? NAN : INFINITY, .from = k < 3 ? 0 : 0.5};
        if (k > 1) s.row = s.column = 39;
        run_broken(m, s, 0, "problem.jac", k < 2 ? "in row 1 and column 0," : "in row 39 and column 39,");
        s.calls = 1;
        run_broken(m, s, 0, NULL, NULL);                /* a callback that fails once */
        s.calls = 1 << 30;
        if (!(info.properties & COSTATE_W_METHOD) || info.family != COSTATE_ROS)
            run_broken(m, s, 1, "products (tangent)", "at the start of the step,");
    }
}

/* J by rows: Newton's iteration and Rosenbrock steps need a thousand times as many steps, and nothing else shows it */
static int turning(const costate_point *x, double *out, void *ctx)
{
    (void)ctx;
    out[0] = -x->y[0] + 1e4 * x->y[1];
    out[1] = -1e5 * x->y[1];
    return 0;
}
static int by_rows(const costate_point *x, double *J, void *ctx)
{
    const double J_by_rows[] = {-1, 1e4, 0, -1e5};
    (void)x, (void)ctx;
    memcpy(J, J_by_rows, sizeof J_by_rows);
    return 0;
}

static void rows(void **state)
{
    const costate_method *m = *state;
    costate_method_info info = method_info(m);
    if (info.family != COSTATE_SDIRK && info.family != COSTATE_FIRK && info.family != COSTATE_ROS) return;
    NEEDS_ESTIMATE(m);
    for (int given = 0; given < 2; given++) {
        costate_problem P = {.n = 2, .rhs = {.value = turning}, .jac = given ? by_rows : NULL};
        costate *c = costate_new(m, &P, &(costate_options){.rtol = 1e-8, .atol = 1e-12, .autonomous = 1,
                                                           .differences = !given, .max_steps = given ? 300 : 3});
        double y[2] = {1, 1};
        int status = costate_integrate(c, 0, 1e3, y, NULL, NULL);
        if (status == COSTATE_OK || (strstr(costate_message(c), "costate_check_problem") != NULL) != given)
            fail_msg("%s: %d: %s", method_name(m), status, costate_message(c));
        costate_free(c);
    }
}

int main(void)
{
    const struct CMUnitTest once[] = {cmocka_unit_test(hint)};
    return run_by_method("steps of this call", counts) + run_by_method("rhs.tangent missing", missing_tangent) +
           run_by_method("a Jacobian that is not finite", not_finite) + run_by_method("a Jacobian by rows", rows) +
           cmocka_run_group_tests(once, NULL, NULL);
}
