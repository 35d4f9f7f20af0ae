/* test_tape_decisions.c - where tapes begin blocks of steps, how much memory they take, and which files they accept:
   what costate.h and docs/howto promise about options.checkpoints, options.tape_limit and tapes in files. */
#include <setjmp.h>
#include <unistd.h>
#include "tape/journal.h"
#include "solver/solver.h"     /* before cmocka, which has a macro fail */
#include "files.h"
#include "residual.h"

enum { STEPS = 800, N_MOST = 8 };

static char path[64];

typedef struct { costate *c; costate_tape *tape; int status; } taped;

/* STEPS steps of the same length */
static taped run_of(const costate_method *m, int checkpoints, size_t limit, int in_file)
{
    const problem *b = problem_synthetic(MASS_IDENTITY, 0, 2, 0, 0);
    costate_options o = {.controller = COSTATE_FIXED, .h0 = (b->t1 - b->t0) / STEPS, .rtol = 1e-6, .atol = 1e-6,
                         .storage = in_file ? COSTATE_ALL_STAGES : COSTATE_CHECKPOINTS, .checkpoints = checkpoints,
                         .tape_limit = limit, .max_steps = 2 * STEPS};
    double y[N_MOST];
    taped x = {new_for_test(m, &b->P, &o), in_file ? costate_tape_open(path) : costate_tape_new(), 0};
    assert_non_null(x.tape);
    memcpy(y, b->y0, 3 * sizeof *y);
    x.status = costate_integrate(x.c, b->t0, b->t1, y, b->p0, x.tape);
    return x;
}

static void end(taped *x)
{
    costate_tape_free(x->tape);
    costate_free(x->c);
}

/* most steps from one fresh step to the next; *count: fresh steps */
static int longest(const costate_tape *t, int *count)
{
    int most = 0, last = 0;
    *count = 0;
    for (int k = 0; k < t->count; k++) {
        if (t->list[k].fresh) { last = k; ++*count; }
        if (k - last + 1 > most) most = k - last + 1;
    }
    return most;
}

static int stages(const costate_method *m)
{
    const problem *b = problem_synthetic(MASS_IDENTITY, 0, 2, 0, 0);
    costate *c = new_for_test(m, &b->P, &(costate_options){.rtol = 1e-6, .atol = 1e-6});
    int s = c->st.most;
    costate_free(c);
    return s;
}

/* costate.h: "A block of steps takes a sixth of the memory (a third for ros, sdirk and firk)." */
static void block_share(void **state)
{
    int f = method_info(*state).family, count, steps = 12;
    int whole = f == COSTATE_COMPOSITE || f == COSTATE_ROS || f == COSTATE_SDIRK || f == COSTATE_FIRK ? 3 : 6;
    taped x = run_of(*state, whole * steps * (1 + stages(*state)) + 5, 0, 0);
    CHECK_OK(x.c, x.status);
    assert_int_equal(longest(x.tape, &count), steps);
    end(&x);
}

/* A linearisation remains in use in a later block if the state at which it was computed is kept: one block in eight at
   most, and an eighth of the memory (checkpoints.c). */
static void sources(void **state)
{
    int checkpoints = 100 * (1 + stages(*state)), count, kept = 0;
    taped x = run_of(*state, checkpoints, 0, 0);
    CHECK_OK(x.c, x.status);
    longest(x.tape, &count);
    for (int k = 0; k < x.tape->count; k++) kept += x.tape->list[k].y != NULL;
    assert_true(8 * (kept - 1) < count);
    assert_true(8 * kept <= checkpoints);
    end(&x);
}

/* Both options hold: a limit that is far away changes nothing. */
static void both_limits(void **state)
{
    int checkpoints = 12 * (1 + stages(*state));
    taped a = run_of(*state, checkpoints, 0, 0), b = run_of(*state, checkpoints, (size_t)1 << 30, 0);
    costate_forecast fa, fb;
    CHECK_OK(a.c, a.status);
    CHECK_OK(b.c, b.status);
    assert_int_equal(costate_tape_forecast(a.tape, &fa), COSTATE_OK);
    assert_int_equal(costate_tape_forecast(b.tape, &fb), COSTATE_OK);
    assert_int_equal(costate_tape_bytes(a.tape), costate_tape_bytes(b.tape));
    assert_int_equal(fa.remade_back, fb.remade_back);
    end(&a);
    end(&b);
}

/* A run succeeds within the limit, or ends with COSTATE_TAPE_LIMIT. */
static void within_limit(void **state)
{
    int succeeded = 0, failed = 0;
    taped all = run_of(*state, 0, 0, 0);
    size_t enough = costate_tape_bytes(all.tape);
    end(&all);
    for (size_t limit = enough / 80; limit < 2 * enough; limit += enough / 40) {
        taped x = run_of(*state, 0, limit, 0);
        if (x.status == COSTATE_OK) succeeded++;
        else { assert_int_equal(x.status, COSTATE_TAPE_LIMIT); failed++; }
        if (x.status == COSTATE_OK && costate_tape_bytes(x.tape) > limit)
            fail_msg("%s: %zu bytes, limit %zu", method_name(*state), costate_tape_bytes(x.tape), limit);
        end(&x);
    }
    assert_true(succeeded > 0 && failed > 0);
}

/* The same where lists of steps and of blocks, which have one step each, take most of the memory. */
static void within_tight_limit(void **state)
{
    const costate_method *m = costate_method_find("dopri5");
    (void)state;
    taped all = run_of(m, 60, 0, 0);
    size_t enough = costate_tape_bytes(all.tape);
    end(&all);
    for (size_t limit = enough / 2; limit < 2 * enough; limit += 160) {
        taped x = run_of(m, 60, limit, 0);
        if (x.status != COSTATE_OK) assert_int_equal(x.status, COSTATE_TAPE_LIMIT);
        else assert_true(costate_tape_bytes(x.tape) <= limit);
        end(&x);
    }
}

/* Zeros at the end of a frame are what a machine leaves that stopped.  If anything was written behind them, they are
   damage. */
static void zeros_inside(void **state)
{
    (void)state;
    taped x = run_of(costate_method_find("verner65"), 0, 0, 1);
    CHECK_OK(x.c, x.status);
    costate_tape_free(x.tape);
    bytes_of b = file_bytes(path);
    size_t at = FRAMES_BEGIN;
    while (at < b.length / 2) at = frame_end(&b, at);
    memset(b.data + at + sizeof(frame), 0, frame_at(&b, at).bytes);
    file_is(path, b.data, b.length, 0);
    assert_non_null(x.tape = costate_tape_open(path));
    assert_int_equal(costate_tape_read(x.c, x.tape), COSTATE_BAD_TAPE);
    assert_non_null(strstr(costate_message(x.c), "damaged"));
    file_is(path, b.data, frame_end(&b, at), 4096);
    CHECK_OK(x.c, costate_tape_read(x.c, x.tape));
    free(b.data);
    end(&x);
}

/* Blocks of a replay are those of its tape.  One that is longer than the memory for blocks is refused. */
static void longer_blocks(void **state)
{
    int one = 1 + stages(*state);
    taped x = run_of(*state, 6 * 20 * one, 0, 0), small = run_of(*state, 6 * 3 * one, 0, 0);
    const problem *b = problem_synthetic(MASS_IDENTITY, 0, 2, 0, 0);
    double y[N_MOST];
    CHECK_OK(x.c, x.status);
    memcpy(y, b->y0, 3 * sizeof *y);
    assert_int_equal(costate_replay_onto(small.c, x.tape, y, b->p0, small.tape), COSTATE_TAPE_LIMIT);
    assert_non_null(strstr(costate_message(small.c), "blocks of more than"));
    end(&x);
    end(&small);
}

/* A run that stops where a block has begun, and is continued, begins that block again: with y' of its own. */
static void block_begun_twice(void **state)
{
    problem *b = residual_of(problem_synthetic(MASS_IDENTITY, 0, 2, 0, 0), RESIDUAL_TWISTED, 1);
    if (!is_newton(*state)) { residual_free(b); skip(); }
    for (int most = 1; most < 30; most++) {
        costate_options o = {.controller = COSTATE_FIXED, .h0 = (b->t1 - b->t0) / 50, .rtol = 1e-6, .atol = 1e-6,
                             .storage = COSTATE_CHECKPOINTS, .checkpoints = 12 * (1 + stages(*state)),
                             .max_steps = most};
        costate *c = new_for_test(*state, &b->P, &o), *all;
        costate_tape *tape = costate_tape_new(), *onto = costate_tape_new();
        double y[N_MOST], lambda[2][N_MOST] = {{1, 2, 3}, {1, 2, 3}}, mu[2][2] = {{0}};
        if (costate_status(c) != COSTATE_OK) {          /* an explicit first stage */
            costate_tape_free(tape);
            costate_tape_free(onto);
            costate_free(c);
            break;
        }
        memcpy(y, b->y0, 3 * sizeof *y);
        int status = costate_integrate(c, b->t0, b->t1, y, b->p0, tape);
        while (status == COSTATE_MAX_STEPS) status = costate_continue(c, tape, b->t1, y);
        CHECK_OK(c, status);
        o.storage = COSTATE_ALL_STAGES;
        all = new_for_test(*state, &b->P, &o);
        memcpy(y, b->y0, 3 * sizeof *y);
        CHECK_OK(all, costate_replay_onto(all, tape, y, b->p0, onto));
        CHECK_OK(c, costate_adjoint(c, tape, 1, lambda[0], mu[0], NULL, NULL));
        CHECK_OK(all, costate_adjoint(all, onto, 1, lambda[1], mu[1], NULL, NULL));
        assert_true(relative_gap(3, lambda[0], lambda[1]) <= 1e-11);
        assert_true(relative_gap(2, mu[0], mu[1]) <= 1e-11);
        costate_tape_free(tape);
        costate_tape_free(onto);
        costate_free(c);
        costate_free(all);
    }
    residual_free(b);
}

/* docs/howto/tape-files.md: at most 20 steps with all stages. */
static void fresh_in_file(void **state)
{
    int count;
    taped x = run_of(*state, 0, 0, 1);
    CHECK_OK(x.c, x.status);
    assert_int_equal(longest(x.tape, &count), 20);
    assert_int_equal(count, STEPS / 20);
    end(&x);
}

/* checkpoints.c: early linearisations that remain in use leave memory to later ones.  Each fresh step is offered that
   of the fresh step before. */
static void offered_sources(void **state)
{
    (void)state;
    taped x = run_of(costate_method_find("dopri5"), 6 * 10 * 8, 0, 0);
    const stepper *c = &x.c->st;
    origin from = {x.c->self, x.c->stamp, 0, 0, 1};
    double y[N_MOST] = {1, 2, 3};
    int blocks = 0, accepted = 0;
    assert_int_equal(tape_start(c, x.tape, retention_for(x.tape, COSTATE_CHECKPOINTS), &x.c->P, &from), 0);
    for (int k = 0; k < STEPS; k++) {
        record r = {.fresh = tape_is_fresh(x.tape, k == 0) & 1};
        place to;
        int does = 0;
        if (r.fresh && k > 0) assert_int_equal(tape_goes_on(c, x.tape, x.tape->fresh.last + 1, NULL, 0, &does), 0);
        accepted += does;
        blocks += (int)r.fresh;
        assert_true(8 * (accepted - 1) < blocks);
        assert_int_equal(tape_slot(c, x.tape, y, &x.c->work.scratch[k & 1], &r, &to), 0);
        r.t = k;
        r.h = 1;
        assert_int_equal(tape_commit(c, x.tape, &r), 0);
    }
    assert_int_equal(blocks, STEPS / 10);
    assert_in_range(accepted, blocks / 8 - 1, blocks / 8 + 1);
    end(&x);
}

/* Files whose checksums are right, and whose steps no run has written */
static void impossible_steps(void **state)
{
    (void)state;
    static const char *const says[] = {"Jacobian", "Jacobian", "begins anew", "corrected", "do not agree"};
    for (int what = 0; what < 5; what++) {
        taped x = run_of(costate_method_find("radau2a"), 0, 0, 1);
        CHECK_OK(x.c, x.status);
        costate_tape_free(x.tape);
        bytes_of b = file_bytes(path);
        size_t at = FRAMES_BEGIN;
        while (frame_at(&b, at).type != TAKEN || frame_at(&b, at).number != 30) at = frame_end(&b, at);
        journal_step h;
        memcpy(&h, b.data + at + sizeof(frame), sizeof h);
        if (what == 0) h.jacobian = 32;
        if (what == 1) h.jacobian = -1;
        if (what == 2) h.fresh = 1;
        if (what == 3) h.corrected = 1;
        if (what == 4) h.end += h.h;
        memcpy(b.data + at + sizeof(frame), &h, sizeof h);
        frame_seal(&b, at);
        file_is(path, b.data, b.length, 0);
        free(b.data);
        assert_non_null(x.tape = costate_tape_open(path));
        assert_int_equal(costate_tape_read(x.c, x.tape), COSTATE_BAD_TAPE);
        assert_non_null(strstr(costate_message(x.c), says[what]));
        end(&x);
    }
}

static int falls(const costate_point *x, double *e, void *ctx) { return (void)ctx, e[0] = x->y[1] - 0.4, 0; }
static int spirals(const costate_point *x, double *out, void *ctx)
{
    (void)ctx;
    out[0] = -1e3 * (x->y[0] - cos(x->t));
    out[1] = x->y[2];
    out[2] = -x->y[1];
    return 0;
}

/* A run with this file, or one whose file is cut behind its last state and gone on with; *y: the state at the end */
static int goes_on_with(const bytes_of *file, double *y)
{
    const costate_event event = {.guard.value = falls, .passes = 1, .from = COSTATE_ANY_MODE, .to = COSTATE_SAME_MODE};
    const costate_problem P = {.n = 3, .rhs.value = spirals, .nevents = 1, .event = &event};
    const costate_options o = {.rtol = 1e-4, .atol = 1e-6, .storage = COSTATE_CHECKPOINTS, .checkpoints = 30,
                               .differences = 1};
    costate *c = costate_new(costate_method_find("auto"), &P, &o);
    costate_tape *t = NULL;
    int status;
    memcpy(y, (double[]){1, 1, 0}, 3 * sizeof *y);
    if (file) file_is(path, file->data, file->length, 0);
    else remove(path);
    assert_non_null(t = costate_tape_open(path));
    status = file ? costate_resume(c, t, y) : costate_integrate(c, 0, 10, y, NULL, t);
    assert_true(status == COSTATE_OK || *costate_message(c));
    costate_tape_free(t);
    costate_free(c);
    return status;
}

/* What the run knew at a state, its checksums right: a NaN in any word ends the run with a sentence, or
   changes nothing but lengths of steps. */
static void impossible_knowledge(void **state)
{
    double end[3], y[3];
    int refused = 0, words = 0;
    (void)state;
    assert_int_equal(goes_on_with(NULL, end), COSTATE_OK);
    bytes_of all = file_bytes(path);
    size_t last = 0, begin;
    for (size_t at = FRAMES_BEGIN; at < all.length / 2; at = frame_end(&all, at))
        if (frame_at(&all, at).type == FRESH) last = at;
    assert_true(last > 0);
    begin = last + sizeof(frame) + sizeof(journal_fresh) + sizeof end;
    all.length = frame_end(&all, last);
    for (size_t at = begin; at < all.length; at += 8) {
        unsigned char word[8];
        memcpy(word, all.data + at, 8);
        memcpy(all.data + at, &(double){NAN}, 8);
        frame_seal(&all, last);
        int status = goes_on_with(&all, y);
        if (!status && relative_gap(3, y, end) > 1e-3) fail_msg("word %d: ends elsewhere", words);
        words++;
        refused += status == COSTATE_BAD_TAPE;
        memcpy(all.data + at, word, 8);
    }
    frame_seal(&all, last);
    assert_int_equal(goes_on_with(&all, y), COSTATE_OK);
    assert_memory_equal(y, end, sizeof end);
    if (!(refused > words / 2)) fail_msg("%d of %d", refused, words);
    free(all.data);
}

/* docs/howto/tape-files.md: with both other kinds of storage a file contains one state per block, from which each sweep
   repeats each step once. */
static void states_in_file(void **state)
{
    const problem *b = problem_synthetic(MASS_IDENTITY, 0, 2, 0, 0);
    (void)state;
    for (int storage = COSTATE_STATES_ONLY; storage <= COSTATE_CHECKPOINTS; storage++) {
        costate_options o = {.rtol = 1e-6, .atol = 1e-6, .hmax = 0.01, .storage = storage, .checkpoints = 6 * 5 * 8};
        costate *c = new_for_test(costate_method_find("dopri5"), &b->P, &o);
        costate_tape *t = costate_tape_open(path);
        costate_forecast f;
        double y[N_MOST];
        int states = 0, steps = 0;
        memcpy(y, b->y0, 3 * sizeof *y);
        CHECK_OK(c, costate_integrate(c, b->t0, b->t1, y, b->p0, t));
        assert_int_equal(costate_tape_forecast(t, &f), COSTATE_OK);
        assert_int_equal(f.remade_back, costate_tape_steps(t));
        bytes_of file = file_bytes(path);
        for (size_t at = FRAMES_BEGIN; at < file.length; at = frame_end(&file, at)) {
            frame one = frame_at(&file, at);
            states += one.type == FRESH;
            steps += one.type == TAKEN;
            if (one.type == TAKEN) assert_int_equal(one.bytes, sizeof(journal_step));
        }
        assert_int_equal(steps, costate_tape_steps(t));
        assert_int_equal(states, (steps + 4) / 5);
        free(file.data);
        costate_tape_free(t);
        costate_free(c);
    }
}

/* A replay knows no step size control, so nothing can be resumed from its file. */
static void replay_not_resumed(void **state)
{
    const costate_method *m = costate_method_find("dopri5");
    const problem *b = problem_synthetic(MASS_IDENTITY, 0, 2, 0, 0);
    double y[N_MOST];
    (void)state;
    taped x = run_of(m, 6 * 10 * 8, 0, 0), onto = run_of(m, 0, 0, 1);
    memcpy(y, b->y0, 3 * sizeof *y);
    CHECK_OK(onto.c, costate_replay_onto(onto.c, x.tape, y, b->p0, onto.tape));
    costate_tape_free(onto.tape);
    bytes_of all = file_bytes(path);
    file_is(path, all.data, all.length * 2 / 3, 0);
    free(all.data);
    assert_non_null(onto.tape = costate_tape_open(path));
    assert_int_equal(costate_resume(onto.c, onto.tape, y), COSTATE_BAD_TAPE);
    assert_non_null(strstr(costate_message(onto.c), "of a replay"));
    end(&x);
    end(&onto);
}

/* tape_serves: stages that are recomputed from the state of one step are those of the run to rounding only if neither
   solver iterates, or if both go to round-off. */
static void states_of_another(void **state)
{
    const costate_method *m = costate_method_find("radau2a");
    const problem *b = problem_synthetic(MASS_IDENTITY, 0, 2, 0, 0);
    (void)state;
    for (int k = 0; k < 4; k++) {
        int exact = k & 1, both_exact = k >> 1;
        costate_options o = {.rtol = 1e-4, .atol = 1e-4, .storage = COSTATE_STATES_ONLY, .solver = COSTATE_LS_GMRES,
                             .derivative_mode = exact};
        costate *a = new_for_test(m, &b->P, &o), *other;
        costate_tape *t = costate_tape_new();
        double y[N_MOST], lambda[N_MOST] = {1, 2, 3}, mu[2] = {0};
        memcpy(y, b->y0, 3 * sizeof *y);
        CHECK_OK(a, costate_integrate(a, b->t0, b->t1, y, b->p0, t));
        o.derivative_mode = both_exact;
        o.solver = COSTATE_LS_DENSE;
        other = new_for_test(m, &b->P, &o);
        int status = costate_adjoint(other, t, 1, lambda, mu, NULL, NULL);
        assert_int_equal(status, exact && both_exact ? COSTATE_OK : COSTATE_BAD_TAPE);
        costate_tape_free(t);
        costate_free(a);
        costate_free(other);
    }
}

/* costate.h, keep_factors: 0 keeps them for n >= 200. */
static void factors_by_default(void **state)
{
    const problem *b = problem_synthetic(MASS_IDENTITY, 0, 2, 0, 0);
    (void)state;
    for (int keep = -1; keep <= 1; keep++) {
        costate_options o = {.rtol = 1e-4, .atol = 1e-4, .keep_factors = keep};
        costate *c = new_for_test(costate_method_find("radau2a"), &b->P, &o);
        costate_tape *t = costate_tape_new();
        double y[N_MOST];
        memcpy(y, b->y0, 3 * sizeof *y);
        CHECK_OK(c, costate_integrate(c, b->t0, b->t1, y, b->p0, t));
        assert_int_equal(costate_get_stats(c)->factors_kept > 0, keep == 1);
        costate_tape_free(t);
        costate_free(c);
    }
}

static jmp_buf out;
static int jumps;

static int leaves(const costate_point *x, double *f, void *ctx)
{
    (void)ctx;
    if (jumps) longjmp(out, 1);
    f[0] = -x->y[0] * x->y[0];
    return 0;
}

/* A sweep that an exception left: another is refused until the solver that was left begins its next call. */
static void abandoned_lease(void **state)
{
    costate_problem P = {.n = 1, .rhs.value = leaves};
    costate_options o = {.rtol = 1e-4, .atol = 1e-4, .hmax = 0.01, .differences = 1, .storage = COSTATE_CHECKPOINTS,
                         .checkpoints = 40};
    const costate_method *m = costate_method_find("dopri5");
    costate *a = costate_new(m, &P, &o), *other = costate_new(m, &P, &o);
    costate_tape *t = costate_tape_new();
    double y = 1, lambda[3] = {1, 1, 1};
    (void)state;
    CHECK_OK(a, costate_integrate(a, 0, 1, &y, NULL, t));
    jumps = 1;
    if (setjmp(out) == 0) costate_adjoint(a, t, 1, lambda, NULL, NULL, NULL);
    jumps = 0;
    lambda[0] = 1;
    assert_int_equal(costate_adjoint(other, t, 1, lambda + 1, NULL, NULL, NULL), COSTATE_BAD_TAPE);
    costate_abandon(a);
    lambda[1] = 1;
    CHECK_OK(other, costate_adjoint(other, t, 1, lambda + 1, NULL, NULL, NULL));
    CHECK_OK(a, costate_adjoint(a, t, 1, lambda + 2, NULL, NULL, NULL));
    assert_true(lambda[1] == lambda[2]);
    costate_tape_free(t);
    costate_free(a);
    costate_free(other);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(within_tight_limit), cmocka_unit_test(zeros_inside), cmocka_unit_test(offered_sources),
        cmocka_unit_test(impossible_steps), cmocka_unit_test(impossible_knowledge),
        cmocka_unit_test(replay_not_resumed), cmocka_unit_test(states_of_another),
        cmocka_unit_test(factors_by_default), cmocka_unit_test(abandoned_lease), cmocka_unit_test(states_in_file),
    };
    snprintf(path, sizeof path, "tape_decisions_%ld.tape", (long)getpid());
    int failed = run_by_kind("the length of blocks", block_share) + run_by_kind("kept linearisations", sources);
    failed += run_by_kind("checkpoints and tape_limit", both_limits) + run_by_kind("within tape_limit", within_limit);
    failed += run_by_kind("replays with longer blocks", longer_blocks);
    failed += run_by_kind("a block that begins twice", block_begun_twice);
    failed += run_by_kind("fresh steps in a file", fresh_in_file);
    failed += cmocka_run_group_tests_name("single runs", tests, NULL, NULL);
    unlink(path);
    return failed;
}
