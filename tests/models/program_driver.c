/* program_driver.c - models as byte code beside the same models as C: all products of all maps at random points, and
   runs with gradients and Hessian products, have the same bits.  programs.py writes models.h, with ROWS.

       program_driver FOLDER: NAME.bin of each row is there */
#include <costate/linsol.h>
#include <costate/program.h>
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "models.h"

enum { MOST = 3000, POINTS = 4, VARIANTS = 5, COLUMNS = 3, LONGEST = 2000 };

typedef struct {
    const char *name;
    const costate_problem *(*problem)(void);
    const costate_map *(*start_map)(void), *(*output_map)(void);
    int outputs;
    const double *defaults;
    const costate_backend *(*backend)(void);
    double end;                             /* of runs; 0: none */
} row;
static const row models[] = {ROWS};

static unsigned seeded = 1;
static double uniform(void)                 /* in (-1, 1) */
{
    seeded = seeded * 1664525u + 1013904223u;
    return (double)(seeded >> 8) / (1 << 23) - 1;
}

static void random_values(double *x, int count)
{
    for (int i = 0; i < count; i++) x[i] = uniform();
}

static void stop(const row *m, const char *what, int k, double a, double b)
{
    printf("%s: %s, value %d: compiled %.17g, byte code %.17g\n", m->name, what, k, a, b);
    exit(1);
}

/* the same bits; any NaN is the same as any other */
static void same(const row *m, const char *what, const double *a, const double *b, int count)
{
    for (int k = 0; k < count; k++)
        if (memcmp(a + k, b + k, sizeof *a) && !(isnan(a[k]) && isnan(b[k]))) stop(m, what, k, a[k], b[k]);
}

static void same_number(const row *m, const char *what, int a, int b)
{
    if (a != b) stop(m, what, 0, a, b);
}

/* ---- maps ---- */

typedef struct { double y[MOST], p[MOST], yp[MOST], m[MOST]; int relation[MOST]; } arrays;

static costate_point point_of(arrays *v, const costate_problem *P, int direction)
{
    random_values(v->y, P->n);
    random_values(v->p, P->np);
    random_values(v->yp, P->n);
    random_values(v->m, P->nm);
    costate_point x = {.t = uniform(), .y = v->y, .p = v->p, .yp = v->yp, .m = P->nm ? v->m : NULL};
    if (direction) return x;
    x.t = 1.5 + uniform();
    x.mode = (int)(1.5 + 1.5 * uniform());
    x.relation = v->relation;
    return x;
}

/* directions: all, states alone, parameters alone, none, t alone */
static costate_point variant(costate_point d, int k)
{
    if (k == 1 || k == 3) d.p = d.m = NULL, d.t = 0;
    if (k == 2) d.y = d.yp = NULL, d.t = 0;
    if (k == 3) d.y = d.yp = NULL;
    if (k == 4) d = (costate_point){.t = d.t};
    return d;
}

typedef struct { double t, y[MOST], p[MOST], yp[MOST], m[MOST]; } sums;

static costate_gradient into(sums *s, int k)
{
    *s = (sums){.t = 0.5};
    for (int i = 0; i < MOST; i++) s->y[i] = s->p[i] = s->yp[i] = s->m[i] = 1.0 / (1 + i);
    costate_gradient g = {&s->t, s->y, s->p, s->yp, s->m};
    if (k == 1) g.p = g.m = g.t = NULL;
    if (k == 2) g.y = NULL;
    if (k == 3) g = (costate_gradient){.t = &s->t};
    if (k == 4) g.t = NULL;
    return g;
}

static void backward(const row *m, const costate_map *a, const costate_map *b, const costate_point *x,
                     const costate_point *d, const costate_point *e, const double *w, int k, void *ctx)
{
    static sums left[COLUMNS], right[COLUMNS];
    costate_gradient g[COLUMNS], h[COLUMNS];
    for (int product = 0; product < 4; product++) {
        const int columns = product == 3 ? COLUMNS : 1;
        for (int j = 0; j < columns; j++) {
            g[j] = into(&left[j], (k + j) % VARIANTS);
            h[j] = into(&right[j], (k + j) % VARIANTS);
        }
        if (product == 0) a->adjoint(x, w, g, NULL), b->adjoint(x, w, h, ctx);
        else if (product == 1) a->adjoint_tangent(x, d, w, g, NULL), b->adjoint_tangent(x, d, w, h, ctx);
        else if (product == 2) a->adjoint_tangent2(x, d, e, w, g, NULL), b->adjoint_tangent2(x, d, e, w, h, ctx);
        else if (a->adjoints) a->adjoints(x, columns, w, g, NULL), b->adjoints(x, columns, w, h, ctx);
        const char *const names[] = {"adjoint", "adjoint_tangent", "adjoint_tangent2", "adjoints"};
        for (int j = 0; j < columns; j++)
            same(m, names[product], (const double *)&left[j], (const double *)&right[j], sizeof *left / sizeof(double));
    }
}

static void forward(const row *m, const costate_map *a, const costate_map *b, const costate_point *x,
                    const costate_point *d, const costate_point *e, int values, void *ctx)
{
    static double left[COLUMNS * MOST], right[COLUMNS * MOST];
    a->value(x, left, NULL), b->value(x, right, ctx), same(m, "value", left, right, values);
    a->tangent(x, d, left, NULL), b->tangent(x, d, right, ctx), same(m, "tangent", left, right, values);
    a->tangent2(x, d, e, left, NULL), b->tangent2(x, d, e, right, ctx), same(m, "tangent2", left, right, values);
    if (!a->tangents) return;
    costate_point columns[COLUMNS];
    for (int j = 0; j < COLUMNS; j++) columns[j] = j == 1 ? *e : *d;
    a->tangents(x, COLUMNS, columns, left, NULL), b->tangents(x, COLUMNS, columns, right, ctx);
    same(m, "tangents", left, right, COLUMNS * values);
}

static int products(const costate_map *a)
{
    return !!a->value + 2 * !!a->tangent + 4 * !!a->adjoint + 8 * !!a->tangent2 + 16 * !!a->adjoint_tangent +
           32 * !!a->tangents + 64 * !!a->adjoints + 128 * !!a->adjoint_tangent2 + 256 * !!a->prepare;
}

/* ctx: of b */
static void map(const row *m, const costate_map *a, const costate_map *b, int count, const costate_problem *P,
                const costate_point *x, void *ctx)
{
    static arrays d, e;
    static double w[COLUMNS * MOST];
    same_number(m, "products", products(a), products(b));
    if (!a->value) return;
    const costate_point along = point_of(&d, P, 1), second = point_of(&e, P, 1);
    for (int k = 0; k < VARIANTS; k++) {
        const costate_point dx = variant(along, k), ex = variant(second, (k + k / 2) % VARIANTS);
        random_values(w, COLUMNS * count);
        if (k == 2) w[0] = 0;
        forward(m, a, b, x, &dx, &ex, count, ctx);
        backward(m, a, b, x, &dx, &ex, w, k, ctx);
    }
}

static void matrices(const row *m, const costate_problem *A, const costate_problem *B, const costate_point *x)
{
    static double J[MOST * MOST], K[MOST * MOST];
    const costate_pattern *p = A->pattern, *q = B->pattern;
    const int entries = p ? p->col[p->n] : A->n * A->n;
    same_number(m, "pattern", !!p, !!q);
    if (p) same_number(m, "columns", 0, memcmp(p->col, q->col, (size_t)(p->n + 1) * sizeof(int)));
    if (p) same_number(m, "rows", 0, entries ? memcmp(p->row, q->row, (size_t)entries * sizeof(int)) : 0);
    same_number(m, "jac", !!A->jac, !!B->jac);
    if (A->jac) A->jac(x, J, NULL), B->jac(x, K, B->ctx), same(m, "jac", J, K, entries);
    same_number(m, "jac_yp", !!A->jac_yp, !!B->jac_yp);
    if (A->jac_yp) A->jac_yp(x, J, NULL), B->jac_yp(x, K, B->ctx), same(m, "jac_yp", J, K, entries);
    same_number(m, "mass", !!A->mass, !!B->mass);
    if (A->mass) A->mass(J, NULL), B->mass(K, B->ctx), same(m, "mass", J, K, entries);
}

static void all_maps(const row *m, const costate_problem *A, const costate_program *program)
{
    const costate_problem *B = costate_program_problem(program);
    static arrays v;
    int outputs;
    const costate_map *output = costate_program_outputs(program, &outputs);
    same_number(m, "outputs", m->outputs, outputs);
    for (int k = 0; k < POINTS; k++) {
        costate_point x = point_of(&v, A, 0);
        for (int i = 0; i < A->n; i++) v.y[i] = fabs(v.y[i]);
        for (int i = 0; i < A->np && k < 3; i++)
            if (isfinite(m->defaults[i])) v.p[i] = m->defaults[i] * (1 + 0.1 * v.p[i]);
        for (int i = 0; i < A->nrelations; i++) v.relation[i] = (int)floor(1.5 * (1 + uniform()));
        map(m, &A->rhs, &B->rhs, A->n, A, &x, B->ctx);
        map(m, &A->residual, &B->residual, A->n, A, &x, B->ctx);
        map(m, &A->cost, &B->cost, A->nq, A, &x, B->ctx);
        map(m, m->start_map(), costate_program_start(program), A->n + A->nq + A->nm, A, &x, B->ctx);
        if (output) map(m, m->output_map(), output, outputs, A, &x, B->ctx);
        matrices(m, A, B, &x);
        for (int i = 0; i < A->nevents; i++) {
            const costate_event *a = &A->event[i], *b = &B->event[i];
            map(m, &a->guard, &b->guard, 1, A, &x, b->ctx);
            map(m, &a->jump, &b->jump, A->n + A->nm, A, &x, b->ctx);
            map(m, &a->cost, &b->cost, A->nq, A, &x, b->ctx);
        }
        for (int i = 0; i < A->nrelations; i++)
            map(m, &A->relation[i].guard, &B->relation[i].guard, 1, A, &x, B->relation[i].ctx);
    }
}

/* ---- what is no map ---- */

static void numbers(const row *m, const costate_problem *A, const costate_program *program)
{
    const costate_problem *B = costate_program_problem(program);
    const int a[] = {A->n, A->np, A->nq, A->nm, A->nevents, A->nrelations, A->nstops, !!A->index};
    const int b[] = {B->n, B->np, B->nq, B->nm, B->nevents, B->nrelations, B->nstops, !!B->index};
    for (size_t k = 0; k < sizeof a / sizeof *a; k++) same_number(m, "sizes", a[k], b[k]);
    for (int k = 0; A->index && k < A->n; k++) same_number(m, "index", A->index[k], B->index[k]);
    same(m, "stops", A->stops, B->stops, A->nstops);
    if (A->np) same(m, "defaults", m->defaults, costate_program_defaults(program), A->np);
    for (int i = 0; i < A->nevents; i++) {
        const costate_event *c = &A->event[i], *d = &B->event[i];
        const int e[] = {c->ntimes, c->direction, c->from, c->to, c->terminal, c->passes, c->slopes, c->at_start};
        const int f[] = {d->ntimes, d->direction, d->from, d->to, d->terminal, d->passes, d->slopes, d->at_start};
        for (size_t k = 0; k < sizeof e / sizeof *e; k++) same_number(m, "event", e[k], f[k]);
        same(m, "times", c->times, d->times, c->ntimes);
    }
    for (int i = 0; i < A->nrelations; i++) same_number(m, "relation", A->relation[i].whole + 2 * A->relation[i].sign,
                                                             B->relation[i].whole + 2 * B->relation[i].sign);
}

/* ---- runs ---- */

static int ones(double t, const double *y, const double *p, int m, const double *V, const double *Vp, double *lambda,
                double *mu, double *lambda2, double *mu2, void *ctx)
{
    const int rows = *(const int *)ctx;
    (void)t, (void)p, (void)m, (void)Vp, (void)mu, (void)mu2;
    for (int i = 0; i < rows; i++) lambda[i] = y[i], lambda2[i] = V[i];
    return 0;
}

/* a run, its gradient and a Hessian product one behind the other; its status.  by: the linear solver */
static int ran(const row *m, const costate_problem *P, const char *method, const costate_backend *by, double *out)
{
    const int both = COSTATE_CONSISTENT_START + COSTATE_CONSISTENT_END;
    const int dae = P->index || P->residual.value;
    const costate_options o = {.rtol = 1e-6, .atol = 1e-8, .consistent = !dae ? 0 : P->index ? both : 1,
                                .max_steps = LONGEST, .backend = by};
    costate *c = costate_new(costate_method_find(method), P, &o);
    costate_tape *tape = costate_tape_new();
    const int n = P->n, np = P->np, N = P->n + P->nq + P->nm, rows_ = P->n + P->nq;
    double *y = out, *lambda = y + N, *mu = lambda + N, *lambda2 = mu + np, *mu2 = lambda2 + N;
    double V[MOST], Vp[MOST], seeds[MOST];
    m->start_map()->value(&(costate_point){.p = m->defaults}, y, NULL);
    int status = costate_integrate(c, 0, m->end, y, m->defaults, tape);
    for (int i = 0; i < N; i++) lambda[i] = i < n, V[i] = i < n ? 1 + 0.1 * i : 0;
    for (int i = 0; i < np; i++) mu[i] = 0, mu2[i] = 0, Vp[i] = 0.1 * m->defaults[i];
    if (!status) status = costate_adjoint(c, tape, 1, lambda, mu, NULL, NULL);
    const costate_second s = {.m = 1, .V = V, .Vp = np ? Vp : NULL, .seed = ones, .ctx = (void *)&rows_,
                              .lambda = seeds, .lambda2 = lambda2, .mu2 = np ? mu2 : NULL};
    if (!status) status = costate_hessian(c, tape, &s);
    costate_tape_free(tape);
    costate_free(c);
    return status;
}

static int all_runs(const row *m, const costate_problem *A, const costate_program *program)
{
    static const char *const methods[] = {"dopri5", "rodas4", "radau2a5", "auto"};
    static double left[5 * MOST], right[5 * MOST];
    const costate_problem *B = costate_program_problem(program);
    const costate_backend *backend = costate_program_backend(program);
    int runs = 0;
    same_number(m, "backend", !!m->backend, !!backend);
    for (int k = 0; k < (m->backend ? 8 : 4); k++) {
        for (int i = 0; i < 5 * MOST; i++) left[i] = right[i] = 0;
        const int status = ran(m, A, methods[k % 4], k < 4 ? NULL : m->backend(), left);
        same_number(m, methods[k % 4], status, ran(m, B, methods[k % 4], k < 4 ? NULL : backend, right));
        same(m, methods[k % 4], left, right, 5 * MOST);
        runs += !status;
    }
    return runs;
}

/* ---- files ---- */

static costate_program *loaded(const row *m, const char *folder)
{
    static char bytes[1 << 22];
    char path[600];
    snprintf(path, sizeof path, "%s/%s.bin", folder, m->name);
    FILE *file = fopen(path, "rb");
    if (!file) printf("no %s\n", path), exit(1);
    const size_t size = fread(bytes, 1, sizeof bytes, file);
    fclose(file);
    costate_program *program = costate_program_new(bytes, size);
    if (costate_program_status(program)) printf("%s: %s\n", m->name, costate_program_message(program)), exit(1);
    return program;
}

int main(int argc, char **argv)
{
    if (argc < 2) return 2;
    for (size_t k = 0; k < sizeof models / sizeof *models; k++) {
        const row *m = &models[k];
        costate_program *program = loaded(m, argv[1]);
        numbers(m, m->problem(), program);
        all_maps(m, m->problem(), program);
        if (m->end > 0) printf("%s %d\n", m->name, all_runs(m, m->problem(), program));
        else printf("%s 0\n", m->name);
        costate_program_free(program);
    }
    return 0;
}
