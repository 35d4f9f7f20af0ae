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
static const double REFUSED = 2;                /* limits, where h is not shortened; */
enum { CUTS = 10 };                             /* where it is: no h is short enough */
static const double FIRST_CUT = 0.25, LEAST_CUT = 0.01, MOST_CUT = 0.7, SAFELY = 0.9, MOST_RISE = 2;
static const double MOST = 20;                  /* of the search for the limit, */
static const double FAST = 5;                   /* h a, from where on modes should decay within a few steps */
enum { RATES = 50 };                            /* with so many s */

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
static int product(stepper *c, double t, const double *y, const double *v, double *out)
{
    shifted a = {c->sh, point(c->maps, t, y), sigma_of(c), 0, 0};
    TRY(shifted_apply(&a, 1, v, out));
    return factors_solve(c->sh, c->fac, 0, 0, 1, &(accuracy){.from = NULL}, out);
}

/* Is a mode with gamma h a = q harmless, as one of a slow part of f that W leaves out?  Its x is then at most 1 + q.
   Modes that are faster, and for which E is softer, must be harmless, too: only one mode is seen. */
static int slow(const costate_method *m, double x, double q)
{
    const double FASTER = 4, SOFTER = 1.2;
    enum { PARTS = 20 };
    int harmless = x <= RELIABLE * (1 + q);
    q *= FASTER;
    for (int k = 1; harmless && k <= PARTS; k++) harmless = bears(m, SOFTER * x * k / PARTS, q / (1 + q));
    return harmless;
}

/* *does <- whether the mode that was measured is beyond the limit; |f_y v| / |sigma M v| stands for gamma h a */
static int harms(stepper *c, double t, const double *y, int *does)
{
    spectrum *s = &c->spectrum;
    const space *all = &c->maps->space;
    size_t n = (size_t)c->n;
    double sigma = sigma_of(c), slope, rest;
    shifted a = {c->sh, point(c->maps, t, y), sigma, 0, 0};
    *does = 0;
    if (s->rho <= s->limit) return 0;
    memset(s->z, 0, n * sizeof *s->z);
    mass_multiply(c->maps, 0, sigma, 1, s->v, s->z);
    TRY(shifted_apply(&a, 1, s->v, s->Jv));
    c->maps->count->power++;
    add_scaled(n, s->Jv, s->Jv, -1, s->z);
    TRY(space_dots(all, n, 1, s->Jv, 0, s->Jv, &slope));
    TRY(space_dots(all, n, 1, s->z, 0, s->z, &rest));
    *does = !slow(c->m, s->rho, sqrt(slope) / sqrt(rest));
    return 0;
}

/* v <- f_y v / |f_y v| for s->Jv, SHARPER times; its x and its rate |f_y v| / |M v| */
static int stiffest(stepper *c, double t, const double *y)
{
    enum { SHARPER = 3 };
    spectrum *s = &c->spectrum;
    const space *all = &c->maps->space;
    size_t n = (size_t)c->n;
    double sigma = sigma_of(c), both = 0, squares[3];
    shifted a = {c->sh, point(c->maps, t, y), sigma, 0, 0};
    for (size_t i = 0; i < n; i++) s->Jv[i] = random_number(&s->seed);
    for (int k = 0; k <= SHARPER; k++) {
        memset(s->z, 0, n * sizeof *s->z);
        mass_multiply(c->maps, 0, 1, 1, s->Jv, s->z);
        TRY(space_dots(all, n, 1, s->z, 0, s->z, &squares[1]));
        TRY(shifted_apply(&a, 1, s->Jv, s->JJv));
        c->maps->count->power++;
        add_scaled(n, s->z, s->JJv, -sigma, s->z);
        TRY(space_dots(all, n, 1, s->z, 0, s->z, &squares[2]));
        if (k < SHARPER && squares[2] > 0) add_scaled(n, s->Jv, NULL, 1 / sqrt(squares[2]), s->z);
    }
    TRY(space_dots(all, n, 1, s->Jv, 0, s->Jv, &squares[0]));
    TRY(factors_solve(c->sh, c->fac, 0, 0, 1, &(accuracy){.from = NULL}, s->JJv));
    TRY(space_dots(all, n, 1, s->Jv, 0, s->JJv, &both));
    s->stiffest = both / squares[0];
    s->rate = sqrt(squares[2]) / sqrt(squares[1]);
    return 0;
}

/* Where E is much stiffer than necessary, as ADI is for modes that are fast in two directions, a step multiplies them
   by nearly 1. */
double ros_keeps(const stepper *c, const record *r, double *z)
{
    const spectrum *s = &c->spectrum;
    *z = fabs(r->h) * s->rate;
    if (!s->v || s->products == 0) return 0;
    return fmax(exp(-*z), *z < FAST ? 0 : rosenbrock_growth(c->m, fmax(0, s->stiffest), 1));
}

void ros_guard_layout(stepper *c, cursor *at)
{
    if (!ros_holds(c) || !(has_tangent(&c->maps->user.rhs) || c->maps->user.jac)) return;
    spectrum_layout(c, at);
    c->spectrum.product = product;
    c->spectrum.harms = harms;
    c->spectrum.limit = limit_of(c->m);
}

/* Steps are prescribed, or follow the error alone: they are only remarked on. */
static int unlimited(const stepper *c)
{
    return c->o->controller == COSTATE_FIXED || c->o->stability == COSTATE_STABILITY_OFF;
}

int ros_longest(stepper *c, const record *r, trial *t, double *h)
{
    spectrum *s = &c->spectrum;
    (void)r;
    *h = s->shortened > 0 && !unlimited(c) ? fmax(s->shortened, c->o->hmin) : HUGE_VAL;
    if (t->started) return 0;
    s->steps++;
    s->capped += t->wanted >= *h;
    return 0;
}

static int too_soft(stepper *c, const record *r)
{
    return fail(c->v, COSTATE_BACKEND, "The %s is too soft for method %s: the largest eigenvalue of %s (sigma M - f_y) "
                "is about %.2g at t = %.10g, and fast modes grow beyond %.3g.", ros_matrix_name(c), c->m->name,
                ros_inverse_name(c), c->spectrum.rho, r->t, c->spectrum.limit);
}

/* The h for which x is the limit, by (6.25); of one measurement alone x - 1 is known to fall less than h does. */
static int shorten(stepper *c, const record *r, trial *t)
{
    softness *g = &work(c)->softness;
    spectrum *s = &c->spectrum;
    double h = fabs(r->held), now = 1 / (s->rho - 1), wanted = 1 / (s->limit - 1), factor = FIRST_CUT;
    if (g->cuts++ >= CUTS) return too_soft(c, r);
    if (g->cuts > 1) {
        double B = (now - g->cut_1) / (1 / h - 1 / g->cut_h);
        factor = B > 0 ? SAFELY * B / (wanted - now + B / h) / h : FIRST_CUT;
    }
    g->cut_h = h;
    g->cut_1 = now;
    factor = fmin(fmax(factor, LEAST_CUT), MOST_CUT);
    s->shortened = factor * h;
    return cut_by(t, factor, retry(c->v, WHY_SOFT));
}

/* x - 1 rises less than h does */
static void lengthen(stepper *c, const record *r)
{
    double part = SAFELY * (c->spectrum.limit - 1) / fmax(c->spectrum.rho - 1, 1e-3);
    if (c->spectrum.shortened > 0)
        c->spectrum.shortened = fmax(c->spectrum.shortened, fmin(part, MOST_RISE) * fabs(r->held));
}

int ros_guard(stepper *c, const record *r, trial *t)
{
    softness *g = &work(c)->softness;
    spectrum *s = &c->spectrum;
    int due = !s->products || ++s->age >= EVERY || fabs(r->held) >= LONGER * s->h || g->cuts > 0;
    if (!s->v || !due) return 0;
    int harmful, status = spectrum_measure(c, r->t, r->y, &ENOUGH, NULL, NULL);
    if (!status) status = harms(c, r->t, r->y, &harmful);
    if (!status) status = stiffest(c, r->t, r->y);
    if (status) return status == RETRY ? 0 : status;    /* not known: the stages will say so, or another step */
    s->h = fabs(r->held);
    if (unlimited(c)) {
        if (harmful) s->worst = fmax(s->worst, s->rho);
        return harmful && s->rho > REFUSED * s->limit ? too_soft(c, r) : 0;
    }
    if (harmful) return shorten(c, r, t);
    g->cuts = 0;
    lengthen(c, r);
    return 0;
}

void ros_guard_remark(const stepper *c, int failed, char *text, size_t room)
{
    const spectrum *s = &c->spectrum;
    double limit = s->limit;
    (void)failed;
    text[0] = 0;
    if (s->v && s->worst > RELIABLE * limit)
        snprintf(text, room, "  The largest eigenvalue of %s (sigma M - f_y) was about %.3g, while fast modes grow "
                 "beyond %.3g with %s: y may be right, no gradient is.  Make the %s stiffer.", ros_inverse_name(c),
                 s->worst, limit, c->m->name, ros_matrix_name(c));
    else if (s->v && s->steps >= 10 && 2 * s->capped > s->steps)
        snprintf(text, room, "  In %ld of %ld steps h was as long as the %s allows: beyond %.2g it is too soft for "
                 "gradients.  Make it stiffer.", s->capped, s->steps, ros_matrix_name(c), s->shortened);
}
