/* journal.h - the contents of the frames of a tape on a medium: enough to read the tape again and to resume its run. */
#ifndef COSTATE_TAPE_JOURNAL_H
#define COSTATE_TAPE_JOURNAL_H

#include "tape/frames.h"
#include "tape/tape.h"

enum frame_types { HEAD = 1, MAPPED, FRESH, TAKEN, ENDED };

typedef struct {                /* the first frame; p follows */
    char version[16], method[64];
    int n, np, nq, nm, nevents, s, storage, checkpoints, length, matfree, predict, words, corrects, nrelations;
    uint64_t options;           /* checksum of those on which the bits depend */
    double t0;
    solved_by by;
} journal_head;

typedef struct {                /* a step: its iteration counts follow, and y, y', X, as far as they are kept */
    double t, h, end, part, held;
    int64_t jacobian;
    int degree, member, mode, exact, fresh, corrected;
} journal_step;

typedef struct {                /* a fresh state: y, y' and what the run knows follow */
    double t, t0, t1;           /* the time there; those of the call */
    uint64_t known;             /* bytes */
    int64_t source;             /* linearisation that remains in use, or 0 */
    int step, maps, begins, mode;
} journal_fresh;

typedef struct {                /* an event or consistent values: its states follow */
    double t, slope, miss, start, h, level;
    int before, event, timed, number, from, to, given, only_values, placed, moved;
} journal_map;

typedef struct { double t; int step, maps, complete, mode; } journal_end;       /* y follows */

size_t words(size_t bytes);                                 /* whole words */
size_t situation_bytes(const stepper *);                    /* of the situation after a map; 0: no relations */
size_t counts_bytes(const stepper *, int member);           /* of a step's iteration counts; 0 for explicit methods */
uint64_t journal_options(const stepper *);
/* Each does nothing if the tape has no medium. */
int journal_begin(const stepper *, costate_tape *);
int journal_step_taken(const stepper *, costate_tape *, const record *, uint64_t *at);
int journal_mapped(const stepper *, costate_tape *, const mapped *, const void *memory, size_t bytes);
int journal_ended(const stepper *, costate_tape *, int complete);

/* memory.c and steps.c: memory and lists of the tape */
int tape_begin_read(const stepper *, costate_tape *, const retention *, const costate_problem *, const origin *,
                    const void *p);
int tape_keep_slope(const stepper *, costate_tape *, const double *yp);     /* into fresh.yp, where a run begins */
int tape_has_room(const costate_tape *, size_t more);       /* bytes, within its limit */
/* twice as many entries if the list is full, or `least` if it is empty; 0: no memory */
int longer(void **list, int count, int *room, int least, size_t size, size_t *bytes);
/* the same within the tape's limit, of whose memory the list is a part; COSTATE_TAPE_LIMIT, COSTATE_NO_MEMORY */
int tape_longer(const stepper *, costate_tape *, void **list, int count, int *room, int least, size_t size,
                size_t *bytes);
int tape_grow(const stepper *, costate_tape *);             /* room for one step */
int steps_begin(const stepper *, costate_tape *);            /* what the retention and the medium need for a run */
size_t step_doubles(const costate_tape *, int member);      /* in the frame of the next step: y, y', X */
/* Memory for the iteration counts of the next step, if it has any.  It is zeroed, as whole words go to the medium. */
int step_counts(const stepper *, costate_tape *, place *to);
/* The state of the record moves to `at`, and its stages are written behind it. */
void step_place(size_t N, size_t slope, double *at, record *, place *to);
int tape_list(const stepper *, costate_tape *, const record *, uint64_t at);     /* into list[count] */
/* the place of the next event or consistent values, with room for so many bytes; NULL: none */
mapped *tape_next_map(const stepper *, costate_tape *, size_t bytes, void **memory);

#endif
