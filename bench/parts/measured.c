/* measured.c - a trial solved with one method, the gradient after it: calls, times, errors; and the reference. */
#include "measured.h"

#include <string.h>

#include "measure.h"

static const double TIGHT = 1e-13, LESS_TIGHT = 1e-12;

static cost run_once(costate *c, costate_tape *tape, const trial *k, outcome *o)
{
    cost spent = {.status = COSTATE_OK};
    memset(o, 0, sizeof *o);
    memcpy(o->y, k->y0, (size_t)k->P.n * sizeof *o->y);
    double began = clock_now();
    spent.status = costate_integrate(c, k->t0, k->t1, o->y, k->p, tape);
    spent.forward_time = clock_now() - began;
    spent.forward = *costate_get_stats(c);
    k->seed(k, o->y, o->lambda);
    if (tape && spent.status == COSTATE_OK)
        spent.status = costate_adjoint(c, tape, 1, o->lambda, k->P.np ? o->mu : NULL, NULL, NULL);
    spent.time = clock_now() - began;
    spent.whole = *costate_get_stats(c);
    k->gradient(k, o->lambda, o->mu, o->gradient);
    return spent;
}

cost trial_run(const trial *k, const costate_method *m, double rtol, int max_steps, int backward, const repeats *by,
               outcome *o)
{
    costate_options options = {.rtol = rtol, .atol = k->atol * rtol, .autonomous = k->autonomous,
                               .max_steps = max_steps};
    costate *c = costate_new(m, &k->P, &options);
    costate_tape *tape = backward ? costate_tape_new() : NULL;
    cost least = {.status = COSTATE_NO_MEMORY};
    if (c && (tape || !backward)) least = run_once(c, tape, k, o);
    double all = least.time;
    for (int i = 1; by && least.status == COSTATE_OK && all < by->most && (i < by->first || all < by->enough); i++) {
        cost next = run_once(c, tape, k, o);
        least.forward_time = fmin(least.forward_time, next.forward_time);
        least.time = fmin(least.time, next.time);
        all += next.time;
    }
    costate_tape_free(tape);
    costate_free(c);
    return least;
}

double trial_error(const trial *k, const double *y, const double *z)
{
    double worst = 0;
    for (int i = 0; i < k->P.n; i++) worst = fmax(worst, fabs(y[i] - z[i]) / (fabs(z[i]) + k->atol));
    return worst;
}

double trial_gradient_error(const trial *k, const double *g, const double *z)
{
    double gap = 0, size = 0;
    for (int i = 0; i < k->length; i++) gap += (g[i] - z[i]) * (g[i] - z[i]), size += z[i] * z[i];
    return sqrt(gap / size);
}

int trial_reference(const trial *k, outcome *z, outcome *other)
{
    json j = {.file = stdout};
    cost one = trial_run(k, costate_method_find(k->tight[0]), TIGHT, 1000000, 1, NULL, z);
    cost two = trial_run(k, costate_method_find(k->tight[1]), LESS_TIGHT, 1000000, 1, NULL, other);
    json_text(&j, "problem", k->name);
    json_text(&j, "trait", k->trait);
    json_text(&j, "prices", k->prices);
    json_number(&j, "gap", trial_error(k, other->y, z->y));
    json_number(&j, "gradient_gap", trial_gradient_error(k, other->gradient, z->gradient));
    json_number(&j, "known_gap", k->known ? trial_error(k, z->y, k->known) : NAN);
    json_end(&j);
    return one.status || two.status;
}

static void counts(json *j, const char *name, const costate_stats *s)
{
    const long made[] = {s->f, s->jac, s->tangents + s->adjoints, s->tangents2 + s->adjoints2, s->decompositions,
                         s->complex_decompositions, s->solves, s->complex_solves, s->stage_direct};
    json_name(j, name);
    for (size_t i = 0; i < sizeof made / sizeof *made; i++) fprintf(j->file, "%s%ld", i ? ", " : "[", made[i]);
    fputs("]", j->file);
}

void trial_counts(json *j, const cost *spent)
{
    counts(j, "forward", &spent->forward);
    counts(j, "whole", &spent->whole);
    json_number(j, "forward_time", spent->forward_time);
    json_number(j, "time", spent->time);
}
