/* pace.c (lanes) - the step loop of L members: lengths of steps, error norms, acceptance and proposals, by the formulas
   of solver/pace.h and step/norm.c. */
#include <math.h>
#include "lanes/norm.h"

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

/* ---- errors ---- */

/* DOP853's |e|^2 / sqrt(|e|^2 + 0.01 |e2|^2): erk/forward.c */
static void combine_estimates(batch *b)
{
    vec *err = VEC(b->step.err), *second = VEC(b->step.v), factor;
    clear_lanes((size_t)b->nq, second + b->n);
    vec a = norm(b, err), c = norm(b, second), under = a * a + 0.01 * c * c;
    for (int l = 0; l < LANES; l++) under[l] = sqrt(under[l]);
    factor = pick(under > 0.0, a / under, splat(1));
    for (int i = 0; i < b->N; i++) err[i] *= factor;
}

int LANED(judge)(batch *b)
{
    if (b->m->est.e2) combine_estimates(b);
    vec zero = {0}, err = norm(b, CVEC(b->step.err));
    const vec *y1 = CVEC(b->step.y1);
    for (int i = 0; i < b->N; i++) zero += y1[i] * 0.0;
    *VEC(b->clock.err) = err;
    return bits_of_mask((zero == 0.0) & (err < HUGE_VAL));
}

/* ---- acceptance ---- */

INLINE void factors_by(const batch *b, int controller, const double *log_err, double *factor)
{
    const lane_clock *k = &b->clock;
    law by = b->by;
    by.controller = controller;
    #pragma omp simd
    for (int l = 0; l < LANES; l++)
        factor[l] = factor_of(&by, k->rejected[l] != 0, log_err[l], k->log_old[l], fabs(k->h[l]), k->h_old[l]);
}

/* log_err <- of the errors */
static void factors_of(const batch *b, double *log_err, double *factor)
{
    #pragma omp simd
    for (int l = 0; l < LANES; l++) log_err[l] = log_of_error(b->clock.err[l]);
    if (b->by.controller == COSTATE_PI) factors_by(b, COSTATE_PI, log_err, factor);
    else if (b->by.controller == COSTATE_GUSTAFSSON) factors_by(b, COSTATE_GUSTAFSSON, log_err, factor);
    else factors_by(b, COSTATE_ELEMENTARY, log_err, factor);
}

INLINE void lengths(const lane_clock *k, const double *factor, double *h)
{
    #pragma omp simd
    for (int l = 0; l < LANES; l++) {
        double next = proposal(fabs(k->h[l]), fabs(k->h_free[l]), k->rejected[l] != 0, factor[l]);
        h[l] = k->dir[l] * more(less(next, k->hmax[l]), k->hmin[l]);
    }
}

void LANED(next_lengths)(const batch *b, double *h)
{
    double log_err[LANES], factor[LANES];
    factors_of(b, log_err, factor);
    lengths(&b->clock, factor, h);
}

void LANED(propose)(batch *b)
{
    lane_clock *k = &b->clock;
    law by = b->by;
    double log_err[LANES], factor[LANES], next[LANES];
    factors_of(b, log_err, factor);
    lengths(k, factor, next);
    #pragma omp simd
    for (int l = 0; l < LANES; l++) {
        int taken = k->err[l] <= 1;
        double kept = log_kept(log_err[l]), again = k->h[l] * factor_again(&by, k->cautious[l] != 0, factor[l]);
        k->h_free[l] = taken ? next[l] : again;
        k->log_old[l] = taken ? kept : k->log_old[l];
        k->h_old[l] = taken ? fabs(k->h[l]) : k->h_old[l];
        k->t[l] = taken ? k->end[l] : k->t[l];
        k->low[l] = taken ? k->end_low[l] : k->low[l];
        k->rejected[l] = !taken;
        k->cautious[l] = !taken;
    }
}

INLINE void move(size_t count, vecbits mask, vec *to, const vec *from)
{
    for (size_t i = 0; i < count; i++) to[i] = pick(mask, from[i], to[i]);
}

void LANED(take)(batch *b, int taken)
{
    vecbits mask = mask_of(taken);
    size_t n = (size_t)b->n;
    move((size_t)b->N, mask, VEC(b->step.y), CVEC(b->step.y1));
    if (b->d && !b->jet) move((size_t)b->N * (size_t)b->d, mask, VEC(b->sweep.V), CVEC(b->sweep.V1));
    if (b->step.K0) move(n, mask, VEC(b->step.K0), CVEC(b->now.X) + (size_t)(b->s - 1) * n);
}

void LANED(pick)(size_t count, int which, double *to, const double *from)
{
    move(count, mask_of(which), VEC(to), CVEC(from));
}
