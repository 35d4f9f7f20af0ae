/* look.h - values of a run beside those of short steps: has it passed over anything? */
#ifndef COSTATE_ESTIMATES_LOOK_H
#define COSTATE_ESTIMATES_LOOK_H

#include "estimates/accuracy.h"

/* Values (m) of a run on a tape and their estimated errors.  With short steps they may differ by `times` the larger of
   the estimated error and what is allowed. */
typedef struct { const double *value, *error; allowed allowed; double times; } looked_at;

/* 0; COSTATE_ACCURACY: they differ by more; or the status of a run with short steps that fails.  Where f does not
   depend on t, and where all steps are short, nothing is done. */
int look(costate *, const costate_tape *, const costate_functional *, const looked_at *);

#endif
