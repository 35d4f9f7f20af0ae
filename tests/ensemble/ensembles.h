/* ensembles.h - what tests of ensembles share: members of the synthetic problem, run by an ensemble or one by one. */
#ifndef TESTS_ENSEMBLES_H
#define TESTS_ENSEMBLES_H

#include <costate/ensemble.h>
#include "common.h"

enum { MEMBERS = 9, EN = 5, EP = 2, ED = 2, EM = 2, BAD = 4, EMPTY = 6 };

/* which derivatives; with both, or to be seen, runs are on tapes */
typedef struct { int directions, m, tape; } wanted;

typedef struct {
    double y[MEMBERS * EN], V[MEMBERS * EN * ED], lambda[MEMBERS * EN * EM], mu[MEMBERS * EP * EM];
    double along_end[MEMBERS * ED], t0[MEMBERS * EM], t1[MEMBERS * EM], defect[MEMBERS * EM];
    int status[MEMBERS];
    char message[MEMBERS][COSTATE_ENSEMBLE_TEXT];
} results_of_all;

typedef struct {
    double p[MEMBERS * EP], Vp[MEMBERS * EP * ED], t0[MEMBERS], t1[MEMBERS], dt0[MEMBERS * ED], dt1[MEMBERS * ED],
           end[MEMBERS * EM];
    results_of_all start;
} given_to_all;

/* wide apart, so that steps, Jacobians and counts of members differ; one has no parameters, one no interval */
static inline void members_given(const problem *b, given_to_all *g)
{
    unsigned seed = 17;
    memset(g, 0, sizeof *g);
    random_fill(&seed, MEMBERS * EP * ED, g->Vp);
    random_fill(&seed, MEMBERS * ED, g->dt0);
    random_fill(&seed, MEMBERS * ED, g->dt1);
    random_fill(&seed, MEMBERS * EM, g->end);
    random_fill(&seed, sizeof g->start.V / sizeof *g->start.V, g->start.V);
    random_fill(&seed, sizeof g->start.mu / sizeof *g->start.mu, g->start.mu);
    for (int k = 0; k < MEMBERS; k++) {
        int N = b->P.n + b->P.nq, mass = b->mass == MASS_SINGULAR;
        for (int i = 0; i < b->P.n; i++)
            g->start.y[k * N + i] = b->y0[i] * (mass ? 1 : 1 + 0.3 * random_in(&seed));
        for (int i = 0; i < b->P.np; i++) g->p[k * b->P.np + i] = b->p0[i] * (mass ? 1 : 1 + 0.5 * random_in(&seed));
        g->t0[k] = b->t0;
        g->t1[k] = k == EMPTY ? b->t0 : b->t0 + (b->t1 - b->t0) * (0.6 + 0.4 * random_in(&seed));
    }
    if (b->P.np) g->p[BAD * b->P.np] = NAN;
    else g->t1[BAD] = NAN;
}

static inline int members_seed(int member, double t1, const double *y, const double *p, int m, double *lambda,
                               double *mu, void *ctx)
{
    int N = *(const int *)ctx;
    (void)t1, (void)p;
    for (int i = 0; i < N * m; i++) lambda[i] = y[i % N] + 0.1 * i - 0.2 * member;
    if (mu) mu[0] += 0.5;
    return 0;
}

/* the ensemble of it; r begins as g->start */
static inline costate_members members_of(const problem *b, const given_to_all *g, wanted w, results_of_all *r, int *N,
                                         costate_times times[2])
{
    *N = b->P.n + b->P.nq;
    *r = g->start;
    times[0] = (costate_times){.t0 = (double *)g->dt0, .t1 = (double *)g->dt1, .end = r->along_end};
    times[1] = (costate_times){.t0 = r->t0, .t1 = r->t1, .defect = r->defect, .end = (double *)g->end};
    return (costate_members){.count = MEMBERS, .t0_each = g->t0, .t1_each = g->t1, .y = r->y, .p = g->p,
                             .directions = w.directions, .V = r->V, .Vp = g->Vp, .along = &times[0], .m = w.m,
                             .lambda = r->lambda, .mu = r->mu, .times = &times[1], .seed = members_seed, .ctx = N,
                             .status = r->status, .message = r->message, .tape = w.tape};
}

typedef struct { int member; void *ctx; } one_member;

static inline int one_seed(double t1, const double *y, const double *p, int m, double *lambda, double *mu, void *ctx)
{
    const one_member *s = ctx;
    return members_seed(s->member, t1, y, p, m, lambda, mu, s->ctx);
}

/* the calls of costate.h that a member is, by this solver */
static inline int one_of(costate *c, costate_tape *tape, const costate_members *a, int k, int np)
{
    int N = *(int *)a->ctx, d = a->directions, m = a->m, both = d > 0 && m > 0;
    one_member s = {k, a->ctx};
    double *y = a->y + k * N, *V = a->V + k * N * d, *lambda = a->lambda + k * N * m, *mu = a->mu + k * np * m;
    const double *p = a->p + k * np, *Vp = a->Vp + k * np * d;
    costate_times along = {.t0 = a->along->t0 + k * d, .t1 = a->along->t1 + k * d, .end = a->along->end + k * d};
    costate_times times = {.t0 = a->times->t0 + k * m, .t1 = a->times->t1 + k * m, .defect = a->times->defect + k * m,
                           .end = a->times->end + k * m};
    double t0 = a->t0_each[k], t1 = a->t1_each[k];
    if (m && !both && !a->tape) return costate_integrate_adj(c, t0, t1, y, p, m, lambda, mu, &times, one_seed, &s);
    int status = d ? costate_integrate_tlm(c, t0, t1, y, p, d, V, Vp, &along, both || a->tape ? tape : NULL)
                   : costate_integrate(c, t0, t1, y, p, a->tape ? tape : NULL);
    if (status || !m) return status;
    memset(lambda, 0, (size_t)(N * m) * sizeof *lambda);
    one_seed(costate_time(c), y, p, m, lambda, mu, &s);
    return costate_adjoint(c, tape, m, lambda, mu, &times, NULL);
}

static inline void add_stats(costate_stats *to, const costate_stats *from)
{
    costate_stats rest = *from;
    size_t tape = from->tape_bytes > to->tape_bytes ? from->tape_bytes : to->tape_bytes;
    double krylov = fmax(from->krylov_error, to->krylov_error);
    double gradient = fmax(from->gradient_error, to->gradient_error);
    rest.tape_bytes = to->tape_bytes = 0;
    rest.krylov_error = to->krylov_error = 0;
    rest.gradient_error = to->gradient_error = 0;
    for (size_t k = 0; k < sizeof rest / sizeof(long); k++) ((long *)(void *)to)[k] += ((long *)(void *)&rest)[k];
    to->tape_bytes = tape;
    to->krylov_error = krylov;
    to->gradient_error = gradient;
}

/* each member by a solver of its own */
static inline void one_by_one(const costate_method *m, const problem *b, const costate_options *o, costate_members *a,
                              costate_stats *sum)
{
    costate_options alone = *o;
    alone.gradient_estimate = COSTATE_ESTIMATE_OFF;
    memset(sum, 0, sizeof *sum);
    for (int k = 0; k < a->count; k++) {
        costate *c = costate_new(m, &b->P, &alone);
        costate_tape *tape = costate_tape_new();
        a->status[k] = one_of(c, tape, a, k, b->P.np);
        snprintf(a->message[k], sizeof a->message[k], "%.*s", COSTATE_ENSEMBLE_TEXT - 1, costate_message(c));
        add_stats(sum, costate_get_stats(c));
        costate_free(c);
        costate_tape_free(tape);
    }
}

#endif
