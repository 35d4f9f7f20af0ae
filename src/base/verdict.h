/* verdict.h - why a call failed: a status, and the sentence written where the cause is known.

   Functions return 0, RETRY (the step may succeed if it is smaller) or a status < 0, whose sentence is in the verdict.
   A caller that only passes the result on writes TRY(call). */
#ifndef COSTATE_BASE_VERDICT_H
#define COSTATE_BASE_VERDICT_H

#include <costate/costate.h>

enum { RETRY = 1 };
enum cause { WHY_ERROR, WHY_NEWTON, WHY_SINGULAR, WHY_NOT_FINITE, WHY_CALLBACK, WHY_KRYLOV,
             WHY_DEGREE, WHY_PRECONDITIONER, WHY_SOFT, WHY_INVARIANT, WHY_JAC, WHY_PRODUCTS, WHY_DIFFERENCED };
enum { CAUSES = WHY_DIFFERENCED + 1 };

typedef struct {
    int status;                 /* of the last call */
    enum cause why;             /* of the last RETRY */
    int gave_up;                /* a callback of a map returned < 0: nothing may go on without it */
    double t;                   /* the current time of the run */
    char text[800];
} verdict;

void verdict_clear(verdict *);                                  /* at the start of a call */
void verdict_at(verdict *, double t);                           /* the current time: for costate_time and sentences */
int fail(verdict *, int status, const char *format, ...);      /* returns status */
void remarked(verdict *, const char *format, ...);              /* appends to the sentence */
int retry(verdict *, enum cause);                               /* returns RETRY */
int frozen(verdict *, int status);                             /* RETRY becomes a failure where steps are prescribed */
int decided(verdict *, int status, const char *what);          /* the same at an event */

/* the status and the words when a step cannot be made smaller */
int cause_status(enum cause);
const char *cause_text(enum cause);

#define TRY(call) do { int status_ = (call); if (status_) return status_; } while (0)

#endif
