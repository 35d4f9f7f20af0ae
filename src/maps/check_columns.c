/* check_columns.c - the public check of the optional, faster callbacks: tangents and adjoints of several columns must
   agree with those of single columns, and products must be the same whenever prepare was called at their point. */
#include <math.h>
#include <string.h>
#include "maps/callbacks.h"
#include "maps/check.h"

enum { COLUMNS = CHECK_COLUMNS };
enum { T = 1 << PART_T, Y = 1 << PART_Y, YP = 1 << PART_YP, P = 1 << PART_P, M = 1 << PART_M };

typedef struct {
    const probe *q;
    size_t in, rows;
    costate_point x, dx[COLUMNS];       /* each of the columns lacks different parts */
    double *w, *got, *expected;         /* COLUMNS of max(rows, in) each */
} blocks;

/* Each column is compared relative to its own size, because a wrong column may be small. */
static int compare(const blocks *b, const char *name, size_t size, double *error, costate_report *r)
{
    worst most = {0};
    for (int j = 0; j < COLUMNS; j++) {
        worst w = {0};
        check_compare(&w, j, 1, size, b->got + (size_t)j * size, b->expected + (size_t)j * size);
        if (!(check_relative(&w) <= check_relative(&most))) most = w;
    }
    double now = check_relative(&most);
    *error = *error >= now ? *error : now;
    if (now <= CHECK_RIGHT) check_adds(r, "%s right (%.1e). ", name, now);
    else check_adds(r, "%s WRONG: column %d, row %d is %.8g, should be %.8g. ", name, most.input, most.row,
                    most.given, most.expected);
    return 0;
}

static int tangents_one_by_one(const blocks *b, double *out)
{
    for (size_t j = 0; j < COLUMNS; j++)
        TRY(call_tangent(b->q->map, &b->x, &b->dx[j], out + j * b->rows, b->q->ctx));
    return 0;
}

static int check_tangents(const blocks *b, costate_report *r)
{
    const probe *q = b->q;
    TRY(call_prepare(q->map, &b->x, q->ctx));
    TRY(tangents_one_by_one(b, b->expected));
    for (size_t i = 0; i < COLUMNS * b->rows; i++) b->got[i] = NAN;
    TRY(q->map->tangents(&b->x, COLUMNS, b->dx, b->got, q->ctx));
    return compare(b, "tangents", b->rows, &r->tangent, r);
}

/* where adjoints add, not zero at first */
static void aim(const blocks *b, double *out, costate_gradient to[COLUMNS])
{
    static const unsigned without[COLUMNS] = {0, T | P, Y | YP | M};
    for (size_t i = 0; i < COLUMNS * b->in; i++) out[i] = 0.5;
    for (size_t j = 0; j < COLUMNS; j++) to[j] = check_gradient(b->q, out + j * b->in, without[j]);
}

static int check_adjoints(const blocks *b, costate_report *r)
{
    const probe *q = b->q;
    costate_gradient to[COLUMNS];
    TRY(call_prepare(q->map, &b->x, q->ctx));
    aim(b, b->expected, to);
    for (size_t j = 0; j < COLUMNS; j++)
        TRY(call_adjoint(q->map, &b->x, b->w + j * b->rows, &to[j], q->ctx));
    aim(b, b->got, to);
    TRY(q->map->adjoints(&b->x, COLUMNS, b->w, to, q->ctx));
    return compare(b, "adjoints", b->in, &r->adjoint, r);
}

/* prepare gets a copy of x that is overwritten afterwards, and value is called elsewhere in between: products must be
   the same as without. */
static int check_prepare(const blocks *b, costate_report *r)
{
    const probe *q = b->q;
    if (!has_tangent(q->map)) return 0;
    for (int again = 0; again < 2; again++) {
        double *copy = q->moved, by = again ? 0.5 : 0;
        memcpy(copy, q->base, b->in * sizeof *copy);
        costate_point z = check_point(q, copy);
        TRY(q->map->prepare(&z, q->ctx));
        for (size_t i = q->start[PART_Y]; i < q->start[PART_P]; i++) copy[i] += by * q->unit[i] * 1e-3;
        TRY(q->map->value(&z, b->w, q->ctx));
        for (size_t i = 0; again && i < b->in; i++) copy[i] = NAN;
        TRY(tangents_one_by_one(b, again ? b->got : b->expected));
    }
    return compare(b, "prepare", b->rows, &r->tangent, r);
}

int check_columns(const probe *q, costate_report *r)
{
    const costate_map *f = q->map;
    size_t in = q->start[PARTS], rows = (size_t)q->rows, most = COLUMNS * (in > rows ? in : rows);
    costate_point a = check_direction(q, q->a);
    const blocks b = {.q = q, .in = in, .rows = rows, .x = check_point(q, q->base),
                      .dx = {a, {.y = a.y, .yp = a.yp}, {.t = 2 * a.t, .p = a.p, .m = a.m}}, .w = q->work,
                      .got = q->work + most, .expected = q->work + 2 * most};
    for (size_t i = 0; i < COLUMNS * rows; i++) b.w[i] = q->w[i % rows] * (1 + 0.25 * (double)i);
    if (f->tangents) TRY(check_tangents(&b, r));
    if (f->adjoints) TRY(check_adjoints(&b, r));
    return f->prepare ? check_prepare(&b, r) : 0;
}
