/* verdict.h - why a call failed: a status, and the sentence written where the cause is known.

   Functions return 0, RETRY (the step would succeed if it were smaller) or a status < 0 with its sentence in the
   verdict; who only passes that on says TRY(call). */
#ifndef COSTATE_BASE_VERDICT_H
#define COSTATE_BASE_VERDICT_H

#include <costate/costate.h>

enum { RETRY = 1 };
enum cause { WHY_ERROR, WHY_NEWTON, WHY_SINGULAR, WHY_NOT_FINITE, WHY_CALLBACK, WHY_KRYLOV,
             WHY_DEGREE, WHY_PRECONDITIONER };
enum { CAUSES = WHY_PRECONDITIONER + 1 };

typedef struct {
    int status;                 /* of the last call */
    enum cause why;             /* of the last RETRY */
    double factor;              /* the h_new/h that it proposes; 0.5 if nothing tells how much would suffice */
    double t;                   /* where the run is */
    char text[800];
} verdict;

void verdict_clear(verdict *);                                  /* a call begins: nothing has failed */
void verdict_at(verdict *, double t);                           /* where the run is: costate_time, and in sentences */
int fail(verdict *, int status, const char *format, ...);      /* returns status */
int retry(verdict *, enum cause, double factor);               /* returns RETRY */
int frozen(verdict *, int status);                             /* RETRY is a failure where steps are prescribed, */
int decided(verdict *, int status, const char *what);          /* or at an event, which no smaller step mends */

/* what a step that cannot be made smaller ends with */
int cause_status(enum cause);
const char *cause_text(enum cause);

#define TRY(call) do { int status_ = (call); if (status_) return status_; } while (0)

#endif
