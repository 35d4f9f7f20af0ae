/* test_bvp_bad.c - every wrong argument of bvp.h is a status and a sentence that names it; a solver that was refused
   something goes on as if it had not been asked. */
#include <costate/linsol.h>
#include "bvp_common.h"

enum { NS = 2, NQ = 2, N = NS + NQ, NP = 2, M = 2, POINTS = 3, ENDS = 3 };

/* ---- what costate_bvp_new is given: said by every call ---- */

typedef struct {
    bvps *s;
    const costate_method *m;
    costate_problem P;
    costate_conditions C;
    costate_bvp_options o;
} given;

static given begin(bvps_kind kind)
{
    bvps *s = bvps_tangled(&(bvps_spec){.seed = 4, .n = NS, .np = NP, .pieces = 2, .kind = kind});
    assert_non_null(s);
    return (given){s, costate_method_find("gauss3"), s->P, s->C, bvps_options(s, 1e-3)};
}

static void refused(given *g, const costate_problem *P, const costate_conditions *C, int wanted, const char *word)
{
    double t = 0.3, X[N];
    costate_bvp *c = costate_bvp_new(g->m, P, C, &g->o);
    assert_non_null(c);
    says(c, costate_bvp_solve(c, g->s->a, g->s->b, g->s->p), wanted, word);
    says(c, costate_bvp_guess(c, 1, &t, X), wanted, word);
    says(c, costate_bvp_mesh(c, 1, &t), wanted, word);
    says(c, costate_bvp_eval(c, 0.5, X), wanted, word);
    says(c, costate_bvp_get(c, 0, &t, X), wanted, word);
    says(c, costate_bvp_tangent(c, &(costate_bvp_tangents){.m = 1, .points = 1, .t = &t, .V = X}), wanted, word);
    says(c, costate_bvp_adjoint(c, &(costate_bvp_adjoints){.m = 1, .points = 1, .t = &t, .lambda = X}), wanted, word);
    assert_int_equal(costate_bvp_intervals(c), 0);
    costate_bvp_free(c);
}

#define REFUSED_OF(kind, change, wanted, word) do { \
    given g = begin(kind); \
    change; \
    refused(&g, &g.P, &g.C, wanted, word); \
    bvps_free(g.s); } while (0)
#define REFUSED(change, wanted, word) REFUSED_OF(((bvps_kind){.jac = 1}), change, wanted, word)
#define BAD(change, word) REFUSED(change, COSTATE_BAD_ARGUMENT, word)

static void method(void **state)
{
    static const char *const no[] = {"dopri5", "rodas4", "rock4"};
    (void)state;
    BAD(g.m = NULL, "method");
    for (int k = 0; k < 3; k++) BAD(g.m = costate_method_find(no[k]), no[k]);
    assert_null(costate_bvp_method_at(-1));
    assert_null(costate_bvp_method_at(costate_bvp_method_count()));
    for (int k = 0; k < costate_bvp_method_count(); k++) assert_non_null(costate_bvp_method_at(k));
    assert_string_equal(costate_bvp_message(NULL), "The solver is NULL.");
    costate_bvp_free(NULL);
}

static int no_mass(double *out, void *ctx)
{
    (void)ctx, out[0] = 1, out[1] = 2, out[2] = 2, out[3] = 4;
    return 0;
}
static int half_of_residual(const costate_point *x, double *out, void *ctx)
{
    (void)ctx, out[0] = x->yp[0] + x->yp[1] - x->y[0], out[1] = x->yp[0] + x->yp[1] + x->y[1];
    return 0;
}

static void problems(void **state)
{
    (void)state;
    given none = begin((bvps_kind){0});
    refused(&none, NULL, &none.C, COSTATE_BAD_ARGUMENT, "problem");
    refused(&none, &none.P, NULL, COSTATE_BAD_ARGUMENT, "conditions");
    bvps_free(none.s);
    BAD(g.P.n = 0, "n = 0");
    BAD(g.P.n = -3, "n = -3");
    BAD(g.P.np = -1, "np = -1");
    BAD(g.P.nq = -1, "nq = -1");
    const costate_event event = {.guard = none.P.rhs, .jump = none.P.rhs};
    BAD((g.P.nevents = 1, g.P.event = &event), "event");
    BAD((g.P.nevents = g.P.nm = 1, g.P.event = &event), "nm = 1");
    BAD(g.P.index = ((const int[]){0, 1}), "index");
    BAD(g.P.start.value = g.P.rhs.value, "start");
    BAD(g.P.pattern = (&(costate_pattern){3, (const int[]){0, 0, 0, 0}, (const int[]){0}}), "pattern");
    BAD(g.P.residual = g.P.rhs, "residual");
    REFUSED(g.P.rhs.value = NULL, COSTATE_MISSING, "rhs");
    REFUSED(g.P.cost.value = NULL, COSTATE_MISSING, "cost");
    REFUSED_OF(((bvps_kind){.form = BVPS_RESIDUAL, .jac = 1}), g.P.residual.value = NULL, COSTATE_MISSING, "");
}

static void conditions(void **state)
{
    static const int row[] = {0, 1, 0, 1}, col[] = {0, 2, 2, 4, 4}, high[] = {0, 1, 0, 2}, twice[] = {0, 0, 0, 1};
    (void)state;
    BAD(g.C.count = 1, "count = 1");
    BAD(g.C.count = 3, "count = 3");
    BAD(g.C.count = 0, "count = 0");
    REFUSED(g.C.map.value = NULL, COSTATE_MISSING, "conditions");
    BAD(g.C.pattern = (&(costate_pattern){2, col, row}), "conditions.pattern");
    BAD(g.C.pattern = (&(costate_pattern){4, col, high}), "conditions.pattern");
    BAD(g.C.pattern = (&(costate_pattern){4, col, twice}), "conditions.pattern");
    BAD(g.C.pattern = (&(costate_pattern){4, NULL, row}), "conditions.pattern");
}

static void options(void **state)
{
    static const double bad[] = {-1e-3, NAN, INFINITY, -INFINITY};
    (void)state;
    for (int k = 0; k < 4; k++) {
        BAD(g.o.rtol = bad[k], "rtol");
        BAD(g.o.atol = bad[k], "atol");
        BAD(g.o.atol_vector = ((const double[]){1e-3, 1e-3, bad[k], 1e-3}), "atol_vector[2]");
    }
    BAD(g.o.atol_vector = ((const double[]){1e-3, 1e-3, 1e-3, 0}), "atol_vector[3]");
    BAD(g.o.intervals = -1, "intervals = -1");
    BAD(g.o.max_mesh = -1, "max_mesh = -1");
    BAD(g.o.newton_max = -2, "newton_max = -2");
    BAD(g.o.nbreaks = -1, "nbreaks = -1");
    BAD(g.o.breaks = NULL, "breaks");
    BAD(g.o.solver = 99, "solver = 99");
    BAD(g.o.solver = -1, "solver = -1");
    REFUSED(g.o.solver = COSTATE_LS_GMRES, COSTATE_BACKEND, "solver");
}

/* ---- calls: the solver goes on as before ---- */

typedef struct {
    given g;
    costate_bvp *c;
    double t[POINTS], X[POINTS * N];
    union {
        struct {
            double Vp[NP * M], Vends[ENDS * M], Vtimes[POINTS * M], Vc[NS * M], V[N * POINTS * M];
            double lambda[N * POINTS * M], mu[NP * M], ends[ENDS * M], times[POINTS * M], c_[NS * M];
            double mu2[NP * M], ends2[ENDS * M], times2[POINTS * M], c2[NS * M];
        };
        double all[M * (3 * NP + 3 * ENDS + 3 * POINTS + 3 * NS + 2 * N * POINTS)];
    };
    costate_bvp_tangents tangents;
    costate_bvp_adjoints adjoints;
    costate_bvp_second second;
    double spoil;                                   /* of seed: put into lambda, or where it is 0 into lambda2; */
    int code, where;                                /* what it returns; 0: nothing is spoilt */
} world;

static int seed(int points, const double *t, const double *X, const double *p, int m, const double *V, const double *Vp,
                double *lambda, double *mu, double *lambda2, double *mu2, void *ctx)
{
    const world *w = ctx;
    (void)t, (void)p, (void)Vp;
    for (int i = 0; i < points * N; i++) lambda[i] = X[i];
    for (int i = 0; i < m * points * N; i++) lambda2[i] = V[i];
    double *out[] = {NULL, lambda, mu, lambda2, mu2};
    if (w->where && out[w->where]) out[w->where][1] = w->spoil;
    return w->code;
}

static void fill(world *w)
{
    unsigned random = 1;
    random_fill(&random, sizeof w->all / sizeof *w->all, w->all);
    w->t[0] = w->g.s->a;
    w->t[1] = w->g.s->breaks[0];
    w->t[2] = 0.4 * w->g.s->a + 0.6 * w->g.s->b;
    w->code = w->where = 0;
    w->tangents = (costate_bvp_tangents){M, POINTS, w->t, w->Vp, w->Vends, w->Vtimes, w->Vc, w->V};
    w->adjoints = (costate_bvp_adjoints){M, POINTS, w->t, w->lambda, w->mu, w->ends, w->times, w->c_};
    w->second = (costate_bvp_second){M, POINTS, w->t, w->Vp, w->Vends, w->Vtimes, w->Vc, seed, w, w->mu, w->ends,
                                     w->times, w->c_, w->mu2, w->ends2, w->times2, w->c2};
}

static void open_world(world *w)
{
    w->g = begin((bvps_kind){.jac = 1});
    w->c = costate_bvp_new(w->g.m, &w->g.P, &w->g.C, &w->g.o);
    fill(w);
}

static void close_world(world *w)
{
    costate_bvp_free(w->c);
    bvps_free(w->g.s);
}

static int solve(world *w) { return costate_bvp_solve(w->c, w->g.s->a, w->g.s->b, w->g.s->p); }
static int tangent(world *w) { return costate_bvp_tangent(w->c, &w->tangents); }
static int adjoint(world *w) { return costate_bvp_adjoint(w->c, &w->adjoints); }
static int hessian(world *w) { return costate_bvp_hessian(w->c, &w->second); }

/* before anything was solved */
static void too_early(void **state)
{
    (void)state;
    world w;
    open_world(&w);
    double t, X[N];
    assert_int_equal(costate_bvp_intervals(w.c), 0);
    says(w.c, costate_bvp_get(w.c, 0, &t, X), COSTATE_BAD_ARGUMENT, "no solution");
    says(w.c, costate_bvp_eval(w.c, 0.5, X), COSTATE_BAD_ARGUMENT, "no solution");
    says(w.c, tangent(&w), COSTATE_BAD_ARGUMENT, "solution");
    says(w.c, adjoint(&w), COSTATE_BAD_ARGUMENT, "solution");
    says(w.c, hessian(&w), COSTATE_BAD_ARGUMENT, "solution");
    CHECK_BVP(w.c, solve(&w));
    CHECK_BVP(w.c, adjoint(&w));
    close_world(&w);
}

#define CALL(change, call, word) do { \
    fill(&w); \
    change; \
    double old_[sizeof w.all / sizeof *w.all]; \
    memcpy(old_, w.all, sizeof old_); \
    says(w.c, call, COSTATE_BAD_ARGUMENT, word); \
    assert_memory_equal(old_, w.all, sizeof old_); } while (0)

static void solving(void **state)
{
    static const double bad[] = {NAN, INFINITY, -INFINITY};
    (void)state;
    world w;
    open_world(&w);
    double a = w.g.s->a, b = w.g.s->b, p[NP], t[] = {a, 0.9, b}, y[3 * NS] = {0};
    CHECK_BVP(w.c, solve(&w));
    assert_int_equal(costate_bvp_solve(NULL, a, b, w.g.s->p), COSTATE_BAD_ARGUMENT);
    for (int k = 0; k < 3; k++) {
        CALL(, costate_bvp_solve(w.c, bad[k], b, w.g.s->p), "a = ");
        CALL(, costate_bvp_solve(w.c, a, bad[k], w.g.s->p), "b = ");
        memcpy(p, w.g.s->p, sizeof p);
        p[1] = bad[k];
        CALL(, costate_bvp_solve(w.c, a, b, p), "p[1]");
        y[3] = bad[k];
        CALL(, costate_bvp_guess(w.c, 3, t, y), "y[1]");
        y[3] = 0;
        t[1] = bad[k];
        CALL(, costate_bvp_guess(w.c, 3, t, y), "t[1]");
        CALL(, costate_bvp_mesh(w.c, 3, t), "t[1]");
        t[1] = 0.9;
    }
    CALL(, costate_bvp_solve(w.c, a, a, w.g.s->p), "a = b");
    CALL(, costate_bvp_solve(w.c, a, b, NULL), "p is NULL");
    CALL(, costate_bvp_solve(w.c, a, w.g.s->breaks[0], w.g.s->p), "breaks[0]");     /* no longer inside */
    CALL(, costate_bvp_solve(w.c, b, a + 2, w.g.s->p), "breaks[0]");
    CALL(, costate_bvp_guess(w.c, 0, t, y), "points = 0");
    CALL(, costate_bvp_guess(w.c, -1, t, y), "points = -1");
    CALL(, costate_bvp_guess(w.c, 3, t, NULL), "y is NULL");
    CALL(, costate_bvp_mesh(w.c, 1, t), "points = 1");
    CALL(, costate_bvp_mesh(w.c, 3, NULL), "t is NULL");
    CALL(, costate_bvp_mesh(w.c, 3, ((const double[]){a, b, 0.9})), "t[2]");
    CALL(, costate_bvp_mesh(w.c, 3, ((const double[]){a, a, b})), "t[1]");
    CALL(, costate_bvp_guess(w.c, 3, ((const double[]){a, b, 0.9}), y), "t[2]");
    CHECK_BVP(w.c, adjoint(&w));                     /* of the solution that there was */
    CHECK_BVP(w.c, costate_bvp_mesh(w.c, 3, ((const double[]){a, 0.9, b + 0.1})));
    CALL(, solve(&w), "mesh");
    CHECK_BVP(w.c, costate_bvp_mesh(w.c, 3, t));
    CHECK_BVP(w.c, solve(&w));
    close_world(&w);
}

static void breaks(void **state)
{
    (void)state;
    static const double wrong[][2] = {{0.9, 0.7}, {0.7, 0.7}, {0.2, 0.7}, {0.7, 1.7}, {0.7, NAN}, {INFINITY, 0.7}};
    for (size_t k = 0; k < sizeof wrong / sizeof *wrong; k++) {
        given g = begin((bvps_kind){.jac = 1});
        g.o.nbreaks = 2;
        g.o.breaks = wrong[k];
        costate_bvp *c = costate_bvp_new(g.m, &g.P, &g.C, &g.o);
        says(c, costate_bvp_solve(c, g.s->a, g.s->b, g.s->p), COSTATE_BAD_ARGUMENT, "breaks");
        costate_bvp_free(c);
        bvps_free(g.s);
    }
}

static void looking(void **state)
{
    (void)state;
    world w;
    open_world(&w);
    CHECK_BVP(w.c, solve(&w));
    double a = w.g.s->a, b = w.g.s->b, t, X[N];
    int last = costate_bvp_intervals(w.c);
    says(w.c, costate_bvp_eval(w.c, a - 1e-9, X), COSTATE_OUT_OF_RANGE, "t = ");
    says(w.c, costate_bvp_eval(w.c, b + 1e-9, X), COSTATE_OUT_OF_RANGE, "t = ");
    says(w.c, costate_bvp_eval(w.c, NAN, X), COSTATE_OUT_OF_RANGE, "t = ");
    CALL(, costate_bvp_eval(w.c, a, NULL), "Y is NULL");
    CALL(, costate_bvp_get(w.c, -1, &t, X), "-1");
    CALL(, costate_bvp_get(w.c, last + 1, &t, X), "Mesh point");
    CHECK_BVP(w.c, costate_bvp_get(w.c, last, &t, X));
    assert_true(t == b);
    CHECK_BVP(w.c, costate_bvp_get(w.c, 0, &t, X));
    assert_true(t == a);
    assert_int_equal(costate_bvp_intervals(NULL), 0);
    assert_int_equal(costate_bvp_get(NULL, 0, &t, X), COSTATE_BAD_ARGUMENT);
    assert_int_equal(costate_bvp_eval(NULL, a, X), COSTATE_BAD_ARGUMENT);
    close_world(&w);
}

/* what is common to the three kinds of derivatives */
#define COMMON(of, call) do { \
    CALL(w.of.m = 0, call, "m = 0"); \
    CALL(w.of.m = -2, call, "m = -2"); \
    CALL(w.of.points = -1, call, "points = -1"); \
    CALL(w.of.t = NULL, call, "t is NULL"); \
    fill(&w); \
    w.t[2] = w.g.s->b + 1e-3; \
    says(w.c, call, COSTATE_OUT_OF_RANGE, "t[2]"); \
    w.t[2] = NAN; \
    says(w.c, call, COSTATE_OUT_OF_RANGE, "t[2]"); } while (0)
#define NOT_FINITE(place, call, word) do { \
    for (int k_ = 0; k_ < 3; k_++) \
        CALL(w.place = ((const double[]){NAN, INFINITY, -INFINITY})[k_], call, word); } while (0)

static void derivatives(void **state)
{
    (void)state;
    world w;
    open_world(&w);
    CHECK_BVP(w.c, solve(&w));
    COMMON(tangents, tangent(&w));
    COMMON(adjoints, adjoint(&w));
    COMMON(second, hessian(&w));
    CALL(, costate_bvp_tangent(w.c, NULL), "NULL");
    CALL(, costate_bvp_adjoint(w.c, NULL), "NULL");
    CALL(, costate_bvp_hessian(w.c, NULL), "NULL");
    CALL(w.tangents.V = NULL, tangent(&w), "V is NULL");
    CALL(w.adjoints.lambda = NULL, adjoint(&w), "lambda is NULL");
    NOT_FINITE(Vp[3], tangent(&w), "Vp");
    NOT_FINITE(Vends[ENDS], tangent(&w), "Vends");
    NOT_FINITE(Vtimes[2], tangent(&w), "Vtimes");
    NOT_FINITE(Vc[1], tangent(&w), "Vc");
    NOT_FINITE(lambda[N * POINTS * M - 1], adjoint(&w), "lambda");
    NOT_FINITE(mu[3], adjoint(&w), "mu");
    NOT_FINITE(Vp[3], hessian(&w), "Vp");
    NOT_FINITE(Vc[1], hessian(&w), "Vc");
    NOT_FINITE(mu2[1], hessian(&w), "mu2");
    fill(&w);
    w.second.seed = NULL;
    says(w.c, hessian(&w), COSTATE_MISSING, "seed");
    fill(&w);
    w.code = 1;
    says(w.c, hessian(&w), COSTATE_CALLBACK, "seed");
    for (int where = 1; where <= 4; where++) {
        fill(&w);
        w.where = where;
        w.spoil = where % 2 ? NAN : INFINITY;
        int status = hessian(&w);
        if (status != COSTATE_BAD_ARGUMENT && status != COSTATE_NOT_FINITE)
            fail_msg("a seed that is not finite (%d): %s", where, costate_status_name(status));
        says(w.c, status, status, "seed");
    }
    fill(&w);
    CHECK_BVP(w.c, tangent(&w));
    CHECK_BVP(w.c, adjoint(&w));
    CHECK_BVP(w.c, hessian(&w));
    close_world(&w);
}

/* nothing is asked, or nothing is moved: it is done, and results are zero */
static void nothing(void **state)
{
    (void)state;
    world w;
    open_world(&w);
    CHECK_BVP(w.c, solve(&w));
    w.tangents.Vp = w.tangents.Vends = w.tangents.Vtimes = w.tangents.Vc = NULL;
    CHECK_BVP(w.c, tangent(&w));
    for (int i = 0; i < N * POINTS * M; i++) assert_true(w.V[i] == 0);
    w.adjoints.mu = w.adjoints.ends = w.adjoints.times = w.adjoints.c = NULL;
    CHECK_BVP(w.c, adjoint(&w));
    w.second = (costate_bvp_second){.m = 1, .points = 1, .t = w.t, .seed = seed, .ctx = &w};
    CHECK_BVP(w.c, hessian(&w));
    fill(&w);
    memset(w.lambda, 0, sizeof w.lambda);
    memset(w.mu, 0, sizeof w.mu);
    CHECK_BVP(w.c, adjoint(&w));
    for (int i = 0; i < M * NP; i++) assert_true(w.mu[i] == 0);
    for (int i = 0; i < M * ENDS; i++) assert_true(w.ends[i] == 0);
    for (int i = 0; i < M * NS; i++) assert_true(w.c_[i] == 0);
    close_world(&w);
}

/* ---- products that are missing are named; with options.differences they are replaced ---- */

static void lacking(given *g, int (*call)(world *), const char *word)
{
    world w = {.g = *g};
    for (int differences = 0; differences < 2; differences++) {
        w.g.o.differences = differences;
        w.c = costate_bvp_new(w.g.m, &w.g.P, &w.g.C, &w.g.o);
        fill(&w);
        CHECK_BVP(w.c, solve(&w));
        if (!differences) says(w.c, call(&w), COSTATE_MISSING, word);
        else if (call != hessian) CHECK_BVP(w.c, call(&w));
        costate_bvp_free(w.c);
    }
    bvps_free(w.g.s);
}

#define LACKS(change, call, word) do { \
    given g = begin((bvps_kind){0}); \
    change; \
    lacking(&g, call, word); } while (0)

static void missing(void **state)
{
    (void)state;
    LACKS(g.P.rhs.tangent = NULL, tangent, "rhs.tangent");
    LACKS(g.P.rhs.adjoint = NULL, adjoint, "rhs.adjoint");
    LACKS(g.P.rhs.adjoint_tangent = NULL, hessian, "rhs.adjoint_tangent");
    LACKS(g.P.cost.tangent = NULL, tangent, "cost.tangent");
    LACKS(g.P.cost.adjoint = NULL, adjoint, "cost.adjoint");
    LACKS(g.P.cost.adjoint_tangent = NULL, hessian, "cost.adjoint_tangent");
    LACKS(g.C.map.tangent = NULL, tangent, "conditions.map.tangent");
    LACKS(g.C.map.adjoint = NULL, adjoint, "conditions.map.adjoint");
    LACKS(g.C.map.adjoint_tangent = NULL, hessian, "conditions.map.adjoint_tangent");
}

/* ---- M and F_y' that are singular ---- */

static void singular(void **state)
{
    (void)state;
    for (int k = 0; k < costate_bvp_method_count(); k++)
        for (int form = 0; form < 2; form++) {
            given g = begin((bvps_kind){0});
            const costate_method *m = costate_bvp_method_at(k);
            if (form == 0) g.P.mass = no_mass;
            else g.P.residual.value = half_of_residual, g.P.rhs = (costate_map){0};
            costate_bvp *c = costate_bvp_new(m, &g.P, &g.C, &g.o);
            says(c, costate_bvp_solve(c, g.s->a, g.s->b, g.s->p), COSTATE_SINGULAR, form ? "y'" : "mass matrix");
            costate_bvp_free(c);
            bvps_free(g.s);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(method), cmocka_unit_test(problems), cmocka_unit_test(conditions), cmocka_unit_test(options),
        cmocka_unit_test(too_early), cmocka_unit_test(solving), cmocka_unit_test(breaks), cmocka_unit_test(looking),
        cmocka_unit_test(derivatives), cmocka_unit_test(nothing), cmocka_unit_test(missing),
        cmocka_unit_test(singular)};
    return cmocka_run_group_tests_name("bad input", tests, NULL, NULL);
}
