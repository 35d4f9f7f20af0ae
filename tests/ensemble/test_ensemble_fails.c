/* test_ensemble_fails.c - what goes wrong in one member is said of it and harms no other; an ensemble that is stopped,
   wrong arguments, callbacks that fail. */
#include <stdatomic.h>
#include "ensembles.h"

enum { COUNT = 12, P_NAN = 2, P_GIVES_UP = 5, P_MANY = 7, P_INF = 10 };

/* y' = -p0 y, q' = y; p1 = 1: the callback gives up; 2: it is Inf */
static int value(const costate_point *x, double *out, void *ctx)
{
    (void)ctx;
    out[0] = x->p[1] == 2 ? INFINITY : -x->p[0] * x->y[0];
    return x->p[1] == 1 ? -1 : 0;
}
static int adjoint(const costate_point *x, const double *w, const costate_gradient *g, void *ctx)
{
    (void)ctx;
    if (g->y) g->y[0] -= x->p[0] * w[0];
    if (g->p) g->p[0] -= x->y[0] * w[0];
    return 0;
}
static int tangent(const costate_point *x, const costate_point *dx, double *out, void *ctx)
{
    (void)ctx;
    out[0] = (dx->y ? -x->p[0] * dx->y[0] : 0) - (dx->p ? x->y[0] * dx->p[0] : 0);
    return 0;
}
static const costate_problem DECAY = {.n = 1, .np = 2,
                                      .rhs = {.value = value, .tangent = tangent, .adjoint = adjoint}};

typedef struct {
    double y[COUNT], p[2 * COUNT], lambda[COUNT], mu[2 * COUNT];
    int status[COUNT];
    char message[COUNT][COSTATE_ENSEMBLE_TEXT];
} decays;

static costate_members decays_of(decays *d)
{
    memset(d, 0, sizeof *d);
    for (int k = 0; k < COUNT; k++) {
        d->y[k] = d->lambda[k] = 1;
        d->p[2 * k] = 0.1 * (k + 1);
    }
    return (costate_members){.count = COUNT, .t1 = 1, .y = d->y, .p = d->p, .m = 1, .lambda = d->lambda, .mu = d->mu,
                             .status = d->status, .message = d->message};
}

static const costate_method *method(void) { return costate_method_find("dopri5"); }

static const int threads_of[] = {1, 2, 3, 30};

/* y(1) = exp(-p), its gradient -exp(-p), for all but those that fail, which say why */
static void one_harms_no_other(void **state)
{
    static const struct { int member, status; const char *says; } bad[] = {
        {P_NAN, COSTATE_BAD_ARGUMENT, "p holds a NaN"}, {P_GIVES_UP, COSTATE_CALLBACK, "rhs.value"},
        {P_MANY, COSTATE_MAX_STEPS, "max_steps"}, {P_INF, COSTATE_NOT_FINITE, "NaN or Inf"}};
    (void)state;
    for (int j = 0; j < 4; j++) {
        decays d;
        costate_ensemble_report r;
        costate_members a = decays_of(&d);
        costate_options o = {.max_steps = 100};
        a.threads = threads_of[j];
        d.p[2 * P_NAN] = NAN;
        d.p[2 * P_GIVES_UP + 1] = 1;
        d.p[2 * P_MANY] = 1e5;
        d.p[2 * P_INF + 1] = 2;
        assert_int_equal(costate_ensemble(method(), &DECAY, &o, &a, &r), COSTATE_BAD_ARGUMENT);
        assert_int_equal(r.first, P_NAN);
        assert_int_equal(r.failed, 4);
        assert_int_equal(r.done, COUNT);
        assert_true(r.threads >= 1 && r.threads <= (threads_of[j] < COUNT ? threads_of[j] : COUNT));
        if (!strstr(r.text, "4 of 12 members failed; the first, member 2: p holds a NaN")) fail_msg("%s", r.text);
        for (int k = 0, b = 0; k < COUNT; k++) {
            if (b < 4 && k == bad[b].member) {
                assert_int_equal(d.status[k], bad[b].status);
                if (!strstr(d.message[k], bad[b++].says)) fail_msg("%d: %s", k, d.message[k]);
                continue;
            }
            double truth = exp(-d.p[2 * k]);
            assert_int_equal(d.status[k], COSTATE_OK);
            assert_string_equal(d.message[k], "No error.");
            assert_true(fabs(d.y[k] - truth) < 1e-5 && fabs(d.lambda[k] - truth) < 1e-5);
            assert_true(fabs(d.mu[2 * k] + truth) < 1e-5);
        }
    }
}

/* ---- progress ---- */

typedef struct { int calls, last, stop_at, in; } watched;

static int progress(int done, int failed, int count, void *ctx)
{
    watched *w = ctx;
    assert_int_equal(w->in++, 0);                   /* nobody else is here */
    w->calls++;
    assert_int_equal(done, w->last + 1);
    assert_true(failed >= 0 && failed <= done && count == COUNT);
    w->last = done;
    w->in--;
    return done == w->stop_at;
}

static void counted(void **state)
{
    (void)state;
    for (int j = 0; j < 4; j++) {
        decays d;
        watched w = {0};
        costate_members a = decays_of(&d);
        a.threads = threads_of[j];
        a.progress = progress;
        a.ctx = &w;
        assert_int_equal(costate_ensemble(method(), &DECAY, NULL, &a, NULL), COSTATE_OK);
        assert_int_equal(w.calls, COUNT);
    }
}

/* Those that were begun are whole; those that were not are as they were. */
static void stopped(void **state)
{
    (void)state;
    for (int j = 0; j < 4; j++)
        for (int at = 1; at <= COUNT; at++) {
            decays d;
            watched w = {.stop_at = at};
            costate_ensemble_report r;
            costate_members a = decays_of(&d);
            a.threads = threads_of[j];
            a.progress = progress;
            a.ctx = &w;
            int status = costate_ensemble(method(), &DECAY, NULL, &a, &r), stops = 0;
            assert_int_equal(w.calls, at);
            assert_true(r.done >= at && r.done <= at + threads_of[j] - 1 && r.failed == 0);
            for (int k = 0; k < COUNT; k++) {
                assert_int_equal(d.status[k], k < r.done ? COSTATE_OK : COSTATE_STOPPED);
                stops += d.status[k] == COSTATE_STOPPED;
                if (k < r.done) assert_true(fabs(d.y[k] - exp(-d.p[2 * k])) < 1e-5);
                else assert_true(d.y[k] == 1 && strstr(d.message[k], "Not begun"));
            }
            assert_int_equal(status, stops ? COSTATE_STOPPED : COSTATE_OK);
            assert_int_equal(r.first, stops ? r.done : -1);
        }
}

/* ---- on_member ---- */

typedef struct { atomic_int calls; int returns; } after;

static int over_the_tape(int member, int thread, costate *c, costate_tape *tape, void *ctx)
{
    after *s = ctx;
    double lambda = 1, mu[2] = {0};
    (void)member, (void)thread;
    atomic_fetch_add(&s->calls, 1);
    if (costate_status(c) != COSTATE_OK) return 0;
    if (s->returns) return s->returns;
    return costate_adjoint(c, tape, 1, &lambda, mu, NULL, NULL) || costate_tape_steps(tape) < 2;
}

static void on_member(void **state)
{
    decays d;
    after s = {0};
    (void)state;
    costate_members a = decays_of(&d);
    a.threads = 2;
    a.tape = 1;
    a.on_member = over_the_tape;
    a.ctx = &s;
    d.p[2 * P_NAN] = NAN;
    assert_int_equal(costate_ensemble(method(), &DECAY, NULL, &a, NULL), COSTATE_BAD_ARGUMENT);
    assert_int_equal(s.calls, COUNT);
    static const int returned[] = {COSTATE_OUT_OF_RANGE, 3};
    for (int j = 0; j < 2; j++) {
        a = decays_of(&d);
        a.on_member = over_the_tape;
        a.ctx = &s;
        s.returns = returned[j];
        d.p[2 * P_NAN] = NAN;
        assert_int_equal(costate_ensemble(method(), &DECAY, NULL, &a, NULL), j ? COSTATE_CALLBACK : returned[0]);
        for (int k = 0; k < COUNT; k++) {
            int own = k == P_NAN ? COSTATE_BAD_ARGUMENT : j ? COSTATE_CALLBACK : returned[0];
            assert_int_equal(d.status[k], own);
            assert_non_null(strstr(d.message[k], k == P_NAN ? "p holds" : "on_member returned"));
        }
    }
}

/* ---- threads ---- */

static int leave(int thread, costate_problem *P, costate_options *o, void *ctx)
{
    (void)P, (void)o;
    return thread >= *(int *)ctx;
}

static int other_sizes(int thread, costate_problem *P, costate_options *o, void *ctx)
{
    (void)thread, (void)o, (void)ctx;
    P->np = 1;
    return 0;
}

static void threads_that_leave(void **state)
{
    (void)state;
    for (int stay = 0; stay < 4; stay++) {
        decays d;
        costate_ensemble_report r;
        costate_members a = decays_of(&d);
        a.threads = 3;
        a.each_thread = leave;
        a.ctx = &stay;
        int status = costate_ensemble(method(), &DECAY, NULL, &a, &r);
        assert_int_equal(status, stay ? COSTATE_OK : COSTATE_CALLBACK);
        assert_true(r.threads <= stay);
        for (int k = 0; k < COUNT; k++) assert_int_equal(d.status[k], status);
    }
    decays d;
    costate_members a = decays_of(&d);
    a.each_thread = other_sizes;
    assert_int_equal(costate_ensemble(method(), &DECAY, NULL, &a, NULL), COSTATE_BAD_ARGUMENT);
}

static void pinned(void **state)
{
    decays d;
    (void)state;
    int cores = costate_cores();
    costate_members a = decays_of(&d);
    a.pin = 1;
    a.threads = 5;
    assert_true(cores >= 1);
    assert_int_equal(costate_ensemble(method(), &DECAY, NULL, &a, NULL), COSTATE_OK);
    assert_int_equal(costate_cores(), cores);       /* the calling thread is where it was */
}

static void few(void **state)
{
    decays d;
    costate_ensemble_report r;
    (void)state;
    costate_members a = decays_of(&d);
    a.count = 0;
    a.threads = 4;
    a.y = NULL;
    assert_int_equal(costate_ensemble(method(), &DECAY, NULL, &a, &r), COSTATE_OK);
    assert_true(r.done == 0 && r.first == -1 && d.status[0] == 0);
    a = decays_of(&d);
    a.count = 1;
    a.status = NULL;
    a.message = NULL;
    assert_int_equal(costate_ensemble(method(), &DECAY, NULL, &a, &r), COSTATE_OK);
    assert_true(r.done == 1 && r.threads == 1 && d.y[1] == 1);
}

/* ---- arguments ---- */

static void refused(const costate_method *m, const costate_problem *P, const costate_options *o,
                    const costate_members *a, int expected, const char *says)
{
    costate_ensemble_report r;
    assert_int_equal(costate_ensemble(m, P, o, a, &r), expected);
    if (!strstr(r.text, says)) fail_msg("\"%s\" instead of \"%s\"", r.text, says);
    assert_true(r.done == 0);
    for (int k = 0; a && k < a->count && k < COUNT; k++) {
        assert_int_equal(a->status[k], expected);
        assert_non_null(strstr(a->message[k], says));
    }
}

static void arguments(void **state)
{
    decays d;
    double x[COUNT] = {0};
    costate_times times = {.events = x};
    costate_problem P = DECAY;
    costate_options o = {.rtol = -1};
    (void)state;
    refused(method(), &DECAY, NULL, NULL, COSTATE_BAD_ARGUMENT, "members is NULL");
#define WRONG(field, value, says) do { \
    costate_members a = decays_of(&d); \
    a.field = value; \
    refused(method(), &DECAY, NULL, &a, COSTATE_BAD_ARGUMENT, says); } while (0)
    WRONG(count, -1, "members.count = -1");
    WRONG(threads, -2, "members.threads = -2");
    WRONG(pin, 2, "members.pin = 2");
    WRONG(same, 8, "members.same = 8");
    WRONG(directions, -1, "members.directions = -1");
    WRONG(directions, 1, "members.V is NULL");
    WRONG(m, -1, "members.m = -1");
    WRONG(tape, 7, "members.tape = 7");
    WRONG(y, NULL, "members.y is NULL");
    WRONG(p, NULL, "members.p is NULL");
    WRONG(lambda, NULL, "members.lambda is NULL");
    WRONG(times, &times, "members.times->events");
    costate_members a = decays_of(&d);
    refused(method(), NULL, NULL, &a, COSTATE_BAD_ARGUMENT, "problem is NULL");
    refused(method(), &DECAY, &o, &a, COSTATE_BAD_ARGUMENT, "options.rtol");
    P.rhs.value = NULL;
    refused(method(), &P, NULL, &a, COSTATE_MISSING, "problem.rhs.value is missing");
}

/* a program of a later version, with longer options: no member is run; of an earlier one: what follows is not read */
static void other_version(void **state)
{
    decays d;
    costate_ensemble_report r;
    (void)state;
    costate_members a = decays_of(&d);
    size_t longer = sizeof(costate_options) + 8;
    assert_int_equal(costate_ensemble_sized(longer, method(), &DECAY, NULL, &a, &r), COSTATE_VERSION_MISMATCH);
    assert_true(r.done == 0 && d.y[0] == 1);
    assert_non_null(strstr(r.text, "another version of costate, where costate_options has"));
    costate_options o = {.rtol = 1e-6, .stability = 77};
    size_t shorter = offsetof(costate_options, stability);
    assert_int_equal(costate_ensemble_sized(shorter, method(), &DECAY, &o, &a, &r), COSTATE_OK);
}

/* of a member alone: its times, a seed that fails */
static int fails_at_three(int member, double t1, const double *y, const double *p, int m, double *lambda, double *mu,
                          void *ctx)
{
    (void)t1, (void)y, (void)p, (void)m, (void)mu, (void)ctx;
    lambda[0] = member == 4 ? NAN : 1;
    return member == 3;
}

static void seeds(void **state)
{
    (void)state;
    for (int tape = 0; tape < 2; tape++) {
        decays d;
        double t1[COUNT];
        costate_members a = decays_of(&d);
        a.threads = 2;
        a.seed = fails_at_three;
        a.t1_each = t1;
        a.tape = tape;
        for (int k = 0; k < COUNT; k++) t1[k] = k == 6 ? INFINITY : 1;
        assert_int_equal(costate_ensemble(method(), &DECAY, NULL, &a, NULL), COSTATE_CALLBACK);
        for (int k = 0; k < COUNT; k++)
            assert_int_equal(d.status[k], k == 3 ? COSTATE_CALLBACK :
                             k == 4 || k == 6 ? COSTATE_BAD_ARGUMENT : COSTATE_OK);
        assert_non_null(strstr(d.message[3], "seed returned 1"));
        assert_non_null(strstr(d.message[4], "lambda"));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_harms_no_other), cmocka_unit_test(counted), cmocka_unit_test(stopped),
        cmocka_unit_test(on_member), cmocka_unit_test(threads_that_leave), cmocka_unit_test(pinned),
        cmocka_unit_test(few), cmocka_unit_test(other_version), cmocka_unit_test(arguments), cmocka_unit_test(seeds)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
