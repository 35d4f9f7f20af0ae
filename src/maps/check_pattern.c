/* check_pattern.c - the public check of the pattern of a problem without jac: does it contain all entries of f_y?

   Column by column, by tangent or by differences.  What does not depend on y_j is 0 there to the last bit; an entry
   outside of the pattern is taken for round-off if it is small beside the moduli of its row, each times the size of its
   component. */
#include <math.h>
#include <stdlib.h>
#include "base/pattern.h"
#include "maps/callbacks.h"
#include "maps/check.h"

typedef struct { double sum, most, value; int column; } matrix_row;     /* moduli; the largest entry outside */

/* d: n; work: of check_column */
static int add_columns(const costate_pattern *a, const check_operator *F, matrix_row *rows, double *d, double *work)
{
    worst unused = {0};
    for (int j = 0; j < a->n; j++) {
        TRY(check_column(F, (size_t)j, &unused, d, work));
        for (int i = 0; i < a->n; i++) {
            double size = fabs(d[i]) * F->unit[j];
            rows[i].sum += size;
            if (size <= rows[i].most || pattern_holds(a, i, j)) continue;
            rows[i] = (matrix_row){rows[i].sum, size, d[i], j};
        }
    }
    return 0;
}

static int judge(const check_operator *F, const matrix_row *rows, costate_report *r)
{
    const double LEAST = F->tangent ? 1e-12 : 1e-8;     /* differences have lost digits */
    size_t most = 0;
    r->jac = 0;
    for (size_t i = 0; i < F->rows; i++) {
        double part = rows[i].most > 0 ? rows[i].most / rows[i].sum : 0;
        if (part > r->jac) r->jac = part, most = i;
    }
    if (r->jac <= LEAST) check_adds(r, "pattern right (%.1e). ", r->jac);
    else check_adds(r, "pattern WRONG: it leaves out row %zu with respect to y[%d], which is %.8g. ", most,
                    rows[most].column, rows[most].value);
    return r->jac <= LEAST ? COSTATE_OK : COSTATE_CHECK_FAILED;
}

int check_pattern(probe *q, const costate_pattern *a, costate_report *r)
{
    size_t n = (size_t)a->n;
    TRY(check_begin(q, r));
    derivative D = {q, 0, q->start[PART_Y], n};
    const check_operator F = check_derivative(&D, has_tangent(q->map));
    matrix_row *rows = calloc(n, sizeof *rows);
    int code = rows ? add_columns(a, &F, rows, q->work, q->work + n) : 0;
    int status = !rows ? check_no_memory(r) : code ? check_result(code, r) : judge(&F, rows, r);
    free(rows);
    check_end(q);
    return status;
}
