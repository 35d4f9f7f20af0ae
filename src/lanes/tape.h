/* tape.h - the tape of a chunk of members: see lane_record. */
#ifndef COSTATE_LANES_TAPE_H
#define COSTATE_LANES_TAPE_H

#include "lanes/lanes.h"

size_t lane_tape_doubles(const batch *);
int lane_tape_next(batch *, lane_record *);             /* the place of the next record; 0, or COSTATE_NO_MEMORY */
void lane_tape_commit(batch *, const lane_record *);    /* it becomes a record, with its bits */
void lane_tape_get(const batch *, long k, lane_record *);
size_t lane_tape_bytes(const batch *);
void lane_tape_free(batch *);

#endif
