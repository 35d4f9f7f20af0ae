/* recommend.h - the problems that methods are recommended by, and more for the composite methods. */
#ifndef BENCH_RECOMMEND_H
#define BENCH_RECOMMEND_H

#include <costate/costate.h>
#include "ivp.h"

enum { TRIAL_MOST = 4096 };              /* the most unknowns, or numbers of a gradient */

/* One problem, whatever table it is from: the run, the functional of y(t1), and the gradient of it in question. */
typedef struct trial trial;
struct trial {
    const char *name, *trait, *prices;   /* prices: by which its calls are weighed, see recommend.py */
    unsigned families;                   /* that are run on it: bits of enum costate_family */
    int index2;                          /* 1: by firk, stiffly accurate, alone */
    int more;                            /* 1: methods are not recommended by it */
    double atol;                         /* this times rtol */
    int max_steps, stride, tightest;     /* rtol: 10^-2 by 10^(-stride/2) to 10^(-tightest/2) */
    const char *tight[2];                /* methods of the references */
    const char *from;                    /* the name in its table */
    const char *by_hand;                 /* the name in the table of the race, whose callbacks are written by hand, of
                                            the same problem; NULL: those of its table */
    const costate_problem *(*generated)(void);      /* of the same equations in a file; NULL: as above */
    const double *defaults;              /* its parameters */
    int size;                            /* of a grid; mu */
    int (*open)(trial *);
    /* by open */
    costate_problem P;
    const double *y0, *p;
    double t0, t1;
    const double *known;                 /* y(t1) from elsewhere; NULL */
    int autonomous, length;              /* length: of the gradient */
    void (*seed)(const trial *, const double *y, double *lambda);
    void (*gradient)(const trial *, const double *lambda, const double *mu, double *out);
    void *own;
    void (*close)(void *own);
    ivp *callbacks;                      /* whose callbacks P has; NULL: its own */
};

int trial_count(void);
int trial_open(int k, trial *);          /* 0, or it cannot be made */
void trial_close(trial *);

#endif
