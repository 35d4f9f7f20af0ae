/* mesh.c - the pattern of five points on a square mesh, and F_y' as a diagonal of 0 and 1. */
#include "mesh.h"

#include <stdlib.h>
#include <string.h>

void mesh_free(void *p)
{
    mesh *g = p;
    if (!g) return;
    free(g->y0);
    free(g->differential);
    free(g);
}

mesh *mesh_new(int side, int n)
{
    size_t size = (size_t)n, s = (size_t)side;
    mesh *g = calloc(1, sizeof *g);
    if (!g) return NULL;
    *g = (mesh){.side = side, .n = n, .y0 = calloc(3 * size + 4 * s, sizeof(double)),
                .differential = calloc(1 + (2 + 2 * MESH_ENTRIES) * size, sizeof(int))};
    if (!g->y0 || !g->differential) return mesh_free(g), NULL;
    g->work[0] = g->y0 + size + s;
    g->work[1] = g->work[0] + size + 2 * s;
    g->place = g->differential + size;
    g->S = (costate_pattern){.n = n};
    return g;
}

static int first(const int *column, int e)
{
    int k = 0;
    while (column[k] != column[e]) k++;
    return k;
}

/* Rows come in order, so that those of a column do; col[j] is where its next one goes, and its end at last. */
void mesh_build(mesh *g)
{
    int *col = g->place + MESH_ENTRIES * g->n, *row = col + g->n + 1, column[MESH_ENTRIES];
    for (int i = 0; i < g->n; i++)
        for (int e = 0, *at = g->place + MESH_ENTRIES * i; e < MESH_ENTRIES; e++)
            if (at[e] >= 0 && first(at, e) == e) col[at[e] + 1]++;
    for (int j = 0; j < g->n; j++) col[j + 1] += col[j];
    for (int i = 0; i < g->n; i++) {
        int *at = g->place + MESH_ENTRIES * i;
        memcpy(column, at, sizeof column);
        for (int e = 0; e < MESH_ENTRIES; e++) {
            int k = first(column, e);
            if (column[e] < 0) continue;
            if (k == e) row[at[e] = col[column[e]]++] = i;
            else at[e] = at[k];
        }
    }
    memmove(col + 1, col, (size_t)g->n * sizeof *col);
    col[0] = 0;
    g->S = (costate_pattern){g->n, col, row};
}

int mesh_jac_yp(const costate_point *x, double *J, void *ctx)
{
    const mesh *g = ctx;
    (void)x;
    for (int j = 0; j < g->n; j++)
        for (int e = g->S.col[j]; e < g->S.col[j + 1]; e++) J[e] = g->S.row[e] == j && g->differential[j];
    return 0;
}
