/* test_check_smooth.c - costate_check_matrix says how far a matrix of the user's departs from sigma M - f_y on smooth
   vectors, and warns where slow modes then move with wrong rates: of y, y' and lambda, with a mass matrix, and not of
   modes that decay within a step. */
#include "departing.h"

static const double Y[DEPARTING] = {1, 1, 1};

typedef struct { const char *method; double rtol, h; const double *y; int no_tangent, no_adjoint; } asked;

static costate_report checked(departing *d, asked how)
{
    costate_problem P = departing_problem(d);
    const costate_preconditioner p = departing_preconditioner(d);
    costate_report r;
    if (how.no_tangent) P.rhs.tangent = NULL;
    if (how.no_adjoint) P.rhs.adjoint = NULL;
    costate *c = costate_new(costate_method_find(how.method ? how.method : "w6s4os"), &P, &(costate_options){
                             .solver = COSTATE_LS_PRECONDITIONER, .preconditioner = &p,
                             .rtol = how.rtol > 0 ? how.rtol : 1e-4});
    int status = costate_check_matrix(c, 0, how.h != 0 ? how.h : 0.01, how.y ? how.y : Y, NULL, &r);
    if (status) fail_msg("%d %s", status, r.text);          /* a warning fails nothing */
    costate_free(c);
    return r;
}

static void expect(costate_report r, double departure, const char *of)
{
    char warned[32] = "WARNING";
    if (of) snprintf(warned, sizeof warned, "%s%s%s WARNING", of[0] ? "(" : "", of, of[0] ? ")" : "");
    int says = strstr(r.text, warned) != NULL;
    if (!(fabs(r.smooth - departure) < 1e-12 && says == (of != NULL)))
        fail_msg("%.17g, not %.17g: %s", r.smooth, departure, r.text);
}

/* "" stands for any vector: with any M, and backward in time */
static void departures(void **state)
{
    (void)state;
    for (int k = 0; k < 3; k++) {
        departing d = {.a = {1, 2, 3}, .x = {0.5, 0.5, 0.5}, .m = k == 1 ? 3 : 1};
        expect(checked(&d, (asked){.h = k == 2 ? -0.01 : 0.01}), 0.5, "");
        for (int i = 0; i < DEPARTING; i++) d.x[i] = 1;
        costate_report r = checked(&d, (asked){.h = 0.01});
        assert_true(r.smooth < 1e-14 && strstr(r.text, "rates of slow modes wrong by"));
    }
}

/* 0.0010 is the part by which rates are wrong for x = 0.83: more than rtol = 1e-6 allows, less than 1e-4 does */
static void tolerances(void **state)
{
    (void)state;
    departing d = {.a = {1, 2, 3}, .x = {0.83, 0.83, 0.83}, .m = 1};
    expect(checked(&d, (asked){.rtol = 1e-4}), 0.17, NULL);
    expect(checked(&d, (asked){.rtol = 1e-6}), 0.17, "");
    for (int i = 0; i < DEPARTING; i++) d.x[i] = 0.55;      /* 0.048 */
    expect(checked(&d, (asked){.rtol = 1e-2}), 0.45, "");
    for (int i = 0; i < DEPARTING; i++) d.x[i] = 0.62;      /* 0.025 */
    expect(checked(&d, (asked){.rtol = 1e-2}), 0.38, NULL);
}

/* A matrix may be too soft for slow modes as well, and nothing is more wrong than by all that it is. */
static void soft(void **state)
{
    (void)state;
    departing d = {.a = {1, 1, 1}, .x = {2.1, 2.1, 2.1}, .m = 1};
    costate_report r = checked(&d, (asked){.method = "rosi2pw"});
    const char *at = strstr(r.text, "wrong by the part ");
    double part = at ? strtod(at + strlen("wrong by the part "), NULL) : 0;
    if (!(part > 0.9 && part <= 1)) fail_msg("%s", r.text);
}

/* The first unknown departs: y contains it and y' does not, the other way round, and neither does. */
static void vectors(void **state)
{
    (void)state;
    const double without[DEPARTING] = {0, 1, 1};
    departing d = {.a = {1, 1, 1}, .b = {1, 1, 1}, .x = {0.4, 1, 1}, .m = 1};
    const double only[DEPARTING] = {1, 0, 0};
    for (int i = 1; i < DEPARTING; i++) d.b[i] = 0;         /* y' = 0 */
    expect(checked(&d, (asked){.y = only, .no_adjoint = 1}), 0.6, "y");
    d.b[1] = d.b[2] = 1;                                    /* y' = (1, 0, 0) */
    expect(checked(&d, (asked){.y = without, .no_adjoint = 1}), 0.6, "y'");
    d.b[0] = 0;
    d.b[1] = d.b[2] = 2;                                    /* y' = (0, 1, 1) */
    costate_report r = checked(&d, (asked){.y = without, .no_adjoint = 1});
    assert_true(r.smooth < 1e-14);
    r = checked(&d, (asked){.y = without, .rtol = 1e-5});
    if (!(r.smooth > 0.1 && strstr(r.text, "(lambda) WARNING"))) fail_msg("%s", r.text);
    r = checked(&d, (asked){.y = without, .no_tangent = 1});
    assert_true(isnan(r.smooth));
}

/* Fast modes need not be exact: where y contains them besides slow ones, and where there is nothing else.  h a is 2e4,
   40 and 5. */
static void fast_modes(void **state)
{
    (void)state;
    departing d = {.a = {1, 2e6, 4e3}, .x = {1, 0.2, 0.2}, .m = 1};
    costate_report r = checked(&d, (asked){.rtol = 1e-4});
    assert_null(strstr(r.text, "WARNING"));
    departing alone = {.a = {500, 500, 500}, .x = {0.3, 0.3, 0.3}, .m = 1};
    expect(checked(&alone, (asked){.rtol = 1e-2}), 0.7, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(departures), cmocka_unit_test(tolerances),
                                       cmocka_unit_test(soft), cmocka_unit_test(vectors),
                                       cmocka_unit_test(fast_modes)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
