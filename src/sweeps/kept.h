/* kept.h - tangents of a forward sweep, stored for the backward sweep. */
#ifndef COSTATE_SWEEPS_KEPT_H
#define COSTATE_SWEEPS_KEPT_H

#include "solver/solver.h"

/* all of them, or one segment at a time, recomputed from the tangents at its start */
typedef struct {
    const costate_tape *tape;
    int m, length;              /* directions; steps of a segment */
    int from;                   /* first step of the segment in memory */
    size_t step, map, start;    /* doubles per entry */
    double *steps, *maps, *starts;
} kept_tangents;
int kept_new(costate *, const costate_tape *, int m, kept_tangents *);      /* COSTATE_TAPE_LIMIT, COSTATE_NO_MEMORY */
void kept_free(kept_tangents *);
int kept_forward(costate *, kept_tangents *, sweep_state *);    /* through the whole tape; leaves w->V, w->dt at its
                                                                   end */
/* recomputes a segment for the backward sweep */
int kept_segment(costate *, kept_tangents *, sweep_state *, int from);
tangents kept_of(const costate *, const kept_tangents *, const op *);

#endif
