/* check_columns.c - the public check of the optional, faster callbacks: tangents and adjoints of several columns must
   agree with those of single columns, and products must be the same whenever prepare was called at their point. */
#include <math.h>
#include <string.h>
#include "base/vec.h"
#include "maps/callbacks.h"
#include "maps/maps.h"
#include "maps/check.h"

/* each of the columns lacks different parts */
enum { COLUMNS = CHECK_COLUMNS };

typedef struct {
    const probe *q;
    costate_point dx[COLUMNS];
    costate_gradient to[COLUMNS];
    double *w, *got, *expected;         /* COLUMNS of max(k, in) each */
    size_t in;                          /* t, y, p, m: n + np + nm + 1 */
} blocks;

static void column_wrong(const char *name, const worst *w, costate_report *r)
{
    if (check_relative(w) <= CHECK_RIGHT) check_adds(r, "%s right (%.1e). ", name, check_relative(w));
    else check_adds(r, "%s WRONG: column %d, row %d is %.8g, should be %.8g. ", name, w->input, w->row, w->given,
                    w->expected);
}

/* Each column is compared relative to its own size, because a wrong column may be small. */
static void compare(const blocks *b, const char *name, size_t rows, double *error, costate_report *r)
{
    worst most = {0};
    for (int j = 0; j < COLUMNS; j++) {
        worst w = {0};
        check_compare(&w, j, 1, (int)rows, b->got + (size_t)j * rows, b->expected + (size_t)j * rows);
        if (!(check_relative(&w) <= check_relative(&most))) most = w;
    }
    *error = *error >= check_relative(&most) ? *error : check_relative(&most);
    column_wrong(name, &most, r);
}

static int check_tangents(const blocks *b, costate_report *r)
{
    const probe *q = b->q;
    size_t k = (size_t)q->k;
    TRY(call_prepare(q->map, &q->at, q->ctx));
    for (size_t j = 0; j < COLUMNS; j++) TRY(call_tangent(q->map, &q->at, &b->dx[j], b->expected + j * k, q->ctx));
    for (size_t i = 0; i < COLUMNS * k; i++) b->got[i] = NAN;
    TRY(q->map->tangents(&q->at, COLUMNS, b->dx, b->got, q->ctx));
    compare(b, "tangents", k, &r->tangent, r);
    return 0;
}

/* where adjoints add: t, y, p, m of each column, not zero at first */
static void aim(blocks *b, double *out)
{
    for (size_t j = 0; j < COLUMNS; j++) {
        double *g = out + j * b->in;
        for (size_t i = 0; i < b->in; i++) g[i] = 0.5;
        b->to[j] = check_gradient(b->q, g, g + 1);
        if (j == 1) b->to[j].t = b->to[j].p = NULL;
        if (j == 2) b->to[j].y = b->to[j].yp = b->to[j].m = NULL;
    }
}

static int check_adjoints(blocks *b, costate_report *r)
{
    const probe *q = b->q;
    TRY(call_prepare(q->map, &q->at, q->ctx));
    aim(b, b->expected);
    for (size_t j = 0; j < COLUMNS; j++)
        TRY(call_adjoint(q->map, &q->at, b->w + j * (size_t)q->k, &b->to[j], q->ctx));
    aim(b, b->got);
    TRY(q->map->adjoints(&q->at, COLUMNS, b->w, b->to, q->ctx));
    compare(b, "adjoints", b->in, &r->adjoint, r);
    return 0;
}

/* prepare gets a copy of x that is overwritten afterwards, and value is called elsewhere in between: products must be
   the same as without. */
static int check_prepare(const blocks *b, costate_report *r)
{
    const probe *q = b->q;
    size_t k = (size_t)q->k, bytes = (b->in - 1) * sizeof *b->w;
    if (!has_tangent(q->map)) return 0;
    for (int again = 0; again < 2; again++) {
        double *y = b->w, *out = again ? b->got : b->expected, by = again ? 0.5 : 0;
        costate_point z = check_point(q, y);
        memcpy(y, q->base, bytes);
        TRY(q->map->prepare(&z, q->ctx));
        for (int i = 0; i < q->ny + q->nyp; i++) y[i] += by * check_size(q, i) * 1e-3;
        TRY(q->map->value(&z, q->d, q->ctx));
        for (size_t i = 0; again && i + 1 < b->in; i++) y[i] = NAN;
        for (size_t j = 0; j < COLUMNS; j++) TRY(call_tangent(q->map, &q->at, &b->dx[j], out + j * k, q->ctx));
    }
    compare(b, "prepare", k, &r->tangent, r);
    return 0;
}

static int check_given_columns(blocks *b, costate_report *r)
{
    const costate_map *f = b->q->map;
    if (f->tangents) TRY(check_tangents(b, r));
    if (f->adjoints) TRY(check_adjoints(b, r));
    return f->prepare ? check_prepare(b, r) : 0;
}

static size_t longest(const probe *q)
{
    size_t in = (size_t)q->in + 1, k = (size_t)q->k;
    return in > k ? in : k;
}

int check_columns(const probe *q, costate_report *r)
{
    size_t most = COLUMNS * longest(q);
    costate_point a = check_direction(q);
    blocks b = {.q = q, .dx = {a, {.y = a.y, .yp = a.yp}, {.t = 2 * a.t, .p = a.p, .m = a.m}}, .w = q->columns,
                .got = q->columns + most, .expected = q->columns + 2 * most, .in = (size_t)q->in + 1};
    for (int i = 0; i < COLUMNS * q->k; i++) b.w[i] = q->w[i % q->k] * (1 + 0.25 * i);
    return check_given_columns(&b, r);
}
