/* guard.c (ros) - is the user's matrix of the stages stiff enough, and if not, for which h is it?

   Where the matrix E approximates sigma M - f_y, fast modes have E^-1 (sigma M - f_y) = x, and a step multiplies them
   by

       R(x) = 1 + sum m_i u_i,   u_i = -x s (1 + sum_{j<i} a_ij u_j) + x (1 - s) gamma sum_{j<i} c_ij u_j

   (mathematics, eq. 6.24), s = a/(sigma + a) for f_y = -a. x = 1 is the exact matrix, x < 1 one that is stiffer. A
   method bears x up to the first one where |R| > 1 for some a; beyond it modes grow, which the error control of y holds
   back, but gradients show. x is measured now and then (step/spectrum.c). Beyond the limit s of its vector decides: a
   slow reaction that is left out of W has x = 1 + gamma h a, and does no harm where the method is stable for these x
   and s. A mode with f_y = -a and E = sigma + b has

       x - 1 = (a - b)/(sigma + b),   1/(x - 1) = A + B/h                                                (6.25)

   so that a shorter h makes x smaller, and two measurements tell which h is short enough. */
#include <stdio.h>
#include <string.h>
#include "base/random.h"
#include "maps/callbacks.h"
#include "ros/ros.h"

/* products from a random vector, and later, after so many steps or where h is so many times as long, because x grows
   with it */
static const spectrum_accuracy ENOUGH = {.first = 12, .first_most = 12, .least = 4, .most = 4, .safety = 1,
                                         .plain = 1};
enum { EVERY = 50 };
static const double LONGER = 3;
static const double RELIABLE = 1.02;            /* what is measured is less by this at most, usually */
static const double REFUSED = 2;                /* x in units of the limit at which a run with a given h is refused */
enum { CUTS = 10 };                             /* after so many cuts of h in a row no h is short enough */
static const double FIRST_CUT = 0.25, LEAST_CUT = 0.01, MOST_CUT = 0.7, SAFELY = 0.9;
static const double MOST = 20;                  /* the limit is searched for up to here */
static const double FAST = 5;                   /* h a, from where on modes should decay within a few steps */
enum { RATES = 50 };                            /* values of h a that the search tries */

/* |R| <= 1 for this x and all rates up to s */
static int bears(const costate_method *m, double x, double s)
{
    for (int k = 1; k <= RATES; k++) if (rosenbrock_growth(m, x, s * k / RATES) > 1 + 1e-9) return 0;
    return 1;
}

/* the largest x, in steps and then in parts of a step */
static double limit_of(const costate_method *m)
{
    const double STEP = 0.05, FINE = 1e-3;
    double x = STEP;
    while (x < MOST && bears(m, x + STEP, 1)) x += STEP;
    while (x < MOST && bears(m, x + FINE, 1)) x += FINE;
    return x;
}

static double sigma_of(const stepper *c) { return 1 / (c->m->gamma * c->fac->h); }

/* out <- E^-1 (sigma M - f_y) v, for the h of the factors at hand */
int ros_watched(stepper *c, double t, const double *y, const double *v, double *out)
{
    shifted a = {c->sh, point(c->maps, t, y), sigma_of(c), 0, 0};
    TRY(shifted_apply(&a, 1, v, out));
    return factors_solve(c->sh, c->fac, 0, 0, 1, &(accuracy){.from = NULL}, out);
}

/* Is a mode with gamma h a = q harmless?  W may omit a slow part of f, and a mode of that part has x <= 1 + q.  Only
   one mode was measured, so modes up to FASTER times as fast, with E up to SOFTER times as soft, are required to be
   stable as well. */
static int slow(const costate_method *m, double x, double q)
{
    const double FASTER = 4, SOFTER = 1.2;
    enum { PARTS = 20 };
    int harmless = x <= RELIABLE * (1 + q);
    q *= FASTER;
    for (int k = 1; harmless && k <= PARTS; k++) harmless = bears(m, SOFTER * x * k / PARTS, q / (1 + q));
    return harmless;
}

/* JJv <- (sigma M - f_y) v, z <- -f_y v; *slope: |f_y v|, *mass: |M v| */
static int slope(stepper *c, double t, const double *y, const double *v, double *slope, double *mass)
{
    spectrum *s = &c->spectrum;
    const space *all = &c->maps->space;
    size_t n = (size_t)c->n;
    shifted a = {c->sh, point(c->maps, t, y), sigma_of(c), 0, 0};
    double square;
    memset(s->z, 0, n * sizeof *s->z);
    mass_multiply(c->maps, 0, 1, 1, v, s->z);
    TRY(space_dots(all, n, 1, s->z, 0, s->z, &square));
    *mass = sqrt(square);
    TRY(shifted_apply(&a, 1, v, s->JJv));
    c->maps->count->power++;
    add_scaled(n, s->z, s->JJv, -a.re, s->z);
    TRY(space_dots(all, n, 1, s->z, 0, s->z, &square));
    *slope = sqrt(square);
    return 0;
}

/* *does <- whether the mode that was measured is beyond the limit; |f_y v| / |sigma M v| stands for gamma h a */
static int harms(stepper *c, double t, const double *y, int *does)
{
    const spectrum *s = &c->spectrum;
    double f, mass;
    *does = 0;
    if (s->rho <= s->soft.limit) return 0;
    TRY(slope(c, t, y, s->v, &f, &mass));
    *does = !slow(c->m, s->rho, f / mass / fabs(sigma_of(c)));
    return 0;
}

/* v <- f_y v / |f_y v| for s->Jv, SHARPER times; its x and its rate |f_y v| / |M v| */
static int stiffest(stepper *c, double t, const double *y)
{
    enum { SHARPER = 3 };
    spectrum *s = &c->spectrum;
    const space *all = &c->maps->space;
    size_t n = (size_t)c->n;
    double f = 0, mass = 0, both, square;
    for (size_t i = 0; i < n; i++) s->Jv[i] = random_number(&s->seed);
    for (int k = 0; k <= SHARPER; k++) {
        TRY(slope(c, t, y, s->Jv, &f, &mass));
        if (k < SHARPER && f > 0) add_scaled(n, s->Jv, NULL, 1 / f, s->z);
    }
    TRY(space_dots(all, n, 1, s->Jv, 0, s->Jv, &square));
    TRY(factors_solve(c->sh, c->fac, 0, 0, 1, &(accuracy){.from = NULL}, s->JJv));
    TRY(space_dots(all, n, 1, s->Jv, 0, s->JJv, &both));
    s->soft.stiffest = both / square;
    s->soft.rate = f / mass;
    return 0;
}

/* Where E is much stiffer than necessary, as ADI is for modes that are fast in two directions, a step multiplies them
   by nearly 1. */
double ros_keeps(const stepper *c, const record *r, double *z)
{
    const spectrum *s = &c->spectrum;
    *z = fabs(r->h) * s->soft.rate;
    if (!s->v || s->products == 0) return 0;
    return fmax(exp(-*z), *z < FAST ? 0 : rosenbrock_growth(c->m, fmax(0, s->soft.stiffest), 1));
}

void ros_guard_layout(stepper *c, cursor *at)
{
    if (!ros_holds(c) || !(has_tangent(&c->maps->user.rhs) || c->maps->user.jac)) return;
    spectrum_layout(c, at);
}

void ros_guard_ready(stepper *c)
{
    if (!ros_holds(c) || !c->spectrum.v) return;
    c->spectrum.soft.harms = harms;
    c->spectrum.soft.limit = limit_of(c->m);
}

int ros_longest(stepper *c, const record *r, trial *t, double *h)
{
    spectrum *s = &c->spectrum;
    (void)r;
    *h = s->soft.shortened > 0 && !follows_error_alone(c) ? fmax(s->soft.shortened, c->o->hmin) : HUGE_VAL;
    if (t->started) return 0;
    s->steps++;
    s->capped += t->wanted >= *h;
    return 0;
}

static int too_soft(stepper *c, const record *r)
{
    return fail(c->v, COSTATE_BACKEND, "The %s is too soft for method %s: the largest eigenvalue of %s (sigma M - f_y) "
                "is about %.2g at t = %.10g, and fast modes grow beyond %.3g.", ros_matrix_name(c), c->m->name,
                ros_inverse_name(c), c->spectrum.rho, r->t, c->spectrum.soft.limit);
}

/* The h for which x is the limit, by (6.25); of one measurement alone x - 1 is known to fall less than h does. */
static int shorten(stepper *c, const record *r, trial *t)
{
    spectrum *s = &c->spectrum;
    softness *g = &s->soft;
    double h = fabs(r->held), now = 1 / (s->rho - 1), wanted = 1 / (g->limit - 1), factor = FIRST_CUT;
    if (g->cuts++ >= CUTS) return too_soft(c, r);
    if (g->cuts > 1) {
        double B = (now - g->cut_1) / (1 / h - 1 / g->cut_h);
        factor = B > 0 ? SAFELY * B / (wanted - now + B / h) / h : FIRST_CUT;
    }
    g->cut_h = h;
    g->cut_1 = now;
    factor = fmin(fmax(factor, LEAST_CUT), MOST_CUT);
    g->shortened = factor * h;
    return cut_by(t, factor, retry(c->v, WHY_SOFT));
}

/* x - 1 rises less than h does */
static void lengthen(spectrum *s, double h)
{
    softness *g = &s->soft;
    double part = SAFELY * (g->limit - 1) / fmax(s->rho - 1, 1e-3);
    if (g->shortened > 0) g->shortened = fmax(g->shortened, part * h);
}

int ros_guard(stepper *c, const record *r, trial *t, int *measured)
{
    spectrum *s = &c->spectrum;
    softness *g = &s->soft;
    int due = !s->products || ++s->age >= EVERY || fabs(r->held) >= LONGER * g->h || g->cuts > 0;
    *measured = s->v && due;
    if (!*measured) return 0;
    int harmful, status = spectrum_measure(c, r->t, r->y, &ENOUGH, NULL, NULL);
    if (!status) status = harms(c, r->t, r->y, &harmful);
    if (!status) status = stiffest(c, r->t, r->y);
    if (status) return status == RETRY ? 0 : status;    /* not known: the stages will say so, or another step */
    g->h = fabs(r->held);
    if (follows_error_alone(c)) {
        if (harmful) s->worst = fmax(s->worst, s->rho);
        return harmful && s->rho > REFUSED * g->limit ? too_soft(c, r) : 0;
    }
    if (harmful) return shorten(c, r, t);
    g->cuts = 0;
    lengthen(s, g->h);
    return 0;
}

void ros_guard_remark(const stepper *c, int failed, char *text, size_t room)
{
    const spectrum *s = &c->spectrum;
    double limit = s->soft.limit;
    (void)failed;
    text[0] = 0;
    if (s->v && s->worst > RELIABLE * limit)
        snprintf(text, room, "  The largest eigenvalue of %s (sigma M - f_y) was about %.3g, while fast modes grow "
                 "beyond %.3g with %s: y may be right, no gradient is.  Make the %s stiffer.", ros_inverse_name(c),
                 s->worst, limit, c->m->name, ros_matrix_name(c));
    else if (s->v && s->steps >= 10 && 2 * s->capped > s->steps)
        snprintf(text, room, "  In %ld of %ld steps h was as long as the %s allows: beyond %.2g it is too soft for "
                 "gradients.  Make it stiffer.", s->capped, s->steps, ros_matrix_name(c), s->soft.shortened);
    else ros_smooth_remark(c, text, room);
}
