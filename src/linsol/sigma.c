/* sigma.c - reads the table of shifts, and converts the code of a backend to a status with a message. */
#include "linsol/shifts.h"

double shifts_sigma(const shifts *s, int k, double *im)
{
    const double *pair = s->sigma + s->nreal + 2 * (k - s->nreal);
    *im = k < s->nreal ? 0 : pair[1];
    return k < s->nreal ? s->sigma[k] : pair[0];
}

int shifts_failure(shifts *s, const costate_backend *b, int code)
{
    if (code == COSTATE_LS_NO_MEMORY)
        return fail(s->v, COSTATE_NO_MEMORY, "The linear solver %s found no memory.", b->name);
    return fail(s->v, COSTATE_BACKEND, "The linear solver %s failed (code %d).", b->name, code);
}

int shifts_code(shifts *s, const costate_backend *b, int code, enum cause why)
{
    if (code > 0) code = retry(s->v, why);
    else if (code < 0) code = shifts_failure(s, b, code);
    return space_agree(&s->maps->space, code);
}
