/* ring.h - a problem with all derivatives, written once for any number of lanes: one lane is the problem alone.

       y_i' = a (y_(i-1) - y_i) - b y_i y_k(i) + c t,   k(i) = (2 i + 1) mod n, indices mod n,   q' = b sum y_i^2

   p = (a, b, c).  Large a are stiff; b < 0 lets y blow up.  Where y_0 exceeds 1e3 the right-hand side is not defined.
   */
#ifndef RING_H
#define RING_H

#include <costate/lanes.h>

enum { RING_MOST = 40 };
static const double RING_DEFINED = 1e3;

#define LANE_INLINE static inline __attribute__((always_inline))

/* n is in ctx */
typedef struct { int n; } ring;

LANE_INLINE double at(const double *x, int L, int i, int l) { return x ? x[i * L + l] : 0; }

LANE_INLINE int ring_value(const int L, int n, const costate_lane_point *x, double *out)
{
    const double *y = x->y, *p = x->p;
    int undefined = 0;
    for (int i = 0; i < n; i++) {
        const int h = (i + n - 1) % n, k = (2 * i + 1) % n;
        for (int l = 0; l < L; l++)
            out[i * L + l] = p[l] * (y[h * L + l] - y[i * L + l]) - p[L + l] * y[i * L + l] * y[k * L + l] +
                             p[2 * L + l] * x->t[l];
    }
    for (int l = 0; l < L; l++) undefined |= (y[l] > RING_DEFINED) << l;
    return undefined;
}

LANE_INLINE int ring_tangent(const int L, int n, const costate_lane_point *x, const costate_lane_point *d, double *out)
{
    const double *y = x->y, *p = x->p;
    for (int i = 0; i < n; i++) {
        const int h = (i + n - 1) % n, k = (2 * i + 1) % n;
        for (int l = 0; l < L; l++) {
            double yi = y[i * L + l], yk = y[k * L + l], di = at(d->y, L, i, l), dk = at(d->y, L, k, l);
            out[i * L + l] = at(d->p, L, 0, l) * (y[h * L + l] - yi) + p[l] * (at(d->y, L, h, l) - di) -
                             at(d->p, L, 1, l) * yi * yk - p[L + l] * (di * yk + yi * dk) +
                             at(d->p, L, 2, l) * x->t[l] + p[2 * L + l] * at(d->t, L, 0, l);
        }
    }
    return 0;
}

LANE_INLINE int ring_adjoint(const int L, int n, const costate_lane_point *x, const double *weights,
                             const costate_lane_gradient *g)
{
    const double *y = x->y, *p = x->p;
    for (int i = 0; i < n; i++) {
        const int h = (i + n - 1) % n, k = (2 * i + 1) % n;
        for (int l = 0; l < L; l++) {
            double w = weights[i * L + l], yi = y[i * L + l], yk = y[k * L + l];
            if (g->y) {
                g->y[h * L + l] += w * p[l];
                g->y[i * L + l] -= w * p[l] + w * p[L + l] * yk;
                g->y[k * L + l] -= w * p[L + l] * yi;
            }
            if (g->p) {
                g->p[l] += w * (y[h * L + l] - yi);
                g->p[L + l] -= w * yi * yk;
                g->p[2 * L + l] += w * x->t[l];
            }
            if (g->t) g->t[l] += w * p[2 * L + l];
        }
    }
    return 0;
}

LANE_INLINE int ring_tangent2(const int L, int n, const costate_lane_point *x, const costate_lane_point *d,
                              const costate_lane_point *e, double *out)
{
    const double *y = x->y, *p = x->p;
    for (int i = 0; i < n; i++) {
        const int h = (i + n - 1) % n, k = (2 * i + 1) % n;
        for (int l = 0; l < L; l++) {
            double yi = y[i * L + l], yk = y[k * L + l], di = at(d->y, L, i, l), dk = at(d->y, L, k, l);
            double ei = at(e->y, L, i, l), ek = at(e->y, L, k, l);
            out[i * L + l] = at(d->p, L, 0, l) * (at(e->y, L, h, l) - ei) + at(e->p, L, 0, l) * (at(d->y, L, h, l) - di)
                             - at(d->p, L, 1, l) * (ei * yk + yi * ek) - at(e->p, L, 1, l) * (di * yk + yi * dk) -
                             p[L + l] * (di * ek + ei * dk) + at(d->p, L, 2, l) * at(e->t, L, 0, l) +
                             at(e->p, L, 2, l) * at(d->t, L, 0, l);
        }
    }
    return 0;
}

LANE_INLINE int ring_adjoint_tangent(const int L, int n, const costate_lane_point *x, const costate_lane_point *d,
                                     const double *weights, const costate_lane_gradient *g)
{
    const double *y = x->y, *p = x->p;
    for (int i = 0; i < n; i++) {
        const int h = (i + n - 1) % n, k = (2 * i + 1) % n;
        for (int l = 0; l < L; l++) {
            double w = weights[i * L + l], yi = y[i * L + l], yk = y[k * L + l];
            double di = at(d->y, L, i, l), dk = at(d->y, L, k, l), da = at(d->p, L, 0, l), db = at(d->p, L, 1, l);
            if (g->y) {
                g->y[h * L + l] += w * da;
                g->y[i * L + l] -= w * da + w * (db * yk + p[L + l] * dk);
                g->y[k * L + l] -= w * (db * yi + p[L + l] * di);
            }
            if (g->p) {
                g->p[l] += w * (at(d->y, L, h, l) - di);
                g->p[L + l] -= w * (di * yk + yi * dk);
                g->p[2 * L + l] += w * at(d->t, L, 0, l);
            }
            if (g->t) g->t[l] += w * at(d->p, L, 2, l);
        }
    }
    return 0;
}

LANE_INLINE int ring_adjoint_tangent2(const int L, int n, const costate_lane_point *x, const costate_lane_point *d,
                                      const costate_lane_point *e, const double *weights,
                                      const costate_lane_gradient *g)
{
    (void)x;
    for (int i = 0; i < n; i++) {
        const int k = (2 * i + 1) % n;
        for (int l = 0; l < L; l++) {
            double w = weights[i * L + l], di = at(d->y, L, i, l), dk = at(d->y, L, k, l), db = at(d->p, L, 1, l);
            double ei = at(e->y, L, i, l), ek = at(e->y, L, k, l), eb = at(e->p, L, 1, l);
            if (g->y) {
                g->y[i * L + l] -= w * (db * ek + eb * dk);
                g->y[k * L + l] -= w * (db * ei + eb * di);
            }
            if (g->p) g->p[L + l] -= w * (di * ek + ei * dk);
        }
    }
    return 0;
}

LANE_INLINE int ring_jac(const int L, int n, const costate_lane_point *x, double *J)
{
    const double *y = x->y, *p = x->p;
    for (int k = 0; k < n * n * L; k++) J[k] = 0;
    for (int i = 0; i < n; i++) {
        const int h = (i + n - 1) % n, k = (2 * i + 1) % n;
        for (int l = 0; l < L; l++) {
            J[(h * n + i) * L + l] += p[l];
            J[(i * n + i) * L + l] -= p[l] + p[L + l] * y[k * L + l];
            J[(k * n + i) * L + l] -= p[L + l] * y[i * L + l];
        }
    }
    return 0;
}

/* ---- q' = b sum y_i^2 ---- */

LANE_INLINE double sum_of(const int L, int n, const double *a, const double *b, int l)
{
    double sum = 0;
    for (int i = 0; a && b && i < n; i++) sum += a[i * L + l] * b[i * L + l];
    return sum;
}

LANE_INLINE int energy_value(const int L, int n, const costate_lane_point *x, double *out)
{
    for (int l = 0; l < L; l++) out[l] = x->p[L + l] * sum_of(L, n, x->y, x->y, l);
    return 0;
}

LANE_INLINE int energy_tangent(const int L, int n, const costate_lane_point *x, const costate_lane_point *d,
                               double *out)
{
    for (int l = 0; l < L; l++)
        out[l] = at(d->p, L, 1, l) * sum_of(L, n, x->y, x->y, l) + 2 * x->p[L + l] * sum_of(L, n, x->y, d->y, l);
    return 0;
}

LANE_INLINE int energy_adjoint(const int L, int n, const costate_lane_point *x, const double *w,
                               const costate_lane_gradient *g)
{
    for (int l = 0; l < L; l++) {
        if (g->p) g->p[L + l] += w[l] * sum_of(L, n, x->y, x->y, l);
        for (int i = 0; g->y && i < n; i++) g->y[i * L + l] += 2 * w[l] * x->p[L + l] * x->y[i * L + l];
    }
    return 0;
}

LANE_INLINE int energy_tangent2(const int L, int n, const costate_lane_point *x, const costate_lane_point *d,
                                const costate_lane_point *e, double *out)
{
    for (int l = 0; l < L; l++)
        out[l] = 2 * at(d->p, L, 1, l) * sum_of(L, n, x->y, e->y, l) +
                 2 * at(e->p, L, 1, l) * sum_of(L, n, x->y, d->y, l) + 2 * x->p[L + l] * sum_of(L, n, d->y, e->y, l);
    return 0;
}

LANE_INLINE int energy_adjoint_tangent(const int L, int n, const costate_lane_point *x, const costate_lane_point *d,
                                       const double *w, const costate_lane_gradient *g)
{
    for (int l = 0; l < L; l++) {
        if (g->p) g->p[L + l] += 2 * w[l] * sum_of(L, n, x->y, d->y, l);
        for (int i = 0; g->y && i < n; i++)
            g->y[i * L + l] += 2 * w[l] * (at(d->p, L, 1, l) * x->y[i * L + l] + x->p[L + l] * at(d->y, L, i, l));
    }
    return 0;
}

LANE_INLINE int energy_adjoint_tangent2(const int L, int n, const costate_lane_point *x, const costate_lane_point *d,
                                        const costate_lane_point *e, const double *w, const costate_lane_gradient *g)
{
    (void)x;
    for (int l = 0; l < L; l++) {
        if (g->p) g->p[L + l] += 2 * w[l] * sum_of(L, n, d->y, e->y, l);
        for (int i = 0; g->y && i < n; i++)
            g->y[i * L + l] += 2 * w[l] * (at(d->p, L, 1, l) * at(e->y, L, i, l) +
                                           at(e->p, L, 1, l) * at(d->y, L, i, l));
    }
    return 0;
}

/* ---- instances ---- */

#define SIZE(ctx) ((const ring *)(ctx))->n
#define INSTANCES_OF(map, L)                                                                                          \
    COSTATE_LANES_##L static int map##_value_##L(const costate_lane_point *x, double *out, void *ctx)                 \
    { return map##_value(L, SIZE(ctx), x, out); }                                                                     \
    COSTATE_LANES_##L static int map##_tangent_##L(const costate_lane_point *x, const costate_lane_point *d,          \
                                                   double *out, void *ctx)                                            \
    { return map##_tangent(L, SIZE(ctx), x, d, out); }                                                                \
    COSTATE_LANES_##L static int map##_adjoint_##L(const costate_lane_point *x, const double *w,                      \
                                                   const costate_lane_gradient *g, void *ctx)                         \
    { return map##_adjoint(L, SIZE(ctx), x, w, g); }                                                                  \
    COSTATE_LANES_##L static int map##_tangent2_##L(const costate_lane_point *x, const costate_lane_point *d,         \
                                                    const costate_lane_point *e, double *out, void *ctx)              \
    { return map##_tangent2(L, SIZE(ctx), x, d, e, out); }                                                            \
    COSTATE_LANES_##L static int map##_adjoint_tangent_##L(const costate_lane_point *x, const costate_lane_point *d,  \
                                                           const double *w, const costate_lane_gradient *g, void *ctx) \
    { return map##_adjoint_tangent(L, SIZE(ctx), x, d, w, g); }                                                       \
    COSTATE_LANES_##L static int map##_adjoint_tangent2_##L(const costate_lane_point *x, const costate_lane_point *d, \
        const costate_lane_point *e, const double *w, const costate_lane_gradient *g, void *ctx)                      \
    { return map##_adjoint_tangent2(L, SIZE(ctx), x, d, e, w, g); }
#define INSTANCES(L)                                                                                                  \
    INSTANCES_OF(ring, L)                                                                                             \
    INSTANCES_OF(energy, L)                                                                                           \
    COSTATE_LANES_##L static int ring_jac_##L(const costate_lane_point *x, double *J, void *ctx)                      \
    { return ring_jac(L, SIZE(ctx), x, J); }
#define COSTATE_LANES_1
INSTANCES(1) INSTANCES(2) INSTANCES(4) INSTANCES(8)

#define ALL_OF(map, L) {map##_value_##L, map##_tangent_##L, map##_adjoint_##L, map##_tangent2_##L, \
                        map##_adjoint_tangent_##L, map##_adjoint_tangent2_##L}
static const costate_lane_maps ring_lanes[] = {
    {.lanes = 2, .rhs = ALL_OF(ring, 2), .cost = ALL_OF(energy, 2), .jac = ring_jac_2},
    {.lanes = 4, .rhs = ALL_OF(ring, 4), .cost = ALL_OF(energy, 4), .jac = ring_jac_4},
    {.lanes = 8, .rhs = ALL_OF(ring, 8), .cost = ALL_OF(energy, 8), .jac = ring_jac_8},
    {.lanes = 0},
};

/* ---- the problem alone: one lane ---- */

static costate_lane_point one_lane(const costate_point *x) { return (costate_lane_point){&x->t, x->y, x->p}; }

#define ALONE(map)                                                                                                    \
    static int map##_value_alone(const costate_point *x, double *out, void *ctx)                                      \
    { costate_lane_point a = one_lane(x); return map##_value_1(&a, out, ctx); }                                       \
    static int map##_tangent_alone(const costate_point *x, const costate_point *dx, double *out, void *ctx)           \
    { costate_lane_point a = one_lane(x), d = one_lane(dx); return map##_tangent_1(&a, &d, out, ctx); }               \
    static int map##_adjoint_alone(const costate_point *x, const double *w, const costate_gradient *g, void *ctx)     \
    { costate_lane_point a = one_lane(x); costate_lane_gradient to = {g->t, g->y, g->p};                              \
      return map##_adjoint_1(&a, w, &to, ctx); }                                                                      \
    static int map##_tangent2_alone(const costate_point *x, const costate_point *dx, const costate_point *ex,         \
                                    double *out, void *ctx)                                                           \
    { costate_lane_point a = one_lane(x), d = one_lane(dx), e = one_lane(ex);                                         \
      return map##_tangent2_1(&a, &d, &e, out, ctx); }                                                                \
    static int map##_adjoint_tangent_alone(const costate_point *x, const costate_point *dx, const double *w,          \
                                           const costate_gradient *g, void *ctx)                                      \
    { costate_lane_point a = one_lane(x), d = one_lane(dx); costate_lane_gradient to = {g->t, g->y, g->p};            \
      return map##_adjoint_tangent_1(&a, &d, w, &to, ctx); }                                                          \
    static int map##_adjoint_tangent2_alone(const costate_point *x, const costate_point *dx, const costate_point *ex, \
                                            const double *w, const costate_gradient *g, void *ctx)                    \
    { costate_lane_point a = one_lane(x), d = one_lane(dx), e = one_lane(ex);                                         \
      costate_lane_gradient to = {g->t, g->y, g->p};                                                                  \
      return map##_adjoint_tangent2_1(&a, &d, &e, w, &to, ctx); }
ALONE(ring) ALONE(energy)

static int ring_jac_alone(const costate_point *x, double *J, void *ctx)
{
    costate_lane_point a = one_lane(x);
    return ring_jac_1(&a, J, ctx);
}

#define MAP_ALONE(map) {.value = map##_value_alone, .tangent = map##_tangent_alone, .adjoint = map##_adjoint_alone, \
                        .tangent2 = map##_tangent2_alone, .adjoint_tangent = map##_adjoint_tangent_alone, \
                        .adjoint_tangent2 = map##_adjoint_tangent2_alone}
static costate_problem ring_problem(ring *r, int nq)
{
    return (costate_problem){.n = r->n, .np = 3, .nq = nq, .ctx = r, .rhs = MAP_ALONE(ring),
                             .cost = MAP_ALONE(energy), .jac = ring_jac_alone};
}

#endif
