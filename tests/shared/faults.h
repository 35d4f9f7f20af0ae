/* faults.h - acts of acts.h disturbed at call k, for every k or for some drawn from a seed: what is looked at after
   each, and how long a test may take. */
#ifndef TESTS_FAULTS_H
#define TESTS_FAULTS_H

#include <limits.h>
#include <time.h>
#include "alloc.h"
#include "acts.h"
#include "files.h"

/* Seconds that a test program takes; COSTATE_FAULTS=all in the environment: all there is, as long as it takes. */
#ifndef FAULTS_SECONDS
#define FAULTS_SECONDS 4
#endif

static inline int faults_all(void)
{
    const char *s = getenv("COSTATE_FAULTS");
    return s && strcmp(s, "all") == 0;
}

/* One act of a case: reference, from a world that nobody disturbed. */
typedef struct {
    const act_case *x;
    int act;
    double expected[2][ACT_OUT], out[ACT_OUT];     /* of both runs; of the act */
    const bytes_of *cut;                           /* what ACT_RESUME begins with */
    long tried, harmed;                            /* counted over all k */
} fault;

static inline void faults_complain(const fault *f, long k, const char *how, int status, const char *said)
{
    alloc_fail_at(0);
    fail_msg("%s: %s, call %ld %s: %s: %s", f->x->name, act_names[f->act], k, how, costate_status_name(status), said);
}

/* Bits, but where an iteration begins with what the call before left: Newton's with its matrices, GMRES with its
   solution; and values of index 2 come from a factorisation by LAPACK, whose bits depend on where memory lies. */
static inline double faults_bound(const act_case *x)
{
    return is_newton(x->m) || x->o.solver == COSTATE_LS_GMRES ? 1e-10 : 0;
}

static inline void faults_same(const fault *f, const double *out, const double *expected, long k, const char *how)
{
    if (memcmp(out, expected, sizeof f->out) == 0) return;
    double gap = relative_gap(ACT_OUT, out, expected);
    if (gap <= faults_bound(f->x)) return;
    fail_msg("%s: %s, call %ld %s: other bits afterwards, by %.1e", f->x->name, act_names[f->act], k, how, gap);
}

/* A status and a sentence for it; finite results with COSTATE_OK. */
static inline void faults_said(const fault *f, const act_world *w, long k, const char *how, int status)
{
    if (status > 0 || strcmp(costate_status_name(status), "unknown status") == 0 || strlen(w->said) < 8)
        faults_complain(f, k, how, status, w->said);
    if (status == COSTATE_OK)
        for (int i = 0; i < ACT_OUT; i++)
            if (!isfinite(w->out[i])) faults_complain(f, k, "gave NaN or Inf and", status, w->said);
}

/* The same solver and tape are as ever: the act again gives what it gives in a world that nobody disturbed. */
static inline void faults_again(const fault *f, act_world *w, long k, const char *how)
{
    int status = f->act <= ACT_GO_ON ? act_before(w, f->act) : COSTATE_OK;
    if (status == COSTATE_OK) status = act_do(w, f->act);
    if (status != COSTATE_OK) faults_complain(f, k, how, status, w->said);
    faults_same(f, w->out, f->out, k, how);
    if (f->act > ACT_GO_ON) return;
    for (int act = f->act; act <= ACT_GO_ON && status == COSTATE_OK; act++) {
        if (act > f->act) status = act_do(w, act);
        if (status != COSTATE_OK) faults_complain(f, k, how, status, w->said);
        faults_same(f, w->out, f->expected[act], k, how);
    }
}

static inline void faults_open(const fault *f, act_world *w)
{
    act_open(w, f->x);
    w->cut = f->cut->data;
    w->cut_bytes = f->cut->length;
}

static inline void faults_case(const char *name, act_case *x)
{
    for (int k = 0, is; (is = act_case_at(k, x)); k++) if (is > 0 && strcmp(x->name, name) == 0) return;
    fail_msg("no case is called %s", name);
}

/* 0: this act is not one of the case's */
static inline int faults_reference(fault *f, const act_case *x, int act, const bytes_of *cut)
{
    act_world w;
    *f = (fault){.x = x, .act = act, .cut = cut};
    if (!act_applies(x, act)) return 0;
    act_open(&w, x);
    w.cut = cut->data;
    w.cut_bytes = cut->length;
    for (int k = ACT_RUN; k <= ACT_GO_ON; k++) {
        int status = act_do(&w, k);
        if (status != COSTATE_OK) faults_complain(f, 0, "undisturbed, before it", status, w.said);
        memcpy(f->expected[k], w.out, sizeof w.out);
    }
    if (act <= ACT_GO_ON) {
        memcpy(f->out, f->expected[act], sizeof f->out);
    } else {
        int status = act_do(&w, act);
        if (status != COSTATE_OK) faults_complain(f, 0, "undisturbed", status, w.said);
        memcpy(f->out, w.out, sizeof f->out);
    }
    act_close(&w);
    return 1;
}

/* the file of a whole run, without its last third */
static inline bytes_of faults_cut(const act_case *x)
{
    act_world w;
    bytes_of b = {NULL, 0};
    if (!x->file) return b;
    act_open(&w, x);
    assert_int_equal(act_before(&w, ACTS), COSTATE_OK);
    costate_tape_free(w.tape);
    w.tape = NULL;
    b = file_bytes(w.path);
    b.length = b.length * 2 / 3;
    act_close(&w);
    return b;
}

/* Each act of each case in turn, in an order drawn from a seed, until time is over: the work on one. */
static inline void faults_each(unsigned seed, void (*work)(fault *, unsigned *seed))
{
    static fault f;
    act_case x;
    clock_t begun = clock();
    int count = 0, done = 0, all = faults_all();
    long tried = 0, harmed = 0;
    while (act_case_at(count, &x)) count++;
    for (int turn = 0, k = (int)random_below(&seed, (unsigned)count); turn < count; turn++, k = (k + 211) % count) {
        if (act_case_at(k, &x) < 0) continue;
        bytes_of cut = faults_cut(&x);
        int from = (int)random_below(&seed, ACTS), acts = all ? ACTS : 3;
        for (int act = 0; act < acts; act++)
            if (faults_reference(&f, &x, (from + act) % ACTS, &cut)) {
                work(&f, &seed);
                tried += f.tried;
                harmed += f.harmed;
            }
        free(cut.data);
        done++;
        if (!all && (double)(clock() - begun) / CLOCKS_PER_SEC > FAULTS_SECONDS) break;
    }
    print_message("           %d cases, %ld acts disturbed, %ld of them failed\n", done, tried, harmed);
    assert_true(harmed > 0);
}

/* the act with callbacks as they are: how often it calls them */
static inline long faults_undisturbed(const fault *f, act_world *w)
{
    faults_open(f, w);
    int status = act_before(w, f->act);
    if (status != COSTATE_OK) faults_complain(f, 0, "undisturbed", status, w->said);
    w->spoil = (act_spoil){0};
    status = act_do(w, f->act);
    if (status != COSTATE_OK) faults_complain(f, 0, "undisturbed", status, w->said);
    return w->spoil.calls;
}

#endif
