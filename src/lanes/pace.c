/* pace.c (lanes) - the step loop of L members: lengths of steps, error norms, acceptance and proposals, by the formulas
   of run/pace.h and step/norm.c. */
#include <math.h>
#include "lanes/code.h"

void LANED(aim)(batch *b)
{
    lane_clock *k = &b->clock;
    #pragma omp simd
    for (int l = 0; l < LANES; l++) {
        double left = (k->t1[l] - k->t[l]) - k->low[l], h_free = k->h_free[l], end_low;
        int last = reaches(left, h_free, k->t[l], k->rejected[l] != 0);
        double whole = halved(left, h_free, k->hmin[l]), least = least_step(k->hmin[l], k->t[l]);
        double h = last ? left : whole;
        double end = end_of(k->t[l], k->low[l], h, &end_low);
        k->h[l] = h;
        k->end[l] = last ? k->t1[l] : end;
        k->end_low[l] = last ? 0 : end_low;
        k->small[l] = !last & (fabs(h) < least);
    }
}

/* ---- error norms ---- */

INLINE vec scaled(double rtol, double atol, vec y, vec z, vec e)
{
    vec u = modulus(y), v = modulus(z), q = e / (atol + rtol * pick(u > v, u, v));
    return q * q;
}

/* sum_scaled of vec.c; with tolerances of each component they are added one by one */
INLINE vec sum_scaled_lanes(const batch *b, int count, const vec *y, const vec *z, const vec *e)
{
    enum { AT_ONCE = 8 };
    const costate_options *o = b->o;
    vec rest = {0}, s[AT_ONCE] = {{0}};
    if (o->rtol_vector || o->atol_vector) {
        for (int i = 0; i < count; i++) {
            int own = i < b->n;
            rest += scaled(own && o->rtol_vector ? o->rtol_vector[i] : o->rtol,
                           own && o->atol_vector ? o->atol_vector[i] : o->atol, y[i], z[i], e[i]);
        }
        return rest;
    }
    int whole = count / AT_ONCE * AT_ONCE;
    for (int i = whole; i < count; i++) rest += scaled(o->rtol, o->atol, y[i], z[i], e[i]);
    if (!whole) return rest;
    for (int i = 0; i < whole; i += AT_ONCE)
        for (int j = 0; j < AT_ONCE; j++) s[j] += scaled(o->rtol, o->atol, y[i + j], z[i + j], e[i + j]);
    return (((s[0] + s[1]) + (s[2] + s[3])) + ((s[4] + s[5]) + (s[6] + s[7]))) + rest;
}

INLINE vec norm(const batch *b, const vec *err)
{
    int count = b->o->cost_error ? b->n + b->nq : b->n;
    vec q = sum_scaled_lanes(b, count, CVEC(b->now.y), CVEC(b->y1), err) / (double)count, root;
    for (int l = 0; l < LANES; l++) root[l] = sqrt(q[l]);
    return root;
}

/* DOP853's |e|^2 / sqrt(|e|^2 + 0.01 |e2|^2): erk/forward.c */
static void combine_estimates(batch *b)
{
    vec *err = VEC(b->err), *second = VEC(b->v), factor;
    clear_lanes((size_t)b->nq, second + b->n);
    vec a = norm(b, err), c = norm(b, second), under = a * a + 0.01 * c * c;
    for (int l = 0; l < LANES; l++) under[l] = sqrt(under[l]);
    factor = pick(under > 0.0, a / under, splat(1));
    for (int i = 0; i < b->N; i++) err[i] *= factor;
}

int LANED(judge)(batch *b)
{
    if (b->m->est.e2) combine_estimates(b);
    vec zero = {0}, err = norm(b, CVEC(b->err));
    const vec *y1 = CVEC(b->y1);
    for (int i = 0; i < b->N; i++) zero += y1[i] * 0.0;
    *VEC(b->clock.err) = err;
    return bits_of_mask((zero == 0.0) & (err < HUGE_VAL)) & b->active;
}

/* ---- acceptance ---- */

INLINE void propose_by(batch *b, int controller)
{
    lane_clock *k = &b->clock;
    law by = b->by;
    by.controller = controller;
    #pragma omp simd
    for (int l = 0; l < LANES; l++) {
        double err = k->err[l], h = fabs(k->h[l]), h_free = fabs(k->h_free[l]);
        int taken = err <= 1, rejected = k->rejected[l] != 0;
        double factor = factor_of(&by, rejected, err, k->log_old[l], h, k->h_old[l]), kept = log_kept(err);
        double next = more(less(proposal(h, h_free, rejected, factor), k->hmax[l]), k->hmin[l]);
        double again = k->h[l] * factor_again(&by, k->cautious[l] != 0, factor);
        k->h_free[l] = taken ? k->dir[l] * next : again;
        k->log_old[l] = taken ? kept : k->log_old[l];
        k->h_old[l] = taken ? h : k->h_old[l];
        k->t[l] = taken ? k->end[l] : k->t[l];
        k->low[l] = taken ? k->end_low[l] : k->low[l];
        k->rejected[l] = !taken;
        k->cautious[l] = !taken;
    }
}

void LANED(propose)(batch *b)
{
    if (b->by.controller == COSTATE_PI) propose_by(b, COSTATE_PI);
    else if (b->by.controller == COSTATE_GUSTAFSSON) propose_by(b, COSTATE_GUSTAFSSON);
    else propose_by(b, COSTATE_ELEMENTARY);
}

INLINE void move(size_t count, vecbits mask, vec *to, const vec *from)
{
    for (size_t i = 0; i < count; i++) to[i] = pick(mask, from[i], to[i]);
}

void LANED(take)(batch *b, int taken)
{
    vecbits mask = mask_of(taken);
    size_t n = (size_t)b->n;
    move((size_t)b->N, mask, VEC(b->y), CVEC(b->y1));
    if (b->d && !b->jet) move((size_t)b->N * (size_t)b->d, mask, VEC(b->V), CVEC(b->V1));
    if (b->K0) move(n, mask, VEC(b->K0), CVEC(b->now.X) + (size_t)(b->s - 1) * n);
}

void LANED(pick)(size_t count, int which, double *to, const double *from)
{
    move(count, mask_of(which), VEC(to), CVEC(from));
}

const lane_code LANED(lane_code) = {
    LANES,
    LANED(erk_forward), LANED(ros_forward), LANED(erk_tangent), LANED(ros_tangent), LANED(erk_adjoint),
    LANED(ros_adjoint),
    LANED(aim), LANED(judge), LANED(propose), LANED(take), LANED(pick),
};
