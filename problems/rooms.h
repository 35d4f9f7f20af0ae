/* rooms.h - rooms with thermostats: what a code with root finding of its own needs beside the callbacks. */
#ifndef PROBLEMS_ROOMS_H
#define PROBLEMS_ROOMS_H

#include "ivp.h"

typedef struct {
    int n, line;                 /* rooms; in a line of the grid */
    const double *right, *below; /* n: conducted to neighbours i + 1 and i + line, an hour; 0: a wall of the house */
    const double *loss, *power;  /* n: to the outside, an hour; of the heater, degrees an hour */
} rooms;

const rooms *rooms_of(const ivp *);              /* NULL: another problem */
/* n: how far each is from being switched, > 0 before; p: n thresholds where heaters go on, n where they go off */
void rooms_guards(const rooms *, const double *T, const double *m, const double *p, double *out);
void rooms_spread(const rooms *, const double *v, double *out);      /* out = (df/dT) v, df/dT = its transpose */
double rooms_rate(const rooms *, int i, double t, const double *T, const double *m);     /* T_i' */
int rooms_threshold(const rooms *, int i, const double *m);          /* which of p switches room i next */

#endif
