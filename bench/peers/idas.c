/* idas.c - the race by IDAS of SUNDIALS: forward and adjoint of F(t, y, y', p) = 0, on the same callbacks.

   F_y' is a diagonal of 0 and 1, and the functional g does not change with algebraic unknowns at t1 (ivp.h).  Then the
   adjoint is  F_y'^T w' - F_y^T w = 0,  F_y'^T w(t1) = g_y, the gradient by y(0) is F_y'^T w(0), that by p the
   integral from t1 to 0 of F_p^T w.
   As its best user would run it: what it holds is made once and reinitialised before each run, and so are consistent y'
   and w, not timed; one checkpoint, so that no step is computed twice; KLU orders by the pattern's symmetry; integrals
   stay out of the error test.  What was tried beside this is in bench.py, part `dae`. */
#include <idas/idas.h>
#include <string.h>
#include <sunmatrix/sunmatrix_sparse.h>

#include "sundials.h"

typedef struct {
    sun_rider s;
    void *memory;
    N_Vector id, y, yp, w, wp, integral;         /* id: 1: differential; w: the adjoint */
    N_Vector yp0, w1, wp1;       /* consistent: where runs and sweeps begin */
    double *K;                   /* values of F_y' in the pattern, behind those of F_y */
} rider;

static costate_point point(const rider *q, realtype t, N_Vector y, N_Vector yp)
{
    return (costate_point){.t = t, .y = sun_values(y), .yp = sun_values(yp), .p = q->s.of.b->p};
}
static int failed(int status) { return status < 0; }
/* a callback's status: both mean the same by the sign */

/* ---- the problem as IDAS wants it -------------------------------------------------------------------------------- */

static int residual(realtype t, N_Vector y, N_Vector yp, N_Vector out, void *data)
{
    rider *q = data;
    costate_point x = point(q, t, y, yp);
    q->s.of.count.f++;
    return q->s.P->residual.value(&x, sun_values(out), q->s.P->ctx);
}

static int times(realtype t, N_Vector y, N_Vector yp, N_Vector r, N_Vector v, N_Vector out, realtype c, void *data,
                 N_Vector tmp1, N_Vector tmp2)
{
    rider *q = data;
    costate_point x = point(q, t, y, yp), d = {.y = sun_values(v), .yp = sun_values(tmp1)};
    (void)r, (void)tmp2;
    q->s.of.count.tangents++;
    q->s.of.count.products++;
    N_VScale(c, v, tmp1);
    return q->s.P->residual.tangent(&x, &d, sun_values(out), q->s.P->ctx);
}

/* out = F_y'^T wp - F_y^T w */
static int adjoint_product(rider *q, const costate_point *x, N_Vector w, N_Vector wp, N_Vector out)
{
    costate_gradient by_y = {.y = sun_values(out)}, by_yp = {.yp = sun_values(out)};
    q->s.of.count.adjoints++;
    N_VConst(0, out);
    int status = q->s.P->residual.adjoint(x, sun_values(w), &by_y, q->s.P->ctx);
    N_VScale(-1, out, out);
    return status ? status : q->s.P->residual.adjoint(x, sun_values(wp), &by_yp, q->s.P->ctx);
}

static int adjoint_residual(realtype t, N_Vector y, N_Vector yp, N_Vector w, N_Vector wp, N_Vector out, void *data)
{
    rider *q = data;
    costate_point x = point(q, t, y, yp);
    return adjoint_product(q, &x, w, wp, out);
}

static int adjoint_times(realtype t, N_Vector y, N_Vector yp, N_Vector w, N_Vector wp, N_Vector r, N_Vector v,
                         N_Vector out, realtype c, void *data, N_Vector tmp1, N_Vector tmp2)
{
    rider *q = data;
    costate_point x = point(q, t, y, yp);
    (void)w, (void)wp, (void)r, (void)tmp2;
    q->s.of.count.products++;
    N_VScale(c, v, tmp1);
    return adjoint_product(q, &x, v, tmp1, out);
}

static int integrand(realtype t, N_Vector y, N_Vector yp, N_Vector w, N_Vector wp, N_Vector out, void *data)
{
    rider *q = data;
    costate_point x = point(q, t, y, yp);
    costate_gradient by_p = {.p = sun_values(out)};
    (void)wp;
    N_VConst(0, out);
    return q->s.P->residual.adjoint(&x, sun_values(w), &by_p, q->s.P->ctx);
}

static int jacobians(rider *q, const costate_point *x)
{
    const costate_problem *P = q->s.P;
    int status = P->jac(x, q->s.J, P->ctx);
    q->s.of.count.jac++;
    return status ? status : P->jac_yp(x, q->K, P->ctx);
}

/* s (F_y + c F_y'), or the transpose */
static int put_jacobian(rider *q, const costate_point *x, double s, double c, int transposed, SUNMatrix A)
{
    int status = jacobians(q, x), entries = q->s.P->pattern->col[q->s.P->n];
    for (int k = 0; k < entries; k++) q->s.J[k] = s * (q->s.J[k] + c * q->K[k]);
    sun_put(q->s.P, q->s.J, transposed, A);
    return status;
}

static int jacobian(realtype t, realtype c, N_Vector y, N_Vector yp, N_Vector r, SUNMatrix A, void *data, N_Vector tmp1,
                    N_Vector tmp2, N_Vector tmp3)
{
    rider *q = data;
    costate_point x = point(q, t, y, yp);
    (void)r, (void)tmp1, (void)tmp2, (void)tmp3;
    return put_jacobian(q, &x, 1, c, 0, A);
}

/* c F_y'^T - F_y^T */
static int adjoint_jacobian(realtype t, realtype c, N_Vector y, N_Vector yp, N_Vector w, N_Vector wp, N_Vector r,
                            SUNMatrix A, void *data, N_Vector tmp1, N_Vector tmp2, N_Vector tmp3)
{
    rider *q = data;
    costate_point x = point(q, t, y, yp);
    (void)w, (void)wp, (void)r, (void)tmp1, (void)tmp2, (void)tmp3;
    return put_jacobian(q, &x, -1, -c, 1, A);
}

/* ---- ILU(0): of F_y + c F_y', and of F_y - c F_y', whose transpose is minus the adjoint's matrix ----------------- */

static int factor(rider *q, const costate_point *x, double c)
{
    int status = jacobians(q, x);
    q->s.of.count.decompositions++;
    return status ? status : ilu0_factor_sum(q->s.preconditioner, q->s.J, c, q->K);
}

static int setup(realtype t, N_Vector y, N_Vector yp, N_Vector r, realtype c, void *data)
{
    rider *q = data;
    costate_point x = point(q, t, y, yp);
    (void)r;
    return factor(q, &x, c);
}

static int solve(realtype t, N_Vector y, N_Vector yp, N_Vector r, N_Vector b, N_Vector z, realtype c, realtype delta,
                 void *data)
{
    rider *q = data;
    (void)t, (void)y, (void)yp, (void)r, (void)c, (void)delta;
    q->s.of.count.solves++;
    ilu0_solve(q->s.preconditioner, 0, sun_values(b), sun_values(z));
    return 0;
}

static int adjoint_setup(realtype t, N_Vector y, N_Vector yp, N_Vector w, N_Vector wp, N_Vector r, realtype c,
                         void *data)
{
    rider *q = data;
    costate_point x = point(q, t, y, yp);
    (void)w, (void)wp, (void)r;
    return factor(q, &x, -c);
}

static int adjoint_solve(realtype t, N_Vector y, N_Vector yp, N_Vector w, N_Vector wp, N_Vector r, N_Vector b,
                         N_Vector z, realtype c, realtype delta, void *data)
{
    rider *q = data;
    (void)t, (void)y, (void)yp, (void)w, (void)wp, (void)r, (void)c, (void)delta;
    q->s.of.count.solves++;
    ilu0_solve(q->s.preconditioner, 1, sun_values(b), sun_values(z));
    N_VScale(-1, z, z);
    return 0;
}

/* ---- making and freeing ------------------------------------------------------------------------------------------ */

static void free_all(void *rides)
{
    rider *q = rides;
    N_Vector *all[] = {&q->id, &q->y, &q->yp, &q->w, &q->wp, &q->integral, &q->yp0, &q->w1, &q->wp1};
    if (q->memory) IDAFree(&q->memory);
    sun_algebra_free(&q->s.forward);
    sun_algebra_free(&q->s.backward);
    for (size_t k = 0; k < sizeof all / sizeof *all; k++) {
        if (*all[k]) N_VDestroy(*all[k]);
        *all[k] = NULL;
    }
}

/* vectors of n; 0: no memory */
static int make_vectors(rider *q)
{
    N_Vector *all[] = {&q->yp, &q->w, &q->wp, &q->id, &q->yp0, &q->w1, &q->wp1};
    int np = q->s.P->np, made = (q->y = N_VNew_Serial(q->s.P->n, q->s.context)) != NULL;
    for (size_t k = 0; made && k < sizeof all / sizeof *all; k++) made = (*all[k] = N_VClone(q->y)) != NULL;
    return made && (q->integral = N_VNew_Serial(np > 0 ? np : 1, q->s.context));
}

/* y' as y gives it: differential rows of the residual at y' = 0, with the other sign */
static int consistent_start(rider *q)
{
    const costate_pattern *p = q->s.P->pattern;
    memcpy(sun_values(q->y), q->s.of.b->y0, (size_t)p->n * sizeof(double));
    N_VConst(0, q->yp);
    N_VConst(0, q->id);
    costate_point x = point(q, 0, q->y, q->yp);
    int status = jacobians(q, &x);
    for (int j = 0; j < p->n; j++)
        for (int k = p->col[j]; k < p->col[j + 1]; k++)
            if (p->row[k] == j) sun_values(q->id)[j] = q->K[k];
    if (status == 0) status = residual(0, q->y, q->yp, q->yp0, q);
    N_VScale(-1, q->yp0, q->yp0);
    N_VProd(q->id, q->yp0, q->yp0);
    return status;
}

static void start_forward(rider *q)
{
    memcpy(sun_values(q->y), q->s.of.b->y0, (size_t)q->s.P->n * sizeof(double));
    N_VScale(1, q->yp0, q->yp);
}

static int attach(rider *q)
{
    if (sun_algebra_new(&q->s, q->y, CSC_MAT, &q->s.forward)) return IDA_MEM_FAIL;
    int status = IDASetLinearSolver(q->memory, q->s.forward.S, q->s.forward.A);
    if (failed(status)) return status;
    if (q->s.forward.A) return IDASetJacFn(q->memory, jacobian);
    status = IDASetJacTimes(q->memory, NULL, times);
    return failed(status) || !q->s.of.task.ilu ? status : IDASetPreconditioner(q->memory, setup, solve);
}

static int make_forward(rider *q)
{
    const race_task *task = &q->s.of.task;
    int status;
    if (!make_vectors(q) || !(q->memory = IDACreate(q->s.context))) return IDA_MEM_FAIL;
    if (consistent_start(q) != 0) return IDA_RES_FAIL;
    start_forward(q);
    IDASetErrHandlerFn(q->memory, sun_keep_message, q);
    if (failed(status = IDAInit(q->memory, residual, 0, q->y, q->yp))) return status;
    if (failed(status = IDASStolerances(q->memory, task->rtol, task->atol))) return status;
    IDASetUserData(q->memory, q);
    IDASetMaxNumSteps(q->memory, SUN_MAX_STEPS);
    IDASetId(q->memory, q->id);
    IDASetSuppressAlg(q->memory, task->suppress);
    return attach(q);
}

static int attach_backward(rider *q)
{
    void *m = q->memory;
    if (sun_algebra_new(&q->s, q->y, CSR_MAT, &q->s.backward)) return IDA_MEM_FAIL;
    int status = IDASetLinearSolverB(m, q->s.which, q->s.backward.S, q->s.backward.A);
    if (failed(status)) return status;
    if (q->s.backward.A) return IDASetJacFnB(m, q->s.which, adjoint_jacobian);
    status = IDASetJacTimesB(m, q->s.which, NULL, adjoint_times);
    if (failed(status) || !q->s.of.task.ilu) return status;
    return IDASetPreconditionerB(m, q->s.which, adjoint_setup, adjoint_solve);
}

static int make_integral(rider *q)
{
    if (q->s.P->np == 0) return IDA_SUCCESS;
    N_VConst(0, q->integral);
    return IDAQuadInitB(q->memory, q->s.which, integrand, q->integral);
}

/* w of algebraic unknowns, and w' of the others, by IDAS */
static int consistent_end(rider *q)
{
    int status = IDACalcICB(q->memory, q->s.which, 0, q->y, q->yp);
    if (!failed(status)) status = IDAGetConsistentICB(q->memory, q->s.which, q->w, q->wp);
    N_VScale(1, q->w, q->w1);
    N_VScale(1, q->wp, q->wp1);
    return status;
}

static int make_backward(rider *q)
{
    int status;
    ivp_seed(q->s.of.b, sun_values(q->y), sun_values(q->w));
    N_VProd(q->id, q->w, q->w);
    N_VConst(0, q->wp);
    if (failed(status = IDACreateB(q->memory, &q->s.which))) return status;
    if (failed(status = IDAInitB(q->memory, q->s.which, adjoint_residual, q->s.of.task.tf, q->w, q->wp))) return status;
    if (failed(status = IDASStolerancesB(q->memory, q->s.which, q->s.of.task.rtol,
                                          sun_adjoint_atol(&q->s.of.task)))) return status;
    IDASetUserDataB(q->memory, q->s.which, q);
    IDASetMaxNumStepsB(q->memory, q->s.which, SUN_MAX_STEPS);
    IDASetIdB(q->memory, q->s.which, q->id);
    IDASetSuppressAlgB(q->memory, q->s.which, q->s.of.task.suppress);
    if (failed(status = attach_backward(q)) || failed(status = make_integral(q))) return status;
    return consistent_end(q);
}

/* ---- a run ------------------------------------------------------------------------------------------------------- */

static void count(void *rides, int back)
{
    rider *q = rides;
    void *memory = back ? IDAGetAdjIDABmem(q->memory, q->s.which) : q->memory;
    long steps = 0, rejected = 0, failures = 0, newton = 0, setups = 0, krylov = 0;
    IDAGetNumSteps(memory, &steps);
    IDAGetNumErrTestFails(memory, &rejected);
    IDAGetNumStepSolveFails(memory, &failures);
    IDAGetNumNonlinSolvIters(memory, &newton);
    IDAGetNumLinSolvSetups(memory, &setups);
    IDAGetNumLinIters(memory, &krylov);
    sun_count(&q->s, steps, rejected, failures, newton, setups, krylov);
    if (q->s.of.task.mode == RACE_ADJ) sun_taped(&q->s, 2);
}

static int run_on(void *rides, int back)
{
    rider *q = rides;
    double tf = q->s.of.task.tf;
    int status, checkpoints;
    realtype t;
    if (!back && q->s.of.task.mode == RACE_FORWARD) return IDASolve(q->memory, tf, &t, q->y, q->yp, IDA_NORMAL);
    if (!back) return IDASolveF(q->memory, tf, &t, q->y, q->yp, IDA_NORMAL, &checkpoints);
    status = IDASolveB(q->memory, 0, IDA_NORMAL);
    if (!failed(status)) status = IDAGetB(q->memory, q->s.which, &t, q->w, q->wp);
    return failed(status) || q->s.P->np == 0 ? status : IDAGetQuadB(q->memory, q->s.which, &t, q->integral);
}

static int prepare_backward(rider *q)
{
    if (!q->s.backward.S) return make_backward(q);
    int status = IDAReInitB(q->memory, q->s.which, q->s.of.task.tf, q->w1, q->wp1);
    N_VConst(0, q->integral);
    return failed(status) || q->s.P->np == 0 ? status : IDAQuadReInitB(q->memory, q->s.which, q->integral);
}

static int prepare(void *rides, int back)
{
    rider *q = rides;
    int status, made = q->memory != NULL;
    if (back) return prepare_backward(q);
    if (!made) status = make_forward(q);
    else start_forward(q), status = IDAReInit(q->memory, 0, q->y, q->yp);
    if (failed(status) || q->s.of.task.mode == RACE_FORWARD) return status;
    if (made) return IDAAdjReInit(q->memory);
    return IDAAdjInit(q->memory, q->s.checkpoint_steps, q->s.of.task.polynomial ? IDA_POLYNOMIAL : IDA_HERMITE);
}

static const sun_code this_code = {"IDAS failed", prepare, run_on, count, free_all};

static int run(void *rides, race_lap *lap) { return sun_run(rides, &this_code, lap); }

static void keep(void *rides)
{
    rider *q = rides;
    race_result *r = q->s.of.r;
    size_t n = (size_t)q->s.P->n, np = (size_t)q->s.P->np;
    memcpy(r->y, sun_values(q->y), n * sizeof(double));
    r->stats = q->s.of.count;
    if (!r->derivative) return;
    N_VProd(q->id, q->w, q->w);
    memcpy(r->derivative, sun_values(q->w), n * sizeof(double));
    memcpy(r->derivative + n, sun_values(q->integral), np * sizeof(double));
}

static int ready(void *rides)
{
    rider *q = rides;
    const race_task *task = &q->s.of.task;
    const costate_problem *P = &q->s.of.b->P;
    race_result *r = q->s.of.r;
    if (strcmp(task->code, "idas:bdf") != 0) return race_fail(r, COSTATE_BAD_ARGUMENT, "idas has bdf");
    if (!P->residual.value || !P->pattern)
        return race_fail(r, COSTATE_BAD_ARGUMENT, "idas runs residuals with a pattern");
    if (task->mode == RACE_TLM) return race_fail(r, COSTATE_BAD_ARGUMENT, "idas runs forward and adjoint");
    if (task->right || task->solver == COSTATE_LS_UMFPACK)
        return race_fail(r, COSTATE_BACKEND, "idas runs with klu, band, and gmres preconditioned on the left");
    if (sun_open(&q->s, 0, 2) != COSTATE_OK) return r->status;
    q->K = q->s.J + P->pattern->col[P->n];
    return sun_count_steps(&q->s, &this_code);
}

static void drop(void *rides)
{
    free_all(rides);
    sun_close(rides);
}

const peer peer_idas = {.size = sizeof(rider), .implicit = 1, .open = ready, .run = run, .keep = keep, .close = drop};
