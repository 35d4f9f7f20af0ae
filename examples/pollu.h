/* pollu.h - the air pollution problem of examples 04 and 05: data, every derivative, the reference solution. */
#ifndef POLLU_H
#define POLLU_H

#include <costate/costate.h>

enum { POLLU_SPECIES = 20, POLLU_REACTIONS = 25, POLLU_O3 = 3, POLLU_OH = 5 };

/* Species count from 1, as in the source; 0: none. */
typedef struct { double k; int in[2], out[4]; } pollu_reaction;

extern const char *const pollu_names[POLLU_SPECIES];
extern const pollu_reaction pollu_reactions[POLLU_REACTIONS];
extern const double pollu_start[POLLU_SPECIES], pollu_reference[POLLU_SPECIES];     /* at t = 0, 60 minutes */
extern const costate_problem pollu_problem;                                         /* p: the constants k */

void pollu_constants(double k[POLLU_REACTIONS]);

#endif
