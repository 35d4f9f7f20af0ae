/* check_compare.c - what the checks of derivatives share: differences, the inputs of a map, the worst entry found.

   Differences are central and of 8th order,
       (4/5) d1 - (1/5) d2 + (4/105) d3 - (1/280) d4,   dk = (F(x + k e) - F(x - k e))/e,
   so that correct derivatives agree to about 1e-11 and a wrong one cannot hide behind the difference's own error. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/random.h"
#include "base/pattern.h"
#include "base/vec.h"
#include "maps/callbacks.h"
#include "maps/maps.h"
#include "maps/check.h"

int check_differentiate(const line *l, double e, double *out, double *d)
{
    static const double central[] = {4.0 / 5, -1.0 / 5, 4.0 / 105, -1.0 / 280};
    memset(d, 0, l->count * sizeof *d);
    for (int k = -4; k <= 4; k++) {
        if (k == 0) continue;
        TRY(l->at(l->ctx, k * e, out));
        axpy(l->count, (k > 0 ? 1 : -1) * central[abs(k) - 1] / e, out, d);
    }
    return 0;
}

/* Its modulus; where it is small or 0, a thousandth of its largest neighbour (a millionth if all are 0). */
double check_size_among(int count, const double *v, int i)
{
    double most = 0;
    for (int l = 0; l < count; l++) most = fmax(most, fabs(v[l]));
    return fmax(fabs(v[i]), 1e-3 * (most > 0 ? most : 1e-3));
}

/* ---- the inputs of a probe ---- */

/* in which block input i lies: states and slopes, parameters, memory */
typedef struct { char name; int first, count; } block;

static block block_of(const probe *q, int i)
{
    int states = q->ny + q->nyp;
    const block all[] = {{'y', 0, states}, {'p', states, q->np}, {'m', states + q->np, q->nm}};
    return all[(i >= states) + (i >= states + q->np)];
}

/* A hundredth for t: nothing tells its unit.  Parameters have units of their own, 298 K beside 2e19 molecules per
   cm^3: the largest tells nothing about the others. */
double check_size(const probe *q, int i)
{
    if (i < 0) return fmax(fabs(q->x->t), 1e-2);
    block b = block_of(q, i);
    if (b.name == 'p' && q->base[i] != 0) return fabs(q->base[i]);
    return check_size_among(b.count, q->base + b.first, i - b.first);
}

static void put_inputs(const probe *q, double *to)
{
    for (int side = 0; side < q->sides; side++) {
        memcpy(to + side * q->n, q->x->y, (size_t)q->n * sizeof *to);
        if (q->nyp) memcpy(to + q->ny + side * q->n, q->x->yp, (size_t)q->n * sizeof *to);
    }
    to += q->ny + q->nyp;
    if (q->np) memcpy(to, q->x->p, (size_t)q->np * sizeof *to);
    if (q->nm) memcpy(to + q->np, q->x->m, (size_t)q->nm * sizeof *to);
}

int check_begin(probe *q, costate_report *r)
{
    unsigned state = 7;
    q->ny = q->sides * q->n;
    q->nyp = q->slopes ? q->ny : 0;
    q->in = q->ny + q->nyp + q->np + q->nm;
    size_t in = (size_t)q->in, k = (size_t)q->k, most = k > in ? k : in;
    q->memory = calloc(6 * in + k + 4 * most + 3 * CHECK_COLUMNS * (most + 1), sizeof *q->memory);
    if (!q->memory) return check_no_memory(r);
    double **const inputs[] = {&q->base, &q->moved, &q->e, &q->a, &q->c, &q->g};
    for (size_t i = 0; i < 6; i++) *inputs[i] = q->memory + i * in;
    q->w = q->memory + 6 * in, q->d = q->w + k, q->b = q->d + most, q->r = q->b + most, q->columns = q->r + 2 * most;
    put_inputs(q, q->base);
    q->at = check_point(q, q->base);
    for (int i = 0; i < q->k; i++) q->w[i] = random_number(&state);
    for (int i = 0; i < q->in; i++) q->a[i] = random_number(&state) * check_size(q, i);
    for (int i = 0; i < q->in; i++) q->c[i] = random_number(&state) * check_size(q, i);
    return COSTATE_OK;
}

void check_end(probe *q) { free(q->memory); }

/* the direction (t, v) */
static costate_point inputs(const probe *q, double t, const double *v)
{
    const double *p = v + q->ny + q->nyp;
    return (costate_point){.t = t, .y = v, .yp = q->nyp ? v + q->ny : NULL, .p = q->np ? p : NULL,
                           .m = q->nm ? p + q->np : NULL};
}

/* What the probe has no inputs for is as given: costate_check_map does not know how many there are of m. */
costate_point check_point(const probe *q, const double *v)
{
    costate_point z = *q->x, of = inputs(q, z.t, v);
    z.y = of.y;
    if (of.yp) z.yp = of.yp;
    if (of.p) z.p = of.p;
    if (of.m) z.m = of.m;
    return z;
}

costate_gradient check_gradient(const probe *q, double *t, double *g)
{
    double *p = g + q->ny + q->nyp;
    return (costate_gradient){.t = t, .y = g, .yp = q->nyp ? g + q->ny : NULL, .p = q->np ? p : NULL,
                              .m = q->nm ? p + q->np : NULL};
}

/* NULL for the blocks that it does not change */
costate_point check_unit(const probe *q, int i)
{
    memset(q->e, 0, (size_t)q->in * sizeof *q->e);
    if (i < 0) return (costate_point){.t = 1};
    q->e[i] = 1;
    costate_point all = inputs(q, 0, q->e);
    char name = block_of(q, i).name;
    if (name == 'y') return (costate_point){.y = all.y, .yp = all.yp};
    return name == 'p' ? (costate_point){.p = all.p} : (costate_point){.m = all.m};
}

/* t' = 0.3 is any number but 0: the parts of t are to be seen */
costate_point check_direction(const probe *q) { return inputs(q, 0.3, q->a); }
costate_point check_second_direction(const probe *q) { return inputs(q, -0.7, q->c); }

/* ---- differences ---- */

/* F''(z)[a, c], from adjoint_tangent where tangent2 is missing: the vector along w that has the same product with w.
   Uses e */
static int second(const probe *q, const costate_point *z, double *out)
{
    costate_point a = check_direction(q), c = check_second_direction(q);
    size_t in = (size_t)q->in, k = (size_t)q->k;
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
    memset(out, 0, (size_t)q->in * sizeof *out);
    costate_gradient g = check_gradient(q, NULL, out);
    return call_adjoint(q->map, z, q->w, &g, q->ctx);
}

/* the point that is checked, moved by a: input i (-1: t), or y along v */
typedef struct { const probe *q; int of, i; const double *v; } path;

static int at_distance(void *ctx, double a, double *out)
{
    const path *s = ctx;
    const probe *q = s->q;
    costate_point z = check_point(q, q->moved);
    memcpy(q->moved, q->base, (size_t)q->in * sizeof *q->moved);
    if (s->v) axpy((size_t)q->ny, a, s->v, q->moved);
    else *(s->i < 0 ? &z.t : &q->moved[s->i]) += a;
    return evaluate(q, s->of, &z, out);
}

int check_difference_along(const probe *q, const double *v, double *d, double *work)
{
    path s = {q, OF_VALUE, 0, v};
    return check_differentiate(&(line){at_distance, &s, (size_t)q->k}, CHECK_STEP, work, d);
}

/* the derivative of it with respect to input i, by differences of steps of this length, into d */
static int difference_at(const probe *q, int of, int i, int size, double length, double *d, double *work)
{
    volatile double step = check_size(q, i) * length;       /* rounded: what is added is what is divided by */
    path s = {q, of, i, NULL};
    return check_differentiate(&(line){at_distance, &s, (size_t)size}, step, work, d);
}

static double largest(int size, const double *x)
{
    double most = 0;
    for (int i = 0; i < size; i++) most = isnan(x[i]) ? HUGE_VAL : fmax(most, fabs(x[i]));
    return most;
}

/* the difference of d and next, relative to them, or to the round-off of what was differenced */
static double apart(int size, double unit, const double *d, const double *next, const double *differenced)
{
    double most = 0, scale = fmax(largest(size, d), largest(size, next)) * unit;
    for (int i = 0; i < size; i++) most = isnan(d[i] - next[i]) ? HUGE_VAL : fmax(most, fabs(d[i] - next[i]) * unit);
    return most == 0 ? 0 : most / fmax(scale, CHECK_DIFFERENCED * largest(size, differenced));
}

/* CHECK_STEP suits a map that changes over the size of its input.  One that changes sooner, as sin(y) at y = 1000,
   needs shorter steps.  Two lengths that agree are right; if none agree, those that agree most are taken. */
int check_difference(const probe *q, int of, int i, int size, double *d, double *work)
{
    enum { LENGTHS = 7 };
    const double SHORTER = 8, AGREE = 1e-7, unit = check_size(q, i);
    double best = HUGE_VAL, length = CHECK_STEP, *next = q->r, *kept = q->r + size;
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

static void name_of_input(const probe *q, int i, char *name, size_t room)
{
    block b = block_of(q, i);
    if (i < 0) snprintf(name, room, "t");
    else if (b.name == 'y' && i >= q->ny) snprintf(name, room, "y'[%d]", i - q->ny);
    else snprintf(name, room, "%c[%d]", b.name, i - b.first);
}

void check_judge(const probe *q, const char *name, const worst *w, double *error, costate_report *r)
{
    char input[32];
    double now = check_relative(w);
    if (!(*error >= now)) *error = now;
    name_of_input(q, w->input, input, sizeof input);
    if (now <= CHECK_RIGHT) check_adds(r, "%s right (%.1e). ", name, now);
    else check_adds(r, "%s WRONG: row %d with respect to %s is %.8g, should be %.8g. ", name, w->row,
                    input, w->given, w->expected);
}

int check_right(const costate_report *r)
{
    const double e[] = {r->tangent, r->adjoint, r->tangent2, r->adjoint_tangent, r->jac, r->adjoint_tangent2};
    for (size_t i = 0; i < sizeof e / sizeof *e; i++) if (e[i] > CHECK_RIGHT) return 0;
    return strstr(r->text, "WRONG") == NULL;
}

int check_result(int code, costate_report *r)
{
    if (code != 0) return check_says(r, COSTATE_CALLBACK, "A callback returned %d.", code);
    return check_right(r) ? COSTATE_OK : COSTATE_CHECK_FAILED;
}
