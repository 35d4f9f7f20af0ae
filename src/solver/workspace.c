/* workspace.c - the work space of runs and of derivatives: one block each, laid out twice, first to determine its size.
   */
#include <stdlib.h>
#include <string.h>
#include "base/invariant.h"
#include "solver/members.h"
#include "solver/workspace.h"

static last_try last_try_of(const costate *c, cursor *at, size_t count)
{
    size_t k = c->st.method->of ? count : 0;
    double *part = take(at, (size_t)c->st.N * k);
    return (last_try){part, take(at, k)};
}

static void workspace_layout(costate *c, cursor *at)
{
    stepper *st = &c->st;
    workspace *w = &c->work;
    size_t n = (size_t)st->n, N = (size_t)st->N, s = (size_t)st->most, after = (size_t)corrects(&c->maps);
    TAKE(at, N, &w->y, &w->y1, &w->err);
    w->corrected = take(at, (after + (size_t)relaxes(&c->maps)) * N);
    w->yp = c->maps.residual ? take(at, n) : NULL;
    w->yp1 = c->maps.residual ? take(at, n) : NULL;
    c->ended.yp = c->maps.residual ? take(at, n) : NULL;
    TAKE(at, N, &w->f, &w->z, &c->ended.y);
    w->stiff = last_try_of(c, at, 1);
    c->ended.p = take(at, (size_t)st->np);
    w->clock = take(at, 4);
    c->scaled = take(at, c->o.rtol_vector || c->o.atol_vector ? 2 * n : 0);
    for (int k = 0; k < 2; k++) {
        w->scratch[k].X = take(at, stage_doubles(st, st->most));
        w->scratch[k].iterations = (unsigned char *)take(at, s);
    }
    st->w = take(at, N);
    if (stiff_member(st)->F->is & IMPLICIT) st->lin.y = take(at, n);
    if (c->maps.residual) st->lin.yp = take(at, n);
    maps_layout(&c->maps, at);
    if (st->method->of) spectrum_share(st, at);
}

int workspace_prepare(costate *c)
{
    cursor at = {0};
    workspace_layout(c, &at);
    size_t doubles = at.used;
    double *block = calloc(doubles + 8, sizeof *block);
    if (!block) return fail(&c->v, COSTATE_NO_MEMORY, "No memory for the work space (%zu doubles).", doubles);
    at = (cursor){block, 0};
    workspace_layout(c, &at);
    INVARIANT(at.used == doubles);
    c->maps.bound.w = c->st.w;
    c->work.block = block;
    return COSTATE_OK;
}

static void layout_events(costate *c, cursor *at, size_t k)
{
    event_work *w = &c->d.events;
    const stepper *st = &c->st;
    size_t N = (size_t)st->N, pm = (size_t)(st->np + st->nm), located = guards(c) > 0;
    size_t events = c->P.nevents + c->P.nrelations > 0 || corrects(st->maps);
    TAKE(at, located * N * k, &w->V, &w->lambda);
    w->dpm = take(at, located * pm * k);
    w->one = take(at, located * 3 * k);
    w->pm = take(at, st->nm > 0 ? pm * k : 0);
    TAKE(at, events * N, &w->jump, &w->after);
    size_t relaxed = (size_t)relaxes(st->maps);
    w->relaxed = take(at, relaxed * 4 * N);
    w->carried = take(at, relaxed * N * k);
    w->parts = take(at, relaxed * k);
    int any = c->P.nevents + c->P.nrelations > 0;
    size_t n = any ? (size_t)st->n : 0, nq = any ? (size_t)st->nq : 0;
    instant_work *x = &w->instant;
    TAKE(at, nq, &x->rate, &x->moved_rate);
    TAKE(at, n, &x->k, &x->V, &x->before, &x->by_y);
    x->both = take(at, 2 * n);
    x->mu = take(at, any ? 2 * (size_t)(st->np + st->nm) : 0);
    x->by_pm = take(at, any ? (size_t)(st->np + st->nm) : 0);
    w->start = &c->start;
}

double *pm_begin(costate *c, int m, const double *of_p)
{
    size_t np = (size_t)c->st.np, rows = np + (size_t)c->st.nm;
    double *pm = c->d.events.pm;
    if (c->st.nm == 0) return (double *)of_p;
    memset(pm, 0, rows * (size_t)m * sizeof *pm);
    for (size_t j = 0; of_p && j < (size_t)m; j++) memcpy(pm + j * rows, of_p + j * np, np * sizeof *pm);
    return pm;
}

int columns_prepare(costate *c, int m)
{
    if (m <= c->d.columns) return COSTATE_OK;
    columns *d = &c->d;
    int all = m + (guards(c) > 0);
    size_t n = (size_t)c->st.n, N = (size_t)c->st.N, s = (size_t)c->st.most, k = (size_t)all;
    double *block = NULL;
    for (;;) {
        cursor at = {block, 0};
        d->dt = take(&at, k);
        d->dh = take(&at, k);
        d->t = take(&at, k);
        d->h = take(&at, k);
        d->V = take(&at, N * k);
        d->X = take(&at, s * n * k);
        d->U = take(&at, s * n * k);
        d->seed = take(&at, s * n * k);
        d->w = take(&at, n * k);
        d->sum = take(&at, n * k);
        d->tau = take(&at, 3 * k);
        d->sampled = take(&at, SAMPLED * k);
        d->stiff = last_try_of(c, &at, k);
        layout_events(c, &at, k);
        if (block) break;
        free(d->block);
        d->block = NULL;
        d->columns = d->all = 0;
        if (!(block = calloc(at.used + 8, sizeof *block)))
            return fail(&c->v, COSTATE_NO_MEMORY, "No memory for %d directions (%zu doubles).", m, at.used);
    }
    d->block = block;
    TRY(members_columns(c, all));
    d->columns = m;
    d->all = all;
    return COSTATE_OK;
}

int seconds_prepare(costate *c, int m)
{
    seconds *d = &c->second;
    const stepper *st = &c->st;
    size_t n = (size_t)st->n, N = (size_t)st->N, pm = (size_t)(st->np + st->nm), k = (size_t)m;
    double *block = NULL;
    TRY(columns_prepare(c, m + 1));
    if (m <= d->columns) return COSTATE_OK;
    for (;;) {
        cursor at = {block, 0};
        d->V = take(&at, N * k);
        d->lambda = take(&at, N * (k + 1));
        d->mu = take(&at, pm * (k + 1));
        d->at = take(&at, n * k);
        d->Vp = take(&at, (size_t)st->np * k);
        d->direct = take(&at, (size_t)st->np * (k + 1));
        d->dt1 = take(&at, k);
        d->t1 = take(&at, k + 1);
        if (block) break;
        free(d->block);
        d->block = NULL;
        d->columns = 0;
        if (!(block = calloc(at.used + 8, sizeof *block)))
            return fail(&c->v, COSTATE_NO_MEMORY, "No memory for %d directions (%zu doubles).", m, at.used);
    }
    d->block = block;
    TRY(members_second(c, m));
    d->columns = m;
    return COSTATE_OK;
}

int starter_ready(costate *c)
{
    if (c->o.sum && (c->o.consistent || constrained(c)))
        return fail(&c->v, COSTATE_BAD_ARGUMENT, "options.sum: values are made consistent by a factorisation, which "
                    "knows one process alone; give consistent ones.");
    c->start.w = c->st.w;
    return starter_init(&c->start, stiff_member(&c->st)->sh, &c->maps, &c->P);
}

static size_t layout_watch(watch *w, const stepper *c, cursor *at)
{
    size_t n = (size_t)c->n, N = (size_t)c->N;
    TAKE(at, n, &w->u, &w->at);
    TAKE(at, N, &w->y, &w->y1, &w->jump, &w->was);
    w->rate = take(at, n);
    return at->used;
}

int watch_prepare(costate *c)
{
    watch *w = &c->watch;
    cursor at = {0};
    int count = c->P.nevents + c->P.nrelations;
    if (count == 0) return 0;
    size_t doubles = layout_watch(w, &c->st, &at), guards = 2 * (size_t)count * sizeof *w->guard;
    size_t integers = 2 * (size_t)c->P.nrelations * sizeof *w->values;
    if (!(w->guard = calloc(1, guards + doubles * sizeof *w->u + integers)))
        return fail(&c->v, COSTATE_NO_MEMORY, "No memory for %d events.", count);
    at = (cursor){(double *)((char *)w->guard + guards), 0};
    layout_watch(w, &c->st, &at);
    w->values = (int *)((char *)w->guard + guards + doubles * sizeof *w->u);
    w->flips = w->values + c->P.nrelations;
    w->count = count;
    w->before = w->guard + w->count;
    w->samples = c->o.event_samples;
    return constrained(c) ? starter_ready(c) : 0;
}

void workspace_step(workspace *w)
{
    double *y = w->y, *yp = w->yp;
    w->y = w->y1;
    w->y1 = y;
    w->yp = w->yp1;
    w->yp1 = yp;
}
