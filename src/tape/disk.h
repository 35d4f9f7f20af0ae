/* disk.h - what disk.c keeps in memory, for it and for who reads its files. */
#ifndef COSTATE_TAPE_DISK_H
#define COSTATE_TAPE_DISK_H

#include <stdatomic.h>
#include "tape/journal.h"

typedef struct {
    lease busy;
    size_t N, slope, doubles;   /* doubles of y; of y' of a residual, else 0; of a step */
    size_t counts, frame;       /* bytes */
    unsigned char *memory, *read;   /* read: the frame of `step`, -1: of none */
    double *slot[2];
    int turn, step, last_fresh, begins;
    int before, source;         /* the fresh step before that one; whose linearisation went on; -1: none */
    double *yp;                 /* where a run of a residual begins, in the tape's memory */
    uint64_t *at;               /* of each step in the file */
    int room;
    size_t bytes;
} disk;

/* step count of the tape, whose frame is there: into the lists */
int disk_keep(const stepper *, costate_tape *, const record *, uint64_t at);

#endif
