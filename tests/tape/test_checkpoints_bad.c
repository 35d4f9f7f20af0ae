/* test_checkpoints_bad.c - tapes with checkpoints, and in files, where something is amiss or rare: too little memory,
   callbacks that change, two sweeps at once, runs that stop, fail or go on, sizes and scales at the edge: a status and
   a sentence, or what a tape of the same steps that keeps them all gives. */
#include <pthread.h>
#include <unistd.h>
#include "files.h"
#include "alloc.h"
#include "random_case.h"

enum { N_MOST = 48, P_MOST = 4, M = 2 };

static char path[64];

/* ---- a run, and all that sweeps give over its tape ---- */

typedef struct {
    const costate_method *m;
    costate_problem P;
    costate_options o;
    double t0, t1;
    const double *y0, *p;
    int file;                            /* 1: the tape is in one */
    costate *c;
    costate_tape *tape;
    double y[N_MOST];
} world;

typedef struct {
    double V[N_MOST * M], lambda[N_MOST * M], mu[P_MOST * M], g[N_MOST], H[N_MOST * M], Hp[P_MOST * M], G[N_MOST * M];
    double at[3][N_MOST];
} swept;

static int size_of(const world *w) { return w->P.n + w->P.nq + w->P.nm; }

static int quadratic(double t1, const double *y, const double *p, int m, const double *V, const double *Vp,
                     double *lambda, double *mu, double *lambda2, double *mu2, void *ctx)
{
    int N = *(const int *)ctx;
    (void)t1, (void)p, (void)Vp, (void)mu, (void)mu2;
    for (int i = 0; lambda && i < N; i++) lambda[i] = y[i];
    memcpy(lambda2, V, (size_t)(N * m) * sizeof *V);
    return 0;
}

static int gradients(const world *w, costate *c, const costate_tape *tape, swept *r)
{
    unsigned seed = 7;
    double Vp[P_MOST * M];
    memset(r, 0, sizeof *r);
    random_fill(&seed, N_MOST * M, r->V);
    random_fill(&seed, N_MOST * M, r->lambda);
    random_fill(&seed, P_MOST * M, Vp);
    int status = costate_adjoint(c, tape, M, r->lambda, w->P.np ? r->mu : NULL, NULL, NULL);
    return status ? status : costate_tangent(c, tape, M, r->V, w->P.np ? Vp : NULL, NULL, NULL);
}

/* the first that fails */
static int sweep_all(const world *w, costate *c, const costate_tape *tape, swept *r)
{
    unsigned seed = 9;
    int N = size_of(w), status = gradients(w, c, tape, r);
    double V[N_MOST * M];
    random_fill(&seed, N_MOST * M, V);
    costate_second s = {.m = M, .V = V, .seed = quadratic, .ctx = &N, .lambda = r->g, .lambda2 = r->H,
                        .mu2 = w->P.np ? r->Hp : NULL};
    if (!status) status = costate_hessian(c, tape, &s);
    s.lambda2 = r->G;
    s.mu2 = NULL;
    if (!status) status = costate_gauss_newton(c, tape, &s);
    for (int k = 0; k < 3 && !status && costate_tape_steps(tape) > 0; k++)
        status = costate_tape_eval(c, tape, w->t0 + (costate_time(w->c) - w->t0) * (0.9 - 0.4 * k), r->at[k]);
    return status;
}

static void begin(world *w)
{
    w->c = new_for_test(w->m, &w->P, &w->o);
    w->tape = w->file ? costate_tape_open(path) : costate_tape_new();
    memset(w->y, 0, sizeof w->y);
    memcpy(w->y, w->y0, (size_t)w->P.n * sizeof *w->y);
}

static int run(world *w)
{
    unlink(path);
    begin(w);
    return costate_integrate(w->c, w->t0, w->t1, w->y, w->p, w->tape);
}

static void finish(world *w)
{
    costate_tape_free(w->tape);
    costate_free(w->c);
}

static void say(const world *w, const char *what, int count, const double *a, const double *b)
{
    double most = is_newton(w->m) || w->o.solver == COSTATE_LS_GMRES ? 1e-10 : 0, gap = relative_gap(count, a, b);
    if (!(gap <= most))
        fail_msg("%s, storage %d, file %d: %s: %.2e", method_name(w->m), w->o.storage, w->file, what, gap);
}

static void same(const world *w, const swept *a, const swept *b)
{
    int N = size_of(w), np = w->P.np;
    say(w, "gradient", N * M, a->lambda, b->lambda);
    say(w, "gradient by p", np * M, a->mu, b->mu);
    say(w, "tangent", N * M, a->V, b->V);
    say(w, "gradient of the Hessian", N, a->g, b->g);
    say(w, "Hessian", N * M, a->H, b->H);
    say(w, "Hessian by p", np * M, a->Hp, b->Hp);
    say(w, "Gauss-Newton", N * M, a->G, b->G);
    for (int k = 0; k < 3; k++) say(w, "dense output", w->P.n, a->at[k], b->at[k]);
}

typedef int sweeps_of(const world *, costate *, const costate_tape *, swept *);

/* what is on the tape gives what the same steps give in memory */
static void compare(const world *w, sweeps_of *sweeps)
{
    swept ours, theirs;
    double y[N_MOST] = {0};
    costate_options o = w->o;
    o.storage = COSTATE_ALL_STAGES;
    o.tape_limit = 0;
    o.on_step = NULL;
    costate *c = new_for_test(w->m, &w->P, &o);
    costate_tape *all = costate_tape_new();
    CHECK_OK(w->c, sweeps(w, w->c, w->tape, &ours));
    memcpy(y, w->y0, (size_t)w->P.n * sizeof *y);
    CHECK_OK(c, costate_replay_onto(c, w->tape, y, w->p, all));
    assert_memory_equal(y, w->y, (size_t)size_of(w) * sizeof *y);
    CHECK_OK(c, sweeps(w, c, all, &theirs));
    same(w, &ours, &theirs);
    costate_tape_free(all);
    costate_free(c);
}

static void as_in_memory(const world *w) { compare(w, sweep_all); }

/* ---- the usual run: 3 states, 2 parameters, 2 integrals ---- */

static const char *const names[] = {"dopri5", "rodas4", "radau2a", "sdirk4a", "rock4"};
enum { NAMES = sizeof names / sizeof *names, FORMS = 3 };

static random_case *plain;

/* form: checkpoints; a file of them; a file of all */
static world usual(const char *name, int form)
{
    world w = {.m = costate_method_find(name), .P = plain->P, .t0 = plain->t0, .t1 = plain->t1, .y0 = plain->y0,
               .p = plain->p0, .file = form > 0};
    w.o = (costate_options){.rtol = 1e-4, .atol = 1e-4, .hmax = 0.01, .checkpoints = 30,
                            .storage = form < 2 ? COSTATE_CHECKPOINTS : COSTATE_ALL_STAGES};
    if (is_newton(w.m)) w.o.stage_solve = COSTATE_STAGE_DIRECT;
    return w;
}

static void fails(costate *c, int status, int expected, const char *word)
{
    if (status != expected || !strstr(costate_message(c), word))
        fail_msg("%s: %s", costate_status_name(status), costate_message(c));
}

/* ---- memory ---- */

static void too_few(void **state)
{
    (void)state;
    for (int k = 0; k < NAMES; k++) {
        int least = 1, status;
        for (; least < 100; least++) {
            world w = usual(names[k], 0);
            w.o.checkpoints = least;
            if ((status = run(&w)) == COSTATE_OK) as_in_memory(&w);
            else {
                fails(w.c, status, COSTATE_BAD_ARGUMENT, "options.checkpoints");
                assert_int_equal(costate_tape_steps(w.tape), 0);
            }
            finish(&w);
            if (status == COSTATE_OK) break;
        }
        assert_true(least > 2 && least < 100);
    }
}

typedef struct { const costate_tape *tape; size_t most; } watched;

static int watch_bytes(const costate_step *step, void *ctx)
{
    watched *x = ctx;
    size_t now = costate_tape_bytes(x->tape);
    (void)step;
    if (now > x->most) x->most = now;
    return 0;
}

static void limited(void **state)
{
    (void)state;
    for (int k = 0; k < NAMES; k++)
        for (int form = 0; form < FORMS; form++) {
            if (skipped(k + form, 2)) continue;
            int fit = 0, refused = 0;
            for (double limit = 100; limit < 3e5; limit *= 1.3) {
                world w = usual(names[k], form);
                watched x = {NULL, 0};
                w.o.checkpoints = 0;
                w.o.tape_limit = (size_t)limit;
                w.o.on_step = watch_bytes;
                w.o.on_step_ctx = &x;
                begin(&w);
                x.tape = w.tape;
                int status = costate_integrate(w.c, w.t0, w.t1, w.y, w.p, w.tape);
                int steps = costate_tape_steps(w.tape);
                if ((steps > 0 && costate_tape_bytes(w.tape) > w.o.tape_limit) || x.most > w.o.tape_limit)
                    fail_msg("%s, form %d: %zu, %zu bytes of %zu", names[k], form, costate_tape_bytes(w.tape), x.most,
                             w.o.tape_limit);
                if (status) {
                    assert_int_equal(fit, 0);                               /* who has less needs no more */
                    refused++;
                    fails(w.c, status, COSTATE_TAPE_LIMIT, "tape_limit");
                } else {
                    fit++;
                    compare(&w, gradients);                                 /* products ask for more */
                    if (costate_tape_bytes(w.tape) > w.o.tape_limit)
                        fail_msg("%s, form %d: %zu bytes of %zu after sweeps", names[k], form,
                                 costate_tape_bytes(w.tape), w.o.tape_limit);
                }
                finish(&w);
            }
            assert_true(fit > 3 && refused > 3);
        }
}

/* ---- callbacks that change; two sweeps at once ---- */

typedef struct { const costate_problem *P; double scale; int call; int (*also)(void *), status; void *with; } altered;

static int altered_value(const costate_point *x, double *out, void *ctx)
{
    const altered *a = ctx;
    int status = a->P->rhs.value(x, out, a->P->ctx);
    for (int i = 0; i < a->P->n; i++) out[i] *= a->scale;
    return status;
}

static int altered_adjoint(const costate_point *x, const double *v, const costate_gradient *g, void *ctx)
{
    altered *a = ctx;
    if (a->also && a->call++ == 20) a->status = a->also(a->with);
    return a->P->rhs.adjoint(x, v, g, a->P->ctx);
}

static int altered_tangent(const costate_point *x, const costate_point *dx, double *out, void *ctx)
{
    const altered *a = ctx;
    return a->P->rhs.tangent(x, dx, out, a->P->ctx);
}

static int altered_jac(const costate_point *x, double *J, void *ctx)
{
    const altered *a = ctx;
    return a->P->jac(x, J, a->P->ctx);
}

static int altered_cost(const costate_point *x, double *out, void *ctx)
{
    const altered *a = ctx;
    return a->P->cost.value(x, out, a->P->ctx);
}

static int altered_cost_adjoint(const costate_point *x, const double *v, const costate_gradient *g, void *ctx)
{
    const altered *a = ctx;
    return a->P->cost.adjoint(x, v, g, a->P->ctx);
}

/* first derivatives alone */
static costate_problem alter(altered *a, const costate_problem *P)
{
    *a = (altered){.P = P, .scale = 1};
    return (costate_problem){.n = P->n, .np = P->np, .nq = P->nq, .ctx = a,
                             .rhs = {.value = altered_value, .tangent = altered_tangent, .adjoint = altered_adjoint},
                             .cost = {.value = altered_cost, .adjoint = altered_cost_adjoint}, .jac = altered_jac};
}

static void changed(void **state)
{
    (void)state;
    for (int k = 0; k < NAMES; k++)
        for (int form = 0; form < 2; form++) {
            if (strcmp(names[k], "rodas4") == 0) continue;                  /* takes second derivatives */
            world w = usual(names[k], form);
            altered a;
            costate_problem own = w.P;
            double lambda[N_MOST] = {1}, mu[P_MOST] = {0}, y[N_MOST];
            w.P = alter(&a, &own);
            CHECK_OK(w.c, run(&w));
            a.scale = 1 + 1e-9;
            fails(w.c, costate_adjoint(w.c, w.tape, 1, lambda, mu, NULL, NULL), COSTATE_BAD_TAPE, "callbacks");
            fails(w.c, costate_tape_eval(w.c, w.tape, w.t0 + 0.4, y), COSTATE_BAD_TAPE, "callbacks");
            a.scale = 1;
            lambda[0] = 1;
            CHECK_OK(w.c, costate_adjoint(w.c, w.tape, 1, lambda, mu, NULL, NULL));     /* and all is well again */
            finish(&w);
        }
}

/* by another solver */
static int sweep_too(void *with)
{
    const world *w = with;
    double lambda[N_MOST] = {1}, mu[P_MOST] = {0};
    altered none;
    world own = *w;
    own.P = alter(&none, ((altered *)w->P.ctx)->P);
    own.P.ctx = w->P.ctx;
    costate *c = new_for_test(w->m, &own.P, &w->o);
    int status = costate_adjoint(c, w->tape, 1, lambda, mu, NULL, NULL);
    if (status && !strstr(costate_message(c), "Another sweep")) status = 1;
    costate_free(c);
    return status;
}

static void nested(void **state)
{
    (void)state;
    for (int k = 0; k < NAMES; k++)
        for (int form = 0; form < FORMS; form++) {
            if (skipped(k + form, 2)) continue;
            if (strcmp(names[k], "rodas4") == 0) continue;
            world w = usual(names[k], form);
            altered a;
            costate_problem own = w.P;
            double lambda[N_MOST] = {1}, mu[P_MOST] = {0}, alone[N_MOST] = {1}, mu_alone[P_MOST] = {0};
            w.P = alter(&a, &own);
            CHECK_OK(w.c, run(&w));
            CHECK_OK(w.c, costate_adjoint(w.c, w.tape, 1, alone, mu_alone, NULL, NULL));
            a.also = sweep_too;
            a.with = &w;
            CHECK_OK(w.c, costate_adjoint(w.c, w.tape, 1, lambda, mu, NULL, NULL));
            assert_int_equal(a.status, COSTATE_BAD_TAPE);
            say(&w, "around another sweep", N_MOST, lambda, alone);
            finish(&w);
        }
}

typedef struct { const world *w; swept r; int refused, status; } thread;

static void *sweeps(void *of)
{
    thread *x = of;
    costate *c = new_for_test(x->w->m, &x->w->P, &x->w->o);
    for (int done = 0; done < 5 && !x->status;) {
        int status = gradients(x->w, c, x->w->tape, &x->r);
        if (status == COSTATE_BAD_TAPE && strstr(costate_message(c), "Another sweep")) x->refused++;
        else if (status) x->status = status;
        else done++;
    }
    costate_free(c);
    return NULL;
}

static void threads(void **state)
{
    (void)state;
    for (int k = 0; k < NAMES; k++)
        for (int form = 0; form < FORMS; form++) {
            if (skipped(k + form, 2)) continue;
            world w = usual(names[k], form);
            thread x[2] = {{.w = &w}, {.w = &w}};
            pthread_t id[2];
            CHECK_OK(w.c, run(&w));
            for (int j = 0; j < 2; j++) assert_int_equal(pthread_create(&id[j], NULL, sweeps, &x[j]), 0);
            for (int j = 0; j < 2; j++) pthread_join(id[j], NULL);
            for (int j = 0; j < 2; j++) assert_int_equal(x[j].status, COSTATE_OK);
            same(&w, &x[0].r, &x[1].r);
            as_in_memory(&w);
            finish(&w);
        }
}

/* ---- runs that go on, stop, fail ---- */

static void gone_on(void **state)
{
    (void)state;
    for (int k = 0; k < NAMES; k++)
        for (int form = 0; form < FORMS; form++)
            for (int warm = 0; warm < 2; warm++) {
                if (skipped(k + form + warm, 2)) continue;
                world w = usual(names[k], form);
                double t1 = w.t1, y[N_MOST];
                w.o.warm = warm;
                w.t1 = w.t0 + 0.4;
                CHECK_OK(w.c, run(&w));
                for (int third = 1; third < 4; third++) {
                    swept r;
                    if (third == 2) CHECK_OK(w.c, gradients(&w, w.c, w.tape, &r));   /* its room is used in between */
                    CHECK_OK(w.c, costate_continue(w.c, w.tape, w.t1 + (t1 - w.t1) * third / 3, w.y));
                    as_in_memory(&w);
                }
                if (w.file) {
                    int steps = costate_tape_steps(w.tape);
                    costate_tape_free(w.tape);
                    w.tape = costate_tape_open(path);
                    CHECK_OK(w.c, costate_resume(w.c, w.tape, y));
                    assert_memory_equal(y, w.y, (size_t)size_of(&w) * sizeof *y);
                    assert_int_equal(costate_tape_steps(w.tape), steps);
                    as_in_memory(&w);
                }
                finish(&w);
            }
}

typedef struct { int left; } stop;
static int stop_after(const costate_step *step, void *ctx)
{
    (void)step;
    return ((stop *)ctx)->left-- == 0;
}

static void stopped(void **state)
{
    (void)state;
    for (int k = 0; k < NAMES; k++)
        for (int form = 0; form < FORMS; form++)
            for (int left = 0; left < 60; left += 7) {
                if (skipped(k + form + left / 7, 5)) continue;
                world w = usual(names[k], form), whole = usual(names[k], 0);
                stop at = {left};
                double y[N_MOST];
                w.o.on_step = stop_after;
                w.o.on_step_ctx = &at;
                assert_int_equal(run(&w), COSTATE_STOPPED);
                assert_int_equal(costate_tape_steps(w.tape), left + 1);
                as_in_memory(&w);
                if (!w.file) { finish(&w); continue; }
                whole.file = 1;
                whole.o = w.o;
                whole.o.on_step = NULL;
                CHECK_OK(w.c, costate_resume(w.c, w.tape, w.y));            /* to the end, once it is not stopped */
                as_in_memory(&w);
                memcpy(y, w.y, sizeof y);
                finish(&w);
                CHECK_OK(whole.c, run(&whole));
                assert_memory_equal(y, whole.y, (size_t)size_of(&whole) * sizeof *y);
                finish(&whole);
            }
}

static void failed(void **state)
{
    (void)state;
    for (int k = 0; k < NAMES; k++)
        for (int form = 0; form < FORMS; form++)
            for (int steps = 1; steps < 50; steps += 8) {
                if (skipped(k + form + steps / 8, 3)) continue;
                world w = usual(names[k], form);
                w.o.max_steps = steps;
                int status = run(&w);
                fails(w.c, status, COSTATE_MAX_STEPS, "max_steps");
                assert_true(costate_tape_steps(w.tape) > 0);
                as_in_memory(&w);
                finish(&w);
            }
}

/* ---- edges ---- */

static void gets(void **state)
{
    (void)state;
    for (int k = 0; k < NAMES; k++)
        for (int form = 0; form < FORMS; form++) {
            if (skipped(k + form, 2)) continue;
            world w = usual(names[k], form);
            double t, h, y[N_MOST];
            CHECK_OK(w.c, run(&w));
            int last = costate_tape_steps(w.tape) - 1;
            assert_int_equal(costate_tape_get(w.tape, last / 2, &t, &h, NULL), COSTATE_OK);
            assert_true(t > w.t0 && t + h < w.t1);
            assert_int_equal(costate_tape_get(w.tape, last / 2, &t, &h, y), COSTATE_BAD_TAPE);
            assert_int_equal(costate_tape_get(w.tape, -1, &t, &h, y), COSTATE_OUT_OF_RANGE);
            assert_int_equal(costate_tape_get(w.tape, last + 1, &t, &h, y), COSTATE_OUT_OF_RANGE);
            finish(&w);
        }
}

static void short_runs(void **state)
{
    (void)state;
    for (int k = 0; k < NAMES; k++)
        for (int form = 0; form < FORMS; form++)
            for (int steps = 0; steps < 3; steps++) {
                world w = usual(names[k], form);
                costate_forecast f;
                double y[N_MOST];
                w.o.controller = COSTATE_FIXED;
                w.o.h0 = 0.01;
                w.t1 = w.t0 + 0.01 * steps;
                CHECK_OK(w.c, run(&w));
                assert_int_equal(costate_tape_steps(w.tape), steps);
                as_in_memory(&w);
                assert_int_equal(costate_tape_forecast(w.tape, &f), COSTATE_OK);
                assert_int_equal(f.steps, steps);
                if (w.file) {
                    costate_tape_free(w.tape);
                    w.tape = costate_tape_open(path);
                    CHECK_OK(w.c, costate_resume(w.c, w.tape, y));
                    assert_memory_equal(y, w.y, (size_t)size_of(&w) * sizeof *y);
                    as_in_memory(&w);
                }
                finish(&w);
            }
}

static world random_world(const costate_method *m, const random_case *r, int form)
{
    world w = {.m = m, .P = r->P, .t0 = r->t0, .t1 = r->t1, .y0 = r->y0, .p = r->p0, .file = form > 0};
    w.o = (costate_options){.rtol = 1e-3, .atol = 1e-3, .checkpoints = 16,
                            .storage = form < 2 ? COSTATE_CHECKPOINTS : COSTATE_ALL_STAGES};
    if (is_newton(m)) w.o.stage_solve = COSTATE_STAGE_DIRECT;
    return w;
}

/* M is the identity, regular, singular; dense and in a pattern; stiffness 1e9, or conditions of 1e14 */
static void random_cases(void **state)
{
    static const char *const methods[] = {"rodas4", "radau2a", "sdirk4a"};
    (void)state;
    for (int k = 0; k < 54; k++) {
        if (skipped(k + k / 3 + k / 18, 3)) continue;
        const costate_method *m = costate_method_find(methods[k % 3]);
        random_spec spec = {.seed = (unsigned)k, .kind = k / 3 % 2 ? RANDOM_KINETICS : RANDOM_RATES,
                            .n = k / 6 % 3 == 0 ? 1 : k / 6 % 3 == 1 ? 5 : 40, .np = 2, .nq = 2, .mass = k / 18 % 3,
                            .sparse = k & 1, .autonomous = k & 2, .backwards = k & 4, .stiffness = 1e9};
        if (spec.mass == MASS_SINGULAR && (spec.n == 1 || spec.kind == RANDOM_KINETICS || !method_takes(m, spec.mass)))
            continue;
        if (spec.kind == RANDOM_KINETICS && spec.n == 1) continue;
        random_case *r = random_case_new(&spec);
        assert_non_null(r);
        for (int form = 0; form < FORMS; form++) {
            if (spec.n == 40 && form != (k / 3 + k) % FORMS) continue;           /* one of them: they take long */
            world w = random_world(m, r, form);
            CHECK_OK(w.c, run(&w));
            as_in_memory(&w);
            finish(&w);
        }
        random_case_free(r);
    }
}

/* y_i' = -rate_i y_i */
static const double rates[3] = {1, 3, 0.2};

static int decay(const costate_point *x, double *out, void *ctx)
{
    (void)ctx;
    for (int i = 0; i < 3; i++) out[i] = -rates[i] * x->y[i];
    return 0;
}

static int decay_tangent(const costate_point *x, const costate_point *dx, double *out, void *ctx)
{
    (void)x, (void)ctx;
    for (int i = 0; i < 3; i++) out[i] = dx->y ? -rates[i] * dx->y[i] : 0;
    return 0;
}

static int decay_adjoint(const costate_point *x, const double *w, const costate_gradient *g, void *ctx)
{
    (void)x, (void)ctx;
    for (int i = 0; g->y && i < 3; i++) g->y[i] -= rates[i] * w[i];
    return 0;
}

static int decay_jac(const costate_point *x, double *J, void *ctx)
{
    (void)x, (void)ctx;
    for (int i = 0; i < 9; i++) J[i] = i % 4 ? 0 : -rates[i / 4];
    return 0;
}

static int none2(const costate_point *x, const costate_point *a, const costate_point *b, double *out, void *ctx)
{
    (void)x, (void)a, (void)b, (void)ctx;
    out[0] = out[1] = out[2] = 0;
    return 0;
}

static int none_adjoint(const costate_point *x, const costate_point *dx, const double *w, const costate_gradient *g,
                        void *ctx)
{
    (void)x, (void)dx, (void)w, (void)g, (void)ctx;
    return 0;
}

static int none_adjoint2(const costate_point *x, const costate_point *a, const costate_point *b, const double *w,
                         const costate_gradient *g, void *ctx)
{
    (void)x, (void)a, (void)b, (void)w, (void)g, (void)ctx;
    return 0;
}

/* t0 = 1.7e12, where times of callbacks are 2.4e-4 apart; states of 1e-160 */
static void far_and_tiny(void **state)
{
    static const double tiny[3] = {1e-160, -2e-160, 3e-160};
    (void)state;
    for (int k = 0; k < NAMES; k++)
        for (int form = 0; form < FORMS; form++) {
            if (skipped(k + form, 2)) continue;
            world w = usual(names[k], form);
            w.t0 = 1.7e12;
            w.t1 = w.t0 + 1;
            CHECK_OK(w.c, run(&w));
            as_in_memory(&w);
            finish(&w);
            w = usual(names[k], form);
            w.P = (costate_problem){.n = 3, .rhs = {.value = decay, .tangent = decay_tangent, .adjoint = decay_adjoint,
                                    .tangent2 = none2, .adjoint_tangent = none_adjoint,
                                    .adjoint_tangent2 = none_adjoint2}, .jac = decay_jac};
            w.y0 = tiny;
            w.o.atol = 1e-170;
            CHECK_OK(w.c, run(&w));
            as_in_memory(&w);
            finish(&w);
        }
}

/* ---- gone on with by who has more memory, or less ---- */

/* A run onto a tape that was used, with its own limit, cut, and gone on with by another limit or number: its bits, or
   refused. */
static void other_memory(void **state)
{
    static const size_t limits[] = {40000, 8000, 200000, 0};
    int went_on = 0;
    (void)state;
    for (int k = 0; k < NAMES; k++)
        for (int used = 0; used < 2; used++)
            for (int l = 0; l < 4; l++) {
                world w = usual(names[k], 1), r;
                double y[N_MOST];
                w.o.checkpoints = 0;
                w.o.tape_limit = limits[0];
                CHECK_OK(w.c, run(&w));
                if (used) {
                    memset(w.y, 0, sizeof w.y);
                    memcpy(w.y, w.y0, (size_t)w.P.n * sizeof *w.y);
                    CHECK_OK(w.c, costate_integrate(w.c, w.t0, w.t1, w.y, w.p, w.tape));
                }
                memcpy(y, w.y, sizeof y);
                int steps = costate_tape_steps(w.tape);
                finish(&w);
                bytes_of file = file_bytes(path);
                file_is(path, file.data, file.length / 2, 0);
                r = w;
                r.o.tape_limit = limits[l];
                begin(&r);
                int status = costate_resume(r.c, r.tape, r.y);
                if (status) {
                    assert_true(l > 0);
                    assert_true(status == COSTATE_BAD_TAPE || status == COSTATE_TAPE_LIMIT);
                } else {
                    went_on++;
                    if (costate_tape_steps(r.tape) != steps || memcmp(r.y, y, (size_t)size_of(&r) * sizeof *y) != 0)
                        fail_msg("%s, limit %zu, tape used %d: other bits", names[k], limits[l], used);
                    as_in_memory(&r);
                }
                finish(&r);
                free(file.data);
            }
    assert_true(went_on >= 2 * NAMES);
}

/* ---- no memory ---- */

/* a run, its sweeps; a run that was killed gone on with, its sweeps */
static int all_calls(world *w, const bytes_of *killed, swept *r, int *made)
{
    begin(w);
    *made = w->c && w->tape;
    int status = w->c ? costate_status(w->c) : COSTATE_NO_MEMORY;
    if (*made && !status && !killed) status = costate_integrate(w->c, w->t0, w->t1, w->y, w->p, w->tape);
    if (*made && !status && killed) status = costate_resume(w->c, w->tape, w->y);
    if (*made && !status) status = sweep_all(w, w->c, w->tape, r);
    return status;
}

static void no_memory(const char *name, int form, const bytes_of *killed)
{
    swept expected, r;
    long k = 0, failures = 0;
    do {
        world w = usual(name, form);
        int made, again;
        w.o.hmax = 0.03;
        if (killed) file_is(path, killed->data, killed->length, 0);
        alloc_fail_at(k);
        int status = all_calls(&w, killed, &r, &made);
        failures = alloc_failures();
        alloc_fail_at(0);
        if (k == 0) { CHECK_OK(w.c, status); expected = r; }
        if (status != (failures ? COSTATE_NO_MEMORY : COSTATE_OK) && made)
            fail_msg("%s, form %d, call %ld: %s: %s", name, form, k, costate_status_name(status), costate_message(w.c));
        if (made && status) assert_non_null(strstr(costate_message(w.c), "o memory"));
        costate_tape_free(w.tape);
        costate_free(w.c);
        if (failures && k % 5 == 0) {                                       /* what the failure left is of use */
            status = all_calls(&w, killed, &r, &again);
            CHECK_OK(w.c, status);
            same(&w, &r, &expected);
            finish(&w);
        }
        k++;
    } while (k == 1 || failures);
    print_message("           %s, form %d%s: %ld calls\n", name, form, killed ? ", resumed" : "", k - 1);
}

static void allocations(void **state)
{
    (void)state;
    for (int k = 0; k < 3; k++)
        for (int form = 0; form < FORMS; form++) {
            if (skipped(k + form, 2)) continue;
            no_memory(names[k], form, NULL);
            if (form == 0) continue;
            world w = usual(names[k], form);
            w.o.hmax = 0.03;
            CHECK_OK(w.c, run(&w));
            finish(&w);
            bytes_of file = file_bytes(path);
            file.length = file.length * 2 / 3;
            no_memory(names[k], form, &file);
            free(file.data);
        }
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(too_few), cmocka_unit_test(limited), cmocka_unit_test(changed), cmocka_unit_test(nested),
        cmocka_unit_test(threads), cmocka_unit_test(gone_on), cmocka_unit_test(stopped), cmocka_unit_test(failed),
        cmocka_unit_test(gets), cmocka_unit_test(short_runs), cmocka_unit_test(random_cases),
        cmocka_unit_test(far_and_tiny), cmocka_unit_test(other_memory), cmocka_unit_test(allocations)};
    snprintf(path, sizeof path, "checkpoints_bad_%ld.tape", (long)getpid());
    plain = random_case_new(&(random_spec){.seed = 3, .n = 3, .np = 2, .nq = 2, .stiffness = 10});
    int count = cmocka_run_group_tests_name("bad checkpoints", tests, NULL, NULL);
    random_case_free(plain);
    unlink(path);
    return count;
}
