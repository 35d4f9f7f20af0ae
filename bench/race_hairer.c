/* race_hairer.c - the race by RADAU5 of Hairer and Wanner (Fortran, as R's deSolve has it): full matrices, forward. */
#include <stdlib.h>
#include <string.h>

#include "race.h"

enum { PARAMETERS = 20, MAX_STEPS = 10000000 };

/* What its callbacks get as IPAR: passed on by address, never looked into. */
typedef struct {
    const ivp *b;
    int failed;                  /* a callback's status */
} context;

typedef void fortran_rhs(const int *n, const double *t, const double *y, double *f, double *rpar, int *ipar);
/* deSolve's copy passes the bandwidths, too */
typedef void fortran_jac(const int *n, const double *t, const double *y, const int *ml, const int *mu, double *J,
                         const int *ld, double *rpar, int *ipar);

void radau5_(const int *n, fortran_rhs *, double *t, double *y, const double *t1, double *h, const double *rtol,
             const double *atol, const int *itol, fortran_jac *, const int *ijac, const int *mljac, const int *mujac,
             void (*mas)(void), const int *imas, const int *mlmas, const int *mumas, void (*solout)(void),
             const int *iout, double *work, const int *lwork, int *iwork, const int *liwork, double *rpar, int *ipar,
             int *idid);

/* It prints its complaints by these; here idid tells. */
void rprintf_(const char *, size_t);
void rprintfd1_(const char *, const double *, size_t);
void rprintfd2_(const char *, const double *, const double *, size_t);
void rprintfi1_(const char *, const int *, size_t);
void rprintfi2_(const char *, const int *, const int *, size_t);
void rprintfi3_(const char *, const int *, const int *, const int *, size_t);
void rprintf_(const char *s, size_t n) { (void)s, (void)n; }
void rprintfd1_(const char *s, const double *a, size_t n) { (void)s, (void)a, (void)n; }
void rprintfd2_(const char *s, const double *a, const double *b, size_t n) { (void)s, (void)a, (void)b, (void)n; }
void rprintfi1_(const char *s, const int *a, size_t n) { (void)s, (void)a, (void)n; }
void rprintfi2_(const char *s, const int *a, const int *b, size_t n) { (void)s, (void)a, (void)b, (void)n; }
void rprintfi3_(const char *s, const int *a, const int *b, const int *c, size_t n)
{
    (void)s, (void)a, (void)b, (void)c, (void)n;
}

static void rhs(const int *n, const double *t, const double *y, double *f, double *rpar, int *ipar)
{
    context *q = (void *)ipar;
    (void)n, (void)rpar;
    if (q->b->P.rhs.value(&(costate_point){*t, y, NULL}, f, q->b->P.ctx) != 0) q->failed = 1;
}

static void jacobian(const int *n, const double *t, const double *y, const int *ml, const int *mu, double *J,
                     const int *ld, double *rpar, int *ipar)
{
    context *q = (void *)ipar;
    (void)n, (void)ml, (void)mu, (void)ld, (void)rpar;
    if (q->b->P.jac(&(costate_point){*t, y, NULL}, J, q->b->P.ctx) != 0) q->failed = 1;
}

static void unused(void) { }

/* A run with the parameters that are its defaults, but for the number of steps allowed; h 0: its own guess, 1e-6. */
static int run(const race_task *task, context *q, double *y, double *work, int *iwork, race_lap *lap)
{
    int n = q->b->P.n, zero = 0, one = 1, idid = 0;
    int lwork = 4 * n * n + 12 * n + PARAMETERS, liwork = 3 * n + PARAMETERS;
    double t = 0, t1 = task->tf, h = 0, rpar = 0;
    memcpy(y, q->b->y0, (size_t)n * sizeof *y);
    memset(work, 0, PARAMETERS * sizeof *work);
    memset(iwork, 0, PARAMETERS * sizeof *iwork);
    iwork[1] = MAX_STEPS;
    double start = race_clock();
    radau5_(&n, rhs, &t, y, &t1, &h, &task->rtol, &task->atol, &zero, jacobian, &one, &n, &n, unused, &zero, &n, &n,
            unused, &zero, work, &lwork, iwork, &liwork, &rpar, (int *)(void *)q, &idid);
    lap->forward = race_clock() - start;
    return idid == 1 && !q->failed ? COSTATE_OK : COSTATE_STEP_TOO_SMALL;
}

static costate_stats counted(const int *iwork)
{
    return (costate_stats){.f = iwork[13], .jac = iwork[14], .steps = iwork[15], .accepted = iwork[16],
                           .rejected = iwork[17], .decompositions = iwork[18], .complex_decompositions = iwork[18],
                           .solves = iwork[19], .complex_solves = iwork[19]};
}

static int measure(const race_task *task, context *q, double *work, int *iwork, race_result *r)
{
    race_lap lap = {0, 0, 0};
    double start = race_clock();
    int status = run(task, q, r->y, work, iwork, &lap);
    start = race_warmed_up(task, r, &lap, start);
    for (; status == COSTATE_OK && race_again(task, r, start); r->lap[r->laps++] = lap)
        status = run(task, q, r->y, work, iwork, &lap);
    r->stats = counted(iwork);
    return status == COSTATE_OK ? status : race_fail(r, status, "RADAU5 failed");
}

int race_hairer(const race_task *task, const ivp *b, race_result *r)
{
    size_t n = (size_t)b->P.n;
    context q = {b, 0};
    if (strcmp(task->code, "hairer:radau5") != 0) return race_fail(r, COSTATE_BAD_ARGUMENT, "hairer has radau5");
    if (b->P.pattern || task->mode != RACE_FORWARD)
        return race_fail(r, COSTATE_BACKEND, "radau5 runs forward here, with full matrices");
    double *work = malloc((4 * n * n + 12 * n + PARAMETERS) * sizeof *work);
    int *iwork = malloc((3 * n + PARAMETERS) * sizeof *iwork);
    r->y = malloc(n * sizeof *r->y);
    strcpy(r->solver, "dense");
    if (!work || !iwork || !r->y) race_fail(r, COSTATE_NO_MEMORY, "out of memory");
    else measure(task, &q, work, iwork, r);
    free(work);
    free(iwork);
    return r->status;
}
