/* test_messages.c - sentences say what helps: counts are those of the call, a missing rhs.tangent has another way out,
   a large dense Jacobian that is mostly zeros is worth a hint. */
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

int main(void)
{
    const struct CMUnitTest once[] = {cmocka_unit_test(hint)};
    return run_by_method("steps of this call", counts) + run_by_method("rhs.tangent missing", missing_tangent) +
           cmocka_run_group_tests(once, NULL, NULL);
}
