/* blocks.h - what checkpoints.c keeps: states at the beginning of some blocks of steps, and whole blocks.

   Consecutive steps form blocks.  The first step of a block is fresh, that is, independent of earlier steps, so the
   block can be recomputed from its first state, to the same bits. */
#ifndef COSTATE_TAPE_BLOCKS_H
#define COSTATE_TAPE_BLOCKS_H

#include <stdatomic.h>
#include <stdint.h>
#include "tape/plan.h"
#include "tape/tape.h"

typedef struct {
    int first;                  /* step */
    uint64_t print;             /* of the state there */
    double *yp;                 /* n: where a run of a residual began; else NULL */
    uint64_t at, bytes;         /* of its frame in the tape's file */
} block;

typedef struct { int block; double *memory; } whole_block;

typedef struct {
    owned owned;
    size_t N, slope;            /* doubles of y; of y' of a residual, else 0 */
    size_t step;                /* of a step with its stages */
    int length;                 /* of a block, at most */
    int spread;                 /* over processes, which plan alike: by the sums of their sizes */
    plan_room all;              /* these; all: most of both together */
    block *blocks;
    int *at;                    /* blocks whose states are held, in order; the first is block 0, and */
    double **state;             /* these, y' behind y */
    double *spare;              /* one that is not, or NULL */
    whole_block *whole;
    int count, room, holds, hold_room, wholes, whole_room;      /* blocks; states; whole blocks */
    int sources, most_sources;  /* states of linearisations that went on into further blocks: in the list of steps */
    int now;                    /* block that is being made again */
    int whole_from;             /* blocks from here on are kept whole then, */
    int *wanted, wanted_count, wanted_room;     /* and the states of these, where a sweep goes back */
    int back;
} checkpoints;

static inline size_t state_bytes(const checkpoints *x) { return (x->N + x->slope) * sizeof(double); }
static inline size_t block_bytes(const checkpoints *x) { return (size_t)x->length * x->step * sizeof(double); }

int blocks_no_memory(const stepper *);
size_t blocks_said(const costate_tape *, const checkpoints *);      /* bytes of states and whole blocks, by options */
size_t blocks_beside(const checkpoints *);          /* lists, and what else is no state or whole block */
size_t blocks_most(const costate_tape *, const checkpoints *);      /* and what is left of the limit */
plan_room blocks_room(const costate_tape *, const checkpoints *);       /* what is left of it */
/* the last of these numbers, which increase, that is k or less */
int last_before(const int *at, int count, int k);
int block_of(const checkpoints *, int step);
int block_end(const costate_tape *, const checkpoints *, int b);        /* the step after it */
uint64_t print_of_state(const checkpoints *, const double *y, const double *yp);

whole_block *whole_of(const checkpoints *, int b);                /* NULL: it is not whole */
int whole_begin(const stepper *, checkpoints *, int b);     /* memory for it */
void wholes_keep(checkpoints *, int most);                  /* memory of so many, of no block */
/* step i of a whole block: its state goes there, its stages are written there */
void whole_step(const checkpoints *, const whole_block *, int i, record *, place *to);

/* The state of block b is kept.  In a run, or a sweep forward, others go for it; where none may go, it is not kept. */
int state_hold(const stepper *, const costate_tape *, checkpoints *, int b, const double *y, const double *yp);
int blocks_within_limit(const stepper *, const costate_tape *, checkpoints *);      /* or COSTATE_TAPE_LIMIT */
void state_drop(checkpoints *, int i);
int state_thin(checkpoints *);                              /* one goes that is missed least; 0: there is none */
void state_spare(checkpoints *, double *memory);            /* instead of the one there was */

/* remade.c: rows of the store */
int remade_get(const costate_tape *, int k, const reader *, record *);
int remade_came_to(const costate_tape *, const reader *, int k, const double *y, double *yp);
int remade_room(const costate_tape *, const reader *, int k, const place *spare, record *, place *to);
/* forecast.c: steps that a sweep makes again */
int remade_steps(const costate_tape *, int back, long *steps);
/* Which states to keep on the way from block `from` to block b, into x->wanted, and how many blocks whole at its end.
   0: no memory */
int remade_plan(checkpoints *, int from, int b, plan_room, int *whole);

#endif
