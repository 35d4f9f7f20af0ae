/* spectrum.h - the eigenvalue of J = M^-1 f_y with the largest modulus, measured by products as a run goes on. */
#ifndef COSTATE_SPECTRUM_H
#define COSTATE_SPECTRUM_H

#include "base/arena.h"

struct stepper;
struct maps;

typedef struct {                /* ros/smooth.c: of the user's matrix, on one smooth vector */
    double departure;           /* from sigma M - f_y, relative; < 0: the matrix is stiffer */
    double rate;                /* of the vector */
    double error, lasting;      /* the part by which rates of slow modes are wrong; without that of modes that decay */
} smoothness;

typedef struct {                /* ros/smooth.c: of the steps of a run */
    smoothness last, worst;     /* the last measurement; the worst one of modes that a step does not damp */
    double off;                 /* the error of y that this makes, in tolerances */
    long age;                   /* steps since the last measurement */
} slowness;

typedef struct {                /* ros/guard.c: of the user's matrix, where rho is the eigenvalue of how soft it is */
    double limit;               /* the largest rho that the method bears */
    /* *does <- does the rho that was measured exceed the limit for the mode at hand? */
    int (*harms)(struct stepper *, double t, const double *y, int *does);
    double h, shortened;        /* the h with which rho was measured; the longest h that it allows, 0: any */
    double stiffest, rate;      /* of the fastest modes: what rho is the largest of, and their rate */
    int cuts;                   /* cuts of h in a row */
    double cut_h, cut_1;        /* of the last cut: h, and 1/(rho - 1) with it */
    double t;                   /* smooth.c: of the step that is tried */
    slowness accepted, tried;   /* up to it; and with it */
} softness;

typedef struct {
    double *v, *Jv, *JJv, *z;   /* n each: the vector of the power iteration, of length 1; its products; work */
    const double *f0;           /* M^-1 f(t, y), for differences where there are no products, or NULL: none are taken */
    double rho;                 /* its modulus, or what is given for it; 0: not known */
    int negative;               /* 1: the eigenvalue is close to the negative real axis */
    int waves;                  /* 1: it is far from that axis */
    double longest;             /* h that it allows; erk: in this run, 0: to be found */
    int products;               /* that led to v from a random vector; at most COUNTED */
    unsigned seed;              /* of the random numbers */
    long age;                   /* steps begun since it was measured */
    long run;                   /* stamp of the run that it belongs to */
    long steps, capped;         /* steps of the run; steps as long as the limit */
    double worst;               /* the largest h in units of the limit; ros: the largest rho where h is not limited */
    softness soft;
} spectrum;

/* How well it is measured: by at least and at most so many products, from a random vector or from the last one; until
   it changes by less than the part `settled`.  safety: the factor of rho.  plain: 1: rho is what the last products
   showed, which is never too large; 0: it is extrapolated, as the end of a dense spectrum */
typedef struct { int first, first_most, least, most; double settled, safety; int plain; } spectrum_accuracy;

#define SPECTRUM_SAFETY 1.1                                 /* of explicit Runge-Kutta methods */

void spectrum_layout(struct stepper *, cursor *);            /* for families; nothing, if members share a spectrum */
void spectrum_share(struct stepper *, cursor *);             /* the spectrum that members share */
void spectrum_forget(spectrum *);                           /* a run begins */
void spectrum_changed(spectrum *);                          /* an event: f_y may be another matrix */
int spectrum_formed(const struct stepper *);                /* is J formed, at the last linearisation? */
int spectrum_ask(struct stepper *, double t, const double *y);     /* rho <- what these give at (t, y) */
/* Is a rho like this, which may still rise, far from where it matters? */
typedef int (*spectrum_far)(const struct stepper *, double rho, const void *ctx);
/* Measures it at (t, y); far: NULL, or ends the measurement as soon as it is true.  RETRY: a product is not finite, or
   not defined there; rho is as before. */
int spectrum_measure(struct stepper *, double t, const double *y, const spectrum_accuracy *, spectrum_far,
                     const void *ctx);

#endif
