/* test_any_order.c - what is asked of a solver does not depend on what it was asked before: acts in any order, each as
   by a solver that was asked nothing else, to the bit, but for what Newton's iteration and GMRES leave.

   COSTATE_FAULTS=all: every case of acts.h, twenty walks in each; else one walk in a seventh of them. */
#include "faults.h"


enum { STRIDE = 23 };                        /* of the cases in the suite; stores and solvers take 5 and 8 */

typedef struct { double out[ACTS][ACT_OUT]; int there[ACTS]; } answers;

static void alone(const act_case *x, answers *a, const bytes_of *cut)
{
    static act_world w;
    for (int act = ACT_TANGENT; act < ACTS; act++) {
        if (!(a->there[act] = act_applies(x, act))) continue;
        act_open(&w, x);
        w.cut = cut->data;
        w.cut_bytes = cut->length;
        assert_int_equal(act_before(&w, act), COSTATE_OK);
        if (act_do(&w, act) != COSTATE_OK) fail_msg("%s: %s: %s", x->name, act_names[act], w.said);
        memcpy(a->out[act], w.out, sizeof w.out);
        act_close(&w);
    }
}

/* a walk over all acts, in an order of its own */
static void one_after_another(const act_case *x, const answers *a, const bytes_of *cut, unsigned *seed)
{
    static act_world w;
    int before = ACT_GO_ON;
    act_open(&w, x);
    w.cut = cut->data;
    w.cut_bytes = cut->length;
    assert_int_equal(act_before(&w, ACTS), COSTATE_OK);
    for (int k = 0; k < 2 * ACTS; k++) {
        int act = ACT_TANGENT + (int)random_below(seed, ACTS - ACT_TANGENT);
        if (!a->there[act]) continue;
        if (act_do(&w, act) != COSTATE_OK) fail_msg("%s: %s: %s", x->name, act_names[act], w.said);
        double gap = relative_gap(ACT_OUT, w.out, a->out[act]);
        if (!(gap <= faults_bound(x)))
            fail_msg("%s: %s after %s: other by %.1e", x->name, act_names[act], act_names[before], gap);
        before = act;
    }
    act_close(&w);
}

static void any_order(void **state)
{
    static act_case x;
    static answers a;
    unsigned seed = 4;
    (void)state;
    int from = faults_all() ? 0 : (int)random_below(&seed, STRIDE), by = faults_all() ? 1 : STRIDE;
    for (int k = from, is = 1; (is = act_case_at(k, &x)); k += by) {
        if (is < 0) continue;
        bytes_of cut = faults_cut(&x);
        alone(&x, &a, &cut);
        for (int walk = 0; walk < (faults_all() ? 20 : 1); walk++) one_after_another(&x, &a, &cut, &seed);
        free(cut.data);
    }
}

int main(void)
{
    static const struct CMUnitTest tests[] = {cmocka_unit_test(any_order)};
    return cmocka_run_group_tests_name("acts in any order", tests, NULL, NULL);
}
