/* race_cvodes.c - the race by CVODES of SUNDIALS: forward, forward sensitivities, adjoint; on the same callbacks.

   As its best user would run it: what it holds is made once and reinitialised before each run, not timed; the adjoint
   has one checkpoint, so that no step is computed twice; KLU orders by the pattern's symmetry.  What was tried beside
   this is in bench.py, part `peers`. */
#include <cvodes/cvodes.h>
#include <nvector/nvector_serial.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sunlinsol/sunlinsol_band.h>
#include <sunlinsol/sunlinsol_dense.h>
#include <sunlinsol/sunlinsol_klu.h>
#ifdef RACE_LAPACK
#include <sunlinsol/sunlinsol_lapackdense.h>
#endif
#include <sunlinsol/sunlinsol_spgmr.h>
#include <sunmatrix/sunmatrix_band.h>
#include <sunmatrix/sunmatrix_dense.h>
#include <sunmatrix/sunmatrix_sparse.h>
#include <sunnonlinsol/sunnonlinsol_fixedpoint.h>

#include "race.h"
#include "race_ilu0.h"
#include "race_sunlinsol.h"

enum { MAX_STEPS = 10000000, OWN_STATUS = -100 };

/* One direction of time: what CVODES holds for it. */
typedef struct {
    SUNMatrix A;
    SUNLinearSolver S;
    SUNNonlinearSolver functional;
} algebra;

typedef struct {
    const race_task *task;
    const ivp *b;
    race_result *r;
    costate_stats count;         /* of this run */
    SUNContext context;
    void *memory;
    N_Vector y, w;               /* w: the adjoint */
    N_Vector *tangents;
    algebra forward, backward;
    SUNNonlinearSolver sensitivities;
    SUNLinearSolver shared;      /* whose analysis is shared by all runs */
    double *J;                   /* values of the Jacobian, where CVODES wants them elsewhere; kept with ILU(0) */
    ilu0 *preconditioner;        /* --ilu: of one direction after the other */
    int which, checkpoint_steps;
    char said[256];              /* its last message */
} rider;

static double *values(N_Vector v) { return N_VGetArrayPointer(v); }
static costate_point point(realtype t, N_Vector y) { return (costate_point){.t = t, .y = values(y)}; }
/* a callback's status: both mean the same by the sign */

/* ---- the problem as CVODES wants it ------------------------------------------------------------------------------ */

static int rhs(realtype t, N_Vector y, N_Vector out, void *data)
{
    rider *q = data;
    costate_point x = point(t, y);
    q->count.f++;
    return q->b->P.rhs.value(&x, values(out), q->b->P.ctx);
}

static int times(N_Vector v, N_Vector out, realtype t, N_Vector y, N_Vector fy, void *data, N_Vector tmp)
{
    rider *q = data;
    costate_point x = point(t, y), d = {.y = values(v)};
    (void)fy, (void)tmp;
    q->count.tangents++;
    q->count.products++;
    return q->b->P.rhs.tangent(&x, &d, values(out), q->b->P.ctx);
}

static int sensitivity(int count, realtype t, N_Vector y, N_Vector ydot, int k, N_Vector s, N_Vector out, void *data,
                       N_Vector tmp1, N_Vector tmp2)
{
    rider *q = data;
    costate_point x = point(t, y), d = {.y = values(s)};
    (void)count, (void)ydot, (void)k, (void)tmp1, (void)tmp2;
    q->count.tangents++;
    return q->b->P.rhs.tangent(&x, &d, values(out), q->b->P.ctx);
}

static void negate(double *x, size_t n)
{
    for (size_t i = 0; i < n; i++) x[i] = -x[i];
}

/* out = -J^T w: the adjoint's right-hand side, and its products */
static int minus_transposed(rider *q, realtype t, N_Vector y, N_Vector w, N_Vector out)
{
    costate_point x = point(t, y);
    costate_gradient g = {.y = values(out)};
    size_t n = (size_t)q->b->P.n;
    q->count.adjoints++;
    memset(values(out), 0, n * sizeof(double));
    int status = q->b->P.rhs.adjoint(&x, values(w), &g, q->b->P.ctx);
    negate(values(out), n);
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
    ((rider *)data)->count.products++;
    return minus_transposed(data, t, y, v, out);
}

/* CVODES clears the indices, too, before each Jacobian. */
static int put_pattern(const costate_pattern *p, SUNMatrix A)
{
    for (int j = 0; j <= p->n; j++) SM_INDEXPTRS_S(A)[j] = p->col[j];
    for (int k = 0; k < p->col[p->n]; k++) SM_INDEXVALS_S(A)[k] = p->row[k];
    return 0;
}

/* J, or -J^T, from its values in the pattern */
static void put_band(const costate_pattern *p, const double *J, int transposed, SUNMatrix A)
{
    for (int j = 0; j < p->n; j++)
        for (int k = p->col[j]; k < p->col[j + 1]; k++)
            if (transposed) SM_ELEMENT_B(A, j, p->row[k]) = -J[k];
            else SM_ELEMENT_B(A, p->row[k], j) = J[k];
}

static int band_jacobian(rider *q, const costate_point *x, int transposed, SUNMatrix A)
{
    int status = q->b->P.jac(x, q->J, q->b->P.ctx);
    put_band(q->b->P.pattern, q->J, transposed, A);
    return status;
}

static int jacobian(realtype t, N_Vector y, N_Vector fy, SUNMatrix A, void *data, N_Vector a, N_Vector b, N_Vector c)
{
    rider *q = data;
    int sparse = SUNMatGetID(A) == SUNMATRIX_SPARSE;
    costate_point x = point(t, y);
    (void)fy, (void)a, (void)b, (void)c;
    q->count.jac++;
    if (SUNMatGetID(A) == SUNMATRIX_BAND) return band_jacobian(q, &x, 0, A);
    if (sparse) put_pattern(q->b->P.pattern, A);
    return q->b->P.jac(&x, sparse ? SM_DATA_S(A) : SM_DATA_D(A), q->b->P.ctx);
}

/* -J^T: the arrays of J by columns are those of J^T by rows */
static int adjoint_jacobian(realtype t, N_Vector y, N_Vector w, N_Vector fw, SUNMatrix A, void *data, N_Vector a,
                            N_Vector b, N_Vector c)
{
    rider *q = data;
    costate_point x = point(t, y);
    int n = q->b->P.n, sparse = SUNMatGetID(A) == SUNMATRIX_SPARSE, status;
    (void)w, (void)fw, (void)a, (void)b, (void)c;
    q->count.jac++;
    if (SUNMatGetID(A) == SUNMATRIX_BAND) return band_jacobian(q, &x, 1, A);
    if (sparse) {
        put_pattern(q->b->P.pattern, A);
        status = q->b->P.jac(&x, SM_DATA_S(A), q->b->P.ctx);
        negate(SM_DATA_S(A), (size_t)q->b->P.pattern->col[n]);
        return status;
    }
    status = q->b->P.jac(&x, q->J, q->b->P.ctx);
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
        int status = q->b->P.jac(&x, q->J, q->b->P.ctx);
        q->count.jac++;
        if (status != 0) return status;
    }
    q->count.decompositions++;
    return ilu0_factor(q->preconditioner, q->J, gamma);
}

static int precondition(rider *q, int transposed, N_Vector r, N_Vector z)
{
    q->count.solves++;
    ilu0_solve(q->preconditioner, transposed, values(r), values(z));
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

static void keep_message(int code, const char *module, const char *function, char *message, void *data)
{
    rider *q = data;
    (void)code, (void)module;
    snprintf(q->said, sizeof q->said, "%s: %s", function, message);
}

/* ---- making and freeing ------------------------------------------------------------------------------------------ */

static int adams(const rider *q) { return strcmp(q->task->code, "cvodes:adams") == 0; }
static int failed(int status) { return status < 0; }

static SUNLinearSolver dense_solver(const rider *q, SUNMatrix A)
{
#ifdef RACE_LAPACK
    if (q->task->lapack) return SUNLinSol_LapackDense(q->y, A, q->context);
#endif
    return SUNLinSol_Dense(q->y, A, q->context);
}

/* KLU's own default, COLAMD, is for patterns without symmetry: on grids AMD fills several times less. */
static SUNLinearSolver klu_solver(const rider *q, SUNMatrix A)
{
    enum { AMD = 0, COLAMD = 1 };
    SUNLinearSolver S = SUNLinSol_KLU(q->y, A, q->context);
    if (S) SUNLinSol_KLUSetOrdering(S, q->task->colamd ? COLAMD : AMD);
    return S;
}

/* bandwidths of the pattern, above and below the diagonal */
static SUNMatrix band_matrix(const rider *q, int transposed)
{
    const costate_pattern *p = q->b->P.pattern;
    int up = 0, down = 0;
    for (int j = 0; j < p->n; j++)
        for (int k = p->col[j]; k < p->col[j + 1]; k++) {
            if (j - p->row[k] > up) up = j - p->row[k];
            if (p->row[k] - j > down) down = p->row[k] - j;
        }
    return transposed ? SUNBandMatrix(p->n, down, up, q->context) : SUNBandMatrix(p->n, up, down, q->context);
}

/* A, S for one direction of time; type: CSC_MAT, or CSR_MAT for the transpose */
static int make_algebra(rider *q, int type, algebra *a)
{
    const costate_problem *P = &q->b->P;
    int solver = q->task->solver;
    if (adams(q)) return !(a->functional = SUNNonlinSol_FixedPoint(q->y, 0, q->context));
    if (solver == COSTATE_LS_GMRES) {
        int side = !q->task->ilu ? SUN_PREC_NONE : q->task->right ? SUN_PREC_RIGHT : SUN_PREC_LEFT;
        return !(a->S = SUNLinSol_SPGMR(q->y, side, q->task->krylov, q->context));
    }
    if (solver == COSTATE_LS_DENSE) {
        a->A = SUNDenseMatrix(P->n, P->n, q->context);
        a->S = a->A ? dense_solver(q, a->A) : NULL;
        return !a->S;
    }
    if (solver == COSTATE_LS_BAND) {
        a->A = band_matrix(q, type == CSR_MAT);
        a->S = a->A ? SUNLinSol_Band(q->y, a->A, q->context) : NULL;
        return !a->S;
    }
    if (!(a->A = SUNSparseMatrix(P->n, P->n, P->pattern->col[P->n], type, q->context))) return 1;
    put_pattern(P->pattern, a->A);
    if (solver == COSTATE_LS_KLU) a->S = klu_solver(q, a->A);
    else a->S = race_sunlinsol(costate_backend_find("umfpack"), P->pattern, q->shared, &q->count.solves, q->context);
    return !a->S;
}

static void free_algebra(algebra *a)
{
    if (a->A) SUNMatDestroy(a->A);
    if (a->S) SUNLinSolFree(a->S);
    if (a->functional) SUNNonlinSolFree(a->functional);
    *a = (algebra){NULL, NULL, NULL};
}

static void free_all(rider *q)
{
    if (q->memory) CVodeFree(&q->memory);
    free_algebra(&q->forward);
    free_algebra(&q->backward);
    if (q->sensitivities) SUNNonlinSolFree(q->sensitivities);
    if (q->y) N_VDestroy(q->y);
    if (q->w) N_VDestroy(q->w);
    if (q->tangents) N_VDestroyVectorArray(q->tangents, q->task->directions);
    q->memory = NULL;
    q->sensitivities = NULL;
    q->y = q->w = NULL;
    q->tangents = NULL;
}

static int attach(rider *q)
{
    if (q->forward.functional) return CVodeSetNonlinearSolver(q->memory, q->forward.functional);
    int status = CVodeSetLinearSolver(q->memory, q->forward.S, q->forward.A);
    if (failed(status)) return status;
    if (q->forward.A) return CVodeSetJacFn(q->memory, jacobian);
    status = CVodeSetJacTimes(q->memory, NULL, times);
    return failed(status) || !q->task->ilu ? status : CVodeSetPreconditioner(q->memory, setup, solve);
}

static void start_forward(rider *q)
{
    memcpy(values(q->y), q->b->y0, (size_t)q->b->P.n * sizeof(double));
}

static int make_forward(rider *q)
{
    const race_task *task = q->task;
    int status;
    q->y = N_VNew_Serial(q->b->P.n, q->context);
    q->memory = CVodeCreate(adams(q) ? CV_ADAMS : CV_BDF, q->context);
    if (!q->y || !q->memory) return CV_MEM_FAIL;
    start_forward(q);
    CVodeSetErrHandlerFn(q->memory, keep_message, q);
    if (failed(status = CVodeInit(q->memory, rhs, 0, q->y))) return status;
    if (failed(status = CVodeSStolerances(q->memory, task->rtol, task->atol))) return status;
    CVodeSetUserData(q->memory, q);
    CVodeSetMaxNumSteps(q->memory, MAX_STEPS);
    if (make_algebra(q, CSC_MAT, &q->forward)) return CV_MEM_FAIL;
    return attach(q);
}

static void start_sensitivities(rider *q)
{
    for (int k = 0; k < q->task->directions; k++) {
        N_VConst(0, q->tangents[k]);
        values(q->tangents[k])[k % q->b->P.n] = 1;
    }
}

/* Staggered: the tangents are corrected after the state. */
static int make_sensitivities(rider *q)
{
    int m = q->task->directions, status;
    if (!(q->tangents = N_VCloneVectorArray(m, q->y))) return CV_MEM_FAIL;
    start_sensitivities(q);
    if (failed(status = CVodeSensInit1(q->memory, m, CV_STAGGERED, sensitivity, q->tangents))) return status;
    if (failed(status = CVodeSensEEtolerances(q->memory))) return status;
    CVodeSetSensErrCon(q->memory, q->task->sensitivity_error);
    if (!adams(q)) return CV_SUCCESS;
    if (!(q->sensitivities = SUNNonlinSol_FixedPointSens(m, q->y, 0, q->context))) return CV_MEM_FAIL;
    return CVodeSetNonlinearSolverSensStg(q->memory, q->sensitivities);
}

static int attach_backward(rider *q)
{
    void *m = q->memory;
    if (q->backward.functional) return CVodeSetNonlinearSolverB(m, q->which, q->backward.functional);
    int status = CVodeSetLinearSolverB(m, q->which, q->backward.S, q->backward.A);
    if (failed(status)) return status;
    if (q->backward.A) return CVodeSetJacFnB(m, q->which, adjoint_jacobian);
    status = CVodeSetJacTimesB(m, q->which, NULL, adjoint_times);
    if (failed(status) || !q->task->ilu) return status;
    return CVodeSetPreconditionerB(m, q->which, adjoint_setup, adjoint_solve);
}

static void start_backward(rider *q)
{
    ivp_seed(q->b, values(q->y), values(q->w));
}

static int make_backward(rider *q)
{
    double atol = q->task->atol * (q->task->adjoint_atol > 0 ? q->task->adjoint_atol : 1);
    int status;
    if (!(q->w = N_VClone(q->y))) return CV_MEM_FAIL;
    start_backward(q);
    if (failed(status = CVodeCreateB(q->memory, adams(q) ? CV_ADAMS : CV_BDF, &q->which))) return status;
    if (failed(status = CVodeInitB(q->memory, q->which, adjoint_rhs, q->task->tf, q->w))) return status;
    if (failed(status = CVodeSStolerancesB(q->memory, q->which, q->task->rtol, atol))) return status;
    CVodeSetUserDataB(q->memory, q->which, q);
    CVodeSetMaxNumStepsB(q->memory, q->which, MAX_STEPS);
    if (make_algebra(q, CSR_MAT, &q->backward)) return CV_MEM_FAIL;
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
    if (q->forward.A && q->task->solver != COSTATE_LS_UMFPACK) s->solves += newton;
    if (!q->forward.A) s->krylov += krylov;
}

/* ---- a run ------------------------------------------------------------------------------------------------------- */

static int forward(rider *q, realtype *t)
{
    int status, checkpoints;
    if (q->task->mode == RACE_ADJ) return CVodeF(q->memory, q->task->tf, q->y, t, CV_NORMAL, &checkpoints);
    status = CVode(q->memory, q->task->tf, q->y, t, CV_NORMAL);
    if (!failed(status) && q->task->mode == RACE_TLM) status = CVodeGetSens(q->memory, t, q->tangents);
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
    int status, mode = q->task->mode, made = q->memory != NULL;
    if (!made) status = make_forward(q);
    else start_forward(q), status = CVodeReInit(q->memory, 0, q->y);
    if (failed(status) || mode == RACE_FORWARD) return status;
    if (mode == RACE_TLM && !made) return make_sensitivities(q);
    if (mode == RACE_TLM) return start_sensitivities(q), CVodeSensReInit(q->memory, CV_STAGGERED, q->tangents);
    if (made) return CVodeAdjReInit(q->memory);
    return CVodeAdjInit(q->memory, q->checkpoint_steps, q->task->polynomial ? CV_POLYNOMIAL : CV_HERMITE);
}

static int prepare_backward(rider *q)
{
    if (!q->w) return make_backward(q);
    start_backward(q);
    return CVodeReInitB(q->memory, q->which, q->task->tf, q->w);
}

/* What is not integrating is not timed, as for the other codes. */
static int run(rider *q, race_lap *lap)
{
    int status = prepare_forward(q);
    size_t n = (size_t)q->b->P.n;
    realtype t;
    q->count = (costate_stats){0};
    double start = race_clock();
    if (!failed(status)) status = forward(q, &t);
    lap->forward = race_clock() - start;
    if (failed(status)) return status;
    count(q, q->memory, &q->count);
    if (q->task->mode != RACE_ADJ) return status;
    q->count.tape_bytes = ((size_t)q->checkpoint_steps + 1) * (q->task->polynomial ? 1 : 2) * n * sizeof(double);
    status = prepare_backward(q);
    start = race_clock();
    if (!failed(status)) status = backward(q, &t);
    lap->backward = race_clock() - start;
    if (!failed(status)) count(q, CVodeGetAdjCVodeBmem(q->memory, q->which), &q->count);
    return status;
}

static void keep_results(rider *q)
{
    size_t bytes = (size_t)q->b->P.n * sizeof(double);
    N_Vector d = q->task->mode == RACE_ADJ ? q->w : q->tangents ? q->tangents[0] : NULL;
    if (q->y && q->r->y) memcpy(q->r->y, values(q->y), bytes);
    if (d && q->r->derivative) memcpy(q->r->derivative, values(d), bytes);
    q->r->stats = q->count;
}

/* One checkpoint, so that nothing is computed twice: the number of steps is found by a plain run. */
static int count_steps(rider *q)
{
    race_task task = *q->task;
    rider plain = *q;
    race_lap lap;
    task.mode = RACE_FORWARD;
    plain.task = &task;
    int status = run(&plain, &lap);
    q->checkpoint_steps = (int)plain.count.accepted + 2;
    memcpy(q->said, plain.said, sizeof q->said);
    free_all(&plain);
    return status;
}

static int measure(rider *q)
{
    race_result *r = q->r;
    race_lap lap = {0, 0, 0};
    double start = race_clock();
    int status = q->task->mode == RACE_ADJ ? count_steps(q) : CV_SUCCESS;
    if (!failed(status)) status = run(q, &lap);
    start = race_warmed_up(q->task, r, &lap, start);
    for (; !failed(status) && race_again(q->task, r, start); r->lap[r->laps++] = lap) status = run(q, &lap);
    if (!failed(status)) keep_results(q);
    free_all(q);
    if (failed(status)) race_fail(r, OWN_STATUS + status, q->said[0] ? q->said : "CVODES failed");
    return r->status;
}

static int suited(const race_task *task, const ivp *b, race_result *r)
{
    static const struct { int solver; const char *name; } known[] = {
        {COSTATE_LS_DENSE, "dense"}, {COSTATE_LS_BAND, "band"}, {COSTATE_LS_KLU, "klu"},
        {COSTATE_LS_UMFPACK, "umfpack"}, {COSTATE_LS_GMRES, "gmres"}};
    const int count = sizeof known / sizeof *known,
              pattern = task->solver != COSTATE_LS_DENSE && task->solver != COSTATE_LS_GMRES;
    int k = 0;
    if (strcmp(task->code, "cvodes:adams") == 0) {
        snprintf(r->solver, sizeof r->solver, "none");
        return COSTATE_OK;
    }
    if (strcmp(task->code, "cvodes:bdf") != 0) return race_fail(r, COSTATE_BAD_ARGUMENT, "cvodes has bdf and adams");
    while (k < count && known[k].solver != task->solver) k++;
    if (k == count) return race_fail(r, COSTATE_BACKEND, "cvodes runs with dense, band, klu, umfpack and gmres");
    snprintf(r->solver, sizeof r->solver, "%s%s", task->lapack ? "lapack" : known[k].name, task->ilu ? "+ilu0" : "");
    if (task->ilu && (task->solver != COSTATE_LS_GMRES || !b->P.pattern || task->mode == RACE_TLM))
        return race_fail(r, COSTATE_BAD_ARGUMENT, "--ilu is for gmres, a problem with a pattern, forward or adjoint");
#ifndef RACE_LAPACK
    if (task->lapack) return race_fail(r, COSTATE_BACKEND, "this CVODES has no LAPACK");
#endif
    if (task->lapack && task->solver != COSTATE_LS_DENSE)
        return race_fail(r, COSTATE_BAD_ARGUMENT, "LAPACK is for dense systems");
    if (pattern && !b->P.pattern)
        return race_fail(r, COSTATE_BACKEND, "the problem has no pattern: see --sparse");
    if (task->solver == COSTATE_LS_DENSE && b->P.pattern)
        return race_fail(r, COSTATE_BACKEND, "the problem has a pattern: no dense solver here");
    if (task->solver == COSTATE_LS_UMFPACK && !costate_backend_find("umfpack"))
        return race_fail(r, COSTATE_BACKEND, "umfpack was not built in");
    return COSTATE_OK;
}

int race_cvodes(const race_task *given, const ivp *b, race_result *r)
{
    race_task task = *given;
    size_t n = (size_t)b->P.n;
    if (task.solver == COSTATE_LS_AUTO) task.solver = b->P.pattern ? COSTATE_LS_KLU : COSTATE_LS_DENSE;
    rider q = {.task = &task, .b = b, .r = r};
    if (suited(&task, b, r) != COSTATE_OK) return r->status;
    r->y = malloc(n * sizeof *r->y);
    r->derivative = task.mode != RACE_FORWARD ? malloc(n * sizeof *r->derivative) : NULL;
    q.J = malloc((b->P.pattern ? (size_t)b->P.pattern->col[n] : n * n) * sizeof *q.J);
    if (SUNContext_Create(NULL, &q.context) != 0) return free(q.J), race_fail(r, COSTATE_NO_MEMORY, "no context");
    if (task.solver == COSTATE_LS_UMFPACK)
        q.shared = race_sunlinsol(costate_backend_find("umfpack"), b->P.pattern, NULL, &q.count.solves, q.context);
    q.preconditioner = task.ilu ? ilu0_new(b->P.pattern) : NULL;
    if (task.ilu && !q.preconditioner) race_fail(r, COSTATE_NO_MEMORY, "no memory for ILU(0)");
    else measure(&q);
    ilu0_free(q.preconditioner);
    if (q.shared) SUNLinSolFree(q.shared);
    SUNContext_Free(&q.context);
    free(q.J);
    return r->status;
}
