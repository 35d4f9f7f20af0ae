/* family.c (ros) - the table of Rosenbrock methods, and their work space. */
#include <math.h>
#include <stdlib.h>
#include "linsol/residual.h"
#include "ros/ros.h"

enum { ALWAYS = SLOPE_OF | EXACT_JACOBIAN };
enum { ALL_PRODUCTS = TANGENT_OF | TANGENT2_OF | ADJOINT_OF | ADJOINT_TANGENT_OF };

static int prepare(stepper *c)
{
    TRY(own_new(c, sizeof(ros_work)));
    c->sh->single = 1 / c->m->gamma;
    TRY(shifts_prepare(c->sh, 1, 0, &c->sh->single));
    c->fac = factors_new(c->sh, NULL);
    if (!c->fac) return c->v->status;
    return ros_confirms(c) && !(work(c)->after.fac = factors_new(c->sh, c->fac)) ? c->v->status : 0;
}

/* Are initial guesses of GMRES used in forward steps?  The error that remains after a good guess is smooth and is
   damped less than that after starting from zero.  Nothing detects this in forward steps, so guesses are only used if
   krylov_tol is FINE below rtol.  rodas5p on a 2-D Brusselator and heat at rtol 1e-5: guesses make the error of y 50
   times larger with krylov_tol 1e-5, two to four times with 1e-6, and leave it unchanged with 1e-7.  Not with a vector
   of rtol, which may differ between processes, as all must decide alike. */
static int guesses_forward(const stepper *c)
{
    const double FINE = 0.01;
    return c->o->krylov_tol <= fmax(EXACT_KRYLOV, c->o->rtol_vector ? 0 : FINE * c->o->rtol);
}

static void ros_layout(stepper *c, cursor *at)
{
    ros_work *a = c->own;
    size_t n = (size_t)c->n, nq = (size_t)c->nq;
    TAKE(at, n, &a->Y, &a->v1, &a->v2);
    TAKE(at, nq, &a->r, &a->rq);
    a->ft = take(at, n);
    a->error_b = take(at, (size_t)c->s);
    ros_confirm_layout(c, at);
    ros_guard_layout(c, at);
    if (c->sh->matfree && !c->sh->fixed && guesses_forward(c)) guesses_layout(&a->step, at, c->maps, 1);
}

static void layout_derivatives(stepper *c, cursor *at, int m)
{
    ros_work *a = c->own;
    size_t stride = (size_t)c->n * (size_t)m;
    columns_layout(c, at, m, &a->columns);
    a->sum = take(at, stride);
    a->Yb = take(at, (size_t)c->s * stride);
    if (c->sh->matfree && !c->sh->fixed) guesses_layout(&a->sweep, at, c->maps, m);
}

static void layout_second(stepper *c, cursor *at, int m)
{
    work(c)->Mu = take(at, (size_t)c->n);
    work(c)->by_t = take(at, (size_t)m);
}

/* Does the estimate contain the residual that the previous step left in the constraints?  For 0 = g(z) with residual g
   = 1 and g_z = 1 the stages are U_i = -1 - sum a_ij U_j, so that est = -(R^(inf) - R(inf)), with R^ of the embedded
   solution. Stiffly accurate methods solve the constraints up to second-order terms, but their estimates may still
   contain it. */
static int holds_remainder(const costate_method *m)
{
    double U[STAGES_MOST], est = 0, size = 0;
    if (!m->est.e) return 0;
    if (!(m->is & COSTATE_STIFFLY_ACCURATE)) return 1;
    for (int i = 0; i < m->s; i++) {
        U[i] = -1;
        for (int j = 0; j < i; j++) U[i] -= m->A[i * m->s + j] * U[j];
        est += m->est.e[i] * U[i];
        size += fabs(m->est.e[i] * U[i]);
    }
    return fabs(est) > 1e-10 * size;       /* tables may have few digits; a needless filter only costs one solution */
}

/* Is row i of A (i = s: m) the previous row with a 1 appended? */
static int extends(const costate_method *m, int i)
{
    const double *row = i < m->s ? m->A + i * m->s : m->d, *before = m->A + (i - 1) * m->s;
    for (int j = 0; j < i - 1; j++) if (row[j] != before[j]) return 0;
    return row[i - 1] == 1;
}

/* bhat - b = Gamma^T e, Gamma^-1 = diag(1/gamma) - C: solve Gamma^-T x = e from the last row */
static void ready(stepper *c)
{
    const costate_method *m = c->m;
    double *error_b = work(c)->error_b;
    for (int i = m->s - 1; m->est.e && i >= 0; i--) {
        double x = m->est.e[i];
        for (int j = i + 1; j < m->s; j++) x += m->C[j * m->s + i] * error_b[j];
        error_b[i] = m->gamma * x;
    }
    work(c)->filtered = c->sh->singular && holds_remainder(m);
    for (int i = 1; i <= m->s; i++) work(c)->extends[i] = (unsigned char)extends(m, i);
    ros_guard_ready(c);
}

/* The matrix does not depend on y: it is kept with h, where h would change little. */
static double keep_h(stepper *c, double factor)
{
    return factor >= c->o->q_min && factor <= c->o->q_max ? 1 : factor;
}

/* a run or a sweep starts without the guesses of earlier ones */
static void sweep(stepper *c)
{
    guesses_clear(&work(c)->sweep);
    work(c)->transposed = 0;
}

/* a run begins, or the state has changed */
static void restart(stepper *c)
{
    ros_confirm_clear(c);
    sweep(c);
}

static void release(void *own)
{
    ros_work *a = own;
    if (a) factors_release(a->after.fac);
    free(a);
}

#define SHARED \
    .controller = COSTATE_GUSTAFSSON, \
    .lanes = LANES_OF_ROSENBROCK, \
    .pi_beta = 0.4, \
    .prepare = prepare, \
    .layout = ros_layout, \
    .layout_derivatives = layout_derivatives, \
    .layout_second = layout_second, \
    .ready = ready, \
    .forward = ros_forward, \
    .tangent = ros_tangent, \
    .adjoint = ros_adjoint, \
    .estimate = ros_estimate, \
    .divide = divide_by_mass, \
    .restart = restart, \
    .sweep = sweep, \
    .free = release

/* with a matrix of the user's */
static const family fixed_family = {
    .is = IMPLICIT,
    .needs = {0, TANGENT_OF, ADJOINT_OF, TANGENT_OF | ADJOINT_OF | ADJOINT_TANGENT_OF},
    .costs = {0, TANGENT_OF, ADJOINT_OF, TANGENT_OF | ADJOINT_OF | ADJOINT_TANGENT_OF},
    .keep = keep_h,
    .longest = ros_longest,
    .keeps = ros_keeps,
    .damps = "shorter steps",
    .smooth = ros_smooth,
    .watched = ros_watched,
    .remark = ros_guard_remark,
    SHARED
};

const family ros_family = {
    .is = IMPLICIT,
    .fixed = &fixed_family,
    .needs = {SLOPE_OF, ALWAYS | TANGENT_OF | TANGENT2_OF, ALWAYS | ADJOINT_OF | ADJOINT_TANGENT_OF,
              ALWAYS | ALL_PRODUCTS | ADJOINT_TANGENT2_OF},
    .costs = {TANGENT_OF, TANGENT_OF | TANGENT2_OF, TANGENT_OF | ADJOINT_OF | ADJOINT_TANGENT_OF,
              ALL_PRODUCTS | ADJOINT_TANGENT2_OF},
    .confirm = ros_confirm,
    SHARED
};
