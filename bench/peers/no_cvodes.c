/* no_cvodes.c - stands in where SUNDIALS is missing. */
#include "peer.h"

int race_cvodes(const race_task *task, const ivp *b, race_result *r)
{
    (void)task, (void)b;
    return race_fail(r, COSTATE_BACKEND, "cvodes was not built in");
}

int race_rooms(const race_task *task, const ivp *b, race_result *r) { return race_cvodes(task, b, r); }
