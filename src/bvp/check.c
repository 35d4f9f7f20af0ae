/* check.c - the public check of a boundary value problem: the products of its conditions, and the derivatives of its
   solution against each other and against 8th-order differences of solutions on the frozen mesh. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/random.h"
#include "bvp/bvp.h"
#include "maps/callbacks.h"
#include "maps/check.h"

enum { POINTS = 5, DIRECTIONS = 2 };
static const double TRANSPOSED = 1e-10;

typedef struct {                    /* with respect to x: p (np), then a and b */
    bvp *b;
    int tangents, adjoints, second; /* available products */
    double from, to;                /* a, b */
    const double *p;
    size_t np, nends, X, in;        /* X = N POINTS; in = np + 2 */
    int at[POINTS];                 /* intervals: inner points are at midpoints and move with the mesh, so that */
    double t[POINTS];               /* no difference crosses a mesh point */
    double *v;                      /* in, of two directions: p, a, b; */
    double *Vp, *Vends;             /* np, nends, of two: as the calls expect them */
    double *Vtimes;                 /* POINTS, of two */
    double *moved;                  /* np */
    double *lambda, *bend;          /* X: the functional lambda.X + sum bend X^2/2 */
    double *value, *V;              /* X; X of two */
    double *gradient, *mu, *ends, *times;       /* in; np, nends, POINTS */
    double *Hv, *mu2, *ends2, *times2;          /* in of two; np, nends, POINTS of two */
    double *diff;                   /* max(X, in) */
    double *block;
} attempt;

/* ---- set up ---- */

static void layout(attempt *x, cursor *at)
{
    x->v = take(at, DIRECTIONS * x->in);
    x->Vp = take(at, DIRECTIONS * x->np + 1);
    x->Vends = take(at, DIRECTIONS * x->nends);
    x->Vtimes = take(at, DIRECTIONS * POINTS);
    x->moved = take(at, x->np + 1);
    x->lambda = take(at, x->X);
    x->bend = take(at, x->X);
    x->value = take(at, x->X);
    x->V = take(at, DIRECTIONS * x->X);
    x->gradient = take(at, x->in);
    x->mu = take(at, x->np + 1);
    x->ends = take(at, x->nends);
    x->times = take(at, POINTS);
    x->Hv = take(at, DIRECTIONS * x->in);
    x->mu2 = take(at, DIRECTIONS * x->np + 1);
    x->ends2 = take(at, DIRECTIONS * x->nends);
    x->times2 = take(at, DIRECTIONS * POINTS);
    x->diff = take(at, x->X > x->in ? x->X : x->in);
}

/* places the points on the present mesh */
static void set_points(attempt *x)
{
    const solution *mesh = &x->b->now;
    x->t[0] = x->b->ends[0];
    x->t[POINTS - 1] = x->b->ends[x->nends - 1];
    for (int k = 1; k < POINTS - 1; k++) x->t[k] = mesh->t[x->at[k]] + 0.5 * mesh->h[x->at[k]];
}

/* weights of the ends e, e' of its piece in the inner point k */
static void shares(const attempt *x, int k, int *piece, double *of_next)
{
    const solution *mesh = &x->b->now;
    *piece = mesh->piece[x->at[k]];
    *of_next = mesh->from[x->at[k]] + 0.5 * mesh->part[x->at[k]];
}

static int evaluate(attempt *x)
{
    set_points(x);
    for (size_t k = 0; k < POINTS; k++) TRY(call_bvp_eval(x->b, x->t[k], x->value + k * (x->X / POINTS)));
    return 0;
}

static void choose_directions(attempt *x, unsigned *state)
{
    double length = x->to - x->from;
    for (size_t j = 0; j < DIRECTIONS; j++) {
        double *v = x->v + j * x->in, *e = x->Vends + j * x->nends;
        for (size_t i = 0; i < x->np; i++) {
            v[i] = random_number(state) * (x->p[i] != 0 ? fabs(x->p[i]) : 1e-3);
            x->Vp[j * x->np + i] = v[i];
        }
        e[0] = v[x->np] = 0.1 * length * random_number(state);
        e[x->nends - 1] = v[x->np + 1] = 0.1 * length * random_number(state);
        for (int k = 1; k < POINTS - 1; k++) {
            int piece;
            double next;
            shares(x, k, &piece, &next);
            x->Vtimes[j * POINTS + (size_t)k] = (1 - next) * e[piece] + next * e[piece + 1];
        }
    }
}

static int choose(attempt *x)
{
    unsigned state = 11;
    for (int k = 1; k < POINTS - 1; k++) x->at[k] = (int)((double)x->b->now.N * k / POINTS);
    TRY(evaluate(x));
    choose_directions(x, &state);
    for (size_t i = 0; i < x->X; i++) {
        double unit = 1 / (fabs(x->value[i]) + 1e-3);
        x->lambda[i] = random_number(&state) * unit;
        x->bend[i] = random_number(&state) * unit * unit;
    }
    return 0;
}

/* ---- solutions on the frozen mesh ---- */

/* solves at base + e v on the mesh of the previous solution, stretched */
static int solve_at(attempt *x, double e, const double *v)
{
    for (size_t i = 0; i < x->np; i++) x->moved[i] = x->p[i] + e * v[i];
    TRY(call_bvp_solve(x->b, x->from + e * v[x->np], x->to + e * v[x->np + 1], x->moved));
    return evaluate(x);
}

static int seed(int points, const double *t, const double *X, const double *p, int m, const double *V, const double *Vp,
                double *lambda, double *mu, double *lambda2, double *mu2, void *ctx)
{
    const attempt *x = ctx;
    (void)points; (void)t; (void)p; (void)Vp; (void)mu; (void)mu2;
    for (size_t i = 0; i < x->X; i++) lambda[i] = x->lambda[i] + x->bend[i] * X[i];
    for (size_t i = 0; i < x->X * (size_t)m; i++) lambda2[i] = x->bend[i % x->X] * V[i];
    return 0;
}

/* gradient with respect to x from those with respect to p, the ends and the points, which move with the ends */
static void join(const attempt *x, const double *mu, double *ends, const double *times, double *to)
{
    for (int k = 1; k < POINTS - 1; k++) {
        int piece;
        double next;
        shares(x, k, &piece, &next);
        ends[piece] += (1 - next) * times[k];
        ends[piece + 1] += next * times[k];
    }
    memcpy(to, mu, x->np * sizeof *to);
    to[x->np] = ends[0];
    to[x->np + 1] = ends[x->nends - 1];
}

static int gradient(attempt *x)
{
    double *seeds = x->V;                       /* unused here */
    costate_bvp_adjoints s = {.m = 1, .points = POINTS, .t = x->t, .lambda = seeds, .mu = x->mu, .ends = x->ends,
                              .times = x->times};
    TRY(evaluate(x));
    for (size_t i = 0; i < x->X; i++) seeds[i] = x->lambda[i] + x->bend[i] * x->value[i];
    memset(x->mu, 0, (x->np + 1) * sizeof *x->mu);
    TRY(call_bvp_adjoint(x->b, &s));
    join(x, x->mu, x->ends, x->times, x->gradient);
    return 0;
}

/* differences along v, with step e, of the `count` values that `of` leaves in `result`, into diff */
static int differences(attempt *x, const double *v, size_t count, const double *result, int with_gradient, double e)
{
    static const double weight[] = {4.0 / 5, -1.0 / 5, 4.0 / 105, -1.0 / 280};
    memset(x->diff, 0, count * sizeof *x->diff);
    for (int k = 1; k <= 4; k++)
        for (int side = -1; side <= 1; side += 2) {
            TRY(solve_at(x, side * k * e, v));
            if (with_gradient) TRY(gradient(x));
            for (size_t i = 0; i < count; i++) x->diff[i] += side * weight[k - 1] / e * result[i];
        }
    return solve_at(x, 0, v);
}

static const double LEAST = 1e-3;       /* relative to what is differenced: a smaller derivative is its round-off */

/* the largest difference of d and given relative to the largest of the units; unit NULL: to each other; of: what was
   differenced */
static double apart(size_t count, const double *given, const double *d, const double *of, const double *unit)
{
    double most = 0, size = 0;
    for (size_t i = 0; i < count; i++) {
        double u = unit ? fabs(unit[i]) : 1;
        most = fmax(most, fabs(given[i] - d[i]) * u);
        size = fmax(size, fmax(fmax(fabs(given[i]), fabs(d[i])), LEAST * fabs(of[i])) * u);
    }
    return size > 0 ? most / size : 0;
}

/* ---- the checks ---- */

static int check_conditions(attempt *x, costate_report *r)
{
    bvp *b = x->b;
    costate_point at = conditions_point(b, &b->now);
    double *both = malloc(2 * (size_t)b->n * sizeof *both);
    if (!both) return check_says(r, COSTATE_NO_MEMORY, "No memory for the check.");
    memcpy(both, at.y, 2 * (size_t)b->n * sizeof *both);
    at = (costate_point){.y = both, .p = x->p};
    int status = costate_check_map(&b->user.map, 2 * b->n, b->np, b->n, &at, b->edges.ctx, r);
    free(both);
    return status;
}

static double product(size_t count, const double *a, const double *b, double *size)
{
    double sum = 0;
    for (size_t i = 0; i < count; i++) {
        sum += a[i] * b[i];
        *size += fabs(a[i] * b[i]);
    }
    return sum;
}

/* derivatives of X along the first direction, into the second half of V */
static int tangent(attempt *x)
{
    costate_bvp_tangents s = {.m = 1, .points = POINTS, .t = x->t, .Vp = x->Vp, .Vends = x->Vends,
                              .Vtimes = x->Vtimes, .V = x->V + x->X};
    return call_bvp_tangent(x->b, &s);
}

/* The distance of derivatives from differences along v with the best step: solutions may change by more than their size
   within a hundredth of p. */
typedef double compared(attempt *);
static int best_of(attempt *x, const double *v, size_t count, const double *result, int with_gradient, compared *of,
                   double *error)
{
    enum { LENGTHS = 4 };
    const double GOOD = 1e-2 * CHECK_RIGHT;
    double e = 2e-3;
    for (int k = 0; k < LENGTHS && !(*error <= GOOD); k++, e /= 8) {
        int status = differences(x, v, count, result, with_gradient, e);
        if (status == COSTATE_NO_MEMORY || status == COSTATE_CALLBACK || (status && k == LENGTHS - 1)) return status;
        if (status) { TRY(solve_at(x, 0, v)); continue; }
        double now = of(x);
        if (!(now >= *error)) *error = now;
    }
    return 0;
}

static double first_apart(attempt *x)
{
    double *V = x->V + x->X, *seeds = x->V, size = 0, none = 0;
    if (x->tangents) return apart(x->X, V, x->diff, x->value, NULL);
    double along = product(x->in, x->gradient, x->v, &size), right = product(x->X, seeds, x->diff, &size);
    product(x->X, seeds, x->value, &none);
    return fabs(along - right) / fmax(fmax(size, LEAST * none), 1e-300);
}

/* compares adjoint and tangent, where available, with each other and with differences */
static int check_first(attempt *x, costate_report *r)
{
    double *V = x->V + x->X, *seeds = x->V, size = 0, along = 0, all = 0;
    if (x->adjoints) {
        TRY(gradient(x));
        along = product(x->in, x->gradient, x->v, &size);
    }
    if (x->tangents) TRY(tangent(x));
    for (size_t i = 0; i < x->X; i++) seeds[i] = x->lambda[i] + x->bend[i] * x->value[i];
    if (x->tangents && x->adjoints) {
        double left = product(x->X, seeds, V, &size);
        product(x->X, seeds, x->value, &all);
        r->transpose = fabs(left - along) / fmax(fmax(size, LEAST * all), 1e-300);
    }
    return best_of(x, x->v, x->X, x->value, 0, first_apart, &r->taylor);
}

static double second_apart(attempt *x) { return apart(x->in, x->Hv, x->diff, x->gradient, x->v + x->in); }

static int check_second(attempt *x, costate_report *r)
{
    costate_bvp_second s = {.m = DIRECTIONS, .points = POINTS, .t = x->t, .Vp = x->Vp, .Vends = x->Vends,
                            .Vtimes = x->Vtimes, .seed = seed, .ctx = x, .mu2 = x->mu2, .ends2 = x->ends2,
                            .times2 = x->times2};
    double size = 0, first = 0;
    TRY(call_bvp_hessian(x->b, &s));
    for (size_t j = 0; j < DIRECTIONS; j++)
        join(x, x->mu2 + j * x->np, x->ends2 + j * x->nends, x->times2 + j * POINTS, x->Hv + j * x->in);
    double left = product(x->in, x->v + x->in, x->Hv, &size), right = product(x->in, x->v, x->Hv + x->in, &size);
    TRY(gradient(x));
    product(x->in, x->gradient, x->v, &first);
    r->symmetry = fabs(left - right) / fmax(fmax(size, LEAST * first), 1e-300);
    return best_of(x, x->v, x->in, x->gradient, 1, second_apart, &r->hessian);
}

/* the products that f, r and g all have */
static void products_of(attempt *x)
{
    const bvp *b = x->b;
    const costate_map *f = b->maps.rhs.user, *g = &b->user.map, *q = b->maps.cost.user;
    int any = b->o.differences;
    x->tangents = any || (has_tangent(f) && has_tangent(g) && (b->nq == 0 || has_tangent(q)));
    x->adjoints = any || (has_adjoint(f) && has_adjoint(g) && (b->nq == 0 || has_adjoint(q)));
    x->second = x->tangents && x->adjoints && f->adjoint_tangent && g->adjoint_tangent &&
                (b->nq == 0 || q->adjoint_tangent);
}

static void say(const attempt *x, costate_report *r)
{
    if (x->tangents && x->adjoints) check_adds(r, "transposes differ by %.1e. ", r->transpose);
    check_adds(r, "%s and differences differ by %.1e. ", x->tangents ? "tangents" : "adjoints", r->taylor);
    if (!x->second) return;
    check_adds(r, "Hessian: symmetric to %.1e, products and differences differ by %.1e. ", r->symmetry, r->hessian);
}

static int checks(attempt *x, costate_report *r)
{
    bvp *b = x->b;
    int fixed = b->o.fixed, status;
    if (!x->tangents && !x->adjoints)
        return check_says(r, COSTATE_MISSING, "There are neither tangents nor adjoints of all maps: nothing to check.");
    b->o.fixed = 1;
    status = check_first(x, r);
    if (status == 0 && x->second) status = check_second(x, r);
    b->o.fixed = fixed;
    if (status) return check_says(r, status, "%s", b->v.text);
    say(x, r);
    int wrong = r->transpose > TRANSPOSED || r->taylor > CHECK_RIGHT || r->symmetry > TRANSPOSED ||
                r->hessian > CHECK_RIGHT;
    return wrong ? COSTATE_CHECK_FAILED : COSTATE_OK;
}

int call_check_bvp(costate_bvp *b, double from, double to, const double *p, costate_report *r)
{
    if (!r) return COSTATE_BAD_ARGUMENT;
    check_clear(r);
    if (!b) return check_says(r, COSTATE_BAD_ARGUMENT, "The solver is NULL.");
    int status = call_bvp_solve(b, from, to, p);
    if (status) return check_says(r, status, "%s", b->v.text);
    attempt x = {.b = b, .from = from, .to = to, .p = b->p, .np = (size_t)b->np, .nends = (size_t)b->nends,
                 .X = POINTS * (size_t)b->N_all, .in = (size_t)b->np + 2};
    double *base = malloc((x.np + 1) * sizeof *base);
    cursor counting = {0};
    layout(&x, &counting);
    x.block = calloc(counting.used + 1, sizeof *x.block);
    if (!x.block || !base) status = check_says(r, COSTATE_NO_MEMORY, "No memory for the check.");
    else {
        cursor at = {.base = x.block};
        layout(&x, &at);
        memcpy(base, b->p, x.np * sizeof *base);        /* solves change b->p */
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
