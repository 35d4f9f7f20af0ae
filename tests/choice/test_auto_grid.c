/* test_auto_grid.c - diffusion on a grid: between its explicit and its stiff members auto takes rock4, whose steps
   transpose with those of the others, in all storages. */
#include "common.h"

enum { INTERIOR = 20, POINTS = (INTERIOR + 2) * (INTERIOR + 2), N = POINTS + 1, BS54 = 0, VERNER76, ROCK4 };

typedef struct { costate *c; costate_tape *tape; double y[N]; } session;

static session ran(const problem *b, costate_options o)
{
    session s;
    o.autonomous = b->autonomous;
    s.c = costate_new(NULL, &b->P, &o);
    s.tape = costate_tape_new();
    memcpy(s.y, b->y0, POINTS * sizeof *s.y);
    s.y[POINTS] = 0;                     /* the integral */
    CHECK_OK(s.c, costate_integrate(s.c, b->t0, b->t1, s.y, b->p0, s.tape));
    return s;
}

static void end(session *s)
{
    costate_tape_free(s->tape);
    costate_free(s->c);
}

static long steps(const session *s, int member) { return costate_get_stats(s->c)->member_steps[member]; }

/* lambda^T V before the run and after it, relative to the size of the terms */
static double gap(session *s)
{
    double lambda[N], V[N], w[N], v[N], before = 0, after = 0, size = 0;
    for (int i = 0; i < N; i++) { lambda[i] = w[i] = sin(1.0 + i); V[i] = v[i] = cos(2.0 + 3 * i); }
    CHECK_OK(s->c, costate_adjoint(s->c, s->tape, 1, lambda, NULL, NULL, NULL));
    CHECK_OK(s->c, costate_tangent(s->c, s->tape, 1, V, NULL, NULL, NULL));
    for (int i = 0; i < N; i++) {
        before += lambda[i] * v[i];
        after += w[i] * V[i];
        size += fabs(lambda[i] * v[i]) + fabs(w[i] * V[i]);
    }
    return fabs(before - after) / size;
}

static void transposed(void **state)
{
    problem *b = problem_heat(INTERIOR);
    (void)state;
    for (int storage = COSTATE_ALL_STAGES; storage <= COSTATE_CHECKPOINTS; storage++)
        for (int k = 4; k <= 9; k += 5) {
            double tol = pow(10, -k);
            session s = ran(b, (costate_options){.rtol = tol, .atol = tol, .storage = storage});
            if (!(steps(&s, ROCK4) > 0 && steps(&s, BS54) + steps(&s, VERNER76) > 0))
                fail_msg("rtol 1e-%d: %ld steps by rock4", k, steps(&s, ROCK4));
            double found = gap(&s);
            if (!(found < 1e-12)) fail_msg("storage %d, rtol 1e-%d: gap %.1e", storage, k, found);
            double y[N] = {0};
            memcpy(y, b->y0, POINTS * sizeof *y);
            CHECK_OK(s.c, costate_replay(s.c, s.tape, y, b->p0));
            assert_memory_equal(y, s.y, sizeof y);
            end(&s);
        }
    problem_free(b);
}

/* A linear solver that is asked for is used, and cheap factorisations need no stabilised steps. */
static void asked_for(void **state)
{
    problem *b = problem_heat(INTERIOR);
    (void)state;
    session s = ran(b, (costate_options){.rtol = 1e-4, .atol = 1e-4, .solver = COSTATE_LS_BAND});
    assert_int_equal(steps(&s, ROCK4), 0);
    assert_true(costate_get_stats(s.c)->switches > 0);
    end(&s);
    s = ran(b, (costate_options){.rtol = 1e-4, .atol = 1e-4, .members = "-rock4"});
    assert_int_equal(steps(&s, ROCK4), 0);
    end(&s);
    problem_free(b);
    b = problem_heat(4);
    assert_true(b->P.n < N);
    costate *c = costate_new(NULL, &b->P, &(costate_options){.rtol = 1e-4, .atol = 1e-4});
    double y[N] = {0};
    memcpy(y, b->y0, (size_t)b->P.n * sizeof *y);
    CHECK_OK(c, costate_integrate(c, b->t0, b->t1, y, b->p0, NULL));
    assert_int_equal(costate_get_stats(c)->member_steps[ROCK4], 0);
    costate_free(c);
    problem_free(b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(transposed), cmocka_unit_test(asked_for)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
