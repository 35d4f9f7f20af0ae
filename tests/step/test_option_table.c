/* test_option_table.c - what depends on each option: steps, lanes, and the runs of checks and estimates.  A new option
   that changes one of these lists is entered here, with a thought. */
#include "lanes/setup.h"
#include "step/option_table.h"
#include "tape/journal.h"
#include "common.h"

static const char *const NO_STEPS =
    " max_steps tangent_error warm stage_solve keep_factors storage checkpoints tape_limit on_step on_step_ctx "
    "max_events on_event on_event_ctx sum_ctx tangent_count tangent_rtol tangent_atol tangent_atol_vector "
    "on_back on_back_ctx gradient_estimate ";
static const char *const WATCH = " on_step on_event on_back ";
static const char *const OF_ONE_RUN = " tangent_error hmin hmax warm tangent_count tangent_rtol tangent_atol "
    "tangent_atol_vector gradient_control ";
static const char *const ALONE =
    " controller differences on_step consistent mode sum on_back gradient_control step_bound ";
static const char *const ALONE_ADJOINTS = " keep_factors storage tape_limit ";
static const char *const ALONE_TANGENTS = " tangent_error ";

static const double one[] = {1}, two[] = {2};

static int listed(const char *list, const option *x)
{
    char word[80];
    snprintf(word, sizeof word, " %s ", x->name);
    return strstr(list, word) != NULL;
}

/* a value that is not the default: of numbers the largest, or 1 */
static costate_options with(const option *x)
{
    costate_options o = {0};
    char *at = (char *)&o + x->offset;
    const void *pointer = x->kind == OPTION_TEXT ? (const void *)"ab" : one;
    if (x->kind == OPTION_REAL) *(double *)(void *)at = 1;
    else if (x->kind == OPTION_INTEGER) *(int *)(void *)at = (int)fmax(x->most, 1);
    else if (x->kind == OPTION_BYTES) *(size_t *)(void *)at = 1;
    else memcpy(at, &pointer, sizeof pointer);
    return o;
}

static uint64_t checksum(const costate_options *o) { return journal_options(&(stepper){.options = o, .n = 1}); }

static void steps(void **state)
{
    (void)state;
    const costate_options none = {0};
    for (const option *x = option_table; x->name; x++) {
        costate_options o = with(x);
        if ((checksum(&o) == checksum(&none)) != listed(NO_STEPS, x)) fail_msg("checksum of a run: %s", x->name);
    }
}

static void contents(void **state)
{
    (void)state;
    const costate_options a = {.rtol_vector = one, .members = "ab"}, b = {.rtol_vector = two, .members = "ab"},
                          c = {.rtol_vector = one, .members = "ac"}, d = {.atol_vector = one, .members = "ab"};
    assert_true(checksum(&a) != checksum(&b) && checksum(&a) != checksum(&c) && checksum(&a) != checksum(&d));
}

static void cleared(void **state)
{
    (void)state;
    const struct { unsigned use; const char *names; } all[] = {{OPTION_WATCHES, WATCH}, {OPTION_ONE_RUN, OF_ONE_RUN}};
    for (int k = 0; k < 2; k++) {
        for (const option *x = option_table; x->name; x++) {
            costate_options o = with(x);
            options_clear(&o, all[k].use);
            if ((option_value(&o, x) == 0) != listed(all[k].names, x)) fail_msg("cleared: %s", x->name);
        }
    }
}

static int value(const costate_lane_point *x, double *out, void *ctx) { return (void)x, (void)out, (void)ctx, 0; }

/* options that lanes do not follow, and the values beyond which: -1 and 0 of keep_factors are followed */
static void lanes(void **state)
{
    (void)state;
    const costate_problem P = {.n = 1};
    const costate_lane_maps in_lanes = {.lanes = 4, .rhs = {.value = value}};
    for (const option *x = option_table; x->name; x++) {
        costate_options o = with(x);
        for (int k = 0; k < 4; k++) {
            const lane_task t = {.P = &P, .o = &o, .maps = &in_lanes, .d = k % 2, .k = k / 2};
            int alone = listed(ALONE, x) || (t.d && listed(ALONE_TANGENTS, x)) || (t.k && listed(ALONE_ADJOINTS, x));
            const char *why = lanes_refuse_task(&t);
            if ((why != NULL) != alone) fail_msg("%s: %s", x->name, why ? why : "lanes follow it");
            if (why) assert_non_null(strstr(why, x->name));
        }
    }
    const costate_options o = {.keep_factors = -1, .consistent = COSTATE_CONSISTENT_NONE,
                               .controller = COSTATE_GUSTAFSSON};
    assert_null(lanes_refuse_task(&(lane_task){.P = &P, .o = &o, .maps = &in_lanes, .d = 1, .k = 1}));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(steps), cmocka_unit_test(contents), cmocka_unit_test(cleared),
                                       cmocka_unit_test(lanes)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
