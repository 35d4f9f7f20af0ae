/* ensemble.c - many runs on several threads: the public call and its report. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/grown.h"
#include "base/stats.h"
#include "ensemble/ensemble.h"

int costate_cores(void) { return cores_of_process(); }

/* ---- workers ---- */

static int workers_new(ensemble *e)
{
    int most = e->all->threads ? e->all->threads : cores_of_process(), count = e->all->count;
    e->threads = most < count ? most : count > 0 ? count : 1;
    e->workers = calloc((size_t)e->threads, sizeof *e->workers);
    if (!e->workers)
        return fail(&e->v, COSTATE_NO_MEMORY, "No memory for %d threads of the ensemble.", e->threads);
    for (int k = 0; k < e->threads; k++) {
        e->workers[k].of = e;
        e->workers[k].number = k;
        e->workers[k].first = -1;
    }
    return 0;
}

/* the worker of the calling thread, which finds errors in the method, the problem and the options */
static int open_first(ensemble *e)
{
    worker *w = &e->workers[0];
    int status = worker_given(w);
    if (status == 0) status = worker_open(w);
    return status ? fail(&e->v, status, "%s", w->text) : 0;
}

static int ensemble_start(ensemble *e)
{
    TRY(given_sound(e));
    TRY(workers_new(e));
    affinity_get(&e->cores);
    if (e->all->pin) affinity_pin(&e->cores, 0);
    return open_first(e);
}

static void end(ensemble *e)
{
    if (e->all && e->all->pin) affinity_set(&e->cores);
    for (int k = 0; e->workers && k < e->threads; k++) worker_close(&e->workers[k]);
    free(e->workers);
}

/* ---- members that were not started ---- */

static void not_begun(const ensemble *e, int from, int status, const char *text)
{
    const costate_members *a = e->all;
    for (int k = from; a->status && k < a->count; k++) a->status[k] = status;
    for (int k = from; a->message && k < a->count; k++) cut(a->message[k], sizeof a->message[k], text);
}

/* the number of members that were started: members 0 .. number - 1 */
static int begun(ensemble *e)
{
    size_t next = atomic_load(&e->next);
    return next < (size_t)e->all->count ? (int)next : e->all->count;
}

/* ---- the report ---- */

static void add_lanes(costate_ensemble_report *to, const worker *w, lane_use *use)
{
    to->in_lanes += w->in_lanes;
    if (w->alone && !to->alone[0]) cut(to->alone, sizeof to->alone, w->alone);
    if (!w->lanes) return;
    lane_use own = lanes_used(w->lanes);
    use->tries += own.tries;
    use->filled += own.filled;
    use->taken += own.taken;
    to->lanes = lane_maps_of(w->of->all->lanes)->lanes;
}

static void add(costate_ensemble_report *to, const worker *w, const worker **first)
{
    to->threads += w->c != NULL;
    to->done += w->done;
    to->failed += w->failed;
    stats_add(&to->stats, &w->stats);
    if (w->first >= 0 && (!*first || w->first < (*first)->first)) *first = w;
}

static int sum_up(ensemble *e, costate_ensemble_report *r)
{
    const worker *first = NULL;
    int count = e->all->count, left = begun(e);
    lane_use use = {0, 0, 0};
    for (int k = 0; k < e->threads; k++) add(r, &e->workers[k], &first);
    for (int k = 0; k < e->threads; k++) add_lanes(r, &e->workers[k], &use);
    if (use.tries > 0) {
        r->active = (double)r->lanes * (double)use.filled / (double)use.tries;
        r->accepted = (double)r->lanes * (double)use.taken / (double)use.tries;
    }
    if (left < count) not_begun(e, left, COSTATE_STOPPED, "Not begun: the callback progress asked to stop.");
    r->first = first ? first->first : left < count ? left : -1;
    if (first)
        snprintf(r->text, sizeof r->text, "%d of %d members failed%s; the first, member %d: %s", r->failed, count,
                 left < count ? ", and the callback progress asked to stop" : "", first->first, first->text);
    else if (left < count)
        snprintf(r->text, sizeof r->text, "The callback progress asked to stop after %d of %d members.", r->done,
                 count);
    else snprintf(r->text, sizeof r->text, "No error.");
    return left < count ? COSTATE_STOPPED : first ? first->status : COSTATE_OK;
}

static int refused(ensemble *e, costate_ensemble_report *r)
{
    int known = e->all && e->all->count > 0;
    if (known) not_begun(e, 0, e->v.status, e->v.text);
    r->first = known ? 0 : -1;
    cut(r->text, sizeof r->text, e->v.text);
    return e->v.status;
}

int costate_ensemble_sized(size_t size, const costate_method *m, const costate_problem *P, const costate_options *o,
                           const costate_members *all, costate_ensemble_report *report)
{
    costate_ensemble_report unseen, *r = report ? report : &unseen;
    ensemble e = {.all = all, .method = m, .P = P};
    memset(r, 0, sizeof *r);
    r->lanes = 1;
    verdict_clear(&e.v);
    atomic_init(&e.next, 0);
    atomic_init(&e.stop, 0);
    int status = grown_read(&e.v, "costate_options", o, size, &e.o, sizeof e.o);
    if (status == 0) status = ensemble_start(&e);
    if (status == 0) threads_run(&e);
    status = status ? refused(&e, r) : sum_up(&e, r);
    end(&e);
    return status;
}

int costate_ensemble(const costate_method *m, const costate_problem *P, const costate_options *o,
                     const costate_members *all, costate_ensemble_report *report)
{
    return costate_ensemble_sized(sizeof *o, m, P, o, all, report);
}
