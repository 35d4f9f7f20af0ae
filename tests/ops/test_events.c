/* test_events.c - where events are, and what happens there: located to round-off of what the step computes, by their
   direction and modes; given times to the bit; several at one time in the order of the list; none where a guard only
   leaves zero. */
#include "clockwork.h"
#include <float.h>

/* The clock and sin t from t = 0 on: 0.3 is passed at 0.305 (up), 2.837 (down), 6.588 (up); back from 0 at -3.446 (up
   along the run), -5.978 (down). */
static void located(void **state)
{
    static const int ways[] = {0, 1, -1}, expected[2][3] = {{3, 2, 1}, {2, 1, 1}};
    clockwork w;
    double y[CLOCK_ROWS];
    for (int back = 0; back < 2; back++)
        for (int k = 0; k < 3; k++) {
            clock_wind(&w, 1, 0, 0.3);
            w.event[0].guard = clock_sine_guard;
            w.event[0].direction = ways[k];
            costate *c = clock_run(&w, *state, 0, back ? -7 : 7, y, NULL);
            assert_int_equal(w.count, expected[back][k]);
            for (int i = 0; i < w.count; i++) {
                const clock_entry *e = &w.log[i];
                double missed = fabs(e->before[1] - 0.3) / fabs(e->before[2]);
                if (!(missed <= 24 * DBL_EPSILON))
                    fail_msg("%s: by %.1e at t = %.6f", method_name(*state), missed, e->t);
                assert_memory_equal(e->before, e->after, sizeof e->after);
            }
            assert_true(costate_get_stats(c)->located >= w.count && costate_get_stats(c)->guards > 0);
            costate_free(c);
        }
}

/* 0 -> 1 at 0.5, 1 -> 2 at sin t = 0.8, and one from mode 0 that comes too late; callbacks see the mode before */
static void modes(void **state)
{
    clockwork w;
    double y[CLOCK_ROWS];
    clock_wind(&w, 3, 0.5, 0.8);
    for (int k = 0; k < 3; k++) {
        w.event[k].guard = k == 0 ? clock_hand_guard : clock_sine_guard;
        w.event[k].jump = clock_tick;
        w.event[k].from = k % 2;
        w.event[k].to = k % 2 + 1;
    }
    w.event[2].to = 7;
    costate *c = clock_run(&w, *state, 0, 3, y, NULL);
    assert_int_equal(w.count, 2);
    assert_true(w.log[0].event == 0 && w.log[1].event == 1);
    assert_true(w.log[0].after[CLOCK_M] == 1 && w.log[1].after[CLOCK_M] == 12 && y[CLOCK_M] == 12);
    assert_int_equal(costate_mode(c), 2);
    costate_free(c);
}

/* t0 among them, and t1, which is not taken; both directions of time; steps end there, to the bit */
static void given_times(void **state)
{
    static const double times[] = {0, 0.25, 1.0 / 3, 0.7, 1};
    clockwork w;
    double y[CLOCK_ROWS];
    for (int back = 0; back < 2; back++) {
        costate_tape *tape = costate_tape_new();
        clock_wind(&w, 1, 0, 0);
        w.event[0].ntimes = 5;
        w.event[0].times = times;
        w.event[0].jump = clock_tick;
        costate *c = clock_run(&w, *state, back, 1 - back, y, tape);
        assert_int_equal(w.count, 4);
        for (int k = 0, step = 0; k < 4; k++) {
            double t = NAN, h, before[CLOCK_ROWS];
            assert_true(w.log[k].t == times[back ? 4 - k : k] && w.log[k].after[CLOCK_M] == k + 1);
            while (step < costate_tape_steps(tape) && t != w.log[k].t) costate_tape_get(tape, step++, &t, &h, before);
            assert_true(t == w.log[k].t);
            assert_memory_equal(before, w.log[k].after, sizeof before);
        }
        assert_true(y[CLOCK_M] == 4);
        costate_free(c);
        costate_tape_free(tape);
    }
}

/* 2 y + 1 or 2 (y + 1): two guards, a guard and a given time, and both ways round */
static void together(void **state)
{
    static const double half = 0.5;
    clockwork w;
    double y[CLOCK_ROWS];
    for (int variant = 0; variant < 8; variant++) {
        int turned = variant & 1;
        clock_wind(&w, 2, half, 0);
        for (int k = 0; k < 2; k++) {
            if (variant >> (1 + k) & 1) {
                w.event[k].times = &half;
                w.event[k].ntimes = 1;
            } else w.event[k].guard.value = clock_time;
            w.event[k].jump = k == turned ? clock_twice : clock_one_more;
        }
        costate *c = clock_run(&w, *state, 0, 1, y, NULL);
        assert_int_equal(w.count, 2);
        if (!(w.log[0].event == 0 && w.log[1].event == 1 && w.log[0].t == w.log[1].t))
            fail_msg("%s, variant %d: events %d at %.17g, %d at %.17g", method_name(*state), variant, w.log[0].event,
                     w.log[0].t, w.log[1].event, w.log[1].t);
        assert_memory_equal(w.log[0].after, w.log[1].before, sizeof w.log[0].after);
        double before = w.log[0].before[1];
        assert_true(w.log[1].after[1] == (turned ? 2 * (before + 1) : 2 * before + 1));
        assert_true(fabs(w.log[0].t - half) <= DBL_EPSILON);
        costate_free(c);
    }
}

/* (y0 - 0.4)(y0 - 0.6) within one step from 0 to 1: seen at 0, 1/4, ..., and at 0 and 1 alone by its slopes there */
static int two_roots(const costate_point *x, double *out, void *ctx)
{
    return (void)ctx, out[0] = (x->y[0] - 0.4) * (x->y[0] - 0.6), 0;
}
static void samples(void **state)
{
    static const int points[] = {0, 4, 1}, expected[] = {2, 2, 2};
    clockwork w;
    double y[CLOCK_ROWS];
    for (int k = 0; k < 3; k++) {
        clock_wind(&w, 1, 0, 0);
        w.o.controller = COSTATE_FIXED;
        w.o.h0 = w.o.hmax = 1;
        w.o.event_samples = points[k];
        w.event[0].guard.value = two_roots;
        costate *c = clock_run(&w, *state, 0, 1, y, NULL);
        assert_int_equal(w.count, expected[k]);
        for (int i = 0; i < w.count; i++) assert_true(fabs(w.log[i].before[0] - (i ? 0.6 : 0.4)) <= 1e-14);
        costate_free(c);
    }
}

/* Zero at the start, or after a jump that leaves it so: no event until it has left zero and is back.  None at t1. */
static void masked(void **state)
{
    clockwork w;
    double y[CLOCK_ROWS];
    clock_wind(&w, 1, 0, 0);
    w.event[0].guard = clock_sine_guard;
    w.event[0].jump = clock_tick;
    costate *c = clock_run(&w, *state, 0, 7, y, NULL);           /* zeros at 0, pi, 2 pi */
    assert_int_equal(w.count, 2);
    costate_free(c);
    clock_wind(&w, 1, 1, 0);
    w.event[0].guard.value = clock_time;
    c = clock_run(&w, *state, 0, 1, y, NULL);
    assert_int_equal(w.count, 0);
    costate_free(c);
}

/* the dense output ends at an event, and begins there with what the jump left */
static void both_sides(void **state)
{
    const double d = 1e-10;
    clockwork w;
    double y[CLOCK_ROWS];
    for (int storage = 0; storage < 2; storage++) {
        costate_tape *tape = costate_tape_new();
        clock_wind(&w, 1, 0, 0.3);
        w.o.storage = storage;
        w.event[0].guard = clock_sine_guard;
        w.event[0].jump = clock_one_more;
        costate *c = clock_run(&w, *state, 0, 3, y, tape);
        assert_true(w.count > 0);
        for (int k = 0; k < w.count; k++) {
            CHECK_OK(c, costate_tape_eval(c, tape, w.log[k].t - d, y));
            assert_true(largest_gap(CLOCK_N, y, w.log[k].before) <= 10 * d);
            CHECK_OK(c, costate_tape_eval(c, tape, w.log[k].t + d, y));
            assert_true(largest_gap(CLOCK_N, y, w.log[k].after) <= 10 * d);
        }
        costate_free(c);
        costate_tape_free(tape);
    }
}

int main(void)
{
    return run_by_method("located", located) + run_by_method("modes", modes) +
           run_by_method("given times", given_times) + run_by_method("together", together) +
           run_by_method("samples", samples) + run_by_method("masked", masked) +
           run_by_method("both sides", both_sides);
}
