/* backwards.c (rkc) - recomputes the stages of the recurrence, and for second order their tangents, for the adjoint of
   a step (mathematics, section 4.3).

   All stages are stored if there is room; otherwise they are recomputed in segments, each from the two stages before
   it. */
#include <math.h>
#include <string.h>
#include "rkc/rkc.h"

static int segments(int count, int length) { return (count + length - 1) / length; }

/* the segment length for which a segment and the pairs of stages before all segments take the same memory */
static int shortest(int count) { return (int)fmax(2, ceil(sqrt(2.0 * count))); }

/* The number of stages in memory: all, or a segment of the length that minimises memory. */
static int length_for(size_t room, int count) { return (size_t)count <= room ? count : shortest(count); }

size_t rkc_stage_room(const stepper *c, int count, size_t numbers)
{
    size_t bytes = numbers * sizeof(double), limit = c->o->tape_limit ? c->o->tape_limit / bytes : (size_t)count;
    int length = shortest(count);
    size_t least = (size_t)length + 2 * (size_t)segments(count, length);
    return limit < least ? least : limit < (size_t)count ? limit : (size_t)count;
}

/* n*m of the tangents of a stage */
static size_t width(const stepper *c, const stages *s) { return (size_t)c->n * (size_t)s->along->m; }

/* number k of those at g, v */
static stage numbered(const stepper *c, const stages *s, const double *g, const double *v, int k)
{
    return (stage){g + (size_t)k * (size_t)c->n, s->along ? v + (size_t)k * width(c, s) : NULL};
}

/* stage j from the last and the one before that, to number k of those at g, v */
static int backwards_make(stepper *c, const record *r, const stages *s, int j, const stage *last, const stage *before,
                          double *g, double *v, int k)
{
    rkc_work *a = rkc_of(c);
    size_t n = (size_t)c->n;
    const double *F = a->f0, *T = a->second.T0;
    if (j > 1) {
        TRY(rkc_slope_y(c, rkc_time(r, s->d->c[j - 2]), last->g, a->F));
        F = a->F;
    }
    rkc_recur(s->d, j, n, r->h, a->start, last->g, before->g, F, a->f0, g + (size_t)k * n);
    if (!s->along) return 0;
    if (j > 1) {
        TRY(rkc_slopes(c, r, s->along, s->d->c[j - 2], *last, F, n, a->second.T));
        T = a->second.T;
    }
    rkc_recur(s->d, j, width(c, s), 1, a->second.Vd0, last->v, before->v, T, a->second.T0, v + (size_t)k * width(c, s));
    return 0;
}

int rkc_segment(stepper *c, const record *r, stages *s, int k)
{
    const rkc_work *a = rkc_of(c);
    size_t n = (size_t)c->n;
    stage start = {a->start, a->second.Vd0}, before = start, last;
    if (k) {
        before = numbered(c, s, s->pairs, s->tangent_pairs, 2 * k);
        start = numbered(c, s, s->pairs, s->tangent_pairs, 2 * k + 1);
    }
    s->first = k * s->length;
    s->last = s->first + s->length - 1 < s->end ? s->first + s->length - 1 : s->end;
    memcpy(s->g, start.g, n * sizeof *s->g);
    if (s->along) memcpy(s->v, start.v, width(c, s) * sizeof *s->v);
    for (int j = s->first + 1; j <= s->last; j++) {
        last = numbered(c, s, s->g, s->v, j - 1 - s->first);
        TRY(backwards_make(c, r, s, j, &last, &before, s->g, s->v, j - s->first));
        before = last;
    }
    return 0;
}

/* computes the first stage of the next segment from the last two of this one */
static int go_on(stepper *c, const record *r, stages *s, int next)
{
    size_t n = (size_t)c->n;
    stage last = numbered(c, s, s->g, s->v, s->length - 1), before = numbered(c, s, s->g, s->v, s->length - 2);
    TRY(backwards_make(c, r, s, s->last + 1, &last, &before, s->pairs, s->tangent_pairs, 2 * next + 1));
    memcpy(s->pairs + 2 * n * (size_t)next, last.g, n * sizeof *s->pairs);
    if (s->along)
        memcpy(s->tangent_pairs + 2 * width(c, s) * (size_t)next, last.v, width(c, s) * sizeof *s->tangent_pairs);
    return 0;
}

/* tangents of y, and of its slope */
static int begin_tangents(stepper *c, const record *r, stages *s)
{
    rkc_work *a = rkc_of(c);
    const directions *d = s->along;
    size_t n = (size_t)c->n;
    s->v = a->second.tangents;
    s->tangent_pairs = s->v + (size_t)s->length * width(c, s);
    for (size_t j = 0; j < (size_t)d->m; j++)
        memcpy(a->second.Vd0 + j * n, d->V + j * (size_t)c->N, n * sizeof *d->V);
    return rkc_slopes(c, r, d, 0, (stage){a->start, a->second.Vd0}, a->f0, n, a->second.T0);
}

int rkc_stages(stepper *c, const record *r, const degree *d, int end, const directions *along, stages *s)
{
    rkc_work *a = rkc_of(c);
    *s = (stages){.d = d, .along = along, .end = end, .g = a->stages};
    s->length = length_for(along ? a->second.room : a->room, end + 1);
    s->pairs = s->g + (size_t)s->length * (size_t)c->n;
    rkc_start(c, r);
    TRY(rkc_slope(c, r->t, a->start, a->f0));
    if (along) TRY(begin_tangents(c, r, s));
    int count = segments(end + 1, s->length);
    for (int k = 0; k < count; k++) {
        TRY(rkc_segment(c, r, s, k));
        if (k < count - 1) TRY(go_on(c, r, s, k + 1));
    }
    return 0;
}
