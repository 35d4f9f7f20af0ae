/* test_bvp_decisions.c - what the solver of boundary value problems decides by: when a correction is damped and a
   matrix renewed, in which unit errors of integrals are measured, how fast meshes grow, and how far ill-conditioned
   problems are believed to amplify errors. */
#include "bvp/bvp.h"                /* before cmocka, whose fail is a macro */
#include "bvp_common.h"

static int value(const costate_point *x, double *out, void *ctx)
{
    (void)x;
    (void)ctx;
    out[0] = 0;
    return 0;
}
static int tangent(const costate_point *x, const costate_point *dx, double *out, void *ctx)
{
    (void)dx;
    return value(x, out, ctx);
}

/* ---- damping: atan(y(a)) = 0 with y' = 0, so that Newton's iteration is that of atan ---------------------- */

static int atan_of(const costate_point *x, double *out, void *ctx)
{
    (void)ctx;
    out[0] = atan(x->y[0]);
    return 0;
}
static int atan_tangent(const costate_point *x, const costate_point *dx, double *out, void *ctx)
{
    (void)ctx;
    out[0] = dx->y ? dx->y[0] / (1 + x->y[0] * x->y[0]) : 0;
    return 0;
}

static int first_damping(const costate_bvp_iteration *it, void *ctx)
{
    if (it->iteration == 0) *(double *)ctx = it->damping;
    return 0;
}

static double damping_and_work(double guess, costate_bvp_stats *work)
{
    double damping = NAN;
    const costate_problem P = {.n = 1, .rhs = {.value = value, .tangent = tangent}};
    const costate_conditions C = {.map = {.value = atan_of, .tangent = atan_tangent}, .count = 1};
    const costate_bvp_options o = {.on_iteration = first_damping, .on_iteration_ctx = &damping};
    costate_bvp *c = costate_bvp_new(costate_method_find("gauss2"), &P, &C, &o);
    CHECK_BVP(c, costate_bvp_guess(c, 1, &(double){0}, &guess));
    CHECK_BVP(c, costate_bvp_solve(c, 0, 1, NULL));
    if (work) *work = *costate_bvp_get_stats(c);
    costate_bvp_free(c);
    return damping;
}

static double damping_from(double guess) { return damping_and_work(guess, NULL); }

/* Deuflhard's restricted test |d+| <= (1 - a/4) |d|: the whole correction from y leads to y+ = y - (1 + y^2) atan y,
   where the next one by the same matrix is atan(y+)/atan(y) of it.  A ratio of 0.7 is taken, and 0.8 is damped, though
   the iteration would converge. */
static void damps_slow_contraction(void **state)
{
    (void)state;
    double taken = NAN, damped = NAN;
    for (double y = 0.5; y < 1.4; y += 1e-4) {
        double ratio = fabs(atan(y - (1 + y * y) * atan(y)) / atan(y));
        if (ratio < 0.7) taken = y;
        if (ratio < 0.8) damped = y;
    }
    assert_true(damping_from(taken) == 1);
    assert_true(damping_from(damped) < 1);
}

/* Where the whole correction is refused, what is taken is found in few tries, and is no less than a twentieth of
   the most that the test would have let pass. */
static void damps_no_more_than_needed(void **state)
{
    (void)state;
    for (double y = 1.5; y < 20; y *= 1.5) {
        double d = -(1 + y * y) * atan(y), most = 0;
        for (double a = 1e-4; a <= 1; a += 1e-4)
            if (fabs(atan(y + a * d) / atan(y)) <= 1 - a / 4) most = a;
        double taken = damping_from(y);
        if (!(taken < 1 && taken > most / 20 && taken <= most + 1e-3)) fail_msg("y = %g: %g of %g", y, taken, most);
    }
}

/* A matrix that contracts slowly is not kept: from y = 1, corrections by the first one fall by less than half each. */
static void renews_a_slow_matrix(void **state)
{
    (void)state;
    costate_bvp_stats work;
    assert_true(damping_and_work(1, &work) == 1);
    assert_true(work.solves <= 5 * work.decompositions);
}

/* ---- integrals -------------------------------------------------------------------------------------------------- */

static int rate(const costate_point *x, double *out, void *ctx)
{
    (void)ctx;
    out[0] = exp(x->t);
    return 0;
}

/* q' = exp(t), q(a) = 0: the unit of an error of q is the larger of its values at both ends of an interval.  With the
   left one alone it would be atol in the first interval, however large q becomes there. */
static void unit_of_integrals(void **state)
{
    const costate_problem P = {.n = 1, .nq = 1, .rhs = {.value = value, .tangent = tangent}, .cost = {.value = rate}};
    const costate_conditions C = {.map = {.value = atan_of, .tangent = atan_tangent}, .count = 1};
    costate_bvp_options o = {.rtol = 1e-6, .atol = 1e-14, .intervals = 4, .fixed = 1, .differences = 1};
    (void)state;
    costate_bvp *c = costate_bvp_new(costate_method_find("gauss2"), &P, &C, &o);
    CHECK_BVP(c, costate_bvp_solve(c, 0, 1, NULL));
    defects worst;
    double error[4];
    assert_int_equal(mesh_errors(c, error, &worst), 0);
    for (int i = 1; i < 4; i++) {
        /* the same relative defect in each interval, times exp of its begin, over the larger q of it */
        double growth = exp(0.25 * i) / ((exp(0.25 * (i + 1)) - 1) / (exp(0.25) - 1));
        if (!(fabs(error[i] / error[0] / growth - 1) < 1e-3)) fail_msg("%d: %g of %g", i, error[i] / error[0], growth);
    }
    costate_bvp_free(c);
}

/* An integrand that jumps inside an interval makes its samples disagree; in no other interval they do. */
static int jumping_rate(const costate_point *x, double *out, void *ctx)
{
    (void)ctx;
    out[0] = exp(x->t) + (x->t > 0.3);
    return 0;
}

static void finds_jumps(void **state)
{
    const costate_problem P = {
        .n = 1, .nq = 1, .rhs = {.value = value, .tangent = tangent}, .cost = {.value = jumping_rate}};
    const costate_conditions C = {.map = {.value = atan_of, .tangent = atan_tangent}, .count = 1};
    const costate_bvp_options o = {.atol = 1e-6, .intervals = 4, .fixed = 1, .differences = 1};
    (void)state;
    costate_bvp *c = costate_bvp_new(costate_method_find("gauss2"), &P, &C, &o);
    CHECK_BVP(c, costate_bvp_solve(c, 0, 1, NULL));
    for (int i = 0; i < 4; i++) assert_int_equal(c->est.rough[i], i == 1);
    costate_bvp_free(c);
}

/* ---- meshes ----------------------------------------------------------------------------------------------------- */

/* Halving keeps all points and adds the middles; a mesh for however large errors has at most twice the intervals and
   eight more. */
static void new_meshes(void **state)
{
    static const double t[] = {0, 0.1, 0.4, 1}, errors_of[] = {1e12, 1, 1e6};
    const costate_problem P = {.n = 1, .rhs = {.value = value, .tangent = tangent}};
    const costate_conditions C = {.map = {.value = atan_of, .tangent = atan_tangent}, .count = 1};
    const costate_bvp_options o = {.atol = 1e-6, .fixed = 1, .differences = 1};
    (void)state;
    costate_bvp *c = costate_bvp_new(costate_method_find("gauss2"), &P, &C, &o);
    CHECK_BVP(c, costate_bvp_mesh(c, 4, t));
    CHECK_BVP(c, costate_bvp_solve(c, 0, 1, NULL));
    solution finer = {0};
    assert_int_equal(mesh_halved(c, &c->now, &finer), 0);
    assert_int_equal(finer.N, 6);
    for (int i = 0; i <= 6; i++)
        assert_true(fabs(finer.t[i] - (t[i / 2] + (i % 2 ? 0.5 * (t[i / 2 + 1] - t[i / 2]) : 0))) < 1e-15);
    assert_int_equal(mesh_next(c, errors_of, 1, &finer), 0);
    if (!(finer.N > 4 && finer.N <= 2 * 3 + 8 + 1)) fail_msg("%d intervals", finer.N);
    solution_free(&finer);
    costate_bvp_free(c);
}

/* ---- amplification ---------------------------------------------------------------------------------------------- */

static double movement;             /* of the solution by the random forces, as the fake system answers */

static int answer(bvp *b, int transpose, int m, double *x)
{
    (void)transpose;
    for (size_t i = 0; i < (size_t)m * unknowns(b); i++) x[i] = movement;
    return 0;
}

/* Random forces that move the solution by as much as sqrt(N) times the error of an interval, divided by its share, are
   not amplified.  Where the order at mesh points is higher than that of the dense output by two or more, defects are
   nearly orthogonal to what moves the solution, and five times as much is allowed for. */
static void amplification_begins(void **state)
{
    static const struct { const char *method; double allowed; } table[] = {
        {"gauss3", 5}, {"radau2a4", 5}, {"lobatto3a5", 5}, {"gauss1", 1}, {"lobatto3a2", 1}};
    const costate_problem P = {.n = 1, .rhs = {.value = value, .tangent = tangent}};
    const costate_conditions C = {.map = {.value = atan_of, .tangent = atan_tangent}, .count = 1};
    const costate_bvp_options o = {.atol = 1e-3, .intervals = 9, .fixed = 1, .differences = 1};
    (void)state;
    for (size_t k = 0; k < sizeof table / sizeof *table; k++) {
        costate_bvp *c = costate_bvp_new(costate_method_find(table[k].method), &P, &C, &o);
        CHECK_BVP(c, costate_bvp_solve(c, 0, 1, NULL));
        const linear_system *own = c->linear.by;
        linear_system fake = *own;
        double share = 1, factor;
        for (int i = 0; i < c->rk.samples; i++) share = fmin(share, fabs(c->rk.share[i]));
        fake.solve = answer;
        c->linear.by = &fake;
        for (double times = 0.5; times < 8; times *= 2) {
            movement = 1e-3 * times * table[k].allowed * 3 * 0.25 / share;          /* sqrt(9), an error of 0.25 */
            assert_int_equal(mesh_amplification(c, 0.25, &factor), 0);
            if (!(fabs(factor - fmax(1, times)) < 1e-12)) fail_msg("%s: %g of %g", table[k].method, factor, times);
        }
        c->linear.by = own;
        costate_bvp_free(c);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(damps_slow_contraction), cmocka_unit_test(damps_no_more_than_needed),
        cmocka_unit_test(renews_a_slow_matrix),
        cmocka_unit_test(unit_of_integrals), cmocka_unit_test(finds_jumps), cmocka_unit_test(new_meshes),
        cmocka_unit_test(amplification_begins),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
