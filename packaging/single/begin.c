/* costate.c - costate @VERSION@ in one file: methods: @METHODS@.

   Made from the sources of costate by `./run single`, not to be edited.  The license is at
   https://opensource.org/license/bsd-3-clause, and in the file LICENSE of costate.

       cc program.c costate.c -lm                  with #include "costate.h" in program.c

   Its linear algebra is costate's own; with the same compiler, results have the same bits as those of the library built
   with -Dlapack=builtin.  What differs from the library: members of ensembles are run one by one in each thread, not
   side by side, and no method is loaded from a file at run time.  Before glibc 2.34 the option -pthread is needed. */
#ifdef __FAST_MATH__
#error "costate.c must not be compiled with -ffast-math or -Ofast: it looks for NaN, and runs must repeat bit for bit."
#endif
/* no fused multiply-adds where the compiler happens to see one */
#if defined __clang__
#pragma STDC FP_CONTRACT OFF
#elif defined __GNUC__
#pragma GCC optimize("fp-contract=off")
#endif
#if defined __GNUC__
#define COSTATE_PRIVATE static __attribute__((unused))
#else
#define COSTATE_PRIVATE static
#endif
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#ifndef _DARWIN_C_SOURCE
#define _DARWIN_C_SOURCE
#endif
#define COSTATE_BUILTIN_LAPACK
#define COSTATE_NO_HANDSHAKE
