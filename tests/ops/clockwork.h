/* clockwork.h - a clock and an oscillator, y' = (1, y2, -y1), q' = y1, one memory variable; events of a test's own, and
   a log of what happened.  Guards: t or the clock against p0, y1 against p1. */
#ifndef TESTS_CLOCKWORK_H
#define TESTS_CLOCKWORK_H

#include "common.h"

enum { CLOCK_N = 3, CLOCK_ROWS = 5, CLOCK_M = 4, CLOCK_EVENTS = 4, CLOCK_LOG = 64 };     /* CLOCK_M: row of memory */

typedef struct { int event; double t, before[CLOCK_ROWS], after[CLOCK_ROWS]; } clock_entry;

typedef struct {
    costate_problem P;
    costate_options o;
    costate_event event[CLOCK_EVENTS];
    double p[2], y0[CLOCK_ROWS];
    int count, stop_at;              /* events logged; the one that stops the run (from 1; 0: none) */
    clock_entry log[CLOCK_LOG];
} clockwork;

static inline int clock_f(const costate_point *x, double *out, void *ctx)
{
    (void)ctx;
    out[0] = 1;
    out[1] = x->y[2];
    out[2] = -x->y[1];
    return 0;
}
static inline int clock_f_tangent(const costate_point *x, const costate_point *dx, double *out, void *ctx)
{
    (void)x, (void)ctx;
    out[0] = 0;
    out[1] = dx->y ? dx->y[2] : 0;
    out[2] = dx->y ? -dx->y[1] : 0;
    return 0;
}
static inline int clock_f_adjoint(const costate_point *x, const double *w, const costate_gradient *g, void *ctx)
{
    (void)x, (void)ctx;
    if (g->y) { g->y[2] += w[1]; g->y[1] -= w[2]; }
    return 0;
}
static inline int clock_jac(const costate_point *x, double *J, void *ctx)
{
    (void)x, (void)ctx;
    for (int k = 0; k < 9; k++) J[k] = (k == 7) - (k == 5);
    return 0;
}
/* second derivatives of all that is linear */
static inline int clock_none(const costate_point *x, const costate_point *a, const costate_point *b, double *out,
                             void *ctx)
{
    (void)x, (void)a, (void)b, (void)ctx;
    memset(out, 0, CLOCK_N * sizeof *out);
    return 0;
}
static inline int clock_none_back(const costate_point *x, const costate_point *a, const double *w,
                                  const costate_gradient *g, void *ctx)
{
    (void)x, (void)a, (void)w, (void)g, (void)ctx;
    return 0;
}

static inline int clock_r(const costate_point *x, double *out, void *ctx) { return (void)ctx, out[0] = x->y[1], 0; }
static inline int clock_r_tangent(const costate_point *x, const costate_point *dx, double *out, void *ctx)
{
    return (void)x, (void)ctx, out[0] = dx->y ? dx->y[1] : 0, 0;
}
static inline int clock_r_adjoint(const costate_point *x, const double *w, const costate_gradient *g, void *ctx)
{
    if (g->y) g->y[1] += w[0];
    return (void)x, (void)ctx, 0;
}
static inline int clock_r_none(const costate_point *x, const costate_point *a, const costate_point *b, double *out,
                               void *ctx)
{
    return (void)x, (void)a, (void)b, (void)ctx, out[0] = 0, 0;
}

static inline int clock_time(const costate_point *x, double *out, void *ctx)
{
    return (void)ctx, out[0] = x->t - x->p[0], 0;
}

#define CLOCK_GUARD(name, k) \
static inline int name(const costate_point *x, double *out, void *ctx) \
{ \
    return (void)ctx, out[0] = x->y[k] - x->p[k], 0; \
} \
static inline int name##_tangent(const costate_point *x, const costate_point *dx, double *out, void *ctx) \
{ \
    return (void)x, (void)ctx, out[0] = (dx->y ? dx->y[k] : 0) - (dx->p ? dx->p[k] : 0), 0; \
} \
static inline int name##_adjoint(const costate_point *x, const double *w, const costate_gradient *g, void *ctx) \
{ \
    if (g->y) g->y[k] += w[0]; \
    if (g->p) g->p[k] -= w[0]; \
    return (void)x, (void)ctx, 0; \
}
CLOCK_GUARD(clock_hand, 0)
CLOCK_GUARD(clock_sine, 1)

static const costate_map clock_hand_guard = {.value = clock_hand, .tangent = clock_hand_tangent,
                                             .adjoint = clock_hand_adjoint};
static const costate_map clock_sine_guard = {.value = clock_sine, .tangent = clock_sine_tangent,
                                             .adjoint = clock_sine_adjoint};

/* (y0, a y1 + b, y2, m + 1 + 10 mode): what is left to see tells order and mode */
static inline int clock_affine(const costate_point *x, double a, double b, double *out)
{
    memcpy(out, x->y, CLOCK_N * sizeof *out);
    out[1] = a * x->y[1] + b;
    out[3] = x->m[0] + 1 + 10 * x->mode;
    return 0;
}
static inline int clock_affine_back(double a, const double *w, const costate_gradient *g)
{
    for (int i = 0; g->y && i < CLOCK_N; i++) g->y[i] += (i == 1 ? a : 1) * w[i];
    if (g->m) g->m[0] += w[3];
    return 0;
}
#define CLOCK_JUMP(name, a, b) \
static inline int name##_value(const costate_point *x, double *out, void *ctx) \
{ \
    return (void)ctx, clock_affine(x, a, b, out); \
} \
static inline int name##_adjoint(const costate_point *x, const double *w, const costate_gradient *g, void *ctx) \
{ \
    return (void)x, (void)ctx, clock_affine_back(a, w, g); \
} \
static const costate_map name = {.value = name##_value, .adjoint = name##_adjoint};
CLOCK_JUMP(clock_twice, 2, 0)
CLOCK_JUMP(clock_one_more, 1, 1)
CLOCK_JUMP(clock_tick, 1, 0)

static inline int clock_log(int event, double t, const double *before, const double *after, void *ctx)
{
    clockwork *w = ctx;
    assert_true(w->count < CLOCK_LOG);
    clock_entry *e = &w->log[w->count++];
    e->event = event;
    e->t = t;
    memcpy(e->before, before, sizeof e->before);
    memcpy(e->after, after, sizeof e->after);
    return w->count == w->stop_at;
}

/* w stays where it is: the problem and the options point into it.  One event more, of a mode that there never is: some
   event must have a jump, where there is memory. */
static inline void clock_wind(clockwork *w, int nevents, double hand, double sine)
{
    *w = (clockwork){.p = {hand, sine}, .y0 = {0, 0, 1}};
    w->P = (costate_problem){
        .n = CLOCK_N, .np = 2, .nq = 1, .nm = 1, .ctx = w, .jac = clock_jac, .nevents = nevents + 1, .event = w->event,
        .rhs = {.value = clock_f, .tangent = clock_f_tangent, .adjoint = clock_f_adjoint, .tangent2 = clock_none,
                .adjoint_tangent = clock_none_back},
        .cost = {.value = clock_r, .tangent = clock_r_tangent, .adjoint = clock_r_adjoint, .tangent2 = clock_r_none,
                 .adjoint_tangent = clock_none_back}};
    w->o = (costate_options){.rtol = 1e-6, .atol = 1e-6, .hmax = 0.3, .autonomous = 1, .on_event = clock_log,
                             .on_event_ctx = w};
    for (int k = 0; k < CLOCK_EVENTS; k++) w->event[k] = (costate_event){.from = COSTATE_ANY_MODE,
                                                                          .to = COSTATE_SAME_MODE};
    w->event[nevents] = (costate_event){.guard = clock_hand_guard, .jump = clock_tick, .from = 99};
}

/* from t0 to t1, from y0: what the log says is what the tape says */
static inline costate *clock_run(clockwork *w, const costate_method *m, double t0, double t1, double *y,
                                 costate_tape *tape)
{
    costate *c = new_for_test(m, &w->P, &w->o);
    costate_tape *own = tape ? NULL : costate_tape_new();
    if (own) tape = own;
    memcpy(y, w->y0, sizeof w->y0);
    CHECK_OK(c, costate_integrate(c, t0, t1, y, w->p, tape));
    assert_int_equal(costate_tape_events(tape), w->count);
    assert_int_equal(costate_get_stats(c)->events, w->count);
    for (int k = 0; k < w->count; k++) {
        clock_entry e;
        CHECK_OK(c, costate_tape_event(tape, k, &e.t, &e.event, e.before, e.after));
        assert_true(e.t == w->log[k].t && e.event == w->log[k].event);
        assert_memory_equal(e.before, w->log[k].before, sizeof e.before);
        assert_memory_equal(e.after, w->log[k].after, sizeof e.after);
    }
    costate_tape_free(own);
    return c;
}

#endif
