/* auto.c - what composite methods cost beside single ones: errors and calls on all trials, as JSON.

       auto_work SINGLE,SINGLE,.. COMPOSITE,COMPOSITE,.. [PROBLEM...]

   Single methods run with rtol = 10^-2, 10^-2.5, .. 10^-11, composite ones with 1e-3, 1e-5, 1e-7, 1e-9.  A line is a
   run, as in recommend.c.  A composite method's lines say how often it changed the member and how many steps each took;
   where it fails, its error is null.

   The first methods should be cheap ones: later single methods may take steps for FACTOR times the least work at the
   same rtol so far, and composite ones for twice as much.  Where the tape would need more than TAPE bytes, there is no
   gradient. */
#include <string.h>

#include "measured.h"
#include "measure.h"

enum { LEVELS = 19, FIRST = 2, STRIDE = 4, LAST = 14, LEAST_STEPS = 500, FACTOR = 20, LARGE = 1000 };
static const double TAPE = 2e9;
/* the first run of a solver also allocates what its members need */
static const repeats TIMED = {.first = 9, .enough = 0.01, .most = 0.1};

typedef struct {
    const trial *k;
    outcome reference, now;
    double least[LEVELS];                /* work of a run forward */
} contest;

static double rtol_of(int level) { return pow(10, -2 - 0.5 * level); }

/* roughly, by the prices of recommend.py: where to stop, no result */
static double work(const trial *k, const costate_stats *s)
{
    double factorisation = strcmp(k->prices, "large") == 0 ? 2000 : 10;
    return (double)s->f + factorisation * (double)(s->decompositions + 2 * s->complex_decompositions);
}

static int most_steps(const contest *q, int level, int stages, int factor)
{
    double least = INFINITY;
    for (int i = 0; i <= level; i++)
        if (q->least[level - i] < INFINITY) {
            least = q->least[level - i];
            break;
        }
    double steps = factor * least / stages;
    return steps < LEAST_STEPS ? LEAST_STEPS : steps < q->k->max_steps ? (int)steps : q->k->max_steps;
}

/* bytes of a tape with all stages */
static double tape_of(const contest *q, const costate_method_info *about, const cost *spent)
{
    return 8.0 * q->k->P.n * (about->stages + 2.0) * (double)spent->forward.accepted;
}

static int block_of(const costate_method_info *about) { return about->family == COSTATE_FIRK ? about->stages : 1; }

/* Steps by each member, and over those of firk the means of the stages that are factored together on the way back, and
   of their square. */
static void report_members(json *j, const costate_method *m, const costate_stats *s)
{
    double steps = 0, sum = 0, squares = 0;
    const costate_method *one;
    costate_method_info about;
    json_name(j, "members");
    for (int k = 0; (one = costate_method_member(m, k)) != NULL && costate_method_describe(one, &about) == 0; k++) {
        double taken = (double)s->member_steps[k], block = block_of(&about);
        printf("%s[\"%s\", %ld]", k ? ", " : "[", about.name, s->member_steps[k]);
        if (block > 1) steps += taken, sum += taken * block, squares += taken * block * block;
    }
    fputs(costate_method_member(m, 0) ? "]" : "[]", stdout);
    json_count(j, "switches", s->switches);
    json_number(j, "block", steps > 0 ? sum / steps : 1);
    json_number(j, "block_squared", steps > 0 ? squares / steps : 1);
}

static void report(const contest *q, const costate_method *m, const costate_method_info *about, int composite,
                   double rtol, const cost *spent)
{
    const trial *k = q->k;
    int backward = spent->whole.f > 0, ok = spent->status == COSTATE_OK;
    json j = {.file = stdout};
    json_text(&j, "problem", k->name);
    json_text(&j, "method", about->name);
    json_count(&j, "composite", composite);
    json_number(&j, "rtol", rtol);
    json_count(&j, "status", spent->status);
    json_number(&j, "error", ok ? trial_error(k, q->now.y, q->reference.y) : NAN);
    json_number(&j, "gradient", ok && backward && k->length > 0 ?
                trial_gradient_error(k, q->now.gradient, q->reference.gradient) : NAN);
    if (costate_method_member(m, 0)) report_members(&j, m, &spent->forward);
    else json_count(&j, "block", block_of(about));
    trial_counts(&j, spent);
    json_end(&j);
}

/* forward, and again with the gradient where there is one and its tape fits; forward_time is without a tape */
static cost one(contest *q, const costate_method *m, const costate_method_info *about, double rtol, int max_steps)
{
    cost spent = trial_run(q->k, m, rtol, max_steps, 0, &TIMED, &q->now), both;
    spent.whole = (costate_stats){0};
    if (spent.status != COSTATE_OK || q->k->length == 0 || tape_of(q, about, &spent) >= TAPE) return spent;
    both = trial_run(q->k, m, rtol, max_steps, 1, &TIMED, &q->now);
    both.forward_time = spent.forward_time;
    return both;
}

static void single(contest *q, const costate_method *m, const costate_method_info *about)
{
    for (int level = 0; level < LEVELS; level++) {
        double rtol = rtol_of(level);
        cost spent = one(q, m, about, rtol, most_steps(q, level, about->stages, FACTOR));
        if (spent.status != COSTATE_OK) continue;
        q->least[level] = fmin(q->least[level], work(q->k, &spent.forward));
        report(q, m, about, 0, rtol, &spent);
        double error = trial_error(q->k, q->now.y, q->reference.y);
        double of_gradient = trial_gradient_error(q->k, q->now.gradient, q->reference.gradient);
        if (error < TRIAL_ENOUGH && !(q->k->length > 0 && of_gradient >= TRIAL_ENOUGH)) return;
    }
}

static void composite(contest *q, const costate_method *m, const costate_method_info *about)
{
    for (int level = FIRST; level <= LAST; level += STRIDE) {
        double rtol = rtol_of(level);
        cost spent = one(q, m, about, rtol, most_steps(q, level, 1, 2 * FACTOR));
        report(q, m, about, 1, rtol, &spent);
    }
}

/* large problems that are not stiff are for their own families */
static int for_it(const trial *k, const costate_method_info *about)
{
    unsigned families = k->families;
    if (!k->P.mass && !k->P.residual.value && k->P.n < LARGE) return 1;
    return (families >> about->family & 1) && (!k->index2 || about->properties & COSTATE_STIFFLY_ACCURATE);
}

/* names: with commas between; 1: there is no such method */
static int each(contest *q, const char *names, int is_composite)
{
    int missing = 0;
    while (*names) {
        char name[64];
        size_t length = strcspn(names, ",");
        costate_method_info about;
        snprintf(name, sizeof name, "%.*s", (int)length, names);
        const costate_method *m = costate_method_find(name);
        names += length + (names[length] == ',');
        if (!m || costate_method_describe(m, &about) != COSTATE_OK) {
            fprintf(stderr, "auto_work: no method %s\n", name);
            missing = 1;
        } else if (is_composite) composite(q, m, &about);
        else if (for_it(q->k, &about)) single(q, m, &about);
        fflush(stdout);
    }
    return missing;
}

static int wanted(const char *name, int count, char **names)
{
    for (int i = 0; i < count; i++)
        if (strcmp(names[i], name) == 0) return 1;
    return count == 0;
}

static int on(contest *q, const trial *k, char **argv)
{
    q->k = k;
    for (int level = 0; level < LEVELS; level++) q->least[level] = INFINITY;
    if (trial_reference(k, &q->reference, &q->now)) {
        fprintf(stderr, "auto_work: no reference of %s\n", k->name);
        return 1;
    }
    int missing = each(q, argv[1], 0);
    return each(q, argv[2], 1) || missing;
}

int main(int argc, char **argv)
{
    contest *q = malloc(sizeof *q);
    if (argc < 3) fputs("auto_work SINGLE,SINGLE,.. COMPOSITE,COMPOSITE,.. [PROBLEM...]\n", stderr);
    int status = q == NULL || argc < 3;
    for (int i = 0; i < trial_count() && q && argc >= 3; i++) {
        trial k;
        int opened = trial_open(i, &k) == 0;
        status = !opened || status;
        if (opened && wanted(k.name, argc - 3, argv + 3)) status = on(q, &k, argv) || status;
        trial_close(&k);
    }
    free(q);
    return status;
}
