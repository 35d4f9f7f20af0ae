/* guess.c - initial values of Newton's iteration: the dense output on another mesh, or linear interpolation between
   points given by the user. */
#include <stdlib.h>
#include <string.h>
#include "base/vec.h"
#include "bvp/bvp.h"

/* ---- from another mesh: relative positions in a piece are kept, so that other ends stretch it ---- */

static int interval_at(const solution *x, int piece, double from)
{
    int low = 0, high = x->N;
    while (high - low > 1) {
        int middle = (low + high) / 2;
        int before = x->piece[middle] < piece || (x->piece[middle] == piece && x->from[middle] <= from);
        if (before) low = middle;
        else high = middle;
    }
    return low;
}

static void transfer(const bvp *b, const solution *from, solution *to)
{
    size_t n = (size_t)b->n;
    double D[STAGES_MOST];
    for (int i = 0; i < to->N; i++) {
        int old = interval_at(from, to->piece[i], to->from[i]);
        rk_weights(&b->rk, (to->from[i] - from->from[old]) / from->part[old], D, NULL, NULL);
        combine(n, y_of(b, to->z, i), y_of(b, from->z, old), 1, b->s, D, X_of(b, from->z, old), n);
        for (int j = 0; j < b->s; j++) {
            double *X = X_of(b, to->z, i) + (size_t)j * n, at = to->from[i] + b->rk.c[j] * to->part[i];
            old = interval_at(from, to->piece[i], at);
            solution_slope(b, from, old, (at - from->from[old]) / from->part[old], X);
            add_scaled(n, X, NULL, to->part[i] / from->part[old], X);
        }
    }
    memcpy(y_of(b, to->z, to->N), y_of(b, from->z, from->N), n * sizeof(double));
}

/* ---- from the user's points ---- */

void replace_points(given_points *to, given_points by)
{
    free(to->t);
    free(to->y);
    *to = by;
}

/* time of point k */
static double time_of(const bvp *b, int k)
{
    double a = b->ends[0], end = b->ends[b->nends - 1];
    if (b->guess.t) return b->guess.t[k];
    return b->guess.points == 1 ? a : a + (end - a) * k / (b->guess.points - 1);
}

/* the linear interpolant at t, and its slope */
static void line(const bvp *b, double t, double *y, double *slope)
{
    size_t n = (size_t)b->n;
    double sign = b->ends[b->nends - 1] > b->ends[0] ? 1 : -1;
    int k = 0, last = b->guess.points - 1;
    while (k < last && sign * time_of(b, k + 1) <= sign * t) k++;
    const double *y0 = b->guess.y + (size_t)k * n, *y1 = y0 + n;
    double from = time_of(b, k);
    if (k == last || sign * t < sign * from) {
        if (y) memcpy(y, y0, n * sizeof *y);
        if (slope) memset(slope, 0, n * sizeof *slope);
        return;
    }
    double length = time_of(b, k + 1) - from;
    for (size_t c = 0; c < n; c++) {
        double rise = (y1[c] - y0[c]) / length;
        if (y) y[c] = y0[c] + rise * (t - from);
        if (slope) slope[c] = rise;
    }
}

static void by_lines(const bvp *b, solution *to)
{
    size_t n = (size_t)b->n;
    for (int i = 0; i < to->N; i++) {
        line(b, to->t[i], y_of(b, to->z, i), NULL);
        for (int j = 0; j < b->s; j++) {
            double *X = X_of(b, to->z, i) + (size_t)j * n;
            line(b, stage_time(b, to, i, j), NULL, X);
            add_scaled(n, X, NULL, to->h[i], X);
        }
    }
    line(b, to->t[to->N], y_of(b, to->z, to->N), NULL);
}

void bvp_guess(bvp *b, const solution *from, solution *to)
{
    if (!from && b->guess.points) by_lines(b, to);
    else if (from || b->last.N) transfer(b, from ? from : &b->last, to);
}
