/* test_replay_later.c - a replay may end later or earlier than its tape, by another length of the last step: the map is
   smooth in its end, and the tape that it writes is that of a run to this end. */
#include "sweeps/replay.h"
#include "common.h"

static int decay(const costate_point *x, double *out, void *ctx) { return *out = -x->y[0], (void)ctx, 0; }
static int decay_tangent(const costate_point *x, const costate_point *d, double *out, void *ctx)
{
    return *out = d->y ? -d->y[0] : 0, (void)x, (void)ctx, 0;
}
static const double stop[] = {0.6};             /* a step that ends there does so in a replay, too */
static const costate_problem P = {.n = 1, .rhs = {.value = decay, .tangent = decay_tangent},
                                  .nstops = 1, .stops = stop};

static double end_at(costate *c, const costate_tape *tape, double later, costate_tape *onto)
{
    double y = 1;
    if (solver_replay_later(c, tape, &y, NULL, later, onto) != COSTATE_OK) fail_msg("%s", costate_message(c));
    assert_true(fabs(costate_time(c) - (1 + later)) < 1e-15);
    return y;
}

static void later(void **state)
{
    const char *const names[] = {"dopri5", "radau2a5", "rodas5p"};
    (void)state;
    for (int k = 0; k < 3; k++) {
        costate_tape *tape = costate_tape_new(), *onto = costate_tape_new();
        costate *c = costate_new(costate_method_find(names[k]), &P, &(costate_options){
            .rtol = 1e-6, .atol = 1e-6, .derivative_mode = 1, .autonomous = 1, .differences = 1});
        double y = 1, t, h, last, one = 1, slope, V = 0;
        assert_int_equal(costate_integrate(c, 0, 1, &y, NULL, tape), COSTATE_OK);
        int steps = costate_tape_steps(tape);
        assert_true(end_at(c, tape, 0, onto) == y);                                     /* the same bits */
        costate_tape_get(tape, steps - 1, &t, &last, NULL);
        slope = (end_at(c, tape, 1e-4, onto) - end_at(c, tape, -1e-4, onto)) / 2e-4;
        assert_int_equal(costate_tangent(c, tape, 1, &V, NULL, &(costate_times){.t1 = &one}, NULL), COSTATE_OK);
        assert_true(fabs(V - slope) < 1e-7 && fabs(V + exp(-1)) < 1e-4);
        double further = end_at(c, tape, last / 2, onto), again = 1;
        assert_true(fabs(further - exp(-1 - last / 2)) < 1e-3);
        assert_int_equal(costate_tape_steps(onto), steps);
        costate_tape_get(onto, steps - 1, &t, &h, NULL);
        assert_true(fabs(h - 1.5 * last) < 1e-14);
        assert_int_equal(costate_replay(c, onto, &again, NULL), COSTATE_OK);            /* of the tape that it wrote */
        assert_true(again == further);
        assert_true(fabs(costate_time(c) - 1 - last / 2) < 1e-15);
        assert_int_equal(costate_tape_eval(c, onto, 1 + last / 2, &again), COSTATE_OK);
        assert_int_equal(solver_replay_later(c, tape, &again, NULL, -last, onto), COSTATE_OUT_OF_RANGE);
        assert_non_null(strstr(costate_message(c), "before it begins"));
        costate_free(c);
        costate_tape_free(tape);
        costate_tape_free(onto);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(later)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
