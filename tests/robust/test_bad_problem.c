/* test_bad_problem.c - a wrong problem or option: a solver whose status and sentence name it, and which does nothing
   else. */
#include "meddle.h"
#include <costate/linsol.h>

/* costate_new always gives a solver; every call returns what was wrong, and leaves y alone. */
static void refused(const costate_method *m, const costate_problem *P, const costate_options *o, int status,
                    const char *name)
{
    double y[8], before[8], p[8] = {0};
    costate *c = new_for_test(m, P, o);
    assert_non_null(c);
    if (costate_status(c) != status || !strstr(costate_message(c), name))
        fail_msg("%s: wanted %s and the word \"%s\", got %s: %s", m ? method_name(m) : "NULL",
                 costate_status_name(status), name, costate_status_name(costate_status(c)), costate_message(c));
    for (int i = 0; i < 8; i++) y[i] = before[i] = i;
    char sentence[400];
    snprintf(sentence, sizeof sentence, "%s", costate_message(c));
    assert_int_equal(costate_integrate(c, 0, 1, y, p, NULL), status);
    assert_int_equal(costate_integrate_tlm(c, 0, 1, y, p, 1, y, NULL, NULL, NULL), status);
    assert_int_equal(costate_check_adjoint(c, 0, 1, y, p, NULL), status);
    assert_memory_equal(y, before, sizeof y);
    assert_string_equal(sentence, costate_message(c));
    costate_free(c);
}

static const double negative[] = {1, -1, 1}, nan_vector[] = {1, 1, NAN}, inf_vector[] = {INFINITY, 1, 1},
                    zeros[] = {0, 0, 0};
static const costate_backend empty_backend = {.name = "empty"};

#define O(field, value) {{.field = value}, #field}
#define REAL(field) O(field, NAN), O(field, -1), O(field, INFINITY), O(field, -INFINITY)
#define WHOLE(field, most) O(field, -1), O(field, (most) + 1)
static const struct { costate_options o; const char *name; } bad_options[] = {
    REAL(rtol), REAL(atol), REAL(h0), REAL(hmin), REAL(hmax), REAL(safety), REAL(fac_min), REAL(fac_max),
    REAL(fac_reject), REAL(q_min), REAL(q_max), REAL(newton_tol), O(theta_reuse, NAN), O(theta_reuse, INFINITY),
    O(theta_reuse, 2), O(rtol, 2), O(safety, 2), O(fac_min, 2), O(fac_max, 0.5), O(q_min, 2), O(q_max, 0.5),
    WHOLE(controller, COSTATE_FIXED), WHOLE(estimator, COSTATE_EST_SDIRK), WHOLE(solver, COSTATE_LS_SPARSE),
    WHOLE(storage, COSTATE_CHECKPOINTS), WHOLE(stage_solve, COSTATE_STAGE_ITERATIVE),
    WHOLE(predictor, COSTATE_PREDICT_NONE), WHOLE(cost_error, 1), WHOLE(tangent_error, 1), WHOLE(autonomous, 1),
    WHOLE(derivative_mode, 1), O(keep_factors, -2), O(keep_factors, 2), WHOLE(differences, 1), O(max_steps, -1),
    O(newton_max, -1), REAL(spectral_bound), O(degree_max, -1),
    O(newton_max, 256),                                    /* the tape counts iterations in a byte */
    O(rtol_vector, negative), O(atol_vector, negative), O(rtol_vector, nan_vector), O(atol_vector, inf_vector),
    {{.rtol_vector = zeros, .atol_vector = zeros}, "rtol_vector[0]"}, {{.hmin = 2, .hmax = 1}, "hmin"},
    {{.controller = COSTATE_FIXED}, "h0"},
};

static void options(void **state)
{
    NEEDS_ESTIMATE(*state);
    const problem *b = problem_synthetic(MASS_REGULAR, 0, 2, 2, 0);
    for (size_t k = 0; k < sizeof bad_options / sizeof *bad_options; k++)
        refused(*state, &b->P, &bad_options[k].o, COSTATE_BAD_ARGUMENT, bad_options[k].name);
    refused(*state, &b->P, &(costate_options){.backend = &empty_backend}, COSTATE_BAD_ARGUMENT, "backend");
    if (method_info(*state).family != COSTATE_FIRK)
        refused(*state, &b->P, &(costate_options){.estimator = COSTATE_EST_SDIRK}, COSTATE_BAD_ARGUMENT, "estimator");
}

static const int col[] = {0, 2, 4, 6}, rows_unsorted[] = {0, 1, 1, 0, 1, 2}, rows_repeated[] = {0, 1, 1, 1, 1, 2},
                 rows_low[] = {-1, 1, 0, 1, 1, 2}, rows_high[] = {0, 1, 0, 1, 1, 3}, rows[] = {0, 1, 0, 1, 1, 2},
                 col_falls[] = {0, 4, 2, 6}, col_start[] = {1, 2, 4, 6};
static const costate_pattern bad_patterns[] = {
    {3, col, rows_unsorted}, {3, col, rows_repeated}, {3, col, rows_low}, {3, col, rows_high}, {3, col_falls, rows},
    {3, col_start, rows}, {2, col, rows}, {4, col, rows}, {0, col, rows}, {3, NULL, rows}, {3, col, NULL}};

static void problems(void **state)
{
    const costate_method *m = *state;
    const costate_problem good = problem_synthetic(MASS_IDENTITY, 0, 2, 2, 0)->P;
    costate_problem P;
    refused(m, NULL, NULL, COSTATE_BAD_ARGUMENT, "problem");
    P = good; P.n = 0; refused(m, &P, NULL, COSTATE_BAD_ARGUMENT, "problem.n ");
    P = good; P.n = -3; refused(m, &P, NULL, COSTATE_BAD_ARGUMENT, "problem.n ");
    P = good; P.np = -1; refused(m, &P, NULL, COSTATE_BAD_ARGUMENT, "problem.np");
    P = good; P.nq = -1; refused(m, &P, NULL, COSTATE_BAD_ARGUMENT, "problem.nq");
    P = good; P.rhs.value = NULL; refused(m, &P, NULL, COSTATE_MISSING, "rhs.value");
    P = good; P.cost.value = NULL; refused(m, &P, NULL, COSTATE_MISSING, "cost.value");
    for (size_t k = 0; k < sizeof bad_patterns / sizeof *bad_patterns; k++) {
        P = good; P.pattern = &bad_patterns[k]; refused(m, &P, NULL, COSTATE_BAD_ARGUMENT, "pattern");
        costate_report r;
        double y[3] = {0}, p[2] = {0};
        assert_int_equal(costate_check_problem(&P, &(costate_point){.y = y, .p = p}, &r, NULL), COSTATE_BAD_ARGUMENT);
        assert_non_null(strstr(r.text, "pattern"));
    }
}

/* ---- M ------------------------------------------------------------------------------------------------- */

static int mass_fails(double *M, void *ctx) { (void)M, (void)ctx; return -7; }
static int mass_zero(double *M, void *ctx) { (void)ctx; memset(M, 0, 9 * sizeof *M); return 0; }
static int mass_nan(double *M, void *ctx) { mass_zero(M, ctx); M[4] = NAN; return 0; }
static int mass_inf(double *M, void *ctx) { mass_zero(M, ctx); M[0] = INFINITY; return 0; }

static void mass(void **state)
{
    const costate_method *m = *state;
    costate_problem P = problem_synthetic(MASS_IDENTITY, 0, 2, 2, 0)->P;
    P.mass = mass_fails; refused(m, &P, NULL, COSTATE_CALLBACK, "mass");
    P.mass = mass_nan; refused(m, &P, NULL, COSTATE_BAD_ARGUMENT, "mass");
    P.mass = mass_inf; refused(m, &P, NULL, COSTATE_BAD_ARGUMENT, "mass");
    P.mass = mass_zero;
    if (!method_takes(m, MASS_SINGULAR)) {
        refused(m, &P, NULL, COSTATE_BAD_ARGUMENT, "mass");
        refused(m, &problem_synthetic(MASS_SINGULAR, 0, 2, 2, 1)->P, NULL, COSTATE_BAD_ARGUMENT, "mass");
    }
    for (int sparse = 0; sparse <= 1 && !method_takes(m, MASS_REGULAR); sparse++)
        refused(m, &problem_synthetic(MASS_REGULAR, 0, 2, 2, sparse)->P, NULL, COSTATE_BAD_ARGUMENT, "diagonal mass");
}

/* ---- missing callbacks --------------------------------------------------------------------------------- */

static void *take_away(costate_problem *P, int which)       /* not NULL: something was there */
{
    switch (which) {
    case CB_TANGENT: P->rhs.tangent = NULL; break;
    case CB_ADJOINT: P->rhs.adjoint = NULL; break;
    case CB_TANGENT2: P->rhs.tangent2 = NULL; break;
    case CB_ADJOINT_TANGENT: P->rhs.adjoint_tangent = NULL; break;
    case CB_COST_TANGENT: P->cost.tangent = NULL; break;
    case CB_COST_ADJOINT: P->cost.adjoint = NULL; break;
    case CB_COST_TANGENT2: P->cost.tangent2 = NULL; break;
    case CB_COST_ADJOINT_TANGENT: P->cost.adjoint_tangent = NULL; break;
    case CB_JAC: P->jac = NULL; break;
    default: return NULL;
    }
    return P;
}

enum { FORWARD, TANGENT, ADJOINT };

/* the table in costate.h, for a problem that depends on t and p and has integrals; jac is never needed: rhs.tangent
   gives it */
static int needed(int family, int mode, int which)
{
    int ros = family == COSTATE_ROS;
    if (which == CB_TANGENT || which == CB_COST_TANGENT) return ros || mode == TANGENT;
    if (which == CB_ADJOINT || which == CB_COST_ADJOINT) return mode == ADJOINT;
    if (which == CB_TANGENT2 || which == CB_COST_TANGENT2) return ros && mode == TANGENT;
    if (which == CB_ADJOINT_TANGENT || which == CB_COST_ADJOINT_TANGENT) return ros && mode == ADJOINT;
    return 0;
}

static void missing(void **state)
{
    const problem *b = problem_synthetic(MASS_IDENTITY, 0, 2, 2, 0);
    costate_options o = {.rtol = 1e-2, .atol = 1e-2};
    for (int which = 0; which < CB_COUNT; which++) {
        costate_problem P = b->P;
        if (!take_away(&P, which)) continue;
        for (int mode = FORWARD; mode <= ADJOINT; mode++) {
            double a[5] = {1, 1, 1, 1, 1}, y[5] = {0.8, 0.25, 0.55}, mu[2] = {0}, start[5];
            int lacks = needed(method_info(*state).family, mode, which), status;
            costate_tape *tape = costate_tape_new();
            costate *c = new_for_test(*state, &P, &o);
            memcpy(start, y, sizeof y);
            if (mode == TANGENT) status = costate_integrate_tlm(c, 0.3, 0.6, y, b->p0, 1, a, mu, NULL, NULL);
            else status = costate_integrate(c, 0.3, 0.6, y, b->p0, tape);
            if (mode == ADJOINT && status == COSTATE_OK) status = costate_adjoint(c, tape, 1, a, mu, NULL, NULL);
            if (status != (lacks ? COSTATE_MISSING : COSTATE_OK) ||
                (lacks && !strstr(costate_message(c), callback_names[which])))
                fail_msg("%s lacks %s, mode %d: %s: %s", method_name(*state), callback_names[which], mode,
                         costate_status_name(status), costate_message(c));
            if (lacks) assert_true(a[0] == 1 && a[4] == 1 && (mode == ADJOINT || memcmp(y, start, sizeof y) == 0));
            costate_free(c);
            costate_tape_free(tape);
        }
    }
}

int main(void)
{
    return run_by_method("wrong options", options) + run_by_method("wrong problems", problems) +
           run_by_method("wrong M", mass) + run_by_method("missing callbacks", missing);
}
