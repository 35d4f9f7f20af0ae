/* check_map.c - the public check of a map: its derivatives of each order are the products of an operator, and are
   compared with differences and with each other. */
#include <math.h>
#include <stdio.h>
#include "maps/callbacks.h"
#include "maps/check.h"

static void name_of_input(const probe *q, size_t i, char *name, size_t room)
{
    static const char *const names[PARTS] = {"t", "y", "y'", "p", "m"};
    int k = PARTS - 1;
    while (i < q->start[k]) k--;
    if (k == PART_T) snprintf(name, room, "t");
    else snprintf(name, room, "%s[%zu]", names[k], i - q->start[k]);
}

void check_judge(const probe *q, const char *name, const worst *w, double *error, costate_report *r)
{
    char input[32];
    double now = check_relative(w);
    if (!(*error >= now)) *error = now;
    name_of_input(q, (size_t)w->input, input, sizeof input);
    if (now <= CHECK_RIGHT) check_adds(r, "%s right (%.1e). ", name, now);
    else check_adds(r, "%s WRONG: row %d with respect to %s is %.8g, should be %.8g. ", name, w->row,
                    input, w->given, w->expected);
}

/* A value sets k numbers, which are finite, and none behind them. */
static int check_value(const probe *q, costate_report *r)
{
    int k = q->rows, row = 0, over = k;
    double *out = q->work;                              /* 2 k + 1 */
    for (int i = k; i <= 2 * k; i++) out[i] = CHECK_GUARD;
    TRY(check_product(q, CALL_VALUE, &(product_arguments){.x = q->base}, out));
    while (row < k && isfinite(out[row])) row++;
    while (over <= 2 * k && out[over] == CHECK_GUARD) over++;
    if (row < k) check_adds(r, "value WRONG: row %d of %d is %g, or not set. ", row, k, out[row]);
    if (over <= 2 * k) check_adds(r, "value WRONG: it sets more than %d. ", k);
    return 0;
}

/* what there is of the derivative of `order`, with its names and where errors are reported */
typedef struct {
    int value, tangent, adjoint;
    const char *names[2];
    double *errors[2];
} order_given;

static int check_order(const probe *q, int order, const order_given *has, costate_report *r)
{
    derivative D = {q, order, 0, q->start[PARTS]};
    const check_operator F = check_derivative(&D, has->tangent), by_value = check_derivative(&D, 0);
    double *g = q->work + check_work(&F);
    worst w = {0};
    if (has->tangent && has->value) {
        TRY(check_tangent(&F, &by_value, &w, q->work));
        check_judge(q, has->names[0], &w, has->errors[0], r);
    }
    if (has->adjoint) TRY(F.adjoint(F.ctx, q->w, g));
    if (!has->adjoint || !(has->tangent || has->value)) return 0;
    w = (worst){0};
    TRY(check_adjoint(&F, q->w, g, &w, q->work));
    check_judge(q, has->names[1], &w, has->errors[1], r);
    return 0;
}

/* what cannot be called, or has no value, has no derivatives */
static int check_all(const probe *q, costate_report *r)
{
    const costate_map *f = q->map;
    const order_given orders[] = {
        {1, has_tangent(f), has_adjoint(f), {tangent_name(f), adjoint_name(f)}, {&r->tangent, &r->adjoint}},
        {has_tangent(f), f->tangent2 != NULL, f->adjoint_tangent != NULL, {"tangent2", "adjoint_tangent"},
         {&r->tangent2, &r->adjoint_tangent}},
        {f->tangent2 || f->adjoint_tangent, 0, f->adjoint_tangent2 != NULL, {NULL, "adjoint_tangent2"},
         {NULL, &r->adjoint_tangent2}}};
    TRY(check_value(q, r));
    if (!check_right(r)) return 0;
    for (int k = 0; k < 3; k++) TRY(check_order(q, k, &orders[k], r));
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
    probe q = probe_with(f, k, x, (const size_t[]){1, (size_t)n, 0, (size_t)np, 0});
    q.ctx = ctx;
    return check_status(check_map(&q, r));
}
