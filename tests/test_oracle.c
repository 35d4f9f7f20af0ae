/* test_oracle.c - reference solutions and gradients: states, integrals and their derivatives by y0 and p.

   The references were made in quadruple precision by two routes.  At tolerance 1e-8 errors of the state stay within
   a few hundred tolerances of the largest entry, gradients within some thousand (they inherit the order of the method,
   not its error control). */
#include "common.h"

enum { MOST = 16 };

static void check(const costate_method *m, const problem *b, const char *what, double error, double bound)
{
    if (!(error <= bound))
        fail_msg("%s, %s: relative error %.2e of %s (bound %.1e)", method_name(m), b->name, error, what, bound);
}

static double one(const costate_method *m, const problem *b, double rtol)
{
    const problem_reference *ref = b->reference;
    int n = b->P.n, np = b->P.np, N = n + b->P.nq;
    double y[MOST] = {0}, lambda[2 * MOST] = {0}, mu[2 * MOST] = {0}, atol[MOST], a[MOST], z[MOST], worst;
    for (int i = 0; i < n; i++) atol[i] = rtol * fmax(1e-3 * fabs(ref->y[i]), 1e-10);
    costate_options o = {.rtol = rtol, .atol_vector = atol, .cost_error = 0, .max_steps = 2000000};
    costate *c = costate_new(m, &b->P, &o);
    costate_tape *tape = costate_tape_new();
    memcpy(y, b->y0, (size_t)n * sizeof *y);
    CHECK_OK(c, costate_integrate(c, b->t0, b->t1, y, b->p0, tape));
    check(m, b, "y", worst = relative_gap(n, y, ref->y), 3e3 * rtol);
    check(m, b, "the integral", relative_gap(1, y + n, &ref->G), 1e4 * rtol);
    lambda[ref->kout] = 1;
    lambda[N + n] = 1;
    CHECK_OK(c, costate_adjoint(c, tape, 2, lambda, mu, NULL, NULL));
    check(m, b, "dy_k/dy0", relative_gap(n, lambda, ref->dyk_dy0), 3e4 * rtol);
    check(m, b, "dG/dy0", relative_gap(n, lambda + N, ref->dG_dy0), 3e4 * rtol);
    for (int i = 0; i < np; i++) { a[i] = b->p0[i] * mu[i]; z[i] = b->p0[i] * ref->dyk_dp[i]; }
    if (strcmp(b->name, "detest_B2") != 0) check(m, b, "dy_k/dp", relative_gap(np, a, z), 3e4 * rtol);
    for (int i = 0; i < np; i++) { a[i] = b->p0[i] * mu[np + i]; z[i] = b->p0[i] * ref->dG_dp[i]; }
    check(m, b, "dG/dp", relative_gap(np, a, z), 3e4 * rtol);
    costate_tape_free(tape);
    costate_free(c);
    return worst;
}

/* Methods of orders 1 and 2 cannot follow the phase of a limit cycle to the tolerances asked for here. */
static int oscillates(const problem *b) { return strcmp(b->name, "orego") == 0 || strcmp(b->name, "lv") == 0; }

/* What is stiff for stabilised explicit methods: eigenvalues near the negative real axis, rho T below 1e6. */
static int real(const problem *b) { return strcmp(b->name, "hires") == 0 || strcmp(b->name, "vdpol_mild") == 0; }

static int fits(const costate_method_info *info, const problem *b)
{
    if (b->stiff && info->family == COSTATE_ERK) return 0;
    if (b->stiff && info->family == COSTATE_RKC) return real(b);
    return !(info->order <= 2 && oscillates(b));
}

/* Methods of low order take a looser tolerance, explicit ones only what is not stiff, or is so in their way. */
static void oracle(void **state)
{
    NEEDS_ESTIMATE(*state);
    const costate_method *m = *state;
    costate_method_info info = method_info(m);
    double worst = 0, rtol = info.order == 1 ? 1e-5 : info.order <= 3 ? 1e-6 : 1e-8;
    const problem *b;
    for (int k = 0; (b = problem_at(k)); k++)
        if (b->reference && fits(&info, b)) worst = larger_of(worst, one(m, b, rtol));
    print_message("           largest error of y %.1e at rtol %.0e\n", worst, rtol);
}

int main(void) { return run_by_method("reference values", oracle); }
