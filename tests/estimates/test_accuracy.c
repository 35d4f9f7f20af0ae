/* test_accuracy.c - costate_accuracy: estimated errors of functionals and gradients by halved steps, against the errors
   that they estimate: all families, forms, events, tapes; the parts of the steps; what it refuses. */
#include <costate/accuracy.h>
#include "common.h"
#include "hybrid_sweeps.h"

enum { FUNCTIONALS = 2, SEEN = 3, STEPS_MOST = 20000 };

/* ---- functionals: weighted sums of y at the end, and of squares at three times ---- */

typedef struct { int n, N, calls, fails_at; const double *weights; } goals;

static int at_end(double t1, const double *y, const double *p, int m, double *value, double *lambda, double *mu,
                  double *end, void *ctx)
{
    goals *g = ctx;
    (void)p;
    for (int j = 0; j < m; j++) {
        for (int i = 0; i < g->N; i++) {
            const double w = g->weights[j * g->N + i];
            value[j] += w * y[i];
            lambda[j * g->N + i] = w;
        }
        value[j] += 0.1 * (j + 1) * t1;
        end[j] = 0.1 * (j + 1);
        mu[0] += 0;
    }
    return ++g->calls == g->fails_at ? 7 : 0;
}

static int at_time(int k, double t, const double *y, int m, double *value, double *w, void *ctx)
{
    goals *g = ctx;
    (void)t;
    for (int j = 0; j < m; j++)
        for (int i = 0; i < g->n; i++) {
            value[j] += 0.5 * (j + k + 1) * y[i] * y[i];
            w[j * g->n + i] = (j + k + 1) * y[i];
        }
    return ++g->calls == g->fails_at ? 7 : 0;
}

typedef struct {
    double value[FUNCTIONALS], y0[FUNCTIONALS * N_MOST], p[FUNCTIONALS * NUMS_P], t0[FUNCTIONALS], t1[FUNCTIONALS],
           events[FUNCTIONALS * MOST_EVENTS];
} numbers;

static costate_derivatives into(numbers *x)
{
    memset(x, 0, sizeof *x);
    return (costate_derivatives){x->value, x->y0, x->p, x->t0, x->t1, x->events};
}

typedef struct { numbers run, error, better; double parts[FUNCTIONALS * STEPS_MOST]; int refined; } result;

static costate_functional functional(const session *s, goals *g, double *times, int observed)
{
    for (int k = 0; k < SEEN; k++) times[k] = s->h->t0 + (s->h->t1 - s->h->t0) * (0.23 + 0.31 * k);
    return (costate_functional){.m = FUNCTIONALS, .at_end = at_end, .count = observed ? SEEN : 0, .t = times,
                                .at_time = at_time, .ctx = g};
}

static int estimate(const session *s, costate *c, const costate_tape *tape, int observed, result *r)
{
    double weights[FUNCTIONALS * N_MOST], times[SEEN];
    unsigned seed = 3;
    random_fill(&seed, FUNCTIONALS * N_MOST, weights);
    goals g = {.n = s->h->n, .N = s->N, .weights = weights};
    const costate_functional F = functional(s, &g, times, observed);
    costate_estimate e = {.run = into(&r->run), .error = into(&r->error), .better = into(&r->better)};
    memset(r->parts, 0, sizeof r->parts);
    assert_true(costate_tape_steps(tape) <= STEPS_MOST);
    e.steps = r->parts;
    int status = costate_accuracy(c, tape, &F, &e);
    r->refined = e.steps_refined;
    return status;
}

/* ---- against a run with tight tolerances ---- */

static double distance(int n, const double *a, const double *b)
{
    double sum = 0;
    for (int i = 0; i < n; i++) sum += (a[i] - b[i]) * (a[i] - b[i]);
    return sqrt(sum);
}

static double length(int n, const double *a)
{
    double sum = 0;
    for (int i = 0; i < n; i++) sum += a[i] * a[i];
    return sqrt(sum);
}

typedef struct { int all, low, high, far; double better; } tally;        /* ratio below 0.3, above 3, above 10 */

/* one quantity of both functionals; too small errors are those of the reference */
static void compare(int n, const double *run, const double *error, const double *better, const double *truth, tally *t)
{
    for (int j = 0; j < FUNCTIONALS; j++, run += n, error += n, better += n, truth += n) {
        double off = distance(n, run, truth), size = length(n, truth), said = length(n, error);
        if (off <= 1e-9 * (size + 1e-3)) continue;
        double ratio = said / off;
        t->all++;
        t->low += !(ratio > 0.3);
        t->high += ratio > 3;
        t->far += ratio > 10;
        t->better += fmin(distance(n, better, truth) / off, 10);        /* off may happen to be nearly 0 */
    }
}

static void compare_all(const session *s, const result *r, const numbers *truth, tally *t)
{
    const numbers *a = &r->run, *e = &r->error, *b = &r->better;
    compare(1, a->value, e->value, b->value, truth->value, t);
    compare(s->N, a->y0, e->y0, b->y0, truth->y0, t);
    compare(s->h->np, a->p, e->p, b->p, truth->p, t);
    compare(1, a->t0, e->t0, b->t0, truth->t0, t);
    compare(1, a->t1, e->t1, b->t1, truth->t1, t);
    compare(s->events, a->events, e->events, b->events, truth->events, t);
}

/* the parts of the steps make up the error of the value */
static void check_parts(const session *s, const result *r)
{
    int steps = costate_tape_steps(s->tape);
    for (int j = 0; j < FUNCTIONALS; j++) {
        double sum = 0, size = 0;
        for (int k = 0; k < steps; k++) {
            sum += r->parts[j * steps + k];
            size += fabs(r->parts[j * steps + k]);
        }
        if (fabs(sum - r->error.value[j]) > 0.05 * size + 1e-10)
            fail_msg("%s, %s, storage %d: parts of steps add up to %.3e, the error of the value is %.3e",
                     method_name(s->m),
                     s->h->name, s->o.storage, sum, r->error.value[j]);
    }
}

static costate_options options_of(const costate_method *m, const hybrid *h, double tol, int storage)
{
    return (costate_options){.rtol = tol, .atol = tol, .mode = h->mode, .storage = storage, .cost_error = 1,
                             .checkpoints = 0, .consistent = h->form == HYBRID_ODE ? 0 : 3, .max_steps = 1000000,
                             .stage_solve = is_newton(m) ? COSTATE_STAGE_DIRECT : 0};
}

static const costate_method *tight_method(const hybrid *h)
{
    return costate_method_find(h->form == HYBRID_ODE ? "verner98" : "radau2a5");
}

/* Of index 2, derivatives with respect to times of events inside a run lose an order: those of radau2a1 do not
   converge, and those of methods of order 2 do with order 1, where estimates take 2: those of lobatto3c2 are up to 40
   times too large or too small. */
static int no_order(const costate_method *m, const hybrid *h)
{
    return h->form == HYBRID_INDEX_2 && method_info(m).order < 3;
}

static void estimates(void **state)
{
    NEEDS_ESTIMATE(*state);
    const costate_method *m = *state;
    const hybrid *h;
    static result exact, r, again;
    tally t = {0};
    for (int k = 0; (h = hybrid_at(k)); k++) {
        if (h->reference || !hybrid_takes(m, h) || no_order(m, h)) continue;
        if (hybrid_is_even(h) && h->form != HYBRID_ODE) continue;       /* halved steps have other round-off */
        session tight = session_ran(tight_method(h), h, options_of(tight_method(h), h, 1e-12, 0));
        for (int observed = 0; observed < 2; observed++) {
            if (estimate(&tight, tight.c, tight.tape, observed, &exact)) fail_msg("%s: %s", h->name,
                                                                                  costate_message(tight.c));
            for (int storage = COSTATE_ALL_STAGES; storage <= COSTATE_CHECKPOINTS; storage++) {
                session s = session_ran(m, h, options_of(m, h, 1e-5, storage));
                result *to = storage == COSTATE_ALL_STAGES ? &r : &again;
                if (estimate(&s, s.c, s.tape, observed, to)) fail_msg("%s, %s: %s", method_name(m), h->name,
                                                                      costate_message(s.c));
                check_parts(&s, to);
                compare_all(&s, to, &exact.run, &t);
                session_close(&s);
            }
        }
        session_close(&tight);
    }
    assert_true(t.all > 20);
    if (t.low > 0.05 * t.all || t.far > 0.05 * t.all || t.high > 0.1 * t.all || t.better > 0.8 * t.all)
        fail_msg("%s: of %d estimates %d are less than 0.3 of the error, %d more than 3 times it, %d more than 10; "
                 "what is "
                 "extrapolated has %.2f of the error", method_name(m), t.all, t.low, t.high, t.far, t.better / t.all);
}

/* ---- runs made in pieces: continued, stopped at a terminal event and continued, read from a file ---- */

static const double one = 1;
static int fall(const costate_point *x, double *f, void *ctx)
{
    (void)ctx;
    f[0] = x->y[1];
    f[1] = -x->p[0] - 0.1 * x->y[1] * x->y[1] * x->y[1];
    return 0;
}
static int fall_tangent(const costate_point *x, const costate_point *dx, double *f, void *ctx)
{
    (void)ctx;
    double v = x->y[1];
    f[0] = dx->y ? dx->y[1] : 0;
    f[1] = (dx->p ? -dx->p[0] : 0) - (dx->y ? 0.3 * v * v * dx->y[1] : 0);
    return 0;
}
static int fall_adjoint(const costate_point *x, const double *w, const costate_gradient *g, void *ctx)
{
    (void)ctx;
    double v = x->y[1];
    if (g->y) g->y[1] += w[0] - 0.3 * v * v * w[1];
    if (g->p) g->p[0] -= w[1];
    return 0;
}
static int ground(const costate_point *x, double *e, void *ctx) { return (void)ctx, *e = x->y[0], 0; }
static int ground_tangent(const costate_point *x, const costate_point *dx, double *e, void *ctx)
{
    return (void)x, (void)ctx, *e = dx->y ? dx->y[0] : 0, 0;
}
static int ground_adjoint(const costate_point *x, const double *w, const costate_gradient *g, void *ctx)
{
    if (g->y) g->y[0] += w[0];
    return (void)x, (void)ctx, 0;
}
static int bounce(const costate_point *x, double *y, void *ctx)
{
    return (void)ctx, y[0] = x->y[0], y[1] = -0.8 * x->y[1], 0;
}
static int bounce_tangent(const costate_point *x, const costate_point *dx, double *y, void *ctx)
{
    return (void)x, (void)ctx, y[0] = dx->y ? dx->y[0] : 0, y[1] = dx->y ? -0.8 * dx->y[1] : 0, 0;
}
static int bounce_adjoint(const costate_point *x, const double *w, const costate_gradient *g, void *ctx)
{
    if (g->y) {
        g->y[0] += w[0];
        g->y[1] -= 0.8 * w[1];
    }
    return (void)x, (void)ctx, 0;
}

static costate_event floor_event(int terminal)
{
    return (costate_event){.guard = {ground, ground_tangent, .adjoint = ground_adjoint}, .direction = -1,
                           .terminal = terminal,
                           .jump = {bounce, bounce_tangent, .adjoint = bounce_adjoint}, .from = COSTATE_ANY_MODE,
                           .to = COSTATE_SAME_MODE};
}

static int height(double t1, const double *y, const double *p, int m, double *value, double *lambda, double *mu,
                  double *end,
                  void *ctx)
{
    (void)t1, (void)p, (void)m, (void)mu, (void)end, (void)ctx;
    value[0] = y[0];
    lambda[0] = 1;
    return 0;
}

enum piece { WHOLE, CONTINUED, TERMINAL, IN_A_FILE, READ_AGAIN };

/* y(6) of a ball that bounces three times until then, and its error as estimated; the run is made as `how` says */
static void ball(int how, double rtol, double *value, double *error, double *by_p, double *by_p_error)
{
    const costate_event e = floor_event(how == TERMINAL);
    const costate_problem P = {.n = 2, .np = 1, .rhs = {fall, fall_tangent, .adjoint = fall_adjoint}, .nevents = 1,
                               .event = &e};
    const costate_options o = {.rtol = rtol, .atol = rtol, .storage = how == IN_A_FILE ? COSTATE_CHECKPOINTS : 0};
    const char *path = "test_accuracy.tape";
    costate *c = costate_new(costate_method_find("dopri5"), &P, &o);
    costate_tape *tape = how >= IN_A_FILE ? costate_tape_open(path) : costate_tape_new();
    double y[2] = {1, 0.3};
    if (how == CONTINUED) {
        CHECK_OK(c, costate_integrate(c, 0, 0.4, y, &one, tape));
        CHECK_OK(c, costate_continue(c, tape, 2.9, y));
        CHECK_OK(c, costate_continue(c, tape, 6, y));
    } else {
        CHECK_OK(c, costate_integrate(c, 0, 6, y, &one, tape));
        for (int k = 0; how == TERMINAL && costate_time(c) < 6; k++) {
            assert_true(k < 5);
            CHECK_OK(c, costate_continue(c, tape, 6, y));
        }
    }
    assert_int_equal(costate_tape_events(tape), how == CONTINUED ? 5 : 3);
    if (how == READ_AGAIN) {
        costate_tape_free(tape);
        tape = costate_tape_open(path);
        CHECK_OK(c, costate_tape_read(c, tape));
    }
    const costate_functional F = {.m = 1, .at_end = height};
    costate_estimate r = {.run = {.value = value, .p = by_p}, .error = {.value = error, .p = by_p_error}};
    CHECK_OK(c, costate_accuracy(c, tape, &F, &r));
    assert_true(*value == y[0]);
    costate_tape_free(tape);
    costate_free(c);
    if (how >= IN_A_FILE) remove(path);
}

static void pieces(void **state)
{
    (void)state;
    double exact, none, exact_by_p;
    ball(WHOLE, 1e-12, &exact, &none, &exact_by_p, &none);
    for (int how = WHOLE; how <= READ_AGAIN; how++)
        for (double rtol = 1e-3; rtol > 1e-8; rtol /= 10) {
            double value, error, by_p, by_p_error;
            ball(how, rtol, &value, &error, &by_p, &by_p_error);
            double ratio = error / (exact - value), of_p = by_p_error / (exact_by_p - by_p);
            if (!(ratio > 0.3 && ratio < 3 && of_p > 0.3 && of_p < 3))
                fail_msg("%d, rtol %.0e: the error of the value is %.2e, estimated %.2e; by p %.2e, %.2e", how, rtol,
                         exact - value, error, exact_by_p - by_p, by_p_error);
        }
}

/* ---- what it refuses, and what goes wrong ---- */

static int decay(const costate_point *x, double *f, void *ctx)
{
    long *calls = ctx;
    if (calls && (*calls == -1 || (*calls > 0 && --*calls == 0))) return 1;
    return f[0] = -x->y[0], 0;
}
static int decay_tangent(const costate_point *x, const costate_point *dx, double *f, void *ctx)
{
    return (void)x, (void)ctx, f[0] = dx->y ? -dx->y[0] : 0, 0;
}
static int decay_adjoint(const costate_point *x, const double *w, const costate_gradient *g, void *ctx)
{
    if (g->y) g->y[0] -= w[0];
    return (void)x, (void)ctx, 0;
}

static int zero(const costate_point *x, const costate_point *dx, const double *w, const costate_gradient *g, void *ctx)
{
    return (void)x, (void)dx, (void)w, (void)g, (void)ctx, 0;
}

typedef struct { costate_problem P; costate *c; costate_tape *tape; double y; long calls; } decaying;

static decaying *decayed(const char *method, costate_options o)
{
    decaying *d = calloc(1, sizeof *d);
    d->P = (costate_problem){.n = 1, .rhs = {decay, decay_tangent, decay_adjoint, .adjoint_tangent = zero},
                             .ctx = &d->calls};
    d->c = costate_new(costate_method_find(method), &d->P, &o);
    d->tape = costate_tape_new();
    d->y = 1;
    CHECK_OK(d->c, costate_integrate(d->c, 0, 2, &d->y, NULL, d->tape));
    return d;
}

static void end(decaying *d)
{
    costate_tape_free(d->tape);
    costate_free(d->c);
    free(d);
}

static int returns_7(double t1, const double *y, const double *p, int m, double *value, double *lambda, double *mu,
                     double *end_, void *ctx)
{
    (void)t1, (void)y, (void)p, (void)m, (void)value, (void)lambda, (void)mu, (void)end_, (void)ctx;
    return 7;
}
static int not_finite(double t1, const double *y, const double *p, int m, double *value, double *lambda, double *mu,
                      double *end_, void *ctx)
{
    (void)t1, (void)y, (void)p, (void)m, (void)value, (void)mu, (void)end_, (void)ctx;
    return lambda[0] = NAN, 0;
}
static int squared(int k, double t, const double *y, int m, double *value, double *w, void *ctx)
{
    (void)k, (void)t, (void)m, (void)ctx;
    return value[0] = y[0] * y[0] / 2, w[0] = y[0], 0;
}
static int returns_8(int k, double t, const double *y, int m, double *value, double *w, void *ctx)
{
    (void)k, (void)t, (void)y, (void)m, (void)value, (void)w, (void)ctx;
    return 8;
}

static void refused(decaying *d, const costate_functional *F, int expected, const char *words)
{
    double value = 5, g = 6;
    costate_estimate e = {.run = {.value = &value, .y0 = &g}};
    int status = costate_accuracy(d->c, d->tape, F, &e);
    if (status != expected || !strstr(costate_message(d->c), words))
        fail_msg("%s: %s: %s", words, costate_status_name(status), costate_message(d->c));
    assert_true(value == 5 && g == 6);
}

static void refusals(void **state)
{
    (void)state;
    decaying *d = decayed("dopri5", (costate_options){.rtol = 1e-5});
    double early = -1, late = 1.5;
    costate_estimate e = {.run = {.value = &late}};
    costate_tape *empty = costate_tape_new();
    refused(d, NULL, COSTATE_BAD_ARGUMENT, "functional is NULL");
    refused(d, &(costate_functional){.m = 0, .at_end = height}, COSTATE_BAD_ARGUMENT, "functional.m = 0");
    refused(d, &(costate_functional){.m = 1}, COSTATE_MISSING, "functional.at_end is missing");
    refused(d, &(costate_functional){.m = 1, .count = 1, .t = &late}, COSTATE_MISSING, "functional.at_time is missing");
    refused(d, &(costate_functional){.m = 1, .count = 1, .at_time = squared}, COSTATE_BAD_ARGUMENT, "t is NULL");
    refused(d, &(costate_functional){.m = 1, .count = -1, .at_end = height}, COSTATE_BAD_ARGUMENT, "count is negative");
    refused(d, &(costate_functional){.m = 1, .count = 1, .t = &early, .at_time = squared}, COSTATE_OUT_OF_RANGE,
            "lies outside the run");
    refused(d, &(costate_functional){.m = 1, .at_end = returns_7}, COSTATE_CALLBACK, "functional.at_end returned 7");
    refused(d, &(costate_functional){.m = 1, .count = 1, .t = &late, .at_time = returns_8}, COSTATE_CALLBACK,
            "functional.at_time returned 8");
    refused(d, &(costate_functional){.m = 1, .at_end = not_finite}, COSTATE_BAD_ARGUMENT, "set a gradient to NaN");
    assert_int_equal(costate_accuracy(d->c, d->tape, &(costate_functional){.m = 1, .at_end = height}, NULL),
                     COSTATE_BAD_ARGUMENT);
    assert_int_equal(costate_accuracy(d->c, empty, &(costate_functional){.m = 1, .at_end = height}, &e),
                     COSTATE_BAD_TAPE);
    assert_int_equal(costate_accuracy(NULL, d->tape, &(costate_functional){.m = 1, .at_end = height}, &e),
                     COSTATE_BAD_ARGUMENT);
    costate_tape_free(empty);
    end(d);
}

/* f of the halved run is not defined once: that half is split further; it is never defined: the status says so */
static void undefined_with(costate_options o)
{
    const costate_functional F = {.m = 1, .at_end = height};
    double value = 7, error;
    costate_estimate e = {.run = {.value = &value}, .error = {.value = &error}};
    decaying *d = decayed("dopri5", o);
    d->calls = -1;
    assert_int_equal(costate_accuracy(d->c, d->tape, &F, &e), COSTATE_CALLBACK);
    if (!strstr(costate_message(d->c), "The run with halved steps, which estimates errors, failed: Method dopri5 "
                                       "stopped at t = 0"))
        fail_msg("%s", costate_message(d->c));
    assert_true(value == 7);
    d->calls = 20;
    CHECK_OK(d->c, costate_accuracy(d->c, d->tape, &F, &e));
    assert_true(e.steps_refined > 2 * costate_tape_steps(d->tape));
    assert_true(e.steps_refined <= 2 * costate_tape_steps(d->tape) + 4);
    double ratio = error / (exp(-2) - value);
    assert_true(ratio > 0.5 && ratio < 2);
    end(d);
}

static void undefined(void **state)
{
    (void)state;
    undefined_with((costate_options){.rtol = 1e-5});
    undefined_with((costate_options){.controller = COSTATE_FIXED, .h0 = 0.2});
}

/* the sweep of the solver gives the same bits after an estimate as before; its work is counted */
static void leaves_no_trace(void **state)
{
    const costate_method *m = *state;
    if (!method_info(m).embedded) skip();
    for (int storage = COSTATE_ALL_STAGES; storage <= COSTATE_CHECKPOINTS; storage++) {
        decaying *d = decayed(method_name(m), (costate_options){.rtol = 1e-4, .storage = storage});
        double before = 1, after = 1, value, error;
        costate_estimate e = {.run = {.value = &value}, .error = {.y0 = &error}};
        CHECK_OK(d->c, costate_adjoint(d->c, d->tape, 1, &before, NULL, NULL, NULL));
        long steps = costate_get_stats(d->c)->accepted;
        CHECK_OK(d->c, costate_accuracy(d->c, d->tape, &(costate_functional){.m = 1, .at_end = height}, &e));
        assert_true(costate_get_stats(d->c)->accepted >= steps + 2 * costate_tape_steps(d->tape) - 2);
        assert_true(costate_time(d->c) == 2);
        CHECK_OK(d->c, costate_adjoint(d->c, d->tape, 1, &after, NULL, NULL, NULL));
        assert_memory_equal(&before, &after, sizeof before);
        end(d);
    }
}

/* costate_check_adjoint says how accurate the gradient is: y(2) by y0 is exp(-2), whatever the weight */
static void in_the_check(void **state)
{
    (void)state;
    for (double rtol = 1e-2; rtol > 1e-7; rtol /= 100) {
        decaying *d = decayed("dopri5", (costate_options){.rtol = rtol, .atol = rtol});
        double start = 1, lambda = 1;
        costate_report r;
        CHECK_OK(d->c, costate_check_adjoint(d->c, 0, 2, &start, NULL, &r));
        CHECK_OK(d->c, costate_adjoint(d->c, d->tape, 1, &lambda, NULL, NULL, NULL));
        double ratio = r.accuracy / fabs(lambda / exp(-2) - 1);
        if (!(ratio > 0.3 && ratio < 3)) fail_msg("accuracy %.2e, ratio %.2f", r.accuracy, ratio);
        char words[80];
        snprintf(words, sizeof words, "exact for these steps; relative to the solution it is right to about %.0e",
                 r.accuracy);
        if (!strstr(r.text, words)) fail_msg("%s: %s", words, r.text);
        end(d);
    }
}

/* one functional of many times, without an end, and without products: its value alone */
static void values_alone(void **state)
{
    (void)state;
    costate_problem P = {.n = 1, .rhs = {.value = decay}};
    costate *c = costate_new(costate_method_find("tsit5"), &P, &(costate_options){.rtol = 1e-4, .atol = 1e-4});
    costate_tape *tape = costate_tape_new();
    double y = 1, times[] = {0, 0.7, 0.7, 2}, value, error, exact = 0;
    CHECK_OK(c, costate_integrate(c, 0, 2, &y, NULL, tape));
    for (int k = 0; k < 4; k++) exact += exp(-2 * times[k]) / 2;
    costate_estimate e = {.run = {.value = &value}, .error = {.value = &error}};
    CHECK_OK(c, costate_accuracy(c, tape, &(costate_functional){.m = 1, .count = 4, .t = times, .at_time = squared},
                                 &e));
    double ratio = error / (exact - value);
    if (!(ratio > 0.3 && ratio < 3)) fail_msg("error %.2e, estimated %.2e", exact - value, error);
    e.error.y0 = &error;
    assert_int_equal(costate_accuracy(c, tape, &(costate_functional){.m = 1, .at_end = height}, &e), COSTATE_MISSING);
    costate_tape_free(tape);
    costate_free(c);
}

/* A ball that the coarse run sees touch the ground, and the halved one does not: other events, no estimate. */
static void other_events(void **state)
{
    (void)state;
    const costate_event e = floor_event(0);
    const costate_problem P = {.n = 2, .np = 1, .rhs = {fall, fall_tangent, .adjoint = fall_adjoint}, .nevents = 1,
                               .event = &e};
    int refused_once = 0;
    for (int k = 0; k < 200; k++) {
        const costate_options o = {.controller = COSTATE_FIXED, .h0 = 1.1, .autonomous = 1};
        costate *c = costate_new(costate_method_find("euler"), &P, &o);
        if (costate_status(c)) c = (costate_free(c), costate_new(costate_method_find("bs32"), &P, &o));
        costate_tape *tape = costate_tape_new();
        double y[2] = {0.6, -0.9 - 0.005 * k}, t1 = 0.55, value = 3, error;
        if (costate_integrate(c, 0, t1, y, &one, tape) == COSTATE_OK) {
            costate_estimate r = {.run = {.value = &value}, .error = {.value = &error}};
            int status = costate_accuracy(c, tape, &(costate_functional){.m = 1, .at_end = height}, &r);
            if (status == COSTATE_ACCURACY) {
                assert_non_null(strstr(costate_message(c), "With halved steps other events occur"));
                assert_true(value == 3);
                refused_once = 1;
            } else CHECK_OK(c, status);
        }
        costate_tape_free(tape);
        costate_free(c);
    }
    assert_true(refused_once);
}

static int more(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pieces), cmocka_unit_test(refusals), cmocka_unit_test(undefined),
            cmocka_unit_test(values_alone), cmocka_unit_test(in_the_check),
        cmocka_unit_test(other_events)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

int main(void)
{
    int failed = more();
    failed += run_by_method("leaves_no_trace", leaves_no_trace);
    return failed + run_by_kind("estimates", estimates);
}
