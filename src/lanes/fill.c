/* fill.c (lanes) - members enter the lanes: their clocks, states and first steps. */
#include <math.h>
#include <string.h>
#include "lanes/moves.h"
#include "lanes/tape.h"
#include "run/integrate.h"

static void copy_lane(const batch *b, int from, int to, size_t count, double *all)
{
    size_t L = (size_t)b->code->lanes;
    for (size_t i = 0; i < count; i++) all[i * L + (size_t)to] = all[i * L + (size_t)from];
}

static void copy_clock(lane_clock *k, int from, int to)
{
    double *const numbers[] = {k->t, k->low, k->t1, k->dir, k->hmin, k->hmax, k->h_free, k->h_old, k->log_old};
    int64_t *const flags[] = {k->rejected, k->cautious};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) numbers[i][to] = numbers[i][from];
    for (size_t i = 0; i < sizeof flags / sizeof *flags; i++) flags[i][to] = flags[i][from];
}

void lanes_fill_idle(batch *b)
{
    size_t N = (size_t)b->N, np = (size_t)b->np, d = (size_t)with_run(b);
    for (int l = 0; b->active && l < b->code->lanes; l++) {
        int from = first_of(b->active);
        if (b->active >> l & 1) continue;
        copy_lane(b, from, l, N, b->step.y);
        copy_lane(b, from, l, np, b->p);
        if (b->step.K0) copy_lane(b, from, l, (size_t)b->n, b->step.K0);
        if (d) copy_lane(b, from, l, N * d, b->sweep.V);
        if (b->sweep.Vp && d) copy_lane(b, from, l, np * d, b->sweep.Vp);
        copy_clock(&b->clock, from, l);
        b->driver.at[l] = b->driver.at[from];
    }
}

/* ---- a member begins ---- */

static void set_clock(batch *b, int l)
{
    lane_clock *k = &b->clock;
    const costate *c = b->driver.solver[l];
    const run *x = &b->driver.state[l];
    k->t[l] = x->t;
    k->low[l] = 0;
    k->t1[l] = x->t1;
    k->dir[l] = c->in.dir;
    k->hmin[l] = c->in.hmin;
    k->hmax[l] = c->in.hmax;
    k->h_free[l] = x->h_free;
    k->h_old[l] = k->log_old[l] = 0;
    k->rejected[l] = 0;
    k->cautious[l] = 1;
}

/* observations lie in the run, in its order */
static int in_order(const lane_member *m)
{
    double dir = m->t1 > m->t0 ? 1 : -1, last = m->t0;
    for (int k = 0; k < m->observations; k++) {
        if (!(dir * (m->observed[k] - last) >= 0) || !(dir * (m->t1 - m->observed[k]) >= 0)) return 0;
        last = m->observed[k];
    }
    return 1;
}

/* != 0: not in a lane */
static int start(batch *b, int l, const lane_member *m)
{
    costate *c = b->driver.solver[l];
    size_t d = (size_t)b->d;
    solver_renew(c);
    if (m->t0 == m->t1 || !in_order(m) || run_start(c, m->t0, m->t1, m->y, m->p, &b->driver.state[l])) return 1;
    if (b->step.K0) {
        if (map_value(&c->maps, &c->maps.rhs, m->t0, m->y, b->driver.gathered)) return 1;
        if (!all_finite((size_t)b->n, b->driver.gathered)) return 1;
        scatter(b, l, (size_t)b->n, b->step.K0, b->driver.gathered);
    }
    if (d && !all_finite((size_t)b->N * d, m->V)) return 1;
    if (b->sweep.Vp && !all_finite((size_t)b->np * d, m->Vp)) return 1;
    set_clock(b, l);
    scatter(b, l, (size_t)b->N, b->step.y, m->y);
    scatter(b, l, (size_t)b->np, b->p, m->p);
    if (with_run(b)) {
        scatter(b, l, (size_t)b->N * d, b->sweep.V, m->V);
        if (b->sweep.Vp) scatter(b, l, (size_t)b->np * d, b->sweep.Vp, m->Vp);
    }
    b->driver.tries[l] = b->driver.accepted[l] = 0;
    b->after.of_J &= ~(1 << l);
    b->after.of_E &= ~(1 << l);
    drop_counts(b, l);
    return 0;
}

/* a place of the chunk; without a tape, members do not wait for others */
static int place_for(batch *b, int l) { return b->k ? b->driver.chunk.count : l; }

static int chunk_is_full(const batch *b)
{
    if (!b->k) return 0;
    return b->driver.chunk.count == CHUNK_MEMBERS || lane_tape_bytes(b) >= CHUNK_BYTES;
}

void lanes_refill(batch *b, int l)
{
    lane_member m;
    while (!chunk_is_full(b) && b->driver.source->next(b->driver.source->ctx, &m)) {
        if (start(b, l, &m)) { b->driver.source->alone(b->driver.source->ctx, &m); continue; }
        b->driver.at[l] = place_for(b, l);
        b->driver.chunk.count += b->k > 0;
        b->driver.chunk.place[b->driver.at[l]].of = m;
        b->driver.chunk.place[b->driver.at[l]].alone = 0;
        b->active |= 1 << l;
        b->driver.begins |= 1 << l;
        return;
    }
}
