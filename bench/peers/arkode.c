/* arkode.c - the race by ARKODE's stabilised explicit methods (LSRKStep, from SUNDIALS 7.2 on): forward.

   As its best user would run it: the dominant eigenvalue costs nothing, it is Gershgorin's bound at the start, taken
   once before the run; as many stages as the methods of costate may have. */
#include <arkode/arkode_lsrkstep.h>
#include <math.h>
#include <nvector/nvector_serial.h>
#include <stdlib.h>
#include <string.h>

#include "peer.h"

enum { MAX_STEPS = 10000000, STAGES = 200, OWN_STATUS = -100 };

typedef struct {
    const race_task *task;
    const ivp *b;
    double bound;
    long calls;
    SUNContext context;
    N_Vector y;
    void *memory;
} rider;

static int rhs(sunrealtype t, N_Vector y, N_Vector out, void *data)
{
    rider *q = data;
    costate_point x = {.t = t, .y = N_VGetArrayPointer(y)};
    q->calls++;
    return q->b->P.rhs.value(&x, N_VGetArrayPointer(out), q->b->P.ctx);
}

static int dominant(sunrealtype t, N_Vector y, N_Vector fy, sunrealtype *real, sunrealtype *imaginary, void *data,
                    N_Vector a, N_Vector b, N_Vector c)
{
    (void)t, (void)y, (void)fy, (void)a, (void)b, (void)c;
    *real = -((rider *)data)->bound;
    *imaginary = 0;
    return 0;
}

/* the largest sum of a column of |J|; < 0: no memory */
static double gershgorin(const ivp *b)
{
    const costate_pattern *p = b->P.pattern;
    double *J = malloc((size_t)p->col[p->n] * sizeof *J), most = 0;
    costate_point x = {.y = b->y0};
    if (!J || b->P.jac(&x, J, b->P.ctx) != 0) return free(J), -1;
    for (int j = 0; j < p->n; j++) {
        double sum = 0;
        for (int k = p->col[j]; k < p->col[j + 1]; k++) sum += fabs(J[k]);
        most = fmax(most, sum);
    }
    free(J);
    return most;
}

static int make(rider *q)
{
    int rkl = strcmp(q->task->code, "arkode:rkl2") == 0;
    q->y = N_VNew_Serial(q->b->P.n, q->context);
    if (!q->y) return ARK_MEM_FAIL;
    memcpy(N_VGetArrayPointer(q->y), q->b->y0, (size_t)q->b->P.n * sizeof(double));
    if (!(q->memory = LSRKStepCreateSTS(rhs, 0, q->y, q->context))) return ARK_MEM_FAIL;
    if (q->bound < 0) return ARK_MEM_FAIL;
    LSRKStepSetSTSMethod(q->memory, rkl ? ARKODE_LSRK_RKL_2 : ARKODE_LSRK_RKC_2);
    LSRKStepSetDomEigFn(q->memory, dominant);
    LSRKStepSetDomEigFrequency(q->memory, 0);
    LSRKStepSetMaxNumStages(q->memory, STAGES);
    ARKodeSetUserData(q->memory, q);
    ARKodeSetMaxNumSteps(q->memory, MAX_STEPS);
    ARKodeSetStopTime(q->memory, q->task->tf);
    return ARKodeSStolerances(q->memory, q->task->rtol, q->task->atol);
}

static int run(rider *q, race_lap *lap)
{
    sunrealtype t;
    memcpy(N_VGetArrayPointer(q->y), q->b->y0, (size_t)q->b->P.n * sizeof(double));
    int status = LSRKStepReInitSTS(q->memory, rhs, 0, q->y);
    ARKodeSetStopTime(q->memory, q->task->tf);
    q->calls = 0;
    double start = race_clock();
    if (status >= 0) status = ARKodeEvolve(q->memory, q->task->tf, q->y, &t, ARK_NORMAL);
    lap->forward = race_clock() - start;
    return status;
}

static void keep_results(rider *q, race_result *r)
{
    long attempts = 0, steps = 0;
    memcpy(r->y, N_VGetArrayPointer(q->y), (size_t)q->b->P.n * sizeof(double));
    ARKodeGetNumSteps(q->memory, &steps);
    ARKodeGetNumStepAttempts(q->memory, &attempts);
    r->stats.steps = attempts;
    r->stats.accepted = steps;
    r->stats.rejected = attempts - steps;
    r->stats.f = q->calls;
}

int race_arkode(const race_task *task, const ivp *b, race_result *r)
{
    rider q = {.task = task, .b = b};
    race_lap lap = {0, 0, 0};
    snprintf(r->solver, sizeof r->solver, "none");
    if (task->mode != RACE_FORWARD || !b->P.pattern)
        return race_fail(r, COSTATE_BAD_ARGUMENT, "arkode runs forward, and with a pattern");
    if (strcmp(task->code, "arkode:rkc2") != 0 && strcmp(task->code, "arkode:rkl2") != 0)
        return race_fail(r, COSTATE_BAD_ARGUMENT, "arkode has rkc2 and rkl2");
    if (!(r->y = malloc((size_t)b->P.n * sizeof *r->y)) || SUNContext_Create(SUN_COMM_NULL, &q.context) != 0)
        return race_fail(r, COSTATE_NO_MEMORY, "no memory");
    q.bound = gershgorin(b);
    double start = race_clock();
    int status = make(&q);
    if (status >= 0) status = run(&q, &lap);
    start = race_warmed_up(task, r, &lap, start);
    for (; status >= 0 && race_again(task, r, start); r->lap[r->laps++] = lap) status = run(&q, &lap);
    if (status >= 0) keep_results(&q, r);
    else race_fail(r, OWN_STATUS + status, "ARKODE failed");
    if (q.memory) ARKodeFree(&q.memory);
    if (q.y) N_VDestroy(q.y);
    SUNContext_Free(&q.context);
    return r->status;
}
