/* multipliers.c (periodic) - Floquet multipliers, the eigenvalues of Phi_y, and their gradients (mathematics, eq. 16.9
   to 16.10).

   A simple multiplier rho with Phi_y v = rho v, u^T Phi_y = rho u^T and u^T v = 1 has

       d rho = u^T (d Phi_y) v,

   where d Phi_y is the change with p and, through the orbit, with y0 and T: a functional of the orbit, whose partial
   derivatives are those of the tangent u^T Phi_y v, from one second-order sweep along v with the seed u.  Of complex
   u = c + i d, v = a + i b there are two sweeps along (a, b), with the seeds c and d. */
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/modulus.h"
#include "linsol/backends.h"
#include "linsol/eigenvalues.h"
#include "periodic/periodic.h"
#include "sweeps/second.h"

/* inverse iteration: the shift is this close to the multiplier, so that one solution nearly suffices */
static const double OFF = 16 * DBL_EPSILON;
enum { SOLUTIONS = 2 };
/* Where an error e of Phi_y splits a double multiplier, its condition number is about e^(-1/2).  A multiplier whose
   square of that times so many tolerances exceeds 1 is therefore not simple. */
static const double ERRORS = 10;

/* ---- eigenvalues ---- */

static int comes_first(const periodic *o, int a, int b)
{
    double x = modulus(o->re[a], o->im[a]), y = modulus(o->re[b], o->im[b]);
    return x > y;
}

static void exchange(periodic *o, int a, int b)
{
    double re = o->re[a], im = o->im[a];
    o->re[a] = o->re[b];
    o->im[a] = o->im[b];
    o->re[b] = re;
    o->im[b] = im;
}

/* stable: the two of a pair have the same modulus and stay together */
static void sort(periodic *o)
{
    for (int i = 1; i < o->n; i++)
        for (int k = i; k > 0 && comes_first(o, k, k - 1); k--) exchange(o, k, k - 1);
}

static void monodromy(const periodic *o, double *A)
{
    size_t n = (size_t)o->n, N = (size_t)o->N;
    for (size_t j = 0; j < n; j++) memcpy(A + j * n, o->at.V + j * N, n * sizeof *A);
}

/* the largest modulus of those multipliers that are left when the `trivial` ones, those closest to 1, are left out */
static double judged(const periodic *o, int trivial, char *left_out)
{
    double most = 0;
    for (; trivial > 0; trivial--) {
        int best = -1;
        for (int k = 0; k < o->n; k++) {
            if (left_out[k]) continue;
            if (best < 0 || modulus(o->re[k] - 1, o->im[k]) < modulus(o->re[best] - 1, o->im[best])) best = k;
        }
        left_out[best] = 1;
    }
    for (int k = 0; k < o->n; k++) if (!left_out[k]) most = fmax(most, modulus(o->re[k], o->im[k]));
    return most;
}

int multipliers_judge(periodic *o)
{
    monodromy(o, o->A);
    if (eigenvalues(o->n, o->A, o->re, o->im))
        return fail(&o->v, COSTATE_NOT_FINITE, "The multipliers of the orbit could not be computed: the tangents of "
                    "one period are not finite, or the QR iteration did not converge.");
    sort(o);
    char *left_out = calloc((size_t)o->n, 1);
    if (!left_out) return fail(&o->v, COSTATE_NO_MEMORY, "No memory for the multipliers.");
    int trivial = o->free_T + o->o.ninvariants;
    o->orbit.multiplier = judged(o, trivial < o->n ? trivial : o->n, left_out);
    o->orbit.stable = o->orbit.multiplier < 1;
    free(left_out);
    return 0;
}

int call_periodic_multipliers(periodic *o, double *re, double *im)
{
    TRY(periodic_needs_orbit(o));
    if (!re || !im) return fail(&o->v, COSTATE_BAD_ARGUMENT, "%s is NULL.", re ? "im" : "re");
    memcpy(re, o->re, (size_t)o->n * sizeof *re);
    memcpy(im, o->im, (size_t)o->n * sizeof *im);
    return 0;
}

/* ---- the gradient of one ---- */

typedef struct {
    periodic *o;
    double re, im;
    int parts;                  /* 1: real, 2: complex */
    double *A, *v, *u;          /* n*n; n complex numbers each */
    double *V;                  /* N by 2: Re v, Im v */
    double *seed;               /* N: Re u or Im u */
    double *lambda, *mu;        /* n + 1 + nq by 2, np by 2: partial derivatives of Re rho, Im rho */
    double *by_y, *by_y2, *by_p, *by_p2, *T;        /* N, N by 2, np, np by 2, 2: results of a sweep */
    double *w;                  /* N by 2 */
} gradient;

static void layout(gradient *g, cursor *at)
{
    const periodic *o = g->o;
    size_t n = (size_t)o->n, N = (size_t)o->N, np = (size_t)o->np;
    g->A = take(at, n * n);
    TAKE(at, 2 * n, &g->v, &g->u);
    TAKE(at, 2 * N, &g->V, &g->by_y2, &g->w);
    TAKE(at, N, &g->seed, &g->by_y);
    g->lambda = take(at, 2 * (N + 1));
    TAKE(at, 2 * np + 1, &g->mu, &g->by_p, &g->by_p2);
    g->T = take(at, 2);
}

/* x <- the eigenvector of Phi_y, or of its transpose, for the multiplier; in scaled units of length 1 */
static int vector(gradient *g, LS *lu, int transpose, double *x)
{
    const double *size = g->o->at.size;
    int n = g->o->n;
    for (int i = 0; i < n; i++) {
        x[2 * i] = cos(i + 1) * (transpose ? 1 / size[i] : size[i]);
        x[2 * i + 1] = 0;
    }
    for (int k = 0; k < SOLUTIONS; k++) {
        double sum = 0;
        if (LS_Solve(lu, transpose, 1, x) != COSTATE_LS_OK) return 1;
        for (int i = 0; i < 2 * n; i++) {
            double s = transpose ? x[i] * size[i / 2] : x[i] / size[i / 2];
            sum += s * s;
        }
        if (!(sum > 0 && sum < HUGE_VAL)) return 1;
        for (int i = 0; i < 2 * n; i++) x[i] /= sqrt(sum);
    }
    return 0;
}

/* u <- u / (u^T v); *condition <- 1/|u^T v| */
static void normalise(gradient *g, double *condition)
{
    double re = 0, im = 0;
    for (int i = 0; i < g->o->n; i++) {
        const double *u = g->u + 2 * i, *v = g->v + 2 * i;
        re += u[0] * v[0] - u[1] * v[1];
        im += u[0] * v[1] + u[1] * v[0];
    }
    double square = re * re + im * im;
    *condition = 1 / sqrt(square);
    for (int i = 0; i < g->o->n; i++) {
        double a = g->u[2 * i], b = g->u[2 * i + 1];
        g->u[2 * i] = (a * re + b * im) / square;
        g->u[2 * i + 1] = (b * re - a * im) / square;
    }
}

static int vectors(gradient *g)
{
    periodic *o = g->o;
    int status, n = o->n;
    double condition = HUGE_VAL, off = OFF * fmax(modulus(g->re, g->im), DBL_MIN);
    LS *lu = LS_Init(&LS_dense, n, NULL, 1, NULL, &o->count, &status);
    if (!lu) return fail(&o->v, COSTATE_NO_MEMORY, "No memory for the eigenvectors of a multiplier.");
    monodromy(o, g->A);
    int failed = LS_Decomp(lu, g->re, g->im, g->A, NULL);
    for (int k = 0; failed > 0 && k < 8; k++, off *= 16) failed = LS_Decomp(lu, g->re + off, g->im, g->A, NULL);
    failed = failed || vector(g, lu, 0, g->v) || vector(g, lu, 1, g->u);
    LS_Free(lu);
    if (!failed) normalise(g, &condition);
    if (condition * condition * ERRORS * o->rtol < 1) return 0;
    return fail(&o->v, COSTATE_SINGULAR, "The multiplier %.6g%+.6gi is not simple to within the accuracy of the run "
                "(its condition number is %.2g): it has no gradient.", g->re, g->im, condition);
}

static int seeds(double t1, const double *y, const double *p, int m, const double *V, const double *Vp, double *lambda,
                 double *mu, double *lambda2, double *mu2, void *ctx)
{
    const gradient *g = ctx;
    (void)t1, (void)y, (void)p, (void)m, (void)V, (void)Vp, (void)mu, (void)lambda2, (void)mu2;
    memcpy(lambda, g->seed, (size_t)g->o->N * sizeof *lambda);
    return 0;
}

/* adds the partial derivatives of sign * seed^T Phi_y (column j of V) to those of the real or imaginary part */
static void add(gradient *g, int j, int part, double sign)
{
    const periodic *o = g->o;
    size_t N = (size_t)o->N, np = (size_t)o->np;
    double *to = g->lambda + (size_t)part * (N + 1), *mu = g->mu + (size_t)part * np;
    for (size_t i = 0; i < (size_t)o->n; i++) to[i] += sign * g->by_y2[(size_t)j * N + i];
    to[o->n] += sign * g->T[j];
    for (size_t i = 0; i < np; i++) mu[i] += sign * g->by_p2[(size_t)j * np + i];
}

/* with Re u (which: 0) or Im u (1) as the seed: u^T v = (c^T a - d^T b) + i (c^T b + d^T a) */
static int sweep_with(gradient *g, int which)
{
    periodic *o = g->o;
    costate_times times2 = {.t1 = g->T};
    costate_second s = {.m = g->parts, .V = g->V, .seed = seeds, .ctx = g, .lambda = g->by_y, .mu = g->by_p,
                        .lambda2 = g->by_y2, .mu2 = g->by_p2,
                        .times2 = o->free_T ? &times2 : NULL};
    for (int i = 0; i < o->n; i++) g->seed[i] = g->u[2 * i + which];
    memset(g->by_p2, 0, 2 * (size_t)o->np * sizeof *g->by_p2);              /* the sweep adds to it */
    int status = solver_hessian(o->c, o->now.tape, &s);
    if (status) return run_failed(o, status, "The second-order sweep of a multiplier failed");
    add(g, 0, which, 1);
    if (g->parts == 2) add(g, 1, 1 - which, which ? -1 : 1);
    return 0;
}

static int differentiate(gradient *g, double *re, double *im)
{
    periodic *o = g->o;
    size_t N = (size_t)o->N, np = (size_t)o->np;
    TRY(vectors(g));
    for (size_t i = 0; i < (size_t)o->n; i++)
        for (size_t j = 0; j < 2; j++) g->V[j * N + i] = g->v[2 * i + j];
    for (int which = 0; which < g->parts; which++) TRY(sweep_with(g, which));
    TRY(periodic_multipliers_of(o, 2, g->lambda, g->w));
    TRY(periodic_sweep_back(o, 2, g->w, g->mu));
    memcpy(re, g->mu, np * sizeof *re);
    if (im) memcpy(im, g->mu + np, np * sizeof *im);
    return 0;
}

int call_periodic_multiplier_gradient(periodic *o, int k, double *re, double *im)
{
    cursor at = {0};
    TRY(periodic_needs_orbit(o));
    if (k < 0 || k >= o->n)
        return fail(&o->v, COSTATE_OUT_OF_RANGE, "k = %d: there are %d multipliers, from 0 on.", k, o->n);
    if (!re) return fail(&o->v, COSTATE_BAD_ARGUMENT, "re is NULL.");
    gradient g = {.o = o, .re = o->re[k], .im = o->im[k], .parts = o->im[k] != 0 ? 2 : 1};
    layout(&g, &at);
    double *block = calloc(at.used + 1, sizeof *block);
    if (!block) return fail(&o->v, COSTATE_NO_MEMORY, "No memory for the gradient of a multiplier.");
    at = (cursor){.base = block};
    layout(&g, &at);
    int status = differentiate(&g, re, im);
    free(block);
    return status;
}
