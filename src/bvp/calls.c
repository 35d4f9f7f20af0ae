/* calls.c (bvp) - the public calls of a solver: only one at a time, and recovery after an exception or longjmp ended a
   call. */
#include "bvp/bvp.h"

/* It is not known what the interrupted call had done: the solver is left without a solution. */
static void mend(bvp *b)
{
    b->o.fixed = b->fixed;
    solution_free(&b->now);
    b->now = (solution){0};
}

static int enter(bvp *b, uintptr_t frame)
{
    int left = 0;
    if (!b) return 1;                               /* bvp_begin reports it */
    int goes_on = entry_enter(&b->entry, &b->v, frame, &left);
    if (left) mend(b);
    return goes_on;
}

static int leave(bvp *b, long call, int status)
{
    if (b && entry_leave(&b->entry, &b->v, call, &status)) bvp_free(b);
    return status;
}

int costate_bvp_solve(costate_bvp *b, double from, double to, const double *p)
{
    GATE(b, call_bvp_solve(b, from, to, p));
}

int costate_bvp_tangent(costate_bvp *b, const costate_bvp_tangents *s)
{
    GATE(b, call_bvp_tangent(b, s));
}

int costate_bvp_adjoint(costate_bvp *b, const costate_bvp_adjoints *s)
{
    GATE(b, call_bvp_adjoint(b, s));
}

int costate_bvp_hessian(costate_bvp *b, const costate_bvp_second *user)
{
    GATE(b, call_bvp_hessian(b, user));
}

int costate_bvp_guess(costate_bvp *b, int points, const double *t, const double *y)
{
    GATE(b, call_bvp_guess(b, points, t, y));
}

int costate_bvp_mesh(costate_bvp *b, int points, const double *t)
{
    GATE(b, call_bvp_mesh(b, points, t));
}

int costate_bvp_eval(costate_bvp *b, double t, double *Y)
{
    GATE(b, call_bvp_eval(b, t, Y));
}

int costate_check_bvp(costate_bvp *b, double from, double to, const double *p, costate_report *r)
{
    GATE(b, call_check_bvp(b, from, to, p, r));
}

void costate_bvp_abandon(costate_bvp *b)
{
    if (b && b->entry.busy) b->entry.left = 1;
}

void costate_bvp_free(costate_bvp *b)
{
    if (!b) return;
    if (entry_begin(&b->entry, FRAME) == REFUSED) b->entry.freed = 1;
    else bvp_free(b);
}
