/* probe.c - a map of the user at a point, for the checks: its inputs as one vector, its products by number, and its
   derivatives as operators. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/random.h"
#include "base/vec.h"
#include "maps/callbacks.h"
#include "maps/check.h"

/* ---- its inputs ---- */

static size_t inputs(const probe *q) { return q->start[PARTS]; }

probe probe_with(const costate_map *f, int rows, const costate_point *x, const size_t counts[PARTS])
{
    probe q = {.map = f, .rows = rows, .x = x, .sides = 1};
    for (int k = 0; k < PARTS; k++) q.start[k + 1] = q.start[k] + counts[k];
    return q;
}

probe probe_of(const costate_problem *P, const costate_map *f, int rows, const costate_point *x, int sides, int slopes)
{
    size_t states = (size_t)sides * (size_t)P->n;
    probe q = probe_with(f, rows, x, (const size_t[]){1, states, slopes ? states : 0, (size_t)P->np, (size_t)P->nm});
    q.ctx = P->ctx;
    q.sides = sides;
    return q;
}

static size_t count_of(const probe *q, int part) { return q->start[part + 1] - q->start[part]; }

static void put_inputs(const probe *q)
{
    const double *const from[PARTS] = {&q->x->t, q->x->y, q->x->yp, q->x->p, q->x->m};
    for (int k = 0; k < PARTS; k++) {
        size_t sides = k == PART_Y || k == PART_YP ? (size_t)q->sides : 1, count = count_of(q, k) / sides;
        for (size_t s = 0; count > 0 && s < sides; s++)
            memcpy(q->base + q->start[k] + s * count, from[k], count * sizeof *q->base);
    }
}

/* A hundredth for t: nothing tells its unit.  Parameters have units of their own, 298 K beside 2e19 molecules per
   cm^3: the largest tells nothing about the others, except about those that are 0. */
static void set_units(const probe *q)
{
    const size_t *at = q->start, first[] = {at[PART_Y], at[PART_P], at[PART_M], inputs(q)};
    q->unit[0] = fmax(fabs(q->x->t), 1e-2);
    for (int k = 0; k < 3; k++) check_sizes(first[k + 1] - first[k], q->base + first[k], 1e-3, q->unit + first[k]);
    for (size_t i = at[PART_P]; i < at[PART_M]; i++) if (q->base[i] != 0) q->unit[i] = fabs(q->base[i]);
}

int check_begin(probe *q, costate_report *r)
{
    unsigned state = 7;
    size_t in = inputs(q), rows = (size_t)q->rows, most = rows > in ? rows : in;
    double *at = q->base = calloc(6 * in + rows + 3 * CHECK_COLUMNS * (most + 1), sizeof *at);
    if (!at) return check_no_memory(r);
    double **const of_inputs[] = {&q->unit, &q->a, &q->c, &q->moved, &q->e};
    for (size_t k = 0; k < 5; k++) *of_inputs[k] = at += in;
    q->w = at + in;
    q->work = q->w + rows;
    put_inputs(q);
    set_units(q);
    for (size_t i = 0; i < rows; i++) q->w[i] = random_number(&state);
    for (size_t i = 1; i < in; i++) q->a[i] = random_number(&state) * q->unit[i];
    for (size_t i = 1; i < in; i++) q->c[i] = random_number(&state) * q->unit[i];
    q->a[0] = 0.3, q->c[0] = -0.7;              /* any numbers but 0: the parts of t are to be seen */
    return COSTATE_OK;
}

void check_end(probe *q) { free(q->base); }

/* What the probe has no inputs for is as given: costate_check_map does not know how many there are of m. */
costate_point check_point(const probe *q, const double *v)
{
    costate_point z = *q->x;
    z.t = v[0];
    z.y = v + q->start[PART_Y];
    if (count_of(q, PART_YP)) z.yp = v + q->start[PART_YP];
    if (count_of(q, PART_P)) z.p = v + q->start[PART_P];
    if (count_of(q, PART_M)) z.m = v + q->start[PART_M];
    return z;
}

costate_point check_direction(const probe *q, const double *v)
{
    const double *part[PARTS];
    for (int k = 0; k < PARTS; k++) {
        size_t i = q->start[k], end = q->start[k + 1];
        while (v && i < end && v[i] == 0) i++;
        part[k] = v && i < end ? v + q->start[k] : NULL;
    }
    return (costate_point){.t = part[PART_T] ? *part[PART_T] : 0, .y = part[PART_Y], .yp = part[PART_YP],
                           .p = part[PART_P], .m = part[PART_M]};
}

costate_gradient check_gradient(const probe *q, double *g, unsigned without)
{
    double *part[PARTS];
    for (int k = 0; k < PARTS; k++) part[k] = count_of(q, k) && !(without >> k & 1) ? g + q->start[k] : NULL;
    return (costate_gradient){.t = part[PART_T], .y = part[PART_Y], .yp = part[PART_YP], .p = part[PART_P],
                              .m = part[PART_M]};
}

/* ---- its products, and its derivatives as operators ---- */

int check_product(const probe *q, int call, const product_arguments *s, double *out)
{
    const costate_map *f = q->map;
    costate_point x = check_point(q, s->x), a = check_direction(q, s->a), c = check_direction(q, s->c);
    costate_gradient g = {0};
    if (call >= CALL_ADJOINT) g = check_gradient(q, out, s->without);
    else for (int i = 0; i < q->rows; i++) out[i] = NAN;
    if (call != CALL_VALUE) TRY(call_prepare(f, &x, q->ctx));
    switch (call) {
    case CALL_VALUE: return f->value(&x, out, q->ctx);
    case CALL_TANGENT: return call_tangent(f, &x, &a, out, q->ctx);
    case CALL_TANGENT2: return f->tangent2(&x, &a, &c, out, q->ctx);
    case CALL_ADJOINT: return call_adjoint(f, &x, s->w, &g, q->ctx);
    case CALL_ADJOINT_TANGENT: return f->adjoint_tangent(&x, &a, s->w, &g, q->ctx);
    default: return f->adjoint_tangent2(&x, &a, &c, s->w, &g, q->ctx);
    }
}

/* F, F' a or F''[a, c]; the last from adjoint_tangent where tangent2 is missing: the vector along w that has the same
   product with w */
static int value_of(void *ctx, const double *dx, double *out)
{
    const derivative *D = ctx;
    const probe *q = D->q;
    size_t in = inputs(q), rows = (size_t)q->rows;
    const product_arguments s = {.x = q->moved, .a = q->a, .c = q->c, .w = q->w};
    memcpy(q->moved, q->base, in * sizeof *q->moved);
    axpy(D->count, 1, dx, q->moved + D->first);
    if (D->order < 2 || q->map->tangent2) return check_product(q, CALL_VALUE + D->order, &s, out);
    memset(q->e, 0, in * sizeof *q->e);
    TRY(check_product(q, CALL_ADJOINT_TANGENT, &s, q->e));
    add_scaled(rows, out, NULL, dot(in, q->c, q->e) / dot(rows, q->w, q->w), q->w);
    return 0;
}

static int tangent_of(void *ctx, const double *v, double *out)
{
    const derivative *D = ctx;
    const probe *q = D->q;
    memset(q->e, 0, inputs(q) * sizeof *q->e);
    memcpy(q->e + D->first, v, D->count * sizeof *v);
    const product_arguments s = {.x = q->base, .a = D->order ? q->a : q->e, .c = q->e};
    return check_product(q, CALL_TANGENT + D->order, &s, out);
}

static int adjoint_of(void *ctx, const double *w, double *g)
{
    const derivative *D = ctx;
    const probe *q = D->q;
    const product_arguments s = {.x = q->base, .a = q->a, .c = q->c, .w = w};
    memset(g, 0, inputs(q) * sizeof *g);
    return check_product(q, CALL_ADJOINT + D->order, &s, g);
}

check_operator check_derivative(derivative *D, int with_tangent)
{
    return (check_operator){.ctx = D, .in = D->count, .rows = (size_t)D->q->rows, .unit = D->q->unit + D->first,
                            .value = value_of, .tangent = with_tangent ? tangent_of : NULL, .adjoint = adjoint_of};
}
