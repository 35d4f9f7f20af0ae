/* tape.h - the record of a run: for each step t, h, state, stages (or not), Newton's counts, kept factorisations; and
   what changed the state between steps: events, values made consistent. */
#ifndef COSTATE_TAPE_H
#define COSTATE_TAPE_H

#include <stdatomic.h>
#include <stdint.h>
#include "start/start.h"
#include "step/step.h"

/* Who wrote a tape.  The solver and its tapes hold it together, so its address does not come again while one of them
   lives; the address of a solver may.  Tapes may be freed in other threads. */
typedef struct { atomic_int refs; atomic_long at_work; } identity;     /* at_work: its call, or 0 */
identity *identity_new(void);                                       /* NULL: no memory */
void identity_release(identity *);                                  /* NULL is fine */

void identity_hold(identity *);

/* Who works in a tape's memory: a call that ended without a word, by an exception, gives it up when its solver begins
   another.  The guard is held for a few instructions, and never while a callback is called. */
typedef struct { atomic_flag guard; identity *by; long call; } lease;

typedef struct {                /* of which run a tape is */
    identity *writer;           /* and its run number */
    long stamp;
    int predict;                /* Newton began with the stages of the step before */
    double t0, t1;
} origin;

/* What the bits of a step depend on beside what the tape remembers: how linear systems are solved, and options. */
typedef struct {
    char solver[32];            /* the backend's name, "gmres", or "none" */
    uint64_t options;           /* a sum of those */
    int iterative, exact;       /* without a matrix; Newton went to round-off (derivative_mode) */
} solved_by;

/* Who reads a tape, and how it makes steps again. */
typedef struct reader {
    stepper *st;
    const identity *self;
    int back;                   /* steps are requested from last to first */
    /* the stages of step k, whose state is there, into r->X and r->iterations, which lie in a work space of its own */
    int (*one)(const struct reader *, const costate_tape *, int k, record *r);
    /* Steps from .. to - 1, the first of them fresh and with this state, y' of a residual behind it: where each goes is
       asked of the store; it is told of all fresh steps up to `to`, that one included. */
    int (*all)(const struct reader *, const costate_tape *, int from, int to, const double *state);
    void *run;
} reader;

/* A store decides what a tape keeps of each step and where: everything in memory (memory.c), states in memory
   (states.c), some states, from which the steps between them are recomputed (checkpoints.c), or everything in a file
   (disk.c).  Rows that may be NULL say what this means. */
typedef struct {
    int makes_again;            /* 1: blocks of consecutive steps are recomputed from states; only decisions are kept of
                                   the steps themselves.  A tape's file has this number in its head */
    int alone;                  /* 1: the stages of a step are recomputed from only its state, so Newton's iteration
                                   must not begin with the stages of the step before */
    int writes;                 /* 1: put writes the step to the tape's file itself, with y, y' and X */
    int (*begin)(const stepper *, costate_tape *);      /* a run begins; NULL: nothing to prepare */
    /* Provides memory for the next step: the record with its state y (and yp, which the record has), and the place
       where forward writes.  spare: memory for what the store does not keep */
    int (*slot)(const stepper *, costate_tape *, const double *y, const place *spare, record *, place *to);
    int (*put)(const stepper *, costate_tape *, const record *);        /* the step was accepted: into list[count] */
    int (*get)(const costate_tape *, int k, const reader *, int stages, record *);      /* X: only if stages is 1 */
    void (*clear)(costate_tape *);                      /* frees t->own; NULL: there is none */
    /* Reading a file.  A step without its states into list[count], whose frame begins at `at`; NULL: it is copied
       there.  A fresh state, before the step that begins with it; begins: a run begins there */
    int (*read_step)(const stepper *, costate_tape *, const record *, uint64_t at);
    int (*read_fresh)(const stepper *, costate_tape *, int begins, const double *y, const double *yp);
    /* Must the next step be fresh?  begins: it is the first of a run, or of one that was continued.  NULL: never */
    int (*is_fresh)(const costate_tape *, int begins);
    /* May the next step, which is fresh, use the linearisation of step j?  It may if the state at which it was computed
       is kept, or can be kept now: y, with y' of a residual behind it, or NULL, which means the state of the run.
       told: it did, in the run that is read or replayed */
    int (*source)(const stepper *, costate_tape *, int j, const double *y, int told, int *goes_on);
    /* Recomputation has come to step k, which is fresh, with this state.  Sets yp of a residual if only the tape knows
       it.  Only of stores that make steps again */
    int (*came_to)(const costate_tape *, const reader *, int k, const double *y, double *yp);
    /* The place where forward writes when step k is recomputed; y and yp of the record are in and out.  As came_to */
    int (*room)(const costate_tape *, const reader *, int k, const place *spare, record *, place *to);
    const double *(*slope)(const costate_tape *, int k);        /* y' of a residual, or NULL; NULL: it is in the list */
    size_t (*bytes)(const costate_tape *);              /* held beside the tape's blocks; NULL: 0 */
    int (*give)(const costate_tape *, size_t more);     /* frees some memory; 0, or NULL: there is none to free */
    lease *(*one)(const costate_tape *);                /* only one sweep at a time may hold this; NULL: any number */
    void (*mend)(const costate_tape *);                 /* a sweep was abandoned: discard what it was writing */
    int (*forecast)(const costate_tape *, int back, long *again);       /* steps that a sweep recomputes; NULL: none */
    size_t (*most)(const costate_tape *);               /* bytes that states and stages may take; NULL: all they need */
} store;
/* stores.c: for options.storage, in memory or in a file */
const store *store_for(int storage, int in_file);
const store *store_that_wrote(int makes_again);         /* a file with this number in its head */
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
    double *k;                  /* n: of events of residuals: about y' before; else NULL */
    start_values f;             /* of CONSISTENT */
} mapped;

typedef struct {                /* a run where it begins fresh: from there it can be gone on with */
    double t, t0, t1;           /* where it is; of the call */
    int mode, begins;
    const double *y, *yp;       /* N; n, of a residual, or NULL */
    long source;                /* linearisation that goes on, or 0 */
    const void *known, *more;   /* what else it knows, whole words; read: all behind known */
    size_t bytes, more_bytes;
} fresh_run;

struct costate_tape {
    const costate_method *method;
    costate_problem problem;
    int usable, keep, matfree;  /* usable: a run, or its steps up to where it ended; matfree: its numbers of iterations
                                   are those of systems iterated without a matrix */
    const store *store;
    void *own;                  /* the store's */
    solved_by by;               /* its steps were */
    origin from;
    int count, room;            /* steps; room in list */
    int keeps, kept_sets;       /* whether factorisations are; how many there are, */
    size_t most_kept;           /* of how many bytes at most; 0: no more */
    size_t limit, bytes, kept_bytes;
    int most_states;            /* of COSTATE_CHECKPOINTS: memory of so many, by the options; 0: by the limit */
    int length;                 /* steps from one that is fresh to the next, at most; 0: the store says */
    double *p, *end;            /* np; N state at t1 */
    int mode;                   /* there */
    record *list;
    mapped *maps;
    int map_count, map_room, event_count;
    struct block { struct block *next; size_t size, used; } *first, *last;
    struct tape_file *file;     /* NULL: only in memory */
    uint64_t fresh_at, fresh_bytes;     /* in it: where the run was fresh last */
};

int tape_start(const stepper *, costate_tape *, const store *, const costate_problem *, const origin *);
int tape_slot(const stepper *, costate_tape *, const double *y, const place *spare, record *, place *to);
int tape_commit(const stepper *, costate_tape *, const record *);
/* before the next step, or at the end: values made consistent, which gave y1; an event, copied, with y and y1 */
int tape_map(const stepper *, costate_tape *, const start_values *, const double *y1);
int tape_event(const stepper *, costate_tape *, const mapped *);
size_t tape_event_bytes(const stepper *);                           /* of its states, */
void tape_event_layout(const stepper *, mapped *, void *memory);    /* which lie there */
/* No memory for the next factorisation: the tape's are freed, and none is kept from now on.  0: there were none. */
int tape_give_back(const stepper *, costate_tape *);
/* Step k, with its stages if they are requested, made again where they are not there.  Factorisations count in the
   solver that made them, which may be gone. */
int tape_get(const costate_tape *, int k, const reader *, int stages, record *);
int tape_take(const stepper *, identity *, const costate_tape *);   /* a sweep begins: COSTATE_BAD_TAPE, or 0 */
void tape_leave(const costate_tape *);
void lease_end(lease *);
const double *tape_slope(const costate_tape *, int k);              /* y' of a residual at step k, or NULL */
size_t tape_most(const costate_tape *);                              /* 0: all it needs */
int tape_is_fresh(const costate_tape *, int begins);                /* the next step */
/* the linearisation of this name may go on there, see store.source */
int tape_goes_on(const stepper *, costate_tape *, long serial, const double *y, int told, int *does);
size_t tape_held(const costate_tape *);                 /* bytes: lists, blocks, factorisations, the store's */
/* for stores: of the tape's blocks, within its limit */
void *tape_memory(const stepper *, costate_tape *, size_t need);
/* the run is over: t, y, mode are its end; COSTATE_IO: its file could not be finished */
int tape_end(const stepper *, costate_tape *, int complete, double t, const double *y, int mode);
int tape_direction(const costate_tape *);             /* of time: 1 or -1 */
int tape_first_map(const costate_tape *, int k);      /* before step k or later */
const mapped *tape_last_event(const costate_tape *);  /* in which its last step ended, or NULL */
int tape_fits(const stepper *, const costate_problem *, const costate_tape *);   /* 0 or COSTATE_BAD_TAPE */
/* The same, and what the store makes again would be what the run had: tangents and adjoints over one tape, by whatever
   solvers, are then those of the same steps.  Steps made one after the other have its bits, so that no sweep leaves
   behind what another one would not have made; stages, each from the state of the run, may differ by the rounding of
   a factorisation, or where no derivatives are taken (sweeps 0) by what newton_tol leaves. */
int tape_serves(const stepper *, const costate_problem *, const costate_tape *, int sweeps);
solved_by solved_by_of(const stepper *);
long tape_source(const costate_tape *, int k);  /* the earlier linearisation that step k was solved with, or 0 */
decisions tape_decisions(const costate_tape *, int k);              /* what step k did; valid while the tape is */
void tape_clear(costate_tape *);
int tape_fresh(const stepper *, costate_tape *, const fresh_run *);     /* onto its file, if it has one */
/* The run in the file: whole, or up to where it was fresh last; what was known there is in *fresh, in *memory, to be
   freed.  who: goes on with it there, unless it is complete; NULL: it is only read. */
int tape_load(const stepper *, costate_tape *, const costate_problem *, identity *who, fresh_run *fresh,
              void **memory, int *whole);
int tape_cut(const stepper *, costate_tape *);          /* its file, to go on from where the run was fresh last */

#endif
