/* adjoint.c (irk) - m functionals back through one implicit step: the transpose of tangent.c (mathematics, eq. 5.14 to
   5.17).

       B^T u = rho,   rho_j = d_j lambda + h b_j r_y(j)^T theta + seed_j                      last block first
       lambda <- lambda + sum [ E_y(i)^T u_i + h b_i r_y(i)^T theta ] + f_y(0)^T sum g_i u_i + h b0 r_y(0)^T theta
       mu     += the same with E_p, r_p;   t = the same with E_t, r_t
       h       = sum c_i [ E_t(i)^T u_i + h b_i r_t(i)^T theta ] + sum b_i r_i^T theta + b0 r_0^T theta
                 + (1/h) sum K_i^T M(i)^T u_i
   Without an explicit first stage the sum of all equations gives, with R = 1 - sum d_j,
       lambda <- R lambda + (1/h) sum (W 1)_i M(i)^T u_i - sum seed_i               (mathematics, eq. 5.19)
   and neither products nor their cancellation where f_y is large; algebraic components are exactly zero where R is.

   All of this is linear in lambda, theta and the seeds, so that derivatives of a functional along x_i = (t' + c_i h',
   y' + Z'_i, K'_i, p') are further columns, to which terms are added that come from the functional (mathematics,
   section 2.5).  Of a block they are solved after it, with the same matrix:

       V_i = [E'(i)^T u_i]' = (V^t, V^y, V^k, V^p)_i, u_i held fixed,   K'_i = (1/h) (sum W_ij Z'_j - h' K_i)
       P_i = h [(1/h) M(i)^T u_i]' = M^T u'_i - V_i^k - (h'/h) M^T u_i
       B^T u' = rho' + V_j^y - (1/h) sum_i W_ij (P_i - M^T u'_i)     of stage j
       the rest with P_i in the place of M^T u_i, and E'(i)^T u'_i + V_i in that of E'(i)^T u_i;
       h' gets (1/h) sum K'_i^T M^T u_i and sum b_i (r'(i) x_i)^T theta */
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

/* columns on their way back through a step */
typedef struct {
    stepper *c;
    const record *r;
    const functionals *g;
    double *MU;                 /* s*m*n: M^T u_i, of derivatives P_i; NULL: u_i, where M is the identity */
    double *sum;                /* n*m: what stages add to lambda */
} irk_back;

/* the derivative of x_i along the directions of a jet, without K'_i */
static const costate_point *stage_directions(const irk_back *b, int i)
{
    return b->g->along ? irk_stage_directions(b->c, b->g->along, i) : NULL;
}

/* h b r'(x)^T theta: y-parts added to `y`, p-parts to mu, t-parts to t and h */
static int quadrature(const irk_back *b, int i, double *y)
{
    stepper *c = b->c;
    const irk_work *a = work(c);
    double weight = irk_b(c, i);
    if (!c->nq || weight == 0) return 0;
    costate_point x = irk_node_point(c, b->r, i);
    const costate_gradient *to = columns_to(c, &a->systems.columns, b->g, y, (size_t)c->n);
    TRY(columns_integrate_back(c, &a->systems.columns, b->r, b->g, weight, &x, stage_directions(b, i), to, a->r));
    columns_times(&a->systems.columns, b->g, irk_c(c, i));
    return 0;
}

/* M^T u_i where they were made: u itself, where M is the identity */
static const double *mass_products(const irk_back *b) { return b->MU ? b->MU : b->g->U; }

/* what accompanies integrals and V_i^y, which U_i holds, in columns from .. to - 1; earlier: the first stage of the
   block, whose P_i - M^T u'_i are there, or of the next */
static void right_hand_side(const irk_back *b, int i, int earlier, int from, int to)
{
    const functionals *g = b->g;
    const stepper *c = b->c;
    size_t n = (size_t)c->n, stride = n * (size_t)g->m;
    for (size_t j = (size_t)from; j < (size_t)to; j++) {
        double *rho = g->U + (size_t)i * stride + j * n;
        if (!irk_short_form(c)) axpy(n, 1, rho, b->sum + j * n);
        axpy(n, c->m->d[i], g->lambda + j * (size_t)c->N, rho);
        if (g->seed) axpy(n, 1, g->seed + (size_t)i * stride + j * n, rho);
        irk_coupling(c, b->r->h, 1, i, earlier, c->s, -1, mass_products(b) + j * n, stride, rho, rho);
    }
}

/* E'(x)^T w into y (added; NULL: not wanted), mu and the times; M^T w into K (NULL: not wanted) */
static int products(stepper *c, const functionals *g, const costate_point *x, double ci, const double *w, double *y,
                    double *K)
{
    const column_work *a = &work(c)->systems.columns;
    size_t n = (size_t)c->n;
    columns_to(c, a, g, y, n);
    TRY(equation_adjoints(c->maps, x, g->m, w, n, a->to, K, n));
    columns_times(a, g, ci);
    return 0;
}

/* the gradients with respect to p, t and h of columns from .. to - 1, to be added to */
static functionals columns_of(const stepper *c, const functionals *g, int from, int to)
{
    functionals some = *g;
    some.m = to - from;
    if (g->mu) some.mu += (size_t)from * (size_t)(c->np + c->nm);
    if (g->times) { some.t += from; some.h += from; }
    return some;
}

/* E'(i)^T u_i where it is wanted, and M^T u_i into MU, of columns from .. to - 1; of derivatives onto what is there */
static int stage_back(const irk_back *b, int i, int from, int to)
{
    stepper *c = b->c;
    const functionals *g = b->g;
    size_t n = (size_t)c->n, first = (size_t)from, count = (size_t)(to - from);
    if (!b->MU && irk_short_form(c) && !g->mu && !g->times) return 0;
    size_t at = ((size_t)i * (size_t)g->m + first) * n;
    double *y = irk_short_form(c) ? NULL : b->sum + first * n, *MU = b->MU ? b->MU + at : NULL;
    double *K = equation_plain(c->maps) ? NULL : from ? work(c)->systems.MX : MU;
    const double *u = g->U + at;
    if (K || y || g->mu || g->times) {
        costate_point x = irk_stage_point(c, b->r, i);
        functionals some;
        if (g->along) { some = columns_of(c, g, from, to); g = &some; }
        TRY(products(c, g, &x, c->m->c[i], u, y, K));
    }
    if (MU && from) axpy(count * n, 1, K ? K : u, MU);
    else if (MU && !K) memcpy(MU, u, count * n * sizeof *MU);
    return 0;
}

/* V_i^y onto right-hand sides of derivatives, its other parts where they belong; P_i - M^T u'_i into MU */
static int curve(const irk_back *b, int i)
{
    stepper *c = b->c;
    const irk_work *a = work(c);
    const directions *d = b->g->along;
    size_t n = (size_t)c->n, m = (size_t)b->g->m, at = (size_t)i * m * n;
    costate_point x = irk_stage_point(c, b->r, i), *dx = a->systems.columns.dx;
    irk_stage_directions(c, d, i);
    columns_to(c, &a->systems.columns, b->g, b->g->U + at, n);
    for (size_t j = 1; j < m; j++) {
        double *P = b->MU + at + j * n, dh = d->dh[j - 1];
        costate_gradient to = a->systems.columns.to[j];
        if (c->maps->residual) dx[j - 1].yp = a->jet.Kd + ((size_t)i * (m - 1) + j - 1) * n;
        memcpy(a->jet.u, b->g->U + at, n * sizeof *a->jet.u);
        memset(a->jet.by_k, 0, n * sizeof *a->jet.by_k);
        to.yp = c->maps->residual ? a->jet.by_k : NULL;
        TRY(equation_adjoint_tangent(c->maps, &x, &dx[j - 1], a->jet.u, &to));
        add_scaled(n, P, NULL, -1, a->jet.by_k);
        if (dh != 0) axpy(n, -dh / b->r->h, b->MU + at, P);
    }
    columns_times(&a->systems.columns, b->g, c->m->c[i]);
    return 0;
}

/* the systems of columns from .. to - 1 of a block, whose right-hand sides U holds, and what follows from u_i */
static int adjoint_solve(const irk_back *b, int block, int from, int to)
{
    int k = b->c->m->block, i0 = block * k;
    stage_system s = {.c = b->c, .r = b->r, .block = block, .transpose = 1, .same = from > 0};
    TRY(irk_stage_solve(&s, b->g->m, from, to, b->g->U + (size_t)i0 * (size_t)b->c->n * (size_t)b->g->m));
    for (int i = i0; i < i0 + k; i++) TRY(stage_back(b, i, from, to));
    return 0;
}

static int block_back(const irk_back *b, int block)
{
    const functionals *g = b->g;
    size_t stride = (size_t)b->c->n * (size_t)g->m;
    int k = b->c->m->block, i0 = block * k, functional = g->along ? 1 : g->m;
    for (int i = i0; i < i0 + k; i++) {
        double *rho = g->U + (size_t)i * stride;
        memset(rho, 0, stride * sizeof *rho);
        TRY(quadrature(b, i, rho));
        right_hand_side(b, i, i0 + k, 0, functional);
    }
    TRY(adjoint_solve(b, block, 0, functional));
    if (!g->along) return 0;
    for (int i = i0; i < i0 + k; i++) TRY(curve(b, i));
    for (int i = i0; i < i0 + k; i++) right_hand_side(b, i, i0, functional, g->m);
    return adjoint_solve(b, block, functional, g->m);
}

static int first_stage_back(const irk_back *b)
{
    stepper *c = b->c;
    const functionals *g = b->g;
    const column_work *a = &work(c)->systems.columns;
    size_t n = (size_t)c->n, m = (size_t)g->m;
    if (c->m->g) {
        costate_point x = irk_node_point(c, b->r, -1);
        for (size_t j = 0; j < m; j++) combine(n, a->y + j * n, NULL, 1, c->s, c->m->g, g->U + j * n, n * m);
        const costate_gradient *to = columns_to(c, a, g, b->sum, n);
        TRY(columns_adjoints(c, &c->maps->rhs, g, &x, stage_directions(b, -1), a->y, n, to));
        columns_times(a, g, 0);
    }
    return quadrature(b, -1, b->sum);
}

/* u_i^T of the residual that Newton left; of a jet the functional's */
static int defects(stepper *c, const record *r, const functionals *g)
{
    size_t n = (size_t)c->n, m = (size_t)g->m, columns = g->along ? 1 : m;
    double *left = work(c)->Y;
    if (!g->defect) return 0;
    TRY(irk_residuals_begin(c, r));
    for (int i = 0; i < c->s; i++) {
        TRY(irk_residual_left(c, r, i, left));
        for (size_t j = 0; j < columns; j++) g->defect[j] += dot(n, g->U + ((size_t)i * m + j) * n, left);
    }
    return 0;
}

/* K'_i of all stages and directions */
static void slopes(const irk_back *b)
{
    const stepper *c = b->c;
    const directions *d = b->g->along;
    size_t n = (size_t)c->n, m = (size_t)d->m;
    for (size_t i = 0; i < (size_t)c->s; i++)
        for (size_t j = 0; j < m; j++) {
            double *k = work(c)->jet.Kd + (i * m + j) * n;
            irk_coupling(c, b->r->h, 0, (int)i, 0, c->s, 1, d->Xd + j * n, n * m, NULL, k);
            if (d->dh[j] != 0) axpy(n, -d->dh[j] / b->r->h, work(c)->systems.slope + i * n, k);
        }
}

/* (1/h) sum [ K_i^T P_i + K'_i^T M^T u_i ] onto h */
static void step_size(const irk_back *b)
{
    const stepper *c = b->c;
    const functionals *g = b->g;
    size_t n = (size_t)c->n, m = (size_t)g->m;
    for (size_t i = 0; i < (size_t)c->s; i++) {
        const double *MU = mass_products(b) + i * m * n, *Kd = g->along ? work(c)->jet.Kd + i * (m - 1) * n : NULL;
        for (size_t j = 0; j < m; j++) g->h[j] += dot(n, MU + j * n, work(c)->systems.slope + i * n) / b->r->h;
        for (size_t j = 1; g->along && j < m; j++) g->h[j] += dot(n, Kd + (j - 1) * n, MU) / b->r->h;
    }
}

static void finish(const irk_back *b)
{
    const stepper *c = b->c;
    const functionals *g = b->g;
    size_t n = (size_t)c->n, stride = n * (size_t)g->m;
    double w[STAGES_MOST], R = irk_remainder(c->m);
    for (int i = 0; i < c->s; i++) w[i] = irk_row_sum(c->m, i);
    for (size_t j = 0; j < (size_t)g->m; j++) {
        double *lambda = g->lambda + j * (size_t)c->N;
        if (!irk_short_form(c)) { axpy(n, 1, b->sum + j * n, lambda); continue; }
        for (size_t i = 0; i < n; i++) lambda[i] = R == 0 ? 0 : R * lambda[i];
        combine(n, lambda, lambda, 1 / b->r->h, c->s, w, mass_products(b) + j * n, stride);
        for (size_t i = 0; g->seed && i < (size_t)c->s; i++) axpy(n, -1, g->seed + i * stride + j * n, lambda);
    }
}

int irk_adjoint(stepper *c, const record *r, const functionals *g)
{
    const irk_work *a = work(c);
    const irk_back b = {c, r, g, g->along ? a->jet.P : a->systems.MU, a->systems.sum};
    irk_stage_states(c, r, g->times || g->defect || g->along);
    if (g->along && (g->times || c->maps->residual)) slopes(&b);
    memset(b.sum, 0, (size_t)c->n * (size_t)g->m * sizeof *b.sum);
    TRY(irk_stage_start(c, r));
    for (int block = c->s / c->m->block - 1; block >= 0; block--) TRY(block_back(&b, block));
    TRY(first_stage_back(&b));
    if (g->times) step_size(&b);
    finish(&b);
    return defects(c, r, g);
}
