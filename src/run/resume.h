/* resume.h - a run that is read from a file, and resumed. */
#ifndef COSTATE_RUN_RESUME_H
#define COSTATE_RUN_RESUME_H

#include "solver/solver.h"

int solver_tape_read(costate *, costate_tape *);
int solver_resume(costate *, costate_tape *, double *y);

#endif
