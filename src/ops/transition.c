/* transition.c - an event of a residual that leaves the state by equations, T(t, (y+, y), (y'+, y'), p, m) = 0
   (mathematics, eq. 10.16).

   With S- and S+ the slopes of slopes.h in the modes before and after the event,

       N(t, (u, y), p, m) = T(t, (Y+(u), Y-(y)), (K+(u), K-(y)), p, m)   but   u_i - y_i   of algebraic unknowns i,

   n equations for u, in the form of problem.start for y+; given.c solves and differentiates them.  The jump
   is y+ = u, m+ = m; algebraic unknowns are made consistent after it, as after every jump. */
#include <stdlib.h>
#include <string.h>
#include "base/vec.h"
#include "maps/callbacks.h"
#include "maps/differences.h"
#include "ops/slopes.h"

struct transition {
    composed as;                /* the jump */
    map inner;                  /* T */
    slopes *before, *after;
    int to;                     /* the event's */
    costate_map N;
    costate_problem problem;    /* with N as its start */
    starter newton;             /* mine: y and y+ */
    int held;                   /* `mine` belongs to the point of the slopes with this serial number */
    long serial;
    double *y, *k, *dy, *dk;    /* 2 n each, of both sides: directions, gradients */
    double *curve_y, *curve_k;  /* 2 n each */
    double *w, *lambda, *mu, *pm;       /* n; 2 n; 2 (np + nm); np + nm */
    double *block;
};

static size_t bytes_of(int count) { return (size_t)count * sizeof(double); }

static const char *missing_of(const costate_map *f, int adjoint, int second)
{
    if (!has_tangent(f)) return "tangent";
    if (adjoint && !has_adjoint(f)) return "adjoint";
    return second && !f->adjoint_tangent ? "adjoint_tangent" : NULL;
}

/* differences cannot be used: they are for maps of n states */
static int available(const transition *s, int adjoint, int second)
{
    const char *name = missing_of(s->inner.user, adjoint, second);
    if (!name) return 0;
    return fail(s->before->st->v, COSTATE_MISSING, "%s.%s is missing: it is solved and differentiated with it.",
                s->inner.name, name);
}

/* ---- both sides ---- */

enum side { AFTER, BEFORE };

typedef struct { slopes *of; int mode; } bound;         /* S of a side, its mode bound; what was bound */

static bound bind(const transition *s, enum side side)
{
    maps *a = s->before->st->maps;
    bound b = {side == AFTER ? s->after : s->before, a->bound.mode};
    if (side == AFTER && s->to != COSTATE_SAME_MODE) a->bound.mode = s->to;
    return b;
}

static int release(const bound *b, int status)
{
    b->of->st->maps->bound.mode = b->mode;
    return status;
}

/* x of N, that of S */
static costate_point side_of(const maps *a, const costate_point *x, enum side side)
{
    costate_point z = *x;
    z.mode = a->bound.mode;
    if (x->y) z.y = x->y + (side == BEFORE ? a->n : 0);
    return z;
}

static void keep_side(const transition *s, enum side side, double *y, const double *from, double *k,
                      const double *slopes_from)
{
    size_t n = (size_t)s->before->st->n, at = side == BEFORE ? n : 0;
    memcpy(y + at, from, n * sizeof *y);
    memcpy(k + at, slopes_from, n * sizeof *k);
}

static int solve_sides(transition *s, const costate_point *x, int with_matrix)
{
    for (enum side side = AFTER; side <= BEFORE; side++) {
        bound b = bind(s, side);
        costate_point z = side_of(b.of->st->maps, x, side);
        TRY(release(&b, slopes_solve(b.of, &z, with_matrix)));
        keep_side(s, side, s->y, b.of->start.mine.y, s->k, b.of->start.mine.k);
    }
    return 0;
}

/* into dy, dk; nothing is solved for a side that does not move */
static int tangent_of_sides(transition *s, const costate_point *dx)
{
    size_t n = (size_t)s->before->st->n;
    for (enum side side = AFTER; side <= BEFORE; side++) {
        bound b = bind(s, side);
        costate_point dz = side_of(b.of->st->maps, dx, side);
        int still = dx->t == 0 && !dx->p && !dx->m && (!dz.y || sum_moduli(n, dz.y) == 0);
        if (still) {
            memset(b.of->V, 0, n * sizeof(double));
            memset(b.of->K, 0, n * sizeof(double));
        }
        TRY(release(&b, still ? 0 : slopes_tangent(b.of, &dz)));
        keep_side(s, side, s->dy, b.of->V, s->dk, b.of->K);
    }
    return 0;
}

static int algebraic(const transition *s, int i) { return s->before->start.mine.unknown[i]; }

static costate_point joined(const costate_point *x, const double *y, const double *k)
{
    costate_point z = *x;
    z.y = y;
    z.yp = k;
    return z;
}

/* ---- N in the form of problem.start: returns statuses instead of codes ---- */

static int T_code(const transition *s, int r, const char *name)
{
    return map_code(s->before->st->maps, r, s->inner.name, name);
}

static int prepare(const transition *s, const costate_point *z)
{
    return T_code(s, call_prepare(s->inner.user, z, s->inner.ctx), "prepare");
}

static int N_value(const costate_point *x, double *r, void *ctx)
{
    transition *s = ctx;
    int n = s->before->st->n;
    TRY(solve_sides(s, x, 0));
    costate_point z = joined(x, s->y, s->k);
    TRY(T_code(s, s->inner.user->value(&z, r, s->inner.ctx), "value"));
    for (int i = 0; i < n; i++) if (algebraic(s, i)) r[i] = x->y[i] - x->y[n + i];
    return 0;
}

static int N_tangent(const costate_point *x, const costate_point *dx, double *out, void *ctx)
{
    transition *s = ctx;
    int n = s->before->st->n;
    TRY(solve_sides(s, x, 1));
    TRY(tangent_of_sides(s, dx));
    costate_point z = joined(x, s->y, s->k), dz = joined(dx, s->dy, s->dk);
    TRY(prepare(s, &z));
    TRY(T_code(s, call_tangent(s->inner.user, &z, &dz, out, s->inner.ctx), "tangent"));
    for (int i = 0; i < n; i++) if (algebraic(s, i)) out[i] = dx->y ? dx->y[i] - dx->y[n + i] : 0;
    return 0;
}

/* weights of T: zero for algebraic unknowns */
static void weigh(transition *s, const double *w)
{
    for (int i = 0; i < s->before->st->n; i++) s->w[i] = algebraic(s, i) ? 0 : w[i];
}

/* (T_y^T w, T_k^T w) into column j of both sides; g: what is added to by t, p, m */
static int seed_sides(transition *s, const costate_point *z, const costate_gradient *g, const costate_point *dz,
                      size_t j)
{
    size_t n = (size_t)s->before->st->n;
    costate_gradient to = {.t = g->t, .y = s->curve_y, .p = g->p, .yp = s->curve_k, .m = g->m};
    memset(s->curve_y, 0, 2 * n * sizeof(double));
    memset(s->curve_k, 0, 2 * n * sizeof(double));
    const costate_map *T = s->inner.user;
    TRY(prepare(s, z));
    if (dz) TRY(T_code(s, T->adjoint_tangent(z, dz, s->w, &to, s->inner.ctx), "adjoint_tangent"));
    else TRY(T_code(s, call_adjoint(T, z, s->w, &to, s->inner.ctx), "adjoint"));
    for (enum side side = AFTER; side <= BEFORE; side++) {
        slopes *of = side == AFTER ? s->after : s->before;
        size_t at = side == BEFORE ? n : 0;
        memcpy(of->lambda + j * n, s->curve_y + at, n * sizeof(double));
        memcpy(of->kappa + j * n, s->curve_k + at, n * sizeof(double));
    }
    return 0;
}

static costate_gradient gradient_side(const maps *a, const costate_gradient *g, enum side side)
{
    costate_gradient to = *g;
    if (g->y) to.y = g->y + (side == BEFORE ? a->n : 0);
    return to;
}

static int N_adjoint(const costate_point *x, const double *w, const costate_gradient *g, void *ctx)
{
    transition *s = ctx;
    int n = s->before->st->n;
    TRY(solve_sides(s, x, 1));
    weigh(s, w);
    slopes_clear(s->before);
    slopes_clear(s->after);
    costate_point z = joined(x, s->y, s->k);
    TRY(seed_sides(s, &z, g, NULL, 0));
    for (enum side side = AFTER; side <= BEFORE; side++) {
        bound b = bind(s, side);
        costate_gradient to = gradient_side(b.of->st->maps, g, side);
        TRY(release(&b, slopes_adjoint(b.of, &to)));
    }
    for (int i = 0; g->y && i < n; i++) if (algebraic(s, i)) { g->y[i] += w[i]; g->y[n + i] -= w[i]; }
    return 0;
}

static int N_adjoint_tangent(const costate_point *x, const costate_point *dx, const double *w,
                             const costate_gradient *g, void *ctx)
{
    transition *s = ctx;
    const costate_gradient nowhere = {.y = NULL};
    TRY(solve_sides(s, x, 1));
    weigh(s, w);
    slopes_clear(s->before);
    slopes_clear(s->after);
    TRY(tangent_of_sides(s, dx));
    costate_point z = joined(x, s->y, s->k), dz = joined(dx, s->dy, s->dk);
    TRY(seed_sides(s, &z, &nowhere, NULL, 0));
    TRY(seed_sides(s, &z, g, &dz, 1));
    for (enum side side = AFTER; side <= BEFORE; side++) {
        bound b = bind(s, side);
        costate_gradient to = gradient_side(b.of->st->maps, g, side);
        costate_point along = side_of(b.of->st->maps, dx, side);
        TRY(release(&b, slopes_second(b.of, &along, &to)));
    }
    return 0;
}

/* ---- the jump ---- */

/* y+ from y; keeps the result found there last */
static int transition_solve(transition *s, const costate_point *x)
{
    const maps *a = s->before->st->maps;
    start_values *f = &s->newton.mine;
    if (s->held && s->serial == s->before->serial && slopes_are_at(s->before, x)) return 0;
    TRY(available(s, 0, 0));
    s->held = s->newton.held = 0;
    f->t = x->t;
    memcpy(f->before, x->y, bytes_of(a->n));
    memcpy(f->y, x->y, bytes_of(a->n));
    TRY(slopes_solve(s->before, x, 0));
    int status = given_find(&s->newton, f);
    if (status == RETRY)
        return fail(a->v, cause_status(a->v->why), "%s at t = %.10g: at y before it %s.", s->inner.name, x->t,
                    cause_text(a->v->why));
    TRY(status);
    s->held = 1;
    s->serial = s->before->serial;
    return 0;
}

static int value(composed *as, const costate_point *x, double *out)
{
    transition *s = (transition *)as;
    const maps *a = s->before->st->maps;
    TRY(transition_solve(s, x));
    memcpy(out, s->newton.mine.y, bytes_of(a->n));
    if (a->nm) memcpy(out + a->n, x->m, bytes_of(a->nm));
    return 0;
}

static void set_or_clear(double *to, const double *from, int count)
{
    if (count == 0) return;
    if (from) memcpy(to, from, bytes_of(count));
    else memset(to, 0, bytes_of(count));
}

static double *any(const maps *a, double *pm) { return a->np + a->nm ? pm : NULL; }

static void set_pm(transition *s, const costate_point *dx)
{
    const maps *a = s->before->st->maps;
    set_or_clear(s->pm, dx->p, a->np);
    set_or_clear(s->pm + a->np, dx->m, a->nm);
}

static int tangent(composed *as, const costate_point *x, const costate_point *dx, double *out)
{
    transition *s = (transition *)as;
    const maps *a = s->before->st->maps;
    TRY(transition_solve(s, x));
    set_pm(s, dx);
    set_or_clear(out, dx->y, a->n);
    set_or_clear(out + a->n, dx->m, a->nm);
    TRY(given_tangent(&s->newton, &s->newton.mine, 1, &dx->t, out, (size_t)a->n, any(a, s->pm)));
    s->newton.held = 1;
    return 0;
}

/* column j of lambda, mu, and tau into g; w: weights of m+ = m */
static void add_column(const transition *s, size_t j, double tau, const double *w, const costate_gradient *g)
{
    const maps *a = s->before->st->maps;
    const double *mu = s->mu + j * (size_t)(a->np + a->nm);
    if (g->t) *g->t += tau;
    if (g->y) axpy((size_t)a->n, 1, s->lambda + j * (size_t)a->n, g->y);
    if (g->p) axpy((size_t)a->np, 1, mu, g->p);
    if (g->m) axpy((size_t)a->nm, 1, mu + a->np, g->m);
    if (g->m && w) axpy((size_t)a->nm, 1, w + a->n, g->m);
}

static int adjoint(composed *as, const costate_point *x, const double *w, const costate_gradient *g)
{
    transition *s = (transition *)as;
    const maps *a = s->before->st->maps;
    double tau = 0;
    TRY(available(s, 1, 0));
    TRY(transition_solve(s, x));
    memcpy(s->lambda, w, bytes_of(a->n));
    memset(s->mu, 0, bytes_of(a->np + a->nm));
    TRY(given_adjoint(&s->newton, &s->newton.mine, 1, s->lambda, (size_t)a->n, any(a, s->mu), &tau));
    s->newton.held = 1;
    add_column(s, 0, tau, w, g);
    return 0;
}

static int adjoint_tangent(composed *as, const costate_point *x, const costate_point *dx, const double *w,
                           const costate_gradient *g)
{
    transition *s = (transition *)as;
    const maps *a = s->before->st->maps;
    double tau[2] = {0};
    TRY(available(s, 1, 1));
    TRY(transition_solve(s, x));
    set_pm(s, dx);
    memcpy(s->lambda, w, bytes_of(a->n));
    memset(s->lambda + a->n, 0, bytes_of(a->n));
    memset(s->mu, 0, 2 * bytes_of(a->np + a->nm));
    set_or_clear(s->newton.work, dx->y, a->n);
    start_along along = {&dx->t, s->newton.work, any(a, s->pm)};
    TRY(given_second(&s->newton, &s->newton.mine, 1, &along, s->lambda, (size_t)a->n, any(a, s->mu), tau));
    s->newton.held = 1;
    add_column(s, 1, tau[1], NULL, g);
    return 0;
}

/* ---- memory ---- */

static void transition_layout(transition *s, cursor *at)
{
    const maps *a = s->before->st->maps;
    size_t n = (size_t)a->n, rows = (size_t)(a->np + a->nm);
    TAKE(at, 2 * n, &s->y, &s->k, &s->dy, &s->dk, &s->curve_y, &s->curve_k);
    s->w = take(at, n);
    s->lambda = take(at, 2 * n);
    s->mu = take(at, 2 * rows);
    s->pm = take(at, rows);
}

static int allocate(transition *s, shifts *sh)
{
    maps *a = s->before->st->maps;
    cursor at = {0};
    transition_layout(s, &at);
    if (!(s->block = calloc(at.used + 8, sizeof *s->block)))
        return fail(a->v, COSTATE_NO_MEMORY, "No memory for %s (%zu doubles).", s->inner.name, at.used);
    at = (cursor){s->block, 0};
    transition_layout(s, &at);
    s->newton.w = s->before->w;
    TRY(starter_init(&s->newton, sh, a, &s->problem));
    s->newton.given.coded = s->inner.name;
    s->newton.given.ctx = s;
    TRY(starter_columns(&s->newton, 2));
    return starter_seconds(&s->newton, 1);
}

int transition_new(transition **out, slopes *before, slopes *after, shifts *sh, const costate_problem *P, int event)
{
    static const composed ways = {value, tangent, adjoint, adjoint_tangent};
    static const costate_map equations = {.value = N_value, .tangent = N_tangent, .adjoint = N_adjoint,
                                          .adjoint_tangent = N_adjoint_tangent};
    map *jump = &before->st->maps->events[event].jump;
    transition *s = calloc(1, sizeof *s);
    if (!s) return fail(before->st->v, COSTATE_NO_MEMORY, "No memory for %s.", jump->name);
    *out = s;
    *s = (transition){.as = ways, .inner = *jump, .before = before, .after = after, .to = P->event[event].to,
                      .N = equations, .problem = *P};
    s->problem.start = s->N;
    TRY(allocate(s, sh));
    map_compose(jump, &s->as);
    return 0;
}

void transition_forget(transition *s) { s->held = 0; }

void transition_free(transition *s)
{
    if (!s) return;
    starter_free(&s->newton);
    free(s->block);
    free(s);
}
