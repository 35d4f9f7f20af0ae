/* swe_mpi.h - the shallow-water benchmark of swe.h, its grid spread over processes by a DMDA.

   The same equations and numbers; a process has the cells of its part, y[3 k + c], c = 0 h, 1 hu, 2 hv, of its cell k,
   x counting first.  Products of the first order alone. */
#ifndef PROBLEMS_SWE_MPI_H
#define PROBLEMS_SWE_MPI_H

#include <costate/petsc.h>
#include <petscdmda.h>

typedef struct {
    DM dm;
    costate_problem P;
    double rx, ry;                          /* 1/(6 dx), 1/(6 dy) */
    PetscInt nx, ny;
    PetscInt x, y, mx, my;                  /* own cells: x .. x + mx - 1, y .. y + my - 1; */
    PetscInt gx, gy, gmx, gmy;              /* with those of others beside them */
} swe_mpi;

int swe_mpi_make(swe_mpi *, MPI_Comm, int nx, int ny);          /* 0, or minus PETSc's code; read options of a DM */
int swe_mpi_free(swe_mpi *);
void swe_mpi_initial(const swe_mpi *, double *y);               /* h = 100 + 30 exp(-x^2 - y^2), hu = hv = 2 */
int swe_mpi_matrix(double sigma, const costate_point *, Mat, void *swe_mpi);    /* sigma - J */

#endif
