/* entry.h - only one call at a time may run on a solver, even if an exception or longjmp left the previous one.

   A callback that calls its own solver must be refused, because the running call uses the solver's work space.  A call
   that was left by an exception looks the same: it never returns.  The stack tells them apart.  A callback runs deeper
   in the stack than the public call, by at least MOAT bytes, which each public call keeps free below its frame.  A new
   call whose frame lies higher shows that the old one was left.  A new call that lies far below the frame of a call
   that was left is refused, too; the user can end that with costate_abandon. */
#ifndef COSTATE_BASE_ENTRY_H
#define COSTATE_BASE_ENTRY_H

#include <stdint.h>
#include "base/verdict.h"

enum { MOAT = 16384 };

/* HOLD_MOAT: keeps MOAT bytes of the stack free until the calling function returns.  An array would not do:
   compilers remove arrays that are not used, and sanitizers keep them elsewhere. */
#if defined __GNUC__
#define FRAME ((uintptr_t)__builtin_frame_address(0))
#define HOLD_MOAT() __asm__ volatile("" : : "r"(__builtin_alloca(MOAT)) : "memory")
#else
#define FRAME ((uintptr_t)(void *)&(char){0})
#define HOLD_MOAT() volatile char moat[MOAT]; moat[0] = moat[MOAT - 1] = 0
#endif

typedef struct {
    int busy;                   /* a call is running, or was left */
    int freed;                  /* a callback freed the solver: memory is released when the call ends */
    int refused;                /* calls refused since it began, whose sentence the verdict may hold */
    int left;                   /* the user said so (costate_abandon) */
    uintptr_t frame;            /* of the call */
    long calls;
} call_entry;

enum { REFUSED, ENTERED, AFTER_ONE_LEFT };
int entry_begin(call_entry *, uintptr_t frame);
/* 0, with the reason as the message; the status remains that of the active call */
int entry_refuse(verdict *);
/* 0: another call began in the meantime, and this one's results are void */
int entry_end(call_entry *, verdict *, long call);

/* What `enter` and `leave` of a file do unless its objects need more.  entry_enter: 1: the call goes on; *left: the one
   before was left, which is to be mended.  entry_leave: 1: a callback freed the object, which is to be released. */
int entry_enter(call_entry *, verdict *, uintptr_t frame, int *left);
int entry_leave(call_entry *, verdict *, long call, int *status);

/* The body of a public call of x, whose file has the functions enter and leave.  The memory that is held separates the
   stack frame of this call from those of its callbacks. */
#define GATE(x, result)                                     \
    HOLD_MOAT();                                            \
    if (!enter(x, FRAME)) return COSTATE_BAD_ARGUMENT;      \
    long call = (x) ? (x)->entry.calls : 0;                 \
    return leave(x, call, result)

#endif
