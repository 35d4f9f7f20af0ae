/* test_left.c - a callback that calls its own solver is refused, and all goes on as if it had not; one that is left by
   longjmp leaves a solver and a tape that can be used again.  In every act of acts.h, at drawn calls of callbacks. */
#include <setjmp.h>
#define FAULTS_SECONDS 2
#include "faults.h"

/* Work space that a left call had allocated for itself is lost (docs/reference/calls.md): the leak checker of a
   sanitizer is not asked. */
int __lsan_is_turned_off(void);
int __lsan_is_turned_off(void) { return 1; }

/* ---- a callback calls its own solver, by each public call ---- */

static int refused(const act_world *w, int status)
{
    return status == COSTATE_BAD_ARGUMENT && strstr(costate_message(w->c), "callback") != NULL;
}

static int bad_seed(double t1, const double *y, const double *p, int m, double *l, double *mu, void *ctx)
{
    (void)t1, (void)y, (void)p, (void)m, (void)l, (void)mu, (void)ctx;
    return 1;
}

static int bad_seed2(double t1, const double *y, const double *p, int m, const double *V, const double *Vp, double *l,
                     double *mu, double *l2, double *mu2, void *ctx)
{
    (void)t1, (void)y, (void)p, (void)m, (void)V, (void)Vp, (void)l, (void)mu, (void)l2, (void)mu2, (void)ctx;
    return 1;
}

static long accepted;

static void calls_itself(act_world *w)
{
    double y[ACT_N] = {0}, V[ACT_N] = {0}, p[NUMS_P] = {0}, t0 = w->t0, t1 = w->t1;
    costate *c = w->c;
    costate_tape *tape = w->tape, *other = costate_tape_new();
    costate_second s = {.m = 1, .V = V, .lambda = y, .lambda2 = V, .seed = bad_seed2};
    costate_report r;
    if (!refused(w, costate_integrate(c, t0, t1, y, w->p, tape))) accepted++;
    if (!refused(w, costate_integrate_tlm(c, t0, t1, y, w->p, 1, V, p, NULL, other))) accepted++;
    if (!refused(w, costate_integrate_adj(c, t0, t1, y, w->p, 1, V, p, NULL, bad_seed, NULL))) accepted++;
    if (!refused(w, costate_continue(c, tape, t1, y))) accepted++;
    if (!refused(w, costate_tangent(c, tape, 1, V, p, NULL, NULL))) accepted++;
    if (!refused(w, costate_adjoint(c, tape, 1, V, p, NULL, NULL))) accepted++;
    if (!refused(w, costate_hessian(c, tape, &s))) accepted++;
    if (!refused(w, costate_gauss_newton(c, tape, &s))) accepted++;
    if (!refused(w, costate_replay(c, tape, y, w->p))) accepted++;
    if (!refused(w, costate_replay_onto(c, tape, y, w->p, other))) accepted++;
    if (!refused(w, costate_tape_eval(c, tape, t0, y))) accepted++;
    if (!refused(w, costate_tape_read(c, tape))) accepted++;
    if (!refused(w, costate_resume(c, tape, y))) accepted++;
    if (!refused(w, costate_consistent(c, t0, y, NULL, w->p))) accepted++;
    if (!refused(w, costate_check_adjoint(c, t0, t1, y, w->p, &r))) accepted++;
    if (!refused(w, costate_check_hessian(c, t0, t1, y, w->p, bad_seed2, NULL, &r))) accepted++;
    costate_tape_free(other);
}

static void re_entered(fault *f, unsigned *seed)
{
    static act_world w;
    if (f->act >= ACT_READ) return;                     /* by another solver */
    long most = faults_all() ? 20 : 3, calls = faults_undisturbed(f, &w);
    for (long j = 0; j < most && calls > 0; j++) {
        long k = j == 0 ? 1 : 1 + random_below(seed, (unsigned)calls);
        if (f->act <= ACT_GO_ON && act_before(&w, f->act) != COSTATE_OK) fail_msg("%s", w.said);
        w.spoil = (act_spoil){.from = k, .until = k + 1, .does = calls_itself};
        accepted = 0;
        int status = act_do(&w, f->act);
        long hits = w.spoil.hits;
        w.spoil = (act_spoil){0};
        if (accepted || status != COSTATE_OK) faults_complain(f, k, "calls its own solver and", status, w.said);
        if (strncmp(w.said, "No error", 8) != 0 && f->act < ACT_CHECK_ADJOINT) fail_msg("says after all: %s", w.said);
        faults_same(f, w.out, f->out, k, "calls its own solver");
        f->tried += hits;
        f->harmed += hits;
    }
    act_close(&w);
}

/* ---- a callback is left ---- */

static jmp_buf away;
static void goes_away(act_world *w) { w->spoil.does = NULL; longjmp(away, 1); }

/* 1: it was left */
static int act_left(act_world *w, int act)
{
    if (setjmp(away)) return 1;
    act_do(w, act);
    return 0;
}

static void left(fault *f, unsigned *seed)
{
    static act_world w;
    if (f->act >= ACT_READ) return;                     /* tapes of its own go with it, and lock their file */
    long most = faults_all() ? 40 : 6, calls = faults_undisturbed(f, &w);
    for (volatile long j = 0; j < most && calls > 0; j++) {
        long k = j == 0 ? 1 : 1 + random_below(seed, (unsigned)calls);
        if (f->act <= ACT_GO_ON && act_before(&w, f->act) != COSTATE_OK) fail_msg("%s", w.said);
        w.spoil = (act_spoil){.from = k, .until = k + 1, .does = goes_away};
        int was = act_left(&w, f->act);
        w.spoil = (act_spoil){0};
        if (was && random_below(seed, 2)) costate_abandon(w.c);
        faults_again(f, &w, k, "was left");
        f->tried++;
        f->harmed += was;
    }
    act_close(&w);
}

/* ---- the solver is freed there ---- */

typedef struct { costate *c; int calls; } freeing;

static int frees(const costate_point *x, double *out, void *ctx)
{
    freeing *f = ctx;
    if (f->calls++ == 5) costate_free(f->c);
    out[0] = -x->y[0];
    return 0;
}

static void freed(void **state)
{
    freeing f = {NULL, 0};
    costate_problem P = {.n = 1, .ctx = &f, .rhs = {.value = frees}};
    double y = 1;
    (void)state;
    f.c = costate_new(costate_method_find("dopri5"), &P, NULL);
    assert_int_equal(costate_integrate(f.c, 0, 1, &y, NULL, NULL), COSTATE_OK);
    assert_true(f.calls > 6 && fabs(y - exp(-1)) < 1e-3);
}

static void each_re_entered(void **state) { (void)state; faults_each(3, re_entered); }
static void each_left(void **state) { (void)state; faults_each(4, left); }

int main(void)
{
    static const struct CMUnitTest tests[] = {cmocka_unit_test(each_re_entered), cmocka_unit_test(each_left),
                                              cmocka_unit_test(freed)};
    return cmocka_run_group_tests_name("callbacks that call their solver, or are left", tests, NULL, NULL);
}
