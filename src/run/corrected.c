/* corrected.c - problem.after_step in a run: at its start, after accepted steps, and what is said of it. */
#include <math.h>
#include "base/larger.h"
#include "run/corrected.h"
#include "run/events.h"
#include "run/watch.h"

int correct_start(costate *c, run *x)
{
    mapped e = {.event = STARTED, .timed = 1, .from = c->maps.bound.situation, .to = c->maps.bound.situation, .t = x->t,
                .y = c->work.y, .y1 = c->work.y1, .k = c->work.yp};
    return decided(&c->v, map_state(c, x->tape, x, c->work.corrected, NULL, &e), "the derivative of after_step");
}

int correct_step(costate *c, run *x)
{
    int free = PART_MOST * fabs(x->h) < fabs((x->t1 - x->t) - x->low);       /* not the last */
    int status = correct_value(&c->st, &x->now, NULL, free, c->work.corrected, c->work.y1);
    if (status == RETRY && c->watch.count > 0) watch_undo(c, x);
    return status;
}

/* the change of the state, in the units of its tolerances */
static int correction_size(costate *c, const record *r)
{
    const double *before = uncorrected(&c->st, r);
    double size;
    for (int i = 0; i < c->st.N; i++) c->work.err[i] = i < c->st.n ? c->work.y[i] - before[i] : 0;
    TRY(error_norm(&c->st, before, c->work.y, c->work.err, &size));
    if (size > c->remarks.correction.size) c->remarks.correction = (correction){c->v.t, size};
    c->count.correction = larger(c->count.correction, size);
    return 0;
}

int relaxed_tangents(costate *c, const run *x)
{
    if (!(x->now.part > 0)) return 0;
    return decided(&c->v, relax_tangent(&c->st, &c->d.events, &x->now, x->d, c->d.dh),
                   "the derivative of after_step.invariant");
}

/* After the step was corrected: tangents are, too.  Those of relaxation have been (relaxed_tangents).  A change of the
   length of a step is not an error, and not compared with the tolerances.  Guards are evaluated anew at the start of
   the next step. */
int correct_run(costate *c, run *x)
{
    const directions *d = x->d;
    int mode = c->maps.bound.situation;
    c->count.corrections++;
    int relaxed = x->now.part > 0;
    if (!relaxed) TRY(correction_size(c, &x->now));
    c->watch.armed = 0;
    for (int k = 0; k < c->watch.count; k++) if (!c->watch.guard[k].from_zero) c->watch.guard[k].fired = 0;
    int status = d && !relaxed ? correct_tangent(&c->st, &c->d.events, &x->now, d->m, c->d.dt, x->Va, d->Vp) : 0;
    memory_bind(&c->st, c->work.y, mode);
    return decided(&c->v, status, "the derivative of after_step");
}

void correction_remark(costate *c)
{
    correction most = c->remarks.correction;
    if (!(most.size > 1) || c->o.controller == COSTATE_FIXED) return;
    remarked(&c->v, "  problem.after_step changed the state by up to %.2g times the tolerances (at t = %.10g): unless "
             "that is meant, the model is at fault, or the tolerances are too loose for it.", most.size, most.t);
}
