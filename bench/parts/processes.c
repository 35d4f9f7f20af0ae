/* processes.c - shallow water over processes: what being spread costs one process, and PETSc's TSAdjoint beside it.

       mpiexec -n P scale_petsc [-side 40] [-seconds 1] [-part overhead|explicit|implicit] [options of PETSc]

   A lap is a run forward and the gradient of  sum of weight(cell, field) y(t_end)  by y0 back; times are medians of
   laps, in seconds - on one process those that it works, on several those of the clock -, errors those of the gradient
   in the Euclidean norm, beside dopri853 at 1e-12 on the same grid.

   overhead: dopri5 on one process by the callbacks of swe.c, which know of no processes; by those of swe_mpi.c,
   without and with options.sum.  explicit, implicit: several tolerances or steps of both codes; PETSc's are TSRK 5dp,
   whose Jacobian is a shell of the same products, and TSTHETA as Crank-Nicolson's method, with the same matrix.  Its
   trajectories stay in memory with their stages.  Both codes' linear systems have block Jacobi with ILU(0). */
#include <petscts.h>
#include <string.h>

#include "measure.h"
#include "swe_mpi.h"
#include "swe.h"

#define TRY(call) do { int code_ = (int)(call); if (code_) return code_; } while (0)

enum { LAPS_MOST = 1000 };

static const double t_end = 0.05;

typedef struct {
    MPI_Comm comm;
    int rank, ranks, side;
    double seconds;                         /* laps go on for so long, three of them at least */
    swe_mpi model;
    double *y0, *reference, *gradient;      /* n each */
} bench;

typedef struct { double forward, backward, error; long steps, laps; } row;

/* One process: its own seconds, which others that are busy beside it do not lengthen; several: those of the clock. */
static double now(const bench *b)
{
    return b->ranks == 1 ? clock_now() : wall_now();
}

static double weight(const swe_mpi *s, int k)
{
    PetscInt cell = k / 3, i = s->x + cell % s->mx, j = s->y + cell / s->mx;
    return sin(0.7 * (double)i + 0.2 * (double)j) + 0.1 * (k % 3);
}

/* laps as one function of either code: forward and backward seconds, steps; the gradient is left in b->gradient */
typedef int (*lap)(bench *b, void *of, double *forward, double *backward, long *steps);

static int laps(bench *b, lap one, void *of, row *r)
{
    double forward[LAPS_MOST], backward[LAPS_MOST], more = 1, error[2] = {0}, start;
    r->laps = 0;
    TRY(one(b, of, &forward[0], &backward[0], &r->steps));             /* not counted */
    MPI_Barrier(b->comm);
    for (start = now(b); more > 0 && r->laps < LAPS_MOST; r->laps++) {
        TRY(one(b, of, &forward[r->laps], &backward[r->laps], &r->steps));
        more = b->rank == 0 && (r->laps < 2 || now(b) - start < b->seconds);
        TRY(MPI_Bcast(&more, 1, MPI_DOUBLE, 0, b->comm));
    }
    r->forward = median(forward, (int)r->laps);
    r->backward = median(backward, (int)r->laps);
    for (int i = 0; i < b->model.P.n; i++) {
        double d = b->gradient[i] - b->reference[i];
        error[0] += d * d;
        error[1] += b->reference[i] * b->reference[i];
    }
    TRY(costate_petsc_sum(2, error, &b->comm));
    r->error = sqrt(error[0] / error[1]);
    return 0;
}

static void print(const bench *b, const char *code, const char *method, double tol, const row *r)
{
    if (b->rank) return;
    printf("%-8s %-10s %8.0e %6ld %10.3g %10.3g %10.3g %9.1e %5ld\n", code, method, tol, r->steps, r->forward,
           r->backward, r->forward + r->backward, r->error, r->laps);
    fflush(stdout);
}

static void head(const bench *b, const char *what)
{
    if (b->rank) return;
    printf("\n%s: %d x %d cells, processes: %d\n", what, b->side, b->side, b->ranks);
    printf("code     method          tol  steps    forward   backward   together     error  laps\n");
}

/* ---- costate ---------------------------------------------------------------------------------------------------- */

typedef struct { costate *c; costate_tape *tape; double *y; } rider;

static int ride(bench *b, void *of, double *forward, double *backward, long *steps)
{
    rider *q = of;
    int n = b->model.P.n;
    memcpy(q->y, b->y0, (size_t)n * sizeof *q->y);
    costate_reset_stats(q->c);
    double start = now(b);
    TRY(costate_integrate(q->c, 0, t_end, q->y, NULL, q->tape));
    *forward = now(b) - start;
    start = now(b);
    for (int i = 0; i < n; i++) b->gradient[i] = weight(&b->model, i);
    TRY(costate_adjoint(q->c, q->tape, 1, b->gradient, NULL, NULL, NULL));
    *backward = now(b) - start;
    *steps = costate_get_stats(q->c)->accepted;
    return 0;
}

static int run_costate(bench *b, const char *method, double tol, const costate_problem *P, int sum, row *r)
{
    costate_options o = {.rtol = tol, .atol = tol};
    costate_petsc *k = NULL;
    costate_method_info about;
    Mat A = NULL;
    costate_method_describe(costate_method_find(method), &about);
    if (sum) {
        o.sum = costate_petsc_sum;
        o.sum_ctx = &b->comm;
    }
    if (about.family != COSTATE_ERK) {
        TRY(DMCreateMatrix(b->model.dm, &A));
        if (!(k = costate_petsc_new(b->comm, P, A, swe_mpi_matrix, &b->model))) return COSTATE_NO_MEMORY;
        o.solver = COSTATE_LS_GMRES;
        o.preconditioner = costate_petsc_preconditioner(k);
    }
    rider q = {.c = costate_new(costate_method_find(method), P, &o), .tape = costate_tape_new()};
    q.y = calloc((size_t)P->n + 1, sizeof *q.y);
    int status = laps(b, ride, &q, r);
    if (status) fprintf(stderr, "%s: %s\n", method, costate_message(q.c));
    free(q.y);
    costate_tape_free(q.tape);
    costate_free(q.c);
    costate_petsc_free(k);
    MatDestroy(&A);
    return status;
}

/* ---- PETSc ------------------------------------------------------------------------------------------------------ */

typedef struct { bench *b; TS ts; Mat J; Vec y, lambda, at; double t, dt; } other;

/* y and out as arrays, for a callback of the problem */
static PetscErrorCode rhs(TS ts, PetscReal t, Vec y, Vec out, void *ctx)
{
    other *q = ctx;
    const double *in;
    double *f;
    (void)ts;
    TRY(VecGetArrayRead(y, &in));
    TRY(VecGetArray(out, &f));
    costate_point x = {.t = t, .y = in};
    TRY(q->b->model.P.rhs.value(&x, f, &q->b->model));
    TRY(VecRestoreArray(out, &f));
    return VecRestoreArrayRead(y, &in);
}

static PetscErrorCode implicit(TS ts, PetscReal t, Vec y, Vec yp, Vec out, void *ctx)
{
    TRY(rhs(ts, t, y, out, ctx));
    return VecAYPX(out, -1, yp);
}

static PetscErrorCode take(TS ts, PetscReal t, Vec y, Mat A, Mat B, void *ctx)
{
    other *q = ctx;
    (void)ts, (void)B;
    q->t = t;
    TRY(VecCopy(y, q->at));
    TRY(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
    return MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY);
}

static PetscErrorCode matrix(TS ts, PetscReal t, Vec y, Vec yp, PetscReal shift, Mat A, Mat B, void *ctx)
{
    other *q = ctx;
    const double *in;
    (void)ts, (void)yp, (void)A;
    TRY(VecGetArrayRead(y, &in));
    costate_point x = {.t = t, .y = in};
    TRY(swe_mpi_matrix(shift, &x, B, &q->b->model));
    TRY(VecRestoreArrayRead(y, &in));
    TRY(MatAssemblyBegin(B, MAT_FINAL_ASSEMBLY));
    return MatAssemblyEnd(B, MAT_FINAL_ASSEMBLY);
}

static PetscErrorCode multiply(Mat A, Vec in, Vec out, int transposed)
{
    other *q;
    const double *y, *v;
    double *f;
    TRY(MatShellGetContext(A, &q));
    if (transposed) TRY(VecSet(out, 0));
    TRY(VecGetArrayRead(q->at, &y));
    TRY(VecGetArrayRead(in, &v));
    TRY(VecGetArray(out, &f));
    const costate_map *map = &q->b->model.P.rhs;
    costate_point x = {.t = q->t, .y = y}, dx = {.y = v};
    costate_gradient g = {.y = f};
    TRY(transposed ? map->adjoint(&x, v, &g, &q->b->model) : map->tangent(&x, &dx, f, &q->b->model));
    TRY(VecRestoreArray(out, &f));
    TRY(VecRestoreArrayRead(in, &v));
    return VecRestoreArrayRead(q->at, &y);
}

static PetscErrorCode times(Mat A, Vec in, Vec out) { return multiply(A, in, out, 0); }
static PetscErrorCode times_transposed(Mat A, Vec in, Vec out) { return multiply(A, in, out, 1); }

static PetscErrorCode jacobian_of(other *q, int explicit_one)
{
    PetscInt n = q->b->model.P.n;
    if (!explicit_one) return DMCreateMatrix(q->b->model.dm, &q->J);
    TRY(MatCreateShell(q->b->comm, n, n, PETSC_DETERMINE, PETSC_DETERMINE, q, &q->J));
    TRY(MatShellSetOperation(q->J, MATOP_MULT, (void (*)(void))times));
    TRY(MatShellSetOperation(q->J, MATOP_MULT_TRANSPOSE, (void (*)(void))times_transposed));
    TRY(MatAssemblyBegin(q->J, MAT_FINAL_ASSEMBLY));
    return MatAssemblyEnd(q->J, MAT_FINAL_ASSEMBLY);
}

static PetscErrorCode make(other *q, int explicit_one, double tol)
{
    TSAdapt adapt;
    TRY(DMCreateGlobalVector(q->b->model.dm, &q->y));
    TRY(VecDuplicate(q->y, &q->lambda));
    TRY(VecDuplicate(q->y, &q->at));
    TRY(jacobian_of(q, explicit_one));
    TRY(TSCreate(q->b->comm, &q->ts));
    TRY(TSSetType(q->ts, explicit_one ? TSRK : TSCN));
    if (explicit_one) {
        TRY(TSRKSetType(q->ts, TSRK5DP));
        TRY(TSSetRHSFunction(q->ts, NULL, rhs, q));
        TRY(TSSetRHSJacobian(q->ts, q->J, q->J, take, q));
        TRY(TSSetTolerances(q->ts, tol, NULL, tol, NULL));
    } else {
        TRY(TSSetIFunction(q->ts, NULL, implicit, q));
        TRY(TSSetIJacobian(q->ts, q->J, q->J, matrix, q));
        TRY(TSGetAdapt(q->ts, &adapt));
        TRY(TSAdaptSetType(adapt, TSADAPTNONE));
    }
    q->dt = explicit_one ? 1e-4 : tol;
    TRY(TSSetMaxTime(q->ts, t_end));
    TRY(TSSetMaxSteps(q->ts, 1000000));
    TRY(TSSetExactFinalTime(q->ts, TS_EXACTFINALTIME_MATCHSTEP));
    TRY(TSSetSolution(q->ts, q->y));
    TRY(TSSetSaveTrajectory(q->ts));
    return TSSetFromOptions(q->ts);
}

static PetscErrorCode set(Vec v, int n, const double *from)
{
    double *to;
    TRY(VecGetArray(v, &to));
    memcpy(to, from, (size_t)n * sizeof *to);
    return VecRestoreArray(v, &to);
}

static int ride_petsc(bench *b, void *of, double *forward, double *backward, long *steps)
{
    other *q = of;
    const double *from;
    PetscInt count;
    int n = b->model.P.n;
    TRY(set(q->y, n, b->y0));
    TRY(TSSetTime(q->ts, 0));
    TRY(TSSetStepNumber(q->ts, 0));
    TRY(TSSetTimeStep(q->ts, q->dt));
    double start = now(b);
    TRY(TSSolve(q->ts, q->y));
    *forward = now(b) - start;
    TRY(TSGetStepNumber(q->ts, &count));
    *steps = (long)count;
    for (int i = 0; i < n; i++) b->gradient[i] = weight(&b->model, i);
    TRY(set(q->lambda, n, b->gradient));
    start = now(b);
    TRY(TSSetCostGradients(q->ts, 1, &q->lambda, NULL));
    TRY(TSAdjointSolve(q->ts));
    *backward = now(b) - start;
    TRY(VecGetArrayRead(q->lambda, &from));
    memcpy(b->gradient, from, (size_t)n * sizeof *from);
    return (int)VecRestoreArrayRead(q->lambda, &from);
}

static int run_petsc(bench *b, int explicit_one, double tol, row *r)
{
    other q = {.b = b};
    int status = make(&q, explicit_one, tol);
    if (!status) status = laps(b, ride_petsc, &q, r);
    TSDestroy(&q.ts);
    MatDestroy(&q.J);
    VecDestroy(&q.y);
    VecDestroy(&q.lambda);
    VecDestroy(&q.at);
    return status;
}

/* ---- parts ------------------------------------------------------------------------------------------------------ */

/* the order of swe.h, of the whole grid on one process; errors and gradients there are not looked at */
static int overhead(bench *b)
{
    row whole, alone, summed;
    swe *s = swe_new(b->side, b->side);
    if (!s || b->ranks > 1) return swe_free(s), s ? 0 : COSTATE_NO_MEMORY;
    double *kept = b->y0;
    size_t n = (size_t)b->model.P.n;
    head(b, "overhead, dopri5 at 1e-6");
    if (!(b->y0 = malloc(n * sizeof *b->y0))) return COSTATE_NO_MEMORY;
    swe_initial(s, b->y0);
    TRY(run_costate(b, "dopri5", 1e-6, swe_problem(s), 0, &whole));
    free(b->y0);
    b->y0 = kept;
    TRY(run_costate(b, "dopri5", 1e-6, &b->model.P, 0, &alone));
    TRY(run_costate(b, "dopri5", 1e-6, &b->model.P, 1, &summed));
    whole.error = alone.error;
    print(b, "whole", "dopri5", 1e-6, &whole);
    print(b, "DMDA", "dopri5", 1e-6, &alone);
    print(b, "and sum", "dopri5", 1e-6, &summed);
    double a = whole.forward + whole.backward, c = alone.forward + alone.backward, d = summed.forward + summed.backward;
    printf("sum on one process: %.3f times the same without; %.3f times callbacks that know no DMDA\n", d / c, d / a);
    swe_free(s);
    return 0;
}

/* seconds at that error on the line between neighbours, both logarithmic; 0: outside */
static double time_at(int count, const row *r, double error)
{
    for (int k = 0; k + 1 < count; k++) {
        double a = r[k].error, c = r[k + 1].error, s = r[k].forward + r[k].backward;
        if (!((a - error) * (c - error) <= 0) || a == c) continue;
        return s * pow((r[k + 1].forward + r[k + 1].backward) / s, log(error / a) / log(c / a));
    }
    return 0;
}

static void ratios(const bench *b, const char *name, int ours, const row *x, int theirs, const row *y)
{
    for (int k = 0; k < theirs && b->rank == 0; k++) {
        double s = time_at(ours, x, y[k].error), t = y[k].forward + y[k].backward;
        if (s > 0)
            printf("at the error %.1e: %s takes %.3g s, PETSc %.3g s, %.2f times as long\n", y[k].error, name, s, t,
                   t / s);
    }
}

static int race(bench *b, int explicit_one)
{
    static const double tol[] = {1e-3, 1e-4, 1e-5, 1e-6, 1e-7, 1e-8}, dt[] = {2e-3, 1e-3, 5e-4, 2.5e-4, 1.25e-4};
    static const char *const names[2][3] = {{"sdirk4a", "trbdf2", "radau2a"}, {"dopri5", "tsit5", "dopri853"}};
    enum { OURS = 6, THEIRS = 6 };
    row ours[3][OURS], theirs[THEIRS];
    int count = explicit_one ? THEIRS : 5;
    head(b, explicit_one ? "explicit" : "implicit");
    for (int m = 0; m < 3; m++)
        for (int k = 0; k < OURS; k++) {
            TRY(run_costate(b, names[explicit_one][m], tol[k], &b->model.P, 1, &ours[m][k]));
            print(b, "costate", names[explicit_one][m], tol[k], &ours[m][k]);
        }
    for (int k = 0; k < count; k++) {
        TRY(run_petsc(b, explicit_one, explicit_one ? tol[k] : dt[k], &theirs[k]));
        print(b, "petsc", explicit_one ? "rk5dp" : "cn", explicit_one ? tol[k] : dt[k], &theirs[k]);
    }
    for (int m = 0; m < 3; m++) ratios(b, names[explicit_one][m], OURS, ours[m], count, theirs);
    return 0;
}

static int all(bench *b)
{
    PetscInt side = 40;
    char part[32] = "";
    row r;
    b->seconds = 1;
    PetscOptionsGetInt(NULL, NULL, "-side", &side, NULL);
    PetscOptionsGetReal(NULL, NULL, "-seconds", &b->seconds, NULL);
    PetscOptionsGetString(NULL, NULL, "-part", part, sizeof part, NULL);
    PetscOptionsInsertString(NULL, "-ts_trajectory_type memory -ts_trajectory_solution_only 0");
    b->side = (int)side;
    TRY(swe_mpi_make(&b->model, b->comm, b->side, b->side));
    size_t n = (size_t)b->model.P.n;
    b->y0 = calloc(n, sizeof *b->y0);
    b->reference = calloc(n, sizeof *b->reference);
    b->gradient = calloc(n, sizeof *b->gradient);
    if (!b->y0 || !b->reference || !b->gradient) return COSTATE_NO_MEMORY;
    swe_mpi_initial(&b->model, b->y0);
    double seconds = b->seconds;
    b->seconds = 2;                         /* a processor that was idle is slow at first */
    TRY(run_costate(b, "dopri853", 1e-12, &b->model.P, 1, &r));
    b->seconds = seconds;
    memcpy(b->reference, b->gradient, n * sizeof *b->reference);
    if (!*part || !strcmp(part, "overhead")) TRY(overhead(b));
    if (!*part || !strcmp(part, "explicit")) TRY(race(b, 1));
    if (!*part || !strcmp(part, "implicit")) TRY(race(b, 0));
    return 0;
}

int main(int argc, char **argv)
{
    bench b = {0};
    if (PetscInitialize(&argc, &argv, NULL, NULL)) return 1;
    b.comm = PETSC_COMM_WORLD;
    MPI_Comm_rank(b.comm, &b.rank);
    MPI_Comm_size(b.comm, &b.ranks);
    int status = all(&b);
    if (status && b.rank == 0) fprintf(stderr, "scale_petsc: %d\n", status);
    free(b.y0);
    free(b.reference);
    free(b.gradient);
    swe_mpi_free(&b.model);
    return PetscFinalize() || status;
}
