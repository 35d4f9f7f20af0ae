/* test_dae.c - values and gradients of fully implicit problems against references made in high precision. */
#include "transpose.h"
#include "daes.h"

typedef struct { double g, G, dg[DAE_P], dG[DAE_P]; long steps; } answer;

/* ---- against references ---- */

/* the run by method m, and the gradients of g(T) and G by p, that of the start included */
static answer solve(const costate_method *m, const dae *d, const costate_options *o, int with_jacobians)
{
    costate_problem P = dae_problem(d, with_jacobians);
    costate *c = new_for_test(m, &P, o);
    costate_tape *tape = costate_tape_new();
    int n = d->n, N = n + 1;
    double y[DAE_N + 1] = {0}, dy_dp[DAE_N * DAE_P], lambda[2 * (DAE_N + 1)] = {0}, mu[2 * DAE_P] = {0};
    answer a = {0};
    dae_start(d, d->p, y, dy_dp);
    CHECK_OK(c, costate_integrate(c, 0, d->T, y, d->p, tape));
    a.steps = costate_tape_steps(tape);
    a.g = dae_g(d, d->T, y, d->p, lambda, mu);
    a.G = y[n];
    lambda[N + n] = 1;
    CHECK_OK(c, costate_adjoint(c, tape, 2, lambda, mu, NULL, NULL));
    for (int j = 0; j < d->np; j++) {
        a.dg[j] = mu[j];
        a.dG[j] = mu[d->np + j];
        for (int i = 0; i < n; i++) {
            a.dg[j] += lambda[i] * dy_dp[j * n + i];
            a.dG[j] += lambda[N + i] * dy_dp[j * n + i];
        }
    }
    costate_tape_free(tape);
    costate_free(c);
    return a;
}

/* the largest error of all that there is a reference of, beside the largest gradient */
static double error_of(const dae *d, const answer *a)
{
    double e = fabs(a->g - d->reference) / fabs(d->reference);
    if (!isnan(d->G)) e = fmax(e, fabs(a->G - d->G) / fabs(d->G));
    e = fmax(e, relative_gap(d->np, a->dg, d->dg));
    return d->dG ? fmax(e, relative_gap(d->np, a->dG, d->dG)) : e;
}

/* Errors fall with the tolerance over four decades, where steps are not too many for the order. */
static void follows(void **state)
{
    NEEDS_ESTIMATE(*state);
    const costate_method *m = *state;
    const dae *d;
    for (int k = 0; (d = dae_at(k)); k++) {
        int order = method_info(m).order, low = order <= 2 || (d->index == 2 && order <= 4);
        if (!dae_takes(m, d) || (d->index == 2 && order == 1)) continue;        /* z of order 1: 10^5 steps */
        for (int decade = 0; decade < 4; decade++) {
            double rtol = (low ? 1e-3 : 1e-5) * pow(10, -decade);
            costate_options o = {.rtol = rtol, .atol = rtol};
            answer a = solve(m, d, &o, decade & 1);
            double e = error_of(d, &a);
            if (!(e <= (low ? 3e3 : 300) * rtol))
                fail_msg("%s, %s, rtol %.0e: error %.2e", method_name(m), d->name, rtol, e);
        }
    }
}

static void tight(void **state)
{
    (void)state;
    const costate_method *m = costate_method_find("radau2a5");
    const dae *d;
    for (int k = 0; (d = dae_at(k)); k++) {
        costate_options o = {.rtol = 1e-10, .atol = 1e-10};
        answer a = solve(m, d, &o, 1);
        double e = error_of(d, &a);
        print_message("           %s: %ld steps, error %.1e\n", d->name, a.steps, e);
        if (!(e <= 1e-8)) fail_msg("%s: error %.2e", d->name, e);
    }
}

/* ---- orders of index 2, by steps of equal length ---- */

/* errors of y[k](T) and of its gradient by p, of I2A in N steps */
static void errors(const costate_method *m, int N, int k, double *value, double *gradient)
{
    const dae *d = dae_find("I2A");
    costate_problem P = dae_problem(d, 1);
    costate_options o = {.controller = COSTATE_FIXED, .h0 = d->T / N, .derivative_mode = 1,
                         .consistent = COSTATE_CONSISTENT_NONE};           /* as the method leaves them */
    costate *c = costate_new(m, &P, &o);
    costate_tape *tape = costate_tape_new();
    double y[DAE_N + 1] = {0}, dy_dp[DAE_N * DAE_P], lambda[DAE_N + 1] = {0}, mu[DAE_P] = {0};
    dae_start(d, d->p, y, dy_dp);
    CHECK_OK(c, costate_integrate(c, 0, d->T, y, d->p, tape));
    *value = fabs(y[k] - d->y[k]);
    lambda[k] = 1;
    CHECK_OK(c, costate_adjoint(c, tape, 1, lambda, mu, NULL, NULL));
    *gradient = 0;
    for (int j = 0; j < d->np; j++) {
        for (int i = 0; i < d->n; i++) mu[j] += lambda[i] * dy_dp[j * d->n + i];
        *gradient = fmax(*gradient, fabs(mu[j] - d->dy[k * d->np + j]));
    }
    costate_tape_free(tape);
    costate_free(c);
}

/* Observed and known orders (Hairer, Lubich, Roche, Lecture Notes in Mathematics 1409; codegen/index2.py): of y and of
   the z that is the last stage's. */
static void orders(void **state)
{
    (void)state;
    static const struct { const char *method; int N; double y, z; } known[] = {
        {"radau2a1", 40, 1, 1}, {"radau2a2", 20, 3, 2}, {"radau2a", 10, 5, 3}, {"radau2a4", 10, 7, 4},
        {"lobatto3c", 20, 4, 2}, {"radau1a", 40, 3, 2}, {"sdirk2a", 40, 2, 1}, {"sdirk2b", 80, 2, 1},
        {"sdirk3a", 40, 2, 1}, {"sdirk4a", 40, 2, 1}, {"sdirk4b", 40, 2, 1},
    };
    for (size_t l = 0; l < sizeof known / sizeof *known; l++)
        for (int k = 0; k < 3; k += 2) {
            double value[2], gradient[2], order = k == 2 ? known[l].z : known[l].y;
            const costate_method *m = costate_method_find(known[l].method);
            for (int half = 0; half < 2; half++) errors(m, known[l].N << half, k, &value[half], &gradient[half]);
            double slope = log2(value[0] / value[1]), of_gradient = log2(gradient[0] / gradient[1]);
            print_message("           %s, %s: %.2f | %.2f\n", known[l].method, k == 2 ? "z" : "y", slope, of_gradient);
            if (!(slope >= order - 0.35 && of_gradient >= order - 0.35))
                fail_msg("%s: order of y[%d] %.2f, of its gradient %.2f, known: %.0f", known[l].method, k, slope,
                         of_gradient, order);
        }
}

/* ---- exact, whatever the index: forward and backward in time, by all ways of solving stage systems ----

   z of a step carries round-off over h, and so do its derivatives (mathematics, section 11.2): functionals have it
   times h. */

static void transpose(void **state)
{
    const double H = 0.06;
    const costate_method *m = *state;
    const dae *d;
    for (int k = 0; (d = dae_at(k)); k++) {
        if (!dae_takes(m, d)) continue;
        for (int variant = 0; variant < 16; variant++) {
            costate_problem P = dae_problem(d, variant & 1);
            double y[DAE_N], scale[DAE_N];
            for (int i = 0; i < d->n; i++) scale[i] = d->of[i] == 2 ? H / 10 : 1;
            dae_start(d, d->p, y, NULL);
            double end = variant & 8 ? -0.3 : 0.3;
            transposed_run run = {m, &P, 0, end, y, d->p, {.rtol = 1e-4, .atol = 1e-4, .hmax = H}, 3, scale};
            run.o.storage = variant >> 1 & 1;
            run.o.stage_solve = COSTATE_STAGE_DIRECT + (variant >> 2 & 1);
            double gap = transpose_gap(&run);
            if (!(gap <= 1e-12)) fail_msg("%s, %s, variant %d: gap %.2e", method_name(m), d->name, variant, gap);
        }
    }
}

/* y(T) of the run's steps again, from the consistent start of p + e dp */
static void again(costate *c, const costate_tape *tape, const dae *d, const double *dp, double e, double *y)
{
    double p[DAE_P];
    for (int i = 0; i < d->np; i++) p[i] = d->p[i] + e * dp[i];
    y[d->n] = 0;
    dae_start(d, p, y, NULL);
    CHECK_OK(c, costate_replay(c, tape, y, p));
}

/* Tangents are the derivatives of the steps that were taken: 8th-order differences along the manifold of consistent
   values, z times h. */
static void differences(void **state)
{
    static const double weight[] = {4.0 / 5, -1.0 / 5, 4.0 / 105, -1.0 / 280}, E = 2e-3, H = 0.06;
    const costate_method *m = *state;
    const dae *d;
    for (int k = 0; (d = dae_at(k)); k++) {
        if (!dae_takes(m, d)) continue;
        int n = d->n;
        costate_problem P = dae_problem(d, k & 1);
        costate_options o = {.rtol = 1e-5, .atol = 1e-5, .hmax = H, .derivative_mode = 1};
        costate *c = new_for_test(m, &P, &o);
        costate_tape *tape = costate_tape_new();
        double y[DAE_N + 1] = {0}, dy[DAE_N * DAE_P], V[DAE_N + 1] = {0}, D[DAE_N + 1] = {0}, dp[DAE_P], z[DAE_N + 1];
        unsigned seed = 3;
        random_fill(&seed, DAE_P, dp);
        dae_start(d, d->p, y, dy);
        for (int j = 0; j < d->np; j++) for (int i = 0; i < n; i++) V[i] += dy[j * n + i] * dp[j];
        CHECK_OK(c, costate_integrate(c, 0, 0.5, y, d->p, tape));
        CHECK_OK(c, costate_tangent(c, tape, 1, V, dp, NULL, NULL));
        for (int l = -4; l <= 4; l++) {
            if (l == 0) continue;
            again(c, tape, d, dp, l * E, z);
            for (int i = 0; i <= n; i++) D[i] += (l > 0 ? 1 : -1) * weight[(l > 0 ? l : -l) - 1] / E * z[i];
        }
        double most = 0, worst = 0;
        for (int i = 0; i <= n; i++) {
            most = fmax(most, fabs(V[i]));
            worst = fmax(worst, (i < n && d->of[i] == 2 ? H / 10 : 1) * fabs(V[i] - D[i]));
        }
        if (!(worst <= 1e-10 * most)) fail_msg("%s, %s: %.2e", method_name(m), d->name, worst / most);
        costate_tape_free(tape);
        costate_free(c);
    }
}

int main(void)
{
    const struct CMUnitTest others[] = {cmocka_unit_test(tight), cmocka_unit_test(orders)};
    return run_by_method("DAE: errors follow the tolerance", follows) +
           run_by_method("DAE: the adjoint is the transpose of the tangent", transpose) +
           run_by_method("DAE: tangents are differences of frozen steps", differences) +
           cmocka_run_group_tests_name("DAE", others, NULL, NULL);
}
