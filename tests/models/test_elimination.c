/* test_elimination.c - the linear solvers of generated problems: real and complex matrices in their pattern, both
   transposed and not, as accurately as by dense elimination; also where the fixed pivots are zero, tiny or cancel, for
   other patterns, and for singular matrices. */
#include "common.h"

#include <costate/linsol.h>

#include "hires.h"
#include "pendulum.h"
#include "pollution.h"
#include "robertson_ode.h"

typedef struct {
    const char *name;
    const costate_problem *(*problem)(void);
    const costate_backend *(*backend)(void);
} model;

static const model models[] = {
    {"hires", hires_problem, hires_backend},
    {"pendulum", pendulum_problem, pendulum_backend},
    {"pollution", pollution_problem, pollution_backend},
    {"robertson_ode", robertson_ode_problem, robertson_ode_backend},
};

enum { MOST = 20, ENTRIES = MOST * MOST };
typedef struct { int n, col[MOST + 1], row[ENTRIES]; costate_pattern pattern; } sparse;

/* the pattern of a problem, with the diagonal, as backends receive it */
static void with_diagonal(const costate_problem *of, sparse *s)
{
    int count = 0;
    s->n = of->n;
    for (int j = 0; j < of->n; j++) {
        s->col[j] = count;
        for (int i = 0; i < of->n; i++) {
            int there = i == j;
            for (int k = of->pattern->col[j]; k < of->pattern->col[j + 1]; k++) there |= of->pattern->row[k] == i;
            if (there) s->row[count++] = i;
        }
    }
    s->col[of->n] = count;
    s->pattern = (costate_pattern){s->n, s->col, s->row};
}

/* the largest |b - A x| relative to |A| |x| + |b|, over rows; parts: doubles per number */
static double residual(const sparse *s, int parts, int transpose, const double *A, const double *x, const double *b)
{
    double worst = 0, r[2 * MOST], size[MOST];
    for (int i = 0; i < s->n; i++) {
        r[parts * i] = b[parts * i];
        if (parts == 2) r[2 * i + 1] = b[2 * i + 1];
        size[i] = fabs(b[parts * i]) + (parts == 2 ? fabs(b[2 * i + 1]) : 0);
    }
    for (int j = 0; j < s->n; j++)
        for (int k = s->col[j]; k < s->col[j + 1]; k++) {
            int to = transpose ? j : s->row[k], from = transpose ? s->row[k] : j;
            const double *a = A + parts * k, *y = x + parts * from;
            r[parts * to] -= a[0] * y[0] - (parts == 2 ? a[1] * y[1] : 0);
            if (parts == 2) r[2 * to + 1] -= a[0] * y[1] + a[1] * y[0];
            size[to] += (fabs(a[0]) + (parts == 2 ? fabs(a[1]) : 0)) * (fabs(y[0]) + (parts == 2 ? fabs(y[1]) : 0));
        }
    for (int i = 0; i < s->n; i++)
        for (int k = 0; k < parts; k++) worst = fmax(worst, fabs(r[parts * i + k]) / (size[i] + 1e-300));
    return worst;
}

/* factor and solve two columns, both ways; largest relative residual */
static double solved(const costate_backend *b, const sparse *s, int parts, const double *A, unsigned *random)
{
    void *self = NULL;
    double worst = 0, x[4 * MOST], right[4 * MOST];
    assert_int_equal(b->init(&self, s->n, &s->pattern, parts == 2, NULL), 0);
    assert_int_equal(b->factor(self, A), 0);
    for (int transpose = 0; transpose < 2; transpose++) {
        random_fill(random, (size_t)(2 * parts * s->n), right);
        memcpy(x, right, sizeof x);
        assert_int_equal(b->solve(self, transpose, 2, x), 0);
        for (int c = 0; c < 2; c++)
            worst = fmax(worst, residual(s, parts, transpose, A, x + c * parts * s->n, right + c * parts * s->n));
    }
    assert_true(b->bytes(self) > 0);
    b->free(self);
    return worst;
}

static void matrix_of_steps(const sparse *s, int parts, double sigma, double *A, unsigned *random)
{
    random_fill(random, (size_t)(parts * s->col[s->n]), A);
    for (int j = 0; j < s->n; j++)
        for (int k = s->col[j]; k < s->col[j + 1]; k++) if (s->row[k] == j) A[parts * k] += sigma;
}

static void every_matrix_is_solved(void **state)
{
    const model *m = *state;
    unsigned random = 3;
    double A[2 * ENTRIES];
    sparse s;
    with_diagonal(m->problem(), &s);
    for (int parts = 1; parts <= 2; parts++)
        for (int trial = 0; trial < 200; trial++) {
            const double sigma[] = {5, 1e9, 0.1, 0};
            matrix_of_steps(&s, parts, sigma[trial % 4], A, &random);
            /* no step: diagonals that vanish, are tiny, rows in other units */
            for (int j = 0; trial % 4 == 3 && j < s.n; j++)
                for (int k = s.col[j]; k < s.col[j + 1]; k++) {
                    if (s.row[k] == j && trial % 3 == 0) A[parts * k] = trial % 2 ? 0 : 1e-14;
                    if (s.row[k] == 1 && trial % 3 == 1)
                        for (int part = 0; part < parts; part++) A[parts * k + part] *= 1e6;
                }
            void *self = NULL;
            const costate_backend *b = m->backend();
            assert_int_equal(b->init(&self, s.n, &s.pattern, parts == 2, NULL), 0);
            int status = b->factor(self, A);
            b->free(self);
            if (status == COSTATE_LS_SINGULAR && trial % 4 == 3) continue;
            assert_int_equal(status, 0);
            double worst = solved(b, &s, parts, A, &random);
            if (!(worst < 1e-11)) fail_msg("%s, matrix %d of %d parts: %.1e", m->name, trial, parts, worst);
        }
}

static size_t bytes_after(const model *m, const sparse *s, const double *A)
{
    void *self = NULL;
    assert_int_equal(m->backend()->init(&self, s->n, &s->pattern, 0, NULL), 0);
    assert_int_equal(m->backend()->factor(self, A), 0);
    size_t bytes = m->backend()->bytes(self);
    m->backend()->free(self);
    return bytes;
}

/* Short steps need no other pivots: nothing is allocated for another solver.  A matrix with a tiny diagonal needs
   one. */
static void steps_stay_here(void **state)
{
    const model *m = *state;
    unsigned random = 13;
    double A[ENTRIES];
    sparse s;
    with_diagonal(m->problem(), &s);
    matrix_of_steps(&s, 1, 1e9, A, &random);
    size_t here = bytes_after(m, &s, A);
    matrix_of_steps(&s, 1, 30, A, &random);
    assert_int_equal(bytes_after(m, &s, A), here);
    for (int j = 0; j < s.n; j++)
        for (int k = s.col[j]; k < s.col[j + 1]; k++) if (s.row[k] == j) A[k] = 1e-9;
    void *self = NULL;
    assert_int_equal(m->backend()->init(&self, s.n, &s.pattern, 0, NULL), 0);
    (void)m->backend()->factor(self, A);
    assert_true(m->backend()->bytes(self) > here);
    m->backend()->free(self);
}

static double of_3_by_3(double (*a)[3], int i, int j)          /* a cofactor */
{
    int r = (i + 1) % 3, s = (i + 2) % 3, c = (j + 1) % 3, d = (j + 2) % 3;
    return a[r][c] * a[s][d] - a[r][d] * a[s][c];
}

/* A pivot that lost 12 digits, or a multiplier of 2000, needs the other solver; 10 digits and 500 do not.  The pivots
   are the diagonal in its order.  The last one is det A over the cofactor of the last entry, which is changed such that
   both are smaller by this factor. */
static void digits_and_multipliers(void **state)
{
    static const struct { double factor, multiplier; int here; } all[] = {
        {1, 1, 1}, {1e-10, 1, 1}, {1e-12, 1, 0}, {1, 500, 1}, {1, 2000, 0}};
    const model m = {"robertson_ode", robertson_ode_problem, robertson_ode_backend};
    size_t bytes = 0;
    sparse s;
    (void)state;
    with_diagonal(m.problem(), &s);
    assert_int_equal(s.n, 3);
    for (size_t k = 0; k < sizeof all / sizeof *all; k++) {
        unsigned random = 13;
        double A[ENTRIES], a[3][3] = {{0}}, det = 0;
        matrix_of_steps(&s, 1, 3, A, &random);
        for (int j = 0; j < 3; j++) for (int e = s.col[j]; e < s.col[j + 1]; e++) a[s.row[e]][j] = A[e];
        for (int j = 0; j < 3; j++) det += a[0][j] * of_3_by_3(a, 0, j);
        for (int j = 0; j < 3; j++)
            for (int e = s.col[j]; e < s.col[j + 1]; e++) {
                if (s.row[e] == 2 && j == 2) A[e] -= (1 - all[k].factor) * det / of_3_by_3(a, 2, 2);
                if (s.row[e] == 0 && j == 0 && all[k].multiplier != 1) A[e] = a[1][0] / all[k].multiplier;
            }
        size_t now = bytes_after(&m, &s, A);
        if (k == 0) bytes = now;
        if ((now == bytes) != all[k].here) fail_msg("matrix %zu: %zu bytes, %zu with a large diagonal", k, now, bytes);
    }
}

/* Dense elimination says so, and so does this. */
static void singular_matrices_are_refused(void **state)
{
    const model *m = *state;
    unsigned random = 7;
    double A[ENTRIES];
    sparse s;
    void *self = NULL;
    with_diagonal(m->problem(), &s);
    matrix_of_steps(&s, 1, 5, A, &random);
    for (int k = s.col[0]; k < s.col[1]; k++) A[k] = 0;
    assert_int_equal(m->backend()->init(&self, s.n, &s.pattern, 0, NULL), 0);
    assert_int_equal(m->backend()->factor(self, A), COSTATE_LS_SINGULAR);
    A[s.col[0]] = NAN;
    assert_int_not_equal(m->backend()->factor(self, A), 0);
    matrix_of_steps(&s, 1, 5, A, &random);                   /* the next one is solved again */
    assert_int_equal(m->backend()->factor(self, A), 0);
    m->backend()->free(self);
}

static void other_patterns_go_elsewhere(void **state)
{
    const model *m = *state;
    unsigned random = 11;
    double A[ENTRIES];
    sparse s = {.n = MOST - 1};
    for (int j = 0; j <= s.n; j++) s.col[j] = j * s.n;
    for (int k = 0; k < s.n * s.n; k++) s.row[k] = k % s.n;
    s.pattern = (costate_pattern){s.n, s.col, s.row};
    matrix_of_steps(&s, 1, 30, A, &random);
    assert_true(solved(m->backend(), &s, 1, A, &random) < 1e-13);
    void *self = NULL;
    assert_int_equal(m->backend()->init(&self, s.n, NULL, 0, NULL), COSTATE_LS_UNSUPPORTED);
    m->backend()->free(self);
}

int main(void)
{
    enum { COUNT = sizeof models / sizeof *models };
    static const struct { const char *claim; CMUnitTestFunction test; } claims[] = {
        {"every matrix is solved", every_matrix_is_solved},
        {"steps stay here", steps_stay_here},
        {"singular matrices are refused", singular_matrices_are_refused},
        {"other patterns go elsewhere", other_patterns_go_elsewhere}};
    struct CMUnitTest tests[4 * COUNT + 1];
    char names[4 * COUNT][80];
    for (int k = 0; k < COUNT; k++)
        for (int i = 0; i < 4; i++) {
            snprintf(names[4 * k + i], sizeof *names, "%s: %s", claims[i].claim, models[k].name);
            tests[4 * k + i] = (struct CMUnitTest){.name = names[4 * k + i], .test_func = claims[i].test,
                                                   .initial_state = (void *)&models[k]};
        }
    tests[4 * COUNT] = (struct CMUnitTest)cmocka_unit_test(digits_and_multipliers);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
