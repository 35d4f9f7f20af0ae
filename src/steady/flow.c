/* flow.c (steady) - follows the solution from its start until a steady state is found that it approaches.

   The run pauses after a number of steps that grows geometrically, and Newton's iteration is tried from where the
   solution is.  A zero of f that it finds is the limit if it is stable, and if the solution has halved its distance
   from it since an earlier attempt found the same one, or is within the tolerance of it both times.  (Newton's
   iteration may find a zero of f that the solution passes by, or one beyond a border between the regions of two steady
   states.) */
#include <float.h>
#include <math.h>
#include <string.h>
#include "solver/solver.h"
#include "steady/steady.h"

enum { FIRST_STEPS = 8, TURNS = 7 };
static const double GROWTH = 1.25,              /* of the steps between attempts */
                    FAR = 1e100,                /* a time that is not reached */
                    ALIKE = 1e-6,               /* two zeros of f, relative: they are the same */
                    AT_REST = 1e-10,            /* a start is a zero of f, relative */
                    LONG = 1e3,                 /* the time for which an approach is seen to be gradual, relative */
                    EXCURSION = 1e-3;           /* of a component that turns, relative */

/* ---- steps ---- */

/* component i is y now: has it turned, by more than a small part of itself? */
static void watch_component(flow *f, int i, double y)
{
    f->size[i] = fmax(f->size[i], fabs(y));
    double moved = y - f->extreme[i];
    int way = moved > 0 ? 1 : -1;
    if (way == f->way[i]) { f->extreme[i] = y; return; }
    if (!(fabs(moved) > EXCURSION * f->size[i])) return;
    f->turns[i]++;
    f->way[i] = way;
    f->extreme[i] = y;
}

static int look_at_step(const costate_step *step, void *ctx)
{
    steady *s = ctx;
    flow *f = &s->flow;
    const double *y = costate_step_state(step);
    for (int i = 0; i < s->n; i++) watch_component(f, i, y[i]);
    f->accepted++;
    int stop = f->on_step ? f->on_step(step, f->on_step_ctx) : 0;
    f->stopped = stop != 0;
    return stop || f->accepted >= f->until;
}

static int look_at_event(int event, double t, const double *before, const double *after, void *ctx)
{
    steady *s = ctx;
    (void)t; (void)before; (void)after;
    if (event < 0 || event >= s->P.nevents) return 0;
    s->flow.event_fired = event;
    return 1;
}

int steady_flow_init(steady *s)
{
    flow *f = &s->flow;
    f->on_step = f->o.on_step;
    f->on_step_ctx = f->o.on_step_ctx;
    f->o.on_step = look_at_step;
    f->o.on_event = look_at_event;
    f->o.on_step_ctx = f->o.on_event_ctx = s;
    f->o.warm = 1;
    if (f->o.hmin == 0) f->o.hmin = DBL_MIN;
    if (!(f->solver = costate_new(s->method, &f->P, &f->o)))
        return fail(&s->v, COSTATE_NO_MEMORY, "No memory for the solver.");
    int status = costate_status(f->solver);
    return status ? fail(&s->v, status, "%s", costate_message(f->solver)) : 0;
}

/* ---- one attempt ---- */

/* The approach is slower than exponential since this time; a gradual approach that has lasted. */
static void is_gradual(steady *s, double time) { if (s->refused.gradual == 0) s->refused.gradual = time; }
static int never(const steady *s, double time) { return s->refused.gradual > 0 && time > LONG * s->refused.gradual; }

/* RETRY: this zero of f, if it is one, is not determined by the invariants */
static int find_invariants(steady *s, limit *x)
{
    int null, sought = !steady_given(s) && s->o.invariants == 0 && !s->maps.residual;
    steady_rank(s, s->dense.D, x->row, x->w, &null);
    x->k = steady_given(s) ? s->o.invariants : 0;
    if (sought) TRY(steady_hold(s, s->dense.D, null, x));
    if (x->k == null) return 0;
    s->refused.rank = s->n - null;
    s->refused.invariants = x->k;
    s->refused.free = s->eliminated.column[s->n - null];
    return retry(&s->v, WHY_SINGULAR);
}

static int stable_zero(steady *s, limit *x, double time)
{
    int halves, status = steady_newton(s, x, &halves);
    if (halves) is_gradual(s, time);
    TRY(status);
    TRY(steady_turns(s, x));
    TRY(steady_stability(s, x));
    if (x->slowest < 0 || s->o.unstable) return 0;
    s->refused.slowest = x->slowest;
    return retry(&s->v, WHY_NEWTON);
}

/* values of relations at y; *same: those that x already has */
static int relations_of(steady *s, limit *x, const double *y, int *same)
{
    costate_point at = steady_point(s, y);
    int *values = s->relation;
    int status = relations_at(&s->P, &at, values);
    if (status < 0) return fail(&s->v, COSTATE_CALLBACK, "The guard of a relation returned %d.", status);
    if (status > 0) return retry(&s->v, WHY_CALLBACK);
    *same = memcmp(values, x->relation, (size_t)s->P.nrelations * sizeof *values) == 0;
    memcpy(x->relation, values, (size_t)s->P.nrelations * sizeof *values);
    return 0;
}

static int look_for_zero(steady *s, limit *x, double time)
{
    int same;
    memcpy(x->y, s->flow.y, (size_t)s->n * sizeof *x->y);
    steady_bind(s, x);
    TRY(relations_of(s, x, x->y, &same));
    TRY(steady_jacobian(s, x->y, s->dense.D));
    TRY(find_invariants(s, x));
    TRY(stable_zero(s, x, time));
    TRY(relations_of(s, x, x->y, &same));
    return same ? 0 : retry(&s->v, WHY_NEWTON);
}

static double apart(const steady *s, const double *a, const double *b)
{
    double most = 0;
    for (int i = 0; i < s->n; i++) most = fmax(most, steady_relative(s, i, a[i], b[i]));
    return most;
}

static int within_tolerance(const steady *s, const double *a, const double *b)
{
    for (int i = 0; i < s->n; i++) if (fabs(a[i] - b[i]) * s->work.w[i] > 1) return 0;
    return 1;
}

/* *there: the candidate is the limit; time: from the start */
static int attempt(steady *s, double time, int *there)
{
    limit *x = &s->candidate;
    *there = 0;
    s->count.attempts++;
    int status = look_for_zero(s, x, time);
    if (status) { s->distance = HUGE_VAL; return status < 0 ? status : 0; }
    s->refused.gradual = 0;
    steady_weights(s, x->y, s->work.w);
    double distance = apart(s, s->flow.y, x->y);
    int same = s->distance < HUGE_VAL && apart(s, s->work.seen, x->y) <= ALIKE;
    int nearer = distance <= s->distance / 2 || within_tolerance(s, s->flow.y, x->y);
    *there = s->o.unstable || (time == 0 && distance <= AT_REST) || (same && nearer);
    if (!same || distance < s->distance) s->distance = distance;
    memcpy(s->work.seen, x->y, (size_t)s->n * sizeof *x->y);
    return 0;
}

/* ---- the run ---- */

static int no_limit(steady *s, double t)
{
    const refusals *r = &s->refused;
    const flow *f = &s->flow;
    int most = 0;
    for (int i = 1; i < s->n; i++) if (f->turns[i] > f->turns[most]) most = i;
    if (f->turns[most] >= TURNS)
        return fail(&s->v, COSTATE_NO_LIMIT, "The solution does not come to rest until t = %.6g: y[%d] = %.4g has "
                    "turned %d times, as in a periodic solution.", t, most, f->y[most], f->turns[most]);
    if (r->slowest >= 0)
        return fail(&s->v, COSTATE_NO_LIMIT, "The solution reaches no stable steady state until t = %.6g.  One that "
                    "Newton's iteration found is not stable: disturbances of it change as exp(%.3g t).", t, r->slowest);
    if (r->gradual > 0)
        return fail(&s->v, COSTATE_NO_LIMIT, "The solution approaches a steady state more slowly than exponentially: "
                    "f_y vanishes there in some direction, and derivatives do not exist.");
    if (r->rank >= 0)
        return fail(&s->v, COSTATE_NO_LIMIT, "No steady state until t = %.6g is determined: f_y has rank %d for %d "
                    "states, with %d linear invariants; y[%d] is among what may be anything, or the solution drifts, "
                    "or comes to rest more slowly than exponentially.  If it has an invariant that is not linear, "
                    "options.invariant takes it.", t, r->rank, s->n, r->invariants, r->free);
    return fail(&s->v, COSTATE_NO_LIMIT, "The solution does not come to rest until t = %.6g, after %d steps.", t,
                f->accepted);
}

/* the run to the next pause; *ended: there is no more to come */
static int go_on(steady *s, double *t, const double *p, int *ended)
{
    flow *f = &s->flow;
    double end = s->o.longest > 0 ? s->o.t0 + s->o.longest : FAR;
    f->until = (int)fmax(f->accepted + FIRST_STEPS, GROWTH * f->accepted);
    int status = costate_integrate(f->solver, *t, end, f->y, p, NULL);
    *t = costate_time(f->solver);
    *ended = status == COSTATE_OK || status == COSTATE_MAX_STEPS || f->accepted >= f->solver->o.max_steps;
    if (f->event_fired >= 0)
        return fail(&s->v, COSTATE_BAD_ARGUMENT, "event[%d] fired at t = %.10g on the way to a steady state, which "
                    "would depend on what it changed.", f->event_fired, *t);
    if (*ended || (status == COSTATE_STOPPED && !f->stopped)) return 0;
    return fail(&s->v, status, "On the way to a steady state: %s", costate_message(f->solver));
}

static void start(steady *s, const double *y0, const double *p, const double *m)
{
    flow *f = &s->flow;
    limit *x = &s->candidate;
    size_t n = (size_t)s->n;
    memcpy(f->y, y0, n * sizeof *y0);
    memcpy(f->extreme, y0, n * sizeof *y0);
    for (size_t i = 0; i < n; i++) f->size[i] = fabs(y0[i]);
    memcpy(x->y0, y0, n * sizeof *y0);
    if (s->np) memcpy(x->p, p, (size_t)s->np * sizeof *p);
    if (s->nm) memcpy(x->m, m, (size_t)s->nm * sizeof *m);
    if (s->nm) memcpy(f->y + n, m, (size_t)s->nm * sizeof *m);
    memset(f->turns, 0, n * sizeof *f->turns);
    memset(f->way, 0, n * sizeof *f->way);
    f->accepted = f->until = 0;
    f->event_fired = -1;
    f->stopped = 0;
    s->distance = HUGE_VAL;
    s->dense.samples = 0;
    s->refused = (refusals){.rank = -1, .slowest = NAN};
    s->count = (costate_steady_stats){.calls = s->count.calls};
}

/* Jacobians there, where f is defined */
static int take_samples(steady *s)
{
    limit *x = &s->candidate;
    int same;
    steady_bind(s, x);
    for (int k = 0; k < SAMPLES; k++) {
        steady_sample(s, x, k, x->y);
        int status = relations_of(s, x, x->y, &same);
        if (status == 0) status = steady_jacobian(s, x->y, s->dense.sample[s->dense.samples]);
        if (status < 0) return status;
        s->dense.samples += status == 0;
    }
    return 0;
}

/* the limit is one of f at other times, too */
static int autonomous(steady *s, const limit *x)
{
    const double later[] = {1, 1e3, -0.37};
    size_t n = (size_t)s->n;
    TRY(steady_value(s, s->o.t0, x->y, s->work.r));
    for (int k = 0; k < 3; k++) {
        double t = s->o.t0 + later[k];
        TRY(steady_value(s, t, x->y, s->work.d));
        if (memcmp(s->work.r, s->work.d, n * sizeof *s->work.d) != 0)
            return fail(&s->v, COSTATE_BAD_ARGUMENT, "f depends on t: at t = %.10g it has another value than at t = "
                        "%.10g.  Such a problem has no steady state.", t, s->o.t0);
    }
    return 0;
}

int steady_follow(steady *s, const double *y0, const double *p, const double *m)
{
    double t = s->o.t0;
    int there, ended = 0;
    start(s, y0, p, m);
    if (!s->P.residual.value && !steady_given(s) && s->o.invariants == 0) TRY(take_samples(s));
    solver_renew(s->flow.solver);
    do {
        TRY(attempt(s, t - s->o.t0, &there));
        s->count.t = t;
        if (there || s->o.unstable || ended || never(s, t - s->o.t0)) break;
        TRY(go_on(s, &t, p, &ended));
        s->count.steps = (int)costate_get_stats(s->flow.solver)->steps;
    } while (1);
    return there ? autonomous(s, &s->candidate) : no_limit(s, t);
}
