/* missing.c - finds an entry of f_y that the pattern lacks, from products with vectors.

   J is formed in the pattern from coloured products.  An entry outside the pattern is lost, or is added to another
   entry of the same row.  In both cases J v and f_y v differ in that row for almost every v, so that one product with a
   random v shows the rows.  In such a row, the columns that are not in the pattern should have no effect; bisection
   finds one that has, in log2(n) products. */
#include <math.h>
#include <string.h>
#include "base/random.h"
#include "base/pattern.h"
#include "base/vec.h"
#include "maps/maps.h"

/* bounded away from zero, so that every entry has an effect */
static double random_part(unsigned *seed)
{
    double r = random_number(seed);
    return r < 0 ? r / 2 - 0.5 : r / 2 + 0.5;
}

/* the row where f_y v and J v differ most, beside the sum of the moduli of their terms; that part into *part */
static int worst_row(const pattern_probe *q, const double *J, const double *v, const double *exact, double *part,
                     double *sums)
{
    const costate_pattern *a = q->pattern;
    int worst = 0;
    double *rest = sums + a->n;
    *part = 0;
    for (int i = 0; i < a->n; i++) { rest[i] = -exact[i]; sums[i] = fabs(exact[i]); }
    for (int j = 0; j < a->n; j++)
        for (int k = a->col[j]; k < a->col[j + 1]; k++) {
            rest[a->row[k]] += J[k] * v[j];
            sums[a->row[k]] += fabs(J[k] * v[j]);
        }
    for (int i = 0; i < a->n; i++) {
        double gap = fabs(rest[i]) - q->noise[i];
        if (gap > *part * sums[i]) { *part = gap / sums[i]; worst = i; }
    }
    return worst;
}

/* v on columns from .. to that have no entry in the row, zero elsewhere; how many, the last one into *only */
static int outside(const pattern_probe *q, int row, int from, int to, const double *v, double *out, int *only)
{
    int count = 0;
    memset(out, 0, (size_t)q->pattern->n * sizeof *out);
    for (int j = from; j < to; j++) {
        if (pattern_holds(q->pattern, row, j)) continue;
        out[j] = v[j];
        *only = j;
        count++;
    }
    return count;
}

/* Halves of the columns without an entry in the row, towards the larger product. */
static int column_of(const pattern_probe *q, const double *v, double sum, missing_entry *found)
{
    int n = q->pattern->n, row = found->row, from = 0, to = n, only = 0;
    double *half = q->work + n, *out = q->work + 2 * n;
    int count = outside(q, row, from, to, v, half, &only);
    found->row = -1;
    TRY(q->product(q->ctx, half, out));
    for (double all = out[row]; count > 1;) {
        int middle = from + (to - from) / 2, left = outside(q, row, from, middle, v, half, &only);
        if (left > 0) TRY(q->product(q->ctx, half, out));
        double part = left > 0 ? out[row] : 0;
        if (fabs(part) >= fabs(all - part) && left > 0) { to = middle; all = part; count = left; }
        else { from = middle; all -= part; count -= left; }
    }
    if (count == 0) return 0;
    outside(q, row, from, to, v, half, &only);
    TRY(q->product(q->ctx, half, out));
    double rest = fabs(out[row]) - q->noise[row];
    if (!(rest > q->least * sum)) return 0;
    *found = (missing_entry){.row = row, .column = only, .value = out[row] / v[only], .part = rest / sum};
    return 0;
}

int missing_find(const pattern_probe *q, const double *J, unsigned *seed, missing_entry *found)
{
    int n = q->pattern->n;
    double *v = q->work, *exact = q->work + n, *sums = q->work + 2 * n;
    for (int j = 0; j < n; j++) v[j] = random_part(seed) * q->size[j];
    TRY(q->product(q->ctx, v, exact));
    found->row = worst_row(q, J, v, exact, &found->part, sums);
    if (found->part > q->least) return column_of(q, v, sums[found->row], found);
    found->row = -1;
    return 0;
}
