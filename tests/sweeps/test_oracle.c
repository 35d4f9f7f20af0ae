/* test_oracle.c - reference solutions and gradients: states, integrals and their derivatives by y0 and p.

   The references were made in quadruple precision by two routes.  At tolerance 1e-8 errors of the state stay within
   a few hundred tolerances of the largest entry, gradients within some thousand, or fall with the tolerance (they
   inherit the order of the method, not its error control). */
#include "common.h"

enum { MOST = 16 };
enum { STATE, INTEGRAL, STATE_BY_Y0, INTEGRAL_BY_Y0, STATE_BY_P, INTEGRAL_BY_P, GAPS };

/* in tolerances */
static const struct { const char *what; double bound; } claim[GAPS] = {
    {"y", 3e3}, {"the integral", 1e4}, {"dy_k/dy0", 3e4}, {"dG/dy0", 3e4}, {"dy_k/dp", 3e4}, {"dG/dp", 3e4}};

/* p times the gradient */
static double gap_by_p(const problem *b, const double *mu, const double *reference)
{
    double a[MOST], z[MOST];
    for (int i = 0; i < b->P.np; i++) { a[i] = b->p0[i] * mu[i]; z[i] = b->p0[i] * reference[i]; }
    return relative_gap(b->P.np, a, z);
}

static void run(const costate_method *m, const problem *b, double rtol, double *gap)
{
    const problem_reference *ref = b->reference;
    int n = b->P.n, np = b->P.np, N = n + b->P.nq;
    double y[MOST] = {0}, lambda[2 * MOST] = {0}, mu[2 * MOST] = {0}, atol[MOST];
    for (int i = 0; i < n; i++) atol[i] = rtol * fmax(1e-3 * fabs(ref->y[i]), 1e-10);
    costate_options o = {.rtol = rtol, .atol_vector = atol, .cost_error = 0, .max_steps = 2000000};
    costate *c = costate_new(m, &b->P, &o);
    costate_tape *tape = costate_tape_new();
    memcpy(y, b->y0, (size_t)n * sizeof *y);
    CHECK_OK(c, costate_integrate(c, b->t0, b->t1, y, b->p0, tape));
    lambda[ref->kout] = 1;
    lambda[N + n] = 1;
    CHECK_OK(c, costate_adjoint(c, tape, 2, lambda, mu, NULL, NULL));
    gap[STATE] = relative_gap(n, y, ref->y);
    gap[INTEGRAL] = relative_gap(1, y + n, &ref->G);
    gap[STATE_BY_Y0] = relative_gap(n, lambda, ref->dyk_dy0);
    gap[INTEGRAL_BY_Y0] = relative_gap(n, lambda + N, ref->dG_dy0);
    gap[STATE_BY_P] = strcmp(b->name, "detest_B2") ? gap_by_p(b, mu, ref->dyk_dp) : 0;
    gap[INTEGRAL_BY_P] = gap_by_p(b, mu + np, ref->dG_dp);
    costate_tape_free(tape);
    costate_free(c);
}

/* A gradient that is further off must show its order: a hundredth of the error at a hundredth of the tolerance, as an
   error of the steps does and a wrong derivative does not.  (rodas3p, orego: dG/dy0 is off by 0.26 at 1e-6, with 2833
   steps, by 3.1e-4 at 1e-8, with 13389.) */
static double one(const costate_method *m, const problem *b, double rtol)
{
    double gap[GAPS], fine[GAPS];
    run(m, b, rtol, gap);
    for (int k = 0, again = 0; k < GAPS; k++) {
        if (gap[k] <= claim[k].bound * rtol) continue;
        if (k >= STATE_BY_Y0 && !again++) run(m, b, rtol / 100, fine);
        if (k < STATE_BY_Y0 || !(fine[k] <= gap[k] / 100))
            fail_msg("%s, %s: relative error %.2e of %s (bound %.1e)", method_name(m), b->name, gap[k], claim[k].what,
                     claim[k].bound * rtol);
    }
    return gap[STATE];
}

/* Methods of orders 1 and 2 cannot follow the phase of a limit cycle to the tolerances asked for here. */
static int oscillates(const problem *b) { return strcmp(b->name, "orego") == 0 || strcmp(b->name, "lv") == 0; }

/* What is stiff for stabilised explicit methods: eigenvalues near the negative real axis, rho T below 1e6. */
static int real(const problem *b) { return strcmp(b->name, "hires") == 0 || strcmp(b->name, "vdpol_mild") == 0; }

static int fits(const costate_method *m, const problem *b)
{
    if (b->stiff && is_explicit(m)) return is_stabilised(m) && real(b);
    return !(method_info(m).order <= 2 && oscillates(b));
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
        if (b->reference && fits(m, b) && !skipped(k + turn_of(m), 2)) worst = larger_of(worst, one(m, b, rtol));
    print_message("           largest error of y %.1e at rtol %.0e\n", worst, rtol);
}

int main(void) { return run_by_kind("reference values", oracle); }
