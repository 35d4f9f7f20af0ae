/* grid_against_hand.c - generated models against the same problems written by hand: start, pattern, all products. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "brusselator.h"
#include "ivp.h"
#include "shallow_water.h"
#include "swe.h"

static double random_number(void)
{
    return rand() / (0.5 * RAND_MAX) - 1;
}

static double *random_vector(int n)
{
    double *v = malloc((size_t)n * sizeof *v);
    for (int i = 0; i < n; i++) v[i] = random_number();
    return v;
}

static int differ(const char *what, int n, const double *a, const double *b)
{
    double most = 0, size = 0;
    for (int i = 0; i < n; i++) {
        most = fmax(most, fabs(a[i] - b[i]));
        size = fmax(size, fabs(a[i]));
    }
    if (most <= 1e-13 * size) return 0;
    printf("%s differs by %g of %g\n", what, most, size);
    return 1;
}

typedef struct { costate_point x, dx, ex; const double *w; } data;

static void product(int k, const costate_problem *P, const data *d, double *out)
{
    const costate_gradient g = {.y = out};
    if (k == 0) P->rhs.value(&d->x, out, P->ctx);
    if (k == 1) P->rhs.tangent(&d->x, &d->dx, out, P->ctx);
    if (k == 2) P->rhs.tangent2(&d->x, &d->dx, &d->ex, out, P->ctx);
    if (k == 3) P->rhs.adjoint(&d->x, d->w, &g, P->ctx);
    if (k == 4) P->rhs.adjoint_tangent(&d->x, &d->dx, d->w, &g, P->ctx);
    if (k == 5) P->rhs.adjoint_tangent2(&d->x, &d->dx, &d->ex, d->w, &g, P->ctx);
    if (k == 6) P->jac(&d->x, out, P->ctx);
}

static int compare(const costate_problem *A, const costate_problem *B, const double *y, const double *p)
{
    static const char *const names[] = {"value", "tangent", "tangent2", "adjoint", "adjoint_tangent",
                                        "adjoint_tangent2", "jac"};
    const int n = A->n, entries = A->pattern->col[n];
    double *dy = random_vector(n), *ey = random_vector(n), *w = random_vector(n);
    const data d = {{.t = 0.1, .y = y, .p = p}, {.y = dy}, {.y = ey}, w};
    int bad = B->n != n || B->pattern->col[n] != entries;
    for (int e = 0; e < entries && !bad; e++) bad = A->pattern->row[e] != B->pattern->row[e];
    if (bad) puts("patterns differ");
    for (int k = 0; k < 7 && !bad; k++) {
        if (k == 5 && !A->rhs.adjoint_tangent2) continue;
        double *a = calloc((size_t)(n + entries), sizeof *a), *b = calloc((size_t)(n + entries), sizeof *b);
        product(k, A, &d, a);
        product(k, B, &d, b);
        bad = differ(names[k], k == 6 ? entries : n, a, b);
        free(a);
        free(b);
    }
    free(dy);
    free(ey);
    free(w);
    return bad;
}

int main(void)
{
    ivp hand;
    if (ivp_brusselator2d(&hand, 8)) return 2;
    brusselator_grid *b = brusselator_new(8);
    double p, y[3 * 77], z[3 * 77];
    brusselator_defaults(b, &p);
    brusselator_start(b, 0, &p, y);
    int bad = differ("start", 128, hand.y0, y);
    for (int i = 0; i < 128; i++) y[i] += random_number();
    bad |= compare(&hand.P, brusselator_problem(b), y, &p);
    brusselator_free(b);
    hand.free_own(hand.own);

    swe *s = swe_new(7, 11);
    shallow_water_grid *w = shallow_water_new(7, 11);
    swe_initial(s, z);
    shallow_water_start(w, 0, NULL, y);
    bad |= differ("start", 3 * 77, z, y);
    for (int i = 0; i < 3 * 77; i++) y[i] += 5 * random_number();
    bad |= compare(swe_problem(s), shallow_water_problem(w), y, NULL);
    shallow_water_free(w);
    swe_free(s);
    return bad;
}
