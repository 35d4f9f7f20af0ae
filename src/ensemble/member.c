/* member.c (ensemble) - runs one member: calls costate.h with its part of the arrays. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "ensemble/ensemble.h"
#include "solver/solver.h"

/* ---- the member's part of the arrays ---- */

static void copy(double *to, const double *from, size_t count) { if (to) memcpy(to, from, count * sizeof *to); }

/* the k-th part of an array of parts of `count` numbers; NULL: there is no array */
static double *part(double *all, int k, size_t size) { return all ? all + (size_t)k * size : NULL; }
static const double *part_of(const double *all, int k, size_t size) { return all ? all + (size_t)k * size : NULL; }

/* results that a failed run does not set are zero */
static void take_in(worker *w, int k)
{
    const ensemble *e = w->of;
    const costate_members *a = e->all;
    size_t d = (size_t)a->directions, m = (size_t)a->m;
    clear_arrays(w->block, w->doubles);
    if (d) copy(w->V, part(a->V, k, e->N * d), e->N * d);
    if (m) copy(w->mu, part(a->mu, k, e->np * m), e->np * m);
    copy(w->mu2, part_of(a->mu2, k, e->np * d), e->np * d);
    if (d && a->along) {
        copy(w->along.t0, part(a->along->t0, k, d), d);
        copy(w->along.t1, part(a->along->t1, k, d), d);
    }
    if (m && a->times) copy(w->times.end, part(a->times->end, k, m), m);
}

static void give_out(const worker *w, int k)
{
    const ensemble *e = w->of;
    const costate_members *a = e->all;
    size_t d = (size_t)a->directions, m = (size_t)a->m;
    if (d) copy(part(a->V, k, e->N * d), w->V, e->N * d);
    if (m) copy(part(a->lambda, k, e->N * m), w->lambda, e->N * m);
    if (m) copy(part(a->mu, k, e->np * m), w->mu, e->np * m);
    copy(part(a->lambda2, k, e->N * d), w->lambda2, e->N * d);
    copy(part(a->mu2, k, e->np * d), w->mu2, e->np * d);
    if (d && a->along) copy(part(a->along->end, k, d), w->along.end, d);
    if (!m || !a->times) return;
    copy(part(a->times->t0, k, m), w->times.t0, m);
    copy(part(a->times->t1, k, m), w->times.t1, m);
    copy(part(a->times->defect, k, m), w->times.defect, m);
}

/* the times of a member: those that are not NaN */
static int times_of(const costate_members *a, int k, const double **t)
{
    int count = 0, own = a->same & COSTATE_OWN_OBSERVED;
    *t = part_of(a->observed, own ? k : 0, (size_t)a->observations);
    while (count < a->observations && !(own && isnan((*t)[count]))) count++;
    return count;
}

lane_member member_of(const worker *w, int k)
{
    const ensemble *e = w->of;
    const costate_members *a = e->all;
    size_t d = (size_t)a->directions, m = (size_t)a->m;
    const double *t;
    int count = times_of(a, k, &t);
    return (lane_member){
        .number = k, .observations = count, .observed = t,
        .t0 = a->t0_each ? a->t0_each[k] : a->t0,
        .t1 = a->t1_each ? a->t1_each[k] : a->t1,
        .y = part(a->y, k, e->N),
        .p = part_of(a->p, a->same & COSTATE_SAME_P ? 0 : k, e->np),
        .V = d ? part(a->V, k, e->N * d) : NULL,
        .Vp = part_of(a->Vp, a->same & COSTATE_SAME_VP ? 0 : k, e->np * d),
        .lambda = m ? part(a->lambda, k, e->N * m) : NULL,
        .mu = m ? part(a->mu, k, e->np * m) : NULL,
        .lambda2 = part(a->lambda2, k, e->N * d),
        .mu2 = part(a->mu2, k, e->np * d)};
}

int member_seed(worker *w, const lane_member *m, const double *y, double *lambda, double *mu)
{
    const costate_members *a = w->of->all;
    size_t k = (size_t)a->m;
    if (mu) copy(mu, m->mu, w->of->np * k);
    if (a->seed) return a->seed(m->number, m->t1, y, m->p, a->m, lambda, mu, a->ctx);
    copy(lambda, m->lambda, w->of->N * k);
    return 0;
}

int member_seed2(worker *w, const lane_member *m, const double *y, const double *V, double *lambda, double *mu)
{
    const ensemble *e = w->of;
    const costate_members *a = e->all;
    if (!a->seed2) return 0;
    return a->seed2(m->number, m->t1, y, m->p, a->directions, V, m->Vp, lambda, a->mu ? mu : NULL, lambda + e->N,
                    a->mu2 ? mu + e->np : NULL, a->ctx);
}

/* ---- the run ---- */

static int seed(double t1, const double *y, const double *p, int m, double *lambda, double *mu, void *ctx)
{
    const worker *w = ctx;
    const costate_members *a = w->of->all;
    size_t size = w->of->N * (size_t)m;
    if (a->seed) return a->seed(w->member, t1, y, p, m, lambda, mu, a->ctx);
    copy(lambda, part(a->lambda, w->member, size), size);
    return 0;
}

static int observe(int k, double t, const double *y, int m, double *x, void *ctx)
{
    const worker *w = ctx;
    const costate_members *a = w->of->all;
    return a->observe(w->member, k, t, y, m, x, a->ctx);
}

/* costate_integrate_adj in two calls, if the user sees the tape, the run has tangents, or there are observations */
static int backward(worker *w, const lane_member *x)
{
    const costate_members *a = w->of->all;
    int m = a->m;
    costate_observations seen = {.count = x->observations, .t = x->observed, .seed = observe, .ctx = w};
    memset(w->lambda, 0, w->of->N * (size_t)m * sizeof *w->lambda);
    int r = seed(costate_time(w->c), x->y, x->p, m, w->lambda, w->mu, w);
    if (r != 0) return fail(&w->c->v, COSTATE_CALLBACK, "The callback seed returned %d.", r);
    return costate_adjoint(w->c, w->tape, m, w->lambda, w->mu, a->times ? &w->times : NULL, &seen);
}

static int seed2(double t1, const double *y, const double *p, int m, const double *V, const double *Vp, double *lambda,
                 double *mu, double *lambda2, double *mu2, void *ctx)
{
    const worker *w = ctx;
    const costate_members *a = w->of->all;
    return a->seed2(w->member, t1, y, p, m, V, Vp, lambda, mu, lambda2, mu2, a->ctx);
}

static int observe2(int k, double t, const double *y, int m, const double *V, double *x, double *x2, void *ctx)
{
    const worker *w = ctx;
    const costate_members *a = w->of->all;
    return a->observe2(w->member, k, t, y, m, V, x, x2, a->ctx);
}

static int second(worker *w, const lane_member *x)
{
    const costate_members *a = w->of->all;
    costate_observations seen = {.count = x->observations, .t = x->observed, .seed2 = observe2, .ctx = w};
    costate_second s = {.m = a->directions, .V = x->V, .Vp = x->Vp, .seed = a->seed2 ? seed2 : NULL, .ctx = w,
                        .observations = &seen, .lambda = w->lambda, .mu = w->mu, .lambda2 = w->lambda2,
                        .mu2 = w->mu2};
    return costate_hessian(w->c, w->tape, &s);
}

static void say(worker *w) { snprintf(w->said, sizeof w->said, "%s", costate_message(w->c)); }

/* The message is that of the run, with its remarks, unless the sweep fails. */
static int integrate(worker *w, int k)
{
    const costate_members *a = w->of->all;
    lane_member x = member_of(w, k);
    costate_times *along = a->along ? &w->along : NULL, *times = a->times ? &w->times : NULL;
    if (a->lambda2) {
        TRY(costate_integrate(w->c, x.t0, x.t1, x.y, x.p, w->tape));
        say(w);
        return second(w, &x);
    }
    if (a->m > 0 && !w->tape)
        return costate_integrate_adj(w->c, x.t0, x.t1, x.y, x.p, a->m, w->lambda, w->mu, times, seed, w);
    if (a->directions > 0)
        TRY(costate_integrate_tlm(w->c, x.t0, x.t1, x.y, x.p, a->directions, w->V, x.Vp, along, w->tape));
    else TRY(costate_integrate(w->c, x.t0, x.t1, x.y, x.p, w->tape));
    say(w);
    return a->m > 0 ? backward(w, &x) : COSTATE_OK;
}

/* With a memory limit, blocks count that only a longer tape needed, too. */
static int fresh_tape(worker *w)
{
    if (!w->tape || !w->o.tape_limit) return COSTATE_OK;
    costate_tape *fresh = costate_tape_new();
    tape_clear(w->tape);
    if (!fresh) return fail(&w->c->v, COSTATE_NO_MEMORY, "No memory for the tape.");
    costate_tape_free(w->tape);
    w->tape = fresh;
    return COSTATE_OK;
}

/* the status from on_member, if it replaces that of the member */
static int added(worker *w, int status)
{
    const costate_members *a = w->of->all;
    int r = a->on_member ? a->on_member(w->member, w->number, w->c, a->tape ? w->tape : NULL, a->ctx) : 0;
    if (status != COSTATE_OK || r == 0) return status;
    if (costate_status(w->c) != r)
        fail(&w->c->v, r < 0 ? r : COSTATE_CALLBACK, "The callback on_member returned %d.", r);
    say(w);
    return costate_status(w->c);
}

int member_run(worker *w)
{
    solver_renew(w->c);
    w->said[0] = 0;
    take_in(w, w->member);
    int status = fresh_tape(w);
    if (status == COSTATE_OK) status = integrate(w, w->member);
    give_out(w, w->member);
    if (status != COSTATE_OK || !w->said[0]) say(w);
    return added(w, status);
}
