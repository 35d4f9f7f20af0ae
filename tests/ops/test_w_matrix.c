/* test_w_matrix.c - problem.jac_is_w: W-methods whose matrix W is given by its entries do what they do with a
   preconditioner that solves with the same matrix; how often W is formed and factored; what is refused. */
#include "any_matrix.h"

/* ---- the same matrix in two ways ---- */

enum { WHOLE = MOST_N * MOST_N };

/* the pattern of a full matrix; room: for n = MOST_N at most */
typedef struct { int col[MOST_N + 1], row[WHOLE]; costate_pattern pattern; } full;

static const costate_pattern *full_pattern(int n, full *room)
{
    for (int j = 0; j <= n; j++) room->col[j] = j * n;
    for (int k = 0; k < n * n; k++) room->row[k] = k % n;
    room->pattern = (costate_pattern){n, room->col, room->row};
    return &room->pattern;
}

static int any_n;               /* of the problem at hand */

static int any_w(const costate_point *x, double *J, void *ctx)
{
    (void)x, (void)ctx;
    for (int j = 0; j < any_n; j++)
        for (int i = 0; i < any_n; i++) J[j * any_n + i] = W(i, j);
    return 0;
}

static costate_problem with_w(costate_problem P)
{
    any_n = P.n;
    P.jac = any_w;
    P.jac_is_w = 1;
    return P;
}

static void close_to(const session *s, const char *what, size_t count, const double *a, const double *b)
{
    double most = 0, gap = 0;
    for (size_t i = 0; i < count; i++) {
        most = fmax(most, fabs(b[i]));
        gap = larger_of(gap, fabs(a[i] - b[i]));
    }
    say(s, what, gap, 1e-10 * most);
}

static void compare(const costate_method *m, const hybrid *h, const costate_options *with, const costate_pattern *a)
{
    matrix K = {.n = h->n};
    const costate_preconditioner p = {.setup = setup, .solve = solve, .ctx = &K};
    costate_options o = *with;
    o.solver = COSTATE_LS_PRECONDITIONER;
    o.preconditioner = &p;
    session one = session_ran(m, h, o), two = one;
    two.P = with_w(hybrid_problem(h));
    two.P.pattern = a;
    two.o = *with;
    two.c = new_for_test(m, &two.P, with);
    two.tape = costate_tape_new();
    memcpy(two.y, two.y0, sizeof two.y);
    CHECK_OK(two.c, costate_integrate(two.c, h->t0, h->t1, two.y, h->p, two.tape));
    assert_int_equal(costate_tape_steps(two.tape), costate_tape_steps(one.tape));
    close_to(&two, "y", (size_t)two.N, two.y, one.y);
    inputs dx = random_inputs();
    outputs w = random_outputs(), dy = tangent(&two, &dx), dy1 = tangent(&one, &dx);
    inputs g = adjoint(&two, &w, two.c), g1 = adjoint(&one, &w, one.c);
    close_to(&two, "tangents", (size_t)(M * two.N), dy.V, dy1.V);
    close_to(&two, "tangents of the end", M, dy.end, dy1.end);
    for (int k = 0; k < two.events; k++)
        close_to(&two, "tangents that are seen", (size_t)(M * h->n), dy.seen[k], dy1.seen[k]);
    close_to(&two, "gradients", sizeof g / sizeof(double), (double *)&g, (double *)&g1);
    say(&two, "gap of tangent and adjoint", gap_of(&two, &dx, &dy, &w, &g), 1e-13);
    double again[N_MOST];
    memcpy(again, two.y0, sizeof again);
    CHECK_OK(two.c, costate_replay(two.c, two.tape, again, h->p));
    assert_memory_equal(again, two.y, (size_t)two.N * sizeof *again);
    session_close(&two);
    session_close(&one);
}

static void same_as_preconditioner(void **state)
{
    static const int solvers[] = {COSTATE_LS_AUTO, COSTATE_LS_DENSE, COSTATE_LS_BAND, COSTATE_LS_SPARSE};
    const costate_method *m = *state;
    const hybrid *h;
    full room;
    if (!is_w(m)) skip();
    for (int k = 0; (h = hybrid_at(k)); k++)
        for (int turn = 0; turn < 4 * 3 * 2; turn++) {
            int solver = turn % 4, storage = turn / 4 % 3, keeps = turn / 12;
            if (h->reference || h->form != HYBRID_ODE || hybrid_is_even(h)) continue;
            costate_options o = {.rtol = 1e-4, .atol = 1e-4, .hmax = 0.15, .mode = h->mode, .storage = storage,
                                 .solver = solvers[solver], .keep_factors = keeps ? 1 : -1};
            compare(m, h, &o, solver > 1 ? full_pattern(h->n, &room) : NULL);
        }
}

/* ---- W is formed once, and factored when h changes ---- */

typedef struct { costate *c; costate_tape *tape; double y[MOST_N], lambda[MOST_N], mu[MOST_N]; } lv_run;

static lv_run lv_ran(const costate_problem *P, const char *method, const costate_options *o, double t1, const double *p)
{
    lv_run r = {costate_new(costate_method_find(method), P, o), costate_tape_new(), {1, 1}, {1, 0.5}, {0}};
    CHECK_OK(r.c, costate_integrate(r.c, 0, t1, r.y, p, r.tape));
    return r;
}

static void lv_sweep(lv_run *r, const costate_tape *tape)
{
    const double seed[] = {1, 0.5};
    memset(r->lambda, 0, sizeof r->lambda);
    memset(r->mu, 0, sizeof r->mu);
    memcpy(r->lambda, seed, sizeof seed);
    CHECK_OK(r->c, costate_adjoint(r->c, tape, 1, r->lambda, r->mu, NULL, NULL));
}

static void lv_close(lv_run *r)
{
    costate_tape_free(r->tape);
    costate_free(r->c);
}

/* 10 steps of 0.1, the last of which differs by round-off; a sweep forms W once more and factors it once, or not at all
   if the tape keeps it */
static void counts(void **state)
{
    const problem *b = problem_find("lv");
    const costate_problem P = with_w(b->P);
    (void)state;
    for (int keep = -1; keep < 2; keep += 2) {
        const costate_options o = {.controller = COSTATE_FIXED, .h0 = 0.1, .keep_factors = keep};
        lv_run r = lv_ran(&P, "w6s4os", &o, 1, b->p0);
        const costate_stats *count = costate_get_stats(r.c);
        double last, h = 0;
        costate_tape_get(r.tape, 9, NULL, &last, NULL);
        costate_tape_get(r.tape, 0, NULL, &h, NULL);
        assert_true(last != h && fabs(last - h) < 1e-15);
        assert_int_equal(count->accepted, 10);
        assert_int_equal(count->jac, 1);
        assert_int_equal(count->decompositions, 1);
        assert_int_equal(count->factors_kept, keep > 0);
        assert_int_equal(count->factors_not_kept, 0);
        lv_sweep(&r, r.tape);
        assert_int_equal(count->decompositions, 1);
        costate_options other = o;
        lv_run s = lv_ran(&P, "w6s4os", &other, 0.5, b->p0);
        lv_sweep(&s, r.tape);                                    /* another solver forms its own */
        assert_int_equal(costate_get_stats(s.c)->jac, 2);
        assert_int_equal(costate_get_stats(s.c)->decompositions, 2);
        assert_memory_equal(s.lambda, r.lambda, sizeof s.lambda);
        lv_close(&r);
        lv_close(&s);
    }
}

/* h is kept, and with it the factors, where it would change by less than a fifth: options.q_max */
static void keeps_h(void **state)
{
    const problem *b = problem_find("lv");
    const costate_problem P = with_w(b->P);
    (void)state;
    for (int kept = 0; kept < 2; kept++) {
        const costate_options o = {.rtol = 1e-7, .atol = 1e-7, .q_min = 1, .q_max = kept ? 1.2 : 1,
                                   .keep_factors = 1};
        lv_run r = lv_ran(&P, "w6s4os", &o, 10, b->p0);
        const costate_stats *count = costate_get_stats(r.c);
        assert_int_equal(count->jac, 1);
        if (kept) assert_true(count->decompositions < 0.8 * count->steps);
        else assert_true(count->decompositions > 0.9 * count->steps);
        long before = count->decompositions;
        lv_sweep(&r, r.tape);                                       /* the tape has them all */
        assert_int_equal(count->decompositions, before);
        lv_close(&r);
    }
}

/* ---- W depends on p ---- */

static int w_of_p(const costate_point *x, double *J, void *ctx)
{
    (void)ctx;
    for (int k = 0; k < 4; k++) J[k] = -x->p[0] * (k % 3 == 0);
    return 0;
}

static void of_parameters(void **state)
{
    const problem *b = problem_find("lv");
    costate_problem P = b->P;
    const costate_options o = {.rtol = 1e-5, .atol = 1e-5, .controller = COSTATE_FIXED, .h0 = 0.125};
    double p[MOST_N], at_once[MOST_N], at_once_p[MOST_N];
    (void)state;
    P.jac = w_of_p;
    P.jac_is_w = 1;
    memcpy(p, b->p0, (size_t)P.np * sizeof *p);
    p[0] *= 5;
    lv_run r = lv_ran(&P, "ros34pw2", &o, 1, b->p0), s = lv_ran(&P, "ros34pw2", &o, 1, p);
    assert_true(fabs(r.y[0] - s.y[0]) > 1e-3);
    lv_sweep(&r, r.tape);
    memcpy(at_once, r.lambda, sizeof at_once);
    memcpy(at_once_p, r.mu, sizeof at_once_p);
    lv_sweep(&r, s.tape);                               /* of other parameters, with the same h */
    lv_sweep(&r, r.tape);
    assert_memory_equal(at_once, r.lambda, sizeof at_once);
    assert_memory_equal(at_once_p, r.mu, sizeof at_once_p);
    lv_close(&r);
    lv_close(&s);
}

/* ---- what is refused ---- */

static void refused(const char *method, const costate_problem *P, costate_options o, int expected, const char *words)
{
    costate *c = costate_new(costate_method_find(method), P, &o);
    if (costate_status(c) != expected || !strstr(costate_message(c), words))
        fail_msg("%s: %d %s", words, costate_status(c), costate_message(c));
    costate_free(c);
}

static int singular_mass(double *entries, void *ctx)
{
    (void)ctx;
    entries[0] = 1;
    return 0;
}

static void refusals(void **state)
{
    (void)state;
    const costate_options none = {0};
    costate_problem P = with_w(problem_find("lv")->P), without = P, bad = P, singular = P;
    without.jac = NULL;
    bad.jac_is_w = 2;
    singular.mass = singular_mass;
    refused("rodas4", &P, none, COSTATE_BAD_ARGUMENT, "problem.jac_is_w = 1: method rodas4 does not keep its order");
    refused("radau2a", &P, none, COSTATE_BAD_ARGUMENT, "problem.jac_is_w = 1: method radau2a does not keep");
    refused("tsit5", &P, none, COSTATE_BAD_ARGUMENT, "problem.jac_is_w = 1: method tsit5 does not keep its order");
    refused("w6s4os", &P, (costate_options){.solver = COSTATE_LS_GMRES}, COSTATE_BAD_ARGUMENT, "COSTATE_LS_GMRES "
            "solves with products of f_y, not with W");
    refused("w6s4os", &without, none, COSTATE_MISSING, "problem.jac, which returns W, is missing");
    refused("w6s4os", &bad, none, COSTATE_BAD_ARGUMENT, "problem.jac_is_w = 2: it is 0 or 1.");
    refused("w6s4os", &singular, none, COSTATE_BAD_ARGUMENT, "The mass matrix is singular: W-methods");
}

/* products that are missing are not taken from W */
static void no_products(void **state)
{
    costate_problem P = with_w(problem_find("lv")->P);
    (void)state;
    P.rhs.adjoint = NULL;
    P.rhs.adjoints = NULL;
    lv_run r = lv_ran(&P, "w6s4os", NULL, 1, problem_find("lv")->p0);
    assert_int_equal(costate_adjoint(r.c, r.tape, 1, r.lambda, NULL, NULL, NULL), COSTATE_MISSING);
    assert_non_null(strstr(costate_message(r.c), "rhs.adjoint is missing"));
    lv_close(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(counts), cmocka_unit_test(keeps_h),
                                       cmocka_unit_test(of_parameters), cmocka_unit_test(refusals),
                                       cmocka_unit_test(no_products)};
    return cmocka_run_group_tests(tests, NULL, NULL) +
           run_by_method("same_as_preconditioner", same_as_preconditioner);
}
