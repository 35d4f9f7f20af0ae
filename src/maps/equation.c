/* equation.c - the equation in one form: E(t, y, k, p) = f(t, y, p) - M k, or -F(t, y, k, p) of a residual
   (mathematics, eq. 1.3). */
#include <string.h>
#include <stdio.h>
#include "base/pattern.h"
#include "base/vec.h"
#include "maps/differences.h"

void mass_multiply(const maps *a, int transpose, double s, int m, const double *x, double *y)
{
    if (a->M) pattern_multiply(a->n, a->pattern, a->M, transpose, s, m, x, y);
    else axpy((size_t)a->n * (size_t)m, s, x, y);
}

void mass_apply(const maps *a, double *x, double *work)
{
    size_t n = (size_t)a->n;
    memcpy(work, x, n * sizeof *x);
    memset(x, 0, n * sizeof *x);
    mass_multiply(a, 0, 1, 1, work, x);
}

typedef struct { size_t row, column; double value; } outside;      /* an entry beside the diagonal; value 0: none */

/* the first one; d, or NULL: the diagonal before it */
static outside beside_diagonal(size_t n, const costate_pattern *in, const double *M, double *d)
{
    for (size_t j = 0; M && j < n; j++)
        for (size_t k = in ? (size_t)in->col[j] : j * n; k < (in ? (size_t)in->col[j + 1] : (j + 1) * n); k++) {
            size_t row = in ? (size_t)in->row[k] : k - j * n;
            if (row == j && d) d[j] = M[k];
            if (row != j && M[k] != 0) return (outside){row, j, M[k]};
        }
    return (outside){0, 0, 0};
}

int diagonal_of(verdict *v, const char *whose, size_t n, const costate_pattern *in, const double *M, double *d)
{
    outside x = beside_diagonal(n, in, M, d);
    return x.value == 0 ? 0 : fail(v, COSTATE_BAD_ARGUMENT, "%s needs a diagonal mass matrix: row %zu of column %zu is "
                                   "%g.", whose, x.row, x.column, x.value);
}

int mass_is_diagonal(const maps *a) { return beside_diagonal((size_t)a->n, a->pattern, a->M, NULL).value == 0; }

int mass_diagonal(const maps *a, double *d)
{
    char whose[80];
    snprintf(whose, sizeof whose, "Method %s", a->method);
    return diagonal_of(a->v, whose, (size_t)a->n, a->pattern, a->M, d);
}

int equation_minus_residual(maps *a, double t, const double *y, const double *k, double *out)
{
    costate_point x = equation_point(a, t, y, k);
    a->count->f++;
    TRY(map_code(a, a->user.rhs.value(&x, out, a->user.ctx), a->rhs.name, "value"));
    for (int i = 0; i < a->n; i++) out[i] = -out[i];
    return 0;
}

static int moves(int m, const costate_point *dx)
{
    for (int j = 0; j < m; j++) if (dx[j].t != 0 || dx[j].y || dx[j].p || dx[j].m || dx[j].yp) return 1;
    return 0;
}

int equation_tangents(maps *a, const costate_point *x, int m, costate_point *dx, const double *dk, size_t ldk,
                      double *out, size_t ld)
{
    size_t n = (size_t)a->n;
    for (size_t j = 0; j < (size_t)m; j++) dx[j].yp = a->residual && dk ? dk + j * ldk : NULL;
    if (moves(m, dx)) TRY(map_tangents(a, &a->rhs, x, m, dx, out, ld));
    else for (size_t j = 0; j < (size_t)m; j++) memset(out + j * ld, 0, n * sizeof *out);
    for (size_t j = 0; j < (size_t)m; j++)
        if (a->residual) add_scaled(n, out + j * ld, NULL, -1, out + j * ld);
        else if (dk) mass_multiply(a, 0, -1, 1, dk + j * ldk, out + j * ld);
    return 0;
}

static int wanted(int m, const costate_gradient *g)
{
    for (int j = 0; j < m; j++) if (g[j].t || g[j].y || g[j].p || g[j].m) return 1;
    return 0;
}

/* of F: E^T w is F^T (-w), and M^T w is F_k^T w */
static int residual_adjoints(maps *a, const costate_point *x, int m, const double *w, size_t ld, costate_gradient *g,
                             double *K, size_t ldk)
{
    size_t n = (size_t)a->n;
    for (size_t j = 0; j < (size_t)m; j++) {
        add_scaled(n, a->room.minus + j * n, NULL, -1, w + j * ld);
        if (K) memset(K + j * ldk, 0, n * sizeof *K);
        g[j].yp = K ? K + j * ldk : NULL;
    }
    TRY(map_adjoints(a, &a->rhs, x, m, a->room.minus, n, g));
    for (size_t j = 0; K && j < (size_t)m; j++) add_scaled(n, K + j * ldk, NULL, -1, K + j * ldk);
    return 0;
}

int equation_adjoints_apart(maps *a, const costate_point *x, int m, const double *w, size_t ld, costate_gradient *g,
                            double *K, size_t ldk)
{
    size_t n = (size_t)a->n;
    if (a->residual) return residual_adjoints(a, x, m, w, ld, g, K, ldk);
    for (size_t j = 0; K && j < (size_t)m; j++) {
        memset(K + j * ldk, 0, n * sizeof *K);
        mass_multiply(a, 1, 1, 1, w + j * ld, K + j * ldk);
    }
    return wanted(m, g) ? map_adjoints(a, &a->rhs, x, m, w, ld, g) : 0;
}

int equation_tangent2(maps *a, const costate_point *x, const costate_point *dx1, const costate_point *dx2, double *out)
{
    TRY(map_tangent2(a, &a->rhs, x, dx1, dx2, out));
    if (a->residual) add_scaled((size_t)a->n, out, NULL, -1, out);
    return 0;
}

int equation_adjoint_tangent(maps *a, const costate_point *x, const costate_point *dx, double *w,
                             const costate_gradient *g)
{
    if (a->residual) add_scaled((size_t)a->n, w, NULL, -1, w);
    return map_adjoint_tangent(a, &a->rhs, x, dx, w, g);
}

int equation_adjoint_tangent2(maps *a, const costate_point *x, const costate_point *dx1, const costate_point *dx2,
                              double *w, const costate_gradient *g)
{
    if (a->residual) add_scaled((size_t)a->n, w, NULL, -1, w);
    return map_adjoint_tangent2(a, &a->rhs, x, dx1, dx2, w, g);
}

int equation_mass(maps *a, const costate_point *at, int transpose, double s, const double *x, double *out, double *Mx)
{
    size_t n = (size_t)a->n;
    costate_point dx = {0};
    costate_gradient g = {0};
    if (!a->residual) { mass_multiply(a, transpose, s, 1, x, out); return 0; }
    if (transpose) TRY(equation_adjoints(a, at, 1, x, n, &g, Mx, n));
    else TRY(equation_tangents(a, at, 1, &dx, x, n, Mx, n));
    axpy(n, transpose ? s : -s, Mx, out);
    return 0;
}
