/* test_reversal.c - time runs backward as well: there and back again, against the closed form, and with exact
   transposes. */
#include "common.h"

enum { N = 5, M = 2 };

static void there_and_back(void **state)
{
    const costate_method *m = *state;
    NEEDS_ESTIMATE(m);
    costate_method_info info = method_info(m);
    double tol = info.order <= 2 ? 1e-5 : 1e-8;
    double bound = 50 * pow(tol, info.order / (info.order + 1.0));          /* h ~ tol^(1/(p+1)) */
    for (int k = 0; k < 2; k++) {
        const problem *b = k ? problem_find("lv") : problem_find("rotor");
        double y[3], start[3], exact[3], t1 = k ? 2 : b->t1;
        costate_options o = {.rtol = tol, .atol = tol};
        costate *c = costate_new(m, &b->P, &o);
        memcpy(y, b->y0, 2 * sizeof *y);
        y[2] = 0.5;
        memcpy(start, y, sizeof y);
        CHECK_OK(c, costate_integrate(c, b->t0, t1, y, b->p0, NULL));
        assert_true(largest_gap(3, y, start) > 0.01);
        memcpy(exact, y, sizeof y);
        CHECK_OK(c, costate_integrate(c, t1, b->t0, y, b->p0, NULL));
        assert_true(costate_time(c) == b->t0);
        double error = largest_gap(3, y, start);
        if (!(error <= bound)) fail_msg("%s, %s: back with an error of %.1e", method_name(m), b->name, error);
        if (problem_exact(b, t1, exact, b->p0, b->t0, y, NULL, NULL, NULL, NULL)) {
            exact[2] = 0;
            CHECK_OK(c, costate_integrate(c, t1, b->t0, exact, b->p0, NULL));
            if (!(largest_gap(3, y, exact) <= bound))
                fail_msg("%s, %s: backward with an error of %.1e", method_name(m), b->name, largest_gap(3, y, exact));
        }
        costate_free(c);
    }
}

static void transpose(void **state)
{
    const costate_method *m = *state;
    for (int k = 0; k < PROBLEM_SYNTHETICS; k++) {
        const problem *b = problem_synthetic_at(k);
        int n = b->P.n + b->P.nq, np = b->P.np;
        if (!method_takes(m, b->mass)) continue;
        costate_options o = {.rtol = 1e-3, .atol = 1e-3, .hmax = 0.05, .autonomous = b->autonomous, .storage = k & 1};
        double y[N] = {b->y0[0], b->y0[1], b->y0[2]}, x[2 * N], V[N], Vp[2], lambda[N], mu[2] = {0}, d[4];
        costate_times given = {.t0 = d, .t1 = d + 1}, asked = {.t0 = d + 2, .t1 = d + 3};
        unsigned seed = 3;
        costate *c = new_for_test(m, &b->P, &o);
        costate_tape *tape = costate_tape_new();
        random_fill(&seed, 2 * N, x);
        random_fill(&seed, 2, Vp);
        random_fill(&seed, 2, d);
        memcpy(V, x, sizeof V);
        memcpy(lambda, x + N, sizeof lambda);
        CHECK_OK(c, costate_integrate(c, 0.3, 0.1, y, b->p0, tape));
        assert_true(costate_tape_steps(tape) > 3);
        CHECK_OK(c, costate_tangent(c, tape, 1, V, np ? Vp : NULL, &given, NULL));
        CHECK_OK(c, costate_adjoint(c, tape, 1, lambda, np ? mu : NULL, &asked, NULL));
        double left = 0, right = d[0] * d[2] + d[1] * d[3], size = fabs(d[0] * d[2]) + fabs(d[1] * d[3]);
        for (int i = 0; i < n; i++) {
            left += x[N + i] * V[i];
            right += lambda[i] * x[i];
            size += fabs(x[N + i] * V[i]) + fabs(lambda[i] * x[i]);
        }
        for (int i = 0; i < np; i++) right += mu[i] * Vp[i];
        if (!(fabs(left - right) <= 1e-12 * size))
            fail_msg("%s, %s: gap %.1e", method_name(m), b->name, fabs(left - right) / size);
        costate_free(c);
        costate_tape_free(tape);
    }
}

int main(void)
{
    return run_by_method("there and back", there_and_back) + run_by_method("transpose, backward in time", transpose);
}
