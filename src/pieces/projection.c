/* projection.c - finds the projection of a state onto invariants by Newton's iteration (mathematics, section 10.8).

       z = y + W G^T mu,   g(t, z, p) = c:     mu <- mu - A^-1 (g(z) - c),   A = g_y(z) W G^T

   A is that at y while residuals fall by SLOW in an iteration, and formed anew where they do not.  The iteration goes
   on to round-off: until residuals, in units of the round-off of their terms, fall no more. */
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "linsol/few.h"
#include "maps/callbacks.h"
#include "pieces/project.h"

enum { MOST = 30 };
static const double SLOW = 0.1;                 /* residuals that fall by less request a new A */
static const double SHORTEST = 1.0 / 64;        /* part of an iteration */
static const double ROUND_OFF = 100;            /* units: residuals that are left where they fall no more */

/* ---- work space ---- */

static void lock(costate_projection *q) { while (atomic_flag_test_and_set(&q->guard)) {} }
static void unlock(costate_projection *q) { atomic_flag_clear(&q->guard); }

work *work_take(costate_projection *q)
{
    lock(q);
    work *w = q->idle;
    if (w) q->idle = w->next;
    unlock(q);
    size_t n = (size_t)q->n;
    if (w || !(w = calloc(1, sizeof *w + 5 * n * sizeof *w->z))) return w;
    w->z = (double *)(w + 1);
    w->dz = w->z + n;
    w->v = w->dz + n;
    w->u = w->v + n;
    w->e = w->u + n;
    return w;
}

void work_give(costate_projection *q, work *w)
{
    lock(q);
    w->next = q->idle;
    q->idle = w;
    unlock(q);
}

void work_free(work *w)
{
    while (w) {
        work *next = w->next;
        free(w);
        w = next;
    }
}

/* ---- the iteration ---- */

void project_move(const costate_projection *q, const double *x, double *out)
{
    for (int j = 0; j < q->n; j++) out[j] = q->g.move ? q->g.move[j] * x[j] : x[j];
}

void project_solve(const costate_projection *q, const work *w, int transpose, double *x)
{
    LS_few(q->g.count, 0)->solve[transpose](q->g.count, 1, w->A, w->pivot, x);
}

int project_push(const costate_projection *q, const costate_point *at, const costate_point *dx, double *out)
{
    TRY(call_prepare(&q->g.g, at, q->ctx));
    return call_tangent(&q->g.g, at, dx, out, q->ctx);
}

int project_pull(const costate_projection *q, const costate_point *at, const double *w, const costate_gradient *g)
{
    TRY(call_prepare(&q->g.g, at, q->ctx));
    return call_adjoint(&q->g.g, at, w, g, q->ctx);
}

/* G^T a */
static int rows_of(const costate_projection *q, const work *w, const double *a, double *v)
{
    memset(v, 0, (size_t)q->n * sizeof *v);
    return project_pull(q, &w->at, a, &(costate_gradient){.y = v});
}

int project_along(const costate_projection *q, const work *w, const double *a, double *v)
{
    TRY(rows_of(q, w, a, v));
    project_move(q, v, v);
    return 0;
}

/* A at z; units: |g_y z| eps, of the rows at y */
static int form(const costate_projection *q, work *w, int with_units)
{
    int k = q->g.count;
    for (int l = 0; l < k; l++) {
        double one[K] = {0};
        one[l] = 1;
        TRY(rows_of(q, w, one, w->v));
        for (int j = 0; with_units && j < q->n; j++) w->unit[l] += DBL_EPSILON * fabs(w->v[j] * w->at.y[j]);
        project_move(q, w->v, w->v);
        TRY(project_push(q, &w->at_z, &(costate_point){.y = w->v}, w->A + l * k));
    }
    for (int i = 0; i < k * k; i++) if (!(fabs(w->A[i]) < HUGE_VAL)) return 1;
    return LS_few(k, 0)->factor(k, w->A, w->A, w->pivot, w->diagonal);
}

/* z and r = g(z) - c for mu; size: of r in units */
static int residual(const costate_projection *q, work *w, const double *c, double *r, double *size)
{
    TRY(project_along(q, w, w->mu, w->z));
    for (int j = 0; j < q->n; j++) w->z[j] += w->at.y[j];
    TRY(q->g.g.value(&w->at_z, r, q->ctx));
    *size = 0;
    for (int l = 0; l < q->g.count; l++) {
        if (c) r[l] -= c[l];
        double part = r[l] == 0 ? 0 : fabs(r[l]) / w->unit[l];
        if (!(part <= *size)) *size = part;
    }
    return *size < HUGE_VAL ? 0 : 1;
}

/* One iteration from r, shortened until it makes r smaller; where none does, mu and z stay.  A step that is round-off
   is not shortened. */
static int improve(const costate_projection *q, work *w, const double *c, double *r, double *size, int *better)
{
    double before[K], step[K], was = *size;
    memcpy(before, w->mu, sizeof before);
    memcpy(step, r, sizeof step);
    project_solve(q, w, 0, step);
    for (double a = 1; a >= SHORTEST; a /= 2) {
        for (int l = 0; l < q->g.count; l++) w->mu[l] = before[l] - a * step[l];
        int status = residual(q, w, c, r, size);
        if (status < 0) return status;
        *better = status == 0 && *size < was;
        if (*better) return 0;
        if (was <= ROUND_OFF) break;
    }
    memcpy(w->mu, before, sizeof before);
    return residual(q, w, c, r, size);
}

int project(const costate_projection *q, const costate_point *x, int with_matrix, work *w)
{
    const double *c = q->g.keep ? x->m + q->g.memory : NULL;
    double r[K], size;
    int anew = 1;                               /* A is that of z */
    w->at = *x;
    w->at.m = NULL;
    w->at_z = w->at;
    w->at_z.y = w->z;
    memset(w->mu, 0, sizeof w->mu);
    memset(w->unit, 0, sizeof w->unit);
    memcpy(w->z, x->y, (size_t)q->n * sizeof *w->z);
    TRY(form(q, w, 1));
    for (int l = 0; l < q->g.count; l++) w->unit[l] += DBL_MIN + (c ? DBL_EPSILON * fabs(c[l]) : 0);
    TRY(residual(q, w, c, r, &size));
    for (int i = 0; i < MOST && size > 0; i++) {
        double was = size;
        int better;
        TRY(improve(q, w, c, r, &size, &better));
        if (!better && (anew || size <= ROUND_OFF)) break;
        if (better && size <= SLOW * was) { anew = 0; continue; }
        TRY(form(q, w, 0));
        anew = 1;
    }
    if (!(size <= ROUND_OFF)) return 1;
    return anew || q->g.linear || !with_matrix ? 0 : form(q, w, 0);
}
