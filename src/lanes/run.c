/* run.c (lanes) - the loop over members: lanes are filled, steps tried, judged and taken; then a chunk's gradients.

   Whatever goes wrong in a lane (a map that is not defined, NaN, a step that is too small) takes its member out: it is
   run again, alone, which tries shorter steps or fails with its message.  Lanes without a member repeat the one of
   another lane, so that maps only meet states of members. */
#include <math.h>
#include <string.h>
#include "lanes/setup.h"
#include "lanes/tape.h"

static int first_of(int bits)
{
    int l = 0;
    while (!(bits >> l & 1)) l++;
    return l;
}

static int count_of(int bits)
{
    int count = 0;
    for (; bits; bits &= bits - 1) count++;
    return count;
}

/* ---- between one member and the lanes ---- */

static void scatter(const batch *b, int l, size_t count, double *all, const double *x)
{
    size_t L = (size_t)b->code->lanes;
    for (size_t i = 0; i < count; i++) all[i * L + (size_t)l] = x[i];
}

static void gather(const batch *b, int l, size_t count, const double *all, double *x)
{
    size_t L = (size_t)b->code->lanes;
    for (size_t i = 0; i < count; i++) x[i] = all[i * L + (size_t)l];
}

static void copy_lane(const batch *b, int from, int to, size_t count, double *all)
{
    size_t L = (size_t)b->code->lanes;
    for (size_t i = 0; i < count; i++) all[i * L + (size_t)to] = all[i * L + (size_t)from];
}

static void copy_clock(lane_clock *k, int from, int to)
{
    double *const numbers[] = {k->t, k->low, k->t1, k->dir, k->hmin, k->hmax, k->h_free, k->h_old, k->err_old};
    int64_t *const flags[] = {k->rejected, k->cautious};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) numbers[i][to] = numbers[i][from];
    for (size_t i = 0; i < sizeof flags / sizeof *flags; i++) flags[i][to] = flags[i][from];
}

/* tangents that are propagated with the run; those of Hessian products follow it */
static int with_run(const batch *b) { return b->jet ? 0 : b->d; }

/* lanes without a member repeat the first one that has */
static void fill_idle(batch *b)
{
    size_t N = (size_t)b->N, np = (size_t)b->np, d = (size_t)with_run(b);
    for (int l = 0; b->active && l < b->code->lanes; l++) {
        int from = first_of(b->active);
        if (b->active >> l & 1) continue;
        copy_lane(b, from, l, N, b->y);
        copy_lane(b, from, l, np, b->p);
        if (b->K0) copy_lane(b, from, l, (size_t)b->n, b->K0);
        if (d) copy_lane(b, from, l, N * d, b->V);
        if (b->Vp && d) copy_lane(b, from, l, np * d, b->Vp);
        copy_clock(&b->clock, from, l);
        b->at[l] = b->at[from];
    }
}

/* ---- a member begins ---- */

static void set_clock(batch *b, int l)
{
    lane_clock *k = &b->clock;
    const costate *c = b->solver[l];
    const run *x = &b->state[l];
    k->t[l] = x->t;
    k->low[l] = 0;
    k->t1[l] = x->t1;
    k->dir[l] = c->in.dir;
    k->hmin[l] = c->in.hmin;
    k->hmax[l] = c->in.hmax;
    k->h_free[l] = x->h_free;
    k->h_old[l] = k->err_old[l] = 0;
    k->rejected[l] = 0;
    k->cautious[l] = 1;
}

/* observations lie in the run, in its order */
static int in_order(const batch *b, const lane_member *m)
{
    double dir = m->t1 > m->t0 ? 1 : -1, last = m->t0;
    for (int k = 0; k < b->observations; k++) {
        if (!(dir * (b->observed[k] - last) >= 0) || !(dir * (m->t1 - b->observed[k]) >= 0)) return 0;
        last = b->observed[k];
    }
    return 1;
}

/* != 0: not in a lane */
static int start(batch *b, int l, const lane_member *m)
{
    costate *c = b->solver[l];
    size_t d = (size_t)b->d;
    solver_renew(c);
    if (m->t0 == m->t1 || !in_order(b, m) || run_start(c, m->t0, m->t1, m->y, m->p, &b->state[l])) return 1;
    if (b->K0) {
        if (map_value(&c->maps, &c->maps.rhs, m->t0, m->y, b->gathered)) return 1;
        if (!all_finite((size_t)b->n, b->gathered)) return 1;
        scatter(b, l, (size_t)b->n, b->K0, b->gathered);
    }
    if (d && !all_finite((size_t)b->N * d, m->V)) return 1;
    if (b->Vp && !all_finite((size_t)b->np * d, m->Vp)) return 1;
    set_clock(b, l);
    scatter(b, l, (size_t)b->N, b->y, m->y);
    scatter(b, l, (size_t)b->np, b->p, m->p);
    if (with_run(b)) {
        scatter(b, l, (size_t)b->N * d, b->V, m->V);
        if (b->Vp) scatter(b, l, (size_t)b->np * d, b->Vp, m->Vp);
    }
    b->tries[l] = b->accepted[l] = 0;
    return 0;
}

static void run_alone(batch *b, const lane_member *m) { b->source->alone(b->source->ctx, m); }

/* a place of the chunk; without a tape, members do not wait for others */
static int place_for(batch *b, int l) { return b->k ? b->chunk.count : l; }

static int chunk_is_full(const batch *b)
{
    if (!b->k) return 0;
    return b->chunk.count == CHUNK_MEMBERS || lane_tape_bytes(b) >= CHUNK_BYTES;
}

/* the next member, if there is one, and the chunk has room */
static void refill(batch *b, int l)
{
    lane_member m;
    while (!chunk_is_full(b) && b->source->next(b->source->ctx, &m)) {
        if (start(b, l, &m)) { run_alone(b, &m); continue; }
        b->at[l] = place_for(b, l);
        b->chunk.count += b->k > 0;
        b->chunk.place[b->at[l]].of = m;
        b->chunk.place[b->at[l]].alone = 0;
        b->chunk.place[b->at[l]].observed = 0;
        b->active |= 1 << l;
        b->begins |= 1 << l;
        return;
    }
}

/* ---- a member ends ---- */

/* what a run alone counts: erk begins each step with one f, if it is not the last of the step before */
static void count(const batch *b, int l, costate_stats *s)
{
    const costate_method *m = b->m;
    long tries = b->tries[l], steps = b->accepted[l], stages = b->s, d = b->d, k = b->k, used = 0, evaluated = 0;
    long first = b->jet == 0, jet = b->jet;
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
    s->jac += steps;
    s->decompositions += tries;
    s->solves += tries * stages + steps * stages * (d + k);
    s->tangents += (b->o->autonomous ? 0 : steps) + steps * stages * d;
    s->tangents2 += steps * stages * d;
    s->adjoints += steps * stages * k;
    s->adjoints2 += steps * stages * (k + 3 * jet);
    s->adjoints3 += steps * stages * jet;
    if (!first) { s->jac += steps; s->decompositions += steps; }
    if (k) { s->jac += steps - 1; s->decompositions += steps - 1; }        /* the last step's are still there */
}

/* stages of erk that only observations need */
static int unused(const batch *b)
{
    int sum = b->s;
    for (int i = 0; i < b->s; i++) sum -= b->used[i];
    return sum;
}

/* found and then direct gradients onto what mu held: run/second.c */
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

static void finish(batch *b, place_of_member *m)
{
    size_t N = (size_t)b->N, np = (size_t)b->np, d = (size_t)with_run(b), k = (size_t)b->k;
    if (!m->alone) m->alone = !all_finite(N * d, m->V) || !all_finite(N * k, m->lambda) ||
                              (m->mu && !all_finite(np * k, m->mu));
    if (m->alone) { run_alone(b, &m->of); return; }
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

/* lane l leaves its member, which has ended, or is to be run alone */
static void leave(batch *b, int l, int alone)
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
    if (!b->k) finish(b, m);
}

static void leave_all(batch *b, int bits)
{
    for (int l = 0; l < b->code->lanes; l++) if (bits >> l & 1) leave(b, l, 1);
}

/* ---- steps ---- */

/* The longest steps that explicit methods allow (erk/limit.c), by the spectral radius of each member. */
static int limit(batch *b)
{
    int trouble = 0;
    lane_clock *k = &b->clock;
    for (int l = 0; l < b->code->lanes; l++) {
        if (!(b->active >> l & 1)) continue;
        run *x = &b->state[l];
        double h;
        x->t = k->t[l];
        x->h_free = k->h_free[l];
        x->by.started = k->rejected[l] != 0;
        x->now.y = b->gathered;
        if (!x->by.started) gather(b, l, (size_t)b->N, b->y, b->gathered);
        if (longest_step(b->solver[l], x, &h)) trouble |= 1 << l;
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
        if (b->clock.small[l] || b->tries[l] >= b->o->max_steps) bits |= 1 << l;
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
    memcpy(b->now.y, b->y, L * (size_t)b->N * sizeof *b->now.y);
    return 0;
}

static int bits_of_lanes(const batch *b, int code) { return code < 0 ? (1 << b->code->lanes) - 1 : code; }

/* the lanes whose step was accepted; those where anything else went wrong leave */
static int try_step(batch *b)
{
    const lane_code *code = b->code;
    int implicit = b->E.size > 0, trouble = bits_of_lanes(b, (implicit ? code->ros_forward : code->erk_forward)(b));
    int good = code->judge(b) & ~trouble, taken = 0;
    for (int l = 0; l < code->lanes; l++) taken |= (b->clock.err[l] <= 1) << l;
    if (with_run(b) && (taken & good))
        good &= ~(taken & bits_of_lanes(b, implicit ? code->ros_tangent(b, &b->now, 0)
                                                    : code->erk_tangent(b, &b->now)));
    b->use.tries += code->lanes;
    b->use.filled += count_of(b->active);
    leave_all(b, b->active & ~good);
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
        if (taken >> l & 1) damping_add(b->solver[l], b->clock.h[l], fastest(b, l));
}

static void accept(batch *b, int taken)
{
    int ended = 0, of_members = taken & b->active;
    for (int l = 0; l < b->code->lanes; l++) {
        b->tries[l]++;
        b->accepted[l] += taken >> l & 1;
        ended |= ((taken >> l & 1) && b->clock.t[l] == b->clock.t1[l]) << l;
    }
    b->code->take(b, taken);
    if (b->damps) damp(b, of_members);
    ended &= b->active;
    b->use.taken += count_of(of_members);
    b->now.taken = of_members;
    b->now.begins = b->begins & of_members;
    b->now.ends = ended;
    if (b->k && of_members) lane_tape_commit(b, &b->now);
    b->begins &= ~of_members;
    for (int l = 0; l < b->code->lanes; l++) if (ended >> l & 1) leave(b, l, 0);
}

static void step(batch *b)
{
    int before = b->active;
    if (b->limited) leave_all(b, limit(b));
    b->code->aim(b);
    leave_all(b, stuck(b));
    if (b->active && place_step(b)) leave_all(b, b->active);
    if (b->active) {
        int taken = try_step(b);
        b->code->propose(b);
        accept(b, taken);
    }
    if (b->active == before) return;
    for (int l = 0; l < b->code->lanes; l++) if (!(b->active >> l & 1)) refill(b, l);
    fill_idle(b);
}

/* ---- gradients of a chunk ---- */

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

static void gradients(batch *b)
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
    for (int i = 0; i < b->chunk.count; i++) finish(b, &b->chunk.place[i]);
}

/* ---- all members ---- */

void lanes_run(batch *b, const lane_source *source)
{
    b->source = source;
    for (;;) {
        b->chunk.count = 0;
        b->chunk.records = 0;
        b->active = b->begins = 0;
        for (int l = 0; l < b->code->lanes; l++) refill(b, l);
        if (!b->active) return;
        fill_idle(b);
        while (b->active) step(b);
        if (b->k) gradients(b);
    }
}

lane_use lanes_used(const batch *b) { return b->use; }
