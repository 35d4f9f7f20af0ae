/* test_on_back.c - options.on_back: called once a step, the last one first, with the gradients with respect to y(t) and
   p; it changes nothing, and may stop the sweep.  All families, forms, events, memory variables and tapes. */
#include "hybrid_sweeps.h"

enum { STEPS_MOST = 400 };
typedef struct {
    const costate_tape *tape;
    int N, np, calls, stops_at, last;
    double lambda[M * N_MOST], mu[M * NUMS_P];
} viewer;

static int looks(int step, double t, double h, const double *y, int m, const double *lambda, const double *mu,
                 void *ctx)
{
    viewer *v = ctx;
    double start, length;
    assert_int_equal(m, M);
    assert_int_equal(step, v->last - 1);                            /* downwards, one by one */
    assert_int_equal(costate_tape_get(v->tape, step, &start, &length, NULL), COSTATE_OK);
    assert_true(t == start && h == length && y != NULL);
    for (int i = 0; i < v->N * m; i++) assert_true(isfinite(lambda[i]));
    memcpy(v->lambda, lambda, (size_t)(v->N * m) * sizeof *lambda);
    if (mu) memcpy(v->mu, mu, (size_t)(v->np * m) * sizeof *mu);
    v->calls++;
    v->last = step;
    return step == v->stops_at;
}

static void swept(costate *c, const session *s, const outputs *w, inputs *out, int *status)
{
    memset(out, 0, sizeof *out);
    memcpy(out->V, w->V, sizeof out->V);
    *status = costate_adjoint(c, s->tape, M, out->V, out->p, NULL, NULL);
}

static void each_step(void **state)
{
    const costate_method *m = *state;
    const hybrid *h;
    for (int k = 0; (h = hybrid_at(k)); k++)
        for (int storage = COSTATE_ALL_STAGES; storage <= COSTATE_STATES_ONLY; storage++) {
            if (h->reference || !hybrid_takes(m, h)) continue;
            costate_options o = {.rtol = 1e-4, .atol = 1e-4, .hmax = 0.15, .mode = h->mode, .storage = storage,
                                 .consistent = h->form == HYBRID_ODE ? 0 : 3};
            if (is_newton(m)) o.stage_solve = COSTATE_STAGE_DIRECT;
            session s = session_ran(m, h, o);
            outputs w = random_outputs();
            inputs plain, seen;
            viewer v = {.tape = s.tape, .N = s.N, .np = h->np, .stops_at = -1, .last = costate_tape_steps(s.tape)};
            int status, steps = v.last;
            swept(s.c, &s, &w, &plain, &status);
            CHECK_OK(s.c, status);
            o.on_back = looks;
            o.on_back_ctx = &v;
            costate *c = new_for_test(m, &s.P, &o);
            swept(c, &s, &w, &seen, &status);
            CHECK_OK(c, status);
            assert_int_equal(v.calls, steps);
            say(&s, "with on_back", relative_gap(s.N * M, seen.V, plain.V), 1e-12);
            say(&s, "with on_back", relative_gap(h->np * M, seen.p, plain.p), 1e-12);
            double first;
            costate_tape_event(s.tape, 0, &first, NULL, NULL, NULL);
            if (h->form == HYBRID_ODE && first != h->t0) {          /* nothing follows the first step */
                say(&s, "lambda at the first step", relative_gap(s.N * M, v.lambda, seen.V), 0);
                say(&s, "mu at the first step", relative_gap(h->np * M, v.mu, seen.p), 0);
            }
            v.calls = 0;
            v.last = steps;
            v.stops_at = steps / 2;
            swept(c, &s, &w, &seen, &status);
            assert_int_equal(status, COSTATE_STOPPED);
            assert_non_null(strstr(costate_message(c), "on_back stopped the sweep at step"));
            assert_int_equal(v.calls, steps - steps / 2);
            v.last = steps;
            v.stops_at = -1;
            swept(c, &s, &w, &seen, &status);                       /* the tape serves again */
            CHECK_OK(c, status);
            costate_free(c);
            session_close(&s);
        }
}

int main(void) { return run_by_kind("each_step", each_step); }
