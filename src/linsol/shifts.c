/* shifts.c - factorisations of sigma M - J: chooses the backend, factors, shares, counts and solves.

   ros and sdirk need one, with sigma h = 1/gamma; firk one for each real eigenvalue or complex pair of A^-1
   (mathematics, eq. 5.8). */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/vec.h"
#include "linsol/gmres.h"
#include "linsol/backends.h"
#include "linsol/shifts.h"

/* ---- the backend; the mass matrix ---- */

/* The choice of a direct solver counts the entries of its factors, which takes as long as many steps with a splitting.
   A preconditioner that is the matrix needs a direct solver for M only; and where it splits, a composite method does
   not prepare its other stiff members. */
static int chosen_later(const shifts *s)
{
    const costate_options *o = s->o;
    int splits = o->solver == COSTATE_LS_AUTO && o->preconditioner && o->preconditioner->splits;
    return !o->backend && (s->fixed || splits);
}

void shifts_choose(shifts *s)
{
    if (!s->later) return;
    s->later = 0;
    s->backend = LS_Choose(COSTATE_LS_AUTO, s->n, s->maps->pattern);
    s->banded = LS_Banded(s->backend);
}

int shifts_init(shifts *s)
{
    const costate_options *o = s->o;
    s->n = s->maps->n;
    s->fixed = o->solver == COSTATE_LS_PRECONDITIONER && !o->backend;
    s->held = s->fixed || s->maps->user.w;
    s->matfree = s->fixed || (o->solver == COSTATE_LS_GMRES && !o->backend);
    s->later = chosen_later(s);
    int solver = s->later ? COSTATE_LS_DENSE : s->matfree ? COSTATE_LS_AUTO : o->solver;
    s->backend = o->backend ? o->backend : LS_Choose(solver, s->n, s->maps->pattern);
    if (!s->backend)
        return fail(s->v, COSTATE_BACKEND, "options.solver = %d: this linear solver is not built in.", o->solver);
    const costate_backend *b = s->backend;
    if (!b->init || !b->factor || !b->solve || !b->free || !b->name)
        return fail(s->v, COSTATE_BAD_ARGUMENT, "options.backend lacks a function or its name.");
    s->banded = LS_Banded(b);
    return 0;
}

const char *shifts_name(const shifts *s)
{
    return s->fixed || s->later ? "preconditioner" : s->matfree ? "gmres" : s->backend->name;
}

/* M is factored once: some families solve systems with M, and all must know whether it is nonsingular. */
static int factor_mass(shifts *s)
{
    int code = 0;
    if (s->maps->residual) s->singular = 1;     /* it may be, here or elsewhere */
    if (s->maps->residual ? s->matfree : !s->maps->M) return 0;
    s->mass = LS_Init(s->backend, s->n, s->maps->pattern, 0, NULL, NULL, &code);
    if (!s->mass) return shifts_failure(s, s->backend, code);
    if (s->maps->residual) return 0;
    code = LS_Decomp(s->mass, 1, 0, NULL, s->maps->M);
    if (code < 0) return shifts_failure(s, s->backend, code);
    s->singular = code > 0;
    return 0;
}

int shifts_prepare(shifts *s, int nreal, int npair, const double *sigma)
{
    s->nreal = nreal;
    s->npair = npair;
    s->sigma = sigma;
    if (!s->fixed || s->maps->M) shifts_choose(s);
    TRY(factor_mass(s));
    return matfree_prepare(s);
}

int mass_divide(shifts *s, int transpose, int m, double *X)
{
    s->maps->count->solves += m;
    return shifts_solve(s, s->mass, transpose, m, X);
}

static int singular_or(shifts *s, int code)
{
    if (code < 0) return shifts_failure(s, s->backend, code);
    return code > 0 ? RETRY : 0;
}

int mass_shift(shifts *s, double sigma, const linearisation *at)
{
    s->maps->count->decompositions++;
    return singular_or(s, LS_Decomp(s->mass, sigma, 0, at->J, at->M));
}

int mass_shift_solve(shifts *s, double *x)
{
    s->maps->count->solves++;
    return singular_or(s, LS_Solve(s->mass, 0, 1, x));
}

void shifts_layout(shifts *s, cursor *at)
{
    s->scaled = take(at, (size_t)s->n);
    if (!s->matfree || s->fixed) return;
    size_t len = (size_t)s->n * (s->npair ? 2 : 1);
    s->krylov = take(at, gmres_work((int)len, 1, matfree_limit()));
    s->weights = take(at, len);
    s->answer = take(at, 4 * len);
    s->pair = take(at, len);
}

void shifts_free(shifts *s)
{
    LS_Free(s->mass);
    LS_Free(s->ilu);
    free(s->ilu_J);
}

/* ---- sets of factorisations ---- */

/* A backend may support only real numbers; its init then rejects complex ones. */
static void refused(shifts *s, int code, int is_complex)
{
    if (!is_complex || code == COSTATE_LS_NO_MEMORY) shifts_failure(s, s->backend, code);
    else fail(s->v, COSTATE_BACKEND, "The linear solver %s does not take complex matrices (code %d), which method %s "
              "needs: choose another linear solver, or a method of the families sdirk or ros.", s->backend->name, code,
              s->maps->method);
}

factors *factors_new(shifts *s, const factors *like)
{
    factors *f = calloc(1, sizeof *f + (size_t)(s->nreal + s->npair) * sizeof *f->lu);
    if (f && s->matfree && !(f->y = calloc(2 * (size_t)s->n, sizeof *f->y))) { free(f); f = NULL; }
    if (f && f->y && s->maps->residual) f->yp = f->y + s->n;
    if (!f) { fail(s->v, COSTATE_NO_MEMORY, "No memory for factorisations."); return NULL; }
    f->refs = 1;
    f->nreal = s->nreal;
    f->npair = s->npair;
    for (int k = 0; !s->matfree && k < s->nreal + s->npair; k++) {
        int code = 0;
        f->lu[k] = LS_Init(s->backend, s->n, s->maps->pattern, k >= s->nreal, like ? like->lu[k] : NULL, s->maps->count,
                           &code);
        if (f->lu[k] && s->maps->index) code = LS_Balance(f->lu[k]);
        if (code) { refused(s, code, k >= s->nreal); factors_release(f); return NULL; }
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

int factors_fit(const factors *f, const linearisation *at, double h)
{
    return f->h == h && at->serial != 0 && f->serial == at->serial;
}

void factors_forget(factors *f) { if (f) f->serial = 0; }

void factors_reset(factors *f)
{
    factors_forget(f);
    if (f && f->refs == 1) f->h = 0;          /* a shared set also belongs to the tape */
}

static int decompose(shifts *s, factors *f, const linearisation *at, double h)
{
    for (int k = 0; k < f->nreal + f->npair; k++) {
        double im, re = shifts_sigma(s, k, &im);
        int code = LS_Decomp(f->lu[k], re / h, im / h, at->J, at->M);
        if (code > 0) return retry(s->v, WHY_SINGULAR);
        if (code < 0) return shifts_failure(s, s->backend, code);
    }
    return 0;
}

int shifts_factor(shifts *s, const linearisation *at, double h, factors **set)
{
    if ((*set)->refs > 1) {
        factors *fresh = factors_new(s, *set);
        if (!fresh) return s->v->status;
        factors_release(*set);
        *set = fresh;
    }
    factors *f = *set;
    f->h = 0;
    f->t = at->t;
    if (f->y) memcpy(f->y, at->y, (size_t)s->n * sizeof *f->y);
    if (f->yp) memcpy(f->yp, at->yp, (size_t)s->n * sizeof *f->yp);
    TRY(s->matfree ? matfree_setup(s, f, h) : decompose(s, f, at, h));
    f->h = h;
    f->serial = at->serial;
    return 0;
}

int factors_iterate(shifts *s, const factors *f, int k, int transpose, int nrhs, const accuracy *to, double *X)
{
    return s->fixed ? matfree_apply(s, transpose, nrhs, X) : matfree_solve(s, f, k, transpose, nrhs, to, X);
}
