/* check.c (run) - the public checks of a whole run as a map of y0 and p.  First order: adjoint and tangent are
   transposes, and the remainders of Taylor's formula for the run with frozen steps fall by 4 when the direction is
   halved.  Second order: Hessian products are symmetric, and derivatives of the gradients of runs with frozen steps. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/random.h"
#include "base/vec.h"
#include "checks/check.h"
#include "estimates/accuracy.h"
#include "maps/check.h"
#include "run/instant.h"
#include "run/integrate.h"
#include "run/start.h"
#include "solver/arguments.h"
#include "solver/options.h"
#include "sweeps/replay.h"
#include "sweeps/second.h"
#include "sweeps/sweep.h"

typedef struct {                    /* as given */
    double t0, t1;
    const double *y, *p;
    costate_seed2 seed;             /* NULL: first order */
    void *ctx;
} run_given;

typedef struct {
    costate *c;                     /* made for the check */
    costate_tape *tape, *frozen;    /* of the run, of one with its steps from elsewhere */
    const run_given *of;
    size_t N, in;                   /* inputs: y0 (N), p; behind them t0, t1, of first derivatives */
    double *base, *at, *unit;       /* in + 2: the inputs of the run, moved ones; the size of each */
    double *v, *w;                  /* in + 2: directions */
    double *end, *seeds, *ones;     /* N: its result, weights of that; 1 */
    double *work;                   /* 3 of in + 2 */
} run_check;

static double *parameters(const run_check *x, double *of) { return x->in > x->N ? of + x->N : NULL; }

/* ---- index 2: directions of y leave the constraints, and a run that begins off them fails, or jumps by more than
   any tolerance.  What is moved is put back onto them, as by costate_consistent: starts on a curve.  Its slope is the
   direction that is checked. ---- */

static int leaves_constraints(const costate *c)
{
    return c->maps.index != NULL && !(c->o.consistent & COSTATE_CONSISTENT_START);
}

/* x->at <- base + dx, on the constraints */
static int move(run_check *x, const double *dx)
{
    const double *p = parameters(x, x->at);
    add_scaled(x->in, x->at, x->base, 1, dx);
    return leaves_constraints(x->c) ? solver_consistent(x->c, x->of->t0, x->at, NULL, p ? p : x->of->p) : COSTATE_OK;
}

static int start_at(void *ctx, const double *dx, double *out)
{
    run_check *x = ctx;
    TRY(move(x, dx));
    memcpy(out, x->at, x->N * sizeof *out);
    return 0;
}

static int choose_directions(run_check *x, unsigned *state)
{
    const check_operator start = {.ctx = x, .in = x->in, .rows = x->N, .value = start_at};
    double *const both[] = {x->v, x->w}, *slope = x->end;
    TRY(start_at(x, x->v, x->base));                    /* v is 0 yet */
    for (int j = 0; j < 2; j++)
        for (size_t i = 0; i < x->in; i++) both[j][i] = 0.1 * random_number(state) * x->unit[i];
    for (int j = 0; leaves_constraints(x->c) && j < 2; j++) {
        TRY(check_differentiate(&start, both[j], CHECK_STEP, slope, x->work));
        memcpy(both[j], slope, x->N * sizeof *slope);
    }
    return 0;
}

/* of a component of y that is 0, or nearly */
static double least_size(const run_check *x)
{
    double most = 0;
    for (int i = 0; i < x->c->st.n; i++) most = fmax(most, fabs(x->base[i]));
    return 1e-3 * (most > 0 ? most : 1e-3);
}

/* ---- first order: the result as a function of y0 and p, and of t0 and t1 if the maps have products with respect to
   t ---- */

static int with_times(const run_check *x)
{
    int np = x->c->st.np;
    return !x->c->maps.space.sum && !maps_available(x->c, NULL, TANGENT, np, 1) &&
           !maps_available(x->c, NULL, ADJOINT, np, 1);
}

static int result_at(void *ctx, const double *dx, double *out)
{
    run_check *x = ctx;
    TRY(move(x, dx));
    TRY(solver_replay(x->c, x->tape, x->at, x->at + x->N));
    memcpy(out, x->at, x->N * sizeof *out);
    return 0;
}

static int tangent(void *ctx, const double *v, double *out)
{
    run_check *x = ctx;
    memcpy(x->at, v, (x->in + 2) * sizeof *v);
    memcpy(out, v, x->N * sizeof *v);
    costate_times dt = {.t0 = x->at + x->in, .t1 = x->at + x->in + 1};
    return solver_tangent(x->c, x->tape, 1, out, parameters(x, x->at), with_times(x) ? &dt : NULL, NULL);
}

static int adjoint(void *ctx, const double *w, double *g)
{
    run_check *x = ctx;
    memset(g, 0, (x->in + 2) * sizeof *g);
    memcpy(g, w, x->N * sizeof *g);
    costate_times gt = {.t0 = g + x->in, .t1 = g + x->in + 1};
    return solver_adjoint(x->c, x->tape, 1, g, parameters(x, g), with_times(x) ? &gt : NULL, NULL);
}

enum { HALVINGS = 12 };                 /* of a quarter of the direction */

/* The remainders |y(e) - y(0) - e y'| of frozen runs, y' the tangent.  Norms are root mean squares, whatever the size
   of states: squares of 1e-160 underflow. */
static int check_remainders(run_check *x, const check_operator *F, costate_report *r)
{
    const space *all = F->space;
    double *slope = x->w, *dx = x->work, *out = dx + F->in;
    double last = NAN, norm, change, ratio = NAN;
    int linear = 1;
    TRY(F->tangent(x, x->v, slope));
    TRY(space_norm(all, x->N, x->ones, x->end, &norm));
    TRY(space_norm(all, x->N, x->ones, slope, &change));
    for (int k = 0; k < HALVINGS; k++) {
        double e = ldexp(0.25, -k), rest = NAN;
        add_scaled(F->in, dx, NULL, e, x->v);
        int status = F->value(x, dx, out);
        /* far away the frozen steps may be too large; the nearest run must succeed */
        if (status && (k == HALVINGS - 1 || status == COSTATE_NO_MEMORY || x->c->v.gave_up)) return status;
        for (size_t i = 0; i < x->N; i++) out[i] = out[i] - x->end[i] - e * slope[i];
        if (status == 0) TRY(space_norm(all, x->N, x->ones, out, &rest));
        /* frozen runs leave Newton's iteration after as many iterations, wherever they are: it may leave as much */
        if (rest > CHECK_RIGHT * e * change + 1e-12 * norm) linear = 0;
        if (last == last && rest > 1e-11 * norm) ratio = last / rest;
        last = rest;
        /* no two remainders stand out of round-off, though the change does: nothing says that it is not linear */
        if (ratio != ratio && k == HALVINGS - 1) linear |= rest <= 1e-11 * norm && rest <= 1e-3 * e * change;
    }
    r->taylor = linear ? 4 : ratio;
    return COSTATE_OK;
}

/* the functional of the first check: end values times the seeds that it drew */
static int weighted(double t1, const double *y, const double *p, int m, double *value, double *lambda, double *mu,
                    double *end, void *ctx)
{
    const run_check *x = ctx;
    const double *seeds = x->seeds;
    (void)t1, (void)p, (void)m, (void)mu, (void)end;
    for (size_t i = 0; i < x->N; i++) {
        value[0] += seeds[i] * y[i];
        lambda[i] = seeds[i];
    }
    return 0;
}

/* Whether it can be estimated or not does not decide about the check, unless a callback gave up.  why: if not, what
   costate_accuracy says */
static int check_accuracy(run_check *x, costate_report *r, char why[sizeof r->text / 2])
{
    double of_y0 = 0, of_p = 0;
    const costate_functional F = {.m = 1, .at_end = weighted, .ctx = x};
    costate_estimate e = {.y0_error = &of_y0, .p_error = x->in > x->N ? &of_p : NULL};
    int status = solver_accuracy(x->c, x->tape, &F, &e);
    r->accuracy = status ? NAN : fmax(of_y0, of_p);
    snprintf(why, sizeof r->text / 2, "%.*s", (int)(sizeof r->text / 2) - 1, status ? costate_message(x->c) : "");
    x->c->v.gave_up |= status == COSTATE_CALLBACK;          /* in a run of another solver */
    return status == COSTATE_NO_MEMORY || status == COSTATE_CALLBACK ? status : 0;
}

/* what the run says about events that fire together */
static void say_together(const run_check *x, costate_report *r)
{
    char text[400];
    together_say(x->c, text, sizeof text);
    check_adds(r, "%s", text);
}

/* Where starts are put onto constraints, these may depend on t0. */
static int check_first(run_check *x, unsigned *state, costate_report *r)
{
    const check_operator F = {.ctx = x, .in = x->in + 2, .rows = x->N, .value = result_at, .tangent = tangent,
                              .adjoint = adjoint, .space = &x->c->maps.space};
    double *times = x->v + x->in, least = least_size(x);
    char why[sizeof r->text / 2];
    for (size_t i = 0; i < x->N; i++) x->seeds[i] = random_number(state) / fmax(fabs(x->end[i]), least);
    times[0] = leaves_constraints(x->c) ? 0 : 0.01 * (x->of->t1 - x->of->t0);
    times[1] = -0.02 * (x->of->t1 - x->of->t0);
    TRY(check_transposes(&F, x->v, x->seeds, 0, &r->transpose));
    TRY(check_accuracy(x, r, why));
    times[0] = times[1] = 0;
    TRY(check_remainders(x, &F, r));
    int transposed = r->transpose <= CHECK_TRANSPOSED, right = fabs(r->taylor - 4) <= 1;
    check_says(r, COSTATE_OK, "adjoint against tangent: relative gap %.1e%s; tangent against the frozen run: "
               "remainders fall by %.2f per halving (4 is right)%s.",
               r->transpose, transposed ? "" : " WRONG", r->taylor, right ? "" : " WRONG");
    if (transposed && right && r->accuracy < HUGE_VAL)
        check_adds(r, "  The gradient is exact for these steps; relative to the solution it is right to about %.0e.",
                   r->accuracy);
    else if (transposed && right) check_adds(r, "  How accurate these steps are is not known: %s", why);
    say_together(x, r);
    return transposed && right ? COSTATE_OK : COSTATE_CHECK_FAILED;
}

/* ---- second order: the gradient of the functional as a function of y0 and p ---- */

/* the steps frozen */
static int gradient_at(void *ctx, const double *dx, double *g)
{
    run_check *x = ctx;
    costate *c = x->c;
    double *p = x->at + x->N, *zero = x->work, *lambda2 = zero + x->in;
    TRY(move(x, dx));
    TRY(solver_replay_onto(c, x->tape, x->at, p, x->frozen));
    memset(g, 0, x->in * sizeof *g);
    memset(zero, 0, 2 * x->in * sizeof *zero);
    int code = x->of->seed(costate_time(c), x->at, p, 1, zero, zero + x->N, g, parameters(x, g), lambda2,
                       parameters(x, lambda2), x->of->ctx);
    if (code) return fail(&c->v, COSTATE_CALLBACK, "The callback seed returned %d.", code);
    return solver_adjoint(c, x->frozen, 1, g, parameters(x, g), NULL, NULL);
}

static int hessian_times(void *ctx, const double *v, double *Hv)
{
    run_check *x = ctx;
    double *g = x->work;
    const costate_second s = {.m = 1, .V = v, .Vp = x->in > x->N ? v + x->N : NULL, .seed = x->of->seed,
                              .ctx = x->of->ctx, .lambda = g, .mu = parameters(x, g), .lambda2 = Hv,
                              .mu2 = parameters(x, Hv)};
    memset(g, 0, x->in * sizeof *g);
    memset(Hv, 0, x->in * sizeof *Hv);
    return solver_hessian(x->c, x->tape, &s);
}

static int check_second(run_check *x, costate_report *r)
{
    agreement a;
    static const check_steps steps = {.first = 0.25, .shorter = 4, .count = 5};
    const check_operator G = {.ctx = x, .in = x->in, .rows = x->in, .value = gradient_at, .tangent = hessian_times,
                              .adjoint = hessian_times, .space = &x->c->maps.space, .weight = x->unit};
    TRY(check_hessian(&G, (const double *const[]){x->v, x->w}, &steps, 1e-2, &r->symmetry, &a));
    int symmetric = r->symmetry <= CHECK_TRANSPOSED, right = check_agrees(&a);
    r->hessian = a.error;
    check_says(r, COSTATE_OK, "Hessian products: relative gap of w.Hv and v.Hw %.1e%s; against differences of "
               "gradients of the frozen run %.1e%s.", r->symmetry, symmetric ? "" : " WRONG", r->hessian,
               right ? "" : " WRONG");
    check_says_blur(r, &a);
    say_together(x, r);
    return symmetric && right ? COSTATE_OK : COSTATE_CHECK_FAILED;
}

/* ---- both ---- */

static void set_inputs(run_check *x, double *at)
{
    double **const all[] = {&x->base, &x->at, &x->unit, &x->v, &x->w, &x->end, &x->seeds, &x->ones, &x->work};
    for (size_t k = 0; k < sizeof all / sizeof *all; k++) *all[k] = at + k * (x->in + 2);
    memcpy(x->base, x->of->y, x->N * sizeof *at);
    if (x->in > x->N) memcpy(x->base + x->N, x->of->p, (x->in - x->N) * sizeof *at);
    double least = least_size(x);
    for (size_t i = 0; i < x->in; i++) {
        double size = fabs(x->base[i]);
        x->unit[i] = i < x->N ? fmax(size, least) : size > 0 ? size : 1e-8;
        x->ones[i] = 1;
    }
}

static int try_run(run_check *x, costate_report *r)
{
    unsigned state = 11;
    TRY(choose_directions(x, &state));
    memcpy(x->end, x->base, x->N * sizeof *x->end);
    TRY(solver_integrate(x->c, x->of->t0, x->of->t1, x->end, x->of->p, x->tape));
    return x->of->seed ? check_second(x, r) : check_first(x, &state, r);
}

/* The same solver again, and Newton to round-off: differences of runs see what it leaves. */
static costate *solver_for_checks(const costate *c)
{
    costate_options o = options_unwatched(c);
    o.derivative_mode = 1;
    return costate_new(c->st.method, &c->P, &o);
}

static int check(costate *c, const run_given *of, costate_report *r)
{
    enum { VECTORS = 11 };
    run_check x = {.of = of, .N = (size_t)c->st.N, .in = (size_t)(c->st.N + c->st.np)};
    double *memory = calloc(VECTORS * (x.in + 2), sizeof *memory);
    x.c = memory ? solver_for_checks(c) : NULL;
    x.tape = costate_tape_new();
    x.frozen = costate_tape_new();
    int status = x.c && x.tape && x.frozen ? 0 : fail(&c->v, COSTATE_NO_MEMORY, "No memory for the check.");
    if (status == 0) {
        set_inputs(&x, memory);
        status = try_run(&x, r);
        if (status) fail(&c->v, status, "%s", status == COSTATE_CHECK_FAILED ? r->text : costate_message(x.c));
        c->v.gave_up = x.c->v.gave_up;
    }
    free(memory);
    costate_tape_free(x.tape);
    costate_tape_free(x.frozen);
    solver_free(x.c);
    return status;
}

static int checked(costate *c, const run_given *of, int second, costate_report *r)
{
    TRY(begin(c));
    if (!r) return fail(&c->v, COSTATE_BAD_ARGUMENT, "report is NULL.");
    TRY(check_arguments(c, of->t0, of->t1, of->y, of->p));
    if (second && !of->seed)
        return fail(&c->v, COSTATE_MISSING, "seed is missing: it says what is to be differentiated.");
    return check(c, of, r);
}

static int report(costate *c, const run_given *of, int second, costate_report *r)
{
    if (r) check_clear(r);
    int status = checked(c, of, second, r);
    return r && status && status != COSTATE_CHECK_FAILED ? check_says(r, status, "%s", costate_message(c)) : status;
}

int solver_check_adjoint(costate *c, double t0, double t1, const double *y, const double *p, costate_report *r)
{
    return report(c, &(run_given){t0, t1, y, p, NULL, NULL}, 0, r);
}

int solver_check_hessian(costate *c, double t0, double t1, const double *y, const double *p, costate_seed2 seed,
                         void *ctx, costate_report *r)
{
    return report(c, &(run_given){t0, t1, y, p, seed, ctx}, 1, r);
}
