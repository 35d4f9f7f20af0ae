/* precondition.c - preconditioners of diffusion on a grid: costate's splitting into lines, and multigrid. */
#include "precondition.h"

#include <costate/operators.h>
#include <stdlib.h>

#include "multigrid.h"

struct precondition {
    const ivp *b;
    costate_splitting *lines;    /* adi */
    multigrid *cycles;           /* the others */
    double *J, *reaction;        /* reaction: values of the Jacobian; its diagonal without the diffusion's */
    costate_preconditioner by;
};

static int line_values(const costate_point *x, double *lower, double *diagonal, double *upper, void *ctx)
{
    const ivp *b = ctx;
    (void)x;
    for (int i = 0; i < b->P.n; i++) {
        lower[i] = upper[i] = b->grid.d;
        diagonal[i] = -2 * b->grid.d;
    }
    return 0;
}

static int make_lines(precondition *q)
{
    const ivp_grid *g = &q->b->grid;
    costate_part parts[3];
    int stride = g->components;
    for (int k = 0; k < g->dimensions; k++, stride *= g->side)
        parts[k] = (costate_part){.lines = line_values, .points = g->side, .stride = stride, .periodic = g->periodic,
                                  .ctx = (void *)q->b};
    q->lines = costate_splitting_new(&q->b->P, g->dimensions, parts);
    return q->lines && costate_splitting_status(q->lines) == COSTATE_OK;
}

static int make_cycles(precondition *q, int kind, int cycles, int sweeps)
{
    const costate_problem *P = &q->b->P;
    q->cycles = multigrid_new(&q->b->grid, cycles, sweeps);
    if (kind != PRECONDITION_REACTION) return q->cycles != NULL;
    q->J = malloc((size_t)P->pattern->col[P->n] * sizeof *q->J);
    q->reaction = malloc((size_t)P->n * sizeof *q->reaction);
    return q->cycles && q->J && q->reaction;
}

/* ---- by multigrid ------------------------------------------------------------------------------------------------ */

static int put_reaction(precondition *q, const costate_point *x)
{
    const costate_problem *P = &q->b->P;
    const costate_pattern *p = P->pattern;
    double diffusion = -2 * q->b->grid.dimensions * q->b->grid.d;
    int status = P->jac(x, q->J, P->ctx);
    for (int j = 0; j < p->n; j++)
        for (int k = p->col[j]; k < p->col[j + 1]; k++) if (p->row[k] == j) q->reaction[j] = q->J[k] - diffusion;
    return status;
}

static int cycles_setup(double sigma, const costate_point *x, void *ctx)
{
    (void)x;
    multigrid_setup(((precondition *)ctx)->cycles, sigma, NULL);
    return 0;
}

static int cycles_solve(int transposed, double *x, void *ctx)
{
    (void)transposed;
    multigrid_solve(((precondition *)ctx)->cycles, x);
    return 0;
}

/* ---- for the codes ----------------------------------------------------------------------------------------------- */

void precondition_free(precondition *q)
{
    if (!q) return;
    costate_splitting_free(q->lines);
    multigrid_free(q->cycles);
    free(q->J);
    free(q->reaction);
    free(q);
}

precondition *precondition_new(const ivp *b, int kind, int cycles, int sweeps)
{
    precondition *q = b->grid.dimensions ? calloc(1, sizeof *q) : NULL;
    if (!q) return NULL;
    q->b = b;
    int made = kind == PRECONDITION_ADI ? make_lines(q) : make_cycles(q, kind, cycles, sweeps);
    if (!made) return precondition_free(q), NULL;
    q->by = q->lines ? *costate_splitting_preconditioner(q->lines)
                     : (costate_preconditioner){.setup = cycles_setup, .solve = cycles_solve, .ctx = q};
    return q;
}

int precondition_setup(precondition *q, double sigma, const costate_point *x, int renewed)
{
    int status = q->reaction && renewed ? put_reaction(q, x) : 0;
    if (status == 0 && !q->reaction) return q->by.setup(sigma, x, q->by.ctx);
    if (status == 0) multigrid_setup(q->cycles, sigma, q->reaction);
    return status;
}

int precondition_solve(precondition *q, int transposed, double *x) { return q->by.solve(transposed, x, q->by.ctx); }

const costate_preconditioner *precondition_for_costate(const precondition *q) { return &q->by; }
