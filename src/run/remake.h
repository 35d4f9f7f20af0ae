/* remake.h - recomputes steps of a tape. */
#ifndef COSTATE_RUN_REMAKE_H
#define COSTATE_RUN_REMAKE_H

#include "solver/solver.h"

/* the matrices of the linearisation `source`, factored for h */
int matrices_again(const reader *, const costate_tape *, long source, double h);
int fresh_as_taped(costate *, const costate_tape *, int k);
reader reader_of(costate *, int back);
/* Repeats step k from now->y at now->t with now->h, into c->work.y1.  as_often: with the same number of Newton
   iterations; 0: to round-off, for differences of steps */
int step_as_taped(costate *, const costate_tape *, int k, int as_often, const record *before, const place *to,
                  record *now);
/* Takes the step of NO_LENGTH, map k of the tape, from now->y at now->t with now->h, into c->work.y1: if it has a
   length by now, with the method, and the degree or the user's matrix, of the step behind it. */
int instant_as_taped(costate *, const costate_tape *, int k, record *now);

#endif
