/* test_periodic_bad.c - wrong arguments, calls before there is an orbit, memory that runs out and callbacks that call
   their own solver: a status and a sentence each, and everything works afterwards. */
#include "alloc.h"
#include "hopf.h"
#include <setjmp.h>

static const double p[HOPF_NP] = {0.7, 1.3, 0.4}, identity[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1}, lambda[4] = {0, 0, 1, 1};

static void says(costate_periodic *c, int got, int wanted, const char *word)
{
    if (got == wanted && strstr(costate_periodic_message(c), word)) return;
    fail_msg("wanted %s and \"%s\", got %s: %s", costate_status_name(wanted), word, costate_status_name(got),
             costate_periodic_message(c));
}

static int seed(const double *X, const double *q, int m, const double *V, const double *Vp, double *l, double *mu,
                double *l2, double *mu2, void *ctx)
{
    (void)q, (void)Vp, (void)mu, (void)mu2;
    memcpy(l, X, 4 * sizeof *l);
    memcpy(l2, V, 4 * (size_t)m * sizeof *l2);
    return *(int *)ctx;
}

/* ---- what a solver is made of ---- */

static void refused_with(const costate_problem *P, const costate_options *r, costate_periodic_options o, int status,
                         const char *word)
{
    double y[2] = {1, 0.2}, T = 3;
    costate_periodic *c = costate_periodic_new(costate_method_find("dopri5"), P, r, &o);
    says(c, costate_periodic_solve(c, y, &T, p), status, word);
    says(c, costate_periodic_get(c, y), status, word);                          /* as every later call */
    costate_periodic_free(c);
}

static int alone(int count, double *x, void *ctx) { return (void)count, (void)x, (void)ctx, 0; }

static void made(void **state)
{
    const double zero[2] = {0}, good[2] = {1, 0};
    costate_problem memory = hopf_problem;
    memory.nm = 1;
    (void)state;
    const costate_problem *P = &hopf_problem;
    refused_with(NULL, NULL, (costate_periodic_options){0}, COSTATE_BAD_ARGUMENT, "problem");
    refused_with(&memory, NULL, (costate_periodic_options){0}, COSTATE_BAD_ARGUMENT, "memory");
    refused_with(P, &(costate_options){.sum = alone}, (costate_periodic_options){0}, COSTATE_BAD_ARGUMENT,
                 "distributed");
    refused_with(P, &(costate_options){.rtol = -1}, (costate_periodic_options){0}, COSTATE_BAD_ARGUMENT, "rtol");
    refused_with(P, NULL, (costate_periodic_options){.period = -1}, COSTATE_BAD_ARGUMENT, "period");
    refused_with(P, NULL, (costate_periodic_options){.settle = NAN}, COSTATE_BAD_ARGUMENT, "settle");
    refused_with(P, NULL, (costate_periodic_options){.t0 = INFINITY}, COSTATE_BAD_ARGUMENT, "t0");
    refused_with(P, NULL, (costate_periodic_options){.newton_max = -1}, COSTATE_BAD_ARGUMENT, "newton_max");
    refused_with(P, NULL, (costate_periodic_options){.ninvariants = 1}, COSTATE_BAD_ARGUMENT, "NULL");
    refused_with(P, NULL, (costate_periodic_options){.ninvariants = 2, .invariants = good}, COSTATE_BAD_ARGUMENT,
                 "2 s");
    refused_with(P, NULL, (costate_periodic_options){.ninvariants = 1, .invariants = zero}, COSTATE_BAD_ARGUMENT,
                 "zero");
    costate_periodic *c = costate_periodic_new_sized(sizeof(costate_options), 4096, NULL, P, NULL, NULL);
    says(c, costate_periodic_solve(c, NULL, NULL, NULL), COSTATE_VERSION_MISMATCH, "costate_periodic_options");
    costate_periodic_free(c);
    costate_periodic_free(NULL);
    costate_periodic_abandon(NULL);
    assert_int_equal(costate_periodic_solve(NULL, NULL, NULL, NULL), COSTATE_BAD_ARGUMENT);
    assert_non_null(strstr(costate_periodic_message(NULL), "NULL"));
}

/* ---- what calls receive ---- */

static void given(void **state)
{
    double y[2] = {1, 0.2}, bad[2] = {1, NAN}, T = 3, no = 0, V[12], mu[9] = {0};
    int fails = 1, fine = 0;
    costate_orbit o;
    (void)state;
    costate_periodic *c = costate_periodic_new(NULL, &hopf_problem, NULL, NULL);
    says(c, costate_periodic_orbit(c, &o), COSTATE_BAD_TAPE, "no orbit");
    says(c, costate_periodic_tangent(c, 1, identity, V), COSTATE_BAD_TAPE, "no orbit");
    says(c, costate_periodic_adjoint(c, 1, lambda, mu), COSTATE_BAD_TAPE, "no orbit");
    says(c, costate_periodic_hessian(c, 1, identity, seed, &fine, mu, mu), COSTATE_BAD_TAPE, "no orbit");
    says(c, costate_periodic_multipliers(c, V, V), COSTATE_BAD_TAPE, "no orbit");
    says(c, costate_periodic_multiplier_gradient(c, 0, V, NULL), COSTATE_BAD_TAPE, "no orbit");
    says(c, costate_periodic_eval(c, 0, V), COSTATE_BAD_TAPE, "no orbit");
    says(c, costate_periodic_solve(c, NULL, &T, p), COSTATE_BAD_ARGUMENT, "y is NULL");
    says(c, costate_periodic_solve(c, bad, &T, p), COSTATE_BAD_ARGUMENT, "y[1]");
    says(c, costate_periodic_solve(c, y, &T, NULL), COSTATE_BAD_ARGUMENT, "p is NULL");
    says(c, costate_periodic_solve(c, y, &T, (double[3]){1, 2, NAN}), COSTATE_BAD_ARGUMENT, "p[2]");
    says(c, costate_periodic_solve(c, y, NULL, p), COSTATE_BAD_ARGUMENT, "T is NULL");
    says(c, costate_periodic_solve(c, y, &no, p), COSTATE_BAD_ARGUMENT, "positive");
    CHECK_PERIODIC(c, costate_periodic_solve(c, y, &T, p));
    says(c, costate_periodic_orbit(c, NULL), COSTATE_BAD_ARGUMENT, "NULL");
    says(c, costate_periodic_get(c, NULL), COSTATE_BAD_ARGUMENT, "NULL");
    says(c, costate_periodic_eval(c, NAN, V), COSTATE_BAD_ARGUMENT, "finite");
    says(c, costate_periodic_eval(c, 0, NULL), COSTATE_BAD_ARGUMENT, "NULL");
    says(c, costate_periodic_multipliers(c, V, NULL), COSTATE_BAD_ARGUMENT, "im");
    says(c, costate_periodic_multiplier_gradient(c, 2, V, NULL), COSTATE_OUT_OF_RANGE, "2 multipliers");
    says(c, costate_periodic_multiplier_gradient(c, 0, NULL, NULL), COSTATE_BAD_ARGUMENT, "re");
    says(c, costate_periodic_tangent(c, 0, identity, V), COSTATE_BAD_ARGUMENT, "m = 0");
    says(c, costate_periodic_tangent(c, 1, NULL, V), COSTATE_BAD_ARGUMENT, "NULL");
    says(c, costate_periodic_adjoint(c, 1, lambda, NULL), COSTATE_BAD_ARGUMENT, "NULL");
    says(c, costate_periodic_hessian(c, 1, identity, NULL, NULL, mu, mu), COSTATE_BAD_ARGUMENT, "seed");
    says(c, costate_periodic_hessian(c, 1, identity, seed, &fine, NULL, mu), COSTATE_BAD_ARGUMENT, "mu");
    says(c, costate_periodic_hessian(c, 1, identity, seed, &fails, mu, mu), COSTATE_CALLBACK, "returned 1");
    CHECK_PERIODIC(c, costate_periodic_adjoint(c, 1, lambda, mu));              /* none of these harms the orbit */
    says(c, costate_periodic_solve(c, bad, &T, p), COSTATE_BAD_ARGUMENT, "y[1]");
    CHECK_PERIODIC(c, costate_periodic_orbit(c, &o));                           /* nor does a call that is refused */
    costate_periodic_free(c);
}

/* ---- memory ---- */

typedef struct { double y[2], T, X[4], V[12], mu[3], H[9], gradient[3]; } results;

static int everything(costate_periodic *c, results *r)
{
    int fine = 0, status;
    *r = (results){.y = {1, 0.2}, .T = 3};
    if ((status = costate_periodic_solve(c, r->y, &r->T, p))) return status;
    if ((status = costate_periodic_get(c, r->X))) return status;
    if ((status = costate_periodic_tangent(c, 3, identity, r->V))) return status;
    if ((status = costate_periodic_adjoint(c, 1, lambda, r->mu))) return status;
    if ((status = costate_periodic_hessian(c, 3, identity, seed, &fine, r->mu, r->H))) return status;
    return costate_periodic_multiplier_gradient(c, 1, r->gradient, NULL);
}

static costate_periodic *solver(void)
{
    static const costate_options o = {.rtol = 1e-8, .atol = 1e-8};
    return costate_periodic_new(costate_method_find("radau2a5"), &hopf_problem, &o, NULL);
}

static void memory(void **state)
{
    results want, r;
    (void)state;
    costate_periodic *c = solver();
    CHECK_PERIODIC(c, everything(c, &want));
    costate_periodic_free(c);
    long calls, live = alloc_live();
    for (long k = 1;; k++) {
        alloc_fail_once(k);
        c = solver();
        int status = c ? everything(c, &r) : COSTATE_NO_MEMORY;
        calls = alloc_failures();
        alloc_fail_at(0);
        if (calls > 0 && status != COSTATE_NO_MEMORY && status != COSTATE_OK)
            fail_msg("malloc %ld: %s: %s", k, costate_status_name(status), costate_periodic_message(c));
        if (c && status == COSTATE_NO_MEMORY) assert_non_null(strstr(costate_periodic_message(c), "memory"));
        if (c && calls == 0) assert_memory_equal(&r, &want, sizeof r);
        costate_periodic_free(c);
        assert_true(alloc_live() == live);
        if (calls == 0) break;
        k += k > 60 ? 7 : 0;                                /* the same few places, again and again */
    }
}

/* ---- callbacks that call, and that leave ---- */

typedef struct { costate_periodic *c; int refused, leaves; jmp_buf out; } visitor;

static int calls_back(const costate_point *x, double *out, void *ctx)
{
    visitor *v = ctx;
    double y[2];
    if (v->leaves) longjmp(v->out, 1);
    v->refused = costate_periodic_eval(v->c, 0, y) == COSTATE_BAD_ARGUMENT;
    return hopf(x, out, NULL);
}

static void calls(void **state)
{
    static visitor v;
    static costate_problem P;
    double y[2] = {1, 0.2}, T = 3;
    costate_orbit o;
    (void)state;
    P = hopf_problem;
    P.rhs.value = calls_back;
    P.ctx = &v;
    v.c = costate_periodic_new(costate_method_find("dopri5"), &P, NULL, NULL);
    CHECK_PERIODIC(v.c, costate_periodic_solve(v.c, y, &T, p));
    assert_true(v.refused);
    v.leaves = 1;
    if (setjmp(v.out) == 0) costate_periodic_solve(v.c, y, &T, p);
    costate_periodic_abandon(v.c);
    v.leaves = 0;
    says(v.c, costate_periodic_orbit(v.c, &o), COSTATE_BAD_TAPE, "no orbit");
    CHECK_PERIODIC(v.c, costate_periodic_solve(v.c, y, &T, p));
    CHECK_PERIODIC(v.c, costate_periodic_orbit(v.c, &o));
    costate_periodic_free(v.c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(made), cmocka_unit_test(given), cmocka_unit_test(memory),
                                       cmocka_unit_test(calls)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
