/* test_transpose_stiff.c - tangent and adjoint are transposes to 1e-11 where problems are stiff: all implicit methods,
   all reference problems, POLLU, rtol 1e-4 to 1e-8.

   Tangents V and adjoints lambda go from step to step as doubles. To round them there changes lambda^T V, which is the
   same at all steps, by up to eps sum_k |lambda_k|^T |V_k|, whatever computes the steps. During the pulses of the
   Oregonator |lambda_k|^T |V_k| is 440 times what it is at the end. In the 2000 steps of sdirk4a at 1e-6 the sum is
   3.4e-11; so the bound is 4e-11 there, and runs of more than STEPS steps are left out. */
#include "common.h"
#include "ivp.h"

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
        if (!(gap <= (strcmp(b->name, "orego") ? 1e-11 : 4e-11)))
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

int main(void) { return run_by_method("transposes where it is stiff", transposes); }
