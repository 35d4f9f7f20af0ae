/* test_hybrid_second.c - Hessian products through everything: symmetric, and the derivative of the gradient of frozen
   runs whose events are found again.

   `everything` of hybrids.h in all its forms and both directions of time, by every method that takes it: a functional
   of end values, integrals, the time of the end and of what is seen inside the steps that end in events, none of them
   linear, along directions in y, m, p, t0, t1, given times and thresholds. */
#include "hybrid_sweeps.h"

/* Psi = w.Y + 1/2 sum d Y^2 + tau (e + f tau/2 + k.Y) + sum over observations of a.u + 1/2 sum b u^2 */
typedef struct {
    double w[N_MOST], d[N_MOST], k[N_MOST], e, f, a[NUMS_N], b[NUMS_N];
    int N, n;
    const costate *c;
    double *end, *by_end, *by_end2;      /* M, 1, M */
} functional;

static functional random_functional(const session *s)
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

static int seed2(double t1, const double *y, const double *p, int m, const double *V, const double *Vp, double *lambda,
                 double *mu, double *lambda2, double *mu2, void *ctx)
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

static int seen2(int k, double t, const double *y, int m, const double *V, double *w, double *w2, void *ctx)
{
    const functional *F = ctx;
    (void)k, (void)t;
    for (int i = 0; i < F->n; i++) w[i] = F->a[i] + F->b[i] * y[i];
    for (int i = 0; i < m * F->n; i++) w2[i] = F->b[i % F->n] * V[i];
    return 0;
}

typedef struct { inputs g, H; } product_of;     /* the gradient in column 0; H times each direction */

/* the observations in steps that stay those steps in all runs of a difference: shorter ones are left out */
static int seen_in_long_steps(const session *s, double shortest, double *t)
{
    int count = 0;
    for (int k = 0; k < s->events; k++) {
        double at;
        costate_tape_event(s->tape, k, &at, NULL, NULL, NULL);
        if (fabs(at - s->seen_at[k]) > 0.6 * shortest) t[count++] = s->seen_at[k];
    }
    return count;
}

static product_of hessian_over(session *s, const inputs *x, const costate_tape *tape, costate *c, double shortest)
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

static costate_options variant_of(const costate_method *m, const hybrid *h, int variant)
{
    costate_options o = {.rtol = 1e-4, .atol = 1e-4, .hmax = 0.15, .mode = h->mode, .storage = variant & 1,
                         .keep_factors = variant >> 1 & 1, .derivative_mode = 1};
    if (h->form != HYBRID_ODE) o.consistent = 1 + 2 * (variant >> 1 & 1);
    if (is_newton(m)) o.stage_solve = COSTATE_STAGE_DIRECT + (variant & 1);
    if (!is_explicit(m)) o.solver = variant == 3 && h->form == HYBRID_ODE ? COSTATE_LS_GMRES : COSTATE_LS_DENSE;
    return o;
}

static void pair(const session *s, const inputs *x, int i, const inputs *H, int j, double *sum, double *size)
{
    product(s->N, x->V, i, H->V, j, sum, size);
    product(s->h->np, x->p, i, H->p, j, sum, size);
    product(1, x->t0, i, H->t0, j, sum, size);
    product(1, x->t1, i, H->t1, j, sum, size);
    product(s->events, x->events, i, H->events, j, sum, size);
}

static void symmetry(void **state)
{
    const hybrid *h;
    double worst = 0;
    for (int k = 0; (h = hybrid_at(k)); k++)
        for (int variant = 0; variant < 4 && !h->reference && hybrid_takes(*state, h); variant++) {
            session s = session_ran(*state, h, variant_of(*state, h, variant));
            inputs x = random_inputs();
            product_of r = hessian_over(&s, &x, s.tape, s.c, 0);
            double gap = 0;
            for (int i = 0; i < M; i++)
                for (int j = 0; j < i; j++) {
                    double left = 0, right = 0, size = 0;
                    pair(&s, &x, i, &r.H, j, &left, &size);
                    pair(&s, &x, j, &r.H, i, &right, &size);
                    assert_true(isfinite(left) && isfinite(right));
                    gap = larger_of(gap, fabs(left - right) / size);
                }
            /* slopes of a step's stages are differences over its length, and second derivatives by times have these in
               them: round-off grows with its inverse */
            say(&s, "symmetry", gap, 1e-12 * fmax(1, 0.05 / shortest_step(&s)) * amplified(&s));
            worst = larger_of(worst, gap);
            session_close(&s);
        }
    print_message("           largest gap %.1e\n", worst);
}

static const double LONG = 0.03, E = 1e-3;      /* E: Newton's iteration still converges in all replays */

/* of the gradient along column 0 of x in y, m, p: 8th order */
static inputs differences(session *s, const inputs *x, double e)
{
    static const double w[] = {4.0 / 5, -1.0 / 5, 4.0 / 105, -1.0 / 280};
    inputs d = {.V = {0}};
    costate_tape *other = costate_tape_new();
    for (int k = -4; k <= 4; k++) {
        if (k == 0) continue;
        double y[N_MOST], p[NUMS_P], by = (k > 0 ? 1 : -1) * w[abs(k) - 1] / e;
        for (int i = 0; i < s->N; i++) y[i] = s->y0[i] + k * e * x->V[i];
        for (int i = 0; i < s->h->np; i++) p[i] = s->h->p[i] + k * e * x->p[i];
        CHECK_OK(s->c, costate_replay_onto(s->c, s->tape, y, p, other));
        product_of r = hessian_over(s, x, other, s->c, LONG);
        for (int i = 0; i < s->N; i++) d.V[i] += by * r.g.V[i];
        for (int i = 0; i < s->h->np; i++) d.p[i] += by * r.g.p[i];
        d.t0[0] += by * r.g.t0[0];
        d.t1[0] += by * r.g.t1[0];
        for (int i = 0; i < s->events; i++) d.events[i] += by * r.g.events[i];
    }
    costate_tape_free(other);
    return d;
}

static void derivative(void **state)
{
    const hybrid *h;
    for (int k = 0; (h = hybrid_at(k)); k++) {
        if (h->reference || !hybrid_takes(*state, h)) continue;
        session s = session_ran(*state, h, variant_of(*state, h, k & 1));
        inputs x = random_inputs();
        memset(x.t0, 0, sizeof x.t0);
        memset(x.t1, 0, sizeof x.t1);
        memset(x.events, 0, sizeof x.events);
        product_of r = hessian_over(&s, &x, s.tape, s.c, LONG);
        inputs d = differences(&s, &x, E);
        double bound = 1e-9 * amplified(&s);
        say(&s, "by y", relative_gap(s.N, r.H.V, d.V), bound);
        say(&s, "by p", relative_gap(h->np, r.H.p, d.p), bound);
        /* like components of y, against the larger: rodas5 has 0.095 by t0 beside 3.2 by t1 */
        say(&s, "by t0, t1", relative_gap(2, (double[]){r.H.t0[0], r.H.t1[0]}, (double[]){d.t0[0], d.t1[0]}), bound);
        say(&s, "by events", relative_gap(s.events, r.H.events, d.events), bound);
        session_close(&s);
    }
}

int main(void)
{
    return run_by_kind("Hessian products through events, symmetric", symmetry) +
           run_by_kind("Hessian products through events, differences of gradients", derivative);
}
