/* maps.c - the user's maps: calls counted, return codes turned into statuses, missing products formed.

   A missing tangent or adjoint in directions of y alone is the product with jac, exactly; everything else that is
   missing is a central difference of the next lower derivative, and only if options.differences asks for it.
   An adjoint by differences takes one difference for each wanted entry of t, y and p. */
#include <math.h>
#include <string.h>
#include "core.h"

static const costate_map *the(const costate *c, enum which w) { return w == RHS ? &c->P.rhs : &c->P.cost; }
static const char *label(enum which w) { return w == RHS ? "rhs" : "cost"; }
static int rows(const costate *c, enum which w) { return w == RHS ? c->n : c->nq; }

static int code(costate *c, int r, const char *map, const char *name)
{
    if (r == 0) return 0;
    if (r > 0) return retry(&c->v, WHY_CALLBACK, 0.5);
    return fail(&c->v, COSTATE_CALLBACK, "The callback %s.%s returned %d at t = %.10g and so ended the run.", map, name, r,
                c->v.t);
}

/* way: out of it, beside options.differences, or "" */
static int missing(costate *c, enum which w, const char *name, const char *way)
{
    return fail(&c->v, COSTATE_MISSING, "%s.%s is missing: method %s needs it here (%sor set options.differences = 1).",
                label(w), name, c->m->name, way);
}

int map_value(costate *c, enum which w, double t, const double *y, double *out)
{
    costate_point x = {t, y, c->p};
    if (w == RHS) c->count.f++;
    return code(c, the(c, w)->value(&x, out, c->P.ctx), label(w), "value");
}

int map_jac(costate *c, const costate_point *x, double *J)
{
    c->count.jac++;
    return code(c, c->P.jac(x, J, c->P.ctx), "problem", "jac");
}

/* x + a dx, in buffers y (n) and p (np) */
static costate_point moved(const costate *c, const costate_point *x, const costate_point *dx, double a, double *y, double *p)
{
    costate_point z = {x->t + a * dx->t, x->y, x->p};
    if (dx->y) { add_scaled((size_t)c->n, y, x->y, a, dx->y); z.y = y; }
    if (dx->p && c->np) { add_scaled((size_t)c->np, p, x->p, a, dx->p); z.p = p; }
    return z;
}

/* step of a central difference along dx: the cube root of round-off, relative to the point */
static double spacing(const costate *c, const costate_point *x, const costate_point *dx)
{
    double size = fabs(dx->t) / (1 + fabs(x->t)), eps = 6e-6;
    for (int i = 0; dx->y && i < c->n; i++) size = fmax(size, fabs(dx->y[i]) / fmax(fabs(x->y[i]), 1 / (c->w[i] > 0 ? c->w[i] : 1)));
    for (int i = 0; dx->p && i < c->np; i++) size = fmax(size, fabs(dx->p[i]) / (1e-3 + fabs(x->p[i])));
    return size > 0 ? eps / size : 0;
}

/* Buffers of the differences: enough for one nested difference (adjoint_tangent of an adjoint of a value). */
typedef struct { double *y, *p, *a, *b; } buffers;

static buffers level(const costate *c, int k)
{
    size_t each = 3 * (size_t)c->N + (size_t)c->np;
    double *z = c->pw + (size_t)k * each;
    return (buffers){z, z + c->N, z + c->N + c->np, z + 2 * (size_t)c->N + c->np};
}

static int difference_tangent(costate *c, enum which w, const costate_point *x, const costate_point *dx, double *out)
{
    int k = rows(c, w);
    double e = spacing(c, x, dx);
    memset(out, 0, (size_t)k * sizeof *out);
    if (e == 0) return 0;
    buffers b = level(c, 0);
    c->count.differences++;
    for (int side = -1; side <= 1; side += 2) {
        costate_point z = moved(c, x, dx, side * e, b.y, b.p);
        if (w == RHS) c->count.f++;
        int status = code(c, the(c, w)->value(&z, b.a, c->P.ctx), label(w), "value");
        if (status != 0) return status;
        axpy((size_t)k, side / (2 * e), b.a, out);
    }
    return 0;
}

static int along_y(const costate *c, const costate_point *dx)
{
    return dx->p == NULL && (dx->t == 0 || c->o.autonomous);
}

int map_tangent(costate *c, enum which w, const costate_point *x, const costate_point *dx, double *out)
{
    const costate_map *map = the(c, w);
    if (map->tangent) {
        if (w == RHS) c->count.tangents++;
        return code(c, map->tangent(x, dx, out, c->P.ctx), label(w), "tangent");
    }
    if (w == RHS && c->P.jac && along_y(c, dx)) {
        memset(out, 0, (size_t)c->n * sizeof *out);
        if (!dx->y) return 0;
        int status = map_jac(c, x, c->J2);
        if (status == 0) pattern_multiply(c->n, c->P.pattern, c->J2, 0, 1, 1, dx->y, out);
        return status;
    }
    if (c->o.differences) return difference_tangent(c, w, x, dx, out);
    return missing(c, w, "tangent", "");
}

/* g += F'(x)^T w one entry at a time: <w, F'(x) e> */
static int difference_adjoint(costate *c, enum which w, const costate_point *x, const double *v, const costate_gradient *g)
{
    int k = rows(c, w), status = 0;
    double *e = c->pz, *de = level(c, 1).a;            /* unit direction, n + np zeros at rest */
    costate_point dt = {1, NULL, NULL};
    if (g->t && !c->o.autonomous) {
        if ((status = map_tangent(c, w, x, &dt, de)) != 0) return status;
        *g->t += dot((size_t)k, v, de);
    }
    for (int i = 0; i < c->n + c->np; i++) {
        double *to = i < c->n ? g->y : g->p;
        if (!to) continue;
        costate_point dx = {0, i < c->n ? e : NULL, i < c->n ? NULL : e + c->n};
        e[i] = 1;
        status = map_tangent(c, w, x, &dx, de);
        e[i] = 0;
        if (status != 0) return status;
        to[i < c->n ? i : i - c->n] += dot((size_t)k, v, de);
    }
    return 0;
}

int map_adjoint(costate *c, enum which w, const costate_point *x, const double *v, const costate_gradient *g)
{
    const costate_map *map = the(c, w);
    costate_gradient want = {g->t, g->y, c->np ? g->p : NULL};
    if (map->adjoint) {
        if (w == RHS) c->count.adjoints++;
        return code(c, map->adjoint(x, v, &want, c->P.ctx), label(w), "adjoint");
    }
    if (w == RHS && c->P.jac && !want.p && (!want.t || c->o.autonomous)) {
        int status = map_jac(c, x, c->J2);
        if (status == 0 && want.y) pattern_multiply(c->n, c->P.pattern, c->J2, 1, 1, 1, v, want.y);
        return status;
    }
    if (c->o.differences) return difference_adjoint(c, w, x, v, &want);
    return missing(c, w, "adjoint", "");
}

int map_tangent2(costate *c, enum which w, const costate_point *x, const costate_point *a, const costate_point *b, double *out)
{
    const costate_map *map = the(c, w);
    int k = rows(c, w);
    if (map->tangent2) {
        if (w == RHS) c->count.tangents2++;
        return code(c, map->tangent2(x, a, b, out, c->P.ctx), label(w), "tangent2");
    }
    if (!c->o.differences) return missing(c, w, "tangent2", "");
    double e = spacing(c, x, b);
    buffers u = level(c, 2);
    memset(out, 0, (size_t)k * sizeof *out);
    if (e == 0) return 0;
    c->count.differences++;
    for (int side = -1; side <= 1; side += 2) {
        costate_point z = moved(c, x, b, side * e, u.y, u.p);
        int status = map_tangent(c, w, &z, a, u.a);
        if (status != 0) return status;
        axpy((size_t)k, side / (2 * e), u.a, out);
    }
    return 0;
}

/* difference of the adjoint along dx: each side's adjoint is scaled by scaling the weights v */
int map_adjoint_tangent(costate *c, enum which w, const costate_point *x, const costate_point *dx, const double *v,
                        const costate_gradient *g)
{
    const costate_map *map = the(c, w);
    costate_gradient want = {g->t, g->y, c->np ? g->p : NULL};
    if (map->adjoint_tangent) {
        if (w == RHS) c->count.adjoints2++;
        return code(c, map->adjoint_tangent(x, dx, v, &want, c->P.ctx), label(w), "adjoint_tangent");
    }
    if (!c->o.differences) return missing(c, w, "adjoint_tangent", "");
    double e = spacing(c, x, dx);
    buffers u = level(c, 2);
    if (e == 0) return 0;
    c->count.differences++;
    for (int side = -1; side <= 1; side += 2) {
        costate_point z = moved(c, x, dx, side * e, u.y, u.p);
        add_scaled((size_t)rows(c, w), u.a, NULL, side / (2 * e), v);
        int status = map_adjoint(c, w, &z, u.a, &want);
        if (status != 0) return status;
    }
    return 0;
}

/* May this mode run?  Asked once a call, so that nothing starts that cannot end. */
int maps_available(costate *c, enum mode mode, int with_p, int with_t)
{
    int ros = c->m->family == COSTATE_ROS, timed = !c->o.autonomous, q = c->nq > 0, d = c->o.differences;
    const costate_map *f = &c->P.rhs, *r = &c->P.cost;
    int by_jac = c->P.jac && !with_p && !(with_t && timed);
    struct { int needed; const void *have; enum which w; const char *name, *way; } table[] = {
        {ros && timed && !d, f->tangent ? f : NULL, RHS, "tangent",
         "for its f_t: if f and r do not depend on t, set options.autonomous = 1 instead; "},
        {ros && q && !d, r->tangent ? r : NULL, COST, "tangent", ""},
        {mode == TANGENT && !d && (!by_jac || (ros && timed)), f->tangent ? f : NULL, RHS, "tangent", ""},
        {mode == TANGENT && !d && q, r->tangent ? r : NULL, COST, "tangent", ""},
        {mode == TANGENT && !d && ros, f->tangent2 ? f : NULL, RHS, "tangent2", ""},
        {mode == TANGENT && !d && ros && q, r->tangent2 ? r : NULL, COST, "tangent2", ""},
        {mode == ADJOINT && !d && !by_jac, f->adjoint ? f : NULL, RHS, "adjoint", ""},
        {mode == ADJOINT && !d && q, r->adjoint ? r : NULL, COST, "adjoint", ""},
        {mode == ADJOINT && !d && ros, f->adjoint_tangent ? f : NULL, RHS, "adjoint_tangent", ""},
        {mode == ADJOINT && !d && ros && q, r->adjoint_tangent ? r : NULL, COST, "adjoint_tangent", ""},
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        if (table[i].needed && !table[i].have) return missing(c, table[i].w, table[i].name, table[i].way);
    if (mode != FORWARD && ros && c->differenced && !d)
        return fail(&c->v, COSTATE_MISSING, "jac is missing: tangents and adjoints of %s need it (or rhs.tangent) exactly "
                    "(or set options.differences = 1).", c->m->name);
    return COSTATE_OK;
}
