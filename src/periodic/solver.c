/* solver.c (periodic) - creates and frees a solver of periodic orbits, and answers what it knows of the orbit. */
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/grown.h"
#include "linsol/backends.h"
#include "periodic/periodic.h"
#include "solver/options.h"
#include "sweeps/output.h"

int periodic_begin(periodic *o)
{
    if (!o) return COSTATE_BAD_ARGUMENT;
    if (!o->block) return o->v.status;          /* costate_periodic_new failed: its message stays */
    verdict_clear(&o->v);
    return 0;
}

int periodic_needs_orbit(periodic *o)
{
    TRY(periodic_begin(o));
    return o->found ? 0 : fail(&o->v, COSTATE_BAD_TAPE, "There is no orbit: costate_periodic_solve comes first, and "
                               "must succeed.");
}

int run_failed(periodic *o, int status, const char *what)
{
    return fail(&o->v, status, "%s: %s", what, costate_message(o->c));
}

/* ---- arguments ---- */

static int invariants_sound(periodic *o)
{
    const costate_periodic_options *s = &o->o;
    if (s->ninvariants < 0 || s->ninvariants >= o->n || (s->ninvariants > 0 && !s->invariants))
        return fail(&o->v, COSTATE_BAD_ARGUMENT, "options.ninvariants = %d, but there are n = %d states, and "
                    "invariants is %s.", s->ninvariants, o->n, s->invariants ? "given" : "NULL");
    for (int k = 0; k < s->ninvariants; k++) {
        double most = 0;
        for (int i = 0; i < o->n; i++) {
            double w = fabs(s->invariants[(size_t)k * (size_t)o->n + (size_t)i]);
            most = isfinite(w) ? fmax(most, w) : HUGE_VAL;
        }
        if (!(most > 0 && most < HUGE_VAL))
            return fail(&o->v, COSTATE_BAD_ARGUMENT, "options.invariants: column %d is zero, or not finite.", k);
    }
    return 0;
}

static int options_sound(periodic *o)
{
    costate_periodic_options *s = &o->o;
    const struct { const char *name; double value; } table[] = {{"period", s->period}, {"settle", s->settle}};
    for (int k = 0; k < 2; k++)
        if (!(table[k].value >= 0 && table[k].value < HUGE_VAL))
            return fail(&o->v, COSTATE_BAD_ARGUMENT, "options.%s = %g: it is not negative, and finite.", table[k].name,
                        table[k].value);
    if (!isfinite(s->t0)) return fail(&o->v, COSTATE_BAD_ARGUMENT, "options.t0 = %g is not finite.", s->t0);
    if (s->newton_max < 0)
        return fail(&o->v, COSTATE_BAD_ARGUMENT, "options.newton_max = %d: it is not negative.", s->newton_max);
    if (s->newton_max == 0) s->newton_max = 50;
    return invariants_sound(o);
}

static int problem_allowed(periodic *o, const costate_problem *P)
{
    if (P && P->nm > 0)
        return fail(&o->v, COSTATE_BAD_ARGUMENT, "problem.nm = %d: periodic orbits have no memory variables. What does "
                    "not change belongs to p, what does, to y.", P->nm);
    if (o->run.sum)
        return fail(&o->v, COSTATE_BAD_ARGUMENT, "options.sum: periodic orbits of states that are distributed over "
                    "processes are not available.");
    return 0;
}

/* ---- set up ---- */

static void layout(periodic *o, cursor *at)
{
    size_t n = (size_t)o->n, N = (size_t)o->N, d = (size_t)o->d;
    TAKE(at, n, &o->now.y, &o->next.y, &o->at.size, &o->at.c, &o->re, &o->im);
    TAKE(at, N, &o->now.end, &o->next.end);
    TAKE(at, d, &o->dx, &o->x);
    o->p = take(at, (size_t)o->np + 1);
    o->W = take(at, n * (size_t)o->o.ninvariants + 1);
    o->at.V = take(at, N * (n + 1));
    o->at.B = take(at, d * d);
    o->A = take(at, n * n + 1);                 /* also n + 1 directions of t1 */
}

static int work(periodic *o)
{
    cursor counting = {0};
    int status;
    layout(o, &counting);
    o->now.tape = costate_tape_new();
    o->next.tape = costate_tape_new();
    o->at.factors = LS_Init(&LS_dense, o->d, NULL, 0, NULL, &o->count, &status);
    void *block = calloc(counting.used + 1, sizeof(double));
    if (!o->now.tape || !o->next.tape || !o->at.factors || !block) {
        free(block);
        return fail(&o->v, COSTATE_NO_MEMORY, "No memory for the solver of periodic orbits.");
    }
    cursor at = {.base = block};
    layout(o, &at);
    o->block = block;
    return 0;
}

static void options_of_run(periodic *o)
{
    costate_options *r = &o->run;
    r->storage = COSTATE_ALL_STAGES;
    r->warm = r->tangent_error = r->gradient_control = 0;
    r->derivative_mode = 1;
    r->gradient_estimate = COSTATE_ESTIMATE_OFF;
    r->on_step = NULL;
    r->on_event = NULL;
    r->on_back = NULL;
}

static int set_up(periodic *o, size_t run_size, size_t size, const costate_method *m, const costate_problem *P,
                  const costate_options *run, const costate_periodic_options *s)
{
    TRY(grown_read(&o->v, "costate_options", run, run_size, &o->run, sizeof o->run));
    TRY(grown_read(&o->v, "costate_periodic_options", s, size, &o->o, sizeof o->o));
    TRY(problem_allowed(o, P));
    options_of_run(o);
    o->c = costate_new_sized(sizeof o->run, m, P, &o->run);
    if (!o->c) return fail(&o->v, COSTATE_NO_MEMORY, "No memory for the solver of the runs.");
    if (costate_status(o->c)) return fail(&o->v, costate_status(o->c), "%s", costate_message(o->c));
    o->P = *P;
    o->n = P->n;
    o->np = P->np;
    o->nq = P->nq;
    o->N = o->n + o->nq;
    TRY(options_sound(o));
    o->free_T = o->o.period == 0;
    o->d = o->n + o->free_T + o->o.ninvariants;
    o->rtol = fmax(options_rtol(&o->c->o, o->n), DBL_EPSILON);
    return work(o);
}

costate_periodic *costate_periodic_new_sized(size_t run_size, size_t size, const costate_method *m,
                                             const costate_problem *P, const costate_options *run,
                                             const costate_periodic_options *s)
{
    periodic *o = calloc(1, sizeof *o);
    if (!o) return NULL;
    verdict_clear(&o->v);
    set_up(o, run_size, size, m, P, run, s);            /* after a failure the verdict stays: see periodic_begin */
    return o;
}

costate_periodic *(costate_periodic_new)(const costate_method *m, const costate_problem *P, const costate_options *run,
                                         const costate_periodic_options *s)
{
    return costate_periodic_new_sized(sizeof *run, sizeof *s, m, P, run, s);
}

void periodic_free(periodic *o)
{
    LS_Free(o->at.factors);
    costate_tape_free(o->now.tape);
    costate_tape_free(o->next.tape);
    costate_free(o->c);
    free(o->block);
    free(o);
}

const char *costate_periodic_message(const costate_periodic *o) { return o ? o->v.text : "The solver is NULL."; }
