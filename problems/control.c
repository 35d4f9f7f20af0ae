/* control.c - van der Pol's oscillator under a control v(t, p): its cost by as many parameters as one likes.

       x1' = (1 - x2^2) x1 - x2 + v,    x2' = x1,    x3' = x1^2 + x2^2 + v^2,    x(0) = (0, 1, 0),    g = x3(5)

   (D. B. Ozyurt, P. I. Barton, SIAM J. Sci. Comput. 26 (2005) 1725-1743, section 4.1.)  v = sum_i p_i phi_i(t) is
   linear between equidistant nodes, at which steps end, or a sum of Chebyshev's polynomials; all p are 0.7.  Hessian
   products are those along (1, ..., 1)/np. */
#include <stdlib.h>

#include "ivp.h"
#include "nodes.h"

enum { ORDERS = 4 };                            /* v and three derivatives by t */

typedef struct { double d[ORDERS]; } series;
typedef struct control control;

typedef struct {
    series (*sum)(const control *, double t, int orders, const double *p);      /* sum_i p_i phi_i^(k), k < orders */
    void (*spread)(const control *, double t, int orders, series w, double *out);   /* out_i += sum_k w_k phi_i^(k) */
} basis;

struct control {
    const basis *by;
    int np;
    double *numbers;                            /* what the others and nodes.times are parts of */
    double *p, *u;                              /* np; 3 + np */
    double *phi;                                /* np: Chebyshev's phi_i at the time behind them, for the next at it */
    costate_event nodes;
};

static const double start[3] = {0, 1, 0}, end = 5;

/* ---- linear between nodes --------------------------------------------------------------------------------------- */

static series linear_sum(const control *s, double t, int orders, const double *p)
{
    double part;
    int k = nodes_interval(end, s->np, t, &part);
    (void)orders;
    if (s->np == 1) return (series){{p[0], 0, 0, 0}};
    return (series){{(1 - part) * p[k] + part * p[k + 1], (p[k + 1] - p[k]) * (s->np - 1) / end, 0, 0}};
}

static void linear_spread(const control *s, double t, int orders, series w, double *out)
{
    double part, by_slope = (s->np - 1) / end * (orders > 1 ? w.d[1] : 0);
    int k = nodes_interval(end, s->np, t, &part);
    if (s->np == 1) part = by_slope = 0, k = 0;
    out[k] += (1 - part) * w.d[0] - by_slope;
    if (s->np > 1) out[k + 1] += part * w.d[0] + by_slope;
}

/* ---- Chebyshev's polynomials ------------------------------------------------------------------------------------ */

typedef struct { series now, before; double x; int orders; } chebyshev;

static chebyshev first(double t, int orders)
{
    double x = 2 * t / end - 1;
    return (chebyshev){{{1, 0, 0, 0}}, {{x, 2 / end, 0, 0}}, x, orders};       /* T_(-1) = T_1 */
}

/* T_(i+1) = 2 x T_i - T_(i-1), k times differentiated by t */
static inline void next(chebyshev *c)
{
    for (int k = c->orders - 1; k >= 0; k--) {
        double old = c->now.d[k];
        c->now.d[k] = 2 * (c->x * old + (k ? k * (2 / end) * c->now.d[k - 1] : 0)) - c->before.d[k];
        c->before.d[k] = old;
    }
}

static const double *chebyshev_at(const control *s, double t)
{
    chebyshev c = first(t, 1);
    double *phi = s->phi;
    if (phi[s->np] == t) return phi;
    for (int i = 0; i < s->np; i++, next(&c)) phi[i] = c.now.d[0];
    phi[s->np] = t;
    return phi;
}

/* in four sums, which do not wait for each other */
static double inner(int n, const double *x, const double *y)
{
    double a[4] = {0};
    int i = 0;
    for (; i < n - 3; i += 4)
        for (int k = 0; k < 4; k++) a[k] += x[i + k] * y[i + k];
    for (; i < n; i++) a[0] += x[i] * y[i];
    return a[0] + a[1] + (a[2] + a[3]);
}

static series chebyshev_sum(const control *s, double t, int orders, const double *p)
{
    if (orders == 1) return (series){{inner(s->np, chebyshev_at(s, t), p)}};
    chebyshev c = first(t, orders);
    series v = {{0}};
    for (int i = 0; i < s->np; i++, next(&c))
        for (int k = 0; k < orders; k++) v.d[k] += p[i] * c.now.d[k];
    return v;
}

static void chebyshev_spread(const control *s, double t, int orders, series w, double *out)
{
    const double *phi = orders == 1 ? chebyshev_at(s, t) : NULL;
    for (int i = 0; phi && i < s->np; i++) out[i] += w.d[0] * phi[i];
    if (phi) return;
    chebyshev c = first(t, orders);
    for (int i = 0; i < s->np; i++, next(&c))
        for (int k = 0; k < orders; k++) out[i] += w.d[k] * c.now.d[k];
}

static const basis linear = {linear_sum, linear_spread}, polynomials = {chebyshev_sum, chebyshev_spread};

/* ---- f and its derivatives -------------------------------------------------------------------------------------- */

/* v along t and p: a direction's t and the sums of its p, the first `orders` of them; zero where it has none */
typedef struct { double t, y[2], v; series p; } way;

static series v_of(const control *s, const costate_point *x, int orders)
{
    return s->by->sum(s, x->t, orders, x->p);
}

/* v: of the point; y[2], x3, enters nowhere */
static way way_of(const control *s, double t, series v, const costate_point *dx, int orders)
{
    way a = {.t = dx->t};
    if (dx->y) a.y[0] = dx->y[0], a.y[1] = dx->y[1];
    if (dx->p) a.p = s->by->sum(s, t, orders, dx->p);
    a.v = v.d[1] * a.t + a.p.d[0];
    return a;
}

static int value(const costate_point *x, double *out, void *ctx)
{
    const double *y = x->y;
    double v = v_of(ctx, x, 1).d[0];
    out[0] = (1 - y[1] * y[1]) * y[0] - y[1] + v;
    out[1] = y[0];
    out[2] = y[0] * y[0] + y[1] * y[1] + v * v;
    return 0;
}

static int tangent(const costate_point *x, const costate_point *dx, double *out, void *ctx)
{
    const double *y = x->y;
    series v = v_of(ctx, x, dx->t != 0 ? 2 : 1);
    way a = way_of(ctx, x->t, v, dx, 1);
    out[0] = (1 - y[1] * y[1]) * a.y[0] - (2 * y[0] * y[1] + 1) * a.y[1] + a.v;
    out[1] = a.y[0];
    out[2] = 2 * (y[0] * a.y[0] + y[1] * a.y[1] + v.d[0] * a.v);
    return 0;
}

static int adjoint(const costate_point *x, const double *w, const costate_gradient *g, void *ctx)
{
    const control *s = ctx;
    const double *y = x->y;
    series v = v_of(s, x, g->t ? 2 : 1);
    double by_v = w[0] + 2 * v.d[0] * w[2];
    if (g->y) {
        g->y[0] += (1 - y[1] * y[1]) * w[0] + w[1] + 2 * y[0] * w[2];
        g->y[1] += 2 * y[1] * w[2] - (2 * y[0] * y[1] + 1) * w[0];
    }
    if (g->t) *g->t += by_v * v.d[1];
    if (g->p) s->by->spread(s, x->t, 1, (series){{by_v}}, g->p);
    return 0;
}

/* v along two directions */
static double v2(series v, way a, way b) { return v.d[2] * a.t * b.t + a.p.d[1] * b.t + b.p.d[1] * a.t; }

static int tangent2(const costate_point *x, const costate_point *dx1, const costate_point *dx2, double *out, void *ctx)
{
    const double *y = x->y;
    int orders = dx1->t != 0 || dx2->t != 0 ? 3 : 1;
    series v = v_of(ctx, x, orders);
    way a = way_of(ctx, x->t, v, dx1, orders), b = way_of(ctx, x->t, v, dx2, orders);
    double mixed = v2(v, a, b);
    out[0] = mixed - 2 * (y[1] * (a.y[0] * b.y[1] + a.y[1] * b.y[0]) + y[0] * a.y[1] * b.y[1]);
    out[1] = 0;
    out[2] = 2 * (a.y[0] * b.y[0] + a.y[1] * b.y[1] + a.v * b.v + v.d[0] * mixed);
    return 0;
}

static int adjoint_tangent(const costate_point *x, const costate_point *dx, const double *w, const costate_gradient *g,
                           void *ctx)
{
    const control *s = ctx;
    const double *y = x->y;
    int orders = g->t ? 3 : dx->t != 0 ? 2 : 1;
    series v = v_of(s, x, orders);
    way a = way_of(s, x->t, v, dx, orders);
    double by_v = w[0] + 2 * v.d[0] * w[2], by_va = 2 * a.v * w[2];
    if (g->y) {
        g->y[0] += 2 * (a.y[0] * w[2] - y[1] * a.y[1] * w[0]);
        g->y[1] += 2 * (a.y[1] * w[2] - (y[1] * a.y[0] + y[0] * a.y[1]) * w[0]);
    }
    if (g->t) *g->t += by_va * v.d[1] + by_v * (v.d[2] * a.t + a.p.d[1]);
    if (g->p) s->by->spread(s, x->t, a.t != 0 ? 2 : 1, (series){{by_va, by_v * a.t}}, g->p);
    return 0;
}

static int adjoint_tangent2(const costate_point *x, const costate_point *dx1, const costate_point *dx2,
                            const double *w, const costate_gradient *g, void *ctx)
{
    const control *s = ctx;
    int timed = dx1->t != 0 || dx2->t != 0, orders = g->t ? 4 : timed ? 3 : 1;
    series v = v_of(s, x, orders);
    way a = way_of(s, x->t, v, dx1, orders), b = way_of(s, x->t, v, dx2, orders);
    double by_v = w[0] + 2 * v.d[0] * w[2], by_va = 2 * a.v * w[2], by_vb = 2 * b.v * w[2],
           by_vab = 2 * v2(v, a, b) * w[2];
    if (g->y) {
        g->y[0] -= 2 * a.y[1] * b.y[1] * w[0];
        g->y[1] -= 2 * (a.y[0] * b.y[1] + a.y[1] * b.y[0]) * w[0];
    }
    if (g->t) *g->t += by_vab * v.d[1] + by_va * (v.d[2] * b.t + b.p.d[1]) + by_vb * (v.d[2] * a.t + a.p.d[1])
                     + by_v * (v.d[3] * a.t * b.t + a.p.d[2] * b.t + b.p.d[2] * a.t);
    if (g->p) s->by->spread(s, x->t, timed ? 3 : 1,
                            (series){{by_vab, by_va * b.t + by_vb * a.t, by_v * a.t * b.t}}, g->p);
    return 0;
}

static int jacobian(const costate_point *x, double *J, void *ctx)
{
    const double *y = x->y;
    const double columns[9] = {1 - y[1] * y[1], 1, 2 * y[0], -(2 * y[0] * y[1] + 1), 0, 2 * y[1], 0, 0, 0};
    (void)ctx;
    for (int k = 0; k < 9; k++) J[k] = columns[k];
    return 0;
}

/* ---- the problems ----------------------------------------------------------------------------------------------- */

static void free_control(void *p)
{
    control *s = p;
    if (s) free(s->numbers);
    free(s);
}

static int make(ivp *b, int np, const basis *by)
{
    control *s = calloc(1, sizeof *s);
    b->own = s;
    b->free_own = free_control;
    if (s) s->numbers = calloc(4 * (size_t)np + 4, sizeof *s->numbers);
    if (!s || !s->numbers) return COSTATE_NO_MEMORY;
    s->by = by;
    s->np = np;
    s->p = s->numbers;
    s->u = s->p + np;
    s->phi = s->u + 3 + 2 * np;
    s->phi[np] = -1;
    for (int i = 0; i < np; i++) {
        s->p[i] = 0.7;
        s->u[3 + i] = 1.0 / np;
        s->u[3 + np + i] = np > 1 ? end * (i + 1) / (np - 1) : 0;
    }
    s->nodes = (costate_event){.times = s->u + 3 + np, .ntimes = by == &linear && np > 2 ? np - 2 : 0,
                               .from = COSTATE_ANY_MODE, .to = COSTATE_SAME_MODE};
    b->P = (costate_problem){.n = 3, .np = np, .ctx = s, .jac = jacobian, .nevents = s->nodes.ntimes > 0,
                             .event = &s->nodes,
                             .rhs = {.value = value, .tangent = tangent, .adjoint = adjoint, .tangent2 = tangent2,
                                     .adjoint_tangent = adjoint_tangent, .adjoint_tangent2 = adjoint_tangent2}};
    b->y0 = start;
    b->p = s->p;
    b->u = s->u;
    b->nu = 1;
    b->t1 = end;
    b->atol = 1;
    b->timed = 1;
    b->functional = 2;
    b->by_p = 1;
    return COSTATE_OK;
}

int ivp_control_linear(ivp *b, int np) { return make(b, np, &linear); }
int ivp_control_chebyshev(ivp *b, int np) { return make(b, np, &polynomials); }
