/* check_compare.c - compares the derivative of an operator entry by entry, with differences or another product.

   Differences are central and of 8th order,
       (4/5) d1 - (1/5) d2 + (4/105) d3 - (1/280) d4,   dk = (F(x + k e) - F(x - k e))/e,
   so that correct derivatives agree to about 1e-11 and a wrong one cannot hide behind the difference's own error. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/vec.h"
#include "maps/check.h"

int check_differentiate(const check_operator *F, const double *v, double e, double *d, double *work)
{
    static const double central[] = {4.0 / 5, -1.0 / 5, 4.0 / 105, -1.0 / 280};
    double *out = work, *dx = work + F->rows;
    memset(d, 0, F->rows * sizeof *d);
    for (int k = -4; k <= 4; k++) {
        if (k == 0) continue;
        add_scaled(F->in, dx, NULL, k * e, v);
        TRY(F->value(F->ctx, dx, out));
        axpy(F->rows, (k > 0 ? 1 : -1) * central[abs(k) - 1] / e, out, d);
    }
    return 0;
}

/* Its modulus; where it is small or 0, a thousandth of its largest neighbour. */
void check_sizes(size_t count, const double *v, double nothing, double *out)
{
    double most = 0;
    for (size_t i = 0; i < count; i++) most = fmax(most, fabs(v[i]));
    for (size_t i = 0; i < count; i++) out[i] = fmax(fabs(v[i]), 1e-3 * (most > 0 ? most : nothing));
}

static double largest(size_t size, const double *x)
{
    double most = 0;
    for (size_t i = 0; i < size; i++) most = isnan(x[i]) ? HUGE_VAL : fmax(most, fabs(x[i]));
    return most;
}

/* the difference of d and next, relative to them, or to the round-off of what was differenced */
static double apart(size_t size, double unit, const double *d, const double *next, const double *differenced)
{
    double most = 0, scale = fmax(largest(size, d), largest(size, next)) * unit;
    for (size_t i = 0; i < size; i++)
        most = isnan(d[i] - next[i]) ? HUGE_VAL : fmax(most, fabs(d[i] - next[i]) * unit);
    return most == 0 ? 0 : most / fmax(scale, CHECK_DIFFERENCED * largest(size, differenced));
}

/* CHECK_STEP suits a map that changes over the size of its input.  One that changes sooner, as sin(y) at y = 1000,
   needs shorter steps.  Two lengths that agree are right; if none agree, those that agree most are taken.
   work: rows + in, as of check_differentiate, and 2 rows */
static int difference(const check_operator *F, const double *v, double unit, double *d, double *work)
{
    enum { LENGTHS = 7 };
    const double SHORTER = 8, AGREE = 1e-7;
    double best = HUGE_VAL, length = CHECK_STEP, *next = work + F->rows + F->in, *kept = next + F->rows;
    size_t bytes = F->rows * sizeof *d;
    int code = 0, there = 0, any = 0;
    for (int l = 0; l < LENGTHS; l++, length /= SHORTER) {
        volatile double step = unit * length;       /* rounded: what is added is what is divided by */
        int status = check_differentiate(F, v, step, next, work);
        if (status < 0) return status;
        double gap = status == 0 && there ? apart(F->rows, unit, d, next, work) : HUGE_VAL;
        if (gap <= AGREE) return 0;
        if (l == 0) code = status;
        else if (status == 0 && (!any || gap < best)) { memcpy(kept, next, bytes); best = gap; any = 1; }
        there = status == 0;
        if (there) memcpy(d, next, bytes);
    }
    memcpy(d, kept, any ? bytes : 0);
    return any ? 0 : code;
}

void check_compare(worst *w, int input, double weight, size_t count, const double *given, const double *expected)
{
    for (size_t i = 0; i < count; i++) {
        double e = fabs(given[i] - expected[i]) * weight;
        w->scale = fmax(w->scale, fmax(fabs(expected[i]), fabs(given[i])) * weight);
        if (w->error != w->error || e <= w->error) continue;        /* NaN, once there, stays */
        *w = (worst){e, w->scale, given[i], expected[i], (int)i, input};
    }
}

double check_relative(const worst *w) { return w->error == 0 ? 0 : w->error / w->scale; }        /* NaN stays */

/* Differences carry the round-off of what is differenced: a derivative that is zero is
   right when it is that small. */
int check_column(const check_operator *F, size_t i, worst *w, double *d, double *work)
{
    double *v = work, *rest = work + F->in;
    memset(v, 0, F->in * sizeof *v);
    v[i] = 1;
    if (F->tangent) return F->tangent(F->ctx, v, d);
    TRY(difference(F, v, F->unit[i], d, rest));
    for (size_t k = 0; k < F->rows; k++) w->scale = fmax(w->scale, CHECK_DIFFERENCED * fabs(rest[k]));
    return 0;
}

int check_tangent(const check_operator *given, const check_operator *F, worst *w, double *work)
{
    double *d = work, *by_tangent = d + F->rows;
    for (size_t i = 0; i < F->in; i++) {
        TRY(check_column(F, i, w, d, by_tangent));
        TRY(check_column(given, i, w, by_tangent, by_tangent + F->rows));
        check_compare(w, (int)i, F->unit[i], F->rows, by_tangent, d);
    }
    return 0;
}

int check_adjoint(const check_operator *F, const double *w, const double *g, worst *most, double *work)
{
    for (size_t i = 0; i < F->in; i++) {
        TRY(check_column(F, i, most, work, work + F->rows));
        double expected = dot(F->rows, w, work);
        check_compare(most, (int)i, F->unit[i], 1, &g[i], &expected);
    }
    return 0;
}
