/* message.c - the sentence that says why a call failed: costate's own, or the one that PETSc's error handler gets. */
#include <stdio.h>
#include "petsc/petsc.h"

int petsc_fail(costate_petsc *c, const char *sentence)
{
    snprintf(c->message, sizeof c->message, "%s", sentence);
    return -(int)PETSC_ERR_USER;
}

/* PETSc calls its handler once where an error occurs and then once for each caller on the way up.  Only the first call
   tells something new. */
PetscErrorCode petsc_record(MPI_Comm comm, int line, const char *function, const char *file, PetscErrorCode code,
                            PetscErrorType kind, const char *text, void *ctx)
{
    costate_petsc *c = ctx;
    const char *general = NULL;
    (void)comm, (void)file;
    if (kind != PETSC_ERROR_INITIAL) return code;
    PetscErrorMessage((int)code, &general, NULL);
    snprintf(c->message, sizeof c->message, "PETSc, error %d in %s, line %d: %s%s%s", (int)code, function, line,
             general ? general : "", general && text ? ": " : "", text ? text : "");
    return code;
}
