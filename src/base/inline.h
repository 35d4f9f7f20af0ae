/* inline.h - functions that are compiled once for each small n, so that loops over n unroll and stay in registers. */
#ifndef COSTATE_BASE_INLINE_H
#define COSTATE_BASE_INLINE_H

/* Constants reach the loops of a function only where it is inlined, and compilers refuse that for large ones.  Builds
   that check invariants are not for speed, and with a sanitizer's checks in all copies they would compile for minutes:
   there compilers decide. */
#if defined __GNUC__ && !defined COSTATE_INVARIANTS
#define INLINE static inline __attribute__((always_inline))
#else
#define INLINE static inline
#endif

/* Of functions for n = 2 and 3: without it gcc loads two numbers at once that a callback has just stored one by one;
   the processor waits for that until both are in its cache (12 % of a step of rodas4). */
#if defined __GNUC__ && !defined __clang__
#define SINGLY __attribute__((optimize("no-tree-slp-vectorize")))
#else
#define SINGLY
#endif

/* Of functions for known n whose loops run over a part of n: gcc would make vectors of loops of two to seven numbers,
   with a test of how many there are (10 % of a step of rodas4 for n = 8). */
#if defined __GNUC__ && !defined __clang__
#define SHORT_LOOPS __attribute__((optimize("no-tree-loop-vectorize")))
#else
#define SHORT_LOOPS
#endif

/* The largest n with functions of its own: with more unknowns the arithmetic costs more than what is around it. */
enum { KNOWN = 8 };

/* The list of f_0, which is for any n, and f_1 to f_8, in which IS_KNOWN(n) finds the one to call. */
#define BY_KNOWN(f) {f##_0, f##_1, f##_2, f##_3, f##_4, f##_5, f##_6, f##_7, f##_8}
#define IS_KNOWN(n) ((n) <= KNOWN ? (n) : 0)

#endif
