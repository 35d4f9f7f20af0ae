/* version.c - calls from programs that may have been compiled with the header of another version. */
#include <stdlib.h>
#include "bvp/bvp.h"
#include "calls/version.h"

costate_bvp *costate_bvp_new_sized(const costate_size *program, const costate_method *m, const costate_problem *P,
                                   const costate_conditions *g, const costate_bvp_options *o)
{
    const costate_size *odd = mismatch(program);
    costate_bvp_options room;
    if (!odd) return costate_bvp_new(m, P, g, grown(program, "costate_bvp_options", o, &room));
    costate_bvp *b = calloc(1, sizeof *b);
    if (b) mismatch_said(&b->v, program, odd);
    return b;
}

int costate_check_bvp_sized(const costate_size *program, costate_bvp *b, double from, double to, const double *p,
                            costate_report *report)
{
    if (mismatch(program)) return mismatch_refused(program, "costate_report", report);
    return costate_check_bvp(b, from, to, p, report);
}
