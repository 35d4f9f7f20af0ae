/* spread.h - the problem of cells.h, without wind, spread over processes, which here are threads of one.

   A callback needs its neighbours' cells and waits for them, as it would for messages; so does the sum. */
#ifndef SPREAD_H
#define SPREAD_H

#include "cells.h"

enum { BATCH_MOST = 256 };

typedef struct cluster cluster;
typedef struct {                /* one process */
    cells cells;
    cluster *w;
    int rank;
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
