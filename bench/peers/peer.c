/* peer.c - the codes that were built in, and a race by one of them: one run to warm up, and laps. */
#include "peer.h"

#include <stdio.h>
#include <string.h>

/* Which of these files are linked the build says; NULL: not this one. */
#ifdef RACE_SUNDIALS
#define SUNDIALS(code) &code
#else
#define SUNDIALS(code) NULL
#endif
#ifdef RACE_HAIRER
#define HAIRER(code) &code
#else
#define HAIRER(code) NULL
#endif
#ifdef RACE_LSODA
#define LSODA(code) &code
#else
#define LSODA(code) NULL
#endif
#ifdef RACE_ARKODE
#define ARKODE(code) &code
#else
#define ARKODE(code) NULL
#endif
#ifdef RACE_PETSC
#define PETSC(code) &code
#else
#define PETSC(code) NULL
#endif

static const struct { const char *name; const peer *code; const char *absent; } codes[] = {
    {"costate:", &peer_costate, NULL},
    {"cvodes:", SUNDIALS(peer_cvodes), "cvodes was not built in"},
    {"idas:", SUNDIALS(peer_idas), "idas was not built in"},
    {"hairer:", HAIRER(peer_hairer), "radau5 was not built in"},
    {"lsoda:", LSODA(peer_lsoda), "LSODA was not built in"},
    {"arkode:", ARKODE(peer_arkode), "ARKODE's LSRKStep was not built in"},
    {"petsc:", PETSC(peer_petsc), "PETSc was not built in"},
};
enum { CODES = sizeof codes / sizeof *codes };

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

/* Whether to run again: minds repeat and budget; a seventh of the budget is always used, for the shortest runs need
   most repeats. */
static int again(const race_task *task, const race_result *r, double start)
{
    double spent = clock_now() - start;
    if (r->laps == 0) return 1;
    if (r->laps >= RACE_REPEATS || spent >= task->budget) return 0;
    return r->laps < task->repeat || (task->repeat > 1 && spent < task->budget / 7);
}

/* The first run warms up caches, the analysis of the pattern, memory: it counts only when it used up the budget. */
static int laps(const peer *code, ride *q)
{
    race_result *r = q->r;
    race_lap lap = {0, 0, 0};
    double start = clock_now();
    int status = code->run(q, &lap);
    if (clock_now() - start < q->task.budget) start = clock_now();
    else r->lap[r->laps++] = lap;
    for (; status == 0 && again(&q->task, r, start); r->lap[r->laps++] = lap) status = code->run(q, &lap);
    return status;
}

static int vectors(ride *q)
{
    size_t all = (size_t)ivp_length(q->b) + (size_t)q->b->P.np;
    int plain = q->task.mode == RACE_FORWARD || q->task.mode == RACE_TAPE;
    q->r->y = calloc(all, sizeof(double));
    q->r->derivative = plain ? NULL : calloc(all, sizeof(double));
    return q->r->y && (plain || q->r->derivative);
}

static int race(const peer *code, const race_task *task, const ivp *b, race_result *r)
{
    ride *q = calloc(1, code->size);
    if (q) *q = (ride){.task = *task, .b = b, .r = r};
    if (!q || !vectors(q)) return free(q), race_fail(r, COSTATE_NO_MEMORY, "out of memory");
    if (code->open(q) == 0 && laps(code, q) == 0 && code->keep) code->keep(q);
    code->close(q);
    free(q);
    return r->status;
}

int race_by(const race_task *task, const ivp *b, race_result *r)
{
    int k = 0;
    while (k < CODES && strncmp(task->code, codes[k].name, strlen(codes[k].name)) != 0) k++;
    if (k == CODES)
        return race_fail(r, COSTATE_BAD_ARGUMENT, "a code is costate:METHOD, cvodes:bdf, cvodes:adams, idas:bdf, "
                         "hairer:radau5, hairer:rodas, lsoda:jacobian, lsoda:differences, arkode:rkc2, "
                         "arkode:rkl2, petsc:cn or petsc:rk4, ...");
    const peer *code = codes[k].code;
    if (!code) return race_fail(r, COSTATE_BACKEND, codes[k].absent);
    if (task->mode > RACE_ADJ && !code->any_mode)
        return race_fail(r, COSTATE_BAD_ARGUMENT, "the code has no such mode");
    if ((b->P.residual.value || b->P.mass) && !code->implicit)
        return race_fail(r, COSTATE_BAD_ARGUMENT, "the problem is not for codes of y' = f");
    return race(b->P.nevents && code->events ? code->events : code, task, b, r);
}
