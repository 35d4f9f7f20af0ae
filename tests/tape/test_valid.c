/* test_valid.c - invariants notice what is wrong: every field that tape_is_valid and pairs_is_valid look at is changed
   in a struct that a run or a layout has left, and changed back.  They hold for replays with other times, also when
   these are read from a file. */
#include <unistd.h>
#include "linsol/pairs.h"
#include "tape/tape.h"
#include "solver/solver.h"     /* before cmocka, which has a macro fail */
#include "common.h"

/* a falling ball that bounces, with a tape: steps and an event */
static costate_tape *bounced(costate *c)
{
    costate_tape *tape = costate_tape_new();
    double y[2] = {1, 0};
    assert_non_null(tape);
    CHECK_OK(c, costate_integrate(c, 0, 0.6, y, NULL, tape));
    assert_true(tape->count > 4 && tape->maps.count == 1);
    return tape;
}

static int fall(const costate_point *x, double *out, void *ctx)
{
    (void)ctx;
    out[0] = x->y[1];
    out[1] = -9.81;
    return 0;
}

static int height(const costate_point *x, double *out, void *ctx) { (void)ctx; *out = x->y[0]; return 0; }
static int bounce(const costate_point *x, double *out, void *ctx)
{
    (void)ctx;
    out[0] = x->y[0];
    out[1] = -0.8 * x->y[1];
    return 0;
}

#define NOTICED(object, is_valid, field, wrong) do { \
    assert_true(is_valid); \
    __typeof__(field) before = field; \
    field = wrong; \
    if (is_valid) fail_msg(#field " = " #wrong " is not noticed"); \
    field = before; \
    assert_true(is_valid); \
} while (0)

static void test_tape(void **state)
{
    costate_event ground = {.guard.value = height, .jump.value = bounce, .direction = -1};
    costate_problem P = {.n = 2, .rhs.value = fall, .event = &ground, .nevents = 1};
    costate *c = new_for_test(costate_method_find("tsit5"), &P, &(costate_options){.rtol = 1e-6, .atol = 1e-6});
    costate_tape *t = bounced(c);
    (void)state;
#define WRONG(field, wrong) NOTICED(t, tape_is_valid(t), field, wrong)
    WRONG(t->count, t->room + 1);
    WRONG(t->count, -1);
    WRONG(t->maps.count, t->maps.room + 1);
    WRONG(t->maps.events, 2);
    WRONG(t->maps.list[0].before, t->count + 1);
    WRONG(t->maps.list[0].number, 1);
    WRONG(t->list[1].t, t->list[1].t + 1e-9);
    WRONG(t->list[1].h, -t->list[1].h);
    WRONG(t->list[2].end, t->list[2].t - 1);
    WRONG(t->list[2].jacobian, -1);
    WRONG(t->list[0].t, NAN);
    WRONG(t->fresh.last, t->count + 1);
    WRONG(t->factors.sets, 1);
    WRONG(t->first->used, t->first->size + 1);
    WRONG(t->last, NULL);
    unsigned member = t->list[3].member;
    t->list[3].member = 7;
    assert_false(tape_is_valid(t));
    t->list[3].member = member & 0xff;
    assert_true(tape_is_valid(t));
    costate_tape_free(t);
    costate_free(c);
}

/* ---- replays whose steps take other times than those of the run ---- */

static int sinking(const costate_point *x, double *out, void *ctx)
{
    (void)ctx;
    out[0] = -x->p[0];
    out[1] = -x->p[1];
    return 0;
}

/* two units that become zero, each with an event that lets it begin anew; ctx: which */
static int which(const void *ctx) { return *(const int *)ctx; }
static int unit(const costate_point *x, double *out, void *ctx) { *out = x->y[which(ctx)]; return 0; }
static int refill(const costate_point *x, double *out, void *ctx)
{
    memcpy(out, x->y, 2 * sizeof *out);
    out[which(ctx)] = 5;
    return 0;
}

typedef struct { int of[2]; costate_event event[2]; costate_problem P; } units;

static void set_up(units *x)
{
    *x = (units){.of = {0, 1}, .P = {.n = 2, .np = 2, .rhs.value = sinking, .nevents = 2, .event = x->event}};
    for (int i = 0; i < 2; i++)
        x->event[i] = (costate_event){.guard.value = unit, .jump.value = refill, .direction = -1, .ctx = &x->of[i],
                                      .passes = 1};
}

static int instants(const costate_tape *t)
{
    int count = 0;
    for (int k = 0; k < t->maps.count; k++)
        count += t->maps.list[k].event == NO_LENGTH && fabs(t->maps.list[k].h) > 1e-12;
    return count;
}

/* From -1 on y becomes zero at `at`, in the replay both units later or earlier, and the second apart from the first by
   `apart`; terminal: there the run ends.  Steps of 1e-3 after it pass t = 0, where t is smaller than the round-off of
   its shift. */
static void replayed(double at, double later, double apart, int in_file, int terminal)
{
    const double p[2] = {1, 1};
    char path[64], of_run[64];
    units x;
    set_up(&x);
    x.event[1].terminal = terminal;
    costate_options o = {.rtol = 1e-6, .atol = 1e-6, .h0 = 1e-3, .controller = COSTATE_FIXED};
    costate *c = new_for_test(costate_method_find("tsit5"), &x.P, &o);
    snprintf(path, sizeof path, "valid_%ld.tape", (long)getpid());
    snprintf(of_run, sizeof of_run, "valid_%ld_run.tape", (long)getpid());
    costate_tape *tape = in_file ? costate_tape_open(of_run) : costate_tape_new(),
                 *onto = in_file ? costate_tape_open(path) : costate_tape_new();
    double y[2] = {at + 1, at + 1}, z[2] = {at + 1 + later, at + 1 + later + apart};
    assert_true(tape && onto);
    CHECK_OK(c, costate_integrate(c, -1, 0.5, y, p, tape));
    assert_true(tape_is_valid(tape) && instants(tape) == 0 && costate_tape_events(tape) == 2);
    CHECK_OK(c, costate_replay_onto(c, tape, z, p, onto));
    assert_int_equal(instants(onto), apart != 0);
    assert_true(tape_is_valid(onto));
    if (apart != 0) {
        mapped *e = onto->maps.list;
        assert_true(e[0].event == 0 && e[1].event == NO_LENGTH && e[2].event == 1 && fabs(e[1].h - apart) < 1e-12);
#define CHANGED(field, wrong) NOTICED(onto, tape_is_valid(onto), field, wrong)
        CHANGED(e[1].h, NAN);
        if (!terminal) CHANGED(e[1].h, 0);
        if (!terminal) CHANGED(e[1].h, 2 * e[1].h);
        CHANGED(e[2].event, WENT_ON);           /* an instant of no event; without a length it may stay behind */
        double length = e[1].h;
        e[1].h = 0;
        e[2].event = WENT_ON;
        assert_int_equal(tape_is_valid(onto), terminal);
        e[1].h = length;
        e[2].event = 1;
        if (!terminal) CHANGED(onto->list[e[2].before].t, onto->list[e[2].before].t - apart);
    }
    costate_tape_free(onto);
    if (in_file) {
        costate_tape *read = costate_tape_open(path);
        CHECK_OK(c, costate_tape_read(c, read));
        assert_int_equal(instants(read), apart != 0);
        costate_tape_free(read);
        unlink(path);
        unlink(of_run);
    }
    costate_tape_free(tape);
    costate_free(c);
}

static void test_replays(void **state)
{
    (void)state;
    for (int in_file = 0; in_file < 2; in_file++) {
        replayed(-0.5, 0, 0, in_file, 0);
        replayed(-0.5, 0.1, 0, in_file, 0);
        replayed(-0.5, -0.1, 0, in_file, 0);
        replayed(-0.5, 0.1, 0.07, in_file, 0);
        replayed(-0.5, 0.1, -0.07, in_file, 0);
        replayed(-0.5, -0.03, 1e-9, in_file, 0);
        replayed(-0.5, 0.1, 0.07, in_file, 1);
    }
}

static void test_pairs(void **state)
{
    double block[4096];
    cursor at = {block, 0};
    pairs a = {0};
    (void)state;
    pairs_layout(&a, &at, 8, 4, 0);
    pairs_clear(&a);
#undef WRONG
#define WRONG(field, wrong) NOTICED(&a, pairs_is_valid(&a), field, wrong)
    WRONG(a.count, 5);
    WRONG(a.count, -1);
    WRONG(a.next, 4);
    WRONG(a.next, -1);
    WRONG(a.room, PAIRS_MOST + 1);
    WRONG(a.u, a.x);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_tape), cmocka_unit_test(test_replays),
                                       cmocka_unit_test(test_pairs)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
