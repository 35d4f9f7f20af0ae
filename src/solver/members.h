/* members.h - the members of a composite method, or the only method: which may be used, and their work space. */
#ifndef COSTATE_SOLVER_MEMBERS_H
#define COSTATE_SOLVER_MEMBERS_H

#include "solver/solver.h"

static inline costate_options *member_options(costate *c, int k) { return c->st.method->of ? &c->works[k].o : &c->o; }
int members_new(costate *, const costate_method *);     /* allocates; nothing is prepared */
int members_choose(costate *);          /* selects the usable members; fails if there is none */
int member_prepare(stepper *, int k);   /* stepper.prepare of the current member */
int member_begins(const costate *);     /* the one that a run begins with; -1: none is usable */
int members_begin(costate *);           /* prepares it */
int member_first(const costate *, int stiff);   /* the explicit or the stiff one for these tolerances; -1: none */
int member_stabilised(const costate *);         /* the stabilised one, or -1 */
int takes_splitting(const costate *);           /* is the stiff one that with a splitting? */
int member_takes(const costate *, int k);       /* may it take steps of runs?  Sweeps pass through all usable members */
int member_is_coarse(const costate *, int k);   /* are its steps less accurate inside than at their ends? */
void members_inside(costate *);         /* runs from here on: values between steps will be asked for */
/* Allocates work space for so many columns in all members that are ready; frees what was there. */
int members_columns(costate *, int all);
int members_second(costate *, int m);   /* the same for derivatives of second order along m directions */
void members_sweep(costate *);          /* a sweep of tangents or adjoints begins */
void members_left_sweep(costate *);     /* sets the errors of a sweep's inexact solutions to zero */
shifts *members_left(costate *);        /* at its end: the systems with the largest of these errors */
void members_free(costate *);

/* refuse.c: may the current member be used with this problem and these options? */
int refuse_method(costate *);
int refuse_singular(costate *);         /* when it is prepared: M is known */

#endif
