/* stages.c (irk) - the linear stage systems of tangents and adjoints, solved to round-off
   (mathematics, section 8.3 and 8.4).

       B_ij = (1/h) W_ij M - delta_ij f_y(T_i, Y_i, p)      B X = rhs (tangent), B^T X = rhs (adjoint), block by block

   iterative: GMRES with the step's factorisation P as right preconditioner, residual in the norm |r/w| (tangent) or,
   for the adjoint, in the dual |w r|, w_i = atol_i + rtol_i |y_i|: without it stiff problems are silently wrong.
   direct: the exact matrix factored (exact.c).  The iteration falls back to it.

   Either way a solution is judged by its true residual r = rhs - B x, formed with the problem's own products, as a
   backward error (residual.c): where B has condition 1e14, |r|/|rhs| may end at 1e-5 although x is as good as any. */
#include <string.h>
#include "irk/irk.h"
#include "linsol/gmres.h"
#include "linsol/left.h"

/* Most iterations of a cycle.  Systems need at most 10 with the Jacobian of the step, and at rtol 1e-4 at most 28 with
   factors that are three steps old (mathematics, section 8.4: to 1e-12, n up to 120).  If more are needed, a better
   matrix is worth its cost. */
enum { KRYLOV_MOST = 30 };

/* The last factors remain the preconditioner while h is within a factor REUSE of theirs and the last step took at most
   KRYLOV_CHEAP iterations.  This trades iterations for factorisations.  Six is about what new factors take for a
   discretised PDE (mathematics, section 8.4); 1.6 is a choice without a recorded measurement. */
enum { KRYLOV_CHEAP = 6 };
static const double REUSE = 1.6;

/* without a matrix, the only preconditioners are that of the user and the incomplete LU, for single stages */
static int krylov_most(const stepper *c) { return c->sh->matfree ? matfree_limit() : KRYLOV_MOST; }

/* Columns that are iterated together; without a matrix this would save nothing. */
int irk_stage_together(const stepper *c, int m)
{
    int most = c->sh->matfree ? 1 : work(c)->by->most_columns;
    return m < most ? m : most;
}

size_t irk_stage_krylov(const stepper *c, int m)
{
    return gmres_work(c->n * c->m->block, irk_stage_together(c, m), krylov_most(c));
}

/* Work space: right-hand sides, solutions, residuals and corrections of the columns that are iterated together, their
   final residuals, and one vector of moduli. */
size_t irk_stage_work(const stepper *c, int m)
{
    return (5 * (size_t)irk_stage_together(c, m) + 1) * (size_t)c->m->block * (size_t)c->n;
}

/* Is the exact matrix factored, instead of iterating? */
static int direct(const stepper *c)
{
    const block_algebra *by = work(c)->by;
    if (c->sh->matfree) return 0;
    if (c->o->stage_solve != COSTATE_STAGE_AUTO) return c->o->stage_solve == COSTATE_STAGE_DIRECT;
    return c->n * c->m->block <= (c->sh->banded ? by->band_most : by->direct_most);
}

/* The mean of the stage Jacobians is closer to all of them than the Jacobian at the start of the step. */
static int mean_jacobian(stepper *c, const record *r)
{
    const irk_work *a = c->own;
    size_t entries = c->maps->entries;
    linearisation_outdate(&c->lin);
    memset(c->lin.J, 0, entries * sizeof *c->lin.J);
    if (c->maps->residual) memset(c->lin.M, 0, entries * sizeof *c->lin.M);
    for (int i = 0; i < c->s; i++) {
        costate_point x = irk_stage_point(c, r, i);
        TRY(jacobian(c->maps, &x, c->w, a->J, a->M));
        axpy(entries, 1.0 / c->s, a->J, c->lin.J);
        if (c->maps->residual) axpy(entries, 1.0 / c->s, a->M, c->lin.M);
    }
    return 0;
}

/* Chooses the preconditioner: factors kept by the tape, else those of the forward step, else the last ones while they
   precondition well, else new ones. */
int irk_stage_start(stepper *c, const record *r)
{
    irk_work *a = c->own;
    factors *f = r->kept ? r->kept : c->fac;
    int last = a->systems.last_krylov;
    a->systems.pre = f;
    a->systems.last_krylov = 0;
    if (direct(c) || r->kept) return 0;
    double ratio = f->h / r->h;
    if (ratio == 1 && f->serial == r->jacobian) return 0;
    if (c->sh->matfree && !(matfree_preconditioned(c->sh) && a->by->preconditioned)) return 0;
    if (ratio > 1 / REUSE && ratio < REUSE && last <= KRYLOV_CHEAP) return 0;
    costate_point x = equation_point(c->maps, r->t, r->y, r->yp);
    TRY(c->sh->matfree ? linearise(c->maps, 0, &x, c->w, &c->lin) : mean_jacobian(c, r));
    TRY(shifts_factor(c->sh, &c->lin, r->h, &c->fac));
    a->systems.pre = c->fac;
    return 0;
}

/* ---- first guesses, where there is no factorisation that makes them cheap ---- */

void irk_stage_layout(stepper *c, cursor *at, int m)
{
    if (c->sh->matfree && c->m->block == 1) guesses_layout(&work(c)->systems.guesses, at, c->maps, m);
}

static int apply(void *s, int m, const double *X, double *out) { return irk_stage_apply(s, m, X, out); }

static int precondition(void *s, int m, double *X)
{
    const stage_system *q = s;
    const irk_work *a = q->c->own;
    accuracy to = irk_accuracy(q->c, 0);
    if (!q->c->sh->matfree) return a->by->solve(q->c, a->systems.pre, q->transpose, m, &to, X);
    return a->by->preconditioned ? matfree_precondition(q->c->sh, q->transpose, X) : 0;
}

/* Methods with more than five coupled stages require a smaller backward error.  A residual r contributes r^T v to the
   gap between tangent and adjoint, up to error |x|^T |B| |v|, and |W|, the row sums of A^-1, grow with the number of
   stages: 18 for three, 55 for five, 113 for seven (radau2a), twice that for unknowns of index 2.  With 32 eps seven
   stages gave a gap of 1.8e-12, with an eighth of it 7e-14; with five or fewer stages the gap is at most 2e-13
   (test_events_stopped). */
static const double COUPLED = 8;

/* Backward error of a solution while iterating.  Its components need moduli of B, of which only products are known;
   moduli of the preconditioner P (without a matrix: of the mass terms and the result) take their place.  The coupling
   of stages is omitted: it is balanced by the other terms. */
static int nearly_backward_error(void *system, const double *b, const double *x, const double *r, gmres_result *out)
{
    const stage_system *s = system;
    stepper *c = s->c;
    int k = c->m->block, i0 = s->block * k;
    size_t n = (size_t)c->n, len = (size_t)k * n;
    double *size = work(c)->systems.column;
    if (c->sh->matfree) {
        memset(size, 0, len * sizeof *size);
        for (int i = 0; i < k; i++) {
            costate_point at = irk_stage_point(c, s->r, i0 + i);
            TRY(equation_mass(c->maps, &at, s->transpose, c->m->W[(i0 + i) * (c->s + 1)] / s->r->h, x + (size_t)i * n,
                              size + (size_t)i * n, work(c)->v1));
        }
        moduli_of_terms(len, b, r, size);
    } else {
        moduli(len, b, size);
        const LS *pre = work(c)->systems.pre->lu[0];
        for (size_t at = 0; at < len; at += n) LS_AddModuli(pre, s->transpose, x + at, size + at);
    }
    TRY(backward_error(&c->maps->space, len, work(c)->systems.weights, size, r, ITERATED, out));
    if (k > 5) out->error *= COUPLED;
    return 0;
}

/* Records the residual r of the system of a column.  For small J, residuals add h J^T sum c_i r_i to an adjoint and
   h sum b_i r_i to a tangent. */
static void leave(const stage_system *s, int column, const double *r)
{
    stepper *c = s->c;
    const double *weight = s->transpose ? c->m->c : c->m->b;
    for (int i = 0; i < c->m->block; i++)
        left_add(c->sh, column, weight[s->block * c->m->block + i], r + (size_t)i * (size_t)c->n);
}

/* A tangent and an adjoint are transposes of each other as far as their systems are solved.  With residuals r, q of B x
   = b and B^T u = rho the gap is  u^T b - rho^T x = u^T r - q^T x,  relative to u^T b about |B^-1 r|/|x| + |B^-T
   q|/|u|.  So the error of x is decisive, not its residual; if B is ill-conditioned they differ by many digits.  The
   preconditioner estimates the error.  For reaction-diffusion grids, waves and smog chemistry the medians of runs are
   below 2e-15, and all values below 2e-14 except two of 2e-12 and 5e-12.

   The unknowns of single stages are not the states (tangent.c), and a small x may be the difference of large terms:
   such a system is solved with an exact matrix without need, one in a thousand of a discretised Brusselator. */
static const double TRANSPOSED = 1e-13;

/* Is the error of x small?  Not checked without a matrix, where there is no other way to solve the system.  r:
   overwritten. */
static int transposes(const stage_system *s, const double *x, double *r, int *is)
{
    const stepper *c = s->c;
    size_t len = (size_t)c->m->block * (size_t)c->n;
    const double *both[] = {r, x};
    double size[2];
    *is = 1;
    if (c->sh->matfree) return 0;
    TRY(precondition((void *)s, 1, r));
    TRY(space_norms(&c->maps->space, len, 2, work(c)->systems.weights, both, size));
    *is = size[0] <= TRANSPOSED * size[1];
    return 0;
}

/* Solves the columns from, from + 1 .. of X with GMRES; *good: how many of them, counted from the first, succeeded. */
static int iterate(const stage_system *s, int m, int from, int columns, double *X, int *good)
{
    stepper *c = s->c;
    irk_work *a = c->own;
    size_t len = (size_t)c->m->block * (size_t)c->n, all = (size_t)columns * len;
    double *b = a->systems.column + len, *x = b + all;
    gmres_result got[GMRES_COLUMNS] = {{0}};
    gmres_system g = {.space = &c->maps->space,
                      .n = (int)len,
                      .columns = columns,
                      .limit = krylov_most(c),
                      .tol = c->o->krylov_tol,
                      .w = a->systems.weights,
                      .apply = apply,
                      .precondition = precondition,
                      .backward_error = c->o->krylov_tol > EXACT_KRYLOV ? NULL : nearly_backward_error,
                      .ctx = (void *)s,
                      .left = x + 3 * all,
                      .work = a->systems.krylov};
    for (int j = 0; j < columns; j++) irk_gather(s, m, from + j, X, b + (size_t)j * len);
    if (columns == 1) TRY(guesses_make(&a->systems.guesses, from, irk_sigma(c, s->r->h), b, x, &g.guess));
    int status = gmres(&g, b, x, x + all, got);
    *good = 0;
    for (int j = 0; j < columns; j++) {
        c->maps->count->krylov += got[j].iterations;
        if (got[j].longest > a->systems.last_krylov) a->systems.last_krylov = got[j].longest;
    }
    TRY(status);
    for (; *good < columns && solved(c->maps, &got[*good], c->o->krylov_tol); ++*good) {
        double *r = g.left + (size_t)*good * len;
        int exact = 1;
        if (left_wanted(c->sh)) leave(s, from + *good, r);
        else TRY(transposes(s, x + (size_t)*good * len, r, &exact));
        if (!exact) break;
        irk_scatter(s, m, from + *good, x + (size_t)*good * len, X);
    }
    if (columns == 1 && *good) {
        costate_point at = irk_stage_point(c, s->r, s->block);      /* of a block of one stage: others have no pool */
        solved_system of = {&at, irk_sigma(c, s->r->h), s->transpose};
        TRY(guesses_add(&a->systems.guesses, from, &of, a->systems.weights, b, NULL, x));
    }
    c->maps->count->stage_iterative += *good;
    return 0;
}

/* the system of a block of one stage */
static shifted single(const stage_system *s)
{
    stepper *c = s->c;
    double Wii = c->m->W[s->block * (c->s + 1)];
    return (shifted){c->sh, irk_stage_point(c, s->r, s->block), Wii / s->r->h, 0, s->transpose};
}

static int unsolved(const stage_system *s, int m, const double *X)
{
    stepper *c = s->c;
    shifted a = single(s);
    TRY(space_finite(&c->maps->space, (size_t)m * (size_t)c->m->block * (size_t)c->n, X));
    return matfree_unsolved(&a, c->m->block == 1 ? NULL : "The coupled stages of this method are solved without a "
                            "preconditioner: use a method of the families sdirk or ros");
}

/* column j of X, to an error of krylov_tol; *good 0: it is as before */
static int relaxed(const stage_system *s, int m, int j, double *X, int *good)
{
    stepper *c = s->c;
    shifted a = single(s);
    int iterations;
    double *b = work(c)->systems.column;
    accuracy to = {.left = (s->transpose ? c->m->c : c->m->b)[s->block], .from = &work(c)->systems.guesses};
    irk_gather(s, m, j, X, b);
    TRY(matfree_relaxed(&a, &to, j, b, &iterations, good));
    if (iterations > work(c)->systems.last_krylov) work(c)->systems.last_krylov = iterations;
    if (!*good) return 0;
    irk_scatter(s, m, j, b, X);
    c->maps->count->stage_iterative++;
    return 0;
}

int irk_stage_solve(const stage_system *s, int m, int from, int to, double *X)
{
    stepper *c = s->c;
    if (!s->same) work(c)->systems.exact_there = 0;
    TRY(residual_weights(c->maps, s->transpose, c->m->block * c->n, work(c)->systems.weights));
    if (direct(c)) return irk_exact_solve(s, m, from, to, X);
    for (int j = from, good; j < to; j += good) {
        int columns = irk_stage_together(c, to - j);
        int status = 0;
        good = 0;
        if (matfree_relaxes(c->sh) && c->m->block == 1) status = relaxed(s, m, j, X, &good);
        if (!status && !good) status = iterate(s, m, j, columns, X, &good);
        if (status < 0 || (status != 0 && c->sh->matfree)) return status;
        if (good < columns && c->sh->matfree) return unsolved(s, m, X);
        if (good < columns) return irk_exact_solve(s, m, j + good, to, X);
    }
    return 0;
}
