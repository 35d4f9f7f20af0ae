/* test_statuses.c - every status is reached, has its name and a sentence, and leaves what the header says: the last
   accepted state, the time, and a tape that no sweep accepts. */
#include "common.h"
#include "formula.h"
#include <costate/linsol.h>

typedef struct { const problem *b; costate *c; costate_tape *tape; double y[5]; } world;

static world open_world(const costate_method *m, const problem *b, const costate_problem *P, costate_options o)
{
    if (o.rtol == 0) o.rtol = o.atol = 1e-4;
    world w = {.b = b, .c = new_for_test(m, P ? P : &b->P, &o), .tape = costate_tape_new()};
    memcpy(w.y, b->y0, (size_t)b->P.n * sizeof *w.y);
    return w;
}

static int run(world *w) { return costate_integrate(w->c, w->b->t0, w->b->t1, w->y, w->b->p0, w->tape); }

/* the claim about one failed call */
static void expect(world *w, int got, int wanted, const char *words)
{
    const char *message = costate_message(w->c);
    if (got != wanted || costate_status(w->c) != wanted)
        fail_msg("wanted %s, got %s: %s", costate_status_name(wanted), costate_status_name(got), message);
    if (strlen(message) < 20 || !strchr(".)?", message[strlen(message) - 1]) || !strstr(message, words))
        fail_msg("no sentence with \"%s\": %s", words, message);
    for (int i = 0; i < 5; i++) assert_true(isfinite(w->y[i]));
}

/* a tape without a step is refused */
static void no_sweeps(world *w)
{
    double x[5] = {1};
    assert_int_equal(costate_tape_steps(w->tape), 0);
    expect(w, costate_adjoint(w->c, w->tape, 1, x, NULL, NULL, NULL), COSTATE_BAD_TAPE, "no step");
    expect(w, costate_tangent(w->c, w->tape, 1, x, NULL, NULL, NULL), COSTATE_BAD_TAPE, "no step");
    expect(w, costate_replay(w->c, w->tape, x, w->b->p0), COSTATE_BAD_TAPE, "no step");
    expect(w, costate_tape_eval(w->c, w->tape, w->b->t0, x), COSTATE_BAD_TAPE, "no step");
}

static void close_world(world *w)
{
    costate_free(w->c);
    costate_tape_free(w->tape);
}

static int stop_at(const costate_step *s, void *ctx)
{
    double *seen = ctx;                                     /* time, state */
    seen[0] = costate_step_end(s);
    memcpy(seen + 1, costate_step_state(s), 5 * sizeof *seen);
    return costate_step_start(s) > 0.5;
}

/* every method: limits of the run */
static void runs(void **state)
{
    NEEDS_ESTIMATE(*state);
    const problem *b = problem_synthetic(MASS_IDENTITY, 0, 2, 2, 0);
    double seen[6];
    world w = open_world(*state, b, NULL, (costate_options){.max_steps = 3, .hmax = 0.01});
    expect(&w, run(&w), COSTATE_MAX_STEPS, "max_steps");
    assert_true(costate_get_stats(w.c)->steps == 3 && costate_time(w.c) > 0.3 && costate_time(w.c) < 0.34);
    close_world(&w);

    w = open_world(*state, b, NULL, (costate_options){.hmin = 0.4, .h0 = 0.5, .rtol = 1e-12, .atol = 1e-12,
                                                      .derivative_mode = 1});
    expect(&w, run(&w), COSTATE_STEP_TOO_SMALL, "error test");
    assert_true(costate_time(w.c) == 0.3 && memcmp(w.y, b->y0, 3 * sizeof *w.y) == 0);
    no_sweeps(&w);
    close_world(&w);

    w = open_world(*state, b, NULL, (costate_options){.hmax = 0.05, .on_step = stop_at, .on_step_ctx = seen});
    expect(&w, run(&w), COSTATE_STOPPED, "on_step");
    assert_true(costate_time(w.c) == seen[0] && seen[0] < 0.61 && memcmp(w.y, seen + 1, sizeof w.y) == 0);
    close_world(&w);

    w = open_world(*state, b, NULL, (costate_options){.hmax = 0.001, .tape_limit = 20000});
    expect(&w, run(&w), COSTATE_TAPE_LIMIT, "tape_limit");
    assert_true(costate_tape_bytes(w.tape) <= 20000 && costate_tape_steps(w.tape) > 5);
    assert_true(costate_get_stats(w.c)->tape_bytes == costate_tape_bytes(w.tape));
    close_world(&w);

    w = open_world(*state, b, NULL, (costate_options){.hmax = 0});
    no_sweeps(&w);                                          /* never written */
    CHECK_OK(w.c, run(&w));
    expect(&w, costate_tape_eval(w.c, w.tape, 0.29, w.y), COSTATE_OUT_OF_RANGE, "0.29");
    expect(&w, costate_tape_eval(w.c, w.tape, NAN, w.y), COSTATE_OUT_OF_RANGE, "nan");
    assert_true(costate_time(w.c) == b->t1);
    close_world(&w);
}

static int value_zero(const costate_point *x, double *out, void *ctx)
{
    (void)x, (void)ctx;
    memset(out, 0, 3 * sizeof *out);
    return 0;
}

static void other_tapes(void **state)
{
    const problem *b = problem_synthetic(MASS_IDENTITY, 0, 2, 2, 0);
    double x[5] = {0};
    world w = open_world(*state, b, NULL, (costate_options){0});
    CHECK_OK(w.c, run(&w));
    costate_problem P[4] = {b->P, b->P, b->P, problem_synthetic(MASS_IDENTITY, 1, 2, 2, 0)->P};
    P[0].rhs.value = value_zero;
    P[1].nq = 1;
    P[2].np = 1;
    for (int k = 0; k < 4; k++) {
        world v = open_world(*state, b, &P[k], (costate_options){0});
        expect(&v, costate_adjoint(v.c, w.tape, 1, x, NULL, NULL, NULL), COSTATE_BAD_TAPE, "problem");
        expect(&v, costate_tangent(v.c, w.tape, 1, x, NULL, NULL, NULL), COSTATE_BAD_TAPE, "problem");
        expect(&v, costate_replay(v.c, w.tape, x, b->p0), COSTATE_BAD_TAPE, "problem");
        expect(&v, costate_tape_eval(v.c, w.tape, 0.5, x), COSTATE_BAD_TAPE, "problem");
        close_world(&v);
    }
    world v = open_world(*state == (const void *)costate_method_at(0) ? costate_method_at(1) : costate_method_at(0), b,
                         NULL, (costate_options){0});
    expect(&v, costate_adjoint(v.c, w.tape, 1, x, NULL, NULL, NULL), COSTATE_BAD_TAPE, "method");
    close_world(&v);
    close_world(&w);
}

/* ---- linear algebra: a backend that does what it is told ------------------------------------------------- */

static int init_code, factor_code;
static int odd_init(void **self, int n, const costate_pattern *p, int is_complex, const void *like)
{
    (void)self, (void)n, (void)p, (void)is_complex, (void)like;
    return init_code;
}
static int odd_factor(void *self, const double *A) { (void)self, (void)A; return factor_code; }
static int odd_solve(void *self, int transpose, int nrhs, double *X)
{
    (void)self, (void)transpose, (void)nrhs, (void)X;
    return COSTATE_LS_OK;
}
static void odd_free(void *self) { (void)self; }
static const costate_backend odd = {.name = "odd", .dense = 1, .init = odd_init, .factor = odd_factor,
                                    .solve = odd_solve, .free = odd_free};

static int wrong_jac(const costate_point *x, double *J, void *ctx)
{
    (void)x, (void)ctx;
    memset(J, 0, 9 * sizeof *J);
    J[0] = J[4] = J[8] = 5;
    return 0;
}
static int wrong_tangent(const costate_point *x, const costate_point *dx, double *out, void *ctx)
{
    int r = formula_rhs_tangent(x, dx, out, ctx);
    if (dx->y) out[0] += 1000 * dx->y[0];
    return r;
}

static void implicit(void **state)
{
    const costate_method *m = *state;
    const problem *b = problem_synthetic(MASS_IDENTITY, 0, 2, 2, 0);
    int irk = is_newton(m) || is_composite(m);
    const char *members = newton_members(m);          /* explicit ones would take the steps that fail */
    if (is_explicit(m)) return;
    init_code = COSTATE_LS_UNSUPPORTED;
    world w = open_world(m, b, NULL, (costate_options){.backend = &odd, .members = members});
    expect(&w, costate_status(w.c), COSTATE_BACKEND, "odd");
    close_world(&w);
    init_code = COSTATE_LS_OK;
    const struct { int code, status; } table[] = {
        {COSTATE_LS_FAILED, COSTATE_BACKEND}, {COSTATE_LS_NO_MEMORY, COSTATE_NO_MEMORY},
        {COSTATE_LS_SINGULAR, COSTATE_SINGULAR}};
    for (int k = 0; k < 3; k++) {
        factor_code = table[k].code;
        w = open_world(m, b, NULL, (costate_options){.backend = &odd, .members = members});
        expect(&w, run(&w), table[k].status, k == 2 ? "singular" : "odd");
        no_sweeps(&w);
        close_world(&w);
    }
    if (!irk) return;
    costate_problem P = b->P;
    P.jac = wrong_jac;
    w = open_world(m, b, &P, (costate_options){.h0 = 0.3, .hmin = 0.2, .members = members});
    expect(&w, run(&w), COSTATE_NEWTON, "Newton");
    close_world(&w);
    P = b->P;
    P.rhs.tangent = wrong_tangent;
    w = open_world(m, b, &P, (costate_options){.h0 = 0.1, .stage_solve = COSTATE_STAGE_DIRECT,
                                                 .members = members});
    CHECK_OK(w.c, run(&w));
    expect(&w, costate_tangent(w.c, w.tape, 1, w.y, NULL, NULL, NULL), COSTATE_STAGNATED, "jac");
    close_world(&w);
}

static void names(void **state)
{
    static const struct { int status; const char *name; } table[] = {
#define S(x) {x, #x}
        S(COSTATE_OK), S(COSTATE_BAD_ARGUMENT), S(COSTATE_MISSING), S(COSTATE_NO_MEMORY), S(COSTATE_BACKEND),
        S(COSTATE_MAX_STEPS), S(COSTATE_STEP_TOO_SMALL), S(COSTATE_SINGULAR), S(COSTATE_NEWTON), S(COSTATE_CALLBACK),
        S(COSTATE_NOT_FINITE), S(COSTATE_TAPE_LIMIT), S(COSTATE_BAD_TAPE), S(COSTATE_STOPPED), S(COSTATE_STAGNATED),
        S(COSTATE_OUT_OF_RANGE), S(COSTATE_CHECK_FAILED), S(COSTATE_INCONSISTENT)};
    (void)state;
    for (size_t k = 0; k < sizeof table / sizeof *table; k++)
        assert_string_equal(costate_status_name(table[k].status), table[k].name);
    const int strange[] = {1, -100, 1000, -2147483647 - 1, 2147483647};
    for (int k = 0; k < 5; k++)
        assert_true(strlen(costate_status_name(strange[k])) > 3 &&
                    strncmp(costate_status_name(strange[k]), "COSTATE", 7) != 0);
}

int main(void)
{
    const struct CMUnitTest once[] = {cmocka_unit_test(names)};
    return run_by_method("limits of a run", runs) + run_by_method("tapes of others", other_tapes) +
           run_by_method("failures of implicit methods", implicit) + cmocka_run_group_tests(once, NULL, NULL);
}
