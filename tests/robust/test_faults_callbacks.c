/* test_faults_callbacks.c - a callback fails at its call k, or from there on, in each way, in whatever is asked of a
   solver: a status with a sentence, or finite results; and the solver as ever.

   COSTATE_FAULTS=all: every act of every case of acts.h, else some drawn from a seed. */
#include "faults.h"

static const struct { const char *how; int code; double write; } ways[] = {
    {"returns -1", -1, 0}, {"returns 1", 1, 0}, {"gives NaN", 0, NAN}, {"gives Inf", 0, INFINITY}};
enum { WAYS = sizeof ways / sizeof *ways };

/* < 0 is COSTATE_CALLBACK at once; > 0 is that, of a preconditioner COSTATE_SINGULAR, or a smaller step; NaN is found,
   or of no use to anybody.  Checks go on without the runs far away that a callback refuses. */
static int allowed(const fault *f, int way, int ever, int status)
{
    if (f->act == ACT_CHECK_ADJOINT || f->act == ACT_CHECK_HESSIAN) return status <= COSTATE_OK;
    if (ways[way].code < 0) return status == COSTATE_CALLBACK;
    if (ways[way].code > 0 && ever)
        return status == COSTATE_CALLBACK || (f->x->preconditioned && status == COSTATE_SINGULAR);
    return status <= COSTATE_OK;
}

static void at_call(fault *f, act_world *w, long k, int way, int ever)
{
    w->spoil = (act_spoil){.from = k, .until = ever ? LONG_MAX : k + 1, .code = ways[way].code,
                           .write = ways[way].write};
    int status = act_do(w, f->act);
    long hits = w->spoil.hits;
    w->spoil = (act_spoil){0};
    faults_said(f, w, k, ways[way].how, status);
    if (hits == 0 && status == COSTATE_OK) return;           /* what it needed was made by a call before */
    if (hits == 0 || !allowed(f, way, ever, status)) faults_complain(f, k, ways[way].how, status, w->said);
    faults_again(f, w, k, ways[way].how);
    f->tried++;
    f->harmed += status != COSTATE_OK;
}

static void every_call(fault *f, unsigned *seed)
{
    static act_world w;
    long most = faults_all() ? 40 : 6, calls = faults_undisturbed(f, &w);
    for (long j = 0; j < most && calls > 0; j++) {
        long k = j < most / 4 ? 1 + j % calls : 1 + random_below(seed, (unsigned)calls);
        for (int way = 0; way < WAYS; way++) at_call(f, &w, k, way, random_below(seed, 2) == 1);
    }
    act_close(&w);
}

static void callbacks(void **state)
{
    (void)state;
    faults_each(2, every_call);
}

/* What failed once: of steps made again from a checkpoint NaN was kept, for sweeps to come. */
static void found(void **state)
{
    static fault f;
    static act_world w;
    act_case x;
    bytes_of none = {NULL, 0};
    (void)state;
    faults_case("rkc2, everything, dense, checkpoints", &x);
    assert_true(faults_reference(&f, &x, ACT_ADJOINT, &none));
    long calls = faults_undisturbed(&f, &w);
    for (long k = 1; k <= calls; k++)
        for (int way = 0; way < WAYS; way++) at_call(&f, &w, k, way, 1);
    act_close(&w);
    assert_true(f.tried > 0);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {cmocka_unit_test(callbacks), cmocka_unit_test(found)};
    return cmocka_run_group_tests_name("a callback fails in any act", tests, NULL, NULL);
}
