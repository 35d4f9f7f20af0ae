/* test_columns.c - several directions in one call give the same bits as one by one, each at a point that was prepared.

   Every method and synthetic problem, with parameters, integrals, times and mass matrices, 1, 3 and 10 columns.  The
   callbacks below stand for a problem's, and assert that their point is the one prepared last; the checks of a map find
   each fault that such callbacks may have. */
#include "common.h"
#include <costate/linsol.h>

enum { N_MOST = 8, NP_MOST = 8, M_MOST = 10 };
enum { RHS, COST, MAPS };

/* What is wrong with the callbacks, on purpose. */
enum { RIGHT, COLUMN_WRONG, NULL_IGNORED, OVERWRITES, ADDS_ELSEWHERE, POINT_KEPT, VALUE_DISTURBS, FAULTS };

typedef struct {
    const problem *b;
    int fault;
    struct { int count; double t; const double *kept; double y[N_MOST], p[NP_MOST]; } ready[MAPS];
    long products, blocks;          /* products at points; those of several columns */
    long fails_at;                  /* the first block that returns 1 */
} wrapped;

static const costate_map *inner(const wrapped *w, int which) { return which == RHS ? &w->b->P.rhs : &w->b->P.cost; }

static void stands(wrapped *w, int which, const costate_point *x)
{
    size_t n = (size_t)w->b->P.n, np = (size_t)w->b->P.np;
    w->products++;
    assert_true(w->ready[which].count > 0);
    assert_true(w->ready[which].t == x->t);
    assert_memory_equal(w->ready[which].y, x->y, n * sizeof(double));
    if (np) assert_memory_equal(w->ready[which].p, x->p, np * sizeof(double));
}

/* what the products use: the point that was prepared, not the one they are given */
static costate_point prepared(const wrapped *w, int which)
{
    const double *y = w->fault == POINT_KEPT ? w->ready[which].kept : w->ready[which].y;
    return (costate_point){.t = w->ready[which].t, .y = y, .p = w->ready[which].p};
}

static int prepare(wrapped *w, int which, const costate_point *x)
{
    w->ready[which].count++;
    w->ready[which].t = x->t;
    w->ready[which].kept = x->y;
    memcpy(w->ready[which].y, x->y, (size_t)w->b->P.n * sizeof(double));
    if (w->b->P.np) memcpy(w->ready[which].p, x->p, (size_t)w->b->P.np * sizeof(double));
    return 0;
}

static int value(wrapped *w, int which, const costate_point *x, double *out)
{
    if (w->fault == VALUE_DISTURBS) w->ready[which].y[0] = x->y[0];
    return inner(w, which)->value(x, out, w->b->P.ctx);
}

static int tangents(wrapped *w, int which, const costate_point *x, int m, const costate_point *dx, double *out)
{
    int k = which == RHS ? w->b->P.n : w->b->P.nq;
    if (!w->fault) stands(w, which, x);
    w->blocks += m > 1;
    if (w->fails_at && w->blocks >= w->fails_at) return 1;
    costate_point at = prepared(w, which);
    for (int j = 0; j < m; j++) {
        costate_point d = dx[j];
        if (w->fault == NULL_IGNORED && !d.y) d.y = dx[0].y;
        int r = inner(w, which)->tangent(&at, &d, out + j * k, w->b->P.ctx);
        if (r != 0) return r;
    }
    if (w->fault == COLUMN_WRONG && m > 1) out[k] *= 1 + 1e-4;
    return 0;
}

static int adjoints(wrapped *w, int which, const costate_point *x, int m, const double *v, const costate_gradient *g)
{
    int k = which == RHS ? w->b->P.n : w->b->P.nq;
    if (!w->fault) stands(w, which, x);
    w->blocks += m > 1;
    if (w->fails_at && w->blocks >= w->fails_at) return 1;
    costate_point at = prepared(w, which);
    for (int j = 0; j < m; j++) {
        const costate_gradient *to = w->fault == ADDS_ELSEWHERE ? &g[0] : &g[j];
        if (w->fault == OVERWRITES && m > 1 && g[j].y) memset(g[j].y, 0, (size_t)w->b->P.n * sizeof(double));
        int r = inner(w, which)->adjoint(&at, v + j * k, to, w->b->P.ctx);
        if (r != 0) return r;
    }
    return 0;
}

#define WRAPPED(name, which) \
static int name##_value(const costate_point *x, double *out, void *w) { return value(w, which, x, out); } \
static int name##_prepare(const costate_point *x, void *w) { return prepare(w, which, x); } \
static int name##_tangent(const costate_point *x, const costate_point *dx, double *out, void *w) \
{ \
    return tangents(w, which, x, 1, dx, out); \
} \
static int name##_adjoint(const costate_point *x, const double *v, const costate_gradient *g, void *w) \
{ \
    return adjoints(w, which, x, 1, v, g); \
} \
static int name##_tangents(const costate_point *x, int m, const costate_point *dx, double *out, void *w) \
{ \
    return tangents(w, which, x, m, dx, out); \
} \
static int name##_adjoints(const costate_point *x, int m, const double *v, const costate_gradient *g, void *w) \
{ \
    return adjoints(w, which, x, m, v, g); \
} \
static int name##_tangent2(const costate_point *x, const costate_point *a, const costate_point *b, double *out, \
                           void *w) \
{ \
    stands(w, which, x); \
    return inner(w, which)->tangent2(x, a, b, out, ((wrapped *)w)->b->P.ctx); \
} \
static int name##_adjoint_tangent(const costate_point *x, const costate_point *a, const double *v, \
                                  const costate_gradient *g, void *w) \
{ \
    stands(w, which, x); \
    return inner(w, which)->adjoint_tangent(x, a, v, g, ((wrapped *)w)->b->P.ctx); \
} \
static const costate_map name = {.value = name##_value, .tangent = name##_tangent, .adjoint = name##_adjoint, \
    .tangent2 = name##_tangent2, .adjoint_tangent = name##_adjoint_tangent, .tangents = name##_tangents, \
    .adjoints = name##_adjoints, .prepare = name##_prepare};

WRAPPED(rhs, RHS)
WRAPPED(cost, COST)

static int wrapped_jac(const costate_point *x, double *J, void *w)
{
    return ((wrapped *)w)->b->P.jac(x, J, ((wrapped *)w)->b->P.ctx);
}
static int wrapped_mass(double *M, void *w) { return ((wrapped *)w)->b->P.mass(M, ((wrapped *)w)->b->P.ctx); }

/* alone: the block callbacks serve single products, too */
static costate_problem wrap(wrapped *w, int alone)
{
    costate_problem P = w->b->P;
    P.ctx = w;
    P.rhs = rhs;
    if (P.nq) P.cost = cost;
    if (alone) P.rhs.tangent = P.cost.tangent = NULL;
    if (alone) P.rhs.adjoint = P.cost.adjoint = NULL;
    P.jac = P.jac ? wrapped_jac : NULL;
    P.mass = P.mass ? wrapped_mass : NULL;
    return P;
}

typedef struct { double V[N_MOST * M_MOST], lambda[N_MOST * M_MOST], mu[NP_MOST * M_MOST], g[2 * M_MOST]; } results;

static void solve(const costate_method *m, const problem *b, const costate_problem *P, const costate_options *o,
                  int columns, results *out, costate_stats *stats)
{
    unsigned seed = 5;
    double y[N_MOST] = {0}, Vp[NP_MOST * M_MOST], dt[2 * M_MOST];
    costate *c = new_for_test(m, P, o);
    costate_tape *tape = costate_tape_new();
    costate_times d = {.t0 = dt, .t1 = dt + M_MOST}, g = {.t0 = out->g, .t1 = out->g + M_MOST};
    memset(out, 0, sizeof *out);
    memcpy(y, b->y0, (size_t)P->n * sizeof *y);
    random_fill(&seed, N_MOST * M_MOST, out->V);
    random_fill(&seed, NP_MOST * M_MOST, Vp);
    random_fill(&seed, N_MOST * M_MOST, out->lambda);
    random_fill(&seed, 2 * M_MOST, dt);
    CHECK_OK(c, costate_integrate(c, b->t0, b->t1, y, b->p0, tape));
    CHECK_OK(c, costate_tangent(c, tape, columns, out->V, P->np ? Vp : NULL, &d, NULL));
    CHECK_OK(c, costate_adjoint(c, tape, columns, out->lambda, P->np ? out->mu : NULL, &g, NULL));
    *stats = *costate_get_stats(c);
    costate_tape_free(tape);
    costate_free(c);
}

/* more than a column a call, and no more preparations than points: a product at the point before needs none */
static void judge(const wrapped *w, const costate_method *m, int columns)
{
    if (columns > 1) assert_true(w->blocks > 0);
    assert_true(w->ready[RHS].count > 0);
    /* stage systems of sdirk take several at a point */
    if (method_info(m).family == COSTATE_SDIRK) assert_true(w->ready[RHS].count < w->products);
}

static void same_bits(void **state)
{
    static const int count[] = {1, 3, 10};
    const costate_method *m = *state;
    const problem *b;
    for (int k = 0; (b = problem_synthetic_at(k)); k++) {
        if (!method_takes(m, b->mass)) continue;
        for (int v = 0; v < 3; v++) {
            int columns = count[v], alone = (k + v) % 2;
            if (skipped(k + v + turn_of(m), 3)) continue;
            costate_options o = {.rtol = 1e-3, .atol = 1e-3, .hmax = 0.25, .autonomous = b->autonomous,
                                 .stage_solve = is_newton(m) ? 1 + (k + v) / 2 % 2 : 0};
            wrapped w = {.b = b};
            results single, block;
            costate_stats a, z;
            costate_problem P = wrap(&w, alone);
            solve(m, b, &b->P, &o, columns, &single, &a);
            solve(m, b, &P, &o, columns, &block, &z);
            assert_memory_equal(&single, &block, sizeof single);
            assert_memory_equal(&a, &z, sizeof a);                          /* a column counts as a product */
            judge(&w, m, columns);
        }
    }
}

/* Blocks that are not defined from somewhere on are a failure of the sweep. */
static void failure(void **state)
{
    const costate_method *m = *state;
    const problem *b = problem_synthetic_at(0);
    wrapped w = {.b = b};
    costate_problem P = wrap(&w, 0);
    costate_options o = {.rtol = 1e-3, .atol = 1e-3, .hmax = 0.25, .autonomous = b->autonomous};
    double y[N_MOST] = {0}, V[N_MOST * M_MOST] = {1}, t0[3] = {1, 1, 1}, t1[3] = {0};
    costate_times g = {.t0 = t0, .t1 = t1};          /* without, implicit methods need no product but in stages */
    costate *c = new_for_test(m, &P, &o);
    costate_tape *tape = costate_tape_new();
    memcpy(y, b->y0, (size_t)P.n * sizeof *y);
    CHECK_OK(c, costate_integrate(c, b->t0, b->t1, y, b->p0, tape));
    w.fails_at = w.blocks + 2;
    assert_true(costate_tangent(c, tape, 3, V, NULL, &g, NULL) < 0);
    assert_non_null(strstr(costate_message(c), "t ="));
    w.fails_at = w.blocks + 2;
    assert_true(costate_adjoint(c, tape, 3, V, NULL, &g, NULL) < 0);
    costate_tape_free(tape);
    costate_free(c);
}

static void checks(void **state)
{
    static const char *const said[] = {"right", "tangents WRONG", "tangents WRONG", "adjoints WRONG", "adjoints WRONG",
                                       "WRONG", "WRONG"};
    const problem *b;
    (void)state;
    for (int k = 0; (b = problem_synthetic_at(k)); k++)
        for (int fault = 0; fault < FAULTS; fault++) {
            wrapped w = {.b = b, .fault = fault};
            costate_problem P = wrap(&w, 0);
            costate_point x = {.t = 0.37, .y = b->y0, .p = b->p0};
            costate_report r;
            int status = costate_check_problem(&P, &x, &r, NULL);
            if (status != (fault ? COSTATE_CHECK_FAILED : COSTATE_OK) || !strstr(r.text, said[fault]))
                fail_msg("%s, fault %d: %s: %s", b->name, fault, costate_status_name(status), r.text);
        }
}

int main(void)
{
    const struct CMUnitTest whole[] = {cmocka_unit_test(checks)};
    int failed = cmocka_run_group_tests_name("faults are found", whole, NULL, NULL);
    failed += run_by_method("block = columns one by one", same_bits);
    return failed + run_by_method("a block fails", failure);
}
