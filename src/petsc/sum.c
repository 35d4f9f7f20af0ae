/* sum.c - sums over processes that give all of them the same bits.

   All processes decide by a sum, so that one that differs in its last digit could take another step.  MPI advises, but
   does not promise, that MPI_Allreduce gives all processes the same result; MPI_Reduce to one process, and that one's
   sent to all, does. */
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
