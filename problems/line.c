/* line.c - the Brusselator with diffusion on a line (E. Hairer, G. Wanner, Solving Ordinary Differential Equations II,
   section IV.1), with derivatives by hand.  problem_brusselator in grids.c is the same with parameters and an integral.

   m points, u_i = y[2i], v_i = y[2i+1], a = alpha (m+1)^2, alpha = 1/50, u = 1 and v = 3 at both ends:

       u' = 1 + u^2 v - 4 u + a Lap u,   v' = 3 u - u^2 v + a Lap v,   u(0) = 1 + sin 2 pi x, v(0) = 3

   The Jacobian has bands of 2.  The gradient in question is that of |y(10)|^2/2. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "ivp.h"

typedef struct { double u, v; } cell;

typedef struct {
    int points;
    double a;
    costate_pattern S;
    double *y0;
    int *col, *row;
} line;

/* out = a Lap x, with the given values at both ends; add: out += */
static void diffuse(const line *L, cell end, const double *x, int add, double *restrict out)
{
    int n = 2 * L->points;
    for (int i = 0; i < n; i++) {
        double beyond = i % 2 ? end.v : end.u, left = i > 1 ? x[i - 2] : beyond, right = i < n - 2 ? x[i + 2] : beyond;
        double d = L->a * (left - 2 * x[i] + right);
        out[i] = add ? out[i] + d : d;
    }
}

static const cell at_ends = {1, 3}, zero_at_ends = {0, 0};

static int value(const costate_point *x, double *out, void *ctx)
{
    const line *L = ctx;
    diffuse(L, at_ends, x->y, 0, out);
    for (int i = 0; i < L->points; i++) {
        double u = x->y[2 * i], uuv = u * u * x->y[2 * i + 1];
        out[2 * i] += 1 + uuv - 4 * u;
        out[2 * i + 1] += 3 * u - uuv;
    }
    return 0;
}

/* the derivative of u^2 v along d */
static double slope(const double *y, const double *d) { return 2 * y[0] * y[1] * d[0] + y[0] * y[0] * d[1]; }

static int tangent(const costate_point *x, const costate_point *dx, double *out, void *ctx)
{
    const line *L = ctx;
    if (!dx->y) return memset(out, 0, 2 * (size_t)L->points * sizeof *out), 0;
    diffuse(L, zero_at_ends, dx->y, 0, out);
    for (int i = 0; i < 2 * L->points; i += 2) {
        double s = slope(x->y + i, dx->y + i);
        out[i] += s - 4 * dx->y[i];
        out[i + 1] += 3 * dx->y[i] - s;
    }
    return 0;
}

/* the Laplacian is symmetric */
static int adjoint(const costate_point *x, const double *w, const costate_gradient *g, void *ctx)
{
    const line *L = ctx;
    if (!g->y) return 0;
    diffuse(L, zero_at_ends, w, 1, g->y);
    for (int i = 0; i < 2 * L->points; i += 2) {
        double u = x->y[i], v = x->y[i + 1], d = w[i] - w[i + 1];
        g->y[i] += 2 * u * v * d - 4 * w[i] + 3 * w[i + 1];
        g->y[i + 1] += u * u * d;
    }
    return 0;
}

static int tangent2(const costate_point *x, const costate_point *dx1, const costate_point *dx2, double *out, void *ctx)
{
    const line *L = ctx;
    memset(out, 0, 2 * (size_t)L->points * sizeof *out);
    for (int i = 0; dx1->y && dx2->y && i < 2 * L->points; i += 2) {
        const double *y = x->y + i, *a = dx1->y + i, *b = dx2->y + i;
        out[i] = 2 * (y[1] * a[0] * b[0] + y[0] * (a[0] * b[1] + a[1] * b[0]));
        out[i + 1] = -out[i];
    }
    return 0;
}

static int adjoint_tangent(const costate_point *x, const costate_point *dx, const double *w, const costate_gradient *g,
                           void *ctx)
{
    const line *L = ctx;
    for (int i = 0; g->y && dx->y && i < 2 * L->points; i += 2) {
        const double *y = x->y + i, *a = dx->y + i;
        double d = 2 * (w[i] - w[i + 1]);
        g->y[i] += d * (y[1] * a[0] + y[0] * a[1]);
        g->y[i + 1] += d * y[0] * a[0];
    }
    return 0;
}

/* column j: its neighbours of the same species, two places off, and both species of its point */
static int jacobian(const costate_point *x, double *J, void *ctx)
{
    const line *L = ctx;
    for (int j = 0; j < 2 * L->points; j++) {
        const double *y = x->y + j - j % 2;
        double d = j % 2 ? y[0] * y[0] : 2 * y[0] * y[1];
        for (int e = L->col[j]; e < L->col[j + 1]; e++) {
            int i = L->row[e];
            if (i != j && i % 2 == j % 2) J[e] = L->a;
            else J[e] = (i % 2 ? -d : d) + (i == j ? -2 * L->a : 0) + (j % 2 ? 0 : i % 2 ? 3 : -4);
        }
    }
    return 0;
}

static void lay_out(line *L)
{
    int n = 2 * L->points, next = 0;
    for (int j = 0; j < n; j++) {
        int point = j - j % 2;
        L->col[j] = next;
        if (j > 1) L->row[next++] = j - 2;
        L->row[next++] = point;
        L->row[next++] = point + 1;
        if (j < n - 2) L->row[next++] = j + 2;
    }
    L->col[n] = next;
    L->S = (costate_pattern){n, L->col, L->row};
}

static void free_line(void *p)
{
    line *L = p;
    if (!L) return;
    free(L->y0);
    free(L->col);
    free(L);
}

int ivp_brusselator1d(ivp *b, int points)
{
    if (points < 2 || points > 1000000) return COSTATE_BAD_ARGUMENT;
    size_t n = 2 * (size_t)points;
    line *L = calloc(1, sizeof *L);
    *b = (ivp){.own = L, .free_own = free_line};
    if (!L) return COSTATE_NO_MEMORY;
    L->points = points;
    L->a = (points + 1.0) * (points + 1.0) / 50;
    L->y0 = malloc(n * sizeof *L->y0);
    L->col = malloc((n + 1 + 4 * n) * sizeof *L->col);
    if (!L->y0 || !L->col) return COSTATE_NO_MEMORY;
    L->row = L->col + n + 1;
    lay_out(L);
    for (int i = 0; i < points; i++) {
        L->y0[2 * i] = 1 + sin(2 * 3.14159265358979323846 * (i + 1) / (points + 1));
        L->y0[2 * i + 1] = 3;
    }
    b->P = (costate_problem){.n = (int)n, .ctx = L, .jac = jacobian, .pattern = &L->S,
                             .rhs = {.value = value, .tangent = tangent, .adjoint = adjoint, .tangent2 = tangent2,
                                     .adjoint_tangent = adjoint_tangent}};
    b->y0 = L->y0, b->t1 = 10, b->atol = 1, b->functional = IVP_SQUARES, b->stiff = 1;
    return COSTATE_OK;
}
