/* grids.c - test problems by the method of lines: the Brusselator in one dimension, the heat equation in two.

   Brusselator (Hairer, Wanner, Solving ODEs II, section IV.1), m points, u_i = y[2i], v_i = y[2i+1], d = 1/(m+1):
       u' = A + u^2 v - (B+1) u + alpha u_xx,   v' = B u - u^2 v + alpha v_xx,   p = (A, B, alpha) = (1, 3, 1/50),
       u = 1, v = 3 at both ends;  u(0) = 1 + sin 2 pi x, v(0) = 3;  t from 0 to 10;  q' = sum of u / (m+1).

   Heat: u' = p0 u_xx + p1 u_yy on a mesh of w x w points, w = m + 2, of the unit square, d = 1/(m+1); boundary
   points stay; unknown k w + j at (j d, k d).  u(0) = 16 x (1-x) y (1-y), p = (1, 1), t from 0 to 0.16;
   q' = sum of u over all points.  Reference: its closed form (separation of variables).

   The same as F(t, u, u', p) = 0 of index 1: boundary rows are u - (value), with the values as parameters 2, 3, ... */
#include <stdlib.h>
#include <string.h>

#include "formula.h"
#include "problems.h"

/* ---- Brusselator ----------------------------------------------------------------------------------------------- */

typedef struct {                    /* one allocation: problem first, so that free() takes it */
    problem b;
    formula F;
    costate_pattern S;
    double p[3];
    double *y0;
    int *col, *row;
} brusselator;

static void brusselator_f(const formula *s, num t, const num *y, const num *p, num *f)
{
    int m = s->n / 2;
    num diffusion = times(s->size, p[2]);               /* alpha / d^2 */
    (void)t;
    for (int i = 0; i < m; i++) {
        num u = y[2 * i], v = y[2 * i + 1], uuv = mul(square(u), v), bu = mul(p[1], u);
        num ul = i > 0 ? y[2 * i - 2] : number(1), ur = i < m - 1 ? y[2 * i + 2] : number(1);
        num vl = i > 0 ? y[2 * i - 1] : number(3), vr = i < m - 1 ? y[2 * i + 3] : number(3);
        num uxx = add(sub(ul, times(2, u)), ur), vxx = add(sub(vl, times(2, v)), vr);
        f[2 * i] = add(sub(sub(add(p[0], uuv), bu), u), mul(diffusion, uxx));
        f[2 * i + 1] = add(sub(bu, uuv), mul(diffusion, vxx));
    }
}
static void brusselator_r(const formula *s, num t, const num *y, const num *p, num *r)
{
    (void)t, (void)p;
    r[0] = number(0);
    for (int i = 0; i < s->n; i += 2) r[0] = add(r[0], times(1.0 / (s->n / 2 + 1), y[i]));
}

/* column j: the same species two places off, both species here */
static int brusselator_pattern(int n, int *col, int *row)
{
    int e = 0;
    for (int j = 0; j < n; j++) {
        int cell = j - j % 2;
        col[j] = e;
        if (j - 2 >= 0) row[e++] = j - 2;
        row[e++] = cell;
        row[e++] = cell + 1;
        if (j + 2 < n) row[e++] = j + 2;
    }
    col[n] = e;
    return e;
}

problem *problem_brusselator(int points)
{
    int n = 2 * points;
    double d = 1.0 / (points + 1);
    if (points < 2 || n > FORMULA_MAX_N) return NULL;
    brusselator *B = calloc(1, sizeof *B + (size_t)n * sizeof(double) + (size_t)(5 * n + 1) * sizeof(int));
    if (!B) return NULL;
    B->y0 = (double *)(B + 1);
    B->col = (int *)(B->y0 + n);
    B->row = B->col + n + 1;
    brusselator_pattern(n, B->col, B->row);
    B->p[0] = 1, B->p[1] = 3, B->p[2] = 0.02;
    for (int i = 0; i < points; i++) {
        B->y0[2 * i] = 1 + sin(2 * 3.14159265358979323846 * (i + 1) * d);
        B->y0[2 * i + 1] = 3;
    }
    B->S = (costate_pattern){n, B->col, B->row};
    B->F = (formula){.n = n, .np = 3, .nq = 1, .autonomous = 1, .f = brusselator_f, .r = brusselator_r,
                     .pattern = &B->S, .colours = n >= 5 ? 5 : 0, .size = 1 / (d * d)};
    B->b = (problem){
        .name = "brusselator", .t0 = 0, .t1 = 10, .y0 = B->y0, .p0 = B->p, .autonomous = 1, .stiff = 1,
        .P = {.n = n, .np = 3, .nq = 1, .ctx = &B->F, .rhs = FORMULA_RHS, .cost = FORMULA_COST,
              .jac = formula_jac, .pattern = &B->S}
    };
    return &B->b;
}

/* ---- heat -------------------------------------------------------------------------------------------------------- */

typedef struct {
    problem b;
    int m;                          /* interior points a side */
    costate_pattern S;
    double *y0, *p;
    int *col, *row;
} heat;

/* out += a u_xx + b u_yy at interior points */
static void laplace(const heat *H, double a, double b, const double *u, double *out)
{
    int w = H->m + 2;
    double s = (H->m + 1.0) * (H->m + 1.0);
    for (int k = 1; k <= H->m; k++)
        for (int i = k * w + 1; i <= k * w + H->m; i++)
            out[i] += s * (a * (u[i - 1] - 2 * u[i] + u[i + 1]) + b * (u[i - w] - 2 * u[i] + u[i + w]));
}

/* out += (a d_xx + b d_yy)^T v */
static void laplace_transposed(const heat *H, double a, double b, const double *v, double *out)
{
    int w = H->m + 2;
    double s = (H->m + 1.0) * (H->m + 1.0);
    for (int k = 1; k <= H->m; k++)
        for (int i = k * w + 1; i <= k * w + H->m; i++) {
            out[i - 1] += s * a * v[i];
            out[i + 1] += s * a * v[i];
            out[i - w] += s * b * v[i];
            out[i + w] += s * b * v[i];
            out[i] -= 2 * s * (a + b) * v[i];
        }
}

/* gp += (v^T u_xx, v^T u_yy) */
static void laplace_moments(const heat *H, const double *u, const double *v, double *gp)
{
    int w = H->m + 2;
    double s = (H->m + 1.0) * (H->m + 1.0);
    for (int k = 1; k <= H->m; k++)
        for (int i = k * w + 1; i <= k * w + H->m; i++) {
            gp[0] += s * v[i] * (u[i - 1] - 2 * u[i] + u[i + 1]);
            gp[1] += s * v[i] * (u[i - w] - 2 * u[i] + u[i + w]);
        }
}

static void clear(const heat *H, double *out) { memset(out, 0, (size_t)H->b.P.n * sizeof *out); }

static int heat_value(const costate_point *x, double *out, void *ctx)
{
    clear(ctx, out);
    laplace(ctx, x->p[0], x->p[1], x->y, out);
    return 0;
}
static int heat_tangent(const costate_point *x, const costate_point *dx, double *out, void *ctx)
{
    clear(ctx, out);
    if (dx->y) laplace(ctx, x->p[0], x->p[1], dx->y, out);
    if (dx->p) laplace(ctx, dx->p[0], dx->p[1], x->y, out);
    return 0;
}
/* g += a f'(x)^T w */
static void heat_back(const heat *H, double a, const costate_point *x, const double *w, const costate_gradient *g)
{
    double moments[2] = {0};
    if (g->y) laplace_transposed(H, a * x->p[0], a * x->p[1], w, g->y);
    if (!g->p) return;
    laplace_moments(H, x->y, w, moments);
    for (int k = 0; k < 2; k++) g->p[k] += a * moments[k];
}
static int heat_adjoint(const costate_point *x, const double *w, const costate_gradient *g, void *ctx)
{
    return heat_back(ctx, 1, x, w, g), 0;
}
static int heat_tangent2(const costate_point *x, const costate_point *dx1, const costate_point *dx2, double *out,
                         void *ctx)
{
    (void)x;
    clear(ctx, out);
    if (dx1->p && dx2->y) laplace(ctx, dx1->p[0], dx1->p[1], dx2->y, out);
    if (dx2->p && dx1->y) laplace(ctx, dx2->p[0], dx2->p[1], dx1->y, out);
    return 0;
}
static int heat_adjoint_tangent(const costate_point *x, const costate_point *dx, const double *w,
                                const costate_gradient *g, void *ctx)
{
    (void)x;
    if (g->y && dx->p) laplace_transposed(ctx, dx->p[0], dx->p[1], w, g->y);
    if (g->p && dx->y) laplace_moments(ctx, dx->y, w, g->p);
    return 0;
}

static int heat_cost(const costate_point *x, double *out, void *ctx)
{
    const heat *H = ctx;
    out[0] = 0;
    for (int i = 0; i < H->b.P.n; i++) out[0] += x->y[i];
    return 0;
}
static int heat_cost_tangent(const costate_point *x, const costate_point *dx, double *out, void *ctx)
{
    (void)x;
    out[0] = 0;
    return dx->y ? heat_cost(dx, out, ctx) : 0;
}
static int heat_cost_adjoint(const costate_point *x, const double *w, const costate_gradient *g, void *ctx)
{
    const heat *H = ctx;
    (void)x;
    for (int i = 0; g->y && i < H->b.P.n; i++) g->y[i] += w[0];
    return 0;
}
static int heat_cost_tangent2(const costate_point *x, const costate_point *dx1, const costate_point *dx2,
                              double *out, void *ctx)
{
    (void)x, (void)dx1, (void)dx2, (void)ctx;
    out[0] = 0;
    return 0;
}
static int heat_cost_adjoint_tangent(const costate_point *x, const costate_point *dx, const double *w,
                                     const costate_gradient *g, void *ctx)
{
    (void)x, (void)dx, (void)w, (void)g, (void)ctx;
    return 0;
}

static int interior(const heat *H, int i)
{
    int w = H->m + 2, j = i % w, k = i / w;
    return j > 0 && j <= H->m && k > 0 && k <= H->m;
}

/* Column i: itself, and the interior ones of its four neighbours.  Returns the entries; row or J may be NULL. */
static int heat_entries(const heat *H, int i, const double *p, int *row, double *J)
{
    int w = H->m + 2, n = w * w, count = 0, offset[5] = {-w, -1, 0, 1, w};
    double s = (H->m + 1.0) * (H->m + 1.0);
    for (int e = 0; e < 5; e++) {
        int r = i + offset[e];
        if (r < 0 || r >= n || (r != i && !interior(H, r))) continue;
        if (row) row[count] = r;
        if (J) J[count] = e == 2 ? (interior(H, i) ? -2 * s * (p[0] + p[1]) : 0) : s * p[e % 4 == 0];
        count++;
    }
    return count;
}

static int heat_jac(const costate_point *x, double *J, void *ctx)
{
    const heat *H = ctx;
    for (int i = 0; i < H->b.P.n; i++) J += heat_entries(H, i, x->p, NULL, J);
    return 0;
}

/* The number of boundary point i among those: lower side, both ends of each row between, upper side. */
static int boundary(const heat *H, int i)
{
    int w = H->m + 2, j = i % w, k = i / w;
    return k == 0 ? j : k == w - 1 ? 3 * w - 4 + j : w + 2 * (k - 1) + (j > 0);
}

static int dae_value(const costate_point *x, double *out, void *ctx)
{
    const heat *H = ctx;
    heat_value(x, out, ctx);
    for (int i = 0; i < H->b.P.n; i++)
        out[i] = interior(H, i) ? x->yp[i] - out[i] : x->y[i] - x->p[2 + boundary(H, i)];
    return 0;
}
static int dae_tangent(const costate_point *x, const costate_point *dx, double *out, void *ctx)
{
    const heat *H = ctx;
    heat_tangent(x, dx, out, ctx);
    for (int i = 0; i < H->b.P.n; i++)
        out[i] = interior(H, i) ? (dx->yp ? dx->yp[i] : 0) - out[i]
                                : (dx->y ? dx->y[i] : 0) - (dx->p ? dx->p[2 + boundary(H, i)] : 0);
    return 0;
}
static int dae_adjoint(const costate_point *x, const double *w, const costate_gradient *g, void *ctx)
{
    const heat *H = ctx;
    heat_back(H, -1, x, w, g);
    for (int i = 0; i < H->b.P.n; i++) {
        int inside = interior(H, i);
        if (g->yp && inside) g->yp[i] += w[i];
        if (g->y && !inside) g->y[i] += w[i];
        if (g->p && !inside) g->p[2 + boundary(H, i)] -= w[i];
    }
    return 0;
}

static int dae_jac(const costate_point *x, double *J, void *ctx)
{
    const heat *H = ctx;
    heat_jac(x, J, ctx);
    for (int j = 0; j < H->S.n; j++)
        for (int k = H->col[j]; k < H->col[j + 1]; k++) J[k] = H->row[k] == j && !interior(H, j) ? 1 : -J[k];
    return 0;
}
static int dae_jac_yp(const costate_point *x, double *J, void *ctx)
{
    const heat *H = ctx;
    (void)x;
    for (int j = 0; j < H->S.n; j++)
        for (int k = H->col[j]; k < H->col[j + 1]; k++) J[k] = H->row[k] == j && interior(H, j);
    return 0;
}

problem *problem_heat(int m)
{
    int w = m + 2, n = w * w, np = 2 + 4 * (m + 1);
    if (m < 1 || m > 1000) return NULL;
    heat *H = calloc(1, sizeof *H + (size_t)(n + np) * sizeof(double) + (size_t)(6 * n + 1) * sizeof(int));
    if (!H) return NULL;
    H->m = m;
    H->y0 = (double *)(H + 1);
    H->p = H->y0 + n;
    H->col = (int *)(H->p + np);
    H->row = H->col + n + 1;
    H->p[0] = H->p[1] = 1;
    for (int i = 0; i < n; i++) {
        double xi = (double)(i % w) / (m + 1), yi = (double)(i / w) / (m + 1);
        H->y0[i] = 16 * xi * (1 - xi) * yi * (1 - yi);
        if (!interior(H, i)) H->p[2 + boundary(H, i)] = H->y0[i];
        H->col[i + 1] = H->col[i] + heat_entries(H, i, NULL, H->row + H->col[i], NULL);
    }
    H->S = (costate_pattern){n, H->col, H->row};
    H->b = (problem){
        .name = "heat", .t0 = 0, .t1 = 0.16, .y0 = H->y0, .p0 = H->p, .autonomous = 1, .stiff = 1,
        .P = {.n = n, .np = 2, .nq = 1, .ctx = H,
              .rhs = {.value = heat_value, .tangent = heat_tangent, .adjoint = heat_adjoint,
                      .tangent2 = heat_tangent2, .adjoint_tangent = heat_adjoint_tangent},
              .cost = {.value = heat_cost, .tangent = heat_cost_tangent, .adjoint = heat_cost_adjoint,
                       .tangent2 = heat_cost_tangent2, .adjoint_tangent = heat_cost_adjoint_tangent},
              .jac = heat_jac, .pattern = &H->S}
    };
    return &H->b;
}

problem *problem_heat_dae(int m, int with_jacobians)
{
    problem *b = problem_heat(m);
    if (!b) return NULL;
    b->mass = MASS_SINGULAR;
    b->P.np = 2 + 4 * (m + 1);
    b->P.rhs = (costate_map){0};
    b->P.residual = (costate_map){.value = dae_value, .tangent = dae_tangent, .adjoint = dae_adjoint};
    b->P.jac = with_jacobians ? dae_jac : NULL;
    b->P.jac_yp = with_jacobians ? dae_jac_yp : NULL;
    return b;
}

int problem_heat_boundary(const problem *b, int i)
{
    const heat *H = (const heat *)b;
    return interior(H, i) ? -1 : boundary(H, i);
}

void problem_free(problem *b) { free(b); }

static const heat_sample heat_samples[] = {
    {0, 0, 0.0, 0.16},
    {0, 1, 0.04334337259662409531663861, 0.4646911180438928682886672},
    {1, 0, 0.04334337259662409531663861, 0.4646911180438928682886672},
    {0, 20, 0.5657999284195153733867464, 1.765558238035090907831434},
    {20, 0, 0.5657999284195153733867464, 1.765558238035090907831434},
    {0, 40, 0.04334337259662409531663861, 0.4646911180438928682886672},
    {1, 1, 0.00002261585474899291567528255, 0.00127756205085361219763707},
    {1, 20, 0.0002952250736458074464899087, 0.007668629202472676406925579},
    {20, 1, 0.0002952250736458074464899087, 0.007668629202472676406925579},
    {5, 7, 0.0007372707437513866530017195, 0.02145817980454248383214574},
    {7, 5, 0.0007372707437513866530017195, 0.02145817980454248383214574},
    {20, 20, 0.003853838162497642079540253, 0.07007362105324868600104072},
    {20, 21, 0.003853838162497642079540253, 0.07007362105324868600104072},
    {40, 40, 0.00002261585474899291567528255, 0.00127756205085361219763707},
    {41, 13, 0.4752616690876501103696201, 1.652354332072534395674588},
    {13, 41, 0.4752616690876501103696201, 1.652354332072534395674588},
};

static const heat_reference heat_values = {
    .g1 = 0.863792474592583054991875, .g2 = 35.37275636025126775901245,
    .dg1_dp = {-2.72675828331648437357241, -2.72675828331648437357241},
    .dg2_dp = {-15.21781806270829875229804, -15.21781806270829875229804},
    .norm_dg1 = 5.127909324607381783397645, .norm_dg2 = 18.4949227063308379114546,
    .sum_dg1 = 61.71400293543337818020468, .sum_dg2 = 282.24,
    .count = sizeof heat_samples / sizeof heat_samples[0], .sample = heat_samples
};

const heat_reference *problem_heat_reference(void) { return &heat_values; }
