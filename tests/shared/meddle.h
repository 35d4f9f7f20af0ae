/* meddle.h - a problem whose callback fails, or answers with NaN or Inf, at one chosen call. */
#ifndef TESTS_MEDDLE_H
#define TESTS_MEDDLE_H

#include "common.h"

enum callback { CB_VALUE, CB_TANGENT, CB_ADJOINT, CB_TANGENT2, CB_ADJOINT_TANGENT, CB_COST_VALUE, CB_COST_TANGENT,
                CB_COST_ADJOINT, CB_COST_TANGENT2, CB_COST_ADJOINT_TANGENT, CB_JAC, CB_COUNT };

static const char *const callback_names[] = {
    "rhs.value", "rhs.tangent", "rhs.adjoint", "rhs.tangent2", "rhs.adjoint_tangent",
    "cost.value", "cost.tangent", "cost.adjoint", "cost.tangent2", "cost.adjoint_tangent", "jac"};

typedef struct {
    const problem *b;
    enum callback which;
    long calls[CB_COUNT], at;       /* calls so far; the one to spoil (from 1; 0: none) */
    int ever;                       /* 1: that call and all after it */
    int code;                       /* what the spoiled call returns */
    double write;                   /* with code 0: what it puts into its result */
    int spoiled;
} meddler;

/* counts a call; is it the one? */
static inline int meddle_hits(meddler *m, enum callback which)
{
    long k = ++m->calls[which];
    int hit = which == m->which && m->at > 0 && (m->ever ? k >= m->at : k == m->at);
    m->spoiled += hit;
    return hit;
}

#define MEDDLE_VALUE(name, map, cb) \
static inline int name(const costate_point *x, double *out, void *ctx) \
{ \
    meddler *m = ctx; \
    int r = m->b->P.map.value(x, out, m->b->P.ctx); \
    if (!meddle_hits(m, cb)) return r; \
    if (m->code == 0) out[0] = m->write; \
    return m->code; \
}
#define MEDDLE_TANGENT(name, map, cb) \
static inline int name(const costate_point *x, const costate_point *dx, double *out, void *ctx) \
{ \
    meddler *m = ctx; \
    int r = m->b->P.map.tangent(x, dx, out, m->b->P.ctx); \
    if (!meddle_hits(m, cb)) return r; \
    if (m->code == 0) out[0] = m->write; \
    return m->code; \
}
#define MEDDLE_ADJOINT(name, map, cb) \
static inline int name(const costate_point *x, const double *w, const costate_gradient *g, void *ctx) \
{ \
    meddler *m = ctx; \
    int r = m->b->P.map.adjoint(x, w, g, m->b->P.ctx); \
    if (!meddle_hits(m, cb)) return r; \
    if (m->code == 0 && g->y) g->y[0] = m->write; \
    if (m->code == 0 && g->p) g->p[0] = m->write; \
    return m->code; \
}
#define MEDDLE_TANGENT2(name, map, cb) \
static inline int name(const costate_point *x, const costate_point *a, const costate_point *b, double *out, void *ctx) \
{ \
    meddler *m = ctx; \
    int r = m->b->P.map.tangent2(x, a, b, out, m->b->P.ctx); \
    if (!meddle_hits(m, cb)) return r; \
    if (m->code == 0) out[0] = m->write; \
    return m->code; \
}
#define MEDDLE_ADJOINT_TANGENT(name, map, cb) \
static inline int name(const costate_point *x, const costate_point *a, const double *w, const costate_gradient *g, \
                       void *ctx) \
{ \
    meddler *m = ctx; \
    int r = m->b->P.map.adjoint_tangent(x, a, w, g, m->b->P.ctx); \
    if (!meddle_hits(m, cb)) return r; \
    if (m->code == 0 && g->y) g->y[0] = m->write; \
    if (m->code == 0 && g->p) g->p[0] = m->write; \
    return m->code; \
}

MEDDLE_VALUE(meddle_value, rhs, CB_VALUE)
MEDDLE_TANGENT(meddle_tangent, rhs, CB_TANGENT)
MEDDLE_ADJOINT(meddle_adjoint, rhs, CB_ADJOINT)
MEDDLE_TANGENT2(meddle_tangent2, rhs, CB_TANGENT2)
MEDDLE_ADJOINT_TANGENT(meddle_adjoint_tangent, rhs, CB_ADJOINT_TANGENT)
MEDDLE_VALUE(meddle_cost_value, cost, CB_COST_VALUE)
MEDDLE_TANGENT(meddle_cost_tangent, cost, CB_COST_TANGENT)
MEDDLE_ADJOINT(meddle_cost_adjoint, cost, CB_COST_ADJOINT)
MEDDLE_TANGENT2(meddle_cost_tangent2, cost, CB_COST_TANGENT2)
MEDDLE_ADJOINT_TANGENT(meddle_cost_adjoint_tangent, cost, CB_COST_ADJOINT_TANGENT)

static inline int meddle_jac(const costate_point *x, double *J, void *ctx)
{
    meddler *m = ctx;
    int r = m->b->P.jac(x, J, m->b->P.ctx);
    if (!meddle_hits(m, CB_JAC)) return r;
    if (m->code == 0) J[0] = m->write;
    return m->code;
}

static inline int meddle_mass(double *M, void *ctx)
{
    meddler *m = ctx;
    return m->b->P.mass(M, m->b->P.ctx);
}

/* the problem of m->b with every callback through the meddler m, its ctx */
static inline costate_problem meddled(meddler *m)
{
    costate_problem P = m->b->P;
    P.ctx = m;
    P.rhs = (costate_map){.value = meddle_value, .tangent = meddle_tangent, .adjoint = meddle_adjoint,
                          .tangent2 = meddle_tangent2, .adjoint_tangent = meddle_adjoint_tangent};
    if (P.nq)
        P.cost = (costate_map){.value = meddle_cost_value, .tangent = meddle_cost_tangent,
                               .adjoint = meddle_cost_adjoint, .tangent2 = meddle_cost_tangent2,
                               .adjoint_tangent = meddle_cost_adjoint_tangent};
    P.jac = meddle_jac;
    if (P.mass) P.mass = meddle_mass;
    return P;
}

#endif
