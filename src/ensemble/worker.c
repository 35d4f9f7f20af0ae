/* worker.c (ensemble) - one thread of an ensemble: its solver, its memory and the members that it runs. */
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/arena.h"
#include "base/larger.h"
#include "base/stats.h"
#include "ensemble/ensemble.h"

/* ---- creation and freeing ---- */

void cut(char *to, size_t size, const char *text) { snprintf(to, size, "%.*s", (int)size - 1, text); }

static int refuse(worker *w, int status, const char *text)
{
    cut(w->text, sizeof w->text, text);
    return w->status = status;
}

int worker_given(worker *w)
{
    const ensemble *e = w->of;
    const costate_members *a = e->all;
    w->P = *e->P;
    w->o = e->o;
    w->o.gradient_estimate = COSTATE_ESTIMATE_OFF;      /* lanes have none either: all members are treated alike */
    if (a->observations > 0 && !w->o.members) w->o.accurate_inside = 1;
    int r = a->each_thread ? a->each_thread(w->number, &w->P, &w->o, a->ctx) : 0;
    if (r != 0) {
        snprintf(w->text, sizeof w->text, "The callback each_thread returned %d.", r);
        return w->status = COSTATE_CALLBACK;
    }
    const costate_problem *P = &w->P, *Q = e->P;
    if (P->n == Q->n && P->np == Q->np && P->nq == Q->nq && P->nm == Q->nm) return 0;
    return refuse(w, COSTATE_BAD_ARGUMENT, "The callback each_thread changed sizes of the problem.");
}

static double *of(double *asked, cursor *at, size_t size) { return asked ? take(at, size) : NULL; }

static void worker_layout(worker *w, cursor *at)
{
    const ensemble *e = w->of;
    const costate_members *a = e->all;
    size_t d = (size_t)a->directions, m = (size_t)a->m;
    w->V = take(at, e->N * d);
    w->lambda = take(at, e->N * m);
    w->mu = of(a->mu, at, e->np * m);
    w->lambda2 = of(a->lambda2, at, e->N * d);
    w->mu2 = of(a->mu2, at, e->np * d);
    if (a->along)
        w->along = (costate_times){.t0 = of(a->along->t0, at, d), .t1 = of(a->along->t1, at, d),
                                   .end = of(a->along->end, at, d)};
    if (a->times)
        w->times = (costate_times){.t0 = of(a->times->t0, at, m), .t1 = of(a->times->t1, at, m),
                                   .defect = of(a->times->defect, at, m), .end = of(a->times->end, at, m)};
}

static int room(worker *w)
{
    const costate_members *a = w->of->all;
    cursor at = {0};
    worker_layout(w, &at);
    w->doubles = at.used;
    if (!(w->block = calloc(at.used + 8, sizeof *w->block))) return COSTATE_NO_MEMORY;
    at = (cursor){w->block, 0};
    worker_layout(w, &at);
    int taped = a->tape || (a->m > 0 && (a->directions > 0 || a->observations > 0));
    return taped && !(w->tape = costate_tape_new()) ? COSTATE_NO_MEMORY : 0;
}

/* ---- lanes ---- */

static const char *lanes_refused(const costate_members *a)
{
    if (a->on_member) return "members.on_member is set";
    if (a->tape) return "members.tape is set";
    if (a->directions > 0 && a->along) return "members.along is set";
    return a->m > 0 && a->times ? "members.times is set" : NULL;
}

/* Less than half of the lanes would have a member: running them one by one is as fast. */
static int too_few(const costate_members *a, const costate_lane_maps *maps) { return 2 * a->count < maps->lanes; }

static void open_lanes(worker *w)
{
    const costate_members *a = w->of->all;
    lane_task t = {.method = w->of->method, .P = &w->P, .o = &w->o, .maps = lane_maps_of(a->lanes),
                   .d = a->directions, .k = a->m, .with_Vp = a->Vp != NULL, .with_mu = a->mu != NULL && w->of->np > 0,
                   .observations = a->observations, .second = a->lambda2 != NULL,
                   .with_mu2 = a->mu2 != NULL && w->of->np > 0};
    if (!a->lanes) return;
    if (!t.maps) { w->alone = "this processor has no lanes of these widths"; return; }
    if (too_few(a, t.maps)) { w->alone = "there are less than half as many members as lanes"; return; }
    if ((w->alone = lanes_refused(a))) return;
    if (!t.method) { w->alone = "the method is composite"; return; }
    w->lanes = lanes_new(&t, &w->alone);
}

int worker_open(worker *w)
{
    w->first = -1;
    w->c = costate_new(w->of->method, &w->P, &w->o);
    int status = w->c ? costate_status(w->c) : COSTATE_NO_MEMORY;
    if (status) refuse(w, status, w->c ? costate_message(w->c) : "No memory for the solver.");
    else if ((status = room(w))) refuse(w, status, "No memory for a thread of the ensemble.");
    if (status) worker_close(w);
    else open_lanes(w);
    return status;
}

void worker_close(worker *w)
{
    lanes_free(w->lanes);
    costate_tape_free(w->tape);
    costate_free(w->c);
    free(w->block);
    w->lanes = NULL;
    w->tape = NULL;
    w->c = NULL;
    w->block = NULL;
}

/* ---- members ---- */

static void keep(worker *w, int k, int status, const costate_stats *stats)
{
    const costate_members *a = w->of->all;
    w->done++;
    w->failed += status != COSTATE_OK;
    if (status != COSTATE_OK && (w->first < 0 || k < w->first)) {
        w->first = k;
        refuse(w, status, w->said);
    }
    if (a->status) a->status[k] = status;
    if (a->message) cut(a->message[k], sizeof a->message[k], w->said);
    stats_add(&w->stats, stats);
}

/* the work of all threads */
static void tell(ensemble *e, int failed)
{
    const costate_members *a = e->all;
    if (!a->progress) return;
    lock(e->lock);
    e->done++;
    e->failed += failed;
    if (!atomic_load(&e->stop) && a->progress(e->done, e->failed, a->count, a->ctx)) atomic_store(&e->stop, 1);
    unlock(e->lock);
}

/* -1: there are no more */
static int next_number(ensemble *e)
{
    size_t count = (size_t)e->all->count, k;
    if (atomic_load(&e->stop)) return -1;
    k = atomic_fetch_add(&e->next, 1);
    return k < count ? (int)k : -1;
}

static void run_one(worker *w, int k)
{
    w->member = k;
    int status = member_run(w);
    keep(w, k, status, costate_get_stats(w->c));
    tell(w->of, status != COSTATE_OK);
}

/* ---- members in lanes ---- */

static int next_of_lanes(void *ctx, lane_member *m)
{
    const worker *w = ctx;
    int k = next_number(w->of);
    if (k < 0) return 0;
    *m = member_of(w, k);
    return 1;
}

static int seed_of_lanes(void *ctx, const lane_member *m, const double *y, double *lambda, double *mu)
{
    return member_seed(ctx, m, y, lambda, mu);
}

static int seed2_of_lanes(void *ctx, const lane_member *m, const double *y, const double *V, double *lambda, double *mu)
{
    return member_seed2(ctx, m, y, V, lambda, mu);
}

static int observe2_in_lanes(void *ctx, const lane_member *m, int k, double t, const double *y, const double *V,
                             double *x)
{
    const ensemble *e = ((const worker *)ctx)->of;
    const costate_members *a = e->all;
    return a->observe2(m->number, k, t, y, a->directions, V, x, x + e->P->n, a->ctx);
}

static int observe_in_lanes(void *ctx, const lane_member *m, int k, double t, const double *y, double *x)
{
    const costate_members *a = ((const worker *)ctx)->of->all;
    return a->observe(m->number, k, t, y, a->m, x, a->ctx);
}

static void done_in_lanes(void *ctx, const lane_member *m, const char *said, const costate_stats *stats)
{
    worker *w = ctx;
    w->in_lanes++;
    cut(w->said, sizeof w->said, said);
    keep(w, m->number, COSTATE_OK, stats);
    tell(w->of, 0);
}

static void run_alone(void *ctx, const lane_member *m) { run_one(ctx, m->number); }

void worker_run(worker *w)
{
    lane_source source = {.ctx = w, .next = next_of_lanes, .seed = seed_of_lanes, .seed2 = seed2_of_lanes,
                          .observe = observe_in_lanes, .observe2 = observe2_in_lanes,
                          .done = done_in_lanes, .alone = run_alone};
    int k;
    if (w->lanes) lanes_run(w->lanes, &source);
    else while ((k = next_number(w->of)) >= 0) run_one(w, k);
}
