/* radius.c (rkc) - the spectral radius of f_y, given or measured, and the longest step that it allows (mathematics, eq.
   4.12).

   It is measured by the power iteration, starting from the last vector.  The eigenvalues of diffusion are dense at the
   end of the spectrum: after k products rho is too small by about c/k, and the last product changes it by c/k^2; so k
   times that change is added.  With random vectors on meshes in one to three dimensions this is within 0.7 % for k =
   16, the plain iteration within 5 %.  For a separate dominant eigenvalue both converge fast.  If rho is too small, y
   looks plausible but gradients are wrong: SAFETY also covers changes until rho is measured again. */
#include <float.h>
#include <math.h>
#include <stdio.h>
#include "base/random.h"
#include "maps/callbacks.h"
#include "rkc/rkc.h"

static const double SHOWN = 2e-3, SAFETY = 1.15;
enum { FIRST_LEAST = 16, LEAST = 3, MOST = 60, REFRESHED = 25, COUNTED = 40 };

/* Limits of the round-off of a step, eps noise |y|; degrees with more are not used.  NOISE: relative to the tolerance.
   EXACT: relative to y, in derivative mode, where it must not show in differences and transposes. */
static const double NOISE = 0.1, EXACT = 2e-12;

/* If the real part of the eigenvalue, in units of rho, is larger, the real stability intervals do not apply. */
static const double REAL = -0.7;

/* Jv <- M^-1 f_y v, by a product if there is one, else by a difference along v of length sqrt(eps) max(|y|, tolerance)
   in the error norm. */
static int product(stepper *c, const record *r, double size)
{
    rkc_work *a = rkc_of(c);
    size_t n = (size_t)c->n;
    double *x = a->g[0], along;
    c->maps->count->power++;
    if (has_tangent(&c->maps->user.rhs) || c->maps->user.jac) {
        costate_point at = point(c->maps, r->t, r->y), dx = {.y = a->radius.v};
        TRY(map_tangent(c->maps, &c->maps->rhs, &at, &dx, a->radius.Jv));
        for (size_t i = 0; a->inverse && i < n; i++) a->radius.Jv[i] *= a->inverse[i];
        return 0;
    }
    TRY(space_norm(&c->maps->space, n, c->w, a->radius.v, &along));
    double e = sqrt(DBL_EPSILON) * fmax(size, 1) / along;
    add_scaled(n, x, r->y, e, a->radius.v);
    TRY(rkc_slope_y(c, r->t, x, a->radius.Jv));
    for (size_t i = 0; i < n; i++) a->radius.Jv[i] = (a->radius.Jv[i] - a->f0[i]) / e;
    return 0;
}

static int begin(stepper *c)
{
    spectral_radius *a = &rkc_of(c)->radius;
    unsigned state = 1;
    double size;
    for (int i = 0; a->rho == 0 && i < c->n; i++) a->v[i] = random_number(&state);
    TRY(space_dots(&c->maps->space, (size_t)c->n, 1, a->v, 0, a->v, &size));
    for (int i = 0; i < c->n; i++) a->v[i] /= sqrt(size);
    return 0;
}

/* rho <- |Jv|, real <- v.Jv/rho, v <- Jv/rho.  If squares of rates would overflow or underflow, the largest is the
   unit. */
static int stretched(stepper *c, double *rho)
{
    spectral_radius *a = &rkc_of(c)->radius;
    const space *s = &c->maps->space;
    size_t n = (size_t)c->n;
    double both[2], unit = 1;                                                       /* v.Jv, Jv.Jv */
    TRY(space_dots(s, n, 2, a->v, (size_t)(a->Jv - a->v), a->Jv, both));
    if (!(both[1] > LEAST_SQUARES && both[1] < MOST_SQUARES)) {
        TRY(space_largest(s, n, a->Jv, &unit));
        for (size_t i = 0; unit > 0 && i < n; i++) a->Jv[i] /= unit;
        TRY(space_dots(s, n, 2, a->v, (size_t)(a->Jv - a->v), a->Jv, both));
    }
    double size = sqrt(both[1]);
    *rho = unit * size;
    if (size > 0) a->real = both[0] / size;
    for (size_t i = 0; size > 0 && i < n; i++) a->v[i] = a->Jv[i] / size;
    return 0;
}

static int measure(stepper *c, const record *r)
{
    spectral_radius *a = &rkc_of(c)->radius;
    size_t n = (size_t)c->n;
    int least = a->rho == 0 ? FIRST_LEAST : LEAST;
    double size, rho, last = 0, old = 0;
    TRY(space_norm(&c->maps->space, n, c->w, r->y, &size));
    TRY(begin(c));
    if (a->rho == 0) a->products = 0;
    for (int k = 1; k <= MOST; k++) {
        TRY(product(c, r, size));
        TRY(stretched(c, &rho));
        if (!(rho < HUGE_VAL)) return retry(c->v, WHY_NOT_FINITE);
        if (a->products < COUNTED) a->products++;
        a->rho = rho + (k > 1 ? a->products * fmax(0, rho - last) : 0);
        last = rho;
        if (rho == 0) break;
        if (k >= least && fabs(a->rho - old) <= SHOWN * a->rho) break;
        old = a->rho;
    }
    a->rho = fmax(SAFETY * a->rho, DBL_MIN);
    return 0;
}

/* Must rho be measured?  Also after a rejected step, if rho was not measured for that step: it may be too small. */
static int stale(const spectral_radius *a, const trial *t)
{
    return a->rho == 0 || a->age >= REFRESHED || (t->cautious && a->tried);
}

int rkc_radius(stepper *c, const record *r, const trial *t)
{
    spectral_radius *a = &rkc_of(c)->radius;
    costate_point x = point(c->maps, r->t, r->y);
    if (c->maps->user.radius) {
        if (!a->asked) TRY(map_radius(c->maps, &x, &a->rho));
        a->asked = 1;
        return 0;
    }
    if (c->o->spectral_bound > 0) { a->rho = c->o->spectral_bound; return 0; }
    if (!stale(a, t)) return 0;
    TRY(measure(c, r));
    a->age = a->tried = 0;
    return 0;
}

/* the highest degree whose round-off is acceptable; size: |y| in tolerances */
static int highest(const stepper *c, double size)
{
    const costate_rkc *all = c->m->rkc;
    double borne = (c->o->derivative_mode ? EXACT : NOISE / size) / DBL_EPSILON;
    int k = 0, most = c->o->degree_max ? c->o->degree_max : all->s[all->degrees - 1];
    while (k < all->degrees - 1 && all->noise[k + 1] <= borne && all->s[k + 1] <= most) k++;
    return k;
}

int rkc_longest(stepper *c, const record *r, trial *t, double *h)
{
    rkc_work *a = rkc_of(c);
    double size;
    a->tries.rejected += t->started;
    TRY(rkc_first_slope(c, r, t));
    TRY(rkc_radius(c, r, t));
    TRY(space_norm(&c->maps->space, (size_t)c->n, c->w, r->y, &size));
    *h = a->radius.longest = a->radius.rho > 0 ? c->m->rkc->beta[highest(c, size)] / a->radius.rho : HUGE_VAL;
    return 0;
}

/* A remark on a run that failed, or that rejected one try of five: the family may be unsuitable, or rho too small; and
   on a run limited by the longest step. */
void rkc_remark(const stepper *c, int failed, char *text, size_t room)
{
    const rkc_work *a = rkc_of(c);
    const rkc_tries *tries = &a->tries;
    int given = c->maps->user.radius || c->o->spectral_bound > 0;
    int uneasy = 5 * tries->rejected > tries->all && tries->all >= 10;
    text[0] = 0;
    if ((failed || uneasy) && !given && a->radius.real > REAL)
        snprintf(text, room, "  The steps of %s are for eigenvalues near the negative real axis; the largest, of size "
                 "%.3g, is not: take an implicit method (sdirk4a, radau2a), or where nothing is stiff dopri5.",
                 c->m->name, a->radius.rho);
    else if (uneasy && given)
        snprintf(text, room, "  %ld of %ld tries were rejected: where the spectral radius that was given, %.3g at the "
                 "end, is too low, y may be right, but no gradient is.", tries->rejected, tries->all, a->radius.rho);
    else if (failed && tries->degree > 0)
        snprintf(text, room, "  The last step had degree %d for a spectral radius of %.3g: where that is much larger "
                 "than the rates that matter, take an implicit method (sdirk4a, radau2a).", tries->degree,
                 a->radius.rho);
    else if (tries->all >= 10 && 2 * tries->longest > tries->all)
        snprintf(text, room, "  In %ld of %ld steps h was as long as the spectral radius, %.3g, allows at the highest "
                 "degree: an implicit method (sdirk4a, radau2a) may be faster.", tries->longest, tries->all,
                 a->radius.rho);
}
