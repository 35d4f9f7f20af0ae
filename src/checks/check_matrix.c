/* check_matrix.c - costate_check_matrix: is the user's matrix of the stages what a W-method needs?

   With E^-1 the operator of a stage (the preconditioner's solve, or the factors of sigma M - W), random a, w:

       linear      check_linear (maps/check_solution.c), and several columns at once
       transpose   the same
       repeats     E^-1 a is the same after a set-up at another t and y
       softness    the largest eigenvalue of E^-1 (sigma M - f_y), as in ros/guard.c
       smooth      how far it departs from sigma M - f_y on M y, f and a random lambda, made smooth; by which part rates
                   of slow modes are wrong then, as in ros/smooth.c */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/vec.h"
#include "checks/check.h"
#include "maps/callbacks.h"
#include "maps/check.h"
#include "run/relations.h"
#include "solver/arguments.h"
#include "solver/options.h"

/* ILU-like solvers are linear to round-off times their condition, iterations that are not linear to their tolerance */
static const double LINEAR = 1e-9;
static const spectrum_accuracy ENOUGH = {.first = 40, .first_most = 40, .least = 40, .most = 40, .safety = 1,
                                         .plain = 1};

/* Rates may be wrong by this part, or by so many times rtol if that is less */
static const double RATE = 0.03, RATE_TOLERANCES = 200;
enum { SMOOTHED = 2 };                          /* y' = f_y y is once less smooth than y */

typedef struct {
    costate *c;
    double t, h;
    const double *y;
    double *moved, *a, *b, *Ea, *Eb, *more;     /* n each, more: 3 n */
    costate_report *r;
    int wrong;
} matrix_check;

static int set_up(const matrix_check *x, double t, const double *y)
{
    costate *c = x->c;
    costate_point at = point(&c->maps, t, y);
    verdict_at(&c->v, t);
    TRY(linearise(&c->maps, 1, &at, c->st.w, &c->st.lin));
    return shifts_factor(c->st.sh, &c->st.lin, x->h, &c->st.fac);
}

static int solve(const matrix_check *x, int transpose, int m, double *X)
{
    return factors_solve(x->c->st.sh, x->c->st.fac, 0, transpose, m, &(accuracy){.tol = x->c->o.krylov_tol}, X);
}

static void judge(matrix_check *x, int right, double error, const char *what, const char *cure)
{
    x->wrong |= !right;
    check_adds(x->r, "%s %.1e%s", what, error, right ? ".  " : " WRONG: ");
    if (!right) check_adds(x->r, "%s  ", cure);
}

static int solve_one(const matrix_check *x, int transpose, const double *v, double *out)
{
    if (out != v) memcpy(out, v, (size_t)x->c->st.n * sizeof *out);
    return solve(x, transpose, 1, out);
}
static int tangent(void *ctx, const double *v, double *out) { return solve_one(ctx, 0, v, out); }
static int adjoint(void *ctx, const double *w, double *g) { return solve_one(ctx, 1, w, g); }

/* a, b <- random vectors, Ea <- E^-1 a */
static int check_solves(matrix_check *x)
{
    size_t n = (size_t)x->c->st.n;
    const check_operator S = {.ctx = x, .in = n, .rows = n, .tangent = tangent, .adjoint = adjoint,
                              .space = &x->c->maps.space};
    costate_report *r = x->r;
    TRY(check_linear(&S, (double *const[]){x->a, x->b, x->Ea, x->Eb, x->more}, &r->linear, &r->transpose));
    judge(x, r->linear <= LINEAR, r->linear, "Departure from linearity", "the operator must be linear, as a fixed "
          "number of cycles is and a Krylov iteration is not.");
    judge(x, r->transpose <= CHECK_TRANSPOSED, r->transpose, "Gap of transposes", "solve with transpose = 1 is not the "
          "transpose; gradients would be wrong.");
    return 0;
}

/* a, b and a at once */
static int check_columns_at_once(matrix_check *x)
{
    const space *all = &x->c->maps.space;
    size_t n = (size_t)x->c->st.n;
    const double *const from[] = {x->a, x->b, x->a};
    double gap, alone = x->r->linear;
    for (size_t j = 0; j < 3; j++) memcpy(x->more + j * n, from[j], n * sizeof *x->more);
    TRY(solve(x, 0, 3, x->more));
    for (size_t j = 0; j < 3; j += 2) {
        TRY(check_distance(all, n, x->more + j * n, x->Ea, &gap));
        x->r->linear = fmax(x->r->linear, gap);
    }
    if (alone <= LINEAR && x->r->linear > LINEAR)
        judge(x, 0, x->r->linear, "Columns", "several columns at once give another result than one by one.");
    return 0;
}

static int check_repeats(matrix_check *x)
{
    costate *c = x->c;
    size_t n = (size_t)c->st.n;
    for (size_t i = 0; i < n; i++) x->moved[i] = x->y[i] * 1.25 + 0.5 * x->b[i] / c->st.w[i] + 0.01 * x->b[i];
    TRY(set_up(x, x->t + 0.5 * x->h, x->moved));
    memcpy(x->more, x->a, n * sizeof *x->more);
    TRY(solve(x, 0, 1, x->more));
    TRY(check_distance(&c->maps.space, n, x->more, x->Ea, &x->r->repeats));
    judge(x, x->r->repeats <= LINEAR, x->r->repeats, "Difference at another t and y", "the matrix may depend on sigma "
          "and p alone.");
    return set_up(x, x->t, x->y);
}

static int check_softness(matrix_check *x)
{
    costate *c = x->c;
    spectrum *s = &c->st.spectrum;
    int harmful;
    if (!s->v) {
        check_adds(x->r, "The largest eigenvalue of E^-1 (sigma M - f_y) is not measured: rhs.tangent is missing.");
        return 0;
    }
    spectrum_forget(s);
    TRY(spectrum_measure(&c->st, x->t, x->y, &ENOUGH, NULL, NULL));
    TRY(s->soft.harms(&c->st, x->t, x->y, &harmful));
    x->r->softness = s->rho;
    judge(x, !harmful, s->rho, "Largest eigenvalue of E^-1 (sigma M - f_y)", "the matrix is too soft for the method: "
          "make it stiffer, or take a shorter h.");
    spectrum_forget(s);
    return 0;
}

typedef struct { const char *name; const double *v; int transpose, times, there; } smooth_vector;

/* *slowest <- of the vectors, and of the parts of them that depart most, the one with which lasting modes move most
   wrongly */
static int worst_of(const matrix_check *x, int count, const smooth_vector *all, const char **name, smoothness *slowest)
{
    costate *c = x->c;
    const record step = {.t = x->t, .h = x->h, .held = x->h, .jacobian = c->st.lin.serial, .y = x->y};
    for (int k = 0; k < count; k++) {
        smoothness found[2];
        if (!all[k].there) continue;
        memcpy(x->moved, all[k].v, (size_t)c->st.n * sizeof *x->moved);
        TRY(c->st.F->smooth(&c->st, &step, all[k].transpose, all[k].times, x->moved, found));
        for (int i = 0; i < 2; i++) {
            if (found[i].lasting <= slowest->lasting) continue;
            *slowest = found[i];
            *name = all[k].name;
        }
    }
    return 0;
}

/* Ea <- M y, Eb <- f */
static int check_smooth(matrix_check *x)
{
    costate *c = x->c;
    const costate_problem *P = &c->P;
    const smooth_vector all[] = {{"y", x->Ea, 0, SMOOTHED, 1}, {"y'", x->Eb, 0, SMOOTHED + 1, 1},
                                 {"lambda", x->a, 1, SMOOTHED, has_adjoint(&P->rhs) || P->jac}};
    const char *name = "";
    smoothness slowest = {.departure = 0};
    if (!c->st.spectrum.v) return 0;
    memset(x->Ea, 0, (size_t)c->st.n * sizeof *x->Ea);
    mass_multiply(&c->maps, 0, 1, 1, x->y, x->Ea);
    TRY(map_value(&c->maps, &c->maps.rhs, x->t, x->y, x->Eb));
    TRY(worst_of(x, 3, all, &name, &slowest));
    x->r->smooth = fabs(slowest.departure);
    check_adds(x->r, "Departure on smooth vectors %.1e", x->r->smooth);
    if (slowest.lasting > fmin(RATE, RATE_TOLERANCES * options_rtol(&c->o, c->st.n)))
        check_adds(x->r, " (%s) WARNING: slow modes move with rates that are wrong by the part %.1e, and gradients as "
                   "much, whatever rtol is: make the matrix more exact on smooth vectors.  ", name, slowest.lasting);
    else check_adds(x->r, ", rates of slow modes wrong by %.1e.  ", slowest.lasting);
    return 0;
}

static int all_checks(matrix_check *x)
{
    TRY(set_up(x, x->t, x->y));
    TRY(check_solves(x));
    TRY(check_columns_at_once(x));
    TRY(check_repeats(x));
    TRY(check_softness(x));
    return check_smooth(x);
}

static int check_with_memory(matrix_check *x, double *memory)
{
    costate *c = x->c;
    size_t n = (size_t)c->st.n;
    double **const parts[] = {&x->moved, &x->a, &x->b, &x->Ea, &x->Eb, &x->more};
    for (size_t i = 0; i < 6; i++) *parts[i] = memory + i * n;
    forget(c);
    factors_reset(c->st.fac);
    weights(&c->st, x->y, c->st.w);
    int status = all_checks(x);
    forget(c);
    factors_reset(c->st.fac);
    return status;
}

static int checked(matrix_check *x, const double *p)
{
    costate *c = x->c;
    TRY(begin(c));
    if (!c->st.sh->held)
        return fail(&c->v, COSTATE_BAD_ARGUMENT, "The matrix of the stages is not the user's: that of W-methods is, "
                    "with COSTATE_LS_PRECONDITIONER or problem.jac_is_w.");
    TRY(check_arguments(c, x->t, x->t + x->h, x->y, p));
    if (x->h == 0) return fail(&c->v, COSTATE_BAD_ARGUMENT, "h is 0: sigma is 1/(gamma h).");
    maps_bind(&c->maps, p);
    TRY(relations_begin(c, NULL, x->t, x->y, c->o.mode));
    double *memory = calloc(8 * (size_t)c->st.n, sizeof *memory);
    if (!memory) return fail(&c->v, COSTATE_NO_MEMORY, "No memory for the check.");
    int status = check_with_memory(x, memory);
    free(memory);
    return frozen(&c->v, status);
}

int solver_check_matrix(costate *c, double t, double h, const double *y, const double *p, costate_report *r)
{
    matrix_check x = {.c = c, .t = t, .h = h, .y = y, .r = r};
    if (!r) { TRY(begin(c)); return fail(&c->v, COSTATE_BAD_ARGUMENT, "report is NULL."); }
    check_clear(r);
    int status = checked(&x, p);
    if (status) return check_says(r, status, "%s", costate_message(c));
    return x.wrong ? fail(&c->v, COSTATE_CHECK_FAILED, "%.380s", r->text) : COSTATE_OK;
}
