/* vec.c - sums over vectors, each in one pass over memory.

   combine works in blocks, so that the sum stays in the first-level cache while the stages are read. */
#include <math.h>
#include <string.h>
#include "base/mix.h"
#include "base/vec.h"

enum { BLOCK = 1024, FEW = 32, LANES = 8, AT_ONCE = 16 };

static void add4(size_t n, double *restrict out, const double *w, const double *restrict a, const double *restrict b,
                 const double *restrict c, const double *restrict d)
{
    for (size_t i = 0; i < n; i++) out[i] += (w[0] * a[i] + w[1] * b[i]) + (w[2] * c[i] + w[3] * d[i]);
}

static void add2(size_t n, double *restrict out, const double *w, const double *restrict a, const double *restrict b)
{
    for (size_t i = 0; i < n; i++) out[i] += w[0] * a[i] + w[1] * b[i];
}

static void add_all(size_t n, double *out, int k, const double *w, const double *const *x, size_t from)
{
    int j = 0;
    for (; j + 4 <= k; j += 4) add4(n, out, w + j, x[j] + from, x[j + 1] + from, x[j + 2] + from, x[j + 3] + from);
    for (; j + 2 <= k; j += 2) add2(n, out, w + j, x[j] + from, x[j + 1] + from);
    for (; j < k; j++) axpy(n, w[j], x[j] + from, out);
}

/* combine itself, so that it need not move its arguments */
typedef void sum_routine(size_t n, double *out, const double *y, double scale, int k, const double *w, const double *X,
                         size_t stride);

#define SUM_OF(known) \
    static void sum_##known(size_t n, double *out, const double *y, double scale, int k, const double *w, \
                            const double *X, size_t stride) { (void)n; sum_of(known, out, y, scale, k, w, X, stride); }
SUM_OF(0) SUM_OF(1) SUM_OF(2) SUM_OF(3) SUM_OF(4) SUM_OF(5) SUM_OF(6) SUM_OF(7) SUM_OF(8)
static sum_routine *const sums[KNOWN + 1] = BY_KNOWN(sum);

static void sum_few(size_t n, double *out, const double *y, double scale, int k, const double *w, const double *X,
                    size_t stride)
{
    for (; n > KNOWN; n -= KNOWN, out += KNOWN, y = y ? y + KNOWN : NULL, X += KNOWN)
        sum_of(KNOWN, out, y, scale, k, w, X, stride);
    sums[n](n, out, y, scale, k, w, X, stride);
}

static void sum_many(size_t n, double *out, const double *y, double scale, int k, const double *w, const double *X,
                     size_t stride)
{
    double a[TERMS_MOST];
    const double *x[TERMS_MOST];
    int used = 0;
    for (int j = 0; j < k && used < TERMS_MOST; j++)
        if (w[j] != 0) { a[used] = scale * w[j]; x[used++] = X + (size_t)j * stride; }
    for (size_t from = 0; from < n; from += BLOCK) {
        size_t len = n - from < BLOCK ? n - from : BLOCK;
        if (!y) memset(out + from, 0, len * sizeof *out);
        else if (out != y) memcpy(out + from, y + from, len * sizeof *out);
        add_all(len, out + from, used, a, x, from);
    }
}

/* out = y + scale sum_j w_j X_j, X_j = X + j stride; y NULL: zero; out may be y.  Zero weights cost nothing (and
   their X_j may hold anything). */
void combine(size_t n, double *out, const double *y, double scale, int k, const double *w, const double *X,
             size_t stride)
{
    (n <= KNOWN ? sums[n] : n <= FEW ? sum_few : sum_many)(n, out, y, scale, k, w, X, stride);
}

/* mix itself, so that it need not move its arguments; block by block, so that X stays in the first cache */
typedef void mix_routine(size_t n, double *out, int onto, double scale, int k, const double *A, const double *X);

static void mix_any(size_t n, double *out, int onto, double scale, int k, const double *A, const double *X)
{
    for (int i = 0; i < k; i++, out += n) combine(n, out, onto ? out : NULL, scale, k, A + i * k, X, n);
}

#define MIX_OF(of)                                                                                                 \
    static void mix_##of##_0(size_t n, double *out, int onto, double scale, int k, const double *A,                \
                             const double *X)                                                                      \
    {                                                                                                              \
        (void)k;                                                                                                   \
        for (size_t at = 0; at < n; at += BLOCK)                                                                   \
            mix_of(of, n - at < BLOCK ? n - at : BLOCK, out + at, onto, scale, A, X + at, n);                      \
    }
#define MIX_FEW(of, known)                                                                                         \
    static void mix_##of##_##known(size_t n, double *out, int onto, double scale, int k, const double *A,          \
                                   const double *X)                                                                \
    {                                                                                                              \
        (void)n, (void)k;                                                                                          \
        if (onto) mix_of(of, known, out, 1, scale, A, X, known);                                                   \
        else mix_of(of, known, out, 0, scale, A, X, known);                                                        \
    }
MIX_OF(2) MIX_OF(3) MIX_OF(5) MIX_OF(7) MIX_FEW(3, 1) MIX_FEW(3, 2) MIX_FEW(3, 3) MIX_FEW(3, 4) MIX_FEW(3, 5)
MIX_FEW(3, 6) MIX_FEW(3, 7) MIX_FEW(3, 8) MIX_FEW(5, 1) MIX_FEW(5, 2) MIX_FEW(5, 3) MIX_FEW(5, 4) MIX_FEW(5, 5)
MIX_FEW(5, 6) MIX_FEW(5, 7) MIX_FEW(5, 8)
#define ALIKE(f) {f, f, f, f, f, f, f, f, f}

void mix(size_t n, double *out, int onto, double scale, int k, const double *A, const double *X)
{
    static mix_routine *const by[MIXED + 1][KNOWN + 1] = {
        ALIKE(mix_any), ALIKE(mix_any), ALIKE(mix_2_0), BY_KNOWN(mix_3), ALIKE(mix_any), BY_KNOWN(mix_5),
        ALIKE(mix_any), ALIKE(mix_7_0)};
    int whole = k <= 3 || (k <= MIXED && n <= FEW);         /* combine adds up many numbers in fours */
    by[whole ? k : 0][IS_KNOWN(n)](n, out, onto, scale, k, A, X);
}

/* out += scale sum_j w_j X_j for any number of vectors, X_j = X + j n */
void combine_many(size_t n, double *out, double scale, int k, const double *w, const double *X)
{
    for (int j = 0; j < k; j += AT_ONCE)
        combine(n, out, out, scale, k - j < AT_ONCE ? k - j : AT_ONCE, w + j, X + (size_t)j * n, n);
}

void add_scaled(size_t n, double *out, const double *y, double a, const double *x)
{
    if (y) for (size_t i = 0; i < n; i++) out[i] = y[i] + a * x[i];
    else for (size_t i = 0; i < n; i++) out[i] = a * x[i];
}

void axpy(size_t n, double a, const double *restrict x, double *restrict y)
{
    for (size_t i = 0; i < n; i++) y[i] += a * x[i];
}

/* Eight sums side by side: one sum would wait for each addition, and the compiler may not reorder them.  The rest of a
   vector, and short vectors whole, are one sum. */
static double in_pairs(const double *s) { return ((s[0] + s[1]) + (s[2] + s[3])) + ((s[4] + s[5]) + (s[6] + s[7])); }

double dot(size_t n, const double *x, const double *y)
{
    double rest = 0;
    size_t whole = n / LANES * LANES;
    for (size_t i = whole; i < n; i++) rest += x[i] * y[i];
    if (!whole) return rest;
    double s[LANES] = {0};
    for (size_t i = 0; i < whole; i += LANES)
        for (size_t l = 0; l < LANES; l++) s[l] += x[i + l] * y[i + l];
    return in_pairs(s) + rest;
}

static double sum_all(size_t n, const double *x)
{
    double rest = 0;
    size_t whole = n / LANES * LANES;
    for (size_t i = whole; i < n; i++) rest += x[i];
    if (!whole) return rest;
    double s[LANES] = {0};
    for (size_t i = 0; i < whole; i += LANES)
        for (size_t l = 0; l < LANES; l++) s[l] += x[i + l];
    return in_pairs(s) + rest;
}

int all_finite_of_many(size_t n, const double *x)
{
    double sum = sum_all(n, x);
    if (sum - sum == 0) return 1;
    for (size_t i = 0; i < n; i++) if (!(x[i] - x[i] == 0)) return 0;      /* or too large together only */
    return 1;
}

double sum_moduli(size_t n, const double *x)
{
    double rest = 0;
    size_t whole = n / LANES * LANES;
    for (size_t i = whole; i < n; i++) rest += fabs(x[i]);
    if (!whole) return rest;
    double s[LANES] = {0};
    for (size_t i = 0; i < whole; i += LANES)
        for (size_t l = 0; l < LANES; l++) s[l] += fabs(x[i + l]);
    return in_pairs(s) + rest;
}

double sum_scaled_of_many(size_t n, double rtol, double atol, const double *y, const double *z, const double *e)
{
    double rest = 0, s[LANES] = {0};
    size_t whole = n / LANES * LANES;
    for (size_t i = whole; i < n; i++) rest += scaled_square(rtol, atol, y[i], z[i], e[i]);
    for (size_t i = 0; i < whole; i += LANES)
        for (size_t l = 0; l < LANES; l++) s[l] += scaled_square(rtol, atol, y[i + l], z[i + l], e[i + l]);
    return in_pairs(s) + rest;
}

/* sum (w_i x_i)^2 */
double sum_weighted_of_many(size_t n, const double *w, const double *x)
{
    double rest = 0;
    size_t whole = n / LANES * LANES;
    for (size_t i = whole; i < n; i++) { double e = w[i] * x[i]; rest += e * e; }
    if (!whole) return rest;
    double s[LANES] = {0};
    for (size_t i = 0; i < whole; i += LANES)
        for (size_t l = 0; l < LANES; l++) { double e = w[i + l] * x[i + l]; s[l] += e * e; }
    return in_pairs(s) + rest;
}
