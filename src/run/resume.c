/* resume.c - resumes a run from the file of its tape, and reads tapes from files. */
#include <stdlib.h>
#include <string.h>
#include "choice/rule.h"
#include "run/aim.h"
#include "run/integrate.h"
#include "run/known.h"
#include "run/loop.h"
#include "run/random_tangents.h"
#include "run/remake.h"
#include "run/resume.h"

/* The files of all processes must end at the same step; otherwise the run cannot be resumed. */
static int same_step(costate *c, const costate_tape *tape, int status)
{
    double sums[] = {1, tape->count, (double)tape->count * tape->count};
    TRY(space_agree(&c->maps.space, status));
    TRY(space_total(&c->maps.space, 3, sums));
    if (sums[0] * sums[2] == sums[1] * sums[1]) return 0;
    return fail(&c->v, COSTATE_BAD_TAPE, "The files of the processes end at different steps, this one's at step %d.",
                tape->count);
}

static int go_on(costate *c, costate_tape *tape, const fresh_run *f, double *y)
{
    directed_run all;
    run x = {.tape = tape, .t = f->t, .t1 = f->t1, .end = f->t1, .on = tape->count > 0};
    maps_bind(&c->maps, tape->p);
    maps_know(&c->maps, &tape->situations);
    set_range(c, f->t0, f->t1);
    verdict_at(&c->v, f->t);
    claim(c);
    fresh(c, 0);
    run_begin(c, &x, tape->from.predict);
    TRY(random_tangents_prepare(c, 0, 0));
    tangents_begin(c, &no_tangents, f->y, tape->p, &x, &all);
    TRY(known_again(c, &x, f));
    c->at = tape->count;
    tape->from.stamp = c->stamp;
    memcpy(c->work.y, f->y, (size_t)c->st.N * sizeof *f->y);
    if (f->yp) memcpy(c->work.yp, f->yp, (size_t)c->st.n * sizeof *f->yp);
    reader who = reader_of(c, 0);
    if (f->source) TRY(matrices_again(&who, tape, f->source, x.h_free));
    rule_counts(c);
    memory_bind(&c->st, c->work.y, f->mode);
    TRY(space_agree(&c->maps.space, tape_cut(&c->st, tape)));
    tape->usable = 0;                           /* until the run ends */
    int status = run_finish(c, &x, run_loop(c, &x), y);
    tangents_end(c, &no_tangents, &x);
    return status;
}

static int check_file(costate *c, const costate_tape *tape)
{
    if (!tape) return fail(&c->v, COSTATE_BAD_ARGUMENT, "tape is NULL.");
    if (tape->frames) return 0;
    return fail(&c->v, COSTATE_BAD_ARGUMENT, "The tape is in memory alone: costate_tape_open makes one in a file.");
}

int solver_tape_read(costate *c, costate_tape *tape)
{
    fresh_run f;
    void *memory = NULL;
    int whole;
    TRY(begin(c));
    TRY(check_file(c, tape));
    int status = tape_load(&c->st, tape, &c->P, NULL, &f, &memory, &whole);
    free(memory);
    return space_agree(&c->maps.space, status);
}

int solver_resume(costate *c, costate_tape *tape, double *y)
{
    fresh_run f;
    void *memory = NULL;
    int whole = 0;
    TRY(begin(c));
    TRY(check_file(c, tape));
    if (!y) return fail(&c->v, COSTATE_BAD_ARGUMENT, "y is NULL.");
    int status = tape_load(&c->st, tape, &c->P, c->self, &f, &memory, &whole);
    if (c->maps.space.sum) status = same_step(c, tape, status);
    if (!status && whole) {
        memcpy(y, tape->end, (size_t)c->st.N * sizeof *y);
        verdict_at(&c->v, tape->from.t1);
    } else if (!status) {
        status = go_on(c, tape, &f, y);
    }
    free(memory);
    return status;
}
