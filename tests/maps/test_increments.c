/* test_increments.c - problems given by their value alone: the differences that make up J and M stand above the
   round-off of what is differenced where y, y' or both are 0, whatever the units and however small atol is.  Starts
   that jac finds regular are so without it, solutions are the same, and Newton's iteration is about as fast. */
#include "step/method.h"
#include "common.h"
#include "ivp.h"

/* ---- y' + k y = k g(t) beside an algebraic z = y/2 + c, y in units S, t in units T, rows in units R ---- */

typedef struct { double S, T, R, k; int algebraic, flat; } system_of;

static double forced(const system_of *q, double t) { return q->flat ? 1 : cos(t / q->T); }

static int residual(const costate_point *x, double *out, void *ctx)
{
    const system_of *q = ctx;
    out[0] = q->R * (x->yp[0] / q->S * q->T + q->k * (x->y[0] / q->S - forced(q, x->t)));
    if (q->algebraic) out[1] = q->R * (x->y[1] / q->S - 0.5 * (x->y[0] / q->S) - 0.25);
    return 0;
}
static int jac(const costate_point *x, double *J, void *ctx)
{
    const system_of *q = ctx;
    (void)x;
    J[0] = q->R * (q->k / q->S);
    if (q->algebraic) J[1] = -0.5 * q->R / q->S, J[2] = 0, J[3] = q->R / q->S;
    return 0;
}
static int jac_yp(const costate_point *x, double *J, void *ctx)
{
    const system_of *q = ctx;
    (void)x;
    J[0] = q->R / q->S * q->T;
    if (q->algebraic) J[1] = J[2] = J[3] = 0;
    return 0;
}
static int rhs(const costate_point *x, double *out, void *ctx)
{
    const system_of *q = ctx;
    out[0] = q->S / q->T * (q->k * (forced(q, x->t) - x->y[0] / q->S));
    return 0;
}
static int rhs_jac(const costate_point *x, double *J, void *ctx)
{
    const system_of *q = ctx;
    (void)x, J[0] = -q->k / q->T;
    return 0;
}

typedef struct { double y[2]; costate_stats count; } result;

/* y(0) = 0 over one unit of time */
static int run(const costate_method *m, const system_of *q, int form, int with_jac, double tol, double tiny, result *r,
               char *said)
{
    int n = 1 + (form && q->algebraic);
    const double atol[2] = {tiny * q->S, tiny * q->S};
    costate_problem P = {.n = n, .ctx = (void *)(uintptr_t)q};
    if (form) P.residual.value = residual;
    else P.rhs.value = rhs;
    if (with_jac) P.jac = form ? jac : rhs_jac;
    if (with_jac && form) P.jac_yp = jac_yp;
    costate_options o = {.rtol = tol, .atol_vector = atol, .differences = 1};
    if (!method_info(m).embedded) o.h0 = q->T / 50;
    costate *c = new_for_test(m, &P, &o);
    r->y[0] = 0, r->y[1] = 0.25 * q->S;
    int status = costate_integrate(c, 0, q->T, r->y, NULL, NULL);
    r->count = *costate_get_stats(c);
    snprintf(said, 200, "%s", costate_message(c));
    costate_free(c);
    return status;
}

static int forms_taken(const costate_method *m, int form, int algebraic)
{
    costate_method_info i = method_info(m);
    if (!form) return !is_explicit(m);
    return is_newton(m) && !(i.properties & COSTATE_EXPLICIT_FIRST) && (!algebraic || (i.properties & COSTATE_DAE));
}

/* The same as with jac; Newton's iteration about as fast, where its end does not wait for digits that only an exact J
   gives. */
static void as_with_jac(const costate_method *m, const system_of *q, int form, double tol, double tiny)
{
    result alone, given;
    char said[200], text[200];
    int wanted = run(m, q, form, 1, tol, tiny, &given, text), got = run(m, q, form, 0, tol, tiny, &alone, said);
    if (wanted != COSTATE_OK) return;                    /* units in which nothing is to be had of this method */
    /* With an atol far below the rounding of differences, J may be so wrong at the start that the iteration stands
       still, which is said. */
    if (got == COSTATE_NEWTON && tiny < 1e-25) return;
    double gap = 0;
    for (int i = 0; i < 1 + (form && q->algebraic); i++)
        gap = larger_of(gap, fabs(alone.y[i] - given.y[i]) / q->S);
    int slow = tiny > 1e-13 && (double)alone.count.newton > 1.3 * (double)given.count.newton + 40;
    if (got != COSTATE_OK || !(gap <= 500 * tol) || slow)
        fail_msg("%s, form %d, algebraic %d, S %g, T %g, R %g, k %g, tol %g, atol %g: %s, apart by %.1e, Newton %ld "
                 "for %ld: %s", method_name(m), form, q->algebraic, q->S, q->T, q->R, q->k, tol, tiny,
                 costate_status_name(got), gap, alone.count.newton, given.count.newton, said);
}

static void stiffness(void **state)
{
    for (int form = 0; form < 2; form++)
        for (double k = 1; k < 2e6; k *= 1e3)
            for (int l = 0; l < 4; l++) {
                double tol = l & 1 ? 1e-7 : 1e-4, tiny = l & 2 ? 1e-3 * tol : tol;
                for (int algebraic = 0; algebraic < 2; algebraic++)
                    if (forms_taken(*state, form, algebraic))
                        as_with_jac(*state, &(system_of){1, 1, 1, k, algebraic, 0}, form, tol, tiny);
            }
}

static void units(void **state)
{
    static const double S[] = {1e-160, 1e-30, 1e-6, 1, 1e20, 1e160}, T[] = {1e-12, 1, 1e9},
                        tiny[] = {1e-5, 1e-12, 1e-30};
    if (!method_info(*state).embedded) return;           /* they do not care for atol but in Newton's iteration */
    for (int i = 0; i < 6 * 3 * 3; i++)
        for (int form = 0; form < 2; form++)
            for (int row = 0; row < 1 + form; row++) {
                system_of q = {S[i % 6], T[i / 6 % 3], row ? 1e-20 : 1, 10, form, i % 5 == 0};
                if (q.S * tiny[i / 18] < 1e-300) continue;
                if (!forms_taken(*state, form, 1)) q.algebraic = 0;
                if (forms_taken(*state, form, 0)) as_with_jac(*state, &q, form, 1e-5, tiny[i / 18]);
            }
}

/* ---- the simplest starts ---- */

static int ball(const costate_point *x, double *out, void *ctx)
{
    (void)ctx, out[0] = x->yp[0] - x->y[1], out[1] = x->yp[1] + 9.81;
    return 0;
}
static int constant(const costate_point *x, double *out, void *ctx)
{
    (void)x, out[0] = x->yp[0] - *(const double *)ctx;
    return 0;
}
/* y1 + y2 + y3 = 1 in place of the third equation */
static int robertson(const costate_point *x, double *out, void *ctx)
{
    const costate_problem *P = ctx;
    int status = P->rhs.value(x, out, P->ctx);
    for (int i = 0; i < 2; i++) out[i] = x->yp[i] - out[i];
    out[2] = x->y[0] + x->y[1] + x->y[2] - 1;
    return status;
}

static void solves(const costate_method *m, const char *what, const costate_problem *P, const costate_options *o,
                   double t1, double *y, double truth, double most)
{
    costate *c = new_for_test(m, P, o);
    CHECK_OK(c, costate_integrate(c, 0, t1, y, NULL, NULL));
    if (!(fabs(y[0] - truth) <= most))
        fail_msg("%s, %s: y(%g) = %.10g, not %.10g", method_name(m), what, t1, y[0], truth);
    costate_free(c);
}

static void starts(void **state)
{
    const costate_method *m = *state;
    static const int index[] = {0, 0, 1};
    ivp reactions;
    if (!forms_taken(m, 1, 0) || !method_info(m).embedded) return;
    assert_int_equal(ivp_robertson(&reactions, 0), COSTATE_OK);
    for (double a = 1e-9; a < 2e9; a *= 1e3) {
        double y = 0;
        costate_problem P = {.n = 1, .ctx = &a, .residual = {.value = constant}};
        solves(m, "y' = a", &P, NULL, 2, &y, 2 * a, (1e-12 + 10 * m->about.rounding) * a + 1e-16);
    }
    for (double atol = 1e-3; atol > 1e-13 && method_info(m).order > 1; atol *= 1e-3) {
        double y[2] = {10, 0};
        costate_problem P = {.n = 2, .residual = {.value = ball}};
        const costate_options o = {.rtol = 1e-6, .atol = atol};
        solves(m, "a ball at rest", &P, &o, 1, y, 10 - 9.81 / 2, 1e-2 * sqrt(atol) + 1e-4);
    }
    for (double atol = 1e-6; atol > 1e-15; atol *= 1e-3)
        for (int k = 0; k < 6 && forms_taken(m, 1, 1); k++) {
            double small = k % 3 == 0 ? 0 : k % 3 == 1 ? 1e-12 : 1e-6, y[3] = {1 - 2 * small, small, small};
            costate_problem P = {.n = 3, .ctx = &reactions.P, .residual = {.value = robertson}, .index = index};
            const costate_options o = {.rtol = 1e-4, .atol = atol, .consistent = k / 3};
            solves(m, "Robertson", &P, &o, 40, y, 0.7158271, 3e-3);
        }
    ivp_free(&reactions);
}

/* ---- Robertson's problem, where y_2 is far below its tolerance, but what it does to the others is slow ---- */

static long iterations(const costate_method *m, const costate_problem *P, const costate_options *o, const double *y0)
{
    double y[3] = {y0[0], y0[1], y0[2]};
    costate *c = costate_new(m, P, o);
    CHECK_OK(c, costate_integrate(c, 0, 1e9, y, NULL, NULL));
    assert_true(fabs(y[0] - 2.083e-6) <= 1e-6 && fabs(y[2] - 1) <= 1e-5);
    long count = costate_get_stats(c)->newton;
    costate_free(c);
    return count;
}

/* An increment of a thousandth of the tolerance, 1e-9, would be 1e2 times y_2: the Jacobian of a point where the
   slowest rate is 1e-7 and not 1e-9, with which steps are no longer than 1e7. */
static void slow_by_what_is_small(void **state)
{
    const costate_method *m = *state;
    ivp x;
    if (!is_newton(m) || !method_info(m).embedded || fabs(method_info(m).r_infinity) > 0.9) skip();
    assert_int_equal(ivp_robertson(&x, 0), COSTATE_OK);
    const costate_problem alone = {.n = 3, .rhs = {.value = x.P.rhs.value}, .ctx = x.P.ctx};
    for (double rtol = 1e-4; rtol > 1e-7; rtol /= 100) {
        const costate_options o = {.rtol = rtol, .atol = 1e-6, .differences = 1};
        long given = iterations(m, &x.P, &o, x.y0), differenced = iterations(m, &alone, &o, x.y0);
        if ((double)differenced > 1.6 * (double)given + 40)
            fail_msg("%s, rtol %g: %ld iterations, with jac %ld", method_name(m), rtol, differenced, given);
    }
    ivp_free(&x);
}

/* ---- tangents by differences, of y' = 10 (cos t - y) from 0: e^(-10 t) ---- */

static void tangents(void **state)
{
    const system_of q = {1, 1, 1, 10, 0, 0};
    const costate_problem P = {.n = 1, .ctx = (void *)(uintptr_t)&q, .rhs = {.value = rhs}};
    if (!method_info(*state).embedded || method_info(*state).order < 3) return;
    for (double atol = 1e-4; atol > 1e-31; atol *= atol > 1e-13 ? 1e-3 : 1e-6) {
        costate_options o = {.rtol = 1e-5, .atol = atol, .differences = 1};
        costate *c = new_for_test(*state, &P, &o);
        costate_tape *tape = costate_tape_new();
        double y = 0, V = 1;
        CHECK_OK(c, costate_integrate(c, 0, 0.3, &y, NULL, tape));
        CHECK_OK(c, costate_tangent(c, tape, 1, &V, NULL, NULL, NULL));
        if (!(fabs(V / exp(-3) - 1) <= 0.02))
            fail_msg("%s, atol %g: tangent %.9g, not %.9g", method_name(*state), atol, V, exp(-3));
        costate_tape_free(tape);
        costate_free(c);
    }
}

int main(void)
{
    return run_by_method("tangents", tangents) + run_by_method("stiffness", stiffness) +
           run_by_method("units", units) + run_by_method("starts", starts) +
           run_by_method("slow by what is small", slow_by_what_is_small);
}
