/* costate.c - the race by costate's methods. */
#define _POSIX_C_SOURCE 199309L
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "peer.h"
#include "ilu0.h"

/* Of the processor, not of the wall: one thread runs, and what others do meanwhile is not its cost. */
double race_clock(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

int race_fail(race_result *r, int status, const char *message)
{
    r->status = status;
    snprintf(r->message, sizeof r->message, "%s", message);
    return status;
}

void race_result_free(race_result *r)
{
    free(r->y);
    free(r->derivative);
    r->y = r->derivative = NULL;
}

double race_warmed_up(const race_task *task, race_result *r, const race_lap *first, double began)
{
    double now = race_clock();
    if (now - began < task->budget) return now;
    r->lap[r->laps++] = *first;
    return began;
}

int race_again(const race_task *task, const race_result *r, double start)
{
    double spent = race_clock() - start;
    if (r->laps == 0) return 1;
    if (r->laps >= RACE_REPEATS || spent >= task->budget) return 0;
    return r->laps < task->repeat || (task->repeat > 1 && spent < task->budget / 7);
}

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

/* ---- a run -------------------------------------------------------------------------------------------------- */

typedef struct {
    const race_task *task;
    const ivp *b;
    costate *c;
    costate_tape *tape;
    double t1;
    double *y, *z;               /* N = ivp_length; (N + np) times directions: tangents, the gradient, or products: by y
                                    of all directions, then by p */
    double *V, *gradient;        /* second, differences: the directions, like z; N + np */
    double *p;                   /* np: b->p, or what differences made of it */
} runner;

static size_t rows(const runner *u) { return (size_t)ivp_length(u->b); }
static double *by_p(const runner *u, double *z, int m) { return u->b->P.np ? z + rows(u) * (size_t)m : NULL; }

static void restart(const runner *u)
{
    size_t n = (size_t)u->b->P.n, N = rows(u), np = (size_t)u->b->P.np;
    int m = u->task->directions;
    memcpy(u->y, u->b->y0, N * sizeof *u->y);
    if (np) memcpy(u->p, u->b->p, np * sizeof *u->p);
    memset(u->z, 0, (N + np) * (size_t)m * sizeof *u->z);
    memset(u->gradient, 0, (N + np) * sizeof *u->gradient);
    for (int k = 0; u->task->mode == RACE_TLM && k < m; k++) u->z[(size_t)k * N + (size_t)k % n] = 1;
}

static int taped(const runner *u) { return costate_integrate(u->c, 0, u->t1, u->y, u->p, u->tape); }

static int backward(const runner *u, double *out)
{
    ivp_seed(u->b, u->y, out);
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
    int m = u->task->directions;
    costate_second s = {.m = m, .V = u->V, .Vp = by_p(u, u->V, m), .seed = seed2, .ctx = (void *)(uintptr_t)u->b,
                        .lambda = u->gradient, .mu = by_p(u, u->gradient, 1), .lambda2 = u->z,
                        .mu2 = by_p(u, u->z, m)};
    return costate_hessian(u->c, u->tape, &s);
}

/* z += factor times the gradient, a factor along the direction; times are added to the lap */
static int gradient_at(const runner *u, double factor, race_lap *lap)
{
    size_t N = rows(u), np = (size_t)u->b->P.np;
    double start = race_clock(), middle;
    for (size_t i = 0; i < N; i++) u->y[i] = u->b->y0[i] + factor * u->V[i];
    for (size_t i = 0; i < np; i++) u->p[i] = u->b->p[i] + factor * u->V[N + i];
    int status = taped(u);
    middle = race_clock();
    memset(u->gradient, 0, (N + np) * sizeof *u->gradient);
    if (status == COSTATE_OK) status = backward(u, u->gradient);
    for (size_t i = 0; i < N + np; i++) u->z[i] += u->gradient[i] / (2 * factor);
    lap->forward += middle - start;
    lap->backward += race_clock() - middle;
    return status;
}

static int differences(const runner *u, race_lap *lap)
{
    lap->forward = lap->backward = 0;
    int status = gradient_at(u, u->task->eps, lap);
    return status == COSTATE_OK ? gradient_at(u, -u->task->eps, lap) : status;
}

static int run(const runner *u, race_lap *lap)
{
    int mode = u->task->mode, status;
    double start = race_clock(), middle;
    if (mode == RACE_DIFFERENCES) return differences(u, lap);
    if (mode == RACE_TLM)
        status = costate_integrate_tlm(u->c, 0, u->t1, u->y, u->p, u->task->directions, u->z, NULL, NULL, NULL);
    else status = mode == RACE_FORWARD ? costate_integrate(u->c, 0, u->t1, u->y, u->p, NULL) : taped(u);
    middle = race_clock();
    if (status == COSTATE_OK && mode == RACE_ADJ) status = backward(u, u->z);
    if (status == COSTATE_OK && mode == RACE_SECOND) status = products(u);
    lap->forward = middle - start;
    lap->backward = mode == RACE_ADJ || mode == RACE_SECOND ? race_clock() - middle : 0;
    return status;
}

static int plain(const runner *u, race_lap *lap)
{
    double start = race_clock();
    int status = costate_integrate(u->c, 0, u->t1, u->y, u->p, NULL);
    lap->plain = race_clock() - start;
    return status;
}

static int measure(const runner *u, race_result *r)
{
    double start = race_clock();
    race_lap lap = {0, 0, 0};
    int status = costate_status(u->c);
    restart(u);
    if (status == COSTATE_OK && u->task->pairs) status = plain(u, &lap);
    restart(u);
    costate_reset_stats(u->c);
    if (status == COSTATE_OK) status = run(u, &lap);
    start = race_warmed_up(u->task, r, &lap, start);
    for (; status == COSTATE_OK && race_again(u->task, r, start); r->lap[r->laps++] = lap) {
        restart(u);
        if (u->task->pairs && (status = plain(u, &lap)) != COSTATE_OK) break;
        restart(u);
        costate_reset_stats(u->c);
        status = run(u, &lap);
    }
    r->stats = *costate_get_stats(u->c);
    snprintf(r->solver, sizeof r->solver, "%s", costate_solver_name(u->c));
    return status == COSTATE_OK ? status : race_fail(r, status, costate_message(u->c));
}

/* all of u's vectors, and the directions */
static int vectors(runner *u)
{
    size_t N = rows(u), np = (size_t)u->b->P.np, m = (size_t)u->task->directions;
    u->y = calloc(N + np, sizeof *u->y);
    u->z = calloc((N + np) * m, sizeof *u->z);
    u->V = calloc((N + np) * (m + 1) + np, sizeof *u->V);
    if (!u->y || !u->z || !u->V) return 0;
    u->gradient = u->V + (N + np) * m;
    u->p = np ? u->gradient + N + np : NULL;
    for (size_t k = 0; k < m; k++) ivp_direction(u->b, (int)k, u->V + k * N, np ? u->V + m * N + k * np : NULL);
    return 1;
}

/* r->derivative: of several directions the first */
static void first_of_all(const runner *u)
{
    size_t N = rows(u), np = (size_t)u->b->P.np, m = (size_t)u->task->directions;
    if (m > 1 && np) memmove(u->z + N, u->z + N * m, np * sizeof *u->z);
}

int race_costate(const race_task *task, const ivp *b, race_result *r)
{
    const costate_method *method = costate_method_find(strchr(task->code, ':') + 1);
    costate_options options = {
        .rtol = task->rtol, .atol = task->atol, .autonomous = !b->timed, .solver = task->solver, .max_steps = 10000000,
        .stage_solve = task->stage_solve, .keep_factors = task->keep_factors, .storage = task->storage,
        .derivative_mode = task->derivative_mode, .tangent_error = task->sensitivity_error,
        .krylov_tol = task->krylov_tol, .ilu = task->ilu, .on_step = costate_progress
    };
    incomplete q = {0};
    costate_preconditioner by = {ilu0_setup, ilu0_apply, &q};
    if (task->ilu0 && !b->P.pattern)
        return race_fail(r, COSTATE_BAD_ARGUMENT, "--ilu0 is for problems with a pattern");
    if (task->ilu0 && !incomplete_new(b, &q)) {
        incomplete_free(&q);
        return race_fail(r, COSTATE_NO_MEMORY, "out of memory");
    }
    if (task->ilu0) options.preconditioner = &by;
    runner u = {.task = task, .b = b, .c = method ? costate_new(method, &b->P, &options) : NULL,
                .tape = costate_tape_new(), .t1 = task->tf};
    int room = vectors(&u);
    r->y = u.y;
    if (!method) race_fail(r, COSTATE_BAD_ARGUMENT, "costate has no such method");
    else if (!u.c || !u.tape || !room) race_fail(r, COSTATE_NO_MEMORY, "out of memory");
    else if (measure(&u, r) == COSTATE_OK) first_of_all(&u);
    if (task->mode == RACE_FORWARD || task->mode == RACE_TAPE) free(u.z);
    else r->derivative = u.z;
    free(u.V);
    costate_tape_free(u.tape);
    costate_free(u.c);
    incomplete_free(&q);
    return r->status;
}
