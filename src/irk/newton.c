/* newton.c (irk) - simplified Newton for one block of stages: P dZ = -R, P = W_block x M/h - I x J.

   Convergence control as in Hairer & Wanner II, IV.8: theta = |dZ_k|/|dZ_k-1|, stop when theta/(1-theta) |dZ| <= tol;
   theta >= 1, or too slow for the iterations left, cuts the step.  A replay repeats the recorded number of
   iterations. */
#include <float.h>
#include <math.h>
#include <string.h>
#include "irk/irk.h"
#include "step/coupling.h"

/* Those of RADAU5 (Hairer & Wanner II, IV.8).  CONVERGES: theta up to which an iteration does.  FADES: eta =
   theta/(1 - theta) of the last block is eta^0.8 for the next, trusted the less, the smaller it is.  A step given up as
   too slow becomes CUT q^(-1/(3 + left)) as large, q what the iterations left would miss the tolerance by, between the
   two bounds. */
static const double CONVERGES = 0.99, FADES = 0.8, CUT = 0.8, LEAST_MISS = 1e-4, MOST_MISS = 20;

enum { DERIVATIVE_MOST = 100 };     /* iterations of derivative mode, which goes on to round-off: bounds the loop */

void irk_coupling(stepper *c, double h, int transpose, int i, int from, int to, double a, const double *X,
                  size_t stride, double *out)
{
    stage_coupling(c, c->m->W, transpose, i, from, to, a / h, X, stride, work(c)->v2, out, out);
}

/* Newton corrects what an iteration leaves; 1e-3 slows its contraction by about as much, far below theta_reuse.  1e-10
   where a tape prescribes how often Newton went with factorisations; where M is singular: beside M/h, constraints are
   small in the residual's norm however wrong they are; and in derivative mode, which would take a standstill of such
   components for round-off. */
accuracy irk_accuracy(const stepper *c, int counted)
{
    int tight = counted || c->sh->singular || c->o->derivative_mode;
    return (accuracy){fmax(tight ? 1e-10 : 1e-3, c->o->krylov_tol), 1, 0, NULL};
}

/* R_i -= (1/h) M sum_j W_ij Z_j over the block from stage i0; what is behind R is free */
static void add_coupling(stepper *c, double h, int i0, const double *Z, double *R)
{
    size_t n = (size_t)c->n;
    int k = c->m->block;
    double *sums = R + (size_t)k * n;
    if (k == 1) irk_coupling(c, h, 0, i0, i0, i0 + 1, -1, Z - (size_t)i0 * n, n, R);
    else if (!c->maps->M) mix(n, R, 1, -1 / h, k, c->m->W, Z);
    else {
        mix(n, sums, 0, -1 / h, k, c->m->W, Z);
        mass_multiply(c->maps, 0, 1, k, sums, R);
    }
}

int irk_residual(stepper *c, const record *r, int i0, const double *Z, const double *constant)
{
    size_t n = (size_t)c->n;
    for (int i = 0; i < c->m->block; i++) {
        double *R = work(c)->R + (size_t)i * n;
        add_scaled(n, work(c)->Y, r->y, 1, Z + (size_t)i * n);
        TRY(map_value(c->maps, &c->maps->rhs, r->t + c->m->c[i0 + i] * r->h, work(c)->Y, R));
        if (constant) axpy(n, 1, constant, R);
    }
    add_coupling(c, r->h, i0, Z, work(c)->R);
    return 0;
}

const double *irk_earlier(stepper *c, const record *r, int i)
{
    const irk_work *a = c->own;
    size_t n = (size_t)c->n;
    if (i == 0 && !c->m->g) return NULL;
    memset(a->v1, 0, n * sizeof *a->v1);
    irk_coupling(c, r->h, 0, i, 0, i, -1, r->X, n, a->v1);
    if (c->m->g) axpy(n, c->m->g[i], a->f0, a->v1);
    return a->v1;
}

typedef struct { double norm, old, least, q_old, theta, ynorm; int it, stalls; } monitor;

enum { GO_ON, DONE, DIVERGES };

static int diverges(stepper *c, double factor)
{
    retry(c->v, WHY_NEWTON, factor);
    return DIVERGES;
}

/* To round-off: the increment is at the rounding of y, which counts as 1e-3 tolerances at least (y may be 0); or it has
   converged and twice not fallen below the least so far: the rounding of a badly conditioned system.  Once may be
   chance, and falling slowly is not having arrived. */
static int exhausted(const stepper *c, monitor *m)
{
    if (m->norm <= DBL_EPSILON * fmax(m->ynorm, 1e-3)) return 1;
    if (m->it > 1 && m->norm >= m->least) m->stalls++;
    m->least = m->it > 1 ? fmin(m->least, m->norm) : m->norm;
    return m->stalls >= 2 && m->norm <= c->o->newton_tol;
}

static double power(double x, int k)
{
    double product = 1;
    for (; k > 0; k--) product *= x;
    return product;
}

static int judge(stepper *c, monitor *m)
{
    int derivative = c->o->derivative_mode, left = (derivative ? DERIVATIVE_MOST : c->o->newton_max) - m->it;
    if (m->it > 1) {
        double q = m->old > 0 ? m->norm / m->old : 0;
        m->theta = m->it == 2 ? q : sqrt(q * m->q_old);
        m->q_old = q;
    }
    if (derivative && exhausted(c, m)) return DONE;
    if (m->it > 1) {
        if (m->theta >= CONVERGES && !(derivative && m->norm <= c->o->newton_tol)) return diverges(c, 0.5);
        work(c)->eta = m->theta / (1 - m->theta);
    }
    if (!derivative && work(c)->eta * m->norm <= c->o->newton_tol) return DONE;
    if (left <= 0) return diverges(c, 0.5);
    if (m->it > 1 && !derivative) {
        double expected = work(c)->eta * m->norm * power(m->theta, left - 1) / c->o->newton_tol;
        double miss = fmax(LEAST_MISS, fmin(MOST_MISS, expected));
        if (expected >= 1) return diverges(c, CUT * pow(miss, -1.0 / (3 + left)));
    }
    return GO_ON;
}

/* the root of the mean of the squares of the stages' norms */
static int norm_of_block(const stepper *c, const double *Z, double *norm)
{
    const space *all = &c->maps->space;
    int k = c->m->block;
    size_t n = (size_t)c->n;
    const double *z[STAGES_MOST];
    double norms[STAGES_MOST], sum = 0;
    for (int i = 0; i < k; i++) sum += sum_weighted(n, c->w, Z + (size_t)i * n);
    if (!all->sum && sum > LEAST_SQUARES && sum < MOST_SQUARES) {
        *norm = sqrt(sum / ((double)k * (double)n));
        return 0;
    }
    for (int i = 0; i < k; i++) z[i] = Z + (size_t)i * n;
    TRY(space_norms(all, n, k, c->w, z, norms));
    sum = 0;
    for (int i = 0; i < k; i++) sum += norms[i] * norms[i];
    *norm = k == 1 ? norms[0] : sqrt(sum / k);
    return 0;
}

int newton(stepper *c, const record *r, int block, const accuracy *to, double *Z, unsigned char *iterations, int fixed)
{
    irk_work *a = c->own;
    size_t n = (size_t)c->n, len = n * (size_t)c->m->block;
    int i0 = block * c->m->block;
    const double *constant = irk_earlier(c, r, i0);
    monitor m = {.theta = 0};
    double *dZ = a->R;
    if (c->o->derivative_mode) TRY(space_norm(&c->maps->space, n, c->w, r->y, &m.ynorm));
    a->eta = pow(fmax(a->eta, DBL_EPSILON), FADES);
    for (m.it = 1;; m.it++) {
        TRY(irk_residual(c, r, i0, Z, constant));
        TRY(a->by->solve(c, c->fac, 0, 1, to, dZ));
        c->maps->count->newton++;
        m.old = m.norm;
        TRY(norm_of_block(c, dZ, &m.norm));
        if (!(m.norm < HUGE_VAL)) return retry(c->v, WHY_NOT_FINITE, 0.5);
        axpy(len, 1, dZ, Z);
        if (fixed) { if (m.it == *iterations) return 0; continue; }
        int next = judge(c, &m);
        if (next == DONE) break;
        if (next == DIVERGES) return RETRY;
    }
    *iterations = (unsigned char)m.it;
    a->theta = m.theta;
    return 0;
}
