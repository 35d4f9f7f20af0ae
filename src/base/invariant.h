/* invariant.h - what must hold between the fields of a struct, asserted in builds for debugging and in those of
   sanitizers and valgrind, so in all tests of .ci/run; never in a release.

   A struct with invariants has a function x_is_valid, which walks through it and is called where it has just been
   changed: at the end of a run, of a mesh, of a step of all lanes. */
#ifndef COSTATE_BASE_INVARIANT_H
#define COSTATE_BASE_INVARIANT_H

#ifdef COSTATE_INVARIANTS
#undef NDEBUG
#include <assert.h>
#define INVARIANT(holds) assert(holds)
#else
#define INVARIANT(holds) ((void)0)
#endif

#endif
