/* guard.c (ros) - is the user's matrix of the stages stiff enough?

   Where the matrix E approximates sigma M - f_y, fast modes have E^-1 (sigma M - f_y) = x, and a step multiplies them
   by

       R(x) = 1 + sum m_i u_i,   u_i = -x (1 + sum_{j<i} a_ij u_j)

   (f_y, and with it E, large against sigma). x = 1 is the exact matrix, x < 1 one that is stiffer. A method bears x up
   to the first one where |R| > 1; beyond it fast modes grow, which the error control of y holds back, but gradients
   show. x is measured now and then, by pairs of products, which do not depend on the units of the unknowns. */
#include <stdio.h>
#include <string.h>
#include "base/random.h"
#include "maps/callbacks.h"
#include "ros/ros.h"

enum { FIRST = 6, LATER = 2, EVERY = 50 };      /* pairs of products at first, and later, after so many steps, */
static const double LONGER = 3;                 /* or where h is so many times as long: x grows with it */
static const double RELIABLE = 1.02;            /* what is measured is less by this at most, usually */
static const double REFUSED = 2;                /* limits */
static const double STEP = 1e-3, MOST = 20;     /* of the search for the limit */

static double growth(const costate_method *m, double x)
{
    double U[STAGES_MOST], R = 1;
    for (int i = 0; i < m->s; i++) {
        double Y = 1;
        for (int j = 0; j < i; j++) Y += m->A[i * m->s + j] * U[j];
        U[i] = -x * Y;
        R += m->d[i] * U[i];
    }
    return fabs(R);
}

static double limit_of(const costate_method *m)
{
    double x = STEP;
    while (x < MOST && growth(m, x + STEP) <= 1 + 1e-9) x += STEP;
    return x;
}

void ros_guard_layout(stepper *c, cursor *at)
{
    softness *g = &work(c)->softness;
    if (!ros_holds(c) || !(has_tangent(&c->maps->user.rhs) || c->maps->user.jac)) return;
    TAKE(at, (size_t)c->n, &g->v, &g->z, &g->ones);
    g->limit = limit_of(c->m);
}

void ros_guard_restart(stepper *c)
{
    softness *g = &work(c)->softness;
    g->known = 0;
    g->age = 0;
    g->most = 0;
}

/* x <- E^-1 (sigma M - f_y) x */
static int product(stepper *c, const record *r, double *x)
{
    softness *g = &work(c)->softness;
    shifted a = {c->sh, point(c->maps, r->t, r->y), 1 / (c->m->gamma * r->held), 0, 0};
    TRY(shifted_apply(&a, 1, x, g->z));
    TRY(ros_solve(c, c->fac, 0, 1, &(accuracy){.from = NULL}, g->z));
    c->maps->count->power++;
    memcpy(x, g->z, (size_t)c->n * sizeof *x);
    return 0;
}

static int pair(stepper *c, const record *r, double *x)
{
    softness *g = &work(c)->softness;
    double size = 0;
    TRY(product(c, r, g->v));
    TRY(product(c, r, g->v));
    TRY(space_norm(&c->maps->space, (size_t)c->n, g->ones, g->v, &size));
    *x = sqrt(size);
    for (int i = 0; size > 0 && i < c->n; i++) g->v[i] /= size;
    return 0;
}

static int begin(stepper *c)
{
    softness *g = &work(c)->softness;
    double size;
    unsigned seed = 7;
    for (int i = 0; i < c->n; i++) {
        g->v[i] = random_number(&seed);
        g->ones[i] = 1;
    }
    TRY(space_norm(&c->maps->space, (size_t)c->n, g->ones, g->v, &size));
    for (int i = 0; i < c->n; i++) g->v[i] /= size;
    return 0;
}

int ros_guard(stepper *c, const record *r)
{
    softness *g = &work(c)->softness;
    double x = 0;
    if (!g->v || (g->known && ++g->age < EVERY && fabs(r->held) < LONGER * g->h)) return 0;
    if (!g->known) TRY(begin(c));
    for (int k = g->known ? LATER : FIRST; k > 0; k--) TRY(pair(c, r, &x));
    g->known = 1;
    g->age = 0;
    g->h = fabs(r->held);
    g->most = fmax(g->most, x);
    if (x <= REFUSED * g->limit) return 0;
    return fail(c->v, COSTATE_BACKEND, "The preconditioner is too soft for method %s: the largest eigenvalue of P^-1 "
                "(sigma M - f_y) is about %.2g at t = %.10g, and fast modes grow beyond %.3g.", c->m->name, x, r->t,
                g->limit);
}

void ros_guard_remark(const stepper *c, int failed, char *text, size_t room)
{
    const softness *g = &work(c)->softness;
    (void)failed;
    text[0] = 0;
    if (g->v && g->most > RELIABLE * g->limit)
        snprintf(text, room, "  The largest eigenvalue of P^-1 (sigma M - f_y) was about %.3g, while fast modes grow "
                             "beyond "
                 "%.3g with %s: y may be right, no gradient is.  Make the preconditioner stiffer.", g->most, g->limit,
                 c->m->name);
}
