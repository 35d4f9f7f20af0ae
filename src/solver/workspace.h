/* workspace.h - the work space of runs and derivatives: one block each. */
#ifndef COSTATE_SOLVER_WORKSPACE_H
#define COSTATE_SOLVER_WORKSPACE_H

#include "solver/solver.h"

int workspace_prepare(costate *);
void workspace_step(workspace *);           /* y <- y1; y1 may be overwritten */
int columns_prepare(costate *, int m);      /* for m columns, and one more if there are guards */
int seconds_prepare(costate *, int m);      /* for 1 + m columns, and m directions of second order */
/* columns of np + nm values from columns of np (NULL: zero); `of_p` itself if there are no memory variables */
double *pm_begin(costate *, int m, const double *of_p);
int watch_prepare(costate *);               /* initialises c->watch */
int starter_ready(costate *);               /* c->start; allocates on first use */

static inline int guards(const costate *c)  /* number of events with a guard */
{
    int count = 0;
    for (int k = 0; k < c->P.nevents; k++) count += c->P.event[k].guard.value != NULL;
    return count + c->P.nrelations;
}

#endif
