/* test_relation_values.c - what values relations take, and derivatives through their changes, in every method:

       y0' = p0,   y1' = (y0 > p1 ? p1 : p2) + p0 floor(p2 y0^2)        y(0) = 0, from 0 to 2 or -2

   Both are linear in t between events, so that methods are exact. */
#include <limits.h>
#include <unistd.h>
#include "common.h"

enum { N = 2, NP = 3, EVENTS = 4 };
static const double p_at[NP] = {1, 0.6, 0.8}, T = 2;

typedef struct { double way; int kind; } context;           /* 1, -1: the direction of time */

static int rhs(const costate_point *x, double *out, void *ctx)
{
    const context *c = ctx;
    out[0] = c->way * x->p[0];
    out[1] = c->way * (x->p[x->relation[0] ? 1 : 2] + x->p[0] * x->relation[1]);
    return 0;
}

static int rhs_tangent(const costate_point *x, const costate_point *d, double *out, void *ctx)
{
    const context *c = ctx;
    out[0] = d->p ? c->way * d->p[0] : 0;
    out[1] = d->p ? c->way * (d->p[x->relation[0] ? 1 : 2] + d->p[0] * x->relation[1]) : 0;
    return 0;
}

static int rhs_adjoint(const costate_point *x, const double *w, const costate_gradient *g, void *ctx)
{
    const context *c = ctx;
    if (!g->p) return 0;
    g->p[0] += c->way * (w[0] + w[1] * x->relation[1]);
    g->p[x->relation[0] ? 1 : 2] += c->way * w[1];
    return 0;
}

static int zero2(const costate_point *x, const costate_point *a, const costate_point *b, double *out, void *ctx)
{
    (void)x, (void)a, (void)b;
    out[0] = 0;
    if (ctx) out[1] = 0;                    /* of rhs, which has a context */
    return 0;
}

static int none(const costate_point *x, const costate_point *d, const double *w, const costate_gradient *g, void *ctx)
{
    (void)x, (void)d, (void)w, (void)g, (void)ctx;
    return 0;
}

static int none3(const costate_point *x, const costate_point *a, const costate_point *b, const double *w,
                 const costate_gradient *g, void *ctx)
{
    (void)x, (void)a, (void)b, (void)w, (void)g, (void)ctx;
    return 0;
}

/* ---- y0 - p1 ---- */

static int above(const costate_point *x, double *out, void *ctx)
{
    (void)ctx;
    out[0] = x->y[0] - x->p[1];
    return 0;
}

static int above_tangent(const costate_point *x, const costate_point *d, double *out, void *ctx)
{
    (void)x, (void)ctx;
    out[0] = (d->y ? d->y[0] : 0) - (d->p ? d->p[1] : 0);
    return 0;
}

static int above_adjoint(const costate_point *x, const double *w, const costate_gradient *g, void *ctx)
{
    (void)x, (void)ctx;
    if (g->y) g->y[0] += w[0];
    if (g->p) g->p[1] -= w[0];
    return 0;
}

static int above_tangent2(const costate_point *x, const costate_point *a, const costate_point *b, double *out,
                          void *ctx)
{
    (void)x, (void)a, (void)b, (void)ctx;
    out[0] = 0;
    return 0;
}

/* ---- p2 y0^2, which counts its calls of prepare ---- */

static int prepared;

static int squared(const costate_point *x, double *out, void *ctx)
{
    (void)ctx;
    out[0] = x->p[2] * x->y[0] * x->y[0];
    return 0;
}

static int square_prepare(const costate_point *x, void *ctx)
{
    (void)x, (void)ctx;
    prepared++;
    return 0;
}

static int square_tangent(const costate_point *x, const costate_point *d, double *out, void *ctx)
{
    (void)ctx;
    double y = x->y[0], dy = d->y ? d->y[0] : 0, dp = d->p ? d->p[2] : 0;
    out[0] = dp * y * y + 2 * x->p[2] * y * dy;
    return 0;
}

static int square_adjoint(const costate_point *x, const double *w, const costate_gradient *g, void *ctx)
{
    (void)ctx;
    double y = x->y[0];
    if (g->y) g->y[0] += w[0] * 2 * x->p[2] * y;
    if (g->p) g->p[2] += w[0] * y * y;
    return 0;
}

static int square_tangent2(const costate_point *x, const costate_point *a, const costate_point *b, double *out,
                           void *ctx)
{
    (void)ctx;
    double ay = a->y ? a->y[0] : 0, by = b->y ? b->y[0] : 0, ap = a->p ? a->p[2] : 0, bp = b->p ? b->p[2] : 0;
    out[0] = 2 * x->p[2] * ay * by + 2 * x->y[0] * (ap * by + bp * ay);
    return 0;
}

static int square_adjoint_tangent(const costate_point *x, const costate_point *d, const double *w,
                                  const costate_gradient *g, void *ctx)
{
    (void)ctx;
    double dy = d->y ? d->y[0] : 0, dp = d->p ? d->p[2] : 0;
    if (g->y) g->y[0] += w[0] * 2 * (x->p[2] * dy + x->y[0] * dp);
    if (g->p) g->p[2] += w[0] * 2 * x->y[0] * dy;
    return 0;
}

static const costate_map equation = {.value = rhs, .tangent = rhs_tangent, .adjoint = rhs_adjoint, .tangent2 = zero2,
                                     .adjoint_tangent = none, .adjoint_tangent2 = none3};
static const costate_relation relations[] = {
    {.guard = {.value = above, .tangent = above_tangent, .adjoint = above_adjoint, .tangent2 = above_tangent2,
               .adjoint_tangent = none, .adjoint_tangent2 = none3}},
    {.guard = {.value = squared, .tangent = square_tangent, .adjoint = square_adjoint, .tangent2 = square_tangent2,
               .adjoint_tangent = square_adjoint_tangent, .adjoint_tangent2 = none3, .prepare = square_prepare},
     .whole = 1}};

static costate_problem problem_of(context *c)
{
    return (costate_problem){.n = N, .np = NP, .rhs = equation, .ctx = c, .nrelations = 2, .relation = relations};
}

/* ---- the closed form: whole numbers are met where y0 = sqrt(k/p2) ---- */

static void exact(double *value, double *g, double *H)
{
    const double *p = p_at;
    double s = 1 + sqrt(2) + sqrt(3), inverse = 1 / p[0], root = pow(p[2], -0.5);
    *value = (p[2] * p[1] - p[1] * p[1]) * inverse + p[1] * T + 3 * p[0] * T - s * root;
    g[0] = -(p[2] * p[1] - p[1] * p[1]) * inverse * inverse + 3 * T;
    g[1] = (p[2] - 2 * p[1]) * inverse + T;
    g[2] = p[1] * inverse + s / 2 * root / p[2];
    H[0] = 2 * (p[2] * p[1] - p[1] * p[1]) * pow(inverse, 3);
    H[1] = H[3] = -(p[2] - 2 * p[1]) * inverse * inverse;
    H[2] = H[6] = -p[1] * inverse * inverse;
    H[4] = -2 * inverse;
    H[5] = H[7] = inverse;
    H[8] = -0.75 * s * root / (p[2] * p[2]);
}

static int seed(double t1, const double *y, const double *p, int m, const double *V, const double *Vp, double *lambda,
                double *mu, double *lambda2, double *mu2, void *ctx)
{
    (void)t1, (void)y, (void)p, (void)V, (void)Vp, (void)mu, (void)mu2, (void)ctx;
    lambda[0] = 0;
    lambda[1] = 1;
    for (int i = 0; i < N * m; i++) lambda2[i] = 0;
    return 0;
}

static void derivatives_are(costate *c, const costate_method *m, const costate_tape *tape)
{
    double value, g[NP], H[NP * NP], V[N * NP] = {0}, Vp[NP * NP] = {0}, lambda[N], mu[NP] = {0}, back[N] = {0, 1},
           first[NP] = {0}, H0[N * NP], Hp[NP * NP] = {0};
    exact(&value, g, H);
    for (int i = 0; i < NP; i++) Vp[i * NP + i] = 1;
    const costate_second second = {.m = NP, .V = V, .Vp = Vp, .seed = seed, .lambda = lambda, .mu = mu, .lambda2 = H0,
                                   .mu2 = Hp};
    CHECK_OK(c, costate_hessian(c, tape, &second));
    CHECK_OK(c, costate_adjoint(c, tape, 1, back, first, NULL, NULL));
    double along[N * NP] = {0};
    CHECK_OK(c, costate_tangent(c, tape, NP, along, Vp, NULL, NULL));
    for (int i = 0; i < NP; i++) {
        const double found[] = {mu[i], first[i], along[i * N + 1]}, exactly[] = {g[i], g[i], g[i]};
        if (!(largest_gap(3, found, exactly) < 1e-9))
            fail_msg("%s: derivative %d is %.15g, %.15g, %.15g, not %.15g", method_name(m), i, mu[i], first[i],
                     along[i * N + 1], g[i]);
        for (int j = 0; j < NP; j++)
            if (!(fabs(Hp[i * NP + j] - H[i * NP + j]) < 1e-9))
                fail_msg("%s: second derivative %d %d is %.15g, not %.15g", method_name(m), i, j, Hp[i * NP + j],
                         H[i * NP + j]);
    }
}

/* relations are on the tape, in their order, with the states at their times */
static void events_are(const costate_tape *tape)
{
    static const int which[EVENTS] = {0, 1, 1, 1};
    const double *p = p_at, at[EVENTS] = {p[1], 1 / sqrt(p[2]), sqrt(2 / p[2]), sqrt(3 / p[2])};
    assert_int_equal(costate_tape_events(tape), EVENTS);
    for (int k = 0; k < EVENTS; k++) {
        double t, before[N], after[N];
        int event;
        assert_int_equal(costate_tape_event(tape, k, &t, &event, before, after), COSTATE_OK);
        assert_int_equal(event, which[k]);
        assert_true(fabs(before[0] - at[k]) < 1e-9 && before[1] == after[1]);
    }
}

/* Some methods have coefficients of 12 digits. */
static void closed_form(void **state)
{
    const costate_method *m = *state;
    static const int stores[] = {COSTATE_ALL_STAGES, COSTATE_STATES_ONLY, COSTATE_CHECKPOINTS};
    for (int k = 0; k < 6; k++) {
        context own = {k < 3 ? 1 : -1, 0};
        const costate_problem P = problem_of(&own);
        const costate_options o = {.storage = stores[k % 3], .checkpoints = 60};
        char path[64];
        snprintf(path, sizeof path, "relations-%ld.tape", (long)getpid());
        if (skipped(k + turn_of(m), 2)) continue;
        int in_file = k == 1 || k == 3;
        costate *c = new_for_test(m, &P, &o);
        if (in_file) remove(path);
        costate_tape *tape = in_file ? costate_tape_open(path) : costate_tape_new();
        double y[N] = {0}, again[N] = {0}, value, g[NP], H[NP * NP];
        exact(&value, g, H);
        prepared = 0;
        CHECK_OK(c, costate_integrate(c, 0, own.way * T, y, p_at, tape));
        if (!(fabs(y[0] - p_at[0] * T) < 1e-9 && fabs(y[1] - value) < 1e-9))
            fail_msg("%s: y = %.15g, %.15g, not %.15g, %.15g", method_name(m), y[0], y[1], p_at[0] * T, value);
        if (in_file) {
            costate_tape_free(tape);
            tape = costate_tape_open(path);
            CHECK_OK(c, costate_tape_read(c, tape));
        }
        events_are(tape);
        derivatives_are(c, m, tape);
        assert_true(prepared > 0);
        CHECK_OK(c, costate_replay(c, tape, again, p_at));
        assert_true(relative_gap(N, again, y) < 1e-13);
        costate_tape_free(tape);
        costate_free(c);
        if (in_file) remove(path);
    }
}

/* ---- values at the start ---- */

enum kind { CHAIN, DOWN, PAIR, HIDDEN, LARGE, CIRCLE, NEARLY, UPWARD };

/* CHAIN: y0' by the sign of y1, y1' by that of y2, which falls: the relations are in this order.  DOWN: y1' = floor(y0)
   below 3.  PAIR: the signs of y0 and of y1, each of which makes the other one leave zero in its direction.  CIRCLE:
   while y2 rises, y0 and y1 have no consistent signs; those of a fall of all three are consistent.  HIDDEN: y0 rests at
   zero until it moves to the side of y2 at the time 1, where no event is.  NEARLY: y0 rests.  UPWARD: with the value of
   zero it leaves zero, with that above it rests. */
static int small(const costate_point *x, double *out, void *ctx)
{
    const context *c = ctx;
    const int *r = x->relation;
    int moves = c->way * x->t > 1;
    if (c->kind == CHAIN) { out[0] = r[1] ? -1 : 1; out[1] = r[2] ? -1 : 1; out[2] = -1; }
    if (c->kind == DOWN) { out[0] = -1; out[1] = r[0]; out[2] = 0; }
    if (c->kind == PAIR) { out[0] = r[1] ? 2 : -1; out[1] = r[0] ? 3 : -1; out[2] = r[0] + r[1]; }
    if (c->kind == HIDDEN) { out[0] = moves ? x->y[2] : 0; out[1] = 1 + 4 * r[0]; out[2] = 0; }
    if (c->kind == NEARLY) { out[0] = 0; out[1] = 1 + 4 * r[0]; out[2] = 0; }
    if (c->kind == UPWARD) { out[0] = r[0] > 0 ? 0 : 1; out[1] = 1 + 4 * r[0]; out[2] = 0; }
    if (c->kind == LARGE) { out[0] = 1; out[1] = r[0]; out[2] = 0; }
    if (c->kind == CIRCLE) {
        out[0] = r[2] && r[1] ? 1 : -1;
        out[1] = r[2] && !r[0] ? 1 : -1;
        out[2] = r[2] ? 1 : -1;
    }
    for (int i = 0; i < 3; i++) out[i] *= c->way;
    return 0;
}

static int component0(const costate_point *x, double *u, void *ctx)
{
    const context *c = ctx;
    *u = x->y[0] - (c->kind == NEARLY ? 0.3 : 0);
    return 0;
}
static int component1(const costate_point *x, double *u, void *ctx) { (void)ctx; *u = x->y[1]; return 0; }
static int component2(const costate_point *x, double *u, void *ctx) { (void)ctx; *u = x->y[2]; return 0; }

enum value { TRUTH, INTEGER, SIGN };

static int run_small(enum kind kind, double way, double t1, enum value value, double *y, costate_tape *tape,
                     costate **c)
{
    static const costate_relation truths[] = {{.guard = {.value = component0}}, {.guard = {.value = component1}},
                                              {.guard = {.value = component2}}},
                                  floors[] = {{.guard = {.value = component0}, .whole = 1}},
                                  signs[] = {{.guard = {.value = component0}, .sign = 1}};
    static const costate_relation *const of_value[] = {truths, floors, signs};
    static context own;
    own = (context){way, (int)kind};
    static const int counts[] = {3, 1, 2, 1, 1, 3, 1, 1};
    const costate_problem P = {.n = 3, .rhs = {.value = small}, .ctx = &own, .nrelations = counts[kind],
                               .relation = of_value[value]};
    const costate_options o = {.controller = kind == HIDDEN ? COSTATE_FIXED : 0, .h0 = kind == HIDDEN ? 0.3 : 0};
    *c = costate_new(costate_method_find(kind == HIDDEN ? "euler" : "dopri5"), &P, &o);
    return costate_integrate(*c, 0, way * t1, y, NULL, tape);
}

static void values_at_the_start(void **state)
{
    static const struct { enum kind kind; int whole; double t1, y[3], end[3]; } cases[] = {
        {CHAIN, 0, 2, {0, 0, 0}, {-2, 2, -2}}, {PAIR, 0, 2, {0, 0, 0}, {4, 6, 4}},
        {PAIR, 0, 2, {-1, 0, 0}, {-3, -2, 0}}, {CIRCLE, 0, 2, {0, 0, 0}, {-2, -2, -2}},
        {DOWN, 1, 2.5, {-0.5, 0, 0}, {-3, -0.5 - 2 - 3, 0}}, {DOWN, 1, 2.5, {3, 0, 0}, {0.5, 3, 0}},
        {DOWN, 1, 2.5, {2.75, 0, 0}, {0.25, 0.75 * 2 + 1, 0}}, {DOWN, 1, 2.5, {0, 0, 0}, {-2.5, -1 - 2 - 1.5, 0}},
    };
    (void)state;
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++)
        for (double way = 1; way >= -1; way -= 2) {
            double y[3];
            costate *c;
            memcpy(y, cases[k].y, sizeof y);
            CHECK_OK(c, run_small(cases[k].kind, way, cases[k].t1, cases[k].whole, y, NULL, &c));
            for (int i = 0; i < 3; i++)
                if (!(fabs(y[i] - cases[k].end[i]) < 1e-12))
                    fail_msg("case %d, %g: y[%d] is %.15g, not %.15g", (int)k, way, i, y[i], cases[k].end[i]);
            costate_free(c);
        }
}

/* f jumps where nothing says so: the guard that rested leaves zero in the step from 1.2, and its value changes. */
static void a_guard_that_rested_leaves(void **state)
{
    static const struct { enum value value; double side, later; } cases[] = {
        {TRUTH, 1, 1}, {TRUTH, -1, 0}, {INTEGER, 1, 0}, {INTEGER, -1, -1}, {SIGN, 1, 1}, {SIGN, -1, -1},
    };
    (void)state;
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++)
        for (int way = -1; way <= 1; way += 2) {
            double y[3] = {0, 0, cases[k].side}, moved = cases[k].later;
            costate *c;
            CHECK_OK(c, run_small(HIDDEN, way, 2, cases[k].value, y, NULL, &c));
            if (!(fabs(y[0] - 0.8 * cases[k].side) < 1e-14 && fabs(y[1] - (1.2 + (1 + 4 * moved) * 0.8)) < 1e-14))
                fail_msg("case %d, %d: y = %.15g, %.15g", (int)k, way, y[0], y[1]);
            costate_free(c);
        }
}

/* y0 = 0.1 + 0.2 and 1 - 0.7 are next to 0.3: what does not move and is not above it to the last bit counts as zero. */
static void a_guard_that_rests_from_the_start(void **state)
{
    static const struct { enum kind kind; enum value value; double y0, end; } cases[] = {
        {NEARLY, TRUTH, 0.3, 1}, {NEARLY, TRUTH, 1 - 0.7, 5}, {NEARLY, TRUTH, 0.3 - 0x1p-54, 1},
        {NEARLY, SIGN, 0.3, 1}, {NEARLY, SIGN, 0.1 + 0.2, 5}, {NEARLY, SIGN, 0.3 - 0x1p-54, -3},
        {UPWARD, TRUTH, 0, 5}, {UPWARD, SIGN, 0, 5},
    };
    (void)state;
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++)
        for (int way = -1; way <= 1; way += 2) {
            double y[3] = {cases[k].y0, 0, 0};
            costate *c;
            CHECK_OK(c, run_small(cases[k].kind, way, 1, cases[k].value, y, NULL, &c));
            if (!(fabs(y[1] - cases[k].end) < 1e-12)) fail_msg("case %d, %d: %.15g", (int)k, way, y[1]);
            costate_free(c);
        }
}

/* Values that were only tried have no place in the file, whose reader numbers those that it meets. */
static void tapes_in_files(void **state)
{
    static const struct { enum kind kind; enum value value; double y[3]; } cases[] = {
        {CHAIN, TRUTH, {0, 0, 0}}, {PAIR, TRUTH, {-1, 0, 0}}, {CIRCLE, TRUTH, {0, 0, 0}}, {DOWN, INTEGER, {3, 0, 0}},
        {HIDDEN, SIGN, {0, 0, -1}}, {HIDDEN, TRUTH, {0, 0, 1}},
    };
    char path[64];
    (void)state;
    snprintf(path, sizeof path, "relation-values-%ld.tape", (long)getpid());
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        remove(path);
        costate_tape *tape = costate_tape_open(path), *read;
        double y[3];
        costate *c;
        memcpy(y, cases[k].y, sizeof y);
        CHECK_OK(c, run_small(cases[k].kind, 1, 2, cases[k].value, y, tape, &c));
        costate_tape_free(tape);
        read = costate_tape_open(path);
        CHECK_OK(c, costate_tape_read(c, read));
        costate_tape_free(read);
        costate_free(c);
        remove(path);
    }
}

static void integers_have_a_range(void **state)
{
    double y[3] = {3e9, 0, 0};
    costate *c;
    (void)state;
    assert_int_equal(run_small(LARGE, 1, 2, 1, y, NULL, &c), COSTATE_BAD_EVENT);
    assert_non_null(strstr(costate_message(c), "relation[0].guard is 3e+09 at t = 0: the integer below it is too"));
    costate_free(c);
    y[0] = INT_MAX - 1.5;
    assert_int_equal(run_small(LARGE, 1, 2, 1, y, NULL, &c), COSTATE_BAD_EVENT);
    costate_free(c);
    y[0] = INT_MAX - 3.5;
    CHECK_OK(c, run_small(LARGE, 1, 2, 1, y, NULL, &c));
    costate_free(c);
}

/* ---- a guard that rests, but for round-off ---- */

/* y0 falls to the line 0.3 t, and stays on it: y0' = (y0 > 0.3 t ? -0.7 : 0.3), y1' = (y0 > 0.3 t ? 2 : 1) */
static int onto_a_line(const costate_point *x, double *out, void *ctx)
{
    (void)ctx;
    out[0] = x->relation[0] ? -0.7 : 0.3;
    out[1] = x->relation[0] ? 2 : 1;
    return 0;
}

static int over_the_line(const costate_point *x, double *u, void *ctx)
{
    (void)ctx;
    *u = x->y[0] - 0.3 * x->t;
    return 0;
}

static void a_guard_that_rests_but_for_round_off(void **state)
{
    static const costate_relation line = {.guard = {.value = over_the_line}};
    const costate_problem P = {.n = 2, .rhs = {.value = onto_a_line}, .nrelations = 1, .relation = &line};
    static const char *const methods[] = {"dopri5", "esdirk54i8", "radau2a5", "rk4", "auto"};
    (void)state;
    for (size_t k = 0; k < sizeof methods / sizeof *methods; k++)
        for (int steps = 1; steps <= 1000; steps *= 10) {
            const costate_options o = {.differences = 1, .controller = COSTATE_FIXED, .h0 = 10.0 / steps};
            double y[] = {1, 0};
            costate *c = costate_new(costate_method_find(methods[k]), &P, &o);
            CHECK_OK(c, costate_integrate(c, 0, 10, y, NULL, NULL));
            assert_true(fabs(y[0] - 3) < 1e-12 && fabs(y[1] - 11) < 1e-12);
            assert_in_range(costate_get_stats(c)->events, 1, 2);        /* 2: a step ends at the line by itself */
            costate_free(c);
        }
}

/* y0' = (y0 > y1^2 ? -1 : 2 y1^2), y1' = y1: y0 stays at y1^2, but for the error of the method.  Where this moves y0
   above, the other value drives it back: it slides. */
static int onto_a_curve(const costate_point *x, double *out, void *ctx)
{
    (void)ctx;
    out[0] = x->relation[0] ? -1 : 2 * x->y[1] * x->y[1];
    out[1] = x->y[1];
    return 0;
}

static int over_the_curve(const costate_point *x, double *u, void *ctx)
{
    (void)ctx;
    *u = x->y[0] - x->y[1] * x->y[1];
    return 0;
}

static void a_guard_that_rests_but_for_errors(void **state)
{
    static const costate_relation curve = {.guard = {.value = over_the_curve}};
    const costate_problem P = {.n = 2, .rhs = {.value = onto_a_curve}, .nrelations = 1, .relation = &curve};
    static const char *const methods[] = {"dopri5", "bs32", "rk23", "tsit5"};
    int slid = 0;
    (void)state;
    for (size_t k = 0; k < sizeof methods / sizeof *methods; k++)
        for (double rtol = 1e-2; rtol > 1e-7; rtol /= 10) {
            const costate_options o = {.rtol = rtol, .atol = rtol};
            double y[] = {2, 0.5};
            costate *c = costate_new(costate_method_find(methods[k]), &P, &o);
            int status = costate_integrate(c, 0, 2, y, NULL, NULL);
            if (status == COSTATE_OK) assert_true(fabs(y[0] / (y[1] * y[1]) - 1) < 30 * rtol);
            else assert_non_null(strstr(costate_message(c), "the solution slides along it"));
            slid += status != COSTATE_OK;
            costate_free(c);
        }
    assert_true(slid > 0);
}

/* ---- arguments ---- */

static void refused(const costate_problem *P, int status, const char *words)
{
    costate *c = costate_new(costate_method_find("dopri5"), P, NULL);
    assert_int_equal(costate_status(c), status);
    if (!strstr(costate_message(c), words)) fail_msg("%s: %s", words, costate_message(c));
    costate_free(c);
}

static void bad_arguments(void **state)
{
    static context own = {1, 0};
    static const costate_relation empty[2], strange = {.guard = {.value = component0}, .whole = 2},
                                  unsigned_sign = {.guard = {.value = component0}, .sign = -1},
                                  both = {.guard = {.value = component0}, .whole = 1, .sign = 1};
    costate_problem P = problem_of(&own);
    (void)state;
    P.nrelations = -1;
    refused(&P, COSTATE_BAD_ARGUMENT, "problem.nrelations = -1, but problem.relation is not NULL");
    P.nrelations = 0;
    refused(&P, COSTATE_BAD_ARGUMENT, "problem.nrelations = 0, but problem.relation is not NULL");
    P.nrelations = 2;
    P.relation = NULL;
    refused(&P, COSTATE_BAD_ARGUMENT, "problem.nrelations = 2, but problem.relation is NULL");
    P.relation = empty;
    refused(&P, COSTATE_MISSING, "problem.relation[0].guard.value is missing");
    P.nrelations = 1;
    P.relation = &strange;
    refused(&P, COSTATE_BAD_ARGUMENT, "problem.relation[0].whole = 2: it is 0 or 1");
    P.relation = &unsigned_sign;
    refused(&P, COSTATE_BAD_ARGUMENT, "problem.relation[0].sign = -1: it is 0 or 1");
    P.relation = &both;
    refused(&P, COSTATE_BAD_ARGUMENT, "problem.relation[0] has whole = 1 and sign = 1: its value is one of them");
}

static int not_a_number(const costate_point *x, double *u, void *ctx)
{
    (void)ctx;
    *u = x->y[0] > 0.5 ? NAN : -1;
    return 0;
}

static void guards_that_fail(void **state)
{
    static context own = {1, 0};
    costate_relation two[2] = {relations[0], {.guard = {.value = not_a_number}}};
    costate_problem P = problem_of(&own);
    (void)state;
    P.relation = two;
    for (int k = 0; k < 2; k++) {
        double y[N] = {k, 0};
        costate *c = costate_new(costate_method_find("dopri5"), &P, NULL);
        assert_int_equal(costate_integrate(c, 0, 2, y, p_at, NULL), COSTATE_NOT_FINITE);
        assert_non_null(strstr(costate_message(c), "relation[1].guard is NaN or Inf"));
        costate_free(c);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_at_the_start), cmocka_unit_test(a_guard_that_rested_leaves),
        cmocka_unit_test(a_guard_that_rests_from_the_start), cmocka_unit_test(tapes_in_files),
        cmocka_unit_test(a_guard_that_rests_but_for_round_off),
        cmocka_unit_test(a_guard_that_rests_but_for_errors),
        cmocka_unit_test(integers_have_a_range), cmocka_unit_test(bad_arguments), cmocka_unit_test(guards_that_fail),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    return run_by_kind("closed form", closed_form) + failed;
}
