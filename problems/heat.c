/* heat.c - heat on the unit square with its boundary as constraints: as a residual, and as M y' = f.

   M x M points inside, M + 2 a side with the boundary, d = 1/(M + 1), unknown k (M + 2) + j at (j d, k d):

       u' = (p1 dxx u + p2 dyy u)/d^2 inside, 0 = u - u(0) around;   u(0) = 16 x (1 - x) y (1 - y), p = (1, 1)

   (T. Maly, L. Petzold, Applied Numerical Mathematics 20 (1996) 57).  Gradients are those of |u(0.16)|^2 / 2. */
#include <string.h>

#include "ivp.h"
#include "mesh.h"

static const double p0[] = {1, 1};

typedef struct { double x, y; } pair;

static pair scaled(const mesh *g, const double *p) { return (pair){g->d * p[0], g->d * p[1]}; }

/* inside: out -= (a.x dxx + a.y dyy) u */
static void diffuse(const mesh *g, pair a, const double *u, double *restrict out)
{
    int N = g->side;
    for (int k = 1; k < N - 1; k++)
        for (int c = k * N + 1; c < k * N + N - 1; c++)
            out[c] -= a.x * (u[c - 1] + u[c + 1]) + a.y * (u[c - N] + u[c + N]) - 2 * (a.x + a.y) * u[c];
}

/* its transpose: what is spread is put in a vector with zeros around */
static void gather(const mesh *g, pair a, const double *w, double *restrict out)
{
    int N = g->side;
    double *v = g->work[0];
    for (int c = 0; c < g->n; c++) v[c] = g->differential[c] ? w[c] : 0;
    for (int c = 0; c < g->n; c++)
        out[c] -= a.x * (v[c - 1] + v[c + 1]) + a.y * (v[c - N] + v[c + N]) - 2 * (a.x + a.y) * v[c];
}

/* (w, dxx u), (w, dyy u) inside */
static pair moments(const mesh *g, const double *w, const double *u)
{
    int N = g->side;
    pair s = {0, 0};
    for (int k = 1; k < N - 1; k++)
        for (int c = k * N + 1; c < k * N + N - 1; c++) {
            s.x += w[c] * (u[c - 1] - 2 * u[c] + u[c + 1]);
            s.y += w[c] * (u[c - N] - 2 * u[c] + u[c + N]);
        }
    return (pair){g->d * s.x, g->d * s.y};
}

/* around: out = u - v, v NULL: 0 */
static void around(const mesh *g, const double *u, const double *v, double *out)
{
    for (int c = 0; c < g->n; c++) if (!g->differential[c]) out[c] = u[c] - (v ? v[c] : 0);
}

static void start(const mesh *g, const double *from, double *out)
{
    size_t bytes = (size_t)g->n * sizeof *out;
    if (from) memcpy(out, from, bytes);
    else memset(out, 0, bytes);
}

/* ---- the residual ------------------------------------------------------------------------------------------------ */

static int value(const costate_point *x, double *F, void *ctx)
{
    const mesh *g = ctx;
    start(g, x->yp, F);
    diffuse(g, scaled(g, x->p), x->y, F);
    around(g, x->y, g->y0, F);
    return 0;
}

static int tangent(const costate_point *x, const costate_point *dx, double *out, void *ctx)
{
    const mesh *g = ctx;
    start(g, dx->yp, out);
    if (dx->y) diffuse(g, scaled(g, x->p), dx->y, out);
    if (dx->p) diffuse(g, scaled(g, dx->p), x->y, out);
    around(g, dx->y ? dx->y : g->work[1], NULL, out);
    return 0;
}

/* to += s times what the adjoint gives by y and p */
static void back(const mesh *g, double s, const costate_point *x, const double *w, const costate_gradient *to)
{
    pair a = scaled(g, x->p);
    if (to->y) {
        gather(g, (pair){s * a.x, s * a.y}, w, to->y);
        for (int c = 0; c < g->n; c++) to->y[c] += g->differential[c] ? 0 : s * w[c];
    }
    if (to->p) {
        pair m = moments(g, w, x->y);
        to->p[0] -= s * m.x;
        to->p[1] -= s * m.y;
    }
}

static int adjoint(const costate_point *x, const double *w, const costate_gradient *to, void *ctx)
{
    const mesh *g = ctx;
    back(g, 1, x, w, to);
    for (int c = 0; to->yp && c < g->n; c++) to->yp[c] += g->differential[c] ? w[c] : 0;
    return 0;
}

static int jacobian(const costate_point *x, double *J, void *ctx)
{
    const mesh *g = ctx;
    pair a = scaled(g, x->p);
    for (int i = 0; i < g->n; i++) {
        const int *at = g->place + MESH_ENTRIES * i;
        J[at[4]] = g->differential[i] ? 2 * (a.x + a.y) : 1;
        if (!g->differential[i]) continue;
        J[at[0]] = J[at[1]] = -a.x;
        J[at[2]] = J[at[3]] = -a.y;
    }
    return 0;
}

/* ---- M y' = f = -F(t, y, 0, p) ----------------------------------------------------------------------------------- */

static int negated(const mesh *g, double *out)
{
    for (int c = 0; c < g->n; c++) out[c] = -out[c];
    return 0;
}

static int rhs_value(const costate_point *x, double *out, void *ctx)
{
    value(x, out, ctx);
    return negated(ctx, out);
}

static int rhs_tangent(const costate_point *x, const costate_point *dx, double *out, void *ctx)
{
    costate_point d = {.y = dx->y, .p = dx->p};
    tangent(x, &d, out, ctx);
    return negated(ctx, out);
}

static int rhs_adjoint(const costate_point *x, const double *w, const costate_gradient *to, void *ctx)
{
    back(ctx, -1, x, w, to);
    return 0;
}

/* f is linear in y and in p */
static int rhs_tangent2(const costate_point *x, const costate_point *a, const costate_point *b, double *out, void *ctx)
{
    const mesh *g = ctx;
    (void)x;
    start(g, NULL, out);
    if (a->p && b->y) diffuse(g, scaled(g, a->p), b->y, out);
    if (b->p && a->y) diffuse(g, scaled(g, b->p), a->y, out);
    return negated(g, out);
}

static int rhs_adjoint_tangent(const costate_point *x, const costate_point *dx, const double *w,
                               const costate_gradient *to, void *ctx)
{
    const mesh *g = ctx;
    (void)x;
    if (to->y && dx->p) {
        pair a = scaled(g, dx->p);
        gather(g, (pair){-a.x, -a.y}, w, to->y);
    }
    if (to->p && dx->y) {
        pair s = moments(g, w, dx->y);
        to->p[0] += s.x;
        to->p[1] += s.y;
    }
    return 0;
}

static int rhs_jacobian(const costate_point *x, double *J, void *ctx)
{
    const mesh *g = ctx;
    jacobian(x, J, ctx);
    for (int e = 0; e < g->S.col[g->n]; e++) J[e] = -J[e];
    return 0;
}

static int mass(double *M, void *ctx) { return mesh_jac_yp(NULL, M, ctx); }

/* ---- the problems ------------------------------------------------------------------------------------------------ */

static mesh *heat_mesh(int inside)
{
    int N = inside + 2;
    mesh *g = mesh_new(N, N * N);
    if (!g) return NULL;
    g->d = (inside + 1.0) * (inside + 1.0);
    for (int i = 0; i < g->n; i++) {
        int j = i % N, k = i / N, *at = g->place + MESH_ENTRIES * i,
            in = j > 0 && j < N - 1 && k > 0 && k < N - 1;
        const int column[] = {i - 1, i + 1, i - N, i + N, i, -1};
        g->differential[i] = in;
        g->y0[i] = in ? mesh_hill(j / (N - 1.0), k / (N - 1.0)) : 0;
        for (int e = 0; e < MESH_ENTRIES; e++) at[e] = in || e == 4 ? column[e] : -1;
    }
    mesh_build(g);
    return g;
}

static int heat(ivp *b, int inside, const costate_problem *P)
{
    if (inside < 2 || inside > 4000) return COSTATE_BAD_ARGUMENT;
    mesh *g = heat_mesh(inside);
    if (!g) return COSTATE_NO_MEMORY;
    *b = (ivp){.P = *P, .y0 = g->y0, .p = p0, .t1 = 0.16, .atol = 1, .functional = IVP_SQUARES, .stiff = 1, .own = g,
               .free_own = mesh_free};
    b->P.n = g->n;
    b->P.np = 2;
    b->P.ctx = g;
    b->P.pattern = &g->S;
    return COSTATE_OK;
}

int ivp_heat_dae(ivp *b, int inside)
{
    static const costate_problem P = {.residual = {.value = value, .tangent = tangent, .adjoint = adjoint},
                                      .jac = jacobian, .jac_yp = mesh_jac_yp};
    return heat(b, inside, &P);
}

int ivp_heat_mass(ivp *b, int inside)
{
    static const costate_problem P = {.rhs = {.value = rhs_value, .tangent = rhs_tangent, .adjoint = rhs_adjoint,
                                              .tangent2 = rhs_tangent2, .adjoint_tangent = rhs_adjoint_tangent},
                                      .jac = rhs_jacobian, .mass = mass};
    return heat(b, inside, &P);
}
