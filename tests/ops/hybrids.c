/* hybrids.c - the problems of hybrids.h: formulas over num, all callbacks from them.

   everything: two non-autonomous modes, two memory variables, guards and jumps that mix t, y, m and p, an event at two
   given times, costs along the run and at events; in four forms.  H1, H2a, H5a, H6: definitions and values as in the
   shared oracles.  H1 is a relay, H2a a ball, H5a and H6 springs that remember their last reversal; H1 and H6 are from
   R. Serban and A. Recuero, Sensitivity Analysis for Hybrid Systems and Systems with Memory, TR-2019-01, University of
   Wisconsin-Madison. */
#include <string.h>
#include "hybrids.h"
#include "traits.h"

#define UNUSED(x) ((void)(x))

/* ---- everything ---- */

static double damping(int mode) { return mode ? -0.5 : 0.3; }

/* y0', y1', and with an algebraic unknown z the constraint of index 1 */
static void everything_rates(const num_point *x, num z, num *f)
{
    const num *y = x->y, *p = x->p, *m = x->m;
    double s = damping(x->mode);
    f[0] = sub(add(mul(y[1], plus(times(0.3, mul(m[0], x->t)), 1)), times(0.2, z)), times(0.1, square(y[0])));
    f[1] = sub(mul(cosine(times(2, x->t)), m[0]), mul(p[0], sine(add(y[0], m[1]))));
    f[1] = add(sub(f[1], times(s, mul(p[1], y[1]))), times(0.1, z));
}
static void units_rates(const hybrid *h, const num_point *x, num z, num *f);
static void units_guard_0(const void *of, const num_point *x, num *e);

static void rates_of(const hybrid *h, const num_point *x, num z, num *f)
{
    if (h->map[HYBRID_GUARD] == units_guard_0) units_rates(h, x, z, f);
    else everything_rates(x, z, f);
}
static num everything_constraint(const num_point *x, num z)
{
    num other = add(times(0.5, x->y[0]), mul(times(0.2, sine(x->t)), x->p[1]));
    other = add(other, sub(times(0.3, x->m[0]), times(0.1 * damping(x->mode), x->y[1])));
    return sub(add(z, times(0.1, mul(z, square(z)))), other);
}

static num everything_z(const hybrid *h, const num_point *x)
{
    return h->form == HYBRID_ODE ? number(0) : x->y[h->n - 1];
}

static void everything_ode(const void *of, const num_point *x, num *f)
{
    rates_of(of, x, number(0), f);
}

/* the three equations mixed, as M = L diag(1, 1, 0) is: L = [1 0 1; 1/2 1 0; 1 -1 1] */
static const double everything_M[] = {1, 0.5, 1, 0, 1, -1, 0, 0, 0};
static void everything_mass(const void *of, const num_point *x, num *out)
{
    num f[2], g = everything_constraint(x, x->y[2]);
    rates_of(of, x, x->y[2], f);
    out[0] = add(f[0], g);
    out[1] = add(times(0.5, f[0]), f[1]);
    out[2] = add(sub(f[0], f[1]), g);
}

/* u = y' - f;  F_0 = (2 + sin(t + y0 + p0)) (u0 + sin(u0)/3) + g,  F_1 = u0/2 + u1 + sin(u1)/3,  F_2 = g - 0.3 u1 */
static void everything_residual(const void *of, const num_point *x, num *F)
{
    num f[2], g = everything_constraint(x, x->y[2]), u[2];
    rates_of(of, x, x->y[2], f);
    for (int i = 0; i < 2; i++) u[i] = sub(x->yp[i], f[i]);
    F[0] = mul(plus(sine(add(add(x->t, x->y[0]), x->p[0])), 2), add(u[0], times(1.0 / 3, sine(u[0]))));
    F[0] = add(F[0], g);
    F[1] = add(times(0.5, u[0]), add(u[1], times(1.0 / 3, sine(u[1]))));
    F[2] = sub(g, times(0.3, u[1]));
}

/* y2' = z (1 + y1/10) - y2/5,  0 = y2 + y2^2/10 - 0.3 y0 - 0.2 p1 sin t - m1/10 */
static void everything_index_2(const void *of, const num_point *x, num *F)
{
    const num *y = x->y;
    num f[3];
    rates_of(of, x, y[3], f);
    f[2] = sub(mul(y[3], plus(times(0.1, y[1]), 1)), times(0.2, y[2]));
    for (int i = 0; i < 3; i++) F[i] = sub(x->yp[i], f[i]);
    F[3] = sub(add(y[2], times(0.1, square(y[2]))), times(0.3, y[0]));
    F[3] = sub(F[3], add(times(0.2, mul(x->p[1], sine(x->t))), times(0.1, x->m[1])));
}

static void everything_cost(const void *of, const num_point *x, num *r)
{
    num z = everything_z(of, x);
    r[0] = add(mul(square(x->y[0]), x->m[1]), add(mul(x->t, x->y[1]), times(0.1, square(z))));
    r[1] = mul3(exponential(times(-1, x->y[1])), x->m[0], x->p[x->mode]);
}

/* from mode 0 to 1, from 1 to 0, in both; the last leaves its guard at zero */
static void everything_guard_0(const void *of, const num_point *x, num *e)
{
    UNUSED(of);
    e[0] = add(sub(x->y[0], times(0.9, x->p[0])), times(0.2, mul(sine(x->t), x->m[0])));
}
static void everything_guard_1(const void *of, const num_point *x, num *e)
{
    e[0] = add(x->y[1], add(times(0.1, mul(x->t, x->p[1])), times(0.3, x->m[1])));
    e[0] = sub(e[0], times(0.05, everything_z(of, x)));
}
static void everything_guard_2(const void *of, const num_point *x, num *e)
{
    UNUSED(of);
    e[0] = add(plus(x->t, -1.15), sub(times(0.2, mul(x->p[1], x->y[0])), times(0.1, mul(x->m[1], x->p[0]))));
}

/* the rest of y as it was: made consistent by the library */
static num *everything_after(const hybrid *h, const num_point *x, num *out)
{
    for (int i = 2; i < h->n; i++) out[i] = x->y[i];
    return out + h->n;
}
static void everything_jump_0(const void *of, const num_point *x, num *out)
{
    const num *y = x->y, *p = x->p, *m = x->m;
    num *after = everything_after(of, x, out);
    out[0] = add(y[0], times(0.1, mul(p[1], m[0])));
    out[1] = add(mul(p[1], y[1]), times(0.2, mul(x->t, m[0])));
    after[0] = add(times(0.5, m[0]), times(0.3, mul(y[1], x->t)));
    after[1] = times(0.5, mul(y[0], p[0]));
}
static void everything_jump_1(const void *of, const num_point *x, num *out)
{
    const num *y = x->y, *p = x->p, *m = x->m;
    num *after = everything_after(of, x, out);
    out[0] = add(sub(y[0], times(0.2, mul(m[1], p[0]))), times(0.05, x->t));
    out[1] = add(y[1], times(0.4, mul(p[1], m[0])));
    after[0] = add(times(0.7, m[0]), times(0.2, mul(x->t, y[0])));
    after[1] = add(mul(m[1], p[0]), times(0.3, y[1]));
}
static void everything_jump_2(const void *of, const num_point *x, num *out)
{
    const num *y = x->y, *p = x->p, *m = x->m;
    num *after = everything_after(of, x, out);
    out[0] = y[0];
    out[1] = add(sub(y[1], times(0.3, mul(m[0], p[1]))), times(0.1, x->t));
    after[0] = add(times(0.8, m[0]), times(0.1, mul(y[1], p[1])));
    after[1] = m[1];
}
static void everything_jump_3(const void *of, const num_point *x, num *out)
{
    const num *y = x->y, *p = x->p, *m = x->m;
    num *after = everything_after(of, x, out);
    out[0] = sub(times(1.1, y[0]), times(0.1, m[1]));
    out[1] = sub(times(0.6, y[1]), times(0.3, mul(p[0], m[0])));
    after[0] = sub(m[0], times(0.1, mul(y[0], x->t)));
    after[1] = add(m[1], times(0.1, y[1]));
}
static void everything_event_cost(const void *of, const num_point *x, num *r)
{
    r[0] = add(mul(x->y[0], x->m[0]), times(x->mode ? 0.3 : 0.1, mul(x->t, x->p[1])));
    r[1] = sub(square(x->y[1]), mul(x->p[0], everything_z(of, x)));
}

/* ---- the same with y' in guards, jumps and costs: as x->yp, or as what the equations say it is ---- */

static void everything_slopes(const hybrid *h, const num_point *x, num *k)
{
    if (h->form < HYBRID_RESIDUAL) everything_rates(x, everything_z(h, x), k);
    else for (int i = 0; i < 2; i++) k[i] = x->yp[i];
}

static void slopes_guard_0(const void *of, const num_point *x, num *e)
{
    num k[2];
    everything_slopes(of, x, k);
    everything_guard_0(of, x, e);
    e[0] = add(e[0], times(0.05, mul(k[1], x->m[0])));
}
static void slopes_guard_1(const void *of, const num_point *x, num *e)
{
    num k[2];
    everything_slopes(of, x, k);
    everything_guard_1(of, x, e);
    e[0] = sub(e[0], times(0.01, mul(k[0], x->p[1])));
}
static void slopes_jump(const hybrid *h, const num_point *x, num *out)
{
    num k[2];
    everything_slopes(h, x, k);
    out[0] = add(out[0], times(0.02, mul(k[0], x->p[0])));
    out[1] = sub(out[1], times(0.01, mul(k[0], k[1])));
    out[h->n] = add(out[h->n], times(0.02, k[1]));
}
static void slopes_jump_0(const void *of, const num_point *x, num *out)
{
    everything_jump_0(of, x, out);
    slopes_jump(of, x, out);
}
static void slopes_jump_1(const void *of, const num_point *x, num *out)
{
    everything_jump_1(of, x, out);
    slopes_jump(of, x, out);
}
static void slopes_jump_3(const void *of, const num_point *x, num *out)
{
    everything_jump_3(of, x, out);
    slopes_jump(of, x, out);
}
static void slopes_event_cost(const void *of, const num_point *x, num *r)
{
    num k[2];
    everything_slopes(of, x, k);
    everything_event_cost(of, x, r);
    r[0] = add(r[0], times(0.1, mul(k[0], k[1])));
    r[1] = add(r[1], mul(k[1], x->p[0]));
}

/* ---- and with a transition in the place of the first jump: x->y is (y+, y), x->yp (y'+, y') ---- */

static void transition_T(const void *of, const num_point *x, num *T)
{
    const hybrid *h = of;
    const num *u = x->y, *y = x->y + h->n, *uk = x->yp, *k = x->yp + h->n;
    T[0] = sub(sub(u[0], y[0]), times(0.1, mul(x->p[1], x->m[0])));
    T[0] = sub(T[0], add(times(0.12, uk[1]), times(0.02, square(k[0]))));
    T[1] = sub(sub(add(u[1], times(0.1, mul(u[1], square(u[1])))), mul(x->p[1], y[1])), times(0.2, mul(x->t, x->m[0])));
    T[1] = add(T[1], times(0.03, mul(uk[0], k[1])));
    for (int i = 2; i < h->n; i++) T[i] = sub(u[i], y[i]);
    if (h->form == HYBRID_RESIDUAL) T[2] = plus(mul(u[2], y[0]), 7);          /* algebraic: not looked at */
}

/* the same event both ways */
static void kept_jump(const void *of, const num_point *x, num *out)
{
    const hybrid *h = of;
    for (int i = 0; i < h->n; i++) out[i] = x->y[i];
    for (int i = 0; i < h->nm; i++) out[h->n + i] = x->m[i];
    out[0] = add(x->y[0], sub(times(0.1, mul(x->p[1], x->m[0])), times(0.05, mul(x->yp[1], x->t))));
    out[1] = sub(mul(x->p[1], x->y[1]), times(0.04, mul(x->yp[0], x->y[2])));
}
static void kept_T(const void *of, const num_point *x, num *T)
{
    const hybrid *h = of;
    num out[NUMS_N + NUMS_M];
    num_point before = *x;
    for (int i = 0; i < h->n; i++) { before.y[i] = x->y[h->n + i]; before.yp[i] = x->yp[h->n + i]; }
    kept_jump(h, &before, out);
    for (int i = 0; i < h->n; i++) T[i] = mul(plus(square(x->yp[0]), 1), sub(x->y[i], out[i]));
}

static void everything_start(const num *p, num *y, num *m)
{
    const double at[] = {0.3, 1.2, 0, 0};
    UNUSED(p);
    for (int i = 0; i < 4; i++) y[i] = number(at[i]);
    m[0] = number(0.4);
    m[1] = number(0.2);
}
/* backwards, y0 grows from here */
static void everything_start_back(const num *p, num *y, num *m)
{
    everything_start(p, y, m);
    y[1] = number(-1.2);
}

/* ---- two units alike, whose events fire together; then a guard and a given time together ---- */

static void units_rates(const hybrid *h, const num_point *x, num z, num *f)
{
    for (int i = 0; i < 2; i++) {
        num drive = mul(x->p[i], plus(times(0.3, sine(x->t)), 1));
        f[i] = sub(drive, add(times(0.2, square(x->y[i])), times(0.2 * damping(x->mode), x->y[i])));
        f[i] = add(f[i], times(0.1, mul(x->m[0], x->m[1])));
        if (h->n == 3) f[i] = add(f[i], times(0.2, z));
    }
}
static num unit_guard(const num_point *x, int i)
{
    num drift = sub(sine(x->t), sine(number(0.1)));
    return add(sub(x->y[i], times(0.6, x->p[i])), times(0.1, drift));
}
static void units_guard_0(const void *of, const num_point *x, num *e) { UNUSED(of); e[0] = unit_guard(x, 0); }
static void units_guard_1(const void *of, const num_point *x, num *e) { UNUSED(of); e[0] = unit_guard(x, 1); }
static void units_guard_2(const void *of, const num_point *x, num *e)
{
    num other = sub(x->p[0], x->p[1]);
    UNUSED(of);
    e[0] = add(plus(x->t, -0.75), add(times(0.2, other), mul(x->t, other)));
}
static void unit_jump(const hybrid *h, const num_point *x, int i, num *out)
{
    num *after = everything_after(h, x, out);
    for (int k = 0; k < 2; k++) { out[k] = x->y[k]; after[k] = x->m[k]; }
    out[i] = add(times(0.5, square(x->y[i])), mul(times(0.1, x->p[1 - i]), x->m[i]));
    after[i] = add(times(0.5, x->m[i]), times(0.3, mul(x->y[1 - i], x->t)));
}
static void units_jump_0(const void *of, const num_point *x, num *out) { unit_jump(of, x, 0, out); }
static void units_jump_1(const void *of, const num_point *x, num *out) { unit_jump(of, x, 1, out); }
static void units_jump_3(const void *of, const num_point *x, num *out)
{
    num *after = everything_after(of, x, out);
    for (int k = 0; k < 2; k++) {
        out[k] = add(x->y[k], times(0.05, add(mul(x->m[0], x->m[1]), mul(x->t, x->p[k]))));
        after[k] = x->m[k];
    }
}
static void units_start_at(double y0, num *y, num *m)
{
    for (int i = 0; i < 4; i++) y[i] = number(i < 2 ? y0 : 0);
    m[0] = number(0.4);
    m[1] = number(0.2);
}
static void units_start(const num *p, num *y, num *m) { UNUSED(p); units_start_at(0.3, y, m); }
static void units_start_back(const num *p, num *y, num *m) { UNUSED(p); units_start_at(1, y, m); }
/* where the guards are zero */
static void units_start_there(const num *p, num *y, num *m) { units_start_at(times(0.6, p[0]).v, y, m); }

/* ---- H1: x' = a - b x, of two kinds; p = (p, a1, b1, a2, b2, x0) ---- */

static void H1_f(const void *of, const num_point *x, num *f)
{
    const num *ab = x->p + (x->mode ? 3 : 1);
    UNUSED(of);
    f[0] = sub(ab[0], mul(ab[1], x->y[0]));
}
static void first_r(const void *of, const num_point *x, num *r) { UNUSED(of); r[0] = x->y[0]; }
static void H1_guard(const void *of, const num_point *x, num *e)
{
    num y = x->y[0];
    UNUSED(of);
    e[0] = sub(mul(y, plus(sub(square(y), times(5, y)), 7)), x->p[0]);
}
static void H1_start(const num *p, num *y, num *m) { UNUSED(m); y[0] = p[5]; }

/* ---- H2a: a ball; p = (e, g, h0, v0) ---- */

static void H2a_f(const void *of, const num_point *x, num *f)
{
    UNUSED(of);
    f[0] = x->y[1];
    f[1] = times(-1, x->p[1]);
}
static void H2a_r(const void *of, const num_point *x, num *r)
{
    UNUSED(of);
    r[0] = x->y[0];
    r[1] = times(0.5, square(x->y[1]));
}
static void H2a_guard(const void *of, const num_point *x, num *e) { UNUSED(of); e[0] = x->y[0]; }
static void H2a_jump(const void *of, const num_point *x, num *out)
{
    UNUSED(of);
    out[0] = x->y[0];
    out[1] = times(-1, mul(x->p[0], x->y[1]));
}
static void H2a_start(const num *p, num *y, num *m) { UNUSED(m); y[0] = p[2]; y[1] = p[3]; }

/* ---- H5a, H6: u' = v, m v' = force - z, the force of a spring that remembers; mode 0: v > 0, m = (u*, z*) ---- */

/* z eliminated, or y2 with its equation */
static void with_z(const hybrid *h, const num_point *x, num z, num *out)
{
    if (h->form != HYBRID_ODE) out[2] = sub(x->y[2], z);
}
static num spring(const hybrid *h, const num_point *x, num z) { return h->form == HYBRID_ODE ? z : x->y[2]; }

static const double spring_M[] = {1, 0, 0, 0, 1, 0, 0, 0, 0};

static void speed(const void *of, const num_point *x, num *e) { UNUSED(of); e[0] = x->y[1]; }

/* p = (kp, km, m, c, u0, v0, z0) */
static num H5a_z(const num_point *x) { return add(x->m[1], mul(x->p[x->mode], sub(x->y[0], x->m[0]))); }
static void H5a_f(const void *of, const num_point *x, num *f)
{
    num z = H5a_z(x);
    f[0] = x->y[1];
    f[1] = times(-1, over(add(spring(of, x, z), mul(x->p[3], x->y[1])), x->p[2]));
    with_z(of, x, z, f);
}
static void H5a_r(const void *of, const num_point *x, num *r)
{
    r[0] = add(square(x->y[0]), times(0.1, square(spring(of, x, H5a_z(x)))));
}
static void remember(const hybrid *h, const num_point *x, num z, num *out)
{
    for (int i = 0; i < h->n; i++) out[i] = x->y[i];
    out[h->n] = x->y[0];
    out[h->n + 1] = spring(h, x, z);
}
static void H5a_jump(const void *of, const num_point *x, num *out) { remember(of, x, H5a_z(x), out); }
static void H5a_start(const num *p, num *y, num *m)
{
    m[0] = y[0] = p[4];
    y[1] = p[5];
    m[1] = y[2] = p[6];
}

/* p = (ka, kb, alpha, beta, m, A, F0) */
static num H6_c(const num *p, num u)
{
    num bu = mul(p[3], u), e = exponential(bu);
    return add(sub(sub(e, inverse(e)), times(2, bu)), mul(p[1], u));
}
static num H6_z(const num_point *x)
{
    const num *p = x->p;
    double xi = x->mode ? -1 : 1;
    num Fb = times(xi, over(sub(p[0], p[1]), times(2, p[2])));
    num fading = exponential(times(-xi, mul(p[2], sub(x->y[0], x->m[0]))));
    return sub(add(H6_c(p, x->y[0]), Fb), mul(sub(add(H6_c(p, x->m[0]), Fb), x->m[1]), fading));
}
static void H6_f(const void *of, const num_point *x, num *f)
{
    num z = H6_z(x), load = mul(mul(x->p[6], x->t), sine(times(6.283185307179586477, x->t)));
    f[0] = x->y[1];
    f[1] = over(sub(load, mul(x->p[5], spring(of, x, z))), x->p[4]);
    with_z(of, x, z, f);
}
static void H6_r(const void *of, const num_point *x, num *r) { UNUSED(of); r[0] = square(x->y[0]); }
static void H6_jump(const void *of, const num_point *x, num *out) { remember(of, x, H6_z(x), out); }
static void H6_start(const num *p, num *y, num *m)
{
    UNUSED(p);
    for (int i = 0; i < 3; i++) y[i] = number(0);
    m[0] = m[1] = number(0);
}

/* ---- callbacks: a set a map, as a map is told nothing but ctx ---- */

static num_map map_of(const hybrid *h, int k)
{
    if (k == HYBRID_TRANSITION) return (num_map){2 * h->n, h->np, h->nm, h->n, h->map[k], h};
    const int rows[] = {h->n, h->nq, 1, h->n + h->nm, h->nq};
    return (num_map){h->n, h->np, h->nm, rows[k < 2 ? k : 2 + (k - 2) % 3], h->map[k], h};
}

#define CALLBACKS(name, k) \
static int name##_value(const costate_point *x, double *out, void *ctx) \
{ \
    num_map F = map_of(ctx, k); \
    return num_value(&F, x, out), 0; \
} \
static int name##_tangent(const costate_point *x, const costate_point *dx, double *out, void *ctx) \
{ \
    num_map F = map_of(ctx, k); \
    return num_tangent(&F, x, dx, NULL, out), 0; \
} \
static int name##_adjoint(const costate_point *x, const double *w, const costate_gradient *g, void *ctx) \
{ \
    num_map F = map_of(ctx, k); \
    return num_adjoint(&F, x, NULL, w, g), 0; \
} \
static int name##_tangent2(const costate_point *x, const costate_point *a, const costate_point *b, double *out, \
                           void *ctx) \
{ \
    num_map F = map_of(ctx, k); \
    return num_tangent(&F, x, a, b, out), 0; \
} \
static int name##_adjoint_tangent(const costate_point *x, const costate_point *dx, const double *w, \
                                  const costate_gradient *g, void *ctx) \
{ \
    num_map F = map_of(ctx, k); \
    return num_adjoint(&F, x, dx, w, g), 0; \
} \
static int name##_adjoint_tangent2(const costate_point *x, const costate_point *a, const costate_point *b, \
                                   const double *w, const costate_gradient *g, void *ctx) \
{ \
    num_map F = map_of(ctx, k); \
    return num_adjoint2(&F, x, a, b, w, g), 0; \
}
#define EVENT_CALLBACKS(e) \
    CALLBACKS(guard_##e, HYBRID_GUARD + 3 * e) \
    CALLBACKS(jump_##e, HYBRID_JUMP + 3 * e) \
    CALLBACKS(event_cost_##e, HYBRID_EVENT_COST + 3 * e)
CALLBACKS(rhs, HYBRID_RHS)
CALLBACKS(cost, HYBRID_COST)
EVENT_CALLBACKS(0)
CALLBACKS(transition, HYBRID_TRANSITION)
EVENT_CALLBACKS(1)
EVENT_CALLBACKS(2)
CALLBACKS(jump_3, HYBRID_JUMP + 3 * 3)
CALLBACKS(event_cost_3, HYBRID_EVENT_COST + 3 * 3)
#define MAP(name) \
    {.value = name##_value, .tangent = name##_tangent, .adjoint = name##_adjoint, .tangent2 = name##_tangent2, \
     .adjoint_tangent = name##_adjoint_tangent, .adjoint_tangent2 = name##_adjoint_tangent2}

/* df/dy of a right-hand side; dF/dy, dF/dy' of a residual */
static int columns(const costate_point *x, int slope, double *J, const hybrid *h)
{
    double e[NUMS_N] = {0};
    num_map F = map_of(h, HYBRID_RHS);
    for (int j = 0; j < h->n; j++) {
        costate_point dx = {.y = slope ? NULL : e, .yp = slope ? e : NULL};
        e[j] = 1;
        num_tangent(&F, x, &dx, NULL, J + j * h->n);
        e[j] = 0;
    }
    return 0;
}
static int jac(const costate_point *x, double *J, void *ctx) { return columns(x, 0, J, ctx); }
static int jac_yp(const costate_point *x, double *J, void *ctx) { return columns(x, 1, J, ctx); }
static int mass(double *M, void *ctx)
{
    const hybrid *h = ctx;
    return memcpy(M, h->M, (size_t)(h->n * h->n) * sizeof *M), 0;
}

/* ---- the table ---- */

static const double everything_p[] = {0.8, 0.6}, everything_times[] = {0.75, 1.4};
static const costate_event everything_events[] = {
    {.guard = MAP(guard_0), .jump = MAP(jump_0), .cost = MAP(event_cost_0), .direction = 1, .from = 0, .to = 1},
    {.guard = MAP(guard_1), .jump = MAP(jump_1), .cost = MAP(event_cost_1), .from = 1, .to = 0},
    {.guard = MAP(guard_2), .jump = MAP(jump_2), .cost = MAP(event_cost_2), .from = COSTATE_ANY_MODE,
     .to = COSTATE_SAME_MODE},
    {.ntimes = 2, .times = everything_times, .jump = MAP(jump_3), .cost = MAP(event_cost_3),
     .from = COSTATE_ANY_MODE, .to = COSTATE_SAME_MODE}};
static const double units_p[] = {0.8, 0.8};
#define UNITS_EVENTS(way) { \
    {.guard = MAP(guard_0), .jump = MAP(jump_0), .cost = MAP(event_cost_0), .direction = way, .from = 0, \
     .to = COSTATE_SAME_MODE, .passes = 1}, \
    {.guard = MAP(guard_1), .jump = MAP(jump_1), .cost = MAP(event_cost_1), .direction = way, .from = 0, .to = 1}, \
    {.guard = MAP(guard_2), .jump = MAP(jump_2), .cost = MAP(event_cost_2), .from = COSTATE_ANY_MODE, \
     .to = COSTATE_SAME_MODE}, \
    {.ntimes = 2, .times = everything_times, .jump = MAP(jump_3), .cost = MAP(event_cost_3), \
     .from = COSTATE_ANY_MODE, .to = COSTATE_SAME_MODE}}
static const costate_event units_rise[] = UNITS_EVENTS(1), units_fall[] = UNITS_EVENTS(-1);
/* the third is as it was, and sees no y' */
#define SLOPES_EVENTS(with) { \
    {.guard = MAP(guard_0), .jump = MAP(jump_0), .cost = MAP(event_cost_0), .direction = 1, .from = 0, .to = 1, \
     .slopes = with}, \
    {.guard = MAP(guard_1), .jump = MAP(jump_1), .cost = MAP(event_cost_1), .from = 1, .to = 0, .slopes = with}, \
    {.guard = MAP(guard_2), .jump = MAP(jump_2), .cost = MAP(event_cost_2), .from = COSTATE_ANY_MODE, \
     .to = COSTATE_SAME_MODE}, \
    {.ntimes = 2, .times = everything_times, .jump = MAP(jump_3), .cost = MAP(event_cost_3), \
     .from = COSTATE_ANY_MODE, .to = COSTATE_SAME_MODE, .slopes = with}}
static const costate_event slopes_events[] = SLOPES_EVENTS(1), rates_events[] = SLOPES_EVENTS(0);
static const costate_event transition_events[] = {
    {.guard = MAP(guard_0), .transition = MAP(transition), .cost = MAP(event_cost_0), .direction = 1, .from = 0,
     .to = 1},
    {.guard = MAP(guard_1), .jump = MAP(jump_1), .cost = MAP(event_cost_1), .from = 1, .to = 0, .slopes = 1},
    {.guard = MAP(guard_2), .jump = MAP(jump_2), .cost = MAP(event_cost_2), .from = COSTATE_ANY_MODE,
     .to = COSTATE_SAME_MODE},
    {.ntimes = 2, .times = everything_times, .transition = MAP(transition), .from = COSTATE_ANY_MODE,
     .to = COSTATE_SAME_MODE}};
#define KEPT_EVENTS(map, callbacks) { \
    {.guard = MAP(guard_0), .map = MAP(callbacks), .cost = MAP(event_cost_0), .direction = 1, .from = 0, .to = 1, \
     .slopes = 1}, \
    {.guard = MAP(guard_1), .jump = MAP(jump_1), .cost = MAP(event_cost_1), .from = 1, .to = 0, .slopes = 1}}
static const costate_event kept_by_jump[] = KEPT_EVENTS(jump, jump_0),
                           kept_by_transition[] = KEPT_EVENTS(transition, transition);
static const costate_event H1_events[] = {{.guard = MAP(guard_0), .direction = 1, .from = 0, .to = 1},
                                          {.guard = MAP(guard_1), .direction = -1, .from = 1, .to = 0}};
static const costate_event H2a_events[] = {{.guard = MAP(guard_0), .jump = MAP(jump_0), .direction = -1}};
static const costate_event spring_events[] = {
    {.guard = MAP(guard_0), .jump = MAP(jump_0), .direction = -1, .from = 0, .to = 1},
    {.guard = MAP(guard_1), .jump = MAP(jump_1), .direction = 1, .from = 1, .to = 0}};

static const int of_all[] = {0, 1, 2, 3}, without_z[] = {0, 1, -1, 2};
static const double H1_p[] = {2.9, 4, 1, 10, 2, 0};
static const double H1_value[] = {4.998842406217275130731, 20.02907465335959446775};
static const double H1_by_p[] = {
    -0.001574107947666248645747, 0.001560839070455807893489, -0.003442555409702782725214, 0.4997307334338611481811,
    -2.494266098691741618984, 0.0005787968913624346345935, -2.311953107443890515511, 1.883144670451588358974,
    -3.800721967791269122404, 1.645259046976873727987, -7.609654903028520203729, 1.249710601554318782683};
static const hybrid_reference H1_reference = {3, 2, of_all, H1_value, H1_by_p};

static const double H2a_p[] = {0.8, 9.81, 1, 0};
static const double H2a_value[] = {
    0.06870746096576572204081, -0.01535413338474475931973, 0.9159617138206598133265, 4.492264734530238628929};
static const double H2a_by_p[] = {
    1.163887720985078629163, -0.002347726817239259834821, 0.0917386610428828610204, 0.001565151211492839889881,
    85.03687628886169287639, -1.500782575605746419945, 14.70732293330762762034, 1, 3.794352961944650395698,
    -0.03617937466479931942936, 1.270881379282341136929, 0.09493298053356108847698, 21.52369996381588116523,
    0.2289815677190740789637, 6.738220289736360543224, -0.00001201577023427795919087};
static const hybrid_reference H2a_reference = {6, 4, of_all, H2a_value, H2a_by_p};

static const double H5a_p[] = {4, 2.5, 0.5, 0.125, 0.1, 1, 0.25};
static const double H5a_value[] = {
    -0.5790163365609399704279, -0.5396679141862930947936, 0.3566295585909707562968, 1.719406085742760341613};
static const double H5a_by_p[] = {
    -0.5594294270515026138705, 0.3769439465348985817234, 2.52726661337610919432, 1.2323897938549877444, 1,
    -0.5566921475097759063912, -0.4892967562046562561467, -0.2769867436447726798465, -0.3189713015907809958381,
    3.129355206512332448779, 3.195117993097565397925, 0, -0.4809757903489744046449, -0.2347684953492747605947,
    -0.3867902060107444570813, -0.8698471676096287081767, 8.746479939454693646274, -1.842021647111027424698, 0,
    0.4212085207714187962825, -0.258315848721792159943, 1.324879228774689774096, -2.463572312225092642234,
    3.880051272879586619572, -6.710220081755177736218, -4.039741064945798908225, 3.409737970180613701677,
    1.732193231197947489485};
static const hybrid_reference H5a_reference = {5, 4, without_z, H5a_value, H5a_by_p},
                              H5a_dae_reference = {5, 4, of_all, H5a_value, H5a_by_p};

static const double H6_p[] = {315.8273408348594758027, 9.869604401089358618834, 205, 0, 1, 1, 0.5};
static const double H6_value[] = {
    -0.03805399384515159122866, -1.058071653605065479389, -1.121816246678916282706, 0.04993978860638280573746};
static const double H6_by_p[] = {
    -0.0001100032603582494103289, -0.0016128625690178463628, 0.0001627024466348351007343, 0,
    0.05536034499665184405951, -0.05066035271164144848138, -0.009399984570020791156263, 0.0001020007463337063714744,
    -0.0369591988044523847372, -0.00006584506764167679344535, 0, 1.404127939175023514541, -0.3325580467034142924962,
    -2.14313978494321844409, -0.003524713052809859406125, -0.0515332849644385155222, 0.005245996010427764060297, 0,
    0.5463847046247803257336, -0.4999976400835556753884, -0.09277412908244930069044, -0.0000133664388395709155589,
    0.00326679015764610144601, -0.000001530224960043961405298, 0, -0.1275863207781624947501,
    0.02802043968220589536325, 0.1991317621919131987736};
static const hybrid_reference H6_reference = {19, 4, without_z, H6_value, H6_by_p},
                              H6_dae_reference = {19, 4, of_all, H6_value, H6_by_p};

static const int index_1[] = {0, 0, 1}, index_2[] = {0, 0, 0, 2};

#define EVERYTHING(f) \
    {f, everything_cost, everything_guard_0, everything_jump_0, everything_event_cost, \
     everything_guard_1, everything_jump_1, everything_event_cost, everything_guard_2, everything_jump_2, \
     everything_event_cost, NULL, everything_jump_3, everything_event_cost}
#define BOTH_WAYS(name, form, n, M, index, f) \
    {name, form, n, 2, 2, 2, 4, 0, 0.1, 1.75, everything_p, M, index, everything_start, EVERYTHING(f), \
     everything_events, NULL}, \
    {name " backwards", form, n, 2, 2, 2, 4, 0, 1.75, 0.1, everything_p, M, index, everything_start_back, \
     EVERYTHING(f), everything_events, NULL}
#define UNITS(f) \
    {f, everything_cost, units_guard_0, units_jump_0, everything_event_cost, units_guard_1, units_jump_1, \
     everything_event_cost, units_guard_2, everything_jump_2, everything_event_cost, NULL, units_jump_3, \
     everything_event_cost}
#define UNITS_FORTH(name, form, n, M, index, f, start) \
    {name, form, n, 2, 2, 2, 4, 0, 0.1, 1.75, units_p, M, index, start, UNITS(f), units_rise, NULL}
#define UNITS_BACK(name, form, n, M, index, f) \
    {name " backwards", form, n, 2, 2, 2, 4, 0, 1.75, 0.1, units_p, M, index, units_start_back, UNITS(f), units_fall, \
     NULL}
#define SLOPES(f) \
    {f, everything_cost, slopes_guard_0, slopes_jump_0, slopes_event_cost, slopes_guard_1, slopes_jump_1, \
     slopes_event_cost, everything_guard_2, everything_jump_2, everything_event_cost, NULL, slopes_jump_3, \
     slopes_event_cost}
#define TRANSITIONS(f) \
    {f, everything_cost, everything_guard_0, NULL, everything_event_cost, slopes_guard_1, slopes_jump_1, \
     slopes_event_cost, everything_guard_2, everything_jump_2, everything_event_cost, NULL, NULL, NULL, transition_T}
#define KEPT \
    HYBRID_RESIDUAL, 3, 2, 2, 2, 2, 0, 0.1, 1.75, everything_p, NULL, index_1, everything_start, \
    {everything_residual, everything_cost, slopes_guard_0, kept_jump, slopes_event_cost, slopes_guard_1, \
     slopes_jump_1, slopes_event_cost, NULL, NULL, NULL, NULL, NULL, NULL, kept_T}
#define SLOPES_FORTH(name, form, n, M, index, f, events) \
    {name, form, n, 2, 2, 2, 4, 0, 0.1, 1.75, everything_p, M, index, everything_start, SLOPES(f), events, NULL}
#define SLOPES_BACK(name, form, n, M, index, f, events) \
    {name " backwards", form, n, 2, 2, 2, 4, 0, 1.75, 0.1, everything_p, M, index, everything_start_back, SLOPES(f), \
     events, NULL}
#define SPRING(name, form, n, T, of, M, index) \
    {#name #of, form, n, 7, 1, 2, 2, 0, 0, T, name##_p, M, index, name##_start, \
     {name##_f, name##_r, speed, name##_jump, NULL, speed, name##_jump}, spring_events, &name##of##_reference}

static const hybrid table[] = {
    BOTH_WAYS("everything", HYBRID_ODE, 2, NULL, NULL, everything_ode),
    BOTH_WAYS("everything, M singular", HYBRID_MASS, 3, everything_M, NULL, everything_mass),
    BOTH_WAYS("everything, residual", HYBRID_RESIDUAL, 3, NULL, index_1, everything_residual),
    BOTH_WAYS("everything, index 2", HYBRID_INDEX_2, 4, NULL, index_2, everything_index_2),
    SLOPES_FORTH("slopes, residual", HYBRID_RESIDUAL, 3, NULL, index_1, everything_residual, slopes_events),
    SLOPES_BACK("slopes, index 2", HYBRID_INDEX_2, 4, NULL, index_2, everything_index_2, slopes_events),
    {"transitions, residual", HYBRID_RESIDUAL, 3, 2, 2, 2, 4, 0, 0.1, 1.75, everything_p, NULL, index_1,
     everything_start, TRANSITIONS(everything_residual), transition_events, NULL},
    UNITS_FORTH("together", HYBRID_ODE, 2, NULL, NULL, everything_ode, units_start),
    UNITS_BACK("together", HYBRID_ODE, 2, NULL, NULL, everything_ode),
    UNITS_FORTH("together, at the start", HYBRID_ODE, 2, NULL, NULL, everything_ode, units_start_there),
    UNITS_FORTH("together, M singular", HYBRID_MASS, 3, everything_M, NULL, everything_mass, units_start),
    UNITS_FORTH("together, residual, at the start", HYBRID_RESIDUAL, 3, NULL, index_1, everything_residual,
                units_start_there),
    UNITS_FORTH("together, index 2", HYBRID_INDEX_2, 4, NULL, index_2, everything_index_2, units_start),
    {"H1", HYBRID_ODE, 1, 6, 1, 0, 2, 0, 0, 5, H1_p, NULL, NULL, H1_start, {H1_f, first_r, H1_guard, NULL, NULL,
     H1_guard}, H1_events, &H1_reference},
    {"H2a", HYBRID_ODE, 2, 4, 2, 0, 1, 0, 0, 3, H2a_p, NULL, NULL, H2a_start, {H2a_f, H2a_r, H2a_guard, H2a_jump},
     H2a_events, &H2a_reference},
    SPRING(H5a, HYBRID_ODE, 2, 6, , NULL, NULL),
    SPRING(H5a, HYBRID_MASS, 3, 6, _dae, spring_M, NULL),
    SPRING(H6, HYBRID_ODE, 2, 10, , NULL, NULL),
    SPRING(H6, HYBRID_MASS, 3, 10, _dae, spring_M, NULL),
};

/* to compare with, by name alone */
static const hybrid others[] = {
    SLOPES_BACK("slopes, residual", HYBRID_RESIDUAL, 3, NULL, index_1, everything_residual, slopes_events),
    SLOPES_FORTH("slopes, M singular", HYBRID_MASS, 3, everything_M, NULL, everything_mass, rates_events),
    SLOPES_BACK("slopes, M singular", HYBRID_MASS, 3, everything_M, NULL, everything_mass, rates_events),
    {"transitions, index 2", HYBRID_INDEX_2, 4, 2, 2, 2, 4, 0, 0.1, 1.75, everything_p, NULL, index_2,
     everything_start, TRANSITIONS(everything_index_2), transition_events, NULL},
    {"kept, by a jump", KEPT, kept_by_jump, NULL},
    {"kept, by a transition", KEPT, kept_by_transition, NULL},
};

const hybrid *hybrid_at(int k) { return k < (int)(sizeof table / sizeof *table) ? &table[k] : NULL; }

int hybrid_is_even(const hybrid *h) { return h->map[HYBRID_GUARD] == units_guard_0; }

const hybrid *hybrid_find(const char *name)
{
    const hybrid *h;
    for (int k = 0; (h = hybrid_at(k)); k++) if (strcmp(h->name, name) == 0) return h;
    for (h = others; h < others + sizeof others / sizeof *others; h++) if (strcmp(h->name, name) == 0) return h;
    return NULL;
}

int hybrid_takes(const costate_method *m, const hybrid *h)
{
    costate_method_info i;
    if (costate_method_describe(m, &i) != COSTATE_OK) return 0;
    int newton = is_newton(m) && !(i.properties & COSTATE_EXPLICIT_FIRST);
    switch (h->form) {
    case HYBRID_ODE: return 1;
    case HYBRID_MASS: return (i.properties & COSTATE_DAE) != 0;
    case HYBRID_RESIDUAL: return newton && i.properties & COSTATE_DAE;
    default: return i.family == COSTATE_FIRK && i.properties & COSTATE_STIFFLY_ACCURATE;
    }
}

costate_problem hybrid_problem(const hybrid *h)
{
    int residual = h->form >= HYBRID_RESIDUAL;
    costate_problem P = {.n = h->n, .np = h->np, .nq = h->nq, .nm = h->nm, .ctx = (void *)h, .nevents = h->nevents,
                         .event = h->event, .index = h->index, .jac = jac, .cost = MAP(cost)};
    *(residual ? &P.residual : &P.rhs) = (costate_map)MAP(rhs);
    P.jac_yp = residual ? jac_yp : NULL;
    P.mass = h->M ? mass : NULL;
    return P;
}

void hybrid_start(const hybrid *h, const double *p, double *y, double *dy_dp)
{
    int N = h->n + h->nq + h->nm;
    num q[NUMS_P] = {{0}}, s[NUMS_N], m[NUMS_M];
    for (int j = -1; j < (dy_dp ? h->np : 0); j++) {
        double *by = dy_dp ? dy_dp + (j > 0 ? j : 0) * N : NULL;
        for (int i = 0; i < h->np; i++) q[i] = moving(p[i], i == j, 0);
        h->start(q, s, m);
        for (int i = 0; i < N; i++) {
            num at = i < h->n ? s[i] : i < h->n + h->nq ? number(0) : m[i - h->n - h->nq];
            y[i] = at.v;
            if (by) by[i] = at.a;
        }
    }
}
