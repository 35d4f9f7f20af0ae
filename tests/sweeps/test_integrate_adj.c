/* test_integrate_adj.c - forward, seed, backward in one call: the same as over a tape that was kept; and the defect
   report. */
#include "common.h"

enum { N = 5, M = 3 };

typedef struct { int calls, m; double t1, y[N]; int fails; } seed_log;

/* three functionals of the end, one with a direct dependence on p */
static int seed(double t1, const double *y, const double *p, int m, double *lambda, double *mu, void *ctx)
{
    seed_log *s = ctx;
    s->calls++;
    s->m = m;
    s->t1 = t1;
    memcpy(s->y, y, sizeof s->y);
    for (int k = 0; k < N * m; k++) assert_true(lambda[k] == 0);
    lambda[0] = 2 * y[0];
    if (m == M) { lambda[N + 1] = 1; lambda[N + 4] = p ? p[0] : 1; lambda[2 * N + 3] = y[3]; }
    if (mu && p) mu[1] += p[1];
    return s->fails;
}

static void start(const problem *b, double *y)
{
    memset(y, 0, N * sizeof *y);
    memcpy(y, b->y0, 3 * sizeof *y);
}

static void one_call(void **state)
{
    const costate_method *m = *state;
    for (int k = 0; k < PROBLEM_SYNTHETICS; k++) {
        const problem *b = problem_synthetic_at(k);
        if (!method_takes(m, b->mass) || b->P.nq == 0) continue;
        int np = b->P.np, columns = k & 4 ? M : 1;
        costate_options o = {.rtol = 1e-4, .atol = 1e-4, .autonomous = b->autonomous, .storage = k & 1};
        double y[N], z[N], a[M * N], lambda[M * N] = {0}, mu[M * 2] = {1, 2, 3}, nu[M * 2] = {1, 2, 3}, t[2][2 * M];
        costate_times one = {.t0 = t[0], .t1 = t[0] + M}, two = {.t0 = t[1], .t1 = t[1] + M};
        seed_log log = {0}, unused = {0};
        costate *c = new_for_test(m, &b->P, &o);
        costate_tape *tape = costate_tape_new();
        for (int i = 0; i < M * N; i++) a[i] = 7;
        start(b, y);
        start(b, z);
        CHECK_OK(c, costate_integrate_adj(c, b->t0, b->t1, y, b->p0, columns, a, np ? mu : NULL, &one, seed, &log));
        assert_true(log.calls == 1 && log.m == columns && log.t1 == b->t1);
        CHECK_OK(c, costate_integrate(c, b->t0, b->t1, z, b->p0, tape));
        seed(b->t1, z, b->p0, columns, lambda, np ? nu : NULL, &unused);
        CHECK_OK(c, costate_adjoint(c, tape, columns, lambda, np ? nu : NULL, &two, NULL));
        assert_memory_equal(y, z, (size_t)(3 + b->P.nq) * sizeof *y);
        assert_memory_equal(log.y, y, sizeof y);
        double e[] = {relative_gap(columns * N, lambda, a), np ? relative_gap(columns * 2, nu, mu) : 0,
                      relative_gap(columns, t[1], t[0]), relative_gap(columns, t[1] + M, t[0] + M)};
        for (int i = 0; i < 4; i++)
            if (!(e[i] <= 1e-12))
                fail_msg("%s, %s: lambda %.1e, mu %.1e, t0 %.1e, t1 %.1e", method_name(m), b->name, e[0], e[1], e[2],
                         e[3]);
        costate_free(c);
        costate_tape_free(tape);
    }
}

static int stop(const costate_step *s, void *ctx) { (void)ctx; return costate_step_end(s) > 0.6; }

static void interrupted(void **state)
{
    const problem *b = problem_synthetic(MASS_IDENTITY, 0, 2, 2, 0);
    double y[N], lambda[N], mu[2] = {0};
    seed_log log = {0};
    start(b, y);
    costate *c = new_for_test(*state, &b->P, &(costate_options){.rtol = 1e-3, .atol = 1e-3, .on_step = stop,
                                                                .hmax = 0.1});
    assert_int_equal(costate_integrate_adj(c, b->t0, b->t1, y, b->p0, 1, lambda, mu, NULL, seed, &log),
                     COSTATE_STOPPED);
    assert_int_equal(log.calls, 0);
    costate_free(c);
    start(b, y);
    log.fails = -5;
    c = new_for_test(*state, &b->P, NULL);
    assert_int_equal(costate_integrate_adj(c, b->t0, b->t1, y, b->p0, 1, lambda, mu, NULL, seed, &log),
                     COSTATE_CALLBACK);
    assert_non_null(strstr(costate_message(c), "-5"));
    costate_free(c);
}

/* The defect is the change of the functional that solving the stages exactly would bring, to first order. */
static void defect(void **state)
{
    const costate_method *m = *state;
    int irk = is_newton(m);
    for (int mass = MASS_IDENTITY; mass <= MASS_SINGULAR; mass++) {
        const problem *b = problem_synthetic(mass, 0, 2, 2, 0);
        if (!method_takes(m, mass)) continue;
        double y[2][N], lambda[N] = {0}, d[1] = {7}, w[N] = {1, -0.7, 0.4, 0.3, 0.5}, change = 0, size = 0;
        costate_times times = {.defect = d};
        for (int exact = 0; exact < 2; exact++) {
            costate_options o = {.controller = COSTATE_FIXED, .h0 = 0.1, .newton_tol = 0.1, .rtol = 1e-2, .atol = 1e-2,
                                 .derivative_mode = exact, .newton_max = 20};
            costate *c = costate_new(m, &b->P, &o);
            costate_tape *tape = costate_tape_new();
            start(b, y[exact]);
            CHECK_OK(c, costate_integrate(c, b->t0, b->t1, y[exact], b->p0, tape));
            memcpy(lambda, w, sizeof w);
            if (!exact) CHECK_OK(c, costate_adjoint(c, tape, 1, lambda, NULL, &times, NULL));
            costate_free(c);
            costate_tape_free(tape);
        }
        for (int i = 0; i < N; i++) { change += w[i] * (y[1][i] - y[0][i]); size += fabs(w[i] * (y[1][i] - y[0][i])); }
        if (!irk) assert_true(d[0] == 0 && change == 0);
        else if (!(size > 1e-12 && fabs(d[0] - change) <= 0.05 * size))
            fail_msg("%s, %s: defect %.3e, change %.3e", method_name(m), b->name, d[0], change);
    }
}

int main(void)
{
    return run_by_method("one call", one_call) + run_by_method("interrupted", interrupted) +
           run_by_method("defect", defect);
}
