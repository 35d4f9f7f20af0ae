/* graph.h - a map as a list of operations: its value and all its derivatives, to the third, from one list.

   An operation is evaluated over numbers v + a alpha + b beta + ab alpha beta, alpha^2 = beta^2 = 0, as in num.h: in
   two directions at once.  One sweep back over the list, over such numbers as well, gives the gradient of w . F: its v
   is that by the adjoint, its a the adjoint_tangent along a, its ab the adjoint_tangent2 along both - whatever the
   number of unknowns. */
#ifndef TESTS_GRAPH_H
#define TESTS_GRAPH_H

#include <costate/costate.h>

enum { GRAPH_NODES = 1200, GRAPH_ROWS = 96 };        /* most operations with unknowns, most rows */

typedef struct { int op, i, j; double c, d; } graph_node;

/* nodes 0 .. n + np are t, y, p; out: the node of each row */
typedef struct {
    int n, np, count, rows, out[GRAPH_ROWS];
    graph_node node[GRAPH_NODES];
} graph;

void graph_begin(graph *, int n, int np);
static inline int graph_t(const graph *g) { return (void)g, 0; }
static inline int graph_y(const graph *g, int i) { return (void)g, 1 + i; }
static inline int graph_p(const graph *g, int i) { return 1 + g->n + i; }

/* each returns its node */
int graph_number(graph *, double c);
int graph_scaled(graph *, double c, int x);          /* c x */
int graph_plus(graph *, int x, double c, int y);     /* x + c y */
int graph_times(graph *, int x, int y);
int graph_over(graph *, int x, int y);
int graph_exp(graph *, int x);
int graph_sin(graph *, int x);
int graph_rise(graph *, int x, double from, double to);   /* 0 up to from, 1 behind to, linear between; its slope at
                                                             from and to is the one behind */
int graph_row(graph *, int x);                       /* the next row */

void graph_value(const graph *, const costate_point *x, double *out);
/* along a; with b the second derivative along both */
void graph_tangent(const graph *, const costate_point *x, const costate_point *a, const costate_point *b, double *out);
/* to += gradient of w . F, w . F' a, w . F''[a, b]: a and b, or b, NULL */
void graph_adjoint(const graph *, const costate_point *x, const costate_point *a, const costate_point *b,
                   const double *w, const costate_gradient *to);

#endif
