/* test_relaxation_spread.c - relaxation where states are spread over processes: the invariant is a sum over all of
   them, and so is the part of each step; solution, tangents, gradients and Hessian products are those of one process.

   In each cell an oscillator, a' = -w b, b' = w a with w = p_0 (1 + i/10 + a^2/3 + sin t), and the sum of (a^2 + b^2)/2
   over all cells is p_1. */
#include "cells_case.h"
#include "common.h"
#include "spread.h"

enum { ALL = 2 * CELLS };

static double rate(const process *p, const costate_point *x, int i)
{
    double a = x->y[2 * i];
    return x->p[0] * (1 + 0.1 * (p->cells.from + i) + a * a / 3 + sin(x->t));
}

static int value(const costate_point *x, double *out, void *ctx)
{
    const process *p = ctx;
    for (int i = 0; i < p->cells.n; i++) {
        double w = rate(p, x, i);
        out[2 * i] = -w * x->y[2 * i + 1];
        out[2 * i + 1] = w * x->y[2 * i];
    }
    return 0;
}

/* w' along d */
static double rate_along(const process *p, const costate_point *x, const costate_point *d, int i)
{
    double a = x->y[2 * i], da = d->y ? d->y[2 * i] : 0, by_p = d->p ? d->p[0] : 0;
    return x->p[0] * (2 * a * da / 3 + d->t * cos(x->t)) + by_p * rate(p, x, i) / x->p[0];
}

static int tangent(const costate_point *x, const costate_point *d, double *out, void *ctx)
{
    const process *p = ctx;
    for (int i = 0; i < p->cells.n; i++) {
        double w = rate(p, x, i), dw = rate_along(p, x, d, i);
        out[2 * i] = -dw * x->y[2 * i + 1] - w * (d->y ? d->y[2 * i + 1] : 0);
        out[2 * i + 1] = dw * x->y[2 * i] + w * (d->y ? d->y[2 * i] : 0);
    }
    return 0;
}

static int adjoint(const costate_point *x, const double *l, const costate_gradient *g, void *ctx)
{
    const process *p = ctx;
    for (int i = 0; i < p->cells.n; i++) {
        double a = x->y[2 * i], b = x->y[2 * i + 1], w = rate(p, x, i), by_w = l[2 * i + 1] * a - l[2 * i] * b;
        if (g->y) g->y[2 * i] += w * l[2 * i + 1] + by_w * x->p[0] * 2 * a / 3;
        if (g->y) g->y[2 * i + 1] -= w * l[2 * i];
        if (g->p) g->p[0] += by_w * w / x->p[0];
        if (g->t) *g->t += by_w * x->p[0] * cos(x->t);
    }
    return 0;
}

static int adjoint_tangent(const costate_point *x, const costate_point *d, const double *l, const costate_gradient *g,
                           void *ctx)
{
    const process *p = ctx;
    for (int i = 0; i < p->cells.n; i++) {
        double a = x->y[2 * i], b = x->y[2 * i + 1], da = d->y ? d->y[2 * i] : 0, db = d->y ? d->y[2 * i + 1] : 0;
        double w = rate(p, x, i), dw = rate_along(p, x, d, i), dp0 = d->p ? d->p[0] : 0, c = x->p[0] * cos(x->t);
        double by_w = l[2 * i + 1] * a - l[2 * i] * b, by_dw = l[2 * i + 1] * da - l[2 * i] * db;
        if (g->y) g->y[2 * i] += dw * l[2 * i + 1] + (by_dw * x->p[0] * a + by_w * (dp0 * a + x->p[0] * da)) * 2 / 3;
        if (g->y) g->y[2 * i + 1] -= dw * l[2 * i];
        if (g->p) g->p[0] += (by_dw * w + by_w * (dw - dp0 * w / x->p[0])) / x->p[0];
        if (g->t) *g->t += by_dw * c + by_w * (dp0 * cos(x->t) - d->t * x->p[0] * sin(x->t));
    }
    return 0;
}

/* what each process adds; g is replaced by its sum */
static int total(const costate_point *x, double *out, void *ctx)
{
    process *p = ctx;
    *out = 0;
    for (int i = 0; i < 2 * p->cells.n; i++) *out += x->y[i] * x->y[i] / 2;
    if (p->rank == 0) *out -= x->p[1];
    return cluster_sum(1, out, ctx);
}
static int total_tangent(const costate_point *x, const costate_point *d, double *out, void *ctx)
{
    process *p = ctx;
    *out = 0;
    for (int i = 0; d->y && i < 2 * p->cells.n; i++) *out += x->y[i] * d->y[i];
    if (p->rank == 0 && d->p) *out -= d->p[1];
    return cluster_sum(1, out, ctx);
}
static int total_adjoint(const costate_point *x, const double *w, const costate_gradient *g, void *ctx)
{
    process *p = ctx;
    for (int i = 0; g->y && i < 2 * p->cells.n; i++) g->y[i] += *w * x->y[i];
    if (p->rank == 0 && g->p) g->p[1] -= *w;
    return 0;
}

static int total_adjoint_tangent(const costate_point *x, const costate_point *d, const double *w,
                                 const costate_gradient *g, void *ctx)
{
    process *p = ctx;
    (void)x;
    for (int i = 0; g->y && d->y && i < 2 * p->cells.n; i++) g->y[i] += *w * d->y[i];
    return 0;
}

/* lambda = weight + y */
static int seed(double t1, const double *y, const double *p, int m, const double *V, const double *Vp, double *lambda,
                double *mu, double *lambda2, double *mu2, void *ctx)
{
    const process *q = ctx;
    (void)t1, (void)p, (void)m, (void)Vp, (void)mu, (void)mu2;
    for (int i = 0; i < 2 * q->cells.n; i++) {
        lambda[i] = weight(2 * q->cells.from + i) + y[i];
        lambda2[i] = V[i];
    }
    return 0;
}

typedef struct {
    const costate_method *m;
    int storage, status[RANKS_MOST];
    long corrections[RANKS_MOST];
    double p[NP], y[ALL], V[ALL], lambda[ALL], H[ALL], mu[RANKS_MOST][NP], Hp[RANKS_MOST][NP], t0, end;
} result;

static int sweeps(costate *c, const process *p, result *x)
{
    int n = 2 * p->cells.n, from = 2 * p->cells.from;
    double y[ALL], V[ALL], W[ALL], lambda[ALL], H[ALL], g[ALL], along = 0.4, end, by_end = 0.3, by_t0;
    const double dp_[NP] = {0.3, 0};
    costate_tape *tape = costate_tape_new();
    for (int i = 0; i < n; i++) {
        y[i] = start(from + i);
        V[i] = W[i] = direction(from + i);
        lambda[i] = weight(from + i);
    }
    int status = costate_integrate(c, 0, 1, y, x->p, tape);
    if (!status) status = costate_tangent(c, tape, 1, V, dp_, &(costate_times){.t0 = &along, .end = &end}, NULL);
    if (!status) status = costate_adjoint(c, tape, 1, lambda, x->mu[p->rank],
                                          &(costate_times){.t0 = &by_t0, .end = &by_end}, NULL);
    const costate_second second = {.m = 1, .V = W, .Vp = dp_, .seed = seed, .ctx = (void *)p, .lambda = g,
                                   .lambda2 = H, .mu2 = x->Hp[p->rank]};
    if (!status) status = costate_hessian(c, tape, &second);
    if (status) fprintf(stderr, "%s\n", costate_message(c));
    x->corrections[p->rank] = costate_get_stats(c)->corrections;
    memcpy(x->y + from, y, (size_t)n * sizeof *y);
    memcpy(x->V + from, V, (size_t)n * sizeof *V);
    memcpy(x->lambda + from, lambda, (size_t)n * sizeof *lambda);
    memcpy(x->H + from, H, (size_t)n * sizeof *H);
    if (p->rank == 0) { x->t0 = by_t0; x->end = end; }
    costate_tape_free(tape);
    return status;
}

static void one_process(process *p, void *ctx)
{
    result *x = ctx;
    costate_problem mine = {.n = 2 * p->cells.n, .np = NP, .ctx = p,
                            .rhs = {.value = value, .tangent = tangent, .adjoint = adjoint,
                                    .adjoint_tangent = adjoint_tangent},
                            .after_step.invariant = {.value = total, .tangent = total_tangent,
                                                     .adjoint = total_adjoint,
                                                     .adjoint_tangent = total_adjoint_tangent}};
    costate_options o = {.rtol = 1e-6, .atol = 1e-6, .storage = x->storage, .checkpoints = 40, .sum = cluster_sum,
                         .sum_ctx = p};
    costate *c = new_for_test(x->m, &mine, &o);
    x->status[p->rank] = costate_status(c) ? costate_status(c) : sweeps(c, p, x);
    costate_free(c);
}

static result solve(const costate_method *m, int ranks, int storage)
{
    result x = {.m = m, .storage = storage, .p = {0.7, 0}};
    for (int i = 0; i < ALL; i++) x.p[1] += start(i) * start(i) / 2;
    cluster *w = cluster_new(ranks);
    cluster_run(w, one_process, &x);
    cluster_free(w);
    for (int k = 0; k < NP; k++)
        for (int r = 1; r < ranks; r++) {
            x.mu[0][k] += x.mu[r][k];
            x.Hp[0][k] += x.Hp[r][k];
        }
    return x;
}

/* lambda^T v0 + mu^T p' + t0' by_t0 against weight^T V + 0.3 end' */
static double gap(const result *x)
{
    double a = x->mu[0][0] * 0.3 + 0.4 * x->t0, b = 0.3 * x->end, size = fabs(b);
    for (int i = 0; i < ALL; i++) {
        a += x->lambda[i] * direction(i);
        b += weight(i) * x->V[i];
        size += fabs(weight(i) * x->V[i]);
    }
    return fabs(a - b) / size;
}

static void compare(const costate_method *m, int storage)
{
    result one = solve(m, 1, storage), three = solve(m, 3, storage);
    const char *name = method_name(m);
    assert_true(one.corrections[0] > 2);
    for (int r = 0; r < 3; r++) {
        assert_int_equal(three.status[r], COSTATE_OK);
        assert_int_equal(three.corrections[r], three.corrections[0]);
    }
    if (!(gap(&three) < 1e-12)) fail_msg("%s, storage %d: gap %.1e", name, storage, gap(&three));
    const double gaps[] = {relative_gap(ALL, three.y, one.y), relative_gap(ALL, three.V, one.V),
                           relative_gap(ALL, three.lambda, one.lambda), relative_gap(NP, three.mu[0], one.mu[0]),
                           relative_gap(ALL, three.H, one.H), relative_gap(NP, three.Hp[0], one.Hp[0])};
    for (int k = 0; k < 6; k++)
        if (!(gaps[k] < 1e-9)) fail_msg("%s, storage %d: gap %d is %.1e", name, storage, k, gaps[k]);
}

static void spread(void **state)
{
    static const char *const methods[] = {"rk4", "dopri5", "rkc2"};
    (void)state;
    for (int k = 0; k < 3; k++)
        for (int storage = 0; storage < 3; storage++) compare(costate_method_find(methods[k]), storage);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(spread)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
