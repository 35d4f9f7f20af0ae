/* sunlinsol.c - SUNDIALS' operations of a linear solver by the four calls of a backend of costate. */
#include "sunlinsol.h"

#include <nvector/nvector_serial.h>
#include <stdlib.h>
#include <string.h>
#include <sunmatrix/sunmatrix_sparse.h>

typedef struct {
    const costate_backend *backend;
    void *self;
    const costate_pattern *pattern;
    long *solves;
    sunindextype flag;
} content;

static content *of(SUNLinearSolver S) { return S->content; }

static SUNLinearSolver_Type type(SUNLinearSolver S) { return (void)S, SUNLINEARSOLVER_DIRECT; }
static SUNLinearSolver_ID id(SUNLinearSolver S) { return (void)S, SUNLINEARSOLVER_CUSTOM; }
static sunindextype last_flag(SUNLinearSolver S) { return of(S)->flag; }

static int initialize(SUNLinearSolver S)
{
    of(S)->flag = 0;
    return SUNLS_SUCCESS;
}

static int setup(SUNLinearSolver S, SUNMatrix A)
{
    content *c = of(S);
    if (SM_INDEXPTRS_S(A)[SM_NP_S(A)] != c->pattern->col[c->pattern->n]) return SUNLS_PACKAGE_FAIL_UNREC;
    c->flag = c->backend->factor(c->self, SM_DATA_S(A));
    return c->flag == 0 ? SUNLS_SUCCESS : c->flag > 0 ? SUNLS_LUFACT_FAIL : SUNLS_PACKAGE_FAIL_UNREC;
}

/* what is transposed in memory is solved with transposed */
static int solve(SUNLinearSolver S, SUNMatrix A, N_Vector x, N_Vector b, realtype tol)
{
    content *c = of(S);
    double *X = N_VGetArrayPointer(x);
    (void)tol;
    memcpy(X, N_VGetArrayPointer(b), (size_t)c->pattern->n * sizeof *X);
    ++*c->solves;
    c->flag = c->backend->solve(c->self, SM_SPARSETYPE_S(A) == CSR_MAT, 1, X);
    return c->flag == 0 ? SUNLS_SUCCESS : SUNLS_PACKAGE_FAIL_REC;
}

static int destroy(SUNLinearSolver S)
{
    if (!S) return SUNLS_SUCCESS;
    if (S->content && of(S)->self) of(S)->backend->free(of(S)->self);
    free(S->content);
    S->content = NULL;
    SUNLinSolFreeEmpty(S);
    return SUNLS_SUCCESS;
}

SUNLinearSolver race_sunlinsol(const costate_backend *backend, const costate_pattern *pattern, SUNLinearSolver like,
                               long *solves, SUNContext context)
{
    SUNLinearSolver S = SUNLinSolNewEmpty(context);
    content *c = calloc(1, sizeof *c);
    if (!S || !c) {
        free(c);
        SUNLinSolFreeEmpty(S);
        return NULL;
    }
    S->ops->gettype = type;
    S->ops->getid = id;
    S->ops->initialize = initialize;
    S->ops->setup = setup;
    S->ops->solve = solve;
    S->ops->lastflag = last_flag;
    S->ops->free = destroy;
    S->content = c;
    *c = (content){.backend = backend, .pattern = pattern, .solves = solves};
    if (backend->init(&c->self, pattern->n, pattern, 0, like ? of(like)->self : NULL) != 0) {
        c->self = NULL;
        destroy(S);
        return NULL;
    }
    return S;
}
