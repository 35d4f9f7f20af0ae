/* alloc.c - malloc that fails on demand, and blocks counted. */
#include <stddef.h>
#include <stdint.h>

#include "alloc.h"
#if defined COSTATE_HAVE_UMFPACK || defined COSTATE_HAVE_KLU
#include <SuiteSparse_config.h>
#define SUITESPARSE 1
#endif

void *__real_malloc(size_t);
void *__real_calloc(size_t, size_t);
void *__real_realloc(void *, size_t);
void __real_free(void *);
void *__wrap_malloc(size_t);
void *__wrap_calloc(size_t, size_t);
void *__wrap_realloc(void *, size_t);
void __wrap_free(void *);

static _Atomic size_t most;
static _Atomic long fail_at, fail_until, calls, failures, live;    /* a test may have threads */

void alloc_fail_at(long k)
{
    fail_at = k;
    fail_until = 0;
    calls = failures = 0;
}

void alloc_fail_once(long k)
{
    alloc_fail_at(k);
    fail_until = k + 1;
}

void alloc_most(size_t bytes)
{
    most = bytes;
}

long alloc_failures(void)
{
    return failures;
}

long alloc_calls(void)
{
    return calls;
}

long alloc_live(void)
{
    return live;
}

static int fails(size_t size)
{
    long k = ++calls;
    if (most > 0 && size > most) return 1;
    if (fail_at <= 0 || k < fail_at || (fail_until > 0 && k >= fail_until)) return 0;
    failures++;
    return 1;
}

static void *counted(void *block)
{
    live += block != NULL;
    return block;
}

void *__wrap_malloc(size_t size)
{
    return fails(size) ? NULL : counted(__real_malloc(size));
}

void *__wrap_calloc(size_t count, size_t size)
{
    size_t bytes = size && count > SIZE_MAX / size ? SIZE_MAX : count * size;
    return fails(bytes) ? NULL : counted(__real_calloc(count, size));
}

void *__wrap_realloc(void *old, size_t size)
{
    if (fails(size)) return NULL;
    void *block = __real_realloc(old, size);
    return old ? block : counted(block);
}

void __wrap_free(void *block)
{
    live -= block != NULL;
    __real_free(block);
}

/* From 6.0 on its table is set by calls. */
void alloc_backends_too(void)
{
#if defined SUITESPARSE && SUITESPARSE_MAIN_VERSION >= 6
    SuiteSparse_config_malloc_func_set(__wrap_malloc);
    SuiteSparse_config_calloc_func_set(__wrap_calloc);
    SuiteSparse_config_realloc_func_set(__wrap_realloc);
    SuiteSparse_config_free_func_set(__wrap_free);
#elif defined SUITESPARSE
    SuiteSparse_config.malloc_func = __wrap_malloc;
    SuiteSparse_config.calloc_func = __wrap_calloc;
    SuiteSparse_config.realloc_func = __wrap_realloc;
    SuiteSparse_config.free_func = __wrap_free;
#endif
}
