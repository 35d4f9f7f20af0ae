/* random_case.c - see random_case.h. */
#include "common.h"
#include "random_case.h"

typedef struct {
    random_case public;                  /* first: a random_case is this */
    int n, np, nq, autonomous;
    double dir;
    costate_pattern pattern;
    int *col, *row;
    double *A, *B, *M, *G;               /* entries of the pattern; G: n*n, NULL: identity */
    double *k, *g, *e, *C, *work;        /* n, n, n, nq*n, 3 n */
} data;

/* ---- the product of three scalar functions, P T(t) sin y, and its derivatives ---- */

typedef struct { double v, d[3], dd[3][3], Q[4], T[4], S[4]; } product3;     /* variables: P, t, y */

static product3 term(const data *s, double P, double t, double y)
{
    double T[4] = {1}, S[4] = {sin(y), cos(y), -sin(y), -cos(y)}, Q[4] = {P, 1};
    if (!s->autonomous) { T[0] = 1 + 0.5 * sin(t); T[1] = 0.5 * cos(t); T[2] = -0.5 * sin(t); T[3] = -0.5 * cos(t); }
    product3 h = {.v = P * T[0] * S[0]};
    for (int a = 0; a < 3; a++) {
        int i[3] = {a == 0, a == 1, a == 2};
        h.d[a] = Q[i[0]] * T[i[1]] * S[i[2]];
        for (int b = 0; b < 3; b++) {
            int j[3] = {i[0] + (b == 0), i[1] + (b == 1), i[2] + (b == 2)};
            h.dd[a][b] = Q[j[0]] * T[j[1]] * S[j[2]];
        }
    }
    memcpy(h.Q, Q, sizeof Q);
    memcpy(h.T, T, sizeof T);
    memcpy(h.S, S, sizeof S);
    return h;
}

static double parameter(const data *s, const double *p, int i, double without)
{
    return s->np ? p ? p[i % s->np] : 0 : without;
}

/* a direction as the term of row i sees it */
static void along(const data *s, const costate_point *dx, int i, double *v)
{
    v[0] = parameter(s, dx->p, i, 0);
    v[1] = dx->t;
    v[2] = dx->y ? dx->y[i] : 0;
}

/* the gradient u of a term into g */
static void spread(const data *s, const costate_gradient *g, int i, const double *u)
{
    if (g->p && s->np) g->p[i % s->np] += u[0];
    if (g->t) *g->t += u[1];
    if (g->y) g->y[i] += u[2];
}

static void bend(const product3 *h, const double *v, double scale, double *u)
{
    for (int a = 0; a < 3; a++) { u[a] = 0; for (int b = 0; b < 3; b++) u[a] += scale * h->dd[a][b] * v[b]; }
}

/* u <- scale times the third derivative along v and w */
static void bend2(const product3 *h, const double *v, const double *w, double scale, double *u)
{
    for (int a = 0; a < 3; a++) {
        u[a] = 0;
        for (int b = 0; b < 3; b++)
            for (int c = 0; c < 3; c++) {
                int k[3] = {0, 0, 0};
                k[a]++;
                k[b]++;
                k[c]++;
                u[a] += scale * h->Q[k[0]] * h->T[k[1]] * h->S[k[2]] * v[b] * w[c];
            }
    }
}

/* ---- f = dir G fhat ---- */

static void mix(const data *s, const double *x, double *out)
{
    for (int i = 0; i < s->n; i++) out[i] = s->dir * x[i];
    if (!s->G) return;
    memset(out, 0, (size_t)s->n * sizeof *out);
    for (int j = 0; j < s->n; j++) for (int i = 0; i < s->n; i++) out[i] += s->dir * s->G[j * s->n + i] * x[j];
}

static void mix_transposed(const data *s, const double *w, double *out)
{
    for (int j = 0; j < s->n; j++) {
        out[j] = s->G ? 0 : s->dir * w[j];
        for (int i = 0; s->G && i < s->n; i++) out[j] += s->dir * s->G[j * s->n + i] * w[i];
    }
}

static int f(const costate_point *x, double *out, void *ctx)
{
    data *s = ctx;
    double *sum = s->work;
    for (int i = 0; i < s->n; i++)
        sum[i] = s->k[i] + (s->autonomous ? 0 : s->g[i] * sin(x->t)) +
                 s->e[i] * term(s, parameter(s, x->p, i, 1), x->t, x->y[i]).v;
    for (int j = 0; j < s->n; j++)
        for (int k = s->col[j]; k < s->col[j + 1]; k++) sum[s->row[k]] += s->A[k] * x->y[j] + s->B[k] * sin(x->y[j]);
    mix(s, sum, out);
    return 0;
}

static int f_tangent(const costate_point *x, const costate_point *dx, double *out, void *ctx)
{
    data *s = ctx;
    double *sum = s->work, v[3];
    for (int i = 0; i < s->n; i++) {
        product3 h = term(s, parameter(s, x->p, i, 1), x->t, x->y[i]);
        along(s, dx, i, v);
        sum[i] = (s->autonomous ? 0 : s->g[i] * cos(x->t) * dx->t) +
                 s->e[i] * (h.d[0] * v[0] + h.d[1] * v[1] + h.d[2] * v[2]);
    }
    for (int j = 0; dx->y && j < s->n; j++)
        for (int k = s->col[j]; k < s->col[j + 1]; k++) sum[s->row[k]] += (s->A[k] + s->B[k] * cos(x->y[j])) * dx->y[j];
    mix(s, sum, out);
    return 0;
}

static int f_adjoint(const costate_point *x, const double *weights, const costate_gradient *g, void *ctx)
{
    data *s = ctx;
    double *w = s->work, u[3];
    mix_transposed(s, weights, w);
    for (int i = 0; i < s->n; i++) {
        product3 h = term(s, parameter(s, x->p, i, 1), x->t, x->y[i]);
        for (int a = 0; a < 3; a++) u[a] = s->e[i] * w[i] * h.d[a];
        if (!s->autonomous) u[1] += s->g[i] * cos(x->t) * w[i];
        spread(s, g, i, u);
    }
    for (int j = 0; g->y && j < s->n; j++)
        for (int k = s->col[j]; k < s->col[j + 1]; k++) g->y[j] += (s->A[k] + s->B[k] * cos(x->y[j])) * w[s->row[k]];
    return 0;
}

static int f_tangent2(const costate_point *x, const costate_point *a, const costate_point *b, double *out, void *ctx)
{
    data *s = ctx;
    double *sum = s->work, v[3], u[3];
    for (int i = 0; i < s->n; i++) {
        product3 h = term(s, parameter(s, x->p, i, 1), x->t, x->y[i]);
        along(s, a, i, v);
        bend(&h, v, s->e[i], u);
        along(s, b, i, v);
        sum[i] = (s->autonomous ? 0 : -s->g[i] * sin(x->t) * a->t * b->t) + u[0] * v[0] + u[1] * v[1] + u[2] * v[2];
    }
    for (int j = 0; a->y && b->y && j < s->n; j++)
        for (int k = s->col[j]; k < s->col[j + 1]; k++) sum[s->row[k]] -= s->B[k] * sin(x->y[j]) * a->y[j] * b->y[j];
    mix(s, sum, out);
    return 0;
}

static int f_adjoint_tangent(const costate_point *x, const costate_point *dx, const double *weights,
                             const costate_gradient *g, void *ctx)
{
    data *s = ctx;
    double *w = s->work, v[3], u[3];
    mix_transposed(s, weights, w);
    for (int i = 0; i < s->n; i++) {
        product3 h = term(s, parameter(s, x->p, i, 1), x->t, x->y[i]);
        along(s, dx, i, v);
        bend(&h, v, s->e[i] * w[i], u);
        if (!s->autonomous) u[1] -= s->g[i] * sin(x->t) * dx->t * w[i];
        spread(s, g, i, u);
    }
    for (int j = 0; g->y && dx->y && j < s->n; j++)
        for (int k = s->col[j]; k < s->col[j + 1]; k++) g->y[j] -= s->B[k] * sin(x->y[j]) * dx->y[j] * w[s->row[k]];
    return 0;
}

static int f_adjoint_tangent2(const costate_point *x, const costate_point *a, const costate_point *b,
                              const double *weights, const costate_gradient *g, void *ctx)
{
    data *s = ctx;
    double *w = s->work, v[3], z[3], u[3];
    mix_transposed(s, weights, w);
    for (int i = 0; i < s->n; i++) {
        product3 h = term(s, parameter(s, x->p, i, 1), x->t, x->y[i]);
        along(s, a, i, v);
        along(s, b, i, z);
        bend2(&h, v, z, s->e[i] * w[i], u);
        if (!s->autonomous) u[1] -= s->g[i] * cos(x->t) * a->t * b->t * w[i];
        spread(s, g, i, u);
    }
    for (int j = 0; g->y && a->y && b->y && j < s->n; j++)
        for (int k = s->col[j]; k < s->col[j + 1]; k++)
            g->y[j] -= s->B[k] * cos(x->y[j]) * a->y[j] * b->y[j] * w[s->row[k]];
    return 0;
}

static int jac(const costate_point *x, double *J, void *ctx)
{
    data *s = ctx;
    size_t n = (size_t)s->n;
    double *column = s->work + n, *mixed = s->work + 2 * n;
    for (int j = 0; j < s->n; j++) {
        memset(column, 0, n * sizeof *column);
        for (int k = s->col[j]; k < s->col[j + 1]; k++) column[s->row[k]] = s->A[k] + s->B[k] * cos(x->y[j]);
        column[j] += s->e[j] * term(s, parameter(s, x->p, j, 1), x->t, x->y[j]).d[2];
        mix(s, column, mixed);
        if (!s->public.P.pattern) memcpy(J + (size_t)j * n, mixed, n * sizeof *J);
        else for (int k = s->col[j]; k < s->col[j + 1]; k++) J[k] = mixed[s->row[k]];
    }
    return 0;
}

static int mass(double *M, void *ctx)
{
    data *s = ctx;
    size_t n = (size_t)s->n;
    if (s->public.P.pattern) { memcpy(M, s->M, (size_t)s->col[n] * sizeof *M); return 0; }
    for (int j = 0; j < s->n; j++)
        for (int i = 0; i < s->n; i++) {
            double sum = 0;
            for (int k = s->col[j]; k < s->col[j + 1]; k++)
                sum += (s->G ? s->G[s->row[k] * s->n + i] : s->row[k] == i) * s->M[k];
            M[(size_t)j * n + (size_t)i] = sum;
        }
    return 0;
}

/* ---- r ---- */

static int r(const costate_point *x, double *out, void *ctx)
{
    data *s = ctx;
    for (int l = 0; l < s->nq; l++) {
        out[l] = term(s, parameter(s, x->p, l, 1), x->t, x->y[0]).v;
        for (int i = 0; i < s->n; i++) out[l] += s->C[l * s->n + i] * sin(x->y[i]);
    }
    return 0;
}

static void cost_along(const data *s, const costate_point *dx, int l, double *v)
{
    v[0] = parameter(s, dx->p, l, 0);
    v[1] = dx->t;
    v[2] = dx->y ? dx->y[0] : 0;
}

static void cost_spread(const data *s, const costate_gradient *g, int l, const double *u)
{
    if (g->p && s->np) g->p[l % s->np] += u[0];
    if (g->t) *g->t += u[1];
    if (g->y) g->y[0] += u[2];
}

static int r_tangent(const costate_point *x, const costate_point *dx, double *out, void *ctx)
{
    data *s = ctx;
    double v[3];
    for (int l = 0; l < s->nq; l++) {
        product3 h = term(s, parameter(s, x->p, l, 1), x->t, x->y[0]);
        cost_along(s, dx, l, v);
        out[l] = h.d[0] * v[0] + h.d[1] * v[1] + h.d[2] * v[2];
        for (int i = 0; dx->y && i < s->n; i++) out[l] += s->C[l * s->n + i] * cos(x->y[i]) * dx->y[i];
    }
    return 0;
}

static int r_adjoint(const costate_point *x, const double *w, const costate_gradient *g, void *ctx)
{
    data *s = ctx;
    double u[3];
    for (int l = 0; l < s->nq; l++) {
        product3 h = term(s, parameter(s, x->p, l, 1), x->t, x->y[0]);
        for (int a = 0; a < 3; a++) u[a] = w[l] * h.d[a];
        cost_spread(s, g, l, u);
        for (int i = 0; g->y && i < s->n; i++) g->y[i] += w[l] * s->C[l * s->n + i] * cos(x->y[i]);
    }
    return 0;
}

static int r_tangent2(const costate_point *x, const costate_point *a, const costate_point *b, double *out, void *ctx)
{
    data *s = ctx;
    double v[3], u[3];
    for (int l = 0; l < s->nq; l++) {
        product3 h = term(s, parameter(s, x->p, l, 1), x->t, x->y[0]);
        cost_along(s, a, l, v);
        bend(&h, v, 1, u);
        cost_along(s, b, l, v);
        out[l] = u[0] * v[0] + u[1] * v[1] + u[2] * v[2];
        for (int i = 0; a->y && b->y && i < s->n; i++) out[l] -= s->C[l * s->n + i] * sin(x->y[i]) * a->y[i] * b->y[i];
    }
    return 0;
}

static int r_adjoint_tangent(const costate_point *x, const costate_point *dx, const double *w,
                             const costate_gradient *g, void *ctx)
{
    data *s = ctx;
    double v[3], u[3];
    for (int l = 0; l < s->nq; l++) {
        product3 h = term(s, parameter(s, x->p, l, 1), x->t, x->y[0]);
        cost_along(s, dx, l, v);
        bend(&h, v, w[l], u);
        cost_spread(s, g, l, u);
        for (int i = 0; g->y && dx->y && i < s->n; i++) g->y[i] -= w[l] * s->C[l * s->n + i] * sin(x->y[i]) * dx->y[i];
    }
    return 0;
}

static int r_adjoint_tangent2(const costate_point *x, const costate_point *a, const costate_point *b, const double *w,
                              const costate_gradient *g, void *ctx)
{
    data *s = ctx;
    double v[3], z[3], u[3];
    for (int l = 0; l < s->nq; l++) {
        product3 h = term(s, parameter(s, x->p, l, 1), x->t, x->y[0]);
        cost_along(s, a, l, v);
        cost_along(s, b, l, z);
        bend2(&h, v, z, w[l], u);
        cost_spread(s, g, l, u);
        for (int i = 0; g->y && a->y && b->y && i < s->n; i++)
            g->y[i] -= w[l] * s->C[l * s->n + i] * cos(x->y[i]) * a->y[i] * b->y[i];
    }
    return 0;
}

/* ---- made from a seed ---- */

static double log_uniform(unsigned *u, double least, double most)
{
    return least * pow(most / least, 0.5 * (1 + random_in(u)));
}

/* every column: the diagonal, and others with a chance that leaves about four (sparse) or all of them (dense) */
static int make_pattern(data *s, int sparse, unsigned *u)
{
    int n = s->n, used = 0;
    s->col = malloc((size_t)(n + 1) * sizeof *s->col);
    s->row = malloc((size_t)n * (size_t)n * sizeof *s->row);
    if (!s->col || !s->row) return 0;
    for (int j = 0; j < n; j++) {
        s->col[j] = used;
        for (int i = 0; i < n; i++) if (i == j || !sparse || 0.5 * (1 + random_in(u)) < 4.0 / n) s->row[used++] = i;
    }
    s->col[n] = used;
    s->pattern = (costate_pattern){n, s->col, s->row};
    return 1;
}

static void rates(data *s, double stiffness, unsigned *u)
{
    double *rate = s->work;
    for (int i = 0; i < s->n; i++) rate[i] = log_uniform(u, 0.1, stiffness);
    for (int j = 0; j < s->n; j++)
        for (int k = s->col[j]; k < s->col[j + 1]; k++) {
            int i = s->row[k];
            s->A[k] = i == j ? -rate[i] : 0.5 * rate[i] * random_in(u) / s->n;
            s->B[k] = 0.2 * rate[i] * random_in(u) / s->n;
        }
    for (int i = 0; i < s->n; i++) s->k[i] = rate[i] * random_in(u);
}

static void kinetics(data *s, double stiffness, unsigned *u)
{
    for (int j = 0; j < s->n; j++) {
        int diagonal = -1;
        double sum = 0, curved = 0;
        for (int k = s->col[j]; k < s->col[j + 1]; k++) {
            if (s->row[k] == j) { diagonal = k; continue; }
            s->A[k] = log_uniform(u, 0.01, stiffness);
            s->B[k] = 0.3 * s->A[k] * random_in(u);
            sum += s->A[k];
            curved += s->B[k];
        }
        s->A[diagonal] = -sum;
        s->B[diagonal] = -curved;
    }
}

/* rows from `first` on become constraints 0 = fhat_i, solvable for y_i */
static void constrain(data *s, int first, unsigned *u)
{
    for (int j = 0; j < s->n; j++)
        for (int k = s->col[j]; k < s->col[j + 1]; k++) {
            if (s->row[k] < first) continue;
            s->M[k] = 0;
            s->A[k] = s->row[k] == j ? -2 : random_in(u) / s->n;
            s->B[k] = 0.2 * random_in(u) / s->n;
        }
}

/* of M; the draws are those of other M */
static void diagonal(data *s)
{
    for (int j = 0; j < s->n; j++)
        for (int k = s->col[j]; k < s->col[j + 1]; k++)
            s->M[k] = s->row[k] == j ? 1 + s->n * (s->M[k] - 1) : 0;
}

int random_case_kept(int n) { return n > 1 ? n - 1 - n / 4 : n; }

static void fill(data *s, const random_spec *spec, unsigned *u)
{
    int n = s->n, first = random_case_kept(n);
    (spec->kind == RANDOM_KINETICS ? kinetics : rates)(s, spec->stiffness, u);
    for (int i = 0; i < n; i++) {
        s->g[i] = random_in(u);
        s->e[i] = 0.3 * random_in(u);
        s->public.y0[i] = 0.55 + 0.45 * random_in(u);
    }
    for (int i = 0; i < s->np; i++) s->public.p0[i] = random_in(u);
    for (int k = 0; k < s->nq * n; k++) s->C[k] = random_in(u);
    for (int j = 0; j < n; j++)
        for (int k = s->col[j]; k < s->col[j + 1]; k++) s->M[k] = (s->row[k] == j) + 0.3 * random_in(u) / n;
    if (spec->diagonal) diagonal(s);
    for (int k = 0; s->G && k < n * n; k++) s->G[k] = (k % (n + 1) == 0) + 0.5 * random_in(u) / n;
    if (spec->mass != MASS_SINGULAR) return;
    constrain(s, first, u);
    double *rest = s->work + 2 * n, *G = s->G, dir = s->dir;
    for (int i = first; i < n; i++) s->k[i] = 0;
    costate_point at = {.t = s->public.t0, .y = s->public.y0, .p = s->public.p0};
    s->G = NULL;                          /* fhat itself, that it be 0 at the start */
    s->dir = 1;
    f(&at, rest, s);
    s->G = G;
    s->dir = dir;
    for (int i = first; i < n; i++) s->k[i] = -rest[i];
}

random_case *random_case_new(const random_spec *spec)
{
    unsigned u = spec->seed;
    size_t n = (size_t)spec->n, nn = n * n, np = (size_t)spec->np, nq = (size_t)spec->nq;
    data *s = calloc(1, sizeof *s);
    double *at = calloc(3 * nn + 7 * n + nq * n + np + 1, sizeof *at);
    if (!s || !at) { free(s); free(at); return NULL; }
    *s = (data){
        .n = spec->n, .np = spec->np, .nq = spec->nq, .autonomous = spec->autonomous, .dir = spec->backwards ? -1 : 1};
    s->work = at;
    s->A = at += 3 * n;
    s->B = at += nn;
    s->M = at += nn;
    s->k = at += nn;
    s->g = at += n;
    s->e = at += n;
    s->public.y0 = at += n;
    s->public.p0 = at += n;
    s->C = at += np;
    int mixed = !spec->sparse && !spec->diagonal && spec->mass != MASS_IDENTITY;
    if (mixed) s->G = calloc(nn, sizeof *s->G);
    if (!make_pattern(s, spec->sparse, &u) || (mixed && !s->G)) {
        random_case_free(&s->public);
        return NULL;
    }
    s->public.t0 = 2 * random_in(&u);
    s->public.t1 = s->public.t0 + s->dir * (1 + 0.7 * random_in(&u));
    fill(s, spec, &u);
    s->public.P = (costate_problem){.n = spec->n,
                                    .np = spec->np,
                                    .nq = spec->nq,
                                    .ctx = s,
                                    .rhs = {.value = f, .tangent = f_tangent, .adjoint = f_adjoint,
                                            .tangent2 = f_tangent2, .adjoint_tangent = f_adjoint_tangent,
                                            .adjoint_tangent2 = f_adjoint_tangent2},
                                    .jac = jac,
                                    .mass = spec->mass == MASS_IDENTITY ? NULL : mass,
                                    .pattern = spec->sparse ? &s->pattern : NULL};
    if (nq) s->public.P.cost = (costate_map){.value = r, .tangent = r_tangent, .adjoint = r_adjoint,
                                             .tangent2 = r_tangent2, .adjoint_tangent = r_adjoint_tangent,
                                             .adjoint_tangent2 = r_adjoint_tangent2};
    return &s->public;
}

void random_case_free(random_case *x)
{
    data *s = (data *)x;
    if (!s) return;
    free(s->work);
    free(s->G);
    free(s->col);
    free(s->row);
    free(s);
}
