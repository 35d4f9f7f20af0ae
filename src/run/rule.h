/* rule.h - the choice among the members of a composite method. */
#ifndef COSTATE_RULE_H
#define COSTATE_RULE_H

#include "run/loop.h"

enum { FLAG = 20 };             /* of a step that stability limits; others count parts of it */

static inline const composite_member *entry(const costate *c, int k) { return &c->st.method->of->member[k]; }
static inline int is_stiff(const costate *c) { return (c->st.F->is & IMPLICIT) != 0; }
static inline int is_stabilised(const costate *c) { return c->st.method->of && entry(c, c->st.at)->stabilised; }

/* a run begins, or continues on this tape, or where the last one ended: the member of the last step is at hand */
int rule_begin(costate *, const costate_tape *on, int warm);
int rule_step(costate *, const run *, double err);      /* after an accepted step and the proposal of the next */
void rule_event(costate *);                             /* an event has changed the state, or f */
static inline int rule_changes(const costate *c) { return c->rule.next != c->st.at; }
int rule_change(costate *, double *h);                  /* the next member is at hand; *h <- its first step */
/* The step at hand failed with this status: is there a member of the other kind to take it?  Once a step. */
int rule_rescues(costate *, int status);
int rule_sound(const costate *, const rule *);          /* from a file: can it have been written? */
/* The counters that it compares are those of the solver, which sweeps and costate_reset_stats change, and of which
   another one has others.  Between runs, in files, and from rule_again to rule_counts, it is relative to them. */
rule rule_kept(const costate *);
int rule_again(costate *, const rule *);                /* a run is resumed */
void rule_counts(costate *);                            /* its steps begin */

/* effort.c */
effort effort_so_far(const costate *);
effort effort_plus(effort a, double s, effort b);       /* a + s b */
/* What was done since is not work of the steps: tangents beside a run do not change them. */
void effort_aside(costate *, effort since);
int effort_prices(costate *);                           /* of a factorisation and of a solution, into the rule */
void effort_note(costate *, const record *);            /* the work of this step among the last, */
double effort_rate(const rule *);                       /* and theirs per unit of time */
double effort_of_step(const rule *);                    /* work of one of them */
double effort_of_stiff(const rule *);                   /* what a stiff step takes, about */

/* stiffness.c */
double stiffness_rho(const costate *);                  /* the spectral radius without its safety */
/* after an explicit step: how much it counts towards a stiff one */
int stiffness_flags(costate *, const record *, int *count);
int stiffness_measure(costate *, const record *);       /* after a stiff step: rho */
double stiffness_step(const costate *, int k, double proposed);     /* h of explicit member k, or as proposed */

#endif
