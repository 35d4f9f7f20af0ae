/* jacobian.c - J = E_y, and M = -E_k of a residual: the user's, or formed from products or differences (formed.c). */
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/vec.h"
#include "base/pattern.h"
#include "maps/callbacks.h"
#include "maps/formed.h"

/* colour by colour: each takes the columns, in order, that meet none of its own */
int colour(const costate_pattern *a, int *color)
{
    int n = a->n, ncolor = 0;
    int *met = malloc((size_t)n * sizeof *met);
    if (!met) return -1;
    for (int j = 0; j < n; j++) color[j] = -1;
    for (int todo = n; todo > 0; ncolor++) {
        memset(met, 0, (size_t)n * sizeof *met);
        for (int j = 0; j < n; j++) {
            int free_rows = color[j] < 0;
            for (int k = a->col[j]; free_rows && k < a->col[j + 1]; k++) free_rows = !met[a->row[k]];
            if (!free_rows) continue;
            color[j] = ncolor;
            todo--;
            for (int k = a->col[j]; k < a->col[j + 1]; k++) met[a->row[k]] = 1;
        }
    }
    free(met);
    return ncolor;
}

int jacobian_colour(maps *a)
{
    if (!(a->form.color = malloc((size_t)a->n * sizeof *a->form.color)))
        return fail(a->v, COSTATE_NO_MEMORY, "No memory to colour the pattern.");
    for (int j = 0; j < a->n; j++) a->form.color[j] = j;
    a->form.ncolor = a->pattern ? colour(a->pattern, a->form.color) : a->n;
    return a->form.ncolor >= 0 ? 0 : fail(a->v, COSTATE_NO_MEMORY, "No memory to colour the pattern.");
}

/* Does the pattern hold it all?  Asked once a solver, of the first Jacobian formed, for one product more.  Differences
   are short by round-off and by half a second derivative; an entry that is worth finding is larger: a millionth of its
   row, or a hundredth where products are differences.  Smaller ones hardly slow Newton (check_pattern.c finds them,
   too). */
static int whole(forming *s, const double *J)
{
    maps *a = s->a;
    size_t n = (size_t)a->n;
    double *size = a->form.probe, *noise = a->form.probe + n;
    const double WORTH = 1e-6, WORTH_DIFFERENCED = 1e-2;
    unsigned seed = 5;
    missing_entry found = {-1, 0, 0, 0};
    pattern_probe p = {.pattern = a->pattern,
                       .product = formed_along,
                       .ctx = s,
                       .size = size,
                       .noise = noise,
                       .least = s->exact ? WORTH : WORTH_DIFFERENCED,
                       .work = a->form.probe + 2 * n};
    for (int j = 0; j < a->n; j++) {
        size[j] = formed_size(s, J, j);
        noise[j] = s->exact ? 0 : 16 * DBL_EPSILON * a->form.terms[j];
    }
    int status = missing_find(&p, J, &seed, &found);
    if (status != 0) return status < 0 ? status : 0;     /* not defined so near: the next one is asked */
    a->form.seen_whole = 1;
    if (found.row < 0) return 0;
    return fail(a->v, COSTATE_BAD_ARGUMENT, "problem.pattern leaves out row %d with respect to y[%d], which is %.8g at "
                "t = %.10g: the Jacobian formed in the pattern by products is wrong (see costate_check_problem).",
                found.row, found.column, found.value, s->x.t);
}

/* Large and without a pattern: would one be worth its while?  Counted once a solver. */
static void count_zeros(maps *a, const double *J)
{
    enum { LARGE = 1000 };
    if (a->form.filled > 0 || a->pattern || a->n < LARGE) return;
    size_t filled = 0;
    for (size_t k = 0; k < a->entries; k++) filled += J[k] != 0 || (a->M && a->M[k] != 0);
    a->form.filled = ((double)filled + 1e-3) / (double)a->entries;       /* all zero is counted, too */
}

/* E_y into J, or of a residual M = -E_k, by the user's callback, else by products or differences */
static int one_of_them(const forming *s, double *A)
{
    maps *a = s->a;
    if (s->slope && a->user.jac_yp) TRY(map_jac_yp(a, &s->x, A));
    else if (!s->slope && a->user.jac) TRY(map_jac(a, &s->x, A));
    else {
        int status = form_columns(s, A);
        a->count->jac += !s->slope;
        TRY(status);
    }
    return space_finite(&a->space, a->entries, A);
}

/* What differences gave, where they are too small to be seen: columns of J, then of M. */
static int corrected(const forming *of_J, const forming *of_M, double *J, double *M)
{
    maps *a = of_J->a;
    const double *mass = a->residual ? M : a->M;
    formed_terms(of_J, J, M);
    if (!a->user.jac) TRY(correct_columns(of_J, J, mass));
    if (!a->residual || a->user.jac_yp) return 0;
    formed_terms(of_J, J, M);
    return correct_columns(of_M, M, J);
}

static int formed(maps *a, const costate_point *x, const double *w, double *J, double *M)
{
    int exact = has_tangent(a->rhs.user), differenced = !exact && (!a->user.jac || (a->residual && !a->user.jac_yp));
    forming of_J = {a, *x, w, a->form.f, exact, 0, 1, a->form.step, a->form.next}, of_M = of_J;
    of_M.slope = 1;
    of_M.rate = a->residual && differenced ? formed_rate(&of_J) : 1;
    if (differenced) of_M.step = a->form.step + a->n;
    if (differenced) TRY(equation_value(a, x->t, x->y, x->yp, a->form.f));
    TRY(one_of_them(&of_J, J));
    if (a->residual) TRY(one_of_them(&of_M, M));
    if (differenced) TRY(corrected(&of_J, &of_M, J, M));
    if (!a->user.jac && a->pattern && !a->form.seen_whole) TRY(whole(&of_J, J));
    count_zeros(a, J);
    return 0;
}

/* If it is not finite, the message is to say where it came from. */
static int named(const maps *a, int given, int status)
{
    if (status == RETRY && a->v->why == WHY_NOT_FINITE)
        a->v->why = given ? WHY_JAC : has_tangent(a->rhs.user) ? WHY_PRODUCTS : WHY_DIFFERENCED;
    return status;
}

/* the matrix that a callback of the user forms: jac, or W where a method takes any */
static int given(maps *a, const costate_point *x, int (*call)(maps *, const costate_point *, double *), double *J)
{
    TRY(call(a, x, J));
    TRY(named(a, 1, space_finite(&a->space, a->entries, J)));
    count_zeros(a, J);
    return 0;
}

int jacobian(maps *a, const costate_point *x, const double *w, double *J, double *M)
{
    if (a->user.jac && !a->residual) return given(a, x, map_jac, J);
    return named(a, jac_serves(a), formed(a, x, w, J, M));
}

void linearisation_outdate(linearisation *at) { at->serial = 0; }

int linearise(maps *a, long serial, const costate_point *x, const double *w, linearisation *at)
{
    linearisation_outdate(at);
    at->t = x->t;
    if (at->J && a->user.w) TRY(given(a, x, map_w, at->J));
    else if (at->J) TRY(jacobian(a, x, w, at->J, at->M));
    else {
        memcpy(at->y, x->y, (size_t)a->n * sizeof *at->y);
        if (a->residual) memcpy(at->yp, x->yp, (size_t)a->n * sizeof *at->yp);
    }
    at->serial = serial;
    return 0;
}
