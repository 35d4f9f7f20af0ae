/* test_options_steps.c - the options of step sizes, tolerances and output do what their comments say. */
#include "solver/solver.h"     /* before cmocka, which has a macro fail */
#include "common.h"

enum { ROOM = 4096 };

typedef struct { int count; double t[ROOM], h[ROOM], end[8], t0, t1; costate_stats stats; } record_of;

static record_of run(const costate_method *m, const problem *b, double t1, costate_options o)
{
    record_of r = {.t0 = b->t0, .t1 = t1};
    costate *c = costate_new(m, &b->P, &o);
    costate_tape *tape = costate_tape_new();
    memcpy(r.end, b->y0, (size_t)b->P.n * sizeof *r.end);
    CHECK_OK(c, costate_integrate(c, b->t0, t1, r.end, b->p0, tape));
    r.count = costate_tape_steps(tape);
    assert_true(r.count > 0 && r.count < ROOM);
    for (int k = 0; k < r.count; k++) costate_tape_get(tape, k, &r.t[k], &r.h[k], NULL);
    r.stats = *costate_get_stats(c);
    costate_free(c);
    costate_tape_free(tape);
    return r;
}

static double error(const problem *b, const record_of *r)
{
    double exact[8], most = 0;
    problem_exact(b, r->t0, b->y0, b->p0, r->t1, exact, NULL, NULL, NULL, NULL);
    for (int i = 0; i < b->P.n; i++) most = larger_of(most, fabs(exact[i] - r->end[i]));
    return most;
}

#define CLAIM(x) do { if (!(x)) fail_msg("%s: not so: %s", method_name(m), #x); } while (0)

/* h0, hmin, hmax, COSTATE_FIXED */
static void sizes(void **state)
{
    NEEDS_ESTIMATE(*state);
    const costate_method *m = *state;
    const problem *b = problem_find("rotor");
    double span = b->t1 - b->t0;
    record_of r = run(m, b, b->t1, (costate_options){.hmax = span / 50.5, .rtol = 0.01, .atol = 0.01});
    for (int k = 0; k < r.count; k++) CLAIM(r.h[k] <= span / 50.5 * (1 + 1e-7));
    CLAIM(r.count >= 51);
    r = run(m, b, b->t1, (costate_options){.h0 = 1e-5, .rtol = 0.01, .atol = 0.01});
    CLAIM(r.h[0] == 1e-5);
    r = run(m, b, b->t0 + 0.2, (costate_options){.h0 = 10, .rtol = 1, .atol = 100,
                                                .stability = COSTATE_STABILITY_OFF});
    CLAIM(r.count == 1 && r.h[0] == b->t0 + 0.2 - b->t0);
    r = run(m, b, b->t1, (costate_options){.controller = COSTATE_FIXED, .h0 = span / 40.5, .rtol = 1e-12, .atol = 1e-12,
                                           .derivative_mode = 1});
    CLAIM(r.count == 41 && r.stats.rejected == 0);
    for (int k = 0; k < 40; k++) CLAIM(r.h[k] == span / 40.5);
    CLAIM(fabs(r.h[40] - span / 81) < 1e-12);
    /* hmin holds for all but the last, wherever t1 lies: two steps that halve what is left may not fall below it */
    for (int part = 1; part < 12; part++) {
        r = run(m, b, b->t0 + 0.02 + 0.004 * part, (costate_options){
            .h0 = 0.01, .hmin = 0.01, .hmax = 0.01, .rtol = 0.1, .atol = 0.1});
        for (int k = 0; k < r.count - 1; k++) CLAIM(r.h[k] >= 0.01 * (1 - 1e-9));
    }
}

/* safety, fac_max, controllers */
static void controlled(void **state)
{
    NEEDS_ESTIMATE(*state);
    const costate_method *m = *state;
    const problem *b = problem_find("rotor");
    int order = method_info(m).order;
    double tol = order <= 2 ? 1e-4 : 1e-6, bound = 50 * pow(tol, order / (order + 1.0));
    record_of r = run(m, b, b->t1, (costate_options){.rtol = tol, .atol = tol}), s;
    s = run(m, b, b->t1, (costate_options){.rtol = tol, .atol = tol, .safety = 0.4});
    CLAIM(s.count > r.count && error(b, &s) <= bound);
    s = run(m, b, b->t1, (costate_options){.rtol = tol, .atol = tol, .h0 = 1e-6, .fac_max = 1.5});
    for (int k = 1; k < s.count; k++) CLAIM(s.h[k] <= 1.5 * s.h[k - 1] * (1 + 1e-7));
    CLAIM(s.h[s.count / 2] > 1e-5);
    for (int controller = COSTATE_AUTO; controller <= COSTATE_GUSTAFSSON; controller++) {
        s = run(m, b, b->t1, (costate_options){.rtol = tol, .atol = tol, .controller = controller});
        CLAIM(error(b, &s) <= bound);
        CLAIM(s.stats.rejected <= s.stats.accepted + 5);
        int pi = method_info(m).family == COSTATE_ERK || (is_composite(m) && begins_explicit(m));   /* nothing stiff */
        if (controller == (pi ? COSTATE_PI : COSTATE_GUSTAFSSON))
            CLAIM(memcmp(s.end, r.end, sizeof s.end) == 0);
    }
    /* fac_min and fac_reject: how far a rejection may go */
    s = run(m, b, b->t1, (costate_options){.rtol = tol, .atol = tol, .h0 = 1.5, .hmax = 1.5, .fac_min = 0.9,
                                           .fac_reject = 0.85, .max_steps = 3000,
                                           .stability = COSTATE_STABILITY_OFF});
    CLAIM(s.stats.rejected > 3);
    CLAIM(s.h[0] >= 1.5 * pow(0.45, (double)s.stats.rejected));
}

static void tolerances(void **state)
{
    NEEDS_ESTIMATE(*state);
    const costate_method *m = *state;
    const problem *b = problem_find("rotor");
    /* where the error test, not Newton, limits steps */
    double tol = method_info(m).order < 5 ? 1e-4 : 1e-8, same[] = {tol, tol}, one_loose[] = {tol, 1e-1};
    record_of scalar = run(m, b, b->t1, (costate_options){.rtol = tol, .atol = tol});
    record_of vector = run(m, b, b->t1, (costate_options){.rtol = tol, .atol_vector = same});
    CLAIM(memcmp(scalar.end, vector.end, sizeof scalar.end) == 0);
    vector = run(m, b, b->t1, (costate_options){.rtol_vector = same, .atol_vector = same});
    CLAIM(memcmp(scalar.end, vector.end, sizeof scalar.end) == 0);
    record_of loose = run(m, b, b->t1, (costate_options){.rtol = 1e-2, .atol = 1e-2});
    vector = run(m, b, b->t1, (costate_options){.rtol_vector = one_loose, .atol_vector = one_loose});
    /* of two paths, one may need a step more to end at t1 */
    CLAIM(loose.count <= scalar.count && vector.count <= scalar.count + 2);
    CLAIM(error(b, &scalar) < error(b, &loose));
}

/* ---- what enters the error norm ---------------------------------------------------------------------------------- */

/* y' = 0, q' = 20 cos 20 t: only the integral says anything about steps */
static int still(const costate_point *x, double *out, void *ctx) { (void)x, (void)ctx; out[0] = 0; return 0; }
static int still_tangent(const costate_point *x, const costate_point *d, double *out, void *ctx)
{
    (void)d;
    return still(x, out, ctx);
}
static int wave(const costate_point *x, double *out, void *ctx) { (void)ctx; out[0] = 20 * cos(20 * x->t); return 0; }
static int wave_tangent(const costate_point *x, const costate_point *d, double *out, void *ctx)
{
    (void)ctx;
    out[0] = -400 * sin(20 * x->t) * d->t;
    return 0;
}

static void cost_error(void **state)
{
    NEEDS_ESTIMATE(*state);
    const costate_method *m = *state;
    const double y0[] = {1};
    const costate_problem P = {.n = 1, .nq = 1, .jac = still, .rhs = {.value = still, .tangent = still_tangent},
                               .cost = {.value = wave, .tangent = wave_tangent}};
    const problem b = {.name = "wave", .y0 = y0, .P = P};
    int order = method_info(m).order;
    double tol = order <= 2 ? 1e-3 : 1e-5;
    record_of without = run(m, &b, 2, (costate_options){.rtol = tol, .atol = tol}),
              with = run(m, &b, 2, (costate_options){.rtol = tol, .atol = tol, .cost_error = 1});
    CLAIM(without.count < with.count);
    CLAIM(fabs(with.end[1] - sin(40)) <= 100 * pow(tol, order / (order + 1.0)));
}

static void tangent_error(void **state)
{
    const costate_method *m = *state;
    const problem *b = problem_find("rotor");
    long steps[2];
    for (int with = 0; with < 2; with++) {
        costate *c = new_for_test(m, &b->P, &(costate_options){.rtol = 1e-3, .atol = 1e-3, .tangent_error = with});
        double y[3] = {b->y0[0], b->y0[1]}, V[6] = {100, 0, 0, 0, 100, 0};
        CHECK_OK(c, costate_integrate_tlm(c, b->t0, b->t1, y, b->p0, 2, V, NULL, NULL, NULL));
        steps[with] = costate_get_stats(c)->accepted;
        costate_free(c);
    }
    CLAIM(steps[1] >= steps[0]);
}

/* ---- on_step ----------------------------------------------------------------------------------------------------- */

typedef struct { int calls; double last, y[ROOM][3], t[ROOM]; } seen;

static int look(const costate_step *s, void *ctx)
{
    seen *v = ctx;
    double a = costate_step_start(s), e = costate_step_end(s), y[2], outside[2] = {7, 7};
    assert_true(a == v->last && e > a && v->calls < ROOM);
    v->last = e;
    v->t[v->calls] = a + 0.37 * (e - a);
    assert_int_equal(costate_step_eval(s, v->t[v->calls], v->y[v->calls]), COSTATE_OK);
    assert_int_equal(costate_step_eval(s, e, y), COSTATE_OK);
    assert_memory_equal(y, costate_step_state(s), sizeof y);
    assert_int_equal(costate_step_eval(s, e + 1e-6, outside), COSTATE_OUT_OF_RANGE);
    assert_int_equal(costate_step_eval(s, a - 1e-6, outside), COSTATE_OUT_OF_RANGE);
    assert_int_equal(costate_step_eval(s, NAN, outside), COSTATE_OUT_OF_RANGE);
    assert_int_equal(costate_step_eval(s, e, NULL), COSTATE_BAD_ARGUMENT);
    assert_true(outside[0] == 7);
    v->calls++;
    return 0;
}

static void on_step(void **state)
{
    const costate_method *m = *state;
    const problem *b = problem_find("rotor");
    static seen v;
    v = (seen){.last = b->t0};
    costate *c = new_for_test(m, &b->P, &(costate_options){.rtol = 1e-3, .atol = 1e-3, .on_step = look,
                                                           .on_step_ctx = &v});
    costate_tape *tape = costate_tape_new();
    double y[3] = {b->y0[0], b->y0[1]}, at[2];
    CHECK_OK(c, costate_integrate(c, b->t0, b->t1, y, b->p0, tape));
    CLAIM(v.last == b->t1 && v.calls == costate_tape_steps(tape));
    for (int k = 0; k < v.calls; k++) {
        CHECK_OK(c, costate_tape_eval(c, tape, v.t[k], at));
        assert_memory_equal(at, v.y[k], sizeof at);
    }
    costate_free(c);
    costate_tape_free(tape);
}

int main(void)
{
    return run_by_method("h0, hmin, hmax, fixed", sizes) + run_by_method("control", controlled) +
           run_by_method("tolerances", tolerances) + run_by_method("cost_error", cost_error) +
           run_by_method("tangent_error", tangent_error) + run_by_method("on_step", on_step);
}
