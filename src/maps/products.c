/* products.c - the value and the products of a map, each chosen once: the user's callback; from jac, if the map is the
   right-hand side or residual and the direction is only one of y (and y'), exactly; by a central difference
   (differences.c), if options.differences is set; else COSTATE_MISSING. */
#include <string.h>
#include "base/pattern.h"
#include "maps/callbacks.h"
#include "maps/differences.h"

static void counted(const map *f, long *count, int columns) { if (f->counted) *count += columns; }

/* ---- points at which prepare or jac was called ---- */

static int is_bound(const maps *a, const costate_point *x) { return x->p == a->bound.p && x->m == a->bound.m; }

/* Is x the point k?  To the last bit, in all processes.  Directions of differences in p, m move it to another array. */
static int known(const maps *a, const known_point *k, const costate_point *x, int *is)
{
    size_t bytes = (size_t)a->n * sizeof *x->y;
    double differs = !(k->held && k->t == x->t && is_bound(a, x) && memcmp(k->y, x->y, bytes) == 0 &&
                       (!k->yp || memcmp(k->yp, x->yp, bytes) == 0));
    TRY(space_greatest(&a->space, &differs));
    *is = differs == 0;
    return 0;
}

static void know(const maps *a, known_point *k, const costate_point *x)
{
    k->held = is_bound(a, x);
    k->t = x->t;
    memcpy(k->y, x->y, (size_t)a->n * sizeof *k->y);
    if (k->yp) memcpy(k->yp, x->yp, (size_t)a->n * sizeof *k->yp);
}

static int prepare_at(maps *a, const map *f, const costate_point *x)
{
    int there;
    known_point *k = f->ready;
    if (k) {
        TRY(known(a, k, x, &there));
        if (there) return 0;
        k->held = 0;
    }
    TRY(map_code(a, f->user->prepare(x, f->ctx), f->name, "prepare"));
    if (k) know(a, k, x);
    return 0;
}

static inline int prepare(maps *a, const map *f, const costate_point *x)
{
    return f->user->prepare ? prepare_at(a, f, x) : 0;
}

/* by_jac <- the Jacobians at x */
static int jac_at(maps *a, const costate_point *x)
{
    int there;
    TRY(known(a, &a->by_jac.at, x, &there));
    if (there) return 0;
    a->by_jac.at.held = 0;
    TRY(map_jac(a, x, a->by_jac.J));
    if (a->residual) TRY(map_jac_yp(a, x, a->by_jac.J_yp));
    know(a, &a->by_jac.at, x);
    return 0;
}

/* gradients that the problem has */
static inline costate_gradient wanted(const maps *a, const costate_gradient *g)
{
    return (costate_gradient){.t = g->t, .y = g->y, .p = a->np ? g->p : NULL, .yp = g->yp, .m = a->nm ? g->m : NULL};
}

/* ---- products of the user ---- */

static int given_tangent(maps *a, const map *f, const costate_point *x, const costate_point *dx, double *out)
{
    counted(f, &a->count->tangents, 1);
    TRY(prepare(a, f, x));
    return map_code(a, call_tangent(f->user, x, dx, out, f->ctx), f->name, tangent_name(f->user));
}

static int given_adjoint(maps *a, const map *f, const costate_point *x, const double *w, const costate_gradient *g)
{
    costate_gradient want = wanted(a, g);
    counted(f, &a->count->adjoints, 1);
    TRY(prepare(a, f, x));
    return map_code(a, call_adjoint(f->user, x, w, &want, f->ctx), f->name, adjoint_name(f->user));
}

static int given_tangent2(maps *a, const map *f, const costate_point *x, const costate_point *dx1,
                          const costate_point *dx2, double *out)
{
    counted(f, &a->count->tangents2, 1);
    TRY(prepare(a, f, x));
    return map_code(a, f->user->tangent2(x, dx1, dx2, out, f->ctx), f->name, "tangent2");
}

static int given_adjoint_tangent(maps *a, const map *f, const costate_point *x, const costate_point *dx,
                                 const double *w, const costate_gradient *g)
{
    costate_gradient want = wanted(a, g);
    counted(f, &a->count->adjoints2, 1);
    TRY(prepare(a, f, x));
    return map_code(a, f->user->adjoint_tangent(x, dx, w, &want, f->ctx), f->name, "adjoint_tangent");
}

static int given_adjoint_tangent2(maps *a, const map *f, const costate_point *x, const costate_point *dx1,
                                  const costate_point *dx2, const double *w, const costate_gradient *g)
{
    costate_gradient want = wanted(a, g);
    counted(f, &a->count->adjoints3, 1);
    TRY(prepare(a, f, x));
    return map_code(a, f->user->adjoint_tangent2(x, dx1, dx2, w, &want, f->ctx), f->name, "adjoint_tangent2");
}

/* Adjacent columns are passed to the user directly, others through a->room.block. */
static int given_tangents(maps *a, const map *f, const costate_point *x, int m, const costate_point *dx, double *out,
                          size_t ld)
{
    size_t rows = (size_t)f->rows;
    double *to = ld == rows ? out : a->room.block;
    counted(f, &a->count->tangents, m);
    TRY(prepare(a, f, x));
    TRY(map_code(a, f->user->tangents(x, m, dx, to, f->ctx), f->name, "tangents"));
    for (size_t j = 0; to != out && j < (size_t)m; j++) memcpy(out + j * ld, to + j * rows, rows * sizeof *out);
    return 0;
}

static int given_adjoints(maps *a, const map *f, const costate_point *x, int m, const double *w, size_t ld,
                          const costate_gradient *g)
{
    size_t rows = (size_t)f->rows;
    const double *from = ld == rows ? w : a->room.block;
    for (size_t j = 0; from != w && j < (size_t)m; j++) memcpy(a->room.block + j * rows, w + j * ld, rows * sizeof *w);
    counted(f, &a->count->adjoints, m);
    TRY(prepare(a, f, x));
    return map_code(a, f->user->adjoints(x, m, from, g, f->ctx), f->name, "adjoints");
}

/* column by column */
static int single_tangents(maps *a, const map *f, const costate_point *x, int m, const costate_point *dx, double *out,
                           size_t ld)
{
    for (int j = 0; j < m; j++) TRY(map_tangent(a, f, x, &dx[j], out + (size_t)j * ld));
    return 0;
}

static int single_adjoints(maps *a, const map *f, const costate_point *x, int m, const double *w, size_t ld,
                           const costate_gradient *g)
{
    for (int j = 0; j < m; j++) TRY(map_adjoint(a, f, x, w + (size_t)j * ld, &g[j]));
    return 0;
}

/* ---- missing products ---- */

static int no_tangent(maps *a, const map *f, const costate_point *x, const costate_point *dx, double *out)
{
    (void)x; (void)dx; (void)out;
    return map_missing(a, f, "tangent", "");
}

static int no_adjoint(maps *a, const map *f, const costate_point *x, const double *w, const costate_gradient *g)
{
    (void)x; (void)w; (void)g;
    return map_missing(a, f, "adjoint", "");
}

static int no_tangent2(maps *a, const map *f, const costate_point *x, const costate_point *dx1,
                       const costate_point *dx2, double *out)
{
    (void)x; (void)dx1; (void)dx2; (void)out;
    return map_missing(a, f, "tangent2", "");
}

static int no_adjoint_tangent(maps *a, const map *f, const costate_point *x, const costate_point *dx, const double *w,
                              const costate_gradient *g)
{
    (void)x; (void)dx; (void)w; (void)g;
    return map_missing(a, f, "adjoint_tangent", "");
}

static int no_adjoint_tangent2(maps *a, const map *f, const costate_point *x, const costate_point *dx1,
                               const costate_point *dx2, const double *w, const costate_gradient *g)
{
    (void)x; (void)dx1; (void)dx2; (void)w; (void)g;
    return map_missing(a, f, "adjoint_tangent2", "");
}

/* ---- from jac, and jac_yp of a residual: out += A v or A^T v, A: f_y, or F_y, ---- */

static int by_jac(maps *a, const costate_point *x, int transpose, const double *v, double *out)
{
    TRY(jac_at(a, x));
    if (v && out) pattern_multiply(a->n, a->pattern, a->by_jac.J, transpose, a->residual ? -1 : 1, 1, v, out);
    return 0;
}

/* or F_y' */
static int by_jac_yp(maps *a, const costate_point *x, int transpose, const double *v, double *out)
{
    if (!a->residual || !v || !out) return 0;
    TRY(jac_at(a, x));
    pattern_multiply(a->n, a->pattern, a->by_jac.J_yp, transpose, 1, 1, v, out);
    return 0;
}

static int jac_tangent(maps *a, const map *f, const costate_point *x, const costate_point *dx, double *out)
{
    if (dx->p || dx->m || (dx->t != 0 && f->timed))
        return (a->differences ? difference_tangent : no_tangent)(a, f, x, dx, out);
    memset(out, 0, (size_t)a->n * sizeof *out);
    if (dx->y) TRY(by_jac(a, x, 0, dx->y, out));
    return by_jac_yp(a, x, 0, dx->yp, out);
}

static int jac_adjoint(maps *a, const map *f, const costate_point *x, const double *w, const costate_gradient *g)
{
    costate_gradient want = wanted(a, g);
    if (want.p || want.m || (want.t && f->timed))
        return (a->differences ? difference_adjoint : no_adjoint)(a, f, x, w, g);
    TRY(by_jac(a, x, 1, w, want.y));
    return by_jac_yp(a, x, 1, w, want.yp);
}

/* ---- maps of more than the state ---- */

static int composed_tangent(maps *a, const map *f, const costate_point *x, const costate_point *dx, double *out)
{
    (void)a;
    return f->as->tangent(f->as, x, dx, out);
}

static int composed_adjoint(maps *a, const map *f, const costate_point *x, const double *w, const costate_gradient *g)
{
    costate_gradient want = wanted(a, g);
    return f->as->adjoint(f->as, x, w, &want);
}

static int composed_adjoint_tangent(maps *a, const map *f, const costate_point *x, const costate_point *dx,
                                    const double *w, const costate_gradient *g)
{
    costate_gradient want = wanted(a, g);
    return f->as->adjoint_tangent(f->as, x, dx, w, &want);
}

/* ---- the choice ---- */

map map_new(const maps *a, const costate_map *user, const char *name, int rows, int timed, void *ctx)
{
    int d = a->differences, first = has_tangent(user) || has_adjoint(user);
    return (map){
        .user = user, .name = name, .rows = rows, .timed = timed, .ctx = ctx,
        .below = user->adjoint_tangent ? 0 : first ? 1 : 2,
        .tangent = has_tangent(user) ? given_tangent : d ? difference_tangent : no_tangent,
        .adjoint = has_adjoint(user) ? given_adjoint : d ? difference_adjoint : no_adjoint,
        .tangents = user->tangents ? given_tangents : single_tangents,
        .adjoints = user->adjoints ? given_adjoints : single_adjoints,
        .tangent2 = user->tangent2 ? given_tangent2 : d ? difference_tangent2 : no_tangent2,
        .adjoint_tangent = user->adjoint_tangent ? given_adjoint_tangent
                         : d ? difference_adjoint_tangent : no_adjoint_tangent,
        .adjoint_tangent2 = user->adjoint_tangent2 ? given_adjoint_tangent2
                          : d ? difference_adjoint_tangent2 : no_adjoint_tangent2,
    };
}

void map_by_jac(map *f)
{
    if (!has_tangent(f->user)) f->tangent = jac_tangent;
    if (!has_adjoint(f->user)) f->adjoint = jac_adjoint;
}

void map_compose(map *f, composed *as)
{
    f->as = as;
    f->tangent = composed_tangent;
    f->adjoint = composed_adjoint;
    f->adjoint_tangent = composed_adjoint_tangent;
    f->tangents = single_tangents;
    f->adjoints = single_adjoints;
}
