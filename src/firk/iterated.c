/* iterated.c (firk) - systems with the exact matrix of coupled stages, solved by iteration with the split matrix of the
   mean Jacobian, instead of factoring block*n rows (mathematics, section 8.4):

       B = (1/h) W x M - diag(J_i),   P = (1/h) W x M - I x mean J_i.

   P costs a factorisation of n rows for each eigenvalue, B no more than the J_i.  Where these differ so much that GMRES
   takes many iterations, B is factored: then, and for some systems after it. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "firk/firk.h"
#include "linsol/gmres.h"

/* From about FROM rows on this takes less time.  GMRES reduces the residual to FIRST; the rest is left to refinement,
   with the products of the problem.  MOST iterations are too many; then SKIP systems are factored without a try. */
enum { FROM = 24, MOST = 12, SKIP = 10 };
static const double FIRST = 1e-15;

struct iterated {
    double *J;                  /* block*entries: the J_i */
    double *b, *work;           /* block*n, and twice as many */
    linearisation mean;
    factors *split;
    int skip;                   /* systems to be factored before the next try */
};

int iterated_suits(const stepper *c)
{
    int asked = c->o->stage_solve != COSTATE_STAGE_AUTO;
    return !asked && !c->maps->residual && !c->maps->index && c->n * c->m->block >= FROM;
}

void iterated_free(iterated *k)
{
    if (!k) return;
    free(k->J);
    free(k->b);
    free(k->mean.J);
    factors_release(k->split);
    free(k);
}

iterated *iterated_new(stepper *c)
{
    size_t n = (size_t)c->n, block = (size_t)c->m->block, entries = c->maps->entries;
    iterated *k = calloc(1, sizeof *k);
    if (!k) return NULL;
    k->J = malloc((block * entries + 1) * sizeof *k->J);
    k->b = malloc(3 * block * n * sizeof *k->b);
    k->mean.J = malloc((entries + 1) * sizeof *k->mean.J);
    k->split = factors_new(c->sh, c->fac);
    k->work = k->b ? k->b + block * n : NULL;
    if (k->J && k->b && k->mean.J && k->split) return k;
    iterated_free(k);
    return NULL;
}

int iterated_skips(iterated *k) { return k->skip > 0 ? k->skip-- : 0; }

void iterated_fails(iterated *k) { k->skip = SKIP; }

void iterated_restart(iterated *k) { if (k) k->skip = 0; }

int iterated_factor(const stage_system *s, iterated *k)
{
    stepper *c = s->c;
    size_t entries = c->maps->entries, block = (size_t)c->m->block;
    memset(k->mean.J, 0, entries * sizeof *k->mean.J);
    for (size_t i = 0; i < block; i++) {
        costate_point x = irk_stage_point(c, s->r, (int)i);
        double *J = k->J + i * entries;
        TRY(jacobian(c->maps, &x, c->w, J, work(c)->M));
        axpy(entries, 1.0 / (double)block, J, k->mean.J);
    }
    k->mean.M = c->maps->M;
    return shifts_factor(c->sh, &k->mean, s->r->h, &k->split);
}

static const double *jacobian_of(const stepper *c, const iterated *k, int i)
{
    return k->J + (size_t)i * c->maps->entries;
}

/* (1/h) W_ij, or transposed W_ji */
static double coupling(const stage_system *s, int i, int j)
{
    const costate_method *m = s->c->m;
    return m->W[s->transpose ? j * m->s + i : i * m->s + j] / s->r->h;
}

/* a system and how it is solved, for GMRES */
typedef struct { const stage_system *s; const iterated *k; } iteration;

static int product(void *ctx, int m, const double *x, double *out)
{
    const iteration *it = ctx;
    const stage_system *s = it->s;
    const stepper *c = s->c;
    size_t n = (size_t)c->n;
    double *v = work(c)->v1;
    (void)m;                                                            /* 1 */
    memset(out, 0, (size_t)c->m->block * n * sizeof *out);
    for (int i = 0; i < c->m->block; i++, out += n) {
        memset(v, 0, n * sizeof *v);
        for (int j = 0; j < c->m->block; j++) axpy(n, coupling(s, i, j), x + (size_t)j * n, v);
        mass_multiply(c->maps, s->transpose, 1, 1, v, out);
        pattern_multiply(c->n, c->maps->pattern, jacobian_of(c, it->k, i), s->transpose, -1, 1, x + (size_t)i * n, out);
    }
    return 0;
}

static int split_solve(void *ctx, int m, double *x)
{
    const iteration *it = ctx;
    accuracy to = irk_accuracy(it->s->c, 0);
    return firk_solve(it->s->c, it->k->split, it->s->transpose, m, &to, x);
}

int iterated_solve(const stage_system *s, iterated *k, double *x, int *done)
{
    const stepper *c = s->c;
    const irk_work *a = work(c);
    size_t len = (size_t)c->m->block * (size_t)c->n;
    iteration it = {s, k};
    gmres_result got = {0};
    gmres_system g = {.space = &c->maps->space, .n = (int)len, .columns = 1, .limit = MOST, .tol = FIRST,
                      .w = a->systems.weights, .apply = product, .precondition = split_solve, .believe = 1, .ctx = &it,
                      .work = a->systems.krylov};
    memcpy(k->b, x, len * sizeof *x);
    int status = gmres(&g, k->b, x, k->work, &got);
    if (status < 0) return status;
    c->maps->count->krylov += got.iterations;
    *done = !status && got.longest < MOST && got.residual <= FIRST;
    if (!*done) memcpy(x, k->b, len * sizeof *x);
    return 0;
}

int iterated_again(const stage_system *s, iterated *k, double *x)
{
    iteration it = {s, k};
    return split_solve(&it, 1, x);
}

/* out += |A| |x| or |A|^T |x| */
static void add_moduli(size_t n, const costate_pattern *pattern, const double *A, int transpose, const double *x,
                       double *out)
{
    for (size_t q = 0; q < n; q++) {
        size_t from = pattern ? (size_t)pattern->col[q] : q * n, end = pattern ? (size_t)pattern->col[q + 1] : from + n;
        double sum = 0;
        for (size_t e = from; e < end; e++) {
            size_t row = pattern ? (size_t)pattern->row[e] : e - from;
            if (transpose) sum += fabs(A[e] * x[row]);
            else out[row] += fabs(A[e] * x[q]);
        }
        out[q] += sum;
    }
}

/* The parts with M and with J_i of an entry of B are added after their moduli are taken: a little more than |B|. */
void iterated_moduli(const stage_system *s, const iterated *k, const double *x, double *size)
{
    const stepper *c = s->c;
    size_t n = (size_t)c->n;
    double *v = work(c)->v1;
    for (int i = 0; i < c->m->block; i++) {
        double *out = size + (size_t)i * n;
        memset(v, 0, n * sizeof *v);
        for (int j = 0; j < c->m->block; j++) {
            double w = coupling(s, i, j);
            const double *xj = x + (size_t)j * n;
            for (size_t l = 0; l < n; l++) v[l] += fabs(w * xj[l]);
        }
        if (c->maps->M) add_moduli(n, c->maps->pattern, c->maps->M, s->transpose, v, out);
        else axpy(n, 1, v, out);
        add_moduli(n, c->maps->pattern, jacobian_of(c, k, i), s->transpose, x + (size_t)i * n, out);
    }
}
