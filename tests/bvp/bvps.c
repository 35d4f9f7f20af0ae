/* bvps.c - the problems of bvps.h; the oracles' with parameters and values as in the shared oracles. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "bvps.h"
#include "bvp_reference.h"

/* ---- callbacks ---- */

/* a residual's graphs are of (y, y'): the same point, direction or gradient with both in one array */
typedef struct { double at[2 * BVPS_N]; costate_point x; } both;

static const costate_point *joined(const bvps *s, const costate_point *x, both *to)
{
    int n = s->P.n;
    if (!x || s->form != BVPS_RESIDUAL) return x;
    for (int i = 0; i < n; i++) to->at[i] = x->y ? x->y[i] : 0, to->at[n + i] = x->yp ? x->yp[i] : 0;
    to->x = *x;
    to->x.y = to->at;
    return &to->x;
}

static int rhs_value(const costate_point *x, double *out, void *ctx)
{
    const bvps *s = ctx;
    both in;
    return graph_value(&s->rhs[x->mode], joined(s, x, &in), out), 0;
}

static int rhs_along(const bvps *s, const costate_point *x, const costate_point *a, const costate_point *b, double *out)
{
    both in, in_a, in_b;
    return graph_tangent(&s->rhs[x->mode], joined(s, x, &in), joined(s, a, &in_a), joined(s, b, &in_b), out), 0;
}
static int rhs_tangent(const costate_point *x, const costate_point *dx, double *out, void *s)
{
    return rhs_along(s, x, dx, NULL, out);
}
static int rhs_tangent2(const costate_point *x, const costate_point *a, const costate_point *b, double *out, void *s)
{
    return rhs_along(s, x, a, b, out);
}

static int rhs_back(const bvps *s, const costate_point *x, const costate_point *dx, const double *w,
                    const costate_gradient *g)
{
    both in, in_dx;
    double by[2 * BVPS_N] = {0};
    costate_gradient to = *g;
    to.y = by;
    graph_adjoint(&s->rhs[x->mode], joined(s, x, &in), joined(s, dx, &in_dx), NULL, w, &to);
    for (int i = 0; i < s->P.n; i++) {
        if (g->y) g->y[i] += by[i];
        if (g->yp && s->form == BVPS_RESIDUAL) g->yp[i] += by[s->P.n + i];
    }
    return 0;
}
static int rhs_adjoint(const costate_point *x, const double *w, const costate_gradient *g, void *s)
{
    return rhs_back(s, x, NULL, w, g);
}
static int rhs_adjoint_tangent(const costate_point *x, const costate_point *dx, const double *w,
                               const costate_gradient *g, void *s)
{
    return rhs_back(s, x, dx, w, g);
}

#define CALLBACKS(name, which) \
static int name##_value(const costate_point *x, double *out, void *s) \
{ \
    return graph_value(&((bvps *)s)->which, x, out), 0; \
} \
static int name##_tangent(const costate_point *x, const costate_point *dx, double *out, void *s) \
{ \
    return graph_tangent(&((bvps *)s)->which, x, dx, NULL, out), 0; \
} \
static int name##_adjoint(const costate_point *x, const double *w, const costate_gradient *g, void *s) \
{ \
    return graph_adjoint(&((bvps *)s)->which, x, NULL, NULL, w, g), 0; \
} \
static int name##_tangent2(const costate_point *x, const costate_point *a, const costate_point *b, double *out, \
                           void *s) \
{ \
    return graph_tangent(&((bvps *)s)->which, x, a, b, out), 0; \
} \
static int name##_adjoint_tangent(const costate_point *x, const costate_point *dx, const double *w, \
                                  const costate_gradient *g, void *s) \
{ \
    return graph_adjoint(&((bvps *)s)->which, x, dx, NULL, w, g), 0; \
}
CALLBACKS(cost, cost[x->mode])
CALLBACKS(conditions, conditions)
#define MAP(name) \
    {.value = name##_value, .tangent = name##_tangent, .adjoint = name##_adjoint, .tangent2 = name##_tangent2, \
     .adjoint_tangent = name##_adjoint_tangent}

/* by y, or by y': n*n by columns, or in the pattern */
static int columns(const bvps *s, const costate_point *x, int slope, double *J)
{
    const costate_pattern *S = s->P.pattern;
    double e[BVPS_N] = {0}, column[BVPS_N];
    int n = s->P.n;
    for (int j = 0; j < n; j++) {
        e[j] = 1;
        rhs_along(s, x, &(costate_point){.y = slope ? NULL : e, .yp = slope ? e : NULL}, NULL, column);
        e[j] = 0;
        if (!S) memcpy(J + (size_t)j * (size_t)n, column, (size_t)n * sizeof *J);
        else for (int k = S->col[j]; k < S->col[j + 1]; k++) J[k] = column[S->row[k]];
    }
    return 0;
}
static int jac(const costate_point *x, double *J, void *s) { return columns(s, x, 0, J); }
static int jac_yp(const costate_point *x, double *J, void *s) { return columns(s, x, 1, J); }

/* ---- M, and rows of the three forms from the nodes of f ---- */

static double mass_entry(int n, int i, int j)
{
    return i == j ? 1 + 0.5 * (i % 3) : j == i + 1 && j < n ? 0.4 : 0;
}

static int mass(double *M, void *ctx)
{
    const bvps *s = ctx;
    const costate_pattern *S = s->P.pattern;
    int n = s->P.n;
    for (int j = 0; j < n; j++) {
        if (S) for (int k = S->col[j]; k < S->col[j + 1]; k++) M[k] = mass_entry(n, S->row[k], j);
        else for (int i = 0; i < n; i++) M[j * n + i] = mass_entry(n, i, j);
    }
    return 0;
}

static int mixed(graph *g, int n, const int *x, int i)
{
    int sum = graph_scaled(g, mass_entry(n, i, i), x[i]);
    return i + 1 < n ? graph_plus(g, sum, mass_entry(n, i, i + 1), x[i + 1]) : sum;
}

/* G */
static int bent(graph *g, int x, int one)
{
    return graph_plus(g, x, 0.3, graph_over(g, x, graph_plus(g, one, 1, graph_times(g, x, x))));
}

static void rows(const bvps *s, graph *g, const int *f)
{
    int n = s->P.n, u[BVPS_N], one = graph_number(g, 1);
    for (int i = 0; i < n; i++)
        u[i] = s->form == BVPS_RESIDUAL ? graph_plus(g, bent(g, graph_y(g, n + i), one), -1, bent(g, f[i], one)) : f[i];
    for (int i = 0; i < n; i++) {
        int row = s->form == BVPS_PLAIN ? u[i] : mixed(g, n, u, i);
        if (s->form == BVPS_RESIDUAL)
            row = graph_times(g, row, graph_plus(g, one, 0.3, graph_sin(g, graph_y(g, i))));
        graph_row(g, row);
    }
}

/* ---- begin and end of all ---- */

static bvps *begin(const char *name, int n, int np, int nq, int pieces, bvps_kind kind)
{
    bvps *s = calloc(1, sizeof *s);
    if (!s) return NULL;
    s->name = name;
    s->form = kind.form;
    s->b = 1;
    s->P = (costate_problem){.n = n, .np = np, .nq = nq, .ctx = s};
    *(kind.form == BVPS_RESIDUAL ? &s->P.residual : &s->P.rhs) = (costate_map)MAP(rhs);
    if (nq) s->P.cost = (costate_map)MAP(cost);
    if (kind.form == BVPS_MASS) s->P.mass = mass;
    if (kind.jac) s->P.jac = jac;
    if (kind.jac && kind.form == BVPS_RESIDUAL) s->P.jac_yp = jac_yp;
    s->C = (costate_conditions){.map = MAP(conditions), .count = n};
    for (int k = 0; k < pieces; k++) {
        graph_begin(&s->rhs[k], kind.form == BVPS_RESIDUAL ? 2 * n : n, np);
        graph_begin(&s->cost[k], n, np);
    }
    graph_begin(&s->conditions, 2 * n, np);
    graph_begin(&s->solution, 0, np);
    return s;
}

void bvps_free(bvps *s)
{
    if (s) free(s->room);
    free(s);
}

/* where an entry of a map of `wide` unknowns is not zero, at one point, or is one of M: into col, row */
static void pattern_of(const bvps *s, int conditions, int wide, int *col, int *row)
{
    double y[2 * BVPS_N], yp[BVPS_N], e[2 * BVPS_N] = {0}, out[2][BVPS_N] = {{0}};
    const costate_point x = {.t = 0.37, .y = y, .yp = yp, .p = s->p}, dy = {.y = e}, dyp = {.yp = e};
    int n = s->P.n, used = 0;
    for (int i = 0; i < 2 * n; i++) y[i] = 0.3 + 0.017 * i, yp[i % n] = 0.2 - 0.013 * i;
    for (int j = 0; j < wide; j++) {
        e[j] = 1;
        if (conditions) graph_tangent(&s->conditions, &x, &dy, NULL, out[0]);
        else rhs_along(s, &x, &dy, NULL, out[0]), rhs_along(s, &x, &dyp, NULL, out[1]);
        e[j] = 0;
        col[j] = used;
        for (int i = 0; i < n; i++)
            if (out[0][i] != 0 || out[1][i] != 0 || (!conditions && mass_entry(n, i, j) != 0)) row[used++] = i;
    }
    col[wide] = used;
}

/* the patterns, where they are wanted; else as it is */
static bvps *ended(bvps *s, int sparse)
{
    size_t n = (size_t)s->P.n;
    if (!sparse) return s;
    s->room = malloc((3 * n + 2 + 3 * n * n) * sizeof *s->room);
    if (!s->room) { bvps_free(s); return NULL; }
    int *col = s->room, *border = col + n + 1, *row = border + 2 * n + 1;
    pattern_of(s, 0, s->P.n, col, row);
    pattern_of(s, 1, 2 * s->P.n, border, row + n * n);
    s->pattern = (costate_pattern){s->P.n, col, row};
    s->border = (costate_pattern){2 * s->P.n, border, row + n * n};
    s->P.pattern = &s->pattern;
    s->C.pattern = &s->border;
    return s;
}

costate_bvp_options bvps_options(const bvps *s, double tol)
{
    return (costate_bvp_options){.rtol = tol, .atol = tol, .nbreaks = s->nbreaks, .breaks = s->breaks};
}

/* ---- sums ---- */

static int cosine(graph *g, int x) { return graph_sin(g, graph_plus(g, x, acos(0), graph_number(g, 1))); }
static int square(graph *g, int x) { return graph_times(g, x, x); }
static int times3(graph *g, int x, int y, int z) { return graph_times(g, graph_times(g, x, y), z); }
static int minus(graph *g, int x, int y) { return graph_plus(g, x, -1, y); }

/* ---- B1: x0' = x1, x1' = (u(t) - m grav l cos x0)/(J + m l^2); x0(0) = th0, x0(1) = th1 ---- */

enum { TH0 = 9, TH1, MASS, LENGTH, INERTIA, GRAVITY, B1_NP };
enum { TORQUES = 8 };

static int inertia(graph *g)
{
    int p = graph_p(g, 0);
    return graph_plus(g, p + INERTIA, 1, times3(g, p + MASS, p + LENGTH, p + LENGTH));
}
static int weight(graph *g)
{
    int p = graph_p(g, 0);
    return times3(g, p + MASS, p + GRAVITY, p + LENGTH);
}

static void B1(bvps *s)
{
    for (int k = 0; k < TORQUES; k++) {
        graph *g = &s->rhs[k];
        int p = graph_p(g, 0), since = graph_plus(g, graph_scaled(g, TORQUES, graph_t(g)), -k, graph_number(g, 1));
        int torque = graph_plus(g, p + k, 1, graph_times(g, since, minus(g, p + k + 1, p + k)));
        int force = minus(g, torque, graph_times(g, weight(g), cosine(g, graph_y(g, 0))));
        rows(s, g, (int[]){graph_y(g, 1), graph_over(g, force, inertia(g))});
        g = &s->cost[k];
        int kinetic = graph_scaled(g, 0.5, graph_times(g, inertia(g), square(g, graph_y(g, 1))));
        graph_row(g, graph_plus(g, kinetic, 1, graph_times(g, weight(g), graph_sin(g, graph_y(g, 0)))));
    }
    for (int k = 1; k < TORQUES; k++) s->breaks[s->nbreaks++] = k / (double)TORQUES;
    graph *g = &s->conditions;
    graph_row(g, minus(g, graph_y(g, 0), graph_p(g, TH0)));
    graph_row(g, minus(g, graph_y(g, 2), graph_p(g, TH1)));
}

/* ---- B2: p = (al, om, f1, kap, c1, c2) ---- */

static void B2(bvps *s)
{
    graph *g = &s->rhs[0];
    int y = graph_y(g, 0), al = graph_p(g, 0), om = graph_p(g, 1), turned = graph_times(g, om, y + 1);
    int first = graph_plus(g, minus(g, turned, graph_times(g, al, y)), 1, graph_p(g, 2));
    int second = minus(g, graph_scaled(g, -1, graph_times(g, om, y)), graph_times(g, al, y + 1));
    rows(s, g, (int[]){first, second});
    g = &s->cost[0];
    y = graph_y(g, 0);
    int sum = graph_plus(g, square(g, y), 1, times3(g, graph_p(g, 0), y, y + 1));
    graph_row(g, graph_plus(g, sum, 1, graph_times(g, graph_p(g, 1), y + 1)));
    g = &s->conditions;
    int at_a = graph_y(g, 0), at_b = graph_y(g, 2), kap = graph_p(g, 3);
    graph_row(g, minus(g, minus(g, at_a, graph_times(g, kap, at_b)), graph_p(g, 4)));
    sum = graph_plus(g, at_a + 1, 1, times3(g, kap, kap, at_b + 1));
    graph_row(g, minus(g, graph_plus(g, sum, 1, at_b), graph_p(g, 5)));
}

/* ---- B3: y'' = .., y(0) = al, y(1) = be; r = y^2; p = (eps, .., al, be) ---- */

static void layer(bvps *s, int second)
{
    int np = s->P.np;
    rows(s, &s->rhs[0], (int[]){graph_y(&s->rhs[0], 1), second});
    graph_row(&s->cost[0], square(&s->cost[0], graph_y(&s->cost[0], 0)));
    graph *g = &s->conditions;
    graph_row(g, minus(g, graph_y(g, 0), graph_p(g, np - 2)));
    graph_row(g, minus(g, graph_y(g, 2), graph_p(g, np - 1)));
}

/* (s - b y' - c y)/eps */
static void B3a(bvps *s)
{
    graph *g = &s->rhs[0];
    int y = graph_y(g, 0), p = graph_p(g, 0);
    int force = minus(g, minus(g, p + 3, graph_times(g, p + 1, y + 1)), graph_times(g, p + 2, y));
    layer(s, graph_over(g, force, p));
}

/* -y y'/eps */
static void B3b(bvps *s)
{
    graph *g = &s->rhs[0];
    int y = graph_y(g, 0);
    layer(s, graph_over(g, graph_scaled(g, -1, graph_times(g, y, y + 1)), graph_p(g, 0)));
}

/* (y - f cos(kap t))/eps^2 */
static void B3c(bvps *s)
{
    graph *g = &s->rhs[0];
    int p = graph_p(g, 0), wave = graph_times(g, p + 1, cosine(g, graph_times(g, p + 2, graph_t(g))));
    layer(s, graph_over(g, minus(g, graph_y(g, 0), wave), square(g, p)));
}

bvps *bvps_oracle(int k, bvps_kind kind)
{
#define ROW(name) name##_q, name##_functionals, sizeof name##_functionals / sizeof *name##_functionals
    static const struct {
        const char *name;
        void (*write)(bvps *);
        int np, pieces;
        const double *q;
        const bvps_functional *functional;
        size_t count;
    } table[BVPS_ORACLES] = {
        {"B1", B1, B1_NP, TORQUES, ROW(B1)},
        {"B2", B2, 6, 1, ROW(B2)},
        {"B3a", B3a, 6, 1, ROW(B3a_0_1)},
        {"B3a 0.01", B3a, 6, 1, ROW(B3a_0_01)},
        {"B3b", B3b, 3, 1, ROW(B3b_0_1)},
        {"B3c", B3c, 5, 1, ROW(B3c_0_1)}};
#undef ROW
    bvps *s = begin(table[k].name, 2, table[k].np, 1, table[k].pieces, kind);
    if (!s) return NULL;
    memcpy(s->p, table[k].q, (size_t)table[k].np * sizeof *s->p);
    s->functional = table[k].functional;
    s->functionals = (int)table[k].count;
    table[k].write(s);
    return ended(s, kind.sparse);
}

bvps *bvps_find(const char *name, bvps_kind kind)
{
    for (int k = 0; k < BVPS_ORACLES; k++) {
        bvps *s = bvps_oracle(k, kind);
        if (!s || strcmp(s->name, name) == 0) return s;
        bvps_free(s);
    }
    return NULL;
}

double bvps_value(const bvps *s, int what, double t, const double *X, double *lambda, double *mu)
{
    const double one = 1;
    const costate_point x = {.t = t, .y = X, .p = s->p};
    double value = 0;
    if (what == BVPS_COST) {
        graph_value(&s->cost[0], &x, &value);
        graph_adjoint(&s->cost[0], &x, NULL, NULL, &one, &(costate_gradient){.y = lambda, .p = mu});
        return value;
    }
    int at = what == BVPS_INTEGRAL ? s->P.n : what;
    if (lambda) lambda[at] += 1;
    return X[at];
}

/* ---- closed: y = s(t, p), p = (0.9, 0.7, 1.3) ----

   s = (sin(p0 t + p1), exp(-p1 t), sin(p2 t) + t p0/2),   Q = t sin(p1 t),   v = y - s
   f = s' + rate T (-1.5, 2, -0.8) T^-1 v + (0.4 v1 y0, 0.3 sin v2, 0.5 v0 y1),   T: a turn by 0.6 in the first two
   r = Q' + v0 y1;   0 = v0(a) + 0.3 v1(b) + 0.2 v0(a) v2(b),   v1(b) - 0.2 sin v0(b),   v2(a) + 0.3 v1(b) v1(a) */

typedef struct { int value[4], slope[4]; } moves;        /* nodes of s, Q, and of s', Q' */

static moves solution_at(graph *g, int t)
{
    int p = graph_p(g, 0), phase = graph_plus(g, graph_times(g, p, t), 1, p + 1), fall = graph_times(g, p + 1, t);
    int wave = graph_times(g, p + 2, t), drop = graph_exp(g, graph_scaled(g, -1, fall));
    moves m;
    m.value[0] = graph_sin(g, phase);
    m.slope[0] = graph_times(g, p, cosine(g, phase));
    m.value[1] = drop;
    m.slope[1] = graph_scaled(g, -1, graph_times(g, p + 1, drop));
    m.value[2] = graph_plus(g, graph_sin(g, wave), 0.5, graph_times(g, p, t));
    m.slope[2] = graph_plus(g, graph_times(g, p + 2, cosine(g, wave)), 0.5, p);
    m.value[3] = graph_times(g, t, graph_sin(g, fall));
    m.slope[3] = graph_plus(g, graph_sin(g, fall), 1, graph_times(g, fall, cosine(g, fall)));
    return m;
}

static void gaps(graph *g, int first, const moves *m, int *v)
{
    for (int i = 0; i < 3; i++) v[i] = minus(g, graph_y(g, first + i), m->value[i]);
}

static void closed_rhs(bvps *s, double rate)
{
    graph *g = &s->rhs[0];
    double c = cos(0.6), d = sin(0.6);
    int v[3], f[3];
    moves m = solution_at(g, graph_t(g));
    gaps(g, 0, &m, v);
    int slow = graph_scaled(g, -1.5 * rate, graph_plus(g, graph_scaled(g, c, v[0]), d, v[1]));
    int fast = graph_scaled(g, 2 * rate, graph_plus(g, graph_scaled(g, c, v[1]), -d, v[0]));
    f[0] = graph_plus(g, graph_scaled(g, c, slow), -d, fast);
    f[1] = graph_plus(g, graph_scaled(g, d, slow), c, fast);
    f[2] = graph_scaled(g, -0.8 * rate, v[2]);
    f[0] = graph_plus(g, f[0], 0.4, graph_times(g, v[1], graph_y(g, 0)));
    f[1] = graph_plus(g, f[1], 0.3, graph_sin(g, v[2]));
    f[2] = graph_plus(g, f[2], 0.5, graph_times(g, v[0], graph_y(g, 1)));
    for (int i = 0; i < 3; i++) f[i] = graph_plus(g, f[i], 1, m.slope[i]);
    rows(s, g, f);
    g = &s->cost[0];
    m = solution_at(g, graph_t(g));
    gaps(g, 0, &m, v);
    graph_row(g, graph_plus(g, m.slope[3], 1, graph_times(g, v[0], graph_y(g, 1))));
}

static void closed_conditions(bvps *s)
{
    graph *g = &s->conditions;
    int va[3], vb[3];
    moves at_a = solution_at(g, graph_number(g, s->a)), at_b = solution_at(g, graph_number(g, s->b));
    gaps(g, 0, &at_a, va);
    gaps(g, 3, &at_b, vb);
    graph_row(g, graph_plus(g, graph_plus(g, va[0], 0.3, vb[1]), 0.2, graph_times(g, va[0], vb[2])));
    graph_row(g, graph_plus(g, vb[1], -0.2, graph_sin(g, vb[0])));
    graph_row(g, graph_plus(g, va[2], 0.3, graph_times(g, vb[1], va[1])));
}

bvps *bvps_closed(double rate, double length, bvps_kind kind)
{
    static const double p[] = {0.9, 0.7, 1.3};
    bvps *s = begin("closed", 3, 3, 1, 1, kind);
    if (!s) return NULL;
    s->a = 0.25, s->b = 0.25 + length;
    memcpy(s->p, p, sizeof p);
    closed_rhs(s, rate);
    closed_conditions(s);
    moves m = solution_at(&s->solution, graph_t(&s->solution));
    for (int i = 0; i < 4; i++) graph_row(&s->solution, m.value[i]);
    return ended(s, kind.sparse);
}

void bvps_exact(const bvps *s, double t, double *Y, double *by_p, double *by_t)
{
    double e[BVPS_NP] = {0}, start[BVPS_N];
    const costate_point x = {.t = t, .p = s->p}, a = {.t = s->a, .p = s->p};
    int n = s->P.n, N = n + s->P.nq;
    graph_value(&s->solution, &x, Y);
    graph_value(&s->solution, &a, start);
    for (int i = n; i < N; i++) Y[i] -= start[i];
    for (int j = 0; by_p && j < s->P.np; j++) {
        e[j] = 1;
        graph_tangent(&s->solution, &x, &(costate_point){.p = e}, NULL, by_p + j * N);
        graph_tangent(&s->solution, &a, &(costate_point){.p = e}, NULL, start);
        e[j] = 0;
        for (int i = n; i < N; i++) by_p[j * N + i] -= start[i];
    }
    if (by_t) graph_tangent(&s->solution, &x, &(costate_point){.t = 1}, NULL, by_t);
}

/* ---- tangled ---- */

static double uniform(unsigned *u)                       /* -1 .. 1 */
{
    *u = *u * 1664525u + 1013904223u;
    return (double)(*u >> 8) / 8388608.0 - 1;
}

/* f_i = d_i y_i + c sin(y_i+1) + e y_i-1 sin(y_i) + 0.3 p_i (y_i + sin t) + w t + k by the piece */
static void tangled_rhs(bvps *s, graph *g, unsigned seed, int piece)
{
    int n = s->P.n, np = s->P.np, f[BVPS_N], sine[BVPS_N], one = graph_number(g, 1), wave = graph_sin(g, graph_t(g));
    unsigned u = seed;
    for (int i = 0; i < n; i++) sine[i] = graph_sin(g, graph_y(g, i));
    for (int i = 0; i < n; i++) {
        double d = (i % 2 ? 1 : -1) * (1.5 + uniform(&u));
        f[i] = graph_plus(g, graph_scaled(g, d, graph_y(g, i)), 0.4 * uniform(&u), sine[(i + 1) % n]);
        int product = graph_times(g, graph_y(g, (i + n - 1) % n), sine[i]);
        f[i] = graph_plus(g, f[i], 0.3 * uniform(&u), product);
        f[i] = graph_plus(g, f[i], uniform(&u) + 0.8 * piece * uniform(&u), one);
        f[i] = graph_plus(g, f[i], 0.5 * uniform(&u), graph_t(g));
        if (!np) continue;
        int forced = graph_plus(g, graph_y(g, i), 1, wave);
        f[i] = graph_plus(g, f[i], 0.3, graph_times(g, graph_p(g, i % np), forced));
    }
    rows(s, g, f);
}

/* y_0 y_n-1 + (1 + piece) sin t + p_0 y_0,   sin(y_n/2) + piece */
static void tangled_cost(bvps *s, graph *g, int piece)
{
    int n = s->P.n, first = graph_times(g, graph_y(g, 0), graph_y(g, n - 1));
    first = graph_plus(g, first, 1 + piece, graph_sin(g, graph_t(g)));
    if (s->P.np) first = graph_plus(g, first, 1, graph_times(g, graph_p(g, 0), graph_y(g, 0)));
    graph_row(g, first);
    graph_row(g, graph_plus(g, graph_sin(g, graph_y(g, n / 2)), piece, graph_number(g, 1)));
}

/* What decays is given where t is least, what grows where it is largest, and both are coupled mildly:
   0 = main_i + 0.2 sin(other_i) + 0.1 main_i+1 other_i-1 + 0.4 p_i (1 + main_i) - k_i */
static void tangled_conditions(bvps *s, unsigned seed, int backwards)
{
    graph *g = &s->conditions;
    int n = s->P.n, np = s->P.np, one = graph_number(g, 1);
    unsigned u = seed + 17;
    for (int i = 0; i < n; i++) {
        int late = (i % 2) != backwards, main = late ? n : 0, other = late ? 0 : n;
        int row = graph_plus(g, graph_y(g, main + i), 0.2, graph_sin(g, graph_y(g, other + i)));
        int product = graph_times(g, graph_y(g, main + (i + 1) % n), graph_y(g, other + (i + n - 1) % n));
        row = graph_plus(g, row, 0.1, product);
        if (np) row = graph_plus(g, row, 0.4, graph_times(g, graph_p(g, i % np), graph_plus(g, one, 1,
                                                                                           graph_y(g, main + i))));
        graph_row(g, graph_plus(g, row, uniform(&u), one));
    }
}

bvps *bvps_tangled(const bvps_spec *spec)
{
    static const double corner[] = {0.3, 0.7, 1.15, 1.6};
    int pieces = spec->pieces;
    unsigned u = spec->seed + 5;
    bvps *s = begin("tangled", spec->n, spec->np, 2, pieces, spec->kind);
    if (!s) return NULL;
    s->a = corner[spec->backwards ? 3 : 0];
    s->b = corner[spec->backwards ? 0 : 3];
    s->nbreaks = pieces - 1;
    for (int k = 0; k < spec->np; k++) s->p[k] = 0.6 * uniform(&u);
    for (int k = 0; k < pieces; k++) {
        int piece = spec->backwards ? pieces - 1 - k : k;
        tangled_rhs(s, &s->rhs[k], spec->seed, piece);
        tangled_cost(s, &s->cost[k], piece);
        if (k) s->breaks[k - 1] = corner[spec->backwards ? pieces - k : k];
    }
    tangled_conditions(s, spec->seed, spec->backwards);
    return ended(s, spec->kind.sparse);
}
