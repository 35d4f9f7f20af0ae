/* check.c (bvp) - the public check of a boundary value problem: the products of its conditions, and the derivatives of
   its solution, a map of p and the ends, against each other and against differences of solutions on the same mesh. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/random.h"
#include "base/vec.h"
#include "bvp/bvp.h"
#include "maps/callbacks.h"
#include "maps/check.h"

enum { POINTS = 5 };
static const double LEAST = 1e-3;       /* of what is differentiated: a derivative less than that is round-off of it */

/* Inputs: p, the ends (a, the breaks and b), the times of the points, one behind the other.  Directions do not move
   breaks, and move points with the mesh; those at a and b move anyway.  Values: those at all points. */
typedef struct {
    bvp *b;
    double from, to;                /* a, b */
    size_t X, in;                   /* X = N POINTS; in = np + number of ends + POINTS */
    int at[POINTS];                 /* intervals of the points: in their middles, so that they move with the mesh */
    double t[POINTS];               /* and no difference steps across a mesh point */
    double *p, *moved;              /* np: as given, b->p moves with the solutions; moved ones */
    double *v, *w;                  /* in: two directions; without tangents w is a gradient */
    double *lambda, *bend;          /* X: the functional lambda.X + sum bend X^2/2 */
    double *value, *seeds, *ones;   /* X: values, the functional's derivatives with respect to them; 1 */
} bvp_check;

static double *ends_of(const bvp_check *x, double *v) { return v + x->b->np; }
static double *times_of(const bvp_check *x, double *v) { return v + x->b->np + x->b->nends; }

static void layout(bvp_check *x, cursor *at)
{
    TAKE(at, (size_t)x->b->np + 1, &x->p, &x->moved);
    TAKE(at, x->X, &x->lambda, &x->bend, &x->value, &x->seeds, &x->ones);
    TAKE(at, x->in, &x->v, &x->w);
}

/* ---- points and directions ---- */

/* where the points are on the mesh that is there now, and the values there */
static int evaluate(bvp_check *x)
{
    const solution *mesh = &x->b->now;
    for (int k = 1; k < POINTS - 1; k++) x->t[k] = mesh->t[x->at[k]] + 0.5 * mesh->h[x->at[k]];
    x->t[0] = x->b->ends[0];
    x->t[POINTS - 1] = x->b->ends[x->b->nends - 1];
    for (size_t k = 0; k < POINTS; k++) TRY(call_bvp_eval(x->b, x->t[k], x->value + k * (x->X / POINTS)));
    for (size_t i = 0; i < x->X; i++) x->seeds[i] = x->lambda[i] + x->bend[i] * x->value[i];
    return 0;
}

static void choose_direction(const bvp_check *x, double *v, unsigned *state)
{
    const solution *mesh = &x->b->now;
    double length = x->to - x->from, *e = ends_of(x, v), *times = times_of(x, v);
    for (int i = 0; i < x->b->np; i++) v[i] = random_number(state) * (x->p[i] != 0 ? fabs(x->p[i]) : 1e-3);
    e[0] = 0.1 * length * random_number(state);
    e[x->b->nends - 1] = 0.1 * length * random_number(state);
    for (int k = 1; k < POINTS - 1; k++) {
        int piece = mesh->piece[x->at[k]];
        double next = mesh->from[x->at[k]] + 0.5 * mesh->part[x->at[k]];    /* parts of the ends e, e' of its piece */
        times[k] = (1 - next) * e[piece] + next * e[piece + 1];
    }
}

static int choose(bvp_check *x)
{
    unsigned state = 11;
    for (int k = 1; k < POINTS - 1; k++) x->at[k] = (int)((double)x->b->now.N * k / POINTS);
    TRY(evaluate(x));
    choose_direction(x, x->v, &state);
    choose_direction(x, x->w, &state);
    for (size_t i = 0; i < x->X; i++) {
        double unit = 1 / (fabs(x->value[i]) + 1e-3);
        x->lambda[i] = random_number(&state) * unit;
        x->bend[i] = random_number(&state) * unit * unit;
        x->ones[i] = 1;
    }
    return evaluate(x);
}

/* ---- the solution as an operator ---- */

/* the mesh is that of the solution before, stretched */
static int solve_at(bvp_check *x, const double *dx)
{
    const double *ends = dx + x->b->np;
    for (int i = 0; i < x->b->np; i++) x->moved[i] = x->p[i] + dx[i];
    TRY(call_bvp_solve(x->b, x->from + ends[0], x->to + ends[x->b->nends - 1], x->moved));
    return evaluate(x);
}

static int values_at(void *ctx, const double *dx, double *out)
{
    bvp_check *x = ctx;
    TRY(solve_at(x, dx));
    memcpy(out, x->value, x->X * sizeof *out);
    return 0;
}

static int tangent(void *ctx, const double *v, double *out)
{
    bvp_check *x = ctx;
    const costate_bvp_tangents s = {.m = 1, .points = POINTS, .t = x->t, .Vp = v, .Vends = v + x->b->np,
                                    .Vtimes = v + x->b->np + x->b->nends, .V = out};
    return call_bvp_tangent(x->b, &s);
}

static int adjoint(void *ctx, const double *w, double *g)
{
    bvp_check *x = ctx;
    const costate_bvp_adjoints s = {.m = 1, .points = POINTS, .t = x->t, .lambda = w, .mu = g,
                                    .ends = ends_of(x, g), .times = times_of(x, g)};
    memset(g, 0, x->in * sizeof *g);
    return call_bvp_adjoint(x->b, &s);
}

/* ---- and its functional, and the gradient of that ---- */

static int functional_at(void *ctx, const double *dx, double *out)
{
    bvp_check *x = ctx;
    TRY(solve_at(x, dx));
    *out = 0;
    for (size_t i = 0; i < x->X; i++) *out += (x->lambda[i] + 0.5 * x->bend[i] * x->value[i]) * x->value[i];
    return 0;
}

static int slope_of_functional(void *ctx, const double *v, double *out)
{
    bvp_check *x = ctx;
    TRY(adjoint(x, x->seeds, x->w));
    *out = dot(x->in, x->w, v);
    return 0;
}

static int gradient_at(void *ctx, const double *dx, double *out)
{
    bvp_check *x = ctx;
    TRY(solve_at(x, dx));
    return adjoint(x, x->seeds, out);
}

static int seed(int points, const double *t, const double *X, const double *p, int m, const double *V, const double *Vp,
                double *lambda, double *mu, double *lambda2, double *mu2, void *ctx)
{
    const bvp_check *x = ctx;
    (void)points; (void)t; (void)p; (void)Vp; (void)mu; (void)mu2;
    for (size_t i = 0; i < x->X; i++) lambda[i] = x->lambda[i] + x->bend[i] * X[i];
    for (size_t i = 0; i < x->X * (size_t)m; i++) lambda2[i] = x->bend[i % x->X] * V[i];
    return 0;
}

static int hessian_times(void *ctx, const double *v, double *Hv)
{
    bvp_check *x = ctx;
    const costate_bvp_second s = {.m = 1, .points = POINTS, .t = x->t, .Vp = v, .Vends = v + x->b->np,
                                  .Vtimes = v + x->b->np + x->b->nends, .seed = seed, .ctx = x, .mu2 = Hv,
                                  .ends2 = ends_of(x, Hv), .times2 = times_of(x, Hv)};
    memset(Hv, 0, x->in * sizeof *Hv);
    return call_bvp_hessian(x->b, &s);
}

/* the next differences begin at the solution that is checked */
static int back(void *ctx)
{
    const bvp_check *x = ctx;
    TRY(call_bvp_solve(x->b, x->from, x->to, x->p));
    return evaluate(ctx);
}

/* ---- the checks ---- */

/* solutions may change by more than themselves within a hundredth of p */
static const check_steps STEPS = {.first = CHECK_STEP, .shorter = 8, .count = 4, .enough = 1e-2 * CHECK_RIGHT};

static int check_conditions(bvp_check *x, costate_report *r)
{
    bvp *b = x->b;
    costate_point at = {.y = conditions_point(b, &b->now).y, .p = x->p};
    return costate_check_map(&b->edge.user.map, 2 * b->n, b->np, b->n, &at, b->edge.maps.user.ctx, r);
}

/* tangent and adjoint, where they are, against each other and against differences */
static int check_first(bvp_check *x, int tangents, int adjoints, agreement *to, costate_report *r)
{
    check_operator F = {.ctx = x, .in = x->in, .rows = x->X, .value = values_at, .tangent = tangent,
                        .adjoint = adjoint, .space = &x->b->maps.space, .weight = x->ones, .back = back};
    double size = 0;
    for (size_t i = 0; i < x->X; i++) size += fabs(x->seeds[i] * x->value[i]);
    if (tangents && adjoints) TRY(check_transposes(&F, x->v, x->seeds, LEAST * size, &r->transpose));
    if (!tangents) F.rows = 1, F.value = functional_at, F.tangent = slope_of_functional;
    return check_along(&F, x->v, &STEPS, to);
}

static int check_second(bvp_check *x, agreement *to, costate_report *r)
{
    const check_operator G = {.ctx = x, .in = x->in, .rows = x->in, .value = gradient_at, .tangent = hessian_times,
                              .adjoint = hessian_times, .space = &x->b->maps.space, .weight = x->w, .back = back};
    return check_hessian(&G, (const double *const[]){x->v, x->w}, &STEPS, LEAST / 2, &r->symmetry, to);
}

/* does the conditions' map, f and r have it, all of them? */
static int all_have(const bvp *b, int (*has)(const costate_map *))
{
    return has(b->maps.rhs.user) && has(&b->edge.user.map) && (b->nq == 0 || has(b->maps.cost.user));
}

static int has_second(const costate_map *f) { return f->adjoint_tangent != NULL; }

static int checks(bvp_check *x, costate_report *r)
{
    bvp *b = x->b;
    int any = b->o.differences, fixed = b->o.fixed;
    int tangents = any || all_have(b, has_tangent), adjoints = any || all_have(b, has_adjoint);
    int second = tangents && adjoints && all_have(b, has_second);
    agreement first, of_gradients;
    if (!tangents && !adjoints)
        return check_says(r, COSTATE_MISSING, "Nothing can be checked: some maps lack tangent, some adjoint.");
    b->o.fixed = 1;
    int status = check_first(x, tangents, adjoints, &first, r);
    if (status == 0 && second) status = check_second(x, &of_gradients, r);
    b->o.fixed = fixed;
    if (status) return check_says(r, status, "%s", b->v.text);
    r->taylor = first.error;
    int right = check_agrees(&first);                   /* NaN is not right */
    if (tangents && adjoints) {
        check_adds(r, "transposes differ by %.1e. ", r->transpose);
        right &= r->transpose <= CHECK_TRANSPOSED;
    }
    check_adds(r, "%s and differences differ by %.1e.", tangents ? "tangents" : "adjoints", r->taylor);
    check_says_blur(r, &first);
    if (second) {
        r->hessian = of_gradients.error;
        right &= r->symmetry <= CHECK_TRANSPOSED && check_agrees(&of_gradients);
        check_adds(r, " Hessian: symmetric to %.1e, products and differences differ by %.1e.", r->symmetry, r->hessian);
        check_says_blur(r, &of_gradients);
    }
    return right ? COSTATE_OK : COSTATE_CHECK_FAILED;
}

int call_check_bvp(costate_bvp *b, double from, double to, const double *p, costate_report *r)
{
    if (!r) return COSTATE_BAD_ARGUMENT;
    check_clear(r);
    if (!b) return check_says(r, COSTATE_BAD_ARGUMENT, "The solver is NULL.");
    int status = call_bvp_solve(b, from, to, p);
    if (status) return check_says(r, status, "%s", b->v.text);
    bvp_check x = {.b = b, .from = from, .to = to, .X = POINTS * (size_t)b->N_all,
                   .in = (size_t)(b->np + b->nends) + POINTS};
    cursor at = {0};
    layout(&x, &at);
    double *block = calloc(at.used + 1, sizeof *block);
    if (!block) return check_no_memory(r);
    at = (cursor){.base = block};
    layout(&x, &at);
    memcpy(x.p, b->p, (size_t)b->np * sizeof *x.p);
    status = choose(&x);
    if (status == 0) status = check_conditions(&x, r);
    if (status == 0) status = checks(&x, r);
    free(block);
    return status;
}
