/* exact.c (irk) - solves a stage system with its exact matrix, in general factored, with iterative refinement using the
   products of the problem (mathematics, section 8.4).

   A solution is corrected until every component of the residual is at round-off, or no longer decreases (Skeel, Math.
   Comp. 35 (1980) 817; Higham, Accuracy and Stability of Numerical Algorithms, 12).  It is refused only if the norm is
   not at round-off. */
#include <float.h>
#include <math.h>
#include <string.h>
#include "irk/irk.h"
#include "linsol/gmres.h"

/* Refinement stops after a pass that leaves more than SLOWEST of the error: six or seven such passes would gain one
   digit. REFINEMENTS only bounds the loop: as many passes at SLOWEST gain nine digits (0.7^60 = 5e-10). */
enum { REFINEMENTS = 60 };
static const double SLOWEST = 0.7;
/* Remaining errors add up over the steps of a run; with 32 eps, where an iteration ends, gaps were six times larger. */
static const double EXACT = 4 * DBL_EPSILON;
/* If corrections have no effect although the norm is below NOISE, the residual is round-off of the products of the
   problem, in which terms cancel: 1.5e-13 for the Oregonator.  With a wrong jac refinement still converges, or stays
   far above. */
static const double NOISE = 1e-10;
/* A solution by iteration whose residual is larger than round-off is as good if the next correction is below this part
   of it: then what is left is noise, and no slow convergence.  The same bound as in stages.c. */
static const double SETTLED = 1e-13;

static int unsolved(const stage_system *s, double error)
{
    return fail(s->c->v, COSTATE_STAGNATED,
                "A stage system of the %s could not be solved at t = %.10g (h = %.3g): backward error %.2g. "
                "Is jac the derivative of rhs.value, and the pattern complete?",
                s->transpose ? "adjoint" : "tangent", s->r->t, s->r->h, error);
}

int irk_exact_status(const stage_system *s, int code)
{
    stepper *c = s->c;
    if (code == 0) return 0;
    if (code < 0) return shifts_failure(c->sh, c->sh->backend, code);
    return fail(c->v, COSTATE_SINGULAR, "The stage matrix of a tangent or adjoint is singular or not finite at "
                "t = %.10g (h = %.3g).", s->r->t, s->r->h);
}

int irk_exact_columns(const stage_system *s, int m, double *x)
{
    int code = LS_Solve(work(s->c)->systems.exact, s->transpose, m, x);
    if (code <= 0) return irk_exact_status(s, code);
    return fail(s->c->v, COSTATE_NOT_FINITE, "A stage system of the %s has a NaN or Inf in it, or in its solution, at "
                "t = %.10g (h = %.3g).", s->transpose ? "adjoint" : "tangent", s->r->t, s->r->h);
}

/* Is b so small that parts of the system are denormal numbers, which do not have 16 digits? */
static int vanishes(size_t n, const double *b)
{
    const double LEAST = DBL_MIN / (DBL_EPSILON * DBL_EPSILON);
    for (size_t i = 0; i < n; i++) if (!(fabs(b[i]) < LEAST)) return 0;
    return 1;
}

/* |dx|/|x| of a solution by iteration; of one by a factored matrix 0 */
static int correction(const stage_system *s, const double *dx, const double *x, double *part)
{
    const stepper *c = s->c;
    double size[2];
    *part = 0;
    if (!work(c)->systems.iterates) return 0;
    TRY(space_norms(&c->maps->space, (size_t)c->m->block * (size_t)c->n, 2, work(c)->systems.weights,
                    (const double *const[]){dx, x}, size));
    *part = size[1] > 0 ? size[0] / size[1] : HUGE_VAL;
    return 0;
}

/* Refines one column, starting from the solution in X; this detects a wrong jac.  left: what it leaves; residual: the
   last correction, as a part of the solution. */
static int refine(const stage_system *s, int m, int j, const double *rhs, double *X, gmres_result *left)
{
    stepper *c = s->c;
    size_t len = (size_t)c->m->block * (size_t)c->n;
    double *size = work(c)->systems.column, *b = size + len, *x = b + len, *r = x + len, *dx = r + len;
    gmres_result got = {.error = HUGE_VAL, .norm = HUGE_VAL}, next = got;
    double moved = HUGE_VAL;
    irk_gather(s, m, j, rhs, b);
    irk_gather(s, m, j, X, dx);
    memset(x, 0, len * sizeof *x);
    int most = vanishes(len, b) ? 1 : REFINEMENTS;
    for (int pass = 0; pass < most; pass++) {
        axpy(len, 1, x, dx);
        TRY(irk_stage_apply(s, 1, dx, r));
        for (size_t l = 0; l < len; l++) r[l] = b[l] - r[l];
        moduli(len, b, size);
        work(c)->by->exact_moduli(s, dx, size);
        TRY(backward_error(&c->maps->space, len, work(c)->systems.weights, size, r, 0, &next));
        int falls = next.error < SLOWEST * got.error || next.norm < SLOWEST * got.norm;
        if (!(next.error < got.error || falls)) break;
        got = next;
        memcpy(x, dx, len * sizeof *x);
        if (got.error <= EXACT || !falls) break;
        memcpy(dx, r, len * sizeof *dx);
        TRY(work(c)->by->exact_column(s, dx));
        TRY(correction(s, dx, x, &moved));
    }
    *left = most > 1 ? got : (gmres_result){.error = 0};
    left->residual = moved;
    irk_scatter(s, m, j, x, X);
    return 0;
}

/* Solves columns from j on again, by another factorisation: what a solution by iteration leaves may be more than the
   round-off that refinement finds with a factored matrix. */
static int solve_instead(const stage_system *s, int m, int j, int to, const double *rhs, double *X, int *changed)
{
    const block_algebra *by = work(s->c)->by;
    double *x = work(s->c)->systems.column;
    *changed = 0;
    if (by->exact_instead) TRY(by->exact_instead(s, changed));
    if (!*changed) return 0;
    for (int l = j; l < to; l++) {
        irk_gather(s, m, l, rhs, x);
        irk_scatter(s, m, l, x, X);
    }
    return by->exact_solve(s, m, j, to, X);
}

static int solve_exactly(const stage_system *s, int m, int j, int to, const double *rhs, double *X)
{
    int changed = 0;
    gmres_result left;
    TRY(refine(s, m, j, rhs, X, &left));
    if (left.error > LEAST_BACKWARD_ERROR && left.residual > SETTLED) TRY(solve_instead(s, m, j, to, rhs, X, &changed));
    if (changed) TRY(refine(s, m, j, rhs, X, &left));
    return left.norm <= fmax(NOISE, backward_stable(s->c->maps)) ? 0 : unsolved(s, left.norm);
}

int irk_exact_solve(const stage_system *s, int m, int from, int to, double *X)
{
    stepper *c = s->c;
    size_t len = (size_t)c->m->block * (size_t)c->n;
    double *rhs = work(c)->systems.rhs + (size_t)(s->block * c->m->block) * (size_t)c->n * (size_t)m;
    if (!(s->same && work(c)->systems.exact_there)) TRY(work(c)->by->exact_factor(s));
    work(c)->systems.exact_there = 1;
    memcpy(rhs, X, len * (size_t)m * sizeof *X);
    TRY(work(c)->by->exact_solve(s, m, from, to, X));
    for (int j = from; j < to; j++) {
        TRY(solve_exactly(s, m, j, to, rhs, X));
        *(work(c)->systems.iterates ? &c->maps->count->stage_iterative : &c->maps->count->stage_direct) += 1;
    }
    return 0;
}
