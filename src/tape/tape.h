/* tape.h - the record of a run: for each step t, h, state, stages (or not), Newton's counts, kept factorisations; and
   what changed the state between steps: events, values made consistent. */
#ifndef COSTATE_TAPE_H
#define COSTATE_TAPE_H

#include <stdatomic.h>
#include "start/start.h"
#include "step/step.h"

/* Who wrote a tape.  The solver and its tapes hold it together, so its address does not come again while one of them
   lives; the address of a solver may.  Tapes may be freed in other threads. */
typedef struct { atomic_int refs; } identity;
identity *identity_new(void);                                       /* NULL: no memory */
void identity_release(identity *);                                  /* NULL is fine */

typedef struct {                /* of which run a tape is */
    identity *writer;           /* and its run number */
    long stamp;
    int predict;                /* Newton began with the stages of the step before */
    double t0, t1;
} origin;

/* Makes the stages of step k again, into r->X and r->iterations, which lie in a work space of its own. */
typedef struct { int (*again)(void *run, const costate_tape *, int k, record *r); void *run; } remaker;

/* How much of a step is kept: memory.c, states.c. */
typedef struct {
    /* room for the next step: its record with the state y (and yp, which the record has), and where forward writes;
       spare: for what is not kept */
    int (*slot)(const stepper *, costate_tape *, const double *y, const place *spare, record *, place *to);
    int (*put)(const stepper *, costate_tape *, const record *);        /* the step that was taken, into list[count] */
    int (*get)(const costate_tape *, int k, record *);                  /* step k; X NULL: its stages are not there */
    void (*clear)(costate_tape *);                                      /* of own; may be NULL */
} store;
extern const store memory_store, states_store;
/* Room in the tape's blocks for the state and, where spare is NULL, the stages. */
int memory_slot(const stepper *, costate_tape *, const double *y, const place *spare, record *, place *to);

enum { CONSISTENT = -2, WENT_ON = -1 };                     /* what a map may be beside an event of the problem */

typedef struct {                /* what changes the state between steps, or says how the step before it ended */
    int before;                 /* before that step; count: at the end */
    int event;                  /* of the problem's; CONSISTENT: values made so; WENT_ON: a run was gone on with */
    int timed;                  /* at a given time; 0: where its guard is zero */
    int number;                 /* events before it on the tape */
    int from, to;               /* modes */
    double t;
    double slope, miss;         /* of the guard along the run, about, and by how much time it was missed */
    double *y, *y1;             /* N: before, of events, and after */
    start_values f;             /* of CONSISTENT */
} mapped;

struct costate_tape {
    const costate_method *method;
    costate_problem problem;
    int usable, keep, matfree;  /* usable: a run, or its steps up to where it ended */
    const store *store;
    void *own;                  /* the store's */
    origin from;
    int count, room;            /* steps; room in list */
    int keeps, kept_sets;       /* whether factorisations are; how many there are, */
    size_t most_kept;           /* of how many bytes at most; 0: no more */
    size_t limit, bytes, kept_bytes;
    double *p, *end;            /* np; N state at t1 */
    int mode;                   /* there */
    record *list;
    mapped *maps;
    int map_count, map_room, event_count;
    struct block { struct block *next; size_t size, used; } *first, *last;
};

int tape_start(const stepper *, costate_tape *, const store *, const costate_problem *, const origin *);
int tape_slot(const stepper *, costate_tape *, const double *y, const place *spare, record *, place *to);
int tape_commit(const stepper *, costate_tape *, const record *);
/* before the next step, or at the end: values made consistent, which gave y1; an event, copied, with y and y1 */
int tape_map(const stepper *, costate_tape *, const start_values *, const double *y1);
int tape_event(const stepper *, costate_tape *, const mapped *);
/* No memory for the next factorisation: the tape's are freed, and none is kept from now on.  0: there were none. */
int tape_give_back(const stepper *, costate_tape *);
/* Step k with its stages, made again where they are not there; again NULL: without them.  writer: who asks;
   factorisations count in the solver that made them, which may be gone. */
int tape_get(const costate_tape *, int k, const identity *writer, const remaker *, record *);
/* for stores: of the tape's blocks, within its limit */
void *tape_memory(const stepper *, costate_tape *, size_t need);
/* the run is over: t, y, mode are its end */
void tape_end(costate_tape *, int complete, double t, const double *y, int mode);
int tape_direction(const costate_tape *);             /* of time: 1 or -1 */
const mapped *tape_last_event(const costate_tape *);  /* in which its last step ended, or NULL */
int tape_fits(const stepper *, const costate_problem *, const costate_tape *);   /* 0 or COSTATE_BAD_TAPE */
decisions tape_decisions(const costate_tape *, int k);              /* what step k did; valid while the tape is */
void tape_clear(costate_tape *);

#endif
