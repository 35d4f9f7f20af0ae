/* test_tape_file.c - tapes in files: sweeps over them, also by another solver that read them, give what they give over
   a tape of the same steps in memory; a run whose file was cut anywhere goes on to the bits of the run that was not.

   `everything` of hybrids.h in all its forms and both directions of time, by every method that takes it, with all
   stages in the file and with states every few steps, without and with a map after each step; and
   swings with relaxation. */
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include "corrected.h"
#include "relaxed.h"

static char path[64], other[64];

static costate_options variant_of(const costate_method *m, const hybrid *h, int variant)
{
    costate_options o = {.rtol = 1e-4, .atol = 1e-4, .hmax = 0.05, .mode = h->mode,
                         .storage = variant & 1 ? COSTATE_CHECKPOINTS : COSTATE_ALL_STAGES, .checkpoints = 24};
    if (h->form != HYBRID_ODE) o.consistent = 1 + 2 * (variant >> 1 & 1);
    if (is_newton(m)) o.stage_solve = COSTATE_STAGE_DIRECT;
    if (!is_explicit(m)) o.solver = variant > 1 && h->form == HYBRID_ODE ? COSTATE_LS_GMRES : COSTATE_LS_DENSE;
    if (method_info(m).stages > 12) o.checkpoints = 200;
    return o;
}

/* the hybrid systems, then the swings; NULL past the end */
static const hybrid *system_at(int k)
{
    int count = 0;
    while (hybrid_at(count)) count++;
    return k < count ? hybrid_at(k) : k < count + SWINGS_COUNT ? &SWINGS[k - count] : NULL;
}

static int takes(const costate_method *m, const hybrid *h)
{
    return h >= SWINGS && h < SWINGS + SWINGS_COUNT ? method_info(m).order > 1 : !h->reference && hybrid_takes(m, h);
}

/* which all runs share */
static struct { costate_projection *q; costate_after_step after; } relaxed[SWINGS_COUNT];

static costate_problem swing_problem(int k)
{
    costate_problem P = hybrid_problem(&SWINGS[k]);
    if (!relaxed[k].q) {
        relaxed[k].q = relax(&P, 1);
        relaxed[k].after = P.after_step;
    }
    P.after_step = relaxed[k].after;
    return P;
}

/* in half of the variants with a map after each step */
static costate_problem problem_of(const hybrid *h, int variant)
{
    for (int k = 0; k < SWINGS_COUNT; k++) if (h == &SWINGS[k]) return swing_problem(k);
    int corrected = (variant == 1 || variant == 2) && h->form != HYBRID_INDEX_2;
    return corrected ? corrected_problem(h, 3) : hybrid_problem(h);
}

/* as session_run, onto a file */
static session run_of(const costate_method *m, const hybrid *h, int variant)
{
    costate_options o = variant_of(m, h, variant);
    session s = {.m = m, .h = h, .o = o, .N = h->n + h->nq + h->nm, .P = problem_of(h, variant)};
    hybrid_start(h, h->p, s.y0, NULL);
    memcpy(s.y, s.y0, sizeof s.y);
    s.c = new_for_test(m, &s.P, &o);
    assert_non_null(s.tape = costate_tape_open(path));
    CHECK_OK(s.c, costate_integrate(s.c, h->t0, h->t1, s.y, h->p, s.tape));
    see_events(&s);
    return s;
}

static void same(const session *s, const char *what, const inputs *a, const inputs *b)
{
    double most = is_newton(s->m) || s->o.solver == COSTATE_LS_GMRES ? 1e-11 : 0;
    say(s, what, relative_gap(s->N * M, a->V, b->V), most);
    say(s, what, relative_gap(s->h->np * M, a->p, b->p), most);
    say(s, what, relative_gap(s->events * M, a->events, b->events), most);
}

static void sweeps(void **state)
{
    const hybrid *h;
    for (int k = 0; (h = system_at(k)); k++)
        for (int variant = 0; variant < 4 && takes(*state, h); variant++) {
            if (skipped(k + variant + turn_of(*state), 5)) continue;
            session s = run_of(*state, h, variant), all = session_with_stages(&s), read = s;
            inputs dx = random_inputs();
            outputs w = random_outputs(), ours = tangent(&s, &dx), theirs = tangent(&all, &dx);
            inputs g = adjoint(&s, &w, s.c), expected = adjoint(&all, &w, all.c);
            same(&s, "gradient", &g, &expected);
            say(&s, "tangent", relative_gap(s.N * M, ours.V, theirs.V),
                is_newton(s.m) || s.o.solver == COSTATE_LS_GMRES ? 1e-11 : 0);
            session_close(&s);
            read.c = new_for_test(read.m, &read.P, &read.o);
            read.tape = costate_tape_open(path);
            CHECK_OK(read.c, costate_tape_read(read.c, read.tape));
            assert_int_equal(costate_tape_steps(read.tape), costate_tape_steps(all.tape));
            g = adjoint(&read, &w, read.c);
            same(&read, "gradient by who read it", &g, &expected);
            session_close(&read);
            session_close(&all);
        }
}

static void copy_cut(const char *from, const char *to, long bytes)
{
    char block[4096];
    FILE *a = fopen(from, "rb"), *b = fopen(to, "wb");
    assert_non_null(a);
    assert_non_null(b);
    while (bytes > 0) {
        size_t want = bytes < (long)sizeof block ? (size_t)bytes : sizeof block, got = fread(block, 1, want, a);
        assert_int_equal(got, want);
        assert_int_equal(fwrite(block, 1, got, b), got);
        bytes -= (long)got;
    }
    fclose(a);
    fclose(b);
}

static long length_of(const char *file)
{
    struct stat is;
    assert_int_equal(stat(file, &is), 0);
    return (long)is.st_size;
}

static void resumed(void **state)
{
    const hybrid *h;
    unsigned seed = 4;
    int none = 0, ended = 0;
    for (int k = 0; (h = system_at(k)); k++)
        for (int variant = 0; variant < 4 && takes(*state, h); variant++) {
            if (skipped(k + variant + turn_of(*state), 5)) continue;
            session s = run_of(*state, h, variant);
            outputs w = random_outputs();
            inputs expected = adjoint(&s, &w, s.c);
            long length = length_of(path);
            for (int cut = how_much() == TESTS_ALL ? 0 : 4; cut < 6; cut++) {
                long at = cut == 5 ? length : (long)random_below(&seed, (unsigned)length);
                copy_cut(path, other, at);
                session r = s;
                double y[N_MOST];
                r.c = new_for_test(r.m, &r.P, &r.o);
                r.tape = costate_tape_open(other);
                int status = costate_resume(r.c, r.tape, y);
                if (status == COSTATE_BAD_TAPE && at < 4000) {          /* nothing was written but the head */
                    none++;
                    assert_non_null(strstr(costate_message(r.c), "ended before"));
                } else {
                    CHECK_OK(r.c, status);
                    ended++;
                    if (memcmp(y, s.y, (size_t)s.N * sizeof *y) != 0)
                        fail_msg("%s, %s, variant %d, cut at %ld of %ld: other bits", method_name(r.m), h->name,
                                 variant, at, length);
                    assert_int_equal(costate_tape_steps(r.tape), costate_tape_steps(s.tape));
                    inputs g = adjoint(&r, &w, r.c);
                    same(&s, "gradient of a run that went on", &g, &expected);
                }
                session_close(&r);
            }
            session_close(&s);
        }
    assert_true(ended > 4 * none);
}

int main(void)
{
    snprintf(path, sizeof path, "tape_file_%ld.tape", (long)getpid());
    snprintf(other, sizeof other, "tape_file_%ld.cut.tape", (long)getpid());
    int failed = run_by_kind("sweeps", sweeps) + run_by_kind("resumed", resumed);
    unlink(path);
    unlink(other);
    for (int k = 0; k < SWINGS_COUNT; k++) costate_projection_free(relaxed[k].q);
    return failed;
}
