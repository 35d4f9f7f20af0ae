/* ops.h - a run as a list of operations on the running state, and how each kind of them is differentiated.

       STEP     one step of the tape; its h is frozen, that of the last one is t1 - t
       MAP      values made consistent, at the start of the run or at its end
       OBSERVE  adds a term at a time inside a step to each functional

   Forward the observations of a step follow it, backward they come before it: they are seen through its dense output.
   A sweep is a loop over the list (run/sweep.c); a new kind is a new row. */
#ifndef COSTATE_OPS_H
#define COSTATE_OPS_H

#include "tape/tape.h"

enum kind { STEP, MAP, OBSERVE };

typedef struct {
    enum kind kind;
    int step, which;            /* which: map, observation; of a map the step after it */
    int last;                   /* of the tape's steps: h = t1 - t; of maps: after all steps, at t1 */
} op;

/* What rows work on.  m columns; tangents: V in and out; adjoints: lambda, mu in and out. */
typedef struct {
    stepper *st;
    starter *start;
    const costate_tape *tape;
    const identity *self;       /* who sweeps, and */
    const remaker *again;       /* how it makes stages again */
    const costate_times *times;
    const costate_observations *seen;
    record now;                 /* the step of the operation, with its stages */
    int held;                   /* its index; -1: none */
    directions d;
    double *dt, *dh;            /* m: d.dt, d.dh */
    double *V;                  /* N*m: d.V, which moves on when the next step begins, or the sweep ends */
    int moved;                  /* d.V1 is still to be taken over */
    functionals g;
    double *tau;                /* m: adjoint of t after the step */
    double *tau_seen, *eta_seen;    /* m: of t and h of the step, by its observations */
    double *seeds, *sum;        /* s*m*n, n*m: what its observations add to its stages and to lambda */
    int any;                    /* 1: they hold something */
    double *f, *z, *w;          /* work: n, n, n*m */
} world;

typedef struct {
    int (*tangent)(world *, const op *);
    int (*adjoint)(world *, const op *);
} op_rules;

extern const op_rules step_rules, map_rules, observe_rules;

int world_hold(world *, int step);              /* the record of the step into now, with weights at its start */
/* t' and h' of a step (m each) from those of t0 and t1 */
void step_directions(const costate_times *, int m, int last, double *dt, double *dh);
/* the errors that loosely solved systems leave, through this step (left.h) */
int step_left(stepper *, const record *, int transpose, int m);
void world_move(world *);                       /* V <- V1 of the last step, if it is still to be */

#endif
