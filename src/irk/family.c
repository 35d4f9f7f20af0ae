/* family.c (irk) - the work space of implicit Runge-Kutta methods, and what their tables share. */
#include <stdlib.h>
#include "irk/irk.h"

int irk_prepare(stepper *c, const block_algebra *by)
{
    TRY(own_new(c, sizeof(irk_work)));
    irk_work *a = c->own;
    a->by = by;
    size_t entries = c->maps->entries;
    size_t all = (c->maps->residual ? 2 : 1) * entries;
    if (!c->sh->matfree && !(a->J = calloc(all + 1, sizeof *a->J)))
        return fail(c->v, COSTATE_NO_MEMORY, "No memory for the Jacobian (%zu entries).", entries);
    a->M = c->maps->residual && a->J ? a->J + entries : c->maps->M;
    TRY(shifts_prepare(c->sh, c->m->nreal, c->m->npair, c->m->eig));
    c->fac = factors_new(c->sh, NULL);
    return c->fac ? 0 : c->v->status;
}

void irk_free(void *own)
{
    irk_work *a = own;
    if (!a) return;
    LS_Free(a->systems.exact);
    if (a->algebra) a->by->free(a->algebra);
    free(a->J);
    free(a);
}

void irk_layout(stepper *c, cursor *at)
{
    irk_work *a = c->own;
    size_t n = (size_t)c->n, nq = (size_t)c->nq, k = (size_t)c->m->block;
    TAKE(at, n, &a->Y, &a->v1, &a->v2, &a->f0, &a->k, &a->slope_of_part);
    a->w = take(at, (size_t)c->N);
    a->wn = c->maps->index ? take(at, n) : NULL;
    a->r = take(at, nq);
    a->error_b = take(at, 1 + (size_t)c->s);
    a->R = take(at, 2 * k * n);
    a->last = take(at, k * n);
    a->continued = (continuation){.weights = take(at, (size_t)c->s * (size_t)c->s)};
    a->pair = take(at, 2 * n);
    irk_inexact_layout(c, at);
}

void irk_layout_derivatives(stepper *c, cursor *at, int m)
{
    irk_work *a = c->own;
    size_t n = (size_t)c->n, s = (size_t)c->s, stride = n * (size_t)m, block = (size_t)c->m->block;
    size_t together = (size_t)irk_stage_together(c, m);
    TAKE(at, s * n, &a->systems.stage, &a->systems.slope);
    a->systems.kdot = take(at, stride);
    a->systems.MU = equation_plain(c->maps) ? NULL : take(at, s * stride);
    a->systems.MX = equation_plain(c->maps) ? NULL : take(at, s * stride);
    a->systems.column = take(at, irk_stage_work(c, m));
    a->systems.rhs = take(at, s * stride);
    a->systems.weights = take(at, block * n);
    a->systems.krylov = take(at, irk_stage_krylov(c, m));
    columns_layout(c, at, m, &a->systems.columns);
    irk_stage_layout(c, at, m);
    a->systems.f0dot = take(at, stride);
    a->systems.split = take(at, block > 1 ? together * block * n : 0);
    a->systems.pairs = take(at, block > 1 ? together * 2 * n : 0);
    a->systems.sum = take(at, stride);
}

void irk_layout_second(stepper *c, cursor *at, int m)
{
    irk_work *a = c->own;
    size_t n = (size_t)c->n, columns = (size_t)m, s = (size_t)c->s;
    a->jet.P = take(at, s * n * (columns + 1));
    a->jet.Kd = take(at, s * n * columns);
    TAKE(at, n, &a->jet.u, &a->jet.by_k);
}

/* bhat - b from e + ex = (bhat - b)^T W:  A^T (e + ex),  of stage -1 e0 + e^T a,  a = A g */
void irk_ready(stepper *c)
{
    const costate_method *m = c->m;
    double *first = work(c)->error_b, *error_b = first + 1;
    for (int i = 0; m->est.e && i < m->s; i++) {
        double a = 0;
        for (int j = 0; j < m->s; j++) {
            error_b[i] += (m->est.e[j] + (m->est.ex ? m->est.ex[j] : 0)) * m->A[j * m->s + i];
            if (m->g) a += m->A[i * m->s + j] * m->g[j];
        }
        *first += m->est.e[i] * a;
    }
    if (m->est.e) *first += m->est.e0;
}

void irk_restart(stepper *c)
{
    irk_work *a = c->own;
    a->theta = 0;
    a->tried = 0;
    irk_sweep(c);
}

void irk_sweep(stepper *c)
{
    guesses_clear(&work(c)->systems.guesses);
    work(c)->systems.last_krylov = 0;
    if (work(c)->by->restart && work(c)->algebra) work(c)->by->restart(work(c)->algebra);
}

/* Jacobian and factorisation are kept while Newton contracts fast and h would change little. */
double irk_keep(stepper *c, double factor)
{
    if (irk_inexact(c)) return factor;
    double theta = work(c)->theta;
    if (theta > c->o->theta_reuse || c->o->theta_reuse < 0) linearisation_outdate(&c->lin);
    return c->lin.serial && factor >= c->o->q_min && factor <= c->o->q_max ? 1 : factor;
}
