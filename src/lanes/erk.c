/* erk.c (lanes) - explicit Runge-Kutta steps of L members, their tangents and adjoints: erk/forward.c, tangent.c and
   adjoint.c lane by lane, for M = I and times that are held. */
#include "lanes/code.h"

/* t + c_i h, and at the end the time at which the next step begins */
static const double *time_of(batch *b, const lane_record *r, int i)
{
    double c = b->m->c[i];
    if (c == 1) return r->end;
    *VEC(b->step.T) = *CVEC(r->t) + c * *CVEC(r->h);
    return b->step.T;
}

static const vec *stage_of(batch *b, const lane_record *r, int i, vec *out)
{
    if (i == 0) return CVEC(r->y);
    combine_lanes(b->n, out, CVEC(r->y), CVEC(r->h), i, b->m->A + i * b->s, CVEC(r->X), (size_t)b->n);
    return out;
}

/* ---- forward ---- */

/* bits of lanes in which a vector is not finite */
static int unsound(int n, const vec *x)
{
    vec zero = {0};
    for (int i = 0; i < n; i++) zero += x[i] * 0.0;
    return bits_of_mask(zero != 0.0);
}

static int slope(batch *b, int i, const vec *Y)
{
    const lane_record *r = &b->now;
    vec *K = VEC(r->X) + (size_t)i * (size_t)b->n;
    if (i == 0 && b->step.K0) {
        copy_lanes((size_t)b->n, K, CVEC(b->step.K0));
        return 0;
    }
    counted(i == 0 ? first_tries(b) : counting(b), b->counts.f);
    costate_lane_point x = lane_point(b, time_of(b, r, i), Y);
    int trouble = b->maps->rhs.value(&x, (double *)(void *)K, b->ctx);
    if (trouble < 0 || b->m->b[i] != 0) return trouble;
    return trouble | unsound(b->n, K);
}

static int quadrature(batch *b, int i, const vec *Y)
{
    const costate_method *m = b->m;
    const lane_record *r = &b->now;
    if (!b->nq || (m->b[i] == 0 && (!m->est.e || m->est.e[i] == 0))) return 0;
    costate_lane_point x = lane_point(b, time_of(b, r, i), Y);
    int trouble = b->maps->cost.value(&x, b->step.r, b->ctx);
    axpy_lanes(b->nq, *CVEC(r->h) * m->b[i], CVEC(b->step.r), VEC(b->step.y1) + b->n);
    if (m->est.e) axpy_lanes(b->nq, *CVEC(r->h) * m->est.e[i], CVEC(b->step.r), VEC(b->step.err) + b->n);
    return trouble;
}

int LANED(erk_forward)(batch *b)
{
    const costate_method *m = b->m;
    const lane_record *r = &b->now;
    size_t n = (size_t)b->n;
    int fsal = b->step.K0 != NULL, trouble = 0;
    vec *y1 = VEC(b->step.y1), *err = VEC(b->step.err);
    copy_lanes((size_t)b->nq, y1 + n, CVEC(r->y) + n);
    clear_lanes((size_t)b->nq, err + n);
    for (int i = 0; i < b->s && trouble >= 0; i++) {
        const vec *Y = stage_of(b, r, i, fsal && i == b->s - 1 ? y1 : VEC(b->step.Y));
        collect(&trouble, slope(b, i, Y));
        collect(&trouble, quadrature(b, i, Y));
    }
    if (!fsal) combine_lanes(b->n, y1, CVEC(r->y), CVEC(r->h), b->s, m->b, CVEC(r->X), n);
    combine_lanes(b->n, err, NULL, CVEC(r->h), b->s, m->est.e, CVEC(r->X), n);
    if (m->est.e2) combine_lanes(b->n, VEC(b->step.v), NULL, CVEC(r->h), b->s, m->est.e2, CVEC(r->X), n);
    return trouble;
}

/* ---- tangent ---- */

/* The last stage has no part in y+ where b_i = 0 (FSAL); the dense output has. */
static int is_for_observations(const batch *b, int i) { return i == b->s - 1 && b->m->b[i] == 0; }

/* Lanes in which a run alone calls the tangent of stage i, too. */
static vecbits counted_at(const batch *b, const lane_record *r, int i)
{
    int bits = 0;
    if (!is_for_observations(b, i)) return counting(b);
    for (int l = 0; l < b->code->lanes; l++)
        if (b->driver.chunk.place[r->member[l]].of.observations > 0) bits |= 1 << l;
    return counting(b) & mask_of(bits);
}

static int tangent_of_stage(batch *b, const lane_record *r, int i, int j, const costate_lane_point *x)
{
    size_t n = (size_t)b->n, d = (size_t)b->d;
    vec *X = VEC(b->sweep.Xd) + ((size_t)i * d + (size_t)j) * n, h = *CVEC(r->h);
    costate_lane_point dx = direction(b, i, j, b->sweep.V, b->sweep.Xd, b->step.v);
    counted(counted_at(b, r, i), b->counts.tangents);
    int trouble = b->maps->rhs.tangent(x, &dx, (double *)(void *)X, b->ctx);
    if (b->nq && b->m->b[i] != 0) {
        collect(&trouble, b->maps->cost.tangent(x, &dx, b->step.r, b->ctx));
        axpy_lanes(b->nq, h * b->m->b[i], CVEC(b->step.r), VEC(b->sweep.V1) + (size_t)j * (size_t)b->N + n);
    }
    for (size_t k = 0; k < n; k++) X[k] *= h;
    return trouble;
}

int LANED(erk_tangent)(batch *b, const lane_record *r, int again)
{
    size_t n = (size_t)b->n, N = (size_t)b->N, d = (size_t)b->d;
    int trouble = 0;
    copy_lanes(N * d, VEC(b->sweep.V1), CVEC(b->sweep.V));
    for (int i = 0; i < b->s && trouble >= 0; i++) {
        if (is_for_observations(b, i) && !(b->jet && b->seen.count)) continue;
        const vec *Y = stage_of(b, r, i, VEC(b->step.Y));
        costate_lane_point x = lane_point(b, time_of(b, r, i), Y);
        for (int j = 0; j < b->d && trouble >= 0; j++) collect(&trouble, tangent_of_stage(b, r, i, j, &x));
    }
    for (size_t j = 0; j < d; j++)
        combine_lanes(b->n, VEC(b->sweep.V1) + j * N, CVEC(b->sweep.V1) + j * N, NULL, b->s, b->m->b,
                      CVEC(b->sweep.Xd) + j * n, n * d);
    return (void)again, trouble;
}

/* ---- adjoint ---- */

static int adjoint_of_stage(batch *b, const lane_record *r, int i, int j, const costate_lane_point *x)
{
    size_t n = (size_t)b->n, k = (size_t)b->k, stride = n * k;
    const vec *lambda = CVEC(b->sweep.lambda) + (size_t)j * (size_t)b->N;
    vec *w = VEC(b->step.v), *U = VEC(b->sweep.U), *Yb = U + (size_t)i * stride + (size_t)j * n, h = *CVEC(r->h);
    double weight = b->m->b[i];
    const double *column = b->tableau.At + i * b->s + i + 1;
    for (size_t l = 0; l < n; l++) w[l] = weight * lambda[l];
    combine_lanes(b->n, w, w, NULL, b->s - i - 1, column, U + (size_t)(i + 1) * stride + (size_t)j * n, stride);
    if (b->seen.lanes) add_seed(b, i, j, w);
    for (size_t l = 0; l < n; l++) w[l] *= h;
    clear_lanes(n, Yb);
    costate_lane_gradient to = {.y = (double *)(void *)Yb,
                                .p = b->sweep.mu ? b->sweep.mu + (size_t)j * (size_t)b->np * LANES : NULL};
    int derivative = b->jet && j > 0;
    vecbits lanes = counting(b);
    if (!b->tableau.used[i]) lanes &= mask_of(b->seen.lanes);
    counted(lanes, b->counts.adjoints);
    int trouble = b->maps->rhs.adjoint(x, b->step.v, &to, b->ctx);
    costate_lane_point dx = {.t = NULL};
    if (b->jet && j == 0) copy_lanes(n, VEC(b->sweep.v0), w);
    if (derivative) {
        dx = direction(b, i, j - 1, r->V, r->Xd, b->sweep.along);
        counted(lanes, b->counts.adjoints2);
        collect(&trouble, b->maps->rhs.adjoint_tangent(x, &dx, b->sweep.v0, &to, b->ctx));
    }
    if (!b->nq || weight == 0) return trouble;
    for (int l = 0; l < b->nq; l++) VEC(b->step.r)[l] = h * weight * lambda[n + (size_t)l];
    collect(&trouble, b->maps->cost.adjoint(x, b->step.r, &to, b->ctx));
    if (b->jet && j == 0) copy_lanes((size_t)b->nq, VEC(b->sweep.r0), CVEC(b->step.r));
    if (derivative) collect(&trouble, b->maps->cost.adjoint_tangent(x, &dx, b->sweep.r0, &to, b->ctx));
    return trouble;
}

/* A stage that nothing follows from but observations: lanes without any keep mu, and 0 as its adjoint. */
static int adjoint_of_observed(batch *b, const lane_record *r, int i, const costate_lane_point *x)
{
    size_t stride = (size_t)b->n * (size_t)b->k, count = b->sweep.mu ? (size_t)b->np * (size_t)b->k : 0;
    vec *mu = VEC(b->sweep.mu), *spare = VEC(b->sweep.spare_mu);
    vec *Yb = VEC(b->sweep.U) + (size_t)i * stride;
    vecbits mask = mask_of(b->seen.lanes);
    int trouble = 0;
    if (count) copy_lanes(count, spare, mu);
    for (int j = 0; j < b->k && trouble >= 0; j++) collect(&trouble, adjoint_of_stage(b, r, i, j, x));
    for (size_t l = 0; l < stride; l++) Yb[l] = pick(mask, Yb[l], (vec){0});
    for (size_t l = 0; l < count; l++) mu[l] = pick(mask, mu[l], spare[l]);
    return trouble;
}

int LANED(erk_adjoint)(batch *b, const lane_record *r)
{
    size_t n = (size_t)b->n, stride = n * (size_t)b->k;
    double one[TERMS_MOST];
    int trouble = 0;
    for (int i = b->s - 1; i >= 0 && trouble >= 0; i--) {
        one[i] = 1;
        if (!b->tableau.used[i] && !b->seen.lanes) {
            clear_lanes(stride, VEC(b->sweep.U) + (size_t)i * stride);
            continue;
        }
        const vec *Y = stage_of(b, r, i, VEC(b->step.Y));
        costate_lane_point x = lane_point(b, time_of(b, r, i), Y);
        if (!b->tableau.used[i]) collect(&trouble, adjoint_of_observed(b, r, i, &x));
        else for (int j = 0; j < b->k && trouble >= 0; j++) collect(&trouble, adjoint_of_stage(b, r, i, j, &x));
    }
    for (int j = 0; j < b->k && trouble >= 0; j++) {
        vec *lambda = VEC(b->sweep.lambda) + (size_t)j * (size_t)b->N;
        combine_lanes(b->n, lambda, lambda, NULL, b->s, one, CVEC(b->sweep.U) + (size_t)j * n, stride);
    }
    add_seen(b);
    return trouble;
}
