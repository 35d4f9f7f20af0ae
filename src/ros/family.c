/* family.c (ros) - the table of Rosenbrock methods, and their work space. */
#include <stdlib.h>
#include "ros/ros.h"

enum { ALWAYS = SLOPE_OF | EXACT_JACOBIAN };

static int prepare(stepper *c)
{
    if (!(c->own = calloc(1, sizeof(ros_work)))) return fail(c->v, COSTATE_NO_MEMORY, "No memory for the solver.");
    c->sh->single = 1 / c->m->gamma;
    TRY(shifts_prepare(c->sh, 1, 0, &c->sh->single));
    c->fac = factors_new(c->sh, NULL);
    return c->fac ? 0 : c->v->status;
}

static void layout(stepper *c, cursor *at)
{
    ros_work *a = c->own;
    size_t n = (size_t)c->n, nq = (size_t)c->nq;
    a->Y = take(at, n);
    a->v1 = take(at, n);
    a->v2 = take(at, n);
    a->r = take(at, nq);
    a->rq = take(at, nq);
    a->ft = take(at, n);
    a->error_b = take(at, (size_t)c->s);
}

static void layout_derivatives(stepper *c, cursor *at, int m)
{
    ros_work *a = c->own;
    size_t stride = (size_t)c->n * (size_t)m;
    a->sum = take(at, stride);
    a->Yb = take(at, (size_t)c->s * stride);
}

/* bhat - b = Gamma^T e, Gamma^-1 = diag(1/gamma) - C: solve Gamma^-T x = e from the last row */
static void ready(stepper *c)
{
    const costate_method *m = c->m;
    double *error_b = work(c)->error_b;
    for (int i = m->s - 1; m->e && i >= 0; i--) {
        double x = m->e[i];
        for (int j = i + 1; j < m->s; j++) x += m->C[j * m->s + i] * error_b[j];
        error_b[i] = m->gamma * x;
    }
}

/* J is that of the step, always */
static double keep(stepper *c, double factor)
{
    c->lin.serial = 0;
    return factor;
}

const family ros_family = {
    .is = IMPLICIT,
    .needs = {SLOPE_OF, ALWAYS | TANGENT_OF | TANGENT2_OF, ALWAYS | ADJOINT_OF | ADJOINT_TANGENT_OF},
    .costs = {TANGENT_OF, TANGENT_OF | TANGENT2_OF, TANGENT_OF | ADJOINT_OF | ADJOINT_TANGENT_OF},
    .controller = COSTATE_GUSTAFSSON,
    .pi_beta = 0.4,
    .prepare = prepare,
    .layout = layout,
    .layout_derivatives = layout_derivatives,
    .ready = ready,
    .forward = ros_forward,
    .tangent = ros_tangent,
    .adjoint = ros_adjoint,
    .estimate = ros_estimate,
    .keep = keep,
    .free = free,
};
