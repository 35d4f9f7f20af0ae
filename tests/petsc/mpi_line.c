/* mpi_line.c - a problem on a line of cells that PETSc's DMDA spreads over processes. */
#include "mpi_line.h"
#include <math.h>

#define TRY(call) do { if (call) return -1; } while (0)

static const double wind = 5;

static int stencil(cells *c, double a, double b, const double *v, double *out)
{
    line *p = (line *)c;
    Vec local;
    const double *u;
    TRY(DMGetLocalVector(p->dm, &local));
    TRY(VecSet(local, 0));                                    /* beyond the ends */
    TRY(costate_petsc_local(p->dm, v, local));
    TRY(VecGetArrayRead(local, &u));
    for (int i = 0; i < p->cells.n; i++) out[i] += a * (u[i] - 2 * u[i + 1] + u[i + 2]) + b * (u[i] - u[i + 1]);
    TRY(VecRestoreArrayRead(local, &u));
    return DMRestoreLocalVector(p->dm, &local);
}

/* what neighbouring cells contributed is returned to them */
static int stencil_back(cells *c, double a, double b, const double *w, double *out)
{
    line *p = (line *)c;
    Vec local;
    double *u;
    TRY(DMGetLocalVector(p->dm, &local));
    TRY(VecSet(local, 0));
    TRY(VecGetArray(local, &u));
    for (int i = 0; i < p->cells.n; i++) {
        u[i] += (a + b) * w[i];
        u[i + 1] -= (2 * a + b) * w[i];
        u[i + 2] += a * w[i];
    }
    TRY(VecRestoreArray(local, &u));
    TRY(costate_petsc_add(p->dm, local, out));
    return DMRestoreLocalVector(p->dm, &local);
}

int line_make(line *p, MPI_Comm comm)
{
    static const PetscInt counts[RANKS_MOST + 1][RANKS_MOST] = {{0}, {40}, {23, 17}, {17, 3, 20}, {1, 10, 28, 1}};
    *p = (line){.cells = {.wind = wind, .stencil = stencil, .stencil_back = stencil_back}, .comm = comm,
                .pivot = 1};
    MPI_Comm_rank(comm, &p->rank);
    MPI_Comm_size(comm, &p->ranks);
    TRY(DMDACreate1d(comm, DM_BOUNDARY_GHOSTED, CELLS, 1, 1, counts[p->ranks], &p->dm));
    TRY(DMSetUp(p->dm));
    for (int r = 0; r < p->rank; r++) p->cells.from += (int)counts[p->ranks][r];
    p->cells.n = (int)counts[p->ranks][p->rank];
    return 0;
}

int line_free(line *p) { return DMDestroy(&p->dm); }

/* ---- the problem, whose callbacks fail when they are told to ---------------------------------------------------- */

static int value(const costate_point *x, double *f, void *ctx)
{
    line *p = ctx;
    TRY(cells_value(x, f, ctx));
    p->calls++;
    if (p->nan_from && p->calls >= p->nan_from) f[0] = NAN;
    return p->calls == p->fails_at ? p->code : 0;
}

static int tangent(const costate_point *x, const costate_point *dx, double *out, void *ctx)
{
    line *p = ctx;
    TRY(cells_tangent(x, dx, out, ctx));
    return ++p->products == p->product_fails_at ? p->code : 0;
}

int line_matrix(double sigma, const costate_point *x, Mat A, void *ctx)
{
    line *p = ctx;
    double beside = x->p[1];
    if (++p->fills == p->fill_fails_at) return p->fill_code;
    for (int i = 0; i < p->cells.n; i++) {
        PetscInt row = p->cells.from + i, column[] = {row - 1, row, row + 1 < CELLS ? row + 1 : -1};
        double of = i == 0 ? p->pivot : 1, u = x->y[i];
        double entry[] = {of * -(beside + wind), of * (sigma + 2 * beside + wind - x->p[0] + 3 * u * u), of * -beside};
        TRY(MatSetValues(A, 1, &row, 3, column, entry, INSERT_VALUES));       /* columns below 0 are left out */
    }
    return 0;
}

costate_problem line_problem(line *p)
{
    costate_problem P = cells_problem(&p->cells);
    P.rhs.value = value;
    P.rhs.tangent = tangent;
    return P;
}

/* ---- other forms of the same ------------------------------------------------------------------------------------ */

static int twice(int n, int code, double *out)
{
    for (int i = 0; i < n; i++) out[i] *= 2;
    return code;
}

static int heavy_value(const costate_point *x, double *f, void *ctx)
{
    return twice(((line *)ctx)->cells.n, value(x, f, ctx), f);
}

static int heavy_tangent(const costate_point *x, const costate_point *dx, double *out, void *ctx)
{
    return twice(((line *)ctx)->cells.n, tangent(x, dx, out, ctx), out);
}

static int heavy_adjoint(const costate_point *x, const double *w, const costate_gradient *g, void *ctx)
{
    double both[CELLS];
    for (int i = 0; i < ((line *)ctx)->cells.n; i++) both[i] = 2 * w[i];
    return cells_adjoint(x, both, g, ctx);
}

static int heavy_mass(double *M, void *ctx)
{
    for (int i = 0; i < ((line *)ctx)->cells.n; i++) M[i] = 2;
    return 0;
}

costate_problem line_heavy(line *p)
{
    costate_problem P = line_problem(p);
    for (int i = 0; i <= p->cells.n; i++) p->place[i] = i;
    p->diagonal = (costate_pattern){p->cells.n, p->place, p->place};
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
    return from(((line *)ctx)->cells.n, value(x, F, ctx), x->yp, F);
}

static int residual_tangent(const costate_point *x, const costate_point *dx, double *out, void *ctx)
{
    return from(((line *)ctx)->cells.n, tangent(x, dx, out, ctx), dx->yp, out);
}

static int residual_adjoint(const costate_point *x, const double *w, const costate_gradient *g, void *ctx)
{
    double minus[CELLS];
    for (int i = 0; i < ((line *)ctx)->cells.n; i++) {
        minus[i] = -w[i];
        if (g->yp) g->yp[i] += w[i];
    }
    return cells_adjoint(x, minus, g, ctx);
}

costate_problem line_residual(line *p)
{
    costate_problem P = line_problem(p);
    P.rhs = (costate_map){0};
    P.residual = (costate_map){.value = residual_value, .tangent = residual_tangent, .adjoint = residual_adjoint};
    return P;
}
