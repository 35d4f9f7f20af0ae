/* stages.c (rkc) - the recurrence of a degree and the slope of a stage (mathematics, eq. 4.2). */
#include <string.h>
#include "rkc/rkc.h"

degree rkc_degree(const stepper *c, int k)
{
    const costate_rkc *a = c->m->rkc;
    size_t at = (size_t)a->first[k], r = (size_t)a->r, row = r * (r - 1) / 2, i = (size_t)k;
    degree d = {.s = a->s[k], .m = a->first[k + 1] - a->first[k], .r = a->r, .beta = a->beta[k], .noise = a->noise[k],
                .mu = a->mu + at, .nu = a->nu + at, .mut = a->mut + at, .c = a->c + at,
                .ey = a->ey, .e0 = a->e0, .e1 = a->e1[k]};
    if (a->eta) { d.eta = a->eta + at; d.gat = a->gat + at; }
    if (a->r) { d.A = a->A + row * i; d.b = a->b + r * i; d.cr = a->cr + r * i; d.e = a->e + r * i; }
    return d;
}

int rkc_find(const stepper *c, int s)
{
    int k = 0;
    while (k < c->m->rkc->degrees - 1 && c->m->rkc->s[k] < s) k++;
    return k;
}

void rkc_start(const stepper *c, const record *r)
{
    double *start = rkc_of(c)->start;
    memcpy(start, r->y, (size_t)c->n * sizeof *start);
    memset(start + c->n, 0, (size_t)c->nq * sizeof *start);
}

int rkc_slope_y(stepper *c, double t, const double *g, double *F)
{
    const double *inverse = rkc_of(c)->inverse;
    TRY(map_value(c->maps, &c->maps->rhs, t, g, F));
    for (int i = 0; inverse && i < c->n; i++) F[i] *= inverse[i];
    return 0;
}

int rkc_slope(stepper *c, double t, const double *g, double *F)
{
    TRY(rkc_slope_y(c, t, g, F));
    return c->nq ? map_value(c->maps, &c->maps->cost, t, g, F + c->n) : 0;
}

int rkc_first_slope(stepper *c, const record *r, trial *t)
{
    rkc_work *a = rkc_of(c);
    size_t n = (size_t)c->n;
    if (t->started) return 0;
    if (slope_is_known(t)) {
        memcpy(a->f0, t->before->X + X_LAST * n, n * sizeof *a->f0);
        if (c->nq) TRY(map_value(c->maps, &c->maps->cost, r->t, r->y, a->f0 + n));
    } else {
        TRY(rkc_slope(c, r->t, r->y, a->f0));
    }
    t->started = 1;
    a->limit.asked = 0;
    return 0;
}

static void three(size_t len, double *restrict out, double mu, const double *g1, double nu, const double *g2, double a,
                  const double *F)
{
    for (size_t i = 0; i < len; i++) out[i] = mu * g1[i] + nu * g2[i] + a * F[i];
}

/* The same into g2, which is not asked for again: a vector less in the cache. */
static void three_into(size_t len, double *restrict out, double mu, const double *g1, double nu, double a,
                       const double *F)
{
    for (size_t i = 0; i < len; i++) out[i] = mu * g1[i] + nu * out[i] + a * F[i];
}

static void five(size_t len, double *restrict out, double eta, const double *y, double mu, const double *g1, double nu,
                 const double *g2, double a, const double *F, double b, const double *F0)
{
    for (size_t i = 0; i < len; i++) out[i] = (eta * y[i] + mu * g1[i] + nu * g2[i]) + (a * F[i] + b * F0[i]);
}

static void five_into(size_t len, double *restrict out, double eta, const double *y, double mu, const double *g1,
                      double nu, double a, const double *F, double b, const double *F0)
{
    for (size_t i = 0; i < len; i++) out[i] = (eta * y[i] + mu * g1[i] + nu * out[i]) + (a * F[i] + b * F0[i]);
}

void rkc_recur(const degree *d, int j, size_t len, double a, const double *y, const double *g1, const double *g2,
               const double *F, const double *F0, double *out)
{
    double mu = d->mu[j - 1], nu = d->nu[j - 1], mut = a * d->mut[j - 1];
    double eta = d->eta ? d->eta[j - 1] : 0, gat = d->eta ? a * d->gat[j - 1] : 0;
    if (d->eta && out == g2) five_into(len, out, eta, y, mu, g1, nu, mut, F, gat, F0);
    else if (d->eta) five(len, out, eta, y, mu, g1, nu, g2, mut, F, gat, F0);
    else if (out == g2) three_into(len, out, mu, g1, nu, mut, F);
    else three(len, out, mu, g1, nu, g2, mut, F);
}
