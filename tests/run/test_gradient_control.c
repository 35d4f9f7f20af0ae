/* test_gradient_control.c - tangents along random directions in the error test: errors of gradients are proportional to
   rtol, in all families and forms of problems; the tangents of the user, tapes, resumed and continued runs. */
#include <unistd.h>
#include "hybrid_sweeps.h"
#include "daes.h"
#include "line_heat.h"
#include "swe.h"

#define CLAIM(x) do { if (!(x)) fail_msg("%s: not so: %s", method_name(m), #x); } while (0)

enum { SIDE = 16, LONGEST = 3 * SIDE * SIDE };

/* ---- shallow water: the gradient of one cell ---- */

static int gradient(const costate_method *m, const costate_problem *P, const swe *s, costate_options o, double *g)
{
    static double y[LONGEST];
    costate *c = costate_new(m, P, &o);
    costate_tape *tape = costate_tape_new();
    swe_initial(s, y);
    memset(g, 0, LONGEST * sizeof *g);
    g[0] = 1;
    CHECK_OK(c, costate_integrate(c, 0, 0.2, y, NULL, tape));
    CHECK_OK(c, costate_adjoint(c, tape, 1, g, NULL, NULL, NULL));
    int steps = costate_tape_steps(tape);
    costate_tape_free(tape);
    costate_free(c);
    return steps;
}

/* 30 rtol, asked for explicit methods; the reference: verner98 at 1e-12 */
static void shallow_water(void **state)
{
    static const char *const names[] = {"dopri5", "bs54", "tsit5", "verner76", "rodas4", "sdirk4a", "rock4"};
    static double exact[LONGEST], g[LONGEST];
    swe *s = swe_new(SIDE, SIDE);
    costate_problem P = *swe_problem(s);
    (void)state;
    gradient(costate_method_find("verner98"), &P, s, (costate_options){.rtol = 1e-12, .atol = 1e-12, .autonomous = 1},
             exact);
    for (int k = 0; k < 7; k++)
        for (double rtol = 1e-3; rtol > (k < 4 ? 5e-8 : 5e-5); rtol /= 10) {
            const costate_method *m = costate_method_find(names[k]);
            costate_options o = {.rtol = rtol, .atol = rtol, .autonomous = 1, .gradient_control = 1};
            gradient(m, &P, s, o, g);
            double error = relative_error(LONGEST, g, exact);
            if (!(error <= 30 * rtol)) fail_msg("%s, rtol %g: %.2e", names[k], rtol, error);
        }
    swe_free(s);
}

/* ---- undamped methods: u_t = u_xx, the gradient of one component ---- */

enum { POINTS = 50 };

static int linear(const costate_point *x, const costate_point *a, const costate_point *b, double *out, void *ctx)
{
    (void)x, (void)a, (void)b;
    memset(out, 0, (size_t)*(int *)ctx * sizeof *out);
    return 0;
}
static int linear_adjoint(const costate_point *x, const costate_point *a, const double *w, const costate_gradient *g,
                          void *ctx)
{
    return (void)x, (void)a, (void)w, (void)g, (void)ctx, 0;
}

/* said: the message of the run, or NULL */
static double heat_error_said(const costate_method *m, double rtol, int directions, char *said)
{
    const double t1 = 0.3;
    int points = POINTS;
    costate_problem P = {.n = POINTS, .jac = line_heat_jac, .ctx = &points,
                         .rhs = {line_heat, line_heat_tangent, line_heat_adjoint, .tangent2 = linear,
                                 .adjoint_tangent = linear_adjoint}};
    costate_options o = {.rtol = rtol, .atol = rtol, .autonomous = 1, .gradient_control = directions};
    double y[POINTS], g[POINTS] = {1}, exact[POINTS];
    line_heat_start(POINTS, y);
    line_heat_exact(POINTS, t1, exact);
    costate *c = costate_new(m, &P, &o);
    costate_tape *tape = costate_tape_new();
    CHECK_OK(c, costate_integrate(c, 0, t1, y, NULL, tape));
    if (said) snprintf(said, 512, "%s", costate_message(c));
    CHECK_OK(c, costate_adjoint(c, tape, 1, g, NULL, NULL, NULL));
    costate_tape_free(tape);
    costate_free(c);
    return relative_error(POINTS, g, exact);
}

static double heat_error(const costate_method *m, double rtol, int directions)
{
    return heat_error_said(m, rtol, directions, NULL);
}

static void undamped(void **state)
{
    static const char *const names[] = {"gauss2", "gauss3"};
    (void)state;
    for (int k = 0; k < 2; k++) {
        const costate_method *m = costate_method_find(names[k]);
        CLAIM(heat_error(m, 1e-5, 0) > 1);
        CLAIM(heat_error(m, 1e-5, 1) < 1e-3);
    }
    for (int k = 0; k < 3; k++) {
        const costate_method *m = costate_method_find(k == 0 ? "rock4" : k == 1 ? "radau2a" : "kvaerno54");
        double error = heat_error(m, 1e-5, 1), bound = k == 0 ? heat_error(m, 1e-5, 0) / 20 : 1e-3;
        if (!(error < bound)) fail_msg("%s %.2e, bound %.2e", method_name(m), error, bound);
    }
}

/* the method that is damped for gradients: the gradient is as right as y, whose slowest mode decays by exp(-pi^2 t) */
static void damped(void **state)
{
    (void)state;
    const costate_method *m = costate_method_find("rkc2d");
    CLAIM(heat_error(m, 1e-3, 0) < 0.02);
    CLAIM(heat_error(m, 1e-4, 0) < 0.005);
    CLAIM(heat_error(m, 1e-5, 0) < 0.0012);
    m = costate_method_find("rkc2");
    CLAIM(heat_error(m, 1e-3, 0) > 1);
}

/* A run with a tape says so where its steps keep fast modes, and not where a gradient is right to 1e-4: each
   method at 1e-3 and 1e-5. */
static void remarks(void **state)
{
    const costate_method *m = *state;
    char said[512];
    NEEDS_ESTIMATE(m);
    for (double rtol = 1e-3; rtol > 1e-6; rtol /= 100) {
        double error = heat_error_said(m, rtol, 0, said);
        int remarked = strstr(said, "gradients contain these modes") != NULL;
        if (remarked ? error < 1e-4 : error > 0.5) fail_msg("%s, rtol %.0e: error %.1e: %s", method_name(m), rtol,
                                                            error, said);
        if (!remarked) continue;
        heat_error_said(m, rtol, 1, said);
        CLAIM(strcmp(said, "No error.") == 0 || strstr(said, "at the highest degree"));     /* gradient_control */
        CLAIM(strstr(said, "keep up to") == NULL);
    }
}

/* ---- all families and forms, all events: transposes, tapes, replays ---- */

static void sweeps(void **state)
{
    const costate_method *m = *state;
    const hybrid *h;
    if (!method_info(m).embedded) skip();
    for (int k = 0; (h = hybrid_at(k)); k++)
        for (int variant = 0; variant < 2 && !h->reference && hybrid_takes(m, h); variant++) {
            costate_options o = {.rtol = 1e-4, .atol = 1e-4, .hmax = 0.15, .mode = h->mode,
                                 .gradient_control = 1 + variant, .storage = variant};
            if (is_newton(m)) o.stage_solve = COSTATE_STAGE_DIRECT;
            if (h->form != HYBRID_ODE) o.consistent = 1 + 2 * variant;
            session s = session_ran(m, h, o), all = session_with_stages(&s);
            say(&s, "gap", session_gap(&s), 1e-12 * amplified(&s));
            session_close(&all);
            session_close(&s);
        }
}

/* Steps up to a given time, after an event at a guard has given the tangents a derivative of the time: with methods of
   low order, estimates of algebraic components would not fall with h. */
static void up_to_given_times(void **state)
{
    static const char *const names[] = {"lobatto3c2", "radau1a2"};
    for (int k = 0; k < 2; k++) {
        void *m = (void *)(uintptr_t)costate_method_find(names[k]);
        sweeps(&m);
    }
    (void)state;
}

/* Constraints that the start meets: the random tangents begin along them, or no step would be small enough. */
static void constrained(void **state)
{
    const costate_method *m = *state;
    const problem *b;
    if (!method_info(m).embedded) skip();
    for (int k = 0; (b = problem_synthetic_at(k)); k++) {
        int N = b->P.n + b->P.nq, steps[2];
        if (!method_takes(m, b->mass)) continue;
        for (int with = 0; with < 2; with++) {
            costate_options o = {.rtol = 1e-4, .atol = 1e-4, .gradient_control = with, .autonomous = b->autonomous};
            costate *c = costate_new(m, &b->P, &o);
            double y[8] = {0};
            assert_true(N <= 8);
            memcpy(y, b->y0, (size_t)b->P.n * sizeof *y);
            CHECK_OK(c, costate_integrate(c, b->t0, b->t1, y, b->p0, NULL));
            steps[with] = (int)costate_get_stats(c)->accepted;
            costate_free(c);
        }
        CLAIM(steps[1] <= 6 * steps[0] + 10);
    }
}

static void residuals(void **state)
{
    const costate_method *m = *state;
    const dae *b;
    if (!method_info(m).embedded) skip();
    for (int k = 0; (b = dae_at(k)); k++) {
        if (!dae_takes(m, b)) continue;
        costate_problem P = dae_problem(b, 1);
        int steps[2];
        for (int with = 0; with < 2; with++) {
            costate_options o = {.rtol = 1e-4, .atol = 1e-4, .gradient_control = with};
            costate *c = costate_new(m, &P, &o);
            double y[DAE_N + 1] = {0};
            dae_start(b, b->p, y, NULL);
            CHECK_OK(c, costate_integrate(c, 0, b->T, y, b->p, NULL));
            steps[with] = (int)costate_get_stats(c)->accepted;
            costate_free(c);
        }
        CLAIM(steps[1] <= 6 * steps[0] + 10);
    }
}

/* ---- with tangents of the user: the same steps, and theirs those of a sweep ---- */

static void beside_tangents(void **state)
{
    const costate_method *m = *state;
    const problem *b = problem_synthetic(MASS_IDENTITY, 0, 2, 2, 0);
    if (!method_info(m).embedded) skip();
    int N = b->P.n + b->P.nq;
    double y[2][8] = {{0}}, V[2][16] = {{0}}, Vp[4] = {1, 0.5, -1, 2};
    unsigned seed = 3;
    for (int k = 0; k < 2; k++) for (int i = 0; i < b->P.n; i++) V[0][k * N + i] = random_in(&seed);
    memcpy(V[1], V[0], sizeof V[0]);
    costate_options o = {.rtol = 1e-5, .atol = 1e-5, .gradient_control = 2};
    costate *c = costate_new(m, &b->P, &o);
    costate_tape *tape[] = {costate_tape_new(), costate_tape_new()};
    for (int k = 0; k < 2; k++) memcpy(y[k], b->y0, (size_t)b->P.n * sizeof **y);
    CHECK_OK(c, costate_integrate(c, b->t0, b->t1, y[0], b->p0, tape[0]));
    CHECK_OK(c, costate_integrate_tlm(c, b->t0, b->t1, y[1], b->p0, 2, V[0], Vp, NULL, tape[1]));
    CLAIM(memcmp(y[0], y[1], sizeof y[0]) == 0);
    CLAIM(costate_tape_steps(tape[0]) == costate_tape_steps(tape[1]));
    CHECK_OK(c, costate_tangent(c, tape[0], 2, V[1], Vp, NULL, NULL));
    CLAIM(relative_gap(2 * N, V[0], V[1]) <= 1e-12);
    for (int k = 0; k < 2; k++) costate_tape_free(tape[k]);
    costate_free(c);
}

/* ---- resumed from a file: the bits of the run that was not stopped ---- */

static int stops(const costate_step *s, void *ctx) { return (void)s, --*(int *)ctx == 0; }

static void resumed(void **state)
{
    const costate_method *m = *state;
    const problem *b = problem_synthetic(MASS_IDENTITY, 0, 2, 2, 0);
    char path[64];
    if (!method_info(m).embedded) skip();
    snprintf(path, sizeof path, "gradient-control-%ld.tape", (long)getpid());
    for (int storage = COSTATE_ALL_STAGES; storage <= COSTATE_STATES_ONLY; storage++) {
        double y[2][8] = {{0}};
        int left[] = {-1, 4}, steps = 0;
        for (int k = 0; k < 2; k++) {
            costate_options o = {.rtol = 1e-6, .atol = 1e-6, .gradient_control = 1, .storage = storage,
                                 .on_step = stops, .on_step_ctx = &left[k]};
            if (is_newton(m)) o.stage_solve = COSTATE_STAGE_DIRECT;
            memcpy(y[k], b->y0, (size_t)b->P.n * sizeof **y);
            costate *c = costate_new(m, &b->P, &o);
            costate_tape *tape = costate_tape_open(path);
            int status = costate_integrate(c, b->t0, b->t1, y[k], b->p0, tape);
            CLAIM(status == (k ? COSTATE_STOPPED : COSTATE_OK));
            if (k == 0) steps = costate_tape_steps(tape);
            costate_tape_free(tape);
            costate_free(c);
            if (k == 0) continue;
            left[k] = -1;
            c = costate_new(m, &b->P, &o);
            tape = costate_tape_open(path);
            CHECK_OK(c, costate_resume(c, tape, y[k]));
            CLAIM(costate_tape_steps(tape) == steps);
            costate_tape_free(tape);
            costate_free(c);
        }
        CLAIM(memcmp(y[0], y[1], sizeof y[0]) == 0);
        remove(path);
    }
}

/* ---- what is refused ---- */

static void refused(void **state)
{
    const costate_method *m = costate_method_find("dopri5");
    const problem *b = problem_find("lv");
    costate_problem P = b->P;
    double y[4] = {b->y0[0], b->y0[1]};                     /* with q */
    (void)state;
    P.rhs.tangent = NULL;
    P.rhs.tangents = NULL;
    P.jac = NULL;
    costate *c = costate_new(m, &P, &(costate_options){.gradient_control = 1});
    CLAIM(costate_integrate(c, 0, 1, y, b->p0, NULL) == COSTATE_MISSING && strstr(costate_message(c), "rhs.tangent"));
    costate_free(c);
    c = costate_new(m, &b->P, &(costate_options){.gradient_control = 1, .controller = COSTATE_FIXED, .h0 = 0.1});
    CLAIM(costate_status(c) == COSTATE_BAD_ARGUMENT && strstr(costate_message(c), "options.gradient_control"));
    costate_free(c);
    for (int residual = 0; residual < 2; residual++) {
        const problem *singular = problem_synthetic(MASS_SINGULAR, 1, 0, 0, 0);
        const dae *of_residual = dae_at(0);
        costate_problem Q = residual ? dae_problem(of_residual, 1) : singular->P;
        double z[DAE_N + 1] = {0};
        if (residual) dae_start(of_residual, of_residual->p, z, NULL);
        else memcpy(z, singular->y0, (size_t)Q.n * sizeof *z);
        c = costate_new(costate_method_find("radau2a"), &Q,
                        &(costate_options){.gradient_control = 1, .solver = COSTATE_LS_GMRES});
        CLAIM(costate_integrate(c, singular->t0, singular->t1, z, residual ? of_residual->p : NULL, NULL) ==
              COSTATE_BAD_ARGUMENT && strstr(costate_message(c), "it needs a matrix"));
        costate_free(c);
    }
    c = costate_new(m, &b->P, &(costate_options){.gradient_control = -1});
    CLAIM(costate_status(c) == COSTATE_BAD_ARGUMENT && strstr(costate_message(c), "options.gradient_control"));
    costate_free(c);
}

static int decay(const costate_point *x, double *f, void *ctx) { f[0] = -*(double *)ctx * x->y[0]; return 0; }
static int decay_jac(const costate_point *x, double *J, void *ctx) { return (void)x, J[0] = -*(double *)ctx, 0; }

/* What a remark says that fast modes keep is what they do: y of y' = -a y itself, after three steps of one length.  No
   remark where less than 1e-4 is kept, of slow modes, and of methods with R(infinity) = 0, with which z = 1e9 leaves
   none. */
static void kept(void **state)
{
    static const double rates[] = {0.01, 1, 3, 10, 40, 1e3, 1e9};       /* h times the rate */
    const costate_method *m = *state;
    costate_method_info info = method_info(m);
    if (info.family == COSTATE_ERK || info.family == COSTATE_RKC) skip();
    for (int k = 0; k < 7; k++) {
        double h = 0.5, a = rates[k] / h, y = 1, said = 0, z = 0;
        const costate_problem P = {.n = 1, .ctx = &a, .rhs = {.value = decay}, .jac = decay_jac};
        costate *c = costate_new(m, &P, &(costate_options){.controller = COSTATE_FIXED, .h0 = h, .derivative_mode = 1,
                                 .autonomous = 1});
        costate_tape *tape = costate_tape_new();
        CHECK_OK(c, costate_integrate(c, 0, 3 * h, &y, NULL, tape));
        const char *at = strstr(costate_message(c), "h times their rate up to ");
        int remarked = at && sscanf(at, "h times their rate up to %lf) keep %lf", &z, &said) == 2;
        int expected = info.r_infinity != 0 && fabs(y) > 1e-4 && exp(-3 * h * a) < 0.1 * fabs(y);
        if (remarked != expected) fail_msg("%s, h a = %g: y %.3e: %s", method_name(m), rates[k], y, costate_message(c));
        if (remarked && !(fabs(said / fabs(y) - 1) < 0.06 && fabs(z / rates[k] - 1) < 0.06))
            fail_msg("%s, h a = %g: y %.3e: %s", method_name(m), rates[k], y, costate_message(c));
        costate_tape_free(tape);
        costate_free(c);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(shallow_water), cmocka_unit_test(undamped),
                                       cmocka_unit_test(damped),
                                       cmocka_unit_test(up_to_given_times), cmocka_unit_test(refused)};
    return cmocka_run_group_tests_name("gradient_control", tests, NULL, NULL) + run_by_kind("sweeps", sweeps) +
           run_by_kind("remarks", remarks) + run_by_kind("kept", kept) +
           run_by_kind("constrained", constrained) +
           run_by_kind("residuals", residuals) + run_by_kind("beside_tangents", beside_tangents) +
           run_by_kind("resumed", resumed);
}
