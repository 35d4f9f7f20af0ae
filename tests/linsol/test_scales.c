/* test_scales.c - tiny and huge numbers: the linear systems of tangents and adjoints are solved whatever the size of
   states and functionals, as long as numbers can hold them.  What is small is not zero: adjoints of contractive
   problems get so. */
#include "common.h"
#include <costate/linsol.h>

/* y_i' = -rate_i y_i, n = 2, stages solved by both ways and without a matrix */
enum { N = 2 };
static const double rates[N] = {1, 3};

static int f(const costate_point *x, double *out, void *ctx)
{
    (void)ctx;
    for (int i = 0; i < N; i++) out[i] = -rates[i] * x->y[i];
    return 0;
}

static int f_tangent(const costate_point *x, const costate_point *dx, double *out, void *ctx)
{
    (void)x, (void)ctx;
    for (int i = 0; i < N; i++) out[i] = dx->y ? -rates[i] * dx->y[i] : 0;
    return 0;
}

static int f_adjoint(const costate_point *x, const double *w, const costate_gradient *g, void *ctx)
{
    (void)x, (void)ctx;
    for (int i = 0; g->y && i < N; i++) g->y[i] -= rates[i] * w[i];
    return 0;
}

static int none2(const costate_point *x, const costate_point *a, const costate_point *b, double *out, void *ctx)
{
    (void)x, (void)a, (void)b, (void)ctx;
    out[0] = out[1] = 0;
    return 0;
}

static int none_adjoint(const costate_point *x, const costate_point *dx, const double *w, const costate_gradient *g,
                        void *ctx)
{
    (void)x, (void)dx, (void)w, (void)g, (void)ctx;
    return 0;
}

static int jac(const costate_point *x, double *J, void *ctx)
{
    (void)x, (void)ctx;
    J[0] = -rates[0];
    J[1] = J[2] = 0;
    J[3] = -rates[1];
    return 0;
}

static const costate_problem decay = {.n = N, .rhs = {.value = f, .tangent = f_tangent, .adjoint = f_adjoint,
                                                      .tangent2 = none2, .adjoint_tangent = none_adjoint}, .jac = jac};

typedef struct { double y[N], V[N], lambda[N]; } result;

/* from y0, V0 = lambda1 = seed, over t1 with N steps */
static result run(const costate_method *m, costate_options o, double t1, double y0, double seed)
{
    result r = {{y0, y0}, {seed, 2 * seed}, {seed, -seed}};
    costate *c = costate_new(m, &decay, &o);
    costate_tape *tape = costate_tape_new();
    CHECK_OK(c, costate_integrate(c, 0, t1, r.y, NULL, tape));
    CHECK_OK(c, costate_tangent(c, tape, 1, r.V, NULL, NULL, NULL));
    CHECK_OK(c, costate_adjoint(c, tape, 1, r.lambda, NULL, NULL, NULL));
    costate_tape_free(tape);
    costate_free(c);
    return r;
}

/* the three ways to solve */
static int way(const costate_method *m, int k, costate_options *o)
{
    if (k == 2) o->solver = COSTATE_LS_GMRES;
    else o->stage_solve = COSTATE_STAGE_DIRECT + k;
    return is_explicit(m) ? k == 0 : is_newton(m) || k != 1;
}

/* The frozen map is linear, so V and lambda scale with their seeds: exactly, by powers of two, and out to 1e-280.
   States scale with atol. */
static void scaled(void **state)
{
    static const int powers[] = {-900, -560, -200, 200, 560, 900};
    for (int k = 0; k < 3; k++) {
        costate_options o = {.controller = COSTATE_FIXED, .h0 = 0.125, .rtol = 1e-6, .atol = 1e-6};
        if (!way(*state, k, &o)) continue;
        result one = run(*state, o, 2, 1, 1);
        for (size_t j = 0; j < sizeof powers / sizeof *powers; j++) {
            result r = run(*state, o, 2, 1, ldexp(1, powers[j]));
            for (int i = 0; i < N; i++)
                if (!(fabs(ldexp(r.V[i], -powers[j]) / one.V[i] - 1) <= 1e-13 &&
                      fabs(ldexp(r.lambda[i], -powers[j]) / one.lambda[i] - 1) <= 1e-13))
                    fail_msg("%s, way %d: seeds times 2^%d: V[%d] %.3e, not %.3e 2^%d, lambda %.3e, not %.3e",
                             method_name(*state), k, powers[j], i, r.V[i], one.V[i], powers[j], r.lambda[i],
                             one.lambda[i]);
        }
        for (int sign = -1; sign <= 1; sign += 2) {
            costate_options small = o;
            small.atol = 1e-6 * pow(10, 160 * sign);
            result r = run(*state, small, 2, pow(10, 160 * sign), 1);
            for (int i = 0; i < N; i++)
                if (!(fabs(r.y[i] / pow(10, 160 * sign) / one.y[i] - 1) <= 1e-3 &&
                      fabs(r.V[i] / one.V[i] - 1) <= 1e-12 && fabs(r.lambda[i] / one.lambda[i] - 1) <= 1e-12))
                    fail_msg("%s, way %d: states of 1e%d: y %.3e, V %.3e, not %.3e, lambda %.3e, not %.3e",
                             method_name(*state), k, 160 * sign, r.y[i], r.V[i], one.V[i], r.lambda[i], one.lambda[i]);
        }
    }
}

/* y' = -y to t = 400 in fixed steps: V and lambda are y(400)/y(0) = R(z)^400, of which y itself is the product of the
 * same steps */
static void contracted(void **state)
{
    for (int k = 0; k < 3; k++) {
        costate_options o = {.controller = COSTATE_FIXED, .h0 = 0.5, .rtol = 1e-6, .atol = 1e-6, .derivative_mode = 1};
        if (!way(*state, k, &o)) continue;
        result one = run(*state, o, 0.5, 1, 1), r = run(*state, o, 400, 1, 1);
        double wanted = pow(one.V[0], 800);
        if (!(fabs(r.V[0] / wanted - 1) <= 1e-10 && fabs(r.lambda[0] / wanted - 1) <= 1e-10))
            fail_msg("%s, way %d: V %.6e, lambda %.6e, not %.6e", method_name(*state), k, r.V[0], r.lambda[0], wanted);
    }
}

int main(void)
{
    return run_by_method("seeds and states of any size", scaled) + run_by_method("contracted to 1e-174", contracted);
}
