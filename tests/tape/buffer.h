/* buffer.h - a medium of tapes: bytes in memory of the caller, each stored with its bits inverted.  It transfers at
   most PIECE bytes at a time. */
#ifndef TESTS_BUFFER_H
#define TESTS_BUFFER_H

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "tape/medium.h"

/* most: bytes for which there is room; 0: any number */
typedef struct { unsigned char *bytes; size_t size, room, most; int opened; } image;

enum { PIECE = 1000 };

static int image_open(void *own, verdict *v, opening how)
{
    image *x = own;
    if (how != CREATE && !x->bytes) return fail(v, COSTATE_IO, "There is no such buffer.");
    x->opened++;
    return 0;
}

static void image_close(void *own) { ((image *)own)->opened--; }
static void image_free(void *own) { (void)own; }
static const char *image_name(const void *own) { return (void)own, "(a buffer)"; }
static int64_t image_size(void *own) { return (int64_t)((image *)own)->size; }

static int64_t image_read(void *own, void *to, size_t bytes, uint64_t at)
{
    const image *x = own;
    size_t there = at < x->size ? x->size - (size_t)at : 0, count = bytes < there ? bytes : there;
    if (count > PIECE) count = PIECE;
    for (size_t i = 0; i < count; i++) ((unsigned char *)to)[i] = (unsigned char)~x->bytes[at + i];
    return (int64_t)count;
}

static int64_t image_write(void *own, const void *from, size_t bytes, uint64_t at)
{
    image *x = own;
    size_t count = bytes < PIECE ? bytes : PIECE, end = (size_t)at + count;
    if (x->most && end > x->most) { errno = ENOSPC; return -1; }
    if (end > x->room) {
        unsigned char *more = realloc(x->bytes, 2 * end);
        if (!more) { errno = ENOMEM; return -1; }
        x->bytes = more;
        x->room = 2 * end;
    }
    for (size_t i = 0; i < count; i++) x->bytes[at + i] = (unsigned char)~((const unsigned char *)from)[i];
    if (end > x->size) x->size = end;
    return (int64_t)count;
}

static int image_cut(void *own, uint64_t at)
{
    image *x = own;
    if (at < x->size) x->size = (size_t)at;
    return 0;
}

static const medium buffer_medium = {
    .open = image_open, .close = image_close, .free = image_free, .name = image_name, .size = image_size,
    .read = image_read, .write = image_write, .cut = image_cut
};

#endif
