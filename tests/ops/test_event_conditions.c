/* test_event_conditions.c - events that are conditions, x > c and x >= c (x' = way * rate, both mirrored by way = -1),
   where x rests at c, leaves it by its curvature, or is set to c by another event:

       z' = 1,   z <- z + k t where the condition becomes true          p = (T, a, c, k, s), s = c

   z at the end, its gradient by tangents and adjoints, and the number of events are those of closed forms, with all
   stages on the tape and with checkpoints. */
#include <float.h>
#include "common.h"

enum { N = 2, NP = 5 };
enum { T, A, C, K, S };
/* 0, a behind T; a t; a (t - T) and its square behind T; a; -a; -a, a behind T; a up to c, then 0;
   a (t - 1/4) */
enum rate { STEP, BEND, LATE_BEND, CUBE, RISE, FALL, BACK, REST, DIP };

typedef struct { double way; int rate, low; } context;             /* low: x is set to s less some round-off */

/* x' and its derivatives with respect to T and a; relation[0]: t > T; of REST: the side of c on which x is */
static double rate_of(const costate_point *x, const context *c, double *by_T, double *by_a)
{
    double s = x->t - x->p[T], on = x->relation[0], a = x->p[A], below = c->way * on < 0;
    double by[] = {[STEP] = on, [BEND] = x->t, [LATE_BEND] = on * s, [CUBE] = on * s * s, [RISE] = 1, [FALL] = -1,
                   [BACK] = on ? 1 : -1, [REST] = below, [DIP] = x->t - 0.25};
    *by_T = c->way * a * on * (c->rate == LATE_BEND ? -1 : c->rate == CUBE ? -2 * s : 0);
    *by_a = c->way * by[c->rate];
    return *by_a * a;
}

static int is_bend(const context *c) { return c->rate == BEND || c->rate == DIP; }

static double rate_by_t(const costate_point *x, const context *c)
{
    double on = x->relation[0], s = x->t - x->p[T];
    return c->way * x->p[A] * (is_bend(c) ? 1 : c->rate == LATE_BEND ? on : c->rate == CUBE ? 2 * on * s : 0);
}

static int rhs(const costate_point *x, double *out, void *ctx)
{
    double by_T, by_a;
    out[0] = rate_of(x, ctx, &by_T, &by_a);
    out[1] = 1;
    return 0;
}

static int rhs_tangent(const costate_point *x, const costate_point *d, double *out, void *ctx)
{
    double by_T, by_a;
    rate_of(x, ctx, &by_T, &by_a);
    out[0] = d->t * rate_by_t(x, ctx) + (d->p ? by_T * d->p[T] + by_a * d->p[A] : 0);
    out[1] = 0;
    return 0;
}

static int rhs_adjoint(const costate_point *x, const double *w, const costate_gradient *g, void *ctx)
{
    double by_T, by_a;
    rate_of(x, ctx, &by_T, &by_a);
    if (g->t) *g->t += w[0] * rate_by_t(x, ctx);
    if (g->p) g->p[T] += w[0] * by_T;
    if (g->p) g->p[A] += w[0] * by_a;
    return 0;
}

/* the second derivatives that Rosenbrock methods need: by t twice, and by t and p */
static double mixed(const costate_point *x, const context *c, const costate_point *a, const costate_point *b)
{
    double on = x->relation[0], s = x->t - x->p[T], p = x->p[A], sum = 0;
    for (int k = 0; k < 2; k++) {
        const costate_point *u = k ? b : a, *v = k ? a : b;
        double da = v->p ? v->p[A] : 0, dT = v->p ? v->p[T] : 0;
        if (is_bend(c) || c->rate == LATE_BEND) sum += (is_bend(c) ? 1 : on) * u->t * da;
        if (c->rate == CUBE) sum += on * (2 * s * u->t * da - 2 * p * u->t * dT + p * u->t * v->t);
        if (c->rate == LATE_BEND && u->p) sum -= on * u->p[T] * da;
        if (c->rate == CUBE && u->p) sum += on * (p * u->p[T] * dT - 2 * s * u->p[T] * da);
    }
    return c->way * sum;
}

static int rhs_tangent2(const costate_point *x, const costate_point *a, const costate_point *b, double *out, void *ctx)
{
    out[0] = mixed(x, ctx, a, b);
    out[1] = 0;
    return 0;
}

static int rhs_adjoint_tangent(const costate_point *x, const costate_point *d, const double *w,
                               const costate_gradient *g, void *ctx)
{
    const costate_point time = {.t = 1};
    if (g->t) *g->t += w[0] * mixed(x, ctx, d, &time);
    for (int k = 0; g->p && k < 2; k++) {
        double unit[NP] = {0};
        unit[k] = 1;
        g->p[k] += w[0] * mixed(x, ctx, d, &(costate_point){.p = unit});
    }
    return 0;
}

/* ---- guards and jumps: linear functions of t, x and p, but for z + k t ---- */

static int above(const costate_point *x, double *e, void *ctx)
{
    return e[0] = x->y[0] - ((const context *)ctx)->way * x->p[C], 0;
}
static int above_tangent(const costate_point *x, const costate_point *d, double *e, void *ctx)
{
    e[0] = (d->y ? d->y[0] : 0) - (d->p ? ((const context *)ctx)->way * d->p[C] : 0);
    return (void)x, 0;
}
static int above_adjoint(const costate_point *x, const double *w, const costate_gradient *g, void *ctx)
{
    if (g->y) g->y[0] += w[0];
    if (g->p) g->p[C] -= ((const context *)ctx)->way * w[0];
    return (void)x, 0;
}

static int later(const costate_point *x, double *e, void *ctx) { return (void)ctx, e[0] = x->t - x->p[T], 0; }
static int later_tangent(const costate_point *x, const costate_point *d, double *e, void *ctx)
{
    return (void)x, (void)ctx, e[0] = d->t - (d->p ? d->p[T] : 0), 0;
}
static int later_adjoint(const costate_point *x, const double *w, const costate_gradient *g, void *ctx)
{
    if (g->t) *g->t += w[0];
    if (g->p) g->p[T] -= w[0];
    return (void)x, (void)ctx, 0;
}

static int adds(const costate_point *x, double *out, void *ctx)
{
    out[0] = x->y[0];
    out[1] = x->y[1] + x->p[K] * x->t;
    return (void)ctx, 0;
}
static int adds_tangent(const costate_point *x, const costate_point *d, double *out, void *ctx)
{
    out[0] = d->y ? d->y[0] : 0;
    out[1] = (d->y ? d->y[1] : 0) + x->p[K] * d->t + (d->p ? d->p[K] * x->t : 0);
    return (void)ctx, 0;
}
static int adds_adjoint(const costate_point *x, const double *w, const costate_gradient *g, void *ctx)
{
    if (g->y) { g->y[0] += w[0]; g->y[1] += w[1]; }
    if (g->t) *g->t += x->p[K] * w[1];
    if (g->p) g->p[K] += x->t * w[1];
    return (void)ctx, 0;
}

static int sets(const costate_point *x, double *out, void *ctx)
{
    const context *c = ctx;
    out[0] = c->way * (x->p[S] - (c->low ? DBL_EPSILON * x->p[S] : 0));
    out[1] = x->y[1];
    return 0;
}
static int sets_tangent(const costate_point *x, const costate_point *d, double *out, void *ctx)
{
    out[0] = d->p ? ((const context *)ctx)->way * d->p[S] : 0;
    out[1] = d->y ? d->y[1] : 0;
    return (void)x, 0;
}
static int sets_adjoint(const costate_point *x, const double *w, const costate_gradient *g, void *ctx)
{
    if (g->y) g->y[1] += w[1];
    if (g->p) g->p[S] += ((const context *)ctx)->way * w[0];
    return (void)x, 0;
}

/* ---- what happens to x, and when its conditions become true: d is that time's derivative with respect to T ---- */

typedef struct { double t, d; } moment;

/* x0: x - c at t = 0; set: when an event sets x to s: AT_T, or this time; own: the time of x > c (2: and of x >= c)
   depends on s, as it is that time + (c - s)/a */
enum { NEVER = -2, AT_T = -1 };
#define STOP 0.65
static const struct {
    const char *say;
    int rate;
    double x0, set;
    int low, own;
    moment strict, equal;
} cases[] = {
    {"rests until T", STEP, 0, NEVER, 0, 0, {1.3, 1}, {0, 0}},
    {"bends away at T", LATE_BEND, 0, NEVER, 0, 0, {1.3, 1}, {0, 0}},
    {"bends away at T, like a cube", CUBE, 0, NEVER, 0, 0, {1.3, 1}, {0, 0}},
    {"bends away at the start", BEND, 0, NEVER, 0, 0, {1e-300, 0}, {0, 0}},
    {"leaves at the start", RISE, 0, NEVER, 0, 0, {1e-300, 0}, {0, 0}},
    {"falls", FALL, 0, NEVER, 0, 0, {0, 0}, {0, 0}},
    {"falls, and comes back", BACK, 0, NEVER, 0, 0, {2.6, 2}, {2.6, 2}},
    {"is set from below at the start, and bends away", BEND, -0.2, 0, 0, 0, {1e-300, 0}, {0, 0}},
    {"is set to where it is, and bends away", BEND, 0, 0, 0, 0, {1e-300, 0}, {0, 0}},
    {"is set from below at T", RISE, -2, AT_T, 0, 1, {1.3, 1}, {0, 0}},
    {"is set from above at T", RISE, 0.5, AT_T, 0, 1, {1.3, 1}, {0, 0}},
    {"is set from above at 0.7", RISE, 0.5, 0.7, 0, 1, {0.7, 0}, {0, 0}},
    {"is set from above at 0.7, to round-off", RISE, 0.5, 0.7, 1, 1, {0.7, 0}, {0, 0}},
    {"is set from above, and rests until T", STEP, 0.5, 0.7, 0, 1, {1.3, 1}, {0, 0}},
    {"bends down, and comes back", DIP, 0, NEVER, 0, 0, {0.5, 0}, {0.5, 0}},
    {"passes c at a stop", RISE, 0.8 * -STOP, NEVER, 0, 0, {STOP, 0}, {STOP, 0}},
    {"reaches c, and rests", REST, -0.8, NEVER, 0, 0, {0, 0}, {1, 0}},
    {"rests when c is set", REST, -0.8, 0.5, 0, 0, {0, 0}, {0, 0}},
    {"is set from below, falls, and comes back", BACK, -0.1, 0.5, 0, 2, {2.1, 2}, {2.1, 2}},
};
enum { CASES = sizeof cases / sizeof *cases };

typedef struct {
    context ctx;
    costate_relation relation;
    costate_event event[2];
    costate_problem P;
    double set, stop;
} model;

static void pose(model *m, int number, double way, int at_start, int stops)
{
    *m = (model){.ctx = {way, cases[number].rate, cases[number].low}, .set = cases[number].set, .stop = STOP};
    const costate_map after = {.value = later, .tangent = later_tangent, .adjoint = later_adjoint};
    const costate_map higher = {.value = above, .tangent = above_tangent, .adjoint = above_adjoint};
    int side = cases[number].rate == REST;
    m->relation = (costate_relation){.guard = side ? higher : after, .sign = side};
    m->event[0] = (costate_event){.guard = higher,
                                  .jump = {.value = adds, .tangent = adds_tangent, .adjoint = adds_adjoint},
                                  .direction = way > 0 ? 1 : -1, .passes = 1, .at_start = at_start};
    m->event[1] = (costate_event){.jump = {.value = sets, .tangent = sets_tangent, .adjoint = sets_adjoint}};
    if (m->set < 0) { m->event[1].guard = after; m->event[1].direction = m->event[1].passes = 1; }
    else { m->event[1].times = &m->set; m->event[1].ntimes = 1; }
    m->P = (costate_problem){.n = N, .np = NP, .ctx = &m->ctx, .nevents = m->set == NEVER ? 1 : 2, .event = m->event,
                             .nrelations = 1, .relation = &m->relation, .nstops = stops,
                             .stops = stops ? &m->stop : NULL,
                             .rhs = {.value = rhs, .tangent = rhs_tangent, .adjoint = rhs_adjoint,
                                     .tangent2 = rhs_tangent2, .adjoint_tangent = rhs_adjoint_tangent}};
}

static void close_to(const char *say, int number, double got, double wanted)
{
    if (!(fabs(got - wanted) <= 1e-9)) fail_msg("%s: %s is %.15g, not %.15g", cases[number].say, say, got, wanted);
}

static int count(int event, double t, const double *y, const double *after, void *ctx)
{
    ((int *)ctx)[event]++;
    return (void)t, (void)y, (void)after, 0;
}

static void one(const costate_method *method, int number, double way, int strict, int storage, int stops)
{
    static const double END = 3;
    model m;
    pose(&m, number, way, strict ? COSTATE_ZERO_FALSE : COSTATE_ZERO_TRUE, stops);
    int fired[2] = {0};
    costate_options o = {.on_event = count, .on_event_ctx = fired, .rtol = 1e-6, .atol = 1e-8,
                         .storage = storage, .checkpoints = 40, .spectral_bound = 1,
                         .h0 = storage == COSTATE_CHECKPOINTS ? 0.1 : 0};
    double p[NP] = {1.3, 0.8, 0.4, 2, 0.4}, y[N] = {way * (p[C] + cases[number].x0), 0}, lambda[N] = {0, 1};
    double mu[NP] = {0};
    moment when = strict ? cases[number].strict : cases[number].equal;
    costate *c = new_for_test(method, &m.P, &o);
    costate_tape *tape = costate_tape_new();
    CHECK_OK(c, costate_integrate(c, 0, END, y, p, tape));
    close_to("z", number, y[1], END + p[K] * when.t);
    assert_int_equal(fired[0], when.t > 0);
    assert_int_equal(fired[1], m.set != NEVER);
    CHECK_OK(c, costate_adjoint(c, tape, 1, lambda, mu, NULL, NULL));
    close_to("its gradient by T", number, mu[T], p[K] * when.d);
    close_to("its gradient by k", number, mu[K], when.t);
    close_to("its gradient by s", number, mu[S],
             cases[number].own > !strict ? -p[K] / p[A] : 0);
    for (int j = 0; j < NP; j++) {
        double V[N] = {0}, dp[NP] = {0};
        dp[j] = 1;
        CHECK_OK(c, costate_tangent(c, tape, 1, V, dp, NULL, NULL));
        if (!(fabs(V[1] - mu[j]) <= 1e-12 * fmax(1, fabs(mu[j]))))
            fail_msg("%s, p[%d]: %.15g by a tangent, %.15g by an adjoint", cases[number].say, j, V[1], mu[j]);
    }
    costate_tape_free(tape);
    costate_free(c);
}

/* Near a cube's zero the error of methods of low order is as large as the cube.  Their first step is of one sign only
   where that step is not short, as with fixed steps. */
static int takes_stops(const costate_method *method)
{
    model m;
    double p[NP] = {1.3, 0.8, 0.4, 2, 0.4}, y[N] = {0};
    pose(&m, 0, 1, COSTATE_ZERO_TRUE, 1);
    costate_options o = {.spectral_bound = 1};
    costate *c = new_for_test(method, &m.P, &o);
    int status = costate_integrate(c, 0, 1, y, p, NULL);
    costate_free(c);
    return status == COSTATE_OK;
}

static void conditions(void **state)
{
    costate_method_info info = method_info(*state);
    int parabolas = info.order > 1, cubes = info.order > 4, one_step = info.order == 3 && !info.embedded;
    int stops = takes_stops(*state);
    for (int number = 0; number < CASES; number++)
        for (int k = 0; k < 8; k++)
            if (cases[number].rate == CUBE ? cubes || (one_step && k & 2) : cases[number].rate != DIP || parabolas)
                one(*state, number, k & 1 ? 1 : -1, k & 2, k & 4 ? COSTATE_CHECKPOINTS : COSTATE_ALL_STAGES, stops);
}

int main(void) { return run_by_kind("conditions", conditions); }
