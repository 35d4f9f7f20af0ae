/* test_second_oracle.c - gradients and Hessian products against references: within 100 tolerances (1e-8 at 1e-10) of
   the largest entry of each block of unknowns, and falling with the tolerance.

   Steps are chosen for the tangents by p, too (tangent_error): of states near rest they would be as long as the nodes
   of a control are apart, and so the gradients wrong by a tenth. */
#include "common.h"
#include "seconds.h"

enum { U = SECONDS_U, NP = 16 };

typedef struct { double value, gradient[U], products[U * SECONDS_M]; } answer;

static void zero(size_t n, double *x) { memset(x, 0, n * sizeof *x); }

/* forward with the tangents by each of p, in its units */
static void forward(const second *s, costate *c, double *y, const double *p, costate_tape *tape)
{
    double *V = calloc((size_t)U * NP, sizeof *V), Vp[NP * NP] = {0};
    assert_non_null(V);
    for (int i = 0; i < s->P.np; i++) Vp[i * s->P.np + i] = fmax(1, fabs(p[i]));
    CHECK_OK(c, costate_integrate_tlm(c, s->t0, s->t1, y, p, s->P.np, V, Vp, NULL, tape));
    free(V);
}

static void ask(second *s, const costate_method *m, double rtol, answer *a)
{
    const costate_options o = {.rtol = rtol, .atol = rtol, .cost_error = 1, .tangent_error = 1, .max_steps = 1000000};
    double y[U], p[NP], V[U * SECONDS_M], Vp[NP * SECONDS_M], lambda[U], mu[NP], lambda2[U * SECONDS_M],
           mu2[NP * SECONDS_M];
    costate *c = costate_new(m, &s->P, &o);
    costate_tape *tape = costate_tape_new();
    second_start(s, y, p, V, Vp);
    forward(s, c, y, p, tape);
    a->value = second_value(s, y, p);
    zero(NP, mu);
    zero(NP * SECONDS_M, mu2);
    CHECK_OK(c, costate_hessian(c, tape, &(costate_second){.m = s->directions, .V = V, .Vp = Vp, .seed = second_seed,
                                                           .ctx = s, .lambda = lambda, .mu = mu, .lambda2 = lambda2,
                                                           .mu2 = mu2}));
    second_unknowns(s, lambda, mu, lambda2, mu2, a->gradient, a->products);
    costate_tape_free(tape);
    costate_free(c);
}

/* the largest error, each block in units of its largest entry */
static double error(const second *s, const double *x, const double *truth)
{
    double worst = 0;
    for (int at = 0, k = 0; at < s->unknowns; at = s->block[k++])
        worst = larger_of(worst, relative_gap(s->block[k] - at, x + at, truth + at));
    return worst;
}

typedef struct { double gradient, products; } errors;

static errors errors_of(second *s, const costate_method *m, double rtol, double bound)
{
    answer a;
    ask(s, m, rtol, &a);
    errors e = {error(s, a.gradient, s->gradient), 0};
    e.gradient = larger_of(e.gradient, fabs(a.value / s->value - 1));
    for (int j = 0; j < s->directions; j++)
        e.products = larger_of(e.products, error(s, a.products + j * s->unknowns, s->products + j * s->unknowns));
    if (!(e.gradient <= bound && e.products <= bound))
        fail_msg("%s, %s, rtol %.0e: relative errors %.2e of the gradient, %.2e of products", method_name(m), s->name,
                 rtol, e.gradient, e.products);
    return e;
}

/* by 100 where they are proportional; 1e-12: round-off */
static void falls(const second *s, const costate_method *m, const char *of, double before, double after)
{
    if (!(after <= before / 20 || after <= 1e-12))
        fail_msg("%s, %s: error of the %s %.2e, at a tolerance 100 times smaller %.2e", method_name(m), s->name, of,
                 before, after);
}

static void oracle(void **state)
{
    const costate_method *m = *state;
    double worst = 0;
    int order = method_info(m).order;
    for (int k = 0; k < SECONDS; k++) {
        if (skipped(k + method_info(m).stages, 2)) continue;
        second *s = second_new(k);
        assert_non_null(s);
        int slow = s->P.n > 20 && order <= 6 && !is_explicit(m);     /* 1e-8 is reached earlier, too */
        double rtol = slow ? 1e-8 : 1e-10;
        errors loose = errors_of(s, m, 100 * rtol, 1e-6), tight = errors_of(s, m, rtol, 1e-8);
        falls(s, m, "gradient", loose.gradient, tight.gradient);
        falls(s, m, "products", loose.products, tight.products);
        worst = larger_of(worst, larger_of(tight.gradient, tight.products));
        second_free(s);
    }
    print_message("           largest relative error %.1e\n", worst);
}

/* The maps themselves: what is wrong in them would be read as errors of products. */
static void right(void **state)
{
    (void)state;
    for (int k = 0; k < SECONDS; k++) {
        second *s = second_new(k);
        double y[U], p[NP];
        costate_report rhs, cost;
        assert_non_null(s);
        second_start(s, y, p, NULL, NULL);
        const costate_point x = {.t = s->t0 + 0.3 * (s->t1 - s->t0), .y = y, .p = p};
        if (costate_check_problem(&s->P, &x, &rhs, s->P.nq ? &cost : NULL) != COSTATE_OK)
            fail_msg("%s: rhs %s cost %s", s->name, rhs.text, s->P.nq ? cost.text : "");
        second_free(s);
    }
}

int main(void)
{
    static const char *const names[] = {"dopri853", "dopri5", "tsit5", "rodas5p", "rodas4", "radau2a", "radau2a5",
                                        "gauss3", "sdirk4a", "kvaerno54", "rock4"};
    enum { NAMES = sizeof names / sizeof *names };
    struct CMUnitTest tests[NAMES + 1] = {cmocka_unit_test(right)};
    for (int k = 0; k < NAMES; k++)
        tests[k + 1] = (struct CMUnitTest){names[k], oracle, NULL, NULL,
                                           (void *)(uintptr_t)costate_method_find(names[k])};
    return cmocka_run_group_tests_name("references of second order", tests, NULL, NULL);
}
