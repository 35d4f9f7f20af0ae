/* newton.c - consistent values by Newton's iteration: damped until it converges, then to round-off
   (mathematics, eq. 11.4).

   A step is reduced until the next simplified step is shorter, a test that does not depend on the scaling of the
   equations (Deuflhard, Newton methods for nonlinear problems, 2004, 3.3): with dx = A^-1 r at x,

       |A^-1 r(x + a dx)| <= (1 - a/4) |dx|,     a = 1, 1/2, 1/4, ...

   Near the solution A is kept, and the increments decrease until they are round-off. */
#include <float.h>
#include <math.h>
#include <string.h>
#include "base/vec.h"
#include "start/start.h"

enum { MOST = 60, MOST_KEPT = 12 };
static const double SHORTEST = 1e-6;            /* a */

typedef struct {
    starter *s;
    const phase *p;
    start_values *f;
    double size, next;                          /* |dx|, and of the simplified increment after it */
    int last;                                   /* steps taken */
    int undefined;                              /* 1: the equations are not, at the last point tried */
} line_search;

/* the accuracy required of the unknowns, in the norm of the step dx from here */
static void set_units(line_search *x)
{
    starter *s = x->s;
    double rate = 0;
    for (int j = 0; j < s->maps->n; j++)
        if (!x->f->unknown[j]) rate = fmax(rate, (fabs(x->f->k[j]) + fabs(s->dx[j])) * s->w[j]);
    for (int j = 0; j < s->maps->n; j++) s->unit[j] = x->p->unit(s, x->f, s->dx, j, rate);
}

static double size_of(const line_search *x, const double *dx)
{
    double most = 0;
    for (int j = 0; j < x->s->maps->n; j++) {
        double unit = x->s->unit[j], d = fabs(dx[j]);
        if (unit > 0 && !(d <= most * unit)) most = d / unit;
    }
    return most;
}

static void keep_place(line_search *x)
{
    size_t n = (size_t)x->s->maps->n;
    memcpy(x->s->from, x->f->y, n * sizeof(double));
    memcpy(x->s->from + n, x->f->k, n * sizeof(double));
    memcpy(x->s->from + 2 * n, x->f->along, n * sizeof(double));
}

/* d <- A^-1 r here; RETRY: not defined here */
static int increment(line_search *x, double *d)
{
    starter *s = x->s;
    TRY(x->p->value(s, x->f, d));
    if (!all_finite((size_t)s->maps->n, d)) return retry(s->maps->v, WHY_NOT_FINITE);
    s->maps->count->solves++;
    int code = LS_Solve(s->factored, 0, 1, d);
    if (code > 0) return retry(s->maps->v, WHY_SINGULAR);
    const costate_backend *by = s->factored == s->lu ? s->sh->backend : costate_backend_find("dense");
    return code ? shifts_failure(s->sh, by, code) : 0;
}

/* a damped step along dx; r: the increment after it */
static int damped(line_search *x, double *length)
{
    starter *s = x->s;
    keep_place(x);
    for (double a = 1; a >= SHORTEST; a /= 2) {
        x->p->move(s, x->f, a, s->dx);
        int status = increment(x, s->r);
        if (status < 0) return status;
        x->undefined = status != 0;
        x->next = status ? HUGE_VAL : size_of(x, s->r);
        *length = a;
        if (x->next <= (1 - a / 4) * x->size) return 0;
    }
    x->p->move(s, x->f, 0, s->dx);
    return RETRY;
}

/* iterates with A unchanged until increments stop decreasing; *there: they had reached the required accuracy */
static int to_round_off(line_search *x, int *there)
{
    starter *s = x->s;
    size_t n = (size_t)s->maps->n;
    for (int k = 0; k < MOST_KEPT && x->next > 0; k++) {
        memcpy(s->dx, s->r, n * sizeof *s->dx);
        double size = x->next;
        keep_place(x);
        x->p->move(s, x->f, 1, s->dx);
        int status = increment(x, s->r);
        if (status < 0) return status;
        if (status) { x->p->move(s, x->f, 0, s->dx); return 0; }
        x->next = size_of(x, s->r);
        if (!(x->next <= size / 2)) { *there = size <= 1; return 0; }
    }
    *there = x->next <= 1;
    return 0;
}

/* ---- what is wrong where it fails ---- */

static int not_defined(const line_search *x)
{
    verdict *v = x->s->maps->v;
    return fail(v, cause_status(v->why), "No consistent values were found from this guess at t = %.10g: Newton's "
                "iteration for %s stopped after %d steps, and where it would have gone %s.  Give a guess that is "
                "nearer.", x->f->t, x->p->name, x->last, cause_text(v->why));
}

static int not_found(line_search *x)
{
    starter *s = x->s;
    double *size = s->work, most = -1;
    int row = 0;
    memset(size, 0, (size_t)s->maps->n * sizeof *size);
    LS_AddModuli(s->factored, 0, s->unit, size);                /* of a row, times the accuracy required of its unknowns
    */
    int status = x->undefined ? RETRY : x->p->value(s, x->f, s->r);
    if (status) return status < 0 ? status : not_defined(x);
    for (int i = 0; i < s->maps->n; i++) {
        double missed = s->r[i] == 0 ? 0 : fabs(s->r[i]) / fmax(size[i], DBL_MIN);
        if (missed > most) { most = missed; row = i; }
    }
    return fail(s->maps->v, COSTATE_INCONSISTENT, "No consistent values were found from this guess at t = %.10g: "
                "Newton's iteration for %s stopped after %d steps, where row %d still misses by %.3g.  Give a guess "
                "that is nearer, or check problem.index.", x->f->t, x->p->name, x->last, row, fabs(s->r[row]));
}

int start_newton(starter *s, const phase *p, start_values *f)
{
    line_search x = {.s = s, .p = p, .f = f};
    for (; x.last < MOST; x.last++) {
        double length;
        TRY(p->matrix(s, f));
        TRY(increment(&x, s->dx));
        set_units(&x);
        x.size = size_of(&x, s->dx);
        int status = damped(&x, &length);
        if (status < 0) return status;
        if (status == RETRY && x.size > 1) return not_found(&x);
        if (status == RETRY) return 0;
        int there = 0;
        if (length == 1 && x.next <= 0.1 * x.size && x.next <= 1) TRY(to_round_off(&x, &there));
        if (there) return 0;
    }
    return not_found(&x);
}
