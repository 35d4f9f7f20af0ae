/* tangent.c - tangents of the solution: W z' = -G_theta theta', then those of (y, q) at points (mathematics, eq. 12.6).

       stages       -h E'(T', 0, -(h'/h) K, p'),   T' = t' + c_j h',   K = X/h
       conditions   -g_p p' + c'
       q'           + sum_j b_j (h' r_j + h r'_j);   inside: D_j(theta) for b_j, and theta' sum_j D_j' h r_j more */
#include <string.h>
#include "base/vec.h"
#include "bvp/derive.h"

/* right sides of stage j of interval i */
static int stage_sides(derivation *d, int i, int j)
{
    bvp *b = d->b;
    size_t n = (size_t)b->n;
    double h = d->x->h[i];
    costate_point x = stage_point(b, d->x, i, j);
    for (int c = 0; c < d->m; c++) {
        d->dx[c] = along_pm(&b->maps, d->dt[c] + b->rk.c[j] * d->dh[c], NULL, d->along.p, (size_t)c);
        add_scaled(n, d->k + (size_t)c * n, NULL, -d->dh[c] / h, b->stage.K);
    }
    TRY(equation_tangents(&b->maps, &x, d->m, d->dx, d->k, n, d->out, n));
    for (int c = 0; c < d->m; c++)
        add_scaled(n, column(d, d->z, c) + (size_t)i * (size_t)b->L + (size_t)j * n, NULL, -h, d->out + (size_t)c * n);
    return 0;
}

static int condition_sides(derivation *d)
{
    bvp *b = d->b;
    size_t n = (size_t)b->n;
    costate_point x = conditions_point(b, d->x);
    for (int c = 0; c < d->m; c++) {
        double *out = column(d, d->z, c) + d->all - n;
        costate_point dx = {.p = p_of(&b->edge.maps, d->along.p, (size_t)c)};
        if (dx.p) TRY(map_tangent(&b->edge.maps, &b->edge.g, &x, &dx, d->out));
        else memset(d->out, 0, n * sizeof *d->out);
        for (size_t r = 0; r < n; r++) out[r] = (d->along.c ? d->along.c[(size_t)c * n + r] : 0) - d->out[r];
    }
    return 0;
}

int tangents(derivation *d)
{
    bvp *b = d->b;
    memset(d->z, 0, d->all * (size_t)d->m * sizeof *d->z);
    for (int i = 0; (d->along.p || d->along.ends) && i < d->x->N; i++) {
        derivation_motion(d, i);
        for (int j = 0; j < b->s; j++) TRY(stage_sides(d, i, j));
    }
    TRY(condition_sides(d));
    b->count.solves += d->m;
    return b->linear.by->solve(b, 0, d->m, d->z);
}

/* ---- at points ---- */

/* r at the stages of interval i, and its tangents */
static int stage_rates(derivation *d, int i)
{
    bvp *b = d->b;
    size_t nq = (size_t)b->nq, m = (size_t)d->m;
    for (int j = 0; j < b->s; j++) {
        costate_point x = derivation_stage(d, i, j);
        TRY(map_value(&b->maps, &b->maps.cost, x.t, x.y, d->rates + (size_t)j * nq));
        TRY(map_tangents(&b->maps, &b->maps.cost, &x, d->m, d->dx, d->slopes + (size_t)j * nq * m, nq));
    }
    return 0;
}

/* q'_c + sum_j D_j (h' r_j + h r'_j) */
static void integrate(const derivation *d, int i, int c, const double *D, double *q)
{
    const bvp *b = d->b;
    size_t nq = (size_t)b->nq, m = (size_t)d->m;
    for (size_t j = 0; j < (size_t)b->s; j++) {
        axpy(nq, D[j] * d->dh[c], d->rates + j * nq, q);
        axpy(nq, D[j] * d->x->h[i], d->slopes + (j * m + (size_t)c) * nq, q);
    }
}

static void point_column(derivation *d, int k, int c)
{
    const bvp *b = d->b;
    const mesh_point *at = &d->points.at[k];
    size_t n = (size_t)b->n, nq = (size_t)b->nq, i = (size_t)at->i;
    double *z = column(d, d->z, c), *V = d->V + point_row(d, k, c) * (n + nq), *q = V + n;
    memcpy(q, d->qd + (size_t)c * nq, nq * sizeof *q);
    if (at->end >= 0) {
        memcpy(V, y_of(b, z, at->i + at->right), n * sizeof *V);
        if (at->right) integrate(d, at->i, c, b->rk.b, q);
        return;
    }
    double theta = derivation_theta(d, k, c), D[STAGES_MOST], D1[STAGES_MOST];
    rk_weights(&b->rk, at->theta, D, D1, NULL);
    combine(n, V, y_of(b, z, at->i), 1, b->s, D, X_of(b, z, at->i), n);
    combine(n, V, V, theta, b->s, D1, X_of(b, d->x->z, at->i), n);
    if (nq == 0) return;
    integrate(d, at->i, c, D, q);
    combine(nq, q, q, theta * d->x->h[i], b->s, D1, d->rates, nq);
}

int tangents_at_points(derivation *d)
{
    bvp *b = d->b;
    size_t nq = (size_t)b->nq;
    memset(d->qd, 0, nq * (size_t)d->m * sizeof *d->qd);
    for (int i = 0; i < d->x->N; i++) {
        derivation_motion(d, i);
        if (nq > 0) TRY(stage_rates(d, i));
        for (int k = d->points.first[i]; k >= 0; k = d->points.next[k])
            for (int c = 0; c < d->m; c++) point_column(d, k, c);
        for (int c = 0; nq > 0 && c < d->m; c++) integrate(d, i, c, b->rk.b, d->qd + (size_t)c * nq);
    }
    return 0;
}

int directions_finite(bvp *b, int columns, int count, const theta_directions *v)
{
    size_t m = (size_t)(columns > 0 ? columns : 0), points = (size_t)(count > 0 ? count : 0);
    const struct { const char *name; const double *V; size_t count; } table[] = {
        {"Vp", v->p, (size_t)b->np * m}, {"Vends", v->ends, (size_t)b->nends * m}, {"Vtimes", v->times, points * m},
        {"Vc", v->c, (size_t)b->n * m},
    };
    for (size_t k = 0; k < sizeof table / sizeof *table; k++)
        if (table[k].V && !all_finite(table[k].count, table[k].V))
            return fail(&b->v, COSTATE_BAD_ARGUMENT, "%s holds a NaN or Inf.", table[k].name);
    return 0;
}

int call_bvp_tangent(costate_bvp *b, const costate_bvp_tangents *s)
{
    TRY(bvp_begin(b));
    if (!s || !s->V) return fail(&b->v, COSTATE_BAD_ARGUMENT, "%s is NULL.", s ? "tangents.V" : "tangents");
    derivation d = {.m = s->m, .points = {.count = s->points, .t = s->t}, .V = s->V,
                    .along = {b->np ? s->Vp : NULL, s->Vends, s->Vtimes, s->Vc}};
    TRY(directions_finite(b, s->m, s->points, &d.along));
    int status = derivation_begin(b, &d, BY_TANGENT);
    size_t values = (size_t)b->N_all * point_row(&d, 0, d.m);
    if (status == 0) status = tangents(&d);
    if (status == 0) status = tangents_at_points(&d);
    if (status == 0) status = space_finite(&b->maps.space, values, d.V);
    if (d.b) derivation_end(&d);
    return bvp_failed(b, status, "a derivative of the solution");
}
