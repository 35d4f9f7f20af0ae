/* check_map.c - the public checks of a user's callbacks: derivatives against differences and each other.

   Differences are central and of 8th order: (4/5) d1 - (1/5) d2 + (4/105) d3 - (1/280) d4, dk = (F(x + k e) - F(x - k e))/e,
   so that correct derivatives agree to about 1e-11 and a wrong one cannot hide behind the difference's own error. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "core.h"
#include "check.h"

typedef struct {
    const costate_map *map;
    int n, np, k;
    const costate_point *x;
    void *ctx;
    double *y, *p, *e, *w, *a, *b, *d, *g;   /* n, np, n+np, k, n+np, k, k, n+np */
} probe;

static const double RIGHT = 1e-6;

static double size_of(const probe *q, int i)
{
    if (i < 0) return fmax(fabs(q->x->t), 1e-2);
    const double *v = i < q->n ? q->x->y : q->x->p;
    int count = i < q->n ? q->n : q->np, j = i < q->n ? i : i - q->n;
    double most = 0;
    for (int l = 0; l < count; l++) most = fmax(most, fabs(v[l]));
    return fmax(fabs(v[j]), 1e-3 * (most > 0 ? most : 1e-3));
}

static costate_point unit(const probe *q, int i)          /* i: -1 t, then y, then p */
{
    memset(q->e, 0, (size_t)(q->n + q->np) * sizeof *q->e);
    if (i < 0) return (costate_point){1, NULL, NULL};
    q->e[i] = 1;
    return (costate_point){0, i < q->n ? q->e : NULL, i < q->n ? NULL : q->e + q->n};
}

static costate_point moved(const probe *q, int i, double by)
{
    costate_point z = *q->x;
    if (i < 0) z.t += by;
    else if (i < q->n) { memcpy(q->y, q->x->y, (size_t)q->n * sizeof *q->y); q->y[i] += by; z.y = q->y; }
    else { memcpy(q->p, q->x->p, (size_t)q->np * sizeof *q->p); q->p[i - q->n] += by; z.p = q->p; }
    return z;
}

enum { OF_VALUE, OF_TANGENT, OF_ADJOINT };

/* what is differenced: value (k); tangent along a (k); adjoint of w (n+np) */
static int evaluate(const probe *q, int of, const costate_point *z, double *out)
{
    costate_point a = {0.3, q->a, q->np ? q->a + q->n : NULL};
    if (of == OF_VALUE) return q->map->value(z, out, q->ctx);
    if (of == OF_TANGENT) return q->map->tangent(z, &a, out, q->ctx);
    memset(out, 0, (size_t)(q->n + q->np) * sizeof *out);
    costate_gradient g = {NULL, out, q->np ? out + q->n : NULL};
    return q->map->adjoint(z, q->w, &g, q->ctx);
}

/* derivative of it by input i, by differences, into d; size: of d */
static int difference(const probe *q, int of, int i, int size, double *d, double *work)
{
    static const double c[] = {4.0 / 5, -1.0 / 5, 4.0 / 105, -1.0 / 280};
    volatile double wide = size_of(q, i) * 2e-3;
    double e = wide;
    memset(d, 0, (size_t)size * sizeof *d);
    for (int k = -4; k <= 4; k++) {
        if (k == 0) continue;
        costate_point z = moved(q, i, k * e);
        int r = evaluate(q, of, &z, work);
        if (r != 0) return r;
        axpy((size_t)size, (k > 0 ? 1 : -1) * c[(k > 0 ? k : -k) - 1] / e, work, d);
    }
    return 0;
}

typedef struct { double error, scale, given, expected; int row, input; } worst;

static void compare(worst *w, int input, double weight, int size, const double *given, const double *expected)
{
    for (int i = 0; i < size; i++) {
        double e = fabs(given[i] - expected[i]) * weight;
        w->scale = fmax(w->scale, fmax(fabs(expected[i]), fabs(given[i])) * weight);
        if (w->error == w->error && !(e <= w->error)) { w->error = e; w->row = i; w->input = input; w->given = given[i]; w->expected = expected[i]; }
    }
}

/* Differences carry the round-off of what is differenced: a derivative that is zero is right when it is that small. */
static void allow(worst *w, int size, const double *differenced)
{
    for (int i = 0; i < size; i++) w->scale = fmax(w->scale, 1e-5 * fabs(differenced[i]));
}

static double relative(const worst *w) { return w->error > 0 || !(w->error == w->error) ? w->error / w->scale : 0; }

static void describe(const probe *q, const char *name, const worst *w, costate_report *r)
{
    char input[32];
    size_t used = strlen(r->text);
    int i = w->input;
    if (i < 0) snprintf(input, sizeof input, "t");
    else snprintf(input, sizeof input, "%c[%d]", i < q->n ? 'y' : 'p', i < q->n ? i : i - q->n);
    if (relative(w) <= RIGHT) snprintf(r->text + used, sizeof r->text - used, "%s right (%.1e). ", name, relative(w));
    else snprintf(r->text + used, sizeof r->text - used, "%s WRONG: row %d by %s is %.8g, should be %.8g. ", name, w->row, input,
                  w->given, w->expected);
}

static int check_tangent(const probe *q, costate_report *r)
{
    worst w = {0};
    for (int i = -1; i < q->n + q->np; i++) {
        costate_point dx = unit(q, i);
        int code = difference(q, OF_VALUE, i, q->k, q->d, q->b);
        allow(&w, q->k, q->b);
        if (code == 0) code = q->map->tangent(q->x, &dx, q->b, q->ctx);
        if (code != 0) return code;
        compare(&w, i, size_of(q, i), q->k, q->b, q->d);
    }
    r->tangent = relative(&w);
    describe(q, "tangent", &w, r);
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
        costate_point dx = unit(q, i);
        if (q->map->tangent) code = q->map->tangent(q->x, &dx, q->d, q->ctx);
        else { code = difference(q, OF_VALUE, i, q->k, q->d, q->b); allow(&w, q->k, q->b); }
        double expected = dot((size_t)q->k, q->w, q->d), given = i < 0 ? t : q->g[i];
        compare(&w, i, size_of(q, i), 1, &given, &expected);
    }
    r->adjoint = relative(&w);
    describe(q, "adjoint", &w, r);
    return code;
}

static int check_tangent2(const probe *q, costate_report *r)
{
    worst w = {0};
    int code = 0;
    costate_point a = {0.3, q->a, q->np ? q->a + q->n : NULL};
    for (int i = -1; code == 0 && i < q->n + q->np; i++) {
        code = difference(q, OF_TANGENT, i, q->k, q->d, q->b);
        allow(&w, q->k, q->b);
        costate_point dx = unit(q, i);
        if (code == 0) code = q->map->tangent2(q->x, &a, &dx, q->b, q->ctx);
        if (code == 0) compare(&w, i, size_of(q, i), q->k, q->b, q->d);
    }
    r->tangent2 = relative(&w);
    describe(q, "tangent2", &w, r);
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
        costate_point dx = unit(q, i);
        if (q->map->tangent2) code = q->map->tangent2(q->x, &a, &dx, q->d, q->ctx);
        else { code = difference(q, OF_TANGENT, i, q->k, q->d, q->b); allow(&w, q->k, q->b); }
        double expected = dot((size_t)q->k, q->w, q->d), given = i < 0 ? t : q->g[i];
        compare(&w, i, size_of(q, i), 1, &given, &expected);
    }
    r->adjoint_tangent = relative(&w);
    describe(q, "adjoint_tangent", &w, r);
    return code;
}

static int all_right(const costate_report *r)
{
    const double e[] = {r->tangent, r->adjoint, r->tangent2, r->adjoint_tangent, r->jac};
    for (int i = 0; i < 5; i++) if (e[i] > RIGHT) return 0;
    return strstr(r->text, "WRONG") == NULL;
}

int costate_check_map(const costate_map *map, int n, int np, int k, const costate_point *x, void *ctx, costate_report *r)
{
    if (!r) return COSTATE_BAD_ARGUMENT;
    check_clear(r);
    if (!map) return check_says(r, COSTATE_BAD_ARGUMENT, "map is NULL.");
    int status = check_given(n, np, "k", k, 1, x, r);
    if (status != COSTATE_OK) return status;
    if (!map->value) return check_says(r, COSTATE_MISSING, "map.value is missing.");
    size_t in = (size_t)(n + np), out = (size_t)(k > n + np ? k : n + np);
    double *memory = calloc(8 * out + 4 * in, sizeof *memory), *at = memory;
    if (!memory) return check_says(r, COSTATE_NO_MEMORY, "No memory for the check.");
    probe q = {map, n, np, k, x, ctx, at, at + n, at + in, at + 2 * in, at + 2 * in + out, at + 2 * in + 2 * out,
               at + 2 * in + 3 * out, at + 2 * in + 4 * out};
    unsigned state = 7;
    for (int i = 0; i < k; i++) q.w[i] = check_random(&state);
    for (int i = 0; i < n + np; i++) q.a[i] = check_random(&state) * size_of(&q, i);
    int code = 0;
    if (map->tangent) code = check_tangent(&q, r);
    if (code == 0 && map->adjoint) code = check_adjoint(&q, r);
    if (code == 0 && map->tangent2 && map->tangent) code = check_tangent2(&q, r);
    if (code == 0 && map->adjoint_tangent) code = check_adjoint_tangent(&q, r);
    free(memory);
    if (code != 0) return check_says(r, COSTATE_CALLBACK, "A callback returned %d.", code);
    return all_right(r) ? COSTATE_OK : COSTATE_CHECK_FAILED;
}

/* ---- jac against the map, all of it: entries outside the pattern count as zeros ---- */

static int check_jac(const costate_problem *P, const costate_point *x, costate_report *r)
{
    size_t n = (size_t)P->n, nnz = P->pattern ? (size_t)P->pattern->col[P->n] : n * n;
    double *memory = calloc(nnz + 6 * n + (size_t)P->np, sizeof *memory), *J = memory;
    if (!memory) return check_says(r, COSTATE_NO_MEMORY, "No memory for the check.");
    double *at = memory + nnz;
    probe q = {&P->rhs, P->n, P->np, P->n, x, P->ctx, at, at + n, at + n, NULL, NULL, at + 2 * n + P->np, at + 3 * n + P->np, NULL};
    double *column = at + 4 * n + P->np;
    worst w = {0};
    int code = P->jac(x, J, P->ctx);
    for (int j = 0; code == 0 && j < P->n; j++) {
        costate_point dx = {0, q.e, NULL};
        memset(q.e, 0, n * sizeof *q.e);
        q.e[j] = 1;
        if (P->rhs.tangent) code = P->rhs.tangent(x, &dx, q.d, P->ctx);
        else { code = difference(&q, OF_VALUE, j, P->n, q.d, q.b); allow(&w, P->n, q.b); }
        memset(column, 0, n * sizeof *column);
        if (P->pattern) for (int k = P->pattern->col[j]; k < P->pattern->col[j + 1]; k++) column[P->pattern->row[k]] = J[k];
        else memcpy(column, J + (size_t)j * n, n * sizeof *column);
        compare(&w, j, size_of(&q, j), P->n, column, q.d);
    }
    if (code == 0) { r->jac = relative(&w); describe(&q, "jac", &w, r); }
    free(memory);
    if (code != 0) return check_says(r, COSTATE_CALLBACK, "A callback returned %d.", code);
    return all_right(r) ? COSTATE_OK : COSTATE_CHECK_FAILED;
}

/* right or wrong, and the rest is worth judging, too */
static int judged(int status) { return status == COSTATE_OK || status == COSTATE_CHECK_FAILED; }

int costate_check_problem(const costate_problem *P, const costate_point *x, costate_report *rhs, costate_report *cost)
{
    costate_report unused;
    if (!cost) cost = &unused;
    check_clear(cost);
    if (!rhs) return COSTATE_BAD_ARGUMENT;
    check_clear(rhs);
    int status = check_given_problem(P, x, rhs);
    if (status != COSTATE_OK) return status;
    status = costate_check_map(&P->rhs, P->n, P->np, P->n, x, P->ctx, rhs);
    if (P->jac && judged(status)) status = check_jac(P, x, rhs);
    if (P->nq == 0 || !judged(status)) return status;
    int more = costate_check_map(&P->cost, P->n, P->np, P->nq, x, P->ctx, cost);
    return status == COSTATE_OK ? more : status;
}
