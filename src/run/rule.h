/* rule.h - the choice among the members of a composite method. */
#ifndef COSTATE_RULE_H
#define COSTATE_RULE_H

#include "run/loop.h"

/* a run begins, or continues on this tape, or where the last one ended: the member of the last step is at hand */
int rule_begin(costate *, const costate_tape *on, int warm);
effort rule_effort(const costate *);                    /* so far */
/* What was done since is not work of the steps: tangents beside a run do not change them. */
void rule_aside(costate *, effort since);
int rule_step(costate *, const run *);                  /* after an accepted step and the proposal of the next */
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

#endif
