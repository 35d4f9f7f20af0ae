/* check_map.c - the public check of a map: its derivatives are compared with differences and with each other. */
#include <math.h>
#include <string.h>
#include "base/pattern.h"
#include "base/vec.h"
#include "maps/callbacks.h"
#include "maps/maps.h"
#include "maps/check.h"

/* the derivative by input i: of the value (of: OF_VALUE), or of the tangent along check_direction */
static int product(const probe *q, int of, int i, double *out)
{
    costate_point unit = check_unit(q, i), a = check_direction(q);
    for (int j = 0; j < q->k; j++) out[j] = NAN;         /* it sets them all */
    TRY(call_prepare(q->map, &q->at, q->ctx));
    if (of == OF_VALUE) return call_tangent(q->map, &q->at, &unit, out, q->ctx);
    return q->map->tangent2(&q->at, &a, &unit, out, q->ctx);
}

/* the same by differences, into d; uses b */
static int difference(const probe *q, int of, int i, worst *w)
{
    TRY(check_difference(q, of, i, q->k, q->d, q->b));
    check_allow(w, q->k, q->b);
    return 0;
}

/* products against differences */
static int compare_products(const probe *q, int of, worst *w)
{
    for (int i = -1; i < q->in; i++) {
        TRY(difference(q, of, i, w));
        TRY(product(q, of, i, q->b));
        check_compare(w, i, check_size(q, i), q->k, q->b, q->d);
    }
    return 0;
}

/* Entries t, g of an adjoint for the weights w against <w, derivative by input i>: by products, or by differences of
   <w, F>, of <w, F' a> = <adjoint(w), a> + t-part, or of <w, F''[a, c]>. */
static int compare_adjoint(const probe *q, int of, double t, worst *w)
{
    int known = of == OF_VALUE ? has_tangent(q->map) : of == OF_TANGENT && q->map->tangent2;
    for (int i = -1; i < q->in; i++) {
        TRY(known ? product(q, of, i, q->d) : difference(q, of, i, w));
        double expected = dot((size_t)q->k, q->w, q->d), given = i < 0 ? t : q->g[i];
        check_compare(w, i, check_size(q, i), 1, &given, &expected);
    }
    return 0;
}

static int check_products(const probe *q, int of, const char *name, double *error, costate_report *r)
{
    worst w = {0};
    TRY(compare_products(q, of, &w));
    check_judge(q, name, &w, error, r);
    return 0;
}

/* an adjoint, of the value or of what it is given directions for (of), against what there is to compare it with */
static int check_back(const probe *q, int of, int known, const char *name, double *error, costate_report *r)
{
    worst w = {0};
    double t = 0;
    costate_point a = check_direction(q), c = check_second_direction(q);
    memset(q->g, 0, (size_t)q->in * sizeof *q->g);
    costate_gradient g = check_gradient(q, &t, q->g);
    TRY(call_prepare(q->map, &q->at, q->ctx));
    TRY(of == OF_VALUE ? call_adjoint(q->map, &q->at, q->w, &g, q->ctx) :
        of == OF_TANGENT ? q->map->adjoint_tangent(&q->at, &a, q->w, &g, q->ctx) :
        q->map->adjoint_tangent2(&q->at, &a, &c, q->w, &g, q->ctx));
    if (!known) return 0;
    TRY(compare_adjoint(q, of, t, &w));
    check_judge(q, name, &w, error, r);
    return 0;
}

/* A value sets k numbers, which are finite, and none behind them.  out: 2 k + 1 */
static int check_value(const probe *q, double *out, costate_report *r)
{
    int k = q->k, row = 0, over = k;
    for (int i = 0; i < k; i++) out[i] = NAN;
    for (int i = k; i <= 2 * k; i++) out[i] = CHECK_GUARD;
    TRY(q->map->value(&q->at, out, q->ctx));
    while (row < k && isfinite(out[row])) row++;
    while (over <= 2 * k && out[over] == CHECK_GUARD) over++;
    if (row < k) check_adds(r, "value WRONG: row %d of %d is %g, or not set. ", row, k, out[row]);
    if (over <= 2 * k) check_adds(r, "value WRONG: it sets more than %d. ", k);
    return 0;
}

/* what cannot be called, or has no value, has no derivatives */
static int check_all(const probe *q, costate_report *r)
{
    const costate_map *f = q->map;
    TRY(check_value(q, q->columns, r));
    if (!check_right(r)) return 0;
    if (has_tangent(f)) TRY(check_products(q, OF_VALUE, tangent_name(f), &r->tangent, r));
    if (has_adjoint(f)) TRY(check_back(q, OF_VALUE, 1, adjoint_name(f), &r->adjoint, r));
    if (f->tangent2 && has_tangent(f)) TRY(check_products(q, OF_TANGENT, "tangent2", &r->tangent2, r));
    if (f->adjoint_tangent)
        TRY(check_back(q, OF_TANGENT, f->tangent2 || has_tangent(f), "adjoint_tangent", &r->adjoint_tangent, r));
    if (f->adjoint_tangent2)
        TRY(check_back(q, OF_SECOND, f->tangent2 || f->adjoint_tangent, "adjoint_tangent2", &r->adjoint_tangent2, r));
    return check_columns(q, r);
}

int check_map(probe *q, costate_report *r)
{
    TRY(check_begin(q, r));
    int status = check_result(check_all(q, r), r);
    check_end(q);
    return status;
}

int costate_check_map(const costate_map *f, int n, int np, int k, const costate_point *x, void *ctx, costate_report *r)
{
    if (!r) return COSTATE_BAD_ARGUMENT;
    check_clear(r);
    if (!f) return check_says(r, COSTATE_BAD_ARGUMENT, "map is NULL.");
    TRY(check_given(n, np, k, x, r));
    if (!f->value) return check_says(r, COSTATE_MISSING, "map.value is missing.");
    return check_map(&(probe){.map = f, .n = n, .np = np, .k = k, .x = x, .ctx = ctx, .sides = 1}, r);
}
