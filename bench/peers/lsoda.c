/* lsoda.c - the race by LSODA of ODEPACK (Fortran, as R's deSolve has it): full or banded matrices, forward.

   (L. R. Petzold, SIAM J. Sci. Stat. Comput. 4 (1983) 136; A. C. Hindmarsh, ODEPACK, in R. S. Stepleman (ed.),
   Scientific Computing (1983).)  lsoda:jacobian takes jac of the problem, lsoda:differences its own differences of f.
   All options have their defaults, but for the number of steps allowed. */
#include <string.h>

#include "peer.h"

enum { PARAMETERS = 20, MAX_STEPS = 10000000 };

/* its names for matrices */
enum { FULL_GIVEN = 1, FULL_DIFFERENCES = 2, BAND_GIVEN = 4, BAND_DIFFERENCES = 5 };

/* What its callbacks get as IPAR: passed on by address, never looked into. */
typedef struct {
    ride of;
    int failed;                  /* a callback's status */
    int kind, lower, upper;      /* of the matrix */
    double *J;                   /* values in the pattern; NULL: there is none */
    double *work;
    int *iwork, lwork, liwork;
} context;

typedef void fortran_rhs(const int *n, const double *t, const double *y, double *f, double *rpar, int *ipar);
typedef void fortran_jac(const int *n, const double *t, const double *y, const int *ml, const int *mu, double *J,
                         const int *ld, double *rpar, int *ipar);

void dlsoda_(fortran_rhs *, const int *n, double *y, double *t, const double *t1, const int *itol, const double *rtol,
             const double *atol, const int *itask, int *istate, const int *iopt, double *rwork, const int *lrw,
             int *iwork, const int *liw, fortran_jac *, const int *jt, double *rpar, int *ipar);

static void rhs(const int *n, const double *t, const double *y, double *f, double *rpar, int *ipar)
{
    context *q = (void *)ipar;
    const ivp *b = q->of.b;
    (void)n, (void)rpar;
    if (b->P.rhs.value(&(costate_point){.t = *t, .y = y, .p = b->p}, f, b->P.ctx) != 0) q->failed = 1;
}

/* J is zero before: J_ij at row i, or i - j + upper where it is banded, of column j */
static void jacobian(const int *n, const double *t, const double *y, const int *ml, const int *mu, double *J,
                     const int *ld, double *rpar, int *ipar)
{
    context *q = (void *)ipar;
    const ivp *b = q->of.b;
    const costate_pattern *p = b->P.pattern;
    (void)n, (void)ml, (void)mu, (void)rpar;
    if (b->P.jac(&(costate_point){.t = *t, .y = y, .p = b->p}, p ? q->J : J, b->P.ctx) != 0) q->failed = 1;
    for (int j = 0; p && j < p->n; j++)
        for (int e = p->col[j]; e < p->col[j + 1]; e++) {
            int row = q->kind == BAND_GIVEN ? p->row[e] - j + q->upper : p->row[e];
            J[(size_t)*ld * (size_t)j + (size_t)row] = q->J[e];
        }
}

static void bandwidths(const costate_pattern *p, context *q)
{
    for (int j = 0; j < p->n; j++)
        for (int e = p->col[j]; e < p->col[j + 1]; e++) {
            if (p->row[e] - j > q->lower) q->lower = p->row[e] - j;
            if (j - p->row[e] > q->upper) q->upper = j - p->row[e];
        }
}

static costate_stats count(const int *iwork)
{
    return (costate_stats){.steps = iwork[10], .accepted = iwork[10], .f = iwork[11], .jac = iwork[12],
                           .decompositions = iwork[12]};
}

static int run(void *rides, race_lap *lap)
{
    context *q = rides;
    race_result *r = q->of.r;
    const race_task *task = &q->of.task;
    int n = q->of.b->P.n, one = 1, istate = 1;
    double t = 0, rpar = 0;
    memcpy(r->y, q->of.b->y0, (size_t)n * sizeof(double));
    memset(q->work, 0, PARAMETERS * sizeof *q->work);
    memset(q->iwork, 0, PARAMETERS * sizeof *q->iwork);
    q->iwork[0] = q->lower, q->iwork[1] = q->upper;
    q->iwork[5] = MAX_STEPS;
    double start = clock_now();
    dlsoda_(rhs, &n, r->y, &t, &task->tf, &one, &task->rtol, &task->atol, &one, &istate, &one, q->work, &q->lwork,
            q->iwork, &q->liwork, jacobian, &q->kind, &rpar, (int *)(void *)q);
    lap->forward = clock_now() - start;
    r->stats = count(q->iwork);
    return istate == 2 && !q->failed ? COSTATE_OK : race_fail(r, COSTATE_STEP_TOO_SMALL, "LSODA failed");
}

/* full where there is no pattern, or where it is told to */
static int kind_of(const race_task *task, const ivp *b)
{
    int given = strcmp(task->code, "lsoda:jacobian") == 0;
    if (!b->P.pattern || task->solver == COSTATE_LS_DENSE) return given ? FULL_GIVEN : FULL_DIFFERENCES;
    return given ? BAND_GIVEN : BAND_DIFFERENCES;
}

static int ready(void *rides)
{
    context *q = rides;
    const race_task *task = &q->of.task;
    const ivp *b = q->of.b;
    race_result *r = q->of.r;
    size_t n = (size_t)b->P.n, matrix = n * n;
    if (strcmp(task->code, "lsoda:jacobian") != 0 && strcmp(task->code, "lsoda:differences") != 0)
        return race_fail(r, COSTATE_BACKEND, "lsoda has jacobian and differences");
    if (task->mode != RACE_FORWARD) return race_fail(r, COSTATE_BACKEND, "LSODA runs forward");
    if (task->solver != COSTATE_LS_AUTO && task->solver != COSTATE_LS_DENSE && task->solver != COSTATE_LS_BAND)
        return race_fail(r, COSTATE_BACKEND, "LSODA runs with dense and band");
    if (task->solver == COSTATE_LS_BAND && !b->P.pattern)
        return race_fail(r, COSTATE_BACKEND, "the problem has no pattern: see --sparse");
    q->kind = kind_of(task, b);
    if (q->kind >= BAND_GIVEN) {
        bandwidths(b->P.pattern, q);
        matrix = (2 * (size_t)q->lower + (size_t)q->upper + 1) * n;
    }
    q->lwork = (int)(PARAMETERS + 16 * n + matrix + 2);
    q->liwork = PARAMETERS + (int)n;
    q->work = malloc((size_t)q->lwork * sizeof *q->work);
    q->iwork = malloc((size_t)q->liwork * sizeof *q->iwork);
    q->J = b->P.pattern ? malloc((size_t)b->P.pattern->col[n] * sizeof *q->J) : NULL;
    strcpy(r->solver, q->kind >= BAND_GIVEN ? "band" : "dense");
    return q->work && q->iwork && (q->J || !b->P.pattern) ? COSTATE_OK
                                                         : race_fail(r, COSTATE_NO_MEMORY, "out of memory");
}

static void drop(void *rides)
{
    context *q = rides;
    free(q->work);
    free(q->iwork);
    free(q->J);
}

const peer peer_lsoda = {.size = sizeof(context), .open = ready, .run = run, .close = drop};
