/* test_auto_bits.c - runs whose member changes repeat bit for bit: with a tape or without, replayed, in a file and read
   back, gone on with from wherever a file ends, stopped and continued, after other runs, and in threads. */
#define _DEFAULT_SOURCE
#include <unistd.h>
#include "tape/tape.h"      /* before cmocka, which has a macro fail */
#include <costate/ensemble.h>
#include "files.h"
#include "turns.h"

static char path[64];

static const double TOLS[] = {1e-4, 1e-6, 1e-8};

static costate_options at(double tol) { return (costate_options){.rtol = tol, .atol = tol}; }

/* run k of six, by tolerance and storage */
static costate_options stored(int k)
{
    costate_options o = at(TOLS[k / 2]);
    o.storage = k % 3;
    o.checkpoints = 50;
    return o;
}

static void make(by_turns *b, int which)
{
    by_turns_make(b, which, which == CHATTER ? 5 : 2.2, which == CHATTER ? 2.1 : -0.5);
}

static void same_steps(const costate_tape *a, const costate_tape *b)
{
    assert_int_equal(costate_tape_steps(a), costate_tape_steps(b));
    for (int k = 0; k < costate_tape_steps(a); k++) {
        double s[2], t[2];
        costate_tape_get(a, k, s, s + 1, NULL);
        costate_tape_get(b, k, t, t + 1, NULL);
        assert_memory_equal(s, t, sizeof s);
        assert_int_equal(a->list[k].member, b->list[k].member);
    }
}

/* ---- one run, again ---- */

/* A run with a tape has the bits of one with tangents. */
static void taped_or_not(void **state)
{
    by_turns b;
    (void)state;
    for (int k = 0; k < 6; k++) {
        make(&b, k & 1);
        session s = turns_ran(&b, at(TOLS[k / 2]), costate_tape_new(), 0), other = s;
        double y[N_MOST], z[N_MOST], w[N_MOST], V[6] = {1, 0.5};
        memcpy(y, s.y0, sizeof y);
        memcpy(z, s.y0, sizeof z);
        memcpy(w, s.y0, sizeof w);
        other.c = costate_new(s.m, &s.P, &s.o);
        CHECK_OK(other.c, costate_integrate(other.c, 0, b.h.t1, y, b.h.p, NULL));
        long alone = costate_get_stats(other.c)->switches;
        CHECK_OK(s.c, costate_replay(s.c, s.tape, z, b.h.p));
        assert_memory_equal(z, s.y, 6 * sizeof *y);
        CHECK_OK(other.c, costate_integrate_tlm(other.c, 0, b.h.t1, w, b.h.p, 1, V, NULL, NULL, NULL));
        assert_memory_equal(w, s.y, 6 * sizeof *y);
        const costate_stats *one = costate_get_stats(s.c), *two = costate_get_stats(other.c);
        assert_true(one->switches > 2 && two->switches == alone + one->switches);
        costate_free(other.c);
        session_close(&s);
    }
}

/* A sweep leaves nothing behind in a tape, nor a run in its solver. */
static void swept_again(void **state)
{
    by_turns b, chatter;
    outputs w = random_outputs();
    (void)state;
    make(&chatter, CHATTER);
    for (int k = 0; k < 6; k++) {
        make(&b, RELAXATION);
        costate_options o = stored(k);
        o.stage_solve = COSTATE_STAGE_DIRECT;
        session s = turns_ran(&b, o, costate_tape_new(), 0);
        inputs first = adjoint(&s, &w, s.c);
        costate_tape *tape = costate_tape_new();
        double y[N_MOST];
        memcpy(y, s.y0, sizeof y);
        CHECK_OK(s.c, costate_integrate(s.c, 0, 1, y, b.h.p, tape));
        inputs again = adjoint(&s, &w, s.c);
        assert_memory_equal(first.V, again.V, M * 6 * sizeof(double));
        assert_memory_equal(first.p, again.p, M * 3 * sizeof(double));
        memcpy(y, s.y0, sizeof y);
        CHECK_OK(s.c, costate_integrate(s.c, 0, b.h.t1, y, b.h.p, tape));
        assert_memory_equal(y, s.y, 6 * sizeof *y);
        same_steps(tape, s.tape);
        costate_tape_free(tape);
        session_close(&s);
    }
}

/* ---- files ---- */

/* as the file has it: two solvers read it and compute the same, which is what the one that wrote it computes */
static void read_back(void **state)
{
    by_turns b;
    outputs w = random_outputs();
    (void)state;
    for (int k = 0; k < 6; k++) {
        make(&b, k & 1);
        costate_options o = stored(k);
        o.stage_solve = COSTATE_STAGE_DIRECT;
        unlink(path);
        session s = turns_ran(&b, o, costate_tape_open(path), 0);
        inputs mine = adjoint(&s, &w, s.c), its[2];
        costate_tape_free(s.tape);
        for (int i = 0; i < 2; i++) {
            session r = turns_begin(&b, o, costate_tape_open(path), 0);
            CHECK_OK(r.c, costate_tape_read(r.c, r.tape));
            r.events = s.events;
            memcpy(r.seen_at, s.seen_at, sizeof r.seen_at);
            its[i] = adjoint(&r, &w, r.c);
            session_close(&r);
        }
        assert_memory_equal(its[0].V, its[1].V, M * 6 * sizeof(double));
        say(&s, "read back", relative_gap(M * 6, its[0].V, mine.V), 1e-11);
        costate_free(s.c);
        unlink(path);
    }
}

/* A file that ends anywhere is gone on with, by a new solver or by one that has run, as if it had not ended there. */
static void resumed(void **state)
{
    by_turns b;
    long cuts = 0;
    (void)state;
    for (int k = 0; k < 6; k++) {
        make(&b, k & 1);
        costate_options o = stored(k);
        unlink(path);
        session s = turns_ran(&b, o, costate_tape_open(path), 0);
        session run_before = turns_ran(&b, at(1e-3), costate_tape_new(), 0);
        assert_true(costate_get_stats(s.c)->switches > 2);
        costate *worn = costate_new(s.m, &s.P, &o);
        double y[N_MOST];
        memcpy(y, s.y0, sizeof y);
        CHECK_OK(worn, costate_integrate(worn, 0, 1.7, y, b.h.p, NULL));
        bytes_of whole = file_bytes(path);
        for (size_t i = 1; i < 24; i++) {
            session r = s;
            costate *c = i & 1 ? worn : costate_new(s.m, &s.P, &o);
            file_is(path, whole.data, whole.length * i / 24, 0);
            assert_non_null(r.tape = costate_tape_open(path));
            int status = costate_resume(c, r.tape, y);
            if (status == COSTATE_BAD_TAPE && strstr(costate_message(c), "ended before")) status = 0;
            else {
                CHECK_OK(c, status);
                cuts++;
                assert_memory_equal(y, s.y, 6 * sizeof *y);
                same_steps(r.tape, s.tape);
            }
            costate_tape_free(r.tape);
            if (c != worn) costate_free(c);
        }
        costate_free(worn);
        free(whole.data);
        session_close(&run_before);
        costate_tape_free(s.tape);
        costate_free(s.c);
        unlink(path);
    }
    assert_true(cuts > 100);
}

/* What it is gone on with must be allowed the same members. */
static void other_members(void **state)
{
    static const char *const lists[] = {NULL, "-rodas5p", "-rodas5p -radau2a7"};
    by_turns b;
    double y[N_MOST];
    (void)state;
    make(&b, CHATTER);
    for (int wrote = 0; wrote < 3; wrote++) {
        costate_options o = at(1e-6);
        o.members = lists[wrote];
        unlink(path);
        session s = turns_ran(&b, o, costate_tape_open(path), 0);
        bytes_of whole = file_bytes(path);
        for (int reads = 0; reads < 3; reads++) {
            o.members = lists[reads];
            costate *c = costate_new(s.m, &s.P, &o);
            file_is(path, whole.data, whole.length / 2, 0);
            costate_tape *tape = costate_tape_open(path);
            int status = costate_resume(c, tape, y);
            assert_int_equal(status, reads == wrote ? COSTATE_OK : COSTATE_BAD_TAPE);
            if (status) assert_non_null(strstr(costate_message(c), "other options"));
            costate_tape_free(tape);
            costate_free(c);
        }
        free(whole.data);
        session_close(&s);
        unlink(path);
    }
}

/* ---- pieces ---- */

/* The tape of a run in pieces is swept and replayed; the pieces are the same whatever the counters of the solver say.
   */
static void continued(void **state)
{
    by_turns b;
    (void)state;
    for (int k = 0; k < 6; k++) {
        double y[2][N_MOST] = {{0}};
        session s[2];
        make(&b, k & 1);
        for (int i = 0; i < 2; i++) {
            s[i] = turns_begin(&b, at(TOLS[k / 2]), costate_tape_new(), 0);
            memcpy(y[i], s[i].y0, sizeof y[i]);
            CHECK_OK(s[i].c, costate_integrate(s[i].c, 0, 0.8, y[i], b.h.p, s[i].tape));
            for (double t = 0.9; t < b.h.t1; t += 0.3 * b.h.t1) {
                if (i) costate_reset_stats(s[i].c);
                CHECK_OK(s[i].c, costate_continue(s[i].c, s[i].tape, t, y[i]));
            }
        }
        assert_memory_equal(y[0], y[1], sizeof y[0]);
        same_steps(s[0].tape, s[1].tape);
        assert_true(costate_get_stats(s[0].c)->switches > 1);
        memcpy(s[0].y, s[0].y0, sizeof s[0].y);
        CHECK_OK(s[0].c, costate_replay(s[0].c, s[0].tape, s[0].y, b.h.p));
        assert_memory_equal(s[0].y, y[0], 6 * sizeof(double));
        see_events(&s[0]);
        say(&s[0], "in pieces", session_gap(&s[0]), 1e-12);
        session_close(&s[0]);
        session_close(&s[1]);
    }
}

static int always(const costate_step *s, void *ctx) { (void)s; return *(int *)ctx; }

/* Stopped after every step and gone on with, warm: the members, steps and bits of the run that was not.  Eigenvalues
   are real: elsewhere the longest stable step depends on the length of the run. */
static void as_one_run(void **state)
{
    by_turns b;
    (void)state;
    for (int k = 0; k < 8; k++) {
        double y[2][N_MOST] = {{0}};
        costate_stats count[2];
        by_turns_plain(&b, CHATTER, k & 1 ? 5 : 9);
        const costate_method *m = costate_method_find(k < 6 ? "auto" : "radau");
        for (int stops = 0; stops < 2; stops++) {
            costate_options o = at(TOLS[k / 2 % 3]);
            costate_problem P = hybrid_problem(&b.h);
            o.warm = 1;
            o.on_step = always;
            o.on_step_ctx = &stops;
            costate *c = costate_new(m, &P, &o);
            double t = 0;
            hybrid_start(&b.h, b.h.p, y[stops], NULL);
            do costate_integrate(c, t, b.h.t1, y[stops], b.h.p, NULL);
            while ((t = costate_time(c)) < b.h.t1 && costate_status(c) == COSTATE_STOPPED);
            count[stops] = *costate_get_stats(c);
            costate_free(c);
        }
        assert_memory_equal(y[0], y[1], sizeof y[0]);
        assert_true(count[0].switches > 0 || k >= 6);
        assert_int_equal(count[0].switches, count[1].switches);
        assert_int_equal(count[0].f, count[1].f);
        assert_int_equal(count[0].decompositions, count[1].decompositions);
        assert_memory_equal(count[0].member_steps, count[1].member_steps, sizeof count[0].member_steps);
    }
}

/* ---- threads ---- */

enum { COUNT = 12 };

static void threads(void **state)
{
    by_turns b;
    double y[4][COUNT * N_MOST], p[COUNT * 3];
    long switches[4] = {0};
    (void)state;
    make(&b, RELAXATION);
    costate_problem P = hybrid_problem(&b.h);
    costate_options o = at(1e-6);
    for (int k = 0; k < COUNT; k++) {
        memcpy(p + 3 * k, b.h.p, sizeof b.p);
        p[3 * k] = pow(10, 1 + 0.3 * k);
    }
    for (int threads = 0; threads < 4; threads++) {
        for (int k = 0; k < COUNT; k++) hybrid_start(&b.h, p + 3 * k, y[threads] + 6 * k, NULL);
        if (threads == 0) {
            for (int k = 0; k < COUNT; k++) {
                costate *c = costate_new(costate_method_find("auto"), &P, &o);
                CHECK_OK(c, costate_integrate(c, 0, 2.2, y[0] + 6 * k, p + 3 * k, NULL));
                switches[0] += costate_get_stats(c)->switches;
                costate_free(c);
            }
            continue;
        }
        int status[COUNT];
        costate_ensemble_report report;
        costate_members a = {.count = COUNT, .threads = threads, .t1 = 2.2, .y = y[threads], .p = p, .status = status};
        assert_int_equal(costate_ensemble(NULL, &P, &o, &a, &report), COSTATE_OK);
        switches[threads] = report.stats.switches;
        assert_memory_equal(y[threads], y[0], COUNT * 6 * sizeof(double));
        assert_true(switches[threads] == switches[0] && switches[0] > COUNT);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(taped_or_not), cmocka_unit_test(swept_again), cmocka_unit_test(read_back),
        cmocka_unit_test(resumed), cmocka_unit_test(other_members), cmocka_unit_test(continued),
        cmocka_unit_test(as_one_run), cmocka_unit_test(threads)};
    if (!costate_method_find("auto")) return 0;
    snprintf(path, sizeof path, "auto_bits_%ld.tape", (long)getpid());
    return cmocka_run_group_tests(tests, NULL, NULL);
}
