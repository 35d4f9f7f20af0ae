/* hybrid_sweeps.h - a run of a hybrid system, its tangents and its adjoints in all that they can be taken by, and how
   far these are from transposes of each other. */
#ifndef TESTS_HYBRID_SWEEPS_H
#define TESTS_HYBRID_SWEEPS_H

#include "common.h"
#include "hybrids.h"

enum { M = 3, N_MOST = HYBRID_LONGEST + 1, MOST_EVENTS = 32 };

typedef struct {
    const costate_method *m;
    const hybrid *h;
    costate_options o;
    int N, events;                       /* of the tape */
    costate_problem P;
    costate *c;
    costate_tape *tape;
    double y0[N_MOST], y[N_MOST], seen_at[MOST_EVENTS];       /* y: at the end; seen: in the steps to events */
} session;

/* what a run depends on, and what depends on it; in directions and weights, M columns of each */
typedef struct { double V[M * N_MOST], p[M * NUMS_P], t0[M], t1[M], events[M * MOST_EVENTS]; } inputs;
typedef struct { double V[M * N_MOST], end[M], seen[MOST_EVENTS][M * NUMS_N]; } outputs;

static inline void say(const session *s, const char *what, double gap, double bound)
{
    if (!(gap <= bound))
        fail_msg("%s, %s, solver %d, storage %d, stage_solve %d, consistent %d: %s %.2e", method_name(s->m), s->h->name,
                 s->o.solver, s->o.storage, s->o.stage_solve, s->o.consistent, what, gap);
}

/* a time inside each step that ends in an event, or inside the first for events at t0; two events in one step see it
   twice */
static inline void see_events(session *s)
{
    s->events = costate_tape_events(s->tape);
    assert_true(s->events <= MOST_EVENTS);
    for (int k = 0, step = 0; k < s->events; k++) {
        double at, t = 0, h = 0;
        costate_tape_event(s->tape, k, &at, NULL, NULL, NULL);
        if (at == s->h->t0) costate_tape_get(s->tape, 0, &t, &h, NULL);
        for (; at != s->h->t0 && step < costate_tape_steps(s->tape); step++) {
            costate_tape_get(s->tape, step, &t, &h, NULL);
            if (fabs(t + h - at) < 1e-12) break;
        }
        s->seen_at[k] = t + 0.4 * h;
    }
}

/* a session stays where it is; P: the problem of h, perhaps changed; status: what the run returned */
static inline int session_run_of(session *s, const costate_method *m, const hybrid *h, costate_problem P,
                                 costate_options o)
{
    *s = (session){.m = m, .h = h, .o = o, .N = h->n + h->nq + h->nm, .P = P};
    hybrid_start(h, h->p, s->y0, NULL);
    memcpy(s->y, s->y0, sizeof s->y);
    s->c = new_for_test(m, &s->P, &o);
    s->tape = costate_tape_new();
    int status = costate_integrate(s->c, h->t0, h->t1, s->y, h->p, s->tape);
    see_events(s);
    return status;
}

static inline int session_run(session *s, const costate_method *m, const hybrid *h, const costate_event *events,
                              int nevents, costate_options o)
{
    costate_problem P = hybrid_problem(h);
    if (events) {
        P.event = events;
        P.nevents = nevents;
    }
    return session_run_of(s, m, h, P, o);
}

/* the same, for runs that must succeed */
static inline session session_ran(const costate_method *m, const hybrid *h, costate_options o)
{
    session s;
    if (session_run(&s, m, h, NULL, 0, o) != COSTATE_OK)
        fail_msg("%s, %s: %s", method_name(m), h->name, costate_message(s.c));
    return s;
}

/* the same steps with all stages in memory, by a solver of its own */
static inline session session_with_stages(const session *s)
{
    session all = *s;
    costate_options o = s->o;
    double y[N_MOST];
    o.storage = COSTATE_ALL_STAGES;
    all.c = new_for_test(s->m, &s->P, &o);
    all.tape = costate_tape_new();
    memcpy(y, s->y0, sizeof y);
    CHECK_OK(all.c, costate_replay_onto(all.c, s->tape, y, s->h->p, all.tape));
    assert_memory_equal(y, s->y, (size_t)s->N * sizeof *y);
    assert_int_equal(costate_tape_steps(all.tape), costate_tape_steps(s->tape));
    return all;
}

static inline void session_close(session *s)
{
    costate_tape_free(s->tape);
    costate_free(s->c);
}

static inline inputs random_inputs(void)
{
    inputs x;
    unsigned seed = 5;
    random_fill(&seed, M * N_MOST, x.V);
    random_fill(&seed, M * NUMS_P, x.p);
    random_fill(&seed, M, x.t0);
    random_fill(&seed, M, x.t1);
    random_fill(&seed, M * MOST_EVENTS, x.events);
    return x;
}

/* directions in y, m and p alone, which replays take */
static inline inputs replayed_inputs(void)
{
    inputs x = random_inputs();
    memset(x.t0, 0, sizeof x.t0);
    memset(x.t1, 0, sizeof x.t1);
    memset(x.events, 0, sizeof x.events);
    return x;
}

static inline outputs random_outputs(void)
{
    outputs x;
    unsigned seed = 11;
    random_fill(&seed, M * N_MOST, x.V);
    random_fill(&seed, M, x.end);
    for (int k = 0; k < MOST_EVENTS; k++) random_fill(&seed, M * NUMS_N, x.seen[k]);
    return x;
}

/* ---- tangents and adjoints of all of it ---- */

typedef struct { int n; outputs *x; } seeing;

static inline int value(int k, double t, const double *y, int m, const double *V, void *ctx)
{
    const seeing *s = ctx;
    (void)t, (void)y;
    memcpy(s->x->seen[k], V, (size_t)(s->n * m) * sizeof *V);
    return 0;
}
static inline int seed(int k, double t, const double *y, int m, double *w, void *ctx)
{
    const seeing *s = ctx;
    (void)t, (void)y;
    memcpy(w, s->x->seen[k], (size_t)(s->n * m) * sizeof *w);
    return 0;
}

static inline outputs tangent(session *s, const inputs *x)
{
    inputs d = *x;
    outputs out;
    seeing see = {s->h->n, &out};
    costate_times times = {.t0 = d.t0, .t1 = d.t1, .end = out.end, .events = d.events};
    costate_observations all = {.count = s->events, .t = s->seen_at, .value = value, .ctx = &see};
    CHECK_OK(s->c, costate_tangent(s->c, s->tape, M, d.V, d.p, &times, &all));
    memcpy(out.V, d.V, sizeof out.V);
    return out;
}

static inline inputs adjoint(session *s, const outputs *x, costate *sweeper)
{
    outputs w = *x;
    inputs out = {.V = {0}};
    seeing see = {s->h->n, &w};
    costate_times times = {.t0 = out.t0, .t1 = out.t1, .end = w.end, .events = out.events};
    costate_observations all = {.count = s->events, .t = s->seen_at, .seed = seed, .ctx = &see};
    memcpy(out.V, w.V, sizeof out.V);
    CHECK_OK(sweeper, costate_adjoint(sweeper, s->tape, M, out.V, out.p, &times, &all));
    return out;
}

/* adds <a, b> of columns i and j, and the sum of absolute values */
static inline void product(int n, const double *a, int i, const double *b, int j, double *sum, double *size)
{
    for (int k = 0; k < n; k++) {
        *sum += a[i * n + k] * b[j * n + k];
        *size += fabs(a[i * n + k] * b[j * n + k]);
    }
}

static inline double gap_of(const session *s, const inputs *dx, const outputs *dy, const outputs *w, const inputs *g)
{
    double worst = 0;
    for (int i = 0; i < M; i++)
        for (int j = 0; j < M; j++) {
            double left = 0, right = 0, size = 0, other = 0;
            product(s->N, w->V, i, dy->V, j, &left, &size);
            product(1, w->end, i, dy->end, j, &left, &size);
            for (int k = 0; k < s->events; k++) product(s->h->n, w->seen[k], i, dy->seen[k], j, &left, &size);
            product(s->N, g->V, i, dx->V, j, &right, &other);
            product(s->h->np, g->p, i, dx->p, j, &right, &other);
            product(1, g->t0, i, dx->t0, j, &right, &other);
            product(1, g->t1, i, dx->t1, j, &right, &other);
            product(s->events, g->events, i, dx->events, j, &right, &other);
            assert_true(isfinite(left) && isfinite(right));
            worst = larger_of(worst, fabs(left - right) / (size + other));
        }
    return worst;
}

static inline double shortest_step(const session *s)
{
    double shortest = HUGE_VAL;
    for (int k = 0; k < costate_tape_steps(s->tape); k++) {
        double h;
        costate_tape_get(s->tape, k, NULL, &h, NULL);
        shortest = fmin(shortest, fabs(h));
    }
    return shortest;
}

/* Replays give a length to steps of length zero: unknowns of constraints have round-off over it in them.  Derivatives
   of these unknowns with respect to the length are of lower order by methods that are not stiffly accurate, and those
   of index 2 by all but Radau IIA with two stages or more, which has the first derivative. */
static inline double instants(const session *s, int second)
{
    if (s->h->form == HYBRID_ODE || !hybrid_is_even(s->h)) return 1;
    double noise = second ? 1000 : 10;
    int low = !(method_info(s->m).properties & COSTATE_STIFFLY_ACCURATE);
    int radau = strncmp(method_name(s->m), "radau2a", 7) == 0 && method_info(s->m).order > 1;
    return low || (s->h->form == HYBRID_INDEX_2 && (!radau || second)) ? HUGE_VAL : noise;
}

/* By how much round-off of a difference grows in the shortest step: unknowns of index 2 have the inverse of it in them,
   and so do their derivatives. */
static inline double amplified(const session *s)
{
    enum { MANY = 8 };                  /* events, of a sequence that accumulates: methods of low order follow it */
    return s->h->form == HYBRID_INDEX_2 || s->events > MANY ? pow(fmax(1, 0.01 / shortest_step(s)), 2) : 1;
}

/* of random directions and weights */
static inline double session_gap(session *s)
{
    inputs dx = random_inputs();
    outputs w = random_outputs(), dy = tangent(s, &dx);
    inputs g = adjoint(s, &w, s->c);
    return gap_of(s, &dx, &dy, &w, &g);
}

/* The tangent along column 0 of x against differences of replays, of 8th order: (4/5) d1 - (1/5) d2 + (4/105) d3 -
   (1/280) d4 */
static inline double differ(session *s, const inputs *x, double e)
{
    static const double w[] = {4.0 / 5, -1.0 / 5, 4.0 / 105, -1.0 / 280};
    outputs exact = tangent(s, x);
    double d[N_MOST] = {0}, y[N_MOST], p[NUMS_P];
    for (int k = -4; k <= 4; k++) {
        if (k == 0) continue;
        for (int i = 0; i < s->N; i++) y[i] = s->y0[i] + k * e * x->V[i];
        for (int i = 0; i < s->h->np; i++) p[i] = s->h->p[i] + k * e * x->p[i];
        CHECK_OK(s->c, costate_replay(s->c, s->tape, y, p));
        for (int i = 0; i < s->N; i++) d[i] += (k > 0 ? 1 : -1) * w[abs(k) - 1] / e * y[i];
    }
    return relative_gap(s->N, d, exact.V);
}

#endif
