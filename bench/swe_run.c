/* swe_run.c - a run of the shallow-water benchmark: solve, time, compare with the reference. */
#include "swe_run.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "reference.h"
#include "swe.h"

static double seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int fail(swe_result *r, int status, const char *message)
{
    r->status = status;
    snprintf(r->message, sizeof r->message, "%s", message);
    return status;
}

/* ---- running -------------------------------------------------------------------------------------------- */

/* Forward into y; the tangent or the gradient into z, which holds the first unit vector on entry. */
static int solve(const swe_task *task, costate *c, costate_tape *tape, double *y, double *z, swe_result *r)
{
    double start = seconds();
    int status = task->mode == SWE_TLM
        ? costate_integrate_tlm(c, 0, task->tf, y, NULL, 1, z, NULL, NULL, NULL)
        : costate_integrate(c, 0, task->tf, y, NULL, task->mode == SWE_ADJ ? tape : NULL);
    double middle = seconds();
    if (status == COSTATE_OK && task->mode == SWE_ADJ) status = costate_adjoint(c, tape, 1, z, NULL, NULL, NULL);
    double end = seconds(), backward = task->mode == SWE_ADJ ? end - middle : 0;
    if (r->forward < 0 || middle - start < r->forward) r->forward = middle - start;
    if (r->backward < 0 || backward < r->backward) r->backward = backward;
    return status;
}

/* The fastest of task.repeat runs; counters of the last. */
static int measure(const swe_task *task, const swe *s, costate *c, costate_tape *tape, double *y, double *z,
                   swe_result *r)
{
    size_t n = (size_t)r->n;
    int status = costate_status(c);
    r->forward = r->backward = -1;
    for (int k = 0; status == COSTATE_OK && k < (task->repeat > 0 ? task->repeat : 1); k++) {
        swe_initial(s, y);
        memset(z, 0, n * sizeof *z);
        z[0] = 1;
        costate_reset_stats(c);
        status = solve(task, c, tape, y, z, r);
    }
    r->stats = *costate_get_stats(c);
    snprintf(r->solver, sizeof r->solver, "%s", costate_solver_name(c));
    return status == COSTATE_OK ? (r->status = status) : fail(r, status, costate_message(c));
}

/* task on the grid s, into r->result */
static int run_on(const swe_task *task, const swe *s, swe_result *r)
{
    const costate_method *method = costate_method_find(task->method);
    costate_options options = {
        .rtol = task->rtol, .atol = task->atol > 0 ? task->atol : task->rtol, .autonomous = 1,
        .solver = task->solver, .stage_solve = task->stage_solve, .keep_factors = task->keep_factors,
        .on_step = costate_progress
    };
    costate *c = method ? costate_new(method, swe_problem(s), &options) : NULL;
    costate_tape *tape = costate_tape_new();
    size_t n = (size_t)swe_problem(s)->n;
    double *y = malloc(n * sizeof *y), *z = malloc(n * sizeof *z);
    r->n = (int)n;
    r->nnz = swe_problem(s)->pattern->col[n];
    if (!method) fail(r, COSTATE_BAD_ARGUMENT, "no such method");
    else if (!c || !tape || !y || !z) fail(r, COSTATE_NO_MEMORY, "out of memory");
    else measure(task, s, c, tape, y, z, r);
    r->result = task->mode == SWE_FORWARD ? y : z;
    free(task->mode == SWE_FORWARD ? z : y);
    costate_tape_free(tape);
    costate_free(c);
    return r->status;
}

/* ---- the reference ------------------------------------------------------------------------------------------ */

/* The explicit method of the highest order that is not the one measured. */
static const char *reference_method(const char *measured)
{
    const char *best = NULL;
    costate_method_info info;
    int order = 0;
    for (int k = 0; k < costate_method_count(); k++) {
        if (costate_method_describe(costate_method_at(k), &info) != COSTATE_OK) continue;
        if (info.family != COSTATE_ERK || info.order <= order || strcmp(info.name, measured) == 0) continue;
        order = info.order;
        best = info.name;
    }
    return best;
}

/* Fills error and reference. */
static void compare(const swe_task *task, const swe *s, swe_result *r)
{
    size_t n = (size_t)r->n;
    int stored = r->n == 4800 && task->nx == 40 && task->tf == 0.011;
    double *z = malloc(n * sizeof *z);
    if (!z) return;
    if (stored && reference_read(task->reference, task->mode, r->n, z)) {
        snprintf(r->reference, sizeof r->reference, "stored: swe_40x40_0.011.f64");
        r->error = reference_distance(r->n, r->result, z);
    } else {
        swe_result own = {0};
        swe_task tight = *task;
        tight.method = reference_method(task->method);
        tight.rtol = tight.atol = 1e-13;
        tight.repeat = 1;
        if (tight.method && run_on(&tight, s, &own) == COSTATE_OK) {
            snprintf(r->reference, sizeof r->reference, "%s with rtol = 1e-13", tight.method);
            r->error = reference_distance(r->n, r->result, own.result);
        }
        swe_result_free(&own);
    }
    free(z);
}

int swe_run(const swe_task *task, swe_result *r)
{
    swe *s = swe_new(task->nx, task->ny > 0 ? task->ny : task->nx);
    *r = (swe_result){.error = NAN, .reference = "none"};
    if (!s) return fail(r, COSTATE_BAD_ARGUMENT, "a side of the grid is not from 5 to 4000 cells, or out of memory");
    if (run_on(task, s, r) == COSTATE_OK && !task->no_error) compare(task, s, r);
    swe_free(s);
    return r->status;
}

void swe_result_free(swe_result *r)
{
    free(r->result);
    r->result = NULL;
}
