/* patterns.h - large patterns from a question about their entries. */
#ifndef TESTS_LINSOL_PATTERNS_H
#define TESTS_LINSOL_PATTERNS_H

#include <stdint.h>
#include <stdlib.h>
#include <costate/costate.h>

enum { PATTERN_ENTRIES = 16 };              /* of a column, on average, at the most */

static inline costate_pattern *big_pattern(int n, int (*has)(int n, int i, int j))
{
    costate_pattern *p = malloc(sizeof *p);
    int entries = 0, *col = malloc(((size_t)n + 1) * sizeof *col);
    int *row = malloc(PATTERN_ENTRIES * (size_t)n * sizeof *row);
    assert_true(p && col && row);
    for (int j = 0; j < n; j++) {
        col[j] = entries;
        for (int i = 0; i < n; i++) if (has(n, i, j)) {
            assert_true(entries < PATTERN_ENTRIES * n);
            row[entries++] = i;
        }
    }
    col[n] = entries;
    *p = (costate_pattern){n, col, row};
    return p;
}

static inline void big_pattern_free(costate_pattern *p)
{
    free((int *)(uintptr_t)p->col);
    free((int *)(uintptr_t)p->row);
    free(p);
}

#endif
