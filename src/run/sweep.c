/* sweep.c - over a tape: tangents forward, adjoints backward, loops over its operations; the run again. */
#include <math.h>
#include <string.h>
#include "run/run.h"

/* The same computation again, bit for bit: the same Jacobian, step, starting values and number of iterations; in
   derivative mode, too: the stages are those of the run. */
static int again(void *run, const costate_tape *t, int k, record *r)
{
    costate *c = run;
    decisions as = tape_decisions(t, k);
    trial by = {.as = &as, .serial = k + 1, .to = c->work.scratch[0], .y1 = c->work.y1, .err = c->work.err};
    r->X = by.to.X;
    weights(&c->st, r->y, c->st.w);
    TRY(frozen(&c->v, c->st.F->forward(&c->st, r, &by)));
    return frozen(&c->v, space_finite(&c->maps.space, (size_t)c->st.s * (size_t)c->st.n, r->X, 1));
}

int step_of_tape(costate *c, const costate_tape *t, int k, record *r)
{
    remaker how = {again, c};
    return tape_get(t, k, c->self, &how, r);
}

static int tape_begin(costate *c, const costate_tape *tape)
{
    TRY(tape_fits(&c->st, &c->P, tape));
    maps_bind(&c->maps, tape->p);
    if (tape->from.writer != c->self || tape->from.stamp != c->stamp) forget(c);
    claim(c);
    return tape->map_count ? starter_ready(c) : COSTATE_OK;
}

/* ---- the list of operations: steps of the tape, observations inside them ---- */

/* An observation is of the last step that begins before it, or at it. */
static int lies_in(const costate_tape *tape, int k, double t)
{
    int after = k == 0 || tape_direction(tape) * (t - tape->list[k].t) >= 0;
    return after && (k == tape->count - 1 || tape_direction(tape) * (t - tape->list[k + 1].t) < 0);
}

static const op_rules *const rules[] = {[STEP] = &step_rules, [MAP] = &map_rules, [OBSERVE] = &observe_rules};

static int tangent_of(world *w, op o) { return frozen(w->st->v, rules[o.kind]->tangent(w, &o)); }

static int adjoint_of(world *w, op o) { return frozen(w->st->v, rules[o.kind]->adjoint(w, &o)); }

static op map_of(const costate_tape *tape, int which)
{
    int step = tape->maps[which].before;
    return (op){MAP, step, which, step == tape->count && step > 0};
}

static int maps_forward(world *w, int step, int *at)
{
    for (; *at < w->tape->map_count && w->tape->maps[*at].before == step; (*at)++)
        TRY(tangent_of(w, map_of(w->tape, *at)));
    return 0;
}

static int maps_backward(world *w, int step, int *at)
{
    for (; *at > 0 && w->tape->maps[*at - 1].before == step; (*at)--)
        TRY(adjoint_of(w, map_of(w->tape, *at - 1)));
    return 0;
}

static int forward_over(world *w)
{
    int seen = 0, count = w->seen ? w->seen->count : 0, steps = w->tape->count, next = 0;
    for (int k = 0; k < steps; k++) {
        TRY(maps_forward(w, k, &next));
        TRY(tangent_of(w, (op){STEP, k, 0, k == steps - 1}));
        for (; seen < count && lies_in(w->tape, k, w->seen->t[seen]); seen++)
            TRY(tangent_of(w, (op){OBSERVE, k, seen, 0}));
    }
    TRY(maps_forward(w, steps, &next));
    world_move(w);
    return 0;
}

static int backward_over(world *w)
{
    int seen = w->seen ? w->seen->count : 0, steps = w->tape->count, next = w->tape->map_count;
    TRY(maps_backward(w, steps, &next));
    for (int k = steps - 1; k >= 0; k--) {
        for (; seen > 0 && lies_in(w->tape, k, w->seen->t[seen - 1]); seen--)
            TRY(adjoint_of(w, (op){OBSERVE, k, seen - 1, 0}));
        TRY(adjoint_of(w, (op){STEP, k, 0, k == steps - 1}));
        TRY(maps_backward(w, k, &next));
    }
    return 0;
}

static int check_observations(costate *c, const costate_tape *tape, const costate_observations *o, int adjoint)
{
    if (!o || o->count == 0) return COSTATE_OK;
    if (o->count < 0 || !o->t)
        return fail(&c->v, COSTATE_BAD_ARGUMENT, "observations: count is negative or t is NULL.");
    if (adjoint ? !o->seed : !o->value)
        return fail(&c->v, COSTATE_MISSING, "observations.%s is missing.", adjoint ? "seed" : "value");
    if (tape->count == 0)
        return fail(&c->v, COSTATE_OUT_OF_RANGE, "observations: the tape holds no step (t0 = t1).");
    double dir = tape_direction(tape), last = tape->from.t0;
    for (int k = 0; k < o->count; k++) {
        if (!(dir * (o->t[k] - last) >= 0) || !(dir * (tape->from.t1 - o->t[k]) >= 0))
            return fail(&c->v, COSTATE_OUT_OF_RANGE, "observations.t[%d] = %.10g lies outside the run or out of order.",
                        k, o->t[k]);
        last = o->t[k];
    }
    return COSTATE_OK;
}

static world world_of(costate *c, const costate_tape *tape, const remaker *how, int m, const costate_times *times,
                      const costate_observations *o)
{
    columns *d = &c->d;
    size_t k = (size_t)m;
    return (world){.st = &c->st, .start = &c->start, .tape = tape, .self = c->self, .again = how, .times = times,
                   .seen = o, .held = -1, .dt = d->dt, .dh = d->dh, .tau = d->tau, .tau_seen = d->tau + k,
                   .eta_seen = d->tau + 2 * k, .seeds = d->seed, .sum = d->sum, .f = c->work.f, .z = c->work.z,
                   .w = d->w};
}

/* ---- tangents ---- */

int costate_tangent(costate *c, const costate_tape *tape, int m, double *V, const double *Vp,
                    const costate_times *times, const costate_observations *o)
{
    TRY(begin(c));
    TRY(tape_begin(c, tape));
    TRY(tangent_begin(c, m, V, Vp, times));
    TRY(check_observations(c, tape, o, 0));
    c->st.lin.serial = 0;
    remaker how = {again, c};
    world w = world_of(c, tape, &how, m, times, o);
    w.V = V;
    w.d = (directions){.m = m, .stages = o && o->count > 0, .dt = w.dt, .dh = w.dh, .V = V, .Vp = Vp, .V1 = c->d.V,
                       .Xd = c->d.X};
    if (c->st.F->sweep) c->st.F->sweep(&c->st);
    left_sweep(&c->sh);
    TRY(forward_over(&w));
    TRY(left_relative(&c->sh, 0, m, V, (size_t)c->st.N, &c->count.krylov_error));
    return space_sound(&c->maps.space, (size_t)c->st.N * (size_t)m, V, "The tangents are NaN or Inf.");
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

/* each process has its share of them */
static int total_times(const costate *c, const costate_times *times, int m)
{
    double *const all[] = {times->t0, times->t1, times->defect};
    for (int k = 0; k < 3; k++) if (all[k]) TRY(space_total(&c->maps.space, m, all[k]));
    return 0;
}

static int backward(costate *c, const costate_tape *tape, int m, double *lambda, double *mu, const costate_times *times,
                    const costate_observations *o)
{
    size_t k = (size_t)m;
    int timed = times && (times->t0 || times->t1);
    remaker how = {again, c};
    world w = world_of(c, tape, &how, m, times, o);
    w.g = (functionals){.m = m, .times = timed, .lambda = lambda, .mu = c->st.np ? mu : NULL, .t = c->d.t, .h = c->d.h,
                        .defect = times ? times->defect : NULL, .U = c->d.U};
    memset(w.tau, 0, k * sizeof *w.tau);
    set_times(times, m, NULL);
    if (c->st.F->sweep) c->st.F->sweep(&c->st);
    left_sweep(&c->sh);
    TRY(backward_over(&w));
    TRY(left_relative(&c->sh, 1, m, lambda, (size_t)c->st.N, &c->count.krylov_error));
    if (timed) set_times(times, m, w.tau);
    if (times) TRY(total_times(c, times, m));
    TRY(space_sound(&c->maps.space, (size_t)c->st.N * k, lambda, "The gradients are NaN or Inf."));
    if (!mu) return COSTATE_OK;
    return space_sound(&c->maps.space, (size_t)c->st.np * k, mu, "The gradients are NaN or Inf.");
}

int costate_adjoint(costate *c, const costate_tape *tape, int m, double *lambda, double *mu, const costate_times *times,
                    const costate_observations *o)
{
    TRY(begin(c));
    TRY(tape_begin(c, tape));
    TRY(adjoint_begin(c, m, lambda, mu, times));
    TRY(check_observations(c, tape, o, 1));
    return backward(c, tape, m, lambda, mu, times, o);
}

int costate_integrate_adj(costate *c, double t0, double t1, double *y, const double *p, int m, double *lambda,
                          double *mu, const costate_times *times, costate_seed seed, void *ctx)
{
    TRY(begin(c));
    if (!seed) return fail(&c->v, COSTATE_MISSING, "seed is missing: it sets lambda at t1.");
    if (m > 0 && lambda) memset(lambda, 0, (size_t)c->st.N * (size_t)m * sizeof *lambda);
    TRY(adjoint_begin(c, m, lambda, mu, times));
    if (!c->own && !(c->own = costate_tape_new())) return fail(&c->v, COSTATE_NO_MEMORY, "No memory for the tape.");
    TRY(costate_integrate(c, t0, t1, y, p, c->own));
    int r = seed(t1, y, p, m, lambda, mu, ctx);
    r = r == 0 ? 0 : fail(&c->v, COSTATE_CALLBACK, "The callback seed returned %d.", r);
    if (r == 0 && !all_finite((size_t)c->st.N * (size_t)m, lambda))
        r = fail(&c->v, COSTATE_BAD_ARGUMENT, "seed set lambda to NaN or Inf.");
    TRY(space_agree(&c->maps.space, r));
    return backward(c, c->own, m, lambda, mu, times, NULL);       /* the last step's factorisation is still there */
}

/* ---- the run again ---- */

static int step_again(costate *c, const costate_tape *tape, int k, record *now, const record *prev)
{
    const record *r = &tape->list[k];
    decisions as = tape_decisions(tape, k);
    trial by = {.before = prev, .as = &as, .serial = k + 1, .to = c->work.scratch[k & 1], .predict = tape->from.predict,
                .y1 = c->work.y1, .yp1 = c->work.yp1, .err = c->work.err};
    if (c->o.derivative_mode) as.iterations = NULL;
    *now = (record){.t = r->t, .h = r->h, .end = r->end, .y = c->work.y, .yp = r->yp, .X = by.to.X,
                    .iterations = by.to.iterations};
    verdict_at(&c->v, r->t);
    weights(&c->st, c->work.y, c->st.w);
    TRY(frozen(&c->v, c->st.F->forward(&c->st, now, &by)));
    int sound = all_finite((size_t)c->st.N, c->work.y1);
    return space_agree(&c->maps.space, sound ? 0 : fail(&c->v, COSTATE_NOT_FINITE, "The state became NaN or Inf at t = "
                       "%.10g in a replay.", r->t));
}

static int maps_again(costate *c, const costate_tape *tape, int step, int *at)
{
    for (; *at < tape->map_count && tape->maps[*at].before == step; (*at)++)
        TRY(make_consistent(c, tape->maps[*at].f.t, tape->maps[*at].f.only_values));
    return 0;
}

int costate_replay(costate *c, const costate_tape *tape, double *y, const double *p)
{
    TRY(begin(c));
    TRY(tape_begin(c, tape));
    TRY(check_vector(c, "y", y, (size_t)c->st.N));
    TRY(check_vector(c, "p", p, (size_t)c->st.np));
    maps_bind(&c->maps, p);
    forget(c);
    memcpy(c->work.y, y, (size_t)c->st.N * sizeof *y);
    record now, prev = {0};
    int next = 0;
    for (int k = 0; k < tape->count; k++) {
        TRY(maps_again(c, tape, k, &next));
        TRY(step_again(c, tape, k, &now, k ? &prev : NULL));
        workspace_step(&c->work);
        prev = now;
    }
    TRY(maps_again(c, tape, tape->count, &next));
    verdict_at(&c->v, tape->from.t1);
    memcpy(y, c->work.y, (size_t)c->st.N * sizeof *y);
    return COSTATE_OK;
}
