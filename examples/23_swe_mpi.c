/* 23_swe_mpi.c - shallow water on a grid that is distributed over processes, and a gradient by its initial state.

   The collapsing hill of 03_4dvar.c.  PETSc's DMDA gives each process a part of the grid; costate runs on each with the
   cells of that part, and options.sum makes all of them take the same steps.  Wanted is the gradient of

       J(y0) = integral over t and all cells of (h - 100)^2 + sum over cells of hu hv at the end

   by all 3 side^2 numbers of y0: one run forward, one back.  It is checked along a direction d: gradient . d, a sum
   over processes, is the derivative of J along d, which one tangent over the same steps gives.  (Differences of J
   agree to 7 digits only: upwind differences switch sides where a wave turns, which gives J kinks.)

       mpiexec -n 4 23_swe_mpi [-side 80] [-method sdirk4a] [options of PETSc]

   Explicit methods need f and its products.  Implicit ones take costate's GMRES with a preconditioner by PETSc: the
   matrix of swe_mpi.c, block Jacobi with ILU(0); -costate_pc_type asm, -costate_ksp_type gmres and all else that a KSP
   knows change it. */
#include <costate/petsc.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "swe_mpi.h"

static const double t_end = 0.05, depth = 100;

typedef struct {
    MPI_Comm comm;
    int rank;
    swe_mpi model;
    costate_petsc *linear;
    costate *solver;
    costate_tape *tape;
    double *y0, *y, *lambda, *d;            /* n + 1 each: states, and q, of which each process has its share */
} spread;

/* ---- the integral: each process sums over its own cells ---- */

static int cost(const costate_point *x, double *r, void *ctx)
{
    const swe_mpi *s = ctx;
    r[0] = 0;
    for (int i = 0; i < s->P.n; i += 3) r[0] += (x->y[i] - depth) * (x->y[i] - depth);
    return 0;
}

static int cost_tangent(const costate_point *x, const costate_point *dx, double *out, void *ctx)
{
    const swe_mpi *s = ctx;
    out[0] = 0;
    for (int i = 0; dx->y && i < s->P.n; i += 3) out[0] += 2 * (x->y[i] - depth) * dx->y[i];
    return 0;
}

static int cost_adjoint(const costate_point *x, const double *w, const costate_gradient *g, void *ctx)
{
    const swe_mpi *s = ctx;
    for (int i = 0; g->y && i < s->P.n; i += 3) g->y[i] += 2 * (x->y[i] - depth) * w[0];
    return 0;
}

/* ---- J and its gradient ---- */

/* J of an end state with its q: a sum over processes */
static double functional(spread *z)
{
    int n = z->model.P.n;
    double J = z->y[n];
    for (int i = 0; i < n; i += 3) J += z->y[i + 1] * z->y[i + 2];
    return costate_petsc_sum(1, &J, &z->comm) ? NAN : J;
}

static int gradient(spread *z)
{
    int n = z->model.P.n;
    memcpy(z->y, z->y0, (size_t)(n + 1) * sizeof *z->y);
    int status = costate_integrate(z->solver, 0, t_end, z->y, NULL, z->tape);
    if (status != COSTATE_OK) return status;
    memset(z->lambda, 0, (size_t)(n + 1) * sizeof *z->lambda);
    for (int i = 0; i < n; i += 3) {
        z->lambda[i + 1] = z->y[i + 2];
        z->lambda[i + 2] = z->y[i + 1];
    }
    z->lambda[n] = 1;                       /* J has q once: on each process by its share */
    return costate_adjoint(z->solver, z->tape, 1, z->lambda, NULL, NULL, NULL);
}

/* d: sines of the grid, the same on any number of processes */
static void direct(spread *z)
{
    const swe_mpi *s = &z->model;
    for (PetscInt j = 0; j < s->my; j++)
        for (PetscInt i = 0; i < s->mx; i++)
            for (int c = 0; c < 3; c++)
                z->d[3 * (j * s->mx + i) + c] = sin(0.3 * (double)(s->x + i) + 0.7 * (double)(s->y + j) + c);
}

/* gradient . d beside dJ along d: by how much of what they sum they are apart is the number that is checked */
static int compare(spread *z, double J, int ranks)
{
    int n = z->model.P.n;
    double sums[3] = {0};
    direct(z);
    for (int i = 0; i < n; i++) sums[0] += z->lambda[i] * z->d[i];
    if (costate_tangent(z->solver, z->tape, 1, z->d, NULL, NULL, NULL) != COSTATE_OK) return 1;
    sums[1] = z->d[n];
    sums[2] = fabs(z->d[n]);
    for (int i = 0; i < n; i += 3) {
        double end = z->d[i + 1] * z->y[i + 2] + z->y[i + 1] * z->d[i + 2];
        sums[1] += end;
        sums[2] += fabs(end);
    }
    if (costate_petsc_sum(3, sums, &z->comm)) return 1;
    double gap = fabs(sums[0] - sums[1]) / sums[2];
    const costate_stats *of = costate_get_stats(z->solver);
    if (z->rank == 0) {
        printf("processes: %d; %d x %d cells, %ld steps, %ld iterations of GMRES\n", ranks, (int)z->model.nx,
               (int)z->model.ny, of->accepted, of->krylov);
        printf("J = %.10g, its derivative along d %.10g\n", J, sums[0]);
        printf("gradient and tangent: %.1e apart\n", gap);
    }
    return !(gap < 1e-12);
}

/* ---- all of it ---- */

/* COSTATE_OK, or what one process at least found: no solver may continue without the others. */
static int set_up(spread *z, int side, const char *name)
{
    costate_options options = {.rtol = 1e-6, .atol = 1e-6, .sum = costate_petsc_sum, .sum_ctx = &z->comm,
                               .tape_limit = (size_t)2 << 30};
    const costate_method *method = costate_method_find(name);
    costate_method_info about = {.family = COSTATE_ERK};
    Mat A = NULL;
    if (swe_mpi_make(&z->model, z->comm, side, side)) return COSTATE_BACKEND;
    costate_problem problem = z->model.P;
    problem.nq = 1;
    problem.cost = (costate_map){.value = cost, .tangent = cost_tangent, .adjoint = cost_adjoint};
    if (method) costate_method_describe(method, &about);
    if (about.family == COSTATE_SDIRK || about.family == COSTATE_FIRK) {
        if (DMCreateMatrix(z->model.dm, &A)) return COSTATE_BACKEND;
        z->linear = costate_petsc_new(z->comm, &problem, A, swe_mpi_matrix, &z->model);
        MatDestroy(&A);                     /* the preconditioner has it still */
        if (!z->linear) return COSTATE_NO_MEMORY;
        options.solver = COSTATE_LS_GMRES;
        options.preconditioner = costate_petsc_preconditioner(z->linear);
    }
    size_t n = (size_t)problem.n + 1;
    z->y0 = calloc(4 * n, sizeof *z->y0);
    z->solver = costate_new(method, &problem, &options);
    z->tape = costate_tape_new();
    double lacks = !z->y0 || !z->tape || costate_status(z->solver) != COSTATE_OK;
    if (costate_petsc_sum(1, &lacks, &z->comm) || lacks > 0) return COSTATE_BAD_ARGUMENT;
    z->y = z->y0 + n;
    z->lambda = z->y + n;
    z->d = z->lambda + n;
    swe_mpi_initial(&z->model, z->y0);
    return COSTATE_OK;
}

static int all(spread *z, int ranks)
{
    char name[32] = "dopri5";
    PetscInt side = 40;
    PetscOptionsGetInt(NULL, NULL, "-side", &side, NULL);
    PetscOptionsGetString(NULL, NULL, "-method", name, sizeof name, NULL);
    int status = set_up(z, (int)side, name);
    if (status == COSTATE_OK) status = gradient(z);
    if (status == COSTATE_OK) return compare(z, functional(z), ranks);
    fprintf(stderr, "process %d: %s\n", z->rank, costate_message(z->solver));
    if (z->linear) fprintf(stderr, "process %d, PETSc: %s\n", z->rank, costate_petsc_message(z->linear));
    return 1;
}

int main(int argc, char **argv)
{
    spread z = {0};
    int ranks;
    if (PetscInitialize(&argc, &argv, NULL, NULL)) return 1;
    z.comm = PETSC_COMM_WORLD;
    MPI_Comm_rank(z.comm, &z.rank);
    MPI_Comm_size(z.comm, &ranks);
    int wrong = all(&z, ranks);
    free(z.y0);
    costate_tape_free(z.tape);
    costate_free(z.solver);
    costate_petsc_free(z.linear);
    swe_mpi_free(&z.model);
    return PetscFinalize() || wrong;
}
