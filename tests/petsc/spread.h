/* spread.h - a problem whose state is spread over processes, which here are threads of one.

   Reaction and diffusion on a line:  u_i' = p1 (u_{i-1} - 2 u_i + u_{i+1}) + p0 u_i - u_i^3 + sin t,  u = 0 at both
   ends; q' = sum u_i^2, of which each process has its share.  A callback needs its neighbours' cells and waits for
   them, as it would for messages; so does the sum. */
#ifndef SPREAD_H
#define SPREAD_H

#include <costate/costate.h>

enum { CELLS = 40, RANKS_MOST = 4, NP = 2, NQ = 1, BATCH_MOST = 256 };

typedef struct cluster cluster;
typedef struct {                /* one process */
    cluster *w;
    int rank, from, n;          /* its cells: from, from + 1 .. */
    int calls, sums;
    int fails_at, code;         /* rhs.value returns code at that call; 0: never */
} process;

cluster *cluster_new(int ranks);
void cluster_free(cluster *);
process *cluster_process(cluster *, int rank);
int cluster_sum(int count, double *x, void *process);             /* -1: a process did not come in time */
void cluster_break_sum(cluster *, int after);                       /* it fails from then on */
/* what each process does, side by side */
void cluster_run(cluster *, void (*work)(process *, void *), void *ctx);
costate_problem spread_problem(process *);

#endif
