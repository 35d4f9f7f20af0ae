/* idas.c - the race by IDAS of SUNDIALS: forward and adjoint of F(t, y, y', p) = 0, on the same callbacks.

   F_y' is a diagonal of 0 and 1, and the functional g does not change with algebraic unknowns at t1 (ivp.h).  Then the
   adjoint is  F_y'^T w' - F_y^T w = 0,  F_y'^T w(t1) = g_y, the gradient by y(0) is F_y'^T w(0), that by p the
   integral from t1 to 0 of F_p^T w.
   As its best user would run it: what it holds is made once and reinitialised before each run, and so are consistent y'
   and w, not timed; one checkpoint, so that no step is computed twice; KLU orders by the pattern's symmetry; integrals
   stay out of the error test.  What was tried beside this is in bench.py, part `dae`. */
#include <idas/idas.h>
#include <stdlib.h>
#include <string.h>
#include <sunmatrix/sunmatrix_sparse.h>

#include "ilu0.h"
#include "sundials.h"

typedef struct {
    sun_rider s;
    void *memory;
    N_Vector id, y, yp, w, wp, integral;         /* id: 1: differential; w: the adjoint */
    N_Vector yp0, w1, wp1;       /* consistent: where runs and sweeps begin */
    sun_algebra forward, backward;
    double *J, *K;               /* values of F_y, F_y' in the pattern */
    ilu0 *preconditioner;        /* --ilu: of one direction after the other */
    int which;
} rider;

static costate_point point(const rider *q, realtype t, N_Vector y, N_Vector yp)
{
    return (costate_point){.t = t, .y = sun_values(y), .yp = sun_values(yp), .p = q->s.b->p};
}
static int failed(int status) { return status < 0; }
/* a callback's status: both mean the same by the sign */

/* ---- the problem as IDAS wants it -------------------------------------------------------------------------------- */

static int residual(realtype t, N_Vector y, N_Vector yp, N_Vector out, void *data)
{
    rider *q = data;
    costate_point x = point(q, t, y, yp);
    q->s.count.f++;
    return q->s.b->P.residual.value(&x, sun_values(out), q->s.b->P.ctx);
}

static int times(realtype t, N_Vector y, N_Vector yp, N_Vector r, N_Vector v, N_Vector out, realtype c, void *data,
                 N_Vector tmp1, N_Vector tmp2)
{
    rider *q = data;
    costate_point x = point(q, t, y, yp), d = {.y = sun_values(v), .yp = sun_values(tmp1)};
    (void)r, (void)tmp2;
    q->s.count.tangents++;
    q->s.count.products++;
    N_VScale(c, v, tmp1);
    return q->s.b->P.residual.tangent(&x, &d, sun_values(out), q->s.b->P.ctx);
}

/* out = F_y'^T wp - F_y^T w */
static int adjoint_product(rider *q, const costate_point *x, N_Vector w, N_Vector wp, N_Vector out)
{
    costate_gradient by_y = {.y = sun_values(out)}, by_yp = {.yp = sun_values(out)};
    q->s.count.adjoints++;
    N_VConst(0, out);
    int status = q->s.b->P.residual.adjoint(x, sun_values(w), &by_y, q->s.b->P.ctx);
    N_VScale(-1, out, out);
    return status ? status : q->s.b->P.residual.adjoint(x, sun_values(wp), &by_yp, q->s.b->P.ctx);
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
    q->s.count.products++;
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
    return q->s.b->P.residual.adjoint(&x, sun_values(w), &by_p, q->s.b->P.ctx);
}

static int jacobians(rider *q, const costate_point *x)
{
    const costate_problem *P = &q->s.b->P;
    int status = P->jac(x, q->J, P->ctx);
    q->s.count.jac++;
    return status ? status : P->jac_yp(x, q->K, P->ctx);
}

/* s (F_y + c F_y'), or the transpose */
static int put_jacobian(rider *q, const costate_point *x, double s, double c, int transposed, SUNMatrix A)
{
    int status = jacobians(q, x), entries = q->s.b->P.pattern->col[q->s.b->P.n];
    for (int k = 0; k < entries; k++) q->J[k] = s * (q->J[k] + c * q->K[k]);
    sun_put(q->s.b->P.pattern, q->J, transposed, A);
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
    q->s.count.decompositions++;
    return status ? status : ilu0_factor_sum(q->preconditioner, q->J, c, q->K);
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
    q->s.count.solves++;
    ilu0_solve(q->preconditioner, 0, sun_values(b), sun_values(z));
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
    q->s.count.solves++;
    ilu0_solve(q->preconditioner, 1, sun_values(b), sun_values(z));
    N_VScale(-1, z, z);
    return 0;
}

/* ---- making and freeing ------------------------------------------------------------------------------------------ */

static void free_all(void *rides)
{
    rider *q = rides;
    N_Vector *all[] = {&q->id, &q->y, &q->yp, &q->w, &q->wp, &q->integral, &q->yp0, &q->w1, &q->wp1};
    if (q->memory) IDAFree(&q->memory);
    sun_algebra_free(&q->forward);
    sun_algebra_free(&q->backward);
    for (size_t k = 0; k < sizeof all / sizeof *all; k++) {
        if (*all[k]) N_VDestroy(*all[k]);
        *all[k] = NULL;
    }
}

/* vectors of n; 0: no memory */
static int make_vectors(rider *q)
{
    N_Vector *all[] = {&q->yp, &q->w, &q->wp, &q->id, &q->yp0, &q->w1, &q->wp1};
    int np = q->s.b->P.np, made = (q->y = N_VNew_Serial(q->s.b->P.n, q->s.context)) != NULL;
    for (size_t k = 0; made && k < sizeof all / sizeof *all; k++) made = (*all[k] = N_VClone(q->y)) != NULL;
    return made && (q->integral = N_VNew_Serial(np > 0 ? np : 1, q->s.context));
}

/* y' as y gives it: differential rows of the residual at y' = 0, with the other sign */
static int consistent_start(rider *q)
{
    const costate_pattern *p = q->s.b->P.pattern;
    memcpy(sun_values(q->y), q->s.b->y0, (size_t)p->n * sizeof(double));
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
    memcpy(sun_values(q->y), q->s.b->y0, (size_t)q->s.b->P.n * sizeof(double));
    N_VScale(1, q->yp0, q->yp);
}

static int make_algebra(rider *q, int type, sun_algebra *a)
{
    sun_setting setting = {q->s.task, &q->s.b->P, q->s.context, NULL, NULL};
    return sun_algebra_new(&setting, q->y, type, a);
}

static int attach(rider *q)
{
    int status = IDASetLinearSolver(q->memory, q->forward.S, q->forward.A);
    if (failed(status)) return status;
    if (q->forward.A) return IDASetJacFn(q->memory, jacobian);
    status = IDASetJacTimes(q->memory, NULL, times);
    return failed(status) || !q->s.task->ilu ? status : IDASetPreconditioner(q->memory, setup, solve);
}

static int make_forward(rider *q)
{
    const race_task *task = q->s.task;
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
    if (make_algebra(q, CSC_MAT, &q->forward)) return IDA_MEM_FAIL;
    return attach(q);
}

static int attach_backward(rider *q)
{
    void *m = q->memory;
    int status = IDASetLinearSolverB(m, q->which, q->backward.S, q->backward.A);
    if (failed(status)) return status;
    if (q->backward.A) return IDASetJacFnB(m, q->which, adjoint_jacobian);
    status = IDASetJacTimesB(m, q->which, NULL, adjoint_times);
    if (failed(status) || !q->s.task->ilu) return status;
    return IDASetPreconditionerB(m, q->which, adjoint_setup, adjoint_solve);
}

static int make_integral(rider *q)
{
    if (q->s.b->P.np == 0) return IDA_SUCCESS;
    N_VConst(0, q->integral);
    return IDAQuadInitB(q->memory, q->which, integrand, q->integral);
}

/* w of algebraic unknowns, and w' of the others, by IDAS */
static int consistent_end(rider *q)
{
    int status = IDACalcICB(q->memory, q->which, 0, q->y, q->yp);
    if (!failed(status)) status = IDAGetConsistentICB(q->memory, q->which, q->w, q->wp);
    N_VScale(1, q->w, q->w1);
    N_VScale(1, q->wp, q->wp1);
    return status;
}

static int make_backward(rider *q)
{
    double atol = q->s.task->atol * (q->s.task->adjoint_atol > 0 ? q->s.task->adjoint_atol : 1);
    int status;
    ivp_seed(q->s.b, sun_values(q->y), sun_values(q->w));
    N_VProd(q->id, q->w, q->w);
    N_VConst(0, q->wp);
    if (failed(status = IDACreateB(q->memory, &q->which))) return status;
    if (failed(status = IDAInitB(q->memory, q->which, adjoint_residual, q->s.task->tf, q->w, q->wp))) return status;
    if (failed(status = IDASStolerancesB(q->memory, q->which, q->s.task->rtol, atol))) return status;
    IDASetUserDataB(q->memory, q->which, q);
    IDASetMaxNumStepsB(q->memory, q->which, SUN_MAX_STEPS);
    IDASetIdB(q->memory, q->which, q->id);
    IDASetSuppressAlgB(q->memory, q->which, q->s.task->suppress);
    if (make_algebra(q, CSR_MAT, &q->backward)) return IDA_MEM_FAIL;
    if (failed(status = attach_backward(q)) || failed(status = make_integral(q))) return status;
    return consistent_end(q);
}

/* ---- a run ------------------------------------------------------------------------------------------------------- */

static void count(const rider *q, void *memory, costate_stats *s)
{
    long steps = 0, rejected = 0, setups = 0, newton = 0, failures = 0, krylov = 0;
    IDAGetNumSteps(memory, &steps);
    IDAGetNumErrTestFails(memory, &rejected);
    IDAGetNumStepSolveFails(memory, &failures);
    IDAGetNumNonlinSolvIters(memory, &newton);
    IDAGetNumLinSolvSetups(memory, &setups);
    IDAGetNumLinIters(memory, &krylov);
    s->accepted += steps;
    s->rejected += rejected + failures;
    s->steps += steps + rejected + failures;
    s->newton += newton;
    if (q->forward.A) s->decompositions += setups;
    if (q->forward.A) s->solves += newton;
    else s->krylov += krylov;
}

static int forward(rider *q, realtype *t)
{
    int checkpoints;
    if (q->s.task->mode == RACE_FORWARD) return IDASolve(q->memory, q->s.task->tf, t, q->y, q->yp, IDA_NORMAL);
    return IDASolveF(q->memory, q->s.task->tf, t, q->y, q->yp, IDA_NORMAL, &checkpoints);
}

static int backward(rider *q, realtype *t)
{
    int status = IDASolveB(q->memory, 0, IDA_NORMAL);
    if (!failed(status)) status = IDAGetB(q->memory, q->which, t, q->w, q->wp);
    if (failed(status) || q->s.b->P.np == 0) return status;
    return IDAGetQuadB(q->memory, q->which, t, q->integral);
}

/* made by the first run, as before the first call for the later ones */
static int prepare_forward(rider *q)
{
    int status, made = q->memory != NULL;
    if (!made) status = make_forward(q);
    else start_forward(q), status = IDAReInit(q->memory, 0, q->y, q->yp);
    if (failed(status) || q->s.task->mode == RACE_FORWARD) return status;
    if (made) return IDAAdjReInit(q->memory);
    return IDAAdjInit(q->memory, q->s.checkpoint_steps, q->s.task->polynomial ? IDA_POLYNOMIAL : IDA_HERMITE);
}

static int prepare_backward(rider *q)
{
    if (!q->backward.S) return make_backward(q);
    int status = IDAReInitB(q->memory, q->which, q->s.task->tf, q->w1, q->wp1);
    N_VConst(0, q->integral);
    return failed(status) || q->s.b->P.np == 0 ? status : IDAQuadReInitB(q->memory, q->which, q->integral);
}

/* What is not integrating is not timed, as for the other codes. */
static int run(void *rides, race_lap *lap)
{
    rider *q = rides;
    int status = prepare_forward(q);
    realtype t;
    q->s.count = (costate_stats){0};
    double start = race_clock();
    if (!failed(status)) status = forward(q, &t);
    lap->forward = race_clock() - start;
    if (failed(status)) return status;
    count(q, q->memory, &q->s.count);
    if (q->s.task->mode != RACE_ADJ) return status;
    q->s.count.tape_bytes = ((size_t)q->s.checkpoint_steps + 1) * 2 * (size_t)q->s.b->P.n * sizeof(double);
    costate_stats before = q->s.count;
    status = prepare_backward(q);
    q->s.count = before;
    start = race_clock();
    if (!failed(status)) status = backward(q, &t);
    lap->backward = race_clock() - start;
    if (!failed(status)) count(q, IDAGetAdjIDABmem(q->memory, q->which), &q->s.count);
    return status;
}

static void keep_results(void *rides)
{
    rider *q = rides;
    size_t n = (size_t)q->s.b->P.n, np = (size_t)q->s.b->P.np;
    memcpy(q->s.r->y, sun_values(q->y), n * sizeof(double));
    q->s.r->stats = q->s.count;
    if (!q->s.r->derivative) return;
    N_VProd(q->id, q->w, q->w);
    memcpy(q->s.r->derivative, sun_values(q->w), n * sizeof(double));
    memcpy(q->s.r->derivative + n, sun_values(q->integral), np * sizeof(double));
}

static const sun_code this_code = {"IDAS failed", run, keep_results, free_all};

static int suited(const race_task *task, const ivp *b, race_result *r)
{
    if (strcmp(task->code, "idas:bdf") != 0) return race_fail(r, COSTATE_BAD_ARGUMENT, "idas has bdf");
    if (!b->P.residual.value || !b->P.pattern)
        return race_fail(r, COSTATE_BAD_ARGUMENT, "idas runs residuals with a pattern");
    if (task->mode == RACE_TLM) return race_fail(r, COSTATE_BAD_ARGUMENT, "idas runs forward and adjoint");
    if (task->right || task->solver == COSTATE_LS_UMFPACK)
        return race_fail(r, COSTATE_BACKEND, "idas runs with klu, band, and gmres preconditioned on the left");
    return sun_suited(task, b, r);
}

int race_idas(const race_task *given, const ivp *b, race_result *r)
{
    race_task task = *given;
    size_t n = (size_t)b->P.n, np = (size_t)b->P.np;
    if (task.solver == COSTATE_LS_AUTO) task.solver = COSTATE_LS_KLU;
    rider q = {.s = {.task = &task, .b = b, .r = r}};
    if (suited(&task, b, r) != COSTATE_OK) return r->status;
    size_t entries = (size_t)b->P.pattern->col[n];
    r->y = calloc(n + np, sizeof *r->y);
    r->derivative = task.mode == RACE_ADJ ? calloc(n + np, sizeof *r->derivative) : NULL;
    q.J = malloc(2 * entries * sizeof *q.J);
    q.K = q.J + entries;
    if (SUNContext_Create(NULL, &q.s.context) != 0) return free(q.J), race_fail(r, COSTATE_NO_MEMORY, "no context");
    q.preconditioner = task.ilu ? ilu0_new(b->P.pattern) : NULL;
    if (task.ilu && !q.preconditioner) race_fail(r, COSTATE_NO_MEMORY, "no memory for ILU(0)");
    else sun_measure(&q.s, &this_code);
    ilu0_free(q.preconditioner);
    SUNContext_Free(&q.s.context);
    free(q.J);
    return r->status;
}
