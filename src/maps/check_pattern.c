/* check_pattern.c - the public check of the pattern of a problem without jac: does it contain all entries of f_y?

   J is formed in the pattern from coloured products, as runs do, and J v is compared with f_y v for random v: twice
   with components scaled by the sizes of y, and once with all alike (only with tangents: differences need the sizes).
   A pattern is wrong even if the entry that it lacks is small relative to its row.  Only gaps that the errors of the
   products explain are accepted. */
#include <math.h>
#include <stdlib.h>
#include "base/pattern.h"
#include "base/vec.h"
#include "maps/callbacks.h"
#include "maps/maps.h"
#include "maps/check.h"

typedef struct {
    probe q;
    derivative by_y;
    check_operator F;                           /* f of y; its tangent NULL: differences */
    double *J, *size, *noise, *seed, *work;     /* entries of the pattern, n, n, n, 4 n */
    int *color, ncolor;
} holding;

/* f_y v: v in the sizes of y, or by tangent in any */
static int product(void *ctx, const double *v, double *out)
{
    const check_operator *F = &((const holding *)ctx)->F;
    if (F->tangent) return F->tangent(F->ctx, v, out);
    return check_differentiate(F, v, CHECK_STEP, out, ((const holding *)ctx)->q.work);
}

static int form(holding *s, const costate_pattern *a)
{
    for (int color = 0; color < s->ncolor; color++) {
        for (int j = 0; j < a->n; j++) s->seed[j] = s->color[j] == color ? s->size[j] : 0;
        TRY(product(s, s->seed, s->work));
        for (int j = 0; j < a->n; j++)
            for (int k = a->col[j]; s->color[j] == color && k < a->col[j + 1]; k++)
                s->J[k] = s->work[a->row[k]] / s->size[j];
    }
    return 0;
}

static int search(holding *s, const costate_pattern *a, missing_entry *found, double *gap)
{
    const double ROUND_OFF = 1e-10, DIFFERENCED = 1e-8;      /* of sums of a row; differences have lost digits */
    int tangent = s->F.tangent != NULL;
    unsigned seed = 3;
    pattern_probe p = {.pattern = a,
                       .product = product,
                       .ctx = s,
                       .size = s->size,
                       .noise = tangent ? NULL : s->noise,
                       .least = tangent ? ROUND_OFF : DIFFERENCED,
                       .work = s->work};
    *gap = 0;
    for (int k = 0; k < 2 + tangent; k++) {
        if (k == 2) for (int j = 0; j < a->n; j++) s->size[j] = 1;
        TRY(missing_find(&p, s->J, &seed, found));
        *gap = fmax(*gap, found->part);
        if (found->row >= 0) break;
    }
    return 0;
}

static int examine(holding *s, const costate_problem *P, missing_entry *found, double *gap)
{
    TRY(P->rhs.value(s->q.x, s->noise, P->ctx));
    for (int i = 0; i < P->n; i++) {
        s->size[i] = s->F.unit[i];
        s->noise[i] = CHECK_DIFFERENCED * CHECK_RIGHT * fabs(s->noise[i]);
    }
    TRY(form(s, P->pattern));
    return search(s, P->pattern, found, gap);
}

static int judge(holding *s, const costate_problem *P, costate_report *r)
{
    missing_entry found = {-1, 0, 0, 0};
    double gap = 0;
    int code = examine(s, P, &found, &gap);
    if (code != 0) return check_says(r, COSTATE_CALLBACK, "A callback returned %d.", code);
    r->jac = gap;
    if (found.row < 0) check_adds(r, "pattern right (%.1e). ", gap);
    else check_adds(r, "pattern WRONG: it leaves out row %d with respect to y[%d], which is %.8g. ",
                    found.row, found.column, found.value);
    return check_right(r) ? COSTATE_OK : COSTATE_CHECK_FAILED;
}

int check_pattern(const costate_problem *P, const costate_point *x, costate_report *r)
{
    const costate_pattern *a = P->pattern;
    size_t n = (size_t)P->n;
    holding s = {.q = probe_of(P, &P->rhs, P->n, x, 1, 0)};
    TRY(check_begin(&s.q, r));
    s.by_y = (derivative){&s.q, 0, s.q.start[PART_Y], n};
    s.F = check_derivative(&s.by_y, has_tangent(&P->rhs));
    double *at = calloc((size_t)a->col[P->n] + 7 * n, sizeof *at);
    s.color = calloc(n, sizeof *s.color);
    s.ncolor = at && s.color ? colour(a, s.color) : -1;
    s.size = at, s.noise = at + n, s.seed = at + 2 * n, s.work = at + 3 * n, s.J = at + 7 * n;
    int status = s.ncolor < 0 ? check_no_memory(r) : judge(&s, P, r);
    free(s.color);
    free(at);
    check_end(&s.q);
    return status;
}
