/* run.c (lanes) - the loop over members: lanes are filled, steps tried, judged and taken; then a chunk's gradients.

   Whatever goes wrong in a lane (a map that is not defined, NaN, a step that is too small) takes its member out: it is
   run again, alone, where it may take shorter steps or fail with a message.  Lanes without a member repeat the one of
   another lane, so that maps only meet states of members. */
#include <math.h>
#include <string.h>
#include "base/invariant.h"
#include "lanes/moves.h"
#include "lanes/tape.h"
#include "run/aim.h"
#include "run/damping.h"

/* The longest steps that explicit methods allow (erk/limit.c), by the spectral radius of each member. */
static int limit(batch *b)
{
    int trouble = 0;
    lane_clock *k = &b->clock;
    for (int l = 0; l < b->code->lanes; l++) {
        if (!(b->active >> l & 1)) continue;
        run *x = &b->driver.state[l];
        double h;
        x->t = k->t[l];
        x->h_free = k->h_free[l];
        x->by.started = k->rejected[l] != 0;
        x->now.y = b->driver.gathered;
        if (!x->by.started) gather(b, l, (size_t)b->N, b->step.y, b->driver.gathered);
        if (longest_step(b->driver.solver[l], x, &h)) trouble |= 1 << l;
        else if (h < fabs(k->h_free[l])) k->h_free[l] = k->dir[l] * h;
    }
    for (int l = 0; l < b->code->lanes; l++)
        if (!(b->active >> l & 1)) k->h_free[l] = k->h_free[first_of(b->active)];
    return trouble;
}

static int stuck(const batch *b)
{
    int bits = 0;
    for (int l = 0; l < b->code->lanes; l++)
        if (b->clock.small[l] || b->driver.tries[l] >= b->o->max_steps) bits |= 1 << l;
    return bits & b->active;
}

/* where the stages of this step are written: the tape if there is one */
static int place_step(batch *b)
{
    size_t L = (size_t)b->code->lanes;
    if (!b->k) return 0;
    TRY(lane_tape_next(b, &b->now));
    memcpy(b->now.t, b->clock.t, L * sizeof *b->now.t);
    memcpy(b->now.h, b->clock.h, L * sizeof *b->now.h);
    memcpy(b->now.end, b->clock.end, L * sizeof *b->now.end);
    memcpy(b->now.y, b->step.y, L * (size_t)b->N * sizeof *b->now.y);
    return 0;
}

/* the lanes whose step was accepted; those where anything else went wrong leave */
static int try_step(batch *b)
{
    const lane_code *code = b->code;
    const lane_steps *steps = b->steps;
    count_in(b, b->active);
    int trouble = bits_of_lanes(b, steps->forward(b));
    int fine = code->judge(b) & ~trouble, good = fine & b->active, taken = 0;
    if (steps->confirm && good) good &= ~bits_of_lanes(b, steps->confirm(b, fine));
    for (int l = 0; l < code->lanes; l++) taken |= (b->clock.err[l] <= 1) << l;
    count_in(b, taken & good);
    if (with_run(b) && (taken & good)) good &= ~(taken & bits_of_lanes(b, steps->tangent(b, &b->now, 0)));
    b->driver.use.tries += code->lanes;
    b->driver.use.filled += count_of(b->active);
    lanes_leave(b, b->active & ~good);
    return taken;
}

/* the largest -J_ii of a lane; 0: none is positive */
static double fastest(const batch *b, int l)
{
    double most = 0;
    for (int j = 0; j < b->n; j++) {
        int at = b->E.of_J[j];
        if (at >= 0) most = fmax(most, -b->E.J[at * b->code->lanes + l]);
    }
    return most;
}

static void damp(batch *b, int taken)
{
    for (int l = 0; l < b->code->lanes; l++)
        if (taken >> l & 1) damping_add(b->driver.solver[l], b->clock.h[l], fastest(b, l));
}

static void accept(batch *b, int taken)
{
    int ended = 0, of_members = taken & b->active;
    for (int l = 0; l < b->code->lanes; l++) {
        b->driver.tries[l]++;
        b->driver.accepted[l] += taken >> l & 1;
        ended |= ((taken >> l & 1) && b->clock.t[l] == b->clock.t1[l]) << l;
    }
    b->code->take(b, taken);
    if (b->driver.damps) damp(b, of_members);
    ended &= b->active;
    b->driver.use.taken += count_of(of_members);
    b->now.taken = of_members;
    b->now.begins = b->driver.begins & of_members;
    b->now.ends = ended;
    if (b->k && of_members) lane_tape_commit(b, &b->now);
    b->driver.begins &= ~of_members;
    for (int l = 0; l < b->code->lanes; l++) if (ended >> l & 1) lane_leaves(b, l, 0);
}

int batch_is_valid(const batch *b)
{
    const lane_driver *d = &b->driver;
    const chunk *c = &d->chunk;
    int all = (1 << b->code->lanes) - 1;
    if ((b->active & ~all) || (d->begins & ~b->active) || c->count < 0 || c->count > CHUNK_MEMBERS) return 0;
    if (c->records < 0 || c->records > (long)c->slabs * SLAB_RECORDS || c->slabs > c->room) return 0;
    for (int l = 0; l < b->code->lanes; l++) {
        if (!(b->active >> l & 1)) continue;
        if (d->at[l] < 0 || d->at[l] >= (b->k ? c->count : b->code->lanes) || d->accepted[l] > d->tries[l]) return 0;
        if ((d->begins >> l & 1) != (d->accepted[l] == 0)) return 0;
        if (!(b->clock.dir[l] * ((b->clock.t1[l] - b->clock.t[l]) - b->clock.low[l]) > 0)) return 0;
    }
    return 1;
}

static void step(batch *b)
{
    int before = b->active;
    INVARIANT(batch_is_valid(b));
    if (b->driver.limited) lanes_leave(b, limit(b));
    b->code->aim(b);
    lanes_leave(b, stuck(b));
    if (b->active && place_step(b)) lanes_leave(b, b->active);
    if (b->active) {
        int taken = try_step(b);
        b->code->propose(b);
        accept(b, taken);
    }
    if (b->active == before) return;
    b->after.whole = 0;
    for (int l = 0; l < b->code->lanes; l++) if (!(b->active >> l & 1)) lanes_refill(b, l);
    lanes_fill_idle(b);
}

void lanes_run(batch *b, const lane_source *source)
{
    b->driver.source = source;
    for (;;) {
        b->driver.chunk.count = 0;
        b->driver.chunk.records = 0;
        b->active = b->driver.begins = 0;
        for (int l = 0; l < b->code->lanes; l++) lanes_refill(b, l);
        b->after.whole = 0;
        if (!b->active) return;
        lanes_fill_idle(b);
        while (b->active) step(b);
        if (b->k) lanes_gradients(b);
    }
}

lane_use lanes_used(const batch *b) { return b->driver.use; }
