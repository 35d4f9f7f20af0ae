/* test_space.c - a state spread over processes: all take the same steps and fail alike, and their parts make up the
   solution, the tangents and the gradients of one process; sums are batched. */
#include "linsol/gmres.h"
#include "step/method.h"
#include "common.h"
#include "cells_case.h"
#include "spread.h"

static const double p0[NP] = {0.7, 3.0};


typedef struct {
    const costate_method *m;
    costate_options o;
    int status[RANKS_MOST], t_sums;
    long accepted[RANKS_MOST], rejected[RANKS_MOST];
    double y[CELLS], V[CELLS], lambda[CELLS], q, dq, mu[NP], t0, t1, dt, seen;     /* put together */
    double share[RANKS_MOST][8 + NP];
    char message[RANKS_MOST][400];
} result;

static int look(int k, double t, const double *y, int m, double *w, void *ctx)
{
    process *p = ctx;
    (void)k; (void)t; (void)y; (void)m;
    for (int i = 0; i < p->cells.n; i++) w[i] = weight(p->cells.from + i);
    return 0;
}

/* forward with a tape, tangent along (y0, p, t0, t1), adjoint of  sum weight u(t1) + q + sum weight u(0.13)  */
static int sweeps(costate *c, process *p, result *x)
{
    int n = p->cells.n;
    double y[CELLS + NQ] = {0}, V[CELLS + NQ] = {0}, lambda[CELLS + NQ] = {0}, mu[NP] = {0}, dt;
    double s0 = dt0, s1 = dt1, g0, g1, at = 0.13, *share = x->share[p->rank];
    for (int i = 0; i < n; i++) { y[i] = start(p->cells.from + i); V[i] = direction(p->cells.from + i); }
    costate_tape *tape = costate_tape_new();
    int status = costate_integrate(c, 0, 0.2, y, p0, tape);
    x->accepted[p->rank] = costate_get_stats(c)->accepted;
    x->rejected[p->rank] = costate_get_stats(c)->rejected;
    costate_times forward = {.t0 = &s0, .t1 = &s1}, back = {.t0 = &g0, .t1 = &g1};
    costate_observations seen = {.count = 1, .t = &at, .seed = look, .dt = &dt, .ctx = p};
    if (!status) status = costate_tangent(c, tape, 1, V, dp, &forward, NULL);
    for (int i = 0; i < n; i++) lambda[i] = weight(p->cells.from + i);
    lambda[n] = 1;
    if (!status) status = costate_adjoint(c, tape, 1, lambda, mu, &back, NULL);
    memcpy(x->y + p->cells.from, y, (size_t)n * sizeof *y);
    memcpy(x->V + p->cells.from, V, (size_t)n * sizeof *V);
    memcpy(x->lambda + p->cells.from, lambda, (size_t)n * sizeof *lambda);
    double all[] = {y[n], V[n], g0, g1, mu[0], mu[1]};
    memcpy(share, all, sizeof all);
    if (!status) status = costate_adjoint(c, tape, 1, lambda, mu, &back, &seen);
    share[6] = dt;
    costate_tape_free(tape);
    return status;
}

static void one_process(process *p, void *ctx)
{
    result *x = ctx;
    costate_problem mine = spread_problem(p);
    costate_options o = x->o;
    o.sum = cluster_sum;
    o.sum_ctx = p;
    costate *c = costate_new(x->m, &mine, &o);
    x->status[p->rank] = costate_status(c) ? costate_status(c) : sweeps(c, p, x);
    snprintf(x->message[p->rank], sizeof x->message[0], "%s", costate_message(c));
    costate_free(c);
}

static void go(cluster *w, int ranks, result *x)
{
    cluster_run(w, one_process, x);
    x->q = x->dq = x->mu[0] = x->mu[1] = 0;
    for (int r = 0; r < ranks; r++) {
        x->q += x->share[r][0];
        x->dq += x->share[r][1];
        for (int k = 0; k < NP; k++) x->mu[k] += x->share[r][4 + k];
    }
    x->t0 = x->share[0][2];
    x->t1 = x->share[0][3];
    x->dt = x->share[0][6];
}

/* storages in turn: with checkpoints all processes make the same steps again */
static int storage_for(const costate_method *m)
{
    int k = 0;
    while (costate_method_at(k) && costate_method_at(k) != m) k++;
    return k % 3;
}

static result solve(const costate_method *m, int ranks)
{
    result x = {.m = m, .o = {.rtol = 1e-6, .atol = 1e-6, .solver = COSTATE_LS_GMRES, .krylov_tol = 1e-14,
                            .storage = storage_for(m), .checkpoints = 40}};
    costate_method_info info;
    costate_method_describe(m, &info);
    if (!info.embedded) { x.o.controller = COSTATE_FIXED; x.o.h0 = 0.01; }
    cluster *w = cluster_new(ranks);
    go(w, ranks, &x);
    cluster_free(w);
    for (int r = 0; r < ranks; r++) {
        if (x.status[r] != 0) print_error("%s, %d of %d: %s\n", m->name, r, ranks, x.message[r]);
        assert_int_equal(x.status[r], 0);
        assert_int_equal(x.accepted[r], x.accepted[0]);
        assert_int_equal(x.rejected[r], x.rejected[0]);
        assert_true(x.share[r][2] == x.share[0][2] && x.share[r][3] == x.share[0][3]);
        assert_true(x.share[r][6] == x.share[0][6]);
    }
    return x;
}

static void test_parts_make_up_the_whole(void **state)
{
    (void)state;
    for (int k = 0; costate_method_at(k); k++) {
        const costate_method *m = costate_method_at(k);
        if (!is_tested("parts", m, 1) || skipped(k, 2)) continue;
        result one = solve(m, 1);
        for (int ranks = 1; ranks <= RANKS_MOST; ranks += k % 5 ? 2 : 1) {
            if (ranks > 1 && skipped(k + ranks, 3)) continue;
            result x = ranks == 1 ? one : solve(m, ranks);
            assert_int_equal(x.accepted[0], one.accepted[0]);
            assert_true(relative_gap(CELLS, x.y, one.y) < 1e-9);
            assert_true(relative_gap(CELLS, x.V, one.V) < 1e-8);
            assert_true(relative_gap(CELLS, x.lambda, one.lambda) < 1e-8);
            assert_true(fabs(one.q - x.q) < 1e-9 * one.q);
            assert_true(fabs(one.dt - x.dt) < 1e-8 * fabs(one.dt));
            double gap = cells_gap(x.lambda, x.mu, x.t0, x.t1, x.V, x.dq);
            if (!(gap < 1e-12)) fail_msg("%s on %d: gap %.3g", m->name, ranks, gap);
        }
    }
}

/* What one process finds, all return: a callback that wants a smaller step, one that gives up, a sum that fails. */
static result troubled(const char *name, int rank, int at, int code, int sums)
{
    result x = {.m = costate_method_find(name), .o = {.solver = COSTATE_LS_GMRES}};
    cluster *w = cluster_new(3);
    if (rank >= 0) { cluster_process(w, rank)->fails_at = at; cluster_process(w, rank)->code = code; }
    if (sums > 0) cluster_break_sum(w, sums);
    go(w, 3, &x);
    cluster_free(w);
    return x;
}

static void test_troubles_are_shared(void **state)
{
    static const char *const names[] = {"dopri5", "sdirk4a", "radau2a", "rodas4", "trbdf2"};
    (void)state;
    for (int k = 0; k < 5; k++)
        for (int rank = 0; rank < 3; rank++) {
            if (skipped(k + rank, 3)) continue;
            result plain = troubled(names[k], -1, 0, 0, 0), x = troubled(names[k], rank, 9, 1, 0);
            for (int r = 0; r < 3; r++) {
                assert_int_equal(x.status[r], 0);
                assert_int_equal(x.accepted[r], x.accepted[0]);
                assert_int_equal(x.rejected[r], plain.rejected[r] + 1);
            }
            x = troubled(names[k], rank, 9, -5, 0);
            for (int r = 0; r < 3; r++) {
                assert_int_equal(x.status[r], COSTATE_CALLBACK);
                assert_non_null(strstr(x.message[r], r == rank ? "rhs.value returned -5" : "Another process"));
            }
            x = troubled(names[k], -1, 0, 0, 20 + rank);
            for (int r = 0; r < 3; r++) {
                assert_int_equal(x.status[r], COSTATE_CALLBACK);
                assert_non_null(strstr(x.message[r], "The sum over processes returned -2"));
            }
        }
}

/* ---- the room alone ----------------------------------------------------------------------------------------- */

static int counted_sum(int count, double *x, void *ctx)
{
    (void)count; (void)x;
    ++*(int *)ctx;
    return 0;
}

typedef struct { int n; } diagonal;
static int apply(void *ctx, int m, const double *x, double *out)
{
    const diagonal *d = ctx;
    for (int i = 0; i < m * d->n; i++) out[i] = (1 + i % d->n) * x[i];
    return 0;
}
static int no_preconditioner(void *ctx, int m, double *x) { (void)ctx; (void)m; (void)x; return 0; }

/* An iteration sums three times (twice Gram-Schmidt, the norm), however long the space is already. */
static void test_gram_schmidt_is_batched(void **state)
{
    enum { N = 30, LIMIT = 30 };
    diagonal d = {N};
    double w[N], b[N], x[N], work[2 * N];
    double *space_of = test_calloc(gmres_work(N, 1, LIMIT), sizeof *space_of);
    int sums[2], iterations[2];
    (void)state;
    for (int i = 0; i < N; i++) { w[i] = 1; b[i] = 1 + 0.1 * i; }
    for (int k = 0; k < 2; k++) {
        verdict v = {0};
        sums[k] = 0;
        space s = {counted_sum, &sums[k], &v};
        gmres_system g = {.space = &s, .n = N, .columns = 1, .limit = LIMIT, .tol = k ? 1e-6 : 1e-2, .w = w,
                          .apply = apply, .precondition = no_preconditioner, .believe = 1, .ctx = &d, .work = space_of};
        gmres_result got;
        assert_int_equal(gmres(&g, b, x, work, &got), 0);
        iterations[k] = got.iterations;
    }
    assert_true(iterations[1] > iterations[0] + 5);
    assert_int_equal(sums[1] - sums[0], 4 * (iterations[1] - iterations[0]));   /* and one for |A| as seen */
    test_free(space_of);
}

typedef struct { double x[RANKS_MOST], greatest[RANKS_MOST], norm[RANKS_MOST], w[RANKS_MOST]; } numbers;

static void extremes(process *p, void *ctx)
{
    numbers *a = ctx;
    verdict v = {0};
    space s = {cluster_sum, p, &v};
    double x = fabs(a->x[p->rank]), one = 1;
    if (space_greatest(&s, &x)) x = -1;
    a->greatest[p->rank] = x;
    if (space_norm(&s, 1, &one, &a->x[p->rank], &a->norm[p->rank])) a->norm[p->rank] = -1;
}

/* sqrt(mean x^2) and max |x| of numbers whose squares are none */
static void test_extreme_sizes(void **state)
{
    static const double sizes[][RANKS_MOST] = {
        {1e-160, 2e-160, 5e-324, 0}, {1e200, -1e199, 1, 1e-300}, {1e308, 1e308, 1e308, 1e308}, {0, 0, 0, 0},
        {3, -4, 12, 84}, {1e-300, 1e-310, 4e-308, 5e-324},
    };
    (void)state;
    for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) {
        numbers a;
        double most = 0, sum = 0;
        memcpy(a.x, sizes[k], sizeof a.x);
        cluster *w = cluster_new(RANKS_MOST);
        cluster_run(w, extremes, &a);
        cluster_free(w);
        for (int r = 0; r < RANKS_MOST; r++) most = fmax(most, fabs(a.x[r]));
        for (int r = 0; most > 0 && r < RANKS_MOST; r++) sum += (a.x[r] / most) * (a.x[r] / most);
        for (int r = 0; r < RANKS_MOST; r++) {
            assert_true(a.greatest[r] == a.greatest[0] && a.norm[r] == a.norm[0]);
            assert_true(a.greatest[r] >= most * (1 - 1e-12) && a.greatest[r] <= most * 1.1);
            assert_true(fabs(a.norm[r] - most * sqrt(sum / RANKS_MOST)) <= 1e-12 * most + 5e-324);
        }
    }
    numbers bad = {.x = {1, NAN, 2, 3}};
    cluster *w = cluster_new(RANKS_MOST);
    cluster_run(w, extremes, &bad);
    cluster_free(w);
    for (int r = 0; r < RANKS_MOST; r++) assert_true(isnan(bad.greatest[r]) && isnan(bad.norm[r]));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_parts_make_up_the_whole),
        cmocka_unit_test(test_troubles_are_shared),
        cmocka_unit_test(test_gram_schmidt_is_batched),
        cmocka_unit_test(test_extreme_sizes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
