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
    uint64_t print;             /* checksum of the state there */
    double *yp;                 /* n: where a run of a residual began; else NULL */
    uint64_t at, bytes;         /* of its frame on the medium */
} block;

typedef struct { int block; double *memory; } whole_block;

/* Memory that was given back, of so many bytes each.  The first word of each holds the address of the next. */
typedef struct { void *first; size_t bytes, count; } pool;
enum { STATES, WHOLES, POOLS };

typedef struct {
    owned owned;
    pool free[POOLS];
    size_t N, slope;            /* doubles of y; of y' of a residual, else 0 */
    size_t step;                /* doubles of a step with its stages */
    int length;                 /* most steps of a block */
    int spread;                 /* 1: states are distributed over processes, which all plan with the sums of sizes */
    plan_room all;              /* these sums; all: the most that states and whole blocks may take */
    block *blocks;
    int *at;                    /* blocks whose first states are kept, in increasing order, beginning with block 0 */
    double **state;             /* those states, y' behind y */
    whole_block *whole;
    int count, room, holds, hold_room, wholes, whole_room;      /* blocks; states; whole blocks */
    int sources, most_sources;  /* states, in the list of steps, of linearisations that remain in use in later blocks */
    int now;                    /* block that is being recomputed */
    int whole_from;             /* blocks from here on are then kept whole */
    int *wanted, wanted_count, wanted_room;     /* blocks whose first states are kept for a backward sweep */
    int back;
} checkpoints;

static inline size_t state_bytes(const checkpoints *x) { return (x->N + x->slope) * sizeof(double); }
static inline size_t block_bytes(const checkpoints *x) { return (size_t)x->length * x->step * sizeof(double); }

/* Sets the size of what is in a pool, and frees what has another. */
void pool_begin(checkpoints *, int which, size_t bytes);
int pools_shrink(checkpoints *);                    /* frees one piece of memory in a pool; 0: they are empty */
size_t pools_bytes(const checkpoints *);

int blocks_no_memory(const stepper *);
/* bytes for states and whole blocks: by the options, and also within the limit */
size_t blocks_said(const costate_tape *, const checkpoints *);
size_t blocks_most(const costate_tape *, const checkpoints *);
size_t blocks_beside(const checkpoints *);          /* bytes of everything else: lists, for example */
plan_room blocks_room(const costate_tape *, const checkpoints *);       /* how much of that is free */
/* index of the last of these increasing numbers that is k or less */
int last_before(const int *at, int count, int k);
int block_of(const checkpoints *, int step);
int block_end(const costate_tape *, const checkpoints *, int b);        /* the step after it */
uint64_t print_of_state(const checkpoints *, const double *y, const double *yp);

whole_block *whole_of(const checkpoints *, int b);                /* NULL: block b is not kept whole */
int whole_begin(const stepper *, checkpoints *, int b);     /* provides memory for block b */
void wholes_keep(checkpoints *, int most);                  /* keeps the memory of at most so many, and no contents */
/* Step i of a whole block: copies its state there, and sets the place where its stages are written. */
void whole_step(const checkpoints *, const whole_block *, int i, record *, place *to);

/* Keeps the state of block b.  If there is no room, a run or a forward sweep drops others, and a backward sweep does
   not keep it. */
int state_hold(const stepper *, const costate_tape *, checkpoints *, int b, const double *y, const double *yp);
/* drops states if necessary; COSTATE_TAPE_LIMIT */
int blocks_within_limit(const stepper *, const costate_tape *, checkpoints *);
void state_drop(checkpoints *, int i);
int state_thin(checkpoints *);                              /* drops the state that is missed least; 0: none */
int blocks_give(checkpoints *);                     /* frees what is in a pool, or such a state; 0: none */

/* remade.c: rows of `remaking` */
int remade_get(const costate_tape *, int k, const reader *, record *);
int remade_came_to(const costate_tape *, const reader *, int k, const double *y, double *yp);
int remade_room(const costate_tape *, const reader *, int k, const place *spare, record *, place *to);
/* forecast.c: number of steps that a sweep recomputes */
int remade_steps(const costate_tape *, int back, long *steps);
/* Which states to keep on the way from block `from` to block b, into x->wanted; *whole: how many blocks at its end are
   kept whole.
   0: no memory */
int remade_plan(checkpoints *, int from, int b, plan_room, int *whole);

#endif
