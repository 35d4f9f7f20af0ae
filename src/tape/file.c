/* file.c - a file of frames, each with its length and checksums: appends, reads and truncates.

   The file begins with MAGIC; frames follow.  If the process is killed, the file ends within a frame or between two.
   Any other difference from what was written is damage. */
#define _DEFAULT_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#include "tape/file.h"

static const char MAGIC[16] = "costate tape 1\n";
enum { BUFFER = 1 << 20, AHEAD = 1 << 23, TAIL = 512 };

summed words_begin(void) { return (summed){1, 0x9e3779b97f4a7c15u}; }

void words_add(summed *x, const void *data, size_t bytes)
{
    const unsigned char *at = data;
    uint64_t word, sum = x->sum, odd = x->odd;
    for (size_t i = 0; i + sizeof word <= bytes; i += sizeof word) {
        memcpy(&word, at + i, sizeof word);
        sum += (word ^ (word >> 29)) * odd;
        odd += 0xc4b7a337b369c032u;
    }
    x->sum = sum;
    x->odd = odd;
}

static uint64_t sum_of(const void *data, size_t bytes)
{
    summed x = words_begin();
    words_add(&x, data, bytes);
    return x.sum;
}

static uint64_t check_of(const frame *f) { return ~sum_of(f, offsetof(frame, check)); }

static int io(const tape_file *f, verdict *v, const char *what)
{
    return fail(v, COSTATE_IO, "The tape's file %s could not be %s: %s.", f->path, what, strerror(errno));
}

static int damaged(const tape_file *f, verdict *v, uint64_t at)
{
    return fail(v, COSTATE_BAD_TAPE, "The tape's file %s is damaged: what stands at byte %llu is not what was written.",
                f->path, (unsigned long long)at);
}

tape_file *file_new(const char *path)
{
    tape_file *f = calloc(1, sizeof *f);
    size_t length = strlen(path) + 1;
    if (f && !(f->path = malloc(length))) { free(f); return NULL; }
    if (!f) return NULL;
    memcpy(f->path, path, length);
    f->fd = -1;
    return f;
}

void file_close(tape_file *f)
{
    if (f->fd >= 0) close(f->fd);
    f->fd = -1;
    f->end = f->used = 0;
    free(f->buffer);
    f->buffer = NULL;
}

void file_free(tape_file *f)
{
    if (!f) return;
    file_close(f);
    free(f->path);
    free(f);
}

/* ---- calls that a signal may interrupt ---- */

static int open_file(const char *path, int flags)
{
    int fd;
    do fd = open(path, flags, 0666); while (fd < 0 && errno == EINTR);
    return fd;
}

static int cut(const tape_file *f, uint64_t at)
{
    int r;
    do r = ftruncate(f->fd, (off_t)at); while (r != 0 && errno == EINTR);
    return r;
}

static int lock_file(const tape_file *f)
{
    int r;
    do r = flock(f->fd, LOCK_EX | LOCK_NB); while (r != 0 && errno == EINTR);
    return r;
}

static int about(const tape_file *f, struct stat *is)
{
    int r;
    do r = fstat(f->fd, is); while (r != 0 && errno == EINTR);
    return r;
}

/* ---- writing ---- */

static int write_all(tape_file *f, verdict *v, const void *data, size_t bytes, uint64_t at)
{
    const unsigned char *from = data;
    while (bytes > 0) {
        ssize_t done = pwrite(f->fd, from, bytes, (off_t)at);
        if (done < 0 && errno == EINTR) continue;
        if (done <= 0) return io(f, v, "written");
        from += done;
        at += (uint64_t)done;
        bytes -= (size_t)done;
    }
    return 0;
}

/* Where writing fails, what is in the file ends where it did before. */
int file_flush(tape_file *f, verdict *v)
{
    if (f->fd < 0 || f->used == 0) return 0;
    uint64_t from = f->end - f->used;
    int status = write_all(f, v, f->buffer, f->used, from);
    f->used = 0;
    if (status == 0) return 0;
    f->end = from;
    (void)!cut(f, from);
    return status;
}

static int append(tape_file *f, verdict *v, const void *data, size_t bytes)
{
    if (bytes == 0) return 0;
    if (bytes > BUFFER - f->used) TRY(file_flush(f, v));
    if (bytes > BUFFER) {
        TRY(write_all(f, v, data, bytes, f->end));
    } else {
        memcpy(f->buffer + f->used, data, bytes);
        f->used += bytes;
    }
    f->end += bytes;
    return 0;
}

int file_put(tape_file *f, verdict *v, uint32_t type, uint32_t number, const part *parts, int count, uint64_t *at)
{
    frame head = {.type = type, .number = number};
    summed all = words_begin();
    uint64_t from = f->end;
    for (int i = 0; i < count; i++) {
        head.bytes += parts[i].bytes;
        words_add(&all, parts[i].at, parts[i].bytes);
    }
    head.sum = all.sum;
    head.check = check_of(&head);
    if (at) *at = from;
    int status = append(f, v, &head, sizeof head);
    for (int i = 0; i < count && !status; i++) status = append(f, v, parts[i].at, parts[i].bytes);
    if (!status) return 0;
    if (f->end > from) file_cut(f, &(verdict){0}, from);
    return status;
}

int file_cut(tape_file *f, verdict *v, uint64_t at)
{
    f->used = 0;
    f->end = at;
    return cut(f, at) == 0 ? 0 : io(f, v, "cut");
}

/* ---- opening ---- */

static int make_buffer(tape_file *f, verdict *v)
{
    if (f->buffer || (f->buffer = malloc(BUFFER))) return 0;
    file_close(f);
    return fail(v, COSTATE_NO_MEMORY, "No memory for the file of the tape.");
}

static ssize_t read_some(const tape_file *f, void *to, size_t bytes, uint64_t at)
{
    size_t got = 0;
    while (got < bytes) {
        ssize_t done = pread(f->fd, (unsigned char *)to + got, bytes - got, (off_t)(at + got));
        if (done < 0 && errno == EINTR) continue;
        if (done < 0) return done;
        if (done == 0) break;
        got += (size_t)done;
    }
    return (ssize_t)got;
}

/* *got: bytes of MAGIC that are there */
static int open_locked(tape_file *f, verdict *v, int flags, ssize_t *got)
{
    char first[sizeof MAGIC];
    struct stat is;
    file_close(f);
    f->fd = open_file(f->path, flags | O_CLOEXEC | O_NONBLOCK);        /* a pipe without a writer would wait */
    if (f->fd < 0) return io(f, v, flags & O_CREAT ? "made" : "opened");
    if (about(f, &is) != 0) { io(f, v, "opened"); file_close(f); return v->status; }
    if (!S_ISREG(is.st_mode)) {
        file_close(f);
        return fail(v, COSTATE_IO, "The tape's file %s is not a file that can be read again.", f->path);
    }
    if (flags & O_RDWR && lock_file(f) != 0) {
        if (errno == EWOULDBLOCK) fail(v, COSTATE_IO, "The tape's file %s is written by another run.", f->path);
        else io(f, v, "locked");
        file_close(f);
        return v->status;
    }
    *got = read_some(f, first, sizeof first, 0);
    if (*got < 0) { io(f, v, "read"); file_close(f); return v->status; }
    int tape = *got == (ssize_t)sizeof MAGIC && memcmp(first, MAGIC, sizeof MAGIC) == 0;
    if (tape || *got == 0) return make_buffer(f, v);
    file_close(f);
    return fail(v, COSTATE_BAD_TAPE, "The file %s is not a tape of this library; nothing was written to it.", f->path);
}

int file_create(tape_file *f, verdict *v)
{
    ssize_t got;
    TRY(open_locked(f, v, O_RDWR | O_CREAT, &got));
    int status = file_cut(f, v, 0);
    if (!status) status = append(f, v, MAGIC, sizeof MAGIC);
    return status ? status : file_flush(f, v);
}

int file_open(tape_file *f, verdict *v, int to_write)
{
    ssize_t got;
    TRY(open_locked(f, v, to_write ? O_RDWR : O_RDONLY, &got));
    if (got < (ssize_t)sizeof MAGIC) {
        file_close(f);
        return fail(v, COSTATE_BAD_TAPE, "The file %s holds no tape: its run ended before it began.", f->path);
    }
    f->end = sizeof MAGIC;
    return 0;
}

/* ---- reading ---- */

static int size_of(const tape_file *f, verdict *v, uint64_t *size)
{
    struct stat is;
    if (about(f, &is) != 0) return io(f, v, "read");
    *size = (uint64_t)is.st_size;
    return 0;
}

/* `bytes` that are in the file */
static int read_there(const tape_file *f, verdict *v, void *to, size_t bytes, uint64_t at)
{
    ssize_t got = read_some(f, to, bytes, at);
    if (got < 0) return io(f, v, "read");
    return got == (ssize_t)bytes ? 0 : damaged(f, v, at);
}

static int is_blank(const void *data, size_t bytes)
{
    const unsigned char *at = data;
    for (size_t i = 0; i < bytes; i++) if (at[i]) return 0;
    return 1;
}

/* A machine that stopped may leave room that was not written: the end of the last frame, and what follows, are zero.
   Else it is damage. */
static int torn(const tape_file *f, verdict *v, const frame *head, const unsigned char *data, uint64_t at,
                uint64_t size)
{
    unsigned char next[TAIL];
    size_t bytes = (size_t)head->bytes, tail = bytes < TAIL ? bytes : TAIL;
    uint64_t end = at + sizeof *head + bytes, rest = size - end;
    if (!is_blank(data + bytes - tail, tail)) return damaged(f, v, at);
    size_t want = rest < TAIL ? (size_t)rest : TAIL;
    TRY(read_there(f, v, next, want, end));
    return is_blank(next, want) ? 0 : damaged(f, v, at);
}

int file_next(tape_file *f, verdict *v, frame *head, void **data, size_t *room, int *there)
{
    uint64_t size = 0, at = f->end;
    *there = 0;
    TRY(size_of(f, v, &size));
    if (size - at < sizeof *head) return 0;
    TRY(read_there(f, v, head, sizeof *head, at));
    if (is_blank(head, sizeof *head)) return 0;
    if (head->check != check_of(head)) return damaged(f, v, at);
    if (head->bytes > size - at - sizeof *head) return 0;
    if (head->bytes > *room) {
        void *more = realloc(*data, (size_t)head->bytes);
        if (!more) return fail(v, COSTATE_NO_MEMORY, "No memory for %llu bytes of the tape's file.",
                               (unsigned long long)head->bytes);
        *data = more;
        *room = (size_t)head->bytes;
    }
    TRY(read_there(f, v, *data, (size_t)head->bytes, at + sizeof *head));
    if (sum_of(*data, (size_t)head->bytes) != head->sum) return torn(f, v, head, *data, at, size);
    f->end += sizeof *head + head->bytes;
    *there = 1;
    return 0;
}

/* The system reads files ahead by itself where they are read forward. */
static void read_ahead(tape_file *f, uint64_t at)
{
    if (at >= f->ahead + AHEAD / 2 && at < f->ahead + 2 * AHEAD) return;
    f->ahead = at > AHEAD ? at - AHEAD : 0;
    posix_fadvise(f->fd, (off_t)f->ahead, AHEAD, POSIX_FADV_WILLNEED);
}

int file_read(tape_file *f, verdict *v, uint64_t at, size_t bytes, void *to, int back)
{
    frame *head = to;
    if (back) read_ahead(f, at);
    TRY(read_there(f, v, to, sizeof *head + bytes, at));
    if (head->check != check_of(head) || head->bytes != bytes) return damaged(f, v, at);
    return sum_of(head + 1, bytes) == head->sum ? 0 : damaged(f, v, at);
}
