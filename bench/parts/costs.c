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

static void time_solver(bench *w, race_costs *c)
{
    const costate_pattern *p = w->backend->dense ? NULL : w->b->P.pattern;
    int n = w->b->P.n;
    if (w->backend->init(&w->real, n, p, 0, NULL) != 0) w->real = NULL;
    if (w->backend->init(&w->complex, n, p, 1, NULL) != 0) w->complex = NULL;
    if (w->real && w->backend->factor(w->real, w->A) == 0) {
        c->factor = best(w, call_factor);
        c->solve = best(w, call_solve);
        c->solve_transposed = best(w, call_solve_transposed);
    }
    if (w->complex && w->backend->factor(w->complex, w->Z) == 0) {
        c->factor_complex = best(w, call_factor_complex);
        c->solve_complex = best(w, call_solve_complex);
    }
    if (w->real) w->backend->free(w->real);
    if (w->complex) w->backend->free(w->complex);
}

static void time_callbacks(bench *w, race_costs *c)
{
    size_t n = (size_t)w->b->P.n;
    memcpy(w->x, w->b->y0, n * sizeof *w->x);
    for (size_t i = 0; i < n; i++) w->u[i] = 1e-3 * (double)(i % 7);
    c->f = best(w, call_f);
    c->jac = best(w, call_jac);
    c->tangent = best(w, call_tangent);
    refill(w, n);
    c->adjoint = best(w, call_adjoint);
    c->tangent2 = best(w, call_tangent2);
    refill(w, n);
    c->adjoint2 = best(w, call_adjoint2);
}

int race_measure_costs(const race_task *task, const ivp *b, race_costs *c)
{
    size_t n = (size_t)b->P.n, values = b->P.pattern ? (size_t)b->P.pattern->col[n] : n * n;
    bench w = {.b = b, .backend = named(task, b->P.pattern), .values = values};
    *c = (race_costs){NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN};
    if (!(w.x = malloc((4 * n + 4 * values) * sizeof *w.x))) return COSTATE_NO_MEMORY;
    w.u = w.x + n;
    w.v = w.u + n;
    w.J = w.v + 2 * n;
    w.A = w.J + values;
    w.Z = w.A + values;
    time_callbacks(&w, c);
    form(&w, task->steps / (0.25 * task->tf));
    if (w.backend && !(w.backend->dense && b->P.pattern)) time_solver(&w, c);
    free(w.x);
    return COSTATE_OK;
}
