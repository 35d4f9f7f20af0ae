/* tape.h - the record of a run: for each step t, h, state, stages (or not), Newton's counts, kept factorisations; and
   what changed the state between steps: events, values made consistent. */
#ifndef COSTATE_TAPE_H
#define COSTATE_TAPE_H

#include <stdatomic.h>
#include <stdint.h>
#include "start/start.h"
#include "step/step.h"

/* Who wrote a tape.  The solver and its tapes share it, so that its address is not reused while one of them exists, as
   the address of a solver may be.  Tapes may be freed in other threads. */
typedef struct { atomic_int refs; atomic_long at_work; } identity;     /* at_work: number of the current call, or 0 */
identity *identity_new(void);                                       /* NULL: no memory */
void identity_release(identity *);                                  /* NULL is allowed */

void identity_hold(identity *);

/* Who works in a tape's memory.  A call that was left by an exception loses the lease when its solver begins another
   call.  The guard is held for a few instructions, and never while a callback is called. */
typedef struct { atomic_flag guard; identity *by; long call; } lease;

typedef struct {                /* the run that a tape records */
    identity *writer;           /* and the number of its run */
    long stamp;
    int predict;                /* Newton's iteration started from the stages of the previous step */
    double t0, t1;
} origin;

/* What the bits of a step depend on apart from the contents of the tape: how linear systems are solved, and options. */
typedef struct {
    char solver[32];            /* the backend's name, "gmres", or "none" */
    uint64_t options;           /* a hash of the options */
    int iterative, exact;       /* without a matrix; Newton went to round-off (derivative_mode) */
} solved_by;

/* Who reads a tape, and how it recomputes steps. */
typedef struct reader {
    stepper *st;
    const identity *self;
    int back;                   /* steps are requested from last to first */
    /* computes the stages of step k from its state, into r->X and r->iterations, in a work space of the reader */
    int (*one)(const struct reader *, const costate_tape *, int k, record *r);
    /* recomputes steps from .. to - 1; the first is fresh and has this state, followed by y' for residuals.  The store
       says where each goes, and is informed of all fresh steps up to and including `to` */
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
                                   must not start from the stages of the previous step */
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
       told: it did so in the run that is read or replayed */
    int (*source)(const stepper *, costate_tape *, int j, const double *y, int told, int *goes_on);
    /* Recomputation has come to step k, which is fresh, with this state.  Sets yp of a residual if only the tape knows
       it.  Only for stores that recompute steps */
    int (*came_to)(const costate_tape *, const reader *, int k, const double *y, double *yp);
    /* The place where forward writes when step k is recomputed; y and yp of the record are in and out.  As came_to */
    int (*room)(const costate_tape *, const reader *, int k, const place *spare, record *, place *to);
    const double *(*slope)(const costate_tape *, int k);        /* y' of a residual, or NULL; NULL: it is in the list */
    size_t (*bytes)(const costate_tape *);              /* held outside the tape's blocks; NULL: 0 */
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

enum { CONSISTENT = -2, WENT_ON = -1 };                     /* kinds of maps other than events of the problem */

typedef struct {                /* a change of the state between steps, or the reason why a step ended */
    int before;                 /* the step after it; count: at the end */
    int event;                  /* event of the problem; CONSISTENT: values were made consistent; WENT_ON: a run was
                                   continued */
    int timed;                  /* at a given time; 0: where its guard is zero */
    int number;                 /* events before it on the tape */
    int from, to;               /* modes */
    double t;
    double slope, miss;         /* time derivative of the guard, approximately; error in the time of the event */
    double *y, *y1;             /* N: before (events only) and after */
    double *k;                  /* n: events of residuals: an approximation of y' before; else NULL */
    start_values f;             /* of CONSISTENT */
} mapped;

typedef struct {                /* a run at a fresh step, from which it can be continued */
    double t, t0, t1;           /* the time there; those of the call */
    int mode, begins;
    const double *y, *yp;       /* N; n, of a residual, or NULL */
    long source;                /* linearisation that remains in use, or 0 */
    const void *known, *more;   /* other data of the run, in whole words; when read: all after `known` */
    size_t bytes, more_bytes;
} fresh_run;

struct costate_tape {
    const costate_method *method;
    costate_problem problem;
    int usable, keep, matfree;  /* usable: holds a run or its first steps; matfree: numbers of iterations are for
                                   systems without a matrix */
    const store *store;
    void *own;                  /* data of the store */
    solved_by by;               /* how its steps were solved */
    origin from;
    int count, room;            /* steps; room in list */
    int keeps, kept_sets;       /* 1: factorisations are kept; their number, */
    size_t most_kept;           /* and most bytes; 0: no more are kept */
    size_t limit, bytes, kept_bytes;
    int most_states;            /* COSTATE_CHECKPOINTS: options.checkpoints; 0: as many as the limit allows */
    int length;                 /* most steps from one fresh step to the next; 0: the store decides */
    double *p, *end;            /* np; N: state at t1 */
    int mode;                   /* there */
    record *list;
    mapped *maps;
    int map_count, map_room, event_count;
    struct block { struct block *next; size_t size, used; } *first, *last;
    struct tape_file *file;     /* NULL: only in memory */
    uint64_t fresh_at, fresh_bytes;     /* offset and size of the last fresh state in it */
};

int tape_start(const stepper *, costate_tape *, const store *, const costate_problem *, const origin *);
int tape_slot(const stepper *, costate_tape *, const double *y, const place *spare, record *, place *to);
int tape_commit(const stepper *, costate_tape *, const record *);
/* records, before the next step or at the end: values made consistent, y1; an event, copied, with y and y1 */
int tape_map(const stepper *, costate_tape *, const start_values *, const double *y1);
int tape_event(const stepper *, costate_tape *, const mapped *);
size_t tape_event_bytes(const stepper *);                           /* size of its states, */
void tape_event_layout(const stepper *, mapped *, void *memory);    /* which are stored there */
/* Lack of memory for a factorisation: frees those of the tape, and keeps none from now on.  0: there were none. */
int tape_give_back(const stepper *, costate_tape *);
/* Step k, with its stages if they are requested, recomputed if they are not stored.  Factorisations count in the
   solver that made them, which may no longer exist. */
int tape_get(const costate_tape *, int k, const reader *, int stages, record *);
int tape_take(const stepper *, identity *, const costate_tape *);   /* a sweep begins: COSTATE_BAD_TAPE, or 0 */
void tape_leave(const costate_tape *);
void lease_end(lease *);
const double *tape_slope(const costate_tape *, int k);              /* y' of a residual at step k, or NULL */
size_t tape_most(const costate_tape *);                              /* 0: no limit */
int tape_is_fresh(const costate_tape *, int begins);                /* the next step */
/* may the linearisation `serial` remain in use there?  See store.source */
int tape_goes_on(const stepper *, costate_tape *, long serial, const double *y, int told, int *does);
size_t tape_held(const costate_tape *);                 /* bytes of lists, blocks, factorisations and store */
/* for stores: memory from the tape's blocks, within its limit */
void *tape_memory(const stepper *, costate_tape *, size_t need);
/* the run has ended at t, y, mode; COSTATE_IO: its file could not be completed */
int tape_end(const stepper *, costate_tape *, int complete, double t, const double *y, int mode);
int tape_direction(const costate_tape *);             /* direction of time: 1 or -1 */
int tape_first_map(const costate_tape *, int k);      /* index of the first map before step k or later */
const mapped *tape_last_event(const costate_tape *);  /* that ended its last step, or NULL */
int tape_fits(const stepper *, const costate_problem *, const costate_tape *);   /* 0 or COSTATE_BAD_TAPE */
/* The same, and would recomputed steps be those of the run?  Then tangents and adjoints over one tape, by any solvers,
   belong to the same steps.  Consecutive recomputed steps have the bits of the run, so that sweeps do not affect each
   other; stages recomputed from the state of a single step may differ by the round-off of a factorisation, or, if no
   derivatives are computed (sweeps 0), by the error that newton_tol allows. */
int tape_serves(const stepper *, const costate_problem *, const costate_tape *, int sweeps);
solved_by solved_by_of(const stepper *);
long tape_source(const costate_tape *, int k);  /* the earlier linearisation that step k was solved with, or 0 */
decisions tape_decisions(const costate_tape *, int k);              /* decisions of step k; valid as long as the tape */
void tape_clear(costate_tape *);
int tape_fresh(const stepper *, costate_tape *, const fresh_run *);     /* to the tape's file, if any */
/* Reads the run in the file, completely or up to its last fresh step, whose data are in *fresh and in *memory (to be
   freed by the caller).  who: the solver that continues it, unless it is complete; NULL: it is only read. */
int tape_load(const stepper *, costate_tape *, const costate_problem *, identity *who, fresh_run *fresh,
              void **memory, int *whole);
int tape_cut(const stepper *, costate_tape *);          /* cuts its file at the last fresh step, to continue there */

#endif
