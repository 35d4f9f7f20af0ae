/* test_steady_mechanisms.c - steady states of ten random mechanisms with conserved totals are where long runs end, and
   their derivatives are those of differences. */
#include "steady_models.h"

enum { MECHANISMS = 10, LEAST = 4, MOST = 12, REACTIONS = 24 };

/* Reversible reactions A <-> B, A + B <-> C, of random species, with constants from 1e-3 to 1e3: each connects the next
   species with those before it, so that all totals are conserved that the numbers of atoms imply. */
typedef struct { model m; double y[MOST], p[REACTIONS]; char text[REACTIONS][2][4]; } mechanism;

static int add_reaction(mechanism *x, reaction *list, int count, const char *from, const char *to, unsigned *state)
{
    for (int k = 0; k < 2; k++) {
        strcpy(x->text[count][0], k ? to : from);
        strcpy(x->text[count][1], k ? from : to);
        list[count] = (reaction){count, x->text[count][0], x->text[count][1]};
        x->p[count] = pow(10, 3 * random_in(state));
        count++;
    }
    return count;
}

static void random_mechanism(mechanism *x, int n, unsigned *state)
{
    reaction list[REACTIONS];
    int count = 0;
    for (int i = 2; i < n; i++) {
        char one[3] = {(char)('A' + (int)random_below(state, (unsigned)i)), 0, 0}, new[2] = {(char)('A' + i), 0};
        int other = (int)random_below(state, (unsigned)i), binds = random_in(state) > -0.3;
        if (binds) one[1] = (char)('A' + other);
        count = add_reaction(x, list, count, one, new, state);
    }
    for (int i = 0; i < n; i++) x->y[i] = random_in(state) > 0 ? 1 + random_in(state) : 0;
    x->y[0] = 1.3;
    x->y[1] = 0.6;
    model_mass_action(&x->m, n, count, count, list);
}

static void compare_with_a_run(const mechanism *x, const double *steady, int n)
{
    const costate_options o = {.rtol = 1e-11, .atol = 1e-15};
    costate *c = costate_new(costate_method_find("radau2a5"), &x->m.P, &o);
    double y[MOST];
    memcpy(y, x->y, sizeof y);
    CHECK_OK(c, costate_integrate(c, 0, 1e8, y, x->p, NULL));
    for (int i = 0; i < n; i++)
        if (!(fabs(y[i] - steady[i]) <= 1e-8 * (fabs(y[i]) + 1e-6)))
            fail_msg("%d species: y[%d] is %.15g, after a long run %.15g", n, i, steady[i], y[i]);
    costate_free(c);
}

static void random_mechanisms(void **state)
{
    unsigned random = 21;
    int singular = 0;
    (void)state;
    for (int k = 0; k < MECHANISMS; k++) {
        static mechanism x;
        int n = LEAST + k * (MOST - LEAST) / (MECHANISMS - 1);
        double y[MOST];
        random_mechanism(&x, n, &random);
        const costate_options run = {.atol = 1e-12};
        costate_steady *s = costate_steady_new(NULL, &x.m.P, &run, NULL);
        memcpy(y, x.y, sizeof y);
        CHECK_STEADY(s, costate_steady_solve(s, y, x.p));
        compare_with_a_run(&x, y, n);
        singular += costate_steady_get_stats(s)->invariants > 0;

        /* differences move all states to both sides */
        for (int i = 0; i < n; i++) x.y[i] += 0.4;
        const costate_map F = costate_steady_map(s);
        const costate_point at = {.y = x.y, .p = x.p};
        costate_report r;
        int status = costate_check_map(&F, n, x.m.P.np, n, &at, s, &r);
        if (status || !(r.tangent < 1e-8 && r.adjoint < 1e-11 && r.tangent2 < 1e-7 && r.adjoint_tangent < 1e-7))
            fail_msg("%d species: %s (%s)", n, r.text, costate_steady_message(s));
        costate_steady_free(s);
    }
    assert_int_equal(singular, MECHANISMS);
}

/* The same invariants are found from a Jacobian made by differences, where rates are not too far apart. */
static void from_differences(void **state)
{
    unsigned random = 4;
    (void)state;
    for (int k = 0; k < MECHANISMS; k++) {
        static mechanism x;
        double y[2][MOST];
        const costate_options run = {.atol = 1e-12, .differences = 1};
        random_mechanism(&x, 8, &random);
        for (int i = 0; i < x.m.P.np; i++) x.p[i] = cbrt(x.p[i]);
        const costate_problem values = {.n = 8, .np = x.m.P.np, .ctx = &x.m, .rhs.value = model_value};
        costate_steady *exact = costate_steady_new(costate_method_find("radau2a5"), &x.m.P, NULL, NULL);
        costate_steady *s = costate_steady_new(costate_method_find("radau2a5"), &values, &run, NULL);
        for (int i = 0; i < 8; i++) y[0][i] = y[1][i] = x.y[i] + 0.1;
        CHECK_STEADY(exact, costate_steady_solve(exact, y[0], x.p));
        CHECK_STEADY(s, costate_steady_solve(s, y[1], x.p));
        assert_int_equal(costate_steady_get_stats(s)->invariants, costate_steady_get_stats(exact)->invariants);
        for (int i = 0; i < 8; i++) assert_float_equal(y[0][i], y[1][i], 1e-9);
        costate_steady_free(exact);
        costate_steady_free(s);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(random_mechanisms), cmocka_unit_test(from_differences)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
