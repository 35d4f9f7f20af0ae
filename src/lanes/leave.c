/* leave.c (lanes) - members leave the lanes: statistics, messages, results. */
#include <string.h>
#include "lanes/moves.h"
#include "lanes/tape.h"
#include "run/damping.h"
#include "solver/status.h"

static long taken(int64_t *calls)
{
    long count = (long)*calls;
    *calls = 0;
    return count;
}

void take_counts(batch *b, int l, costate_stats *s)
{
    lane_counts *k = &b->counts;
    s->f += taken(&k->f[l]);
    s->jac += taken(&k->jac[l]);
    s->decompositions += taken(&k->decompositions[l]);
    s->solves += taken(&k->solves[l]);
    s->tangents += taken(&k->tangents[l]);
    s->tangents2 += taken(&k->tangents2[l]);
    s->adjoints += taken(&k->adjoints[l]);
    s->adjoints2 += taken(&k->adjoints2[l]);
    s->adjoints3 += taken(&k->adjoints3[l]);
}

/* of a run that ended in lane l */
static void count_run(batch *b, int l, costate_stats *s)
{
    *s = b->driver.solver[l]->count;
    s->steps += b->driver.tries[l];
    s->accepted += b->driver.accepted[l];
    s->rejected += b->driver.tries[l] - b->driver.accepted[l];
    if (b->k) s->tape_bytes = lane_tape_bytes(b);
    take_counts(b, l, s);
}

/* mu += the adjoint's part, then += the direct part, in the order of sweeps/second.c, for equal bits */
static void add_mu(size_t count, const double *found, const double *direct, double *mu)
{
    for (size_t i = 0; mu && i < count; i++) mu[i] += found[i];
    for (size_t i = 0; mu && i < count; i++) mu[i] += direct[i];
}

static void give_jet(const batch *b, const place_of_member *m)
{
    size_t N = (size_t)b->N, np = (size_t)b->np, d = (size_t)b->jet;
    memcpy(m->of.lambda, m->lambda, N * sizeof *m->lambda);
    memcpy(m->of.lambda2, m->lambda + N, N * d * sizeof *m->lambda);
    if (!m->mu) return;
    add_mu(np, m->mu, m->direct, m->of.mu);
    add_mu(np * d, m->mu + np, m->direct + np, m->of.mu2);
}

void member_finished(batch *b, place_of_member *m)
{
    size_t N = (size_t)b->N, np = (size_t)b->np, d = (size_t)with_run(b), k = (size_t)b->k;
    if (!m->alone) m->alone = !all_finite(N * d, m->V) || !all_finite(N * k, m->lambda) ||
                              (m->mu && !all_finite(np * k, m->mu));
    if (m->alone) { b->driver.source->alone(b->driver.source->ctx, &m->of); return; }
    memcpy(m->of.y, m->y, N * sizeof *m->y);
    if (b->jet) give_jet(b, m);
    else {
        if (d) memcpy(m->of.V, m->V, N * d * sizeof *m->V);
        if (k) memcpy(m->of.lambda, m->lambda, N * k * sizeof *m->lambda);
        if (m->mu) memcpy(m->of.mu, m->mu, np * k * sizeof *m->mu);
    }
    b->driver.source->done(b->driver.source->ctx, &m->of, m->said, &m->count);
}

/* the message of the run: no error, but perhaps a remark */
static void say(batch *b, int l, char *said, size_t size)
{
    costate *c = b->driver.solver[l];
    no_error(c);
    if (b->k) damping_remark(c, b->driver.accepted[l]);
    memcpy(said, c->v.text, size);
}

void lane_leaves(batch *b, int l, int alone)
{
    place_of_member *m = &b->driver.chunk.place[b->driver.at[l]];
    b->active &= ~(1 << l);
    b->driver.begins &= ~(1 << l);
    m->alone = alone;
    if (!alone) {
        gather(b, l, (size_t)b->N, b->step.y, m->y);
        if (with_run(b)) gather(b, l, (size_t)b->N * (size_t)b->d, b->sweep.V, m->V);
        count_run(b, l, &m->count);
        say(b, l, m->said, sizeof m->said);
    }
    if (!b->k) member_finished(b, m);
}

void lanes_leave(batch *b, int bits)
{
    for (int l = 0; l < b->code->lanes; l++) if (bits >> l & 1) lane_leaves(b, l, 1);
}
