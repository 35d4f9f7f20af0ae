/* equations.c (steady) - the equations of a steady state and their Jacobian (mathematics, eq. 17.1). */
#include <math.h>
#include <string.h>
#include "base/vec.h"
#include "maps/callbacks.h"
#include "solver/solver.h"
#include "steady/steady.h"

void steady_weights(const steady *s, const double *y, double *w)
{
    const costate_options *o = &s->flow.solver->o;
    for (int i = 0; i < s->n; i++) {
        double rtol = o->rtol_vector ? o->rtol_vector[i] : o->rtol, atol = o->atol_vector ? o->atol_vector[i] : o->atol;
        w[i] = 1 / (atol + rtol * fabs(y[i]));
    }
}

double steady_relative(const steady *s, int i, double a, double b)
{
    double size = fmax(s->flow.size[i], fmax(fabs(a), fabs(b)));
    return size > 0 ? fabs(a - b) / size : 0;
}

void steady_bind(steady *s, const limit *x)
{
    maps_bind(&s->maps, x->p);
    maps_bind_step(&s->maps, x->m, s->P.nrelations > 0 ? -1 : 0);      /* without a record */
    s->maps.bound.mode = s->flow.o.mode;
    s->maps.bound.relation = x->relation;
    s->maps.bound.w = s->work.w;
    if (!steady_given(s)) return;
    maps_bind(&s->own.maps, x->p);
    maps_bind_step(&s->own.maps, x->m, 0);
    s->own.maps.bound.w = s->work.w;
}

costate_point steady_point(const steady *s, const double *y)
{
    return equation_point(&s->maps, s->o.t0, y, s->maps.room.zeros);
}

void steady_spread(const steady *s, const double *J, double *A)
{
    const costate_pattern *a = s->P.pattern;
    size_t n = (size_t)s->n;
    if (!a) { memcpy(A, J, n * n * sizeof *A); return; }
    memset(A, 0, n * n * sizeof *A);
    for (size_t j = 0; j < n; j++)
        for (int k = a->col[j]; k < a->col[j + 1]; k++) A[j * n + (size_t)a->row[k]] = J[k];
}

int steady_value(steady *s, double t, const double *y, double *out)
{
    return equation_value(&s->maps, t, y, s->maps.residual ? s->maps.room.zeros : NULL, out);
}

int steady_jacobian(steady *s, const double *y, double *D)
{
    costate_point x = steady_point(s, y);
    size_t n = (size_t)s->n;
    steady_weights(s, y, s->work.w);
    TRY(jacobian(&s->maps, &x, s->work.w, s->dense.J, s->dense.J + s->maps.entries));
    if (!all_finite(s->maps.entries, s->dense.J)) return retry(&s->v, WHY_NOT_FINITE);
    steady_spread(s, s->dense.J, D);
    return all_finite(n * n, D) ? 0 : retry(&s->v, WHY_NOT_FINITE);
}

static int values_of_own(steady *s, const double *y, double *out)
{
    return map_value(&s->own.maps, &s->own.map, s->o.t0, y, out);
}

/* I(y) - I(y0) */
static int invariants_moved(steady *s, const limit *x, const double *y, double *out)
{
    size_t n = (size_t)s->n;
    if (steady_given(s)) {
        TRY(values_of_own(s, x->y0, s->own.at_start));
        TRY(values_of_own(s, y, out));
        for (int i = 0; i < x->k; i++) out[i] -= s->own.at_start[i];
        return 0;
    }
    for (int i = 0; i < x->k; i++) {
        const double *w = x->W + (size_t)i * n;
        out[i] = 0;
        for (size_t j = 0; j < n; j++) out[i] += w[j] * (y[j] - x->y0[j]);
    }
    return 0;
}

int steady_residual(steady *s, const limit *x, const double *y, double *r)
{
    int of_f = s->n - x->k;
    TRY(steady_value(s, s->o.t0, y, s->work.e));
    for (int i = 0; i < of_f; i++) r[i] = s->work.e[x->row[i]];
    TRY(invariants_moved(s, x, y, r + of_f));
    return all_finite((size_t)s->n, r) ? 0 : retry(&s->v, WHY_NOT_FINITE);
}

int invariant_tangent(steady *s, const limit *x, const double *y, const costate_point *dx, double *out)
{
    size_t n = (size_t)s->n;
    if (steady_given(s)) {
        costate_point at = point(&s->own.maps, s->o.t0, y);
        return map_tangent(&s->own.maps, &s->own.map, &at, dx, out);
    }
    for (int i = 0; i < x->k; i++) out[i] = dx->y ? dot(n, x->W + (size_t)i * n, dx->y) : 0;
    return 0;
}

int invariant_adjoint(steady *s, const limit *x, const double *y, const double *w, const costate_gradient *g)
{
    size_t n = (size_t)s->n;
    if (steady_given(s)) {
        costate_point at = point(&s->own.maps, s->o.t0, y);
        return map_adjoint(&s->own.maps, &s->own.map, &at, w, g);
    }
    for (int i = 0; g->y && i < x->k; i++) axpy(n, w[i], x->W + (size_t)i * n, g->y);
    return 0;
}

/* row i of I_y, by an adjoint or by tangents, into row `at` of -A */
static int minus_rows_of_own(steady *s, const limit *x, int at)
{
    size_t n = (size_t)s->n;
    int by_adjoint = has_adjoint(&s->o.invariant);
    for (int i = 0; by_adjoint && i < x->k; i++) {
        memset(s->work.z, 0, n * sizeof *s->work.z);
        memset(s->work.e, 0, n * sizeof *s->work.e);
        s->work.e[i] = 1;
        TRY(invariant_adjoint(s, x, x->y, s->work.e, &(costate_gradient){.y = s->work.z}));
        for (size_t j = 0; j < n; j++) s->dense.A[j * n + (size_t)(at + i)] = -s->work.z[j];
    }
    for (size_t j = 0; !by_adjoint && j < n; j++) {
        memset(s->work.z, 0, n * sizeof *s->work.z);
        s->work.z[j] = 1;
        TRY(invariant_tangent(s, x, x->y, &(costate_point){.y = s->work.z}, s->work.e));
        for (int i = 0; i < x->k; i++) s->dense.A[j * n + (size_t)(at + i)] = -s->work.e[i];
    }
    return 0;
}

int steady_solve(steady *s, int transpose, int m, double *X)
{
    s->count.calls.solves += m;
    int code = LS_Solve(s->ls, transpose, m, X);
    if (code < 0) return fail(&s->v, COSTATE_NO_MEMORY, "No memory to solve with %d rows.", s->n);
    return code ? retry(&s->v, WHY_SINGULAR) : 0;
}

int steady_factor(steady *s, const limit *x, const double *D)
{
    size_t n = (size_t)s->n;
    int of_f = s->n - x->k;
    for (size_t j = 0; j < n; j++)
        for (int i = 0; i < of_f; i++) s->dense.A[j * n + (size_t)i] = -D[j * n + (size_t)x->row[i]];
    if (steady_given(s)) TRY(minus_rows_of_own(s, x, of_f));
    else
        for (int i = 0; i < x->k; i++)
            for (size_t j = 0; j < n; j++) s->dense.A[j * n + (size_t)(of_f + i)] = -x->W[(size_t)i * n + j];
    s->count.calls.decompositions++;
    int code = LS_Decomp(s->ls, 0, 0, s->dense.A, NULL);
    if (code < 0) return fail(&s->v, COSTATE_NO_MEMORY, "No memory for the factorisation of %d rows.", s->n);
    return code ? retry(&s->v, WHY_SINGULAR) : 0;
}
