/* fuzz_run.c - any problem, any options, any calls: a status and a sentence, or finite numbers; nothing else.

   The right-hand side is linear with a quadratic part, its products are exact; callbacks may fail, or give NaN, at any
   call.  Structs are filled from the fuzzer's bytes: sizes, patterns, flags, tolerances, times, all of them hostile. */
#include <costate/costate.h>
#include <stdlib.h>
#include "bytes.h"

enum { N = 8, P = 4, Q = 3, ROWS = N + Q + 4, M = 3, ENTRIES = N * N };

typedef struct {
    int n, np, nq, fail_at, fail_how, calls;
    double K[ENTRIES], square[N], by_p[N];
    costate_pattern pattern;
    int col[N + 2], row[ENTRIES];
} model;

/* how this call ends */
static int ends(model *m, double *out, int count)
{
    if (++m->calls != m->fail_at) return 0;
    if (m->fail_how == 0 && out && count > 0) { out[0] = NAN; return 0; }
    return m->fail_how - 2;                                     /* -1: for good, 1: here not, 0 */
}

static int value(const costate_point *x, double *out, void *ctx)
{
    model *m = ctx;
    for (int i = 0; i < m->n; i++) {
        out[i] = m->square[i] * x->y[i] * x->y[i];
        if (m->np > 0) out[i] += m->by_p[i] * x->p[i % m->np];
        for (int j = 0; j < m->n; j++) out[i] += m->K[i + N * j] * x->y[j];
    }
    return ends(m, out, m->n);
}

static int tangent(const costate_point *x, const costate_point *dx, double *out, void *ctx)
{
    model *m = ctx;
    for (int i = 0; i < m->n; i++) {
        out[i] = dx->y ? 2 * m->square[i] * x->y[i] * dx->y[i] : 0;
        if (m->np > 0 && dx->p) out[i] += m->by_p[i] * dx->p[i % m->np];
        for (int j = 0; j < m->n && dx->y; j++) out[i] += m->K[i + N * j] * dx->y[j];
    }
    return ends(m, out, m->n);
}

static int adjoint(const costate_point *x, const double *w, const costate_gradient *g, void *ctx)
{
    model *m = ctx;
    for (int i = 0; i < m->n; i++) {
        if (g->y) g->y[i] += 2 * m->square[i] * x->y[i] * w[i];
        if (m->np > 0 && g->p) g->p[i % m->np] += m->by_p[i] * w[i];
        for (int j = 0; j < m->n && g->y; j++) g->y[j] += m->K[i + N * j] * w[i];
    }
    return ends(m, g->y, m->n);
}

static int tangent2(const costate_point *x, const costate_point *a, const costate_point *b, double *out, void *ctx)
{
    model *m = ctx;
    (void)x;
    for (int i = 0; i < m->n; i++) out[i] = a->y && b->y ? 2 * m->square[i] * a->y[i] * b->y[i] : 0;
    return ends(m, out, m->n);
}

static int adjoint_tangent(const costate_point *x, const costate_point *dx, const double *w, const costate_gradient *g,
                           void *ctx)
{
    model *m = ctx;
    (void)x;
    for (int i = 0; i < m->n && g->y && dx->y; i++) g->y[i] += 2 * m->square[i] * dx->y[i] * w[i];
    return ends(m, g->y, m->n);
}

static int adjoint_tangent2(const costate_point *x, const costate_point *a, const costate_point *b, const double *w,
                            const costate_gradient *g, void *ctx)
{
    (void)x; (void)a; (void)b; (void)w; (void)g;
    return ends(ctx, NULL, 0);
}

/* in the pattern, or all of it */
static void entries(const model *m, const costate_pattern *in, double scale, double diagonal, double *J)
{
    size_t k = 0;
    for (int j = 0; j < m->n; j++)
        for (int e = in ? in->col[j] : 0; e < (in ? in->col[j + 1] : m->n); e++) {
            int i = in ? in->row[e] : e;
            J[k++] = scale * m->K[i + N * j] + (i == j ? diagonal : 0);
        }
}

static int jac(const costate_point *x, double *J, void *ctx)
{
    model *m = ctx;
    (void)x;
    entries(m, m->pattern.col ? &m->pattern : NULL, 1, 0, J);
    return ends(m, J, m->n);
}

static int mass(double *J, void *ctx)
{
    model *m = ctx;
    entries(m, m->pattern.col ? &m->pattern : NULL, 0, m->by_p[0], J);
    return ends(m, J, m->n);
}

static int cost(const costate_point *x, double *out, void *ctx)
{
    model *m = ctx;
    for (int i = 0; i < m->nq; i++) out[i] = x->y[0] * x->y[0];
    return ends(m, out, m->nq);
}

static int guard(const costate_point *x, double *out, void *ctx)
{
    out[0] = x->y[0] - 0.5;
    return ends(ctx, out, 1);
}

/* A pattern that is right, or whatever the bytes say; never one that points outside its arrays. */
static void read_pattern(bytes *b, model *m)
{
    int entry = 0, wild = next_bit(b);
    m->pattern = (costate_pattern){m->n, m->col, m->row};
    for (int j = 0; j <= (m->n > 0 ? m->n : 0) && j <= N; j++) {
        m->col[j] = entry;
        for (int i = 0; i < m->n && j < m->n && entry < ENTRIES; i++)
            if (i == j || next_bit(b)) m->row[entry++] = wild ? next_below(b, N + 2) - 1 : i;
    }
    if (wild && next_bit(b)) m->pattern.n = next_int(b);
    if (wild && next_bit(b)) m->pattern.row = NULL;
}

static costate_problem read_problem(bytes *b, model *m, costate_event *event, int *index)
{
    m->n = next_below(b, N + 2) - 1;
    m->np = next_below(b, P + 2) - 1;
    m->nq = next_below(b, Q + 1) - (next_byte(b) > 250);
    m->fail_how = next_below(b, 4);
    m->fail_at = next_bit(b) ? (int)next_byte(b) : 0;
    for (int i = 0; i < N; i++) { m->square[i] = next_double(b); m->by_p[i] = next_double(b); }
    for (int i = 0; i < ENTRIES; i++) m->K[i] = next_double(b);
    unsigned has = next_byte(b) | next_byte(b) << 8, further = next_byte(b);
    costate_problem p = {.n = m->n, .np = m->np, .nq = m->nq, .ctx = m};
    if (!(has & 1)) p.rhs.value = value;
    if (!(has & 2)) p.rhs.tangent = tangent;
    if (!(has & 4)) p.rhs.adjoint = adjoint;
    if (!(has & 8)) p.rhs.tangent2 = tangent2;
    if (!(has & 16)) p.rhs.adjoint_tangent = adjoint_tangent;
    if (!(has & 32)) p.rhs.adjoint_tangent2 = adjoint_tangent2;
    if (!(has & 64)) p.jac = jac;
    if (has & 128) p.mass = mass;
    if (has & 256) { read_pattern(b, m); p.pattern = &m->pattern; }
    if (!(has & 512) && m->nq > 0) p.cost.value = cost;
    if (has & 1024) {
        for (int i = 0; i < N; i++) index[i] = next_int(b);
        p.index = index;
    }
    if (has & 2048) {
        *event = (costate_event){.guard.value = guard, .direction = next_int(b), .from = next_int(b), .to = next_int(b),
                                 .terminal = next_int(b), .passes = next_int(b), .ctx = m};
        p.event = event;
        p.nevents = 1;
    }
    if (further > 250) p.residual = p.rhs;
    if (further > 253) p.nm = next_below(b, 3) - 1;
    return p;
}

static costate_options read_options(bytes *b)
{
    costate_options o = {.max_steps = 60};
    double *real[] = {&o.rtol, &o.atol, &o.h0, &o.hmin, &o.hmax, &o.safety, &o.fac_min, &o.fac_max, &o.fac_reject,
                      &o.q_min, &o.q_max, &o.newton_tol, &o.theta_reuse, &o.krylov_tol, &o.spectral_bound};
    int *integer[] = {&o.controller, &o.estimator, &o.autonomous, &o.warm, &o.newton_max, &o.predictor,
                      &o.derivative_mode, &o.solver, &o.stage_solve, &o.keep_factors, &o.ilu, &o.differences,
                      &o.degree_max, &o.storage, &o.consistent, &o.mode, &o.max_events, &o.event_samples,
                      &o.checkpoints, &o.cost_error, &o.tangent_error};
    for (size_t k = 0; k < sizeof real / sizeof *real; k++) *real[k] = next_double(b);
    for (size_t k = 0; k < sizeof integer / sizeof *integer; k++) *integer[k] = next_int(b);
    o.tape_limit = next_byte(b) > 200 ? (size_t)next_byte(b) << next_below(b, 24) : 0;
    return o;
}

/* no number where there is no reason for one, and no failure without a sentence */
static void judge(const costate *c, int status, const double *x, size_t count)
{
    if (status && (!costate_message(c) || !*costate_message(c))) abort();
    for (size_t k = 0; !status && k < count; k++) if (!(fabs(x[k]) < HUGE_VAL)) abort();
}

static void calls(bytes *b, costate *c, const costate_problem *p)
{
    double y[ROWS], V[ROWS * M], Vp[P * M], lambda[ROWS * M], mu[P * M], params[P];
    size_t n = (size_t)p->n + (size_t)p->nq + (size_t)p->nm;
    costate_tape *tape = costate_tape_new();
    for (int i = 0; i < ROWS; i++) y[i] = i < 6 ? next_double(b) : 0;
    for (int i = 0; i < P; i++) params[i] = next_double(b);
    for (int i = 0; i < ROWS * M; i++) V[i] = lambda[i] = i % 5 - 2;
    memset(Vp, 0, sizeof Vp);
    memset(mu, 0, sizeof mu);
    double t0 = next_double(b), t1 = next_double(b);
    int m = next_below(b, M + 1), status = costate_integrate(c, t0, t1, y, params, tape);
    judge(c, status, y, n);
    if (next_bit(b)) judge(c, costate_tangent(c, tape, m, V, Vp, NULL, NULL), V, n * (size_t)m);
    judge(c, costate_adjoint(c, tape, m, lambda, mu, NULL, NULL), lambda, n * (size_t)m);
    if (next_bit(b)) judge(c, costate_continue(c, tape, t1 + next_double(b), y), y, n);
    if (next_bit(b)) judge(c, costate_replay(c, tape, y, params), y, n);
    if (next_bit(b)) costate_tape_eval(c, tape, next_double(b), V);
    costate_tape_free(tape);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    bytes b = {data, data + size};
    static model m;
    costate_event event;
    int index[N], method = next_below(&b, costate_method_count());
    memset(&m, 0, sizeof m);
    costate_options o = read_options(&b);
    costate_problem p = read_problem(&b, &m, &event, index);
    costate *c = costate_new(costate_method_at(method), &p, &o);
    if (c && p.n > 0 && p.np >= 0 && p.nq >= 0 && p.nm >= 0) calls(&b, c, &p);
    costate_free(c);
    return 0;
}
