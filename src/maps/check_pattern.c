/* check_pattern.c - the public check of the pattern of a problem without jac: does it contain all entries of f_y?

   Column by column, by tangent or by differences.  An entry outside of the pattern is an error of the product if it is
   small beside the moduli of its row, each times the size of its component; of tangents also if all sizes are alike,
   since a pattern is wrong even if the entry that it lacks is small relative to its row. */
#include <math.h>
#include <stdlib.h>
#include "base/pattern.h"
#include "maps/callbacks.h"
#include "maps/check.h"

typedef struct { double row_sum, most, value; int column; } outside;       /* of a row: the largest entry outside */

/* noise: of the row, which differences may be wrong by */
static void add_entry(outside *row, double entry, double size, double noise, int column, int held)
{
    double gap = fabs(entry) * size - noise;
    row->row_sum += fabs(entry) * size;
    if (!held && gap > row->most) row->most = gap, row->value = entry, row->column = column;
}

/* rows: n for the sizes of y, then n for sizes that are alike, of tangents; f, d: n; work: of check_column */
static int add_columns(const costate_pattern *a, const check_operator *F, outside *rows, double *f, double *work)
{
    size_t n = F->in;
    double *d = f + n;
    worst unused = {0};
    TRY(F->value(F->ctx, d, f));                        /* d is 0 yet */
    for (int j = 0; j < a->n; j++) {
        TRY(check_column(F, (size_t)j, &unused, d, work));
        for (int i = 0; i < a->n; i++) {
            int held = pattern_holds(a, i, j);
            double noise = F->tangent ? 0 : CHECK_DIFFERENCED * CHECK_RIGHT * fabs(f[i]);
            add_entry(&rows[i], d[i], F->unit[j], noise, j, held);
            if (F->tangent) add_entry(&rows[n + (size_t)i], d[i], 1, 0, j, held);
        }
    }
    return 0;
}

static int judge(const check_operator *F, const outside *rows, costate_report *r)
{
    const double LEAST = F->tangent ? 1e-10 : 1e-8;     /* differences have lost digits */
    size_t worst_row = 0;
    r->jac = 0;
    for (size_t i = 0; i < 2 * F->in; i++) {
        double part = rows[i].most > 0 ? rows[i].most / rows[i].row_sum : 0;
        if (part > r->jac) r->jac = part, worst_row = i;
    }
    if (r->jac <= LEAST) check_adds(r, "pattern right (%.1e). ", r->jac);
    else check_adds(r, "pattern WRONG: it leaves out row %zu with respect to y[%d], which is %.8g. ",
                    worst_row % F->in, rows[worst_row].column, rows[worst_row].value);
    return r->jac <= LEAST ? COSTATE_OK : COSTATE_CHECK_FAILED;
}

int check_pattern(probe *q, const costate_pattern *a, costate_report *r)
{
    size_t n = (size_t)a->n;
    TRY(check_begin(q, r));
    derivative D = {q, 0, q->start[PART_Y], n};
    const check_operator F = check_derivative(&D, has_tangent(q->map));
    outside *rows = calloc(2 * n, sizeof *rows);
    double *f = calloc(2 * n, sizeof *f);
    int status = rows && f ? COSTATE_OK : check_no_memory(r);
    int code = status ? 0 : add_columns(a, &F, rows, f, q->work);
    if (code != 0) status = check_result(code, r);
    else if (status == COSTATE_OK) status = judge(&F, rows, r);
    free(rows);
    free(f);
    check_end(q);
    return status;
}
