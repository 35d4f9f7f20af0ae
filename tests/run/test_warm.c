/* test_warm.c - options.warm: a run in segments costs little more than the run in one, its tapes are replayed bit for
   bit, and a call that begins anywhere else than where the last one ended begins anew. */
#include "common.h"

enum { N_MOST = 5, SEGMENTS = 40 };

typedef struct { long steps, f, jac, newton; double y[N_MOST]; } cost;

static double joint(const problem *b, int k, int segments)
{
    return k == segments ? b->t1 : b->t0 + (b->t1 - b->t0) * k / segments;
}

static cost run(const costate_method *m, const problem *b, costate_options o, int segments, costate_tape *tape)
{
    cost r = {0};
    costate *c = costate_new(m, &b->P, &o);
    memcpy(r.y, b->y0, (size_t)b->P.n * sizeof *r.y);
    for (int k = 0; k < segments; k++) {
        double again[N_MOST];
        memcpy(again, r.y, sizeof again);
        CHECK_OK(c, costate_integrate(c, joint(b, k, segments), joint(b, k + 1, segments), r.y, b->p0, tape));
        if (!tape) continue;
        CHECK_OK(c, costate_replay(c, tape, again, b->p0));
        assert_memory_equal(again, r.y, (size_t)(b->P.n + b->P.nq) * sizeof *again);
    }
    const costate_stats *s = costate_get_stats(c);
    r.steps = s->steps;
    r.f = s->f;
    r.jac = s->jac;
    r.newton = s->newton;
    costate_free(c);
    return r;
}

/* Of composite methods with one member: which one is chosen, and so how many steps there are, depends on the lengths of
   steps, which segments bound. */
static void cheap(void **state)
{
    NEEDS_ESTIMATE(*state);
    static const int solver[] = {COSTATE_LS_DENSE, COSTATE_LS_GMRES};
    const costate_method *m = *state, *works = newton_member(m);
    int mass = method_takes(m, MASS_REGULAR) ? MASS_REGULAR : MASS_IDENTITY;
    costate_tape *tape = costate_tape_new();
    for (int k = 0; k < 8; k++) {
        const problem *b = k >> 1 & 1 ? problem_find("vdpol_mild") : problem_synthetic(mass, 0, 2, 2, 0);
        costate_options o = {.rtol = 1e-5, .atol = 1e-5, .solver = solver[k & 1], .storage = k >> 2,
                             .members = is_composite(m) ? method_name(works) : NULL};
        cost one = run(m, b, o, 1, NULL), cold = run(m, b, o, SEGMENTS, NULL);
        o.warm = 1;
        cost without = run(m, b, o, SEGMENTS, NULL), with = run(m, b, o, SEGMENTS, tape);
        if (without.steps > one.steps + 2 * SEGMENTS || with.steps > one.steps + 2 * SEGMENTS ||
            (with.steps > cold.steps + 2 && with.steps > one.steps + SEGMENTS))    /* cold may guess right by chance */
            fail_msg("%s, %s: steps: one run %ld, cold %ld, warm %ld, with tapes %ld", method_name(m), b->name,
                     one.steps, cold.steps, without.steps, with.steps);
        /* or, where extrapolated stages take more iterations: of those beside Newton's, for as many steps */
        long saved = cold.f - without.f, beyond = without.steps > cold.steps ? without.steps - cold.steps : 0;
        costate_method_info info = method_info(works);
        int each = info.family == COSTATE_SDIRK ? 1 : info.family == COSTATE_FIRK ? info.stages : 0;
        long beside = without.f - each * without.newton, beside_cold = cold.f - each * cold.newton;
        beside -= beyond * beside / without.steps;
        if (saved < SEGMENTS - 1 && beside_cold - beside < SEGMENTS - 1)
            fail_msg("%s, %s: f: cold %ld, warm %ld", method_name(m), b->name, cold.f, without.f);
        double gap = relative_gap(b->P.n, without.y, one.y), taped = relative_gap(b->P.n, with.y, one.y);
        if (!(gap <= 1e-3 && taped <= 1e-3)) fail_msg("%s, %s: gaps %.1e, %.1e", method_name(m), b->name, gap, taped);
    }
    costate_tape_free(tape);
}

/* Jacobians are those of one run, not one a segment and more. */
static void keeps_matrices(void **state)
{
    if (!method_info(*state).embedded || !is_newton(*state)) skip();
    const problem *b = problem_find("vdpol_mild");
    cost cold = run(*state, b, (costate_options){.rtol = 1e-5, .atol = 1e-5}, SEGMENTS, NULL);
    cost warm = run(*state, b, (costate_options){.rtol = 1e-5, .atol = 1e-5, .warm = 1}, SEGMENTS, NULL);
    assert_true(cold.jac >= SEGMENTS);
    if (warm.jac > 0.7 * SEGMENTS) fail_msg("%ld Jacobians for %d segments", warm.jac, SEGMENTS);
}

/* Another time, state, parameter or direction, or options.warm = 0: the bits of a solver that never ran. */
static void anywhere_else(void **state)
{
    const costate_method *m = *state;
    const problem *b = problem_synthetic(MASS_IDENTITY, 0, 2, 2, 0);
    for (int what = 0; what < 5; what++) {
        costate_options o = {.rtol = 1e-5, .atol = 1e-5, .warm = what < 4};
        costate *c = new_for_test(m, &b->P, &o), *fresh = new_for_test(m, &b->P, &o);
        double y[N_MOST] = {0}, z[N_MOST], p[2] = {b->p0[0], b->p0[1]}, t = 0.7, t1 = 1.1;
        memcpy(y, b->y0, 3 * sizeof *y);
        CHECK_OK(c, costate_integrate(c, 0.3, t, y, p, NULL));
        if (what == 0) t = nextafter(t, 1);
        if (what == 1) y[2] = nextafter(y[2], 9);
        if (what == 2) p[1] = nextafter(p[1], 9);
        if (what == 3) t1 = 0.4;
        memcpy(z, y, sizeof z);
        CHECK_OK(c, costate_integrate(c, t, t1, y, p, NULL));
        CHECK_OK(fresh, costate_integrate(fresh, t, t1, z, p, NULL));
        assert_memory_equal(y, z, sizeof y);
        costate_free(c);
        costate_free(fresh);
    }
}

static int stop(const costate_step *s, void *ctx) { return costate_step_end(s) >= *(double *)ctx; }

/* A run that was stopped goes on as if it had not been; a sweep in between, which uses its memory, does no harm. */
static void after_a_stop(void **state)
{
    NEEDS_ESTIMATE(*state);
    const problem *b = problem_find("vdpol_mild");
    for (int swept = 0; swept < 2; swept++) {
        double until = 0.2, y[N_MOST] = {0}, z[N_MOST] = {0}, other[N_MOST] = {0};
        costate_options o = {.rtol = 1e-5, .atol = 1e-5, .warm = 1, .on_step = stop, .on_step_ctx = &until,
                             .storage = COSTATE_STATES_ONLY};
        costate *c = costate_new(*state, &b->P, &o), *d = costate_new(*state, &b->P, NULL);
        costate_tape *tape = costate_tape_new();
        memcpy(y, b->y0, (size_t)b->P.n * sizeof *y);
        memcpy(z, y, sizeof z);
        memcpy(other, y, sizeof other);
        CHECK_OK(d, costate_integrate(d, b->t0, b->t1, z, b->p0, tape));
        assert_int_equal(costate_integrate(c, b->t0, b->t1, y, b->p0, NULL), COSTATE_STOPPED);
        double t = costate_time(c);
        until = 1e9;
        if (swept) CHECK_OK(c, costate_replay(c, tape, other, b->p0));
        CHECK_OK(c, costate_integrate(c, t, b->t1, y, b->p0, NULL));
        double gap = relative_gap(b->P.n, y, z);
        if (!(gap <= 1e-3)) fail_msg("swept %d: gap %.1e", swept, gap);
        if (swept) assert_memory_equal(other, z, sizeof z);
        costate_free(c);
        costate_free(d);
        costate_tape_free(tape);
    }
}

/* Stopped after every step and gone on with: all steps, f and bits of the run that was not. */
static int always(const costate_step *s, void *ctx) { (void)s; return *(int *)ctx; }

static void as_one_run(void **state)
{
    const problem *b = problem_synthetic(MASS_IDENTITY, 0, 2, 2, 0);
    cost r[2] = {{0}};
    for (int stops = 0; stops < 2; stops++) {
        costate_options o = {.rtol = 1e-5, .atol = 1e-5, .warm = 1, .on_step = always, .on_step_ctx = &stops};
        costate *c = new_for_test(*state, &b->P, &o);
        memcpy(r[stops].y, b->y0, 3 * sizeof *r->y);
        double t = b->t0;
        do costate_integrate(c, t, b->t1, r[stops].y, b->p0, NULL);
        while ((t = costate_time(c)) < b->t1 && costate_status(c) == COSTATE_STOPPED);
        const costate_stats *s = costate_get_stats(c);
        r[stops].steps = s->steps;
        r[stops].f = s->f;
        r[stops].jac = s->jac;
        costate_free(c);
    }
    assert_memory_equal(&r[0], &r[1], sizeof r[0]);
}

int main(void)
{
    return run_by_method("cheap", cheap) + run_by_method("keeps matrices", keeps_matrices) +
           run_by_method("anywhere else", anywhere_else) + run_by_method("after a stop", after_a_stop) +
           run_by_method("as one run", as_one_run);
}
