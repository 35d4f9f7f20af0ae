/* derive.c (periodic) - tangents, adjoints and Hessian products of X = (y0, T, q) (mathematics, eq. 16.5 to 16.8).

       B (dy, dT, eta) = -(Phi_p dp, 0, 0),     dq = Psi_y dy + Psi_T dT + Psi_p dp

   A functional J(X, p) has the multipliers w of B^T (w, ..) = -(J_y + Psi_y^T J_q, J_T + Psi_T^T J_q, 0), and the
   gradient J_p + Phi_p^T w + Psi_p^T J_q: one backward sweep.  Its derivative along dp is the second-order sweep with
   the seed (w, J_q), and a backward sweep with the derivative of w, which solves the same system. */
#include <stdlib.h>
#include <string.h>
#include "periodic/periodic.h"
#include "sweeps/second.h"
#include "sweeps/sweep.h"

static int wanted(periodic *o, int m, const void *in, const void *out)
{
    TRY(periodic_needs_orbit(o));
    if (m < 1) return fail(&o->v, COSTATE_BAD_ARGUMENT, "m = %d: at least one column is needed.", m);
    if (!in || !out) return fail(&o->v, COSTATE_BAD_ARGUMENT, "An array of %d columns is NULL.", m);
    return 0;
}

/* the arrays of a call, which the caller frees */
static int room(periodic *o, size_t count, double **out)
{
    *out = calloc(count + 1, sizeof **out);
    return *out ? 0 : fail(&o->v, COSTATE_NO_MEMORY, "No memory for derivatives of the orbit (%zu doubles).", count);
}

static double unit_of(const periodic *o, int i) { return i < o->n ? o->at.size[i] : o->now.T; }

/* ---- tangents ---- */

static void running_costs(const periodic *o, const double *Z, double *V)
{
    size_t n = (size_t)o->n, N = (size_t)o->N;
    for (size_t q = 0; q < (size_t)o->nq; q++) {
        double sum = Z[n + q];
        for (size_t j = 0; j < n + 1; j++) sum += o->at.V[j * N + n + q] * V[j];
        V[n + 1 + q] = sum;
    }
}

/* Z: (N + d) by m */
static int tangent(periodic *o, int m, const double *Vp, double *V, double *Z)
{
    size_t n = (size_t)o->n, N = (size_t)o->N, d = (size_t)o->d, rows = N + 1;
    double *x = Z + N * (size_t)m;
    int status = solver_tangent(o->c, o->now.tape, m, Z, Vp, NULL, NULL);
    if (status) return run_failed(o, status, "The tangents of the orbit failed");
    for (size_t j = 0; j < (size_t)m; j++)
        for (size_t i = 0; i < n; i++) x[j * d + i] = -Z[j * N + i] / o->at.size[i];
    TRY(period_solve(o, 0, m, x));
    for (size_t j = 0; j < (size_t)m; j++) {
        for (size_t i = 0; i < n + 1; i++)
            V[j * rows + i] = i == n && !o->free_T ? 0 : x[j * d + i] * unit_of(o, (int)i);
        running_costs(o, Z + j * N, V + j * rows);
    }
    return 0;
}

int call_periodic_tangent(periodic *o, int m, const double *Vp, double *V)
{
    double *Z;
    TRY(wanted(o, m, Vp, V));
    TRY(room(o, (size_t)(o->N + o->d) * (size_t)m, &Z));
    int status = tangent(o, m, Vp, V, Z);
    free(Z);
    return status;
}

/* ---- adjoints ---- */

int periodic_multipliers_of(periodic *o, int m, const double *lambda, double *w)
{
    size_t n = (size_t)o->n, N = (size_t)o->N, d = (size_t)o->d, rows = N + 1;
    double *x;
    TRY(room(o, d * (size_t)m, &x));
    for (size_t j = 0; j < (size_t)m; j++)
        for (size_t i = 0; i < n + (size_t)o->free_T; i++) {
            double sum = lambda[j * rows + i];
            for (size_t q = 0; q < (size_t)o->nq; q++) sum += o->at.V[i * N + n + q] * lambda[j * rows + n + 1 + q];
            x[j * d + i] = -sum * unit_of(o, (int)i);
        }
    int status = period_solve(o, 1, m, x);
    for (size_t j = 0; status == 0 && j < (size_t)m; j++) {
        for (size_t i = 0; i < n; i++) w[j * N + i] = x[j * d + i] / o->at.size[i];
        memcpy(w + j * N + n, lambda + j * rows + n + 1, (size_t)o->nq * sizeof *w);
    }
    free(x);
    return status;
}

int periodic_sweep_back(periodic *o, int m, double *w, double *mu)
{
    int status = solver_adjoint(o->c, o->now.tape, m, w, mu, NULL, NULL);
    return status ? run_failed(o, status, "The backward sweep over the orbit failed") : 0;
}

int call_periodic_adjoint(periodic *o, int m, const double *lambda, double *mu)
{
    double *w;
    TRY(wanted(o, m, lambda, mu));
    TRY(room(o, (size_t)o->N * (size_t)m, &w));
    int status = periodic_multipliers_of(o, m, lambda, w);
    if (status == 0) status = periodic_sweep_back(o, m, w, mu);
    free(w);
    return status;
}

/* ---- Hessian products ---- */

typedef struct {
    periodic *o;
    int m;
    double *X, *V, *Z;          /* rows; rows by m; (N + d) by m */
    double *lambda, *lambda2;   /* rows; rows by m: of the functional */
    double *w, *w2;             /* N; N by m: seeds of the sweeps */
    double *dy, *dT, *T;        /* N by m; m; 1 + m: directions; with respect to T */
    double *by_y, *by_y2;       /* N; N by m: results of the second-order sweep */
    double *mu, *mu2;           /* np; np by m */
} products;

static void products_layout(products *h, cursor *at)
{
    const periodic *o = h->o;
    size_t N = (size_t)o->N, rows = N + 1, np = (size_t)o->np, m = (size_t)h->m;
    TAKE(at, rows, &h->X, &h->lambda);
    TAKE(at, rows * m, &h->V, &h->lambda2);
    TAKE(at, N, &h->w, &h->by_y);
    TAKE(at, N * m, &h->w2, &h->dy, &h->by_y2);
    h->Z = take(at, (N + (size_t)o->d) * m);
    TAKE(at, m + 1, &h->dT, &h->T);
    h->mu = take(at, np + 1);
    h->mu2 = take(at, np * m + 1);
}

static int seeds(double t1, const double *y, const double *p, int m, const double *V, const double *Vp, double *lambda,
                 double *mu, double *lambda2, double *mu2, void *ctx)
{
    const products *h = ctx;
    size_t N = (size_t)h->o->N;
    (void)t1, (void)y, (void)p, (void)V, (void)Vp, (void)mu, (void)mu2;
    memcpy(lambda, h->w, N * sizeof *lambda);
    memcpy(lambda2, h->w2, N * (size_t)m * sizeof *lambda2);
    return 0;
}

/* the gradient of w . (Phi, Psi) at the orbit, and its derivatives along (dy, dT, Vp), where w changes by w2 */
static int second_sweep(products *h, const double *Vp)
{
    periodic *o = h->o;
    costate_times along = {.t1 = h->dT}, times2 = {.t1 = h->T};
    costate_second s = {.m = h->m, .V = h->dy, .Vp = Vp, .along = o->free_T ? &along : NULL, .seed = seeds,
                        .ctx = h, .lambda = h->by_y, .mu = h->mu, .lambda2 = h->by_y2, .mu2 = h->mu2,
                        .times2 = o->free_T ? &times2 : NULL};
    int status = solver_hessian(o->c, o->now.tape, &s);
    return status ? run_failed(o, status, "The second-order sweep over the orbit failed") : 0;
}

static int call_seed(products *h, const double *Vp, costate_periodic_seed seed, void *ctx, double *mu, double *mu2)
{
    periodic *o = h->o;
    memcpy(h->X, o->now.y, (size_t)o->n * sizeof *h->X);
    h->X[o->n] = o->now.T;
    memcpy(h->X + o->n + 1, o->now.end + o->n, (size_t)o->nq * sizeof *h->X);
    int r = seed(h->X, o->p, h->m, h->V, Vp, h->lambda, mu, h->lambda2, mu2, ctx);
    return r ? fail(&o->v, COSTATE_CALLBACK, "seed returned %d.", r) : 0;
}

/* h->w2, dy, dT <- what the second-order sweep is given: only the weights of q change, and the orbit */
static void along_orbit(products *h)
{
    const periodic *o = h->o;
    size_t n = (size_t)o->n, N = (size_t)o->N, rows = N + 1;
    for (size_t j = 0; j < (size_t)h->m; j++) {
        memcpy(h->dy + j * N, h->V + j * rows, n * sizeof *h->dy);
        memcpy(h->w2 + j * N + n, h->lambda2 + j * rows + n + 1, (size_t)o->nq * sizeof *h->w2);
        h->dT[j] = h->V[j * rows + n];
    }
}

/* lambda2 <- the right-hand side for the derivative of w */
static void add_changes(products *h)
{
    const periodic *o = h->o;
    size_t n = (size_t)o->n, N = (size_t)o->N, rows = N + 1;
    for (size_t j = 0; j < (size_t)h->m; j++) {
        double *to = h->lambda2 + j * rows;
        for (size_t i = 0; i < n; i++) to[i] += h->by_y2[j * N + i];
        to[n] += h->T[j];
        memset(to + n + 1, 0, (size_t)o->nq * sizeof *to);
    }
}

static int product(products *h, const double *Vp, costate_periodic_seed seed, void *ctx, double *mu, double *mu2)
{
    periodic *o = h->o;
    size_t np = (size_t)o->np;
    TRY(tangent(o, h->m, Vp, h->V, h->Z));
    TRY(call_seed(h, Vp, seed, ctx, mu, mu2));
    TRY(periodic_multipliers_of(o, 1, h->lambda, h->w));
    along_orbit(h);
    TRY(second_sweep(h, Vp));
    add_changes(h);
    TRY(periodic_multipliers_of(o, h->m, h->lambda2, h->w2));
    TRY(periodic_sweep_back(o, h->m, h->w2, mu2));
    for (size_t i = 0; i < np; i++) mu[i] += h->mu[i];
    for (size_t i = 0; i < np * (size_t)h->m; i++) mu2[i] += h->mu2[i];
    return 0;
}

int call_periodic_hessian(periodic *o, int m, const double *Vp, costate_periodic_seed seed, void *ctx, double *mu,
                          double *mu2)
{
    products h = {.o = o, .m = m};
    cursor at = {0};
    double *block;
    TRY(wanted(o, m, Vp, mu2));
    if (!seed || !mu)
        return fail(&o->v, COSTATE_BAD_ARGUMENT, "%s is NULL.", seed ? "mu" : "seed");
    products_layout(&h, &at);
    TRY(room(o, at.used, &block));
    at = (cursor){.base = block};
    products_layout(&h, &at);
    int status = product(&h, Vp, seed, ctx, mu, mu2);
    free(block);
    return status;
}
