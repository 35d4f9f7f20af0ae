/* layout.c - the places of the entries of J and M in the matrix that a backend factors. */
#include <stdint.h>
#include <stdlib.h>

#include <costate/linsol.h>
#include "base/invariant.h"
#include "linsol/layout.h"

void layout_free(layout *lay)
{
    if (!lay || --lay->refs > 0) return;
    free(lay->at);
    free(lay->diagonal);
    free(lay->col);
    free(lay->row);
    free(lay);
}

static int allocate(layout *lay, int n, size_t entries, int scattered, int sparse)
{
    lay->entries = entries;
    lay->diagonal = malloc((size_t)n * sizeof *lay->diagonal);
    if (scattered) lay->at = malloc((entries + 1) * sizeof *lay->at);  /* + 1: an empty pattern is no failure */
    if (sparse) {
        lay->col = malloc(((size_t)n + 1) * sizeof *lay->col);
        lay->row = malloc(lay->size * sizeof *lay->row);
    }
    if (!lay->diagonal || (scattered && !lay->at) || (sparse && (!lay->col || !lay->row)))
        return COSTATE_LS_NO_MEMORY;
    return COSTATE_LS_OK;
}

/* n*n by columns: for a dense backend, or the full pattern with which a sparse backend solves a dense problem */
static int full(layout *lay, int n, int sparse)
{
    size_t m = (size_t)n;
    if (sparse && m * m > INT32_MAX) return COSTATE_LS_UNSUPPORTED;   /* patterns count with int */
    lay->size = m * m;
    if (allocate(lay, n, lay->size, 0, sparse)) return COSTATE_LS_NO_MEMORY;
    for (size_t j = 0; j < m; j++) lay->diagonal[j] = j * m + j;
    if (!sparse) return COSTATE_LS_OK;
    for (size_t j = 0; j <= m; j++) lay->col[j] = (int)(j * m);
    for (size_t k = 0; k < m * m; k++) lay->row[k] = (int)(k % m);
    return COSTATE_LS_OK;
}

/* the positions of a pattern's entries in n*n by columns */
static int scatter(layout *lay, int n, const costate_pattern *p)
{
    size_t m = (size_t)n;
    lay->size = m * m;
    if (allocate(lay, n, (size_t)p->col[n], 1, 0)) return COSTATE_LS_NO_MEMORY;
    for (int j = 0; j < n; j++) {
        lay->diagonal[j] = (size_t)j * m + (size_t)j;
        for (int k = p->col[j]; k < p->col[j + 1]; k++) lay->at[k] = (size_t)j * m + (size_t)p->row[k];
    }
    return COSTATE_LS_OK;
}

static int missing_diagonals(const costate_pattern *p, int n)
{
    int missing = 0;
    for (int j = 0; j < n; j++) missing += !pattern_holds(p, j, j);
    return missing;
}

/* Column j of the union of the pattern and the diagonal, rows increasing; returns where the next one begins. */
static int union_column(layout *lay, const costate_pattern *p, int j, int next)
{
    int pending = !pattern_holds(p, j, j);
    for (int k = p->col[j]; k < p->col[j + 1] || pending; k++) {
        if (pending && (k == p->col[j + 1] || p->row[k] > j)) {
            lay->diagonal[j] = (size_t)next;
            lay->row[next++] = j;
            pending = 0;
            k--;                       /* entry k is still to come */
            continue;
        }
        if (p->row[k] == j) lay->diagonal[j] = (size_t)next;
        lay->at[k] = (size_t)next;
        lay->row[next++] = p->row[k];
    }
    return next;
}

static int with_diagonal(layout *lay, int n, const costate_pattern *p)
{
    int missing = missing_diagonals(p, n);
    int next = 0;
    if (p->col[n] > INT32_MAX - missing) return COSTATE_LS_UNSUPPORTED;
    lay->size = (size_t)p->col[n] + (size_t)missing;
    if (allocate(lay, n, (size_t)p->col[n], 1, 1)) return COSTATE_LS_NO_MEMORY;
    for (int j = 0; j < n; j++) {
        lay->col[j] = next;
        next = union_column(lay, p, j, next);
    }
    lay->col[n] = next;
    if (missing == 0) {                /* then every entry stays where it is */
        free(lay->at);
        lay->at = NULL;
    }
    return COSTATE_LS_OK;
}

int layout_new(layout **out, int n, const costate_pattern *p, int dense)
{
    INVARIANT(!p || !pattern_fault(p, n));
    layout *lay = calloc(1, sizeof *lay);
    int status;
    *out = lay;
    if (!lay) return COSTATE_LS_NO_MEMORY;
    lay->refs = 1;
    if (!p) status = full(lay, n, !dense);
    else if (dense) status = scatter(lay, n, p);
    else status = with_diagonal(lay, n, p);
    lay->pattern.n = n;
    lay->pattern.col = lay->col;
    lay->pattern.row = lay->row;
    return status;
}
