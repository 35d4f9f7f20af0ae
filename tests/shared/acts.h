/* acts.h - all that can be asked of a solver, an act each, over a run with everything (events, jumps, memory, costs),
   in every family, form, linear solver, store: for tests that disturb one act and look at what is left. */
#ifndef TESTS_ACTS_H
#define TESTS_ACTS_H

#include <costate/costate.h>
#include "hybrids.h"

enum act {
    ACT_RUN, ACT_GO_ON, ACT_TANGENT, ACT_ADJOINT, ACT_HESSIAN, ACT_GAUSS_NEWTON, ACT_REPLAY, ACT_ONTO, ACT_EVAL,
    ACT_TLM, ACT_ADJ, ACT_CONSISTENT, ACT_CHECK_ADJOINT, ACT_CHECK_HESSIAN, ACT_READ, ACT_RESUME, ACTS
};
extern const char *const act_names[ACTS];

enum { ACT_TIMES = 4, ACT_N = HYBRID_LONGEST + 1, ACT_M = 2, ACT_OUT = 6 * ACT_N * ACT_M + 40 };

/* ---- units: y = S u, t = T tau, p = P pi, q = Q r of the numbers of the case, memory as y; all 0: 1 ---- */

typedef struct { double S, T, P, Q; } act_units;

/* ---- cases: a method of each kind, a form, a linear solver, a store ---- */

typedef struct {
    const costate_method *m;
    const hybrid *h;
    costate_options o;
    int file, pattern, preconditioned;
    act_units in;
    char name[160];
} act_case;

int act_case_at(int k, act_case *);          /* 0: past the end; 1: a case; -1: one that there is not */

/* ---- callbacks: all of a case, and how the calls from .. until - 1 of them are spoilt ---- */

typedef struct act_world act_world;
typedef struct {
    long calls, from, until, hits;
    int code;                                /* what such a call returns */
    double write;                            /* with code 0: what it puts into its result */
    void (*does)(act_world *);               /* instead: called there, and the call is as ever */
} act_spoil;

/* ---- a world: one solver, one tape ---- */

typedef struct { act_world *w; const costate_event *e; } act_site;      /* ctx: of a problem, of an event */

struct act_world {
    const act_case *of;
    act_spoil spoil;
    costate_problem base, P;
    costate_event event[HYBRID_EVENTS];
    act_site site[1 + HYBRID_EVENTS];
    costate_preconditioner preconditioner;
    costate_options o;
    double sigma;
    act_units in;
    double t0, t1, p[NUMS_P], times[HYBRID_EVENTS][ACT_TIMES];      /* in these units */
    costate_pattern pattern;
    int col[NUMS_N + 1], row[NUMS_N * NUMS_N];
    char path[48], other[48];                /* of the tape; of a run that was cut, and is gone on with */
    costate *c;
    costate_tape *tape;
    const unsigned char *cut;                /* what `other` holds where there is one */
    size_t cut_bytes;
    double out[ACT_OUT];                     /* of the last act, in the numbers of the case */
    char said[512];                          /* its sentence */
};

void act_open(act_world *, const act_case *);            /* where there is no memory: c or tape is NULL */
void act_close(act_world *);
int act_applies(const act_case *, int act);
/* one act, into out: its status.  All but the first two need those before them. */
int act_do(act_world *, int act);
/* ACT_RUN and ACT_GO_ON up to an act: of its own, if it is one of them */
int act_before(act_world *, int act);

#endif
