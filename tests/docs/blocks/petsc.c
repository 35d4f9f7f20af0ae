/* petsc.c - y' = -p y in each of 20 cells, spread over processes. */
#include <costate/petsc.h>
#include <math.h>
#include <petscdmda.h>
#include <stdlib.h>

typedef struct { int n; } cells;

static int f(const costate_point *x, double *out, void *ctx)
{
    for (int i = 0; i < ((cells *)ctx)->n; i++) out[i] = -x->p[0] * x->y[i];
    return 0;
}
static int f_tangent(const costate_point *x, const costate_point *dx, double *out, void *ctx)
{
    for (int i = 0; i < ((cells *)ctx)->n; i++)
        out[i] = (dx->y ? -x->p[0] * dx->y[i] : 0) - (dx->p ? dx->p[0] * x->y[i] : 0);
    return 0;
}

int main(int argc, char **argv)
{
    DM dm;
    Mat A;
    cells mine;
    double y[20], p[1] = {3};
    if (PetscInitialize(&argc, &argv, NULL, NULL)) return 1;
    MPI_Comm comm = PETSC_COMM_WORLD;
    if (DMDACreate1d(comm, DM_BOUNDARY_NONE, 20, 1, 1, NULL, &dm) || DMSetUp(dm)) return 1;
    if (DMDAGetCorners(dm, NULL, NULL, NULL, &mine.n, NULL, NULL)) return 1;
    const costate_problem problem = {.n = mine.n, .np = 1, .rhs = {.value = f, .tangent = f_tangent}, .ctx = &mine};
    @ mpi costate_options options = {.sum = costate_petsc_sum, .sum_ctx = &comm};
    options.rtol = options.atol = 1e-8;
    costate *c = costate_new(costate_method_find("sdirk4a"), &problem, &options);
    for (int i = 0; i < mine.n; i++) y[i] = 2;
    int status = costate_integrate(c, 0, 1, y, p, NULL), bad = 0;
    for (int i = 0; i < mine.n; i++) bad += fabs(y[i] - 2 * exp(-3)) > 1e-6;
    costate_free(c);
    costate_petsc_free(linear);
    MatDestroy(&A);
    DMDestroy(&dm);
    PetscFinalize();
    return status || bad;
}
