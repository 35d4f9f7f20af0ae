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
    if (e->o) w->o = *e->o;
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

static void layout(worker *w, cursor *at)
{
    const ensemble *e = w->of;
    const costate_members *a = e->all;
    size_t d = (size_t)a->directions, m = (size_t)a->m;
    w->V = take(at, e->N * d);
    w->lambda = take(at, e->N * m);
    w->mu = of(a->mu, at, e->np * m);
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
    layout(w, &at);
    w->doubles = at.used;
    if (!(w->block = calloc(at.used + 8, sizeof *w->block))) return COSTATE_NO_MEMORY;
    at = (cursor){w->block, 0};
    layout(w, &at);
    int taped = a->tape || (a->directions > 0 && a->m > 0);
    return taped && !(w->tape = costate_tape_new()) ? COSTATE_NO_MEMORY : 0;
}

int worker_open(worker *w)
{
    w->first = -1;
    w->c = costate_new(w->of->method, &w->P, &w->o);
    int status = w->c ? costate_status(w->c) : COSTATE_NO_MEMORY;
    if (status) refuse(w, status, w->c ? costate_message(w->c) : "No memory for the solver.");
    else if ((status = room(w))) refuse(w, status, "No memory for a thread of the ensemble.");
    if (status) worker_close(w);
    return status;
}

void worker_close(worker *w)
{
    costate_tape_free(w->tape);
    costate_free(w->c);
    free(w->block);
    w->tape = NULL;
    w->c = NULL;
    w->block = NULL;
}

/* ---- members ---- */

static void keep(worker *w, int status)
{
    const costate_members *a = w->of->all;
    int k = w->member;
    w->done++;
    w->failed += status != COSTATE_OK;
    if (status != COSTATE_OK && w->first < 0) {
        w->first = k;
        refuse(w, status, w->said);
    }
    if (a->status) a->status[k] = status;
    if (a->message) cut(a->message[k], sizeof a->message[k], w->said);
    stats_add(&w->stats, costate_get_stats(w->c));
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

void worker_run(worker *w)
{
    ensemble *e = w->of;
    size_t count = (size_t)e->all->count, k;
    while (!atomic_load(&e->stop) && (k = atomic_fetch_add(&e->next, 1)) < count) {
        w->member = (int)k;
        int status = member_run(w);
        keep(w, status);
        tell(e, status != COSTATE_OK);
    }
}
