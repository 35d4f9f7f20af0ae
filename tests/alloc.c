/* alloc.c - malloc that fails on demand. */
#include <stddef.h>

#include "alloc.h"

void *__real_malloc(size_t);
void *__real_calloc(size_t, size_t);
void *__real_realloc(void *, size_t);
void *__wrap_malloc(size_t);
void *__wrap_calloc(size_t, size_t);
void *__wrap_realloc(void *, size_t);

static _Atomic long fail_at, calls, failures;    /* a test may have threads */

void alloc_fail_at(long k)
{
    fail_at = k;
    calls = failures = 0;
}

long alloc_failures(void)
{
    return failures;
}

long alloc_calls(void)
{
    return calls;
}

static int fails(void)
{
    calls++;
    if (fail_at <= 0 || calls < fail_at) return 0;
    failures++;
    return 1;
}

void *__wrap_malloc(size_t size)
{
    return fails() ? NULL : __real_malloc(size);
}

void *__wrap_calloc(size_t count, size_t size)
{
    return fails() ? NULL : __real_calloc(count, size);
}

void *__wrap_realloc(void *old, size_t size)
{
    return fails() ? NULL : __real_realloc(old, size);
}
