/* test_index2_end.c - unknowns of index 2 end consistent: z(t1), its derivative by t1, and that of a run whose end an
   event moves converge alike, with every method; without second products they are refused, not wrong. */
#include "common.h"

/* y' = z - y, 0 = y - sin t: z = cos t + sin t */
static int value(const costate_point *x, double *o, void *ctx)
{
    (void)ctx;
    o[0] = x->y[1] - x->y[0];
    o[1] = x->y[0] - sin(x->t);
    return 0;
}

static int tangent(const costate_point *x, const costate_point *d, double *o, void *ctx)
{
    (void)ctx;
    o[0] = d->y ? d->y[1] - d->y[0] : 0;
    o[1] = (d->y ? d->y[0] : 0) - cos(x->t) * d->t;
    return 0;
}

static int adjoint(const costate_point *x, const double *w, const costate_gradient *g, void *ctx)
{
    (void)ctx;
    if (g->y) { g->y[0] += w[1] - w[0]; g->y[1] += w[0]; }
    if (g->t) *g->t -= cos(x->t) * w[1];
    return 0;
}

static int tangent2(const costate_point *x, const costate_point *a, const costate_point *b, double *o, void *ctx)
{
    (void)ctx;
    o[0] = 0;
    o[1] = sin(x->t) * a->t * b->t;
    return 0;
}

static int adjoint_tangent(const costate_point *x, const costate_point *d, const double *w, const costate_gradient *g,
                           void *ctx)
{
    (void)ctx;
    if (g->t) *g->t += sin(x->t) * d->t * w[1];
    return 0;
}

static int jac(const costate_point *x, double *J, void *ctx)
{
    (void)x, (void)ctx;
    J[0] = -1, J[1] = 1, J[2] = 1, J[3] = 0;
    return 0;
}

static int mass(double *M, void *ctx)
{
    (void)ctx;
    M[0] = 1, M[1] = M[2] = M[3] = 0;
    return 0;
}

static const int index_of[] = {0, 2};

static costate_problem problem_of(int second)
{
    costate_problem P = {.n = 2, .rhs = {.value = value, .tangent = tangent, .adjoint = adjoint}, .jac = jac,
                         .mass = mass, .index = index_of};
    if (second) { P.rhs.tangent2 = tangent2; P.rhs.adjoint_tangent = adjoint_tangent; }
    return P;
}

typedef struct { int status, tangent, adjoint; double z, forward, back; } errors;

static errors run(const costate_method *m, const costate_problem *P, double h, int consistent)
{
    costate_options o = {.rtol = 1e-10, .atol = 1e-10, .h0 = h, .controller = COSTATE_FIXED, .consistent = consistent,
                         .derivative_mode = 1};
    costate *c = costate_new(m, P, &o);
    costate_tape *tape = costate_tape_new();
    double y[2] = {0, 1}, V[2] = {0}, lambda[2] = {0, 1}, one = 1, t1, slope = cos(1) - sin(1);
    costate_times d = {.t1 = &one}, g = {.t1 = &t1};
    errors e = {.status = costate_integrate(c, 0, 1, y, NULL, tape)};
    if (!e.status) e.tangent = costate_tangent(c, tape, 1, V, NULL, &d, NULL);
    if (!e.status) e.adjoint = costate_adjoint(c, tape, 1, lambda, NULL, &g, NULL);
    if (e.tangent == COSTATE_MISSING) assert_non_null(strstr(costate_message(c), "COSTATE_CONSISTENT_NONE"));
    e.z = fabs(y[1] - cos(1) - sin(1));
    e.forward = fabs(V[1] - slope);
    e.back = fabs(t1 - slope);
    costate_tape_free(tape);
    costate_free(c);
    return e;
}

static void converge(void **state)
{
    const costate_problem P = problem_of(1), first = problem_of(0);
    if (!is_newton(*state) || !(method_info(*state).properties & COSTATE_DAE)) skip();
    double h = 0.05;
    errors a = run(*state, &P, h, 0), none = run(*state, &P, h, COSTATE_CONSISTENT_NONE);
    if (a.status == COSTATE_BAD_ARGUMENT) skip();
    assert_int_equal(a.status, COSTATE_OK);
    assert_int_equal(a.tangent, COSTATE_OK);
    assert_int_equal(a.adjoint, COSTATE_OK);
    /* where the last stage is the step's end, y is on its constraint to round-off, and so are z and its slope */
    int exact = method_info(*state).properties & COSTATE_STIFFLY_ACCURATE;
    errors half = run(*state, &P, h / 2, 0);
    if (!(exact ? a.z < 1e-9 && a.forward < 1e-9 && a.back < 1e-9 : half.z < 0.6 * a.z && half.back < 0.6 * a.back))
        fail_msg("%s: z %.1e, tangent %.1e, adjoint %.1e; with half the step z %.1e, adjoint %.1e", method_name(*state),
                 a.z, a.forward, a.back, half.z, half.back);
    assert_int_equal(none.tangent, COSTATE_OK);
    if (none.z < a.z) fail_msg("%s: taken as it is, z is better: %.1e, %.1e", method_name(*state), none.z, a.z);
    errors without = run(*state, &first, h, 0), asked = run(*state, &first, h, COSTATE_CONSISTENT_NONE);
    assert_int_equal(without.status, COSTATE_OK);
    assert_int_equal(without.tangent, COSTATE_MISSING);
    assert_int_equal(without.adjoint, COSTATE_MISSING);
    assert_true(asked.tangent == COSTATE_OK && asked.adjoint == COSTATE_OK);
    assert_true(asked.z == none.z && asked.back == none.back);
}

int main(void) { return run_by_method("index 2 at the end", converge); }
