/* ops.h - a run as a list of operations on the running state, and how each kind of them is differentiated (mathematics,
   section 10).

       STEP     one step of the tape; its h is frozen, or fixed by a time that is given or by an event
       CORRECT  problem.after_step, at the end of a step
       MAP      an event's jump and cost, or values made consistent
       INSTANT  a step of length zero, which is fixed by the event behind it
       OBSERVE  adds a term at a time inside a step to each functional

   Second order is the adjoint of a jet (step.h) along directions whose tangents were kept (sweeps/second.c).
   Observations use the dense output of their step: in a forward sweep they follow it, in a backward sweep they precede
   it. A sweep is a loop over the list (sweeps/sweep.c); a new kind of operation is a new row of rules. */
#ifndef COSTATE_OPS_H
#define COSTATE_OPS_H

#include "tape/tape.h"

enum kind { STEP, CORRECT, MAP, OBSERVE, INSTANT };
/* how the h of a step is determined: it is constant; t1 - t; T - t with a given time T; by a guard that is zero at its
   end */
enum rule { FROZEN, TO_END, TO_TIME, TO_EVENT };

typedef struct {
    enum kind kind;
    int step, which;            /* of a map: the step after it; of a correction: before it; which: map, observation; of
                                   a step and an instant what fixed h; -1: a time that is none of an event's */
    enum rule rule;             /* of steps and instants */
} op;

/* Work space of instants: n values each, unless it says otherwise */
typedef struct {
    double *rate, *moved_rate;  /* nq */
    double *k, *V, *before, *by_y;
    double *both, *mu, *by_pm;  /* 2 n; 2 (np + nm); np + nm */
} instant_work;

/* Work space of events for m columns.  The h of a step that ends at an event is one additional column. */
typedef struct {
    double *V, *lambda;         /* N*(m + 1): tangents before the step; adjoints, or tangents after it */
    double *pm, *dpm;           /* (np + nm)*(m + 1): of the columns, and of a step to an event */
    double *one;                /* 3 (m + 1): t, h and defects of a step to an event */
    double *jump;               /* n + nm */
    double *after;              /* n + nm: of a jet: the functional's adjoint of (y, m) after a jump */
    double *relaxed;            /* 4 N: of relaxation; nothing without it */
    double *carried;            /* N*(m + 1): gradient that relaxation adds to y after the adjoint of the step */
    double *parts;              /* m + 1: derivatives of the relaxed part of the step */
    instant_work instant;
    starter *start;             /* for instants: its `mine` is theirs */
} event_work;

/* Tangents of a forward sweep, for a jet.  Of a step: at its start, V1 at its end if there is an event or a correction,
   and of its stages.  Of a map or correction: before it; of relaxation those of its step. */
typedef struct { double *V, *V1, *Xd, *dt, *dh; } tangents;     /* N*m, N*m, s*m*n, m, m */

/* The state of a sweep over the operations of a tape, which the operations read and update.

   Forward it carries m tangents, d, whose V is that of the state before the next operation.  Backward it carries m
   functionals, g, whose lambda, mu and tau are the derivatives with respect to the state, the parameters and the time
   after the next operation.  For second order g is a jet of 1 + m columns (step.h), and d are the tangents of each
   operation that a forward sweep stored. */
typedef struct {
    /* what is swept over */
    stepper *st;
    starter *start;
    const costate_tape *tape;
    const reader *who;          /* reads the tape, and repeats its steps */
    const costate_times *times;
    const costate_observations *seen;
    /* the step of the operation */
    record now;                 /* with its stages */
    int held;                   /* its index; -1: none */
    /* tangents */
    directions d;
    double *dt, *dh;            /* m: d.dt, d.dh */
    double *V;                  /* N*m: d.V, updated when the next step begins or the sweep ends */
    int moved;                  /* d.V1 has not been copied to d.V yet, nor h' added to t' */
    tangents along;             /* of a jet: those of the operation */
    double *at;                 /* n*m: of a jet: at an observation */
    /* functionals */
    functionals g;
    double *tau;                /* m: adjoint of t after the step */
    double *tau_seen, *eta_seen;    /* m: derivatives with respect to t and h of the step, from its observations */
    double *seeds, *sum;        /* s*m*n, n*m: contributions of its observations to its stages and to lambda */
    int any;                    /* 1: they hold something */
    int carries;                /* 1: events.carried does */
    /* work space */
    double *f, *z, *w;          /* n, N, n*m */
    event_work events;
} sweep_state;

/* An operation forward, of all tangents; and backward, of functionals or a jet. */
typedef struct {
    int (*tangent)(sweep_state *, const op *);
    int (*adjoint)(sweep_state *, const op *);
} op_rules;

extern const op_rules step_rules, correct_rules, map_rules, observe_rules;

/* shared.c */
int sweep_hold(sweep_state *, int step);        /* the record of the step into now, with weights at its start */
void sweep_move(sweep_state *);                 /* V <- V1, t' += h' of the last step, unless this has been done */
void sweep_add_seen(const sweep_state *, double *lambda);   /* adds the contributions of a step's observations other
   than those to its stages */
void sweep_along(sweep_state *);                /* of a jet: d <- along, of a step or a map, with its memory in pm */
/* h' of a step from t' of its start (m each).  fixed: T' of the given time at its end; NULL: zero */
void step_directions(enum rule, const double *fixed, int m, const double *dt, double *dh);
/* propagates the errors of inexactly solved systems through this step (left.h) */
int step_left(stepper *, const record *, int transpose, int m);

/* memory.c: memory variables as parameters of the steps between two jumps.  pm: np + nm per column; without memory only
   p */
void memory_to_pm(const stepper *, int m, const double *V, double *pm);         /* from its rows of V */
void memory_from_pm(const stepper *, int m, double *lambda, double *pm);        /* onto rows of lambda; pm loses it */
static inline void memory_keep(const stepper *c, const double *y, double *y1)           /* N: through a step */
{
    for (int i = c->n + c->nq; i < c->N; i++) y1[i] = y[i];
}
static inline void memory_bind(const stepper *c, const double *state, int number)       /* N */
{
    if (c->nm > 0 || c->maps->bound.situation != number) maps_bind_step(c->maps, state + c->n + c->nq, number);
}

/* instant.c: a step of length zero, or, as step_..., any step */
int instant_tangent(stepper *, const event_work *, const record *, const directions *);
int instant_adjoint(stepper *, const event_work *, const record *, const functionals *);
int step_tangent(stepper *, const event_work *, const record *, const directions *);
int step_adjoint(stepper *, const event_work *, const record *, const functionals *);
int instant_hold(sweep_state *, const op *);    /* its record into now, as sweep_hold */

/* event.c: a step that ends where a guard is zero, which fixes its h; at: the end, before the jump.  m columns; Xd of d
   with room for one more.  shift: m: what is added to the guard, or NULL; dh: m, out */
int event_tangent(stepper *, const event_work *, const record *, const mapped *at, const directions *d,
                  const double *shift, double *dh);
/* propagates g.lambda, g.mu and tau through it; shift: m, out: the gradients with respect to what is added to the
   guard; may be NULL */
int event_adjoint(sweep_state *, const mapped *at, double *shift);
int event_second(sweep_state *, const mapped *at, double *shift);   /* the same of a jet */
int event_slope_missing(const stepper *, const mapped *at);         /* COSTATE_GRAZING */
/* correct.c: problem.after_step.  y1 (N), the end of the step, in and out; room: 2 N; sets r->corrected and
   `uncorrected`, and binds the memory that it changed.  Relaxation only acts where the length of the step is free; as:
   where it did in this step of the tape, or NULL.  RETRY: it is not defined there, or not finite */
int correct_value(stepper *, record *, const record *as, int free, double *room, double *y1);
/* of m tangents at the end of a step; dt: m, of that end */
int correct_tangent(stepper *, const event_work *, const record *, int m, const double *dt, double *V,
                    const double *pm);
/* relax.c: the same where it is an invariant.  Of tangents: V1 of the directions is in and out; dh: out, by which t
   moves along the step.  Back: what y gets behind the step's adjoint is carried to there */
int relax_value(stepper *, record *, const record *as, int free, double *room, double *y1);
int relax_tangent(stepper *, const event_work *, const record *, const directions *, double *dh);
int relax_adjoint(sweep_state *);
mapped located(const sweep_state *, const op *);    /* the event that ends the step at hand, with the state there */
/* jump.c: an event's jump, and the cost that it adds */
void set_jumped(const stepper *, double *state, const double *jumped);      /* (y, m) of a state (N), from n + nm */
int jump_value(stepper *, const event_work *, mapped *);            /* y1, from y */
/* V, and the memory in pm of the work space, which pm is where there is any */
int jump_tangent(stepper *, const event_work *, const mapped *, int m, const double *dt, double *V, const double *pm);
int jump_adjoint(sweep_state *, const mapped *);                    /* g, of functionals or a jet */

#endif
