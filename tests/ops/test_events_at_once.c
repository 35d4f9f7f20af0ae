/* test_events_at_once.c - after an event, the guard of another one that is zero to round-off and goes in its direction
   fires at the same time: a relay without hysteresis slides, and says so, in all forms of a problem; where both modes
   go on, it has one event; thresholds that are the same are passed at one time; a short excursion has two events. */
#include <float.h>
#include "common.h"

enum form { ODE, MASS, RESIDUAL };
typedef struct { int form; double v[2], unit; } relay;

/* x' = v of the mode; z = 3 x + 1 */
static int value(const costate_point *x, double *out, void *ctx)
{
    const relay *q = ctx;
    out[0] = q->v[x->mode];
    out[1] = q->form == ODE ? 3 * q->v[x->mode] : 3 * x->y[0] + q->unit - x->y[1];
    return 0;
}
static int jac(const costate_point *x, double *J, void *ctx)
{
    const relay *q = ctx;
    J[0] = J[2] = 0;
    J[1] = q->form == ODE ? 0 : 3;
    J[3] = q->form == ODE ? 0 : -1;
    return (void)x, 0;
}
static int none(const costate_point *x, const costate_point *dx, double *out, void *ctx)
{
    const relay *q = ctx;
    int constrained = q->form != ODE && dx->y;
    out[0] = 0;
    out[1] = constrained ? 3 * dx->y[0] - dx->y[1] : 0;
    return (void)x, 0;
}
static int mass(double *M, void *ctx)
{
    memset(M, 0, 4 * sizeof *M);
    M[0] = 1;
    return (void)ctx, 0;
}
static int residual(const costate_point *x, double *out, void *ctx)
{
    value(x, out, ctx);
    out[0] = x->yp[0] - out[0];
    return 0;
}
static int jac_yp(const costate_point *x, double *J, void *ctx)
{
    J[0] = 1;
    J[1] = J[2] = J[3] = 0;
    return (void)x, (void)ctx, 0;
}

/* z - 4: x - 1 in other words, with round-off of its own */
static int beyond(const costate_point *x, double *e, void *ctx)
{
    const relay *q = ctx;
    e[0] = (x->y[1] - q->unit) / 3 - q->unit;
    return 0;
}
static int beyond_tangent(const costate_point *x, const costate_point *dx, double *e, void *ctx)
{
    return (void)x, (void)ctx, e[0] = dx->y ? dx->y[1] / 3 : 0, 0;
}

static int takes(const costate_method *m, int form)
{
    costate_method_info info = method_info(m);
    if (form == ODE) return 1;
    if (!(info.properties & COSTATE_DAE)) return 0;
    return form == MASS || (info.family == COSTATE_SDIRK && strcmp(info.name, "sdirk4a") == 0) ||
           info.family == COSTATE_FIRK;
}

static costate *run_relay(const costate_method *m, relay *q, int directed, int given, double t0, double *y)
{
    double dir = q->v[0] > 0 ? 1 : -1;
    costate_map guard = {.value = beyond, .tangent = given ? beyond_tangent : NULL};
    const costate_event event[] = {{.guard = guard, .direction = directed, .from = 0, .to = 1},
                                   {.guard = guard, .direction = -directed, .from = 1, .to = 0}};
    costate_problem P = {.n = 2, .nevents = 2, .event = event, .ctx = q, .jac = jac};
    double span = 3 * q->unit / fabs(q->v[0]);
    costate_options o = {.max_events = 400, .autonomous = 1, .atol = 1e-6 * q->unit, .h0 = span / 43};
    if (q->form == RESIDUAL) {
        P.residual.value = residual;
        P.jac_yp = jac_yp;
        o.differences = 1;
    } else {
        P.rhs = (costate_map){.value = value, .tangent = none};
        P.mass = q->form == MASS ? mass : NULL;
    }
    if (!method_info(m).embedded) o.controller = COSTATE_FIXED;
    costate *c = costate_new(m, &P, &o);
    y[0] = 0;
    y[1] = q->unit;
    int status = costate_integrate(c, t0, t0 + dir * span, y, NULL, NULL), slides = (q->v[0] > 0) != (q->v[1] > 0);
    int ends = status == COSTATE_TOO_MANY_EVENTS && strstr(costate_message(c), "sliding");
    if (slides ? !ends : status != COSTATE_OK)
        fail_msg("%s, form %d, v = %g and %g, unit %g, directed %d: %ld events, x = %g, %s", method_name(m), q->form,
                 q->v[0], q->v[1], q->unit, directed, costate_get_stats(c)->events, y[0], costate_message(c));
    return c;
}

static void relays(void **state)
{
    static const double speeds[] = {1, 0.02, 30}, units[] = {1, 1e-120, 1e9}, starts[] = {0, 1, -3};
    unsigned r = 3;
    for (int form = 0; form < 3; form++)
        for (int k = 0; k < 24 && takes(*state, form); k++) {
            int slides = k & 1, back = k >> 1 & 1, directed = k >> 2 & 1;
            double unit = units[k % 3], dir = back ? -1 : 1, y[2];
            relay q = {form, {dir * unit * speeds[random_below(&r, 3)], 0}, unit};
            q.v[1] = (slides ? -1 : 1) * dir * unit * speeds[random_below(&r, 3)];
            costate *c = run_relay(*state, &q, directed, k >> 1 & 1, starts[random_below(&r, 3)], y);
            if (slides) assert_true(fabs(y[0] - unit) <= 1e-9 * unit);
            else assert_int_equal(costate_get_stats(c)->events, 1);
            costate_free(c);
        }
}

/* ---- thresholds that are the same: 0 to 1, 1 to 2, 2 to 3 as y rises through 1; and a jump onto a threshold ---- */

static int rises(const costate_point *x, double *out, void *ctx) { return (void)x, (void)ctx, out[0] = 1, 0; }
static int rises_jac(const costate_point *x, double *J, void *ctx) { return (void)x, (void)ctx, J[0] = 0, 0; }
static int rises_none(const costate_point *x, const costate_point *dx, double *out, void *ctx)
{
    return (void)x, (void)dx, (void)ctx, out[0] = 0, 0;
}
static int threshold(const costate_point *x, double *e, void *ctx)
{
    return e[0] = x->y[0] - *(const double *)ctx, 0;
}
static int reset(const costate_point *x, double *out, void *ctx)
{
    return (void)x, (void)ctx, out[0] = 0.25, 0;
}

static void chains(void **state)
{
    static const double one = 1, quarter = 0.25;
    for (int jumps = 0; jumps < 2; jumps++) {
        costate_event event[3];
        for (int k = 0; k < 3; k++)
            event[k] = (costate_event){.guard = {.value = threshold}, .direction = 1, .from = 2 - k, .to = 3 - k,
                                       .ctx = (void *)(uintptr_t)(jumps && k < 2 ? &quarter : &one)};
        if (jumps) event[2].jump.value = reset;         /* from 0 to 1, onto the threshold of 1 to 2 and 2 to 3 */
        const costate_problem P = {.n = 1, .rhs = {.value = rises, .tangent = rises_none}, .jac = rises_jac,
                                   .nevents = 3, .event = event};
        costate_options o = {.autonomous = 1};
        costate *c = new_for_test(*state, &P, &o);
        double y = 0;
        CHECK_OK(c, costate_integrate(c, 0, 3, &y, NULL, NULL));
        assert_int_equal(costate_get_stats(c)->events, 3);
        assert_int_equal(costate_mode(c), 3);
        costate_free(c);
    }
}

/* ---- a counter: an event in all modes, and switches that nothing turns back, fire once ---- */

static int counts(const costate_point *x, double *out, void *ctx)
{
    out[0] = x->y[0];
    out[1] = x->m[0] + 1;
    return (void)ctx, 0;
}

static void once(void **state)
{
    static const double one = 1;
    for (int directed = 0; directed < 2; directed++) {
        costate_event event[] = {
            {.guard = {.value = threshold}, .jump = {.value = counts}, .passes = 1, .direction = directed,
             .from = COSTATE_ANY_MODE, .to = COSTATE_SAME_MODE, .ctx = (void *)(uintptr_t)&one},
            {.guard = {.value = threshold}, .direction = directed, .from = 0, .to = 1, .ctx = (void *)(uintptr_t)&one},
            {.guard = {.value = threshold}, .direction = -directed, .from = 1, .to = 0,
             .ctx = (void *)(uintptr_t)&one}};
        const costate_problem P = {.n = 1, .nm = 1, .rhs = {.value = rises, .tangent = rises_none}, .jac = rises_jac,
                                   .nevents = 3, .event = event};
        costate_options o = {.autonomous = 1};
        costate *c = new_for_test(*state, &P, &o);
        double y[] = {0, 0};
        CHECK_OK(c, costate_integrate(c, 0, 3, y, NULL, NULL));
        assert_int_equal(costate_get_stats(c)->events, 2);
        assert_true(y[1] == 1 && costate_mode(c) == 1);
        costate_free(c);
    }
}

/* ---- beyond 293.15 for a time 2 tau, by a parabola: the memory has when; it is left in another mode ---- */

static int excursion(const costate_point *x, double *out, void *ctx)
{
    double tau = *(const double *)ctx;
    out[0] = x->mode == 1 ? 0.01 * (1 - (x->t - x->m[0]) / tau) : x->mode ? -0.01 : 0.01;
    return 0;
}
static int excursion_tangent(const costate_point *x, const costate_point *dx, double *out, void *ctx)
{
    double tau = *(const double *)ctx;
    out[0] = x->mode == 1 ? -0.01 * (dx->t - (dx->m ? dx->m[0] : 0)) / tau : 0;
    return 0;
}
static int warm(const costate_point *x, double *e, void *ctx) { return (void)ctx, e[0] = x->y[0] - 293.15, 0; }
static int notes(const costate_point *x, double *out, void *ctx)
{
    out[0] = x->y[0];
    out[1] = x->t;
    return (void)ctx, 0;
}

static void excursions(void **state)
{
    double tau = 10;
    NEEDS_ESTIMATE(*state);
    for (int k = 0; k < 5; k++, tau /= 10)
        for (int i = 0; i < 4; i++) {
            costate_map guard = {.value = warm}, jump = {.value = notes};
            costate_event event[] = {{.guard = guard, .jump = jump, .direction = 1, .from = 0, .to = 1},
                                     {.guard = guard, .direction = -1, .from = 1, .to = 2}};
            const costate_problem P = {.n = 1, .nm = 1, .rhs = {.value = excursion, .tangent = excursion_tangent},
                                       .jac = rises_jac, .nevents = 2, .event = event, .ctx = &tau};
            costate_options o = {.rtol = 1e-6, .atol = 1e-6};
            double y[] = {293 + 0.02 * i, 0}, te = (293.15 - y[0]) / 0.01, when;
            costate *c = costate_new(*state, &P, &o);
            costate_tape *tape = costate_tape_new();
            CHECK_OK(c, costate_integrate(c, 0, te + 3 * tau, y, NULL, tape));
            assert_int_equal(costate_tape_events(tape), 2);
            assert_int_equal(costate_mode(c), 2);
            CHECK_OK(c, costate_tape_event(tape, 1, &when, NULL, NULL, NULL));
            if (method_info(*state).order > 2) assert_true(fabs(when - te - 2 * tau) <= 1e-4 * tau + 1e-9);
            costate_free(c);
            costate_tape_free(tape);
        }
}

/* y' = 1 from y(0) = 0: y - 1 - by is zero just after t - 1, so near that the two may count as one time, and one
   after the other else; neither is lost, whatever the lengths of the steps before and after */
static int at_one(const costate_point *x, double *e, void *ctx) { return (void)ctx, e[0] = x->t - 1, 0; }
static int past_one(const costate_point *x, double *e, void *ctx)
{
    return e[0] = x->y[0] - (1 + *(const double *)ctx), 0;
}

static void shortly_after(void **state)
{
    static const double ends[] = {1.5, 3, 30, 3000};
    NEEDS_ESTIMATE(*state);
    for (int k = 0; k < 14; k++)
        for (int i = 0; i < 4; i++) {
            double by = DBL_EPSILON * ldexp(1, k), y = 0;
            const costate_event event[] = {
                {.guard = {.value = at_one}, .from = COSTATE_ANY_MODE, .to = COSTATE_SAME_MODE},
                {.guard = {.value = past_one}, .from = COSTATE_ANY_MODE, .to = COSTATE_SAME_MODE}};
            const costate_problem P = {.n = 1, .rhs = {.value = rises, .tangent = rises_none}, .jac = rises_jac,
                                       .nevents = 2, .event = event, .ctx = &by};
            costate_options o = {.rtol = 1e-6, .atol = 1e-6};
            costate *c = costate_new(*state, &P, &o);
            costate_tape *tape = costate_tape_new();
            CHECK_OK(c, costate_integrate(c, 0, ends[i], &y, NULL, tape));
            if (costate_tape_events(tape) != 2)
                fail_msg("%d events; %d eps, t1 = %g", costate_tape_events(tape), 1 << k, ends[i]);
            costate_free(c);
            costate_tape_free(tape);
        }
}

int main(void)
{
    return run_by_kind("relays", relays) + run_by_kind("chains", chains) + run_by_kind("once", once) +
           run_by_kind("excursions", excursions) + run_by_kind("shortly after", shortly_after);
}
