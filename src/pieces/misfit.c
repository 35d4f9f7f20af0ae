/* misfit.c - the least-squares misfit of measurements: its memory, and sweeps over a tape with it. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "pieces/pieces.h"

/* ---- the object ---- */

static int no_memory(costate_misfit *s, const char *what)
{
    return fail(&s->v, COSTATE_NO_MEMORY, "No memory for %s of the misfit.", what);
}

static int list_make(costate_misfit *s)
{
    s->observations.value = listed_value;
    s->observations.seed = listed_seed;
    s->observations.seed2 = listed_seed2;
    s->start = calloc((size_t)s->given.times + 1, sizeof *s->start);
    if (!s->start) return no_memory(s, "the list of values");
    for (int i = 0; i < s->given.count; i++) s->start[s->given.list[i].time + 1]++;
    for (int k = 0; k < s->given.times; k++) s->start[k + 1] += s->start[k];
    return 0;
}

static int misfit_make(costate_misfit *s, const costate_problem *P, const costate_measurements *given)
{
    TRY(measurements_given(&s->v, P, given));
    size_t outputs = (size_t)given->outputs;
    s->given = *given;
    s->n = P->n;
    s->np = P->np;
    if (!given->ctx) s->given.ctx = P->ctx;
    if (given->component) {
        s->given.output = observed_components();
        s->given.ctx = &s->given;
    }
    s->observations = (costate_observations){.count = given->times, .t = given->t, .value = observed_value,
                                             .seed = observed_seed, .seed2 = observed_seed2, .ctx = s};
    s->rows = given->count ? (size_t)given->count : outputs * (size_t)given->times;
    s->r = calloc(2 * s->rows, sizeof *s->r);
    s->u = calloc(4 * outputs + 3 * (size_t)P->np + (size_t)given->times, sizeof *s->u);
    if (!s->r || !s->u) return no_memory(s, "the residuals");
    s->out = s->r + s->rows;
    s->weight = s->u + outputs;
    s->du = s->weight + outputs;
    s->weight2 = s->du + outputs;
    s->place = s->weight2 + outputs;
    s->place2 = s->place + P->np;
    s->of_p = s->place2 + P->np;
    s->J = s->of_p + P->np;
    return given->count ? list_make(s) : 0;
}

costate_misfit *costate_misfit_new(const costate_problem *P, const costate_measurements *given)
{
    costate_misfit *s = calloc(1, sizeof *s);
    if (s) s->broken = misfit_make(s, P, given) != 0;
    return s;
}

void costate_misfit_free(costate_misfit *s)
{
    if (!s) return;
    free(s->r);
    free(s->u);
    free(s->start);
    free(s);
}

int costate_misfit_status(const costate_misfit *s) { return s ? s->v.status : COSTATE_NO_MEMORY; }

const char *costate_misfit_message(const costate_misfit *s)
{
    if (!s) return "No memory for a misfit.";
    return s->v.status ? s->v.text : "No error.";
}

/* ---- sweeps ---- */

static int missing(costate_misfit *s, const char *product)
{
    return fail(&s->v, COSTATE_MISSING, "measurements.output.%s is missing.", product);
}

/* the start of a call */
static int misfit_begin(costate_misfit *s, const void *c, const double *p)
{
    if (s->broken) return s->v.status;
    verdict_clear(&s->v);
    s->seen = 0;
    s->p = p;
    s->m = 0;
    s->Vp = NULL;
    s->R = s->direct = s->direct2 = NULL;
    if (!c) return fail(&s->v, COSTATE_BAD_ARGUMENT, "The solver is NULL.");
    if (s->np > 0 && !p) return fail(&s->v, COSTATE_BAD_ARGUMENT, "p is NULL, but %d values are expected.", s->np);
    return 0;
}

/* The end of a call: its status, with the sentence of the solver unless a callback of output failed.  Callbacks of
   costate_misfit_observations do not know p. */
static int end(costate_misfit *s, const costate *c, int status)
{
    s->p = NULL;
    s->m = 0;
    s->Vp = NULL;
    s->R = s->direct = s->direct2 = NULL;
    s->seen = status == COSTATE_OK;
    if (status != COSTATE_OK && !s->v.status) fail(&s->v, status, "%s", costate_message(c));
    return status;
}

static void add(int count, const double *from, double *to)
{
    for (int i = 0; i < count; i++) to[i] += from[i];
}

int costate_misfit_gradient(costate_misfit *s, costate *c, const costate_tape *tape, const double *p, double *lambda,
                            double *mu)
{
    if (!s) return COSTATE_NO_MEMORY;
    TRY(misfit_begin(s, c, p));
    if (!s->given.output.adjoint) return missing(s, "adjoint");
    double *direct = calloc((size_t)s->np + 1, sizeof *direct);
    if (!direct) return no_memory(s, "the gradient");
    s->direct = mu && s->np > 0 ? direct : NULL;
    int status = costate_adjoint(c, tape, 1, lambda, mu, NULL, &s->observations);
    if (status == COSTATE_OK && s->direct) add(s->np, direct, mu);
    free(direct);
    return end(s, c, status);
}

int costate_misfit_jacobian(costate_misfit *s, costate *c, const costate_tape *tape, const double *p, int m, double *V,
                            const double *Vp, double *R)
{
    if (!s) return COSTATE_NO_MEMORY;
    TRY(misfit_begin(s, c, p));
    if (!s->given.output.tangent) return missing(s, "tangent");
    if (!R) return fail(&s->v, COSTATE_BAD_ARGUMENT, "R is NULL.");
    s->m = m;
    s->Vp = Vp;
    s->R = R;
    return end(s, c, costate_tangent(c, tape, m, V, Vp, NULL, &s->observations));
}

typedef int sweep(costate *, const costate_tape *, const costate_second *);

static int second(costate_misfit *s, costate *c, const costate_tape *tape, const double *p, const costate_second *of,
                  sweep *go)
{
    TRY(misfit_begin(s, c, p));
    if (!of) return fail(&s->v, COSTATE_BAD_ARGUMENT, "The arguments of the Hessian products are NULL.");
    if (of->m < 1 || of->correct)
        return fail(&s->v, COSTATE_BAD_ARGUMENT, "m = %d, correct = %d: a misfit takes at least one direction, and no "
                    "correction.", of->m, of->correct);
    if (!s->given.output.adjoint || !s->given.output.tangent)
        return missing(s, s->given.output.adjoint ? "tangent" : "adjoint");
    size_t np = (size_t)s->np, m = (size_t)of->m;
    double *direct = calloc(np * (m + 1) + 1, sizeof *direct);
    if (!direct) return no_memory(s, "the Hessian products");
    costate_second with = *of;
    with.observations = &s->observations;
    s->m = of->m;
    s->Vp = of->Vp;
    s->direct = of->mu && np > 0 ? direct : NULL;
    s->direct2 = of->mu2 && np > 0 ? direct + np : NULL;
    int status = go(c, tape, &with);
    if (status == COSTATE_OK && s->direct && go == costate_hessian) add(s->np, direct, of->mu);
    if (status == COSTATE_OK && s->direct2) add(s->np * of->m, direct + np, of->mu2);
    free(direct);
    return end(s, c, status);
}

int costate_misfit_hessian(costate_misfit *s, costate *c, const costate_tape *tape, const double *p,
                           const costate_second *of)
{
    if (!s) return COSTATE_NO_MEMORY;
    if (!s->broken && !s->given.output.adjoint_tangent) {
        verdict_clear(&s->v);
        return missing(s, "adjoint_tangent");
    }
    return second(s, c, tape, p, of, costate_hessian);
}

int costate_misfit_gauss_newton(costate_misfit *s, costate *c, const costate_tape *tape, const double *p,
                                const costate_second *of)
{
    return s ? second(s, c, tape, p, of, costate_gauss_newton) : COSTATE_NO_MEMORY;
}

/* ---- results ---- */

double costate_misfit_sum(const costate_misfit *s)
{
    double sum = 0;
    if (!s || s->broken || !s->seen) return NAN;
    if (s->start) {
        for (int k = 0; k < s->given.times; k++) sum += s->J[k];
        return sum;
    }
    for (size_t i = 0; i < s->rows; i++) sum += s->r[i] * s->r[i];
    return sum / 2;
}

const double *costate_misfit_residuals(const costate_misfit *s) { return s ? s->r : NULL; }

const double *costate_misfit_outputs(const costate_misfit *s) { return s ? s->out : NULL; }

/* J at time k */
static double term_of(const costate_misfit *s, int k)
{
    double sum = 0;
    int outputs = s->given.outputs;
    for (int i = k * outputs; !s->start && i < (k + 1) * outputs; i++) sum += s->r[i] * s->r[i];
    return s->start ? s->J[k] : sum / 2;
}

static int misfit_term(int k, double t, const double *y, const double *p, int m, double *value, double *w, double *mu,
                       void *ctx)
{
    costate_misfit *s = ctx;
    verdict_clear(&s->v);
    s->p = p;
    s->direct = mu && s->np > 0 ? mu : NULL;
    s->seen = 0;
    int code = w ? s->observations.seed(k, t, y, m, w, s) : s->observations.value(k, t, y, 0, NULL, s);
    value[0] += code ? 0 : term_of(s, k);
    s->p = NULL;
    s->direct = NULL;
    return code;
}

int costate_misfit_functional(costate_misfit *s, costate_functional *F)
{
    if (!s) return COSTATE_NO_MEMORY;
    if (s->broken) return s->v.status;
    if (!F) return fail(&s->v, COSTATE_BAD_ARGUMENT, "The functional is NULL.");
    F->m = 1;
    F->count = s->given.times;
    F->t = s->given.t;
    F->at_time = NULL;
    F->at_time_p = misfit_term;
    F->ctx = s;
    return COSTATE_OK;
}

const costate_observations *costate_misfit_observations(costate_misfit *s)
{
    return s && !s->broken ? &s->observations : NULL;
}
