/* swe.c - the shallow-water equations on all cells: the callbacks of the problem and its pattern.

   Every callback gathers the upwind differences of a cell, calls the wave of swe_wave.h along x and along y, and
   puts the rates (value, tangents) or scatters the adjoints. */
#include "swe.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "swe_wave.h"

enum { ENTRIES = 65, COLUMN_H = 27, COLUMN_M = 19 };   /* structural entries a cell, of its columns h and hu, hv */

/* what all products at a cell share */
typedef struct {
    double i;                /* 1/h */
    local x, y;
    switches sx, sy;
    differences dx, dy;
    wave wx, wy;
} linear;

struct swe {
    costate_problem P;
    costate_pattern S;
    int nx, ny;
    double rx, ry;           /* 1/(6 dx), 1/(6 dy) */
    int *wrap;               /* the one allocation of all that follows */
    const int *wrapx, *wrapy; /* wrapx[i + 2] = i mod nx for i from -2 to nx + 1 */
    linear *line;            /* ny: of a row, while several columns go through it; shared: of all cells */
    int *col, *row;
    int *place;              /* ENTRIES a cell: where the cell's entries are in the values of the matrix */
};

/* ---- all cells ------------------------------------------------------------------------------------------------ */

/* What a cell reads and writes: state, directions a and b, weights w; out, by component. */
typedef struct {
    const double *h, *hu, *hv;
} field;
typedef struct {
    double rx, ry;
    field y, a, b, w;
    double *h, *hu, *hv;      /* out */
    linear *line;             /* of the cells from first on: in the products that share it */
    int first;
} job;

static field field_of(const swe *s, const double *y)
{
    size_t N = (size_t)s->nx * s->ny;
    return (field){y, y + N, y + 2 * N};
}
static job job_of(const swe *s, const double *y, const double *a, const double *b, const double *w, double *out)
{
    size_t N = (size_t)s->nx * s->ny;
    return (job){s->rx, s->ry, field_of(s, y), field_of(s, a ? a : y), field_of(s, b ? b : y),
                 field_of(s, w ? w : y), out, out ? out + N : NULL, out ? out + 2 * N : NULL,
                 s->line, 0};
}

/* Calls at(job, cell) for the cells of row i. */
static inline void sweep_row(const swe *s, int i, const job *J, void (*at)(const job *, cell))
{
    const int *X = s->wrapx + 2, *Y = s->wrapy + 2;
    int ny = s->ny, o = i * ny, b2 = X[i - 2] * ny, b1 = X[i - 1] * ny, a1 = X[i + 1] * ny, a2 = X[i + 2] * ny;
    for (int j = 0; j < ny; j++)
        at(J, (cell){o + j, b2 + j, b1 + j, a1 + j, a2 + j, o + Y[j - 2], o + Y[j - 1], o + Y[j + 1], o + Y[j + 2]});
}

/* for all cells */
static inline void sweep(const swe *s, const job *J, void (*at)(const job *, cell))
{
    for (int i = 0; i < s->nx; i++) sweep_row(s, i, J, at);
}

static inline differences differ_x(field f, cell k, switches s)
{
    return differ(s, slope_x(f.h, k), slope_x(f.hu, k), slope_x(f.hv, k));
}
static inline differences differ_y(field f, cell k, switches s)
{
    return differ(s, slope_y(f.h, k), slope_y(f.hv, k), slope_y(f.hu, k));
}

static inline void put(const job *J, cell k, rates x, rates y)
{
    J->h[k.o] = J->rx * x.h + J->ry * y.h;
    J->hu[k.o] = J->rx * x.m + J->ry * y.o;
    J->hv[k.o] = J->rx * x.o + J->ry * y.m;
}

static inline void value_at(const job *J, cell k)
{
    local x = local_of(J->y.h[k.o], J->y.hu[k.o], J->y.hv[k.o]), y = turned(x);
    rates rx = rates_of(x, wave_of(x, differ_x(J->y, k, upwind(x))));
    rates ry = rates_of(y, wave_of(y, differ_y(J->y, k, upwind(y))));
    put(J, k, rx, ry);
}

static inline linear linearised(const job *J, cell k)
{
    linear l = {.i = 1 / J->y.h[k.o], .x = local_of(J->y.h[k.o], J->y.hu[k.o], J->y.hv[k.o])};
    l.y = turned(l.x);
    l.sx = upwind(l.x);
    l.sy = upwind(l.y);
    l.dx = differ_x(J->y, k, l.sx);
    l.dy = differ_y(J->y, k, l.sy);
    l.wx = wave_of(l.x, l.dx);
    l.wy = wave_of(l.y, l.dy);
    return l;
}

static inline void linearise_at(const job *J, cell k) { J->line[k.o - J->first] = linearised(J, k); }

static inline void tangent_by(const job *J, cell k, const linear *l)
{
    local xa = local_tangent(l->x, l->i, J->a.h[k.o], J->a.hu[k.o], J->a.hv[k.o]), ya = turned(xa);
    wave wxa = wave_tangent(l->x, l->dx, l->wx, xa, differ_x(J->a, k, l->sx));
    wave wya = wave_tangent(l->y, l->dy, l->wy, ya, differ_y(J->a, k, l->sy));
    put(J, k, rates_tangent(l->x, l->wx, xa, wxa), rates_tangent(l->y, l->wy, ya, wya));
}

static inline void tangent_at(const job *J, cell k)
{
    linear l = linearised(J, k);
    tangent_by(J, k, &l);
}

static inline void tangent_on_line(const job *J, cell k) { tangent_by(J, k, &J->line[k.o - J->first]); }

static inline rates second(local q, differences d, differences da, differences db, local qa, local qb, local qab)
{
    wave w = wave_of(q, d), wa = wave_tangent(q, d, w, qa, da), wb = wave_tangent(q, d, w, qb, db);
    return rates_tangent2(q, w, qa, wa, qb, wb, qab, wave_tangent2(q, d, w, qa, da, wa, qb, db, wb, qab));
}

static inline void tangent2_at(const job *J, cell k)
{
    double i = 1 / J->y.h[k.o];
    local x = local_of(J->y.h[k.o], J->y.hu[k.o], J->y.hv[k.o]), y = turned(x);
    local xa = local_tangent(x, i, J->a.h[k.o], J->a.hu[k.o], J->a.hv[k.o]);
    local xb = local_tangent(x, i, J->b.h[k.o], J->b.hu[k.o], J->b.hv[k.o]);
    local xab = local_tangent2(x, i, xa, J->a.h[k.o], xb, J->b.h[k.o]);
    switches sx = upwind(x), sy = upwind(y);
    put(J, k,
        second(x, differ_x(J->y, k, sx), differ_x(J->a, k, sx), differ_x(J->b, k, sx), xa, xb, xab),
        second(y, differ_y(J->y, k, sy), differ_y(J->a, k, sy), differ_y(J->b, k, sy),
               turned(xa), turned(xb), turned(xab)));
}

static inline rates weights(double r, double h, double m, double o) { return (rates){r * h, r * m, r * o}; }

static inline local both(local x, local y) { return (local){x.u + y.v, x.v + y.u, x.c + y.c}; }

static inline void scatter_both(const job *J, cell k, switches sx, differences dx, switches sy, differences dy)
{
    scatter_x(J->h, k, slope_h(sx, dx));
    scatter_x(J->hu, k, slope_m(sx, dx));
    scatter_x(J->hv, k, slope_o(sx, dx));
    scatter_y(J->h, k, slope_h(sy, dy));
    scatter_y(J->hv, k, slope_m(sy, dy));
    scatter_y(J->hu, k, slope_o(sy, dy));
}

static inline void adjoint_by(const job *J, cell k, const linear *l)
{
    rates rx = weights(J->rx, J->w.h[k.o], J->w.hu[k.o], J->w.hv[k.o]);
    rates ry = weights(J->ry, J->w.h[k.o], J->w.hv[k.o], J->w.hu[k.o]);
    wave_bar bx = wave_adjoint(l->x, l->dx, l->wx, rx), by = wave_adjoint(l->y, l->dy, l->wy, ry);
    scatter_both(J, k, l->sx, bx.d, l->sy, by.d);
    local_adjoint(l->x, l->i, both(bx.q, by.q), &J->h[k.o], &J->hu[k.o], &J->hv[k.o]);
}

static inline void adjoint_at(const job *J, cell k)
{
    linear l = linearised(J, k);
    adjoint_by(J, k, &l);
}

static inline void adjoint_on_line(const job *J, cell k) { adjoint_by(J, k, &J->line[k.o - J->first]); }

static inline void adjoint_tangent_by(const job *J, cell k, const linear *l)
{
    local xa = local_tangent(l->x, l->i, J->a.h[k.o], J->a.hu[k.o], J->a.hv[k.o]), ya = turned(xa);
    rates rx = weights(J->rx, J->w.h[k.o], J->w.hu[k.o], J->w.hv[k.o]);
    rates ry = weights(J->ry, J->w.h[k.o], J->w.hv[k.o], J->w.hu[k.o]);
    differences dxa = differ_x(J->a, k, l->sx), dya = differ_y(J->a, k, l->sy);
    wave wxa = wave_tangent(l->x, l->dx, l->wx, xa, dxa), wya = wave_tangent(l->y, l->dy, l->wy, ya, dya);
    wave_bar bx = wave_adjoint(l->x, l->dx, l->wx, rx), by = wave_adjoint(l->y, l->dy, l->wy, ry);
    wave_bar bxa = wave_adjoint_tangent(l->x, l->dx, l->wx, xa, dxa, wxa, rx);
    wave_bar bya = wave_adjoint_tangent(l->y, l->dy, l->wy, ya, dya, wya, ry);
    scatter_both(J, k, l->sx, bxa.d, l->sy, bya.d);
    local_adjoint_tangent(l->x, l->i, both(bx.q, by.q), xa, J->a.h[k.o], both(bxa.q, bya.q),
                          &J->h[k.o], &J->hu[k.o], &J->hv[k.o]);
}

static inline void adjoint_tangent_at(const job *J, cell k)
{
    linear l = linearised(J, k);
    adjoint_tangent_by(J, k, &l);
}

static inline void adjoint_tangent_on_line(const job *J, cell k) { adjoint_tangent_by(J, k, &J->line[k.o - J->first]); }

/* a direction of the wave and what it carries: the adjoint, its tangents along a and b and along both */
typedef struct { local q, qa, qb, qab; differences d, da, db; } two_ways;
typedef struct { local q, qa, qb, qab; differences d; } two_bars;

static inline two_bars third(two_ways z, rates r)
{
    wave w = wave_of(z.q, z.d), wa = wave_tangent(z.q, z.d, w, z.qa, z.da), wb = wave_tangent(z.q, z.d, w, z.qb, z.db);
    wave wab = wave_tangent2(z.q, z.d, w, z.qa, z.da, wa, z.qb, z.db, wb, z.qab);
    wave_bar ab = wave_adjoint_tangent2(z.q, z.d, w, z.qa, z.da, wa, z.qb, z.db, wb, z.qab, wab, r);
    return (two_bars){wave_adjoint(z.q, z.d, w, r).q, wave_adjoint_tangent(z.q, z.d, w, z.qa, z.da, wa, r).q,
                      wave_adjoint_tangent(z.q, z.d, w, z.qb, z.db, wb, r).q, ab.q, ab.d};
}

static inline void adjoint_tangent2_at(const job *J, cell k)
{
    double i = 1 / J->y.h[k.o], ha = J->a.h[k.o], hb = J->b.h[k.o];
    local x = local_of(J->y.h[k.o], J->y.hu[k.o], J->y.hv[k.o]), y = turned(x);
    local xa = local_tangent(x, i, ha, J->a.hu[k.o], J->a.hv[k.o]);
    local xb = local_tangent(x, i, hb, J->b.hu[k.o], J->b.hv[k.o]);
    local xab = local_tangent2(x, i, xa, ha, xb, hb);
    switches sx = upwind(x), sy = upwind(y);
    two_ways zx = {x, xa, xb, xab, differ_x(J->y, k, sx), differ_x(J->a, k, sx), differ_x(J->b, k, sx)};
    two_ways zy = {y, turned(xa), turned(xb), turned(xab),
                   differ_y(J->y, k, sy), differ_y(J->a, k, sy), differ_y(J->b, k, sy)};
    two_bars bx = third(zx, weights(J->rx, J->w.h[k.o], J->w.hu[k.o], J->w.hv[k.o]));
    two_bars by = third(zy, weights(J->ry, J->w.h[k.o], J->w.hv[k.o], J->w.hu[k.o]));
    scatter_both(J, k, sx, bx.d, sy, by.d);
    local_adjoint_tangent2(x, i, both(bx.q, by.q), xa, ha, both(bx.qa, by.qa), xb, hb, both(bx.qb, by.qb), xab,
                           both(bx.qab, by.qab), &J->h[k.o], &J->hu[k.o], &J->hv[k.o]);
}

/* ---- the callbacks ------------------------------------------------------------------------------------------- */

static int value(const costate_point *x, double *out, void *ctx)
{
    const swe *s = ctx;
    job J = job_of(s, x->y, NULL, NULL, NULL, out);
    sweep(s, &J, value_at);
    return 0;
}

static int nothing(const swe *s, double *out)
{
    memset(out, 0, 3 * sizeof *out * (size_t)s->nx * (size_t)s->ny);
    return 0;
}

static int tangent(const costate_point *x, const costate_point *dx, double *out, void *ctx)
{
    const swe *s = ctx;
    if (!dx->y) return nothing(s, out);
    job J = job_of(s, x->y, dx->y, NULL, NULL, out);
    sweep(s, &J, tangent_at);
    return 0;
}

static void linearise_row(const swe *s, const double *y, int i)
{
    job J = job_of(s, y, NULL, NULL, NULL, NULL);
    J.first = i * s->ny;
    sweep_row(s, i, &J, linearise_at);
}

/* row by row, for the linearisation of one stays in the cache */
static int tangents(const costate_point *x, int count, const costate_point *dx, double *out, void *ctx)
{
    const swe *s = ctx;
    size_t n = (size_t)s->P.n;
    for (int j = 0; j < count; j++) if (!dx[j].y) nothing(s, out + (size_t)j * n);
    for (int i = 0; i < s->nx; i++) {
        linearise_row(s, x->y, i);
        for (int j = 0; j < count; j++) {
            if (!dx[j].y) continue;
            job J = job_of(s, x->y, dx[j].y, NULL, NULL, out + (size_t)j * n);
            J.first = i * s->ny;
            sweep_row(s, i, &J, tangent_on_line);
        }
    }
    return 0;
}

static int adjoints(const costate_point *x, int count, const double *w, const costate_gradient *g, void *ctx)
{
    const swe *s = ctx;
    size_t n = (size_t)s->P.n;
    for (int i = 0; i < s->nx; i++) {
        linearise_row(s, x->y, i);
        for (int j = 0; j < count; j++) {
            if (!g[j].y) continue;
            job J = job_of(s, x->y, NULL, NULL, w + (size_t)j * n, g[j].y);
            J.first = i * s->ny;
            sweep_row(s, i, &J, adjoint_on_line);
        }
    }
    return 0;
}

static int tangent2(const costate_point *x, const costate_point *dx1, const costate_point *dx2, double *out, void *ctx)
{
    const swe *s = ctx;
    if (!dx1->y || !dx2->y) return nothing(s, out);
    job J = job_of(s, x->y, dx1->y, dx2->y, NULL, out);
    sweep(s, &J, tangent2_at);
    return 0;
}

static int adjoint(const costate_point *x, const double *w, const costate_gradient *g, void *ctx)
{
    const swe *s = ctx;
    if (!g->y) return 0;
    job J = job_of(s, x->y, NULL, NULL, w, g->y);
    sweep(s, &J, adjoint_at);
    return 0;
}

static int adjoint_tangent(const costate_point *x, const costate_point *dx, const double *w,
                           const costate_gradient *g, void *ctx)
{
    const swe *s = ctx;
    if (!g->y || !dx->y) return 0;
    job J = job_of(s, x->y, dx->y, NULL, w, g->y);
    sweep(s, &J, adjoint_tangent_at);
    return 0;
}

static int adjoint_tangent2(const costate_point *x, const costate_point *dx1, const costate_point *dx2,
                            const double *w, const costate_gradient *g, void *ctx)
{
    const swe *s = ctx;
    if (!g->y || !dx1->y || !dx2->y) return 0;
    job J = job_of(s, x->y, dx1->y, dx2->y, w, g->y);
    sweep(s, &J, adjoint_tangent2_at);
    return 0;
}

/* ---- the same, where what products at a point share is kept ----------------------------------------------------- */

static int prepare(const costate_point *x, void *ctx)
{
    const swe *s = ctx;
    job J = job_of(s, x->y, NULL, NULL, NULL, NULL);
    sweep(s, &J, linearise_at);
    return 0;
}

static int shared_tangent(const costate_point *x, const costate_point *dx, double *out, void *ctx)
{
    const swe *s = ctx;
    if (!dx->y) return nothing(s, out);
    job J = job_of(s, x->y, dx->y, NULL, NULL, out);
    sweep(s, &J, tangent_on_line);
    return 0;
}

static int shared_adjoint(const costate_point *x, const double *w, const costate_gradient *g, void *ctx)
{
    const swe *s = ctx;
    if (!g->y) return 0;
    job J = job_of(s, x->y, NULL, NULL, w, g->y);
    sweep(s, &J, adjoint_on_line);
    return 0;
}

static int shared_adjoint_tangent(const costate_point *x, const costate_point *dx, const double *w,
                                  const costate_gradient *g, void *ctx)
{
    const swe *s = ctx;
    if (!g->y || !dx->y) return 0;
    job J = job_of(s, x->y, dx->y, NULL, w, g->y);
    sweep(s, &J, adjoint_tangent_on_line);
    return 0;
}

/* ---- the Jacobian -------------------------------------------------------------------------------------------- */

/* The entries of a cell, in the order of swe.place: for x, then y: for each neighbour from two behind to two ahead
   the seven of by_neighbour (rate, field); then the 3 by 3 block of the cell itself, by columns. */
static const unsigned char role[7][2] = {{0, 0}, {1, 0}, {2, 0}, {0, 1}, {1, 1}, {2, 1}, {2, 2}};
static const unsigned char component[2][3] = {{0, 1, 2}, {0, 2, 1}};      /* h m o along x, along y */

typedef struct { job j; const int *place; double *values; } jacobian_job;

static inline void jacobian_at(const job *J, cell k)
{
    const jacobian_job *jj = (const jacobian_job *)J;
    const int *place = jj->place + (size_t)ENTRIES * (size_t)k.o;
    double e[56], block[9] = {0}, i = 1 / J->y.h[k.o];
    local x = local_of(J->y.h[k.o], J->y.hu[k.o], J->y.hv[k.o]), y = turned(x);
    switches sx = upwind(x), sy = upwind(y);
    along(x, i, J->rx, differ_x(J->y, k, sx), sx, 1, e, block);
    along(y, i, J->ry, differ_y(J->y, k, sy), sy, 2, e + 28, block);
    for (int l = 0; l < 56; l++) jj->values[place[l]] = e[l];
    for (int l = 0; l < 9; l++) jj->values[place[56 + l]] = block[l];
}

static int jacobian(const costate_point *x, double *values, void *ctx)
{
    const swe *s = ctx;
    jacobian_job J = {job_of(s, x->y, NULL, NULL, NULL, values), s->place, values};
    sweep(s, &J.j, jacobian_at);
    return 0;
}

/* rate and field of entry e of cell (i, j): row and column of the matrix */
static void entry(const swe *s, int i, int j, int e, int *row, int *column)
{
    static const int step[4] = {-2, -1, 1, 2};
    int N = s->nx * s->ny, o = i * s->ny + j, d = e / 28, r = (e - 56) % 3, f = (e - 56) / 3;
    if (e < 56) {
        int k = step[e % 28 / 7];
        r = component[d][role[e % 7][0]];
        f = component[d][role[e % 7][1]];
        if (d == 0) i = s->wrapx[i + k + 2];
        else j = s->wrapy[j + k + 2];
    }
    *row = r * N + o;
    *column = f * N + i * s->ny + j;
}

/* Rows are met in increasing order, so each column is sorted as it fills; columns have equal counts by component. */
static void build_pattern(swe *s, int *next)
{
    int N = s->nx * s->ny, row, column;
    for (int c = 0; c <= 3 * N; c++) {
        s->col[c] = c <= N ? COLUMN_H * c : COLUMN_H * N + COLUMN_M * (c - N);
        if (c < 3 * N) next[c] = s->col[c];
    }
    for (int r = 0; r < 3; r++)
        for (int o = 0; o < N; o++)
            for (int e = 0; e < ENTRIES; e++) {
                entry(s, o / s->ny, o % s->ny, e, &row, &column);
                if (row / N != r) continue;
                s->place[ENTRIES * o + e] = next[column];
                s->row[next[column]++] = row;
            }
}

/* ---- the problem ------------------------------------------------------------------------------------------- */

static void build_wrap(int n, int *wrap)
{
    for (int i = 0; i < n + 4; i++) wrap[i] = (i - 2 + n) % n;
}

swe *swe_new(int nx, int ny)
{
    if (nx < 5 || ny < 5 || nx > 4000 || ny > 4000) return NULL;
    size_t N = (size_t)nx * (size_t)ny;
    swe *s = calloc(1, sizeof *s);
    int *next = malloc(3 * N * sizeof *next);
    if (s) s->wrap = malloc(((size_t)nx + (size_t)ny + 8 + 3 * N + 1 + 2 * ENTRIES * N) * sizeof(int));
    if (s) s->line = malloc((size_t)ny * sizeof *s->line);
    if (!next || !s || !s->wrap || !s->line) {
        free(next);
        swe_free(s);
        return NULL;
    }
    s->nx = nx, s->ny = ny;
    s->rx = (nx - 1) / 36.0, s->ry = (ny - 1) / 36.0;      /* dx = 6/(nx - 1) */
    s->wrapx = s->wrap;
    s->wrapy = s->wrap + nx + 4;
    s->col = s->wrap + nx + ny + 8;
    s->row = s->col + 3 * N + 1;
    s->place = s->row + ENTRIES * N;
    build_wrap(nx, s->wrap);
    build_wrap(ny, s->wrap + nx + 4);
    build_pattern(s, next);
    free(next);
    s->S = (costate_pattern){3 * (int)N, s->col, s->row};
    s->P = (costate_problem){.n = 3 * (int)N, .ctx = s, .jac = jacobian, .pattern = &s->S,
                             .rhs = {.value = value, .tangent = tangent, .adjoint = adjoint, .tangent2 = tangent2,
                                     .adjoint_tangent = adjoint_tangent, .tangents = tangents,
                                     .adjoints = adjoints, .adjoint_tangent2 = adjoint_tangent2}};
    return s;
}

int swe_share(swe *s)
{
    linear *line = realloc(s->line, (size_t)s->nx * (size_t)s->ny * sizeof *s->line);
    if (!line) return 0;
    s->line = line;
    s->P.rhs = (costate_map){.value = value, .tangent = shared_tangent, .adjoint = shared_adjoint,
                             .tangent2 = tangent2, .adjoint_tangent = shared_adjoint_tangent,
                             .adjoint_tangent2 = adjoint_tangent2, .prepare = prepare};
    return 1;
}

void swe_free(swe *s)
{
    if (!s) return;
    free(s->wrap);
    free(s->line);
    free(s);
}

const costate_problem *swe_problem(const swe *s) { return &s->P; }

void swe_initial(const swe *s, double *y)
{
    int N = s->nx * s->ny;
    for (int o = 0; o < N; o++) {
        double x1 = -3 + (o / s->ny + 1) * 6.0 / (s->nx - 1), x2 = -3 + (o % s->ny + 1) * 6.0 / (s->ny - 1);
        y[o] = 100 + 30 * exp(-x1 * x1 - x2 * x2);
        y[N + o] = y[2 * N + o] = 2;
    }
}
