/* solve.c - solves a boundary value problem on adapted meshes until the errors are within the tolerance.

       first mesh -> Newton's iteration -> errors -> next mesh ... -> Newton's iteration to round-off

   If Newton's iteration stalls, the mesh may be too coarse to represent the problem: its intervals are halved, a few
   times.  The previous mesh, whose solution was the initial guess, may have been too coarse, too: then everything
   starts again from the guess of the user, on a finer initial mesh. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "bvp/bvp.h"

enum { HALVINGS = 3, BEGINNINGS = 7, MESHES_MOST = 60 };
static const double WELL_CONDITIONED = 0.05;    /* rcond above which no error is amplified much */
static const double GOAL = 0.01;                /* size of corrections, in tolerances, on meshes other than the last */

/* ---- arguments ---- */

static int ends_sound(bvp *b, double from, double to)
{
    double sign = to > from ? 1 : -1;
    if (!(fabs(from) < HUGE_VAL && fabs(to) < HUGE_VAL) || !(fabs(to - from) < HUGE_VAL))
        return fail(&b->v, COSTATE_BAD_ARGUMENT, "a = %g, b = %g: they are to be finite, and b - a, too.", from, to);
    if (from == to) return fail(&b->v, COSTATE_BAD_ARGUMENT, "a = b = %.17g: there is no interval.", from);
    for (int k = 0; k < b->o.nbreaks; k++) {
        double t = b->o.breaks[k], before = k > 0 ? b->o.breaks[k - 1] : from;
        if (!(sign * t > sign * before && sign * t < sign * to))
            return fail(&b->v, COSTATE_BAD_ARGUMENT, "options.breaks[%d] = %.17g: breaks lie between a = %.17g and "
                        "b = %.17g, in this order, and none twice.", k, t, from, to);
    }
    return 0;
}

static int mesh_sound(bvp *b, double from, double to)
{
    int last = b->mesh.points - 1;
    if (b->mesh.points == 0) return 0;
    if (b->mesh.t[0] != from || b->mesh.t[last] != to)
        return fail(&b->v, COSTATE_BAD_ARGUMENT, "The mesh given goes from %.17g to %.17g, but a = %.17g and "
                    "b = %.17g.", b->mesh.t[0], b->mesh.t[last], from, to);
    return 0;
}

static int guess_sound(bvp *b, double from, double to)
{
    int last = b->guess.points - 1;
    if (last < 1 || !b->guess.t || (b->guess.t[last] > b->guess.t[0]) == (to > from)) return 0;
    return fail(&b->v, COSTATE_BAD_ARGUMENT, "The guess's times go from %.17g to %.17g, but a = %.17g and b = %.17g.",
                b->guess.t[0], b->guess.t[last], from, to);
}

static int parameters(bvp *b, const double *p)
{
    if (b->np > 0 && !p) return fail(&b->v, COSTATE_BAD_ARGUMENT, "p is NULL, but problem.np = %d.", b->np);
    for (int i = 0; i < b->np; i++)
        if (!(fabs(p[i]) < HUGE_VAL)) return fail(&b->v, COSTATE_BAD_ARGUMENT, "p[%d] = %g is not finite.", i, p[i]);
    return 0;
}

static void bind(bvp *b)
{
    maps_bind(&b->maps, b->p);
    maps_bind(&b->edge.maps, b->p);
}

/* The present solution, if there is one, becomes the last solution. */
static void solve_begin(bvp *b, double from, double to, const double *p)
{
    if (b->solved) {
        solution other = b->last;
        b->last = b->now;
        b->now = other;
    }
    b->solved = b->linear.factored = 0;
    b->ends[0] = from;
    for (int k = 0; k < b->o.nbreaks; k++) b->ends[k + 1] = b->o.breaks[k];
    b->ends[b->nends - 1] = to;
    if (b->np > 0) memmove(b->p, p, (size_t)b->np * sizeof *b->p);
    bind(b);
    b->count.meshes = b->count.iterations = b->count.damped = 0;
    b->count.error = NAN;
}

static void forget_given(bvp *b)
{
    replace_points(&b->guess, (given_points){0});
    replace_points(&b->mesh, (given_points){0});
}

/* ---- meshes ---- */

/* Initial values on the mesh of b->now, from those of `from`. */
static void begin_mesh(bvp *b, const solution *from)
{
    b->count.meshes++;
    bvp_guess(b, from, &b->now);
}

static int is_coarse(int status) { return status == COSTATE_NEWTON || status == COSTATE_SINGULAR; }

static int halve(bvp *b)
{
    solution finer = {0};
    TRY(mesh_halved(b, &b->now, &finer));
    solution_free(&b->now);
    b->now = finer;
    return 0;
}

/* Solves on this mesh, or if the iteration stalls on halved ones.  from: the previous solution; NULL: start from the
   guess of the user, without halving. */
static int solve_on(bvp *b, const solution *from, double error)
{
    for (int k = 0;; k++) {
        int near;
        begin_mesh(b, from);
        int status = bvp_newton(b, GOAL, 0, error, &near);
        if (status == COSTATE_NEWTON && near) return 0;
        if (!is_coarse(status) || !from || k == HALVINGS || b->o.fixed || 2 * b->now.N > b->o.max_mesh) return status;
        TRY(halve(b));
    }
}

static int polish(bvp *b, double error)
{
    int near;
    TRY(bvp_newton(b, 0, 1, error, &near));
    TRY(bvp_failed(b, solution_integrals(b, &b->now), "the solution"));
    b->solved = 1;
    verdict_clear(&b->v);                       /* discard failures on coarser meshes */
    return 0;
}

static int out_of_mesh(bvp *b, const defects *worst)
{
    int of_q = worst->component >= b->n;
    return fail(&b->v, COSTATE_MESH_LIMIT, "The tolerance is not met with %d intervals, on %d meshes (options.max_mesh "
                "= %d): the estimated error is %.2g times the tolerance in %s[%d] at t = %.10g.", b->now.N,
                b->count.meshes, b->o.max_mesh, worst->error, of_q ? "q" : "y",
                of_q ? worst->component - b->n : worst->component, worst->t);
}

typedef struct { int meshes; double more; int largest; } progress;

/* If the number of points does not grow and the tolerance is still not met, later meshes are refined more. */
static double more_points(progress *p, int N)
{
    p->meshes++;
    if (N <= 1.2 * p->largest) p->more *= p->meshes > 3 ? 1.5 : 1;
    else p->more = 1;
    p->largest = N > p->largest ? N : p->largest;
    return p->more;
}

static int errors(bvp *b, defects *worst, double **error)
{
    size_t N = (size_t)b->now.N;
    double *room = realloc(*error, N * sizeof *room), *forcing = NULL;
    if (room) *error = room;
    if (room) forcing = realloc(b->est.forcing, N * (size_t)b->n * sizeof *forcing);
    if (forcing) b->est.forcing = forcing;
    char *marks = forcing ? realloc(b->est.rough, N) : NULL;
    if (!marks) return fail(&b->v, COSTATE_NO_MEMORY, "No memory for the errors of %d intervals.", b->now.N);
    b->est.rough = marks;
    TRY(bvp_failed(b, mesh_errors(b, room, worst), "the solution, where its error is estimated"));
    if (worst->error <= 1 && !(b->count.rcond > WELL_CONDITIONED)) {
        double factor = 1;
        TRY(bvp_failed(b, mesh_amplification(b, worst->error, &factor), "the solution, where its error is estimated"));
        for (int i = 0; i < b->now.N; i++) room[i] *= factor;
        worst->error *= factor;
    }
    b->count.error = worst->error;
    return 0;
}

/* Solves and adapts, starting on the mesh of b->now. */
static int adapt(bvp *b, double **error)
{
    progress p = {.more = 1};
    defects worst;
    TRY(solve_on(b, NULL, NAN));
    for (;;) {
        solution next = {0}, before;
        TRY(errors(b, &worst, error));
        if (worst.error <= 1 || b->o.fixed) return polish(b, worst.error);
        if (b->now.N >= b->o.max_mesh || p.meshes == MESHES_MOST) return out_of_mesh(b, &worst);
        TRY(mesh_next(b, *error, more_points(&p, b->now.N), &next));
        before = b->now;
        b->now = next;
        int status = solve_on(b, &before, worst.error);
        solution_free(&before);
        TRY(status);
    }
}

/* The initial mesh, halved this many times. */
static int first_mesh(bvp *b, int halvings)
{
    TRY(mesh_given(b, &b->now));
    if (b->now.N > b->o.max_mesh)
        return fail(&b->v, COSTATE_BAD_ARGUMENT, "The first mesh has %d intervals: options.max_mesh = %d.", b->now.N,
                    b->o.max_mesh);
    for (int k = 0; k < halvings; k++) TRY(halve(b));
    return 0;
}

static int from_the_beginning(bvp *b, double **error)
{
    for (int k = 0, intervals = 0;; k++) {
        TRY(first_mesh(b, k));
        if (k == 0) intervals = b->now.N;
        int status = adapt(b, error);
        if (!is_coarse(status) || b->o.fixed || k + 1 == BEGINNINGS || b->count.meshes >= MESHES_MOST) return status;
        if (intervals > b->o.max_mesh >> (k + 1)) return status;
    }
}

int call_bvp_solve(costate_bvp *b, double from, double to, const double *p)
{
    double *error = NULL;
    TRY(bvp_begin(b));
    TRY(ends_sound(b, from, to));
    TRY(parameters(b, p));
    TRY(mesh_sound(b, from, to));
    TRY(guess_sound(b, from, to));
    solve_begin(b, from, to, p);
    int status = from_the_beginning(b, &error);
    forget_given(b);
    free(error);
    return status;
}
