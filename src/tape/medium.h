/* medium.h - where the bytes of a tape go if they do not stay in memory: reads and writes at offsets. */
#ifndef COSTATE_TAPE_MEDIUM_H
#define COSTATE_TAPE_MEDIUM_H

#include <stddef.h>
#include <stdint.h>
#include "base/verdict.h"

typedef enum { CREATE, EXTEND, READ } opening;  /* for a new run, to resume a run, for sweeps only */

/* own: which file, for example.  Functions that return a negative number set errno. */
typedef struct medium {
    /* Opens it.  Only one run at a time may write.  CREATE empties nothing: see `cut`.  Returns a status, with its
       message in the verdict */
    int (*open)(void *own, verdict *, opening);
    void (*close)(void *own);
    void (*free)(void *own);                                /* closed */
    const char *(*name)(const void *own);                   /* in messages */
    int64_t (*size)(void *own);                             /* bytes */
    /* Both return how many bytes they transferred, which may be fewer; `read` returns 0 at the end. */
    int64_t (*read)(void *own, void *to, size_t bytes, uint64_t at);
    int64_t (*write)(void *own, const void *from, size_t bytes, uint64_t at);
    int (*cut)(void *own, uint64_t at);                     /* removes the bytes from `at` on */
    void (*expect)(void *own, uint64_t at, size_t bytes);   /* these will be read soon; NULL: nothing to prepare */
} medium;

extern const medium file_medium;
void *file_new(const char *path);                           /* `own` of a file; NULL: no memory */

#endif
