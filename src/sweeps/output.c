/* output.c - dense output: the state inside a step, during a run and from a tape. */
#include <string.h>
#include "solver/status.h"
#include "sweeps/inside.h"
#include "sweeps/output.h"
#include "sweeps/sweep.h"

static int inside(double t, double a, double b) { return (a <= t && t <= b) || (b <= t && t <= a); }

double costate_step_start(const costate_step *s) { return s ? s->r->t : 0; }
double costate_step_end(const costate_step *s) { return s ? s->c->v.t : 0; }
const double *costate_step_state(const costate_step *s) { return s ? s->c->work.y1 : NULL; }

int costate_step_eval(const costate_step *s, double t, double *y)
{
    if (!s || !y) return COSTATE_BAD_ARGUMENT;
    if (!inside(t, s->r->t, s->c->v.t)) return COSTATE_OUT_OF_RANGE;
    if (t == s->c->v.t) memcpy(y, s->c->work.y1, (size_t)s->c->st.n * sizeof *y);
    else dense_eval(&s->c->st, s->r, t, y);
    if (t != s->c->v.t && t != s->r->t) s->c->remarks.inside |= 1u << s->c->st.at;
    return COSTATE_OK;
}

int solver_tape_eval(costate *c, const costate_tape *tape, double t, double *y)
{
    TRY(begin(c));
    TRY(tape_serves(&c->st, &c->P, tape, 0));
    if (!y) return fail(&c->v, COSTATE_BAD_ARGUMENT, "y is NULL.");
    if (!inside(t, tape->from.t0, tape->from.t1))
        return fail(&c->v, COSTATE_OUT_OF_RANGE, "t = %.10g lies outside the tape's [%.10g, %.10g].", t, tape->from.t0,
                    tape->from.t1);
    if (t == tape->from.t1 || tape->count == 0) {
        memcpy(y, tape->end, (size_t)c->st.n * sizeof *y);
        return COSTATE_OK;
    }
    record r;
    maps_bind(&c->maps, tape->p);
    maps_know(&c->maps, &tape->situations);     /* another tape may have numbered them otherwise, and be gone */
    double ended = c->v.t;                 /* the time of the last run, restored below; a failure reports this step */
    int k = inside_find(tape, t);
    if (!tape->list[k].X) forget(c);        /* its stages are recomputed */
    verdict_at(&c->v, tape->list[k].t);
    TRY(tape_take(&c->st, c->self, tape));
    int status = step_of_tape(c, tape, k, &r);
    if (status == 0) dense_eval(&c->st, &r, t, y);
    tape_leave(tape);
    if (status == 0) verdict_at(&c->v, ended);
    if (status == 0) inside_remark(c, inside_of(tape, k, t));
    return status;
}
