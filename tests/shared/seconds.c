/* seconds.c - the problems of seconds.h, with directions and values as in the shared oracles.

   S1: van der Pol's oscillator with a control, linear between nodes or a Chebyshev series.  S2: heat on a 3 x 3 grid
   with values on the boundary.  S3: sterilisation of a can, 5 x 5 points with temperature and two concentrations each.
   S4a: logistic growth.  S1 to S3 are from D. B. Ozyurt and P. I. Barton, SIAM J. Sci. Comput. 26 (2005) 1725-1743. */
#include <math.h>
#include <stdlib.h>
#include "seconds.h"
#include "seconds_reference.h"

/* ---- callbacks ---- */

#define CALLBACKS(name) \
static int name##_value(const costate_point *x, double *out, void *s) \
{ \
    return graph_value(&((second *)s)->name, x, out), 0; \
} \
static int name##_tangent(const costate_point *x, const costate_point *dx, double *out, void *s) \
{ \
    return graph_tangent(&((second *)s)->name, x, dx, NULL, out), 0; \
} \
static int name##_adjoint(const costate_point *x, const double *w, const costate_gradient *g, void *s) \
{ \
    return graph_adjoint(&((second *)s)->name, x, NULL, NULL, w, g), 0; \
} \
static int name##_tangent2(const costate_point *x, const costate_point *a, const costate_point *b, double *out, \
                           void *s) \
{ \
    return graph_tangent(&((second *)s)->name, x, a, b, out), 0; \
} \
static int name##_adjoint_tangent(const costate_point *x, const costate_point *dx, const double *w, \
                                  const costate_gradient *g, void *s) \
{ \
    return graph_adjoint(&((second *)s)->name, x, dx, NULL, w, g), 0; \
} \
static int name##_adjoint_tangent2(const costate_point *x, const costate_point *a, const costate_point *b, \
                                   const double *w, const costate_gradient *g, void *s) \
{ \
    return graph_adjoint(&((second *)s)->name, x, a, b, w, g), 0; \
}
CALLBACKS(rhs)
CALLBACKS(cost)
#define MAP(name) \
    {.value = name##_value, .tangent = name##_tangent, .adjoint = name##_adjoint, .tangent2 = name##_tangent2, \
     .adjoint_tangent = name##_adjoint_tangent, .adjoint_tangent2 = name##_adjoint_tangent2}

/* df/dy, n*n by columns */
static int jac(const costate_point *x, double *J, void *s)
{
    double e[SECONDS_U] = {0};
    int n = ((second *)s)->P.n;
    for (int j = 0; j < n; j++) {
        e[j] = 1;
        graph_tangent(&((second *)s)->rhs, x, &(costate_point){.y = e}, NULL, J + j * n);
        e[j] = 0;
    }
    return 0;
}

void second_declare(second *s, const char *name, int n, int np, int nq, double t1, int unknowns, int directions)
{
    *s = (second){.name = name, .t1 = t1, .unknowns = unknowns, .directions = directions};
    s->P = (costate_problem){.n = n, .np = np, .nq = nq, .ctx = s, .rhs = MAP(rhs), .jac = jac};
    if (nq) s->P.cost = (costate_map)MAP(cost);
    graph_begin(&s->rhs, n, np);
    graph_begin(&s->cost, n, np);
    graph_begin(&s->start, 0, unknowns);
    graph_begin(&s->end, n, np);
}

/* the unknowns are p and y(t0) themselves */
static void unknowns_are_p_and_y(second *s)
{
    for (int i = 0; i < s->unknowns; i++) graph_row(&s->start, graph_p(&s->start, i));
}

static void reference(second *s, double value, const double *gradient, const double *products, const int *block)
{
    s->value = value, s->gradient = gradient, s->products = products, s->block = block;
}

/* ---- controls: nodes of a graph whose first parameters they are ---- */

static double corner_at(double t1, int np, int k) { return t1 * k / (np - 1); }

static int linear_between_nodes(graph *g, double t1, int np)
{
    int v = graph_p(g, 0);
    for (int k = 1; k < np; k++) {
        int rise = graph_rise(g, graph_t(g), corner_at(t1, np, k - 1), corner_at(t1, np, k));
        v = graph_plus(g, v, 1, graph_times(g, rise, graph_plus(g, graph_p(g, k), -1, graph_p(g, k - 1))));
    }
    return v;
}

static void corners(second *s, int np)
{
    for (int k = 1; k < np - 1; k++) s->corner[k - 1] = corner_at(s->t1, np, k);
    s->corners = (costate_event){.ntimes = np > 2 ? np - 2 : 0, .times = s->corner, .from = COSTATE_ANY_MODE,
                                 .to = COSTATE_SAME_MODE};
    s->P.event = &s->corners;
    s->P.nevents = np > 2;
}

/* sum of p_i T_i(x), x = 2 t/t1 - 1; T_i+1 = 2 x T_i - T_i-1 */
static int chebyshev(graph *g, double t1, int np)
{
    int x = graph_plus(g, graph_number(g, -1), 2 / t1, graph_t(g)), before = graph_number(g, 1), T = x;
    int v = graph_p(g, 0);
    for (int i = 1; i < np; i++) {
        int next = graph_plus(g, graph_times(g, graph_plus(g, x, 1, x), T), -1, before);
        v = graph_plus(g, v, 1, graph_times(g, T, graph_p(g, i)));
        before = T;
        T = next;
    }
    return v;
}

/* ---- S1: y0' = (1 - y1^2) y0 - y1 + v, y1' = y0, y2' = y0^2 + y1^2 + v^2; g = y2(5) ---- */

static void S1(second *s, const char *name, int np, int control(graph *, double, int))
{
    static const double y0[] = {0, 1, 0};
    graph *g = &s->rhs;
    second_declare(s, name, 3, np, 0, 5, np + 3, 1);
    int v = control(g, 5, np), a = graph_y(g, 0), b = graph_y(g, 1), bb = graph_times(g, b, b);
    int f = graph_plus(g, graph_plus(g, a, -1, graph_times(g, bb, a)), -1, b);
    int squares = graph_plus(g, graph_times(g, a, a), 1, bb);
    graph_row(g, graph_plus(g, f, 1, v));
    graph_row(g, a);
    graph_row(g, graph_plus(g, squares, 1, graph_times(g, v, v)));
    graph_row(&s->end, graph_y(&s->end, 2));
    unknowns_are_p_and_y(s);
    for (int i = 0; i < np; i++) s->u[i] = 0.7, s->along[i] = 1.0 / np;
    for (int i = 0; i < 3; i++) s->u[np + i] = y0[i];
    if (control == linear_between_nodes) corners(s, np);
}

/* ---- S2: z' = p0 z_xx + p1 z_yy; 3 values on each side; unknowns: z(0), too, by i of x = (i + 1)/4 slowest ---- */

enum { SIDE = 3 };
enum { S2_LEFT = 2, S2_RIGHT = S2_LEFT + SIDE, S2_BOTTOM = S2_RIGHT + SIDE, S2_TOP = S2_BOTTOM + SIDE,
       S2_NP = S2_TOP + SIDE };

static int S2_z(graph *g, int i, int j)
{
    int on = i < 0 ? S2_LEFT + j : i == SIDE ? S2_RIGHT + j : j < 0 ? S2_BOTTOM + i : j == SIDE ? S2_TOP + i : -1;
    return on < 0 ? graph_y(g, i * SIDE + j) : graph_p(g, on);
}

/* (before - 2 at + behind)/h^2 */
static int second_difference(graph *g, int before, int at, int behind)
{
    int sum = graph_plus(g, graph_plus(g, before, 1, behind), -2, at);
    return graph_scaled(g, (SIDE + 1) * (SIDE + 1), sum);
}

static void S2(second *s)
{
    graph *g = &s->rhs;
    int sum = 0, n = SIDE * SIDE;
    second_declare(s, "S2_M3", n, S2_NP, 1, 0.16, S2_NP + n, 3);
    for (int i = 0; i < SIDE; i++)
        for (int j = 0; j < SIDE; j++) {
            double x = (i + 1.0) / (SIDE + 1), y = (j + 1.0) / (SIDE + 1);
            int xx = second_difference(g, S2_z(g, i - 1, j), S2_z(g, i, j), S2_z(g, i + 1, j));
            int yy = second_difference(g, S2_z(g, i, j - 1), S2_z(g, i, j), S2_z(g, i, j + 1));
            xx = graph_times(g, graph_p(g, 0), xx);
            graph_row(g, graph_plus(g, xx, 1, graph_times(g, graph_p(g, 1), yy)));
            s->u[S2_NP + i * SIDE + j] = 16 * x * (1 - x) * y * (1 - y);
        }
    for (int i = 0; i < n; i++) {
        int z = graph_y(&s->cost, i);
        sum = i ? graph_plus(&s->cost, sum, 1, z) : z;
    }
    graph_row(&s->cost, sum);
    unknowns_are_p_and_y(s);
    s->u[0] = s->u[1] = s->along[0] = 1;
    for (int k = 0; k < s->unknowns; k++) {
        s->along[s->unknowns + k] = 1.0 / s->unknowns;
        s->along[2 * s->unknowns + k] = (k % 2 ? -1.0 : 1.0) / (k + 1);
    }
}

/* ---- S3: T' = a (T_rr + T_r/r + T_zz), two reactions a point; v on the outer sides ---- */

enum { GRID = 5, POINTS = GRID * GRID, S3_NP = 10 };

/* Of f_0 .. f_5 on a grid of step 1: second differences, one-sided at 0, lopsided at 1; f_r is centred. */
static const double by_two[GRID][GRID + 1] = {
    {-1, 0.25, 1, -0.25}, {0.75, -1.25, 0.25, 0.25}, {0, 1, -2, 1}, {0, 0, 1, -2, 1}, {0, 0, 0, 1, -2, 1}};

/* sum (-1: none yet) and weight[k] f_k, f_k at first + k stride, f_5 = v */
static int stencil(graph *g, int sum, const double *weight, int first, int stride, int v)
{
    for (int k = 0; k <= GRID; k++) {
        int f = k < GRID ? graph_y(g, first + k * stride) : v;
        if (weight[k] != 0) sum = sum < 0 ? graph_scaled(g, weight[k], f) : graph_plus(g, sum, weight[k], f);
    }
    return sum;
}

static int heating(graph *g, int i, int j, int v)
{
    static const double a = 1.5443e-7, R = 0.04375, L = 0.058;
    double rr = a * GRID * GRID / (R * R), zz = a * GRID * GRID / (L * L), radial[GRID + 1], axial[GRID + 1];
    for (int k = 0; k <= GRID; k++) {
        radial[k] = (i ? rr : 2 * rr) * by_two[i][k];
        axial[k] = zz * by_two[j][k];
    }
    if (i) radial[i + 1] += rr / (2 * i), radial[i - 1] -= rr / (2 * i);     /* T_r/r, r = i */
    return stencil(g, stencil(g, -1, radial, j, GRID, v), axial, GRID * i, 1, v);
}

/* C' = -(ln 10/D) C 10^((T - 121.11)/z) */
static int reaction(graph *g, int C, int T, double D, double z)
{
    double ln10 = log(10), factor = -ln10 / D * pow(10, -121.11 / z);
    return graph_scaled(g, factor, graph_times(g, C, graph_exp(g, graph_scaled(g, ln10 / z, T))));
}

static void S3(second *s)
{
    graph *g = &s->rhs;
    second_declare(s, "S3_nc10", 3 * POINTS, S3_NP, 0, 8000, S3_NP + 3 * POINTS, 3);
    int v = linear_between_nodes(g, s->t1, S3_NP), sum = graph_number(&s->end, 0);
    for (int k = 0; k < POINTS; k++) graph_row(g, heating(g, k / GRID, k % GRID, v));
    for (int of = 1; of <= 2; of++)
        for (int k = 0; k < POINTS; k++)
            graph_row(g, reaction(g, graph_y(g, of * POINTS + k), graph_y(g, k), of == 1 ? 240 : 10716,
                                  of == 1 ? 10 : 25.56));
    for (int k = 0; k < POINTS; k++)
        sum = graph_plus(&s->end, sum, S3_weights[k], graph_y(&s->end, 2 * POINTS + k));
    graph_row(&s->end, sum);
    for (int i = 0; i < s->unknowns; i++) {              /* y has Cn/1e8: of the size of the others */
        int u = graph_p(&s->start, i);
        graph_row(&s->start, i < s->unknowns - POINTS ? u : graph_scaled(&s->start, 1e-8, u));
    }
    double *u = s->u, *dense = s->along + 2 * s->unknowns, y[3 * POINTS];
    for (int k = 0; k < S3_NP; k++) u[k] = 100, dense[k] = 1.0 / (k + 1);
    for (int k = 0; k < POINTS; k++) {
        u[S3_NP + k] = 71.11, u[S3_NP + POINTS + k] = 1, u[S3_NP + 2 * POINTS + k] = 1e8;
        y[k] = 71.11, y[POINTS + k] = y[2 * POINTS + k] = 1;
        dense[S3_NP + k] = cos(k), dense[S3_NP + 2 * POINTS + k] = 1e6 * sin(1 + k);
    }
    s->along[0] = s->along[s->unknowns + S3_NP] = 1;
    corners(s, S3_NP);
    s->P.jac = NULL;                                     /* 75 columns: fewer by colours of the pattern */
    costate_pattern_detect(&s->P, &(costate_point){.y = y, .p = u}, &s->pattern, NULL);
    s->P.pattern = s->pattern;
}

/* ---- S4a: y' = p0 y (1 - y/p1), y(0) = p2^2 ---- */

static int times3(graph *g, int x, int y, int z) { return graph_times(g, graph_times(g, x, y), z); }

/* p0 y^2 + sin(p1) y + p2 p3 y^3 + p3^2 */
static void S4a_point(graph *g)
{
    int y = graph_y(g, 0), p = graph_p(g, 0);
    int cubic = graph_times(g, times3(g, y, y, y), graph_times(g, p + 2, p + 3));
    int sum = graph_plus(g, times3(g, p, y, y), 1, graph_times(g, graph_sin(g, p + 1), y));
    graph_row(g, graph_plus(g, graph_plus(g, sum, 1, cubic), 1, graph_times(g, p + 3, p + 3)));
}

/* p3 y^2 + p0 p1 y + p2^2 t y + p3^3 */
static void S4a_integrand(graph *g)
{
    int y = graph_y(g, 0), p = graph_p(g, 0);
    int sum = graph_plus(g, times3(g, p + 3, y, y), 1, times3(g, p, p + 1, y));
    sum = graph_plus(g, sum, 1, graph_times(g, times3(g, p + 2, p + 2, y), graph_t(g)));
    graph_row(g, graph_plus(g, sum, 1, times3(g, p + 3, p + 3, p + 3)));
}

static void S4a(second *s, const char *name, int nq)
{
    static const double p0[] = {1.5, 2, 0.5, 0.75}, u[] = {1, -2, 0.5, 1.5};
    graph *g = &s->rhs;
    second_declare(s, name, 1, 4, nq, 2, 4, 5);
    int y = graph_y(g, 0), p = graph_p(g, 0), full = graph_over(g, y, p + 1);
    graph_row(g, times3(g, p, y, graph_plus(g, graph_number(g, 1), -1, full)));
    (nq ? S4a_integrand : S4a_point)(nq ? &s->cost : &s->end);
    g = &s->start;
    for (int i = 0; i < 4; i++) {
        graph_row(g, graph_p(g, i));
        s->u[i] = p0[i], s->along[i] = u[i];
        s->along[4 * (i + 1) + i] = 1;                   /* the columns of the Hessian */
    }
    graph_row(g, graph_times(g, graph_p(g, 2), graph_p(g, 2)));
}

/* ---- the table ---- */

second *second_new(int k)
{
    static const int one[] = {1, 4}, ten[] = {10, 13}, S2_blocks[] = {2, S2_NP, S2_NP + SIDE * SIDE}, four[] = {4},
                     S3_blocks[] = {S3_NP, S3_NP + POINTS, S3_NP + 2 * POINTS, S3_NP + 3 * POINTS};
    second *s = malloc(sizeof *s);
    if (!s) return NULL;
    switch (k) {
    case 0:
        S1(s, "S1 pwl_1", 1, linear_between_nodes);
        reference(s, S1_pwl_1_value, S1_pwl_1_gradient, S1_pwl_1_product, one);
        break;
    case 1:
        S1(s, "S1 pwl_10", 10, linear_between_nodes);
        reference(s, S1_pwl_10_value, S1_pwl_10_gradient, S1_pwl_10_product, ten);
        break;
    case 2:
        S1(s, "S1 cheb_10", 10, chebyshev);
        reference(s, S1_cheb_10_value, S1_cheb_10_gradient, S1_cheb_10_product, ten);
        break;
    case 3:
        S2(s);
        reference(s, S2_value, S2_gradient, S2_products, S2_blocks);
        break;
    case 4:
        S3(s);
        reference(s, S3_value, S3_gradient, S3_products, S3_blocks);
        break;
    case 5:
        S4a(s, "S4a point", 0);
        reference(s, S4a_point_value, S4a_point_gradient, S4a_point_products, four);
        break;
    default:
        S4a(s, "S4a integral", 1);
        reference(s, S4a_integral_value, S4a_integral_gradient, S4a_integral_products, four);
    }
    return s;
}

void second_free(second *s)
{
    if (s) costate_pattern_free(s->pattern);
    free(s);
}

/* ---- from unknowns, and back to them ---- */

/* rows of start: p, then y */
static void part(const second *s, const double *rows, double *y, double *p)
{
    for (int i = 0; i < s->P.np && p; i++) p[i] = rows[i];
    for (int i = 0; i < s->P.n + s->P.nq && y; i++) y[i] = i < s->P.n ? rows[s->P.np + i] : 0;
}

void second_start(const second *s, double *y, double *p, double *V, double *Vp)
{
    const costate_point u = {.p = s->u};
    double rows[SECONDS_U];
    int N = s->P.n + s->P.nq;
    graph_value(&s->start, &u, rows);
    part(s, rows, y, p);
    for (int j = 0; V && j < s->directions; j++) {
        graph_tangent(&s->start, &u, &(costate_point){.p = s->along + j * s->unknowns}, NULL, rows);
        part(s, rows, V + j * N, Vp + j * s->P.np);
    }
}

double second_value(const second *s, const double *y, const double *p)
{
    double end = 0;
    if (s->end.rows) graph_value(&s->end, &(costate_point){.t = s->t1, .y = y, .p = p}, &end);
    return end + (s->P.nq ? y[s->P.n] : 0);
}

int second_seed(double t1, const double *y, const double *p, int m, const double *V, const double *Vp, double *lambda,
                double *mu, double *lambda2, double *mu2, void *ctx)
{
    const second *s = ctx;
    const costate_point x = {.t = t1, .y = y, .p = p};
    const double one = 1;
    int n = s->P.n, N = n + s->P.nq, np = s->P.np;
    for (int i = n; i < N; i++) lambda[i] = 1;
    if (s->end.rows) graph_adjoint(&s->end, &x, NULL, NULL, &one, &(costate_gradient){.y = lambda, .p = mu});
    for (int j = 0; s->end.rows && j < m; j++) {
        const costate_point dx = {.y = V + j * N, .p = Vp ? Vp + j * np : NULL};
        graph_adjoint(&s->end, &x, &dx, NULL, &one,
                      &(costate_gradient){.y = lambda2 + j * N, .p = mu2 ? mu2 + j * np : NULL});
    }
    return 0;
}

static void weights(const second *s, const double *lambda, const double *mu, double *rows)
{
    for (int i = 0; i < s->P.np; i++) rows[i] = mu[i];
    for (int i = 0; i < s->P.n; i++) rows[s->P.np + i] = lambda[i];
}

/* start'^T (lambda, mu); and start'^T (lambda2, mu2) + (start''[u])^T (lambda, mu) */
void second_unknowns(const second *s, const double *lambda, const double *mu, const double *lambda2, const double *mu2,
                     double *gradient, double *products)
{
    const costate_point u = {.p = s->u};
    double w[SECONDS_U], w2[SECONDS_U];
    for (int i = 0; i < s->unknowns; i++) gradient[i] = 0;
    weights(s, lambda, mu, w);
    graph_adjoint(&s->start, &u, NULL, NULL, w, &(costate_gradient){.p = gradient});
    for (int j = 0; products && j < s->directions; j++) {
        double *to = products + j * s->unknowns;
        for (int i = 0; i < s->unknowns; i++) to[i] = 0;
        weights(s, lambda2 + j * (s->P.n + s->P.nq), mu2 + j * s->P.np, w2);
        graph_adjoint(&s->start, &u, NULL, NULL, w2, &(costate_gradient){.p = to});
        graph_adjoint(&s->start, &u, &(costate_point){.p = s->along + j * s->unknowns}, NULL, w,
                      &(costate_gradient){.p = to});
    }
}
