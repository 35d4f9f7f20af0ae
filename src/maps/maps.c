/* maps.c - the user's maps: calls counted, return codes turned into statuses, missing products formed where jac gives
   them: a missing tangent or adjoint in directions of y alone is the product with jac, exactly.  Everything else that
   is missing is a difference (differences.c), and only if options.differences asks for it. */
#include <math.h>
#include <string.h>
#include "base/pattern.h"
#include "maps/callbacks.h"
#include "maps/differences.h"

/* way: out of it, beside options.differences, or "" */
static int missing(maps *a, const map *f, const char *name, const char *way)
{
    return fail(a->v, COSTATE_MISSING, "%s.%s is missing: method %s needs it here (%sor set options.differences = 1).",
                f->name, name, a->method, way);
}

static void counted(const map *f, long *count, int columns) { if (f->counted) *count += columns; }

int map_value(maps *a, const map *f, double t, const double *y, double *out)
{
    costate_point x = point(a, t, y);
    if (f->as) return f->as->value(f->as, &x, out);
    counted(f, &a->count->f, 1);
    return map_code(a, f->user->value(&x, out, f->ctx), f->name, "value");
}

int map_jac(maps *a, const costate_point *x, double *J)
{
    a->count->jac++;
    TRY(map_code(a, a->jac(x, J, a->ctx), "problem", "jac"));
    for (size_t i = 0; a->residual && i < a->entries; i++) J[i] = -J[i];
    return 0;
}

int map_jac_yp(maps *a, const costate_point *x, double *M)
{
    return map_code(a, a->jac_yp(x, M, a->ctx), "problem", "jac_yp");
}

int map_radius(maps *a, const costate_point *x, double *rho)
{
    *rho = NAN;
    TRY(map_code(a, a->radius(x, rho, a->ctx), "options", "spectral_radius"));
    if (*rho >= 0 && *rho < HUGE_VAL) return space_greatest(&a->space, rho);
    return fail(a->v, COSTATE_BAD_ARGUMENT, "options.spectral_radius gave %g at t = %.10g.", *rho, x->t);
}

static int along_y(const maps *a, const costate_point *dx)
{
    return dx->p == NULL && dx->m == NULL && (dx->t == 0 || a->autonomous);
}

/* ---- points that something was made for ---- */

/* Is x the point k?  To the last bit, in all processes.  Directions of differences in p, m move it to another array. */
static int known(const maps *a, const known_point *k, const costate_point *x, int *is)
{
    size_t bytes = (size_t)a->n * sizeof *x->y;
    double differs = !(k->held && k->t == x->t && x->p == a->p && x->m == a->m && memcmp(k->y, x->y, bytes) == 0 &&
                       (!k->yp || memcmp(k->yp, x->yp, bytes) == 0));
    TRY(space_greatest(&a->space, &differs));
    *is = differs == 0;
    return 0;
}

static void know(const maps *a, known_point *k, const costate_point *x)
{
    k->held = x->p == a->p && x->m == a->m;
    k->t = x->t;
    memcpy(k->y, x->y, (size_t)a->n * sizeof *k->y);
    if (k->yp) memcpy(k->yp, x->yp, (size_t)a->n * sizeof *k->yp);
}

static int prepare_at(maps *a, const map *f, const costate_point *x)
{
    int there, of_events = f != &a->rhs && f != &a->cost;
    known_point *k = of_events ? NULL : &a->ready[f == &a->cost];
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

/* product, product_yp <- the Jacobians at x */
static int jac_at(maps *a, const costate_point *x)
{
    int there;
    TRY(known(a, &a->jac_at, x, &there));
    if (there) return 0;
    a->jac_at.held = 0;
    TRY(map_jac(a, x, a->product));
    if (a->residual) TRY(map_jac_yp(a, x, a->product_yp));
    know(a, &a->jac_at, x);
    return 0;
}

/* ---- products ---- */

static inline costate_gradient wanted(const maps *a, const costate_gradient *g)
{
    return (costate_gradient){.t = g->t, .y = g->y, .p = a->np ? g->p : NULL, .yp = g->yp, .m = a->nm ? g->m : NULL};
}

/* of f by J; of a residual F, whose J is -F_y, by both its Jacobians */
static int jac_serves(const maps *a) { return a->jac && (a->jac_yp || !a->residual); }

/* out += A v or A^T v, A: f_y, or F_y, */
static int by_jac(maps *a, const costate_point *x, int transpose, const double *v, double *out)
{
    TRY(jac_at(a, x));
    if (v && out) pattern_multiply(a->n, a->pattern, a->product, transpose, a->residual ? -1 : 1, 1, v, out);
    return 0;
}

/* or F_y' */
static int by_jac_yp(maps *a, const costate_point *x, int transpose, const double *v, double *out)
{
    if (!a->residual || !v || !out) return 0;
    TRY(jac_at(a, x));
    pattern_multiply(a->n, a->pattern, a->product_yp, transpose, 1, 1, v, out);
    return 0;
}

int map_tangent(maps *a, const map *f, const costate_point *x, const costate_point *dx, double *out)
{
    if (f->as) return f->as->tangent(f->as, x, dx, out);
    if (has_tangent(f->user)) {
        counted(f, &a->count->tangents, 1);
        TRY(prepare(a, f, x));
        return map_code(a, call_tangent(f->user, x, dx, out, f->ctx), f->name, tangent_name(f->user));
    }
    if (f == &a->rhs && jac_serves(a) && along_y(a, dx)) {
        memset(out, 0, (size_t)a->n * sizeof *out);
        if (dx->y) TRY(by_jac(a, x, 0, dx->y, out));
        return by_jac_yp(a, x, 0, dx->yp, out);
    }
    if (a->differences) return difference_tangent(a, f, x, dx, out);
    return missing(a, f, "tangent", "");
}

int map_adjoint(maps *a, const map *f, const costate_point *x, const double *w, const costate_gradient *g)
{
    costate_gradient want = wanted(a, g);
    if (f->as) return f->as->adjoint(f->as, x, w, &want);
    if (has_adjoint(f->user)) {
        counted(f, &a->count->adjoints, 1);
        TRY(prepare(a, f, x));
        return map_code(a, call_adjoint(f->user, x, w, &want, f->ctx), f->name, adjoint_name(f->user));
    }
    if (f == &a->rhs && jac_serves(a) && !want.p && !want.m && (!want.t || a->autonomous)) {
        TRY(by_jac(a, x, 1, w, want.y));
        return by_jac_yp(a, x, 1, w, want.yp);
    }
    if (a->differences) return difference_adjoint(a, f, map_tangent, x, w, &want);
    return missing(a, f, "adjoint", "");
}

/* Columns side by side are the user's directly; others by way of a->block. */
int map_all_tangents(maps *a, const map *f, const costate_point *x, int m, const costate_point *dx, double *out,
                     size_t ld)
{
    size_t rows = (size_t)f->rows;
    if (!f->user->tangents || f->as) {
        for (int j = 0; j < m; j++) TRY(map_tangent(a, f, x, &dx[j], out + (size_t)j * ld));
        return 0;
    }
    double *to = ld == rows ? out : a->block;
    counted(f, &a->count->tangents, m);
    TRY(prepare(a, f, x));
    TRY(map_code(a, f->user->tangents(x, m, dx, to, f->ctx), f->name, "tangents"));
    for (size_t j = 0; to != out && j < (size_t)m; j++) memcpy(out + j * ld, to + j * rows, rows * sizeof *out);
    return 0;
}

int map_all_adjoints(maps *a, const map *f, const costate_point *x, int m, const double *w, size_t ld,
                     const costate_gradient *g)
{
    size_t rows = (size_t)f->rows;
    if (!f->user->adjoints || f->as) {
        for (int j = 0; j < m; j++) TRY(map_adjoint(a, f, x, w + (size_t)j * ld, &g[j]));
        return 0;
    }
    const double *from = ld == rows ? w : a->block;
    for (size_t j = 0; from != w && j < (size_t)m; j++) memcpy(a->block + j * rows, w + j * ld, rows * sizeof *w);
    counted(f, &a->count->adjoints, m);
    TRY(prepare(a, f, x));
    return map_code(a, f->user->adjoints(x, m, from, g, f->ctx), f->name, "adjoints");
}

int map_tangent2(maps *a, const map *f, const costate_point *x, const costate_point *dx1, const costate_point *dx2,
                 double *out)
{
    if (f->user->tangent2) {
        counted(f, &a->count->tangents2, 1);
        TRY(prepare(a, f, x));
        return map_code(a, f->user->tangent2(x, dx1, dx2, out, f->ctx), f->name, "tangent2");
    }
    if (!a->differences) return missing(a, f, "tangent2", "");
    return difference_tangent2(a, f, map_tangent, x, dx1, dx2, out);
}

int map_adjoint_tangent(maps *a, const map *f, const costate_point *x, const costate_point *dx, const double *w,
                        const costate_gradient *g)
{
    costate_gradient want = wanted(a, g);
    if (f->as) return f->as->adjoint_tangent(f->as, x, dx, w, &want);
    if (f->user->adjoint_tangent) {
        counted(f, &a->count->adjoints2, 1);
        TRY(prepare(a, f, x));
        return map_code(a, f->user->adjoint_tangent(x, dx, w, &want, f->ctx), f->name, "adjoint_tangent");
    }
    if (!a->differences) return missing(a, f, "adjoint_tangent", "");
    return difference_adjoint_tangent(a, f, map_adjoint, x, dx, w, &want);
}

int map_adjoint_tangent2(maps *a, const map *f, const costate_point *x, const costate_point *dx1,
                         const costate_point *dx2, const double *w, const costate_gradient *g)
{
    const costate_map *user = f->user;
    costate_gradient want = wanted(a, g);
    if (user->adjoint_tangent2) {
        counted(f, &a->count->adjoints3, 1);
        TRY(prepare(a, f, x));
        return map_code(a, user->adjoint_tangent2(x, dx1, dx2, w, &want, f->ctx), f->name, "adjoint_tangent2");
    }
    if (!a->differences) return missing(a, f, "adjoint_tangent2", "");
    int below = user->adjoint_tangent ? 0 : has_adjoint(user) || has_tangent(user) ? 1 : 2;
    return difference_adjoint_tangent2(a, f, map_adjoint_tangent, below, x, dx1, dx2, w, &want);
}

/* Asked once a call, so that nothing starts that cannot end. */
int maps_have(maps *a, unsigned rhs, unsigned cost, int with_p, int with_t)
{
    const costate_map *f = a->rhs.user, *r = a->cost.user;
    int timed = !a->autonomous, jac_will_do = jac_serves(a) && !with_p && !a->nm && !(with_t && timed);
    if (a->differences) return 0;
    if (!timed) rhs &= ~(unsigned)SLOPE_OF;
    if (jac_will_do) rhs &= ~(unsigned)(TANGENT_OF | ADJOINT_OF);
    const struct { unsigned needed, bit; int there; const map *of; const char *name, *way; } table[] = {
        {rhs, SLOPE_OF, has_tangent(f), &a->rhs, "tangent",
         "for its f_t: if f and r do not depend on t, set options.autonomous = 1 instead; "},
        {cost, TANGENT_OF, has_tangent(r), &a->cost, "tangent", ""},
        {rhs, TANGENT_OF, has_tangent(f), &a->rhs, "tangent", ""},
        {rhs, TANGENT2_OF, f->tangent2 != NULL, &a->rhs, "tangent2", ""},
        {cost, TANGENT2_OF, r->tangent2 != NULL, &a->cost, "tangent2", ""},
        {rhs, ADJOINT_OF, has_adjoint(f), &a->rhs, "adjoint", ""},
        {cost, ADJOINT_OF, has_adjoint(r), &a->cost, "adjoint", ""},
        {rhs, ADJOINT_TANGENT_OF, f->adjoint_tangent != NULL, &a->rhs, "adjoint_tangent", ""},
        {cost, ADJOINT_TANGENT_OF, r->adjoint_tangent != NULL, &a->cost, "adjoint_tangent", ""},
        {rhs, ADJOINT_TANGENT2_OF, f->adjoint_tangent2 != NULL, &a->rhs, "adjoint_tangent2", ""},
        {cost, ADJOINT_TANGENT2_OF, r->adjoint_tangent2 != NULL, &a->cost, "adjoint_tangent2", ""},
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        if ((table[i].needed & table[i].bit) && !table[i].there && table[i].of->rows > 0)
            return missing(a, table[i].of, table[i].name, table[i].way);
    if ((rhs & EXACT_JACOBIAN) && a->differenced)
        return fail(a->v, COSTATE_MISSING, "jac is missing: tangents and adjoints of %s need it (or rhs.tangent) "
                    "exactly (or set options.differences = 1).", a->method);
    return 0;
}

/* the first of the list that is not given */
static const char *absent(const costate_map *f, unsigned products)
{
    if ((products & TANGENT_OF) && !has_tangent(f)) return "tangent";
    if ((products & ADJOINT_OF) && !has_adjoint(f)) return "adjoint";
    if ((products & TANGENT2_OF) && !f->tangent2) return "tangent2";
    if ((products & ADJOINT_TANGENT_OF) && !f->adjoint_tangent) return "adjoint_tangent";
    return (products & ADJOINT_TANGENT2_OF) && !f->adjoint_tangent2 ? "adjoint_tangent2" : NULL;
}

int maps_have_events(maps *a, unsigned products)
{
    for (int k = 0; k < a->nevents && !a->differences; k++) {
        const map *of[] = {&a->events[k].guard, &a->events[k].jump, &a->events[k].cost};
        for (int i = 0; i < 3; i++) {
            const char *name = of[i]->rows > 0 ? absent(of[i]->user, products) : NULL;
            if (name) return missing(a, of[i], name, "");
        }
    }
    return 0;
}
