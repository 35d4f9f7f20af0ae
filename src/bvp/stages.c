/* stages.c - the equations of a stage, of the boundary conditions and of the whole system, and their Jacobians
   (mathematics, eq. 7.1 to 7.2). */
#include <math.h>
#include <string.h>
#include "base/larger.h"
#include "base/vec.h"
#include "bvp/bvp.h"
#include "maps/callbacks.h"
#include "maps/differences.h"

double stage_time(const bvp *b, const solution *x, int i, int j) { return x->t[i] + b->rk.c[j] * x->h[i]; }

void stage_state(const bvp *b, const solution *x, int i, int j, double *Y, double *K)
{
    size_t n = (size_t)b->n, s = (size_t)b->s;
    const double *X = X_of(b, x->z, i);
    combine(n, Y, y_of(b, x->z, i), 1, b->s, b->rk.A + (size_t)j * s, X, n);
    add_scaled(n, K, NULL, 1 / x->h[i], X + (size_t)j * n);
}

/* binds the maps to piece k, which is x->mode of callbacks */
static void piece(bvp *b, int k) { if (b->maps.bound.mode != k) maps_bind_step(&b->maps, NULL, k); }

costate_point stage_point(bvp *b, const solution *x, int i, int j)
{
    piece(b, x->piece[i]);
    maps_bind_time(&b->maps, x->t[i], x->h[i]);
    stage_state(b, x, i, j, b->stage.Y, b->stage.K);
    return equation_point(&b->maps, stage_time(b, x, i, j), b->stage.Y, b->stage.K);
}

int stage_matrix(bvp *b, const solution *x, int i, int j)
{
    costate_point at = stage_point(b, x, i, j);
    verdict_at(&b->v, at.t);
    TRY(jacobian(&b->maps, &at, b->stage.w, b->stage.J, b->stage.M));
    return j == 0 ? regular_slopes(b, at.t) : 0;
}

int regular_slopes(bvp *b, double t)
{
    if (!b->maps.residual) return 0;
    int failed = LS_Decomp(b->stage.mass, 1, 0, NULL, b->stage.M);
    if (failed < 0) return fail(&b->v, COSTATE_NO_MEMORY, "No memory for the Jacobian of residual by y'.");
    return failed ? fail(&b->v, COSTATE_SINGULAR, "The Jacobian of residual by y' is singular at t = %.10g: boundary "
                         "value problems need a regular one.", t) : 0;
}

void weights_at(const bvp *b, const double *y, const double *z, double *w)
{
    for (int c = 0; c < b->n; c++)
        w[c] = 1 / (b->atol[c] + b->o.rtol * (z ? larger(fabs(y[c]), fabs(z[c])) : fabs(y[c])));
}

/* ---- the conditions ---- */

costate_point conditions_point(bvp *b, const solution *x)
{
    size_t n = (size_t)b->n;
    memcpy(b->edge.y, y_of(b, x->z, 0), n * sizeof *b->edge.y);
    memcpy(b->edge.y + n, y_of(b, x->z, x->N), n * sizeof *b->edge.y);
    return point(&b->edge.maps, 0, b->edge.y);
}

int conditions_value(bvp *b, const solution *x, double *g)
{
    costate_point at = conditions_point(b, x);
    const double UNSET = -1.2345678e-300;           /* a value that no callback writes */
    for (int i = 0; i < b->n; i++) g[i] = UNSET;
    TRY(map_value(&b->edge.maps, &b->edge.g, 0, at.y, g));
    for (int i = 0; i < b->n; i++)
        if (g[i] == UNSET)
            return fail(&b->v, COSTATE_BAD_ARGUMENT, "conditions.map.value did not set value %d: there are to be "
                        "n = %d conditions.", i, b->n);
    return 0;
}

/* B by rows e_i^T g' if only the adjoint is given */
static int rows_by_adjoints(bvp *b, const costate_point *at)
{
    size_t n = (size_t)b->n;
    for (size_t i = 0; i < n; i++) {
        costate_gradient g = {.y = b->edge.gradient};
        memset(b->stage.E2, 0, n * sizeof *b->stage.E2);
        memset(b->edge.gradient, 0, 2 * n * sizeof *b->edge.gradient);
        b->stage.E2[i] = 1;
        TRY(map_adjoint(&b->edge.maps, &b->edge.g, at, b->stage.E2, &g));
        for (size_t c = 0; c < 2 * n; c++) b->edge.B[c * n + i] = b->edge.gradient[c];
    }
    return 0;
}

int conditions_matrix(bvp *b, const solution *x)
{
    size_t n = (size_t)b->n;
    costate_point at = conditions_point(b, x), dx = {.y = b->edge.dy};
    weights_at(b, at.y, NULL, b->edge.w);
    weights_at(b, at.y + n, NULL, b->edge.w + n);
    if (!has_tangent(&b->edge.user.map) && has_adjoint(&b->edge.user.map)) return rows_by_adjoints(b, &at);
    memset(b->edge.dy, 0, 2 * n * sizeof *b->edge.dy);
    for (size_t c = 0; c < 2 * n; c++) {
        b->edge.dy[c] = 1;
        TRY(has_tangent(&b->edge.user.map) ? map_tangent(&b->edge.maps, &b->edge.g, &at, &dx, b->edge.B + c * n) :
            difference_tangent(&b->edge.maps, &b->edge.g, &at, &dx, b->edge.B + c * n));
        b->edge.dy[c] = 0;
    }
    return space_finite(&b->edge.maps.space, 2 * n * n, b->edge.B);
}

int not_determined(bvp *b)
{
    return fail(&b->v, COSTATE_SINGULAR, "The conditions do not determine the solution between a = %.10g and "
                "b = %.10g, on a mesh of %d intervals: the matrix of y(a) and y(b) is singular (reciprocal condition "
                "%.1e); y[%d](%s) is free, or the conditions contradict each other.", b->now.t[0],
                b->now.t[b->now.N], b->now.N, b->count.rcond, b->edge.loose % b->n, b->edge.loose < b->n ? "a" : "b");
}

int bvp_failed(bvp *b, int status, const char *where)
{
    if (status != RETRY) return status;
    if (b->v.why == WHY_CALLBACK)
        return fail(&b->v, COSTATE_CALLBACK, "A callback is not defined at %s, near t = %.10g: it returned a number "
                    "> 0.", where, b->v.t);
    return fail(&b->v, COSTATE_NOT_FINITE, "A callback, or what follows from it, was NaN or Inf at %s, near t = %.10g.",
                where, b->v.t);
}

/* ---- all of them ---- */

/* h f - X_j, where M is the identity */
static int plain_stage(bvp *b, const solution *x, int i, int j, double *out)
{
    size_t n = (size_t)b->n;
    const double *X = X_of(b, x->z, i), *Xj = X + (size_t)j * n, *a = b->rk.A + (size_t)j * (size_t)b->s;
    double h = x->h[i];
    combine(n, b->stage.Y, y_of(b, x->z, i), 1, b->s, a, X, n);
    TRY(map_value(&b->maps, &b->maps.rhs, stage_time(b, x, i, j), b->stage.Y, out));
    for (size_t c = 0; c < n; c++) out[c] = h * out[c] - Xj[c];
    return 0;
}

static int stage(bvp *b, const solution *x, int i, int j, double *out)
{
    costate_point at = stage_point(b, x, i, j);
    TRY(equation_value(&b->maps, at.t, at.y, b->stage.K, out));
    for (int c = 0; c < b->n; c++) out[c] *= x->h[i];
    return 0;
}

static int interval(bvp *b, const solution *x, int i, double *out)
{
    size_t n = (size_t)b->n, S = (size_t)b->s * n;
    const double *y = y_of(b, x->z, i);
    piece(b, x->piece[i]);
    for (int j = 0; j < b->s; j++)
        TRY((equation_plain(&b->maps) ? plain_stage : stage)(b, x, i, j, out + (size_t)j * n));
    combine(n, out + S, y, 1, b->s, b->rk.b, y + n, n);
    for (size_t c = 0; c < n; c++) out[S + c] = y[(size_t)b->L + c] - out[S + c];
    return 0;
}

int bvp_residual(bvp *b, const solution *x, double *out)
{
    size_t all = solution_unknowns(b, x->N);
    for (int i = 0; i < x->N; i++) {
        verdict_at(&b->v, x->t[i]);
        TRY(interval(b, x, i, out + (size_t)i * (size_t)b->L));
    }
    TRY(conditions_value(b, x, out + all - (size_t)b->n));
    return space_finite(&b->maps.space, all, out);
}
