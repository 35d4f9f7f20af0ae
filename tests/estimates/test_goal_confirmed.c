/* test_goal_confirmed.c - costate_gradient_within says OK only after plain runs beside its own agree: what they find,
   how near they look, and what they leave alone. */
#include <costate/accuracy.h>
#include "common.h"

/* ---- f that jumps where y passes 1: y' = a below and b above, so that y(T) = 1 + b (T - (1 - y0)/a) ---- */

static int below(const costate_point *x) { return x->y[0] < 1; }
static int relay(const costate_point *x, double *f, void *ctx) { return (void)ctx, f[0] = x->p[below(x) ? 0 : 1], 0; }
static int relay_tangent(const costate_point *x, const costate_point *dx, double *f, void *ctx)
{
    return (void)ctx, f[0] = dx->p ? dx->p[below(x) ? 0 : 1] : 0, 0;
}
static int relay_adjoint(const costate_point *x, const double *w, const costate_gradient *g, void *ctx)
{
    (void)ctx;
    if (g->p) g->p[below(x) ? 0 : 1] += w[0];
    return 0;
}

static int modes(const costate_point *x, double *f, void *ctx) { return (void)ctx, f[0] = x->p[x->mode], 0; }
static int modes_tangent(const costate_point *x, const costate_point *dx, double *f, void *ctx)
{
    return (void)ctx, f[0] = dx->p ? dx->p[x->mode] : 0, 0;
}
static int modes_adjoint(const costate_point *x, const double *w, const costate_gradient *g, void *ctx)
{
    (void)ctx;
    if (g->p) g->p[x->mode] += w[0];
    return 0;
}

static int one(const costate_point *x, double *e, void *ctx) { return (void)ctx, e[0] = x->y[0] - 1, 0; }
static int one_tangent(const costate_point *x, const costate_point *dx, double *e, void *ctx)
{
    return (void)x, (void)ctx, e[0] = dx->y ? dx->y[0] : 0, 0;
}
static int one_adjoint(const costate_point *x, const double *w, const costate_gradient *g, void *ctx)
{
    (void)x, (void)ctx;
    if (g->y) g->y[0] += w[0];
    return 0;
}

static int first(double t1, const double *y, const double *p, int m, double *value, double *lambda, double *mu,
                 double *end, void *ctx)
{
    (void)t1, (void)p, (void)mu, (void)end;
    for (int j = 0; j < m; j++) value[j] = ctx && j == 0 ? 1 : y[0], lambda[j] = ctx && j == 0 ? 0 : 1;
    return 0;
}

typedef struct { int status; double value, y0, p[2]; char text[800]; costate_stats count; int steps; } answer;

static answer crossing(const costate_method *m, int known, double way, double tol)
{
    const costate_event e = {.guard = {.value = one, .tangent = one_tangent, .adjoint = one_adjoint},
                             .from = COSTATE_ANY_MODE, .to = 1};
    costate_problem P = {.n = 1, .np = 2, .rhs = {relay, relay_tangent, .adjoint = relay_adjoint}};
    if (known) {
        P.rhs = (costate_map){modes, modes_tangent, .adjoint = modes_adjoint};
        P.event = &e;
        P.nevents = 1;
    }
    costate *c = costate_new(m, &P, &(costate_options){.differences = 1});
    double y[] = {0.2}, p[] = {way, 3 * way};
    answer a = {0};
    costate_goal g = {.tol = tol, .estimate = {.run = {.value = &a.value, .y0 = &a.y0, .p = a.p}}};
    a.status = costate_gradient_within(c, 0, 2 * way, y, p, &(costate_functional){.m = 1, .at_end = first}, &g, NULL);
    snprintf(a.text, sizeof a.text, "%s", costate_message(c));
    costate_free(c);
    return a;
}

/* Without the event the gradient is 1 instead of b/a = 3, and here and there the value is wrong, too. */
static void jumps_of_f(void **state)
{
    (void)state;
    const char *methods[] = {"dopri5", "verner76", "rodas4", "sdirk4a", "radau2a", "auto"};
    int wrong = 0;
    for (int k = 0; k < 6; k++)
        for (double tol = 1e-2; tol > 1e-7; tol /= 100)
            for (int way = -1; way <= 1; way += 2) {
                const costate_method *m = costate_method_find(methods[k]);
                answer a = crossing(m, 0, way, tol), b = crossing(m, 1, way, tol);
                wrong += strstr(a.text, "disagrees") != NULL;
                if (a.status != COSTATE_ACCURACY)
                    fail_msg("%s, tol %.0e: %d, %s", methods[k], tol, a.status, a.text);
                if (b.status) fail_msg("%s, tol %.0e: %s", methods[k], tol, b.text);
                const double exact[] = {1 + 3 * (2 - 0.8), 3, 3 * 0.8 * way, 1.2 * way},
                             found[] = {b.value, b.y0, b.p[0], b.p[1]};
                for (int i = 0; i < 4; i++)
                    if (!(fabs(found[i] - exact[i]) <= 3 * tol * fabs(exact[i])))
                        fail_msg("%s, tol %.0e: %d: %.9g, not %.9g", methods[k], tol, i, found[i], exact[i]);
            }
    assert_true(wrong > 20);
}

/* ---- a pulse of f(t) that long steps pass over: y' = 1 in (t0, t0 + w), T = 100 ---- */

typedef struct { double from, width; } pulse;

static int pulsed(const costate_point *x, double *f, void *ctx)
{
    const pulse *q = ctx;
    f[0] = -0.01 * x->y[0] + (x->t > q->from && x->t < q->from + q->width ? x->p[0] : 0);
    return 0;
}
static int pulsed_tangent(const costate_point *x, const costate_point *dx, double *f, void *ctx)
{
    const pulse *q = ctx;
    f[0] = (dx->y ? -0.01 * dx->y[0] : 0) + (dx->p && x->t > q->from && x->t < q->from + q->width ? dx->p[0] : 0);
    return 0;
}
static int pulsed_adjoint(const costate_point *x, const double *w, const costate_gradient *g, void *ctx)
{
    const pulse *q = ctx;
    if (g->y) g->y[0] -= 0.01 * w[0];
    if (g->p && x->t > q->from && x->t < q->from + q->width) g->p[0] += w[0];
    return 0;
}

static int passes_over(double from, double width, int autonomous, char *text)
{
    pulse q = {from, width};
    const costate_problem P = {.n = 1, .np = 1, .ctx = &q, .rhs = {pulsed, pulsed_tangent, .adjoint = pulsed_adjoint}};
    costate *c = costate_new(costate_method_find("dopri5"), &P,
                             &(costate_options){.rtol = 1e-4, .autonomous = autonomous});
    double y[] = {1}, p = 1, value;
    costate_goal g = {.tol = 1e-3, .estimate = {.run = {.value = &value}}};
    int status = costate_gradient_within(c, 0, 100, y, &p, &(costate_functional){.m = 1, .at_end = first}, &g, NULL);
    strcpy(text, costate_message(c));
    double exact = exp(-1) + 100 * (exp(-0.01 * (100 - from - width)) - exp(-0.01 * (100 - from)));
    int right = fabs(value - exact) < 3e-3 * exact;
    costate_free(c);
    return status ? status : right ? COSTATE_OK : 1;
}

/* Pulses of 1.3, wider than what steps of a fiftieth, 2, leave between two stages of dopri5, are always found: a wrong
   value is never OK.  Where f is said not to depend on t, nobody looks. */
static void pulses(void **state)
{
    (void)state;
    char text[800];
    int blind = 0, said = 0;
    for (double from = 3; from < 95; from += 3.7) {
        int status = passes_over(from, 1.3, 0, text);
        if (status != COSTATE_OK && status != COSTATE_ACCURACY) fail_msg("pulse at %g: %d %s", from, status, text);
        said += status == COSTATE_ACCURACY && strstr(text, "longer steps pass over something");
        blind += passes_over(from, 1.3, 1, text) == 1;
    }
    assert_true(said >= 3 && blind >= said);
}

/* ---- what is compared, with values and gradients that the functional pretends ---- */

typedef struct {
    double gradient, slope, cubic, looked[2];   /* claimed; derivatives of the value; values of runs that look */
    int calls, looks, sides;
    long f, before, of_side[8], of_look[8];     /* evaluations of f: now, at the last call, of runs */
    double delta[8];
    int m, wrong;
} world;

static int decay(const costate_point *x, double *f, void *ctx)
{
    ((world *)ctx)->f++;
    return f[0] = -x->y[0], f[1] = -2 * x->y[1] * x->y[1], 0;
}
static int decay_tangent(const costate_point *x, const costate_point *dx, double *f, void *ctx)
{
    (void)ctx;
    return f[0] = dx->y ? -dx->y[0] : 0, f[1] = dx->y ? -4 * x->y[1] * dx->y[1] : 0, 0;
}
static int decay_adjoint(const costate_point *x, const double *w, const costate_gradient *g, void *ctx)
{
    (void)ctx;
    if (g->y) g->y[0] -= w[0], g->y[1] -= 4 * x->y[1] * w[1];
    return 0;
}

/* The value is 1 + slope d + cubic d^3 with d = p - 1, which f does not know. */
static int pretends(double t1, const double *y, const double *p, int m, double *value, double *lambda, double *mu,
                    double *end, void *ctx)
{
    world *x = ctx;
    (void)t1, (void)y, (void)lambda, (void)end;
    double d = p[0] - 1;
    long f = x->f - x->before;
    x->before = x->f;
    for (int j = 0; j < m; j++) {
        value[j] += 1 + (j == x->wrong ? x->slope : x->gradient) * d + x->cubic * d * d * d;
        mu[j] += x->gradient;
    }
    if (d != 0) {
        assert_true(x->sides < 8);
        x->of_side[x->sides] = f;
        x->delta[x->sides++] = d;
    } else if (x->calls >= 2) {
        assert_true(x->looks < 2);
        x->of_look[x->looks] = f;
        value[0] = x->looked[x->looks++];
    }
    return x->calls++, 0;
}

typedef struct {
    double tol, rtol;
    int autonomous, m;
    double value_atol, gradient_atol, hmax;
    const char *method;
    int controlled;                             /* options.gradient_control */
} setting;

static const costate_method *method_of(const char *name) { return costate_method_find(name ? name : "dopri5"); }

static int confirmed(world *x, setting s, char *text)
{
    const costate_problem P = {.n = 2, .np = 1, .ctx = x, .rhs = {decay, decay_tangent, .adjoint = decay_adjoint}};
    costate *c = costate_new(method_of(s.method), &P, &(costate_options){.rtol = s.rtol, .atol = s.rtol, .hmax = s.hmax,
                                                                         .autonomous = s.autonomous,
                                                                         .gradient_control = s.controlled});
    double y[] = {1, 1}, p = 1, by_p[4];
    costate_goal g = {.tol = s.tol, .factor = 1, .value_atol = s.value_atol, .gradient_atol = s.gradient_atol,
                      .estimate = {.run = {.p = by_p}}};
    x->calls = x->looks = x->sides = 0;
    x->f = x->before = 0;
    int status = costate_gradient_within(c, 0, 1, y, &p, &(costate_functional){.m = s.m ? s.m : 1, .at_end = pretends,
                                                                               .ctx = x}, &g, NULL);
    assert_int_equal(g.rounds, 1);
    assert_true(costate_get_stats(c)->f == x->f);               /* those of all runs */
    if (text) snprintf(text, 800, "%s", costate_message(c));
    costate_free(c);
    return status;
}

/* evaluations of f of a plain run with these tolerances and this hmax */
static long plain(double rtol, double hmax, const char *method)
{
    world x = {0};
    const costate_problem P = {.n = 2, .np = 1, .ctx = &x, .rhs = {decay, decay_tangent, .adjoint = decay_adjoint}};
    costate *c = costate_new(method_of(method), &P, &(costate_options){.rtol = rtol, .atol = rtol, .hmax = hmax});
    double y[] = {1, 1}, p = 1;
    CHECK_OK(c, costate_integrate(c, 0, 1, y, &p, NULL));
    costate_free(c);
    return x.f;
}

/* Slopes may differ by twice what is allowed; tiny errors of the values leave the rest to 1e-5 of the slope. */
static void nearness(void **state)
{
    (void)state;
    const struct { double tol, off; int status, sides; } cases[] = {
        {1e-2, 1.9e-2, COSTATE_OK, 2}, {1e-2, 2.1e-2, COSTATE_ACCURACY, 4}, {1e-2, -1.9e-2, COSTATE_OK, 2},
        {1e-2, -2.1e-2, COSTATE_ACCURACY, 4}, {1e-3, 1.9e-3, COSTATE_OK, 2}, {1e-3, 2.2e-3, COSTATE_ACCURACY, 4},
        {1e-9, 0.9e-5, COSTATE_OK, 2}, {1e-9, 1.2e-5, COSTATE_ACCURACY, 4}, {1e-3, -1, COSTATE_ACCURACY, 4}};
    char text[800];
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        world x = {.gradient = 1, .slope = 1 + cases[k].off};
        int status = confirmed(&x, (setting){.tol = cases[k].tol, .rtol = 1e-12, .autonomous = 1}, text);
        if (status != cases[k].status || x.sides != cases[k].sides)
            fail_msg("%zu: %d after %d runs: %s", k, status, x.sides, text);
        if (status && !strstr(text, "gradient of functional 0 disagrees")) fail_msg("%s", text);
        assert_true(x.delta[0] == -x.delta[1] || fabs(x.delta[0] + x.delta[1]) < 1e-15);
    }
    world x = {.gradient = 1, .slope = 1.5};                    /* an error that is allowed in any case */
    assert_int_equal(confirmed(&x, (setting){.tol = 1e-2, .rtol = 1e-12, .autonomous = 1, .gradient_atol = 0.5}, text),
                     COSTATE_OK);
    assert_int_equal(confirmed(&x, (setting){.tol = 1e-2, .rtol = 1e-12, .autonomous = 1, .gradient_atol = 0.4}, text),
                     COSTATE_ACCURACY);
}

/* each of m functionals */
static void all_functionals(void **state)
{
    (void)state;
    char text[800];
    for (int wrong = 0; wrong < 3; wrong++) {
        world x = {.gradient = 1, .slope = 1.5, .wrong = wrong};
        assert_int_equal(confirmed(&x, (setting){.tol = 1e-2, .rtol = 1e-10, .autonomous = 1, .m = 3}, text),
                         COSTATE_ACCURACY);
        char words[60];
        snprintf(words, sizeof words, "gradient of functional %d disagrees", wrong);
        if (!strstr(text, words)) fail_msg("%s", text);
    }
    world x = {.gradient = 1, .slope = 1.5, .wrong = 3};
    assert_int_equal(confirmed(&x, (setting){.tol = 1e-2, .rtol = 1e-10, .autonomous = 1, .m = 3}, text), COSTATE_OK);
}

/* eps = 0.2 (E/S)^(1/3) with the error E = rtol (1 + S) of the value, S the change along d; at most 0.01; a tenth each
   time.  The third derivative is the reason why a right gradient is compared again, three times at most. */
static void lengths(void **state)
{
    (void)state;
    char text[800];
    world x = {.gradient = 1, .slope = 1};
    assert_int_equal(confirmed(&x, (setting){.tol = 0.5, .rtol = 1e-2, .autonomous = 1}, NULL), COSTATE_OK);
    double d = fabs(x.delta[0]) / 1e-2;
    assert_true(d >= 0.5 && d <= 1);
    for (double rtol = 1e-12; rtol < 1e-5; rtol *= 100)
        for (double gradient = 1e-2; gradient < 1e4; gradient *= 1e2) {
            x = (world){.gradient = gradient, .slope = gradient};
            confirmed(&x, (setting){.tol = 1e-2, .rtol = rtol, .autonomous = 1}, NULL);
            double S = gradient * d, error = (rtol + 100 * 2.220446049250313e-16) * (1 + S), wave = fmax(1, S),
                   eps = fmin(0.01, 0.2 * cbrt(error / S / (wave * wave)));
            if (!(fabs(fabs(x.delta[0]) / (eps * d) - 1) < 1e-6))
                fail_msg("rtol %g, gradient %g: %g, not %g", rtol, gradient, fabs(x.delta[0]), eps * d);
        }
    const struct { double far; int status, sides; } cases[] = {{10, COSTATE_OK, 4}, {1000, COSTATE_OK, 6},
                                                               {1e5, COSTATE_ACCURACY, 6}};
    for (int k = 0; k < 3; k++) {
        x = (world){.gradient = 1, .slope = 1};
        confirmed(&x, (setting){.tol = 1e-3, .rtol = 1e-9, .autonomous = 1}, NULL);
        x.cubic = cases[k].far * 2e-3 / pow(x.delta[0], 2);
        int status = confirmed(&x, (setting){.tol = 1e-3, .rtol = 1e-9, .autonomous = 1}, text);
        if (status != cases[k].status || x.sides != cases[k].sides)
            fail_msg("%g: %d after %d runs: %s", cases[k].far, status, x.sides, text);
        for (int i = 0; i + 2 < x.sides; i++) assert_true(fabs(x.delta[i + 2] / x.delta[i] - 0.1) < 1e-6);
    }
}

/* Tolerances of both runs: those of the run, or tighter until E/eps is a hundredth of S, but not below 1e-3 of them or
   1e-13; from one attempt to the next a hundredth. */
static void tolerances(void **state)
{
    (void)state;
    world x = {.gradient = 1, .slope = 2};
    confirmed(&x, (setting){.tol = 0.5, .rtol = 1e-2, .autonomous = 1}, NULL);
    double d = fabs(x.delta[0]) / 1e-2;
    const double rtols[] = {1e-3, 1e-5, 1e-7, 1e-9, 1e-11}, gradients[] = {1e-4, 1, 100};
    for (int k = 0; k < 30; k++) {
        const char *method = k < 15 ? "dopri5" : "radau2a";
        double rtol = rtols[k % 5], S = gradients[k / 5 % 3] * d;
        x = (world){.gradient = gradients[k / 5 % 3], .slope = 2 * gradients[k / 5 % 3]};
        confirmed(&x, (setting){.tol = 0.1, .rtol = rtol, .autonomous = 1, .method = method}, NULL);
        double eps = fabs(x.delta[0]) / d, error = (rtol + 100 * 2.220446049250313e-16) * (1 + S),
               tighter = fmin(1, fmax(fmax(1e-3, 1e-13 / rtol), 0.01 * eps * S / error));
        for (int i = 0; i < x.sides; i++) {
            long f = plain(rtol * tighter, 0, method);
            if (x.of_side[i] != f) fail_msg("%d, run %d: %ld, not %ld", k, i, x.of_side[i], f);
            if (i % 2) tighter = fmin(tighter, fmax(1e-2 * tighter, 1e-13 / rtol));
        }
    }
}

/* The run that looks: steps of a fiftieth; its value may differ by twice what is allowed, else it is made again with
   tighter tolerances, but not where it differs by more than twenty times. */
static void looks(void **state)
{
    (void)state;
    const struct { double off[2]; int status, looks; } cases[] = {
        {{1.9, 0}, COSTATE_OK, 1}, {{2.1, 1.9}, COSTATE_OK, 2}, {{2.1, 2.1}, COSTATE_ACCURACY, 2},
        {{-2.1, -1.9}, COSTATE_OK, 2}, {{-2.1, -2.1}, COSTATE_ACCURACY, 2}, {{19, 1}, COSTATE_OK, 2},
        {{21, 1}, COSTATE_ACCURACY, 1}};
    char text[800];
    for (int value_atol = 0; value_atol < 2; value_atol++)
        for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
            double unit = value_atol ? 3e-3 : 1e-3;
            world x = {.gradient = 1, .slope = 1, .looked = {1 + cases[k].off[0] * unit, 1 + cases[k].off[1] * unit}};
            int status = confirmed(&x, (setting){.tol = 1e-3, .rtol = 1e-9, .value_atol = value_atol * 2e-3}, text);
            if (status != cases[k].status || x.looks != cases[k].looks)
                fail_msg("%zu: %d after %d runs: %s", k, status, x.looks, text);
            if (status && !strstr(text, "Functional 0 is 1, and")) fail_msg("%s", text);
            assert_int_equal(x.of_look[0], plain(1e-9, 1.0 / 50, NULL));
            if (x.looks == 2) assert_int_equal(x.of_look[1], plain(1e-11, 1.0 / 50, NULL));
            assert_int_equal(x.sides, status ? 0 : 2);
            if (!status) assert_int_equal(x.of_side[0], plain(1e-9, 0, NULL));
        }
    assert_true(plain(1e-11, 1.0 / 50, NULL) > plain(1e-10, 1.0 / 50, NULL));
    world plainly = {.gradient = 1, .slope = 1, .looked = {1}};
    const setting controlled = {.tol = 1e-3, .rtol = 1e-9, .controlled = 1};
    assert_int_equal(confirmed(&plainly, controlled, text), COSTATE_OK);        /* plain: without tangents */
    assert_int_equal(plainly.of_side[0], plain(1e-9, 0, NULL));
    for (double hmax = 0.01; hmax < 0.1; hmax *= 4) {                           /* not longer than the caller allows */
        world x = {.gradient = 1, .slope = 1, .looked = {1}};
        assert_int_equal(confirmed(&x, (setting){.tol = 1e-3, .rtol = 1e-6, .hmax = hmax}, text), COSTATE_OK);
        assert_int_equal(x.looks, hmax > 1.0 / 50);                                 /* they are short already */
        if (x.looks) assert_int_equal(x.of_look[0], plain(1e-6, 1.0 / 50, NULL));
        assert_int_equal(x.of_side[0], plain(1e-6, hmax, NULL));
    }
}

/* An entry of the gradient may be wrong by as much as its estimate says, if it is small in the norm of the gradient:
   here (1000, 0.001), where p is (1e-6, 1000), and the second entry is 0.002 by halved steps and by all other runs. */
static int two_sizes(double t1, const double *y, const double *p, int m, double *value, double *lambda, double *mu,
                     double *end, void *ctx)
{
    world *x = ctx;
    (void)t1, (void)y, (void)m, (void)lambda, (void)end;
    value[0] += 1 + 1e3 * (p[0] - 1e-6) + 2e-3 * (p[1] - 1e3);
    mu[0] += 1e3, mu[1] += x->calls == x->wrong ? 1e-3 : 2e-3;
    return x->calls++, 0;
}

static void claimed(void **state)
{
    (void)state;
    for (int wrong = 1; wrong < 3; wrong++) {               /* the run after the halved one, or none */
        world x = {.wrong = wrong};
        const costate_problem P = {.n = 2, .np = 2, .ctx = &x,
                                   .rhs = {decay, decay_tangent, .adjoint = decay_adjoint}};
        costate *c = costate_new(method_of(NULL), &P, &(costate_options){.rtol = 1e-9, .autonomous = 1});
        double y[] = {1, 1}, p[] = {1e-6, 1e3}, by_p[2];
        costate_goal g = {.tol = 1e-3, .factor = 1, .estimate = {.run = {.p = by_p}}};
        CHECK_OK(c, costate_gradient_within(c, 0, 1, y, p, &(costate_functional){.m = 1, .at_end = two_sizes,
                                                                                 .ctx = &x}, &g, NULL));
        assert_int_equal(x.calls, 4);
        costate_free(c);
    }
}

/* ---- runs beside this one ---- */

typedef struct { double p; int code; int steps; } refusing;

static int refuses(const costate_point *x, double *f, void *ctx)
{
    const refusing *r = ctx;
    if (x->p[0] != r->p && r->code) return r->code;
    return f[0] = -x->p[0] * x->y[0], 0;
}
static int refuses_tangent(const costate_point *x, const costate_point *dx, double *f, void *ctx)
{
    (void)ctx;
    return f[0] = -(dx->p ? dx->p[0] * x->y[0] : 0) - (dx->y ? x->p[0] * dx->y[0] : 0), 0;
}
static int refuses_adjoint(const costate_point *x, const double *w, const costate_gradient *g, void *ctx)
{
    (void)ctx;
    if (g->y) g->y[0] -= x->p[0] * w[0];
    if (g->p) g->p[0] -= x->y[0] * w[0];
    return 0;
}
static int counts(const costate_step *s, void *ctx) { return (void)s, ((refusing *)ctx)->steps++, 0; }

/* Where they fail, nothing is confirmed; they call no on_step, and their work is counted. */
static void beside(void **state)
{
    (void)state;
    refusing r = {.p = 0.5, .code = -1};
    costate_problem P = {.n = 1, .np = 1, .ctx = &r, .rhs = {refuses, refuses_tangent, .adjoint = refuses_adjoint}};
    for (int code = -1; code <= 0; code++) {
        r = (refusing){.p = 0.5, .code = code};
        costate *c = costate_new(costate_method_find("dopri5"), &P, &(costate_options){.on_step = counts,
                                                                                       .on_step_ctx = &r});
        costate_tape *tape = costate_tape_new();
        double y[] = {1}, p = 0.5, value, by_p;
        costate_goal g = {.tol = 1e-3, .estimate = {.run = {.value = &value, .p = &by_p}}};
        int status = costate_gradient_within(c, 0, 1, y, &p, &(costate_functional){.m = 1, .at_end = first}, &g, tape);
        if (code) {
            assert_int_equal(status, COSTATE_ACCURACY);
            if (!strstr(costate_message(c), "would confirm the gradient, fail: ")) fail_msg("%s", costate_message(c));
        } else {
            CHECK_OK(c, status);
            assert_true(costate_time(c) == 1);
        }
        assert_int_equal(g.rounds, 1);
        assert_int_equal(r.steps, costate_tape_steps(tape));
        if (!code) assert_true(costate_get_stats(c)->accepted >= 3 * r.steps + 50);
        costate_tape_free(tape);
        costate_free(c);
    }
}

/* A y0 that is 0 stays so, unless there is nothing else: then its size is what changes the value by as much as it is.
   */
static int shifted(double t1, const double *y, const double *p, int m, double *value, double *lambda, double *mu,
                   double *end, void *ctx)
{
    double *seen = ctx;
    (void)t1, (void)m, (void)mu, (void)end, (void)p;
    value[0] = 5 + 100 * y[0];
    lambda[0] = 100;
    seen[0] = fmax(seen[0], fabs(y[0]));
    seen[1] = fmax(seen[1], fabs(y[1]));
    return 0;
}

static void zeros(void **state)
{
    (void)state;
    for (int k = 0; k < 3; k++) {
        world x = {0};
        const costate_problem P = {.n = 2, .np = 1, .ctx = &x,
                                   .rhs = {decay, decay_tangent, .adjoint = decay_adjoint}};
        costate *c = costate_new(costate_method_find("dopri5"), &P, &(costate_options){.rtol = 1e-9});
        double y[] = {k == 1 ? 1 : 0, 0}, p = 0, by_y[2], seen[2] = {0, 0};
        costate_goal g = {.tol = 1e-2, .estimate = {.run = {.y0 = by_y}}};
        CHECK_OK(c, costate_gradient_within(c, 0, 1, y, &p, &(costate_functional){.m = 1, .at_end = shifted,
                                                                                  .ctx = seen}, &g, NULL));
        assert_true(seen[1] == 0 && seen[0] > 0);
        if (k != 1) assert_true(seen[0] <= 1e-2 * 5 / 100 / sqrt(2) && seen[0] > 1e-8);
        costate_free(c);
    }
}

/* ---- index 1, and a residual: starts are put onto the constraints ---- */

static int slow(const costate_point *x, double *f, void *ctx)
{
    (void)ctx;
    f[0] = -x->p[0] * x->y[0] + x->y[1];
    f[1] = x->y[1] * x->y[1] * x->y[1] - x->p[1] * x->y[0];
    return 0;
}
static int slow_tangent(const costate_point *x, const costate_point *dx, double *f, void *ctx)
{
    (void)ctx;
    f[0] = f[1] = 0;
    if (dx->y) f[0] += -x->p[0] * dx->y[0] + dx->y[1];
    if (dx->y) f[1] += 3 * x->y[1] * x->y[1] * dx->y[1] - x->p[1] * dx->y[0];
    if (dx->p) f[0] -= dx->p[0] * x->y[0], f[1] -= dx->p[1] * x->y[0];
    return 0;
}
static int slow_adjoint(const costate_point *x, const double *w, const costate_gradient *g, void *ctx)
{
    (void)ctx;
    if (g->y) g->y[0] += -x->p[0] * w[0] - x->p[1] * w[1];
    if (g->y) g->y[1] += w[0] + 3 * x->y[1] * x->y[1] * w[1];
    if (g->p) g->p[0] -= x->y[0] * w[0], g->p[1] -= x->y[0] * w[1];
    return 0;
}

static int first_row(double *M, void *ctx) { return (void)ctx, M[0] = 1, 0; }

static void constrained(void **state)
{
    (void)state;
    const costate_problem P = {.n = 2, .np = 2, .mass = first_row,
                               .rhs = {slow, slow_tangent, .adjoint = slow_adjoint}};
    const char *methods[] = {"radau2a", "rodas4", "sdirk4a"};
    for (int k = 0; k < 3; k++) {
        costate *c = costate_new(costate_method_find(methods[k]), &P, &(costate_options){.differences = 1});
        double y[] = {1, cbrt(0.5)}, p[] = {2, 0.5}, by_y[2], by_p[2];
        costate_goal g = {.tol = 1e-4, .estimate = {.run = {.y0 = by_y, .p = by_p}}};
        int status = costate_gradient_within(c, 0, 1, y, p, &(costate_functional){.m = 1, .at_end = first}, &g, NULL);
        if (status) fail_msg("%s: %s", methods[k], costate_message(c));
        /* u' = -a u + (b u)^(1/3): with v = u^(2/3), v' = (2/3)(-a v + b^(1/3)) */
        double v = cbrt(0.5) / 2 + (1 - cbrt(0.5) / 2) * exp(-4.0 / 3), u = pow(v, 1.5);
        assert_true(fabs(y[0] - u) < 1e-4 * u);
        assert_true(fabs(by_y[0] + by_y[1] * cbrt(0.5) / 3 - sqrt(v) * exp(-4.0 / 3)) < 3e-4);
        costate_free(c);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(jumps_of_f), cmocka_unit_test(pulses), cmocka_unit_test(nearness),
        cmocka_unit_test(all_functionals), cmocka_unit_test(lengths), cmocka_unit_test(tolerances),
        cmocka_unit_test(looks), cmocka_unit_test(claimed), cmocka_unit_test(beside), cmocka_unit_test(zeros),
        cmocka_unit_test(constrained)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
