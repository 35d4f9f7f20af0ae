/* maps.c - the Jacobians and the spectral radius that the user gives, and whether all products are there that a call
   will need. */
#include <math.h>
#include "maps/callbacks.h"
#include "maps/differences.h"

/* way: what helps, apart from options.differences, or "" */
int map_missing(maps *a, const map *f, const char *name, const char *way)
{
    return fail(a->v, COSTATE_MISSING, "%s.%s is missing: method %s needs it here (%sor set options.differences = 1).",
                f->name, name, a->method, way);
}

int map_jac(maps *a, const costate_point *x, double *J)
{
    a->count->jac++;
    TRY(map_code(a, a->user.jac(x, J, a->user.ctx), "problem", "jac"));
    for (size_t i = 0; a->residual && i < a->entries; i++) J[i] = -J[i];
    return 0;
}

int map_w(maps *a, const costate_point *x, double *W)
{
    a->count->jac++;
    return map_code(a, a->user.w(x, W, a->user.ctx), "problem", "jac");
}

int map_jac_yp(maps *a, const costate_point *x, double *M)
{
    return map_code(a, a->user.jac_yp(x, M, a->user.ctx), "problem", "jac_yp");
}

int map_radius(maps *a, const costate_point *x, double *rho)
{
    *rho = NAN;
    TRY(map_code(a, a->user.radius(x, rho, a->user.ctx), "options", "spectral_radius"));
    if (*rho >= 0 && *rho < HUGE_VAL) return space_greatest(&a->space, rho);
    return fail(a->v, COSTATE_BAD_ARGUMENT, "options.spectral_radius gave %g at t = %.10g.", *rho, x->t);
}

/* the shortest of all processes */
int map_bound(maps *a, const costate_point *x, double *h)
{
    *h = NAN;
    TRY(map_code(a, a->user.bound(x, h, a->user.ctx), "options", "step_bound"));
    int wrong = *h > 0 ? 0 : fail(a->v, COSTATE_BAD_ARGUMENT, "options.step_bound gave %g at t = %.10g.", *h, x->t);
    TRY(space_agree(&a->space, wrong));
    double minus = -*h;
    TRY(space_greatest(&a->space, &minus));
    *h = -minus;
    return 0;
}

/* It acts where it does in any process. */
int map_acts(maps *a, const costate_point *x, int *acts)
{
    int code = a->user.after.acts ? a->user.after.acts(x, a->after_step.correction.jump.ctx) : 1;
    TRY(map_code(a, code < 0 ? code : 0, "after_step", "acts"));
    double some = code != 0;
    TRY(space_greatest(&a->space, &some));
    *acts = some != 0;
    return 0;
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
            return map_missing(a, table[i].of, table[i].name, table[i].way);
    if ((rhs & EXACT_JACOBIAN) && a->form.differenced)
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

static int has_products(maps *a, const map *of, unsigned products)
{
    const char *name = of->rows > 0 ? absent(of->user, products) : NULL;
    return name ? map_missing(a, of, name, "") : 0;
}

static int has_all(maps *a, const event_maps *e, unsigned products)
{
    TRY(has_products(a, &e->guard, products));
    TRY(has_products(a, &e->jump, products));
    return has_products(a, &e->cost, products);
}

int maps_have_events(maps *a, unsigned products)
{
    if (a->differences) return 0;
    for (int k = 0; k < a->nevents + a->nrelations; k++) TRY(has_all(a, &a->events[k], products));
    if (relaxes(a)) TRY(has_products(a, &a->after_step.invariant, products));
    TRY(has_all(a, &a->after_step.correction, products));
    return has_all(a, &a->after_step.first, products);
}
