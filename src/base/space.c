/* space.c - sums, norms and common decisions for vectors that may be distributed over processes. */
#include <math.h>
#include <string.h>
#include "base/larger.h"
#include "base/space.h"

int space_total_of_all(const space *s, int count, double *x)
{
    int code = s->sum(count, x, s->ctx);
    if (code == 0) return 0;
    return fail(s->v, COSTATE_CALLBACK, "The sum over processes returned %d at t = %.10g.", code, s->v->t);
}

/* A maximum computed with sums only.  First a bound: for x of about 2^e the sum of 2^(e/2) neither over- nor
   underflows, and its square is at most P^2 times too large.  Then the 16-norm of x/bound, which is at least P^-32. */
int space_greatest_of_all(const space *s, double *x)
{
    double bound = *x > 0 && *x < HUGE_VAL ? ldexp(1, ilogb(*x) / 2 + 1) : *x;
    TRY(space_total(s, 1, &bound));
    if (bound == 0 || !(bound < HUGE_VAL)) { *x = bound; return 0; }
    double part = pow(*x / bound / bound, 16);
    TRY(space_total(s, 1, &part));
    *x = pow(part, 1.0 / 16) * bound * bound;
    return 0;
}

int space_largest(const space *s, size_t n, const double *x, double *out)
{
    double most = 0;
    for (size_t i = 0; i < n; i++) most = larger(most, fabs(x[i]));
    *out = most;
    return space_greatest(s, out);
}

int space_dots(const space *s, size_t n, int count, const double *X, size_t stride, const double *y, double *out)
{
    for (int j = 0; j < count; j++) out[j] = dot(n, X + (size_t)j * stride, y);
    return space_total(s, count, out);
}

/* for squares that would over- or underflow: x is scaled by a power of two, then w x by its largest entry; all: n of
   all processes */
static int norm_scaled(const space *s, size_t n, double all, const double *w, const double *x, double *out)
{
    double most, most_w = 0, sum = 0;
    TRY(space_largest(s, n, x, &most));
    if (most == 0 || !(most < HUGE_VAL)) { *out = most; return 0; }
    int power = ilogb(most);
    for (size_t i = 0; i < n; i++) most_w = larger(most_w, fabs(w[i] * ldexp(x[i], -power)));
    TRY(space_greatest(s, &most_w));
    if (most_w == 0 || !(most_w < HUGE_VAL)) { *out = most_w; return 0; }
    for (size_t i = 0; i < n; i++) { double e = w[i] * ldexp(x[i], -power) / most_w; sum += e * e; }
    TRY(space_total(s, 1, &sum));
    *out = ldexp(most_w * sqrt(sum / all), power);
    return 0;
}

int space_norms(const space *s, size_t n, int count, const double *w, const double *const *x, double *out)
{
    double sums[SPACE_MOST + 1];
    sums[0] = (double)n;
    for (int j = 0; j < count; j++) sums[j + 1] = sum_weighted(n, w, x[j]);
    TRY(space_total(s, count + 1, sums));
    for (int j = 0; j < count; j++) {
        double sum = sums[j + 1];
        if (sum > LEAST_SQUARES && sum < MOST_SQUARES) out[j] = sqrt(sum / sums[0]);
        else TRY(norm_scaled(s, n, sums[0], w, x[j], &out[j]));
    }
    return 0;
}

int space_sound(const space *s, size_t n, const double *x, const char *what)
{
    return space_agree(s, all_finite(n, x) ? 0 : fail(s->v, COSTATE_NOT_FINITE, "%s", what));
}

int space_finite_in_all(const space *s, size_t n, const double *x)
{
    return space_agree(s, all_finite(n, x) ? 0 : retry(s->v, WHY_NOT_FINITE));
}

/* Adds up how many processes found each status and each reason to retry. */
int space_agree_all(const space *s, int status)
{
    enum { STATUSES = 32, ALL = STATUSES + CAUSES };
    double found[ALL] = {0};
    found[status < 0 ? -status : 0] = status < 0;
    if (status == RETRY) found[STATUSES + s->v->why] = 1;
    TRY(space_total(s, ALL, found));
    for (int k = STATUSES - 1; k > 0; k--) {
        if (found[k] == 0) continue;
        if (status != -k) fail(s->v, -k, "Another process ended this call; its message says why.");
        return -k;
    }
    for (int k = 0; k < CAUSES; k++) if (found[STATUSES + k] > 0) return retry(s->v, (enum cause)k);
    return 0;
}
