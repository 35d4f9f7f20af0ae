/* test_sizes.c - counts as large as an int is, and larger: on every entrance a status and a sentence, with no more than
   little memory; and the guards of what is counted inside with int, by sizes alone. */
#include <limits.h>
#include <costate/bvp.h>
#include <costate/ensemble.h>
#include <costate/linsol.h>
#include "firk/firk.h"
#include "common.h"
#include "alloc.h"

int whole_fits(verdict *, int N, size_t all, size_t entries);       /* of bvp/bvp.h, whose `place` is another */

enum { LITTLE = 1 << 26, N_MOST = 8 };

static void says(const char *what, int status, const char *text)
{
    if (status >= COSTATE_OK || !text || strlen(text) < 20 || strcmp(text, "No error.") == 0)
        fail_msg("%s: %s: %s", what, costate_status_name(status), text ? text : "NULL");
}

/* ---- sizes of a problem ---- */

static void of_problems(void **state)
{
    static const int sizes[] = {INT_MAX, INT_MIN, (1 << 30) + 1, 1 << 30, 1 << 29, 46341};
    static const int solvers[] = {COSTATE_LS_AUTO, COSTATE_LS_DENSE, COSTATE_LS_UMFPACK, COSTATE_LS_SUPERLU,
                                  COSTATE_LS_KLU};
    alloc_most(LITTLE);
    for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++)
        for (int which = 0; which < 5 * 5; which++) {
            costate_problem P = problem_synthetic(MASS_IDENTITY, 0, 2, 2, 0)->P;
            costate_report r;
            costate_pattern *found = NULL;
            *(int *[]){&P.n, &P.np, &P.nq, &P.nm, &P.nevents}[which % 5] = sizes[k];
            if (which % 5 > 0 && sizes[k] > 0 && sizes[k] <= 1 << 30) continue;         /* these are sound */
            costate *c = costate_new(*state, &P, &(costate_options){.solver = solvers[which / 5]});
            if (c) says("new", costate_status(c), costate_message(c));
            costate_free(c);
            if (which >= 5 || which == 4 || sizes[k] == 46341) continue;
            costate_point x = {.y = (double[N_MOST]){0}, .p = (double[N_MOST]){0}, .m = (double[N_MOST]){0}};
            if (sizes[k] > 1 << 30 || sizes[k] < 0) {
                says("check_problem", costate_check_problem(&P, &x, &r, NULL), r.text);
                says("pattern_detect", costate_pattern_detect(&P, &x, &found, &r), r.text);
                assert_null(found);
            }
        }
    alloc_most(0);
}

/* ---- directions and functionals ---- */

static int seed(double t1, const double *y, const double *p, int m, double *lambda, double *mu, void *ctx)
{
    (void)t1, (void)y, (void)p, (void)m, (void)lambda, (void)mu, (void)ctx;
    return -1;
}

static int seed2(double t1, const double *y, const double *p, int m, const double *V, const double *Vp, double *lambda,
                 double *mu, double *lambda2, double *mu2, void *ctx)
{
    (void)t1, (void)y, (void)p, (void)m, (void)V, (void)Vp, (void)lambda, (void)mu, (void)lambda2, (void)mu2, (void)ctx;
    return -1;
}

static void of_columns(void **state)
{
    static const int counts[] = {INT_MIN, INT_MIN + 1, -(1 << 30), -1};      /* larger ones would be read */
    const problem *b = problem_synthetic(MASS_IDENTITY, 0, 2, 2, 0);
    double y[N_MOST] = {0}, V[N_MOST] = {1};
    costate *c = new_for_test(*state, &b->P, &(costate_options){.rtol = 1e-2, .atol = 1e-2});
    costate_tape *tape = costate_tape_new();
    memcpy(y, b->y0, (size_t)b->P.n * sizeof *y);
    CHECK_OK(c, costate_integrate(c, b->t0, b->t0 + 0.1, y, b->p0, tape));
    alloc_most(LITTLE);
    for (size_t k = 0; k < sizeof counts / sizeof *counts; k++) {
        int m = counts[k];
        costate_second s = {.m = m, .V = V, .seed = seed2, .lambda = V, .lambda2 = V};
        says("tangent", costate_tangent(c, tape, m, V, NULL, NULL, NULL), costate_message(c));
        says("adjoint", costate_adjoint(c, tape, m, V, NULL, NULL, NULL), costate_message(c));
        says("hessian", costate_hessian(c, tape, &s), costate_message(c));
        says("gauss_newton", costate_gauss_newton(c, tape, &s), costate_message(c));
        says("tlm", costate_integrate_tlm(c, b->t0, b->t0 + 0.1, y, b->p0, m, V, NULL, NULL, NULL),
             costate_message(c));
        says("adj", costate_integrate_adj(c, b->t0, b->t0 + 0.1, y, b->p0, m, V, NULL, NULL, seed, NULL),
             costate_message(c));
        costate_ensemble_report r;
        costate_members a = {.count = 2, .threads = 1, .t0 = b->t0, .t1 = b->t0 + 0.1, .y = (double[2 * N_MOST]){0},
                             .p = b->p0, .same = COSTATE_SAME_P, .m = m, .lambda = V};
        says("ensemble, m", costate_ensemble(*state, &b->P, NULL, &a, &r), r.text);
        a = (costate_members){.count = 2, .threads = 1, .t0 = b->t0, .t1 = b->t0 + 0.1, .y = (double[2 * N_MOST]){0},
                              .p = b->p0, .same = COSTATE_SAME_P, .directions = m, .V = V};
        says("ensemble, directions", costate_ensemble(*state, &b->P, NULL, &a, &r), r.text);
    }
    alloc_most(0);
    costate_tape_free(tape);
    costate_free(c);
}

/* ---- boundary values ---- */

static void of_boundary_values(void **state)
{
    static const int sizes[] = {INT_MAX, INT_MIN, (1 << 30) + 1, 1 << 30, 1 << 29, 46341};
    (void)state;
    alloc_most(LITTLE);
    for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++)
        for (int solver = 0; solver < 3; solver++) {
            costate_problem P = problem_synthetic(MASS_IDENTITY, 0, 2, 0, 0)->P;
            P.n = sizes[k];
            costate_conditions C = {.map = P.rhs, .count = P.n};
            costate_bvp *c = costate_bvp_new(costate_method_find("gauss3"), &P, &C, &(costate_bvp_options){
                .solver = (int[]){COSTATE_LS_DENSE, COSTATE_LS_UMFPACK, COSTATE_LS_KLU}[solver]});
            if (c) says("bvp", costate_bvp_solve(c, 0, 1, (double[2]){0}), costate_bvp_message(c));
            costate_bvp_free(c);
        }
    alloc_most(0);
}

/* ---- what is counted inside ---- */

static void inside(void **state)
{
    verdict v = {0};
    (void)state;
    assert_int_equal(coupled_fits(&v, 3, 1000000, 5000000), COSTATE_OK);
    assert_int_equal(coupled_fits(&v, 3, INT_MAX / 3, 0), COSTATE_OK);
    says("rows", coupled_fits(&v, 3, INT_MAX / 3 + 1, 0), v.text);
    says("rows", coupled_fits(&v, 2, 1 << 30, 0), v.text);
    says("entries", coupled_fits(&v, 3, 1000000, INT_MAX / 9 + 1), v.text);
    assert_int_equal(whole_fits(&v, 100, INT_MAX, INT_MAX), COSTATE_OK);
    says("rows", whole_fits(&v, 100, (size_t)INT_MAX + 1, 5), v.text);
    says("entries", whole_fits(&v, 100, 5, (size_t)INT_MAX + 1), v.text);
}

int main(void)
{
    static const char *const names[] = {"dopri5", "rkc2", "sdirk4a", "radau2a", "rodas4"};
    enum { NAMES = sizeof names / sizeof *names };
    struct CMUnitTest tests[2 * NAMES + 2] = {cmocka_unit_test(of_boundary_values), cmocka_unit_test(inside)};
    for (int k = 0; k < NAMES; k++) {
        void *m = (void *)(uintptr_t)costate_method_find(names[k]);
        tests[2 + k] = (struct CMUnitTest){names[k], of_problems, NULL, NULL, m};
        tests[2 + NAMES + k] = (struct CMUnitTest){names[k], of_columns, NULL, NULL, m};
    }
    return cmocka_run_group_tests_name("sizes", tests, NULL, NULL);
}
