/* test_bvp_transpose.c - adjoint and tangent are transposes: <lambda, V> = <gradients, directions> to 1e-12 of the sum
   of the moduli of its terms, with p, ends, breaks, times and c all moving, several columns at once, points at ends, at
   breaks, at mesh points and between them; every method, form, kind of linear solver, many sizes. */
#include "bvp_common.h"
#include <costate/linsol.h>

enum { M = 3, F = 2, POINTS = 9, ENDS = 4, NP = 3, N = BVPS_MOST };      /* directions, functionals */

static const double GAP = 1e-12;

typedef struct {
    double t[POINTS];
    double Vp[NP * M], Vends[ENDS * M], Vtimes[POINTS * M], Vc[BVPS_N * M], V[N * POINTS * M];
    double lambda[N * POINTS * F], mu[NP * F], ends[ENDS * F], times[POINTS * F], c[BVPS_N * F];
} world;

typedef struct { double sum, size; } product;

static product added(product z, int count, const double *x, const double *y)
{
    for (int i = 0; i < count; i++) {
        z.sum += x[i] * y[i];
        z.size += fabs(x[i] * y[i]);
    }
    return z;
}

/* a, both breaks, b, two mesh points, between, and one twice: in no order */
static void points(costate_bvp *c, const bvps *s, double *t)
{
    double Y[N];
    int last = costate_bvp_intervals(c);
    t[0] = s->b;
    t[1] = s->nbreaks > 0 ? s->breaks[0] : s->a;
    t[2] = s->a;
    t[3] = s->nbreaks > 1 ? s->breaks[1] : s->b;
    CHECK_BVP(c, costate_bvp_get(c, 1, &t[4], Y));
    CHECK_BVP(c, costate_bvp_get(c, last - 1, &t[5], Y));
    t[6] = 0.38 * s->a + 0.62 * s->b;
    t[7] = 0.93 * s->a + 0.07 * s->b;
    t[8] = t[6];
}

static int is_end(const bvps *s, double t)
{
    for (int k = 0; k < s->nbreaks; k++) if (t == s->breaks[k]) return 1;
    return t == s->a || t == s->b;
}

static double gap(const bvps *s, world *w)
{
    int n = s->P.n, NN = (n + s->P.nq) * POINTS, np = s->P.np, ends = s->nbreaks + 2;
    double worst = 0;
    for (int i = 0; i < F; i++)
        for (int j = 0; j < M; j++) {
            product left = added((product){0, 0}, NN, w->lambda + i * NN, w->V + j * NN), right = {0, 0};
            right = added(right, np, w->mu + i * np, w->Vp + j * np);
            right = added(right, ends, w->ends + i * ends, w->Vends + j * ends);
            right = added(right, POINTS, w->times + i * POINTS, w->Vtimes + j * POINTS);
            right = added(right, n, w->c + i * n, w->Vc + j * n);
            worst = larger_of(worst, fabs(left.sum - right.sum) / fmax(left.size, right.size));
        }
    return worst;
}

static double one(const costate_method *m, const bvps_spec *spec, int solver)
{
    unsigned seed = spec->seed + 40;
    bvps *s = bvps_tangled(spec);
    world *w = calloc(1, sizeof *w);
    assert_true(s && w);
    costate_bvp_options o = bvps_options(s, 1e-3);
    o.fixed = 1;
    o.solver = solver;
    costate_bvp *c = costate_bvp_new(m, &s->P, &s->C, &o);
    solve_on(c, s, s->P.n > 5 ? 5 : 16);
    points(c, s, w->t);
    random_fill(&seed, NP * M, w->Vp);
    random_fill(&seed, ENDS * M, w->Vends);
    random_fill(&seed, POINTS * M, w->Vtimes);
    random_fill(&seed, BVPS_N * M, w->Vc);
    random_fill(&seed, N * POINTS * F, w->lambda);
    CHECK_BVP(c, costate_bvp_tangent(c, &(costate_bvp_tangents){
        .m = M, .points = POINTS, .t = w->t, .Vp = spec->np ? w->Vp : NULL, .Vends = w->Vends, .Vtimes = w->Vtimes,
        .Vc = w->Vc, .V = w->V}));
    CHECK_BVP(c, costate_bvp_adjoint(c, &(costate_bvp_adjoints){
        .m = F, .points = POINTS, .t = w->t, .lambda = w->lambda, .mu = spec->np ? w->mu : NULL, .ends = w->ends,
        .times = w->times, .c = w->c}));
    for (int k = 0; k < F * POINTS; k++)
        if (is_end(s, w->t[k % POINTS])) assert_true(w->times[k] == 0);
        else assert_true(w->times[k] != 0);
    double found = gap(s, w);
    if (!(found <= GAP))
        fail_msg("%s, form %d, n = %d, np = %d, %d pieces, solver %d, sparse %d, jac %d: gap %.1e", method_name(m),
                 spec->kind.form, spec->n, spec->np, spec->pieces, solver, spec->kind.sparse, spec->kind.jac, found);
    costate_bvp_free(c);
    free(w);
    bvps_free(s);
    return found;
}

static const struct { int solver; const char *name; } solvers[] = {
    {COSTATE_LS_DENSE, NULL}, {COSTATE_LS_KLU, "klu"}, {COSTATE_LS_SPARSE, "sparse"}, {COSTATE_LS_UMFPACK, "umfpack"}};
enum { SOLVERS = sizeof solvers / sizeof *solvers };

static void transposes(void **state)
{
    static const int n[] = {1, 2, 5};
    double worst = 0;
    for (int form = 0; form < BVPS_FORMS; form++)
        for (int l = 0; l < SOLVERS; l++)
            for (int k = 0; k < 3; k++) {
                bvps_spec spec = {7u + (unsigned)k, n[k], k == 1 ? 0 : 3, 1 + k, 0,
                                  {form, k != 1, solvers[l].name != NULL}};
                if (solvers[l].name && !costate_backend_find(solvers[l].name)) continue;
                worst = larger_of(worst, one(*state, &spec, solvers[l].solver));
                spec.backwards = 1;
                if (l == 0) worst = larger_of(worst, one(*state, &spec, solvers[l].solver));
            }
    print_message("           largest gap %.1e\n", worst);
}

/* a system, by few methods: with no pattern, with one and by what the solver chooses for itself */
static void large(void **state)
{
    double worst = 0;
    for (int form = 0; form < BVPS_FORMS; form++)
        for (int sparse = 0; sparse < 2; sparse++) {
            bvps_spec spec = {11, 40, 3, 3, 0, {form, 1, sparse}};
            worst = larger_of(worst, one(*state, &spec, COSTATE_LS_AUTO));
            if (sparse && form == BVPS_RESIDUAL && costate_backend_find("klu"))
                worst = larger_of(worst, one(*state, &spec, COSTATE_LS_KLU));
        }
    print_message("           largest gap %.1e\n", worst);
}

int main(void)
{
    static const char *const names[] = {"gauss3", "radau2a", "lobatto3a4", "sdirk4a"};
    enum { NAMES = sizeof names / sizeof *names };
    struct CMUnitTest tests[NAMES];
    for (int k = 0; k < NAMES; k++)
        tests[k] = (struct CMUnitTest){names[k], large, NULL, NULL, (void *)(uintptr_t)costate_method_find(names[k])};
    int failed = run_by_bvp_method("transposes", transposes);
    return cmocka_run_group_tests_name("transposes of 40 states", tests, NULL, NULL) + failed;
}
