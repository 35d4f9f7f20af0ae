/* derive.c - prepares a call for derivatives: checks that products are available, finds its points, factors W, lays out
   work space; and the motion of the mesh with its ends (mathematics, eq. 12.2). */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/vec.h"
#include "bvp/derive.h"
#include "maps/callbacks.h"

/* ---- products that are required ---- */

static int missing(bvp *b, const char *product)
{
    return fail(&b->v, COSTATE_MISSING, "conditions.map.%s is missing: it is needed here (or set options.differences = "
                "1).", product);
}

static int products(bvp *b, const derivation *d, int which)
{
    const costate_map *g = &b->edge.user.map;
    int by_p = b->np > 0 && (d->along.p || d->into.p), by_t = d->along.ends || d->into.ends;
    unsigned rhs = EXACT_JACOBIAN, cost = 0;
    if ((which & BY_TANGENT) && ((b->np > 0 && d->along.p) || d->along.ends)) rhs |= TANGENT_OF;
    if (which & BY_TANGENT) cost |= TANGENT_OF;
    if ((which & BY_ADJOINT) && ((b->np > 0 && d->into.p) || d->into.ends)) rhs |= ADJOINT_OF;
    if (which & BY_ADJOINT) cost |= ADJOINT_OF;
    if (which & BY_SECOND) { rhs |= ADJOINT_OF | ADJOINT_TANGENT_OF; cost |= ADJOINT_TANGENT_OF; }
    TRY(maps_have(&b->maps, rhs, cost, by_p, by_t));
    if (b->o.differences) return 0;
    if (!has_tangent(g) && !has_adjoint(g)) return missing(b, "tangent (or adjoint)");
    if ((which & BY_TANGENT) && b->np > 0 && d->along.p && !has_tangent(g)) return missing(b, "tangent");
    if ((which & BY_ADJOINT) && b->np > 0 && d->into.p && !has_adjoint(g)) return missing(b, "adjoint");
    if ((which & BY_SECOND) && !g->adjoint_tangent) return missing(b, "adjoint_tangent");
    return 0;
}

static int arguments(bvp *b, const derivation *d, int which)
{
    if (!b->solved)
        return fail(&b->v, COSTATE_BAD_ARGUMENT, "There is no solution to differentiate: costate_bvp_solve comes "
                    "first, and is to succeed.");
    if (d->m < 1) return fail(&b->v, COSTATE_BAD_ARGUMENT, "m = %d: at least one column is needed.", d->m);
    if (d->points.count < 1 || !d->points.t)
        return fail(&b->v, COSTATE_BAD_ARGUMENT, "points = %d, t is %s: at least one point is needed.", d->points.count,
                    d->points.t ? "given" : "NULL");
    return products(b, d, which);
}

/* ---- points ---- */

static int find_points(bvp *b, derivation *d)
{
    for (int i = 0; i < d->x->N; i++) d->points.first[i] = -1;
    for (int k = 0; k < d->points.count; k++) {
        if (!solution_find(b, d->x, d->points.t[k], &d->points.at[k]))
            return fail(&b->v, COSTATE_OUT_OF_RANGE, "t[%d] = %.17g is not between a = %.17g and b = %.17g.", k,
                        d->points.t[k], b->ends[0], b->ends[b->nends - 1]);
        d->points.next[k] = d->points.first[d->points.at[k].i];
        d->points.first[d->points.at[k].i] = k;
    }
    return 0;
}

/* ---- work ---- */

static void derive_layout(derivation *d, cursor *at)
{
    bvp *b = d->b;
    size_t n = (size_t)b->n, nq = (size_t)b->nq, m = (size_t)d->m, s = (size_t)b->s, most = n > nq ? n : nq;
    maps_layout_columns(&b->maps, at, d->m);
    d->z = take(at, d->all * m);
    TAKE(at, m, &d->dt, &d->dh, &d->tb);
    TAKE(at, n * m, &d->y, &d->k, &d->w, &d->K);
    d->out = take(at, most * m);
    d->rates = take(at, s * nq);
    d->slopes = take(at, s * nq * m);
    TAKE(at, nq * m, &d->omega, &d->tail, &d->qd);
}

static int lay_out(bvp *b, derivation *d)
{
    size_t m = (size_t)d->m, k = (size_t)d->points.count;
    cursor counting = {0};
    derive_layout(d, &counting);
    d->block = calloc(counting.used + 1, sizeof *d->block);
    d->points.at = malloc(k * sizeof *d->points.at);
    d->points.first = malloc(((size_t)d->x->N + k) * sizeof *d->points.first);
    d->dx = calloc(m, sizeof *d->dx);
    d->to = calloc(m, sizeof *d->to);
    if (!d->block || !d->points.at || !d->points.first || !d->dx || !d->to)
        return fail(&b->v, COSTATE_NO_MEMORY, "No memory for %d columns of derivatives on %d intervals.", d->m,
                    d->x->N);
    cursor at = {.base = d->block};
    derive_layout(d, &at);
    d->points.next = d->points.first + d->x->N;
    return 0;
}

int derivation_begin(bvp *b, derivation *d, int which)
{
    d->b = b;
    d->x = &b->now;
    d->nends = b->nends;
    TRY(arguments(b, d, which));
    d->all = unknowns(b);
    TRY(lay_out(b, d));
    TRY(find_points(b, d));
    maps_bind(&b->maps, b->p);
    maps_bind(&b->edge.maps, b->p);
    if (b->linear.factored) return 0;
    b->count.decompositions++;
    TRY(bvp_failed(b, b->linear.by->factor(b), "a derivative of the solution"));
    b->linear.factored = 1;
    return 0;
}

void derivation_end(derivation *d)
{
    cursor none = {0};
    maps_layout_columns(&d->b->maps, &none, 1);
    free(d->block);
    free(d->points.at);
    free(d->points.first);
    free(d->dx);
    free(d->to);
}

/* ---- the mesh in motion: t = (1 - from) e + from e', h = part (e' - e) ---- */

void derivation_motion(derivation *d, int i)
{
    const solution *x = d->x;
    for (int j = 0; j < d->m; j++) {
        const double *e = d->along.ends ? d->along.ends + (size_t)j * (size_t)d->nends + x->piece[i] : NULL;
        d->dt[j] = e ? (1 - x->from[i]) * e[0] + x->from[i] * e[1] : 0;
        d->dh[j] = e ? x->part[i] * (e[1] - e[0]) : 0;
    }
}

void derivation_to_ends(const derivation *d, int i, const double *dt, const double *dh)
{
    const solution *x = d->x;
    for (int j = 0; d->into.ends && j < d->m; j++) {
        double *e = d->into.ends + (size_t)j * (size_t)d->nends + x->piece[i];
        e[0] += (1 - x->from[i]) * dt[j] - x->part[i] * dh[j];
        e[1] += x->from[i] * dt[j] + x->part[i] * dh[j];
    }
}

void derivation_to_unknowns(const bvp *b, int i, int j, const double *y, double *z)
{
    size_t n = (size_t)b->n;
    const double *a = b->rk.A + (size_t)j * (size_t)b->s;
    axpy(n, 1, y, y_of(b, z, i));
    for (int l = 0; l < b->s; l++) if (a[l] != 0) axpy(n, a[l], y, X_of(b, z, i) + (size_t)l * n);
}

double derivation_theta(const derivation *d, int k, int j)
{
    const mesh_point *at = &d->points.at[k];
    double dt = d->along.times ? d->along.times[point_row(d, k, j)] : 0;
    return (dt - d->dt[j] - at->theta * d->dh[j]) / d->x->h[at->i];
}

costate_point derivation_stage(derivation *d, int i, int j)
{
    bvp *b = d->b;
    size_t n = (size_t)b->n, s = (size_t)b->s;
    double h = d->x->h[i];
    costate_point x = stage_point(b, d->x, i, j);
    for (int c = 0; c < d->m; c++) {
        double *z = column(d, d->z, c), *y = d->y + (size_t)c * n, *k = d->k + (size_t)c * n;
        const double *X = X_of(b, z, i);
        combine(n, y, y_of(b, z, i), 1, b->s, b->rk.A + (size_t)j * s, X, n);
        for (size_t l = 0; l < n; l++) k[l] = (X[(size_t)j * n + l] - d->dh[c] * b->stage.K[l]) / h;
        d->dx[c] = along_pm(&b->maps, d->dt[c] + b->rk.c[j] * d->dh[c], y, d->along.p, (size_t)c);
    }
    return x;
}
