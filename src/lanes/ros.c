/* ros.c (lanes) - Rosenbrock steps of L members, their tangents and adjoints: ros/forward.c, tangent.c and adjoint.c
   lane by lane, for M = I, the Jacobian of the step, and times that are held. */
#include "lanes/code.h"

static const double *time_of(batch *b, const lane_record *r, int i)
{
    *VEC(b->step.T) = *CVEC(r->t) + b->m->c[i] * *CVEC(r->h);
    return b->step.T;
}

/* e_i = (h gamma_i, U_i, 0) */
static costate_lane_point matrix_direction(batch *b, const lane_record *r, int i)
{
    *VEC(b->step.dt) = *CVEC(r->h) * b->m->gi[i];
    return (costate_lane_point){.t = b->m->gi[i] != 0 ? b->step.dt : NULL,
                                .y = r->X + (size_t)i * (size_t)b->n * LANES};
}

/* out = base + (1/h) sum_j C_ij X_j; out may be base */
static void couple(batch *b, const lane_record *r, int i, const vec *X, size_t stride, const vec *base, vec *out)
{
    vec scale = 1.0 / *CVEC(r->h);
    if (i == 0 && out == base) return;
    combine_lanes(b->n, out, base, &scale, i, b->m->C + i * b->s, X, stride);
}

/* row i of A, or y+ (i = s), into out; before: Y_i-1 */
static void next_point(batch *b, int i, const vec *before, vec *out)
{
    size_t n = (size_t)b->n;
    const vec *X = CVEC(b->now.X);
    const double *w = i < b->s ? b->m->A + i * b->s : b->m->d;
    if (b->tableau.extends[i]) for (size_t k = 0; k < n; k++) out[k] = before[k] + 1.0 * X[(size_t)(i - 1) * n + k];
    else combine_lanes(b->n, out, CVEC(b->now.y), NULL, i, w, X, n);
}

static const vec *stage_of(batch *b, const lane_record *r, int i, vec *out)
{
    if (i == 0) return CVEC(r->y);
    combine_lanes(b->n, out, CVEC(r->y), NULL, i, b->m->A + i * b->s, CVEC(r->X), (size_t)b->n);
    return out;
}

/* ---- forward ---- */

/* unit <- a power of two about |h|, ft <- unit f_t */
static int time_slope(batch *b)
{
    const lane_record *r = &b->now;
    const int64_t EXPONENT = INT64_C(0x7ff0000000000000);
    *VEC(b->step.unit) = (vec)(*(const vecbits *)(const void *)r->h & ((vecbits){0} + EXPONENT));
    costate_lane_point x = lane_point(b, r->t, r->y), dt = {.t = b->step.unit};
    counted(first_tries(b), b->counts.tangents);
    return b->maps->rhs.tangent(&x, &dt, b->step.ft, b->ctx);
}

static int quadrature(batch *b, int i, const vec *Y)
{
    const lane_record *r = &b->now;
    if (!b->nq || (b->m->b[i] == 0 && b->tableau.error_b[i] == 0)) return 0;
    costate_lane_point at = lane_point(b, time_of(b, r, i), Y), x = lane_point(b, r->t, r->y);
    costate_lane_point e = matrix_direction(b, r, i);
    int trouble = b->maps->cost.value(&at, b->step.r, b->ctx);
    collect(&trouble, b->maps->cost.tangent(&x, &e, b->step.rq, b->ctx));
    axpy_lanes(b->nq, splat(1), CVEC(b->step.rq), VEC(b->step.r));
    axpy_lanes(b->nq, *CVEC(r->h) * b->m->b[i], CVEC(b->step.r), VEC(b->step.y1) + b->n);
    axpy_lanes(b->nq, *CVEC(r->h) * b->tableau.error_b[i], CVEC(b->step.r), VEC(b->step.err) + b->n);
    return trouble;
}

static int stage(batch *b, int i, const vec **Y)
{
    const lane_record *r = &b->now;
    size_t n = (size_t)b->n;
    vec *U = VEC(r->X) + (size_t)i * n, *f = VEC(b->step.v);
    const vec *base = f;
    int trouble = 0;
    if (b->m->newf[i]) {
        if (i > 0) { next_point(b, i, *Y, VEC(b->step.Y)); *Y = CVEC(b->step.Y); }
        costate_lane_point x = lane_point(b, time_of(b, r, i), *Y);
        counted(counting(b), b->counts.f);
        trouble = b->maps->rhs.value(&x, b->step.v, b->ctx);
    }
    if (!b->o->autonomous) {
        vec by = *CVEC(r->h) / *CVEC(b->step.unit) * b->m->gi[i];
        for (size_t k = 0; k < n; k++) U[k] = f[k] + by * CVEC(b->step.ft)[k];
        base = U;
    }
    couple(b, r, i, CVEC(r->X), n, base, U);
    counted(counting(b), b->counts.solves);
    LANED(matrix_solve)(b, &b->E, 0, U);
    return trouble;
}

int LANED(ros_forward)(batch *b)
{
    const lane_record *r = &b->now;
    size_t n = (size_t)b->n;
    const vec *Y = CVEC(r->y);
    vecbits has_J, has_E;
    int there = LANED(ros_confirmed)(b, &has_J, &has_E);
    int trouble = there ? 0 : LANED(matrix_of_step)(b, r, first_tries(b) & ~has_J, counting(b) & ~has_E);
    if (!b->o->autonomous && trouble >= 0) collect(&trouble, time_slope(b));
    copy_lanes((size_t)b->nq, VEC(b->step.y1) + n, CVEC(r->y) + n);
    clear_lanes((size_t)b->nq, VEC(b->step.err) + n);
    for (int i = 0; i < b->s && trouble >= 0; i++) {
        collect(&trouble, stage(b, i, &Y));
        if (trouble >= 0) collect(&trouble, quadrature(b, i, Y));
    }
    next_point(b, b->s, Y, VEC(b->step.y1));
    combine_lanes(b->n, VEC(b->step.err), NULL, NULL, b->s, b->m->est.e, CVEC(r->X), n);
    return trouble;
}

/* ---- tangent ---- */

/* at0, at, e: the start of the step, the stage, its direction of the matrix; j: the direction of the member */
typedef struct { costate_lane_point at0, at, e, x0; int i, j; } bundle;

static int tangent_of_costs(batch *b, const lane_record *r, const bundle *s, const costate_lane_point *dx,
                            const vec *X)
{
    if (!b->nq || b->m->b[s->i] == 0) return 0;
    const costate_lane_map *cost = &b->maps->cost;
    vec *q1 = VEC(b->sweep.V1) + (size_t)s->j * (size_t)b->N + b->n, w = *CVEC(r->h) * b->m->b[s->i];
    costate_lane_point by_stage = {.y = (const double *)(const void *)X};
    int trouble = cost->tangent(&s->at, dx, b->step.r, b->ctx);
    axpy_lanes(b->nq, w, CVEC(b->step.r), q1);
    collect(&trouble, cost->tangent(&s->at0, &by_stage, b->step.r, b->ctx));
    axpy_lanes(b->nq, w, CVEC(b->step.r), q1);
    collect(&trouble, cost->tangent2(&s->at0, &s->e, &s->x0, b->step.r, b->ctx));
    axpy_lanes(b->nq, w, CVEC(b->step.r), q1);
    return trouble;
}

static int tangent_of_stage(batch *b, const lane_record *r, bundle *s)
{
    size_t n = (size_t)b->n, d = (size_t)b->d, i = (size_t)s->i, j = (size_t)s->j;
    vec *X = VEC(b->sweep.Xd) + (i * d + j) * n;
    costate_lane_point dx = direction(b, s->i, s->j, b->sweep.V, b->sweep.Xd, b->step.v);
    s->x0 = direction(b, 0, s->j, b->sweep.V, b->sweep.Xd, NULL);
    counted(counting(b), b->counts.tangents);
    counted(counting(b), b->counts.tangents2);
    counted(counting(b), b->counts.solves);
    int trouble = b->maps->rhs.tangent(&s->at, &dx, (double *)(void *)X, b->ctx);
    collect(&trouble, b->maps->rhs.tangent2(&s->at0, &s->e, &s->x0, b->step.w, b->ctx));
    axpy_lanes(b->n, splat(1), CVEC(b->step.w), X);
    couple(b, r, s->i, CVEC(b->sweep.Xd) + j * n, n * d, X, X);
    LANED(matrix_solve)(b, &b->E, 0, X);
    if (trouble >= 0) collect(&trouble, tangent_of_costs(b, r, s, &dx, X));
    return trouble;
}

int LANED(ros_tangent)(batch *b, const lane_record *r, int again)
{
    size_t n = (size_t)b->n, N = (size_t)b->N, d = (size_t)b->d;
    int trouble = again ? LANED(matrix_of_step)(b, r, counting(b), counting(b)) : 0;
    copy_lanes(N * d, VEC(b->sweep.V1), CVEC(b->sweep.V));
    for (int i = 0; i < b->s && trouble >= 0; i++) {
        const vec *Y = stage_of(b, r, i, VEC(b->step.Y));
        bundle s = {.at0 = lane_point(b, r->t, r->y), .at = lane_point(b, time_of(b, r, i), Y),
                    .e = matrix_direction(b, r, i), .i = i};
        for (s.j = 0; s.j < b->d && trouble >= 0; s.j++) collect(&trouble, tangent_of_stage(b, r, &s));
    }
    for (size_t j = 0; j < d; j++)
        combine_lanes(b->n, VEC(b->sweep.V1) + j * N, CVEC(b->sweep.V1) + j * N, NULL, b->s, b->m->d,
                      CVEC(b->sweep.Xd) + j * n, n * d);
    return trouble;
}

/* ---- adjoint ---- */

typedef struct { costate_lane_point at0, at, e; int i, j, rates; } back;

/* [f'(at)^T u_0 + r'(at)^T w_0]' along dx: adds to the column of a derivative */
static int curve(batch *b, const back *s, const costate_lane_point *at, const costate_lane_point *dx,
                 const costate_lane_gradient *to)
{
    counted(counting(b), b->counts.adjoints2);
    int trouble = b->maps->rhs.adjoint_tangent(at, dx, b->sweep.v0, to, b->ctx);
    if (s->rates) collect(&trouble, b->maps->cost.adjoint_tangent(at, dx, b->sweep.r0, to, b->ctx));
    return trouble;
}

/* [f_y^T u_0 + r_y^T w_0]' at the start of the step, of the functional, onto the right-hand side of a derivative */
static int moving_matrix(batch *b, const lane_record *r, const back *s, vec *u)
{
    costate_lane_point x0 = direction(b, 0, s->j - 1, r->V, r->Xd, NULL);
    costate_lane_gradient to = {.y = (double *)(void *)u};
    return curve(b, s, &s->at0, &x0, &to);
}

/* u_i from the right-hand side, by E^T; r: h b_i theta */
static int solve_stage(batch *b, const lane_record *r, const back *s, vec *u)
{
    size_t n = (size_t)b->n, stride = n * (size_t)b->k, i = (size_t)s->i, j = (size_t)s->j;
    const vec *lambda = CVEC(b->sweep.lambda) + j * (size_t)b->N;
    int after = b->s - s->i - 1, trouble = 0;
    const double *A = b->tableau.At + i * (size_t)b->s + i + 1, *C = b->tableau.Ct + i * (size_t)b->s + i + 1;
    vec scale = 1.0 / *CVEC(r->h);
    for (size_t l = 0; l < n; l++) u[l] = b->m->d[i] * lambda[l];
    combine_lanes(b->n, u, u, NULL, after, A, CVEC(b->sweep.Yb) + (i + 1) * stride + j * n, stride);
    if (after > 0) combine_lanes(b->n, u, u, &scale, after, C, CVEC(b->sweep.U) + (i + 1) * stride + j * n, stride);
    if (b->seen.lanes) add_seed(b, s->i, s->j, u);
    if (s->rates) {
        costate_lane_gradient to = {.y = (double *)(void *)u};
        trouble = b->maps->cost.adjoint(&s->at0, b->step.r, &to, b->ctx);
    }
    if (b->jet && s->j > 0) collect(&trouble, moving_matrix(b, r, s, u));
    LANED(matrix_solve)(b, &b->E, 1, u);
    return trouble;
}

/* what the functional adds to H_i of its derivative along direction j - 1 */
static int second_order(batch *b, const lane_record *r, const back *s, const costate_lane_gradient *to)
{
    costate_lane_point x0 = direction(b, 0, s->j - 1, r->V, r->Xd, NULL);
    size_t at = (size_t)s->i * (size_t)b->d + (size_t)s->j - 1;
    costate_lane_point ed = {.y = r->Xd + at * (size_t)b->n * LANES};
    int trouble = curve(b, s, &s->at0, &ed, to);
    counted(counting(b), b->counts.adjoints3);
    collect(&trouble, b->maps->rhs.adjoint_tangent2(&s->at0, &s->e, &x0, b->sweep.v0, to, b->ctx));
    if (s->rates) collect(&trouble, b->maps->cost.adjoint_tangent2(&s->at0, &s->e, &x0, b->sweep.r0, to, b->ctx));
    return trouble;
}

static int adjoint_of_stage(batch *b, const lane_record *r, const back *s)
{
    size_t n = (size_t)b->n, stride = n * (size_t)b->k, i = (size_t)s->i, j = (size_t)s->j;
    const costate_lane_map *rhs = &b->maps->rhs, *cost = &b->maps->cost;
    vec *u = VEC(b->sweep.U) + i * stride + j * n, *Yb = VEC(b->sweep.Yb) + i * stride + j * n;
    double *mu = b->sweep.mu ? b->sweep.mu + j * (size_t)b->np * LANES : NULL, *weights = (double *)(void *)u;
    costate_lane_gradient to_stage = {.y = (double *)(void *)Yb, .p = mu};
    costate_lane_gradient to_start = {.y = b->sweep.sum + j * n * LANES, .p = mu};
    const vec *lambda = CVEC(b->sweep.lambda) + j * (size_t)b->N;
    for (int l = 0; s->rates && l < b->nq; l++) VEC(b->step.r)[l] = *CVEC(r->h) * b->m->b[i] * lambda[n + (size_t)l];
    int trouble = solve_stage(b, r, s, u), derivative = b->jet && j > 0;
    if (b->jet && j == 0) copy_lanes(n, VEC(b->sweep.v0), u);
    if (b->jet && j == 0 && s->rates) copy_lanes((size_t)b->nq, VEC(b->sweep.r0), CVEC(b->step.r));
    clear_lanes(n, Yb);
    counted(counting(b), b->counts.solves);
    counted(counting(b), b->counts.adjoints);
    counted(counting(b), b->counts.adjoints2);
    collect(&trouble, rhs->adjoint(&s->at, weights, &to_stage, b->ctx));
    if (s->rates) collect(&trouble, cost->adjoint(&s->at, b->step.r, &to_stage, b->ctx));
    if (derivative) {
        costate_lane_point dx = direction(b, s->i, s->j - 1, r->V, r->Xd, b->sweep.along);
        collect(&trouble, curve(b, s, &s->at, &dx, &to_stage));
    }
    collect(&trouble, rhs->adjoint_tangent(&s->at0, &s->e, weights, &to_start, b->ctx));
    if (s->rates) collect(&trouble, cost->adjoint_tangent(&s->at0, &s->e, b->step.r, &to_start, b->ctx));
    if (derivative) collect(&trouble, second_order(b, r, s, &to_start));
    return trouble;
}

int LANED(ros_adjoint)(batch *b, const lane_record *r)
{
    size_t n = (size_t)b->n, stride = n * (size_t)b->k;
    double one[TERMS_MOST];
    vecbits gone = counting(b) & ~mask_of(r->ends);     /* the matrices of a run's last step are still there */
    int trouble = LANED(matrix_of_step)(b, r, gone, gone);
    clear_lanes(stride, VEC(b->sweep.sum));
    for (int i = b->s - 1; i >= 0 && trouble >= 0; i--) {
        one[i] = 1;
        const vec *Y = stage_of(b, r, i, VEC(b->step.Y));
        back s = {.at0 = lane_point(b, r->t, r->y), .at = lane_point(b, time_of(b, r, i), Y),
                  .e = matrix_direction(b, r, i), .i = i, .rates = b->nq && b->m->b[i] != 0};
        for (s.j = 0; s.j < b->k && trouble >= 0; s.j++) collect(&trouble, adjoint_of_stage(b, r, &s));
    }
    for (size_t j = 0; j < (size_t)b->k && trouble >= 0; j++) {
        vec *lambda = VEC(b->sweep.lambda) + j * (size_t)b->N;
        axpy_lanes(b->n, splat(1), CVEC(b->sweep.sum) + j * n, lambda);
        combine_lanes(b->n, lambda, lambda, NULL, b->s, one, CVEC(b->sweep.Yb) + j * n, stride);
    }
    add_seen(b);
    return trouble;
}
