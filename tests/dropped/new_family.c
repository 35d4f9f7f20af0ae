/* new_family.c - two methods with the same coefficients, of two families, give the same run and derivatives up to
   round-off: by the functions of costate.h alone.  new_family builds it:

       new_family ERK-METHOD METHOD-OF-THE-NEW-FAMILY */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "problems.h"

enum { M = 2, N = 8, STORES = 3 };
static const int stores[STORES] = {COSTATE_ALL_STAGES, COSTATE_STATES_ONLY, COSTATE_CHECKPOINTS};

/* (y, q) at the end, in between; tangents; a gradient with respect to y, p, t0, t1; Hessian products */
typedef struct { double y[N], seen[N], V[N * M], lambda[N], mu[N], t[2], lambda2[N * M], mu2[N * M]; } numbers;

/* of sum_k (u_k + u_k^2/2), u = (y, q) at the end; N: rows of V, from ctx */
static int seed2(double t1, const double *y, const double *p, int m, const double *V, const double *Vp, double *lambda,
                 double *mu, double *lambda2, double *mu2, void *ctx)
{
    int rows = *(const int *)ctx;
    (void)t1; (void)p; (void)Vp; (void)mu; (void)mu2;
    for (int k = 0; k < rows; k++) lambda[k] = 1 + y[k];
    for (int k = 0; k < rows * m; k++) lambda2[k] = V[k];
    return 0;
}

static int run(const char *name, const problem *b, int storage, numbers *x, int *steps)
{
    costate_options o = {.rtol = 1e-6, .atol = 1e-8, .storage = storage, .checkpoints = 10};
    costate *c = costate_new(costate_method_find(name), &b->P, &o);
    costate_tape *tape = costate_tape_new();
    int rows = b->P.n + b->P.nq, status;
    double V[N * M] = {0}, Vp[N * M] = {0};
    for (int k = 0; k < rows * M; k++) V[k] = k < M * rows && k % rows < b->P.n ? 1.0 / (k + 1) : 0;
    for (int k = 0; k < b->P.np * M; k++) Vp[k] = 0.5 - k;
    memcpy(x->y, b->y0, (size_t)b->P.n * sizeof *x->y);
    memcpy(x->V, V, sizeof V);
    status = costate_integrate(c, b->t0, b->t1, x->y, b->p0, tape);
    if (status == COSTATE_OK) status = costate_tape_eval(c, tape, 0.3 * b->t0 + 0.7 * b->t1, x->seen);
    if (status == COSTATE_OK) status = costate_tangent(c, tape, M, x->V, Vp, NULL, NULL);
    costate_times times = {.t0 = &x->t[0], .t1 = &x->t[1]};
    costate_second second = {.m = M, .V = V, .Vp = Vp, .seed = seed2, .ctx = &rows, .lambda = x->lambda, .mu = x->mu,
                             .times = &times, .lambda2 = x->lambda2, .mu2 = x->mu2};
    if (status == COSTATE_OK) status = costate_hessian(c, tape, &second);
    double lambda[N], mu[N] = {0};
    for (int k = 0; k < rows; k++) lambda[k] = 1 + x->y[k];
    if (status == COSTATE_OK) status = costate_adjoint(c, tape, 1, lambda, mu, NULL, NULL);
    for (int k = 0; k < rows && status == COSTATE_OK; k++)        /* two ways to the gradient */
        if (!(fabs(lambda[k] - x->lambda[k]) <= 1e-12 * (1 + fabs(lambda[k])))) status = -1;
    if (status != COSTATE_OK) printf("%s: %s\n", name, status == -1 ? "two gradients" : costate_message(c));
    *steps = costate_tape_steps(tape);
    costate_tape_free(tape);
    costate_free(c);
    return status;
}

/* relative to the largest number */
static double gap(const numbers *x, const numbers *z)
{
    const double *a = (const double *)x, *b = (const double *)z;
    double most = 0, size = 0;
    for (size_t k = 0; k < sizeof *x / sizeof *a; k++) {
        double d = fabs(a[k] - b[k]);
        most = d > most || d != d ? d : most;
        size = fmax(size, fabs(b[k]));
    }
    return most / size;
}

int main(int count, char **names)
{
    const problem *b = problem_synthetic(MASS_IDENTITY, 0, 2, 2, 0);
    if (count != 3 || b->P.n + b->P.nq > N || b->P.np > N) return 2;
    for (int k = 0; k < STORES; k++) {
        static numbers x, z;
        int steps, same_steps;
        memset(&x, 0, sizeof x);
        memset(&z, 0, sizeof z);
        if (run(names[1], b, stores[k], &x, &steps) != COSTATE_OK) return 1;
        if (run(names[2], b, stores[k], &z, &same_steps) != COSTATE_OK) return 1;
        double apart = gap(&x, &z);
        printf("storage %d: %d and %d steps, they differ by %.1e\n", stores[k], steps, same_steps, apart);
        if (steps != same_steps || steps < 10 || !(apart <= 1e-12)) return 1;
    }
    return 0;
}
