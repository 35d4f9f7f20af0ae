/* petsc.c - the race by PETSc's TSAdjoint: a forward run, or a Hessian product by its second-order adjoint.

   Explicit Runge-Kutta methods get f_y as a shell, whose products are the problem's own; implicit ones a matrix, and
   one of its direct solvers.  f_p is a shell.  Each product is a forward run that carries a tangent, and a sweep back.
   All second derivatives at a stage are made in the first of the four callbacks, by one product.  What else may be
   chosen is an option of PETSc's, as a user would give it (--petsc).

   PETSc 3.18 sets limits: of its trajectories only the one in files keeps tangents (/dev/shm holds them); the tangent
   of TSRK is taken at the time and with the step after its own, so that products are right with steps all alike and t
   as one more state, which it is made here; its second-order sweep is wrong for tableaux with a zero weight: rk4 and
   rk3bs are right, rk5dp and rk8vr are not; and TSTheta's tangent is that of a single parameter. */
#include <petscts.h>

#include <string.h>

#include "peer.h"

#undef TRY
#define TRY(call) do { PetscErrorCode code_ = (call); if (code_) return code_; } while (0)

typedef struct {
    ride of;
    int started;                     /* PETSc */
    double h;                        /* the step, as its options have it */
    TS ts;
    Mat J, P;                        /* f_y, f_p */
    Vec y, dir, lambda, mu, lambda2, mu2, uu, up, pu, pp;
    int along_p;                     /* the product is along p and by y, p, or along y0 and by it */
    Vec last;                        /* where J, P are taken: theirs, of the callback that took them */
    double t;
    PetscInt steps;
    int n;                           /* states, t among them where that is the last one */
    double *by_column;               /* entries of jac, and */
    int *to_row, *row;               /* where the rows' of J are among them; J's first of each row, n + 1 */
} rider;

/* ---- callbacks ------------------------------------------------------------------------------------------------- */

static int t_is_state(const rider *q) { return q->n > q->of.b->P.n; }

static costate_point point_of(const rider *q, double t, const double *y)
{
    return (costate_point){.t = t_is_state(q) ? y[q->n - 1] : t, .y = y, .p = q->of.b->p};
}

static costate_point direction_of(const rider *q, const double *v, const double *p)
{
    return (costate_point){.t = v && t_is_state(q) ? v[q->n - 1] : 0, .y = v, .p = p};
}

static costate_gradient gradient_of(const rider *q, double *g, double *p)
{
    return (costate_gradient){.t = g && t_is_state(q) ? g + q->n - 1 : NULL, .y = g, .p = p};
}

static PetscErrorCode rhs(TS ts, PetscReal t, Vec y, Vec out, void *ctx)
{
    rider *q = ctx;
    const double *in;
    double *f;
    (void)ts;
    TRY(VecGetArrayRead(y, &in));
    TRY(VecGetArray(out, &f));
    costate_point x = point_of(q, t, in);
    q->of.r->stats.f++;
    int failed = q->of.b->P.rhs.value(&x, f, q->of.b->P.ctx);
    if (t_is_state(q)) f[q->n - 1] = 1;
    TRY(VecRestoreArray(out, &f));
    TRY(VecRestoreArrayRead(y, &in));
    return failed ? PETSC_ERR_USER : 0;
}

/* where the shells' products are taken */
static PetscErrorCode take(rider *q, double t, Vec y)
{
    q->t = t;
    return VecCopy(y, q->last);
}

static PetscErrorCode jacobian(TS ts, PetscReal t, Vec y, Mat A, Mat B, void *ctx)
{
    rider *q = ctx;
    const costate_problem *P = &q->of.b->P;
    const double *in;
    double *values;
    (void)ts, (void)B;
    TRY(take(q, t, y));
    if (q->to_row) {
        TRY(VecGetArrayRead(y, &in));
        costate_point x = point_of(q, t, in);
        q->of.r->stats.jac++;
        if (P->jac(&x, q->by_column, P->ctx) != 0) return PETSC_ERR_USER;
        TRY(VecRestoreArrayRead(y, &in));
        TRY(MatSeqAIJGetArray(A, &values));
        for (int k = 0; k < q->row[P->n]; k++) values[k] = q->by_column[q->to_row[k]];
        TRY(MatSeqAIJRestoreArray(A, &values));
    }
    TRY(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
    return MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY);
}

static PetscErrorCode parameters(TS ts, PetscReal t, Vec y, Mat A, void *ctx)
{
    (void)ts;
    TRY(take(ctx, t, y));
    TRY(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
    return MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY);
}

/* out = f'(x) in: in is a direction of y or of p, out of f */
static PetscErrorCode multiply(Mat A, Vec in, Vec out, int by_p)
{
    rider *q;
    const double *y, *v;
    double *f;
    TRY(MatShellGetContext(A, &q));
    TRY(VecGetArrayRead(q->last, &y));
    TRY(VecGetArrayRead(in, &v));
    TRY(VecGetArray(out, &f));
    costate_point x = point_of(q, q->t, y), dx = direction_of(q, by_p ? NULL : v, by_p ? v : NULL);
    q->of.r->stats.tangents++;
    int failed = q->of.b->P.rhs.tangent(&x, &dx, f, q->of.b->P.ctx);
    if (t_is_state(q)) f[q->n - 1] = 0;
    TRY(VecRestoreArray(out, &f));
    TRY(VecRestoreArrayRead(in, &v));
    TRY(VecRestoreArrayRead(q->last, &y));
    return failed ? PETSC_ERR_USER : 0;
}

static PetscErrorCode multiply_transposed(Mat A, Vec in, Vec out, int by_p)
{
    rider *q;
    const double *y, *w;
    double *g;
    TRY(MatShellGetContext(A, &q));
    TRY(VecSet(out, 0));
    TRY(VecGetArrayRead(q->last, &y));
    TRY(VecGetArrayRead(in, &w));
    TRY(VecGetArray(out, &g));
    costate_point x = point_of(q, q->t, y);
    costate_gradient to = gradient_of(q, by_p ? NULL : g, by_p ? g : NULL);
    q->of.r->stats.adjoints++;
    int failed = q->of.b->P.rhs.adjoint(&x, w, &to, q->of.b->P.ctx);
    TRY(VecRestoreArray(out, &g));
    TRY(VecRestoreArrayRead(in, &w));
    TRY(VecRestoreArrayRead(q->last, &y));
    return failed ? PETSC_ERR_USER : 0;
}

static PetscErrorCode by_y(Mat A, Vec in, Vec out) { return multiply(A, in, out, 0); }
static PetscErrorCode by_p(Mat A, Vec in, Vec out) { return multiply(A, in, out, 1); }
static PetscErrorCode by_y_transposed(Mat A, Vec in, Vec out) { return multiply_transposed(A, in, out, 0); }
static PetscErrorCode by_p_transposed(Mat A, Vec in, Vec out) { return multiply_transposed(A, in, out, 1); }

/* the first of four: w . f''[(dy, dp), .] by y; what is by p goes where the third is to be */
static PetscErrorCode curve(TS ts, PetscReal t, Vec y, Vec *weights, Vec direction, Vec *out, void *ctx)
{
    rider *q = ctx;
    const double *in, *w, *v, *p;
    double *g, *gp;
    (void)ts;
    TRY(VecSet(out[0], 0));
    TRY(VecSet(q->pu, 0));
    TRY(VecGetArrayRead(y, &in));
    TRY(VecGetArrayRead(weights[0], &w));
    TRY(VecGetArrayRead(direction, &v));
    TRY(VecGetArrayRead(q->dir, &p));
    TRY(VecGetArray(out[0], &g));
    TRY(VecGetArray(q->pu, &gp));
    costate_point x = point_of(q, t, in), dx = direction_of(q, v, q->along_p ? p : NULL);
    costate_gradient to = gradient_of(q, g, q->along_p ? gp : NULL);
    q->of.r->stats.adjoints2++;
    int failed = q->of.b->P.rhs.adjoint_tangent(&x, &dx, w, &to, q->of.b->P.ctx);
    TRY(VecRestoreArray(q->pu, &gp));
    TRY(VecRestoreArray(out[0], &g));
    TRY(VecRestoreArrayRead(q->dir, &p));
    TRY(VecRestoreArrayRead(direction, &v));
    TRY(VecRestoreArrayRead(weights[0], &w));
    TRY(VecRestoreArrayRead(y, &in));
    return failed ? PETSC_ERR_USER : 0;
}

static PetscErrorCode made_already(TS ts, PetscReal t, Vec y, Vec *weights, Vec direction, Vec *out, void *ctx)
{
    (void)ts, (void)t, (void)y, (void)weights, (void)direction, (void)out, (void)ctx;
    return 0;
}

/* ---- what a run needs ------------------------------------------------------------------------------------------ */

static int explicit_method(const rider *q) { return strncmp(q->of.task.code, "petsc:rk", 8) == 0; }

static PetscErrorCode shell(rider *q, int columns, Mat *A, PetscErrorCode (*times)(Mat, Vec, Vec),
                            PetscErrorCode (*transposed)(Mat, Vec, Vec))
{
    TRY(MatCreateShell(PETSC_COMM_SELF, q->n, columns, q->n, columns, q, A));
    TRY(MatShellSetOperation(*A, MATOP_MULT, (void (*)(void))times));
    TRY(MatShellSetOperation(*A, MATOP_MULT_TRANSPOSE, (void (*)(void))transposed));
    TRY(MatAssemblyBegin(*A, MAT_FINAL_ASSEMBLY));
    return MatAssemblyEnd(*A, MAT_FINAL_ASSEMBLY);
}

/* The pattern by rows; jac's entries are by columns, or all of a small matrix. */
static PetscErrorCode matrix(rider *q)
{
    const costate_problem *P = &q->of.b->P;
    const costate_pattern *S = P->pattern;
    int n = P->n, count = S ? S->col[n] : n * n, *column = malloc((size_t)count * sizeof *column);
    double *zeros = calloc((size_t)count, sizeof *zeros);
    q->to_row = malloc((size_t)count * sizeof *q->to_row);
    q->row = calloc((size_t)n + 2, sizeof *q->row);
    q->by_column = malloc((size_t)count * sizeof *q->by_column);
    if (!column || !zeros || !q->to_row || !q->row || !q->by_column) return PETSC_ERR_MEM;
    for (int k = 0; k < count; k++) q->row[(S ? S->row[k] : k % n) + 2]++;
    for (int i = 0; i < n; i++) q->row[i + 2] += q->row[i + 1];
    for (int j = 0; j < n; j++)
        for (int k = S ? S->col[j] : j * n; k < (S ? S->col[j + 1] : (j + 1) * n); k++) {
            int at = q->row[(S ? S->row[k] : k % n) + 1]++;
            q->to_row[at] = k;
            column[at] = j;
        }
    TRY(MatCreateSeqAIJ(PETSC_COMM_SELF, n, n, 0, NULL, &q->J));
    TRY(MatSeqAIJSetPreallocationCSR(q->J, q->row, column, zeros));
    free(column);
    free(zeros);
    return 0;
}

static PetscErrorCode make(rider *q)
{
    int n = q->n = q->of.b->P.n + (explicit_method(q) && q->of.b->timed), np = q->along_p ? q->of.b->P.np : n;
    const char *method = strchr(q->of.task.code, ':') + 1;
    Vec *const states[] = {&q->y, &q->last, &q->lambda, &q->lambda2, &q->uu, &q->up},
        *const others[] = {&q->dir, &q->mu, &q->mu2, &q->pu, &q->pp};
    for (size_t k = 0; k < sizeof states / sizeof *states; k++) TRY(VecCreateSeq(PETSC_COMM_SELF, n, states[k]));
    for (size_t k = 0; k < sizeof others / sizeof *others; k++) TRY(VecCreateSeq(PETSC_COMM_SELF, np, others[k]));
    if (explicit_method(q)) TRY(shell(q, n, &q->J, by_y, by_y_transposed));
    else TRY(matrix(q));
    TRY(shell(q, np, &q->P, by_p, by_p_transposed));
    TRY(TSCreate(PETSC_COMM_SELF, &q->ts));
    TRY(TSSetRHSFunction(q->ts, NULL, rhs, q));
    TRY(TSSetRHSJacobian(q->ts, q->J, q->J, jacobian, q));
    if (q->along_p) TRY(TSSetRHSJacobianP(q->ts, q->P, parameters, q));
    TRY(TSSetSolution(q->ts, q->y));
    TRY(TSSetEquationType(q->ts, TS_EQ_ODE_EXPLICIT));
    TRY(TSSetType(q->ts, explicit_method(q) ? TSRK : strcmp(method, "cn") == 0 ? TSCN : TSTHETA));
    if (explicit_method(q)) TRY(TSRKSetType(q->ts, method + 2));
    TRY(TSSetMaxTime(q->ts, q->of.task.tf));
    TRY(TSSetMaxSteps(q->ts, 10000000));
    TRY(TSSetExactFinalTime(q->ts, TS_EXACTFINALTIME_MATCHSTEP));
    TRY(TSSetTolerances(q->ts, q->of.task.atol, NULL, q->of.task.rtol, NULL));
    if (q->of.task.mode == RACE_SECOND) TRY(TSSetSaveTrajectory(q->ts));
    return TSSetFromOptions(q->ts);
}

/* ---- a run ------------------------------------------------------------------------------------------------------- */

/* the first of x's n entries; the others: zero */
static PetscErrorCode set(Vec x, int first, int n, const double *from)
{
    double *to;
    TRY(VecGetArray(x, &to));
    for (int i = 0; i < n; i++) to[i] = i < first ? from[i] : 0;
    return VecRestoreArray(x, &to);
}

static PetscErrorCode get(Vec x, int n, double *to)
{
    const double *from;
    TRY(VecGetArrayRead(x, &from));
    memcpy(to, from, (size_t)n * sizeof *to);
    return VecRestoreArrayRead(x, &from);
}

static PetscErrorCode forward(rider *q, double h)
{
    TRY(set(q->y, q->of.b->P.n, q->n, q->of.b->y0));
    TRY(TSSetTime(q->ts, 0));
    TRY(TSSetStepNumber(q->ts, 0));
    TRY(TSSetTimeStep(q->ts, h));
    return TSSolve(q->ts, q->y);
}

/* The product along the first direction of ivp.h: from y(t1) on, q->of.r->derivative. */
static PetscErrorCode backward(rider *q)
{
    int n = q->of.b->P.n;
    double *d = q->of.r->derivative;
    TRY(get(q->y, n, q->of.r->y));
    ivp_seed(q->of.b, q->of.r->y, d);
    TRY(set(q->lambda, n, q->n, d));
    TRY(VecSet(q->lambda2, 0));
    TRY(VecSet(q->mu, 0));
    TRY(VecSet(q->mu2, 0));
    TRY(TSSetCostGradients(q->ts, 1, &q->lambda, q->along_p ? &q->mu : NULL));
    TRY(TSSetRHSHessianProduct(q->ts, &q->uu, curve, &q->up, made_already, &q->pu, made_already, &q->pp, made_already,
                               q));
    TRY(TSAdjointSolve(q->ts));
    TRY(get(q->lambda2, n, d));
    return q->along_p ? get(q->mu2, q->of.b->P.np, d + n) : 0;
}

static PetscErrorCode lap(rider *q, race_lap *l)
{
    int second = q->of.task.mode == RACE_SECOND;
    double start = clock_now();
    q->of.r->stats = (costate_stats){0};
    if (second) {
        TRY(TSSetCostHessianProducts(q->ts, 1, &q->lambda2, q->along_p ? &q->mu2 : NULL, q->dir));
        TRY(TSAdjointSetForward(q->ts, NULL));
    }
    TRY(forward(q, q->h));
    TRY(TSGetStepNumber(q->ts, &q->steps));
    l->forward = clock_now() - start;
    if (!second) return get(q->y, q->of.b->P.n, q->of.r->y);
    start = clock_now();
    TRY(backward(q));
    TRY(TSAdjointReset(q->ts));
    TRY(TSAdjointResetForward(q->ts));
    l->backward = clock_now() - start;
    return 0;
}

/* the first direction of ivp.h */
static PetscErrorCode direct(rider *q)
{
    int n = q->of.b->P.n, np = q->of.b->P.np;
    double *V = calloc((size_t)(n + np), sizeof *V);
    if (!V) return PETSC_ERR_MEM;
    ivp_direction(q->of.b, 0, V, V + n);
    TRY(set(q->dir, q->along_p ? np : n, q->along_p ? np : q->n, q->along_p ? V + n : V));
    free(V);
    return 0;
}

static PetscErrorCode name_solver(rider *q)
{
    PCType pc;
    KSP ksp;
    SNES snes;
    PC of;
    strcpy(q->of.r->solver, "none");
    if (explicit_method(q)) return 0;
    TRY(TSGetSNES(q->ts, &snes));
    TRY(SNESGetKSP(snes, &ksp));
    TRY(KSPGetPC(ksp, &of));
    TRY(PCGetType(of, &pc));
    strncpy(q->of.r->solver, pc, sizeof q->of.r->solver - 1);
    return 0;
}

static int status_of(rider *q, PetscErrorCode code)
{
    const char *text;
    if (!code) return COSTATE_OK;
    PetscErrorMessage(code, &text, NULL);
    return race_fail(q->of.r, -100 - code, text ? text : "PETSc failed");
}

static int run(void *rides, race_lap *l)
{
    rider *q = rides;
    int status = status_of(q, lap(q, l));
    q->of.r->stats.accepted = q->of.r->stats.steps = q->steps;
    return status;
}

static void keep(void *rides) { name_solver(rides); }            /* which PETSc chooses in a run */

static PetscErrorCode begin(rider *q)
{
    TRY(PetscOptionsInsertString(NULL, "-ts_trajectory_type basic -ts_trajectory_dirname /dev/shm/race_petsc "
                                       "-ts_adapt_type none"));
    if (q->of.task.petsc) TRY(PetscOptionsInsertString(NULL, q->of.task.petsc));
    TRY(make(q));
    TRY(direct(q));
    return TSGetTimeStep(q->ts, &q->h);
}

static int ready(void *rides)
{
    rider *q = rides;
    const race_task *task = &q->of.task;
    const costate_problem *P = &q->of.b->P;
    race_result *r = q->of.r;
    q->along_p = P->np > 0;
    if (P->nq || P->nevents || (P->np > 0) != (q->of.b->nu > 0))
        return race_fail(r, COSTATE_BAD_ARGUMENT, "PETSc races on problems without integrals and events");
    if (task->mode != RACE_FORWARD && task->mode != RACE_SECOND)
        return race_fail(r, COSTATE_BAD_ARGUMENT, "PETSc races in the modes forward and second");
    if (PetscInitializeNoArguments() != 0) return race_fail(r, COSTATE_BACKEND, "PETSc does not start");
    q->started = 1;
    PetscPushErrorHandler(PetscReturnErrorHandler, NULL);
    return status_of(q, begin(q));
}

static void drop(void *rides)
{
    rider *q = rides;
    Vec *const all[] = {&q->y, &q->dir, &q->lambda, &q->mu, &q->lambda2, &q->mu2, &q->uu, &q->up, &q->pu, &q->pp,
                        &q->last};
    if (!q->started) return;
    TSDestroy(&q->ts);
    MatDestroy(&q->J);
    MatDestroy(&q->P);
    for (size_t k = 0; k < sizeof all / sizeof *all; k++) VecDestroy(all[k]);
    free(q->by_column);
    free(q->to_row);
    free(q->row);
    PetscFinalize();
}

const peer peer_petsc = {.size = sizeof(rider), .any_mode = 1, .implicit = 1, .open = ready, .run = run, .keep = keep,
                         .close = drop};
