/* check.c (run) - the public checks of a whole run as a map of y0 and p.  First order: adjoint and tangent are
   transposes, and the remainders of Taylor's formula for the run with frozen steps fall by 4 when the direction is
   halved.  Second order: Hessian products are symmetric, and derivatives of the gradients of runs with frozen steps. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/random.h"
#include "base/vec.h"
#include "checks/check.h"
#include "estimates/accuracy.h"
#include "maps/check.h"
#include "run/integrate.h"
#include "run/start.h"
#include "solver/arguments.h"
#include "solver/options.h"
#include "sweeps/replay.h"
#include "sweeps/second.h"
#include "sweeps/sweep.h"

typedef struct {                    /* inputs: y0 (N), then p (np) */
    costate *c;                     /* made for the check */
    costate_tape *tape, *frozen;    /* of the run, of one with its steps from elsewhere */
    costate_seed2 seed;             /* NULL: first order */
    void *ctx;
    double t0, t1;
    size_t N, np, in;
    const double *p;                /* as given */
    double least;                   /* size of a component of y that is 0, or nearly */
    double *base, *at, *unit;       /* in: inputs of the run, moved ones; the size of each */
    double blur;                    /* of differences of gradients */
    double *g, *d, *other, *out;    /* in + 2: gradient (and with respect to the times); differences; work */
    double *v, *Hv;                 /* in of two: directions, their products */
    double *V, *Vp, *lambda, *mu;   /* N, np, N, np of two: as calls take them */
    double *end, *ones;             /* N: the result of the run; weights */
} attempt;

enum { VECTORS = 17 };              /* of in + 2 numbers, to hold them all */

static void set_up(attempt *x, double *at)
{
    size_t N = x->N, np = x->np, in = x->in;
    double **const one[] = {&x->base, &x->at, &x->unit, &x->g, &x->d, &x->other, &x->out};
    for (size_t i = 0; i < sizeof one / sizeof *one; i++, at += in + 2) *one[i] = at;
    x->v = at, x->Hv = at + 2 * in, at += 4 * in;
    x->V = at, x->lambda = at + 2 * N, x->end = at + 4 * N, x->ones = at + 5 * N, at += 6 * N;
    x->Vp = at, x->mu = at + 2 * np;
}

/* ---- index 2: directions of y leave the constraints, and a run that begins off them fails, or jumps by more than
   any tolerance.  What is moved is put back onto them, as by costate_consistent: starts on a curve.  Its slope is the
   direction that is checked. ---- */

static int leaves_constraints(const costate *c)
{
    return c->maps.index != NULL && !(c->o.consistent & COSTATE_CONSISTENT_START);
}

/* x->at <- base + a v, on the constraints */
static int move(attempt *x, const double *v, double a)
{
    double *p = x->at + x->N;
    add_scaled(x->in, x->at, x->base, a, v);
    return leaves_constraints(x->c) ? solver_consistent(x->c, x->t0, x->at, NULL, x->np ? p : x->p) : COSTATE_OK;
}

typedef struct { attempt *x; const double *v; } start;

static int start_at(void *ctx, double a, double *out)
{
    const start *s = ctx;
    TRY(move(s->x, s->v, a));
    memcpy(out, s->x->at, s->x->N * sizeof *out);
    return 0;
}

static int choose_directions(attempt *x, unsigned *state)
{
    TRY(move(x, x->v, 0));
    memcpy(x->base, x->at, x->N * sizeof *x->base);
    for (size_t i = 0; i < 2 * x->in; i++) x->v[i] = 0.1 * random_number(state) * x->unit[i % x->in];
    for (size_t j = 0; leaves_constraints(x->c) && j < 2; j++) {
        start s = {x, x->v + j * x->in};
        TRY(check_differentiate(&(line){start_at, &s, x->N}, CHECK_STEP, x->out, x->d));
        memcpy(x->v + j * x->in, x->d, x->N * sizeof *x->d);
    }
    return 0;
}

/* ---- first order ---- */

/* in the root mean square, whatever the size of states: squares of 1e-160 underflow */
static int length(const attempt *x, const double *v, double *out)
{
    return space_norm(&x->c->maps.space, x->N, x->ones, v, out);
}

/* Times are inputs, too, if the maps have products with respect to t; where starts are put onto constraints, these may
   depend on t0. */
static int check_transposes(attempt *x, unsigned *state, costate_report *r)
{
    size_t N = x->N, np = x->np, in = x->in;
    double *seeds = x->lambda + N, *d = x->d, *g = x->g;
    const space *all = &x->c->maps.space;
    costate_times dt = {.t0 = d + in, .t1 = d + in + 1}, gt = {.t0 = g + in, .t1 = g + in + 1};
    int timed = !all->sum && !maps_available(x->c, NULL, TANGENT, (int)np, 1) &&
                !maps_available(x->c, NULL, ADJOINT, (int)np, 1);
    for (size_t i = 0; i < N; i++) seeds[i] = random_number(state) / fmax(fabs(x->end[i]), x->least);
    memcpy(d, x->v, in * sizeof *d);
    d[in] = leaves_constraints(x->c) ? 0 : 0.01 * (x->t1 - x->t0);
    d[in + 1] = -0.02 * (x->t1 - x->t0);
    memcpy(x->V, x->v, N * sizeof *x->V);
    TRY(solver_tangent(x->c, x->tape, 1, x->V, np ? x->v + N : NULL, timed ? &dt : NULL, NULL));
    memset(g, 0, (in + 2) * sizeof *g);
    memcpy(g, seeds, N * sizeof *g);
    TRY(solver_adjoint(x->c, x->tape, 1, g, np ? g + N : NULL, timed ? &gt : NULL, NULL));
    return check_gap(all, N, seeds, x->V, in + 2, d, g, 0, &r->transpose);
}

/* |y(e) - y(0) - e y'| of the frozen run, y' the tangent; NaN where it fails */
static int remainder_at(attempt *x, double e, double *out)
{
    *out = NAN;
    TRY(move(x, x->v, e));
    TRY(solver_replay(x->c, x->tape, x->at, x->at + x->N));
    for (size_t i = 0; i < x->N; i++) x->at[i] = x->at[i] - x->end[i] - e * x->V[i];
    return length(x, x->at, out);
}

enum { HALVINGS = 12 };                 /* of a quarter of the direction */

static int check_remainders(attempt *x, costate_report *r)
{
    double last = NAN, norm, change, ratio = NAN;
    int linear = 1;
    memcpy(x->V, x->v, x->N * sizeof *x->V);
    TRY(solver_tangent(x->c, x->tape, 1, x->V, x->np ? x->v + x->N : NULL, NULL, NULL));
    TRY(length(x, x->end, &norm));
    TRY(length(x, x->V, &change));
    for (int k = 0; k < HALVINGS; k++) {
        double e = ldexp(0.25, -k), rest;
        int status = remainder_at(x, e, &rest);
        /* far away the frozen steps may be too large; the nearest run must succeed */
        if (k == HALVINGS - 1 || status == COSTATE_NO_MEMORY) TRY(status);
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
    const attempt *x = ctx;
    const double *seeds = x->lambda + x->N;
    (void)t1, (void)p, (void)m, (void)mu, (void)end;
    for (size_t i = 0; i < x->N; i++) {
        value[0] += seeds[i] * y[i];
        lambda[i] = seeds[i];
    }
    return 0;
}

/* Whether it can be estimated or not does not decide about the check. */
static int check_accuracy(attempt *x, costate_report *r)
{
    double of_y0 = 0, of_p = 0;
    const costate_functional F = {.m = 1, .at_end = weighted, .ctx = x};
    costate_estimate e = {.y0_error = &of_y0, .p_error = x->np ? &of_p : NULL};
    int status = solver_accuracy(x->c, x->tape, &F, &e);
    r->accuracy = status ? NAN : fmax(of_y0, of_p);
    return status == COSTATE_NO_MEMORY ? status : 0;
}

/* ---- second order ---- */

/* two directions, of y and of p side by side, as calls take them; and back */
static void split(const attempt *x)
{
    for (size_t j = 0; j < 2; j++) {
        memcpy(x->V + j * x->N, x->v + j * x->in, x->N * sizeof *x->V);
        memcpy(x->Vp + j * x->np, x->v + j * x->in + x->N, x->np * sizeof *x->Vp);
    }
}

static void join(const attempt *x)
{
    for (size_t j = 0; j < 2; j++) {
        memcpy(x->Hv + j * x->in, x->lambda + j * x->N, x->N * sizeof *x->Hv);
        memcpy(x->Hv + j * x->in + x->N, x->mu + j * x->np, x->np * sizeof *x->Hv);
    }
}

static int products(attempt *x)
{
    int with_p = x->np > 0;
    costate_second s = {.m = 2, .V = x->V, .Vp = with_p ? x->Vp : NULL, .seed = x->seed, .ctx = x->ctx, .lambda = x->g,
                        .mu = with_p ? x->g + x->N : NULL, .lambda2 = x->lambda, .mu2 = with_p ? x->mu : NULL};
    split(x);
    memset(x->g, 0, x->in * sizeof *x->g);
    memset(x->mu, 0, 2 * x->np * sizeof *x->mu);
    TRY(solver_hessian(x->c, x->tape, &s));
    join(x);
    return 0;
}

/* the gradient at base + a v, the steps frozen */
static int gradient_at(void *ctx, double a, double *g)
{
    attempt *x = ctx;
    costate *c = x->c;
    size_t N = x->N, np = x->np;
    double *p = x->at + N, *mu = np ? g + N : NULL;
    TRY(move(x, x->v, a));
    TRY(solver_replay_onto(c, x->tape, x->at, p, x->frozen));
    memset(g, 0, x->in * sizeof *g);
    double *const zeros[] = {x->V, x->lambda, x->Vp, x->mu};
    for (size_t i = 0; i < 4; i++) memset(zeros[i], 0, (i < 2 ? N : np) * sizeof **zeros);
    int code = x->seed(costate_time(c), x->at, p, 1, x->V, x->Vp, g, mu, x->lambda, np ? x->mu : NULL, x->ctx);
    if (code) return fail(&c->v, COSTATE_CALLBACK, "The callback seed returned %d.", code);
    return solver_adjoint(c, x->frozen, 1, g, mu, NULL, NULL);
}

static int check_hessians(attempt *x, costate_report *r)
{
    static const check_steps steps = {.first = 0.25, .shorter = 4, .count = 5};
    const space *all = &x->c->maps.space;
    TRY(products(x));
    TRY(check_symmetry(all, x->in, x->v, x->Hv, x->g, 1e-2, &r->symmetry));
    const check_derivative c = {.line = {gradient_at, x, x->in}, .steps = &steps, .given = x->Hv, .of = x->g,
                                .unit = x->unit, .d = x->d, .other = x->other, .out = x->out};
    return check_along(all, &c, &r->hessian, &x->blur);
}

/* ---- both ---- */

static void set_inputs(attempt *x, const double *y)
{
    double most = 0;
    for (int i = 0; i < x->c->st.n; i++) most = fmax(most, fabs(y[i]));
    x->least = 1e-3 * (most > 0 ? most : 1e-3);
    memcpy(x->base, y, x->N * sizeof *y);
    if (x->np) memcpy(x->base + x->N, x->p, x->np * sizeof *y);
    for (size_t i = 0; i < x->in; i++) {
        double size = fabs(x->base[i]);
        x->unit[i] = i < x->N ? fmax(size, x->least) : size > 0 ? size : 1e-8;
    }
    for (size_t i = 0; i < x->N; i++) x->ones[i] = 1;
}

static int try_run(attempt *x, costate_report *r)
{
    unsigned state = 11;
    TRY(choose_directions(x, &state));
    memcpy(x->end, x->base, x->N * sizeof *x->end);
    TRY(solver_integrate(x->c, x->t0, x->t1, x->end, x->p, x->tape));
    if (x->seed) return check_hessians(x, r);
    TRY(check_transposes(x, &state, r));
    TRY(check_accuracy(x, r));
    return check_remainders(x, r);
}

/* The same solver again, and Newton to round-off: differences of runs see what it leaves. */
static costate *solver_for_checks(const costate *c)
{
    costate_options o = options_unwatched(c);
    o.derivative_mode = 1;
    return costate_new(c->st.method, &c->P, &o);
}

static int check(costate *c, attempt *x, const double *y, costate_report *r)
{
    x->N = (size_t)c->st.N, x->np = (size_t)c->st.np, x->in = x->N + x->np;
    int status;
    double *memory = calloc(VECTORS * (x->in + 2), sizeof *memory);
    if (!memory) return fail(&c->v, COSTATE_NO_MEMORY, "No memory for the check.");
    set_up(x, memory);
    x->c = solver_for_checks(c);
    x->tape = costate_tape_new();
    x->frozen = costate_tape_new();
    if (!x->c || !x->tape || !x->frozen) status = fail(&c->v, COSTATE_NO_MEMORY, "No memory for the check.");
    else {
        set_inputs(x, y);
        if ((status = try_run(x, r))) fail(&c->v, status, "%s", costate_message(x->c));
    }
    free(memory);
    costate_tape_free(x->tape);
    costate_tape_free(x->frozen);
    solver_free(x->c);
    return status;
}

static int judge_first(costate *c, costate_report *r)
{
    int transposed = r->transpose <= CHECK_TRANSPOSED, right = fabs(r->taylor - 4) <= 1;
    check_says(r, COSTATE_OK, "adjoint against tangent: relative gap %.1e%s; tangent against the frozen run: "
               "remainders fall by %.2f per halving (4 is right)%s.",
               r->transpose, transposed ? "" : " WRONG", r->taylor, right ? "" : " WRONG");
    if (transposed && right && r->accuracy < HUGE_VAL)
        check_adds(r, "  The gradient is exact for these steps; relative to the solution it is right to about %.0e.",
                   r->accuracy);
    return transposed && right ? COSTATE_OK : fail(&c->v, COSTATE_CHECK_FAILED, "%.380s", r->text);
}

static int judge_second(costate *c, const attempt *x, costate_report *r)
{
    int symmetric = r->symmetry <= CHECK_TRANSPOSED, right = check_agrees(r->hessian, x->blur);
    check_says(r, COSTATE_OK, "Hessian products: relative gap of w.Hv and v.Hw %.1e%s; against differences of "
               "gradients of the frozen run %.1e%s.", r->symmetry, symmetric ? "" : " WRONG", r->hessian,
               right ? "" : " WRONG");
    check_says_blur(r, r->hessian, x->blur);
    return symmetric && right ? COSTATE_OK : fail(&c->v, COSTATE_CHECK_FAILED, "%.380s", r->text);
}

static int checked(costate *c, attempt *x, const double *y, int second, costate_report *r)
{
    TRY(begin(c));
    TRY(check_arguments(c, x->t0, x->t1, y, x->p));
    if (second && !x->seed)
        return fail(&c->v, COSTATE_MISSING, "seed is missing: it says what is to be differentiated.");
    return check(c, x, y, r);
}

static int report(costate *c, attempt *x, const double *y, int second, costate_report *r)
{
    if (!r) { TRY(begin(c)); return fail(&c->v, COSTATE_BAD_ARGUMENT, "report is NULL."); }
    check_clear(r);
    int status = checked(c, x, y, second, r);
    if (status) return check_says(r, status, "%s", costate_message(c));
    return second ? judge_second(c, x, r) : judge_first(c, r);
}

int solver_check_adjoint(costate *c, double t0, double t1, const double *y, const double *p, costate_report *r)
{
    attempt x = {.t0 = t0, .t1 = t1, .p = p};
    return report(c, &x, y, 0, r);
}

int solver_check_hessian(costate *c, double t0, double t1, const double *y, const double *p, costate_seed2 seed,
                         void *ctx, costate_report *r)
{
    attempt x = {.t0 = t0, .t1 = t1, .p = p, .seed = seed, .ctx = ctx};
    return report(c, &x, y, 1, r);
}
