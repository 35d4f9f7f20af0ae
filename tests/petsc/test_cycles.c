/* test_cycles.c - cycles of a PETSc multigrid as the matrix of a W-method: derivatives are exact on one process and on
   three, and operators that are not linear or not transposable are refused at set-up with a sentence. */
#include <costate/petsc.h>
#include <petscdmda.h>
#include "common.h"

/* u' = D (discrete Laplacian) u + p u - u^3 on a square, u = 0 around it */
enum { G = 16, MOST = G * G };
static const double D = 0.05, OVER_SQUARE = (G + 1) * (G + 1);

typedef struct { DM dm; MPI_Comm comm; Vec local; int n; } grid;

static int wrong;
static void claim(int holds, const char *text, ...)
{
    va_list list;
    if (holds) return;
    wrong++;
    va_start(list, text);
    vprint_error(text, list);
    va_end(list);
}

/* out += factor A v; the matrix is its own transpose */
static int diffuse(grid *g, double factor, const double *v, double *out)
{
    double **at;
    PetscInt i0, j0, ni, nj;
    if (costate_petsc_local(g->dm, v, g->local)) return -1;
    DMDAGetCorners(g->dm, &i0, &j0, NULL, &ni, &nj, NULL);
    DMDAVecGetArray(g->dm, g->local, &at);
    for (PetscInt j = j0, k = 0; j < j0 + nj; j++)
        for (PetscInt i = i0; i < i0 + ni; i++, k++) {
            double sum = -4 * at[j][i];
            if (i > 0) sum += at[j][i - 1];
            if (i < G - 1) sum += at[j][i + 1];
            if (j > 0) sum += at[j - 1][i];
            if (j < G - 1) sum += at[j + 1][i];
            out[k] += factor * D * OVER_SQUARE * sum;
        }
    DMDAVecRestoreArray(g->dm, g->local, &at);
    return 0;
}

static int value(const costate_point *x, double *f, void *ctx)
{
    grid *g = ctx;
    for (int i = 0; i < g->n; i++) f[i] = x->p[0] * x->y[i] - x->y[i] * x->y[i] * x->y[i];
    return diffuse(g, 1, x->y, f);
}

static int tangent(const costate_point *x, const costate_point *dx, double *out, void *ctx)
{
    grid *g = ctx;
    for (int i = 0; i < g->n; i++) {
        double u = x->y[i];
        out[i] = (dx->p ? dx->p[0] * u : 0) + (dx->y ? (x->p[0] - 3 * u * u) * dx->y[i] : 0);
    }
    return dx->y ? diffuse(g, 1, dx->y, out) : 0;
}

static int adjoint(const costate_point *x, const double *w, const costate_gradient *to, void *ctx)
{
    grid *g = ctx;
    for (int i = 0; i < g->n; i++) {
        double u = x->y[i];
        if (to->y) to->y[i] += (x->p[0] - 3 * u * u) * w[i];
        if (to->p) to->p[0] += u * w[i];
    }
    return to->y ? diffuse(g, 1, w, to->y) : 0;
}

/* of the linear part alone */
static int matrix(double sigma, const costate_point *x, Mat A, void *ctx)
{
    grid *g = ctx;
    PetscInt i0, j0, ni, nj;
    (void)x;
    DMDAGetCorners(g->dm, &i0, &j0, NULL, &ni, &nj, NULL);
    for (PetscInt j = j0; j < j0 + nj; j++)
        for (PetscInt i = i0; i < i0 + ni; i++) {
            double a = D * OVER_SQUARE, entry[5] = {sigma + 4 * a};
            MatStencil row = {.i = i, .j = j}, column[5] = {row};
            PetscInt count = 1;
            if (i > 0) { column[count] = (MatStencil){.i = i - 1, .j = j}; entry[count++] = -a; }
            if (i < G - 1) { column[count] = (MatStencil){.i = i + 1, .j = j}; entry[count++] = -a; }
            if (j > 0) { column[count] = (MatStencil){.i = i, .j = j - 1}; entry[count++] = -a; }
            if (j < G - 1) { column[count] = (MatStencil){.i = i, .j = j + 1}; entry[count++] = -a; }
            if (MatSetValuesStencil(A, 1, &row, count, column, entry, INSERT_VALUES)) return -1;
        }
    return 0;
}

typedef struct { grid g; Mat A; costate_problem P; costate_petsc *k; costate_options o; costate *c; } world;

static void open_world(world *w, const char *options, int cycles, double h0)
{
    *w = (world){.g.comm = PETSC_COMM_WORLD};
    PetscInt ni, nj;
    DMDACreate2d(w->g.comm, DM_BOUNDARY_NONE, DM_BOUNDARY_NONE, DMDA_STENCIL_STAR, G, G, PETSC_DECIDE, PETSC_DECIDE, 1,
                 1, NULL, NULL, &w->g.dm);
    DMSetUp(w->g.dm);
    DMCreateLocalVector(w->g.dm, &w->g.local);
    DMDAGetCorners(w->g.dm, NULL, NULL, NULL, &ni, &nj, NULL);
    DMCreateMatrix(w->g.dm, &w->A);
    w->g.n = (int)(ni * nj);
    w->P = (costate_problem){.n = w->g.n, .np = 1, .ctx = &w->g,
                             .rhs = {.value = value, .tangent = tangent, .adjoint = adjoint}};
    PetscOptionsClear(NULL);
    PetscOptionsInsertString(NULL, options);
    w->k = costate_petsc_new(w->g.comm, &w->P, w->A, matrix, &w->g);
    assert_int_equal(costate_petsc_cycles(w->k, cycles), 0);
    w->o = (costate_options){.rtol = 1e-5, .atol = 1e-5, .solver = COSTATE_LS_PRECONDITIONER, .h0 = h0,
                             .controller = h0 > 0 ? COSTATE_FIXED : 0, .sum = costate_petsc_sum, .sum_ctx = &w->g.comm,
                             .preconditioner = costate_petsc_preconditioner(w->k)};
    w->c = costate_new(costate_method_find("w6s4os"), &w->P, &w->o);
}

static void close_world(world *w)
{
    costate_free(w->c);
    costate_petsc_free(w->k);
    MatDestroy(&w->A);
    VecDestroy(&w->g.local);
    DMDestroy(&w->g.dm);
}

/* numbers that depend on the cell */
static void shape(const grid *g, int which, double *y)
{
    PetscInt i0, j0, ni, nj;
    DMDAGetCorners(g->dm, &i0, &j0, NULL, &ni, &nj, NULL);
    for (PetscInt j = j0, k = 0; j < j0 + nj; j++)
        for (PetscInt i = i0; i < i0 + ni; i++, k++) {
            double s = (i + 1.0) / (G + 1), t = (j + 1.0) / (G + 1);
            y[k] = which == 0 ? 16 * s * (1 - s) * t * (1 - t) : which == 1 ? cos(3 * s + 5 * t) : s - t * t;
        }
}

static double inner(const grid *g, const double *x, const double *y)
{
    double sum = 0;
    for (int i = 0; i < g->n; i++) sum += x[i] * y[i];
    costate_petsc_sum(1, &sum, (void *)&g->comm);
    return sum;
}

#define JACOBI " -costate_mg_levels_ksp_type richardson -costate_mg_levels_pc_type jacobi" \
               " -costate_mg_levels_ksp_richardson_scale 0.7 -costate_mg_coarse_pc_type redundant"
static const char *const good[] = {"-costate_pc_type gamg" JACOBI,
    "-costate_pc_type gamg -costate_mg_levels_ksp_type chebyshev -costate_mg_levels_pc_type jacobi "
    "-costate_pc_gamg_reuse_interpolation true -costate_mg_coarse_pc_type redundant",
    "-costate_pc_type jacobi"};
static const double t1 = 0.1, p0[] = {1.3};

/* the gap between tangent and adjoint, and the gradient with respect to p against differences of replays */
static void exact(void **state)
{
    (void)state;
    for (int way = 0; way < 3; way++) {
        world w;
        double y[MOST], V[MOST], lambda[MOST], V0[MOST], end[MOST], mu = 0, p[2], J[2], h = 1e-5, dp = 0.7;
        open_world(&w, good[way], 2, way == 2 ? 1e-3 : 0);
        costate_tape *tape = costate_tape_new();
        shape(&w.g, 0, y);
        shape(&w.g, 1, V);
        shape(&w.g, 2, lambda);
        memcpy(V0, V, sizeof V);
        memcpy(end, lambda, sizeof end);
        int status = costate_integrate(w.c, 0, t1, y, p0, tape);
        if (!status) status = costate_tangent(w.c, tape, 1, V, &dp, NULL, NULL);
        if (!status) status = costate_adjoint(w.c, tape, 1, lambda, &mu, NULL, NULL);
        claim(status == 0, "%s: %s; %s\n", good[way], costate_message(w.c), costate_petsc_message(w.k));
        costate_petsc_sum(1, &mu, &w.g.comm);                   /* each process has its share */
        double left = inner(&w.g, end, V), right = inner(&w.g, lambda, V0) + mu * dp;
        claim(fabs(left - right) <= 1e-12 * fabs(left), "%s: gap %.3g\n", good[way], fabs(left - right) / fabs(left));
        for (int k = 0; k < 2 && !status; k++) {
            p[0] = p0[0] + (k ? h : -h);
            shape(&w.g, 0, y);
            status = costate_replay(w.c, tape, y, p);
            J[k] = inner(&w.g, end, y);
        }
        double difference = (J[1] - J[0]) / (2 * h);
        claim(fabs(difference - mu) <= 1e-8 * fabs(mu), "%s: gradient %.9g, difference %.9g\n", good[way], mu,
              difference);
        costate_tape_free(tape);
        close_world(&w);
    }
    assert_int_equal(wrong, 0);
}

/* order 4 although the matrix is neither that of f nor exact */
static void order(void **state)
{
    double y[4][MOST], error[3];
    (void)state;
    for (int k = 0; k < 4; k++) {
        world w;
        open_world(&w, good[0], 2, k == 3 ? t1 / 320 : t1 / (10 << k));
        shape(&w.g, 0, y[k]);
        claim(costate_integrate(w.c, 0, t1, y[k], p0, NULL) == 0, "%s\n", costate_message(w.c));
        if (k == 3)
            for (int l = 0; l < 3; l++) {
                for (int i = 0; i < w.g.n; i++) y[l][i] -= y[3][i];
                error[l] = sqrt(inner(&w.g, y[l], y[l]));
            }
        close_world(&w);
    }
    double found = log2(error[1] / error[2]);
    claim(found > 3.3 && found < 5, "order %.2f (errors %.2e %.2e %.2e)\n", found, error[0], error[1], error[2]);
    assert_int_equal(wrong, 0);
}

static void refused(void **state)
{
    static const struct { const char *options, *says; } bad[] = {
        {"-costate_pc_type gamg -costate_mg_levels_ksp_type gmres -costate_mg_levels_pc_type jacobi", "not linear"},
        {"-costate_pc_type hypre", "transpose"},
        {"-costate_pc_type gamg -costate_mg_levels_ksp_type richardson -costate_mg_levels_pc_type sor", "transpose"},
    };
    (void)state;
    for (size_t k = 0; k < sizeof bad / sizeof *bad; k++) {
        world w;
        double y[MOST];
        open_world(&w, bad[k].options, 2, 0);
        shape(&w.g, 0, y);
        int status = costate_integrate(w.c, 0, t1, y, p0, NULL);
        const char *text = costate_petsc_message(w.k);
        claim(status == COSTATE_CALLBACK && strstr(text, bad[k].says), "%s: %d, %s\n", bad[k].options, status, text);
        close_world(&w);
    }
    assert_int_equal(wrong, 0);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(exact), cmocka_unit_test(order), cmocka_unit_test(refused)};
    int rank;
    if (PetscInitialize(&argc, &argv, NULL, NULL)) return 1;
    MPI_Comm_rank(PETSC_COMM_WORLD, &rank);
    if (rank > 0 && (!freopen("/dev/null", "w", stdout) || !freopen("/dev/null", "w", stderr))) return 1;
    int failed = cmocka_run_group_tests_name("cycles of PETSc", tests, NULL, NULL);
    return PetscFinalize() || failed;
}
