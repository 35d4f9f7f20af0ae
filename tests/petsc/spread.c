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
        w->process[r] = (process){.w = w, .rank = r, .from = from, .n = ends[ranks][r] - from};
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

/* out += a times the second difference of v, which all processes have a part of */
static int diffuse(process *p, double a, const double *v, double *out)
{
    cluster *w = p->w;
    memcpy(w->cells + 1 + p->from, v, (size_t)p->n * sizeof *v);
    if (meet(w)) return -1;
    const double *u = w->cells + 1 + p->from;
    for (int i = 0; i < p->n; i++) out[i] += a * (u[i - 1] - 2 * u[i] + u[i + 1]);
    return meet(w);
}

static int value(const costate_point *x, double *f, void *ctx)
{
    process *p = ctx;
    const double *u = x->y;
    for (int i = 0; i < p->n; i++) f[i] = x->p[0] * u[i] - u[i] * u[i] * u[i] + sin(x->t);
    int code = diffuse(p, x->p[1], u, f);
    return code == 0 && ++p->calls == p->fails_at ? p->code : code;
}

static int tangent(const costate_point *x, const costate_point *dx, double *out, void *ctx)
{
    process *p = ctx;
    const double *u = x->y, *v = dx->y, *dp = dx->p;
    for (int i = 0; i < p->n; i++)
        out[i] = (v ? (x->p[0] - 3 * u[i] * u[i]) * v[i] : 0) + cos(x->t) * dx->t + (dp ? dp[0] * u[i] : 0);
    if (v && diffuse(p, x->p[1], v, out)) return -1;
    return dp ? diffuse(p, dp[1], u, out) : 0;
}

static int adjoint(const costate_point *x, const double *w, const costate_gradient *g, void *ctx)
{
    process *p = ctx;
    const double *u = x->y;
    double along[CELLS] = {0};
    for (int i = 0; i < p->n; i++) {
        if (g->t) *g->t += cos(x->t) * w[i];
        if (g->y) g->y[i] += (x->p[0] - 3 * u[i] * u[i]) * w[i];
        if (g->p) g->p[0] += u[i] * w[i];
    }
    if (g->y && diffuse(p, x->p[1], w, g->y)) return -1;
    if (g->p && diffuse(p, 1, u, along)) return -1;
    for (int i = 0; g->p && i < p->n; i++) g->p[1] += along[i] * w[i];
    return 0;
}

static int tangent2(const costate_point *x, const costate_point *a, const costate_point *b, double *out, void *ctx)
{
    process *p = ctx;
    const costate_point *pair[] = {a, b};
    for (int i = 0; i < p->n; i++) {
        out[i] = a->y && b->y ? -6 * x->y[i] * a->y[i] * b->y[i] : 0;
        out[i] -= sin(x->t) * a->t * b->t;
    }
    for (int k = 0; k < 2; k++) {
        const double *dp = pair[k]->p, *v = pair[1 - k]->y;
        if (!dp || !v) continue;
        for (int i = 0; i < p->n; i++) out[i] += dp[0] * v[i];
        if (diffuse(p, dp[1], v, out)) return -1;
    }
    return 0;
}

static int adjoint_tangent(const costate_point *x, const costate_point *dx, const double *w, const costate_gradient *g,
                           void *ctx)
{
    process *p = ctx;
    const double *v = dx->y, *dp = dx->p;
    double along[CELLS] = {0};
    for (int i = 0; i < p->n; i++) {
        if (g->t) *g->t -= sin(x->t) * dx->t * w[i];
        if (g->y && v) g->y[i] -= 6 * x->y[i] * v[i] * w[i];
        if (g->y && dp) g->y[i] += dp[0] * w[i];
        if (g->p && v) g->p[0] += v[i] * w[i];
    }
    if (g->y && dp && diffuse(p, dp[1], w, g->y)) return -1;
    if (g->p && v && diffuse(p, 1, v, along)) return -1;
    for (int i = 0; g->p && v && i < p->n; i++) g->p[1] += along[i] * w[i];
    return 0;
}

static int cost(const costate_point *x, double *r, void *ctx)
{
    process *p = ctx;
    r[0] = 0;
    for (int i = 0; i < p->n; i++) r[0] += x->y[i] * x->y[i];
    return 0;
}

static int cost_tangent(const costate_point *x, const costate_point *dx, double *out, void *ctx)
{
    process *p = ctx;
    out[0] = 0;
    for (int i = 0; dx->y && i < p->n; i++) out[0] += 2 * x->y[i] * dx->y[i];
    return 0;
}

static int cost_adjoint(const costate_point *x, const double *w, const costate_gradient *g, void *ctx)
{
    process *p = ctx;
    for (int i = 0; g->y && i < p->n; i++) g->y[i] += 2 * x->y[i] * w[0];
    return 0;
}

static int cost_tangent2(const costate_point *x, const costate_point *a, const costate_point *b, double *out, void *ctx)
{
    process *p = ctx;
    (void)x;
    out[0] = 0;
    for (int i = 0; a->y && b->y && i < p->n; i++) out[0] += 2 * a->y[i] * b->y[i];
    return 0;
}

static int cost_adjoint_tangent(const costate_point *x, const costate_point *dx, const double *w,
                                const costate_gradient *g, void *ctx)
{
    process *p = ctx;
    (void)x;
    for (int i = 0; g->y && dx->y && i < p->n; i++) g->y[i] += 2 * dx->y[i] * w[0];
    return 0;
}

costate_problem spread_problem(process *p)
{
    return (costate_problem){.n = p->n, .np = NP, .nq = NQ, .ctx = p,
                             .rhs = {.value = value, .tangent = tangent, .adjoint = adjoint,
                                     .tangent2 = tangent2, .adjoint_tangent = adjoint_tangent},
                             .cost = {.value = cost, .tangent = cost_tangent, .adjoint = cost_adjoint,
                                      .tangent2 = cost_tangent2, .adjoint_tangent = cost_adjoint_tangent}};
}
