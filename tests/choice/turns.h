/* turns.h - runs of systems that are stiff by turns (by_turns.h) by composite methods, with a tape of any kind. */
#ifndef TESTS_TURNS_H
#define TESTS_TURNS_H

#include "hybrid_sweeps.h"
#include "by_turns.h"

static const int turns_col[] = {0, 2, 4}, turns_row[] = {0, 1, 0, 1};
static const costate_pattern turns_full = {2, turns_col, turns_row};

/* what a session runs from: its tape, which it owns, and with a pattern (all entries) or without */
static inline session turns_begin(const by_turns *b, costate_options o, costate_tape *tape, int pattern)
{
    session s = {.m = costate_method_find("auto"), .h = &b->h, .o = o, .N = 4 + b->h.nm, .P = hybrid_problem(&b->h),
                 .tape = tape};
    if (pattern) s.P.pattern = &turns_full;
    hybrid_start(s.h, s.h->p, s.y0, NULL);
    memcpy(s.y, s.y0, sizeof s.y);
    assert_non_null(tape);
    s.c = costate_new(s.m, &s.P, &s.o);
    return s;
}

static inline session turns_ran(const by_turns *b, costate_options o, costate_tape *tape, int pattern)
{
    session s = turns_begin(b, o, tape, pattern);
    CHECK_OK(s.c, costate_integrate(s.c, s.h->t0, s.h->t1, s.y, s.h->p, s.tape));
    see_events(&s);
    return s;
}

#endif
