/* hybrid_seconds.h - Hessian products of a functional of all that a run of a hybrid system depends on, and the same by
   differences of gradients of frozen runs. */
#ifndef TESTS_HYBRID_SECONDS_H
#define TESTS_HYBRID_SECONDS_H

#include "hybrid_sweeps.h"

/* Psi = w.Y + 1/2 sum d Y^2 + tau (e + f tau/2 + k.Y) + sum over observations of a.u + 1/2 sum b u^2 */
typedef struct {
    double w[N_MOST], d[N_MOST], k[N_MOST], e, f, a[NUMS_N], b[NUMS_N];
    int N, n;
    const costate *c;
    double *end, *by_end, *by_end2;      /* M, 1, M */
} functional;

static inline functional random_functional(const session *s)
{
    functional F = {.N = s->N, .n = s->h->n, .c = s->c};
    unsigned seed = 77;
    random_fill(&seed, N_MOST, F.w);
    random_fill(&seed, N_MOST, F.d);
    random_fill(&seed, N_MOST, F.k);
    random_fill(&seed, NUMS_N, F.a);
    random_fill(&seed, NUMS_N, F.b);
    F.e = 0.7;
    F.f = -0.4;
    return F;
}

static inline int seed2(double t1, const double *y, const double *p, int m, const double *V, const double *Vp,
                        double *lambda, double *mu, double *lambda2, double *mu2, void *ctx)
{
    const functional *F = ctx;
    double tau = t1;
    (void)p, (void)Vp, (void)mu, (void)mu2;
    F->by_end[0] = F->e + F->f * tau;
    for (int i = 0; i < F->N; i++) {
        lambda[i] = F->w[i] + F->d[i] * y[i] + tau * F->k[i];
        F->by_end[0] += F->k[i] * y[i];
    }
    for (int j = 0; j < m; j++) {
        F->by_end2[j] = F->f * F->end[j];
        for (int i = 0; i < F->N; i++) {
            lambda2[j * F->N + i] = F->d[i] * V[j * F->N + i] + F->end[j] * F->k[i];
            F->by_end2[j] += F->k[i] * V[j * F->N + i];
        }
    }
    return 0;
}

static inline int seen2(int k, double t, const double *y, int m, const double *V, double *w, double *w2,
                        void *ctx)
{
    const functional *F = ctx;
    (void)k, (void)t;
    for (int i = 0; i < F->n; i++) w[i] = F->a[i] + F->b[i] * y[i];
    for (int i = 0; i < m * F->n; i++) w2[i] = F->b[i % F->n] * V[i];
    return 0;
}

typedef struct { inputs g, H; } product_of;     /* the gradient in column 0; H times each direction */

/* the observations in steps that stay those steps in all runs of a difference: shorter ones are left out */
static inline int seen_in_long_steps(const session *s, double shortest, double *t)
{
    int count = 0;
    for (int k = 0; k < s->events; k++) {
        double at;
        costate_tape_event(s->tape, k, &at, NULL, NULL, NULL);
        if (fabs(at - s->seen_at[k]) > 0.6 * shortest) t[count++] = s->seen_at[k];
    }
    return count;
}

static inline product_of hessian_over(session *s, const inputs *x, const costate_tape *tape, costate *c,
                                      double shortest)
{
    inputs d = *x;
    product_of out = {.g = {.V = {0}}};
    double end[M], by_end[1], by_end2[M];
    functional F = random_functional(s);
    F.end = end;
    F.by_end = by_end;
    F.by_end2 = by_end2;
    costate_times along = {.t0 = d.t0, .t1 = d.t1, .events = d.events, .end = end};
    costate_times times = {.t0 = out.g.t0, .t1 = out.g.t1, .events = out.g.events, .end = by_end};
    costate_times times2 = {.t0 = out.H.t0, .t1 = out.H.t1, .events = out.H.events, .end = by_end2};
    double at[MOST_EVENTS];
    costate_observations seen = {.count = seen_in_long_steps(s, shortest, at), .t = at, .seed2 = seen2, .ctx = &F};
    costate_second second = {.m = M, .V = d.V, .Vp = d.p, .along = &along, .seed = seed2, .ctx = &F,
                             .observations = &seen, .lambda = out.g.V, .mu = out.g.p, .times = &times,
                             .lambda2 = out.H.V, .mu2 = out.H.p, .times2 = &times2};
    CHECK_OK(c, costate_hessian(c, tape, &second));
    return out;
}

static inline void pair(const session *s, const inputs *x, int i, const inputs *H, int j, double *sum, double *size)
{
    product(s->N, x->V, i, H->V, j, sum, size);
    product(s->h->np, x->p, i, H->p, j, sum, size);
    product(1, x->t0, i, H->t0, j, sum, size);
    product(1, x->t1, i, H->t1, j, sum, size);
    product(s->events, x->events, i, H->events, j, sum, size);
}

/* the largest asymmetry of the products along all directions */
static inline double asymmetry(const session *s, const inputs *x, const product_of *r)
{
    double gap = 0;
    for (int i = 0; i < M; i++)
        for (int j = 0; j < i; j++) {
            double left = 0, right = 0, size = 0;
            pair(s, x, i, &r->H, j, &left, &size);
            pair(s, x, j, &r->H, i, &right, &size);
            assert_true(isfinite(left) && isfinite(right));
            gap = larger_of(gap, fabs(left - right) / size);
        }
    return gap;
}

/* of the gradient along column 0 of x in y, m, p: 8th order; longer: of steps that are seen in; the status of a replay
   that failed */
static inline int differences(session *s, const inputs *x, double e, double longer, inputs *out)
{
    static const double w[] = {4.0 / 5, -1.0 / 5, 4.0 / 105, -1.0 / 280};
    inputs d = {.V = {0}};
    costate_tape *other = costate_tape_new();
    for (int k = -4; k <= 4; k++) {
        if (k == 0) continue;
        double y[N_MOST], p[NUMS_P], by = (k > 0 ? 1 : -1) * w[abs(k) - 1] / e;
        for (int i = 0; i < s->N; i++) y[i] = s->y0[i] + k * e * x->V[i];
        for (int i = 0; i < s->h->np; i++) p[i] = s->h->p[i] + k * e * x->p[i];
        int status = costate_replay_onto(s->c, s->tape, y, p, other);
        if (status) { costate_tape_free(other); return status; }
        product_of r = hessian_over(s, x, other, s->c, longer);
        for (int i = 0; i < s->N; i++) d.V[i] += by * r.g.V[i];
        for (int i = 0; i < s->h->np; i++) d.p[i] += by * r.g.p[i];
        d.t0[0] += by * r.g.t0[0];
        d.t1[0] += by * r.g.t1[0];
        for (int i = 0; i < s->events; i++) d.events[i] += by * r.g.events[i];
    }
    costate_tape_free(other);
    *out = d;
    return 0;
}

/* the largest gap to differences with this increment, relative to what round-off permits; HUGE_VAL: a replay failed */
static inline double gap_to(session *s, const inputs *x, const product_of *r, double longer, double e)
{
    inputs d;
    if (differences(s, x, e, longer, &d)) return HUGE_VAL;
    double gaps[] = {relative_gap(s->N, r->H.V, d.V), relative_gap(s->h->np, r->H.p, d.p),
                     /* like components of y, against the larger: rodas5 has 0.095 by t0 beside 3.2 by t1 */
                     relative_gap(2, (double[]){r->H.t0[0], r->H.t1[0]}, (double[]){d.t0[0], d.t1[0]}),
                     relative_gap(s->events, r->H.events, d.events)}, most = 0;
    for (int k = 0; k < 4; k++) most = larger_of(most, gaps[k]);
    return most / amplified(s);
}

/* Of a longer increment Newton's iteration in a replay may not converge, with a shorter one round-off of short steps is
   larger: products are right that agree with differences by one of them. */
static inline double gap_to_differences(session *s)
{
    static const double LONG = 0.03, E[] = {1e-3, 5e-4, 2.5e-4};
    inputs x = replayed_inputs();
    product_of r = hessian_over(s, &x, s->tape, s->c, LONG);
    double least = HUGE_VAL;
    for (int i = 0; i < 3 && !(least <= 1e-9); i++) least = fmin(least, gap_to(s, &x, &r, LONG, E[i]));
    return least;
}

#endif
