/* limit.c (erk) - the longest step through which a gradient is stable: h rho <= limit (mathematics, section 3.5).

   Where y excites no fast modes, the error of y does not keep h inside the region of stability, and y looks right
   beyond it.  A gradient excites all modes.  rho is measured with the products that a gradient needs, so problems
   without them are not limited, and cost nothing; a run with a tape takes the same steps as one without.

   A method has two limits (codegen/limits.py): near the negative real axis, and elsewhere, where growth of a mode over
   the whole run counts. */
#include <math.h>
#include <stdio.h>
#include "erk/erk.h"
#include "maps/callbacks.h"

static const spectrum_accuracy ENOUGH = {.first = 2, .least = 2, .first_most = 16, .most = 4, .settled = 0.05,
                                         .safety = SPECTRUM_SAFETY};

/* A pair of products is due every NEARBY steps where h is longer than CLOSE times the limit; else after so many
   evaluations of f that it costs 1.3 % of them, or half of that below the part DISTANT of the limit. */
static const double CLOSE = 0.6, DISTANT = 0.05;
enum { NEARBY = 2, FAR_F = 150, DISTANT_F = 300 };

static double limit(const stepper *c, double rho, double span)
{
    int decade = 1;
    if (c->spectrum.negative) return c->m->limits[0];
    for (double s = 10; s < span * rho && decade < LIMIT_DECADES; s *= 10) decade++;
    return c->m->limits[decade];
}

/* A first rho of a random vector may be too small by a factor of a few. */
static int far(const stepper *c, double rho, const void *ctx)
{
    const trial *t = ctx;
    double surely = ENOUGH.safety * rho * (1 + 8.0 / c->spectrum.products);
    return t->wanted * surely <= limit(c, surely, t->span);
}

static int due(const stepper *c, const trial *t)
{
    const spectrum *s = &c->spectrum;
    if (s->products == 0) return s->age % NEARBY == 1;
    if (s->age < NEARBY) return 0;
    if (t->wanted > CLOSE * s->longest) return 1;
    return (s->age + 1) * c->s > (t->wanted > DISTANT * s->longest ? FAR_F : DISTANT_F);
}

static void find_longest(stepper *c, const trial *t)
{
    spectrum *s = &c->spectrum;
    if (s->longest == 0 && s->rho > 0) s->longest = limit(c, s->rho, t->span) / s->rho;
}

/* rho of this point; 0, or RETRY: it is not known, because the callback or the products are not defined there */
static int radius(stepper *c, const record *r, const trial *t)
{
    spectrum *s = &c->spectrum;
    if (spectrum_given(c)) {
        s->longest = 0;
        return spectrum_ask(c, r->t, r->y);
    }
    s->age++;
    find_longest(c, t);                             /* a run may have been resumed */
    if (!due(c, t)) return 0;
    s->longest = 0;
    return spectrum_measure(c, r->t, r->y, &ENOUGH, s->products == 0 ? far : NULL, t);
}

int erk_longest(stepper *c, const record *r, trial *t, double *h)
{
    spectrum *s = &c->spectrum;
    *h = HUGE_VAL;
    if (!spectrum_given(c) && !(s->v && spectrum_products(c->maps))) return 0;
    if (!t->started || c->maps->user.radius) {
        int status = radius(c, r, t);
        if (status < 0) return status;
        if (status > 0) return 0;
    }
    if (!(s->rho > 0)) return 0;
    find_longest(c, t);
    if (!follows_error_alone(c)) *h = s->longest > c->o->hmin ? s->longest : c->o->hmin;
    if (t->started) return 0;
    s->steps++;
    if (t->wanted <= s->longest) return 0;
    s->capped++;
    s->worst = fmax(s->worst, t->wanted / s->longest);
    return 0;
}

/* Steps beyond the limit, where they are fixed or options.stability is off; or mostly as long as the limit. */
void erk_remark(const stepper *c, int failed, char *text, size_t room)
{
    const spectrum *s = &c->spectrum;
    text[0] = 0;
    if (follows_error_alone(c) && s->worst > 1)
        snprintf(text, room, "  h was up to %.2g times what stability allows (spectral radius %.3g): y may be right, "
                 "no gradient is.", s->worst, s->rho);
    else if (!follows_error_alone(c) && s->steps >= 10 && 2 * s->capped > s->steps)
        snprintf(text, room, "  In %ld of %ld steps h was as long as stability allows (spectral radius %.3g): an "
                 "implicit method (sdirk4a, radau2a)%s may be faster.", s->capped, s->steps, s->rho,
                 s->negative ? " or rock4" : "");
    (void)failed;
}
