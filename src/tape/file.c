/* file.c - the medium of tapes that are kept in a file of the system, by the calls of POSIX, or by those of the C
   library of Windows.  Elsewhere no tape can be kept in a file. */
#define _DEFAULT_SOURCE
#include <stdlib.h>
#include <string.h>
#include "base/again.h"
#include "tape/medium.h"
#if defined __unix__ || defined __APPLE__
#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#elif defined _WIN32
#include <fcntl.h>
#include <io.h>
#include <share.h>
#include <stdio.h>
#include <sys/stat.h>
#endif

typedef struct { int fd; char path[]; } file;       /* fd: -1 if it is not open; a test expects it first */

void *file_new(const char *path)
{
    size_t length = strlen(path) + 1;
    file *f = malloc(sizeof *f + length);
    if (!f) return NULL;
    f->fd = -1;
    memcpy(f->path, path, length);
    return f;
}

static const char *name(const void *own) { return ((const file *)own)->path; }

#if defined __unix__ || defined __APPLE__ || defined _WIN32
static int failed(const file *f, verdict *v, const char *what)
{
    return fail(v, COSTATE_IO, "The tape's file %s could not be %s: %s.", f->path, what, strerror(errno));
}
#endif

#if defined __unix__ || defined __APPLE__

static void close_file(void *own)
{
    file *f = own;
    if (f->fd >= 0) close(f->fd);
    f->fd = -1;
}

static int cut(void *own, uint64_t at)
{
    int r;
    AGAIN(r, ftruncate(((const file *)own)->fd, (off_t)at));
    return r;
}

static int64_t read_at(void *own, void *to, size_t bytes, uint64_t at)
{
    ssize_t done;
    AGAIN(done, pread(((const file *)own)->fd, to, bytes, (off_t)at));
    return done;
}

static int64_t write_at(void *own, const void *from, size_t bytes, uint64_t at)
{
    ssize_t done;
    AGAIN(done, pwrite(((const file *)own)->fd, from, bytes, (off_t)at));
    return done;
}

static int64_t size(void *own)
{
    struct stat is;
    int r;
    AGAIN(r, fstat(((const file *)own)->fd, &is));
    return r == 0 ? (int64_t)is.st_size : -1;
}

static void expect(void *own, uint64_t at, size_t bytes)
{
#ifdef POSIX_FADV_WILLNEED                          /* macOS and OpenBSD lack it */
    posix_fadvise(((const file *)own)->fd, (off_t)at, (off_t)bytes, POSIX_FADV_WILLNEED);
#else
    (void)own, (void)at, (void)bytes;
#endif
}

/* ---- opening ---- */

static int open_file(void *own, verdict *v, opening how)
{
    static const int flags[] = {[CREATE] = O_RDWR | O_CREAT, [EXTEND] = O_RDWR, [READ] = O_RDONLY};
    file *f = own;
    struct stat is;
    int r, locked = 0;
    /* a pipe without a writer would wait */
    AGAIN(f->fd, open(f->path, flags[how] | O_CLOEXEC | O_NONBLOCK, 0666));
    if (f->fd < 0) return failed(f, v, how == CREATE ? "made" : "opened");
    AGAIN(r, fstat(f->fd, &is));
    if (r != 0) return failed(f, v, "opened");
    if (!S_ISREG(is.st_mode))
        return fail(v, COSTATE_IO, "The tape's file %s is not a file that can be read again.", f->path);
    if (how != READ) AGAIN(locked, flock(f->fd, LOCK_EX | LOCK_NB));
    if (locked == 0) return 0;
    if (errno != EWOULDBLOCK) return failed(f, v, "locked");
    return fail(v, COSTATE_IO, "The tape's file %s is written by another run.", f->path);
}

#elif defined _WIN32

/* at once, whose number must fit an int */
static unsigned portion(size_t bytes) { return bytes < 1u << 30 ? (unsigned)bytes : 1u << 30; }

static void close_file(void *own)
{
    file *f = own;
    if (f->fd >= 0) _close(f->fd);
    f->fd = -1;
}

static int cut(void *own, uint64_t at)
{
    errno = _chsize_s(((const file *)own)->fd, (int64_t)at);
    return errno == 0 ? 0 : -1;
}

static int64_t read_at(void *own, void *to, size_t bytes, uint64_t at)
{
    int fd = ((const file *)own)->fd;
    return _lseeki64(fd, (int64_t)at, SEEK_SET) < 0 ? -1 : _read(fd, to, portion(bytes));
}

static int64_t write_at(void *own, const void *from, size_t bytes, uint64_t at)
{
    int fd = ((const file *)own)->fd;
    return _lseeki64(fd, (int64_t)at, SEEK_SET) < 0 ? -1 : _write(fd, from, portion(bytes));
}

static int64_t size(void *own) { return _filelengthi64(((const file *)own)->fd); }
static void expect(void *own, uint64_t at, size_t bytes) { (void)own, (void)at, (void)bytes; }

/* Whoever writes denies writing to others, which then have no access. */
static int open_file(void *own, verdict *v, opening how)
{
    static const int flags[] = {[CREATE] = _O_RDWR | _O_CREAT, [EXTEND] = _O_RDWR, [READ] = _O_RDONLY};
    file *f = own;
    errno = _sopen_s(&f->fd, f->path, flags[how] | _O_BINARY | _O_NOINHERIT, how == READ ? _SH_DENYNO : _SH_DENYWR,
                     _S_IREAD | _S_IWRITE);
    if (errno == 0) return 0;
    f->fd = -1;
    if (how == READ || errno != EACCES) return failed(f, v, how == CREATE ? "made" : "opened");
    return fail(v, COSTATE_IO, "The tape's file %s is written by another run, or may not be written.", f->path);
}

#else

static int open_file(void *own, verdict *v, opening how)
{
    (void)how;
    return fail(v, COSTATE_IO, "The tape cannot be kept in the file %s: this build of costate has no tapes in files.  "
                "Use a tape in memory, with COSTATE_CHECKPOINTS where that is too small.", name(own));
}

static void close_file(void *own) { (void)own; }
static int cut(void *own, uint64_t at) { return (void)own, (void)at, -1; }
static int64_t size(void *own) { return (void)own, -1; }
static void expect(void *own, uint64_t at, size_t bytes) { (void)own, (void)at, (void)bytes; }

static int64_t read_at(void *own, void *to, size_t bytes, uint64_t at)
{
    return (void)own, (void)to, (void)bytes, (void)at, -1;
}

static int64_t write_at(void *own, const void *from, size_t bytes, uint64_t at)
{
    return (void)own, (void)from, (void)bytes, (void)at, -1;
}

#endif

const medium file_medium = {open_file, close_file, free, name, size, read_at, write_at, cut, expect};
