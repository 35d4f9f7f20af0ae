/* solution.c - a solution on a mesh: its layout in memory, the times of the mesh, y and q at any time between a and b
   (mathematics, eq. 12.2).

   A mesh point keeps its relative position in its piece, between two of the ends a, breaks, b:  t = e + from (e' - e),
   h = part (e' - e).  Derivatives with respect to the ends are those of the mesh that moves with them. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/invariant.h"
#include "base/vec.h"
#include "bvp/bvp.h"

void solution_free(solution *x)
{
    free(x->block);
    free(x->piece);
    *x = (solution){0};
}

int solution_new(bvp *b, solution *x, int N)
{
    size_t k = (size_t)N, all = solution_unknowns(b, N);
    solution_free(x);
    x->block = calloc(4 * k + 1 + all + (k + 1) * (size_t)b->nq, sizeof *x->block);
    x->piece = calloc(k, sizeof *x->piece);
    if (!x->block || !x->piece) {
        solution_free(x);
        return fail(&b->v, COSTATE_NO_MEMORY, "No memory for a mesh of %d intervals.", N);
    }
    x->N = N;
    x->from = x->block;
    x->part = x->from + k;
    x->h = x->part + k;
    x->t = x->h + k;
    x->z = x->t + k + 1;
    x->q = x->z + all;
    return COSTATE_OK;
}

void solution_place(const bvp *b, solution *x)
{
    const double *ends = b->ends;
    for (int i = 0; i < x->N; i++) {
        double from = ends[x->piece[i]], length = ends[x->piece[i] + 1] - from;
        x->t[i] = from + x->from[i] * length;
        x->h[i] = x->part[i] * length;
    }
    x->t[x->N] = ends[b->nends - 1];
    INVARIANT(solution_is_valid(b, x));
}

/* Times go from a to b, and every break is a point of the mesh. */
int solution_is_valid(const bvp *b, const solution *x)
{
    double sign = b->ends[b->nends - 1] > b->ends[0] ? 1 : -1;
    if (x->N < 1 || x->t[0] != b->ends[0] || x->piece[0] != 0 || x->piece[x->N - 1] != b->nends - 2) return 0;
    for (int i = 0; i < x->N; i++) {
        if (!(sign * x->h[i] > 0) || !(sign * (x->t[i + 1] - x->t[i]) > 0)) return 0;
        if (i == 0 || x->piece[i] == x->piece[i - 1]) continue;
        if (x->piece[i] != x->piece[i - 1] + 1 || x->t[i] != b->ends[x->piece[i]]) return 0;
    }
    return 1;
}

/* the first interval of piece k, or N */
static int first_of(const solution *x, int k)
{
    int low = 0, high = x->N;
    while (low < high) {
        int middle = (low + high) / 2;
        if (x->piece[middle] < k) low = middle + 1;
        else high = middle;
    }
    return low;
}

int solution_find(const bvp *b, const solution *x, double t, mesh_point *at)
{
    const double *ends = b->ends;
    double sign = x->h[0] > 0 ? 1 : -1;
    int low = 0, high = x->N, last = b->nends - 1;
    if (!(sign * t >= sign * ends[0] && sign * t <= sign * ends[last])) return 0;
    *at = (mesh_point){.end = -1};
    for (int k = 0; k <= last; k++) {
        if (t != ends[k]) continue;
        *at = (mesh_point){.end = k, .i = k == last ? x->N - 1 : first_of(x, k), .right = k == last};
        at->theta = at->right;
        return 1;
    }
    while (high - low > 1) {
        int middle = (low + high) / 2;
        if (sign * x->t[middle] <= sign * t) low = middle;
        else high = middle;
    }
    at->i = low;
    at->theta = (t - x->t[low]) / x->h[low];
    return 1;
}

/* ---- y ---- */

void solution_state(const bvp *b, const solution *x, const mesh_point *at, double *y)
{
    size_t n = (size_t)b->n;
    double D[STAGES_MOST];
    if (at->end >= 0) { memcpy(y, y_of(b, x->z, at->i + at->right), n * sizeof *y); return; }
    rk_weights(&b->rk, at->theta, D, NULL, NULL);
    combine(n, y, y_of(b, x->z, at->i), 1, b->s, D, X_of(b, x->z, at->i), n);
}

void solution_slope(const bvp *b, const solution *x, int i, double theta, double *dy)
{
    double D1[STAGES_MOST];
    rk_weights(&b->rk, theta, NULL, D1, NULL);
    combine((size_t)b->n, dy, NULL, 1, b->s, D1, X_of(b, x->z, i), (size_t)b->n);
}

/* ---- q ---- */

/* q += h sum_j D_j r at stage j */
static int integrate(bvp *b, const solution *x, int i, const double *D, double *q)
{
    for (int j = 0; j < b->s; j++) {
        costate_point at = stage_point(b, x, i, j);
        TRY(map_value(&b->maps, &b->maps.cost, at.t, at.y, b->stage.E2));
        axpy((size_t)b->nq, x->h[i] * D[j], b->stage.E2, q);
    }
    return 0;
}

int solution_integrals(bvp *b, solution *x)
{
    size_t nq = (size_t)b->nq;
    if (nq == 0) return 0;
    memset(x->q, 0, nq * sizeof *x->q);
    for (int i = 0; i < x->N; i++) {
        double *q = x->q + (size_t)i * nq;
        memcpy(q + nq, q, nq * sizeof *q);
        TRY(integrate(b, x, i, b->rk.b, q + nq));
    }
    return 0;
}

int solution_integral_at(bvp *b, const solution *x, const mesh_point *at, double *q)
{
    size_t nq = (size_t)b->nq;
    double D[STAGES_MOST];
    if (nq == 0) return 0;
    memcpy(q, x->q + (size_t)(at->i + at->right) * nq, nq * sizeof *q);
    if (at->end >= 0) return 0;
    rk_weights(&b->rk, at->theta, D, NULL, NULL);
    return integrate(b, x, at->i, D, q);
}
