/* check.h - what the public checks share: a report emptied, its sentence, and the checks of their own arguments. */
#ifndef COSTATE_CHECK_H
#define COSTATE_CHECK_H

#include <costate/costate.h>

void check_clear(costate_report *);                                       /* NaN everywhere, no text */
int check_says(costate_report *, int status, const char *format, ...);    /* the sentence; returns status */
/* COSTATE_OK, or a status with its sentence in the report.  name: of k, which is at least `least`. */
int check_given(int n, int np, const char *name, int k, int least, const costate_point *x, costate_report *);
int check_given_problem(const costate_problem *, const costate_point *x, costate_report *);

#endif
