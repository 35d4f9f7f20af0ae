/* test_eigenvalues.c - eigenvalues are those of closed forms: simple, multiple, badly scaled, and large matrices. */
#include "common.h"
#include "linsol/eigenvalues.h"

enum { MOST = 200 };
static double A[MOST * MOST], re[MOST], im[MOST];

static void clear(int n) { memset(A, 0, (size_t)n * (size_t)n * sizeof *A); }
static void put(int n, int i, int j, double a) { A[j * n + i] = a; }
static double root_of_unity_re(int k, int n) { return cos(2 * acos(-1) * k / n); }
static double root_of_unity_im(int k, int n) { return sin(2 * acos(-1) * k / n); }

/* each expected number has an eigenvalue of its own within the distance */
static void has(int n, double *want_re, double *want_im, double distance)
{
    int used[MOST] = {0};
    for (int k = 0; k < n; k++) {
        int best = -1;
        double least = HUGE_VAL;
        for (int j = 0; j < n; j++) {
            double d = hypot(re[j] - want_re[k], im[j] - want_im[k]);
            if (used[j] || !(d < least)) continue;
            least = d;
            best = j;
        }
        if (!(least <= distance)) print_error("n = %d, %g + %g i: off by %g\n", n, want_re[k], want_im[k], least);
        assert_true(least <= distance);
        used[best] = 1;
    }
}

/* x^n = c, a companion matrix on which QR rests without exceptional shifts */
static void roots(void **state)
{
    double x[MOST], y[MOST];
    (void)state;
    for (int n = 1; n <= 40; n++)
        for (int power = -160; power <= 160; power += 160) {
            double size = pow(10, power);
            clear(n);
            for (int i = 0; i + 1 < n; i++) put(n, i + 1, i, size);
            put(n, 0, n - 1, size);
            assert_int_equal(eigenvalues(n, A, re, im), 0);
            for (int k = 0; k < n; k++) {
                x[k] = size * root_of_unity_re(k, n);
                y[k] = size * root_of_unity_im(k, n);
            }
            has(n, x, y, 1e-13 * size);
            for (int k = 0; k < n; k++) if (im[k] > 0) assert_true(im[k + 1] == -im[k] && re[k + 1] == re[k]);
        }
}

/* the companion matrix of (x - 1)(x - 2) .. (x - 8) */
static void companion(void **state)
{
    enum { N = 8 };
    double c[N + 1] = {1}, x[N], y[N] = {0};
    (void)state;
    for (int k = 1; k <= N; k++) {
        for (int i = k; i > 0; i--) c[i] = c[i - 1] - k * c[i];
        c[0] *= -k;
        x[k - 1] = k;
    }
    clear(N);
    for (int i = 0; i < N; i++) put(N, i, N - 1, -c[i]);
    for (int i = 0; i + 1 < N; i++) put(N, i + 1, i, 1);
    assert_int_equal(eigenvalues(N, A, re, im), 0);
    has(N, x, y, 1e-9);
}

/* D^-1 T D, where T is tridiagonal and constant along diagonals, with the eigenvalues a + 2 sqrt(b c) cos(k pi/(n +
   1)), and D contains powers of 2 up to 2^40: without balancing they are lost */
static void toeplitz(int n, double a, double b, double c)
{
    double x[MOST], y[MOST];
    clear(n);
    for (int i = 0; i < n; i++) {
        int step = 40 * (i * 7 % 11 - (i + 1) * 7 % 11) / 10;
        put(n, i, i, a);
        if (i + 1 == n) continue;
        put(n, i, i + 1, ldexp(b, step));
        put(n, i + 1, i, ldexp(c, -step));
    }
    assert_int_equal(eigenvalues(n, A, re, im), 0);
    for (int k = 0; k < n; k++) {
        double by = 2 * sqrt(fabs(b)) * sqrt(fabs(c)) * cos((k + 1) * acos(-1) / (n + 1));
        x[k] = a + (b * c > 0 ? by : 0);
        y[k] = b * c > 0 ? 0 : by;
    }
    has(n, x, y, 1e-12 * n * (fabs(a) + 2 * sqrt(fabs(b)) * sqrt(fabs(c))));
}

static void tridiagonal(void **state)
{
    const int sizes[] = {1, 2, 3, 40, 200};
    (void)state;
    for (int k = 0; k < 5; k++) {
        toeplitz(sizes[k], 1, 1, 1);
        toeplitz(sizes[k], -3, 2, 2);
        toeplitz(sizes[k], 2, -1, 1);
        toeplitz(sizes[k], 0, 1e160, 1e160);
        toeplitz(sizes[k], 0, -1e-160, 1e-160);
    }
}

/* Frank's matrix: sqrt(x) - 1/sqrt(x) are the zeros of the Hermite polynomial He_n (Eberlein, J. Inst. Maths Applics 7
   (1971) 351); the zero's distance is He_n/He_n'. */
static void frank(void **state)
{
    enum { N = 9 };
    (void)state;
    for (int j = 0; j < N; j++)
        for (int i = 0; i < N; i++) put(N, i, j, i > j + 1 ? 0 : i > j ? N - i : N - j);
    assert_int_equal(eigenvalues(N, A, re, im), 0);
    double product = 1;
    for (int k = 0; k < N; k++) {
        double x = sqrt(re[k]) - 1 / sqrt(re[k]), before = 1, now = x;
        assert_true(im[k] == 0);
        for (int d = 1; d < N; d++) {
            double next = x * now - d * before;
            before = now;
            now = next;
        }
        assert_true(fabs(now / (N * before)) < 1e-8);
        product *= re[k];
    }
    assert_true(fabs(product - 1) < 1e-8);
}

/* a full matrix with known eigenvalues: X D X^-1, X = I - 2 v v^T with v of length 1 */
static void full(void **state)
{
    enum { N = 60 };
    double d[N][N] = {{0}}, v[N], x[N], y[N];
    (void)state;
    for (int i = 0; i < N; i++) v[i] = 1 / sqrt(N);
    for (int k = 0; k < N; k += 2) {                          /* blocks with eigenvalues a +- i b */
        double a = cos(k), b = k % 3 ? 0 : 1 + k;
        d[k][k] = d[k + 1][k + 1] = x[k] = x[k + 1] = a;
        d[k][k + 1] = y[k] = b;
        d[k + 1][k] = y[k + 1] = -b;
    }
    for (int j = 0; j < N; j++)
        for (int i = 0; i < N; i++) {
            double left = 0, right = 0, both = 0;
            for (int k = 0; k < N; k++) {
                left += v[k] * d[k][j];
                right += d[i][k] * v[k];
                for (int l = 0; l < N; l++) both += v[k] * d[k][l] * v[l];
            }
            put(N, i, j, d[i][j] - 2 * v[i] * left - 2 * right * v[j] + 4 * v[i] * both * v[j]);
        }
    assert_int_equal(eigenvalues(N, A, re, im), 0);
    has(N, x, y, 1e-12 * N);
}

/* (x - 1)^4 as a companion matrix: one Jordan block, whose eigenvalues move by (round-off)^(1/4) */
static void defective(void **state)
{
    double x[4] = {1, 1, 1, 1}, y[4] = {0}, last[4] = {-1, 4, -6, 4};
    (void)state;
    clear(4);
    for (int i = 0; i < 4; i++) put(4, i, 3, last[i]);
    for (int i = 0; i < 3; i++) put(4, i + 1, i, 1);
    assert_int_equal(eigenvalues(4, A, re, im), 0);
    has(4, x, y, 1e-3);
}

static void degenerate(void **state)
{
    double zero[5] = {0};
    (void)state;
    for (int n = 1; n <= 5; n++) {
        clear(n);
        assert_int_equal(eigenvalues(n, A, re, im), 0);
        has(n, zero, zero, 0);
    }
    clear(5);                                                   /* nilpotent: a diagonal of zeros */
    for (int i = 0; i < 4; i++) put(5, i, i + 1, 1e150);
    assert_int_equal(eigenvalues(5, A, re, im), 0);
    has(5, zero, zero, 0);
    clear(3);
    put(3, 1, 2, NAN);
    assert_int_equal(eigenvalues(3, A, re, im), 1);
    put(3, 1, 2, INFINITY);
    assert_int_equal(eigenvalues(3, A, re, im), 1);
}

/* two real eigenvalues 1e10 apart, both accurate to the size of the matrix */
static void two_sizes(void **state)
{
    double x[2] = {1e5, 1e-5}, y[2] = {0};
    (void)state;
    put(2, 0, 0, 0);
    put(2, 0, 1, -1);
    put(2, 1, 0, 1);
    put(2, 1, 1, 1e5 + 1e-5);
    assert_int_equal(eigenvalues(2, A, re, im), 0);
    has(2, x, y, 1e-10);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(roots), cmocka_unit_test(companion), cmocka_unit_test(tridiagonal), cmocka_unit_test(frank),
        cmocka_unit_test(full), cmocka_unit_test(defective), cmocka_unit_test(degenerate), cmocka_unit_test(two_sizes)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
