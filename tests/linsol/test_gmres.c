/* test_gmres.c - GMRES judges a solution by its true residual b - A x, not by what its recurrence says.

   A = U S V^T of condition 1e10 with the preconditioner P^-1 = V S^-1 U^T: a cycle believes that it is at round-off
   after an iteration or two, while round-off of A and P^-1 leaves a residual that is larger by orders of magnitude. */
#include "linsol/gmres.h"           /* before cmocka, whose fail is a macro */
#include "linsol/orthogonal.h"
#include "common.h"

enum { N = 12, LIMIT = 12 };
typedef struct { double U[N * N], V[N * N], s[N]; } system_of;

/* n x n by columns: a product of reflections */
static void orthogonal(unsigned *seed, double *Q)
{
    for (int i = 0; i < N * N; i++) Q[i] = i % (N + 1) == 0;
    for (int k = 0; k < N; k++) {
        double v[N], size = 0;
        random_fill(seed, N, v);
        for (int i = 0; i < N; i++) size += v[i] * v[i];
        for (int j = 0; j < N; j++) {
            double along = 0;
            for (int i = 0; i < N; i++) along += v[i] * Q[j * N + i];
            for (int i = 0; i < N; i++) Q[j * N + i] -= 2 * along / size * v[i];
        }
    }
}

/* out = to diag(s^power) from^T x */
static void through(const double *to, const double *s, int power, const double *from, const double *x, double *out)
{
    double z[N];
    for (int j = 0; j < N; j++) {
        z[j] = 0;
        for (int i = 0; i < N; i++) z[j] += from[j * N + i] * x[i];
        z[j] *= pow(s[j], power);
    }
    for (int i = 0; i < N; i++) {
        out[i] = 0;
        for (int j = 0; j < N; j++) out[i] += to[j * N + i] * z[j];
    }
}
static int apply(void *ctx, int m, const double *X, double *out)
{
    const system_of *a = ctx;
    for (int j = 0; j < m; j++) through(a->U, a->s, 1, a->V, X + j * N, out + j * N);
    return 0;
}
static int precondition(void *ctx, int m, double *X)
{
    const system_of *a = ctx;
    double z[N];
    for (int j = 0; j < m; j++) {
        through(a->V, a->s, -1, a->U, X + j * N, z);
        memcpy(X + j * N, z, sizeof z);
    }
    return 0;
}

static double residual(system_of *a, const double *b, const double *x)
{
    double r[N], left = 0, size = 0;
    apply(a, 1, x, r);
    for (int i = 0; i < N; i++) { left += (b[i] - r[i]) * (b[i] - r[i]); size += b[i] * b[i]; }
    return sqrt(left / size);
}

static void judged_by_the_true_residual(void **state)
{
    (void)state;
    unsigned seed = 5;
    double worst = 0;
    for (int round = 0; round < 20; round++) {
        system_of a;
        double b[N], x[N], w[N], work[2 * N], *room = test_calloc(gmres_work(N, 1, LIMIT), sizeof *room);
        space one = {0};
        gmres_result got;
        orthogonal(&seed, a.U);
        orthogonal(&seed, a.V);
        for (int i = 0; i < N; i++) { a.s[i] = pow(10, -10.0 * i / (N - 1)); w[i] = 1; }
        random_fill(&seed, N, b);
        gmres_system g = {.space = &one, .n = N, .columns = 1, .limit = LIMIT, .tol = 1e-14, .w = w, .apply = apply,
                          .precondition = precondition, .ctx = &a, .work = room};
        assert_int_equal(gmres(&g, b, x, work, &got), 0);
        double left = residual(&a, b, x);
        if (!(fabs(got.residual / left - 1) < 1e-6)) fail_msg("it says %.2e of %.2e", got.residual, left);
        worst = fmax(worst, left);
        test_free(room);
    }
    assert_true(worst > 1e-9);          /* else these systems would show nothing */
}

/* What a cycle makes worse is not taken: iterated from its own result, with no tolerance that could be reached, GMRES
   never leaves more than before. */
static void never_worse(void **state)
{
    (void)state;
    unsigned seed = 7;
    for (int round = 0; round < 20; round++) {
        system_of a;
        double b[N], x[N], w[N], work[2 * N], *room = test_calloc(gmres_work(N, 1, LIMIT), sizeof *room), before = 1;
        space one = {0};
        gmres_result got;
        orthogonal(&seed, a.U);
        orthogonal(&seed, a.V);
        for (int i = 0; i < N; i++) { a.s[i] = pow(10, -10.0 * i / (N - 1)); w[i] = 1; x[i] = 0; }
        random_fill(&seed, N, b);
        gmres_system g = {.space = &one, .n = N, .columns = 1, .limit = LIMIT, .tol = 1e-30, .w = w, .apply = apply,
                          .precondition = precondition, .ctx = &a, .work = room, .guess = 1};
        for (int again = 0; again < 10; again++) {
            assert_int_equal(gmres(&g, b, x, work, &got), 0);
            double left = residual(&a, b, x);
            if (!(left <= before * (1 + 1e-6))) fail_msg("round %d, %d: %.3e after %.3e", round, again, left, before);
            before = left;
        }
        test_free(room);
    }
}

static int sum_alone(int count, double *x, void *ctx) { return (void)count, (void)x, (void)ctx, 0; }

/* With sums over processes v is orthogonalised twice: v = sum h_j q_j + the rest, whatever the q are; here they are
   only nearly orthogonal, so that the second time is seen. */
static void both_times_count(void **state)
{
    enum { K = 5 };
    unsigned seed = 3;
    double Q[N * N], v[N], before[N], h[K + 1], again[K + 1];
    verdict ver = {0};
    space s = {.sum = sum_alone, .v = &ver};
    (void)state;
    orthogonal(&seed, Q);
    for (int i = 0; i < N; i++) Q[i] += 0.01 * Q[N + i];
    random_fill(&seed, N, v);
    memcpy(before, v, sizeof v);
    assert_int_equal(orthogonalise(&s, N, K, Q, v, h, again), 0);
    for (int i = 0; i < N; i++) {
        double sum = v[i];
        for (int j = 0; j < K; j++) sum += h[j] * Q[j * N + i];
        if (!(fabs(sum - before[i]) < 1e-14)) fail_msg("v_%d: %.3e", i, sum - before[i]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(judged_by_the_true_residual), cmocka_unit_test(never_worse),
                                       cmocka_unit_test(both_times_count)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
