/* moves.h - what the files around the loop share: numbers of one member in the arrays of all lanes, sets of lanes. */
#ifndef COSTATE_LANES_MOVES_H
#define COSTATE_LANES_MOVES_H

#include "lanes/lanes.h"

static inline int first_of(int bits)
{
    int l = 0;
    while (!(bits >> l & 1)) l++;
    return l;
}

static inline int count_of(int bits)
{
    int count = 0;
    for (; bits; bits &= bits - 1) count++;
    return count;
}

/* what a map returned, as bits of lanes */
static inline int bits_of_lanes(const batch *b, int code) { return code < 0 ? (1 << b->code->lanes) - 1 : code; }

static inline void scatter(const batch *b, int l, size_t count, double *all, const double *x)
{
    size_t L = (size_t)b->code->lanes;
    for (size_t i = 0; i < count; i++) all[i * L + (size_t)l] = x[i];
}

static inline void gather(const batch *b, int l, size_t count, const double *all, double *x)
{
    size_t L = (size_t)b->code->lanes;
    for (size_t i = 0; i < count; i++) x[i] = all[i * L + (size_t)l];
}

/* calls count in these lanes from now on */
static inline void count_in(batch *b, int bits)
{
    for (int l = 0; l < b->code->lanes; l++) b->counts.of[l] = -(int64_t)(bits >> l & 1);
}

/* tangents that are propagated with the run; those of Hessian products follow it */
static inline int with_run(const batch *b) { return b->jet ? 0 : b->d; }

int batch_is_valid(const batch *);      /* run.c: an invariant between steps */

/* fill.c */
void lanes_refill(batch *, int l);      /* the next member, if there is one and the chunk has room */
void lanes_fill_idle(batch *);          /* lanes without a member repeat the first one that has */

/* leave.c */
void take_counts(batch *, int l, costate_stats *);      /* adds the calls of lane l, and counts from zero */
static inline void drop_counts(batch *b, int l)         /* a member enters: what one that left has called is lost */
{
    costate_stats dropped = {0};
    take_counts(b, l, &dropped);
}
void lane_leaves(batch *, int l, int alone);    /* its member has ended, or is to be run alone */
void lanes_leave(batch *, int bits);            /* all of these, to be run alone */
void member_finished(batch *, place_of_member *);       /* its results go to the caller, or it runs alone */

/* back.c */
void lanes_gradients(batch *);          /* of the members of a chunk, which are then finished */

#endif
