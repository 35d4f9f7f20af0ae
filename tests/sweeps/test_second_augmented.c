/* test_second_augmented.c - a Hessian product is a first-order adjoint, too: of the system augmented by its tangents.

   With z = (y, v), z' = (f(t, y, p), f_y v + f_p p'), the functional G_y(y(t1)) v(t1) has the gradients

       with respect to y0 and p: the Hessian product of G along (v0, p')
       with respect to v0 and p': the gradient of G

   A step of a method for z holds its step for y and the tangent of that, so that both are the same number but for
   round-off, with integrals, parameters and mass matrices: to 1e-13 of the largest entry.  For all methods with steps
   of a given length, Newton's iteration to round-off. */
#include "common.h"
#include "nonlinear.h"

/* the map and, behind it, its derivative along (v, p'), which is the third direction of its numbers */
static void augmented(const formula *F, formula_map *map, int rows, num t, const num *z, const num *p, num *out)
{
    num y[N], moved[NP], both[N];
    for (int i = 0; i < N; i++) y[i] = third(z[i], z[N + i]);
    for (int i = 0; i < NP; i++) moved[i] = third(p[i], p[NP + i]);
    map(F, t, y, moved, both);
    for (int i = 0; i < rows; i++) {
        out[i] = (num){.v = both[i].v, .a = both[i].a, .b = both[i].b, .ab = both[i].ab};
        out[rows + i] = by_third(both[i]);
    }
}
static void f_augmented(const formula *F, num t, const num *z, const num *p, num *out)
{
    augmented(F, f_of, N, t, z, p, out);
}
static void r_augmented(const formula *F, num t, const num *z, const num *p, num *out)
{
    augmented(F, r_of, NQ, t, z, p, out);
}

/* of steps of 0.1, which all methods take here: the same degrees of rkc for both systems */
static int spectral_radius(const costate_point *x, double *rho, void *ctx)
{
    (void)x; (void)ctx;
    *rho = 10;
    return 0;
}

static const costate_options FIXED = {.derivative_mode = 1, .controller = COSTATE_FIXED, .h0 = 0.1,
                                      .spectral_radius = spectral_radius};

/* y, v of (states, integrals) each, p, p' */
static const double Y0[ALL] = {0.8, -0.6, 1.1}, V0[ALL] = {0.4, 1.2, -0.9}, P0[2 * NP] = {1.2, 0.7, 0.7, -1.3};

/* by y, integrals, p */
typedef struct { double gradient[ALL + NP], product[ALL + NP]; } derivatives;

/* G = y_0^2/2 + y_1 y_2 + q_0 + q_0 q_1: its gradient, and the product of its Hessian with v */
static void end_of(const double *y, const double *v, double *gradient, double *product)
{
    const double g[ALL] = {y[0], y[2], y[1], 1 + y[4], y[3]}, hv[ALL] = {v[0], v[2], v[1], v[4], v[3]};
    memcpy(gradient, g, sizeof g);
    memcpy(product, hv, sizeof hv);
}

static int seed(double t1, const double *y, const double *p, int m, const double *V, const double *Vp, double *lambda,
                double *mu, double *lambda2, double *mu2, void *ctx)
{
    (void)t1; (void)p; (void)m; (void)Vp; (void)mu; (void)mu2; (void)ctx;
    end_of(y, V, lambda, lambda2);
    return 0;
}

static derivatives by_hessian(const costate_method *m, const double *M)
{
    formula F = {.n = N, .np = NP, .nq = NQ, .f = f_of, .r = r_of, .M = M};
    costate_problem P = {.n = N, .np = NP, .nq = NQ, .ctx = &F, .rhs = FORMULA_RHS, .cost = FORMULA_COST,
                         .jac = formula_jac, .mass = M ? formula_mass : NULL};
    derivatives d = {{0}, {0}};
    double y[ALL];
    P.rhs.adjoint_tangent2 = f_third;
    P.cost.adjoint_tangent2 = r_third;
    memcpy(y, Y0, sizeof y);
    costate *c = costate_new(m, &P, &FIXED);
    costate_tape *tape = costate_tape_new();
    CHECK_OK(c, costate_integrate(c, 0, 1, y, P0, tape));
    CHECK_OK(c, costate_hessian(c, tape, &(costate_second){.m = 1, .V = V0, .Vp = P0 + NP, .seed = seed,
                                                           .lambda = d.gradient, .mu = d.gradient + ALL,
                                                           .lambda2 = d.product, .mu2 = d.product + ALL}));
    costate_tape_free(tape);
    costate_free(c);
    return d;
}

/* z = (y, v), and the integrals of both behind: (y, v, q, q') */
static void mixed(const double *y, const double *v, double *z)
{
    memcpy(z, y, N * sizeof *z);
    memcpy(z + N, v, N * sizeof *z);
    memcpy(z + 2 * N, y + N, NQ * sizeof *z);
    memcpy(z + 2 * N + NQ, v + N, NQ * sizeof *z);
}

static void parted(const double *z, double *y, double *v)
{
    memcpy(y, z, N * sizeof *z);
    memcpy(v, z + N, N * sizeof *z);
    memcpy(y + N, z + 2 * N, NQ * sizeof *z);
    memcpy(v + N, z + 2 * N + NQ, NQ * sizeof *z);
}

static derivatives by_adjoint(const costate_method *m, const double *M)
{
    double both[4 * N * N] = {0}, z[2 * ALL], y[ALL], v[ALL], g[ALL], hv[ALL], lambda[2 * ALL], mu[2 * NP] = {0};
    for (int i = 0; M && i < N * N; i++) {
        int at = i / N * 2 * N + i % N;
        both[at] = both[at + N * 2 * N + N] = M[i];
    }
    formula F = {.n = 2 * N, .np = 2 * NP, .nq = 2 * NQ, .f = f_augmented, .r = r_augmented, .M = M ? both : NULL};
    costate_problem P = {.n = 2 * N, .np = 2 * NP, .nq = 2 * NQ, .ctx = &F, .rhs = FORMULA_RHS, .cost = FORMULA_COST,
                         .jac = formula_jac, .mass = M ? formula_mass : NULL};
    derivatives d;
    mixed(Y0, V0, z);
    costate *c = costate_new(m, &P, &FIXED);
    costate_tape *tape = costate_tape_new();
    CHECK_OK(c, costate_integrate(c, 0, 1, z, P0, tape));
    parted(z, y, v);
    end_of(y, v, g, hv);
    mixed(hv, g, lambda);
    CHECK_OK(c, costate_adjoint(c, tape, 1, lambda, mu, NULL, NULL));
    parted(lambda, d.product, d.gradient);
    memcpy(d.product + ALL, mu, NP * sizeof *mu);
    memcpy(d.gradient + ALL, mu + NP, NP * sizeof *mu);
    costate_tape_free(tape);
    costate_free(c);
    return d;
}

static void same(void **state)
{
    const costate_method *m = *state;
    for (int k = 0; k < 2; k++) {
        const double *M = k ? MASS : NULL;
        derivatives x = by_hessian(m, M), z = by_adjoint(m, M);
        double first = relative_gap(ALL + NP, x.gradient, z.gradient);
        double second = relative_gap(ALL + NP, x.product, z.product);
        print_message("           gradient %.1e, Hessian product %.1e\n", first, second);
        if (!(first <= 1e-13 && second <= 1e-13)) fail_msg("gradient %.1e, Hessian product %.1e", first, second);
    }
}

int main(void) { return run_by_method("a Hessian product is an adjoint of the augmented system", same); }
