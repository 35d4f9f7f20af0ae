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
    m->alone = b->source->seed2(b->source->ctx, &m->of, m->y, m->V, m->lambda, m->direct) != 0 ||
               !all_finite(N * k, m->lambda) || !all_finite(np * k, m->direct);
}

static void seed_all(batch *b)
{
    size_t N = (size_t)b->N, k = (size_t)b->k;
    for (int i = 0; i < b->chunk.count; i++) {
        place_of_member *m = &b->chunk.place[i];
        if (m->alone) continue;
        memset(m->lambda, 0, N * k * sizeof *m->lambda);
        if (b->jet) { seed_jet(b, m); continue; }
        m->alone = b->source->seed(b->source->ctx, &m->of, m->y, m->lambda, m->mu) != 0 ||
                   !all_finite(N * k, m->lambda);
    }
}

/* the members that end in this record enter its lanes */
static void enter(batch *b, const lane_record *r, int *on)
{
    size_t N = (size_t)b->N, np = (size_t)b->np, k = (size_t)b->k;
    for (int l = 0; l < b->code->lanes; l++) {
        const place_of_member *m = &b->chunk.place[r->member[l]];
        if (!(r->ends >> l & 1) || m->alone) continue;
        scatter(b, l, N * k, b->lambda, m->lambda);
        if (b->mu) scatter(b, l, np * k, b->mu, m->mu);
        scatter(b, l, np, b->p, m->of.p);
        if (b->jet && b->Vp) scatter(b, l, np * (size_t)b->jet, b->Vp, m->of.Vp);
        b->left[l] = b->observations;
        *on |= 1 << l;
    }
}

static void depart(batch *b, const lane_record *r, int *on)
{
    size_t N = (size_t)b->N, np = (size_t)b->np, k = (size_t)b->k;
    for (int l = 0; l < b->code->lanes; l++) {
        place_of_member *m = &b->chunk.place[r->member[l]];
        if (!(r->begins & *on) || !((r->begins & *on) >> l & 1)) continue;
        gather(b, l, N * k, b->lambda, m->lambda);
        if (b->mu) gather(b, l, np * k, b->mu, m->mu);
        *on &= ~(1 << l);
    }
}

static void keep(batch *b, int back, int taken)
{
    size_t L = (size_t)b->code->lanes, both[] = {(size_t)(b->N * b->k), b->mu ? (size_t)(b->np * b->k) : 0};
    double *const at[] = {b->lambda, b->mu}, *const kept[] = {b->kept_lambda, b->kept_mu};
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
    double *V = b->one_V, *Xd = V + N * d;
    gather(b, l, N * d, r->V, V);
    gather(b, l, (size_t)b->s * n * d, r->Xd, Xd);
    for (size_t j = 0; j < d; j++) combine(n, b->one_Vt + j * n, V + j * N, 1, b->s, D, Xd + j * n, n * d);
    return b->source->observe2(b->source->ctx, &b->chunk.place[r->member[l]].of, b->left[l], t, y, b->one_Vt, b->one_w);
}

/* one observation of lane l, at t inside the step, into seeds: ops/observe.c */
static int observe(batch *b, const lane_record *r, int l, double t)
{
    const costate *c = b->solver[l];
    size_t n = (size_t)b->n, s = (size_t)b->s, k = (size_t)b->k, L = (size_t)b->code->lanes;
    const place_of_member *m = &b->chunk.place[r->member[l]];
    record one = {.t = r->t[l], .h = r->h[l], .y = b->gathered, .X = b->one_X};
    double D[STAGES_MOST], *z = b->one_y;
    gather(b, l, n, r->y, b->gathered);
    gather(b, l, s * n, r->X, b->one_X);
    dense_weights(b->m, (t - one.t) / one.h, D, NULL);
    dense_state(&c->st, &one, D, z);
    memset(b->one_w, 0, n * k * sizeof *b->one_w);
    if (b->jet ? observe_jet(b, r, l, t, D, z) : b->source->observe(b->source->ctx, &m->of, b->left[l], t, z, b->one_w))
        return 1;
    for (size_t i = 0; i < s; i++)
        for (size_t e = 0; e < n * k; e++) b->seeds[(i * n * k + e) * L + (size_t)l] += D[i] * b->one_w[e];
    for (size_t e = 0; e < n * k; e++) b->seen_sum[e * L + (size_t)l] += b->one_w[e];
    return 0;
}

/* those of lane l in this step; != 0: a callback failed */
static int observe_lane(batch *b, const lane_record *r, int l)
{
    double dir = b->chunk.place[r->member[l]].of.t1 > b->chunk.place[r->member[l]].of.t0 ? 1 : -1;
    int first = r->begins >> l & 1;
    while (b->left[l] > 0 && (first || dir * (b->observed[b->left[l] - 1] - r->t[l]) >= 0)) {
        b->left[l]--;
        b->seen |= 1 << l;
        if (observe(b, r, l, b->observed[b->left[l]])) return 1;
    }
    return 0;
}

/* observations of all lanes in this step; those whose callback fails are to be run alone */
static int look(batch *b, const lane_record *r, int taken)
{
    size_t L = (size_t)b->code->lanes, stride = (size_t)(b->n * b->k) * L;
    int failed = 0;
    b->seen = 0;
    if (!b->observations) return 0;
    memset(b->seeds, 0, (size_t)b->s * stride * sizeof *b->seeds);
    memset(b->seen_sum, 0, stride * sizeof *b->seen_sum);
    for (int l = 0; l < b->code->lanes; l++) {
        if (!(taken >> l & 1)) continue;
        failed |= observe_lane(b, r, l) << l;
        b->chunk.place[r->member[l]].observed += b->seen >> l & 1;
    }
    return failed;
}

static void back_through(batch *b, const lane_record *r, int *on)
{
    const lane_code *code = b->code;
    int taken = r->taken & *on, whole = taken == (1 << code->lanes) - 1;
    if (!taken) return;
    b->active = taken;
    if (!whole) keep(b, 0, taken);
    int trouble = look(b, r, taken);
    trouble |= bits_of_lanes(b, (b->E.size ? code->ros_adjoint : code->erk_adjoint)(b, r)) & taken;
    if (!whole) keep(b, 1, taken);
    for (int l = 0; l < code->lanes; l++) {
        if (!(trouble >> l & 1)) continue;
        b->chunk.place[r->member[l]].alone = 1;
        *on &= ~(1 << l);
    }
}

/* ---- tangents over the tape of a chunk, for Hessian products ---- */

/* the members that begin in this record */
static void begin_tangents(batch *b, const lane_record *r, int *on)
{
    size_t N = (size_t)b->N, np = (size_t)b->np, d = (size_t)b->jet;
    for (int l = 0; l < b->code->lanes; l++) {
        const place_of_member *m = &b->chunk.place[r->member[l]];
        if (!(r->begins >> l & 1) || m->alone) continue;
        scatter(b, l, N * d, b->V, m->of.V);
        if (b->Vp) scatter(b, l, np * d, b->Vp, m->of.Vp);
        scatter(b, l, np, b->p, m->of.p);
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
    memcpy(r->V, b->V, count * L * sizeof *r->V);
    b->Xd = r->Xd;
    int trouble = bits_of_lanes(b, b->E.size ? code->ros_tangent(b, r, 1) : code->erk_tangent(b, r)) & taken;
    code->pick(count, taken, b->V, b->V1);
    for (int l = 0; l < code->lanes; l++) {
        place_of_member *m = &b->chunk.place[r->member[l]];
        if (trouble >> l & 1) m->alone = 1;
        if ((r->ends & taken) >> l & 1) gather(b, l, count, b->V, m->V);
    }
    *on &= ~(trouble | (r->ends & taken));
}

static void tangents_forward(batch *b)
{
    int on = 0;
    for (long i = 0; i < b->chunk.records; i++) {
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
    for (long i = b->chunk.records - 1; i >= 0; i--) {
        lane_record r;
        lane_tape_get(b, i, &r);
        enter(b, &r, &on);
        back_through(b, &r, &on);
        depart(b, &r, &on);
    }
    b->active = 0;
    for (int i = 0; i < b->chunk.count; i++) member_finished(b, &b->chunk.place[i]);
}
