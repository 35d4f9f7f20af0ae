/* test_split_turns.c - with a splitting, rock4 and w6s4os take turns in forward runs of `auto`: what a solver knows is
   set between steps, at both sides of each threshold, and the members of the next steps show what was decided. */
#include "choice/rule.h"        /* before cmocka, which has a macro fail */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

enum { ROCK4 = 2, W6S4OS = 7 };
static const double H = 0.01, T1 = 1000;
static const double MANY = 0.35 * 26 * 26, FEW = 0.35 * 10 * 10;       /* h rho of 4 + sqrt(h rho/0.35) = 30, and 14 */

/* ---- y' = 1 - y from y = 1, and P = sigma + 1: every step is exact, whatever its length ---- */

static int rests(const costate_point *x, double *f, void *ctx)
{
    for (int i = 0; i < 2; i++) f[i] = 1 - x->y[i];
    return (void)ctx, 0;
}
static int along(const costate_point *x, const costate_point *d, double *out, void *ctx)
{
    for (int i = 0; i < 2; i++) out[i] = d->y ? -d->y[i] : 0;
    return (void)x, (void)ctx, 0;
}
static int back(const costate_point *x, const double *w, const costate_gradient *g, void *ctx)
{
    for (int i = 0; g->y && i < 2; i++) g->y[i] -= w[i];
    return (void)x, (void)ctx, 0;
}
static int setup(double sigma, const costate_point *x, void *ctx) { return (void)x, *(double *)ctx = sigma, 0; }
static int solve(int transpose, double *x, void *ctx)
{
    for (int i = 0; i < 2; i++) x[i] /= *(double *)ctx + 1;
    return (void)transpose, 0;
}

static const costate_problem resting = {.n = 2, .rhs = {.value = rests, .tangent = along, .adjoint = back}};

/* What is known after each step, and the members that took the steps. */
typedef struct {
    costate *c;
    double rock, w;             /* h rho after a step of rock4, and of w6s4os */
    int not_negative;           /* the eigenvalue is not on the axis */
    double wait;                /* > 0: what the splitting did the last time */
    int gap;                    /* w6s4os: h rho is MANY after each step whose number this divides; 0: after none */
    int steps, most, phases, lasts[8], last;    /* lasts: steps of each phase; last: member */
    double length[8];           /* of the first step of each phase */
} seen;

static int between(const costate_step *step, void *ctx)
{
    seen *k = ctx;
    costate *c = k->c;
    spectrum *s = &c->st.spectrum;
    double h = costate_step_end(step) - costate_step_start(step);
    if (k->steps == 0 || c->st.at != k->last) {
        if (k->phases == 8) return 1;
        k->length[k->phases++] = h;
    }
    int in_phase = ++k->lasts[k->phases - 1];
    k->last = c->st.at;
    if (k->last == W6S4OS) s->soft.rate = (k->gap && in_phase % k->gap == 0 ? MANY : k->w) / H;
    else s->rho = k->rock / H;
    s->negative = !k->not_negative;
    if (k->wait > 0) c->rule.wait = k->wait;
    return ++k->steps >= k->most;
}

/* a run that its on_step stops */
static seen taken(seen k, costate_options o, const costate_problem *P, costate_tape *tape)
{
    double y[] = {1, 1}, sigma;
    const costate_preconditioner p = {.setup = setup, .solve = solve, .ctx = &sigma, .splits = 1};
    o.preconditioner = &p;
    o.autonomous = 1;
    if (o.h0 == 0) o.h0 = o.hmax = H;
    o.on_step = between;
    o.on_step_ctx = &k;
    k.c = costate_new(NULL, P, &o);
    assert_int_equal(costate_status(k.c), COSTATE_OK);
    assert_int_equal(costate_integrate(k.c, 0, T1, y, NULL, tape), COSTATE_STOPPED);
    costate_free(k.c);
    return k;
}
static seen turns(seen k)
{
    if (!k.most) k.most = 20;
    return taken(k, (costate_options){.rtol = 1e-4}, &resting, NULL);
}

/* With more than 30 stages the splitting follows at once, with a shorter step; so it does where the eigenvalue leaves
   the axis. */
static void many_stages(void **state)
{
    (void)state;
    seen k = turns((seen){.rock = 0.999 * MANY, .w = MANY});
    assert_int_equal(k.phases, 1);
    assert_int_equal(k.last, ROCK4);
    k = turns((seen){.rock = 1.001 * MANY, .w = MANY});
    assert_int_equal(k.phases, 2);
    assert_int_equal(k.lasts[0], 1);
    assert_int_equal(k.last, W6S4OS);
    assert_true(fabs(k.length[1] - 0.8 * H) < 1e-12);
    k = turns((seen){.rock = FEW, .w = MANY, .not_negative = 1});
    assert_int_equal(k.lasts[0], 1);
    assert_int_equal(k.last, W6S4OS);
}

/* After three steps in a row with fewer than 14 stages of which none grew by more than a fifth, as the first one does,
   rock4 follows. */
static void few_stages(void **state)
{
    (void)state;
    seen k = turns((seen){.rock = 1.001 * MANY, .w = 1.001 * FEW});
    assert_int_equal(k.phases, 2);
    k = turns((seen){.rock = 1.001 * MANY, .w = 0.999 * FEW});
    assert_true(k.phases > 2);
    assert_int_equal(k.lasts[1], 4);
    assert_true(fabs(k.length[2] - H) < 1e-12);
    k = turns((seen){.rock = 1.001 * MANY, .w = 0});                    /* it has not been measured */
    assert_int_equal(k.phases, 2);
    k = turns((seen){.rock = 1.001 * MANY, .w = 0.999 * FEW, .gap = 3});
    assert_int_equal(k.phases, 2);
    k = turns((seen){.rock = 1.001 * MANY, .w = 0.999 * FEW, .wait = 1e6});
    assert_int_equal(k.phases, 2);
}

/* Each phase of the splitting does as much as the one before, and twice as much from the third on. */
static void not_to_and_fro(void **state)
{
    (void)state;
    seen k = turns((seen){.rock = 1.001 * MANY, .w = 0.5 * FEW, .most = 200});
    assert_int_equal(k.phases, 8);
    assert_int_equal(k.lasts[3], k.lasts[1]);
    assert_true(k.lasts[5] >= 1.5 * k.lasts[3]);
    assert_true(k.lasts[7] >= 1.5 * k.lasts[5]);
}

static int begins_with(costate_options o, const costate_problem *P, costate_tape *tape)
{
    if (o.rtol == 0) o.rtol = 1e-4;
    return taken((seen){.rock = 1, .w = 1, .most = 1}, o, P, tape).last;
}

/* A run begins with rock4 where its first step has at most 30 stages; with the splitting where the choice is not free,
   or where derivatives follow. */
static void beginnings(void **state)
{
    costate_options fixed = {.controller = COSTATE_FIXED}, without = {.members = "-rock4"};
    costate_options given = {.spectral_bound = 1};
    costate_options shorter = {.h0 = 0.99 * MANY}, longer = {.h0 = 1.01 * MANY};
    costate_tape *tape = costate_tape_new();
    (void)state;
    assert_int_equal(begins_with((costate_options){.rtol = 1e-4}, &resting, NULL), ROCK4);
    assert_int_equal(begins_with((costate_options){.rtol = 1e-4}, &resting, tape), W6S4OS);
    assert_int_equal(begins_with(fixed, &resting, NULL), W6S4OS);
    assert_int_equal(begins_with(without, &resting, NULL), W6S4OS);
    assert_int_equal(begins_with(given, &resting, NULL), W6S4OS);
    assert_int_equal(begins_with(shorter, &resting, NULL), ROCK4);
    assert_int_equal(begins_with(longer, &resting, NULL), W6S4OS);
    costate_tape_free(tape);
}

/* Runs with tangents and runs that are continued with a tape take steps of the splitting, but for one. */
static void derivatives(void **state)
{
    double y[] = {1, 1}, V[] = {1, 0}, sigma;
    const costate_preconditioner p = {.setup = setup, .solve = solve, .ctx = &sigma, .splits = 1};
    costate *c = costate_new(NULL, &resting, &(costate_options){.preconditioner = &p, .autonomous = 1, .warm = 1,
                                                                .hmax = H});
    const long *by = costate_get_stats(c)->member_steps;
    costate_tape *tape = costate_tape_new();
    (void)state;
    assert_int_equal(costate_integrate_tlm(c, 0, 0.1, y, NULL, 1, V, NULL, NULL, NULL), COSTATE_OK);
    assert_int_equal(by[ROCK4], 0);
    assert_true(by[W6S4OS] > 0);
    y[1] = 0.5;
    assert_int_equal(costate_integrate(c, 0, 0.05, y, NULL, NULL), COSTATE_OK);
    long before = by[ROCK4], w = by[W6S4OS];
    assert_true(before > 0);
    assert_int_equal(costate_integrate(c, 0.05, 0.1, y, NULL, tape), COSTATE_OK);
    assert_int_equal(by[ROCK4], before + 1);
    assert_true(by[W6S4OS] > w);
    costate_tape_free(tape);
    costate_free(c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(many_stages), cmocka_unit_test(few_stages),
                                       cmocka_unit_test(not_to_and_fro), cmocka_unit_test(beginnings),
                                       cmocka_unit_test(derivatives)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
