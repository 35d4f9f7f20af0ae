/* costate.c - the race by costate's methods. */
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "ilu0.h"
#include "peer.h"
#include "precondition.h"

/* ---- ILU(0), the one that CVODES is raced with ---- */

typedef struct { const ivp *b; ilu0 *f; double *J, *K, *z, scale; } incomplete;

/* sigma (I - J/sigma), or of a residual F_y + sigma F_y' */
static int ilu0_setup(double sigma, const costate_point *x, void *ctx)
{
    incomplete *q = ctx;
    const costate_problem *P = &q->b->P;
    int code = P->jac(x, q->J, P->ctx);
    q->scale = P->jac_yp ? 1 : 1 / sigma;
    if (code == 0 && P->jac_yp) code = P->jac_yp(x, q->K, P->ctx);
    return code ? code : P->jac_yp ? ilu0_factor_sum(q->f, q->J, sigma, q->K) : ilu0_factor(q->f, q->J, 1 / sigma);
}

static int ilu0_apply(int transpose, double *x, void *ctx)
{
    incomplete *q = ctx;
    int n = q->b->P.n;
    for (int i = 0; i < n; i++) x[i] *= q->scale;
    ilu0_solve(q->f, transpose, x, q->z);
    memcpy(x, q->z, (size_t)n * sizeof *x);
    return 0;
}

static int incomplete_new(const ivp *b, incomplete *q)
{
    size_t entries = (size_t)b->P.pattern->col[b->P.n];
    *q = (incomplete){.b = b, .f = ilu0_new(b->P.pattern), .J = malloc(entries * sizeof *q->J),
                      .K = malloc(entries * sizeof *q->K), .z = malloc((size_t)b->P.n * sizeof *q->z)};
    return q->f && q->J && q->K && q->z;
}

static void incomplete_free(incomplete *q)
{
    ilu0_free(q->f);
    free(q->J);
    free(q->K);
    free(q->z);
}

/* ---- a run ------------------------------------------------------------------------------------------------------- */

typedef struct {
    ride of;
    costate *c;
    costate_tape *tape;
    double *z;                   /* (N + np) times directions, N = ivp_length: tangents, the gradient, or products: by y
                                    of all directions, then by p */
    double *V, *gradient;        /* second, differences: the directions, like z; N + np */
    double *p;                   /* np: b->p, or what differences made of it */
    incomplete ilu0;
    costate_preconditioner by;
    precondition *matrix;
} runner;

static size_t rows(const runner *u) { return (size_t)ivp_length(u->of.b); }
static double *by_p(const runner *u, double *z, int m) { return u->of.b->P.np ? z + rows(u) * (size_t)m : NULL; }

static void restart(const runner *u)
{
    const ivp *b = u->of.b;
    size_t n = (size_t)b->P.n, N = rows(u), np = (size_t)b->P.np;
    int m = u->of.task.directions;
    memcpy(u->of.r->y, b->y0, N * sizeof(double));
    if (np) memcpy(u->p, b->p, np * sizeof *u->p);
    memset(u->z, 0, (N + np) * (size_t)m * sizeof *u->z);
    memset(u->gradient, 0, (N + np) * sizeof *u->gradient);
    for (int k = 0; u->of.task.mode == RACE_TLM && k < m; k++) u->z[(size_t)k * N + (size_t)k % n] = 1;
}

static int forward(const runner *u, costate_tape *tape)
{
    return costate_integrate(u->c, 0, u->of.task.tf, u->of.r->y, u->p, tape);
}

static int backward(const runner *u, double *out)
{
    ivp_seed(u->of.b, u->of.r->y, out);
    return costate_adjoint(u->c, u->tape, 1, out, by_p(u, out, 1), NULL, NULL);
}

static int seed2(double t1, const double *y, const double *p, int m, const double *V, const double *Vp, double *lambda,
                 double *mu, double *lambda2, double *mu2, void *ctx)
{
    (void)t1, (void)p, (void)Vp, (void)mu, (void)mu2;
    ivp_seed(ctx, y, lambda);
    return ivp_seed2(ctx, m, V, lambda2);
}

static int products(const runner *u)
{
    int m = u->of.task.directions;
    costate_second s = {.m = m, .V = u->V, .Vp = by_p(u, u->V, m), .seed = seed2, .ctx = (void *)(uintptr_t)u->of.b,
                        .lambda = u->gradient, .mu = by_p(u, u->gradient, 1), .lambda2 = u->z,
                        .mu2 = by_p(u, u->z, m)};
    return costate_hessian(u->c, u->tape, &s);
}

/* z += factor times the gradient, a factor along the direction; times are added to the lap */
static int gradient_at(const runner *u, double factor, race_lap *lap)
{
    const ivp *b = u->of.b;
    size_t N = rows(u), np = (size_t)b->P.np;
    double start = clock_now(), middle;
    for (size_t i = 0; i < N; i++) u->of.r->y[i] = b->y0[i] + factor * u->V[i];
    for (size_t i = 0; i < np; i++) u->p[i] = b->p[i] + factor * u->V[N + i];
    int status = forward(u, u->tape);
    middle = clock_now();
    memset(u->gradient, 0, (N + np) * sizeof *u->gradient);
    if (status == COSTATE_OK) status = backward(u, u->gradient);
    for (size_t i = 0; i < N + np; i++) u->z[i] += u->gradient[i] / (2 * factor);
    lap->forward += middle - start;
    lap->backward += clock_now() - middle;
    return status;
}

static int differences(const runner *u, race_lap *lap)
{
    double eps = u->of.task.eps;
    lap->forward = lap->backward = 0;
    int status = gradient_at(u, eps, lap);
    return status == COSTATE_OK ? gradient_at(u, -eps, lap) : status;
}

static int once(const runner *u, race_lap *lap)
{
    const race_task *task = &u->of.task;
    int mode = task->mode, status;
    double start = clock_now(), middle;
    if (mode == RACE_DIFFERENCES) return differences(u, lap);
    if (mode == RACE_TLM)
        status = costate_integrate_tlm(u->c, 0, task->tf, u->of.r->y, u->p, task->directions, u->z, NULL, NULL, NULL);
    else status = forward(u, mode == RACE_FORWARD ? NULL : u->tape);
    middle = clock_now();
    if (status == COSTATE_OK && mode == RACE_ADJ) status = backward(u, u->z);
    if (status == COSTATE_OK && mode == RACE_SECOND) status = products(u);
    lap->forward = middle - start;
    lap->backward = mode == RACE_ADJ || mode == RACE_SECOND ? clock_now() - middle : 0;
    return status;
}

/* in pairs: first a plain forward run */
static int run(void *rides, race_lap *lap)
{
    runner *u = rides;
    int status = COSTATE_OK;
    restart(u);
    if (u->of.task.pairs) {
        double start = clock_now();
        status = forward(u, NULL);
        lap->plain = clock_now() - start;
        restart(u);
    }
    costate_reset_stats(u->c);
    if (status == COSTATE_OK) status = once(u, lap);
    u->of.r->stats = *costate_get_stats(u->c);
    return status == COSTATE_OK ? status : race_fail(u->of.r, status, costate_message(u->c));
}

/* of several directions the first */
static void keep(void *rides)
{
    const runner *u = rides;
    size_t N = rows(u), np = (size_t)u->of.b->P.np;
    double *out = u->of.r->derivative;
    if (!out) return;
    memcpy(out, u->z, N * sizeof *out);
    if (np) memcpy(out + N, u->z + N * (size_t)u->of.task.directions, np * sizeof *out);
}

/* all of u's vectors, and the directions */
static int vectors(runner *u)
{
    size_t N = rows(u), np = (size_t)u->of.b->P.np, m = (size_t)u->of.task.directions;
    u->z = calloc((N + np) * m, sizeof *u->z);
    u->V = calloc((N + np) * (m + 1) + np, sizeof *u->V);
    if (!u->z || !u->V) return 0;
    u->gradient = u->V + (N + np) * m;
    u->p = np ? u->gradient + N + np : NULL;
    for (size_t k = 0; k < m; k++) ivp_direction(u->of.b, (int)k, u->V + k * N, np ? u->V + m * N + k * np : NULL);
    return 1;
}

static int ready(void *rides)
{
    runner *u = rides;
    const race_task *task = &u->of.task;
    race_result *r = u->of.r;
    const ivp *b = u->of.b;
    const costate_method *method = costate_method_find(strchr(task->code, ':') + 1);
    costate_options options = {
        .rtol = task->rtol, .atol = task->atol, .autonomous = !b->timed, .solver = task->solver, .max_steps = 10000000,
        .stage_solve = task->stage_solve, .keep_factors = task->keep_factors, .storage = task->storage,
        .derivative_mode = task->derivative_mode, .tangent_error = task->sensitivity_error,
        .krylov_tol = task->krylov_tol, .ilu = task->ilu, .on_step = costate_progress,
        .preconditioner = task->ilu0 ? &u->by : NULL
    };
    if (task->precondition) {
        u->matrix = precondition_new(b, task->precondition, task->cycles, task->sweeps);
        if (!u->matrix) return race_fail(r, COSTATE_BAD_ARGUMENT, "no preconditioner: no memory or no grid");
        options.preconditioner = precondition_for_costate(u->matrix);
    }
    u->by = (costate_preconditioner){.setup = ilu0_setup, .solve = ilu0_apply, .ctx = &u->ilu0};
    if (task->ilu0 && !b->P.pattern)
        return race_fail(r, COSTATE_BAD_ARGUMENT, "--ilu0 is for problems with a pattern");
    if (!method) return race_fail(r, COSTATE_BAD_ARGUMENT, "costate has no such method");
    if (task->ilu0 && !incomplete_new(b, &u->ilu0)) return race_fail(r, COSTATE_NO_MEMORY, "out of memory");
    u->c = costate_new(method, &b->P, &options);
    u->tape = costate_tape_new();
    if (!u->c || !u->tape || !vectors(u)) return race_fail(r, COSTATE_NO_MEMORY, "out of memory");
    snprintf(r->solver, sizeof r->solver, "%s", costate_solver_name(u->c));
    int status = costate_status(u->c);
    return status == COSTATE_OK ? status : race_fail(r, status, costate_message(u->c));
}

static void drop(void *rides)
{
    runner *u = rides;
    free(u->z);
    free(u->V);
    costate_tape_free(u->tape);
    costate_free(u->c);
    incomplete_free(&u->ilu0);
    precondition_free(u->matrix);
}

const peer peer_costate = {.size = sizeof(runner), .any_mode = 1, .implicit = 1, .open = ready, .run = run,
                           .keep = keep, .close = drop};
