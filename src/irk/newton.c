/* newton.c (irk) - simplified Newton for one block of stages: P dZ = -R, P = W_block x M/h - I x J
   (mathematics, eq. 8.1 to 8.3).

   Convergence control as in Hairer & Wanner II, IV.8: theta = |dZ_k|/|dZ_k-1|, stop when theta/(1-theta) |dZ| <= tol;
   theta >= 1, or too slow for the iterations left, cuts the step.  A replay repeats the recorded number of
   iterations. */
#include <float.h>
#include <math.h>
#include <string.h>
#include "irk/irk.h"

/* Those of RADAU5 (Hairer & Wanner II, IV.8).  CONVERGES: theta up to which an iteration does.  FADES: eta =
   theta/(1 - theta) of the last block is eta^0.8 for the next, trusted the less, the smaller it is.  A step given up as
   too slow becomes CUT q^(-1/(3 + left)) as large, q what the iterations left would miss the tolerance by, between the
   two bounds.  LEAST_ETA: of a residual whose M = dF/dy' changes, or has not been seen not to: a step that begins at
   its solution may converge at once although the next does not, as M there is another; theta 0.1 leaves less than
   newton_tol's tenfold. */
static const double CONVERGES = 0.99, FADES = 0.8, CUT = 0.8, LEAST_MISS = 1e-4, MOST_MISS = 20, LEAST_ETA = 1e-2;

enum { DERIVATIVE_MOST = 100 };     /* iterations of derivative mode, which goes on to round-off: bounds the loop */

/* Newton corrects what an iteration leaves; 1e-3 slows its contraction by about as much, far below theta_reuse.  1e-10
   where a tape prescribes how often Newton went with factorisations; where M is singular: beside M/h, constraints are
   small in the residual's norm however wrong they are; and in derivative mode, which would take a standstill of such
   components for round-off.  Stages coupled are solved for in the coordinates of T, which multiplies such errors by its
   condition at most, 10 of radau2a, 154 and 283 of radau2a5 and gauss5, 2.4e3 of seven stages, of which 1e-3 would not
   contract: 1e-5. */
accuracy irk_accuracy(const stepper *c, int counted)
{
    int tight = counted || c->sh->singular || c->o->derivative_mode;
    double loose = c->m->block > 5 ? 1e-5 : 1e-3;
    return (accuracy){.tol = fmax(tight ? 1e-10 : loose, c->o->krylov_tol), .loose = 1};
}

/* E(K) = E(0) - K where M is the identity, and K need not be formed: R_i -= (1/h) sum_j W_ij Z_j over the block */
static void add_slopes(const stepper *c, double h, int i0, const double *Z, double *R)
{
    size_t n = (size_t)c->n;
    int k = c->m->block;
    if (k > 1) mix(n, R, 1, -1 / h, k, c->m->W, Z);
    else irk_coupling(c, h, 0, i0, i0, i0 + 1, -1, Z - (size_t)i0 * n, n, R, R);
}

/* K_i of the block behind R, which is free there */
static double *slopes(const stepper *c, double h, int i0, const double *Z, const double *earlier)
{
    size_t n = (size_t)c->n;
    int k = c->m->block;
    double *K = work(c)->R + (size_t)k * n;
    if (k > 1) mix(n, K, 0, 1 / h, k, c->m->W, Z);
    else irk_coupling(c, h, 0, i0, i0, i0 + 1, 1, Z - (size_t)i0 * n, n, earlier, K);
    return K;
}

int irk_residual(stepper *c, const record *r, int i0, const double *Z, const double *earlier)
{
    const irk_work *a = c->own;
    size_t n = (size_t)c->n;
    const double *K = equation_plain(c->maps) ? NULL : slopes(c, r->h, i0, Z, earlier);
    for (int i = 0; i < c->m->block; i++) {
        add_scaled(n, a->Y, r->y, 1, Z + (size_t)i * n);
        double *R = a->R + (size_t)i * n, t = r->t + c->m->c[i0 + i] * r->h;
        TRY(K ? equation_value(c->maps, t, a->Y, K + (size_t)i * n, R) : map_value(c->maps, &c->maps->rhs, t, a->Y, R));
    }
    if (!K) add_slopes(c, r->h, i0, Z, a->R);
    if (!K && earlier) axpy(n, 1, earlier, a->R);               /* of blocks of one stage */
    if (K && c->m->g) axpy(n, c->m->g[i0], a->f0, a->R);
    return 0;
}

const double *irk_earlier(stepper *c, const record *r, int i)
{
    const irk_work *a = c->own;
    size_t n = (size_t)c->n;
    int plain = equation_plain(c->maps), g = plain && c->m->g;
    if (i == 0 && !g) return NULL;
    irk_coupling(c, r->h, 0, i, 0, i, plain ? -1 : 1, r->X, n, NULL, a->v1);
    if (g) axpy(n, c->m->g[i], a->f0, a->v1);
    return a->v1;
}

static const double *newton_weights(const stepper *c) { return c->maps->index ? work(c)->wn : c->w; }

/* M from linearisation to linearisation, where its entries are there: 1 if all are as they were */
static int same_entries(stepper *c, int *same)
{
    irk_work *a = c->own;
    size_t bytes = c->maps->entries * sizeof *a->M_seen;
    double differs = memcmp(a->M_seen, c->lin.M, bytes) != 0;
    memcpy(a->M_seen, c->lin.M, bytes);
    TRY(space_total(&c->maps->space, 1, &differs));
    *same = differs == 0;
    return 0;
}

/* What repeats a step sees the run's linearisations in another order, or none: there M counts as changing. */
int newton_begin(stepper *c, const record *r, int repeats)
{
    irk_work *a = c->own;
    a->least_eta = LEAST_ETA;
    if (!a->M_seen || repeats) return 0;
    if (a->M_serial != r->jacobian) {
        int same;
        TRY(same_entries(c, &same));
        if (a->M_serial) *(same ? &a->M_same : &a->M_varies) = 1;
        a->M_serial = r->jacobian;
    }
    if (a->M_same && !a->M_varies) a->least_eta = 0;
    return 0;
}

typedef struct { double norm, old, least, q_old, theta, ynorm; int it, stalls, exact; } monitor;

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
    int exact = m->exact, left = (exact ? DERIVATIVE_MOST : c->o->newton_max) - m->it;
    if (m->it > 1) {
        double q = m->old > 0 ? m->norm / m->old : 0;
        m->theta = m->it == 2 ? q : sqrt(q * m->q_old);
        m->q_old = q;
    }
    if (exact && exhausted(c, m)) return DONE;
    if (m->it > 1) {
        if (m->theta >= CONVERGES && !(exact && m->norm <= c->o->newton_tol)) return diverges(c, 0.5);
        work(c)->eta = m->theta / (1 - m->theta);
    }
    if (!exact && work(c)->eta * m->norm <= c->o->newton_tol) return DONE;
    if (left <= 0) return diverges(c, 0.5);
    if (m->it > 1 && !exact) {
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
    const double *z[STAGES_MOST], *w = newton_weights(c);
    double norms[STAGES_MOST], sum = 0;
    for (int i = 0; i < k; i++) sum += sum_weighted(n, w, Z + (size_t)i * n);
    if (!all->sum && sum > LEAST_SQUARES && sum < MOST_SQUARES) {
        *norm = sqrt(sum / ((double)k * (double)n));
        return 0;
    }
    for (int i = 0; i < k; i++) z[i] = Z + (size_t)i * n;
    TRY(space_norms(all, n, k, w, z, norms));
    sum = 0;
    for (int i = 0; i < k; i++) sum += norms[i] * norms[i];
    *norm = k == 1 ? norms[0] : sqrt(sum / k);
    return 0;
}

int newton(stepper *c, const record *r, int block, const accuracy *to, double *Z, unsigned char *iterations,
           enum newton_to far)
{
    irk_work *a = c->own;
    size_t n = (size_t)c->n, len = n * (size_t)c->m->block;
    int i0 = block * c->m->block;
    const double *earlier = irk_earlier(c, r, i0);
    monitor m = {.exact = far == ROUND_OFF || c->o->derivative_mode};
    double *dZ = a->R;
    if (m.exact) TRY(space_norm(&c->maps->space, n, newton_weights(c), r->y, &m.ynorm));
    a->eta = fmax(pow(fmax(a->eta, DBL_EPSILON), FADES), a->least_eta);
    for (m.it = 1;; m.it++) {
        TRY(irk_residual(c, r, i0, Z, earlier));
        TRY(a->by->solve(c, c->fac, 0, 1, to, dZ));
        c->maps->count->newton++;
        m.old = m.norm;
        TRY(norm_of_block(c, dZ, &m.norm));
        if (!(m.norm < HUGE_VAL)) return retry(c->v, WHY_NOT_FINITE, 0.5);
        axpy(len, 1, dZ, Z);
        if (far == SO_MANY) { if (m.it >= *iterations) return 0; continue; }
        int next = judge(c, &m);
        if (next == DONE) break;
        if (next == DIVERGES) return RETRY;
    }
    *iterations = (unsigned char)m.it;
    a->theta = m.theta;
    return 0;
}
