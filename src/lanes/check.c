/* check.c (lanes) - compares maps of several members side by side with the callbacks of a problem, bit by bit.

   Each lane is at a point of its own near the given one.  Every product is called with every set of directions and
   gradients that may be NULL or not. */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include "base/arena.h"
#include "base/pattern.h"
#include "base/random.h"
#include "lanes/aligned.h"
#include "lanes/setup.h"
#include <costate/ensemble.h>

enum { T_PART = 1, Y_PART = 2, P_PART = 4, ALL_PARTS = 7 };

typedef struct { double *t, *y, *p; } parts;            /* 1, n, np; by L, or of one lane */

typedef struct {
    const costate_problem *P;
    const costate_lane_maps *maps;
    costate_report *report;
    int L, n, np, most;                 /* most: numbers of the largest result */
    unsigned seed;
    parts x, d, e, g, was;              /* by L: points, directions, gradients, what these held before */
    parts one_x, one_d, one_e, one_g;
    double *w, *out;                    /* most by L */
    double *one_w, *one_out;
    double *A, *LU, *one_A;             /* of the linear solver */
    int compared;
} checking;

/* ---- points, directions, weights ---- */

static parts take_parts(const checking *q, cursor *at, size_t L)
{
    return (parts){take(at, (L + 7) / 8 * 8), take(at, ((size_t)q->n * L + 7) / 8 * 8),
                   take(at, ((size_t)q->np * L + 7) / 8 * 8)};
}

static void layout_check(checking *q, cursor *at)
{
    size_t L = LANES_MOST, entries = pattern_entries(q->P->pattern, q->n) + (size_t)q->n, most = (size_t)q->most;
    parts *const wide[] = {&q->x, &q->d, &q->e, &q->g, &q->was}, *const single[] = {&q->one_x, &q->one_d, &q->one_e,
                                                                                     &q->one_g};
    for (size_t k = 0; k < sizeof wide / sizeof *wide; k++) *wide[k] = take_parts(q, at, L);
    for (size_t k = 0; k < sizeof single / sizeof *single; k++) *single[k] = take_parts(q, at, 1);
    q->w = take(at, most * L);
    q->out = take(at, most * L);
    q->one_w = take(at, most);
    q->one_out = take(at, most);
    q->A = take(at, entries * L);
    q->one_A = take(at, entries);
}

static void draw(checking *q, size_t count, double *x)
{
    for (size_t k = 0; k < count; k++) x[k] = random_number(&q->seed);
}

static void draw_parts(checking *q, parts *x)
{
    size_t L = (size_t)q->L;
    draw(q, L, x->t);
    draw(q, (size_t)q->n * L, x->y);
    draw(q, (size_t)q->np * L, x->p);
}

/* near x: each number changed by up to 5 %, so that signs stay */
static void spread_points(checking *q, const costate_point *x)
{
    const double PART = 0.05;
    for (int l = 0; l < q->L; l++) {
        q->x.t[l] = x->t + PART * (1 + fabs(x->t)) * fabs(random_number(&q->seed));
        for (int i = 0; i < q->n; i++) q->x.y[i * q->L + l] = x->y[i] * (1 + PART * random_number(&q->seed));
        for (int i = 0; i < q->np; i++) q->x.p[i * q->L + l] = x->p[i] * (1 + PART * random_number(&q->seed));
    }
}

static void of_lane(const checking *q, int l, int count, const double *all, double *one)
{
    for (int i = 0; i < count; i++) one[i] = all[i * q->L + l];
}

static void parts_of_lane(const checking *q, int l, const parts *all, parts *one)
{
    one->t[0] = all->t[l];
    of_lane(q, l, q->n, all->y, one->y);
    of_lane(q, l, q->np, all->p, one->p);
}

static costate_lane_point lanes_at(const parts *x, int which)
{
    return (costate_lane_point){which & T_PART ? x->t : NULL, which & Y_PART ? x->y : NULL,
                                which & P_PART ? x->p : NULL};
}

static costate_point alone_at(const parts *x, int which)
{
    return (costate_point){.t = which & T_PART ? x->t[0] : 0, .y = which & Y_PART ? x->y : NULL,
                           .p = which & P_PART ? x->p : NULL};
}

/* ---- what differs ---- */

static int alike(double a, double b) { return memcmp(&a, &b, sizeof a) == 0 || (a != a && b != b); }

static int wrong(checking *q, const char *format, ...)
#ifdef __GNUC__
    __attribute__((format(printf, 2, 3)))
#endif
    ;

static int wrong(checking *q, const char *format, ...)
{
    va_list list;
    int used = snprintf(q->report->text, sizeof q->report->text, "%d lanes: ", q->L);
    va_start(list, format);
    vsnprintf(q->report->text + used, sizeof q->report->text - (size_t)used, format, list);
    va_end(list);
    return COSTATE_CHECK_FAILED;
}

static int differs(checking *q, const char *owner, const char *product, const char *part, int l, int i, double is,
                   double should)
{
    double gap = fabs(is - should) / fmax(fabs(should), fabs(is));
    return wrong(q, "%s.%s, lane %d: %s[%d] is %.17g, but %.17g of the problem (relative difference %.1e).%s", owner,
                 product, l, part, i, is, should, gap, gap < 1e-9 ? "  Are both compiled with -ffp-contract=off, and "
                 "are sums in the same order?" : "");
}

static int compare(checking *q, const char *owner, const char *product, const char *part, int l, int count,
                   const double *all, const double *one)
{
    for (int i = 0; i < count; i++)
        if (!alike(all[i * q->L + l], one[i]))
            return differs(q, owner, product, part, l, i, all[i * q->L + l], one[i]);
    return 0;
}

/* Do the lane and the problem agree on whether the map is defined?  > 0: it is not. */
static int defined(checking *q, const char *owner, const char *product, int l, int code, int alone)
{
    if (code < 0) return wrong(q, "%s.%s returned %d.", owner, product, code);
    if (alone < 0) return wrong(q, "%s.%s of the problem returned %d.", owner, product, alone);
    if ((code >> l & 1) == (alone > 0)) return alone > 0;
    return wrong(q, "%s.%s, lane %d: the map is %s there, but %s by the problem (it returned %d).", owner, product, l,
                 alone > 0 ? "defined" : "not defined", alone > 0 ? "not" : "it is", alone);
}

/* ---- products ---- */

typedef struct {                /* a map of the lanes and of the problem */
    const char *name;
    int rows;
    const costate_lane_map *lanes;
    const costate_map *alone;
} pair;

static const char *const FORWARD_NAMES[] = {"value", "tangent", "tangent2"};
static const char *const BACKWARD_NAMES[] = {"adjoint", "adjoint_tangent", "adjoint_tangent2"};

static int has_forward(const costate_lane_map *a, const costate_map *b, int order)
{
    if (order == 0) return a->value && b->value;
    return order == 1 ? a->tangent && (b->tangent || b->tangents) : a->tangent2 && b->tangent2;
}

static int has_backward(const costate_lane_map *a, const costate_map *b, int order)
{
    if (order == 0) return a->adjoint && (b->adjoint || b->adjoints);
    return order == 1 ? a->adjoint_tangent && b->adjoint_tangent : a->adjoint_tangent2 && b->adjoint_tangent2;
}

static int prepared(const costate_map *f, const costate_point *x, void *ctx)
{
    return f->prepare ? f->prepare(x, ctx) : 0;
}

static int forward_alone(const checking *q, const costate_map *f, int order, const costate_point *x,
                         const costate_point *d, const costate_point *e, double *out)
{
    void *ctx = q->P->ctx;
    if (order == 0) return f->value(x, out, ctx);
    TRY(prepared(f, x, ctx));
    if (order == 2) return f->tangent2(x, d, e, out, ctx);
    return f->tangent ? f->tangent(x, d, out, ctx) : f->tangents(x, 1, d, out, ctx);
}

static int backward_alone(const checking *q, const costate_map *f, int order, const costate_point *x,
                          const costate_point *d, const costate_point *e, const double *w, const costate_gradient *g)
{
    void *ctx = q->P->ctx;
    TRY(prepared(f, x, ctx));
    if (order == 1) return f->adjoint_tangent(x, d, w, g, ctx);
    if (order == 2) return f->adjoint_tangent2(x, d, e, w, g, ctx);
    return f->adjoint ? f->adjoint(x, w, g, ctx) : f->adjoints(x, 1, w, g, ctx);
}

/* value, tangent, tangent2 with these parts of the directions */
static int check_forward(checking *q, const pair *f, int order, int which)
{
    const char *name = FORWARD_NAMES[order];
    costate_lane_point x = lanes_at(&q->x, ALL_PARTS), d = lanes_at(&q->d, which), e = lanes_at(&q->e, which);
    void *ctx = q->P->ctx;
    for (int k = 0; k < f->rows * q->L; k++) q->out[k] = NAN;
    int code = order == 0 ? f->lanes->value(&x, q->out, ctx) : order == 1 ? f->lanes->tangent(&x, &d, q->out, ctx) :
               f->lanes->tangent2(&x, &d, &e, q->out, ctx);
    for (int l = 0; l < q->L; l++) {
        parts_of_lane(q, l, &q->x, &q->one_x);
        parts_of_lane(q, l, &q->d, &q->one_d);
        parts_of_lane(q, l, &q->e, &q->one_e);
        costate_point one = alone_at(&q->one_x, ALL_PARTS);
        costate_point a = alone_at(&q->one_d, which), b = alone_at(&q->one_e, which);
        int is = defined(q, f->name, name, l, code, forward_alone(q, f->alone, order, &one, &a, &b, q->one_out));
        if (is < 0) return is;
        if (!is) TRY(compare(q, f->name, name, "out", l, f->rows, q->out, q->one_out));
    }
    q->compared++;
    return 0;
}

/* adjoint, adjoint_tangent, adjoint_tangent2 with these parts of the directions, into these of the gradient */
static int check_backward(checking *q, const pair *f, int order, int which, int into)
{
    const char *name = BACKWARD_NAMES[order];
    costate_lane_point x = lanes_at(&q->x, ALL_PARTS), d = lanes_at(&q->d, which), e = lanes_at(&q->e, which);
    costate_lane_gradient g = {into & T_PART ? q->g.t : NULL, into & Y_PART ? q->g.y : NULL,
                               into & P_PART ? q->g.p : NULL};
    void *ctx = q->P->ctx;
    memcpy(q->g.t, q->was.t, (size_t)q->L * sizeof *q->g.t);
    memcpy(q->g.y, q->was.y, (size_t)(q->n * q->L) * sizeof *q->g.y);
    if (q->np) memcpy(q->g.p, q->was.p, (size_t)(q->np * q->L) * sizeof *q->g.p);
    int code = order == 0 ? f->lanes->adjoint(&x, q->w, &g, ctx) :
               order == 1 ? f->lanes->adjoint_tangent(&x, &d, q->w, &g, ctx) :
               f->lanes->adjoint_tangent2(&x, &d, &e, q->w, &g, ctx);
    for (int l = 0; l < q->L; l++) {
        parts_of_lane(q, l, &q->x, &q->one_x);
        parts_of_lane(q, l, &q->d, &q->one_d);
        parts_of_lane(q, l, &q->e, &q->one_e);
        parts_of_lane(q, l, &q->was, &q->one_g);
        of_lane(q, l, f->rows, q->w, q->one_w);
        costate_point one = alone_at(&q->one_x, ALL_PARTS);
        costate_point a = alone_at(&q->one_d, which), b = alone_at(&q->one_e, which);
        costate_gradient to = {.t = into & T_PART ? q->one_g.t : NULL, .y = into & Y_PART ? q->one_g.y : NULL,
                               .p = into & P_PART ? q->one_g.p : NULL};
        int is = defined(q, f->name, name, l, code, backward_alone(q, f->alone, order, &one, &a, &b, q->one_w, &to));
        if (is < 0) return is;
        if (is) continue;
        TRY(compare(q, f->name, name, "g->t", l, 1, q->g.t, q->one_g.t));
        TRY(compare(q, f->name, name, "g->y", l, q->n, q->g.y, q->one_g.y));
        TRY(compare(q, f->name, name, "g->p", l, q->np, q->g.p, q->one_g.p));
    }
    q->compared++;
    return 0;
}

static int check_map(checking *q, const pair *f)
{
    for (int order = 0; order <= 2; order++) {
        int last = order == 0 ? 1 : ALL_PARTS;
        for (int which = 1; which <= last; which++) {
            if (has_forward(f->lanes, f->alone, order)) TRY(check_forward(q, f, order, which));
            for (int into = 1; into <= ALL_PARTS; into++)
                if (has_backward(f->lanes, f->alone, order)) TRY(check_backward(q, f, order, which, into));
        }
    }
    return 0;
}

/* ---- Jacobian and linear solver ---- */

static int check_jac(checking *q)
{
    costate_lane_point x = lanes_at(&q->x, ALL_PARTS);
    int entries = (int)pattern_entries(q->P->pattern, q->n);
    if (!q->maps->jac || !q->P->jac) return 0;
    int code = q->maps->jac(&x, q->A, q->P->ctx);
    for (int l = 0; l < q->L; l++) {
        parts_of_lane(q, l, &q->x, &q->one_x);
        costate_point one = alone_at(&q->one_x, ALL_PARTS);
        int is = defined(q, "problem", "jac", l, code, q->P->jac(&one, q->one_A, q->P->ctx));
        if (is < 0) return is;
        if (!is) TRY(compare(q, "problem", "jac", "J", l, entries, q->A, q->one_A));
    }
    q->compared++;
    return 0;
}

/* solutions of one right-hand side in lane l, and alone */
static int compare_solutions(checking *q, void *self, int l, int transpose)
{
    draw(q, (size_t)(q->n * q->L), q->out);
    of_lane(q, l, q->n, q->out, q->one_out);
    q->maps->solve(q->LU, transpose, q->out);
    if (q->maps->backend->solve(self, transpose, 1, q->one_out) != COSTATE_LS_OK) return 0;
    return compare(q, q->maps->backend->name, transpose ? "solve, transposed" : "solve", "x", l, q->n, q->out,
                   q->one_out);
}

static int check_factors_with(checking *q, const layout *lay, double sigma)
{
    size_t L = (size_t)q->L, size = lay->size;
    double *J = q->A;
    costate_lane_point x = lanes_at(&q->x, ALL_PARTS);
    if (q->maps->jac(&x, J, q->P->ctx)) return 0;
    double *A = q->LU + (size_t)q->maps->entries * L;
    for (size_t k = 0; k < size * L; k++) A[k] = 0;
    for (size_t k = 0; k < lay->entries; k++)
        for (size_t l = 0; l < L; l++) A[(lay->at ? lay->at[k] : k) * L + l] = 0.0 - J[k * L + l];
    for (int j = 0; j < q->n; j++) for (size_t l = 0; l < L; l++) A[lay->diagonal[j] * L + l] += sigma;
    int apart = q->maps->factor(A, q->LU);
    for (int l = 0; l < q->L; l++) {
        void *self = NULL;
        if (apart >> l & 1) continue;
        of_lane(q, l, (int)size, A, q->one_A);
        int status = q->maps->backend->init(&self, q->n, &lay->pattern, 0, NULL);
        if (!status) status = q->maps->backend->factor(self, q->one_A);
        for (int transpose = 0; !status && transpose < 2; transpose++)
            status = compare_solutions(q, self, l, transpose);
        if (self) q->maps->backend->free(self);
        if (status == COSTATE_CHECK_FAILED) return status;
    }
    return 0;
}

static int check_factors(checking *q)
{
    layout *lay = NULL;
    if (!q->maps->factor || !q->maps->solve || !q->maps->backend || !q->maps->jac) return 0;
    int status = layout_new(&lay, q->n, q->P->pattern, q->maps->backend->dense);
    size_t doubles = status ? 0 : ((size_t)q->maps->entries + lay->size) * (size_t)q->L;
    q->LU = status ? NULL : aligned_new(doubles * sizeof *q->LU);
    if (!q->LU) status = wrong(q, "no memory for factors.");
    const double SIGMAS[] = {1e-3, 1, 1e6};
    for (size_t k = 0; status == 0 && k < sizeof SIGMAS / sizeof *SIGMAS; k++)
        status = check_factors_with(q, lay, SIGMAS[k]);
    aligned_free(q->LU);
    if (lay) layout_free(lay);
    q->compared += status == 0;
    return status;
}

/* ---- all ---- */

static int check_width(checking *q, const costate_point *x)
{
    const costate_problem *P = q->P;
    const pair rhs = {"rhs", P->n, &q->maps->rhs, &P->rhs}, cost = {"cost", P->nq, &q->maps->cost, &P->cost};
    spread_points(q, x);
    draw_parts(q, &q->d);
    draw_parts(q, &q->e);
    draw_parts(q, &q->was);
    draw(q, (size_t)(q->most * q->L), q->w);
    if (!q->maps->rhs.value) return wrong(q, "rhs.value is missing.");
    TRY(check_map(q, &rhs));
    if (P->nq > 0) TRY(check_map(q, &cost));
    TRY(check_jac(q));
    return check_factors(q);
}

static int sound(const costate_problem *P, const costate_lane_maps *list, const costate_point *x, costate_report *r)
{
    const char *why = NULL;
    if (!P || !list || !x) why = "problem, lanes or x is NULL.";
    else if (!P->rhs.value || P->n <= 0) why = "The problem has no rhs.value, which lanes are compared with.";
    else if (!x->y || (P->np > 0 && !x->p)) why = "x->y or x->p is NULL.";
    if (why) snprintf(r->text, sizeof r->text, "%s", why);
    return why ? COSTATE_BAD_ARGUMENT : 0;
}

static int check_all(checking *q, const costate_lane_maps *list, const costate_point *x)
{
    char done[40] = "", left[40] = "";
    for (; list->lanes > 0; list++) {
        char *to = lane_code_for(list->lanes) ? done : left;
        size_t used = strlen(to);
        snprintf(to + used, sizeof done - used, "%s%d", used ? ", " : "", list->lanes);
        if (to == left) continue;
        q->maps = list;
        q->L = list->lanes;
        TRY(check_width(q, x));
    }
    snprintf(q->report->text, sizeof q->report->text, "%d comparisons with the problem at %s lanes, all with the same "
             "bits.%s%s%s", q->compared, done[0] ? done : "no", left[0] ? "  This processor does not have " : "", left,
             left[0] ? " lanes: they were not compared." : "");
    return COSTATE_OK;
}

int costate_check_lanes(const costate_problem *P, const costate_lane_maps *list, const costate_point *x,
                        costate_report *report)
{
    costate_report unseen;
    checking q = {.P = P, .report = report ? report : &unseen, .seed = 17};
    cursor at = {0};
    memset(q.report, 0, sizeof *q.report);
    TRY(sound(P, list, x, q.report));
    q.n = P->n;
    q.np = P->np;
    q.most = P->n > P->nq ? P->n : P->nq;
    layout_check(&q, &at);
    void *block = aligned_new(at.used * sizeof(double));
    if (!block) {
        snprintf(q.report->text, sizeof q.report->text, "No memory for the check.");
        return COSTATE_NO_MEMORY;
    }
    at = (cursor){block, 0};
    layout_check(&q, &at);
    int status = check_all(&q, list, x);
    aligned_free(block);
    return status;
}
