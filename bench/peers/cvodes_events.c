/* cvodes_events.c - rooms with thermostats by CVODES: root finding, restarted by hand at each switching; the gradient
   by forward sensitivities, one a threshold, with their exact jumps.

   As its best user would: guards of all rooms in one call; energy exactly, as constant powers times lengths, not
   integrated; f is linear, so that the products are those of a stencil; a switching changes f in one room alone, so
   that one entry of each sensitivity jumps:

       T_i(t*) = threshold:  t*' = (threshold' - s_i)/T_i',   s_i += (f_i before - f_i after) t*'

   (S. Galan, W. F. Feehery, P. I. Barton, Applied Numerical Mathematics 31 (1999) 17). */
#include <cvodes/cvodes.h>
#include <nvector/nvector_serial.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sunmatrix/sunmatrix_band.h>
#include <sunmatrix/sunmatrix_sparse.h>
#include <sunnonlinsol/sunnonlinsol_fixedpoint.h>

#include "rooms.h"
#include "peer.h"
#include "sundials.h"

typedef struct {
    sun_rider s;
    const rooms *r;
    void *memory;
    N_Vector y;
    N_Vector *tangents;          /* np */
    sun_algebra algebra;
    SUNNonlinearSolver functional, sensitivities;        /* adams */
    double *m, *energy_p, *J;    /* n; np; values of the Jacobian */
    int *found;                  /* n: whose guards are zero */
    double energy, since;        /* until that time */
} rider;

static int failed(int status) { return status < 0; }
static int adams(const rider *q) { return strcmp(q->s.task->code, "cvodes:adams") == 0; }
static int sensitive(const rider *q) { return q->s.task->mode == RACE_ADJ; }
static int how(const rider *q) { return q->s.task->simultaneous ? CV_SIMULTANEOUS : CV_STAGGERED; }

/* ---- the problem as CVODES wants it ------------------------------------------------------------------------------ */

static costate_point point(const rider *q, realtype t, N_Vector y)
{
    return (costate_point){.t = t, .y = sun_values(y), .p = q->s.b->p, .m = q->m};
}

static int rhs(realtype t, N_Vector y, N_Vector out, void *data)
{
    rider *q = data;
    costate_point x = point(q, t, y);
    q->s.count.f++;
    return q->s.b->P.rhs.value(&x, sun_values(out), q->s.b->P.ctx);
}

static int guards(realtype t, N_Vector y, realtype *out, void *data)
{
    rider *q = data;
    (void)t;
    q->s.count.guards++;
    rooms_guards(q->r, sun_values(y), q->m, q->s.b->p, out);
    return 0;
}

static int spread_all(int count, realtype t, N_Vector y, N_Vector ydot, N_Vector *s, N_Vector *out, void *data,
                      N_Vector tmp1, N_Vector tmp2)
{
    rider *q = data;
    (void)t, (void)y, (void)ydot, (void)tmp1, (void)tmp2;
    q->s.count.tangents += count;
    for (int k = 0; k < count; k++) rooms_spread(q->r, sun_values(s[k]), sun_values(out[k]));
    return 0;
}

static int times(N_Vector v, N_Vector out, realtype t, N_Vector y, N_Vector fy, void *data, N_Vector tmp)
{
    rider *q = data;
    (void)t, (void)y, (void)fy, (void)tmp;
    q->s.count.products++;
    rooms_spread(q->r, sun_values(v), sun_values(out));
    return 0;
}

static int jacobian(realtype t, N_Vector y, N_Vector fy, SUNMatrix A, void *data, N_Vector a, N_Vector b, N_Vector c)
{
    rider *q = data;
    costate_point x = point(q, t, y);
    (void)fy, (void)a, (void)b, (void)c;
    q->s.count.jac++;
    int status = q->s.b->P.jac(&x, q->J, q->s.b->P.ctx);
    sun_put(q->s.b->P.pattern, q->J, 0, A);
    return status;
}

/* ---- making and freeing ------------------------------------------------------------------------------------------ */

static void free_nonlinear(SUNNonlinearSolver *S)
{
    if (*S) SUNNonlinSolFree(*S);
    *S = NULL;
}

static void free_all(void *rides)
{
    rider *q = rides;
    if (q->memory) CVodeFree(&q->memory);
    sun_algebra_free(&q->algebra);
    free_nonlinear(&q->functional);
    free_nonlinear(&q->sensitivities);
    if (q->tangents) N_VDestroyVectorArray(q->tangents, q->s.b->P.np);
    if (q->y) N_VDestroy(q->y);
    q->memory = NULL;
    q->tangents = NULL;
    q->y = NULL;
}

static int attach(rider *q)
{
    sun_setting setting = {q->s.task, &q->s.b->P, q->s.context, NULL, &q->s.count.solves};
    if (adams(q)) {
        q->functional = SUNNonlinSol_FixedPoint(q->y, 0, q->s.context);
        return q->functional ? CVodeSetNonlinearSolver(q->memory, q->functional) : CV_MEM_FAIL;
    }
    if (sun_algebra_new(&setting, q->y, CSC_MAT, &q->algebra)) return CV_MEM_FAIL;
    int status = CVodeSetLinearSolver(q->memory, q->algebra.S, q->algebra.A);
    if (failed(status)) return status;
    return q->algebra.A ? CVodeSetJacFn(q->memory, jacobian) : CVodeSetJacTimes(q->memory, NULL, times);
}

static int attach_sensitivities(rider *q)
{
    int np = q->s.b->P.np;
    if (!adams(q)) return CV_SUCCESS;
    q->sensitivities = q->s.task->simultaneous ? SUNNonlinSol_FixedPointSens(np + 1, q->y, 0, q->s.context)
                                               : SUNNonlinSol_FixedPointSens(np, q->y, 0, q->s.context);
    if (!q->sensitivities) return CV_MEM_FAIL;
    return q->s.task->simultaneous ? CVodeSetNonlinearSolverSensSim(q->memory, q->sensitivities)
                                   : CVodeSetNonlinearSolverSensStg(q->memory, q->sensitivities);
}

static int make_sensitivities(rider *q)
{
    int status, np = q->s.b->P.np;
    if (!(q->tangents = N_VCloneVectorArray(np, q->y))) return CV_MEM_FAIL;
    for (int k = 0; k < np; k++) N_VConst(0, q->tangents[k]);
    if (failed(status = CVodeSensInit(q->memory, np, how(q), spread_all, q->tangents))) return status;
    if (failed(status = CVodeSensEEtolerances(q->memory))) return status;
    if (failed(status = CVodeSetSensErrCon(q->memory, q->s.task->sensitivity_error))) return status;
    return attach_sensitivities(q);
}

static void start(rider *q)
{
    size_t n = (size_t)q->r->n;
    memcpy(sun_values(q->y), q->s.b->y0, n * sizeof(double));
    memcpy(q->m, q->s.b->y0 + n + 1, n * sizeof(double));
    memset(q->energy_p, 0, (size_t)q->s.b->P.np * sizeof(double));
    memset(q->found, 0, n * sizeof *q->found);
    for (int k = 0; q->tangents && k < q->s.b->P.np; k++) N_VConst(0, q->tangents[k]);
    q->energy = q->since = 0;
}

static int make(rider *q)
{
    int status;
    q->y = N_VNew_Serial(q->r->n, q->s.context);
    q->memory = CVodeCreate(adams(q) ? CV_ADAMS : CV_BDF, q->s.context);
    if (!q->y || !q->memory) return CV_MEM_FAIL;
    N_VEnableFusedOps_Serial(q->y, 1);           /* 4 % faster with 400 sensitivities */
    start(q);
    CVodeSetErrHandlerFn(q->memory, sun_keep_message, q);
    if (failed(status = CVodeInit(q->memory, rhs, 0, q->y))) return status;
    if (failed(status = CVodeSStolerances(q->memory, q->s.task->rtol, q->s.task->atol))) return status;
    CVodeSetUserData(q->memory, q);
    CVodeSetMaxNumSteps(q->memory, SUN_MAX_STEPS);
    if (failed(status = CVodeRootInit(q->memory, q->r->n, guards))) return status;
    for (int i = 0; i < q->r->n; i++) q->found[i] = -1;
    if (failed(status = CVodeSetRootDirection(q->memory, q->found))) return status;
    CVodeSetNoInactiveRootWarn(q->memory);
    if (failed(status = attach(q))) return status;
    return sensitive(q) ? make_sensitivities(q) : status;
}

/* ---- events ------------------------------------------------------------------------------------------------------ */

static int restart(rider *q, realtype t)
{
    int status = CVodeReInit(q->memory, t, q->y);
    if (failed(status) || !sensitive(q)) return status;
    return CVodeSensReInit(q->memory, how(q), q->tangents);
}

static double power(const rider *q)
{
    double sum = 0;
    for (int i = 0; i < q->r->n; i++) sum += q->r->power[i] * q->m[i];
    return sum;
}

static void spend(rider *q, realtype t)
{
    q->energy += power(q) * (t - q->since);
    q->since = t;
}

static void jump_tangents(rider *q, int i, realtype t)
{
    double rate = rooms_rate(q->r, i, t, sun_values(q->y), q->m), change = q->r->power[i] * (2 * q->m[i] - 1);
    int threshold = rooms_threshold(q->r, i, q->m);
    for (int k = 0; k < q->s.b->P.np; k++) {
        double *s = sun_values(q->tangents[k]) + i, by_t = change * ((k == threshold) - *s) / rate;
        *s += by_t;
        q->energy_p[k] += by_t;
    }
}

static int switch_rooms(rider *q, realtype t)
{
    int status = CVodeGetRootInfo(q->memory, q->found);
    if (!failed(status) && sensitive(q)) status = CVodeGetSens(q->memory, &t, q->tangents);
    if (failed(status)) return status;
    spend(q, t);
    for (int i = 0; i < q->r->n; i++) {
        if (!q->found[i]) continue;
        if (sensitive(q)) jump_tangents(q, i, t);
        q->m[i] = 1 - q->m[i];
        q->s.count.events++;
    }
    return restart(q, t);
}

/* ---- a run ------------------------------------------------------------------------------------------------------- */

static void count(rider *q)
{
    long steps = 0, rejected = 0, failures = 0, newton = 0, setups = 0;
    CVodeGetNumSteps(q->memory, &steps);
    CVodeGetNumErrTestFails(q->memory, &rejected);
    CVodeGetNumStepSolveFails(q->memory, &failures);
    CVodeGetNumNonlinSolvIters(q->memory, &newton);
    if (!adams(q)) CVodeGetNumLinSolvSetups(q->memory, &setups);
    q->s.count.accepted += steps;
    q->s.count.rejected += rejected + failures;
    q->s.count.steps += steps + rejected + failures;
    q->s.count.newton += newton;
    if (q->algebra.A) q->s.count.decompositions += setups;
}

static int integrate(rider *q)
{
    realtype t = 0;
    int status;
    while ((status = CVode(q->memory, q->s.task->tf, q->y, &t, CV_NORMAL)) == CV_ROOT_RETURN) {
        count(q);                /* CVodeReInit forgets */
        if (failed(status = switch_rooms(q, t))) return status;
    }
    if (failed(status)) return status;
    count(q);
    spend(q, q->s.task->tf);
    return sensitive(q) ? CVodeGetSens(q->memory, &t, q->tangents) : status;
}

static int run(void *rides, race_lap *lap)
{
    rider *q = rides;
    int status;
    if (!q->memory) status = make(q);
    else start(q), status = restart(q, 0);
    q->s.count = (costate_stats){0};
    start(q);
    double begin = race_clock();
    if (!failed(status)) status = integrate(q);
    *lap = (race_lap){.forward = race_clock() - begin};
    return status;
}

/* ---- results ----------------------------------------------------------------------------------------------------- */

static void keep_gradient(rider *q, double *w)
{
    int n = q->r->n, N = ivp_length(q->s.b);
    double *gradient = q->s.r->derivative + N;
    ivp_seed(q->s.b, q->s.r->y, w);
    for (int k = 0; k < q->s.b->P.np; k++) {
        const double *s = sun_values(q->tangents[k]);
        gradient[k] = q->energy_p[k];
        for (int i = 0; i < n; i++) gradient[k] += w[i] * s[i];
    }
}

static void keep(void *rides)
{
    rider *q = rides;
    size_t n = (size_t)q->r->n, N = (size_t)ivp_length(q->s.b), all = N + (size_t)q->s.b->P.np;
    double *w = malloc(N * sizeof *w), *y = calloc(all, sizeof *y), *d = sensitive(q) ? calloc(all, sizeof *d) : NULL;
    q->s.r->y = y;
    q->s.r->derivative = d;
    q->s.r->stats = q->s.count;
    if (!w || !y || (sensitive(q) && !d)) race_fail(q->s.r, COSTATE_NO_MEMORY, "out of memory");
    else {
        memcpy(y, sun_values(q->y), n * sizeof *y);
        memcpy(y + n + 1, q->m, n * sizeof *y);
        y[n] = q->energy - q->s.task->tf * power(q);     /* as the goal has it */
        if (d) keep_gradient(q, w);
    }
    free(w);
}

int race_rooms(const race_task *task, const ivp *b, race_result *r)
{
    static const sun_code code = {"CVODES failed", run, keep, free_all};
    rider q = {.s = {.task = task, .b = b, .r = r}, .r = rooms_of(b)};
    if (!q.r || task->mode == RACE_TLM)
        return race_fail(r, COSTATE_BAD_ARGUMENT, "CVODES races rooms, forward and gradient");
    if (adams(&q)) snprintf(r->solver, sizeof r->solver, "none");
    else if (sun_suited(task, b, r) != COSTATE_OK) return r->status;
    size_t n = (size_t)b->P.n, entries = (size_t)b->P.pattern->col[n];
    q.m = calloc(n + (size_t)b->P.np + entries, sizeof *q.m);
    q.found = calloc(n, sizeof *q.found);
    if (!q.m || !q.found || SUNContext_Create(NULL, &q.s.context) != 0)
        race_fail(r, COSTATE_NO_MEMORY, "out of memory");
    else {
        q.energy_p = q.m + n;
        q.J = q.energy_p + b->P.np;
        sun_measure(&q.s, &code);
    }
    if (q.s.context) SUNContext_Free(&q.s.context);
    free(q.found);
    free(q.m);
    return r->status;
}
