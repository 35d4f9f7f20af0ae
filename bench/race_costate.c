/* race_costate.c - the race by costate's methods. */
#define _POSIX_C_SOURCE 199309L
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "race.h"
#include "race_ilu0.h"

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
    double *y, *z;               /* N = ivp_length; N times directions: tangents or the gradient; np more each */
} runner;

static void restart(const runner *u)
{
    size_t n = (size_t)u->b->P.n, N = (size_t)ivp_length(u->b);
    int m = u->task->directions;
    memcpy(u->y, u->b->y0, N * sizeof *u->y);
    memset(u->z, 0, (N * (size_t)m + (size_t)u->b->P.np) * sizeof *u->z);
    for (int k = 0; u->task->mode == RACE_TLM && k < m; k++) u->z[(size_t)k * N + (size_t)k % n] = 1;
}

static int run(const runner *u, race_lap *lap)
{
    int mode = u->task->mode, status;
    double start = race_clock(), middle;
    if (mode == RACE_TLM)
        status = costate_integrate_tlm(u->c, 0, u->t1, u->y, u->b->p, u->task->directions, u->z, NULL, NULL, NULL);
    else status = costate_integrate(u->c, 0, u->t1, u->y, u->b->p, mode == RACE_ADJ ? u->tape : NULL);
    middle = race_clock();
    if (status == COSTATE_OK && mode == RACE_ADJ) {
        ivp_seed(u->b, u->y, u->z);
        status = costate_adjoint(u->c, u->tape, 1, u->z, u->b->P.np ? u->z + ivp_length(u->b) : NULL, NULL, NULL);
    }
    lap->forward = middle - start;
    lap->backward = mode == RACE_ADJ ? race_clock() - middle : 0;
    return status;
}

static int plain(const runner *u, race_lap *lap)
{
    double start = race_clock();
    int status = costate_integrate(u->c, 0, u->t1, u->y, u->b->p, NULL);
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
    size_t N = (size_t)ivp_length(b), np = (size_t)b->P.np, m = (size_t)task->directions;
    runner u = {task, b, method ? costate_new(method, &b->P, &options) : NULL, costate_tape_new(), task->tf,
                calloc(N + np, sizeof *u.y), calloc(N * m + np, sizeof *u.z)};
    r->y = u.y;
    if (!method) race_fail(r, COSTATE_BAD_ARGUMENT, "costate has no such method");
    else if (!u.c || !u.tape || !u.y || !u.z) race_fail(r, COSTATE_NO_MEMORY, "out of memory");
    else measure(&u, r);
    if (task->mode == RACE_FORWARD) free(u.z);
    else r->derivative = u.z;
    costate_tape_free(u.tape);
    costate_free(u.c);
    incomplete_free(&q);
    return r->status;
}
