/* formula.c - value, tangent, adjoint, second and third derivatives of a formula, by its numbers with directions. */
#include "formula.h"

typedef struct { num t, y[FORMULA_MAX_N], p[FORMULA_MAX_P]; } arguments;

/* the point x with directions a and b (NULL: zero) */
static num entry(double v, const double *a, const double *b, int i)
{
    return moving(v, a ? a[i] : 0, b ? b[i] : 0);
}

static void load(const formula *F, const costate_point *x, const costate_point *a, const costate_point *b,
                 arguments *in)
{
    in->t = moving(x->t, a ? a->t : 0, b ? b->t : 0);
    for (int i = 0; i < F->n; i++) in->y[i] = entry(x->y[i], a ? a->y : NULL, b ? b->y : NULL, i);
    for (int i = 0; i < F->np; i++) in->p[i] = entry(x->p[i], a ? a->p : NULL, b ? b->p : NULL, i);
}

static void evaluate(const formula *F, formula_map *map, const arguments *in, num *out)
{
    map(F, in->t, in->y, in->p, out);
}

static int value(const formula *F, formula_map *map, int k, const costate_point *x, double *out)
{
    arguments in;
    num o[FORMULA_MAX_N];
    load(F, x, NULL, NULL, &in);
    evaluate(F, map, &in, o);
    for (int i = 0; i < k; i++) out[i] = o[i].v;
    return 0;
}

static int tangent(const formula *F, formula_map *map, int k, const costate_point *x, const costate_point *dx,
                   double *out)
{
    arguments in;
    num o[FORMULA_MAX_N];
    load(F, x, dx, NULL, &in);
    evaluate(F, map, &in, o);
    for (int i = 0; i < k; i++) out[i] = o[i].a;
    return 0;
}

static int tangent2(const formula *F, formula_map *map, int k, const costate_point *x, const costate_point *dx1,
                    const costate_point *dx2, double *out)
{
    arguments in;
    num o[FORMULA_MAX_N];
    load(F, x, dx1, dx2, &in);
    evaluate(F, map, &in, o);
    for (int i = 0; i < k; i++) out[i] = o[i].ab;
    return 0;
}

/* the derivative along a, along a and b, or along a, b and c */
static double derivative(num x, int order) { return order == 1 ? x.a : order == 2 ? x.ab : x.abc; }

static double weighted(int k, const double *w, const num *out, int order)
{
    double s = 0;
    for (int i = 0; i < k; i++) s += w[i] * derivative(out[i], order);
    return s;
}

/* <w, column j> over the rows of column j alone, as the other rows belong to columns of the same colour */
static double weighted_column(const costate_pattern *S, int j, const double *w, const num *out, int order)
{
    double s = 0;
    for (int e = S->col[j]; e < S->col[j + 1]; e++) s += w[S->row[e]] * derivative(out[S->row[e]], order);
    return s;
}

static void seed(const formula *F, int colours, int c, double a, arguments *in)
{
    for (int j = c; j < F->n; j += colours) in->y[j].a = a;
}

/* the third direction of the arguments */
static void move(const formula *F, const costate_point *c, arguments *in)
{
    in->t = third(in->t, number(c->t));
    for (int i = 0; i < F->n; i++) in->y[i] = third(in->y[i], number(c->y ? c->y[i] : 0));
    for (int i = 0; i < F->np; i++) in->p[i] = third(in->p[i], number(c->p ? c->p[i] : 0));
}

/* g += F'(x)^T w, or (F''(x)[b, .])^T w, or (F'''(x)[b, c, .])^T w: unit directions as a, one colour or one entry after
   the other */
static int transposed(const formula *F, formula_map *map, int k, const costate_point *x, const costate_point *b,
                      const costate_point *c3, const double *w, const costate_gradient *g)
{
    arguments in;
    num o[FORMULA_MAX_N];
    int order = 1 + (b != NULL) + (c3 != NULL), coloured = map == F->f && F->colours > 0;
    int colours = coloured ? F->colours : F->n;
    load(F, x, NULL, b, &in);
    if (c3) move(F, c3, &in);
    for (int c = 0; g->y && c < colours; c++) {
        seed(F, colours, c, 1, &in);
        evaluate(F, map, &in, o);
        seed(F, colours, c, 0, &in);
        for (int j = c; j < F->n; j += colours)
            g->y[j] += coloured ? weighted_column(F->pattern, j, w, o, order) : weighted(k, w, o, order);
    }
    for (int l = 0; g->p && l < F->np; l++) {
        in.p[l].a = 1;
        evaluate(F, map, &in, o);
        in.p[l].a = 0;
        g->p[l] += weighted(k, w, o, order);
    }
    if (g->t) {
        in.t.a = 1;
        evaluate(F, map, &in, o);
        *g->t += weighted(k, w, o, order);
    }
    return 0;
}

/* the callbacks of f and of r, whose values are n and nq */
#define MAP(part, map, rows)                                                                                           \
    int formula_##part##_value(const costate_point *x, double *out, void *ctx)                                         \
    {                                                                                                                  \
        const formula *F = ctx;                                                                                        \
        return value(F, F->map, F->rows, x, out);                                                                      \
    }                                                                                                                  \
    int formula_##part##_tangent(const costate_point *x, const costate_point *dx, double *out, void *ctx)              \
    {                                                                                                                  \
        const formula *F = ctx;                                                                                        \
        return tangent(F, F->map, F->rows, x, dx, out);                                                                \
    }                                                                                                                  \
    int formula_##part##_adjoint(const costate_point *x, const double *w, const costate_gradient *g, void *ctx)        \
    {                                                                                                                  \
        const formula *F = ctx;                                                                                        \
        return transposed(F, F->map, F->rows, x, NULL, NULL, w, g);                                                    \
    }                                                                                                                  \
    int formula_##part##_tangent2(const costate_point *x, const costate_point *a, const costate_point *b, double *out, \
                                  void *ctx)                                                                           \
    {                                                                                                                  \
        const formula *F = ctx;                                                                                        \
        return tangent2(F, F->map, F->rows, x, a, b, out);                                                             \
    }                                                                                                                  \
    int formula_##part##_adjoint_tangent(const costate_point *x, const costate_point *dx, const double *w,             \
                                         const costate_gradient *g, void *ctx)                                         \
    {                                                                                                                  \
        const formula *F = ctx;                                                                                        \
        return transposed(F, F->map, F->rows, x, dx, NULL, w, g);                                                      \
    }                                                                                                                  \
    int formula_##part##_adjoint_tangent2(const costate_point *x, const costate_point *a, const costate_point *b,      \
                                          const double *w, const costate_gradient *g, void *ctx)                       \
    {                                                                                                                  \
        const formula *F = ctx;                                                                                        \
        return transposed(F, F->map, F->rows, x, a, b, w, g);                                                          \
    }
MAP(rhs, f, n)
MAP(cost, r, nq)

int formula_jac(const costate_point *x, double *J, void *ctx)
{
    const formula *F = ctx;
    const costate_pattern *S = F->pattern;
    arguments in;
    num o[FORMULA_MAX_N];
    int n = F->n, colours = F->colours > 0 ? F->colours : n;
    load(F, x, NULL, NULL, &in);
    for (int c = 0; c < colours; c++) {
        seed(F, colours, c, 1, &in);
        evaluate(F, F->f, &in, o);
        seed(F, colours, c, 0, &in);
        for (int j = c; j < n; j += colours) {
            if (S)
                for (int e = S->col[j]; e < S->col[j + 1]; e++) J[e] = o[S->row[e]].a;
            else
                for (int i = 0; i < n; i++) J[(size_t)j * n + i] = o[i].a;
        }
    }
    return 0;
}

int formula_mass(double *M, void *ctx)
{
    const formula *F = ctx;
    const costate_pattern *S = F->pattern;
    int n = F->n;
    for (int j = 0; j < n; j++) {
        if (S)
            for (int e = S->col[j]; e < S->col[j + 1]; e++) M[e] = F->M[(size_t)j * n + S->row[e]];
        else
            for (int i = 0; i < n; i++) M[(size_t)j * n + i] = F->M[(size_t)j * n + i];
    }
    return 0;
}
