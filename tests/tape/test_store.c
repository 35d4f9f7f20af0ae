/* test_store.c - another medium (buffer.h) and another retention (every_second.h) are one file each.  With them, and
   with each of the library's, tangents and adjoints are those of a tape with all stages, tapes are read back, and runs
   that were cut anywhere are resumed to the bits of the run that was not.

   `everything` of hybrids.h in all its forms, with one method of each kind. */
#include <unistd.h>
#include "buffer.h"
#include "every_second.h"
#include "tape/frames.h"
#include "solver/solver.h"     /* before cmocka, which has a macro fail */
#include "files.h"
#include "hybrid_sweeps.h"

static char path[64];
static image in_buffer;

enum { MEMORY, A_FILE, BUFFER };
enum { ALL = 0, BLOCKS = 1, STATES = 2, EVERY_SECOND = 77 };        /* retention.number */

static const struct { int on, keeps; } combos[] = {
    {BUFFER, ALL}, {BUFFER, STATES}, {BUFFER, BLOCKS}, {BUFFER, EVERY_SECOND}, {MEMORY, EVERY_SECOND},
    {A_FILE, EVERY_SECOND}, {A_FILE, STATES},
};
enum { COMBOS = sizeof combos / sizeof *combos };

static costate_tape *tape_of(int k)
{
    costate_tape *t = combos[k].on == MEMORY ? costate_tape_new() : combos[k].on == A_FILE ? costate_tape_open(path)
                    : tape_on(&buffer_medium, &in_buffer, NULL);
    assert_non_null(t);
    t->fixed = combos[k].keeps == EVERY_SECOND ? &every_second : retention_of_number(t, combos[k].keeps);
    return t;
}

static session run_of(const costate_method *m, const hybrid *h, int k)
{
    session s = {.m = m, .h = h, .N = h->n + h->nq + h->nm, .P = hybrid_problem(h)};
    s.o = (costate_options){.rtol = 1e-4, .atol = 1e-4, .hmax = 0.03, .mode = h->mode, .checkpoints = 24};
    if (h->form != HYBRID_ODE) s.o.consistent = COSTATE_CONSISTENT_START;
    if (!is_explicit(m)) s.o.solver = COSTATE_LS_DENSE;
    if (method_info(m).stages > 12) s.o.checkpoints = 200;
    hybrid_start(h, h->p, s.y0, NULL);
    memcpy(s.y, s.y0, sizeof s.y);
    s.c = new_for_test(m, &s.P, &s.o);
    s.tape = tape_of(k);
    CHECK_OK(s.c, costate_integrate(s.c, h->t0, h->t1, s.y, h->p, s.tape));
    assert_int_equal(s.tape->kept->number, combos[k].keeps);
    see_events(&s);
    return s;
}

/* Steps that are repeated in blocks, and steps whose stages were kept, have the bits of the run. */
static double most(const session *s, int k)
{
    int alone = combos[k].keeps == EVERY_SECOND || combos[k].keeps == STATES;
    return is_newton(s->m) || (alone && !is_explicit(s->m)) ? 1e-11 : 0;
}

static void same(const session *s, int k, const char *what, const inputs *a, const inputs *b)
{
    say(s, what, relative_gap(s->N * M, a->V, b->V), most(s, k));
    say(s, what, relative_gap(s->h->np * M, a->p, b->p), most(s, k));
    say(s, what, relative_gap(s->events * M, a->events, b->events), most(s, k));
}

/* leaves this part of what the medium holds */
static void cut_to(int k, double share)
{
    if (combos[k].on == BUFFER) {
        in_buffer.size = (size_t)(share * (double)in_buffer.size);
        return;
    }
    bytes_of b = file_bytes(path);
    file_is(path, b.data, (size_t)(share * (double)b.length), 0);
    free(b.data);
}

static void read_back(const session *s, int k, const outputs *w, const inputs *expected)
{
    session r = *s;
    r.c = new_for_test(r.m, &r.P, &r.o);
    r.tape = tape_of(k);
    CHECK_OK(r.c, costate_tape_read(r.c, r.tape));
    assert_int_equal(r.tape->kept->number, combos[k].keeps);
    assert_int_equal(costate_tape_steps(r.tape), costate_tape_steps(s->tape));
    inputs g = adjoint(&r, w, r.c);
    same(&r, k, "gradient by who read it", &g, expected);
    session_close(&r);
}

/* A resumed run completes its tape, which is cut again. */
static void resumed(const session *s, int k, const outputs *w, const inputs *expected, int steps)
{
    static const double parts[] = {1, 0.9, 0.4};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        session r = *s;
        double y[N_MOST];
        cut_to(k, parts[i]);
        r.c = new_for_test(r.m, &r.P, &r.o);
        r.tape = tape_of(k);
        CHECK_OK(r.c, costate_resume(r.c, r.tape, y));
        assert_memory_equal(y, s->y, (size_t)s->N * sizeof *y);
        assert_int_equal(costate_tape_steps(r.tape), steps);
        inputs g = adjoint(&r, w, r.c);
        same(&r, k, "gradient of a resumed run", &g, expected);
        session_close(&r);
    }
}

static void all_combos(void **state)
{
    const hybrid *h;
    for (int i = 0; (h = hybrid_at(i)); i++)
        for (int k = 0; k < COMBOS; k++) {
            if (h->reference || !hybrid_takes(*state, h) || skipped(i + k + turn_of(*state), 5)) continue;
            session s = run_of(*state, h, k), all = session_with_stages(&s);
            inputs dx = random_inputs();
            outputs w = random_outputs(), ours = tangent(&s, &dx), theirs = tangent(&all, &dx);
            inputs g = adjoint(&s, &w, s.c), expected = adjoint(&all, &w, all.c);
            same(&s, k, "gradient", &g, &expected);
            say(&s, "tangent", relative_gap(s.N * M, ours.V, theirs.V), most(&s, k));
            if (combos[k].on != MEMORY) {
                read_back(&s, k, &w, &expected);
                costate_tape_free(s.tape);              /* the file is locked until then */
                s.tape = NULL;
                resumed(&s, k, &w, &expected, costate_tape_steps(all.tape));
            }
            session_close(&s);
            session_close(&all);
            assert_int_equal(in_buffer.opened, 0);
        }
}

/* A medium receives the bytes that a file has. */
static void bytes_of_file(void **state)
{
    static const char *const names[] = {"dopri5", "rodas4", "radau2a"};
    (void)state;
    for (int k = 0; k < 3; k++) {
        const costate_method *m = costate_method_find(names[k]);
        session s = run_of(m, hybrid_at(0), 3);
        session_close(&s);
        s = run_of(m, hybrid_at(0), 5);
        session_close(&s);
        bytes_of b = file_bytes(path);
        assert_int_equal(b.length, in_buffer.size);
        for (size_t i = 0; i < b.length; i++) assert_int_equal(b.data[i], (unsigned char)~in_buffer.bytes[i]);
        free(b.data);
    }
}

/* The head of a tape names its retention: a library that lacks it reads nothing. */
static void unknown_retention(void **state)
{
    (void)state;
    session s = run_of(costate_method_find("dopri5"), hybrid_at(0), 5);
    costate_tape *plain = costate_tape_open(path);
    costate_tape_free(s.tape);
    s.tape = plain;
    assert_int_equal(costate_tape_read(s.c, plain), COSTATE_BAD_TAPE);
    assert_non_null(strstr(costate_message(s.c), "does not know"));
    session_close(&s);
}

/* A failure of a medium is reported with its reason.  What was written of a frame before the failure is removed. */
static void full(void **state)
{
    const hybrid *h = hybrid_at(0);
    (void)state;
    session s = run_of(costate_method_find("dopri5"), h, 0);
    size_t length = in_buffer.size, at = FRAMES_BEGIN;
    double y[N_MOST];
    memcpy(y, s.y0, sizeof y);
    in_buffer.most = length / 2;
    assert_int_equal(costate_integrate(s.c, h->t0, h->t1, y, h->p, s.tape), COSTATE_IO);
    assert_non_null(strstr(costate_message(s.c), strerror(ENOSPC)));
    assert_non_null(strstr(costate_message(s.c), "(a buffer)"));
    while (at < in_buffer.size) {
        frame f;
        assert_int_equal(image_read(&in_buffer, &f, sizeof f, at), sizeof f);
        at += sizeof f + f.bytes;
    }
    assert_int_equal(at, in_buffer.size);
    assert_true(at > length / 4);
    in_buffer.most = 0;
    CHECK_OK(s.c, costate_resume(s.c, s.tape, y));
    assert_memory_equal(y, s.y, (size_t)s.N * sizeof *y);
    session_close(&s);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(bytes_of_file), cmocka_unit_test(unknown_retention), cmocka_unit_test(full),
    };
    snprintf(path, sizeof path, "store_%ld.tape", (long)getpid());
    int failed = run_by_kind("another medium, another retention", all_combos);
    failed += cmocka_run_group_tests_name("what a medium receives", tests, NULL, NULL);
    unlink(path);
    free(in_buffer.bytes);
    return failed;
}
