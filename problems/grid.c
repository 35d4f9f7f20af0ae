/* grid.c - reaction and diffusion on grids: a 2-D Brusselator, and linear diffusion in 1-D and 2-D.

   Brusselator on the unit square, doubly periodic, N x N cells, unknowns (u, v) of cell after cell:

       u' = 1 + u^2 v - 4.4 u + alpha Lap u        u(0) = 22 y (1 - y)^1.5
       v' = 3.4 u - u^2 v     + alpha Lap v        v(0) = 27 x (1 - x)^1.5

   (E. Hairer, G. Wanner, Solving Ordinary Differential Equations II, section IV.10, without the forcing; there
   alpha = 0.1.)  The spectral radius is about 8 alpha N^2.
   Diffusion: u' = u_xx on (0, 1), u = 0 at both ends, u(0) = sin(pi x) + x (1 - x).
   Heat: u' = Lap u on the unit square, u = 0 around it, N x N points inside, u(0) = 16 x (1 - x) y (1 - y). */
#include <math.h>
#include <stdlib.h>

#include "ivp.h"

enum { ENTRIES = 6 };      /* a column of the Brusselator: four neighbours, itself and the other species */

typedef struct {
    int side;
    double d;                            /* diffusion over the square of the mesh width */
    double *y0;
    int *col, *row, *place;              /* place: ENTRIES a column, in the order of entry() */
    costate_pattern S;
} grid;

static void free_grid(void *p)
{
    grid *g = p;
    if (!g) return;
    free(g->y0);
    free(g->col);
    free(g);
}

static grid *new_grid(int side, size_t n, size_t values)
{
    grid *g = calloc(1, sizeof *g);
    if (!g) return NULL;
    g->side = side;
    g->y0 = malloc(n * sizeof *g->y0);
    g->col = malloc((n + 1 + 2 * values) * sizeof *g->col);
    if (!g->y0 || !g->col) {
        free_grid(g);
        return NULL;
    }
    g->row = g->col + n + 1;
    g->place = g->row + values;
    g->S = (costate_pattern){(int)n, g->col, g->row};
    return g;
}

/* ---- the Brusselator's diffusion ------------------------------------------------------------------------------ */

typedef struct { int o, west, east, south, north; } cell;

static inline double laplace(const double *y, cell c)
{
    return y[c.west] + y[c.east] + y[c.south] + y[c.north] - 4 * y[c.o];
}
static inline cell other(cell c)
{
    return (cell){c.o + 1, c.west + 1, c.east + 1, c.south + 1, c.north + 1};
}

typedef struct {
    const double *y, *u, *v;             /* state; directions or weights */
    double d, *out;
} job;

/* Calls at for all cells; indices are those of u. */
static inline void sweep(const grid *g, const job *j, void (*at)(const job *, cell))
{
    int N = g->side, row = 2 * N, n = row * N;
    for (int i = 0; i < N; i++)
        for (int k = 0; k < N; k++) {
            int o = i * row + 2 * k;
            at(j, (cell){o, k ? o - 2 : o + row - 2, k < N - 1 ? o + 2 : o - row + 2,
                         i ? o - row : o + n - row, i < N - 1 ? o + row : o - n + row});
        }
}

static inline void value_at(const job *j, cell c)
{
    double u = j->y[c.o], v = j->y[c.o + 1], r = u * u * v;
    j->out[c.o] = 1 + r - 4.4 * u + j->d * laplace(j->y, c);
    j->out[c.o + 1] = 3.4 * u - r + j->d * laplace(j->y, other(c));
}

static inline void tangent_at(const job *j, cell c)
{
    double u = j->y[c.o], v = j->y[c.o + 1], du = j->u[c.o], dv = j->u[c.o + 1], r = 2 * u * v * du + u * u * dv;
    j->out[c.o] = r - 4.4 * du + j->d * laplace(j->u, c);
    j->out[c.o + 1] = 3.4 * du - r + j->d * laplace(j->u, other(c));
}

/* the Laplacian is symmetric */
static inline void adjoint_at(const job *j, cell c)
{
    double u = j->y[c.o], v = j->y[c.o + 1], wu = j->u[c.o], wv = j->u[c.o + 1], w = wu - wv;
    j->out[c.o] += 2 * u * v * w - 4.4 * wu + 3.4 * wv + j->d * laplace(j->u, c);
    j->out[c.o + 1] += u * u * w + j->d * laplace(j->u, other(c));
}

static inline void tangent2_at(const job *j, cell c)
{
    const double *a = j->u + c.o, *b = j->v + c.o, *y = j->y + c.o;
    double r = 2 * (y[1] * a[0] * b[0] + y[0] * (a[0] * b[1] + a[1] * b[0]));
    j->out[c.o] = r;
    j->out[c.o + 1] = -r;
}

static inline void adjoint_tangent_at(const job *j, cell c)
{
    const double *a = j->u + c.o, *y = j->y + c.o;
    double w = j->v[c.o] - j->v[c.o + 1];
    j->out[c.o] += 2 * w * (y[1] * a[0] + y[0] * a[1]);
    j->out[c.o + 1] += 2 * w * y[0] * a[0];
}

static int zero(const grid *g, double *out)
{
    for (int i = 0; i < g->S.n; i++) out[i] = 0;
    return 0;
}

static int brusselator_value(const costate_point *x, double *out, void *ctx)
{
    const grid *g = ctx;
    job j = {x->y, NULL, NULL, g->d, out};
    sweep(g, &j, value_at);
    return 0;
}

static int brusselator_tangent(const costate_point *x, const costate_point *dx, double *out, void *ctx)
{
    const grid *g = ctx;
    job j = {x->y, dx->y, NULL, g->d, out};
    if (!dx->y) return zero(g, out);
    sweep(g, &j, tangent_at);
    return 0;
}

static int brusselator_adjoint(const costate_point *x, const double *w, const costate_gradient *to, void *ctx)
{
    const grid *g = ctx;
    job j = {x->y, w, NULL, g->d, to->y};
    if (to->y) sweep(g, &j, adjoint_at);
    return 0;
}

static int brusselator_tangent2(const costate_point *x, const costate_point *dx1, const costate_point *dx2, double *out,
                                void *ctx)
{
    const grid *g = ctx;
    job j = {x->y, dx1->y, dx2->y, g->d, out};
    if (!dx1->y || !dx2->y) return zero(g, out);
    sweep(g, &j, tangent2_at);
    return 0;
}

static int brusselator_adjoint_tangent(const costate_point *x, const costate_point *dx, const double *w,
                                       const costate_gradient *to, void *ctx)
{
    const grid *g = ctx;
    job j = {x->y, dx->y, w, g->d, to->y};
    if (to->y && dx->y) sweep(g, &j, adjoint_tangent_at);
    return 0;
}

/* ---- its Jacobian ---------------------------------------------------------------------------------------------- */

static int brusselator_jacobian(const costate_point *x, double *J, void *ctx)
{
    const grid *g = ctx;
    for (int o = 0; o < g->S.n; o += 2) {
        double u = x->y[o], v = x->y[o + 1];
        const int *p = g->place + (size_t)ENTRIES * (size_t)o, *q = p + ENTRIES;
        for (int e = 0; e < 4; e++) J[p[e]] = J[q[e]] = g->d;
        J[p[4]] = 2 * u * v - 4.4 - 4 * g->d;
        J[p[5]] = 3.4 - 2 * u * v;
        J[q[4]] = -u * u - 4 * g->d;
        J[q[5]] = u * u;
    }
    return 0;
}

/* the rows of column j: neighbours, itself, the other species of its cell */
static void entry(int N, int j, int row[ENTRIES])
{
    int s = j % 2, k = j / 2 % N, i = j / 2 / N;
    row[0] = 2 * (i * N + (k + N - 1) % N) + s;
    row[1] = 2 * (i * N + (k + 1) % N) + s;
    row[2] = 2 * ((i + N - 1) % N * N + k) + s;
    row[3] = 2 * ((i + 1) % N * N + k) + s;
    row[4] = j;
    row[5] = j ^ 1;
}

static void build_pattern(grid *g)
{
    int row[ENTRIES];
    g->col[0] = 0;
    for (int j = 0; j < g->S.n; j++) {
        int first = g->col[j];
        g->col[j + 1] = first + ENTRIES;
        entry(g->side, j, row);
        for (int e = 0; e < ENTRIES; e++) {
            int before = 0;
            for (int k = 0; k < ENTRIES; k++) before += row[k] < row[e];
            g->row[first + before] = row[e];
            g->place[first + e] = first + before;
        }
    }
}

static int brusselator(ivp *b, int side, double alpha)
{
    if (side < 3 || side > 4000) return COSTATE_BAD_ARGUMENT;
    size_t n = 2 * (size_t)side * (size_t)side;
    grid *g = new_grid(side, n, ENTRIES * n);
    if (!g) return COSTATE_NO_MEMORY;
    g->d = alpha * side * side;
    build_pattern(g);
    for (int o = 0; o < side * side; o++) {
        double x = (double)(o % side) / side, y = (double)(o / side) / side;
        g->y0[2 * o] = 22 * y * pow(1 - y, 1.5);
        g->y0[2 * o + 1] = 27 * x * pow(1 - x, 1.5);
    }
    *b = (ivp){.P = {.n = (int)n, .ctx = g, .jac = brusselator_jacobian, .pattern = &g->S,
                     .rhs = {.value = brusselator_value, .tangent = brusselator_tangent,
                             .adjoint = brusselator_adjoint, .tangent2 = brusselator_tangent2,
                             .adjoint_tangent = brusselator_adjoint_tangent}},
               .y0 = g->y0, .t1 = 1, .atol = 1,
               .grid = {.dimensions = 2, .side = side, .components = 2, .periodic = 1, .d = g->d}, .own = g,
               .free_own = free_grid};
    return COSTATE_OK;
}

int ivp_brusselator2d(ivp *b, int side) { return brusselator(b, side, 0.1); }

static int stiff_brusselator(ivp *b, int side, double alpha)
{
    int status = brusselator(b, side, alpha);
    b->stiff = 1;
    b->functional = IVP_SQUARES;
    return status;
}

int ivp_brusselator_1(ivp *b, int side) { return stiff_brusselator(b, side, 1); }
int ivp_brusselator_10(ivp *b, int side) { return stiff_brusselator(b, side, 10); }
int ivp_brusselator_100(ivp *b, int side) { return stiff_brusselator(b, side, 100); }

/* ---- diffusion in 1-D -------------------------------------------------------------------------------------------- */

static void second_difference(const grid *g, const double *y, double *out, int add)
{
    int n = g->side;
    for (int i = 0; i < n; i++) {
        double x = g->d * ((i ? y[i - 1] : 0) - 2 * y[i] + (i < n - 1 ? y[i + 1] : 0));
        out[i] = add ? out[i] + x : x;
    }
}

static int line_value(const costate_point *x, double *out, void *ctx)
{
    second_difference(ctx, x->y, out, 0);
    return 0;
}

static int line_tangent(const costate_point *x, const costate_point *dx, double *out, void *ctx)
{
    (void)x;
    if (!dx->y) return zero(ctx, out);
    second_difference(ctx, dx->y, out, 0);
    return 0;
}

static int line_adjoint(const costate_point *x, const double *w, const costate_gradient *to, void *ctx)
{
    (void)x;
    if (to->y) second_difference(ctx, w, to->y, 1);
    return 0;
}

static int line_tangent2(const costate_point *x, const costate_point *a, const costate_point *b, double *out, void *ctx)
{
    (void)x, (void)a, (void)b;
    return zero(ctx, out);
}

static int line_adjoint_tangent(const costate_point *x, const costate_point *dx, const double *w,
                                const costate_gradient *to, void *ctx)
{
    (void)x, (void)dx, (void)w, (void)to, (void)ctx;
    return 0;
}

/* of both: neighbours d, itself -2 d a dimension */
static int linear_jacobian(const costate_point *x, double *J, void *ctx)
{
    const grid *g = ctx;
    double itself = (g->S.n > g->side ? -4 : -2) * g->d;
    (void)x;
    for (int j = 0; j < g->S.n; j++)
        for (int e = g->col[j]; e < g->col[j + 1]; e++) J[e] = g->row[e] == j ? itself : g->d;
    return 0;
}

int ivp_diffusion(ivp *b, int points)
{
    if (points < 2 || points > 10000000) return COSTATE_BAD_ARGUMENT;
    size_t n = (size_t)points;
    grid *g = new_grid(points, n, 3 * n);
    int next = 0;
    if (!g) return COSTATE_NO_MEMORY;
    g->d = ((double)points + 1) * ((double)points + 1);
    for (int j = 0; j < points; j++) {
        double x = (j + 1) / ((double)points + 1);
        g->y0[j] = sin(3.14159265358979323846 * x) + x * (1 - x);
        g->col[j] = next;
        for (int i = j > 0 ? j - 1 : 0; i <= j + 1 && i < points; i++) g->row[next++] = i;
    }
    g->col[points] = next;
    *b = (ivp){.P = {.n = points, .ctx = g, .jac = linear_jacobian, .pattern = &g->S,
                     .rhs = {.value = line_value, .tangent = line_tangent, .adjoint = line_adjoint,
                             .tangent2 = line_tangent2, .adjoint_tangent = line_adjoint_tangent}},
               .y0 = g->y0, .t1 = 0.1, .atol = 1, .functional = points / 2, .stiff = 1, .own = g,
               .free_own = free_grid};
    return COSTATE_OK;
}

/* ---- heat in 2-D ------------------------------------------------------------------------------------------------- */

/* Rows of a side each; past the first and the last row is one of zeros, past the ends of a row zero. */
static inline void heat_row(int N, double d, const double *y, const double *south, const double *north,
                            double *restrict out, int add)
{
    for (int k = 0; k < N; k++) {
        double x = d * ((k ? y[k - 1] : 0) + (k < N - 1 ? y[k + 1] : 0) + south[k] + north[k] - 4 * y[k]);
        out[k] = add ? out[k] + x : x;
    }
}

static inline void five_points(const grid *g, const double *y, double *out, int add)
{
    int N = g->side;
    const double *zeros = g->y0 + g->S.n;
    for (int i = 0; i < N; i++) {
        const double *row = y + i * N;
        heat_row(N, g->d, row, i ? row - N : zeros, i < N - 1 ? row + N : zeros, out + i * N, add);
    }
}

static int heat_value(const costate_point *x, double *out, void *ctx)
{
    five_points(ctx, x->y, out, 0);
    return 0;
}

static int heat_tangent(const costate_point *x, const costate_point *dx, double *out, void *ctx)
{
    (void)x;
    if (!dx->y) return zero(ctx, out);
    five_points(ctx, dx->y, out, 0);
    return 0;
}

static int heat_adjoint(const costate_point *x, const double *w, const costate_gradient *to, void *ctx)
{
    (void)x;
    if (to->y) five_points(ctx, w, to->y, 1);
    return 0;
}

static void heat_column(grid *g, int j)
{
    int N = g->side, i = j / N, k = j % N, next = g->col[j];
    if (i > 0) g->row[next++] = j - N;
    if (k > 0) g->row[next++] = j - 1;
    g->row[next++] = j;
    if (k < N - 1) g->row[next++] = j + 1;
    if (i < N - 1) g->row[next++] = j + N;
    g->col[j + 1] = next;
}

int ivp_heat2d(ivp *b, int side)
{
    if (side < 2 || side > 4000) return COSTATE_BAD_ARGUMENT;
    size_t n = (size_t)side * (size_t)side;
    grid *g = new_grid(side, n + (size_t)side, 5 * n);                   /* a row of zeros behind y0 */
    if (!g) return COSTATE_NO_MEMORY;
    g->S.n = (int)n;
    g->d = (side + 1.0) * (side + 1.0);
    g->col[0] = 0;
    for (int j = 0; j < (int)n; j++) {
        double x = (j % side + 1) / (side + 1.0), y = (j / side + 1) / (side + 1.0);
        g->y0[j] = 16 * x * (1 - x) * y * (1 - y);
        heat_column(g, j);
    }
    for (int k = 0; k < side; k++) g->y0[n + (size_t)k] = 0;
    *b = (ivp){.P = {.n = (int)n, .ctx = g, .jac = linear_jacobian, .pattern = &g->S,
                     .rhs = {.value = heat_value, .tangent = heat_tangent, .adjoint = heat_adjoint,
                             .tangent2 = line_tangent2, .adjoint_tangent = line_adjoint_tangent}},
               .y0 = g->y0, .t1 = 0.16, .atol = 1, .functional = IVP_SQUARES, .stiff = 1,
               .grid = {.dimensions = 2, .side = side, .components = 1, .d = g->d}, .own = g, .free_own = free_grid};
    return COSTATE_OK;
}
