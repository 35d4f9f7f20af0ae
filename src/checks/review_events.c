/* review_events.c - the events of a reviewed run: a second run, with twice as many samples of guards in each step and
   steps at most half as long as the longest one, should meet the same events at the same times.

   Events are compared guard by guard, each with the times at which it fired, in their order. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "checks/review.h"
#include "run/integrate.h"

enum { SAMPLES_MOST = 1000 };                   /* as options allow */
static const double SAME = 1e-3;                /* times closer than this part of the run belong to the same event */

/* ---- the second run ---- */

static double longest_step(const costate_tape *t)
{
    double h = 0;
    for (int k = 0; k < t->count; k++) h = fmax(h, fabs(t->list[k].h));
    return h;
}

static costate_options closer(const run_review *x)
{
    costate_options o = x->o;
    int samples = 2 * x->c->watch.samples;
    double h = longest_step(x->tape) / 2;
    o.on_step = NULL;
    o.event_samples = samples < SAMPLES_MOST ? samples : SAMPLES_MOST;
    o.h0 = o.controller == COSTATE_FIXED ? h : fmin(o.h0, h);
    o.hmax = fmax(h, o.hmin);
    if (o.max_steps < 0x3fffffff) o.max_steps *= 2;
    return o;
}

/* ---- comparison ---- */

/* the next event of this number from map k on: its place in the list, or the end */
static int next(const costate_tape *t, int number, int k)
{
    while (k < t->maps.count && !(t->maps.list[k].event == number && !t->maps.list[k].timed)) k++;
    return k;
}

static int how_often(const costate_tape *t, int number)
{
    int count = 0;
    for (int k = next(t, number, 0); k < t->maps.count; k = next(t, number, k + 1)) count++;
    return count;
}

/* that of the event behind map *k, which becomes its map; behind the last one: infinity along the run */
static double time_of_next(const costate_tape *t, int number, int *k)
{
    *k = next(t, number, *k + 1);
    return *k < t->maps.count ? t->maps.list[*k].t : tape_direction(t) * HUGE_VAL;
}

/* an event that the other run has not, or the first that it has at another time */
static int say_missed(run_review *x, int number, int extra, double t)
{
    const char *name = x->c->maps.events[number].whole;
    int at_end = fabs(t - x->ended) <= SAME * fabs(x->t1 - x->t0);
    review_about a = {at_end ? COSTATE_REMARK : COSTATE_WRONG, number, "events", t, NAN};
    if (extra)
        return review_add(x->r, a, "%s also fires at t = %.8g in a run with twice the samples of guards and shorter "
                          "steps: the run misses it.  Set options.event_samples larger or options.hmax smaller.", name,
                          t);
    return review_add(x->r, a, "%s fires at t = %.8g, but not in a run with twice the samples of guards and shorter "
                      "steps: which events are found depends on the steps.  Set options.event_samples larger or "
                      "options.hmax smaller.", name, t);
}

static int say_moved(run_review *x, int number, double t, double other)
{
    return review_add(x->r, (review_about){COSTATE_REMARK, number, "events", t, fabs(other - t)}, "%s fires at t = "
                      "%.8g, and at %.8g in a run with twice the samples of guards and shorter steps: its time depends "
                      "on the steps.  Set smaller tolerances.", x->c->maps.events[number].whole, t, other);
}

/* the first event of this number in which the runs differ */
static int compare(run_review *x, const costate_tape *other, int number, int *differ)
{
    const costate_tape *tape = x->tape;
    int equal = how_often(tape, number) == how_often(other, number), dir = tape_direction(tape);
    double same = SAME * fabs(x->t1 - x->t0);
    for (int i = -1, j = -1;;) {
        double t = time_of_next(tape, number, &i), s = time_of_next(other, number, &j);
        if (t == s && fabs(t) == HUGE_VAL) return 0;
        if (fabs(t - s) <= same) continue;
        *differ = 1;
        if (equal) return say_moved(x, number, t, s);
        return say_missed(x, number, dir * (s - t) < 0, dir * (s - t) < 0 ? s : t);
    }
}

static int compare_all(run_review *x, const costate_tape *other)
{
    int differ = 0, count = x->c->P.nevents + x->c->P.nrelations;
    for (int k = 0; k < count; k++) TRY(compare(x, other, k, &differ));
    if (differ) return 0;
    return review_add(x->r, about(COSTATE_RIGHT, "events"), "A run with twice the samples of guards and shorter steps "
                      "meets the same events (%d) at the same times.", x->tape->maps.events);
}

static int run_again(run_review *x, costate *c, costate_tape *other, double *y)
{
    memcpy(y, x->y, (size_t)x->c->st.N * sizeof *y);
    int status = solver_integrate(c, x->t0, x->t1, y, x->p, other);
    if (status == COSTATE_OK) return compare_all(x, other);
    if (ends_review(status, c->v.gave_up)) return review_ends(x, "events", costate_time(c), status, costate_message(c));
    return review_add(x->r, (review_about){COSTATE_REMARK, -1, "events", costate_time(c), NAN}, "A run with twice the "
                      "samples of guards and shorter steps, which looks for events that are missed, fails: %s",
                      costate_message(c));
}

static int has_guards(const costate_problem *P)
{
    int any = P->nrelations > 0;
    for (int k = 0; k < P->nevents; k++) any |= P->event[k].guard.value != NULL;
    return any;
}

int review_events(run_review *x)
{
    if (!has_guards(&x->c->P) || x->tape->count == 0) return 0;
    const costate_options o = closer(x);
    costate *c = costate_new(x->c->st.method, &x->c->P, &o);
    costate_tape *other = costate_tape_new();
    double *y = malloc((size_t)x->c->st.N * sizeof *y);
    int status = c && other && y && c->v.status != COSTATE_NO_MEMORY ? run_again(x, c, other, y) : COSTATE_NO_MEMORY;
    free(y);
    costate_tape_free(other);
    solver_free(c);
    return status;
}
