/* recommend.c - what errors cost: all methods over tolerances on the problems of trials.c, as JSON.

       recommend [PROBLEM...]

   A line is a run and the gradient after it: the errors of both, the calls that they took, and the processor time.
   error: max_i |y_i - z_i| / (|z_i| + a) at t1, where atol = a rtol: in tolerances, if rtol were 1; gradient:
   |g - z|_2 / |z|_2, null where none is asked for.  The references z are from tight runs of one method; a line before
   the runs says how far another method is from them, and they from values that are known from elsewhere.
   Methods without an estimate are not run.  A method's runs end with the first of more than max_steps, or where both
   errors are below ENOUGH.

   calls: f, Jacobians, products, second ones; factorisations, complex ones, solutions of each; of these factorisations
   those of all stages at once. */
#include <string.h>

#include "json.h"
#include "measure.h"
#include "recommend.h"

static const double ENOUGH = 2e-11, TIGHT = 1e-13, LESS_TIGHT = 1e-12;

/* What a run leaves; one at a time, and the references. */
typedef struct { double y[TRIAL_MOST], lambda[TRIAL_MOST], mu[TRIAL_MOST], gradient[TRIAL_MOST]; } outcome;

typedef struct { int status; costate_stats forward, whole; double forward_time, time; } cost;

static cost run(const trial *k, const costate_method *m, double rtol, int max_steps, outcome *o)
{
    costate_options options = {.rtol = rtol, .atol = k->atol * rtol, .autonomous = k->autonomous,
                               .max_steps = max_steps};
    costate *c = costate_new(m, &k->P, &options);
    costate_tape *tape = costate_tape_new();
    cost spent = {.status = COSTATE_NO_MEMORY};
    memset(o, 0, sizeof *o);
    memcpy(o->y, k->y0, (size_t)k->P.n * sizeof *o->y);
    double began = clock_now();
    if (c && tape) spent.status = costate_integrate(c, k->t0, k->t1, o->y, k->p, tape);
    spent.forward_time = clock_now() - began;
    if (c) spent.forward = *costate_get_stats(c);
    k->seed(k, o->y, o->lambda);
    if (spent.status == COSTATE_OK)
        spent.status = costate_adjoint(c, tape, 1, o->lambda, k->P.np ? o->mu : NULL, NULL, NULL);
    spent.time = clock_now() - began;
    if (c) spent.whole = *costate_get_stats(c);
    k->gradient(k, o->lambda, o->mu, o->gradient);
    costate_tape_free(tape);
    costate_free(c);
    return spent;
}

static double error_of(const trial *k, const double *y, const double *z)
{
    double worst = 0;
    for (int i = 0; i < k->P.n; i++) worst = fmax(worst, fabs(y[i] - z[i]) / (fabs(z[i]) + k->atol));
    return worst;
}

static double gradient_error(const trial *k, const double *g, const double *z)
{
    double gap = 0, size = 0;
    for (int i = 0; i < k->length; i++) gap += (g[i] - z[i]) * (g[i] - z[i]), size += z[i] * z[i];
    return sqrt(gap / size);
}

static int reference(const trial *k, outcome *z, outcome *other)
{
    json j = {.file = stdout};
    cost one = run(k, costate_method_find(k->tight[0]), TIGHT, 1000000, z);
    cost two = run(k, costate_method_find(k->tight[1]), LESS_TIGHT, 1000000, other);
    json_text(&j, "problem", k->name);
    json_text(&j, "trait", k->trait);
    json_text(&j, "prices", k->prices);
    json_number(&j, "gap", error_of(k, other->y, z->y));
    json_number(&j, "gradient_gap", gradient_error(k, other->gradient, z->gradient));
    json_number(&j, "known_gap", k->known ? error_of(k, z->y, k->known) : NAN);
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

static void report(const trial *k, const costate_method_info *about, double rtol, const cost *spent, double error,
                   double of_gradient)
{
    json j = {.file = stdout};
    json_text(&j, "problem", k->name);
    json_text(&j, "method", about->name);
    json_count(&j, "block", about->family == COSTATE_FIRK ? about->stages : 1);
    json_number(&j, "rtol", rtol);
    json_number(&j, "error", error);
    json_number(&j, "gradient", of_gradient);
    counts(&j, "forward", &spent->forward);
    counts(&j, "whole", &spent->whole);
    json_number(&j, "forward_time", spent->forward_time);
    json_number(&j, "time", spent->time);
    json_end(&j);
}

static void over_tolerances(const trial *k, const costate_method *m, const costate_method_info *about, const outcome *z,
                            outcome *o)
{
    for (int half = 4; half <= k->tightest; half += k->stride) {
        double rtol = pow(10, -0.5 * half);
        cost spent = run(k, m, rtol, k->max_steps, o);
        if (spent.status == COSTATE_MAX_STEPS) return;
        if (spent.status != COSTATE_OK) continue;
        double error = error_of(k, o->y, z->y), of_gradient = gradient_error(k, o->gradient, z->gradient);
        report(k, about, rtol, &spent, error, of_gradient);
        if (error < ENOUGH && !(of_gradient >= ENOUGH)) return;
    }
}

static int for_it(const trial *k, const costate_method_info *about)
{
    if (about->embedded == 0 || !(k->families & (1u << about->family))) return 0;
    return !k->index2 || about->properties & COSTATE_STIFFLY_ACCURATE;
}

static int all_methods(const trial *k, outcome *room)
{
    if (reference(k, &room[0], &room[1])) return 1;
    for (int i = 0; i < costate_method_count(); i++) {
        const costate_method *m = costate_method_at(i);
        costate_method_info about;
        if (costate_method_describe(m, &about) != COSTATE_OK || !for_it(k, &about)) continue;
        over_tolerances(k, m, &about, &room[0], &room[1]);
        fflush(stdout);
    }
    return 0;
}

static int wanted(const char *name, int count, char **names)
{
    for (int i = 0; i < count; i++)
        if (strcmp(names[i], name) == 0) return 1;
    return count == 0;
}

int main(int argc, char **argv)
{
    outcome *room = malloc(2 * sizeof *room);
    int status = room == NULL;
    for (int i = 0; i < trial_count() && status == 0; i++) {
        trial k;
        status = trial_open(i, &k);
        if (status == 0 && wanted(k.name, argc - 1, argv + 1)) status = all_methods(&k, room);
        if (status) fprintf(stderr, "recommend: %s: no memory, or no reference\n", k.name);
        trial_close(&k);
    }
    free(room);
    return status;
}
