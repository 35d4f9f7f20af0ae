/* test_tape_bad.c - files of tapes that are not as they were written, or cannot be: each is refused with a sentence, or
   its run goes on to the bits of the run that was not disturbed; what is no tape stays as it is.

   Runs: `everything` of hybrids.h (events, jumps, modes, memory), as an ODE by an explicit method and by a Rosenbrock
   method, as a residual by an implicit one, with all in the file and with states every few steps. */
#define _DEFAULT_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>
#include "tape/journal.h"
#include "files.h"
#include "hybrid_sweeps.h"

enum { CASES = 6, MOST_STEPS = 4000 };

static char path[64], other[64];

/* ---- a run whose file is whole ---- */

typedef struct {
    session s;
    inputs gradient;
    outputs w;
    bytes_of file;
} whole_run;

/* each accepted step's end, and what events make of it: one of them is what a failed run gives */
typedef struct { int count; double t[MOST_STEPS], y[MOST_STEPS][N_MOST]; int N; } states_seen;

static int see(states_seen *x, double t, const double *y)
{
    assert_true(x->count < MOST_STEPS);
    x->t[x->count] = t;
    memcpy(x->y[x->count++], y, (size_t)x->N * sizeof *y);
    return 0;
}

static int see_step(const costate_step *step, void *ctx)
{
    return see(ctx, costate_step_end(step), costate_step_state(step));
}

static int see_event(int event, double t, const double *before, const double *after, void *ctx)
{
    (void)event, (void)before;
    return see(ctx, t, after);
}

static const char *method_of(int k)
{
    static const char *const name[] = {"dopri5", "rodas4", "radau2a"};
    return name[k / 2];
}

static session begin_session(int k)
{
    session s = {.m = costate_method_find(method_of(k)), .h = hybrid_find(k / 2 == 2 ? "everything, residual" :
                 "everything")};
    s.o = (costate_options){.rtol = 1e-2, .atol = 1e-2, .mode = s.h->mode, .checkpoints = 24,
                            .storage = k % 2 ? COSTATE_CHECKPOINTS : COSTATE_ALL_STAGES};
    if (s.h->form != HYBRID_ODE) s.o.consistent = COSTATE_CONSISTENT_START;
    if (is_newton(s.m)) s.o.stage_solve = COSTATE_STAGE_DIRECT;
    s.N = s.h->n + s.h->nq + s.h->nm;
    s.P = hybrid_problem(s.h);
    hybrid_start(s.h, s.h->p, s.y0, NULL);
    return s;
}

static void open_session(session *s, const char *file)
{
    memcpy(s->y, s->y0, sizeof s->y);
    s->c = costate_new(s->m, &s->P, &s->o);
    assert_non_null(s->tape = costate_tape_open(file));
}

static void run(session *s) { CHECK_OK(s->c, costate_integrate(s->c, s->h->t0, s->h->t1, s->y, s->h->p, s->tape)); }

/* of few steps, unless hmax is short: then of more than a tape with checkpoints holds in memory */
static whole_run run_by(int k, double hmax)
{
    whole_run x = {.s = begin_session(k)};
    unlink(path);
    x.s.o.hmax = hmax;
    open_session(&x.s, path);
    run(&x.s);
    see_events(&x.s);
    x.w = random_outputs();
    x.gradient = adjoint(&x.s, &x.w, x.s.c);
    x.file = file_bytes(path);
    return x;
}

static whole_run run_of(int k) { return run_by(k, 0); }

static void close_run(whole_run *x)
{
    session_close(&x->s);
    free(x->file.data);
}

static void same_end(const whole_run *x, session *r, const double *y, const char *what)
{
    if (memcmp(y, x->s.y, (size_t)r->N * sizeof *y) != 0)
        fail_msg("%s, storage %d, %s: other bits", method_name(r->m), r->o.storage, what);
    inputs g = adjoint(r, &x->w, r->c);
    double most = is_newton(r->m) ? 1e-11 : 0;
    say(r, what, relative_gap(r->N * M, g.V, x->gradient.V), most);
    say(r, what, relative_gap(r->h->np * M, g.p, x->gradient.p), most);
    say(r, what, relative_gap(r->events * M, g.events, x->gradient.events), most);
}

/* y is not written where nothing is resumed */
static int resume(const whole_run *x, session *r, double *y)
{
    *r = x->s;
    open_session(r, other);
    for (int i = 0; i < r->N; i++) y[i] = 7;
    int status = costate_resume(r->c, r->tape, y);
    assert_int_equal(status, costate_status(r->c));
    for (int i = 0; status && i < r->N; i++) assert_true(y[i] == 7);
    return status;
}

static void refused(session *r, int status, int expected, const char *word)
{
    if (status != expected || !strstr(costate_message(r->c), word))
        fail_msg("%s, storage %d: %s: %s", method_name(r->m), r->o.storage, costate_status_name(status),
                 costate_message(r->c));
    assert_int_equal(costate_tape_steps(r->tape), 0);
    double lambda[N_MOST] = {0};
    assert_int_equal(costate_adjoint(r->c, r->tape, 1, lambda, NULL, NULL, NULL), COSTATE_BAD_TAPE);
    session_close(r);
}

static void goes_on(const whole_run *x, const char *what)
{
    session r;
    double y[N_MOST];
    CHECK_OK(r.c, resume(x, &r, y));
    same_end(x, &r, y, what);
    session_close(&r);
}

/* ---- damage ---- */

static void put_byte(const char *file, size_t at, unsigned char byte)
{
    FILE *f = fopen(file, "r+b");
    assert_non_null(f);
    assert_int_equal(fseek(f, (long)at, SEEK_SET), 0);
    assert_int_equal(fputc(byte, f), byte);
    assert_int_equal(fclose(f), 0);
}

/* of what is tried byte by byte: a prime, so that all places of a frame are met */
static size_t stride(void) { return how_much() == TESTS_ALL ? 1 : 7; }

/* Whatever bit of a byte is another: its frame's sums tell. */
static void flipped(void **state)
{
    static const unsigned char flips[] = {0x01, 0x80, 0xff};
    (void)state;
    for (int k = 0; k < CASES; k++) {
        whole_run x = run_of(k);
        file_is(other, x.file.data, x.file.length, 0);
        for (size_t at = 0; at < x.file.length; at += (k < 2 ? 1 : 7) * stride()) {
            session r;
            double y[N_MOST];
            put_byte(other, at, x.file.data[at] ^ flips[at % 3]);
            refused(&r, resume(&x, &r, y), COSTATE_BAD_TAPE, at < FRAMES_BEGIN ? "is not a tape" : "is damaged");
            put_byte(other, at, x.file.data[at]);
        }
        goes_on(&x, "mended");
        print_message("           %s, storage %d: %d steps, %zu bytes\n", method_name(x.s.m), x.s.o.storage,
                      costate_tape_steps(x.s.tape), x.file.length);
        close_run(&x);
    }
}

/* cut there, with zeros behind: nothing, or the run goes on */
static void cut_at(const whole_run *x, size_t at, size_t zeros)
{
    session r;
    double y[N_MOST];
    file_is(other, x->file.data, at, zeros);
    if (at >= first_end(&x->file, FRESH)) goes_on(x, "cut");
    else refused(&r, resume(x, &r, y), COSTATE_BAD_TAPE, at > 0 && at < FRAMES_BEGIN ? "not a tape" : "ended before");
}

static void truncated(void **state)
{
    (void)state;
    for (int k = 0; k < CASES; k++) {
        whole_run x = run_of(k);
        for (size_t at = 0; at <= x.file.length; at += (k == 0 || k == 5 ? 1 : 13) * stride()) cut_at(&x, at, 0);
        close_run(&x);
    }
}

/* A machine that stopped leaves blocks that were not written. */
static void zero_tail(void **state)
{
    (void)state;
    for (int k = 0; k < CASES; k++) {
        whole_run x = run_of(k);
        for (size_t at = FRAMES_BEGIN; at < x.file.length; at = frame_end(&x.file, at)) {
            cut_at(&x, at, 32);
            cut_at(&x, at, 31);
            cut_at(&x, at, 5000);
        }
        cut_at(&x, x.file.length, 4096);
        close_run(&x);
    }
}

/* The last frame's length is there, its data are not: what stands before it is a run, or all is refused. */
static void torn(void **state)
{
    unsigned seed = 6;
    int went_on = 0;
    (void)state;
    for (int k = 0; k < CASES; k++) {
        whole_run x = run_of(k);
        for (size_t at = first_end(&x.file, FRESH); at < x.file.length; at = frame_end(&x.file, at)) {
            size_t within = at + sizeof(frame), bytes = frame_end(&x.file, at) - within;
            size_t cut = within + random_below(&seed, (unsigned)bytes);
            session r;
            double y[N_MOST];
            file_is(other, x.file.data, cut, 4096);
            int status = resume(&x, &r, y);
            if (status) { refused(&r, status, COSTATE_BAD_TAPE, "is damaged"); continue; }
            same_end(&x, &r, y, "a frame torn");
            session_close(&r);
            went_on++;
        }
        close_run(&x);
    }
    print_message("           %d went on\n", went_on);
}

/* Sweeps read a file that somebody changes: the same gradient, or COSTATE_BAD_TAPE. */
static void changed_below(void **state)
{
    unsigned seed = 3;
    (void)state;
    for (int k = 0; k < CASES; k++) {
        whole_run x = run_by(k, 0.01);
        int bad = 0;
        for (int turn = 0; turn < 40; turn++) {
            size_t at = FRAMES_BEGIN + random_below(&seed, (unsigned)x.file.length - FRAMES_BEGIN);
            inputs g;
            outputs w = x.w;
            session r = x.s;
            open_session(&r, other);
            run(&r);
            if (turn % 4 == 0) assert_int_equal(truncate(other, (off_t)at), 0);
            else put_byte(other, at, x.file.data[at] ^ 0x10);
            memset(&g, 0, sizeof g);
            memcpy(g.V, w.V, sizeof w.V);
            costate_times times = {.end = w.end};
            int status = costate_adjoint(r.c, r.tape, M, g.V, g.p, &times, NULL);
            if (status) {
                bad++;
                assert_int_equal(status, COSTATE_BAD_TAPE);
                assert_non_null(strstr(costate_message(r.c), "is damaged"));
            } else {
                inputs h = {.V = {0}};
                memcpy(h.V, w.V, sizeof w.V);
                CHECK_OK(x.s.c, costate_adjoint(x.s.c, x.s.tape, M, h.V, h.p, &times, NULL));
                say(&r, "over a changed file", relative_gap(r.N * M, g.V, h.V), is_newton(r.m) ? 1e-11 : 0);
            }
            session_close(&r);
        }
        assert_true(bad > 0);
        close_run(&x);
    }
}

/* ---- what is no tape, or of another run ---- */

static void foreign(void **state)
{
    static const char text[] = "This is a letter, and not a tape.\n", begun[] = "costate tape 2\n, of a later library";
    const char *const texts[] = {text, begun, "c"};
    (void)state;
    for (int k = 0; k < 3; k++) {
        whole_run x = run_of(0);
        session r = x.s;
        double y[N_MOST];
        file_is(other, (const unsigned char *)texts[k], strlen(texts[k]), 0);
        open_session(&r, other);
        refused(&r, costate_integrate(r.c, r.h->t0, r.h->t1, r.y, r.h->p, r.tape), COSTATE_BAD_TAPE, "not a tape");
        assert_memory_equal(r.y, r.y0, sizeof r.y);
        refused(&r, resume(&x, &r, y), COSTATE_BAD_TAPE, "not a tape");
        r = x.s;
        open_session(&r, other);
        refused(&r, costate_tape_read(r.c, r.tape), COSTATE_BAD_TAPE, "not a tape");
        bytes_of now = file_bytes(other);
        assert_int_equal(now.length, strlen(texts[k]));
        assert_memory_equal(now.data, texts[k], now.length);
        free(now.data);
        close_run(&x);
    }
}

/* What a machine with the other byte order writes: words of eight bytes, each reversed.  If it is damaged as well, that
   is said. */
static void other_byte_order(void **state)
{
    (void)state;
    for (int k = 0; k < CASES; k++) {
        whole_run x = run_of(k);
        bytes_of file = file_bytes(path);
        for (size_t at = FRAMES_BEGIN; at < file.length; at++)
            file.data[at] = x.file.data[at - at % 8 + 7 - at % 8];
        for (int damage = 0; damage < 2; damage++) {
            session r;
            double y[N_MOST];
            file.data[FRAMES_BEGIN + 9] ^= (unsigned char)damage;
            file_is(other, file.data, file.length, 0);
            refused(&r, resume(&x, &r, y), COSTATE_BAD_TAPE, damage ? "is damaged" : "the other byte order");
            r = x.s;
            open_session(&r, other);
            refused(&r, costate_tape_read(r.c, r.tape), COSTATE_BAD_TAPE,
                    damage ? "is damaged" : "the other byte order");
        }
        free(file.data);
        close_run(&x);
    }
}

/* run, resume, read: the system's words each time */
static void refuses_path(const whole_run *x, const char *file, const char *word, int missing)
{
    for (int call = missing; call < 3; call++) {
        session r = x->s;
        double y[N_MOST];
        open_session(&r, file);
        int status = call == 0 ? costate_integrate(r.c, r.h->t0, r.h->t1, r.y, r.h->p, r.tape) :
                     call == 1 ? costate_resume(r.c, r.tape, y) : costate_tape_read(r.c, r.tape);
        refused(&r, status, COSTATE_IO, word);
    }
}

static void no_file(void **state)
{
    whole_run x = run_of(0);
    char inside[sizeof other + 8];
    (void)state;
    unlink(other);
    refuses_path(&x, other, strerror(ENOENT), 1);
    assert_int_equal(access(other, F_OK), -1);                              /* nor was one made */
    assert_int_equal(mkdir(other, 0700), 0);
    refuses_path(&x, other, other, 0);
    rmdir(other);
    snprintf(inside, sizeof inside, "%s/tape", other);
    refuses_path(&x, inside, strerror(ENOENT), 0);
    refuses_path(&x, "/dev/full", "not a file", 0);
    refuses_path(&x, "", strerror(ENOENT), 0);
    close_run(&x);
}

static void no_permission(void **state)
{
    (void)state;
    if (geteuid() == 0) skip();
    whole_run x = run_of(0);
    file_is(other, x.file.data, x.file.length, 0);
    assert_int_equal(chmod(other, 0), 0);
    refuses_path(&x, other, strerror(EACCES), 0);
    unlink(other);
    close_run(&x);
}

/* refused as it is read, and as it is resumed */
static void of_another(const whole_run *x, session r, int both, const char *word)
{
    double y[N_MOST];
    session twice = r;
    open_session(&r, path);
    assert_int_equal(costate_status(r.c), COSTATE_OK);
    refused(&r, costate_resume(r.c, r.tape, y), COSTATE_BAD_TAPE, word);
    if (!both) return;
    open_session(&twice, path);
    refused(&twice, costate_tape_read(twice.c, twice.tape), COSTATE_BAD_TAPE, word);
    bytes_of now = file_bytes(path);
    assert_int_equal(now.length, x->file.length);
    assert_memory_equal(now.data, x->file.data, now.length);
    free(now.data);
}

static void another(void **state)
{
    static const double tolerance[] = {1e-2, 1e-2, 1e-2, 1e-2};
    (void)state;
    for (int k = 0; k < 4; k++) {
        whole_run x = run_of(k);
        costate_tape_free(x.s.tape);
        x.s.tape = NULL;                                                    /* its file is not locked any more */
        session r = x.s;
        r.m = costate_method_find(k / 2 ? "radau2a" : "tsit5");
        of_another(&x, r, 1, "of method");
        r = x.s;
        r.P.np -= 1;
        of_another(&x, r, 1, "another problem");
        r = x.s;
        r.P.nevents -= 1;
        of_another(&x, r, 1, "another problem");
        r = x.s;
        r.o.rtol = 1.1e-2;
        of_another(&x, r, 0, "other options");
        r = x.s;
        r.o.hmax = 0.5;
        of_another(&x, r, 0, "other options");
        r = x.s;
        r.o.atol_vector = tolerance;
        of_another(&x, r, 0, "other options");
        r = x.s;
        r.o.storage = COSTATE_CHECKPOINTS;                                  /* the file's counts */
        r.o.checkpoints = 50;
        r.o.max_steps = 1000;
        file_is(other, x.file.data, x.file.length - 60, 0);
        goes_on(&(whole_run){r, x.gradient, x.w, x.file}, "other storage");
        x.s.tape = costate_tape_new();
        close_run(&x);
    }
}

static void another_version(void **state)
{
    (void)state;
    for (int k = 0; k < CASES; k++) {
        whole_run x = run_of(k);
        session r;
        double y[N_MOST];
        x.file.data[FRAMES_BEGIN + sizeof(frame) + offsetof(journal_head, version)]++;
        frame_seal(&x.file, FRAMES_BEGIN);
        file_is(other, x.file.data, x.file.length, 0);
        refused(&r, resume(&x, &r, y), COSTATE_BAD_TAPE, "another version");
        close_run(&x);
    }
}

/* ---- two at once; disks ---- */

static void locked(void **state)
{
    (void)state;
    for (int k = 0; k < 2; k++) {
        whole_run x = run_of(k);
        session r = x.s;
        double y[N_MOST];
        open_session(&r, path);
        refused(&r, costate_integrate(r.c, r.h->t0, r.h->t1, r.y, r.h->p, r.tape), COSTATE_IO, "another run");
        r = x.s;
        open_session(&r, path);
        refused(&r, costate_resume(r.c, r.tape, y), COSTATE_IO, "another run");
        r = x.s;
        open_session(&r, path);
        CHECK_OK(r.c, costate_tape_read(r.c, r.tape));                      /* who reads only may */
        same_end(&x, &r, x.s.y, "read beside its run");
        session_close(&r);
        costate_tape_free(x.s.tape);
        x.s.tape = costate_tape_open(path);
        CHECK_OK(x.s.c, costate_resume(x.s.c, x.s.tape, y));
        close_run(&x);
    }
}

/* a run that ended with COSTATE_IO: y is a state of the run at its time */
static void full(const session *r, int status, const states_seen *seen, const char *word)
{
    int there = 0;
    if (status != COSTATE_IO || !strstr(costate_message(r->c), word))
        fail_msg("%s: %s", costate_status_name(status), costate_message(r->c));
    for (int k = 0; k < seen->count && !there; k++)
        there = seen->t[k] == costate_time(r->c) && memcmp(seen->y[k], r->y, (size_t)r->N * sizeof *r->y) == 0;
    if (!there) fail_msg("%s, storage %d: y is not the state at t = %.17g", method_name(r->m), r->o.storage,
                         costate_time(r->c));
}

static void room_again(const whole_run *x, session *r)
{
    bytes_of now = file_bytes(other);
    double y[N_MOST];
    int status = costate_resume(r->c, r->tape, y), nothing = now.length < first_end(&x->file, FRESH);
    free(now.data);
    if (nothing) { refused(r, status, COSTATE_BAD_TAPE, "ended before"); return; }
    CHECK_OK(r->c, status);
    same_end(x, r, y, "gone on with when the disk had room");
    session_close(r);
}

/* the states of the run that was not disturbed: after a jump some are made consistent, which only a tape tells */
static states_seen *all_states(const session *of)
{
    states_seen *seen = calloc(1, sizeof *seen);
    costate_tape *all = costate_tape_new();
    session r = *of;
    assert_non_null(seen);
    seen->N = of->N;
    r.o.on_step = see_step;
    r.o.on_event = see_event;
    r.o.on_step_ctx = r.o.on_event_ctx = seen;
    open_session(&r, other);
    run(&r);
    memcpy(r.y, r.y0, sizeof r.y);
    costate *c = costate_new(r.m, &r.P, &(costate_options){.mode = r.o.mode, .rtol = 1e-2, .atol = 1e-2,
                                                           .consistent = r.o.consistent});
    CHECK_OK(c, costate_replay_onto(c, r.tape, r.y, r.h->p, all));
    for (int k = 0; k < costate_tape_steps(all); k++) {
        double t, y[N_MOST];
        assert_int_equal(costate_tape_get(all, k, &t, NULL, y), COSTATE_OK);
        see(seen, t, y);
    }
    costate_free(c);
    costate_tape_free(all);
    session_close(&r);
    return seen;
}

static void disk_full(void **state)
{
    struct rlimit all, now;
    unsigned seed = 8;
    (void)state;
    signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &all), 0);
    for (int k = 0; k < CASES; k++) {
        whole_run x = run_by(k, 0.01);
        states_seen *seen = all_states(&x.s);
        for (int turn = 0; turn < 40; turn++) {
            session r = x.s;
            now = (struct rlimit){random_below(&seed, (unsigned)x.file.length), all.rlim_max};
            open_session(&r, other);
            unlink(other);
            assert_int_equal(setrlimit(RLIMIT_FSIZE, &now), 0);
            int status = costate_integrate(r.c, r.h->t0, r.h->t1, r.y, r.h->p, r.tape);
            assert_int_equal(setrlimit(RLIMIT_FSIZE, &all), 0);
            full(&r, status, seen, strerror(EFBIG));
            room_again(&x, &r);
        }
        free(seen);
        close_run(&x);
    }
}

/* a disk of 8 kB, where the system lets us have one */
static void small_disk(void **state)
{
    char file[80];
    (void)state;
    unlink(other);
    assert_int_equal(mkdir(other, 0700), 0);
    if (mount("none", other, "tmpfs", 0, "size=8k") != 0) { rmdir(other); skip(); }
    snprintf(file, sizeof file, "%s/tape", other);
    whole_run x = run_of(0);
    session r = x.s;
    r.o.rtol = r.o.atol = 1e-10;
    open_session(&r, file);
    int status = costate_integrate(r.c, r.h->t0, r.h->t1, r.y, r.h->p, r.tape);
    int said = strstr(costate_message(r.c), strerror(ENOSPC)) != NULL;
    session_close(&r);
    assert_int_equal(umount(other), 0);
    rmdir(other);
    close_run(&x);
    assert_int_equal(status, COSTATE_IO);
    assert_true(said);
}

/* What is open is no longer to be read. */
static void read_errors(void **state)
{
    (void)state;
    for (int k = 0; k < CASES; k++) {
        whole_run x = run_by(k, 0.01);
        double lambda[N_MOST] = {0};
        int blind = open(path, O_WRONLY);
        assert_true(blind >= 0);
        assert_true(dup2(blind, *(const int *)x.s.tape->frames->own) >= 0);
        close(blind);
        session r = x.s;
        int status = costate_adjoint(r.c, r.tape, 1, lambda, NULL, NULL, NULL);
        assert_int_equal(status, COSTATE_IO);
        assert_non_null(strstr(costate_message(r.c), strerror(EBADF)));
        close_run(&x);
    }
}

static void clean(void)
{
    unlink(path);
    unlink(other);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(flipped), cmocka_unit_test(truncated), cmocka_unit_test(zero_tail), cmocka_unit_test(torn),
        cmocka_unit_test(changed_below), cmocka_unit_test(foreign), cmocka_unit_test(other_byte_order),
        cmocka_unit_test(no_file), cmocka_unit_test(no_permission), cmocka_unit_test(another),
        cmocka_unit_test(another_version), cmocka_unit_test(locked), cmocka_unit_test(disk_full),
        cmocka_unit_test(small_disk), cmocka_unit_test(read_errors)};
    snprintf(path, sizeof path, "tape_bad_%ld.tape", (long)getpid());
    snprintf(other, sizeof other, "tape_bad_%ld.other.tape", (long)getpid());
    int failed = cmocka_run_group_tests_name("bad tapes", tests, NULL, NULL);
    clean();
    return failed;
}
