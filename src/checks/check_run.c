/* check_run.c - the public review of a model: the run, and the checks of it one after another.

   The run is that of the user's solver, made by a second solver with its options, so that nothing of the first changes.
   Where it fails, callbacks and tolerances are still checked: they are what mostly makes runs fail. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "checks/check.h"
#include "checks/review.h"
#include "run/integrate.h"
#include "solver/arguments.h"
#include "solver/options.h"

/* Of tries of a step, worth a remark where there were at least as many tries as FEW. */
static const double MANY_REJECTED = 0.3, MANY_FAILED = 0.1;
enum { FEW = 20 };

static int no_memory(costate *c) { return fail(&c->v, COSTATE_NO_MEMORY, "No memory for the review."); }

/* ---- the run ---- */

static void see(run_review *x, const double *y)
{
    for (int i = 0; i < x->c->st.n; i++) x->largest[i] = fmax(x->largest[i], fabs(y[i]));
}

static int on_step(const costate_step *s, void *ctx)
{
    see(ctx, costate_step_state(s));
    return 0;
}

static int head(run_review *x)
{
    const costate_stats *count = costate_get_stats(x->c);
    const costate_options *o = &x->o;
    char tolerances[80];
    if (o->rtol_vector || o->atol_vector) snprintf(tolerances, sizeof tolerances, "tolerances for each component");
    else snprintf(tolerances, sizeof tolerances, "rtol %.3g, atol %.3g", o->rtol, o->atol);
    if (o->controller == COSTATE_FIXED) snprintf(tolerances, sizeof tolerances, "steps of %.3g", o->h0);
    return review_head(x->r, "Review of a run with %s from t = %.8g to %.8g, n = %d, %s: %ld steps, %ld rejected.",
                       x->c->st.method->name, x->t0, x->ended, x->c->st.n, tolerances, count->accepted,
                       count->rejected);
}

static int say_rejected(run_review *x)
{
    const costate_stats *count = costate_get_stats(x->c);
    double tries = (double)count->steps;
    if (count->steps < FEW) return 0;
    if (count->newton_failures > MANY_FAILED * tries)
        return review_add(x->r, (review_about){COSTATE_REMARK, -1, "run", NAN, (double)count->newton_failures},
                          "Newton's iteration failed in %ld of %ld tries of a step.  A wrong or inexact jac has this "
                          "effect, and so has an f that is not smooth.", count->newton_failures, count->steps);
    if (count->rejected > MANY_REJECTED * tries)
        return review_add(x->r, (review_about){COSTATE_REMARK, -1, "run", NAN, (double)count->rejected},
                          "%ld of %ld tries of a step were rejected.  An f that is not smooth has this effect: make "
                          "its switches events or relations, and give times where it jumps as problem.stops.",
                          count->rejected, count->steps);
    return 0;
}

/* Steps of an explicit method as long as stability allows, or beyond; the message says so and what to do. */
static int limited_by_stability(const costate *c)
{
    const spectrum *s = &c->st.spectrum;
    return !c->st.method->of && s->worst > 1;
}

static int say_run(run_review *x)
{
    const char *text = review_remark(x->said);
    if (x->status)
        return review_add(x->r, (review_about){COSTATE_WRONG, -1, "run", x->ended, NAN}, "%s: %s",
                          costate_status_name(x->status), x->said);
    TRY(say_rejected(x));
    if (!*text && x->ended == x->t1) return review_add(x->r, about(COSTATE_RIGHT, "run"), "It succeeded.");
    if (!*text) return review_add(x->r, about(COSTATE_RIGHT, "run"), "It ended before t1 = %.8g, at a terminal event.",
                                  x->t1);
    return review_add(x->r, about(COSTATE_REMARK, limited_by_stability(x->c) ? "stiffness" : "run"), "%s", text);
}

static int integrate(run_review *x)
{
    costate *c = x->c;
    double *y = malloc((size_t)c->st.N * sizeof *y);
    if (!y) return COSTATE_NO_MEMORY;
    memcpy(y, x->y, (size_t)c->st.N * sizeof *y);
    see(x, y);
    x->status = solver_integrate(c, x->t0, x->t1, y, x->p, x->tape);
    free(y);
    x->ended = costate_time(c);
    snprintf(x->said, sizeof x->said, "%s", costate_message(c));
    TRY(head(x));
    TRY(say_run(x));
    return ends_review(x->status, c->v.gave_up) ? x->status : 0;
}

/* ---- all of it ---- */

static int all_checks(run_review *x)
{
    TRY(integrate(x));
    TRY(review_points(x));
    TRY(review_sizes(x));
    if (x->status) return x->status;
    TRY(review_derivatives(x));
    return review_events(x);
}

static int run_with(costate *c, run_review *x)
{
    size_t n = (size_t)c->st.n, N = (size_t)c->st.N;
    double *memory = calloc(n + N, sizeof *memory);
    x->largest = memory;
    x->weight = memory ? memory + n : NULL;
    x->o = options_unwatched(c);
    x->o.newton_tol = c->given.newton_tol;
    x->o.on_step = on_step;
    x->o.on_step_ctx = x;
    x->tape = costate_tape_new();
    x->c = costate_new(c->st.method, &c->P, &x->o);
    int status = memory && x->tape && x->c && x->c->v.status != COSTATE_NO_MEMORY ? all_checks(x) : COSTATE_NO_MEMORY;
    if (status == COSTATE_NO_MEMORY) no_memory(c);
    else if (status) fail(&c->v, status, "%s", x->said);
    costate_tape_free(x->tape);
    solver_free(x->c);
    free(memory);
    return status;
}

/* The user's preconditioner was set up by other solvers: it must be set up again. */
static void others_came(costate *c)
{
    if (!c->o.preconditioner) return;
    forget(c);
    factors_reset(c->st.fac);
}

static const char *first_wrong(const costate_review *r)
{
    for (int k = 0; k < r->count; k++) if (r->list[k].severity == COSTATE_WRONG) return r->list[k].text;
    return "";
}

static int reviewed(costate *c, run_review *x)
{
    int status = run_with(c, x), wrong;
    others_came(c);
    if (review_compose(x->r)) return no_memory(c);
    if (status || !(wrong = review_wrong(x->r))) return status;
    return fail(&c->v, COSTATE_CHECK_FAILED, "%d finding%s of what is wrong (costate_review_text returns all): %.600s",
                wrong, wrong == 1 ? "" : "s", first_wrong(x->r));
}

int solver_check_run(costate *c, double t0, double t1, const double *y, const double *p, costate_review *r)
{
    run_review x = {.r = r, .t0 = t0, .t1 = t1, .y = y, .p = p};
    if (r) review_clear(r);
    TRY(begin(c));
    if (!r) return fail(&c->v, COSTATE_BAD_ARGUMENT, "review is NULL: costate_review_new makes one.");
    TRY(check_arguments(c, t0, t1, y, p));
    if (c->o.sum)
        return fail(&c->v, COSTATE_BAD_ARGUMENT, "A review is for states on one process: with options.sum call "
                    "costate_check_adjoint.");
    return reviewed(c, &x);
}
