/* foodweb.c - prey and predator on S x S nodes of the unit square, the predator in equilibrium: index 1.

       c1' = c1 (b - c1 - 0.5e-6 c2) + L c1,   0 = c2 (-b + 1e4 c1 - c2) + 0.05 L c2,
       b = 1 + alpha x y + beta sin(4 pi x) sin(4 pi y),   p = (alpha, beta),
       c1(0) = 10 + (16 x (1 - x) y (1 - y))^2

   L: five points, mirrored at the boundary; from the root c2 = 0.  (P. Brown, A. Hindmarsh, L. Petzold, SISSC 19 (1998)
   1495.)  Unknown 2 (jx + S jy) + species; gradients are those of |c(0.1)|^2 / 2. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "ivp.h"
#include "mesh.h"

static const double p0[] = {50, 100}, PI = 3.14159265358979323846, SLOW = 0.05;

typedef struct {
    mesh g;                      /* a copy: its arrays are those of `from` */
    mesh *from;
    double *by;                  /* 2 a node: x y; sin sin */
    int *near;                   /* 4 a node: where the prey of its neighbours is */
} web;

static void free_web(void *p)
{
    web *W = p;
    if (!W) return;
    mesh_free(W->from);
    free(W->by);
    free(W->near);
    free(W);
}

static double laplace(const web *W, const double *c, int k, int species)
{
    const int *at = W->near + 4 * k;
    const double *u = c + species;
    return W->g.d * (u[at[0]] + u[at[1]] + u[at[2]] + u[at[3]] - 4 * u[2 * k]);
}

static void laplace_back(const web *W, double w, int k, int species, double *out)
{
    const int *at = W->near + 4 * k;
    double *u = out + species;
    w *= W->g.d;
    u[2 * k] -= 4 * w;
    for (int e = 0; e < 4; e++) u[at[e]] += w;
}

/* b, or its change by dp */
static double growth(const web *W, const double *p, int k)
{
    return p[0] * W->by[2 * k] + p[1] * W->by[2 * k + 1];
}

static int value(const costate_point *x, double *F, void *ctx)
{
    const web *W = ctx;
    const double *c = x->y;
    for (int k = 0, i = 0; i < W->g.n; k++, i += 2) {
        double c1 = c[i], c2 = c[i + 1], b = 1 + growth(W, x->p, k);
        F[i] = x->yp[i] - c1 * (b - c1 - 0.5e-6 * c2) - laplace(W, c, k, 0);
        F[i + 1] = -c2 * (-b + 1e4 * c1 - c2) - SLOW * laplace(W, c, k, 1);
    }
    return 0;
}

static int tangent(const costate_point *x, const costate_point *dx, double *out, void *ctx)
{
    const web *W = ctx;
    const double *c = x->y, *zeros = W->g.work[0], *d = dx->y ? dx->y : zeros, *dk = dx->yp ? dx->yp : zeros;
    for (int k = 0, i = 0; i < W->g.n; k++, i += 2) {
        double c1 = c[i], c2 = c[i + 1], d1 = d[i], d2 = d[i + 1], b = 1 + growth(W, x->p, k);
        double db = dx->p ? growth(W, dx->p, k) : 0;
        out[i] = dk[i] - d1 * (b - c1 - 0.5e-6 * c2) - c1 * (db - d1 - 0.5e-6 * d2);
        out[i + 1] = -d2 * (-b + 1e4 * c1 - c2) - c2 * (-db + 1e4 * d1 - d2);
        if (!dx->y) continue;
        out[i] -= laplace(W, d, k, 0);
        out[i + 1] -= SLOW * laplace(W, d, k, 1);
    }
    return 0;
}

static void adjoint_by_y(const web *W, const costate_point *x, const double *w, double *out)
{
    for (int k = 0, i = 0; i < W->g.n; k++, i += 2) {
        double c1 = x->y[i], c2 = x->y[i + 1], w1 = w[i], w2 = w[i + 1], b = 1 + growth(W, x->p, k);
        out[i] += -w1 * (b - 2 * c1 - 0.5e-6 * c2) - 1e4 * c2 * w2;
        out[i + 1] += 0.5e-6 * c1 * w1 - w2 * (-b + 1e4 * c1 - 2 * c2);
        laplace_back(W, -w1, k, 0, out);
        laplace_back(W, -SLOW * w2, k, 1, out);
    }
}

static int adjoint(const costate_point *x, const double *w, const costate_gradient *to, void *ctx)
{
    const web *W = ctx;
    if (to->y) adjoint_by_y(W, x, w, to->y);
    for (int i = 0; to->yp && i < W->g.n; i += 2) to->yp[i] += w[i];
    for (int k = 0, i = 0; to->p && i < W->g.n; k++, i += 2) {
        double by_b = x->y[i + 1] * w[i + 1] - x->y[i] * w[i];
        to->p[0] += W->by[2 * k] * by_b;
        to->p[1] += W->by[2 * k + 1] * by_b;
    }
    return 0;
}

static int jacobian(const costate_point *x, double *J, void *ctx)
{
    const web *W = ctx;
    memset(J, 0, (size_t)W->g.S.col[W->g.n] * sizeof *J);
    for (int k = 0, i = 0; i < W->g.n; k++, i += 2) {
        double c1 = x->y[i], c2 = x->y[i + 1], b = 1 + growth(W, x->p, k);
        const int *prey = W->g.place + MESH_ENTRIES * i, *predator = prey + MESH_ENTRIES;
        for (int e = 0; e < 4; e++) {
            J[prey[e]] -= W->g.d;
            J[predator[e]] -= SLOW * W->g.d;
        }
        J[prey[4]] += 4 * W->g.d - (b - 2 * c1 - 0.5e-6 * c2);
        J[prey[5]] += 0.5e-6 * c1;
        J[predator[4]] += 4 * SLOW * W->g.d - (-b + 1e4 * c1 - 2 * c2);
        J[predator[5]] += -1e4 * c2;
    }
    return 0;
}

static int mirrored(int j, int S) { return j < 0 ? 1 : j >= S ? S - 2 : j; }

static void place_node(web *W, int k)
{
    int S = W->g.side, jx = k % S, jy = k / S, *at = W->near + 4 * k;
    double x = jx / (S - 1.0), y = jy / (S - 1.0), hill = mesh_hill(x, y);
    at[0] = 2 * (mirrored(jx - 1, S) + S * jy);
    at[1] = 2 * (mirrored(jx + 1, S) + S * jy);
    at[2] = 2 * (jx + S * mirrored(jy - 1, S));
    at[3] = 2 * (jx + S * mirrored(jy + 1, S));
    W->by[2 * k] = x * y;
    W->by[2 * k + 1] = sin(4 * PI * x) * sin(4 * PI * y);
    W->g.y0[2 * k] = 10 + hill * hill;
    W->g.differential[2 * k] = 1;
    for (int i = 2 * k; i < 2 * k + 2; i++) {
        int *column = W->g.place + MESH_ENTRIES * i;
        for (int e = 0; e < 4; e++) column[e] = at[e] + i % 2;
        column[4] = i;
        column[5] = i ^ 1;
    }
}

static web *new_web(int S)
{
    size_t nodes = (size_t)S * (size_t)S;
    web *W = calloc(1, sizeof *W);
    if (!W) return NULL;
    *W = (web){.from = mesh_new(S, 2 * S * S), .by = malloc(2 * nodes * sizeof *W->by),
               .near = malloc(4 * nodes * sizeof *W->near)};
    if (!W->from || !W->by || !W->near) return free_web(W), NULL;
    W->g = *W->from;
    W->g.d = (S - 1.0) * (S - 1.0);
    for (int k = 0; k < S * S; k++) place_node(W, k);
    mesh_build(&W->g);
    return W;
}

int ivp_foodweb(ivp *b, int side)
{
    if (side < 3 || side > 4000) return COSTATE_BAD_ARGUMENT;
    web *W = new_web(side);
    if (!W) return COSTATE_NO_MEMORY;
    *b = (ivp){.P = {.n = W->g.n, .np = 2, .ctx = W, .pattern = &W->g.S, .jac = jacobian, .jac_yp = mesh_jac_yp,
                     .residual = {.value = value, .tangent = tangent, .adjoint = adjoint}},
               .y0 = W->g.y0, .p = p0, .t1 = 0.1, .atol = 1, .functional = IVP_SQUARES, .stiff = 1, .own = W,
               .free_own = free_web};
    return COSTATE_OK;
}
