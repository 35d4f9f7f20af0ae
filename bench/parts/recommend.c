/* recommend.c - what errors cost: all methods over tolerances on the problems of trials.c, as JSON.

       recommend [PROBLEM...]

   A line is a run and the gradient after it: the errors of both, the calls that they took, and the processor time.
   error: max_i |y_i - z_i| / (|z_i| + a) at t1, where atol = a rtol: in tolerances, if rtol were 1; gradient:
   |g - z|_2 / |z|_2, null where none is asked for.  The references z are from tight runs of one method; a line before
   the runs says how far another method is from them, and they from values that are known from elsewhere.
   Methods without an estimate are not run.  A method's runs end with the first of more than max_steps, or where both
   errors are below TRIAL_ENOUGH.

   calls: f, Jacobians, products, second ones; factorisations, complex ones, solutions of each; of these factorisations
   those of all stages at once. */
#include <stdlib.h>
#include <string.h>

#include "measured.h"

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
    trial_counts(&j, spent);
    json_end(&j);
}

static void over_tolerances(const trial *k, const costate_method *m, const costate_method_info *about, const outcome *z,
                            outcome *o)
{
    for (int half = 4; half <= k->tightest; half += k->stride) {
        double rtol = pow(10, -0.5 * half);
        cost spent = trial_run(k, m, rtol, k->max_steps, 1, NULL, o);
        if (spent.status == COSTATE_MAX_STEPS) return;
        if (spent.status != COSTATE_OK) continue;
        double error = trial_error(k, o->y, z->y), of_gradient = trial_gradient_error(k, o->gradient, z->gradient);
        report(k, about, rtol, &spent, error, of_gradient);
        if (error < TRIAL_ENOUGH && !(of_gradient >= TRIAL_ENOUGH)) return;
    }
}

static int for_it(const trial *k, const costate_method_info *about)
{
    if (about->embedded == 0 || !(k->families & (1u << about->family))) return 0;
    return !k->index2 || about->properties & COSTATE_STIFFLY_ACCURATE;
}

static int all_methods(const trial *k, outcome *room)
{
    if (trial_reference(k, &room[0], &room[1])) return 1;
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
        if (status == 0 && !k.more && wanted(k.name, argc - 1, argv + 1)) status = all_methods(&k, room);
        if (status) fprintf(stderr, "recommend: %s: no memory, or no reference\n", k.name);
        trial_close(&k);
    }
    free(room);
    return status;
}
