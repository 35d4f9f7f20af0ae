/* formulas.c - guards, jumps and costs that are sums of terms  factor (a - a0) (b - b0), with all their derivatives.

       tangent          factor (a' (b - b0) + (a - a0) b')
       adjoint          a += w factor (b - b0),  b += w factor (a - a0)
       tangent2         factor (a'_1 b'_2 + a'_2 b'_1)
       adjoint_tangent  a += w factor b',  b += w factor a'
       third            zero */
#include <string.h>
#include "maps/check.h"
#include "pieces/pieces.h"

/* ---- quantities ---- */

static double value_of(const costate_point *x, int kind, int i)
{
    switch (kind) {
    case COSTATE_TIME: return x->t;
    case COSTATE_STATE: return x->y[i];
    case COSTATE_PARAMETER: return x->p[i];
    case COSTATE_MEMORY: return x->m[i];
    default: return 1;
    }
}

/* along a direction, in which NULL means zero */
static double along(const costate_point *dx, int kind, int i)
{
    switch (kind) {
    case COSTATE_TIME: return dx->t;
    case COSTATE_STATE: return dx->y ? dx->y[i] : 0;
    case COSTATE_PARAMETER: return dx->p ? dx->p[i] : 0;
    case COSTATE_MEMORY: return dx->m ? dx->m[i] : 0;
    default: return 0;
    }
}

static void add_to(const costate_gradient *g, int kind, int i, double v)
{
    double *const of[] = {NULL, g->t, g->y, g->p, g->m};
    if (of[kind]) of[kind][kind == COSTATE_TIME ? 0 : i] += v;
}

/* ---- sums of terms ---- */

static void add_values(const costate_terms *f, const costate_point *x, double *out)
{
    for (const costate_term *e = f->term; e < f->term + f->count; e++)
        out[e->row] += e->factor * (value_of(x, e->a, e->i) - e->a0) * (value_of(x, e->b, e->j) - e->b0);
}

static void add_tangents(const costate_terms *f, const costate_point *x, const costate_point *dx, double *out)
{
    for (const costate_term *e = f->term; e < f->term + f->count; e++) {
        double a = value_of(x, e->a, e->i) - e->a0, b = value_of(x, e->b, e->j) - e->b0;
        out[e->row] += e->factor * (along(dx, e->a, e->i) * b + a * along(dx, e->b, e->j));
    }
}

static void add_adjoints(const costate_terms *f, const costate_point *x, const double *w, const costate_gradient *g)
{
    for (const costate_term *e = f->term; e < f->term + f->count; e++) {
        double a = value_of(x, e->a, e->i) - e->a0, b = value_of(x, e->b, e->j) - e->b0, v = w[e->row] * e->factor;
        add_to(g, e->a, e->i, v * b);
        add_to(g, e->b, e->j, v * a);
    }
}

static void add_second(const costate_terms *f, const costate_point *dx1, const costate_point *dx2, double *out)
{
    for (const costate_term *e = f->term; e < f->term + f->count; e++)
        out[e->row] += e->factor * (along(dx1, e->a, e->i) * along(dx2, e->b, e->j) +
                                    along(dx2, e->a, e->i) * along(dx1, e->b, e->j));
}

static void add_adjoint_tangents(const costate_terms *f, const costate_point *dx, const double *w,
                                 const costate_gradient *g)
{
    for (const costate_term *e = f->term; e < f->term + f->count; e++) {
        double v = w[e->row] * e->factor;
        add_to(g, e->a, e->i, v * along(dx, e->b, e->j));
        add_to(g, e->b, e->j, v * along(dx, e->a, e->i));
    }
}

/* ---- the components that a jump keeps ---- */

static int replaced(const costate_terms *f, int row)
{
    for (int k = 0; k < f->count; k++) if (f->term[k].row == row && f->term[k].set) return 1;
    return 0;
}

/* out: of a value or a direction, (y, m) where it is kept, else 0 */
static void keep(const costate_formulas *f, const double *y, const double *m, double *out)
{
    for (int i = 0; i < f->n; i++) out[i] = y ? y[i] : 0;
    for (int i = 0; i < f->nm; i++) out[f->n + i] = m ? m[i] : 0;
    for (int k = 0; k < f->jump.count; k++) if (f->jump.term[k].set) out[f->jump.term[k].row] = 0;
}

static void keep_back(const costate_formulas *f, const double *w, const costate_gradient *g)
{
    for (int i = 0; g->y && i < f->n; i++) if (!replaced(&f->jump, i)) g->y[i] += w[i];
    for (int i = 0; g->m && i < f->nm; i++) if (!replaced(&f->jump, f->n + i)) g->m[i] += w[f->n + i];
}

/* ---- the maps: ROWS, START of a value or tangent and BACK differ between guard, jump and cost ---- */

#define ROWS_guard(f) 1
#define ROWS_jump(f) ((f)->n + (f)->nm)
#define ROWS_cost(f) (f)->nq
#define START_guard(f, y, m, out) out[0] = 0
#define START_jump(f, y, m, out) keep(f, y, m, out)
#define START_cost(f, y, m, out) memset(out, 0, (size_t)(f)->nq * sizeof *out)
#define BACK_guard(f, w, g) (void)0
#define BACK_jump(f, w, g) keep_back(f, w, g)
#define BACK_cost(f, w, g) (void)0

#define MAP(of)                                                                                                   \
    static int of##_value(const costate_point *x, double *out, void *ctx)                                         \
    {                                                                                                             \
        const costate_formulas *f = ctx;                                                                          \
        START_##of(f, x->y, x->m, out);                                                                           \
        return add_values(&f->of, x, out), 0;                                                                     \
    }                                                                                                             \
    static int of##_tangent(const costate_point *x, const costate_point *dx, double *out, void *ctx)              \
    {                                                                                                             \
        const costate_formulas *f = ctx;                                                                          \
        START_##of(f, dx->y, dx->m, out);                                                                         \
        return add_tangents(&f->of, x, dx, out), 0;                                                               \
    }                                                                                                             \
    static int of##_adjoint(const costate_point *x, const double *w, const costate_gradient *g, void *ctx)        \
    {                                                                                                             \
        const costate_formulas *f = ctx;                                                                          \
        BACK_##of(f, w, g);                                                                                       \
        return add_adjoints(&f->of, x, w, g), 0;                                                                  \
    }                                                                                                             \
    static int of##_tangent2(const costate_point *x, const costate_point *dx1, const costate_point *dx2,          \
                             double *out, void *ctx)                                                              \
    {                                                                                                             \
        const costate_formulas *f = ctx;                                                                          \
        (void)x;                                                                                                  \
        memset(out, 0, (size_t)(ROWS_##of(f)) * sizeof *out);                                                     \
        return add_second(&f->of, dx1, dx2, out), 0;                                                              \
    }                                                                                                             \
    static int of##_adjoint_tangent(const costate_point *x, const costate_point *dx, const double *w,             \
                                    const costate_gradient *g, void *ctx)                                         \
    {                                                                                                             \
        const costate_formulas *f = ctx;                                                                          \
        (void)x;                                                                                                  \
        return add_adjoint_tangents(&f->of, dx, w, g), 0;                                                         \
    }                                                                                                             \
    static costate_map of##_map(const costate_terms *f)                                                           \
    {                                                                                                             \
        costate_map none = {0}, all = {.value = of##_value, .tangent = of##_tangent, .adjoint = of##_adjoint,     \
                                       .tangent2 = of##_tangent2, .adjoint_tangent = of##_adjoint_tangent,        \
                                       .adjoint_tangent2 = no_third};                                             \
        return f->count > 0 ? all : none;                                                                         \
    }

static int no_third(const costate_point *x, const costate_point *dx1, const costate_point *dx2, const double *w,
                    const costate_gradient *g, void *ctx)
{
    (void)x, (void)dx1, (void)dx2, (void)w, (void)g, (void)ctx;
    return 0;
}

MAP(guard)
MAP(jump)
MAP(cost)

/* ---- public ---- */

static void take_sizes(costate_formulas *f, const costate_problem *P)
{
    f->n = P->n;
    f->np = P->np;
    f->nq = P->nq;
    f->nm = P->nm;
}

int costate_formulas_event(costate_formulas *f, const costate_problem *P, costate_event *event, costate_report *report)
{
    verdict v = {0};
    if (formulas_given(&v, f, P, 0)) return pieces_said(&v, report);
    if (!event) fail(&v, COSTATE_BAD_ARGUMENT, "event is NULL.");
    if (v.status) return pieces_said(&v, report);
    take_sizes(f, P);
    event->guard = guard_map(&f->guard);
    event->jump = jump_map(&f->jump);
    event->cost = cost_map(&f->cost);
    event->ctx = f;
    return pieces_said(&v, report);
}

int costate_formulas_cost(costate_formulas *f, costate_problem *P, costate_report *report)
{
    verdict v = {0};
    if (formulas_given(&v, f, P, 1)) return pieces_said(&v, report);
    if (P->ctx && P->ctx != f)
        fail(&v, COSTATE_BAD_ARGUMENT, "problem.ctx is not the address of the formulas, which are the ctx of "
             "problem.cost: make them the first member of your struct.");
    if (v.status) return pieces_said(&v, report);
    take_sizes(f, P);
    P->cost = cost_map(&f->cost);
    P->ctx = f;
    return pieces_said(&v, report);
}
