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

enum { POINTS = 5, DIRECTIONS = 2 };
static const double LEAST = 1e-3;       /* of what is differentiated: a derivative less than that is round-off of it */

typedef struct { double *p, *ends, *times; } by_theta;         /* of p, of a, breaks, b, and of the points */

typedef struct {                    /* inputs: p (np), then a and b; X: values at all points */
    bvp *b;
    int tangents, adjoints, second; /* products that are there */
    double from, to;                /* a, b */
    const double *p;
    size_t np, nends, X, in;        /* X = N POINTS; in = np + 2 */
    int at[POINTS];                 /* intervals of the points: in their middles, so that they move with the mesh */
    double t[POINTS];               /* and no difference steps across a mesh point */
    double *v;                      /* in, of two directions: of p, a, b; */
    by_theta along;                 /* of two: as calls take them */
    double *moved;                  /* np */
    double *lambda, *bend;          /* X: the functional lambda.X + sum bend X^2/2 */
    double *value, *V, *seeds;      /* X: values, their derivatives along v, the functional's with respect to them */
    double *gradient, *Hv;          /* in; in of two */
    by_theta first, product;        /* the same, as calls give them */
    double *d, *other, *out;        /* the larger of X and in: differences, work */
    double *ones;                   /* X */
    double blur, blur_of_hessian;   /* of the differences of tangents, of gradients */
    double *block;
} bvp_attempt;

/* ---- set up ---- */

static void layout(bvp_attempt *x, cursor *at)
{
    x->v = take(at, DIRECTIONS * x->in);
    x->along.p = take(at, DIRECTIONS * x->np + 1);
    x->along.ends = take(at, DIRECTIONS * x->nends);
    x->along.times = take(at, DIRECTIONS * POINTS);
    x->moved = take(at, x->np + 1);
    TAKE(at, x->X, &x->lambda, &x->bend, &x->value, &x->V, &x->seeds);
    x->gradient = take(at, x->in);
    x->first.p = take(at, x->np + 1);
    x->first.ends = take(at, x->nends);
    x->first.times = take(at, POINTS);
    x->Hv = take(at, DIRECTIONS * x->in);
    x->product.p = take(at, DIRECTIONS * x->np + 1);
    x->product.ends = take(at, DIRECTIONS * x->nends);
    x->product.times = take(at, DIRECTIONS * POINTS);
    TAKE(at, x->X > x->in ? x->X : x->in, &x->d, &x->other, &x->out);
    x->ones = take(at, x->X);
}

/* where the points are on the mesh that is there now */
static void set_points(bvp_attempt *x)
{
    const solution *mesh = &x->b->now;
    x->t[0] = x->b->ends[0];
    x->t[POINTS - 1] = x->b->ends[x->nends - 1];
    for (int k = 1; k < POINTS - 1; k++) x->t[k] = mesh->t[x->at[k]] + 0.5 * mesh->h[x->at[k]];
}

/* parts of the ends e, e' of its piece in point k, which is inside */
static void shares(const bvp_attempt *x, int k, int *piece, double *of_next)
{
    const solution *mesh = &x->b->now;
    *piece = mesh->piece[x->at[k]];
    *of_next = mesh->from[x->at[k]] + 0.5 * mesh->part[x->at[k]];
}

static int evaluate(bvp_attempt *x)
{
    set_points(x);
    for (size_t k = 0; k < POINTS; k++) TRY(call_bvp_eval(x->b, x->t[k], x->value + k * (x->X / POINTS)));
    return 0;
}

static void choose_directions(bvp_attempt *x, unsigned *state)
{
    double length = x->to - x->from;
    for (size_t j = 0; j < DIRECTIONS; j++) {
        double *v = x->v + j * x->in, *e = x->along.ends + j * x->nends;
        for (size_t i = 0; i < x->np; i++) {
            v[i] = random_number(state) * (x->p[i] != 0 ? fabs(x->p[i]) : 1e-3);
            x->along.p[j * x->np + i] = v[i];
        }
        e[0] = v[x->np] = 0.1 * length * random_number(state);
        e[x->nends - 1] = v[x->np + 1] = 0.1 * length * random_number(state);
        for (int k = 1; k < POINTS - 1; k++) {
            int piece;
            double next;
            shares(x, k, &piece, &next);
            x->along.times[j * POINTS + (size_t)k] = (1 - next) * e[piece] + next * e[piece + 1];
        }
    }
}

static int choose(bvp_attempt *x)
{
    unsigned state = 11;
    for (int k = 1; k < POINTS - 1; k++) x->at[k] = (int)((double)x->b->now.N * k / POINTS);
    TRY(evaluate(x));
    choose_directions(x, &state);
    for (size_t i = 0; i < x->X; i++) {
        double unit = 1 / (fabs(x->value[i]) + 1e-3);
        x->lambda[i] = random_number(&state) * unit;
        x->bend[i] = random_number(&state) * unit * unit;
        x->ones[i] = 1;
    }
    return 0;
}

/* ---- solutions on the frozen mesh ---- */

/* at base + e v: the mesh is that of the solution before, stretched */
static int solve_at(bvp_attempt *x, double e, const double *v)
{
    for (size_t i = 0; i < x->np; i++) x->moved[i] = x->p[i] + e * v[i];
    TRY(call_bvp_solve(x->b, x->from + e * v[x->np], x->to + e * v[x->np + 1], x->moved));
    return evaluate(x);
}

static int seed(int points, const double *t, const double *X, const double *p, int m, const double *V, const double *Vp,
                double *lambda, double *mu, double *lambda2, double *mu2, void *ctx)
{
    const bvp_attempt *x = ctx;
    (void)points; (void)t; (void)p; (void)Vp; (void)mu; (void)mu2;
    for (size_t i = 0; i < x->X; i++) lambda[i] = x->lambda[i] + x->bend[i] * X[i];
    for (size_t i = 0; i < x->X * (size_t)m; i++) lambda2[i] = x->bend[i % x->X] * V[i];
    return 0;
}

/* gradients with respect to p, the ends and the points, which move with the ends, as one with respect to the inputs */
static void join(const bvp_attempt *x, by_theta g, double *to)
{
    for (int k = 1; k < POINTS - 1; k++) {
        int piece;
        double next;
        shares(x, k, &piece, &next);
        g.ends[piece] += (1 - next) * g.times[k];
        g.ends[piece + 1] += next * g.times[k];
    }
    memcpy(to, g.p, x->np * sizeof *to);
    to[x->np] = g.ends[0];
    to[x->np + 1] = g.ends[x->nends - 1];
}

static void set_seeds(bvp_attempt *x)
{
    for (size_t i = 0; i < x->X; i++) x->seeds[i] = x->lambda[i] + x->bend[i] * x->value[i];
}

static int gradient(bvp_attempt *x, double *to)
{
    costate_bvp_adjoints s = {.m = 1, .points = POINTS, .t = x->t, .lambda = x->seeds, .mu = x->first.p,
                              .ends = x->first.ends, .times = x->first.times};
    TRY(evaluate(x));
    set_seeds(x);
    memset(x->first.p, 0, (x->np + 1) * sizeof *x->first.p);
    TRY(call_bvp_adjoint(x->b, &s));
    join(x, x->first, to);
    return 0;
}

/* ---- what is differenced, at base + a v ---- */

static int values_at(void *ctx, double a, double *out)
{
    bvp_attempt *x = ctx;
    TRY(solve_at(x, a, x->v));
    memcpy(out, x->value, x->X * sizeof *out);
    return 0;
}

static int seeded_value_at(void *ctx, double a, double *out)
{
    bvp_attempt *x = ctx;
    TRY(solve_at(x, a, x->v));
    *out = dot(x->X, x->seeds, x->value);
    return 0;
}

static int gradient_at(void *ctx, double a, double *out)
{
    TRY(solve_at(ctx, a, ((bvp_attempt *)ctx)->v));
    return gradient(ctx, out);
}

/* the next differences begin at the solution that is checked */
static int back(void *ctx) { return solve_at(ctx, 0, ((bvp_attempt *)ctx)->v); }

/* solutions may change by more than themselves within a hundredth of p */
static const check_steps STEPS = {.first = CHECK_STEP, .shorter = 8, .count = 4, .enough = 1e-2 * CHECK_RIGHT};

/* ---- the checks ---- */

static const space HERE = {0};          /* one process */

static int check_conditions(bvp_attempt *x, costate_report *r)
{
    bvp *b = x->b;
    costate_point at = {.y = conditions_point(b, &b->now).y, .p = x->p};
    return costate_check_map(&b->edge.user.map, 2 * b->n, b->np, b->n, &at, b->edge.maps.user.ctx, r);
}

static int tangent(bvp_attempt *x)
{
    costate_bvp_tangents s = {.m = 1, .points = POINTS, .t = x->t, .Vp = x->along.p, .Vends = x->along.ends,
                              .Vtimes = x->along.times, .V = x->V};
    return call_bvp_tangent(x->b, &s);
}

/* adjoint and tangent, each where it is there, against each other and against differences */
static int check_first(bvp_attempt *x, costate_report *r)
{
    double along = 0, size = 0;
    if (x->adjoints) {
        TRY(gradient(x, x->gradient));
        along = dot(x->in, x->gradient, x->v);
    }
    if (x->tangents) TRY(tangent(x));
    set_seeds(x);
    for (size_t i = 0; i < x->X; i++) size += fabs(x->seeds[i] * x->value[i]);
    if (x->tangents && x->adjoints)
        TRY(check_gap(&HERE, x->X, x->seeds, x->V, x->in, x->gradient, x->v, LEAST * size, &r->transpose));
    check_derivative c = {.line = {values_at, x, x->X}, .steps = &STEPS, .given = x->V, .of = x->value,
                          .unit = x->ones, .d = x->d, .other = x->other, .out = x->out, .back = back};
    if (!x->tangents) c.line = (line){seeded_value_at, x, 1}, c.given = &along, c.of = &size;
    return check_along(&HERE, &c, &r->taylor, &x->blur);
}

static int check_second(bvp_attempt *x, costate_report *r)
{
    costate_bvp_second s = {.m = DIRECTIONS, .points = POINTS, .t = x->t, .Vp = x->along.p, .Vends = x->along.ends,
                            .Vtimes = x->along.times, .seed = seed, .ctx = x, .mu2 = x->product.p,
                            .ends2 = x->product.ends, .times2 = x->product.times};
    TRY(call_bvp_hessian(x->b, &s));
    for (size_t j = 0; j < DIRECTIONS; j++) {
        by_theta g = {x->product.p + j * x->np, x->product.ends + j * x->nends, x->product.times + j * POINTS};
        join(x, g, x->Hv + j * x->in);
    }
    TRY(gradient(x, x->gradient));
    TRY(check_symmetry(&HERE, x->in, x->v, x->Hv, x->gradient, LEAST / 2, &r->symmetry));
    const check_derivative c = {.line = {gradient_at, x, x->in}, .steps = &STEPS, .given = x->Hv, .of = x->gradient,
                                .unit = x->v + x->in, .d = x->d, .other = x->other, .out = x->out, .back = back};
    return check_along(&HERE, &c, &r->hessian, &x->blur_of_hessian);
}

/* which products all of f, r and g have */
static void products_of(bvp_attempt *x)
{
    const bvp *b = x->b;
    const costate_map *f = b->maps.rhs.user, *g = &b->edge.user.map, *q = b->maps.cost.user;
    int any = b->o.differences;
    x->tangents = any || (has_tangent(f) && has_tangent(g) && (b->nq == 0 || has_tangent(q)));
    x->adjoints = any || (has_adjoint(f) && has_adjoint(g) && (b->nq == 0 || has_adjoint(q)));
    x->second = x->tangents && x->adjoints && f->adjoint_tangent && g->adjoint_tangent &&
                (b->nq == 0 || q->adjoint_tangent);
}

static void say(const bvp_attempt *x, costate_report *r)
{
    if (x->tangents && x->adjoints) check_adds(r, "transposes differ by %.1e. ", r->transpose);
    check_adds(r, "%s and differences differ by %.1e.", x->tangents ? "tangents" : "adjoints", r->taylor);
    check_says_blur(r, r->taylor, x->blur);
    if (!x->second) return;
    check_adds(r, " Hessian: symmetric to %.1e, products and differences differ by %.1e.", r->symmetry, r->hessian);
    check_says_blur(r, r->hessian, x->blur_of_hessian);
}

static int checks(bvp_attempt *x, costate_report *r)
{
    bvp *b = x->b;
    int fixed = b->o.fixed, status;
    if (!x->tangents && !x->adjoints)
        return check_says(r, COSTATE_MISSING, "Nothing can be checked: some maps lack tangent, some adjoint.");
    b->o.fixed = 1;
    status = check_first(x, r);
    if (status == 0 && x->second) status = check_second(x, r);
    b->o.fixed = fixed;
    if (status) return check_says(r, status, "%s", b->v.text);
    say(x, r);
    int right = check_agrees(r->taylor, x->blur);       /* NaN is not right */
    if (x->tangents && x->adjoints) right &= r->transpose <= CHECK_TRANSPOSED;
    if (x->second) right &= r->symmetry <= CHECK_TRANSPOSED && check_agrees(r->hessian, x->blur_of_hessian);
    return right ? COSTATE_OK : COSTATE_CHECK_FAILED;
}

int call_check_bvp(costate_bvp *b, double from, double to, const double *p, costate_report *r)
{
    if (!r) return COSTATE_BAD_ARGUMENT;
    check_clear(r);
    if (!b) return check_says(r, COSTATE_BAD_ARGUMENT, "The solver is NULL.");
    int status = call_bvp_solve(b, from, to, p);
    if (status) return check_says(r, status, "%s", b->v.text);
    bvp_attempt x = {.b = b, .from = from, .to = to, .p = b->p, .np = (size_t)b->np, .nends = (size_t)b->nends,
                 .X = POINTS * (size_t)b->N_all, .in = (size_t)b->np + 2};
    double *base = malloc((x.np + 1) * sizeof *base);
    cursor counting = {0};
    layout(&x, &counting);
    x.block = calloc(counting.used + 1, sizeof *x.block);
    if (!x.block || !base) status = check_no_memory(r);
    else {
        cursor at = {.base = x.block};
        layout(&x, &at);
        memcpy(base, b->p, x.np * sizeof *base);        /* b->p moves with the solutions */
        x.p = base;
        products_of(&x);
        status = choose(&x);
        if (status == 0) status = check_conditions(&x, r);
        if (status == 0) status = checks(&x, r);
    }
    free(base);
    free(x.block);
    return status;
}
