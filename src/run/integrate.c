/* integrate.c - a run from start to end, around the step loop: with a tape, as a continuation, with tangents. */
#include <math.h>
#include <string.h>
#include "choice/rule.h"
#include "run/aim.h"
#include "run/corrected.h"
#include "run/damping.h"
#include "run/events.h"
#include "run/instant.h"
#include "run/integrate.h"
#include "run/loop.h"
#include "run/random_tangents.h"
#include "run/relations.h"
#include "run/warm.h"
#include "solver/arguments.h"
#include "solver/members.h"
#include "solver/status.h"

/* Discards everything known of earlier steps; their factorisations are not even used as preconditioners. */
static void anew(costate *c)
{
    forget(c);
    factors_reset(c->st.fac);
    if (c->st.F->restart) c->st.F->restart(&c->st);
}

static int onto(costate *c, run *x)
{
    origin from = {c->self, c->stamp, x->by.predict, x->t, x->end};
    if (x->tape && !x->tape->usable)
        TRY(tape_start(&c->st, x->tape, retention_for(x->tape, c->o.storage), &c->P, &from));
    if (x->tape) x->tape->usable = 0;           /* until the run ends: after an exception the tape holds nothing */
    return run_loop(c, x);
}

static void together_remark(costate *c)
{
    char text[400];
    together_say(c, text, sizeof text);
    if (text[0]) remarked(&c->v, "%s", text);
}

/* Ends a run, also one that failed: y is the last accepted state, and the tape holds the steps up to it. */
int run_finish(costate *c, run *x, int status, double *y)
{
    int complete = status == COSTATE_OK;
    memcpy(y, c->work.y, (size_t)c->st.N * sizeof *y);
    warm_keep(c, x);
    c->rule = rule_kept(c);
    c->watch.stamp = c->stamp;
    if (complete) no_error(c);          /* with a hint, if there is one */
    if (complete && x->tape) damping_remark(c, x->tape->count);
    else remark(c, status);
    if (complete) correction_remark(c);
    if (complete) bound_remark(c);
    if (complete) inside_remark(c, c->remarks.inside);
    if (complete) together_remark(c);
    if (!x->tape) return status;
    c->count.tape_bytes = costate_tape_bytes(x->tape);
    int ended = tape_end(&c->st, x->tape, complete, c->v.t, c->work.y, c->maps.bound.situation);
    return status ? status : ended;
}

/* up to the step loop; from: the run goes on from where the last one ended (warm.c) */
static int ready(costate *c, double t0, double t1, const double *y, const double *p, costate_tape *tape, int from,
                 run *x)
{
    int on = tape && tape->usable;
    const mapped *event = on ? tape_last_event(tape) : NULL;
    maps_bind(&c->maps, p);
    set_range(c, t0, t1);
    maps_bind_time(&c->maps, t0, t1 - t0);
    events_begin(c, on, event);
    claim(c);
    if (from == COLD && !(on && c->st.spectrum.run == tape->from.stamp)) spectrum_forget(&c->st.spectrum);
    TRY(rule_begin(c, on ? tape : NULL, from != COLD, tape || x->d));
    if (from != WARM_WITH_MATRICES) {
        anew(c);
        c->at = on ? tape->count : 0;
    }
    if (!on) c->remarks.damping = (damping){.kept = 1};
    c->remarks.correction = (correction){0, 0};
    c->remarks.beyond = 0;
    c->remarks.inside = 0;
    if (!on) c->remarks.together = (together){0};
    c->st.spectrum.longest = 0;
    c->st.spectrum.run = on ? tape->from.stamp : c->stamp;
    memcpy(c->work.y, y, (size_t)c->st.N * sizeof *y);
    if (on) maps_know(&c->maps, &tape->situations);
    if (on) memory_bind(&c->st, c->work.y, tape->mode);
    else TRY(relations_begin(c, tape, t0, c->work.y, c->o.mode));
    x->t = t0;
    x->t1 = x->end = t1;
    x->on = on;
    x->tape = tape;
    run_begin(c, x, c->o.predictor == COSTATE_PREDICT && !(tape && retention_for(tape, c->o.storage)->alone));
    if (from != COLD) warm_go_on(c, x, from == WARM_WITH_MATRICES);
    return 0;
}

static int run_all(costate *c, double t0, double t1, double *y, const double *p, costate_tape *tape, run *x)
{
    TRY(ready(c, t0, t1, y, p, tape, warm(c, t0, t1, y, p, tape), x));
    int status = onto(c, x);
    return run_finish(c, x, status, y);
}

int run_start(costate *c, double t0, double t1, const double *y, const double *p, run *x)
{
    TRY(begin(c));
    TRY(check_arguments(c, t0, t1, y, p));
    *x = (run){.has_prev = 0};
    TRY(ready(c, t0, t1, y, p, NULL, COLD, x));
    return run_first(c, x);
}

static int run_directed(costate *c, double t0, double t1, double *y, const double *p, const user_tangents *u,
                        costate_tape *tape)
{
    run x = {.has_prev = 0};
    directed_run all;
    tangents_begin(c, u, y, p, &x, &all);
    int status = run_all(c, t0, t1, y, p, tape, &x);
    tangents_end(c, u, &x);
    return status;
}

int solver_integrate(costate *c, double t0, double t1, double *y, const double *p, costate_tape *tape)
{
    if (tape) tape_clear(tape);          /* also if the call fails: the tape must not hold an earlier run */
    TRY(begin(c));
    TRY(check_arguments(c, t0, t1, y, p));
    TRY(maps_available(c, NULL, FORWARD, 0, 0));
    TRY(random_tangents_prepare(c, 0, 0));
    return run_directed(c, t0, t1, y, p, &no_tangents, tape);
}

static int enough_tolerances(costate *c, int m)
{
    const char *given = tangent_tolerances(&c->o);
    if (!given || m <= c->o.tangent_count) return 0;
    return fail(&c->v, COSTATE_BAD_ARGUMENT, "m = %d directions, but options.%s has values for %d "
                "(options.tangent_count).", m, given, c->o.tangent_count);
}

int solver_integrate_tlm(costate *c, double t0, double t1, double *y, const double *p, int m, double *V,
                         const double *Vp, const costate_times *times, costate_tape *tape)
{
    if (tape) tape_clear(tape);
    TRY(begin(c));
    TRY(check_arguments(c, t0, t1, y, p));
    TRY(tangent_begin(c, NULL, m, V, Vp, times));
    TRY(enough_tolerances(c, m));
    TRY(check_no_events(c, times));
    TRY(random_tangents_prepare(c, m, Vp != NULL));
    int status = run_directed(c, t0, t1, y, p, &(user_tangents){m, V, Vp, times}, tape);
    if (times && times->end) memcpy(times->end, c->d.dt, (size_t)m * sizeof *times->end);
    TRY(status);
    TRY(left_relative(members_left(c), 0, m, V, (size_t)c->st.N, &c->count.krylov_error));
    return space_sound(&c->maps.space, (size_t)c->st.N * (size_t)m, V, "The tangents are NaN or Inf.");
}

static int check_goes_on(costate *c, const costate_tape *tape, double t1, const double *y)
{
    TRY(tape_fits(&c->st, &c->P, tape));
    if (tape->from.writer != c->self)
        return fail(&c->v, COSTATE_BAD_TAPE, "A run is gone on with by the solver that wrote its tape.");
    if (!y) return fail(&c->v, COSTATE_BAD_ARGUMENT, "y is NULL.");
    if (!(fabs(t1) < HUGE_VAL)) return fail(&c->v, COSTATE_BAD_ARGUMENT, "t1 is not finite.");
    if (tape->count > 0 && tape_direction(tape) * (t1 - tape->from.t1) < 0)
        return fail(&c->v, COSTATE_OUT_OF_RANGE, "t1 = %.10g lies before the end of the tape, t = %.10g.", t1,
                    tape->from.t1);
    return COSTATE_OK;
}

int solver_continue(costate *c, costate_tape *tape, double t1, double *y)
{
    TRY(begin(c));
    TRY(check_goes_on(c, tape, t1, y));
    mapped went_on = {.event = WENT_ON, .timed = 1, .from = tape->mode, .to = tape->mode, .t = tape->from.t1,
                      .y = tape->end, .y1 = tape->end};
    if (tape->count > 0 && !tape_last_event(tape)) TRY(tape_event(&c->st, tape, &went_on));
    memcpy(y, tape->end, (size_t)c->st.N * sizeof *y);
    TRY(random_tangents_prepare(c, 0, 0));
    return run_directed(c, tape->from.t1, t1, y, tape->p, &no_tangents, tape);
}

int costate_mode(const costate *c) { return c ? c->maps.bound.mode : 0; }
