/* corrected.h - the hybrid system `everything` with a smooth map after each step that mixes t, y, m and p. */
#ifndef TESTS_CORRECTED_H
#define TESTS_CORRECTED_H

#include "hybrid_sweeps.h"

static const double SMALL = 2e-3;

/* z of the constraint of index 1, z + 0.1 z^3 = y_0/2 + 0.2 sin(t) p_1 + 0.3 m_0 - 0.1 d y_1, by Newton's iteration */
static inline num solved_z(const num_point *x, const num *y, num m)
{
    num right = add(times(0.5, y[0]), mul(times(0.2, sine(x->t)), x->p[1])), z = number(0);
    right = add(right, sub(times(0.3, m), times(0.1 * (x->mode ? -0.5 : 0.3), y[1])));
    for (int k = 0; k < 30; k++) {
        num g = sub(add(z, times(0.1, mul(z, square(z)))), right);
        z = sub(z, over(g, plus(times(0.3, square(z)), 1)));
    }
    return z;
}

/* y_i + small sin(t + y_j + p_0) (1 + m_0 p_1), m_k + small y_0 m_k p_0; an algebraic unknown of index 1 is that of the
   constraint */
static inline void correction_f(const void *of, const num_point *x, num *out)
{
    const hybrid *h = of;
    for (int i = 0; i < 2; i++) {
        num by = mul(sine(add(add(x->t, x->y[1 - i]), x->p[0])), plus(mul(x->m[0], x->p[1]), 1));
        out[i] = add(x->y[i], times(SMALL, by));
    }
    for (int k = 0; k < h->nm; k++)
        out[h->n + k] = add(x->m[k], times(SMALL, mul3(x->y[0], x->m[k], x->p[0])));
    if (h->n == 3) out[2] = solved_z(x, out, out[h->n]);
}

static inline num_map correction_of(void *ctx)
{
    const hybrid *h = ctx;
    return (num_map){h->n, h->np, h->nm, h->n + h->nm, correction_f, h};
}
static inline int correction_value(const costate_point *x, double *out, void *ctx)
{
    num_map F = correction_of(ctx);
    return num_value(&F, x, out), 0;
}
static inline int correction_tangent(const costate_point *x, const costate_point *dx, double *out, void *ctx)
{
    num_map F = correction_of(ctx);
    return num_tangent(&F, x, dx, NULL, out), 0;
}
static inline int correction_adjoint(const costate_point *x, const double *w, const costate_gradient *g, void *ctx)
{
    num_map F = correction_of(ctx);
    return num_adjoint(&F, x, NULL, w, g), 0;
}
static inline int correction_adjoint_tangent(const costate_point *x, const costate_point *dx, const double *w,
                                             const costate_gradient *g, void *ctx)
{
    num_map F = correction_of(ctx);
    return num_adjoint(&F, x, dx, w, g), 0;
}

static inline int acts_in_mode_0(const costate_point *x, void *ctx) { return (void)ctx, x->mode == 0; }

/* variant & 1: the map is the identity in mode 1; & 2: it is applied to the start, too */
static inline costate_problem corrected_problem(const hybrid *h, int variant)
{
    costate_problem P = hybrid_problem(h);
    P.after_step = (costate_after_step){
        .map = {.value = correction_value, .tangent = correction_tangent, .adjoint = correction_adjoint,
                .adjoint_tangent = correction_adjoint_tangent},
        .acts = variant & 1 ? acts_in_mode_0 : NULL};
    if (variant & 2) P.after_step.start = P.after_step.map;
    return P;
}

static inline session session_corrected(const costate_method *m, const hybrid *h, int variant, costate_options o)
{
    session s;
    if (session_run_of(&s, m, h, corrected_problem(h, variant), o) != COSTATE_OK)
        fail_msg("%s, %s: %s", method_name(m), h->name, costate_message(s.c));
    return s;
}

#endif
