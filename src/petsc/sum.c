/* sum.c - sums over all processes, with the same bits on each of them.

   Processes take decisions by these sums, so a sum that differed in its last digit on one process could make it take
   another step.  The MPI standard recommends, but does not require, that MPI_Allreduce returns the same result
   everywhere.  MPI_Reduce to one process and MPI_Bcast from there guarantee it. */
#include "petsc/petsc.h"

int costate_petsc_sum(int count, double *x, void *comm)
{
    MPI_Comm all = *(MPI_Comm *)comm;
    int size, rank;
    TRY(MPI_Comm_size(all, &size));
    if (size == 1) return 0;
    TRY(MPI_Comm_rank(all, &rank));
    TRY(MPI_Reduce(rank == 0 ? MPI_IN_PLACE : x, x, count, MPI_DOUBLE, MPI_SUM, 0, all));
    return MPI_Bcast(x, count, MPI_DOUBLE, 0, all);
}
