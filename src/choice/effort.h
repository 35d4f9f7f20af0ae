/* effort.h - the work of a run, in evaluations of f. */
#ifndef COSTATE_CHOICE_EFFORT_H
#define COSTATE_CHOICE_EFFORT_H

#include "solver/run_state.h"

effort effort_so_far(const costate *);
effort effort_plus(effort a, double s, effort b);       /* a + s b */
/* What was done since is not work of the steps: tangents beside a run do not change them. */
void effort_aside(costate *, effort since);
int effort_prices(costate *);                           /* of a factorisation and of a solution, into the rule */
void effort_note(costate *, const record *);            /* stores the work of this step among that of the last RECENT */
double effort_rate(const rule *);                       /* their work per unit of time */
double effort_of_step(const rule *);                    /* their work per step */
double effort_of_stiff(const rule *);                   /* estimated work of a stiff step */

#endif
