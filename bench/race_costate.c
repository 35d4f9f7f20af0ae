/* race_costate.c - the race by costate's methods. */
#define _POSIX_C_SOURCE 199309L
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "race.h"

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

/* ---- a run -------------------------------------------------------------------------------------------------- */

typedef struct {
    const race_task *task;
    const ivp *b;
    costate *c;
    costate_tape *tape;
    double t1;
    double *y, *z;               /* n; n times directions: tangents or the gradient */
} runner;

static void restart(const runner *u)
{
    size_t n = (size_t)u->b->P.n;
    int m = u->task->directions;
    memcpy(u->y, u->b->y0, n * sizeof *u->y);
    memset(u->z, 0, n * (size_t)m * sizeof *u->z);
    for (int k = 0; u->task->mode == RACE_TLM && k < m; k++) u->z[(size_t)k * n + (size_t)k % n] = 1;
}

static int run(const runner *u, race_lap *lap)
{
    int mode = u->task->mode, status;
    double start = race_clock(), middle;
    if (mode == RACE_TLM)
        status = costate_integrate_tlm(u->c, 0, u->t1, u->y, NULL, u->task->directions, u->z, NULL, NULL, NULL);
    else status = costate_integrate(u->c, 0, u->t1, u->y, NULL, mode == RACE_ADJ ? u->tape : NULL);
    middle = race_clock();
    if (status == COSTATE_OK && mode == RACE_ADJ) {
        ivp_seed(u->b, u->y, u->z);
        status = costate_adjoint(u->c, u->tape, 1, u->z, NULL, NULL, NULL);
    }
    lap->forward = middle - start;
    lap->backward = mode == RACE_ADJ ? race_clock() - middle : 0;
    return status;
}

static int plain(const runner *u, race_lap *lap)
{
    double start = race_clock();
    int status = costate_integrate(u->c, 0, u->t1, u->y, NULL, NULL);
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
        .rtol = task->rtol, .atol = task->atol, .autonomous = 1, .solver = task->solver, .max_steps = 10000000,
        .stage_solve = task->stage_solve, .keep_factors = task->keep_factors, .storage = task->storage,
        .derivative_mode = task->derivative_mode, .tangent_error = task->sensitivity_error,
        .krylov_tol = task->krylov_tol, .ilu = task->ilu, .on_step = costate_progress
    };
    size_t n = (size_t)b->P.n, m = (size_t)task->directions;
    runner u = {task, b, method ? costate_new(method, &b->P, &options) : NULL, costate_tape_new(), task->tf,
                malloc(n * sizeof *u.y), malloc(n * m * sizeof *u.z)};
    r->y = u.y;
    if (!method) race_fail(r, COSTATE_BAD_ARGUMENT, "costate has no such method");
    else if (!u.c || !u.tape || !u.y || !u.z) race_fail(r, COSTATE_NO_MEMORY, "out of memory");
    else measure(&u, r);
    if (task->mode == RACE_FORWARD) free(u.z);
    else r->derivative = u.z;
    costate_tape_free(u.tape);
    costate_free(u.c);
    return r->status;
}
