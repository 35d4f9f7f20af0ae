/* rule.h - the choice among the members of a composite method. */
#ifndef COSTATE_CHOICE_RULE_H
#define COSTATE_CHOICE_RULE_H

#include "solver/run_state.h"

enum { FLAG = 20, NEAR_FLAG = 1 };      /* of a step that stability limits; of one that is near that */

static inline const composite_member *entry(const costate *c, int k) { return &c->st.method->of->member[k]; }
static inline int is_stiff(const costate *c) { return (c->st.F->is & IMPLICIT) != 0; }
static inline int is_stabilised(const costate *c) { return c->st.method->of && entry(c, c->st.at)->stabilised; }

/* A run begins, or continues on this tape, or (warm) where the last one ended; selects the member of the last step.
   differentiated: its steps will have derivatives. */
int rule_begin(costate *, const costate_tape *on, int warm, int differentiated);
int rule_first(costate *, const run *);                 /* its first step has been proposed, but not tried */
/* after an accepted step and the proposal of the next, which it may shorten */
int rule_step(costate *, run *, double err);
void rule_event(costate *);                             /* an event has changed the state, or f */
static inline int rule_changes(const costate *c) { return c->rule.next != c->st.at; }
int rule_change(costate *, double *h);                  /* selects the next member; *h <- its first step */
/* The current step failed with this status: is there a member of the other kind to take it?  Once a step. */
int rule_rescues(costate *, int status);
int rule_sound(const costate *, const rule *);          /* from a file: can it have been written? */
/* Work is counted relative to the solver's counters, because sweeps, costate_reset_stats and a run that is resumed in
   another solver change those.  The rule is kept without them between runs, in files, and from rule_again to
   rule_counts. */
rule rule_kept(const costate *);
int rule_again(costate *, const rule *);                /* a run is resumed */
void rule_counts(costate *);                            /* its steps begin */

#endif
