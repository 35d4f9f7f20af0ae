/* hopf.h - the normal form of Hopf's bifurcation, whose orbit, period, multipliers and all derivatives are known.

       x' = a x - w y - (x^2 + y^2)(x + b y),   y' = w x + a y - (x^2 + y^2)(y - b x)

   In polar coordinates r' = a r - r^3, phi' = w + b r^2: r = sqrt(a), T = 2 pi/(w + b a), multiplier exp(-2 a T).
   q' = x^2 + y^2: q = a T.  p = (a, w, b). */
#ifndef TESTS_HOPF_H
#define TESTS_HOPF_H

#include <costate/periodic.h>
#include "common.h"

enum { HOPF_N = 2, HOPF_NP = 3 };

static inline int hopf(const costate_point *at, double *out, void *ctx)
{
    const double *p = at->p, x = at->y[0], y = at->y[1], s = x * x + y * y;
    out[0] = p[0] * x - p[1] * y - s * (x + p[2] * y);
    out[1] = p[1] * x + p[0] * y - s * (y - p[2] * x);
    return (void)ctx, 0;
}

/* f is a sum of monomials c * (product of factors): each is listed with the indices of its factors, x = 0, y = 1, a =
   2, w = 3, b = 4, and -1 for none, so that all derivatives are products of what is left */
enum { HOPF_FACTORS = 4 };
typedef struct { int row; double c; int factor[HOPF_FACTORS]; } hopf_term;
static const hopf_term hopf_terms[] = {
    {0, 1, {2, 0, -1, -1}}, {0, -1, {3, 1, -1, -1}}, {0, -1, {0, 0, 0, -1}}, {0, -1, {1, 1, 0, -1}},
    {0, -1, {0, 0, 1, 4}}, {0, -1, {1, 1, 1, 4}},
    {1, 1, {3, 0, -1, -1}}, {1, 1, {2, 1, -1, -1}}, {1, -1, {0, 0, 1, -1}}, {1, -1, {1, 1, 1, -1}},
    {1, 1, {0, 0, 0, 4}}, {1, 1, {1, 1, 0, 4}}};
enum { HOPF_TERMS = sizeof hopf_terms / sizeof *hopf_terms };

static inline double hopf_at(const double *y, const double *p, int k)
{
    return k < 2 ? y ? y[k] : 0 : p ? p[k - 2] : 0;
}

/* the product of the factors of a term, those in the set `left` being replaced by directions in all orders:
   d1 (and d2) NULL: none.  open: the factor whose derivative is taken, or -1 */
static inline double hopf_product(const hopf_term *m, const costate_point *x, const costate_point *d1,
                                  const costate_point *d2, int open)
{
    double sum = 0;
    for (int i = 0; i < (d1 ? HOPF_FACTORS : 1); i++)
        for (int j = 0; j < (d2 ? HOPF_FACTORS : 1); j++) {
            if ((d1 && (i == open || m->factor[i] < 0)) || (d2 && (j == open || m->factor[j] < 0 || j == i))) continue;
            double term = m->c;
            for (int k = 0; k < HOPF_FACTORS; k++) {
                if (m->factor[k] < 0 || k == open) continue;
                const costate_point *from = d1 && k == i ? d1 : d2 && k == j ? d2 : x;
                term *= hopf_at(from->y, from->p, m->factor[k]);
            }
            sum += term;
        }
    return sum;
}

static inline void hopf_forward(const costate_point *x, const costate_point *d1, const costate_point *d2, double *out)
{
    out[0] = out[1] = 0;
    for (int m = 0; m < HOPF_TERMS; m++)
        out[hopf_terms[m].row] += hopf_product(hopf_terms + m, x, d1, d2, -1);
}

static inline void hopf_back(const costate_point *x, const costate_point *d1, const costate_point *d2, const double *w,
                             const costate_gradient *g)
{
    for (int m = 0; m < HOPF_TERMS; m++)
        for (int open = 0; open < HOPF_FACTORS; open++) {
            int of = hopf_terms[m].factor[open];
            if (of < 0) continue;
            double by = w[hopf_terms[m].row] * hopf_product(hopf_terms + m, x, d1, d2, open);
            if (of < 2 && g->y) g->y[of] += by;
            if (of >= 2 && g->p) g->p[of - 2] += by;
        }
}

static inline int hopf_tangent(const costate_point *x, const costate_point *d, double *out, void *ctx)
{
    hopf_forward(x, d, NULL, out);
    return (void)ctx, 0;
}
static inline int hopf_tangent2(const costate_point *x, const costate_point *d1, const costate_point *d2, double *out,
                                void *ctx)
{
    hopf_forward(x, d1, d2, out);
    return (void)ctx, 0;
}
static inline int hopf_adjoint(const costate_point *x, const double *w, const costate_gradient *g, void *ctx)
{
    hopf_back(x, NULL, NULL, w, g);
    return (void)ctx, 0;
}
static inline int hopf_adjoint_tangent(const costate_point *x, const costate_point *d, const double *w,
                                       const costate_gradient *g, void *ctx)
{
    hopf_back(x, d, NULL, w, g);
    return (void)ctx, 0;
}
static inline int hopf_adjoint_tangent2(const costate_point *x, const costate_point *d1, const costate_point *d2,
                                        const double *w, const costate_gradient *g, void *ctx)
{
    hopf_back(x, d1, d2, w, g);
    return (void)ctx, 0;
}

static inline int hopf_cost(const costate_point *x, double *out, void *ctx)
{
    *out = x->y[0] * x->y[0] + x->y[1] * x->y[1];
    return (void)ctx, 0;
}
static inline int hopf_cost_tangent(const costate_point *x, const costate_point *d, double *out, void *ctx)
{
    *out = d->y ? 2 * (x->y[0] * d->y[0] + x->y[1] * d->y[1]) : 0;
    return (void)ctx, 0;
}
static inline int hopf_cost_adjoint(const costate_point *x, const double *w, const costate_gradient *g, void *ctx)
{
    for (int i = 0; g->y && i < 2; i++) g->y[i] += 2 * w[0] * x->y[i];
    return (void)ctx, 0;
}
static inline int hopf_cost_tangent2(const costate_point *x, const costate_point *d1, const costate_point *d2,
                                     double *out, void *ctx)
{
    (void)x;
    *out = d1->y && d2->y ? 2 * (d1->y[0] * d2->y[0] + d1->y[1] * d2->y[1]) : 0;
    return (void)ctx, 0;
}
static inline int hopf_cost_adjoint_tangent(const costate_point *x, const costate_point *d, const double *w,
                                            const costate_gradient *g, void *ctx)
{
    (void)x;
    for (int i = 0; g->y && d->y && i < 2; i++) g->y[i] += 2 * w[0] * d->y[i];
    return (void)ctx, 0;
}
static inline int hopf_cost_adjoint_tangent2(const costate_point *x, const costate_point *d1, const costate_point *d2,
                                             const double *w, const costate_gradient *g, void *ctx)
{
    return (void)x, (void)d1, (void)d2, (void)w, (void)g, (void)ctx, 0;
}

static const costate_problem hopf_problem = {
    .n = HOPF_N, .np = HOPF_NP, .nq = 1,
    .rhs = {.value = hopf, .tangent = hopf_tangent, .adjoint = hopf_adjoint, .tangent2 = hopf_tangent2,
            .adjoint_tangent = hopf_adjoint_tangent, .adjoint_tangent2 = hopf_adjoint_tangent2},
    .cost = {.value = hopf_cost, .tangent = hopf_cost_tangent, .adjoint = hopf_cost_adjoint,
             .tangent2 = hopf_cost_tangent2, .adjoint_tangent = hopf_cost_adjoint_tangent,
             .adjoint_tangent2 = hopf_cost_adjoint_tangent2}};

#define CHECK_PERIODIC(o, call) do { \
    int s_ = (call); \
    if (s_ != COSTATE_OK) \
        fail_msg("%s: %s: %s", #call, costate_status_name(s_), costate_periodic_message(o)); } while (0)

#endif
