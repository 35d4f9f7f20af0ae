/* left.c - an estimate of the error of a sweep whose systems are solved inexactly, propagated from step to step
   (mathematics, eq. 8.10).

   The error e of a tangent or adjoint is propagated by the steps like the tangent or adjoint itself, and the residuals
   of the systems of a step add to it.  Each step is approximated by a step of the implicit Euler method, where r is the
   sum of the residuals with the weights of the family:

       adjoint   (M/h - J)^T x = e + r,   e <- (1/h) M^T x - r                     (J^T x = (1/h) M^T x - (e + r))
       tangent   (M/h - J) x = (1/h) M e + r,   e <- x

   Residuals are rough, and rough components are damped immediately.  The sum of their norms would therefore
   overestimate the error of a gradient by up to a factor of a thousand, and the preconditioner, used instead of the
   matrix, would also damp smooth components.  So the system is solved by GMRES with products, as accurately as the
   order of magnitude of an error requires: LOOSELY for adjoints, CLOSELY for tangents.  (Measured for tangents along
   white noise without a preconditioner: a tolerance of 0.05 underestimated the error by a factor of 2000; with 0.01 and
   radau2a1, whose systems are stopped by their error, a factor of 15 was left.) */
#include <math.h>
#include <string.h>
#include "base/larger.h"
#include "base/vec.h"
#include "linsol/gmres.h"
#include "linsol/left.h"

enum { LIMIT = 30 };
static const double LOOSELY = 0.1, CLOSELY = 0.003;
/* Where systems are stopped by their error, residuals are rough, and what they hide of the smooth part of an error is
   below this part of krylov_tol: no smaller error is claimed. */
static const double LEAST = 1e-4;

int left_wanted(const shifts *s) { return s->backend && !s->held && s->o->krylov_tol > EXACT_KRYLOV; }

void left_layout(shifts *s, cursor *at, int m)
{
    left_over *a = &s->left;
    size_t n = (size_t)s->n;
    a->columns = left_wanted(s) ? m : 0;
    if (!a->columns) return;
    TAKE(at, n * (size_t)m, &a->r, &a->e);
    a->b = take(at, n);
    a->x = take(at, 3 * n);
    a->w = take(at, n);
    a->pair = take(at, 2 * n);
    a->krylov = take(at, gmres_work(s->n, 1, LIMIT));
}

static void clear(const left_over *a, size_t n, double *x)
{
    if (a->columns) memset(x, 0, (size_t)a->columns * n * sizeof *x);
}

void left_sweep(shifts *s) { clear(&s->left, (size_t)s->n, s->left.e); }
void left_step(shifts *s) { clear(&s->left, (size_t)s->n, s->left.r); }

typedef struct { shifted a; const factors *f; } euler;

static int apply(void *ctx, int m, const double *x, double *out)
{
    return shifted_apply(&((euler *)ctx)->a, m, x, out);
}

/* The preconditioner of the step, for the sigma of its method; if that is complex, the real part of the solution */
static int precondition(void *ctx, int m, double *x)
{
    const euler *q = ctx;
    shifts *s = q->a.s;
    accuracy to = {.tol = 1, .loose = 1};
    double *z = s->left.pair;
    if (q->f->h == 0) return 0;
    if (s->matfree) return matfree_precondition(s, q->a.transpose, x);
    if (s->nreal) return factors_solve(s, q->f, 0, q->a.transpose, m, &to, x);
    for (int i = 0; i < s->n; i++) { z[2 * i] = x[i]; z[2 * i + 1] = 0; }
    TRY(factors_solve(s, q->f, 0, q->a.transpose, m, &to, z));
    for (int i = 0; i < s->n; i++) x[i] = z[2 * i];
    return 0;
}

static int left_solve(euler *q)
{
    shifts *s = q->a.s;
    left_over *a = &s->left;
    gmres_result got;
    gmres_system g = {.space = &s->maps->space,
                      .n = s->n,
                      .columns = 1,
                      .limit = LIMIT,
                      .tol = q->a.transpose ? LOOSELY : CLOSELY,
                      .w = a->w,
                      .apply = apply,
                      .precondition = precondition,
                      .believe = 1,
                      .ctx = q,
                      .work = a->krylov};
    int status = gmres(&g, a->b, a->x, a->x + s->n, &got);
    s->maps->count->krylov += got.iterations;
    return status;
}

/* one column, with its r and e */
static int follow(euler *q, const double *r, double *e)
{
    shifts *s = q->a.s;
    maps *p = s->maps;
    size_t n = (size_t)s->n;
    double sigma = q->a.re, *b = s->left.b, *x = s->left.x;
    if (q->a.transpose) add_scaled(n, b, e, 1, r);
    else { memcpy(b, r, n * sizeof *b); TRY(equation_mass(p, &q->a.at, 0, sigma, e, b, s->scaled)); }
    TRY(left_solve(q));
    if (!q->a.transpose) { memcpy(e, x, n * sizeof *e); return 0; }
    add_scaled(n, e, NULL, -1, r);
    return equation_mass(p, &q->a.at, 1, sigma, x, e, s->scaled);
}

int left_follow(shifts *s, const factors *f, const costate_point *at, double h, int transpose, int m)
{
    left_over *a = &s->left;
    size_t n = (size_t)s->n;
    euler q = {{s, *at, 1 / h, 0, transpose}, f};
    if (!a->columns) return 0;
    TRY(residual_weights(s->maps, transpose, s->n, a->w));
    for (int j = 0; j < m; j++) TRY(follow(&q, a->r + (size_t)j * n, a->e + (size_t)j * n));
    return 0;
}

int left_relative(shifts *s, int transpose, int m, const double *X, size_t ld, double *worst)
{
    left_over *a = &s->left;
    size_t n = (size_t)s->n;
    *worst = 0;
    if (!a->columns) return 0;
    TRY(residual_weights(s->maps, transpose, s->n, a->w));
    for (int j = 0; j < m; j++) {
        const double *both[] = {a->e + (size_t)j * n, X + (size_t)j * ld};
        double norms[2];
        TRY(space_norms(&s->maps->space, n, 2, a->w, both, norms));
        if (norms[0] != 0) *worst = larger(*worst, norms[0] / norms[1]);
    }
    if (*worst > 0 && matfree_relaxes(s)) *worst = larger(*worst, LEAST * s->o->krylov_tol);
    return 0;
}
