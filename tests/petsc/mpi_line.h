/* mpi_line.h - the problem of cells.h, with wind, on a line that PETSc's DMDA spreads over processes. */
#ifndef MPI_LINE_H
#define MPI_LINE_H

#include <costate/petsc.h>
#include <petscdmda.h>
#include "cells.h"

typedef struct {                /* one process */
    cells cells;
    MPI_Comm comm;
    DM dm;
    int rank, ranks;
    int calls, fails_at, code;  /* rhs.value returns code at that call; 0: never */
    int nan_from;               /* its first value is NaN from that call on; 0: never */
    int products, product_fails_at;         /* rhs.tangent returns code at that call */
    int fills, fill_fails_at, fill_code;    /* likewise the matrix */
    costate_pattern diagonal;
    int place[CELLS + 1];
    double pivot;               /* factor of the entries of the process's first row: 1 */
} line;

int line_make(line *, MPI_Comm);
int line_free(line *);
costate_problem line_problem(line *);
costate_problem line_heavy(line *);       /* the same as  2 y' = 2 f,  M in a pattern */
costate_problem line_residual(line *);    /* the same as  y' - f = 0 */
int line_matrix(double sigma, const costate_point *, Mat, void *line);

#endif
