/* file.h - a file of frames, each with its length and checksums: appends, reads and truncates. */
#ifndef COSTATE_TAPE_FILE_H
#define COSTATE_TAPE_FILE_H

#include <stddef.h>
#include <stdint.h>
#include "base/verdict.h"

typedef struct {                /* before each frame's data, which are whole words */
    uint32_t type, number;
    uint64_t bytes, sum, check; /* of the data; their sum; of the three before */
} frame;

typedef struct { const void *at; size_t bytes; } part;      /* whole words */

typedef struct tape_file {
    char *path;
    int fd;                     /* -1: it is not open */
    uint64_t end;               /* where the next frame goes */
    unsigned char *buffer;
    size_t used;                /* of it, not written yet */
    uint64_t ahead;             /* the system was told of what is read from here on */
} tape_file;

/* A sum of words that sees every bit and its place: each word times an odd number of its own. */
typedef struct { uint64_t sum, odd; } summed;
summed words_begin(void);
void words_add(summed *, const void *, size_t bytes);

tape_file *file_new(const char *path);                      /* NULL: no memory */
void file_free(tape_file *);                                /* NULL is fine; what is not written is lost */
/* Each returns 0, COSTATE_IO with the system's words, COSTATE_BAD_TAPE, or COSTATE_NO_MEMORY. */
int file_create(tape_file *, verdict *);                    /* empties what is a tape, refuses others */
int file_open(tape_file *, verdict *, int to_write);
int file_put(tape_file *, verdict *, uint32_t type, uint32_t number, const part *, int count, uint64_t *at);
int file_flush(tape_file *, verdict *);
int file_cut(tape_file *, verdict *, uint64_t at);          /* what is behind goes */
/* The frame at f->end, its data into memory that is made larger: 1; 0: the file ends there, or within it. */
int file_next(tape_file *, verdict *, frame *, void **data, size_t *room, int *there);
/* The frame at `at`, head and data, whose bytes are known; back: earlier ones are read next */
int file_read(tape_file *, verdict *, uint64_t at, size_t bytes, void *to, int back);
void file_close(tape_file *);

#endif
