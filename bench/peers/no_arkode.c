/* no_arkode.c - stands in where LSRKStep of ARKODE is missing. */
#include "peer.h"

int race_arkode(const race_task *task, const ivp *b, race_result *r)
{
    (void)task, (void)b;
    return race_fail(r, COSTATE_BACKEND, "ARKODE's LSRKStep was not built in");
}
