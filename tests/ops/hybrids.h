/* hybrids.h - hybrid systems with every derivative: events, jumps, modes, memory, costs at events; references. */
#ifndef TESTS_HYBRIDS_H
#define TESTS_HYBRIDS_H

#include <costate/costate.h>
#include "nums.h"

enum { HYBRID_EVENTS = 4, HYBRID_LONGEST = 8 };      /* most events, largest N = n + nq + nm */
enum hybrid_form { HYBRID_ODE, HYBRID_MASS, HYBRID_RESIDUAL, HYBRID_INDEX_2 };   /* M is singular: index 1 */

/* the maps of a problem; those of event e are 3 e further on, but one transition serves all events that have one */
enum hybrid_map { HYBRID_RHS, HYBRID_COST, HYBRID_GUARD, HYBRID_JUMP, HYBRID_EVENT_COST, HYBRID_TRANSITION = 14,
                  HYBRID_MAPS };

/* At t1, as functions of the parameters, the start's and all events' dependence on them included.  What is known are
   `known` functionals: y[of[k]], or the integral q[of[k] - n]. */
typedef struct {
    int events, known;
    const int *of;
    const double *value, *by_p;          /* known; np by known by columns */
} hybrid_reference;

typedef struct hybrid hybrid;
struct hybrid {
    const char *name;
    int form, n, np, nq, nm, nevents, mode;          /* mode: at t0 */
    double t0, t1;
    const double *p, *M;                             /* np; n*n by columns, or NULL: identity */
    const int *index;                                /* n, or NULL */
    void (*start)(const num *p, num *y, num *m);
    void (*map[HYBRID_MAPS])(const void *of, const num_point *, num *out);
    const costate_event *event;
    const hybrid_reference *reference;               /* NULL: none */
};

const hybrid *hybrid_at(int k);                      /* NULL past the end; by name there are more */
const hybrid *hybrid_find(const char *name);
/* Do some of its events fire together only as long as both halves of the state have the same round-off? */
int hybrid_is_even(const hybrid *);
int hybrid_takes(const costate_method *, const hybrid *);        /* does the method solve its form, in its order? */
costate_problem hybrid_problem(const hybrid *);                  /* ctx: the hybrid */
/* y (N) at t0, q zero, and its derivatives by p (N by np by columns; NULL: not wanted) */
void hybrid_start(const hybrid *, const double *p, double *y, double *dy_dp);

#endif
