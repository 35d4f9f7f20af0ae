/* test_valid.c - invariants notice what is wrong: every field that tape_is_valid and pairs_is_valid look at is changed
   in a struct that a run or a layout has left, and changed back. */
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
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_tape), cmocka_unit_test(test_pairs)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
