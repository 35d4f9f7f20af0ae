/* test_hybrid_oracle.c - hybrid systems with references of 20 digits and more: end values, integrals, costs through all
   events, and their gradients by all parameters, start and guards included, to 1e-9 of each entry at rtol 1e-11.

   Entries that are small by cancellation, or because what they belong to was damped, are held to 2e-11 of the largest
   instead, twice the tolerance: no control sees the relative error of what is damped. */
#include "common.h"
#include "hybrids.h"

enum { MOST = HYBRID_LONGEST };
static const double small = 2e-2;           /* 2e-11 of the largest, in units of 1e-9 */

/* the largest error, in units of what is allowed */
static double excess(int n, const double *x, const double *ref)
{
    double size = 0, worst = 0;
    for (int i = 0; i < n; i++) size = fmax(size, fabs(ref[i]));
    for (int i = 0; i < n; i++)
        worst = larger_of(worst, fabs(x[i] - ref[i]) / (1e-9 * (fabs(ref[i]) + small * size)));
    return worst;
}

static void check(const costate_method *m, const hybrid *h, const char *what, double error, double *worst)
{
    if (!(error <= 1)) fail_msg("%s, %s: relative error %.2e of %s", method_name(m), h->name, 1e-9 * error, what);
    *worst = larger_of(*worst, error);
}

/* lambda, mu: the gradients of the functional by (y, q, m)(t0) and p; then by p alone */
static void through_start(const hybrid *h, const double *lambda, double *mu)
{
    double y[MOST], by[MOST * NUMS_P];
    int N = h->n + h->nq + h->nm;
    hybrid_start(h, h->p, y, by);
    for (int i = 0; i < h->np; i++)
        for (int j = 0; j < N; j++) mu[i] += by[i * N + j] * lambda[j];
}

static double one(const costate_method *m, const hybrid *h)
{
    const hybrid_reference *ref = h->reference;
    const costate_problem P = hybrid_problem(h);
    costate_options o = {.rtol = 1e-11, .atol = 1e-13, .cost_error = 1, .mode = h->mode, .max_steps = 1000000,
                         .derivative_mode = h->form != HYBRID_ODE};       /* what Newton leaves adds up in z */
    int N = h->n + h->nq + h->nm;
    double y[MOST], lambda[MOST * MOST] = {0}, mu[MOST * NUMS_P] = {0}, worst = 0;
    costate *c = costate_new(m, &P, &o);
    costate_tape *tape = costate_tape_new();
    hybrid_start(h, h->p, y, NULL);
    CHECK_OK(c, costate_integrate(c, h->t0, h->t1, y, h->p, tape));
    assert_int_equal(costate_tape_events(tape), ref->events);
    for (int k = 0; k < ref->known; k++) if (ref->of[k] >= 0) lambda[k * N + ref->of[k]] = 1;
    CHECK_OK(c, costate_adjoint(c, tape, ref->known, lambda, mu, NULL, NULL));
    for (int k = 0; k < ref->known; k++) {
        if (ref->of[k] < 0) continue;
        check(m, h, "the value", excess(1, &y[ref->of[k]], &ref->value[k]), &worst);
        through_start(h, lambda + k * N, mu + k * h->np);
        check(m, h, "the gradient", excess(h->np, mu + k * h->np, ref->by_p + k * h->np), &worst);
    }
    costate_tape_free(tape);
    costate_free(c);
    return worst;
}

static void oracle(void **state)
{
    const hybrid *h;
    double worst = 0;
    for (int k = 0; (h = hybrid_at(k)); k++)
        if (h->reference && hybrid_takes(*state, h) && !skipped(k + turn_of(*state), 2))
            worst = larger_of(worst, one(*state, h));
    print_message("           largest relative error %.1e\n", 1e-9 * worst);
}

int main(void)
{
    static const char *const names[] = {"dopri853", "tsit5", "rodas5p", "sdirk4a", "radau2a5"};
    enum { NAMES = sizeof names / sizeof *names };
    struct CMUnitTest tests[NAMES];
    for (int k = 0; k < NAMES; k++)
        tests[k] = (struct CMUnitTest){names[k], oracle, NULL, NULL, (void *)(uintptr_t)costate_method_find(names[k])};
    return cmocka_run_group_tests_name("references of hybrid systems", tests, NULL, NULL);
}
