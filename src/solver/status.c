/* status.c - statuses and messages. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "solver/members.h"
#include "solver/status.h"

static const double MOSTLY_ZEROS = 0.1;      /* fraction of nonzeros below which a sparse factorisation is much faster
                                                */

/* appends a remark of the family to the message */
static void add_remark(costate *c, int failed)
{
    size_t used = strlen(c->v.text);
    int made = c->st.own && c->st.F->remark && !c->st.method->of;
    if (made) c->st.F->remark(&c->st, failed, c->v.text + used, sizeof c->v.text - used);
}

/* A wrong jac costs steps, not accuracy: nothing else shows it. */
static void jac_remark(costate *c, int status)
{
    int of_jac = status == COSTATE_STEP_TOO_SMALL || status == COSTATE_MAX_STEPS || status == COSTATE_NEWTON ||
                 status == COSTATE_SINGULAR;
    if (of_jac && c->maps.user.jac && c->maps.count->jac > 0)
        remarked(&c->v, "  A wrong problem.jac has this effect, too (it is stored by columns): costate_check_problem "
                 "compares it with %s.", c->maps.rhs.name);
}

/* for failures that another method, or another jac, may avoid */
void remark(costate *c, int status)
{
    jac_remark(c, status);
    int of_steps = status == COSTATE_STEP_TOO_SMALL || status == COSTATE_MAX_STEPS || status == COSTATE_NOT_FINITE;
    if (of_steps) add_remark(c, 1);
}

void no_error(costate *c)
{
    verdict_clear(&c->v);
    if (c->maps.form.filled > 0 && c->maps.form.filled <= MOSTLY_ZEROS)
        snprintf(c->v.text, sizeof c->v.text, "No error.  Of the %d by %d entries of the Jacobian %.2g %% were not "
                 "zero when it was first formed: with a problem.pattern (costate_pattern_detect finds one) runs would "
                 "be faster.", c->st.n, c->st.n, 100 * c->maps.form.filled);
    add_remark(c, 0);
}

void bound_remark(costate *c)
{
    if (c->remarks.beyond > 1.01)
        remarked(&c->v, "  Steps were up to %.2g times as long as options.step_bound allows.", c->remarks.beyond);
}

void inside_remark(costate *c, unsigned members)
{
    int k = 0, count = members_count(&c->st);
    while (k < count && !(members >> k & 1 && member_is_coarse(c, k))) k++;
    if (k < count)
        remarked(&c->v, "  Steps of %s are less accurate inside than at their ends, as the dense output has order %d: "
                 "options.accurate_inside = 1 makes values between steps as accurate.", c->st.members[k].m->name,
                 c->st.members[k].m->dense.order);
    if (members && constrained(c))
        remarked(&c->v, "  Algebraic unknowns between steps are interpolated: they satisfy their equations only at the "
                 "ends of steps, where problem.stops can put observations.");
}

int costate_status(const costate *c) { return c ? c->v.status : COSTATE_BAD_ARGUMENT; }

const char *costate_message(const costate *c)
{
    return c ? c->v.text : "There is no solver (NULL): costate_new found no memory, or was not called.";
}

const char *costate_status_name(int status)
{
    static const char *const name[] = {
        "COSTATE_OK", "COSTATE_BAD_ARGUMENT", "COSTATE_MISSING", "COSTATE_NO_MEMORY", "COSTATE_BACKEND",
        "COSTATE_MAX_STEPS", "COSTATE_STEP_TOO_SMALL", "COSTATE_SINGULAR", "COSTATE_NEWTON", "COSTATE_CALLBACK",
        "COSTATE_NOT_FINITE", "COSTATE_TAPE_LIMIT", "COSTATE_BAD_TAPE", "COSTATE_STOPPED", "COSTATE_STAGNATED",
        "COSTATE_OUT_OF_RANGE", "COSTATE_CHECK_FAILED", "COSTATE_INCONSISTENT", "COSTATE_VERSION_MISMATCH",
        "COSTATE_GRAZING", "COSTATE_TOO_MANY_EVENTS", "COSTATE_BAD_EVENT", "COSTATE_MESH_LIMIT",
        "COSTATE_IO", "COSTATE_ACCURACY", "COSTATE_NO_LIMIT",
    };
    int count = (int)(sizeof name / sizeof *name);
    return status <= 0 && status > -count ? name[-status] : "unknown status";
}
