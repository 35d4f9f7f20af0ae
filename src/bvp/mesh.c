/* mesh.c - meshes: the initial mesh, the one adapted to error estimates, and halving (mathematics, eq. 12.14).

   Errors are O(h^(order of u + 1)): an interval should be divided into (error/TARGET)^(1/(order + 1)) new ones.  The
   new mesh points equidistribute the sum of these numbers. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "bvp/bvp.h"

static const double TARGET = 0.3;               /* target error: estimates on a coarse mesh are rough */
static const double GROWTH = 2;                 /* largest growth of the number of intervals, apart from a few */
static const double FINEST = 10, COARSEST = 0.1;        /* limits of the parts of one interval */

/* the number of parts for each interval that gives errors of `target`; returns their sum */
static double parts_for(const bvp *b, const double *error, double target, double *parts)
{
    double sum = 0;
    for (int i = 0; i < b->now.N; i++) {
        double wish = pow(error[i] / target, 1.0 / (b->rk.dense + 1));
        parts[i] = fmin(FINEST, fmax(COARSEST, wish));
        sum += parts[i];
    }
    return sum;
}

/* While errors are large they show where the mesh must be refined, but not how much: its growth is limited. */
static void choose_parts(const bvp *b, const double *error, double more, double *parts)
{
    double target = TARGET, most = GROWTH * b->now.N + 8;
    while (parts_for(b, error, target, parts) > most && target < 1e300) target *= 4;
    for (int i = 0; i < b->now.N; i++) parts[i] *= more;
}

static int piece_end(const solution *x, int from)
{
    int to = from;
    while (to < x->N && x->piece[to] == x->piece[from]) to++;
    return to;
}

/* replaces the intervals from `from` to `to` by `count` new ones, stored from interval `at` on */
static void cut(const solution *x, int from, int to, const double *parts, double sum, int count, solution *out, int at)
{
    double before = 0;                          /* parts before interval i */
    int i = from;
    for (int k = 0; k < count; k++) {
        double target = sum * k / count;
        while (i < to - 1 && before + parts[i] <= target) before += parts[i++];
        out->piece[at + k] = x->piece[from];
        out->from[at + k] = k == 0 ? 0 : x->from[i] + x->part[i] * (target - before) / parts[i];
    }
    for (int k = 0; k < count; k++) out->part[at + k] = (k + 1 < count ? out->from[at + k + 1] : 1) - out->from[at + k];
}

/* the number of intervals of each piece, reduced to fit max_mesh */
static int share_out(const bvp *b, const double *sums, int pieces, int *count)
{
    double all = 0;
    int total = 0;
    for (int k = 0; k < pieces; k++) all += sums[k];
    double less = fmin(1, (b->o.max_mesh - pieces) / fmax(all, 1e-300));
    for (int k = 0; k < pieces; k++) total += count[k] = (int)ceil(fmax(1, less < 1 ? floor(sums[k] * less) : sums[k]));
    return total;
}

int mesh_next(bvp *b, const double *error, double more, solution *out)
{
    const solution *x = &b->now;
    int pieces = b->nends - 1, k = 0, at = 0;
    double *sums = malloc(((size_t)x->N + (size_t)pieces) * sizeof *sums), *parts = sums ? sums + pieces : NULL;
    int *count = malloc((size_t)pieces * sizeof *count), status = 0;
    if (!sums || !count) status = fail(&b->v, COSTATE_NO_MEMORY, "No memory for a mesh.");
    if (status == 0) choose_parts(b, error, more, parts);
    for (int from = 0, to; status == 0 && from < x->N; from = to, k++) {
        sums[k] = 0;
        to = piece_end(x, from);
        for (int i = from; i < to; i++) sums[k] += parts[i];
    }
    if (status == 0) status = solution_new(b, out, share_out(b, sums, pieces, count));
    k = 0;
    for (int from = 0, to; status == 0 && from < x->N; from = to, at += count[k++])
        cut(x, from, to = piece_end(x, from), parts, sums[k], count[k], out, at);
    free(sums);
    free(count);
    if (status == 0) solution_place(b, out);
    return status;
}

int mesh_halved(bvp *b, const solution *x, solution *out)
{
    TRY(solution_new(b, out, 2 * x->N));
    for (int i = 0; i < 2 * x->N; i++) {
        int k = i / 2;
        out->piece[i] = x->piece[k];
        out->part[i] = x->part[k] / 2;
        out->from[i] = x->from[k] + (i % 2) * out->part[i];
    }
    solution_place(b, out);
    return 0;
}

/* ---- the initial mesh ---- */

static int equidistant(bvp *b, solution *out)
{
    int pieces = b->nends - 1, total = 0, at = 0;
    double length = b->ends[pieces] - b->ends[0];
    for (int k = 0; k < pieces; k++)
        total += (int)ceil(b->o.intervals * (b->ends[k + 1] - b->ends[k]) / length - 1e-9);
    TRY(solution_new(b, out, total));
    for (int k = 0; k < pieces; k++) {
        int count = (int)ceil(b->o.intervals * (b->ends[k + 1] - b->ends[k]) / length - 1e-9);
        for (int i = 0; i < count; i++, at++) {
            out->piece[at] = k;
            out->from[at] = (double)i / count;
            out->part[at] = 1.0 / count;
        }
    }
    return 0;
}

/* the points t of the user (NULL: equidistant ones), and the breaks */
static int from_points(bvp *b, int points, const double *times, solution *out)
{
    int pieces = b->nends - 1, at = 0;
    double sign = b->ends[pieces] > b->ends[0] ? 1 : -1, all = b->ends[pieces] - b->ends[0];
    TRY(solution_new(b, out, points + pieces));
    for (int k = 0; k < pieces; k++) {
        double from = b->ends[k], length = b->ends[k + 1] - from;
        int first = at;
        out->piece[at] = k;
        out->from[at++] = 0;
        for (int i = 0; i < points; i++) {
            double t = times ? times[i] : b->ends[0] + all * i / (points - 1);
            if (!(sign * t > sign * from && sign * t < sign * b->ends[k + 1])) continue;
            out->piece[at] = k;
            out->from[at++] = (t - from) / length;
        }
        for (int i = first; i < at; i++) out->part[i] = (i + 1 < at ? out->from[i + 1] : 1) - out->from[i];
    }
    out->N = at;
    return 0;
}

static int as_before(bvp *b, solution *out)
{
    const solution *x = &b->last;
    size_t k = (size_t)x->N;
    TRY(solution_new(b, out, x->N));
    memcpy(out->piece, x->piece, k * sizeof *x->piece);
    memcpy(out->from, x->from, k * sizeof *x->from);
    memcpy(out->part, x->part, k * sizeof *x->part);
    return 0;
}

/* A guess with more intervals than the initial mesh would have may resolve details that this mesh does not. */
static int guess_is_mesh(const bvp *b)
{
    int intervals = b->guess.points - 1;
    return !b->o.fixed && intervals > b->o.intervals && intervals + b->nends <= b->o.max_mesh;
}

int mesh_given(bvp *b, solution *out)
{
    if (b->mesh.points) TRY(from_points(b, b->mesh.points, b->mesh.t, out));
    else if (b->last.N && !b->guess.points) TRY(as_before(b, out));
    else if (guess_is_mesh(b)) TRY(from_points(b, b->guess.points, b->guess.t, out));
    else TRY(equidistant(b, out));
    solution_place(b, out);
    return 0;
}
