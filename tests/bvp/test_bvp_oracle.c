/* test_bvp_oracle.c - boundary value problems against references: values at points, integrals up to points, and all
   their gradients by data of equations and conditions, by one adjoint call and by tangents.

   At tolerance 1e-10 all are right to 1e-9 of the largest entry: of the values at that point, of the gradient. */
#include "bvp_common.h"

enum { POINTS = 32, NP = BVPS_NP, N = 3 };

static const double TOL = 1e-10, BOUND = 1e-9;

static void check(const costate_method *m, const bvps *s, const bvps_functional *f, const char *what, double error)
{
    if (!(error <= BOUND))
        fail_msg("%s, %s: relative error %.2e of %s of %s at t = %g", method_name(m), s->name, error, what,
                 f->what == BVPS_COST ? "r" : f->what == BVPS_INTEGRAL ? "q" : f->what ? "y1" : "y0", f->t);
}

typedef struct {
    double t[POINTS], X[POINTS * N], value[POINTS];
    double lambda[POINTS * N * POINTS], mu[NP * POINTS], c[2 * POINTS];   /* a functional a column */
    double direct[NP * POINTS], V[POINTS * N * NP], Vp[NP * NP];
} work;

/* functionals as columns of lambda, one point each */
static void seeds(costate_bvp *c, const bvps *s, work *w)
{
    int K = s->functionals, np = s->P.np;
    memset(w, 0, sizeof *w);
    for (int k = 0; k < K; k++) {
        const bvps_functional *f = &s->functional[k];
        w->t[k] = f->t;
        CHECK_BVP(c, costate_bvp_eval(c, f->t, w->X + k * N));
        w->value[k] = bvps_value(s, f->what, f->t, w->X + k * N, w->lambda + (k * K + k) * N, w->mu + k * np);
    }
    memcpy(w->direct, w->mu, sizeof w->mu);
}

static double size_of(const bvps_functional *f, const double *X)
{
    double size = fabs(f->value);
    if (f->what >= 0) size = larger_of(size, larger_of(fabs(X[0]), fabs(X[1])));
    return size;
}

/* gradient from the tangents by each of p */
static void from_tangents(const bvps *s, const work *w, int k, double *gradient)
{
    int K = s->functionals, np = s->P.np;
    const double *lambda = w->lambda + (k * K + k) * N;
    for (int j = 0; j < np; j++) {
        const double *V = w->V + (j * K + k) * N;
        gradient[j] = w->direct[k * np + j];
        for (int i = 0; i < N; i++) gradient[j] += lambda[i] * V[i];
    }
}

/* the parameters th0, th1; c1, c2; al, be enter the conditions as -p_i: so c's gradient is theirs */
static int first_of_conditions(const bvps *s) { return s->name[1] == '1' ? 9 : s->P.np - 2; }

static double compared(const costate_method *m, const bvps *s, work *w)
{
    int np = s->P.np;
    double worst = 0, gradient[NP], error;
    for (int k = 0; k < s->functionals; k++) {
        const bvps_functional *f = &s->functional[k];
        error = fabs(w->value[k] - f->value) / size_of(f, w->X + k * N);
        check(m, s, f, "the value", error);
        worst = larger_of(worst, error);
        if (!f->gradient) continue;
        check(m, s, f, "the gradient by the adjoint", error = relative_gap(np, w->mu + k * np, f->gradient));
        worst = larger_of(worst, error);
        from_tangents(s, w, k, gradient);
        check(m, s, f, "the gradient by tangents", relative_gap(np, gradient, f->gradient));
        int at = first_of_conditions(s);
        double size = 0;
        for (int i = 0; i < np; i++) size = larger_of(size, fabs(f->gradient[i]));
        check(m, s, f, "the gradient by c", largest_gap(2, w->c + 2 * k, f->gradient + at) / size);
    }
    return worst;
}

static double one(const costate_method *m, int k, bvps_kind kind)
{
    bvps *s = bvps_oracle(k, kind);
    work *w = malloc(sizeof *w);
    assert_true(s && w && s->functionals <= POINTS);
    costate_bvp_options o = bvps_options(s, TOL);
    o.atol = TOL / 100;                                  /* B1's values are small */
    costate_bvp *c = costate_bvp_new(m, &s->P, &s->C, &o);
    CHECK_BVP(c, costate_bvp_solve(c, s->a, s->b, s->p));
    assert_true(costate_bvp_get_stats(c)->error <= 1);
    seeds(c, s, w);
    int K = s->functionals, np = s->P.np;
    CHECK_BVP(c, costate_bvp_adjoint(c, &(costate_bvp_adjoints){.m = K, .points = K, .t = w->t, .lambda = w->lambda,
                                                               .mu = w->mu, .c = w->c}));
    for (int j = 0; j < np; j++) w->Vp[j * np + j] = 1;
    CHECK_BVP(c, costate_bvp_tangent(c, &(costate_bvp_tangents){.m = np, .points = K, .t = w->t, .Vp = w->Vp,
                                                               .V = w->V}));
    double worst = compared(m, s, w);
    print_message("           %-8s form %d: largest error %.1e, %d intervals, %d meshes, %d iterations\n", s->name,
                  kind.form, worst, costate_bvp_intervals(c), costate_bvp_get_stats(c)->meshes,
                  costate_bvp_get_stats(c)->iterations);
    costate_bvp_free(c);
    free(w);
    bvps_free(s);
    return worst;
}

static void oracle(void **state)
{
    for (int k = 0; k < BVPS_ORACLES; k++) one(*state, k, (bvps_kind){.jac = 1});
}

/* as M y' = M f and as a residual, without Jacobians, by one method; a residual far from zero times s(y) is no place
   for Newton's iteration to begin: of the steeper layers it is not asked */
static void forms(void **state)
{
    (void)state;
    for (int k = 0; k < BVPS_ORACLES; k++)
        for (int form = BVPS_MASS; form <= BVPS_RESIDUAL; form++)
            if (form == BVPS_MASS || (k != 3 && k != 5))
                one(costate_method_find("gauss4"), k, (bvps_kind){.form = form});
}

/* ---- the maps themselves: what is wrong in them would be read as errors of the library ---- */

static void check_maps(bvps *s)
{
    unsigned seed = 3;
    double y[2 * BVPS_N], yp[BVPS_N];
    costate_report rhs, cost, conditions;
    random_fill(&seed, 2 * BVPS_N, y);
    random_fill(&seed, BVPS_N, yp);
    for (int mode = 0; mode <= s->nbreaks; mode++) {
        const costate_point x = {.t = 0.6 * s->a + 0.4 * s->b, .y = y, .p = s->p, .mode = mode,
                                 .yp = s->form == BVPS_RESIDUAL ? yp : NULL},
                            ends = {.y = y, .p = s->p};
        if (costate_check_problem(&s->P, &x, &rhs, &cost) != COSTATE_OK)
            fail_msg("%s, form %d: rhs %s cost %s", s->name, s->form, rhs.text, cost.text);
        if (costate_check_map(&s->C.map, 2 * s->P.n, s->P.np, s->C.count, &ends, s, &conditions) != COSTATE_OK)
            fail_msg("%s: conditions %s", s->name, conditions.text);
    }
    bvps_free(s);
}

/* The closed solution is one: at its values f = s', r = Q', and the conditions are met. */
static void closed(void **state)
{
    (void)state;
    bvps *s = bvps_closed(1, 1, (bvps_kind){0});
    double Y[2 * 4], slope[4], f[4];
    assert_non_null(s);
    for (double t = s->a; t <= s->b; t += 0.125) {
        bvps_exact(s, t, Y, NULL, slope);
        const costate_point x = {.t = t, .y = Y, .p = s->p};
        s->P.rhs.value(&x, f, s);
        s->P.cost.value(&x, f + 3, s);
        assert_true(largest_gap(4, f, slope) <= 1e-14);
    }
    bvps_exact(s, s->b, Y + 3, NULL, NULL);
    bvps_exact(s, s->a, slope, NULL, NULL);
    memcpy(Y, slope, 3 * sizeof *Y);
    s->C.map.value(&(costate_point){.y = Y, .p = s->p}, f, s);
    assert_true(largest_gap(3, f, (double[3]){0}) <= 1e-15);
    bvps_free(s);
}

static void right(void **state)
{
    static const int n[] = {1, 2, 5, 12};
    (void)state;
    for (int form = 0; form < BVPS_FORMS; form++)
        for (int v = 0; v < 4; v++) {
            bvps_kind kind = {form, v % 2, v / 2};
            for (int k = 0; k < BVPS_ORACLES; k++) check_maps(bvps_oracle(k, kind));
            check_maps(bvps_closed(1, 1, kind));
            check_maps(bvps_tangled(&(bvps_spec){3, n[v], v, 1 + v % 3, v == 3, kind}));
        }
}

int main(void)
{
    static const char *const names[] = {"gauss3", "gauss4", "gauss5", "radau2a", "radau2a5", "lobatto3a4",
                                        "lobatto3a5"};
    enum { NAMES = sizeof names / sizeof *names };
    struct CMUnitTest tests[NAMES + 3] = {cmocka_unit_test(right), cmocka_unit_test(closed), cmocka_unit_test(forms)};
    for (int k = 0; k < NAMES; k++)
        tests[k + 3] = (struct CMUnitTest){names[k], oracle, NULL, NULL,
                                           (void *)(uintptr_t)costate_method_find(names[k])};
    return cmocka_run_group_tests_name("references of boundary value problems", tests, NULL, NULL);
}
