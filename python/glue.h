/* glue.h - what runs of the Python package do in C: signals every 50 ms, states at given times, states of all steps.

   A run of a compiled model calls no Python but costate_py_tick, which lets Python act on Ctrl-C. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

typedef struct {
    void *handle;               /* of the Python object that the callbacks belong to */
    int python;                 /* 1: each step is shown to Python, too */
    double last;                /* time of the last tick, s */
    double looked;              /* time when the clock was read last, and steps until it is read again */
    int skips, stride;
    int n, N;                   /* states; of the library: with costs and memory */
    /* states at given times, in the order of the run */
    const double *at;           /* count */
    int count, next;
    double *found;              /* n by count */
    /* all steps */
    int keeps;                  /* 1: t and y at the ends of steps are kept */
    long steps, room;
    double *t, *y;              /* steps; N by steps */
    /* the members of an ensemble: states at given times, and the weights of these and of the end in a functional */
    const double *each_at;      /* each_count, or if each_own is 1 by members, NaN behind the last of a member */
    int each_count, each_own;
    double *each_found;         /* n by each_count by members */
    const double *each_weight;  /* n by each_count by members */
    const double *each_end;     /* n by members */
    /* tangents: in at t0, out at the end, N by members; of parameters, each_np numbers from one member to the next; at
       the given times, out, n by each_count by members; NULL: none */
    double *each_V;
    const double *each_Vp;
    int each_np;
    double *each_dy;
    const costate_preconditioner **each_splitting;      /* of each thread; NULL: none */
} costate_watch;

static int costate_py_tick(void *handle);
static int costate_py_step(const costate_step *, void *handle);

static double watch_clock(void)
{
    struct timespec now;
#ifdef CLOCK_MONOTONIC_COARSE           /* of Linux: some ns instead of 25, exact to some ms */
    clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
#else
    timespec_get(&now, TIME_UTC);
#endif
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* Reading the clock would take a tenth of a short step: while steps are short it is read at every 16th. */
static int watch_tick(costate_watch *w)
{
    if (w->skips-- > 0) return 0;
    double now = watch_clock();
    int quick = fabs(now - w->looked) < 1e-3;
    w->skips = w->stride = !quick ? 0 : w->stride < 15 ? 2 * w->stride + 1 : 15;
    w->looked = now;
    if (fabs(now - w->last) < 0.05) return 0;
    w->last = now;
    return costate_py_tick(w->handle);
}

static int watch_keep(costate_watch *w, double t, const double *y)
{
    if (w->steps == w->room) {
        long room = 2 * w->room + 64;
        double *times = realloc(w->t, (size_t)room * sizeof *times), *all;
        if (!times) return -1;
        w->t = times;
        if (!(all = realloc(w->y, (size_t)room * (size_t)w->N * sizeof *all))) return -1;
        w->y = all;
        w->room = room;
    }
    w->t[w->steps] = t;
    memcpy(w->y + w->steps++ * w->N, y, (size_t)w->N * sizeof *y);
    return 0;
}

/* the given times in this step */
static int watch_times(costate_watch *w, const costate_step *s)
{
    double a = costate_step_start(s), b = costate_step_end(s), dir = b < a ? -1 : 1;
    while (w->next < w->count && dir * (w->at[w->next] - b) <= 0) {
        double *y = w->found + (size_t)w->next * (size_t)w->n, t = w->at[w->next++];
        if (dir * (t - a) >= 0 && costate_step_eval(s, t, y)) return -1;
    }
    return 0;
}

static int costate_watch_step(const costate_step *s, void *ctx)
{
    costate_watch *w = ctx;
    if (w->next < w->count && watch_times(w, s)) return -1;
    if (w->keeps && watch_keep(w, costate_step_end(s), costate_step_state(s))) return -1;
    if (w->python && costate_py_step(s, w->handle)) return 1;
    return watch_tick(w);
}

static int costate_watch_back(int step, double t, double h, const double *y, int m, const double *lambda,
                              const double *mu, void *ctx)
{
    (void)step, (void)t, (void)h, (void)y, (void)m, (void)lambda, (void)mu;
    return watch_tick(ctx);
}

static int costate_watch_progress(int done, int failed, int count, void *ctx)
{
    (void)done, (void)failed, (void)count;
    return watch_tick(ctx);
}

typedef struct {
    double *out;
    int n;
} watch_tangents;

static int watch_tangent(int k, double t, const double *y, int m, const double *V, void *ctx)
{
    const watch_tangents *to = ctx;
    (void)t, (void)y, (void)m;
    memcpy(to->out + (size_t)k * (size_t)to->n, V, (size_t)to->n * sizeof *V);
    return 0;
}

/* the times of a member, and how many it has: NaN stands behind the last of its own */
static const double *watch_at(const costate_watch *w, int member)
{
    return w->each_at + (w->each_own ? (size_t)member * (size_t)w->each_count : 0);
}

static int watch_count(const costate_watch *w, int member)
{
    const double *t = watch_at(w, member);
    int count = 0;
    while (count < w->each_count && t[count] == t[count]) count++;
    return count;
}

static int watch_tangents_of(const costate_watch *w, int member, costate *c, costate_tape *tape)
{
    watch_tangents to = {w->each_dy + (size_t)member * (size_t)w->each_count * (size_t)w->n, w->n};
    costate_observations seen = {.count = watch_count(w, member), .t = watch_at(w, member), .value = watch_tangent,
                                 .ctx = &to};
    const double *Vp = w->each_Vp ? w->each_Vp + (size_t)member * (size_t)w->each_np : NULL;
    return costate_tangent(c, tape, 1, w->each_V + (size_t)member * (size_t)w->N, Vp, NULL, &seen);
}

/* the states of a member; those at times that its run did not reach remain as they are */
static int costate_watch_member(int member, int thread, costate *c, costate_tape *tape, void *ctx)
{
    const costate_watch *w = ctx;
    (void)thread;
    const double *at = watch_at(w, member);
    for (int k = 0; k < watch_count(w, member); k++) {
        double *y = w->each_found + ((size_t)member * (size_t)w->each_count + (size_t)k) * (size_t)w->n;
        int status = costate_tape_eval(c, tape, at[k], y);
        if (status == COSTATE_OUT_OF_RANGE) break;
        if (status) return status;
    }
    return w->each_V ? watch_tangents_of(w, member, c, tape) : 0;
}

static int costate_watch_observe(int member, int k, double t, const double *y, int m, double *weights, void *ctx)
{
    const costate_watch *w = ctx;
    (void)t, (void)y, (void)m;
    memcpy(weights, w->each_weight + ((size_t)member * (size_t)w->each_count + (size_t)k) * (size_t)w->n,
           (size_t)w->n * sizeof *weights);
    return 0;
}

/* the functional is linear in the states: its second derivatives are zero, as they are on entry */
static int costate_watch_observe2(int member, int k, double t, const double *y, int m, const double *V, double *weights,
                                  double *w2, void *ctx)
{
    (void)V, (void)w2;
    return costate_watch_observe(member, k, t, y, m, weights, ctx);
}

static int costate_watch_seed2(int member, double t1, const double *y, const double *p, int m, const double *V,
                               const double *Vp, double *lambda, double *mu, double *lambda2, double *mu2, void *ctx)
{
    const costate_watch *w = ctx;
    (void)t1, (void)y, (void)p, (void)m, (void)V, (void)Vp, (void)mu, (void)lambda2, (void)mu2;
    if (w->each_end) memcpy(lambda, w->each_end + (size_t)member * (size_t)w->n, (size_t)w->n * sizeof *lambda);
    return 0;
}

/* A splitting must not be used by two threads. */
static int costate_watch_thread(int thread, costate_problem *P, costate_options *o, void *ctx)
{
    const costate_watch *w = ctx;
    (void)P;
    if (w->each_splitting) o->preconditioner = w->each_splitting[thread];
    return 0;
}

static void costate_watch_clear(costate_watch *w)
{
    free(w->t);
    free(w->y);
    w->t = w->y = NULL;
    w->steps = w->room = 0;
    w->next = 0;
}
