/* test_projection.c - projection onto invariants: its products are right, invariants are kept to round-off over many
   steps, the order of the method is kept, gradients and Hessian products of runs are exact; what it refuses. */
#include <costate/accuracy.h>
#include <costate/ensemble.h>
#include "alloc.h"
#include "common.h"
#include "kepler.h"

static const double MOVE[] = {1, 0.5, 2, 0};

static costate_projection *project_onto(costate_problem *P, costate_map g, int keep, const double *move)
{
    costate_projection *q;
    costate_report report;
    costate_invariants of = {.count = 2, .g = g, .keep = keep, .memory = keep ? P->nm - 2 : 0, .move = move};
    if (costate_projection_after_step(&of, P, &q, &report)) fail_msg("%s", report.text);
    return q;
}

/* map and start against differences, with and without memory and weights, near the invariants and far from them */
static void products(void **state)
{
    (void)state;
    for (int k = 0; k < 16; k++) {
        int keep = k & 1, far = k >> 2 & 1;
        if (!keep && k & 8) continue;
        costate_problem P = kepler(keep ? 3 : 0);
        costate_projection *q = project_onto(&P, k & 8 ? KEPLER_MAP(moving) : KEPLER_MAP(invariant), keep,
                                             k & 2 ? MOVE : NULL);
        double y[] = {0.6, 0.1, -0.2, 1.5}, m[] = {0.3, 0, 0}, g[2];
        costate_point x = {.t = 0.7, .y = y, .p = KEPLER_PARAMETERS, .m = keep ? m : NULL};
        if (k & 8) moving_value(&x, g, NULL);
        else invariant_value(&x, g, NULL);
        for (int i = 0; keep && i < 2; i++) m[1 + i] = g[i] * (far ? 0.97 : 1.0001);
        costate_report rhs, cost;
        if (!keep) { y[2] = far ? 1.5 : 1.78; y[3] = 0.3; }         /* g = 0 is escape along a ray */
        int status = costate_check_problem(&P, &x, &rhs, &cost);
        if (status) fail_msg("case %d: %s", k, rhs.text);
        costate_projection_free(q);
    }
}

/* no orbit with 1.2 times this energy has 1.2 times this angular momentum; and a step from there is rejected */
static void out_of_reach(void **state)
{
    costate_problem P = kepler(2);
    costate_projection *q = project_onto(&P, KEPLER_MAP(invariant), 1, NULL);
    double y[] = {0.6, 0.1, -0.2, 1.5}, m[2], out[6], g[4] = {0};
    costate_point x = {.y = y, .p = KEPLER_PARAMETERS, .m = m};
    (void)state;
    invariant_value(&x, m, NULL);
    for (int i = 0; i < 2; i++) m[i] *= 1.2;
    assert_true(P.after_step.map.value(&x, out, q) > 0);
    assert_true(P.after_step.map.adjoint(&x, y, &(costate_gradient){.y = g}, q) > 0);
    costate_projection_free(q);
}

static double largest(const double *a, const double *b)
{
    return larger_of(fabs(a[0] - b[0]) / fabs(b[0]), fabs(a[1] - b[1]) / fabs(b[1]));
}

typedef struct { double start[2], worst; long seen; } watching;

static int see(const costate_step *s, void *ctx)
{
    watching *w = ctx;
    double g[2];
    costate_point x = {.y = costate_step_state(s), .p = KEPLER_PARAMETERS};
    invariant_value(&x, g, NULL);
    w->worst = larger_of(w->worst, largest(g, w->start));
    w->seen++;
    return 0;
}

/* energy and angular momentum over 1e5 steps */
static void kept(void **state)
{
    (void)state;
    costate_problem P = kepler(2);
    costate_projection *q = project_onto(&P, KEPLER_MAP(invariant), 1, NULL);
    watching w = {.worst = 0};
    costate_options o = {.controller = COSTATE_FIXED, .h0 = 0.02, .max_steps = 200000, .on_step = see,
                         .on_step_ctx = &w};
    costate *c = costate_new(costate_method_find("dopri5"), &P, &o);
    double y[6] = {0};
    kepler_start(0.5, y);
    costate_point x = {.y = y, .p = KEPLER_PARAMETERS};
    invariant_value(&x, w.start, NULL);
    CHECK_OK(c, costate_integrate(c, 0, 2000, y, KEPLER_PARAMETERS, NULL));
    print_message("           %ld steps, largest change %.1e\n", w.seen, w.worst);
    assert_true(w.seen >= 100000 && w.worst < 1e-14);
    assert_int_equal(costate_get_stats(c)->corrections, w.seen);
    costate_free(c);
    costate_projection_free(q);
}

/* errors with steps h and h/2 differ by 2^order */
static void order(void **state)
{
    costate_method_info info = method_info(*state);
    if (info.order < 2) skip();
    double error[2], h = info.order > 6 ? 0.2 : info.order > 4 ? 0.1 : 0.02, T = 2.4;
    for (int k = 0; k < 2; k++) {
        double y[2][6] = {{0}};
        for (int exact = 0; exact < 2; exact++) {
            costate_problem P = kepler(2);
            costate_projection *q = project_onto(&P, KEPLER_MAP(invariant), 1, NULL);
            costate_options o = {.controller = COSTATE_FIXED, .h0 = h / (1 << k), .derivative_mode = 1,
                                 .differences = 1};
            if (exact) o = (costate_options){.rtol = 1e-14, .atol = 1e-14, .max_steps = 10000000};
            costate *c = costate_new(exact ? costate_method_find("dop853") : *state, &P, &o);
            kepler_start(0.2, y[exact]);
            CHECK_OK(c, costate_integrate(c, 0, T, y[exact], KEPLER_PARAMETERS, NULL));
            costate_free(c);
            costate_projection_free(q);
        }
        error[k] = largest_gap(4, y[0], y[1]);
    }
    double seen = log2(error[0] / error[1]);
    if (error[1] > 1e-12 && !(seen > info.order - 0.4)) fail_msg("%s: order %.2f, errors %.1e, %.1e",
                                                                 info.name, seen, error[0], error[1]);
}

static void refused(void **state)
{
    static const double negative[] = {1, -1, 1, 1}, zero[4];
    const costate_map g = KEPLER_MAP(invariant);
    const costate_invariants good = {.count = 2, .g = g, .keep = 1};
    costate_invariants wrong[9];
    static const int status[9] = {COSTATE_BAD_ARGUMENT, COSTATE_BAD_ARGUMENT, COSTATE_MISSING, COSTATE_MISSING,
                                  COSTATE_BAD_ARGUMENT, COSTATE_BAD_ARGUMENT, COSTATE_BAD_ARGUMENT,
                                  COSTATE_BAD_ARGUMENT, COSTATE_BAD_ARGUMENT};
    (void)state;
    for (int k = 0; k < 9; k++) wrong[k] = good;
    wrong[0].count = 0;
    wrong[1].count = 5;
    wrong[2].g.value = NULL;
    wrong[3].g.adjoint = NULL;
    wrong[4].memory = 1;
    wrong[5].move = negative;
    wrong[6].move = zero;
    wrong[7].linear = 2;
    wrong[8].at_start = 1;
    for (int k = 0; k < 9; k++) {
        costate_problem P = kepler(2);
        costate_report report;
        costate_projection *q = (costate_projection *)&P;
        assert_int_equal(costate_projection_after_step(&wrong[k], &P, &q, &report), status[k]);
        assert_true(!q && strstr(report.text, "invariants.") && !P.after_step.map.value);
    }
    /* without its second derivatives g serves forward runs, without its third ones gradients */
    costate_problem P = kepler(2);
    costate_projection *q;
    costate_invariants first = good;
    first.g.adjoint_tangent = NULL;
    assert_int_equal(costate_projection_after_step(&first, &P, &q, NULL), COSTATE_OK);
    assert_true(P.after_step.map.value && !P.after_step.map.adjoint && !P.after_step.map.tangent);
    costate_projection_free(q);
    P = kepler(2);
    first = good;
    first.g.tangent2 = NULL;
    assert_int_equal(costate_projection_after_step(&first, &P, &q, NULL), COSTATE_OK);
    assert_true(P.after_step.map.adjoint && !P.after_step.map.adjoint_tangent);
    costate_projection_free(q);
}

/* ---- runs ---- */

enum { N = 6, COLUMNS = 2 };

static int seed(double t1, const double *y, const double *p, int m, const double *V, const double *Vp, double *lambda,
                double *mu, double *lambda2, double *mu2, void *ctx)
{
    (void)t1, (void)p, (void)Vp, (void)mu, (void)mu2, (void)ctx;
    for (int i = 0; i < 4; i++) lambda[i] = y[i] + 0.3;
    for (int j = 0; j < m; j++) for (int i = 0; i < 4; i++) lambda2[j * N + i] = V[j * N + i];
    return 0;
}

static int only_curvature(double t1, const double *y, const double *p, int m, const double *V, const double *Vp,
                          double *lambda, double *mu, double *lambda2, double *mu2, void *ctx)
{
    (void)t1, (void)y, (void)p, (void)Vp, (void)lambda, (void)mu, (void)mu2, (void)ctx;
    for (int j = 0; j < m; j++) for (int i = 0; i < 4; i++) lambda2[j * N + i] = V[j * N + i];
    return 0;
}

static void runs(void **state)
{
    costate_problem P = kepler(2);
    costate_projection *q = project_onto(&P, KEPLER_MAP(invariant), 1, NULL);
    costate_options o = {.rtol = 1e-4, .atol = 1e-4, .derivative_mode = 1};
    costate *c = new_for_test(*state, &P, &o);
    costate_tape *tape = costate_tape_new();
    double y[N] = {0}, V[N * COLUMNS] = {0}, Vp[KEPLER_P * COLUMNS], lambda[N], mu[KEPLER_P] = {0}, w[N] = {0};
    double H[N * COLUMNS], Hp[KEPLER_P * COLUMNS] = {0};
    unsigned seeds = 3;
    random_fill(&seeds, N * COLUMNS, V);
    random_fill(&seeds, KEPLER_P * COLUMNS, Vp);
    double along[N * COLUMNS];
    memcpy(along, V, sizeof along);
    kepler_start(0.3, y);
    CHECK_OK(c, costate_integrate(c, 0, 3, y, KEPLER_PARAMETERS, tape));
    CHECK_OK(c, costate_tangent(c, tape, COLUMNS, along, Vp, NULL, NULL));
    random_fill(&seeds, N, w);
    memcpy(lambda, w, sizeof lambda);
    CHECK_OK(c, costate_adjoint(c, tape, 1, lambda, mu, NULL, NULL));
    for (int j = 0; j < COLUMNS; j++) {
        double left = 0, right = 0, size = 0;
        for (int i = 0; i < N; i++) {
            left += w[i] * along[j * N + i];
            size += fabs(w[i] * along[j * N + i]);
            right += lambda[i] * V[j * N + i];
        }
        for (int i = 0; i < KEPLER_P; i++) right += mu[i] * Vp[j * KEPLER_P + i];
        if (!(fabs(left - right) <= 1e-12 * size)) fail_msg("%s: transpose %.1e", method_name(*state),
                                                            fabs(left - right) / size);
    }
    costate_second s = {.m = COLUMNS, .V = V, .Vp = Vp, .seed = seed, .lambda = lambda, .mu = mu, .lambda2 = H,
                        .mu2 = Hp};
    CHECK_OK(c, costate_hessian(c, tape, &s));
    double a = 0, b = 0, size = 0;
    for (int i = 0; i < N; i++) {
        a += V[i] * H[N + i];
        b += V[N + i] * H[i];
        size += fabs(V[i] * H[N + i]) + fabs(V[N + i] * H[i]);
    }
    for (int i = 0; i < KEPLER_P; i++) {
        a += Vp[i] * Hp[KEPLER_P + i];
        b += Vp[KEPLER_P + i] * Hp[i];
    }
    if (!(fabs(a - b) <= 1e-12 * size)) fail_msg("%s: symmetry %.1e", method_name(*state), fabs(a - b) / size);
    /* Gauss-Newton products with W = 1: |J v|^2 of the first direction, by its tangent at the end */
    memset(Hp, 0, sizeof Hp);
    s.seed = only_curvature;
    CHECK_OK(c, costate_gauss_newton(c, tape, &s));
    double squares = 0, product = 0;
    for (int i = 0; i < 4; i++) squares += along[i] * along[i];
    for (int i = 0; i < N; i++) product += V[i] * H[i];
    for (int i = 0; i < KEPLER_P; i++) product += Vp[i] * Hp[i];
    assert_true(fabs(product / squares - 1) < 1e-12);
    double start[N] = {0};
    costate_report report;
    kepler_start(0.3, start);
    if (costate_check_adjoint(c, 0, 3, start, KEPLER_PARAMETERS, &report))
        fail_msg("%s: %s", method_name(*state), report.text);
    costate_tape_free(tape);
    costate_free(c);
    costate_projection_free(q);
}

/* without memory for the object, or for the work space of a first call */
static void no_memory(void **state)
{
    const costate_invariants kept_two = {.count = 2, .g = KEPLER_MAP(invariant), .keep = 1};
    costate_problem P = kepler(2);
    costate_projection *q;
    costate_report report;
    double y[N], out[N];
    (void)state;
    alloc_fail_at(1);
    assert_int_equal(costate_projection_after_step(&kept_two, &P, &q, &report), COSTATE_NO_MEMORY);
    alloc_fail_at(0);
    assert_true(!q && !P.after_step.map.value && strstr(report.text, "o memory"));
    q = project_onto(&P, KEPLER_MAP(invariant), 1, NULL);
    kepler_start(0.3, y);
    double m[2];
    costate_point x = {.y = y, .p = KEPLER_PARAMETERS, .m = m};
    invariant_value(&x, m, NULL);
    alloc_fail_at(1);
    assert_int_equal(P.after_step.map.value(&x, out, q), COSTATE_NO_MEMORY);
    alloc_fail_at(0);
    assert_int_equal(P.after_step.map.value(&x, out, q), 0);
    costate_projection_free(q);
    costate_projection_free(NULL);
}

/* ---- the calls around runs ---- */

static int first_position(double t1, const double *y, const double *p, int m, double *v, double *lambda, double *mu,
                          double *end, void *ctx)
{
    (void)t1, (void)p, (void)m, (void)mu, (void)end, (void)ctx;
    v[0] = y[0];
    if (lambda) lambda[0] = 1;
    return 0;
}

/* x_0(3) and its gradient by the run, their estimated errors, and the truth by one with small tolerances */
static void accuracy(void **state)
{
    costate_problem P = kepler(2);
    costate_projection *q = project_onto(&P, KEPLER_MAP(invariant), 1, NULL);
    double value[3], p[3][KEPLER_P], error, by_p[KEPLER_P];
    const costate_functional F = {.m = 1, .at_end = first_position};
    (void)state;
    for (int k = 0; k < 2; k++) {
        double rtol = k ? 1e-12 : 1e-5, y[N];
        costate_options o = {.rtol = rtol, .atol = rtol};
        costate *c = costate_new(costate_method_find("dopri5"), &P, &o);
        costate_tape *tape = costate_tape_new();
        costate_estimate e = {.run = {.value = &value[k], .p = p[k]}, .error = {.value = &error, .p = by_p}};
        kepler_start(0.3, y);
        y[4] = y[5] = 0;
        CHECK_OK(c, costate_integrate(c, 0, 3, y, KEPLER_PARAMETERS, tape));
        if (k == 0) CHECK_OK(c, costate_accuracy(c, tape, &F, &e));
        else {
            double lambda[N] = {1};
            p[1][0] = p[1][1] = 0;
            value[1] = y[0];
            CHECK_OK(c, costate_adjoint(c, tape, 1, lambda, p[1], NULL, NULL));
        }
        costate_tape_free(tape);
        costate_free(c);
    }
    double of_value = value[1] - value[0], of_p = p[1][0] - p[0][0];
    print_message("           errors: value %.2e, estimate %.2e; gradient %.2e, estimate %.2e\n", of_value, error, of_p,
                  by_p[0]);
    assert_true(fabs(error / of_value - 1) < 0.2 && fabs(by_p[0] / of_p - 1) < 0.2);
    costate_projection_free(q);
}

enum { MEMBERS = 24 };

/* the bits of runs alone, from several threads that share the projection */
static void ensemble(void **state)
{
    costate_problem P = kepler(2);
    costate_projection *q = project_onto(&P, KEPLER_MAP(invariant), 1, NULL);
    costate_options o = {.rtol = 1e-7, .atol = 1e-7};
    double y[MEMBERS * N] = {0}, p[MEMBERS * KEPLER_P], lambda[MEMBERS * N] = {0}, mu[MEMBERS * KEPLER_P] = {0};
    double alone[N];
    (void)state;
    for (int k = 0; k < MEMBERS; k++) {
        kepler_start(0.1 + 0.02 * k, y + k * N);
        lambda[k * N] = 1;
        p[2 * k] = 1 + 0.01 * k;
        p[2 * k + 1] = 0;
    }
    costate_members all = {.count = MEMBERS, .threads = 3, .t1 = 5, .y = y, .p = p, .m = 1, .lambda = lambda, .mu = mu};
    costate_ensemble_report report;
    if (costate_ensemble(costate_method_find("tsit5"), &P, &o, &all, &report)) fail_msg("%s", report.text);
    costate *c = costate_new(costate_method_find("tsit5"), &P, &o);
    costate_tape *tape = costate_tape_new();
    for (int k = 0; k < MEMBERS; k++) {
        double back[N] = {1}, of_p[KEPLER_P] = {0};
        kepler_start(0.1 + 0.02 * k, alone);
        alone[4] = alone[5] = 0;
        CHECK_OK(c, costate_integrate(c, 0, 5, alone, p + 2 * k, tape));
        CHECK_OK(c, costate_adjoint(c, tape, 1, back, of_p, NULL, NULL));
        assert_memory_equal(alone, y + k * N, sizeof alone);
        assert_memory_equal(back, lambda + k * N, sizeof back);
        assert_memory_equal(of_p, mu + 2 * k, sizeof of_p);
    }
    costate_tape_free(tape);
    costate_free(c);
    costate_projection_free(q);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(products), cmocka_unit_test(out_of_reach),
                                       cmocka_unit_test(kept), cmocka_unit_test(refused),
                                       cmocka_unit_test(no_memory), cmocka_unit_test(accuracy),
                                       cmocka_unit_test(ensemble)};
    return cmocka_run_group_tests(tests, NULL, NULL) + run_by_kind("projection keeps the order", order) +
           run_by_kind("projection in runs", runs);
}
