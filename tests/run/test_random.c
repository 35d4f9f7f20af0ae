/* test_random.c - random runs, seeded: the adjoint is the transpose of the tangent, Hessian products are symmetric
   and a replay repeats the run bit for bit, for any size, stiffness, kind of M, form of the equation (residual.h),
   direction of time, storage, linear solver, number of columns, with observations and times.

   The gap is relative to the sum of the moduli of its terms.  Where f'(y) V is a small difference of large terms -
   conserved masses, stiff equations mixed by M - the callbacks' own round-off enters each step enlarged by |h| |f'|,
   and is allowed for. */
#include "common.h"
#include "random_case.h"
#include "residual.h"
#include <float.h>
#include <costate/linsol.h>

/* SHARE: unless all are asked for, a method has every tenth try, beginning with one of its own */
enum { TRIES = 20, SHARE = 10, M_MOST = 20, SEEN_MOST = 4, N_LARGEST = 40 };

/* rkc: up to this degree round-off is not enlarged by more than ENLARGED (rock4), and stays below 1e-12 in a step; with
   it stiffness is up to 1e3.  Hessian products, whose two sides are different sums, see it in every step. */
enum { DEGREE_MOST = 9, ENLARGED = 2600 };

typedef struct {
    int count, n, columns;
    double t[SEEN_MOST], *w, *v;
} data; /* w, v: count x m x n: weights, tangents seen */

typedef struct {
    const costate_method *m;
    random_case *b;
    const costate_problem *P;            /* b's, or the same as a residual */
    costate_options o;
    int columns, cancels;
    int bends, timed;                    /* second order, too; along times, too, which has f in it */
    data seen;
    double worst, bent;
    char text[240];
} setting;

static int value(int k, double t, const double *y, int m, const double *V, void *ctx)
{
    data *d = ctx;
    (void)t, (void)y;
    memcpy(d->v + (size_t)(k * m * d->n), V, (size_t)(m * d->n) * sizeof *V);
    return 0;
}

static int seed(int k, double t, const double *y, int m, double *w, void *ctx)
{
    data *d = ctx;
    (void)t, (void)y;
    memcpy(w, d->w + (size_t)(k * m * d->n), (size_t)(m * d->n) * sizeof *w);
    return 0;
}

/* sum += x.y, size += |x|.|y| */
static void product(int n, const double *x, const double *y, double *sum, double *size)
{
    for (int i = 0; i < n; i++) { *sum += x[i] * y[i]; *size += fabs(x[i] * y[i]); }
}

typedef struct { double *start, *y, *z, *V, *V0, *V1, *Vp, *end, *lambda, *mu, *dt, *g, *memory; } arrays;

static arrays make(const setting *s, unsigned *u)
{
    size_t N = (size_t)(s->b->P.n + s->b->P.nq), np = (size_t)s->b->P.np, m = (size_t)s->columns;
    double *at = calloc(3 * N + 5 * N * m + 2 * np * m + 4 * m + 1, sizeof *at);
    assert_non_null(at);
    arrays x = {.memory = at, .start = at, .y = at + N, .z = at + 2 * N};
    x.V = at += 3 * N;
    x.V0 = at += N * m;
    x.V1 = at += N * m;
    x.end = at += N * m;
    x.lambda = at += N * m;
    x.Vp = at += N * m;
    x.mu = at += np * m;
    x.dt = at += np * m;
    x.g = at += 2 * m;
    memcpy(x.start, s->b->y0, (size_t)s->b->P.n * sizeof *x.y);
    memcpy(x.y, x.start, N * sizeof *x.y);
    memcpy(x.z, x.start, N * sizeof *x.z);
    random_fill(u, N * m, x.V);
    random_fill(u, N * m, x.lambda);
    random_fill(u, np * m, x.Vp);
    random_fill(u, 2 * m, x.dt);
    memcpy(x.V0, x.V, N * m * sizeof *x.V);
    memcpy(x.V1, x.V, N * m * sizeof *x.V);
    memcpy(x.end, x.lambda, N * m * sizeof *x.V);
    return x;
}

static double gap(const setting *s, const arrays *x)
{
    int N = s->b->P.n + s->b->P.nq, np = s->b->P.np, m = s->columns, n = s->b->P.n;
    double worst = 0;
    for (int i = 0; i < m; i++)
        for (int j = 0; j < m; j++) {
            double left = 0, right = 0, size = 0, dt[2] = {x->dt[j], x->dt[m + j]}, g[2] = {x->g[i], x->g[m + i]};
            product(N, x->end + i * N, x->V + j * N, &left, &size);
            for (int k = 0; k < s->seen.count; k++)
                product(n, s->seen.w + (k * m + i) * n, s->seen.v + (k * m + j) * n, &left, &size);
            product(N, x->lambda + i * N, x->V0 + j * N, &right, &size);
            product(np, x->mu + i * np, x->Vp + j * np, &right, &size);
            product(2, g, dt, &right, &size);
            worst = larger_of(worst, fabs(left - right) / size);
        }
    return worst;
}

/* the tangent along the run, in the only measure that counts: against the functionals */
static double run_gap(const setting *s, const arrays *x)
{
    int N = s->b->P.n + s->b->P.nq, m = s->columns;
    double worst = 0;
    for (int i = 0; i < m; i++)
        for (int j = 0; j < m; j++) {
            double one = 0, two = 0, size = 0;
            product(N, x->end + i * N, x->V + j * N, &one, &size);
            product(N, x->end + i * N, x->V1 + j * N, &two, &size);
            if (size > 0) worst = larger_of(worst, fabs(one - two) / size);
        }
    return worst;
}

/* GMRES without a preconditioner may say that it cannot; nobody else may */
static int can(const setting *s, costate *c, int status, const char *what)
{
    int gives_up = (s->o.solver == COSTATE_LS_GMRES && (status == COSTATE_STAGNATED || status == COSTATE_NEWTON)) ||
                   (!method_info(s->m).embedded && status == COSTATE_NEWTON);    /* h is fixed, and too long for it */
    if (status != COSTATE_OK && status != COSTATE_MAX_STEPS && !gives_up)
        fail_msg("%s: %s: %s", s->text, what, costate_message(c));
    return status == COSTATE_OK;
}

/* ---- second order: Psi = sum end (y + y^2/2) at the end, and the same of what is seen; of columns 0 ---- */

typedef struct { const double *w; int N; } curved;

static int curved_end(double t1, const double *y, const double *p, int m, const double *V, const double *Vp,
                      double *lambda, double *mu, double *lambda2, double *mu2, void *ctx)
{
    const curved *q = ctx;
    (void)t1, (void)p, (void)Vp, (void)mu, (void)mu2;
    for (int i = 0; i < q->N; i++) lambda[i] = q->w[i] * (1 + y[i]);
    for (int i = 0; i < m * q->N; i++) lambda2[i] = q->w[i % q->N] * V[i];
    return 0;
}

static int curved_seen(int k, double t, const double *y, int m, const double *V, double *w, double *w2, void *ctx)
{
    const data *d = ctx;
    const double *a = d->w + (size_t)(k * d->columns * d->n);
    (void)t;
    for (int i = 0; i < d->n; i++) w[i] = a[i] * (1 + y[i]);
    for (int i = 0; i < m * d->n; i++) w2[i] = a[i % d->n] * V[i];
    return 0;
}

typedef struct { double *g, *mu, *H, *Hp, *Ht, *memory; } products;

enum { BENT_MOST = 3 };                 /* directions: what tells two of them apart tells more */

static int bent_columns(const setting *s) { return s->columns < BENT_MOST ? s->columns : BENT_MOST; }

static int hessian(setting *s, const arrays *x, costate *c, const costate_tape *tape, products *out)
{
    int N = s->b->P.n + s->b->P.nq, np = s->b->P.np, m = bent_columns(s);
    double *at = calloc((size_t)((N + np) * (m + 1) + 2 * m + 1), sizeof *at);
    assert_non_null(at);
    *out = (products){.memory = at, .g = at, .mu = at + N, .H = at + N + np};
    out->Hp = out->H + N * m;
    out->Ht = out->Hp + np * m;
    curved end = {x->end, N};
    costate_times along = {.t0 = x->dt, .t1 = x->dt + s->columns}, times2 = {.t0 = out->Ht, .t1 = out->Ht + m};
    costate_observations o = {.count = s->seen.count, .t = s->seen.t, .seed2 = curved_seen, .ctx = &s->seen};
    costate_second q = {.m = m, .V = x->V0, .Vp = np ? x->Vp : NULL, .along = s->timed ? &along : NULL,
                        .seed = curved_end, .ctx = &end, .observations = &o, .lambda = out->g,
                        .mu = np ? out->mu : NULL, .lambda2 = out->H, .mu2 = np ? out->Hp : NULL, .times2 = &times2};
    return can(s, c, costate_hessian(c, tape, &q), "Hessian products");
}

static double asymmetry(const setting *s, const arrays *x, const products *h)
{
    int N = s->b->P.n + s->b->P.nq, np = s->b->P.np, m = bent_columns(s);
    double worst = 0;
    for (int i = 0; i < m; i++)
        for (int j = 0; j < i; j++) {
            double both[2] = {0, 0}, size = 0;
            for (int k = 0; k < 2; k++) {
                int v = k ? i : j, w = k ? j : i;
                double dt[2] = {x->dt[v], x->dt[s->columns + v]}, g[2] = {h->Ht[w], h->Ht[m + w]};
                product(N, x->V0 + v * N, h->H + w * N, &both[k], &size);
                product(np, x->Vp + v * np, h->Hp + w * np, &both[k], &size);
                if (s->timed) product(2, dt, g, &both[k], &size);
            }
            worst = larger_of(worst, fabs(both[0] - both[1]) / size);
        }
    return worst;
}

/* largest |h| |f'(y)| of the steps, by column sums */
static double enlargement(const setting *s, const costate_tape *tape)
{
    const costate_problem *P = &s->b->P;
    size_t n = (size_t)P->n, entries = P->pattern ? (size_t)P->pattern->col[n] : n * n;
    double *J = calloc(entries + n + (size_t)P->nq, sizeof *J), *y = J + entries, most = 0;
    assert_non_null(J);
    for (int k = 0; k < costate_tape_steps(tape); k++) {
        double t, h;
        costate_tape_get(tape, k, &t, &h, y);
        costate_point x = {.t = t, .y = y, .p = s->b->p0};
        P->jac(&x, J, P->ctx);
        for (size_t j = 0; j < n; j++) {
            size_t from = P->pattern ? (size_t)P->pattern->col[j] : j * n,
                   to = P->pattern ? (size_t)P->pattern->col[j + 1] : from + n;
            double sum = 0;
            for (size_t i = from; i < to; i++) sum += fabs(J[i]);
            most = fmax(most, fabs(h) * sum);
        }
    }
    free(J);
    return most;
}

/* 0: the run needs more steps than are allowed */
static int try(setting *s, unsigned *u)
{
    const random_case *b = s->b;
    int m = s->columns, N = b->P.n + b->P.nq;
    arrays x = make(s, u);
    products h = {.memory = NULL};
    const double *Vp = b->P.np ? x.Vp : NULL;
    costate_times d = {.t0 = x.dt, .t1 = x.dt + m}, g = {.t0 = x.g, .t1 = x.g + m};
    costate_observations o = {.count = s->seen.count, .t = s->seen.t, .value = value, .seed = seed, .ctx = &s->seen};
    costate *c = new_for_test(s->m, s->P, &s->o);
    costate_tape *tape = costate_tape_new();
    int done = can(s, c, costate_integrate(c, b->t0, b->t1, x.y, b->p0, tape), "run") &&
               can(s, c, costate_tangent(c, tape, m, x.V, Vp, &d, &o), "tangent") &&
               can(s, c, costate_adjoint(c, tape, m, x.lambda, b->P.np ? x.mu : NULL, &g, &o), "adjoint") &&
               can(s, c, costate_replay(c, tape, x.z, b->p0), "replay") &&
               (!s->bends || hessian(s, &x, c, tape, &h));
    if (done) {
        double allowed = s->cancels ? fmax(1e-11, 4 * DBL_EPSILON * enlargement(s, tape)) : 1e-11;
        if (memcmp(x.y, x.z, (size_t)N * sizeof *x.y) != 0)
            fail_msg("%s: the replay differs by %.1e", s->text, largest_gap(N, x.y, x.z));
        s->worst = gap(s, &x) / allowed;
        if (!(s->worst <= 1)) fail_msg("%s: gap %.2e, allowed %.2e", s->text, s->worst * allowed, allowed);
        double bent = s->bends ? asymmetry(s, &x, &h) : 0, f = 4 * DBL_EPSILON * enlargement(s, tape);
        /* by times: derivatives of the dense output to the second, over h^2, with the round-off of its weights */
        double bound = s->timed ? fmax(1e-10, f) : allowed;
        if (method_info(s->m).family == COSTATE_RKC)
            bound = fmax(bound, DBL_EPSILON * ENLARGED * costate_tape_steps(tape));
        s->bent = bent / bound;
        if (!(bent <= bound)) fail_msg("%s: asymmetry %.2e, allowed %.2e", s->text, bent, bound);
        memcpy(x.y, x.start, (size_t)N * sizeof *x.y);
        done = can(s, c, costate_integrate_tlm(c, b->t0, b->t1, x.y, b->p0, m, x.V1, Vp, &d, NULL),
                   "tangent along the run");
        double other = done && s->o.storage == COSTATE_ALL_STAGES ? run_gap(s, &x) : 0;
        if (!(other <= allowed))
            fail_msg("%s: the tangent along the run differs by %.2e, allowed %.2e", s->text, other, allowed);
    }
    costate_tape_free(tape);
    costate_free(c);
    free(x.memory);
    free(h.memory);
    return done;
}

static void watch(setting *s, unsigned *u)
{
    size_t n = (size_t)s->b->P.n, m = (size_t)s->columns;
    s->seen = (data){.count = (int)random_below(u, SEEN_MOST + 1), .n = s->b->P.n, .columns = s->columns};
    s->seen.w = calloc(2 * SEEN_MOST * n * m, sizeof(double));
    assert_non_null(s->seen.w);
    s->seen.v = s->seen.w + SEEN_MOST * n * m;
    random_fill(u, SEEN_MOST * n * m, s->seen.w);
    for (int k = 0; k < s->seen.count; k++)
        s->seen.t[k] = s->b->t0 + (s->b->t1 - s->b->t0) * (k + 0.5 * (1 + random_in(u))) / s->seen.count;
}

static int mixed(const random_spec *r) { return r->mass != MASS_IDENTITY && !r->sparse && !r->diagonal; }

/* Every other case with a singular M tells which unknowns are algebraic, and the run makes them consistent. */
static int told(const random_spec *r, int k) { return r->mass == MASS_SINGULAR && k & 1; }

/* every third case, plain and twisted in turn, where the method takes it; NULL: as it is.  Constraints that are
   combinations of rows are not twisted: their start is found by Newton's iteration alone, from y' = 0. */
static problem *as_residual(const costate_method_info *i, const random_case *b, const random_spec *r, int k)
{
    problem of = {.name = "random", .t0 = b->t0, .t1 = b->t1, .y0 = b->y0, .p0 = b->p0, .P = b->P};
    static problem keep;                /* residual_of holds on to it */
    keep = of;
    int newton = i->family == COSTATE_SDIRK || i->family == COSTATE_FIRK;
    if (!newton || i->properties & COSTATE_EXPLICIT_FIRST || k % 3) return NULL;
    return residual_of(&keep, (k / 3 & 1) && !(mixed(r) && r->mass == MASS_SINGULAR), k / 6 & 1);
}

/* which unknowns are algebraic; consistent at the start, from anywhere near, or at the end, or both */
static void tell(setting *s, costate_problem *P, int *index, unsigned *u)
{
    int first = random_case_kept(P->n);
    for (int i = 0; i < P->n; i++) index[i] = i >= first;
    P->index = index;
    s->P = P;
    s->o.consistent = 1 + (int)random_below(u, 3);
    for (int i = first; i < P->n && s->o.consistent & COSTATE_CONSISTENT_START; i++) s->b->y0[i] += 0.1 * random_in(u);
}

static double stiffness(const costate_method_info *i, unsigned *u)
{
    if (i->family == COSTATE_ERK) return 5;
    return pow(10, (i->family == COSTATE_RKC ? 3.0 : 9.0) * random_below(u, 1000) / 999.0);
}

static random_spec spec_of(const costate_method_info *i, unsigned *u)
{
    random_spec r = {.seed = *u,
                     .kind = (int)random_below(u, RANDOM_KINDS),
                     .np = (int)random_below(u, 4),
                     .nq = (int)random_below(u, 3),
                     .sparse = (int)random_below(u, 2),
                     .autonomous = (int)random_below(u, 2),
                     .backwards = (int)random_below(u, 2),
                     .diagonal = i->family == COSTATE_RKC};
    r.n = random_below(u, 4) ? 1 + (int)random_below(u, 8) : 1 + (int)random_below(u, N_LARGEST);
    r.mass = (int)random_below(u, i->properties & COSTATE_DAE ? 3 : 2);
    r.stiffness = stiffness(i, u);
    if (r.mass == MASS_SINGULAR) r.kind = RANDOM_RATES;           /* kinetics with constraints may explode */
    if (mixed(&r)) r.stiffness = fmin(r.stiffness, 1e5);          /* more would drown the constraints in round-off */
    return r;
}

static costate_options options_of(const costate_method_info *i, const random_spec *r, unsigned *u)
{
    static const int solvers[] = {
        0, COSTATE_LS_GMRES, COSTATE_LS_DENSE, COSTATE_LS_BAND, COSTATE_LS_UMFPACK, COSTATE_LS_SUPERLU, COSTATE_LS_KLU};
    static const char *const built[] = {NULL, NULL, NULL, NULL, "umfpack", "superlu", "klu"};
    double digits = (i->order > 2 ? 5 : 3) * (double)random_below(u, 1000) / 999;
    int k = (int)random_below(u, r->sparse ? 7 : 2);
    costate_options o = {.rtol = pow(10, -2 - digits),
                         .autonomous = r->autonomous,
                         .max_steps = r->n > 8 && how_much() != TESTS_ALL ? 300 : 2000,      /* large cases take long */
                         .degree_max = DEGREE_MOST,
                         .keep_factors = random_below(u, 2) ? 1 : -1,
                         .storage = (int)random_below(u, 2),
                         .solver = built[k] && !costate_backend_find(built[k]) ? 0 : solvers[k]};
    o.atol = o.rtol * pow(10, -3.0 * random_below(u, 3));
    if (i->family == COSTATE_SDIRK || i->family == COSTATE_FIRK) o.stage_solve = (int)random_below(u, 3);
    return o;
}

static void random_runs(void **state)
{
    costate_method_info i = method_info(*state);
    double worst = 0, bent = 0;
    int done = 0;
    int tries = getenv("TRIES") ? atoi(getenv("TRIES")) : TRIES;      /* more of them by hand */
    int all = how_much() == TESTS_ALL || getenv("TRIES"), tried = 0;
    for (int k = all ? 0 : (i.order + i.stages) % SHARE; k < tries; k += all ? 1 : SHARE) {
        tried++;
        unsigned u = 7919u * (unsigned)k + (unsigned)i.stages * 31u + (unsigned)i.order;
        for (int w = 0; w < 3; w++) random_in(&u);
        random_spec r = spec_of(&i, &u);
        setting s = {.m = *state,
                     .b = random_case_new(&r),
                     .o = options_of(&i, &r, &u),
                     .cancels = r.kind == RANDOM_KINETICS || mixed(&r),
                     .bends = k % 4 < 2,
                     .timed = k & 1};
        s.columns = random_below(&u, 4) ? 1 + (int)random_below(&u, 3) : 1 + (int)random_below(&u, M_MOST);
        assert_non_null(s.b);
        problem *residual = as_residual(&i, s.b, &r, k);
        s.P = residual ? &residual->P : &s.b->P;
        int index[N_LARGEST];
        costate_problem with_index = *s.P;
        if (told(&r, k)) tell(&s, &with_index, index, &u);
        if (residual && k / 3 & 1) s.o.autonomous = 0;                  /* twisted: it depends on t */
        watch(&s, &u);
        snprintf(s.text, sizeof s.text,
                 "%s, case %d, residual %d: kind %d, n %d, np %d, nq %d, mass %d, sparse %d, stiff %.0e, rtol %.0e, "
                 "atol %.0e, solver %d, stages %d, keep %d, storage %d, consistent %d, m %d",
                 i.name, k, residual ? 1 + (k / 3 & 1) : 0, r.kind, r.n, r.np, r.nq, r.mass, r.sparse, r.stiffness,
                 s.o.rtol, s.o.atol, s.o.solver, s.o.stage_solve, s.o.keep_factors, s.o.storage, s.o.consistent,
                 s.columns);
        done += try(&s, &u);
        worst = larger_of(worst, s.worst);
        bent = larger_of(bent, s.bent);
        free(s.seen.w);
        residual_free(residual);
        random_case_free(s.b);
    }
    print_message("           %d of %d runs within the steps, largest gap %.1e of what is allowed, asymmetry %.1e\n",
                  done, tried, worst, bent);
    assert_true(3 * done >= (all ? 2 * tried : tried));
}

int main(void) { return run_by_kind("random runs", random_runs); }
