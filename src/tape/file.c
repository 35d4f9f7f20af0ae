/* file.c - the medium of tapes that are kept in a file of the system. */
#define _DEFAULT_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#include "tape/medium.h"

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

static void close_file(void *own)
{
    file *f = own;
    if (f->fd >= 0) close(f->fd);
    f->fd = -1;
}

/* ---- calls that a signal may interrupt ---- */

static int open_path(const char *path, int flags)
{
    int fd;
    do fd = open(path, flags, 0666); while (fd < 0 && errno == EINTR);
    return fd;
}

static int lock_file(const file *f)
{
    int r;
    do r = flock(f->fd, LOCK_EX | LOCK_NB); while (r != 0 && errno == EINTR);
    return r;
}

static int about(const file *f, struct stat *is)
{
    int r;
    do r = fstat(f->fd, is); while (r != 0 && errno == EINTR);
    return r;
}

static int cut(void *own, uint64_t at)
{
    int r;
    do r = ftruncate(((const file *)own)->fd, (off_t)at); while (r != 0 && errno == EINTR);
    return r;
}

static int64_t read_at(void *own, void *to, size_t bytes, uint64_t at)
{
    ssize_t done;
    do done = pread(((const file *)own)->fd, to, bytes, (off_t)at); while (done < 0 && errno == EINTR);
    return done;
}

static int64_t write_at(void *own, const void *from, size_t bytes, uint64_t at)
{
    ssize_t done;
    do done = pwrite(((const file *)own)->fd, from, bytes, (off_t)at); while (done < 0 && errno == EINTR);
    return done;
}

static int64_t size(void *own)
{
    struct stat is;
    return about(own, &is) == 0 ? (int64_t)is.st_size : -1;
}

static void expect(void *own, uint64_t at, size_t bytes)
{
    posix_fadvise(((const file *)own)->fd, (off_t)at, (off_t)bytes, POSIX_FADV_WILLNEED);
}

/* ---- opening ---- */

static int failed(const file *f, verdict *v, const char *what)
{
    return fail(v, COSTATE_IO, "The tape's file %s could not be %s: %s.", f->path, what, strerror(errno));
}

/* A file that can be read again, and that no other run writes */
static int checked(const file *f, verdict *v, int writes)
{
    struct stat is;
    if (about(f, &is) != 0) return failed(f, v, "opened");
    if (!S_ISREG(is.st_mode))
        return fail(v, COSTATE_IO, "The tape's file %s is not a file that can be read again.", f->path);
    if (!writes || lock_file(f) == 0) return 0;
    if (errno != EWOULDBLOCK) return failed(f, v, "locked");
    return fail(v, COSTATE_IO, "The tape's file %s is written by another run.", f->path);
}

static int open_file(void *own, verdict *v, opening how)
{
    file *f = own;
    static const int flags[] = {[CREATE] = O_RDWR | O_CREAT, [EXTEND] = O_RDWR, [READ] = O_RDONLY};
    f->fd = open_path(f->path, flags[how] | O_CLOEXEC | O_NONBLOCK);   /* a pipe without a writer would wait */
    if (f->fd < 0) return failed(f, v, how == CREATE ? "made" : "opened");
    return checked(f, v, how != READ);
}

const medium file_medium = {open_file, close_file, free, name, size, read_at, write_at, cut, expect};
