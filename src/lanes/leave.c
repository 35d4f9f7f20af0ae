/* leave.c (lanes) - members leave the lanes: statistics, messages, results. */
#include <string.h>
#include "lanes/moves.h"
#include "lanes/tape.h"
#include "run/damping.h"
#include "solver/status.h"

/* what a run alone counts: erk begins each step with one f, if it is not the last of the step before */
static void count(const batch *b, int l, costate_stats *s)
{
    const costate_method *m = b->m;
    long tries = b->tries[l], steps = b->accepted[l], stages = b->s, d = b->d, k = b->k, used = 0, evaluated = 0;
    long jet = b->jet;
    *s = b->solver[l]->count;
    s->steps += tries;
    s->accepted += steps;
    s->rejected += tries - steps;
    if (k) s->tape_bytes = lane_tape_bytes(b);
    if (!b->E.size) {
        s->f += tries * (stages - 1) + (b->K0 ? 0 : steps);
        for (int i = 0; i < m->s; i++) used += b->used[i];
        s->tangents += steps * d * (m->b[m->s - 1] == 0 && !(jet && b->dense) ? stages - 1 : stages);
        s->adjoints += steps * k * used;
        s->adjoints2 += steps * jet * used;
        return;
    }
    for (int i = 0; i < m->s; i++) evaluated += m->newf[i];
    s->f += tries * evaluated;
    s->jac += steps + b->after.more[l].J;
    s->decompositions += tries + b->after.more[l].E;
    s->solves += tries * stages + steps * stages * (d + k) + b->after.more[l].solves;
    s->tangents += (b->o->autonomous ? 0 : steps) + steps * stages * d;
    s->tangents2 += steps * stages * d;
    s->adjoints += steps * stages * k;
    s->adjoints2 += steps * stages * (k + 3 * jet);
    s->adjoints3 += steps * stages * jet;
    if (jet) { s->jac += steps; s->decompositions += steps; }
    if (k) { s->jac += steps - 1; s->decompositions += steps - 1; }        /* the last step's are still there */
}

/* stages of erk that only observations need */
static int unused(const batch *b)
{
    int sum = b->s;
    for (int i = 0; i < b->s; i++) sum -= b->used[i];
    return sum;
}

/* found and then direct gradients onto what mu held: sweeps/second.c */
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
    if (m->alone) { b->source->alone(b->source->ctx, &m->of); return; }
    if (!b->E.size) m->count.adjoints += m->observed * b->k * unused(b);
    if (!b->E.size) m->count.adjoints2 += m->observed * b->jet * unused(b);
    memcpy(m->of.y, m->y, N * sizeof *m->y);
    if (b->jet) give_jet(b, m);
    else {
        if (d) memcpy(m->of.V, m->V, N * d * sizeof *m->V);
        if (k) memcpy(m->of.lambda, m->lambda, N * k * sizeof *m->lambda);
        if (m->mu) memcpy(m->of.mu, m->mu, np * k * sizeof *m->mu);
    }
    b->source->done(b->source->ctx, &m->of, m->said, &m->count);
}

/* the message of the run: no error, but perhaps a remark */
static void say(batch *b, int l, char *said, size_t size)
{
    costate *c = b->solver[l];
    no_error(c);
    if (b->k) damping_remark(c, b->accepted[l]);
    memcpy(said, c->v.text, size);
}

void lane_leaves(batch *b, int l, int alone)
{
    place_of_member *m = &b->chunk.place[b->at[l]];
    b->active &= ~(1 << l);
    b->begins &= ~(1 << l);
    m->alone = alone;
    if (!alone) {
        gather(b, l, (size_t)b->N, b->y, m->y);
        if (with_run(b)) gather(b, l, (size_t)b->N * (size_t)b->d, b->V, m->V);
        count(b, l, &m->count);
        say(b, l, m->said, sizeof m->said);
    }
    if (!b->k) member_finished(b, m);
}

void lanes_leave(batch *b, int bits)
{
    for (int l = 0; l < b->code->lanes; l++) if (bits >> l & 1) lane_leaves(b, l, 1);
}
