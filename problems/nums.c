/* nums.c - the callbacks of nums.h: one evaluation a product, adjoints by one unit direction after the other. */
#include "nums.h"

static double along(const double *d, int i) { return d ? d[i] : 0; }

static num entry(double v, double a, double b, double c)
{
    num x = moving(v, a, b);
    return c == 0 ? x : third(x, number(c));
}

static void load(int n, const double *x, const double *const *d, num *to)
{
    for (int i = 0; i < n; i++) to[i] = entry(along(x, i), along(d[0], i), along(d[1], i), along(d[2], i));
}

/* at x, in the directions d */
static void evaluate(const num_map *F, const costate_point *x, const costate_point *const d[3], num *out)
{
    static const costate_point none = {0};
    const costate_point *e[3];
    for (int k = 0; k < 3; k++) e[k] = d[k] ? d[k] : &none;
    num_point at = {.t = entry(x->t, e[0]->t, e[1]->t, e[2]->t), .mode = x->mode};
    load(F->n, x->y, (const double *[]){e[0]->y, e[1]->y, e[2]->y}, at.y);
    load(F->n, x->yp, (const double *[]){e[0]->yp, e[1]->yp, e[2]->yp}, at.yp);
    load(F->np, x->p, (const double *[]){e[0]->p, e[1]->p, e[2]->p}, at.p);
    load(F->nm, x->m, (const double *[]){e[0]->m, e[1]->m, e[2]->m}, at.m);
    F->f(F->of, &at, out);
}

void num_value(const num_map *F, const costate_point *x, double *out)
{
    num o[NUMS_N + NUMS_M];
    evaluate(F, x, (const costate_point *[]){NULL, NULL, NULL}, o);
    for (int i = 0; i < F->rows; i++) out[i] = o[i].v;
}

void num_tangent(const num_map *F, const costate_point *x, const costate_point *dx, const costate_point *other,
                 double *out)
{
    num o[NUMS_N + NUMS_M];
    evaluate(F, x, (const costate_point *[]){dx, other, NULL}, o);
    for (int i = 0; i < F->rows; i++) out[i] = other ? o[i].ab : o[i].a;
}

/* F'(x) dx, F''(x)[dx, a] or F'''(x)[dx, a, b], a and b as far as there */
static void derivative(const num_map *F, const costate_point *x, const costate_point *dx, const costate_point *a,
                       const costate_point *b, double *out)
{
    num o[NUMS_N + NUMS_M];
    evaluate(F, x, (const costate_point *[]){dx, a, b}, o);
    for (int i = 0; i < F->rows; i++) out[i] = b ? o[i].abc : a ? o[i].ab : o[i].a;
}

void num_adjoint(const num_map *F, const costate_point *x, const costate_point *other, const double *w,
                 const costate_gradient *g)
{
    num_adjoint2(F, x, other, NULL, w, g);
}

void num_adjoint2(const num_map *F, const costate_point *x, const costate_point *a, const costate_point *b,
                  const double *w, const costate_gradient *g)
{
    double e[NUMS_BOTH] = {0}, ep[NUMS_P] = {0}, em[NUMS_M] = {0}, out[NUMS_N + NUMS_M];
    const struct { double *to, *unit; int count; costate_point dx; } parts[] = {
        {g->t, NULL, 1, {.t = 1}}, {g->y, e, F->n, {.y = e}}, {g->yp, e, F->n, {.yp = e}},
        {g->p, ep, F->np, {.p = ep}}, {g->m, em, F->nm, {.m = em}}};
    for (int k = 0; k < 5; k++)
        for (int i = 0; parts[k].to && i < parts[k].count; i++) {
            if (parts[k].unit) parts[k].unit[i] = 1;
            derivative(F, x, &parts[k].dx, a, b, out);
            if (parts[k].unit) parts[k].unit[i] = 0;
            for (int r = 0; r < F->rows; r++) parts[k].to[i] += w[r] * out[r];
        }
}
