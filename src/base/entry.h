/* entry.h - one call at a time on one solver, also where an exception or longjmp left the last one.

   A callback that calls its own solver must be refused: work space is that of the call at work.  But a call that was
   left is never heard of again.  The stack tells them apart: what a callback calls stands deeper than the public call
   at work, by MOAT bytes at least, which each public call keeps free below itself; what stands higher finds that call
   dead.  A call from far below where a dead one stood is refused, too: costate_abandon is for that. */
#ifndef COSTATE_BASE_ENTRY_H
#define COSTATE_BASE_ENTRY_H

#include <stdint.h>

enum { MOAT = 16384 };

/* HOLD_MOAT: keeps MOAT bytes of the stack free until the calling function returns.  An array would do, if no compiler
   knew that it is not used and no sanitizer kept it elsewhere. */
#if defined __GNUC__
#define FRAME ((uintptr_t)__builtin_frame_address(0))
#define HOLD_MOAT() __asm__ volatile("" : : "r"(__builtin_alloca(MOAT)) : "memory")
#else
#define FRAME ((uintptr_t)(void *)&(char){0})
#define HOLD_MOAT() volatile char moat[MOAT]; moat[0] = moat[MOAT - 1] = 0
#endif

typedef struct {
    int busy;                   /* a call is at work, or was left */
    int freed;                  /* the solver was freed by a callback: it goes when the call ends */
    int refused;                /* calls in between, whose sentence may stand there */
    int left;                   /* the user said that it was (costate_abandon) */
    uintptr_t frame;            /* of the call */
    long calls;
} call_entry;

enum { REFUSED, ENTERED, AFTER_ONE_LEFT };
int entry_begin(call_entry *, uintptr_t frame);
/* 0: another call began in between, so that this one's results are none */
int entry_end(call_entry *, long call);

extern const char entry_sentence[], entry_disturbed[];

#endif
