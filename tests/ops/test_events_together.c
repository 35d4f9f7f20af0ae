/* test_events_together.c - events that fire together, and events at the start, each have a time of their own: gradients
   and Hessian products are those of closed forms, of runs from either side, with steps frozen, carried and resumed.

   bank          tanks that are emptied, or bodies that fall: h_i' = -(a_i + c_i t) until h_i = L_i; then m_i = 1 counts
                 the time, q_i' = m_i, or h_i is set to r_i and goes on
   thermostat    T' = -k (T - u) + P mode, from its threshold
   rectifier     a phase, phi' = w; the current flows, q' = mode, from sin phi = 0 on */
#include <unistd.h>
#include "common.h"

enum { MOST = 3, IN_MOST = 32, N_ALL = 3 * MOST };
enum kind { TANKS, RESETS, THERMOSTAT, RECTIFIER };

typedef struct {
    enum kind kind;
    int n, np, nq, nm, N;
    double t1, p[4 * MOST], y0[N_ALL];
    const char *say;
    double leak;                /* not 0: the first event also stops the second tank but for this part */
} system_of;

/* ---- closed forms: the functional, sum over outputs of x + x^2/2, from z = (y0, p) ---- */

typedef long double real;

/* the time at which h - a t - c t^2/2 is L, with the sign of h - L over a */
static real emptied(real h, real L, real a, real c)
{
    return (h - L) * 2 / (a + copysignl(sqrtl(a * a + 2 * c * (h - L)), a));
}

static real of_output(real x) { return x + x * x / 2; }

static real functional(const system_of *s, const real *z)
{
    const real *y = z, *p = z + s->N;
    real sum = 0, t1 = s->t1;
    if (s->kind == THERMOSTAT) {                /* p: k, u, P, L */
        real on = logl((y[0] - p[1]) / (p[3] - p[1])) / p[0], rest = p[1] + p[2] / p[0];
        return of_output(rest + (p[3] - rest) * expl(-p[0] * (t1 - on)));
    }
    if (s->kind == RECTIFIER) return of_output(t1 + y[0] / p[0]);       /* p: w */
    for (int i = 0; i < s->n; i++) {            /* p: a, c, L, r */
        real a = p[i], c = p[MOST + i], L = p[2 * MOST + i], T = emptied(y[i], L, a, c);
        if (s->kind == TANKS) sum += (i + 1) * of_output(t1 - T);
        else sum += (i + 1) * of_output(p[3 * MOST + i] - a * (t1 - T) - c * (t1 * t1 - T * T) / 2);
    }
    return sum;
}

/* derivatives of functional: of 4th order, of 80 bits or more */
static real along(const system_of *s, const real *z, int in, int i, int j, real e)
{
    real d = 0;
    static const real w[] = {1.0L / 12, -2.0L / 3, 0, 2.0L / 3, -1.0L / 12};
    for (int k = 0; k < 5; k++) {
        real at[IN_MOST];
        memcpy(at, z, (size_t)in * sizeof *z);
        at[i] += (k - 2) * e;
        if (k != 2) d += w[k] / e * (j < 0 ? functional(s, at) : along(s, at, in, j, -1, e));
    }
    return d;
}

/* ---- the maps ---- */

static int f(const costate_point *x, double *out, void *ctx)
{
    const system_of *s = ctx;
    const double *p = x->p;
    if (s->kind == THERMOSTAT) return out[0] = -p[0] * (x->y[0] - p[1]) + p[2] * x->mode, 0;
    if (s->kind == RECTIFIER) return out[0] = p[0], 0;
    for (int i = 0; i < s->n; i++) out[i] = -(p[i] + p[MOST + i] * x->t) * (1 - (s->nm ? x->m[i] : 0));
    return 0;
}
/* the derivative of f_i along dx */
static double f_along(const system_of *s, const costate_point *x, const costate_point *dx, int i)
{
    const double *p = x->p;
    double dy = dx->y ? dx->y[i] : 0, dm = dx->m ? dx->m[i] : 0, by_p[4 * MOST] = {0};
    if (dx->p) memcpy(by_p, dx->p, (size_t)s->np * sizeof *by_p);
    if (s->kind == THERMOSTAT) return -by_p[0] * (x->y[0] - p[1]) - p[0] * (dy - by_p[1]) + by_p[2] * x->mode;
    if (s->kind == RECTIFIER) return by_p[0];
    double rate = by_p[i] + by_p[MOST + i] * x->t + p[MOST + i] * dx->t;
    return -rate * (1 - (s->nm ? x->m[i] : 0)) + (p[i] + p[MOST + i] * x->t) * dm;
}
static int f_tangent(const costate_point *x, const costate_point *dx, double *out, void *ctx)
{
    const system_of *s = ctx;
    for (int i = 0; i < s->n; i++) out[i] = f_along(s, x, dx, i);
    return 0;
}
static int f_adjoint(const costate_point *x, const double *w, const costate_gradient *g, void *ctx)
{
    const system_of *s = ctx;
    const double *p = x->p;
    if (s->kind == RECTIFIER) { if (g->p) g->p[0] += w[0]; return 0; }
    if (s->kind == THERMOSTAT) {
        if (g->y) g->y[0] -= p[0] * w[0];
        if (!g->p) return 0;
        g->p[0] -= w[0] * (x->y[0] - p[1]);
        g->p[1] += w[0] * p[0];
        g->p[2] += w[0] * x->mode;
        return 0;
    }
    for (int i = 0; i < s->n; i++) {
        double runs = 1 - (s->nm ? x->m[i] : 0);
        if (g->t) *g->t -= w[i] * p[MOST + i] * runs;
        if (g->p) { g->p[i] -= w[i] * runs; g->p[MOST + i] -= w[i] * x->t * runs; }
        if (g->m) g->m[i] += w[i] * (p[i] + p[MOST + i] * x->t);
    }
    return 0;
}
static int f_second(const costate_point *x, const costate_point *dx, const double *w, const costate_gradient *g,
                    void *ctx)
{
    const system_of *s = ctx;
    (void)x;
    if (s->kind == RECTIFIER) return 0;
    double dp[4 * MOST] = {0};
    if (dx->p) memcpy(dp, dx->p, (size_t)s->np * sizeof *dp);
    if (s->kind == THERMOSTAT) {
        if (g->y) g->y[0] -= dp[0] * w[0];
        if (g->p) { g->p[0] -= w[0] * ((dx->y ? dx->y[0] : 0) - dp[1]); g->p[1] += w[0] * dp[0]; }
        return 0;
    }
    for (int i = 0; i < s->n; i++) {
        double runs = 1 - (s->nm ? x->m[i] : 0), dm = s->nm && dx->m ? dx->m[i] : 0;
        if (g->t) *g->t -= w[i] * (dp[MOST + i] * runs - x->p[MOST + i] * dm);
        if (g->p) { g->p[i] += w[i] * dm; g->p[MOST + i] += w[i] * (x->t * dm - dx->t * runs); }
        if (g->m) g->m[i] += w[i] * (dp[i] + dp[MOST + i] * x->t + x->p[MOST + i] * dx->t);
    }
    return 0;
}

/* directions of unit i: a + c t without t', c, t, m; of the thermostat k, y - u */
typedef struct { double rate, c, t, m, k, y; } unit_of;

static unit_of unit(const system_of *s, const costate_point *x, const costate_point *dx, int i)
{
    unit_of d = {.t = dx->t};
    if (s->kind == THERMOSTAT)
        return (unit_of){.k = dx->p ? dx->p[0] : 0, .y = (dx->y ? dx->y[0] : 0) - (dx->p ? dx->p[1] : 0)};
    if (s->kind == RECTIFIER) return d;
    d.c = dx->p ? dx->p[MOST + i] : 0;
    d.rate = (dx->p ? dx->p[i] : 0) + d.c * x->t + x->p[MOST + i] * d.t;
    d.m = s->nm && dx->m ? dx->m[i] : 0;
    return d;
}
static int f_tangent2(const costate_point *x, const costate_point *a, const costate_point *b, double *out, void *ctx)
{
    const system_of *s = ctx;
    for (int i = 0; i < s->n; i++) {
        unit_of u = unit(s, x, a, i), v = unit(s, x, b, i);
        out[i] = u.rate * v.m + v.rate * u.m - (u.c * v.t + v.c * u.t) * (1 - (s->nm ? x->m[i] : 0));
        out[i] -= u.k * v.y + v.k * u.y;
    }
    return 0;
}
static int f_third(const costate_point *x, const costate_point *a, const costate_point *b, const double *w,
                   const costate_gradient *g, void *ctx)
{
    const system_of *s = ctx;
    for (int i = 0; i < s->n && s->nm; i++) {
        unit_of u = unit(s, x, a, i), v = unit(s, x, b, i);
        if (g->t) *g->t += w[i] * (u.c * v.m + v.c * u.m);
        if (g->p) g->p[MOST + i] += w[i] * (u.t * v.m + v.t * u.m);
        if (g->m) g->m[i] += w[i] * (u.c * v.t + v.c * u.t);
    }
    return 0;
}

static int rate(const costate_point *x, double *out, void *ctx)
{
    const system_of *s = ctx;
    if (s->kind == RECTIFIER) return out[0] = x->mode, 0;
    return memcpy(out, x->m, (size_t)s->nq * sizeof *out), 0;
}
static int rate_tangent(const costate_point *x, const costate_point *dx, double *out, void *ctx)
{
    const system_of *s = ctx;
    (void)x;
    for (int i = 0; i < s->nq; i++) out[i] = s->nm && dx->m ? dx->m[i] : 0;
    return 0;
}
static int rate_adjoint(const costate_point *x, const double *w, const costate_gradient *g, void *ctx)
{
    const system_of *s = ctx;
    (void)x;
    for (int i = 0; i < s->nm && g->m; i++) g->m[i] += w[i];
    return 0;
}
static int no_second(const costate_point *x, const costate_point *dx, const double *w, const costate_gradient *g,
                     void *ctx)
{
    return (void)x, (void)dx, (void)w, (void)g, (void)ctx, 0;
}

static int rate_tangent2(const costate_point *x, const costate_point *a, const costate_point *b, double *out, void *ctx)
{
    const system_of *s = ctx;
    (void)x, (void)a, (void)b;
    memset(out, 0, (size_t)s->nq * sizeof *out);
    return 0;
}
static int no_third(const costate_point *x, const costate_point *a, const costate_point *b, const double *w,
                    const costate_gradient *g, void *ctx)
{
    return (void)x, (void)a, (void)b, (void)w, (void)g, (void)ctx, 0;
}

/* what an event needs: the system, and which of its guards it has */
typedef struct { const system_of *s; int i; } event_of;

static int level(const costate_point *x, double *e, void *ctx)
{
    const event_of *o = ctx;
    if (o->s->kind == RECTIFIER) e[0] = sin(x->y[0]);
    else e[0] = x->y[o->i] - x->p[o->s->kind == THERMOSTAT ? 3 : 2 * MOST + o->i];
    return 0;
}
static int level_tangent(const costate_point *x, const costate_point *dx, double *e, void *ctx)
{
    const event_of *o = ctx;
    int sine = o->s->kind == RECTIFIER, at = o->s->kind == THERMOSTAT ? 3 : 2 * MOST + o->i;
    e[0] = (dx->y ? dx->y[o->i] : 0) * (sine ? cos(x->y[0]) : 1) - (dx->p && !sine ? dx->p[at] : 0);
    return 0;
}
static int level_adjoint(const costate_point *x, const double *w, const costate_gradient *g, void *ctx)
{
    const event_of *o = ctx;
    int sine = o->s->kind == RECTIFIER, at = o->s->kind == THERMOSTAT ? 3 : 2 * MOST + o->i;
    if (g->y) g->y[o->i] += w[0] * (sine ? cos(x->y[0]) : 1);
    if (g->p && !sine) g->p[at] -= w[0];
    return 0;
}
static int level_second(const costate_point *x, const costate_point *dx, const double *w, const costate_gradient *g,
                        void *ctx)
{
    const event_of *o = ctx;
    if (o->s->kind == RECTIFIER && g->y && dx->y) g->y[0] -= w[0] * sin(x->y[0]) * dx->y[0];
    return 0;
}

/* a tank's m_i = 1; a reset's h_i = r_i */
static int jump(const costate_point *x, double *out, void *ctx)
{
    const event_of *o = ctx;
    memcpy(out, x->y, (size_t)o->s->n * sizeof *out);
    if (o->s->nm) memcpy(out + o->s->n, x->m, (size_t)o->s->nm * sizeof *out);
    if (o->s->kind == TANKS) out[o->s->n + o->i] = 1;
    else out[o->i] = x->p[3 * MOST + o->i];
    if (o->s->leak != 0 && o->i == 0) out[o->s->n + 1] = 1 - o->s->leak;
    return 0;
}
static int jump_tangent(const costate_point *x, const costate_point *dx, double *out, void *ctx)
{
    const event_of *o = ctx;
    (void)x;
    for (int i = 0; i < o->s->n; i++) out[i] = dx->y ? dx->y[i] : 0;
    for (int i = 0; i < o->s->nm; i++) out[o->s->n + i] = dx->m && (o->s->leak == 0 || i != 1) ? dx->m[i] : 0;
    if (o->s->kind == TANKS) out[o->s->n + o->i] = 0;
    else out[o->i] = dx->p ? dx->p[3 * MOST + o->i] : 0;
    return 0;
}
static int jump_adjoint(const costate_point *x, const double *w, const costate_gradient *g, void *ctx)
{
    const event_of *o = ctx;
    int reset = o->s->kind == RESETS;
    (void)x;
    for (int i = 0; i < o->s->n && g->y; i++) if (!reset || i != o->i) g->y[i] += w[i];
    for (int i = 0; i < o->s->nm && g->m; i++)
        if (i != o->i && (o->s->leak == 0 || i != 1)) g->m[i] += w[o->s->n + i];
    if (reset && g->p) g->p[3 * MOST + o->i] += w[o->i];
    return 0;
}

/* ---- a system, its problem ---- */

typedef struct { system_of s; event_of of[MOST]; costate_event event[MOST]; costate_problem P; } whole;

static int count_of(enum kind kind, int n) { return kind == TANKS || kind == RESETS ? n : 2 - (kind == THERMOSTAT); }

/* t1 < 0: back in time, where levels rise; at: where they begin above L */
static void set_up(whole *x, enum kind kind, int n, double t1, double at)
{
    static const char *const names[] = {"tanks", "resets", "thermostat", "rectifier"};
    system_of s = {.kind = kind, .n = n, .t1 = t1, .say = names[kind]};
    double dir = t1 > 0 ? 1 : -1;
    s.nq = kind == TANKS ? n : kind == RECTIFIER;
    s.nm = kind == TANKS ? n : 0;
    s.N = n + s.nq + s.nm;
    s.np = kind == THERMOSTAT ? 4 : kind == RECTIFIER ? 1 : 4 * MOST;
    if (kind == THERMOSTAT) {
        const double p[] = {0.3, 5, 4, 18};
        memcpy(s.p, p, sizeof p);
        s.y0[0] = 18 + at;
    } else if (kind == RECTIFIER) {
        s.p[0] = dir * 0.9;
    } else {
        for (int i = 0; i < n; i++) {
            s.p[i] = dir * 1.3;
            s.p[MOST + i] = 0.4;
            s.p[2 * MOST + i] = 0.25;
            s.p[3 * MOST + i] = 4;
            s.y0[i] = 0.25 + at;
        }
    }
    memset(x, 0, sizeof *x);
    x->s = s;
    const costate_map guard = {.value = level, .tangent = level_tangent, .adjoint = level_adjoint,
                               .adjoint_tangent = level_second},
                      jumps = {.value = jump, .tangent = jump_tangent, .adjoint = jump_adjoint,
                               .adjoint_tangent = no_second};
    for (int i = 0; i < count_of(kind, n); i++) {
        int modes = kind == THERMOSTAT || kind == RECTIFIER;
        x->of[i] = (event_of){&x->s, modes ? 0 : i};
        x->event[i] = (costate_event){.guard = guard, .direction = -1, .ctx = &x->of[i], .passes = 1};
        if (!modes) x->event[i].jump = jumps;
        if (modes) x->event[i].to = 1;
        if (kind == RECTIFIER) x->event[i] = (costate_event){.guard = guard, .direction = i ? -1 : 1, .from = i,
                                                             .to = 1 - i, .ctx = &x->of[i]};
    }
    x->P = (costate_problem){
        .n = n, .np = s.np, .nq = s.nq, .nm = s.nm, .ctx = &x->s, .nevents = count_of(kind, n), .event = x->event,
        .rhs = {.value = f, .tangent = f_tangent, .adjoint = f_adjoint, .tangent2 = f_tangent2,
                .adjoint_tangent = f_second, .adjoint_tangent2 = f_third}};
    if (s.nq) x->P.cost = (costate_map){.value = rate, .tangent = rate_tangent, .adjoint = rate_adjoint,
                                        .tangent2 = rate_tangent2, .adjoint_tangent = no_second,
                                        .adjoint_tangent2 = no_third};
}

static costate_options options_of(const costate_method *m, enum kind kind)
{
    costate_options o = {.rtol = 1e-11, .atol = 1e-12, .derivative_mode = 1};
    if (kind == THERMOSTAT) o.hmax = method_info(m).order == 2 ? 0.002 : 0.02;
    if (!is_explicit(m)) o.solver = COSTATE_LS_DENSE;
    return o;
}

/* ---- the functional over a run ---- */

static int output(const system_of *s, int i) { return s->nq ? s->n + i : i; }
static int outputs(const system_of *s) { return s->nq ? s->nq : s->n; }

static int seed2(double t1, const double *y, const double *p, int m, const double *V, const double *Vp, double *lambda,
                 double *mu, double *lambda2, double *mu2, void *ctx)
{
    const system_of *s = ctx;
    (void)t1, (void)p, (void)Vp, (void)mu, (void)mu2;
    memset(lambda, 0, (size_t)s->N * sizeof *lambda);
    for (int i = 0; i < s->N * m; i++) lambda2[i] = 0;
    for (int i = 0; i < outputs(s); i++) {
        int k = output(s, i);
        lambda[k] = (i + 1) * (1 + y[k]);
        for (int j = 0; j < m; j++) lambda2[j * s->N + k] = (i + 1) * V[j * s->N + k];
    }
    return 0;
}

static double value_of(const system_of *s, const double *y)
{
    double sum = 0;
    for (int i = 0; i < outputs(s); i++) sum += (i + 1) * (double)of_output(y[output(s, i)]);
    return sum;
}

static void agrees(const costate_method *m, const system_of *s, const char *what, int i, int j, double a, double b,
                   double size)
{
    double most = s->kind == THERMOSTAT && method_info(m).order == 2 ? 1e-6 : 1e-10;      /* of the steps */
    if (!(fabs(a - b) <= most * size))
        fail_msg("%s, %s to t1 = %g, %s %d %d: %.15g for %.15g", method_name(m), s->say, s->t1, what, i, j, a, b);
}

/* Gradient and Hessian over a tape, against those of the closed form.  Memory counts from 0. */
static void compare(costate *c, const costate_method *m, const whole *x, const costate_tape *tape)
{
    const system_of *s = &x->s;
    int N = s->N, in = N + s->np;
    real z[IN_MOST] = {0};
    double V[IN_MOST * N_ALL] = {0}, Vp[IN_MOST * 4 * MOST] = {0}, g[N_ALL], mu[4 * MOST] = {0},
           H[IN_MOST * N_ALL] = {0}, Hp[IN_MOST * 4 * MOST] = {0}, size = 0, size2 = 0;
    for (int i = 0; i < N; i++) z[i] = s->y0[i];
    for (int i = 0; i < s->np; i++) z[N + i] = s->p[i];
    for (int i = 0; i < in; i++) {
        if (i < N) V[i * N + i] = 1;
        else Vp[i * s->np + i - N] = 1;
    }
    costate_second second = {.m = in, .V = V, .Vp = Vp, .seed = seed2, .ctx = (void *)s, .lambda = g, .mu = mu,
                             .lambda2 = H, .mu2 = Hp};
    CHECK_OK(c, costate_hessian(c, tape, &second));
    for (int pass = 0; pass < 2; pass++)
        for (int i = 0; i < in; i++) {
            if (i >= s->n && i < N) continue;               /* of q and m */
            double exact = (double)along(s, z, in, i, -1, 1e-3L);
            size = fmax(size, fabs(exact));
            if (pass) agrees(m, s, "gradient", i, -1, i < N ? g[i] : mu[i - N], exact, size);
            for (int j = 0; j < in; j++) {
                if (j >= s->n && j < N) continue;
                double twice = (double)along(s, z, in, i, j, 1e-3L);
                size2 = fmax(size2, fabs(twice));
                if (pass) agrees(m, s, "Hessian", i, j, j < N ? H[i * N + j] : Hp[i * s->np + j - N], twice, size2);
            }
        }
}

static costate_tape *run(costate *c, const whole *x, const double *p, int events, double *y)
{
    costate_tape *tape = costate_tape_new();
    memcpy(y, x->s.y0, (size_t)x->s.N * sizeof *y);
    CHECK_OK(c, costate_integrate(c, 0, x->s.t1, y, p, tape));
    assert_int_equal(costate_tape_events(tape), events);
    return tape;
}

static const struct { enum kind kind; int n; double t1, at; int events; } cases[] = {
    {TANKS, 2, 1.7, 1, 2}, {TANKS, 3, 1.7, 1, 3}, {TANKS, 2, -1.1, 1, 2}, {RESETS, 2, 1.7, 1, 2},
    {RESETS, 3, -1.1, 1, 3}, {TANKS, 1, 1.7, 0, 1}, {TANKS, 3, 1.7, 0, 3}, {TANKS, 2, -1.1, 0, 2},
    {RESETS, 2, 1.1, 0, 2},
    {THERMOSTAT, 1, 2, 0, 1}, {RECTIFIER, 1, 2.5, 0, 1}, {RECTIFIER, 1, -2.5, 0, 1},
};

/* first and second derivatives of closed forms; those of the frozen run; what the run says */
static void closed_forms(void **state)
{
    const costate_method *m = *state;
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        whole x;
        double y[N_ALL];
        set_up(&x, cases[k].kind, cases[k].n, cases[k].t1, cases[k].at);
        costate_options o = options_of(m, x.s.kind);
        costate *c = costate_new(m, &x.P, &o);
        costate_tape *tape = run(c, &x, x.s.p, cases[k].events, y);
        assert_int_equal(strstr(costate_message(c), "fire at the same time") != NULL, cases[k].events > 1);
        real z[IN_MOST] = {0};
        for (int i = 0; i < x.s.N; i++) z[i] = x.s.y0[i];
        for (int i = 0; i < x.s.np; i++) z[x.s.N + i] = x.s.p[i];
        double exact = (double)functional(&x.s, z);
        agrees(m, &x.s, "value", 0, 0, value_of(&x.s, y), exact, fmax(1, fabs(exact)));
        compare(c, m, &x, tape);
        costate_report r;
        if (costate_check_adjoint(c, 0, x.s.t1, x.s.y0, x.s.p, &r) ||
            costate_check_hessian(c, 0, x.s.t1, x.s.y0, x.s.p, seed2, &x.s, &r))
            fail_msg("%s, %s: %s", method_name(m), x.s.say, r.text);
        assert_int_equal(strstr(r.text, "from one side") != NULL, cases[k].events > 1);
        costate_tape_free(tape);
        costate_free(c);
    }
}

/* Runs from either side, where the events are apart, have the value, and so the derivative, of the closed form. */
static void either_side(void **state)
{
    for (int k = 0; k < 5; k++)
        for (int way = -1; way <= 1; way += 2) {
            whole x;
            double y[N_ALL], p[4 * MOST];
            set_up(&x, cases[k].kind, cases[k].n, cases[k].t1, cases[k].at);
            costate_options o = options_of(*state, x.s.kind);
            costate *c = costate_new(*state, &x.P, &o);
            memcpy(p, x.s.p, sizeof p);
            for (int i = 0; i < x.s.n; i++) p[i] += way * (i + 1) * 1e-3;
            costate_tape_free(run(c, &x, p, cases[k].events, y));
            assert_null(strstr(costate_message(c), "at the same time"));
            real z[IN_MOST] = {0};
            for (int i = 0; i < x.s.N; i++) z[i] = x.s.y0[i];
            for (int i = 0; i < x.s.np; i++) z[x.s.N + i] = p[i];
            agrees(*state, &x.s, "value beside it", k, way, value_of(&x.s, y), (double)functional(&x.s, z), 1);
            costate_free(c);
        }
}

/* tapes: states alone, checkpoints, in a file that another solver reads; and of the time of each event */
static void stores(void **state)
{
    char path[64];
    snprintf(path, sizeof path, "together_%ld.tape", (long)getpid());
    for (int k = 0; k < 4; k++) {
        whole x;
        double y[N_ALL], events[4 * MOST];
        set_up(&x, TANKS, 3, 1.7, k % 2);
        costate_options o = options_of(*state, x.s.kind);
        o.storage = k == 3 ? COSTATE_ALL_STAGES : k;
        o.checkpoints = k == COSTATE_CHECKPOINTS ? 300 : 0;
        costate *c = costate_new(*state, &x.P, &o), *other = costate_new(*state, &x.P, &o);
        costate_tape *tape = k == 3 ? costate_tape_open(path) : costate_tape_new(), *read = tape;
        memcpy(y, x.s.y0, sizeof y);
        CHECK_OK(c, costate_integrate(c, 0, x.s.t1, y, x.s.p, tape));
        if (k == 3) {
            costate_tape_free(tape);
            read = costate_tape_open(path);
            CHECK_OK(other, costate_tape_read(other, read));
        }
        compare(k == 3 ? other : c, *state, &x, read);
        double lambda[3 * N_ALL] = {0};
        costate_times times = {.events = events};
        for (int i = 0; i < 3; i++) lambda[i * x.s.N + x.s.n + i] = 1;
        costate *by = k == 3 ? other : c;
        CHECK_OK(by, costate_adjoint(by, read, 3, lambda, NULL, &times, NULL));
        /* the time that is counted, by what is added to a guard: each has its own */
        double slope = sqrt(x.s.p[0] * x.s.p[0] + 2 * x.s.p[MOST] * (x.s.y0[0] - x.s.p[2 * MOST]));
        for (int i = 0; i < 3; i++)
            for (int j = 0; j < 3; j++)
                agrees(*state, &x.s, "by a guard", i, j, events[i * 3 + j], i == j ? -1 / slope : 0, 1);
        costate_tape_free(read);
        costate_free(c);
        costate_free(other);
    }
    unlink(path);
}

/* Two events of one guard: the first stops it, or moves it off zero, so that the second shares its time.  An event that
   leaves another unit almost no slope does so, too. */
static void dependent(void **state)
{
    for (int k = 0; k < 4; k++) {
        whole x;
        double y[N_ALL];
        event_of other = {&x.s, 0};
        set_up(&x, k == 1 ? RESETS : TANKS, k != 2 ? 1 : 2, 1.7, 1);
        if (k != 2) {
            x.event[1] = x.event[0];
            if (k < 2) x.event[1].ctx = &other;     /* another guard, as far as the library knows */
            x.P.nevents = 2;
        } else x.s.leak = 1e-9;
        costate_options o = options_of(*state, x.s.kind);
        costate *c = costate_new(*state, &x.P, &o);
        costate_tape *tape = run(c, &x, x.s.p, 2, y);
        assert_int_equal(strstr(costate_message(c), "the second depends on the first") != NULL, k < 3);
        assert_int_equal(strstr(costate_message(c), "at the same time") != NULL, k < 3);
        if (k != 2) compare(c, *state, &x, tape);
        double lambda[N_ALL] = {0}, mu[4 * MOST] = {0}, slope = sqrt(1.3 * 1.3 + 2 * 0.4);
        lambda[x.s.n + 1] = 1;
        if (k == 2) {
            CHECK_OK(c, costate_adjoint(c, tape, 1, lambda, mu, NULL, NULL));
            agrees(*state, &x.s, "the start of the other", 0, 0, lambda[0], -1 / slope, 1);
            agrees(*state, &x.s, "its own start", 1, 0, lambda[1], 0, 10);
        }
        costate_tape_free(tape);
        costate_free(c);
    }
}

/* What at_start says, directions, and guards that rest or go the other way; nothing is said twice by a run that goes
   on. */
static void at_the_start(void **state)
{
    static const struct { int direction, at_start; double a, c; int events; } told[] = {
        {-1, COSTATE_START_DEFAULT, 1, 0, 1}, {-1, COSTATE_START_IGNORE, 1, 0, 0}, {-1, COSTATE_START_FIRE, 1, 0, 1},
        {0, COSTATE_START_DEFAULT, 1, 0, 0}, {0, COSTATE_START_FIRE, 1, 0, 1}, {1, COSTATE_START_DEFAULT, 1, 0, 0},
        {-1, COSTATE_START_DEFAULT, 0, 0, 0}, {-1, COSTATE_START_DEFAULT, 0, 1, 0}, {1, COSTATE_START_DEFAULT, 0, 1, 0},
        {-1, COSTATE_START_FIRE, 0, 1, 1},
        {-1, COSTATE_START_DEFAULT, -1, 0, 0}, {1, COSTATE_START_DEFAULT, -1, 0, 1},
        {-1, COSTATE_ZERO_FALSE, 1, 0, 1}, {-1, COSTATE_ZERO_TRUE, 1, 0, 0}, {-1, COSTATE_ZERO_FALSE, 0, 0, 0},
        {-1, COSTATE_ZERO_FALSE, 0, 1, 1}, {-1, COSTATE_ZERO_TRUE, 0, 1, 0}, {1, COSTATE_ZERO_FALSE, 0, 1, 0},
        {1, COSTATE_ZERO_FALSE, 1, 0, 0}, {1, COSTATE_ZERO_TRUE, -1, 0, 0}, {1, COSTATE_ZERO_FALSE, -1, 0, 1},
    };
    for (size_t k = 0; k < sizeof told / sizeof *told; k++) {
        whole x;
        double y[N_ALL];
        set_up(&x, TANKS, 1, 1, 0);
        x.event[0].direction = told[k].direction;
        x.event[0].at_start = told[k].at_start;
        x.s.p[0] = told[k].a;
        x.s.p[MOST] = told[k].c;
        costate_options o = options_of(*state, x.s.kind);
        costate *c = costate_new(*state, &x.P, &o);
        costate_tape *tape = run(c, &x, x.s.p, told[k].events, y);
        double counted = y[1];
        agrees(*state, &x.s, "counted", (int)k, 0, counted, told[k].events, 1);
        CHECK_OK(c, costate_continue(c, tape, 2, y));
        assert_int_equal(costate_tape_events(tape), told[k].events + 1);        /* and the place where it went on */
        costate_tape_free(tape);
        costate_free(c);
    }
}

int main(void)
{
    static const char *const names[] = {"tsit5", "rodas4", "radau2a", "sdirk4a", "rkc2", "auto"};
    static const struct { const char *say; void (*test)(void **); } all[] = {
        {"closed forms", closed_forms}, {"runs from either side", either_side}, {"stores", stores},
        {"events that depend on others", dependent}, {"at the start", at_the_start}};
    enum { NAMES = sizeof names / sizeof *names };
    int failed = 0;
    for (size_t a = 0; a < sizeof all / sizeof *all; a++) {
        struct CMUnitTest tests[NAMES];
        for (int k = 0; k < NAMES; k++)
            tests[k] = (struct CMUnitTest){names[k], all[a].test, NULL, NULL,
                                           (void *)(uintptr_t)costate_method_find(names[k])};
        failed += cmocka_run_group_tests_name(all[a].say, tests, NULL, NULL);
    }
    return failed;
}
