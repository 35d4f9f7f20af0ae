/* dissect.c - an ordering for patterns of grids: nested dissection (George, SIAM J. Numer. Anal. 10 (1973) 345) by the
   levels of breadth-first searches (George, Liu, SIAM J. Numer. Anal. 15 (1978) 1053), then constrained minimum degree.

   CAMD predicts the arithmetic of both orderings, this one and plain minimum degree, and the cheaper one is used:
   graphs that no level separates well are ordered by minimum degree.

   The graph is that of A + A^T.  A part is divided by those nodes of a level that have a neighbour in the next one, its
   separator.  Both halves are ordered before the separator, so that neither causes fill-in in the other.  CAMD orders
   the nodes inside halves and separators.

   Measured: arithmetic of the factorisation divided by that with METIS: shallow water 40 x 40 1.02, 80 x 80 0.78,
   20 x 100 0.84, Brusselator 32 x 32 0.82 (plain minimum degree: 1.83, 1.85, 1.10, 1.20).  METIS itself, which UMFPACK
   offers, cannot be used here: when memory is short it prints, leaks, and returns another ordering; and it reseeds
   rand() and installs signal handlers. */
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <camd.h>

#include "base/verdict.h"
#include "linsol/backends.h"

enum { SMALL = 200,          /* parts of so many nodes are not divided */
       TRIES = 20 };         /* searches for a cut: 8 leave 6 % more arithmetic, 1 leaves 45 % */

typedef struct {
    int *first, *next;       /* the neighbours of node i are next[first[i]] .. next[first[i+1]-1], some twice */
    int *list;               /* the nodes, in the order of the parts and separators found so far */
    int *starts;             /* starts[k]: 1 where a part or separator begins at list[k] */
    int *part;               /* of a node: where its part begins in list; -1: it is in a separator */
    int *level, *queue;      /* of a search; level -1: not reached */
    int *stack, top;         /* begins and ends of the parts to be cut */
} graph;

static void neighbours(graph *g, const costate_pattern *p)
{
    int *end = g->first + 1;                         /* of node i: end[i], while it is filled in */
    memset(g->first, 0, ((size_t)p->n + 2) * sizeof *g->first);
    for (int fill = 0; fill <= 1; fill++) {
        for (int j = 0; j < p->n; j++)
            for (int k = p->col[j]; k < p->col[j + 1]; k++) {
                int i = p->row[k];
                if (i == j) continue;
                if (!fill) { end[i + 1]++; end[j + 1]++; continue; }
                g->next[end[i]++] = j;
                g->next[end[j]++] = i;
            }
        if (!fill) for (int i = 0; i < p->n; i++) end[i + 1] += end[i];
    }
}

/* Makes list[begin .. end) a part. */
static void push(graph *g, int begin, int end)
{
    if (begin == end) return;
    g->starts[begin] = 1;
    for (int k = begin; k < end; k++) g->part[g->list[k]] = begin;
    if (end - begin <= SMALL) return;
    g->stack[g->top++] = begin;
    g->stack[g->top++] = end;
}

/* Appends the nodes connected with `from` inside its part to the queue of `count` nodes, level by level; returns the
   new count. */
static int search(graph *g, int from, int count)
{
    g->level[from] = 0;
    g->queue[count] = from;
    for (int k = count++; k < count; k++) {
        int i = g->queue[k];
        for (int e = g->first[i]; e < g->first[i + 1]; e++) {
            int j = g->next[e];
            if (g->part[j] != g->part[i] || g->level[j] >= 0) continue;
            g->level[j] = g->level[i] + 1;
            g->queue[count++] = j;
        }
    }
    return count;
}

static void forget_levels(graph *g, int begin, int end)
{
    for (int k = begin; k < end; k++) g->level[g->list[k]] = -1;
}

/* 1: connected; 0: each connected component has been made a part */
static int connected(graph *g, int begin, int end)
{
    int count, from = begin;
    forget_levels(g, begin, end);
    count = search(g, g->list[begin], 0);
    if (count == end - begin) return 1;
    for (int k = begin; k < end; k++) if (g->level[g->list[k]] < 0) count = search(g, g->list[k], count);
    memcpy(g->list + begin, g->queue, (size_t)count * sizeof *g->list);
    for (int k = begin + 1; k <= end; k++)
        if (k == end || g->level[g->list[k]] == 0) { push(g, from, k); from = k; }
    return 0;
}

typedef struct { double cost; int from, level; } choice;

/* The level with few nodes and halves of similar size, if its cost is lower than the best so far. */
static void choose(const graph *g, int count, choice *best)
{
    int depth = g->level[g->queue[count - 1]];
    for (int at = 1, to; at < count && g->level[g->queue[at]] < depth; at = to) {
        int level = g->level[g->queue[at]];
        for (to = at; g->level[g->queue[to]] == level; to++) continue;
        double cost = (to - at) / ((double)at * (count - to));
        if (cost < best->cost) *best = (choice){cost, g->queue[0], level};
    }
}

/* First from nodes as peripheral as can be found, because their levels are small; then from nodes all over the part. */
static choice best_cut(graph *g, int begin, int end)
{
    choice best = {HUGE_VAL, 0, 0};
    size_t count = (size_t)(end - begin);
    for (size_t k = 0; k < TRIES; k++) {
        int from = k > 0 && k < 4 ? g->queue[count - 1] : g->list[(size_t)begin + count * k / TRIES];
        forget_levels(g, begin, end);
        search(g, from, 0);
        choose(g, end - begin, &best);
    }
    forget_levels(g, begin, end);
    search(g, best.from, 0);
    return best;
}

static int touches(const graph *g, int i, int level)
{
    for (int e = g->first[i]; e < g->first[i + 1]; e++)
        if (g->part[g->next[e]] == g->part[i] && g->level[g->next[e]] == level) return 1;
    return 0;
}

/* reorders list[begin .. end): the nodes below the separator, those above it, the separator */
static void cut(graph *g, int begin, int end, int level)
{
    int at = begin, to = end, middle;
    for (int k = 0; k < end - begin; k++) {          /* by levels, as the last search has left them */
        int i = g->queue[k], l = g->level[i];
        if (l < level || (l == level && !touches(g, i, level + 1))) g->list[at++] = i;
        else if (l == level) g->list[--to] = i;
    }
    middle = at;
    for (int k = 0; k < end - begin; k++) if (g->level[g->queue[k]] > level) g->list[at++] = g->queue[k];
    push(g, begin, middle);
    push(g, middle, to);
    g->starts[to] = 1;
    for (int k = to; k < end; k++) g->part[g->list[k]] = -1;
}

static void dissect(graph *g)
{
    while (g->top > 0) {
        int end = g->stack[--g->top], begin = g->stack[--g->top];
        if (!connected(g, begin, end)) continue;
        choice best = best_cut(g, begin, end);
        if (best.cost < HUGE_VAL) cut(g, begin, end, best.level);
    }
}

/* set NULL: plain minimum degree.  *work: multiplications of the factorisation, if no pivoting disturbs it;
   *entries: of its L */
static int minimum_degree(const costate_pattern *p, int *set, int *order, double *work, double *entries)
{
    double info[CAMD_INFO];
    int status = camd_order(p->n, p->col, p->row, order, NULL, info, set);
    *work = info[CAMD_NMULTSUBS_LU];
    *entries = info[CAMD_LNZ] + p->n;
    if (status == CAMD_OUT_OF_MEMORY) return COSTATE_LS_NO_MEMORY;
    return status == CAMD_OK ? COSTATE_LS_OK : COSTATE_LS_FAILED;
}

/* the better of the orderings with and without the sets, to order */
static int better(const costate_pattern *p, int *set, int *other, int *order)
{
    double work, other_work, entries;
    TRY(minimum_degree(p, set, order, &work, &entries));
    TRY(minimum_degree(p, NULL, other, &other_work, &entries));
    if (other_work < work) memcpy(order, other, (size_t)p->n * sizeof *order);
    return 0;
}

int LS_dissect(const costate_pattern *p, int *order)
{
    size_t n = (size_t)p->n, entries = (size_t)p->col[p->n];
    int *memory, set = -1, status;
    if (entries > INT_MAX / 2) return COSTATE_LS_UNSUPPORTED;
    memory = malloc((2 * entries + 7 * n + 2) * sizeof *memory);
    if (!memory) return COSTATE_LS_NO_MEMORY;
    graph g = { .next = memory, .list = memory + 2 * entries };
    g.starts = g.list + n;
    g.part = g.starts + n;
    g.level = g.part + n;
    g.queue = g.level + n;
    g.stack = g.queue + n;                           /* parts of more than SMALL nodes: there are fewer than n/2 */
    g.first = g.stack + n;
    neighbours(&g, p);
    memset(g.starts, 0, n * sizeof *g.starts);
    for (int i = 0; i < p->n; i++) g.list[i] = i;
    push(&g, 0, p->n);
    dissect(&g);
    for (int k = 0; k < p->n; k++) g.level[g.list[k]] = set += g.starts[k];
    status = better(p, g.level, g.queue, order);
    free(memory);
    return status;
}
