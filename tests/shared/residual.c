/* residual.c - the callbacks of residual.h, made of those of the problem M y' = f. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "residual.h"

typedef struct {
    problem b;                  /* what residual_of gives; first: the problem is this struct */
    const problem *of;
    int twisted;
    double *M;                  /* n*n by columns */
    int *diagonal;              /* n: is (i, i) in the pattern? */
    double *u, *s, *v, *e;      /* n each */
} residual;

static double at(const double *x, int i) { return x ? x[i] : 0; }

/* out += a M x or a M^T x; x NULL: zero */
static void add_mass(const residual *q, int transpose, double a, const double *x, double *out)
{
    int n = q->of->P.n;
    for (int j = 0; x && j < n; j++)
        for (int i = 0; i < n; i++) {
            double m = a * q->M[(size_t)j * (size_t)n + (size_t)i];
            if (m == 0) continue;
            if (transpose) out[j] += m * x[i];
            else out[i] += m * x[j];
        }
}

static double phase(const residual *q, const costate_point *x, int i)
{
    return x->t + (q->diagonal[i] ? x->y[i] : 0) + (q->of->P.np ? x->p[0] : 0);
}

/* u into q->u, s into q->s */
static int terms(residual *q, const costate_point *x)
{
    int n = q->of->P.n, r = q->of->P.rhs.value(x, q->u, q->of->P.ctx);
    for (int i = 0; i < n; i++) {
        q->u[i] = -q->u[i];
        q->s[i] = q->twisted ? 2 + sin(phase(q, x, i)) : 1;
    }
    add_mass(q, 0, 1, x->yp, q->u);
    return r;
}

static double g(const residual *q, double u) { return q->twisted ? u + sin(u) / 3 : u; }
static double dg(const residual *q, double u) { return q->twisted ? 1 + cos(u) / 3 : 1; }
static double ds(const residual *q, const costate_point *x, int i) { return q->twisted ? cos(phase(q, x, i)) : 0; }

static int value(const costate_point *x, double *out, void *ctx)
{
    residual *q = ctx;
    int r = terms(q, x);
    for (int i = 0; i < q->of->P.n; i++) out[i] = q->s[i] * g(q, q->u[i]);
    return r;
}

static int tangent(const costate_point *x, const costate_point *dx, double *out, void *ctx)
{
    residual *q = ctx;
    costate_point d = *dx;
    int r = terms(q, x);
    d.yp = NULL;
    if (r == 0) r = q->of->P.rhs.tangent(x, &d, out, q->of->P.ctx);
    for (int i = 0; i < q->of->P.n; i++) out[i] = -out[i];
    add_mass(q, 0, 1, dx->yp, out);
    for (int i = 0; i < q->of->P.n; i++) {
        double along = dx->t + (q->diagonal[i] ? at(dx->y, i) : 0) + (q->of->P.np ? at(dx->p, 0) : 0);
        out[i] = q->s[i] * dg(q, q->u[i]) * out[i] + ds(q, x, i) * along * g(q, q->u[i]);
    }
    return r;
}

static int adjoint(const costate_point *x, const double *w, const costate_gradient *to, void *ctx)
{
    residual *q = ctx;
    costate_gradient f = *to;
    int r = terms(q, x);
    for (int i = 0; i < q->of->P.n; i++) {
        double back = w[i] * ds(q, x, i) * g(q, q->u[i]);
        q->v[i] = -w[i] * q->s[i] * dg(q, q->u[i]);
        if (to->t) *to->t += back;
        if (to->y && q->diagonal[i]) to->y[i] += back;
        if (to->p && q->of->P.np) to->p[0] += back;
    }
    f.yp = NULL;
    if (to->yp) add_mass(q, 1, -1, q->v, to->yp);
    return r ? r : q->of->P.rhs.adjoint(x, q->v, &f, q->of->P.ctx);
}

/* The derivative of adjoint along dx, with u' = M y'' - f' dx and a' = (t + y_i + p_0)':
   (s' g' + s g'' u')_i grad u_i + (s g')_i (grad u_i)' + (g' u' cos a - g a' sin a)_i grad a_i, weighed by w */
static int adjoint_tangent(const costate_point *x, const costate_point *dx, const double *w, const costate_gradient *to,
                           void *ctx)
{
    residual *q = ctx;
    const costate_map *f = &q->of->P.rhs;
    costate_gradient of = *to;
    costate_point d = *dx;
    double moved[64], bent[64];
    int n = q->of->P.n, r = terms(q, x);
    d.yp = NULL;
    of.yp = NULL;
    if (r == 0) r = f->tangent(x, &d, moved, q->of->P.ctx);
    for (int i = 0; i < n; i++) moved[i] = -moved[i];
    add_mass(q, 0, 1, dx->yp, moved);
    for (int i = 0; i < n; i++) {
        double along = dx->t + (q->diagonal[i] ? at(dx->y, i) : 0) + (q->of->P.np ? at(dx->p, 0) : 0);
        double bend = q->twisted ? -sin(q->u[i]) / 3 : 0, slope = ds(q, x, i), turn = q->twisted ? 2 - q->s[i] : 0;
        double back = w[i] * (slope * dg(q, q->u[i]) * moved[i] + turn * along * g(q, q->u[i]));
        q->v[i] = -w[i] * (slope * along * dg(q, q->u[i]) + q->s[i] * bend * moved[i]);
        bent[i] = -w[i] * q->s[i] * dg(q, q->u[i]);
        if (to->t) *to->t += back;
        if (to->y && q->diagonal[i]) to->y[i] += back;
        if (to->p && q->of->P.np) to->p[0] += back;
    }
    if (to->yp) add_mass(q, 1, -1, q->v, to->yp);
    if (r == 0) r = f->adjoint(x, q->v, &of, q->of->P.ctx);
    return r ? r : f->adjoint_tangent(x, &d, bent, &of, q->of->P.ctx);
}

/* dF/dy, or dF/dy', column by column */
static int jacobian(const costate_point *x, int slope, double *J, residual *q)
{
    const costate_pattern *S = q->of->P.pattern;
    int n = q->of->P.n;
    for (int j = 0; j < n; j++) {
        costate_point dx = {.y = slope ? NULL : q->e, .yp = slope ? q->e : NULL};
        double column[64];
        q->e[j] = 1;
        int r = tangent(x, &dx, column, q);
        q->e[j] = 0;
        if (r != 0) return r;
        if (S) for (int k = S->col[j]; k < S->col[j + 1]; k++) J[k] = column[S->row[k]];
        else memcpy(J + (size_t)j * (size_t)n, column, (size_t)n * sizeof *J);
    }
    return 0;
}

static int jac(const costate_point *x, double *J, void *ctx) { return jacobian(x, 0, J, ctx); }
static int jac_yp(const costate_point *x, double *J, void *ctx) { return jacobian(x, 1, J, ctx); }

static int cost_value(const costate_point *x, double *out, void *ctx)
{
    const residual *q = ctx;
    return q->of->P.cost.value(x, out, q->of->P.ctx);
}
static int cost_tangent(const costate_point *x, const costate_point *dx, double *out, void *ctx)
{
    const residual *q = ctx;
    return q->of->P.cost.tangent(x, dx, out, q->of->P.ctx);
}
static int cost_adjoint(const costate_point *x, const double *w, const costate_gradient *to, void *ctx)
{
    const residual *q = ctx;
    return q->of->P.cost.adjoint(x, w, to, q->of->P.ctx);
}

static int cost_adjoint_tangent(const costate_point *x, const costate_point *dx, const double *w,
                                const costate_gradient *to, void *ctx)
{
    const residual *q = ctx;
    return q->of->P.cost.adjoint_tangent(x, dx, w, to, q->of->P.ctx);
}

static int in_pattern(const costate_pattern *S, int i, int j)
{
    for (int k = S->col[j]; k < S->col[j + 1]; k++) if (S->row[k] == i) return 1;
    return 0;
}

/* M in full, and where the diagonal may be used */
static int matrices(residual *q)
{
    const costate_problem *P = &q->of->P;
    const costate_pattern *S = P->pattern;
    size_t n = (size_t)P->n;
    double *given = calloc(S ? (size_t)S->col[n] + 1 : n * n, sizeof *given);
    if (given && P->mass) P->mass(given, P->ctx);
    for (size_t j = 0; given && j < n; j++) {
        q->diagonal[j] = !S || in_pattern(S, (int)j, (int)j);
        if (!P->mass) q->M[j * n + j] = 1;
        else if (!S) memcpy(q->M + j * n, given + j * n, n * sizeof *given);
        else for (int k = S->col[j]; k < S->col[j + 1]; k++) q->M[j * n + (size_t)S->row[k]] = given[k];
    }
    free(given);
    return given != NULL;
}

problem *residual_of(const problem *of, int kind, int with_jacobians)
{
    size_t n = (size_t)of->P.n;
    residual *q = calloc(1, sizeof *q);
    double *space = calloc(n * n + 4 * n, sizeof *space);
    int *diagonal = calloc(n, sizeof *diagonal);
    if (!q || !space || !diagonal) { free(q); free(space); free(diagonal); return NULL; }
    *q = (residual){*of, of, kind == RESIDUAL_TWISTED, space, diagonal, space + n * n, space + n * n + n,
                    space + n * n + 2 * n, space + n * n + 3 * n};
    q->b.P.ctx = q;
    q->b.P.rhs = (costate_map){0};
    q->b.P.residual = (costate_map){.value = value, .tangent = tangent, .adjoint = adjoint,
                                       .adjoint_tangent = of->P.rhs.adjoint_tangent ? adjoint_tangent : NULL};
    if (of->P.nq) q->b.P.cost = (costate_map){.value = cost_value, .tangent = cost_tangent, .adjoint = cost_adjoint,
                                              .adjoint_tangent = cost_adjoint_tangent};
    q->b.P.mass = NULL;
    q->b.P.jac = with_jacobians ? jac : NULL;
    q->b.P.jac_yp = with_jacobians ? jac_yp : NULL;
    if (!matrices(q)) { residual_free(&q->b); return NULL; }
    return &q->b;
}

void residual_free(problem *b)
{
    residual *q = (residual *)b;
    if (!q) return;
    free(q->M);
    free(q->diagonal);
    free(q);
}
