/* tight.c - references: made by tight runs of another method. */
#include "peer.h"
#include "reference.h"

enum { LARGE = 20000 };

/* An explicit method of order 8 where it is not stiff; where it is Radau IIA of order 9, or on large grids, whose
   matrices take too long to factorise, ROCK4. */
int race_reference_make(const race_task *like, const ivp *b, const char *name, race_result *r)
{
    race_task task = *like;
    race_result tangent = {0}, gradient = {0};
    int large = b->grid.dimensions && b->stiff && b->P.n > LARGE;
    task.code = large ? "costate:rock4" : b->stiff ? "costate:radau2a5" : "costate:dopri853";
    task.rtol = large ? 1e-11 : b->stiff ? 1e-12 : 1e-13;
    task.atol = task.rtol * b->atol;
    task.repeat = task.directions = 1;
    task.budget = 0;
    task.pairs = task.sensitivity_error = 0;
    task.storage = COSTATE_STATES_ONLY;
    task.mode = like->mode == RACE_SECOND ? RACE_SECOND : RACE_TLM;
    if (race_by(&task, b, &tangent) != COSTATE_OK) race_fail(r, tangent.status, tangent.message);
    task.mode = RACE_ADJ;
    if (r->status == COSTATE_OK && race_by(&task, b, &gradient) != COSTATE_OK)
        race_fail(r, gradient.status, gradient.message);
    if (r->status == COSTATE_OK &&
        !reference_write(name, ivp_length(b) + b->P.np, gradient.y, tangent.derivative, gradient.derivative))
        race_fail(r, COSTATE_BAD_ARGUMENT, "cannot write the reference");
    race_result_free(&tangent);
    race_result_free(&gradient);
    return r->status;
}
