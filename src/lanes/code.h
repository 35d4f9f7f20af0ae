/* code.h - what the files for one L share: points of the maps, and matrices. */
#ifndef COSTATE_LANES_CODE_H
#define COSTATE_LANES_CODE_H

#include "lanes/vector.h"

/* one more call in these lanes */
INLINE void counted(vecbits lanes, int64_t *calls) { *(vecbits *)(void *)calls -= lanes; }
INLINE vecbits counting(const batch *b) { return *(const vecbits *)(const void *)b->counts.of; }

/* those of them that try a step for the first time: a run alone keeps what it knows from the start of the step */
INLINE vecbits first_tries(const batch *b)
{
    return counting(b) & (*(const vecbits *)(const void *)b->clock.rejected == 0);
}

/* What a map returns is bits of lanes, or < 0: they are collected, and the first number < 0 stays. */
INLINE void collect(int *trouble, int code) { *trouble = *trouble < 0 || code < 0 ? -1 : *trouble | code; }

INLINE costate_lane_point lane_point(const batch *b, const double *t, const void *y)
{
    return (costate_lane_point){.t = t, .y = y, .p = b->p};
}

/* (0, y' + sum_l a_il X'_l, p') of stage i along direction j; its y into out, but of the first stage */
INLINE costate_lane_point direction(const batch *b, int i, int j, const double *V, const double *Xd, double *out)
{
    size_t n = (size_t)b->n, d = (size_t)b->d;
    const double *Yd = V + (size_t)j * (size_t)b->N * LANES;
    if (i > 0) {
        combine_lanes(b->n, VEC(out), CVEC(Yd), NULL, i, b->m->A + i * b->s, CVEC(Xd) + (size_t)j * n, n * d);
        Yd = out;
    }
    return (costate_lane_point){.y = Yd, .p = b->sweep.Vp ? b->sweep.Vp + (size_t)j * (size_t)b->np * LANES : NULL};
}

/* w += seeds of stage i and functional j, in lanes with observations */
INLINE void add_seed(const batch *b, int i, int j, vec *w)
{
    size_t n = (size_t)b->n, k = (size_t)b->k;
    const vec *seed = CVEC(b->seen.seeds) + ((size_t)i * k + (size_t)j) * n;
    vecbits mask = mask_of(b->seen.lanes);
    for (size_t l = 0; l < n; l++) w[l] = pick(mask, w[l] + 1.0 * seed[l], w[l]);
}

/* lambda += the seeds of y, likewise */
INLINE void add_seen(const batch *b)
{
    size_t n = (size_t)b->n;
    vecbits mask = mask_of(b->seen.lanes);
    for (size_t j = 0; b->seen.lanes && j < (size_t)b->k; j++) {
        vec *lambda = VEC(b->sweep.lambda) + j * (size_t)b->N;
        const vec *sum = CVEC(b->seen.sum) + j * n;
        for (size_t l = 0; l < n; l++) lambda[l] = pick(mask, lambda[l] + 1.0 * sum[l], lambda[l]);
    }
}

/* J at the start of a step, and its E, counted in these lanes; solves, in place */
int LANED(matrix_of_step)(batch *, const lane_record *, vecbits new_J, vecbits new_E);
void LANED(matrix_solve)(batch *, lane_matrix *, int transpose, vec *x);
/* of matrices whose J is there: E for steps of lengths h, factored; returns the bits of `lanes` where it is singular */
int LANED(matrix_factor)(batch *, lane_matrix *, const vec *h, int lanes);
void LANED(next_lengths)(const batch *, double *h);     /* as they would be proposed now */

int LANED(erk_forward)(batch *);
int LANED(erk_tangent)(batch *, const lane_record *, int again);
int LANED(erk_adjoint)(batch *, const lane_record *);
int LANED(ros_forward)(batch *);
int LANED(ros_tangent)(batch *, const lane_record *, int again);
int LANED(ros_adjoint)(batch *, const lane_record *);
int LANED(ros_confirm)(batch *, int fine);
int LANED(ros_confirmed)(batch *, vecbits *has_J, vecbits *has_E);
void LANED(aim)(batch *);
int LANED(judge)(batch *);
void LANED(propose)(batch *);
void LANED(take)(batch *, int taken);
void LANED(pick)(size_t count, int which, double *to, const double *from);

#endif
