/* threads.c (ensemble) - starts, pins and joins the threads of the workers.  Without thread support one worker runs all
   members. */
#define _POSIX_C_SOURCE 200809L
#include <stdlib.h>
#include "ensemble/ensemble.h"
#if defined __unix__ || defined __APPLE__
#include <pthread.h>

typedef struct { pthread_t thread; int started; } other;

static void *work(void *ctx)
{
    worker *w = ctx;
    if (w->of->all->pin) affinity_pin(&w->of->cores, w->number);
    if (worker_open(w) == 0) worker_run(w);
    return NULL;
}

static void with_others(ensemble *e, other *others)
{
    for (int k = 1; k < e->threads; k++)
        others[k].started = worker_given(&e->workers[k]) == 0 &&
                            pthread_create(&others[k].thread, NULL, work, &e->workers[k]) == 0;
    worker_run(&e->workers[0]);
    for (int k = 1; k < e->threads; k++) if (others[k].started) pthread_join(others[k].thread, NULL);
}

void threads_run(ensemble *e)
{
    other *others = e->threads > 1 ? calloc((size_t)e->threads, sizeof *others) : NULL;
    e->lock = others ? lock_new() : NULL;
    if (e->lock) with_others(e, others);
    else worker_run(&e->workers[0]);
    lock_free(e->lock);
    e->lock = NULL;
    free(others);
}

#else
void threads_run(ensemble *e) { worker_run(&e->workers[0]); }
#endif
