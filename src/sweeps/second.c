/* second.c - Hessian-vector products over a tape: the gradient of a functional and its derivatives along directions,
   exact for what the adjoint sweep computes (mathematics, section 2.5).  Tangents are computed forward and stored; then
   one backward sweep propagates the gradient and its derivatives. */
#include <stdlib.h>
#include <string.h>
#include "run/remake.h"
#include "solver/arguments.h"
#include "solver/members.h"
#include "solver/workspace.h"
#include "sweeps/inside.h"
#include "sweeps/kept.h"
#include "sweeps/second.h"
#include "sweeps/sweep.h"

/* ---- input ---- */

int second_directions(costate *c, const costate_second *s, int least)
{
    const costate_times *t = s->along;
    size_t m = (size_t)s->m;
    if (s->m < least) return fail(&c->v, COSTATE_BAD_ARGUMENT, "m = %d directions: at least one is needed.", s->m);
    if (s->m > 0 && !(s->V || s->Vp || (t && (t->t0 || t->t1 || t->events))))
        return fail(&c->v, COSTATE_BAD_ARGUMENT, "V, Vp and times in along are NULL: there is no direction.");
    if (s->V) TRY(check_vector(c, "V", s->V, (size_t)c->st.N * m));
    if (s->Vp) TRY(check_vector(c, "Vp", s->Vp, (size_t)c->st.np * m));
    if (t && t->t0) TRY(check_vector(c, "along.t0", t->t0, m));
    if (t && t->t1) TRY(check_vector(c, "along.t1", t->t1, m));
    return 0;
}

int second_derivatives(costate *c, const costate_second *s)
{
    if (!s->lambda2 && s->m > 0)
        return fail(&c->v, COSTATE_BAD_ARGUMENT, "lambda2 is NULL, but %d values are set.", c->st.N * s->m);
    if (s->mu2) TRY(check_vector(c, "mu2", s->mu2, (size_t)c->st.np * (size_t)s->m));
    if (s->seed || (s->observations && s->observations->count > 0)) return 0;
    return fail(&c->v, COSTATE_MISSING, "seed is missing, and there are no observations: what is to be "
                "differentiated?");
}

static int check_results(costate *c, const costate_second *s)
{
    if (!s->lambda) return fail(&c->v, COSTATE_BAD_ARGUMENT, "lambda is NULL, but %d values are set.", c->st.N);
    if (s->mu) TRY(check_vector(c, "mu", s->mu, (size_t)c->st.np));
    return second_derivatives(c, s);
}

static int with_parameters(const costate *c, const costate_second *s)
{
    return c->st.np > 0 && (s->mu || s->mu2 || s->Vp);
}

static int timed(const costate *c, const costate_second *s)
{
    return timed_sweep(c, s->times) || timed_sweep(c, s->times2);
}

static int check_given(costate *c, const costate_tape *tape, const costate_second *s)
{
    int moving = timed(c, s) || timed_sweep(c, s->along);
    TRY(second_directions(c, s, s->correct ? 0 : 1));
    TRY(check_results(c, s));
    TRY(check_observations(c, tape, s->observations, SECOND));
    TRY(maps_available(c, tape, SECOND, with_parameters(c, s), moving));
    return maps_have_events(&c->maps, TANGENT_OF | ADJOINT_OF | ADJOINT_TANGENT_OF);
}

/* ---- the sweeps ---- */

typedef struct {
    costate *c;
    const costate_tape *tape;
    const costate_second *s;
    int m, given;               /* directions: with that of correct, the last; the user's */
    kept_tangents kept;
    double *events;             /* of the tape's events: directions, m columns; gradients, 1 + m */
    double defect;
    costate_times along, ends;  /* those, and t1: given; found */
    const double *pm;           /* (np + nm)*m, or NULL */
} hessian;

static size_t event_count(const hessian *x) { return (size_t)x->tape->maps.events; }

/* to <- the columns of the user (NULL: zero), followed by a zero column for `correct` */
static void take_columns(const hessian *x, size_t rows, const double *from, double *to)
{
    size_t given = rows * (size_t)x->given;
    memset(to, 0, rows * (size_t)x->m * sizeof *to);
    if (from) memcpy(to, from, given * sizeof *to);
}

static int events_wanted(const costate_times *t) { return t && t->events; }

static int begin_hessian(hessian *x)
{
    costate *c = x->c;
    const costate_second *s = x->s;
    seconds *d = &c->second;
    size_t count = event_count(x), m = (size_t)x->m;
    const costate_times *along = s->along;
    int wanted = events_wanted(along) || events_wanted(s->times) || events_wanted(s->times2);
    if (wanted && !(x->events = calloc(count * (2 * m + 1) + 1, sizeof *x->events)))
        return fail(&c->v, COSTATE_NO_MEMORY, "No memory for derivatives by %zu events.", count);
    take_columns(x, (size_t)c->st.N, s->V, d->V);
    take_columns(x, (size_t)c->st.np, s->Vp, d->Vp);
    take_columns(x, 1, along ? along->t0 : NULL, c->d.dt);
    take_columns(x, 1, along ? along->t1 : NULL, d->dt1);
    if (wanted) take_columns(x, count, along ? along->events : NULL, x->events);
    memset(d->lambda, 0, (size_t)c->st.N * (m + 1) * sizeof *d->lambda);
    memset(d->mu, 0, (size_t)(c->st.np + c->st.nm) * (m + 1) * sizeof *d->mu);
    memset(d->direct, 0, (size_t)c->st.np * (m + 1) * sizeof *d->direct);
    memset(d->t1, 0, (m + 1) * sizeof *d->t1);
    x->pm = pm_begin(c, x->m, s->Vp ? d->Vp : NULL);
    x->along = (costate_times){.t1 = d->dt1, .events = x->events};
    x->ends = (costate_times){.t1 = d->t1, .events = wanted ? x->events + count * m : NULL};
    return kept_new(c, x->tape, x->m, &x->kept);
}

/* the state of a sweep in either direction of time */
static sweep_state sweep_for(hessian *x, const reader *who, int m, const costate_times *times)
{
    costate *c = x->c;
    sweep_state w = sweep_of(c, x->tape, who, m, times, x->s->observations);
    w.V = c->second.V;
    w.at = c->second.at;
    w.d = (directions){.m = x->m, .stages = w.seen && w.seen->count > 0, .solved = x->s->correct, .dt = w.dt,
                       .dh = w.dh, .V = w.V, .Vp = x->pm, .V1 = c->d.V};
    return w;
}

static void sweep_begins(costate *c)
{
    linearisation_outdate(&c->st.lin);
    members_sweep(c);
}

static int tangents_forward(hessian *x, int from)
{
    costate *c = x->c;
    reader who = reader_of(c, 0);
    sweep_state w = sweep_for(x, &who, x->m, &x->along);
    w.tau = c->d.t;                     /* between segments, tau is that of the sweep back */
    sweep_begins(c);
    return from < 0 ? kept_forward(c, &x->kept, &w) : kept_segment(c, &x->kept, &w, from);
}

static int end_values(hessian *x)
{
    costate *c = x->c;
    const costate_second *s = x->s;
    const seconds *d = &c->second;
    size_t all = (size_t)x->m + 1, N = (size_t)c->st.N, np = (size_t)c->st.np;
    if (s->along && s->along->end) memcpy(s->along->end, c->d.dt, (size_t)x->given * sizeof *s->along->end);
    if (!s->seed) return COSTATE_OK;
    int r = s->seed(x->tape->from.t1, x->tape->end, x->tape->p, x->m, d->V, s->Vp ? d->Vp : NULL, d->lambda,
                    s->mu ? d->direct : NULL, d->lambda + N, s->mu2 ? d->direct + np : NULL, s->ctx);
    r = r == 0 ? 0 : fail(&c->v, COSTATE_CALLBACK, "The callback seed returned %d.", r);
    if (r == 0 && !(all_finite(N * all, d->lambda) && all_finite(np * all, d->direct)))
        r = fail(&c->v, COSTATE_BAD_ARGUMENT, "seed set lambda, mu or their derivatives to NaN or Inf.");
    return space_agree(&c->maps.space, r);
}

static int second_along(void *ctx, sweep_state *w, op o)
{
    const hessian *x = ctx;
    w->along = kept_of(x->c, &x->kept, &o);
    return adjoint_of(NULL, w, o);
}

static void begin_times(const hessian *x, double *tau)
{
    const costate_times *g = x->s->times, *gd = x->s->times2;
    memset(tau, 0, (size_t)(x->m + 1) * sizeof *tau);
    if (g && g->end) tau[0] = g->end[0];
    if (gd && gd->end) memcpy(tau + 1, gd->end, (size_t)x->given * sizeof *tau);
}

static int sweep_back(hessian *x)
{
    costate *c = x->c;
    const costate_second *s = x->s;
    reader who = reader_of(c, 1);
    sweep_state w = sweep_for(x, &who, x->m + 1, &x->ends);
    int count = x->tape->count, length = x->kept.length;
    w.g = (functionals){.m = x->m + 1, .along = &w.d, .times = timed(c, s), .lambda = c->second.lambda,
                        .mu = c->st.nm || s->mu || s->mu2 ? c->second.mu : NULL, .t = c->d.t, .h = c->d.h,
                        .defect = s->times && s->times->defect ? &x->defect : NULL, .U = c->d.U};
    begin_times(x, w.tau);
    sweep_begins(c);
    members_left_sweep(c);
    if (count == 0) return sweep_backward(&w, 0, 0, &(visit){second_along, x});
    for (int from = (count - 1) / length * length; from >= 0; from -= length) {
        int to = from + length < count ? from + length : count;
        if (x->kept.from != from) { TRY(tangents_forward(x, from)); sweep_begins(c); }
        w.held = -1;
        TRY(sweep_backward(&w, from, to, &(visit){second_along, x}));
    }
    return 0;
}

/* ---- output ---- */

/* Copies the columns of the user, and subtracts from the gradient what `correct` removes. */
static void give(const hessian *x, size_t rows, size_t ld, const double *found, int add, double *of,
                 double *derivatives)
{
    for (size_t i = 0; of && i < rows; i++)
        of[i] = (add ? of[i] : 0) + found[i] + (x->m > x->given ? found[(size_t)x->m * ld + i] : 0);
    for (size_t j = 0; derivatives && j < (size_t)x->given; j++)
        for (size_t i = 0; i < rows; i++)
            derivatives[j * rows + i] = (add ? derivatives[j * rows + i] : 0) + found[(j + 1) * ld + i];
}

static void give_times(const hessian *x)
{
    static const costate_times none = {.t0 = NULL};
    const costate_times g = x->s->times ? *x->s->times : none, gd = x->s->times2 ? *x->s->times2 : none;
    size_t count = event_count(x);
    give(x, 1, 1, x->c->d.tau, 0, g.t0, gd.t0);
    give(x, 1, 1, x->ends.t1, 0, g.t1, gd.t1);
    if (x->ends.events) give(x, count, count, x->ends.events, 0, g.events, gd.events);
    if (g.defect) *g.defect = x->defect;
}

static int results(hessian *x)
{
    costate *c = x->c;
    const costate_second *s = x->s;
    const seconds *d = &c->second;
    size_t N = (size_t)c->st.N, np = (size_t)c->st.np, k = (size_t)(x->m + 1);
    costate_times both = {.t0 = c->d.tau, .t1 = d->t1, .defect = NULL};
    memory_from_pm(&c->st, x->m + 1, d->lambda, d->mu);
    TRY(left_relative(members_left(c), 1, x->m + 1, d->lambda, N, &c->count.krylov_error));
    TRY(total_times(c, &both, x->m + 1));
    TRY(space_total(&c->maps.space, 1, &x->defect));
    give(x, N, N, d->lambda, 0, s->lambda, s->lambda2);
    give(x, np, np + (size_t)c->st.nm, d->mu, 1, s->mu, s->mu2);
    give(x, np, np, d->direct, 1, s->mu, s->mu2);
    give_times(x);
    TRY(space_sound(&c->maps.space, N * k, d->lambda, "The gradients or their derivatives are NaN or Inf."));
    return space_sound(&c->maps.space, (np + (size_t)c->st.nm) * k, d->mu, "The gradients or their derivatives are NaN "
                       "or Inf.");
}

static int sweeps(hessian *x)
{
    double ended = x->c->v.t;                           /* of the last run; a failure is in a step */
    TRY(begin_hessian(x));
    TRY(tangents_forward(x, -1));
    TRY(end_values(x));
    TRY(sweep_back(x));
    verdict_at(&x->c->v, ended);
    return results(x);
}

int solver_hessian(costate *c, const costate_tape *tape, const costate_second *s)
{
    TRY(begin(c));
    if (!s) return fail(&c->v, COSTATE_BAD_ARGUMENT, "second is NULL.");
    TRY(tape_serves(&c->st, &c->P, tape, 1));
    TRY(check_given(c, tape, s));
    hessian x = {.c = c, .tape = tape, .s = s, .m = s->m + (s->correct != 0), .given = s->m};
    TRY(seconds_prepare(c, x.m));
    TRY(tape_begin(c, tape));
    int status = sweeps(&x);
    tape_leave(tape);
    if (!status) observations_remark(c, tape, s->observations);
    kept_free(&x.kept);
    free(x.events);
    return status;
}
