/* test_calibrated.c - errors of stiff steps by calibrated members: two tries of a step are compared for the state and
   for each tangent (mathematics, eq. 13.26).

   With rates of 1e12 the filter F is zero, and the stiff part is the estimate.  So estimates are prescribed here, after
   a step whose matrices are at hand. */
#include "run/calibrated.h"     /* before cmocka, whose fail is a macro */
#include "common.h"

enum { N = 2, TANGENTS = 2 };
static const double RATE = 1e12;

static int forced(const costate_point *x, double *out, void *ctx)
{
    (void)ctx;
    for (int i = 0; i < N; i++) out[i] = -RATE * (x->y[i] - cos(x->t));
    return 0;
}
static int tangent(const costate_point *x, const costate_point *dx, double *out, void *ctx)
{
    (void)ctx;
    for (int i = 0; i < N; i++) out[i] = -RATE * ((dx->y ? dx->y[i] : 0) + dx->t * sin(x->t));
    return 0;
}
static int diagonal(const costate_point *x, double *J, void *ctx)
{
    (void)x;
    (void)ctx;
    J[0] = J[3] = -RATE;
    J[1] = J[2] = 0;
    return 0;
}

typedef struct { costate *c; run x; double V[N * TANGENTS], looser; directions d; int seen; } prescribed;

/* the norm of column j after a try of length h with this estimate, of 0.5 by itself */
static double norm_after(prescribed *a, int j, double h, const double *e)
{
    double norm = 0.5;
    memcpy(a->c->work.err, e, N * sizeof *e);
    a->x.h = h;
    assert_int_equal(calibrated_norm(a->c, &a->x, j, &norm), 0);
    return norm;
}

/* looser * |by * e| */
static double norm_of(const prescribed *a, int j, double by, const double *e)
{
    double size, x[N];
    const double *V = a->V + (j < 0 ? 0 : j) * N;
    for (int i = 0; i < N; i++) x[i] = by * e[i];
    if (j < 0) assert_int_equal(error_norm(&a->c->st, a->c->work.y, a->c->work.y1, x, &size), 0);
    else assert_int_equal(tangent_error_norm(&a->c->st, j, V, V, x, &size), 0);
    return a->looser * size;
}

static void is_near(double a, double b) { assert_true(fabs(a - b) <= 1e-6 * fabs(b)); }

static void compare(prescribed *a, int j, double h, double size)
{
    const double first[] = {size, -size}, second[] = {1.3 * size, -size}, third[] = {1.3 * size, -1.1 * size};
    double by_first = norm_of(a, j, 1, first), by_second = norm_of(a, j, 1, second);
    is_near(norm_after(a, j, h, first), by_first);
    is_near(norm_after(a, j, 2 * h, second), by_second);            /* not a shorter one */
    is_near(norm_after(a, j, h, first), norm_of(a, j, 1 / (pow(2, a->c->st.m->est.order) - 1),
                                                (const double[]){0.3 * size, 0}));
    is_near(norm_after(a, j, 0.99 * h, third), norm_of(a, j, 1, third));     /* so much change would be more */
    is_near(norm_after(a, j, 0.98 * h, third), 0.5);                /* none since the last try */
}

static int at_step(const costate_step *s, void *ctx)
{
    prescribed *a = ctx;
    costate *c = a->c;
    a->looser = c->st.members[c->st.at].looser;
    if (!(a->looser > 1) || costate_step_start(s) < 1) return 0;
    a->seen = 1;
    a->d.m = TANGENTS;
    a->x = (run){.now = *s->r, .d = &a->d, .Va = a->V, .Vb = a->V};
    double size = 1e3 / norm_of(a, STATE, 1, (const double[]){1, 1}), h = fabs(s->r->h);
    calibrated_anew(c, &a->x);
    for (int j = STATE; j < TANGENTS; j++) compare(a, j, h, (2 + j) * size);
    for (int j = STATE; j < TANGENTS; j++) {
        const double again[] = {1.3 * (2 + j) * size, -1.1 * (2 + j) * size};
        is_near(norm_after(a, j, 0.97 * h, again), 0.5);            /* each column has its own last try */
    }
    calibrated_anew(c, &a->x);
    for (int j = STATE; j < TANGENTS; j++) {
        const double e[] = {(2 + j) * size, 0};
        is_near(norm_after(a, j, h / 2, e), norm_of(a, j, 1, e));    /* of the step before nothing is known */
    }
    return 1;
}

static void two_tries(void **state)
{
    (void)state;
    const costate_problem P = {.n = N, .rhs = {.value = forced, .tangent = tangent}, .jac = diagonal};
    prescribed a = {.V = {1, 2, 3, 4}};
    costate_options o = {.rtol = 1e-8, .atol = 1e-8, .tangent_error = 1, .on_step = at_step, .on_step_ctx = &a};
    double y[N] = {1, 1}, V[N * TANGENTS] = {1, 0, 0, 1};
    a.c = costate_new(costate_method_find("radau"), &P, &o);
    assert_int_equal(costate_integrate_tlm(a.c, 0, 10, y, NULL, TANGENTS, V, NULL, NULL, NULL), COSTATE_STOPPED);
    assert_true(a.seen);
    costate_free(a.c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(two_tries)};
    return cmocka_run_group_tests_name("errors of calibrated members", tests, NULL, NULL);
}
