/* spread.c - a problem whose state is spread over processes, which here are threads of one. */
#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "spread.h"

struct cluster {
    int ranks, waiting, round, broken, sums_left;
    pthread_mutex_t lock;
    pthread_cond_t all_here;
    double cells[CELLS + 2], share[RANKS_MOST][BATCH_MOST];
    process process[RANKS_MOST];
};

enum { PATIENCE = 20 };         /* seconds; who does not come by then made another decision */

static int meet(cluster *w)
{
    struct timespec until;
    timespec_get(&until, TIME_UTC);
    until.tv_sec += PATIENCE;
    pthread_mutex_lock(&w->lock);
    int round = w->round;
    if (++w->waiting == w->ranks) {
        w->waiting = 0;
        w->round++;
        pthread_cond_broadcast(&w->all_here);
    }
    while (round == w->round && !w->broken)
        if (pthread_cond_timedwait(&w->all_here, &w->lock, &until) == ETIMEDOUT) w->broken = 1;
    if (w->broken) pthread_cond_broadcast(&w->all_here);
    int broken = w->broken;
    pthread_mutex_unlock(&w->lock);
    return broken ? -1 : 0;
}

/* in the order of the processes: the same bits for all of them */
int cluster_sum(int count, double *x, void *ctx)
{
    process *p = ctx;
    cluster *w = p->w;
    if (++p->sums > w->sums_left) return -2;
    if (count > BATCH_MOST) return -3;
    memcpy(w->share[p->rank], x, (size_t)count * sizeof *x);
    if (meet(w)) return -1;
    memset(x, 0, (size_t)count * sizeof *x);
    for (int r = 0; r < w->ranks; r++) for (int k = 0; k < count; k++) x[k] += w->share[r][k];
    return meet(w);
}

void cluster_break_sum(cluster *w, int after) { w->sums_left = after; }

/* out += a times the second difference of v, which all processes have a part of; its own transpose */
static int diffuse(cells *c, double a, double b, const double *v, double *out)
{
    cluster *w = ((process *)c)->w;
    (void)b;                                            /* times the wind, 0 */
    memcpy(w->cells + 1 + c->from, v, (size_t)c->n * sizeof *v);
    if (meet(w)) return -1;
    const double *u = w->cells + 1 + c->from;
    for (int i = 0; i < c->n; i++) out[i] += a * (u[i - 1] - 2 * u[i] + u[i + 1]);
    return meet(w);
}

cluster *cluster_new(int ranks)
{
    static const int ends[RANKS_MOST + 1][RANKS_MOST] = {{0}, {40}, {23, 40}, {17, 20, 40}, {1, 11, 39, 40}};
    cluster *w = calloc(1, sizeof *w);
    w->ranks = ranks;
    w->sums_left = 1 << 30;
    pthread_mutex_init(&w->lock, NULL);
    pthread_cond_init(&w->all_here, NULL);
    for (int r = 0; r < ranks; r++) {
        int from = r ? ends[ranks][r - 1] : 0;
        w->process[r] = (process){
            .cells = {.from = from, .n = ends[ranks][r] - from, .stencil = diffuse, .stencil_back = diffuse}, .w = w,
            .rank = r};
    }
    return w;
}

void cluster_free(cluster *w)
{
    pthread_mutex_destroy(&w->lock);
    pthread_cond_destroy(&w->all_here);
    free(w);
}

process *cluster_process(cluster *w, int rank) { return &w->process[rank]; }

typedef struct { process *p; void (*work)(process *, void *); void *ctx; } job;
static void *do_job(void *x) { job *j = x; j->work(j->p, j->ctx); return NULL; }

void cluster_run(cluster *w, void (*work)(process *, void *), void *ctx)
{
    pthread_t thread[RANKS_MOST];
    job jobs[RANKS_MOST];
    for (int r = 0; r < w->ranks; r++) {
        jobs[r] = (job){&w->process[r], work, ctx};
        if (pthread_create(&thread[r], NULL, do_job, &jobs[r])) abort();
    }
    for (int r = 0; r < w->ranks; r++) pthread_join(thread[r], NULL);
}

/* ---- the problem -------------------------------------------------------------------------------------------- */

static int value(const costate_point *x, double *f, void *ctx)
{
    process *p = ctx;
    int code = cells_value(x, f, ctx);
    return code == 0 && ++p->calls == p->fails_at ? p->code : code;
}

costate_problem spread_problem(process *p)
{
    costate_problem P = cells_problem(&p->cells);
    P.rhs.value = value;
    return P;
}
