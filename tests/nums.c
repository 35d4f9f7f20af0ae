/* nums.c - the callbacks of nums.h: one evaluation a product, adjoints by one unit direction after the other. */
#include "nums.h"

static double along(const double *d, int i) { return d ? d[i] : 0; }

static void load(int n, const double *x, const double *a, const double *b, num *to)
{
    for (int i = 0; i < n; i++) to[i] = (num){along(x, i), along(a, i), along(b, i), 0};
}

/* at x, in the directions a and b */
static void evaluate(const num_map *F, const costate_point *x, const costate_point *a, const costate_point *b, num *out)
{
    static const costate_point none = {0};
    if (!a) a = &none;
    if (!b) b = &none;
    num_point at = {.t = {x->t, a->t, b->t, 0}, .mode = x->mode};
    load(F->n, x->y, a->y, b->y, at.y);
    load(F->n, x->yp, a->yp, b->yp, at.yp);
    load(F->np, x->p, a->p, b->p, at.p);
    load(F->nm, x->m, a->m, b->m, at.m);
    F->f(F->of, &at, out);
}

void num_value(const num_map *F, const costate_point *x, double *out)
{
    num o[NUMS_N + NUMS_M];
    evaluate(F, x, NULL, NULL, o);
    for (int i = 0; i < F->rows; i++) out[i] = o[i].v;
}

void num_tangent(const num_map *F, const costate_point *x, const costate_point *dx, const costate_point *other,
                 double *out)
{
    num o[NUMS_N + NUMS_M];
    evaluate(F, x, dx, other, o);
    for (int i = 0; i < F->rows; i++) out[i] = other ? o[i].ab : o[i].a;
}

void num_adjoint(const num_map *F, const costate_point *x, const costate_point *other, const double *w,
                 const costate_gradient *g)
{
    double e[NUMS_N] = {0}, ep[NUMS_P] = {0}, em[NUMS_M] = {0}, out[NUMS_N + NUMS_M];
    const struct { double *to, *unit; int count; costate_point dx; } parts[] = {
        {g->t, NULL, 1, {.t = 1}}, {g->y, e, F->n, {.y = e}}, {g->yp, e, F->n, {.yp = e}},
        {g->p, ep, F->np, {.p = ep}}, {g->m, em, F->nm, {.m = em}}};
    for (int k = 0; k < 5; k++)
        for (int i = 0; parts[k].to && i < parts[k].count; i++) {
            if (parts[k].unit) parts[k].unit[i] = 1;
            num_tangent(F, x, &parts[k].dx, other, out);
            if (parts[k].unit) parts[k].unit[i] = 0;
            for (int r = 0; r < F->rows; r++) parts[k].to[i] += w[r] * out[r];
        }
}
