/* try.c - one try of a step: its stages, its error norm, and its tangents, whose errors may count as well.  The loop
   decides what follows (loop.c). */
#include <math.h>
#include <string.h>
#include "choice/effort.h"
#include "run/aim.h"
#include "run/calibrated.h"
#include "run/control.h"
#include "run/try.h"
#include "solver/status.h"

static void set_directions(costate *c, run *x)
{
    int to_end = x->last && x->t1 == x->end;
    step_directions(x->last ? TO_TIME : FROZEN, to_end && x->times ? x->times->t1 : NULL, x->d->m, c->d.dt, c->d.dh);
    x->d->V = x->Va;
    x->d->V1 = x->Vb;
}

/* Largest norm of the error estimates of the tangents: the estimator is linear in the stages
   (mathematics, section 13.4). */
static int tangent_norm(costate *c, run *x, double *norm)
{
    const directions *d = x->d;
    int first = c->o.tangent_error ? 0 : c->st.random.from;
    for (int j = first; c->st.m->est.e && j < d->m; j++) {
        memset(c->work.err, 0, (size_t)c->st.N * sizeof *c->work.err);
        TRY(c->st.F->estimate(&c->st, &x->now, d, j, c->work.err));
        size_t at = (size_t)j * (size_t)c->st.N;
        double one;
        TRY(tangent_error_norm(&c->st, j, x->Va + at, x->Vb + at, c->work.err, &one));
        TRY(calibrated_error(c, x, j, &one));
        *norm = larger(*norm, one);
    }
    return *norm < HUGE_VAL ? 0 : cut_by(&x->by, 0.2, retry(&c->v, WHY_NOT_FINITE));
}

/* If memory runs out, the run continues without keeping factorisations on the tape.  Only the matrices of a step
   allocate, before anything else is computed, so that the repetition computes the same. */
static int forward(costate *c, run *x)
{
    int status = c->st.F->forward(&c->st, &x->now, &x->by);
    if (status != COSTATE_NO_MEMORY || !x->tape || c->maps.space.sum || !tape_give_back(&c->st, x->tape)) return status;
    no_error(c);
    return c->st.F->forward(&c->st, &x->now, &x->by);
}

int step_once(costate *c, run *x)
{
    set_times(x);
    maps_bind_time(&c->maps, x->now.t, x->now.h);
    maps_bind_sides(&c->maps, x->now.t, x->now.end);
    x->by.y1 = c->work.y1;
    x->by.yp1 = c->work.yp1;
    x->by.next = (adjustment){.factor = 0.5};
    TRY(forward(c, x));
    memory_keep(&c->st, c->work.y, c->work.y1);
    return 0;
}

static int try_tangents(costate *c, run *x, double *err)
{
    int judged = c->o.tangent_error || c->st.random.atol;
    set_directions(c, x);
    left_step(c->st.sh);
    TRY(c->st.F->tangent(&c->st, &x->now, x->d));
    return judged && c->o.controller != COSTATE_FIXED ? tangent_norm(c, x, err) : 0;
}

typedef struct { costate *c; const run *x; } this_try;

static double length_of_next(const void *of, double err)
{
    const this_try *a = of;
    return next_h(a->c, a->x, fabs(a->x->h), log_of_error(err));
}

/* The estimate by what is known at the end of the step, where that is much larger. */
static int confirmed(costate *c, const run *x, double *err)
{
    double again;
    if (!c->st.F->confirm || !(*err <= 1)) return 0;
    next_step next = {length_of_next, &(this_try){c, x}};
    int status = c->st.F->confirm(&c->st, &x->now, &x->by, &next, *err, &again);
    if (status == RETRY || status == COSTATE_NO_MEMORY) { no_error(c); return 0; }      /* the next step will see */
    TRY(status);
    *err = confirmed_norm(*err, again);
    return 0;
}

/* One try: the step, its error norm, and its tangents if they enter the error norm or the step is accepted. */
int try_step(costate *c, run *x, double *err)
{
    c->count.steps++;
    TRY(step_once(c, x));
    if (x->by.estimate) {
        TRY(error_norm(&c->st, c->work.y, c->work.y1, c->work.err, err));
        TRY(calibrated_error(c, x, STATE, err));
        TRY(confirmed(c, x, err));
    } else TRY(cut_by(&x->by, 0.2, space_finite(&c->maps.space, (size_t)c->st.N, c->work.y1)));
    if (!(*err < HUGE_VAL)) return cut_by(&x->by, 0.2, retry(&c->v, WHY_NOT_FINITE));
    if (!x->d || !(*err <= 1)) return 0;
    effort before = effort_so_far(c);
    int status = try_tangents(c, x, err);
    effort_aside(c, before);
    return status;
}

int tangents_to_event(costate *c, run *x)
{
    left_step(c->st.sh);
    set_directions(c, x);
    if (!x->cut) return frozen(&c->v, c->st.F->tangent(&c->st, &x->now, x->d));
    mapped at = {.event = c->watch.first, .t = x->now.end, .y = c->work.y1, .k = c->work.yp1};
    return frozen(&c->v, event_tangent(&c->st, &c->d.events, &x->now, &at, x->d, NULL, c->d.dh));
}
