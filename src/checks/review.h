/* review.h - a review of a model: what each check finds, in sentences, and the text that they make.

   Checks of a review return 0, whatever they find, or a status that ends it: no memory, or a callback that gave up. */
#ifndef COSTATE_CHECKS_REVIEW_H
#define COSTATE_CHECKS_REVIEW_H

#include "solver/solver.h"

struct costate_review {
    costate_finding *list;              /* each with a text of its own */
    int count, room;
    char *head, *text;                  /* the line about the run; all of it: NULL, until it is complete */
};

void review_clear(costate_review *);
/* the line about the run; 0, or COSTATE_NO_MEMORY */
int review_head(costate_review *, const char *format, ...);
typedef struct { int severity, component; const char *topic; double t, number; } review_about;
static inline review_about about(int severity, const char *topic)
{
    return (review_about){severity, -1, topic, NAN, NAN};
}
/* a finding, with its sentence; 0, or COSTATE_NO_MEMORY */
int review_add(costate_review *, review_about, const char *format, ...);
/* sorts the findings, the worst first, and composes the text; 0, or COSTATE_NO_MEMORY */
int review_compose(costate_review *);
int review_wrong(const costate_review *);                       /* findings of what is wrong */

typedef struct {                        /* a run under review */
    costate *c;                         /* made for it: the user's problem, method and options */
    costate_options o;                  /* its options */
    costate_tape *tape;
    costate_review *r;
    double t0, t1, ended;               /* as given; where the run ended */
    const double *y, *p;                /* as given */
    int status;                         /* of the run */
    char said[800];                     /* its message */
    double *largest;                    /* n: of |y_i| at the start and at the ends of steps */
    double *weight;                     /* N: 1 over the size of each y_i at the end, with its sign */
} run_review;

/* Does this status end the review?  gave_up: COSTATE_CALLBACK because a callback returned < 0 */
static inline int ends_review(int status, int gave_up)
{
    return status == COSTATE_NO_MEMORY || (status == COSTATE_CALLBACK && gave_up);
}
/* It does: a finding with this sentence, which is also the message of the call; returns the status. */
int review_ends(run_review *, const char *topic, double t, int status, const char *text);
/* what a message says behind "No error.", or "" */
const char *review_remark(const char *message);

int review_points(run_review *);        /* callbacks */
int review_derivatives(run_review *);   /* transposes, remainders, Hessian products, accuracy */
int review_events(run_review *);
int review_sizes(run_review *);         /* atol and sizes of components */
int review_errors(run_review *, const double *end, const double *finer);   /* N each: y at the end of two runs */

#endif
