/* accuracy.c - how accurate are a functional, its gradient and its Hessian products: the run again with halved steps
   (mathematics, section 9.3).

       error ~ 2^q/(2^q - 1) (J_halved - J),      better = J_halved + (J_halved - J)/(2^q - 1)

   q is the order of the method; of observations by dense output at most its order plus one; of index 2 that of the
   stages.

   The part of step k in the error of the value is the change of lambda^T (y_halved - y) + tau (t_halved - t) over it,
   which is lambda^T times the local error of the step to first order. */
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/stats.h"
#include "estimates/accuracy.h"
#include "estimates/finer.h"
#include "estimates/functional.h"
#include "estimates/look.h"
#include "ops/list.h"
#include "run/remake.h"
#include "solver/options.h"

/* Estimates are right within a factor of 3, mostly.  What short steps change by more is an error that they miss. */
static const double FARTHER = 10;

typedef struct {
    costate *c, *finer;
    const costate_tape *tape;
    costate_tape *onto;
    const costate_functional *F;
    costate_estimate *e;
    outcome run, halved;
    unsigned wanted;
    allowed allowed;
    judgement *found;
    double *block, *now;        /* now: m: lambda^T (y_halved - y) behind the step */
    double *work, *ones;        /* of N or np, whichever is more */
    int seen;                   /* observations before the step */
    int *first;                 /* steps of the tape: the number of the halved step that begins there; NULL: not
                                   needed */
    reader who;                 /* reads the tape with halved steps */
} comparison;

/* ---- what is asked for ---- */

static unsigned wants(const costate_derivatives *d)
{
    unsigned times = d->t0 || d->t1 || d->events ? OF_TIMES : 0;
    return times | (d->p ? OF_P : 0) | (d->y0 ? OF_Y0 : 0);
}

static unsigned wants_products(const costate_product_estimate *e)
{
    const costate_products *d = &e->run, *error = &e->error, *better = &e->better;
    return (d->y0 || error->y0 || better->y0 || e->y0_error ? PRODUCT_Y0 : 0) |
           (d->p || error->p || better->p || e->p_error ? PRODUCT_P : 0);
}

unsigned estimate_wants(const costate_estimate *e)
{
    unsigned w = wants(&e->run) | wants(&e->error) | wants(&e->better);
    if (e->y0_error) w |= OF_Y0;
    if (e->p_error) w |= OF_P;
    return (w || e->steps ? w | GRADIENT : 0) | wants_products(&e->products);
}

static int prepare(comparison *x)
{
    size_t m = (size_t)x->F->m, N = (size_t)x->c->st.N, np = (size_t)x->c->st.np, steps = (size_t)x->tape->count;
    const size_t longest = (N > np ? N : np) + 1;
    x->wanted = estimate_wants(x->e);
    for (;;) {
        cursor at = {x->block, 0};
        outcome_layout(x->c, x->F, x->tape, x->wanted, &at, &x->run);
        outcome_layout(x->c, x->F, x->tape, x->wanted, &at, &x->halved);
        x->now = take(&at, m);
        TAKE(&at, longest, &x->work, &x->ones);
        if (x->block) break;
        if (!(x->block = calloc(at.used + 1, sizeof *x->block)))
            return fail(&x->c->v, COSTATE_NO_MEMORY, "No memory for two gradients (%zu doubles).", at.used);
    }
    for (size_t i = 0; i < longest; i++) x->ones[i] = 1;
    if (x->e->steps && !(x->first = calloc(steps + 1, sizeof *x->first)))
        return fail(&x->c->v, COSTATE_NO_MEMORY, "No memory for %zu numbers of steps.", steps);
    if (!(x->onto = costate_tape_new())) return fail(&x->c->v, COSTATE_NO_MEMORY, "No memory for a tape.");
    return 0;
}

static void release(comparison *x)
{
    costate_tape_free(x->onto);
    solver_free(x->finer);
    free(x->block);
    free(x->first);
}

/* Do the halved steps end at the times of observation? Where dense output has the larger error, this depends on where
   in a step a time lies, so that two dense outputs say little; but each time costs a step. Not where M is singular: at
   the ends of steps algebraic unknowns have errors of their own, what is left in the constraints. */
static int at_steps(const comparison *x)
{
    int ends_differ = x->c->st.sh->singular && !x->c->maps.residual;
    return x->F->count <= x->tape->count && !ends_differ;
}

/* ---- parts of steps ---- */

/* lambda^T (y_halved - y) + tau (t_halved - t) before step k, for each functional */
static int distance(comparison *x, int k, const sweep_state *w)
{
    const costate_tape *onto = x->onto;
    size_t N = (size_t)x->c->st.N;
    int j = x->first[k], ended = j >= onto->count;
    record halved = {.y = onto->end, .t = onto->from.t1};
    if (!ended) TRY(tape_get(onto, j, &x->who, 0, &halved));
    double dt = halved.t - w->now.t;
    for (int i = 0; i < x->F->m; i++) {
        const double *lambda = w->g.lambda + (size_t)i * N;
        double sum = dt != 0 ? w->tau[i] * dt : 0;
        for (size_t l = 0; l < N; l++) sum += lambda[l] * (halved.y[l] - w->now.y[l]);
        x->now[i] = sum;
    }
    return 0;
}

/* after step k on the way back */
static int part_of_step(void *ctx, sweep_state *w, op o)
{
    comparison *x = ctx;
    size_t m = (size_t)x->F->m, count = (size_t)x->tape->count, k = (size_t)o.step;
    double *part = x->e->steps + k;
    int end = k + 1 == count;
    for (size_t i = 0; i < m; i++) part[i * count] = end ? x->halved.last[i] - x->run.last[i] : x->now[i];
    for (; x->seen > 0 && lies_in(x->tape, o.step, x->F->t[x->seen - 1]); x->seen--)
        for (size_t i = 0, at = (size_t)(x->seen - 1) * m; i < m; i++)
            part[i * count] += x->halved.terms[at + i] - x->run.terms[at + i];
    TRY(decided(&x->c->v, distance(x, o.step, w), "the run with halved steps"));
    for (size_t i = 0; i < m; i++) part[i * count] -= x->now[i];
    return 0;
}

/* ---- estimates ---- */

/* the order with which errors by this method vanish */
static int order_of(const comparison *x, const costate_method *m)
{
    int q = m->order;
    if (x->F->count > 0 && !at_steps(x) && m->dense.order + 1 < q) q = m->dense.order + 1;
    return x->c->maps.index && m->s < q ? m->s : q;
}

/* 2^q, q of the member with the least order that took a step */
static double reduction(const comparison *x)
{
    const stepper *st = &x->c->st;
    unsigned on = x->tape->count > 0 ? tape_members(x->tape) : 1;
    int least = INT_MAX;
    for (int k = 0; k < members_count(st); k++) {
        int q = order_of(x, st->members[k].m);
        if ((on >> k & 1) && q < least) least = q;
    }
    return ldexp(1, least);
}

typedef struct { double *run, *error, *better; const double *of_run, *of_halved; size_t count; } entry;

static void fill(const entry *e, double r)
{
    for (size_t i = 0; i < e->count; i++) {
        double by = e->of_halved[i] - e->of_run[i];
        if (e->run) e->run[i] = e->of_run[i];
        if (e->error) e->error[i] = by * (r / (r - 1));
        if (e->better) e->better[i] = e->of_halved[i] + by / (r - 1);
    }
}

/* The 2-norms of `rows` values and of their estimated errors.  spread: each process has a part of them. */
static int sizes(comparison *x, int spread, size_t rows, const double *run, const double *halved, double *size,
                 double *error)
{
    const space one = {NULL, NULL, &x->c->v}, *all = spread ? &x->c->maps.space : &one;
    double r = reduction(x);
    *size = *error = 0;
    if (rows == 0 && !(spread && all->sum)) return 0;
    for (size_t i = 0; i < rows; i++) x->work[i] = (halved[i] - run[i]) * (r / (r - 1));
    double count = (double)rows;
    TRY(space_total(all, 1, &count));
    TRY(space_norm(all, rows, x->ones, run, size));
    TRY(space_norm(all, rows, x->ones, x->work, error));
    *size *= sqrt(count);
    *error *= sqrt(count);
    return 0;
}

/* A value, gradient or Hessian product, the error that is allowed in any case, and where its relative error goes. */
typedef struct { int spread; size_t rows; const double *run, *halved; double least, *relative; } item;

static int judge(comparison *x, size_t j, enum item_kind kind, const item *g)
{
    double size, error;
    TRY(sizes(x, g->spread, g->rows, g->run, g->halved, &size, &error));
    if (g->relative) *g->relative = error > 0 ? error / size : 0;
    double units = error > 0 ? error / (x->allowed.tol * size + g->least) : 0, before = x->found->worst[kind];
    x->found->worst[kind] = larger(before, units);
    if (x->found->worst[kind] != before) x->found->number[kind] = (int)j;
    return 0;
}

static double *of(double *list, size_t j) { return list ? list + j : NULL; }

static int judge_functional(comparison *x, size_t j)
{
    const costate_estimate *e = x->e;
    const outcome *a = &x->run, *b = &x->halved;
    size_t N = (size_t)x->c->st.N, np = (size_t)x->c->st.np;
    double least = x->allowed.gradient_atol, of_run[] = {a->t0[j], a->t1[j]}, of_halved[] = {b->t0[j], b->t1[j]};
    const item value = {0, 1, a->value + j, b->value + j, x->allowed.value_atol, of(e->value_error, j)};
    const item y0 = {1, N, a->lambda + j * N, b->lambda + j * N, least, of(e->y0_error, j)};
    const item p = {0, np, a->mu + j * np, b->mu + j * np, least, of(e->p_error, j)};
    const item times = {0, 2, of_run, of_halved, least, NULL};
    TRY(judge(x, j, ITEM_VALUE, &value));
    if (x->wanted & OF_Y0) TRY(judge(x, j, ITEM_Y0, &y0));
    if (x->wanted & OF_P) TRY(judge(x, j, ITEM_P, &p));
    return x->wanted & OF_TIMES ? judge(x, j, ITEM_TIMES, &times) : 0;
}

/* along direction j */
static int judge_products(comparison *x, size_t j)
{
    const costate_product_estimate *e = &x->e->products;
    const outcome *a = &x->run, *b = &x->halved;
    size_t N = (size_t)x->c->st.N, np = (size_t)x->c->st.np;
    double least = x->allowed.product_atol;
    const item y0 = {1, N, a->lambda2 + j * N, b->lambda2 + j * N, least, of(e->y0_error, j)};
    const item p = {0, np, a->mu2 + j * np, b->mu2 + j * np, least, of(e->p_error, j)};
    if (x->wanted & PRODUCT_Y0) TRY(judge(x, j, ITEM_Y0_PRODUCT, &y0));
    return x->wanted & PRODUCT_P ? judge(x, j, ITEM_P_PRODUCT, &p) : 0;
}

/* The gradient with respect to q at t0 is that with respect to q at t1, on each process: not in norms. */
static void forget_costs(const comparison *x, size_t m, double *lambda)
{
    const stepper *c = &x->c->st;
    for (size_t j = 0; j < m; j++)
        for (int i = c->n; i < c->n + c->nq; i++) lambda[j * (size_t)c->N + (size_t)i] = 0;
}

/* What each process has of a gradient or of products becomes what they are of all. */
static int gather(const comparison *x, size_t m, double *lambda, double *mu)
{
    forget_costs(x, m, lambda);
    return space_total(&x->c->maps.space, x->c->st.np * (int)m, mu);
}

static void fill_all(const comparison *x, size_t along)
{
    const costate_estimate *e = x->e;
    const costate_product_estimate *e2 = &e->products;
    const outcome *a = &x->run, *b = &x->halved;
    size_t m = (size_t)x->F->m, N = (size_t)x->c->st.N, np = (size_t)x->c->st.np;
    double r = reduction(x);
#define ENTRY(name, member, count) {e->run.name, e->error.name, e->better.name, a->member, b->member, count}
    const entry entries[] = {ENTRY(value, value, m), ENTRY(y0, lambda, N * m), ENTRY(p, mu, np * m), ENTRY(t0, t0, m),
                             ENTRY(t1, t1, m), ENTRY(events, events, (size_t)x->tape->maps.events * m)};
#undef ENTRY
    const entry products[] = {{e2->run.y0, e2->error.y0, e2->better.y0, a->lambda2, b->lambda2, N * along},
                              {e2->run.p, e2->error.p, e2->better.p, a->mu2, b->mu2, np * along}};
    for (size_t k = 0; k < sizeof entries / sizeof *entries; k++) fill(&entries[k], r);
    for (size_t k = 0; k < sizeof products / sizeof *products; k++) fill(&products[k], r);
    for (size_t k = 0; e->steps && k < m * (size_t)x->tape->count; k++) e->steps[k] *= r / (r - 1);
}

static int report(comparison *x)
{
    const outcome *a = &x->run, *b = &x->halved;
    size_t m = (size_t)x->F->m, along = x->wanted & PRODUCTS ? (size_t)x->F->second->m : 0;
    fill_all(x, along);
    if (x->e->steps) TRY(space_total(&x->c->maps.space, (int)m * x->tape->count, x->e->steps));
    x->e->steps_refined = x->onto->count;
    TRY(gather(x, m, a->lambda, a->mu));
    TRY(gather(x, m, b->lambda, b->mu));
    TRY(gather(x, along, a->lambda2, a->mu2));
    TRY(gather(x, along, b->lambda2, b->mu2));
    for (size_t j = 0; j < m; j++) TRY(judge_functional(x, j));
    for (size_t j = 0; j < along; j++) TRY(judge_products(x, j));
    return 0;
}

/* The user's preconditioner was set up by the other solver: it must be set up again. */
static void another_came(costate *c)
{
    forget(c);
    if (c->o.preconditioner) factors_reset(c->st.fac);
}

static int estimate(comparison *x)
{
    costate *c = x->c;
    TRY(prepare(x));
    TRY(finer_run(c, x->tape, at_steps(x) ? x->F->count : 0, x->F->t, x->first, x->onto, &x->finer));
    int status = functional_sweep(x->finer, x->onto, x->F, x->wanted, &x->halved, NULL);
    if (status) return fail(&c->v, status, "%s", x->finer->v.text);
    x->seen = x->F->count;
    if (x->first) {
        TRY(tape_take(&x->finer->st, x->finer->self, x->onto));
        x->who = reader_of(x->finer, 1);
    }
    another_came(c);
    status = functional_sweep(c, x->tape, x->F, x->wanted, &x->run, x->first ? &(visit){part_of_step, x} : NULL);
    if (x->first) tape_leave(x->onto);
    return status ? status : report(x);
}

int estimate_errors(costate *c, const costate_tape *tape, const costate_functional *F, costate_estimate *e,
                    const allowed *within, judgement *found)
{
    comparison x = {.c = c, .tape = tape, .F = F, .e = e, .allowed = *within, .found = found};
    *found = (judgement){.worst = {0}};
    double ended = c->v.t;
    int status = estimate(&x);
    if (x.finer) stats_add(&c->count, &x.finer->count);
    release(&x);
    another_came(c);                    /* also after a failure */
    if (status == 0) verdict_at(&c->v, ended);
    return status;
}

int solver_accuracy(costate *c, const costate_tape *tape, const costate_functional *F, costate_estimate *e)
{
    judgement found;
    TRY(begin(c));
    TRY(tape_serves(&c->st, &c->P, tape, 1));
    TRY(functional_sound(c, F, e ? estimate_wants(e) : 0));
    if (!e) return fail(&c->v, COSTATE_BAD_ARGUMENT, "The estimate, where results go, is NULL.");
    size_t m = (size_t)F->m;
    double *own = calloc(2 * m, sizeof *own);
    if (!own) return fail(&c->v, COSTATE_NO_MEMORY, "No memory for %zu values.", 2 * m);
    costate_estimate all = *e;
    if (!all.run.value) all.run.value = own;
    if (!all.error.value) all.error.value = own + m;
    int status = estimate_errors(c, tape, F, &all, &(allowed){.tol = 1}, &found);
    e->steps_refined = all.steps_refined;
    const allowed rtol = {.tol = options_rtol(&c->o, c->st.n)};
    if (!status) status = look(c, tape, F, &(looked_at){all.run.value, all.error.value, rtol, FARTHER});
    free(own);
    return status;
}
