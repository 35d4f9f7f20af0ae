/* matfree.c - (sigma M - J) x = b without a matrix: GMRES on products of the problem's maps.

   J is held as the point (t, y) where it is taken; J x is rhs.tangent there, J^T x rhs.adjoint.  A complex sigma is a
   real system of twice the size,  [re M - J, -im M; im M, re M - J],  transposed plainly, like the matrix it stands
   for. Tolerances: inside Newton 1e-3 (its iteration corrects the rest); 1e-10 where a tape prescribes how often it
   goes, where M is singular - beside M/h, constraints are small in the residual's norm however wrong they are - and in
   derivative mode, which would take a standstill of such components for round-off.  In ros, where nothing corrects,
   options.krylov_tol, and then while components fall: adjoint and tangent agree to about as much. */
#include <math.h>
#include <string.h>
#include "core.h"

enum { LIMIT = 80 };

int matfree_limit(void) { return LIMIT; }

typedef struct { costate *c; const factors *f; double re, im; int transpose; } operator_;

/* out = J x or J^T x */
static int product(operator_ *a, const double *x, double *out)
{
    costate *c = a->c;
    costate_point at = {a->f->t, a->f->y, c->p}, dx = {0, x, NULL};
    costate_gradient g = {NULL, out, NULL};
    c->count.products++;
    memset(out, 0, (size_t)c->n * sizeof *out);
    int status = a->transpose ? map_adjoint(c, RHS, &at, x, &g) : map_tangent(c, RHS, &at, &dx, out);
    return status != 0 || all_finite((size_t)c->n, out) ? status : retry(&c->v, WHY_NOT_FINITE, 0.5);
}

static int apply(void *ctx, const double *x, double *out)
{
    operator_ *a = ctx;
    costate *c = a->c;
    size_t n = (size_t)c->n, len = a->im != 0 ? 2 * n : n;
    double im = a->transpose ? -a->im : a->im;
    for (size_t at = 0; at < len; at += n) {
        int status = product(a, x + at, out + at);
        if (status != 0) return status;
        for (size_t i = 0; i < n; i++) out[at + i] = -out[at + i];
        mass_multiply(c, a->transpose, a->re, 1, x + at, out + at);
    }
    if (a->im == 0) return 0;
    mass_multiply(c, a->transpose, -im, 1, x + n, out);
    mass_multiply(c, a->transpose, im, 1, x, out + n);
    return 0;
}

int matfree_prepare(costate *c)
{
    int code = 0;
    if (!c->matfree || !c->o.ilu || c->o.preconditioner) return COSTATE_OK;
    if (!c->P.jac || !c->P.pattern) return fail(&c->v, COSTATE_MISSING, "options.ilu needs problem.jac and problem.pattern.");
    const costate_backend *ilu = costate_backend_find("ilu");
    if (!ilu) return fail(&c->v, COSTATE_BACKEND, "options.ilu: SuperLU is not built in.");
    c->ilu = LS_Init(ilu, c->n, c->P.pattern, 0, NULL, NULL, &code);
    return c->ilu ? COSTATE_OK : ls_failure(c, ilu, code);
}

int matfree_preconditioned(const costate *c) { return c->ilu || c->o.preconditioner; }

int matfree_precondition(costate *c, int transpose, double *x)
{
    const costate_preconditioner *p = c->o.preconditioner;
    if (c->ilu) return LS_Solve(c->ilu, transpose, 1, x) == 0 ? 0 : retry(&c->v, WHY_SINGULAR, 0.5);
    int r = p ? p->solve(transpose, x, p->ctx) : 0;
    if (r > 0) return retry(&c->v, WHY_SINGULAR, 0.5);
    return r < 0 ? fail(&c->v, COSTATE_CALLBACK, "The preconditioner's solve returned %d at t = %.10g.", r, c->v.t) : 0;
}

static int precondition(void *ctx, int m, double *x)        /* m is 1; both parts of a complex system alike */
{
    operator_ *a = ctx;
    (void)m;
    int status = matfree_precondition(a->c, a->transpose, x);
    return status == 0 && a->im != 0 ? matfree_precondition(a->c, a->transpose, x + a->c->n) : status;
}

static int ilu_setup(costate *c, double sigma, const costate_point *x)
{
    int status = map_jac(c, x, c->J2);
    if (status != 0) return status;
    int code = LS_Decomp(c->ilu, sigma, 0, c->J2, c->M);
    if (code < 0) return ls_failure(c, costate_backend_find("ilu"), code);
    return code == 0 ? 0 : retry(&c->v, WHY_SINGULAR, 0.5);
}

/* P for |sigma| of the first eigenvalue, at the point where J is taken */
int matfree_setup(costate *c, factors *f, double h)
{
    const costate_preconditioner *p = c->o.preconditioner;
    double im, re = eigenvalue(c->m, 0, &im), sigma = hypot(re, im) / h;
    f->t = c->jt;
    memcpy(f->y, c->J, (size_t)c->n * sizeof *f->y);
    costate_point x = {f->t, f->y, c->p};
    if (c->ilu) return ilu_setup(c, sigma, &x);
    int r = p && p->setup ? p->setup(sigma, &x, p->ctx) : 0;
    if (r > 0) return retry(&c->v, WHY_SINGULAR, 0.5);
    return r < 0 ? fail(&c->v, COSTATE_CALLBACK, "The preconditioner's setup returned %d at t = %.10g.", r, c->v.t) : 0;
}

static void error_of(void *ctx, const double *b, const double *x, const double *r, gmres_result *out)
{
    operator_ *a = ctx;
    costate *c = a->c;
    size_t n = (size_t)c->n;
    double *size = c->gr + 3 * n;
    memset(size, 0, n * sizeof *size);
    mass_multiply(c, a->transpose, a->re, 1, x, size);
    moduli_of_terms(n, b, r, size);
    backward_error(n, c->gw, size, r, ITERATED, out);
}

/* tol: asked for; loose: Newton corrects what is left */
static int solve_one(operator_ *a, double tol, int loose, double *b)
{
    costate *c = a->c;
    int n = a->im != 0 ? 2 * c->n : c->n;
    gmres_result got;
    residual_weights(c, a->transpose, n, c->gw);
    gmres_system s = {.n = n,
                      .columns = 1,
                      .limit = LIMIT,
                      .tol = tol,
                      .w = c->gw,
                      .apply = apply,
                      .precondition = precondition,
                      .backward_error = loose || tol > EXACT_KRYLOV ? NULL : error_of,
                      .believe = loose,
                      .ctx = a,
                      .work = c->gwork};
    int status = gmres(&s, b, c->gr, c->gr + n, &got);
    c->count.krylov += got.iterations;
    if (status != 0) return status;
    if (!solved(c, &got, 100 * tol))
        return retry(&c->v, got.residual >= 0 ? WHY_KRYLOV : WHY_NOT_FINITE, 0.5); /* NaN: b has one */
    memcpy(b, c->gr, (size_t)n * sizeof *b);
    return 0;
}

/* complex X comes in pairs (re, im), the system has all real parts first */
static void unzip(size_t n, const double *x, double *z) { for (size_t i = 0; i < n; i++) { z[i] = x[2 * i]; z[n + i] = x[2 * i + 1]; } }
static void zip(size_t n, const double *z, double *x) { for (size_t i = 0; i < n; i++) { x[2 * i] = z[i]; x[2 * i + 1] = z[n + i]; } }

static double tolerance(const costate *c)
{
    int counted = c->replay && c->repeat && !c->replay->matfree;   /* Newton went so often with factorisations */
    int tight = counted || c->singular || c->o.derivative_mode;
    return c->m->family == COSTATE_ROS ? c->o.krylov_tol : fmax(tight ? 1e-10 : 1e-3, c->o.krylov_tol);
}

int matfree_solve(costate *c, const factors *f, int k, int transpose, int nrhs, double *X)
{
    size_t n = (size_t)c->n;
    int loose = c->m->family != COSTATE_ROS;
    double im, re = eigenvalue(c->m, k, &im), tol = tolerance(c);
    operator_ a = {c, f, re / f->h, im / f->h, transpose};
    for (int j = 0; j < nrhs; j++) {
        double *x = X + (size_t)j * (im != 0 ? 2 * n : n), *b = im != 0 ? c->gb : x;
        if (im != 0) unzip(n, x, b);
        int status = solve_one(&a, tol, loose, b);
        if (status != 0) return status;
        if (im != 0) zip(n, b, x);
        *(im != 0 ? &c->count.complex_solves : &c->count.solves) += 1;
    }
    return 0;
}

void matfree_layout(costate *c, cursor *at)
{
    if (!c->matfree) return;
    size_t n = (size_t)c->n, len = c->m->npair ? 2 * n : n;
    c->gwork = take(at, gmres_work((int)len, 1, LIMIT));
    c->gw = take(at, len);
    c->gr = take(at, 4 * len);
    c->gb = take(at, len);
}
