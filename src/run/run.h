/* run.h - the public solver: it decides about steps, and holds what the rooms below are lent.  Nobody below sees it. */
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
#include "step/step.h"
#include "tape/tape.h"

enum { LAST_EVENTS = 10 };

typedef struct { double t0, t1, dir, hmin, hmax; } interval;           /* dir: 1 or -1; hmin, hmax: of |h| */

typedef struct { double err_old, h_old; int rejected, k; } control;    /* what controllers remember; k: of err ~ h^k */

typedef struct {                /* where the last run ended, for options.warm */
    int held;                   /* 0: there was none, or it failed */
    int linear;                 /* the matrices, and the step before, are kept, too */
    long stamp;                 /* of that run: another run or sweep uses their memory */
    double t, dir, h, low;      /* h: the step to try next, unsigned */
    control k;
    record prev;
    double *y, *p, *yp;         /* N, np; n, of a residual */
} ending;

typedef struct {                /* work space of runs */
    void *block;                /* NULL: costate_new failed */
    double *y, *y1, *err;       /* N: the state, after the step, error estimate */
    double *yp, *yp1;           /* n: about y', of a residual; else NULL */
    double *f, *z;              /* N: a slope, a state on the way */
    place scratch[2];           /* stages of the step and of the one before, without a tape */
    double *clock;              /* progress.c: 4 */
} workspace;

typedef struct {                /* work space of derivatives, for so many columns */
    int columns;
    void *block;
    double *dt, *dh;            /* m: t' and h' of a step; t' goes on through a run or sweep */
    double *t, *h;              /* m: adjoints of t and h of a step */
    double *V, *X;              /* N*m, s*m*n: tangents after the step, of its stages */
    double *U;                  /* s*m*n: adjoints of the stages */
    double *seed;               /* s*m*n: adjoint seeds of the stages; n*m: tangents at an observation */
    double *w, *sum;            /* n*m: weights of an observation, their sum over a step */
    double *tau;                /* 3 m: adjoint of t; corrections by observations */
    event_work events;          /* and of memory */
} columns;

typedef struct {                /* work space of second order, for so many directions: beside that of one column more */
    int columns;
    void *block;
    double *V, *Vp;             /* N*m: tangents on their way; np*m */
    double *lambda, *mu;        /* N*(1 + m), (np + nm)*(1 + m): the functional, its derivatives */
    double *direct;             /* np*(1 + m): by p, what the end values say */
    double *at;                 /* n*m: tangents at an observation */
    double *dt1, *t1;           /* m, 1 + m: directions of t1, gradients by it */
} seconds;

/* Events of a run: guards as they were looked at last (watch.h), and what was taken. */
typedef struct {
    int count, samples;         /* of events; of looks a step */
    struct guarded *guard, *before;     /* count each: guards, and as they were at the start of the step */
    int armed;                  /* their signs are known; 0: a segment begins */
    int first;                  /* that ended the step, or -1: a given time */
    double *u, *at, *y, *y1, *jump;     /* n, n: states in a step; N, N: before and after an event; N: work */
    double *was, *rate, rate_h; /* N: the state before all events here; n: how it changed, in this h; 0: not known */
    long taken;                 /* in this run; */
    int done;                   /* a run goes on from events: what is due there was taken */
    double missed;              /* by how much time those here were missed, at most */
    int at_once;                /* events that follow others at the same time are taken, for the so many-th time */
    long stamp;                 /* of the run that ended here: guards that fire at its end are still to be taken */
    int still;                  /* of them in a row, without time passing; */
    double when[LAST_EVENTS];   /* the times of the last, in turn */
} watch;

struct costate {
    costate_problem P;
    costate_options o;
    costate_stats count;
    verdict v;
    maps maps;
    shifts sh;
    stepper st;
    interval in;                /* of the last run */
    long at;                    /* index of the step: of calls that go on warm, all together */
    identity *self;
    long stamp;                 /* runs and sweeps so far: what is held belongs to the last */
    ending ended;
    starter start;              /* consistent values; its memory is there when they are asked for */
    workspace work;
    columns d;
    seconds second;
    watch watch;
    event_slopes *slopes;       /* y' at events, or NULL */
    costate_tape *own;          /* of costate_integrate_adj */
    int whole;                  /* 0: costate_new failed */
    call_entry entry;
    int open_end;               /* unknowns of index 2 end as the last step leaves them, and nobody said so */
};

struct costate_step { const costate *c; const record *r; };

static inline const store *storage_of(const costate_options *o, const costate_tape *t)
{
    return store_for(o->storage, t->file != NULL);
}

void solver_free(costate *);
int begin(costate *);                                               /* each public call: c usable? no_error */
void no_error(costate *);                                           /* with hints, where there are some */
void remark(costate *, int status);                                 /* the family's, behind the sentence of a failure */
void claim(costate *);                                              /* a run or sweep begins: it uses what is held */
void forget(costate *);                                             /* what is held belongs to another run */
void solver_renew(costate *);                                       /* renew.c: no earlier run is known */

/* workspace.c */
int workspace_prepare(costate *);
void workspace_step(workspace *);                                   /* y <- y1; y1 may be written */
int columns_prepare(costate *, int m);                              /* and one more, where guards end steps */
int seconds_prepare(costate *, int m);                              /* columns of m + 1, and what second needs */
/* np + nm to a column, of parameters given as np to a column (NULL: zero); these themselves where there is no memory */
double *pm_begin(costate *, int m, const double *of_p);
int guards(const costate *);                                        /* how many events have one */
int watch_prepare(costate *);                                       /* c->watch of a new solver */
int starter_ready(costate *);                                       /* c->start; allocates once */

/* kept.c: the tangents of a sweep forward, for one back: all, or those of so many steps, made again from where they
   were kept */
typedef struct {
    const costate_tape *tape;
    int m, length;              /* directions; steps of a segment */
    int from;                   /* the segment that is there begins here */
    size_t step, map, start;    /* doubles of each */
    double *steps, *maps, *starts;
} kept_tangents;
int kept_new(costate *, const costate_tape *, int m, kept_tangents *);       /* COSTATE_TAPE_LIMIT, COSTATE_NO_MEMORY */
void kept_free(kept_tangents *);
int kept_forward(costate *, kept_tangents *, sweep_state *);        /* through the tape: w->V, w->dt of its end */
int kept_segment(costate *, kept_tangents *, sweep_state *, int from);  /* again, for a sweep back through it */
tangents kept_of(const costate *, const kept_tangents *, const op *);

/* arguments.c */
int check_vector(costate *, const char *name, const double *x, size_t count);  /* there and finite */
int check_arguments(costate *, double t0, double t1, const double *y, const double *p);
int maps_available(costate *, enum mode, int with_p, int with_t);   /* may this mode run?  0, or COSTATE_MISSING */
int timed_sweep(const costate *, const costate_times *);            /* are derivatives by t and h wanted? */
void times_begin(const costate_times *, int m, double *dt);         /* t' of t0 */
int check_no_events(costate *, const costate_times *);              /* of a run, whose events are not known yet */
int tangent_begin(costate *, int m, const double *V, const double *Vp, const costate_times *);
int adjoint_begin(costate *, int m, const double *lambda, const double *mu, const costate_times *);

/* options.c */
int options_fill(costate *);
void options_newton(costate *);     /* newton_tol, which follows the tolerances */

/* control.c */
int error_exponent(const costate_method *);                         /* k: order of the error that is judged, plus 1 */
double next_factor(const stepper *, const control *, int newton, double err, double h);
/* yp: y' of a residual, else NULL; f, z, f1: n each, work */
int first_step(stepper *, const interval *, const double *y, const double *yp, double *f, double *z, double *f1,
               double *h);

/* consistent.c */
int consistent(costate *, double t, double span);                   /* work.y at the start: COSTATE_INCONSISTENT? */
int residual_start(costate *, double t, double span);               /* the same, of a residual, and work.yp */

/* start.c */
int make_consistent(costate *, double t, int only_values);          /* work.y, work.yp, which is the guess of y', too;
                                                                       how, in c->start.mine */

/* second.c: what is given is sound: directions, at least so many; where their derivatives go, and what of */
int second_directions(costate *, const costate_second *, int least);
int second_derivatives(costate *, const costate_second *);

/* remake.c */
/* The next step uses nothing of those before, but the linearisation of that name, if it is not 0. */
void fresh(costate *, long source);
void fresh_as_taped(costate *, const costate_tape *, int k);
reader reader_of(costate *, int back);
/* Step k as it was taken, from now->y at now->t with now->h; to c->work.y1.  as_often: Newton's iteration, or to
   round-off where the steps are differentiated by differences */
int step_as_taped(costate *, const costate_tape *, int k, int as_often, const record *before, const place *to,
                  record *now);

/* sweep.c: over the operations of a tape */
typedef struct { int (*row)(void *ctx, sweep_state *, op); void *ctx; } visit;
int tangent_of(void *none, sweep_state *, op);                      /* the rows of the operations */
int adjoint_of(void *none, sweep_state *, op);
/* of steps from .. to - 1, with the maps before each, at the end of the tape those there, and their observations */
int sweep_forward(sweep_state *, int from, int to, const visit *);
int sweep_backward(sweep_state *, int from, int to, const visit *);
sweep_state sweep_of(costate *, const costate_tape *, const reader *, int m, const costate_times *,
               const costate_observations *);
int check_observations(costate *, const costate_tape *, const costate_observations *, enum mode);
int total_times(const costate *, const costate_times *, int m);     /* over all processes */
int tape_begin(costate *, const costate_tape *);                    /* it fits, its parameters are bound, it is taken */
op step_of(const costate_tape *, int k, int next);                  /* next: the first map after step k, if any */
int step_of_tape(costate *, const costate_tape *, int k, record *r); /* with its stages */

#endif
