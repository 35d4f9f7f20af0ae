/* newton.c - the damped Newton iteration for the whole system (mathematics, eq. 12.5).

       W d = -G(z),  z+ = z + a d,  then with the same W:  W d+ = -G(z+)

   A step is accepted if |d+| <= (1 - a/4) |d|: the restricted natural monotonicity test, in the root mean square of all
   unknowns in units of their tolerances.  Otherwise a is reduced to the value that the same norms predict (P.
   Deuflhard, Newton Methods for Nonlinear Problems (2004), 3.3).  The test does not depend on the scaling of equations.
   d+ is the simplified correction with the old W: if it is small relative to d, it is added, and W is kept. */
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/larger.h"
#include "base/vec.h"
#include "bvp/bvp.h"

enum { ROUNDS_MOST = 40 };                      /* simplified corrections with one W */
static const double IMMENSE = 1e250;            /* an iterate beyond this has diverged */
static const double LEAST_DAMPING = 1e-6;       /* with Deuflhard's 1e-4 some solvable problems fail */
static const double FAST = 0.1;                 /* W is kept while |d+|/|d| is at most this */
static const double NEAR = 1;                   /* in tolerances: so near the solution no damping is needed */
static const double ILL_CONDITIONED = 1e-12;    /* an rcond below this explains why the iteration stalls */
static const double SHARP = 1e3;                /* W counts as that of the solution within so many round-offs */

typedef struct {
    bvp *b;
    solution *x;                    /* b->now */
    size_t all;
    double *d, *next;               /* corrections: all */
    double *from;                   /* all: the previous z */
    double *scale;                  /* n */
    size_of size, next_size;
    double damping;
    int its;
    int near;                       /* it stalled by round-off, but near enough to the solution to choose a mesh */
} iteration;

/* ---- sizes of corrections ---- */

/* Uses the tolerance of the largest y_c on the mesh, not of each y_c: a layer may move from one iterate to the next,
   and the monotonicity test must compare norms with the same weights. */
static void set_scale(iteration *k)
{
    const bvp *b = k->b;
    size_t n = (size_t)b->n;
    memset(k->scale, 0, n * sizeof *k->scale);
    for (int i = 0; i <= k->x->N; i++) {
        const double *y = y_of(b, k->x->z, i);
        for (size_t c = 0; c < n; c++) k->scale[c] = larger(k->scale[c], fabs(y[c]));
    }
    for (size_t c = 0; c < n; c++) k->scale[c] = 1 / (b->atol[c] + b->o.rtol * k->scale[c]);
}

static double root_mean_square(const iteration *k, const double *d)
{
    size_t n = (size_t)k->b->n;
    double sum = 0;
    for (size_t i = 0; i < k->all; i += n)
        for (size_t c = 0; c < n; c++) {
            double v = k->scale[c] * d[i + c];
            sum += v * v;
        }
    return sqrt(sum / (double)k->all);
}

/* Also the largest entry in units of its local tolerance: of y at mesh points, and of X in the intervals. */
static size_of measure(const iteration *k, double *d)
{
    const bvp *b = k->b;
    const solution *x = k->x;
    size_t n = (size_t)b->n, L = (size_t)b->L;
    size_of s = {.rms = root_mean_square(k, d)};
    for (int i = 0; i <= x->N; i++) {
        const double *y = y_of(b, x->z, i), *v = y_of(b, d, i);
        weights_at(b, y, i < x->N ? y + L : NULL, b->stage.w);
        for (size_t at = 0; at < (i < x->N ? L : n); at++) {
            double size = b->stage.w[at % n] * fabs(v[at]);
            if (size > s.most) { s.most = size; s.interval = i; s.component = (int)(at % n); }
        }
    }
    return s;
}

/* the round-off of z in units of the tolerance */
static double round_off(const bvp *b, const solution *x)
{
    double most = 0;
    for (int i = 0; i <= x->N; i++) {
        const double *y = y_of(b, x->z, i);
        weights_at(b, y, NULL, b->stage.w);
        for (int c = 0; c < b->n; c++) most = larger(most, b->stage.w[c] * fabs(y[c]));
    }
    return fmax(8 * DBL_EPSILON * most, 1e-300);
}

/* units of unknowns: powers of 2, so that scaling by them is exact */
static void set_units(bvp *b)
{
    size_t n = (size_t)b->n;
    for (size_t c = 0; c < n; c++) b->linear.unit[c] = b->atol[c];
    for (size_t k = 0; k < unknowns(b); k++) b->linear.unit[k % n] = larger(b->linear.unit[k % n], fabs(b->now.z[k]));
    for (size_t c = 0; c < n; c++) {
        int exponent;
        frexp(b->linear.unit[c], &exponent);
        b->linear.unit[c] = ldexp(1, exponent);
    }
}

/* ---- an iteration ---- */

/* d <- -W^-1 G(z) */
static int correction(iteration *k, double *d, size_of *size)
{
    bvp *b = k->b;
    for (size_t i = 0; i < k->all; i++)
        if (!(fabs(k->x->z[i]) < IMMENSE)) return retry(&b->v, WHY_NOT_FINITE);
    TRY(bvp_residual(b, k->x, d));
    b->count.solves++;
    TRY(b->linear.by->solve(b, 0, 1, d));
    for (size_t i = 0; i < k->all; i++) d[i] = -d[i];
    *size = measure(k, d);
    return 0;
}

static int factor(iteration *k)
{
    bvp *b = k->b;
    b->count.decompositions++;
    b->linear.factored = 0;
    set_units(b);
    return b->linear.by->factor(b);
}

static int tell(const iteration *k, double error_before)
{
    const bvp *b = k->b;
    costate_bvp_iteration it = {b->count.meshes - 1, k->its, k->x->N, k->size.rms, k->damping, error_before};
    if (!b->o.on_iteration || b->o.on_iteration(&it, b->o.on_iteration_ctx) == 0) return 0;
    return fail(&k->b->v, COSTATE_STOPPED, "on_iteration asked to stop: iteration %d on a mesh of %d intervals.",
                k->its, k->x->N);
}

/* On a mesh that does not resolve a layer the matrix may be so ill-conditioned that round-off keeps corrections above
   the tolerance.  Six digits are enough to find out where the mesh must be refined. */
static int six_digits(const iteration *k)
{
    const bvp *b = k->b;
    size_t n = (size_t)b->n;
    double sum = 0;
    for (size_t i = 0; i < k->all; i++) {
        size_t c = i % n;
        double most = (1 / k->scale[c] - b->atol[c]) / b->o.rtol, part = k->d[i] / larger(most, b->atol[c]);
        sum += part * part;
    }
    return sqrt(sum / (double)k->all) <= 1e-6;
}

static int stalled(iteration *k, const char *how)
{
    const solution *x = k->x;
    int i = k->size.interval;
    k->near = six_digits(k);
    if (k->b->count.rcond < ILL_CONDITIONED) return not_determined(k->b);
    return fail(&k->b->v, COSTATE_NEWTON, "Newton's iteration %s after %d iterations on %d intervals: the correction "
                "is %.2e times the tolerance, largest in y[%d] near t = %.10g.  A better guess, or continuation, may "
                "help; the last iterate is there to be looked at.", how, k->its, x->N, k->size.rms, k->size.component,
                x->t[i]);
}

/* Reduces a in z = from + a d until the next correction (next, next_size) is smaller. */
static int damped(iteration *k)
{
    double a = k->damping;
    memcpy(k->from, k->x->z, k->all * sizeof *k->from);
    for (int tries = 0; a >= LEAST_DAMPING; tries++) {
        add_scaled(k->all, k->x->z, k->from, a, k->d);
        int status = correction(k, k->next, &k->next_size);
        if (status < 0) return status;
        k->damping = a;
        if (status == 0 && k->next_size.rms <= (1 - a / 4) * k->size.rms) {
            k->b->count.damped += tries > 0;
            return 0;
        }
        if (status == 0) {                      /* |d+ - (1 - a) d| measures the curvature */
            for (size_t i = 0; i < k->all; i++) k->next[i] -= (1 - a) * k->d[i];
            double bend = root_mean_square(k, k->next);
            a *= fmax(0.1, fmin(0.5, 0.5 * k->size.rms * a / bend));
        }
        else a *= 0.5;
    }
    memcpy(k->x->z, k->from, k->all * sizeof *k->from);
    return stalled(k, "stalled");
}

/* Adds simplified corrections with the same W, the first of which is known, while they decrease fast.  1: at the goal.
   */
static int simplified(iteration *k, double goal)
{
    if (k->damping < 1) return 0;
    for (int round = 0; round < ROUNDS_MOST; round++) {
        int slow = !(k->next_size.rms <= FAST * k->size.rms);
        memcpy(k->from, k->x->z, k->all * sizeof *k->from);
        add_scaled(k->all, k->x->z, k->from, 1, k->next);
        k->size = k->next_size;
        if (k->size.most <= goal) return 1;
        if (slow) return 0;
        int status = correction(k, k->next, &k->next_size);
        if (status < 0) return status;
        if (status > 0) { memcpy(k->x->z, k->from, k->all * sizeof *k->from); return 0; }
        if (!(k->next_size.rms <= k->size.rms)) return 0;
    }
    return 0;
}

/* Adds d and further simplified corrections until they are round-off, that is, no longer decrease.  If W belongs to
   another iterate (fresh 0), that may be the reason why they do not decrease: then 0 is returned. */
static int settle(iteration *k, int fresh)
{
    double round_off_ = round_off(k->b, k->x);
    for (int round = 0; round < ROUNDS_MOST; round++) {
        add_scaled(k->all, k->x->z, k->x->z, 1, k->d);
        if (k->size.most <= round_off_) return 1;
        int status = correction(k, k->next, &k->next_size);
        if (status != 0) return status < 0 ? status : 0;
        if (!fresh && !(k->next_size.rms <= FAST * k->size.rms)) return 0;
        if (!(k->next_size.rms <= 0.5 * k->size.rms)) return 1;
        memcpy(k->d, k->next, k->all * sizeof *k->d);
        double ratio = k->next_size.most / k->size.most;
        k->size = k->next_size;
        if (k->size.most * ratio > round_off_) continue;
        add_scaled(k->all, k->x->z, k->x->z, 1, k->d);         /* the next correction would be round-off */
        return 1;
    }
    return fresh;
}

/* Continues with the existing W, of an earlier iterate on this mesh. */
static int go_on(iteration *k)
{
    set_scale(k);
    int status = correction(k, k->d, &k->size);
    if (status != 0) return status < 0 ? status : 0;
    return k->size.most <= NEAR ? settle(k, 0) : 0;
}

/* Newton's iteration; goal 0: to round-off. */
static int iterate(iteration *k, double goal, double error_before)
{
    bvp *b = k->b;
    int done = 0;
    k->damping = 1;
    for (k->its = 0; k->its < b->o.newton_max; k->its++) {
        set_scale(k);
        TRY(bvp_failed(b, factor(k), "an iterate of Newton's iteration"));
        TRY(bvp_failed(b, correction(k, k->d, &k->size), "an iterate of Newton's iteration"));
        b->count.iterations++;
        if (k->size.most <= NEAR) {
            b->linear.factored = k->size.most <= SHARP * round_off(b, k->x);
            done = settle(k, 1);
        }
        else {
            k->damping = fmin(1, 8 * k->damping);
            TRY(damped(k));
            done = simplified(k, goal);
        }
        TRY(tell(k, error_before));
        if (done) return done < 0 ? done : 0;
    }
    return stalled(k, "did not end");
}

int bvp_newton(bvp *b, double goal, int kept, double error_before, int *near)
{
    iteration k = {.b = b, .x = &b->now, .all = unknowns(b)};
    TRY(b->linear.by->prepare(b, b->now.N));
    if (!(k.d = malloc((3 * k.all + (size_t)b->n) * sizeof *k.d)))
        return fail(&b->v, COSTATE_NO_MEMORY, "No memory for Newton's iteration on %d intervals.", b->now.N);
    k.next = k.d + k.all;
    k.from = k.next + k.all;
    k.scale = k.from + k.all;
    int status = kept ? go_on(&k) : 0;
    status = status < 0 ? status : status > 0 ? 0 : iterate(&k, goal, error_before);
    free(k.d);
    *near = k.near;
    return status;
}
