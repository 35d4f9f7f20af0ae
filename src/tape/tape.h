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

/* The beginning of everything that `own` of a tape points to: memory that only one sweep at a time may use. */
typedef struct {
    lease busy;
    size_t bytes;               /* of all memory that belongs to it */
    const struct owning *is;
} owned;

/* What kind of data it is.  Memory outlives a run: the next run of the same kind uses it again. */
typedef struct owning {
    size_t bytes;               /* of the struct that begins with `owned` */
    void (*empty)(const costate_tape *);        /* forgets the run, but keeps its memory */
    void (*clear)(const costate_tape *);        /* frees everything that it points to */
} owning;

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
    /* recomputes steps from .. to - 1; the first is fresh and has this state, followed by y' for residuals.  `room` of
       the retention says where each goes, and `came_to` is called at all fresh steps up to and including `to` */
    int (*all)(const struct reader *, const costate_tape *, int from, int to, const double *state);
    /* the step of NO_LENGTH, map k, with its stages if it has a length */
    int (*instant)(const struct reader *, const costate_tape *, int k, record *r);
    void *run;
} reader;

/* Where the bytes of a tape go, and which steps are kept, are chosen independently.

   Bytes go to the tape's memory, or to a medium (medium.h): a file, for example.  A tape on a medium is a sequence of
   frames (frames.h, journal.h), from which it can be read again and its run resumed.

   A retention determines what is kept: the stages of steps, or only their states, from which each step's stages are
   recomputed (stores.c), or only the states at some steps, from which all steps up to the next one are recomputed
   (checkpoints.c). */
typedef struct remaking remaking;

typedef struct {
    int number;                 /* in the head of a tape on a medium */
    int alone;                  /* 1: the stages of some steps are recomputed from only their state, so Newton's
                                   iteration must not start from the stages of the previous step */
    int (*stages)(const costate_tape *, int k);     /* 1: those of step k are kept; NULL: those of all steps */
    const remaking *remakes;    /* NULL: the state of each step is kept */
} retention;

/* Blocks of consecutive steps are recomputed from states; only decisions are kept of the steps themselves. */
struct remaking {
    int (*begin)(const stepper *, costate_tape *);      /* a run begins */
    /* The place where forward writes the next step, as tape_slot */
    int (*slot)(const stepper *, costate_tape *, const double *y, const place *spare, record *, place *to);
    int (*get)(const costate_tape *, int k, const reader *, record *);
    /* A fresh state was read from the medium: it is that of the next step */
    int (*read_fresh)(const stepper *, costate_tape *, const double *y, const double *yp);
    /* Keeps the state of step j, the first of the last block, at which a linearisation was computed, if that is
       possible: *does is 1.  y, with y' of a residual behind it; NULL: the state of the run.  told: it was possible in
       the run that is read or replayed */
    int (*keep_source)(const stepper *, costate_tape *, int j, const double *y, int told, int *does);
    /* Recomputation has come to step k, which is fresh, with this state.  Sets yp of a residual if only the tape knows
       it */
    int (*came_to)(const costate_tape *, const reader *, int k, const double *y, double *yp);
    /* The place where forward writes when step k is recomputed; y and yp of the record are in and out */
    int (*room)(const costate_tape *, const reader *, int k, const place *spare, record *, place *to);
    const double *(*slope)(const costate_tape *, int k);        /* y' of a residual, or NULL */
    void (*mend)(const costate_tape *);                 /* a sweep was abandoned: discards what it was writing */
    int (*give)(const costate_tape *);                  /* frees some memory; 0: there is none to free */
    int (*forecast)(const costate_tape *, int back, long *again);       /* steps that a sweep recomputes */
    size_t (*most)(const costate_tape *);               /* bytes that states and stages may take */
};

struct medium;

/* stores.c: for options.storage; for the number in the head of a tape, NULL: there is none */
const retention *retention_for(const costate_tape *, int storage);
const retention *retention_of_number(const costate_tape *, int number);
/* A tape on a medium, whose data it owns from now on; NULL: no memory.  kept: what it keeps, whatever options.storage;
   NULL: the options determine it */
costate_tape *tape_on(const struct medium *, void *own, const retention *kept);

/* kinds of maps other than events of the problem; CORRECTED is none of a tape's list */
enum { RELATED = -6, NO_LENGTH = -5, CORRECTED = -4, STARTED = -3, CONSISTENT = -2, WENT_ON = -1 };

typedef struct {                /* a change of the state between steps, or the reason why a step ended */
    int before;                 /* the step after it; count: at the end */
    int event;                  /* event of the problem; CONSISTENT: values were made consistent; WENT_ON: nothing
                                   changed, a run was continued or was at a stop; STARTED: problem.after_step.start was
                                   applied to initial values; NO_LENGTH: the step of length zero that ends in the event
                                   behind it; RELATED: values of relations were determined */
    int timed;                  /* at a given time; 0: where its guard is zero */
    int number;                 /* events before it on the tape */
    int from, to;               /* modes, or situations */
    double t;
    double slope, miss;         /* time derivative of the guard, approximately; error in the time of the event */
    double h, level;            /* of NO_LENGTH: 0, or what a replay made of it; the value of the guard, round-off */
    double *y, *y1;             /* N: before (not of CONSISTENT) and after */
    double *k;                  /* n: events of residuals: an approximation of y' before; else NULL */
    start_values f;             /* of CONSISTENT */
} mapped;

/* does it say only how a run came to its steps and events? */
static inline int is_aside(const mapped *e) { return e->event == NO_LENGTH || e->event == RELATED; }

/* is it an event, a stop, or a place where the run was continued? */
static inline int is_event(const mapped *e) { return e->event >= WENT_ON; }

typedef struct {                /* a run at a fresh step, from which it can be continued */
    double t, t0, t1;           /* the time there; those of the call */
    int mode, begins;
    const double *y, *yp;       /* N; n, of a residual, or NULL */
    long source;                /* linearisation that remains in use, or 0 */
    const void *known;          /* other data of the run, in whole words */
    size_t bytes;               /* of known; when read: of known and more together */
    struct { const void *at; size_t bytes; } more[4];   /* behind it */
} fresh_run;

struct costate_tape {
    const costate_method *method;
    costate_problem problem;
    int usable, keep, matfree;  /* usable: holds a run or its first steps; matfree: numbers of iterations are for
                                   systems without a matrix */
    const retention *kept, *fixed;      /* fixed: whatever options.storage; NULL: not fixed */
    void *own;                  /* begins with `owned`; NULL: any number of sweeps may use this tape */
    solved_by by;               /* how its steps were solved */
    origin from;
    int count, room;            /* steps; room in list */
    struct {
        int on, sets;           /* 1: factorisations are kept; their number */
        size_t most, bytes;     /* most bytes; 0: no more are kept */
        size_t machine;         /* memory of the machine; 0: not yet known */
    } factors;
    size_t limit, bytes;
    int most_states;            /* COSTATE_CHECKPOINTS: options.checkpoints; 0: as many as the limit allows */
    struct {
        int every;              /* most steps from one fresh step to the next; 0: no step needs to be fresh */
        int last;               /* the last that was accepted */
        int source;             /* step whose linearisation was last allowed to remain in use; -1: none */
        int begins;             /* the next step is the first of a run, or of one that was continued */
        double *yp;             /* n: y' of a residual there, in the tape's blocks; else NULL */
        uint64_t at, bytes;     /* on the medium: of the last fresh state */
    } fresh;
    double *p, *end;            /* np; N: state at t1; in `ends`, or NULL: the tape was cleared */
    struct { double *at; size_t room; } ends;
    int mode;                   /* there */
    record *list;
    struct { mapped *list; int count, room, events; } maps;
    situations situations;      /* what modes of steps and maps mean, where the problem has relations */
    struct block { struct block *next; size_t size, used; } *first, *last;
    struct frames *frames;      /* NULL: only in memory */
};

/* the user's mode of a situation */
static inline int tape_mode(const costate_tape *t, int number)
{
    return t->situations.count > 0 ? t->situations.list[number]->mode : number;
}
int tape_start(const stepper *, costate_tape *, const retention *, const costate_problem *, const origin *);
/* Provides memory for the next step: the record with its state y (and yp, which the record has), and the place where
   forward writes.  spare: memory for what is not kept */
int tape_slot(const stepper *, costate_tape *, const double *y, const place *spare, record *, place *to);
int tape_commit(const stepper *, costate_tape *, const record *);       /* the step was accepted */
int tape_has_stages(const costate_tape *, int k);                   /* of step k */
/* records, before the next step or at the end: values made consistent, y1; an event, copied, with y and y1 */
int tape_map(const stepper *, costate_tape *, const start_values *, const double *y1);
int tape_event(const stepper *, costate_tape *, const mapped *);
size_t tape_event_bytes(const stepper *);                           /* bytes of its states */
void tape_event_layout(const stepper *, mapped *, void *memory);    /* places the states of an event in memory */
/* There is no memory for a factorisation: frees those of the tape, and keeps none from now on.  0: there were none. */
int tape_give_back(const stepper *, costate_tape *);
/* Step k, with its stages if they are requested, recomputed if they are not stored; the reader's stepper has its member
   at hand.  Factorisations count in the solver that made them, which may no longer exist. */
int tape_get(const costate_tape *, int k, const reader *, int stages, record *);
int tape_take(const stepper *, identity *, const costate_tape *);   /* a sweep begins: COSTATE_BAD_TAPE, or 0 */
void tape_leave(const costate_tape *);
int lease_take(lease *, identity *who, int *abandoned);             /* 0: another has it */
void lease_end(lease *);
const double *tape_slope(const costate_tape *, int k);              /* y' of a residual at step k, or NULL */
size_t tape_most(const costate_tape *);                              /* 0: no limit */
/* Must the next step be fresh?  begins: it is the first of a run, or of one that was continued */
int tape_is_fresh(costate_tape *, int begins);
/* May the next step, which is fresh, use the linearisation `serial`?  It may if the state at which it was computed is
   on the tape.  y, told: see keep_source */
int tape_goes_on(const stepper *, costate_tape *, long serial, const double *y, int told, int *does);
size_t tape_base(const costate_tape *);                 /* bytes of lists, blocks, and the frame that was read last */
size_t tape_held(const costate_tape *);                 /* bytes of all its memory */
/* t->own of this kind: that of an earlier run, emptied, or zeros; NULL: no memory */
void *tape_own(costate_tape *, const owning *);
void tape_disown(costate_tape *);                       /* frees t->own */
/* memory from the tape's blocks, within its limit; NULL: there is none */
void *tape_memory(const stepper *, costate_tape *, size_t need);
/* the run has ended at t, y, mode; COSTATE_IO: its medium could not be completed */
int tape_end(const stepper *, costate_tape *, int complete, double t, const double *y, int mode);
unsigned tape_members(const costate_tape *);          /* bit k: member k took a step */
int tape_direction(const costate_tape *);             /* direction of time: 1 or -1 */
/* is map k an event that a step of length zero precedes? */
static inline int tape_has_instant(const costate_tape *t, int k)
{
    const mapped *e = t->maps.list + k;
    return k > 0 && k < t->maps.count && e->event >= 0 && e[-1].event == NO_LENGTH && e[-1].before == e->before;
}
int tape_first_map(const costate_tape *, int k);      /* index of the first map before step k or later */
/* how many of `count` entries have a number of k or less; the numbers, which do not decrease, are `at` bytes behind the
   beginning of each entry of `size` bytes */
int count_up_to(int k, const void *list, size_t at, size_t size, int count);
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
int tape_is_valid(const costate_tape *);        /* valid.c: an invariant of a tape that is not being written */
int tape_fresh(const stepper *, costate_tape *, const fresh_run *);     /* to the tape's medium, if any */
/* Reads the run on the medium, completely or up to its last fresh step, whose data are in *fresh and in *memory (to be
   freed by the caller).  who: the solver that continues it, unless it is complete; NULL: it is only read. */
int tape_load(const stepper *, costate_tape *, const costate_problem *, identity *who, fresh_run *fresh,
              void **memory, int *whole);
int tape_cut(const stepper *, costate_tape *);          /* at the last fresh step, to continue there */

#endif
