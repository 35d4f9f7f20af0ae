/* test_residual.c - F(t, y, y', p) = 0 by every method that takes it: the runs of M y' = f, and exact derivatives.

   Each synthetic problem, plain and twisted (residual.h), dense and sparse, x every sdirk and firk method x storage x
   {direct, iterative} x {1, 3 columns} x backends, Jacobians given and formed; times and integrals always on. */
#include "transpose.h"
#include "residual.h"
#include <costate/linsol.h>

enum { N_MOST = GAP_N };

static int takes_residuals(const costate_method *m, int mass)
{
    costate_method_info i = method_info(m);
    return (is_newton(m) || is_composite(m)) && !(i.properties & COSTATE_EXPLICIT_FIRST) && method_takes(m, mass);
}

/* a poor one, sigma alone: what it is called with is what matters here */
typedef struct { int n; double sigma; } divisor;
static int divide_setup(double sigma, const costate_point *x, void *ctx)
{
    ((divisor *)ctx)->sigma = x->yp ? sigma : NAN;
    return 0;
}
static int divide(int transposed, double *x, void *ctx)
{
    (void)transposed;
    const divisor *d = ctx;
    for (int i = 0; i < d->n; i++) x[i] /= d->sigma;
    return 0;
}

/* GMRES by turns without a preconditioner, with that one, and with the incomplete LU */
static void choose_preconditioner(costate_options *o, int turn, const costate_preconditioner *own)
{
    if (o->solver != COSTATE_LS_GMRES) return;
    if (turn == 1) o->preconditioner = own;
    if (turn == 2 && costate_backend_find("ilu")) o->ilu = 1;
}

static void transpose(void **state)
{
    const costate_method *m = *state;
    static const int solver[] = {COSTATE_LS_DENSE, COSTATE_LS_BAND, COSTATE_LS_UMFPACK, COSTATE_LS_SUPERLU,
                                 COSTATE_LS_KLU, COSTATE_LS_SPARSE, COSTATE_LS_GMRES};
    static const char *const built[] = {"dense", "band", "umfpack", "superlu", "klu", "sparse", "gmres"};
    const problem *of;
    for (int k = 0; (of = problem_synthetic_at(k)); k++) {
        if (!takes_residuals(m, of->mass)) continue;
        for (int kind = 0; kind < 2; kind++) {
            problem *b = residual_of(of, kind, k & 1);
            assert_non_null(b);
            for (int variant = 0; variant < 16; variant++) {
                int l = variant % 6;
                if (skipped(k + kind + variant + turn_of(m), 5)) continue;
                costate_options o = {.rtol = 1e-3, .atol = 1e-3, .hmax = 0.25, .storage = variant & 1,
                                     .keep_factors = variant >> 1 & 1, .autonomous = b->autonomous && kind == 0,
                                     .stage_solve = COSTATE_STAGE_DIRECT + (variant >> 2 & 1)};
                if (b->P.pattern && (l == 5 || costate_backend_find(built[l]))) o.solver = solver[l];
                divisor d = {b->P.n, NAN};
                const costate_preconditioner own = {.setup = divide_setup, .solve = divide, .ctx = &d};
                choose_preconditioner(&o, (k + variant / 6) % 3, &own);
                transposed_run run = {m, &b->P, b->t0, b->t1, b->y0, b->p0, o, variant & 8 ? 3 : 1, NULL};
                double gap = transpose_gap(&run);
                if (!(gap <= 1e-12)) fail_msg("%s, %s, kind %d, variant %d: gap %.2e", method_name(m), b->name, kind,
                                              variant, gap);
            }
            residual_free(b);
        }
    }
}

/* Exact against frozen steps: costate_check_adjoint's Taylor test of the whole run. */
static void taylor(void **state)
{
    const costate_method *m = *state;
    const problem *of;
    for (int k = 0; (of = problem_synthetic_at(k)); k++) {
        if (!takes_residuals(m, of->mass)) continue;
        problem *b = residual_of(of, RESIDUAL_TWISTED, 0);
        costate_options o = {.rtol = 1e-4, .atol = 1e-4, .derivative_mode = 1};
        costate *c = new_for_test(m, &b->P, &o);
        costate_report r;
        double y[N_MOST] = {0};
        memcpy(y, b->y0, (size_t)b->P.n * sizeof *y);
        int status = costate_check_adjoint(c, b->t0, b->t1, y, b->p0, &r);
        if (status != COSTATE_OK) fail_msg("%s, %s: %s", method_name(m), b->name, r.text);
        costate_free(c);
        residual_free(b);
    }
}

/* F = M y' - f gives what M y' = f gives: both follow the same solution to the tolerance. */
static void same_run(void **state)
{
    const costate_method *m = *state;
    const problem *of;
    for (int k = 0; (of = problem_synthetic_at(k)); k++) {
        if (!takes_residuals(m, of->mass)) continue;
        double end[3][N_MOST] = {{0}};
        for (int kind = -1; kind < 2; kind++) {
            problem *b = kind < 0 ? NULL : residual_of(of, kind, 1);
            const problem *run = b ? b : of;
            costate_options o = {.rtol = 1e-7, .atol = 1e-7};
            costate *c = new_for_test(m, &run->P, &o);
            memcpy(end[kind + 1], run->y0, (size_t)run->P.n * sizeof(double));
            CHECK_OK(c, costate_integrate(c, run->t0, run->t1, end[kind + 1], run->p0, NULL));
            costate_free(c);
            residual_free(b);
        }
        for (int kind = 1; kind < 3; kind++)
            for (int i = 0; i < of->P.n + of->P.nq; i++) {
                double d = fabs(end[kind][i] - end[0][i]);
                if (!(d <= 2e-5 * (1 + fabs(end[0][i]))))
                    fail_msg("%s, %s, kind %d: y[%d] differs by %.2e", method_name(m), of->name, kind - 1, i, d);
            }
    }
}

/* A replay is the run bit for bit, also from stages that were computed again; tangents carried are those over the tape,
   and a run that goes on warm ends as one without a stop does, to the tolerance. */
static void again(void **state)
{
    const costate_method *m = *state;
    const problem *of;
    for (int k = 0; (of = problem_synthetic_at(k)); k += 3) {
        if (!takes_residuals(m, of->mass)) continue;
        problem *b = residual_of(of, RESIDUAL_TWISTED, k & 1);
        int n = b->P.n, N = n + b->P.nq;
        for (int storage = 0; storage < 2; storage++) {
            costate_options o = {.rtol = 1e-4, .atol = 1e-4, .storage = storage, .warm = 1};
            costate *c = new_for_test(m, &b->P, &o);
            costate_tape *tape = costate_tape_new();
            double y[N_MOST] = {0}, z[N_MOST] = {0}, w[N_MOST] = {0}, V[N_MOST] = {1, -0.5, 0.3}, W[N_MOST], middle;
            memcpy(y, b->y0, (size_t)n * sizeof *y);
            memcpy(z, y, sizeof z);
            memcpy(w, y, sizeof w);
            memcpy(W, V, sizeof W);
            CHECK_OK(c, costate_integrate(c, b->t0, b->t1, y, b->p0, tape));
            CHECK_OK(c, costate_replay(c, tape, z, b->p0));
            assert_memory_equal(y, z, sizeof y);
            CHECK_OK(c, costate_tangent(c, tape, 1, V, NULL, NULL, NULL));
            memcpy(z, w, sizeof z);
            CHECK_OK(c, costate_integrate_tlm(c, b->t0, b->t1, z, b->p0, 1, W, NULL, NULL, tape));
            for (int i = 0; i < N; i++) assert_true(fabs(V[i] - W[i]) <= 1e-11 * (1 + fabs(V[i])));
            middle = (b->t0 + b->t1) / 2;
            CHECK_OK(c, costate_integrate(c, b->t0, middle, w, b->p0, NULL));
            CHECK_OK(c, costate_integrate(c, middle, b->t1, w, b->p0, NULL));
            for (int i = 0; i < N; i++) assert_true(fabs(w[i] - y[i]) <= 1e-2 * (1 + fabs(y[i])));
            costate_tape_free(tape);
            costate_free(c);
        }
        residual_free(b);
    }
}

/* ---- what is refused ---- */

static const problem *some(int mass)
{
    const problem *of = problem_synthetic(mass, 0, 2, 2, 1);
    assert_non_null(of);
    return of;
}

/* a new solver's sentence has `said` in it */
static void refused(const costate_method *m, const costate_problem *P, const costate_options *o, const char *said)
{
    costate *c = new_for_test(m, P, o);
    assert_int_not_equal(costate_status(c), COSTATE_OK);
    if (!strstr(costate_message(c), said)) fail_msg("%s: \"%s\"", method_name(m), costate_message(c));
    costate_free(c);
}

static void methods_that_need_f(void **state)
{
    (void)state;
    problem *b = residual_of(some(MASS_REGULAR), RESIDUAL_TWISTED, 1);
    for (int k = 0; k < costate_method_count(); k++) {
        const costate_method *m = costate_method_at(k);
        if (takes_residuals(m, MASS_REGULAR)) continue;
        refused(m, &b->P, NULL, "radau2a");
    }
    costate_options o = {.estimator = COSTATE_EST_SDIRK};
    refused(costate_method_find("radau2a"), &b->P, &o, "COSTATE_EST_SDIRK");
    residual_free(b);
}

/* index 2 is for sdirk and firk, in either form; of composite methods, for members of these families */
static void no_index_2(void **state)
{
    const costate_method *m = *state;
    static const int high[N_MOST] = {0, 2};
    costate_problem P = some(MASS_SINGULAR)->P;
    P.index = high;
    if (is_newton(m)) return;
    costate_options o = {.members = newton_members(m)};
    if (is_composite(m)) o.members = method_name(costate_method_member(m, 0));
    refused(m, &P, &o, "index 2");
}

/* what keeps no constraints says so, whether index tells or dF/dy' does */
static void no_constraints(void **state)
{
    const costate_method *m = *state;
    if (!takes_residuals(m, MASS_REGULAR) || takes_residuals(m, MASS_SINGULAR)) return;
    for (int kind = 0; kind < 2; kind++) {
        problem *b = residual_of(some(MASS_SINGULAR), kind, 1);
        static const int algebraic[N_MOST] = {0, 1};
        double y[N_MOST] = {0};
        costate *c = new_for_test(m, &b->P, NULL);
        memcpy(y, b->y0, (size_t)b->P.n * sizeof *y);
        assert_int_equal(costate_integrate(c, b->t0, b->t1, y, b->p0, NULL), COSTATE_BAD_ARGUMENT);
        assert_non_null(strstr(costate_message(c), "dF/dy' is singular"));
        costate_free(c);
        b->P.index = algebraic;
        refused(m, &b->P, NULL, "problem.index calls y[1] algebraic");
        residual_free(b);
    }
}

static void one_equation(void **state)
{
    (void)state;
    const costate_method *m = costate_method_find("radau2a");
    const problem *of = some(MASS_REGULAR);
    problem *b = residual_of(of, RESIDUAL_PLAIN, 1);
    costate_problem P = b->P;
    P.rhs = of->P.rhs;
    refused(m, &P, NULL, "both given");
    P = b->P;
    P.mass = of->P.mass;
    refused(m, &P, NULL, "problem.mass");
    P = of->P;
    P.jac_yp = b->P.jac_yp;
    refused(m, &P, NULL, "problem.jac_yp");
    P = b->P;
    P.residual.value = NULL;
    P.jac_yp = NULL;
    refused(m, &P, NULL, "rhs.value is missing");
    residual_free(b);
}

/* A start that misses the constraint by a little is run from, one that misses it by more is not, whichever solver. */
static void inconsistent(void **state)
{
    (void)state;
    for (int kind = 0; kind < 2; kind++) {
        problem *b = residual_of(some(MASS_SINGULAR), kind, 1);
        costate_options o = {.rtol = 1e-6, .atol = 1e-6};
        costate *c = costate_new(costate_method_find("radau2a"), &b->P, &o);
        double y[N_MOST] = {0};
        memcpy(y, b->y0, (size_t)b->P.n * sizeof *y);
        y[0] += 0.1;
        double before = y[0];
        assert_int_equal(costate_integrate(c, b->t0, b->t1, y, b->p0, NULL), COSTATE_INCONSISTENT);
        assert_non_null(strstr(costate_message(c), "residual"));
        assert_true(y[0] == before);
        memcpy(y, b->y0, (size_t)b->P.n * sizeof *y);
        y[0] += 1e-7;
        CHECK_OK(c, costate_integrate(c, b->t0, b->t1, y, b->p0, NULL));
        costate_free(c);
        residual_free(b);
    }
}

/* y[1] enters nowhere; row 1 has nothing in it */
static int no_column(const costate_point *x, double *F, void *ctx)
{
    F[0] = x->yp[0] + x->y[0];
    F[1] = x->y[0] - exp(-x->t);
    return (void)ctx, 0;
}
static int no_row(const costate_point *x, double *F, void *ctx)
{
    F[0] = x->yp[0] + x->y[0] + x->y[1];
    F[1] = 0;
    return (void)ctx, 0;
}

static void nothing_in_it(void **state)
{
    (void)state;
    static const struct { int (*F)(const costate_point *, double *, void *); const char *said; } cases[] = {
        {no_column, "neither on y[1] nor on y'[1]"}, {no_row, "Row 1 of the residual"}};
    for (int k = 0; k < 2; k++) {
        costate_problem P = {.n = 2, .residual = {.value = cases[k].F}};
        costate *c = costate_new(costate_method_find("radau2a"), &P, NULL);
        double y[] = {1, 0};
        assert_int_equal(costate_integrate(c, 0, 1, y, NULL, NULL), COSTATE_SINGULAR);
        if (!strstr(costate_message(c), cases[k].said)) fail_msg("%s", costate_message(c));
        costate_free(c);
    }
}

static int undefined(const costate_point *x, double *F, void *ctx)
{
    (void)x;
    F[0] = NAN;
    return *(int *)ctx;
}

static void no_value(void **state)
{
    (void)state;
    static const int status[] = {COSTATE_NOT_FINITE, COSTATE_CALLBACK, COSTATE_CALLBACK};
    for (int code = 0; code < 3; code++) {
        int returns = code == 2 ? -3 : code;
        costate_problem P = {.n = 1, .ctx = &returns, .residual = {.value = undefined}};
        costate *c = costate_new(costate_method_find("sdirk4a"), &P, NULL);
        double y = 1;
        assert_int_equal(costate_integrate(c, 0, 1, &y, NULL, NULL), status[code]);
        assert_non_null(strstr(costate_message(c), "residual.value"));
        costate_free(c);
    }
}

static void index_in_range(void **state)
{
    (void)state;
    static const int index[] = {0, 3, 0};
    problem *b = residual_of(some(MASS_REGULAR), RESIDUAL_PLAIN, 1);
    b->P.index = index;
    refused(costate_method_find("radau2a"), &b->P, NULL, "problem.index[1] = 3");
    residual_free(b);
}

/* ---- the public checks ---- */

static void checks(void **state)
{
    (void)state;
    const problem *of;
    for (int k = 0; (of = problem_synthetic_at(k)); k++) {
        for (int with = 0; with < 2; with++) {
            problem *b = residual_of(of, RESIDUAL_TWISTED, with);
            double yp[N_MOST] = {0.3, -0.7, 0.4};
            costate_point x = {.t = b->t0, .y = b->y0, .p = b->p0, .yp = yp};
            costate_report r, cost;
            if (costate_check_problem(&b->P, &x, &r, &cost) != COSTATE_OK) fail_msg("%s: %s", b->name, r.text);
            assert_true(r.tangent <= 1e-6 && r.adjoint <= 1e-6 && (!with || r.jac <= 1e-6));
            yp[1] = NAN;
            assert_int_equal(costate_check_problem(&b->P, &x, &r, &cost), COSTATE_BAD_ARGUMENT);
            assert_non_null(strstr(r.text, "x.yp[1]"));
            x.yp = NULL;
            assert_int_equal(costate_check_problem(&b->P, &x, &r, &cost), COSTATE_BAD_ARGUMENT);
            residual_free(b);
        }
    }
}

static int (*right)(const costate_point *, double *, void *);
static int half(const costate_point *x, double *J, void *ctx)
{
    int r = right(x, J, ctx);
    J[0] *= 0.5;
    return r;
}

static void wrong_jacobians(void **state)
{
    (void)state;
    for (int slope = 0; slope < 2; slope++) {
        problem *b = residual_of(some(MASS_REGULAR), RESIDUAL_TWISTED, 1);
        double yp[N_MOST] = {0.3, -0.7, 0.4};
        costate_point x = {.t = b->t0, .y = b->y0, .p = b->p0, .yp = yp};
        costate_report r;
        right = slope ? b->P.jac_yp : b->P.jac;
        *(slope ? &b->P.jac_yp : &b->P.jac) = half;
        assert_int_equal(costate_check_problem(&b->P, &x, &r, NULL), COSTATE_CHECK_FAILED);
        const char *said = slope ? "jac_yp WRONG: row 0 with respect to y'[0]"
                                 : "jac WRONG: row 0 with respect to y[0]";
        if (!strstr(r.text, said)) fail_msg("%s", r.text);
        residual_free(b);
    }
}

/* F_y and F_y' of the twisted problem fill what f_y and M do */
static void pattern_found(void **state)
{
    (void)state;
    for (int by_value = 0; by_value < 2; by_value++) {
        const problem *of = some(MASS_REGULAR);
        problem *b = residual_of(of, RESIDUAL_TWISTED, 0);
        double yp[N_MOST] = {0.3, -0.7, 0.4};
        costate_point x = {.t = b->t0, .y = b->y0, .p = b->p0, .yp = yp};
        costate_problem P = b->P;
        costate_pattern *found;
        costate_report r;
        P.pattern = NULL;
        if (by_value) P.residual.tangent = NULL;
        assert_int_equal(costate_pattern_detect(&P, &x, &found, &r), COSTATE_OK);
        const costate_pattern *all = of->P.pattern;
        for (int j = 0; j < all->n; j++)
            for (int k = all->col[j]; k < all->col[j + 1]; k++) {
                int there = 0;
                for (int l = found->col[j]; l < found->col[j + 1]; l++) there = there || found->row[l] == all->row[k];
                if (!there) fail_msg("row %d of column %d was not found", all->row[k], j);
            }
        costate_pattern_free(found);
        residual_free(b);
    }
}

int main(void)
{
    const struct CMUnitTest others[] = {
        cmocka_unit_test(methods_that_need_f), cmocka_unit_test(one_equation), cmocka_unit_test(inconsistent),
        cmocka_unit_test(nothing_in_it), cmocka_unit_test(no_value), cmocka_unit_test(index_in_range),
        cmocka_unit_test(checks), cmocka_unit_test(wrong_jacobians), cmocka_unit_test(pattern_found),
    };
    return run_by_kind("residual: the adjoint is the transpose of the tangent", transpose) +
           run_by_kind("residual: Taylor", taylor) + run_by_kind("residual: the run of M y' = f", same_run) +
           run_by_kind("residual: again", again) +
           run_by_kind("residual: constraints", no_constraints) +
           run_by_kind("residual: index 2", no_index_2) +
           cmocka_run_group_tests_name("residual", others, NULL, NULL);
}
