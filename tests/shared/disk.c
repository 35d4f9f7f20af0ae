/* disk.c - files whose system calls fail on demand. */
#define _DEFAULT_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>
#include "disk.h"

static _Atomic long from, until, calls, failures;    /* a test may have threads */
static _Atomic int how;

void disk_fail(int what, long first, long last)
{
    how = what;
    from = first;
    until = last;
    calls = failures = 0;
}

long disk_failures(void) { return failures; }
long disk_calls(void) { return calls; }

static int harmed(int by_end, int by_short)
{
    long k = ++calls;
    if (k < from || k >= until || (how == DISK_END && !by_end) || (how == DISK_SHORT && !by_short)) return 0;
    failures++;
    return 1;
}

static int failed(void)
{
    if (!harmed(0, 0)) return 0;
    errno = how;
    return 1;
}

/* 1: the call is not made, *bytes is what it returns */
static int moved(int reads, size_t count, ssize_t *bytes, size_t *some)
{
    *some = count;
    if (!harmed(reads, count > 1)) return 0;
    *some = how == DISK_SHORT ? count / 2 : 0;
    if (how == DISK_SHORT) return 0;
    *bytes = how == DISK_END ? 0 : -1;
    if (how != DISK_END) errno = how;
    return 1;
}

/* One name, and on glibc that with offsets of 64 bits. */
#define CALLS(bits) \
int __real_open##bits(const char *, int, ...); \
int __wrap_open##bits(const char *, int, ...); \
int __wrap_open##bits(const char *path, int flags, ...) \
{ \
    va_list more; \
    va_start(more, flags); \
    mode_t mode = flags & O_CREAT ? va_arg(more, mode_t) : 0; \
    va_end(more); \
    return failed() ? -1 : __real_open##bits(path, flags, mode); \
} \
ssize_t __real_pread##bits(int, void *, size_t, off_t); \
ssize_t __wrap_pread##bits(int, void *, size_t, off_t); \
ssize_t __wrap_pread##bits(int fd, void *to, size_t count, off_t at) \
{ \
    ssize_t bytes; \
    size_t some; \
    return moved(1, count, &bytes, &some) ? bytes : __real_pread##bits(fd, to, some, at); \
} \
ssize_t __real_pwrite##bits(int, const void *, size_t, off_t); \
ssize_t __wrap_pwrite##bits(int, const void *, size_t, off_t); \
ssize_t __wrap_pwrite##bits(int fd, const void *data, size_t count, off_t at) \
{ \
    ssize_t bytes; \
    size_t some; \
    return moved(0, count, &bytes, &some) ? bytes : __real_pwrite##bits(fd, data, some, at); \
} \
int __real_ftruncate##bits(int, off_t); \
int __wrap_ftruncate##bits(int, off_t); \
int __wrap_ftruncate##bits(int fd, off_t length) { return failed() ? -1 : __real_ftruncate##bits(fd, length); } \
int __real_fstat##bits(int, struct stat *); \
int __wrap_fstat##bits(int, struct stat *); \
int __wrap_fstat##bits(int fd, struct stat *is) { return failed() ? -1 : __real_fstat##bits(fd, is); }

CALLS()
#ifdef __GLIBC__
CALLS(64)
#endif

int __real_flock(int, int);
int __wrap_flock(int, int);
int __wrap_flock(int fd, int what) { return failed() ? -1 : __real_flock(fd, what); }
