/* confirm.c - is a gradient what differences of plain runs say (mathematics, section 9.4)?

   Two runs from x + eps d and x - eps d, x = (y0, p), are made as if nobody had asked for gradients: what sweeps do not
   see, such as a jump of f that is no event, is in their difference.  What the steps have passed over is looked for
   before (look.c).

   The difference is uncertain by the error of the values over eps, and by the third derivative.  What disagrees is
   compared again with a shorter eps and tighter tolerances. */
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/random.h"
#include "base/stats.h"
#include "base/vec.h"
#include "estimates/confirm.h"
#include "estimates/finer.h"
#include "estimates/functional.h"
#include "estimates/look.h"
#include "run/integrate.h"
#include "run/start.h"
#include "solver/options.h"

enum { ATTEMPTS = 3 };
static const double BEST = 0.2;                 /* eps, in units of that for which both uncertainties are equal if the
                                                   third derivative is that of a wave */
static const double EPS_MOST = 1e-2;
static const double CLEAR = 0.01;               /* tolerances are tighter until the error of the values leaves the slope
                                                   uncertain by this part, or are TIGHTEST of those of the run */
static const double TIGHTEST = 1e-3, LEAST_RTOL = 1e-13;
static const double SHORTER = 0.1, TIGHTER = 1e-2;          /* eps and tolerances from one attempt to the next */
static const double SETTLED = 0.1;              /* two differences as near to each other, in units of how far they are
                                                   from the gradient: it is wrong */
static const double SAFETY = 2;                 /* estimates are right within this factor, mostly */
static const double FINEST = 1e-5;              /* kinks of f make differences of runs as rough as this part of the
                                                   slope, at any tolerance */
static const double ROUND_OFF = 100 * DBL_EPSILON;

typedef struct {
    costate *c, *plain;
    const claim_of_run *of;
    costate_tape *onto;
    size_t N, np, m;
    double *block;
    outcome values;
    double *up, *down;                  /* m: values on both sides */
    double *dy, *dp, *y, *p;            /* N, np: direction; where a run starts, and ends */
    double *above, *below;              /* N: starts of both runs */
    double *by_p;                       /* np*m: gradient with respect to p, summed over processes */
    double *change, *claimed, *slope;   /* m: size of the change along d, errors in it, and its derivative */
    double length;                      /* |d_y| + |d_p| */
} confirmation;

static int prepare(confirmation *x)
{
    const claim_of_run *of = x->of;
    for (;;) {
        cursor at = {x->block, 0};
        outcome_layout(x->c, of->F, of->tape, 0, &at, &x->values);
        TAKE(&at, x->m, &x->up, &x->down, &x->change, &x->claimed, &x->slope);
        TAKE(&at, x->N, &x->dy, &x->y, &x->above, &x->below);
        TAKE(&at, x->np, &x->dp, &x->p);
        x->by_p = take(&at, x->np * x->m);
        if (x->block) break;
        if (!(x->block = calloc(at.used + 1, sizeof *x->block)))
            return fail(&x->c->v, COSTATE_NO_MEMORY, "No memory for a difference (%zu doubles).", at.used);
    }
    if (!(x->onto = costate_tape_new())) return fail(&x->c->v, COSTATE_NO_MEMORY, "No memory for a tape.");
    TRY(plain_solver(x->c, of->tape, x->c->o.hmax, &x->plain));
    if (of->wanted & OF_P && x->np) {
        memcpy(x->by_p, of->e->run.p, x->np * x->m * sizeof *x->by_p);
        TRY(space_total(&x->c->maps.space, (int)(x->np * x->m), x->by_p));
    }
    return 0;
}

static void release(confirmation *x)
{
    if (x->plain) stats_add(&x->c->count, &x->plain->count);
    costate_tape_free(x->onto);
    solver_free(x->plain);
    free(x->block);
}

/* ---- the direction ---- */

/* 0.5 .. 1, with a random sign */
static double random_part(unsigned *state)
{
    double r = random_number(state);
    return (r < 0 ? -0.5 : 0.5) * (1 + fabs(r));
}

static int squares(const confirmation *x, size_t j, double *sum)
{
    const costate_estimate *e = x->of->e;
    double of_y = 0, of_p = 0;
    for (size_t i = 0; x->of->wanted & OF_Y0 && i < (size_t)x->c->st.n; i++)
        of_y += pow(e->run.y0[j * x->N + i] * x->dy[i], 2);
    for (size_t i = 0; x->of->wanted & OF_P && i < x->np; i++) of_p += pow(x->by_p[j * x->np + i] * x->dp[i], 2);
    TRY(space_total(&x->c->maps.space, 1, &of_y));
    *sum = sqrt(of_y + of_p);
    return 0;
}

/* In a direction of components that are 0 and have no size: what would change a functional by as much as it is. */
static double size_of_zero(const confirmation *x, const double *gradient, size_t stride)
{
    double size = HUGE_VAL;
    for (size_t j = 0; j < x->m; j++)
        if (gradient[j * stride] != 0)
            size = fmin(size, fabs(x->of->e->run.value[j] / gradient[j * stride]));
    return size < HUGE_VAL ? size : 0;
}

/* d <- random parts of the sizes of y0 and p.  What is 0 stays so, as it may be all that the model allows (a population
   that begins with one case and nobody exposed), unless there is nothing else. */
static int direction(confirmation *x)
{
    const claim_of_run *of = x->of;
    size_t n = of->wanted & OF_Y0 ? (size_t)x->c->st.n : 0, np = of->wanted & OF_P ? x->np : 0;
    unsigned of_y = 5, of_p = 6;
    double any = 0, count = (double)(n + np);
    for (size_t i = 0; i < n; i++) x->dy[i] = random_part(&of_y) * fabs(of->y[i]);
    for (size_t i = 0; i < np; i++) x->dp[i] = random_part(&of_p) * fabs(of->p[i]);
    for (size_t j = 0; j < x->m; j++) {
        TRY(squares(x, j, &x->change[j]));
        any += x->change[j];
    }
    if (any > 0) return 0;
    for (size_t i = 0; i < n; i++)
        x->dy[i] += random_part(&of_y) * size_of_zero(x, of->e->run.y0 + i, x->N) / sqrt(count);
    for (size_t i = 0; i < np; i++)
        x->dp[i] += random_part(&of_p) * size_of_zero(x, x->by_p + i, x->np) / sqrt(count);
    for (size_t j = 0; j < x->m; j++) TRY(squares(x, j, &x->change[j]));
    return 0;
}

/* ---- runs ---- */

static int evaluate(confirmation *x, const double *p, double *value)
{
    const claim_of_run *of = x->of;
    TRY(solver_integrate(x->plain, of->t0, of->t1, x->y, p, x->onto));
    TRY(functional_values(x->plain, x->onto, of->F, &x->values));
    memcpy(value, x->values.value, x->m * sizeof *value);
    return 0;
}

/* from x + eps d, put onto the constraints as by costate_consistent; start: where that is */
static int side(confirmation *x, double eps, double *start, double *value)
{
    const claim_of_run *of = x->of;
    memcpy(x->y, of->y, x->N * sizeof *x->y);
    for (size_t i = 0; i < (size_t)x->c->st.n; i++) x->y[i] += eps * x->dy[i];
    for (size_t i = 0; i < x->np; i++) x->p[i] = of->p[i] + eps * x->dp[i];
    if (constrained(x->c) && !(x->c->o.consistent & COSTATE_CONSISTENT_START))
        TRY(solver_consistent(x->plain, of->t0, x->y, NULL, x->np ? x->p : of->p));
    memcpy(start, x->y, x->N * sizeof *start);
    return evaluate(x, x->np ? x->p : of->p, value);
}

/* ---- comparison ---- */

/* the slopes along the starts that were taken, and what is known of their errors */
static int slopes_along(confirmation *x, double eps)
{
    const claim_of_run *of = x->of;
    const costate_estimate *e = of->e;
    double of_y = dot(x->N, x->dy, x->dy);
    TRY(space_total(&x->c->maps.space, 1, &of_y));
    x->length = sqrt(of_y) + sqrt(dot(x->np, x->dp, x->dp));
    for (size_t j = 0; j < x->m; j++) {
        double all[2] = {0, 0}, of_p = 0;
        for (size_t i = 0, k = j * x->N; of->wanted & OF_Y0 && i < (size_t)x->c->st.n; i++, k++) {
            double d = (x->above[i] - x->below[i]) / (2 * eps);
            all[0] += e->run.y0[k] * d;
            all[1] += fabs(e->error.y0[k] * d);
        }
        for (size_t i = 0, k = j * x->np; of->wanted & OF_P && i < x->np; i++, k++) {
            of_p += x->by_p[k] * x->dp[i];
            all[1] += fabs(e->error.p[k] * x->dp[i]);
        }
        TRY(space_total(&x->c->maps.space, 2, all));
        x->slope[j] = all[0] + of_p;
        x->claimed[j] = all[1];
    }
    return 0;
}

static double value_error(const confirmation *x, size_t j, double tighter)
{
    double rtol = options_rtol(&x->c->o, x->c->st.n), size = fabs(x->of->e->run.value[j]) + x->change[j];
    return tighter * (fabs(x->of->e->error.value[j]) + rtol * size) + ROUND_OFF * size;
}

static double difference_of(const confirmation *x, size_t j, double eps) { return (x->up[j] - x->down[j]) / (2 * eps); }

static double within(const confirmation *x, size_t j, double eps, double tighter)
{
    const allowed *a = &x->of->allowed;
    double gradient = SAFETY * fmax(a->tol * x->change[j], x->claimed[j]) + a->gradient_atol * x->length;
    return gradient + SAFETY * value_error(x, j, tighter) / eps + FINEST * x->change[j];
}

/* the functional that disagrees, or -1 */
static int disagrees(const confirmation *x, double eps, double tighter)
{
    for (size_t j = 0; j < x->m; j++) {
        if (!(fabs(difference_of(x, j, eps) - x->slope[j]) <= within(x, j, eps, tighter))) return (int)j;
    }
    return -1;
}

static double first_eps(const confirmation *x)
{
    double eps = 0;
    for (size_t j = 0; j < x->m; j++) {
        double change = x->change[j], curved = fmax(1, change / fabs(x->of->e->run.value[j]));
        if (change > 0) eps = fmax(eps, BEST * cbrt(value_error(x, j, 1) / (change * curved * curved)));
    }
    return eps > 0 ? fmin(eps, EPS_MOST) : EPS_MOST;
}

static double first_tolerance(const confirmation *x, double eps)
{
    double tighter = 1, rtol = options_rtol(&x->c->o, x->c->st.n);
    for (size_t j = 0; j < x->m; j++)
        if (x->change[j] > 0) tighter = fmin(tighter, CLEAR * eps * x->change[j] / value_error(x, j, 1));
    return fmin(1, fmax(tighter, fmax(TIGHTEST, rtol > 0 ? LEAST_RTOL / rtol : 0)));
}

static int both_sides(confirmation *x, double eps, double tighter)
{
    options_scale(x->plain, tighter);
    TRY(side(x, eps, x->above, x->up));
    TRY(side(x, -eps, x->below, x->down));
    return slopes_along(x, eps);
}

static int differences(confirmation *x)
{
    verdict *v = &x->c->v;
    double rtol = options_rtol(&x->c->o, x->c->st.n), eps = first_eps(x), tighter = first_tolerance(x, eps);
    double last = 0, now = 0;
    int j = -1, status = 0, settled = 0;
    for (int k = 0; k < ATTEMPTS && !settled; k++) {
        status = both_sides(x, eps, tighter);
        if (status == COSTATE_NO_MEMORY) return fail(v, status, "%s", x->plain->v.text);
        if (!status) {
            int before = j;
            j = disagrees(x, eps, tighter);
            if (j < 0) return 0;
            now = difference_of(x, (size_t)j, eps);
            settled = j == before && fabs(now - last) <= SETTLED * fabs(now - x->slope[j]);
            last = now;
        }
        eps *= SHORTER;
        tighter = fmin(tighter, fmax(tighter * TIGHTER, rtol > 0 ? LEAST_RTOL / rtol : 0));
    }
    if (j < 0)
        return fail(v, COSTATE_ACCURACY, "The estimated errors are within goal.tol, but runs beside this one, which "
                    "would confirm the gradient, fail: %.400s", x->plain->v.text);
    return fail(v, COSTATE_ACCURACY, "The estimated errors are within goal.tol, but the gradient of functional %d "
                "disagrees with two runs beside this one: along a direction of %s it is %.6g, their difference %.6g.  "
                "If f jumps where a state passes a value, make this an event or a relation; if it is large for a short "
                "time, set options.hmax.", j, !(x->of->wanted & OF_P) ? "y0" :
                x->of->wanted & OF_Y0 ? "y0 and p" : "p", x->slope[j], now);
}

/* Where runs that would confirm fail, nothing is confirmed. */
static int as_accuracy(costate *c, int status)
{
    if (status == 0 || status == COSTATE_NO_MEMORY || status == COSTATE_CALLBACK) return status;
    c->v.status = COSTATE_ACCURACY;
    return COSTATE_ACCURACY;
}

static int confirmed(confirmation *x)
{
    TRY(prepare(x));
    const claim_of_run *of = x->of;
    TRY(as_accuracy(x->c, look(x->c, of->tape, of->F, &(looked_at){of->e->run.value, of->e->error.value, of->allowed,
                                                                    SAFETY})));
    if (!(of->wanted & (OF_Y0 | OF_P))) return 0;
    TRY(direction(x));
    return differences(x);
}

int confirm(costate *c, const claim_of_run *of)
{
    confirmation x = {.c = c, .of = of, .N = (size_t)c->st.N, .np = (size_t)c->st.np, .m = (size_t)of->F->m};
    int status = confirmed(&x);
    release(&x);
    return status;
}
