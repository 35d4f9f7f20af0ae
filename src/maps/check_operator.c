/* check_operator.c - is a solve linear, and its transposed solve the transpose?

       S (a + w/2) = S a + S w/2,     w . S a = a . S^T w     with random a, w */
#include <math.h>
#include <string.h>
#include "base/random.h"
#include "base/vec.h"
#include "maps/check.h"
#include "maps/maps.h"

int check_distance(const space *all, size_t n, double *u, const double *v, double *out)
{
    double size, gap;
    TRY(space_dots(all, n, 1, v, 0, v, &size));
    axpy(n, -1, v, u);
    TRY(space_dots(all, n, 1, u, 0, u, &gap));
    *out = gap == 0 ? 0 : sqrt(gap / size);
    return 0;
}

int check_operator(const operator_check *q, double *linear, double *gap)
{
    size_t n = q->n;
    double *a = q->a, *w = q->w, *Sa = q->Sa, *Sw = q->Sw, *other = q->other;
    unsigned seed = 3;
    for (size_t i = 0; i < n; i++) {
        a[i] = random_number(&seed);
        w[i] = random_number(&seed);
    }
    memcpy(Sa, a, n * sizeof *Sa);
    memcpy(Sw, w, n * sizeof *Sw);
    memcpy(other, w, n * sizeof *other);
    TRY(q->solve(q->ctx, 0, Sa));
    TRY(q->solve(q->ctx, 0, Sw));
    TRY(q->solve(q->ctx, 1, other));
    TRY(check_gap(q->space, n, w, Sa, n, a, other, 0, gap));
    add_scaled(n, other, a, 0.5, w);
    TRY(q->solve(q->ctx, 0, other));
    add_scaled(n, Sw, Sa, 0.5, Sw);
    return check_distance(q->space, n, Sw, other, linear);
}
