/* check_run.c - the public check of a whole run: its adjoint against its tangent, its tangent against the run again
   with frozen steps, where the remainders of Taylor's formula fall by 4 when the direction is halved. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/random.h"
#include "base/vec.h"
#include "run/run.h"
#include "maps/check.h"

typedef struct {
    costate *c;
    costate_tape *tape;
    int N, np;
    double *y, *z, *V, *V0, *lambda;    /* N each */
    double *ones;                       /* N: weights */
    double *mu, *p, *Vp;                /* np each */
    double ends[4];                     /* directions of t0, t1; gradients by them */
    double t0;
} attempt;

/* ---- index 2: directions of y leave the constraints, and a run that begins beside them fails, or jumps by more than
   any tolerance.  What is moved is put back onto them, as by costate_consistent: starts on a curve.  Its slope is the
   direction that is checked. ---- */

static int leaves_constraints(const costate *c)
{
    return c->maps.index != NULL && !(c->o.consistent & COSTATE_CONSISTENT_START);
}

int onto_constraints(costate *c, double t0, double *y, const double *p)
{
    return leaves_constraints(c) ? solver_consistent(c, t0, y, NULL, p) : COSTATE_OK;
}

int along_constraints(costate *c, double t0, const double *y, const double *p, double *v, const double *vp,
                      double *work)
{
    static const double weights[] = {4.0 / 5, -1.0 / 5, 4.0 / 105, -1.0 / 280};
    const double e = 2e-3;
    size_t N = (size_t)c->st.N, np = (size_t)c->st.np;
    double *slope = work, *at = work + N, *q = work + 2 * N;
    if (!leaves_constraints(c)) return COSTATE_OK;
    memset(slope, 0, N * sizeof *slope);
    for (int k = -4; k <= 4; k++) {
        if (k == 0) continue;
        add_scaled(N, at, y, k * e, v);
        if (np) add_scaled(np, q, p, k * e, vp);
        TRY(onto_constraints(c, t0, at, np ? q : p));
        axpy(N, (k > 0 ? 1 : -1) * weights[abs(k) - 1] / e, at, slope);
    }
    memcpy(v, slope, N * sizeof *v);
    return COSTATE_OK;
}

static int transpose_gap(attempt *x, costate_report *r)
{
    int N = x->N, np = x->np;
    costate_times d = {.t0 = x->ends, .t1 = x->ends + 1}, g = {.t0 = x->ends + 2, .t1 = x->ends + 3};
    int timed = !maps_available(x->c, TANGENT, np, 1) && !maps_available(x->c, ADJOINT, np, 1);
    memcpy(x->V0, x->V, (size_t)N * sizeof *x->V);
    double w[2] = {0}, sum = 0, size = 0;
    TRY(solver_tangent(x->c, x->tape, 1, x->V, np ? x->Vp : NULL, timed ? &d : NULL, NULL));
    double left = 0;
    for (int i = 0; i < N; i++) { left += x->lambda[i] * x->V[i]; size += fabs(x->lambda[i] * x->V[i]); }
    TRY(solver_adjoint(x->c, x->tape, 1, x->lambda, np ? x->mu : NULL, timed ? &g : NULL, NULL));
    for (int i = 0; i < N; i++) sum += x->lambda[i] * x->V0[i];
    for (int i = 0; i < np; i++) sum += x->mu[i] * x->Vp[i];
    if (timed) { w[0] = g.t0[0] * d.t0[0]; w[1] = g.t1[0] * d.t1[0]; }
    sum += w[0] + w[1];
    r->transpose = fabs(left - sum) / fmax(size, 1e-300);
    return COSTATE_OK;
}

/* in the root mean square, whatever the size of states: squares of 1e-160 underflow */
static int length(const attempt *x, const double *v, double *out)
{
    return space_norm(&x->c->maps.space, (size_t)x->N, x->ones, v, out);
}

/* |y(e) - y(0) - e y'| of the frozen run, y' the tangent without times; NaN where it fails */
static int remainder_at(attempt *x, const double *y0, const double *p0, const double *end, double e, double *out)
{
    int N = x->N;
    for (int i = 0; i < N; i++) x->z[i] = y0[i] + e * x->V0[i];
    for (int i = 0; i < x->np; i++) x->p[i] = p0[i] + e * x->Vp[i];
    *out = NAN;
    TRY(onto_constraints(x->c, x->t0, x->z, x->np ? x->p : p0));
    TRY(solver_replay(x->c, x->tape, x->z, x->p));
    for (int i = 0; i < N; i++) x->z[i] = x->z[i] - end[i] - e * x->V[i];
    return length(x, x->z, out);
}

enum { HALVINGS = 12 };                 /* of a quarter of the direction */

static int taylor(attempt *x, const double *y0, const double *p0, costate_report *r)
{
    int N = x->N;
    double last = NAN, *end = x->y, norm, change, ratio = NAN;
    memcpy(x->V, x->V0, (size_t)N * sizeof *x->V);
    TRY(solver_tangent(x->c, x->tape, 1, x->V, x->np ? x->Vp : NULL, NULL, NULL));
    TRY(length(x, end, &norm));
    TRY(length(x, x->V, &change));
    int linear = 1;
    for (int k = 0; k < HALVINGS; k++) {
        double e = ldexp(0.25, -k), rest;
        int status = remainder_at(x, y0, p0, end, e, &rest);
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

double least_size(const costate *c, const double *y)
{
    double most = 0;
    for (int i = 0; i < c->st.n; i++) most = fmax(most, fabs(y[i]));
    return 1e-3 * (most > 0 ? most : 1e-3);
}

/* work: 2 N + np */
static int try_run(costate *c, attempt *x, double t0, double t1, double *y, const double *p, double *work,
                   costate_report *r)
{
    unsigned state = 11;
    int N = x->N, np = x->np;
    double least = least_size(c, y);
    x->t0 = t0;
    TRY(onto_constraints(x->c, t0, y, p));
    for (int i = 0; i < N; i++) x->ones[i] = 1;
    for (int i = 0; i < N; i++) x->V[i] = 0.1 * random_number(&state) * fmax(fabs(y[i]), least);
    for (int i = 0; i < np; i++) x->Vp[i] = 0.1 * random_number(&state) * (p[i] != 0 ? fabs(p[i]) : 1e-8);
    TRY(along_constraints(x->c, t0, y, p, x->V, x->Vp, work));
    memcpy(x->y, y, (size_t)N * sizeof *y);
    TRY(solver_integrate(x->c, t0, t1, x->y, p, x->tape));
    for (int i = 0; i < N; i++) x->lambda[i] = random_number(&state) / fmax(fabs(x->y[i]), least);
    x->ends[0] = leaves_constraints(x->c) ? 0 : 0.01 * (t1 - t0);     /* they may depend on t */
    x->ends[1] = -0.02 * (t1 - t0);
    TRY(transpose_gap(x, r));
    TRY(taylor(x, y, p, r));
    return 0;
}

costate *solver_for_checks(const costate *c)
{
    costate_options o = c->o;
    o.derivative_mode = 1;
    o.on_step = NULL;
    o.on_event = NULL;
    if (!o.consistent) o.consistent = COSTATE_CONSISTENT_NONE;       /* 0 says that of a solver, not of options */
    return costate_new(c->st.m, &c->P, &o);
}

static int check_run(costate *c, double t0, double t1, const double *y, const double *p, costate_report *r)
{
    size_t N = (size_t)c->st.N, np = (size_t)c->st.np;
    int status;
    double *memory = calloc(9 * N + 4 * np + 1, sizeof *memory), *at = memory;
    if (!memory) return fail(&c->v, COSTATE_NO_MEMORY, "No memory for the check.");
    attempt x = {.c = solver_for_checks(c), .tape = costate_tape_new(), .N = c->st.N, .np = c->st.np,
                 .y = at, .z = at + N, .V = at + 2 * N, .V0 = at + 3 * N, .lambda = at + 4 * N, .mu = at + 5 * N,
                 .p = at + 5 * N + np, .Vp = at + 5 * N + 2 * np, .ones = at + 5 * N + 3 * np};
    if (!x.c || !x.tape) status = fail(&c->v, COSTATE_NO_MEMORY, "No memory for the check.");
    else {
        double *start = at + 6 * N + 3 * np;
        memcpy(start, y, N * sizeof *y);
        status = try_run(c, &x, t0, t1, start, p, start + N, r);
        if (status) fail(&c->v, status, "%s", costate_message(x.c));
    }
    free(memory);
    costate_tape_free(x.tape);
    solver_free(x.c);
    return status;
}

static int judge(costate *c, costate_report *r)
{
    int right = r->transpose <= 1e-10 && fabs(r->taylor - 4) <= 1;
    check_says(r, COSTATE_OK, "adjoint against tangent: relative gap %.1e%s; tangent against the frozen run: "
               "remainders fall by %.2f per halving (4 is right)%s.",
               r->transpose, r->transpose <= 1e-10 ? "" : " WRONG",
               r->taylor, fabs(r->taylor - 4) <= 1 ? "" : " WRONG");
    return right ? COSTATE_OK : fail(&c->v, COSTATE_CHECK_FAILED, "%.380s", r->text);
}

static int checked(costate *c, double t0, double t1, const double *y, const double *p, costate_report *r)
{
    TRY(begin(c));
    TRY(check_arguments(c, t0, t1, y, p));
    return check_run(c, t0, t1, y, p, r);
}

int solver_check_adjoint(costate *c, double t0, double t1, const double *y, const double *p, costate_report *r)
{
    if (!r) { TRY(begin(c)); return fail(&c->v, COSTATE_BAD_ARGUMENT, "report is NULL."); }
    check_clear(r);
    int status = checked(c, t0, t1, y, p, r);
    return status ? check_says(r, status, "%s", costate_message(c)) : judge(c, r);
}
