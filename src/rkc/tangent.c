/* tangent.c (rkc) - m directions through a step: its recurrence differentiated (mathematics, eq. 4.6 to 4.7).

       F'_j = h f'(j) + h' f_j,  f'(j) = f_t (t' + c_j h') + f_y g'_j + f_p p'
       g'_j = eta_j y' + mu_j g'_j-1 + nu_j g'_j-2 + mut_j F'_j-1 + gat_j F'_0

   The stages are recomputed along with it, one by one: as many vectors as there are columns, times a constant. */
#include <string.h>
#include "rkc/rkc.h"

int rkc_slopes(stepper *c, const record *r, const directions *d, double at, stage of, const double *F, size_t rows,
               double *out)
{
    const double *inverse = rkc_of(c)->inverse;
    size_t n = (size_t)c->n, moving = n + (size_t)c->nq;
    costate_point x = point(c->maps, rkc_time(r, at), of.g);
    const costate_point *dx = columns_along(c, &rkc_of(c)->columns, d, at, of.v, rows);
    TRY(map_tangents(c->maps, &c->maps->rhs, &x, d->m, dx, out, rows));
    if (rows > n && moving > n) TRY(map_tangents(c->maps, &c->maps->cost, &x, d->m, dx, out + n, rows));
    for (int j = 0; j < d->m; j++) {
        double *to = out + (size_t)j * rows;
        for (size_t i = 0; inverse && i < n; i++) to[i] *= inverse[i];
        for (size_t i = 0; i < rows; i++) to[i] = i < moving ? r->h * to[i] : 0;       /* memory stays as it is */
        if (d->dh[j] != 0) axpy(rows, d->dh[j], F, to);
    }
    return 0;
}

/* F' of all columns into out (N*m) at the stage, whose slope is F */
static int slopes(stepper *c, const record *r, const directions *d, double at, stage of, const double *F, double *out)
{
    return rkc_slopes(c, r, d, at, of, F, (size_t)c->N, out);
}

static int recurrence(stepper *c, const record *r, const directions *d, const degree *s, const double *v0, stage *end)
{
    rkc_work *a = rkc_of(c);
    const double *F = a->f0, *Fd = a->Fd0;
    stage last = {a->start, v0}, before = last;
    TRY(slopes(c, r, d, 0, last, a->f0, a->Fd0));
    for (int j = 1; j <= s->m; j++) {
        double *g = a->g[j % 2], *v = a->gd[j % 2];
        rkc_recur(s, j, (size_t)c->N, r->h, a->start, last.g, before.g, F, a->f0, g);
        rkc_recur(s, j, (size_t)c->N * (size_t)d->m, 1, v0, last.v, before.v, Fd, a->Fd0, v);
        before = last;
        last = (stage){g, v};
        if (j == s->m) break;
        TRY(rkc_slope(c, rkc_time(r, s->c[j - 1]), g, a->F));
        TRY(slopes(c, r, d, s->c[j - 1], last, a->F, a->Fd));
        F = a->F;
        Fd = a->Fd;
    }
    *end = last;
    return 0;
}

/* y+' without the integrals before the step, into out (N*m) */
static int last_stages(stepper *c, const record *r, const directions *d, const degree *s, const stage *from,
                       double *out)
{
    rkc_work *a = rkc_of(c);
    size_t N = (size_t)c->N, all = N * (size_t)d->m;
    for (int i = 1; i <= s->r; i++) {
        stage Y = *from;
        double *K = a->K + (size_t)(i - 1) * N;
        if (i > 1) {
            combine(N, a->Y, from->g, r->h, i - 1, rkc_row(s, i), a->K, N);
            combine(all, a->Yd, from->v, 1, i - 1, rkc_row(s, i), a->Kd, all);
            Y = (stage){a->Y, a->Yd};
        }
        TRY(rkc_slope(c, rkc_time(r, s->cr[i - 1]), Y.g, K));
        TRY(slopes(c, r, d, s->cr[i - 1], Y, K, a->Kd + (size_t)(i - 1) * all));
    }
    combine(N, a->Y, from->g, r->h, s->r, s->b, a->K, N);
    combine(all, out, from->v, 1, s->r, s->b, a->Kd, all);
    return 0;
}

/* the tangents of h X, of which est' is one; a->Y: y+ */
static int stage_variables(stepper *c, const record *r, const directions *d, const degree *s)
{
    rkc_work *a = rkc_of(c);
    size_t n = (size_t)c->n, N = (size_t)c->N, m = (size_t)d->m, all = N * m;
    TRY(rkc_slope(c, r->end, a->Y, a->f1));
    TRY(slopes(c, r, d, 1, (stage){a->Y, d->V1}, a->f1, a->Fd));
    for (size_t j = 0; j < m; j++) {
        const double *V = d->V + j * N, *V1 = d->V1 + j * N, *F0 = a->Fd0 + j * N, *F1 = a->Fd + j * N;
        double *X[X_ALL];
        for (size_t k = 0; k < X_ALL; k++) X[k] = d->Xd + (k * m + j) * n;
        combine(n, X[X_ERROR], NULL, 1, s->r, s->e, a->Kd + j * N, all);
        for (size_t i = 0; i < n; i++) {
            X[X_SLOPE][i] = F0[i];
            X[X_MOVE][i] = V1[i] - V[i];
            X[X_ERROR][i] += s->e0 * F0[i] + s->e1 * F1[i] - s->ey * (V1[i] - V[i]);
            X[X_LAST][i] = F1[i];
        }
    }
    return 0;
}

int rkc_tangent(stepper *c, const record *r, const directions *d)
{
    rkc_work *a = rkc_of(c);
    size_t n = (size_t)c->n, N = (size_t)c->N, m = (size_t)d->m;
    degree s = rkc_degree(c, rkc_find(c, r->degree));
    double *v0 = a->gd[3];
    stage end;
    rkc_start(c, r);
    TRY(rkc_slope(c, r->t, a->start, a->f0));
    memcpy(v0, d->V, N * m * sizeof *v0);
    for (size_t j = 0; j < m; j++) memset(v0 + j * N + n, 0, (N - n) * sizeof *v0);
    TRY(recurrence(c, r, d, &s, v0, &end));
    TRY(last_stages(c, r, d, &s, &end, d->V1));
    if (c->o->tangent_error || d->stages) TRY(stage_variables(c, r, d, &s));
    for (size_t j = 0; j < m; j++) axpy(N - n, 1, d->V + j * N + n, d->V1 + j * N + n);
    return 0;
}
