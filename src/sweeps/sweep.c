/* sweep.c - sweeps over a tape: tangents forward, adjoints backward, as loops over its operations. */
#include <math.h>
#include <string.h>
#include "base/invariant.h"
#include "run/integrate.h"
#include "ops/list.h"
#include "run/remake.h"
#include "solver/arguments.h"
#include "solver/members.h"
#include "solver/workspace.h"
#include "sweeps/inside.h"
#include "sweeps/sweep.h"

int step_of_tape(costate *c, const costate_tape *t, int k, record *r)
{
    reader who = reader_of(c, 0);
    TRY(tape_get(t, k, &who, 1, r));
    memory_bind(&c->st, r->y, r->mode);
    maps_bind_time(&c->maps, r->t, r->h);
    maps_bind_sides(&c->maps, r->t, r->end);
    return 0;
}

/* Steps of members that this solver may not use lack derivatives here, or are forbidden. */
static int members_of_tape(costate *c, const costate_tape *tape)
{
    for (int k = 0; c->st.method->of && k < tape->count; k++) {
        int member = (int)tape->list[k].member;
        if (!c->works[member].usable)
            return fail(&c->v, COSTATE_BAD_TAPE, "Step %d of the tape is by %s, which options.members or the products "
                        "of this problem exclude from %s here.", k, c->st.members[member].m->name, c->st.method->name);
    }
    return 0;
}

int tape_begin(costate *c, const costate_tape *tape)
{
    TRY(tape_fits(&c->st, &c->P, tape));
    INVARIANT(tape_is_valid(tape));
    TRY(members_of_tape(c, tape));
    maps_bind(&c->maps, tape->p);
    maps_know(&c->maps, &tape->situations);
    c->maps.bound.dir = tape_direction(tape);
    if (tape->from.writer != c->self || tape->from.stamp != c->stamp) forget(c);
    claim(c);
    if (tape->maps.count) TRY(starter_ready(c));
    return tape_take(&c->st, c->self, tape);
}

static const op_rules *const rules[] = {
    [STEP] = &step_rules, [CORRECT] = &correct_rules, [MAP] = &map_rules, [OBSERVE] = &observe_rules,
    [INSTANT] = &step_rules};

int tangent_of(void *none, sweep_state *w, op o)
{
    (void)none;
    return frozen(w->st->v, rules[o.kind]->tangent(w, &o));
}

int adjoint_of(void *none, sweep_state *w, op o)
{
    (void)none;
    return frozen(w->st->v, rules[o.kind]->adjoint(w, &o));
}

/* the first observation in step k or later */
static int first_seen(const sweep_state *w, int k)
{
    int seen = 0, count = w->seen ? w->seen->count : 0;
    if (k == w->tape->count) return count;
    double dir = tape_direction(w->tape), t = w->tape->list[k].t;
    while (k > 0 && seen < count && dir * (w->seen->t[seen] - t) < 0) seen++;
    return seen;
}

/* the step of length zero that ends in event `at` */
static op instant_of(const costate_tape *tape, int step, int at)
{
    return (op){INSTANT, step, at, tape->maps.list[at].timed ? TO_TIME : TO_EVENT};
}

static int maps_at(sweep_state *w, const visit *of, int step, int *at)
{
    const mapped *list = w->tape->maps.list;
    for (; *at < w->tape->maps.count && list[*at].before == step; (*at)++) {
        if (list[*at].event == NO_LENGTH) continue;
        if (tape_has_instant(w->tape, *at)) TRY(of->row(of->ctx, w, instant_of(w->tape, step, *at)));
        TRY(of->row(of->ctx, w, (op){MAP, step, *at, FROZEN}));
    }
    return 0;
}

static int maps_back(sweep_state *w, const visit *of, int step, int *at)
{
    const mapped *list = w->tape->maps.list;
    for (; *at > 0 && list[*at - 1].before == step; (*at)--) {
        int k = *at - 1;
        if (list[k].event == NO_LENGTH) continue;
        TRY(of->row(of->ctx, w, (op){MAP, step, k, FROZEN}));
        if (tape_has_instant(w->tape, k)) TRY(of->row(of->ctx, w, instant_of(w->tape, step, k)));
    }
    return 0;
}

int sweep_forward(sweep_state *w, int from, int to, const visit *of)
{
    int seen = first_seen(w, from), count = w->seen ? w->seen->count : 0, next = tape_first_map(w->tape, from);
    for (int k = from; k < to; k++) {
        TRY(maps_at(w, of, k, &next));
        TRY(of->row(of->ctx, w, step_of(w->tape, k, next)));
        for (; seen < count && lies_in(w->tape, k, w->seen->t[seen]); seen++)
            TRY(of->row(of->ctx, w, (op){OBSERVE, k, seen, FROZEN}));
        if (w->tape->list[k].corrected) TRY(of->row(of->ctx, w, (op){CORRECT, k, 0, FROZEN}));
    }
    sweep_move(w);
    return to == w->tape->count ? maps_at(w, of, to, &next) : 0;
}

int sweep_backward(sweep_state *w, int from, int to, const visit *of)
{
    int whole = to == w->tape->count, seen = first_seen(w, to);
    int next = whole ? w->tape->maps.count : tape_first_map(w->tape, to);
    if (whole) TRY(maps_back(w, of, to, &next));
    for (int k = to - 1; k >= from; k--) {
        if (w->tape->list[k].corrected) TRY(of->row(of->ctx, w, (op){CORRECT, k, 0, FROZEN}));
        for (; seen > 0 && lies_in(w->tape, k, w->seen->t[seen - 1]); seen--)
            TRY(of->row(of->ctx, w, (op){OBSERVE, k, seen - 1, FROZEN}));
        TRY(of->row(of->ctx, w, step_of(w->tape, k, next)));
        TRY(maps_back(w, of, k, &next));
    }
    return 0;
}

int check_observations(costate *c, const costate_tape *tape, const costate_observations *o, enum mode mode)
{
    if (!o || o->count == 0) return COSTATE_OK;
    const int there[] = {[TANGENT] = o->value != NULL, [ADJOINT] = o->seed != NULL, [SECOND] = o->seed2 != NULL};
    static const char *const names[] = {[TANGENT] = "value", [ADJOINT] = "seed", [SECOND] = "seed2"};
    if (o->count < 0 || !o->t)
        return fail(&c->v, COSTATE_BAD_ARGUMENT, "observations: count is negative or t is NULL.");
    if (!there[mode]) return fail(&c->v, COSTATE_MISSING, "observations.%s is missing.", names[mode]);
    if (tape->count == 0)
        return fail(&c->v, COSTATE_OUT_OF_RANGE, "observations: the run has no step in which they could lie (t0 = "
                    "t1 = %.10g): add their terms to the functional of the end.", tape->from.t0);
    double dir = tape_direction(tape), last = tape->from.t0;
    for (int k = 0; k < o->count; k++) {
        if (!(dir * (o->t[k] - last) >= 0) || !(dir * (tape->from.t1 - o->t[k]) >= 0))
            return fail(&c->v, COSTATE_OUT_OF_RANGE, "observations.t[%d] = %.10g lies outside the run or out of order.",
                        k, o->t[k]);
        last = o->t[k];
    }
    return COSTATE_OK;
}

sweep_state sweep_of(costate *c, const costate_tape *tape, const reader *who, int m, const costate_times *times,
                     const costate_observations *o)
{
    columns *d = &c->d;
    size_t k = (size_t)m;
    return (sweep_state){.st = &c->st, .start = &c->start, .tape = tape, .who = who, .times = times, .seen = o,
                         .held = -1, .dt = d->dt, .dh = d->dh, .tau = d->tau, .tau_seen = d->tau + k,
                         .eta_seen = d->tau + 2 * k, .seeds = d->seed, .sum = d->sum, .f = c->work.f,
                         .z = c->work.z, .w = d->w, .events = d->events};
}

/* ---- tangents ---- */

static int forward(costate *c, const costate_tape *tape, int m, double *V, const double *Vp,
                   const costate_times *times, const costate_observations *o)
{
    linearisation_outdate(&c->st.lin);
    double ended = c->v.t;              /* the time of the last run, restored below; a failure reports its step */
    reader who = reader_of(c, 0);
    sweep_state w = sweep_of(c, tape, &who, m, times, o);
    w.V = V;
    w.d = (directions){.m = m, .stages = o && o->count > 0, .dt = w.dt, .dh = w.dh, .V = V,
                       .Vp = pm_begin(c, m, Vp), .V1 = c->d.V, .Xd = c->d.X};
    memory_to_pm(&c->st, m, V, c->d.events.pm);
    times_begin(times, m, w.dt);
    members_sweep(c);
    members_left_sweep(c);
    TRY(sweep_forward(&w, 0, tape->count, &(visit){tangent_of, NULL}));
    verdict_at(&c->v, ended);
    if (times && times->end) memcpy(times->end, w.dt, (size_t)m * sizeof *w.dt);
    TRY(left_relative(members_left(c), 0, m, V, (size_t)c->st.N, &c->count.krylov_error));
    return space_sound(&c->maps.space, (size_t)c->st.N * (size_t)m, V, "The tangents are NaN or Inf.");
}

int solver_tangent(costate *c, const costate_tape *tape, int m, double *V, const double *Vp,
                   const costate_times *times, const costate_observations *o)
{
    TRY(begin(c));
    TRY(tape_serves(&c->st, &c->P, tape, 1));
    TRY(tangent_begin(c, tape, m, V, Vp, times));
    TRY(check_observations(c, tape, o, TANGENT));
    TRY(tape_begin(c, tape));
    int status = forward(c, tape, m, V, Vp, times, o);
    tape_leave(tape);
    if (!status) observations_remark(c, tape, o);
    return status;
}

/* ---- adjoints ---- */

/* tau: the adjoint of t before the first step */
static void set_times(const costate_times *times, int m, const double *tau)
{
    for (int j = 0; times && j < m; j++) {
        if (times->t0) times->t0[j] = tau ? tau[j] : 0;
        if (tau) continue;
        if (times->t1) times->t1[j] = 0;
        if (times->defect) times->defect[j] = 0;
    }
}

/* zeros, before any event adds to them */
static void clear_events(const costate_times *times, size_t count, size_t m)
{
    if (times && times->events) memset(times->events, 0, count * m * sizeof *times->events);
}

/* Sums derivatives with respect to times over the processes, each of which has a share. */
int total_times(const costate *c, const costate_times *times, int m)
{
    double *const all[] = {times->t0, times->t1, times->defect};
    for (int k = 0; k < 3; k++) if (all[k]) TRY(space_total(&c->maps.space, m, all[k]));
    return 0;
}

/* copies the parameter part of the work space of pm_begin back into mu */
static void pm_end(const costate *c, int m, double *mu)
{
    size_t np = (size_t)c->st.np, rows = np + (size_t)c->st.nm;
    for (size_t j = 0; c->st.nm > 0 && mu && j < (size_t)m; j++)
        memcpy(mu + j * np, c->d.events.pm + j * rows, np * sizeof *mu);
}

/* on_back after each step: memory variables' gradients, which steps add to pm, are rows of lambda by then. */
typedef struct { costate *c; int m; double *lambda, *mu, *pm; const visit *after; sampled *sampled; } looking;

static int adjoint_shown(void *ctx, sweep_state *w, op o)
{
    const looking *s = ctx;
    costate *c = s->c;
    if (o.kind == STEP && s->sampled) TRY(sampled_step(s->sampled, w, o.step));
    TRY(adjoint_of(NULL, w, o));
    if (o.kind != STEP || !(c->o.on_back || s->after)) return 0;
    memory_from_pm(&c->st, s->m, s->lambda, s->pm);
    pm_end(c, s->m, s->mu);
    if (s->after) TRY(s->after->row(s->after->ctx, w, o));
    if (!c->o.on_back) return 0;
    int stops = c->o.on_back(o.step, w->now.t, w->now.h, w->now.y, s->m, s->lambda, c->st.np ? s->mu : NULL,
                             c->o.on_back_ctx) != 0;
    return space_agree(&c->maps.space, stops ? fail(&c->v, COSTATE_STOPPED, "on_back stopped the sweep at step %d, "
                                                    "t = %.10g.", o.step, w->now.t) : 0);
}

int adjoint_sweep(costate *c, const costate_tape *tape, int m, double *lambda, double *mu, const costate_times *times,
                  const costate_observations *o, const visit *after, sampled *sample)
{
    size_t k = (size_t)m;
    int timed = timed_sweep(c, times);
    double ended = c->v.t;
    double *pm = pm_begin(c, m, mu);
    reader who = reader_of(c, 1);
    sweep_state w = sweep_of(c, tape, &who, m, times, o);
    w.g = (functionals){.m = m, .times = timed, .lambda = lambda, .mu = c->st.np + c->st.nm ? pm : NULL, .t = c->d.t,
                        .h = c->d.h, .defect = times ? times->defect : NULL, .U = c->d.U};
    if (times && times->end) memcpy(w.tau, times->end, k * sizeof *w.tau);
    else memset(w.tau, 0, k * sizeof *w.tau);
    set_times(times, m, NULL);
    clear_events(times, (size_t)tape->maps.events, k);
    members_sweep(c);
    members_left_sweep(c);
    looking at = {c, m, lambda, mu, pm, after, sample};
    TRY(sweep_backward(&w, 0, tape->count, &(visit){adjoint_shown, &at}));
    if (sample) TRY(sampled_end(sample, &w));
    verdict_at(&c->v, ended);
    memory_from_pm(&c->st, m, lambda, pm);
    pm_end(c, m, mu);
    TRY(left_relative(members_left(c), 1, m, lambda, (size_t)c->st.N, &c->count.krylov_error));
    if (timed) set_times(times, m, w.tau);
    if (times) TRY(total_times(c, times, m));
    TRY(space_sound(&c->maps.space, (size_t)c->st.N * k, lambda, "The gradients are NaN or Inf."));
    if (!mu) return COSTATE_OK;
    return space_sound(&c->maps.space, (size_t)c->st.np * k, mu, "The gradients are NaN or Inf.");
}

/* a sweep that was asked for, with the estimate of its errors */
static int adjoint_estimated(costate *c, const costate_tape *tape, int m, double *lambda, double *mu,
                             const costate_times *times, const costate_observations *o)
{
    sampled sample;
    if (c->o.gradient_estimate == COSTATE_ESTIMATE_OFF)
        return adjoint_sweep(c, tape, m, lambda, mu, times, o, NULL, NULL);
    sampled_begin(&sample, c, tape);
    return adjoint_sweep(c, tape, m, lambda, mu, times, o, NULL, &sample);
}

int solver_adjoint(costate *c, const costate_tape *tape, int m, double *lambda, double *mu, const costate_times *times,
                   const costate_observations *o)
{
    TRY(begin(c));
    TRY(tape_serves(&c->st, &c->P, tape, 1));
    TRY(adjoint_begin(c, tape, m, lambda, mu, times));
    TRY(check_observations(c, tape, o, ADJOINT));
    TRY(tape_begin(c, tape));
    int status = adjoint_estimated(c, tape, m, lambda, mu, times, o);
    tape_leave(tape);
    if (!status) observations_remark(c, tape, o);
    return status;
}

int solver_integrate_adj(costate *c, double t0, double t1, double *y, const double *p, int m, double *lambda,
                         double *mu, const costate_times *times, costate_seed seed, void *ctx)
{
    TRY(begin(c));
    if (!seed) return fail(&c->v, COSTATE_MISSING, "seed is missing: it sets lambda at t1.");
    if (m > 0 && lambda) memset(lambda, 0, (size_t)c->st.N * (size_t)m * sizeof *lambda);
    TRY(adjoint_begin(c, NULL, m, lambda, mu, times));
    if (!c->own && !(c->own = costate_tape_new())) return fail(&c->v, COSTATE_NO_MEMORY, "No memory for the tape.");
    TRY(check_no_events(c, times));
    TRY(solver_integrate(c, t0, t1, y, p, c->own));
    int r = seed(c->v.t, y, p, m, lambda, mu, ctx);
    r = r == 0 ? 0 : fail(&c->v, COSTATE_CALLBACK, "The callback seed returned %d.", r);
    if (r == 0 && !all_finite((size_t)c->st.N * (size_t)m, lambda))
        r = fail(&c->v, COSTATE_BAD_ARGUMENT, "seed set lambda to NaN or Inf.");
    TRY(space_agree(&c->maps.space, r));
    return adjoint_estimated(c, c->own, m, lambda, mu, times, NULL);      /* uses the factorisation of the last step */
}
