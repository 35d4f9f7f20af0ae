/* period.c - the map of one period, its linearisation, and the bordered matrix (mathematics, eq. 16.2 to 16.4).

       B = [ S^-1 (Phi_y - I) S   S^-1 Phi_T T   S W ]        scaled unknowns dy_i/s_i, dT/T, eta
           [ c^T                  0              0   ]        c = S^-1 Phi_T / |S^-1 Phi_T|
           [ (S W)^T              0              0   ]

   with the columns of S W scaled to length 1.  It is regular where the orbit is isolated among those with the same
   invariants, although Phi_y has the eigenvalue 1 along the flow. */
#include <float.h>
#include <math.h>
#include <string.h>
#include "periodic/periodic.h"
#include "run/integrate.h"
#include "sweeps/output.h"
#include "sweeps/replay.h"
#include "sweeps/sweep.h"

enum { LOOKS = 16 };            /* times at which the extent of an orbit is measured */

static void at_start(const periodic *o, period *x)
{
    memset(x->end, 0, (size_t)o->N * sizeof *x->end);
    memcpy(x->end, x->y, (size_t)o->n * sizeof *x->end);
}

static int ended(periodic *o, double t1)
{
    double t = o->c->v.t;
    if (t != t1)
        return fail(&o->v, COSTATE_BAD_EVENT, "A terminal event ended the period at t = %.10g, before its end at "
                    "%.10g: set its `terminal` to 0.", t, t1);
    int mode = costate_mode(o->c);
    if (mode == o->run.mode) return 0;
    return fail(&o->v, COSTATE_BAD_EVENT, "The period begins in mode %d and ends in mode %d: choose t0, or a start, "
                "from which the modes repeat.", o->run.mode, mode);
}

static int run_over(periodic *o, period *x, double T, costate_tape *tape)
{
    double t1 = o->o.t0 + T;
    at_start(o, x);
    int status = solver_integrate(o->c, o->o.t0, t1, x->end, o->p, tape);
    return status ? run_failed(o, status, "The run over one period failed") : ended(o, t1);
}

int period_run(periodic *o, period *x) { return run_over(o, x, x->T, x->tape); }

int period_follow(periodic *o, period *x, double T)
{
    TRY(run_over(o, x, T, NULL));
    memcpy(x->y, x->end, (size_t)o->n * sizeof *x->y);
    return 0;
}

int period_again(periodic *o, const period *of, period *x)
{
    double later = (o->o.t0 + x->T) - (o->o.t0 + of->T);
    at_start(o, x);
    int status = solver_replay_later(o->c, of->tape, x->end, o->p, later, x->tape);
    return status ? run_failed(o, status, "The period could not be repeated with the same steps") : 0;
}

double period_extent(const periodic *o, const period *x)
{
    double most = 0, *y = o->re;                /* multipliers are not at work now */
    for (int k = 1; k < LOOKS; k++) {
        if (solver_tape_eval(o->c, x->tape, o->o.t0 + x->T * k / LOOKS, y)) return HUGE_VAL;
        for (int i = 0; i < o->n; i++) most = fmax(most, fabs(y[i] - x->y[i]) / o->at.size[i]);
    }
    return most;
}

/* ---- the linearisation ---- */

static void measure(periodic *o)
{
    const costate_options *r = &o->c->o;
    const costate_tape *tape = o->now.tape;
    for (int i = 0; i < o->n; i++) {
        double atol = r->atol_vector ? r->atol_vector[i] : r->atol;
        double rtol = r->rtol_vector ? fmax(r->rtol_vector[i], o->rtol) : o->rtol, most = fabs(o->now.end[i]);
        for (int k = 0; k < tape->count; k++) most = fmax(most, fabs(tape->list[k].y[i]));
        o->at.size[i] = fmax(most + atol / rtol, DBL_MIN);
    }
}

static int by_start(periodic *o)
{
    size_t n = (size_t)o->n, N = (size_t)o->N;
    int m = o->n + o->free_T;
    double *V = o->at.V;
    costate_times times = {.t1 = o->A};         /* n + 1 of n*n + 1: see layout in solver.c */
    memset(V, 0, N * (n + 1) * sizeof *V);
    memset(o->A, 0, (n + 1) * sizeof *o->A);
    for (size_t j = 0; j < n; j++) V[j * N + j] = 1;
    o->A[n] = 1;
    int status = solver_tangent(o->c, o->now.tape, m, V, NULL, o->free_T ? &times : NULL, NULL);
    return status ? run_failed(o, status, "The tangents of one period failed") : 0;
}

static double unit(int n, double *x)
{
    double sum = 0, most = 0;
    for (int i = 0; i < n; i++) most = fmax(most, fabs(x[i]));
    for (int i = 0; most > 0 && i < n; i++) sum += x[i] / most * (x[i] / most);
    for (int i = 0; most > 0 && i < n; i++) x[i] /= most * sqrt(sum);
    return most;
}

/* the phase condition and the invariants in scaled variables */
static void set_borders(periodic *o)
{
    const linear *a = &o->at;
    const double *VT = a->V + (size_t)o->n * (size_t)o->N;
    for (int i = 0; i < o->n; i++) a->c[i] = VT[i] / a->size[i];
    unit(o->n, a->c);
    for (int k = 0; k < o->o.ninvariants; k++) {
        double *w = o->W + (size_t)k * (size_t)o->n;
        for (int i = 0; i < o->n; i++) w[i] = a->size[i] * o->o.invariants[(size_t)k * (size_t)o->n + (size_t)i];
        unit(o->n, w);
    }
}

/* minus the bordered matrix: LS forms 0 - J */
static void form(periodic *o)
{
    const linear *a = &o->at;
    size_t n = (size_t)o->n, N = (size_t)o->N, d = (size_t)o->d;
    memset(a->B, 0, d * d * sizeof *a->B);
    for (size_t j = 0; j < n; j++)
        for (size_t i = 0; i < n; i++)
            a->B[j * d + i] = -(a->V[j * N + i] - (i == j)) * (a->size[j] / a->size[i]);
    for (size_t i = 0; o->free_T && i < n; i++) {
        a->B[n * d + i] = -a->V[n * N + i] * (o->now.T / a->size[i]);
        a->B[i * d + n] = -a->c[i];
    }
    for (size_t k = n + (size_t)o->free_T; k < d; k++) {
        const double *w = o->W + (k - n - (size_t)o->free_T) * n;
        for (size_t i = 0; i < n; i++) a->B[k * d + i] = a->B[i * d + k] = -w[i];
    }
}

int period_solve(periodic *o, int transpose, int m, double *X)
{
    return LS_Solve(o->at.factors, transpose, m, X) == COSTATE_LS_OK ? 0 :
           fail(&o->v, COSTATE_SINGULAR, "The equations of the orbit are singular to round-off.");
}

static int invert(periodic *o)
{
    size_t d = (size_t)o->d;
    double *column = o->dx, *sum = o->x;
    memset(sum, 0, d * sizeof *sum);
    for (size_t j = 0; j < d; j++) {
        memset(column, 0, d * sizeof *column);
        column[j] = 1;
        TRY(period_solve(o, 0, 1, column));
        for (size_t i = 0; i < d; i++) sum[i] += fabs(column[i]);
    }
    o->at.gain = 0;
    for (size_t i = 0; i < d; i++) o->at.gain = fmax(o->at.gain, sum[i]);
    return 0;
}

int period_linearise(periodic *o)
{
    measure(o);
    TRY(by_start(o));
    set_borders(o);
    form(o);
    int failed = LS_Decomp(o->at.factors, 0, 0, o->at.B, NULL);
    if (failed < 0) return fail(&o->v, COSTATE_NO_MEMORY, "No memory for the equations of the orbit.");
    o->at.gain = HUGE_VAL;
    return failed ? 0 : invert(o);
}

void period_residual(const periodic *o, const period *x, double *out)
{
    const double *size = o->at.size;
    memset(out, 0, (size_t)o->d * sizeof *out);
    for (int i = 0; i < o->n; i++) out[i] = (x->end[i] - x->y[i]) / size[i];
}
