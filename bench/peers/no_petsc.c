/* no_petsc.c - stands in where PETSc is missing. */
#include "peer.h"

int race_petsc(const race_task *task, const ivp *b, race_result *r)
{
    (void)task, (void)b;
    return race_fail(r, COSTATE_BACKEND, "PETSc was not built in");
}
