/* check_solution.c - derivatives of a whole solution, checked along random directions: of a run (checks/check.c) or of
   a boundary value problem (bvp/check.c).  Tangent and adjoint must be transposes, Hessians symmetric, and both must be
   the derivatives that differences of solutions on the same steps show. */
#include <math.h>
#include <stdlib.h>
#include "base/vec.h"
#include "maps/maps.h"
#include "maps/check.h"

int check_gap(const space *s, size_t na, const double *a, const double *b, size_t nc, const double *c, const double *d,
              double least, double *gap)
{
    double sums[3] = {dot(na, a, b), dot(nc, c, d), 0};
    for (size_t i = 0; i < na; i++) sums[2] += fabs(a[i] * b[i]);
    TRY(space_total(s, 3, sums));
    *gap = fabs(sums[0] - sums[1]) / fmax(fmax(sums[2], least), 1e-300);
    return 0;
}

int check_symmetry(const space *s, size_t in, const double *v, const double *Hv, const double *g, double least,
                   double *gap)
{
    const double *w = v + in, *Hw = Hv + in;
    double sums[4] = {0};
    for (size_t i = 0; i < in; i++) {
        sums[0] += w[i] * Hv[i];
        sums[1] += v[i] * Hw[i];
        sums[2] += fabs(w[i] * Hv[i]) + fabs(v[i] * Hw[i]);
        sums[3] += fabs(g[i]) * (fabs(v[i]) + fabs(w[i]));
    }
    TRY(space_total(s, 4, sums));
    *gap = fabs(sums[0] - sums[1]) / fmax(fmax(sums[2], least * sums[3]), 1e-300);
    return 0;
}

/* Does a failed solution end the check?  Yes at the smallest step, for lack of memory and if a callback fails;
   otherwise the step may have been too long. */
static int is_fatal(int status, int smallest)
{
    return status == COSTATE_NO_MEMORY || status == COSTATE_CALLBACK || (status && smallest);
}

/* |a - b| over the size of the derivative b and a thousandth of what is differenced; c->out is spoiled */
static int distance(const space *s, const check_derivative *c, const double *a, const double *b, double *relative)
{
    const double LEAST = 1e-3;
    size_t n = c->line.count;
    double norms[3];
    add_scaled(n, c->out, a, -1, b);
    TRY(space_norms(s, n, 3, c->unit, (const double *const[]){c->out, b, c->of}, norms));
    *relative = norms[0] == 0 ? 0 : norms[0] / (norms[1] + LEAST * norms[2]);
    return 0;
}

/* Solutions carry round-off, 1e-10 of what varies where y is 1e6 + u, and differences 1/e times that.  Differences of
   two lengths then disagree, and a right product is no farther from them; a wrong one is as far from both. */
int check_agrees(double error, double blur)
{
    const double BLURRED = 1e-2;        /* differences that disagree by more tell nothing */
    return error <= CHECK_RIGHT || (blur <= BLURRED && error <= 2 * blur);
}

void check_says_blur(costate_report *r, double error, double blur)
{
    if (error > CHECK_RIGHT && check_agrees(error, blur))
        check_adds(r, " (The differences agree with each other to %.0e only: round-off.)", blur);
}

int check_along(const space *s, const check_derivative *c, double *error, double *blur)
{
    double e = c->steps->first, now, *d = c->d, *before = NULL, apart;
    *blur = NAN;
    for (int k = 0; k < c->steps->count && !(*error <= c->steps->enough); k++, e /= c->steps->shorter) {
        int status = check_differentiate(&c->line, e, c->out, d);
        if (is_fatal(status, k == c->steps->count - 1)) return status;
        if (c->back) TRY(c->back(c->line.ctx));
        if (status) { before = NULL; continue; }
        TRY(distance(s, c, c->given, d, &now));
        if (!(now >= *error)) *error = now;
        if (before) {
            TRY(distance(s, c, before, d, &apart));
            *blur = fmin(*blur, apart);
        }
        before = d;
        d = d == c->d ? c->other : c->d;
    }
    return 0;
}
