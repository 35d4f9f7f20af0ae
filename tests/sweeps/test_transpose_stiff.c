/* test_transpose_stiff.c - tangent and adjoint are transposes to 1e-11 where problems are stiff: all implicit methods,
   all reference problems, POLLU, rtol 1e-4 to 1e-8.

   Tangents V and adjoints lambda go from step to step as doubles. To round them there changes lambda^T V, which is the
   same at all steps, by up to eps sum_k |lambda_k|^T |V_k|, whatever computes the steps. During the pulses of the
   Oregonator |lambda_k|^T |V_k| is 440 times what it is at the end. In the 2000 steps of sdirk4a at 1e-6 the sum is
   3.4e-11; so the bound is 4e-11 there, and runs of more than STEPS steps are left out. */
#include "common.h"
#include "ivp.h"
#include <float.h>

enum { MOST = 24, M = 2, STEPS = 3000 };

typedef struct {
    const char *name;
    const costate_problem *P;
    double t0, t1;
    const double *y0, *p0, *size;       /* size: of the components: rtol size is atol */
} stiff_case;

typedef struct { double V[MOST * M], V0[MOST * M], Vp[MOST * M], l[MOST * M], l1[MOST * M], mu[MOST * M]; } columns_of;

static double gap_of(const columns_of *x, size_t N, size_t np)
{
    double worst = 0;
    for (size_t i = 0; i < M; i++)
        for (size_t j = 0; j < M; j++) {
            double gap = 0, size = 0;
            for (size_t k = 0; k < N; k++) {
                double end = x->l1[i * N + k] * x->V[j * N + k];
                gap += end - x->l[i * N + k] * x->V0[j * N + k];
                size += fabs(end);
            }
            for (size_t k = 0; k < np; k++) gap -= x->mu[i * np + k] * x->Vp[j * np + k];
            worst = larger_of(worst, fabs(gap) / size);
        }
    return worst;
}

/* random directions and functionals of the sizes of the components */
static void fill(columns_of *x, const stiff_case *b, const double *y)
{
    size_t n = (size_t)b->P->n, N = n + (size_t)b->P->nq, np = (size_t)b->P->np;
    unsigned seed = 7;
    memset(x, 0, sizeof *x);
    random_fill(&seed, MOST * M, x->V);
    random_fill(&seed, MOST * M, x->Vp);
    random_fill(&seed, MOST * M, x->l);
    for (size_t j = 0; j < M; j++) {
        for (size_t i = 0; i < n; i++) {
            x->V[j * N + i] *= fabs(b->y0[i]) + b->size[i];
            x->l[j * N + i] /= fabs(y[i]) + b->size[i];
        }
        for (size_t i = 0; i < np; i++) x->Vp[j * np + i] *= b->p0[i];
    }
    memcpy(x->V0, x->V, sizeof x->V);
    memcpy(x->l1, x->l, sizeof x->l);
}

static double bound_of(const stiff_case *b)
{
    return strcmp(b->name, "orego") == 0 ? 4e-11 : strcmp(b->name, "pulled") == 0 ? 4e-12 : 1e-11;
}

static void one(const costate_method *m, const stiff_case *b, double rtol, int stage_solve)
{
    double y[MOST] = {0}, atol[MOST];
    columns_of x;
    for (int i = 0; i < b->P->n; i++) atol[i] = rtol * b->size[i];
    memcpy(y, b->y0, (size_t)b->P->n * sizeof *y);
    costate_options o = {.rtol = rtol, .atol_vector = atol, .max_steps = STEPS, .stage_solve = stage_solve};
    costate *c = costate_new(m, b->P, &o);
    costate_tape *tape = costate_tape_new();
    int status = costate_integrate(c, b->t0, b->t1, y, b->p0, tape);
    if (status != COSTATE_MAX_STEPS) {
        CHECK_OK(c, status);
        fill(&x, b, y);
        CHECK_OK(c, costate_tangent(c, tape, M, x.V, b->P->np ? x.Vp : NULL, NULL, NULL));
        CHECK_OK(c, costate_adjoint(c, tape, M, x.l, b->P->np ? x.mu : NULL, NULL, NULL));
        double gap = gap_of(&x, (size_t)(b->P->n + b->P->nq), (size_t)b->P->np);
        if (!(gap <= bound_of(b)))
            fail_msg("%s, %s, rtol %.0e, stage_solve %d: gap %.1e", method_name(m), b->name, rtol, stage_solve, gap);
    }
    costate_tape_free(tape);
    costate_free(c);
}

static void transposes(void **state)
{
    const costate_method *m = *state;
    costate_method_info info = method_info(m);
    const problem *b;
    double size[MOST];
    if (!is_newton(m) || !info.embedded) skip();
    for (int e = 4; e <= (info.order > 3 ? 8 : 6); e += 2) {
        double rtol = pow(10, -e);
        for (int k = 0; (b = problem_at(k)); k++) {
            if (!b->reference || skipped(k + e / 2 + turn_of(m), 3)) continue;
            for (int i = 0; i < b->P.n; i++) size[i] = fmax(1e-3 * fabs(b->reference->y[i]), 1e-10);
            stiff_case s = {b->name, &b->P, b->t0, b->t1, b->y0, b->p0, size};
            one(m, &s, rtol, COSTATE_STAGE_AUTO);
        }
        ivp x = {.own = NULL};
        assert_int_equal(ivp_pollu(&x, 0), COSTATE_OK);
        for (int i = 0; i < x.P.n; i++) size[i] = x.atol;
        stiff_case s = {"pollu", &x.P, 0, x.t1, x.y0, x.p, size};
        one(m, &s, rtol, COSTATE_STAGE_AUTO);
        if (info.family == COSTATE_FIRK) one(m, &s, rtol, COSTATE_STAGE_ITERATIVE);
        x.free_own(x.own);
    }
}

/* ---- stage systems by GMRES: y_1' = -L (y_1 - p_1 cos t) + y_2, y_2' = -p_2 y_1 y_2 ----

   The backward error of a system does not tell: at L = 5e10 gaps were 1e-12 to 5e-7, whatever it was. */

static int pulled(const costate_point *x, double *out, void *L)
{
    out[0] = -*(const double *)L * (x->y[0] - x->p[0] * cos(x->t)) + x->y[1];
    out[1] = -x->p[1] * x->y[0] * x->y[1];
    return 0;
}
static int pulled_jac(const costate_point *x, double *J, void *L)
{
    J[0] = -*(const double *)L, J[1] = -x->p[1] * x->y[1];
    J[2] = 1, J[3] = -x->p[1] * x->y[0];
    return 0;
}
static int pulled_tangent(const costate_point *x, const costate_point *dx, double *out, void *ctx)
{
    double L = *(const double *)ctx, a = dx->y ? dx->y[0] : 0, b = dx->y ? dx->y[1] : 0;
    out[0] = -L * (a - (dx->p ? dx->p[0] * cos(x->t) : 0) + dx->t * x->p[0] * sin(x->t)) + b;
    out[1] = -x->p[1] * (a * x->y[1] + x->y[0] * b) - (dx->p ? dx->p[1] * x->y[0] * x->y[1] : 0);
    return 0;
}
static int pulled_adjoint(const costate_point *x, const double *w, const costate_gradient *g, void *ctx)
{
    double L = *(const double *)ctx;
    if (g->t) *g->t -= L * x->p[0] * sin(x->t) * w[0];
    if (g->y) g->y[0] -= L * w[0] + x->p[1] * x->y[1] * w[1], g->y[1] += w[0] - x->p[1] * x->y[0] * w[1];
    if (g->p) g->p[0] += L * cos(x->t) * w[0], g->p[1] -= x->y[0] * x->y[1] * w[1];
    return 0;
}

static void very_stiff(void **state)
{
    static const double y0[] = {1, 1}, p0[] = {1, 0.7}, size[] = {1, 1};
    if (!is_newton(*state) || !method_info(*state).embedded || fabs(method_info(*state).r_infinity) > 0.9) skip();
    for (double L = 5e2; L < 1e13; L *= 1e2) {
        const costate_problem P = {.n = 2, .np = 2, .ctx = &L, .jac = pulled_jac,
                                   .rhs = {.value = pulled, .tangent = pulled_tangent, .adjoint = pulled_adjoint}};
        const stiff_case s = {"pulled", &P, 0, 3, y0, p0, size};
        one(*state, &s, 1e-5, COSTATE_STAGE_ITERATIVE);
    }
}

/* ---- where conditions make the gap larger, it is within a bound ----

   Stage systems are solved with I - h J up to eps |I - h J| componentwise, forwards as backwards, so that

       |lambda_K^T V_K - lambda_0^T V_0| <= C eps sum_k |lambda_k|^T (I + h_k |J_k|) |V_(k+1)|

   Robertson's problem to t = 1e11, single components of y(t1): the sum is 1e10 times lambda_K^T V_K. */

enum { ROBERTSON = 3, MOST_STEPS = 400 };
typedef struct { double h[MOST_STEPS], y[MOST_STEPS][ROBERTSON], lambda[MOST_STEPS][ROBERTSON]; } back;

static int step_back(int step, double t, double h, const double *y, int m, const double *lambda, const double *mu,
                     void *ctx)
{
    back *b = ctx;
    (void)t, (void)m, (void)mu;
    b->h[step] = h;
    memcpy(b->y[step], y, sizeof b->y[step]);
    memcpy(b->lambda[step], lambda, sizeof b->lambda[step]);
    return 0;
}

/* V after the first steps of the run, out; how many */
static int tangent_after(const costate_method *m, const ivp *x, costate_options o, int tries, double *V)
{
    double y[ROBERTSON];
    costate_tape *tape = costate_tape_new();
    o.max_steps = tries;
    costate *c = costate_new(m, &x->P, &o);
    memcpy(y, x->y0, sizeof y);
    int status = costate_integrate(c, 0, x->t1, y, NULL, tape), steps = costate_tape_steps(tape);
    assert_true(status == COSTATE_OK || status == COSTATE_MAX_STEPS);
    if (steps) CHECK_OK(c, costate_tangent(c, tape, 1, V, NULL, NULL, NULL));
    costate_tape_free(tape);
    costate_free(c);
    return steps;
}

static double sum_of(const costate_method *m, const ivp *x, const costate_options *o, const back *b, int steps,
                     const double *V0)
{
    double sum = 0, J[ROBERTSON * ROBERTSON];
    for (int tries = 1, last = 0; last < steps; tries++) {
        double V[ROBERTSON] = {V0[0], V0[1], V0[2]};
        int now = tangent_after(m, x, *o, tries, V), k = now - 1;
        if (now == last) continue;                                  /* this try was rejected */
        last = now;
        x->P.jac(&(costate_point){.y = b->y[k]}, J, x->P.ctx);
        for (int i = 0; i < ROBERTSON; i++)
            for (int j = 0; j < ROBERTSON; j++)
                sum += fabs(b->lambda[k][i]) * ((i == j) + fabs(b->h[k] * J[j * ROBERTSON + i])) * fabs(V[j]);
    }
    return sum;
}

static void within_bound(void **state)
{
    static const char *const names[] = {"sdirk4a", "kvaerno54", "radau2a5", "radau2a7"};
    const double V0[ROBERTSON] = {0.3, 0.5, 0.7}, C = 4;
    static back b;
    ivp x = {.own = NULL};
    (void)state;
    assert_int_equal(ivp_robertson(&x, 0), COSTATE_OK);
    x.t1 = 1e11;
    for (int k = 0; k < 2 * 4 * 2; k++) {
        const costate_method *m = costate_method_find(names[k / 4]);
        double rtol = k & 1 ? 1e-3 : 1e-4, V[ROBERTSON] = {V0[0], V0[1], V0[2]}, lambda[ROBERTSON] = {0}, y[ROBERTSON];
        int of = k >> 1 & 1;
        costate_options o = {.rtol = rtol, .atol = 1e-8 * rtol, .on_back = step_back, .on_back_ctx = &b};
        costate *c = costate_new(m, &x.P, &o);
        costate_tape *tape = costate_tape_new();
        memcpy(y, x.y0, sizeof y);
        lambda[of] = 1;
        CHECK_OK(c, costate_integrate(c, 0, x.t1, y, NULL, tape));
        int steps = costate_tape_steps(tape);
        assert_true(steps < MOST_STEPS);
        CHECK_OK(c, costate_tangent(c, tape, 1, V, NULL, NULL, NULL));
        CHECK_OK(c, costate_adjoint(c, tape, 1, lambda, NULL, NULL, NULL));
        double start = lambda[0] * V0[0] + lambda[1] * V0[1] + lambda[2] * V0[2];
        double gap = fabs(V[of] - start), bound = DBL_EPSILON * sum_of(m, &x, &o, &b, steps, V0);
        if (!(gap <= C * bound))
            fail_msg("%s, rtol %g, y_%d: gap %.1e, bound %.1e", method_name(m), rtol, of, gap / fabs(V[of]),
                     bound / fabs(V[of]));
        print_message("           %s, %g, y_%d: gap %.1e, sum %.1e\n", method_name(m), rtol, of, gap / fabs(V[of]),
                      bound / fabs(V[of]));
        costate_tape_free(tape);
        costate_free(c);
    }
    ivp_free(&x);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(within_bound)};
    return run_by_method("transposes where it is stiff", transposes) +
           run_by_method("very stiff, by GMRES", very_stiff) + cmocka_run_group_tests(tests, NULL, NULL);
}
