/* reviewed.h - a model with flaws that tests choose, and its review: what it must say, and what else it may. */
#ifndef TESTS_REVIEWED_H
#define TESTS_REVIEWED_H

#include "common.h"

/* ---- a model: y0' = -k y0 (1 + y1),  y1' = k y0 - y1/2,  k = p; in mode 1, where y0 has fallen to 1/2, k = 2 p ----
   */

typedef struct {                            /* what is wrong with it */
    double jac_above;                       /* jac, where y1 is larger than this; 0: nowhere */
    double adjoint_in_1, guard_adjoint;     /* part of an entry that is too much, in mode 1; where the guard is 0 */
    double slope;                           /* factor of both tangent and adjoint, less 1 */
    double cost;                            /* of the adjoint of the cost */
    double least_y1, kink;                  /* f is not defined below; has a kink at */
    double small;                           /* y1 is so small a part of what it would be */
    double ripples;                         /* of the guard, their number per unit of t */
    double jumps;                           /* f jumps at t = 0 by this */
} flaws;

static inline double rate(const costate_point *x) { return (1 + x->mode) * x->p[0]; }
static inline double units(const flaws *f) { return f->small > 0 ? f->small : 1; }

static inline int rhs(const costate_point *x, double *out, void *ctx)
{
    const flaws *f = ctx;
    double k = rate(x), s = units(f), v = x->y[1] / s;
    if (v < f->least_y1) return 1;
    out[0] = -k * x->y[0] * (1 + v) + (x->t >= 0 ? f->jumps : 0);
    out[1] = s * (k * x->y[0] - 0.5 * v + (f->kink > 0 ? fmax(0, v - f->kink) : 0));
    return 0;
}

static inline void matrix(const costate_point *x, const flaws *f, double *J)
{
    double k = rate(x), s = units(f), v = x->y[1] / s;
    J[0] = -k * (1 + v);
    J[1] = s * k;
    J[2] = -k * x->y[0] / s;
    J[3] = -0.5 + (f->kink > 0 && v > f->kink);
}

static inline int rhs_tangent(const costate_point *x, const costate_point *dx, double *out, void *ctx)
{
    const flaws *f = ctx;
    double J[4], by_p = (dx->p ? dx->p[0] : 0) * (1 + x->mode) * x->y[0], s = units(f);
    matrix(x, f, J);
    for (int i = 0; i < 2; i++) out[i] = dx->y ? J[i] * dx->y[0] + J[2 + i] * dx->y[1] : 0;
    out[0] = (1 + f->slope) * out[0] - by_p * (1 + x->y[1] / s);
    out[1] += by_p * s;
    return 0;
}

static inline int rhs_adjoint(const costate_point *x, const double *w, const costate_gradient *g, void *ctx)
{
    const flaws *f = ctx;
    double J[4], s = units(f), by_p = (1 + x->mode) * x->y[0], w0 = (1 + f->slope) * w[0];
    matrix(x, f, J);
    if (g->y) g->y[0] += (1 + (x->mode == 1) * f->adjoint_in_1) * J[0] * w0 + J[1] * w[1];
    if (g->y) g->y[1] += J[2] * w0 + J[3] * w[1];
    if (g->p) g->p[0] += by_p * (s * w[1] - (1 + x->y[1] / s) * w[0]);
    return 0;
}

static inline int jac(const costate_point *x, double *J, void *ctx)
{
    const flaws *f = ctx;
    matrix(x, f, J);
    if (f->jac_above > 0 && x->y[1] > f->jac_above) J[2] *= 1.3;
    return 0;
}

static inline int cost(const costate_point *x, double *out, void *ctx)
{
    (void)ctx;
    out[0] = x->y[0] * x->y[0];
    return 0;
}
static inline int cost_tangent(const costate_point *x, const costate_point *dx, double *out, void *ctx)
{
    (void)ctx;
    out[0] = dx->y ? 2 * x->y[0] * dx->y[0] : 0;
    return 0;
}
static inline int cost_adjoint(const costate_point *x, const double *w, const costate_gradient *g, void *ctx)
{
    const flaws *f = ctx;
    if (g->y) g->y[0] += 2 * (1 + f->cost) * x->y[0] * w[0];
    return 0;
}

static inline int half(const costate_point *x, double *out, void *ctx)
{
    const flaws *f = ctx;
    out[0] = x->y[0] - 0.5 + (f->ripples > 0 ? 0.2 * (1 - cos(f->ripples * x->t)) : 0);
    return 0;
}
static inline int half_tangent(const costate_point *x, const costate_point *dx, double *out, void *ctx)
{
    const flaws *f = ctx;
    out[0] = (dx->y ? dx->y[0] : 0) + (f->ripples > 0 ? 0.2 * f->ripples * sin(f->ripples * x->t) * dx->t : 0);
    return 0;
}
static inline int half_adjoint(const costate_point *x, const double *w, const costate_gradient *g, void *ctx)
{
    const flaws *f = ctx;
    double wrong = fabs(x->y[0] - 0.5) < 1e-3 ? f->guard_adjoint : 0;
    if (g->y) g->y[0] += (1 + wrong) * w[0];
    if (g->t && f->ripples > 0) *g->t += 0.2 * f->ripples * sin(f->ripples * x->t) * w[0];
    return 0;
}

typedef struct {
    flaws f;
    costate_event event;
    costate_problem P;
    costate_options o;
    const char *method;
    double y[3], p[1], t1;
} model;

static inline void model_of(model *b, flaws f)
{
    if (f.least_y1 == 0) f.least_y1 = -HUGE_VAL;
    *b = (model){.f = f, .method = "dopri5", .y = {1, 0.1 * units(&f)}, .p = {0.7}, .t1 = 2,
                 .o = {.rtol = 1e-7, .atol = 1e-9}};
    b->event = (costate_event){.guard = {.value = half, .tangent = half_tangent, .adjoint = half_adjoint},
                               .direction = -1, .from = COSTATE_ANY_MODE, .to = 1};
    b->P = (costate_problem){.n = 2, .np = 1, .nq = 1, .ctx = &b->f,
                             .rhs = {.value = rhs, .tangent = rhs_tangent, .adjoint = rhs_adjoint}, .jac = jac,
                             .cost = {.value = cost, .tangent = cost_tangent, .adjoint = cost_adjoint},
                             .nevents = 1, .event = &b->event};
}

/* ---- reviews ---- */

static costate_review *review;              /* of the last call */
static char message[800];

static inline int new_review(void **state)
{
    (void)state;
    review = costate_review_new();
    return review ? 0 : -1;
}
static inline int free_review(void **state)
{
    (void)state;
    costate_review_free(review);
    return 0;
}

static inline int reviewed(const char *method, const costate_problem *P, const costate_options *o, double t0, double t1,
                    const double *y, const double *p)
{
    costate *c = costate_new(costate_method_find(method), P, o);
    int status = costate_check_run(c, t0, t1, y, p, review);
    snprintf(message, sizeof message, "%s", costate_message(c));
    costate_free(c);
    return status;
}

static inline int of_model(const model *b) { return reviewed(b->method, &b->P, &b->o, 0, b->t1, b->y, b->p); }

/* the first finding about a topic; fails if it is missing, or not as severe */
static inline costate_finding found(int severity, const char *topic, const char *words)
{
    costate_finding f = {0};
    for (int k = 0; costate_review_get(review, k, &f) == COSTATE_OK; k++)
        if (f.severity == severity && strcmp(f.topic, topic) == 0 && strstr(f.text, words)) return f;
    fail_msg("no finding about %s of severity %d with the words \"%s\":\n%s", topic, severity, words,
             costate_review_text(review));
    return f;
}

static inline int how_many(int severity)
{
    costate_finding f;
    int count = 0;
    for (int k = 0; costate_review_get(review, k, &f) == COSTATE_OK; k++) count += f.severity == severity;
    return count;
}

static inline void expect(int status, int expected)
{
    if (status != expected)
        fail_msg("%s, not %s: %s\n%s", costate_status_name(status), costate_status_name(expected), message,
                 costate_review_text(review));
}

/* nothing else is wrong, and there is no other remark */
static inline void alone(int wrong, int remarks)
{
    if (how_many(COSTATE_WRONG) != wrong || how_many(COSTATE_REMARK) != remarks)
        fail_msg("other than %d wrong, %d remarks:\n%s", wrong, remarks, costate_review_text(review));
}

#endif
