/* test_auto_rule.c - which member of a composite method takes a step: each threshold of choice/rule.c, on systems of
   known stiffness; which members a problem and its options allow; calibrated tolerances. */
#include "solver/solver.h"     /* before cmocka, which has a macro fail */
#include <costate/linsol.h>
#include "ivp.h"
#include "random_case.h"
#include "turns.h"

enum { BS54, VERNER76, ROCK4, RODAS5P, RADAU2A, RADAU2A5, RADAU2A7, MEMBERS };
enum { FLAG = 20 };                     /* units in which flagged steps are counted */

/* ---- what the rule knew before each step ended ---- */

enum { ROOM = 20000 };

typedef struct { int count; costate *c; rule r[ROOM]; int member[ROOM], waves[ROOM]; long tangents[ROOM], f[ROOM];
                 long power[ROOM], newton[ROOM]; double h[ROOM], t[ROOM]; } seen;
static seen log_of;

static int look(const costate_step *s, void *ctx)
{
    seen *x = ctx;
    int k = x->count++;
    assert_true(k < ROOM);
    x->r[k] = x->c->rule;
    x->member[k] = x->c->st.at;
    x->waves[k] = x->c->st.spectrum.waves;
    x->tangents[k] = x->c->count.tangents;
    x->f[k] = x->c->count.f;
    x->power[k] = x->c->count.power;
    x->newton[k] = x->c->count.newton;
    x->t[k] = costate_step_start(s);
    x->h[k] = costate_step_end(s) - x->t[k];
    return 0;
}

static int is_stiff(int member) { return member >= RODAS5P; }

/* ---- y' = -a(t) (y - cos t) - sin t, or two oscillators ---- */

/* part: of jac, or 0: all; fails: as many evaluations do, one after the other, from the first one at t >= 1 on */
typedef struct { int left, begun; } failures;
typedef struct { double a, before, after, at; int waves; double part; failures *fails; } linear;

static double rate(const linear *s, double t) { return s->at > 0 ? (t < s->at ? s->before : s->after) : s->a; }

static int forced(const costate_point *x, double *out, void *ctx)
{
    const linear *s = ctx;
    const double *y = x->y;
    double a = rate(s, x->t);
    failures *fails = s->fails;
    if (fails && (fails->begun |= x->t >= 1) && fails->left > 0) return fails->left--, 1;
    if (s->waves) {
        out[0] = a * y[1] + cos(x->t);
        out[1] = -a * y[0] - sin(x->t);
        return 0;
    }
    out[0] = -a * (y[0] - cos(x->t)) - sin(x->t);
    out[1] = -0.3 * y[1];
    return 0;
}
static int forced_tangent(const costate_point *x, const costate_point *d, double *out, void *ctx)
{
    const linear *s = ctx;
    double a = rate(s, x->t), u = d->y ? d->y[0] : 0, v = d->y ? d->y[1] : 0;
    out[0] = s->waves ? a * v - sin(x->t) * d->t : -a * u - (a * sin(x->t) + cos(x->t)) * d->t;
    out[1] = s->waves ? -a * u - cos(x->t) * d->t : -0.3 * v;
    return 0;
}
static int forced_adjoint(const costate_point *x, const double *w, const costate_gradient *g, void *ctx)
{
    const linear *s = ctx;
    double a = rate(s, x->t);
    if (!g->y) return 0;
    g->y[0] += s->waves ? -a * w[1] : -a * w[0];
    g->y[1] += s->waves ? a * w[0] : -0.3 * w[1];
    return 0;
}
static int tangent2(const costate_point *x, const costate_point *a, const costate_point *b, double *out, void *ctx)
{
    (void)x, (void)a, (void)b, (void)ctx;
    out[0] = out[1] = 0;
    return 0;
}
static int adjoint_tangent(const costate_point *x, const costate_point *a, const double *w, const costate_gradient *g,
                           void *ctx)
{
    (void)x, (void)a, (void)w, (void)g, (void)ctx;
    return 0;
}
static int jac(const costate_point *x, double *J, void *ctx)
{
    const linear *s = ctx;
    double a = rate(s, x->t);
    J[0] = s->waves ? 0 : -a * (s->part > 0 ? s->part : 1);
    J[1] = s->waves ? -a : 0;
    J[2] = s->waves ? a : 0;
    J[3] = s->waves ? 0 : -0.3;
    return 0;
}

static costate_problem problem_of(const linear *s)
{
    return (costate_problem){.n = 2, .ctx = (void *)(uintptr_t)s, .jac = jac,
                             .rhs = {.value = forced, .tangent = forced_tangent, .adjoint = forced_adjoint,
                                     .tangent2 = tangent2, .adjoint_tangent = adjoint_tangent}};
}

static const seen *run_of(const char *name, const costate_problem *P, double t1, costate_options o)
{
    double y[N_MOST] = {1, 0.5};
    log_of.count = 0;
    o.on_step = look;
    o.on_step_ctx = &log_of;
    log_of.c = costate_new(costate_method_find(name), P, &o);
    CHECK_OK(log_of.c, costate_integrate(log_of.c, 0, t1, y, NULL, NULL));
    costate_free(log_of.c);
    return &log_of;
}

static costate_options at(double tol) { return (costate_options){.rtol = tol, .atol = tol}; }

/* ---- explicit to stiff ---- */

/* Fifteen flagged steps, one by one, and the next is stiff; or five where the error permits far longer ones. */
static void fifteen(void **state)
{
    const linear s = {.a = 1e4};
    const costate_problem P = problem_of(&s);
    int certain = 0, single = 0;
    (void)state;
    for (int k = 3; k <= 9; k++) {
        const seen *x = run_of("auto", &P, 1, at(pow(10, -k)));
        int last = 0;
        while (last < x->count && !is_stiff(x->member[last])) last++;
        if (last == x->count || last < 5) fail_msg("rtol 1e-%d: %d explicit steps", k, last);
        assert_true(x->r[last - 1].flagged >= 12 * FLAG && x->r[last - 1].flagged < 15 * FLAG);
        for (int i = 1; i < last; i++) {
            int more = x->r[i].flagged - x->r[i - 1].flagged;
            assert_true((more >= 0 && more <= FLAG) || more == 3 * FLAG || x->r[i].flagged == 0);
            certain += more == 3 * FLAG;
            single += more == FLAG;
        }
        assert_true(last < 150);
    }
    assert_true(certain >= 10 && single >= 10);
}

/* Six steps in a row without a flag reset the counter, and five do not. */
static void calm(void **state)
{
    by_turns b;
    int resets = 0, kept = 0;
    (void)state;
    for (int k = 3; k <= 9; k++) {
        by_turns_plain(&b, k & 1, k & 1 ? 7 : 4);
        costate_problem P = hybrid_problem(&b.h);
        costate_options o = at(pow(10, -k));
        double y[N_MOST];
        log_of.count = 0;
        o.on_step = look;
        o.on_step_ctx = &log_of;
        log_of.c = costate_new(costate_method_find("auto"), &P, &o);
        hybrid_start(&b.h, b.h.p, y, NULL);
        CHECK_OK(log_of.c, costate_integrate(log_of.c, 0, b.h.t1, y, b.h.p, NULL));
        for (int i = 1; i < log_of.count; i++) {
            const rule *r = &log_of.r[i], *q = r - 1;
            if (is_stiff(log_of.member[i]) || is_stiff(log_of.member[i - 1])) continue;
            assert_true(r->flagged < 15 * FLAG && r->flagged >= 0);
            if (r->calm == 6) assert_int_equal(r->flagged, 0);
            if (r->calm > 0 && r->calm < 6) assert_int_equal(r->flagged, q->flagged);
            int more = r->flagged - q->flagged;
            if (r->calm == 0) assert_true((more > 0 && more <= FLAG) || more == 3 * FLAG);
            resets += r->calm == 6 && q->flagged > 0;
            kept += r->calm == 5 && r->flagged > 0;
        }
        costate_free(log_of.c);
    }
    assert_true(resets > 2 && kept > 2);
}

/* Rotations count three times: five steps. */
static void waves(void **state)
{
    const linear s = {.a = 300, .waves = 1};
    const costate_problem P = problem_of(&s);
    int three = 0;
    (void)state;
    costate_options o = at(1e-2);
    o.atol = 1e2;
    const seen *x = run_of("auto", &P, 3, o);
    for (int i = 1; i < x->count && !is_stiff(x->member[i]); i++) {
        int more = x->r[i].flagged - x->r[i - 1].flagged;
        three += more == 3 * FLAG;
        if (x->waves[i - 1] && more > 0) assert_int_equal(more, 3 * FLAG);
        if (i + 1 < x->count && is_stiff(x->member[i + 1])) assert_int_equal(x->r[i].flagged, 12 * FLAG);
    }
    assert_true(three == 4);
}

/* A rate that its own unknown does not move: the step sizes are those of other unknowns, and nothing is flagged. */
static void not_stiff(void **state)
{
    const linear s = {.a = 3};
    const costate_problem P = problem_of(&s);
    (void)state;
    for (int k = 3; k <= 9; k++) {
        const seen *x = run_of("auto", &P, 10, at(pow(10, -k)));
        for (int i = 0; i < x->count; i++) assert_int_equal(x->member[i], k <= 6 ? BS54 : VERNER76);
        for (int i = 0; i < x->count && k >= 5; i++) assert_true(x->r[i].flagged < 15);
    }
}

/* ---- stiff to explicit ---- */

/* The stiffness ends at a time, wherever this falls: not before the seventh stiff step, and at the soonest there. */
static void back_again(void **state)
{
    int soonest = 1000, returns = 0;
    (void)state;
    for (double end = 0.05; end < 0.6; end += 0.05)
        for (int k = 3; k <= 7; k += 2) {
            const linear s = {.before = 3e3, .after = 0.1, .at = end};
            const costate_problem P = problem_of(&s);
            const seen *x = run_of("auto", &P, 3, at(pow(10, -k)));
            int begun = -1;
            for (int i = 1; i < x->count; i++) {
                int was = is_stiff(x->member[i - 1]), is = is_stiff(x->member[i]);
                if (is && !was) begun = i;
                if (!was || is) continue;
                if (begun >= 0 && i - begun < soonest) soonest = i - begun;
                assert_int_equal(x->r[i - 1].cheaper, 2);       /* and that step is the third */
                returns++;
            }
        }
    if (soonest != 7 || returns < 20) fail_msg("%d returns, the soonest after %d steps", returns, soonest);
}

/* The first explicit step is as long as four fifths of stability allow, or shorter. */
static void first_explicit_step(void **state)
{
    int bounded = 0;
    (void)state;
    for (double after = 20; after < 300; after *= 1.3) {
        const linear s = {.before = 3e4, .after = after, .at = 0.1};
        const costate_problem P = problem_of(&s);
        const composite_member *bs54 = &costate_method_find("auto")->of->member[BS54];
        costate_options o = at(1e-3);
        o.hmax = 0.03;                          /* stiff steps stay so short that explicit ones are cheaper */
        const seen *x = run_of("auto", &P, 3, o);
        for (int i = 1; i < x->count; i++) {
            if (!is_stiff(x->member[i - 1]) || x->member[i] != BS54 || x->t[i] < 0.2) continue;
            double stable = bs54->real / after;
            assert_true(x->h[i] <= 0.8 * stable * 1.01);
            bounded += x->h[i] > 0.7 * stable;
        }
    }
    assert_true(bounded > 0);
}

/* rho comes from the Jacobian of the step: products are counted in power, and none is by the user's tangent.  Where
   steps are long, explicit ones are far from cheaper, so that every eighth step is enough. */
static void costs_no_evaluation(void **state)
{
    const linear s = {.a = 1e4};
    const costate_problem P = problem_of(&s);
    (void)state;
    costate_options o = at(1e-6);
    o.members = "bs54 radau2a";
    const seen *x = run_of("auto", &P, 60, o);
    int since = 0, rarely = 0, calm = 0;
    for (int i = 1; i < x->count; i++) {
        assert_true(is_stiff(x->member[i]) || !is_stiff(x->member[i - 1]));     /* explicit steps take more work */
        if (!is_stiff(x->member[i - 1])) continue;
        assert_int_equal(x->tangents[i], x->tangents[i - 1]);
        calm = x->h[i - 1] > 0.1 ? calm + 1 : 0;                                /* work is that of five steps */
        since++;
        if (x->power[i] == x->power[i - 1]) continue;
        if (calm >= since + 5) assert_int_equal(since, 8);
        rarely += calm >= since + 5;
        since = 0;
    }
    assert_true(rarely > 1);
}

/* ---- the order of Radau methods ---- */

/* It is raised at the soonest in the twelfth step with one order, and by one member at a time.  What is known of the
   stiff phase stays; the contraction is damped, by a half at most in a step. */
static int raised_in(const char *method, int which, double tol)
{
    by_turns b;
    double y[N_MOST];
    int since = 0, raised = 0, damped = 0;
    by_turns_plain(&b, which, which == CHATTER ? 20 : 6);
    costate_problem P = hybrid_problem(&b.h);
    costate_options o = at(tol);
    log_of.count = 0;
    o.on_step = look;
    o.on_step_ctx = &log_of;
    o.members = "radau2a radau2a5 radau2a7";
    log_of.c = costate_new(costate_method_find(method), &P, &o);
    hybrid_start(&b.h, b.h.p, y, NULL);
    CHECK_OK(log_of.c, costate_integrate(log_of.c, 0, b.h.t1, y, b.h.p, NULL));
    for (int i = 1; i < log_of.count; i++) {
        int by = log_of.member[i] - log_of.member[i - 1];
        double grew = i > 1 ? log_of.h[i - 1] / log_of.h[i - 2] : 1;
        const rule *r = &log_of.r[i], *q = r - 1;
        since++;
        assert_true(r->taken == q->taken + 1 && r->fast >= q->fast && r->spent >= q->spent);
        damped += by == 0 && r->psi == q->psi / 2;
        if (by == 0) { assert_true(r->psi >= q->psi / 2); continue; }
        assert_int_equal(abs(by), 1);
        if (by > 0) assert_true(since > 10 && grew > 0.8 && grew < 1.2);
        raised += by > 0;
        since = 0;
    }
    assert_true(damped > 0);
    costate_free(log_of.c);
    return raised;
}

static void orders(void **state)
{
    int raised = 0;
    (void)state;
    for (int k = 3; k <= 8; k++)
        for (int which = RELAXATION; which <= CHATTER; which++)
            raised += raised_in("radau", which, pow(10, -k)) + raised_in("auto", which, pow(10, -k));
    assert_true(raised > 5);
}

/* J is a part of what it should be: Newton's iteration contracts by |1 - 1/part|.  From 0.8 on, the order is lowered.
   */
static void lowered(void **state)
{
    static const struct { double part; int lower; } all[] = {{0.7, 0}, {0.5618, 0}, {0.5494, 1}};
    (void)state;
    for (size_t k = 0; k < sizeof all / sizeof *all; k++) {
        const linear s = {.a = 1e6, .part = all[k].part};
        const costate_problem P = problem_of(&s);
        costate_options o = at(1e-6);
        o.newton_max = 200;
        o.hmax = 0.1;
        const seen *x = run_of("radau", &P, 2, o);
        int down = 0;
        for (int i = 1; i < x->count; i++) {
            down += x->member[i] < x->member[i - 1];
            assert_true(x->member[i] <= 1);                     /* nor raised, as it contracts so slowly */
        }
        assert_true(x->count > 12);
        assert_int_equal(x->member[0], 1);
        if ((down > 0) != all[k].lower) fail_msg("contraction %.3f: lowered %d times", fabs(1 - 1 / all[k].part), down);
    }
}

/* Of tries of one step that fail, the fourth lowers the order. */
static void failed_tries(void **state)
{
    (void)state;
    for (int count = 1; count <= 6; count++) {
        failures fails = {.left = count};
        const linear s = {.a = 1e2, .fails = &fails};
        const costate_problem P = problem_of(&s);
        costate_options o = at(1e-6);
        o.hmax = o.h0 = 0.3;                                    /* so that all calls are those of steps */
        const seen *x = run_of("radau", &P, 2, o);
        int down = 0;
        assert_int_equal(fails.left, 0);
        for (int i = 0; i < x->count; i++) down += x->member[i] == 0;
        if ((down > 0) != (count >= 4)) fail_msg("%d failures: lowered %d", count, down);
    }
}

/* ---- which member begins ---- */

static void begins(void **state)
{
    static const struct { const char *name; double rtol; int member; } all[] = {
        {"auto", 1e-2, BS54}, {"auto", 3e-7, BS54}, {"auto", 2.99e-7, VERNER76}, {"auto", 1e-12, VERNER76},
        {"radau", 1e-2, 0}, {"radau", 3e-4, 0}, {"radau", 2.99e-4, 1}, {"radau", 3e-8, 1}, {"radau", 2.99e-8, 2}};
    const linear s = {.a = 1};
    const costate_problem P = problem_of(&s);
    costate_options none = at(1e-9);
    (void)state;
    none.members = "bs54";                  /* where no member is for such tolerances, the last */
    assert_int_equal(run_of("auto", &P, 0.1, none)->member[0], BS54);
    for (size_t k = 0; k < sizeof all / sizeof *all; k++) {
        costate_options o = at(all[k].rtol);
        const seen *x = run_of(all[k].name, &P, 0.1, o);
        assert_int_equal(x->member[0], all[k].member);
        double vector[] = {1, all[k].rtol};
        o.rtol_vector = vector;
        x = run_of(all[k].name, &P, 0.1, o);
        assert_int_equal(x->member[0], all[k].member);
    }
}

/* the first stiff member, in a run that is soon stiff */
static int first_stiff(const costate_problem *P, costate_options o)
{
    const seen *x = run_of("auto", P, 5, o);
    for (int i = 0; i < x->count; i++) if (is_stiff(x->member[i])) return x->member[i];
    return -1;
}

static void stiff_ones(void **state)
{
    const linear s = {.a = 1e4};
    costate_problem P = problem_of(&s);
    costate_options o = at(1e-5);
    (void)state;
    assert_int_equal(first_stiff(&P, o), RODAS5P);
    o.rtol = 0.99e-5;
    assert_int_equal(first_stiff(&P, o), RADAU2A5);
    o.rtol = 3.1e-10;
    assert_int_equal(first_stiff(&P, o), RADAU2A5);
    o.rtol = 2.9e-10;
    assert_int_equal(first_stiff(&P, o), RADAU2A7);
    o.rtol = 1e-4;
    o.differences = 1;
    assert_int_equal(first_stiff(&P, o), RADAU2A5);
    o.differences = 0;
    P.rhs.tangent2 = NULL;                   /* gradients exist, but tangents of Rosenbrock steps do not */
    assert_int_equal(first_stiff(&P, o), RADAU2A5);
    P.rhs.adjoint_tangent = NULL;
    assert_int_equal(first_stiff(&P, o), RADAU2A5);
    P.jac = NULL;                            /* products give it */
    assert_int_equal(first_stiff(&P, o), RADAU2A5);
}

/* statuses of a run and its sweeps, by these members, of what is provided: bits 0 to 2 jac, tangent, adjoint */
typedef struct { int run, tangent, adjoint; } answers;

static answers of_what_is_there(int there, int solver, const char *members)
{
    const linear s = {.a = 1e4};
    costate_problem P = problem_of(&s);
    P.jac = there & 1 ? jac : NULL;
    P.rhs = (costate_map){.value = forced, .tangent = there & 2 ? forced_tangent : NULL,
                          .adjoint = there & 4 ? forced_adjoint : NULL};
    double y[] = {1, 0.5}, V[] = {1, 1}, lambda[] = {1, 1};
    costate_options o = {.rtol = 1e-4, .solver = solver, .members = members};
    costate *c = costate_new(costate_method_find("auto"), &P, &o);
    costate_tape *tape = costate_tape_new();
    answers r = {.run = costate_integrate(c, 0, 0.1, y, NULL, tape)};
    r.tangent = costate_tangent(c, tape, 1, V, NULL, NULL, NULL);
    r.adjoint = costate_adjoint(c, tape, 1, lambda, NULL, NULL, NULL);
    costate_tape_free(tape);
    costate_free(c);
    return r;
}

/* What explicit members can do with the callbacks that there are, a run can do that becomes stiff. */
static void without_products(void **state)
{
    (void)state;
    for (int there = 0; there < 8; there++)
        for (int solver = COSTATE_LS_AUTO; solver <= COSTATE_LS_GMRES; solver += COSTATE_LS_GMRES) {
            answers e = of_what_is_there(there, solver, "bs54"), all = of_what_is_there(there, solver, NULL);
            assert_int_equal(e.run, COSTATE_OK);
            assert_int_equal(all.run, COSTATE_OK);
            if (e.tangent == COSTATE_OK) assert_int_equal(all.tangent, COSTATE_OK);
            if (e.adjoint == COSTATE_OK) assert_int_equal(all.adjoint, COSTATE_OK);
        }
}

/* Work is that of the last steps: however long a run stays stiff, explicit steps do not become cheaper. */
static void stays_stiff(void **state)
{
    (void)state;
    for (double a = 500; a < 1e4; a *= 1.5) {
        const linear s = {.a = a};
        const costate_problem P = problem_of(&s);
        costate_options o = at(1e-6);
        o.members = "bs54 radau2a";
        o.hmax = 0.5;
        const seen *x = run_of("auto", &P, 100, o);
        for (int i = 1; i < x->count; i++) assert_true(is_stiff(x->member[i]) || !is_stiff(x->member[i - 1]));
    }
}

/* ---- explicit steps that are too long ---- */

static int robertson(const costate_point *x, double *f, void *ctx)
{
    const double *y = x->y;
    f[0] = -0.04 * y[0] + 1e4 * y[1] * y[2];
    f[2] = 3e7 * y[1] * y[1];
    f[1] = -f[0] - f[2];
    return (void)ctx, 0;
}

static int robertson_jac(const costate_point *x, double *J, void *ctx)
{
    const double *y = x->y, of_1[] = {1e4 * y[2], -1e4 * y[2] - 6e7 * y[1], 6e7 * y[1]};
    memcpy(J + 3, of_1, sizeof of_1);
    J[0] = -0.04; J[1] = 0.04; J[2] = 0;
    J[6] = 1e4 * y[1]; J[7] = -J[6]; J[8] = 0;
    return (void)ctx, 0;
}

/* Where y_1, of 4e-5, is left below zero, no step leads back: explicit steps of up to three times the stable length did
   that in three of a hundred such runs.  J at the start says nothing of the fast mode.  y_0(40): by SciPy's Radau,
   with rtol = 1e-11. */
static void robertson_at_all_tolerances(void **state)
{
    (void)state;
    for (int products = 0; products < 2; products++)
        for (int i = 0; i <= 30; i++)
            for (int j = 0; j <= 20; j++) {
                const costate_problem P = {.n = 3, .rhs = {.value = robertson},
                                           .jac = products ? robertson_jac : NULL};
                costate_options o = {.rtol = pow(10, -2 - 0.2 * i), .atol = pow(10, -6 - 0.25 * j)};
                costate *c = costate_new(costate_method_find("auto"), &P, &o);
                double y[] = {1, 0, 0};
                CHECK_OK(c, costate_integrate(c, 0, 40, y, NULL, NULL));
                assert_true(fabs(y[0] - 0.71582706872) < o.rtol + o.atol);
                costate_free(c);
            }
}

static int jumps(const costate_point *x, double *f, void *ctx)
{
    f[0] = x->y[0] < x->p[0] ? 1 : 2;
    return (void)ctx, 0;
}

/* Round-off puts the last two stages on either side of the jump: that says nothing of the next step.  None is shorter
   than hmin. */
static void jump_between_stages(void **state)
{
    (void)state;
    for (int k = 0; k < 1600; k++) {
        double h0 = 0.3 + k / 2 / 8000.0, at = h0 + (k / 2 % 8 - 4) * DBL_EPSILON / 4, y[] = {0};
        const costate_problem P = {.n = 1, .np = 1, .rhs = {.value = jumps}};
        const costate_options o = {.rtol = 1, .atol = 1, .h0 = h0, .hmin = k % 2 ? 0.1 : 0};
        costate *c = costate_new(costate_method_find("auto"), &P, &o);
        CHECK_OK(c, costate_integrate(c, 0, 1, y, &at, NULL));
        const costate_stats *s = costate_get_stats(c);
        assert_true(s->accepted < 6 && s->member_steps[BS54] == s->accepted);
        costate_free(c);
    }
}

typedef struct { costate *c; int steps; } mistake;

static int looks_stiff(const costate_step *s, void *ctx)
{
    mistake *m = ctx;
    (void)s;
    if (++m->steps == 60) m->c->rule.flagged = 15 * FLAG;
    return 0;
}

/* Seven stars, of which two nearly meet, are not taken for stiff at any tolerance.  Stiff members stay in a run with a
   tape where they damp fast modes (test_default_method), but not where taking one was a mistake. */
static void mistaken(void **state)
{
    ivp x = {.own = NULL};
    (void)state;
    assert_int_equal(ivp_pleiades(&x, 0), COSTATE_OK);
    for (int k = 0; k < 8; k++) {
        int taped = k % 2, mistakes = k / 2 == 0;
        mistake m = {.c = NULL};
        costate_options o = {.rtol = pow(10, -k / 2 - 3), .atol = pow(10, -k / 2 - 3)};
        if (mistakes) { o.on_step = looks_stiff; o.on_step_ctx = &m; }
        costate *c = costate_new(costate_method_find("auto"), &x.P, &o);
        costate_tape *tape = taped ? costate_tape_new() : NULL;
        m.c = c;
        double y[28];
        assert_int_equal(x.P.n, 28);
        memcpy(y, x.y0, sizeof y);
        CHECK_OK(c, costate_integrate(c, 0, x.t1, y, x.p, tape));
        int stiff = 0;
        for (int i = 0; i < 7; i++) if (is_stiff(i)) stiff += (int)costate_get_stats(c)->member_steps[i];
        if (!(mistakes ? stiff > 0 && stiff < 12 : stiff == 0))
            fail_msg("%d stiff steps, taped %d, rtol %g", stiff, taped, o.rtol);
        costate_tape_free(tape);
        costate_free(c);
    }
    ivp_free(&x);
}

/* Without products of f, rho is not known, and the stages alone tell stiffness. */
static void by_stages_alone(void **state)
{
    const linear s = {.a = 1e4};
    costate_problem P = problem_of(&s);
    (void)state;
    P.jac = NULL;
    P.rhs = (costate_map){.value = forced};
    const seen *x = run_of("auto", &P, 1, at(1e-4));
    assert_true(is_stiff(x->member[x->count - 1]) && x->count < 200);
}

/* At tight tolerances the error control keeps explicit steps shorter than stability asks: after 300 of them that are
   nearly as long, a stiff one is tried. */
static void nearly_stable(void **state)
{
    by_turns b;
    double y[N_MOST];
    (void)state;
    by_turns_plain(&b, CHATTER, 1.5);
    costate_problem P = hybrid_problem(&b.h);
    costate_options o = at(1e-10);
    costate *c = costate_new(NULL, &P, &o);
    hybrid_start(&b.h, b.h.p, y, NULL);
    CHECK_OK(c, costate_integrate(c, 0, b.h.t1, y, b.h.p, NULL));
    assert_true(costate_get_stats(c)->switches > 0);
    costate_free(c);
}

/* Rates up to 1e9: no stabilised steps, which fast modes keep short. */
static void too_stiff(void **state)
{
    (void)state;
    for (int kind = 0; kind < RANDOM_KINDS; kind++) {
        random_case *b = random_case_new(&(random_spec){.seed = 3, .kind = kind, .n = 40, .np = 1, .stiffness = 1e9,
                                                        .sparse = 1});
        assert_non_null(b);
        costate_options o = at(1e-3);
        o.max_steps = 1000;
        costate *c = costate_new(NULL, &b->P, &o);
        CHECK_OK(c, costate_integrate(c, b->t0, b->t1, b->y0, b->p0, NULL));
        assert_true(costate_get_stats(c)->steps < 200);
        costate_free(c);
        random_case_free(b);
    }
}

static void fixed_is_stiff(void **state)
{
    const linear s = {.a = 1};
    const costate_problem P = problem_of(&s);
    (void)state;
    costate_options o = {.controller = COSTATE_FIXED, .h0 = 0.01, .rtol = 1e-6, .atol = 1e-6};
    const seen *x = run_of("auto", &P, 1, o);
    for (int i = 0; i < x->count; i++) assert_int_equal(x->member[i], RADAU2A5);
    o.members = "bs54";
    x = run_of("auto", &P, 1, o);
    for (int i = 0; i < x->count; i++) assert_int_equal(x->member[i], BS54);
}

/* ---- options.members ---- */

static void named(void **state)
{
    static const struct { const char *list; int usable[MEMBERS]; } all[] = {
        {"bs54 radau2a", {1, 0, 0, 0, 1}}, {"bs54,radau2a", {1, 0, 0, 0, 1}}, {" ,bs54 , rodas5p ", {1, 0, 0, 1}},
        {"-bs54", {0, 1, 1, 1, 1, 1, 1}}, {"-bs54,-verner76", {0, 0, 1, 1, 1, 1, 1}},
        {"-radau2a", {1, 1, 1, 1, 0, 1, 1}}, {"bs54 verner76 -bs54", {0, 1}}, {"", {1, 1, 1, 1, 1, 1, 1}},
        {NULL, {1, 1, 1, 1, 1, 1, 1}}, {"radau2a7", {[RADAU2A7] = 1}}};
    static const struct { const char *method, *list, *says; } wrong[] = {
        {"auto", "bs54 dopri5", "names dopri5, which"}, {"auto", "radau2", "names radau2, which"},
        {"auto", "-bs5", "names bs5, which"}, {"auto", "bs544", "names bs544, which"}, {"auto", "-", "names "},
        {"radau", "bs54", "names bs54, which is no member of radau"},
        {"auto", "bs54 -bs54", "leaves no member of auto"}, {"radau2a", "radau2a", "radau2a has no members"},
        {"radau", "-radau2a,-radau2a5 -radau2a7", "leaves no member of radau"}};
    const linear s = {.a = 1};
    const costate_problem P = problem_of(&s);
    (void)state;
    for (size_t k = 0; k < sizeof all / sizeof *all; k++) {
        costate_options o = {.members = all[k].list};
        costate *c = costate_new(NULL, &P, &o);
        assert_int_equal(costate_status(c), COSTATE_OK);
        for (int i = 0; i < MEMBERS; i++)
            if (c->works[i].usable != all[k].usable[i]) fail_msg("'%s': member %d", all[k].list, i);
        costate_free(c);
    }
    for (size_t k = 0; k < sizeof wrong / sizeof *wrong; k++) {
        costate_options o = {.members = wrong[k].list};
        costate *c = costate_new(costate_method_find(wrong[k].method), &P, &o);
        if (costate_status(c) != COSTATE_BAD_ARGUMENT || !strstr(costate_message(c), wrong[k].says))
            fail_msg("'%s': %s", wrong[k].list, costate_message(c));
        costate_free(c);
    }
}

/* ---- calibrated tolerances ---- */

static void calibrated(void **state)
{
    static const int stages[MEMBERS] = {[RADAU2A] = 3, 5, 7};
    const linear s = {.a = 1};
    const costate_problem P = problem_of(&s);
    (void)state;
    for (int k = 2; k <= 10; k += 2) {
        double rtol = pow(10, -k), vector[] = {rtol, 10 * rtol}, atols[] = {2 * rtol, 3 * rtol};
        costate_options o = {.rtol = rtol, .atol = 7 * rtol}, v = {.rtol_vector = vector, .atol_vector = atols};
        costate *c = costate_new(NULL, &P, &o), *d = costate_new(NULL, &P, &v);
        for (int i = 0; i < MEMBERS; i++) {
            double e = (stages[i] + 1) / (2.0 * stages[i]), by = stages[i] ? 0.1 * pow(rtol, e) / rtol : 1;
            const costate_options *m = &c->works[i].o, *w = &d->works[i].o;
            assert_true(fabs(m->rtol / (by * rtol) - 1) < 1e-14 && fabs(m->atol / (7 * by * rtol) - 1) < 1e-14);
            for (int j = 0; j < 2; j++)
                assert_true(fabs(w->rtol_vector[j] / (by * vector[j]) - 1) < 1e-14 &&
                            fabs(w->atol_vector[j] / (by * atols[j]) - 1) < 1e-14);
        }
        costate_free(c);
        costate_free(d);
    }
}

/* Where unknowns are algebraic, only members that keep constraints. */
static void algebraic(void **state)
{
    const problem *b = problem_synthetic(MASS_SINGULAR, 0, 2, 2, 0);
    (void)state;
    costate_options o = at(1e-6);
    costate *c = costate_new(NULL, &b->P, &o);
    double y[N_MOST] = {0};
    assert_int_equal(costate_status(c), COSTATE_OK);
    memcpy(y, b->y0, (size_t)b->P.n * sizeof *y);
    CHECK_OK(c, costate_integrate(c, b->t0, b->t1, y, b->p0, NULL));
    const costate_stats *count = costate_get_stats(c);
    assert_true(count->member_steps[BS54] == 0 && count->member_steps[VERNER76] == 0);
    assert_true(!c->works[BS54].usable && !c->works[VERNER76].usable && !c->works[ROCK4].usable);
    costate_free(c);
}

static int full(double *mass, void *ctx)
{
    (void)ctx;
    for (int i = 0; i < 4; i++) mass[i] = i % 3 ? 0.5 : 2;
    return 0;
}
static int diagonal(double *mass, void *ctx)
{
    (void)ctx;
    for (int i = 0; i < 4; i++) mass[i] = i % 3 ? 0 : 2;
    return 0;
}

/* Stabilised steps divide by M, which must be diagonal. */
static void masses(void **state)
{
    const linear s = {.a = 1e3};
    (void)state;
    for (int k = 0; k < 2; k++) {
        costate_problem P = problem_of(&s);
        P.mass = k ? diagonal : full;
        costate_options o = at(1e-6);
        costate *c = costate_new(NULL, &P, &o);
        assert_int_equal(costate_status(c), COSTATE_OK);
        assert_true(c->works[BS54].usable && c->works[RADAU2A].usable && c->works[ROCK4].usable == k);
        costate_free(c);
    }
}

/* ---- rescue ---- */

/* At t0 = 1.7e12 the first step that bs54 could take is below round-off of t: a stiff member takes it. */
static void rescued(void **state)
{
    const linear s = {.a = 1e7};
    const costate_problem P = problem_of(&s);
    (void)state;
    costate_options o = at(1e-4);
    o.on_step = look;
    o.on_step_ctx = &log_of;
    for (int k = 0; k < 2; k++) {
        double y[] = {1, 0.5}, t0 = 1.7e12;
        log_of.count = 0;
        o.members = k ? "bs54" : NULL;
        log_of.c = costate_new(NULL, &P, &o);
        int status = costate_integrate(log_of.c, t0, t0 + 10, y, NULL, NULL);
        if (k) {
            assert_int_equal(status, COSTATE_STEP_TOO_SMALL);
        } else {
            CHECK_OK(log_of.c, status);
            assert_true(is_stiff(log_of.member[0]) && costate_get_stats(log_of.c)->switches >= 1);
            assert_true(fabs(y[0] - cos(t0 + 10)) < 1e-2);
        }
        costate_free(log_of.c);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fifteen), cmocka_unit_test(calm), cmocka_unit_test(waves), cmocka_unit_test(not_stiff),
        cmocka_unit_test(back_again), cmocka_unit_test(first_explicit_step),
        cmocka_unit_test(costs_no_evaluation), cmocka_unit_test(orders),
        cmocka_unit_test(lowered), cmocka_unit_test(failed_tries),
        cmocka_unit_test(begins), cmocka_unit_test(stiff_ones), cmocka_unit_test(without_products),
        cmocka_unit_test(fixed_is_stiff), cmocka_unit_test(stays_stiff), cmocka_unit_test(mistaken),
        cmocka_unit_test(robertson_at_all_tolerances), cmocka_unit_test(jump_between_stages),
        cmocka_unit_test(by_stages_alone), cmocka_unit_test(too_stiff), cmocka_unit_test(nearly_stable),
        cmocka_unit_test(named),
        cmocka_unit_test(calibrated),
        cmocka_unit_test(algebraic), cmocka_unit_test(masses), cmocka_unit_test(rescued)};
    if (!costate_method_find("auto") || !costate_method_find("radau")) return 0;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
