/* test_events_memory.c - runs with events allocate before them, and on the tape alone; without memory that is said, and
   all works when it is back; a run repeats, and is replayed, bit for bit. */
#include "alloc.h"
#include "clockwork.h"
#include "hybrids.h"

/* ---- no growth ---- */

/* the clock goes back to 0 */
static int wind_back(const costate_point *x, double *out, void *ctx)
{
    clock_affine(x, 1, 0, out);
    return (void)ctx, out[0] = 0, 0;
}

static costate *strike(clockwork *w, const costate_method *m, long strikes, costate_tape *tape)
{
    double y[CLOCK_ROWS];
    costate *c = new_for_test(m, &w->P, &w->o);
    memcpy(y, w->y0, sizeof y);
    CHECK_OK(c, costate_integrate(c, 0, 2, y, w->p, tape));
    alloc_fail_at(0);                                       /* counts from here */
    memcpy(y, w->y0, sizeof y);
    CHECK_OK(c, costate_integrate(c, 0, 0.25 * ((double)strikes + 0.5), y, w->p, tape));
    assert_true(y[CLOCK_M] == (double)strikes);
    return c;
}

static void wind_strikes(clockwork *w)
{
    clock_wind(w, 1, 0.25, 0);
    w->event[0].guard = clock_hand_guard;
    w->event[0].jump.value = wind_back;
    w->event[0].direction = 1;
    w->o = (costate_options){.rtol = 1e-3, .atol = 1e-3, .autonomous = 1, .max_steps = 10000000};
}

static void no_growth(void **state)
{
    const costate_method *m = *state;
    clockwork w;
    wind_strikes(&w);
    costate_free(strike(&w, m, strcmp(method_name(m), "dopri5") == 0 ? 100000 : 2000, NULL));
    assert_int_equal(alloc_calls(), 0);
}

/* of the tape: the same for each event */
static void tape_alone(void **state)
{
    clockwork w;
    size_t bytes[2];
    for (int k = 0; k < 2; k++) {
        costate_tape *tape = costate_tape_new();
        wind_strikes(&w);
        costate *c = strike(&w, *state, 300 << k, tape);
        assert_int_equal(costate_tape_events(tape), 300 << k);
        bytes[k] = costate_tape_bytes(tape);
        costate_free(c);
        costate_tape_free(tape);
    }
    assert_true((double)bytes[1] <= 2.3 * (double)bytes[0]);
}

/* ---- no memory ---- */

enum { ROWS = HYBRID_LONGEST + 1 };

typedef struct { double end[2][ROWS], lambda[ROWS], mu[NUMS_P], times[64], V[ROWS], carried[ROWS]; } results;

static costate_options options_of(const hybrid *h, int storage)
{
    return (costate_options){.rtol = 1e-2, .atol = 1e-2, .mode = h->mode, .consistent = h->form != HYBRID_ODE,
                             .storage = storage, .hmax = 0.3};
}

/* a run in two parts, a sweep each way, a run that carries a tangent */
static int all_calls(costate *c, const hybrid *h, costate_tape *tape, results *r)
{
    double y[ROWS] = {0}, half = (h->t0 + h->t1) / 2;
    int status;
    memset(r, 0, sizeof *r);
    hybrid_start(h, h->p, y, NULL);
    r->lambda[0] = r->V[1] = r->carried[0] = 1;
    if ((status = costate_integrate(c, h->t0, half, y, h->p, tape))) return status;
    memcpy(r->end[0], y, sizeof y);
    if ((status = costate_continue(c, tape, h->t1, y))) return status;
    memcpy(r->end[1], y, sizeof y);
    if ((status = costate_adjoint(c, tape, 1, r->lambda, r->mu, &(costate_times){.events = r->times}, NULL)))
        return status;
    if ((status = costate_tangent(c, tape, 1, r->V, NULL, NULL, NULL))) return status;
    hybrid_start(h, h->p, y, NULL);
    return costate_integrate_tlm(c, h->t0, h->t1, y, h->p, 1, r->carried, NULL, NULL, tape);
}

static void complain(const costate_method *m, const hybrid *h, long k, int status, const costate *c)
{
    alloc_fail_at(0);
    fail_msg("%s, %s, call %ld: %s: %s", method_name(m), h->name, k, costate_status_name(status), costate_message(c));
}

/* fails at call k, then all again with memory; how many calls failed */
static long fails_at(const costate_method *m, const hybrid *h, const costate_options *o, long k,
                     const results *expected)
{
    const costate_problem P = hybrid_problem(h);
    results r;
    int status = COSTATE_NO_MEMORY;
    alloc_fail_at(k);
    costate_tape *tape = costate_tape_new();
    costate *c = costate_new(m, &P, o);
    int made = c && tape && costate_status(c) == COSTATE_OK;
    if (made) status = all_calls(c, h, tape, &r);
    long failures = alloc_failures();
    alloc_fail_at(0);
    if (status != (failures ? COSTATE_NO_MEMORY : COSTATE_OK)) complain(m, h, k, status, c);
    if (made && failures) assert_non_null(strstr(costate_message(c), "o memory"));
    if (made && (status = all_calls(c, h, tape, &r))) complain(m, h, k, status, c);
    if (made && h->form != HYBRID_INDEX_2) assert_memory_equal(&r, expected, sizeof r);
    if (made) assert_true(relative_gap(sizeof r / sizeof(double), (double *)&r, (const double *)expected) <= 1e-12);
    costate_free(c);
    costate_tape_free(tape);
    return failures;
}

static void no_memory(void **state)
{
    static const char *const forms[] = {"everything", "everything, residual", "everything, index 2"};
    for (int f = 0; f < 3; f++) {
        const hybrid *h = hybrid_find(forms[f]);
        if (!hybrid_takes(*state, h)) continue;
        const costate_problem P = hybrid_problem(h);
        const costate_options o = options_of(h, f & 1);
        costate *c = costate_new(*state, &P, &o);
        costate_tape *tape = costate_tape_new();
        results expected;
        int status = all_calls(c, h, tape, &expected);
        if (status != COSTATE_OK) complain(*state, h, 0, status, c);
        costate_free(c);
        costate_tape_free(tape);
        for (long k = 1; fails_at(*state, h, &o, k, &expected); k++) ;
    }
}

/* ---- the same bits ---- */

static void same_bits(void **state)
{
    const hybrid *h;
    for (int k = 0; (h = hybrid_at(k)); k++)
        for (int storage = 0; storage < 2 && !h->reference && hybrid_takes(*state, h); storage++) {
            const costate_problem P = hybrid_problem(h);
            costate_options o = options_of(h, storage);
            costate *c = new_for_test(*state, &P, &o);
            costate_tape *tape = costate_tape_new();
            results one, two;
            double y[ROWS] = {0};
            CHECK_OK(c, all_calls(c, h, tape, &one));
            CHECK_OK(c, all_calls(c, h, tape, &two));
            assert_memory_equal(&one, &two, sizeof one);
            hybrid_start(h, h->p, y, NULL);
            CHECK_OK(c, costate_integrate(c, h->t0, h->t1, y, h->p, tape));
            memcpy(one.end[0], y, sizeof y);
            hybrid_start(h, h->p, y, NULL);
            CHECK_OK(c, costate_replay(c, tape, y, h->p));
            if (memcmp(one.end[0], y, sizeof y) != 0)
                fail_msg("%s, %s, storage %d: the replay differs by %.1e", method_name(*state), h->name, storage,
                         relative_gap(h->n + h->nq + h->nm, y, one.end[0]));
            costate_free(c);
            costate_tape_free(tape);
        }
}

int main(void)
{
    static const char *const names[] = {"dopri5", "sdirk4a", "trbdf2", "radau2a", "gauss3", "rodas4", "rock4"};
    enum { NAMES = sizeof names / sizeof *names };
    struct CMUnitTest tests[3 * NAMES];
    for (int k = 0; k < NAMES; k++) {
        void *m = (void *)(uintptr_t)costate_method_find(names[k]);
        tests[3 * k] = (struct CMUnitTest){names[k], no_growth, NULL, NULL, m};
        tests[3 * k + 1] = (struct CMUnitTest){names[k], tape_alone, NULL, NULL, m};
        tests[3 * k + 2] = (struct CMUnitTest){names[k], no_memory, NULL, NULL, m};
    }
    return cmocka_run_group_tests_name("memory", tests, NULL, NULL) + run_by_kind("same bits", same_bits);
}
