/* order.c - rows for columns, and an order of minimum degree.

   Matching: augmenting paths (I. S. Duff, ACM Trans. Math. Softw. 7 (1981) 315); columns whose own row is in the
   pattern keep it at first.

   Order: that of the graph of B + B^T, where B is the matrix with its rows matched, by approximate minimum degree
   (P. R. Amestoy, T. A. Davis, I. S. Duff, SIAM J. Matrix Anal. Appl. 17 (1996) 886).  An eliminated node is an
   element: a clique of the nodes that it had as neighbours.  A node keeps a list of its elements and one of the
   neighbours that are in none of them.  With the element p of this step, the degree of i is thought to be

       |L_p| - 1 + sum over neighbours + sum over other elements e of i of |L_e minus L_p|,

   where intersections of these elements are counted twice.  Elements inside L_p are absorbed by p.  Nodes that cannot
   be told apart are not joined, unlike in AMD: that costs time, and no fill-in. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/verdict.h"
#include "linsol/order.h"

/* ---- matching ---- */

typedef struct {
    const costate_pattern *p;
    int *row, *column;              /* of each column, of each row: its partner; -1: none */
    int *seen, *next, *cheap;       /* columns: the last search that met it; places in its rows */
    int *path;
} matching;

/* A column is given a row if that is free or its column finds another one.  Depth first, without recursion. */
static int augment(matching *m, int start)
{
    int depth = 0;
    m->path[0] = start;
    m->seen[start] = start;
    m->next[start] = m->p->col[start];
    while (depth >= 0) {
        int j = m->path[depth], end = m->p->col[j + 1], i = -1;
        for (; m->cheap[j] < end && i < 0; m->cheap[j]++)
            if (m->column[m->p->row[m->cheap[j]]] < 0) i = m->p->row[m->cheap[j]];
        if (i >= 0) {
            for (; depth >= 0; depth--) {               /* each column of the path leaves its row to the one before */
                int left = m->row[m->path[depth]];
                m->row[m->path[depth]] = i;
                m->column[i] = m->path[depth];
                i = left;
            }
            return 1;
        }
        for (; m->next[j] < end; m->next[j]++) {
            int other = m->column[m->p->row[m->next[j]]];
            if (m->seen[other] == start) continue;
            m->seen[other] = start;
            m->next[other] = m->p->col[other];
            m->path[++depth] = other;
            break;
        }
        if (m->next[j] == end) depth--;
    }
    return 0;
}

static int has(const costate_pattern *p, int row, int column)
{
    for (int e = p->col[column]; e < p->col[column + 1]; e++)
        if (p->row[e] == row) return 1;
    return 0;
}

int LS_match(int n, const costate_pattern *p, int *row)
{
    int *work = malloc(5 * (size_t)n * sizeof *work);
    if (!work) return COSTATE_LS_NO_MEMORY;
    matching m = {p, row, work, work + n, work + 2 * n, work + 3 * n, work + 4 * n};
    for (int j = 0; j < n; j++) {
        int own = has(p, j, j);
        row[j] = own ? j : -1;
        m.column[j] = own ? j : -1;
        m.seen[j] = -1;
        m.cheap[j] = p->col[j];
    }
    for (int j = 0; j < n; j++) if (row[j] < 0) augment(&m, j);
    free(work);
    return COSTATE_LS_OK;
}

/* ---- minimum degree ---- */

enum { DEAD, NODE, ELEMENT };

typedef struct {
    int n;
    int *list;                      /* of each node: its elements, then neighbours that are in none of them */
    int *slot, *elements, *neighbours;          /* where a node's list begins, and their numbers */
    int *pool;                      /* the nodes of elements; all of them are alive while the element is */
    size_t *first, used, room;      /* where those of an element begin */
    int *size;
    int *degree, *head, *after, *before;        /* nodes by degree: lists with two links */
    int *kind;
    int64_t *mark, now;             /* nodes in L_p: now; elements: now + |L_e minus L_p| */
} graph;

static void unlink_node(graph *g, int i)
{
    int a = g->before[i], b = g->after[i];
    if (a >= 0) g->after[a] = b;
    else g->head[g->degree[i]] = b;
    if (b >= 0) g->before[b] = a;
}

static void link_node(graph *g, int i)
{
    int *head = g->head + g->degree[i];
    g->before[i] = -1;
    g->after[i] = *head;
    if (*head >= 0) g->before[*head] = i;
    *head = i;
}

static int make_room(graph *g, size_t more)
{
    if (g->used + more <= g->room) return COSTATE_LS_OK;
    size_t room = 2 * g->room + more;
    int *pool = realloc(g->pool, room * sizeof *pool);
    if (!pool) return COSTATE_LS_NO_MEMORY;
    g->pool = pool;
    g->room = room;
    return COSTATE_LS_OK;
}

static void take_node(graph *g, int p, int i)
{
    if (g->kind[i] != NODE || g->mark[i] == g->now) return;
    g->mark[i] = g->now;
    g->pool[g->first[p] + (size_t)g->size[p]++] = i;
}

/* p becomes an element: its neighbours, and the nodes of its elements, which it absorbs */
static int eliminate(graph *g, int p)
{
    const int *list = g->list + g->slot[p], *neighbours = list + g->elements[p];
    size_t most = (size_t)g->neighbours[p];
    for (int k = 0; k < g->elements[p]; k++) most += (size_t)g->size[list[k]];
    TRY(make_room(g, most));
    g->kind[p] = ELEMENT;
    g->first[p] = g->used;
    g->size[p] = 0;
    for (int k = 0; k < g->neighbours[p]; k++) take_node(g, p, neighbours[k]);
    for (int k = 0; k < g->elements[p]; k++) {
        int e = list[k];
        for (int l = 0; l < g->size[e]; l++) take_node(g, p, g->pool[g->first[e] + (size_t)l]);
        g->kind[e] = DEAD;
    }
    g->used += (size_t)g->size[p];
    return COSTATE_LS_OK;
}

/* |L_e minus L_p| of the elements of i, of which i is in both */
static void count_outside(graph *g, int i)
{
    const int *list = g->list + g->slot[i];
    for (int k = 0; k < g->elements[i]; k++) {
        int e = list[k];
        if (g->kind[e] != ELEMENT) continue;
        if (g->mark[e] < g->now) g->mark[e] = g->now + g->size[e];
        g->mark[e]--;
    }
}

/* Lists and degree of a node of p; left: nodes that are not eliminated.  The list has room for p, which was a neighbour
   or takes the place of an element. */
static void renew(graph *g, int p, int i, int left)
{
    int *list = g->list + g->slot[i], *neighbours = list + g->elements[i];
    int kept = 0, near = 0, degree = g->size[p] - 1;
    for (int k = 0; k < g->neighbours[i]; k++) {
        int j = neighbours[k];
        if (g->kind[j] == NODE && g->mark[j] != g->now) neighbours[near++] = j;
    }
    for (int k = 0; k < g->elements[i]; k++) {
        int e = list[k];
        if (g->kind[e] == ELEMENT && g->mark[e] == g->now) g->kind[e] = DEAD;
        if (g->kind[e] != ELEMENT) continue;
        degree += (int)(g->mark[e] - g->now);
        list[kept++] = e;
    }
    memmove(list + kept + 1, neighbours, (size_t)near * sizeof *list);
    list[kept] = p;
    g->elements[i] = kept + 1;
    g->neighbours[i] = near;
    degree += near;
    if (degree > g->degree[i] + g->size[p] - 1) degree = g->degree[i] + g->size[p] - 1;
    g->degree[i] = degree < left - 1 ? degree : left - 1;
}

/* the graph of B + B^T; COSTATE_LS_... */
static int set_up(graph *g, int n, const costate_pattern *p, const int *row)
{
    size_t N = (size_t)n, entries = 2 * (size_t)p->col[n];
    int *column = malloc(N * sizeof *column);           /* of B: that of a row of A */
    int *ints = malloc((9 * N + entries) * sizeof *ints);
    g->n = n;
    g->slot = ints;
    g->first = malloc(N * sizeof *g->first);
    g->mark = calloc(N, sizeof *g->mark);
    if (!column || !ints || !g->first || !g->mark) {
        free(column);
        return COSTATE_LS_NO_MEMORY;
    }
    g->elements = ints + N, g->neighbours = ints + 2 * N, g->size = ints + 3 * N, g->degree = ints + 4 * N;
    g->head = ints + 5 * N, g->after = ints + 6 * N, g->before = ints + 7 * N, g->kind = ints + 8 * N;
    g->list = ints + 9 * N;
    for (int j = 0; j < n; j++) {
        column[row ? row[j] : j] = j;
        g->neighbours[j] = g->elements[j] = 0;
        g->head[j] = -1;
        g->kind[j] = NODE;
    }
    for (int j = 0; j < n; j++)
        for (int e = p->col[j]; e < p->col[j + 1]; e++) {
            int i = column[p->row[e]];
            if (i != j) g->neighbours[i]++, g->neighbours[j]++;
        }
    for (int j = 0, at = 0; j < n; at += g->neighbours[j], g->neighbours[j++] = 0) g->slot[j] = at;
    for (int j = 0; j < n; j++)
        for (int e = p->col[j]; e < p->col[j + 1]; e++) {
            int i = column[p->row[e]];
            if (i == j) continue;
            g->list[g->slot[i] + g->neighbours[i]++] = j;
            g->list[g->slot[j] + g->neighbours[j]++] = i;
        }
    free(column);
    for (int i = 0; i < n; i++) {                       /* each neighbour once */
        int *list = g->list + g->slot[i], once = 0;
        g->now++;
        for (int k = 0; k < g->neighbours[i]; k++)
            if (g->mark[list[k]] != g->now) {
                g->mark[list[k]] = g->now;
                list[once++] = list[k];
            }
        g->neighbours[i] = g->degree[i] = once;
    }
    for (int i = n - 1; i >= 0; i--) link_node(g, i);
    return make_room(g, N);
}

static int order_all(graph *g, int *order)
{
    int n = g->n;
    for (int k = 0, least = 0; k < n; k++) {
        while (g->head[least] < 0) least++;
        int p = g->head[least];
        unlink_node(g, p);
        order[k] = p;
        g->now += n + 2;
        g->mark[p] = g->now;
        TRY(eliminate(g, p));
        const int *nodes = g->pool + g->first[p];
        for (int l = 0; l < g->size[p]; l++) count_outside(g, nodes[l]);
        for (int l = 0; l < g->size[p]; l++) {
            unlink_node(g, nodes[l]);
            renew(g, p, nodes[l], n - k - 1);
            link_node(g, nodes[l]);
            if (g->degree[nodes[l]] < least) least = g->degree[nodes[l]];
        }
    }
    return COSTATE_LS_OK;
}

int LS_minimum_degree(int n, const costate_pattern *p, const int *row, int *order, double *work, double *entries)
{
    graph g = {0};
    int status = set_up(&g, n, p, row);
    if (!status) status = order_all(&g, order);
    *work = 0;
    *entries = n;
    for (int k = 0; k < n && !status; k++) {
        double below = g.size[k];
        *work += below * below;
        *entries += below;
    }
    free(g.slot);
    free(g.first);
    free(g.mark);
    free(g.pool);
    return status;
}

int LS_fill(const costate_pattern *p, double *work, double *entries)
{
    int *order = malloc((size_t)p->n * sizeof *order), status = order ? COSTATE_LS_OK : COSTATE_LS_NO_MEMORY;
    if (!status) status = LS_minimum_degree(p->n, p, NULL, order, work, entries);
    free(order);
    return status;
}
