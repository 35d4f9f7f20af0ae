/* frames.c - frames on a medium: appends, reads and truncates.

   A tape begins with MAGIC; frames follow.  If the process is killed, it ends within a frame or between two.  Any other
   difference from what was written is damage. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "tape/frames.h"

static const char MAGIC[16] = "costate tape 1\n";

/* Bytes.  PENDING: collected before they are written.  AHEAD: announced to the medium at once if frames are read from
   the last to the first.  TAIL: examined at the end of an incomplete frame, and behind it */
enum { PENDING = 1 << 20, AHEAD = 1 << 23, TAIL = 512 };

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

const char *frames_name(const frames *f) { return f->on->name(f->own); }

static int io(const frames *f, verdict *v, const char *what)
{
    return fail(v, COSTATE_IO, "The tape's file %s could not be %s: %s.", frames_name(f), what, strerror(errno));
}

static int damaged(const frames *f, verdict *v, uint64_t at)
{
    return fail(v, COSTATE_BAD_TAPE, "The tape's file %s is damaged: what stands at byte %llu is not what was written.",
                frames_name(f), (unsigned long long)at);
}

/* The sums are those of words, which the other order of bytes reverses: its head is right once they are reversed. */
static int is_of_other_order(const frame *head)
{
    unsigned char bytes[sizeof *head];
    frame other;
    memcpy(bytes, head, sizeof bytes);
    for (size_t i = 0; i < sizeof bytes; i++)
        ((unsigned char *)&other)[i] = bytes[i - i % sizeof(uint64_t) + sizeof(uint64_t) - 1 - i % sizeof(uint64_t)];
    return other.check == check_of(&other);
}

static int wrong_head(const frames *f, verdict *v, const frame *head, uint64_t at)
{
    if (!is_of_other_order(head)) return damaged(f, v, at);
    return fail(v, COSTATE_BAD_TAPE, "The tape's file %s was written on a machine with the other byte order (little or "
                "big endian): its numbers can only be read on a machine like that one.", frames_name(f));
}

static int enlarge(verdict *v, buffer *b, size_t bytes)
{
    if (bytes <= b->room) return 0;
    void *more = realloc(b->at, bytes);
    if (!more) return fail(v, COSTATE_NO_MEMORY, "No memory for %zu bytes of the tape's file.", bytes);
    *b = (buffer){more, bytes};
    return 0;
}

frames *frames_new(const medium *on, void *own)
{
    frames *f = own ? calloc(1, sizeof *f) : NULL;
    if (f) *f = (frames){.on = on, .own = own};
    else if (own) on->free(own);
    return f;
}

/* closes the medium, but keeps the memory of frames_read */
static void shut(frames *f)
{
    if (f->open) f->on->close(f->own);
    f->open = 0;
    f->end = f->used = 0;
    free(f->pending);
    f->pending = NULL;
}

void frames_close(frames *f)
{
    shut(f);
    free(f->read.at);
    f->read = (buffer){NULL, 0};
}

void frames_free(frames *f)
{
    if (!f) return;
    frames_close(f);
    f->on->free(f->own);
    free(f);
}

/* ---- writing ---- */

static int write_all(frames *f, verdict *v, const void *data, size_t bytes, uint64_t at)
{
    const unsigned char *from = data;
    while (bytes > 0) {
        int64_t done = f->on->write(f->own, from, bytes, at);
        if (done <= 0) return io(f, v, "written");
        from += done;
        at += (uint64_t)done;
        bytes -= (size_t)done;
    }
    return 0;
}

/* If writing fails, the tape ends where it did before. */
int frames_flush(frames *f, verdict *v)
{
    if (!f->open || f->used == 0) return 0;
    uint64_t from = f->end - f->used;
    int status = write_all(f, v, f->pending, f->used, from);
    f->used = 0;
    if (status == 0) return 0;
    f->end = from;
    (void)!f->on->cut(f->own, from);
    return status;
}

static int append(frames *f, verdict *v, const void *data, size_t bytes)
{
    if (bytes == 0) return 0;
    if (bytes > PENDING - f->used) TRY(frames_flush(f, v));
    if (bytes > PENDING) {
        TRY(write_all(f, v, data, bytes, f->end));
    } else {
        memcpy(f->pending + f->used, data, bytes);
        f->used += bytes;
    }
    f->end += bytes;
    return 0;
}

int frames_put(frames *f, verdict *v, uint32_t type, uint32_t number, const part *parts, int count, uint64_t *at)
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
    if (f->end > from) frames_cut(f, &(verdict){0}, from);
    return status;
}

int frames_cut(frames *f, verdict *v, uint64_t at)
{
    f->used = 0;
    f->end = at;
    return f->on->cut(f->own, at) == 0 ? 0 : io(f, v, "cut");
}

/* ---- opening ---- */

/* as many bytes as there are, up to `bytes`; negative: it failed */
static int64_t read_some(const frames *f, void *to, size_t bytes, uint64_t at)
{
    size_t got = 0;
    while (got < bytes) {
        int64_t done = f->on->read(f->own, (unsigned char *)to + got, bytes - got, at + got);
        if (done < 0) return done;
        if (done == 0) break;
        got += (size_t)done;
    }
    return (int64_t)got;
}

/* It is empty, or begins as a tape does.  *got: bytes of MAGIC that are there */
static int check_magic(frames *f, verdict *v, int64_t *got)
{
    char first[sizeof MAGIC];
    *got = read_some(f, first, sizeof first, 0);
    if (*got < 0) return io(f, v, "read");
    if (*got != 0 && (*got != (int64_t)sizeof MAGIC || memcmp(first, MAGIC, sizeof MAGIC) != 0))
        return fail(v, COSTATE_BAD_TAPE, "The file %s is not a tape of this library; nothing was written to it.",
                    frames_name(f));
    if ((f->pending = malloc(PENDING))) return 0;
    return fail(v, COSTATE_NO_MEMORY, "No memory for the file of the tape.");
}

static int open_checked(frames *f, verdict *v, opening how, int64_t *got)
{
    shut(f);
    f->open = 1;
    int status = f->on->open(f->own, v, how);
    if (!status) status = check_magic(f, v, got);
    if (status) shut(f);
    return status;
}

int frames_create(frames *f, verdict *v)
{
    int64_t got;
    TRY(open_checked(f, v, CREATE, &got));
    TRY(frames_cut(f, v, 0));
    TRY(append(f, v, MAGIC, sizeof MAGIC));
    return frames_flush(f, v);
}

int frames_open(frames *f, verdict *v, int to_write)
{
    int64_t got;
    TRY(open_checked(f, v, to_write ? EXTEND : READ, &got));
    f->end = sizeof MAGIC;
    if (got == (int64_t)sizeof MAGIC) return 0;
    shut(f);
    return fail(v, COSTATE_BAD_TAPE, "The file %s holds no tape: its run ended before it began.", frames_name(f));
}

/* ---- reading ---- */

/* bytes that must be there */
static int read_there(const frames *f, verdict *v, void *to, size_t bytes, uint64_t at)
{
    int64_t got = read_some(f, to, bytes, at);
    if (got < 0) return io(f, v, "read");
    return got == (int64_t)bytes ? 0 : damaged(f, v, at);
}

static int is_blank(const void *data, size_t bytes)
{
    const unsigned char *at = data;
    for (size_t i = 0; i < bytes; i++) if (at[i]) return 0;
    return 1;
}

/* If a machine stopped, the end of the last frame and what follows may be zero, because they were not written.
   Anything else is damage. */
static int torn(const frames *f, verdict *v, const frame *head, const unsigned char *data, uint64_t at,
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

int frames_next(frames *f, verdict *v, frame *head, buffer *data, int *there)
{
    int64_t end = f->on->size(f->own);
    uint64_t size = (uint64_t)end, at = f->end;
    *there = 0;
    if (end < 0) return io(f, v, "read");
    if (size - at < sizeof *head) return 0;
    TRY(read_there(f, v, head, sizeof *head, at));
    if (is_blank(head, sizeof *head)) return 0;
    if (head->check != check_of(head)) return wrong_head(f, v, head, at);
    if (head->bytes > size - at - sizeof *head) return 0;
    size_t bytes = (size_t)head->bytes;
    TRY(enlarge(v, data, bytes));
    TRY(read_there(f, v, data->at, bytes, at + sizeof *head));
    if (sum_of(data->at, bytes) != head->sum) return torn(f, v, head, data->at, at, size);
    f->end += sizeof *head + bytes;
    *there = 1;
    return 0;
}

/* Systems read ahead by themselves if a file is read forward. */
static void expect_back(frames *f, uint64_t at)
{
    if (!f->on->expect || (at >= f->ahead + AHEAD / 2 && at < f->ahead + 2 * AHEAD)) return;
    f->ahead = at > AHEAD ? at - AHEAD : 0;
    f->on->expect(f->own, f->ahead, AHEAD);
}

int frames_reserve(frames *f, verdict *v, size_t bytes) { return enlarge(v, &f->read, sizeof(frame) + bytes); }

int frames_read(frames *f, verdict *v, uint64_t at, size_t bytes, int back, const void **data)
{
    if (back) expect_back(f, at);
    TRY(frames_reserve(f, v, bytes));
    const frame *head = f->read.at;
    TRY(read_there(f, v, f->read.at, sizeof *head + bytes, at));
    if (head->check != check_of(head) || head->bytes != bytes) return damaged(f, v, at);
    *data = head + 1;
    return sum_of(*data, bytes) == head->sum ? 0 : damaged(f, v, at);
}
