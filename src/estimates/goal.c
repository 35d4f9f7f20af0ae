/* goal.c - derivatives to a given tolerance: run, sweep, estimate the errors, and again with smaller tolerances.

   With the tolerances scaled by x, errors are about C x^a. a is 1 at first, then taken from the last two rounds. The
   next x aims at AIM of the error that is allowed.  Where a round fails, the tolerances of the caller follow, or what
   lies between those that failed and those that did not.  Where values are within and gradients are not, tangents along
   random directions enter the error test (options.gradient_control). */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/larger.h"
#include "base/vec.h"
#include "estimates/accuracy.h"
#include "estimates/confirm.h"
#include "estimates/functional.h"
#include "estimates/unmet.h"
#include "run/integrate.h"
#include "run/random_tangents.h"
#include "solver/arguments.h"
#include "solver/members.h"
#include "solver/options.h"

enum { ROUNDS = 5, FAILURES = 3 };              /* rounds that are completed, and that fail */
static const double START = 0.1;                /* rtol of the first run, in units of tol */
static const double AIM = 0.3;
static const double LEAST_STEP = 1e-3;          /* the smallest factor of x from one round to the next */
static const double COARSE = 0.1, COARSE_STEP = 1e-2;       /* where an error exceeds this part of its value: nothing
                                                               can be concluded from its size */
static const double FAR = 10;                   /* a gradient, in units of what is allowed */
static const double LEAST_POWER = 0.3, MOST_POWER = 1.5;
static const double LEAST_RTOL = 1e-14, MOST_RTOL = 1e-2;
static const double AFTER_FAILURE = 1e-2;       /* tighter tolerances where those of the caller fail, too */

typedef struct { double factor, worst; } tried;

typedef struct {
    costate *c;
    const costate_functional *F;
    costate_goal *g;
    costate_tape *tape;
    double t0, t1;
    double *y;
    const double *p;
    double *block, *start;              /* start: N */
    costate_estimate e;                 /* goal.estimate, with arrays for all that is wanted */
    judgement found;                    /* of the last round that was completed, whose results are there */
    tried now, last;                    /* last.factor 0: there was none */
    double good, ran, failed, tightest; /* factors, 0: none: of the last round that was completed, of the last run that
                                           was, of the largest round below `good` that failed, of the smallest */
    int failures, uncontrolled;         /* uncontrolled: a round with gradient_control failed */
} search;

static int sound(costate *c, const costate_functional *F, const costate_goal *g)
{
    TRY(functional_sound(c, F, g ? estimate_wants(&g->estimate) : 0));
    if (!g) return fail(&c->v, COSTATE_BAD_ARGUMENT, "The goal is NULL.");
    if (!(g->tol > 0 && g->tol < 1)) return fail(&c->v, COSTATE_BAD_ARGUMENT, "goal.tol = %g lies outside (0, 1).",
                                                 g->tol);
    if (!(g->value_atol >= 0 && g->gradient_atol >= 0 && g->product_atol >= 0 && g->factor >= 0 &&
          g->factor < HUGE_VAL))
        return fail(&c->v, COSTATE_BAD_ARGUMENT, "goal: value_atol, gradient_atol, product_atol or factor is negative, "
                    "NaN or Inf.");
    const costate_estimate *e = &g->estimate;
    if (e->steps || e->run.events || e->error.events || e->better.events)
        return fail(&c->v, COSTATE_BAD_ARGUMENT, "goal.estimate: the sizes of steps and events are not known before "
                    "the run; costate_accuracy over the tape has them.");
    if (estimate_wants(e) & PRODUCTS && F->second->along && F->second->along->events)
        return fail(&c->v, COSTATE_BAD_ARGUMENT, "functional.second.along.events: the number of events is not known "
                    "before the run; costate_accuracy over the tape takes them.");
    if (c->o.controller == COSTATE_FIXED)
        return fail(&c->v, COSTATE_BAD_ARGUMENT, "options.controller = COSTATE_FIXED: such steps do not follow a "
                    "tolerance.");
    return 0;
}

/* ---- tolerances ---- */

static double first_factor(const costate *c, const costate_goal *g)
{
    double rtol = options_rtol(&c->given, c->st.n);
    if (g->factor > 0 || rtol == 0) return g->factor > 0 ? g->factor : 1;
    return fmax(fmin(START * g->tol, MOST_RTOL), LEAST_RTOL) / rtol;
}

/* the next factor after a round that was completed */
static double factor_for(const search *x)
{
    const tried *now = &x->now, *last = &x->last;
    double power = 1, rtol = options_rtol(&x->c->given, x->c->st.n);
    if (last->factor > 0 && now->worst > 0)
        power = log(last->worst / now->worst) / log(last->factor / now->factor);
    power = fmax(LEAST_POWER, fmin(MOST_POWER, power));
    double least = now->worst * x->g->tol > COARSE ? COARSE_STEP : LEAST_STEP;
    double factor = now->factor * fmax(least, pow(AIM / now->worst, 1 / power));
    if (rtol > 0) factor = fmax(factor, fmin(LEAST_RTOL / rtol, now->factor));
    return factor <= x->failed ? sqrt(now->factor * x->failed) : factor;
}

/* The tolerances of the caller, where others failed; what lies between these and the last that did not; or tighter
   ones, but not where the caller's bound on steps or memory was reached. */
static double after_failure(const search *x, int status)
{
    int bounded = status == COSTATE_MAX_STEPS || status == COSTATE_TAPE_LIMIT;
    double rtol = options_rtol(&x->c->given, x->c->st.n), least = rtol > 0 ? LEAST_RTOL / rtol : 0;
    if (x->now.factor > 1 || (x->good == 0 && x->failures == 1 && x->now.factor != 1)) return 1;
    if (bounded) return x->now.factor;
    return x->good > 0 ? sqrt(x->good * x->now.factor) : fmax(AFTER_FAILURE * x->tightest, least);
}

/* Would another round with other tolerances not fail alike? */
static int is_final(int status)
{
    switch (status) {
    case COSTATE_MAX_STEPS: case COSTATE_STEP_TOO_SMALL: case COSTATE_SINGULAR: case COSTATE_NEWTON:
    case COSTATE_NOT_FINITE: case COSTATE_TAPE_LIMIT: case COSTATE_STAGNATED: case COSTATE_INCONSISTENT:
    case COSTATE_GRAZING: case COSTATE_TOO_MANY_EVENTS: case COSTATE_BAD_EVENT: case COSTATE_ACCURACY: return 0;
    default: return status != COSTATE_OK;
    }
}

/* ---- options.gradient_control ---- */

static void control_by(costate *c, int count) { c->random.count = c->o.gradient_control = count; }

/* 1: it is on, and was not */
static int control_possible(costate *c)
{
    if (c->random.count > 0) return 0;
    control_by(c, 1);
    if (!random_tangents_prepare(c, 0, 0)) return 1;
    control_by(c, 0);
    return 0;
}

/* nearer ones are reached with fewer evaluations by tighter tolerances alone */
static int gradient_alone(const judgement *f)
{
    return f->worst[ITEM_VALUE] <= 1 && (f->worst[ITEM_Y0] > FAR || f->worst[ITEM_P] > FAR);
}

/* ---- rounds ---- */

static int run_with(search *x, double factor)
{
    memcpy(x->y, x->start, (size_t)x->c->st.N * sizeof *x->y);
    options_scale(x->c, factor);
    x->g->factor = factor;
    x->g->rtol = options_rtol(&x->c->o, x->c->st.n);
    return solver_integrate(x->c, x->t0, x->t1, x->y, x->p, x->tape);
}

static int one_round(search *x)
{
    const allowed within = {x->g->tol, x->g->value_atol, x->g->gradient_atol, x->g->product_atol};
    x->g->rounds++;
    TRY(run_with(x, x->now.factor));
    x->ran = x->now.factor;
    return estimate_errors(x->c, x->tape, x->F, &x->e, &within, &x->found);
}

static int check(search *x)
{
    const costate_goal *g = x->g;
    const claim_of_run of = {x->tape, x->F, x->t0, x->t1, x->start, x->p, &x->e, estimate_wants(&g->estimate),
                             {g->tol, g->value_atol, g->gradient_atol, g->product_atol}};
    return confirm(x->c, &of);
}

static double worst_of(const judgement *f)
{
    double worst = 0;
    for (int k = 0; k < ITEMS; k++) worst = larger(worst, f->worst[k]);
    return worst;
}

/* No round is within.  The results are those of the last one that was completed: its run is made again where others
   failed after it. */
static int given_up(search *x, int status)
{
    costate *c = x->c;
    char why[sizeof c->v.text];
    memcpy(why, c->v.text, sizeof why);
    if (x->ran == 0 || status == COSTATE_ACCURACY) return status;
    if (status) TRY(run_with(x, x->good > 0 ? x->good : x->ran));
    if (x->good > 0) goal_unmet(c, x->F, x->g, &(errors_of_goal){&x->e, &x->found, x->start, x->p, x->F->second});
    else fail(&c->v, COSTATE_ACCURACY, "The errors cannot be estimated.");
    if (status) remarked(&c->v, "  Other tolerances fail: %.300s", why);
    return c->v.status;
}

static void completed(search *x, int status)
{
    x->g->worst = x->now.worst = status ? HUGE_VAL : worst_of(&x->found);
    if (!status) x->good = x->now.factor;
    if (x->failed >= x->good) x->failed = 0;
}

/* after a round that failed */
static double another_factor(search *x, int status)
{
    if (x->good > x->now.factor) x->failed = fmax(x->failed, x->now.factor);
    x->tightest = x->failures > 0 ? fmin(x->tightest, x->now.factor) : x->now.factor;
    return ++x->failures > FAILURES ? x->now.factor : after_failure(x, status);
}

static double smaller_factor(search *x)
{
    double factor = factor_for(x);
    x->last = x->now;
    return fmin(factor, x->now.factor);
}

static int rounds(search *x)
{
    costate *c = x->c;
    int left = ROUNDS;
    x->now = (tried){first_factor(c, x->g), HUGE_VAL};
    x->g->rounds = 0;
    for (;;) {
        int status = one_round(x), failed = status && status != COSTATE_ACCURACY;
        double factor = x->now.factor;
        if (is_final(status)) return status;
        if (!failed) completed(x, status);
        if (!failed && x->now.worst <= 1) return check(x);
        if (!status && gradient_alone(&x->found) && !x->uncontrolled && control_possible(c)) {
            x->last.factor = 0;                                         /* the same tolerances again */
            continue;
        }
        if (failed && factor == x->good) {                              /* so did not without tangents */
            control_by(c, 0);
            x->uncontrolled = 1;
            failed = 0;
        }
        if (failed) factor = another_factor(x, status);
        else if (--left > 0) factor = smaller_factor(x);
        if (factor == x->now.factor) return given_up(x, status);
        x->now.factor = factor;
    }
}

/* arrays of the user, or of its own: all that is wanted, of the run and of its errors */
static int prepare(search *x)
{
    costate *c = x->c;
    const unsigned wanted = estimate_wants(&x->g->estimate);
    size_t N = (size_t)c->st.N, np = (size_t)c->st.np, m = (size_t)x->F->m;
    size_t along = wanted & PRODUCTS ? (size_t)x->F->second->m : 0;
    costate_products *products = &x->e.products.run;
    costate_derivatives *both[] = {&x->e.run, &x->e.error};
    for (;;) {
        cursor at = {x->block, 0};
        x->start = take(&at, N);
        x->e = x->g->estimate;
        for (int k = 0; k < 2; k++) {
            double *value = take(&at, m), *y0 = take(&at, N * m), *p = take(&at, np * m);
            if (!both[k]->value) both[k]->value = value;
            if (!both[k]->y0 && wanted & OF_Y0) both[k]->y0 = y0;
            if (!both[k]->p && wanted & OF_P) both[k]->p = p;
        }
        double *by_y0 = take(&at, N * along), *by_p = take(&at, np * along);
        if (!products->y0 && wanted & PRODUCT_Y0) products->y0 = by_y0;
        if (!products->p && wanted & PRODUCT_P) products->p = by_p;
        if (x->block) break;
        if (!(x->block = calloc(at.used + 1, sizeof *x->block)))
            return fail(&c->v, COSTATE_NO_MEMORY, "No memory for a state and its gradients (%zu doubles).", at.used);
    }
    memcpy(x->start, x->y, N * sizeof *x->start);
    return 0;
}

int solver_gradient_within(costate *c, double t0, double t1, double *y, const double *p, const costate_functional *F,
                           costate_goal *g, costate_tape *tape)
{
    if (tape) tape_clear(tape);
    TRY(begin(c));
    TRY(sound(c, F, g));
    TRY(check_arguments(c, t0, t1, y, p));
    if (!tape && !c->own && !(c->own = costate_tape_new()))
        return fail(&c->v, COSTATE_NO_MEMORY, "No memory for the tape.");
    search x = {.c = c, .F = F, .g = g, .tape = tape ? tape : c->own, .t0 = t0, .t1 = t1, .y = y, .p = p};
    if (F->count > 0) members_inside(c);
    int own = c->random.count, status = prepare(&x);
    if (!status) status = rounds(&x);
    control_by(c, own);
    free(x.block);
    g->estimate.steps_refined = x.e.steps_refined;
    return status;
}
