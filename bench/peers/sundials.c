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

static SUNLinearSolver dense_solver(const sun_setting *q, N_Vector y, SUNMatrix A)
{
#ifdef RACE_LAPACK
    if (q->task->lapack) return SUNLinSol_LapackDense(y, A, q->context);
#endif
    return SUNLinSol_Dense(y, A, q->context);
}

/* KLU's own default, COLAMD, is for patterns without symmetry: on grids AMD fills several times less. */
static SUNLinearSolver klu_solver(const sun_setting *q, N_Vector y, SUNMatrix A)
{
    enum { AMD = 0, COLAMD = 1 };
    SUNLinearSolver S = SUNLinSol_KLU(y, A, q->context);
    if (S) SUNLinSol_KLUSetOrdering(S, q->task->colamd ? COLAMD : AMD);
    return S;
}

/* bandwidths of the pattern, above and below the diagonal */
static SUNMatrix band_matrix(const sun_setting *q, int transposed)
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

int sun_algebra_new(const sun_setting *q, N_Vector like, int type, sun_algebra *a)
{
    const costate_pattern *p = q->P->pattern;
    int solver = q->task->solver, n = q->P->n;
    if (solver == COSTATE_LS_GMRES) {
        int side = !q->task->ilu ? SUN_PREC_NONE : q->task->right ? SUN_PREC_RIGHT : SUN_PREC_LEFT;
        return !(a->S = SUNLinSol_SPGMR(like, side, q->task->krylov, q->context));
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
    else a->S = race_sunlinsol(costate_backend_find("umfpack"), p, q->shared, q->solves, q->context);
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

void sun_put(const costate_pattern *p, const double *values, int transposed, SUNMatrix A)
{
    if (SUNMatGetID(A) == SUNMATRIX_SPARSE) {       /* arrays by columns are those of the transpose by rows */
        sun_put_pattern(p, A);
        memcpy(SM_DATA_S(A), values, (size_t)p->col[p->n] * sizeof *values);
        return;
    }
    for (int j = 0; j < p->n; j++)
        for (int k = p->col[j]; k < p->col[j + 1]; k++)
            if (transposed) SM_ELEMENT_B(A, j, p->row[k]) = values[k];
            else SM_ELEMENT_B(A, p->row[k], j) = values[k];
}

int sun_suited(const race_task *task, const ivp *b, race_result *r)
{
    static const struct { int solver; const char *name; } known[] = {
        {COSTATE_LS_DENSE, "dense"}, {COSTATE_LS_BAND, "band"}, {COSTATE_LS_KLU, "klu"},
        {COSTATE_LS_UMFPACK, "umfpack"}, {COSTATE_LS_GMRES, "gmres"}};
    const int count = sizeof known / sizeof *known,
              pattern = task->solver != COSTATE_LS_DENSE && task->solver != COSTATE_LS_GMRES;
    int k = 0;
    while (k < count && known[k].solver != task->solver) k++;
    if (k == count) return race_fail(r, COSTATE_BACKEND, "SUNDIALS runs with dense, band, klu, umfpack and gmres");
    snprintf(r->solver, sizeof r->solver, "%s%s", task->lapack ? "lapack" : known[k].name, task->ilu ? "+ilu0" : "");
    if (task->ilu && (task->solver != COSTATE_LS_GMRES || !b->P.pattern || task->mode == RACE_TLM))
        return race_fail(r, COSTATE_BAD_ARGUMENT, "--ilu is for gmres, a problem with a pattern, forward or adjoint");
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

/* ---- a run ------------------------------------------------------------------------------------------------------- */

static int count_steps(sun_rider *q, const sun_code *of)
{
    const race_task *task = q->task;
    race_task plain = *task;
    race_lap lap;
    plain.mode = RACE_FORWARD;
    q->task = &plain;
    int status = of->run(q, &lap);
    q->checkpoint_steps = (int)q->count.accepted + 2;
    of->free(q);
    q->task = task;
    return status;
}

static int laps(sun_rider *q, const sun_code *of, int status)
{
    race_lap lap = {0, 0, 0};
    double start = race_clock();
    if (status >= 0) status = of->run(q, &lap);
    start = race_warmed_up(q->task, q->r, &lap, start);
    for (; status >= 0 && race_again(q->task, q->r, start); q->r->lap[q->r->laps++] = lap) status = of->run(q, &lap);
    return status;
}

int sun_measure(sun_rider *q, const sun_code *of)
{
    int status = laps(q, of, q->task->mode == RACE_ADJ ? count_steps(q, of) : 0);
    if (status >= 0) of->keep(q);
    of->free(q);
    return status >= 0 ? q->r->status : race_fail(q->r, SUN_OWN_STATUS + status, q->said[0] ? q->said : of->failed);
}

void sun_keep_message(int code, const char *module, const char *function, char *message, void *rider)
{
    sun_rider *q = rider;
    (void)code, (void)module;
    snprintf(q->said, sizeof q->said, "%s: %s", function, message);
}
