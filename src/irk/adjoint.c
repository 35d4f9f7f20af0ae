/* adjoint.c (irk) - m functionals back through one implicit step: the transpose of tangent.c
   (mathematics, eq. 5.14 to 5.17).

       B^T u = rho,   rho_j = d_j lambda + h b_j r_y(j)^T theta + seed_j                      last block first
       lambda <- lambda + sum [ E_y(i)^T u_i + h b_i r_y(i)^T theta ] + f_y(0)^T sum g_i u_i + h b0 r_y(0)^T theta
       mu     += the same with E_p, r_p;   t = the same with E_t, r_t
       h       = sum c_i [ E_t(i)^T u_i + h b_i r_t(i)^T theta ] + sum b_i r_i^T theta + b0 r_0^T theta
                 + (1/h) sum K_i^T M(i)^T u_i
   Without an explicit first stage the sum of all equations gives, with R = 1 - sum d_j,
       lambda <- R lambda + (1/h) sum (W 1)_i M(i)^T u_i - sum seed_i  (mathematics, eq. 5.19)
   and neither products nor their cancellation where f_y is large; algebraic components are exactly zero where R is. */
#include <string.h>
#include "irk/irk.h"
#include "linsol/residual.h"

/* not where systems are solved loosely: there the sum of all equations holds what is left of them, divided by h */
int irk_short_form(const stepper *c) { return !c->m->g && c->o->krylov_tol <= EXACT_KRYLOV; }

double irk_remainder(const costate_method *m)
{
    double R = 1;
    for (int i = 0; i < m->s; i++) R -= m->d[i];
    return m->is & COSTATE_STIFFLY_ACCURATE ? 0 : R;
}

/* h b r'(x)^T theta: y-parts added to `y`, p-parts to mu, t-parts to t and h */
static int quadrature(stepper *c, const record *r, const functionals *g, int i, double *y)
{
    const irk_work *a = c->own;
    size_t n = (size_t)c->n;
    double b = i < 0 ? c->m->b0 : c->m->b[i], ci = i < 0 ? 0 : c->m->c[i];
    if (!c->nq || b == 0) return 0;
    costate_point x = point(c->maps, r->t + ci * r->h, i < 0 ? r->y : a->stage + (size_t)i * n);
    const double *theta = columns_theta(c, &a->columns, r, g, b);
    const costate_gradient *to = columns_to(c, &a->columns, g, y, n);
    TRY(map_adjoints(c->maps, &c->maps->cost, &x, g->m, theta, (size_t)c->nq, to));
    if (!g->times) return 0;
    TRY(map_value(c->maps, &c->maps->cost, x.t, x.y, a->r));
    columns_times(&a->columns, g, ci);
    columns_rate(c, g, b, a->r);
    return 0;
}

/* M^T u_i where they were made: u itself, where M is the identity */
static const double *mass_products(const irk_back *b) { return b->MU ? b->MU : b->g->U; }

int irk_rates_back(stepper *c, const record *r, const irk_back *b, int i)
{
    size_t stride = (size_t)c->n * (size_t)b->g->m;
    double *rho = b->g->U + (size_t)i * stride;
    memset(rho, 0, stride * sizeof *rho);
    return quadrature(c, r, b->g, i, rho);
}

void irk_right_hand_side(stepper *c, const record *r, const irk_back *b, int i)
{
    const functionals *g = b->g;
    size_t n = (size_t)c->n, stride = n * (size_t)g->m;
    int next = i / c->m->block * c->m->block + c->m->block;
    for (int j = 0; j < g->m; j++) {
        double *rho = g->U + (size_t)i * stride + (size_t)j * n;
        if (!irk_short_form(c)) axpy(n, 1, rho, b->sum + (size_t)j * n);
        axpy(n, c->m->d[i], g->lambda + (size_t)j * (size_t)c->N, rho);
        if (g->seed) axpy(n, 1, g->seed + (size_t)i * stride + (size_t)j * n, rho);
        irk_coupling(c, r->h, 1, i, next, c->s, -1, mass_products(b) + (size_t)j * n, stride, rho, rho);
    }
}

/* E'(x)^T w into y (added; NULL: not wanted), mu and the times; M^T w into K (NULL: not wanted) */
static int products(stepper *c, const functionals *g, const costate_point *x, double ci, const double *w, double *y,
                    double *K)
{
    const column_work *a = &work(c)->columns;
    size_t n = (size_t)c->n;
    columns_to(c, a, g, y, n);
    TRY(equation_adjoints(c->maps, x, g->m, w, n, a->to, K, n));
    columns_times(a, g, ci);
    return 0;
}

int irk_stage_back(stepper *c, const record *r, const irk_back *b, int i, double *K)
{
    const functionals *g = b->g;
    if (!K && irk_short_form(c) && !g->mu && !g->times) return 0;
    costate_point x = irk_stage_point(c, r, i);
    const double *u = g->U + (size_t)i * (size_t)g->m * (size_t)c->n;
    return products(c, g, &x, c->m->c[i], u, irk_short_form(c) ? NULL : b->sum, K);
}

int irk_first_stage_back(stepper *c, const record *r, const irk_back *b)
{
    const functionals *g = b->g;
    size_t n = (size_t)c->n, m = (size_t)g->m;
    double *v = work(c)->columns.y;
    costate_point x = point(c->maps, r->t, r->y);
    for (size_t j = 0; c->m->g && j < m; j++) combine(n, v + j * n, NULL, 1, c->s, c->m->g, g->U + j * n, n * m);
    if (c->m->g) TRY(products(c, g, &x, 0, v, b->sum, NULL));
    return quadrature(c, r, g, -1, b->sum);
}

/* u_i^T of the residual that Newton left */
static int defects(stepper *c, const record *r, const functionals *g)
{
    size_t n = (size_t)c->n, m = (size_t)g->m;
    double *left = work(c)->Y;
    if (!g->defect) return 0;
    TRY(irk_residuals_begin(c, r));
    for (int i = 0; i < c->s; i++) {
        TRY(irk_residual_left(c, r, i, left));
        for (size_t j = 0; j < m; j++) g->defect[j] += dot(n, g->U + ((size_t)i * m + j) * n, left);
    }
    return 0;
}

int irk_finish_back(stepper *c, const record *r, const irk_back *b)
{
    const functionals *g = b->g;
    size_t n = (size_t)c->n, m = (size_t)g->m, stride = n * m;
    double w[STAGES_MOST], R = irk_remainder(c->m);
    for (size_t i = 0; g->times && i < (size_t)c->s; i++)
        for (size_t j = 0; j < m; j++)
            g->h[j] += dot(n, mass_products(b) + (i * m + j) * n, work(c)->slope + i * n) / r->h;
    for (int i = 0; i < c->s; i++) w[i] = irk_row_sum(c->m, i);
    for (size_t j = 0; j < m; j++) {
        double *lambda = g->lambda + j * (size_t)c->N;
        if (!irk_short_form(c)) { axpy(n, 1, b->sum + j * n, lambda); continue; }
        for (size_t i = 0; i < n; i++) lambda[i] = R == 0 ? 0 : R * lambda[i];
        combine(n, lambda, lambda, 1 / r->h, c->s, w, mass_products(b) + j * n, stride);
        for (size_t i = 0; g->seed && i < (size_t)c->s; i++) axpy(n, -1, g->seed + i * stride + j * n, lambda);
    }
    return defects(c, r, g);
}

int irk_block_back(stepper *c, const record *r, const irk_back *b, int block)
{
    const functionals *g = b->g;
    size_t stride = (size_t)c->n * (size_t)g->m;
    int k = c->m->block;
    for (int i = block * k; i < (block + 1) * k; i++) {
        TRY(irk_rates_back(c, r, b, i));
        irk_right_hand_side(c, r, b, i);
    }
    stage_system s = {.c = c, .r = r, .block = block, .transpose = 1};
    TRY(irk_stage_solve(&s, g->m, g->U + (size_t)(block * k) * stride));
    for (int i = block * k; i < (block + 1) * k; i++)
        TRY(irk_stage_back(c, r, b, i, b->MU ? b->MU + (size_t)i * stride : NULL));
    return 0;
}

int irk_adjoint(stepper *c, const record *r, const functionals *g)
{
    const irk_back b = {g, work(c)->MU, work(c)->sum};
    irk_stage_states(c, r, g->times || g->defect);
    memset(b.sum, 0, (size_t)c->n * (size_t)g->m * sizeof *b.sum);
    TRY(irk_stage_start(c, r));
    for (int block = c->s / c->m->block - 1; block >= 0; block--) TRY(irk_block_back(c, r, &b, block));
    TRY(irk_first_stage_back(c, r, &b));
    return irk_finish_back(c, r, &b);
}
