/* fekete.c - twenty points that repel each other on the unit sphere: 160 unknowns, index 2.

       p_i' = q_i + 2 mu_i p_i,   q_i' = sum_{j != i} T(p_i - p_j) - q_i/2 + 2 lambda_i p_i,   T(u) = u/|u|^2,
       0 = |p_i|^2 - 1,   0 = 2 p_i.q_i

   (IVP test set; stabilised index 2: mu, lambda.)  M y' = f(y), f = L y + B(y, y) + T - e with B symmetric; T is
   the gradient of sum_{i<j} log|p_i - p_j|, which makes all its derivatives symmetric.  At rest on circles given by
   eight numbers a; the functional is that sum, log V, at t = 1. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "ivp.h"

enum { POINTS = 20, P = 0, Q = 60, MU = 120, LAMBDA = 140, N = 160, NA = 8 };
enum { ENTRIES = 60 * (60 + 3) + 60 * 3 + 40 * 3 };      /* of the pattern */

typedef struct {
    double y0[N], by_a[N * NA], full[N * N];
    int index[N], col[N + 1], row[ENTRIES];
    costate_pattern S;
} fekete;

static double dot(const double *a, const double *b) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }

/* ---- T(u), T'(u) d or T''(u)[d, e]: the one of as many directions as are not NULL ---- */

static void pair(const double *u, const double *d, const double *e, double *out)
{
    double r = dot(u, u), s = 1 / r, ud = d ? dot(u, d) : 0, ue = e ? dot(u, e) : 0, de = e ? dot(d, e) : 0;
    for (int k = 0; k < 3; k++)
        out[k] = e ? 2 * s * s * (u[k] * (4 * s * ud * ue - de) - d[k] * ue - e[k] * ud)
                   : d ? s * (d[k] - 2 * s * ud * u[k]) : s * u[k];
}

static const double *between(const double *p, int i, int j, double *u)
{
    if (!p) return NULL;
    for (int k = 0; k < 3; k++) u[k] = p[3 * i + k] - p[3 * j + k];
    return u;
}

/* out_i += sum_j of that */
static void repel(const double *p, const double *d, const double *e, double *out)
{
    double u[3], ud[3], ue[3], f[3];
    for (int i = 0; i < POINTS; i++)
        for (int j = 0; j < i; j++) {
            pair(between(p, i, j, u), between(d, i, j, ud), between(e, i, j, ue), f);
            for (int k = 0; k < 3; k++) { out[3 * i + k] += f[k]; out[3 * j + k] -= f[k]; }
        }
}

/* ---- L and B ---- */

static void linear(const double *y, double *out)
{
    memset(out, 0, N * sizeof *out);
    for (int i = 0; i < 60; i++) {
        out[P + i] = y[Q + i];
        out[Q + i] = -y[Q + i] / 2;
    }
}

static void linear_back(const double *w, double *out)
{
    for (int i = 0; i < 60; i++) out[Q + i] += w[P + i] - w[Q + i] / 2;
}

/* out += c B(x, y) */
static void quadratic(double c, const double *x, const double *y, double *out)
{
    for (int i = 0; i < 60; i++) {
        int m = MU + i / 3, l = LAMBDA + i / 3;
        out[P + i] += c * (x[m] * y[P + i] + y[m] * x[P + i]);
        out[Q + i] += c * (x[l] * y[P + i] + y[l] * x[P + i]);
        out[m] += c * x[P + i] * y[P + i];
        out[l] += c * (x[P + i] * y[Q + i] + x[Q + i] * y[P + i]);
    }
}

/* out += 2 B(x, .)^T w */
static void quadratic_back(const double *x, const double *w, double *out)
{
    for (int i = 0; i < 60; i++) {
        int m = MU + i / 3, l = LAMBDA + i / 3;
        out[P + i] += 2 * (x[m] * w[P + i] + x[l] * w[Q + i] + x[P + i] * w[m] + x[Q + i] * w[l]);
        out[Q + i] += 2 * x[P + i] * w[l];
        out[m] += 2 * x[P + i] * w[P + i];
        out[l] += 2 * x[P + i] * w[Q + i];
    }
}

/* ---- f ---- */

static int value(const costate_point *x, double *out, void *ctx)
{
    (void)ctx;
    linear(x->y, out);
    quadratic(1, x->y, x->y, out);
    repel(x->y + P, NULL, NULL, out + Q);
    for (int i = 0; i < POINTS; i++) out[MU + i] -= 1;
    return 0;
}

static int tangent(const costate_point *x, const costate_point *dx, double *out, void *ctx)
{
    static const double zeros[N];
    const double *d = dx->y ? dx->y : zeros;
    (void)ctx;
    linear(d, out);
    quadratic(2, x->y, d, out);
    repel(x->y + P, d + P, NULL, out + Q);
    return 0;
}

static int adjoint(const costate_point *x, const double *w, const costate_gradient *g, void *ctx)
{
    (void)ctx;
    if (!g->y) return 0;
    linear_back(w, g->y);
    quadratic_back(x->y, w, g->y);
    repel(x->y + P, w + Q, NULL, g->y + P);
    return 0;
}

static int tangent2(const costate_point *x, const costate_point *dx1, const costate_point *dx2, double *out, void *ctx)
{
    (void)ctx;
    memset(out, 0, N * sizeof *out);
    if (!dx1->y || !dx2->y) return 0;
    quadratic(2, dx1->y, dx2->y, out);
    repel(x->y + P, dx1->y + P, dx2->y + P, out + Q);
    return 0;
}

static int adjoint_tangent(const costate_point *x, const costate_point *dx, const double *w, const costate_gradient *g,
                           void *ctx)
{
    (void)ctx;
    if (!g->y || !dx->y) return 0;
    quadratic_back(dx->y, w, g->y);
    repel(x->y + P, dx->y + P, w + Q, g->y + P);
    return 0;
}

/* df_q/dp of a pair: columns T'(u) e_l, which go into four blocks */
static void pair_jacobian(const double *p, int i, int j, double *J)
{
    static const double e[3][3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    double u[3], column[3];
    between(p, i, j, u);
    for (int l = 0; l < 3; l++) {
        double *by_i = J + N * (P + 3 * i + l) + Q, *by_j = J + N * (P + 3 * j + l) + Q;
        pair(u, e[l], NULL, column);
        for (int k = 0; k < 3; k++) {
            by_i[3 * i + k] += column[k];
            by_i[3 * j + k] -= column[k];
            by_j[3 * j + k] += column[k];
            by_j[3 * i + k] -= column[k];
        }
    }
}

static int jacobian(const costate_point *x, double *J, void *ctx)
{
    const double *y = x->y;
    (void)ctx;
    memset(J, 0, N * N * sizeof *J);
    for (int i = 0; i < 60; i++) {
        int m = MU + i / 3, l = LAMBDA + i / 3;
        double *by_p = J + N * (P + i), *by_q = J + N * (Q + i);
        by_p[P + i] = 2 * y[m];
        by_p[Q + i] = 2 * y[l];
        by_p[m] = 2 * y[P + i];
        by_p[l] = 2 * y[Q + i];
        by_q[P + i] = 1;
        by_q[Q + i] = -0.5;
        by_q[l] = 2 * y[P + i];
        J[N * m + P + i] = 2 * y[P + i];
        J[N * l + Q + i] = 2 * y[P + i];
    }
    for (int i = 0; i < POINTS; i++)
        for (int j = 0; j < i; j++) pair_jacobian(y + P, i, j, J);
    return 0;
}

static int mass(double *M, void *ctx)
{
    (void)ctx;
    memset(M, 0, N * N * sizeof *M);
    for (int i = 0; i < MU; i++) M[N * i + i] = 1;
    return 0;
}

/* ---- with the pattern: rows that column j touches, by the kind of unknown ---- */

/* p: rows of itself, of all q, of mu and lambda of its point; q: of its p, itself, lambda; mu: of its p; lambda: q */
static int touches(int i, int j)
{
    if (j >= LAMBDA) return i >= Q && i < MU && (i - Q) / 3 == j - LAMBDA;
    if (j >= MU) return i < Q && i / 3 == j - MU;
    if (j >= Q) return i == j - Q || i == j || i == LAMBDA + (j - Q) / 3;
    return i == j || (i >= Q && i < MU) || i == MU + j / 3 || i == LAMBDA + j / 3;
}

static void build_pattern(fekete *F)
{
    int entries = 0;
    for (int j = 0; j < N; j++) {
        for (int i = 0; i < N; i++)
            if (touches(i, j)) F->row[entries++] = i;
        F->col[j + 1] = entries;
    }
    F->S = (costate_pattern){N, F->col, F->row};
}

static int gather(const fekete *F, double *values)
{
    for (int j = 0; j < N; j++)
        for (int e = F->col[j]; e < F->col[j + 1]; e++) values[e] = F->full[N * j + F->row[e]];
    return 0;
}

static int sparse_jacobian(const costate_point *x, double *J, void *ctx)
{
    fekete *F = ctx;
    jacobian(x, F->full, NULL);
    return gather(F, J);
}

static int sparse_mass(double *M, void *ctx)
{
    fekete *F = ctx;
    mass(F->full, NULL);
    return gather(F, M);
}

/* ---- start and functional ---- */

/* p_j on a circle at latitude a_1 pi (a_3, a_5, a_7), at longitude (at + a_2) pi (...); its derivative by a */
static void place(fekete *F, int circle, int j, double at)
{
    static const double PI = 3.14159265358979323846;
    static const double a[NA] = {3.0 / 8, 1.0 / 13, 1.0 / 8, 1.0 / 29, -2.0 / 15, 1.0 / 7, -3.0 / 10, 1.0 / 17};
    double b = a[2 * circle] * PI, w = (at + a[2 * circle + 1]) * PI;
    const double p[3] = {cos(w) * cos(b), sin(w) * cos(b), sin(b)};
    const double by_b[3] = {-cos(w) * sin(b), -sin(w) * sin(b), cos(b)}, by_w[3] = {-p[1], p[0], 0};
    for (int k = 0; k < 3; k++) {
        int i = P + 3 * j + k;
        F->y0[i] = p[k];
        F->by_a[2 * circle * N + i] = PI * by_b[k];
        F->by_a[(2 * circle + 1) * N + i] = PI * by_w[k];
    }
}

/* lambda keeps 2 p.q = 0 at rest: p.T + 2 lambda = 0.  Nothing at t > 0 changes with it, the constraints find it anew:
   its derivative by a is left out. */
static void start(fekete *F)
{
    static const struct { int first, end, from; } circles[] = {{0, 3, -1}, {3, 10, 2}, {10, 16, 9}, {16, 20, 16}};
    double f[60] = {0};
    for (int c = 0; c < 4; c++)
        for (int j = circles[c].first; j < circles[c].end; j++)
            place(F, c, j, 2.0 * (j - circles[c].from) / (circles[c].end - circles[c].first));
    repel(F->y0 + P, NULL, NULL, f);
    for (int i = 0; i < POINTS; i++) F->y0[LAMBDA + i] = -dot(F->y0 + P + 3 * i, f + 3 * i) / 2;
    for (int i = MU; i < N; i++) F->index[i] = 2;
}

static double log_V(const costate_problem *all, const double *y, double *w)
{
    double sum = 0, u[3] = {0};             /* gcc 14 does not see that between() sets it */
    (void)all;
    memset(w, 0, N * sizeof *w);
    repel(y + P, NULL, NULL, w + P);
    for (int i = 0; i < POINTS; i++)
        for (int j = 0; j < i; j++) {
            between(y + P, i, j, u);
            sum += log(dot(u, u)) / 2;
        }
    return sum;
}

int ivp_fekete(ivp *b, int sparse)
{
    fekete *F = calloc(1, sizeof *F);
    if (!F) return COSTATE_NO_MEMORY;
    start(F);
    *b = (ivp){.P = {.n = N, .ctx = F, .jac = jacobian, .mass = mass, .index = F->index,
                     .rhs = {.value = value, .tangent = tangent, .adjoint = adjoint, .tangent2 = tangent2,
                             .adjoint_tangent = adjoint_tangent}},
               .y0 = F->y0, .by_a = F->by_a, .na = NA, .t1 = 1, .atol = 1, .goal = log_V, .stiff = 1, .own = F,
               .free_own = free};
    if (!sparse) return COSTATE_OK;
    build_pattern(F);
    b->P.pattern = &F->S;
    b->P.jac = sparse_jacobian;
    b->P.mass = sparse_mass;
    return COSTATE_OK;
}
