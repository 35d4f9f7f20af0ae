/* test_family_trial.c - step.h is enough: a family that the library knows nothing of takes steps with dopri5's
   descriptor, to their order, its adjoint is the transpose of its tangent, and that of a jet its derivative.

   Linked with the object files of the rooms base, maps and step alone (meson.build): no linear solver, no family of the
   library, no tape, no run.  That it links is the proof that what is asked of a family needs none of them. */
#include "family_trial.h"      /* before cmocka, which has a macro fail */
#include "common.h"

enum { N_MOST = 8, M = 3, STAGES = 7 };

#define TAKEN(a, call) do { if ((call) != 0) fail_msg("%s: %s", #call, (a)->v.text); } while (0)

static void make(one_step *a, const problem *b)
{
    const costate_method *m = costate_method_find("dopri5");
    assert_non_null(m);
    TAKEN(a, one_step_new(a, &trial_family, m, &b->P, 1 + M, NULL));
    one_step_begin(a, b->t0, b->y0, b->p0);
}

static double product(size_t n, const double *x, const double *y, double *size)
{
    double sum = 0;
    for (size_t k = 0; k < n; k++) { sum += x[k] * y[k]; *size += fabs(x[k] * y[k]); }
    return sum;
}

/* <lambda, V1> + <seed, X'> = <lambda0, V> + <mu, Vp> + t dt + h dh, for each of 3 functionals and 3 directions */
static double transpose_gap(one_step *a)
{
    const stepper *c = &a->st;
    size_t N = (size_t)c->N, np = (size_t)c->np, n = (size_t)c->n, row = M * n;
    unsigned r = 5;
    double V[N_MOST * M], Vp[N_MOST * M], d[2 * M], V1[N_MOST * M], Xd[STAGES * N_MOST * M], seed[STAGES * N_MOST * M];
    double lambda[N_MOST * M], end[N_MOST * M], mu[N_MOST * M] = {0}, t[M] = {0}, h[M] = {0}, U[STAGES * N_MOST * M];
    double worst = 0;
    random_fill(&r, N_MOST * M, V);
    random_fill(&r, N_MOST * M, Vp);
    random_fill(&r, 2 * M, d);
    random_fill(&r, N_MOST * M, lambda);
    random_fill(&r, STAGES * N_MOST * M, seed);
    memcpy(end, lambda, sizeof end);
    TAKEN(a, c->F->tangent(&a->st, &a->r, &(directions){.m = M, .stages = 1, .dt = d, .dh = d + M, .V = V,
                                                        .Vp = np ? Vp : NULL, .V1 = V1, .Xd = Xd}));
    TAKEN(a, c->F->adjoint(&a->st, &a->r, &(functionals){.m = M, .times = 1, .lambda = lambda, .mu = np ? mu : NULL,
                                                         .t = t, .h = h, .seed = seed, .U = U}));
    for (size_t i = 0; i < M; i++)
        for (size_t j = 0; j < M; j++) {
            double size = 0, left = product(N, end + i * N, V1 + j * N, &size);
            for (size_t k = 0; k < STAGES; k++) left += product(n, seed + k * row + i * n, Xd + k * row + j * n, &size);
            double right = product(N, lambda + i * N, V + j * N, &size) + product(np, mu + i * np, Vp + j * np, &size)
                           + t[i] * d[j] + h[i] * d[M + j];
            worst = larger_of(worst, fabs(left - right) / size);
        }
    return worst;
}

/* problem k of those with M = identity: the rotor, then the synthetic ones with all choices of t, p, q, pattern */
static const problem *with_identity(int k)
{
    return k == 0 ? problem_find("rotor") : k <= 16 ? problem_synthetic_at(k - 1) : NULL;
}

static void transpose(void **state)
{
    double worst = 0;
    const problem *b;
    (void)state;
    for (int k = 0; (b = with_identity(k)); k++) {
        one_step a = {0};
        assert_int_equal(b->mass, MASS_IDENTITY);
        make(&a, b);
        for (int step = 0; step < 4; step++) {
            TAKEN(&a, one_step_take(&a, 0.05 * (step + 1)));
            double gap = transpose_gap(&a);
            if (!(gap <= 1e-12)) fail_msg("%s, step %d: gap %.2e", b->name, step, gap);
            worst = larger_of(worst, gap);
            one_step_go_on(&a);
        }
        one_step_free(&a);
    }
    print_message("           largest gap %.1e\n", worst);
}

/* where a step is taken; and its gradients, by y, integrals, p, t, h */
typedef struct { double y[N_MOST], p[N_MOST], t, h; } step_at;
enum { INPUTS = 2 * N_MOST + 2 };

/* of w.y1: column 0, and its derivatives along the directions; NULL: none */
static void gradients(one_step *a, const step_at *x, const double *w, const directions *d, double (*out)[INPUTS])
{
    size_t N = (size_t)a->st.N, np = (size_t)a->st.np, m = d ? (size_t)d->m + 1 : 1;
    double lambda[N_MOST * (1 + M)] = {0}, mu[N_MOST * (1 + M)] = {0}, t[1 + M] = {0}, h[1 + M] = {0};
    double U[STAGES * N_MOST * (1 + M)];
    one_step_begin(a, x->t, x->y, x->p);
    TAKEN(a, one_step_take(a, x->h));
    memcpy(lambda, w, N * sizeof *w);
    if (d) TAKEN(a, a->st.F->tangent(&a->st, &a->r, d));
    TAKEN(a, a->st.F->adjoint(&a->st, &a->r, &(functionals){.m = (int)m, .along = d, .times = 1, .lambda = lambda,
                                                            .mu = np ? mu : NULL, .t = t, .h = h, .U = U}));
    memset(out, 0, m * sizeof *out);
    for (size_t j = 0; j < m; j++) {
        memcpy(out[j], lambda + j * N, N * sizeof *w);
        memcpy(out[j] + N_MOST, mu + j * np, np * sizeof *w);
        out[j][INPUTS - 2] = t[j];
        out[j][INPUTS - 1] = h[j];
    }
}

/* by differences of 8th order */
static void difference(one_step *a, const step_at *x, const step_at *along, const double *w, double *sum)
{
    static const double weight[] = {4.0 / 5, -1.0 / 5, 4.0 / 105, -1.0 / 280}, e = 4e-3;
    memset(sum, 0, INPUTS * sizeof *sum);
    for (int k = -4; k <= 4; k++) {
        double at[1][INPUTS];
        step_at moved = *x;
        if (k == 0) continue;
        for (size_t i = 0; i < sizeof moved / sizeof(double); i++)
            ((double *)&moved)[i] += k * e * ((const double *)along)[i];
        gradients(a, &moved, w, NULL, at);
        for (int i = 0; i < INPUTS; i++) sum[i] += (k > 0 ? 1 : -1) * weight[abs(k) - 1] / e * at[0][i];
    }
}

static double second_gap(one_step *a, const problem *b)
{
    size_t n = (size_t)a->st.n, N = (size_t)a->st.N, np = (size_t)a->st.np;
    step_at x = {.t = b->t0, .h = 0.2}, along[M];
    double w[N_MOST], V[N_MOST * M] = {0}, Vp[N_MOST * M], dt[M], dh[M], V1[N_MOST * M], Xd[STAGES * N_MOST * M];
    double of[1 + M][INPUTS], expected[INPUTS], worst = 0;
    unsigned r = 3;
    memcpy(x.y, b->y0, n * sizeof *w);
    if (np) memcpy(x.p, b->p0, np * sizeof *w);
    random_fill(&r, N_MOST, w);
    for (size_t j = 0; j < M; j++) {
        random_fill(&r, sizeof along[j] / sizeof(double), (double *)&along[j]);
        memcpy(V + j * N, along[j].y, n * sizeof *V);
        memcpy(Vp + j * np, along[j].p, np * sizeof *V);
        dt[j] = along[j].t;
        dh[j] = along[j].h;
    }
    directions d = {.m = M, .stages = 1, .dt = dt, .dh = dh, .V = V, .Vp = np ? Vp : NULL, .V1 = V1, .Xd = Xd};
    gradients(a, &x, w, &d, of);
    for (int j = 0; j < M; j++) {
        difference(a, &x, &along[j], w, expected);
        worst = larger_of(worst, relative_gap(INPUTS, of[1 + j], expected));
    }
    return worst;
}

static void second(void **state)
{
    double worst = 0;
    const problem *b;
    (void)state;
    for (int k = 0; (b = with_identity(k)); k++) {
        one_step a = {0};
        make(&a, b);
        double gap = second_gap(&a, b);
        if (!(gap <= 1e-9)) fail_msg("%s: %.2e", b->name, gap);
        worst = larger_of(worst, gap);
        one_step_free(&a);
    }
    print_message("           largest gap %.1e\n", worst);
}

typedef struct { double state, tangent, estimate; } errors;

/* of a run of so many steps: state and integral, their derivatives by y0 (2) and by p (the first); of its first step:
   the estimate's size */
static errors errors_of(const problem *b, int steps)
{
    one_step a = {0};
    errors e = {0};
    double zero[M] = {0}, V[3 * M] = {1, 0, 0, 0, 1, 0}, Vp[2 * M] = {0, 0, 0, 0, 1, 0}, V1[3 * M], Xd[STAGES * 2 * M];
    double exact[3], dy0[6], dp[6];
    directions d = {.m = M, .dt = zero, .dh = zero, .V = V, .Vp = Vp, .V1 = V1, .Xd = Xd};
    make(&a, b);
    for (int k = 0; k < steps; k++) {
        TAKEN(&a, one_step_take(&a, (b->t1 - b->t0) / steps));
        TAKEN(&a, a.st.F->tangent(&a.st, &a.r, &d));
        memcpy(V, V1, sizeof V);
        for (int i = 0; k == 0 && i < 3; i++) e.estimate = larger_of(e.estimate, fabs(a.err[i]));
        one_step_go_on(&a);
    }
    assert_true(problem_exact(b, b->t0, b->y0, b->p0, b->t1, exact, dy0, dp, NULL, NULL));
    e.state = largest_gap(3, a.y, exact);
    e.tangent = larger_of(largest_gap(6, V, dy0), largest_gap(3, V + 6, dp));
    one_step_free(&a);
    return e;
}

static void expect(const char *what, double coarse, double fine, double order)
{
    double slope = log2(coarse / fine);
    print_message("           %s: %.2f\n", what, slope);
    if (!(fabs(slope - order) < 0.25))
        fail_msg("%s: order %.2f, not %g (errors %.1e, %.1e)", what, slope, order, coarse, fine);
}

/* Local errors of an estimate of order 4 are O(h^5). */
static void orders(void **state)
{
    const problem *b = problem_find("rotor");
    errors coarse = errors_of(b, 64), fine = errors_of(b, 128);
    (void)state;
    expect("state", coarse.state, fine.state, 5);
    expect("tangent", coarse.tangent, fine.tangent, 5);
    expect("estimate", coarse.estimate, fine.estimate, 5);
}

static void mass_refused(void **state)
{
    const costate_method *m = costate_method_find("dopri5");
    const problem *b = problem_synthetic(MASS_REGULAR, 0, 2, 2, 0);
    one_step a = {0};
    (void)state;
    assert_int_equal(one_step_new(&a, &trial_family, m, &b->P, M, NULL), COSTATE_BAD_ARGUMENT);
    one_step_free(&a);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(transpose), cmocka_unit_test(second), cmocka_unit_test(orders),
        cmocka_unit_test(mass_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
