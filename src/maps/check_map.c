/* check_map.c - the public check of a map: derivatives against differences and each other. */
#include <stdlib.h>
#include <string.h>
#include "base/random.h"
#include "base/pattern.h"
#include "base/vec.h"
#include "maps/maps.h"
#include "maps/check.h"

static int check_tangent(const probe *q, costate_report *r)
{
    worst w = {0};
    for (int i = -1; i < q->n + q->np; i++) {
        costate_point dx = check_unit(q, i);
        int code = check_difference(q, OF_VALUE, i, q->k, q->d, q->b);
        check_allow(&w, q->k, q->b);
        if (code == 0) code = q->map->tangent(q->x, &dx, q->b, q->ctx);
        if (code != 0) return code;
        check_compare(&w, i, check_size(q, i), q->k, q->b, q->d);
    }
    r->tangent = check_relative(&w);
    check_describe(q, "tangent", &w, r);
    return 0;
}

/* <w, F' e_i> by tangents, or by differences of <w, F>, against each entry of the adjoint */
static int check_adjoint(const probe *q, costate_report *r)
{
    worst w = {0};
    double t = 0;
    memset(q->g, 0, (size_t)(q->n + q->np) * sizeof *q->g);
    costate_gradient g = {&t, q->g, q->np ? q->g + q->n : NULL};
    int code = q->map->adjoint(q->x, q->w, &g, q->ctx);
    for (int i = -1; code == 0 && i < q->n + q->np; i++) {
        costate_point dx = check_unit(q, i);
        if (q->map->tangent) code = q->map->tangent(q->x, &dx, q->d, q->ctx);
        else { code = check_difference(q, OF_VALUE, i, q->k, q->d, q->b); check_allow(&w, q->k, q->b); }
        double expected = dot((size_t)q->k, q->w, q->d), given = i < 0 ? t : q->g[i];
        check_compare(&w, i, check_size(q, i), 1, &given, &expected);
    }
    r->adjoint = check_relative(&w);
    check_describe(q, "adjoint", &w, r);
    return code;
}

static int check_tangent2(const probe *q, costate_report *r)
{
    worst w = {0};
    int code = 0;
    costate_point a = {0.3, q->a, q->np ? q->a + q->n : NULL};
    for (int i = -1; code == 0 && i < q->n + q->np; i++) {
        code = check_difference(q, OF_TANGENT, i, q->k, q->d, q->b);
        check_allow(&w, q->k, q->b);
        costate_point dx = check_unit(q, i);
        if (code == 0) code = q->map->tangent2(q->x, &a, &dx, q->b, q->ctx);
        if (code == 0) check_compare(&w, i, check_size(q, i), q->k, q->b, q->d);
    }
    r->tangent2 = check_relative(&w);
    check_describe(q, "tangent2", &w, r);
    return code;
}

/* entry i: <w, F''[a, e_i]> by tangent2, or the difference along e_i of <w, F' a> = <adjoint(w), a> + t-part */
static int check_adjoint_tangent(const probe *q, costate_report *r)
{
    worst w = {0};
    double t = 0;
    costate_point a = {0.3, q->a, q->np ? q->a + q->n : NULL};
    memset(q->g, 0, (size_t)(q->n + q->np) * sizeof *q->g);
    costate_gradient g = {&t, q->g, q->np ? q->g + q->n : NULL};
    int code = q->map->adjoint_tangent(q->x, &a, q->w, &g, q->ctx);
    if (!q->map->tangent2 && !q->map->tangent) return code;
    for (int i = -1; code == 0 && i < q->n + q->np; i++) {
        costate_point dx = check_unit(q, i);
        if (q->map->tangent2) code = q->map->tangent2(q->x, &a, &dx, q->d, q->ctx);
        else { code = check_difference(q, OF_TANGENT, i, q->k, q->d, q->b); check_allow(&w, q->k, q->b); }
        double expected = dot((size_t)q->k, q->w, q->d), given = i < 0 ? t : q->g[i];
        check_compare(&w, i, check_size(q, i), 1, &given, &expected);
    }
    r->adjoint_tangent = check_relative(&w);
    check_describe(q, "adjoint_tangent", &w, r);
    return code;
}

int check_right(const costate_report *r)
{
    const double e[] = {r->tangent, r->adjoint, r->tangent2, r->adjoint_tangent, r->jac};
    for (int i = 0; i < 5; i++) if (e[i] > CHECK_RIGHT) return 0;
    return strstr(r->text, "WRONG") == NULL;
}

int costate_check_map(const costate_map *f, int n, int np, int k, const costate_point *x, void *ctx, costate_report *r)
{
    if (!r) return COSTATE_BAD_ARGUMENT;
    check_clear(r);
    if (!f) return check_says(r, COSTATE_BAD_ARGUMENT, "map is NULL.");
    int status = check_given(n, np, "k", k, 1, x, r);
    if (status != COSTATE_OK) return status;
    if (!f->value) return check_says(r, COSTATE_MISSING, "map.value is missing.");
    size_t in = (size_t)(n + np), out = (size_t)(k > n + np ? k : n + np);
    double *memory = calloc(8 * out + 4 * in, sizeof *memory), *at = memory;
    if (!memory) return check_says(r, COSTATE_NO_MEMORY, "No memory for the check.");
    probe q = {f, n, np, k, x, ctx, at, at + n, at + in, at + 2 * in, at + 2 * in + out, at + 2 * in + 2 * out,
               at + 2 * in + 3 * out, at + 2 * in + 4 * out};
    unsigned state = 7;
    for (int i = 0; i < k; i++) q.w[i] = random_number(&state);
    for (int i = 0; i < n + np; i++) q.a[i] = random_number(&state) * check_size(&q, i);
    int code = 0;
    if (f->tangent) code = check_tangent(&q, r);
    if (code == 0 && f->adjoint) code = check_adjoint(&q, r);
    if (code == 0 && f->tangent2 && f->tangent) code = check_tangent2(&q, r);
    if (code == 0 && f->adjoint_tangent) code = check_adjoint_tangent(&q, r);
    free(memory);
    if (code != 0) return check_says(r, COSTATE_CALLBACK, "A callback returned %d.", code);
    return check_right(r) ? COSTATE_OK : COSTATE_CHECK_FAILED;
}
