/* multigrid.c - V-cycles on vertex-centred grids (U. Trottenberg, C. Oosterlee, A. Schueller, Multigrid, 2001, ch. 2).

   A grid of N points a side keeps points 1, 3, ... of its side; values between are interpolated linearly along each
   dimension, P, and residuals go back by P^T.  All matrices are sigma times a diagonal of cell volumes plus differences
   over the distances of neighbours, times the sizes of the faces between: symmetric, seven points at most.  The
   volumes of a coarser grid are P^T times those of the finer one.  Sweeps are damped Jacobi, as many before as after,
   from 0: a cycle is symmetric, and so are several.  The last grid has one point a side, or where it is periodic and
   odd as many, which are swept over often. */
#include "multigrid.h"

#include <stdlib.h>
#include <string.h>

enum { LEVELS = 16, COARSEST_SWEEPS = 16 };

/* Fields have a point more on each side of the grid: 0, or the other end of a periodic one. */
typedef struct {
    int points, width;           /* of a side; points times components: of a row */
    size_t next, row, plane, first, total;       /* of a field: how far points, rows, planes are apart; where the first
                                    point is */
    double *gap, *left, *right, *mass;   /* points (gap: and 1): distances to the left, their inverses, lengths */
    double *x_left, *x_right, *x_mass;   /* width: the same for all components */
    double *from_left, *from_right;      /* coarse width and one point: P at points 0, 2, ... */
    double *diagonal, *inverse;          /* fields: of the matrix; the damping over it */
    double *x, *b, *r;                   /* fields */
} level;

struct multigrid {
    ivp_grid g;
    int cycles, sweeps, count;
    level at[LEVELS];
    double *line;                /* a row of a coarser grid */
};

static int layers(const multigrid *q, const level *l) { return q->g.dimensions == 3 ? l->points : 1; }
static size_t where(const level *l, int j, int k) { return l->first + (size_t)j * l->row + (size_t)k * l->plane; }

/* ---- a level ----------------------------------------------------------------------------------------------------- */

static int level_new(const multigrid *q, level *l, int points)
{
    size_t m = (size_t)q->g.components, w = (size_t)points * m, side = (size_t)points + 2;
    l->points = points;
    l->width = (int)w;
    l->next = m;
    l->row = side * m;
    l->plane = side * l->row;
    l->first = m + l->row + (q->g.dimensions == 3 ? l->plane : 0);
    l->total = q->g.dimensions == 3 ? side * l->plane : l->plane;
    l->gap = calloc(4 * side + 5 * (w + 2 * m) + 5 * l->total, sizeof(double));
    if (!l->gap) return 0;
    l->left = l->gap + side;
    l->right = l->left + side;
    l->mass = l->right + side;
    l->x_left = l->mass + side;
    l->x_right = l->x_left + w;
    l->x_mass = l->x_right + w;
    l->from_left = l->x_mass + w;
    l->from_right = l->from_left + w + 2 * m;
    l->diagonal = l->from_right + w + 2 * m;
    l->inverse = l->diagonal + l->total;
    l->x = l->inverse + l->total;
    l->b = l->x + l->total;
    l->r = l->b + l->total;
    return 1;
}

/* from the distances; a point that is its own neighbour has no difference */
static void measure(const multigrid *q, level *l)
{
    int m = q->g.components, alone = q->g.periodic && l->points == 1;
    for (int i = 0; i < l->points; i++) {
        l->left[i] = alone ? 0 : 1 / l->gap[i];
        l->right[i] = alone ? 0 : 1 / l->gap[i + 1];
        for (int c = i * m; c < (i + 1) * m; c++) {
            l->x_left[c] = l->left[i];
            l->x_right[c] = l->right[i];
            l->x_mass[c] = l->mass[i];
        }
    }
}

/* distances and lengths of the next level, and the weights between: at even points of this one, by distances */
static void coarsen(const multigrid *q, level *l, level *to)
{
    int m = q->g.components, N = l->points;
    for (int c = 0; 2 * c <= N; c++) {
        int even = 2 * c, there = even < N;
        double a = l->gap[there ? even : N], b = there ? l->gap[even + 1] : 0;
        if (!there && q->g.periodic) b = l->gap[1];
        for (int k = c * m; k < (c + 1) * m; k++) {
            l->from_left[k] = there || q->g.periodic ? b / (a + b) : 0;
            l->from_right[k] = there ? a / (a + b) : 0;
        }
        to->gap[c] = a + b;
    }
    for (int c = 0; c < to->points; c++)
        to->mass[c] = l->mass[2 * c + 1] + l->from_right[c * m] * l->mass[2 * c] +
                      l->from_left[(c + 1) * m] * l->mass[2 * c + 2 < N ? 2 * c + 2 : 0];
    measure(q, to);
}

static int levels_new(multigrid *q)
{
    int N = q->g.side;
    if (!level_new(q, &q->at[q->count++], N)) return 0;
    for (int i = 0; i <= N; i++) q->at[0].gap[i] = q->at[0].mass[i < N ? i : 0] = 1;
    measure(q, &q->at[0]);
    for (; N > 1 && !(q->g.periodic && N % 2) && q->count < LEVELS; q->count++) {
        if (!level_new(q, &q->at[q->count], N /= 2)) return 0;
        coarsen(q, &q->at[q->count - 1], &q->at[q->count]);
    }
    q->line = calloc(q->at[0].row, sizeof *q->line);
    return q->line != NULL;
}

void multigrid_free(multigrid *q)
{
    if (!q) return;
    for (int k = 0; k < LEVELS; k++) free(q->at[k].gap);
    free(q->line);
    free(q);
}

multigrid *multigrid_new(const ivp_grid *g, int cycles, int sweeps)
{
    multigrid *q = calloc(1, sizeof *q);
    if (!q) return NULL;
    q->g = *g;
    q->cycles = cycles;
    q->sweeps = sweeps;
    if (levels_new(q)) return q;
    return multigrid_free(q), NULL;
}

/* ---- on a level -------------------------------------------------------------------------------------------------- */

/* the other ends around a periodic field */
static void wrap(const multigrid *q, const level *l, double *f)
{
    size_t m = (size_t)q->g.components, w = (size_t)l->width;
    int N = l->points, K = layers(q, l);
    if (!q->g.periodic) return;
    for (int k = 0; k < K; k++) {
        for (int j = 0; j < N; j++) {
            double *at = f + where(l, j, k);
            memcpy(at - m, at + w - m, m * sizeof *f);
            memcpy(at + w, at, m * sizeof *f);
        }
        double *low = f + where(l, 0, k) - m, *high = f + where(l, N - 1, k) - m;
        memcpy(low - l->row, high, l->row * sizeof *f);
        memcpy(high + l->row, low, l->row * sizeof *f);
    }
    if (q->g.dimensions < 3) return;
    memcpy(f, f + (size_t)N * l->plane, l->plane * sizeof *f);
    memcpy(f + (size_t)(N + 1) * l->plane, f + l->plane, l->plane * sizeof *f);
}

typedef struct { double x, south, north, below, above; } faces;          /* times the diffusion */

static faces faces_of(const multigrid *q, const level *l, int j, int k)
{
    double d = q->g.d, my = l->mass[j], mz = q->g.dimensions == 3 ? l->mass[k] : 1;
    faces s = {d * my * mz, d * l->left[j] * mz, d * l->right[j] * mz, 0, 0};
    if (q->g.dimensions == 3) s.below = d * l->left[k] * my, s.above = d * l->right[k] * my;
    return s;
}

/* out = b - A x of a row in two dimensions, of one in three; relaxed: x + inverse times that */
static inline void row2(const level *l, size_t at, faces s, int relaxed, double *restrict out)
{
    const double *x = l->x + at, *b = l->b + at, *a = l->diagonal + at, *t = l->inverse + at, *S = x - l->row,
                 *N = x + l->row, *W = x - l->next, *E = x + l->next;
    for (int i = 0; i < l->width; i++) {
        double r = b[i] - a[i] * x[i] + s.x * (l->x_left[i] * W[i] + l->x_right[i] * E[i]) +
                   l->x_mass[i] * (s.south * S[i] + s.north * N[i]);
        out[i] = relaxed ? x[i] + t[i] * r : r;
    }
}

static inline void row3(const level *l, size_t at, faces s, int relaxed, double *restrict out)
{
    const double *x = l->x + at, *b = l->b + at, *a = l->diagonal + at, *t = l->inverse + at, *S = x - l->row,
                 *N = x + l->row, *B = x - l->plane, *T = x + l->plane, *W = x - l->next,
                 *E = x + l->next;
    for (int i = 0; i < l->width; i++) {
        double r = b[i] - a[i] * x[i] + s.x * (l->x_left[i] * W[i] + l->x_right[i] * E[i]) +
                   l->x_mass[i] * (s.south * S[i] + s.north * N[i] + s.below * B[i] + s.above * T[i]);
        out[i] = relaxed ? x[i] + t[i] * r : r;
    }
}

/* r = b - A x, or x + inverse times that */
static void residual(const multigrid *q, level *l, int relaxed)
{
    wrap(q, l, l->x);
    for (int k = 0; k < layers(q, l); k++)
        for (int j = 0; j < l->points; j++) {
            size_t at = where(l, j, k);
            faces s = faces_of(q, l, j, k);
            if (q->g.dimensions == 3 && relaxed) row3(l, at, s, 1, l->r + at);
            else if (q->g.dimensions == 3) row3(l, at, s, 0, l->r + at);
            else if (relaxed) row2(l, at, s, 1, l->r + at);
            else row2(l, at, s, 0, l->r + at);
        }
}

/* Jacobi: the first sweep from 0 is x = inverse b */
static void relax(const multigrid *q, level *l, int sweeps, int from_zero)
{
    if (from_zero && sweeps-- > 0)
        for (int k = 0; k < layers(q, l); k++)
            for (int j = 0; j < l->points; j++) {
                size_t at = where(l, j, k);
                double *restrict x = l->x + at;
                const double *b = l->b + at, *t = l->inverse + at;
                for (int i = 0; i < l->width; i++) x[i] = t[i] * b[i];
            }
    while (sweeps-- > 0) {
        residual(q, l, 1);
        double *x = l->x;
        l->x = l->r;
        l->r = x;
    }
}

/* ---- between levels ---------------------------------------------------------------------------------------------- */

/* line = P^T of a row of r, of m components */
static inline void gather(const level *l, int count, int m, const double *r, double *restrict line)
{
    const double *a = l->from_right, *b = l->from_left + m;
    for (int c = 0; c < count; c++)
        for (int k = 0; k < m; k++)
            line[c * m + k] = a[c * m + k] * r[2 * c * m + k] + r[2 * c * m + m + k] +
                              b[c * m + k] * r[2 * c * m + 2 * m + k];
}

static void gather_row(const multigrid *q, const level *l, const level *to, const double *r)
{
    int m = q->g.components;
    if (m == 1) gather(l, to->points, 1, r, q->line);
    else if (m == 2) gather(l, to->points, 2, r, q->line);
    else gather(l, to->points, m, r, q->line);
}

/* y += P x of a row */
static inline void spread(const level *l, int m, const double *x, double *restrict y)
{
    const double *a = l->from_left, *b = l->from_right;
    int pairs = l->points / 2;
    for (int c = 0; c < pairs; c++)
        for (int k = 0; k < m; k++) {
            int at = c * m + k;
            y[2 * c * m + k] += a[at] * x[at - m] + b[at] * x[at];
            y[2 * c * m + m + k] += x[at];
        }
    for (int k = 0, at = pairs * m; l->points % 2 && k < m; k++, at++)
        y[2 * pairs * m + k] += a[at] * x[at - m] + b[at] * x[at];
}

static void spread_row(const multigrid *q, const level *l, const double *x, double *y)
{
    int m = q->g.components;
    if (m == 1) spread(l, 1, x, y);
    else if (m == 2) spread(l, 2, x, y);
    else spread(l, m, x, y);
}

/* Where point i of a side goes, and comes from: at most two coarse points with their weights */
typedef struct { int to[2]; double weight[2]; } ways;

static ways ways_of(const multigrid *q, const level *l, const level *coarse, int i)
{
    int c = i / 2, m = q->g.components, N = coarse->points;
    if (i % 2) return (ways){{c, c}, {1, 0}};
    int before = c - 1, here = c;
    if (q->g.periodic) before = (c - 1 + N) % N;
    return (ways){{before < 0 ? 0 : before, here < N ? here : N - 1},
                  {before < 0 ? 0 : l->from_left[c * m], here < N ? l->from_right[c * m] : 0}};
}

/* b of the coarse level = P^T r */
static void restrict_to(const multigrid *q, const level *l, const level *to)
{
    int deep = q->g.dimensions == 3;
    memset(to->b, 0, to->total * sizeof *to->b);
    for (int k = 0; k < layers(q, l); k++) {
        ways z = deep ? ways_of(q, l, to, k) : (ways){{0, 0}, {1, 0}};
        for (int j = 0; j < l->points; j++) {
            ways y = ways_of(q, l, to, j);
            gather_row(q, l, to, l->r + where(l, j, k));
            for (int e = 0; e < 4; e++) {
                double w = y.weight[e % 2] * z.weight[e / 2], *b = to->b + where(to, y.to[e % 2], z.to[e / 2]);
                for (int i = 0; w != 0 && i < to->width; i++) b[i] += w * q->line[i];
            }
        }
    }
}

/* x += P of that of the coarse level; line: a row of it with its ends */
static void prolong(const multigrid *q, const level *from, level *l)
{
    int deep = q->g.dimensions == 3, m = q->g.components;
    wrap(q, from, from->x);
    for (int k = 0; k < layers(q, l); k++) {
        ways z = deep ? ways_of(q, l, from, k) : (ways){{0, 0}, {1, 0}};
        for (int j = 0; j < l->points; j++) {
            ways y = ways_of(q, l, from, j);
            memset(q->line, 0, from->row * sizeof *q->line);
            for (int e = 0; e < 4; e++) {
                double w = y.weight[e % 2] * z.weight[e / 2];
                const double *x = from->x + where(from, y.to[e % 2], z.to[e / 2]) - m;
                for (size_t i = 0; w != 0 && i < from->row; i++) q->line[i] += w * x[i];
            }
            spread_row(q, l, q->line + m, l->x + where(l, j, k));
        }
    }
}

/* ---- cycles ------------------------------------------------------------------------------------------------------ */

static void cycle(multigrid *q, int k, int from_zero)
{
    level *l = &q->at[k];
    if (k == q->count - 1) {
        relax(q, l, l->points == 1 ? 1 : COARSEST_SWEEPS, 1);
        return;
    }
    relax(q, l, q->sweeps, from_zero);
    residual(q, l, 0);
    if (q->g.periodic) wrap(q, l, l->r);
    restrict_to(q, l, l + 1);
    cycle(q, k + 1, 1);
    prolong(q, l + 1, l);
    relax(q, l, q->sweeps, 0);
}

/* diagonal, of which b is the part by volume; the damping that is best for the smooth part of the Laplacian */
static void put_diagonal(multigrid *q, level *l)
{
    double damping = l->points == 1 ? 1 : q->g.dimensions == 3 ? 6.0 / 7 : 0.8;
    for (int k = 0; k < layers(q, l); k++)
        for (int j = 0; j < l->points; j++) {
            size_t at = where(l, j, k);
            faces s = faces_of(q, l, j, k);
            double across = s.south + s.north + s.below + s.above;
            for (int i = 0; i < l->width; i++) {
                size_t e = at + (size_t)i;
                l->diagonal[e] = l->b[e] + s.x * (l->x_left[i] + l->x_right[i]) + across * l->x_mass[i];
                l->inverse[e] = damping / l->diagonal[e];
            }
        }
}

void multigrid_setup(multigrid *q, double sigma, const double *reaction)
{
    level *l = q->at;
    size_t w = (size_t)l->width;
    for (int k = 0; k < layers(q, l); k++)
        for (int j = 0; j < l->points; j++) {
            const double *at = reaction ? reaction + (size_t)(j + k * l->points) * w : NULL;
            double *b = l->b + where(l, j, k);
            for (size_t i = 0; i < w; i++) b[i] = sigma - (at && at[i] < 0 ? at[i] : 0);
        }
    for (int k = 0; k < q->count; k++, l++) {
        put_diagonal(q, l);
        if (k == q->count - 1) return;
        memcpy(l->r, l->b, l->total * sizeof *l->r);
        wrap(q, l, l->r);
        restrict_to(q, l, l + 1);
    }
}

static void copy(const multigrid *q, double *field, double *x, int back)
{
    const level *l = q->at;
    size_t w = (size_t)l->width;
    for (int k = 0; k < layers(q, l); k++)
        for (int j = 0; j < l->points; j++, x += w) {
            double *at = field + where(l, j, k);
            memcpy(back ? x : at, back ? at : x, w * sizeof *x);
        }
}

void multigrid_solve(multigrid *q, double *x)
{
    copy(q, q->at[0].b, x, 0);
    for (int k = 0; k < q->cycles; k++) cycle(q, 0, k == 0);
    copy(q, q->at[0].x, x, 1);
}
