/* maps.c - the user's maps: calls counted, return codes turned into statuses, missing products formed where jac gives
   them: a missing tangent or adjoint in directions of y alone is the product with jac, exactly.  Everything else that
   is missing is a difference (differences.c), and only if options.differences asks for it. */
#include <math.h>
#include <string.h>
#include "base/pattern.h"
#include "maps/differences.h"

/* way: out of it, beside options.differences, or "" */
static int missing(maps *a, const map *f, const char *name, const char *way)
{
    return fail(a->v, COSTATE_MISSING, "%s.%s is missing: method %s needs it here (%sor set options.differences = 1).",
                f->name, name, a->method, way);
}

static void counted(const map *f, long *count) { if (f->counted) ++*count; }

int map_value(maps *a, const map *f, double t, const double *y, double *out)
{
    costate_point x = {t, y, a->p};
    counted(f, &a->count->f);
    return map_code(a, f->user->value(&x, out, a->ctx), f->name, "value");
}

int map_jac(maps *a, const costate_point *x, double *J)
{
    a->count->jac++;
    return map_code(a, a->jac(x, J, a->ctx), "problem", "jac");
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
    return dx->p == NULL && (dx->t == 0 || a->autonomous);
}

/* out += J v or J^T v */
static int by_jac(maps *a, const costate_point *x, int transpose, const double *v, double *out)
{
    TRY(map_jac(a, x, a->product));
    if (v && out) pattern_multiply(a->n, a->pattern, a->product, transpose, 1, 1, v, out);
    return 0;
}

int map_tangent(maps *a, const map *f, const costate_point *x, const costate_point *dx, double *out)
{
    if (f->user->tangent) {
        counted(f, &a->count->tangents);
        return map_code(a, f->user->tangent(x, dx, out, a->ctx), f->name, "tangent");
    }
    if (f == &a->rhs && a->jac && along_y(a, dx)) {
        memset(out, 0, (size_t)a->n * sizeof *out);
        return dx->y ? by_jac(a, x, 0, dx->y, out) : 0;
    }
    if (a->differences) return difference_tangent(a, f, x, dx, out);
    return missing(a, f, "tangent", "");
}

int map_adjoint(maps *a, const map *f, const costate_point *x, const double *w, const costate_gradient *g)
{
    costate_gradient want = {g->t, g->y, a->np ? g->p : NULL};
    if (f->user->adjoint) {
        counted(f, &a->count->adjoints);
        return map_code(a, f->user->adjoint(x, w, &want, a->ctx), f->name, "adjoint");
    }
    if (f == &a->rhs && a->jac && !want.p && (!want.t || a->autonomous)) return by_jac(a, x, 1, w, want.y);
    if (a->differences) return difference_adjoint(a, f, map_tangent, x, w, &want);
    return missing(a, f, "adjoint", "");
}

int map_tangent2(maps *a, const map *f, const costate_point *x, const costate_point *dx1, const costate_point *dx2,
                 double *out)
{
    if (f->user->tangent2) {
        counted(f, &a->count->tangents2);
        return map_code(a, f->user->tangent2(x, dx1, dx2, out, a->ctx), f->name, "tangent2");
    }
    if (!a->differences) return missing(a, f, "tangent2", "");
    return difference_tangent2(a, f, map_tangent, x, dx1, dx2, out);
}

int map_adjoint_tangent(maps *a, const map *f, const costate_point *x, const costate_point *dx, const double *w,
                        const costate_gradient *g)
{
    costate_gradient want = {g->t, g->y, a->np ? g->p : NULL};
    if (f->user->adjoint_tangent) {
        counted(f, &a->count->adjoints2);
        return map_code(a, f->user->adjoint_tangent(x, dx, w, &want, a->ctx), f->name, "adjoint_tangent");
    }
    if (!a->differences) return missing(a, f, "adjoint_tangent", "");
    return difference_adjoint_tangent(a, f, map_adjoint, x, dx, w, &want);
}

/* Asked once a call, so that nothing starts that cannot end. */
int maps_have(maps *a, unsigned rhs, unsigned cost, int with_p, int with_t)
{
    const costate_map *f = a->rhs.user, *r = a->cost.user;
    int timed = !a->autonomous, jac_will_do = a->jac && !with_p && !(with_t && timed);
    if (a->differences) return 0;
    if (!timed) rhs &= ~(unsigned)SLOPE_OF;
    if (jac_will_do) rhs &= ~(unsigned)(TANGENT_OF | ADJOINT_OF);
    const struct { unsigned needed, bit; int there; const map *of; const char *name, *way; } table[] = {
        {rhs, SLOPE_OF, f->tangent != NULL, &a->rhs, "tangent",
         "for its f_t: if f and r do not depend on t, set options.autonomous = 1 instead; "},
        {cost, TANGENT_OF, r->tangent != NULL, &a->cost, "tangent", ""},
        {rhs, TANGENT_OF, f->tangent != NULL, &a->rhs, "tangent", ""},
        {rhs, TANGENT2_OF, f->tangent2 != NULL, &a->rhs, "tangent2", ""},
        {cost, TANGENT2_OF, r->tangent2 != NULL, &a->cost, "tangent2", ""},
        {rhs, ADJOINT_OF, f->adjoint != NULL, &a->rhs, "adjoint", ""},
        {cost, ADJOINT_OF, r->adjoint != NULL, &a->cost, "adjoint", ""},
        {rhs, ADJOINT_TANGENT_OF, f->adjoint_tangent != NULL, &a->rhs, "adjoint_tangent", ""},
        {cost, ADJOINT_TANGENT_OF, r->adjoint_tangent != NULL, &a->cost, "adjoint_tangent", ""},
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        if ((table[i].needed & table[i].bit) && !table[i].there && table[i].of->rows > 0)
            return missing(a, table[i].of, table[i].name, table[i].way);
    if ((rhs & EXACT_JACOBIAN) && a->differenced)
        return fail(a->v, COSTATE_MISSING, "jac is missing: tangents and adjoints of %s need it (or rhs.tangent) "
                    "exactly (or set options.differences = 1).", a->method);
    return 0;
}
