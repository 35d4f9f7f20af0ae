/* graph.c - the operations of graph.h, forward and back. */
#include <assert.h>
#include <math.h>
#include "graph.h"

enum { INPUT, NUMBER, SCALED, PLUS, TIMES, INVERSE, EXP, SIN, RISE };

void graph_begin(graph *g, int n, int np)
{
    *g = (graph){.n = n, .np = np, .count = 1 + n + np};
    assert(g->count <= GRAPH_NODES);
}

static int append(graph *g, graph_node node)
{
    assert(g->count < GRAPH_NODES);
    g->node[g->count] = node;
    return g->count++;
}

int graph_number(graph *g, double c) { return append(g, (graph_node){NUMBER, 0, 0, c, 0}); }
int graph_scaled(graph *g, double c, int x) { return append(g, (graph_node){SCALED, x, 0, c, 0}); }
int graph_plus(graph *g, int x, double c, int y) { return append(g, (graph_node){PLUS, x, y, c, 0}); }
int graph_times(graph *g, int x, int y) { return append(g, (graph_node){TIMES, x, y, 0, 0}); }
int graph_over(graph *g, int x, int y) { return graph_times(g, x, append(g, (graph_node){INVERSE, y, 0, 0, 0})); }
int graph_exp(graph *g, int x) { return append(g, (graph_node){EXP, x, 0, 0, 0}); }
int graph_sin(graph *g, int x) { return append(g, (graph_node){SIN, x, 0, 0, 0}); }
int graph_rise(graph *g, int x, double from, double to) { return append(g, (graph_node){RISE, x, 0, from, to}); }

int graph_row(graph *g, int x)
{
    assert(g->rows < GRAPH_ROWS);
    g->out[g->rows] = x;
    return g->rows++;
}

/* ---- numbers: those of num.h without a third direction, as runs ask for 1e5 products of 600 operations ---- */

typedef struct { double v, a, b, ab; } two;

static two scaled(double c, two x) { return (two){c * x.v, c * x.a, c * x.b, c * x.ab}; }
static two plus(two x, double c, two y)
{
    return (two){x.v + c * y.v, x.a + c * y.a, x.b + c * y.b, x.ab + c * y.ab};
}
static two times(two x, two y)
{
    return (two){x.v * y.v, x.a * y.v + x.v * y.a, x.b * y.v + x.v * y.b,
                 x.ab * y.v + x.a * y.b + x.b * y.a + x.v * y.ab};
}
/* f(x), given f, f', f'' at x.v */
static two chain(two x, double f, double f1, double f2)
{
    return (two){f, f1 * x.a, f1 * x.b, f1 * x.ab + f2 * x.a * x.b};
}

static double slope(const graph_node *o, double x) { return x >= o->c && x < o->d ? 1 / (o->d - o->c) : 0; }
static double height(const graph_node *o, double x)
{
    return x < o->c ? 0 : x < o->d ? (x - o->c) / (o->d - o->c) : 1;
}

/* ---- forward ---- */

static double entry(const double *d, int i) { return d ? d[i] : 0; }

static void load(int n, const double *x, const double *a, const double *b, two *to)
{
    for (int i = 0; i < n; i++) to[i] = (two){x[i], entry(a, i), entry(b, i), 0};
}

static two operation(const graph_node *o, const two *v)
{
    two x = v[o->i];
    double f;
    switch (o->op) {
    case NUMBER: return (two){o->c, 0, 0, 0};
    case SCALED: return scaled(o->c, x);
    case PLUS: return plus(x, o->c, v[o->j]);
    case TIMES: return times(x, v[o->j]);
    case INVERSE: return f = 1 / x.v, chain(x, f, -f * f, 2 * f * f * f);
    case EXP: return f = exp(x.v), chain(x, f, f, f);
    case SIN: return f = sin(x.v), chain(x, f, cos(x.v), -f);
    default: return chain(x, height(o, x.v), slope(o, x.v), 0);
    }
}

static void forward(const graph *g, const costate_point *x, const costate_point *a, const costate_point *b, two *v)
{
    static const costate_point none = {0};
    if (!a) a = &none;
    if (!b) b = &none;
    v[0] = (two){x->t, a->t, b->t, 0};
    load(g->n, x->y, a->y, b->y, v + 1);
    load(g->np, x->p, a->p, b->p, v + 1 + g->n);
    for (int k = 1 + g->n + g->np; k < g->count; k++) v[k] = operation(&g->node[k], v);
}

void graph_value(const graph *g, const costate_point *x, double *out)
{
    two v[GRAPH_NODES];
    forward(g, x, NULL, NULL, v);
    for (int r = 0; r < g->rows; r++) out[r] = v[g->out[r]].v;
}

void graph_tangent(const graph *g, const costate_point *x, const costate_point *a, const costate_point *b, double *out)
{
    two v[GRAPH_NODES];
    forward(g, x, a, b, v);
    for (int r = 0; r < g->rows; r++) out[r] = b ? v[g->out[r]].ab : v[g->out[r]].a;
}

/* ---- back ---- */

/* bar[k] is the gradient by the value of node k: to those that it is made of */
static void back(const graph_node *o, const two *v, int k, two *bar)
{
    two *x = &bar[o->i], *y = &bar[o->j], w = bar[k];
    double c;
    switch (o->op) {
    case NUMBER: return;
    case SCALED: *x = plus(*x, o->c, w); return;
    case PLUS: *x = plus(*x, 1, w); *y = plus(*y, o->c, w); return;
    case TIMES: *x = plus(*x, 1, times(w, v[o->j])); *y = plus(*y, 1, times(w, v[o->i])); return;
    case INVERSE: *x = plus(*x, -1, times(w, times(v[k], v[k]))); return;
    case EXP: *x = plus(*x, 1, times(w, v[k])); return;
    case SIN: c = cos(v[o->i].v), *x = plus(*x, 1, times(w, chain(v[o->i], c, -v[k].v, -c))); return;
    default: *x = plus(*x, slope(o, v[o->i].v), w);
    }
}

static void collect(int n, const two *bar, int order, double *to)
{
    for (int i = 0; to && i < n; i++) to[i] += order == 0 ? bar[i].v : order == 1 ? bar[i].a : bar[i].ab;
}

void graph_adjoint(const graph *g, const costate_point *x, const costate_point *a, const costate_point *b,
                   const double *w, const costate_gradient *to)
{
    two v[GRAPH_NODES], bar[GRAPH_NODES];
    int order = b ? 2 : a ? 1 : 0;
    forward(g, x, a, b, v);
    for (int k = 0; k < g->count; k++) bar[k] = (two){0, 0, 0, 0};
    for (int r = 0; r < g->rows; r++) bar[g->out[r]].v += w[r];
    for (int k = g->count - 1; k > g->n + g->np; k--) back(&g->node[k], v, k, bar);
    collect(1, bar, order, to->t);
    collect(g->n, bar + 1, order, to->y);
    collect(g->np, bar + 1 + g->n, order, to->p);
}
