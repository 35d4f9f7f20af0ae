/* forward.c (irk) - one implicit step: sdirk (with or without explicit first stage) and firk
   (mathematics, eq. 5.3 to 5.4).

       K-free form: residuals R_i of irk.h, Newton by blocks, y+ = y + sum d_j Z_j,
       q+ = q + h sum b_i r(t + c_i h, y + Z_i, p) + h b0 r(t, y, p) */
#include <math.h>
#include <string.h>
#include "base/larger.h"
#include "irk/irk.h"

/* From this size on, J costs little compared with the factorisation that a new h requires anyway, and a new J makes
   Newton's iteration converge faster.  A rough bound between small dense systems, where J is expensive, and large
   sparse ones. */
enum { LARGE = 100 };

/* Jacobian and factorisation of the step; old ones are kept while they are good enough.  A replay uses the recorded
   ones. */
static int prepare_matrices(stepper *c, record *r, const trial *t)
{
    const decisions *as = t->as;
    if (!as && c->n >= LARGE && c->fac->h != r->h && c->lin.serial != t->serial)
        linearisation_outdate(&c->lin);
    long want = as ? as->jacobian : c->lin.serial ? c->lin.serial : t->serial;
    if (c->lin.serial != want) {
        const record *at = as && as->from ? as->from : r;
        double *w = at == r ? c->w : work(c)->w;        /* of that step: differences take their increments from them */
        if (at != r) weights(c, at->y, w);
        costate_point x = start_of_step(c, at);
        TRY(linearise(c->maps, want, &x, w, &c->lin));
    }
    r->jacobian = want;
    return factors_fit(c->fac, &c->lin, r->h) ? 0 : shifts_factor(c->sh, &c->lin, r->h, &c->fac);
}

static int start_slope(stepper *c, const record *r, trial *t)
{
    if (t->started || c->maps->residual || (!c->m->g && c->m->est.e0 == 0)) return 0;
    TRY(map_value(c->maps, &c->maps->rhs, r->t, r->y, work(c)->f0));
    t->started = 1;
    return 0;
}

/* If extrapolation of the previous step multiplies errors of its stages by more than FAR (maximum norm), Newton's
   iteration starts from zero instead.  radau2a at h = fac_max h_prev: 1.8e4.  Seven stages at h = h_prev: 1.3e5; with
   steps as large as the tolerance permits, such guesses lie outside the region of convergence. */
static const double FAR = 1e5;

/* D (s*s) <- the weights below, of a dense output of this degree; the largest sum of moduli in a row.  s and degree are
   known where this is inlined for them. */
INLINE double weigh(int s, int degree, const costate_method *m, double ratio, double *D)
{
    double most = 0;
    for (int i = 0; i < s; i++) {
        double theta = 1 + m->c[i] * ratio, sum = 0;
        for (int j = 0; j < s; j++, D++) {
            *D = dense_value(degree, m->dense.D + j * degree, theta) - m->d[j];
            sum += fabs(*D);
        }
        most = sum > most ? sum : most;
    }
    return most;
}

/* Weights D of the extrapolation u_prev(1 + c_i h/h_prev) - y = sum_j D_ij X_j; NULL: it goes too far.  They depend on
   the ratio alone, which is often that of the step before: h is kept, or fixed. */
static const double *continued(const stepper *c, double ratio)
{
    continuation *u = &work(c)->continued;
    if (ratio == u->ratio) return u->D;
    int s = c->s, degree = c->m->dense.degree, known = s == degree ? s : 0;
    double most = known == 3 ? weigh(3, 3, c->m, ratio, u->weights) :
                  known == 5 ? weigh(5, 5, c->m, ratio, u->weights) : weigh(s, degree, c->m, ratio, u->weights);
    u->ratio = ratio;
    u->D = most <= FAR ? u->weights : NULL;
    return u->D;
}

/* Initial guess: Z_i = u_prev(1 + c_i h/h_prev) - y, the extrapolated dense output of the previous step.  Otherwise
   zero, or for a residual c_i h y', so that K_i = y': if F is not linear in y', the iteration must start near it. */
static void predict(const stepper *c, const record *r, const trial *t)
{
    size_t n = (size_t)c->n;
    const record *prev = t->before;
    const double *D = prev && t->predict ? continued(c, r->h / prev->h) : NULL;
    if (D) { mix(n, t->to.X, 0, 1, c->s, D, prev->X); return; }
    if (!r->yp) memset(t->to.X, 0, (size_t)c->s * n * sizeof *t->to.X);
    for (int i = 0; r->yp && i < c->s; i++) add_scaled(n, t->to.X + (size_t)i * n, NULL, c->m->c[i] * r->h, r->yp);
}

static int quadrature(stepper *c, const record *r, const trial *t, double *q1, double *errq)
{
    const irk_work *a = c->own;
    size_t n = (size_t)c->n, nq = (size_t)c->nq;
    if (!nq) return 0;
    for (int i = -1; i < c->s; i++) {
        double b = irk_b(c, i), error = a->error_b[1 + i];
        const double *Y = r->y;
        if (b == 0 && error == 0) continue;
        if (i >= 0) { add_scaled(n, a->Y, r->y, 1, r->X + (size_t)i * n); Y = a->Y; }
        TRY(map_value(c->maps, &c->maps->cost, r->t + irk_c(c, i) * r->h, Y, a->r));
        axpy(nq, r->h * b, a->r, q1);
        axpy(nq, r->h * error, a->r, errq);
    }
    if (c->m->est.ex0 == 0 || !t->estimate) return 0;
    TRY(irk_inner_value(c, &c->maps->cost, r, a->r));
    axpy(nq, r->h * c->m->est.ex0, a->r, errq);
    return 0;
}

static int stages(stepper *c, record *r, trial *t)
{
    int counted = t->as && t->as->iterations && t->as->counted;
    if (irk_inexact(c) && !counted && !t->exact) return irk_inexact_stages(c, r, t);
    TRY(prepare_matrices(c, r, t));
    predict(c, r, t);
    int others = t->as && !t->as->counted && c->m->block == 1 && !c->sh->matfree;     /* recorded by inexact.c: not
                                                                                         applicable here */
    const unsigned char *fixed = t->as && !others ? t->as->iterations : NULL;
    if (!fixed) TRY(newton_begin(c, r));
    enum newton_to far = fixed ? SO_MANY : t->exact ? ROUND_OFF : AS_ERRORS_COUNT;
    accuracy to = irk_accuracy(c, t->exact || (fixed && t->as->counted));
    unsigned char *iterations = t->to.iterations;
    double theta = 0;
    t->newton = 1;
    for (int b = 0, blocks = c->s / c->m->block; b < blocks; b++) {
        if (fixed) iterations[b] = fixed[b];
        TRY(newton(c, r, b, &to, far, t));
        theta = larger(theta, work(c)->theta);
        if (iterations[b] > t->newton) t->newton = iterations[b];
    }
    work(c)->theta = t->contraction = theta;
    return 0;
}

int irk_forward(stepper *c, record *r, trial *t)
{
    size_t n = (size_t)c->n, nq = (size_t)c->nq;
    TRY(start_slope(c, r, t));
    if (c->maps->index) {
        memcpy(work(c)->wn, c->w, n * sizeof *c->w);
        index_scale(c, r->h, work(c)->wn);
    }
    int status = stages(c, r, t);
    if (status == RETRY && c->v->why == WHY_NEWTON && c->lin.serial != t->serial && !t->as) {
        t->next = (adjustment){1, 1};
        linearisation_outdate(&c->lin);
    }
    TRY(status);
    if (nq) memcpy(t->y1 + n, r->y + n, nq * sizeof *t->y1);
    if (nq) memset(t->err + n, 0, nq * sizeof *t->err);
    combine(n, t->y1, r->y, 1, c->s, c->m->d, r->X, n);
    if (t->yp1) irk_coupling(c, r->h, 0, c->s - 1, 0, c->s, 1, r->X, n, NULL, t->yp1);
    TRY(quadrature(c, r, t, t->y1 + n, t->err + n));
    if (!t->estimate) return 0;
    return irk_error_is_plain(c, t) ? irk_error_plain(c, r, t->err) : irk_error(c, r, t);
}
