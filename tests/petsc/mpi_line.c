/* mpi_line.c - a problem on a line of cells that PETSc's DMDA spreads over processes. */
#include "mpi_line.h"
#include <math.h>

#define TRY(call) do { if (call) return -1; } while (0)

static const double wind = 5;

int line_make(line *p, MPI_Comm comm)
{
    static const PetscInt cells[RANKS_MOST + 1][RANKS_MOST] = {{0}, {40}, {23, 17}, {17, 3, 20}, {1, 10, 28, 1}};
    *p = (line){.comm = comm, .pivot = 1};
    MPI_Comm_rank(comm, &p->rank);
    MPI_Comm_size(comm, &p->ranks);
    TRY(DMDACreate1d(comm, DM_BOUNDARY_GHOSTED, CELLS, 1, 1, cells[p->ranks], &p->dm));
    TRY(DMSetUp(p->dm));
    for (int r = 0; r < p->rank; r++) p->from += (int)cells[p->ranks][r];
    p->n = (int)cells[p->ranks][p->rank];
    return 0;
}

int line_free(line *p) { return DMDestroy(&p->dm); }

/* out_i += a (v_{i-1} - 2 v_i + v_{i+1}) + b (v_{i-1} - v_i) */
static int stencil(line *p, double a, double b, const double *v, double *out)
{
    Vec local;
    const double *u;
    TRY(DMGetLocalVector(p->dm, &local));
    TRY(VecSet(local, 0));                                    /* beyond the ends */
    TRY(costate_petsc_local(p->dm, v, local));
    TRY(VecGetArrayRead(local, &u));
    for (int i = 0; i < p->n; i++) out[i] += a * (u[i] - 2 * u[i + 1] + u[i + 2]) + b * (u[i] - u[i + 1]);
    TRY(VecRestoreArrayRead(local, &u));
    return DMRestoreLocalVector(p->dm, &local);
}

/* its transpose: what a cell beside gave is returned to it */
static int stencil_back(line *p, double a, double b, const double *w, double *out)
{
    Vec local;
    double *u;
    TRY(DMGetLocalVector(p->dm, &local));
    TRY(VecSet(local, 0));
    TRY(VecGetArray(local, &u));
    for (int i = 0; i < p->n; i++) {
        u[i] += (a + b) * w[i];
        u[i + 1] -= (2 * a + b) * w[i];
        u[i + 2] += a * w[i];
    }
    TRY(VecRestoreArray(local, &u));
    TRY(costate_petsc_add(p->dm, local, out));
    return DMRestoreLocalVector(p->dm, &local);
}

/* ---- rhs -------------------------------------------------------------------------------------------------------- */

static int value(const costate_point *x, double *f, void *ctx)
{
    line *p = ctx;
    const double *u = x->y;
    for (int i = 0; i < p->n; i++) f[i] = x->p[0] * u[i] - u[i] * u[i] * u[i] + sin(x->t);
    TRY(stencil(p, x->p[1], wind, u, f));
    p->calls++;
    if (p->nan_from && p->calls >= p->nan_from) f[0] = NAN;
    return p->calls == p->fails_at ? p->code : 0;
}

static int tangent(const costate_point *x, const costate_point *dx, double *out, void *ctx)
{
    line *p = ctx;
    const double *u = x->y, *v = dx->y, *dp = dx->p;
    for (int i = 0; i < p->n; i++)
        out[i] = (v ? (x->p[0] - 3 * u[i] * u[i]) * v[i] : 0) + cos(x->t) * dx->t + (dp ? dp[0] * u[i] : 0);
    if (v) TRY(stencil(p, x->p[1], wind, v, out));
    if (dp) TRY(stencil(p, dp[1], 0, u, out));
    return ++p->products == p->product_fails_at ? p->code : 0;
}

static int adjoint(const costate_point *x, const double *w, const costate_gradient *g, void *ctx)
{
    line *p = ctx;
    const double *u = x->y;
    double along[CELLS] = {0};
    for (int i = 0; i < p->n; i++) {
        if (g->t) *g->t += cos(x->t) * w[i];
        if (g->y) g->y[i] += (x->p[0] - 3 * u[i] * u[i]) * w[i];
        if (g->p) g->p[0] += u[i] * w[i];
    }
    if (g->y) TRY(stencil_back(p, x->p[1], wind, w, g->y));
    if (g->p) TRY(stencil(p, 1, 0, u, along));
    for (int i = 0; g->p && i < p->n; i++) g->p[1] += along[i] * w[i];
    return 0;
}

static int tangent2(const costate_point *x, const costate_point *a, const costate_point *b, double *out, void *ctx)
{
    line *p = ctx;
    const costate_point *pair[] = {a, b};
    for (int i = 0; i < p->n; i++)
        out[i] = (a->y && b->y ? -6 * x->y[i] * a->y[i] * b->y[i] : 0) - sin(x->t) * a->t * b->t;
    for (int k = 0; k < 2; k++) {
        const double *dp = pair[k]->p, *v = pair[1 - k]->y;
        if (!dp || !v) continue;
        for (int i = 0; i < p->n; i++) out[i] += dp[0] * v[i];
        TRY(stencil(p, dp[1], 0, v, out));
    }
    return 0;
}

static int adjoint_tangent(const costate_point *x, const costate_point *dx, const double *w, const costate_gradient *g,
                           void *ctx)
{
    line *p = ctx;
    const double *v = dx->y, *dp = dx->p;
    double along[CELLS] = {0};
    for (int i = 0; i < p->n; i++) {
        if (g->t) *g->t -= sin(x->t) * dx->t * w[i];
        if (g->y && v) g->y[i] -= 6 * x->y[i] * v[i] * w[i];
        if (g->y && dp) g->y[i] += dp[0] * w[i];
        if (g->p && v) g->p[0] += v[i] * w[i];
    }
    if (g->y && dp) TRY(stencil_back(p, dp[1], 0, w, g->y));
    if (g->p && v) TRY(stencil(p, 1, 0, v, along));
    for (int i = 0; g->p && v && i < p->n; i++) g->p[1] += along[i] * w[i];
    return 0;
}

/* ---- cost, matrix ----------------------------------------------------------------------------------------------- */

static int cost(const costate_point *x, double *r, void *ctx)
{
    line *p = ctx;
    r[0] = 0;
    for (int i = 0; i < p->n; i++) r[0] += x->y[i] * x->y[i];
    return 0;
}

static int cost_tangent(const costate_point *x, const costate_point *dx, double *out, void *ctx)
{
    line *p = ctx;
    out[0] = 0;
    for (int i = 0; dx->y && i < p->n; i++) out[0] += 2 * x->y[i] * dx->y[i];
    return 0;
}

static int cost_adjoint(const costate_point *x, const double *w, const costate_gradient *g, void *ctx)
{
    line *p = ctx;
    for (int i = 0; g->y && i < p->n; i++) g->y[i] += 2 * x->y[i] * w[0];
    return 0;
}

static int cost_tangent2(const costate_point *x, const costate_point *a, const costate_point *b, double *out, void *ctx)
{
    line *p = ctx;
    (void)x;
    out[0] = 0;
    for (int i = 0; a->y && b->y && i < p->n; i++) out[0] += 2 * a->y[i] * b->y[i];
    return 0;
}

static int cost_adjoint_tangent(const costate_point *x, const costate_point *dx, const double *w,
                                const costate_gradient *g, void *ctx)
{
    line *p = ctx;
    (void)x;
    for (int i = 0; g->y && dx->y && i < p->n; i++) g->y[i] += 2 * dx->y[i] * w[0];
    return 0;
}

int line_matrix(double sigma, const costate_point *x, Mat A, void *ctx)
{
    line *p = ctx;
    double beside = x->p[1];
    if (++p->fills == p->fill_fails_at) return p->fill_code;
    for (int i = 0; i < p->n; i++) {
        PetscInt row = p->from + i, column[] = {row - 1, row, row + 1 < CELLS ? row + 1 : -1};
        double of = i == 0 ? p->pivot : 1, u = x->y[i];
        double entry[] = {of * -(beside + wind), of * (sigma + 2 * beside + wind - x->p[0] + 3 * u * u), of * -beside};
        TRY(MatSetValues(A, 1, &row, 3, column, entry, INSERT_VALUES));       /* columns below 0 are left out */
    }
    return 0;
}

costate_problem line_problem(line *p)
{
    return (costate_problem){.n = p->n, .np = NP, .nq = NQ, .ctx = p,
                             .rhs = {.value = value, .tangent = tangent, .adjoint = adjoint,
                                     .tangent2 = tangent2, .adjoint_tangent = adjoint_tangent},
                             .cost = {.value = cost, .tangent = cost_tangent, .adjoint = cost_adjoint,
                                      .tangent2 = cost_tangent2, .adjoint_tangent = cost_adjoint_tangent}};
}

/* ---- other forms of the same ------------------------------------------------------------------------------------ */

static int twice(int n, int code, double *out)
{
    for (int i = 0; i < n; i++) out[i] *= 2;
    return code;
}

static int heavy_value(const costate_point *x, double *f, void *ctx)
{
    return twice(((line *)ctx)->n, value(x, f, ctx), f);
}

static int heavy_tangent(const costate_point *x, const costate_point *dx, double *out, void *ctx)
{
    return twice(((line *)ctx)->n, tangent(x, dx, out, ctx), out);
}

static int heavy_adjoint(const costate_point *x, const double *w, const costate_gradient *g, void *ctx)
{
    double both[CELLS];
    for (int i = 0; i < ((line *)ctx)->n; i++) both[i] = 2 * w[i];
    return adjoint(x, both, g, ctx);
}

static int heavy_mass(double *M, void *ctx)
{
    for (int i = 0; i < ((line *)ctx)->n; i++) M[i] = 2;
    return 0;
}

costate_problem line_heavy(line *p)
{
    costate_problem P = line_problem(p);
    for (int i = 0; i <= p->n; i++) p->place[i] = i;
    p->diagonal = (costate_pattern){p->n, p->place, p->place};
    P.rhs = (costate_map){.value = heavy_value, .tangent = heavy_tangent, .adjoint = heavy_adjoint};
    P.mass = heavy_mass;
    P.pattern = &p->diagonal;
    return P;
}

/* out <- v - out */
static int from(int n, int code, const double *v, double *out)
{
    for (int i = 0; i < n; i++) out[i] = (v ? v[i] : 0) - out[i];
    return code;
}

static int residual_value(const costate_point *x, double *F, void *ctx)
{
    return from(((line *)ctx)->n, value(x, F, ctx), x->yp, F);
}

static int residual_tangent(const costate_point *x, const costate_point *dx, double *out, void *ctx)
{
    return from(((line *)ctx)->n, tangent(x, dx, out, ctx), dx->yp, out);
}

static int residual_adjoint(const costate_point *x, const double *w, const costate_gradient *g, void *ctx)
{
    double minus[CELLS];
    for (int i = 0; i < ((line *)ctx)->n; i++) {
        minus[i] = -w[i];
        if (g->yp) g->yp[i] += w[i];
    }
    return adjoint(x, minus, g, ctx);
}

costate_problem line_residual(line *p)
{
    costate_problem P = line_problem(p);
    P.rhs = (costate_map){0};
    P.residual = (costate_map){.value = residual_value, .tangent = residual_tangent, .adjoint = residual_adjoint};
    return P;
}
