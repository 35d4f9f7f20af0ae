/* test_accuracy_spread.c - estimated errors, and random tangents in the error test, where states are spread over
   processes: all processes return the same, and their parts make up what one process finds. */
#include <costate/accuracy.h>
#include "common.h"
#include "cells_case.h"
#include "spread.h"

static const double p0[NP] = {0.7, 3.0};

typedef struct {
    const costate_method *m;
    costate_options o;
    int within, products;                           /* 1: costate_gradient_within; Hessian products too */
    int status[RANKS_MOST], steps[RANKS_MOST], refined[RANKS_MOST];
    double value[RANKS_MOST], error[RANKS_MOST], y0_error[RANKS_MOST], p_error[RANKS_MOST], part[RANKS_MOST];
    double y0[CELLS], y0_errors[CELLS], p[RANKS_MOST][NP];
    double Hy0[CELLS], Hp[RANKS_MOST][NP], Hy0_error[RANKS_MOST], Hp_error[RANKS_MOST];
    char message[RANKS_MOST][400];
} result;

/* the share of sum weight u(t1)^2/2 + q */
static int share(double t1, const double *y, const double *p, int m, double *value, double *lambda, double *mu,
                 double *end,
                 void *ctx)
{
    const process *x = ctx;
    int n = x->cells.n;
    (void)t1, (void)p, (void)m, (void)mu, (void)end;
    for (int i = 0; i < n; i++) {
        double w = weight(x->cells.from + i);
        value[0] += w * y[i] * y[i] / 2;
        lambda[i] = w * y[i];
    }
    value[0] += y[n];
    lambda[n] = 1;
    return 0;
}

/* its derivatives along v */
static int share2(double t1, const double *y, const double *p, int m, const double *V, const double *Vp,
                  double *lambda, double *mu, double *lambda2, double *mu2, void *ctx)
{
    const process *x = ctx;
    int n = x->cells.n;
    (void)t1, (void)p, (void)m, (void)Vp, (void)mu, (void)mu2;
    for (int i = 0; i < n; i++) {
        double w = weight(x->cells.from + i);
        lambda[i] = w * y[i];
        lambda2[i] = w * V[i];
    }
    lambda[n] = 1;
    return 0;
}

static int estimated(costate *c, process *p, result *x)
{
    int n = p->cells.n, r = p->rank;
    double y[CELLS + NQ] = {0}, y0[CELLS + NQ], y0_errors[CELLS + NQ], *parts = NULL;
    double V[CELLS + NQ] = {0}, Hy0[CELLS + NQ] = {0};
    const costate_second second = {.m = 1, .V = V, .Vp = dp, .seed = share2, .ctx = p};
    const costate_functional F = {.m = 1, .at_end = share, .ctx = p, .second = &second};
    costate_estimate e = {.run = {.value = &x->value[r], .y0 = y0, .p = x->p[r]}, .y0_error = &x->y0_error[r],
                          .error = {.value = &x->error[r], .y0 = y0_errors}, .p_error = &x->p_error[r]};
    if (x->products) e.products = (costate_product_estimate){.run = {Hy0, x->Hp[r]}, .y0_error = &x->Hy0_error[r],
                                                             .p_error = &x->Hp_error[r]};
    costate_tape *tape = costate_tape_new();
    costate_goal goal = {.tol = 1e-5, .estimate = e};
    for (int i = 0; i < n; i++) y[i] = start(p->cells.from + i);
    for (int i = 0; i < n; i++) V[i] = direction(p->cells.from + i);
    int status;
    if (x->within) status = costate_gradient_within(c, 0, 0.2, y, p0, &F, &goal, tape);
    else {
        status = costate_integrate(c, 0, 0.2, y, p0, tape);
        e.steps = parts = calloc((size_t)costate_tape_steps(tape) + 1, sizeof *parts);
        if (!status) status = costate_accuracy(c, tape, &F, &e);
        x->part[r] = parts[costate_tape_steps(tape) / 2];
    }
    x->steps[r] = costate_tape_steps(tape);
    x->refined[r] = e.steps_refined;
    memcpy(x->y0 + p->cells.from, y0, (size_t)n * sizeof *y0);
    memcpy(x->y0_errors + p->cells.from, y0_errors, (size_t)n * sizeof *y0);
    memcpy(x->Hy0 + p->cells.from, Hy0, (size_t)n * sizeof *Hy0);
    free(parts);
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
    x->status[p->rank] = costate_status(c) ? costate_status(c) : estimated(c, p, x);
    snprintf(x->message[p->rank], sizeof x->message[0], "%s", costate_message(c));
    costate_free(c);
}

static result solve(const costate_method *m, costate_options o, int ranks, int within, int products)
{
    result x = {.m = m, .o = o, .within = within, .products = products};
    cluster *w = cluster_new(ranks);
    cluster_run(w, one_process, &x);
    cluster_free(w);
    for (int r = 0; r < ranks; r++) {
        if (x.status[r]) fail_msg("%s, %d of %d: %s", method_name(m), r, ranks, x.message[r]);
        assert_int_equal(x.steps[r], x.steps[0]);
        assert_int_equal(x.refined[r], x.refined[0]);
        assert_true(x.value[r] == x.value[0] && x.error[r] == x.error[0]);
        assert_true(x.y0_error[r] == x.y0_error[0] && x.p_error[r] == x.p_error[0] && x.part[r] == x.part[0]);
        assert_true(x.Hy0_error[r] == x.Hy0_error[0] && x.Hp_error[r] == x.Hp_error[0]);
        for (int k = 0; k < NP && r > 0; k++) {
            x.p[0][k] += x.p[r][k];
            x.Hp[0][k] += x.Hp[r][k];
        }
    }
    return x;
}

static double gap(double a, double b) { return fabs(a - b) / fabs(b); }

static void parts_make_up_the_whole(void **state)
{
    const costate_method *m = *state;
    NEEDS_ESTIMATE(m);
    for (int storage = COSTATE_ALL_STAGES; storage <= COSTATE_CHECKPOINTS; storage += 2) {
        const costate_options o = {.rtol = 1e-5, .atol = 1e-5, .solver = COSTATE_LS_GMRES,
                                   .stability = COSTATE_STABILITY_OFF, .storage = storage, .checkpoints = 40};
        result one = solve(m, o, 1, 0, 0);
        for (int ranks = 2; ranks <= 3; ranks++) {
            result x = solve(m, o, ranks, 0, 0);
            assert_int_equal(x.steps[0], one.steps[0]);
            assert_true(gap(x.value[0], one.value[0]) < 1e-9);
            assert_true(relative_gap(CELLS, x.y0, one.y0) < 1e-8);
            assert_true(relative_gap(NP, x.p[0], one.p[0]) < 1e-8);
            /* errors are differences: of parts of 1e-5 or less, by Krylov iterations in part */
            double of_value = gap(x.error[0], one.error[0]), of_y0 = gap(x.y0_error[0], one.y0_error[0]);
            double of_p = gap(x.p_error[0], one.p_error[0]), of_part = gap(x.part[0], one.part[0]);
            double entries = relative_gap(CELLS, x.y0_errors, one.y0_errors);
            if (!(of_value < 0.05 && of_y0 < 0.05 && of_p < 0.05 && of_part < 0.2 && entries < 0.05))
                fail_msg("%s on %d: gaps of errors: value %.1e, y0 %.1e, p %.1e, a step %.1e, entries %.1e",
                         method_name(m),
                         ranks, of_value, of_y0, of_p, of_part, entries);
        }
    }
}

static void within(void **state)
{
    static const char *const names[] = {"dopri5", "radau2a", "rodas4", "rkc2d"};
    (void)state;
    for (int k = 0; k < 4; k++) {
        const costate_method *m = costate_method_find(names[k]);
        const costate_options o = {.solver = COSTATE_LS_GMRES, .stability = COSTATE_STABILITY_OFF};
        result one = solve(m, o, 1, 1, 0), x = solve(m, o, 3, 1, 0);
        assert_true(gap(x.value[0], one.value[0]) < 3e-5 && relative_gap(CELLS, x.y0, one.y0) < 3e-5);
        assert_true(relative_gap(NP, x.p[0], one.p[0]) < 3e-5);
    }
}

static void products(void **state)
{
    static const char *const names[] = {"dopri5", "radau2a", "sdirk4a"};
    (void)state;
    for (int k = 0; k < 4; k++) {
        const costate_method *m = costate_method_find(names[k % 3]);
        const costate_options o = {.rtol = 1e-5, .atol = 1e-5, .solver = COSTATE_LS_GMRES,
                                   .stability = COSTATE_STABILITY_OFF};
        int within = k == 3;
        double same = within ? 3e-5 : 1e-8;
        result one = solve(m, o, 1, within, 1), x = solve(m, o, 3, within, 1);
        assert_true(relative_gap(CELLS, x.Hy0, one.Hy0) < same && relative_gap(NP, x.Hp[0], one.Hp[0]) < same);
        assert_true(one.Hy0_error[0] > 0 && one.Hp_error[0] > 0);
        if (within) continue;
        double of_y0 = gap(x.Hy0_error[0], one.Hy0_error[0]), of_p = gap(x.Hp_error[0], one.Hp_error[0]);
        if (!(of_y0 < 0.05 && of_p < 0.05))
            fail_msg("%s: gaps of errors of products: y0 %.1e, p %.1e", method_name(m), of_y0, of_p);
    }
}

/* options.gradient_control: the same random directions however states are spread */
static void controlled(void **state)
{
    static const char *const names[] = {"dopri5", "radau2a", "rodas4"};
    (void)state;
    for (int k = 0; k < 3; k++) {
        const costate_method *m = costate_method_find(names[k]);
        const costate_options o = {.rtol = 1e-5, .atol = 1e-5, .solver = COSTATE_LS_GMRES, .gradient_control = 2};
        result one = solve(m, o, 1, 0, 0), x = solve(m, o, 3, 0, 0);
        assert_true(x.y0_error[0] < 1e-4 && one.y0_error[0] < 1e-4);
        assert_true(relative_gap(CELLS, x.y0, one.y0) < 1e-4);
    }
}

/* a W-method whose matrix is the user's */
static int scale(int transpose, double *x, void *ctx)
{
    const process *p = ((void **)ctx)[1];
    for (int i = 0; i < p->cells.n; i++) x[i] /= *(double *)((void **)ctx)[0] + 14;
    return (void)transpose, 0;
}
static int held_setup(double sigma, const costate_point *x, void *ctx)
{
    return (void)x, *(double *)((void **)ctx)[0] = sigma, 0;
}

static void held_process(process *p, void *ctx)
{
    result *x = ctx;
    double sigma;
    void *both[] = {&sigma, p};
    const costate_preconditioner P = {.setup = held_setup, .solve = scale, .ctx = both};
    costate_problem mine = spread_problem(p);
    costate_options o = x->o;
    o.sum = cluster_sum;
    o.sum_ctx = p;
    o.solver = COSTATE_LS_PRECONDITIONER;
    o.preconditioner = &P;
    costate *c = costate_new(x->m, &mine, &o);
    x->status[p->rank] = costate_status(c) ? costate_status(c) : estimated(c, p, x);
    snprintf(x->message[p->rank], sizeof x->message[0], "%s", costate_message(c));
    costate_free(c);
}

static void held_matrix(void **state)
{
    result x[2] = {{0}};
    (void)state;
    for (int k = 0; k < 2; k++) {
        int ranks = 1 + 2 * k;
        x[k].m = costate_method_find("w6s4os");
        x[k].o = (costate_options){.rtol = 1e-5, .atol = 1e-5};
        cluster *w = cluster_new(ranks);
        cluster_run(w, held_process, &x[k]);
        cluster_free(w);
        for (int r = 0; r < ranks; r++) {
            if (x[k].status[r]) fail_msg("%d of %d: %s", r, ranks, x[k].message[r]);
            if (r > 0) for (int i = 0; i < NP; i++) x[k].p[0][i] += x[k].p[r][i];
        }
    }
    assert_int_equal(x[0].steps[0], x[1].steps[0]);
    assert_true(relative_gap(CELLS, x[1].y0, x[0].y0) < 1e-8 && relative_gap(NP, x[1].p[0], x[0].p[0]) < 1e-8);
    assert_true(gap(x[1].y0_error[0], x[0].y0_error[0]) < 0.05);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(within), cmocka_unit_test(products),
                                       cmocka_unit_test(controlled), cmocka_unit_test(held_matrix)};
    return cmocka_run_group_tests(tests, NULL, NULL) + run_by_kind("parts_make_up_the_whole", parts_make_up_the_whole);
}
