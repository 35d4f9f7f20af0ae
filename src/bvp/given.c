/* given.c - the initial guess and mesh given by the user, and access to the solution. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "bvp/bvp.h"

/* ---- guess and mesh for the next solve ---- */

static int times_sound(bvp *b, const char *what, int points, const double *t)
{
    double sign = points > 1 && t[1] < t[0] ? -1 : 1;
    for (int k = 0; k < points; k++)
        if (!(fabs(t[k]) < HUGE_VAL) || (k > 0 && !(sign * t[k] > sign * t[k - 1])))
            return fail(&b->v, COSTATE_BAD_ARGUMENT, "%s: t[%d] = %.17g is not finite, or not beyond the one before.",
                        what, k, t[k]);
    return 0;
}

static int copied(bvp *b, size_t count, const double *from, double **to)
{
    if (!(*to = malloc(count * sizeof **to)))
        return fail(&b->v, COSTATE_NO_MEMORY, "No memory for %zu numbers.", count);
    memcpy(*to, from, count * sizeof **to);
    return 0;
}

int call_bvp_guess(costate_bvp *b, int points, const double *t, const double *y)
{
    double *times = NULL, *values = NULL;
    TRY(bvp_begin(b));
    size_t k = (size_t)points, n = (size_t)b->n;
    if (points < 1) return fail(&b->v, COSTATE_BAD_ARGUMENT, "guess: points = %d: at least one is needed.", points);
    if (!y) return fail(&b->v, COSTATE_BAD_ARGUMENT, "guess: y is NULL.");
    if (t) TRY(times_sound(b, "guess", points, t));
    for (size_t i = 0; i < k * n; i++)
        if (!(fabs(y[i]) < HUGE_VAL))
            return fail(&b->v, COSTATE_BAD_ARGUMENT, "guess: y[%zu] of point %zu is %g.", i % n, i / n, y[i]);
    TRY(copied(b, k * n, y, &values));
    int status = t ? copied(b, k, t, &times) : 0;
    if (status) { free(values); return status; }
    replace_points(&b->guess, (given_points){points, times, values});
    return COSTATE_OK;
}

int call_bvp_mesh(costate_bvp *b, int points, const double *t)
{
    double *times;
    TRY(bvp_begin(b));
    if (points < 2) return fail(&b->v, COSTATE_BAD_ARGUMENT, "mesh: points = %d: at least a and b are needed.", points);
    if (!t) return fail(&b->v, COSTATE_BAD_ARGUMENT, "mesh: t is NULL.");
    TRY(times_sound(b, "mesh", points, t));
    TRY(copied(b, (size_t)points, t, &times));
    replace_points(&b->mesh, (given_points){points, times, NULL});
    return COSTATE_OK;
}

/* ---- the solution ---- */

int costate_bvp_intervals(const costate_bvp *b) { return b ? b->now.N : 0; }

static int nothing_there(bvp *b)
{
    return b->now.N ? 0 : fail(&b->v, COSTATE_BAD_ARGUMENT, "There is no solution yet: costate_bvp_solve comes first.");
}

int costate_bvp_get(const costate_bvp *user, int k, double *t, double *Y)
{
    bvp *b = (bvp *)user;
    TRY(bvp_begin(b));
    TRY(nothing_there(b));
    if (k < 0 || k > b->now.N)
        return fail(&b->v, COSTATE_BAD_ARGUMENT, "Mesh point %d: there are 0 .. %d.", k, b->now.N);
    if (t) *t = b->now.t[k];
    if (!Y) return COSTATE_OK;
    memcpy(Y, y_of(b, b->now.z, k), (size_t)b->n * sizeof *Y);
    if (b->nq) memcpy(Y + b->n, b->now.q + (size_t)k * (size_t)b->nq, (size_t)b->nq * sizeof *Y);
    return COSTATE_OK;
}

int call_bvp_eval(costate_bvp *b, double t, double *Y)
{
    mesh_point at;
    TRY(bvp_begin(b));
    TRY(nothing_there(b));
    if (!Y) return fail(&b->v, COSTATE_BAD_ARGUMENT, "Y is NULL.");
    if (!solution_find(b, &b->now, t, &at))
        return fail(&b->v, COSTATE_OUT_OF_RANGE, "t = %.17g is not between a = %.17g and b = %.17g.", t, b->ends[0],
                    b->ends[b->nends - 1]);
    solution_state(b, &b->now, &at, Y);
    int status = solution_integral_at(b, &b->now, &at, Y + b->n);
    if (status == 0) status = space_finite(&b->maps.space, (size_t)b->N_all, Y);
    return bvp_failed(b, status, "the solution");
}
