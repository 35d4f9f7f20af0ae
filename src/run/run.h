/* run.h - the public solver, which owns the objects that the layers below work on.  No layer below includes this file.
   */
#ifndef COSTATE_RUN_H
#define COSTATE_RUN_H

#include "base/arena.h"
#include "base/entry.h"
#include "base/larger.h"
#include "base/vec.h"
#include "linsol/left.h"
#include "ops/ops.h"
#include "ops/slopes.h"
#include "run/calls.h"
#include "run/pace.h"
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

typedef struct {                /* work space of runs */
    void *block;                /* NULL: costate_new failed */
    double *y, *y1, *err;       /* N: the state before and after the step; error estimate */
    double *corrected;          /* N: the result of problem.after_step; 2 N, work of relaxation; nothing without */
    double *yp, *yp1;           /* n: approximations of y', for residuals; else NULL */
    double *f, *z;              /* N: a slope, an intermediate state */
    place scratch[2];           /* stages of this step and the previous one, without a tape */
    double *clock;              /* progress.c: 4 */
} workspace;

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
    double *atol, *yp;          /* N; n: work */
    double *t0, *t1;            /* m + count */
} random_tangents;

/* Events of a run: values of the guards (watch.h), and the events that were applied. */
typedef struct {
    int count, samples;         /* events; samples per step */
    struct guarded *guard, *before;     /* count each: now, and at the start of the step */
    int armed;                  /* 1: their signs are known; 0: a segment begins */
    int first;                  /* of the events that ended the step; -1: a given time */
    double *u, *at, *y, *y1, *jump;     /* n, n: states inside a step; N, N: before and after an event; N: work */
    double *was, *rate, rate_h; /* N: the state before all events at this time; n: its rate of change, over rate_h; 0:
                                   unknown */
    long taken;                 /* events applied in this run; */
    int done;                   /* a run continues from events, which have been applied */
    double missed;              /* bound on the error in the time of those events */
    int at_once;                /* rounds of events at the same time so far */
    long stamp;                 /* of the run that ended here: events at its end have not been applied */
    int still;                  /* consecutive events without progress in time; */
    double patience;            /* events of one time may be apart by this times the round-off of time */
    double when[LAST_EVENTS];   /* times of the last ones, a ring buffer */
} watch;

typedef struct {                /* of a run whose steps are those of a tape, each split in two; tape NULL: there is
                                   none */
    const costate_tape *tape;
    int step, part, map;        /* on the tape: the current step, its parts that were begun, the next map */
    double left, tried, asked;  /* what is left of this part, signed; most length of the next try; its length */
    int count, seen;            /* times at which steps end, too, and how many are over */
    const double *times;
    int *first;                 /* for each step of the tape: the number of the step that begins where it does; or
                                   NULL */
} halved_steps;

typedef struct { double t, size; } correction;      /* of a run, the largest by problem.after_step: where, in the error
                                                       norm */

typedef struct {                /* damping.c: of fast modes, by the steps of a run with a tape */
    double kept, z, sum;        /* product of |R| over the steps; largest h times rate, their sum */
    double fastest;             /* rate, by this linearisation */
    long serial;
} damping;

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
    int eventful;               /* stiff: there was an event since the last switch; */
    int fast;                   /* and steps have damped modes that explicit ones of their length could not follow */
    int since;                  /* stiff: steps since the order changed; */
    double psi, h_old;          /* contraction of Newton's iteration, damped; h of the step before; */
    long failures;              /* and failures of Newton's iteration up to there */
    effort done;                /* so far; both between runs relative to the counters, which costate_reset_stats and
                                   sweeps change */
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
    void *block;                /* work space of steps, */
    void *columns, *second;     /* and of derivatives, for as many columns as c->d and c->second */
    int usable;                 /* this problem and these options allow it */
} member_work;

struct costate {
    costate_problem P;
    costate_options o, given;   /* given: with defaults of tolerances, but newton_tol as the user gave it */
    double *scaled;             /* n, n: rtol_vector and atol_vector times a factor, if they are given */
    costate_stats count;
    verdict v;
    maps maps;
    stepper st;
    member_work *works;         /* of st.members */
    rule rule;
    int first[2];               /* explicit and stiff member for the tolerances of the run; -1: none is usable */
    interval in;                /* of the last run */
    long at;                    /* index of the step, counted through warm continuations */
    identity *self;
    long stamp;                 /* number of runs and sweeps so far; stored data belong to the last */
    ending ended;
    starter start;              /* consistent values; allocated on first use */
    workspace work;
    columns d;
    seconds second;
    random_tangents random;
    watch watch;
    halved_steps halves;
    damping damping;
    correction correction;
    double beyond;              /* longest step of a run in units of options.step_bound, where steps do not follow it */
    event_slopes *slopes;       /* y' at events, or NULL */
    costate_tape *own;          /* of costate_integrate_adj */
    int whole;                  /* 0: costate_new failed */
    call_entry entry;
    int open_end;               /* index-2 unknowns are not projected at the end, and the user has not been told */
};

struct costate_step { const costate *c; const record *r; };

void solver_free(costate *);
int begin(costate *);                                               /* at the start of each public call: is c usable?
                                                                       no_error */
void bound_remark(costate *);           /* steps were longer than options.step_bound */
void no_error(costate *);                                           /* adds hints, if there are any */
void correction_remark(costate *);      /* problem.after_step changed more than the tolerances allow */
void remark(costate *, int status);                                 /* appends the family's remark to the message of a
                                                                       failure */
void claim(costate *);                                              /* a run or sweep begins and overwrites stored data
                                                                       */
void forget(costate *);                                             /* stored data are of another run */
void solver_renew(costate *);                                       /* renew.c: forgets all earlier runs */

/* members.c */
static inline costate_options *member_options(costate *c, int k) { return c->st.method->of ? &c->works[k].o : &c->o; }
int members_new(costate *, const costate_method *);                 /* allocates; nothing is prepared */
int members_choose(costate *);      /* which of them this problem allows; a status if none */
int member_prepare(stepper *, int k);                               /* of the member at hand: stepper.prepare */
int member_begins(const costate *); /* the one that a run begins with; -1: none is usable */
int members_begin(costate *);       /* prepares it */
/* the explicit or the stiff one for these tolerances; -1: none is usable */
int member_first(const costate *, int stiff);
int member_stabilised(const costate *);     /* the stabilised one, or -1 */
int members_columns(costate *, int all);    /* work space of so many columns, of all that are ready; frees what was */
int members_second(costate *, int m);
void members_sweep(costate *);      /* a sweep begins, of tangents or adjoints */
void members_left_sweep(costate *); /* the errors of its inexact solutions are zero, */
shifts *members_left(costate *);    /* and who has them at its end */
void members_free(costate *);

/* workspace.c */
int workspace_prepare(costate *);
void workspace_step(workspace *);                                   /* y <- y1; y1 may be overwritten */
int columns_prepare(costate *, int m);                              /* one more if there are guards */
int seconds_prepare(costate *, int m);                              /* work space of 1 + m columns, and of second order
                                                                       */
/* columns of np + nm values from columns of np (NULL: zero); `of_p` itself if there are no memory variables */
double *pm_begin(costate *, int m, const double *of_p);
static inline int guards(const costate *c)                          /* number of events with a guard */
{
    int count = 0;
    for (int k = 0; k < c->P.nevents; k++) count += c->P.event[k].guard.value != NULL;
    return count;
}
int watch_prepare(costate *);                                       /* initialises c->watch */
int starter_ready(costate *);                                       /* c->start; allocates on first use */

/* halves.c: runs take the steps of the tape, each split in two, and end steps at these times, too; first:
   costate_tape_steps numbers, or NULL.  At the end, COSTATE_ACCURACY if other events occurred than on the tape */
void halves_of(costate *, const costate_tape *, int count, const double *times, int *first);
int halves_ended(costate *, const costate_tape *onto);

/* kept.c: tangents of a forward sweep, stored for the backward sweep: all of them, or one segment at a time, recomputed
   from the tangents at its start */
typedef struct {
    const costate_tape *tape;
    int m, length;              /* directions; steps of a segment */
    int from;                   /* first step of the segment in memory */
    size_t step, map, start;    /* doubles per entry */
    double *steps, *maps, *starts;
} kept_tangents;
int kept_new(costate *, const costate_tape *, int m, kept_tangents *);       /* COSTATE_TAPE_LIMIT, COSTATE_NO_MEMORY */
void kept_free(kept_tangents *);
int kept_forward(costate *, kept_tangents *, sweep_state *);        /* through the whole tape; leaves w->V, w->dt at its
                                                                       end */
int kept_segment(costate *, kept_tangents *, sweep_state *, int from);  /* recomputes a segment for the backward sweep
                                                                           */
tangents kept_of(const costate *, const kept_tangents *, const op *);

/* arguments.c */
int check_vector(costate *, const char *name, const double *x, size_t count);  /* not NULL and finite */
int check_arguments(costate *, double t0, double t1, const double *y, const double *p);
/* 0, or COSTATE_MISSING if this mode lacks a product: over the tape, or NULL: in any run */
int maps_available(costate *, const costate_tape *, enum mode, int with_p, int with_t);
int timed_sweep(const costate *, const costate_times *);            /* are derivatives with respect to t and h needed?
                                                                       */
void times_begin(const costate_times *, int m, double *dt);         /* t' of t0 */
int check_no_events(costate *, const costate_times *);              /* for runs whose events are not known yet */
int tangent_begin(costate *, const costate_tape *, int m, const double *V, const double *Vp,
                  const costate_times *);
int adjoint_begin(costate *, const costate_tape *, int m, const double *lambda, const double *mu,
                  const costate_times *);

/* refuse.c: may the member at hand be used? */
int refuse_method(costate *);
int refuse_singular(costate *);     /* when it is prepared: M is known */

/* options.c */
int options_fill(costate *);
static inline int samples_for(const costate_method *m) { return m->order > 4 ? m->order : 4; }    /* event_samples */
/* newton_tol of the member at hand, from its tolerances */
void options_newton(costate *, costate_options *);
void options_of_member(costate *, int k);   /* of a composite method: from those of the solver */
costate_options options_unwatched(const costate *);  /* of another solver: without callbacks that watch */
double options_rtol(const costate_options *, int n);        /* the smallest that is not 0; 0: all are */
double newton_round_off(double rtol);       /* a newton_tol below this cannot be reached */
void options_scale(costate *, double factor);       /* tolerances: those given, times a factor */

/* control.c */
int error_exponent(const costate_method *);                         /* k: err ~ h^k */
law law_of(const stepper *);
control control_of(const stepper *);        /* when a run begins, or another member takes over */
double next_factor(const stepper *, const control *, int newton, double err, double h);
/* yp: y' for residuals, else NULL; f, z, f1: n each, work */
int first_step(stepper *, interval *, const double *y, const double *yp, double *f, double *z, double *f1,
               double *h);

/* consistent.c */
int consistent(costate *, double t, double span);                   /* checks work.y at the start: 0 or
                                                                       COSTATE_INCONSISTENT */
int tangents_along_constraints(costate *, double t, double span, int m, double *V, const double *Vp);
int residual_start(costate *, double t, double span);               /* the same for residuals; computes work.yp */

/* start.c */
int make_consistent(costate *, double t, int only_values);          /* work.y, work.yp, which is the guess of y', too;
                                                                       how, in c->start.mine */

/* second.c: checks the arguments: at least `least` directions, and a result for each */
int second_directions(costate *, const costate_second *, int least);
int second_derivatives(costate *, const costate_second *);

/* remake.c */
/* The next step uses nothing of earlier ones except the linearisation `source`, if it is not 0. */
void fresh(costate *, long source);
/* the matrices of the linearisation `source`, factored for h */
int matrices_again(const reader *, const costate_tape *, long source, double h);
int fresh_as_taped(costate *, const costate_tape *, int k);
reader reader_of(costate *, int back);
/* Repeats step k from now->y at now->t with now->h, into c->work.y1.  as_often: with the same number of Newton
   iterations; 0: to round-off, for differences of steps */
int step_as_taped(costate *, const costate_tape *, int k, int as_often, const record *before, const place *to,
                  record *now);

/* list.c */
int lies_in(const costate_tape *, int k, double t);     /* an observation belongs to the last step that starts before it
                                                           or at its time */
op step_of(const costate_tape *, int k, int next);                  /* next: the first map after step k, if any */

/* sweep.c: sweeps over the operations of a tape */
typedef struct { int (*row)(void *ctx, sweep_state *, op); void *ctx; } visit;
int tangent_of(void *none, sweep_state *, op);                      /* tangent-linear maps of the operations */
int adjoint_of(void *none, sweep_state *, op);
/* steps from .. to - 1 with the maps before each (at the end of the tape, also those after the last step) and their
   observations */
int sweep_forward(sweep_state *, int from, int to, const visit *);
int sweep_backward(sweep_state *, int from, int to, const visit *);
/* lambda, mu, times <- the gradients before the tape, on which a sweep has begun (tape_begin); after: called for each
   step, with those before it, or NULL */
int adjoint_sweep(costate *, const costate_tape *, int m, double *lambda, double *mu, const costate_times *,
                  const costate_observations *, const visit *after);
sweep_state sweep_of(costate *, const costate_tape *, const reader *, int m, const costate_times *,
               const costate_observations *);
int check_observations(costate *, const costate_tape *, const costate_observations *, enum mode);
int total_times(const costate *, const costate_times *, int m);     /* sums over all processes */
int tape_begin(costate *, const costate_tape *);                    /* checks that the tape fits, binds its parameters
                                                                       */
int step_of_tape(costate *, const costate_tape *, int k, record *r); /* with its stages */

#endif
