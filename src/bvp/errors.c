/* errors.c - error estimates of a solution on its mesh, in tolerances, from the defects of its dense output
   (mathematics, eq. 12.12 to 12.13).

   The defect d = E(t, u, u', p) of the dense output u between the nodes gives the error of u (rk.c):

       e = |(i M/(share h) - J)^-1 d|,   component by component, in units of its tolerance, atol + rtol |y_c|

   For small h J this is share h M^-1 d.  For stiff J, growing and decaying modes would need opposite signs; the factor
   i replaces them by the modulus |i/(share h) - lambda|.  Where h is larger than the width of a layer, outside the
   layer, an error of y causes a defect that is lambda times as large, which does not require a finer mesh.

   This is the local error of an interval.  How the problem amplifies errors that propagate from mesh point to mesh
   point is determined once with its linear system: see amplification. */
#include <math.h>
#include <stdlib.h>
#include "base/modulus.h"
#include "base/random.h"
#include "base/vec.h"
#include "bvp/bvp.h"

static void larger_of(defects *most, double error, double t, int component)
{
    if (error <= most->error) return;           /* NaN is larger */
    *most = (defects){isnan(error) ? HUGE_VAL : error, t, component};
}

/* The point of sample k of interval i; its y and y' are in b->stage.Y, K. */
static costate_point sample(bvp *b, int i, int k)
{
    size_t n = (size_t)b->n;
    const solution *x = &b->now;
    const double *X = X_of(b, x->z, i);
    combine(n, b->stage.Y, y_of(b, x->z, i), 1, b->s, b->rk.at[k][0], X, n);
    combine(n, b->stage.K, NULL, 1 / x->h[i], b->s, b->rk.at[k][1], X, n);
    return equation_point(&b->maps, x->t[i] + b->rk.theta[k] * x->h[i], b->stage.Y, b->stage.K);
}

/* b->est.filtered <- (i M/(share h) - J)^-1 times the defect of sample k, complex; sh: share h.  RETRY: singular */
static int filter(bvp *b, int i, int k, double sh)
{
    size_t n = (size_t)b->n;
    costate_point at = sample(b, i, k);
    TRY(equation_value(&b->maps, at.t, at.y, b->stage.K, b->stage.E));
    TRY(jacobian(&b->maps, &at, b->stage.w, b->stage.J, b->stage.M));
    for (size_t c = 0; c < n; c++) { b->est.filtered[2 * c] = b->stage.E[c]; b->est.filtered[2 * c + 1] = 0; }
    int failed = LS_Decomp(b->est.filter, 0, 1 / sh, b->stage.J, b->stage.M);
    if (failed == 0) failed = LS_Solve(b->est.filter, 0, 1, b->est.filtered);
    if (failed < 0) return fail(&b->v, COSTATE_NO_MEMORY, "No memory to estimate errors.");
    return failed ? retry(&b->v, WHY_SINGULAR) : 0;
}

/* e (N_all): errors of y in tolerances, estimated from sample k; d: its defects times sh */
static int of_equations(bvp *b, int i, int k, double sh, double *e, double *d)
{
    const double *y = y_of(b, b->now.z, i);
    weights_at(b, y, y + b->L, b->stage.w);
    TRY(filter(b, i, k, sh));
    for (int c = 0; c < b->n; c++) {
        e[c] = b->stage.w[c] * modulus(b->est.filtered[2 * c], b->est.filtered[2 * c + 1]);
        d[c] = b->stage.w[c] * sh * b->stage.E[c];
    }
    return 0;
}

/* The same for q, whose defect is r(u) - sum_j D_j' r_j. */
static int of_integrals(bvp *b, int i, int k, double sh, double *e, double *d)
{
    size_t n = (size_t)b->n, nq = (size_t)b->nq;
    const double *q = b->now.q + (size_t)i * nq;
    costate_point at = sample(b, i, k);
    TRY(map_value(&b->maps, &b->maps.cost, at.t, at.y, b->stage.E2));
    for (size_t c = 0; c < nq; c++) {
        double defect = b->stage.E2[c], size = fmax(fabs(q[c]), fabs(q[nq + c]));
        for (size_t j = 0; j < (size_t)b->s; j++) defect -= b->rk.at[k][1][j] * b->est.rates[j * nq + c];
        d[n + c] = sh * defect / (b->atol[n + c] + b->o.rtol * size);
        e[n + c] = fabs(d[n + c]);
    }
    return 0;
}

/* All samples of an interval; shares: assume that the solution is smooth. */
static int of_samples(bvp *b, int i, int shares)
{
    for (int k = 0; k < b->rk.samples; k++) {
        double sh = (shares ? b->rk.share[k] : 1) * b->now.h[i];
        double *e = b->est.errors + k * b->N_all, *d = b->est.defects + k * b->N_all;
        TRY(of_equations(b, i, k, sh, e, d));
        if (b->nq > 0) TRY(of_integrals(b, i, k, sh, e, d));
    }
    return 0;
}

/* Do the samples disagree?  For a smooth solution all samples give the same error up to higher-order terms, including
   its sign.  Otherwise - f jumps inside the interval, or a layer is not resolved - the defect may have any shape. */
static int rough(const bvp *b)
{
    const double APART = 4, HARMLESS = 0.02;
    for (int c = 0; b->rk.collocates && c < b->N_all; c++) {
        const double *d = b->est.defects + c;
        double least = d[0], most = d[0];
        for (int k = 1; k < b->rk.samples; k++) {
            least = fmin(least, d[k * b->N_all]);
            most = fmax(most, d[k * b->N_all]);
        }
        if (most > HARMLESS && most > APART * least) return 1;
        if (least < -HARMLESS && least < APART * most) return 1;
    }
    return 0;
}

/* stores h times the largest defect of each equation */
static void keep_force(bvp *b, int i, int shares)
{
    for (int c = 0; c < b->n; c++) {
        double *f = b->est.forcing + (size_t)i * (size_t)b->n + c;
        *f = 0;
        for (int k = 0; k < b->rk.samples; k++) {
            double v = b->est.defects[k * b->N_all + c] / (b->stage.w[c] * (shares ? b->rk.share[k] : 1));
            if (fabs(v) > fabs(*f)) *f = v;
        }
    }
}

static int of_interval(bvp *b, int i, int shares, defects *most)
{
    for (int j = 0; b->nq > 0 && j < b->s; j++) {
        costate_point at = stage_point(b, &b->now, i, j);
        TRY(map_value(&b->maps, &b->maps.cost, at.t, at.y, b->est.rates + (size_t)j * (size_t)b->nq));
    }
    stage_point(b, &b->now, i, 0);              /* selects the piece */
    TRY(of_samples(b, i, shares));
    for (int k = 0; k < b->rk.samples; k++)
        for (int c = 0; c < b->N_all; c++)
            larger_of(most, b->est.errors[k * b->N_all + c], b->now.t[i] + b->rk.theta[k] * b->now.h[i], c);
    keep_force(b, i, shares);
    return 0;
}

static int look_at(bvp *b, int i, int shares, double *error, defects *worst)
{
    defects here = {0, b->now.t[i], 0};
    int status = of_interval(b, i, shares, &here);
    if (status < 0) return status;
    error[i] = status == 0 ? here.error : HUGE_VAL;             /* f is not defined there */
    larger_of(worst, error[i], here.t, here.component);
    return 0;
}

/* Is the error larger than in the neighbouring intervals?  Where a derivative of a smooth solution passes through zero
   the samples disagree, too, but the error is not larger there. */
static int stands_out(const bvp *b, const double *error, int i)
{
    double before = i > 0 ? error[i - 1] : 0, behind = i + 1 < b->now.N ? error[i + 1] : 0;
    return error[i] > 2 * before && error[i] > 2 * behind;
}

int mesh_errors(bvp *b, double *error, defects *worst)
{
    *worst = (defects){0, b->now.t[0], 0};
    TRY(solution_integrals(b, &b->now));
    for (int i = 0; i < b->now.N; i++) {
        TRY(look_at(b, i, 1, error, worst));
        b->est.rough[i] = (char)rough(b);
    }
    for (int i = 0; i < b->now.N; i++)
        if (b->est.rough[i] && stands_out(b, error, i)) TRY(look_at(b, i, 0, error, worst));
    return 0;
}

/* ---- amplification ---- */

static double least_share(const bvp *b)
{
    double least = 1;
    for (int k = 0; k < b->rk.samples; k++) least = fmin(least, fabs(b->rk.share[k]));
    return least;
}

/* x: right-hand sides of all stages: defects times h, with one random sign for each interval */
static void force(const bvp *b, double *x)
{
    size_t n = (size_t)b->n;
    unsigned state = 17;
    for (int i = 0; i < b->now.N; i++) {
        double sign = random_number(&state) < 0 ? -1 : 1, *to = x + (size_t)i * (size_t)b->L;
        for (int j = 0; j < b->s; j++) axpy(n, sign, b->est.forcing + (size_t)i * n, to + (size_t)j * n);
    }
}

/* The largest change of y at mesh points, in tolerances. */
static double largest(bvp *b, const double *x)
{
    double most = 0;
    for (int i = 0; i <= b->now.N; i++) {
        const double *d = x + (size_t)i * (size_t)b->L;
        weights_at(b, y_of(b, b->now.z, i), NULL, b->stage.w);
        for (int c = 0; c < b->n; c++) most = fmax(most, b->stage.w[c] * fabs(d[c]));
    }
    return most;
}

/* Random forces of the size of the defects change the solution by sqrt(N) times the effect of one interval,
   error/share, if nothing is amplified.  Actual defects are nearly orthogonal to polynomials, which is why the order at
   mesh points is higher than that of the dense output: for such methods a factor of ALLOWED is tolerated. */
static int amplification(bvp *b, double error, double *x, double *factor)
{
    const double ALLOWED = b->rk.order > b->rk.dense + 1 ? 5 : 1;
    force(b, x);
    b->count.solves++;
    TRY(b->linear.by->solve(b, 0, 1, x));
    double still = sqrt(b->now.N) * error / least_share(b);
    *factor = still > 0 ? fmax(1, largest(b, x) / (ALLOWED * still)) : 1;
    return 0;
}

int mesh_amplification(bvp *b, double error, double *factor)
{
    double *x = calloc(unknowns(b), sizeof *x);
    if (!x) return fail(&b->v, COSTATE_NO_MEMORY, "No memory for the error of %d intervals.", b->now.N);
    int status = amplification(b, error, x, factor);
    free(x);
    return status;
}
