/* alloc.h - malloc that fails on demand, for tests linked with -Wl,--wrap=malloc,--wrap=calloc,--wrap=realloc.
   It sees the calls of the library and of the test, not those of other libraries. */
#ifndef TESTS_ALLOC_H
#define TESTS_ALLOC_H

void alloc_fail_at(long k);     /* call k from now (1 is the next) and all after it fail; 0: none */
long alloc_failures(void);      /* calls that failed since alloc_fail_at */
long alloc_calls(void);         /* calls since alloc_fail_at */

#endif
