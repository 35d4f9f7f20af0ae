/* hairer.c - the race by RADAU5 of Hairer and Wanner (Fortran, as R's deSolve has it), and by their RODAS where
   its source was there: full matrices, forward. */
#include <stdlib.h>
#include <string.h>

#include "peer.h"

enum { PARAMETERS = 20, MAX_STEPS = 10000000 };

/* What its callbacks get as IPAR: passed on by address, never looked into. */
typedef struct {
    const ivp *b;
    int failed;                  /* a callback's status */
    double *M;                   /* P.mass, by diagonals; NULL: the identity */
    int lower, upper;            /* how many of them */
} context;

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

#ifdef RACE_RODAS
typedef void rodas_jac(const int *n, const double *t, const double *y, double *J, const int *ld, double *rpar,
                       int *ipar);

void rodas_(const int *n, fortran_rhs *, const int *ifcn, double *t, double *y, const double *t1, double *h,
            const double *rtol, const double *atol, const int *itol, rodas_jac *, const int *ijac, const int *mljac,
            const int *mujac, void (*dfx)(void), const int *idfx, void (*mas)(void), const int *imas, const int *mlmas,
            const int *mumas, void (*solout)(void), const int *iout, double *work, const int *lwork, int *iwork,
            const int *liwork, double *rpar, int *ipar, int *idid);
#endif

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
    if (q->b->P.rhs.value(&(costate_point){.t = *t, .y = y}, f, q->b->P.ctx) != 0) q->failed = 1;
}

static void form(const int *n, const double *t, const double *y, double *J, const int *ld, double *rpar, int *ipar)
{
    context *q = (void *)ipar;
    (void)n, (void)ld, (void)rpar;
    if (q->b->P.jac(&(costate_point){.t = *t, .y = y}, J, q->b->P.ctx) != 0) q->failed = 1;
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
    int n = q->b->P.n;
    size_t N = (size_t)n;
    double *full = malloc(N * N * sizeof *full);
    int ok = full && q->b->P.mass(full, q->b->P.ctx) == 0;
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

typedef struct {
    double *work;
    int *iwork, lwork, liwork;
} space;

/* With the parameters that are their defaults, but for the number of steps allowed; h: their own guess. */
static int radau5(const race_task *task, context *q, double *y, const space *s)
{
    int n = q->b->P.n, zero = 0, one = 1, idid = 0, implicit = q->M != NULL;
    double t = 0, t1 = task->tf, h = 0, rpar = 0;
    s->iwork[1] = MAX_STEPS;
    s->iwork[4] = ivp_before_index2(q->b);
    s->iwork[5] = n - s->iwork[4];
    radau5_(&n, rhs, &t, y, &t1, &h, &task->rtol, &task->atol, &zero, jacobian, &one, &n, &n, diagonals, &implicit,
            &q->lower, &q->upper, unused, &zero, s->work, &s->lwork, s->iwork, &s->liwork, &rpar, (int *)(void *)q,
            &idid);
    return idid;
}

static costate_stats radau5_count(const int *iwork)
{
    return (costate_stats){.f = iwork[13], .jac = iwork[14], .steps = iwork[15], .accepted = iwork[16],
                           .rejected = iwork[17], .decompositions = iwork[18], .complex_decompositions = iwork[18],
                           .solves = iwork[19], .complex_solves = iwork[19]};
}

#ifdef RACE_RODAS
/* autonomous, as costate's methods are told; it takes 1e-6 where h is 0 */
static int rodas(const race_task *task, context *q, double *y, const space *s)
{
    int n = q->b->P.n, zero = 0, one = 1, idid = 0;
    double t = 0, t1 = task->tf, h = 0, rpar = 0;
    s->iwork[0] = MAX_STEPS;
    rodas_(&n, rhs, &zero, &t, y, &t1, &h, &task->rtol, &task->atol, &zero, form, &one, &n, &n, unused, &zero, unused,
           &zero, &n, &n, unused, &zero, s->work, &s->lwork, s->iwork, &s->liwork, &rpar, (int *)(void *)q, &idid);
    return idid;
}

static costate_stats rodas_count(const int *iwork)
{
    return (costate_stats){.f = iwork[13], .jac = iwork[14], .steps = iwork[15], .accepted = iwork[16],
                           .rejected = iwork[17], .decompositions = iwork[18], .solves = iwork[19]};
}
#endif

typedef struct {
    const char *name, *failed;
    int (*run)(const race_task *, context *, double *y, const space *);
    costate_stats (*count)(const int *iwork);
} entrant;

static const entrant entrants[] = {
    {"hairer:radau5", "RADAU5 failed", radau5, radau5_count},
#ifdef RACE_RODAS
    {"hairer:rodas", "RODAS failed", rodas, rodas_count},
#endif
};

static const entrant *find(const char *name)
{
    for (size_t k = 0; k < sizeof entrants / sizeof *entrants; k++)
        if (strcmp(name, entrants[k].name) == 0) return &entrants[k];
    return NULL;
}

static int run(const entrant *e, const race_task *task, context *q, double *y, const space *s, race_lap *lap)
{
    memcpy(y, q->b->y0, (size_t)q->b->P.n * sizeof *y);
    memset(s->work, 0, PARAMETERS * sizeof *s->work);
    memset(s->iwork, 0, PARAMETERS * sizeof *s->iwork);
    double start = race_clock();
    int idid = e->run(task, q, y, s);
    lap->forward = race_clock() - start;
    return idid == 1 && !q->failed ? COSTATE_OK : COSTATE_STEP_TOO_SMALL;
}

static int measure(const entrant *e, const race_task *task, context *q, const space *s, race_result *r)
{
    race_lap lap = {0, 0, 0};
    double start = race_clock();
    int status = run(e, task, q, r->y, s, &lap);
    start = race_warmed_up(task, r, &lap, start);
    for (; status == COSTATE_OK && race_again(task, r, start); r->lap[r->laps++] = lap)
        status = run(e, task, q, r->y, s, &lap);
    r->stats = e->count(s->iwork);
    return status == COSTATE_OK ? status : race_fail(r, status, e->failed);
}

int race_hairer(const race_task *task, const ivp *b, race_result *r)
{
    size_t n = (size_t)b->P.n;
    const entrant *e = find(task->code);
    context q = {.b = b};
    if (!e) return race_fail(r, COSTATE_BACKEND, "hairer has radau5, and rodas where its source was there");
    if (b->P.pattern || task->mode != RACE_FORWARD)
        return race_fail(r, COSTATE_BACKEND, "radau5 and rodas run forward here, with full matrices");
    if (b->P.residual.value) return race_fail(r, COSTATE_BACKEND, "radau5 and rodas solve y' = f or M y' = f");
    if (b->P.mass && e->run != radau5) return race_fail(r, COSTATE_BACKEND, "M y' = f is for radau5 here");
    if (!by_index(b)) return race_fail(r, COSTATE_BACKEND, "radau5 takes unknowns of index 2 behind all others");
    if (b->P.mass && !by_diagonals(&q)) return race_fail(r, COSTATE_NO_MEMORY, "no mass matrix for radau5");
    size_t of_mass = q.M ? (size_t)(q.lower + q.upper + 1) : 0;
    space s = {.lwork = (int)(n * (4 * n + of_mass + 14)) + PARAMETERS, .liwork = 3 * (int)n + PARAMETERS};
    s.work = malloc((size_t)s.lwork * sizeof *s.work);
    s.iwork = malloc((size_t)s.liwork * sizeof *s.iwork);
    r->y = malloc(n * sizeof *r->y);
    strcpy(r->solver, "dense");
    if (!s.work || !s.iwork || !r->y) race_fail(r, COSTATE_NO_MEMORY, "out of memory");
    else measure(e, task, &q, &s, r);
    free(s.work);
    free(s.iwork);
    free(q.M);
    return r->status;
}
