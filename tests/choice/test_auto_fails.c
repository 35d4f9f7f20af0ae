/* test_auto_fails.c - what fails near a change of the member leaves a status with a sentence, the last state, and a
   solver that runs as ever; ten thousand changes leave nothing behind. */
#include "alloc.h"
#include "meddle.h"
#include "turns.h"

typedef struct { int status; double y[N_MOST], lambda[N_MOST], mu[NUMS_P]; costate_stats count; } outcome;

static void start(by_turns *b)
{
    by_turns_make(b, RELAXATION, 1.2, -0.5);
}

static outcome run_of(const by_turns *b, costate *c, costate_tape *tape)
{
    outcome r = {.lambda = {1, 0.5, 0.25, 1, 1, 1}};
    hybrid_start(&b->h, b->h.p, r.y, NULL);
    r.status = costate_integrate(c, 0, b->h.t1, r.y, b->h.p, tape);
    if (r.status == COSTATE_OK) r.status = costate_adjoint(c, tape, 1, r.lambda, r.mu, NULL, NULL);
    r.count = *costate_get_stats(c);
    return r;
}

static void same(const outcome *a, const outcome *b)
{
    assert_memory_equal(a->y, b->y, sizeof a->y);
    assert_memory_equal(a->lambda, b->lambda, sizeof a->lambda);
    assert_memory_equal(a->mu, b->mu, sizeof a->mu);
}

/* ---- memory ---- */

static void malloc_fails(void **state)
{
    static const double tols[] = {1e-4, 1e-7};
    by_turns b;
    long tried = 0;
    (void)state;
    start(&b);
    costate_problem P = hybrid_problem(&b.h);
    for (int kind = 0; kind < 4; kind++) {
        costate_options o = {.rtol = tols[kind & 1], .atol = tols[kind & 1], .storage = kind >> 1,
                             .stage_solve = COSTATE_STAGE_DIRECT};
        costate_tape *first = costate_tape_new();
        costate *undisturbed = costate_new(NULL, &P, &o);
        outcome expected = run_of(&b, undisturbed, first);
        assert_int_equal(expected.status, COSTATE_OK);
        assert_true(expected.count.switches > 2);
        costate_free(undisturbed);
        costate_tape_free(first);
        long before = alloc_live(), failures = 1;
        for (long k = 1; failures; k++, tried++) {
            int status = COSTATE_NO_MEMORY;
            alloc_fail_at(k);
            costate_tape *tape = costate_tape_new();
            costate *c = costate_new(NULL, &P, &o);
            if (c) status = costate_status(c);
            outcome r = {.status = status};
            if (c && tape && status == COSTATE_OK) r = run_of(&b, c, tape);
            failures = alloc_failures();
            alloc_fail_at(0);
            if (r.status != COSTATE_OK && r.status != COSTATE_NO_MEMORY)
                fail_msg("call %ld: %s", k, costate_message(c));
            if (c && r.status == COSTATE_NO_MEMORY && tape) assert_non_null(strstr(costate_message(c), "o memory"));
            if (r.status == COSTATE_OK) same(&r, &expected);
            if (c && tape && status == COSTATE_OK) {
                r = run_of(&b, c, tape);
                assert_int_equal(r.status, COSTATE_OK);
                same(&r, &expected);
            }
            costate_free(c);
            costate_tape_free(tape);
            assert_int_equal(alloc_live(), before);
        }
    }
    print_message("           %ld calls\n", tried);
    assert_true(tried > 100);
}

/* ---- callbacks ---- */

typedef struct { costate *c; meddler *m; long at[64][CB_COUNT]; int count; long switches; int stop; } watcher;

/* numbers of calls where the member changes */
static int watch_changes(const costate_step *s, void *ctx)
{
    watcher *w = ctx;
    long now = costate_get_stats(w->c)->switches;
    (void)s;
    if (now != w->switches && w->count < 64) memcpy(w->at[w->count++], w->m->calls, sizeof w->m->calls);
    w->switches = now;
    return w->stop > 0 && --w->stop == 0;
}

static void callbacks_fail(void **state)
{
    static const enum callback which[] = {CB_VALUE, CB_TANGENT, CB_JAC, CB_COST_VALUE, CB_TANGENT2};
    static const struct { int code; double write; } how[] = {{1, 0}, {-3, 0}, {0, NAN}, {0, HUGE_VAL}};
    by_turns b;
    long failed = 0, fine = 0;
    (void)state;
    start(&b);
    const problem whole = {"turns", 0, 1.2, NULL, b.p, hybrid_problem(&b.h), 0, 1, 0, NULL, NULL};
    meddler m = {.b = &whole};
    costate_problem P = meddled(&m);
    P.event = NULL;                         /* their callbacks take the context of the hybrid */
    P.nevents = P.nm = 0;
    b.h.nm = 0;
    for (int k = 0; k < 2; k++) {
        watcher w = {.m = &m};
        double tol = k ? 1e-7 : 1e-4;
        costate_options o = {.rtol = tol, .atol = tol, .on_step = watch_changes, .on_step_ctx = &w,
                             .stability = COSTATE_STABILITY_OFF};       /* explicit steps follow stiff ones */
        m.at = 0;
        memset(m.calls, 0, sizeof m.calls);
        costate_tape *tape = costate_tape_new();
        costate *c = w.c = costate_new(NULL, &P, &o);
        outcome expected = run_of(&b, c, tape);
        if (expected.status) fail_msg("%s", costate_message(c));
        int changes = w.count;
        assert_true(changes > 1);
        for (int i = 0; i < changes; i++)
            for (size_t j = 0; j < sizeof which / sizeof *which; j++)
                for (long by = -15; by <= 25; by++)
                    for (int l = 0; l < 4; l++) {
                        long at = w.at[i][which[j]] + by;
                        if (at < 1 || skipped(i + (int)(j + 15) + (int)by + l, 8)) continue;
                        m.which = which[j];
                        m.at = at;
                        m.code = how[l].code;
                        m.write = how[l].write;
                        m.spoiled = 0;
                        memset(m.calls, 0, sizeof m.calls);
                        outcome r = run_of(&b, c, tape);
                        const char *said = costate_message(c);
                        int known = r.status == COSTATE_OK || r.status == COSTATE_CALLBACK ||
                                    r.status == COSTATE_NOT_FINITE || r.status == COSTATE_SINGULAR;
                        if (!known || strlen(said) < 8)
                            fail_msg("call %ld of %s: %s", at, callback_names[which[j]], said);
                        for (int n = 0; n < 4; n++) assert_true(isfinite(r.y[n]));
                        if (m.code < 0 && m.spoiled) assert_int_equal(r.status, COSTATE_CALLBACK);
                        failed += r.status != COSTATE_OK;
                        fine += r.status == COSTATE_OK && m.spoiled;
                        if ((by + 15) % 5) continue;
                        m.at = 0;
                        r = run_of(&b, c, tape);
                        assert_int_equal(r.status, COSTATE_OK);
                        same(&r, &expected);
                    }
        costate_free(c);
        costate_tape_free(tape);
    }
    print_message("           %ld runs failed, %ld went on\n", failed, fine);
    assert_true(failed > 50 && fine > 50);
}

/* Stopped at any step, the tape is swept, and goes on to the end. */
static void stopped(void **state)
{
    by_turns b;
    int steps = 1000;
    (void)state;
    start(&b);
    for (int k = 1; k < steps; k++) {
        meddler none = {.b = NULL};
        watcher w = {.m = &none, .stop = k};
        costate_options o = {.rtol = 1e-4, .atol = 1e-4, .on_step = watch_changes, .on_step_ctx = &w};
        session s = turns_begin(&b, o, costate_tape_new(), 0);
        w.c = s.c;
        int status = costate_integrate(s.c, 0, b.h.t1, s.y, b.h.p, s.tape);
        if (status == COSTATE_OK) steps = k;
        else assert_int_equal(status, COSTATE_STOPPED);
        if (k > 2) {
            see_events(&s);
            say(&s, "stopped", session_gap(&s), 1e-12);
        }
        if (status == COSTATE_STOPPED) CHECK_OK(s.c, costate_continue(s.c, s.tape, b.h.t1, s.y));
        see_events(&s);
        say(&s, "gone on with", session_gap(&s), 1e-12);
        session_close(&s);
    }
    assert_true(steps > 20 && steps < 1000);
}

/* ---- ten thousand changes ---- */

/* y' = -k (y - cos t), k = exp(5 + 4 sin t): twice in 2 pi the member changes */
static int turning(const costate_point *x, double *out, void *ctx)
{
    (void)ctx;
    out[0] = -exp(5 + 4 * sin(x->t)) * (x->y[0] - cos(x->t));
    return 0;
}
static int turning_jac(const costate_point *x, double *J, void *ctx)
{
    (void)ctx;
    J[0] = -exp(5 + 4 * sin(x->t));
    return 0;
}

typedef struct { costate *c; long steps, early, f_early, late, f_late, calls, live; } long_run;

static int look(const costate_step *s, void *ctx)
{
    long_run *r = ctx;
    const costate_stats *n = costate_get_stats(r->c);
    double t = costate_step_end(s), period = 8 * atan(1);
    r->steps++;
    if (t < 100 * period) { r->early = r->steps; r->f_early = n->f; r->calls = alloc_calls(); r->live = alloc_live(); }
    if (t < 5000 * period) { r->late = r->steps; r->f_late = n->f; }
    return 0;
}

/* No memory is taken after the first, and the last hundred periods take as many steps and evaluations as others. */
static void many_changes(void **state)
{
    const costate_problem P = {.n = 1, .rhs = {.value = turning}, .jac = turning_jac};
    long_run r = {0};
    costate_options o = {.rtol = 1e-3, .atol = 1e-3, .max_steps = 10000000, .on_step = look, .on_step_ctx = &r};
    double y = 1, period = 8 * atan(1);
    (void)state;
    alloc_fail_at(0);
    r.c = costate_new(NULL, &P, &o);
    CHECK_OK(r.c, costate_integrate(r.c, 0, 5100 * period, &y, NULL, NULL));
    const costate_stats *n = costate_get_stats(r.c);
    assert_true(n->switches > 10000);
    assert_int_equal(alloc_calls(), r.calls);
    assert_int_equal(alloc_live(), r.live);
    double first = (double)r.early, last = (double)(r.steps - r.late);
    double f_first = (double)r.f_early, f_last = (double)(n->f - r.f_late);
    if (!(fabs(last / first - 1) < 0.03 && fabs(f_last / f_first - 1) < 0.03))
        fail_msg("steps %g, %g; f %g, %g", first, last, f_first, f_last);
    costate_free(r.c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(malloc_fails), cmocka_unit_test(callbacks_fail),
                                       cmocka_unit_test(stopped), cmocka_unit_test(many_changes)};
    if (!costate_method_find("auto")) return 0;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
