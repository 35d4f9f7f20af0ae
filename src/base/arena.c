/* arena.c - arrays that share one allocated block.

   An access beyond an array of the block reaches the next array, which is valid memory, so that no tool reports it.
   Builds that look for such errors (AddressSanitizer, or -Dmemcheck=true for valgrind) therefore put a red zone behind
   each array, even behind an empty one, and report every access to it. */
#include <string.h>
#include "base/arena.h"

#if defined __has_feature
#if __has_feature(address_sanitizer)
#define WITH_ASAN
#endif
#endif
#ifdef __SANITIZE_ADDRESS__
#define WITH_ASAN
#endif

enum { LINE = 8 };              /* doubles of a cache line */

#ifdef WITH_ASAN
#include <sanitizer/asan_interface.h>
enum { ZONE = LINE };
static void open_array(double *p, size_t count) { ASAN_UNPOISON_MEMORY_REGION(p, count * sizeof *p); }
static void close_rest(double *p, size_t count) { ASAN_POISON_MEMORY_REGION(p, count * sizeof *p); }
void clear_arrays(double *base, size_t used)
{
    for (size_t i = 0; i < used; i++) if (!__asan_address_is_poisoned(base + i)) base[i] = 0;
}
#elif defined COSTATE_MEMCHECK
#include <valgrind/memcheck.h>
enum { ZONE = LINE };
static void open_array(double *p, size_t count) { (void)p, (void)count; }       /* as calloc or malloc left it */
static void close_rest(double *p, size_t count) { (void)VALGRIND_MAKE_MEM_NOACCESS(p, count * sizeof *p); }
void clear_arrays(double *base, size_t used)
{
    VALGRIND_DISABLE_ERROR_REPORTING;
    memset(base, 0, used * sizeof *base);
    VALGRIND_ENABLE_ERROR_REPORTING;
}
#else
enum { ZONE = 0 };
static void open_array(double *p, size_t count) { (void)p, (void)count; }
static void close_rest(double *p, size_t count) { (void)p, (void)count; }
void clear_arrays(double *base, size_t used) { memset(base, 0, used * sizeof *base); }
#endif

double *take(cursor *at, size_t count)
{
    double *p = at->base ? at->base + at->used : NULL;
    size_t room = (count + LINE - 1) / LINE * LINE + ZONE;
    at->used += room;
    if (p) {
        open_array(p, count);
        close_rest(p + count, room - count);
    }
    return p;
}

void take_each(cursor *at, size_t count, double **const *arrays)
{
    for (; *arrays; arrays++) **arrays = take(at, count);
}
