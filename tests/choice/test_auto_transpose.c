/* test_auto_transpose.c - over a run whose member changes, and changes back, the adjoint is the transpose of the
   tangent: in all storages and files, with all linear solvers, events wherever they fall, and tangents in the error
   test. */
#define _DEFAULT_SOURCE
#include <unistd.h>
#include "tape/tape.h"      /* before cmocka, which has a macro fail */
#include <costate/accuracy.h>
#include <costate/linsol.h>
#include "turns.h"

static char path[64];

static const double ends[] = {2.2, 7}, guards[] = {-0.5, 2.1};

static costate_options at(double tol) { return (costate_options){.rtol = tol, .atol = tol}; }

/* ---- storages and solvers ---- */

static void transposed(const by_turns *b, costate_options o, int file, int pattern, const char *what)
{
    if (file) unlink(path);
    session s = turns_ran(b, o, file ? costate_tape_open(path) : costate_tape_new(), pattern);
    const costate_stats *count = costate_get_stats(s.c);
    if (count->switches < 4 || members_at_work(s.c) < 2) fail_msg("%s: %ld switches", what, count->switches);
    assert_true(s.events >= 3);
    say(&s, what, session_gap(&s), 1e-12);
    session_close(&s);
    if (file) unlink(path);
}

static void storages(void **state)
{
    static const double tols[] = {1e-4, 1e-6, 1e-8};
    by_turns b;
    (void)state;
    for (int which = RELAXATION; which <= CHATTER; which++)
        for (int k = 0; k < 3; k++)
            for (int variant = 0; variant < 8; variant++) {
                if (skipped(which + k + variant, 3)) continue;
                costate_options o = at(tols[k]);
                by_turns_make(&b, which, ends[which], guards[which]);
                o.storage = variant % 3;
                o.checkpoints = 60;
                o.keep_factors = variant & 1;
                o.derivative_mode = variant >> 1 & 1;
                o.stage_solve = COSTATE_STAGE_DIRECT + (variant & 1);
                transposed(&b, o, variant > 5, 0, variant > 5 ? "in a file" : "in memory");
            }
}

static void solvers(void **state)
{
    static const struct { int solver; const char *name; } all[] = {
        {COSTATE_LS_DENSE, "dense"}, {COSTATE_LS_BAND, "band"}, {COSTATE_LS_UMFPACK, "umfpack"},
        {COSTATE_LS_KLU, "klu"}, {COSTATE_LS_SPARSE, "sparse"}, {COSTATE_LS_SUPERLU, "superlu"},
        {COSTATE_LS_GMRES, NULL}};
    static const double tols[] = {1e-4, 1e-7};
    by_turns b;
    (void)state;
    for (int l = 0; l < 6; l++)
        for (int k = 0; k < 4; k++) {
            int which = k & 1;
            costate_options o = at(tols[k >> 1]);
            if (all[l].name && !costate_backend_find(all[l].name)) continue;
            by_turns_make(&b, which, ends[which], guards[which]);
            o.solver = all[l].solver;
            o.storage = k & 1;
            transposed(&b, o, 0, l > 0 && l < 5, all[l].name ? all[l].name : "gmres");
        }
}

/* Explicit members of either order, Rosenbrock and both Radau methods took steps. */
static void members(void **state)
{
    long steps[COSTATE_MEMBERS_MOST] = {0};
    by_turns b;
    (void)state;
    for (int k = 4; k <= 8; k++) {
        by_turns_make(&b, RELAXATION, ends[RELAXATION], guards[RELAXATION]);
        session s = turns_ran(&b, at(pow(10, -k)), costate_tape_new(), 0);
        if (k == 7) assert_true(members_at_work(s.c) >= 3);
        for (int i = 0; i < COSTATE_MEMBERS_MOST; i++) steps[i] += costate_get_stats(s.c)->member_steps[i];
        for (int i = 0; i < costate_tape_steps(s.tape); i++) assert_true(steps[s.tape->list[i].member] > 0);
        session_close(&s);
    }
    const costate_method *m = costate_method_find("auto"), *of;
    int radau = 0;
    for (int i = 0; (of = costate_method_member(m, i)); i++) {
        if (is_newton(of)) radau += steps[i] > 0;
        else assert_true(steps[i] > 0 || is_stabilised(of) || (method_info(of).properties & COSTATE_W_METHOD));
    }
    assert_true(radau >= 2);
}

/* ---- events ---- */

/* A guard that is zero everywhere in turn, so that steps end at events before, at and behind changes of the member. */
static void guards_everywhere(void **state)
{
    by_turns b;
    int rounds = 0, near = 0;
    (void)state;
    for (double guard = 0.05; guard < 6.5; guard += 0.21, rounds++) {
        by_turns_make(&b, CHATTER, ends[CHATTER], guard);
        session s = turns_ran(&b, at(1e-4), costate_tape_new(), 0);
        double t, hit = 0;
        int which = -1;
        for (int k = 0; k < s.events && which != 0; k++) costate_tape_event(s.tape, k, &hit, &which, NULL, NULL);
        for (int k = 1; k < costate_tape_steps(s.tape); k++) {
            costate_tape_get(s.tape, k, &t, NULL, NULL);
            near += s.tape->list[k].member != s.tape->list[k - 1].member && fabs(t - hit) < 0.05;
        }
        say(&s, "guard", session_gap(&s), 1e-12);
        session_close(&s);
    }
    assert_true(near > 0 && rounds > 30);
}

/* An event at the very time at which another member begins. */
static void given_at_changes(void **state)
{
    by_turns b;
    double changes[8];
    int count = 0;
    (void)state;
    by_turns_make(&b, CHATTER, ends[CHATTER], guards[CHATTER]);
    session first = turns_ran(&b, at(1e-5), costate_tape_new(), 0);
    for (int k = 1; k < costate_tape_steps(first.tape) && count < 8; k++)
        if (first.tape->list[k].member != first.tape->list[k - 1].member)
            costate_tape_get(first.tape, k, &changes[count++], NULL, NULL);
    session_close(&first);
    assert_true(count >= 4);
    for (int k = 0; k < count; k++) {
        if (changes[k] == b.times[0]) continue;
        by_turns_make(&b, CHATTER, ends[CHATTER], guards[CHATTER]);
        b.times[0] = changes[k];
        b.times[1] = fmax(changes[k] + 0.3, b.times[1]);
        session s = turns_ran(&b, at(1e-5), costate_tape_new(), 0);
        say(&s, "event at a change", session_gap(&s), 1e-12);
        session_close(&s);
    }
}

/* ---- tangents beside the run, and in its error test ---- */

/* Tangents that the run carries are those over its tape, controlled or not; steps of random tangents, too. */
static void carried(void **state)
{
    by_turns b;
    (void)state;
    for (int k = 0; k < 12; k++) {
        int which = k & 1, judged = k >> 1 & 1;
        costate_options o = at(k < 8 ? 1e-4 : 1e-7);
        by_turns_make(&b, which, ends[which], guards[which]);
        o.storage = k >> 2 & 1;
        o.tangent_error = judged;
        o.gradient_control = k % 3 == 0 ? 2 : 0;
        session s = turns_begin(&b, o, costate_tape_new(), 0);
        inputs x = random_inputs();
        double V[M * N_MOST], end[M];
        costate_times carry = {.t0 = x.t0, .t1 = x.t1, .end = end};
        memset(x.events, 0, sizeof x.events);
        memcpy(V, x.V, sizeof V);
        CHECK_OK(s.c, costate_integrate_tlm(s.c, 0, b.h.t1, s.y, b.h.p, M, V, x.p, &carry, s.tape));
        see_events(&s);
        if (costate_get_stats(s.c)->switches < 2) fail_msg("run %d: no switches", k);
        outputs over = tangent(&s, &x);
        say(&s, "carried", relative_gap(s.N * M, V, over.V), 1e-11);
        say(&s, "controlled", session_gap(&s), 1e-12);
        session_close(&s);
    }
}

/* Integrals, a seed at the end, one call. */
static int ones(double t1, const double *y, const double *p, int m, double *lambda, double *mu, void *ctx)
{
    (void)t1, (void)y, (void)p, (void)ctx, (void)mu;
    for (int i = 0; i < 6 * m; i++) lambda[i] = 1 + i;
    return 0;
}

static void one_call(void **state)
{
    by_turns b;
    (void)state;
    by_turns_make(&b, RELAXATION, ends[RELAXATION], guards[RELAXATION]);
    session s = turns_ran(&b, at(1e-5), costate_tape_new(), 0);
    double lambda[2 * N_MOST], mu[2 * NUMS_P] = {0}, other[2 * N_MOST], nu[2 * NUMS_P] = {0}, y[N_MOST];
    for (int i = 0; i < 12; i++) lambda[i] = 1 + i;
    CHECK_OK(s.c, costate_adjoint(s.c, s.tape, 2, lambda, mu, NULL, NULL));
    memcpy(y, s.y0, sizeof y);
    CHECK_OK(s.c, costate_integrate_adj(s.c, 0, b.h.t1, y, b.h.p, 2, other, nu, NULL, ones, NULL));
    assert_memory_equal(y, s.y, 6 * sizeof *y);
    say(&s, "one call", relative_gap(12, other, lambda), 1e-11);
    say(&s, "one call, by p", relative_gap(6, nu, mu), 1e-11);
    session_close(&s);
}

/* What GMRES leaves in members with implicit stages is estimated for the sweep over all of them. */
static void left_by_gmres(void **state)
{
    by_turns b;
    outputs w = random_outputs();
    (void)state;
    for (int k = 0; k < 2; k++) {
        by_turns_make(&b, CHATTER, ends[CHATTER], guards[CHATTER]);
        costate_options o = at(k ? 1e-6 : 1e-4), exact = o;
        o.solver = exact.solver = COSTATE_LS_GMRES;
        o.krylov_tol = 1e-7;
        session s = turns_ran(&b, o, costate_tape_new(), 0);
        costate *tight = costate_new(s.m, &s.P, &exact);
        inputs loose = adjoint(&s, &w, s.c), right = adjoint(&s, &w, tight);
        double told = costate_get_stats(s.c)->krylov_error, gap = relative_gap(M * s.h->np, loose.p, right.p);
        if (!(told > 0 && told < 1e-2 && gap < 100 * told)) fail_msg("error %.2e, estimated %.2e", gap, told);
        costate_free(tight);
        session_close(&s);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(storages), cmocka_unit_test(solvers), cmocka_unit_test(members),
        cmocka_unit_test(guards_everywhere), cmocka_unit_test(given_at_changes), cmocka_unit_test(carried),
        cmocka_unit_test(one_call), cmocka_unit_test(left_by_gmres)};
    if (!costate_method_find("auto")) return 0;
    snprintf(path, sizeof path, "auto_transpose_%ld.tape", (long)getpid());
    return cmocka_run_group_tests(tests, NULL, NULL);
}
