/* family.c (erk) - the table of explicit Runge-Kutta methods, and their work space. */
#include <stdlib.h>
#include "erk/erk.h"

static int prepare(stepper *c)
{
    TRY(own_new(c, sizeof(erk_work)));
    return shifts_prepare(c->sh, 0, 0, NULL);
}

static void erk_layout(stepper *c, cursor *at)
{
    erk_work *a = c->own;
    a->Y = take(at, (size_t)c->n);
    a->v = take(at, (size_t)c->N);
    a->r = take(at, (size_t)c->nq);
    a->At = take(at, (size_t)c->s * (size_t)c->s);
    if (spectrum_products(c->maps)) spectrum_layout(c, at);
}

static void ready(stepper *c)
{
    const costate_method *m = c->m;
    erk_work *a = c->own;
    for (int i = 0; i < m->s; i++) {
        double *column = a->At + i * m->s;
        a->used[i] = m->b[i] != 0;
        for (int k = i + 1; k < m->s; k++) {
            column[k] = m->A[k * m->s + i];
            if (column[k] != 0) a->used[i] = 1;
        }
    }
}

static void layout_derivatives(stepper *c, cursor *at, int m)
{
    erk_work *a = c->own;
    columns_layout(c, at, m, &a->columns);
}

static void layout_second(stepper *c, cursor *at, int m)
{
    work(c)->Yd = take(at, (size_t)c->n * (size_t)m);
}

const family erk_family = {
    .is = REGULAR_MASS | SLOPES,
    .needs = {0, TANGENT_OF, ADJOINT_OF, TANGENT_OF | ADJOINT_OF | ADJOINT_TANGENT_OF},
    .costs = {0, TANGENT_OF, ADJOINT_OF, TANGENT_OF | ADJOINT_OF | ADJOINT_TANGENT_OF},
    .controller = COSTATE_PI,
    .pi_beta = 0.2,
    .lanes = LANES_OF_SLOPES,
    .prepare = prepare,
    .layout = erk_layout,
    .layout_derivatives = layout_derivatives,
    .layout_second = layout_second,
    .ready = ready,
    .forward = erk_forward,
    .tangent = erk_tangent,
    .adjoint = erk_adjoint,
    .longest = erk_longest,
    .divide = divide_by_mass,
    .remark = erk_remark,
    .estimate = stage_estimate,
    .free = free,
};
