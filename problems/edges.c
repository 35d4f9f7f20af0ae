/* edges.c - heat on the unit square by the values around it, the initial values and the two conductivities.

   M x M points, h = 1/(M + 1), unknown M i + j at ((i + 1) h, (j + 1) h):

       z' = p1 zxx + p2 zyy by five points,   z(0) = 16 x (1 - x) y (1 - y),   G = int_0^0.16 sum z dt

   p = (p1, p2, the M values at x = 0, at x = 1, at y = 0, at y = 1) = (1, 1, 0, ..., 0).  (D. B. Ozyurt, P. I. Barton,
   SIAM J. Sci. Comput. 26 (2005) 1725-1743, section 4.2, whose parameters z(0) are.)  Hessian products are those along
   p1, and along (1, ..., 1)/(2 + 4 M + M^2). */
#include <stdlib.h>
#include <string.h>

#include "ivp.h"

typedef struct { double x, y; } pair;

typedef struct {
    int M, n, np;
    double *y0, *p, *u;              /* n + 1; np; 2 (n + 1 + np) */
    double *pad[2];                  /* (M + 2)^2: z and what is around it; corners stay zero */
    costate_pattern S;
    int *col;                        /* n + 1, and then the rows */
} plate;

/* ---- z and its surroundings ------------------------------------------------------------------------------------- */

/* Where on the pad value j of edge e is. */
static size_t on_edge(const plate *g, int e, int j)
{
    size_t W = (size_t)g->M + 2, at = (size_t)j + 1, last = W - 1;
    return e == 0 ? at : e == 1 ? last * W + at : e == 2 ? at * W : at * W + last;
}

/* NULL: zeros */
static const double *padded(const plate *g, int which, const double *z, const double *p)
{
    size_t M = (size_t)g->M, W = M + 2;
    double *out = g->pad[which];
    for (size_t i = 0; i < M; i++)
        if (z) memcpy(out + (i + 1) * W + 1, z + i * M, M * sizeof *z);
        else memset(out + (i + 1) * W + 1, 0, M * sizeof *z);
    for (int e = 0; e < 4; e++)
        for (int j = 0; j < g->M; j++) out[on_edge(g, e, j)] = p ? p[2 + e * g->M + j] : 0;
    return out;
}

/* out += (a.x dxx + a.y dyy) pad */
static void diffuse(const plate *g, pair a, const double *pad, double *restrict out)
{
    int M = g->M, W = M + 2;
    for (int i = 0; i < M; i++, out += M)
        for (int j = 0, c = (i + 1) * W + 1; j < M; j++, c++)
            out[j] += a.x * (pad[c - W] + pad[c + W]) + a.y * (pad[c - 1] + pad[c + 1]) - 2 * (a.x + a.y) * pad[c];
}

/* its transpose, to z and p; NULL: not wanted */
static void gather(const plate *g, pair a, const double *w, double *restrict z, double *restrict p)
{
    int M = g->M, W = M + 2;
    const double *pad = padded(g, 0, w, NULL);
    if (z) diffuse(g, a, pad, z);                   /* symmetric inside */
    for (int e = 0; p && e < 4; e++)
        for (int j = 0; j < M; j++) {
            size_t at = on_edge(g, e, j);
            p[2 + e * M + j] += e == 0 ? a.x * pad[at + (size_t)W] : e == 1 ? a.x * pad[at - (size_t)W]
                              : e == 2 ? a.y * pad[at + 1] : a.y * pad[at - 1];
        }
}

/* (w, dxx pad), (w, dyy pad), to p */
static void moments(const plate *g, const double *w, const double *pad, double *p)
{
    int M = g->M, W = M + 2;
    pair s = {0, 0};
    for (int i = 0; i < M; i++, w += M)
        for (int j = 0, c = (i + 1) * W + 1; j < M; j++, c++) {
            s.x += w[j] * (pad[c - W] + pad[c + W] - 2 * pad[c]);
            s.y += w[j] * (pad[c - 1] + pad[c + 1] - 2 * pad[c]);
        }
    p[0] += (M + 1.0) * (M + 1.0) * s.x;
    p[1] += (M + 1.0) * (M + 1.0) * s.y;
}

static pair scaled(const plate *g, const double *p)
{
    double d = (g->M + 1.0) * (g->M + 1.0);
    return (pair){d * p[0], d * p[1]};
}

/* ---- f: bilinear in (p1, p2) and the pad ------------------------------------------------------------------------ */

static void clear(const plate *g, double *out) { memset(out, 0, (size_t)g->n * sizeof *out); }

static int value(const costate_point *x, double *out, void *ctx)
{
    const plate *g = ctx;
    clear(g, out);
    diffuse(g, scaled(g, x->p), padded(g, 0, x->y, x->p), out);
    return 0;
}

static int tangent(const costate_point *x, const costate_point *dx, double *out, void *ctx)
{
    const plate *g = ctx;
    clear(g, out);
    if (dx->y || dx->p) diffuse(g, scaled(g, x->p), padded(g, 0, dx->y, dx->p), out);
    if (dx->p && (dx->p[0] != 0 || dx->p[1] != 0)) diffuse(g, scaled(g, dx->p), padded(g, 0, x->y, x->p), out);
    return 0;
}

static int adjoint(const costate_point *x, const double *w, const costate_gradient *to, void *ctx)
{
    const plate *g = ctx;
    gather(g, scaled(g, x->p), w, to->y, to->p);
    if (to->p) moments(g, w, padded(g, 1, x->y, x->p), to->p);
    return 0;
}

static int tangent2(const costate_point *x, const costate_point *a, const costate_point *b, double *out, void *ctx)
{
    const plate *g = ctx;
    (void)x;
    clear(g, out);
    if (a->p) diffuse(g, scaled(g, a->p), padded(g, 0, b->y, b->p), out);
    if (b->p) diffuse(g, scaled(g, b->p), padded(g, 0, a->y, a->p), out);
    return 0;
}

static int adjoint_tangent(const costate_point *x, const costate_point *dx, const double *w,
                           const costate_gradient *to, void *ctx)
{
    const plate *g = ctx;
    (void)x;
    if (dx->p && (dx->p[0] != 0 || dx->p[1] != 0)) gather(g, scaled(g, dx->p), w, to->y, to->p);
    if (to->p && (dx->y || dx->p)) moments(g, w, padded(g, 1, dx->y, dx->p), to->p);
    return 0;
}

static int none(const costate_point *x, const costate_point *a, const costate_point *b, const double *w,
                const costate_gradient *to, void *ctx)
{
    (void)x, (void)a, (void)b, (void)w, (void)to, (void)ctx;
    return 0;
}

static int jacobian(const costate_point *x, double *J, void *ctx)
{
    const plate *g = ctx;
    pair a = scaled(g, x->p);
    for (int c = 0; c < g->n; c++)
        for (int e = g->S.col[c]; e < g->S.col[c + 1]; e++) {
            int off = g->S.row[e] - c;
            J[e] = off == 0 ? -2 * (a.x + a.y) : off == g->M || off == -g->M ? a.x : a.y;
        }
    return 0;
}

/* ---- the sum ---------------------------------------------------------------------------------------------------- */

static int sum(const costate_point *x, double *out, void *ctx)
{
    const plate *g = ctx;
    *out = 0;
    for (int c = 0; c < g->n; c++) *out += x->y[c];
    return 0;
}

static int sum_tangent(const costate_point *x, const costate_point *dx, double *out, void *ctx)
{
    (void)x;
    return dx->y ? sum(dx, out, ctx) : (*out = 0, 0);
}

static int sum_adjoint(const costate_point *x, const double *w, const costate_gradient *to, void *ctx)
{
    const plate *g = ctx;
    (void)x;
    for (int c = 0; to->y && c < g->n; c++) to->y[c] += *w;
    return 0;
}

static int sum_tangent2(const costate_point *x, const costate_point *a, const costate_point *b, double *out, void *ctx)
{
    (void)x, (void)a, (void)b, (void)ctx;
    return *out = 0, 0;
}

static int sum_adjoint_tangent(const costate_point *x, const costate_point *dx, const double *w,
                               const costate_gradient *to, void *ctx)
{
    (void)x, (void)dx, (void)w, (void)to, (void)ctx;
    return 0;
}

/* ---- the problem ------------------------------------------------------------------------------------------------ */

static void free_plate(void *p)
{
    plate *g = p;
    if (!g) return;
    free(g->y0);
    free(g->col);
    free(g);
}

static plate *plate_new(int M)
{
    size_t n = (size_t)M * (size_t)M, np = 2 + 4 * (size_t)M, W = (size_t)M + 2;
    plate *g = calloc(1, sizeof *g);
    if (!g) return NULL;
    *g = (plate){.M = M, .n = (int)n, .np = (int)np, .y0 = calloc(3 * (n + 1 + np) + 2 * W * W, sizeof(double)),
                 .col = malloc((6 * n + 1) * sizeof(int))};
    if (!g->y0 || !g->col) return free_plate(g), NULL;
    g->p = g->y0 + n + 1;
    g->u = g->p + np;
    g->pad[0] = g->u + 2 * (n + 1 + np);
    g->pad[1] = g->pad[0] + W * W;
    return g;
}

static void build_pattern(plate *g)
{
    int M = g->M, *row = g->col + g->n + 1, k = 0;
    for (int c = 0; c < g->n; c++) {
        int i = c / M, j = c % M;
        const int there[] = {i > 0, j > 0, 1, j < M - 1, i < M - 1}, step[] = {-M, -1, 0, 1, M};
        g->col[c] = k;
        for (int e = 0; e < 5; e++) if (there[e]) row[k++] = c + step[e];
    }
    g->col[g->n] = k;
    g->S = (costate_pattern){g->n, g->col, row};
}

int ivp_heat_edges(ivp *b, int inside)
{
    static const costate_map diffusion = {.value = value, .tangent = tangent, .adjoint = adjoint, .tangent2 = tangent2,
                                          .adjoint_tangent = adjoint_tangent, .adjoint_tangent2 = none};
    static const costate_map all = {.value = sum, .tangent = sum_tangent, .adjoint = sum_adjoint,
                                    .tangent2 = sum_tangent2, .adjoint_tangent = sum_adjoint_tangent,
                                    .adjoint_tangent2 = none};
    if (inside < 2 || inside > 4000) return COSTATE_BAD_ARGUMENT;
    plate *g = plate_new(inside);
    if (!g) return COSTATE_NO_MEMORY;
    int n = g->n, N = n + 1 + g->np;
    double h = 1.0 / (inside + 1);
    build_pattern(g);
    for (int c = 0; c < n; c++) {
        double x = (c / inside + 1) * h, y = (c % inside + 1) * h;
        g->y0[c] = 16 * x * (1 - x) * y * (1 - y);
    }
    g->p[0] = g->p[1] = g->u[n + 1] = 1;
    for (int k = 0; k < N; k++) g->u[N + k] = k == n ? 0 : 1.0 / (N - 1);      /* not along the integral */
    *b = (ivp){.P = {.n = n, .np = g->np, .nq = 1, .ctx = g, .rhs = diffusion, .cost = all, .jac = jacobian,
                     .pattern = &g->S},
               .y0 = g->y0, .p = g->p, .t1 = 0.16, .atol = 0.01, .functional = n, .u = g->u, .nu = 2, .stiff = 1,
               .own = g, .free_own = free_plate};
    return COSTATE_OK;
}
