/* sundials.c - what the codes of SUNDIALS share in the race: linear solvers and their matrices, laps, messages. */
#include "sundials.h"

#include <stdio.h>
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

#include "sunlinsol.h"

/* ---- linear solvers ---------------------------------------------------------------------------------------------- */

static SUNLinearSolver dense_solver(const sun_rider *q, N_Vector y, SUNMatrix A)
{
#ifdef RACE_LAPACK
    if (q->of.task.lapack) return SUNLinSol_LapackDense(y, A, q->context);
#endif
    return SUNLinSol_Dense(y, A, q->context);
}

/* KLU's own default, COLAMD, is for patterns without symmetry: on grids AMD fills several times less. */
static SUNLinearSolver klu_solver(const sun_rider *q, N_Vector y, SUNMatrix A)
{
    enum { AMD = 0, COLAMD = 1 };
    SUNLinearSolver S = SUNLinSol_KLU(y, A, q->context);
    if (S) SUNLinSol_KLUSetOrdering(S, q->of.task.colamd ? COLAMD : AMD);
    return S;
}

/* bandwidths of the pattern, above and below the diagonal */
static SUNMatrix band_matrix(const sun_rider *q, int transposed)
{
    const costate_pattern *p = q->P->pattern;
    int up = 0, down = 0;
    for (int j = 0; j < p->n; j++)
        for (int k = p->col[j]; k < p->col[j + 1]; k++) {
            if (j - p->row[k] > up) up = j - p->row[k];
            if (p->row[k] - j > down) down = p->row[k] - j;
        }
    return transposed ? SUNBandMatrix(p->n, down, up, q->context) : SUNBandMatrix(p->n, up, down, q->context);
}

int sun_preconditioned(const race_task *task) { return task->ilu || task->precondition; }

int sun_algebra_new(sun_rider *q, N_Vector like, int type, sun_algebra *a)
{
    const costate_pattern *p = q->P->pattern;
    int solver = q->of.task.solver, n = q->P->n;
    if (solver == COSTATE_LS_GMRES) {
        int side = !sun_preconditioned(&q->of.task) ? SUN_PREC_NONE : q->of.task.right ? SUN_PREC_RIGHT : SUN_PREC_LEFT;
        return !(a->S = SUNLinSol_SPGMR(like, side, q->of.task.krylov, q->context));
    }
    if (solver == COSTATE_LS_DENSE) {
        a->A = SUNDenseMatrix(n, n, q->context);
        a->S = a->A ? dense_solver(q, like, a->A) : NULL;
        return !a->S;
    }
    if (solver == COSTATE_LS_BAND) {
        a->A = band_matrix(q, type == CSR_MAT);
        a->S = a->A ? SUNLinSol_Band(like, a->A, q->context) : NULL;
        return !a->S;
    }
    if (!(a->A = SUNSparseMatrix(n, n, p->col[n], type, q->context))) return 1;
    sun_put_pattern(p, a->A);
    if (solver == COSTATE_LS_KLU) a->S = klu_solver(q, like, a->A);
    else a->S = race_sunlinsol(costate_backend_find("umfpack"), p, q->shared, &q->of.count.solves,
                               q->context);
    return !a->S;
}

void sun_algebra_free(sun_algebra *a)
{
    if (a->A) SUNMatDestroy(a->A);
    if (a->S) SUNLinSolFree(a->S);
    *a = (sun_algebra){NULL, NULL};
}

/* SUNDIALS clears the indices, too, before each Jacobian. */
void sun_put_pattern(const costate_pattern *p, SUNMatrix A)
{
    for (int j = 0; j <= p->n; j++) SM_INDEXPTRS_S(A)[j] = p->col[j];
    for (int k = 0; k < p->col[p->n]; k++) SM_INDEXVALS_S(A)[k] = p->row[k];
}

void sun_put(const costate_problem *P, const double *values, int transposed, SUNMatrix A)
{
    const costate_pattern *p = P->pattern;
    if (SUNMatGetID(A) == SUNMATRIX_SPARSE) {       /* arrays by columns are those of the transpose by rows */
        sun_put_pattern(p, A);
        memcpy(SM_DATA_S(A), values, (size_t)p->col[p->n] * sizeof *values);
    } else if (SUNMatGetID(A) == SUNMATRIX_DENSE) {
        for (int j = 0; j < P->n; j++)
            for (int i = 0; i < P->n; i++, values++)
                if (transposed) SM_ELEMENT_D(A, j, i) = *values;
                else SM_ELEMENT_D(A, i, j) = *values;
    } else
        for (int j = 0; j < p->n; j++)
            for (int k = p->col[j]; k < p->col[j + 1]; k++)
                if (transposed) SM_ELEMENT_B(A, j, p->row[k]) = values[k];
                else SM_ELEMENT_B(A, p->row[k], j) = values[k];
}

/* whether the task's linear solver fits the problem; r->solver is its name */
static int suited(const race_task *task, const ivp *b, race_result *r)
{
    static const struct { int solver; const char *name; } known[] = {
        {COSTATE_LS_DENSE, "dense"}, {COSTATE_LS_BAND, "band"}, {COSTATE_LS_KLU, "klu"},
        {COSTATE_LS_UMFPACK, "umfpack"}, {COSTATE_LS_GMRES, "gmres"}};
    static const char *const matrices[] = {"", "+adi", "+multigrid", "+reaction"};
    const int count = sizeof known / sizeof *known,
              pattern = task->solver != COSTATE_LS_DENSE && task->solver != COSTATE_LS_GMRES;
    int k = 0;
    while (k < count && known[k].solver != task->solver) k++;
    if (k == count) return race_fail(r, COSTATE_BACKEND, "SUNDIALS runs with dense, band, klu, umfpack and gmres");
    snprintf(r->solver, sizeof r->solver, "%s%s", task->lapack ? "lapack" : known[k].name,
             task->ilu ? "+ilu0" : matrices[task->precondition]);
    if (sun_preconditioned(task) && (task->solver != COSTATE_LS_GMRES || !b->P.pattern || task->mode == RACE_TLM))
        return race_fail(r, COSTATE_BAD_ARGUMENT, "--ilu and --precondition are for gmres, a problem with a pattern, "
                         "forward or adjoint");
#ifndef RACE_LAPACK
    if (task->lapack) return race_fail(r, COSTATE_BACKEND, "this SUNDIALS has no LAPACK");
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

int sun_open(sun_rider *q, int functional, int matrices)
{
    race_result *r = q->of.r;
    race_task *task = &q->of.task;
    const costate_pattern *p = (q->P = &q->of.b->P)->pattern;
    size_t n = (size_t)q->P->n, entries = p ? (size_t)p->col[n] : n * n;
    if (task->solver == COSTATE_LS_AUTO) task->solver = p ? COSTATE_LS_KLU : COSTATE_LS_DENSE;
    if (functional) snprintf(r->solver, sizeof r->solver, "none");
    else if (suited(task, q->of.b, r) != COSTATE_OK) return r->status;
    q->J = malloc((size_t)matrices * entries * sizeof *q->J);
    if (!q->J || SUNContext_Create(NULL, &q->context) != 0) return race_fail(r, COSTATE_NO_MEMORY, "no context");
    q->preconditioner = task->ilu ? ilu0_new(p) : NULL;
    if (task->ilu && !q->preconditioner) return race_fail(r, COSTATE_NO_MEMORY, "no memory for ILU(0)");
    q->matrix = task->precondition ? precondition_new(q->of.b, task->precondition, task->cycles, task->sweeps) : NULL;
    if (task->precondition && !q->matrix) return race_fail(r, COSTATE_BAD_ARGUMENT, "no memory, or no grid");
    if (task->solver == COSTATE_LS_UMFPACK && !functional)
        q->shared = race_sunlinsol(costate_backend_find("umfpack"), p, NULL, &q->of.count.solves, q->context);
    return COSTATE_OK;
}

void sun_close(sun_rider *q)
{
    ilu0_free(q->preconditioner);
    precondition_free(q->matrix);
    if (q->shared) SUNLinSolFree(q->shared);
    if (q->context) SUNContext_Free(&q->context);
    free(q->J);
}

/* ---- a run ------------------------------------------------------------------------------------------------------- */

int sun_status(sun_rider *q, const char *failed, int status)
{
    return status >= 0 ? COSTATE_OK : race_fail(q->of.r, SUN_OWN_STATUS + status, q->said[0] ? q->said : failed);
}

/* What is not integrating is not timed, as for the other codes. */
int sun_run(sun_rider *q, const sun_code *code, race_lap *lap)
{
    int status = 0, sweeps = q->of.task.mode == RACE_ADJ;
    for (int back = 0; status >= 0 && back <= sweeps; back++) {
        costate_stats before = q->of.count;
        status = code->prepare(q, back);
        q->of.count = back ? before : (costate_stats){0};
        double start = clock_now();
        if (status >= 0) status = code->solve(q, back);
        *(back ? &lap->backward : &lap->forward) = clock_now() - start;
        if (status >= 0) code->count(q, back);
    }
    return sun_status(q, code->failed, status);
}

int sun_count_steps(sun_rider *q, const sun_code *code)
{
    race_lap lap;
    int mode = q->of.task.mode, status = COSTATE_OK;
    if (mode != RACE_ADJ) return status;
    q->of.task.mode = RACE_FORWARD;
    status = sun_run(q, code, &lap);
    q->of.task.mode = mode;
    q->checkpoint_steps = (int)q->of.count.accepted + 2;
    code->free(q);
    return status;
}

void sun_count(sun_rider *q, long steps, long rejected, long failures, long newton, long setups, long krylov)
{
    costate_stats *s = &q->of.count;
    s->accepted += steps;
    s->rejected += rejected + failures;
    s->steps += steps + rejected + failures;
    s->newton += newton;
    if (q->forward.A) s->decompositions += setups;
    if (q->forward.A && !q->shared) s->solves += newton;
    if (!q->forward.A) s->krylov += krylov;
}

void sun_taped(sun_rider *q, int vectors)
{
    q->of.count.tape_bytes = ((size_t)q->checkpoint_steps + 1) * (size_t)vectors * (size_t)q->P->n * sizeof(double);
}

void sun_keep_message(int code, const char *module, const char *function, char *message, void *rider)
{
    sun_rider *q = rider;
    (void)code, (void)module;
    snprintf(q->said, sizeof q->said, "%s: %s", function, message);
}
