/* test_check_matrix.c - costate_check_matrix finds what is wrong with a matrix of the user's: not linear, a wrong
   transpose, dependent on t or y, several columns, return codes, NaN, too soft; and W that depends on t or y. */
#include "any_matrix.h"
#include "line_heat.h"

/* ---- a preconditioner that is right but for one fault: diagonal, for y' = -rate y ---- */

enum fault { NONE, NOT_LINEAR, NOT_TRANSPOSED, OF_Y, OF_T, COLUMNS, SETUP_CODE, SOLVE_CODE, IS_NAN, FAULTS };
enum { UNKNOWNS = 5 };
typedef struct { enum fault fault; double sigma, extra, soft; } faulty;

static double rate(int i) { return 1 + 1000.0 * i; }

static int f(const costate_point *x, double *out, void *ctx)
{
    (void)ctx;
    for (int i = 0; i < UNKNOWNS; i++) out[i] = -rate(i) * x->y[i];
    return 0;
}

static int tangent_of_f(const costate_point *x, const costate_point *dx, double *out, void *ctx)
{
    const costate_point at = {.y = dx->y};
    (void)x;
    if (dx->y) return f(&at, out, ctx);
    memset(out, 0, UNKNOWNS * sizeof *out);
    return 0;
}

static int faulty_setup(double sigma, const costate_point *x, void *ctx)
{
    faulty *P = ctx;
    P->sigma = sigma;
    P->extra = P->fault == OF_Y ? x->y[1] : P->fault == OF_T ? x->t : 0;
    return P->fault == SETUP_CODE ? -3 : 0;
}

static int faulty_solve(int transpose, double *x, void *ctx)
{
    const faulty *P = ctx;
    const double mixed = 0.1;                   /* (I + mixed e_0 e_4^T) D^-1, whose transpose is another matrix */
    if (transpose) x[4] += mixed * x[0];
    for (int i = 0; i < UNKNOWNS; i++) x[i] /= P->sigma + (rate(i) + P->extra) / P->soft;
    if (!transpose) x[0] += mixed * x[4];
    if (P->fault == NOT_LINEAR) x[2] += 1e-6 * x[1] * x[1] * P->sigma;
    if (P->fault == NOT_TRANSPOSED) x[0] += 1e-6 * x[1];
    if (P->fault == IS_NAN) x[3] = NAN;
    return P->fault == SOLVE_CODE ? 1 : 0;
}

static int faulty_columns(int transpose, int count, double *X, void *ctx)
{
    const faulty *P = ctx;
    for (int j = 0; j < count; j++) faulty_solve(transpose, X + j * UNKNOWNS, ctx);
    if (P->fault == COLUMNS && count > 1) X[UNKNOWNS * count - 1] *= 1 + 1e-6;
    return 0;
}

static int check_of(faulty *P, int products, costate_report *r)
{
    const costate_preconditioner p = {.setup = faulty_setup, .solve = faulty_solve, .ctx = P,
                                      .solves = P->fault == COLUMNS ? faulty_columns : NULL};
    costate_problem equations = {.n = UNKNOWNS, .rhs = {.value = f}};
    if (products) equations.rhs.tangent = tangent_of_f;
    const double y[UNKNOWNS] = {1, 2, 3, 4, 5};
    costate *c = costate_new(costate_method_find("w6s4os"), &equations, &(costate_options){
                             .solver = COSTATE_LS_PRECONDITIONER, .preconditioner = &p});
    int status = costate_check_matrix(c, 1, 0.1, y, NULL, r);
    assert_string_equal(status == COSTATE_CHECK_FAILED || status == COSTATE_OK ? r->text : costate_message(c), r->text);
    costate_free(c);
    return status;
}

static void faults(void **state)
{
    static const struct { int status; const char *words; } expected[FAULTS] = {
        [NONE] = {COSTATE_OK, "Departure from linearity"},
        [NOT_LINEAR] = {COSTATE_CHECK_FAILED, "WRONG: the operator must be linear"},
        [NOT_TRANSPOSED] = {COSTATE_CHECK_FAILED, "WRONG: solve with transpose = 1 is not the transpose"},
        [OF_Y] = {COSTATE_CHECK_FAILED, "WRONG: the matrix may depend on sigma and p alone"},
        [OF_T] = {COSTATE_CHECK_FAILED, "WRONG: the matrix may depend on sigma and p alone"},
        [COLUMNS] = {COSTATE_CHECK_FAILED, "WRONG: several columns at once give another result"},
        [SETUP_CODE] = {COSTATE_CALLBACK, "The preconditioner's setup returned -3"},
        [SOLVE_CODE] = {COSTATE_SINGULAR, "the preconditioner was singular or not finite"},
        [IS_NAN] = {COSTATE_NOT_FINITE, "NaN"},
    };
    (void)state;
    for (int k = 0; k < FAULTS; k++) {
        faulty P = {.fault = (enum fault)k, .soft = 1};
        costate_report r;
        int status = check_of(&P, 1, &r), wrong = 0;
        if (status != expected[k].status || !strstr(r.text, expected[k].words))
            fail_msg("%d: %d %s", k, status, r.text);
        for (const char *at = r.text; (at = strstr(at, "WRONG")); at++) wrong++;
        /* what is right is not blamed; where it is not linear, nothing is a transpose */
        if (k != NOT_LINEAR) assert_int_equal(wrong, status == COSTATE_CHECK_FAILED);
        if (k == NONE) assert_true(r.linear < 1e-14 && r.transpose < 1e-14 && r.repeats == 0);
    }
}

/* too soft by 10, 30, 60 % at an eigenvalue of 1.24 nearly, and stiffer; the value is the eigenvalue of the last one */
static void softness(void **state)
{
    static const double soft[] = {0.1, 0.9, 1.1, 1.3, 1.6};
    (void)state;
    for (int k = 0; k < 5; k++) {
        faulty P = {.fault = NONE, .soft = 1.3 * soft[k]};
        costate_report r;
        const double sigma = 40, a = rate(UNKNOWNS - 1), slow = rate(0);
        int status = check_of(&P, 1, &r);
        double exact = fmax((sigma + a) / (sigma + a / P.soft), (sigma + slow) / (sigma + slow / P.soft));
        assert_true(fabs(r.softness / exact - 1) < 0.02);
        assert_int_equal(status, exact > 1.24 ? COSTATE_CHECK_FAILED : COSTATE_OK);
        if (status) assert_non_null(strstr(r.text, "WRONG: the matrix is too soft for the method"));
        assert_int_equal(check_of(&P, 0, &r), COSTATE_OK);
        assert_true(isnan(r.softness) && strstr(r.text, "rhs.tangent is missing"));
    }
}

/* ---- W by its entries ---- */

static int w_of(const costate_point *x, double *W_, void *ctx)
{
    const enum fault *fault = ctx;
    for (int k = 0; k < 4; k++) W_[k] = -(k % 3 == 0);
    if (*fault == OF_Y) W_[3] += 1e-3 * x->y[0];
    if (*fault == OF_T) W_[1] = x->t;
    if (*fault == IS_NAN) W_[0] = NAN;
    return *fault == SETUP_CODE ? -2 : 0;
}

static int decay(const costate_point *x, double *out, void *ctx)
{
    (void)ctx;
    for (int i = 0; i < 2; i++) out[i] = -x->y[i];
    return 0;
}

static void matrices(void **state)
{
    static const struct { enum fault fault; int status; const char *words; } all[] = {
        {NONE, COSTATE_OK, ""}, {OF_Y, COSTATE_CHECK_FAILED, "jac (W) WRONG: not constant: row 1 of column 1"},
        {OF_T, COSTATE_CHECK_FAILED, "jac (W) WRONG: not constant: row 1 of column 0"},
        {IS_NAN, COSTATE_CHECK_FAILED, "jac (W) WRONG: row 0 of column 0 is nan"},
        {SETUP_CODE, COSTATE_CALLBACK, "The callback jac returned -2."}};
    (void)state;
    for (size_t k = 0; k < sizeof all / sizeof *all; k++) {
        enum fault fault = all[k].fault;
        const costate_problem P = {.n = 2, .ctx = &fault, .rhs = {.value = decay}, .jac = w_of, .jac_is_w = 1};
        const double y[] = {1, 2};
        const costate_point x = {.t = 0.5, .y = y};
        costate_report r;
        int status = costate_check_problem(&P, &x, &r, NULL);
        if (status != all[k].status || !strstr(r.text, all[k].words)) fail_msg("%zu: %d %s", k, status, r.text);
        assert_true(status ? r.jac != 0 : r.jac == 0);
        costate *c = costate_new(costate_method_find("ros34pw2"), &P, NULL);
        status = costate_check_matrix(c, 0.5, -0.1, y, NULL, &r);
        int expected = fault == IS_NAN ? COSTATE_NOT_FINITE : fault == SETUP_CODE ? COSTATE_CALLBACK : all[k].status;
        if (status != expected) fail_msg("%zu: %d %s", k, status, r.text);
        costate_free(c);
    }
}

static void refusals(void **state)
{
    (void)state;
    const problem *b = problem_find("lv");
    matrix K = {.n = 2};
    const costate_preconditioner p = {.setup = setup, .solve = solve, .ctx = &K};
    costate *plain = costate_new(costate_method_find("w6s4os"), &b->P, NULL);
    costate *c = costate_new(costate_method_find("w6s4os"), &b->P, &(costate_options){.preconditioner = &p,
                             .solver = COSTATE_LS_PRECONDITIONER});
    costate_report r;
    double y[4] = {1, 1}, before, after;
    assert_int_equal(costate_check_matrix(plain, 0, 0.1, y, b->p0, &r), COSTATE_BAD_ARGUMENT);
    assert_non_null(strstr(r.text, "The matrix of the stages is not the user's"));
    assert_int_equal(costate_check_matrix(c, 0, 0.1, y, b->p0, NULL), COSTATE_BAD_ARGUMENT);
    assert_int_equal(costate_check_matrix(c, 0, 0, y, b->p0, &r), COSTATE_BAD_ARGUMENT);
    assert_int_equal(costate_check_matrix(c, 0, NAN, y, b->p0, &r), COSTATE_BAD_ARGUMENT);
    assert_int_equal(costate_check_matrix(c, 0, 0.1, NULL, b->p0, &r), COSTATE_BAD_ARGUMENT);
    assert_int_equal(costate_check_matrix(NULL, 0, 0.1, y, b->p0, &r), COSTATE_BAD_ARGUMENT);
    /* a run after it is that of a solver that checked nothing */
    CHECK_OK(c, costate_integrate(c, 0, 1, y, b->p0, NULL));
    before = y[0];
    y[0] = y[1] = 1;
    for (int i = 2; i < b->P.n + b->P.nq; i++) y[i] = 0;
    costate_check_matrix(c, 0, 0.1, y, b->p0, &r);
    CHECK_OK(c, costate_integrate(c, 0, 1, y, b->p0, NULL));
    after = y[0];
    assert_memory_equal(&before, &after, sizeof before);
    costate_free(plain);
    costate_free(c);
}

static int undefined(const costate_point *x, double *out, void *ctx)
{
    (void)x; (void)ctx;
    *out = NAN;
    return 0;
}

/* Builds with the address sanitizer also see that nothing leaks. */
static void relations_that_fail(void **state)
{
    (void)state;
    faulty P = {.fault = NONE, .soft = 1};
    const costate_preconditioner p = {.setup = faulty_setup, .solve = faulty_solve, .ctx = &P};
    const costate_relation relation = {.guard = {.value = undefined}};
    const costate_problem equations = {.n = UNKNOWNS, .rhs = {.value = f, .tangent = tangent_of_f},
                                       .nrelations = 1, .relation = &relation};
    costate *c = costate_new(costate_method_find("w6s4os"), &equations, &(costate_options){.preconditioner = &p,
                             .solver = COSTATE_LS_PRECONDITIONER});
    costate_report r;
    assert_int_equal(costate_check_matrix(c, 0, 0.1, (double[UNKNOWNS]){1, 1, 1, 1, 1}, NULL, &r), COSTATE_NOT_FINITE);
    assert_non_null(strstr(r.text, "relation[0].guard is NaN or Inf at t = 0"));
    costate_free(c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(faults), cmocka_unit_test(softness), cmocka_unit_test(matrices),
                                       cmocka_unit_test(refusals), cmocka_unit_test(relations_that_fail)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
