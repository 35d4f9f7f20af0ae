/* test_family_same.c - the family written against step.h alone computes what erk computes, by every method of erk:
   steps, tangents, adjoints and those of jets differ by round-off alone. */
#include "family_trial.h"      /* before cmocka, which has a macro fail */
#include "solver/families.h"
#include "common.h"

enum { N_MOST = 8, M = 3 };
static const double FEW_EPS = 64 * 2.22e-16;       /* some ten terms in another order, relative to the largest number */

typedef struct {
    double y1[N_MOST], err[N_MOST], V1[N_MOST * M], Xd[STAGES_MOST * N_MOST * M];
    double lambda[N_MOST * M], mu[N_MOST * M], t[M], h[M], U[STAGES_MOST * N_MOST * M];
    double lambda2[N_MOST * (1 + M)], mu2[N_MOST * (1 + M)], t2[1 + M], h2[1 + M];      /* of a jet */
} numbers;

#define TAKEN(a, call) do { if ((call) != 0) fail_msg("%s: %s", #call, (a)->v.text); } while (0)

static void compute(const family *F, const costate_method *m, const problem *b, numbers *x)
{
    one_step a = {0};
    shifts sh;
    unsigned r = 7;
    double V[N_MOST * M], Vp[N_MOST * M], d[2 * M], seed[STAGES_MOST * N_MOST * M];
    double seed2[STAGES_MOST * N_MOST * (1 + M)], U2[STAGES_MOST * N_MOST * (1 + M)];
    memset(x, 0, sizeof *x);
    random_fill(&r, N_MOST * M, V);
    random_fill(&r, N_MOST * M, Vp);
    random_fill(&r, 2 * M, d);
    random_fill(&r, N_MOST * M, x->lambda);
    random_fill(&r, STAGES_MOST * N_MOST * M, seed);
    random_fill(&r, N_MOST * (1 + M), x->lambda2);
    random_fill(&r, STAGES_MOST * N_MOST * (1 + M), seed2);
    TAKEN(&a, one_step_new(&a, F, m, &b->P, 1 + M, &sh));
    one_step_begin(&a, b->t0, b->y0, b->p0);
    TAKEN(&a, one_step_take(&a, 0.1));
    one_step_go_on(&a);
    TAKEN(&a, one_step_take(&a, 0.15));
    directions along = {.m = M, .stages = 1, .dt = d, .dh = d + M, .V = V, .Vp = b->P.np ? Vp : NULL, .V1 = x->V1,
                        .Xd = x->Xd};
    d[M] = 0;                                           /* of a direction that leaves h as it is */
    TAKEN(&a, F->tangent(&a.st, &a.r, &along));
    TAKEN(&a, F->adjoint(&a.st, &a.r, &(functionals){.m = M, .times = 1, .lambda = x->lambda,
                                                     .mu = b->P.np ? x->mu : NULL, .t = x->t, .h = x->h, .seed = seed,
                                                     .U = x->U}));
    TAKEN(&a, F->adjoint(&a.st, &a.r, &(functionals){.m = 1 + M, .along = &along, .times = 1, .lambda = x->lambda2,
                                                     .mu = b->P.np ? x->mu2 : NULL, .t = x->t2, .h = x->h2,
                                                     .seed = seed2, .U = U2}));
    memcpy(x->y1, a.y1, (size_t)a.st.N * sizeof *x->y1);
    memcpy(x->err, a.err, (size_t)a.st.N * sizeof *x->err);
    one_step_free(&a);
}

/* of A, at least 1.  Second derivatives have terms through two of them; those of high order are large, and cancel. */
static double largest_coefficient(const costate_method *m)
{
    double most = 1;
    for (int i = 0; i < m->s * m->s; i++) most = larger_of(most, fabs(m->A[i]));
    return most;
}

/* the largest difference by this method on this problem, relative to the largest number of its kind */
static double difference(const costate_method *m, const problem *b)
{
    static numbers x, z;
    double worst = 0;
    compute(&trial_family, m, b, &x);
    compute(family_of(m), m, b, &z);
    const struct { const char *name; size_t size; const double *x, *z; int second; } kinds[] = {
#define KIND(name) {#name, sizeof x.name / sizeof *x.name, x.name, z.name, 0}
#define SECOND(name) {#name, sizeof x.name / sizeof *x.name, x.name, z.name, 1}
        KIND(y1), KIND(V1), KIND(Xd), KIND(lambda), KIND(mu), KIND(t), KIND(h), KIND(U), SECOND(lambda2),
        SECOND(mu2), SECOND(t2), SECOND(h2),
#undef KIND
#undef SECOND
    };
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        double gap = relative_gap((int)kinds[k].size, kinds[k].x, kinds[k].z);
        if (!(gap <= (kinds[k].second ? largest_coefficient(m) : 1) * FEW_EPS))
            fail_msg("%s, %s: %s differs by %.1e", m->name, b->name, kinds[k].name, gap);
        worst = larger_of(worst, gap);
    }
    /* err is a difference of numbers of size one; the trial leaves out the second estimate of DOP853 */
    if (!m->est.e2) assert_true(largest_gap(N_MOST, x.err, z.err) <= FEW_EPS);
    return worst;
}

static void same(void **state)
{
    const costate_method *m;
    double worst = 0;
    (void)state;
    for (int k = 0; (m = costate_method_at(k)); k++)
        for (int l = 0; m->family == COSTATE_ERK && l < 16; l++)      /* the problems with M = identity come first */
            worst = larger_of(worst, difference(m, problem_synthetic_at(l)));
    print_message("           largest difference %.1e\n", worst);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {cmocka_unit_test(same)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
