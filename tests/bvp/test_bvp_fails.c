/* test_bvp_fails.c - a boundary value problem that cannot be solved, or whose callbacks fail at call k, for every k:
   the status, a sentence that says where and what, and the solver goes on afterwards from the last solution that there
   was, to the bit as one that never failed. */
#include "bratu.h"
#include "bvp_common.h"

enum { NS = 3, NP = 2, NQ = 2, N = NS + NQ, POINTS = 3, ENDS = 3, MOST = 4096 };

/* ---- callbacks that fail at a call ---- */

typedef struct {
    bvps *s;
    long calls, at;                     /* of all callbacks; the one that fails, 0: none */
    int code;                           /* what it returns, or where it is 0: */
    double spoil;                       /* what it puts into its first result */
} trap;

static int ended(trap *z, int status, double *out)
{
    if (++z->calls != z->at) return status;
    if (out) *out = z->spoil;
    return z->code;
}

#define TRAPS(name, of) \
static int name##_value(const costate_point *x, double *out, void *z) \
{ \
    return ended(z, ((trap *)z)->s->of.value(x, out, ((trap *)z)->s), out); \
} \
static int name##_tangent(const costate_point *x, const costate_point *dx, double *out, void *z) \
{ \
    return ended(z, ((trap *)z)->s->of.tangent(x, dx, out, ((trap *)z)->s), out); \
} \
static int name##_adjoint(const costate_point *x, const double *w, const costate_gradient *g, void *z) \
{ \
    return ended(z, ((trap *)z)->s->of.adjoint(x, w, g, ((trap *)z)->s), g->y ? g->y : g->p); \
} \
static int name##_adjoint_tangent(const costate_point *x, const costate_point *dx, const double *w, \
                                  const costate_gradient *g, void *z) \
{ \
    return ended(z, ((trap *)z)->s->of.adjoint_tangent(x, dx, w, g, ((trap *)z)->s), g->y ? g->y : g->p); \
}
TRAPS(rhs, P.rhs)
TRAPS(cost, P.cost)
TRAPS(conditions, C.map)
#define TRAPPED(name) {.value = name##_value, .tangent = name##_tangent, .adjoint = name##_adjoint, \
                       .adjoint_tangent = name##_adjoint_tangent}

static int jac(const costate_point *x, double *J, void *z)
{
    return ended(z, ((trap *)z)->s->P.jac(x, J, ((trap *)z)->s), J);
}

/* ---- a solver, and everything it computes ---- */

typedef struct {
    trap z;
    costate_problem P;
    costate_conditions C;
    costate_bvp *c;
    double p[NP];
} world;

typedef struct {
    int intervals;
    double y[3 * N], V[N * POINTS], mu[NP], ends[ENDS], times[POINTS], c[NS], mu2[NP], ends2[ENDS], times2[POINTS],
           c2[NS];
} results;

static costate_bvp_options options(const bvps *s)
{
    costate_bvp_options o = bvps_options(s, 1e-4);
    o.intervals = 2;
    return o;
}

static void open_world(world *w)
{
    memset(w, 0, sizeof *w);
    bvps *s = bvps_tangled(&(bvps_spec){.seed = 31, .n = NS, .np = NP, .pieces = ENDS - 1, .kind = {.jac = 1}});
    assert_non_null(s);
    w->z.s = s;
    w->P = s->P;
    w->P.ctx = &w->z;
    w->P.rhs = (costate_map)TRAPPED(rhs);
    w->P.cost = (costate_map)TRAPPED(cost);
    w->P.jac = jac;
    w->C = (costate_conditions){.map = TRAPPED(conditions), .count = NS};
    const costate_bvp_options o = options(s);
    w->c = costate_bvp_new(costate_method_find("gauss2"), &w->P, &w->C, &o);
    memcpy(w->p, s->p, sizeof w->p);
}

static void close_world(world *w)
{
    costate_bvp_free(w->c);
    bvps_free(w->z.s);
}

static int seed(int points, const double *t, const double *X, const double *p, int m, const double *V, const double *Vp,
                double *lambda, double *mu, double *lambda2, double *mu2, void *ctx)
{
    (void)t, (void)p, (void)Vp, (void)mu, (void)mu2, (void)ctx;
    for (int i = 0; i < points * N; i++) lambda[i] = X[i];
    for (int i = 0; i < m * points * N; i++) lambda2[i] = V[i];
    return 0;
}

static int solve(world *w, double p0)
{
    w->p[0] = p0;
    return costate_bvp_solve(w->c, w->z.s->a, w->z.s->b, w->p);
}

/* all derivatives of the solution that there is; values beside them */
static int derivatives(world *w, results *r)
{
    static const double one[POINTS + ENDS + NS] = {1, 1, 1, 1, 1, 1, 1, 1, 1};
    const bvps *s = w->z.s;
    const double t[POINTS] = {s->a, 0.6 * s->a + 0.4 * s->b, s->b};
    double lambda[N * POINTS];
    memset(r, 0, sizeof *r);
    for (int i = 0; i < N * POINTS; i++) lambda[i] = 1;
    r->intervals = costate_bvp_intervals(w->c);
    for (int k = 0; k < 3; k++) {
        int status = costate_bvp_eval(w->c, t[k], r->y + k * N);
        if (status) return status;
    }
    int status = costate_bvp_tangent(w->c, &(costate_bvp_tangents){
        .m = 1, .points = POINTS, .t = t, .Vp = one, .Vends = one, .Vtimes = one, .Vc = one, .V = r->V});
    if (status) return status;
    status = costate_bvp_adjoint(w->c, &(costate_bvp_adjoints){
        .m = 1, .points = POINTS, .t = t, .lambda = lambda, .mu = r->mu, .ends = r->ends, .times = r->times,
        .c = r->c});
    if (status) return status;
    return costate_bvp_hessian(w->c, &(costate_bvp_second){
        .m = 1, .points = POINTS, .t = t, .Vp = one, .Vends = one, .Vtimes = one, .Vc = one, .seed = seed, .mu = r->mu,
        .ends = r->ends, .times = r->times, .c = r->c, .mu2 = r->mu2, .ends2 = r->ends2, .times2 = r->times2,
        .c2 = r->c2});
}

/* ---- at call k of solve ---- */

typedef struct { int code; double spoil; } failure;
static const failure failures[] = {{-1, 0}, {1, 0}, {0, NAN}, {0, INFINITY}};
enum { FAILURES = sizeof failures / sizeof *failures };

/* < 0 gives up; what is not defined at a point may be so at a smaller step, or be said */
static int allowed(const failure *f, int status)
{
    if (f->code < 0) return status == COSTATE_CALLBACK;
    return status == COSTATE_OK || status == COSTATE_CALLBACK || status == COSTATE_NOT_FINITE ||
           status == COSTATE_NEWTON || status == COSTATE_SINGULAR;
}

static void complain(const world *w, const failure *f, long k, const char *what, int status)
{
    fail_msg("%s: returns %d, %g at call %ld: %s: %s", what, f->code, f->spoil, k, costate_status_name(status),
             costate_bvp_message(w->c));
}

/* what a solver gives that never failed: after a solution for p0 = -0.2, that for 0.3 by continuation */
static void reference(results *r, long *calls)
{
    world w;
    open_world(&w);
    CHECK_BVP(w.c, solve(&w, -0.2));
    w.z.calls = 0;
    CHECK_BVP(w.c, solve(&w, 0.3));
    *calls = w.z.calls;
    CHECK_BVP(w.c, derivatives(&w, r));
    close_world(&w);
}

static void in_solve(void **state)
{
    (void)state;
    results expected, r;
    long calls, stride;
    reference(&expected, &calls);
    stride = calls > 150 ? calls / 150 : 1;
    for (int l = 0; l < FAILURES; l++)
        for (long k = 1; k <= calls; k += stride) {
            const failure *f = &failures[l];
            world w;
            open_world(&w);
            CHECK_BVP(w.c, solve(&w, -0.2));
            w.z = (trap){.s = w.z.s, .at = k, .code = f->code, .spoil = f->spoil};
            int status = solve(&w, 0.3);
            if (!allowed(f, status) || strlen(costate_bvp_message(w.c)) < 9) complain(&w, f, k, "solve", status);
            if (status == COSTATE_OK) { close_world(&w); continue; }
            w.z.at = 0;
            if (costate_bvp_intervals(w.c)) {            /* the last iterate, to be looked at */
                double t, Y[N];
                CHECK_BVP(w.c, costate_bvp_get(w.c, 0, &t, Y));
                assert_int_not_equal(derivatives(&w, &r), COSTATE_OK);
            }
            CHECK_BVP(w.c, solve(&w, 0.3));
            CHECK_BVP(w.c, derivatives(&w, &r));
            if (memcmp(&r, &expected, sizeof r) != 0) complain(&w, f, k, "the next solve", 0);
            close_world(&w);
        }
    print_message("           %ld calls\n", calls);
}

static void in_derivatives(void **state)
{
    (void)state;
    results expected, r;
    world w;
    long calls;
    reference(&expected, &calls);
    open_world(&w);
    CHECK_BVP(w.c, solve(&w, -0.2));
    CHECK_BVP(w.c, solve(&w, 0.3));
    for (int twice = 0; twice < 2; twice++) {            /* the second finds the matrix factored */
        w.z.calls = 0;
        CHECK_BVP(w.c, derivatives(&w, &r));
        assert_memory_equal(&r, &expected, sizeof r);
    }
    calls = w.z.calls;
    for (int l = 0; l < FAILURES; l++)
        for (long k = 1; k <= calls; k++) {
            const failure *f = &failures[l];
            w.z = (trap){.s = w.z.s, .at = k, .code = f->code, .spoil = f->spoil};
            int status = derivatives(&w, &r);
            int wanted = f->code ? COSTATE_CALLBACK : COSTATE_NOT_FINITE;
            if (status != wanted || strlen(costate_bvp_message(w.c)) < 10) complain(&w, f, k, "derivatives", status);
            w.z.at = 0;
            CHECK_BVP(w.c, derivatives(&w, &r));
            if (memcmp(&r, &expected, sizeof r) != 0) complain(&w, f, k, "derivatives again", 0);
        }
    print_message("           %ld calls\n", calls);
    close_world(&w);
}

/* the same in the first derivatives of a solution, which factor its matrix */
static void in_first_derivatives(void **state)
{
    (void)state;
    results expected, r;
    long calls, most = 0;
    reference(&expected, &calls);
    for (int l = 0; l < FAILURES; l++)
        for (long k = 1, reached = 1; reached; k += 2) {
            const failure *f = &failures[l];
            world w;
            open_world(&w);
            CHECK_BVP(w.c, solve(&w, -0.2));
            CHECK_BVP(w.c, solve(&w, 0.3));
            w.z = (trap){.s = w.z.s, .at = k, .code = f->code, .spoil = f->spoil};
            int status = derivatives(&w, &r);
            reached = w.z.calls >= k;
            int wanted = !reached ? COSTATE_OK : f->code ? COSTATE_CALLBACK : COSTATE_NOT_FINITE;
            if (status != wanted) complain(&w, f, k, "first derivatives", status);
            w.z.at = 0;
            CHECK_BVP(w.c, derivatives(&w, &r));
            if (memcmp(&r, &expected, sizeof r) != 0) complain(&w, f, k, "first derivatives again", 0);
            most = k > most ? k : most;
            close_world(&w);
        }
    print_message("           %ld calls\n", most);
}

/* ---- on_iteration stops ---- */

typedef struct { int calls, at, meshes; double size; } watcher;

static int watch(const costate_bvp_iteration *it, void *ctx)
{
    watcher *v = ctx;
    assert_true(it->intervals > 0 && it->damping > 0 && it->damping <= 1 && it->size >= 0 && it->iteration >= 0);
    assert_true(it->mesh == 0 ? it->error != it->error : it->error > 0);
    v->meshes = it->mesh + 1;
    return ++v->calls == v->at;
}

static void stopped(void **state)
{
    (void)state;
    bvps *s = bvps_find("B3b", (bvps_kind){.jac = 1});
    assert_non_null(s);
    for (int at = 0; at < 100; at++) {
        watcher v = {.at = at};
        costate_bvp_options o = {.on_iteration = watch, .on_iteration_ctx = &v};
        costate_bvp *c = costate_bvp_new(costate_method_find("gauss3"), &s->P, &s->C, &o);
        int status = costate_bvp_solve(c, 0, 1, s->p), calls = v.calls;
        if (at == 0) assert_true(status == COSTATE_OK && v.meshes == costate_bvp_get_stats(c)->meshes);
        if (at && calls == at) {
            says(c, status, COSTATE_STOPPED, "on_iteration");
            assert_true(costate_bvp_intervals(c) > 0);
            v.at = 0;
            CHECK_BVP(c, costate_bvp_solve(c, 0, 1, s->p));
        }
        else assert_int_equal(status, COSTATE_OK);
        costate_bvp_free(c);
        if (at && calls < at) break;
        assert_true(at < 99);
    }
    bvps_free(s);
}

/* ---- what cannot be solved ---- */

/* the mesh is too small for the layer: what there is can be looked at, and a larger one does */
static void mesh_limit(void **state)
{
    (void)state;
    bvps *s = bvps_find("B3c", (bvps_kind){.jac = 1});
    assert_non_null(s);
    costate_bvp_options o = {.max_mesh = 20};
    costate_bvp *c = costate_bvp_new(costate_method_find("gauss3"), &s->P, &s->C, &o);
    double Y[3], first[3], second[3];
    CHECK_BVP(c, costate_bvp_solve(c, 0, 1, ((const double[]){0.5, 1, 3, 2, -1})));
    CHECK_BVP(c, costate_bvp_eval(c, 0.5, first));
    s->p[0] = 1e-4;
    says(c, costate_bvp_solve(c, 0, 1, s->p), COSTATE_MESH_LIMIT, "max_mesh = 20");
    assert_int_equal(strncmp(costate_status_name(COSTATE_MESH_LIMIT), "COSTATE_MESH_LIMIT", 18), 0);
    assert_true(costate_bvp_intervals(c) > 0 && costate_bvp_intervals(c) <= 20);
    assert_true(costate_bvp_get_stats(c)->error > 1);
    CHECK_BVP(c, costate_bvp_eval(c, 0.5, Y));
    assert_true(isfinite(Y[0]) && isfinite(Y[1]) && isfinite(Y[2]));
    CHECK_BVP(c, costate_bvp_solve(c, 0, 1, ((const double[]){0.5, 1, 3, 2, -1})));     /* from the last solution */
    CHECK_BVP(c, costate_bvp_eval(c, 0.5, second));
    assert_true(largest_gap(3, first, second) <= 1e-12);
    assert_int_equal(costate_bvp_get_stats(c)->meshes, 1);
    costate_bvp_free(c);
    bvps_free(s);
}


static void no_solution(void **state)
{
    static const char *const names[] = {"gauss3", "radau2a", "lobatto3a4"};
    (void)state;
    for (int k = 0; k < 3; k++) {
        const costate_problem P = {.n = 2, .np = 1, .rhs = {.value = bratu}, .jac = bratu_jac};
        const costate_conditions C = {.map = {.value = zero_ends}, .count = 2};
        double p = 1, first[2], second[2], t;
        costate_bvp *c = costate_bvp_new(costate_method_find(names[k]), &P, &C, NULL);
        CHECK_BVP(c, costate_bvp_solve(c, 0, 1, &p));
        CHECK_BVP(c, costate_bvp_eval(c, 0.5, first));
        /* y = -2 ln(cosh((t - 1/2) th/2)/cosh(th/4)), th = sqrt(2 k) cosh(th/4) */
        double th = 1;
        for (int i = 0; i < 200; i++) th = sqrt(2 * p) * cosh(th / 4);
        assert_true(fabs(first[0] - 2 * log(cosh(th / 4))) <= 1e-6);
        p = 5;
        int status = costate_bvp_solve(c, 0, 1, &p);
        says(c, status, COSTATE_NEWTON, "y[");
        says(c, status, COSTATE_NEWTON, "t = ");
        CHECK_BVP(c, costate_bvp_get(c, 0, &t, second));
        assert_true(isfinite(second[0]) && isfinite(second[1]));
        p = 1;
        CHECK_BVP(c, costate_bvp_solve(c, 0, 1, &p));
        CHECK_BVP(c, costate_bvp_eval(c, 0.5, second));
        assert_true(largest_gap(2, first, second) <= 1e-12);
        costate_bvp_free(c);
    }
}

/* y0' = f(t), periodic: many solutions, or none */
static int free_level(const costate_point *x, double *out, void *ctx)
{
    (void)ctx, out[0] = cos(x->t), out[1] = -x->y[1] + sin(x->t);
    return 0;
}
static int periodic(const costate_point *x, double *out, void *ctx)
{
    (void)ctx, out[0] = x->y[2] - x->y[0], out[1] = x->y[3] - x->y[1];
    return 0;
}

static void many_solutions(void **state)
{
    const costate_method *m = *state;
    const costate_problem P = {.n = 2, .rhs = {.value = free_level}};
    const costate_conditions C = {.map = {.value = periodic}, .count = 2};
    costate_bvp *c = costate_bvp_new(m, &P, &C, NULL);
    says(c, costate_bvp_solve(c, 0, 2 * acos(-1), NULL), COSTATE_SINGULAR, "y[0]");
    double rcond = costate_bvp_get_stats(c)->rcond;
    if (!(rcond >= 0 && rcond < 1e-12)) fail_msg("%s: rcond %g of a singular problem", method_name(m), rcond);
    costate_bvp_free(c);
}

/* Newton's iterations are few: said, with their number */
static void too_few(void **state)
{
    (void)state;
    bvps *s = bvps_find("B3b", (bvps_kind){.jac = 1});
    assert_non_null(s);
    costate_bvp_options o = {.newton_max = 1, .fixed = 1};
    costate_bvp *c = costate_bvp_new(costate_method_find("gauss3"), &s->P, &s->C, &o);
    says(c, costate_bvp_solve(c, 0, 1, s->p), COSTATE_NEWTON, "1 iteration");
    costate_bvp_free(c);
    bvps_free(s);
}

int main(void)
{
    enum { NAMES = 3 };
    static const char *const names[NAMES] = {"gauss3", "radau2a", "lobatto3a4"};
    struct CMUnitTest tests[7 + NAMES] = {
        cmocka_unit_test(in_solve), cmocka_unit_test(in_derivatives), cmocka_unit_test(in_first_derivatives),
        cmocka_unit_test(stopped),
        cmocka_unit_test(mesh_limit), cmocka_unit_test(no_solution), cmocka_unit_test(too_few)};
    for (int k = 0; k < NAMES; k++)
        tests[7 + k] = (struct CMUnitTest){names[k], many_solutions, NULL, NULL,
                                           (void *)(uintptr_t)costate_method_find(names[k])};
    return cmocka_run_group_tests_name("boundary value problems that fail", tests, NULL, NULL);
}
