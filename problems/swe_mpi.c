/* swe_mpi.c - the shallow-water equations on the cells of one process, with two rows of others' cells around. */
#include "swe_mpi.h"

#include <math.h>

#include "swe_wave.h"

#define TRY(call) do { int code_ = (int)(call); if (code_) return code_ > 0 ? -code_ : code_; } while (0)

/* ---- cells ------------------------------------------------------------------------------------------------------- */

static inline cell cell_at(const swe_mpi *s, PetscInt i, PetscInt j)
{
    int row = 3 * (int)s->gmx, o = (int)(j - s->gy) * row + 3 * (int)(i - s->gx);
    return (cell){o, o - 6, o - 3, o + 3, o + 6, o - 2 * row, o - row, o + row, o + 2 * row};
}

static inline differences differ_x(const double *U, cell k, switches s)
{
    return differ(s, slope_x(U, k), slope_x(U + 1, k), slope_x(U + 2, k));
}

static inline differences differ_y(const double *U, cell k, switches s)
{
    return differ(s, slope_y(U, k), slope_y(U + 2, k), slope_y(U + 1, k));
}

/* what is seen of a cell along x, and, turned, along y */
typedef struct { local q; switches s; differences d; wave w; } view;

static inline view view_x(const double *U, cell k)
{
    local q = local_of(U[k.o], U[k.o + 1], U[k.o + 2]);
    switches s = upwind(q);
    differences d = differ_x(U, k, s);
    return (view){q, s, d, wave_of(q, d)};
}

static inline view view_y(const double *U, cell k)
{
    local q = turned(local_of(U[k.o], U[k.o + 1], U[k.o + 2]));
    switches s = upwind(q);
    differences d = differ_y(U, k, s);
    return (view){q, s, d, wave_of(q, d)};
}

static inline void put(const swe_mpi *s, rates x, rates y, double *out)
{
    out[0] = s->rx * x.h + s->ry * y.h;
    out[1] = s->rx * x.m + s->ry * y.o;
    out[2] = s->rx * x.o + s->ry * y.m;
}

static inline void value_at(const swe_mpi *s, const double *U, cell k, double *out)
{
    view x = view_x(U, k), y = view_y(U, k);
    put(s, rates_of(x.q, x.w), rates_of(y.q, y.w), out);
}

static inline void tangent_at(const swe_mpi *s, const double *U, const double *A, cell k, double *out)
{
    view x = view_x(U, k), y = view_y(U, k);
    const double *a = A + k.o;
    local xa = local_tangent(x.q, 1 / U[k.o], a[0], a[1], a[2]), ya = turned(xa);
    wave wxa = wave_tangent(x.q, x.d, x.w, xa, differ_x(A, k, x.s));
    wave wya = wave_tangent(y.q, y.d, y.w, ya, differ_y(A, k, y.s));
    put(s, rates_tangent(x.q, x.w, xa, wxa), rates_tangent(y.q, y.w, ya, wya), out);
}

static inline void adjoint_at(const swe_mpi *s, const double *restrict U, const double *restrict w, cell k,
                              double *restrict G)
{
    view x = view_x(U, k), y = view_y(U, k);
    wave_bar bx = wave_adjoint(x.q, x.d, x.w, (rates){s->rx * w[0], s->rx * w[1], s->rx * w[2]});
    wave_bar by = wave_adjoint(y.q, y.d, y.w, (rates){s->ry * w[0], s->ry * w[2], s->ry * w[1]});
    local both = {bx.q.u + by.q.v, bx.q.v + by.q.u, bx.q.c + by.q.c};
    scatter_x(G, k, slope_h(x.s, bx.d));
    scatter_x(G + 1, k, slope_m(x.s, bx.d));
    scatter_x(G + 2, k, slope_o(x.s, bx.d));
    scatter_y(G, k, slope_h(y.s, by.d));
    scatter_y(G + 2, k, slope_m(y.s, by.d));
    scatter_y(G + 1, k, slope_o(y.s, by.d));
    local_adjoint(x.q, 1 / U[k.o], both, &G[k.o], &G[k.o + 1], &G[k.o + 2]);
}

/* ---- the callbacks ----------------------------------------------------------------------------------------------- */

/* Own cells with two more around them: those of other processes are fetched. */
static int fetch(const swe_mpi *s, const double *y, Vec *v, const double **U)
{
    TRY(DMGetLocalVector(s->dm, v));
    TRY(costate_petsc_local(s->dm, y, *v));
    TRY(VecGetArrayRead(*v, U));
    return 0;
}

static int leave(const swe_mpi *s, Vec *v, const double **U)
{
    TRY(VecRestoreArrayRead(*v, U));
    TRY(DMRestoreLocalVector(s->dm, v));
    return 0;
}

static int value(const costate_point *x, double *out, void *ctx)
{
    const swe_mpi *s = ctx;
    Vec state;
    const double *U;
    TRY(fetch(s, x->y, &state, &U));
    for (PetscInt j = 0; j < s->my; j++)
        for (PetscInt i = 0; i < s->mx; i++) value_at(s, U, cell_at(s, s->x + i, s->y + j), out + 3 * (j * s->mx + i));
    return leave(s, &state, &U);
}

static int tangent(const costate_point *x, const costate_point *dx, double *out, void *ctx)
{
    const swe_mpi *s = ctx;
    Vec state, direction;
    const double *U, *A;
    for (int i = 0; i < s->P.n && !dx->y; i++) out[i] = 0;
    if (!dx->y) return 0;
    TRY(fetch(s, x->y, &state, &U));
    TRY(fetch(s, dx->y, &direction, &A));
    for (PetscInt j = 0; j < s->my; j++)
        for (PetscInt i = 0; i < s->mx; i++)
            tangent_at(s, U, A, cell_at(s, s->x + i, s->y + j), out + 3 * (j * s->mx + i));
    TRY(leave(s, &direction, &A));
    return leave(s, &state, &U);
}

/* What a cell gives its neighbours on another process is added there. */
static int adjoint(const costate_point *x, const double *w, const costate_gradient *g, void *ctx)
{
    const swe_mpi *s = ctx;
    Vec state, gradient;
    const double *U;
    double *G;
    if (!g->y) return 0;
    TRY(fetch(s, x->y, &state, &U));
    TRY(DMGetLocalVector(s->dm, &gradient));
    TRY(VecSet(gradient, 0));
    TRY(VecGetArray(gradient, &G));
    for (PetscInt j = 0; j < s->my; j++)
        for (PetscInt i = 0; i < s->mx; i++)
            adjoint_at(s, U, w + 3 * (j * s->mx + i), cell_at(s, s->x + i, s->y + j), G);
    TRY(VecRestoreArray(gradient, &G));
    TRY(costate_petsc_add(s->dm, gradient, g->y));
    TRY(DMRestoreLocalVector(s->dm, &gradient));
    return leave(s, &state, &U);
}

/* ---- the matrix -------------------------------------------------------------------------------------------------- */

/* rate and field of the seven entries of by_neighbour; fields h, m, o along x and along y */
static const unsigned char role[7][2] = {{0, 0}, {1, 0}, {2, 0}, {0, 1}, {1, 1}, {2, 1}, {2, 2}};
static const unsigned char component[2][3] = {{0, 1, 2}, {0, 2, 1}};

/* A block of 3 rows and 27 columns: the cell, four neighbours along x, four along y. */
static void block_of(const swe_mpi *s, const double *U, cell k, double sigma, double B[3][27])
{
    static const int places[2][4] = {{3, 6, 9, 12}, {15, 18, 21, 24}};
    view x = view_x(U, k), y = view_y(U, k);
    double e[2][28], own[9] = {0};
    along(x.q, 1 / U[k.o], s->rx, x.d, x.s, 1, e[0], own);
    along(y.q, 1 / U[k.o], s->ry, y.d, y.s, 2, e[1], own);
    for (int r = 0; r < 3; r++) for (int c = 0; c < 27; c++) B[r][c] = 0;
    for (int d = 0; d < 2; d++)
        for (int l = 0; l < 28; l++)
            B[component[d][role[l % 7][0]]][places[d][l / 7] + component[d][role[l % 7][1]]] = -e[d][l];
    for (int c = 0; c < 3; c++) for (int r = 0; r < 3; r++) B[r][c] = (r == c ? sigma : 0) - own[3 * c + r];
}

int swe_mpi_matrix(double sigma, const costate_point *x, Mat A, void *ctx)
{
    const swe_mpi *s = ctx;
    Vec state;
    const double *U;
    double B[3][27];
    TRY(fetch(s, x->y, &state, &U));
    for (PetscInt j = 0; j < s->my; j++)
        for (PetscInt i = 0; i < s->mx; i++) {
            cell k = cell_at(s, s->x + i, s->y + j);
            PetscInt at[9] = {k.o / 3, k.xb2 / 3, k.xb1 / 3, k.xa1 / 3, k.xa2 / 3,
                              k.yb2 / 3, k.yb1 / 3, k.ya1 / 3, k.ya2 / 3};
            block_of(s, U, k, sigma, B);
            TRY(MatSetValuesBlockedLocal(A, 1, at, 9, at, &B[0][0], INSERT_VALUES));
        }
    return leave(s, &state, &U);
}

/* ---- made -------------------------------------------------------------------------------------------------------- */

int swe_mpi_make(swe_mpi *s, MPI_Comm comm, int nx, int ny)
{
    *s = (swe_mpi){.rx = (nx - 1) / 36.0, .ry = (ny - 1) / 36.0, .nx = nx, .ny = ny};   /* dx = 6/(nx - 1) */
    TRY(DMDACreate2d(comm, DM_BOUNDARY_PERIODIC, DM_BOUNDARY_PERIODIC, DMDA_STENCIL_STAR, nx, ny, PETSC_DECIDE,
                     PETSC_DECIDE, 3, 2, NULL, NULL, &s->dm));
    TRY(DMSetFromOptions(s->dm));
    TRY(DMSetUp(s->dm));
    TRY(DMDAGetCorners(s->dm, &s->x, &s->y, NULL, &s->mx, &s->my, NULL));
    TRY(DMDAGetGhostCorners(s->dm, &s->gx, &s->gy, NULL, &s->gmx, &s->gmy, NULL));
    s->P = (costate_problem){.n = 3 * (int)(s->mx * s->my), .ctx = s,
                             .rhs = {.value = value, .tangent = tangent, .adjoint = adjoint}};
    return 0;
}

int swe_mpi_free(swe_mpi *s) { return -(int)DMDestroy(&s->dm); }

void swe_mpi_initial(const swe_mpi *s, double *y)
{
    for (PetscInt j = 0; j < s->my; j++)
        for (PetscInt i = 0; i < s->mx; i++) {
            double x1 = -3 + (double)(s->x + i + 1) * 6.0 / (double)(s->nx - 1);
            double x2 = -3 + (double)(s->y + j + 1) * 6.0 / (double)(s->ny - 1), *u = y + 3 * (j * s->mx + i);
            u[0] = 100 + 30 * exp(-x1 * x1 - x2 * x2);
            u[1] = u[2] = 2;
        }
}
