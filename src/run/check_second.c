/* check_second.c - the public check of Hessian products of a whole run: symmetric, and the derivatives of the gradients
   of frozen runs, by differences of 8th order. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/random.h"
#include "maps/check.h"
#include "run/run.h"

typedef struct {                /* vectors x: y (N), then p (np): all = N + np */
    costate *c;
    costate_tape *tape, *other;
    costate_seed2 seed;
    void *ctx;
    size_t N, np, all;
    double *base, *at;          /* all */
    double *unit;               /* all: the size of each */
    double *v, *Hv;             /* 2 all: directions; their products */
    double *g, *diff;           /* all */
    double *V, *Vp, *lambda2, *mu2;     /* N, np each by 2 */
    double t0;
} attempt;

static void apart(const attempt *x, int m, const double *from, double *y, double *p)
{
    for (size_t j = 0; j < (size_t)m; j++) {
        memcpy(y + j * x->N, from + j * x->all, x->N * sizeof *y);
        memcpy(p + j * x->np, from + j * x->all + x->N, x->np * sizeof *p);
    }
}

static void together(const attempt *x, int m, const double *y, const double *p, double *to)
{
    for (size_t j = 0; j < (size_t)m; j++) {
        memcpy(to + j * x->all, y + j * x->N, x->N * sizeof *y);
        memcpy(to + j * x->all + x->N, p + j * x->np, x->np * sizeof *p);
    }
}

static int products(attempt *x)
{
    costate_second s = {.m = 2, .V = x->V, .Vp = x->np ? x->Vp : NULL, .seed = x->seed, .ctx = x->ctx, .lambda = x->g,
                        .mu = x->np ? x->g + x->N : NULL, .lambda2 = x->lambda2, .mu2 = x->np ? x->mu2 : NULL};
    apart(x, 2, x->v, x->V, x->Vp);
    memset(x->g, 0, x->all * sizeof *x->g);
    memset(x->mu2, 0, 2 * x->np * sizeof *x->mu2);
    TRY(solver_hessian(x->c, x->tape, &s));
    together(x, 2, x->lambda2, x->mu2, x->Hv);
    return 0;
}

/* Relative to the products, or to LEAST of the gradient times the directions: where H is 0, or nearly, products are the
   round-off of their terms. */
static int symmetry(attempt *x, costate_report *r)
{
    const double LEAST = 1e-2, *v = x->v, *w = x->v + x->all, *Hv = x->Hv, *Hw = x->Hv + x->all;
    double sums[4] = {0};
    for (size_t i = 0; i < x->all; i++) {
        sums[0] += w[i] * Hv[i];
        sums[1] += v[i] * Hw[i];
        sums[2] += fabs(w[i] * Hv[i]) + fabs(v[i] * Hw[i]);
        sums[3] += fabs(x->g[i]) * (fabs(v[i]) + fabs(w[i]));
    }
    TRY(space_total(&x->c->maps.space, 4, sums));
    r->symmetry = fabs(sums[0] - sums[1]) / fmax(fmax(sums[2], LEAST * sums[3]), 1e-300);
    return 0;
}

/* the gradient at base + a v, the steps frozen, into g */
static int gradient(attempt *x, double a)
{
    costate *c = x->c;
    size_t N = x->N;
    double *lambda = x->g, *mu = x->g + N, *p = x->at + N;
    for (size_t i = 0; i < x->all; i++) x->at[i] = x->base[i] + a * x->v[i];
    TRY(onto_constraints(c, x->t0, x->at, p));
    TRY(solver_replay_onto(c, x->tape, x->at, p, x->other));
    memset(x->g, 0, x->all * sizeof *x->g);
    memset(x->V, 0, N * sizeof *x->V);
    memset(x->Vp, 0, x->np * sizeof *x->Vp);
    memset(x->lambda2, 0, N * sizeof *x->lambda2);
    memset(x->mu2, 0, x->np * sizeof *x->mu2);
    int code = x->seed(costate_time(c), x->at, p, 1, x->V, x->Vp, lambda, x->np ? mu : NULL, x->lambda2,
                       x->np ? x->mu2 : NULL, x->ctx);
    if (code) return fail(&c->v, COSTATE_CALLBACK, "The callback seed returned %d.", code);
    return solver_adjoint(c, x->other, 1, lambda, x->np ? mu : NULL, NULL, NULL);
}

/* |Hv - difference| / |difference|, each component in its unit; of a product that is zero, or nearly, beside LEAST of
   the gradient, where round-off of the differences ends */
static int difference(attempt *x, double e, double *error)
{
    static const double weights[] = {4.0 / 5, -1.0 / 5, 4.0 / 105, -1.0 / 280}, LEAST = 1e-3;
    double sums[3] = {0};
    memset(x->diff, 0, x->all * sizeof *x->diff);
    for (int k = -4; k <= 4; k++) {
        if (k == 0) continue;
        TRY(gradient(x, k * e));
        axpy(x->all, (k > 0 ? 1 : -1) * weights[abs(k) - 1] / e, x->g, x->diff);
    }
    for (size_t i = 0; i < x->all; i++) {
        double unit = x->unit[i], gap = (x->Hv[i] - x->diff[i]) * unit, d = x->diff[i] * unit, g = x->g[i] * unit;
        sums[0] += gap * gap;
        sums[1] += d * d;
        sums[2] += g * g;
    }
    TRY(space_total(&x->c->maps.space, 3, sums));
    *error = sums[0] == 0 ? 0 : sqrt(sums[0]) / (sqrt(sums[1]) + LEAST * sqrt(sums[2]));
    return 0;
}

enum { LENGTHS = 5 };                   /* of the direction, each a quarter of the one before: too long, too noisy */

static int differences(attempt *x, costate_report *r)
{
    for (int k = 0; k < LENGTHS; k++) {
        double error;
        int status = difference(x, ldexp(0.25, -2 * k), &error);
        /* far away the frozen steps may be too large; the nearest run must succeed */
        if (status == COSTATE_NO_MEMORY || status == COSTATE_CALLBACK || (status && k == LENGTHS - 1)) return status;
        if (status == 0 && !(error >= r->hessian)) r->hessian = error;
    }
    return 0;
}

static void begin_attempt(attempt *x, const double *y, const double *p)
{
    unsigned state = 12;
    double least = least_size(x->c, y);
    memcpy(x->base, y, x->N * sizeof *y);
    if (x->np) memcpy(x->base + x->N, p, x->np * sizeof *p);
    for (size_t i = 0; i < x->all; i++) {
        double size = fabs(x->base[i]);
        x->unit[i] = i < x->N ? fmax(size, least) : size > 0 ? size : 1e-8;
        for (size_t j = 0; j < 2; j++) x->v[j * x->all + i] = 0.1 * random_number(&state) * x->unit[i];
    }
}

/* work: 2 N + np */
static int try_run(attempt *x, double t0, double t1, const double *y, const double *p, double *work, costate_report *r)
{
    begin_attempt(x, y, p);
    x->t0 = t0;
    TRY(onto_constraints(x->c, t0, x->base, p));
    for (size_t j = 0; j < 2; j++) {
        double *v = x->v + j * x->all;
        TRY(along_constraints(x->c, t0, x->base, p, v, v + x->N, work));
    }
    memcpy(x->at, x->base, x->all * sizeof *x->at);
    TRY(solver_integrate(x->c, t0, t1, x->at, p, x->tape));
    TRY(products(x));
    TRY(symmetry(x, r));
    return differences(x, r);
}

static int check(costate *c, double t0, double t1, const double *y, const double *p, costate_seed2 seed, void *ctx,
                 costate_report *r)
{
    size_t N = (size_t)c->st.N, np = (size_t)c->st.np, all = N + np;
    int status;
    double *memory = calloc(15 * all, sizeof *memory), *at = memory;
    if (!memory) return fail(&c->v, COSTATE_NO_MEMORY, "No memory for the check.");
    attempt x = {.c = solver_for_checks(c), .tape = costate_tape_new(), .other = costate_tape_new(),
                 .seed = seed, .ctx = ctx, .N = N, .np = np, .all = all, .base = at, .at = at + all,
                 .unit = at + 2 * all, .v = at + 3 * all, .Hv = at + 5 * all, .g = at + 7 * all, .diff = at + 8 * all,
                 .V = at + 9 * all, .lambda2 = at + 9 * all + 2 * N, .Vp = at + 9 * all + 4 * N,
                 .mu2 = at + 9 * all + 4 * N + 2 * np};
    if (!x.c || !x.tape || !x.other) status = fail(&c->v, COSTATE_NO_MEMORY, "No memory for the check.");
    else if ((status = try_run(&x, t0, t1, y, p, at + 13 * all, r))) fail(&c->v, status, "%s", costate_message(x.c));
    free(memory);
    costate_tape_free(x.tape);
    costate_tape_free(x.other);
    solver_free(x.c);
    return status;
}

static int judge(costate *c, costate_report *r)
{
    int symmetric = r->symmetry <= 1e-10, right = r->hessian <= 1e-6;
    check_says(r, COSTATE_OK, "Hessian products: relative gap of w.Hv and v.Hw %.1e%s; against differences of "
               "gradients of the frozen run %.1e%s.", r->symmetry, symmetric ? "" : " WRONG", r->hessian,
               right ? "" : " WRONG");
    return symmetric && right ? COSTATE_OK : fail(&c->v, COSTATE_CHECK_FAILED, "%.380s", r->text);
}

static int checked(costate *c, double t0, double t1, const double *y, const double *p, costate_seed2 seed, void *ctx,
                   costate_report *r)
{
    TRY(begin(c));
    TRY(check_arguments(c, t0, t1, y, p));
    if (!seed) return fail(&c->v, COSTATE_MISSING, "seed is missing: it says what is to be differentiated.");
    return check(c, t0, t1, y, p, seed, ctx, r);
}

int solver_check_hessian(costate *c, double t0, double t1, const double *y, const double *p, costate_seed2 seed,
                         void *ctx, costate_report *r)
{
    if (!r) { TRY(begin(c)); return fail(&c->v, COSTATE_BAD_ARGUMENT, "report is NULL."); }
    check_clear(r);
    int status = checked(c, t0, t1, y, p, seed, ctx, r);
    return status ? check_says(r, status, "%s", costate_message(c)) : judge(c, r);
}
