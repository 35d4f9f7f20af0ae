/* test_wmethods.c - COSTATE_LS_PRECONDITIONER: W-methods whose matrix is the user's, whatever it is: their order,
   transposes, replays, second order, events, times, integrals, tapes; how often the matrix is set up; what is
   refused. */
#include <unistd.h>
#include "any_matrix.h"
#include "line_heat.h"

/* ---- the order, with a matrix that has nothing to do with f_y ---- */

static double error_with(const costate_method *m, const problem *b, double h, double *y)
{
    matrix P = {.n = b->P.n};
    const costate_preconditioner p = {.setup = setup, .solve = solve, .ctx = &P};
    const costate_options o = {.controller = COSTATE_FIXED, .h0 = h, .solver = COSTATE_LS_PRECONDITIONER,
                               .preconditioner = &p};
    double exact[MOST_N] = {0}, start[MOST_N] = {0};
    costate *c = costate_new(m, &b->P, &o);
    memcpy(start, b->y0, (size_t)b->P.n * sizeof *start);
    memcpy(y, start, sizeof start);
    CHECK_OK(c, costate_integrate(c, b->t0, b->t0 + 1, y, b->p0, NULL));
    assert_string_equal(costate_solver_name(c), "preconditioner");
    costate_free(c);
    c = costate_new(costate_method_find("verner98"), &b->P, &(costate_options){.rtol = 1e-13, .atol = 1e-13});
    memcpy(exact, start, sizeof start);
    CHECK_OK(c, costate_integrate(c, b->t0, b->t0 + 1, exact, b->p0, NULL));
    costate_free(c);
    return relative_gap(b->P.n + b->P.nq, y, exact);
}

static void order(void **state)
{
    const costate_method *m = *state;
    static const char *const names[] = {"lv", "detest_A3", "rotor"};
    if (!is_w(m)) skip();
    for (int k = 0; k < 3; k++) {
        const problem *b = problem_find(names[k]);
        double y[MOST_N], coarse = error_with(m, b, 0.02, y), fine = error_with(m, b, 0.01, y);
        double found = log2(coarse / fine);
        if (!(found > method_info(m).order - 0.4)) fail_msg("%s, %s: order %.2f", method_name(m), b->name, found);
    }
}

/* ---- derivatives, in all that runs can have ---- */

static costate_options options_of(const hybrid *h, int storage, const costate_preconditioner *p)
{
    return (costate_options){.rtol = 1e-4, .atol = 1e-4, .hmax = 0.15, .mode = h->mode, .storage = storage,
                             .solver = COSTATE_LS_PRECONDITIONER, .preconditioner = p};
}

static void derivatives(void **state)
{
    const costate_method *m = *state;
    const hybrid *h;
    if (!is_w(m)) skip();
    for (int k = 0; (h = hybrid_at(k)); k++)
        for (int storage = COSTATE_ALL_STAGES; storage <= COSTATE_CHECKPOINTS; storage++) {
            if (h->reference || h->form != HYBRID_ODE) continue;
            matrix P = {.n = h->n};
            const costate_preconditioner p = {.setup = setup, .solve = solve, .ctx = &P};
            session s = session_ran(m, h, options_of(h, storage, &p));
            inputs dx = random_inputs();
            outputs w = random_outputs(), dy = tangent(&s, &dx);
            inputs g = adjoint(&s, &w, s.c);
            say(&s, "gap of tangent and adjoint", gap_of(&s, &dx, &dy, &w, &g), 1e-13);
            double again[N_MOST];
            memcpy(again, s.y0, sizeof again);
            CHECK_OK(s.c, costate_replay(s.c, s.tape, again, h->p));
            assert_memory_equal(again, s.y, (size_t)s.N * sizeof *again);
            session_close(&s);
        }
}

static int weighted(double t1, const double *y, const double *p, int m, const double *V, const double *Vp,
                    double *lambda,
                    double *mu, double *lambda2, double *mu2, void *ctx)
{
    const int N = *(const int *)ctx;
    (void)t1, (void)p, (void)Vp, (void)mu, (void)mu2;
    for (int i = 0; i < N; i++) lambda[i] = y[i] + 0.3 * i;
    for (int i = 0; i < N * m; i++) lambda2[i] = V[i];
    return 0;
}

/* Taylor's formula and Hessian products of whole runs, with M, integrals, and t in f */
static void whole_runs(void **state)
{
    const costate_method *m = *state;
    if (!is_w(m)) skip();
    for (int mass = MASS_IDENTITY; mass <= MASS_REGULAR; mass++)
        for (int autonomous = 0; autonomous < 2; autonomous++) {
            const problem *b = problem_synthetic(mass, autonomous, 2, 2, 0);
            double mass_of[MOST_N * MOST_N] = {0}, y0[MOST_N] = {0};
            if (mass == MASS_REGULAR) assert_int_equal(b->P.mass(mass_of, b->P.ctx), 0);
            matrix P = {.n = b->P.n, .M = mass == MASS_REGULAR ? mass_of : NULL};
            const costate_preconditioner p = {.setup = setup, .solve = solve, .ctx = &P};
            const costate_options o = {.rtol = 1e-6, .atol = 1e-6, .solver = COSTATE_LS_PRECONDITIONER,
                                       .preconditioner = &p, .autonomous = autonomous, .cost_error = 1};
            costate *c = costate_new(m, &b->P, &o);
            costate_report r;
            int N = b->P.n + b->P.nq;
            memcpy(y0, b->y0, (size_t)b->P.n * sizeof *y0);
            CHECK_OK(c, costate_check_adjoint(c, b->t0, b->t1, y0, b->p0, &r));
            assert_true(r.transpose < 1e-13 && r.accuracy < 1e-2);
            CHECK_OK(c, costate_check_hessian(c, b->t0, b->t1, y0, b->p0, weighted, &N, &r));
            costate_free(c);
        }
}

/* the derivative by t1, for which the matrix is held, is y'(t1), in the order of the method */
static void by_t1(void **state)
{
    const costate_method *m = *state;
    const problem *b = problem_find("lv");
    if (!is_w(m)) skip();
    double gap[2];
    for (int k = 0; k < 2; k++) {
        matrix P = {.n = 2};
        const costate_preconditioner p = {.setup = setup, .solve = solve, .ctx = &P};
        const costate_options o = {.controller = COSTATE_FIXED, .h0 = k ? 0.01 : 0.02, .preconditioner = &p,
                                   .solver = COSTATE_LS_PRECONDITIONER};
        costate *c = costate_new(m, &b->P, &o);
        costate_tape *tape = costate_tape_new();
        double y[MOST_N] = {1, 1}, V[MOST_N] = {0}, one = 1, f[MOST_N];
        CHECK_OK(c, costate_integrate(c, 0, 1, y, b->p0, tape));
        costate_times t = {.t1 = &one};
        CHECK_OK(c, costate_tangent(c, tape, 1, V, NULL, &t, NULL));
        const costate_point end = {.t = 1, .y = y, .p = b->p0};
        b->P.rhs.value(&end, f, b->P.ctx);
        gap[k] = relative_gap(2, V, f);
        costate_tape_free(tape);
        costate_free(c);
    }
    if (!(gap[1] < 0.1 && gap[0] / gap[1] > pow(2, method_info(m).order - 1.4)))
        fail_msg("%s: %.2e, %.2e", method_name(m), gap[0], gap[1]);
}

/* a replay from elsewhere keeps the matrices, also where events and the end change lengths: gradients over its tape are
   those of its steps */
static void onto(void **state)
{
    const costate_method *m = *state;
    const hybrid *h;
    if (!is_w(m)) skip();
    for (int k = 0; (h = hybrid_at(k)); k++) {
        if (h->reference || h->form != HYBRID_ODE || hybrid_is_even(h)) continue;
        matrix P = {.n = h->n};
        const costate_preconditioner p = {.setup = setup, .solve = solve, .ctx = &P};
        session s = session_ran(m, h, options_of(h, 0, &p)), moved = s;
        moved.tape = costate_tape_new();
        double y[N_MOST];
        for (int i = 0; i < s.N; i++) y[i] = s.y0[i] + (i < h->n ? 1e-6 : 0);
        CHECK_OK(s.c, costate_replay_onto(s.c, s.tape, y, h->p, moved.tape));
        inputs dx = random_inputs();
        outputs w = random_outputs(), dy = tangent(&moved, &dx);
        inputs g = adjoint(&moved, &w, s.c);
        say(&moved, "gap over a replay", gap_of(&moved, &dx, &dy, &w, &g), 1e-13);
        /* differences of replays along y0[0], of the tape that the moved run wrote */
        double up[N_MOST], down[N_MOST], e = 1e-7, worst = 0;
        inputs one = {.V = {1}};
        outputs along = tangent(&moved, &one);
        for (int i = 0; i < s.N; i++) up[i] = down[i] = s.y0[i] + (i < h->n ? 1e-6 : 0);
        up[0] += e;
        down[0] -= e;
        CHECK_OK(s.c, costate_replay(s.c, moved.tape, up, h->p));
        CHECK_OK(s.c, costate_replay(s.c, moved.tape, down, h->p));
        for (int i = 0; i < s.N; i++) worst = fmax(worst, fabs((up[i] - down[i]) / (2 * e) - along.V[i]));
        say(&moved, "differences of replays", worst, 1e-5);
        costate_tape_free(moved.tape);
        session_close(&s);
    }
}

/* ---- the contract ---- */

/* set up when sigma changes: once for fixed steps, whatever sweeps follow, but again when another solver may have used
   it */
static void setups(void **state)
{
    (void)state;
    const problem *b = problem_find("lv");
    matrix P = {.n = b->P.n};
    const costate_preconditioner p = {.setup = setup, .solve = solve, .ctx = &P};
    const costate_options o = {.controller = COSTATE_FIXED, .h0 = 0.03125, .solver = COSTATE_LS_PRECONDITIONER,
                               .preconditioner = &p};
    costate *c = costate_new(costate_method_find("w6s4os"), &b->P, &o);
    costate_tape *tape = costate_tape_new();
    double y[MOST_N] = {0}, lambda[MOST_N] = {1}, mu[MOST_N] = {0};
    memcpy(y, b->y0, (size_t)b->P.n * sizeof *y);
    CHECK_OK(c, costate_integrate(c, 0, 1, y, b->p0, tape));
    assert_int_equal(P.setups, 1);
    assert_int_equal(costate_get_stats(c)->power, 16);                  /* pairs of products at the start */
    /* 13: its solves, and those of the fastest modes; 6: how exact it is on y', at steps 1 and 21 */
    assert_int_equal(P.solves, 32 * 6 + 13 + 6);
    assert_true(fabs(P.sigma - 4 / 0.03125) < 1e-9);
    CHECK_OK(c, costate_adjoint(c, tape, 1, lambda, mu, NULL, NULL));
    assert_int_equal(P.setups, 1);
    /* 4: transposes are compared; 20: how exact it is on lambda, at four steps */
    assert_int_equal(P.solves, 2 * 32 * 6 + 19 + 4 + 20);
    memcpy(y, b->y0, (size_t)b->P.n * sizeof *y);
    CHECK_OK(c, costate_replay(c, tape, y, b->p0));
    assert_int_equal(P.solves, 3 * 32 * 6 + 43);                        /* a replay measures nothing */
    assert_int_equal(P.setups, 2);
    CHECK_OK(c, costate_integrate(c, 0, 4, y, b->p0, NULL));            /* 128 steps: again after 50 and 100 */
    assert_int_equal(costate_get_stats(c)->power, 16 + 16 + 2 * 8);
    costate_tape_free(tape);
    costate_free(c);
}

static void refused(const char *method, costate_options o, int expected, const char *words)
{
    const problem *b = problem_find("lv");
    o.solver = COSTATE_LS_PRECONDITIONER;
    costate *c = costate_new(costate_method_find(method), &b->P, &o);
    if (costate_status(c) != expected || !strstr(costate_message(c), words)) fail_msg("%s: %s", words,
                                                                                      costate_message(c));
    costate_free(c);
}

static void refusals(void **state)
{
    (void)state;
    matrix P = {.n = 2};
    const costate_preconditioner p = {.setup = setup, .solve = solve, .ctx = &P}, none = {.setup = setup, .ctx = &P};
    refused("rodas4", (costate_options){.preconditioner = &p}, COSTATE_BAD_ARGUMENT, "rodas4 does not keep its order");
    refused("radau2a", (costate_options){.preconditioner = &p}, COSTATE_BAD_ARGUMENT, "radau2a does not keep its "
                                                                                      "order");
    refused("dopri5", (costate_options){.preconditioner = &p}, COSTATE_BAD_ARGUMENT, "dopri5 does not keep its order");
    refused("w6s4os", (costate_options){.solver = 0}, COSTATE_MISSING, "needs options.preconditioner");
    refused("w6s4os", (costate_options){.preconditioner = &none}, COSTATE_MISSING, "needs options.preconditioner");
    refused("w6s4os", (costate_options){.preconditioner = &p, .ilu = 1}, COSTATE_BAD_ARGUMENT, "options.ilu");
}

static int solve_many(int transpose, int count, double *X, void *ctx)
{
    matrix *P = ctx;
    int code = 0;
    for (int j = 0; j < count && !code; j++) code = solve(transpose, X + j * P->n, ctx);
    P->calls++;
    return code;
}

/* several columns in one call: three directions take six calls of a step, and the same bits; without solve, one column
   is a call of solves, too */
static void columns(void **state)
{
    (void)state;
    const problem *b = problem_find("lv");
    double V[3][6], lambda[3][6], y[3][2];
    costate_problem alone = b->P;
    alone.nq = 0;
    alone.cost = (costate_map){0};
    for (int k = 0; k < 3; k++) {
        matrix P = {.n = 2};
        const costate_preconditioner p = {.setup = setup, .solve = k < 2 ? solve : NULL, .ctx = &P,
                                          .solves = k > 0 ? solve_many : NULL};
        costate *c = costate_new(costate_method_find("w6s4os"), &alone, &(costate_options){
                                 .controller = COSTATE_FIXED, .h0 = 0.125, .solver = COSTATE_LS_PRECONDITIONER,
                                 .preconditioner = &p, .gradient_estimate = COSTATE_ESTIMATE_OFF});
        costate_tape *tape = costate_tape_new();
        const double start[] = {1, 0, 0, 1, 0.5, -0.25};
        memcpy(V[k], start, sizeof start);
        memcpy(lambda[k], start, sizeof start);
        y[k][0] = y[k][1] = 1;
        CHECK_OK(c, costate_integrate(c, 0, 1, y[k], b->p0, tape));
        int before = P.calls, solves = P.solves;
        assert_int_equal(before, k < 2 ? 0 : solves);
        CHECK_OK(c, costate_tangent(c, tape, 3, V[k], NULL, NULL, NULL));
        CHECK_OK(c, costate_adjoint(c, tape, 3, lambda[k], NULL, NULL, NULL));
        /* 4: transposes are compared, column by column */
        assert_int_equal(P.calls - before, k ? 2 * 8 * 6 + (k == 2) * 4 : 0);
        assert_int_equal(P.solves - solves, 3 * 2 * 8 * 6 + 4);
        assert_memory_equal(V[k], V[0], sizeof V[0]);
        assert_memory_equal(lambda[k], lambda[0], sizeof lambda[0]);
        assert_memory_equal(y[k], y[0], sizeof y[0]);
        P.code_at = P.solves + 5;
        P.code = -5;
        assert_int_equal(costate_adjoint(c, tape, 3, lambda[k], NULL, NULL, NULL), COSTATE_CALLBACK);
        assert_non_null(strstr(costate_message(c), k ? "The preconditioner's solves returned -5" :
                               "The preconditioner's solve returned -5"));
        costate_tape_free(tape);
        costate_free(c);
    }
}

/* options that are for GMRES change nothing; random tangents take part in the error test */
static void options(void **state)
{
    (void)state;
    const problem *b = problem_find("lv");
    double gradient[3][MOST_N] = {{0}};
    int steps[3];
    for (int k = 0; k < 3; k++) {
        matrix P = {.n = 2};
        const costate_preconditioner p = {.setup = setup, .solve = solve, .ctx = &P};
        costate *c = costate_new(costate_method_find("w6s4os"), &b->P,
                                 &(costate_options){.solver = COSTATE_LS_PRECONDITIONER,
                                 .preconditioner = &p, .krylov_tol = k == 1 ? 1e-4 : 0, .gradient_control = k == 2});
        costate_tape *tape = costate_tape_new();
        double y[MOST_N] = {1, 1}, *lambda = gradient[k];
        lambda[0] = 1;
        CHECK_OK(c, costate_integrate(c, 0, 5, y, b->p0, tape));
        CHECK_OK(c, costate_adjoint(c, tape, 1, lambda, NULL, NULL, NULL));
        steps[k] = costate_tape_steps(tape);
        costate_tape_free(tape);
        costate_free(c);
    }
    assert_memory_equal(gradient[0], gradient[1], 2 * sizeof(double));
    assert_true(steps[1] == steps[0] && steps[2] > steps[0]);
    assert_true(relative_gap(2, gradient[2], gradient[0]) < 1e-3);
}

/* a preconditioner that wants a smaller step, gives up, or returns NaN */
static void codes(void **state)
{
    (void)state;
    const problem *b = problem_find("lv");
    for (int code = -3; code <= 1; code += 4) {
        matrix P = {.n = 2, .code_at = 40, .code = code};
        const costate_preconditioner p = {.setup = setup, .solve = solve, .ctx = &P};
        costate *c = costate_new(costate_method_find("w6s4os"), &b->P, &(costate_options){
                                 .solver = COSTATE_LS_PRECONDITIONER, .preconditioner = &p});
        double y[MOST_N] = {1, 1};
        int status = costate_integrate(c, 0, 5, y, b->p0, NULL);
        assert_int_equal(status, code < 0 ? COSTATE_CALLBACK : COSTATE_OK);
        if (code < 0) assert_non_null(strstr(costate_message(c), "The preconditioner's solve returned -3"));
        else assert_true(costate_get_stats(c)->newton_failures == 1);
        costate_free(c);
    }
}

/* a solve that is not linear, or whose transpose is not its own by 1e-5, is found before a gradient is computed */
typedef struct { matrix P; int linear, transposed; } crooked;

static int crooked_setup(double sigma, const costate_point *x, void *ctx)
{
    return setup(sigma, x, &((crooked *)ctx)->P);
}

static int crooked_solve(int transpose, double *x, void *ctx)
{
    crooked *k = ctx;
    solve(transpose, x, &k->P);
    if (!k->linear) x[0] += 1e-5 * x[1] * x[1];
    if (!k->transposed && transpose) x[0] += 1e-5 * x[1];
    return 0;
}

static void wrong_solves(void **state)
{
    (void)state;
    const problem *b = problem_find("lv");
    for (int k = 0; k < 3; k++) {
        crooked wrong = {.P = {.n = 2}, .linear = k != 1, .transposed = k != 2};
        const costate_preconditioner p = {.setup = crooked_setup, .solve = crooked_solve, .ctx = &wrong};
        costate *c = costate_new(costate_method_find("w6s4os"), &b->P, &(costate_options){
                                 .solver = COSTATE_LS_PRECONDITIONER, .preconditioner = &p});
        costate_tape *tape = costate_tape_new();
        double y[MOST_N] = {1, 1}, lambda[MOST_N] = {1}, V[MOST_N] = {1};
        CHECK_OK(c, costate_integrate(c, 0, 1, y, b->p0, tape));
        CHECK_OK(c, costate_tangent(c, tape, 1, V, NULL, NULL, NULL));
        for (int again = 0; again < 2; again++) {
            int status = costate_adjoint(c, tape, 1, lambda, NULL, NULL, NULL);
            assert_int_equal(status, k ? COSTATE_BACKEND : COSTATE_OK);
            if (k) assert_non_null(strstr(costate_message(c), k == 1 ? "solve is not linear" : "is not the transpose"));
        }
        costate_tape_free(tape);
        costate_free(c);
    }
}

/* ---- the guard: heat on a line with a part of its Laplacian as W ---- */

enum { LINE = 30 };
/* turns_at: solves until it is less soft; times: the factor of its inverse, 0: 1 */
typedef struct { double part, sigma; int solves, turns_at; double times; } softened;

static int soft_setup(double sigma, const costate_point *x, void *ctx)
{
    (void)x;
    ((softened *)ctx)->sigma = sigma;
    return 0;
}

static int soft_solve(int transpose, double *x, void *ctx)
{
    softened *P = ctx;
    const double part = P->turns_at > 0 && ++P->solves > P->turns_at ? 0.7 : P->part;
    const double a = part * (LINE + 1) * (LINE + 1), b = P->sigma + 2 * a;
    double up[LINE];
    (void)transpose;
    up[0] = -a / b;
    x[0] /= b;
    for (int i = 1; i < LINE; i++) {
        double pivot = b + a * up[i - 1];
        up[i] = -a / pivot;
        x[i] = (x[i] + a * x[i - 1]) / pivot;
    }
    for (int i = LINE - 2; i >= 0; i--) x[i] -= up[i] * x[i + 1];
    for (int i = 0; P->times > 0 && i < LINE; i++) x[i] *= P->times;
    return 0;
}

typedef struct { char said[512]; double error; int status, steps, cuts; } soft_result;

/* a run with this part of the Laplacian, and its gradient of the first value */
static soft_result softened_run_from(double h0, const char *method, double part, int products, int stability)
{
    soft_result r = {.steps = 0};
    int points = LINE;
    softened s = {.part = part};
    const costate_preconditioner p = {.setup = soft_setup, .solve = soft_solve, .ctx = &s};
    costate_problem P = {.n = LINE, .ctx = &points, .rhs = {.value = line_heat, .adjoint = line_heat_adjoint}};
    if (products) P.rhs.tangent = line_heat_tangent;
    double y[LINE], g[LINE] = {1}, exact[LINE];
    line_heat_start(LINE, y);
    line_heat_exact(LINE, 0.3, exact);
    costate *c = costate_new(costate_method_find(method), &P, &(costate_options){.rtol = 1e-6, .atol = 1e-6,
                             .solver = COSTATE_LS_PRECONDITIONER, .preconditioner = &p, .autonomous = 1,
                             .stability = stability, .h0 = h0});
    costate_tape *tape = costate_tape_new();
    r.status = costate_integrate(c, 0, 0.3, y, NULL, tape);
    snprintf(r.said, sizeof r.said, "%s", costate_message(c));
    if (!r.status) CHECK_OK(c, costate_adjoint(c, tape, 1, g, NULL, NULL, NULL));
    r.error = relative_error(LINE, g, exact);
    r.steps = costate_tape_steps(tape);
    r.cuts = (int)costate_get_stats(c)->newton_failures;
    costate_tape_free(tape);
    costate_free(c);
    return r;
}

static soft_result softened_run(const char *method, double part, int products, int stability)
{
    return softened_run_from(0, method, part, products, stability);
}

static const struct { const char *method; double limit; } known[] = {{"w6s4os", 1.24}, {"ros34pw2", 1.62}};

static void says(soft_result r, int status, const char *words)
{
    if (r.status != status || !strstr(r.said, words)) fail_msg("%s: %s", words, r.said);
}

/* where h follows the error of y alone */
static void softness(void **state)
{
    (void)state;
    for (int k = 0; k < 2; k++) {
        const char *m = known[k].method;
        double limit = known[k].limit;
        soft_result r = softened_run(m, 1, 1, COSTATE_STABILITY_OFF);
        assert_true(r.error < 1e-3);
        says(r, COSTATE_OK, "No error.");
        says(softened_run(m, 5, 1, COSTATE_STABILITY_OFF), COSTATE_OK, "No error.");                    /* stiffer */
        says(softened_run(m, 1 / (0.9 * limit), 1, COSTATE_STABILITY_OFF), COSTATE_OK, "No error.");
        says(softened_run(m, 1 / (1.2 * limit), 1, COSTATE_STABILITY_OFF), COSTATE_OK,
             "Make the preconditioner stiffer.");
        says(softened_run(m, 1 / (1.2 * limit), 0, COSTATE_STABILITY_OFF), COSTATE_OK, "No error.");    /* unknown */
        says(softened_run(m, 1 / (3 * limit), 1, COSTATE_STABILITY_OFF), COSTATE_BACKEND,
             "The preconditioner is too soft for method");
    }
}

static double gamma_a(const char *method)              /* a: of the fastest mode */
{
    return 4.0 * (LINE + 1) * (LINE + 1) * (strcmp(method, "w6s4os") ? 0.43586652150845900 : 0.25);
}

/* h with (sigma + a)/(sigma + part a) = limit */
static double longest_h(const char *method, double limit, double part)
{
    return (limit - 1) / (1 - limit * part) / gamma_a(method);
}

/* Where it follows stability, too, the gradient is right however soft the matrix is: too soft by 10, 30, 60 % and by a
   factor of 4.  The h that is found is the one where x is the limit, or up to 3/(gamma a), where modes decay without W;
   and it is said that steps are so short. */
static void shortened(void **state)
{
    static const double soft[] = {1.1, 1.3, 1.6, 4};
    (void)state;
    for (int k = 0; k < 2; k++)
        for (int j = 0; j < 4; j++) {
            const char *m = known[k].method;
            double limit = known[k].limit, part = 1 / (soft[j] * limit), h = 0, exact = longest_h(m, limit, part);
            double least = 0.9 * longest_h(m, 1 + 0.9 * (limit - 1), part), most = fmax(1.02 * exact, 3 / gamma_a(m));
            soft_result r = softened_run(m, part, 1, COSTATE_STABILITY_ON);
            assert_true(r.status == COSTATE_OK && r.error < 1e-5);
            const char *at = strstr(r.said, "beyond ");
            if (k == 1 && j == 0) continue;             /* the error of y keeps h shorter */
            if (!at || sscanf(at, "beyond %lf", &h) != 1 || !(h > least && h < most))
                fail_msg("%s, %g: %.3g, not %.3g: %s", m, soft[j], h, exact, r.said);
            assert_true(r.steps < 0.3 / (0.9 * least));
            /* from an h that is a hundred times too long, the line through two measurements needs three cuts */
            soft_result far = softened_run_from(100 * exact, m, part, 1, COSTATE_STABILITY_ON);
            assert_true(far.status == COSTATE_OK && far.cuts <= 3);
            /* nor does an h that is a little too long make all steps much shorter */
            if (k == 0 && j == 1)
                assert_true(softened_run_from(1.2 * exact, m, part, 1, COSTATE_STABILITY_ON).steps < 200);
        }
}

/* y' = -a y without any matrix, P = sigma: an explicit method, stable for h a up to 3.4.  a = 20 with h = 0.08 does no
   harm, and nothing is said; with h = 0.25 it does.  P = sigma/1.3 is too soft for any h. */
static int softer_solve(int transpose, double *x, void *ctx)
{
    (void)transpose;
    x[0] *= 1.3 / *(double *)ctx;
    return 0;
}
static int scale_setup(double sigma, const costate_point *x, void *ctx) { return (void)x, *(double *)ctx = sigma, 0; }
static int scale_solve(int transpose, double *x, void *ctx) { return (void)transpose, x[0] /= *(double *)ctx, 0; }
static int decay(const costate_point *x, double *out, void *ctx) { return (void)ctx, out[0] = -20 * x->y[0], 0; }
static int decay_tangent(const costate_point *x, const costate_point *dx, double *out, void *ctx)
{
    (void)x, (void)ctx;
    out[0] = dx->y ? -20 * dx->y[0] : 0;
    return 0;
}

static void left_out(void **state)
{
    (void)state;
    for (int k = 0; k < 3; k++) {
        double sigma = 0, y = 1;
        const costate_preconditioner p = {.setup = scale_setup, .solve = k < 2 ? scale_solve : softer_solve,
                                          .ctx = &sigma};
        const costate_problem P = {.n = 1, .rhs = {.value = decay, .tangent = decay_tangent}};
        costate *c = costate_new(costate_method_find("w6s4os"), &P, &(costate_options){.preconditioner = &p,
                                 .solver = COSTATE_LS_PRECONDITIONER, .controller = COSTATE_FIXED,
                                 .h0 = k == 0 ? 0.08 : k == 1 ? 0.25 : 1e-4});
        CHECK_OK(c, costate_integrate(c, 0, k < 2 ? 1 : 0.01, &y, NULL, NULL));
        assert_true((strstr(costate_message(c), "Make the preconditioner stiffer") != NULL) == (k > 0));
        assert_true(k == 2 || (k ? fabs(y) > 1 : fabs(y) < 1e-3));
        costate_free(c);
    }
}

/* A splitting of sum_k rate_k in two, whose eigenvalues x fill the interval from 0 to 1: the largest ones are found
   slowly, and must not be overestimated. */
enum { SPLIT = 400 };
static double split_rate(int k) { return 20.0 * pow(1e5, (double)(k % 20) / 19); }
static double other_rate(int k) { return 20.0 * pow(1e5, (double)(k / 20) / 19); }

static int split_solve(int transpose, double *x, void *ctx)
{
    double sigma = *(double *)ctx;
    (void)transpose;
    for (int k = 0; k < SPLIT; k++) x[k] /= sigma * (1 + split_rate(k) / sigma) * (1 + other_rate(k) / sigma);
    return 0;
}

static int split_decay(const costate_point *x, double *out, void *ctx)
{
    (void)ctx;
    for (int k = 0; k < SPLIT; k++) out[k] = -(split_rate(k) + other_rate(k)) * x->y[k];
    return 0;
}

static int split_tangent(const costate_point *x, const costate_point *dx, double *out, void *ctx)
{
    const costate_point along = {.y = dx->y};
    (void)x;
    if (dx->y) return split_decay(&along, out, ctx);
    memset(out, 0, SPLIT * sizeof *out);
    return 0;
}

static void no_alarm(void **state)
{
    (void)state;
    int steps[2];
    for (int k = 0; k < 2; k++) {
        double sigma = 0, y[SPLIT];
        const costate_preconditioner p = {.setup = scale_setup, .solve = split_solve, .ctx = &sigma};
        const costate_problem P = {.n = SPLIT, .rhs = {.value = split_decay, .tangent = split_tangent}};
        for (int i = 0; i < SPLIT; i++) y[i] = 1;
        costate *c = costate_new(costate_method_find("w6s4os"), &P, &(costate_options){.preconditioner = &p,
                                 .solver = COSTATE_LS_PRECONDITIONER, .stability = k});
        CHECK_OK(c, costate_integrate(c, 0, 0.2, y, NULL, NULL));
        assert_string_equal(costate_message(c), "No error.");
        steps[k] = (int)costate_get_stats(c)->accepted;
        costate_free(c);
    }
    assert_int_equal(steps[0], steps[1]);
}

static int split_adjoint(const costate_point *x, const double *w, const costate_gradient *g, void *ctx)
{
    (void)x, (void)ctx;
    for (int k = 0; g->y && k < SPLIT; k++) g->y[k] -= (split_rate(k) + other_rate(k)) * w[k];
    return 0;
}

/* A splitting hardly damps the component that is fast in both parts.  Where y is slow and steps are few, a gradient
   with this component is wrong, and the run says so; with more steps it is right, and nothing is said. */
static void undamped(void **state)
{
    (void)state;
    static const char *const methods[] = {"w6s4os", "rodas4pw", "rosi2pw"};
    for (int m = 0; m < 3; m++)
        for (int k = 0; k < 2; k++) {
            double sigma = 0, y[SPLIT] = {1}, lambda[SPLIT];
            const costate_preconditioner p = {.setup = scale_setup, .solve = split_solve, .ctx = &sigma};
            const costate_problem P = {.n = SPLIT, .rhs = {.value = split_decay, .tangent = split_tangent,
                                                          .adjoint = split_adjoint}};
            costate *c = costate_new(costate_method_find(methods[m]), &P, &(costate_options){.preconditioner = &p,
                                     .solver = COSTATE_LS_PRECONDITIONER, .rtol = 1e-2, .atol = 1e-3,
                                     .hmax = k ? 5e-5 : 0});
            costate_tape *tape = costate_tape_new();
            CHECK_OK(c, costate_integrate(c, 0, 0.01, y, NULL, tape));
            for (int i = 0; i < SPLIT; i++) lambda[i] = 1;
            int remark = strstr(costate_message(c), "Fast modes") && strstr(costate_message(c), "shorter steps");
            CHECK_OK(c, costate_adjoint(c, tape, 1, lambda, NULL, NULL, NULL));
            double kept = fabs(lambda[SPLIT - 1]);              /* exp(-4e4) */
            if (!(k ? kept < 1e-9 && !remark : kept > 0.1 && remark))
                fail_msg("%s, %d: %.1e of the fastest component is kept, remark: %d", methods[m], k, kept, remark);
            costate_tape_free(tape);
            costate_free(c);
        }
}

static costate_problem line_problem(int *points)
{
    *points = LINE;
    return (costate_problem){.n = LINE, .ctx = points,
                             .rhs = {.value = line_heat, .tangent = line_heat_tangent, .adjoint = line_heat_adjoint}};
}

/* no h makes a matrix right that is three times too small; the next run knows nothing of this one */
static void hopeless(void **state)
{
    int points;
    softened s = {.part = 1, .times = 3};
    const costate_preconditioner p = {.setup = soft_setup, .solve = soft_solve, .ctx = &s};
    const costate_problem P = line_problem(&points);
    double y[LINE], again[LINE];
    (void)state;
    line_heat_start(LINE, y);
    costate *c = costate_new(costate_method_find("w6s4os"), &P, &(costate_options){.preconditioner = &p,
                             .solver = COSTATE_LS_PRECONDITIONER, .h0 = 0.1});
    assert_int_equal(costate_integrate(c, 0, 0.3, y, NULL, NULL), COSTATE_BACKEND);
    assert_non_null(strstr(costate_message(c), "is too soft for method w6s4os: the largest eigenvalue of P^-1 (sigma M "
                           "- f_y) is about 3 at"));
    assert_true(costate_get_stats(c)->steps <= 12);
    s.times = 0;
    s.part = 1 / (1.3 * 1.24);
    for (int k = 0; k < 2; k++) {
        double *to = k ? again : y;
        if (k) {
            costate_free(c);
            c = costate_new(costate_method_find("w6s4os"), &P, &(costate_options){.preconditioner = &p,
                            .solver = COSTATE_LS_PRECONDITIONER, .h0 = 0.1});
        }
        line_heat_start(LINE, to);
        CHECK_OK(c, costate_integrate(c, 0, 0.3, to, NULL, NULL));
    }
    assert_memory_equal(y, again, sizeof y);
    costate_free(c);
}

static int stops(const costate_step *step, void *ctx)
{
    int *left = ctx;
    (void)step;
    return --*left == 0;
}

/* a run that is stopped and resumed from a file knows how long steps may be: the same bits, also without a file */
static void resumed(void **state)
{
    int points;
    softened s = {.part = 1 / (1.3 * 1.24)};
    const costate_preconditioner p = {.setup = soft_setup, .solve = soft_solve, .ctx = &s};
    const costate_problem P = line_problem(&points);
    char path[64];
    (void)state;
    snprintf(path, sizeof path, "soft-%ld.tape", (long)getpid());
    for (int storage = COSTATE_ALL_STAGES; storage <= COSTATE_STATES_ONLY; storage++) {
        double y[3][LINE];
        int left = 60, steps[3];
        costate_options o = {.solver = COSTATE_LS_PRECONDITIONER, .preconditioner = &p, .storage = storage};
        for (int k = 0; k < 3; k++) {           /* without a file; with one; stopped and resumed */
            o.on_step = k == 2 ? stops : NULL;
            o.on_step_ctx = &left;
            costate *c = costate_new(costate_method_find("w6s4os"), &P, &o);
            costate_tape *tape = k ? costate_tape_open(path) : costate_tape_new();
            line_heat_start(LINE, y[k]);
            assert_int_equal(costate_integrate(c, 0, 0.3, y[k], NULL, tape), k == 2 ? COSTATE_STOPPED : COSTATE_OK);
            steps[k] = costate_tape_steps(tape);
            costate_tape_free(tape);
            costate_free(c);
        }
        o.on_step = NULL;
        costate *c = costate_new(costate_method_find("w6s4os"), &P, &o);
        costate_tape *tape = costate_tape_open(path);
        CHECK_OK(c, costate_resume(c, tape, y[2]));
        assert_int_equal(steps[0], steps[1]);
        assert_int_equal(costate_tape_steps(tape), steps[1]);
        assert_memory_equal(y[0], y[1], sizeof y[0]);
        assert_memory_equal(y[2], y[1], sizeof y[0]);
        costate_tape_free(tape);
        costate_free(c);
        remove(path);
    }
}

/* What is measured is the eigenvalue: of fixed steps (sigma + rho)/(sigma + part rho) with rho = 4 (LINE + 1)^2,
   nearly. The largest of the run counts, though the preconditioner is less soft later. */
static void measured(void **state)
{
    int points = LINE;
    softened s = {.part = 0.62, .turns_at = 13};
    const costate_preconditioner p = {.setup = soft_setup, .solve = soft_solve, .ctx = &s};
    const costate_problem P = {.n = LINE, .ctx = &points, .rhs = {.value = line_heat, .tangent = line_heat_tangent}};
    const costate_options o = {.controller = COSTATE_FIXED, .h0 = 0.02, .solver = COSTATE_LS_PRECONDITIONER,
                               .preconditioner = &p, .autonomous = 1};
    const double sigma = 4 / 0.02, rho = 4.0 * (LINE + 1) * (LINE + 1);
    double y[LINE], found = 0, exact = (sigma + rho) / (sigma + 0.62 * rho);
    (void)state;
    line_heat_start(LINE, y);
    costate *c = costate_new(costate_method_find("w6s4os"), &P, &o);
    CHECK_OK(c, costate_integrate(c, 0, 1.2, y, NULL, NULL));
    const char *at = strstr(costate_message(c), "was about ");
    if (!at || sscanf(at, "was about %lf", &found) != 1 || fabs(found / exact - 1) > 0.03)
        fail_msg("%.3f, not %.3f: %s", exact, found, costate_message(c));
    costate_free(c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(setups), cmocka_unit_test(refusals), cmocka_unit_test(codes),
        cmocka_unit_test(options), cmocka_unit_test(columns), cmocka_unit_test(wrong_solves),
        cmocka_unit_test(softness), cmocka_unit_test(shortened), cmocka_unit_test(left_out),
        cmocka_unit_test(no_alarm), cmocka_unit_test(undamped), cmocka_unit_test(hopeless),
        cmocka_unit_test(resumed), cmocka_unit_test(measured)
    };
    return cmocka_run_group_tests(tests, NULL, NULL) + run_by_method("order", order) +
           run_by_method("derivatives", derivatives) + run_by_method("whole_runs", whole_runs) +
           run_by_method("by_t1", by_t1) + run_by_method("onto", onto);
}
