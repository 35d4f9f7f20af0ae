/* cvodes.c - the race by CVODES of SUNDIALS: forward, forward sensitivities, adjoint; on the same callbacks.

   As its best user would run it: what it holds is made once and reinitialised before each run, not timed; the adjoint
   has one checkpoint, so that no step is computed twice; KLU orders by the pattern's symmetry.  What was tried beside
   this is in bench.py, part `peers`. */
#include "cvodes.h"

#include <string.h>
#include <sunmatrix/sunmatrix_dense.h>
#include <sunmatrix/sunmatrix_sparse.h>
#include <sunnonlinsol/sunnonlinsol_fixedpoint.h>

typedef struct {
    cvodes_rider c;
    N_Vector w;                  /* the adjoint */
} rider;

static costate_point point(const cvodes_rider *q, realtype t, N_Vector y)
{
    return (costate_point){.t = t, .y = sun_values(y), .p = q->s.of.b->p, .m = q->m};
}
/* a callback's status: both mean the same by the sign */

/* ---- the problem as CVODES wants it ------------------------------------------------------------------------------ */

static int rhs(realtype t, N_Vector y, N_Vector out, void *data)
{
    cvodes_rider *q = data;
    costate_point x = point(q, t, y);
    q->s.of.count.f++;
    return q->s.P->rhs.value(&x, sun_values(out), q->s.P->ctx);
}

static int tangent(cvodes_rider *q, realtype t, N_Vector y, N_Vector v, N_Vector out)
{
    costate_point x = point(q, t, y), d = {.y = sun_values(v)};
    q->s.of.count.tangents++;
    return q->s.P->rhs.tangent(&x, &d, sun_values(out), q->s.P->ctx);
}

static int times(N_Vector v, N_Vector out, realtype t, N_Vector y, N_Vector fy, void *data, N_Vector tmp)
{
    (void)fy, (void)tmp;
    ((cvodes_rider *)data)->s.of.count.products++;
    return tangent(data, t, y, v, out);
}

static int sensitivity(int count, realtype t, N_Vector y, N_Vector ydot, int k, N_Vector s, N_Vector out, void *data,
                       N_Vector tmp1, N_Vector tmp2)
{
    (void)count, (void)ydot, (void)k, (void)tmp1, (void)tmp2;
    return tangent(data, t, y, s, out);
}

static void negate(double *x, size_t n)
{
    for (size_t i = 0; i < n; i++) x[i] = -x[i];
}

/* out = -J^T w: the adjoint's right-hand side, and its products */
static int minus_transposed(cvodes_rider *q, realtype t, N_Vector y, N_Vector w, N_Vector out)
{
    costate_point x = point(q, t, y);
    costate_gradient g = {.y = sun_values(out)};
    size_t n = (size_t)q->s.P->n;
    q->s.of.count.adjoints++;
    memset(sun_values(out), 0, n * sizeof(double));
    int status = q->s.P->rhs.adjoint(&x, sun_values(w), &g, q->s.P->ctx);
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
    ((cvodes_rider *)data)->s.of.count.products++;
    return minus_transposed(data, t, y, v, out);
}

/* A = J, or -J^T; where CVODES has the layout of P->jac it is filled in place */
static int put_jacobian(cvodes_rider *q, realtype t, N_Vector y, int back, SUNMatrix A)
{
    const costate_problem *P = q->s.P;
    const costate_pattern *p = P->pattern;
    costate_point x = point(q, t, y);
    SUNMatrix_ID kind = SUNMatGetID(A);
    double *to = kind == SUNMATRIX_SPARSE ? SM_DATA_S(A) : kind == SUNMATRIX_DENSE && !back ? SM_DATA_D(A) : q->s.J;
    q->s.of.count.jac++;
    if (kind == SUNMATRIX_SPARSE) sun_put_pattern(p, A);
    int status = P->jac(&x, to, P->ctx);
    if (back) negate(to, p ? (size_t)p->col[P->n] : (size_t)P->n * (size_t)P->n);
    if (to == q->s.J) sun_put(P, to, back, A);
    return status;
}

static int jacobian(realtype t, N_Vector y, N_Vector fy, SUNMatrix A, void *data, N_Vector a, N_Vector b, N_Vector c)
{
    (void)fy, (void)a, (void)b, (void)c;
    return put_jacobian(data, t, y, 0, A);
}

static int adjoint_jacobian(realtype t, N_Vector y, N_Vector w, N_Vector fw, SUNMatrix A, void *data, N_Vector a,
                            N_Vector b, N_Vector c)
{
    (void)w, (void)fw, (void)a, (void)b, (void)c;
    return put_jacobian(data, t, y, 1, A);
}

/* ---- preconditioners: of I - gamma J, and of I + gamma J^T as the transpose of I + gamma J ---------------------- */

/* reuse: J is as good as new, and only gamma is another */
static int factor(cvodes_rider *q, realtype t, N_Vector y, booleantype reuse, booleantype *renewed, realtype gamma)
{
    costate_point x = point(q, t, y);
    *renewed = !reuse;
    if (q->s.matrix) {           /* of (I - gamma J)/gamma */
        q->scale = 1 / gamma;
        q->s.of.count.decompositions++;
        return precondition_setup(q->s.matrix, q->scale, &x, !reuse);
    }
    if (!reuse) {
        int status = q->s.P->jac(&x, q->s.J, q->s.P->ctx);
        q->s.of.count.jac++;
        if (status != 0) return status;
    }
    q->s.of.count.decompositions++;
    return ilu0_factor(q->s.preconditioner, q->s.J, gamma);
}

static int apply(cvodes_rider *q, int transposed, N_Vector r, N_Vector z)
{
    q->s.of.count.solves++;
    if (q->s.matrix) {
        N_VScale(q->scale, r, z);
        return precondition_solve(q->s.matrix, transposed, sun_values(z));
    }
    ilu0_solve(q->s.preconditioner, transposed, sun_values(r), sun_values(z));
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
    return apply(data, 0, r, z);
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
    return apply(data, 1, r, z);
}

/* ---- making and freeing ------------------------------------------------------------------------------------------ */

int cvodes_adams(const cvodes_rider *q) { return strcmp(q->s.of.task.code, "cvodes:adams") == 0; }
static int failed(int status) { return status < 0; }

int cvodes_open(cvodes_rider *q)
{
    if (!cvodes_adams(q) && strcmp(q->s.of.task.code, "cvodes:bdf") != 0)
        return race_fail(q->s.of.r, COSTATE_BAD_ARGUMENT, "cvodes has bdf and adams");
    return sun_open(&q->s, cvodes_adams(q), 1);
}

/* type: CSC_MAT, or CSR_MAT for the transpose */
static int make_algebra(cvodes_rider *q, int type, sun_algebra *a, SUNNonlinearSolver *functional)
{
    if (cvodes_adams(q)) return !(*functional = SUNNonlinSol_FixedPoint(q->y, 0, q->s.context));
    return sun_algebra_new(&q->s, q->y, type, a);
}

void cvodes_free(cvodes_rider *q)
{
    SUNNonlinearSolver *const all[] = {&q->functional, &q->functional_back, &q->sensitivities};
    if (q->memory) CVodeFree(&q->memory);
    sun_algebra_free(&q->s.forward);
    sun_algebra_free(&q->s.backward);
    for (int k = 0; k < 3; k++) {
        if (*all[k]) SUNNonlinSolFree(*all[k]);
        *all[k] = NULL;
    }
    if (q->y) N_VDestroy(q->y);
    if (q->tangents) N_VDestroyVectorArray(q->tangents, q->count);
    q->y = NULL;
    q->tangents = NULL;
}

static void free_all(void *rides)
{
    rider *q = rides;
    cvodes_free(&q->c);
    if (q->w) N_VDestroy(q->w);
    q->w = NULL;
}

static int attach(cvodes_rider *q, CVLsJacTimesVecFn by)
{
    if (make_algebra(q, CSC_MAT, &q->s.forward, &q->functional)) return CV_MEM_FAIL;
    if (q->functional) return CVodeSetNonlinearSolver(q->memory, q->functional);
    int status = CVodeSetLinearSolver(q->memory, q->s.forward.S, q->s.forward.A);
    if (failed(status)) return status;
    if (q->s.forward.A) return CVodeSetJacFn(q->memory, jacobian);
    status = CVodeSetJacTimes(q->memory, NULL, by);
    if (failed(status) || !sun_preconditioned(&q->s.of.task)) return status;
    return CVodeSetPreconditioner(q->memory, setup, solve);
}

void cvodes_start(cvodes_rider *q) { memcpy(sun_values(q->y), q->s.of.b->y0, (size_t)q->s.P->n * sizeof(double)); }

int cvodes_make(cvodes_rider *q, CVLsJacTimesVecFn by, int fused)
{
    const race_task *task = &q->s.of.task;
    int status;
    q->y = N_VNew_Serial(q->s.P->n, q->s.context);
    q->memory = CVodeCreate(cvodes_adams(q) ? CV_ADAMS : CV_BDF, q->s.context);
    if (!q->y || !q->memory) return CV_MEM_FAIL;
    if (fused) N_VEnableFusedOps_Serial(q->y, 1);
    cvodes_start(q);
    CVodeSetErrHandlerFn(q->memory, sun_keep_message, q);
    if (failed(status = CVodeInit(q->memory, rhs, 0, q->y))) return status;
    if (failed(status = CVodeSStolerances(q->memory, task->rtol, task->atol))) return status;
    CVodeSetUserData(q->memory, q);
    CVodeSetMaxNumSteps(q->memory, SUN_MAX_STEPS);
    return attach(q, by);
}

static void start_sensitivities(cvodes_rider *q)
{
    for (int k = 0; k < q->count; k++) {
        N_VConst(0, q->tangents[k]);
        sun_values(q->tangents[k])[k % q->s.P->n] = 1;
    }
}

/* Staggered: the tangents are corrected after the state. */
static int make_sensitivities(cvodes_rider *q)
{
    int m = q->count = q->s.of.task.directions, status;
    if (!(q->tangents = N_VCloneVectorArray(m, q->y))) return CV_MEM_FAIL;
    start_sensitivities(q);
    if (failed(status = CVodeSensInit1(q->memory, m, CV_STAGGERED, sensitivity, q->tangents))) return status;
    if (failed(status = CVodeSensEEtolerances(q->memory))) return status;
    CVodeSetSensErrCon(q->memory, q->s.of.task.sensitivity_error);
    if (!cvodes_adams(q)) return CV_SUCCESS;
    if (!(q->sensitivities = SUNNonlinSol_FixedPointSens(m, q->y, 0, q->s.context))) return CV_MEM_FAIL;
    return CVodeSetNonlinearSolverSensStg(q->memory, q->sensitivities);
}

static int attach_backward(cvodes_rider *q)
{
    void *m = q->memory;
    int which = q->s.which;
    if (make_algebra(q, CSR_MAT, &q->s.backward, &q->functional_back)) return CV_MEM_FAIL;
    if (q->functional_back) return CVodeSetNonlinearSolverB(m, which, q->functional_back);
    int status = CVodeSetLinearSolverB(m, which, q->s.backward.S, q->s.backward.A);
    if (failed(status)) return status;
    if (q->s.backward.A) return CVodeSetJacFnB(m, which, adjoint_jacobian);
    status = CVodeSetJacTimesB(m, which, NULL, adjoint_times);
    if (failed(status) || !sun_preconditioned(&q->s.of.task)) return status;
    return CVodeSetPreconditionerB(m, which, adjoint_setup, adjoint_solve);
}

static void start_backward(rider *q) { ivp_seed(q->c.s.of.b, sun_values(q->c.y), sun_values(q->w)); }

static int make_backward(rider *q)
{
    const race_task *task = &q->c.s.of.task;
    void *m = q->c.memory;
    int status, *which = &q->c.s.which;
    if (!(q->w = N_VClone(q->c.y))) return CV_MEM_FAIL;
    start_backward(q);
    if (failed(status = CVodeCreateB(m, cvodes_adams(&q->c) ? CV_ADAMS : CV_BDF, which))) return status;
    if (failed(status = CVodeInitB(m, *which, adjoint_rhs, task->tf, q->w))) return status;
    if (failed(status = CVodeSStolerancesB(m, *which, task->rtol, sun_adjoint_atol(task)))) return status;
    CVodeSetUserDataB(m, *which, q);
    CVodeSetMaxNumStepsB(m, *which, SUN_MAX_STEPS);
    return attach_backward(&q->c);
}

/* ---- a run ------------------------------------------------------------------------------------------------------- */

void cvodes_count(cvodes_rider *q, void *memory)
{
    long steps = 0, rejected = 0, failures = 0, newton = 0, setups = 0, krylov = 0;
    CVodeGetNumSteps(memory, &steps);
    CVodeGetNumErrTestFails(memory, &rejected);
    CVodeGetNumStepSolveFails(memory, &failures);
    CVodeGetNumNonlinSolvIters(memory, &newton);
    if (!cvodes_adams(q)) CVodeGetNumLinSolvSetups(memory, &setups);
    if (!cvodes_adams(q)) CVodeGetNumLinIters(memory, &krylov);
    sun_count(&q->s, steps, rejected, failures, newton, setups, krylov);
}

static void count(void *rides, int back)
{
    cvodes_rider *q = rides;
    cvodes_count(q, back ? CVodeGetAdjCVodeBmem(q->memory, q->s.which) : q->memory);
    if (q->s.of.task.mode == RACE_ADJ) sun_taped(&q->s, q->s.of.task.polynomial ? 1 : 2);
}

static int run_on(void *rides, int back)
{
    rider *q = rides;
    cvodes_rider *c = &q->c;
    const race_task *task = &c->s.of.task;
    int status, checkpoints;
    realtype t;
    if (back) {
        status = CVodeB(c->memory, 0, CV_NORMAL);
        return failed(status) ? status : CVodeGetB(c->memory, c->s.which, &t, q->w);
    }
    if (task->mode == RACE_ADJ) return CVodeF(c->memory, task->tf, c->y, &t, CV_NORMAL, &checkpoints);
    status = CVode(c->memory, task->tf, c->y, &t, CV_NORMAL);
    if (!failed(status) && task->mode == RACE_TLM) status = CVodeGetSens(c->memory, &t, c->tangents);
    return status;
}

static int prepare(void *rides, int back)
{
    rider *q = rides;
    cvodes_rider *c = &q->c;
    int status = CV_SUCCESS, mode = c->s.of.task.mode, made = c->memory != NULL;
    if (back && !q->w) return make_backward(q);
    if (back) return start_backward(q), CVodeReInitB(c->memory, c->s.which, c->s.of.task.tf, q->w);
    if (!made) status = cvodes_make(c, times, 0);
    else cvodes_start(c), status = CVodeReInit(c->memory, 0, c->y);
    if (failed(status) || mode == RACE_FORWARD) return status;
    if (mode == RACE_TLM && !made) return make_sensitivities(c);
    if (mode == RACE_TLM) return start_sensitivities(c), CVodeSensReInit(c->memory, CV_STAGGERED, c->tangents);
    if (made) return CVodeAdjReInit(c->memory);
    return CVodeAdjInit(c->memory, c->s.checkpoint_steps, c->s.of.task.polynomial ? CV_POLYNOMIAL : CV_HERMITE);
}

static const sun_code this_code = {"CVODES failed", prepare, run_on, count, free_all};

static int run(void *rides, race_lap *lap) { return sun_run(rides, &this_code, lap); }

static void keep(void *rides)
{
    rider *q = rides;
    const ride *of = &q->c.s.of;
    size_t bytes = (size_t)of->b->P.n * sizeof(double);
    N_Vector d = of->task.mode == RACE_ADJ ? q->w : q->c.tangents ? q->c.tangents[0] : NULL;
    memcpy(of->r->y, sun_values(q->c.y), bytes);
    if (d) memcpy(of->r->derivative, sun_values(d), bytes);
    of->r->stats = of->count;
}

static int ready(void *rides)
{
    int status = cvodes_open(rides);
    return status ? status : sun_count_steps(rides, &this_code);
}

static void drop(void *rides)
{
    free_all(rides);
    sun_close(rides);
}

const peer peer_cvodes = {.size = sizeof(rider), .events = &peer_cvodes_events, .open = ready, .run = run,
                          .keep = keep, .close = drop};
