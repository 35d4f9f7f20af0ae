/* stages.c (irk) - the linear stage systems of tangents and adjoints, solved to round-off (step-maps 6).

       B_ij = (1/h) W_ij M - delta_ij f_y(T_i, Y_i, p)      B X = rhs (tangent), B^T X = rhs (adjoint), block by block

   iterative: GMRES with the step's factorisation P as right preconditioner, residual in the norm |r/w| (tangent) or,
   for the adjoint, in the dual |w r|, w_i = atol_i + rtol_i |y_i|: without it stiff problems are silently wrong.
   direct: the exact matrix factored.  The iteration falls back to it.

   Either way a solution is judged by its true residual r = rhs - B x, formed with the problem's own products, as a
   backward error (residual.c): where B has condition 1e14, |r|/|rhs| may end at 1e-5 although x is as good as any.  It
   is corrected until every component is at round-off, or falls no more (Skeel, Math. Comp. 35 (1980) 817; Higham,
   Accuracy and Stability of Numerical Algorithms, 12); and refused only where the norm is not. */
#include <math.h>
#include <string.h>
#include "irk/irk.h"
#include "linsol/gmres.h"

enum { KRYLOV_MOST = 30, KRYLOV_CHEAP = 6, REFINEMENTS = 60 };
static const double REUSE = 1.6, SLOWEST = 0.7;

/* matrix-free there is no preconditioner but the user's or the incomplete LU, and they are for single stages */
static int krylov_most(const stepper *c) { return c->sh->matfree ? matfree_limit() : KRYLOV_MOST; }

/* columns iterated together; matrix-free, several would be as many products */
static int together(const stepper *c, int m)
{
    int most = c->sh->matfree ? 1 : work(c)->by->most_columns;
    return m < most ? m : most;
}

size_t irk_stage_krylov(const stepper *c, int m)
{
    return gmres_work(c->n * c->m->block, together(c, m), krylov_most(c));
}

/* right-hand sides, solutions, residuals and corrections of the columns iterated together, one vector of moduli */
size_t irk_stage_work(const stepper *c, int m)
{
    return (4 * (size_t)together(c, m) + 1) * (size_t)c->m->block * (size_t)c->n;
}

int irk_stage_states(stepper *c, const record *r)
{
    size_t n = (size_t)c->n;
    for (int i = 0; i < c->s; i++) add_scaled(n, work(c)->stage + (size_t)i * n, r->y, 1, r->X + (size_t)i * n);
    return 0;
}

/* Is the exact matrix factored, rather than iterated with? */
static int direct(const stepper *c)
{
    const block_algebra *by = work(c)->by;
    if (c->sh->matfree) return 0;
    if (c->o->stage_solve != COSTATE_STAGE_AUTO) return c->o->stage_solve == COSTATE_STAGE_DIRECT;
    return c->n * c->m->block <= by->dense_most && (by->sparse || c->sh->backend->dense);
}

/* the mean of the stage Jacobians: nearer to all of them than the one at the start of the step */
static int mean_jacobian(stepper *c, const record *r)
{
    double *sum = c->lin.J, *one = work(c)->J;
    c->lin.serial = 0;
    memset(sum, 0, c->maps->entries * sizeof *sum);
    for (int i = 0; i < c->s; i++) {
        TRY(jacobian(c->maps, r->t + c->m->c[i] * r->h, work(c)->stage + (size_t)i * (size_t)c->n, c->w, one));
        axpy(c->maps->entries, 1.0 / c->s, one, sum);
    }
    return 0;
}

/* Kept factors, else the forward step's, else the last ones while they precondition well, else new ones. */
int irk_stage_start(stepper *c, const record *r)
{
    factors *f = r->kept ? r->kept : c->fac;
    int last = work(c)->last_krylov;
    work(c)->pre = f;
    work(c)->last_krylov = 0;
    if (direct(c) || r->kept) return 0;
    double ratio = f->h / r->h;
    if (ratio == 1 && f->serial == r->jacobian) return 0;
    if (c->sh->matfree && !(matfree_preconditioned(c->sh) && work(c)->by->preconditioned)) return 0;
    if (ratio > 1 / REUSE && ratio < REUSE && last <= KRYLOV_CHEAP) return 0;
    TRY(c->sh->matfree ? linearise(c->maps, 0, r->t, r->y, c->w, &c->lin) : mean_jacobian(c, r));
    TRY(shifts_factor(c->sh, &c->lin, r->h, &c->fac));
    work(c)->pre = c->fac;
    return 0;
}

int irk_stage_apply(const stage_system *s, const double *x, double *out)
{
    stepper *c = s->c;
    size_t n = (size_t)c->n;
    int k = c->m->block, i0 = s->block * k;
    memset(out, 0, (size_t)k * n * sizeof *out);
    for (int i = 0; i < k; i++) {
        const double *xi = x + (size_t)i * n;
        double *to = out + (size_t)i * n;
        costate_point at = {s->r->t + c->m->c[i0 + i] * s->r->h, work(c)->stage + (size_t)(i0 + i) * n, c->maps->p};
        costate_point dx = {0, xi, NULL};
        costate_gradient g = {NULL, to, NULL};
        TRY(s->transpose ? map_adjoint(c->maps, &c->maps->rhs, &at, xi, &g) : map_tangent(c->maps, &c->maps->rhs, &at, &dx, to));
        for (size_t l = 0; l < n; l++) to[l] = -to[l];
        irk_coupling(c, s->r->h, s->transpose, i0 + i, i0, i0 + k, 1, x - (size_t)i0 * n, n, to);
    }
    return all_finite((size_t)k * n, out) ? 0 : retry(c->v, WHY_NOT_FINITE, 0.5);
}

static int apply(void *s, const double *x, double *out) { return irk_stage_apply(s, x, out); }

static int precondition(void *s, int m, double *X)
{
    const stage_system *q = s;
    const irk_work *a = q->c->own;
    accuracy to = irk_accuracy(q->c, 0);
    if (!q->c->sh->matfree) return a->by->solve(q->c, a->pre, q->transpose, m, &to, X);
    return a->by->preconditioned ? matfree_precondition(q->c->sh, q->transpose, X) : 0;
}

/* While iterating, B is known by products alone, and P stands for it.  The coupling of stages needs no term: it
   balances the others. */
static void nearly_backward_error(void *system, const double *b, const double *x, const double *r, gmres_result *out)
{
    const stage_system *s = system;
    stepper *c = s->c;
    int k = c->m->block, i0 = s->block * k;
    size_t n = (size_t)c->n, len = (size_t)k * n;
    double *size = work(c)->column;
    if (c->sh->matfree) {
        memset(size, 0, len * sizeof *size);
        for (int i = 0; i < k; i++)
            mass_multiply(c->maps, s->transpose, c->m->W[(i0 + i) * (c->s + 1)] / s->r->h, 1, x + (size_t)i * n,
                          size + (size_t)i * n);
        moduli_of_terms(len, b, r, size);
    } else {
        moduli(len, b, size);
        for (size_t at = 0; at < len; at += n) LS_AddModuli(work(c)->pre->lu[0], s->transpose, x + at, size + at);
    }
    backward_error(len, work(c)->weights, size, r, ITERATED, out);
}

void irk_gather(const stage_system *s, int m, int j, const double *X, double *x)
{
    size_t n = (size_t)s->c->n;
    for (int i = 0; i < s->c->m->block; i++)
        memcpy(x + (size_t)i * n, X + ((size_t)i * (size_t)m + (size_t)j) * n, n * sizeof *x);
}

void irk_scatter(const stage_system *s, int m, int j, const double *x, double *X)
{
    size_t n = (size_t)s->c->n;
    for (int i = 0; i < s->c->m->block; i++)
        memcpy(X + ((size_t)i * (size_t)m + (size_t)j) * n, x + (size_t)i * n, n * sizeof *x);
}

/* Columns from, from + 1 .. of X by GMRES; *good: how many of them, from the first, are solved. */
static int iterate(const stage_system *s, int m, int from, int columns, double *X, int *good)
{
    stepper *c = s->c;
    size_t len = (size_t)c->m->block * (size_t)c->n, all = (size_t)columns * len;
    double *b = work(c)->column + len, *x = b + all;
    gmres_result got[GMRES_COLUMNS] = {{0}};
    gmres_system g = {.n = (int)len,
                      .columns = columns,
                      .limit = krylov_most(c),
                      .tol = c->o->krylov_tol,
                      .w = work(c)->weights,
                      .apply = apply,
                      .precondition = precondition,
                      .backward_error = c->o->krylov_tol > EXACT_KRYLOV ? NULL : nearly_backward_error,
                      .ctx = (void *)s,
                      .work = work(c)->krylov};
    for (int j = 0; j < columns; j++) irk_gather(s, m, from + j, X, b + (size_t)j * len);
    int status = gmres(&g, b, x, x + all, got);
    *good = 0;
    for (int j = 0; j < columns; j++) {
        c->maps->count->krylov += got[j].iterations;
        if (got[j].longest > work(c)->last_krylov) work(c)->last_krylov = got[j].longest;
        if (status != 0 || *good < j || !solved(c->maps, &got[j], 100 * c->o->krylov_tol)) continue;
        irk_scatter(s, m, from + j, x + (size_t)j * len, X);
        c->maps->count->stage_iterative++;
        (*good)++;
    }
    return status;
}

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
    return fail(c->v, COSTATE_SINGULAR, "The stage matrix of a tangent or adjoint is singular or not finite at t = %.10g "
                "(h = %.3g).", s->r->t, s->r->h);
}

int irk_exact_columns(const stage_system *s, int m, double *x)
{
    int code = LS_Solve(work(s->c)->exact, s->transpose, m, x);
    if (code <= 0) return irk_exact_status(s, code);
    return fail(s->c->v, COSTATE_NOT_FINITE, "A stage system of the %s has a NaN or Inf in it, or in its solution, at "
                "t = %.10g (h = %.3g).", s->transpose ? "adjoint" : "tangent", s->r->t, s->r->h);
}

/* One column with the exact factor, from the solution in X: a wrong jac is found out. */
static int refine(const stage_system *s, int m, int j, const double *rhs, double *X)
{
    stepper *c = s->c;
    size_t len = (size_t)c->m->block * (size_t)c->n;
    double *size = work(c)->column, *b = size + len, *x = b + len, *r = x + len, *dx = r + len;
    gmres_result got = {.error = HUGE_VAL, .norm = HUGE_VAL}, next = got;
    irk_gather(s, m, j, rhs, b);
    irk_gather(s, m, j, X, dx);
    memset(x, 0, len * sizeof *x);
    for (int pass = 0; pass < REFINEMENTS; pass++) {
        axpy(len, 1, x, dx);
        TRY(irk_stage_apply(s, dx, r));
        for (size_t l = 0; l < len; l++) r[l] = b[l] - r[l];
        moduli(len, b, size);
        LS_AddModuli(work(c)->exact, s->transpose, dx, size);
        backward_error(len, work(c)->weights, size, r, 0, &next);
        int falls = next.error < SLOWEST * got.error || next.norm < SLOWEST * got.norm;
        if (!(next.error < got.error || falls)) break;
        got = next;
        memcpy(x, dx, len * sizeof *x);
        if (at_round_off(got.error) || !falls) break;
        memcpy(dx, r, len * sizeof *dx);
        TRY(irk_exact_columns(s, 1, dx));
    }
    if (!(got.norm <= backward_stable(c->maps))) return unsolved(s, got.norm);
    irk_scatter(s, m, j, x, X);
    return 0;
}

static int solve_direct(const stage_system *s, int m, int from, double *X)
{
    stepper *c = s->c;
    size_t len = (size_t)c->m->block * (size_t)c->n;
    double *rhs = work(c)->rhs + (size_t)(s->block * c->m->block) * (size_t)c->n * (size_t)m;
    TRY(work(c)->by->exact_factor(s));
    memcpy(rhs, X, len * (size_t)m * sizeof *X);
    TRY(work(c)->by->exact_solve(s, m, from, X));
    for (int j = from; j < m; j++) {
        TRY(refine(s, m, j, rhs, X));
        c->maps->count->stage_direct++;
    }
    return 0;
}

static int needs_a_matrix(const stage_system *s, int m, const double *X)
{
    stepper *c = s->c;
    if (!all_finite((size_t)m * (size_t)c->m->block * (size_t)c->n, X)) return retry(c->v, WHY_NOT_FINITE, 0.5);
    return fail(c->v, COSTATE_STAGNATED,
                "GMRES did not solve a stage system of the %s in cycles of %d iterations at t = %.10g "
                "(h = %.3g): a solver with a matrix is needed here.",
                s->transpose ? "adjoint" : "tangent", matfree_limit(), s->r->t, s->r->h);
}

int irk_stage_solve(const stage_system *s, int m, double *X)
{
    stepper *c = s->c;
    residual_weights(c->maps, s->transpose, c->m->block * c->n, work(c)->weights);
    for (int j = 0, good; !direct(c) && j < m; j += good) {
        int columns = m - j < together(c, m) ? m - j : together(c, m);
        int status = iterate(s, m, j, columns, X, &good);
        if (status < 0 || (status != 0 && c->sh->matfree)) return status;
        if (good < columns && c->sh->matfree) return needs_a_matrix(s, m, X);
        if (good < columns) return solve_direct(s, m, j + good, X);
    }
    return direct(c) ? solve_direct(s, m, 0, X) : 0;
}
