/* relaxed.c - systems of a sweep without a matrix that are solved inexactly: to a relative error, not a residual
   (mathematics, section 8.5).

       |w (x - A^-1 b)| <= krylov_tol |w x|,   estimated by |w P^-1 (b - A x)|

   A residual is A times the error.  For stiff components of the error A is large, so that their residual is, too,
   although the steps of the sweep damp them.  (Measured, adjoints of the 2-D Brusselator with ILU(0): |w r|/|w b| was
   750 times |w e|/|w x|.)  The preconditioned residual estimates the error itself, and loose.c minimises it.

   What is left of b is computed with products, for the next cycle and for the estimate of the error of the sweep
   (left.c). */
#include <math.h>
#include <string.h>
#include "base/vec.h"
#include "linsol/left.h"
#include "linsol/loose.h"
#include "linsol/residual.h"

int matfree_relaxes(const shifts *s) { return s->matfree && !s->fixed && s->o->krylov_tol > EXACT_KRYLOV; }

/* r = b - A x */
static int what_is_left(shifted *a, const double *b, const double *x, double *r)
{
    TRY(shifted_apply(a, 1, x, r));
    for (int i = 0; i < a->s->n; i++) r[i] = b[i] - r[i];
    return 0;
}

/* x <- a first guess and r = b - A x, or x = 0 where none leaves less than that */
static int relaxed_begin(shifted *a, const accuracy *to, int column, const double *b, double *x, double *r)
{
    shifts *s = a->s;
    size_t n = (size_t)s->n;
    const double *both[] = {r, b};
    double size[2];
    int guessed = 0;
    if (to->from) TRY(guesses_make(to->from, column, a->re, b, x, &guessed));
    if (guessed) {
        TRY(what_is_left(a, b, x, r));
        TRY(space_norms(&s->maps->space, n, 2, s->weights, both, size));
        if (size[0] < size[1]) return 0;
    }
    memset(x, 0, n * sizeof *x);
    memcpy(r, b, n * sizeof *r);
    return 0;
}

/* The part of krylov_tol that a system is solved to.  With it, gradients of the 2-D Brusselator have about the errors
   that they had with residuals of krylov_tol (ark436, sdirk4a, rodas5p, with ILU(0)), from fewer iterations. */
static const double PART = 0.3;

/* x += an approximation of A^-1 r, which is in r afterwards, to an error of tol |w x|; *size: |w x| before, and after.
   *enough: it converged, and x is not so much smaller now that this error is too large */
static int correct(shifted *a, double *amplified, double *x, double *r, double *size, loose_result *got, int *enough)
{
    shifts *s = a->s;
    size_t n = (size_t)s->n;
    double tol = PART * s->o->krylov_tol;
    loose_system l = {.space = &s->maps->space,
                      .n = n,
                      .limit = matfree_limit(),
                      .w = s->weights,
                      .tol = tol * *size,
                      .part = *size > 0 ? 0 : tol,
                      .apply = shifted_apply,
                      .precondition = matfree_precondition_or_scale,
                      .ctx = a,
                      .work = s->krylov};
    int status = loose_solve(&l, r, amplified, got);
    double before = *size > 0 ? *size : got->first;
    s->maps->count->krylov += got->iterations;
    TRY(status);
    if (!(got->last < HUGE_VAL)) return retry(s->v, WHY_NOT_FINITE);
    axpy(n, 1, r, x);
    TRY(space_norm(&s->maps->space, n, s->weights, x, size));
    *enough = !got->stalled && *size >= before / 4;
    return 0;
}

/* A preconditioner that is singular, or nearly, hides the errors in its null space.  Their residuals are as large as
   that part of b; those of an error of krylov_tol are that large only if krylov_tol is. */
static const double HIDDEN = 0.1;

static int believable(shifted *a, const double *r, const double *b, int *is)
{
    const double *both[] = {r, b};
    double size[2];
    TRY(space_norms(&a->s->maps->space, (size_t)a->s->n, 2, a->s->weights, both, size));
    *is = size[0] <= HIDDEN * size[1];
    return 0;
}

int matfree_relaxed(shifted *a, const accuracy *to, int column, double *b, int *iterations, int *good)
{
    shifts *s = a->s;
    size_t n = (size_t)s->n;
    double *x = s->answer, *r = x + n, size, new_column = 1;
    double *amplified = to->from && column < to->from->columns ? &to->from->amplified[column] : &new_column;
    loose_result got;
    *iterations = *good = 0;
    TRY(residual_weights(s->maps, a->transpose, s->n, s->weights));
    TRY(relaxed_begin(a, to, column, b, x, r));
    TRY(space_norm(&s->maps->space, n, s->weights, x, &size));
    for (int enough = 0; !enough;) {
        TRY(correct(a, amplified, x, r, &size, &got, &enough));
        *iterations += got.iterations;
        if (got.stalled && !another_cycle(got.last / got.first, PART * s->o->krylov_tol * size / got.last))
            return matfree_unsolved(a, NULL);
        TRY(what_is_left(a, b, x, r));
    }
    TRY(believable(a, r, b, good));
    if (!*good) return 0;
    left_add(s, column, to->left, r);
    solved_system of = {&a->at, a->re, a->transpose};
    if (to->from) TRY(guesses_add(to->from, column, &of, s->weights, b, r, x));
    memcpy(b, x, n * sizeof *b);
    return 0;
}
