/* test_faults_memory.c - malloc fails at call k, alone or from there on, in whatever is asked of a solver, the backends
   UMFPACK and KLU included: a status with a sentence or what it always gives, nothing leaked, and the solver as ever.

   COSTATE_FAULTS=all: every k in every act of every case of acts.h, else some drawn from a seed.  SuperLU's own
   allocations are left out (costate.h says what it does). */
#include "faults.h"

static void fail_from(long k, int ever)
{
    if (ever) alloc_fail_at(k);
    else alloc_fail_once(k);
}

static long calls_of(const fault *f)
{
    static act_world w;
    faults_open(f, &w);
    act_before(&w, f->act);
    alloc_fail_at(0);
    act_do(&w, f->act);
    long calls = alloc_calls();
    act_close(&w);
    return calls;
}

static void at_call(fault *f, long k, int ever)
{
    const char *how = ever ? "and all after it without memory" : "without memory";
    static act_world w;
    long before = alloc_live();
    faults_open(f, &w);
    int status = act_before(&w, f->act);
    if (status != COSTATE_OK) faults_complain(f, k, how, status, w.said);
    fail_from(k, ever);
    status = act_do(&w, f->act);
    long failures = alloc_failures();
    alloc_fail_at(0);
    faults_said(f, &w, k, how, status);
    if (status != COSTATE_OK && (failures == 0 || status != COSTATE_NO_MEMORY))
        faults_complain(f, k, how, status, w.said);
    if (status == COSTATE_OK) faults_same(f, w.out, f->out, k, how);
    faults_again(f, &w, k, how);
    act_close(&w);
    if (alloc_live() != before)
        fail_msg("%s: %s, call %ld %s: %ld blocks leaked", f->x->name, act_names[f->act], k, how,
                 alloc_live() - before);
    f->tried++;
    f->harmed += failures > 0 && status != COSTATE_OK;
}

/* a new solver and tape: none, or one that says so */
static long in_new(fault *f, long k, int ever)
{
    static act_world w;
    long before = alloc_live();
    fail_from(k, ever);
    act_open(&w, f->x);
    long failures = alloc_failures();
    alloc_fail_at(0);
    if (failures == 0 && (!w.c || !w.tape || costate_status(w.c) != COSTATE_OK))
        faults_complain(f, k, "of a new solver", COSTATE_NO_MEMORY, costate_message(w.c));
    if (w.c && costate_status(w.c) != COSTATE_OK &&
        (costate_status(w.c) != COSTATE_NO_MEMORY || strlen(costate_message(w.c)) < 8))
        faults_complain(f, k, "of a new solver", costate_status(w.c), costate_message(w.c));
    if (w.c && w.tape) {
        int made = costate_status(w.c), status = act_do(&w, ACT_RUN);
        if (status != made) faults_complain(f, k, "of a new solver", status, w.said);
        if (status == COSTATE_OK) faults_same(f, w.out, f->expected[ACT_RUN], k, "of a new solver");
    }
    act_close(&w);
    if (alloc_live() != before) fail_msg("%s: new, call %ld: %ld blocks leaked", f->x->name, k, alloc_live() - before);
    f->tried++;
    f->harmed += failures > 0;
    return failures;
}

/* k's of 1 .. calls: all, or one in some; the first ones are */
static long next(long k, long calls, unsigned *seed)
{
    long wanted = faults_all() ? 400 : 12, most = 2 * calls / wanted + 1;
    return k < 4 || most < 2 ? k + 1 : k + 1 + random_below(seed, (unsigned)most);
}

static void every_call(fault *f, unsigned *seed)
{
    long calls = calls_of(f);
    for (int ever = 0; ever <= 1; ever++) {
        for (long k = 1; k <= calls + 1; k = next(k, calls, seed)) at_call(f, k, ever);
        for (long k = 1; f->act == ACT_RUN && in_new(f, k, ever); k++) ;
    }
}

static void no_memory(void **state)
{
    (void)state;
    faults_each(1, every_call);
}

/* What failed once: a factorisation for y' of a start, taken for a singular matrix; events of a new solver, which went
   without them. */
static void found(void **state)
{
    static const struct { const char *name; int act; } all[] = {
        {"sdirk4a, everything, residual, sparse, all stages", ACT_GO_ON},
        {"dopri5, everything, dense, checkpoints in a file", ACT_RESUME},
        {"dopri5, everything, dense, all stages", ACT_RUN},
    };
    enum { COUNT = sizeof all / sizeof *all };
    static fault f;
    act_case x;
    unsigned seed = 5;
    (void)state;
    for (int i = 0; i < COUNT; i++) {
        faults_case(all[i].name, &x);
        bytes_of cut = faults_cut(&x);
        assert_true(faults_reference(&f, &x, all[i].act, &cut));
        every_call(&f, &seed);
        free(cut.data);
    }
}

int main(void)
{
    static const struct CMUnitTest tests[] = {cmocka_unit_test(no_memory), cmocka_unit_test(found)};
    alloc_backends_too();
    return cmocka_run_group_tests_name("no memory in any act", tests, NULL, NULL);
}
