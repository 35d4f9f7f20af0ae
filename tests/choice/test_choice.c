/* test_choice.c - decisions of the choice among the members of auto, one by one, at both sides of each threshold: what
   a solver knows of stiffness and work is set between two steps, and the next step tells what was decided. */
#include "choice/effort.h"      /* before cmocka, which has a macro fail */
#include "choice/rule.h"
#include "linsol/backends.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

enum { BS54, VERNER76, ROCK4, RODAS5P, RADAU2A, RADAU2A5, RADAU2A7 };

/* ---- y' = 1 - y from y = 1: every step is exact, and stages are equal ---- */

static int rests(const costate_point *x, double *f, void *ctx)
{
    for (int i = 0; i < 2; i++) f[i] = 1 - x->y[i];
    return (void)ctx, 0;
}
static int rests_tangent(const costate_point *x, const costate_point *d, double *out, void *ctx)
{
    for (int i = 0; i < 2; i++) out[i] = d->y ? -d->y[i] : 0;
    return (void)x, (void)ctx, 0;
}
static int rests_adjoint(const costate_point *x, const double *w, const costate_gradient *g, void *ctx)
{
    for (int i = 0; g->y && i < 2; i++) g->y[i] -= w[i];
    return (void)x, (void)ctx, 0;
}
static const costate_problem resting = {.n = 2, .rhs = {.value = rests, .tangent = rests_tangent,
                                                   .adjoint = rests_adjoint}};

/* What is known when step SET_AT ends, and what followed. */
typedef struct {
    costate *c;
    spectrum s;                 /* z: h rho, or (t1 - t)/100 rho with the prices of lu and solve */
    double z, lu, solve, longest;       /* longest: over h; 0: not known */
    double grows, wait;                 /* grows: the next step by its error, over h; 0: no longer */
    double reach;               /* h rho of the stabilised member */
    double rtol;                /* 0: 1e-4 */
    int step, before, more, member, band;
} known;
enum { SET_AT = 3 };
static const double H = 0.01, T1 = 10, LONGER = 8;     /* LONGER: the most that a step may grow */

static int between_steps(const costate_step *step, void *ctx)
{
    known *k = ctx;
    costate *c = k->c;
    spectrum *s = &c->st.spectrum;
    double h = costate_step_end(step) - costate_step_start(step), rest = (T1 - costate_step_end(step)) / 100, size;
    if (k->step++ < SET_AT) return 0;
    if (k->step > SET_AT + 1) {
        k->more = c->rule.flagged - k->before;
        k->member = c->st.at;
        return 1;
    }
    s->negative = k->s.negative;
    s->waves = k->s.waves;
    s->products = 4;
    s->rho = SPECTRUM_SAFETY * k->z / (k->lu > 0 ? rest : h);
    s->longest = k->longest * h;
    c->rule.flagged = k->before = k->lu > 0 ? 15 * FLAG : k->before;
    c->rule.lu = k->lu;
    if (k->band) stiff_member(&c->st)->sh->backend = &LS_band;
    c->rule.solve = k->solve;
    c->rule.wait = k->wait;
    assert_int_equal(space_norm(&c->maps.space, 2, c->st.w, c->work.y, &size), 0);
    k->reach = c->st.members[ROCK4].F->reach(&c->st.members[ROCK4], 0, size * c->st.members[c->st.at].looser);
    return 0;
}

static known decided_with(known k)
{
    double y[] = {1, 1};
    double first = k.grows > 0 ? H / pow(LONGER, SET_AT) : H;
    costate_options o = {.rtol = k.rtol > 0 ? k.rtol : 1e-4, .hmax = k.grows > 0 ? k.grows * H : H, .h0 = first,
                         .on_step = between_steps, .on_step_ctx = &k};
    k.c = costate_new(costate_method_find("auto"), &resting, &o);
    assert_int_equal(costate_integrate(k.c, 0, T1, y, NULL, NULL), COSTATE_STOPPED);
    costate_free(k.c);
    return k;
}

/* How much a step counts towards a stiff one: beta the limit on the real axis, theta beta where error control settles,
   x_w the limit of waves.  Near steps of BS54 count 300 times 7 evaluations over the work of a trial, which is 8 times
   3 lu + 10 solve + 20 or what the last trials ask for. */
static void flags(void **state)
{
    const composite_member *m = &costate_method_find("auto")->of->member[BS54];
    double settled = m->settles * m->real, tried = 8 * (3 * 10 + 10 * 2 + 20);
    const struct { int negative, waves; double z, longest; int more; double grows, wait; } all[] = {
        {1, 0, 0.34 * m->real, 0, 0, 0, 0}, {1, 0, 0.36 * m->real, 0, (int)(2100 / tried), 0, 0},
        {1, 0, 0.99 * settled, 0, (int)(2100 / tried), 0, 0.9 * tried}, {1, 0, 0.99 * settled, 0, 2, 0, 1000},
        {1, 0, 0.99 * settled, 0, 1, 0, 1e9},
        {1, 0, 1.01 * settled, 0, FLAG, 0, 0}, {0, 0, 0.99 * settled, 0, 0, 0, 0},
        {0, 0, 1.01 * settled, 0, FLAG, 0, 0},
        {0, 1, 1.01 * m->waves, 0, 3 * FLAG, 0, 0}, {0, 1, 0.99 * fmin(m->waves, settled), 0, 0, 0, 0},
        {1, 0, 0.1, 1 / 0.98, 0, 0, 0}, {1, 0, 0.1, 1 / 0.995, FLAG, 0, 0}, {0, 1, 0.1, 1 / 0.995, 3 * FLAG, 0, 0},
        {1, 0, 0.1, 1 / 0.995, FLAG, 3.9, 0}, {1, 0, 0.1, 1 / 0.995, 3 * FLAG, 4.1, 0}, {1, 0, 0.1, 0, 0, 4.1, 0},
        {1, 0, 0.1, 1 / 0.98, 0, 4.1, 0}};
    (void)state;
    assert_true(0.36 * m->real < 0.99 * settled && settled < m->real);
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        known k = decided_with((known){.s = {.negative = all[i].negative, .waves = all[i].waves}, .z = all[i].z,
                                       .longest = all[i].longest, .grows = all[i].grows, .wait = all[i].wait});
        if (k.more != all[i].more) fail_msg("row %zu: flagged by %d, not %d", i, k.more, all[i].more);
    }
}

/* The flag that makes it fifteen is followed by a stiff step, and no other. */
static void fifteenth(void **state)
{
    double z = costate_method_find("auto")->of->member[BS54].real;
    (void)state;
    assert_int_equal(decided_with((known){.z = z, .before = 14 * FLAG}).member, RADAU2A5);
    assert_int_equal(decided_with((known){.z = z, .before = 14 * FLAG - 1}).member, BS54);
}

/* A stabilised step is taken for a stiff one from DEAR = 50 on, from 15 with a band, and if its work per unit of time,
   4 + sqrt(z/0.35) evaluations with z = min(h rho, reach), is less than 3 lu + 10 solve + 20 in (t1 - t)/100. */
static void stabilised(void **state)
{
    static const struct { double lu, solve; } prices[] = {{50, 0}, {50, 100}, {1000, 0}, {50, 2}};
    (void)state;
    double reach = decided_with((known){.lu = 50}).reach;
    assert_true(reach > 100 && reach < 1e5);
    assert_int_equal(decided_with((known){.s = {.negative = 1}, .z = 10, .lu = 49.9}).member, RADAU2A5);
    assert_int_equal(decided_with((known){.s = {.negative = 1}, .z = 10, .lu = 50.1}).member, ROCK4);
    assert_int_equal(decided_with((known){.s = {.negative = 1}, .z = 10, .lu = 14.9, .band = 1}).member, RADAU2A5);
    assert_int_equal(decided_with((known){.s = {.negative = 1}, .z = 10, .lu = 15.1, .band = 1}).member, ROCK4);
    assert_int_equal(decided_with((known){.s = {.negative = 1}, .z = 0.99 * reach, .lu = 50}).member, ROCK4);
    assert_int_equal(decided_with((known){.s = {.negative = 0}, .z = 10, .lu = 50.1}).member, RADAU2A5);
    for (size_t i = 0; i < sizeof prices / sizeof *prices; i++) {
        double lu = prices[i].lu, solve = prices[i].solve, work = 3 * lu + 10 * solve + 20;
        double most = work * reach / (4 + sqrt(reach / 0.35));
        for (int above = 0; above < 2; above++) {
            known k = decided_with((known){.s = {.negative = 1}, .z = (above ? 1.02 : 0.98) * most, .lu = lu,
                                           .solve = solve});
            if ((k.member == ROCK4) == above)
                fail_msg("lu %g, solve %g: member %d at %g of the limit", lu, solve, k.member, above ? 1.02 : 0.98);
        }
    }
}

/* Five stages are taken in place of seven from rtol = 3e-10 on where factorisations are cheap, else from 3e-8 on: in
   runs that begin with a stiff member, and in those that become stiff. */
static void stages(void **state)
{
    static const struct { double rtol, lu; int fewer; } all[] = {
        {3.1e-10, 49.9, 1}, {2.9e-10, 49.9, 0}, {3.1e-10, 50, 0}, {2.9e-8, 50, 0}, {3.1e-8, 50, 1}};
    (void)state;
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        costate_options o = {.rtol = all[i].rtol, .hmax = H, .members = "radau2a radau2a5 radau2a7"};
        double y[] = {1, 1};
        costate *c = costate_new(costate_method_find("auto"), &resting, &o);
        c->rule.lu = all[i].lu;
        assert_int_equal(costate_integrate(c, 0, 10 * H, y, NULL, NULL), COSTATE_OK);
        assert_true((costate_get_stats(c)->member_steps[RADAU2A5] > 0) == all[i].fewer);
        costate_free(c);
        known k = {.s = {.negative = 0}, .z = 10, .lu = all[i].lu, .rtol = all[i].rtol};
        assert_int_equal(decided_with(k).member, all[i].fewer ? RADAU2A5 : RADAU2A7);
    }
}

/* What a complex factorisation and solution cost; Jacobians and products cost as much as values. */
static void prices(void **state)
{
    costate *c = costate_new(costate_method_find("auto"), &resting, NULL);
    (void)state;
    c->count = (costate_stats){.f = 1, .jac = 10, .krylov = 100, .products = 1000, .power = 10000, .decompositions = 3,
                               .complex_decompositions = 100, .solves = 7, .complex_solves = 1000};
    effort all = effort_so_far(c);
    assert_true(all.f == 11111 && all.factorisations == 203 && all.solutions == 2007);
    costate_free(c);
}

/* ---- rescue, and what a file says ---- */

static void rescues_once(void **state)
{
    static const struct { int status, rescued; } all[] = {
        {COSTATE_STEP_TOO_SMALL, 1}, {COSTATE_NOT_FINITE, 1}, {COSTATE_NEWTON, 1}, {COSTATE_SINGULAR, 1},
        {COSTATE_CALLBACK, 0}, {COSTATE_NO_MEMORY, 0}, {COSTATE_MAX_STEPS, 0}};
    double y[] = {1, 1};
    (void)state;
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        costate *c = costate_new(costate_method_find("auto"), &resting, NULL);
        assert_int_equal(costate_integrate(c, 0, 1, y, NULL, NULL), COSTATE_OK);
        assert_int_equal(rule_rescues(c, all[i].status), all[i].rescued);
        assert_int_equal(rule_rescues(c, all[i].status), 0);
        assert_int_equal(c->rule.next, all[i].rescued ? c->first[1] : c->st.at);
        c->at++;
        assert_int_equal(rule_rescues(c, all[i].status), all[i].rescued);
        costate_free(c);
    }
}

static void sound(void **state)
{
    costate *c = costate_new(costate_method_find("auto"), &resting, NULL);
    double y[] = {1, 1};
    (void)state;
    assert_int_equal(costate_integrate(c, 0, 1, y, NULL, NULL), COSTATE_OK);
    rule x = rule_kept(c);
    assert_true(rule_sound(c, &x));
    double *const numbers[] = {&x.psi, &x.h_old, &x.solve, &x.done.f, &x.done.factorisations, &x.done.solutions, &x.lu,
                               &x.h, &x.spent, &x.stiff, &x.wait, &x.length[1], &x.price[1]};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        for (int how = 0; how < 3; how++) {
            double was = *numbers[i];
            const double bad[] = {NAN, -1, HUGE_VAL};
            *numbers[i] = bad[how];
            int may = (how == 1 && i < 6) || (how == 2 && numbers[i] != &x.lu && numbers[i] != &x.h);
            if (!may && rule_sound(c, &x)) fail_msg("number %zu is %g", i, bad[how]);
            *numbers[i] = was;
        }
    int *const counts[] = {&x.calm, &x.cheaper, &x.since, &x.taken, &x.flagged, &x.eventful, &x.fast, &x.member,
                           &x.next};
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        int was = *counts[i];
        *counts[i] = -1;
        if (rule_sound(c, &x)) fail_msg("count %zu is -1", i);
        *counts[i] = was;
    }
    costate_free(c);
}

/* ---- the spectrum ---- */

/* J = rho (cos a, -sin a; sin a, cos a), or diag(-1000, -1), and from t = 1 on diag(-1, -2000) */
typedef struct { double rho, angle; } rotation;

static int turns(const costate_point *x, double *f, void *ctx)
{
    const rotation *r = ctx;
    double a = r->rho * cos(r->angle), b = r->rho * sin(r->angle);
    if (r->rho == 0) {
        f[0] = (x->t < 1 ? -1000 : -1) * x->y[0];
        f[1] = (x->t < 1 ? -1 : -2000) * x->y[1];
        return 0;
    }
    f[0] = a * x->y[0] - b * x->y[1];
    f[1] = b * x->y[0] + a * x->y[1];
    return 0;
}
static int turns_tangent(const costate_point *x, const costate_point *d, double *out, void *ctx)
{
    costate_point at = {.t = x->t, .y = d->y};
    out[0] = out[1] = 0;
    return d->y ? turns(&at, out, ctx) : 0;
}

static costate *solver_of(rotation *r, const char *method)
{
    const costate_problem P = {.n = 2, .ctx = r, .rhs = {.value = turns, .tangent = turns_tangent}};
    costate *c = costate_new(costate_method_find(method), &P, NULL);
    assert_int_equal(costate_status(c), COSTATE_OK);
    return c;
}

/* J J v is at twice the angle of an eigenvalue: close to the negative axis up to 30 degrees, as its cosine is 0.5
   there, and far from it from 36.3 degrees on, where it is 0.3. */
static void angles(void **state)
{
    static const struct { double degrees; int negative, waves; } all[] = {
        {180, 1, 0}, {151, 1, 0}, {149, 0, 0}, {144, 0, 0}, {143, 0, 1}, {90, 0, 1}, {40, 0, 1}, {20, 0, 0}, {0, 0, 0}};
    const spectrum_accuracy to = {.first = 2, .first_most = 2, .least = 2, .most = 2, .safety = 1};
    double y[] = {1, 0.5};
    (void)state;
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        rotation r = {7, all[i].degrees * acos(-1) / 180};
        costate *c = solver_of(&r, "dopri5");
        const spectrum *s = &c->st.spectrum;
        assert_int_equal(spectrum_measure(&c->st, 0, y, &to, NULL, NULL), 0);
        if (s->negative != all[i].negative || s->waves != all[i].waves || fabs(s->rho - 7) > 1e-12)
            fail_msg("%g degrees: negative %d, waves %d, rho %.15g", all[i].degrees, s->negative, s->waves, s->rho);
        costate_free(c);
    }
}

/* After thirty pairs of products v has no part left along the other eigenvector, whose eigenvalue becomes the
   largest. */
static void stirred(void **state)
{
    const spectrum_accuracy to = {.first = 2, .first_most = 2, .least = 4, .most = 4, .safety = 1, .plain = 1};
    rotation r = {0, 0};
    costate *c = solver_of(&r, "dopri5");
    double y[] = {1, 1};
    (void)state;
    for (int k = 0; k < 30; k++) assert_int_equal(spectrum_measure(&c->st, 0, y, &to, NULL, NULL), 0);
    assert_true(fabs(c->st.spectrum.rho / 1000 - 1) < 0.01);
    assert_int_equal(spectrum_measure(&c->st, 1, y, &to, NULL, NULL), 0);
    assert_true(fabs(c->st.spectrum.rho / 2000 - 1) < 0.1);
    costate_free(c);
}

/* The first rho after k products may be 1 + 8/k times too small: far below the limit one pair is enough. */
static void first_measurement(void **state)
{
    static const struct { double part; long products; } all[] = {{0.15, 2}, {0.22, 4}, {0.5, 4}};
    (void)state;
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        rotation r = {7, acos(-1)};
        double y[] = {1, 0.5}, h = all[i].part * costate_method_find("dopri5")->limits[0] / (7 * SPECTRUM_SAFETY);
        costate *c = solver_of(&r, "dopri5");
        costate_free(c);
        const costate_problem P = {.n = 2, .ctx = &r, .rhs = {.value = turns, .tangent = turns_tangent}};
        c = costate_new(costate_method_find("dopri5"), &P, &(costate_options){.controller = COSTATE_FIXED, .h0 = h});
        assert_int_equal(costate_integrate(c, 0, 2 * h, y, NULL, NULL), COSTATE_OK);
        if (c->count.power != all[i].products)
            fail_msg("%g of the limit: %ld products, not %ld", all[i].part, c->count.power, all[i].products);
        costate_free(c);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(flags), cmocka_unit_test(fifteenth), cmocka_unit_test(stabilised), cmocka_unit_test(stages),
        cmocka_unit_test(prices), cmocka_unit_test(rescues_once), cmocka_unit_test(sound), cmocka_unit_test(angles),
        cmocka_unit_test(stirred), cmocka_unit_test(first_measurement)};
    if (!costate_method_find("auto") || !costate_method_find("dopri5")) return 0;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
