/* test_after_step_spread.c - a map after each step where states are spread over processes: it acts in all of them if it
   does in one; solution, tangents and gradients are those of one process, by every store. */
#include <costate/costate.h>
#include "common.h"
#include "cells_case.h"
#include "spread.h"

static const double p0[NP] = {0.7, 3.0};

/* y + p_0 y^2/500; it acts where a cell of this process is larger than 1/2 */
static int value(const costate_point *x, double *out, void *ctx)
{
    const process *p = ctx;
    for (int i = 0; i < p->cells.n; i++) out[i] = x->y[i] + x->p[0] * x->y[i] * x->y[i] / 500;
    return 0;
}
static int tangent(const costate_point *x, const costate_point *dx, double *out, void *ctx)
{
    const process *p = ctx;
    for (int i = 0; i < p->cells.n; i++)
        out[i] = (dx->y ? dx->y[i] * (1 + x->p[0] * x->y[i] / 250) : 0) +
                 (dx->p ? dx->p[0] * x->y[i] * x->y[i] / 500 : 0);
    return 0;
}
static int adjoint(const costate_point *x, const double *w, const costate_gradient *g, void *ctx)
{
    const process *p = ctx;
    for (int i = 0; i < p->cells.n; i++) {
        if (g->y) g->y[i] += w[i] * (1 + x->p[0] * x->y[i] / 250);
        if (g->p) g->p[0] += w[i] * x->y[i] * x->y[i] / 500;
    }
    return 0;
}
static int acts(const costate_point *x, void *ctx)
{
    const process *p = ctx;
    for (int i = 0; i < p->cells.n; i++) if (fabs(x->y[i]) > 0.5) return 1;
    return 0;
}
static int fails(const costate_point *x, void *ctx) { return (void)x, ((const process *)ctx)->rank == 1 ? -4 : 1; }

typedef struct {
    const costate_method *m;
    int storage, failing, status[RANKS_MOST];
    long corrections[RANKS_MOST];
    double y[CELLS], V[CELLS], lambda[CELLS], mu[RANKS_MOST][NP];
} result;

static int sweeps(costate *c, const process *p, result *x)
{
    int n = p->cells.n, from = p->cells.from;
    double y[CELLS + NQ] = {0}, V[CELLS + NQ] = {0}, lambda[CELLS + NQ] = {0};
    costate_tape *tape = costate_tape_new();
    for (int i = 0; i < n; i++) {
        y[i] = start(from + i);
        V[i] = direction(from + i);
        lambda[i] = weight(from + i);
    }
    int status = costate_integrate(c, 0, 0.2, y, p0, tape);
    if (!status) status = costate_tangent(c, tape, 1, V, dp, NULL, NULL);
    if (!status) status = costate_adjoint(c, tape, 1, lambda, x->mu[p->rank], NULL, NULL);
    x->corrections[p->rank] = costate_get_stats(c)->corrections;
    memcpy(x->y + from, y, (size_t)n * sizeof *y);
    memcpy(x->V + from, V, (size_t)n * sizeof *V);
    memcpy(x->lambda + from, lambda, (size_t)n * sizeof *lambda);
    costate_tape_free(tape);
    return status;
}

static void one_process(process *p, void *ctx)
{
    result *x = ctx;
    costate_problem mine = spread_problem(p);
    mine.after_step = (costate_after_step){.map = {.value = value, .tangent = tangent, .adjoint = adjoint},
                                           .acts = x->failing ? fails : acts};
    costate_options o = {.rtol = 1e-6, .atol = 1e-6, .solver = COSTATE_LS_GMRES, .storage = x->storage,
                         .checkpoints = 40, .sum = cluster_sum, .sum_ctx = p};
    costate *c = new_for_test(x->m, &mine, &o);
    x->status[p->rank] = costate_status(c) ? costate_status(c) : sweeps(c, p, x);
    costate_free(c);
}

static result solve(const costate_method *m, int ranks, int storage, int failing)
{
    result x = {.m = m, .storage = storage, .failing = failing};
    cluster *w = cluster_new(ranks);
    cluster_run(w, one_process, &x);
    cluster_free(w);
    for (int k = 0; k < NP; k++) for (int r = 1; r < ranks; r++) x.mu[0][k] += x.mu[r][k];
    return x;
}

static void spread(void **state)
{
    for (int storage = 0; storage < 3; storage++) {
        if (skipped(storage + (int)strlen(method_name(*state)), 3)) continue;
        result one = solve(*state, 1, storage, 0), three = solve(*state, 3, storage, 0);
        assert_true(one.corrections[0] > 0);
        for (int r = 0; r < 3; r++) {
            assert_int_equal(three.status[r], COSTATE_OK);
            assert_int_equal(three.corrections[r], one.corrections[0]);
        }
        const double gaps[] = {relative_gap(CELLS, three.y, one.y), relative_gap(CELLS, three.V, one.V),
                               relative_gap(CELLS, three.lambda, one.lambda), relative_gap(NP, three.mu[0], one.mu[0])};
        for (int k = 0; k < 4; k++)
            if (!(gaps[k] < 1e-9)) fail_msg("%s, storage %d: gap %d is %.1e", method_name(*state), storage, k, gaps[k]);
    }
}

/* what fails in one process fails in all */
static void fails_alike(void **state)
{
    result x = solve(costate_method_find("dopri5"), 3, 0, 1);
    (void)state;
    for (int r = 0; r < 3; r++) assert_int_equal(x.status[r], COSTATE_CALLBACK);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(fails_alike)};
    return cmocka_run_group_tests(tests, NULL, NULL) + run_by_kind("after_step, spread", spread);
}
