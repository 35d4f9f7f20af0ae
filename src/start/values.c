/* values.c - computes consistent values: the equations of start.h, their Newton matrix, and the Newton update
   (mathematics, eq. 11.1 to 11.3). */
#include <float.h>
#include <math.h>
#include <string.h>
#include "base/vec.h"
#include "start/start.h"

costate_point start_point(const starter *s, const start_values *f) { return equation_point(s->maps, f->t, f->y, f->k); }

/* ---- the matrix ---- */

/* the rows of C from hidden_J, the others from J and M */
static int factor(starter *s, const double *J, const double *M, const double *hidden_J, const start_values *f)
{
    const costate_pattern *a = s->maps->pattern;
    size_t n = (size_t)s->maps->n;
    for (size_t j = 0; j < n; j++) {
        size_t from = a ? (size_t)a->col[j] : j * n, to = a ? (size_t)a->col[j + 1] : from + n;
        int unknown = f->unknown[j];
        for (size_t k = from; k < to; k++) {
            int hidden = f->hidden[a ? (size_t)a->row[k] : k - from];
            s->Ja[k] = hidden == unknown ? 0 : hidden ? hidden_J[k] : J[k];
            s->Ma[k] = hidden || unknown ? 0 : M[k];
        }
    }
    s->maps->count->decompositions++;
    s->factored = s->lu;
    int code = LS_Decomp(s->lu, 1, 0, s->Ja, s->Ma);
    if (code > 0) return start_singular(s, f);
    return code ? shifts_failure(s->sh, s->sh->backend, code) : 0;
}

static int linearised(starter *s, const costate_point *x, double *J, double *M)
{
    return jacobian(s->maps, x, s->w, J, s->maps->residual ? M : NULL);
}

static const double *mass_of(const starter *s, const double *M) { return s->maps->residual ? M : s->maps->M; }

int nothing_unknown(const start_values *f, int n)
{
    for (int j = 0; j < n; j++) if (f->unknown[j]) return 0;
    return 1;
}

/* What round-off of the terms of f leaves in y', at most, in the units of y: eps sum |J_ij y_j| in the rows that have
   slopes, over sum |M_ij| times the units.  At rest y' is no more than that, and no measure of its own errors. */
static void set_rough(starter *s, const start_values *f)
{
    const costate_pattern *a = s->maps->pattern;
    const double *M = mass_of(s, s->M);
    size_t n = (size_t)s->maps->n;
    double *terms = s->guess, *slopes = s->work;
    memset(terms, 0, n * sizeof *terms);
    memset(slopes, 0, n * sizeof *slopes);
    for (size_t j = 0; j < n; j++) {
        size_t from = a ? (size_t)a->col[j] : j * n, to = a ? (size_t)a->col[j + 1] : from + n;
        for (size_t k = from; k < to; k++) {
            size_t i = a ? (size_t)a->row[k] : k - from;
            terms[i] += fabs(s->J[k] * f->y[j]);
            slopes[i] += M ? fabs(M[k]) / s->w[j] : i == j ? 1 / s->w[j] : 0;
        }
    }
    s->rough = 0;
    for (size_t i = 0; i < n; i++)
        if (slopes[i] > 0 && !f->hidden[i]) s->rough = fmax(s->rough, DBL_EPSILON * terms[i] / slopes[i]);
}

int start_matrix_of_values(starter *s, const start_values *f)
{
    costate_point x = start_point(s, f);
    if (s->held) return 0;
    if (s->maps->residual || !nothing_unknown(f, s->maps->n)) {
        TRY(linearised(s, &x, s->J, s->M));
        set_rough(s, f);
    }
    return factor(s, s->J, mass_of(s, s->M), s->J, f);
}

/* rows of C do not depend on the algebraic unknowns: those found serve, too, where the guess still holds */
int start_matrix_of_position(starter *s, const start_values *f)
{
    costate_point x = start_point(s, f), g = equation_point(s->maps, f->t, f->before, s->zero);
    TRY(linearised(s, &x, s->J, s->M));
    TRY(linearised(s, &g, s->J0, s->M0));
    return factor(s, s->J0, mass_of(s, s->M0), s->J, f);
}

/* ---- the equations ---- */

/* E in rows of C, 0 elsewhere */
static int position(starter *s, const start_values *f, double *r)
{
    TRY(equation_value(s->maps, f->t, f->y, f->k, r));
    for (int i = 0; i < s->maps->n; i++) if (!f->hidden[i]) r[i] = 0;
    return 0;
}

/* E, but in rows of C its derivative along the solution */
static int values(starter *s, const start_values *f, double *r)
{
    maps *a = s->maps;
    costate_point x = start_point(s, f), dx = {.t = a->autonomous ? 0 : 1, .y = s->kept};
    TRY(equation_value(a, f->t, f->y, f->k, r));
    if (!a->index) return 0;
    for (int j = 0; j < a->n; j++) s->kept[j] = f->unknown[j] ? 0 : f->k[j];
    TRY(equation_tangents(a, &x, 1, &dx, NULL, 0, s->work, (size_t)a->n));
    for (int i = 0; i < a->n; i++) if (f->hidden[i]) r[i] = s->work[i];
    return 0;
}

/* ---- the unknowns, and their norm ---- */

static void move_position(const starter *s, start_values *f, double a, const double *dx)
{
    size_t n = (size_t)s->maps->n;
    for (size_t j = 0; j < n; j++) {
        if (!f->unknown[j]) f->y[j] = s->from[j] + a * dx[j];
        f->along[j] = s->from[2 * n + j] + a * dx[j];
    }
}

static void move_values(const starter *s, start_values *f, double a, const double *dx)
{
    size_t n = (size_t)s->maps->n;
    for (size_t j = 0; j < n; j++)
        if (f->unknown[j]) f->y[j] = s->from[j] + a * dx[j];
        else f->k[j] = s->from[n + j] + a * dx[j];
}

/* what y_j may be wrong by */
static double unit_of_state(const starter *s, const start_values *f, const double *dx, int j)
{
    return fmax(1 / s->w[j], 1e3 * DBL_EPSILON * (fabs(f->y[j]) + fabs(dx[j])));
}

static double unit_of_position(const starter *s, const start_values *f, const double *dx, int j, double rate)
{
    (void)rate;
    return f->unknown[j] ? 0 : unit_of_state(s, f, dx, j);
}

/* for slopes a millionth of the fastest one, all in the units of y, but at least round-off */
static double unit_of_values(const starter *s, const start_values *f, const double *dx, int j, double rate)
{
    return f->unknown[j] ? unit_of_state(s, f, dx, j) : fmax(1e-6 * rate, 1e3 * s->rough) / s->w[j];
}

static const phase POSITION = {position, start_matrix_of_position, move_position, unit_of_position,
                               "the constraints of index 2"};
static const phase VALUES = {values, start_matrix_of_values, move_values, unit_of_values, "the equations"};

/* ---- all of it ---- */

/* y'= f: nothing is to be solved */
static int plain(starter *s, start_values *f)
{
    for (int j = 0; s->index && j < s->maps->n; j++)
        if (s->index[j] > 0)
            return fail(s->maps->v, COSTATE_BAD_ARGUMENT, "problem.index calls y[%d] algebraic, but M is the identity.",
                        j);
    memset(f->unknown, 0, (size_t)s->maps->n);
    return equation_value(s->maps, f->t, f->y, NULL, f->k);
}

/* Was y moved by more than round-off? */
static int has_moved(const starter *s, const start_values *f)
{
    double most = 1, moved = 0;
    for (int j = 0; j < s->maps->n; j++) {
        if (f->unknown[j]) continue;
        most = fmax(most, fabs(f->y[j]) * s->w[j]);
        moved = fmax(moved, fabs(f->y[j] - f->before[j]) * s->w[j]);
    }
    return moved > 1e-13 * most;
}

/* onto the constraints of index 2, with y' = 0 */
static int place(starter *s, start_values *f)
{
    size_t n = (size_t)s->maps->n;
    memcpy(s->guess, f->k, n * sizeof *f->k);
    memset(f->k, 0, n * sizeof *f->k);
    TRY(start_newton(s, &POSITION, f));
    memcpy(f->k, s->guess, n * sizeof *f->k);
    f->placed = 1;
    f->moved = has_moved(s, f);
    return 0;
}

static int find(starter *s, int only_values, start_values *f)
{
    costate_point x = start_point(s, f);
    if (s->maps->residual || s->maps->index) TRY(linearised(s, &x, s->J, s->M));
    TRY(start_kinds(s, f));
    for (int j = 0; j < s->maps->n; j++) if (f->unknown[j]) f->k[j] = 0;
    if (s->maps->index && !only_values) TRY(place(s, f));
    return start_newton(s, &VALUES, f);
}

int start_find(starter *s, double t, int only_values, start_values *f)
{
    size_t n = (size_t)s->maps->n;
    if (s->maps->index) TRY(maps_have(s->maps, TANGENT_OF, 0, 0, 1));       /* of C, along the solution */
    f->t = t;
    f->only_values = only_values;
    f->given = f->placed = f->moved = 0;
    memcpy(f->y, f->before, n * sizeof *f->y);
    memset(f->along, 0, n * sizeof *f->along);
    memset(f->hidden, 0, n);
    int status = s->given.map && !only_values ? given_find(s, f) : equation_plain(s->maps) ? plain(s, f)
                                                                                       : find(s, only_values, f);
    if (status != RETRY) return status;
    return fail(s->maps->v, cause_status(s->maps->v->why), "Consistent values at t = %.10g: at the guess %s.", t,
                cause_text(s->maps->v->why));
}

int start_slopes(starter *s, start_values *f)
{
    start_values at = *f;
    size_t n = (size_t)s->maps->n;
    memcpy(s->algebraic, f->y, n * sizeof *f->y);
    at.y = s->algebraic;
    return equation_plain(s->maps) ? plain(s, &at) : find(s, 1, &at);
}

/* Without problem.index: a row that constrains only kept components means index 2, which is refused. */
static int refuse_high(const starter *s, const start_values *f)
{
    const double *M = mass_of(s, s->M);
    unsigned char *free_row = f->hidden;
    if (s->maps->index) return 0;
    start_rows(s, f, M, free_row);
    for (int i = 0; i < s->maps->n; i++)
        if (free_row[i])
            return fail(s->maps->v, COSTATE_BAD_ARGUMENT, "at t = %.10g row %d is a constraint on unknowns of index 0 "
                        "alone (it has neither y' nor an algebraic unknown in it): the index is 2 or higher.", f->t, i);
    return 0;
}

int start_index(starter *s, const costate_point *x)
{
    start_values *f = &s->mine;
    size_t n = (size_t)s->maps->n;
    f->t = x->t;
    memcpy(f->before, x->y, n * sizeof *f->y);
    memcpy(f->y, x->y, n * sizeof *f->y);
    if (x->yp && s->maps->residual) memcpy(f->k, x->yp, n * sizeof *f->k);
    if (equation_plain(s->maps)) return plain(s, f);
    costate_point at = start_point(s, f);
    TRY(linearised(s, &at, s->J, s->M));
    TRY(start_kinds(s, f));
    TRY(refuse_high(s, f));
    return start_matrix_of_values(s, f);
}
