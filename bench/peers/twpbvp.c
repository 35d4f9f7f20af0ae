/* twpbvp.c - TWPBVPC and TWPBVPLC on a boundary value problem of the race, as the R package bvpSolve carries and calls
   them: analytic Jacobians, both states under the tolerance. */
#include "twpbvp.h"

#include <float.h>

#include "measure.h"

typedef void function(int *n, double *t, double *y, double *out, double *rpar, int *ipar);
typedef void condition(int *i, int *n, double *y, double *out, double *rpar, int *ipar);
typedef void code(int *n, int *nlbc, double *a, double *b, int *nfix, double *fix, int *ntol, int *ltol, double *tol,
                  int *linear, int *givmsh, int *giveu, int *nmsh, int *nxxdim, double *xx, int *nudim, double *u,
                  int *nmax, int *lwrk, double *wrk, int *liwrk, int *iwrk, double *precis, function *f, function *df,
                  condition *g, condition *dg, double *ckappa1, double *gamma1, double *sigma, double *ckappa,
                  double *ckappa2, double *rpar, int *ipar, int *flag, int *lseries, int *series, int *indnms,
                  int *full, int *use_c, int *nmguess, double *xguess, int *nygdim, double *yguess, int *iset);
code twpbvpc_, twpbvplc_;

/* what they print by way of R */
#define SILENT(name) void name(void); void name(void) {}
SILENT(rprintf_) SILENT(rprintfd1_) SILENT(rprintfd2_) SILENT(rprintfd3_) SILENT(rprintfd4_)
SILENT(rprintfi1_) SILENT(rprintfi2_) SILENT(rprintfi3_) SILENT(rprintfi4_) SILENT(rprintfid_) SILENT(rprintfdid_)
SILENT(rexit_) SILENT(rwarn_)

/* their callbacks have no context but numbers; and they remember a mesh limit once met: one run a process */
static const bvp_case *of;

static costate_point point(double *t, double *y)
{
    costate_point x = {.t = *t, .y = y, .p = of->p};
    while (x.mode < of->nbreaks && *t >= of->breaks[x.mode]) x.mode++;
    return x;
}
static void f(int *n, double *t, double *y, double *out, double *rpar, int *ipar)
{
    costate_point x = point(t, y);
    of->P.rhs.value(&x, out, of->P.ctx);
    (void)n, (void)rpar, (void)ipar;
}
static void df(int *n, double *t, double *y, double *out, double *rpar, int *ipar)
{
    costate_point x = point(t, y);
    of->P.jac(&x, out, of->P.ctx);
    (void)n, (void)rpar, (void)ipar;
}
static void g(int *i, int *n, double *y, double *out, double *rpar, int *ipar)
{
    *out = y[0] - of->p[*i == 1 ? of->start : of->end];
    (void)n, (void)rpar, (void)ipar;
}
static void dg(int *i, int *n, double *y, double *out, double *rpar, int *ipar)
{
    out[0] = 1;
    out[1] = 0;
    (void)i, (void)n, (void)y, (void)rpar, (void)ipar;
}

int bvp_twp(const bvp_case *z, int lobatto, int conditioning, double tol, int most, bvp_twp_result *r)
{
    /* sizes as bvpSolve has them, n = 2 */
    int n = 2, nlbc = 1, nfix = z->nbreaks, ntol = 2, ltol[2] = {1, 2}, linear = 0, givmsh = 0, giveu = 0, nmsh = 0;
    int nmax = most + 1, nxxdim = nmax, nudim = n, lwrk = nmax * (5 * n * n + 16 * n + 6) + 14 * n * n + 200;
    int liwrk = nmax * (2 * n + 2) + 3 * n, ipar = 0, lseries = 500, series[500] = {0}, indnms = 0, full = 0;
    int use_c = conditioning, nmguess = 1, nygdim = n, iset[6] = {0};
    double a = z->a, b = z->b, tols[2] = {tol, tol}, precis[3] = {DBL_MIN, DBL_MAX, DBL_EPSILON / FLT_RADIX}, rpar = 0;
    double ckappa1 = 0, gamma1 = 0, sigma = 0, ckappa = 0, ckappa2 = 0, fix[BVP_BREAKS + 1] = {0}, guess[4];
    double *xx = calloc((size_t)nmax, sizeof *xx), *u = calloc((size_t)nmax, 2 * sizeof *u);
    double *wrk = calloc((size_t)lwrk, sizeof *wrk);
    int *iwrk = calloc((size_t)liwrk, sizeof *iwrk);
    for (int k = 0; k < nfix; k++) fix[k] = z->breaks[k];
    bvp_case_guess(z, guess);
    if (z->line) {                                      /* a mesh of 11 points, as without it */
        givmsh = giveu = 1;
        nmsh = nmguess = 11;
    }
    double xguess[11], yguess[22];
    for (int k = 0; k < 11; k++) {
        xguess[k] = xx[k] = k < 10 ? a + k * (b - a) / 10 : b;
        for (int i = 0; i < 2; i++) yguess[2 * k + i] = u[2 * k + i] = guess[i] + k * (guess[2 + i] - guess[i]) / 10;
    }
    of = z;
    double from = clock_now();
    (lobatto ? twpbvplc_ : twpbvpc_)(
        &n, &nlbc, &a, &b, &nfix, fix, &ntol, ltol, tols, &linear, &givmsh, &giveu, &nmsh, &nxxdim, xx, &nudim, u,
        &nmax, &lwrk, wrk, &liwrk, iwrk, precis, f, df, g, dg, &ckappa1, &gamma1, &sigma, &ckappa, &ckappa2, &rpar,
        &ipar, &r->status, &lseries, series, &indnms, &full, &use_c, &nmguess, xguess, &nygdim, yguess, iset);
    r->seconds = clock_now() - from;
    r->intervals = nmsh - 1;
    r->meshes = indnms;
    r->f = iset[0];
    r->jac = iset[1];
    r->error = r->status <= 0 ? 0 : NAN;
    for (int k = 0; k < nmsh; k++) r->error = fmax(r->error, bvp_case_error_at(z, xx[k], u + 2 * k));
    free(xx), free(u), free(wrk), free(iwrk);
    return 0;
}
