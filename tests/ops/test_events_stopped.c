/* test_events_stopped.c - a run that an event ended, or that was stopped, is swept from where it ended, and goes on on
   the same tape: one sweep over both parts is that over one run of the same steps.

   Fixed steps.  Where a run was gone on with is a given time: the one run has an event there that changes nothing. */
#include "hybrid_sweeps.h"

enum stop { BY_TERMINAL, BY_EVENT, BY_TIME, BY_STEP, BY_END, STOPS };      /* BY_TIME: by an event at a given time */
static const char *const ways[STOPS] = {"terminal", "on_event", "on_event, given time", "on_step", "t1"};
static const int expected[STOPS] = {COSTATE_OK, COSTATE_STOPPED, COSTATE_STOPPED, COSTATE_STOPPED, COSTATE_OK};

typedef struct { int how, events, stop_at; double end; } stopper;

static int on_event(int event, double t, const double *before, const double *after, void *ctx)
{
    stopper *s = ctx;
    (void)event, (void)t, (void)before, (void)after;
    return ++s->events == s->stop_at;
}
static int on_step(const costate_step *step, void *ctx)
{
    const stopper *s = ctx;
    double begin = costate_step_start(step), end = costate_step_end(step);
    return s->how == BY_STEP && fabs(end - begin) > 0 && (end - s->end) * (end - begin) >= 0;
}

static costate_options options_of(const hybrid *h, stopper *s, int storage)
{
    return (costate_options){.controller = COSTATE_FIXED, .h0 = 0.05, .rtol = 1e-5, .atol = 1e-5, .derivative_mode = 1,
                             .mode = h->mode, .storage = storage, .consistent = h->form != HYBRID_ODE,
                             .on_event = on_event, .on_event_ctx = s, .on_step = on_step, .on_step_ctx = s};
}

static void near(int how, const session *s, const char *what, int n, const double *x, const double *y,
                 double bound)
{
    double gap = relative_gap(n, x, y);
    if (!(gap <= bound))
        fail_msg("%s, %s, storage %d, ended by %s: %s %.1e", method_name(s->m), s->h->name, s->o.storage, ways[how],
                 what, gap);
}

/* Two runs whose stages Newton left at round-off, each in its way. Of index 2 that is times the square of |W|, the row
   sum of A^-1, 55 of radau2a5 and 113 of radau2a7: up to 5e-11 of five stages, 1.5e-10 of seven. And the parts of a
   run do not share the round-off of time, 1e-17, that a run carries along: `together` has a step of 3e-4 whose h is
   other by 5e-14 of itself, and derivatives by 2e-9. */
static void compare(int how, const session *one, const session *two, const inputs *a, const inputs *b)
{
    double bound = method_info(one->m).stages > 5 && method_info(one->m).family == COSTATE_FIRK ? 4e-10 : 1e-10;
    if (hybrid_is_even(one->h) && one->h->form == HYBRID_INDEX_2) bound *= fmax(1, 0.03 / shortest_step(one));
    near(how, two, "y", one->N, two->y, one->y, 1e-11);
    near(how, two, "by y", one->N * M, b->V, a->V, bound);
    near(how, two, "by p", one->h->np * M, b->p, a->p, bound);
    near(how, two, "by t0", M, b->t0, a->t0, bound);
    near(how, two, "by t1", M, b->t1, a->t1, bound);
    near(how, two, "by events", one->events * M, b->events, a->events, bound);
}

/* the events of h, and those of the two runs that differ from it */
static void events_of(const hybrid *h, int how, const double *end, costate_event *in_two, costate_event *in_one)
{
    memcpy(in_two, h->event, (size_t)h->nevents * sizeof *in_two);
    memcpy(in_one, h->event, (size_t)h->nevents * sizeof *in_one);
    if (how == BY_TERMINAL) in_two[1].terminal = 1;
    in_one[h->nevents] = (costate_event){.ntimes = 1, .times = end, .from = COSTATE_ANY_MODE, .to = COSTATE_SAME_MODE};
}

static void one_case(const costate_method *m, const hybrid *h, int how, int storage)
{
    double along = h->t1 > h->t0 ? 1 : -1;
    stopper at = {how, 0, how == BY_EVENT ? 3 : how == BY_TIME ? 2 : 0, h->t0 + 0.45 * along}, never = {.how = STOPS};
    costate_event in_two[HYBRID_EVENTS + 1], in_one[HYBRID_EVENTS + 1];
    hybrid first = *h;
    session two, one;
    outputs w = random_outputs();
    if (how == BY_END) first.t1 = at.end;
    events_of(h, how, &at.end, in_two, in_one);
    int status = session_run(&two, m, &first, in_two, h->nevents, options_of(h, &at, storage));
    if (status != expected[how]) fail_msg("%s, %s: %s", method_name(m), h->name, costate_message(two.c));
    at = (stopper){.how = STOPS, .end = costate_time(two.c)};
    double first_gap = session_gap(&two);
    if (!(first_gap <= 1e-12 * amplified(&two)))
        fail_msg("%s, %s, ended by %s: gap %.1e", method_name(m), h->name, ways[how], first_gap);
    assert_true(at.end != h->t1);
    CHECK_OK(two.c, costate_continue(two.c, two.tape, h->t1, two.y));
    assert_true(costate_time(two.c) == h->t1);
    see_events(&two);
    say(&two, ways[how], session_gap(&two), 1e-12 * amplified(&two));
    int given = how == BY_STEP || how == BY_END;
    status = session_run(&one, m, h, in_one, h->nevents + given, options_of(h, &never, storage));
    if (status != COSTATE_OK) fail_msg("%s, %s: %s", method_name(m), h->name, costate_message(one.c));
    inputs a = adjoint(&one, &w, one.c), b = adjoint(&two, &w, two.c);
    if (one.events != two.events)
        fail_msg("%s, %s, ended by %s: %d events, then %d", method_name(m), h->name, ways[how], one.events, two.events);
    compare(how, &one, &two, &a, &b);
    session_close(&one);
    session_close(&two);
}

static void stopped(void **state)
{
    const hybrid *h;
    for (int k = 0; (h = hybrid_at(k)); k++)
        for (int how = k & 1; how < STOPS && !h->reference && hybrid_takes(*state, h); how += 1 + (k > 1))
            one_case(*state, h, how, (k / 2 + how) & 1);            /* by turns in the forms that are dear */
}

int main(void) { return run_by_kind("gone on with", stopped); }
