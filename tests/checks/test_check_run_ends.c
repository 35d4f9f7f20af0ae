/* test_check_run_ends.c - costate_check_run: no remark on models that are right, by methods of all kinds; the end where
   the run fails, a callback gives up or memory does; a text that lists the findings; and the solver as it was. */
#include "alloc.h"
#include "hybrids.h"
#include "meddle.h"
#include "reviewed.h"

/* ---- right models ---- */

static void no_remark(int status, const char *name, const char *method)
{
    if (status != COSTATE_OK || how_many(COSTATE_WRONG) + how_many(COSTATE_REMARK) > 0)
        fail_msg("%s with %s: %s", name, method, costate_review_text(review));
}

static void right_problems(void **state)
{
    static const struct { const char *name, *methods[4]; } right[] = {
        {"rober_4e7", {"auto", "rodas4"}}, {"hires", {"auto", "rodas4"}}, {"vdpol_mild", {"radau2a", "trbdf2"}},
        {"lv", {"dopri5", "verner76", "rodas4", "rock4"}}, {"detest_A3", {"auto", "radau2a", "sdirk4a", "dopri5"}},
        {"detest_B2", {"dopri5", "rock4", "trbdf2"}}, {"rotor", {"auto", "verner76", "radau2a"}},
        {"rotor_dae", {"auto", "rodas4"}}};
    (void)state;
    for (size_t k = 0; k < sizeof right / sizeof *right; k++)
        for (int j = 0; j < 4 && right[k].methods[j]; j++) {
            const problem *b = problem_find(right[k].name);
            costate_options o = {.rtol = 1e-7, .atol = 1e-12, .autonomous = b->autonomous};
            double y[16] = {0};
            memcpy(y, b->y0, (size_t)b->P.n * sizeof *y);
            int status = reviewed(right[k].methods[j], &b->P, &o, b->t0, b->t1, y, b->p0);
            no_remark(status, b->name, right[k].methods[j]);
        }
}

static void right_hybrids(void **state)
{
    static const char *const names[] = {"everything", "everything backwards", "H1", "H2a", "H5a_dae"};
    static const char *const methods[] = {"auto", "dopri5", "sdirk4a", "rodas4"};
    (void)state;
    for (size_t k = 0; k < sizeof names / sizeof *names; k++)
        for (int j = 0; j < 4; j++) {
            const hybrid *h = hybrid_find(names[k]);
            const costate_problem P = hybrid_problem(h);
            costate_options o = {.rtol = 1e-8, .atol = 1e-10, .mode = h->mode};
            double y[16] = {0};
            if (!hybrid_takes(costate_method_find(methods[j]), h)) continue;
            hybrid_start(h, h->p, y, NULL);
            no_remark(reviewed(methods[j], &P, &o, h->t0, h->t1, y, h->p), h->name, methods[j]);
        }
}

static void forms(void **state)
{
    static const char *const names[] = {"everything, residual", "everything, index 2", "everything, M singular"};
    (void)state;
    for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
        const hybrid *h = hybrid_find(names[k]);
        const costate_problem P = hybrid_problem(h);
        costate_options o = {.rtol = 1e-8, .atol = 1e-10, .mode = h->mode, .consistent = COSTATE_CONSISTENT_START,
                             .storage = k == 0 ? COSTATE_CHECKPOINTS : COSTATE_STATES_ONLY};
        double y[16] = {0};
        hybrid_start(h, h->p, y, NULL);
        no_remark(reviewed("radau2a", &P, &o, h->t0, h->t1, y, h->p), h->name, "radau2a");
    }
}

/* a run that ends at an event, and one without a step */
static void early_ends(void **state)
{
    model b;
    (void)state;
    model_of(&b, (flaws){0});
    b.event.terminal = 1;
    expect(of_model(&b), COSTATE_OK);
    found(COSTATE_RIGHT, "run", "before t1 = 2, at a terminal event");
    alone(0, 0);
    b.t1 = 0;
    expect(of_model(&b), COSTATE_OK);
}

/* ---- failures ---- */

static int blows_up(const costate_point *x, double *out, void *ctx)
{
    (void)ctx;
    out[0] = x->y[0] * x->y[0];
    return 0;
}
static int blows_up_tangent(const costate_point *x, const costate_point *dx, double *out, void *ctx)
{
    (void)ctx;
    out[0] = dx->y ? 1.9 * x->y[0] * dx->y[0] : 0;
    return 0;
}

/* What may be the cause of a failure is checked. */
static void run_fails(void **state)
{
    costate_problem P = {.n = 1, .rhs = {.value = blows_up, .tangent = blows_up_tangent}};
    costate_options o = {.rtol = 1e-6, .atol = 1e-6};
    double y = 1;
    (void)state;
    int status = reviewed("dopri5", &P, &o, 0, 2, &y, NULL);
    assert_true(status == COSTATE_STEP_TOO_SMALL || status == COSTATE_NOT_FINITE);
    costate_finding f = found(COSTATE_WRONG, "run", costate_status_name(status));
    assert_true(f.t > 0.9 && f.t < 1.1);
    assert_non_null(strstr(f.text, message));
    found(COSTATE_WRONG, "callbacks", "tangent WRONG");
    alone(2, 0);
}

static meddler of_rotor(int which, long at, int code)
{
    return (meddler){.b = problem_find("rotor"), .which = (enum callback)which, .at = at, .code = code};
}

static int of_meddler(meddler *m, const char *method)
{
    const costate_problem P = meddled(m);
    costate_options o = {.rtol = 1e-4, .atol = 1e-4};
    double y[8] = {0};
    memcpy(y, m->b->y0, (size_t)P.n * sizeof *y);
    return reviewed(method, &P, &o, m->b->t0, m->b->t1, y, m->b->p0);
}

/* at the first calls, and some of the others: none of this callback follows */
static void gives_up(void **state)
{
    (void)state;
    meddler all = of_rotor(0, 0, 0);
    expect(of_meddler(&all, "radau2a"), COSTATE_OK);
    for (int which = 0; which < CB_COUNT; which++)
        for (long k = 1; k <= all.calls[which]; k += 1 + k / 2) {
            meddler m = of_rotor(which, k, -7);
            int status = of_meddler(&m, "radau2a");
            if (status != COSTATE_CALLBACK || m.calls[which] != k || !strstr(message, "-7"))
                fail_msg("%s, call %ld of %ld, then %ld more: %s: %s\n%s", callback_names[which], k, all.calls[which],
                         m.calls[which] - k, costate_status_name(status), message, costate_review_text(review));
            costate_finding f;
            assert_int_equal(costate_review_get(review, 0, &f), COSTATE_OK);
            assert_true(f.severity == COSTATE_WRONG && strstr(f.text, "-7"));
        }
}

static void no_memory(void **state)
{
    model b;
    long failures = 1;
    (void)state;
    model_of(&b, (flaws){0});
    costate *c = costate_new(costate_method_find("dopri5"), &b.P, &b.o);
    for (long k = 1; failures > 0; k += 1 + k / 8) {
        long live = alloc_live();
        costate_review *r = costate_review_new();
        alloc_fail_at(k);
        int status = costate_check_run(c, 0, b.t1, b.y, b.p, r);
        failures = alloc_failures();
        alloc_fail_at(0);
        if (failures && (status != COSTATE_NO_MEMORY || !strstr(costate_message(c), "o memory")))
            fail_msg("call %ld: %s: %s", k, costate_status_name(status), costate_message(c));
        assert_true(strlen(costate_review_text(r)) > 10);
        if (failures == 0) assert_non_null(strstr(costate_review_text(r), "Nothing is wrong.\n"));
        costate_review_free(r);
        assert_int_equal(alloc_live(), live);
    }
    costate_free(c);
}

/* ---- the solver, and the text ---- */

static void solver_as_it_was(void **state)
{
    model b;
    double y[3], g[3] = {1, 2, 0.5}, again[3], gradient[3] = {1, 2, 0.5}, mu = 0, mu_again = 0;
    (void)state;
    model_of(&b, (flaws){0});
    b.o.warm = 1;
    costate *c = costate_new(costate_method_find("radau2a"), &b.P, &b.o);
    costate *other = costate_new(costate_method_find("radau2a"), &b.P, &b.o);
    costate_tape *tape = costate_tape_new();
    memcpy(y, b.y, sizeof y);
    CHECK_OK(c, costate_integrate(c, 0, 1, y, b.p, tape));
    costate_stats stats = *costate_get_stats(c);
    CHECK_OK(c, costate_check_run(c, 0, b.t1, b.y, b.p, review));
    assert_memory_equal(&stats, costate_get_stats(c), sizeof stats);
    assert_true(costate_time(c) == 1 && costate_mode(c) == 1);
    CHECK_OK(c, costate_integrate(c, 1, b.t1, y, b.p, NULL));
    CHECK_OK(c, costate_adjoint(c, tape, 1, g, &mu, NULL, NULL));
    memcpy(again, b.y, sizeof again);
    CHECK_OK(other, costate_integrate(other, 0, 1, again, b.p, tape));
    CHECK_OK(other, costate_integrate(other, 1, b.t1, again, b.p, NULL));
    CHECK_OK(other, costate_adjoint(other, tape, 1, gradient, &mu_again, NULL, NULL));
    assert_memory_equal(y, again, sizeof y);
    assert_memory_equal(g, gradient, sizeof g);
    assert_true(mu == mu_again);
    assert_true(b.y[0] == 1 && b.y[1] == 0.1);
    costate_tape_free(tape);
    costate_free(c);
    costate_free(other);
}

/* the text with each paragraph in one line */
static void unwrapped(const char *from, char *to)
{
    for (; *from; from++)
        if (strncmp(from, "\n    ", 5) == 0) { *to++ = ' '; from += 4; }
        else if (from[0] != ' ' || from[1] != ' ') *to++ = *from;
    *to = '\0';
}

static void text(void **state)
{
    static const char *const words[] = {"right", "remark", "WRONG"};
    static char all[9000], line[2][900];
    model b;
    costate_finding f, last = {.severity = COSTATE_WRONG};
    const double atol[] = {1e-9, 1};
    (void)state;
    model_of(&b, (flaws){.adjoint_in_1 = 1e-3});
    b.o.atol_vector = atol;
    expect(of_model(&b), COSTATE_CHECK_FAILED);
    alone(2, 1);
    unwrapped(costate_review_text(review), all);
    for (const char *end, *from = strchr(costate_review_text(review), '\n') + 1; *from; from = end + 1) {
        end = strchr(from, '\n');
        assert_true(end - from <= 101);
    }
    const char *at = all, *head = "Review of a run with dopri5 from t = 0 to 2, n = 2, tolerances for each component: ";
    assert_ptr_equal(strstr(all, head), all);
    assert_non_null(strstr(all, "\n2 findings of what is wrong, 1 remark.\n"));
    for (int k = 0; k < costate_review_count(review); k++, last = f) {
        assert_int_equal(costate_review_get(review, k, &f), COSTATE_OK);
        assert_true(f.severity <= last.severity);
        snprintf(line[0], sizeof line[0], "\n%s, %s: %s\n", words[f.severity], f.topic, f.text);
        unwrapped(line[0], line[1]);
        at = strstr(at, line[1]);
        if (!at) fail_msg("%s is not in %s", line[1], all);
    }
    assert_int_equal(costate_review_get(review, costate_review_count(review), &f), COSTATE_OUT_OF_RANGE);
    assert_int_equal(costate_review_get(review, -1, &f), COSTATE_OUT_OF_RANGE);
    assert_int_equal(costate_review_get(review, 0, NULL), COSTATE_BAD_ARGUMENT);
    assert_int_equal(costate_review_get(NULL, 0, &f), COSTATE_BAD_ARGUMENT);
    assert_int_equal(costate_review_count(NULL), 0);
    assert_non_null(strstr(costate_review_text(NULL), "costate_check_run"));
    costate_review_free(NULL);
}

static int sum(int count, double *x, void *ctx) { return (void)count, (void)x, (void)ctx, 0; }

static void refused(void **state)
{
    model b;
    (void)state;
    model_of(&b, (flaws){0});
    expect(of_model(&b), COSTATE_OK);
    costate *c = costate_new(costate_method_find("dopri5"), &b.P, &b.o);
    assert_int_equal(costate_check_run(c, 0, 1, b.y, b.p, NULL), COSTATE_BAD_ARGUMENT);
    assert_non_null(strstr(costate_message(c), "review is NULL"));
    assert_int_equal(costate_check_run(c, 0, 1, b.y, NULL, review), COSTATE_BAD_ARGUMENT);
    assert_int_equal(costate_review_count(review), 0);
    assert_int_equal(costate_check_run(NULL, 0, 1, b.y, b.p, review), COSTATE_BAD_ARGUMENT);
    costate_free(c);
    b.P.nevents = 0;
    b.o.sum = sum;
    c = costate_new(costate_method_find("dopri5"), &b.P, &b.o);
    assert_int_equal(costate_check_run(c, 0, 1, b.y, b.p, review), COSTATE_BAD_ARGUMENT);
    assert_non_null(strstr(costate_message(c), "options.sum"));
    costate_free(c);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(right_problems), cmocka_unit_test(right_hybrids), cmocka_unit_test(forms),
        cmocka_unit_test(early_ends), cmocka_unit_test(run_fails), cmocka_unit_test(gives_up),
        cmocka_unit_test(no_memory), cmocka_unit_test(solver_as_it_was), cmocka_unit_test(text),
        cmocka_unit_test(refused),
    };
    return cmocka_run_group_tests_name("a review ends, and disturbs nothing", tests, new_review, free_review);
}
