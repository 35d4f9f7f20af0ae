/* one_stage.c (irk) - the algebra of blocks of one stage, which all have one matrix: sdirk, and firk with s = 1. */
#include "irk/irk.h"
#include "linsol/gmres.h"

static int one_stage_solve(stepper *c, const factors *f, int transpose, int m, const accuracy *to, double *Z)
{
    return factors_solve(c->sh, f, 0, transpose, m, to, Z);
}

/* (1/(gamma h)) M(i) - J(i) */
static int exact_factor(const stage_system *s)
{
    stepper *c = s->c;
    irk_work *a = c->own;
    int code = 0, i = s->block;
    double im;
    if (!a->systems.exact)
        a->systems.exact = LS_Init(c->sh->backend, c->n, c->maps->pattern, 0, c->fac->lu[0], c->maps->count, &code);
    if (a->systems.exact && c->maps->index) code = LS_Balance(a->systems.exact);
    if (code) return irk_exact_status(s, code);
    costate_point x = irk_stage_point(c, s->r, i);
    TRY(jacobian(c->maps, &x, c->w, a->J, a->M));
    return irk_exact_status(s, LS_Decomp(a->systems.exact, shifts_sigma(c->sh, 0, &im) / s->r->h, 0, a->J, a->M));
}

static int exact_solve(const stage_system *s, int m, int from, int to, double *X)
{
    (void)m;
    return irk_exact_columns(s, to - from, X + (size_t)from * (size_t)s->c->n);
}

static int exact_column(const stage_system *s, double *x) { return irk_exact_columns(s, 1, x); }

static void exact_moduli(const stage_system *s, const double *x, double *size)
{
    LS_AddModuli(work(s->c)->systems.exact, s->transpose, x, size);
}

/* Exact matrices make tangent and adjoint transposes to round-off at any condition number.  From about n = 35 on, a
   dense factorisation for each stage costs more than one factorisation with iterations (mathematics, section 8.4), but
   up to n = 100 this is a small part of a run. */
const block_algebra irk_one_stage = {
    .most_columns = GMRES_COLUMNS,
    .direct_most = 100,
    .band_most = 100,
    .preconditioned = 1,
    .solve = one_stage_solve,
    .exact_factor = exact_factor,
    .exact_solve = exact_solve,
    .exact_column = exact_column,
    .exact_moduli = exact_moduli,
};
