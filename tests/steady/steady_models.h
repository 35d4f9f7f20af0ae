/* steady_models.h - right-hand sides as graphs, with all products, for tests of steady states. */
#ifndef TESTS_STEADY_MODELS_H
#define TESTS_STEADY_MODELS_H

#include <costate/steady.h>
#include "common.h"
#include "graph.h"

typedef struct { graph f; costate_problem P; } model;

static inline const graph *graph_of(void *ctx) { return &((model *)ctx)->f; }

static int model_calls;         /* of values */

static inline int model_value(const costate_point *x, double *out, void *ctx)
{
    model_calls++;
    return graph_value(graph_of(ctx), x, out), 0;
}

static inline int model_tangent(const costate_point *x, const costate_point *a, double *out, void *ctx)
{
    return graph_tangent(graph_of(ctx), x, a, NULL, out), 0;
}

static inline int model_adjoint(const costate_point *x, const double *w, const costate_gradient *g, void *ctx)
{
    return graph_adjoint(graph_of(ctx), x, NULL, NULL, w, g), 0;
}

static inline int model_tangent2(const costate_point *x, const costate_point *a, const costate_point *b, double *out,
                                 void *ctx)
{
    return graph_tangent(graph_of(ctx), x, a, b, out), 0;
}

static inline int model_adjoint_tangent(const costate_point *x, const costate_point *a, const double *w,
                                        const costate_gradient *g, void *ctx)
{
    return graph_adjoint(graph_of(ctx), x, a, NULL, w, g), 0;
}

static inline int model_adjoint_tangent2(const costate_point *x, const costate_point *a, const costate_point *b,
                                         const double *w, const costate_gradient *g, void *ctx)
{
    return graph_adjoint(graph_of(ctx), x, a, b, w, g), 0;
}

static inline costate_map model_map(void)
{
    return (costate_map){.value = model_value, .tangent = model_tangent, .adjoint = model_adjoint,
                         .tangent2 = model_tangent2, .adjoint_tangent = model_adjoint_tangent,
                         .adjoint_tangent2 = model_adjoint_tangent2};
}

static inline void model_begin(model *m, int n, int np)
{
    *m = (model){.P = {.n = n, .np = np, .ctx = m, .rhs = model_map()}};
    graph_begin(&m->f, n, np);
}

/* A rate p[k] times the product of the reactants, "AB", and the products of the reaction, "C"; letters are states. */
typedef struct { int k; const char *from, *to; } reaction;

static inline void model_mass_action(model *m, int n, int np, int count, const reaction *list)
{
    model_begin(m, n, np);
    graph *g = &m->f;
    int sum[26];
    for (int i = 0; i < n; i++) sum[i] = graph_number(g, 0);
    for (int k = 0; k < count; k++) {
        int rate = graph_p(g, list[k].k);
        for (const char *x = list[k].from; *x; x++) rate = graph_times(g, rate, graph_y(g, *x - 'A'));
        for (const char *x = list[k].from; *x; x++) sum[*x - 'A'] = graph_plus(g, sum[*x - 'A'], -1, rate);
        for (const char *x = list[k].to; *x; x++) sum[*x - 'A'] = graph_plus(g, sum[*x - 'A'], 1, rate);
    }
    for (int i = 0; i < n; i++) graph_row(g, sum[i]);
}

#define CHECK_STEADY(s, call) do { \
    int status_ = (call); \
    if (status_) fail_msg("%s: %s: %s", #call, costate_status_name(status_), costate_steady_message(s)); \
} while (0)

#endif
