/* dense.c - the state inside a step: u(theta) = y + sum_j D_j(theta) X_j, theta = (t - t_n)/h (erk: h X_j). */
#include <string.h>
#include "core.h"

void dense_weights(const costate_method *m, double theta, double *D, double *D1)
{
    for (int j = 0; j < m->s; j++) {
        const double *a = m->D + (size_t)j * (size_t)m->degree;
        double v = 0, dv = 0;
        for (int k = m->degree; k > 0; k--) { dv = dv * theta + k * a[k - 1]; v = (v + a[k - 1]) * theta; }
        D[j] = v;
        if (D1) D1[j] = dv;
    }
}

void dense_eval(const costate *c, const record *r, double t, double *y)
{
    double D[STAGES_MOST];
    dense_weights(c->m, (t - r->t) / r->h, D, NULL);
    combine((size_t)c->n, y, r->y, c->m->family == COSTATE_ERK ? r->h : 1, c->s, D, r->X, (size_t)c->n);
}

static int inside(double t, double a, double b) { return (a <= t && t <= b) || (b <= t && t <= a); }

double costate_step_start(const costate_step *s) { return s ? s->r->t : 0; }
double costate_step_end(const costate_step *s) { return s ? s->c->v.t : 0; }
const double *costate_step_state(const costate_step *s) { return s ? s->c->y1 : NULL; }

int costate_step_eval(const costate_step *s, double t, double *y)
{
    if (!s || !y) return COSTATE_BAD_ARGUMENT;
    if (!inside(t, s->r->t, s->c->v.t)) return COSTATE_OUT_OF_RANGE;
    if (t == s->c->v.t) memcpy(y, s->c->y1, (size_t)s->c->n * sizeof *y);
    else dense_eval(s->c, s->r, t, y);
    return COSTATE_OK;
}

/* the step that holds t: the last whose start is not past it */
static int step_at(const costate_tape *tape, double t)
{
    int low = 0, high = tape->count - 1, dir = tape->t1 >= tape->t0 ? 1 : -1;
    while (low < high) {
        int mid = (low + high + 1) / 2;
        if (dir * (tape->list[mid].t - t) <= 0) low = mid;
        else high = mid - 1;
    }
    return low;
}

int costate_tape_eval(costate *c, const costate_tape *tape, double t, double *y)
{
    int status = begin(c);
    if (status != COSTATE_OK || (status = tape_fits(c, tape)) != COSTATE_OK) return status;
    if (!y) return fail(&c->v, COSTATE_BAD_ARGUMENT, "y is NULL.");
    if (!inside(t, tape->t0, tape->t1))
        return fail(&c->v, COSTATE_OUT_OF_RANGE, "t = %.10g lies outside the tape's [%.10g, %.10g].", t, tape->t0, tape->t1);
    if (t == tape->t1 || tape->count == 0) { memcpy(y, tape->end, (size_t)c->n * sizeof *y); return COSTATE_OK; }
    record r;
    c->maps.p = tape->p;
    if (tape->storage == COSTATE_STATES_ONLY) forget(c);
    double ended = c->v.t;                 /* of the last run; a failure is in this step */
    int k = step_at(tape, t);
    c->v.t = tape->list[k].t;
    if ((status = tape_stages(c, tape, k, &r)) != COSTATE_OK) return status;
    c->v.t = ended;
    dense_eval(c, &r, t, y);
    return COSTATE_OK;
}
