/* own.c - what a family keeps for itself: made by its prepare, freed by its free. */
#include <stdlib.h>
#include "step/step.h"

int own_new(stepper *c, size_t size)
{
    c->own = calloc(1, size);
    return c->own ? 0 : fail(c->v, COSTATE_NO_MEMORY, "No memory for the solver.");
}
