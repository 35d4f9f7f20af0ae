/* look.c - plain runs with steps of at most a fiftieth of the interval: has a run passed over anything? (mathematics,
   section 9.3)

   What changes f for a time shorter than a step may lie between the points at which the run and that with halved steps
   evaluate f: the estimated error is small, and wrong.  Where f depends on t, a run with long steps is therefore made
   once more with shorter ones, and the values compared.  What is shorter than these is found by chance.

   A value that is another may be so by the error of this run, too: then it is made again with tighter tolerances, but
   not where the difference is too large for that. */
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/stats.h"
#include "estimates/finer.h"
#include "estimates/functional.h"
#include "estimates/look.h"
#include "solver/options.h"

enum { SHORT = 50 };                            /* short steps in the interval */
static const double TIGHTER = 1e-2;             /* tolerances of the second run */
static const double FAR = 10;                   /* a difference of more, in units of what is allowed, is no error of
                                                   this run */
static const double ROUND_OFF = 100 * DBL_EPSILON;

typedef struct {
    costate *c, *plain;
    const costate_tape *tape;
    costate_tape *onto;
    const costate_functional *F;
    const looked_at *at;
    double hmax;
    double *block;
    outcome found;
} short_steps;

/* the most that steps may have, if one has more; else 0 */
static double bound_of_steps(const costate *c, const costate_tape *tape)
{
    double most = fmax(fabs(tape->from.t1 - tape->from.t0) / SHORT, c->o.hmin);
    for (int k = 0; k < tape->count; k++) if (fabs(tape->list[k].h) > most) return most;
    return 0;
}

static int prepare(short_steps *x)
{
    costate *c = x->c;
    for (;;) {
        cursor at = {x->block, 0};
        outcome_layout(c, x->F, x->tape, 0, &at, &x->found);
        if (x->block) break;
        if (!(x->block = calloc(at.used + 1, sizeof *x->block)))
            return fail(&c->v, COSTATE_NO_MEMORY, "No memory for values (%zu doubles).", at.used);
    }
    if (!(x->onto = costate_tape_new())) return fail(&c->v, COSTATE_NO_MEMORY, "No memory for a tape.");
    return plain_solver(c, x->tape, x->hmax, &x->plain);
}

/* of one run, in x->found */
static int values(short_steps *x)
{
    TRY(plain_run(x->c, x->tape, x->plain, x->onto));
    int status = functional_values(x->plain, x->onto, x->F, &x->found);
    return status ? fail(&x->c->v, status, "%s", x->plain->v.text) : 0;
}

/* The functional whose value is another, or -1.  far: by so much that this run's own error is no explanation */
static int moved(const short_steps *x, int *far)
{
    const looked_at *at = x->at;
    const double *value = x->found.value;
    int found = -1;
    for (int j = 0; j < x->F->m; j++) {
        double size = fabs(at->value[j]), gap = fabs(value[j] - at->value[j]);
        double most = at->times * fmax(at->allowed.tol * size + at->allowed.value_atol, fabs(at->error[j]));
        if (!(gap <= FAR * most + ROUND_OFF * size)) return *far = 1, j;
        if (gap > most + ROUND_OFF * size) found = j;
    }
    return found;
}

static int look_twice(short_steps *x)
{
    verdict *v = &x->c->v;
    int j = -1, far = 0, status = 0;
    TRY(prepare(x));
    for (double tighter = 1; tighter >= TIGHTER && !far; tighter *= TIGHTER) {
        options_scale(x->plain, tighter);
        status = values(x);
        if (status == COSTATE_NO_MEMORY || status == COSTATE_CALLBACK) return status;
        if (status) break;
        if ((j = moved(x, &far)) < 0) return 0;
    }
    if (j < 0) {
        char why[sizeof v->text];
        memcpy(why, v->text, sizeof why);
        return fail(v, status, "A run with steps of at most %.3g, which looks for what longer steps pass "
                    "over, fails: %.400s", x->hmax, why);
    }
    return fail(v, COSTATE_ACCURACY, "Functional %d is %.9g, and %.9g with steps of at most %.3g, which its estimated "
                "error, %.2g, does not explain: longer steps pass over something.  Set options.hmax, or give the times "
                "where f changes (problem.stops).", j, x->at->value[j], x->found.value[j], x->hmax,
                fabs(x->at->error[j]));
}

int look(costate *c, const costate_tape *tape, const costate_functional *F, const looked_at *at)
{
    short_steps x = {.c = c, .tape = tape, .F = F, .at = at};
    if (c->o.autonomous || (x.hmax = bound_of_steps(c, tape)) == 0) return 0;
    int status = look_twice(&x);
    if (x.plain) stats_add(&c->count, &x.plain->count);
    costate_tape_free(x.onto);
    solver_free(x.plain);
    free(x.block);
    return status;
}
