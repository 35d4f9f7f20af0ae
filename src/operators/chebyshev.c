/* chebyshev.c - costate_chebyshev: k terms of Chebyshev's iteration as a fixed linear operator.

   With z = B (b - K x), K = sigma M - L, theta = (hi + lo)/2, delta = (hi - lo)/2 (mathematics, eq. 6.34 and 6.35;
   Saad, Iterative methods for sparse linear systems, 2nd ed., algorithm 12.1, with c_j = rho_j/delta):

       z = B b,   c_0 = 1/theta,   x = d = c_0 z
       z <- z - B K d,   c_j = 1/(2 theta - delta^2 c_{j-1}),   d <- delta^2 c_j c_{j-1} d + 2 c_j z,   x <- x + d

   (p(B K) B)^T = B^T p(K^T B^T) = p(B^T K^T) B^T: the transpose is the same with B^T and K^T. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include "base/pattern.h"
#include "maps/callbacks.h"
#include "maps/maps.h"
#include "operators/chebyshev.h"

static int code(costate_chebyshev *c, int r, const char *name)
{
    if (!r) return 0;
    fail(&c->v, r > 0 ? RETRY : COSTATE_CALLBACK, "polynomial.%s returned %d.", name, r);
    return c->v.status;
}

static int apply_inner(costate_chebyshev *c, int transpose, int count, double *X)
{
    const costate_preconditioner *B = c->given.inner;
    if (B->solves && (count > 1 || !B->solve)) return code(c, B->solves(transpose, count, X, B->ctx), "inner->solves");
    for (int j = 0; j < count; j++) TRY(code(c, B->solve(transpose, X + (size_t)j * c->n, B->ctx), "inner->solve"));
    return 0;
}

/* Kd <- (sigma M - L) d, or its transpose */
static int apply_K(costate_chebyshev *c, int transpose, int count)
{
    const costate_polynomial *g = &c->given;
    size_t n = c->n;
    for (int j = 0; j < count; j++) {
        const double *d = c->d + (size_t)j * n;
        double *Kd = c->Kd + (size_t)j * n;
        TRY(code(c, g->apply(transpose, d, Kd, g->ctx), "apply"));
        for (size_t i = 0; i < n; i++) Kd[i] = c->M ? -Kd[i] : c->sigma * d[i] - Kd[i];
        if (c->M) pattern_multiply((int)n, c->pattern, c->M, transpose, c->sigma, 1, d, Kd);
    }
    return 0;
}

static int iterate(costate_chebyshev *c, int transpose, int count, double *X)
{
    const costate_polynomial *g = &c->given;
    const double theta = (g->hi + g->lo) / 2, delta = (g->hi - g->lo) / 2;
    size_t size = c->n * (size_t)count;
    double before = 1 / theta;
    memcpy(c->z, X, size * sizeof *X);
    TRY(apply_inner(c, transpose, count, c->z));
    for (size_t i = 0; i < size; i++) X[i] = c->d[i] = before * c->z[i];
    for (int k = 1; k < g->terms; k++) {
        double now = 1 / (2 * theta - delta * delta * before), keep = delta * delta * now * before;
        TRY(apply_K(c, transpose, count));
        TRY(apply_inner(c, transpose, count, c->Kd));
        for (size_t i = 0; i < size; i++) {
            c->z[i] -= c->Kd[i];
            c->d[i] = keep * c->d[i] + 2 * now * c->z[i];
            X[i] += c->d[i];
        }
        before = now;
    }
    return 0;
}

static int setup(double sigma, const costate_point *x, void *ctx)
{
    costate_chebyshev *c = ctx;
    const costate_preconditioner *B = c->given.inner;
    if (c->broken) return c->v.status;
    verdict_clear(&c->v);
    c->was_set_up = 0;
    TRY(code(c, B->setup ? B->setup(sigma, x, B->ctx) : 0, "inner->setup"));
    c->sigma = sigma;
    c->was_set_up = 1;
    return 0;
}

static int solves(int transpose, int count, double *X, void *ctx)
{
    costate_chebyshev *c = ctx;
    if (c->broken) return c->v.status;
    verdict_clear(&c->v);
    if (!c->was_set_up)
        return fail(&c->v, COSTATE_BAD_ARGUMENT, "A Chebyshev polynomial is applied without a setup that succeeded.");
    for (int width; count > 0; count -= width, X += (size_t)width * c->n) {
        width = count < c->given.columns ? count : c->given.columns;
        TRY(iterate(c, transpose, width, X));
    }
    return 0;
}

static int chebyshev_solve(int transpose, double *x, void *ctx) { return solves(transpose, 1, x, ctx); }

static int chebyshev_make(costate_chebyshev *c, const costate_problem *P, const costate_polynomial *given)
{
    TRY(chebyshev_given(c, P, given));
    c->n = (size_t)P->n;
    c->given = *given;
    c->pattern = P->pattern;
    if (!given->ctx) c->given.ctx = P->ctx;
    if (!given->columns) c->given.columns = 1;
    TRY(mass_read(&c->v, P->mass, P->ctx, pattern_entries(P->pattern, P->n), &c->M));
    size_t columns = (size_t)c->given.columns;
    if (columns <= SIZE_MAX / 3 / sizeof *c->z / c->n) c->z = malloc(3 * columns * c->n * sizeof *c->z);
    if (!c->z)
        return fail(&c->v, COSTATE_NO_MEMORY, "No memory for a Chebyshev polynomial (n = %zu, %zu columns).", c->n,
                    columns);
    c->d = c->z + columns * c->n;
    c->Kd = c->d + columns * c->n;
    return 0;
}

costate_chebyshev *costate_chebyshev_new(const costate_problem *P, const costate_polynomial *given)
{
    costate_chebyshev *c = calloc(1, sizeof *c);
    if (!c) return NULL;
    verdict_clear(&c->v);
    c->operator = (costate_preconditioner){.setup = setup, .solve = chebyshev_solve, .ctx = c, .solves = solves,
                                           .splits = 1};
    c->broken = chebyshev_make(c, P, given) != 0;
    return c;
}

void costate_chebyshev_free(costate_chebyshev *c)
{
    if (!c) return;
    free(c->M);
    free(c->z);
    free(c);
}

const costate_preconditioner *costate_chebyshev_preconditioner(costate_chebyshev *c) { return c ? &c->operator : NULL; }

int costate_chebyshev_status(const costate_chebyshev *c) { return c ? c->v.status : COSTATE_NO_MEMORY; }

const char *costate_chebyshev_message(const costate_chebyshev *c)
{
    return c ? c->v.text : "No memory for the Chebyshev polynomial.";
}
