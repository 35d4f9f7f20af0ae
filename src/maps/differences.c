/* differences.c - approximates missing products by central differences of the next lower derivative.

   An adjoint needs one difference for each entry of t, y, p and m whose gradient is wanted. */
#include <float.h>
#include <math.h>
#include <string.h>
#include "base/vec.h"
#include "maps/differences.h"

int map_failed(maps *a, int r, const char *f, const char *name)
{
    if (r == 0) return space_agree(&a->space, 0);
    if (r > 0) return space_agree(&a->space, retry(a->v, WHY_CALLBACK));
    a->v->gave_up = 1;
    fail(a->v, COSTATE_CALLBACK, "The callback %s.%s returned %d at t = %.10g and so ended the run.", f, name, r,
         a->v->t);
    return space_agree(&a->space, COSTATE_CALLBACK);
}

/* Buffers of one difference; levels may nest (adjoint_tangent2 of an adjoint_tangent of an adjoint of a value). */
typedef struct { double *y, *p, *a, *b, *yp, *m, *out; } buffers;
enum { OF_TANGENT, OF_ADJOINT, OF_SECOND, OF_THIRD };

static buffers level(const maps *a, int k)
{
    size_t n = (size_t)a->n, np = (size_t)a->np, nm = (size_t)a->nm, N = n + nm + (size_t)a->nq;
    double *z = a->room.work + (size_t)k * (5 * N + np + nm);
    return (buffers){z, z + N, z + N + np, z + 2 * N + np, z + 3 * N + np, z + 4 * N + np, z + 4 * N + np + nm};
}

/* x + e dx, in buffers */
static costate_point moved(const maps *a, const costate_point *x, const costate_point *dx, double e, const buffers *b)
{
    size_t n = (size_t)a->n;
    costate_point z = *x;
    z.t += e * dx->t;
    if (z.t != x->t) point_side(a, &z);
    if (dx->y) { add_scaled(n, b->y, x->y, e, dx->y); z.y = b->y; }
    if (dx->p && a->np) { add_scaled((size_t)a->np, b->p, x->p, e, dx->p); z.p = b->p; }
    if (dx->m && a->nm) { add_scaled((size_t)a->nm, b->m, x->m, e, dx->m); z.m = b->m; }
    if (dx->yp && x->yp) { add_scaled(n, b->yp, x->yp, e, dx->yp); z.yp = b->yp; }
    return z;
}

/* the largest change of a component of y' relative to the largest rate at the point, both in the units of y; of a point
   at rest, one unit of y in a unit of time */
static double relative_slope(const maps *a, const costate_point *x, const costate_point *dx)
{
    double rate = 0, change = 0;
    for (int i = 0; i < a->n; i++) {
        double unit = fmax(fabs(x->y[i]), 1 / (a->bound.w[i] > 0 ? a->bound.w[i] : 1));
        rate = fmax(rate, fabs(x->yp[i]) / unit);
        change = fmax(change, fabs(dx->yp[i]) / unit);
    }
    return change / (rate > 0 ? rate : 1);
}

/* ---- step and sides ---- */

/* cube root of round-off: the step of a central difference of what is exact, relative to the point */
#define CUBE_ROOT 6e-6

/* A difference of exact products is wrong by round-off over its step, 4e-11, and one of such differences by 1e-7: steps
   of differences of what holds none, one or two of them. */
static const double EPS[] = {CUBE_ROOT, 3e-4, 5e-3};

/* f' dx = sum_k weight_k f(x + at_k e dx) / e, of second order.  In pairs of opposite weights, so that what does not
   change has the difference 0 and not round-off over e. */
typedef struct { int points; double at[4], weight[4]; } stencil;
static const stencil CENTRAL = {2, {-1, 1}, {-0.5, 0.5}}, AHEAD = {4, {1, 0, 0, 2}, {2, -2, 0.5, -0.5}},
                     BEHIND = {4, {-1, 0, 0, -2}, {-2, 2, -0.5, 0.5}};

/* is the value at this point that at the one before? */
static int again(const stencil *s, int k) { return k > 0 && s->at[k] == s->at[k - 1]; }

typedef struct {
    double e;                   /* step along dx, some eps relative to the point */
    double most;                /* the largest step for which no input of known size changes by more than eps;
                                   HUGE_VAL: it would be 0 */
    int unsure;                 /* something moves whose size its value may not tell: the step must be seen to work */
    const stencil *sides;
} steps;

/* A time in which maps change: the length of the step, from which h f_t is needed; outside of runs nothing is known. */
static double unit_of_time(const maps *a, double t)
{
    double length = fabs(a->bound.to - a->bound.from);
    return length > 0 ? length : 1 + fabs(t);
}

/* Parameters and memory: 1e-3 stands for the unit of one that is 0.  The value of a smaller one may be its size, as of
   a capacity of 1e-12, or an offset that is nearly none: the step begins with the former, and may be lengthened. */
static void of_parameters(int count, const double *p, const double *d, double *known, double *small)
{
    const double UNIT = 1e-3;
    for (int i = 0; d && i < count; i++) {
        double size = fabs(p[i]), moves = fabs(d[i]);
        *known = fmax(*known, moves / (UNIT + size));
        if (size > 0 && size < UNIT) *small = fmax(*small, moves / size);
    }
}

/* by <- e, such that t moves to times that exist, and sides within the step, beyond which f may jump or not exist */
static void place(const maps *a, const costate_point *x, const costate_point *dx, double e, steps *by)
{
    by->e = e;
    by->sides = &CENTRAL;
    if (dx->t == 0 || e == 0) return;
    double s = fmax(e * fabs(dx->t), 4 * DBL_EPSILON * fabs(x->t));
    double low = fmin(a->bound.from, a->bound.to), high = fmax(a->bound.from, a->bound.to);
    s = (fabs(x->t) + s) - fabs(x->t);
    by->e = s / fabs(dx->t);
    if (x->t < low || x->t > high) return;
    if (x->side != 0) by->sides = (x->side > 0) == (dx->t > 0) ? &AHEAD : &BEHIND;
    else if (x->t - s < low) by->sides = dx->t > 0 ? &AHEAD : &BEHIND;
    else if (x->t + s > high) by->sides = dx->t > 0 ? &BEHIND : &AHEAD;
}

static int spacing(const maps *a, const costate_point *x, const costate_point *dx, double eps, steps *to)
{
    double known = fabs(dx->t) / unit_of_time(a, x->t), small = 0;
    for (int i = 0; dx->y && i < a->n; i++) {
        double tolerance = 1 / (a->bound.w[i] > 0 ? a->bound.w[i] : 1), y = fabs(x->y[i]), d = fabs(dx->y[i]);
        if (y < tolerance) small = fmax(small, d / tolerance);
        else known = fmax(known, d / y);
    }
    if (dx->yp && x->yp) known = fmax(known, relative_slope(a, x, dx));
    of_parameters(a->np, x->p, dx->p, &known, &small);
    of_parameters(a->nm, x->m, dx->m, &known, &small);
    TRY(space_greatest(&a->space, &known));
    TRY(space_greatest(&a->space, &small));
    double size = fmax(known, small);
    to->unsure = small > known;
    to->most = known > 0 ? eps / known : HUGE_VAL;
    place(a, x, dx, size > 0 ? eps / size : 0, to);
    return 0;
}

/* A difference must stand above the round-off of its sides, whose moduli are in sum.  Where it does not, and what
   moves most is of unknown size, the next step is longer by this factor; 1: no longer. */
static int lengthen(const maps *a, int rows, const double *difference, const double *sum, const steps *by,
                    double *longer)
{
    const double SEEN = 1e-9, GROWTH = 1e6;
    double part = 0;
    for (int i = 0; i < rows; i++)
        if (difference[i] != 0) part = fmax(part, 2 * by->e * fabs(difference[i]) / sum[i]);
    TRY(space_greatest(&a->space, &part));
    *longer = 1;
    if (!(part < SEEN) || !(by->e < by->most / 2)) return 0;
    *longer = fmin(by->most / by->e, part > 0 ? fmin(GROWTH, CUBE_ROOT / part) : GROWTH);
    return 0;
}

/* ---- products ---- */

/* out <- f'(x) dx by values; sum: their moduli */
static int by_values(maps *a, const map *f, const costate_point *x, const costate_point *dx, const steps *by,
                     double *sum, double *out)
{
    buffers b = level(a, OF_TANGENT);
    size_t rows = (size_t)f->rows;
    memset(out, 0, rows * sizeof *out);
    memset(sum, 0, rows * sizeof *sum);
    a->count->differences++;
    for (int k = 0; k < by->sides->points; k++) {
        costate_point z = moved(a, x, dx, by->sides->at[k] * by->e, &b);
        if (f->counted && !again(by->sides, k)) a->count->f++;
        if (!again(by->sides, k)) TRY(map_code(a, f->user->value(&z, b.a, f->ctx), f->name, "value"));
        axpy(rows, by->sides->weight[k] / by->e, b.a, out);
        for (size_t i = 0; i < rows; i++) sum[i] += 2 * fabs(by->sides->weight[k] * b.a[i]);
    }
    return 0;
}

/* out <- f'(x) dx by values, with the step *by or a longer one, which *by then is */
static int by_visible_values(maps *a, const map *f, const costate_point *x, const costate_point *dx, steps *by,
                             double *out)
{
    enum { LONGER = 2 };
    size_t rows = (size_t)f->rows;
    double *sum = level(a, OF_TANGENT).b, longer = 1;
    memset(out, 0, rows * sizeof *out);
    if (by->e == 0) return 0;
    TRY(by_values(a, f, x, dx, by, sum, out));
    for (int tries = 0; tries < LONGER; tries++) {
        TRY(lengthen(a, f->rows, out, sum, by, &longer));
        if (longer == 1) return 0;
        steps next = *by;
        place(a, x, dx, by->e * longer, &next);
        int status = by_values(a, f, x, dx, &next, sum, out);
        if (status < 0) return status;
        if (status || space_finite(&a->space, rows, out)) return by_values(a, f, x, dx, by, sum, out);
        *by = next;
    }
    return 0;
}

int difference_tangent(maps *a, const map *f, const costate_point *x, const costate_point *dx, double *out)
{
    steps by;
    TRY(spacing(a, x, dx, CUBE_ROOT, &by));
    return by_visible_values(a, f, x, dx, &by, out);
}

/* the step of a difference of products: where sizes are not sure, one with which values change */
static int spacing_of_products(maps *a, const map *f, const costate_point *x, const costate_point *dx, double eps,
                               steps *to)
{
    TRY(spacing(a, x, dx, eps, to));
    if (!to->unsure) return 0;
    TRY(spacing(a, x, dx, CUBE_ROOT, to));
    TRY(by_visible_values(a, f, x, dx, to, level(a, OF_TANGENT).out));
    place(a, x, dx, to->e * (eps / CUBE_ROOT), to);
    return 0;
}

/* g += F'(x)^T w one entry at a time: <w, F'(x) e> */
int difference_adjoint(maps *a, const map *f, const costate_point *x, const double *w, const costate_gradient *g)
{
    double *e = a->room.zeros, *de = level(a, OF_ADJOINT).a;
    costate_point dt = {.t = 1};
    if (g->t && f->timed) {
        TRY(f->tangent(a, f, x, &dt, de));
        *g->t += dot((size_t)f->rows, w, de);
    }
    const struct { double *to, *e; int count; costate_point dx; } parts[] = {
        {g->y, e, a->n, {.y = e}},
        {g->p, e + a->n, a->np, {.p = e + a->n}},
        {g->yp, e, a->n, {.yp = e}},
        {g->m, e + a->n + a->np, a->nm, {.m = e + a->n + a->np}},
    };
    for (int k = 0; k < 4; k++)
        for (int i = 0; parts[k].to && i < parts[k].count; i++) {
            parts[k].e[i] = 1;
            int status = f->tangent(a, f, x, &parts[k].dx, de);
            parts[k].e[i] = 0;
            TRY(status);
            parts[k].to[i] += dot((size_t)f->rows, w, de);
        }
    return 0;
}

int difference_tangent2(maps *a, const map *f, const costate_point *x, const costate_point *dx1,
                        const costate_point *dx2, double *out)
{
    steps by;
    TRY(spacing_of_products(a, f, x, dx2, EPS[f->tangent == difference_tangent], &by));
    buffers u = level(a, OF_SECOND);
    memset(out, 0, (size_t)f->rows * sizeof *out);
    if (by.e == 0) return 0;
    a->count->differences++;
    for (int k = 0; k < by.sides->points; k++) {
        costate_point z = moved(a, x, dx2, by.sides->at[k] * by.e, &u);
        if (!again(by.sides, k)) TRY(f->tangent(a, f, &z, dx1, u.a));
        axpy((size_t)f->rows, by.sides->weight[k] / by.e, u.a, out);
    }
    return 0;
}

/* What is differenced: adjoint, or adjoint_tangent along a direction; with buffers of which level, by which step. */
typedef struct {
    const costate_point *along;
    int level;
    double eps;
} lower;

/* along dx: each side is scaled by scaling the weights w */
static int difference_back(maps *a, const map *f, const lower *of, const costate_point *x, const costate_point *dx,
                           const double *w, const costate_gradient *g)
{
    steps by;
    TRY(spacing_of_products(a, f, x, dx, of->eps, &by));
    buffers u = level(a, of->level);
    if (by.e == 0) return 0;
    a->count->differences++;
    for (int k = 0; k < by.sides->points; k++) {
        costate_point z = moved(a, x, dx, by.sides->at[k] * by.e, &u);
        add_scaled((size_t)f->rows, u.a, NULL, by.sides->weight[k] / by.e, w);
        TRY(of->along ? f->adjoint_tangent(a, f, &z, of->along, u.a, g) : f->adjoint(a, f, &z, u.a, g));
    }
    return 0;
}

int difference_adjoint_tangent(maps *a, const map *f, const costate_point *x, const costate_point *dx, const double *w,
                               const costate_gradient *g)
{
    lower of = {.level = OF_SECOND, .eps = EPS[f->below - 1]};
    return difference_back(a, f, &of, x, dx, w, g);
}

int difference_adjoint_tangent2(maps *a, const map *f, const costate_point *x, const costate_point *dx1,
                                const costate_point *dx2, const double *w, const costate_gradient *g)
{
    lower of = {.along = dx1, .level = OF_THIRD, .eps = EPS[f->below]};
    return difference_back(a, f, &of, x, dx2, w, g);
}
