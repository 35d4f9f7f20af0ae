/* direct.c (irk) - the exact stage matrix of a block, factored: (eig/h) M - f_y(T_i, Y_i) for one stage; for coupled
   stages the matrix of block*n rows, block (i, j) = (1/h) W_ij M - delta_ij f_y(T_i, Y_i), assembled with its pattern. */
#include <stdlib.h>
#include <string.h>
#include "irk/irk.h"

/* Pattern of the coupled matrix.  cols, rows: the pattern of J with the diagonal; from: where an entry lies in J and M
   (-1: only the diagonal of the identity). */
struct kron {
    int sparse;
    int *cols, *rows, *from;
    costate_pattern pattern;
    int *col, *row;
    double *value;
};

void kron_free(struct kron *k)
{
    if (!k) return;
    free(k->cols);
    free(k->rows);
    free(k->from);
    free(k->col);
    free(k->row);
    free(k->value);
    free(k);
}

static void add_diagonal(const costate_pattern *a, struct kron *k)
{
    int used = 0;
    for (int j = 0; j < a->n; j++) {
        int seen = 0;
        k->cols[j] = used;
        for (int e = a->col[j]; e <= a->col[j + 1]; e++) {
            int row = e < a->col[j + 1] ? a->row[e] : a->n;
            if (!seen && row >= j) {
                seen = 1;
                if (row > j) { k->rows[used] = j; k->from[used++] = -1; }
            }
            if (row < a->n) { k->rows[used] = row; k->from[used++] = e; }
        }
    }
    k->cols[a->n] = used;
}

/* Block (i, j) holds all of the pattern if i = j or M is a matrix, else only the diagonal. */
static int full(const stepper *c, int i, int j) { return i == j || c->maps->M; }

static void assemble_pattern(const stepper *c, struct kron *k)
{
    int n = c->n, b = c->m->block, used = 0;
    for (int j = 0; j < b * n; j++) {
        k->col[j] = used;
        for (int i = 0; i < b; i++)
            for (int e = k->cols[j % n]; e < k->cols[j % n + 1]; e++)
                if (full(c, i, j / n) || k->rows[e] == j % n) k->row[used++] = i * n + k->rows[e];
    }
    k->col[b * n] = used;
    k->pattern = (costate_pattern){b * n, k->col, k->row};
}

static int make_sparse(stepper *c, struct kron *k)
{
    size_t b = (size_t)c->m->block, n = (size_t)c->n, most = c->maps->entries + n;
    k->sparse = 1;
    k->cols = malloc((n + 1) * sizeof *k->cols);
    k->rows = malloc(most * sizeof *k->rows);
    k->from = malloc(most * sizeof *k->from);
    k->col = malloc((b * n + 1) * sizeof *k->col);
    k->row = malloc(b * b * most * sizeof *k->row);
    k->value = malloc(b * b * most * sizeof *k->value);
    if (!k->cols || !k->rows || !k->from || !k->col || !k->row || !k->value) return COSTATE_NO_MEMORY;
    add_diagonal(c->maps->pattern, k);
    assemble_pattern(c, k);
    return COSTATE_OK;
}

static int make(stepper *c)
{
    size_t bn = (size_t)c->m->block * (size_t)c->n;
    kron_free(work(c)->kron);                     /* of a call that found no memory for the rest */
    struct kron *k = calloc(1, sizeof *k);
    int status = k ? COSTATE_OK : COSTATE_NO_MEMORY;
    if (k && c->maps->pattern) status = make_sparse(c, k);
    else if (k && !(k->value = malloc(bn * bn * sizeof *k->value))) status = COSTATE_NO_MEMORY;
    work(c)->kron = k;
    return status == COSTATE_OK ? status : fail(c->v, status, "No memory for the coupled stage matrix (%zu rows).", bn);
}

static double mass(const stepper *c, int from, int diagonal) { return c->maps->M ? from < 0 ? 0 : c->maps->M[from] : diagonal; }

/* minus column (j, q) of the coupled matrix; J: f_y at stage j */
static void column(stepper *c, double h, int j, int q, const double *J)
{
    struct kron *k = work(c)->kron;
    int n = c->n, b = c->m->block;
    size_t at = k->sparse ? (size_t)k->col[j * n + q] : (size_t)(j * n + q) * (size_t)(b * n);
    for (int i = 0; i < b; i++) {
        double w = c->m->W[i * c->s + j] / h;
        if (!k->sparse)
            for (int l = 0; l < n; l++) {
                int e = q * n + l;
                k->value[at++] = (i == j ? J[e] : 0) - w * mass(c, e, l == q);
            }
        else
            for (int e = k->cols[q]; e < k->cols[q + 1]; e++)
                if (full(c, i, j) || k->rows[e] == q)
                    k->value[at++] = (i == j && k->from[e] >= 0 ? J[k->from[e]] : 0) - w * mass(c, k->from[e], k->rows[e] == q);
    }
}

static int ls(stepper *c)
{
    int code = 0, n = c->n * c->m->block;
    if (work(c)->exact) return 0;
    if (c->m->block == 1) work(c)->exact = LS_Init(c->sh->backend, n, c->maps->pattern, 0, c->fac->lu[0], c->maps->count, &code);
    else {
        if (make(c) != COSTATE_OK) return c->v->status;
        work(c)->exact = LS_Init(c->sh->backend, n, work(c)->kron->sparse ? &work(c)->kron->pattern : NULL, 0, NULL, c->maps->count, &code);
    }
    return work(c)->exact ? 0 : shifts_failure(c->sh, c->sh->backend, code);
}

static int code_status(const stage_system *s, int code)
{
    stepper *c = s->c;
    if (code == 0) return 0;
    if (code < 0) return shifts_failure(c->sh, c->sh->backend, code);
    return fail(c->v, COSTATE_SINGULAR, "The stage matrix of a tangent or adjoint is singular or not finite at t = %.10g (h = %.3g).", s->r->t, s->r->h);
}

int irk_direct_factor(const stage_system *s)
{
    stepper *c = s->c;
    size_t n = (size_t)c->n;
    int b = c->m->block, i0 = s->block * b;
    double h = s->r->h, im, *J = work(c)->J;
    TRY(ls(c));
    for (int j = 0; j < b; j++) {
        TRY(jacobian(c->maps, s->r->t + c->m->c[i0 + j] * h, work(c)->stage + (size_t)(i0 + j) * n, c->w, J));
        for (int q = 0; b > 1 && q < c->n; q++) column(c, h, j, q, J);
    }
    if (b == 1) return code_status(s, LS_Decomp(work(c)->exact, shifts_sigma(c->sh, 0, &im) / h, 0, J, c->maps->M));
    return code_status(s, LS_Decomp(work(c)->exact, 0, 0, work(c)->kron->value, NULL));
}

int irk_direct_solve(const stage_system *s, int m, double *X)
{
    int code = LS_Solve(work(s->c)->exact, s->transpose, m, X);
    if (code <= 0) return code_status(s, code);
    return fail(s->c->v, COSTATE_NOT_FINITE, "A stage system of the %s has a NaN or Inf in it, or in its solution, at t = %.10g (h = %.3g).",
                s->transpose ? "adjoint" : "tangent", s->r->t, s->r->h);
}

void irk_direct_moduli(const stage_system *s, const double *x, double *out)
{
    LS_AddModuli(work(s->c)->exact, s->transpose, x, out);
}
