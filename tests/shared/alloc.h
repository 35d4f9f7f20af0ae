/* alloc.h - malloc that fails on demand, for tests linked with -Wl,--wrap=malloc,--wrap=calloc,--wrap=realloc,
   --wrap=free.  It sees the calls of the library and of the test, not those of other libraries. */
#ifndef TESTS_ALLOC_H
#define TESTS_ALLOC_H

#include <stddef.h>

void alloc_fail_at(long k);     /* call k from now (1 is the next) and all after it fail; 0: none */
void alloc_fail_once(long k);   /* call k from now fails, and no other; 0: none */
void alloc_most(size_t bytes);  /* calls for more fail; 0: none do */
long alloc_failures(void);      /* calls that failed since */
long alloc_calls(void);         /* calls since */
long alloc_live(void);          /* blocks that are not freed */
void alloc_backends_too(void);  /* from now on it sees those of UMFPACK and KLU, too: called before any of theirs */

#endif
