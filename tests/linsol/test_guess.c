/* test_guess.c - sweeps of Rosenbrock methods by GMRES start from what they solved before: the first columns do, which
   takes fewer iterations than the fifth, that starts from zero, and saves about as many for a tight tolerance as for a
   loose one; and nothing of one sweep is in the next. */
#include "common.h"

enum { POINTS = 24, NQ = 1, ROOM = 2 * POINTS + NQ, GUESSED = 4, ALL = (GUESSED + 1) * ROOM };

typedef struct { double x[ALL]; long krylov; } outcome;

static void fill(int m, double *x)
{
    for (int j = 0; j < m; j++)
        for (int i = 0; i < ROOM; i++) x[j * ROOM + i] = i == ROOM - 1 || i == 5;
}

/* m equal columns */
static outcome sweep(costate *c, const costate_tape *tape, int back, int m)
{
    outcome a = {.krylov = -costate_get_stats(c)->krylov};
    fill(m, a.x);
    CHECK_OK(c, back ? costate_adjoint(c, tape, m, a.x, NULL, NULL, NULL)
                     : costate_tangent(c, tape, m, a.x, NULL, NULL, NULL));
    a.krylov += costate_get_stats(c)->krylov;
    return a;
}

/* Returns the iterations that a column saves: a quarter at a loose tolerance, where least > 0 says no other number. */
static long compare(const costate_method *m, int back, costate *c, const costate_tape *tape, long least)
{
    outcome one = sweep(c, tape, back, 1), most = sweep(c, tape, back, GUESSED);
    outcome all = sweep(c, tape, back, GUESSED + 1), again = sweep(c, tape, back, 1);
    long saved = all.krylov - most.krylov - one.krylov;
    if (most.krylov != GUESSED * one.krylov || !(saved >= (least ? least : one.krylov / 4)))
        fail_msg("%s, %s: iterations of 1, 4 and 5 columns: %ld, %ld, %ld", method_name(m),
                 back ? "adjoint" : "tangent", one.krylov, most.krylov, all.krylov);
    assert_int_equal(again.krylov, one.krylov);
    assert_memory_equal(again.x, one.x, ROOM * sizeof *one.x);
    return saved;
}

static void guessed(void **state)
{
    const costate_method *m = *state;
    static const double tolerance[] = {1e-6, 1e-14};
    long saved[2] = {0, 0};
    if (method_info(m).family != COSTATE_ROS) return;
    problem *b = problem_brusselator(POINTS);
    b->t1 = b->t0 + 1;
    assert_true(b->P.n + b->P.nq == ROOM);
    for (size_t k = 0; k < sizeof tolerance / sizeof *tolerance; k++) {
        costate_options o = {.rtol = 1e-5, .atol = 1e-5, .solver = COSTATE_LS_GMRES, .krylov_tol = tolerance[k]};
        costate *c = new_for_test(m, &b->P, &o);
        costate_tape *tape = costate_tape_new();
        double y[ROOM] = {0};
        memcpy(y, b->y0, (size_t)b->P.n * sizeof *y);
        CHECK_OK(c, costate_integrate(c, b->t0, b->t1, y, b->p0, tape));
        for (int back = 1; back >= 0; back--) saved[back] = compare(m, back, c, tape, saved[back] / 2);
        costate_tape_free(tape);
        costate_free(c);
    }
    problem_free(b);
}

int main(void) { return run_by_kind("first guesses of sweeps", guessed); }
