/* sweep.c - over a tape: tangents forward, adjoints backward, the run again; observations inside the steps.

   Backward recursion with frozen steps (step-maps 1): lambda, mu by each step's adjoint; tau = d/dt of what follows.
   The last step is h = t1 - t:  t1 gets eta = tau + h_bar, and tau loses it.
   An observation at t_o = t + theta h in a step adds, with w = gradient of its term by y(t_o) (step-maps 10),
       seed_j += D_j(theta) w,  lambda += w,  beta = w^T sum D'_j(theta) X_j,
       t_o gets beta/h,  tau -= beta/h,  eta -= theta beta/h. */
#include <math.h>
#include <string.h>
#include "run/run.h"

void forget(costate *c)
{
    c->st.lin.serial = 0;
    factors_forget(c->st.fac);
    c->stamp++;
}

static double direction(const costate_tape *tape) { return tape->from.t1 >= tape->from.t0 ? 1 : -1; }

/* Step k with its stages: those on the tape, or the same computation again (bit for bit: the same Jacobian, step,
   starting values and number of iterations; in derivative mode, too: the stages are those of the run). */
int tape_stages(costate *c, const costate_tape *t, int k, record *r)
{
    decisions as = tape_decisions(t, k);
    *r = t->list[k];
    if (t->from.writer != c->self) r->kept = NULL;   /* they count in their own solver, which may be gone or at work */
    if (r->X) return COSTATE_OK;
    trial by = {.as = &as, .serial = k + 1, .to = c->scratch[0], .y1 = c->y1, .err = c->err};
    r->X = by.to.X;
    weights(&c->st, r->y, c->st.w);
    int status = c->st.F->forward(&c->st, r, &by);
    if (status == 0 && !all_finite((size_t)c->st.s * (size_t)c->st.n, r->X)) status = retry(&c->v, WHY_NOT_FINITE, 1);
    return frozen(&c->v, status);
}

static int tape_begin(costate *c, const costate_tape *tape)
{
    TRY(tape_fits(&c->st, &c->P, tape));
    c->maps.p = tape->p;
    if (tape->from.writer != c->self || tape->from.stamp != c->stamp) forget(c);
    c->stamp++;
    return COSTATE_OK;
}

static int step_begin(costate *c, const costate_tape *tape, int k, record *r)
{
    c->v.t = tape->list[k].t;
    TRY(tape_stages(c, tape, k, r));
    weights(&c->st, r->y, c->st.w);
    return 0;
}

/* observations first .. last-1 lie in step k; the end of the interval belongs to the last step */
static int observations_end(const costate_observations *o, const costate_tape *tape, int k, int first)
{
    double dir = direction(tape);
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
    double dir = direction(tape), last = tape->from.t0;
    for (int k = 0; k < o->count; k++) {
        if (!(dir * (o->t[k] - last) >= 0) || !(dir * (tape->from.t1 - o->t[k]) >= 0))
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

/* u' = y' + sum D_j X'_j + (sum D'_j X_j) theta',  theta' = -(t' + theta h')/h, into c->d.seed (n by m) */
static int observe(costate *c, const record *r, const directions *d, const costate_observations *o, int k)
{
    size_t n = (size_t)c->st.n;
    double D[STAGES_MOST], D1[STAGES_MOST], theta = (o->t[k] - r->t) / r->h;
    dense_weights(c->st.m, theta, D, D1);
    dense_state(&c->st, r, D, c->z);
    for (int j = 0; j < d->m; j++) {
        double *v = c->d.seed + (size_t)j * n, moved = -(d->dt[j] + theta * d->dh[j]) / r->h;
        combine(n, v, d->V + (size_t)j * (size_t)c->st.N, 1, c->st.s, D, d->Xd + (size_t)j * n, n * (size_t)d->m);
        if (moved != 0) combine(n, v, v, moved * dense_scale(&c->st, r), c->st.s, D1, r->X, n);
    }
    return observed(c, o->value(k, o->t[k], c->z, d->m, c->d.seed, o->ctx), "value", o->t[k]);
}

int costate_tangent(costate *c, const costate_tape *tape, int m, double *V, const double *Vp, const costate_times *times,
                    const costate_observations *o)
{
    int seen = 0;
    TRY(begin(c));
    TRY(tape_begin(c, tape));
    TRY(tangent_begin(c, m, V, Vp, times));
    TRY(check_observations(c, tape, o, 0));
    c->st.lin.serial = 0;
    directions d = {.m = m, .stages = o && o->count > 0, .dt = c->d.dt, .dh = c->d.dh, .V = V, .Vp = Vp, .V1 = c->d.V, .Xd = c->d.X};
    for (int k = 0; k < tape->count; k++) {
        record r;
        TRY(frozen(&c->v, step_begin(c, tape, k, &r)));
        step_directions(c, m, times, k == tape->count - 1);
        TRY(frozen(&c->v, c->st.F->tangent(&c->st, &r, &d)));
        for (int end = o ? observations_end(o, tape, k, seen) : 0; seen < end; seen++)
            TRY(observe(c, &r, &d, o, seen));
        memcpy(V, c->d.V, (size_t)c->st.N * (size_t)m * sizeof *V);
    }
    if (all_finite((size_t)c->st.N * (size_t)m, V)) return COSTATE_OK;
    return fail(&c->v, COSTATE_NOT_FINITE, "The tangents are NaN or Inf.");
}

/* ---- adjoints ---- */

typedef struct { double *tau, *eta; int any; } clock;      /* corrections of this step by its observations, m each */

static int seed_one(costate *c, const record *r, int m, const costate_observations *o, int k, double *sum, clock *z)
{
    size_t n = (size_t)c->st.n;
    double D[STAGES_MOST], D1[STAGES_MOST], theta = (o->t[k] - r->t) / r->h;
    dense_weights(c->st.m, theta, D, D1);
    dense_state(&c->st, r, D, c->z);
    memset(c->d.w, 0, n * (size_t)m * sizeof *c->d.w);
    TRY(observed(c, o->seed(k, o->t[k], c->z, m, c->d.w, o->ctx), "seed", o->t[k]));
    combine(n, c->f, NULL, dense_scale(&c->st, r), c->st.s, D1, r->X, n);
    for (int j = 0; j < m; j++) {
        const double *w = c->d.w + (size_t)j * n;
        double beta = dot(n, w, c->f) / r->h;
        for (int i = 0; i < c->st.s; i++) axpy(n, D[i], w, c->d.seed + ((size_t)i * (size_t)m + (size_t)j) * n);
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
    double dir = direction(tape);
    z->any = 0;
    if (!o || *seen == 0 || (k > 0 && dir * (o->t[*seen - 1] - r->t) < 0)) return 0;
    memset(c->d.seed, 0, (size_t)c->st.s * (size_t)c->st.n * (size_t)m * sizeof *c->d.seed);
    memset(sum, 0, (size_t)c->st.n * (size_t)m * sizeof *sum);
    while (*seen > 0 && (k == 0 || dir * (o->t[*seen - 1] - r->t) >= 0)) TRY(seed_one(c, r, m, o, --*seen, sum, z));
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
    size_t n = (size_t)c->st.n, k = (size_t)m;
    int timed = times && (times->t0 || times->t1), seen = o ? o->count : 0;
    double *sum = c->d.sum, *tau = c->d.tau;
    clock z = {c->d.tau + k, c->d.tau + 2 * k, 0};
    functionals g = {.m = m, .times = timed, .lambda = lambda, .mu = c->st.np ? mu : NULL, .t = c->d.t, .h = c->d.h,
                     .defect = times ? times->defect : NULL, .U = c->d.U};
    memset(tau, 0, k * sizeof *tau);
    for (int j = 0; times && j < m; j++) {
        if (times->t0) times->t0[j] = 0;
        if (times->t1) times->t1[j] = 0;
        if (times->defect) times->defect[j] = 0;
    }
    for (int i = tape->count - 1; i >= 0; i--) {
        record r;
        for (size_t j = 0; j < k; j++) c->d.t[j] = c->d.h[j] = z.tau[j] = z.eta[j] = 0;
        TRY(frozen(&c->v, step_begin(c, tape, i, &r)));
        TRY(frozen(&c->v, seed_step(c, tape, i, &r, m, o, &seen, sum, &z)));
        g.seed = z.any ? c->d.seed : NULL;
        TRY(frozen(&c->v, c->st.F->adjoint(&c->st, &r, &g)));
        for (int j = 0; z.any && j < m; j++) axpy(n, 1, sum + (size_t)j * n, lambda + (size_t)j * (size_t)c->st.N);
        if (timed) keep_times(times, m, i == tape->count - 1, tau, c->d.t, c->d.h, &z);
    }
    for (int j = 0; timed && times->t0 && j < m; j++) times->t0[j] = tau[j];
    int finite = all_finite((size_t)c->st.N * k, lambda) && (!mu || all_finite((size_t)c->st.np * k, mu));
    return finite ? COSTATE_OK : fail(&c->v, COSTATE_NOT_FINITE, "The gradients are NaN or Inf.");
}

int costate_adjoint(costate *c, const costate_tape *tape, int m, double *lambda, double *mu, const costate_times *times,
                    const costate_observations *o)
{
    TRY(begin(c));
    TRY(tape_begin(c, tape));
    TRY(adjoint_begin(c, m, lambda, mu, times));
    TRY(check_observations(c, tape, o, 1));
    return backward(c, tape, m, lambda, mu, times, o);
}

int costate_integrate_adj(costate *c, double t0, double t1, double *y, const double *p, int m, double *lambda, double *mu,
                          const costate_times *times, costate_seed seed, void *ctx)
{
    TRY(begin(c));
    if (!seed) return fail(&c->v, COSTATE_MISSING, "seed is missing: it sets lambda at t1.");
    if (m > 0 && lambda) memset(lambda, 0, (size_t)c->st.N * (size_t)m * sizeof *lambda);
    TRY(adjoint_begin(c, m, lambda, mu, times));
    if (!c->own && !(c->own = costate_tape_new())) return fail(&c->v, COSTATE_NO_MEMORY, "No memory for the tape.");
    TRY(costate_integrate(c, t0, t1, y, p, c->own));
    int r = seed(t1, y, p, m, lambda, mu, ctx);
    if (r != 0) return fail(&c->v, COSTATE_CALLBACK, "The callback seed returned %d.", r);
    if (!all_finite((size_t)c->st.N * (size_t)m, lambda)) return fail(&c->v, COSTATE_BAD_ARGUMENT, "seed set lambda to NaN or Inf.");
    return backward(c, c->own, m, lambda, mu, times, NULL);       /* the last step's factorisation is still there */
}

/* ---- the run again ---- */

static int again(costate *c, const costate_tape *tape, int k, record *now, const record *prev)
{
    const record *r = &tape->list[k];
    decisions as = tape_decisions(tape, k);
    trial by = {.before = prev, .as = &as, .serial = k + 1, .to = c->scratch[k & 1], .predict = tape->from.predict,
                .y1 = c->y1, .err = c->err};
    if (c->o.derivative_mode) as.iterations = NULL;
    *now = (record){.t = r->t, .h = r->h, .end = r->end, .y = c->y, .X = by.to.X, .iterations = by.to.iterations};
    c->v.t = r->t;
    weights(&c->st, c->y, c->st.w);
    TRY(frozen(&c->v, c->st.F->forward(&c->st, now, &by)));
    if (all_finite((size_t)c->st.N, c->y1)) return 0;
    return fail(&c->v, COSTATE_NOT_FINITE, "The state became NaN or Inf at t = %.10g in a replay.", r->t);
}

int costate_replay(costate *c, const costate_tape *tape, double *y, const double *p)
{
    TRY(begin(c));
    TRY(tape_begin(c, tape));
    TRY(check_vector(c, "y", y, (size_t)c->st.N));
    TRY(check_vector(c, "p", p, (size_t)c->st.np));
    c->maps.p = p;
    forget(c);
    memcpy(c->y, y, (size_t)c->st.N * sizeof *y);
    record now, prev = {0};
    for (int k = 0; k < tape->count; k++) {
        TRY(again(c, tape, k, &now, k ? &prev : NULL));
        double *swap = c->y; c->y = c->y1; c->y1 = swap;
        prev = now;
    }
    c->v.t = tape->from.t1;
    memcpy(y, c->y, (size_t)c->st.N * sizeof *y);
    return COSTATE_OK;
}
