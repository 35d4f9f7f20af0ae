/* check_compare.c - what the checks of callbacks share: differences of a map, the worst entry of a comparison.

   Differences are central and of 8th order,
       (4/5) d1 - (1/5) d2 + (4/105) d3 - (1/280) d4,   dk = (F(x + k e) - F(x - k e))/e,
   so that correct derivatives agree to about 1e-11 and a wrong one cannot hide behind the difference's own error. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "base/pattern.h"
#include "base/vec.h"
#include "maps/callbacks.h"
#include "maps/maps.h"
#include "maps/check.h"

/* where input i is: number j of y, p or m */
typedef struct { char name; const double *at; double *moved; int count, number; } block;

static block block_of(const probe *q, int i)
{
    const block all[] = {{'y', q->x->y, q->y, q->n, i}, {'p', q->x->p, q->p, q->np, i - q->n},
                         {'m', q->x->m, q->m, q->nm, i - q->n - q->np}};
    return all[(i >= q->n) + (i >= q->n + q->np)];
}

/* What a change of input i is measured by: its modulus; where it is small or 0, a thousandth of its largest neighbour
   (a millionth if all are 0), and a hundredth for t, whose unit nothing tells. */
double check_size(const probe *q, int i)
{
    if (i < 0) return fmax(fabs(q->x->t), 1e-2);
    block b = block_of(q, i);
    double most = 0;
    for (int l = 0; l < b.count; l++) most = fmax(most, fabs(b.at[l]));
    return fmax(fabs(b.at[b.number]), 1e-3 * (most > 0 ? most : 1e-3));
}

/* v in the place of a block */
static costate_point replaced(costate_point x, char name, const double *v)
{
    *(name == 'y' ? &x.y : name == 'p' ? &x.p : &x.m) = v;
    return x;
}

costate_point check_unit(const probe *q, int i)          /* i: -1 t, then y, p, m */
{
    memset(q->e, 0, (size_t)check_inputs(q) * sizeof *q->e);
    if (i < 0) return (costate_point){.t = 1};
    block b = block_of(q, i);
    q->e[i] = 1;
    return replaced((costate_point){.t = 0}, b.name, q->e + i - b.number);
}

static costate_point moved(const probe *q, int i, double by)
{
    costate_point z = *q->x;
    if (i < 0) { z.t += by; return z; }
    block b = block_of(q, i);
    memcpy(b.moved, b.at, (size_t)b.count * sizeof *b.at);
    b.moved[b.number] += by;
    return replaced(z, b.name, b.moved);
}

costate_point check_point(const probe *q, double t, const double *v)
{
    return (costate_point){.t = t, .y = v, .p = q->np ? v + q->n : NULL, .m = q->nm ? v + q->n + q->np : NULL,
                           .mode = q->x->mode};
}

costate_gradient check_gradient(const probe *q, double *t, double *g)
{
    return (costate_gradient){.t = t, .y = g, .p = q->np ? g + q->n : NULL, .m = q->nm ? g + q->n + q->np : NULL};
}

/* t' = 0.3 is any number but 0: the parts of t are to be seen */
costate_point check_direction(const probe *q)
{
    costate_point a = check_point(q, 0.3, q->a);
    a.mode = 0;
    return a;
}

costate_point check_second_direction(const probe *q)
{
    costate_point c = check_point(q, -0.7, q->c);
    c.mode = 0;
    return c;
}

/* F''(z)[a, c], from adjoint_tangent where tangent2 is missing: the vector along w that has the same product with w.
   Uses e */
static int second(const probe *q, const costate_point *z, double *out)
{
    costate_point a = check_direction(q), c = check_second_direction(q);
    size_t in = (size_t)check_inputs(q), k = (size_t)q->k;
    double t = 0;
    if (q->map->tangent2) return q->map->tangent2(z, &a, &c, out, q->ctx);
    memset(q->e, 0, in * sizeof *q->e);
    costate_gradient g = check_gradient(q, &t, q->e);
    TRY(q->map->adjoint_tangent(z, &a, q->w, &g, q->ctx));
    add_scaled(k, out, NULL, (c.t * t + dot(in, q->c, q->e)) / dot(k, q->w, q->w), q->w);
    return 0;
}

/* what is differenced: value (k); tangent along a (k); adjoint of w (inputs); second derivative along a, c (k) */
static int evaluate(const probe *q, int of, const costate_point *z, double *out)
{
    if (of == OF_VALUE) return q->map->value(z, out, q->ctx);
    costate_point a = check_direction(q);
    TRY(call_prepare(q->map, z, q->ctx));
    if (of == OF_SECOND) return second(q, z, out);
    if (of == OF_TANGENT) return call_tangent(q->map, z, &a, out, q->ctx);
    memset(out, 0, (size_t)check_inputs(q) * sizeof *out);
    costate_gradient g = check_gradient(q, NULL, out);
    return call_adjoint(q->map, z, q->w, &g, q->ctx);
}

/* STEP, of the size: 8th powers of it are below round-off, and round-off over it is 1e-13 */
static const double CENTRAL[] = {4.0 / 5, -1.0 / 5, 4.0 / 105, -1.0 / 280}, STEP = 2e-3;

static double weight_of(int k) { return (k > 0 ? 1 : -1) * CENTRAL[(k > 0 ? k : -k) - 1]; }

int check_difference_along(const probe *q, const double *v, double *d, double *work)
{
    memset(d, 0, (size_t)q->k * sizeof *d);
    for (int k = -4; k <= 4; k++) {
        if (k == 0) continue;
        costate_point z = *q->x;
        z.y = q->y;
        add_scaled((size_t)q->n, q->y, q->x->y, k * STEP, v);
        TRY(evaluate(q, OF_VALUE, &z, work));
        axpy((size_t)q->k, weight_of(k) / STEP, work, d);
    }
    return 0;
}

/* the derivative of it by input i, by differences of steps of this length, into d */
static int difference_at(const probe *q, int of, int i, int size, double length, double *d, double *work)
{
    volatile double wide = check_size(q, i) * length;
    double e = wide;
    memset(d, 0, (size_t)size * sizeof *d);
    for (int k = -4; k <= 4; k++) {
        if (k == 0) continue;
        costate_point z = moved(q, i, k * e);
        TRY(evaluate(q, of, &z, work));
        axpy((size_t)size, weight_of(k) / e, work, d);
    }
    return 0;
}

static double largest(int size, const double *x)
{
    double most = 0;
    for (int i = 0; i < size; i++) most = isnan(x[i]) ? HUGE_VAL : fmax(most, fabs(x[i]));
    return most;
}

/* how far d and the next are apart, beside what they are, or the round-off of what was differenced */
static double apart(int size, double unit, const double *d, const double *next, const double *differenced)
{
    double most = 0, scale = fmax(largest(size, d), largest(size, next)) * unit;
    for (int i = 0; i < size; i++) most = isnan(d[i] - next[i]) ? HUGE_VAL : fmax(most, fabs(d[i] - next[i]) * unit);
    return most == 0 ? 0 : most / fmax(scale, CHECK_DIFFERENCED * largest(size, differenced));
}

/* STEP suits a map that changes over the size of its input.  One that changes sooner, as sin(y) at y = 1000, needs
   shorter steps.  Two lengths that agree are right; if none agree, those that agree most are taken. */
int check_difference(const probe *q, int of, int i, int size, double *d, double *work)
{
    enum { LENGTHS = 7 };
    const double SHORTER = 8, AGREE = 1e-7, unit = check_size(q, i);
    double best = HUGE_VAL, length = STEP, *next = q->r, *kept = q->r + size;
    size_t bytes = (size_t)size * sizeof *d;
    int code = difference_at(q, of, i, size, length, d, work), there = code == 0, any = 0;
    if (code < 0) return code;
    for (int l = 1; l < LENGTHS; l++) {
        int status = difference_at(q, of, i, size, length /= SHORTER, next, work);
        if (status < 0) return status;
        double gap = status == 0 && there ? apart(size, unit, d, next, work) : HUGE_VAL;
        if (gap <= AGREE) return 0;
        if (status == 0 && (!any || gap < best)) { memcpy(kept, next, bytes); best = gap; any = 1; }
        there = status == 0;
        if (there) memcpy(d, next, bytes);
    }
    memcpy(d, kept, any ? bytes : 0);
    return any ? 0 : code;
}

void check_compare(worst *w, int input, double weight, int size, const double *given, const double *expected)
{
    for (int i = 0; i < size; i++) {
        double e = fabs(given[i] - expected[i]) * weight;
        w->scale = fmax(w->scale, fmax(fabs(expected[i]), fabs(given[i])) * weight);
        if (w->error != w->error || e <= w->error) continue;        /* NaN, once there, stays */
        w->error = e;
        w->given = given[i];
        w->expected = expected[i];
        w->row = i;
        w->input = input;
    }
}

/* Differences carry the round-off of what is differenced: a derivative that is zero is right when it is that small. */
void check_allow(worst *w, int size, const double *differenced)
{
    for (int i = 0; i < size; i++) w->scale = fmax(w->scale, CHECK_DIFFERENCED * fabs(differenced[i]));
}

double check_relative(const worst *w) { return w->error == 0 ? 0 : w->error / w->scale; }        /* NaN stays */

void check_describe(const probe *q, const char *name, const worst *w, costate_report *r)
{
    char input[32];
    size_t used = strlen(r->text), room = sizeof r->text - used;
    int i = w->input;
    block b = block_of(q, i);
    if (i < 0) snprintf(input, sizeof input, "t");
    else if (b.name == 'y' && q->states && i >= q->states) snprintf(input, sizeof input, "y'[%d]", i - q->states);
    else snprintf(input, sizeof input, "%c[%d]", b.name, b.number);
    double error = check_relative(w);
    if (error <= CHECK_RIGHT) snprintf(r->text + used, room, "%s right (%.1e). ", name, error);
    else snprintf(r->text + used, room, "%s WRONG: row %d by %s is %.8g, should be %.8g. ", name, w->row, input,
                  w->given, w->expected);
}
