/* matfree.c - (sigma M - J) x = b without a matrix: GMRES with products of the problem's maps.

   J is represented by the point (t, y) where it is evaluated: J x is rhs.tangent at this point, J^T x is rhs.adjoint.
   Residuals use (t, y, y'), and their products include M x.  With a complex sigma the system is written as a real one
   of twice the size,  [re M - J, -im M; im M, re M - J];  it is transposed without conjugation, like the complex
   matrix.

   Tolerances: inside Newton's iteration 1e-3, because the iteration corrects the rest.  1e-10 in three cases: if a tape
   prescribes the number of iterations; if M is singular, because next to M/h the constraints are small in the norm of
   the residual, however wrong they are; and in derivative mode, which would mistake stagnation of such components for
   round-off.  In ros, where nothing corrects the solution: options.krylov_tol, and then further while components
   decrease; adjoint and tangent agree to about this accuracy. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/modulus.h"
#include "base/vec.h"
#include "linsol/gmres.h"
#include "linsol/left.h"
#include "linsol/loose.h"
#include "linsol/shifts.h"
#include "maps/callbacks.h"

/* Iterations of a cycle: more than with a factorisation, because there may be no preconditioner.  A cycle needs 2 LIMIT
   vectors and LIMIT^2 inner products; with a smaller LIMIT more of the Krylov space is lost by restarts.  The value is
   a choice; no measurement of it is recorded. */
enum { LIMIT = 80 };

int matfree_limit(void) { return LIMIT; }

/* out = (s M - J) x or (s M - J)^T x */
static int product(shifted *a, double s, const double *x, double *out)
{
    maps *p = a->s->maps;
    size_t n = (size_t)p->n;
    double *sx = a->s->scaled;
    costate_point dx = {.y = x};
    costate_gradient g = {.y = out};
    p->count->products++;
    memset(out, 0, n * sizeof *out);
    if (a->transpose) {
        TRY(equation_adjoints(p, &a->at, 1, x, n, &g, equation_plain(p) ? NULL : sx, n));
        for (size_t i = 0; i < n; i++) out[i] = -out[i];
        axpy(n, s, equation_plain(p) ? x : sx, out);
    } else {
        add_scaled(n, sx, NULL, s, x);
        TRY(equation_tangents(p, &a->at, 1, &dx, sx, n, out, n));
        for (size_t i = 0; i < n; i++) out[i] = -out[i];
    }
    return space_finite(&p->space, n, out);
}

int shifted_apply(void *ctx, int m, const double *x, double *out)
{
    shifted *a = ctx;
    (void)m;
    const maps *p = a->s->maps;
    size_t n = (size_t)p->n, len = a->im != 0 ? 2 * n : n;
    double im = a->transpose ? -a->im : a->im;
    for (size_t at = 0; at < len; at += n) TRY(product(a, a->re, x + at, out + at));
    if (a->im == 0) return 0;
    TRY(equation_mass(a->s->maps, &a->at, a->transpose, -im, x + n, out, a->s->scaled));
    return equation_mass(a->s->maps, &a->at, a->transpose, im, x, out + n, a->s->scaled);
}

int matfree_prepare(shifts *s)
{
    int code = 0;
    if (!s->matfree || !s->o->ilu || s->o->preconditioner) return 0;
    if (!s->maps->user.jac || !s->maps->pattern || (s->maps->residual && !s->maps->user.jac_yp))
        return fail(s->v, COSTATE_MISSING, "options.ilu needs problem.jac and problem.pattern%s.",
                    s->maps->residual ? ", and jac_yp" : "");
    const costate_backend *ilu = costate_backend_find("ilu");
    if (!ilu) return fail(s->v, COSTATE_BACKEND, "options.ilu: SuperLU is not built in.");
    s->ilu = LS_Init(ilu, s->n, s->maps->pattern, 0, NULL, NULL, &code);
    if (!s->ilu) return shifts_failure(s, ilu, code);
    s->ilu_J = calloc((s->maps->residual ? 2 : 1) * s->maps->entries + 1, sizeof *s->ilu_J);
    return s->ilu_J ? 0 : fail(s->v, COSTATE_NO_MEMORY, "No memory for the Jacobian (%zu entries).", s->maps->entries);
}

int matfree_preconditioned(const shifts *s) { return s->ilu || s->o->preconditioner; }

static int preconditioner_code(shifts *s, int r, const char *name)
{
    if (r > 0) r = retry(s->v, WHY_PRECONDITIONER);
    if (r < 0) r = fail(s->v, COSTATE_CALLBACK, "The preconditioner's %s returned %d at t = %.10g.", name, r, s->v->t);
    return space_agree(&s->maps->space, r);
}

static int ilu_code(shifts *s, int code, enum cause why)
{
    return shifts_code(s, costate_backend_find("ilu"), code, why);
}

int matfree_precondition(shifts *s, int transpose, double *x)
{
    const costate_preconditioner *p = s->o->preconditioner;
    if (s->ilu) return ilu_code(s, LS_Solve(s->ilu, transpose, 1, x), WHY_PRECONDITIONER);
    return preconditioner_code(s, p ? call_solve(p, transpose, x) : 0, p && !p->solve ? "solves" : "solve");
}

int matfree_apply(shifts *s, int transpose, int nrhs, double *X)
{
    size_t n = (size_t)s->n;
    const costate_preconditioner *p = s->o->preconditioner;
    s->maps->count->solves += nrhs;
    if (p->solves && nrhs > 1)
        TRY(preconditioner_code(s, p->solves(transpose, nrhs, X, p->ctx), "solves"));
    else
        for (size_t j = 0; j < (size_t)nrhs; j++) TRY(matfree_precondition(s, transpose, X + j * n));
    return space_finite(&s->maps->space, n * (size_t)nrhs, X);
}

static int precondition(void *ctx, int m, double *x)        /* m is 1; applied to both parts of a complex system */
{
    shifted *a = ctx;
    (void)m;
    TRY(matfree_precondition(a->s, a->transpose, x));
    return a->im != 0 ? matfree_precondition(a->s, a->transpose, x + a->s->n) : 0;
}

static int ilu_setup(shifts *s, double sigma, const costate_point *x)
{
    double *M = s->maps->residual ? s->ilu_J + s->maps->entries : s->maps->M;
    TRY(map_jac(s->maps, x, s->ilu_J));
    if (s->maps->residual) TRY(map_jac_yp(s->maps, x, M));
    return ilu_code(s, LS_Decomp(s->ilu, sigma, 0, s->ilu_J, M), WHY_SINGULAR);
}

/* the preconditioner for |sigma| of the first eigenvalue, at the point where J is evaluated */
int matfree_setup(shifts *s, factors *f, double h)
{
    const costate_preconditioner *p = s->o->preconditioner;
    double im, re = shifts_sigma(s, 0, &im), sigma = modulus(re, im) / h;
    costate_point x = equation_point(s->maps, f->t, f->y, f->yp);
    if (s->ilu) return ilu_setup(s, sigma, &x);
    return preconditioner_code(s, p && p->setup ? p->setup(sigma, &x, p->ctx) : 0, "setup");
}

static const char *remedy(const shifted *a)
{
    const shifts *s = a->s;
    if (s->ilu) return "options.ilu is too weak here: use options.preconditioner";
    if (!s->o->preconditioner) return "Use options.preconditioner or options.ilu";
    return a->transpose ? "options.preconditioner is too weak, or its solve with transpose = 1 is not the transpose of "
                          "the one with transpose = 0: improve it" : "options.preconditioner is too weak: improve it";
}

int matfree_unsolved(const shifted *a, const char *what_to_do)
{
    return fail(a->s->v, COSTATE_STAGNATED, "A %s did not converge at t = %.10g (sigma = %.3g): cycles of %d "
                "iterations of GMRES do not approach krylov_tol = %.1e.  %s, or use a solver with a matrix.",
                a->transpose ? "transposed solve of the adjoint" : "solve of the tangent", a->at.t, a->re, LIMIT,
                a->s->o->krylov_tol, what_to_do ? what_to_do : remedy(a));
}

static int error_of(void *ctx, const double *b, const double *x, const double *r, gmres_result *out)
{
    shifted *a = ctx;
    size_t n = (size_t)a->s->n;
    double *size = a->s->answer + 3 * n;
    memset(size, 0, n * sizeof *size);
    TRY(equation_mass(a->s->maps, &a->at, a->transpose, a->re, x, size, a->s->scaled));
    moduli_of_terms(n, b, r, size);
    return backward_error(&a->s->maps->space, n, a->s->weights, size, r, ITERATED, out);
}

static int solve_one(shifted *a, const accuracy *to, int column, double *b)
{
    shifts *s = a->s;
    int n = a->im != 0 ? 2 * s->n : s->n, by_norms = to->loose || to->tol > EXACT_KRYLOV;
    guesses *from = a->im == 0 ? to->from : NULL;
    gmres_result got;
    TRY(residual_weights(s->maps, a->transpose, n, s->weights));
    gmres_system g = {.space = &s->maps->space,
                      .n = n,
                      .columns = 1,
                      .limit = LIMIT,
                      .tol = to->tol,
                      .w = s->weights,
                      .apply = shifted_apply,
                      .precondition = precondition,
                      .backward_error = by_norms ? NULL : error_of,
                      .believe = to->loose,
                      .ctx = a,
                      .left = by_norms && !to->loose ? s->answer + 3 * n : NULL,
                      .work = s->krylov};
    if (from) TRY(guesses_make(from, column, a->re, b, s->answer, &g.guess));
    int status = gmres(&g, b, s->answer, s->answer + n, &got);
    s->maps->count->krylov += got.iterations;
    TRY(status);
    if (!(got.residual >= 0)) return retry(s->v, WHY_NOT_FINITE);       /* NaN: in b */
    if (!solved(s->maps, &got, to->tol))
        return to->sweep ? matfree_unsolved(a, NULL) : retry(s->v, WHY_KRYLOV);
    solved_system of = {&a->at, a->re, a->transpose};
    if (from) TRY(guesses_add(from, column, &of, s->weights, b, g.left, s->answer));
    memcpy(b, s->answer, (size_t)n * sizeof *b);
    return 0;
}

/* complex X consists of pairs (re, im); the real system has all real parts first */
static void unzip(size_t n, const double *x, double *z)
{
    for (size_t i = 0; i < n; i++) { z[i] = x[2 * i]; z[n + i] = x[2 * i + 1]; }
}
static void zip(size_t n, const double *z, double *x)
{
    for (size_t i = 0; i < n; i++) { x[2 * i] = z[i]; x[2 * i + 1] = z[n + i]; }
}

int matfree_solve(shifts *s, const factors *f, int k, int transpose, int nrhs, const accuracy *to, double *X)
{
    size_t n = (size_t)s->n;
    double im, re = shifts_sigma(s, k, &im);
    shifted a = {s, equation_point(s->maps, f->t, f->y, f->yp), re / f->h, im / f->h, transpose};
    for (int j = 0; j < nrhs; j++) {
        double *x = X + (size_t)j * (im != 0 ? 2 * n : n), *b = im != 0 ? s->pair : x;
        if (im != 0) unzip(n, x, b);
        TRY(solve_one(&a, to, to->first + j, b));
        if (im != 0) zip(n, b, x);
        *(im != 0 ? &s->maps->count->complex_solves : &s->maps->count->solves) += 1;
    }
    return 0;
}

int matfree_precondition_or_scale(void *ctx, double *x)
{
    const shifted *a = ctx;
    if (matfree_preconditioned(a->s)) return matfree_precondition(a->s, a->transpose, x);
    for (int i = 0; i < a->s->n; i++) x[i] /= a->re;
    return 0;
}

int matfree_correct(shifts *s, const costate_point *at, double sigma, const double *w, double tol, double *amplified,
                    double *x)
{
    loose_result got = {0};
    shifted a = {s, *at, sigma, 0, 0};
    loose_system l = {.space = &s->maps->space,
                      .n = (size_t)s->n,
                      .limit = LIMIT,
                      .w = w,
                      .tol = tol,
                      .apply = shifted_apply,
                      .precondition = matfree_precondition_or_scale,
                      .ctx = &a,
                      .work = s->krylov};
    int status = loose_solve(&l, x, amplified, &got);
    s->maps->count->krylov += got.iterations;
    s->maps->count->solves++;
    TRY(status);
    return got.stalled ? retry(s->v, WHY_KRYLOV) : 0;
}
