/* test_events_at_ends.c - a guard whose root lies within 4 last digits of the end of a step is one event, not a grazing
   one and not two: with fixed steps and hmax, in both directions of time, at t0 = 1.7e12 and in units of 1e-160; the
   adjoint is the transpose of the tangent, and the replay has the same bits.

   y' = v and z' = (y - z)/tau; at y = p1, or at t = p1, z grows by p2 and memory counts.  Steps of h are summed as the
   run sums them, and p1 is what they come to, or the product, or some last digits beside it. */
#include <float.h>
#include "step/method.h"
#include "common.h"

enum { V, ROOT, GROWS, NP };
typedef struct { int of_time, back, fixed, tangent, direction; double t0, h, unit, speed; } passage;

static int value(const costate_point *x, double *out, void *ctx)
{
    const passage *q = ctx;
    out[0] = x->p[V];
    out[1] = (x->y[0] - x->y[1]) / (3 * q->h);
    return 0;
}
static int tangent(const costate_point *x, const costate_point *dx, double *out, void *ctx)
{
    const passage *q = ctx;
    out[0] = dx->p ? dx->p[V] : 0;
    out[1] = dx->y ? (dx->y[0] - dx->y[1]) / (3 * q->h) : 0;
    return (void)x, 0;
}
static int adjoint(const costate_point *x, const double *w, const costate_gradient *g, void *ctx)
{
    const passage *q = ctx;
    if (g->p) g->p[V] += w[0];
    if (g->y) {
        g->y[0] += w[1] / (3 * q->h);
        g->y[1] -= w[1] / (3 * q->h);
    }
    return (void)x, 0;
}
static int tangent2(const costate_point *x, const costate_point *a, const costate_point *b, double *out, void *ctx)
{
    return (void)x, (void)a, (void)b, (void)ctx, out[0] = out[1] = 0, 0;
}
static int adjoint_tangent(const costate_point *x, const costate_point *dx, const double *w, const costate_gradient *g,
                           void *ctx)
{
    return (void)x, (void)dx, (void)w, (void)g, (void)ctx, 0;
}
static int jac(const costate_point *x, double *J, void *ctx)
{
    const passage *q = ctx;
    J[0] = J[2] = 0;
    J[1] = 1 / (3 * q->h);
    J[3] = -J[1];
    return (void)x, 0;
}

static int mark(const costate_point *x, double *e, void *ctx)
{
    const passage *q = ctx;
    e[0] = (q->of_time ? x->t : x->y[0]) - x->p[ROOT];
    return 0;
}
static int mark_tangent(const costate_point *x, const costate_point *dx, double *e, void *ctx)
{
    const passage *q = ctx;
    e[0] = (q->of_time ? dx->t : dx->y ? dx->y[0] : 0) - (dx->p ? dx->p[ROOT] : 0);
    return (void)x, 0;
}
static int mark_adjoint(const costate_point *x, const double *w, const costate_gradient *g, void *ctx)
{
    const passage *q = ctx;
    double *by = q->of_time ? g->t : g->y;
    if (by) by[0] += w[0];
    if (g->p) g->p[ROOT] -= w[0];
    return (void)x, 0;
}

static int grow(const costate_point *x, double *out, void *ctx)
{
    out[0] = x->y[0];
    out[1] = x->y[1] + x->p[GROWS];
    out[2] = x->m[0] + 1;
    return (void)ctx, 0;
}
static int grow_tangent(const costate_point *x, const costate_point *dx, double *out, void *ctx)
{
    out[0] = dx->y ? dx->y[0] : 0;
    out[1] = (dx->y ? dx->y[1] : 0) + (dx->p ? dx->p[GROWS] : 0);
    out[2] = dx->m ? dx->m[0] : 0;
    return (void)x, (void)ctx, 0;
}
static int grow_adjoint(const costate_point *x, const double *w, const costate_gradient *g, void *ctx)
{
    for (int i = 0; i < 2 && g->y; i++) g->y[i] += w[i];
    if (g->m) g->m[0] += w[2];
    if (g->p) g->p[GROWS] += w[1];
    return (void)x, (void)ctx, 0;
}

/* of t0, t1 and the threshold, too */
static void transposed(costate *c, const costate_tape *tape, const passage *q)
{
    double u = q->unit, time = q->h, l[3] = {1 / u, 0.7 / u}, mu[NP] = {0}, by[3], W[3] = {0.3 * u, -0.2 * u};
    double of_root = q->of_time ? time : u, dp[] = {0.2 * q->speed, 0.4 * of_root, 0.7 * u};
    double dt[] = {0.1 * time, -0.2 * time, 0.3 * of_root}, L[] = {l[0], l[1], 0}, X[] = {W[0], W[1], 0};
    double left = 0, right = 0, size = 0;
    CHECK_OK(c, costate_adjoint(c, tape, 1, L, mu, &(costate_times){.t0 = by, .t1 = by + 1, .events = by + 2}, NULL));
    CHECK_OK(c, costate_tangent(c, tape, 1, X, dp, &(costate_times){.t0 = dt, .t1 = dt + 1, .events = dt + 2}, NULL));
    for (int i = 0; i < 2; i++) {
        left += l[i] * X[i];
        right += L[i] * W[i];
        size += fabs(l[i] * X[i]) + fabs(L[i] * W[i]);
    }
    for (int i = 0; i < 3; i++) {
        right += mu[i] * dp[i] + by[i] * dt[i];
        size += fabs(mu[i] * dp[i]) + fabs(by[i] * dt[i]);
    }
    assert_true(fabs(left - right) <= 1e-12 * size);
}

static double moved(double x, int digits)
{
    for (int i = 0; i < abs(digits); i++) x = nextafter(x, digits > 0 ? HUGE_VAL : -HUGE_VAL);
    return x;
}

static void one(const costate_method *m, passage *q, int steps, int digits, int summed, int store)
{
    double dir = q->back ? -1 : 1, end = q->t0 + dir * steps * q->h, y[] = {0, 0, 0}, z[3], sum = 0, when;
    for (int i = 0; i < steps; i++) sum += dir * q->h * q->speed;
    double root = q->of_time ? end : summed ? sum : dir * steps * q->h * q->speed;
    double p[] = {q->speed, moved(root, digits), 0.3 * q->unit}, t1 = q->t0 + dir * (steps + 2.5) * q->h;
    costate_event event = {.guard = {.value = mark, .tangent = q->tangent ? mark_tangent : NULL,
                                     .adjoint = mark_adjoint},
                           .jump = {.value = grow, .tangent = grow_tangent, .adjoint = grow_adjoint},
                           .passes = 1, .direction = q->direction * (int)dir};
    costate_problem P = {.n = 2, .np = NP, .nm = 1, .jac = jac, .nevents = 1, .event = &event, .ctx = q,
                         .rhs = {.value = value, .tangent = tangent, .adjoint = adjoint, .tangent2 = tangent2,
                                 .adjoint_tangent = adjoint_tangent}};
    costate_options o = {.rtol = 1e-6, .atol = 1e-6 * q->unit, .h0 = q->h, .autonomous = 1, .storage = store};
    if (q->fixed || !method_info(m).embedded) o.controller = COSTATE_FIXED;
    else o.hmax = q->h;
    costate *c = costate_new(m, &P, &o);
    costate_tape *tape = costate_tape_new();
    int status = costate_integrate(c, q->t0, t1, y, p, tape);
    if (status || costate_tape_events(tape) != 1)
        fail_msg("%s, t0 = %g, h = %g, %d steps, %d digits: %ld events, %s", method_name(m), q->t0, q->h, steps, digits,
                 (long)costate_tape_events(tape), costate_message(c));
    assert_true(y[2] == 1);
    CHECK_OK(c, costate_tape_event(tape, 0, &when, NULL, NULL, NULL));
    /* a table of few digits is a line's slope to no more, and each step rounds y */
    double rounded = DBL_EPSILON * (double)costate_get_stats(c)->accepted;
    assert_true(fabs(when - end) <= (1e-13 + 10 * m->about.rounding + rounded) * (fabs(q->t0) + steps * q->h));
    z[0] = z[1] = z[2] = 0;
    CHECK_OK(c, costate_replay(c, tape, z, p));
    assert_memory_equal(y, z, sizeof y);
    event.guard.tangent = mark_tangent;
    costate *with_products = costate_new(m, &P, &o);
    transposed(with_products, tape, q);
    costate_free(with_products);
    costate_free(c);
    costate_tape_free(tape);
}

static void at_ends(void **state)
{
    static const double starts[] = {0, 0, 1, -3, 1.7e12}, units[] = {1, 1e-160, 1e3};
    unsigned r = 7;
    for (int k = 0; k < 60; k++) {
        double t0 = starts[k % 5], scale = t0 > 1e10 ? 1000 : k % 10 == 5 ? 1e-19 : 1;
        passage q = {.of_time = k % 3 == 0, .back = k / 2 % 2, .fixed = k / 4 % 2, .tangent = k % 4 == 1,
                     .direction = k % 2, .t0 = t0,
                     .h = (1 + random_below(&r, 20)) * 0.01 * scale};
        q.unit = q.of_time ? 1 : units[k % 7 % 3];
        q.speed = q.unit / q.h * (k % 2 ? q.h : exp(random_in(&r)) * q.h);
        one(*state, &q, 1 + (int)random_below(&r, 20), (int)random_below(&r, 9) - 4, k / 3 % 2, k % 3);
    }
}

int main(void) { return run_by_method("roots at the ends of steps", at_ends); }
