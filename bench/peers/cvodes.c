/* cvodes.c - the race by CVODES of SUNDIALS: forward, forward sensitivities, adjoint; on the same callbacks.

   As its best user would run it: what it holds is made once and reinitialised before each run, not timed; the adjoint
   has one checkpoint, so that no step is computed twice; KLU orders by the pattern's symmetry.  What was tried beside
   this is in bench.py, part `peers`. */
#include <cvodes/cvodes.h>
#include <nvector/nvector_serial.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sunmatrix/sunmatrix_dense.h>
#include <sunmatrix/sunmatrix_sparse.h>
#include <sunnonlinsol/sunnonlinsol_fixedpoint.h>

#include "peer.h"
#include "ilu0.h"
#include "sundials.h"
#include "sunlinsol.h"

typedef struct {
    sun_rider s;
    void *memory;
    N_Vector y, w;               /* w: the adjoint */
    N_Vector *tangents;
    sun_algebra forward, backward;
    SUNNonlinearSolver functional, functional_back, sensitivities;       /* adams */
    SUNLinearSolver shared;      /* whose analysis is shared by all runs */
    double *J;                   /* values of the Jacobian, where CVODES wants them elsewhere; kept with ILU(0) */
    ilu0 *preconditioner;        /* --ilu: of one direction after the other */
    int which;
} rider;

static costate_point point(realtype t, N_Vector y) { return (costate_point){.t = t, .y = sun_values(y)}; }
/* a callback's status: both mean the same by the sign */

/* ---- the problem as CVODES wants it ------------------------------------------------------------------------------ */

static int rhs(realtype t, N_Vector y, N_Vector out, void *data)
{
    rider *q = data;
    costate_point x = point(t, y);
    q->s.count.f++;
    return q->s.b->P.rhs.value(&x, sun_values(out), q->s.b->P.ctx);
}

static int times(N_Vector v, N_Vector out, realtype t, N_Vector y, N_Vector fy, void *data, N_Vector tmp)
{
    rider *q = data;
    costate_point x = point(t, y), d = {.y = sun_values(v)};
    (void)fy, (void)tmp;
    q->s.count.tangents++;
    q->s.count.products++;
    return q->s.b->P.rhs.tangent(&x, &d, sun_values(out), q->s.b->P.ctx);
}

static int sensitivity(int count, realtype t, N_Vector y, N_Vector ydot, int k, N_Vector s, N_Vector out, void *data,
                       N_Vector tmp1, N_Vector tmp2)
{
    rider *q = data;
    costate_point x = point(t, y), d = {.y = sun_values(s)};
    (void)count, (void)ydot, (void)k, (void)tmp1, (void)tmp2;
    q->s.count.tangents++;
    return q->s.b->P.rhs.tangent(&x, &d, sun_values(out), q->s.b->P.ctx);
}

static void negate(double *x, size_t n)
{
    for (size_t i = 0; i < n; i++) x[i] = -x[i];
}

/* out = -J^T w: the adjoint's right-hand side, and its products */
static int minus_transposed(rider *q, realtype t, N_Vector y, N_Vector w, N_Vector out)
{
    costate_point x = point(t, y);
    costate_gradient g = {.y = sun_values(out)};
    size_t n = (size_t)q->s.b->P.n;
    q->s.count.adjoints++;
    memset(sun_values(out), 0, n * sizeof(double));
    int status = q->s.b->P.rhs.adjoint(&x, sun_values(w), &g, q->s.b->P.ctx);
    negate(sun_values(out), n);
    return status;
}

static int adjoint_rhs(realtype t, N_Vector y, N_Vector w, N_Vector out, void *data)
{
    return minus_transposed(data, t, y, w, out);
}

static int adjoint_times(N_Vector v, N_Vector out, realtype t, N_Vector y, N_Vector w, N_Vector fw, void *data,
                         N_Vector tmp)
{
    (void)w, (void)fw, (void)tmp;
    ((rider *)data)->s.count.products++;
    return minus_transposed(data, t, y, v, out);
}

static int band_jacobian(rider *q, const costate_point *x, int transposed, SUNMatrix A)
{
    const costate_pattern *p = q->s.b->P.pattern;
    int status = q->s.b->P.jac(x, q->J, q->s.b->P.ctx);
    if (transposed) negate(q->J, (size_t)p->col[p->n]);
    sun_put(p, q->J, transposed, A);
    return status;
}

static int jacobian(realtype t, N_Vector y, N_Vector fy, SUNMatrix A, void *data, N_Vector a, N_Vector b, N_Vector c)
{
    rider *q = data;
    int sparse = SUNMatGetID(A) == SUNMATRIX_SPARSE;
    costate_point x = point(t, y);
    (void)fy, (void)a, (void)b, (void)c;
    q->s.count.jac++;
    if (SUNMatGetID(A) == SUNMATRIX_BAND) return band_jacobian(q, &x, 0, A);
    if (sparse) sun_put_pattern(q->s.b->P.pattern, A);
    return q->s.b->P.jac(&x, sparse ? SM_DATA_S(A) : SM_DATA_D(A), q->s.b->P.ctx);
}

/* -J^T: the arrays of J by columns are those of J^T by rows */
static int adjoint_jacobian(realtype t, N_Vector y, N_Vector w, N_Vector fw, SUNMatrix A, void *data, N_Vector a,
                            N_Vector b, N_Vector c)
{
    rider *q = data;
    costate_point x = point(t, y);
    int n = q->s.b->P.n, sparse = SUNMatGetID(A) == SUNMATRIX_SPARSE, status;
    (void)w, (void)fw, (void)a, (void)b, (void)c;
    q->s.count.jac++;
    if (SUNMatGetID(A) == SUNMATRIX_BAND) return band_jacobian(q, &x, 1, A);
    if (sparse) {
        sun_put_pattern(q->s.b->P.pattern, A);
        status = q->s.b->P.jac(&x, SM_DATA_S(A), q->s.b->P.ctx);
        negate(SM_DATA_S(A), (size_t)q->s.b->P.pattern->col[n]);
        return status;
    }
    status = q->s.b->P.jac(&x, q->J, q->s.b->P.ctx);
    for (int j = 0; j < n; j++)
        for (int i = 0; i < n; i++) SM_ELEMENT_D(A, i, j) = -q->J[(size_t)i * (size_t)n + (size_t)j];
    return status;
}

/* ---- ILU(0): of I - gamma J, and of I + gamma J^T as the transpose of I + gamma J -------------------------------- */

/* reuse: J is as good as new, and only gamma is another */
static int factor(rider *q, realtype t, N_Vector y, booleantype reuse, booleantype *renewed, realtype gamma)
{
    costate_point x = point(t, y);
    *renewed = !reuse;
    if (!reuse) {
        int status = q->s.b->P.jac(&x, q->J, q->s.b->P.ctx);
        q->s.count.jac++;
        if (status != 0) return status;
    }
    q->s.count.decompositions++;
    return ilu0_factor(q->preconditioner, q->J, gamma);
}

static int precondition(rider *q, int transposed, N_Vector r, N_Vector z)
{
    q->s.count.solves++;
    ilu0_solve(q->preconditioner, transposed, sun_values(r), sun_values(z));
    return 0;
}

static int setup(realtype t, N_Vector y, N_Vector fy, booleantype reuse, booleantype *renewed, realtype gamma,
                 void *data)
{
    (void)fy;
    return factor(data, t, y, reuse, renewed, gamma);
}

static int solve(realtype t, N_Vector y, N_Vector fy, N_Vector r, N_Vector z, realtype gamma, realtype delta, int side,
                 void *data)
{
    (void)t, (void)y, (void)fy, (void)gamma, (void)delta, (void)side;
    return precondition(data, 0, r, z);
}

static int adjoint_setup(realtype t, N_Vector y, N_Vector w, N_Vector fw, booleantype reuse, booleantype *renewed,
                         realtype gamma, void *data)
{
    (void)w, (void)fw;
    return factor(data, t, y, reuse, renewed, -gamma);
}

static int adjoint_solve(realtype t, N_Vector y, N_Vector w, N_Vector fw, N_Vector r, N_Vector z, realtype gamma,
                         realtype delta, int side, void *data)
{
    (void)t, (void)y, (void)w, (void)fw, (void)gamma, (void)delta, (void)side;
    return precondition(data, 1, r, z);
}

/* ---- making and freeing ------------------------------------------------------------------------------------------ */

static int adams(const rider *q) { return strcmp(q->s.task->code, "cvodes:adams") == 0; }
static int failed(int status) { return status < 0; }

/* type: CSC_MAT, or CSR_MAT for the transpose */
static int make_algebra(rider *q, int type, sun_algebra *a, SUNNonlinearSolver *functional)
{
    sun_setting setting = {q->s.task, &q->s.b->P, q->s.context, q->shared, &q->s.count.solves};
    if (adams(q)) return !(*functional = SUNNonlinSol_FixedPoint(q->y, 0, q->s.context));
    return sun_algebra_new(&setting, q->y, type, a);
}

static void free_nonlinear(SUNNonlinearSolver *S)
{
    if (*S) SUNNonlinSolFree(*S);
    *S = NULL;
}

static void free_all(void *rides)
{
    rider *q = rides;
    if (q->memory) CVodeFree(&q->memory);
    sun_algebra_free(&q->forward);
    sun_algebra_free(&q->backward);
    free_nonlinear(&q->functional);
    free_nonlinear(&q->functional_back);
    free_nonlinear(&q->sensitivities);
    if (q->y) N_VDestroy(q->y);
    if (q->w) N_VDestroy(q->w);
    if (q->tangents) N_VDestroyVectorArray(q->tangents, q->s.task->directions);
    q->memory = NULL;
    q->y = q->w = NULL;
    q->tangents = NULL;
}

static int attach(rider *q)
{
    if (q->functional) return CVodeSetNonlinearSolver(q->memory, q->functional);
    int status = CVodeSetLinearSolver(q->memory, q->forward.S, q->forward.A);
    if (failed(status)) return status;
    if (q->forward.A) return CVodeSetJacFn(q->memory, jacobian);
    status = CVodeSetJacTimes(q->memory, NULL, times);
    return failed(status) || !q->s.task->ilu ? status : CVodeSetPreconditioner(q->memory, setup, solve);
}

static void start_forward(rider *q)
{
    memcpy(sun_values(q->y), q->s.b->y0, (size_t)q->s.b->P.n * sizeof(double));
}

static int make_forward(rider *q)
{
    const race_task *task = q->s.task;
    int status;
    q->y = N_VNew_Serial(q->s.b->P.n, q->s.context);
    q->memory = CVodeCreate(adams(q) ? CV_ADAMS : CV_BDF, q->s.context);
    if (!q->y || !q->memory) return CV_MEM_FAIL;
    start_forward(q);
    CVodeSetErrHandlerFn(q->memory, sun_keep_message, q);
    if (failed(status = CVodeInit(q->memory, rhs, 0, q->y))) return status;
    if (failed(status = CVodeSStolerances(q->memory, task->rtol, task->atol))) return status;
    CVodeSetUserData(q->memory, q);
    CVodeSetMaxNumSteps(q->memory, SUN_MAX_STEPS);
    if (make_algebra(q, CSC_MAT, &q->forward, &q->functional)) return CV_MEM_FAIL;
    return attach(q);
}

static void start_sensitivities(rider *q)
{
    for (int k = 0; k < q->s.task->directions; k++) {
        N_VConst(0, q->tangents[k]);
        sun_values(q->tangents[k])[k % q->s.b->P.n] = 1;
    }
}

/* Staggered: the tangents are corrected after the state. */
static int make_sensitivities(rider *q)
{
    int m = q->s.task->directions, status;
    if (!(q->tangents = N_VCloneVectorArray(m, q->y))) return CV_MEM_FAIL;
    start_sensitivities(q);
    if (failed(status = CVodeSensInit1(q->memory, m, CV_STAGGERED, sensitivity, q->tangents))) return status;
    if (failed(status = CVodeSensEEtolerances(q->memory))) return status;
    CVodeSetSensErrCon(q->memory, q->s.task->sensitivity_error);
    if (!adams(q)) return CV_SUCCESS;
    if (!(q->sensitivities = SUNNonlinSol_FixedPointSens(m, q->y, 0, q->s.context))) return CV_MEM_FAIL;
    return CVodeSetNonlinearSolverSensStg(q->memory, q->sensitivities);
}

static int attach_backward(rider *q)
{
    void *m = q->memory;
    if (q->functional_back) return CVodeSetNonlinearSolverB(m, q->which, q->functional_back);
    int status = CVodeSetLinearSolverB(m, q->which, q->backward.S, q->backward.A);
    if (failed(status)) return status;
    if (q->backward.A) return CVodeSetJacFnB(m, q->which, adjoint_jacobian);
    status = CVodeSetJacTimesB(m, q->which, NULL, adjoint_times);
    if (failed(status) || !q->s.task->ilu) return status;
    return CVodeSetPreconditionerB(m, q->which, adjoint_setup, adjoint_solve);
}

static void start_backward(rider *q)
{
    ivp_seed(q->s.b, sun_values(q->y), sun_values(q->w));
}

static int make_backward(rider *q)
{
    double atol = q->s.task->atol * (q->s.task->adjoint_atol > 0 ? q->s.task->adjoint_atol : 1);
    int status;
    if (!(q->w = N_VClone(q->y))) return CV_MEM_FAIL;
    start_backward(q);
    if (failed(status = CVodeCreateB(q->memory, adams(q) ? CV_ADAMS : CV_BDF, &q->which))) return status;
    if (failed(status = CVodeInitB(q->memory, q->which, adjoint_rhs, q->s.task->tf, q->w))) return status;
    if (failed(status = CVodeSStolerancesB(q->memory, q->which, q->s.task->rtol, atol))) return status;
    CVodeSetUserDataB(q->memory, q->which, q);
    CVodeSetMaxNumStepsB(q->memory, q->which, SUN_MAX_STEPS);
    if (make_algebra(q, CSR_MAT, &q->backward, &q->functional_back)) return CV_MEM_FAIL;
    return attach_backward(q);
}

/* ---- counters ---------------------------------------------------------------------------------------------------- */

static void count(const rider *q, void *memory, costate_stats *s)
{
    long steps = 0, rejected = 0, setups = 0, newton = 0, failures = 0, krylov = 0;
    CVodeGetNumSteps(memory, &steps);
    CVodeGetNumErrTestFails(memory, &rejected);
    CVodeGetNumStepSolveFails(memory, &failures);
    CVodeGetNumNonlinSolvIters(memory, &newton);
    if (!adams(q)) CVodeGetNumLinSolvSetups(memory, &setups);
    if (!adams(q)) CVodeGetNumLinIters(memory, &krylov);
    s->accepted += steps;
    s->rejected += rejected + failures;
    s->steps += steps + rejected + failures;
    s->newton += newton;
    if (q->forward.A) s->decompositions += setups;
    if (q->forward.A && q->s.task->solver != COSTATE_LS_UMFPACK) s->solves += newton;
    if (!q->forward.A) s->krylov += krylov;
}

/* ---- a run ------------------------------------------------------------------------------------------------------- */

static int forward(rider *q, realtype *t)
{
    int status, checkpoints;
    if (q->s.task->mode == RACE_ADJ) return CVodeF(q->memory, q->s.task->tf, q->y, t, CV_NORMAL, &checkpoints);
    status = CVode(q->memory, q->s.task->tf, q->y, t, CV_NORMAL);
    if (!failed(status) && q->s.task->mode == RACE_TLM) status = CVodeGetSens(q->memory, t, q->tangents);
    return status;
}

static int backward(rider *q, realtype *t)
{
    int status = CVodeB(q->memory, 0, CV_NORMAL);
    return failed(status) ? status : CVodeGetB(q->memory, q->which, t, q->w);
}

/* made by the first run, as before the first call for the later ones */
static int prepare_forward(rider *q)
{
    int status, mode = q->s.task->mode, made = q->memory != NULL;
    if (!made) status = make_forward(q);
    else start_forward(q), status = CVodeReInit(q->memory, 0, q->y);
    if (failed(status) || mode == RACE_FORWARD) return status;
    if (mode == RACE_TLM && !made) return make_sensitivities(q);
    if (mode == RACE_TLM) return start_sensitivities(q), CVodeSensReInit(q->memory, CV_STAGGERED, q->tangents);
    if (made) return CVodeAdjReInit(q->memory);
    return CVodeAdjInit(q->memory, q->s.checkpoint_steps, q->s.task->polynomial ? CV_POLYNOMIAL : CV_HERMITE);
}

static int prepare_backward(rider *q)
{
    if (!q->w) return make_backward(q);
    start_backward(q);
    return CVodeReInitB(q->memory, q->which, q->s.task->tf, q->w);
}

/* What is not integrating is not timed, as for the other codes. */
static int run(void *rides, race_lap *lap)
{
    rider *q = rides;
    int status = prepare_forward(q);
    size_t n = (size_t)q->s.b->P.n;
    realtype t;
    q->s.count = (costate_stats){0};
    double start = race_clock();
    if (!failed(status)) status = forward(q, &t);
    lap->forward = race_clock() - start;
    if (failed(status)) return status;
    count(q, q->memory, &q->s.count);
    if (q->s.task->mode != RACE_ADJ) return status;
    q->s.count.tape_bytes = ((size_t)q->s.checkpoint_steps + 1) * (q->s.task->polynomial ? 1 : 2) * n * sizeof(double);
    status = prepare_backward(q);
    start = race_clock();
    if (!failed(status)) status = backward(q, &t);
    lap->backward = race_clock() - start;
    if (!failed(status)) count(q, CVodeGetAdjCVodeBmem(q->memory, q->which), &q->s.count);
    return status;
}

static void keep_results(void *rides)
{
    rider *q = rides;
    size_t bytes = (size_t)q->s.b->P.n * sizeof(double);
    N_Vector d = q->s.task->mode == RACE_ADJ ? q->w : q->tangents ? q->tangents[0] : NULL;
    if (q->y && q->s.r->y) memcpy(q->s.r->y, sun_values(q->y), bytes);
    if (d && q->s.r->derivative) memcpy(q->s.r->derivative, sun_values(d), bytes);
    q->s.r->stats = q->s.count;
}

static const sun_code this_code = {"CVODES failed", run, keep_results, free_all};

static int suited(const race_task *task, const ivp *b, race_result *r)
{
    if (strcmp(task->code, "cvodes:adams") == 0) {
        snprintf(r->solver, sizeof r->solver, "none");
        return COSTATE_OK;
    }
    if (strcmp(task->code, "cvodes:bdf") != 0) return race_fail(r, COSTATE_BAD_ARGUMENT, "cvodes has bdf and adams");
    return sun_suited(task, b, r);
}

int race_cvodes(const race_task *given, const ivp *b, race_result *r)
{
    race_task task = *given;
    size_t n = (size_t)b->P.n;
    if (task.solver == COSTATE_LS_AUTO) task.solver = b->P.pattern ? COSTATE_LS_KLU : COSTATE_LS_DENSE;
    rider q = {.s = {.task = &task, .b = b, .r = r}};
    if (suited(&task, b, r) != COSTATE_OK) return r->status;
    r->y = malloc(n * sizeof *r->y);
    r->derivative = task.mode != RACE_FORWARD ? malloc(n * sizeof *r->derivative) : NULL;
    q.J = malloc((b->P.pattern ? (size_t)b->P.pattern->col[n] : n * n) * sizeof *q.J);
    if (SUNContext_Create(NULL, &q.s.context) != 0) return free(q.J), race_fail(r, COSTATE_NO_MEMORY, "no context");
    if (task.solver == COSTATE_LS_UMFPACK)
        q.shared = race_sunlinsol(costate_backend_find("umfpack"), b->P.pattern, NULL, &q.s.count.solves, q.s.context);
    q.preconditioner = task.ilu ? ilu0_new(b->P.pattern) : NULL;
    if (task.ilu && !q.preconditioner) race_fail(r, COSTATE_NO_MEMORY, "no memory for ILU(0)");
    else sun_measure(&q.s, &this_code);
    ilu0_free(q.preconditioner);
    if (q.shared) SUNLinSolFree(q.shared);
    SUNContext_Free(&q.s.context);
    free(q.J);
    return r->status;
}
