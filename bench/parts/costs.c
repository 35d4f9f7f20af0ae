/* costs.c - the best times of the callbacks and of the linear solver's calls, for the cost model. */
#include <costate/linsol.h>
#include <string.h>

#include "peer.h"

typedef struct {
    const ivp *b;
    const costate_backend *backend;
    void *real, *complex;        /* the backend's objects */
    double *x, *u, *v, *J, *A, *Z;   /* n, n, 2n; values; values of the real, the complex matrix */
    size_t values;
} bench;

static void call_f(bench *w) { w->b->P.rhs.value(&(costate_point){.y = w->x}, w->v, w->b->P.ctx); }
static void call_jac(bench *w) { w->b->P.jac(&(costate_point){.y = w->x}, w->J, w->b->P.ctx); }
static void call_tangent(bench *w)
{
    w->b->P.rhs.tangent(&(costate_point){.y = w->x}, &(costate_point){.y = w->u}, w->v, w->b->P.ctx);
}
static void call_adjoint(bench *w)
{
    w->b->P.rhs.adjoint(&(costate_point){.y = w->x}, w->u, &(costate_gradient){.y = w->v}, w->b->P.ctx);
}
static void call_tangent2(bench *w)
{
    costate_point d = {.y = w->u};
    w->b->P.rhs.tangent2(&(costate_point){.y = w->x}, &d, &d, w->v, w->b->P.ctx);
}
static void call_adjoint2(bench *w)
{
    w->b->P.rhs.adjoint_tangent(&(costate_point){.y = w->x}, &(costate_point){.y = w->u}, w->u,
                                &(costate_gradient){.y = w->v}, w->b->P.ctx);
}
static void call_factor(bench *w) { w->backend->factor(w->real, w->A); }
static void call_factor_complex(bench *w) { w->backend->factor(w->complex, w->Z); }

static void refill(bench *w, size_t n) { for (size_t i = 0; i < n; i++) w->v[i] = 1; }

static void call_solve(bench *w)
{
    refill(w, (size_t)w->b->P.n);
    w->backend->solve(w->real, 0, 1, w->v);
}
static void call_solve_transposed(bench *w)
{
    refill(w, (size_t)w->b->P.n);
    w->backend->solve(w->real, 1, 1, w->v);
}
static void call_solve_complex(bench *w)
{
    refill(w, 2 * (size_t)w->b->P.n);
    w->backend->solve(w->complex, 0, 1, w->v);
}

/* The least of the times of a call, for a fifth of a second, but 5 times at least. */
static double best(bench *w, void (*call)(bench *))
{
    double begin = clock_now(), least = INFINITY;
    int inner = 1;
    for (int k = 0; k < 5 || clock_now() - begin < 0.2; k++) {
        double start = clock_now();
        for (int i = 0; i < inner; i++) call(w);
        double each = (clock_now() - start) / inner;
        if (each < least) least = each;
        if (each * inner < 2e-5) inner *= 2, k = 0;      /* so that the clock does not count */
    }
    return least;
}

/* I/(h gamma) - J, and (1 + i)/(h gamma) I - J; values in the pattern, or dense */
static void form(bench *w, double s)
{
    const costate_pattern *p = w->b->P.pattern;
    int n = w->b->P.n;
    for (size_t k = 0; k < w->values; k++) {
        w->A[k] = w->Z[2 * k] = -w->J[k];
        w->Z[2 * k + 1] = 0;
    }
    for (int j = 0; j < n; j++)
        for (int k = p ? p->col[j] : 0; k < (p ? p->col[j + 1] : n); k++) {
            size_t at = p ? (size_t)k : (size_t)n * (size_t)j + (size_t)k;
            if ((p ? p->row[k] : k) != j) continue;
            w->A[at] += s;
            w->Z[2 * at] += s;
            w->Z[2 * at + 1] += s;
        }
}

static const costate_backend *named(const race_task *task, const costate_pattern *p)
{
    static const char *const names[] = {NULL, "dense", "band", "umfpack", "superlu", "klu", NULL};
    return costate_backend_find(task->solver == COSTATE_LS_AUTO ? p ? "umfpack" : "dense" : names[task->solver]);
}

/* what a backend has of one of the two matrices; NULL: it cannot, or the matrix is singular */
static void *factored(const bench *w, int complex, const double *values)
{
    const costate_backend *by = w->backend;
    void *self = NULL;
    if (!by || by->init(&self, w->b->P.n, by->dense ? NULL : w->b->P.pattern, complex, NULL) != 0) return NULL;
    if (by->factor(self, values) == 0) return self;
    by->free(self);
    return NULL;
}

static void measure(bench *w, json *j)
{
    enum { ALWAYS, REAL, COMPLEX };
    const struct { const char *name; void (*call)(bench *); int with; } costs[] = {
        {"f", call_f, ALWAYS}, {"jac", call_jac, ALWAYS}, {"tangent", call_tangent, ALWAYS},
        {"adjoint", call_adjoint, ALWAYS}, {"tangent2", call_tangent2, ALWAYS}, {"adjoint2", call_adjoint2, ALWAYS},
        {"factor", call_factor, REAL}, {"factor_complex", call_factor_complex, COMPLEX}, {"solve", call_solve, REAL},
        {"solve_transposed", call_solve_transposed, REAL}, {"solve_complex", call_solve_complex, COMPLEX}};
    for (size_t k = 0; k < sizeof costs / sizeof *costs; k++) {
        int there = costs[k].with == ALWAYS || (costs[k].with == REAL ? w->real : w->complex) != NULL;
        refill(w, (size_t)w->b->P.n);                    /* adjoints add to it */
        json_number(j, costs[k].name, there ? best(w, costs[k].call) : NAN);
    }
}

int race_measure_costs(const race_task *task, const ivp *b, json *j)
{
    size_t n = (size_t)b->P.n, values = b->P.pattern ? (size_t)b->P.pattern->col[n] : n * n;
    bench w = {.b = b, .backend = named(task, b->P.pattern), .values = values};
    if (w.backend && w.backend->dense && b->P.pattern) w.backend = NULL;
    if (!(w.x = malloc((4 * n + 4 * values) * sizeof *w.x))) return COSTATE_NO_MEMORY;
    w.u = w.x + n;
    w.v = w.u + n;
    w.J = w.v + 2 * n;
    w.A = w.J + values;
    w.Z = w.A + values;
    memcpy(w.x, b->y0, n * sizeof *w.x);
    for (size_t i = 0; i < n; i++) w.u[i] = 1e-3 * (double)(i % 7);
    call_jac(&w);
    form(&w, task->steps / (0.25 * task->tf));
    w.real = factored(&w, 0, w.A);
    w.complex = factored(&w, 1, w.Z);
    measure(&w, j);
    if (w.real) w.backend->free(w.real);
    if (w.complex) w.backend->free(w.complex);
    free(w.x);
    return COSTATE_OK;
}
