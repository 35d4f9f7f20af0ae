/* test_options_solver.c - the options of Newton's iteration, derivatives, linear algebra and tape do what their
   comments say. */
#include "step/method.h"
#include "common.h"
#include <costate/linsol.h>

enum { N = 32, POINTS = 12 };

typedef struct {
    double y[N], V[N], lambda[N], mu[16];
    costate_stats forward, tangent, adjoint;
    int steps;
    size_t bytes;
} result;

static result run(const costate_method *m, const problem *b, const costate_problem *P, costate_options o)
{
    result r = {.steps = 0};
    unsigned seed = 2;
    costate *c = new_for_test(m, P, &o);
    costate_tape *tape = costate_tape_new();
    memcpy(r.y, b->y0, (size_t)b->P.n * sizeof *r.y);
    random_fill(&seed, N, r.V);
    random_fill(&seed, N, r.lambda);
    CHECK_OK(c, costate_integrate(c, b->t0, b->t1, r.y, b->p0, tape));
    r.forward = *costate_get_stats(c);
    costate_reset_stats(c);
    CHECK_OK(c, costate_tangent(c, tape, 1, r.V, NULL, NULL, NULL));
    r.tangent = *costate_get_stats(c);
    costate_reset_stats(c);
    CHECK_OK(c, costate_adjoint(c, tape, 1, r.lambda, b->P.np ? r.mu : NULL, NULL, NULL));
    r.adjoint = *costate_get_stats(c);
    r.steps = costate_tape_steps(tape);
    r.bytes = costate_tape_bytes(tape);
    costate_free(c);
    costate_tape_free(tape);
    return r;
}

#define CLAIM(x) do { if (!(x)) fail_msg("%s: not so: %s", method_name(m), #x); } while (0)

/* What Newton's iteration leaves in the stages Z is times gamma sum_j |w_sj|, W = A^-1, in the last one, of sdirk: 1 to
   71, of esdirk54i8 103. */
static double spread(const costate_method *m)
{
    double sum = 0;
    for (int j = 0; m->block == 1 && j < m->s; j++) sum += fabs(m->W[(m->s - 1) * m->s + j]);
    return m->gamma * sum;
}

static void newton(void **state)
{
    const costate_method *m = *state;
    const problem *b = problem_synthetic(MASS_IDENTITY, 0, 2, 2, 0);
    if (!is_newton(m)) return;
    costate_method_info info = method_info(m);
    int explicit_first = (info.properties & COSTATE_EXPLICIT_FIRST) != 0;
    int blocks = info.family == COSTATE_FIRK || is_composite(m) ? 1 : info.stages - explicit_first;
    const costate_options fixed = {.controller = COSTATE_FIXED, .h0 = 0.02, .rtol = 1e-6, .atol = 1e-6};
    costate_options o = fixed;
    o.theta_reuse = -1;
    result never = run(m, b, &b->P, o);
    CLAIM(never.forward.jac == never.steps &&
          never.forward.decompositions + never.forward.complex_decompositions >= never.steps);
    o.theta_reuse = 0.9;
    result kept = run(m, b, &b->P, o);
    CLAIM(kept.forward.jac < never.forward.jac / 2 &&
          kept.forward.decompositions + kept.forward.complex_decompositions < never.steps);
    o = fixed;
    o.derivative_mode = 1;
    result exact = run(m, b, &b->P, o);
    CLAIM(relative_gap(3, kept.y, exact.y) < 1e-6 && relative_gap(3, never.y, exact.y) < 1e-6);
    o = fixed;
    o.newton_tol = 0.9;
    result loose = run(m, b, &b->P, o);
    o.newton_tol = 1e-6;
    result tight = run(m, b, &b->P, o);
    CLAIM(loose.forward.newton < tight.forward.newton && tight.forward.newton < exact.forward.newton);
    double gap = relative_gap(3, tight.y, exact.y), wide = relative_gap(3, loose.y, exact.y);
    double spreads = fmax(1, spread(m) / 50);
    CLAIM(gap < fmax(0.1 * wide, 1e-12 * tight.steps * spreads) && gap < 1e-10 * spreads);
    o = fixed;
    result predicted = run(m, b, &b->P, o);
    o.predictor = COSTATE_PREDICT_NONE;
    result zero = run(m, b, &b->P, o);
    CLAIM(predicted.forward.newton <= zero.forward.newton && relative_gap(3, predicted.y, zero.y) < 1e-6);
    o = (costate_options){.rtol = 1e-3, .atol = 1e-3, .newton_max = 3};
    result few = run(m, b, &b->P, o);
    CLAIM(few.forward.newton <= 3 * blocks * few.forward.steps);
}

static double iterations_a_step(const result *r)
{
    return (double)r->forward.newton / (double)r->forward.steps;
}

static void estimator(void **state)
{
    const costate_method *m = *state;
    const problem *b = problem_find("rotor");
    costate_options o = {.rtol = 1e-5, .atol = 1e-5, .estimator = COSTATE_EST_SDIRK};
    costate *c = new_for_test(m, &b->P, &o);
    int has = costate_status(c) == COSTATE_OK;
    costate_free(c);
    CLAIM(!has || method_info(m).family == COSTATE_FIRK);
    if (!has) return;
    double exact[4];
    problem_exact(b, b->t0, b->y0, b->p0, b->t1, exact, NULL, NULL, NULL, NULL);
    result r = run(m, b, &b->P, o);
    CLAIM(relative_gap(2, r.y, exact) <= 50 * pow(1e-5, method_info(m).order / (method_info(m).order + 1.0)) &&
          r.steps > 3);
    o.estimator = COSTATE_EST_CLASSICAL;
    result classical = run(m, b, &b->P, o);
    CLAIM(memcmp(r.y, classical.y, sizeof r.y) != 0);
    CLAIM(iterations_a_step(&r) > iterations_a_step(&classical));
}

/* f does not depend on t: ros needs no f_t; explicit methods measure the spectral radius by products all the same */
static void autonomous(void **state)
{
    const costate_method *m = *state;
    const problem *b = problem_synthetic(MASS_IDENTITY, 1, 2, 2, 0);
    costate_options o = {.rtol = 1e-4, .atol = 1e-4};
    result no = run(m, b, &b->P, o);
    o.autonomous = 1;
    result yes = run(m, b, &b->P, o);
    CLAIM(memcmp(no.y, yes.y, sizeof no.y) == 0);
    CLAIM(yes.forward.tangents == yes.forward.power &&
          (no.forward.tangents > no.forward.power) == (method_info(m).family == COSTATE_ROS));
    CLAIM((yes.forward.power > 0) == begins_explicit(m));
}

/* ---- missing callbacks ------------------------------------------------------------------------------------------- */

static void differences(void **state)
{
    const costate_method *m = *state;
    const problem *b = problem_synthetic(MASS_IDENTITY, 0, 2, 2, 1);
    costate_options o = {.controller = COSTATE_FIXED, .h0 = 0.11, .rtol = 1e-8, .atol = 1e-8, .derivative_mode = 1,
                         .stage_solve = is_newton(m) ? COSTATE_STAGE_ITERATIVE : 0};
    result exact = run(m, b, &b->P, o);
    CLAIM(exact.forward.differences + exact.tangent.differences + exact.adjoint.differences == 0);
    o.differences = 1;
    for (int which = 0; which < 6; which++) {
        costate_problem P = b->P;
        if (which == 0 || which == 5) P.rhs.tangent = P.cost.tangent = NULL;
        if (which == 1 || which == 5) P.rhs.adjoint = P.cost.adjoint = NULL;
        if (which == 2 || which == 5) P.rhs.tangent2 = P.cost.tangent2 = NULL;
        if (which == 3 || which == 5) P.rhs.adjoint_tangent = P.cost.adjoint_tangent = NULL;
        if (which == 4 || which == 5) P.jac = NULL;
        result r = run(m, b, &P, o);
        double e[] = {relative_gap(5, r.y, exact.y), relative_gap(5, r.V, exact.V),
                      relative_gap(5, r.lambda, exact.lambda), relative_gap(2, r.mu, exact.mu)};
        for (int i = 0; i < 4; i++)
            if (!(e[i] <= 2e-5))
                fail_msg("%s, %d: y %.1e, V %.1e, lambda %.1e, mu %.1e", method_name(m), which, e[0], e[1], e[2], e[3]);
        if (which == 1) CLAIM(r.adjoint.differences == 0);                 /* an adjoint of tangents is exact */
        if (which == 5) CLAIM(r.adjoint.differences > 0);
    }
}

/* jac missing: exactly from rhs.tangent, one product a colour */
static void coloured(void **state)
{
    const costate_method *m = *state;
    problem *b = problem_brusselator(POINTS);
    b->t1 = b->t0 + 0.3 * (b->t1 - b->t0) / 10;
    costate_options o = {.rtol = 1e-4, .atol = 1e-4, .solver = COSTATE_LS_BAND, .members = newton_members(m),
                         .stage_solve = is_newton(m) || is_composite(m) ? COSTATE_STAGE_DIRECT : 0,
                         .autonomous = b->autonomous};
    costate_problem P = b->P;
    result given = run(m, b, &b->P, o);
    P.jac = NULL;
    result formed = run(m, b, &P, o);
    if (is_explicit(m)) CLAIM(formed.forward.jac == 0 && formed.forward.jac_products == 0);
    else {
        long products = formed.forward.jac_products - 1;      /* one of all asks whether the pattern holds them */
        CLAIM(formed.forward.jac > 0 && products % formed.forward.jac == 0 && products / formed.forward.jac <= 5);
        CLAIM(formed.forward.differences == 0 && formed.forward.steps == given.forward.steps &&
              given.forward.jac_products == 0);
    }
    CLAIM(relative_gap(24, formed.y, given.y) < 1e-12 && relative_gap(24, formed.V, given.V) < 1e-10 &&
          relative_gap(24, formed.lambda, given.lambda) < 1e-10);
    problem_free(b);
}

/* ---- what a tape holds: n = 400 decays, so that its blocks are full ---------------------------------------------- */

enum { DECAYS = 400 };

static int decay(const costate_point *x, double *out, void *ctx)
{
    (void)ctx;
    for (int i = 0; i < DECAYS; i++) out[i] = -x->y[i] * (1 + 0.001 * i);
    return 0;
}
static int decay_jac(const costate_point *x, double *J, void *ctx)
{
    (void)x, (void)ctx;
    for (int i = 0; i < DECAYS; i++) J[i] = -(1 + 0.001 * i);
    return 0;
}

static void storage(void **state)
{
    const costate_method *m = *state;
    static int col[DECAYS + 1], row[DECAYS];
    size_t bytes[3], steps = 0;
    for (int i = 0; i < DECAYS; i++) { col[i] = row[i] = i; col[i + 1] = i + 1; }
    const costate_pattern diagonal = {DECAYS, col, row};
    const costate_problem P = {.n = DECAYS, .rhs = {.value = decay}, .jac = decay_jac, .pattern = &diagonal};
    for (int k = 0; k < 3; k++) {                       /* all stages, states only, all stages and factorisations */
        double y[DECAYS], lambda[DECAYS] = {1};
        costate_options o = {.controller = COSTATE_FIXED, .h0 = 0.01, .autonomous = 1, .storage = k == 1,
                             .keep_factors = k == 2 ? 1 : -1};
        costate *c = costate_new(m, &P, &o);
        costate_tape *tape = costate_tape_new();
        for (int i = 0; i < DECAYS; i++) y[i] = 1;
        CHECK_OK(c, costate_integrate(c, 0, 1, y, NULL, tape));
        bytes[k] = costate_tape_bytes(tape);
        steps = (size_t)costate_tape_steps(tape);
        CLAIM(costate_get_stats(c)->tape_bytes == bytes[k]);
        /* jac is enough for all but Rosenbrock methods */
        if (method_info(m).family != COSTATE_ROS) CHECK_OK(c, costate_adjoint(c, tape, 1, lambda, NULL, NULL, NULL));
        else assert_int_equal(costate_adjoint(c, tape, 1, lambda, NULL, NULL, NULL), COSTATE_MISSING);
        costate_free(c);
        costate_tape_free(tape);
    }
    CLAIM(steps == 100 && bytes[1] >= steps * DECAYS * sizeof(double) && bytes[1] < bytes[0] && bytes[0] <= bytes[2]);
    CLAIM((bytes[0] < bytes[2]) == !is_explicit(m));
}

/* ---- tape and factors -------------------------------------------------------------------------------------------- */

static void kept_factors(void **state)
{
    const costate_method *m = *state;
    problem *b = problem_brusselator(POINTS);
    int ros = method_info(m).family == COSTATE_ROS;
    b->t1 = b->t0 + 0.1 * (b->t1 - b->t0);
    costate_options o = {.rtol = 1e-5, .atol = 1e-5, .keep_factors = 1, .autonomous = b->autonomous};
    result kept = run(m, b, &b->P, o);
    if (ros)
        CLAIM(kept.adjoint.decompositions == 0 && kept.tangent.decompositions == 0 && kept.tangent.jac == 0 &&
              kept.adjoint.jac == 0);
    o.keep_factors = -1;
    result again = run(m, b, &b->P, o);
    if (ros)
        CLAIM(again.adjoint.decompositions >= again.steps - 1 && relative_gap(24, again.lambda, kept.lambda) < 1e-11);
    CLAIM(again.bytes <= kept.bytes && again.steps == kept.steps);
    if (is_newton(m)) {
        o.stage_solve = COSTATE_STAGE_DIRECT;
        result direct = run(m, b, &b->P, o);
        CLAIM(direct.adjoint.stage_direct > 0 && direct.adjoint.stage_iterative == 0 && direct.tangent.krylov == 0);
        o.stage_solve = COSTATE_STAGE_ITERATIVE;
        result iterative = run(m, b, &b->P, o);
        CLAIM(iterative.adjoint.stage_iterative > 0 && iterative.adjoint.krylov > 0 &&
              iterative.adjoint.stage_direct == 0);
        CLAIM(relative_gap(24, direct.lambda, iterative.lambda) < 1e-10 &&
              relative_gap(24, direct.V, iterative.V) < 1e-10);
    } else CLAIM(again.adjoint.stage_direct + again.adjoint.stage_iterative == 0);
    problem_free(b);
}

/* stage_solve = AUTO: directly where that costs little, which coupled stages do not */
static void direct_or_not(void **state)
{
    const costate_method *m = *state;
    if (!is_newton(m)) skip();
    problem *b = problem_brusselator(30);
    int full = method_info(m).family == COSTATE_FIRK || is_composite(m);
    int stages = full ? method_info(m).stages : 1, rows = stages * b->P.n;
    b->t1 = b->t0 + 0.02 * (b->t1 - b->t0);
    costate_options o = {.rtol = 1e-4, .atol = 1e-4, .solver = COSTATE_LS_BAND, .autonomous = b->autonomous};
    result band = run(m, b, &b->P, o);
    CLAIM(rows <= 100 ? band.adjoint.stage_iterative == 0 : band.adjoint.stage_direct == 0);
    o.solver = COSTATE_LS_DENSE;
    result dense = run(m, b, &b->P, o);
    CLAIM(stages == 1 || dense.adjoint.stage_iterative > 0);
    CLAIM(stages > 1 || (dense.adjoint.stage_direct > 0 && band.adjoint.stage_direct > 0));
    problem_free(b);
}

int main(void)
{
    return run_by_method("Newton", newton) + run_by_method("estimator", estimator) +
           run_by_method("autonomous", autonomous) + run_by_method("differences", differences) +
           run_by_method("coloured Jacobian", coloured) + run_by_method("storage", storage) +
           run_by_method("factors", kept_factors) + run_by_method("direct or not", direct_or_not);
}
