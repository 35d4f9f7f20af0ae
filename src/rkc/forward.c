/* forward.c (rkc) - one stabilised explicit step: its degree is the lowest that h times the spectral radius allows. */
#include <math.h>
#include <string.h>
#include "rkc/rkc.h"

static int choose(stepper *c, const record *r, trial *t, degree *d)
{
    const costate_rkc *all = c->m->rkc;
    int k = 0;
    if (t->as) { *d = rkc_degree(c, rkc_find(c, t->as->degree)); return 0; }
    TRY(rkc_radius(c, r, t));
    double z = fabs(r->h) * c->spectrum.rho;
    while (k < all->degrees - 1 && all->beta[k] < z) k++;
    *d = rkc_degree(c, k);
    return z <= d->beta * (1 + 1e-12) ? 0 : cut_by(t, d->beta / z, retry(c->v, WHY_DEGREE));
}

/* g_m into a->g[m % 2]: each stage takes the place of the last but one */
static int recurrence(stepper *c, const record *r, const degree *d)
{
    rkc_work *a = rkc_of(c);
    const double *F = a->f0, *before = a->start, *last = a->start;
    for (int j = 1; j <= d->m; j++) {
        double *g = a->g[j % 2];
        rkc_recur(d, j, (size_t)c->N, r->h, a->start, last, before, F, a->f0, g);
        before = last;
        last = g;
        F = a->F;
        if (j < d->m) TRY(rkc_slope(c, rkc_time(r, d->c[j - 1]), g, a->F));
    }
    return 0;
}

/* the stages behind the recurrence; y1: y+, and the integrals over the step */
static int last_stages(stepper *c, const record *r, const degree *d, double *y1)
{
    rkc_work *a = rkc_of(c);
    size_t N = (size_t)c->N;
    const double *g = a->g[d->m % 2];
    for (int i = 1; i <= d->r; i++) {
        const double *Y = g;
        if (i > 1) { combine(N, a->Y, g, r->h, i - 1, rkc_row(d, i), a->K, N); Y = a->Y; }
        TRY(rkc_slope(c, rkc_time(r, d->cr[i - 1]), Y, a->K + (size_t)(i - 1) * N));
    }
    combine(N, y1, g, r->h, d->r, d->b, a->K, N);
    return 0;
}

static void estimate(const stepper *c, const record *r, const degree *d, const double *y1, double *err)
{
    const rkc_work *a = rkc_of(c);
    size_t N = (size_t)c->N;
    combine(N, err, NULL, r->h, d->r, d->e, a->K, N);
    for (size_t i = 0; i < N; i++)
        err[i] += d->ey * (a->start[i] - y1[i]) + r->h * (d->e0 * a->f0[i] + d->e1 * a->f1[i]);
}

static void keep(const stepper *c, const record *r, const double *y1, const double *err, double *X)
{
    const rkc_work *a = rkc_of(c);
    size_t n = (size_t)c->n;
    memcpy(X + X_SLOPE * n, a->f0, n * sizeof *X);
    memcpy(X + X_LAST * n, a->f1, n * sizeof *X);
    for (size_t i = 0; i < n; i++) {
        X[X_MOVE * n + i] = (y1[i] - r->y[i]) / r->h;
        X[X_ERROR * n + i] = err[i] / r->h;
    }
}

static void count(const stepper *c, const record *r)
{
    rkc_work *a = rkc_of(c);
    a->tries.degree = r->degree;
    a->limit.tried = 1;
    a->tries.all++;
    a->tries.longest += fabs(r->h) >= 0.99 * c->spectrum.longest;
}

int rkc_forward(stepper *c, record *r, trial *t)
{
    rkc_work *a = rkc_of(c);
    size_t n = (size_t)c->n;
    degree d;
    t->newton = 0;
    TRY(rkc_first_slope(c, r, t));
    TRY(choose(c, r, t, &d));
    r->degree = d.s;
    count(c, r);
    rkc_start(c, r);
    TRY(recurrence(c, r, &d));
    TRY(last_stages(c, r, &d, t->y1));
    TRY(rkc_slope(c, r->end, t->y1, a->f1));
    estimate(c, r, &d, t->y1, t->err);
    keep(c, r, t->y1, t->err, t->to.X);
    for (size_t k = n; k < (size_t)c->N; k++) t->y1[k] += r->y[k];
    return 0;
}
