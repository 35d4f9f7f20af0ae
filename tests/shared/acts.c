/* acts.c - all that can be asked of a solver, an act each, in every family, form, linear solver and store. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <costate/linsol.h>
#include "acts.h"
#include "traits.h"

const char *const act_names[ACTS] = {
    "integrate", "continue", "tangent", "adjoint", "hessian", "gauss_newton", "replay", "replay_onto", "tape_eval",
    "integrate_tlm", "integrate_adj", "consistent", "check_adjoint", "check_hessian", "tape_read", "resume"};

/* ---- cases ---- */

enum { METHODS = 7, FORMS = 4, SOLVERS = 9, STORES = 5, CASES = METHODS * FORMS * SOLVERS * STORES };

typedef struct { const char *name, *backend; int solver, pattern, ilu, preconditioned; } linear;

static const char *const methods[METHODS] = {"dopri5", "rkc2", "sdirk4a", "trbdf2", "radau2a", "gauss3", "rodas4"};
static const char *const forms[FORMS] = {"everything", "everything, M singular", "everything, residual",
                                         "everything, index 2"};
static const linear solvers[SOLVERS] = {
    {"dense", "dense", COSTATE_LS_DENSE, 0, 0, 0}, {"band", "band", COSTATE_LS_BAND, 1, 0, 0},
    {"umfpack", "umfpack", COSTATE_LS_UMFPACK, 1, 0, 0}, {"superlu", "superlu", COSTATE_LS_SUPERLU, 1, 0, 0},
    {"klu", "klu", COSTATE_LS_KLU, 1, 0, 0}, {"gmres", NULL, COSTATE_LS_GMRES, 0, 0, 0},
    {"ilu", "ilu", COSTATE_LS_GMRES, 1, 1, 0}, {"preconditioned", NULL, COSTATE_LS_GMRES, 0, 0, 1},
    {"sparse", "sparse", COSTATE_LS_SPARSE, 1, 0, 0}};
static const struct { const char *name; int storage, file; } stores[STORES] = {
    {"all stages", COSTATE_ALL_STAGES, 0}, {"states", COSTATE_STATES_ONLY, 0}, {"checkpoints", COSTATE_CHECKPOINTS, 0},
    {"file", COSTATE_ALL_STAGES, 1}, {"checkpoints in a file", COSTATE_CHECKPOINTS, 1}};

int act_case_at(int k, act_case *x)
{
    if (k >= CASES) return 0;
    int store = k % STORES;
    const linear *l = &solvers[k / STORES % SOLVERS];
    *x = (act_case){.m = costate_method_find(methods[k / STORES / SOLVERS / FORMS]),
                    .h = hybrid_find(forms[k / STORES / SOLVERS % FORMS])};
    if (!hybrid_takes(x->m, x->h) || (l->backend && !costate_backend_find(l->backend))) return -1;
    if (l->solver == COSTATE_LS_GMRES && x->h->form != HYBRID_ODE) return -1;
    if (is_explicit(x->m) && l != solvers) return -1;
    x->file = stores[store].file;
    x->pattern = l->pattern;
    x->preconditioned = l->preconditioned;
    x->o = (costate_options){.rtol = 1e-2, .atol = 1e-2, .mode = x->h->mode, .hmax = 0.3, .checkpoints = 24,
                             .storage = stores[store].storage, .ilu = l->ilu, .keep_factors = store & 1 ? 1 : -1};
    x->o.solver = is_explicit(x->m) ? COSTATE_LS_AUTO : l->solver;
    x->o.consistent = x->h->form != HYBRID_ODE ? COSTATE_CONSISTENT_START : 0;
    if (is_newton(x->m)) x->o.stage_solve = k % 2 ? COSTATE_STAGE_DIRECT : COSTATE_STAGE_ITERATIVE;
    snprintf(x->name, sizeof x->name, "%s, %s, %s, %s", methods[k / STORES / SOLVERS / FORMS], x->h->name, l->name,
             stores[store].name);
    return 1;
}

/* ---- callbacks ---- */

static int hit(act_world *w)
{
    long k = ++w->spoil.calls;
    int is = k >= w->spoil.from && k < w->spoil.until;
    w->spoil.hits += is;
    if (!is || !w->spoil.does) return is;
    w->spoil.does(w);
    return 0;
}

static int spoilt(act_world *w, int r, double *out)
{
    if (!hit(w)) return r;
    if (w->spoil.code == 0 && out) out[0] = w->spoil.write;
    return w->spoil.code;
}

static int spoilt_gradient(act_world *w, int r, const costate_gradient *g)
{
    if (!hit(w)) return r;
    if (w->spoil.code == 0 && g->y) g->y[0] = w->spoil.write;
    if (w->spoil.code == 0 && g->p) g->p[0] = w->spoil.write;
    return w->spoil.code;
}

/* ---- units: the case's callbacks at the case's numbers ---- */

typedef struct { costate_point x; double y[NUMS_N], yp[NUMS_N], p[NUMS_P], m[NUMS_M]; } plain_point;

static const double *divided(const double *x, int count, double by, double *to)
{
    if (!x) return NULL;
    for (int i = 0; i < count; i++) to[i] = x[i] / by;
    return to;
}

static const costate_point *plain(const act_world *w, const costate_point *x, plain_point *to)
{
    const costate_problem *P = &w->base;
    to->x = (costate_point){.t = x->t / w->in.T, .mode = x->mode, .y = divided(x->y, P->n, w->in.S, to->y),
                            .yp = divided(x->yp, P->n, w->in.S / w->in.T, to->yp),
                            .p = divided(x->p, P->np, w->in.P, to->p), .m = divided(x->m, P->nm, w->in.S, to->m)};
    return &to->x;
}

static void multiply(double *x, int count, double by) { for (int i = 0; i < count; i++) x[i] *= by; }

typedef struct { costate_gradient g; double t, y[NUMS_N], yp[NUMS_N], p[NUMS_P], m[NUMS_M]; } plain_gradient;

static const costate_gradient *plain_of(const costate_gradient *g, plain_gradient *to)
{
    memset(to, 0, sizeof *to);
    to->g = (costate_gradient){.t = g->t ? &to->t : NULL, .y = g->y ? to->y : NULL, .p = g->p ? to->p : NULL,
                               .yp = g->yp ? to->yp : NULL, .m = g->m ? to->m : NULL};
    return &to->g;
}

static void add_divided(double *g, const double *x, int count, double by)
{
    for (int i = 0; g && i < count; i++) g[i] += x[i] / by;
}

static void add_plain(const act_world *w, const costate_gradient *g, const plain_gradient *x)
{
    add_divided(g->t, &x->t, 1, w->in.T);
    add_divided(g->y, x->y, w->base.n, w->in.S);
    add_divided(g->yp, x->yp, w->base.n, w->in.S / w->in.T);
    add_divided(g->p, x->p, w->base.np, w->in.P);
    add_divided(g->m, x->m, w->base.nm, w->in.S);
}

#define SITE act_site *s = ctx; act_world *w = s->w
/* of: the map of the case, whose rows are in the unit `by` */
#define SPOILT(name, of, rows, by) \
static int name##_value(const costate_point *x, double *out, void *ctx) \
{ \
    SITE; \
    plain_point X; \
    int r = (of).value(plain(w, x, &X), out, w->base.ctx); \
    multiply(out, rows, by); \
    return spoilt(w, r, out); \
} \
static int name##_tangent(const costate_point *x, const costate_point *dx, double *out, void *ctx) \
{ \
    SITE; \
    plain_point X, D; \
    int r = (of).tangent(plain(w, x, &X), plain(w, dx, &D), out, w->base.ctx); \
    multiply(out, rows, by); \
    return spoilt(w, r, out); \
} \
static int name##_tangent2(const costate_point *x, const costate_point *a, const costate_point *b, double *out, \
                           void *ctx) \
{ \
    SITE; \
    plain_point X, A, B; \
    int r = (of).tangent2(plain(w, x, &X), plain(w, a, &A), plain(w, b, &B), out, w->base.ctx); \
    multiply(out, rows, by); \
    return spoilt(w, r, out); \
} \
static int name##_adjoint(const costate_point *x, const double *b, const costate_gradient *g, void *ctx) \
{ \
    SITE; \
    plain_point X; \
    plain_gradient G; \
    double v[NUMS_N + NUMS_M]; \
    int r = (of).adjoint(plain(w, x, &X), divided(b, rows, 1 / (by), v), plain_of(g, &G), w->base.ctx); \
    add_plain(w, g, &G); \
    return spoilt_gradient(w, r, g); \
} \
static int name##_adjoint_tangent(const costate_point *x, const costate_point *dx, const double *b, \
                                  const costate_gradient *g, void *ctx) \
{ \
    SITE; \
    plain_point X, D; \
    plain_gradient G; \
    double v[NUMS_N + NUMS_M]; \
    int r = (of).adjoint_tangent(plain(w, x, &X), plain(w, dx, &D), divided(b, rows, 1 / (by), v), plain_of(g, &G), \
                                 w->base.ctx); \
    add_plain(w, g, &G); \
    return spoilt_gradient(w, r, g); \
} \
static int name##_adjoint_tangent2(const costate_point *x, const costate_point *a, const costate_point *b, \
                                   const double *c, const costate_gradient *g, void *ctx) \
{ \
    SITE; \
    plain_point X, A, B; \
    plain_gradient G; \
    double v[NUMS_N + NUMS_M]; \
    int r = (of).adjoint_tangent2(plain(w, x, &X), plain(w, a, &A), plain(w, b, &B), divided(c, rows, 1 / (by), v), \
                                  plain_of(g, &G), w->base.ctx); \
    add_plain(w, g, &G); \
    return spoilt_gradient(w, r, g); \
}
#define MAP(name) \
    (costate_map){.value = name##_value, .tangent = name##_tangent, .adjoint = name##_adjoint, \
                  .tangent2 = name##_tangent2, .adjoint_tangent = name##_adjoint_tangent, \
                  .adjoint_tangent2 = name##_adjoint_tangent2}

SPOILT(rhs, w->base.rhs, w->base.n, w->in.S / w->in.T)
SPOILT(residual, w->base.residual, w->base.n, w->in.S / w->in.T)
SPOILT(cost, w->base.cost, w->base.nq, w->in.Q / w->in.T)
SPOILT(guard, s->e->guard, 1, w->in.S)
SPOILT(jump, s->e->jump, w->base.n + w->base.nm, w->in.S)
SPOILT(event_cost, s->e->cost, w->base.nq, w->in.Q)

static int jac(const costate_point *x, double *J, void *ctx)
{
    SITE;
    plain_point X;
    int r = w->base.jac(plain(w, x, &X), J, w->base.ctx);
    multiply(J, w->base.n * w->base.n, 1 / w->in.T);
    return spoilt(w, r, J);
}

static int jac_yp(const costate_point *x, double *J, void *ctx)
{
    SITE;
    plain_point X;
    return spoilt(w, w->base.jac_yp(plain(w, x, &X), J, w->base.ctx), J);
}

static int mass(double *M, void *ctx)
{
    SITE;
    return spoilt(w, w->base.mass(M, w->base.ctx), M);
}

/* P = sigma */
static int prepare(double sigma, const costate_point *x, void *ctx)
{
    act_world *w = ctx;
    (void)x;
    w->sigma = sigma;
    return spoilt(w, 0, NULL);
}

static int precondition(int transpose, double *x, void *ctx)
{
    act_world *w = ctx;
    (void)transpose;
    for (int i = 0; i < w->base.n; i++) x[i] /= w->sigma;
    return spoilt(w, 0, x);
}

/* ---- a world ---- */

static void spoil_problem(act_world *w)
{
    w->P = w->base = hybrid_problem(w->of->h);
    w->site[0] = (act_site){w, NULL};
    w->P.ctx = &w->site[0];
    if (w->P.rhs.value) w->P.rhs = MAP(rhs);
    if (w->P.residual.value) w->P.residual = MAP(residual);
    w->P.cost = MAP(cost);
    w->P.jac = jac;
    if (w->P.jac_yp) w->P.jac_yp = jac_yp;
    if (w->P.mass) w->P.mass = mass;
    for (int k = 0; k < w->base.nevents; k++) {
        costate_event *e = &w->event[k];
        *e = w->base.event[k];
        w->site[1 + k] = (act_site){w, &w->base.event[k]};
        e->ctx = &w->site[1 + k];
        if (e->guard.value) e->guard = MAP(guard);
        if (e->jump.value) e->jump = MAP(jump);
        if (e->cost.value) e->cost = MAP(event_cost);
        for (int i = 0; i < e->ntimes && i < ACT_TIMES; i++) w->times[k][i] = w->in.T * e->times[i];
        e->times = e->ntimes ? w->times[k] : NULL;
    }
    w->P.event = w->event;
}

static void whole_pattern(act_world *w)
{
    int n = w->base.n;
    for (int j = 0; j <= n; j++) w->col[j] = j * n;
    for (int k = 0; k < n * n; k++) w->row[k] = k % n;
    w->pattern = (costate_pattern){n, w->col, w->row};
    w->P.pattern = &w->pattern;
}

void act_open(act_world *w, const act_case *x)
{
    *w = (act_world){.of = x, .o = x->o, .in = x->in.S > 0 ? x->in : (act_units){1, 1, 1, 1}};
    w->t0 = w->in.T * x->h->t0;
    w->t1 = w->in.T * x->h->t1;
    for (int i = 0; i < x->h->np; i++) w->p[i] = w->in.P * x->h->p[i];
    w->o.atol *= w->in.S;
    w->o.hmax *= w->in.T;
    snprintf(w->path, sizeof w->path, "acts_%ld.tape", (long)getpid());
    snprintf(w->other, sizeof w->other, "acts_%ld.other.tape", (long)getpid());
    remove(w->path);
    spoil_problem(w);
    if (x->pattern) whole_pattern(w);
    if (x->preconditioned) {
        w->preconditioner = (costate_preconditioner){.setup = prepare, .solve = precondition, .ctx = w};
        w->o.preconditioner = &w->preconditioner;
    }
    w->c = costate_new(x->m, &w->P, &w->o);
    w->tape = x->file ? costate_tape_open(w->path) : costate_tape_new();
}

void act_close(act_world *w)
{
    costate_tape_free(w->tape);
    costate_free(w->c);
    remove(w->path);
    remove(w->other);
    w->tape = NULL;
    w->c = NULL;
}

/* ---- acts ---- */

static int is_index_2(const act_case *x) { return x->h->form == HYBRID_INDEX_2; }

int act_applies(const act_case *x, int act)
{
    if (act >= ACT_READ) return x->file;
    if (act == ACT_CHECK_HESSIAN) return !is_index_2(x);      /* its bound is for steps that differences can follow */
    return 1;
}

typedef struct {
    double y[ACT_N], V[ACT_N * ACT_M], p[NUMS_P * ACT_M], lambda[ACT_N * ACT_M], mu[NUMS_P * ACT_M];
} room;

/* rows of a state, and their columns, times the units to this power */
static void by_units(const act_world *w, double *x, int columns, int power)
{
    int n = w->base.n, nq = w->base.nq, nm = w->base.nm, N = n + nq + nm;
    for (int j = 0; j < columns; j++, x += N)
        for (int i = 0; i < N; i++) {
            double unit = i < n || i >= n + nq ? w->in.S : w->in.Q;
            x[i] = power > 0 ? x[i] * unit : x[i] / unit;
        }
}

static room begin(const act_world *w)
{
    room r = {.y = {0}};
    hybrid_start(w->of->h, w->of->h->p, r.y, NULL);
    for (int k = 0; k < ACT_N * ACT_M; k++) r.V[k] = r.lambda[k] = 1 - 0.1 * (k % 7);
    for (int k = 0; k < NUMS_P * ACT_M; k++) r.p[k] = w->in.P * (0.3 - 0.1 * (k % 3));
    by_units(w, r.y, 1, 1);
    by_units(w, r.V, ACT_M, 1);
    by_units(w, r.lambda, ACT_M, -1);
    return r;
}

static double middle(const act_world *w) { return 0.5 * (w->t0 + w->t1); }
static size_t rows(const act_world *w) { return (size_t)(w->base.n + w->base.nq + w->base.nm); }

static size_t put(act_world *w, size_t at, const double *x, size_t count)
{
    memcpy(w->out + at, x, count * sizeof *x);
    return at + count;
}

/* gradients, in the numbers of the case */
static int put_all(act_world *w, int status, room *r)
{
    by_units(w, r->lambda, ACT_M, 1);
    multiply(r->mu, NUMS_P * ACT_M, w->in.P);
    if (status == COSTATE_OK) put(w, put(w, 0, r->lambda, ACT_N * ACT_M), r->mu, NUMS_P * ACT_M);
    return status;
}

/* states */
static int put_rows(act_world *w, int status, double *x, int columns)
{
    by_units(w, x, columns, -1);
    if (status == COSTATE_OK) put(w, 0, x, (size_t)columns * rows(w));
    return status;
}

/* the functional |y/S|^2/2 and its like: x / S / S */
static void by_squares(const act_world *w, const double *x, int columns, double *to)
{
    memcpy(to, x, rows(w) * (size_t)columns * sizeof *x);
    by_units(w, to, columns, -1);
    by_units(w, to, columns, -1);
}

static int seed(double t1, const double *y, const double *p, int m, double *lambda, double *mu, void *ctx)
{
    act_world *w = ctx;
    (void)t1, (void)p, (void)mu;
    for (int j = 0; j < m; j++) by_squares(w, y, 1, lambda + (size_t)j * rows(w));
    return spoilt(w, 0, lambda);
}

static int seed2(double t1, const double *y, const double *p, int m, const double *V, const double *Vp, double *lambda,
                 double *mu, double *lambda2, double *mu2, void *ctx)
{
    act_world *w = ctx;
    (void)t1, (void)p, (void)Vp, (void)mu, (void)mu2;
    if (lambda) by_squares(w, y, 1, lambda);
    by_squares(w, V, m, lambda2);
    return spoilt(w, 0, lambda2);
}

static int seen(int k, double t, const double *y, int m, const double *V, void *ctx)
{
    (void)k, (void)t, (void)y, (void)m, (void)V;
    return spoilt(ctx, 0, NULL);
}

static int seen_seed(int k, double t, const double *y, int m, double *v, void *ctx)
{
    const act_world *w = ctx;
    (void)k, (void)t, (void)y, (void)m;
    v[0] = 1 / w->in.S;
    return spoilt(ctx, 0, v);
}

static int seen_seed2(int k, double t, const double *y, int m, const double *V, double *v, double *v2, void *ctx)
{
    const act_world *w = ctx;
    (void)k, (void)t;
    if (v) v[0] = y[0] / w->in.S / w->in.S;
    for (int j = 0; j < m; j++) v2[j * w->base.n] = V[j * w->base.n] / w->in.S / w->in.S;
    return spoilt(ctx, 0, v2);
}

static int second(act_world *w, int gauss_newton)
{
    const double t[2] = {0.7 * w->t0 + 0.3 * w->t1, 0.1 * w->t0 + 0.9 * w->t1};
    room r = begin(w);
    double g[ACT_N] = {0}, mu[NUMS_P] = {0};
    costate_observations o = {.count = 2, .t = t, .seed2 = seen_seed2, .ctx = w};
    costate_second s = {.m = ACT_M, .V = r.V, .Vp = r.p, .seed = seed2, .ctx = w, .observations = &o,
                        .lambda2 = r.lambda, .mu2 = r.mu};
    if (!gauss_newton) s.lambda = g, s.mu = mu;
    int status = gauss_newton ? costate_gauss_newton(w->c, w->tape, &s) : costate_hessian(w->c, w->tape, &s);
    put_all(w, status, &r);
    by_units(w, g, 1, 1);
    multiply(mu, NUMS_P, w->in.P);
    if (status == COSTATE_OK) put(w, put(w, 4 * ACT_N * ACT_M, g, ACT_N), mu, NUMS_P);
    return status;
}

static int sweep(act_world *w, int back)
{
    const double t[2] = {0.7 * w->t0 + 0.3 * w->t1, 0.1 * w->t0 + 0.9 * w->t1};
    room r = begin(w);
    double T = w->in.T, t0[ACT_M] = {T, 2 * T}, t1[ACT_M] = {-T, T}, end[ACT_M] = {0.5 / T, 1 / T};
    costate_times times = {.t0 = t0, .t1 = t1, .end = end};
    costate_observations o = {.count = 2, .t = t, .value = seen, .seed = seen_seed, .ctx = w};
    int status = back ? costate_adjoint(w->c, w->tape, ACT_M, r.lambda, r.mu, &times, &o)
                      : costate_tangent(w->c, w->tape, ACT_M, r.V, r.p, &times, &o);
    if (!back) return put_rows(w, status, r.V, ACT_M);
    put_all(w, status, &r);
    multiply(t0, ACT_M, T);
    multiply(t1, ACT_M, T);
    if (status == COSTATE_OK) put(w, put(w, 4 * ACT_N * ACT_M, t0, ACT_M), t1, ACT_M);
    return status;
}

static int over_onto(act_world *w, costate_tape *onto)
{
    room r = begin(w);
    int status = costate_replay_onto(w->c, w->tape, r.y, w->p, onto);
    if (status == COSTATE_OK) status = costate_adjoint(w->c, onto, ACT_M, r.lambda, r.mu, NULL, NULL);
    return put_all(w, status, &r);
}

static int onto(act_world *w)
{
    costate_tape *tape = costate_tape_new();
    int status = tape ? over_onto(w, tape) : COSTATE_NO_MEMORY;
    costate_tape_free(tape);
    return status;
}

/* a solver and a tape of their own: over the file, or over one that was cut, which is gone on with */
static int by_another(act_world *w, int cut)
{
    costate *c = costate_new(w->of->m, &w->P, &w->o);
    costate_tape *tape = costate_tape_open(cut ? w->other : w->path);
    room r = begin(w);
    int status = c && tape ? cut ? costate_resume(c, tape, r.y) : costate_tape_read(c, tape) : COSTATE_NO_MEMORY;
    if (status == COSTATE_OK) status = costate_adjoint(c, tape, ACT_M, r.lambda, r.mu, NULL, NULL);
    snprintf(w->said, sizeof w->said, "%s", costate_message(c));
    costate_tape_free(tape);
    costate_free(c);
    return put_all(w, status, &r);
}

static int resume(act_world *w)
{
    FILE *f = fopen(w->other, "wb");
    int good = f && (w->cut_bytes == 0 || fwrite(w->cut, 1, w->cut_bytes, f) == w->cut_bytes);
    if (f && fclose(f) != 0) good = 0;
    return good ? by_another(w, 1) : COSTATE_IO;
}

static int whole(act_world *w, int act)
{
    room r = begin(w);
    costate_report report;
    switch (act) {
    case ACT_TLM: return put_rows(w, costate_integrate_tlm(w->c, w->t0, w->t1, r.y, w->p, ACT_M, r.V, r.p, NULL, NULL),
                                  r.V, ACT_M);
    case ACT_ADJ: return put_all(w, costate_integrate_adj(w->c, w->t0, w->t1, r.y, w->p, ACT_M, r.lambda, r.mu, NULL,
                                                          seed, w), &r);
    case ACT_CONSISTENT: return put_rows(w, costate_consistent(w->c, w->t0, r.y, NULL, w->p), r.y, 1);
    case ACT_CHECK_ADJOINT: return costate_check_adjoint(w->c, w->t0, w->t1, r.y, w->p, &report);
    default: return costate_check_hessian(w->c, w->t0, w->t1, r.y, w->p, seed2, w, &report);
    }
}

static int act_of(act_world *w, int act)
{
    room r = begin(w);
    switch (act) {
    case ACT_RUN: return put_rows(w, costate_integrate(w->c, w->t0, middle(w), r.y, w->p, w->tape), r.y, 1);
    case ACT_GO_ON: return put_rows(w, costate_continue(w->c, w->tape, w->t1, r.y), r.y, 1);
    case ACT_TANGENT: return sweep(w, 0);
    case ACT_ADJOINT: return sweep(w, 1);
    case ACT_HESSIAN: return second(w, 0);
    case ACT_GAUSS_NEWTON: return second(w, 1);
    case ACT_REPLAY: return put_rows(w, costate_replay(w->c, w->tape, r.y, w->p), r.y, 1);
    case ACT_ONTO: return onto(w);
    case ACT_EVAL: return put_rows(w, costate_tape_eval(w->c, w->tape, 0.4 * w->t0 + 0.6 * w->t1, r.y), r.y, 1);
    case ACT_READ: return by_another(w, 0);
    case ACT_RESUME: return resume(w);
    default: return whole(w, act);
    }
}

int act_do(act_world *w, int act)
{
    memset(w->out, 0, sizeof w->out);
    w->said[0] = '\0';
    int status = act_of(w, act);
    if (!w->said[0]) snprintf(w->said, sizeof w->said, "%s", costate_message(w->c));
    return status;
}

int act_before(act_world *w, int act)
{
    int status = COSTATE_OK;
    for (int k = ACT_RUN; k <= ACT_GO_ON && k < act && status == COSTATE_OK; k++) status = act_do(w, k);
    return status;
}
