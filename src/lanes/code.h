/* code.h - what the files for one L share: points of the maps, and matrices. */
#ifndef COSTATE_LANES_CODE_H
#define COSTATE_LANES_CODE_H

#include "lanes/vector.h"

/* What a map returns is bits of lanes, or < 0: they are collected, and the first number < 0 stays. */
INLINE void collect(int *trouble, int code) { *trouble = *trouble < 0 || code < 0 ? -1 : *trouble | code; }

INLINE costate_lane_point lane_point(const batch *b, const double *t, const void *y)
{
    return (costate_lane_point){.t = t, .y = y, .p = b->p};
}

/* out <- J in its pattern, factored with sigma; solves, in place */
int LANED(matrix_of_step)(batch *, const lane_record *);
void LANED(matrix_solve)(batch *, int transpose, vec *x);

int LANED(erk_forward)(batch *);
int LANED(erk_tangent)(batch *);
int LANED(erk_adjoint)(batch *, const lane_record *);
int LANED(ros_forward)(batch *);
int LANED(ros_tangent)(batch *);
int LANED(ros_adjoint)(batch *, const lane_record *);
void LANED(aim)(batch *);
int LANED(judge)(batch *);
void LANED(propose)(batch *);
void LANED(take)(batch *, int taken);
void LANED(pick)(size_t count, int which, double *to, const double *from);

#endif
