/* test_stiff_gradients.c - gradients where stage systems have conditions of 1e14: Robertson's problem to t = 1e11,
   POLLU.

   Robertson: mass is conserved and all of it ends in y3, so dy3/dy0 = (1, 1, 1) but for the 2e-8 left in y1.
   POLLU: the adjoint against all 20 tangents, which are the same numbers; and the slow species against a run by
   another method at a tight tolerance. */
#include "common.h"
#include "ivp.h"
#include <float.h>

enum { MOST = 20 };

typedef struct { double lambda[MOST], V[MOST * MOST], steps; } result;

static result gradient(const costate_method *m, const ivp *x, double t1, costate_options o, int tangents)
{
    int n = x->P.n;
    result r = {.steps = 0};
    double y[MOST];
    costate *c = costate_new(m, &x->P, &o);
    costate_tape *tape = costate_tape_new();
    memcpy(y, x->y0, (size_t)n * sizeof *y);
    CHECK_OK(c, costate_integrate(c, 0, t1, y, NULL, tape));
    r.lambda[x->functional] = 1;
    CHECK_OK(c, costate_adjoint(c, tape, 1, r.lambda, NULL, NULL, NULL));
    for (int i = 0; i < n; i++) r.V[i * n + i] = 1;
    if (tangents) CHECK_OK(c, costate_tangent(c, tape, n, r.V, NULL, NULL, NULL));
    r.steps = costate_tape_steps(tape);
    costate_tape_free(tape);
    costate_free(c);
    return r;
}

static int implicit(const costate_method *m)
{
    return !is_explicit(m) && method_info(m).embedded;
}

/* Gauss methods: what is fast is never damped, so the run must follow it, and products of rates up to 4.5e11 over an
   hour enter its tangents with all their round-off.  Where R(infinity) is 1 its errors add up, where it is -1 they
   alternate: to 1e11 gauss4 takes 2.7 million steps, gauss3 more than 0.4 million, gauss5 88 thousand. */
static int undamped(const costate_method_info *i) { return fabs(i->r_infinity) > 0.9; }

static const int stage_solves[] = {COSTATE_STAGE_DIRECT, COSTATE_STAGE_ITERATIVE};

static void robertson(void **state)
{
    const costate_method *m = *state;
    costate_method_info info = method_info(m);
    ivp x = {.own = NULL};
    if (!implicit(m)) return;
    if (undamped(&info) && (info.r_infinity > 0 || info.order < 7)) skip();      /* 0.4 million steps and more */
    assert_int_equal(ivp_robertson(&x, 0), COSTATE_OK);
    x.functional = 2;
    double rtol = undamped(&info)  ? 1e-7
                  : info.order < 3 ? 1e-3
                                   : 1e-4,
           atol = (undamped(&info) ? 1e-8 : x.atol) * rtol;
    for (int k = 0; k < 2; k++) {
        costate_options o = {.rtol = rtol, .atol = atol, .max_steps = 400000};
        o.stage_solve = stage_solves[k];
        o.keep_factors = k ? 1 : -1;
        result r = gradient(m, &x, 1e11, o, 0);
        for (int i = 0; i < 3; i++)
            if (!(fabs(r.lambda[i] - 1) <= 1e-6))
                fail_msg("%s, way %d: dy3/dy0[%d] = %.9f", info.name, k, i, r.lambda[i]);
    }
    x.free_own(x.own);
}

static void pollu(void **state)
{
    const costate_method *m = *state;
    costate_method_info info = method_info(m);
    static const int slow[] = {1, 3, 6, 7, 8, 16};                                   /* those that are there at t = 0 */
    ivp x = {.own = NULL};
    if (!implicit(m)) return;
    assert_int_equal(ivp_pollu(&x, 0), COSTATE_OK);
    result reference =
        gradient(costate_method_find("radau2a5"), &x, x.t1, (costate_options){.rtol = 1e-9, .atol = 1e-9 * x.atol}, 0);
    double size = 0, rtol = info.order < 3 ? 1e-3 : 1e-5,
           allowed = undamped(&info) ? DBL_EPSILON * 4.5e11 * x.t1 : 1e-9;
    for (int i = 0; i < x.P.n; i++) size = fmax(size, fabs(reference.lambda[i]));
    for (int k = 0; k < 2; k++) {
        result r = gradient(m, &x, x.t1,
                            (costate_options){.rtol = rtol, .atol = x.atol * rtol, .stage_solve = stage_solves[k]}, 1);
        for (int i = 0; i < x.P.n; i++) {
            double t = r.V[i * x.P.n + x.functional];
            if (!(fabs(t - r.lambda[i]) <= allowed * size))
                fail_msg("%s, way %d: adjoint %.12e, tangent %.12e (%d)", info.name, k, r.lambda[i], t, i);
        }
        for (size_t i = 0; i < sizeof slow / sizeof *slow; i++)
            if (!(fabs(r.lambda[slow[i]] - reference.lambda[slow[i]]) <= 0.05 * size))
                fail_msg("%s, way %d: gradient by y[%d] %.4e, not %.4e", info.name, k, slow[i], r.lambda[slow[i]],
                         reference.lambda[slow[i]]);
    }
    x.free_own(x.own);
}

int main(void) { return run_by_method("Robertson to 1e11", robertson) + run_by_method("POLLU", pollu); }
