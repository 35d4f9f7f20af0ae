/* test_periodic_none.c - where there is no orbit, or no isolated one, a solve ends with a status and a sentence that
   says so, and changes nothing. */
#include "hopf.h"

static int at_rest(const costate_point *x, double *out, void *ctx)                   /* a focus */
{
    out[0] = -0.3 * x->y[0] - x->y[1];
    out[1] = x->y[0] - 0.3 * x->y[1];
    return (void)ctx, 0;
}
static int at_rest_tangent(const costate_point *x, const costate_point *d, double *out, void *ctx)
{
    return at_rest(&(costate_point){.y = d->y ? d->y : (double[2]){0}}, out, ctx), (void)x, 0;
}
static int predators(const costate_point *x, double *out, void *ctx)                /* Lotka, Volterra: a family */
{
    out[0] = x->y[0] * (1 - x->y[1]);
    out[1] = x->y[1] * (x->y[0] - 1);
    return (void)ctx, 0;
}
static int predators_tangent(const costate_point *x, const costate_point *d, double *out, void *ctx)
{
    const double *y = x->y, *v = d->y ? d->y : (double[2]){0};
    out[0] = v[0] * (1 - y[1]) - y[0] * v[1];
    out[1] = v[1] * (y[0] - 1) + y[1] * v[0];
    return (void)ctx, 0;
}
static int circle(const costate_point *x, double *out, void *ctx)                   /* a centre: one period for all */
{
    out[0] = -x->y[1];
    out[1] = x->y[0];
    return (void)ctx, 0;
}
static int circle_tangent(const costate_point *x, const costate_point *d, double *out, void *ctx)
{
    return circle(&(costate_point){.y = d->y ? d->y : (double[2]){0}}, out, ctx), (void)x, 0;
}
static int explodes(const costate_point *x, double *out, void *ctx)
{
    *out = x->y[0] * x->y[0] + 1;
    return (void)ctx, 0;
}
static int explodes_tangent(const costate_point *x, const costate_point *d, double *out, void *ctx)
{
    *out = d->y ? 2 * x->y[0] * d->y[0] : 0;
    return (void)ctx, 0;
}
static int clock_only(const costate_point *x, double *out, void *ctx) { return *out = 1, (void)x, (void)ctx, 0; }
static int clock_tangent(const costate_point *x, const costate_point *d, double *out, void *ctx)
{
    return *out = 0, (void)x, (void)d, (void)ctx, 0;
}
static int decays(const costate_point *x, double *out, void *ctx) { return *out = -x->y[0], (void)ctx, 0; }
static int decays_tangent(const costate_point *x, const costate_point *d, double *out, void *ctx)
{
    return *out = d->y ? -d->y[0] : 0, (void)x, (void)ctx, 0;
}
static int broken(const costate_point *x, double *out, void *ctx) { return *out = NAN, (void)x, (void)ctx, 0; }
static int gives_up(const costate_point *x, double *out, void *ctx) { return *out = 0, (void)x, (void)ctx, -1; }
static int grows(const costate_point *x, double *out, void *ctx) { return *out = 1 + 0 * x->y[0], (void)ctx, 0; }

typedef struct {
    const char *what;
    int n;
    int (*value)(const costate_point *, double *, void *);
    int (*tangent)(const costate_point *, const costate_point *, double *, void *);
    double y[2], T, period;
    int status;
    const char *word;
    int or;                     /* for other tolerances; 0: the same */
    const char *or_word;
} hostile;

static const hostile cases[] = {
    {"a focus", 2, at_rest, at_rest_tangent, {1, 0}, 6, 0,
     COSTATE_SINGULAR, "steady state", 0, NULL},
    {"a steady state itself", 2, at_rest, at_rest_tangent, {0, 0}, 6, 0,
     COSTATE_SINGULAR, "steady state", 0, NULL},
    {"Lotka, Volterra", 2, predators, predators_tangent, {2, 1}, 7, 0,
     COSTATE_SINGULAR, "not isolated", 0, NULL},
    {"Lotka, Volterra, far", 2, predators, predators_tangent, {3, 2}, 9, 0,
     COSTATE_SINGULAR, "not isolated", 0, NULL},
    {"a centre", 2, circle, circle_tangent, {1, 0}, 6.2, 0,
     COSTATE_SINGULAR, "not isolated", 0, NULL},
    {"a centre at its period", 2, circle, circle_tangent, {1, 0}, 0, 6.283185307179586,
     COSTATE_SINGULAR, "not isolated", 0, NULL},
    {"an explosion", 1, explodes, explodes_tangent, {0}, 3, 0,
     COSTATE_STEP_TOO_SMALL, "run over one period failed", 0, NULL},
    {"no explosion yet", 1, explodes, explodes_tangent, {0}, 1, 0, COSTATE_SINGULAR, "steady state",
     COSTATE_NEWTON, "went from"},
    {"a clock", 1, clock_only, clock_tangent, {0}, 1, 0, COSTATE_SINGULAR, "steady state",
     COSTATE_NEWTON, "went from"},
    {"a force without an answer", 1, grows, clock_tangent, {0}, 0, 1,
     COSTATE_SINGULAR, "not isolated", 0, NULL},
    {"decay", 1, decays, decays_tangent, {1}, 1, 0, COSTATE_SINGULAR, "steady state",
     COSTATE_NEWTON, "went from"},
    {"not a number", 1, broken, clock_tangent, {1}, 1, 0,
     COSTATE_NOT_FINITE, "NaN", 0, NULL},
    {"a callback that gives up", 1, gives_up, clock_tangent, {1}, 1, 0,
     COSTATE_CALLBACK, "returned", 0, NULL},
    {"no products", 2, circle, NULL, {1, 0}, 6.2, 0,
     COSTATE_MISSING, "missing", 0, NULL},
};

static void none(void **state)
{
    (void)state;
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++)
        for (double tol = 1e-5; tol > 1e-11; tol /= 100) {
            const hostile *h = cases + k;
            const costate_problem P = {.n = h->n, .rhs = {.value = h->value, .tangent = h->tangent}};
            double y[2] = {h->y[0], h->y[1]}, T = h->T;
            costate_orbit o;
            costate_periodic *c = costate_periodic_new(costate_method_find("dopri5"), &P,
                &(costate_options){.rtol = tol, .atol = tol}, &(costate_periodic_options){.period = h->period});
            int status = costate_periodic_solve(c, y, &T, NULL);
            const char *said = costate_periodic_message(c);
            int so = status == h->status && strstr(said, h->word);
            if (!so && !(h->or && status == h->or && strstr(said, h->or_word)))
                fail_msg("%s, %g: %s, T = %g: %s", h->what, tol, costate_status_name(status), T, said);
            assert_true(y[0] == h->y[0] && y[1] == h->y[1] && T == h->T);
            assert_int_equal(costate_periodic_orbit(c, &o), COSTATE_BAD_TAPE);
            costate_periodic_free(c);
        }
}

/* y' = 1: each correction takes T to 0, of which half is allowed.  At a loose tolerance what is left is a steady state;
   at a tight one T is first a thousandth of the guess. */
static void shrinks(void **state)
{
    const costate_problem P = {.n = 1, .rhs = {.value = clock_only, .tangent = clock_tangent}};
    const struct { double tol; int status; const char *word; } rows[] = {
        {1e-3, COSTATE_SINGULAR, "came to rest"}, {1e-9, COSTATE_NEWTON, "from the guess 1 to 0.000976562:"}};
    (void)state;
    for (int k = 0; k < 2; k++) {
        double y = 0, T = 1;
        costate_periodic *c = costate_periodic_new(costate_method_find("dopri5"), &P,
            &(costate_options){.rtol = rows[k].tol, .atol = rows[k].tol}, NULL);
        assert_int_equal(costate_periodic_solve(c, &y, &T, NULL), rows[k].status);
        if (!strstr(costate_periodic_message(c), rows[k].word)) fail_msg("%s", costate_periodic_message(c));
        costate_periodic_free(c);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(none), cmocka_unit_test(shrinks)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
