/* family.c (rkc) - the table of stabilised explicit methods, and their work space. */
#include <math.h>
#include <stdlib.h>
#include "rkc/rkc.h"

static const double FAST = 4;                   /* h rho from which modes are fast */

static int prepare(stepper *c)
{
    const costate_rkc *a = c->m->rkc;
    if (c->o->degree_max && c->o->degree_max < a->s[0])
        return fail(c->v, COSTATE_BAD_ARGUMENT, "options.degree_max = %d: the lowest degree of %s is %d.",
                    c->o->degree_max, c->m->name, a->s[0]);
    TRY(own_new(c, sizeof(rkc_work)));
    return shifts_prepare(c->sh, 0, 0, NULL);
}

static int divide(const stepper *c, int transpose, double *x)
{
    const double *inverse = rkc_of(c)->inverse;
    for (int i = 0; inverse && i < c->n; i++) x[i] *= inverse[i];
    return (void)transpose, 0;
}

static void rkc_layout(stepper *c, cursor *at)
{
    rkc_work *a = rkc_of(c);
    size_t n = (size_t)c->n, N = (size_t)c->N, r = (size_t)c->m->rkc->r;
    a->inverse = c->maps->M ? take(at, n) : NULL;
    TAKE(at, N, &a->f0, &a->F, &a->f1, &a->start);
    a->K = take(at, r * N);
    a->Y = take(at, N);
    spectrum_layout(c, at);
    c->spectrum.f0 = a->f0;
    for (int k = 0; k < 2; k++) a->g[k] = take(at, N);
}

static void ready(stepper *c)
{
    double *d = rkc_of(c)->inverse;
    if (d) mass_diagonal(c->maps, d);
    for (int i = 0; d && i < c->n; i++) d[i] = 1 / d[i];
}

/* stages of the highest degree's recurrence, y among them */
static int most_stages(const costate_rkc *all) { return all->first[all->degrees] - all->first[all->degrees - 1] + 1; }

static void layout_derivatives(stepper *c, cursor *at, int m)
{
    rkc_work *a = rkc_of(c);
    const costate_rkc *all = c->m->rkc;
    size_t columns = (size_t)c->N * (size_t)m;
    columns_layout(c, at, m, &a->columns);
    for (int k = 0; k < 4; k++) a->gd[k] = take(at, columns);
    TAKE(at, columns, &a->Fd, &a->Fd0, &a->Yd);
    a->Kd = take(at, (size_t)all->r * columns);
    a->room = rkc_stage_room(c, most_stages(all), (size_t)c->n);
    a->stages = take(at, a->room * (size_t)c->n);
}

static void layout_second(stepper *c, cursor *at, int m)
{
    rkc_work *a = rkc_of(c);
    size_t n = (size_t)c->n, columns = n * (size_t)m;
    TAKE(at, columns, &a->second.Vd0, &a->second.T0, &a->second.T, &a->second.Y1d);
    a->second.KT = take(at, (size_t)c->m->rkc->r * columns);
    a->second.room = rkc_stage_room(c, most_stages(c->m->rkc), n + columns);
    a->second.tangents = take(at, a->second.room * columns);
}

static void restart(stepper *c)
{
    rkc_work *a = rkc_of(c);
    a->limit.tried = a->tries.degree = 0;
    a->tries.all = a->tries.longest = a->tries.rejected = 0;
}

/* R follows exp(-z) until its first extremum. */
static double keeps(const stepper *c, const record *r, double *z)
{
    *z = fabs(r->h) * c->spectrum.rho;
    return fmax(exp(-*z), *z < FAST ? 0 : c->m->rkc->largest[rkc_find(c, r->degree)]);
}

const family rkc_family = {
    .is = REGULAR_MASS | DIAGONAL_MASS | SLOPES | WEIGHTS | REMAKES,
    .needs = {0, TANGENT_OF, ADJOINT_OF, TANGENT_OF | ADJOINT_OF | ADJOINT_TANGENT_OF},
    .costs = {0, TANGENT_OF, ADJOINT_OF, TANGENT_OF | ADJOINT_OF | ADJOINT_TANGENT_OF},
    .controller = COSTATE_GUSTAFSSON,
    .prepare = prepare,
    .layout = rkc_layout,
    .layout_derivatives = layout_derivatives,
    .layout_second = layout_second,
    .ready = ready,
    .restart = restart,
    .longest = rkc_longest,
    .reach = rkc_reach,
    .divide = divide,
    .keeps = keeps,
    .damps = "rkc2d",
    .remark = rkc_remark,
    .forward = rkc_forward,
    .tangent = rkc_tangent,
    .adjoint = rkc_adjoint,
    .estimate = stage_estimate,
    .free = free,
};
