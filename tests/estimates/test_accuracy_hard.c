/* test_accuracy_hard.c - costate_accuracy where it is hard: sizes, scales, directions, runs that ended early, tapes of
   other kinds, other solvers; the estimates against errors that are known. */
#include <costate/accuracy.h>
#include <costate/ensemble.h>
#include "common.h"

/* ---- y_i' = -(1 + i/n) p y_i + s: n unknowns of size `scale`, backward and far from 0 as well ---- */

typedef struct { int n; double shift; } decays;

static double rate(const decays *d, int i) { return 1 + (double)i / d->n; }
static int f(const costate_point *x, double *out, void *ctx)
{
    const decays *d = ctx;
    for (int i = 0; i < d->n; i++) out[i] = d->shift - rate(d, i) * x->p[0] * x->y[i];
    return 0;
}
static int f_tangent(const costate_point *x, const costate_point *dx, double *out, void *ctx)
{
    const decays *d = ctx;
    for (int i = 0; i < d->n; i++)
        out[i] = -rate(d, i) * ((dx->y ? x->p[0] * dx->y[i] : 0) + (dx->p ? dx->p[0] * x->y[i] : 0));
    return 0;
}
static int f_adjoint(const costate_point *x, const double *w, const costate_gradient *g, void *ctx)
{
    const decays *d = ctx;
    for (int i = 0; i < d->n; i++) {
        if (g->y) g->y[i] -= rate(d, i) * x->p[0] * w[i];
        if (g->p) g->p[0] -= rate(d, i) * x->y[i] * w[i];
    }
    return 0;
}
static int f_jac(const costate_point *x, double *J, void *ctx)
{
    const decays *d = ctx;
    memset(J, 0, (size_t)d->n * (size_t)d->n * sizeof *J);
    for (int i = 0; i < d->n; i++) J[i * d->n + i] = -rate(d, i) * x->p[0];
    return 0;
}

static int total(double t1, const double *y, const double *p, int m, double *value, double *lambda, double *mu,
                 double *end, void *ctx)
{
    (void)t1, (void)p, (void)m, (void)mu, (void)end;
    for (int i = 0; i < ((const decays *)ctx)->n; i++) {
        value[0] += y[i];
        lambda[i] = 1;
    }
    return 0;
}

enum { MOST = 40 };
typedef struct { double value, y0[MOST], p, error, e_y0[MOST], e_p; int steps, refined; } estimates;

static costate_estimate into(estimates *r)
{
    return (costate_estimate){.run = {.value = &r->value, .y0 = r->y0, .p = &r->p},
                              .error = {.value = &r->error, .y0 = r->e_y0, .p = &r->e_p}};
}

static double length(int n, const double *x)
{
    double sum = 0;
    for (int i = 0; i < n; i++) sum = hypot(sum, x[i]);
    return sum;
}

/* sum of y_i(t1), its gradients, and their errors, which are as estimated within the factors */
static void compare(const char *what, const decays *d, double T, double y0, double p, const estimates *r, double low,
                    double high)
{
    double value = 0, by_p = 0, off[MOST];
    for (int i = 0; i < d->n; i++) {
        double k = rate(d, i) * p, e = exp(-k * T), rest = d->shift / k;
        value += rest + (y0 - rest) * e;
        by_p += rate(d, i) * (-rest / k + rest / k * e - (y0 - rest) * T * e);
        off[i] = e - r->y0[i];
    }
    double a = r->error / (value - r->value), b = r->e_p / (by_p - r->p),
           c = length(d->n, r->e_y0) / length(d->n, off);
    if (!(a > low && a < high && b > low && b < high && c > low && c < high))
        fail_msg("%s: %.3e: off by %.3e, estimated %.3e; by p %.3e, %.3e; by y0 %.3e, %.3e", what, r->value,
                 value - r->value, r->error, by_p - r->p, r->e_p, length(d->n, off), length(d->n, r->e_y0));
}

typedef struct { const char *method; int n; double t0, T, y0, shift, p; costate_options o; } decay_case;

static void decay(const char *what, decay_case k, double low, double high)
{
    decays d = {k.n, k.shift};
    const costate_problem P = {.n = k.n, .np = 1, .rhs = {f, f_tangent, .adjoint = f_adjoint}, .jac = f_jac, .ctx = &d};
    costate *c = costate_new(costate_method_find(k.method), &P, &k.o);
    costate_tape *tape = costate_tape_new();
    double y[MOST];
    estimates r = {.value = 0};
    for (int i = 0; i < k.n; i++) y[i] = k.y0;
    CHECK_OK(c, costate_integrate(c, k.t0, k.t0 + k.T, y, &k.p, tape));
    costate_estimate e = into(&r);
    CHECK_OK(c, costate_accuracy(c, tape, &(costate_functional){.m = 1, .at_end = total, .ctx = &d}, &e));
    assert_int_equal(e.steps_refined, 2 * costate_tape_steps(tape));
    compare(what, &d, k.T, k.y0, k.p, &r, low, high);
    costate_tape_free(tape);
    costate_free(c);
}

static void sizes_and_scales(void **state)
{
    (void)state;
    const costate_options o = {.rtol = 1e-4, .atol = 1e-4}, small = {.rtol = 1e-4, .atol = 1e-165};
    const char *methods[] = {"dopri5", "sdirk4a", "radau2a", "bs32"};
    for (int k = 0; k < 4; k++) {
        const char *m = methods[k];
        decay("n = 1", (decay_case){m, 1, 0, 2, 1, 0, 1, o}, 0.4, 2.5);
        decay("n = 40", (decay_case){m, 40, 0, 2, 1, 0.3, 1, o}, 0.4, 2.5);
        decay("backward", (decay_case){m, 3, 1, -2, 1, 0.1, 1, o}, 0.4, 2.5);
        decay("1e-160", (decay_case){m, 4, 0, 2, 1e-160, 0, 1, small}, 0.4, 2.5);
        decay("1e200", (decay_case){m, 4, 0, 2, 1e200, 0, 1, o}, 0.4, 2.5);
        decay("y0 = 0", (decay_case){m, 2, 0, 2, 0, 1, 1, o}, 0.4, 2.5);
    }
}

/* t = 1.7e12, where a unit in the last place of t is 2.4e-4, and steps of 0.1 to 1: the same estimate as from 0 */
static void far_from_zero(void **state)
{
    (void)state;
    for (int k = 0; k < 2; k++) {
        costate_options o = {.controller = COSTATE_FIXED, .h0 = 0.25};
        decay("from 0", (decay_case){k ? "sdirk4a" : "bs32", 2, 0, 8, 1, 0.1, 0.3, o}, 0.8, 1.25);
        decay("from 1.7e12", (decay_case){k ? "sdirk4a" : "bs32", 2, 1.7e12, 8, 1, 0.1, 0.3, o}, 0.8, 1.25);
        decay("back from 1.7e12", (decay_case){k ? "sdirk4a" : "bs32", 2, 1.7e12, -8, 1, 0.1, 0.3, o}, 0.8, 1.25);
    }
}

/* ---- runs that ended early, or did nothing ---- */

static int no_steps_at(int k, double t, const double *y, int m, double *value, double *w, void *ctx)
{
    (void)k, (void)t, (void)m;
    for (int i = 0; i < ((const decays *)ctx)->n; i++) {
        value[0] += y[i];
        w[i] = 1;
    }
    return 0;
}

static void no_interval(void **state)
{
    (void)state;
    decays d = {2, 0.5};
    const costate_problem P = {.n = 2, .np = 1, .rhs = {f, f_tangent, .adjoint = f_adjoint}, .jac = f_jac, .ctx = &d};
    const char *methods[] = {"dopri5", "radau2a"};
    for (int k = 0; k < 2; k++) {
        costate *c = costate_new(costate_method_find(methods[k]), &P, NULL);
        costate_tape *tape = costate_tape_new();
        double y[] = {3, 4}, p = 1, relative[3] = {9, 9, 9};
        estimates r = {.value = 0};
        CHECK_OK(c, costate_integrate(c, 5, 5, y, &p, tape));
        assert_int_equal(costate_tape_steps(tape), 0);
        costate_estimate e = into(&r);
        e.value_error = relative, e.y0_error = relative + 1, e.p_error = relative + 2;
        e.steps = &r.value;
        e.run.value = NULL;
        CHECK_OK(c, costate_accuracy(c, tape, &(costate_functional){.m = 1, .at_end = total, .ctx = &d}, &e));
        assert_int_equal(e.steps_refined, 0);
        assert_true(r.y0[0] == 1 && r.y0[1] == 1 && r.p == 0 && r.error == 0 && r.e_y0[0] == 0);
        assert_true(relative[0] == 0 && relative[1] == 0 && relative[2] == 0);
        costate_tape_free(tape);
        costate_free(c);
    }
}

typedef struct { decays d; int left; double until; } stopping;

static int stop_after(const costate_step *s, void *ctx) { return (void)s, --((stopping *)ctx)->left == 0; }
static int fails_late(const costate_point *x, double *out, void *ctx)
{
    const stopping *s = ctx;
    if (x->t > s->until) return -3;
    return f(x, out, (void *)&s->d);
}
static int tangent_of_both(const costate_point *x, const costate_point *dx, double *out, void *ctx)
{
    return f_tangent(x, dx, out, &((stopping *)ctx)->d);
}
static int adjoint_of_both(const costate_point *x, const double *w, const costate_gradient *g, void *ctx)
{
    return f_adjoint(x, w, g, &((stopping *)ctx)->d);
}

/* stopped by on_step, or failed: the tape holds the accepted steps, and is a run that ends there */
static void ended_early(void **state)
{
    (void)state;
    for (int how = 0; how < 2; how++)
        for (int storage = 0; storage < 3; storage++) {
            stopping s = {{2, 0.2}, how == 0 ? 7 : -1, how == 0 ? HUGE_VAL : 1.234};
            const costate_problem P = {.n = 2, .np = 1,
                                       .rhs = {fails_late, tangent_of_both, .adjoint = adjoint_of_both},
                                       .ctx = &s};
            costate_options o = {.rtol = 1e-4, .atol = 1e-4, .hmax = 0.1, .on_step = stop_after, .on_step_ctx = &s,
                                 .storage = storage};
            costate *c = costate_new(costate_method_find("bs32"), &P, &o);
            costate_tape *tape = costate_tape_new();
            double y[] = {1, 1}, p = 1;
            assert_int_equal(costate_integrate(c, 0, 3, y, &p, tape), how == 0 ? COSTATE_STOPPED : COSTATE_CALLBACK);
            double ended = costate_time(c);
            assert_true(ended > 0.2 && ended < 1.3);
            estimates r = {.value = 0};
            costate_estimate e = into(&r);
            CHECK_OK(c, costate_accuracy(c, tape, &(costate_functional){.m = 1, .at_end = total, .ctx = &s.d}, &e));
            assert_int_equal(e.steps_refined, 2 * costate_tape_steps(tape));
            assert_true(costate_time(c) == ended && r.value == y[0] + y[1]);
            compare(how ? "failed" : "stopped", &s.d, ended, 1, 1, &r, 0.5, 2);
            costate_tape_free(tape);
            costate_free(c);
        }
}

/* ---- events at given times and at t0, costs at events, observations there ---- */

static int kick(const costate_point *x, double *y, void *ctx) { return (void)ctx, y[0] = x->y[0] + x->p[0], 0; }
static int kick_tangent(const costate_point *x, const costate_point *dx, double *y, void *ctx)
{
    return (void)x, (void)ctx, y[0] = (dx->y ? dx->y[0] : 0) + (dx->p ? dx->p[0] : 0), 0;
}
static int kick_adjoint(const costate_point *x, const double *w, const costate_gradient *g, void *ctx)
{
    if (g->y) g->y[0] += w[0];
    if (g->p) g->p[0] += w[0];
    return (void)x, (void)ctx, 0;
}
static int fee(const costate_point *x, double *q, void *ctx) { return (void)ctx, q[0] = x->y[0] * x->y[0], 0; }
static int fee_tangent(const costate_point *x, const costate_point *dx, double *q, void *ctx)
{
    return (void)ctx, q[0] = dx->y ? 2 * x->y[0] * dx->y[0] : 0, 0;
}
static int fee_adjoint(const costate_point *x, const double *w, const costate_gradient *g, void *ctx)
{
    if (g->y) g->y[0] += 2 * x->y[0] * w[0];
    return (void)ctx, 0;
}
static int costs(double t1, const double *y, const double *p, int m, double *value, double *lambda, double *mu,
                 double *end, void *ctx)
{
    (void)t1, (void)p, (void)m, (void)mu, (void)end, (void)ctx;
    return value[0] = y[1], lambda[1] = 1, 0;
}

/* y' = -p y, y += p at t = 0, 1, 2, each time at the cost y^2 before it; y is observed at t0, at events and at t1 */
static double kicked(double y, double p, double *cost)
{
    double seen = 0;
    *cost = 0;
    for (int k = 0; k < 3; k++) {
        *cost += y * y;
        y += p;
        seen += y;
        y *= exp(-p);
    }
    return seen + y;
}

static void events_and_costs(void **state)
{
    (void)state;
    const double times[] = {0, 1, 2}, observed[] = {0, 1, 2, 3};
    const costate_event e = {.times = times, .ntimes = 3, .jump = {kick, kick_tangent, .adjoint = kick_adjoint},
                             .cost = {fee, fee_tangent, .adjoint = fee_adjoint}, .from = COSTATE_ANY_MODE,
                             .to = COSTATE_SAME_MODE};
    decays d = {1, 0};
    const costate_problem P = {.n = 1, .np = 1, .nq = 1, .rhs = {f, f_tangent, .adjoint = f_adjoint}, .jac = f_jac,
                               .ctx = &d,
                               .nevents = 1, .event = &e};
    const costate_functional F[] = {{.m = 1, .at_end = costs},
                                    {.m = 1, .count = 4, .t = observed, .at_time = no_steps_at, .ctx = &d}};
    const char *methods[] = {"bs32", "sdirk4a", "radau2a"};
    for (int k = 0; k < 3; k++)
        for (int which = 0; which < 2; which++) {
            costate_options o = {.rtol = 1e-4, .atol = 1e-4};
            costate *c = costate_new(costate_method_find(methods[k]), &P, &o);
            costate_tape *tape = costate_tape_new();
            double y[2] = {1, 0}, p = 0.7, truth, other, up, down, d_ = 1e-5;
            CHECK_OK(c, costate_integrate(c, 0, 3, y, &p, tape));
            assert_int_equal(costate_tape_events(tape), 3);
            estimates r = {.value = 0};
            costate_estimate x = into(&r);
            CHECK_OK(c, costate_accuracy(c, tape, &F[which], &x));
            assert_int_equal(x.steps_refined, 2 * costate_tape_steps(tape));
            double seen = kicked(1, p, &truth), a = kicked(1, p + d_, &up), b = kicked(1, p - d_, &down);
            if (which == 1) truth = seen, up = a, down = b;
            other = (up - down) / (2 * d_);
            double ratio = r.error / (truth - r.value), of_p = r.e_p / (other - r.p);
            if (!(ratio > 0.4 && ratio < 2.5 && of_p > 0.4 && of_p < 2.5))
                fail_msg("%s, %d: off by %.3e, estimated %.3e; by p %.3e, %.3e", methods[k], which, truth - r.value,
                         r.error, other - r.p, r.e_p);
            costate_tape_free(tape);
            costate_free(c);
        }
}

/* A terminal event at t0 ends the run before its first step; it goes on from there. */
static void terminal_at_t0(void **state)
{
    (void)state;
    const double times[] = {0, 1};
    const costate_event e = {.times = times, .ntimes = 2, .jump = {kick, kick_tangent, .adjoint = kick_adjoint},
                             .terminal = 1,
                             .from = COSTATE_ANY_MODE, .to = COSTATE_SAME_MODE};
    decays d = {1, 0};
    const costate_problem P = {.n = 1, .np = 1, .rhs = {f, f_tangent, .adjoint = f_adjoint}, .ctx = &d, .nevents = 1,
                               .event = &e};
    for (int pieces = 1; pieces <= 3; pieces++) {
        costate *c = costate_new(costate_method_find("bs32"), &P, &(costate_options){.rtol = 1e-4, .atol = 1e-4});
        costate_tape *tape = costate_tape_new();
        double y = 1, p = 0.7, truth = 1.7;
        CHECK_OK(c, costate_integrate(c, 0, 2, &y, &p, tape));
        assert_true(costate_time(c) == 0);
        if (pieces > 1) CHECK_OK(c, costate_continue(c, tape, 2, &y));
        if (pieces > 2) CHECK_OK(c, costate_continue(c, tape, 2, &y));
        assert_true(costate_time(c) == pieces - 1);
        if (pieces > 1) truth = 1.7 * exp(-0.7) + 0.7;
        if (pieces > 2) truth *= exp(-0.7);
        estimates r = {.value = 0};
        costate_estimate x = into(&r);
        CHECK_OK(c, costate_accuracy(c, tape, &(costate_functional){.m = 1, .at_end = total, .ctx = &d}, &x));
        assert_int_equal(x.steps_refined, 2 * costate_tape_steps(tape));
        assert_true(r.value == y);
        double ratio = r.error / (truth - r.value);
        if (pieces == 1) assert_true(r.error == 0 && y == 1.7);
        else if (!(ratio > 0.4 && ratio < 2.5)) fail_msg("%d: off by %.3e, estimated %.3e", pieces, truth - y, r.error);
        costate_tape_free(tape);
        costate_free(c);
    }
}

/* Two terminal events at one time end one piece of a run, which goes on from both. */
static void two_terminal(void **state)
{
    (void)state;
    const double time = 1;
    const costate_event e = {.times = &time, .ntimes = 1, .jump = {kick, kick_tangent, .adjoint = kick_adjoint},
                             .terminal = 1,
                             .from = COSTATE_ANY_MODE, .to = COSTATE_SAME_MODE}, both[] = {e, e};
    decays d = {1, 0};
    const costate_problem P = {.n = 1, .np = 1, .rhs = {f, f_tangent, .adjoint = f_adjoint}, .ctx = &d, .nevents = 2,
                               .event = both};
    costate *c = costate_new(costate_method_find("bs32"), &P, &(costate_options){.rtol = 1e-4, .atol = 1e-4});
    costate_tape *tape = costate_tape_new();
    double y = 1, p = 0.7, truth = (exp(-0.7) + 1.4) * exp(-0.7);
    CHECK_OK(c, costate_integrate(c, 0, 2, &y, &p, tape));
    CHECK_OK(c, costate_continue(c, tape, 1.5, &y));
    CHECK_OK(c, costate_continue(c, tape, 2, &y));
    assert_true(costate_time(c) == 2 && costate_tape_events(tape) == 3);
    estimates r = {.value = 0};
    costate_estimate x = into(&r);
    CHECK_OK(c, costate_accuracy(c, tape, &(costate_functional){.m = 1, .at_end = total, .ctx = &d}, &x));
    assert_int_equal(x.steps_refined, 2 * costate_tape_steps(tape));
    double ratio = r.error / (truth - r.value);
    if (!(ratio > 0.4 && ratio < 2.5)) fail_msg("off by %.3e, estimated %.3e", truth - y, r.error);
    costate_tape_free(tape);
    costate_free(c);
}

/* ---- tapes and solvers ---- */

/* the same steps on all kinds of tapes have the same estimates, to round-off */
static void kinds_of_tapes(void **state)
{
    (void)state;
    decays d = {5, 0.3};
    const costate_problem P = {.n = 5, .np = 1, .rhs = {f, f_tangent, .adjoint = f_adjoint}, .jac = f_jac, .ctx = &d};
    const char *methods[] = {"bs32", "sdirk4a", "radau2a"}, *path = "test_accuracy_hard.tape";
    for (int k = 0; k < 3; k++) {
        estimates all = {.value = 0};
        for (int how = 0; how < 6; how++) {             /* 3, 4: in a file; 5: with little room */
            costate_options o = {.rtol = 1e-5, .atol = 1e-5, .predictor = COSTATE_PREDICT_NONE,
                                 .theta_reuse = -1, .storage = how < 3 ? how : how == 4 ? COSTATE_CHECKPOINTS : 0};
            costate *c = costate_new(costate_method_find(methods[k]), &P, &o);
            costate_tape *tape = how == 3 || how == 4 ? costate_tape_open(path) : costate_tape_new();
            double y[] = {1, 2, 3, 4, 5}, p = 1;
            if (how == 5) {
                CHECK_OK(c, costate_integrate(c, 0, 2, y, &p, tape));
                o.tape_limit = costate_tape_bytes(tape) + costate_tape_bytes(tape) / 8;
                costate_free(c);
                c = costate_new(costate_method_find(methods[k]), &P, &o);
                for (int i = 0; i < 5; i++) y[i] = i + 1;
            }
            CHECK_OK(c, costate_integrate(c, 0, 2, y, &p, tape));
            estimates r = {.value = 0};
            costate_estimate e = into(&r);
            CHECK_OK(c, costate_accuracy(c, tape, &(costate_functional){.m = 1, .at_end = total, .ctx = &d}, &e));
            if (how == 0) all = r;
            double size = fabs(all.error), apart = fabs(r.error - all.error);
            if (!(size > 1e-9 && apart < 1e-3 * size && fabs(r.e_p - all.e_p) < 1e-3 * fabs(all.e_p) &&
                  fabs(r.value - all.value) < 1e-9))
                fail_msg("%s, %d: %.6e, all stages %.6e", methods[k], how, r.error, all.error);
            costate_tape_free(tape);
            costate_free(c);
        }
    }
    remove(path);
}

static problem *brusselator(void) { return problem_brusselator(12); }

static int middle(double t1, const double *y, const double *p, int m, double *value, double *lambda, double *mu,
                  double *end, void *ctx)
{
    (void)t1, (void)p, (void)m, (void)mu, (void)end, (void)ctx;
    return value[0] = y[11], lambda[11] = 1, 0;
}

typedef struct { double value, error, y0[64], e_y0[64]; } of_bruss;

static void bruss(costate *c, const costate_tape *tape, of_bruss *r)
{
    memset(r, 0, sizeof *r);
    costate_estimate e = {.run = {.value = &r->value, .y0 = r->y0}, .error = {.value = &r->error, .y0 = r->e_y0}};
    CHECK_OK(c, costate_accuracy(c, tape, &(costate_functional){.m = 1, .at_end = middle}, &e));
}

/* A tape of one solver, estimated by another with another linear solver: the same numbers to the accuracy of Newton. */
static void another_linear_solver(void **state)
{
    (void)state;
    problem *b = brusselator();
    const char *methods[] = {"rodas4", "sdirk4a", "radau2a"};
    const int solvers[] = {COSTATE_LS_DENSE, COSTATE_LS_KLU, COSTATE_LS_BAND};
    for (int k = 0; k < 3; k++) {
        of_bruss first, other;
        costate_options o = {.rtol = 1e-5, .atol = 1e-5, .solver = COSTATE_LS_DENSE, .newton_tol = 1e-6};
        costate *c = costate_new(costate_method_find(methods[k]), &b->P, &o);
        costate_tape *tape = costate_tape_new();
        double y[64] = {0};
        memcpy(y, b->y0, (size_t)b->P.n * sizeof *y);
        CHECK_OK(c, costate_integrate(c, b->t0, b->t0 + 0.5, y, b->p0, tape));
        for (int s = 0; s < 3; s++) {
            o.solver = solvers[s];
            costate *d = costate_new(costate_method_find(methods[k]), &b->P, &o);
            if (costate_status(d) != COSTATE_BACKEND) {
                bruss(d, tape, s == 0 ? &first : &other);
                if (s > 0) {
                    assert_true(fabs(other.value - first.value) < 1e-12);
                    if (!(fabs(other.error - first.error) < 1e-3 * fabs(first.error)) ||
                        !(largest_gap(b->P.n, other.e_y0, first.e_y0) < 1e-3 * length(b->P.n, first.e_y0)))
                        fail_msg("%s: %.6e, %.6e", methods[k], other.error, first.error);
                }
            }
            costate_free(d);
        }
        costate_tape_free(tape);
        costate_free(c);
    }
    problem_free(b);
}

static int returns_7(double t1, const double *y, const double *p, int m, double *value, double *lambda, double *mu,
                     double *end, void *ctx)
{
    (void)t1, (void)y, (void)p, (void)m, (void)value, (void)lambda, (void)mu, (void)end, (void)ctx;
    return 7;
}

typedef struct { int n, setups; double diffusion, diagonal; } diagonal;

static int setup(double sigma, const costate_point *x, void *ctx)
{
    diagonal *d = ctx;
    (void)x;
    d->diagonal = sigma + d->diffusion;
    d->setups++;
    return 0;
}
static int divide(int transpose, double *x, void *ctx)
{
    const diagonal *d = ctx;
    (void)transpose;
    for (int i = 0; i < d->n; i++) x[i] /= d->diagonal;
    return 0;
}

/* The user's preconditioner has seen other steps: it is set up again, and a sweep or run after the estimate has the
   bits that it had before. */
static void preconditioned(void **state)
{
    (void)state;
    problem *b = brusselator();
    diagonal d = {.n = b->P.n, .diffusion = 2 * 0.02 * 13 * 13};
    const costate_preconditioner P = {.setup = setup, .solve = divide, .ctx = &d};
    const char *methods[] = {"rodas4", "sdirk4b", "radau2a"};
    for (int k = 0; k < 3; k++) {
        costate_options o = {.rtol = 1e-5, .atol = 1e-5, .solver = COSTATE_LS_GMRES, .preconditioner = &P};
        costate *c = costate_new(costate_method_find(methods[k]), &b->P, &o);
        costate_tape *tape = costate_tape_new();
        double y[64] = {0}, again[64] = {0}, before[64] = {0}, after[64] = {0};
        of_bruss r, same;
        memcpy(y, b->y0, (size_t)b->P.n * sizeof *y);
        memcpy(again, y, sizeof y);
        CHECK_OK(c, costate_integrate(c, b->t0, b->t0 + 0.5, y, b->p0, tape));
        for (int times = 0; times < 2; times++) {       /* the second sweep has the preconditioner of the first */
            memset(before, 0, sizeof before);
            before[11] = 1;
            CHECK_OK(c, costate_adjoint(c, tape, 1, before, NULL, NULL, NULL));
        }
        after[11] = 1;
        bruss(c, tape, &r);
        int setups = d.setups;
        CHECK_OK(c, costate_adjoint(c, tape, 1, after, NULL, NULL, NULL));
        assert_true(d.setups > setups || k == 2);       /* sweeps of radau2a do without */
        assert_memory_equal(after, before, sizeof before);
        bruss(c, tape, &same);
        assert_memory_equal(&same, &r, sizeof r);
        CHECK_OK(c, costate_integrate(c, b->t0, b->t0 + 0.5, again, b->p0, tape));
        assert_memory_equal(again, y, sizeof y);
        assert_true(relative_gap(b->P.n, r.y0, before) < 1e-12 && fabs(r.error) > 1e-9);
        costate_tape_free(tape);
        costate_free(c);
    }
    problem_free(b);
}

static int eleventh(double t1, const double *y, const double *p, int m, double *value, double *lambda, double *mu,
                    double *end, void *ctx)
{
    (void)t1, (void)p, (void)m, (void)mu, (void)end, (void)ctx;
    return value[0] = y[11], lambda[11] = 1, 0;
}

/* so do the runs that confirm a gradient within a tolerance */
static void preconditioned_within(void **state)
{
    (void)state;
    problem *b = brusselator();
    diagonal d = {.n = b->P.n, .diffusion = 2 * 0.02 * 13 * 13};
    const costate_preconditioner P = {.setup = setup, .solve = divide, .ctx = &d};
    costate_options o = {.rtol = 1e-5, .atol = 1e-5, .solver = COSTATE_LS_GMRES, .preconditioner = &P};
    costate *c = costate_new(costate_method_find("rodas4"), &b->P, &o);
    costate_tape *tape = costate_tape_new();
    double y[64] = {0}, by_y[64] = {0}, lambda[64] = {0};
    costate_goal g = {.tol = 1e-3, .estimate = {.run = {.y0 = by_y}}};
    memcpy(y, b->y0, (size_t)b->P.n * sizeof *y);
    CHECK_OK(c, costate_gradient_within(c, b->t0, b->t0 + 0.5, y, b->p0,
                                        &(costate_functional){.m = 1, .at_end = eleventh}, &g, tape));
    int setups = d.setups;
    lambda[11] = 1;
    CHECK_OK(c, costate_adjoint(c, tape, 1, lambda, NULL, NULL, NULL));
    assert_true(d.setups > setups);
    assert_memory_equal(lambda, by_y, (size_t)b->P.n * sizeof *y);
    costate_tape_free(tape);
    costate_free(c);
    problem_free(b);
}

/* The solver with halved steps sets up the user's preconditioner for its own sigma.  The sweep over the tape sets it up
   again, in the estimate and after one of the value alone; with one step nothing else would make it do so. */
static void by_another(int autonomous)
{
    problem *b = brusselator();
    diagonal d = {.n = b->P.n, .diffusion = 2 * 0.02 * 13 * 13};
    const costate_preconditioner P = {.setup = setup, .solve = divide, .ctx = &d};
    costate_options o = {.controller = COSTATE_FIXED, .h0 = 0.02, .solver = COSTATE_LS_GMRES, .preconditioner = &P,
                         .autonomous = autonomous};
    costate *c = costate_new(costate_method_find("sdirk4b"), &b->P, &o);
    costate_tape *tape = costate_tape_new();
    double y[64] = {0}, before[64] = {0}, after[64] = {0}, value;
    memcpy(y, b->y0, (size_t)b->P.n * sizeof *y);
    CHECK_OK(c, costate_integrate(c, b->t0, b->t0 + 0.02, y, b->p0, tape));
    assert_int_equal(costate_tape_steps(tape), 1);
    before[11] = after[11] = 1;
    CHECK_OK(c, costate_adjoint(c, tape, 1, before, NULL, NULL, NULL));
    const double of_the_tape = d.diagonal;
    of_bruss r;
    bruss(c, tape, &r);
    if (autonomous) assert_true(d.diagonal == of_the_tape);     /* else a plain run follows */
    assert_true(relative_gap(b->P.n, r.y0, before) < 1e-12);
    costate_estimate e = {.run = {.value = &value}};
    CHECK_OK(c, costate_accuracy(c, tape, &(costate_functional){.m = 1, .at_end = middle}, &e));
    assert_true(d.diagonal != of_the_tape);
    CHECK_OK(c, costate_adjoint(c, tape, 1, after, NULL, NULL, NULL));
    assert_true(d.diagonal == of_the_tape);
    assert_int_equal(costate_accuracy(c, tape, &(costate_functional){.m = 1, .at_end = returns_7}, &e),
                     COSTATE_CALLBACK);
    assert_true(d.diagonal != of_the_tape);
    memset(after, 0, sizeof after);
    after[11] = 1;
    CHECK_OK(c, costate_adjoint(c, tape, 1, after, NULL, NULL, NULL));
    assert_true(d.diagonal == of_the_tape);
    assert_true(relative_gap(b->P.n, after, before) < 1e-12);
    costate_tape_free(tape);
    costate_free(c);
    problem_free(b);
}

static void preconditioned_by_another(void **state)
{
    (void)state;
    by_another(1);
    by_another(0);
}

/* differences = 1 in place of all products: the estimate is that with products */
static void with_differences(void **state)
{
    (void)state;
    decays d = {3, 0.3};
    const char *methods[] = {"bs32", "sdirk4a", "radau2a", "rodas3"};
    for (int k = 0; k < 4; k++) {
        const costate_problem P = {.n = 3, .np = 1, .rhs = {.value = f}, .ctx = &d};
        costate *c = costate_new(costate_method_find(methods[k]), &P,
                                 &(costate_options){.rtol = 1e-3, .atol = 1e-3, .differences = 1});
        costate_tape *tape = costate_tape_new();
        double y[] = {1, 1, 1}, p = 1;
        CHECK_OK(c, costate_integrate(c, 0, 2, y, &p, tape));
        estimates r = {.value = 0};
        costate_estimate e = into(&r);
        CHECK_OK(c, costate_accuracy(c, tape, &(costate_functional){.m = 1, .at_end = total, .ctx = &d}, &e));
        compare(methods[k], &d, 2, 1, 1, &r, 0.3, 3);
        costate_tape_free(tape);
        costate_free(c);
    }
}

/* ---- Newton failures ---- */

typedef struct { int failing; long failed; } refusing;

static int refuses(const costate_point *x, double *J, void *ctx)
{
    refusing *r = ctx;
    (void)x;
    if (r->failing > 0 && r->failing-- % 2) return r->failed++, 1;
    return J[0] = -x->p[0], 0;
}
static int one_f(const costate_point *x, double *out, void *ctx)
{
    return (void)ctx, out[0] = -x->p[0] * x->y[0], 0;
}
static int one_tangent(const costate_point *x, const costate_point *dx, double *out, void *ctx)
{
    return (void)ctx, out[0] = -(dx->y ? x->p[0] * dx->y[0] : 0) - (dx->p ? dx->p[0] * x->y[0] : 0), 0;
}
static int one_adjoint(const costate_point *x, const double *w, const costate_gradient *g, void *ctx)
{
    if (g->y) g->y[0] -= x->p[0] * w[0];
    if (g->p) g->p[0] -= x->y[0] * w[0];
    return (void)ctx, 0;
}

/* half steps in which the Jacobian is not defined are split further */
static void failing_halves(void **state)
{
    (void)state;
    decays d = {1, 0};
    const char *methods[] = {"sdirk4a", "radau2a", "trbdf2"};
    for (int k = 0; k < 3; k++) {
        refusing w = {0};
        const costate_problem P = {.n = 1, .np = 1, .rhs = {one_f, one_tangent, .adjoint = one_adjoint}, .jac = refuses,
                                   .ctx = &w};
        costate_options o = {.rtol = 1e-3, .atol = 1e-3, .theta_reuse = -1};
        costate *c = costate_new(costate_method_find(methods[k]), &P, &o);
        costate_tape *tape = costate_tape_new();
        double y = 1, p = 1;
        CHECK_OK(c, costate_integrate(c, 0, 3, &y, &p, tape));
        w.failing = 6;
        costate_stats before = *costate_get_stats(c);
        estimates r = {.value = 0};
        costate_estimate e = into(&r);
        CHECK_OK(c, costate_accuracy(c, tape, &(costate_functional){.m = 1, .at_end = total, .ctx = &d}, &e));
        assert_int_equal(w.failed, 3);
        assert_int_equal(costate_get_stats(c)->newton_failures - before.newton_failures, 3);
        assert_true(e.steps_refined > 2 * costate_tape_steps(tape));
        compare(methods[k], &d, 3, 1, 1, &r, 0.3, 3);
        costate_tape_free(tape);
        costate_free(c);
    }
}

/* ---- ensembles ---- */

typedef struct { decays d; estimates r[6]; } of_members;

static int on_member(int member, int thread, costate *c, costate_tape *tape, void *ctx)
{
    of_members *o = ctx;
    (void)thread;
    costate_estimate e = into(&o->r[member]);
    return costate_accuracy(c, tape, &(costate_functional){.m = 1, .at_end = total, .ctx = &o->d}, &e);
}

/* estimates in threads have the bits of those one by one */
static void in_an_ensemble(void **state)
{
    (void)state;
    of_members many = {.d = {3, 0.2}};
    const costate_problem P = {.n = 3, .np = 1, .rhs = {f, f_tangent, .adjoint = f_adjoint}, .jac = f_jac,
                               .ctx = &many.d};
    const char *methods[] = {"bs32", "sdirk4a", "radau2a"};
    for (int k = 0; k < 3; k++) {
        costate_options o = {.rtol = 1e-4, .atol = 1e-4};
        double y[18], p[6];
        for (int i = 0; i < 18; i++) y[i] = 1;
        for (int i = 0; i < 6; i++) p[i] = 0.5 + 0.3 * i;
        const costate_members all = {.count = 6, .threads = 2, .t1 = 2, .y = y, .p = p, .ctx = &many,
                                     .on_member = on_member, .tape = 1};
        costate_ensemble_report report;
        if (costate_ensemble(costate_method_find(methods[k]), &P, &o, &all, &report)) fail_msg("%s", report.text);
        for (int i = 0; i < 6; i++) {
            costate *c = costate_new(costate_method_find(methods[k]), &P, &o);
            costate_tape *tape = costate_tape_new();
            double y1[] = {1, 1, 1};
            estimates r = {.value = 0};
            CHECK_OK(c, costate_integrate(c, 0, 2, y1, &p[i], tape));
            costate_estimate e = into(&r);
            CHECK_OK(c, costate_accuracy(c, tape, &(costate_functional){.m = 1, .at_end = total, .ctx = &many.d}, &e));
            assert_memory_equal(&r, &many.r[i], sizeof r);
            compare("member", &many.d, 2, 1, p[i], &r, 0.3, 3);
            costate_tape_free(tape);
            costate_free(c);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sizes_and_scales), cmocka_unit_test(far_from_zero), cmocka_unit_test(no_interval),
        cmocka_unit_test(ended_early), cmocka_unit_test(events_and_costs), cmocka_unit_test(terminal_at_t0),
        cmocka_unit_test(two_terminal),
        cmocka_unit_test(kinds_of_tapes), cmocka_unit_test(another_linear_solver), cmocka_unit_test(preconditioned),
        cmocka_unit_test(preconditioned_within),
        cmocka_unit_test(preconditioned_by_another),
        cmocka_unit_test(with_differences), cmocka_unit_test(failing_halves), cmocka_unit_test(in_an_ensemble)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
