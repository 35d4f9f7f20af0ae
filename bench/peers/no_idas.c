/* no_idas.c - stands in where IDAS of SUNDIALS is missing. */
#include "peer.h"

int race_idas(const race_task *task, const ivp *b, race_result *r)
{
    (void)task, (void)b;
    return race_fail(r, COSTATE_BACKEND, "idas was not built in");
}
