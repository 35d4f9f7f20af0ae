/* goal.c - gradients to a given tolerance: run, sweep, estimate the errors, and again with smaller tolerances.

   With the tolerances scaled by x, errors are about C x^a. a is 1 at first, then taken from the last two rounds. The
   next x aims at AIM of the error that is allowed. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/vec.h"
#include "estimates/accuracy.h"
#include "estimates/functional.h"
#include "run/integrate.h"
#include "solver/arguments.h"
#include "solver/options.h"

enum { ROUNDS = 5 };
static const double START = 0.1;                /* rtol of the first run, in units of tol */
static const double AIM = 0.3;
static const double LEAST_STEP = 1e-3;          /* the smallest factor of x from one round to the next */
static const double COARSE = 0.1, COARSE_STEP = 1e-2;       /* where an error exceeds this part of its value: nothing
                                                               can be concluded from its size */
static const double LEAST_POWER = 0.3, MOST_POWER = 1.5;
static const double LEAST_RTOL = 1e-14, MOST_RTOL = 1e-2;

static int sound(costate *c, const costate_functional *F, const costate_goal *g)
{
    TRY(functional_sound(c, F));
    if (!g) return fail(&c->v, COSTATE_BAD_ARGUMENT, "The goal is NULL.");
    if (!(g->tol > 0 && g->tol < 1)) return fail(&c->v, COSTATE_BAD_ARGUMENT, "goal.tol = %g lies outside (0, 1).",
                                                 g->tol);
    if (!(g->value_atol >= 0 && g->gradient_atol >= 0 && g->factor >= 0 && g->factor < HUGE_VAL))
        return fail(&c->v, COSTATE_BAD_ARGUMENT, "goal: value_atol, gradient_atol or factor is negative, NaN or Inf.");
    const costate_estimate *e = &g->estimate;
    if (e->steps || e->run.events || e->error.events || e->better.events)
        return fail(&c->v, COSTATE_BAD_ARGUMENT, "goal.estimate: the sizes of steps and events are not known before "
                    "the run; costate_accuracy over the tape has them.");
    if (c->o.controller == COSTATE_FIXED)
        return fail(&c->v, COSTATE_BAD_ARGUMENT, "options.controller = COSTATE_FIXED: such steps do not follow a "
                    "tolerance.");
    return 0;
}

static double first_factor(const costate *c, const costate_goal *g)
{
    double rtol = options_rtol(&c->given, c->st.n);
    if (g->factor > 0 || rtol == 0) return g->factor > 0 ? g->factor : 1;
    return fmax(fmin(START * g->tol, MOST_RTOL), LEAST_RTOL) / rtol;
}

typedef struct { double factor, worst; } tried;

/* the next factor; `last`: the round before `now`, factor 0: there was none */
static double next_factor_of(const costate *c, double tol, const tried *now, const tried *last)
{
    double power = 1, rtol = options_rtol(&c->given, c->st.n);
    if (last->factor > 0 && now->worst > 0 && last->worst > now->worst)
        power = log(last->worst / now->worst) / log(last->factor / now->factor);
    power = fmax(LEAST_POWER, fmin(MOST_POWER, power));
    double least = now->worst * tol > COARSE ? COARSE_STEP : LEAST_STEP;
    double factor = now->factor * fmax(least, pow(AIM / now->worst, 1 / power));
    return rtol > 0 ? fmax(factor, fmin(LEAST_RTOL / rtol, now->factor)) : factor;
}

static int one_round(costate *c, double t0, double t1, double *y, const double *p, const costate_functional *F,
                     costate_goal *g, costate_tape *tape, double factor)
{
    const allowed within = {g->tol, g->value_atol, g->gradient_atol};
    options_scale(c, factor);
    g->factor = factor;
    g->rtol = options_rtol(&c->o, c->st.n);
    g->rounds++;
    TRY(solver_integrate(c, t0, t1, y, p, tape));
    return estimate_errors(c, tape, F, &g->estimate, &within, &g->worst);
}

static int rounds(costate *c, double t0, double t1, double *y, const double *p, const costate_functional *F,
                  costate_goal *g, costate_tape *tape, const double *start)
{
    tried now = {first_factor(c, g), HUGE_VAL}, last = {0, HUGE_VAL};
    g->rounds = 0;
    for (;;) {
        memcpy(y, start, (size_t)c->st.N * sizeof *y);
        int status = one_round(c, t0, t1, y, p, F, g, tape, now.factor);
        if (status && status != COSTATE_ACCURACY) return status;
        now.worst = status ? HUGE_VAL : g->worst;
        if (now.worst <= 1) return 0;
        double factor = next_factor_of(c, g->tol, &now, &last);
        if (g->rounds == ROUNDS || factor >= now.factor) break;
        last = now;
        now.factor = factor;
    }
    if (c->v.status == COSTATE_ACCURACY) return c->v.status;
    return fail(&c->v, COSTATE_ACCURACY, "The largest error is estimated as %.2g times what tol = %.3g allows, after "
                "%d runs, the last with rtol = %.3g.", g->worst, g->tol, g->rounds, g->rtol);
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
    double *start = malloc(((size_t)c->st.N + 1) * sizeof *start);
    if (!start) return fail(&c->v, COSTATE_NO_MEMORY, "No memory for a state.");
    memcpy(start, y, (size_t)c->st.N * sizeof *y);
    int status = rounds(c, t0, t1, y, p, F, g, tape ? tape : c->own, start);
    free(start);
    return status;
}
