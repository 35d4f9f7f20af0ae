/* second.c - Hessian products of consistent values: the derivatives of derive.c's adjoints along directions
   (mathematics, eq. 11.9 to 11.10).

   A phase of start.h is G(z, x) = 0 with unknowns z - (k_D, y_A), or d of `position` - and Newton's matrix A = -G_z.
   With L = u^T G, A^T u = lambda_z and x's adjoint += L_x(u), along (z', x'):

       A^T u' = lambda'_z + [L_z(u)]',   x's adjoint' += L_x(u') + [L_x(u)]'

       values     L = u^T E(x), but with the part v of u in rows C  v^T E'(x)[(1, k_D)]
       position   L = u^T E'(g)[d], except in rows C  v^T E(x)

   so that constraints of index 2 require third derivatives; these are taken at x if it is equal to g. */
#include <string.h>
#include "base/vec.h"
#include "maps/callbacks.h"
#include "start/derive.h"

/* For m directions, n per column: y before and after; d'; (k'_D, y'_A). */
typedef struct {
    const start_along *given;
    size_t ld;
    double *after, *moved, *found;
} start_tangents;

typedef struct {
    derivative d;
    adjoined x;                         /* 1 + m columns */
    start_tangents v;
    int m;
    double *u;                          /* n: of the functional */
    double *y, *k, *in, *dir, *dir2;    /* n each: L_y of the unknowns, L_k, L_y of the given components; directions */
} second;

static int third_missing(const second *s)
{
    const maps *a = s->d.s->maps;
    if (a->rhs.user->adjoint_tangent2 || a->differences) return 0;
    return fail(a->v, COSTATE_MISSING, "Hessian products through consistent values of index 2 need "
                "%s.adjoint_tangent2 (or options.differences = 1). Without consistent values at the end of the run "
                "(options.consistent = COSTATE_CONSISTENT_NONE) they do not.", a->rhs.name);
}

static size_t size_of(const second *s) { return (size_t)s->d.s->maps->n; }

static void part(const second *s, const unsigned char *which, int is, const double *from, double *to)
{
    derive_part((int)size_of(s), which, is, from, to);
}

/* where gradients of direction j are added; y, k NULL: not requested */
static costate_gradient onto(const second *s, int j, int others, double *y, double *k)
{
    const maps *a = s->d.s->maps;
    costate_gradient g = into_pm(a, s->x.t ? s->x.t + 1 + j : NULL, y, s->x.mu, (size_t)(1 + j));
    if (!others) g = (costate_gradient){.y = y};
    g.yp = a->residual ? k : NULL;
    return g;
}

static costate_point along(const second *s, int j, const double *y, const double *k)
{
    const maps *a = s->d.s->maps;
    costate_point dx = along_pm(a, s->v.given->dt[j], y, s->v.given->Vp, (size_t)j);
    dx.yp = a->residual ? k : NULL;
    return dx;
}

/* [E'(at)^T w]' along dx, w the part of u in rows where hidden is `in` */
static int curve(const second *s, int in, const costate_point *at, const costate_point *dx, costate_gradient g)
{
    part(s, s->d.f->hidden, in, s->u, s->d.s->r);
    if (sum_moduli(size_of(s), s->d.s->r) == 0) return 0;
    return equation_adjoint_tangent(s->d.s->maps, at, dx, s->d.s->r, &g);
}

/* the same of E''(at)[a, .]^T w */
static int curve2(const second *s, int in, const costate_point *at, const costate_point *a, const costate_point *dx,
                  costate_gradient g)
{
    part(s, s->d.f->hidden, in, s->u, s->d.s->r);
    if (sum_moduli(size_of(s), s->d.s->r) == 0) return 0;
    TRY(third_missing(s));
    return equation_adjoint_tangent2(s->d.s->maps, at, a, dx, s->d.s->r, &g);
}

/* ---- values ---- */

/* adds [L_z]' of direction j to its right-hand side, and [L_x]' to its gradients */
static int curve_values(const second *s, int j, double *rhs)
{
    const derivative *d = &s->d;
    size_t n = size_of(s), at = (size_t)j * n;
    double *lambda = s->x.lambda + (size_t)(1 + j) * s->x.ld;
    const double *seeds = s->x.slopes ? s->x.slopes + n + at : NULL;
    part(s, d->f->unknown, 0, s->v.found + at, s->dir);                       /* k'_D */
    costate_point dx = along(s, j, s->v.after + at, s->dir), slope = {.y = s->dir};
    memset(s->y, 0, n * sizeof *s->y);
    memset(s->k, 0, n * sizeof *s->k);
    TRY(curve(s, 0, &d->x, &dx, onto(s, j, 1, s->y, s->k)));
    if (d->s->maps->index) {
        TRY(curve2(s, 1, &d->x, &d->slope, &dx, onto(s, j, 1, s->y, NULL)));
        TRY(curve(s, 1, &d->x, &slope, onto(s, j, 1, s->y, NULL)));
        TRY(curve(s, 1, &d->x, &dx, onto(s, j, 0, s->k, NULL)));              /* E_C,y k_D by k_D */
    }
    for (size_t i = 0; i < n; i++) {
        rhs[i] = d->f->unknown[i] ? lambda[i] + s->y[i] : s->k[i] + (seeds ? seeds[i] : 0);
        if (d->f->unknown[i]) lambda[i] = 0;
        else lambda[i] += s->y[i];
    }
    return 0;
}

/* the functional's u, which stays in s->u */
static int functional_of(const second *s, int unknown)
{
    starter *t = s->d.s;
    part(s, s->d.f->unknown, unknown, s->x.lambda, t->derived.V);
    for (size_t i = 0; unknown && s->x.slopes && i < size_of(s); i++)
        if (!s->d.f->unknown[i]) t->derived.V[i] = s->x.slopes[i];
    TRY(derive_solve(&s->d, 1, 1));
    memcpy(s->u, t->derived.V, size_of(s) * sizeof *s->u);
    return 0;
}

static int values_back(second *s)
{
    starter *t = s->d.s;
    size_t n = size_of(s);
    TRY(start_matrix_of_values(t, s->d.f));
    TRY(functional_of(s, 1));
    for (int j = 0; j < s->m; j++) TRY(curve_values(s, j, t->derived.V + (size_t)j * n));
    TRY(derive_solve(&s->d, 1, s->m));
    for (size_t i = 0; i < n; i++) if (s->d.f->unknown[i]) s->x.lambda[i] = 0;
    for (int j = 0; j <= s->m; j++) {
        const double *u = j ? t->derived.V + (size_t)(j - 1) * n : s->u;
        TRY(derive_first(&s->d, &s->x, j, 0, u));
        TRY(derive_second(&s->d, &s->x, j, 1, &s->d.x, &s->d.slope, 0, u));
    }
    return 0;
}

/* ---- position ---- */

static int curve_position(const second *s, int j, double *rhs)
{
    const derivative *d = &s->d;
    size_t n = size_of(s), at = (size_t)j * n;
    double *lambda = s->x.lambda + (size_t)(1 + j) * s->x.ld;
    costate_point dg = along(s, j, s->v.given->V + (size_t)j * s->v.ld, NULL), dx = along(s, j, s->v.after + at, NULL);
    part(s, d->f->unknown, 1, s->v.moved + at, s->dir);
    part(s, d->f->unknown, 0, s->v.moved + at, s->dir2);
    costate_point moved = {.y = s->dir, .yp = d->s->maps->residual ? s->dir2 : NULL};
    double *unknowns = s->y, *onto_k = s->k, *in = s->in;
    memset(unknowns, 0, n * sizeof *unknowns);
    memset(onto_k, 0, n * sizeof *onto_k);
    memset(in, 0, n * sizeof *in);
    TRY(curve(s, 0, &d->g, &dg, onto(s, j, 0, unknowns, onto_k)));
    TRY(curve(s, 0, &d->g, &moved, onto(s, j, 1, in, NULL)));
    if (d->f->moved) TRY(curve2(s, 0, &d->g, &d->along, &dg, onto(s, j, 1, in, NULL)));
    for (size_t i = 0; i < n; i++) rhs[i] = d->f->unknown[i] ? unknowns[i] : lambda[i] + onto_k[i];
    axpy(n, 1, in, lambda);
    memset(in, 0, n * sizeof *in);
    TRY(curve(s, 1, &d->x, &dx, onto(s, j, 1, in, NULL)));
    for (size_t i = 0; i < n; i++)
        if (!d->f->unknown[i]) { rhs[i] += in[i]; lambda[i] += in[i]; }
    return 0;
}

static int position_back(second *s)
{
    starter *t = s->d.s;
    size_t n = size_of(s);
    TRY(start_matrix_of_position(t, s->d.f));
    TRY(functional_of(s, 0));
    for (int j = 0; j < s->m; j++) TRY(curve_position(s, j, t->derived.V + (size_t)j * n));
    TRY(derive_solve(&s->d, 1, s->m));
    for (int j = 0; j <= s->m; j++) {
        const double *u = j ? t->derived.V + (size_t)(j - 1) * n : s->u;
        TRY(derive_first(&s->d, &s->x, j, 1, u));
        if (s->d.f->moved) TRY(derive_second(&s->d, &s->x, j, 0, &s->d.g, &s->d.along, 1, u));
    }
    return 0;
}

/* ---- both ---- */

/* the tangents through both phases */
static int forward(second *s)
{
    starter *t = s->d.s;
    double *after = s->v.after;
    size_t n = size_of(s), all = n * (size_t)s->m * sizeof *after;
    directed x = {s->m, s->v.given->dt, after, n, s->v.given->Vp};
    for (size_t j = 0; j < (size_t)s->m; j++) memcpy(after + j * n, s->v.given->V + j * s->v.ld, n * sizeof *after);
    if (s->d.f->placed) {
        TRY(derive_position(&s->d, &x));
        memcpy(s->v.moved, t->derived.V, all);
    }
    TRY(derive_values(&s->d, &x));
    memcpy(s->v.found, t->derived.V, all);
    return 0;
}

/* the parts of t->second */
static int second_begin(second *s, starter *t, const start_along *given)
{
    size_t n = (size_t)t->maps->n, columns = n * (size_t)s->m;
    TRY(starter_columns(t, s->m + 1));
    TRY(starter_seconds(t, s->m));
    double *after = t->derived.second, *moved = after + columns, *found = moved + columns, *work = found + columns;
    s->v = (start_tangents){given, s->x.ld, after, moved, found};
    s->u = work;
    s->y = work + n;
    s->k = work + 2 * n;
    s->in = work + 3 * n;
    s->dir = work + 4 * n;
    s->dir2 = work + 5 * n;
    return 0;
}

int start_second(starter *t, const start_values *f, int m, const start_along *given, double *lambda, size_t ld,
                 double *mu, double *tau)
{
    second s = {.x = {m + 1, lambda, ld, mu, tau, NULL}, .m = m};
    TRY(second_begin(&s, t, given));
    if (f->given) return given_second(t, f, m, given, lambda, ld, mu, tau);
    if (nothing_unknown(f, t->maps->n)) return 0;
    TRY(derive_begin(&s.d, t, f));
    TRY(forward(&s));
    TRY(values_back(&s));
    return f->placed ? position_back(&s) : 0;
}

int start_slope_second(starter *t, const start_values *f, const start_along *given, double *lambda,
                       const double *slopes, double *mu, double *tau)
{
    second s = {.x = {2, lambda, (size_t)t->maps->n, mu, tau, slopes}, .m = 1};
    TRY(second_begin(&s, t, given));
    TRY(derive_begin(&s.d, t, f));
    TRY(forward(&s));
    return values_back(&s);
}
