/* factors.c - the factorisations of a step: (eig_k/h) M - J, one for each real eigenvalue or complex pair.

   ros: one, with eig = 1/gamma.  sdirk: one, eig = 1/gamma.  firk: the eigenvalues of A^-1 (step-maps 3.1).
   A tape that keeps factorisations shares them by reference; a shared set is never overwritten. */
#include <stdlib.h>
#include <string.h>
#include "core.h"

double eigenvalue(const costate_method *m, int k, double *im)
{
    *im = 0;
    if (m->family == COSTATE_ROS) return 1 / m->gamma;
    if (k < m->nreal) return m->eig[k];
    *im = m->eig[m->nreal + 2 * (k - m->nreal) + 1];
    return m->eig[m->nreal + 2 * (k - m->nreal)];
}

int ls_failure(costate *c, const costate_backend *b, int code)
{
    if (code == COSTATE_LS_NO_MEMORY) return fail(&c->v, COSTATE_NO_MEMORY, "The linear solver %s found no memory.", b->name);
    return fail(&c->v, COSTATE_BACKEND, "The linear solver %s failed (code %d).", b->name, code);
}

factors *factors_new(costate *c, const factors *like)
{
    int ros = c->m->family == COSTATE_ROS, nreal = ros ? 1 : c->m->nreal, npair = ros ? 0 : c->m->npair;
    factors *f = calloc(1, sizeof *f + (size_t)(nreal + npair) * sizeof *f->lu);
    if (f && c->matfree && !(f->y = calloc((size_t)c->n, sizeof *f->y))) { free(f); f = NULL; }
    if (!f) { fail(&c->v, COSTATE_NO_MEMORY, "No memory for factorisations."); return NULL; }
    f->refs = 1;
    f->jstep = -1;
    f->nreal = nreal;
    f->npair = npair;
    for (int k = 0; !c->matfree && k < nreal + npair; k++) {
        int code = 0;
        f->lu[k] = LS_Init(c->backend, c->n, c->P.pattern, k >= nreal, like ? like->lu[k] : NULL, &c->count, &code);
        if (!f->lu[k]) { ls_failure(c, c->backend, code); factors_release(f); return NULL; }
    }
    return f;
}

void factors_release(factors *f)
{
    if (!f || --f->refs > 0) return;
    for (int k = 0; k < f->nreal + f->npair; k++) LS_Free(f->lu[k]);
    free(f->y);
    free(f);
}

size_t factors_bytes(const factors *f)
{
    size_t sum = 0;
    for (int k = 0; k < f->nreal + f->npair; k++) sum += f->lu[k] ? LS_Bytes(f->lu[k]) : 0;
    return sum;
}

static int decompose(costate *c, factors *f, double h)
{
    for (int k = 0; k < f->nreal + f->npair; k++) {
        double im, re = eigenvalue(c->m, k, &im);
        int code = LS_Decomp(f->lu[k], re / h, im / h, c->J, c->M);
        if (code > 0) return retry(&c->v, WHY_SINGULAR, 0.5);
        if (code < 0) return ls_failure(c, c->backend, code);
    }
    return 0;
}

int factor(costate *c, double h)
{
    if (c->fac->refs > 1) {
        factors *fresh = factors_new(c, c->fac);
        if (!fresh) return c->v.status;
        factors_release(c->fac);
        c->fac = fresh;
    }
    factors *f = c->fac;
    f->h = 0;
    int status = c->matfree ? matfree_setup(c, f, h) : decompose(c, f, h);
    if (status != 0) return status;
    f->h = h;
    f->jstep = c->jheld;
    return 0;
}

int factors_solve(costate *c, const factors *f, int k, int transpose, int nrhs, double *X)
{
    if (c->matfree) return matfree_solve(c, f, k, transpose, nrhs, X);
    int code = LS_Solve(f->lu[k], transpose, nrhs, X);
    if (code > 0) return retry(&c->v, WHY_NOT_FINITE, 0.5);
    return code < 0 ? ls_failure(c, c->backend, code) : 0;
}
