/* test_petsc.c - states spread over processes by PETSc: one process or several take the same steps to the same results;
   tangents and adjoints are transposes, whatever KSP does; what goes wrong on one process ends the call on all.

   All processes run all of it; groups of the first 1, 2 .. of them solve, and the first process judges.  On more than
   two, which share cores where a test runs, it is a selection. */
#include "cells_case.h"
#include "mpi_line.h"
#include "swe_mpi.h"
#include "swe.h"
#include "common.h"

static const double p0[NP] = {0.7, 30.0}, t_end = 0.2;
static int world, rank_here, wrong;
static MPI_Comm first[RANKS_MOST + 1];      /* first[k]: of the first k processes, for those */


/* A failed assertion would take one process out of what the others are in: it is counted, and comes at the end. */
static void claim(int holds, const char *text, ...)
{
    va_list list;
    if (holds || rank_here != 0) return;
    wrong++;
    va_start(list, text);
    vprint_error(text, list);
    va_end(list);
}

static int all_hold(void **state)
{
    (void)state;
    int before = wrong;
    wrong = 0;
    return before;
}

/* Whether case k is left out: on more than two processes two of three; and three quarters of what is left, unless all
   are asked for (./run test all) */
static int left_out(size_t k)
{
    return (world > 2 && k % 3 != 0) || skipped((int)(world > 2 ? k / 3 : k), 4);
}

/* ---- a run ------------------------------------------------------------------------------------------------------- */

enum matrix { FILLED, COLOURED, NONE, NO_KSP };

typedef struct {
    const char *method;
    costate_options o;
    enum matrix matrix;
    const char *petsc;                      /* options of PETSc for this run */
    void (*meddle)(line *);                 /* before it */
    costate_problem (*form)(line *);        /* NULL: line_problem */
    double added;                        /* added to the first cell of the last process */
} task;

typedef struct {
    int status, statuses_differ, steps_differ;
    long accepted, rejected;
    double y[CELLS], V[CELLS], lambda[CELLS], q, dq, mu[NP], g0, g1, dt;
    char message[400], petsc[400];          /* of the first process; */
    char last[400];                         /* of the last one */
} result;

static int look(int k, double t, const double *y, int m, double *w, void *ctx)
{
    const line *p = ctx;
    (void)k, (void)t, (void)y, (void)m;
    for (int i = 0; i < p->cells.n; i++) w[i] = weight(p->cells.from + i);
    return 0;
}

/* forward with a tape, tangent along (y0, p, t0, t1), adjoint of  sum weight u(t1) + q,  and with a term at 0.13 */
static int sweeps(costate *c, line *p, const task *what, result *x)
{
    int n = p->cells.n;
    double y[CELLS + NQ] = {0}, V[CELLS + NQ] = {0}, lambda[CELLS + NQ] = {0}, s0 = dt0, s1 = dt1, g0, g1, at = 0.13;
    for (int i = 0; i < n; i++) { y[i] = start(p->cells.from + i); V[i] = direction(p->cells.from + i); }
    if (p->rank == p->ranks - 1) y[0] += what->added;
    costate_tape *tape = costate_tape_new();
    int status = costate_integrate(c, 0, t_end, y, p0, tape);
    x->accepted = costate_get_stats(c)->accepted;
    x->rejected = costate_get_stats(c)->rejected;
    costate_times forward = {.t0 = &s0, .t1 = &s1}, back = {.t0 = &x->g0, .t1 = &x->g1};
    costate_times not_kept = {.t0 = &g0, .t1 = &g1};
    costate_observations seen = {.count = 1, .t = &at, .seed = look, .dt = &x->dt, .ctx = p};
    if (!status) status = costate_tangent(c, tape, 1, V, dp, &forward, NULL);
    for (int i = 0; i < n; i++) lambda[i] = weight(p->cells.from + i);
    lambda[n] = 1;
    if (!status) status = costate_adjoint(c, tape, 1, lambda, x->mu, &back, NULL);
    memcpy(x->y + p->cells.from, y, (size_t)n * sizeof *y);
    memcpy(x->V + p->cells.from, V, (size_t)n * sizeof *V);
    memcpy(x->lambda + p->cells.from, lambda, (size_t)n * sizeof *lambda);
    x->q = y[n];
    x->dq = V[n];
    double mu[NP] = {0};
    if (!status) status = costate_adjoint(c, tape, 1, lambda, mu, &not_kept, &seen);
    costate_tape_free(tape);
    return status;
}

static int differs(MPI_Comm comm, long x)
{
    long least, most;
    MPI_Allreduce(&x, &least, 1, MPI_LONG, MPI_MIN, comm);
    MPI_Allreduce(&x, &most, 1, MPI_LONG, MPI_MAX, comm);
    return least != most;
}

/* the parts of all processes, and what was said on the last */
static void put_together(const line *p, result *x)
{
    double *parts[] = {x->y, x->V, x->lambda, &x->q, &x->dq, x->mu};
    int length[] = {CELLS, CELLS, CELLS, 1, 1, NP};
    for (int k = 0; k < 6; k++) MPI_Allreduce(MPI_IN_PLACE, parts[k], length[k], MPI_DOUBLE, MPI_SUM, p->comm);
    x->statuses_differ = differs(p->comm, x->status);
    x->steps_differ = differs(p->comm, x->accepted) || differs(p->comm, x->rejected);
    snprintf(x->last, sizeof x->last, "%s", x->message);
    MPI_Bcast(x->last, sizeof x->last, MPI_CHAR, p->ranks - 1, p->comm);
}

static void run_here(const task *what, MPI_Comm comm, result *x)
{
    line p;
    Mat A = NULL;
    costate_petsc *k = NULL;
    if (line_make(&p, comm)) abort();
    costate_problem P = what->form ? what->form(&p) : line_problem(&p);
    costate_options o = what->o;
    o.sum = costate_petsc_sum;
    o.sum_ctx = &comm;
    o.solver = COSTATE_LS_GMRES;
    if (what->petsc) PetscOptionsInsertString(NULL, what->petsc);
    if (what->matrix != NO_KSP) {
        if (what->matrix != NONE) DMCreateMatrix(p.dm, &A);
        k = costate_petsc_new(comm, &P, A, what->matrix == FILLED ? line_matrix : NULL, &p);
        o.preconditioner = costate_petsc_preconditioner(k);
    }
    if (what->meddle) what->meddle(&p);
    costate *c = costate_new(costate_method_find(what->method), &P, &o);
    x->status = costate_status(c) ? costate_status(c) : sweeps(c, &p, what, x);
    snprintf(x->message, sizeof x->message, "%s", costate_message(c));
    snprintf(x->petsc, sizeof x->petsc, "%s", k ? costate_petsc_message(k) : "");
    put_together(&p, x);
    costate_free(c);
    costate_petsc_free(k);
    MatDestroy(&A);
    PetscOptionsClear(NULL);
    line_free(&p);
}

static result run(const task *what, int ranks)
{
    result x = {0};
    if (rank_here < ranks) run_here(what, first[ranks], &x);
    MPI_Barrier(MPI_COMM_WORLD);
    return x;
}

static void claim_exact(const task *what, int ranks, const result *x)
{
    const char *with = what->petsc ? what->petsc : "";
    claim(x->status == 0, "%s %s on %d: %s\n", what->method, with, ranks, x->message);
    claim(!x->statuses_differ && !x->steps_differ, "%s %s on %d: processes differ\n", what->method, with, ranks);
    double gap = cells_gap(x->lambda, x->mu, x->g0, x->g1, x->V, x->dq);
    claim(gap < 1e-12, "%s %s on %d: gap %.3g\n", what->method, with, ranks, gap);
}

/* ---- the same on one and on several ------------------------------------------------------------------------------ */

/* How KSP solves depends on who has which cells: Newton's iteration goes to round-off, and since how often it takes
   enters the step size, which is a decision, these methods take a fixed one.  So does the random vector with which the
   spectral radius is measured: explicit methods are not limited by it. */
static task exact(const char *method)
{
    task what = {.method = method, .o = {.rtol = 1e-6, .atol = 1e-6, .derivative_mode = 1,
                                         .stability = COSTATE_STABILITY_OFF}};
    costate_method_info info;
    costate_method_describe(costate_method_find(method), &info);
    if (info.family != COSTATE_SDIRK && info.family != COSTATE_FIRK) return what;
    what.o.controller = COSTATE_FIXED;
    what.o.h0 = 0.011;
    return what;
}

static void test_parts_make_up_the_whole(void **state)
{
    static const char *const names[] = {"dopri5", "tsit5", "dopri853", "rock4", "trbdf2", "gauss3", "radau2a",
                                        "radau2a5", "lobatto3c", "sdirk4a", "rodas5p", "verner65", "rodas4"};
    (void)state;
    for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
        if (left_out(k)) continue;
        task what = exact(names[k]);
        result one = run(&what, 1);
        claim_exact(&what, 1, &one);
        for (int ranks = 2; ranks <= world; ranks++) {
            result x = run(&what, ranks);
            claim_exact(&what, ranks, &x);
            claim(x.accepted == one.accepted && x.rejected == one.rejected, "%s on %d: %ld steps, %ld on one\n",
                  names[k], ranks, x.accepted, one.accepted);
            double y = relative_gap(CELLS, x.y, one.y), V = relative_gap(CELLS, x.V, one.V);
            double l = relative_gap(CELLS, x.lambda, one.lambda);
            claim(y < 1e-11 && V < 1e-10 && l < 1e-10, "%s on %d: %.3g %.3g %.3g\n", names[k], ranks, y, V, l);
            claim(fabs(one.q - x.q) < 1e-11 * one.q, "%s on %d: q\n", names[k], ranks);
            claim(fabs(one.mu[1] - x.mu[1]) < 1e-10 * fabs(one.mu[1]), "%s on %d: mu\n", names[k], ranks);
            claim(fabs(one.dt - x.dt) < 1e-9 * fabs(one.dt), "%s on %d: dt\n", names[k], ranks);
        }
    }
    assert_int_equal(all_hold(state), 0);
}

/* As users run them: each group of processes takes steps of its own, and they are differentiated exactly. */
static void test_transposes_with_defaults(void **state)
{
    static const char *const names[] = {"sdirk4a", "radau2a", "rodas4", "dopri5", "rock4"};
    (void)state;
    for (int k = 0; k < 5; k++)
        for (int states_only = 0; states_only < 2 && !left_out((size_t)k); states_only++) {
            task what = {.method = names[k], .o = {.storage = states_only ? COSTATE_STATES_ONLY : COSTATE_ALL_STAGES}};
            result one = run(&what, 1), x = run(&what, world);
            claim_exact(&what, world, &x);
            claim(labs(x.accepted - one.accepted) <= 1, "%s: %ld steps, %ld on one\n", names[k], x.accepted,
                  one.accepted);
            double y = relative_gap(CELLS, x.y, one.y);
            claim(y < 1e-5, "%s: %.3g\n", names[k], y);
        }
    assert_int_equal(all_hold(state), 0);
}

/* M y' = f and F(t, y, y', p) = 0, by coloured products and by a shell */
static void test_other_forms(void **state)
{
    static const char *const names[] = {"radau2a", "sdirk4a"};
    (void)state;
    for (int k = 0; k < 8; k++) {
        if (left_out((size_t)k)) continue;
        task what = exact(names[k % 2]);
        result one = run(&what, 1);
        what.form = k / 2 % 2 ? line_residual : line_heavy;
        what.matrix = COLOURED;
        what.petsc = k / 4 ? "-costate_ksp_type gmres -costate_shell -costate_ksp_rtol 1e-2" : NULL;
        result x = run(&what, world);
        claim_exact(&what, world, &x);
        double y = relative_gap(CELLS, x.y, one.y), l = relative_gap(CELLS, x.lambda, one.lambda);
        claim(y < 1e-11 && l < 1e-10, "%s, form %d: %.3g %.3g\n", names[k % 2], k / 2 % 2, y, l);
    }
    assert_int_equal(all_hold(state), 0);
}

/* ---- second order ------------------------------------------------------------------------------------------------ */

static int bent(double t1, const double *y, const double *p, int m, const double *V, const double *Vp, double *lambda,
                double *mu, double *lambda2, double *mu2, void *ctx)
{
    const line *l = ctx;
    int N = l->cells.n + NQ;
    (void)t1, (void)p, (void)Vp, (void)mu, (void)mu2;
    for (int i = 0; i < l->cells.n; i++) {
        lambda[i] = weight(l->cells.from + i) * y[i];
        for (int j = 0; j < m; j++) lambda2[j * N + i] = weight(l->cells.from + i) * V[j * N + i];
    }
    lambda[l->cells.n] = 1;
    return 0;
}

/* w . H v and v . H w, of  sum weight u(t1)^2/2 + q  by y0 and p, beside each other */
static double asymmetry(const char *method, MPI_Comm comm)
{
    enum { N = CELLS + NQ };
    line p;
    double y[N] = {0}, V[2 * N] = {0}, lambda[N], lambda2[2 * N], mu[NP] = {0}, mu2[2 * NP] = {0}, sums[2] = {0};
    static const double Vp[2 * NP] = {0.3, -0.2, 0.1, 1.7};
    if (line_make(&p, comm)) return -1;
    costate_problem P = line_problem(&p);
    costate_options o = {.sum = costate_petsc_sum, .sum_ctx = &comm, .solver = COSTATE_LS_GMRES};
    costate *c = costate_new(costate_method_find(method), &P, &o);
    costate_tape *tape = costate_tape_new();
    int size = p.cells.n + NQ;
    for (int i = 0; i < p.cells.n; i++) {
        y[i] = start(p.cells.from + i);
        V[i] = direction(p.cells.from + i);
        V[size + i] = weight(p.cells.from + i);
    }
    costate_second second = {.m = 2, .V = V, .Vp = Vp, .seed = bent, .ctx = &p, .lambda = lambda, .mu = mu,
                             .lambda2 = lambda2, .mu2 = mu2};
    int status = costate_integrate(c, 0, t_end, y, p0, tape);
    if (!status) status = costate_hessian(c, tape, &second);
    claim(status == 0, "%s: %s\n", method, costate_message(c));
    for (int k = 0; k < 2; k++) {
        for (int i = 0; i < p.cells.n; i++) sums[k] += V[(1 - k) * size + i] * lambda2[k * size + i];
        for (int i = 0; i < NP; i++) sums[k] += Vp[(1 - k) * NP + i] * mu2[k * NP + i];
    }
    if (costate_petsc_sum(2, sums, &comm)) status = -1;
    costate_tape_free(tape);
    costate_free(c);
    line_free(&p);
    return status ? -1 : fabs(sums[0] - sums[1]) / fabs(sums[0]);
}

static void test_hessians_are_symmetric(void **state)
{
    static const char *const names[] = {"dopri5", "sdirk4a", "radau2a", "rock4"};
    (void)state;
    for (int k = 0; k < 4; k++) {
        double found = rank_here < world ? asymmetry(names[k], first[world]) : 0;
        claim(found >= 0 && found < 1e-12, "%s: %.3g\n", names[k], found);
    }
    assert_int_equal(all_hold(state), 0);
}

/* ---- KSP by options ---------------------------------------------------------------------------------------------- */

static void test_whatever_ksp_does(void **state)
{
    static const char *const names[] = {"sdirk4a", "radau2a", "rodas4"};
    static const struct { const char *options; enum matrix matrix; int ranks; } ways[] = {
        {"", FILLED, 4},
        {"", COLOURED, 4},
        {"-costate_ksp_type gmres -costate_pc_type jacobi", FILLED, 4},
        {"-costate_ksp_type gmres -costate_shell", FILLED, 2},
        {"-costate_ksp_type bcgs -costate_ksp_max_it 3", COLOURED, 2},
        {"-costate_ksp_type gmres -costate_ksp_max_it 6", NONE, 2},
        {"-costate_pc_type asm", FILLED, 4},
        {"-costate_pc_type lu", FILLED, 1},
        {"-costate_pc_type none", NONE, 2},
        {NULL, NO_KSP, 2},
    };
    (void)state;
    for (int m = 0; m < 3; m++) {
        task what = exact(names[m]);
        result one = run(&what, 1);
        for (size_t k = 0; k < sizeof ways / sizeof *ways; k++) {
            if (left_out((size_t)m + k)) continue;
            int ranks = ways[k].ranks < world ? ways[k].ranks : world;
            what.petsc = ways[k].options;
            what.matrix = ways[k].matrix;
            result x = run(&what, ranks);
            const char *with = what.petsc ? what.petsc : "without KSP";
            claim_exact(&what, ranks, &x);
            double y = relative_gap(CELLS, x.y, one.y);
            claim(y < 1e-11, "%s %s: %.3g\n", names[m], with, y);
            claim(x.accepted == one.accepted, "%s %s: %ld, %ld\n", names[m], with, x.accepted, one.accepted);
        }
    }
    assert_int_equal(all_hold(state), 0);
}

/* ---- its parts --------------------------------------------------------------------------------------------------- */

/* What the callback fills, and what coloured products find, at one point. */
static double matrices_apart(MPI_Comm comm)
{
    line p;
    Mat A[2];
    double y[CELLS], norm, difference = -1;
    if (line_make(&p, comm)) return -1;
    costate_problem P = line_problem(&p);
    costate_point x = {.t = 0.3, .y = y, .p = p0};
    for (int i = 0; i < p.cells.n; i++) y[i] = start(p.cells.from + i);
    for (int k = 0; k < 2; k++) {
        DMCreateMatrix(p.dm, &A[k]);
        costate_petsc *c = costate_petsc_new(comm, &P, A[k], k ? line_matrix : NULL, &p);
        const costate_preconditioner *pre = costate_petsc_preconditioner(c);
        claim(pre->setup(100, &x, pre->ctx) == 0, "setup: %s\n", costate_petsc_message(c));
        costate_petsc_free(c);
    }
    MatNorm(A[1], NORM_FROBENIUS, &norm);
    MatAXPY(A[0], -1, A[1], SAME_NONZERO_PATTERN);
    MatNorm(A[0], NORM_FROBENIUS, &difference);
    for (int k = 0; k < 2; k++) MatDestroy(&A[k]);
    line_free(&p);
    return difference / norm;
}

static void test_colours_find_all_entries(void **state)
{
    (void)state;
    for (int ranks = 1; ranks <= world; ranks++) {
        double found = rank_here < ranks ? matrices_apart(first[ranks]) : 0;
        claim(found >= 0 && found < 1e-14, "on %d: %.3g\n", ranks, found);
    }
    assert_int_equal(all_hold(state), 0);
}

/* M = I + 0.3 beside the diagonal, on the cells of a process, as a whole matrix and in a pattern */
static int coupled_mass(double *M, void *ctx)
{
    const line *p = ctx;
    int n = p->cells.n;
    for (int k = 0; k < n * n; k++) M[k] = k % (n + 1) == 0 ? 1 : k % (n + 1) == n ? 0.3 : 0;
    return 0;
}

static int coupled_entries(double *M, void *ctx)
{
    const line *p = ctx;
    for (int j = 0, k = 0; j < p->cells.n; j++) {
        if (j > 0) M[k++] = 0.3;                            /* row j - 1 */
        M[k++] = 1;
    }
    return 0;
}

static costate_problem line_coupled(line *p)
{
    costate_problem P = line_problem(p);
    P.mass = coupled_mass;
    return P;
}

static costate_problem line_coupled_sparse(line *p)
{
    static int col[CELLS + 1], row[2 * CELLS];
    static costate_pattern pattern;
    costate_problem P = line_problem(p);
    for (int j = 0, k = 0; j < p->cells.n; j++) {
        if (j > 0) row[k++] = j - 1;
        row[k++] = j;
        col[j + 1] = k;
    }
    pattern = (costate_pattern){p->cells.n, col, row};
    P.pattern = &pattern;
    P.mass = coupled_entries;
    return P;
}

/* The matrix of line_problem as sums of two parts, which need a matrix of zeros */
static int line_adds(double sigma, const costate_point *x, Mat A, void *ctx)
{
    line *p = ctx;
    for (int i = 0; i < p->cells.n; i++) {
        PetscInt row = p->cells.from + i, column[] = {row - 1, row, row + 1 < CELLS ? row + 1 : -1};
        double beside = x->p[1], wind = p->cells.wind, u = x->y[i];
        double spread[] = {-beside, 2 * beside, -beside}, rest[] = {-wind, sigma + wind - x->p[0] + 3 * u * u};
        if (MatSetValues(A, 1, &row, 3, column, spread, ADD_VALUES)) return -1;
        if (MatSetValues(A, 1, &row, 2, column, rest, ADD_VALUES)) return -1;
    }
    return 0;
}

/* what has little to do with the matrix */
static int line_rough(double sigma, const costate_point *x, Mat A, void *ctx)
{
    line *p = ctx;
    (void)x;
    for (int i = 0; i < p->cells.n; i++)
        if (MatSetValue(A, p->cells.from + i, p->cells.from + i, sigma + 70, INSERT_VALUES)) return -1;
    return 0;
}

/* F = y' + y'^3/3 - f */
static int bent_residual(const costate_point *x, double *F, void *ctx)
{
    int status = cells_value(x, F, ctx);
    for (int i = 0; i < ((line *)ctx)->cells.n; i++) F[i] = x->yp[i] + x->yp[i] * x->yp[i] * x->yp[i] / 3 - F[i];
    return status;
}

static int bent_tangent(const costate_point *x, const costate_point *dx, double *out, void *ctx)
{
    int status = cells_tangent(x, dx, out, ctx);
    for (int i = 0; i < ((line *)ctx)->cells.n; i++) out[i] = (1 + x->yp[i] * x->yp[i]) * dx->yp[i] - out[i];
    return status;
}

static int bent_adjoint(const costate_point *x, const double *w, const costate_gradient *g, void *ctx)
{
    double minus[CELLS];
    for (int i = 0; i < ((line *)ctx)->cells.n; i++) {
        minus[i] = -w[i];
        if (g->yp) g->yp[i] += (1 + x->yp[i] * x->yp[i]) * w[i];
    }
    return cells_adjoint(x, minus, g, ctx);
}

static costate_problem line_bent(line *p)
{
    costate_problem P = line_problem(p);
    P.rhs = (costate_map){0};
    P.residual = (costate_map){.value = bent_residual, .tangent = bent_tangent, .adjoint = bent_adjoint};
    return P;
}

/* out = (sigma M - J) v, or (sigma F_y' + F_y) v, from the maps of the problem */
static int multiplied(const line *p, const costate_problem *P, double sigma, const costate_point *x, const double *v,
                      double *out)
{
    int n = p->cells.n, coupled = P->mass == coupled_mass || P->mass == coupled_entries, heavy = P->mass && !coupled;
    double slope[CELLS];
    costate_point dx = {.y = v, .yp = slope};
    for (int i = 0; i < n; i++) slope[i] = sigma * v[i];
    if (P->residual.value) return P->residual.tangent(x, &dx, out, P->ctx);
    dx.yp = NULL;
    int status = P->rhs.tangent(x, &dx, out, P->ctx);
    for (int i = 0; i < n; i++)
        out[i] = (heavy ? 2 : 1) * slope[i] + (coupled && i + 1 < n ? 0.3 * slope[i + 1] : 0) - out[i];
    return status;
}

typedef struct {
    costate_problem (*form)(line *);
    costate_petsc_matrix fill;
    int matrix;                                             /* 0: none */
    const char *petsc;
    int one;                                                /* exact on one process alone */
} solver_case;

/* After set-ups at two points, the second of which is written over: by how much (sigma M - J) z differs from b, where z
   is what the preconditioner makes of b, or its transpose from being that. */
static double solved_gap(MPI_Comm comm, const solver_case *what)
{
    line p;
    Mat A = NULL;
    double y[CELLS], yp[CELLS], parameters[NP], true_y[CELLS], true_yp[CELLS], b[CELLS], z[CELLS], w[CELLS];
    double back[CELLS], product[CELLS], sums[4] = {0}, gap = 0;
    const double sigma = 30;
    if (line_make(&p, comm)) return -1;
    costate_problem P = what->form(&p);
    int n = p.cells.n, residual = P.residual.value != NULL;
    if (what->petsc) PetscOptionsInsertString(NULL, what->petsc);
    if (what->matrix) DMCreateMatrix(p.dm, &A);
    costate_petsc *c = costate_petsc_new(comm, &P, A, what->fill, &p);
    const costate_preconditioner *pre = costate_petsc_preconditioner(c);
    costate_point x = {.t = 0.3, .y = y, .yp = residual ? yp : NULL, .p = parameters}, same = x;
    for (int k = 0; k < 2; k++) {
        memcpy(parameters, p0, sizeof p0);
        for (int i = 0; i < n; i++) true_y[i] = y[i] = start(p.cells.from + i) * (k ? 1 : 9);
        for (int i = 0; i < n; i++) true_yp[i] = yp[i] = weight(i);
        claim(pre->setup(k ? sigma : 4000, &x, pre->ctx) == 0, "setup: %s\n", costate_petsc_message(c));
    }
    for (int i = 0; i < n; i++) y[i] = yp[i] = 1e3;
    parameters[0] = parameters[1] = -40;
    for (int i = 0; i < n; i++) {
        z[i] = b[i] = direction(p.cells.from + i);
        back[i] = w[i] = weight(p.cells.from + i);
    }
    int status = pre->solve(0, z, pre->ctx) || pre->solve(1, back, pre->ctx);
    same.y = true_y;
    same.yp = residual ? true_yp : NULL;
    same.p = p0;
    status = multiplied(&p, &P, sigma, &same, z, product) || status;
    for (int i = 0; i < n; i++) {
        sums[0] += (product[i] - b[i]) * (product[i] - b[i]);
        sums[1] += b[i] * b[i];
        sums[2] += w[i] * z[i] - back[i] * b[i];
        sums[3] += fabs(w[i] * z[i]);
    }
    if (status || costate_petsc_sum(4, sums, &comm)) gap = 1;
    else gap = fmax(sqrt(sums[0] / sums[1]), fabs(sums[2]) / sums[3]);
    costate_petsc_free(c);
    MatDestroy(&A);
    PetscOptionsClear(NULL);
    line_free(&p);
    return gap;
}

/* What the preconditioner solves, where KSP is told to solve it to the end: with the matrix and with its transpose, at
   the point of the last set-up, which is copied.  A tridiagonal matrix is what ILU(0) has without an error. */
static void test_solves_with_the_matrix_of_the_last_set_up(void **state)
{
#define TO_THE_END "-costate_ksp_type gmres -costate_ksp_rtol 1e-13 -costate_ksp_max_it 200 " \
                   "-costate_ksp_gmres_restart 60"
    static const solver_case cases[] = {
        {line_problem, NULL, 0, TO_THE_END, 0},
        {line_heavy, NULL, 0, TO_THE_END, 0},
        {line_residual, NULL, 0, TO_THE_END, 0},
        {line_coupled, NULL, 0, TO_THE_END, 0},
        {line_coupled_sparse, NULL, 0, TO_THE_END, 0},
        {line_problem, line_matrix, 1, TO_THE_END, 0},
        {line_problem, line_adds, 1, TO_THE_END, 0},
        {line_heavy, NULL, 1, TO_THE_END, 0},
        {line_residual, NULL, 1, TO_THE_END " -costate_shell", 0},
        {line_problem, line_rough, 1, TO_THE_END " -costate_shell", 0},
        {line_bent, NULL, 0, TO_THE_END, 0},
        {line_bent, NULL, 1, TO_THE_END, 0},
        {line_problem, line_matrix, 1, NULL, 1},
        {line_problem, NULL, 1, NULL, 1},
    };
    (void)state;
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++)
        for (int ranks = 1; ranks <= (cases[k].one ? 1 : world); ranks++) {
            double found = rank_here < ranks ? solved_gap(first[ranks], &cases[k]) : 0;
            claim(found < 1e-10, "case %zu on %d: %.3g\n", k, ranks, found);
        }
    assert_int_equal(all_hold(state), 0);
}

/* w . local(y) = add(w) . y, both over all processes */
static double ghosts_gap(MPI_Comm comm)
{
    line p;
    Vec local, weights;
    double y[CELLS], g[CELLS] = {0}, sums[3] = {0}, *w;
    const double *u;
    PetscInt n;
    if (line_make(&p, comm)) return -1;
    for (int i = 0; i < p.cells.n; i++) y[i] = start(p.cells.from + i);
    DMCreateLocalVector(p.dm, &local);
    VecDuplicate(local, &weights);
    VecGetLocalSize(local, &n);
    VecGetArray(weights, &w);
    for (int i = 0; i < n; i++) w[i] = 1 + 0.1 * i + p.rank;
    VecRestoreArray(weights, &w);
    claim(costate_petsc_local(p.dm, y, local) == 0, "costate_petsc_local failed\n");
    claim(costate_petsc_add(p.dm, weights, g) == 0, "costate_petsc_add failed\n");
    VecGetArrayRead(local, &u);
    VecGetArray(weights, &w);
    for (int i = 0; i < n; i++) sums[0] += w[i] * u[i];
    for (int i = 0; i < p.cells.n; i++) sums[1] += g[i] * y[i];
    for (int i = 0; i < n; i++) sums[2] += fabs(w[i] * u[i]);
    VecRestoreArray(weights, &w);
    VecRestoreArrayRead(local, &u);
    if (costate_petsc_sum(3, sums, &comm)) sums[0] = -1;
    VecDestroy(&local);
    VecDestroy(&weights);
    line_free(&p);
    return fabs(sums[0] - sums[1]) / sums[2];
}

static void test_ghosts_are_transposed(void **state)
{
    (void)state;
    for (int ranks = 1; ranks <= world; ranks++) {
        double found = rank_here < ranks ? ghosts_gap(first[ranks]) : 0;
        claim(found < 1e-15, "on %d: %.3g\n", ranks, found);
    }
    assert_int_equal(all_hold(state), 0);
}

/* The sum, and that all processes have the bits of the first. */
static void test_sums_are_the_same_everywhere(void **state)
{
    enum { MANY = 5000 };
    double x[MANY], of_first[MANY];
    MPI_Comm comm = MPI_COMM_WORLD;
    int ranks, other = 0;
    MPI_Comm_size(comm, &ranks);
    for (int k = 0; k < MANY; k++) x[k] = sin(k + 0.1 * rank_here) * pow(10, k % 7);
    claim(costate_petsc_sum(MANY, x, &comm) == 0, "the sum failed\n");
    memcpy(of_first, x, sizeof x);
    MPI_Bcast(of_first, MANY, MPI_DOUBLE, 0, comm);
    for (int k = 0; k < MANY; k++) {
        double sum = 0;
        for (int r = 0; r < ranks; r++) sum += sin(k + 0.1 * r) * pow(10, k % 7);
        other += x[k] != of_first[k] || !(fabs(x[k] - sum) < 1e-14 * ranks * pow(10, k % 7));
    }
    MPI_Allreduce(MPI_IN_PLACE, &other, 1, MPI_INT, MPI_SUM, comm);
    claim(other == 0, "%d sums differ\n", other);
    assert_int_equal(all_hold(state), 0);
}

enum { SIDE_X = 11, SIDE_Y = 9, UNKNOWNS = 3 * SIDE_X * SIDE_Y };

/* numbers of the whole grid, in the order of swe.h, and a process's own, in that of swe_mpi.h */
static void own_part(const swe_mpi *s, const double *whole, double *part)
{
    for (PetscInt j = 0; j < s->my; j++)
        for (PetscInt i = 0; i < s->mx; i++)
            for (int c = 0; c < 3; c++)
                part[3 * (j * s->mx + i) + c] = whole[c * SIDE_X * SIDE_Y + (s->x + i) * SIDE_Y + s->y + j];
}

static double part_apart(const swe_mpi *s, const double *whole, const double *part)
{
    double mine[UNKNOWNS], d = 0;
    own_part(s, whole, mine);
    for (int i = 0; i < s->P.n; i++) d = fmax(d, fabs(mine[i] - part[i]) / (1e-3 + fabs(mine[i])));
    return d;
}

/* f, its products and its matrix on a part of the grid are those of the whole. */
static double swe_apart(MPI_Comm comm)
{
    double y[UNKNOWNS], v[UNKNOWNS], f[UNKNOWNS], Jv[UNKNOWNS], Jw[UNKNOWNS] = {0};
    double my_y[UNKNOWNS], my_v[UNKNOWNS], mine[UNKNOWNS], apart = 0;
    swe_mpi s;
    swe *whole = swe_new(SIDE_X, SIDE_Y);
    Mat A;
    if (!whole || swe_mpi_make(&s, comm, SIDE_X, SIDE_Y)) return -1;
    const costate_map *all = &swe_problem(whole)->rhs;
    swe_initial(whole, y);
    for (int i = 0; i < UNKNOWNS; i++) { y[i] += sin(i); v[i] = cos(1.3 * i); }
    own_part(&s, y, my_y);
    own_part(&s, v, my_v);
    costate_point x = {.y = y}, dx = {.y = v}, my_x = {.y = my_y}, my_dx = {.y = my_v};
    costate_gradient g = {.y = Jw}, my_g = {.y = mine};
    all->value(&x, f, whole);
    all->tangent(&x, &dx, Jv, whole);
    all->adjoint(&x, v, &g, whole);
    s.P.rhs.value(&my_x, mine, &s);
    apart = fmax(apart, part_apart(&s, f, mine));
    s.P.rhs.tangent(&my_x, &my_dx, mine, &s);
    apart = fmax(apart, part_apart(&s, Jv, mine));
    memset(mine, 0, sizeof mine);
    s.P.rhs.adjoint(&my_x, my_v, &my_g, &s);
    apart = fmax(apart, part_apart(&s, Jw, mine));
    DMCreateMatrix(s.dm, &A);
    costate_petsc *c = costate_petsc_new(comm, &s.P, A, swe_mpi_matrix, &s);
    const costate_preconditioner *pre = costate_petsc_preconditioner(c);
    if (pre->setup(7, &my_x, pre->ctx)) apart = -1;
    Vec in, out;
    const double *Av;
    MatCreateVecs(A, &in, &out);
    VecPlaceArray(in, my_v);
    MatMult(A, in, out);
    VecGetArrayRead(out, &Av);
    for (int i = 0; i < s.P.n; i++) mine[i] = 7 * my_v[i] - Av[i];
    VecRestoreArrayRead(out, &Av);
    VecResetArray(in);
    if (apart >= 0) apart = fmax(apart, part_apart(&s, Jv, mine));
    VecDestroy(&in);
    VecDestroy(&out);
    costate_petsc_free(c);
    MatDestroy(&A);
    swe_mpi_free(&s);
    swe_free(whole);
    MPI_Allreduce(MPI_IN_PLACE, &apart, 1, MPI_DOUBLE, MPI_MAX, comm);
    return apart;
}

static void test_shallow_water_in_parts(void **state)
{
    (void)state;
    for (int ranks = 1; ranks <= world; ranks++) {
        double found = rank_here < ranks ? swe_apart(first[ranks]) : 0;
        claim(found >= 0 && found < 1e-10, "on %d: %.3g\n", ranks, found);
    }
    assert_int_equal(all_hold(state), 0);
}

/* ---- what goes wrong --------------------------------------------------------------------------------------------- */

static void last_process(line *p, int at, int code)
{
    if (p->rank == p->ranks - 1) { p->fails_at = at; p->code = code; }
}

static void retries(line *p) { last_process(p, 9, 1); }
static void gives_up(line *p) { last_process(p, 9, -5); }
static void no_matrix(line *p) { if (p->rank == p->ranks - 1) { p->fill_fails_at = 2; p->fill_code = -7; } }
static void matrix_once(line *p) { if (p->rank == p->ranks - 1) { p->fill_fails_at = 2; p->fill_code = 1; } }
static void zero_row(line *p) { if (p->rank == p->ranks - 1) p->pivot = 0; }
static void nan_row(line *p) { if (p->rank == p->ranks - 1) p->pivot = NAN; }
static void no_product(line *p)
{
    if (p->rank == p->ranks - 1) { p->product_fails_at = 40; p->code = -3; }
}

/* All processes end alike, each with a sentence; on the last, where it went wrong, with its own. */
static void test_troubles_are_shared(void **state)
{
    static const char *const shelled = "-costate_ksp_type gmres -costate_shell";
    static const struct {
        void (*meddle)(line *);
        const char *options;
        enum matrix matrix;
        int status;
        const char *first, *last, *petsc;
    } cases[] = {
        {retries, NULL, FILLED, 0, "No error", "No error", NULL},
        {gives_up, NULL, FILLED, COSTATE_CALLBACK, "Another process", "rhs.value returned -5", NULL},
        {matrix_once, NULL, FILLED, 0, "No error", "No error", NULL},
        {no_matrix, NULL, FILLED, COSTATE_CALLBACK, "Another process", "setup returned -7", NULL},
        {no_matrix, "-costate_pc_type asm", FILLED, COSTATE_CALLBACK, "Another process", "setup returned -7", NULL},
        {no_matrix, "-costate_pc_type asm", FILLED, COSTATE_CALLBACK, "Another process", "setup returned -7", NULL},
        {zero_row, NULL, FILLED, COSTATE_SINGULAR, "singular", "singular", NULL},
        {nan_row, NULL, FILLED, 1, NULL, NULL, NULL},
        {no_product, shelled, FILLED, COSTATE_CALLBACK, NULL, "returned -3", NULL},
        {no_product, NULL, COLOURED, COSTATE_CALLBACK, NULL, "returned -3", NULL},
        {NULL, "-costate_pc_type nonsense", FILLED, COSTATE_CALLBACK, "setup returned", "setup returned", "nonsense"},
        {NULL, "-costate_pc_type lu -costate_ksp_error_if_not_converged", NONE, COSTATE_CALLBACK, "setup returned",
         "setup returned", "PETSc, error"},
    };
    static const char *const names[] = {"sdirk4a", "radau2a", "rodas4"};
    (void)state;
    for (int m = 0; m < 3; m++)
        for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
            if (left_out((size_t)m + k)) continue;
            task what = {.method = names[m], .petsc = cases[k].options, .matrix = cases[k].matrix,
                         .meddle = cases[k].meddle, .o = {.max_steps = 2000}};
            result x = run(&what, world);
            const char *first_word = world > 1 ? cases[k].first : cases[k].last;
            claim(!x.statuses_differ, "%s, case %zu: statuses differ\n", names[m], k);
            claim(cases[k].status == 1 || x.status == cases[k].status, "%s, case %zu: %d, %s\n", names[m], k, x.status,
                  x.message);
            claim(!first_word || strstr(x.message, first_word), "%s, case %zu: %s\n", names[m], k, x.message);
            claim(!cases[k].last || strstr(x.last, cases[k].last), "%s, case %zu: %s\n", names[m], k, x.last);
            claim(!cases[k].petsc || strstr(x.petsc, cases[k].petsc), "%s, case %zu: %s\n", names[m], k, x.petsc);
            if (x.status == 0) claim_exact(&what, world, &x);
        }
    assert_int_equal(all_hold(state), 0);
}

/* A preconditioner that PETSc cannot transpose: sweeps back end, where they use it. */
static void test_no_transpose(void **state)
{
    static const char *const names[] = {"sdirk4a", "rodas4"};
    (void)state;
    for (int k = 0; k < 2; k++) {
        task what = {.method = names[k], .petsc = "-costate_pc_type kaczmarz"};
        result x = run(&what, world);
        claim(!x.statuses_differ && x.status == COSTATE_CALLBACK, "%s: %d, %s\n", names[k], x.status, x.message);
        claim(strstr(x.message, "solve returned") != NULL, "%s: %s\n", names[k], x.message);
        claim(strstr(x.petsc, "PETSc, error") != NULL, "%s: %s\n", names[k], x.petsc);
    }
    assert_int_equal(all_hold(state), 0);
}

static void becomes_nan(line *p) { if (p->rank == p->ranks - 1) p->nan_from = 9; }

/* NaN in the state of one process, and in what its callback gives from some call on */
static void test_nan_on_one_process(void **state)
{
    static const char *const names[] = {"dopri5", "sdirk4a", "radau2a", "rodas4", "rock4"};
    (void)state;
    for (int k = 0; k < 10; k++) {
        if (left_out((size_t)k)) continue;
        task what = {.method = names[k / 2], .added = k % 2 ? 0 : NAN, .meddle = k % 2 ? becomes_nan : NULL};
        result x = run(&what, world);
        claim(!x.statuses_differ, "%s: statuses differ\n", what.method);
        claim(x.status == (k % 2 ? COSTATE_NOT_FINITE : COSTATE_BAD_ARGUMENT), "%s: %d, %s\n", what.method, x.status,
              x.message);
        claim(strlen(x.message) > 10 && strlen(x.last) > 10, "%s: no sentence\n", what.method);
    }
    assert_int_equal(all_hold(state), 0);
}

/* what setup of a preconditioner returns; says: its sentence, a part of it; NULL: there is none */
static int set_up(const costate_problem *P, Mat A, costate_petsc_matrix form, line *p, const char *says)
{
    double y[CELLS] = {0};
    costate_point x = {.y = y, .p = p0};
    costate_petsc *c = costate_petsc_new(first[world], P, A, form, p);
    const costate_preconditioner *pre = costate_petsc_preconditioner(c);
    int code = pre->setup(1, &x, pre->ctx);
    if (says) claim(code < 0 && strstr(costate_petsc_message(c), says), "%s\n", costate_petsc_message(c));
    costate_petsc_free(c);
    return code;
}

/* What cannot be: a sentence on all processes, before anything is waited for. */
static void test_bad_arguments(void **state)
{
    (void)state;
    line p;
    Mat A;
    if (rank_here < world) {
        claim(line_make(&p, first[world]) == 0, "no line\n");
        costate_problem P = line_problem(&p);
        DMCreateMatrix(p.dm, &A);
        P.n += p.rank == 0;
        set_up(&P, A, line_matrix, &p, "local rows");
        P.n = p.cells.n;
        P.rhs.tangent = NULL;
        set_up(&P, A, NULL, NULL, "rhs.tangent missing");
        set_up(&P, NULL, NULL, NULL, "A shell: rhs.tangent missing");
        P.rhs.tangent = cells_tangent;
        P.rhs.adjoint = NULL;
        set_up(&P, NULL, NULL, NULL, "A shell: rhs.adjoint missing");
        P.rhs.adjoint = cells_adjoint;
        p.pivot = 0;                                        /* a row of zeros: found when the factors are made */
        int code = set_up(&P, A, line_matrix, &p, NULL);
        claim(code > 0, "a singular matrix: setup returned %d\n", code);
        costate_petsc_free(NULL);
        MatDestroy(&A);
        line_free(&p);
    }
    assert_int_equal(all_hold(state), 0);
}

static void groups_make(void)
{
    MPI_Comm_size(MPI_COMM_WORLD, &world);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank_here);
    if (world > RANKS_MOST) world = RANKS_MOST;
    for (int k = 1; k <= world; k++)
        MPI_Comm_split(MPI_COMM_WORLD, rank_here < k ? 0 : MPI_UNDEFINED, rank_here, &first[k]);
}

static void groups_free(void)
{
    for (int k = 1; k <= world; k++) if (first[k] != MPI_COMM_NULL) MPI_Comm_free(&first[k]);
}

/* A product of a colour fails on the last process: its setup returns that, after all colours, for which the others
   wait; the next one succeeds. */
static void test_colours_that_fail(void **state)
{
    static const struct { int at, code; } cases[] = {{1, -3}, {2, -3}, {1, 1}, {3, 1}};
    (void)state;
    for (int k = 0; k < 4 && rank_here < world; k++) {
        line p;
        Mat A;
        double y[CELLS] = {0};
        claim(line_make(&p, first[world]) == 0, "no line\n");
        costate_problem P = line_problem(&p);
        costate_point x = {.y = y, .p = p0};
        DMCreateMatrix(p.dm, &A);
        costate_petsc *c = costate_petsc_new(first[world], &P, A, NULL, &p);
        const costate_preconditioner *pre = costate_petsc_preconditioner(c);
        if (p.rank == p.ranks - 1) { p.product_fails_at = cases[k].at; p.code = cases[k].code; }
        int codes[2] = {pre->setup(100, &x, pre->ctx), pre->setup(100, &x, pre->ctx)};
        MPI_Bcast(codes, 2, MPI_INT, p.ranks - 1, first[world]);
        claim(codes[0] == cases[k].code && codes[1] == 0, "case %d: setup returned %d, %d\n", k, codes[0], codes[1]);
        costate_petsc_free(c);
        MatDestroy(&A);
        line_free(&p);
    }
    assert_int_equal(all_hold(state), 0);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_parts_make_up_the_whole),
        cmocka_unit_test(test_transposes_with_defaults),
        cmocka_unit_test(test_other_forms),
        cmocka_unit_test(test_hessians_are_symmetric),
        cmocka_unit_test(test_whatever_ksp_does),
        cmocka_unit_test(test_colours_find_all_entries),
        cmocka_unit_test(test_solves_with_the_matrix_of_the_last_set_up),
        cmocka_unit_test(test_ghosts_are_transposed),
        cmocka_unit_test(test_shallow_water_in_parts),
        cmocka_unit_test(test_sums_are_the_same_everywhere),
        cmocka_unit_test(test_troubles_are_shared),
        cmocka_unit_test(test_no_transpose),
        cmocka_unit_test(test_nan_on_one_process),
        cmocka_unit_test(test_bad_arguments),
        cmocka_unit_test(test_colours_that_fail),
    };
    if (PetscInitialize(&argc, &argv, NULL, NULL)) return 1;
    groups_make();
    if (rank_here > 0 && (!freopen("/dev/null", "w", stdout) || !freopen("/dev/null", "w", stderr))) return 1;
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    groups_free();
    return PetscFinalize() || failed;
}
