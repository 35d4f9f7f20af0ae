/* finer.c - the run on a tape again, with halved steps: by a solver of its own, in the pieces in which the run was
   made.

   A run that was continued, after a terminal event or elsewhere, is repeated in the same pieces: continuing is an
   operation on its tape. A terminal event may occur later than in the run, and one at a given time must lie before the
   end of its piece to be applied, so that the piece reaches a step beyond. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "estimates/finer.h"
#include "run/halves.h"
#include "run/integrate.h"
#include "run/remake.h"
#include "solver/members.h"
#include "solver/options.h"
#include "step/option_table.h"
#include "sweeps/sweep.h"

/* Parts of newton_tol, so that the error of Newton's iteration is also seen.  In fully implicit methods it may be as
   large as that of the steps. */
static const double NEWTON_PART = 0.1, NEWTON_PART_FULL = 0.01;

/* In a file or within a limit there is no room for a tape of twice as many steps. */
int storage_beside(const costate *c, const costate_tape *tape)
{
    int tight = tape->frames || (tape->limit > 0 && tape->bytes > tape->limit / 3);
    return tight ? COSTATE_CHECKPOINTS : c->o.storage;
}

/* as the run on the tape had them */
static costate_options options_beside(const costate *c, const costate_tape *tape)
{
    costate_options o = options_unwatched(c);
    o.storage = storage_beside(c, tape);
    o.mode = tape_mode(tape, tape->maps.count > 0 ? tape->maps.list[0].from : tape->mode);
    return o;
}

static costate_options options_of_halves(const costate *c, const costate_tape *tape)
{
    costate_options o = options_beside(c, tape);
    options_clear(&o, OPTION_ONE_RUN);
    o.max_steps = 0x7fffffff;
    return o;
}

/* Members prepared later read newton_tol from their options. */
static void newton_of_members(costate *finer, const costate *c)
{
    for (int k = 0; k < members_count(&c->st); k++) {
        const costate_options *o = c->st.members[k].o;
        double part = c->st.members[k].m->block > 1 ? NEWTON_PART_FULL : NEWTON_PART, tol = o->newton_tol;
        member_options(finer, k)->newton_tol = fmax(part * tol, fmin(tol, newton_round_off(options_rtol(o, c->st.n))));
    }
}

/* the values from which the run started */
static int start_of(costate *c, const costate_tape *t, double *y)
{
    size_t N = (size_t)c->st.N, n = (size_t)c->st.n;
    const mapped *first = t->maps.count > 0 && t->maps.list[0].before == 0 ? t->maps.list : NULL;
    const double *from = first ? first->event == CONSISTENT ? first->y1 : first->y : t->end;
    record r;
    if (!first && t->count > 0) {
        reader who = reader_of(c, 0);
        TRY(tape_begin(c, t));
        int status = tape_get(t, 0, &who, 0, &r);
        if (status == 0) memcpy(y, r.y, N * sizeof *y);
        tape_leave(t);
        return status;
    }
    memcpy(y, from, N * sizeof *y);
    if (first && first->event == CONSISTENT && first->f.before) memcpy(y, first->f.before, n * sizeof *y);
    return 0;
}

/* The end of the piece of the run that begins before map *k of the tape; *k <- the map behind it; *more: is there
   another piece? */
static double end_of_piece(const costate *c, const costate_tape *t, int *k, int *more)
{
    while (*k < t->maps.count) {
        const mapped *e = &t->maps.list[(*k)++];
        int terminal = e->event >= 0 && c->maps.event[e->event].terminal;
        *more = e->event == WENT_ON || e->before < t->count;
        if (e->event == WENT_ON) return e->t;
        if (terminal && e->before > 0) return e->t + t->list[e->before - 1].h;
        if (terminal) return t->from.t1 != e->t ? t->from.t1 : e->t + fmax(1, fabs(e->t));  /* at t0: no steps */
    }
    *more = 0;
    return t->from.t1;
}

static int pieces(costate *finer, const costate_tape *tape, costate_tape *onto, double *y)
{
    int k = 0, more;
    double end = end_of_piece(finer, tape, &k, &more);
    TRY(solver_integrate(finer, tape->from.t0, end, y, tape->p, onto));
    while (more) {
        if (k < onto->maps.count) k = onto->maps.count;         /* several events ended the piece */
        end = end_of_piece(finer, tape, &k, &more);
        TRY(solver_continue(finer, onto, end, y));
    }
    return 0;
}

static int again(costate *c, const costate_tape *tape, costate *other, costate_tape *onto, int *failed)
{
    double *y = calloc((size_t)c->st.N + 1, sizeof *y);
    if (!y) return fail(&c->v, COSTATE_NO_MEMORY, "No memory for a state.");
    int status = start_of(c, tape, y);
    *failed = status ? 0 : pieces(other, tape, onto, y);
    free(y);
    return status;
}

static int said(costate *c, const costate *finer, int status)
{
    char text[sizeof c->v.text];
    snprintf(text, sizeof text, "%s", finer->v.text);
    if (status == COSTATE_ACCURACY) return fail(&c->v, status, "%s", text);
    return fail(&c->v, status, "The run with halved steps, which estimates errors, failed: %s", text);
}

int finer_run(costate *c, const costate_tape *tape, int count, const double *times, int *first, costate_tape *onto,
              costate **made)
{
    const costate_options o = options_of_halves(c, tape);
    costate *finer = *made = costate_new(c->st.method, &c->P, &o);
    if (!finer) return fail(&c->v, COSTATE_NO_MEMORY, "No memory for a second solver.");
    if (!finer->whole) return said(c, finer, finer->v.status);
    newton_of_members(finer, c);
    halves_of(finer, tape, count, times, first);
    int failed;
    TRY(again(c, tape, finer, onto, &failed));
    if (!failed) failed = halves_ended(finer, onto);
    return failed ? said(c, finer, failed) : 0;
}

/* ---- plain runs ---- */

int plain_solver(costate *c, const costate_tape *tape, double hmax, costate **made)
{
    costate_options o = options_beside(c, tape);
    o.newton_tol = c->given.newton_tol;
    o.gradient_control = o.tangent_error = o.warm = 0;
    o.hmax = hmax;
    costate *plain = *made = costate_new(c->st.method, &c->P, &o);
    if (!plain) return fail(&c->v, COSTATE_NO_MEMORY, "No memory for a second solver.");
    return plain->whole ? 0 : fail(&c->v, plain->v.status, "%s", plain->v.text);
}

int plain_run(costate *c, const costate_tape *tape, costate *plain, costate_tape *onto)
{
    int failed;
    TRY(again(c, tape, plain, onto, &failed));
    return failed ? fail(&c->v, failed, "%s", plain->v.text) : 0;
}
