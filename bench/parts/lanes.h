/* lanes.h - the part lanes of the benchmark: the models that run side by side, and their members. */
#ifndef BENCH_LANES_H
#define BENCH_LANES_H

#include <costate/ensemble.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hires.h"
#include "json.h"
#include "lotka_volterra.h"
#include "measure.h"
#include "pollution.h"
#include "robertson_ode.h"
#include "smog.h"

typedef struct {
    const char *name, *method;
    double t1, size;                /* atol = rtol/1000 times the size of what matters */
    int count;                      /* members that take tenths of a second one by one, or less */
    int fixed;                      /* parameters are the same in all members: temperatures, fixed concentrations */
    const costate_problem *(*problem)(void);
    void (*start)(double t, const double *p, double *y);
    const double *defaults;
    const costate_lane_maps *(*lanes)(void);
    const costate_backend *(*backend)(void);    /* NULL: without a linear solver */
} lane_case;

#define LANE_CASE(name, method, t1, size, count, fixed, backend) \
    {#name, method, t1, size, count, fixed, name##_problem, name##_start, name##_defaults, name##_lanes, backend}
static const lane_case lane_cases[] = {
    LANE_CASE(lotka_volterra, "tsit5", 10, 1, 4000, 0, NULL),
    LANE_CASE(robertson_ode, "rodas4", 1e4, 1e-2, 2000, 0, robertson_ode_backend),
    LANE_CASE(hires, "rodas4", 321.8122, 1, 800, 0, hires_backend),
    LANE_CASE(pollution, "rodas4", 60, 1, 400, 0, pollution_backend),
    LANE_CASE(pollution, "rodas5p", 60, 1, 400, 0, pollution_backend),
    LANE_CASE(pollution, "ros3", 60, 1, 400, 0, pollution_backend),
    LANE_CASE(smog, "rodas4", 7200, 1e8, 400, 1, smog_backend),       /* molecules in a cubic centimetre */
};
enum { LANE_CASES = sizeof lane_cases / sizeof *lane_cases, LANE_WIDTHS = 3 };
static const double lane_rtols[] = {1e-4, 1e-6};
enum { LANE_RTOLS = sizeof lane_rtols / sizeof *lane_rtols };

typedef struct {                    /* members and their results */
    int count;
    size_t np, N;
    double *p, *y0, *y, *lambda, *mu;
} lane_members;

static inline double *lane_numbers(size_t count)
{
    double *v = calloc(count + 1, sizeof *v);
    if (!v) exit(2);
    return v;
}

/* parameters and initial values within 20 % of the model's */
static inline lane_members lane_members_of(const lane_case *c, int count)
{
    const costate_problem *P = c->problem();
    size_t np = (size_t)P->np, N = (size_t)(P->n + P->nq), all = (size_t)count;
    lane_members m = {count, np, N, lane_numbers(np * all), lane_numbers(N * all), lane_numbers(N * all),
                      lane_numbers(N * all), lane_numbers(np * all)};
    unsigned state = 3;
    for (size_t k = 0; k < all; k++)
        for (size_t i = 0; i < np + N; i++) {
            double *x = i < np ? &m.p[k * np + i] : &m.y0[k * N + i - np];
            state = state * 1664525u + 1013904223u;
            double factor = 0.8 + 0.4 * (double)(state >> 8) / 16777216.0;
            if (i == np) c->start(0, m.p + k * np, m.y0 + k * N);
            if (i < np) *x = c->defaults[i] * (c->fixed ? 1 : factor);
            else *x *= factor;
        }
    return m;
}

static inline void lane_members_free(lane_members *m)
{
    free(m->p);
    free(m->y0);
    free(m->y);
    free(m->lambda);
    free(m->mu);
}

/* the maps for so many lanes; NULL: this processor has them not */
static inline const costate_lane_maps *lane_maps_for(const lane_case *c, int lanes)
{
    for (const costate_lane_maps *list = c->lanes(); list->lanes > 0; list++)
        if (list->lanes == lanes && lanes <= costate_lanes()) return list;
    return NULL;
}

typedef struct { double seconds, wall; costate_ensemble_report report; } lane_run;

/* All members: own: with the elimination of the model; lanes 1: one by one.  Ends the program unless all succeed. */
static inline lane_run lane_run_of(const lane_case *c, lane_members *m, double rtol, int gradient, int own, int lanes,
                                   int threads)
{
    const costate_options o = {.rtol = rtol, .atol = 1e-3 * rtol * c->size, .backend = own ? c->backend() : NULL,
                               .solver = own ? COSTATE_LS_AUTO : COSTATE_LS_DENSE};
    const costate_lane_maps *found = lane_maps_for(c, lanes), list[] = {found ? *found : (costate_lane_maps){0}, {0}};
    size_t all = (size_t)m->count;
    memcpy(m->y, m->y0, m->N * all * sizeof *m->y);
    memset(m->mu, 0, m->np * all * sizeof *m->mu);
    for (size_t i = 0; i < m->N * all; i++) m->lambda[i] = 1;
    costate_members members = {.count = m->count, .threads = threads, .t1 = c->t1, .y = m->y, .p = m->p, .m = gradient,
                               .lambda = m->lambda, .mu = m->mu, .lanes = lanes > 1 ? list : NULL};
    lane_run r = {0};
    double start = clock_now(), begun = wall_now();
    int status = costate_ensemble(costate_method_find(c->method), c->problem(), &o, &members, &r.report);
    r.seconds = clock_now() - start;
    r.wall = wall_now() - begun;
    if (status || (lanes > 1 && r.report.alone[0])) {
        fprintf(stderr, "%s, %s, %d lanes: %s %s\n", c->name, c->method, lanes, r.report.text, r.report.alone);
        exit(1);
    }
    return r;
}

#endif
