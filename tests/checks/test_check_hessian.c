/* test_check_hessian.c - costate_check_hessian: right where products are right, by every method; and what it says of a
   second derivative that is wrong, of a seed that is, and of a run that fails. */
#include "common.h"
#include "random_case.h"

enum { N_MOST = 8, NP = 2 };

typedef struct { int n, N; double forgets; } functional;       /* 1/2 |y|^2 + p_0 y_0 + q; forgets: of lambda2 */

static int seed(double t1, const double *y, const double *p, int m, const double *V, const double *Vp, double *lambda,
                double *mu, double *lambda2, double *mu2, void *ctx)
{
    const functional *F = ctx;
    (void)t1;
    for (int i = 0; i < F->N; i++) lambda[i] = i < F->n ? y[i] : 1;
    lambda[0] += p[0];
    if (mu) mu[0] += y[0];
    for (int j = 0; j < m; j++) {
        for (int i = 0; i < F->n; i++) lambda2[j * F->N + i] = (1 - F->forgets) * V[j * F->N + i];
        if (Vp) lambda2[j * F->N] += Vp[j * NP];
        if (mu2) mu2[j * NP] += V[j * F->N];
    }
    return 0;
}

static random_case *case_of(const costate_method *m)
{
    random_spec r = {.seed = 9, .n = 4, .np = NP, .nq = 1, .stiffness = takes_stiff(m) ? 50 : 3,
                     .diagonal = takes_diagonal_mass_only(m)};
    random_case *b = random_case_new(&r);
    assert_non_null(b);
    return b;
}

static costate_options options_of(void)
{
    return (costate_options){.rtol = 1e-4, .atol = 1e-4, .degree_max = 9};
}

static int checked(const costate_method *m, const random_case *b, const costate_problem *P, double forgets,
                   costate_report *r)
{
    functional F = {P->n, P->n + P->nq, forgets};
    costate_options o = options_of();
    costate *c = new_for_test(m, P, &o);
    double y[N_MOST] = {0};
    memcpy(y, b->y0, (size_t)P->n * sizeof *y);
    int status = costate_check_hessian(c, b->t0, b->t1, y, b->p0, seed, &F, r);
    costate_free(c);
    return status;
}

static void right(void **state)
{
    random_case *b = case_of(*state);
    costate_report r;
    if (checked(*state, b, &b->P, 0, &r) != COSTATE_OK) fail_msg("%s: %s", method_name(*state), r.text);
    assert_true(r.symmetry <= 1e-12);
    assert_true(r.hessian <= 1e-8);
    assert_true(isnan(r.tangent) && isnan(r.adjoint_tangent2));
    print_message("           symmetry %.1e, differences %.1e\n", r.symmetry, r.hessian);
    random_case_free(b);
}

static costate_map of;                  /* of the case whose products are made wrong */

static int bent(const costate_point *x, const costate_point *dx, const double *w, const costate_gradient *g, void *ctx)
{
    if (g->p && dx->y) g->p[1] += 1e-3 * w[0] * dx->y[1];
    return of.adjoint_tangent(x, dx, w, g, ctx);
}

static void wrong_map(void **state)
{
    random_case *b = case_of(*state);
    costate_problem P = b->P;
    costate_report r;
    of = P.rhs;
    P.rhs.adjoint_tangent = bent;
    /* the gradient of ros has it, too, and is then wrong itself: only symmetry tells */
    assert_int_equal(checked(*state, b, &P, 0, &r), COSTATE_CHECK_FAILED);
    assert_non_null(strstr(r.text, "WRONG"));
    assert_true(r.symmetry > 1e-10);
    random_case_free(b);
}

static void wrong_seed(void **state)
{
    random_case *b = case_of(*state);
    costate_report r;
    assert_int_equal(checked(*state, b, &b->P, 0.01, &r), COSTATE_CHECK_FAILED);
    assert_true(r.hessian > 1e-6);
    random_case_free(b);
}

/* J = y(t1), y' = 0: nothing but round-off in the differences */
static int zero(const costate_point *x, double *out, void *ctx) { (void)x, (void)ctx; out[0] = 0; return 0; }
static int zero_tangent(const costate_point *x, const costate_point *dx, double *out, void *ctx)
{
    (void)dx;
    return zero(x, out, ctx);
}
static int no_gradient(const costate_point *x, const double *w, const costate_gradient *g, void *ctx)
{
    (void)x, (void)w, (void)g, (void)ctx;
    return 0;
}
static int no_second(const costate_point *x, const costate_point *dx, const double *w, const costate_gradient *g,
                     void *ctx)
{
    (void)dx;
    return no_gradient(x, w, g, ctx);
}
static int linear(double t1, const double *y, const double *p, int m, const double *V, const double *Vp, double *lambda,
                  double *mu, double *lambda2, double *mu2, void *ctx)
{
    (void)t1, (void)y, (void)p, (void)m, (void)V, (void)Vp, (void)mu, (void)lambda2, (void)mu2, (void)ctx;
    lambda[0] = 1;
    return 0;
}

static void nothing_to_bend(void **state)
{
    costate_problem P = {.n = 1, .rhs = {.value = zero, .tangent = zero_tangent, .adjoint = no_gradient,
                                         .adjoint_tangent = no_second}};
    costate *c = costate_new(costate_method_find("dopri5"), &P, NULL);
    double y = 0.3;
    costate_report r;
    (void)state;
    assert_int_equal(costate_check_hessian(c, 0, 1, &y, NULL, linear, NULL, &r), COSTATE_OK);
    assert_true(r.symmetry == 0 && r.hessian <= 1e-9);
    costate_free(c);
}

/* y' = 0, finite at t = 0 near y = 0.3 only: no difference can be taken, and the check fails as the runs do */
static int narrow(const costate_point *x, double *out, void *ctx)
{
    (void)ctx;
    out[0] = x->t == 0 && fabs(x->y[0] - 0.3) > 1e-8 ? NAN : 0;
    return 0;
}

static void no_room(void **state)
{
    costate_problem P = {.n = 1, .rhs = {.value = narrow, .tangent = zero_tangent, .adjoint = no_gradient,
                                         .adjoint_tangent = no_second}};
    costate *c = costate_new(costate_method_find("dopri5"), &P, NULL);
    double y = 0.3;
    costate_report r;
    (void)state;
    int status = costate_check_hessian(c, 0, 1, &y, NULL, linear, NULL, &r);
    if (status == COSTATE_OK || status == COSTATE_CHECK_FAILED) fail_msg("%d: %s", status, r.text);
    costate_free(c);
}

static void bad(void **state)
{
    const costate_method *m = costate_method_find("dopri5");
    random_case *b = case_of(m);
    costate_problem P = b->P;
    functional F = {P.n, P.n + P.nq, 0};
    double y[N_MOST] = {0};
    costate_report r;
    (void)state;
    memcpy(y, b->y0, (size_t)P.n * sizeof *y);
    costate *c = costate_new(m, &P, NULL);
    assert_int_equal(costate_check_hessian(c, b->t0, b->t1, y, b->p0, seed, &F, NULL), COSTATE_BAD_ARGUMENT);
    assert_non_null(strstr(costate_message(c), "report is NULL"));
    assert_int_equal(costate_check_hessian(c, b->t0, b->t1, y, b->p0, NULL, &F, &r), COSTATE_MISSING);
    assert_non_null(strstr(r.text, "seed is missing"));
    assert_int_equal(costate_check_hessian(c, b->t0, b->t1, NULL, b->p0, seed, &F, &r), COSTATE_BAD_ARGUMENT);
    assert_non_null(strstr(r.text, "y is NULL"));
    costate_free(c);
    P.rhs.adjoint_tangent = NULL;
    c = costate_new(m, &P, NULL);
    assert_int_equal(costate_check_hessian(c, b->t0, b->t1, y, b->p0, seed, &F, &r), COSTATE_MISSING);
    assert_non_null(strstr(r.text, "adjoint_tangent"));
    costate_free(c);
    random_case_free(b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(nothing_to_bend), cmocka_unit_test(no_room),
                                       cmocka_unit_test(bad)};
    return run_by_method("right", right) + run_by_method("a wrong map", wrong_map) +
           run_by_method("a wrong seed", wrong_seed) + cmocka_run_group_tests(tests, NULL, NULL);
}
