/* given.c - consistent initial values from the user's own equations, problem.start: n equations N(t, (y+, y), p) = 0
   for the consistent state y+, where y is the guess (mathematics, eq. 11.11 to 11.14).  N is a map of 2n states, y+
   followed by y, which lie in `both`.

       values    Newton's iteration from y+ = y with the dense matrix -N_y+, whose columns are tangents
       tangent   -N_y+ y+'  =  N_t t' + N_y y' + N_p p'
       adjoint   u = -N_y+^-T lambda;  lambda = N_y^T u,  and N_t^T u, N_p^T u are added to the gradients
       second    -N_y+^T u' = lambda' + [N_y+^T u]' along ((y+', y'), t', p');  lambda' = N_y^T u' + [N_y^T u]' */
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/vec.h"
#include "maps/callbacks.h"
#include "maps/differences.h"
#include "start/start.h"

/* Newton's iteration ends at this part of the tolerances of y: the user's equations have no tolerances of their own */
static const double SHARP = 1e-3;

/* The equations are the user's problem.start, or another room's (s->coded is their name).  The latter have a ctx of
   their own and return statuses, the user's return codes. */
static void *ctx_of(const starter *s) { return s->given.coded ? s->given.ctx : s->maps->user.ctx; }

static int status_of(const starter *s, int r, const char *name)
{
    return s->given.coded ? r : map_code(s->maps, r, "start", name);
}

/* x with (first, second), copied into `both`, as its y; NULL: zeros */
static costate_point pair(const starter *s, costate_point x, const double *first, const double *second, double *both)
{
    size_t n = (size_t)s->maps->n;
    const double *half[] = {first, second};
    for (size_t k = 0; k < 2; k++) {
        if (half[k]) memcpy(both + k * n, half[k], n * sizeof *both);
        else memset(both + k * n, 0, n * sizeof *both);
    }
    x.y = both;
    return x;
}

/* the point (y+, y) of f */
static costate_point here(const starter *s, const start_values *f)
{
    return pair(s, point(s->maps, f->t, NULL), f->y, f->before, s->given.both);
}

static int value(starter *s, const start_values *f, double *r)
{
    costate_point x = here(s, f);
    return status_of(s, s->given.map->value(&x, r, ctx_of(s)), "value");
}

static int prepared(const starter *s, const costate_point *x)
{
    return status_of(s, call_prepare(s->given.map, x, ctx_of(s)), "prepare");
}

static int along(const starter *s, const costate_point *x, const costate_point *dx, double *out)
{
    return status_of(s, call_tangent(s->given.map, x, dx, out, ctx_of(s)), tangent_name(s->given.map));
}

static const char *name_of(const starter *s) { return s->given.coded ? s->given.coded : "problem.start"; }

/* forms and factors -N_y+ at f, unless it is held */
static int matrix(starter *s, const start_values *f)
{
    size_t n = (size_t)s->maps->n;
    if (s->held) return 0;
    costate_point x = here(s, f), dx = pair(s, (costate_point){.t = 0}, NULL, NULL, s->given.both + 2 * n);
    TRY(prepared(s, &x));
    for (size_t j = 0; j < n; j++) {
        s->given.both[2 * n + j] = 1;
        TRY(along(s, &x, &dx, s->given.N + j * n));
        s->given.both[2 * n + j] = 0;
    }
    s->maps->count->decompositions++;
    s->factored = s->given.lu;
    int failed = LS_Decomp(s->given.lu, 0, 0, s->given.N, NULL);
    if (failed < 0) return shifts_failure(s->sh, costate_backend_find("dense"), failed);
    return failed ? fail(s->maps->v, COSTATE_SINGULAR, "Consistent values at t = %.10g: the Jacobian of %s with "
                         "respect to y+ is singular: its equations do not determine y+.", f->t, name_of(s)) : 0;
}

static void move(const starter *s, start_values *f, double a, const double *dx)
{
    add_scaled((size_t)s->maps->n, f->y, s->from, a, dx);
}

static double unit(const starter *s, const start_values *f, const double *dx, int j, double rate)
{
    (void)rate;
    return SHARP * fmax(1 / s->w[j], DBL_EPSILON * (fabs(f->y[j]) + fabs(dx[j])));
}

int given_find(starter *s, start_values *f)
{
    f->given = 1;
    if (!has_tangent(s->given.map))
        return fail(s->maps->v, COSTATE_MISSING, "start.tangent is missing: consistent values are solved for with it.");
    memset(f->k, 0, (size_t)s->maps->n * sizeof *f->k);
    const phase given = {value, matrix, move, unit, name_of(s)};
    return start_newton(s, &given, f);
}

/* ---- derivatives ---- */

static int given_solve(starter *s, const start_values *f, int transpose, int m)
{
    s->maps->count->solves += m;
    int failed = LS_Solve(s->given.lu, transpose, m, s->derived.V);
    if (failed < 0) return shifts_failure(s->sh, costate_backend_find("dense"), failed);
    return failed ? fail(s->maps->v, COSTATE_NOT_FINITE, "Consistent values at t = %.10g: derivatives of %s are NaN or "
                         "Inf.", f->t, name_of(s)) : 0;
}

int given_tangent(starter *s, const start_values *f, int m, const double *dt, double *V, size_t ld, const double *Vp)
{
    size_t n = (size_t)s->maps->n;
    TRY(matrix(s, f));
    costate_point x = here(s, f);
    for (size_t j = 0; j < (size_t)m; j++) {
        costate_point dx = pair(s, along_pm(s->maps, dt[j], NULL, Vp, j), NULL, V + j * ld, s->given.both + 2 * n);
        TRY(along(s, &x, &dx, s->derived.V + j * n));
    }
    TRY(given_solve(s, f, 0, m));
    for (size_t j = 0; j < (size_t)m; j++) memcpy(V + j * ld, s->derived.V + j * n, n * sizeof *V);
    return 0;
}

/* N'(x)^T u of column j: the gradient with respect to y+ goes to the first half of `both`, that
   with respect to y to the second */
static int back(starter *s, const costate_point *x, int j, const double *u, double *mu, double *t, double *both)
{
    costate_gradient to = into_pm(s->maps, t ? t + j : NULL, both, mu, (size_t)j);
    return status_of(s, call_adjoint(s->given.map, x, u, &to, ctx_of(s)), adjoint_name(s->given.map));
}

int given_adjoint(starter *s, const start_values *f, int m, double *lambda, size_t ld, double *mu, double *t)
{
    size_t n = (size_t)s->maps->n;
    if (!has_adjoint(s->given.map))
        return fail(s->maps->v, COSTATE_MISSING, "start.adjoint is missing: gradients of consistent values need it.");
    TRY(matrix(s, f));
    costate_point x = here(s, f);
    for (size_t j = 0; j < (size_t)m; j++) memcpy(s->derived.V + j * n, lambda + j * ld, n * sizeof *lambda);
    TRY(given_solve(s, f, 1, m));
    for (size_t j = 0; j < (size_t)m; j++) {
        double *g = s->given.both + 2 * n;
        memset(g, 0, 2 * n * sizeof *g);
        TRY(back(s, &x, (int)j, s->derived.V + j * n, mu, t, g));
        memcpy(lambda + j * ld, g + n, n * sizeof *g);
    }
    return 0;
}

static int curve(starter *s, const costate_point *x, int j, const costate_point *dx, const double *u, double *mu,
                 double *t, double *both)
{
    costate_gradient to = into_pm(s->maps, t ? t + j : NULL, both, mu, (size_t)j);
    return status_of(s, s->given.map->adjoint_tangent(x, dx, u, &to, ctx_of(s)), "adjoint_tangent");
}

static int second_available(const starter *s)
{
    if (has_adjoint(s->given.map) && s->given.map->adjoint_tangent) return 0;
    return fail(s->maps->v, COSTATE_MISSING, "start.%s is missing: Hessian products of consistent values need it.",
                has_adjoint(s->given.map) ? "adjoint_tangent" : "adjoint");
}

int given_second(starter *s, const start_values *f, int m, const start_along *given, double *lambda, size_t ld,
                 double *mu, double *t)
{
    size_t n = (size_t)s->maps->n, columns = n * (size_t)m;
    double *after = s->derived.second, *in = after + columns, *u = in + 2 * columns, *both = u + n, *dir = both + 2 * n;
    TRY(second_available(s));
    for (size_t j = 0; j < (size_t)m; j++) memcpy(after + j * n, given->V + j * ld, n * sizeof *after);
    TRY(given_tangent(s, f, m, given->dt, after, n, given->Vp));
    costate_point x = here(s, f);
    memcpy(s->derived.V, lambda, n * sizeof *u);
    TRY(given_solve(s, f, 1, 1));
    memcpy(u, s->derived.V, n * sizeof *u);
    for (size_t j = 0; j < (size_t)m; j++) {
        double *l = lambda + (1 + j) * ld, *yd = in + j * n;
        costate_point dx = pair(s, along_pm(s->maps, given->dt[j], NULL, given->Vp, j), after + j * n,
                                given->V + j * ld, dir);
        memset(both, 0, 2 * n * sizeof *both);
        TRY(curve(s, &x, (int)j + 1, &dx, u, mu, t, both));
        add_scaled(n, s->derived.V + j * n, l, 1, both);
        memcpy(yd, both + n, n * sizeof *yd);
    }
    TRY(given_solve(s, f, 1, m));
    for (size_t j = 0; j <= (size_t)m; j++) {
        double *l = lambda + j * ld;
        memset(both, 0, 2 * n * sizeof *both);
        TRY(back(s, &x, (int)j, j ? s->derived.V + (j - 1) * n : u, mu, t, both));
        if (j) add_scaled(n, l, both + n, 1, in + (j - 1) * n);
        else memcpy(l, both + n, n * sizeof *l);
    }
    return 0;
}

/* ---- memory ---- */

int given_init(starter *s)
{
    int failed = 0;
    size_t n = (size_t)s->maps->n;
    const costate_backend *dense = LS_Choose(COSTATE_LS_DENSE, s->maps->n, NULL);
    s->given.lu = LS_Init(dense, s->maps->n, NULL, 0, NULL, NULL, &failed);
    if (failed) return shifts_failure(s->sh, dense, failed);
    s->given.both = calloc(n * n + 4 * n, sizeof *s->given.both);
    if (!s->given.both)
        return fail(s->maps->v, COSTATE_NO_MEMORY, "No memory for the Jacobian of problem.start (%d by %d).",
                    s->maps->n, s->maps->n);
    s->given.N = s->given.both + 4 * n;
    return 0;
}

void given_free(starter *s)
{
    LS_Free(s->given.lu);
    free(s->given.both);
}
