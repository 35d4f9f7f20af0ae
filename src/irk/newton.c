/* newton.c (irk) - simplified Newton for one block of stages: P dZ = -R, P = W_block x M/h - I x J
   (mathematics, eq. 8.1 to 8.3).

   Convergence control as in Hairer & Wanner II, IV.8: theta = |dZ_k|/|dZ_k-1|, stop when theta/(1-theta) |dZ| <= tol;
   theta >= 1, or too slow for the iterations left, cuts the step.  Unlike there, one iteration is not enough, and a
   stage by itself may not be stuck: P may belong to another time, at which the problem was much stiffer, and then
   increments are small because P is large (mathematics, section 8.1).  A replay repeats the recorded number of
   iterations. */
#include <float.h>
#include <math.h>
#include <string.h>
#include "base/larger.h"
#include "base/mix.h"
#include "irk/irk.h"

/* Constants of RADAU5 (Hairer & Wanner II, IV.8).  CONVERGES: the largest theta of a converging iteration.  A step that
   converges too slowly is shortened by CUT q^(-1/(3 + left)), where q, between the two bounds, is the factor by which
   the remaining iterations would miss the tolerance. */
static const double CONVERGES = 0.99, CUT = 0.8, LEAST_MISS = 1e-4, MOST_MISS = 20;

/* LEAST_ETA, in the second iteration: the first increment corrects the starting values, whose error is large where
   little has to be corrected later, so that the ratio of the second to it may be far below the contraction (Oregonator,
   rtol 1e-9: 2e-5 and 0.05, and errors of 240 tolerances).
   STUCK: a component whose increment changes by less than this part of itself from one iteration to the next converges
   with theta = 1 - STUCK at best, behind the increments of others; what is left of its error may be HIDDEN tolerances.
   Chance makes a component in a hundred look like that: HIDDEN is far above the increments of the last iteration.
   NOISE: increments that change by more have no direction: the iteration has reached the round-off of f. */
static const double LEAST_ETA = 1e-2, STUCK = 1e-2, HIDDEN = 0.1, NOISE = 0.5;

enum { DERIVATIVE_MOST = 100 };     /* iterations of derivative mode, which end at round-off: bounds the loop */

/* The accuracy of linear solutions inside Newton's iteration, which corrects their errors.  1e-3 slows its contraction
   by about as much, far below theta_reuse.  1e-10 is used in three cases: where a tape prescribes the number of
   iterations of a run with factorisations; where M is singular, because next to M/h errors in constraints are small in
   the norm of the residual; and in derivative mode, which would mistake the stagnation of such components for
   round-off.  Coupled stages are solved in the coordinates of T, which multiplies such errors by at most its condition
   number: 10 for radau2a, 154 and 283 for radau2a5 and gauss5, and 2.4e3 for seven stages, which would not contract
   with 1e-3 and use 1e-5. */
accuracy irk_iterated_accuracy(const stepper *c, int counted)
{
    int tight = counted || c->sh->singular || c->o->derivative_mode;
    double loose = c->m->block > 5 ? 1e-5 : 1e-3;
    return (accuracy){.tol = fmax(tight ? 1e-10 : loose, c->o->krylov_tol), .loose = 1};
}

/* E(K) = E(0) - K where M is the identity, and K need not be formed: R_i -= (1/h) sum_j W_ij Z_j over the block */
INLINE void add_slopes(size_t known, int coupled, const stepper *c, double h, int i0, const double *Z, double *R)
{
    size_t n = known ? known : (size_t)c->n;
    int k = c->m->block;
    if (known && coupled) mix_of(coupled, known, R, 1, -1 / h, c->m->W, Z, known);
    else if (k > 1) mix(n, R, 1, -1 / h, k, c->m->W, Z);
    else combine_known(known, n, R, R, -1 / h, 1, c->m->W + i0 * c->s + i0, Z);
}

/* K_i of the block, stored after R, where there is room */
static double *slopes(const stepper *c, double h, int i0, const double *Z, const double *earlier)
{
    size_t n = (size_t)c->n;
    int k = c->m->block;
    double *K = work(c)->R + (size_t)k * n;
    if (k > 1) mix(n, K, 0, 1 / h, k, c->m->W, Z);
    else irk_coupling(c, h, 0, i0, i0, i0 + 1, 1, Z - (size_t)i0 * n, n, earlier, K);
    return K;
}

INLINE int residual(size_t known, int coupled, stepper *c, const record *r, int i0, const double *Z,
                    const double *earlier)
{
    static const double one = 1;
    const irk_work *a = c->own;
    maps *f = c->maps;
    int k = coupled ? coupled : c->m->block;
    size_t n = known ? known : (size_t)c->n;
    const double *y = r->y, *node = c->m->c + i0;
    double *Y = a->Y, *R = a->R;
    const double *K = equation_plain(f) ? NULL : slopes(c, r->h, i0, Z, earlier);
    costate_point x = point(f, r->t, y);
    for (int i = 0; i < k; i++) {
        combine_known(known, n, Y, y, 1, 1, &one, Z + (size_t)i * n);
        double t = r->t + node[i] * r->h;
        TRY(K ? equation_value(f, t, Y, K + (size_t)i * n, R + (size_t)i * n)
              : map_value_next(f, &f->rhs, &x, t, Y, R + (size_t)i * n));
    }
    if (!K) add_slopes(known, coupled, c, r->h, i0, Z, R);
    for (size_t l = 0; !K && earlier && l < n; l++) R[l] += earlier[l];         /* of blocks of one stage */
    if (K && c->m->g) axpy(n, c->m->g[i0], a->f0, R);
    return 0;
}

int irk_residual(stepper *c, const record *r, int i0, const double *Z, const double *earlier)
{
    return residual(0, 0, c, r, i0, Z, earlier);
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

typedef struct {
    double norm, old;           /* norms of the block's increments in this iteration and in the one before */
    double change;              /* norm of their difference */
    double hidden;              /* the largest error that is left in a component, if it is STUCK; in tolerances */
    double least, q_old, theta;
    int it, stalls, exact;
} monitor;

enum { GO_ON, DONE, DIVERGES };

/* The increment is at the rounding of y (at least 1e-3 tolerances, as y may be 0). */
static int at_rounding(const stepper *c, double norm)
{
    return norm <= DBL_EPSILON * larger(work(c)->size, 1e-3);
}

/* Is the iteration at round-off?  Either the increment is at the rounding of y; or it is below the tolerance and has
   failed twice to become smaller than the least one so far, which is the round-off of an ill-conditioned system.  Once
   may be chance, and slow convergence is not stagnation. */
static int exhausted(const stepper *c, monitor *m)
{
    if (at_rounding(c, m->norm)) return 1;
    if (m->it > 1 && m->norm >= m->least) m->stalls++;
    m->least = m->it > 1 ? fmin(m->least, m->norm) : m->norm;
    return m->stalls >= 2 && m->norm <= c->o->newton_tol;
}

/* Two increments below the tolerance that have nothing in common. */
static int noise(const stepper *c, const monitor *m)
{
    return m->it > 1 && larger(m->norm, m->old) <= c->o->newton_tol && m->change >= NOISE * m->norm;
}

static double power(double x, int k)
{
    double product = 1;
    for (; k > 0; k--) product *= x;
    return product;
}

/* t: told by how much h should be reduced if that is known */
static int judge(stepper *c, monitor *m, trial *t)
{
    int exact = m->exact, left = (exact ? DERIVATIVE_MOST : c->o->newton_max) - m->it;
    if (m->it > 1) {
        double q = m->old > 0 ? m->norm / m->old : 0;
        m->theta = m->it == 2 ? q : sqrt(q * m->q_old);
        m->q_old = q;
    }
    if (exact ? exhausted(c, m) : at_rounding(c, m->norm) || noise(c, m)) return DONE;
    if (m->it == 1) return left > 0 ? GO_ON : DIVERGES;
    if (m->theta >= CONVERGES && !(exact && m->norm <= c->o->newton_tol)) return DIVERGES;
    if (exact) return left > 0 ? GO_ON : DIVERGES;
    double eta = larger(m->theta / (1 - m->theta), m->it == 2 ? LEAST_ETA : 0);
    int enough = eta * m->norm <= c->o->newton_tol;
    if (enough && m->hidden <= HIDDEN) return DONE;
    if (left <= 0 || (enough && m->it > 2)) return DIVERGES;
    double expected = eta * m->norm * power(m->theta, left - 1) / c->o->newton_tol;
    double miss = fmax(LEAST_MISS, fmin(MOST_MISS, expected));
    if (expected < 1) return GO_ON;
    t->next.factor = CUT * pow(miss, -1.0 / (3 + left));
    return DIVERGES;
}

/* where squares overflow, or the sum is one over processes */
static int norm_by_stages(const stepper *c, const double *Z, double *norm)
{
    int k = c->m->block;
    size_t n = (size_t)c->n;
    const double *z[STAGES_MOST] = {NULL};
    double norms[STAGES_MOST], sum = 0;
    for (int i = 0; i < k; i++) z[i] = Z + (size_t)i * n;
    TRY(space_norms(&c->maps->space, n, k, newton_weights(c), z, norms));
    for (int i = 0; i < k; i++) sum += norms[i] * norms[i];
    *norm = k == 1 ? norms[0] : sqrt(sum / k);
    return 0;
}

/* the root of the mean of the squares of the stages' norms */
INLINE int norm_of_block(size_t n, int k, const stepper *c, const double *Z, double *norm)
{
    const double *w = newton_weights(c);
    double sum = 0;
    for (int i = 0; i < k; i++) sum += sum_weighted(n, w, Z + (size_t)i * n);
    if (c->maps->space.sum || !(sum > LEAST_SQUARES && sum < MOST_SQUARES)) return norm_by_stages(c, Z, norm);
    *norm = sqrt(sum / ((double)k * (double)n));
    return 0;
}

/* An increment that changes by `moved` is a part of about moved/increment of the error.  What is left of the error in
   components that are STUCK, in tolerances: the largest; 0 where increments are the rounding of y. */
INLINE double error_left(size_t n, int k, const stepper *c, const double *dZ, const double *moved)
{
    const double *w = newton_weights(c);
    double rounding = 10 * DBL_EPSILON * work(c)->size, most = 0;
    for (int i = 0; i < k; i++)
        for (size_t l = 0; l < n; l++, dZ++, moved++) {
            double size = fabs(*dZ), change = fabs(*moved);
            if (change < STUCK * size && size * w[l] > rounding)
                most = larger(most, size * w[l] * (size / fmax(change, DBL_MIN)));
        }
    return most;
}

/* of these increments, and of how they changed since the last ones, which they replace */
INLINE int measure(size_t n, int k, stepper *c, const double *restrict dZ, monitor *m)
{
    double *restrict last = work(c)->last;
    size_t len = n * (size_t)k;
    m->old = m->norm;
    TRY(norm_of_block(n, k, c, dZ, &m->norm));
    if (m->it > 1 && !m->exact) {
        for (size_t i = 0; i < len; i++) last[i] = dZ[i] - last[i];
        TRY(norm_of_block(n, k, c, last, &m->change));
        m->hidden = error_left(n, k, c, dZ, last);
        TRY(space_greatest(&c->maps->space, &m->hidden));
    }
    memcpy(last, dZ, len * sizeof *dZ);
    return 0;
}

int newton_begin(stepper *c, const record *r)
{
    return space_norm(&c->maps->space, (size_t)c->n, newton_weights(c), r->y, &work(c)->size);
}

INLINE void add_to(size_t len, const double *restrict dZ, double *restrict Z)
{
    for (size_t i = 0; i < len; i++) Z[i] += dZ[i];
}

/* known: as of combine_known; coupled: the stages of a block where the compiler knows them, else 0 */
INLINE int iterate(size_t known, int coupled, stepper *c, const record *r, int block, const accuracy *to,
                   enum newton_to far, trial *t)
{
    irk_work *a = c->own;
    int k = coupled ? coupled : c->m->block, i0 = block * k;
    size_t n = known ? known : (size_t)c->n, len = n * (size_t)k;
    double *Z = t->to.X + (size_t)i0 * n;
    unsigned char *iterations = &t->to.iterations[block];
    const double *earlier = coupled ? NULL : irk_earlier(c, r, i0);
    monitor m = {.exact = far == ROUND_OFF || c->o->derivative_mode};
    double *dZ = a->R;
    for (m.it = 1;; m.it++) {
        TRY(residual(known, coupled, c, r, i0, Z, earlier));
        TRY(a->by->solve(c, c->fac, 0, 1, to, dZ));
        c->maps->count->newton++;
        TRY(far == SO_MANY ? norm_of_block(n, k, c, dZ, &m.norm) : measure(n, k, c, dZ, &m));
        if (!(m.norm < HUGE_VAL)) return retry(c->v, WHY_NOT_FINITE);
        add_to(len, dZ, Z);
        if (far == SO_MANY) { if (m.it >= *iterations) return 0; continue; }
        int next = judge(c, &m, t);
        if (next == DONE) break;
        if (next == DIVERGES) return retry(c->v, WHY_NEWTON);
    }
    *iterations = (unsigned char)m.it;
    a->theta = m.theta;
    return 0;
}

typedef int iteration(stepper *c, const record *r, int block, const accuracy *to, enum newton_to far, trial *t);
#define ITERATE(name, known, coupled)                                                                               \
    static int name(stepper *c, const record *r, int block, const accuracy *to, enum newton_to far, trial *t)       \
    {                                                                                                               \
        return iterate(known, coupled, c, r, block, to, far, t);                                                    \
    }
ITERATE(iterate_any_0, 0, 0) ITERATE(iterate_any_1, 1, 0) ITERATE(iterate_any_2, 2, 0) ITERATE(iterate_any_3, 3, 0)
ITERATE(iterate_any_4, 4, 0) ITERATE(iterate_any_5, 5, 0) ITERATE(iterate_any_6, 6, 0) ITERATE(iterate_any_7, 7, 0)
ITERATE(iterate_any_8, 8, 0)
ITERATE(iterate_three_1, 1, 3) ITERATE(iterate_three_2, 2, 3) ITERATE(iterate_three_3, 3, 3)
ITERATE(iterate_three_4, 4, 3) ITERATE(iterate_three_5, 5, 3) ITERATE(iterate_three_6, 6, 3)
ITERATE(iterate_three_7, 7, 3) ITERATE(iterate_three_8, 8, 3)
ITERATE(iterate_five_1, 1, 5) ITERATE(iterate_five_2, 2, 5) ITERATE(iterate_five_3, 3, 5) ITERATE(iterate_five_4, 4, 5)

int newton(stepper *c, const record *r, int block, const accuracy *to, enum newton_to far, trial *t)
{
    static iteration *const any[KNOWN + 1] = BY_KNOWN(iterate_any);
    static iteration *const three[KNOWN + 1] = {iterate_any_0, iterate_three_1, iterate_three_2, iterate_three_3,
                                                iterate_three_4, iterate_three_5, iterate_three_6, iterate_three_7,
                                                iterate_three_8};
    static iteration *const five[KNOWN + 1] = {iterate_any_0, iterate_five_1, iterate_five_2, iterate_five_3,
                                               iterate_five_4, iterate_any_5, iterate_any_6, iterate_any_7,
                                               iterate_any_8};
    int k = c->m->block;
    return (k == 3 ? three : k == 5 ? five : any)[IS_KNOWN(c->n)](c, r, block, to, far, t);
}
