/* solver.h - the solver, which owns the objects that the rooms below work on. */
#ifndef COSTATE_SOLVER_SOLVER_H
#define COSTATE_SOLVER_SOLVER_H

#include "base/arena.h"
#include "base/entry.h"
#include "base/larger.h"
#include "base/vec.h"
#include "linsol/left.h"
#include "ops/ops.h"
#include "ops/slopes.h"
#include "solver/pace.h"
#include "step/step.h"
#include "tape/tape.h"

enum { LAST_EVENTS = 10 };

typedef struct {
    double t0, t1, dir;         /* dir: 1 or -1 */
    double hmin, hmax, usual;   /* of |h|; usual: of a first step where y and f tell nothing, or 0 */
} interval;

typedef struct {                /* state of the step controllers */
    double log_old, h_old;
    double failed, converges;   /* |h| for which Newton's iteration failed last, or 0; that up to which it is thought to
                                   converge, HUGE_VAL: any */
    int rejected;
    law by;
} control;

typedef struct {                /* state at the end of the last run, for options.warm */
    int held;                   /* 0: there was no run, or it failed */
    int linear;                 /* the matrices and the previous step are kept, too */
    long stamp;                 /* of that run: a later run or sweep overwrites their memory */
    double t, dir, h, low;      /* h: magnitude of the next step */
    control k;
    record prev;
    double *y, *p, *yp;         /* N, np; n, for residuals */
} ending;

typedef struct {                /* the last try of this step that (13.26) rejected, for k columns; composite methods */
    double *part, *h;           /* N*k: the stiff part of its error; k: its |h|, 0: there is none */
} last_try;

typedef struct {                /* work space of runs */
    void *block;                /* NULL: costate_new failed */
    double *y, *y1, *err;       /* N: the state before and after the step; error estimate */
    double *corrected;          /* N: the result of problem.after_step; 2 N, work of relaxation; nothing without */
    double *yp, *yp1;           /* n: approximations of y', for residuals; else NULL */
    double *f, *z;              /* N: a slope, an intermediate state */
    last_try stiff;
    place scratch[2];           /* stages of this step and the previous one, without a tape */
    double *clock;              /* progress.c: 4 */
} workspace;

enum { PLACES_MOST = 8, SAMPLED = 11 + 2 * PLACES_MOST };       /* of a sweep: places where local errors are measured */

typedef struct {                /* work space of derivatives, for m columns */
    int columns, all;           /* all: with that of guards */
    void *block;
    double *dt, *dh;            /* m: t' and h' of a step; t' is carried through a run or sweep */
    double *t, *h;              /* m: adjoints of t and h of a step */
    double *V, *X;              /* N*m, s*m*n: tangents after the step and of its stages */
    double *U;                  /* s*m*n: adjoints of the stages */
    double *seed;               /* s*m*n: adjoint seeds of the stages; n*m: tangents at an observation */
    double *w, *sum;            /* n*m: adjoint seed of an observation; sum of them over a step */
    double *tau;                /* 3 m: adjoint of t; contributions of observations */
    double *sampled;            /* SAMPLED m: estimated errors of gradients (sweeps/sampled.c) */
    last_try stiff;             /* of m tangents */
    event_work events;          /* work space of events and memory variables */
} columns;

typedef struct {                /* work space of second order, for m directions, besides that of 1 + m columns */
    int columns;
    void *block;
    double *V, *Vp;             /* N*m: propagated tangents; np*m */
    double *lambda, *mu;        /* N*(1 + m), (np + nm)*(1 + m): adjoints and their derivatives */
    double *direct;             /* np*(1 + m): direct gradients with respect to p at t1 */
    double *at;                 /* n*m: tangents at an observation */
    double *dt1, *t1;           /* m, 1 + m: directions of t1, gradients with respect to t1 */
} seconds;

typedef struct {                /* options.gradient_control: tangents along random directions, behind m of the user */
    int count, room, with_p;    /* room: most m; with_p: directions of p, too */
    void *block;
    double *V, *Vb, *Vp;        /* N, N, np by m + count */
    double *atol;               /* N */
    double *t0, *t1;            /* m + count */
} random_tangents;

/* The guard of one event. */
typedef struct guarded {
    int sign;                   /* at the last evaluation; 0: it was zero at the start of the segment */
    int from_zero;              /* it was zero at the start of the segment and has not been evaluated since */
    int led;                    /* it was zero there, and a trial step has shown the sign that it takes */
    int fires;                  /* it is zero, to round-off, at the end of the step */
    int fired;                  /* -1, 1: direction in which it passed zero at the start of the segment; 0: it did not
                                   */
    double value, next, size;   /* at the last evaluation, and now; its largest modulus in this step */
    double last_change;         /* between the last two evaluations */
    double end, change;         /* at the end of the step; its change over the previous step */
    double looked;              /* theta of the last evaluation */
    int near;                   /* it is evaluated inside the step, too */
    double slope, miss;         /* where it fires: time derivative along the run; error of its time */
    double band;                /* its round-off at the start of the segment */
    double rest;                /* of a condition that rests at zero: what counts as zero where a segment begins */
    int open, probed, goes;     /* at_once.c: it may be zero there; it is zero, and takes this sign */
    int leaves;                 /* of a sign that is 0: the side to which its guard leaves zero */
    int lowered;                /* of a relation whose guard rests there: it has been given the value of zero */
    int way;                    /* direction in which it passed zero at this time, in any mode; 0: it did not */
    double drift;               /* of a relation along which the solution slides: how far it may be from zero */
    int holds;                  /* its sign: 1: that of a relation, whose value says on which side it is; 2: that of a
                                   condition, until it has left zero */
    int turned;                 /* its relation has changed at the start of the step from turned_at, or its event was
                                   applied there */
    double turned_at;
    int looked_before;          /* it was active in the mode before the last event */
} guarded;

/* Events of a run: values of the guards, and the events that were applied. */
typedef struct {
    int count, samples;         /* events; samples per step */
    guarded *guard, *before;            /* count each: now, and at the start of the step */
    int armed;                  /* 1: their signs are known; 0: a segment begins */
    int first;                  /* of the events that ended the step; -1: a given time */
    double *u, *at, *y, *y1, *jump;     /* n, n: states inside a step; N, N: before and after an event; N: work */
    double *was, *rate, rate_h; /* N: the state before all events at this time; n: its rate of change, over rate_h; 0:
                                   unknown */
    long taken;                 /* number of events applied in this run */
    int latest;                 /* the last of them */
    int done;                   /* the run continues after events that have been applied */
    double missed;              /* bound on the error in the time of those events */
    int at_once;                /* rounds of events at the same time so far */
    int open;                   /* a condition that is false at zero was zero at the end of the step, and is decided
                                   behind what happens there */
    int starts;                 /* not 0: guards are looked at that are zero at the start (run/watch.h) */
    int *values, *flips;        /* nrelations each: values that are being determined, how often each was flipped */
    int turns, turns_to;        /* the guard that leaves zero in this step, where it rested; its side then */
    long stamp;                 /* of the run that ended here: events at its end have not been applied */
    int still;                  /* number of consecutive events without progress in time */
    double patience;            /* events of one time may be apart by this times the round-off of time */
    double when[LAST_EVENTS];   /* times of the last ones, a ring buffer */
} watch;

typedef struct {                /* of a run whose steps are those of a tape, each split in two; tape NULL: there is
                                   none */
    const costate_tape *tape;
    int step, part, map, mine;  /* on the tape: the current step, its parts that were begun, the next map; and that of
                                   the run */
    double left, tried, asked;  /* what is left of this part, signed; most length of the next try; its length */
    int count, seen;            /* times at which steps end, too, and how many are over */
    const double *times;
    int *first;                 /* for each step of the tape: the number of the step that begins where it does; or
                                   NULL */
} halved_steps;

typedef struct { double t, size; } correction;      /* of a run, the largest by problem.after_step: where, in the error
                                                       norm */

typedef struct {                /* run/damping.c: of fast modes, by the steps of a run with a tape */
    double kept, z, sum;        /* product of |R| over the steps; largest h times rate, their sum */
    double fastest;             /* rate, by this linearisation */
    long serial;
} damping;

typedef struct {                /* events that fired together in a run that has derivatives: how often, two of them, and
                                   when; depends: the second has no time of its own */
    long count;
    int first, second, depends;
    double t;
} together;

typedef struct {                /* what a run may have to say at its end (status.c, run/damping.c, run/corrected.c) */
    damping damping;
    correction correction;
    together together;
    double beyond;              /* longest step in units of options.step_bound, where steps do not follow it */
    unsigned inside;            /* members (1 << k) inside whose steps on_step asked for values */
} run_remarks;

typedef struct { double f, factorisations, solutions; } effort;     /* each with its price in evaluations of f */

enum { RECENT = 5 };

/* rule.c: what the choice among the members of a composite method remembers */
typedef struct {
    long run;                   /* stamp of the run */
    int member, next;           /* of the last step, of the next one */
    int flagged, calm;          /* explicit: steps that stability seems to limit, since the last reset; steps in a row
                                   without a flag */
    int taken;                  /* steps since the last switch between explicit and stiff members */
    int cheaper;                /* stiff: steps in a row after which an explicit member would take less work */
    int eventful;               /* stiff: there was an event since the last switch */
    int fast;                   /* stiff: steps damped modes that explicit steps of their length could not follow */
    int since;                  /* stiff: steps since the order changed */
    double psi;                 /* stiff: contraction of Newton's iteration, a smoothed maximum */
    double h_old;               /* stiff: |h| of the step before; 0: there is none */
    long failures;              /* stiff: failures of Newton's iteration at the end of that step */
    effort done;                /* work so far.  Between runs both are relative to the counters (rule_kept) */
    double length[RECENT], price[RECENT];       /* of the last stiff steps */
    double lu, solve;           /* prices of a factorisation and of a solution, of a real matrix; 0: not known yet */
    double h;                   /* of the first step of the next member; 0: as proposed */
    double spent;               /* work since the last switch */
    double stiff, wait;         /* stabilised: work per unit of time of the stiff steps before, 0: there were none; work
                                   that is done before the number of stiff steps is guessed again */
    long rescued;               /* number of the step that a member of the other kind took after one had failed, or 0 */
} rule;

typedef struct {                /* what a member of a composite method works with, or the only method */
    shifts sh;
    costate_options o;          /* composite: those of the solver with its own tolerances and defaults */
    double *scaled;             /* composite: n, n: its rtol_vector and atol_vector, if they are given */
    void *block;                /* work space of steps */
    void *columns, *second;     /* work space of derivatives, for as many columns as c->d and c->second */
    int usable;                 /* this problem and these options allow it */
} member_work;

/* Who writes a field is named at its right; everybody may read it.  "set-up" is costate_new: fixed from then on. */
typedef struct {                /* what is done at the ends of runs beside what the options say */
    int open;                   /* 1: index-2 unknowns are not projected at the end */
    int checks_start;           /* 1: runs start consistently though nobody asked for it: a start that is far from that
                                   is a mistake */
} run_ends;

struct costate {
    costate_problem P;          /* a copy of the user's; set-up */
    costate_options o;          /* with all defaults; set-up, and options_scale for runs with other tolerances */
    costate_options given;      /* the same, but newton_tol as the user gave it; set-up */
    double *scaled;             /* n, n: rtol_vector and atol_vector times a factor, if they are given; options.c */
    costate_stats count;        /* whoever calls what is counted */
    verdict v;                  /* status and message; whoever fails */
    maps maps;                  /* set-up; bound to p, memory and step by runs and sweeps */
    stepper st;                 /* set-up; its current member by step/member.c */
    member_work *works;         /* of st.members; members.c */
    rule rule;                  /* choice/rule.c, effort.c; a run begins: run/integrate.c */
    int first[2];               /* explicit and stiff member for the tolerances of the run; -1: none; rule.c */
    interval in;                /* of the last run; run/aim.c, loop.c, known.c */
    long at;                    /* index of the step, also through continuations; run/integrate.c, loop.c, resume.c */
    identity *self;             /* tells tapes whether this solver still exists; set-up, calls.c */
    long stamp;                 /* number of runs and sweeps so far: stored data belong to the last; claim */
    ending ended;               /* run/warm.c; renew.c forgets it */
    starter start;              /* consistent values; allocated on first use */
    workspace work;             /* memory: set-up; numbers: runs and replays */
    columns d;                  /* memory: workspace.c, members.c; numbers: runs with tangents, sweeps */
    seconds second;             /* memory: workspace.c; numbers: sweeps/second.c */
    random_tangents random;     /* run/random_tangents.c */
    watch watch;                /* memory: workspace.c; numbers: files of run/watch.h, run/events.c, integrate.c */
    situations situations;      /* of runs without a tape */
    halved_steps halves;        /* run/halves.c */
    run_remarks remarks;        /* of the last run */
    event_slopes *slopes;       /* y' at events, or NULL; ops/slopes.c */
    costate_tape *own;          /* of costate_integrate_adj, which makes it */
    int whole;                  /* 0: costate_new failed; set-up */
    call_entry entry;           /* calls.c */
    run_ends ends;              /* set-up */
};

struct costate_step { costate *c; const record *r; };

void solver_free(costate *);
int begin(costate *);           /* at the start of each public call: is c usable?  no_error */
void claim(costate *);          /* a run or sweep begins and overwrites stored data */
void forget(costate *);         /* stored data are of another run */
/* The next step uses nothing of earlier ones except the linearisation `source`, if it is not 0. */
void fresh(costate *, long source);
void solver_renew(costate *);   /* renew.c: forgets all earlier runs */
/* Must values satisfy constraints, or a residual? */
static inline int constrained(const costate *c) { return c->maps.residual || c->st.sh->singular; }

#endif
