/* sweep.c - over a tape: tangents forward, adjoints backward, the run again; observations inside the steps.

   Backward recursion with frozen steps (step-maps 1): lambda, mu by each step's adjoint; tau = d/dt of what follows.
   The last step is h = t1 - t:  t1 gets eta = tau + h_bar, and tau loses it.
   An observation at t_o = t + theta h in a step adds, with w = gradient of its term by y(t_o) (step-maps 10),
       seed_j += D_j(theta) w,  lambda += w,  beta = w^T sum D'_j(theta) X_j,
       t_o gets beta/h,  tau -= beta/h,  eta -= theta beta/h. */
#include <math.h>
#include <string.h>
#include "core.h"

static int tape_begin(costate *c, const costate_tape *tape)
{
    int status = tape_fits(c, tape);
    if (status != COSTATE_OK) return status;
    c->maps.p = tape->p;
    c->replay = NULL;
    if (tape->writer != c->self || tape->stamp != c->stamp) forget(c);
    c->stamp++;
    c->dir = tape->t1 >= tape->t0 ? 1 : -1;
    return COSTATE_OK;
}

static int step_begin(costate *c, const costate_tape *tape, int k, record *r)
{
    c->at = k;
    c->v.t = tape->list[k].t;
    int status = tape_stages(c, tape, k, r);
    weights(c, r->y, c->w);
    return status;
}

static double scale(const costate *c, const record *r) { return c->m->family == COSTATE_ERK ? r->h : 1; }

/* observations first .. last-1 lie in step k; the end of the interval belongs to the last step */
static int observations_end(const costate_observations *o, const costate_tape *tape, int k, int first)
{
    double dir = tape->t1 >= tape->t0 ? 1 : -1;
    if (k == tape->count - 1) return o->count;
    while (first < o->count && dir * (o->t[first] - tape->list[k + 1].t) < 0) first++;
    return first;
}

static int check_observations(costate *c, const costate_tape *tape, const costate_observations *o, int adjoint)
{
    if (!o || o->count == 0) return COSTATE_OK;
    if (o->count < 0 || !o->t) return fail(&c->v, COSTATE_BAD_ARGUMENT, "observations: count is negative or t is NULL.");
    if (adjoint ? !o->seed : !o->value) return fail(&c->v, COSTATE_MISSING, "observations.%s is missing.", adjoint ? "seed" : "value");
    if (tape->count == 0) return fail(&c->v, COSTATE_OUT_OF_RANGE, "observations: the tape holds no step (t0 = t1).");
    double dir = tape->t1 >= tape->t0 ? 1 : -1, last = tape->t0;
    for (int k = 0; k < o->count; k++) {
        if (!(dir * (o->t[k] - last) >= 0) || !(dir * (tape->t1 - o->t[k]) >= 0))
            return fail(&c->v, COSTATE_OUT_OF_RANGE, "observations.t[%d] = %.10g lies outside the run or out of order.", k, o->t[k]);
        last = o->t[k];
    }
    return COSTATE_OK;
}

static int observed(costate *c, int code, const char *name, double t)
{
    if (code == 0) return 0;
    return fail(&c->v, COSTATE_CALLBACK, "The callback observations.%s returned %d at t = %.10g.", name, code, t);
}

/* ---- tangents ---- */

/* u' = y' + sum D_j X'_j + (sum D'_j X_j) theta',  theta' = -(t' + theta h')/h, into c->seed (n by m) */
static int observe(costate *c, const record *r, const directions *d, const costate_observations *o, int k)
{
    size_t n = (size_t)c->n;
    double D[STAGES_MOST], D1[STAGES_MOST], theta = (o->t[k] - r->t) / r->h;
    dense_weights(c->m, theta, D, D1);
    combine(n, c->Y, r->y, scale(c, r), c->s, D, r->X, n);
    for (int j = 0; j < d->m; j++) {
        double *v = c->seed + (size_t)j * n, moved = -(d->dt[j] + theta * d->dh[j]) / r->h;
        combine(n, v, d->V + (size_t)j * (size_t)c->N, 1, c->s, D, d->Xd + (size_t)j * n, n * (size_t)d->m);
        if (moved != 0) combine(n, v, v, moved * scale(c, r), c->s, D1, r->X, n);
    }
    return observed(c, o->value(k, o->t[k], c->Y, d->m, c->seed, o->ctx), "value", o->t[k]);
}

int costate_tangent(costate *c, const costate_tape *tape, int m, double *V, const double *Vp, const costate_times *times,
                    const costate_observations *o)
{
    int status = begin(c), seen = 0;
    if (status == COSTATE_OK) status = tape_begin(c, tape);
    if (status == COSTATE_OK) status = tangent_begin(c, m, V, Vp, times);
    if (status == COSTATE_OK) status = check_observations(c, tape, o, 0);
    if (status != COSTATE_OK) return status;
    c->lin.serial = 0;
    c->observing = o && o->count > 0;
    directions d = {.m = m, .dt = c->dt, .dh = c->dh, .V = V, .Vp = Vp, .V1 = c->Vb, .Xd = c->Xd};
    for (int k = 0; status == COSTATE_OK && k < tape->count; k++) {
        record r;
        status = frozen(&c->v, step_begin(c, tape, k, &r));
        step_directions(c, m, times, k == tape->count - 1);
        if (status == COSTATE_OK) status = frozen(&c->v, c->F->tangent(c, &r, &d));
        for (int end = o ? observations_end(o, tape, k, seen) : 0; status == COSTATE_OK && seen < end; seen++)
            status = observe(c, &r, &d, o, seen);
        if (status == COSTATE_OK) memcpy(V, c->Vb, (size_t)c->N * (size_t)m * sizeof *V);
    }
    c->observing = 0;
    if (status == COSTATE_OK && !all_finite((size_t)c->N * (size_t)m, V))
        status = fail(&c->v, COSTATE_NOT_FINITE, "The tangents are NaN or Inf.");
    return status;
}

/* ---- adjoints ---- */

typedef struct { double *tau, *eta; int any; } clock;      /* corrections of this step by its observations, m each */

static int seed_one(costate *c, const record *r, int m, const costate_observations *o, int k, double *sum, clock *z)
{
    size_t n = (size_t)c->n;
    double D[STAGES_MOST], D1[STAGES_MOST], theta = (o->t[k] - r->t) / r->h;
    dense_weights(c->m, theta, D, D1);
    combine(n, c->Y, r->y, scale(c, r), c->s, D, r->X, n);
    memset(c->obs, 0, n * (size_t)m * sizeof *c->obs);
    int status = observed(c, o->seed(k, o->t[k], c->Y, m, c->obs, o->ctx), "seed", o->t[k]);
    if (status != 0) return status;
    combine(n, c->v1, NULL, scale(c, r), c->s, D1, r->X, n);
    for (int j = 0; j < m; j++) {
        const double *w = c->obs + (size_t)j * n;
        double beta = dot(n, w, c->v1) / r->h;
        for (int i = 0; i < c->s; i++) axpy(n, D[i], w, c->seed + ((size_t)i * (size_t)m + (size_t)j) * n);
        axpy(n, 1, w, sum + (size_t)j * n);
        if (o->dt) o->dt[(size_t)j * (size_t)o->count + (size_t)k] = beta;
        z->tau[j] -= beta;
        z->eta[j] -= theta * beta;
    }
    z->any = 1;
    return 0;
}

/* all observations of step k; *seen counts those not yet met, from the end */
static int seed_step(costate *c, const costate_tape *tape, int k, const record *r, int m, const costate_observations *o,
                     int *seen, double *sum, clock *z)
{
    double dir = tape->t1 >= tape->t0 ? 1 : -1;
    z->any = 0;
    if (!o || *seen == 0 || (k > 0 && dir * (o->t[*seen - 1] - r->t) < 0)) return 0;
    memset(c->seed, 0, (size_t)c->s * (size_t)c->n * (size_t)m * sizeof *c->seed);
    memset(sum, 0, (size_t)c->n * (size_t)m * sizeof *sum);
    while (*seen > 0 && (k == 0 || dir * (o->t[*seen - 1] - r->t) >= 0)) {
        int status = seed_one(c, r, m, o, --*seen, sum, z);
        if (status != 0) return status;
    }
    return 0;
}

/* tau of the steps that follow and eta of the last step become gradients by t0 and t1 */
static void keep_times(const costate_times *times, int m, int last, double *tau, const double *t, const double *h, const clock *z)
{
    for (int j = 0; j < m; j++) {
        double eta = tau[j] + h[j] + (z->any ? z->eta[j] : 0);
        tau[j] += t[j] + (z->any ? z->tau[j] : 0);
        if (!last) continue;
        if (times->t1) times->t1[j] = eta;
        tau[j] -= eta;
    }
}

static int backward(costate *c, const costate_tape *tape, int m, double *lambda, double *mu, const costate_times *times,
                    const costate_observations *o)
{
    size_t n = (size_t)c->n, k = (size_t)m;
    int timed = times && (times->t0 || times->t1), seen = o ? o->count : 0, status = COSTATE_OK;
    double *sum = c->sum, *tau = c->tau;
    clock z = {c->tau + k, c->tau + 2 * k, 0};
    functionals g = {m, timed, lambda, c->np ? mu : NULL, c->tb, c->hb, times ? times->defect : NULL, NULL};
    memset(tau, 0, k * sizeof *tau);
    for (int j = 0; times && j < m; j++) {
        if (times->t0) times->t0[j] = 0;
        if (times->t1) times->t1[j] = 0;
        if (times->defect) times->defect[j] = 0;
    }
    for (int i = tape->count - 1; status == COSTATE_OK && i >= 0; i--) {
        record r;
        for (size_t j = 0; j < k; j++) c->tb[j] = c->hb[j] = z.tau[j] = z.eta[j] = 0;
        status = frozen(&c->v, step_begin(c, tape, i, &r));
        if (status == COSTATE_OK) status = frozen(&c->v, seed_step(c, tape, i, &r, m, o, &seen, sum, &z));
        g.seed = z.any ? c->seed : NULL;
        if (status == COSTATE_OK) status = frozen(&c->v, c->F->adjoint(c, &r, &g));
        for (int j = 0; z.any && j < m; j++) axpy(n, 1, sum + (size_t)j * n, lambda + (size_t)j * (size_t)c->N);
        if (timed) keep_times(times, m, i == tape->count - 1, tau, c->tb, c->hb, &z);
    }
    for (int j = 0; timed && times->t0 && j < m; j++) times->t0[j] = tau[j];
    if (status == COSTATE_OK && (!all_finite((size_t)c->N * k, lambda) || (mu && c->np && !all_finite((size_t)c->np * k, mu))))
        status = fail(&c->v, COSTATE_NOT_FINITE, "The gradients are NaN or Inf.");
    return status;
}

int costate_adjoint(costate *c, const costate_tape *tape, int m, double *lambda, double *mu, const costate_times *times,
                    const costate_observations *o)
{
    int status = begin(c);
    if (status == COSTATE_OK) status = tape_begin(c, tape);
    if (status == COSTATE_OK) status = adjoint_begin(c, m, lambda, mu, times);
    if (status == COSTATE_OK) status = check_observations(c, tape, o, 1);
    if (status != COSTATE_OK) return status;
    return backward(c, tape, m, lambda, mu, times, o);
}

int costate_integrate_adj(costate *c, double t0, double t1, double *y, const double *p, int m, double *lambda, double *mu,
                          const costate_times *times, costate_seed seed, void *ctx)
{
    int status = begin(c);
    if (status != COSTATE_OK) return status;
    if (!seed) return fail(&c->v, COSTATE_MISSING, "seed is missing: it sets lambda at t1.");
    if (m > 0 && lambda) memset(lambda, 0, (size_t)c->N * (size_t)m * sizeof *lambda);
    status = adjoint_begin(c, m, lambda, mu, times);
    if (status == COSTATE_OK && !c->own && !(c->own = costate_tape_new())) status = fail(&c->v, COSTATE_NO_MEMORY, "No memory for the tape.");
    if (status == COSTATE_OK) status = costate_integrate(c, t0, t1, y, p, c->own);
    if (status != COSTATE_OK) return status;
    int r = seed(t1, y, p, m, lambda, mu, ctx);
    if (r != 0) return fail(&c->v, COSTATE_CALLBACK, "The callback seed returned %d.", r);
    if (!all_finite((size_t)c->N * (size_t)m, lambda)) return fail(&c->v, COSTATE_BAD_ARGUMENT, "seed set lambda to NaN or Inf.");
    return backward(c, c->own, m, lambda, mu, times, NULL);       /* the last step's factorisation is still there */
}

/* ---- the run again ---- */

int costate_replay(costate *c, const costate_tape *tape, double *y, const double *p)
{
    int status = begin(c);
    if (status == COSTATE_OK) status = tape_begin(c, tape);
    if (status != COSTATE_OK) return status;
    if ((status = check_vector(c, "y", y, (size_t)c->N)) != COSTATE_OK || (status = check_vector(c, "p", p, (size_t)c->np)) != COSTATE_OK) return status;
    c->maps.p = p;
    c->replay = tape;
    c->repeat = !c->o.derivative_mode;
    forget(c);
    c->cautious = 0;
    c->predict = tape->predict;
    memcpy(c->y, y, (size_t)c->N * sizeof *y);
    record prev = {0};
    for (int k = 0; status == COSTATE_OK && k < tape->count; k++) {
        record now = spare_record(c, k);
        now.t = c->v.t = tape->list[k].t;
        now.h = tape->list[k].h;
        now.end = tape->list[k].end;
        c->at = k;
        weights(c, c->y, c->w);
        status = frozen(&c->v, c->F->forward(c, &now, k ? &prev : NULL, c->y1, c->err));
        if (status == COSTATE_OK && !all_finite((size_t)c->N, c->y1)) status = fail(&c->v, COSTATE_NOT_FINITE, "The state became NaN or Inf at t = %.10g in a replay.", now.t);
        double *swap = c->y; c->y = c->y1; c->y1 = swap;
        prev = now;
    }
    c->replay = NULL;
    if (status != COSTATE_OK) return status;
    c->v.t = tape->t1;
    memcpy(y, c->y, (size_t)c->N * sizeof *y);
    return status;
}
