/* unmet.c - says which value, gradient or Hessian product has an error that is too large, and whether it is round-off:
   then no error is small relative to it. */
#include <math.h>
#include <stdio.h>
#include "base/vec.h"
#include "estimates/unmet.h"

static const double ROUND_OFF = 1e-12;          /* a change along all of y0 or p, or the value, in units of the
                                                   largest of these */

typedef struct { double raw, change; } size;    /* of a gradient g with respect to x: |g|, and |g_i x_i|; of products
                                                   H v: |H v|, and |(H v)_i x_i| over that of the change v of x */

static int size_of(const costate *c, size_t n, const double *g, const double *x, int spread, size *s)
{
    double all[3] = {0, 0, 0};
    for (size_t i = 0; g && i < n; i++) {
        all[0] += g[i] * g[i];
        all[1] += pow(g[i] * x[i], 2);
        all[2] += x[i] != 0;
    }
    if (spread) TRY(space_total(&c->maps.space, 3, all));
    *s = (size){sqrt(all[0]), all[2] > 0 ? sqrt(all[1]) : HUGE_VAL};    /* x = 0 says nothing about g */
    return 0;
}

/* |v_i / x_i|, whose squares are added to *sum: by which part a direction changes all of x.  Inf: says nothing. */
static int part_of(const costate *c, size_t n, const double *v, const double *x, int spread, double *sum)
{
    double all = 0;
    for (size_t i = 0; v && i < n; i++) if (v[i] != 0) all += pow(v[i] / x[i], 2);
    if (spread) TRY(space_total(&c->maps.space, 1, &all));
    *sum += all;
    return 0;
}

static int size_of_product(const costate *c, const errors_of_goal *x, enum item_kind kind, size_t j, size *s)
{
    const costate_second *second = x->second;
    const costate_products *run = &x->e->products.run;
    size_t n = (size_t)c->st.n, N = (size_t)c->st.N, np = (size_t)c->st.np;
    double part = 0;
    if (kind == ITEM_Y0_PRODUCT) TRY(size_of(c, n, run->y0 + j * N, x->y, 1, s));
    else TRY(size_of(c, np, run->p + j * np, x->p, 0, s));
    TRY(part_of(c, n, second->V ? second->V + j * N : NULL, x->y, 1, &part));
    TRY(part_of(c, np, second->Vp ? second->Vp + j * np : NULL, x->p, 0, &part));
    s->change = part > 0 && part < HUGE_VAL ? s->change / sqrt(part) : HUGE_VAL;
    return 0;
}

/* Is it zero, or round-off beside the others? */
static int vanishes(const costate *c, const errors_of_goal *x, enum item_kind kind, size_t j, int *answer)
{
    size_t of = kind < ITEM_Y0_PRODUCT ? j : 0;                         /* the functional */
    size_t n = (size_t)c->st.n, N = (size_t)c->st.N, np = (size_t)c->st.np;
    const double *y0 = x->e->run.y0, *p = x->e->run.p, value = fabs(x->e->run.value[of]);
    size all[ITEMS] = {[ITEM_VALUE] = {value, value}};
    TRY(size_of(c, n, y0 ? y0 + of * N : NULL, x->y, 1, &all[ITEM_Y0]));
    TRY(size_of(c, np, p ? p + of * np : NULL, x->p, 0, &all[ITEM_P]));
    double most = 0;
    for (int k = 0; k < ITEM_TIMES; k++) if (all[k].change < HUGE_VAL) most = fmax(most, all[k].change);
    if (kind >= ITEM_Y0_PRODUCT) TRY(size_of_product(c, x, kind, j, &all[kind]));
    *answer = kind != ITEM_TIMES && (all[kind].raw == 0 || all[kind].change <= ROUND_OFF * most);
    return 0;
}

int goal_unmet(costate *c, const costate_functional *F, const costate_goal *g, const errors_of_goal *x)
{
    static const char *const names[ITEMS] = {
        [ITEM_VALUE] = "the value", [ITEM_Y0] = "the gradient with respect to y0",
        [ITEM_P] = "the gradient with respect to p", [ITEM_TIMES] = "the gradient with respect to t0 and t1",
        [ITEM_Y0_PRODUCT] = "the Hessian product with respect to y0",
        [ITEM_P_PRODUCT] = "the Hessian product with respect to p"};
    enum item_kind worst = ITEM_VALUE;
    for (enum item_kind k = 0; k < ITEMS; k++) if (x->found->worst[k] > x->found->worst[worst]) worst = k;
    int j = x->found->number[worst], product = worst >= ITEM_Y0_PRODUCT, nothing;
    char of[40] = "";
    TRY(vanishes(c, x, worst, (size_t)j, &nothing));
    if (F->m > 1) snprintf(of, sizeof of, " of functional %d", j);
    if (product && F->second->m > 1) snprintf(of, sizeof of, " along direction %d", j);
    if (nothing)
        return fail(&c->v, COSTATE_ACCURACY, "Of %s%s only round-off is left, or 0: no error is small relative to it.  "
                    "Set goal.%s_atol to what may be ignored (%d runs, the last with rtol = %.3g).", names[worst], of,
                    worst == ITEM_VALUE ? "value" : product ? "product" : "gradient", g->rounds, g->rtol);
    return fail(&c->v, COSTATE_ACCURACY, "The largest error, that of %s%s, is estimated as %.2g times what tol = %.3g "
                "allows, after %d runs, the last with rtol = %.3g.", names[worst], of, g->worst, g->tol, g->rounds,
                g->rtol);
}
