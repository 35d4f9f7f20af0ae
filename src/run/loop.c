/* loop.c - the step loop: the only place that decides about steps.

   A step is tried, judged by its error norm, and accepted or repeated with a smaller h.  If tangents are propagated,
   they are those of the accepted step.  The last step has h = t1 - t. */
#include <float.h>
#include <math.h>
#include <string.h>
#include "choice/effort.h"
#include "choice/rule.h"
#include "run/aim.h"
#include "run/calibrated.h"
#include "run/consistent.h"
#include "run/control.h"
#include "run/corrected.h"
#include "run/damping.h"
#include "run/events.h"
#include "run/halves.h"
#include "run/known.h"
#include "run/loop.h"
#include "run/random_tangents.h"
#include "run/relations.h"
#include "run/start.h"
#include "run/try.h"
#include "run/watch.h"
#include "solver/status.h"
#include "solver/workspace.h"

/* after an event: controller and predictor start afresh */
static void restart(costate *c, run *x)
{
    fresh(c, 0);
    spectrum_changed(&c->st.spectrum);
    rule_event(c);
    x->has_prev = 0;
    x->by.cautious = 1;
    x->k = (control){.converges = HUGE_VAL, .by = x->k.by};
}

static int no_start(costate *c, const run *x)
{
    const char *where = x->begun ? "after the event" : "at the initial state";
    if (c->v.why == WHY_CALLBACK)
        return fail(&c->v, COSTATE_CALLBACK, "%s.value is not defined %s (it returned > 0 at t = %.10g).",
                    c->maps.rhs.name, where, x->t);
    return fail(&c->v, COSTATE_NOT_FINITE, "%s.value returned NaN or Inf %s (t = %.10g).", c->maps.rhs.name, where,
                x->t);
}

/* usual: |h| where f and y tell nothing, or 0 */
static int initial_step(costate *c, run *x, double usual)
{
    double h = fmin(c->o.h0, fmin(c->in.hmax, fabs(x->end - x->t)));
    interval rest = c->in;
    rest.t0 = x->t;
    rest.usual = usual;
    if (c->P.nstops > 0) rest.t1 = next_stop(c, x);
    maps_bind_sides(&c->maps, x->t, rest.t1);
    if (!(c->o.h0 > 0) && !c->halves.tape) {
        int status = first_step(&c->st, &rest, c->work.y, c->work.yp, c->work.f, c->work.z, c->work.y1, &h);
        TRY(status == RETRY ? no_start(c, x) : status);
        if (rest.t1 == c->in.t1) c->in.hmax = rest.hmax;
    }
    x->h_free = c->in.dir * fmax(h, c->in.hmin);
    return COSTATE_OK;
}

/* Newton's iteration failed again for an h that is no longer than ALIKE times the last one: it is likely to fail for it
   in the next steps, too, which are at most LESS times as long, and MORE times longer with each one accepted. */
static void remember(control *k, double h)
{
    const double ALIKE = 1.5, LESS = 0.7;
    if (h < ALIKE * k->failed) k->converges = LESS * h;
    k->failed = h;
}

/* J at the start of a step does not depend on h: what jac or products give there, they give to shorter steps, too.
   Asked twice, as callbacks may fail once. */
static int without_jacobian(const costate *c, run *x)
{
    int fails = (c->v.why == WHY_JAC || c->v.why == WHY_PRODUCTS) && c->st.lin.serial == 0;
    x->unlinear = !fails ? 0 : x->k.rejected == 0 ? 1 : x->unlinear + 1;
    return x->unlinear == 2;
}

static void reject(costate *c, run *x)
{
    c->count.rejected++;
    x->rejected++;
    if (c->v.why != WHY_ERROR) c->count.newton_failures++;
    if (c->v.why == WHY_NEWTON && !x->by.next.new_jacobian) remember(&x->k, fabs(x->h));
    if (c->v.why == WHY_KRYLOV) x->unsolved++;
    x->h_free = x->h * x->by.next.factor;
    x->k.rejected++;
    x->by.cautious = 1;
}

/* GMRES fails more often than steps are accepted: these are so small that nothing has to be solved, and the next ones
   are larger and fail again.  Where the preconditioner is good for shorter steps, one failure is followed by several
   of them.  TRIES: as many halve h from the length of a run to a step for which even a poor preconditioner is good. */
static int hopeless(const costate *c, const run *x)
{
    enum { TRIES = 30 };
    return x->unsolved >= TRIES && x->unsolved > x->rejected / 2 && x->unsolved > c->at;
}

static int report(costate *c, run *x)
{
    struct costate_step s = {c, &x->now};
    if (!c->o.on_step) return COSTATE_OK;
    int stops = c->o.on_step(&s, c->o.on_step_ctx) != 0;
    return space_agree(&c->maps.space, stops ? fail(&c->v, COSTATE_STOPPED, "on_step stopped the run at t = %.10g.",
                                                    c->v.t) : COSTATE_OK);
}

/* Proposes the next step size. */
/* FAST: with so small a contraction of Newton's iteration steps may become longer than any that failed. */
static void propose(costate *c, run *x, double err)
{
    const double FAST = 0.05, MORE = 1.25;
    double judged = fabs(x->judged), log_err = log_of_error(err);
    x->h_free = next_h(c, x, judged, log_err);
    x->k.log_old = log_kept(log_err);
    x->k.h_old = judged;
    x->k.converges *= x->by.contraction < FAST ? HUGE_VAL : MORE;
    x->k.rejected = 0;
}

/* A fresh step may use the factorisations of the previous step if the tape has the state at which they were computed.
   */
static int matrices_go_on(costate *c, const run *x, long *source)
{
    const factors *f = c->st.fac;
    int does = 0;
    *source = 0;
    if (!c->st.F->keep || c->st.sh->held || c->st.sh->matfree || !f) return 0;
    if (f->serial != c->st.lin.serial || f->h != x->h_free) return 0;
    TRY(space_agree(&c->maps.space, tape_goes_on(&c->st, x->tape, f->serial, NULL, 0, &does)));
    if (does) *source = f->serial;
    return 0;
}

/* Is the step fresh, that is, independent of earlier steps, so that it can be repeated later from only its state?  The
   tape decides where it needs such steps.  At the start of a run or after an event, y' of a residual is not known from
   a previous step. */
static int fresh_step(costate *c, run *x, unsigned *is_fresh)
{
    int begins = !x->has_prev && (!x->begun || c->maps.residual);
    long source;
    x->begun = 1;
    *is_fresh = x->tape && tape_is_fresh(x->tape, begins);
    if (!*is_fresh) return 0;
    TRY(matrices_go_on(c, x, &source));
    if (x->has_prev) fresh(c, source);
    x->has_prev = 0;
    return known_keep(c, x, begins, source);
}

/* Without a tape, two places are used in turn, because the previous step is still needed. */
static int next_slot(costate *c, run *x)
{
    unsigned is_fresh;
    TRY(fresh_step(c, x, &is_fresh));
    const place *spare = &c->work.scratch[c->at & 1];
    x->by.to = *spare;
    x->now = (record){.y = c->work.y, .yp = c->work.yp, .X = spare->X, .iterations = spare->iterations,
                      .fresh = is_fresh};
    x->by.serial = c->at + 1;
    x->by.before = x->has_prev ? &x->prev : NULL;
    x->by.started = 0;
    calibrated_anew(c, x);
    if (x->tape) TRY(space_agree(&c->maps.space, tape_slot(&c->st, x->tape, c->work.y, spare, &x->now, &x->by.to)));
    x->now.member = (unsigned)c->st.at & 0xff;
    x->now.mode = c->maps.bound.situation;
    memory_bind(&c->st, x->now.y, x->now.mode);
    return COSTATE_OK;
}

static int accept(costate *c, run *x, double err)
{
    if (x->d) TRY(frozen(&c->v, step_left(&c->st, &x->now, 0, x->d->m)));
    if (x->d) TRY(relaxed_tangents(c, x));
    if (x->tape) TRY(space_agree(&c->maps.space, tape_commit(&c->st, x->tape, &x->now)));
    c->count.accepted++;
    x->t = x->now.part > 0 ? end_of(x->t, x->low, x->now.part * x->now.h, &x->end_low) : x->now.end;
    verdict_at(&c->v, x->t);
    x->low = x->end_low;
    int stopped = report(c, x);
    propose(c, x, err);
    if (c->halves.tape) halves_took(c, x);
    TRY(rule_step(c, x, err));
    if (x->tape) damping_step(c, x);
    workspace_step(&c->work);
    double *swap = x->Va; x->Va = x->Vb; x->Vb = swap;
    for (int j = 0; x->d && j < x->d->m; j++) c->d.dt[j] += c->d.dh[j];
    x->prev = x->now;
    x->has_prev = 1;
    x->by.cautious = 0;
    c->at++;
    if (x->now.corrected) TRY(correct_run(c, x));
    return stopped;
}

static int too_large(costate *c, run *x, double err)
{
    double factor = next_factor(&c->st, &x->k, x->by.newton, log_of_error(err), x->h);
    return cut_by(&x->by, factor_again(&x->k.by, x->by.cautious, factor), retry(&c->v, WHY_ERROR));
}

/* Detects events: a step with an event ends there, and its tangents are those of the shortened step. */
static int watched(costate *c, run *x, double err)
{
    x->cut = 0;
    TRY(watch_step(c, x, err));
    if (!x->now.exact || !x->d) return 0;
    effort before = effort_so_far(c);
    int status = tangents_to_event(c, x);
    effort_aside(c, before);
    return status;
}

/* Tries a step and judges it: it is accepted, or RETRY is returned, and by.next says what to change. */
static int try_judged(costate *c, run *x)
{
    double err = 0;
    TRY(try_step(c, x, &err));
    if (!(err <= 1)) return too_large(c, x, err);
    x->judged = x->h;
    if (c->watch.count > 0) TRY(watched(c, x, err));
    if (corrects(&c->maps)) TRY(correct_step(c, x));
    return accept(c, x, err);
}

/* Fixed steps are as long as they are; halves of them may be split. */
static int prescribed(const costate *c) { return c->o.controller == COSTATE_FIXED && !c->halves.tape; }

/* Limits the proposed h to the longest step that the family allows here (its stability). */
static int shorten(costate *c, run *x)
{
    double h;
    int status = longest_step(c, x, &h);
    if (status == RETRY)
        return fail(&c->v, cause_status(c->v.why), "At t = %.10g, where method %s asks for its longest step (spectral "
                    "radius, options.step_bound), %s.", x->t, c->st.m->name, cause_text(c->v.why));
    TRY(status);
    if (h < fabs(x->h_free) && !prescribed(c)) x->h_free = c->in.dir * h;
    return 0;
}

/* a first step that is far from round-off of t */
static double rescue_h(const costate *c, const run *x)
{
    return fmin(fmax(100 * DBL_EPSILON * fabs(x->t), 10 * c->in.hmin), fmin(c->in.hmax, fabs(x->end - x->t)));
}

/* Another member takes the next step: it uses nothing of earlier ones. */
static int change_member(costate *c, run *x)
{
    TRY(rule_change(c, &x->h_free));
    x->has_prev = 0;
    x->by.cautious = 1;
    x->k = control_of(&c->st);
    return 0;
}

static int step_by_member(costate *c, run *x, long budget)
{
    TRY(next_slot(c, x));
    int weighed = (c->st.F->is & (IMPLICIT | WEIGHTS)) || c->o.differences || c->st.method->of;
    if (weighed) weights(&c->st, c->work.y, c->st.w);
    for (;;) {
        TRY(shorten(c, x));
        aim(c, x);
        if (too_small(c, x)) return x->k.rejected ? give_up(c, x) : no_room(c, x);
        if (c->count.steps >= budget)
            return fail(&c->v, COSTATE_MAX_STEPS, "%d steps (options.max_steps) were taken before t1; t = %.10g, "
                        "h = %.3g.", c->o.max_steps, x->t, fabs(x->h));
        int status = try_judged(c, x);
        if (status != RETRY) return status;
        if (prescribed(c) && !x->by.next.new_jacobian) return give_up(c, x);
        int useless = without_jacobian(c, x);
        reject(c, x);
        if (useless) return no_jacobian(c, x);
        if (hopeless(c, x)) return give_up(c, x);
    }
}

/* Where no step of the member at hand is short enough, one of the other kind may take it: at a late start a stiff one,
   whose steps need not be as short as stability asks. */
static int one_step(costate *c, run *x, long budget)
{
    if (c->halves.tape) TRY(halves_next(c, x));
    if (rule_changes(c)) TRY(change_member(c, x));
    int status = step_by_member(c, x, budget);
    if (status == 0 || !rule_rescues(c, status)) return status;
    no_error(c);
    verdict_at(&c->v, x->t);
    x->h_free = c->in.dir * fmax(fabs(x->h_free), rescue_h(c, x));
    TRY(change_member(c, x));
    return step_by_member(c, x, budget);
}

/* The start is judged by the tolerances of the solver, which a member may not share. */
static int as_asked(costate *c, double t, double span, int (*judge)(costate *, double, double))
{
    const costate_options *own = c->st.o;
    c->st.o = &c->o;
    int status = judge(c, t, span);
    c->st.o = own;
    return status;
}

/* made: the values are consistent already, and y' is known */
static int cold_start(costate *c, run *x, int made)
{
    double span = fabs(x->end - x->t);
    int status = c->maps.residual && !made ? as_asked(c, x->t, span, residual_start) : COSTATE_OK;
    TRY(status == RETRY ? no_start(c, x) : status);
    TRY(refuse_algebraic(c, x->t));
    TRY(initial_step(c, x, 0));
    TRY(rule_first(c, x));
    return c->maps.residual || made ? COSTATE_OK : as_asked(c, x->t, span, consistent);
}

int run_first(costate *c, run *x) { return cold_start(c, x, 0); }

/* Events have changed the state, or f: the step size is chosen anew.  before: that of the steps before, or 0; it bounds
   the new one, as a constant f tells nothing of the length that its next change allows. */
static int begin_after_jump(costate *c, run *x, double before)
{
    restart(c, x);
    if (c->o.controller == COSTATE_FIXED || c->halves.tape || x->t == x->end || x->over) return 0;
    TRY(initial_step(c, x, fabs(before)));
    if (before != 0 && fabs(x->h_free) > fabs(before)) x->h_free = before;
    return 0;
}

void run_begin(const costate *c, run *x, int predict)
{
    x->k = control_of(&c->st);
    x->once = step_once;
    int estimates = c->st.m->est.e && c->o.controller != COSTATE_FIXED && !c->halves.tape;
    x->by = (trial){.cautious = 1, .err = c->work.err, .estimate = estimates, .predict = predict,
                    .span = fabs(c->in.t1 - c->in.t0), .differentiated = x->tape || x->d};
}

/* A relation turns at the start of a step, or a map after the step has moved guards over zero. */
static int relations_follow(costate *c, run *x, int status)
{
    int changed = status == TURNS;
    if (status == TURNS) TRY(guard_turned(c, x));
    else if (!x->cut) TRY(relations_anew(c, x, 0, &changed));
    return changed ? begin_after_jump(c, x, x->h_free) : 0;
}

/* Where nobody asked for it, a start that is far from consistent is a mistake. */
static int start_consistently(costate *c, run *x)
{
    if (c->ends.checks_start) TRY(as_asked(c, x->t, fabs(x->end - x->t), consistent));
    TRY(map_run(c, x, 0));
    if (c->ends.checks_start) linearisation_outdate(&c->st.lin);         /* it is that of the values before */
    return 0;
}

int run_loop(costate *c, run *x)
{
    int cold = x->h_free == 0, made = cold && !x->on && (c->o.consistent & COSTATE_CONSISTENT_START);
    int any;
    if (cold && !x->on) TRY(relations_first(c, x));
    if (cold && !x->on && c->P.after_step.start.value) TRY(correct_start(c, x));
    if (cold && !x->on && c->P.after_step.start.value) TRY(relations_anew(c, x, 0, &any));
    maps_bind_start(&c->maps, x->t);
    if (cold && x->on) TRY(stop_at_start(c, x));
    if (made && c->work.yp) memset(c->work.yp, 0, (size_t)c->st.n * sizeof *c->work.yp);
    if (made) TRY(start_consistently(c, x));
    if (x->t == x->end) return COSTATE_OK;
    if (cold) TRY(cold_start(c, x, made && !c->start.mine.given));
    if (cold && !made) TRY(random_tangents_start(c, x));
    long most = c->count.steps + c->o.max_steps;
    TRY(events_at_start(c, x, &any));
    if (any) TRY(begin_after_jump(c, x, 0));
    while (x->t != x->end && !x->over) {
        if (c->maps.stops.any) x->t1 = next_stop(c, x);
        int status = one_step(c, x, most);
        if (status != TURNS) TRY(status);
        if (status == TURNS || x->prev.corrected) TRY(relations_follow(c, x, status));
        if (status == TURNS && c->watch.turns < c->P.nevents) TRY(random_tangents_restart(c, x));
        if (status == TURNS) continue;
        if (x->t == x->end || (!x->cut && x->t != x->t1)) continue;
        TRY(events_after_step(c, x));
        TRY(begin_after_jump(c, x, x->h_free));
        TRY(random_tangents_restart(c, x));
    }
    return c->o.consistent & COSTATE_CONSISTENT_END ? map_run(c, x, 1) : COSTATE_OK;
}
