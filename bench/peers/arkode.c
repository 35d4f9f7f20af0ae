/* arkode.c - the race by ARKODE's stabilised explicit methods (LSRKStep, from SUNDIALS 7.2 on): forward.

   As its best user would run it: the dominant eigenvalue costs nothing, it is Gershgorin's bound at the start, taken
   once before the run; as many stages as the methods of costate may have. */
#include <arkode/arkode_lsrkstep.h>
#include <math.h>
#include <nvector/nvector_serial.h>
#include <string.h>

#include "peer.h"

enum { MAX_STEPS = 10000000, STAGES = 200, OWN_STATUS = -100 };

typedef struct {
    ride of;
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
    return q->of.b->P.rhs.value(&x, N_VGetArrayPointer(out), q->of.b->P.ctx);
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
    int rkl = strcmp(q->of.task.code, "arkode:rkl2") == 0;
    q->y = N_VNew_Serial(q->of.b->P.n, q->context);
    if (!q->y) return ARK_MEM_FAIL;
    memcpy(N_VGetArrayPointer(q->y), q->of.b->y0, (size_t)q->of.b->P.n * sizeof(double));
    if (!(q->memory = LSRKStepCreateSTS(rhs, 0, q->y, q->context))) return ARK_MEM_FAIL;
    if (q->bound < 0) return ARK_MEM_FAIL;
    LSRKStepSetSTSMethod(q->memory, rkl ? ARKODE_LSRK_RKL_2 : ARKODE_LSRK_RKC_2);
    LSRKStepSetDomEigFn(q->memory, dominant);
    LSRKStepSetDomEigFrequency(q->memory, 0);
    LSRKStepSetMaxNumStages(q->memory, STAGES);
    ARKodeSetUserData(q->memory, q);
    ARKodeSetMaxNumSteps(q->memory, MAX_STEPS);
    ARKodeSetStopTime(q->memory, q->of.task.tf);
    return ARKodeSStolerances(q->memory, q->of.task.rtol, q->of.task.atol);
}

static int run(void *rides, race_lap *lap)
{
    rider *q = rides;
    sunrealtype t;
    memcpy(N_VGetArrayPointer(q->y), q->of.b->y0, (size_t)q->of.b->P.n * sizeof(double));
    int status = LSRKStepReInitSTS(q->memory, rhs, 0, q->y);
    ARKodeSetStopTime(q->memory, q->of.task.tf);
    q->calls = 0;
    double start = clock_now();
    if (status >= 0) status = ARKodeEvolve(q->memory, q->of.task.tf, q->y, &t, ARK_NORMAL);
    lap->forward = clock_now() - start;
    return status >= 0 ? COSTATE_OK : race_fail(q->of.r, OWN_STATUS + status, "ARKODE failed");
}

static void keep(void *rides)
{
    const rider *q = rides;
    long attempts = 0, steps = 0;
    memcpy(q->of.r->y, N_VGetArrayPointer(q->y), (size_t)q->of.b->P.n * sizeof(double));
    ARKodeGetNumSteps(q->memory, &steps);
    ARKodeGetNumStepAttempts(q->memory, &attempts);
    q->of.r->stats = (costate_stats){.steps = attempts, .accepted = steps, .rejected = attempts - steps, .f = q->calls};
}

static int ready(void *rides)
{
    rider *q = rides;
    race_result *r = q->of.r;
    const char *code = q->of.task.code;
    snprintf(r->solver, sizeof r->solver, "none");
    if (q->of.task.mode != RACE_FORWARD || !q->of.b->P.pattern)
        return race_fail(r, COSTATE_BAD_ARGUMENT, "arkode runs forward, and with a pattern");
    if (strcmp(code, "arkode:rkc2") != 0 && strcmp(code, "arkode:rkl2") != 0)
        return race_fail(r, COSTATE_BAD_ARGUMENT, "arkode has rkc2 and rkl2");
    if (SUNContext_Create(SUN_COMM_NULL, &q->context) != 0) return race_fail(r, COSTATE_NO_MEMORY, "no memory");
    q->bound = gershgorin(q->of.b);
    int status = make(q);
    return status >= 0 ? COSTATE_OK : race_fail(r, OWN_STATUS + status, "ARKODE failed");
}

static void drop(void *rides)
{
    rider *q = rides;
    if (q->memory) ARKodeFree(&q->memory);
    if (q->y) N_VDestroy(q->y);
    if (q->context) SUNContext_Free(&q->context);
}

const peer peer_arkode = {.size = sizeof(rider), .open = ready, .run = run, .keep = keep, .close = drop};
