/* stiffness.h - is a step limited by stability? */
#ifndef COSTATE_CHOICE_STIFFNESS_H
#define COSTATE_CHOICE_STIFFNESS_H

#include "solver/run_state.h"

double stiffness_rho(const costate *);                  /* the spectral radius without its safety */
/* after an explicit step: how much it counts towards a stiff one.  proposed: h of the next one by its error; *stable:
   the longest one by the stages of this one, HUGE_VAL where the last two are equal */
int stiffness_flags(costate *, const record *, double proposed, int *count, double *stable);
int stiffness_measure(costate *, const record *);       /* after a stiff step: rho */
double stiffness_step(const costate *, int k, double proposed);     /* h of explicit member k, or as proposed */

#endif
