/* traits.c - what tests over all methods must know of a method, from the table of its family. */
#include "run/families.h"
#include "step/step.h"
#include "problems.h"
#include "traits.h"

/* 0: of bvp.h alone */
static unsigned traits(const costate_method *m) { return family_of(m) ? family_of(m)->is : 0; }

int is_explicit(const costate_method *m) { return family_of(m) && !(traits(m) & IMPLICIT); }
int is_stabilised(const costate_method *m) { return m->rkc != NULL; }
int takes_stiff(const costate_method *m) { return !is_explicit(m) || is_stabilised(m); }
int takes_diagonal_mass_only(const costate_method *m) { return (traits(m) & DIAGONAL_MASS) != 0; }
int is_newton(const costate_method *m) { return (traits(m) & RUNGE_KUTTA_INVERSE) != 0; }

int method_takes(const costate_method *m, int mass)
{
    if (mass == MASS_REGULAR) return !takes_diagonal_mass_only(m);
    return mass == MASS_IDENTITY || (m->is & COSTATE_DAE);
}
