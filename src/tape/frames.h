/* frames.h - a tape on a medium is a sequence of frames, each with its length and checksums. */
#ifndef COSTATE_TAPE_FRAMES_H
#define COSTATE_TAPE_FRAMES_H

#include "tape/medium.h"

typedef struct {                /* before each frame's data, which are whole words */
    uint32_t type, number;
    uint64_t bytes, sum, check; /* of the data; their sum; of the three before */
} frame;

typedef struct { const void *at; size_t bytes; } part;      /* whole words */

typedef struct { void *at; size_t room; } buffer;           /* malloc'ed memory, and its bytes */

typedef struct frames {
    const medium *on;
    void *own;                  /* of the medium */
    int open;
    uint64_t end;               /* where the next frame goes */
    unsigned char *pending;     /* of these, `used` bytes before `end` are not written yet */
    size_t used;
    uint64_t ahead;             /* the medium knows that bytes from here on will be read */
    buffer read;                /* the frame that was read last */
} frames;

/* A sum of words that depends on every bit and its place: each word is multiplied by an odd number of its own. */
typedef struct { uint64_t sum, odd; } summed;
summed words_begin(void);
void words_add(summed *, const void *, size_t bytes);

frames *frames_new(const medium *, void *own);              /* owns `own` from now on; NULL: no memory */
void frames_free(frames *);                                 /* NULL is allowed; what is not written is lost */
const char *frames_name(const frames *);
/* Each returns 0, COSTATE_IO with the system's reason, COSTATE_BAD_TAPE, or COSTATE_NO_MEMORY. */
int frames_create(frames *, verdict *);                     /* empties a tape; anything else is refused */
int frames_open(frames *, verdict *, int to_write);
int frames_put(frames *, verdict *, uint32_t type, uint32_t number, const part *, int count, uint64_t *at);
int frames_flush(frames *, verdict *);
int frames_cut(frames *, verdict *, uint64_t at);           /* removes what is behind */
/* The frame at f->end, its data into memory that is enlarged: *there is 1; 0: the tape ends there, or in this frame */
int frames_next(frames *, verdict *, frame *, buffer *data, int *there);
/* The data of the frame at `at`, whose number of bytes is known, valid until the next call; back: earlier ones follow
   */
int frames_read(frames *, verdict *, uint64_t at, size_t bytes, int back, const void **data);
int frames_reserve(frames *, verdict *, size_t bytes);      /* memory for frames_read */
void frames_close(frames *);

#endif
