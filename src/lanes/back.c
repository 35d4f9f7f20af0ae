/* back.c (lanes) - the gradients of a chunk of members, back over its tape; for Hessian products tangents go forward
   over it before, and derivatives of the gradient back with it (a jet: step/step.h).

   Sets of lanes: `on`, those whose member has entered the sweep, and `taken`, of these, those whose step counts. */
#include <string.h>
#include "lanes/moves.h"
#include "lanes/tape.h"

static void seed_jet(batch *b, place_of_member *m)
{
    size_t N = (size_t)b->N, np = (size_t)b->np, k = (size_t)b->k;
    memset(m->direct, 0, np * k * sizeof *m->direct);
    if (m->mu) memset(m->mu, 0, np * k * sizeof *m->mu);
    m->alone = b->driver.source->seed2(b->driver.source->ctx, &m->of, m->y, m->V, m->lambda, m->direct) != 0 ||
               !all_finite(N * k, m->lambda) || !all_finite(np * k, m->direct);
}

static void seed_all(batch *b)
{
    size_t N = (size_t)b->N, k = (size_t)b->k;
    for (int i = 0; i < b->driver.chunk.count; i++) {
        place_of_member *m = &b->driver.chunk.place[i];
        if (m->alone) continue;
        memset(m->lambda, 0, N * k * sizeof *m->lambda);
        if (b->jet) { seed_jet(b, m); continue; }
        m->alone = b->driver.source->seed(b->driver.source->ctx, &m->of, m->y, m->lambda, m->mu) != 0 ||
                   !all_finite(N * k, m->lambda);
    }
}

/* the members that end in this record enter its lanes */
static void enter(batch *b, const lane_record *r, int *on)
{
    size_t N = (size_t)b->N, np = (size_t)b->np, k = (size_t)b->k;
    for (int l = 0; l < b->code->lanes; l++) {
        const place_of_member *m = &b->driver.chunk.place[r->member[l]];
        if (!(r->ends >> l & 1) || m->alone) continue;
        scatter(b, l, N * k, b->sweep.lambda, m->lambda);
        if (b->sweep.mu) scatter(b, l, np * k, b->sweep.mu, m->mu);
        scatter(b, l, np, b->p, m->of.p);
        drop_counts(b, l);
        if (b->jet && b->sweep.Vp) scatter(b, l, np * (size_t)b->jet, b->sweep.Vp, m->of.Vp);
        b->seen.left[l] = m->of.observations;
        *on |= 1 << l;
    }
}

static void depart(batch *b, const lane_record *r, int *on)
{
    size_t N = (size_t)b->N, np = (size_t)b->np, k = (size_t)b->k;
    for (int l = 0; l < b->code->lanes; l++) {
        place_of_member *m = &b->driver.chunk.place[r->member[l]];
        if (!(r->begins & *on) || !((r->begins & *on) >> l & 1)) continue;
        gather(b, l, N * k, b->sweep.lambda, m->lambda);
        if (b->sweep.mu) gather(b, l, np * k, b->sweep.mu, m->mu);
        take_counts(b, l, &m->count);
        *on &= ~(1 << l);
    }
}

static void keep(batch *b, int back, int taken)
{
    size_t L = (size_t)b->code->lanes, both[] = {(size_t)(b->N * b->k), b->sweep.mu ? (size_t)(b->np * b->k) : 0};
    double *const at[] = {b->sweep.lambda, b->sweep.mu}, *const kept[] = {b->sweep.kept_lambda, b->sweep.kept_mu};
    for (int i = 0; i < 2; i++) {
        if (!both[i]) continue;
        if (!back) memcpy(kept[i], at[i], both[i] * L * sizeof **at);
        else b->code->pick(both[i], ~taken, at[i], kept[i]);
    }
}

/* of a jet: with the tangents of the state, which D interpolates */
static int observe_jet(batch *b, const lane_record *r, int l, double t, const double *D, const double *y)
{
    size_t n = (size_t)b->n, N = (size_t)b->N, d = (size_t)b->jet;
    double *V = b->seen.V, *Xd = V + N * d;
    gather(b, l, N * d, r->V, V);
    gather(b, l, (size_t)b->s * n * d, r->Xd, Xd);
    for (size_t j = 0; j < d; j++) combine(n, b->seen.Vt + j * n, V + j * N, 1, b->s, D, Xd + j * n, n * d);
    const lane_source *source = b->driver.source;
    const lane_member *m = &b->driver.chunk.place[r->member[l]].of;
    return source->observe2(source->ctx, m, b->seen.left[l], t, y, b->seen.Vt, b->seen.w);
}

/* one observation of lane l, at t inside the step, into seeds: ops/observe.c */
static int observe(batch *b, const lane_record *r, int l, double t)
{
    const costate *c = b->driver.solver[l];
    size_t n = (size_t)b->n, s = (size_t)b->s, k = (size_t)b->k, L = (size_t)b->code->lanes;
    const place_of_member *m = &b->driver.chunk.place[r->member[l]];
    record one = {.t = r->t[l], .h = r->h[l], .y = b->driver.gathered, .X = b->seen.X};
    double D[STAGES_MOST], *z = b->seen.y;
    gather(b, l, n, r->y, b->driver.gathered);
    gather(b, l, s * n, r->X, b->seen.X);
    dense_weights(b->m, (t - one.t) / one.h, D, NULL);
    dense_state(&c->st, &one, D, z);
    memset(b->seen.w, 0, n * k * sizeof *b->seen.w);
    const lane_source *source = b->driver.source;
    if (b->jet ? observe_jet(b, r, l, t, D, z)
               : source->observe(source->ctx, &m->of, b->seen.left[l], t, z, b->seen.w)) return 1;
    for (size_t i = 0; i < s; i++)
        for (size_t e = 0; e < n * k; e++) b->seen.seeds[(i * n * k + e) * L + (size_t)l] += D[i] * b->seen.w[e];
    for (size_t e = 0; e < n * k; e++) b->seen.sum[e * L + (size_t)l] += b->seen.w[e];
    return 0;
}

/* those of lane l in this step; != 0: a callback failed */
static int observe_lane(batch *b, const lane_record *r, int l)
{
    const lane_member *m = &b->driver.chunk.place[r->member[l]].of;
    double dir = m->t1 > m->t0 ? 1 : -1;
    int first = r->begins >> l & 1;
    while (b->seen.left[l] > 0 && (first || dir * (m->observed[b->seen.left[l] - 1] - r->t[l]) >= 0)) {
        b->seen.left[l]--;
        b->seen.lanes |= 1 << l;
        if (observe(b, r, l, m->observed[b->seen.left[l]])) return 1;
    }
    return 0;
}

/* observations of all lanes in this step; those whose callback fails are to be run alone */
static int look(batch *b, const lane_record *r, int taken)
{
    size_t L = (size_t)b->code->lanes, stride = (size_t)(b->n * b->k) * L;
    int failed = 0;
    b->seen.lanes = 0;
    if (!b->seen.count) return 0;
    memset(b->seen.seeds, 0, (size_t)b->s * stride * sizeof *b->seen.seeds);
    memset(b->seen.sum, 0, stride * sizeof *b->seen.sum);
    for (int l = 0; l < b->code->lanes; l++) {
        if (!(taken >> l & 1)) continue;
        failed |= observe_lane(b, r, l) << l;
    }
    return failed;
}

static void back_through(batch *b, const lane_record *r, int *on)
{
    const lane_code *code = b->code;
    int taken = r->taken & *on, whole = taken == (1 << code->lanes) - 1;
    if (!taken) return;
    b->active = taken;
    count_in(b, taken);
    if (!whole) keep(b, 0, taken);
    int trouble = look(b, r, taken);
    trouble |= bits_of_lanes(b, b->steps->adjoint(b, r)) & taken;
    if (!whole) keep(b, 1, taken);
    for (int l = 0; l < code->lanes; l++) {
        if (!(trouble >> l & 1)) continue;
        b->driver.chunk.place[r->member[l]].alone = 1;
        *on &= ~(1 << l);
    }
}

/* ---- tangents over the tape of a chunk, for Hessian products ---- */

/* the members that begin in this record */
static void begin_tangents(batch *b, const lane_record *r, int *on)
{
    size_t N = (size_t)b->N, np = (size_t)b->np, d = (size_t)b->jet;
    for (int l = 0; l < b->code->lanes; l++) {
        const place_of_member *m = &b->driver.chunk.place[r->member[l]];
        if (!(r->begins >> l & 1) || m->alone) continue;
        scatter(b, l, N * d, b->sweep.V, m->of.V);
        if (b->sweep.Vp) scatter(b, l, np * d, b->sweep.Vp, m->of.Vp);
        scatter(b, l, np, b->p, m->of.p);
        drop_counts(b, l);
        *on |= 1 << l;
    }
}

static void forward_through(batch *b, const lane_record *r, int *on)
{
    const lane_code *code = b->code;
    size_t L = (size_t)code->lanes, count = (size_t)b->N * (size_t)b->jet;
    int taken = r->taken & *on;
    if (!taken) return;
    b->active = taken;
    count_in(b, taken);
    memcpy(r->V, b->sweep.V, count * L * sizeof *r->V);
    b->sweep.Xd = r->Xd;
    int trouble = bits_of_lanes(b, b->steps->tangent(b, r, 1)) & taken;
    code->pick(count, taken, b->sweep.V, b->sweep.V1);
    for (int l = 0; l < code->lanes; l++) {
        place_of_member *m = &b->driver.chunk.place[r->member[l]];
        if (trouble >> l & 1) m->alone = 1;
        if (!((r->ends & taken) >> l & 1)) continue;
        gather(b, l, count, b->sweep.V, m->V);
        take_counts(b, l, &m->count);
    }
    *on &= ~(trouble | (r->ends & taken));
}

static void tangents_forward(batch *b)
{
    int on = 0;
    for (long i = 0; i < b->driver.chunk.records; i++) {
        lane_record r;
        lane_tape_get(b, i, &r);
        begin_tangents(b, &r, &on);
        forward_through(b, &r, &on);
    }
}

void lanes_gradients(batch *b)
{
    int on = 0;
    if (b->jet) tangents_forward(b);
    seed_all(b);
    for (long i = b->driver.chunk.records - 1; i >= 0; i--) {
        lane_record r;
        lane_tape_get(b, i, &r);
        enter(b, &r, &on);
        back_through(b, &r, &on);
        depart(b, &r, &on);
    }
    b->active = 0;
    for (int i = 0; i < b->driver.chunk.count; i++) member_finished(b, &b->driver.chunk.place[i]);
}
