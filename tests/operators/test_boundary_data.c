/* test_boundary_data.c - boundary values that depend on time: what W-methods with a splitting lose, and the two cures
   of docs/howto/splitting.md, a lifting of the boundary values and unknowns on the boundary.

   u_t = laplace(u) + s on the unit square, u = g on its boundary, with the solution u = q0 + cos(p t) q1, where q0 and
   q1 are polynomials of degree 3 at most in x and in y.  Central differences are exact for these, so all errors are
   those of the steps.  The unknowns are y = u - r:

       AS_USUAL    r = u on the boundary, 0 inside: the boundary values enter f divided by dx^2
       LIFTED      r: transfinite interpolation of the boundary values, so that y = 0 on the boundary
       EDGES       r = 0, and u on the boundary is unknown: y' = g' + second differences along the edge of y - g
       EDGES_APART r = 0, and on the boundary y' = g' */
#include <costate/operators.h>
#include "common.h"

enum { SIDE = 33, N = SIDE * SIDE };
enum { AS_USUAL, LIFTED, EDGES, EDGES_APART };

typedef struct { const struct heat *of; int stride; } direction;
typedef double polynomial(double x, double y);
typedef struct heat {
    int form;
    direction along[2];
    double u[2][N], r[2][N];                /* parts of u and r: constant, and with the factor cos(p t) */
    double f[3][N], w[N];                   /* f = A y + f[0] + cos(p t) f[1] + cos(p t)' f[2]; functional w^T u(T) */
    costate_problem P;
} heat;

static const double T = 1, frequency = 5, per_dx2 = (SIDE - 1) * (SIDE - 1);

static int at_end(const direction *d, int k) { return k / d->stride % SIDE == 0 || k / d->stride % SIDE == SIDE - 1; }
static int inside(const heat *e, int k) { return !at_end(&e->along[0], k) && !at_end(&e->along[1], k); }

static int coupled(const heat *e, const direction *d, int k)
{
    return !at_end(d, k) && (inside(e, k) || e->form == EDGES);
}

/* (A y)_k: second differences along each direction; on the boundary 0, or with EDGES along the edge */
static double laplace(const heat *e, const double *y, int k)
{
    double sum = 0;
    for (int j = 0; j < 2; j++) {
        int s = e->along[j].stride;
        if (coupled(e, &e->along[j], k)) sum += per_dx2 * (y[k - s] - 2 * y[k] + y[k + s]);
    }
    return sum;
}

static int value(const costate_point *x, double *out, void *ctx)
{
    const heat *e = ctx;
    double c = cos(x->p[0] * x->t), dc = -x->p[0] * sin(x->p[0] * x->t);
    for (int k = 0; k < N; k++) out[k] = laplace(e, x->y, k) + e->f[0][k] + c * e->f[1][k] + dc * e->f[2][k];
    return 0;
}

static int adjoint(const costate_point *x, const double *w, const costate_gradient *to, void *ctx)
{
    const heat *e = ctx;
    double p = x->p[0], t = x->t, c = -t * sin(p * t), dc = -sin(p * t) - p * t * cos(p * t);       /* by p */
    for (int k = 0; k < N; k++) {
        if (to->p) to->p[0] += w[k] * (c * e->f[1][k] + dc * e->f[2][k]);
        for (int j = 0; to->y && j < 2; j++) {
            int s = e->along[j].stride;
            if (!coupled(e, &e->along[j], k)) continue;
            to->y[k - s] += per_dx2 * w[k];
            to->y[k] -= 2 * per_dx2 * w[k];
            to->y[k + s] += per_dx2 * w[k];
        }
    }
    return 0;
}

static int lines(const costate_point *x, double *lower, double *diagonal, double *upper, void *ctx)
{
    const direction *d = ctx;
    (void)x;
    for (int k = 0; k < N; k++) {
        if (!coupled(d->of, d, k)) continue;
        lower[k] = upper[k] = per_dx2;
        diagonal[k] = -2 * per_dx2;
    }
    return 0;
}

/* A as one matrix, whose solves are direct */
typedef struct { const heat *of; const costate_pattern *pattern; } matrix;
static int entries(const costate_point *x, double *A, void *ctx)
{
    const matrix *w = ctx;
    (void)x;
    for (int j = 0; j < N; j++)
        for (int i = w->pattern->col[j]; i < w->pattern->col[j + 1]; i++) {
            int k = w->pattern->row[i];
            for (int a = 0; a < 2; a++) {
                if (!coupled(w->of, &w->of->along[a], k)) continue;
                if (k == j) A[i] -= 2 * per_dx2;
                if (abs(k - j) == w->of->along[a].stride) A[i] += per_dx2;
            }
        }
    return 0;
}

/* of degree 3 at most; on the boundary, varying is not 0, and still is */
static double constant(double x, double y) { return 1 + x * x - x * y / 2 + x * y * y; }
static double varying(double x, double y) { return (1 + x - 0.7 * x * x) * (0.5 + 1.3 * y * y); }
static double still(double x, double y) { return 16 * x * (1 - x) * y * (1 - y) * (1 + x); }

/* the function that is linear between opposite edges and equals q on all four */
static double transfinite(polynomial *q, double x, double y)
{
    double across = (1 - x) * q(0, y) + x * q(1, y), up = (1 - y) * q(x, 0) + y * q(x, 1);
    double corners = (1 - x) * ((1 - y) * q(0, 0) + y * q(0, 1)) + x * ((1 - y) * q(1, 0) + y * q(1, 1));
    return across + up - corners;
}

static heat *heat_new(int form, polynomial *q1)
{
    heat *e = calloc(1, sizeof *e);
    polynomial *q[] = {constant, q1};
    assert_non_null(e);
    e->form = form;
    for (int j = 0; j < 2; j++) e->along[j] = (direction){e, j ? SIDE : 1};
    for (int i = 0; i < 2; i++)
        for (int k = 0; k < N; k++) {
            double x = k % SIDE / (SIDE - 1.0), y = k / SIDE / (SIDE - 1.0);
            e->u[i][k] = q[i](x, y);
            if (form == LIFTED) e->r[i][k] = transfinite(q[i], x, y);
            if (form == AS_USUAL && !inside(e, k)) e->r[i][k] = e->u[i][k];
            e->w[k] = inside(e, k) ? (1 + x * y) / N : 0;
        }
    for (int k = 0; k < N; k++) {
        for (int i = 0; i < 2; i++) e->f[i][k] = laplace(e, e->r[i], k) - laplace(e, e->u[i], k);
        e->f[2][k] = e->u[1][k] - e->r[1][k];
    }
    e->P = (costate_problem){.n = N, .np = 1, .ctx = e, .rhs = {.value = value, .adjoint = adjoint}};
    return e;
}

typedef struct { double y, gradient; } errors;

/* relative errors of u(T), and of the derivative of w^T u(T) with respect to p, which enters through cos(p t) */
static errors errors_of(const heat *e, costate *c)
{
    double y[N], lambda[N], p = frequency, mu = 0, exact = 0, worst = 0, size = 0;
    costate_tape *tape = costate_tape_new();
    for (int k = 0; k < N; k++) y[k] = e->u[0][k] + e->u[1][k] - e->r[0][k] - e->r[1][k];
    memcpy(lambda, e->w, sizeof lambda);
    CHECK_OK(c, costate_integrate(c, 0, T, y, &p, tape));
    CHECK_OK(c, costate_adjoint(c, tape, 1, lambda, &mu, NULL, NULL));
    for (int k = 0; k < N; k++) {
        double u = e->u[0][k] + cos(p * T) * e->u[1][k], found = y[k] + e->r[0][k] + cos(p * T) * e->r[1][k];
        if (!inside(e, k)) continue;
        worst = fmax(worst, fabs(found - u));
        size = fmax(size, fabs(u));
        mu -= T * sin(p * T) * e->w[k] * e->r[1][k];
        exact -= T * sin(p * T) * e->w[k] * e->u[1][k];
    }
    costate_tape_free(tape);
    return (errors){worst / size, fabs(mu / exact - 1)};
}

static const char *const methods[] = {"w6s4os", "ros34pw2"};

/* Runs with one step size after another or, if it is 0, with rtol = atol = 1e-6: errors, and the steps of the last. */
static long runs(const char *method, heat *e, int direct, int count, const double *h, errors *found)
{
    const costate_point at = {.y = e->u[0], .p = &frequency};
    costate_pattern *pattern = NULL;
    long steps = 0;
    if (direct) assert_int_equal(costate_pattern_detect(&e->P, &at, &pattern, NULL), COSTATE_OK);
    matrix A = {e, pattern};
    const costate_part whole[] = {{.matrix = entries, .pattern = pattern, .ctx = &A}};
    const costate_part split[] = {{.lines = lines, .points = SIDE, .stride = 1, .ctx = &e->along[0]},
                                  {.lines = lines, .points = SIDE, .stride = SIDE, .ctx = &e->along[1]}};
    costate_splitting *s = costate_splitting_new(&e->P, direct ? 1 : 2, direct ? whole : split);
    for (int k = 0; k < count; k++) {
        const costate_options o = {.solver = COSTATE_LS_PRECONDITIONER, .h0 = h[k], .rtol = 1e-6, .atol = 1e-6,
                                   .preconditioner = costate_splitting_preconditioner(s),
                                   .controller = h[k] > 0 ? COSTATE_FIXED : COSTATE_AUTO};
        costate *c = costate_new(costate_method_find(method), &e->P, &o);
        found[k] = errors_of(e, c);
        steps = costate_get_stats(c)->steps;
        costate_free(c);
    }
    costate_splitting_free(s);
    costate_pattern_free(pattern);
    return steps;
}

/* the errors of 160 steps, and the orders between 40 and 160 steps */
typedef struct { errors error, order; } measured;

static measured measure(const char *method, int form, polynomial *q1, int direct)
{
    static const double h[] = {T / 40, T / 160};
    errors found[2];
    heat *e = heat_new(form, q1);
    runs(method, e, direct, 2, h, found);
    free(e);
    return (measured){found[1], {log2(found[0].y / found[1].y) / 2, log2(found[0].gradient / found[1].gradient) / 2}};
}

static void is(const char *method, const measured *m, double y, double gradient)
{
    if (!(fabs(m->order.y - y) < 0.2 && fabs(m->order.gradient - gradient) < 0.2))
        fail_msg("%s: order %.2f, of the gradient %.2f", method, m->order.y, m->order.gradient);
}

static void as_usual(void **state)
{
    (void)state;
    static const double y[] = {1.5, 2.5}, gradient[] = {1.7, 1.1};
    for (int k = 0; k < 2; k++) {
        measured m = measure(methods[k], AS_USUAL, varying, 0);
        is(methods[k], &m, y[k], gradient[k]);
        assert_true(m.error.y > 1e-3);
    }
}

/* like boundary values that do not change */
static void cured(void **state)
{
    (void)state;
    static const double y[] = {2.2, 2.9}, gradient[] = {3.2, 2.5}, edges[] = {3.2, 2.9};
    for (int k = 0; k < 2; k++) {
        measured usual = measure(methods[k], AS_USUAL, varying, 0);
        measured still_data = measure(methods[k], AS_USUAL, still, 0);
        measured lifted = measure(methods[k], LIFTED, varying, 0), unknown = measure(methods[k], EDGES, varying, 0);
        is(methods[k], &still_data, y[k], gradient[k]);
        is(methods[k], &lifted, y[k], gradient[k]);
        is(methods[k], &unknown, y[k], edges[k]);
        assert_true(1000 * lifted.error.y < usual.error.y && 1000 * unknown.error.y < usual.error.y);
        assert_true(10 * lifted.error.gradient < usual.error.gradient);
        assert_true(10 * unknown.error.gradient < usual.error.gradient);
    }
}

/* Without differences along the edges stages are not smooth: errors are several times as large. */
static void apart(void **state)
{
    (void)state;
    for (int k = 0; k < 2; k++) {
        measured other = measure(methods[k], EDGES_APART, varying, 0), edges = measure(methods[k], EDGES, varying, 0);
        double ratio = other.error.y / edges.error.y;
        if (!(ratio > 3 && ratio < 20)) fail_msg("%s: %.1f times", methods[k], ratio);
    }
}

/* The splitting is not the only cause: with the exact f_y for W, without f_t, w6s4os loses as much. */
static void direct(void **state)
{
    (void)state;
    static const double y[] = {1.5, 2.8}, gradient[] = {2, 2.8}, y_still[] = {2.1, 2.9}, gradient_still[] = {3.2, 2.9};
    for (int k = 0; k < 2; k++) {
        measured m = measure(methods[k], AS_USUAL, varying, 1), still_data = measure(methods[k], AS_USUAL, still, 1);
        is(methods[k], &m, y[k], gradient[k]);
        is(methods[k], &still_data, y_still[k], gradient_still[k]);
    }
}

/* The step size control keeps y right, with many steps. */
static void steps(void **state)
{
    (void)state;
    static const double chosen = 0;
    for (int k = 0; k < 2; k++) {
        long taken[3];
        for (int form = 0; form < 3; form++) {
            errors found;
            heat *e = heat_new(form, varying);
            taken[form] = runs(methods[k], e, 0, 1, &chosen, &found);
            assert_true(found.y < 1e-5 && found.gradient < 1e-6);
            free(e);
        }
        assert_true(taken[AS_USUAL] > 10 * taken[LIFTED] && taken[AS_USUAL] > 10 * taken[EDGES]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(as_usual), cmocka_unit_test(cured), cmocka_unit_test(apart),
                                       cmocka_unit_test(direct), cmocka_unit_test(steps)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
