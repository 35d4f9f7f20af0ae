/* version.c (ensemble) - handles programs that were compiled with the header of another version. */
#include <costate/ensemble.h>
#include "calls/version.h"

int costate_ensemble_sized(const costate_size *program, const costate_method *m, const costate_problem *P,
                           const costate_options *o, const costate_members *all, costate_ensemble_report *report)
{
    if (mismatch(program)) return mismatch_refused(program, "costate_ensemble_report", report);
    costate_options room;
    return costate_ensemble(m, P, grown(program, "costate_options", o, &room), all, report);
}

int costate_check_lanes_sized(const costate_size *program, const costate_problem *P, const costate_lane_maps *list,
                              const costate_point *x, costate_report *report)
{
    if (mismatch(program)) return mismatch_refused(program, "costate_report", report);
    return costate_check_lanes(P, list, x, report);
}
