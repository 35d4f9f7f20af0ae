/* mpi_line.h - a problem on a line of cells that PETSc's DMDA spreads over processes.

   u_i' = p1 (u_{i-1} - 2 u_i + u_{i+1}) + wind (u_{i-1} - u_i) + p0 u_i - u_i^3 + sin t,  u = 0 beyond both ends;
   q' = sum u_i^2, of which each process has its share. */
#ifndef MPI_LINE_H
#define MPI_LINE_H

#include <costate/petsc.h>
#include <petscdmda.h>

enum { CELLS = 40, RANKS_MOST = 4, NP = 2, NQ = 1 };

typedef struct {                /* one process */
    MPI_Comm comm;
    DM dm;
    int rank, ranks, from, n;   /* its cells: from, from + 1 .. */
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
