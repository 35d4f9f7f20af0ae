/* check.c (lanes) - compares maps of several members side by side with the callbacks of a problem, bit by bit.

   Each lane is at a point of its own near the given one.  Every product is called with every set of directions and
   gradients that may be NULL or not. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "base/arena.h"
#include "base/pattern.h"
#include "base/random.h"
#include "lanes/aligned.h"
#include "lanes/setup.h"
#include "maps/callbacks.h"
#include "maps/check.h"
#include <costate/ensemble.h>

enum { ALL_PARTS = 1 << PART_T | 1 << PART_Y | 1 << PART_P };

/* vectors of inputs t, y, p and of values, by L or of one lane: points, two directions, gradients and what these hold
   before; weights and values */
enum { X, A, C, G, BEFORE, W, OUT, VECTORS };

typedef struct {
    const costate_problem *P;
    const costate_lane_maps *maps;
    probe q;                            /* of the map that is compared, */
    const costate_lane_map *lanes;      /* side by side, */
    const char *name;                   /* and its name */
    costate_report *report;
    int L;
    size_t most;                        /* numbers of the longest vector of one member */
    unsigned seed;
    double *wide[VECTORS], *one[VECTORS];
    double *J, *LU, *one_J;             /* of the linear solver */
    int compared;
} checking;

static size_t inputs(const checking *s) { return s->q.start[PARTS]; }

static void layout_check(checking *s, cursor *at)
{
    size_t L = LANES_MOST, entries = pattern_entries(s->P->pattern, s->P->n) + (size_t)s->P->n;
    for (int k = 0; k < VECTORS; k++) {
        s->wide[k] = take(at, s->most * L);
        s->one[k] = take(at, s->most);
    }
    s->J = take(at, entries * L);
    s->one_J = take(at, entries);
}

/* ---- points, directions, weights ---- */

static void draw(checking *s, size_t count, double *x)
{
    for (size_t k = 0; k < count; k++) x[k] = random_number(&s->seed);
}

/* near x: each number changed by up to 5 %, so that signs stay */
static void spread_points(checking *s, const costate_point *x)
{
    const double PART = 0.05;
    size_t L = (size_t)s->L, n = (size_t)s->P->n;
    for (size_t l = 0; l < L; l++) {
        double *at = s->wide[X] + l;
        at[0] = x->t + PART * (1 + fabs(x->t)) * fabs(random_number(&s->seed));
        for (size_t i = 1; i <= n + (size_t)s->P->np; i++)
            at[i * L] = (i <= n ? x->y[i - 1] : x->p[i - 1 - n]) * (1 + PART * random_number(&s->seed));
    }
}

static void of_lane(const checking *s, int l, size_t count, const double *all, double *one)
{
    for (size_t i = 0; i < count; i++) one[i] = all[i * (size_t)s->L + (size_t)l];
}

/* parts of inputs by L; NULL where there are none, or `which` does not have them */
static double *part_of(const checking *s, double *all, int part, int which)
{
    const size_t *start = s->q.start;
    return which >> part & 1 && start[part + 1] > start[part] ? all + start[part] * (size_t)s->L : NULL;
}

static costate_lane_point lanes_at(const checking *s, int vector, int which)
{
    double *x = s->wide[vector];
    return (costate_lane_point){part_of(s, x, PART_T, which), part_of(s, x, PART_Y, which),
                                part_of(s, x, PART_P, which)};
}

/* the direction of lane l: 0 where `which` does not have it, which callbacks receive as NULL */
static void direction_of_lane(const checking *s, int l, int vector, int which)
{
    of_lane(s, l, inputs(s), s->wide[vector], s->one[vector]);
    for (int part = 0; part < PARTS; part++)
        for (size_t i = s->q.start[part]; !(which >> part & 1) && i < s->q.start[part + 1]; i++) s->one[vector][i] = 0;
}

/* ---- what differs ---- */

static int alike(double a, double b) { return memcmp(&a, &b, sizeof a) == 0 || (a != a && b != b); }

#define WRONG(s, ...) \
    (check_says((s)->report, COSTATE_OK, "%d lanes: ", (s)->L), check_adds((s)->report, __VA_ARGS__), \
     COSTATE_CHECK_FAILED)

typedef struct { const char *owner, *product, *part; int lane; } location;

static int compare(checking *s, const location *at, size_t count, const double *all, const double *one)
{
    for (size_t i = 0; i < count; i++) {
        double is = all[i * (size_t)s->L + (size_t)at->lane], should = one[i];
        if (alike(is, should)) continue;
        double gap = fabs(is - should) / fmax(fabs(should), fabs(is));
        return WRONG(s, "%s.%s, lane %d: %s[%zu] is %.17g, but %.17g of the problem (relative difference %.1e).%s",
                     at->owner, at->product, at->lane, at->part, i, is, should, gap, gap < 1e-9 ? "  Are both compiled "
                     "with -ffp-contract=off, and are sums in the same order?" : "");
    }
    return 0;
}

/* Do the lane and the problem agree on whether the map is defined?  > 0: it is not. */
static int defined(checking *s, const location *at, int code, int alone)
{
    if (code < 0) return WRONG(s, "%s.%s returned %d.", at->owner, at->product, code);
    if (alone < 0) return WRONG(s, "%s.%s of the problem returned %d.", at->owner, at->product, alone);
    if ((code >> at->lane & 1) == (alone > 0)) return alone > 0;
    return WRONG(s, "%s.%s, lane %d: the map is %s there, but %s by the problem (it returned %d).", at->owner,
                 at->product, at->lane, alone > 0 ? "defined" : "not defined", alone > 0 ? "not" : "it is", alone);
}

/* ---- products ---- */

static const char *const NAMES[CALLS] = {"value", "tangent", "tangent2", "adjoint", "adjoint_tangent",
                                         "adjoint_tangent2"};

static int both_have(const checking *s, int call)
{
    const costate_lane_map *a = s->lanes;
    const costate_map *b = s->q.map;
    switch (call) {
    case CALL_VALUE: return a->value && b->value;
    case CALL_TANGENT: return a->tangent && has_tangent(b);
    case CALL_TANGENT2: return a->tangent2 && b->tangent2;
    case CALL_ADJOINT: return a->adjoint && has_adjoint(b);
    case CALL_ADJOINT_TANGENT: return a->adjoint_tangent && b->adjoint_tangent;
    default: return a->adjoint_tangent2 && b->adjoint_tangent2;
    }
}

static int call_lanes(const checking *s, int call, int which, int into)
{
    costate_lane_point x = lanes_at(s, X, ALL_PARTS), a = lanes_at(s, A, which), c = lanes_at(s, C, which);
    double *out = s->wide[OUT], *w = s->wide[W], *to = s->wide[G];
    costate_lane_gradient g = {part_of(s, to, PART_T, into), part_of(s, to, PART_Y, into),
                               part_of(s, to, PART_P, into)};
    void *ctx = s->P->ctx;
    switch (call) {
    case CALL_VALUE: return s->lanes->value(&x, out, ctx);
    case CALL_TANGENT: return s->lanes->tangent(&x, &a, out, ctx);
    case CALL_TANGENT2: return s->lanes->tangent2(&x, &a, &c, out, ctx);
    case CALL_ADJOINT: return s->lanes->adjoint(&x, w, &g, ctx);
    case CALL_ADJOINT_TANGENT: return s->lanes->adjoint_tangent(&x, &a, w, &g, ctx);
    default: return s->lanes->adjoint_tangent2(&x, &a, &c, w, &g, ctx);
    }
}

static int compare_results(checking *s, location *at, int back)
{
    static const char *const names[PARTS] = {"g->t", "g->y", "", "g->p", ""};
    const size_t *start = s->q.start;
    at->part = "out";
    if (!back) return compare(s, at, (size_t)s->q.rows, s->wide[OUT], s->one[OUT]);
    for (int k = 0; k < PARTS; k++) {
        at->part = names[k];
        TRY(compare(s, at, start[k + 1] - start[k], s->wide[G] + start[k] * (size_t)s->L, s->one[G] + start[k]));
    }
    return 0;
}

/* one product with these parts of the directions, into these of the gradient */
static int check_call(checking *s, int call, int which, int into)
{
    int back = call >= CALL_ADJOINT;
    location at = {.owner = s->name, .product = NAMES[call]};
    for (size_t k = 0; k < s->most * (size_t)s->L; k++) s->wide[OUT][k] = NAN;
    memcpy(s->wide[G], s->wide[BEFORE], s->most * (size_t)s->L * sizeof(double));
    int code = call_lanes(s, call, which, into);
    for (at.lane = 0; at.lane < s->L; at.lane++) {
        of_lane(s, at.lane, inputs(s), s->wide[X], s->one[X]);
        of_lane(s, at.lane, inputs(s), s->wide[BEFORE], s->one[G]);
        of_lane(s, at.lane, (size_t)s->q.rows, s->wide[W], s->one[W]);
        direction_of_lane(s, at.lane, A, which);
        direction_of_lane(s, at.lane, C, which);
        const product_arguments alone = {s->one[X], s->one[A], s->one[C], s->one[W], ~(unsigned)into};
        int is = defined(s, &at, code, check_product(&s->q, call, &alone, back ? s->one[G] : s->one[OUT]));
        if (is < 0) return is;
        if (!is) TRY(compare_results(s, &at, back));
    }
    s->compared++;
    return 0;
}

/* the sets of parts in turn; 0 after all of them */
static int next_parts(int parts) { return ((parts | ~ALL_PARTS) + 1) & ALL_PARTS; }

static int check_lane_map(checking *s, const char *name, const costate_lane_map *lanes, const costate_map *f, int rows)
{
    const costate_point none = {0};
    s->q = probe_of(s->P, f, rows, &none, 1, 0);
    s->lanes = lanes;
    s->name = name;
    for (int call = 0; call < CALLS; call++) {
        int which = call == CALL_VALUE || call == CALL_ADJOINT ? ALL_PARTS : 1 << PART_T;
        if (!both_have(s, call)) continue;
        for (; which; which = next_parts(which))
            for (int into = call < CALL_ADJOINT ? ALL_PARTS : 1 << PART_T; into; into = next_parts(into))
                TRY(check_call(s, call, which, into));
    }
    return 0;
}

/* ---- Jacobian and linear solver ---- */

static int check_jac(checking *s)
{
    costate_lane_point x = lanes_at(s, X, ALL_PARTS);
    location at = {"problem", "jac", "J", 0};
    if (!s->maps->jac || !s->P->jac) return 0;
    int code = s->maps->jac(&x, s->J, s->P->ctx);
    for (; at.lane < s->L; at.lane++) {
        of_lane(s, at.lane, inputs(s), s->wide[X], s->one[X]);
        costate_point one = check_point(&s->q, s->one[X]);
        int is = defined(s, &at, code, s->P->jac(&one, s->one_J, s->P->ctx));
        if (is < 0) return is;
        if (!is) TRY(compare(s, &at, pattern_entries(s->P->pattern, s->P->n), s->J, s->one_J));
    }
    s->compared++;
    return 0;
}

/* solutions of one right-hand side in a lane, and alone */
static int compare_solutions(checking *s, void *self, int lane, int transpose)
{
    const location at = {s->maps->backend->name, transpose ? "solve, transposed" : "solve", "x", lane};
    size_t n = (size_t)s->P->n;
    draw(s, n * (size_t)s->L, s->wide[OUT]);
    of_lane(s, lane, n, s->wide[OUT], s->one[OUT]);
    s->maps->solve(s->LU, transpose, s->wide[OUT]);
    if (s->maps->backend->solve(self, transpose, 1, s->one[OUT]) != COSTATE_LS_OK) return 0;
    return compare(s, &at, n, s->wide[OUT], s->one[OUT]);
}

static int check_factors_with(checking *s, const layout *lay, double sigma)
{
    size_t L = (size_t)s->L, size = lay->size;
    double *J = s->J;
    costate_lane_point x = lanes_at(s, X, ALL_PARTS);
    if (s->maps->jac(&x, J, s->P->ctx)) return 0;
    double *M = s->LU + (size_t)s->maps->entries * L;
    for (size_t k = 0; k < size * L; k++) M[k] = 0;
    for (size_t k = 0; k < lay->entries; k++)
        for (size_t l = 0; l < L; l++) M[(lay->at ? lay->at[k] : k) * L + l] = 0.0 - J[k * L + l];
    for (int j = 0; j < s->P->n; j++) for (size_t l = 0; l < L; l++) M[lay->diagonal[j] * L + l] += sigma;
    int apart = s->maps->factor(M, s->LU);
    for (int l = 0; l < s->L; l++) {
        void *self = NULL;
        if (apart >> l & 1) continue;
        of_lane(s, l, size, M, s->one_J);
        int status = s->maps->backend->init(&self, s->P->n, &lay->pattern, 0, NULL);
        if (!status) status = s->maps->backend->factor(self, s->one_J);
        for (int transpose = 0; !status && transpose < 2; transpose++)
            status = compare_solutions(s, self, l, transpose);
        if (self) s->maps->backend->free(self);
        if (status == COSTATE_CHECK_FAILED) return status;
    }
    return 0;
}

static int check_factors(checking *s)
{
    layout *lay = NULL;
    if (!s->maps->factor || !s->maps->solve || !s->maps->backend || !s->maps->jac) return 0;
    int status = layout_new(&lay, s->P->n, s->P->pattern, s->maps->backend->dense);
    size_t doubles = status ? 0 : ((size_t)s->maps->entries + lay->size) * (size_t)s->L;
    s->LU = status ? NULL : aligned_new(doubles * sizeof *s->LU);
    if (!s->LU) status = WRONG(s, "no memory for factors.");
    const double SIGMAS[] = {1e-3, 1, 1e6};
    for (size_t k = 0; status == 0 && k < sizeof SIGMAS / sizeof *SIGMAS; k++)
        status = check_factors_with(s, lay, SIGMAS[k]);
    aligned_free(s->LU);
    if (lay) layout_free(lay);
    s->compared += status == 0;
    return status;
}

/* ---- all ---- */

static int check_width(checking *s, const costate_point *x)
{
    static const int drawn[] = {A, C, BEFORE, W};
    const costate_problem *P = s->P;
    spread_points(s, x);
    for (int k = 0; k < 4; k++) draw(s, s->most * (size_t)s->L, s->wide[drawn[k]]);
    if (!s->maps->rhs.value) return WRONG(s, "rhs.value is missing.");
    TRY(check_lane_map(s, "rhs", &s->maps->rhs, &P->rhs, P->n));
    if (P->nq > 0) TRY(check_lane_map(s, "cost", &s->maps->cost, &P->cost, P->nq));
    TRY(check_jac(s));
    return check_factors(s);
}

static int sound(const costate_problem *P, const costate_lane_maps *list, const costate_point *x, costate_report *r)
{
    const char *why = NULL;
    if (!P || !list || !x) why = "problem, lanes or x is NULL.";
    else if (!P->rhs.value || P->n <= 0) why = "The problem has no rhs.value, which lanes are compared with.";
    else if (!x->y || (P->np > 0 && !x->p)) why = "x->y or x->p is NULL.";
    return why ? check_says(r, COSTATE_BAD_ARGUMENT, "%s", why) : 0;
}

static int check_all(checking *s, const costate_lane_maps *list, const costate_point *x)
{
    char done[40] = "", left[40] = "";
    for (; list->lanes > 0; list++) {
        char *to = lane_code_for(list->lanes) ? done : left;
        size_t used = strlen(to);
        snprintf(to + used, sizeof done - used, "%s%d", used ? ", " : "", list->lanes);
        if (to == left) continue;
        s->maps = list;
        s->L = list->lanes;
        TRY(check_width(s, x));
    }
    return check_says(s->report, COSTATE_OK, "%d comparisons with the problem at %s lanes, all with the same bits."
                      "%s%s%s", s->compared, done[0] ? done : "no",
                      left[0] ? "  This processor does not have " : "", left,
                      left[0] ? " lanes: they were not compared." : "");
}

int costate_check_lanes(const costate_problem *P, const costate_lane_maps *list, const costate_point *x,
                        costate_report *report)
{
    costate_report unseen;
    checking s = {.P = P, .report = report ? report : &unseen, .seed = 17};
    cursor at = {0};
    memset(s.report, 0, sizeof *s.report);
    TRY(sound(P, list, x, s.report));
    size_t in = 1 + (size_t)P->n + (size_t)P->np, nq = (size_t)P->nq;
    s.most = in > nq ? in : nq;
    layout_check(&s, &at);
    void *block = aligned_new(at.used * sizeof(double));
    if (!block) return check_no_memory(s.report);
    at = (cursor){block, 0};
    layout_check(&s, &at);
    int status = check_all(&s, list, x);
    aligned_free(block);
    return status;
}
