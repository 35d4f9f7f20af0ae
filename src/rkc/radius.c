/* radius.c (rkc) - the spectral radius of f_y, given or measured (step/spectrum.c), and the longest step that it allows
   (mathematics, eq. 4.12 to 4.13).

   If rho is too small, y looks plausible but gradients are wrong: the safety factor also covers changes until rho is
   measured again. */
#include <float.h>
#include <math.h>
#include <stdio.h>
#include "maps/callbacks.h"
#include "rkc/rkc.h"

static const spectrum_accuracy ACCURATE = {.first = 16, .first_most = 60, .least = 4, .most = 60, .settled = 2e-3,
                                           .safety = 1.15};
enum { REFRESHED = 25 };

/* Limits of the round-off of a step, eps noise |y|; degrees with more are not used.  NOISE: relative to the tolerance.
   EXACT: relative to y, in derivative mode, where it must not show in differences.  TRANSPOSED: relative to y, in runs
   with a tape or tangents; gaps of transposes were a twentieth of it at most (Brusselators, 200 to 2048 unknowns). */
static const double NOISE = 0.1, EXACT = 2e-12, TRANSPOSED = 2.5e-11;

/* Must rho be measured?  Also after a rejected step, if rho was not measured for that step: it may be too small. */
static int stale(const stepper *c, const trial *t)
{
    const spectrum *s = &c->spectrum;
    return s->products == 0 || s->age >= REFRESHED || (t->cautious && rkc_of(c)->limit.tried);
}

int rkc_radius(stepper *c, const record *r, const trial *t)
{
    rkc_limit *a = &rkc_of(c)->limit;
    if (spectrum_given(c)) {
        if (!a->asked) TRY(spectrum_ask(c, r->t, r->y));
        a->asked = 1;
        return 0;
    }
    if (!stale(c, t)) return 0;
    TRY(spectrum_measure(c, r->t, r->y, &ACCURATE, NULL, NULL));
    a->tried = 0;
    return 0;
}

/* that of the highest degree whose round-off is acceptable */
double rkc_reach(const member_method *m, int differentiated, double size)
{
    const costate_rkc *all = m->m->rkc;
    double borne = NOISE / size;
    if (m->o->derivative_mode) borne = EXACT;
    else if (differentiated) borne = fmin(borne, TRANSPOSED);
    int k = 0, most = m->o->degree_max ? m->o->degree_max : all->s[all->degrees - 1];
    while (k < all->degrees - 1 && DBL_EPSILON * all->noise[k + 1] <= borne && all->s[k + 1] <= most) k++;
    return all->beta[k];
}

int rkc_longest(stepper *c, const record *r, trial *t, double *h)
{
    rkc_work *a = rkc_of(c);
    double size;
    a->tries.rejected += t->started;
    c->spectrum.age += !t->started;
    TRY(rkc_first_slope(c, r, t));
    TRY(rkc_radius(c, r, t));
    TRY(space_norm(&c->maps->space, (size_t)c->n, c->w, r->y, &size));
    double rho = c->spectrum.rho;
    *h = c->spectrum.longest = rho > 0 ? rkc_reach(&c->members[c->at], t->differentiated, size) / rho : HUGE_VAL;
    return 0;
}

/* A remark on a run that failed, or that rejected one try of five: the family may be unsuitable, or rho too small; and
   on a run limited by the longest step. */
void rkc_remark(const stepper *c, int failed, char *text, size_t room)
{
    const rkc_work *a = rkc_of(c);
    const spectrum *s = &c->spectrum;
    const rkc_tries *tries = &a->tries;
    int given = spectrum_given(c);
    int uneasy = 5 * tries->rejected > tries->all && tries->all >= 10;
    text[0] = 0;
    if ((failed || uneasy) && !given && s->products > 0 && !s->negative)
        snprintf(text, room, "  The steps of %s are for eigenvalues near the negative real axis; the largest, of size "
                 "%.3g, is not: take an implicit method (sdirk4a, radau2a), or where nothing is stiff dopri5.",
                 c->m->name, s->rho);
    else if (uneasy && given)
        snprintf(text, room, "  %ld of %ld tries were rejected: where the spectral radius that was given, %.3g at the "
                 "end, is too low, y may be right, but no gradient is.", tries->rejected, tries->all, s->rho);
    else if (failed && tries->degree > 0)
        snprintf(text, room, "  The last step had degree %d for a spectral radius of %.3g: where that is much larger "
                 "than the rates that matter, take an implicit method (sdirk4a, radau2a).", tries->degree, s->rho);
    else if (tries->all >= 10 && 2 * tries->longest > tries->all)
        snprintf(text, room, "  In %ld of %ld steps h was as long as the spectral radius, %.3g, allows at the highest "
                 "degree: an implicit method (sdirk4a, radau2a) may be faster.", tries->longest, tries->all, s->rho);
}
