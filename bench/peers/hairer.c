/* hairer.c - the race by RADAU5 of Hairer and Wanner (Fortran, as R's deSolve has it), and by RODAS, DOPRI5 and DOP853
   of Hairer and others where their sources were there: full matrices, forward. */
#include <string.h>

#include "peer.h"

enum { PARAMETERS = 20, MAX_STEPS = 10000000 };

typedef struct context context;
typedef struct {
    const char *name, *failed;
    int (*run)(const race_task *, context *, double *y);
    costate_stats (*count)(const int *iwork);
    int explicit;                /* it solves no linear systems */
} entrant;

/* What its callbacks get as IPAR: passed on by address, never looked into. */
struct context {
    ride of;
    const entrant *by;
    int failed;                  /* a callback's status */
    double *M;                   /* P.mass, by diagonals; NULL: the identity */
    int lower, upper;            /* how many of them */
    double *work;
    int *iwork, lwork, liwork;
};

typedef void fortran_rhs(const int *n, const double *t, const double *y, double *f, double *rpar, int *ipar);
/* deSolve's copy passes the bandwidths, too */
typedef void fortran_jac(const int *n, const double *t, const double *y, const int *ml, const int *mu, double *J,
                         const int *ld, double *rpar, int *ipar);
typedef void fortran_mas(const int *n, double *M, const int *ld, double *rpar, int *ipar);

void radau5_(const int *n, fortran_rhs *, double *t, double *y, const double *t1, double *h, const double *rtol,
             const double *atol, const int *itol, fortran_jac *, const int *ijac, const int *mljac, const int *mujac,
             fortran_mas *, const int *imas, const int *mlmas, const int *mumas, void (*solout)(void),
             const int *iout, double *work, const int *lwork, int *iwork, const int *liwork, double *rpar, int *ipar,
             int *idid);

#ifdef RACE_RODAS_DOPRI5_DOP853
typedef void rodas_jac(const int *n, const double *t, const double *y, double *J, const int *ld, double *rpar,
                       int *ipar);

void rodas_(const int *n, fortran_rhs *, const int *ifcn, double *t, double *y, const double *t1, double *h,
            const double *rtol, const double *atol, const int *itol, rodas_jac *, const int *ijac, const int *mljac,
            const int *mujac, void (*dfx)(void), const int *idfx, void (*mas)(void), const int *imas, const int *mlmas,
            const int *mumas, void (*solout)(void), const int *iout, double *work, const int *lwork, int *iwork,
            const int *liwork, double *rpar, int *ipar, int *idid);

typedef void explicit_code(const int *n, fortran_rhs *, double *t, double *y, const double *t1, const double *rtol,
                           const double *atol, const int *itol, void (*solout)(void), const int *iout, double *work,
                           const int *lwork, int *iwork, const int *liwork, double *rpar, int *ipar, int *idid);
explicit_code dopri5_, dop853_;
#endif

static void rhs(const int *n, const double *t, const double *y, double *f, double *rpar, int *ipar)
{
    context *q = (void *)ipar;
    (void)n, (void)rpar;
    if (q->of.b->P.rhs.value(&(costate_point){.t = *t, .y = y}, f, q->of.b->P.ctx) != 0) q->failed = 1;
}

static void form(const int *n, const double *t, const double *y, double *J, const int *ld, double *rpar, int *ipar)
{
    context *q = (void *)ipar;
    (void)n, (void)ld, (void)rpar;
    if (q->of.b->P.jac(&(costate_point){.t = *t, .y = y}, J, q->of.b->P.ctx) != 0) q->failed = 1;
}

static void jacobian(const int *n, const double *t, const double *y, const int *ml, const int *mu, double *J,
                     const int *ld, double *rpar, int *ipar)
{
    (void)ml, (void)mu;
    form(n, t, y, J, ld, rpar, ipar);
}

static void diagonals(const int *n, double *M, const int *ld, double *rpar, int *ipar)
{
    const context *q = (void *)ipar;
    (void)rpar;
    memcpy(M, q->M, (size_t)*ld * (size_t)*n * sizeof *M);
}

static void unused(void) { }

/* ---- the mass matrix --------------------------------------------------------------------------------------------- */

static void bandwidths(int n, const double *full, context *q)
{
    for (int j = 0; j < n; j++)
        for (int i = 0; i < n; i++) {
            if (full[(size_t)n * (size_t)j + (size_t)i] == 0) continue;
            if (i - j > q->lower) q->lower = i - j;
            if (j - i > q->upper) q->upper = j - i;
        }
}

/* M_ij at i - j + upper of column j, as the manual of RADAU5 has it; 0: no memory, or no M */
static int by_diagonals(context *q)
{
    int n = q->of.b->P.n;
    size_t N = (size_t)n;
    double *full = malloc(N * N * sizeof *full);
    int ok = full && q->of.b->P.mass(full, q->of.b->P.ctx) == 0;
    if (ok) bandwidths(n, full, q);
    size_t ld = (size_t)(q->lower + q->upper + 1);
    if (ok) ok = (q->M = calloc(ld * N, sizeof *q->M)) != NULL;
    for (int j = 0; ok && j < n; j++)
        for (int i = 0; i < n; i++)
            if (i - j <= q->lower && j - i <= q->upper)
                q->M[ld * (size_t)j + (size_t)(i - j + q->upper)] = full[N * (size_t)j + (size_t)i];
    free(full);
    return ok;
}

static int by_index(const ivp *b)
{
    for (int i = ivp_before_index2(b); i < b->P.n; i++)
        if (b->P.index[i] != 2) return 0;
    return 1;
}

/* ---- the codes ------------------------------------------------------------------------------------------------- */

/* With the parameters that are their defaults, but for the number of steps allowed; h: their own guess. */
static int radau5(const race_task *task, context *q, double *y)
{
    int n = q->of.b->P.n, zero = 0, one = 1, idid = 0, implicit = q->M != NULL;
    double t = 0, t1 = task->tf, h = 0, rpar = 0;
    q->iwork[1] = MAX_STEPS;
    q->iwork[4] = ivp_before_index2(q->of.b);
    q->iwork[5] = n - q->iwork[4];
    radau5_(&n, rhs, &t, y, &t1, &h, &task->rtol, &task->atol, &zero, jacobian, &one, &n, &n, diagonals, &implicit,
            &q->lower, &q->upper, unused, &zero, q->work, &q->lwork, q->iwork, &q->liwork, &rpar, (int *)(void *)q,
            &idid);
    return idid;
}

static costate_stats radau5_count(const int *iwork)
{
    return (costate_stats){.f = iwork[13], .jac = iwork[14], .steps = iwork[15], .accepted = iwork[16],
                           .rejected = iwork[17], .decompositions = iwork[18], .complex_decompositions = iwork[18],
                           .solves = iwork[19], .complex_solves = iwork[19]};
}

#ifdef RACE_RODAS_DOPRI5_DOP853
/* autonomous, as costate's methods are told; it takes 1e-6 where h is 0 */
static int rodas(const race_task *task, context *q, double *y)
{
    int n = q->of.b->P.n, zero = 0, one = 1, idid = 0;
    double t = 0, t1 = task->tf, h = 0, rpar = 0;
    q->iwork[0] = MAX_STEPS;
    rodas_(&n, rhs, &zero, &t, y, &t1, &h, &task->rtol, &task->atol, &zero, form, &one, &n, &n, unused, &zero, unused,
           &zero, &n, &n, unused, &zero, q->work, &q->lwork, q->iwork, &q->liwork, &rpar, (int *)(void *)q, &idid);
    return idid;
}

static costate_stats rodas_count(const int *iwork)
{
    return (costate_stats){.f = iwork[13], .jac = iwork[14], .steps = iwork[15], .accepted = iwork[16],
                           .rejected = iwork[17], .decompositions = iwork[18], .solves = iwork[19]};
}

/* With their own guess of h, and without dense output. */
static int by_explicit(explicit_code *code, const race_task *task, context *q, double *y)
{
    int n = q->of.b->P.n, zero = 0, idid = 0;
    double t = 0, t1 = task->tf, rpar = 0;
    q->iwork[0] = MAX_STEPS;
    code(&n, rhs, &t, y, &t1, &task->rtol, &task->atol, &zero, unused, &zero, q->work, &q->lwork, q->iwork, &q->liwork,
         &rpar, (int *)(void *)q, &idid);
    return idid;
}

static int dopri5(const race_task *task, context *q, double *y) { return by_explicit(dopri5_, task, q, y); }
static int dop853(const race_task *task, context *q, double *y) { return by_explicit(dop853_, task, q, y); }

static costate_stats explicit_count(const int *iwork)
{
    return (costate_stats){.f = iwork[16], .steps = iwork[17], .accepted = iwork[18], .rejected = iwork[19]};
}
#endif

static const entrant entrants[] = {
    {"hairer:radau5", "RADAU5 failed", radau5, radau5_count, 0},
#ifdef RACE_RODAS_DOPRI5_DOP853
    {"hairer:rodas", "RODAS failed", rodas, rodas_count, 0},
    {"hairer:dopri5", "DOPRI5 failed", dopri5, explicit_count, 1},
    {"hairer:dop853", "DOP853 failed", dop853, explicit_count, 1},
#endif
};

static const entrant *find(const char *name)
{
    for (size_t k = 0; k < sizeof entrants / sizeof *entrants; k++)
        if (strcmp(name, entrants[k].name) == 0) return &entrants[k];
    return NULL;
}

static int run(void *rides, race_lap *lap)
{
    context *q = rides;
    race_result *r = q->of.r;
    memcpy(r->y, q->of.b->y0, (size_t)q->of.b->P.n * sizeof(double));
    memset(q->work, 0, PARAMETERS * sizeof *q->work);
    memset(q->iwork, 0, PARAMETERS * sizeof *q->iwork);
    double start = clock_now();
    int idid = q->by->run(&q->of.task, q, r->y);
    lap->forward = clock_now() - start;
    r->stats = q->by->count(q->iwork);
    return idid == 1 && !q->failed ? COSTATE_OK : race_fail(r, COSTATE_STEP_TOO_SMALL, q->by->failed);
}

static int ready(void *rides)
{
    context *q = rides;
    const race_task *task = &q->of.task;
    const ivp *b = q->of.b;
    race_result *r = q->of.r;
    size_t n = (size_t)b->P.n;
    const entrant *e = q->by = find(task->code);
    if (!e)
        return race_fail(r, COSTATE_BACKEND, "hairer has radau5, and rodas, dopri5, dop853 where their sources were");
    if (b->P.pattern || task->mode != RACE_FORWARD)
        return race_fail(r, COSTATE_BACKEND, "Hairer's codes run forward here, with full matrices");
    if (b->P.residual.value) return race_fail(r, COSTATE_BACKEND, "Hairer's codes solve y' = f or M y' = f");
    if (b->P.mass && e->run != radau5) return race_fail(r, COSTATE_BACKEND, "M y' = f is for radau5 here");
    if (!by_index(b)) return race_fail(r, COSTATE_BACKEND, "radau5 takes unknowns of index 2 behind all others");
    if (b->P.mass && !by_diagonals(q)) return race_fail(r, COSTATE_NO_MEMORY, "no mass matrix for radau5");
    size_t of_mass = q->M ? (size_t)(q->lower + q->upper + 1) : 0;
    q->lwork = (int)(n * (4 * n + of_mass + 14)) + PARAMETERS;
    q->liwork = 3 * (int)n + PARAMETERS;
    q->work = malloc((size_t)q->lwork * sizeof *q->work);
    q->iwork = malloc((size_t)q->liwork * sizeof *q->iwork);
    strcpy(r->solver, e->explicit ? "none" : "dense");
    return q->work && q->iwork ? COSTATE_OK : race_fail(r, COSTATE_NO_MEMORY, "out of memory");
}

static void drop(void *rides)
{
    context *q = rides;
    free(q->work);
    free(q->iwork);
    free(q->M);
}

const peer peer_hairer = {.size = sizeof(context), .implicit = 1, .open = ready, .run = run, .close = drop};
